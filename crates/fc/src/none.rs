//! No flow control: the lossy baseline.
//!
//! *Problem it solves:* none; it is the baseline for the others. *Idea:* one queue per
//! priority, nothing is ever held; a packet that finds the buffer full is dropped and the
//! transport retransmits it. *Messages:* none. *Parameters:* none.

use crate::{
    Actions, FlowControl, Hints, IngressBound, Interest, LinkState, Mmu, Network, NodeSetup,
    NodeView, ParamError, Pipelined, PortQueue, PrioritySchedule, QueueLayout, SchemeInfo, Senders,
    StateSize, Values, Violation,
};
use std::ops::Range;
use weir_core::{Bytes, ControlMessage, Packet, PortId, Priority, QueueId};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "none",
    title: "none (lossy)",
    summary: "No flow control: a full buffer drops packets, and the transport retransmits them.",
    reference: "baseline",
    params: &[],
    lossless: false,
    ingress_bound: |_| IngressBound::Memory,
    many_paths: Ok(()),
    senders: Senders::Nobody,
    reports: |_| false,
    build,
};

/// No flow control.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoFlowControl {
    schedule: PrioritySchedule,
    queue_of: [u32; Priority::COUNT],
}

fn build(_: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(NoFlowControl::new(setup.schedule)))
}

impl NoFlowControl {
    /// No flow control on queues scheduled like this.
    pub fn new(schedule: &PrioritySchedule) -> Self {
        Self { schedule: *schedule, queue_of: schedule.queue_of() }
    }
}

impl FlowControl for NoFlowControl {
    fn layout(&self, _port: PortId) -> QueueLayout {
        QueueLayout::per_priority(&self.schedule)
    }

    fn arrive(
        &mut self,
        _v: &NodeView<'_>,
        p: &mut Packet,
        _egress: PortId,
        _a: &mut Actions,
    ) -> QueueId {
        QueueId(self.queue_of[p.priority.index()])
    }

    fn depart(&mut self, _: &NodeView<'_>, _: &mut Packet, _: PortQueue, _: &mut Actions) {}

    fn control(&mut self, _: &NodeView<'_>, _: PortId, _: &ControlMessage, _: &mut Actions) {}

    fn link(&mut self, _: &NodeView<'_>, _: PortId, _link: LinkState, _: &mut Actions) {}

    fn audit(&self, _: &NodeView<'_>, _network: Network) -> Result<(), Violation> {
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        StateSize::default()
    }

    fn pipelined(&mut self) -> Result<&mut dyn Pipelined, &'static str> {
        Ok(self)
    }
}

impl Hints for NoFlowControl {
    fn quiet_range(&self, _mmu: &Mmu, _ingress: PortId, _priority: Priority) -> Range<Bytes> {
        Bytes::ZERO..Bytes::MAX
    }

    fn interest(&self, _mmu: &Mmu, _ingress: PortId, priority: Priority) -> Interest {
        Interest::Never(QueueId(self.queue_of[priority.index()]))
    }

    fn has_fixed_state(&self) -> bool {
        true
    }
}

impl Pipelined for NoFlowControl {
    fn ingress_changed(&mut self, _: &NodeView<'_>, _: PortId, _: Priority, _: &mut Actions) {}
}
