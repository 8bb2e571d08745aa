//! A live run beside its simulation.

use serde::Serialize;
use weir_core::format;
use weir_net::Topology;
use weir_sim::Outcome;
use weir_sim::outcome::PortRecord;

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
            let name =
                format!("{} {} > {}", flow.id, topology.name(flow.src()), topology.name(flow.dst));
            let us = |t: weir_core::Time| t.as_ps() as f64 / 1e6;
            let ends = flow.fct().is_some() || other.is_some_and(|f| f.fct().is_some());
            let value = |f: &weir_sim::outcome::FlowRecord| match ends {
                true => f.fct().map(us),
                false => Some(f.delivered.get() as f64),
            };
            let unit = if ends { "us" } else { "B" };
            let (simulated, live) = (value(flow), other.and_then(value));
            Pair { what: format!("{name} [{unit}]"), simulated, live }
        });
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
            pauses: ports(&|p| p.pauses_sent.iter().sum::<u64>() as f64, false),
            held: ports(&held, false),
            queues: ports(&|p| p.queue.max.get() as f64, true),
        }
    }

    /// The largest difference between completion times, as a fraction, where all flows have one in
    /// both.
    pub fn worst_flow(&self) -> Option<f64> {
        let differences = self.flows.iter().map(|pair| pair.difference().map(f64::abs));
        differences.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (title, pairs) in [
            ("flow completion", &self.flows),
            ("PAUSE messages sent", &self.pauses),
            ("time held [us]", &self.held),
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
        out
    }
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
