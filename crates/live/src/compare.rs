//! A live run beside its simulation.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use weir_core::format;
use weir_net::Topology;
use weir_sim::Outcome;
use weir_sim::outcome::{FlowRecord, PortRecord};

/// One number of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Of what.
    pub what: String,
    /// In the simulation.
    pub simulated: Option<f64>,
    /// Live.
    pub live: Option<f64>,
}

impl Pair {
    /// By how much of the simulated one the live one differs; `None` where one is missing, or they
    /// differ and the simulated one is zero.
    pub fn difference(&self) -> Option<f64> {
        match (self.simulated?, self.live?) {
            (a, b) if a == b => Some(0.0),
            (0.0, _) => None,
            (a, b) => Some(b / a - 1.0),
        }
    }
}

/// Two runs side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SideBySide {
    /// Completion times of flows in microseconds, or bytes delivered where a flow has no end.
    pub flows: Vec<Pair>,
    /// The same for flows that stand for each other (class, size, start and receiver are the same):
    /// the first to end beside the first, and so on. Which of them is first hangs on nanoseconds.
    pub ranks: Vec<Pair>,
    /// Time for which flow control held each flow that it held in either, in microseconds; hops are
    /// added up.
    pub flows_held: Vec<Pair>,
    /// PAUSE messages sent by each port that sent any.
    pub pauses: Vec<Pair>,
    /// Time for which each port was held, in microseconds.
    pub held: Vec<Pair>,
    /// The longest queue of each switch port, in bytes.
    pub queues: Vec<Pair>,
}

impl SideBySide {
    /// Compares two outcomes of the same scenario.
    pub fn new(topology: &Topology, simulated: &Outcome, live: &Outcome) -> Self {
        let flows = simulated.flows.iter().map(|flow| {
            let other = live.flows.get(flow.id);
            let name = name(topology, flow);
            let ends = flow.fct().is_some() || other.is_some_and(|f| f.fct().is_some());
            let value = |f: &FlowRecord| value(f, ends);
            let unit = if ends { "us" } else { "B" };
            let (simulated, live) = (value(flow), other.and_then(value));
            Pair { what: format!("{name} [{unit}]"), simulated, live }
        });
        let held_us = |f: &FlowRecord| f.held_total().as_ps() as f64 / 1e6;
        let flows_held = simulated.flows.iter().map(|flow| Pair {
            what: name(topology, flow),
            simulated: Some(held_us(flow)),
            live: live.flows.get(flow.id).map(held_us),
        });
        let flows_held = flows_held.filter(|p| p.simulated != Some(0.0) || p.live != Some(0.0));
        let ports = |of: &dyn Fn(&PortRecord) -> f64, switches: bool| -> Vec<Pair> {
            let wanted = |p: &&PortRecord| !switches || !topology.is_host(p.node);
            let pairs = simulated.ports.iter().filter(wanted).map(|port| {
                let same = |p: &&PortRecord| (p.node, p.port) == (port.node, port.port);
                let what = format!("{}/p{}", topology.name(port.node), port.port.0);
                let other = live.ports.iter().find(same);
                Pair { what, simulated: Some(of(port)), live: other.map(of) }
            });
            pairs.filter(|p| p.simulated != Some(0.0) || p.live != Some(0.0)).collect()
        };
        let held = |p: &PortRecord| p.held_time.iter().map(|t| t.as_ps() as f64 / 1e6).sum();
        Self {
            flows: flows.collect(),
            ranks: ranks(simulated, live),
            flows_held: flows_held.collect(),
            pauses: ports(&|p| p.pauses_sent.iter().sum::<u64>() as f64, false),
            held: ports(&held, false),
            queues: ports(&|p| p.queue.max.get() as f64, true),
        }
    }

    /// Whether both hold the same flows.
    pub fn same_held(&self) -> bool {
        let is = |n: Option<f64>| n.is_some_and(|n| n > 0.0);
        self.flows_held.iter().all(|pair| is(pair.simulated) == is(pair.live))
    }

    /// Which flows the live run holds.
    pub fn held_live(&self) -> BTreeSet<&str> {
        let held = self.flows_held.iter().filter(|pair| pair.live.is_some_and(|us| us > 0.0));
        held.map(|pair| pair.what.as_str()).collect()
    }

    /// By how much each flow differs, as a fraction; infinite where one of both has no number.
    pub fn flow_differences(&self) -> Vec<f64> {
        let differences = self.flows.iter().map(Pair::difference);
        differences.map(|d| d.map_or(f64::INFINITY, f64::abs)).collect()
    }

    /// The largest difference between flows, as a fraction, where all have a number in both.
    pub fn worst_flow(&self) -> Option<f64> {
        worst(&self.flows)
    }

    /// The same where flows that stand for each other are compared in the order of their ends.
    pub fn worst_rank(&self) -> Option<f64> {
        worst(&self.ranks)
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (title, pairs) in [
            ("flow completion", &self.flows),
            ("flow held [us], hops added", &self.flows_held),
            ("PAUSE messages sent", &self.pauses),
            ("port held [us]", &self.held),
            ("longest queue [B]", &self.queues),
        ] {
            if pairs.is_empty() {
                continue;
            }
            out += &format!("  {title:<32}{:>14}{:>14}{:>12}\n", "simulated", "live", "difference");
            for pair in pairs {
                let number = |n: Option<f64>| n.map_or("-".into(), |n| format!("{n:.1}"));
                let difference = match pair.difference() {
                    Some(d) => format!("{:+.2} %", d * 100.0),
                    None => "-".into(),
                };
                out += &format!(
                    "  {:<32}{:>14}{:>14}{difference:>12}\n",
                    pair.what,
                    number(pair.simulated),
                    number(pair.live),
                );
            }
            out.push('\n');
        }
        if let Some(worst) = self.worst_flow() {
            let flows = format::plural(self.flows.len() as u64, "flow");
            out += &format!("  largest difference of {flows}: {:.2} %\n", worst * 100.0);
        }
        if let Some(worst) = self.worst_rank().filter(|worst| Some(*worst) != self.worst_flow()) {
            out += &format!(
                "  flows that stand for each other in the order of their ends: {:.2} %\n",
                worst * 100.0
            );
        }
        out += match self.same_held() {
            _ if self.flows_held.is_empty() => "  no flow was held in either\n",
            true => "  the same flows were held\n",
            false => "  not the same flows were held\n",
        };
        out
    }
}

fn worst(pairs: &[Pair]) -> Option<f64> {
    let differences = pairs.iter().map(|pair| pair.difference().map(f64::abs));
    differences.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

/// What flows are compared by: completion times in microseconds, or bytes delivered.
fn value(flow: &FlowRecord, ends: bool) -> Option<f64> {
    match ends {
        true => flow.fct().map(|t| t.as_ps() as f64 / 1e6),
        false => Some(flow.delivered.get() as f64),
    }
}

fn ranks(simulated: &Outcome, live: &Outcome) -> Vec<Pair> {
    let mut groups: BTreeMap<_, [Vec<&FlowRecord>; 2]> = BTreeMap::new();
    for (at, outcome) in [simulated, live].into_iter().enumerate() {
        for flow in outcome.flows.iter() {
            // when it was to start in the simulation: in the other run clocks may be apart
            let known = simulated.flows.get(flow.id).unwrap_or(flow);
            let like = (known.class, known.size, known.start, known.dst);
            groups.entry(like).or_default()[at].push(flow);
        }
    }
    let mut pairs = Vec::new();
    for [a, b] in groups.into_values() {
        let ends = a.iter().chain(&b).any(|flow| flow.fct().is_some());
        let sorted = |flows: Vec<&FlowRecord>| {
            let mut all: Vec<Option<f64>> = flows.into_iter().map(|f| value(f, ends)).collect();
            // those that have not ended come last
            let key = |x: &Option<f64>| x.unwrap_or(f64::INFINITY);
            all.sort_by(|x, y| key(x).total_cmp(&key(y)));
            all
        };
        let (a, b) = (sorted(a), sorted(b));
        for i in 0..a.len().max(b.len()) {
            let of = |all: &[Option<f64>]| all.get(i).copied().flatten();
            let what = format!("{} of {}", i + 1, a.len());
            pairs.push(Pair { what, simulated: of(&a), live: of(&b) });
        }
    }
    pairs
}

/// `h0.1 h0 > h8`
fn name(topology: &Topology, flow: &FlowRecord) -> String {
    format!("{} {} > {}", flow.id, topology.name(flow.src()), topology.name(flow.dst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_relative_to_the_simulation() {
        let pair = |simulated, live| Pair { what: String::new(), simulated, live };
        assert_eq!(pair(Some(80.0), Some(84.0)).difference(), Some(84.0 / 80.0 - 1.0));
        assert_eq!(pair(Some(0.0), Some(0.0)).difference(), Some(0.0));
        assert_eq!(pair(Some(0.0), Some(1.0)).difference(), None);
        assert_eq!(pair(Some(1.0), None).difference(), None);
    }
}
