//! The native model beside the compatible one, on the same inputs.

use super::import::{FlowsIn, Ways, convert};
use super::{Inputs, host_name};
use crate::run::{Meter, run};
use crate::stats::Sorted;
use std::collections::BTreeMap;
use weir_core::Time;
use weir_core::percentile::P99;
use weir_ns3::Memory;
use weir_scenario::Files;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{DropRecord, Flows};

/// One flow under both models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPair {
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// How many flows between the same hosts come before it.
    pub nth: usize,
    /// From its start to the sender's last ACK in the compatible run; `None` if it did not finish.
    pub compat: Option<Time>,
    /// The same in the native run.
    pub native: Option<Time>,
}

impl FlowPair {
    /// How much longer it takes in the native model, in per cent.
    pub fn difference(&self) -> Option<f64> {
        Some(percent(self.compat?.as_ps() as f64, self.native?.as_ps() as f64))
    }
}

/// How much more `b` is than `a`, in per cent.
fn percent(a: f64, b: f64) -> f64 {
    100.0 * (b - a) / a
}

/// Both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Every flow with bytes, by sender, receiver and start.
    pub flows: Vec<FlowPair>,
    /// Pause frames that reached a port in the compatible run.
    pub compat_pauses: u64,
    /// Packets that found no room in a switch in the compatible run.
    pub compat_drops: u64,
    /// Pause frames sent in the native run.
    pub native_pauses: u64,
    /// Packets lost in the native run, by reason, priority and switch.
    pub native_drops: Vec<DropRecord>,
    /// What the conversion changed or left out.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Completion times in microseconds of the flows that finished in both runs: compatible, and
    /// native.
    pub fn times(&self) -> (Sorted, Sorted) {
        let both = || self.flows.iter().filter_map(|f| f.compat.zip(f.native));
        let us = |t: Time| t.as_ps() as f64 / 1e6;
        (Sorted::new(both().map(|(c, _)| us(c))), Sorted::new(both().map(|(_, n)| us(n))))
    }

    /// Difference of the mean completion time, in per cent.
    pub fn mean_difference(&self) -> Option<f64> {
        let (compat, native) = self.times();
        Some(percent(compat.mean()?, native.mean()?))
    }

    /// Difference of the 99th percentile, in per cent.
    pub fn p99_difference(&self) -> Option<f64> {
        let (compat, native) = self.times();
        Some(percent(compat.percentile(P99)?, native.percentile(P99)?))
    }

    /// The flow whose time differs most, relatively.
    pub fn worst(&self) -> Option<&FlowPair> {
        let size = |f: &FlowPair| f.difference().map_or(-1.0, f64::abs);
        self.flows.iter().max_by(|a, b| size(a).total_cmp(&size(b)))
    }

    /// Flows that did not finish: in the compatible run, and in the native one.
    pub fn unfinished(&self) -> (usize, usize) {
        let count = |open: fn(&FlowPair) -> bool| self.flows.iter().filter(|f| open(f)).count();
        (count(|f| f.compat.is_none()), count(|f| f.native.is_none()))
    }
}

/// How the native run differs from a plain conversion: a difference between the models is due to
/// what makes it go away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Who chooses among paths of equal length.
    pub ways: Ways,
    /// Links are listed in reverse, which turns round the order of each node's ports: another
    /// one of two packets that arrive together goes first.
    pub reversed: bool,
    /// Settings of the converted scenario, `section.key=value`.
    pub sets: Vec<String>,
    /// The seed of marks and bit errors.
    pub seed: u64,
    /// Hosts without links that the compatible run has in addition. They shift its random stream,
    /// which has no seed, and change nothing else.
    pub idle_hosts: usize,
}

impl Default for Changes {
    fn default() -> Self {
        Self { ways: Ways::Hashed, reversed: false, sets: Vec::new(), seed: 1, idle_hosts: 0 }
    }
}

/// Runs `inputs` both ways. `meter` can interrupt the native run, which is then an error like any
/// other that keeps it from a result.
pub fn compare(inputs: &Inputs, changes: &Changes, meter: &Meter) -> Result<Comparison, String> {
    let mut source = inputs.clone();
    if changes.reversed {
        source.topology.links.reverse();
    }
    let made = convert("native", "config.txt", &source, FlowsIn::Scenario, changes.ways);
    let read = Experiment::read("native", &made.scenario, Files::default(), &changes.sets);
    let experiment = read.map_err(|problems| problems.to_string())?;
    let variant =
        experiment.variant(None, None, changes.seed).map_err(|problems| problems.to_string())?;
    let native = run(&experiment, variant, meter, 0).map_err(|e| e.to_string())?;
    if native.interrupted() {
        return Err("interrupted".into());
    }
    let mut shifted = inputs.clone();
    let nodes = shifted.topology.is_switch.len();
    shifted.topology.is_switch.resize(nodes + changes.idle_hosts, false);
    let mut compat = Memory::default();
    let counters = weir_ns3::run(&shifted, &mut compat).counters;
    Ok(Comparison {
        flows: pair(inputs, &compat, &experiment, &native.outcome.flows),
        compat_pauses: compat.pfc.iter().map(|r| u64::from(r.pause)).sum(),
        compat_drops: counters.drops,
        native_pauses: native.outcome.ports.iter().flat_map(|p| p.pauses_sent).sum(),
        native_drops: native.outcome.drops.clone(),
        notes: made.notes,
    })
}

/// Flows between the same hosts correspond in the order of their starts.
fn pair(
    inputs: &Inputs,
    compat: &Memory,
    experiment: &Experiment,
    native: &Flows,
) -> Vec<FlowPair> {
    let theirs: BTreeMap<(u32, u32, u16), u64> =
        compat.fct.iter().map(|r| ((r.src, r.dst, r.sport), r.fct_ns)).collect();
    let mut ours: BTreeMap<(String, String), Vec<_>> = BTreeMap::new();
    for f in native {
        let name = |node| experiment.topology.name(node).to_owned();
        ours.entry((name(f.src()), name(f.dst))).or_default().push((f.start, f.id, f.fct_ack()));
    }
    for list in ours.values_mut() {
        list.sort_unstable();
    }
    let mut seen: BTreeMap<(u32, u32), (u16, usize)> = BTreeMap::new();
    let mut pairs = Vec::new();
    for f in &inputs.flows {
        let (ports, nth) = seen.entry((f.src, f.dst)).or_default();
        let sport = 10_000u16.wrapping_add(*ports);
        *ports = ports.wrapping_add(1);
        // The scenario leaves out flows without bytes.
        if f.size == 0 {
            continue;
        }
        let list = ours.get(&(host_name(f.src), host_name(f.dst)));
        pairs.push(FlowPair {
            src: f.src,
            dst: f.dst,
            nth: *nth,
            compat: theirs.get(&(f.src, f.dst, sport)).map(|&ns| Time::from_ns(ns)),
            native: list.and_then(|list| list.get(*nth)?.2),
        });
        *nth += 1;
    }
    pairs.sort_by_key(|f| (f.src, f.dst, f.nth));
    pairs
}
