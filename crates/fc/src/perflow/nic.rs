//! Flow-level pauses at a NIC: a queue per flow makes them simple.

use crate::{Actions, HoldState, PortQueue, Target};
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};
use weir_core::{PortId, Priority, QueueId};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Held {
    slots: Vec<QueueId>,
    /// Who is paused under this key; the key is held while anyone is.
    paused: Vec<u64>,
}

/// A key of flows of one priority.
pub(crate) type NicKey = (Priority, u64);

/// The slots of a NIC by flow key, and which keys are paused. Several slots may share a key
/// (a host pair, a hash bucket), and a paused key holds slots that are taken later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NicFlows {
    keys: FxHashMap<(PortId, NicKey), Held>,
}

impl Hash for NicFlows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for at in self.sorted() {
            (at, &self.keys[&at]).hash(state);
        }
    }
}

impl NicFlows {
    /// All keys, in order.
    fn sorted(&self) -> Vec<(PortId, NicKey)> {
        let mut keys: Vec<_> = self.keys.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// A flow with `key` takes `slot`.
    pub(crate) fn starts(&mut self, slot: PortQueue, key: NicKey, a: &mut Actions) {
        let held = self.keys.entry((slot.port, key)).or_default();
        held.slots.push(slot.queue);
        // the slot's last flow may have left it held
        let state = HoldState::of(!held.paused.is_empty());
        a.set(slot.port, Target::Queue(slot.queue), state);
    }

    /// The flow gives `slot` back.
    pub(crate) fn ends(&mut self, slot: PortQueue, key: NicKey, a: &mut Actions) {
        a.open(slot.port, Target::Queue(slot.queue));
        if let Some(held) = self.keys.get_mut(&(slot.port, key)) {
            held.slots.retain(|s| *s != slot.queue);
            self.forget(slot.port, key);
        }
    }

    fn forget(&mut self, port: PortId, key: NicKey) {
        if self.keys.get(&(port, key)).is_some_and(|h| h.slots.is_empty() && h.paused.is_empty()) {
            self.keys.remove(&(port, key));
        }
    }

    /// The neighbour pauses or resumes `who`, known here by `key`. Repetitions are no-ops.
    pub(crate) fn set(
        &mut self,
        port: PortId,
        key: NicKey,
        who: u64,
        state: HoldState,
        a: &mut Actions,
    ) {
        let held = self.keys.entry((port, key)).or_default();
        let was = !held.paused.is_empty();
        held.paused.retain(|w| *w != who);
        if state.is_held() {
            held.paused.push(who);
        }
        if was == held.paused.is_empty() {
            held.slots.iter().for_each(|slot| a.set(port, Target::Queue(*slot), state));
        }
        if held.slots.is_empty() && held.paused.is_empty() {
            self.keys.remove(&(port, key));
        }
    }

    /// The link changed: nothing is paused any more.
    pub(crate) fn link(&mut self, port: PortId, a: &mut Actions) {
        for at in self.sorted() {
            if let Some(held) = self.keys.get_mut(&at).filter(|_| at.0 == port)
                && !held.paused.is_empty()
            {
                held.paused.clear();
                held.slots.iter().for_each(|s| a.open(port, Target::Queue(*s)));
            }
        }
        self.keys.retain(|(p, _), h| *p != port || !h.slots.is_empty());
    }

    /// How many keys are known.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;

    const PORT: PortId = PortId(0);
    const K7: NicKey = (Priority::ALL[3], 7);

    fn slot(q: u32) -> PortQueue {
        PortQueue { port: PORT, queue: QueueId(q) }
    }

    fn last(a: &Actions) -> Option<&Action> {
        a.as_slice().last()
    }

    fn hold(q: u32) -> Action {
        Action::Hold { port: PORT, target: Target::Queue(QueueId(q)) }
    }

    fn open(q: u32) -> Action {
        Action::Open { port: PORT, target: Target::Queue(QueueId(q)) }
    }

    #[test]
    fn a_key_is_held_while_anyone_under_it_is_paused() {
        let (mut nic, mut a) = (NicFlows::default(), Actions::new());
        nic.starts(slot(0), K7, &mut a);
        nic.set(PORT, K7, 70, HoldState::Held, &mut a);
        assert_eq!(last(&a), Some(&hold(0)));
        nic.set(PORT, K7, 71, HoldState::Held, &mut a);
        nic.set(PORT, K7, 70, HoldState::Open, &mut a);
        nic.set(PORT, K7, 70, HoldState::Open, &mut a);
        assert_eq!(last(&a), Some(&hold(0)), "71 is still paused");
        nic.set(PORT, K7, 71, HoldState::Open, &mut a);
        assert_eq!(last(&a), Some(&open(0)));
    }

    #[test]
    fn a_slot_taken_under_a_paused_key_is_held_at_once() {
        let (mut nic, mut a) = (NicFlows::default(), Actions::new());
        nic.set(PORT, K7, 7, HoldState::Held, &mut a);
        nic.starts(slot(3), K7, &mut a);
        assert_eq!(a.as_slice(), [hold(3)]);
        nic.ends(slot(3), K7, &mut a);
        assert_eq!(nic.len(), 1, "the pause outlives the flow");
        nic.set(PORT, K7, 7, HoldState::Open, &mut a);
        assert_eq!(nic.len(), 0);
    }

    #[test]
    fn a_link_change_opens_everything() {
        let (mut nic, mut a) = (NicFlows::default(), Actions::new());
        nic.starts(slot(0), K7, &mut a);
        nic.set(PORT, K7, 7, HoldState::Held, &mut a);
        nic.set(PORT, (K7.0, 8), 8, HoldState::Held, &mut a);
        nic.link(PORT, &mut a);
        assert_eq!(last(&a), Some(&open(0)));
        assert_eq!(nic.len(), 1);
        nic.starts(slot(1), K7, &mut a);
        assert_eq!(last(&a), Some(&open(1)), "the key is no longer paused");
        nic.set(PORT, K7, 7, HoldState::Held, &mut a);
        assert_eq!(a.as_slice()[a.as_slice().len() - 2..], [hold(0), hold(1)]);
    }

    #[test]
    fn a_link_change_leaves_the_pauses_of_other_ports_alone() {
        let (mut nic, mut a) = (NicFlows::default(), Actions::new());
        nic.set(PORT, K7, 7, HoldState::Held, &mut a);
        nic.link(PortId(1), &mut a);
        nic.starts(slot(0), K7, &mut a);
        assert_eq!(last(&a), Some(&hold(0)));
    }

    #[test]
    fn the_same_key_of_another_priority_is_another_key() {
        let (mut nic, mut a) = (NicFlows::default(), Actions::new());
        nic.starts(slot(0), K7, &mut a);
        nic.set(PORT, (Priority::ALL[4], 7), 7, HoldState::Held, &mut a);
        assert_eq!(last(&a), Some(&open(0)));
        nic.starts(slot(1), (Priority::ALL[4], 7), &mut a);
        assert_eq!(last(&a), Some(&hold(1)));
    }
}
