//! The walk back from the last payload byte of a flow to its start.
//!
//! While the deciding packet was in the network, its own life says what it waited for. Before, at
//! its host, the history of the flow does; and where an earlier packet of the flow was held in the
//! network at that time, that takes precedence over everything but other flows of the host. If the
//! flow was held at its host and in the network at once, the hold that began first counts.

use super::messages::Messages;
use crate::outcome::pieces::{History, Hold, Life, Piece};
use crate::outcome::{BlameLog, FlowBlame, Outcome, Wait, Waited};
use std::collections::BTreeMap;
use weir_core::{FlowId, NodeId, PortId, Time};
use weir_fc::Target;

/// A hold that a flow felt at a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeltAt {
    pub(super) port: (NodeId, PortId),
    pub(super) hold: Hold,
}

/// What is known of one flow.
#[derive(Debug, Default)]
struct Known {
    history: Option<((NodeId, PortId), History)>,
    life: Option<Box<Life>>,
    felt: Vec<FeltAt>,
}

/// Walks back along all flows that are complete.
pub(super) fn all(log: &mut BlameLog, outcome: &Outcome) {
    let mut flows: BTreeMap<FlowId, Known> = BTreeMap::new();
    let mut messages = Messages::default();
    for piece in std::mem::take(&mut log.raw) {
        match piece {
            Piece::Host { flow, port, history } => {
                flows.entry(flow).or_default().history = Some((port, history));
            }
            Piece::Deciding(life) => {
                let flow = life.flow;
                flows.entry(flow).or_default().life = Some(life);
            }
            Piece::Posted { flow, seq, posted } => {
                messages.posted.insert((flow, seq), posted);
            }
            Piece::Arrived { flow, seq, life, at } => {
                messages.arrived.insert((flow, seq), (life, at));
            }
            Piece::Felt { flow, port, holds } => {
                let felt = holds.into_iter().map(|hold| FeltAt { port, hold });
                if flow.is_pair() {
                    messages.felt.entry(flow).or_default().extend(felt);
                    continue;
                }
                flows.entry(flow).or_default().felt.extend(felt);
            }
        }
    }
    for (id, known) in flows {
        let Known { history: Some((_, history)), life: Some(life), felt } = known else { continue };
        let Some(record) = outcome.flows.get(id) else { continue };
        let Some(end) = record.finish() else { continue };
        let mut walk = Walk::new(&life);
        walk.host(record.start, &life, &history, felt);
        walk.network(&life, end);
        log.flows.push(FlowBlame {
            flow: id,
            priority: record.priority,
            start: record.start,
            end,
            culprits: walk.culprits(&life),
            path: walk.path,
            waited: walk.waited,
        });
    }
    messages.explain(&mut log.paths, &outcome.flows);
    log.pauses.sort_by_key(|p| (p.at, p.node, p.port, p.priority));
    log.packets_held.sort_unstable();
    log.passed.sort_unstable();
    log.waited_for.sort_unstable();
}

pub(super) struct Walk {
    pub(super) path: Vec<(NodeId, PortId)>,
    pub(super) waited: Vec<Waited>,
}

impl Walk {
    pub(super) fn new(life: &Life) -> Self {
        let host = (life.flow.source(), life.port);
        let path = std::iter::once(host).chain(life.hops.iter().map(|h| (h.node, h.port)));
        Self { path: path.collect(), waited: Vec::new() }
    }

    /// Adds an entry, or to the entry before it for the same reason at the same port.
    fn add(&mut self, wait: Wait, at: (NodeId, PortId), held: Option<Target>, span: (Time, Time)) {
        self.add_part(wait, at, held, span, span.1.saturating_sub(span.0));
    }

    fn add_part(
        &mut self,
        wait: Wait,
        at: (NodeId, PortId),
        held: Option<Target>,
        (from, to): (Time, Time),
        time: Time,
    ) {
        if time == Time::ZERO {
            return;
        }
        let same = |w: &&mut Waited| {
            w.wait == wait
                && (w.node, w.port) == at
                && w.held == held
                && (wait != Wait::Held || w.to == from)
        };
        if let Some(known) = self.waited.iter_mut().rev().find(same) {
            (known.to, known.time) = (to.max(known.to), known.time + time);
            return;
        }
        let on_path = |p: &(NodeId, PortId)| p.0 == at.0;
        let hop = self.path.iter().position(on_path).unwrap_or(0) as u16;
        let (node, port) = at;
        self.waited.push(Waited { wait, hop, node, port, held, from, to, time });
    }

    /// From the start of the flow until its deciding packet was sent.
    pub(super) fn host(&mut self, start: Time, life: &Life, history: &History, felt: Vec<FeltAt>) {
        let host = self.path[0];
        let parts = history.apart();
        let felt = first_of(felt.into_iter().chain(at_host(host, &parts)).collect());
        let mut at = start;
        let mut next = 0;
        for (from, to, wait, target) in parts {
            let (from, to) = (from.max(at), to.min(life.sent));
            if from >= to {
                continue;
            }
            if at < from {
                // before its first entry a flow is not known to wait for anything but itself
                self.add(Wait::Source, host, None, (at, from));
            }
            at = to;
            if wait == Wait::Host {
                self.add(wait, host, None, (from, to));
                continue;
            }
            while felt.get(next).is_some_and(|f| f.hold.to <= from) {
                next += 1;
            }
            let mut done = from;
            for f in felt[next..].iter().take_while(|f| f.hold.from < to) {
                let (begin, end) = (f.hold.from.max(done), f.hold.to.min(to));
                if begin < end {
                    self.add(wait, host, target, (done, begin));
                    self.add(Wait::Held, f.port, Some(f.hold.target), (begin, end));
                    done = end;
                }
            }
            self.add(wait, host, target, (done, to));
        }
        self.add(Wait::Source, host, None, (at, life.sent));
    }

    /// From then on until its last bit arrived at `end`.
    pub(super) fn network(&mut self, life: &Life, end: Time) {
        let mut at = life.sent;
        let mut from = self.path[0];
        for hop in &life.hops {
            let here = (hop.node, hop.port);
            let (waited, own) = hop.ingress;
            let wait = if own { Wait::OwnQueue } else { Wait::OthersQueue };
            let entered = hop.queued - waited;
            self.add(Wait::Wire, from, None, (at, entered));
            self.add(wait, here, None, (entered, hop.queued));
            let span = (hop.queued, hop.left);
            self.add_part(Wait::OwnQueue, here, None, span, hop.own);
            self.add_part(Wait::OthersQueue, here, None, span, hop.others);
            self.add_part(Wait::Idle, here, None, span, hop.idle);
            for hold in &hop.held {
                self.add(Wait::Held, here, Some(hold.target), (hold.from, hold.to));
            }
            (at, from) = (hop.left, here);
        }
        self.add(Wait::Wire, from, None, (at, end));
    }

    pub(super) fn culprits(&self, life: &Life) -> Vec<crate::outcome::QueueCulprit> {
        let hops = life.hops.iter().enumerate();
        hops.flat_map(|(i, hop)| hop.culprits(i as u16 + 1)).collect()
    }
}

/// The holds of a flow at its host.
fn at_host(
    port: (NodeId, PortId),
    parts: &[(Time, Time, Wait, Option<Target>)],
) -> impl Iterator<Item = FeltAt> {
    let hold = move |&(from, to, _, target): &(Time, Time, Wait, Option<Target>)| {
        target.map(|target| FeltAt { port, hold: Hold { target, from, to } })
    };
    parts.iter().filter_map(hold)
}

/// Holds without overlaps, in order: of two at the same time the one that began first counts.
fn first_of(mut felt: Vec<FeltAt>) -> Vec<FeltAt> {
    felt.sort_by_key(|f| (f.hold.from, f.port, f.hold.to));
    let mut at = Time::ZERO;
    felt.retain_mut(|f| {
        f.hold.from = f.hold.from.max(at);
        at = at.max(f.hold.to);
        f.hold.from < f.hold.to
    });
    felt
}
