//! Who was held for the sake of a port it never used.

use super::hottest::PortAt;
use super::pauses::{Hold, PauseTree};
use super::window::Window;
use crate::experiment::Experiment;
use crate::run::Run;
use std::collections::{BTreeMap, BTreeSet};
use weir_core::{ClassId, FlowId, NodeId, PortId, Priority, Time};
use weir_sim::outcome::{FlowRecord, HeldAt};

/// How much is known of the time a victim was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// All pauses that held it there began at the root: the time is exact.
    Exact,
    /// Pauses that began elsewhere held it there too: it is at most this.
    Shared,
    /// Some of the pauses that held it there are outside the window: it is at most this.
    Window,
    /// The pause log was full: the time is at most this for the pauses that were kept.
    LogFull,
}

impl Bound {
    /// How files call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Shared => "shared",
            Self::Window => "window",
            Self::LogFull => "log-full",
        }
    }
}

/// A flow that was held although its path does not go through the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Victim {
    /// Which.
    pub flow: FlowId,
    /// From.
    pub src: NodeId,
    /// To.
    pub dst: NodeId,
    /// Its class.
    pub class: ClassId,
    /// Its priority.
    pub priority: Priority,
    /// How long the pauses of the tree held it: the longest at one hop, since holds at several
    /// hops overlap.
    pub held: Time,
    /// At which port that was.
    pub at: PortAt,
    /// When the first pause of the tree began there that fell into the flow's life and the window.
    pub first: Time,
    /// When the last of them ended.
    pub last: Time,
    /// Whether `held` is exact or, and why, an upper bound.
    pub bound: Bound,
    /// Whether no pause of the run began at any port of its path.
    pub clear: bool,
}

impl Victim {
    /// Whether `held` is only an upper bound.
    pub fn at_most(&self) -> bool {
        self.bound != Bound::Exact
    }
}

/// A flow that was held, and its path.
pub(super) struct HeldFlow<'a> {
    record: &'a FlowRecord,
    path: Vec<(NodeId, PortId)>,
}

/// The flows that were held and how they are routed.
pub(super) fn held_flows<'a>(e: &Experiment, run: &'a Run) -> Vec<HeldFlow<'a>> {
    const MOST: usize = 100_000;
    let held = run.outcome.flows.iter().filter(|f| !f.held.is_empty()).take(MOST);
    let wanted: BTreeMap<FlowId, &FlowRecord> = held.map(|f| (f.id, f)).collect();
    let routes = e.routes();
    let mut flows = Vec::new();
    for host in e.traffic.sources(run.variant.seed) {
        let all = FlowId::new(host.host(), 0)..=FlowId::new(host.host(), u32::MAX);
        // flows of a host come in order: stop at the last one wanted
        let Some((&last, _)) = wanted.range(all).next_back() else { continue };
        for flow in host.take_while(|f| f.id <= last) {
            let Some(record) = wanted.get(&flow.id) else { continue };
            let path = match flow.path.and_then(|p| e.paths.get(p as usize)) {
                Some(path) => weir_net::validate_path(&e.topology, &path.nodes).ok(),
                None => routes.path(&e.topology, flow.src, flow.dst, flow.id.hash64()),
            };
            flows.push(HeldFlow { record, path: path.unwrap_or_default() });
        }
    }
    flows
}

/// Held stretches of a port by one tree, in order and without overlap.
type Stretches = Vec<(Time, Time)>;

/// The held stretches of every port in the tree of `root`.
fn stretches(holds: &[Hold], root: PortAt) -> BTreeMap<PortAt, Stretches> {
    let mut by_port: BTreeMap<PortAt, Stretches> = BTreeMap::new();
    for hold in holds.iter().filter(|h| h.root == Some(root)) {
        by_port.entry(hold.held).or_default().push((hold.start, hold.end));
    }
    for all in by_port.values_mut() {
        all.sort_unstable();
        let mut joined: Stretches = Vec::with_capacity(all.len());
        for &(start, end) in all.iter() {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        *all = joined;
    }
    by_port
}

/// How much of the stretches lies between two times.
fn within(stretches: &[(Time, Time)], from: Time, to: Time) -> Time {
    let clip = |&(start, end): &(Time, Time)| end.min(to).saturating_sub(start.max(from));
    stretches.iter().map(clip).fold(Time::ZERO, Time::saturating_add)
}

/// What all pauses of a run say together.
pub(super) struct Log<'a> {
    holds: &'a [Hold],
    /// Whether no pause is missing.
    complete: bool,
    window: Window,
    /// The ports at which pauses began; `None` stands for causes that are not known.
    roots: BTreeSet<Option<PortAt>>,
    /// For every port that was held, where the pauses began that held it.
    held_by: BTreeMap<PortAt, BTreeSet<Option<PortAt>>>,
}

impl<'a> Log<'a> {
    pub(super) fn new(holds: &'a [Hold], complete: bool, window: Window) -> Self {
        let mut held_by: BTreeMap<PortAt, BTreeSet<Option<PortAt>>> = BTreeMap::new();
        for hold in holds {
            held_by.entry(hold.held).or_default().insert(hold.root);
        }
        let roots = holds.iter().map(|h| h.root).collect();
        Self { holds, complete, window, roots, held_by }
    }

    /// What is known of the time that pauses held `port` between `from` and `to`, of which
    /// `inside` is what one root's pauses amount to within the window.
    fn bound(&self, port: PortAt, all: Time, inside: Time) -> Bound {
        if !self.complete {
            Bound::LogFull
        } else if self.held_by.get(&port).is_none_or(|roots| roots.len() != 1) {
            Bound::Shared
        } else if inside < all {
            Bound::Window
        } else {
            Bound::Exact
        }
    }

    /// Whether no pause began at any of these ports, or where nobody knows.
    fn clear(&self, path: &[(NodeId, PortId)]) -> bool {
        let began =
            |&(node, port): &(NodeId, PortId)| self.roots.contains(&Some(PortAt { node, port }));
        self.complete && !self.roots.contains(&None) && !path.is_empty() && !path.iter().any(began)
    }
}

/// The flows that this tree held although they never go through its root. How long a flow was
/// held at a hop is known, and so is when the tree held that port: the hold of the flow by
/// the tree is at most the smaller of the two, and equal to the former where no other tree held
/// that port. In a window only the part of the port's pauses that lies in it counts.
pub(super) fn victims(flows: &[HeldFlow<'_>], tree: &PauseTree, log: &Log<'_>) -> Vec<Victim> {
    let Some(root) = tree.root else { return Vec::new() };
    let held_ports = stretches(log.holds, root);
    let mut victims = Vec::new();
    for HeldFlow { record, path } in flows {
        if path.contains(&(root.node, root.port)) {
            continue;
        }
        let life = Window { from: record.start, to: record.finish.unwrap_or(Time::NEVER) };
        let seen = life.and(log.window);
        let by_tree = |h: &HeldAt| {
            let at = PortAt { node: h.node, port: h.port };
            let all = held_ports.get(&at)?;
            Some((h.time.min(within(all, seen.from, seen.to)), at))
        };
        let longest = record.held.iter().filter_map(by_tree).max();
        let Some((held, at)) = longest.filter(|(t, _)| *t > Time::ZERO) else { continue };
        let there = &held_ports[&at];
        let inside = within(there, seen.from, seen.to);
        let mut pauses = there.iter().filter(|s| seen.touches(s.0, s.1));
        let first = pauses.next().map_or(Time::ZERO, |s| s.0.max(seen.from));
        let last = there.iter().rfind(|s| seen.touches(s.0, s.1));
        victims.push(Victim {
            flow: record.id,
            src: record.src,
            dst: record.dst,
            class: record.class,
            priority: record.priority,
            held,
            at,
            first,
            last: last.map_or(Time::ZERO, |s| s.1.min(seen.to)),
            bound: log.bound(at, within(there, life.from, life.to), inside),
            clear: log.clear(path),
        });
    }
    victims.sort_by_key(|v| (std::cmp::Reverse(v.held), v.flow));
    victims
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_sim::outcome::PauseScope;

    fn port(node: u32) -> PortAt {
        PortAt { node: NodeId(node), port: PortId(0) }
    }

    /// A pause of the port of node `held` that began at the port of node `root`.
    fn hold(held: u32, root: Option<u32>) -> Hold {
        Hold {
            by: port(9),
            held: port(held),
            priority: Priority::default(),
            start: Time::ZERO,
            end: Time::from_ns(1),
            lifted: true,
            scope: PauseScope::Priority,
            cause: root.map(port),
            parent: None,
            root: root.map(port),
        }
    }

    #[test]
    fn a_path_is_clear_only_if_no_pause_began_on_it_and_all_are_known() {
        let path = [(NodeId(1), PortId(0)), (NodeId(2), PortId(0))];
        let clear = |holds: &[Hold], complete| Log::new(holds, complete, Window::ALL).clear(&path);
        assert!(clear(&[hold(1, Some(5))], true));
        assert!(!clear(&[hold(1, Some(5))], false), "the log was full");
        assert!(!clear(&[hold(1, Some(5)), hold(8, Some(2))], true), "one began at node 2");
        assert!(!clear(&[hold(1, Some(5)), hold(8, None)], true), "one began nobody knows where");
    }

    #[test]
    fn a_hold_is_due_to_one_port_only_if_no_other_held_it_too() {
        let holds = [hold(1, Some(5)), hold(1, Some(5)), hold(2, Some(5)), hold(2, Some(6))];
        let (log, ns) = (Log::new(&holds, true, Window::ALL), Time::from_ns);
        assert_eq!(log.bound(port(1), ns(7), ns(7)), Bound::Exact);
        assert_eq!(log.bound(port(1), ns(7), ns(6)), Bound::Window, "1 ns is outside");
        assert_eq!(log.bound(port(2), ns(7), ns(7)), Bound::Shared);
        let full = Log::new(&holds, false, Window::ALL);
        assert_eq!(full.bound(port(1), ns(7), ns(7)), Bound::LogFull);
    }
}
