//! Which pause caused which.
//!
//! A switch pauses a neighbour because bytes from it wait at some egress port, the *cause*. If
//! that port is free to send, it is simply too slow for what comes: the pause is a root. If the
//! port is itself held, the pause that holds it is the parent. Followed over a whole run this
//! gives a tree per root port: who paused whom, how deep, and which flows were held although
//! they never wanted to go through the root.
//!
//! ```text
//!   P_d of Sc cannot keep up
//!     Sc pauses Sb            106 times, 0.48 ms
//!       Sb pauses Sa           97 times, 0.44 ms
//!         Sa pauses h0, h1
//! ```

use super::hottest::PortAt;
use crate::experiment::Experiment;
use crate::run::Run;
use std::collections::{BTreeMap, BTreeSet};
use weir_core::{FlowId, NodeId, PortId, Priority, Time};
use weir_sim::outcome::{FlowRecord, HeldAt, PauseEvent, PauseScope};

/// One pause from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Who pauses: the node and the ingress port it concerns.
    pub by: PortAt,
    /// Who is paused: the egress port at the other end of the link.
    pub held: PortAt,
    /// The priority.
    pub priority: Priority,
    /// When it was decided.
    pub start: Time,
    /// When it was lifted, or the run ended.
    pub end: Time,
    /// The egress port whose bytes caused it.
    pub cause: Option<PortAt>,
    /// The hold that kept that port from sending; `None` for a root.
    pub parent: Option<usize>,
    /// The cause of the first of its ancestors.
    pub root: Option<PortAt>,
}

/// All pauses over one link that have the same chain of causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseNode {
    /// Who pauses.
    pub by: PortAt,
    /// Who is paused.
    pub held: PortAt,
    /// How often.
    pub count: u64,
    /// For how long in all.
    pub time: Time,
    /// The first time.
    pub first: Time,
    /// The pauses that these caused.
    pub children: Vec<Self>,
}

impl PauseNode {
    /// How many links deep pauses spread from here.
    pub fn depth(&self) -> usize {
        1 + self.children.iter().map(Self::depth).max().unwrap_or(0)
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
    pub class: weir_core::ClassId,
    /// How long the pauses of the tree held it: the longest at one hop, since holds at several
    /// hops overlap.
    pub held: Time,
    /// Whether `held` is only an upper bound: pauses that began elsewhere held it at that hop,
    /// too, or not all pauses were kept.
    pub at_most: bool,
    /// Whether no pause of the run began at any port of its path.
    pub clear: bool,
}

/// Everything that one congested port set off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseTree {
    /// The port that could not keep up; `None` for pauses whose cause is not known.
    pub root: Option<PortAt>,
    /// The pauses of its own switch, and what they caused.
    pub pauses: Vec<PauseNode>,
    /// Held without going through the root, longest hold first.
    pub victims: Vec<Victim>,
}

impl PauseTree {
    /// How often and how long the pauses of this tree lasted, all levels together.
    pub fn totals(&self) -> (u64, Time) {
        fn add(nodes: &[PauseNode]) -> (u64, Time) {
            nodes.iter().fold((0, Time::ZERO), |(n, t), node| {
                let (cn, ct) = add(&node.children);
                (n + node.count + cn, t.saturating_add(node.time).saturating_add(ct))
            })
        }
        add(&self.pauses)
    }

    /// The trees of a run; see [`Run::pause_trees`], which works them out only once.
    pub(crate) fn of_run(e: &Experiment, run: &Run) -> Vec<Self> {
        let holds = holds(e, run);
        let mut trees: BTreeMap<Option<PortAt>, Vec<PauseNode>> = BTreeMap::new();
        for (i, hold) in holds.iter().enumerate() {
            insert(trees.entry(hold.root).or_default(), &holds, &chain(&holds, i));
        }
        let mut trees: Vec<Self> = trees
            .into_iter()
            .map(|(root, pauses)| Self { root, pauses, victims: Vec::new() })
            .collect();
        // Pauses that spread hold more than those between a switch and its own hosts.
        let size = |t: &Self| (t.depth() > 1, t.totals().1);
        trees.sort_by_key(|t| std::cmp::Reverse(size(t)));
        if !trees.is_empty() {
            let flows = held_flows(e, run);
            let log = Log::new(&holds, run.outcome.pauses_left_out == 0);
            for tree in trees.iter_mut().take(MOST_EXAMINED) {
                tree.victims = victims(&flows, tree, &log);
            }
        }
        let harm =
            |t: &Self| t.victims.iter().map(|v| v.held).fold(Time::ZERO, Time::saturating_add);
        trees.sort_by_key(|t| std::cmp::Reverse((harm(t), size(t))));
        trees
    }

    /// How many links deep pauses spread.
    pub fn depth(&self) -> usize {
        self.pauses.iter().map(PauseNode::depth).max().unwrap_or(0)
    }
}

/// How long each flow was held by pauses that began at ports it never used.
pub fn innocent_holds(trees: &[PauseTree]) -> BTreeMap<FlowId, Time> {
    let mut held: BTreeMap<FlowId, Time> = BTreeMap::new();
    for victim in trees.iter().flat_map(|t| &t.victims) {
        let sum = held.entry(victim.flow).or_default();
        *sum = sum.saturating_add(victim.held);
    }
    held
}

/// In how many trees victims are looked for: a loaded fabric has hundreds of small ones.
const MOST_EXAMINED: usize = 20;

/// The chain of holds from the root to hold `i`.
fn chain(holds: &[Hold], i: usize) -> Vec<usize> {
    let mut chain = vec![i];
    let mut at = i;
    while let Some(parent) = holds[at].parent {
        chain.push(parent);
        at = parent;
    }
    chain.reverse();
    chain
}

fn insert(nodes: &mut Vec<PauseNode>, holds: &[Hold], chain: &[usize]) {
    let [first, rest @ ..] = chain else { return };
    let hold = &holds[*first];
    let at = match nodes.iter().position(|n| n.by == hold.by) {
        Some(at) => at,
        None => {
            nodes.push(PauseNode {
                by: hold.by,
                held: hold.held,
                count: 0,
                time: Time::ZERO,
                first: hold.start,
                children: Vec::new(),
            });
            nodes.len() - 1
        }
    };
    let node = &mut nodes[at];
    if rest.is_empty() {
        node.count += 1;
        node.time = node.time.saturating_add(hold.end.saturating_sub(hold.start));
        node.first = node.first.min(hold.start);
    }
    insert(&mut node.children, holds, rest);
}

/// What identifies a pause that is on: the ingress, the priority, the queue if it names one.
type Key = (NodeId, PortId, Priority, Option<u32>);

/// A pause that is on.
#[derive(Clone, Copy)]
struct Active {
    hold: usize,
    /// How many flows it names, where it names flows.
    flows: u64,
}

/// Pairs pauses with their resumes and finds the parent of each.
pub fn holds(e: &Experiment, run: &Run) -> Vec<Hold> {
    let mut holds: Vec<Hold> = Vec::new();
    let mut active: BTreeMap<Key, Active> = BTreeMap::new();
    for event in &run.outcome.pauses {
        let (queue, on, flows) = reading(event);
        let key = (event.node, event.port, event.priority, queue);
        match (on, active.get(&key).copied()) {
            (true, Some(old)) => {
                active.insert(key, Active { flows: old.flows + flows, ..old });
            }
            (true, None) => {
                holds.push(start(e, event, &holds, &active));
                active.insert(key, Active { hold: holds.len() - 1, flows });
            }
            (false, Some(old)) if old.flows > flows => {
                active.insert(key, Active { flows: old.flows - flows, ..old });
            }
            (false, Some(old)) => {
                holds[old.hold].end = event.at;
                active.remove(&key);
            }
            (false, None) => {}
        }
    }
    for left in active.values() {
        holds[left.hold].end = run.outcome.end;
    }
    holds
}

/// Which queue a frame names, whether it stops something, and how many flows.
fn reading(event: &PauseEvent) -> (Option<u32>, bool, u64) {
    match event.scope {
        PauseScope::Priority => (None, event.pause, u64::MAX / 2),
        PauseScope::Queue(q) => (Some(q.0), event.pause, 1),
        PauseScope::Flows(n) => (None, event.pause, u64::from(n)),
        // a rate step slows down as long as the stage is above zero
        PauseScope::Stage(stage) => (None, stage > 0, 1),
    }
}

fn start(
    e: &Experiment,
    event: &PauseEvent,
    holds: &[Hold],
    active: &BTreeMap<Key, Active>,
) -> Hold {
    let end = e.topology.port(event.node, event.port);
    let cause = event.cause.map(|port| PortAt { node: event.node, port });
    let parent = cause.filter(|_| event.cause_held).and_then(|cause| {
        let next = e.topology.port(cause.node, cause.port);
        let from = (next.peer, next.peer_port, event.priority, None);
        let to = (next.peer, next.peer_port, event.priority, Some(u32::MAX));
        // several queues of the port may be held: the latest hold is the news
        active.range(from..=to).map(|(_, a)| a.hold).max_by_key(|&h| holds[h].start)
    });
    Hold {
        by: PortAt { node: event.node, port: event.port },
        held: PortAt { node: end.peer, port: end.peer_port },
        priority: event.priority,
        start: event.at,
        end: event.at,
        cause,
        parent,
        root: parent.map_or(cause, |p| holds[p].root),
    }
}

/// A flow that was held, and its path.
struct HeldFlow<'a> {
    record: &'a FlowRecord,
    path: Vec<(NodeId, PortId)>,
}

/// The flows that were held and how they are routed.
fn held_flows<'a>(e: &Experiment, run: &'a Run) -> Vec<HeldFlow<'a>> {
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

/// How much of the stretches lies within the life of a flow.
fn within(stretches: &[(Time, Time)], from: Time, to: Time) -> Time {
    let clip = |&(start, end): &(Time, Time)| end.min(to).saturating_sub(start.max(from));
    stretches.iter().map(clip).fold(Time::ZERO, Time::saturating_add)
}

/// What all pauses of a run say together.
struct Log<'a> {
    holds: &'a [Hold],
    /// Whether no pause is missing.
    complete: bool,
    /// The ports at which pauses began; `None` stands for causes that are not known.
    roots: BTreeSet<Option<PortAt>>,
    /// For every port that was held, where the pauses began that held it.
    held_by: BTreeMap<PortAt, BTreeSet<Option<PortAt>>>,
}

impl<'a> Log<'a> {
    fn new(holds: &'a [Hold], complete: bool) -> Self {
        let mut held_by: BTreeMap<PortAt, BTreeSet<Option<PortAt>>> = BTreeMap::new();
        for hold in holds {
            held_by.entry(hold.held).or_default().insert(hold.root);
        }
        let roots = holds.iter().map(|h| h.root).collect();
        Self { holds, complete, roots, held_by }
    }

    /// Whether all pauses that held `port` are known to have begun at one place.
    fn one_root(&self, port: PortAt) -> bool {
        self.complete && self.held_by.get(&port).is_some_and(|roots| roots.len() == 1)
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
/// that port.
fn victims(flows: &[HeldFlow<'_>], tree: &PauseTree, log: &Log<'_>) -> Vec<Victim> {
    let Some(root) = tree.root else { return Vec::new() };
    let held_ports = stretches(log.holds, root);
    let mut victims = Vec::new();
    for HeldFlow { record, path } in flows {
        if path.contains(&(root.node, root.port)) {
            continue;
        }
        let until = record.finish.unwrap_or(Time::NEVER);
        let by_tree = |h: &HeldAt| {
            let at = PortAt { node: h.node, port: h.port };
            let all = held_ports.get(&at)?;
            Some((h.time.min(within(all, record.start, until)), at))
        };
        let longest = record.held.iter().filter_map(by_tree).max();
        let Some((held, at)) = longest.filter(|(t, _)| *t > Time::ZERO) else { continue };
        victims.push(Victim {
            flow: record.id,
            src: record.src,
            dst: record.dst,
            class: record.class,
            held,
            at_most: !log.one_root(at),
            clear: log.clear(path),
        });
    }
    victims.sort_by_key(|v| (std::cmp::Reverse(v.held), v.flow));
    victims
}

#[cfg(test)]
mod tests {
    use super::*;

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
            cause: root.map(port),
            parent: None,
            root: root.map(port),
        }
    }

    #[test]
    fn a_path_is_clear_only_if_no_pause_began_on_it_and_all_are_known() {
        let path = [(NodeId(1), PortId(0)), (NodeId(2), PortId(0))];
        let clear = |holds: &[Hold], complete| Log::new(holds, complete).clear(&path);
        assert!(clear(&[hold(1, Some(5))], true));
        assert!(!clear(&[hold(1, Some(5))], false), "the log was full");
        assert!(!clear(&[hold(1, Some(5)), hold(8, Some(2))], true), "one began at node 2");
        assert!(!clear(&[hold(1, Some(5)), hold(8, None)], true), "one began nobody knows where");
    }

    #[test]
    fn a_hold_is_due_to_one_port_only_if_no_other_held_it_too() {
        let holds = [hold(1, Some(5)), hold(1, Some(5)), hold(2, Some(5)), hold(2, Some(6))];
        let log = Log::new(&holds, true);
        assert!(log.one_root(port(1)) && !log.one_root(port(2)));
        assert!(!Log::new(&holds, false).one_root(port(1)), "the log was full");
    }
}
