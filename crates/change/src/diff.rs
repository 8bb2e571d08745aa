//! Two runs, or two sets of runs, compared: settings, figures, flows, pauses, victims.
//!
//! ```text
//!   scenario or results  ──►  Side  ┐
//!                                   ├──►  Diff  ──►  text, JSON, page, exit code
//!   scenario or results  ──►  Side  ┘
//! ```
//!
//! Where both sides have the same seeds, they have the same traffic, and figures are compared
//! within seeds and flows one by one. A figure has changed if its interval over seeds excludes no
//! change, at 95 % for all figures together (Holm).

mod fail;
mod figures;
mod rows;
mod settings;
mod side;
mod story;

pub use fail::FailIf;
pub use rows::{FigureDiff, Verdict};
pub use settings::{SettingChange, flatten};
pub use side::{Facts, FlowFacts, PortFacts, Side, SideError};
pub use story::{json, page, paragraph, text};

use std::collections::{BTreeMap, BTreeSet};

/// What is different.
#[derive(Clone, Debug)]
pub struct Diff {
    /// What they are called.
    pub names: [String; 2],
    /// Keys of the scenario with other values.
    pub settings: Vec<SettingChange>,
    /// Figures, those of all flows first.
    pub rows: Vec<FigureDiff>,
    /// Seeds that both have.
    pub common: Vec<u64>,
    /// Common seeds with other traffic.
    pub other_traffic: Vec<u64>,
    /// How many runs each side has.
    pub runs: [usize; 2],
    /// Flows of common seeds.
    pub flows: FlowChanges,
    /// Ports that lost packets, sent pauses; flows that were victims.
    pub appeared: Appeared,
    /// How many switch and host ports there are.
    pub ports: usize,
    /// Ports that only one side has: the networks are not the same.
    pub ports_apart: usize,
}

/// Flows that both sides have, one by one.
#[derive(Clone, Debug, Default)]
pub struct FlowChanges {
    /// Flows of common seeds that both sides have.
    pub paired: usize,
    /// Those that finish earlier by more than a thousandth.
    pub better: usize,
    /// Those that finish later by more than a thousandth.
    pub worse: usize,
    /// Those that finish on the first side only.
    pub stopped: usize,
    /// Those that finish on the second side only.
    pub started: usize,
    /// The ones with the largest change, that first: seed, flow, times on both sides.
    pub largest: Vec<(u64, String, f64, f64)>,
}

/// What is on one side only.
#[derive(Clone, Debug, Default)]
pub struct Appeared {
    /// Ports that lose packets.
    pub losing: OneSided,
    /// Ports that send pauses.
    pub pausing: OneSided,
    /// Flows that are held by pauses that began at ports they never use, with their seeds.
    pub victims: OneSided,
}

/// Names that are on one side only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OneSided {
    /// On the second side.
    pub new: Vec<String>,
    /// On the first side.
    pub gone: Vec<String>,
}

impl OneSided {
    fn new(a: &BTreeSet<String>, b: &BTreeSet<String>) -> Self {
        Self { new: b.difference(a).cloned().collect(), gone: a.difference(b).cloned().collect() }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty()
    }
}

impl Diff {
    /// Compares two sides.
    pub fn new(a: &Side, b: &Side) -> Self {
        let seeds = |side: &Side| side.runs.iter().map(|r| r.seed).collect::<BTreeSet<u64>>();
        let common: Vec<u64> = seeds(a).intersection(&seeds(b)).copied().collect();
        let other_traffic = |seed: &&u64| {
            let of = |side: &Side| side.run(**seed).map(|r| r.traffic.clone());
            of(a) != of(b)
        };
        let settings = settings::changes(&a.settings, &b.settings);
        let used = || b.runs.first().map_or(0, |r| r.ports.len());
        Self {
            names: [a.name.clone(), b.name.clone()],
            rows: rows::rows(a, b, &common),
            other_traffic: common.iter().filter(other_traffic).copied().collect(),
            runs: [a.runs.len(), b.runs.len()],
            flows: flow_changes(a, b, &common),
            appeared: appeared(a, b, &common),
            ports: b.network.as_ref().map_or_else(used, BTreeSet::len),
            ports_apart: ports_apart(a, b, &settings),
            settings,
            common,
        }
    }

    /// Whether nothing at all is different.
    pub fn is_empty(&self) -> bool {
        let Appeared { losing, pausing, victims } = &self.appeared;
        self.settings.is_empty()
            && self.rows.iter().all(|r| r.verdict == Verdict::Same)
            && self.flows.better + self.flows.worse + self.flows.stopped + self.flows.started == 0
            && [losing, pausing, victims].iter().all(|one| one.is_empty())
    }

    /// Figures whose change cannot be chance.
    pub fn significant(&self) -> impl Iterator<Item = &FigureDiff> {
        self.rows.iter().filter(|r| matches!(r.verdict, Verdict::Worse | Verdict::Better))
    }
}

/// Ports that only one side has. Results list the ports that were used, which other traffic
/// changes too: there, it is looked at only if the settings of the topology differ.
fn ports_apart(a: &Side, b: &Side, settings: &[SettingChange]) -> usize {
    if let (Some(ours), Some(theirs)) = (&a.network, &b.network) {
        return ours.symmetric_difference(theirs).count();
    }
    if !settings.iter().any(|s| s.key.starts_with("topology.")) {
        return 0;
    }
    let names = |side: &Side| -> BTreeSet<String> {
        side.runs.iter().flat_map(|r| &r.ports).map(|p| p.name.clone()).collect()
    };
    names(a).symmetric_difference(&names(b)).count()
}

fn flow_changes(a: &Side, b: &Side, common: &[u64]) -> FlowChanges {
    const LARGEST: usize = 8;
    const SAME: f64 = 1e-3;
    let mut found = FlowChanges::default();
    for &seed in common {
        let (Some(ours), Some(theirs)) = (a.run(seed), b.run(seed)) else { continue };
        let known: BTreeMap<&str, &FlowFacts> =
            ours.flows.iter().map(|f| (f.id.as_str(), f)).collect();
        for flow in &theirs.flows {
            let Some(before) = known.get(flow.id.as_str()) else { continue };
            found.paired += 1;
            match (before.fct, flow.fct) {
                (Some(x), Some(y)) => {
                    found.better += usize::from(y < x * (1.0 - SAME));
                    found.worse += usize::from(y > x * (1.0 + SAME));
                    if x != y {
                        found.largest.push((seed, flow.label(), x, y));
                    }
                }
                (Some(_), None) => found.stopped += 1,
                (None, Some(_)) => found.started += 1,
                (None, None) => {}
            }
        }
    }
    let by = |x: f64, y: f64| libm::fabs(libm::log(y / x));
    found.largest.sort_by(|p, q| by(q.2, q.3).total_cmp(&by(p.2, p.3)));
    found.largest.truncate(LARGEST);
    found
}

fn appeared(a: &Side, b: &Side, common: &[u64]) -> Appeared {
    let ports = |side: &Side, has: fn(&PortFacts) -> bool| -> BTreeSet<String> {
        let ports = side.runs.iter().flat_map(|r| &r.ports);
        ports.filter(|p| has(p)).map(|p| p.name.clone()).collect()
    };
    // with other traffic it is chance which ports do something, but not that none did
    let chance = |ours: &BTreeSet<String>, theirs: &BTreeSet<String>| {
        common.is_empty() && !ours.is_empty() && !theirs.is_empty()
    };
    let one = |has: fn(&PortFacts) -> bool| match (ports(a, has), ports(b, has)) {
        (ours, theirs) if chance(&ours, &theirs) => OneSided::default(),
        (ours, theirs) => OneSided::new(&ours, &theirs),
    };
    let victims = |side: &Side| -> BTreeSet<String> {
        let runs = side.runs.iter().filter(|r| common.contains(&r.seed));
        let of = |r: &Facts| {
            let seed = r.seed;
            let names = r.flows.iter().filter(|f| r.victims.contains(&f.id));
            names.map(|f| format!("{} (seed {seed})", f.label())).collect::<Vec<_>>()
        };
        runs.flat_map(of).collect()
    };
    Appeared {
        losing: one(|p| p.dropped > 0),
        pausing: one(|p| p.pauses > 0),
        victims: OneSided::new(&victims(a), &victims(b)),
    }
}
