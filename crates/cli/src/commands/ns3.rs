//! `weir ns3` and `weir import ns3`: configurations of the HPCC ns-3 simulator.

use super::outputs::{keep_inputs, write_file};
use super::simulate::with_interrupt;
use crate::Status;
use crate::args::{ImportNs3, Ns3};
use crate::progress::watch;
use crate::terminal::{Terminal, coloured, print, tell};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use weir_core::format;
use weir_results::ns3::import::{FlowsIn, Ways};
use weir_results::ns3::{self, Diagnostics, Files, Inputs, Ns3Run, Places};
use weir_results::run::Meter;
use weir_scenario::text::one_line;

/// Reads a configuration and the files it names; shows what is wrong and returns `None` if they
/// cannot be used.
fn load(config: &Path, terminal: &Terminal) -> Option<Inputs> {
    match ns3::read(config) {
        Ok((inputs, warnings)) => {
            if !terminal.quiet {
                show(&warnings, terminal);
            }
            Some(inputs)
        }
        Err(problems) => {
            show(&problems, terminal);
            None
        }
    }
}

fn show(found: &Diagnostics, terminal: &Terminal) {
    for d in &found.0 {
        let word = d.severity.name();
        let text = d.to_string().lines().map(one_line).collect::<Vec<_>>().join("\n");
        let rest = text.strip_prefix(word).unwrap_or(&text);
        tell(&format!("{}{rest}", coloured(d.severity, terminal.colour_errors)));
    }
}

/// What to call a run: the directory of the configuration, and its name if that says something.
fn name(config: &Path) -> String {
    let stem = config.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let whole = std::path::absolute(config).unwrap_or_else(|_| config.to_owned());
    let directory = whole.parent().and_then(Path::file_name).map(|d| d.to_string_lossy());
    match directory {
        Some(directory) if stem == "config" => directory.into_owned(),
        _ => stem,
    }
}

/// The files that a configuration was read from.
fn read_files(config: &Path, inputs: &Inputs) -> Vec<PathBuf> {
    let c = &inputs.config;
    let base = config.parent().unwrap_or(Path::new(""));
    let names = [&c.topology_file, &c.flow_file, &c.trace_file];
    // a name may be relative to the current directory or to that of the configuration
    let both = names.into_iter().flat_map(|name| [name.clone(), base.join(name)]);
    std::iter::once(config.to_owned()).chain(both).collect()
}

/// The files that a run writes, those of the original first.
fn written_files(inputs: &Inputs, places: &Places, out: Option<&Path>) -> Vec<PathBuf> {
    let c = &inputs.config;
    let mut names = vec![&c.fct_output, &c.pfc_output];
    names.extend((!c.qlen_output.as_os_str().is_empty()).then_some(&c.qlen_output));
    let traced = c.enable_trace && !c.trace_output.as_os_str().is_empty();
    names.extend(traced.then_some(&c.trace_output));
    let place = |name: &PathBuf| match (out, name.file_name()) {
        (Some(out), Some(last)) => out.join(last),
        _ => name.clone(),
    };
    let ours = [&places.summary, &places.flows, &places.perf].map(PathBuf::clone);
    names.into_iter().map(place).chain(ours).collect()
}

/// Refuses to write over inputs, and to write two results to one file.
fn check_outputs(outputs: &[PathBuf], inputs: &[PathBuf]) -> anyhow::Result<()> {
    for (i, output) in outputs.iter().enumerate() {
        keep_inputs(output, inputs)?;
        // devices such as /dev/null take any number of results
        if outputs[..i].contains(output) && !output.starts_with("/dev") {
            bail!("cannot write {}: two results have this file name", output.display());
        }
    }
    Ok(())
}

/// `weir ns3`.
pub(crate) fn ns3(args: &Ns3, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(inputs) = load(&args.config, terminal) else { return Ok(Status::BadInput) };
    let name = name(&args.config);
    let places = Places::new(&inputs, args.out.as_deref());
    let outputs = written_files(&inputs, &places, args.out.as_deref());
    check_outputs(&outputs, &read_files(&args.config, &inputs))?;
    places.check()?;
    let files = Files::create(&inputs, args.out.as_deref()).context("cannot write the results")?;
    let meter = Meter::new(1);
    let run = with_interrupt(&meter, || {
        watch(&name, &meter, terminal, || ns3::run(&inputs, files, &meter))
    })?;
    let run = run.context("cannot write the results")?;
    let summary = ns3::summary(&name, &inputs, &run);
    let text = serde_json::to_string_pretty(&summary)?;
    let flows = ns3::flows_csv(&inputs, &run);
    places.write(format!("{text}\n").as_bytes(), &flows, &ns3::perf_json(&run))?;
    if args.json {
        print(&text)?;
    } else {
        print(&ns3::text(&name, &inputs, &run, terminal.out))?;
        if !terminal.quiet {
            let c = &inputs.config;
            let place = |file: &Path| match (&args.out, file.file_name()) {
                (Some(out), Some(name)) => out.join(name).display().to_string(),
                _ => file.display().to_string(),
            };
            let said = format!(
                "results: {} {} {}",
                place(&c.fct_output),
                place(&c.pfc_output),
                places.summary.display()
            );
            terminal.note(&said);
        }
    }
    Ok(verdict(&inputs, &run, args.allow_unfinished, terminal))
}

/// What the run means for the exit code, the gravest first.
fn verdict(inputs: &Inputs, run: &Ns3Run, allow: bool, terminal: &Terminal) -> Status {
    if run.interrupted() {
        terminal.complain("interrupted: these are partial results, without a digest");
        return Status::Interrupted;
    }
    if let Some(why) = run.invalid() {
        terminal.complain(&format!("invalid run: {why}"));
        return Status::InvalidRun;
    }
    let flows = inputs.flows.len();
    let unfinished = flows.saturating_sub(run.counters.flows_done);
    if unfinished > 0 && !allow {
        let (stop, of) = (inputs.config.stop, format::count(flows as u64));
        let unfinished = format::count(unfinished as u64);
        terminal.complain(&format!(
            "{unfinished} of {of} flows are unfinished at SIMULATOR_STOP_TIME {stop} s, so \
             completion times are too low; --allow-unfinished accepts that"
        ));
        return Status::CheckFailed;
    }
    Status::Done
}

/// `weir import ns3`.
pub(crate) fn import_ns3(args: &ImportNs3, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(inputs) = load(&args.config, terminal) else { return Ok(Status::BadInput) };
    let (name, origin) = (name(&args.config), args.config.display().to_string());
    let Some(out) = &args.out else {
        let (flows, ways) = (FlowsIn::Scenario, Ways::Hashed);
        let made = ns3::import::convert(&name, &origin, &inputs, flows, ways);
        print(made.scenario.trim_end())?;
        return Ok(Status::Done);
    };
    let list = out.with_extension("flows.csv");
    let list_name = list.file_name().unwrap_or_default().to_string_lossy();
    let flows = FlowsIn::File(&list_name);
    let made = ns3::import::convert(&name, &origin, &inputs, flows, Ways::Hashed);
    check_outputs(&[out.clone(), list.clone()], &read_files(&args.config, &inputs))?;
    write_file(&list, made.flows.as_deref().unwrap_or_default())?;
    write_file(out, &made.scenario)?;
    if !terminal.quiet {
        let (out, list) = (out.display(), list.display());
        terminal
            .note(&format!("{out} and {list}; comments at the top of {out} list the differences"));
    }
    Ok(Status::Done)
}
