//! `weir import chakra`, `goal`, `htsim` and `simai`: traces of jobs as scenarios.

use super::outputs::{keep_inputs, writable, write_file};
use crate::Status;
use crate::args::{ImportSimai, ImportTrace};
use crate::terminal::{Terminal, print};
use anyhow::{Context, anyhow, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use weir_core::format::{count, plural};
use weir_results::simai;
use weir_scenario::Files;
use weir_scenario::trace::{Look, look};

/// A file as a scenario names it that lies beside `out`, or here if it is printed.
fn named(file: &Path, out: Option<&Path>) -> anyhow::Result<String> {
    let beside = |out: &Path| out.parent().unwrap_or(Path::new("")) == Path::new("");
    let name = match out {
        Some(out) if file.parent() == out.parent() => {
            PathBuf::from(file.file_name().unwrap_or_default())
        }
        Some(out) if !beside(out) => std::path::absolute(file)?,
        _ => file.to_owned(),
    };
    let text = name.to_str().with_context(|| format!("{} is no text", name.display()))?;
    Ok(text.to_owned())
}

/// Prints a scenario, or writes it to a file that is none of the inputs.
fn save(
    text: &str,
    out: Option<&Path>,
    inputs: &[PathBuf],
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let Some(out) = out else {
        print(text.trim_end())?;
        return Ok(Status::Done);
    };
    keep_inputs(out, inputs)?;
    writable(out)?;
    write_file(out, text)?;
    let out = out.display();
    terminal.note(&format!("{out}; comments at its top say what the trace holds"));
    Ok(Status::Done)
}

/// `weir import chakra`, `weir import goal`, `weir import htsim`: the format must be the one that
/// was asked for.
pub(crate) fn import_trace(
    args: &ImportTrace,
    format: &str,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let file = |path: &Path| {
        let text = path.to_str().with_context(|| format!("{} is no text", path.display()))?;
        Ok::<_, anyhow::Error>(text.to_owned())
    };
    let trace = file(&args.trace)?;
    let groups = args.groups.as_deref().map(file).transpose()?;
    if groups.is_some() && !format.contains("Chakra") {
        bail!("--groups has no effect on {format}");
    }
    let files = Files::default();
    let found = look(&files, &trace, groups.as_deref()).map_err(|d| {
        let help: String = d.help.iter().map(|help| format!(" ({help})")).collect();
        anyhow!("{}{help}", d.title)
    })?;
    if found.format != format {
        bail!("{trace} is {}, not {format}", found.format);
    }
    let inputs: Vec<PathBuf> = files.inputs();
    let out = args.out.as_deref();
    let names =
        (named(&args.trace, out)?, args.groups.as_deref().map(|g| named(g, out)).transpose()?);
    save(&scenario(&found, &names.0, names.1.as_deref())?, out, &inputs, terminal)
}

/// A star with a job that follows the trace.
fn scenario(found: &Look, trace: &str, groups: Option<&str>) -> anyhow::Result<String> {
    let Look { format, ranks, operations, collectives, notes } = found;
    let ranks_of = plural(*ranks, "rank");
    let mut out = format!("# {trace}: {format} of {ranks_of}, {} operations", count(*operations));
    if *collectives > 0 {
        let _ = write!(out, " with {}", plural(*collectives, "collective"));
    }
    out.push_str(".\n");
    for note in notes {
        let _ = writeln!(out, "# - {}", note.replace(char::is_control, " "));
    }
    // a string of JSON is a string of TOML
    let (trace, hosts) = (serde_json::to_string(trace)?, (*ranks).max(2));
    let _ = write!(
        out,
        "\n[topology]\nkind = \"star\"                  # or another one with as many hosts\n\
         hosts = {hosts}\n\n[flow-control]\nscheme = \"pfc\"\n\n[[job]]\ntrace = {trace}\n"
    );
    if let Some(groups) = groups {
        let _ = writeln!(out, "comm-groups = {}", serde_json::to_string(groups)?);
    }
    Ok(out)
}

/// `weir import simai`.
pub(crate) fn import_simai(args: &ImportSimai, terminal: &Terminal) -> anyhow::Result<Status> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    let (conf, topology) = (read(&args.conf)?, read(&args.topology)?);
    let rows = weir_coll::simai::text::parse(read(&args.workload)?.as_bytes())
        .map_err(|e| anyhow!("{}: {e}", args.workload.display()))?;
    let out = args.out.as_deref();
    let workload = named(&args.workload, out)?;
    let files = simai::Files {
        conf: (&args.conf, &conf),
        topology: (&args.topology, &topology),
        workload: &workload,
    };
    let name = args.workload.file_stem().map_or("simai".into(), |s| s.to_string_lossy());
    let made = simai::convert(&name, files).map_err(|problems| anyhow!("{problems}"))?;
    rows.notes.iter().for_each(|note| terminal.note(&format!("{workload}: {note}")));
    let inputs = [&args.workload, &args.topology, &args.conf].map(PathBuf::clone);
    save(&made.scenario, out, &inputs, terminal)
}
