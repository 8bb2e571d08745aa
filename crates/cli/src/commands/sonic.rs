//! `weir sonic check` and `weir import sonic`: configurations of SONiC switches.

use super::outputs::{keep_inputs, write_file};
use crate::Status;
use crate::args::{ImportSonic, SonicCheck, SonicFormat};
use crate::terminal::{Terminal, print, style, tell};
use anyhow::Context;
use serde_json::Value;
use std::path::{Path, PathBuf};
use weir_core::Severity;
use weir_core::format::plural;
use weir_fabric::checks::margins;
use weir_fabric::{Finding, Host, Lookup, Options, Report, Switch, check, patch};
use weir_results::table::paint;

/// What the command was given, read.
struct Inputs {
    switches: Vec<Switch>,
    hosts: Vec<Host>,
    lookup: Option<Lookup>,
    findings: Vec<Finding>,
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    String::from_utf8(bytes).with_context(|| format!("{} is no text", path.display()))
}

/// Reads all files. What is no JSON at all is said at once, for all files, and `None` returned.
fn read(
    files: &[PathBuf],
    lookup: Option<&Path>,
    hosts: &[PathBuf],
    terminal: &Terminal,
) -> anyhow::Result<Option<Inputs>> {
    let (mut switches, mut findings, mut broken) = (Vec::new(), Vec::new(), false);
    for (index, path) in files.iter().enumerate() {
        let name = path.display().to_string();
        match Switch::read(index, &name, &text_of(path)?, &mut findings) {
            Ok(switch) => switches.push(switch),
            Err(why) => {
                terminal.complain(&why);
                broken = true;
            }
        }
    }
    for (i, switch) in switches.iter().enumerate() {
        let Some(first) = switches[..i].iter().find(|s: &&Switch| s.name == switch.name) else {
            continue;
        };
        terminal.warn(&format!(
            "{} and {} are both called {}: links are of the first",
            first.file, switch.file, switch.name
        ));
    }
    let table = match lookup {
        None => None,
        Some(path) => match Lookup::read(&path.display().to_string(), &text_of(path)?) {
            Ok(table) => Some(table),
            Err(why) => {
                terminal.complain(&why);
                broken = true;
                None
            }
        },
    };
    let mut read = Vec::new();
    for path in hosts {
        read.push(Host::read(&path.display().to_string(), &text_of(path)?));
    }
    let inputs = Inputs { switches, hosts: read, lookup: table, findings };
    Ok((!broken).then_some(inputs))
}

/// The switches of some files; what is broken in them is said and left out. `None` if one is no
/// configuration at all.
pub(super) fn switches(
    files: &[PathBuf],
    terminal: &Terminal,
) -> anyhow::Result<Option<Vec<Switch>>> {
    let Some(inputs) = read(files, None, &[], terminal)? else { return Ok(None) };
    say_broken(&inputs, terminal);
    Ok(Some(inputs.switches))
}

/// Says which values are broken and therefore not used.
fn say_broken(inputs: &Inputs, terminal: &Terminal) {
    let errors = inputs.findings.iter().filter(|f| f.severity() == Severity::Error);
    for finding in errors {
        let switch = &inputs.switches[finding.file];
        let place = format!("{}:{}", switch.file, switch.line(&finding.pointer));
        terminal.warn(&format!("{place} {}: {}; ignored", finding.pointer, finding.message));
    }
}

/// `weir sonic check`.
pub(crate) fn sonic_check(args: &SonicCheck, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(inputs) = read(&args.files, args.lookup.as_deref(), &args.hosts, terminal)? else {
        return Ok(Status::BadInput);
    };
    let Inputs { switches, hosts, lookup, findings } = inputs;
    let options = Options {
        asic: args.asic,
        response: args.response,
        memory: args.memory,
        max_headroom: args.max_headroom,
        lookup,
        ..Options::default()
    };
    let findings = check(&switches, &hosts, &options, findings);
    let margins: Vec<_> = switches.iter().flat_map(|s| margins(s, &options)).collect();
    let report =
        Report { switches: &switches, hosts: &hosts, findings: &findings, margins: &margins };
    let format = if args.json { SonicFormat::Json } else { args.format };
    print(&match format {
        SonicFormat::Json => serde_json::to_string_pretty(&report.json())?,
        SonicFormat::Sarif => serde_json::to_string_pretty(&report.sarif())?,
        SonicFormat::Text => {
            report.text(&|word, severity| paint(word, terminal.out.colour, style(severity)))
        }
    })?;
    if let Some(directory) = &args.patch {
        let patches = patch::mend(&switches, &hosts, &options, &findings);
        write_patches(directory, &switches, &patches, &args.files, terminal)?;
    }
    let failed =
        report.count(Severity::Error) > 0 || (args.strict && report.count(Severity::Warning) > 0);
    Ok(if failed { Status::CheckFailed } else { Status::Done })
}

/// One patch for each switch that can be mended.
fn write_patches(
    directory: &Path,
    switches: &[Switch],
    patches: &[Vec<Value>],
    inputs: &[PathBuf],
    terminal: &Terminal,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    let mut names: Vec<String> = Vec::new();
    for (switch, operations) in switches.iter().zip(patches) {
        if operations.is_empty() {
            continue;
        }
        // a name in a file must not lead out of the directory, nor be that of another switch
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let mut name: String = switch.name.chars().map(plain).collect();
        if names.contains(&name) || name.trim_matches('.').is_empty() {
            name = format!("{name}-{}", switch.index + 1);
        }
        let path = directory.join(format!("{name}.patch.json"));
        names.push(name);
        keep_inputs(&path, inputs)?;
        let text = serde_json::to_string_pretty(operations)?;
        write_file(&path, format!("{text}\n"))?;
        terminal.note(&format!(
            "{}: {}; sudo config apply-patch {}",
            path.display(),
            plural(operations.len() as u64, "change"),
            path.display()
        ));
        let groups: Vec<(String, String)> = switch
            .groups
            .iter()
            .filter_map(|((port, _), group)| Some((port.clone(), group.profile.clone()?)))
            .collect();
        let drained = patch::drained(operations, &groups);
        if !drained.is_empty() {
            terminal.warn(&format!(
                "{}: buffers change: drain traffic first on {}",
                switch.name,
                drained.join(", ")
            ));
        }
    }
    if names.is_empty() {
        terminal.note("nothing that a patch can mend");
    }
    Ok(())
}

/// `weir import sonic`.
pub(crate) fn import_sonic(args: &ImportSonic, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(inputs) = read(&args.files, args.lookup.as_deref(), &[], terminal)? else {
        return Ok(Status::BadInput);
    };
    say_broken(&inputs, terminal);
    let options = Options { asic: args.asic, lookup: inputs.lookup, ..Options::default() };
    let made = match weir_fabric::import::convert(&inputs.switches, &options) {
        Ok(made) => made,
        Err(why) => {
            terminal.complain(&why);
            return Ok(Status::BadInput);
        }
    };
    let Some(out) = &args.out else {
        print(made.trim_end())?;
        return Ok(Status::Done);
    };
    keep_inputs(out, &args.files)?;
    write_file(out, &made)?;
    if !terminal.quiet {
        let out = out.display();
        tell(&format!("  {out}; comments at its top list what has no counterpart"));
    }
    Ok(Status::Done)
}
