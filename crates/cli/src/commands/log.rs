//! `weir run --log` and `weir live replay`: logs of what nodes do.

use super::outputs::{keep_inputs, writable};
use crate::Status;
use crate::args::VariantArgs;
use crate::terminal::{Terminal, print};
use anyhow::{Context, bail};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use weir_core::format;
use weir_live::log::{Header, Log, LogWriter, RunOf, Source, TextFile};
use weir_live::replay::{self, ReplayError, Replayed};
use weir_results::lineup::Setting;
use weir_results::report::Destination;
use weir_results::run::{Meter, Run, run_by};
use weir_scenario::Experiment;

/// What names a run on the command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    pub(super) scenario: &'a str,
    pub(super) sets: &'a [String],
    pub(super) chosen: &'a VariantArgs,
}

/// What a log says of the run: enough to build it again.
pub(super) fn run_of(words: Words<'_>, e: &Experiment, seed: u64) -> anyhow::Result<RunOf> {
    if words.scenario == "-" {
        bail!("--log needs the text of the scenario: write it to a file instead of a pipe");
    }
    let Ok((_, text, _)) = weir_scenario::load::source(words.scenario) else {
        bail!("cannot read {} again", words.scenario);
    };
    let files = e.scenario.files.names().into_iter().map(|name| {
        let text = e.scenario.files.text(&name).map_err(anyhow::Error::msg)?;
        Ok(TextFile { name, text })
    });
    Ok(RunOf {
        scenario: words.scenario.to_owned(),
        text: text.into_owned(),
        files: files.collect::<anyhow::Result<_>>()?,
        sets: words.sets.to_vec(),
        scheme: words.chosen.scheme.clone(),
        variant: words.chosen.variant.clone(),
        cc: words.chosen.cc.clone(),
        seed,
    })
}

/// Refuses a log in the directory of the results, which replace it as a whole.
pub(super) fn apart(log: Option<&Path>, out: Option<&Destination>) -> anyhow::Result<()> {
    if let (Some(log), Some(out)) = (log, out)
        && out.contains(log)
    {
        let (log, out) = (log.display(), out.shown().display());
        bail!("cannot write {log}: --out {out} replaces the whole directory; keep it elsewhere");
    }
    Ok(())
}

/// Begins a log file.
pub(super) fn create(
    file: &Path,
    header: &Header,
    setting: &Setting,
) -> anyhow::Result<LogWriter<BufWriter<File>>> {
    let e = &*setting.experiment;
    keep_inputs(file, &e.inputs())?;
    writable(file)?;
    let context = || format!("cannot write {}", file.display());
    let out = BufWriter::new(File::create(file).with_context(context)?);
    let config = e.config(setting.with_seed(header.run.seed));
    LogWriter::new(out, header, &config).with_context(context)
}

/// Completes a log file and says what is in it.
pub(super) fn finish(
    file: &Path,
    log: LogWriter<BufWriter<File>>,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let frames = log.finish().with_context(|| format!("cannot write {}", file.display()))?;
    let name = format::shell_word(&file.to_string_lossy());
    terminal.note(&format!("log: {frames} lines     verify: weir live replay {name}"));
    Ok(())
}

/// A run that is logged.
pub(super) fn simulate(
    file: &Path,
    words: Words<'_>,
    setting: &Setting,
    seed: u64,
    meter: &Meter,
    terminal: &Terminal,
) -> anyhow::Result<Run> {
    let e = &*setting.experiment;
    let variant = setting.with_seed(seed);
    let run_of = run_of(words, e, seed)?;
    let header = Header::new(Source::Simulated, None, run_of, &e.topology, &e.config(variant));
    let mut log = create(file, &header, setting)?;
    let run = run_by(e, variant, meter, 0, |config, observer| {
        let prepared = e.prepared(config);
        let (topology, traffic) = (&e.topology, &e.traffic);
        weir_sim::stations::run_logged(topology, &prepared, traffic, config, observer, &mut log)
    })?;
    finish(file, log, terminal)?;
    Ok(run)
}

/// `weir live replay`.
pub(super) fn replay(file: &Path, json: bool, terminal: &Terminal) -> anyhow::Result<Status> {
    let name = file.display();
    let opened = File::open(file).with_context(|| format!("cannot read {name}"))?;
    let log = Log::read(BufReader::new(opened)).with_context(|| format!("{name}"))?;
    let found = match replay::replay(&log) {
        Ok(found) => found,
        Err(ReplayError::Scenario(problems)) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
        Err(error) => return Err(anyhow::Error::new(error).context(format!("{name}"))),
    };
    if json {
        print(&serde_json::to_string_pretty(&summary(&log, &found))?)?;
    } else {
        print(&text(&log, &found))?;
    }
    Ok(if found.differences.is_empty() { Status::Done } else { Status::CheckFailed })
}

fn summary(log: &Log, found: &Replayed) -> serde_json::Value {
    let differences = found.differences.iter().map(|d| {
        let node = &log.header.nodes[d.node.index()].name;
        serde_json::json!({
            "node": node, "port": d.port.0, "answer": d.number,
            "log": d.logged, "replay": d.answered,
        })
    });
    serde_json::json!({
        "scheme": log.header.rules.scheme,
        "nodes": found.nodes,
        "given": found.given,
        "answered": found.answered,
        "end_ps": found.end.as_ps(),
        "differences": differences.collect::<Vec<_>>(),
    })
}

fn text(log: &Log, found: &Replayed) -> String {
    let mut out = format!(
        "  {} under {}, {}: {} nodes were given {} frames and answered with {}\n",
        log.header.run.scenario,
        log.header.rules.scheme,
        match log.header.source {
            Source::Simulated => "simulated",
            Source::Live => "live",
        },
        found.nodes,
        found.given,
        found.answered
    );
    if found.differences.is_empty() {
        out += "  every answer is the one in the log\n";
    }
    for d in &found.differences {
        let none = "nothing";
        out += &format!(
            "  {}/p{}: answer {} differs\n    log:    {}\n    replay: {}\n",
            log.header.nodes[d.node.index()].name,
            d.port.0,
            d.number,
            d.logged.as_deref().unwrap_or(none),
            d.answered.as_deref().unwrap_or(none)
        );
    }
    out
}
