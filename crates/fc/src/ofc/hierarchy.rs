//! The upstream side of OFC at a switch port: Algorithms 2 and 3, the nested hierarchy.
//!
//! Three queues hold one priority of an egress port. New packets join the **normal** queue 0.
//! Of the two **backups** 1 and 2 one takes the packets of paused flows, the other is empty:
//!
//! ```text
//!                       flow not paused
//!   ─► normal ─── head ─────────────────► wire          no drain: `serving` = 0
//!                   │ flow paused
//!                   └────► sink                         only packets of paused flows in here
//!
//!   ─► normal (waits)
//!        old sink ── head ──────────────► wire          drain: `serving` = the old sink,
//!                     │ flow (still) paused             a copy of the RESUME as order mark at
//!                     └────► new sink                   its end
//! ```
//!
//! A RESUME starts a **drain**: its copy is appended to the sink as an order mark, the sink is
//! served in place of the normal queue and the other backup, empty until now, becomes the
//! sink. When the mark comes out, the normal queue is served again; what is still paused
//! already waits in the new sink.
//!
//! Why order holds: a backup holds only packets of flows in `paused`; while a drain lasts
//! `paused` only grows, so a packet moved to the new sink is never overtaken by a later one of
//! its flow from the old sink; the normal queue waits until the old sink is empty; and the new
//! sink is empty when the drain begins. A RESUME that arrives during a drain must therefore not
//! take effect at once; its flows are `pending` until the mark comes out.

use super::tables::{FlowKey, Frame};
use super::{DuringDrain, OriginTest, Rotation};
use crate::{Actions, NodeView, Target};
use std::collections::BTreeSet;
use weir_core::{PortId, Priority, QueueId};

/// Where a hierarchy is: its port, its priority and its three queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    pub(super) port: PortId,
    pub(super) priority: Priority,
    pub(super) queues: Queues,
}

/// The three queues of a priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Queues {
    pub(super) normal: u32,
    /// The first backup; the second one follows.
    pub(super) backup: u32,
    /// Whether the backups are served before the normal queue whenever they are open.
    pub(super) ranked: bool,
}

impl Lane {
    /// Queue 0 (normal), 1 or 2 (backups) of the lane.
    pub(super) fn queue(&self, which: u8) -> QueueId {
        QueueId(match which {
            0 => self.queues.normal,
            _ => self.queues.backup + u32::from(which) - 1,
        })
    }

    /// Packets in the three queues; marks do not count.
    pub(super) fn packets(&self, v: &NodeView<'_>) -> u64 {
        (0..3).map(|which| u64::from(v.queue(self.port, self.queue(which)).packets)).sum()
    }
}

/// How the nested hierarchy behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Rules {
    pub(super) rotation: Rotation,
    pub(super) during_drain: DuringDrain,
    pub(super) origin_test: OriginTest,
}

/// `congested_flow_tab` of one egress port and priority, and the state of its three queues.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hierarchy {
    /// Flows whose packets may not be sent.
    pub(super) paused: BTreeSet<FlowKey>,
    /// Those of them that have been resumed during a drain.
    pub(super) pending: BTreeSet<FlowKey>,
    /// Flows that the present drain has resumed.
    pub(super) draining: BTreeSet<FlowKey>,
    /// The neighbour is in its urgent state: no flow may be sent.
    pub(super) all: bool,
    /// The queue that is served: 0, or a backup during a drain.
    pub(super) serving: u8,
    /// The queue that takes the packets of paused flows.
    pub(super) sink: u8,
    /// Drain once more after this drain (only when RESUMEs take effect at once).
    again: bool,
    /// Frames that wait for the end of the drain (only when whole frames are deferred).
    shelved: Vec<Frame>,
}

impl Default for Hierarchy {
    fn default() -> Self {
        Self {
            paused: BTreeSet::new(),
            pending: BTreeSet::new(),
            draining: BTreeSet::new(),
            all: false,
            serving: 0,
            sink: 1,
            again: false,
            shelved: Vec::new(),
        }
    }
}

impl Hierarchy {
    /// Whether congestion here is caused by the neighbour: it has paused a flow, or packets that
    /// had to wait for it have not left yet. Then this port is no origin.
    pub(super) fn is_paused(&self, rules: Rules) -> bool {
        match rules.origin_test {
            OriginTest::Mark => self.all || !self.paused.is_empty() || !self.draining.is_empty(),
            OriginTest::Receipt => self.all || self.paused.len() > self.pending.len(),
        }
    }

    /// Whether `flow` is in `congested_flow_tab` for that purpose.
    pub(super) fn is_congested(&self, flow: FlowKey, rules: Rules) -> bool {
        let paused = self.paused.contains(&flow);
        let resumed = self.pending.contains(&flow);
        self.all
            || match rules.origin_test {
                OriginTest::Mark => paused || self.draining.contains(&flow),
                OriginTest::Receipt => paused && !resumed,
            }
    }

    /// Whether all is as at the start.
    pub(super) fn is_at_rest(&self) -> bool {
        self.paused.is_empty() && !self.all && !self.is_draining() && self.shelved.is_empty()
    }

    pub(super) fn is_draining(&self) -> bool {
        self.serving != 0
    }

    /// Algorithm 2, lines 3 to 10: a frame has come in.
    pub(super) fn receive(&mut self, frame: Frame, rules: Rules, lane: &Lane, a: &mut Actions) {
        if self.is_draining() && rules.during_drain == DuringDrain::WholeFrames {
            self.shelved.push(frame);
        } else if frame.pause {
            self.pause(&frame, rules, lane, a);
        } else if frame.all {
            self.resume_all(rules, lane, a);
        } else {
            self.resume(frame.flows, rules, lane, a);
        }
    }

    /// Algorithm 2, line 4: the flows are paused from now on.
    fn pause(&mut self, frame: &Frame, rules: Rules, lane: &Lane, a: &mut Actions) {
        for &flow in &frame.flows {
            self.paused.insert(flow);
            self.pending.remove(&flow);
        }
        if frame.all {
            self.all = true;
            a.hold(lane.port, Target::Priority(lane.priority));
        }
        self.apply(rules, lane, a);
    }

    /// The link starts afresh: no pause is in force. What waits leaves in order.
    ///
    /// If nothing waits, which is `empty`, there is nothing to keep in order, and no mark is
    /// needed. A port that is down could not send one: its drain would never end.
    pub(super) fn reset(&mut self, empty: bool, rules: Rules, lane: &Lane, a: &mut Actions) {
        self.shelved.clear();
        if empty && !self.is_draining() {
            *self = Self::default();
            a.open(lane.port, Target::Priority(lane.priority));
            (0..3).for_each(|which| a.open(lane.port, Target::Queue(lane.queue(which))));
        } else {
            self.resume_all(rules, lane, a);
        }
    }

    /// Pauses were not repeated in time: they end as if their RESUME had come. Flows that were
    /// paused by name and not by the wildcard stay paused when that ends.
    pub(super) fn lapse(
        &mut self,
        all: bool,
        flows: Vec<FlowKey>,
        rules: Rules,
        lane: &Lane,
        a: &mut Actions,
    ) {
        if all {
            self.all = false;
            a.open(lane.port, Target::Priority(lane.priority));
        }
        self.receive(Frame { pause: false, all: false, flows }, rules, lane, a);
    }

    /// Lifts every pause: the RESUME of the urgent state.
    fn resume_all(&mut self, rules: Rules, lane: &Lane, a: &mut Actions) {
        self.all = false;
        a.open(lane.port, Target::Priority(lane.priority));
        let paused = self.paused.iter().copied().collect();
        self.resume(paused, rules, lane, a);
    }

    /// Algorithm 2, lines 8 and 9.
    fn resume(&mut self, mut flows: Vec<FlowKey>, rules: Rules, lane: &Lane, a: &mut Actions) {
        flows.retain(|f| self.paused.contains(f));
        if flows.is_empty() {
            return;
        }
        if self.is_draining() && rules.during_drain == DuringDrain::Pending {
            self.pending.extend(flows);
            return;
        }
        for &flow in &flows {
            self.paused.remove(&flow);
            self.draining.insert(flow);
        }
        if self.is_draining() {
            self.again = true;
            self.apply(rules, lane, a);
        } else {
            self.start_drain(rules, lane, a);
        }
    }

    /// Appends the order mark to the sink and serves the sink.
    fn start_drain(&mut self, rules: Rules, lane: &Lane, a: &mut Actions) {
        a.mark(lane.port, lane.queue(self.sink), u32::from(self.sink));
        match rules.rotation {
            Rotation::Swap => (self.serving, self.sink) = (self.sink, 3 - self.sink),
            Rotation::Back => (self.serving, self.sink) = (1, 2),
            Rotation::Modulo => self.rotate_modulo_two(),
        }
        self.apply(rules, lane, a);
    }

    /// Algorithm 3, lines 17 to 20, to the letter.
    fn rotate_modulo_two(&mut self) {
        self.serving = (self.serving + 1) % 2;
        self.sink = (self.sink + 1) % 2;
    }

    /// Algorithm 3, lines 3 to 5: the order mark has come out, the drain is over.
    pub(super) fn end_drain(&mut self, rules: Rules, lane: &Lane, a: &mut Actions) {
        match rules.rotation {
            Rotation::Swap => self.serving = 0,
            Rotation::Back => (self.serving, self.sink) = (0, 1),
            Rotation::Modulo => self.rotate_modulo_two(),
        }
        let pending = std::mem::take(&mut self.pending);
        self.paused.retain(|f| !pending.contains(f));
        self.draining.clone_from(&pending);
        self.apply(rules, lane, a);
        if !pending.is_empty() || std::mem::take(&mut self.again) {
            self.start_drain(rules, lane, a);
        }
        for frame in std::mem::take(&mut self.shelved) {
            self.receive(frame, rules, lane, a);
        }
    }

    /// Algorithm 3, lines 7 and 14: whether the head of the served queue goes to the sink
    /// instead of the wire.
    #[inline]
    pub(super) fn diverts(&self, flow: FlowKey) -> bool {
        !self.paused.is_empty() && self.paused.contains(&flow)
    }

    /// Holds what must wait and opens the rest.
    ///
    /// Where the backups rank above the normal queue, a drain needs no hold: until the mark
    /// has come out there is something in the served backup. So a hold always means that the
    /// neighbour has paused a flow.
    fn apply(&self, rules: Rules, lane: &Lane, a: &mut Actions) {
        for which in 0..3 {
            let is_sink = which == self.sink && !self.paused.is_empty();
            let holds = match which {
                0 => is_sink || self.is_draining() && !lane.queues.ranked,
                // the literal rotations leave packets in a queue that is neither
                _ => is_sink || rules.rotation != Rotation::Swap,
            };
            let target = Target::Queue(lane.queue(which));
            if holds && which != self.serving {
                a.hold(lane.port, target);
            } else {
                a.open(lane.port, target);
            }
        }
    }
}
