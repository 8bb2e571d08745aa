//! What a switch has told its neighbours to stop, for the log of pauses.
//!
//! A frame says what changes, or repeats what stands. Which pauses are in force after it, and so
//! when a pause is over, is known here only: a scheme may name a flow again that is paused already,
//! and the failure of a link lifts pauses without a frame.

use super::Switch;
use crate::extras::Said;
use crate::outcome::PauseScope;
use crate::probe::PauseSent;
use rustc_hash::{FxHashMap, FxHashSet};
use weir_core::control::{FlowName, Pause};
use weir_core::{Bytes, ControlMessage, Packet, PortId, Priority, QueueId, Reason, Time};
use weir_fc::HoldState;

/// A pause or a resume worth a line in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) priority: Priority,
    pub(super) pause: bool,
    pub(super) scope: PauseScope,
    /// How many flows then stand paused by name.
    pub(super) flows: u32,
}

/// What stands paused at one port, of one priority.
#[derive(Clone, Debug, Default)]
struct Told {
    whole: bool,
    stage: u8,
    queues: FxHashSet<QueueId>,
    flows: FxHashSet<FlowName>,
    /// Flows that messages count without naming them.
    unnamed: u32,
}

impl Told {
    fn is_nothing(&self) -> bool {
        !self.whole && self.stage == 0 && self.queues.is_empty() && self.named() == 0
    }

    fn named(&self) -> u32 {
        self.flows.len() as u32 + self.unnamed
    }

    /// Takes a pause or a resume in; returns whether it changes something. `names` are the flows
    /// that it names.
    fn set(&mut self, scope: PauseScope, state: HoldState, names: &[FlowName]) -> bool {
        let pause = state.is_held();
        match scope {
            PauseScope::All if !pause => {
                let told = std::mem::take(self);
                !told.is_nothing()
            }
            PauseScope::Priority | PauseScope::All => {
                std::mem::replace(&mut self.whole, pause) != pause
            }
            PauseScope::Queue(q) if pause => self.queues.insert(q),
            PauseScope::Queue(q) => self.queues.remove(&q),
            PauseScope::Stage(stage) => std::mem::replace(&mut self.stage, stage) != stage,
            PauseScope::Flows(n) => {
                let before = self.named();
                for name in names {
                    if pause {
                        self.flows.insert(*name)
                    } else {
                        self.flows.remove(name)
                    };
                }
                let unnamed = n.saturating_sub(names.len() as u32);
                self.unnamed = match pause {
                    true => self.unnamed.saturating_add(unnamed),
                    false => self.unnamed.saturating_sub(unnamed),
                };
                self.named() != before
            }
        }
    }
}

/// What stands paused, by ingress port and priority.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing(FxHashMap<(PortId, Priority), Told>);

impl Standing {
    /// `message` goes to the neighbour at `port`: what of it is worth a line.
    pub(super) fn send(&mut self, port: PortId, message: &ControlMessage) -> Vec<Noted> {
        let named = message.named_flows();
        let mut noted = Vec::new();
        for Pause { priority, pause, scope, state } in message.pauses() {
            let own = named.iter().filter(|(p, on, _)| (*p, *on) == (priority, pause));
            let names: Vec<FlowName> = own.map(|(.., name)| *name).collect();
            let told = self.0.entry((port, priority)).or_default();
            let changes = told.set(scope, HoldState::of(pause), &names);
            if !state || changes {
                noted.push(Noted { priority, pause, scope, flows: told.named() });
            }
        }
        noted
    }

    /// The neighbour at `port` must not send a priority, or may again, without a message: a line,
    /// unless that is known.
    pub(super) fn implied(
        &mut self,
        port: PortId,
        priority: Priority,
        state: HoldState,
    ) -> Option<Noted> {
        let (scope, pause) = (PauseScope::Priority, state.is_held());
        let told = self.0.entry((port, priority)).or_default();
        let changes = told.set(scope, state, &[]);
        changes.then(|| Noted { priority, pause, scope, flows: told.named() })
    }

    /// The link at `port` has failed: no pause stands there. Returns the resumes that nobody sent.
    pub(super) fn forget(&mut self, port: PortId) -> Vec<Noted> {
        let told = |p| self.0.remove(&(port, p)).filter(|told| !told.is_nothing()).map(|_| p);
        let resumed = |priority| Noted { priority, pause: false, scope: PauseScope::All, flows: 0 };
        Priority::ALL.into_iter().filter_map(told).map(resumed).collect()
    }
}

/// Pauses and resumes, for the timeline and the pause tree.
impl Switch {
    /// Notes pauses and resumes for the timeline and the pause tree. Repeated pauses
    /// (refreshes) of a whole priority are not events.
    pub(super) fn log_pause(&mut self, port: PortId, said: &Said, now: Time) {
        for noted in self.standing.send(port, &said.message) {
            self.note(port, noted, said.reason, now);
        }
    }

    /// Notes that the neighbour at `port` must not send a priority, or may again, unless that is
    /// known.
    pub(super) fn log_state(
        &mut self,
        port: PortId,
        priority: Priority,
        state: HoldState,
        reason: Reason,
        now: Time,
    ) {
        if let Some(noted) = self.standing.implied(port, priority, state) {
            self.note(port, noted, reason, now);
        }
    }

    /// The link at `port` is down: whatever the neighbour was told to stop goes on when it is up
    /// again.
    pub(super) fn forget_pauses(&mut self, port: PortId, now: Time) {
        for noted in self.standing.forget(port) {
            self.note(port, noted, Reason::Link, now);
        }
    }

    fn note(&mut self, port: PortId, noted: Noted, reason: Reason, now: Time) {
        let Noted { priority, pause, scope, flows } = noted;
        self.ports[port.index()].meter.pauses_sent[priority.index()] += u64::from(pause);
        let mut probes = std::mem::take(&mut self.probes);
        let cause = || {
            let main = self.main_egress(port, priority)?;
            Some((main, self.ports[main.index()].meter.holds.held().contains(priority)))
        };
        let sent = PauseSent { port, priority, pause, scope, flows, reason, cause: &cause };
        probes.paused(now, &sent);
        self.probes = probes;
    }

    /// The egress port that holds most bytes of an ingress; the lowest of several.
    fn main_egress(&self, ingress: PortId, priority: Priority) -> Option<PortId> {
        if let Some(processor) = &self.processor {
            return self.main_egress_behind(processor, ingress, priority);
        }
        let from_ingress = |p: &&Packet| p.ingress == ingress && p.priority == priority;
        let bytes_of = |o: usize| -> Bytes {
            (0..self.ports[o].queues.len())
                .flat_map(|q| self.queued(o, q).filter(from_ingress))
                .map(Packet::bytes)
                .sum()
        };
        let mut elsewhere = self.books.mmu.q_in(ingress, priority);
        let mut most = (Bytes::ZERO, None);
        for (o, book) in self.books.ports.iter().enumerate() {
            // no port holds more of it than it holds at all, or than has not been found yet
            if book.q_out[priority.index()].min(elsewhere) > most.0 {
                let bytes = bytes_of(o);
                elsewhere -= bytes;
                if bytes > most.0 {
                    most = (bytes, Some(PortId::from_index(o)));
                }
            }
        }
        most.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::control::{HostPair, OwnMessage};
    use weir_core::{FlowId, NodeId};

    const P3: Priority = Priority::ALL[3];
    const PORT: PortId = PortId(1);

    fn pair(n: u32) -> HostPair {
        HostPair { src: NodeId(n), dst: NodeId(n + 100) }
    }

    fn flow(n: u32, pause: bool) -> ControlMessage {
        ControlMessage::FlowState { pause, priority: P3, flow: FlowId::new(NodeId(n), 0) }
    }

    fn counts(standing: &mut Standing, messages: &[ControlMessage]) -> Vec<u32> {
        messages.iter().flat_map(|m| standing.send(PORT, m)).map(|noted| noted.flows).collect()
    }

    #[test]
    fn a_flow_that_is_named_twice_stands_paused_once() {
        let mut standing = Standing::default();
        let refresh =
            ControlMessage::BackPressure { flows: vec![(pair(1), P3, true), (pair(2), P3, true)] };
        let lifted = |n| ControlMessage::BackPressure { flows: vec![(pair(n), P3, false)] };
        let sent = [refresh.clone(), refresh, lifted(1), lifted(1), lifted(2)];
        assert_eq!(counts(&mut standing, &sent), [2, 2, 1, 1, 0]);
        assert_eq!(standing.forget(PORT), [], "nothing stands");
    }

    #[test]
    fn the_wildcard_resume_lifts_listed_flows_too() {
        let mut standing = Standing::default();
        let ofc = |pause, all, flows: &[u32]| ControlMessage::OfcFlows {
            pause,
            priority: P3,
            all,
            flows: flows.iter().map(|&n| pair(n)).collect(),
        };
        let sent = [ofc(true, false, &[1, 2]), ofc(true, true, &[]), ofc(false, true, &[])];
        assert_eq!(counts(&mut standing, &sent), [2, 2, 0]);
        assert_eq!(standing.forget(PORT), []);
    }

    #[test]
    fn a_refreshed_pause_of_a_priority_is_one_pause() {
        let mut standing = Standing::default();
        let pfc = |quanta| ControlMessage::pfc(P3, quanta);
        assert_eq!(standing.send(PORT, &pfc(9)).len(), 1);
        assert_eq!(standing.send(PORT, &pfc(9)), []);
        assert_eq!(standing.send(PORT, &pfc(0)).len(), 1);
        assert_eq!(standing.send(PORT, &pfc(0)), []);
    }

    /// A stage, a queue, and flows that a message counts without naming them.
    #[test]
    fn a_failed_link_lifts_whatever_stands_once() {
        let own = |scope, pause| {
            let pauses = vec![Pause { priority: P3, pause, scope, state: false }];
            ControlMessage::Own(Box::new(OwnMessage {
                scheme: "x",
                words: vec![],
                body: 8,
                pauses,
            }))
        };
        let queue = PauseScope::Queue(QueueId(4));
        for (scope, lifted) in [
            (PauseScope::Flows(2), PauseScope::Flows(2)),
            (PauseScope::Stage(3), PauseScope::Stage(0)),
            (queue, queue),
            (PauseScope::All, PauseScope::All),
        ] {
            let mut standing = Standing::default();
            standing.send(PORT, &own(scope, true));
            let resumed = Noted { priority: P3, pause: false, scope: PauseScope::All, flows: 0 };
            assert_eq!(standing.forget(PortId(0)), [], "another port");
            assert_eq!(standing.forget(PORT), [resumed]);
            assert_eq!(standing.forget(PORT), []);
            standing.send(PORT, &own(scope, true));
            standing.send(PORT, &own(lifted, false));
            assert_eq!(standing.forget(PORT), [], "{scope:?} was lifted before");
        }
        let mut standing = Standing::default();
        assert_eq!(
            counts(&mut standing, &[flow(1, true), flow(2, true), flow(1, false)]),
            [1, 2, 1]
        );
        assert_eq!(standing.forget(PORT).len(), 1);
    }
}
