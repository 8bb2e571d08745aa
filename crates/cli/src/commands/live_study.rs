//! `weir live study`: experiments of papers on real frames, many times, beside their simulation.

use super::live::Study as Args;
use super::outputs::write_file;
use super::simulate;
use crate::Status;
use crate::terminal::Terminal;
use anyhow::{Context, bail};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use weir_core::{Unit, format};
use weir_live::clock::{ClockKind, Dilation};
use weir_live::compare::SideBySide;
use weir_live::emulate::{self, Lateness};
use weir_live::lab;
use weir_live::machine::{describe, frame_time, processors};
use weir_live::run::{self, Settings};
use weir_live::study::{
    APART, Attempt, Bound, Cell, Class, EMULATED, Late, Study, flows_csv, page, runs_csv,
};
use weir_paper::catalogue::{Paper, choose};
use weir_paper::experiment::Experiment;
use weir_paper::live::LiveStudy;
use weir_paper::select::Selector;
use weir_paper::{Overrides, live_cells, tables};
use weir_results::metrics::Figures;
use weir_results::run::{Meter, Perf, Run};
use weir_scenario::Variant;
use weir_sweep::draft::ResolvedCell;

/// `weir live study`.
pub(super) fn study(args: &Args, terminal: &Terminal) -> anyhow::Result<Status> {
    if !lab::is_root() {
        return Err(lab::enter_user_namespace().into());
    }
    let chosen = match choose(&args.names) {
        Ok(chosen) => chosen,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    let all = chosen.iter().flat_map(|c| c.experiments.iter().map(|&at| (&c.paper, at)));
    let with: Vec<(&Paper, &Experiment, &LiveStudy)> = all
        .filter_map(|(paper, at)| {
            let e = &paper.experiments[at];
            Some((paper, e, e.live.as_ref()?))
        })
        .collect();
    if with.is_empty() {
        bail!("no experiment among them has a [live] table");
    }
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot make {}", args.output.display()))?;
    for (paper, e, live) in with {
        let interrupt = AtomicBool::new(false);
        let maker = Maker { args, terminal, paper, e, live, interrupt: &interrupt };
        let made = simulate::with_flag(&interrupt, || maker.make())??;
        let Some(study) = made else {
            terminal.complain(&format!("interrupted: nothing of {} is written", e.id));
            return Ok(Status::Interrupted);
        };
        save(&study, &file_name(e, args), &args.output, terminal)?;
    }
    Ok(Status::Done)
}

/// What is not as in the experiment.
fn overrides(args: &Args) -> Overrides {
    Overrides { seeds: None, sets: args.sets.clone() }
}

/// How its files begin.
fn file_name(e: &Experiment, args: &Args) -> String {
    let id = e.id.to_lowercase();
    overrides(args).slug().map_or(id.clone(), |changed| format!("{id}-{changed}"))
}

/// Writes the page and the tables.
fn save(study: &Study, id: &str, to: &Path, terminal: &Terminal) -> anyhow::Result<()> {
    for (name, bytes) in [
        (format!("{id}.md"), page(study, id).into_bytes()),
        (format!("{id}-runs.csv"), runs_csv(study)),
        (format!("{id}-flows.csv"), flows_csv(study)),
    ] {
        let path = to.join(name);
        write_file(&path, bytes)?;
    }
    let valid = study.cells.iter().flat_map(|c| &c.attempts).filter(|a| a.counts()).count();
    let all: usize = study.cells.iter().map(|c| c.attempts.len()).sum();
    let shown = to.join(format!("{id}.md"));
    terminal.note(&format!(
        "{}: {valid} of {all} runs kept their time: {}",
        study.id,
        shown.display()
    ));
    Ok(())
}

/// Makes the runs of one experiment.
struct Maker<'a> {
    args: &'a Args,
    terminal: &'a Terminal,
    paper: &'a Paper,
    e: &'a Experiment,
    live: &'a LiveStudy,
    interrupt: &'a AtomicBool,
}

/// The seed of all runs.
const SEED: u64 = 1;

impl Maker<'_> {
    /// `None` if it was interrupted.
    fn make(&self) -> anyhow::Result<Option<Study>> {
        let mut resolved =
            match live_cells::cells(self.live, self.paper, self.e, &overrides(self.args)) {
                Ok(cells) => cells,
                Err(problems) => {
                    self.terminal.problems(&problems);
                    bail!("{} cannot be put together", self.e.id);
                }
            };
        let first = resolved.first().with_context(|| format!("{} has no cells", self.e.id))?;
        let dilations = match self.args.dilate.as_slice() {
            [] => self.live.dilations.clone(),
            some => some.to_vec(),
        };
        let wanted = self.args.runs.unwrap_or(self.live.runs);
        let bound = self.args.bound.map_or_else(|| Bound::Frame(self.frame(first)), Bound::Of);
        let mut study = Study {
            id: self.e.id.clone(),
            title: self.e.title.clone(),
            changed: self.args.sets.join(", "),
            command: self.command(),
            machine: describe(self.args.real_time),
            threads: self.threads(),
            clock: self.args.clock,
            bound,
            dilations: dilations.clone(),
            wanted: (wanted, wanted * self.args.tries),
            cells: Vec::new(),
        };
        let mut simulated = Vec::new();
        for cell in &resolved {
            let run = simulated_run(cell)?;
            let figures = Figures::new(&cell.resolved.experiment, &run);
            study.cells.push(self.cell(&resolved, cell, &figures));
            simulated.push(run);
        }
        for (i, cell) in resolved.iter_mut().enumerate() {
            study.cells[i].apart = apart(cell, &simulated[i], bound.time())?;
        }
        for &dilation in &dilations {
            // one of each in turn: what else the machine does meets all of them
            for _ in 0..study.wanted.1 {
                for (i, cell) in resolved.iter().enumerate() {
                    if study.cells[i].valid(dilation).count() >= wanted {
                        continue;
                    }
                    let attempt = self.attempt(cell, dilation, &simulated[i]);
                    if self.interrupt.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    let attempt = attempt?;
                    self.tell(&study.cells[i], &attempt);
                    study.cells[i].attempts.push(attempt);
                }
            }
        }
        for ((cell, resolved), simulated) in study.cells.iter_mut().zip(&resolved).zip(&simulated) {
            for &dilation in &dilations {
                cell.emulated.extend(emulated(resolved, simulated, cell, dilation)?);
            }
        }
        Ok(Some(study))
    }

    fn tell(&self, cell: &Cell, attempt: &Attempt) {
        let percent = |x: f64| format!("{:.2} %", x * 100.0);
        self.terminal.note(&format!(
            "{} {}, dilation {}, kept {:.0}: {}, worst flow {}",
            self.e.id,
            cell.name(),
            attempt.dilation,
            attempt.kept,
            if attempt.counts() { "in time" } else { "late" },
            attempt.worst().map_or("-".into(), percent),
        ));
    }

    /// The command again.
    fn command(&self) -> String {
        let mut words = format!("weir live study {}", self.e.id);
        for set in &self.args.sets {
            words += &format!(" --set {set}");
        }
        if let Some(runs) = self.args.runs {
            words += &format!(" --runs {runs}");
        }
        if self.args.tries != 3 {
            words += &format!(" --tries {}", self.args.tries);
        }
        if !self.args.dilate.is_empty() {
            let list: Vec<String> = self.args.dilate.iter().map(ToString::to_string).collect();
            words += &format!(" --dilate {}", list.join(","));
        }
        if let Some(bound) = self.args.bound {
            words += &format!(" --bound {}", format::time(bound).replace(' ', ""));
        }
        if self.args.clock != ClockKind::DEFAULT {
            words += &format!(" --clock {}", self.args.clock.name());
        }
        if let Some(threads) = self.args.threads {
            words += &format!(" --threads {threads}");
        }
        if self.args.real_time {
            words += " --real-time";
        }
        words
    }

    /// How many threads drive the nodes.
    fn threads(&self) -> usize {
        self.args.threads.unwrap_or_else(|| self.args.clock.threads(processors()))
    }

    fn frame(&self, cell: &ResolvedCell) -> weir_core::Time {
        let e = &cell.resolved.experiment;
        frame_time(&e.topology, &e.config(seeded(cell)))
    }

    /// A cell without its live runs.
    fn cell(&self, all: &[ResolvedCell], cell: &ResolvedCell, simulated: &Figures) -> Cell {
        let scope = &self.paper.runs_of(self.e).scope;
        // parameters that are the same in all cells say nothing
        let names = scope
            .parameters
            .iter()
            .enumerate()
            .filter(|(i, _)| all.iter().any(|other| other.values[*i] != all[0].values[*i]));
        let at: Vec<String> = names.map(|(i, n)| format!("{n} = {}", cell.values[i])).collect();
        let numbers = live_cells::numbers(self.live, self.paper, self.e, cell);
        let class = |(select, paper): (Selector, Vec<live_cells::PaperNumber>)| {
            let simulated = tables::number(simulated, &select).ok();
            let headings = select.family().headings();
            let heading = headings.iter().find(|h| h.name == select.metric);
            Class {
                unit: heading.map_or(Unit::Number, |h| h.unit),
                name: of_whom(&select),
                metric: select.metric,
                // the paper says nothing of other settings
                paper: match self.args.sets.is_empty() {
                    true => paper.into_iter().map(|n| (n.place, n.number)).collect(),
                    false => Vec::new(),
                },
                simulated,
            }
        };
        Cell {
            variant: cell.variant.clone(),
            at: at.join(", "),
            classes: numbers.into_iter().map(class).collect(),
            apart: Vec::new(),
            attempts: Vec::new(),
            emulated: Vec::new(),
        }
    }

    /// One live run.
    fn attempt(
        &self,
        cell: &ResolvedCell,
        dilation: u32,
        simulated: &Run,
    ) -> anyhow::Result<Attempt> {
        let (e, variant) = (&cell.resolved.experiment, seeded(cell));
        let settings = Settings {
            dilation: Dilation::new(dilation).context("a factor above zero")?,
            clock: self.args.clock,
            bound: self.args.bound.unwrap_or_else(|| self.frame(cell)),
            until: None,
            free: Vec::new(),
            logged: false,
            real_time: self.args.real_time,
            threads: self.threads(),
        };
        let live = run::run(e, variant, &settings, self.interrupt, |_| ())?;
        let mut attempt = Attempt {
            dilation,
            kept: live.report.dilation_kept,
            invalid: live.report.invalid,
            late: live.report.late,
            side: None,
            classes: Vec::new(),
        };
        match live.outcome {
            Ok(outcome) => {
                attempt.side = Some(SideBySide::new(&e.topology, &simulated.outcome, &outcome));
                let perf = Perf {
                    packet_hops: 0,
                    events: 0,
                    cpu_seconds: 0.0,
                    setup_cpu_seconds: None,
                    wall_seconds: 0.0,
                };
                let run = Run::of_outcome(e, variant, e.config(variant), outcome, perf);
                let figures = Figures::new(e, &run);
                let numbers = live_cells::numbers(self.live, self.paper, self.e, cell);
                let number = |(select, _): (Selector, _)| tables::number(&figures, &select).ok();
                attempt.classes = numbers.into_iter().map(number).collect();
            }
            Err(error) => attempt.invalid.push(format!("between the nodes: {error}")),
        }
        Ok(attempt)
    }
}

fn simulated_run(cell: &ResolvedCell) -> anyhow::Result<Run> {
    let e = &cell.resolved.experiment;
    Ok(weir_results::run::run(e, seeded(cell), &Meter::new(1), 0)?)
}

/// The simulation beside itself, with the clocks of its hosts apart by up to `bound`.
fn apart(
    cell: &mut ResolvedCell,
    simulated: &Run,
    bound: weir_core::Time,
) -> anyhow::Result<Vec<SideBySide>> {
    let mut sides = Vec::new();
    for draw in 1..=APART {
        cell.resolved.experiment.traffic.set_clocks_apart(bound, draw);
        let other = simulated_run(cell)?;
        let topology = &cell.resolved.experiment.topology;
        sides.push(SideBySide::new(topology, &simulated.outcome, &other.outcome));
    }
    cell.resolved.experiment.traffic.set_clocks_apart(weir_core::Time::ZERO, 0);
    Ok(sides)
}

/// Runs without a kernel that are late as the live runs of a cell are that count, one after the
/// other; none if there are no such runs.
fn emulated(
    resolved: &ResolvedCell,
    simulated: &Run,
    cell: &Cell,
    dilation: u32,
) -> anyhow::Result<Vec<Late>> {
    let measured: Vec<Lateness> =
        cell.valid(dilation).filter_map(|run| Lateness::new(&run.late)).collect();
    let e = &resolved.resolved.experiment;
    let each = measured.iter().cycle().zip(1..=EMULATED);
    each.map(|(lateness, draw)| {
        let run = emulate::run(e, seeded(resolved), lateness, draw)?;
        let side = SideBySide::new(&e.topology, &simulated.outcome, &run.outcome);
        Ok(Late { dilation, late: run.late, side })
    })
    .collect()
}

/// The flows, ports or table that a number is of.
fn of_whom(select: &Selector) -> String {
    let parts = [&select.class, &select.sizes, &select.ports, &select.table];
    let parts: Vec<&str> =
        parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "all".into() } else { parts.join(", ") }
}

fn seeded(cell: &ResolvedCell) -> Variant {
    Variant { seed: SEED, ..cell.resolved.variant }
}
