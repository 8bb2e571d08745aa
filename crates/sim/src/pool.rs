//! Queued packets of one node: linked lists in one slab, most recently freed slot first, so
//! that the packets a node works on stay in cache whatever queue they are in.

use weir_core::{Packet, Time};

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Packet,
    /// The queue's hold clock when the packet was queued.
    stamp: Time,
    next: u32,
}

/// The slab.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketPool {
    slots: Vec<Slot>,
    free: Option<u32>,
}

/// A first-in first-out list of packets in a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    head: u32,
    tail: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl Fifo {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NONE
    }
}

impl PacketPool {
    #[inline]
    pub(crate) fn push(&mut self, fifo: &mut Fifo, packet: Packet, stamp: Time) {
        let slot = Slot { packet, stamp, next: NONE };
        let at = match self.free {
            Some(at) => {
                let next = self.slots[at as usize].next;
                self.free = (next != NONE).then_some(next);
                self.slots[at as usize] = slot;
                at
            }
            None => {
                self.slots.push(slot);
                u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 packets in a node")
            }
        };
        if fifo.is_empty() {
            fifo.head = at;
        } else {
            self.slots[fifo.tail as usize].next = at;
        }
        fifo.tail = at;
    }

    #[inline]
    pub(crate) fn front(&self, fifo: &Fifo) -> Option<&Packet> {
        (!fifo.is_empty()).then(|| &self.slots[fifo.head as usize].packet)
    }

    #[inline]
    pub(crate) fn pop(&mut self, fifo: &mut Fifo) -> Option<(Packet, Time)> {
        if fifo.is_empty() {
            return None;
        }
        let at = fifo.head;
        let slot = &mut self.slots[at as usize];
        let out = (slot.packet, slot.stamp);
        fifo.head = slot.next;
        slot.next = self.free.unwrap_or(NONE);
        self.free = Some(at);
        Some(out)
    }

    /// The packets of a list, head first.
    pub(crate) fn iter<'a>(&'a self, fifo: &Fifo) -> impl Iterator<Item = &'a Packet> + use<'a> {
        let mut at = fifo.head;
        std::iter::from_fn(move || {
            let slot = self.slots.get(at as usize)?;
            at = slot.next;
            Some(&slot.packet)
        })
    }
}

#[cfg(test)]
pub(crate) fn test_packet(seq: u32, size: u16) -> Packet {
    use weir_core::{FlowId, NodeId, PacketKind, PortId, Priority};
    Packet {
        flow: FlowId::new(NodeId(0), 0),
        seq,
        dst: NodeId(1),
        wire_tag: 0,
        extra: Packet::NO_EXTRA,
        size,
        ingress: PortId(0),
        kind: PacketKind::Data,
        priority: Priority::ALL[3],
        flags: 0,
        local_tag: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_share_the_slab_and_keep_their_order() {
        let mut pool = PacketPool::default();
        let (mut a, mut b) = (Fifo::default(), Fifo::default());
        for seq in 0..4 {
            let list = if seq % 2 == 0 { &mut a } else { &mut b };
            pool.push(list, test_packet(seq, 100), Time::from_ps(u64::from(seq)));
        }
        assert_eq!(pool.iter(&a).map(|p| p.seq).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(pool.pop(&mut a).map(|(p, t)| (p.seq, t.as_ps())), Some((0, 0)));
        pool.push(&mut b, test_packet(9, 100), Time::ZERO);
        assert_eq!(pool.slots.len(), 4, "the freed slot was used again");
        let rest: Vec<u32> = std::iter::from_fn(|| pool.pop(&mut b)).map(|(p, _)| p.seq).collect();
        assert_eq!(rest, [1, 3, 9]);
        assert_eq!(pool.front(&a).map(|p| p.seq), Some(2));
        assert!(b.is_empty());
        pool.push(&mut b, test_packet(5, 1), Time::ZERO);
        assert_eq!(pool.pop(&mut b).map(|(p, _)| p.seq), Some(5));
    }
}
