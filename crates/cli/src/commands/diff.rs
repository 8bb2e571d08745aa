//! `weir diff`: two scenarios or two results.

use super::outputs::keep_inputs;
use super::simulate::{cores, with_flag};
use crate::Status;
use crate::terminal::{Terminal, print};
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use weir_change::diff::{self, FailIf, Side, SideError};
use weir_change::search::RunError;
use weir_core::format;
use weir_scenario::Problems;
use weir_scenario::load::source;
use weir_scenario::resolve::{Base, Fabrics};
use weir_scenario::text::Diagnostics;

/// `weir diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each side is a scenario, which is run, or a directory of results of `weir run
--out` or `weir compare --out`. If a directory has several rows, name one:
out/web:PFC. Runs with the same seed are compared in pairs, flow by flow.

A condition of --fail-if is FIGURE worse [by N %], or FIGURE OP VALUE of B, for
all flows or CLASS:FIGURE. With several seeds, a figure is worse only if the
difference is not chance (95 %). The exit code is 1 if a condition holds.

Examples:
  weir diff before.toml after.toml --seeds 1..10
  weir diff incast incast --set-b switch.thresholds.xoff=40KB
  weir diff out/monday out/tuesday --out out/diff
  weir diff before.toml after.toml --fail-if 'p99 slowdown worse by 5 %' \\
      --fail-if 'lost > 0'")]
pub(crate) struct Diff {
    /// The first side: a scenario, or a directory of results
    #[arg(value_name = "A")]
    pub a: String,
    /// The second side
    #[arg(value_name = "B")]
    pub b: String,
    /// Seeds of scenarios, instead of those of A: 1..10 or 1,2,5
    #[arg(long, value_name = "LIST")]
    pub seeds: Option<String>,
    /// Change a value of both scenarios; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Change a value of the first scenario only
    #[arg(long = "set-a", value_name = "PATH=VALUE")]
    pub sets_a: Vec<String>,
    /// Change a value of the second scenario only
    #[arg(long = "set-b", value_name = "PATH=VALUE")]
    pub sets_b: Vec<String>,
    /// Flow control scheme of both scenarios
    #[arg(long, value_name = "NAME")]
    pub scheme: Option<String>,
    /// Fail (exit code 1) if this holds; may be repeated
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    /// Write a page and the numbers to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Number of runs at a time; default: the number of processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `weir diff`.
pub(crate) fn diff(args: &Diff, terminal: &Terminal) -> anyhow::Result<Status> {
    let conditions: Result<Vec<FailIf>, String> =
        args.fail_if.iter().map(|text| FailIf::read(text)).collect();
    let conditions = conditions.map_err(anyhow::Error::msg)?;
    let mut seeds = match &args.seeds {
        Some(text) => Some(weir_sweep::seeds::parse(text).map_err(anyhow::Error::msg)?),
        None => None,
    };
    let mut inputs = Vec::new();
    let mut sides = Vec::new();
    for (name, own) in [(&args.a, &args.sets_a), (&args.b, &args.sets_b)] {
        match side(name, own, args, &mut seeds, &mut inputs, terminal) {
            Ok(Ok(side)) => sides.push(side),
            Ok(Err(problems)) => {
                terminal.problems(&problems);
                return Ok(Status::BadInput);
            }
            Err(error) if is_interrupt(&error) => {
                terminal.complain("interrupted");
                return Ok(Status::Interrupted);
            }
            Err(error) => return Err(error),
        }
    }
    let found = diff::Diff::new(&sides[0], &sides[1]);
    let mut failed = Vec::new();
    for condition in &conditions {
        failed.extend(condition.check(&found).map_err(anyhow::Error::msg)?);
    }
    let json = serde_json::to_string_pretty(&diff::json(&found, &failed))?;
    if let Some(out) = &args.out {
        write(out, &inputs, &diff::page(&found, &command(args)), &json, terminal)?;
    }
    match args.json {
        true => print(&json)?,
        false => print(&diff::text(&found, terminal.out))?,
    }
    for why in &failed {
        terminal.complain(&format!("--fail-if: {why}"));
    }
    Ok(if failed.is_empty() { Status::Done } else { Status::CheckFailed })
}

fn is_interrupt(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(RunError::Interrupted))
}

/// Reads results, or runs a scenario.
fn side(
    name: &str,
    own: &[String],
    args: &Diff,
    seeds: &mut Option<Vec<u64>>,
    inputs: &mut Vec<PathBuf>,
    terminal: &Terminal,
) -> anyhow::Result<Result<Side, Problems>> {
    if let Some((directory, variant)) = results(name) {
        inputs.push(directory.join("summary.json"));
        let side = Side::read(directory, variant);
        return Ok(Ok(side.map_err(|error: SideError| anyhow::anyhow!("{error}"))?));
    }
    if Path::new(name).is_dir() {
        anyhow::bail!(
            "{name} holds no results: it has no summary.json, which `weir run --out` writes"
        );
    }
    let (base, e) = match load(name, &[&args.sets[..], own].concat()) {
        Ok(found) => found,
        Err(problems) => return Ok(Err(problems)),
    };
    terminal.warnings(&e.warnings, &e.scenario.sources);
    inputs.extend(e.inputs());
    let variant = match e.variant(args.scheme.as_deref(), None, 0) {
        Ok(variant) => variant,
        Err(problems) => return Ok(Err(problems)),
    };
    let seeds = seeds.get_or_insert_with(|| e.scenario.run.seeds.clone());
    let jobs = args.jobs.unwrap_or_else(cores);
    let interrupt = AtomicBool::new(false);
    let side = with_flag(&interrupt, || {
        Side::simulate(name, &base, &e, variant, (seeds, jobs), &interrupt)
    })?;
    Ok(Ok(side?))
}

/// A directory of results, with the row that is meant.
fn results(name: &str) -> Option<(&Path, Option<&str>)> {
    let is_results = |path: &str| Path::new(path).join("summary.json").is_file();
    if is_results(name) {
        return Some((Path::new(name), None));
    }
    let (directory, variant) = name.rsplit_once(':')?;
    is_results(directory).then(|| (Path::new(directory), Some(variant)))
}

fn load(name: &str, sets: &[String]) -> Result<(Base, weir_scenario::Experiment), Problems> {
    let (shown, text, files) = source(name)?;
    let mut out = Diagnostics::default();
    let base = Base::read(&shown, &text, files, sets, &mut out);
    let e = base.experiment(out, &Fabrics::default())?;
    Ok((base, e))
}

/// What to type to get it again.
fn command(args: &Diff) -> String {
    let mut line =
        format!("weir diff {} {}", format::shell_word(&args.a), format::shell_word(&args.b));
    let mut add = |flag: &str, values: &[String]| {
        for value in values {
            line.push_str(&format!(" {flag} {}", format::shell_word(value)));
        }
    };
    add("--seeds", args.seeds.as_slice());
    add("--scheme", args.scheme.as_slice());
    add("--set", &args.sets);
    add("--set-a", &args.sets_a);
    add("--set-b", &args.sets_b);
    add("--fail-if", &args.fail_if);
    line
}

/// Writes the page and the numbers.
fn write(
    out: &Path,
    inputs: &[PathBuf],
    page: &str,
    json: &str,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let context = || format!("cannot write to {}", out.display());
    std::fs::create_dir_all(out).with_context(context)?;
    for (name, text) in [("index.html", page), ("diff.json", json)] {
        let file = out.join(name);
        keep_inputs(&file, inputs)?;
        std::fs::write(&file, text).with_context(context)?;
    }
    terminal.note(&format!("report: {}", out.join("index.html").display()));
    Ok(())
}
