//! What packets carry beyond their 32 bytes: control messages and telemetry, in side pools.

use weir_cc::{IntHop, MAX_HOPS};
use weir_core::prefetch::prefetch;
use weir_core::{ControlMessage, Packet, PacketKind, Reason};

/// What the switches on the way wrote into a packet, and what its receiver added. What a switch
/// reads is in the first cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct IntStack {
    /// How many hops there are: one more than fit if there were more.
    pub(crate) len: u8,
    /// Selective repeat: the packet an ACK or NACK answers.
    pub(crate) answers: Option<u32>,
    pub(crate) hops: [IntHop; MAX_HOPS],
    /// The last packet of a message of a job says what it ends.
    pub(crate) envelope: Option<Envelope>,
}

/// Which message of a job a packet ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The job, by its place in the plan.
    pub(crate) job: u32,
    /// The rank that sends.
    pub(crate) from: u32,
    /// The rank that receives.
    pub(crate) to: u32,
    pub(crate) tag: u64,
}

impl IntStack {
    pub(crate) fn new() -> Self {
        Self { hops: [IntHop::default(); MAX_HOPS], len: 0, answers: None, envelope: None }
    }

    /// Adds a hop. If the path is longer than the stack, the telemetry is discarded: what is taken
    /// has no hops.
    pub(crate) fn push(&mut self, hop: IntHop) {
        if let Some(slot) = self.hops.get_mut(usize::from(self.len)) {
            *slot = hop;
            self.len += 1;
        } else {
            self.len = MAX_HOPS as u8 + 1;
        }
    }
}

/// A slab with a free list.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn put(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.items[at as usize] = Some(item);
                at
            }
            None => {
                self.items.push(Some(item));
                (self.items.len() - 1) as u32
            }
        }
    }

    /// # Panics
    /// When there is nothing at `at`: a packet was used after it was consumed.
    pub(crate) fn take(&mut self, at: u32) -> T {
        self.free.push(at);
        self.items[at as usize].take().expect("a packet's extra is taken once")
    }

    /// # Panics
    /// See [`Slab::take`].
    pub(crate) fn get(&self, at: u32) -> &T {
        self.items[at as usize].as_ref().expect("a packet's extra is there until taken")
    }

    /// How many are in use.
    pub(crate) fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }
}

/// What a packet brought that is consumed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakenStack<'a> {
    /// Nothing when there were more than fit.
    pub(crate) hops: &'a [IntHop],
    /// See [`IntStack::answers`].
    pub(crate) answers: Option<u32>,
}

/// Telemetry of all packets that carry some: a slab whose entries are used again without being
/// written anew, since hops beyond the length mean nothing.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    items: Vec<IntStack>,
    free: Vec<u32>,
}

impl Stacks {
    /// The length of an entry that is free.
    const FREE: u8 = u8::MAX;

    /// An entry without hops.
    pub(crate) fn start(&mut self) -> u32 {
        let Some(at) = self.free.pop() else {
            self.items.push(IntStack::new());
            return (self.items.len() - 1) as u32;
        };
        let stack = &mut self.items[at as usize];
        (stack.len, stack.answers, stack.envelope) = (0, None, None);
        at
    }

    pub(crate) fn put(&mut self, stack: IntStack) -> u32 {
        let at = self.start();
        self.items[at as usize] = stack;
        at
    }

    /// The entry is free from now on, and stays readable until it is used again.
    ///
    /// # Panics
    /// When there is nothing at `at`: a packet was used after it was consumed.
    pub(crate) fn take(&mut self, at: u32) -> TakenStack<'_> {
        self.free.push(at);
        let stack = self.get_mut(at);
        let len = std::mem::replace(&mut stack.len, Self::FREE);
        let hops = stack.hops.get(..usize::from(len)).unwrap_or(&[]);
        TakenStack { hops, answers: stack.answers }
    }

    /// Takes an entry out of this pool for another one.
    pub(crate) fn remove(&mut self, at: u32) -> IntStack {
        let stack = *self.get_mut(at);
        self.take(at);
        stack
    }

    /// # Panics
    /// See [`Stacks::take`].
    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> &mut IntStack {
        let stack = &mut self.items[at as usize];
        assert_ne!(stack.len, Self::FREE, "a packet's telemetry is there until taken");
        stack
    }

    /// Prefetches what a switch reads of an entry.
    #[inline]
    pub(crate) fn prefetch(&self, at: u32) {
        if let Some(stack) = self.items.get(at as usize) {
            prefetch(&stack.len);
        }
    }

    /// Prefetches what a host reads of an entry whose packet has crossed a network of three tiers.
    #[inline]
    pub(crate) fn prefetch_hops(&self, at: u32) {
        const HOPS: usize = 6;
        if let Some(stack) = self.items.get(at as usize) {
            prefetch(&stack.hops[..HOPS]);
        }
    }

    /// How many are in use.
    pub(crate) fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }
}

/// What a control frame carries, and why it was sent. The reason is known at both ends of the wire,
/// but takes no bytes on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) message: ControlMessage,
    pub(crate) reason: Reason,
}

/// What packets carry beyond their 32 bytes.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    pub(crate) messages: Slab<Said>,
    pub(crate) telemetry: Stacks,
}

impl Extras {
    /// How many packets carry something.
    pub(crate) fn len(&self) -> usize {
        self.messages.len() + self.telemetry.len()
    }

    /// Forgets what a dropped packet carried.
    pub(crate) fn discard(&mut self, packet: &Packet) {
        if packet.extra == Packet::NO_EXTRA {
            return;
        }
        if packet.kind == PacketKind::Control {
            self.messages.take(packet.extra);
        } else {
            self.telemetry.take(packet.extra);
        }
    }
}
