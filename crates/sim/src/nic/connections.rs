//! The queue pairs of a rank, by peer and channel.

use rustc_hash::FxHashMap;

/// A peer and a channel.
type Key = (u32, u32);

/// The queue pair for the next message to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The one in this slot.
    Open(u32),
    /// The one whose turn this is, and which is to be opened.
    New(u32),
}

/// The queue pairs of a rank. Most ranks send to one peer only, so the first needs no
/// table, which most ranks never have.
#[derive(Debug, Default)]
pub(super) struct Connections {
    first: Option<(Key, Connection)>,
    others: Option<Box<FxHashMap<Key, Connection>>>,
}

/// The queue pairs towards a peer.
#[derive(Debug)]
struct Connection {
    /// The slots of those that are open; `CLOSED` for the others.
    slots: Box<[u32]>,
    /// Which of them takes the next message.
    next: u32,
}

/// No slot.
const CLOSED: u32 = u32::MAX;

impl Connection {
    /// With so many queue pairs, none of them open.
    fn new(pairs: u32) -> Self {
        Self { slots: vec![CLOSED; pairs as usize].into(), next: 0 }
    }

    /// The queue pair whose turn it is.
    #[inline]
    fn take_turn(&mut self) -> Way {
        let turn = self.next;
        let next = turn + 1;
        self.next = if next as usize == self.slots.len() { 0 } else { next };
        match self.slots[turn as usize] {
            CLOSED => Way::New(turn),
            slot => Way::Open(slot),
        }
    }

    /// Forgets the queue pairs that `closes` names; returns whether others are left.
    fn close(&mut self, closes: &mut impl FnMut(u32) -> bool) -> bool {
        for slot in &mut self.slots {
            if *slot != CLOSED && closes(*slot) {
                *slot = CLOSED;
            }
        }
        self.slots.iter().any(|slot| *slot != CLOSED)
    }
}

impl Connections {
    /// Whether no queue pair is open.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.others.is_none()
    }

    /// The queue pair for the next message to a peer; there are `pairs` of them, which take turns.
    #[inline]
    pub(super) fn take_turn(&mut self, key: Key, pairs: u32) -> Way {
        let new = || Connection::new(pairs);
        match &mut self.first {
            Some((of, connection)) if *of == key => connection.take_turn(),
            None if self.others.is_none() => self.first.insert((key, new())).1.take_turn(),
            _ => {
                let others = self.others.get_or_insert_default();
                others.entry(key).or_insert_with(new).take_turn()
            }
        }
    }

    /// The queue pair whose turn it was is open, in this slot.
    pub(super) fn open(&mut self, key: Key, turn: u32, slot: u32) {
        let connection = match &mut self.first {
            Some((of, connection)) if *of == key => Some(connection),
            _ => self.others.as_mut().and_then(|others| others.get_mut(&key)),
        };
        if let Some(connection) = connection {
            connection.slots[turn as usize] = slot;
        }
    }

    /// Forgets the queue pairs that `closes` names, in any order.
    pub(super) fn close(&mut self, mut closes: impl FnMut(u32) -> bool) {
        self.first.take_if(|(_, connection)| !connection.close(&mut closes));
        self.others.take_if(|others| {
            others.retain(|_, connection| connection.close(&mut closes));
            others.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two queue pairs to each of three peers: they take turns, and are found again.
    #[test]
    fn queue_pairs_of_a_peer_take_turns() {
        let mut all = Connections::default();
        assert!(all.is_empty());
        for (slot, peer) in (0..).zip([7, 8, 9, 7, 8, 9]) {
            let turn = slot / 3;
            assert_eq!(all.take_turn((peer, 0), 2), Way::New(turn));
            all.open((peer, 0), turn, slot);
        }
        let turns = [7, 7, 7, 8, 9, 8].map(|peer| all.take_turn((peer, 0), 2));
        assert_eq!(turns, [0, 3, 0, 1, 2, 4].map(Way::Open));
        assert_eq!(all.take_turn((7, 1), 2), Way::New(0), "another channel");
        let mut seen = Vec::new();
        all.close(|slot| {
            seen.push(slot);
            slot != 4
        });
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
        assert!(!all.is_empty());
        assert_eq!(all.take_turn((8, 0), 2), Way::New(0), "closed, it is opened anew");
        assert_eq!(all.take_turn((8, 0), 2), Way::Open(4));
        all.close(|_| true);
        assert!(all.is_empty());
    }
}
