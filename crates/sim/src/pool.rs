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
#[derive(Clone, Debug)]
pub(crate) struct PacketPool {
    slots: Vec<Slot>,
    /// The first free slot; `NONE` when all are taken.
    free: u32,
}

impl Default for PacketPool {
    fn default() -> Self {
        Self { slots: Vec::new(), free: NONE }
    }
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
    #[inline(always)]
    pub(crate) fn push(&mut self, fifo: &mut Fifo, packet: &Packet, stamp: Time) {
        let at = self.free;
        let at = match self.slots.get_mut(at as usize) {
            Some(slot) => {
                self.free = slot.next;
                *slot = Slot { packet: *packet, stamp, next: NONE };
                at
            }
            None => self.append(Slot { packet: *packet, stamp, next: NONE }),
        };
        match self.slots.get_mut(fifo.tail as usize) {
            Some(last) => last.next = at,
            None => fifo.head = at,
        }
        fifo.tail = at;
    }

    #[cold]
    fn append(&mut self, slot: Slot) -> u32 {
        self.slots.push(slot);
        let at = self.slots.len() - 1;
        u32::try_from(at).ok().filter(|&at| at != NONE).expect("fewer than 2^32 packets in a node")
    }

    #[inline(always)]
    pub(crate) fn front(&self, fifo: &Fifo) -> Option<&Packet> {
        self.slots.get(fifo.head as usize).map(|slot| &slot.packet)
    }

    /// Takes the head out, with its stamp. Its place is free for the next packet that comes.
    ///
    /// # Panics
    /// When the list is empty: a queue without packets was chosen.
    #[inline(always)]
    pub(crate) fn pop(&mut self, fifo: &mut Fifo) -> (&mut Packet, Time) {
        let at = fifo.head;
        let slot = self.slots.get_mut(at as usize).expect("a ready queue has a head");
        fifo.head = slot.next;
        if slot.next == NONE {
            fifo.tail = NONE;
        }
        slot.next = self.free;
        self.free = at;
        (&mut slot.packet, slot.stamp)
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
            pool.push(list, &test_packet(seq, 100), Time::from_ps(u64::from(seq)));
        }
        assert_eq!(pool.iter(&a).map(|p| p.seq).collect::<Vec<_>>(), [0, 2]);
        let (first, stamp) = pool.pop(&mut a);
        assert_eq!((first.seq, stamp.as_ps()), (0, 0));
        pool.push(&mut b, &test_packet(9, 100), Time::ZERO);
        assert_eq!(pool.slots.len(), 4, "the freed slot was used again");
        let mut next = || pool.pop(&mut b).0.seq;
        assert_eq!([next(), next(), next()], [1, 3, 9]);
        assert_eq!(pool.front(&a).map(|p| p.seq), Some(2));
        assert!(b.is_empty());
        pool.push(&mut b, &test_packet(5, 1), Time::ZERO);
        assert_eq!(pool.pop(&mut b).0.seq, 5);
    }
}
