//! Many first-in first-out queues of packets in one common store; each packet has a time.
//!
//! A queue ([`Chain`]) is a linked list of blocks, called links, of eight packets each. The free
//! list of the store is last-in first-out, so a packet is usually written to memory that was read a
//! moment ago and is still in a cache. Wires and the queues of a switch are chains.

use weir_core::prefetch::prefetch;
use weir_core::{Packet, Time};

/// How many packets a link holds; a power of two. With their times they take five cache lines.
const LINK: u32 = 8;
/// Stands for "no packet" and "no link". As a position it is the last of a link, so that code which
/// looks for room behind it finds none.
const NONE: u32 = u32::MAX;

/// A first-in first-out queue of packets in a [`Store`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u32,
    /// [`NONE`] when there is nothing, as is `first`.
    last: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

impl Chain {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.last == NONE
    }

    /// Whether the next packet needs another link: all of them are full, or there is none.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.last.wrapping_add(1).is_multiple_of(LINK)
    }
}

/// The panic message of look-ups on the path of every packet. Indexing with `[]` would keep index
/// and length in registers for its message, which costs each of these look-ups an instruction.
pub(crate) const NO_LINK: &str = "the links of a chain are in its store";

/// The link a place is in.
#[inline(always)]
fn link_of(at: u32) -> u32 {
    at / LINK
}

/// A packet and its time.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    packet: Packet,
}

/// The packet taken from the head of a chain. It stays readable in the store until another packet
/// is written to its place.
#[derive(Debug, PartialEq)]
pub(crate) struct Taken<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) time: Time,
    /// The time of the packet that is at the head now.
    pub(crate) next: Option<Time>,
}

/// Where the packets of all chains are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    /// All links, one after the other, and one unused place at the end, so that `place + 1` is
    /// always within bounds.
    places: Vec<Entry>,
    ends: Ends,
}

/// The lists that links are in.
#[derive(Clone, Debug)]
struct Ends {
    /// By link: the next link of its chain, or of the free list.
    next: Vec<u32>,
    free: u32,
}

impl Default for Ends {
    fn default() -> Self {
        Self { next: Vec::new(), free: NONE }
    }
}

impl Ends {
    /// Appends a link from the free list, which is not empty, to a chain; returns its first place.
    #[inline(always)]
    fn extend(&mut self, chain: &mut Chain) {
        let link = self.free;
        let next = self.next.get_mut(link as usize).expect(NO_LINK);
        self.free = std::mem::replace(next, NONE);
        if chain.is_empty() {
            chain.first = link * LINK;
        } else {
            *self.next.get_mut(link_of(chain.last) as usize).expect(NO_LINK) = link;
        }
        chain.last = link * LINK;
    }

    /// The packet being removed is the last of its link, or of the chain: returns the link to the
    /// free list, moves the head to the next link, if any, and returns the time of the packet
    /// there.
    #[inline(always)]
    fn leave(&mut self, chain: &mut Chain, places: &[Entry]) -> Option<Time> {
        let link = link_of(chain.first);
        let next = self.next.get_mut(link as usize).expect(NO_LINK);
        let behind = std::mem::replace(next, self.free);
        self.free = link;
        if chain.first == chain.last {
            *chain = Chain::default();
            return None;
        }
        chain.first = behind * LINK;
        // the link after next: it is needed only when the eight packets of this one are gone
        let next = *self.next.get(behind as usize).expect(NO_LINK);
        if let Some(link) = link_at(places, next) {
            prefetch(link);
        }
        Some(places.get(chain.first as usize).expect(NO_LINK).time)
    }
}

/// The places of a link, if there is such a link.
#[inline(always)]
fn link_at(places: &[Entry], link: u32) -> Option<&[Entry; LINK as usize]> {
    places.get((link as usize) * LINK as usize..)?.first_chunk()
}

impl Store {
    /// With room for so many links: a store that grows beyond its room is copied. Systems that
    /// commit memory when it is touched spend none on room that is not used.
    pub(crate) fn with_room(links: usize) -> Self {
        Self {
            places: Vec::with_capacity(links * LINK as usize + 1),
            ends: Ends { next: Vec::with_capacity(links), free: NONE },
        }
    }

    /// Appends a packet; returns it as it stands in the store.
    #[inline(always)]
    pub(crate) fn push(&mut self, chain: &mut Chain, time: Time, packet: &Packet) -> &mut Packet {
        if chain.is_full() {
            if self.ends.free == NONE {
                self.grow(packet);
            }
            self.ends.extend(chain);
        } else {
            chain.last += 1;
        }
        let place = self.places.get_mut(chain.last as usize).expect(NO_LINK);
        *place = Entry { time, packet: *packet };
        &mut place.packet
    }

    /// Allocates a link, filled with `filler`.
    #[cold]
    fn grow(&mut self, filler: &Packet) {
        let link = self.ends.next.len() as u32;
        assert!(link < NONE / LINK, "fewer than 2^32 packets are in one store");
        let places = (link as usize + 1) * LINK as usize + 1;
        self.places.resize(places, Entry { time: Time::ZERO, packet: *filler });
        self.ends.next.push(self.ends.free);
        self.ends.free = link;
    }

    /// Prefetches the first packets.
    #[inline(always)]
    pub(crate) fn prefetch(&self, chain: &Chain) {
        if !chain.is_empty()
            && let Some(link) = link_at(&self.places, link_of(chain.first))
        {
            prefetch(link);
        }
    }

    /// Prefetches the place where the next packet will be written.
    pub(crate) fn prefetch_end(&self, chain: &Chain) {
        if !chain.is_full()
            && let Some(place) = self.places.get(chain.last as usize + 1)
        {
            prefetch(place);
            // its end may be in another cache line
            prefetch(&place.packet.local_tag);
        }
    }

    /// The packet that came first, and its time.
    #[inline]
    pub(crate) fn front(&self, chain: &Chain) -> Option<(Time, &Packet)> {
        if chain.is_empty() { None } else { Some(self.at(chain.first)) }
    }

    /// The packet behind the one that came first.
    #[inline]
    pub(crate) fn second(&self, chain: &Chain) -> Option<&Packet> {
        let Chain { first, last } = *chain;
        if first == last {
            return None;
        }
        let place = if (first + 1).is_multiple_of(LINK) {
            self.ends.next.get(link_of(first) as usize)? * LINK
        } else {
            first + 1
        };
        Some(&self.places.get(place as usize)?.packet)
    }

    #[inline(always)]
    fn at(&self, at: u32) -> (Time, &Packet) {
        let Entry { time, packet } = &self.places[at as usize];
        (*time, packet)
    }

    /// Takes out the packet that came first.
    ///
    /// # Panics
    /// When there is none.
    #[inline(always)]
    pub(crate) fn pop(&mut self, chain: &mut Chain) -> Taken<'_> {
        let at = chain.first;
        let Self { places, ends } = self;
        let places = &**places;
        let Some([Entry { time, packet }, behind]) = places.get(at as usize..at as usize + 2)
        else {
            panic!("{NO_LINK}");
        };
        let next = if at != chain.last && !(at + 1).is_multiple_of(LINK) {
            chain.first = at + 1;
            Some(behind.time)
        } else {
            ends.leave(chain, places)
        };
        Taken { packet, time: *time, next }
    }

    /// The packets of a chain, first in first.
    pub(crate) fn iter<'a>(&'a self, chain: &Chain) -> impl Iterator<Item = &'a Packet> + use<'a> {
        let (mut at, last) = (chain.first, chain.last);
        let mut done = chain.is_empty();
        let links = std::iter::from_fn(move || {
            if done {
                return None;
            }
            let link = link_of(at);
            done = link == link_of(last);
            let end = if done { last + 1 } else { (link + 1) * LINK };
            let places = &self.places[at as usize..end as usize];
            at = self.ends.next[link as usize].wrapping_mul(LINK);
            Some(places.iter().map(|place| &place.packet))
        });
        links.flatten()
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
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn does_what_deques_do(
            ops in prop::collection::vec(
                (0usize..3, prop::option::weighted(0.6, any::<u8>())),
                0..300,
            ),
        ) {
            let mut store = Store::default();
            let mut chains = [Chain::default(); 3];
            let mut deques = [const { VecDeque::new() }; 3];
            for (i, op) in ops {
                let (chain, deque) = (&mut chains[i], &mut deques[i]);
                match op {
                    Some(value) => {
                        let time = Time::from_ps(u64::from(value));
                        let packet = test_packet(value.into(), 64);
                        prop_assert!(chain.is_full() || !deque.is_empty());
                        prop_assert_eq!(*store.push(chain, time, &packet), packet);
                        deque.push_back((time, packet));
                    }
                    None => {
                        prop_assert_eq!(store.front(chain), deque.front().map(|(t, p)| (*t, p)));
                        if let Some((time, packet)) = deque.pop_front() {
                            let next = deque.front().map(|(t, _)| *t);
                            prop_assert_eq!(
                                store.pop(chain),
                                Taken { packet: &packet, time, next }
                            );
                        }
                    }
                }
                for (chain, deque) in chains.iter().zip(&deques) {
                    prop_assert_eq!(chain.is_empty(), deque.is_empty());
                    prop_assert_eq!(store.second(chain), deque.get(1).map(|(_, p)| p));
                    prop_assert!(store.iter(chain).eq(deque.iter().map(|(_, p)| p)));
                }
            }
        }
    }

    #[test]
    fn what_came_back_last_is_used_first() {
        let mut store = Store::default();
        let push = |store: &mut Store, chain: &mut Chain, seq| {
            store.push(chain, Time::ZERO, &test_packet(seq, 64));
            (link_of(chain.last), store.ends.next.len())
        };
        let [mut a, mut b, mut c] = [Chain::default(); 3];
        push(&mut store, &mut a, 1);
        push(&mut store, &mut b, 2);
        store.pop(&mut a);
        store.pop(&mut b);
        assert_eq!(push(&mut store, &mut c, 3), (1, 2));
        // eight fit a link; the ninth takes the link that was freed last
        assert_eq!((4..12).map(|seq| push(&mut store, &mut c, seq)).last(), Some((0, 2)));
        assert!(store.iter(&c).map(|p| p.seq).eq(3..12));
    }
}
