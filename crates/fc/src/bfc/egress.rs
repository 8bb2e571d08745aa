//! The active flows of one egress port.

use crate::perflow::Table;
use weir_core::{QueueId, Time};

/// A flow with packets here, or one that had some a moment ago.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub packets: u32,
    pub queue: QueueId,
    /// Without packets, the entry counts until then.
    pub until: Time,
    /// Its neighbours in the list of idle entries.
    older: u32,
    newer: u32,
}

/// Beyond either end of the list.
const END: u32 = u32::MAX;
/// In place of an older neighbour: the entry is not in the list.
const APART: u32 = u32::MAX - 1;

impl Entry {
    pub(super) fn new(packets: u32, queue: QueueId, until: Time) -> Self {
        Self { packets, queue, until, older: APART, newer: APART }
    }
}

/// The active flows of an egress port, and a list of those without packets in the order in which
/// they became idle. An entry that has got packets since stays in the list until it is the oldest:
/// most flows come and go with every packet, and mostly it is the newest that does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Egress {
    pub flows: Table<Entry>,
    oldest: u32,
    newest: u32,
}

impl Egress {
    pub(super) fn new(flows: Table<Entry>) -> Self {
        Self { flows, oldest: END, newest: END }
    }

    /// Drops entries whose time is over.
    #[inline(always)]
    pub(super) fn purge(&mut self, now: Time) {
        if let Some(e) = self.flows.at(self.oldest)
            && (e.until < now || e.packets > 0)
        {
            self.drop_oldest(now);
        }
    }

    #[inline(never)]
    fn drop_oldest(&mut self, now: Time) {
        while let Some(e) = self.flows.at(self.oldest)
            && (e.until < now || e.packets > 0)
        {
            let (i, over) = (self.oldest, e.packets == 0);
            self.take_out(i);
            if over {
                self.flows.remove(i);
            }
        }
    }

    /// Entry `i` has become idle, or idle again: it is the newest of the list.
    #[inline]
    pub(super) fn rest(&mut self, i: u32) {
        if self.newest != i {
            self.take_out(i);
            self.append(i);
        }
    }

    /// Takes entry `i` out of the list, if it is there.
    fn take_out(&mut self, i: u32) {
        let Some(e) = self.flows.at_mut(i).filter(|e| e.older != APART) else { return };
        let (older, newer) = (e.older, e.newer);
        (e.older, e.newer) = (APART, APART);
        match self.flows.at_mut(older) {
            Some(e) => e.newer = newer,
            None => self.oldest = newer,
        }
        match self.flows.at_mut(newer) {
            Some(e) => e.older = older,
            None => self.newest = older,
        }
    }

    fn append(&mut self, i: u32) {
        let older = std::mem::replace(&mut self.newest, i);
        match self.flows.at_mut(older) {
            Some(e) => e.newer = i,
            None => self.oldest = i,
        }
        if let Some(e) = self.flows.at_mut(i) {
            (e.older, e.newer) = (older, END);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::rng;

    /// Compares with the plain way: whatever is idle and past its time goes.
    #[test]
    fn what_is_idle_and_past_its_time_goes_and_nothing_else() {
        const KEEP: u64 = 40;
        let mut egress = Egress::new(Table::new());
        let mut plain: Vec<(u64, u32, u64)> = Vec::new();
        for step in 0..5000u64 {
            let r = rng::mix(step);
            let (key, now) = (r % 30, step);
            egress.purge(Time::from_ns(now));
            plain.retain(|(_, packets, until)| *packets > 0 || *until >= now);
            let mut kept: Vec<u64> = egress.flows.iter().map(|(_, key, _)| key).collect();
            kept.sort_unstable();
            assert!(kept.iter().eq(plain.iter().map(|(key, ..)| key)), "at {step}");
            let i = plain.iter().position(|(k, ..)| *k == key);
            let comes = r >> 32 & 1 == 0;
            match (i, comes) {
                (None, true) => {
                    let e = Entry::new(1, QueueId(0), Time::from_ns(now + KEEP));
                    egress.flows.insert(key, e);
                    plain.push((key, 1, now + KEEP));
                    plain.sort_unstable();
                }
                (Some(i), true) => {
                    egress.flows.get_mut(key).unwrap().1.packets += 1;
                    plain[i].1 += 1;
                }
                (Some(i), false) => {
                    let (at, e) = egress.flows.get_mut(key).unwrap();
                    e.packets = e.packets.saturating_sub(1);
                    plain[i].1 = plain[i].1.saturating_sub(1);
                    if e.packets == 0 {
                        e.until = Time::from_ns(now + KEEP);
                        plain[i].2 = now + KEEP;
                        egress.rest(at);
                    }
                }
                (None, false) => {}
            }
        }
        assert!(!plain.is_empty(), "some are left");
    }
}
