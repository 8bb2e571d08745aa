//! Packets, their pool, and the queues they wait in.

/// No packet.
pub(super) const NONE: u32 = u32::MAX;

/// The most switches a telemetry stack describes.
pub(super) const STACK: usize = 5;

/// What a packet is. Pause and resume frames name the queue they are about in `seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Data,
    Ack,
    Nack,
    Pause,
    Resume,
}

/// A switch marked this packet.
pub(super) const ECN: u8 = 1;
/// The data packet that this one acknowledges was marked.
pub(super) const CNP: u8 = 2;

/// A packet on a wire or in a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// The one behind it in its queue.
    pub(super) next: u32,
    pub(super) flow: u32,
    /// Data: its first byte. ACK: the next byte expected.
    pub(super) seq: u64,
    /// When the data packet was built; echoed by its ACK.
    pub(super) stamp: u64,
    /// Bytes on the wire.
    pub(super) size: u32,
    /// The port it is on its way to, or came in by.
    pub(super) port: u32,
    /// Number of the host it is for in the routes. Pause frames: the port that sent it.
    pub(super) dst: u32,
    pub(super) kind: Kind,
    /// Its queue in switches.
    pub(super) queue: u8,
    /// [`ECN`] and [`CNP`].
    pub(super) flags: u8,
    /// Switches that wrote into its telemetry stack.
    pub(super) hops: u8,
}

/// All packets there are, and their telemetry where it is used.
pub(super) struct Pool {
    packets: Vec<Packet>,
    stacks: Vec<[u64; STACK]>,
    telemetry: bool,
    free: u32,
}

impl Pool {
    pub(super) fn new(telemetry: bool) -> Self {
        Self { packets: Vec::new(), stacks: Vec::new(), telemetry, free: NONE }
    }

    /// Room for a packet, filled with it.
    #[inline]
    pub(super) fn add(&mut self, packet: Packet) -> u32 {
        if self.free == NONE {
            self.packets.push(packet);
            if self.telemetry {
                self.stacks.push([0; STACK]);
            }
            return (self.packets.len() - 1) as u32;
        }
        let i = self.free;
        let slot = &mut self.packets[i as usize];
        self.free = slot.next;
        *slot = packet;
        if self.telemetry {
            self.stacks[i as usize] = [0; STACK];
        }
        i
    }

    #[inline]
    pub(super) fn remove(&mut self, i: u32) {
        self.packets[i as usize].next = self.free;
        self.free = i;
    }

    #[inline]
    pub(super) fn stack(&self, i: u32) -> &[u64; STACK] {
        &self.stacks[i as usize]
    }

    #[inline]
    pub(super) fn stack_mut(&mut self, i: u32) -> &mut [u64; STACK] {
        &mut self.stacks[i as usize]
    }
}

impl std::ops::Index<u32> for Pool {
    type Output = Packet;
    #[inline]
    fn index(&self, i: u32) -> &Packet {
        &self.packets[i as usize]
    }
}

impl std::ops::IndexMut<u32> for Pool {
    #[inline]
    fn index_mut(&mut self, i: u32) -> &mut Packet {
        &mut self.packets[i as usize]
    }
}

/// A queue of packets, linked through the pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fifo {
    head: u32,
    tail: u32,
}

impl Fifo {
    pub(super) const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.head == NONE
    }

    #[inline]
    pub(super) fn push(&mut self, pool: &mut Pool, i: u32) {
        pool[i].next = NONE;
        if self.head == NONE {
            self.head = i;
        } else {
            pool[self.tail].next = i;
        }
        self.tail = i;
    }

    /// Takes the first packet out; there must be one.
    #[inline]
    pub(super) fn pop(&mut self, pool: &Pool) -> u32 {
        let i = self.head;
        self.head = pool[i].next;
        i
    }

    /// Bytes in the queue, counted packet by packet (traces only).
    pub(super) fn bytes(&self, pool: &Pool) -> u32 {
        let mut at = self.head;
        let mut sum = 0u32;
        while at != NONE {
            sum = sum.wrapping_add(pool[at].size);
            at = pool[at].next;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(size: u32) -> Packet {
        Packet {
            next: NONE,
            flow: 0,
            seq: 0,
            stamp: 0,
            size,
            port: 0,
            dst: 0,
            kind: Kind::Data,
            queue: 3,
            flags: 0,
            hops: 0,
        }
    }

    #[test]
    fn first_in_first_out_and_slots_are_used_again() {
        let mut pool = Pool::new(true);
        let mut q = Fifo::EMPTY;
        let ids: Vec<_> = (1..=3).map(|n| pool.add(packet(n))).collect();
        ids.iter().for_each(|&i| q.push(&mut pool, i));
        assert_eq!(q.bytes(&pool), 6);
        assert_eq!(q.pop(&pool), ids[0]);
        pool.remove(ids[0]);
        assert_eq!(pool.add(packet(9)), ids[0]);
        q.push(&mut pool, ids[0]);
        assert_eq!([q.pop(&pool), q.pop(&pool), q.pop(&pool)], [ids[1], ids[2], ids[0]]);
        assert!(q.is_empty());
    }
}
