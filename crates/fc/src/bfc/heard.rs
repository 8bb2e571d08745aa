//! The paused side: which of our queues the neighbours have stopped.

use crate::{Actions, HoldState, Target};
use weir_core::{PortId, QueueId};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Port {
    /// Bit `i`: the queues whose number is `i` modulo the space are paused.
    paused: Vec<u64>,
    /// Queues that exist: a switch's data queues, the taken slots of a NIC.
    known: Vec<bool>,
}

/// Pause states received, by queue number modulo `space`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Heard {
    space: u32,
    ports: Vec<Port>,
}

impl Heard {
    pub(super) fn new(ports: usize, space: u32) -> Self {
        Self { space, ports: vec![Port::default(); ports] }
    }

    /// How many ports there are.
    pub(super) fn ports(&self) -> usize {
        self.ports.len()
    }

    /// `queue` of `port` exists from now on. Its number may have been paused before.
    pub(super) fn add(&mut self, port: PortId, queue: QueueId, a: &mut Actions) {
        let paused = self.is_paused(port, queue.0 % self.space);
        let known = &mut self.ports[port.index()].known;
        if known.len() <= queue.index() {
            known.resize(queue.index() + 1, false);
        }
        known[queue.index()] = true;
        a.set(port, Target::Queue(queue), HoldState::of(paused));
    }

    /// `queue` of `port` is given back.
    pub(super) fn remove(&mut self, port: PortId, queue: QueueId, a: &mut Actions) {
        if let Some(known) = self.ports[port.index()].known.get_mut(queue.index()) {
            *known = false;
        }
        a.open(port, Target::Queue(queue));
    }

    fn is_paused(&self, port: PortId, index: u32) -> bool {
        let words = &self.ports[port.index()].paused;
        words.get(index as usize / 64).is_some_and(|w| w >> (index % 64) & 1 != 0)
    }

    /// The neighbour at `port` pauses or resumes the queues numbered `index`.
    pub(super) fn set(&mut self, port: PortId, index: u32, state: HoldState, a: &mut Actions) {
        let index = index % self.space;
        if self.is_paused(port, index) == state.is_held() {
            return;
        }
        let Port { paused, known } = &mut self.ports[port.index()];
        let word = index as usize / 64;
        if paused.len() <= word {
            paused.resize(word + 1, 0);
        }
        paused[word] ^= 1 << (index % 64);
        for q in (index as usize..known.len()).step_by(self.space as usize) {
            if known[q] {
                a.set(port, Target::Queue(QueueId::from_index(q)), state);
            }
        }
    }

    /// The neighbour's whole state: what `words` does not cover is open.
    pub(super) fn replace(&mut self, port: PortId, words: &[u64], a: &mut Actions) {
        let most = (self.space as usize).div_ceil(64);
        let had = self.ports[port.index()].paused.len();
        for i in 0..had.max(words.len()).min(most) {
            let new = words.get(i).copied().unwrap_or(0);
            let old = self.ports[port.index()].paused.get(i).copied().unwrap_or(0);
            // most bitmaps repeat the last one: only what differs is looked at
            let mut changed = new ^ old;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                changed &= changed - 1;
                self.set(port, i as u32 * 64 + bit, HoldState::of(new >> bit & 1 != 0), a);
            }
        }
    }

    /// The link at `port` changed: nothing is paused.
    pub(super) fn forget(&mut self, port: PortId, a: &mut Actions) {
        self.replace(port, &[], a);
    }
}
