//! Who was held for the sake of a port it never used.

use super::Facts;
use super::pauses::{Hold, PauseTree};
use std::collections::{BTreeMap, BTreeSet};
use weir_core::{ClassId, FlowId, NodeId, PortId, Priority, Time};
use weir_scenario::PortAt;
use weir_scenario::Window;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{FlowRecord, HeldAt};

weir_core::words! {
    /// How much is known of the time a victim was held.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Bound {
        /// All pauses that held it there began at the root: the time is exact.
        Exact = "exact",
        /// Pauses that began elsewhere held it there too: it is at most this.
        Shared = "shared",
        /// Some of the pauses that held it there are outside the window: it is at most this.
        Window = "window",
        /// The pause log was full: the time is at most this for the pauses that were kept.
        LogFull = "log-full",
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
    /// When the first pause of the tree began there that reached into the flow's life and the
    /// window.
    pub first: Time,
    /// When the last of them was lifted.
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
pub(super) fn held_flows<'a>(e: &Experiment, run: Facts<'a>) -> Vec<HeldFlow<'a>> {
    const MOST: usize = 100_000;
    let held = run.outcome.flows.iter().filter(|f| !f.held().is_empty()).take(MOST);
    let wanted: BTreeMap<FlowId, &FlowRecord> = held.map(|f| (f.id, f)).collect();
    let routes = e.routes();
    let mut flows = Vec::new();
    for host in e.traffic.sources(run.seed) {
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

/// When a pause can have held the port at the other end: the frame takes the time of the link, and
/// the one that lifts the pause may wait for a frame on the wire and for its own response time.
pub(super) fn effect(e: &Experiment, run: Facts<'_>, hold: &Hold) -> (Time, Time) {
    let (delay, late) = delays(e, run, hold);
    (hold.start + delay, (hold.end + delay).saturating_add(late))
}

/// When a pause has reached the port at the other end at the latest.
pub(super) fn effect_begins(e: &Experiment, run: Facts<'_>, hold: &Hold) -> Time {
    let (delay, late) = delays(e, run, hold);
    hold.start + delay + late
}

/// How long a control frame is under way at least, and how much longer at most.
fn delays(e: &Experiment, run: Facts<'_>, hold: &Hold) -> (Time, Time) {
    let link = e.topology.link(e.topology.port(hold.held.node, hold.held.port).link);
    let config = &run.config;
    let frame = link.rate.time_for(config.nic.max_frame() + config.link.overhead);
    let late = frame * 2 + config.link.response.at(link.rate) + config.switch.latency;
    (link.delay, late)
}

/// A time during which pauses of one tree held a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    from: Time,
    to: Time,
    /// When the first of these pauses was decided.
    began: Time,
    /// When the last of them was lifted.
    ended: Time,
}

/// The stretches of every port held in the tree of `root`, in order and without overlap.
fn stretches(log: &Log<'_>, root: PortAt) -> BTreeMap<PortAt, Vec<Stretch>> {
    let mut by_port: BTreeMap<PortAt, Vec<Stretch>> = BTreeMap::new();
    for (hold, &(from, to)) in log.holds.iter().zip(&log.effects) {
        if hold.root == Some(root) {
            let stretch = Stretch { from, to, began: hold.start, ended: hold.end };
            by_port.entry(hold.held).or_default().push(stretch);
        }
    }
    for all in by_port.values_mut() {
        all.sort_unstable();
        let mut joined: Vec<Stretch> = Vec::with_capacity(all.len());
        for next in all.iter() {
            match joined.last_mut() {
                Some(last) if next.from <= last.to => {
                    (last.to, last.ended) = (last.to.max(next.to), last.ended.max(next.ended));
                }
                _ => joined.push(*next),
            }
        }
        *all = joined;
    }
    by_port
}

/// How much of the stretches lies within a window.
fn within(stretches: &[Stretch], window: Window) -> Time {
    let times = stretches.iter().map(|s| window.overlap(s.from, s.to));
    times.fold(Time::ZERO, Time::saturating_add)
}

/// What all pauses of a run say together.
pub(super) struct Log<'a> {
    holds: &'a [Hold],
    /// When each of them can have held the port at the other end.
    effects: Vec<(Time, Time)>,
    /// Whether no pause is missing.
    complete: bool,
    window: Window,
    /// The ports at which pauses began; `None` stands for causes that are not known.
    roots: BTreeSet<Option<PortAt>>,
    /// For every port that was held, where the pauses began that held it.
    held_by: BTreeMap<PortAt, BTreeSet<Option<PortAt>>>,
}

impl<'a> Log<'a> {
    pub(super) fn new(
        holds: &'a [Hold],
        effects: Vec<(Time, Time)>,
        complete: bool,
        window: Window,
    ) -> Self {
        let mut held_by: BTreeMap<PortAt, BTreeSet<Option<PortAt>>> = BTreeMap::new();
        for hold in holds {
            held_by.entry(hold.held).or_default().insert(hold.root);
        }
        let roots = holds.iter().map(|h| h.root).collect();
        Self { holds, effects, complete, window, roots, held_by }
    }

    /// What is known of the time that one root's pauses held `port`: `all` of it in the life of a
    /// flow, `inside` of it in the window, too.
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

    /// Whether the log is complete, and the origin of every pause is known and none of these ports.
    fn clear(&self, path: &[(NodeId, PortId)]) -> bool {
        let began =
            |&(node, port): &(NodeId, PortId)| self.roots.contains(&Some(PortAt { node, port }));
        self.complete && !self.roots.contains(&None) && !path.is_empty() && !path.iter().any(began)
    }
}

/// The flows that this tree held although they never go through its root. How long a flow was
/// held at a hop is known: where no other tree held that port, that is the time. Else it is at most
/// that, and at most the time for which the tree can have held the port. In a window only the part
/// of the port's pauses that lies in it counts.
pub(super) fn victims(flows: &[HeldFlow<'_>], tree: &PauseTree, log: &Log<'_>) -> Vec<Victim> {
    let Some(root) = tree.root else { return Vec::new() };
    let held_ports = stretches(log, root);
    let mut victims = Vec::new();
    for HeldFlow { record, path } in flows {
        if path.contains(&(root.node, root.port)) {
            continue;
        }
        // what is sent again may be held after the last byte has arrived
        let until = if record.retransmitted() > 0 { None } else { record.finish() };
        let life = Window { from: record.start, to: until.unwrap_or(Time::NEVER) };
        let seen = life.and(log.window);
        let by_tree = |h: &HeldAt| {
            let at = PortAt { node: h.node, port: h.port };
            let there = held_ports.get(&at)?;
            let (all, inside) = (within(there, life), within(there, seen));
            let bound = log.bound(at, all, inside);
            let held = if bound == Bound::Exact { h.time } else { h.time.min(inside) };
            (inside > Time::ZERO && held > Time::ZERO).then_some((held, at, bound))
        };
        let longest =
            record.held().iter().filter_map(by_tree).max_by_key(|&(time, at, _)| (time, at));
        let Some((held, at, bound)) = longest else { continue };
        let mut there = held_ports[&at].iter().filter(|s| seen.touches(s.from, s.to));
        let first = there.next().map_or(Time::ZERO, |s| s.began);
        let last = held_ports[&at].iter().rfind(|s| seen.touches(s.from, s.to));
        victims.push(Victim {
            flow: record.id,
            src: record.src(),
            dst: record.dst,
            class: record.class,
            priority: record.priority,
            held,
            at,
            first,
            last: last.map_or(Time::ZERO, |s| s.ended),
            bound,
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
            reason: weir_core::Reason::Refresh,
            cause: root.map(port),
            parent: None,
            root: root.map(port),
        }
    }

    #[test]
    fn a_path_is_clear_only_if_no_pause_began_on_it_and_all_are_known() {
        let path = [(NodeId(1), PortId(0)), (NodeId(2), PortId(0))];
        let clear =
            |holds: &[Hold], complete| Log::new(holds, vec![], complete, Window::ALL).clear(&path);
        assert!(clear(&[hold(1, Some(5))], true));
        assert!(!clear(&[hold(1, Some(5))], false), "the log was full");
        assert!(!clear(&[hold(1, Some(5)), hold(8, Some(2))], true), "one began at node 2");
        assert!(!clear(&[hold(1, Some(5)), hold(8, None)], true), "one began nobody knows where");
    }

    #[test]
    fn a_hold_is_due_to_one_port_only_if_no_other_held_it_too() {
        let holds = [hold(1, Some(5)), hold(1, Some(5)), hold(2, Some(5)), hold(2, Some(6))];
        let (log, ns) = (Log::new(&holds, vec![], true, Window::ALL), Time::from_ns);
        assert_eq!(log.bound(port(1), ns(7), ns(7)), Bound::Exact);
        assert_eq!(log.bound(port(1), ns(7), ns(6)), Bound::Window, "1 ns is outside");
        assert_eq!(log.bound(port(2), ns(7), ns(7)), Bound::Shared);
        let full = Log::new(&holds, vec![], false, Window::ALL);
        assert_eq!(full.bound(port(1), ns(7), ns(7)), Bound::LogFull);
    }
}
