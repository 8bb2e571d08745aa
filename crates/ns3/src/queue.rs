//! The event queue: events in order of time, and of insertion within one nanosecond.
//!
//! Nearly all events lie within a few microseconds, so the queue is a wheel with one slot per
//! nanosecond. A slot holds one event itself and further ones in small chunks that come from a
//! pool and return to it at once, which keeps the memory in use as small as the number of pending
//! events. Appending keeps insertion order by itself. The events of the present nanosecond are
//! taken out of their slot together; what is inserted for the same nanosecond joins them at the
//! end. What lies beyond the wheel waits in a heap and moves into the wheel when its nanosecond
//! comes into reach, before anything can be inserted there directly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use weir_cc::TimerKind;

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A packet reaches the port it was sent to.
    Receive(u32),
    /// A port has put its packet on the wire.
    TransmitDone(u32),
    /// A NIC looks again for something to send, unless `generation` is out of date.
    Wake { generation: u16, nic: u32 },
    /// A timer of a flow's congestion control, unless `generation` is out of date.
    Timer { kind: TimerKind, generation: u16, flow: u32 },
    /// The reader of flows looks for the ones that start now.
    ReadFlows,
    /// First of two steps in which a flow starts.
    Announce(u32),
    /// Second step: the flow exists.
    Start(u32),
    /// Sample of all queues.
    Sample,
    /// A link fails.
    LinkDown,
    /// The end.
    Stop,
}

const CHUNK: usize = 7;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Chunk {
    events: [Event; CHUNK],
    next: u32,
    len: u32,
}

const _: () = assert!(size_of::<Chunk>() == 64, "a chunk is a cache line");

/// The events of one nanosecond; empty unless its bit is set.
#[derive(Clone, Copy)]
struct Slot {
    first: Event,
    /// First and last chunk of further events.
    head: u32,
    tail: u32,
}

/// See the module's description.
pub(crate) struct EventQueue {
    now: u64,
    /// Events of the present nanosecond, the next one at `position`.
    present: Vec<Event>,
    position: usize,
    slots: Vec<Slot>,
    /// One bit per slot that is not empty.
    occupied: Vec<u64>,
    mask: u64,
    chunks: Vec<Chunk>,
    free: u32,
    far: BinaryHeap<Reverse<(u64, u64, Event)>>,
    far_inserted: u64,
    /// The earliest time in `far`.
    far_first: u64,
}

impl EventQueue {
    /// A queue whose wheel spans at least `reach` nanoseconds (within reason).
    pub(crate) fn new(reach: u64) -> Self {
        let slots = reach.clamp(1024, 1 << 17).next_power_of_two();
        let empty = Slot { first: Event::Stop, head: NONE, tail: NONE };
        Self {
            now: 0,
            present: Vec::new(),
            position: 0,
            slots: vec![empty; slots as usize],
            occupied: vec![0; (slots / 64) as usize],
            mask: slots - 1,
            chunks: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            far_inserted: 0,
            far_first: u64::MAX,
        }
    }

    /// The time of the event that was taken last.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Inserts an event at `time`, which is not in the past.
    #[inline]
    pub(crate) fn insert(&mut self, time: u64, event: Event) {
        debug_assert!(time >= self.now, "an event in the past");
        let ahead = time - self.now;
        if ahead == 0 {
            self.present.push(event);
        } else if ahead <= self.mask {
            self.append(time, event);
        } else {
            self.insert_far(time, event);
        }
    }

    #[cold]
    fn insert_far(&mut self, time: u64, event: Event) {
        self.far_inserted += 1;
        self.far.push(Reverse((time, self.far_inserted, event)));
        self.far_first = self.far_first.min(time);
    }

    /// Adds an event to its slot.
    #[inline]
    fn append(&mut self, time: u64, event: Event) {
        let i = (time & self.mask) as usize;
        let word = &mut self.occupied[i / 64];
        let bit = 1 << (i % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.slots[i].first = event;
        } else {
            self.append_further(i, event);
        }
    }

    fn append_further(&mut self, i: usize, event: Event) {
        let tail = self.slots[i].tail;
        if tail != NONE {
            let chunk = &mut self.chunks[tail as usize];
            if (chunk.len as usize) < CHUNK {
                chunk.events[chunk.len as usize] = event;
                chunk.len += 1;
                return;
            }
        }
        let new = self.chunk(event);
        if tail == NONE {
            self.slots[i].head = new;
        } else {
            self.chunks[tail as usize].next = new;
        }
        self.slots[i].tail = new;
    }

    /// A chunk with one event.
    #[inline]
    fn chunk(&mut self, event: Event) -> u32 {
        if self.free == NONE {
            self.chunks.push(Chunk { events: [event; CHUNK], next: NONE, len: 1 });
            return (self.chunks.len() - 1) as u32;
        }
        let i = self.free;
        let chunk = &mut self.chunks[i as usize];
        self.free = chunk.next;
        chunk.events[0] = event;
        chunk.next = NONE;
        chunk.len = 1;
        i
    }

    /// Takes the next event out and moves time to it.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        loop {
            if let Some(&event) = self.present.get(self.position) {
                self.position += 1;
                return Some(event);
            }
            self.advance()?;
        }
    }

    /// Forgets all events: there is nothing left to take out, and time stays where it is.
    #[cold]
    pub(crate) fn abandon(&mut self) {
        self.present.clear();
        self.position = 0;
        self.occupied.fill(0);
        self.far.clear();
        self.far_first = u64::MAX;
    }

    /// Moves time to the next nanosecond that has events, and takes them out.
    #[inline]
    fn advance(&mut self) -> Option<()> {
        self.now = match self.next_occupied() {
            Some(near) => near,
            None if self.far_first != u64::MAX => self.far_first,
            None => return None,
        };
        if self.far_first - self.now <= self.mask {
            self.bring_in();
        }
        self.present.clear();
        self.position = 0;
        let i = (self.now & self.mask) as usize;
        self.occupied[i / 64] &= !(1 << (i % 64));
        let slot = &mut self.slots[i];
        self.present.push(slot.first);
        let head = std::mem::replace(&mut slot.head, NONE);
        slot.tail = NONE;
        if head != NONE {
            self.take_chunks(head);
        }
        Some(())
    }

    fn take_chunks(&mut self, mut at: u32) {
        while at != NONE {
            let chunk = &mut self.chunks[at as usize];
            self.present.extend_from_slice(&chunk.events[..chunk.len as usize]);
            let next = std::mem::replace(&mut chunk.next, self.free);
            self.free = at;
            at = next;
        }
    }

    /// What the wheel reaches by now moves in, oldest first; everything inserted directly from
    /// here on is younger.
    #[cold]
    fn bring_in(&mut self) {
        self.far_first = u64::MAX;
        while let Some(&Reverse((time, _, event))) = self.far.peek() {
            if time - self.now > self.mask {
                self.far_first = time;
                break;
            }
            self.far.pop();
            self.append(time, event);
        }
    }

    /// The time of the first slot after the present one that is not empty.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        let start = self.now & self.mask;
        let first = (start / 64) as usize;
        // The present slot is empty: its own bit is not set.
        let ahead = self.occupied[first] >> (start % 64);
        if ahead != 0 {
            return Some(self.now + u64::from(ahead.trailing_zeros()));
        }
        self.next_occupied_word(first)
    }

    fn next_occupied_word(&self, first: usize) -> Option<u64> {
        let (before, after) = self.occupied.split_at(first);
        let found = |from: usize, words: &[u64]| {
            words.iter().position(|&w| w != 0).map(|i| (from + i, words[i]))
        };
        // Bits of the first word that lie behind belong to the end of the round.
        found(first + 1, &after[1..])
            .or_else(|| found(0, before))
            .or_else(|| found(first, &after[..1]))
            .map(|(word, bits)| self.time_of(word, bits))
    }

    fn time_of(&self, word: usize, bits: u64) -> u64 {
        let slot = word as u64 * 64 + u64::from(bits.trailing_zeros());
        self.now + (slot.wrapping_sub(self.now) & self.mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn same_time_events_come_in_insertion_order_across_wheel_and_heap() {
        let mut q = EventQueue::new(0);
        q.insert(5000, Event::Receive(1)); // beyond the wheel
        q.insert(4000, Event::Receive(0));
        assert_eq!(q.pop(), Some(Event::Receive(0)));
        assert_eq!(q.now(), 4000);
        q.insert(5000, Event::Receive(2)); // now within it
        assert_eq!(q.pop(), Some(Event::Receive(1)));
        q.insert(5000, Event::Receive(3));
        assert_eq!(q.pop(), Some(Event::Receive(2)));
        assert_eq!(q.pop(), Some(Event::Receive(3)));
        assert_eq!(q.pop(), None);
        assert_eq!(q.now(), 5000);
    }

    #[test]
    fn nothing_comes_out_of_an_abandoned_queue() {
        let mut q = EventQueue::new(0);
        for time in [10, 10, 10, 12, 1_000_000] {
            q.insert(time, Event::Receive(0));
        }
        assert!(q.pop().is_some());
        q.abandon();
        assert_eq!((q.pop(), q.now()), (None, 10));
    }

    proptest! {
        /// The same random script on the queue and on a sorted list.
        #[test]
        fn it_behaves_like_a_sorted_list(
            script in prop::collection::vec(
                (prop_oneof![0..3u64, 0..1500u64, 0..100_000u64], 0usize..3), 1..400)
        ) {
            let mut q = EventQueue::new(0);
            let mut list: Vec<(u64, u32)> = Vec::new();
            let pop = |q: &mut EventQueue, list: &mut Vec<(u64, u32)>| {
                let first = (0..list.len()).min_by_key(|&i| list[i]);
                let expected = first.map(|i| list.remove(i));
                let got = q.pop().map(|e| match e {
                    Event::Receive(n) => (q.now(), n),
                    other => panic!("{other:?}"),
                });
                assert_eq!(got, expected);
                got.is_some()
            };
            for (n, (delay, pops)) in script.into_iter().enumerate() {
                let time = q.now() + delay;
                q.insert(time, Event::Receive(n as u32));
                list.push((time, n as u32));
                for _ in 0..pops {
                    pop(&mut q, &mut list);
                }
            }
            while pop(&mut q, &mut list) {}
        }
    }
}
