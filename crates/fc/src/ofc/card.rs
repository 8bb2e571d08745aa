//! The upstream side of OFC at a NIC: every flow has its own slot, so a pause holds slots
//! and nothing needs to be kept apart or in order.

use super::tables::{FlowKey, Frame};
use crate::{Actions, PortQueue, Target};
use std::collections::BTreeSet;
use weir_core::{PortId, Priority, QueueId};

/// The flows of one host and which of them may not send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Card {
    /// Priorities of which every flow is paused.
    all: BTreeSet<(PortId, Priority)>,
    /// Paused flows, running or not.
    pub(super) paused: BTreeSet<(PortId, Priority, FlowKey)>,
    slots: BTreeSet<(PortId, Priority, FlowKey, QueueId)>,
}

impl Card {
    pub(super) fn flow_starts(
        &mut self,
        slot: PortQueue,
        priority: Priority,
        flow: FlowKey,
        a: &mut Actions,
    ) {
        self.slots.insert((slot.port, priority, flow, slot.queue));
        if self.paused.contains(&(slot.port, priority, flow)) {
            a.hold(slot.port, Target::Queue(slot.queue));
        }
    }

    /// The slot must not stay held for the next flow that uses it.
    pub(super) fn flow_ends(
        &mut self,
        slot: PortQueue,
        priority: Priority,
        flow: FlowKey,
        a: &mut Actions,
    ) {
        self.slots.remove(&(slot.port, priority, flow, slot.queue));
        if self.paused.contains(&(slot.port, priority, flow)) {
            a.open(slot.port, Target::Queue(slot.queue));
        }
    }

    fn slots_of(
        &self,
        port: PortId,
        priority: Priority,
        flow: FlowKey,
    ) -> impl Iterator<Item = Target> {
        let key = |slot| (port, priority, flow, QueueId(slot));
        self.slots.range(key(0)..=key(u32::MAX)).map(|&(.., slot)| Target::Queue(slot))
    }

    pub(super) fn receive(
        &mut self,
        port: PortId,
        priority: Priority,
        frame: Frame,
        a: &mut Actions,
    ) {
        if !frame.pause && frame.all {
            self.resume_all(port, priority, a);
            return;
        }
        if frame.all {
            self.all.insert((port, priority));
            a.hold(port, Target::Priority(priority));
        }
        for flow in frame.flows {
            let key = (port, priority, flow);
            if frame.pause && self.paused.insert(key) {
                self.slots_of(port, priority, flow).for_each(|slot| a.hold(port, slot));
            } else if !frame.pause && self.paused.remove(&key) {
                self.slots_of(port, priority, flow).for_each(|slot| a.open(port, slot));
            }
        }
    }

    /// Pauses were not repeated in time: they end as if their RESUME had come.
    pub(super) fn lapse(
        &mut self,
        port: PortId,
        priority: Priority,
        all: bool,
        flows: Vec<FlowKey>,
        a: &mut Actions,
    ) {
        if all && self.all.remove(&(port, priority)) {
            a.open(port, Target::Priority(priority));
        }
        self.receive(port, priority, Frame { pause: false, all: false, flows }, a);
    }

    /// Lifts every pause of a priority.
    pub(super) fn resume_all(&mut self, port: PortId, priority: Priority, a: &mut Actions) {
        self.all.remove(&(port, priority));
        a.open(port, Target::Priority(priority));
        let lifted: Vec<FlowKey> = self
            .paused
            .iter()
            .filter(|&&(o, p, _)| (o, p) == (port, priority))
            .map(|&(.., flow)| flow)
            .collect();
        for flow in lifted {
            self.paused.remove(&(port, priority, flow));
            self.slots_of(port, priority, flow).for_each(|slot| a.open(port, slot));
        }
    }

    /// Whether nothing is paused.
    pub(super) fn is_at_rest(&self) -> bool {
        self.all.is_empty() && self.paused.is_empty()
    }
}
