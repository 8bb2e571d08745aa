//! What packets carry beyond their 32 bytes: control messages and telemetry, in side pools.

use weir_cc::{IntHop, MAX_HOPS};
use weir_core::prefetch::prefetch;
use weir_core::{ControlMessage, Packet, PacketKind, Reason};

/// What the switches on the way wrote into a packet, and what hosts added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntStack {
    pub(crate) notes: Notes,
    pub(crate) hops: [IntHop; MAX_HOPS],
}

/// What a packet carries besides hops. One for each message in flight: half a cache line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notes {
    /// How many hops there are: one more than fit if there were more.
    pub(crate) len: u8,
    /// Whether it ends a message, which has the fields of a [`MessageEnd`].
    ends: bool,
    /// The packet that it answers, or [`Notes::NONE`].
    answers: u32,
    job: u32,
    from: u32,
    to: u32,
    tag: u64,
}

const _: () = assert!(size_of::<Notes>() == 32, "half a cache line");

/// The message of a job that a packet ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEnd {
    /// The job, by its place in the plan.
    pub job: u32,
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// The tag of the message.
    pub tag: u64,
}

impl Notes {
    /// No packet: numbers are below.
    const NONE: u32 = u32::MAX;
    /// Nothing.
    pub(crate) const EMPTY: Self =
        Self { len: 0, ends: false, answers: Self::NONE, job: 0, from: 0, to: 0, tag: 0 };

    /// Selective repeat: the packet an ACK or NACK answers.
    #[inline]
    pub(crate) fn answers(&self) -> Option<u32> {
        (self.answers != Self::NONE).then_some(self.answers)
    }

    /// It answers a packet.
    #[inline]
    pub(crate) fn answer(&mut self, seq: u32) {
        self.answers = seq;
    }

    /// What the last packet of a message of a job ends.
    #[inline]
    pub(crate) fn ends(&self) -> Option<MessageEnd> {
        let Self { job, from, to, tag, .. } = *self;
        self.ends.then_some(MessageEnd { job, from, to, tag })
    }

    /// It ends a message, or none.
    #[inline]
    pub(crate) fn set_ends(&mut self, end: Option<MessageEnd>) {
        self.ends = end.is_some();
        if let Some(MessageEnd { job, from, to, tag }) = end {
            (self.job, self.from, self.to, self.tag) = (job, from, to, tag);
        }
    }
}

/// The hops of an entry, from the beginning of a cache line on.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Hops([IntHop; MAX_HOPS]);

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
    /// See [`Notes::answers`].
    pub(crate) answers: Option<u32>,
}

/// Telemetry of all packets that carry some: a slab whose entries are used again without being
/// written anew, since hops beyond the length mean nothing.
///
/// An entry with hops is eleven times as large as one without. So hops stand apart, and there are
/// none where no switch writes any: the end of a message and the answer of a receiver have none.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    notes: Vec<Notes>,
    /// By entry, as far as there is an entry that has ever had hops.
    hops: Vec<Hops>,
    free: Vec<u32>,
}

impl Stacks {
    /// The length of an entry that is free.
    const FREE: u8 = u8::MAX;

    /// An entry without hops.
    pub(crate) fn start(&mut self) -> u32 {
        let Some(at) = self.free.pop() else {
            self.notes.push(Notes::EMPTY);
            return (self.notes.len() - 1) as u32;
        };
        self.notes[at as usize] = Notes::EMPTY;
        at
    }

    pub(crate) fn put(&mut self, stack: IntStack) -> u32 {
        let at = self.start();
        self.notes[at as usize] = stack.notes;
        if stack.notes.len > 0 {
            *self.hops_mut(at) = stack.hops;
        }
        at
    }

    #[inline]
    fn hops_mut(&mut self, at: u32) -> &mut [IntHop; MAX_HOPS] {
        let at = at as usize;
        if at >= self.hops.len() {
            self.more_hops(at);
        }
        &mut self.hops[at].0
    }

    #[cold]
    fn more_hops(&mut self, at: usize) {
        self.hops.resize(at + 1, Hops([IntHop::default(); MAX_HOPS]));
    }

    /// Adds a hop. If the path is longer than the stack, the telemetry is discarded: what is taken
    /// has no hops.
    ///
    /// # Panics
    /// See [`Stacks::take`].
    #[inline]
    pub(crate) fn push(&mut self, at: u32, hop: IntHop) {
        let len = usize::from(self.get_mut(at).len);
        if let Some(slot) = self.hops_mut(at).get_mut(len) {
            *slot = hop;
        }
        self.get_mut(at).len = (len + 1).min(MAX_HOPS + 1) as u8;
    }

    /// The entry is free from now on, and stays readable until it is used again.
    ///
    /// # Panics
    /// When there is nothing at `at`: a packet was used after it was consumed.
    pub(crate) fn take(&mut self, at: u32) -> TakenStack<'_> {
        self.free.push(at);
        let notes = self.get_mut(at);
        let answers = notes.answers();
        let len = std::mem::replace(&mut notes.len, Self::FREE);
        let hops = self.hops.get(at as usize).and_then(|hops| hops.0.get(..usize::from(len)));
        TakenStack { hops: hops.unwrap_or(&[]), answers }
    }

    /// Takes an entry out of this pool for another one.
    pub(crate) fn remove(&mut self, at: u32) -> IntStack {
        let notes = *self.get_mut(at);
        let hops = self.hops.get(at as usize).map(|hops| hops.0);
        self.take(at);
        IntStack { notes, hops: hops.unwrap_or_default() }
    }

    /// # Panics
    /// See [`Stacks::take`].
    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> &mut Notes {
        let notes = &mut self.notes[at as usize];
        assert_ne!(notes.len, Self::FREE, "a packet's telemetry is there until taken");
        notes
    }

    /// Prefetches what a switch reads of an entry.
    #[inline]
    pub(crate) fn prefetch(&self, at: u32) {
        if let Some(notes) = self.notes.get(at as usize) {
            prefetch(&notes.len);
        }
        if let Some(hops) = self.hops.get(at as usize) {
            prefetch(&hops.0[0]);
        }
    }

    /// Prefetches what a host reads of an entry whose packet has crossed a network of three tiers.
    #[inline]
    pub(crate) fn prefetch_hops(&self, at: u32) {
        const HOPS: usize = 6;
        if let Some(hops) = self.hops.get(at as usize) {
            prefetch(&hops.0[..HOPS]);
        }
    }

    /// How many are in use.
    pub(crate) fn len(&self) -> usize {
        self.notes.len() - self.free.len()
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
