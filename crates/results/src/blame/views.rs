//! What others publish of the same data: states of ports, a provenance graph, time paused per link,
//! regions of congestion, and what began a deadlock.

use crate::findings::Hold;
use crate::job_text;
use crate::run::Run;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use weir_core::{NodeId, Time};
use weir_scenario::PortAt;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{Finish, PortRecord};

weir_core::words! {
    /// What a port of a switch did over a whole run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PortState {
        /// It had a queue and was not held, or pauses began at it: it is too slow for what comes.
        Congested = "congested",
        /// It was held now and then while packets waited: what it would do alone is not known.
        Undetermined = "undetermined",
        /// Neither.
        Free = "free",
    }
}

impl PortState {
    /// Of a port with a mean queue of at least `frame` bytes if it is congested.
    fn of(port: &PortRecord, is_root: bool, frame: f64) -> Self {
        let held = port.held_time.iter().any(|t| *t > Time::ZERO);
        if is_root || !held && port.queue.mean >= frame {
            Self::Congested
        } else if held && port.queue.max.get() > 0 {
            Self::Undetermined
        } else {
            Self::Free
        }
    }
}

/// Links above this share of time paused make a region.
pub const REGION: f64 = 0.05;

/// In so many windows of equal length the time paused is given.
pub const WINDOWS: usize = 20;

/// The time for which each port was told to pause, within one window after the other.
struct Paused {
    at: PortAt,
    whole: f64,
    windows: Vec<f64>,
}

/// The union of the pauses of each port and priority, any priority counted once.
fn paused(holds: &[Hold], end: Time) -> Vec<Paused> {
    let mut spans: BTreeMap<PortAt, Vec<(Time, Time)>> = BTreeMap::new();
    for h in holds {
        spans.entry(h.held).or_default().push((h.start, h.end));
    }
    let edge = |w: usize| {
        let ps = u128::from(end.as_ps()) * w as u128 / WINDOWS as u128;
        Time::from_ps(ps as u64)
    };
    let of_port = |(at, mut spans): (PortAt, Vec<(Time, Time)>)| {
        spans.sort_unstable();
        let mut joined: Vec<(Time, Time)> = Vec::new();
        for s in spans {
            match joined.last_mut() {
                Some(last) if s.0 <= last.1 => last.1 = last.1.max(s.1),
                _ => joined.push(s),
            }
        }
        let share = |from: Time, to: Time| {
            let parts = joined.iter().map(|s| s.1.min(to).saturating_sub(s.0.max(from)));
            let sum: Time = parts.sum();
            sum.as_ps() as f64 / to.saturating_sub(from).as_ps().max(1) as f64
        };
        let windows = (0..WINDOWS).map(|w| share(edge(w), edge(w + 1))).collect();
        Paused { at, whole: share(Time::ZERO, end), windows }
    };
    spans.into_iter().map(of_port).collect()
}

/// Groups of links above [`REGION`] that meet at a node.
fn regions(e: &Experiment, paused: &[Paused]) -> Vec<Vec<PortAt>> {
    let mut regions: Vec<(BTreeSet<NodeId>, Vec<PortAt>)> = Vec::new();
    for p in paused.iter().filter(|p| p.whole > REGION) {
        let peer = e.topology.port(p.at.node, p.at.port).peer;
        let ends = BTreeSet::from([p.at.node, peer]);
        let (mut joined, apart): (Vec<_>, Vec<_>) =
            regions.into_iter().partition(|(nodes, _)| !nodes.is_disjoint(&ends));
        let mut one = (ends, vec![p.at]);
        for (nodes, links) in joined.drain(..) {
            one.0.extend(nodes);
            one.1.extend(links);
        }
        regions = apart;
        regions.push(one);
    }
    let sorted = |(_, mut links): (BTreeSet<NodeId>, Vec<PortAt>)| {
        links.sort_unstable();
        links
    };
    let mut regions: Vec<Vec<PortAt>> = regions.into_iter().map(sorted).collect();
    regions.sort();
    regions
}

/// The pause with which the chain begins that closed the circle of a deadlock: it need not be on
/// the circle.
pub fn trigger<'a>(run: &Run, holds: &'a [Hold]) -> Option<&'a Hold> {
    let Finish::Deadlock(deadlock) = &run.outcome.finish else { return None };
    let on_cycle = |h: &Hold| {
        let stuck = |s: &weir_sim::outcome::Stuck| {
            (s.node, s.port, s.priority) == (h.held.node, h.held.port, h.priority)
        };
        h.start <= deadlock.closed && !h.lifted && deadlock.cycle.iter().any(stuck)
    };
    let first = |i: usize| {
        let mut at = i;
        while let Some(parent) = holds[at].parent {
            at = parent;
        }
        at
    };
    let ends = holds.iter().enumerate().filter(|(_, h)| on_cycle(h));
    ends.map(|(i, _)| &holds[first(i)]).min_by_key(|h| h.start)
}

/// All views of a run.
pub fn json(e: &Experiment, run: &Run) -> Value {
    let label = |at: PortAt| e.topology.port_label(at.node, at.port);
    let holds = run.holds(e);
    let roots: BTreeSet<PortAt> = holds.iter().filter_map(|h| h.root).collect();
    let frame = run.config.nic.max_frame().get() as f64;
    let switch_ports = run.outcome.ports.iter().filter(|p| !e.topology.is_host(p.node));
    let ports: Vec<Value> = switch_ports
        .map(|p| {
            let at = PortAt { node: p.node, port: p.port };
            let state = PortState::of(p, roots.contains(&at), frame);
            json!({ "port": label(at), "state": state.name(), "queue_mean": p.queue.mean })
        })
        .collect();
    let paused = paused(holds, run.outcome.end);
    let regions: Vec<Vec<String>> =
        regions(e, &paused).into_iter().map(|r| r.into_iter().map(label).collect()).collect();
    let links: Vec<Value> = paused
        .iter()
        .map(|p| {
            let percent = |x: f64| (x * 10_000.0).round() / 100.0;
            let windows: Vec<f64> = p.windows.iter().map(|w| percent(*w)).collect();
            json!({ "port": label(p.at), "percent": percent(p.whole), "windows": windows })
        })
        .collect();
    let deadlock = trigger(run, holds).map(|h| {
        json!({
            "at_ps": h.start.as_ps(),
            "paused": label(h.held),
            "by": label(h.by),
            "cause": h.cause.map(label),
            "reason": h.reason.cause().to_string(),
        })
    });
    let mut views = json!({
        "ports": ports,
        "waits_for": graph(e, run),
        "paused": links,
        "regions": regions,
        "region_above": REGION,
        "windows": WINDOWS,
        "deadlock": deadlock,
    });
    let paths = job_text::paths_json(e, run);
    if !paths.is_empty() {
        views["paths"] = paths.into();
    }
    views
}

/// The provenance graph: three kinds of edges.
fn graph(e: &Experiment, run: &Run) -> Value {
    let Some(log) = run.outcome.blame.as_deref() else { return Value::Null };
    let label = |(node, port)| e.topology.port_label(node, port);
    let mut traffic: BTreeMap<_, u64> = BTreeMap::new();
    for (from, _, bytes) in &log.passed {
        *traffic.entry(*from).or_default() += bytes.get();
    }
    let mean = |(node, port)| {
        let record = run.outcome.ports.iter().find(|p| (p.node, p.port) == (node, port));
        record.map_or(0.0, |p| p.queue.mean)
    };
    let port_to_port = log.passed.iter().map(|(from, to, bytes)| {
        let share = bytes.get() as f64 / traffic[from].max(1) as f64;
        json!({ "from": label(*from), "to": label(*to), "weight": mean(*to) * share })
    });
    let flow_to_port = log.packets_held.iter().map(|(flow, node, port, packets)| {
        json!({ "from": flow.to_string(), "to": label((*node, *port)), "weight": packets })
    });
    let port_to_flow = log.waited_for.iter().map(|(flow, node, port, weight)| {
        json!({ "from": label((*node, *port)), "to": flow.to_string(), "weight": weight })
    });
    json!({
        "port_to_port": port_to_port.collect::<Vec<_>>(),
        "flow_to_port": flow_to_port.collect::<Vec<_>>(),
        "port_to_flow": port_to_flow.collect::<Vec<_>>(),
    })
}
