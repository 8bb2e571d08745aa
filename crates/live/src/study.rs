//! Live runs of several cells beside their simulations, many times: how far apart they are, and
//! whether that depends on the dilation.
//!
//! What a live run finds is not the same twice: its times are those of a kernel. So a study makes
//! many, keeps every one of them in its tables, and lets only those count that kept their time.

mod page;
mod tables;

pub use page::page;
pub use tables::{flows_csv, runs_csv};

use crate::clock::ClockKind;
use crate::compare::SideBySide;
use crate::lateness::Quantiles;
use weir_core::{Time, Unit};
use weir_results::stats::Sorted;

/// Simulation and live runs are to differ by so much at most, in each flow.
pub const WITHIN: f64 = 0.05;

/// So often each simulation is made again with clocks that are apart.
pub const APART: u64 = 20;

/// So often runs without a kernel are late as the live runs of a dilation were.
pub const EMULATED: u64 = 20;

/// All runs, and on what they were made.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name of the experiment.
    pub id: String,
    /// One line.
    pub title: String,
    /// What is not as in the experiment, in words; empty if nothing is.
    pub changed: String,
    /// The command that makes such a study again.
    pub command: String,
    /// The machine, in words.
    pub machine: Vec<String>,
    /// How many threads drove the nodes.
    pub threads: usize,
    /// What the scenario's clock does when a thread is late.
    pub clock: ClockKind,
    /// A run counts if 999 of 1000 frames were not later.
    pub bound: Bound,
    /// Dilations, the one that is compared with the simulation first.
    pub dilations: Vec<u32>,
    /// So many runs were to keep their time, and so many were made at most.
    pub wanted: (usize, usize),
    /// What was run.
    pub cells: Vec<Cell>,
}

/// What a frame may be late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// One frame time of the fastest link, which is so long.
    Frame(Time),
    /// A time that was asked for.
    Of(Time),
}

/// A variant at a point.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The variant.
    pub variant: String,
    /// Parameters that differ between cells, in words; empty if none do.
    pub at: String,
    /// What is looked at.
    pub classes: Vec<Class>,
    /// The simulation beside itself, where the clocks of hosts are apart by up to the bound.
    pub apart: Vec<SideBySide>,
    /// Every live run, in order.
    pub attempts: Vec<Attempt>,
    /// Runs without a kernel whose nodes wake up as late as those of the live runs that count.
    pub emulated: Vec<Late>,
}

/// A run without a kernel, beside the simulation.
#[derive(Clone, Debug)]
pub struct Late {
    /// Late as live runs with this dilation are.
    pub dilation: u32,
    /// How late frames were.
    pub late: Quantiles,
    /// Beside the simulation.
    pub side: SideBySide,
}

/// A number of the flows of a class, of ports or of a table of the scheme.
#[derive(Clone, Debug)]
pub struct Class {
    /// Of whom.
    pub name: String,
    /// The metric.
    pub metric: String,
    /// What it is measured in.
    pub unit: Unit,
    /// Places and numbers of the paper.
    pub paper: Vec<(String, f64)>,
    /// In the simulation.
    pub simulated: Option<f64>,
}

/// One live run.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// How much slower than the scenario.
    pub dilation: u32,
    /// How much slower it was with the times for which its clock stood still.
    pub kept: f64,
    /// Why it does not count; empty if it does.
    pub invalid: Vec<String>,
    /// How late frames were.
    pub late: Quantiles,
    /// Beside the simulation; `None` if frames were lost between the nodes.
    pub side: Option<SideBySide>,
    /// The numbers of the cell; empty if there is no side.
    pub classes: Vec<Option<f64>>,
}

impl Attempt {
    /// Whether it counts.
    pub fn counts(&self) -> bool {
        self.invalid.is_empty()
    }

    /// By how much each flow differs from the simulation, as a fraction; infinite where one of the
    /// two has no number.
    pub fn differences(&self) -> Vec<f64> {
        self.side.as_ref().map_or_else(Vec::new, SideBySide::flow_differences)
    }

    /// The largest of them.
    pub fn worst(&self) -> Option<f64> {
        self.differences().into_iter().reduce(f64::max)
    }

    /// The largest where flows that stand for each other are compared in the order of their ends.
    pub fn worst_rank(&self) -> Option<f64> {
        self.side.as_ref().map(|side| side.worst_rank().unwrap_or(f64::INFINITY))
    }
}

impl Bound {
    /// The time.
    pub fn time(self) -> Time {
        match self {
            Self::Frame(time) | Self::Of(time) => time,
        }
    }
}

impl Cell {
    /// Its runs with a dilation that count.
    pub fn valid(&self, dilation: u32) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(move |a| a.dilation == dilation && a.counts())
    }

    /// Its runs with a dilation that do not count.
    pub fn invalid(&self, dilation: u32) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(move |a| a.dilation == dilation && !a.counts())
    }

    /// The runs without a kernel that are late as those with a dilation.
    pub fn late(&self, dilation: u32) -> impl Iterator<Item = &Late> {
        self.emulated.iter().filter(move |late| late.dilation == dilation)
    }

    /// Whether a live run holds the flows that the simulation holds, or those that one of the runs
    /// without a kernel holds.
    fn is_held_so(&self, run: &Attempt) -> bool {
        let Some(side) = &run.side else { return false };
        side.same_held()
            || self.emulated.iter().any(|late| late.side.held_live() == side.held_live())
    }

    /// The metric of a class in all runs that count.
    fn live(&self, dilation: u32, class: usize) -> Sorted {
        Sorted::new(self.valid(dilation).filter_map(|a| a.classes.get(class).copied().flatten()))
    }

    /// `PFC`, or `BFC, source = discard`.
    pub fn name(&self) -> String {
        match self.at.is_empty() {
            true => self.variant.clone(),
            false => format!("{}, {}", self.variant, self.at),
        }
    }
}

#[cfg(test)]
mod tests;
