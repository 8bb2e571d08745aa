//! Which pause caused which.
//!
//! A switch pauses a neighbour because bytes from it wait at some egress port, the *cause*. If
//! that port is free to send, it is simply too slow for what comes: the pause is a root. If the
//! port is itself held, the pause that holds it is the parent. Followed over a whole run this
//! gives a tree per root port: who paused whom, how deep, and which flows were held although
//! they never wanted to go through the root. Pauses of a slow host have the port of the switch that
//! leads to it as their root.
//!
//! ```text
//!   P_d of Sc cannot keep up
//!     Sc pauses Sb            106 times, 0.48 ms
//!       Sb pauses Sa           97 times, 0.44 ms
//!         Sa pauses h0, h1
//! ```

use super::Facts;
use super::victims::{Log, Victim, effect, held_flows, victims};
use std::collections::BTreeMap;
use weir_core::reason::Cause;
use weir_core::{FlowId, NodeId, PortId, Priority, Reason, Time};
use weir_scenario::PortAt;
use weir_scenario::Window;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{Outcome, PauseEvent, PauseScope};

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
    /// Whether it was lifted before the run ended.
    pub lifted: bool,
    /// What the pause named when it began.
    pub scope: PauseScope,
    /// Why it was sent, as the scheme states it.
    pub reason: Reason,
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
    /// How often, within the window of time that is looked at.
    pub count: u64,
    /// For how long in all, within the window.
    pub time: Time,
    /// When the first of them began, which may be before the window.
    pub first: Time,
    /// Why, and how often for that reason; all that are counted.
    pub reasons: BTreeMap<Cause, u64>,
    /// The pauses that these caused.
    pub children: Vec<Self>,
}

impl PauseNode {
    /// The most frequent reason, and whether there are others.
    pub fn main_reason(&self) -> Option<(Cause, bool)> {
        let (reason, _) = self.reasons.iter().max_by_key(|(_, n)| **n)?;
        Some((*reason, self.reasons.len() > 1))
    }

    /// How many links deep pauses spread from here.
    pub fn depth(&self) -> usize {
        1 + self.children.iter().map(Self::depth).max().unwrap_or(0)
    }
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

    /// The trees that the pauses `holds` of a run make.
    pub(crate) fn of_run(e: &Experiment, run: Facts<'_>, holds: &[Hold]) -> Vec<Self> {
        let window = e.window;
        let mut trees: BTreeMap<Option<PortAt>, Vec<PauseNode>> = BTreeMap::new();
        let touched = |(_, h): &(usize, &Hold)| window.touches(h.start, h.end);
        for (i, hold) in holds.iter().enumerate().filter(touched) {
            insert(trees.entry(hold.root).or_default(), holds, &chain(holds, i), window);
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
            let effects = holds.iter().map(|hold| effect(e, run, hold)).collect();
            let log = Log::new(holds, effects, run.outcome.pauses_left_out == 0, window);
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
pub(crate) fn chain(holds: &[Hold], i: usize) -> Vec<usize> {
    let mut chain = vec![i];
    let mut at = i;
    while let Some(parent) = holds[at].parent {
        chain.push(parent);
        at = parent;
    }
    chain.reverse();
    chain
}

fn insert(nodes: &mut Vec<PauseNode>, holds: &[Hold], chain: &[usize], window: Window) {
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
                reasons: BTreeMap::new(),
                children: Vec::new(),
            });
            nodes.len() - 1
        }
    };
    let node = &mut nodes[at];
    if rest.is_empty() {
        node.count += 1;
        node.time = node.time.saturating_add(window.overlap(hold.start, hold.end));
        node.first = node.first.min(hold.start);
        *node.reasons.entry(hold.reason.cause()).or_default() += 1;
    }
    insert(&mut node.children, holds, rest, window);
}

/// What identifies a pause that is on: the ingress, the priority, the queue if it names one.
type Key = (NodeId, PortId, Priority, Option<u32>);

/// What is on for one key.
#[derive(Clone, Copy)]
struct Active {
    hold: usize,
    /// The queue or the whole priority.
    whole: bool,
    /// Flows by name.
    flows: u32,
    /// A rate step: it slows down as long as it is above zero.
    stage: u8,
}

impl Active {
    /// What is on after `event`.
    fn after(self, event: &PauseEvent) -> Self {
        match event.scope {
            PauseScope::Priority | PauseScope::Queue(_) | PauseScope::All => {
                Self { whole: event.pause, ..self }
            }
            PauseScope::Flows(_) => Self { flows: event.flows, ..self },
            PauseScope::Stage(stage) => Self { stage, ..self },
        }
    }

    fn is_on(self) -> bool {
        self.whole || self.flows > 0 || self.stage > 0
    }
}

/// The parts of pauses that are in a window.
pub(crate) fn within(window: Window, all: &[Hold]) -> Vec<Hold> {
    let part = |h: &Hold| Hold { start: h.start.max(window.from), end: h.end.min(window.to), ..*h };
    all.iter().filter(|h| window.touches(h.start, h.end)).map(part).collect()
}

/// Pairs pauses with their resumes and finds the parent of each.
pub(crate) fn holds(e: &Experiment, outcome: &Outcome) -> Vec<Hold> {
    let mut holds: Vec<Hold> = Vec::new();
    let mut active: BTreeMap<Key, Active> = BTreeMap::new();
    for event in &outcome.pauses {
        if event.scope == PauseScope::All && !event.pause {
            lift_all(event, &mut holds, &mut active);
            continue;
        }
        let key = (event.node, event.port, event.priority, queue(event.scope));
        let known = active.get(&key).copied();
        let old = known.unwrap_or(Active { hold: holds.len(), whole: false, flows: 0, stage: 0 });
        let new = old.after(event);
        match (known.is_some(), new.is_on()) {
            (false, false) => {}
            (false, true) => {
                holds.push(start(e, event, &holds, &active));
                active.insert(key, new);
            }
            (true, true) => _ = active.insert(key, new),
            (true, false) => {
                (holds[old.hold].end, holds[old.hold].lifted) = (event.at, true);
                active.remove(&key);
            }
        }
    }
    for left in active.values() {
        holds[left.hold].end = outcome.end;
    }
    holds
}

/// Ends whatever an ingress has paused of a priority, queues included.
fn lift_all(event: &PauseEvent, holds: &mut [Hold], active: &mut BTreeMap<Key, Active>) {
    let key = |queue| (event.node, event.port, event.priority, queue);
    let keys: Vec<Key> =
        active.range(key(None)..=key(Some(u32::MAX))).map(|(key, _)| *key).collect();
    for old in keys.iter().filter_map(|key| active.remove(key)) {
        (holds[old.hold].end, holds[old.hold].lifted) = (event.at, true);
    }
}

/// The queue that a frame names.
fn queue(scope: PauseScope) -> Option<u32> {
    match scope {
        PauseScope::Queue(q) => Some(q.0),
        _ => None,
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
    let held = PortAt { node: end.peer, port: end.peer_port };
    // a slow host has no egress to blame: what cannot keep up is the port that leads to it
    let began = if e.topology.is_host(event.node) { Some(held) } else { cause };
    Hold {
        by: PortAt { node: event.node, port: event.port },
        held,
        priority: event.priority,
        start: event.at,
        end: event.at,
        lifted: false,
        scope: event.scope,
        reason: event.reason,
        cause,
        parent,
        root: parent.map_or(began, |p| holds[p].root),
    }
}
