//! Pauses: what was held, and what made the neighbour ask for it.
//!
//! A hold is what a port feels: from the instant at which a pause takes effect to the instant at
//! which it is lifted. The node at the other end of the link has decided on it a little earlier;
//! the last decision that can have arrived by then is taken for its reason. The decision names the
//! egress port whose bytes filled the ingress. If that port is itself held at that time, the hold
//! there is the parent.

use super::Source;
use crate::timeline::{Kind, Timeline, TimelineTable};
use std::collections::BTreeMap;
use weir_core::{FlowId, NodeId, PortId, Priority, QueueId, Time};
use weir_scenario::PortAt;
use weir_sim::outcome::{HoldRecord, PauseEvent, PauseScope, Recording};

/// What kind of thing a row holds.
const PRIORITY: u64 = 0;
const QUEUE: u64 = 1;
const FLOW: u64 = 2;
/// It is slowed down, not stopped.
const RATE: u64 = 3;

/// The pauses of a run, in the order of their starts.
pub(super) struct Pauses {
    rows: Vec<[u64; 15]>,
    /// Why they were sent, by number.
    pub(super) reasons: Vec<String>,
}

/// Something that was held, in the order of time, then port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    from: Time,
    port: u64,
    to: Time,
    at: (NodeId, PortId),
    priority: Priority,
    kind: u64,
    queue: Option<QueueId>,
    flow: Option<FlowId>,
}

/// A port and a priority.
type Place = ((NodeId, PortId), Priority);

impl Pauses {
    pub(super) fn new(source: &Source<'_>, recording: &Recording) -> Self {
        let mut all: Vec<Held> = recording.holds.iter().map(|h| held(source, h)).collect();
        all.extend(slowed(source));
        all.sort_unstable();
        let mut decisions: BTreeMap<Place, Vec<&PauseEvent>> = BTreeMap::new();
        for event in recording.decisions.iter().filter(|e| e.pause) {
            decisions.entry(((event.node, event.port), event.priority)).or_default().push(event);
        }
        let mut pauses = Self { rows: Vec::new(), reasons: vec!["not stated".into()] };
        let mut standing: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for (i, held) in all.iter().enumerate() {
            let place = (held.at, held.priority);
            let known = decisions.get(&by(source, held)).map_or(&[][..], Vec::as_slice);
            let decision = decision(source, held, known);
            let parent = decision.and_then(|d| parent(&all, &standing, d));
            pauses.add(source, held, decision, parent);
            standing.entry(place).or_default().push(i);
        }
        pauses
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// When a pause began.
    pub(super) fn from(&self, row: usize) -> u64 {
        self.rows[row][0]
    }

    /// The port that it held.
    pub(super) fn port(&self, row: usize) -> u64 {
        self.rows[row][2]
    }

    /// The port at which the first of its ancestors began, if that is known.
    pub(super) fn root_port(&self, row: usize) -> Option<u64> {
        let root = self.rows[row][13] as usize - 1;
        self.rows[root][7].checked_sub(1)
    }

    fn add(
        &mut self,
        source: &Source<'_>,
        held: &Held,
        decision: Option<&PauseEvent>,
        parent: Option<usize>,
    ) {
        let (by_node, by_port) = by(source, held).0;
        let compared = decision.and_then(|d| d.reason.comparison());
        let (value, threshold) = compared.map_or((0, 0), |c| (c.value.get(), c.threshold.get()));
        let reference = |port: PortId| source.port(by_node, port) + 1;
        let root = match parent {
            // a parent is its own root if it has no other
            Some(parent) => self.rows[parent][13],
            None => self.rows.len() as u64 + 1,
        };
        let reason = decision.map_or(0, |d| self.reason(&d.reason.cause().to_string()));
        self.rows.push([
            held.from.as_ps(),
            held.to.as_ps(),
            held.port,
            held.priority.index() as u64,
            held.flow.map_or(0, |flow| source.flows.reference(flow)),
            source.port(by_node, by_port),
            reason,
            decision.and_then(|d| d.cause).map_or(0, reference),
            value,
            threshold,
            parent.map_or(0, |parent| parent as u64 + 1),
            held.kind,
            held.queue.map_or(0, |queue| u64::from(queue.0) + 1),
            root,
            decision.map_or(0, |d| d.at.as_ps() + 1),
        ]);
    }

    /// The number of a reason.
    fn reason(&mut self, text: &str) -> u64 {
        let known = self.reasons.iter().position(|r| r == text);
        known.unwrap_or_else(|| {
            self.reasons.push(text.to_owned());
            self.reasons.len() - 1
        }) as u64
    }

    pub(super) fn table(&self) -> TimelineTable {
        let columns = [
            ("from", Kind::Delta),
            ("to", Kind::Varint),
            ("port", Kind::Varint),
            ("priority", Kind::U8),
            ("flow", Kind::Varint),
            ("by", Kind::Varint),
            ("reason", Kind::Varint),
            ("cause", Kind::Varint),
            ("value", Kind::Varint),
            ("threshold", Kind::Varint),
            ("parent", Kind::Varint),
            ("kind", Kind::U8),
            ("queue", Kind::Varint),
            ("root", Kind::Varint),
            ("decided", Kind::Delta),
        ];
        let mut table = TimelineTable::new("pauses", &columns);
        self.rows.iter().for_each(|row| table.push(*row));
        table
    }
}

fn held(source: &Source<'_>, h: &HoldRecord) -> Held {
    let kind = match (h.queue, h.flow) {
        (Some(_), _) => QUEUE,
        (None, Some(_)) => FLOW,
        (None, None) => PRIORITY,
    };
    Held {
        from: h.from,
        port: source.port(h.node, h.port),
        to: h.to.unwrap_or(source.run.outcome.end).max(h.from),
        at: (h.node, h.port),
        priority: h.priority,
        kind,
        queue: h.queue,
        flow: h.flow,
    }
}

/// What schemes that limit rates slow down: no port is held for it.
fn slowed<'a>(source: &'a Source<'_>) -> impl Iterator<Item = Held> + 'a {
    let stages = source.run.holds(source.e).iter();
    stages.filter(|h| matches!(h.scope, PauseScope::Stage(_))).map(|h| {
        let PortAt { node, port } = h.held;
        let link = source.topology().port(node, port).link;
        let delay = source.topology().link(link).delay;
        Held {
            from: h.start + delay,
            port: source.port(node, port),
            to: h.end.saturating_add(delay),
            at: (node, port),
            priority: h.priority,
            kind: RATE,
            queue: None,
            flow: None,
        }
    })
}

/// Who asks for a hold: the port at the other end of the link.
fn by(source: &Source<'_>, held: &Held) -> Place {
    let end = source.topology().port(held.at.0, held.at.1);
    ((end.peer, end.peer_port), held.priority)
}

/// The last decision that can have arrived when the hold began.
fn decision<'a>(
    source: &Source<'_>,
    held: &Held,
    decisions: &[&'a PauseEvent],
) -> Option<&'a PauseEvent> {
    let link = source.topology().port(held.at.0, held.at.1).link;
    let sent = held.from.checked_sub(source.topology().link(link).delay)?;
    let before = decisions.partition_point(|d| d.at <= sent);
    decisions.get(before.checked_sub(1)?).copied()
}

/// The hold that stood at the port which caused a decision: the latest one.
fn parent(
    all: &[Held],
    standing: &BTreeMap<Place, Vec<usize>>,
    decision: &PauseEvent,
) -> Option<usize> {
    let cause = decision.cause.filter(|_| decision.cause_held)?;
    let there = standing.get(&((decision.node, cause), decision.priority))?;
    let began = there.partition_point(|&i| all[i].from <= decision.at);
    let stood = |&&i: &&usize| all[i].to > decision.at;
    there[..began].iter().rev().take(MOST_LOOKED_AT).find(stood).copied()
}

/// Holds of a port may overlap; one that stands is among the last that have begun.
const MOST_LOOKED_AT: usize = 1000;

/// Leaves pauses out that are shorter than `shortest` picoseconds, except those that others refer
/// to, and counts them.
pub(super) fn leave_out_short(timeline: &mut Timeline, shortest: u64) {
    let Some(pauses) = timeline.table("pauses") else { return };
    let (from, to) = (pauses.column("from"), pauses.column("to"));
    let mut keep: Vec<bool> = from.iter().zip(to).map(|(from, to)| to - from >= shortest).collect();
    // a parent comes before its children
    for row in (0..keep.len()).rev() {
        let parent = pauses.column("parent")[row] as usize;
        if keep[row] && parent > 0 {
            keep[parent - 1] = true;
        }
    }
    let left_out = crate::timeline::drop_pauses(timeline, &keep);
    *timeline.header.left_out.entry("pauses".into()).or_default() += left_out;
}
