//! `weir run --pcap`: captures of a run.

use super::outputs::keep_inputs;
use crate::args::CaptureArgs;
use crate::terminal::Terminal;
use anyhow::bail;
use std::path::Path;
use weir_core::format;
use weir_results::captures::{self, Plan, Written};
use weir_results::comparison::Comparison;
use weir_results::report::Destination;
use weir_scenario::Experiment;

/// Which ports go to which files, checked before anything is run.
pub(super) fn plan(
    args: &CaptureArgs,
    e: &Experiment,
    seeds: &[u64],
    out: Option<&Destination>,
    log: Option<&Path>,
) -> anyhow::Result<Plan> {
    let plan = Plan::new(&args.pcap, &e.topology)
        .map_err(|error| anyhow::Error::new(error).context("--pcap"))?;
    if args.pcap.is_empty() {
        return Ok(plan);
    }
    if let [first, _, ..] = seeds {
        bail!(
            "--pcap captures one run, but the scenario has {} seeds: choose one, such as --seed \
             {first}",
            seeds.len()
        );
    }
    let inputs = e.inputs();
    let frame = e.scenario.nic.config.max_frame();
    for (file, ports) in plan.files() {
        keep_inputs(file, &inputs)?;
        writable(file)?;
        if let Some(out) = out.filter(|out| out.collides(file)) {
            let (name, out) = (file.display(), out.shown().display());
            bail!("cannot write {name}: --out {out} writes its results there");
        }
        if log.is_some_and(|log| captures::is_same_place(file, log)) {
            bail!("cannot write {}: --log writes the same file", file.display());
        }
        let least = captures::least_limit(ports, frame, args.pcap_snap, &e.topology);
        if args.pcap_limit < least {
            let (limit, name) = (args.pcap_limit, file.display());
            let ports = format::plural(ports.len() as u64, "port");
            bail!(
                "--pcap-limit {limit} is too small for {name}: with {ports} it takes at least \
                 {least}, a header and one frame"
            );
        }
    }
    Ok(plan)
}

/// Refuses a file that cannot be one. Its directory is made if only that is missing.
fn writable(file: &Path) -> anyhow::Result<()> {
    let name = file.display();
    if file.is_dir() {
        bail!("cannot write {name}: it is a directory");
    }
    let parent =
        |path: &Path| path.parent().filter(|p| !p.as_os_str().is_empty()).map(Path::to_owned);
    let Some(directory) = parent(file).filter(|p| !p.is_dir()) else { return Ok(()) };
    if directory.exists() {
        bail!("cannot write {name}: {} is not a directory", directory.display());
    }
    if let Some(above) = parent(&directory).filter(|p| !p.is_dir()) {
        bail!("cannot write {name}: there is no directory {}", above.display());
    }
    Ok(())
}

/// Writes the captures of the only run, after its results, and says what is in them and what was
/// cut.
pub(super) fn write(
    plan: &Plan,
    args: &CaptureArgs,
    c: &Comparison<'_>,
    out: Option<&Destination>,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let Some((e, run)) = c.runs_with().next().filter(|_| !args.pcap.is_empty()) else {
        return Ok(());
    };
    let written = captures::write(plan, args.limits(), &e.topology, run)?;
    if let Some(out) = out {
        out.adopt(written.iter().map(|w| w.file.as_path()))?;
    }
    tell(&written, args, terminal);
    Ok(())
}

fn tell(written: &[Written], args: &CaptureArgs, terminal: &Terminal) {
    /// More files than this are told of as one.
    const MOST_LINES: usize = 8;
    let cut = |w: &&Written| w.cut > 0 || w.left_out > 0;
    let shown: Vec<&Written> = match written.len() {
        0..=MOST_LINES => written.iter().collect(),
        _ => written.iter().filter(cut).take(MOST_LINES).collect(),
    };
    for w in &shown {
        // that a capture is not complete is no remark in passing
        match w.left_out {
            0 => terminal.note(&line(w, args)),
            _ => terminal.warn(&line(w, args)),
        }
    }
    if shown.len() < written.len() {
        let frames: u64 = written.iter().map(|w| w.frames).sum();
        let left_out: u64 = written.iter().map(|w| w.left_out).sum();
        let text = format!(
            "captures: {} with {}, {left_out} left out",
            format::plural(written.len() as u64, "file"),
            format::plural(frames, "frame")
        );
        match left_out {
            0 => terminal.note(&text),
            _ => terminal.warn(&text),
        }
    }
}

fn line(w: &Written, args: &CaptureArgs) -> String {
    let mut line = format!(
        "capture: {} ({}, {}, {})",
        w.file.display(),
        format::plural(w.ports as u64, "port"),
        format::plural(w.frames, "frame"),
        format::bytes(w.bytes)
    );
    if let (Some(snap), 1..) = (args.pcap_snap, w.cut) {
        line += &format!("; {} cut to {snap} B (--pcap-snap)", format::plural(w.cut, "frame"));
    }
    if w.left_out > 0 {
        let limit = format::bytes(args.pcap_limit);
        let more = format::plural(w.left_out, "frame");
        line += &format!("; {more} left out: the file has reached {limit} (--pcap-limit)");
    }
    line
}
