//! `weir search`: the value of a setting that keeps a property.

use super::simulate::{cores, with_flag};
use crate::Status;
use crate::terminal::{Terminal, print};
use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;
use weir_change::condition::{Broken, Condition};
use weir_change::search::{Axis, Boundary, Found, RunError, Runner, bisect, changes};
use weir_core::format;
use weir_results::table::paint;
use weir_scenario::load::source;
use weir_scenario::resolve::{Base, Fabrics};
use weir_scenario::text::Diagnostics;
use weir_scenario::{Experiment, Problems, Variant};

/// `weir search`.
#[derive(Args, Debug)]
#[command(after_help = "\
One --vary: the smallest (or largest) value with which all seeds keep the
condition, by bisection, and the run that breaks it just beside. Further values
are tried to see whether the condition is monotone. Two --vary: a map of the
pairs of values that keep it.

A condition is one or more of FIGURE OP VALUE, joined by `and`. Figures are
those of `weir compare --columns list`, also in words: `p99 slowdown`.

Examples:
  weir search incast --vary switch.thresholds.limit=75KB..200KB --until 'lost == 0'
  weir search my.toml --vary traffic.0.load=20%..90%:5% --until 'p99 slowdown < 3'
  weir search my.toml --vary switch.thresholds.alpha=1/8,1/4,1/2,1 \\
      --vary switch.ecn.kmin=10KB..100KB --until 'p99 slowdown < 3'")]
pub(crate) struct Search {
    /// A scenario file, - for standard input, or a built-in scenario (see `weir scenarios`)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// A setting and its range: PATH=LOW..HIGH, PATH=LOW..HIGH:STEP or PATH=A,B,C; once or twice
    #[arg(long = "vary", value_name = "RANGE", required = true)]
    pub vary: Vec<String>,
    /// The condition that is to hold, such as 'lost == 0'
    #[arg(long, value_name = "CONDITION")]
    pub until: String,
    /// Flow control scheme instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub scheme: Option<String>,
    /// Congestion control instead of the scenario's
    #[arg(long, value_name = "NAME")]
    pub cc: Option<String>,
    /// Seeds with which the condition must hold, instead of the scenario's: 1..10 or 1,2,5
    #[arg(long, value_name = "LIST")]
    pub seeds: Option<String>,
    /// Change a value of the scenario; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Further values at which the condition is tried, to see whether it is monotone
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub probes: usize,
    /// Values on each side of the map of two settings, at most
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u16).range(2..=100))]
    pub steps: u16,
    /// Number of runs at a time; default: the number of processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// One pair of a map.
#[derive(Clone, Debug, PartialEq)]
enum PairResult {
    Keeps,
    /// With this seed.
    Breaks(u64, Broken),
    /// The scenario cannot be run with it.
    Invalid,
}

impl PairResult {
    const fn mark(&self) -> &'static str {
        match self {
            Self::Keeps => "#",
            Self::Breaks(..) => ".",
            Self::Invalid => "x",
        }
    }
}

/// What is searched, put together.
struct Task<'a> {
    args: &'a Search,
    runner: Runner<'a>,
    condition: Condition,
    seeds: &'a [u64],
    terminal: &'a Terminal,
}

/// `weir search`.
pub(crate) fn search(args: &Search, terminal: &Terminal) -> anyhow::Result<Status> {
    let axes: Result<Vec<Axis>, String> = args.vary.iter().map(|text| Axis::read(text)).collect();
    let axes = axes.map_err(anyhow::Error::msg)?;
    if axes.len() > 2 {
        bail!("{} settings are varied: one or two can be", axes.len());
    }
    if let Some(axis) = axes.iter().find(|axis| axis.path.starts_with("run.seed")) {
        bail!("{} is no setting to search: the condition must hold with all --seeds", axis.path);
    }
    let (base, e, variant) = match load(args) {
        Ok(found) => found,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    terminal.warnings(&e.warnings, &e.scenario.sources);
    let seeds = match &args.seeds {
        Some(text) => weir_sweep::seeds::parse(text).map_err(anyhow::Error::msg)?,
        None => e.scenario.run.seeds.clone(),
    };
    let condition = Condition::read(&args.until, &e).map_err(anyhow::Error::msg)?;
    let interrupt = AtomicBool::new(false);
    let jobs = args.jobs.unwrap_or_else(cores);
    let runner = Runner::new(&base, variant, &seeds, jobs, &interrupt);
    let task = Task { args, runner, condition, seeds: &seeds, terminal };
    let done = with_flag(&interrupt, || match &axes[..] {
        [one] => task.line(one),
        [x, y, ..] => task.map(&x.coarse(args.steps.into()), &y.coarse(args.steps.into())),
        [] => Ok(Status::BadInput),
    })?;
    let Err(error) = done else { return done };
    match error.downcast::<RunError>() {
        Ok(RunError::Interrupted) => {
            terminal.complain("interrupted");
            Ok(Status::Interrupted)
        }
        Ok(RunError::Problems { sets, problems }) => {
            terminal.complain(&format!("the scenario cannot be run with {sets}"));
            terminal.problems(&problems);
            Ok(Status::BadInput)
        }
        Ok(error) => Err(error.into()),
        Err(error) => Err(error),
    }
}

fn load(args: &Search) -> Result<(Base, Experiment, Variant), Problems> {
    let (name, text, files) = source(&args.scenario)?;
    let mut out = Diagnostics::default();
    let base = Base::read(&name, &text, files, &args.sets, &mut out);
    let e = base.experiment(out, &Fabrics::default())?;
    let variant = e.variant(args.scheme.as_deref(), args.cc.as_deref(), 0)?;
    Ok((base, e, variant))
}

impl Task<'_> {
    /// Judges one value or pair, and says so.
    fn judge(&self, sets: &[String], shown: &str) -> Result<Option<(u64, Broken)>, RunError> {
        let verdict = self.runner.judge(sets, &self.condition)?;
        let what = match &verdict.broken {
            None => "keeps it".to_owned(),
            Some((seed, broken)) => format!("seed {seed}: {broken}"),
        };
        self.terminal.note(&format!("{shown}: {what}"));
        Ok(verdict.broken)
    }

    fn seeds_text(&self) -> String {
        match self.seeds {
            [seed] => format!("seed {seed}"),
            several => format::plural(several.len() as u64, "seed"),
        }
    }

    /// The command that repeats a run.
    fn command(&self, sets: &[String], seed: u64) -> String {
        let Search { scenario, scheme, cc, sets: own, .. } = self.args;
        let mut line = format!("weir run {}", format::shell_word(scenario));
        for (flag, value) in [("--scheme", scheme), ("--cc", cc)] {
            if let Some(value) = value {
                line.push_str(&format!(" {flag} {}", format::shell_word(value)));
            }
        }
        for set in own.iter().chain(sets) {
            line.push_str(&format!(" --set {}", format::shell_word(set)));
        }
        format!("{line} --seed {seed}")
    }

    /// One setting.
    fn line(&self, axis: &Axis) -> anyhow::Result<Status> {
        let mut broken: std::collections::BTreeMap<usize, (u64, Broken)> = Default::default();
        let found = bisect(axis.len(), self.args.probes, |i| {
            let result = self.judge(&[axis.set(i)], &axis.show(i))?;
            let keeps = result.is_none();
            result.map(|why| broken.insert(i, why));
            Ok::<bool, RunError>(keeps)
        })?;
        let beside = match found.boundary {
            Boundary::Smallest { breaks, .. } | Boundary::Largest { breaks, .. } => Some(breaks),
            Boundary::Never => found.tried.keys().next_back().copied(),
            Boundary::Always => None,
        };
        let breaking = beside.and_then(|i| broken.get(&i).map(|(seed, why)| (i, *seed, why)));
        match self.args.json {
            true => print(&serde_json::to_string_pretty(&self.line_json(axis, &found, breaking))?)?,
            false => print(&self.line_text(axis, &found, breaking))?,
        }
        let sure = found.contradictions.is_empty() && found.boundary != Boundary::Never;
        Ok(if sure { Status::Done } else { Status::CheckFailed })
    }

    fn line_text(
        &self,
        axis: &Axis,
        found: &Found,
        breaking: Option<(usize, u64, &Broken)>,
    ) -> String {
        let (path, condition) = (&axis.path, &self.condition.text);
        let seeds = self.seeds_text();
        let last = axis.len() - 1;
        let step = axis.step().map_or_else(String::new, |step| format!(", in steps of {step}"));
        let mut lines = Vec::new();
        let answer = |which: &str, i: usize| {
            let value = paint(&axis.show(i), self.terminal.out.colour, "1");
            format!("  the {which} {path} that keeps `{condition}` is {value} ({seeds}{step})")
        };
        match found.boundary {
            Boundary::Smallest { keeps, .. } => lines.push(answer("smallest", keeps)),
            Boundary::Largest { keeps, .. } => lines.push(answer("largest", keeps)),
            Boundary::Always => lines.push(format!(
                "  `{condition}` holds at both ends of {path}, {} and {} ({seeds})",
                axis.show(0),
                axis.show(last)
            )),
            Boundary::Never => lines.push(format!(
                "  `{condition}` holds at neither end of {path}, {} and {} ({seeds})",
                axis.show(0),
                axis.show(last)
            )),
        }
        if let Some((i, seed, why)) = breaking {
            lines.push(format!("  with {} seed {seed} breaks it: {why}", axis.show(i)));
            lines.push(format!("    {}", self.command(&[axis.set(i)], seed)));
        }
        let (tried, all) = (found.tried.len(), axis.len());
        if found.contradictions.is_empty() {
            lines.push(format!("  tried {tried} of {all} values: monotone at all of them"));
        } else {
            let alarm = paint("NOT MONOTONE", self.terminal.out.colour, "1;31");
            lines.push(format!("  {alarm} (tried {tried} of {all} values):"));
            for (i, keeps) in &found.tried {
                let mark = if found.contradictions.contains(i) { "  <- contradicts" } else { "" };
                let word = if *keeps { "keeps it" } else { "breaks it" };
                lines.push(format!("    {:>10}  {word}{mark}", axis.show(*i)));
            }
        }
        lines.join("\n")
    }

    fn line_json(
        &self,
        axis: &Axis,
        found: &Found,
        breaking: Option<(usize, u64, &Broken)>,
    ) -> Value {
        let (kind, keeps) = match found.boundary {
            Boundary::Smallest { keeps, .. } => ("smallest", Some(keeps)),
            Boundary::Largest { keeps, .. } => ("largest", Some(keeps)),
            Boundary::Always => ("always", None),
            Boundary::Never => ("never", None),
        };
        let tried: Vec<Value> = found
            .tried
            .iter()
            .map(
                |(i, keeps)| json!({ "set": axis.set(*i), "value": axis.show(*i), "keeps": keeps }),
            )
            .collect();
        let breaking = breaking.map(|(i, seed, why)| {
            json!({ "set": axis.set(i), "value": axis.show(i), "seed": seed,
                    "why": why.to_string(), "found": why.found,
                    "command": self.command(&[axis.set(i)], seed) })
        });
        json!({
            "scenario": self.args.scenario,
            "vary": axis.path,
            "condition": self.condition.text,
            "seeds": self.seeds,
            "answer": kind,
            "set": keeps.map(|i| axis.set(i)),
            "value": keeps.map(|i| axis.show(i)),
            "breaking": breaking,
            "monotone": found.contradictions.is_empty(),
            "contradictions": found.contradictions.iter().map(|&i| axis.set(i)).collect::<Vec<_>>(),
            "tried": tried,
            "values": axis.len(),
        })
    }

    /// Judges a pair of settings.
    fn cell(&self, sets: &[String], shown: &str) -> Result<PairResult, RunError> {
        match self.judge(sets, shown) {
            Ok(None) => Ok(PairResult::Keeps),
            Ok(Some((seed, why))) => Ok(PairResult::Breaks(seed, why)),
            Err(RunError::Problems { problems, .. }) => {
                let title = problems.diagnostics.iter().next().map(|d| d.title.clone());
                self.terminal.note(&format!("{shown}: {}", title.as_deref().unwrap_or("not run")));
                Ok(PairResult::Invalid)
            }
            Err(error) => Err(error),
        }
    }

    /// Two settings: rows are the second, columns the first.
    fn map(&self, x: &Axis, y: &Axis) -> anyhow::Result<Status> {
        let mut rows: Vec<Vec<PairResult>> = Vec::new();
        for j in 0..y.len() {
            let row = (0..x.len()).map(|i| {
                let shown = format!("{}, {}", x.show(i), y.show(j));
                self.cell(&[x.set(i), y.set(j)], &shown)
            });
            rows.push(row.collect::<Result<_, _>>()?);
        }
        let keeps = |i: usize, j: usize| rows[j][i] == PairResult::Keeps;
        let uneven_rows = (0..y.len()).filter(|&j| changes((0..x.len()).map(|i| keeps(i, j))) > 1);
        let uneven_columns =
            (0..x.len()).filter(|&i| changes((0..y.len()).map(|j| keeps(i, j))) > 1);
        let odd: Vec<String> =
            uneven_rows.map(|j| y.set(j)).chain(uneven_columns.map(|i| x.set(i))).collect();
        let any = rows.iter().flatten().any(|c| *c == PairResult::Keeps);
        if self.args.json {
            let cell = |i: usize, j: usize| {
                let (seed, found) = match &rows[j][i] {
                    PairResult::Breaks(seed, why) => (Some(*seed), why.found),
                    PairResult::Keeps | PairResult::Invalid => (None, None),
                };
                json!({ "sets": [x.set(i), y.set(j)], "keeps": keeps(i, j),
                        "valid": rows[j][i] != PairResult::Invalid, "seed": seed, "found": found })
            };
            let cells = (0..y.len()).flat_map(|j| (0..x.len()).map(move |i| (i, j)));
            let cells: Vec<Value> = cells.map(|(i, j)| cell(i, j)).collect();
            print(&serde_json::to_string_pretty(&json!({
                "scenario": self.args.scenario,
                "vary": [x.path, y.path],
                "condition": self.condition.text,
                "seeds": self.seeds,
                "cells": cells,
                "monotone": odd.is_empty(),
                "not_monotone_along": odd,
            }))?)?;
        } else {
            print(&self.map_text(x, y, &rows, &odd))?;
        }
        Ok(if any { Status::Done } else { Status::CheckFailed })
    }

    fn map_text(&self, x: &Axis, y: &Axis, rows: &[Vec<PairResult>], odd: &[String]) -> String {
        let heads: Vec<String> = (0..x.len()).map(|i| x.show(i)).collect();
        let wide = heads.iter().map(String::len).max().unwrap_or(1).max(5);
        let left = (0..y.len()).map(|j| y.show(j).len()).max().unwrap_or(1).max(y.path.len());
        let mut lines = vec![format!(
            "  `{}` with {}: # holds, . does not",
            self.condition.text,
            self.seeds_text()
        )];
        if rows.iter().flatten().any(|c| *c == PairResult::Invalid) {
            lines[0].push_str(", x these settings exclude each other");
        }
        lines.push(format!("  {:left$}   {}", y.path, x.path));
        let cells = |words: &mut dyn Iterator<Item = String>| -> String {
            words.map(|w| format!(" {w:>wide$}")).collect()
        };
        lines.push(format!("  {:left$}  {}", "", cells(&mut heads.iter().cloned())));
        for (j, row) in rows.iter().enumerate() {
            let mut marks = row.iter().map(|c| c.mark().to_owned());
            lines.push(format!("  {:>left$}  {}", y.show(j), cells(&mut marks)));
        }
        if odd.is_empty() {
            lines.push("  monotone along every row and column".into());
        } else {
            let alarm = paint("NOT MONOTONE", self.terminal.out.colour, "1;31");
            lines.push(format!("  {alarm} along {}", odd.join(", ")));
        }
        lines.join("\n")
    }
}
