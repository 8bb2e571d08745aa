//! What a scheme may see of its node: the books the node keeps.

use crate::mmu::Mmu;
use crate::port::{PortBook, PortSetup, QueueBook, Role};
use weir_core::{Bytes, NodeId, PortId, Priority, QueueId, Time};

/// The books of one node. The node writes them, schemes read them.
#[derive(Clone, Debug)]
pub struct Books {
    /// Switch or NIC.
    pub role: Role,
    /// Whose books these are.
    pub node: NodeId,
    /// Port constants.
    pub setup: Vec<PortSetup>,
    /// Port counters.
    pub ports: Vec<PortBook>,
    /// Buffer memory and ingress accounting.
    pub mmu: Mmu,
}

/// A node's books at an instant.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    /// The present time.
    pub now: Time,
    /// The books.
    pub books: &'a Books,
}

impl NodeView<'_> {
    /// Bytes in the node that came in by `port` with `priority`: the virtual ingress queue.
    #[inline]
    pub fn q_in(&self, port: PortId, priority: Priority) -> Bytes {
        self.books.mmu.q_in(port, priority)
    }

    /// Bytes queued at egress `port` with `priority`.
    #[inline]
    pub fn q_out(&self, port: PortId, priority: Priority) -> Bytes {
        self.books.ports[port.index()].q_out[priority.index()]
    }

    /// The counters of one egress queue; a queue that was never used is empty.
    #[inline]
    pub fn queue(&self, port: PortId, queue: QueueId) -> QueueBook {
        self.books.ports[port.index()].queues.get(queue.index()).copied().unwrap_or_default()
    }

    /// Data queues of `port` that are non-empty and not held.
    #[inline]
    pub fn active(&self, port: PortId) -> u32 {
        self.books.ports[port.index()].active
    }

    /// The constants of `port`.
    #[inline]
    pub fn port(&self, port: PortId) -> &PortSetup {
        &self.books.setup[port.index()]
    }

    /// How many ports the node has.
    #[inline]
    pub fn ports(&self) -> usize {
        self.books.setup.len()
    }
}
