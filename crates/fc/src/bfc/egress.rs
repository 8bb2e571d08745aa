//! The active flows of one egress port.

use crate::perflow::FlowTable;
use std::collections::VecDeque;
use weir_core::{QueueId, Time};

/// A flow with packets here, or one that had some a moment ago.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub packets: u32,
    pub queue: QueueId,
    /// Without packets, the entry counts until then.
    pub until: Time,
}

/// The active flows of an egress port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Egress {
    pub flows: FlowTable<Entry>,
    /// Entries that became idle, and until when they were to be kept then. One that does so again
    /// before another one has no second record: flows come in trains, and most of their packets
    /// find a port empty.
    idle: VecDeque<(Time, u32)>,
}

impl Egress {
    pub(super) fn new(flows: FlowTable<Entry>) -> Self {
        Self { flows, idle: VecDeque::new() }
    }

    /// The entry under `key`. Mostly it is the one that became idle last.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, key: u64) -> Option<(u32, &mut Entry)> {
        let newest = self.idle.back().map(|(_, i)| *i);
        let i = self.flows.find_near(key, newest)?;
        self.flows.at_mut(i).map(|e| (i, e))
    }

    /// Drops entries whose time is over. One that was used since is behind in the list again.
    #[inline(always)]
    pub(super) fn purge(&mut self, now: Time) {
        if self.idle.front().is_some_and(|(until, _)| *until < now) {
            self.drop_oldest(now);
        }
    }

    #[inline(never)]
    fn drop_oldest(&mut self, now: Time) {
        while let Some((until, i)) = self.idle.front().copied()
            && until < now
        {
            self.idle.pop_front();
            if self.flows.at(i).is_some_and(|e| e.packets == 0 && e.until < now) {
                self.flows.remove(i);
            }
        }
    }

    /// Entry `i` has become idle, or idle again, and is kept until then.
    #[inline(always)]
    pub(super) fn rest(&mut self, i: u32, until: Time) {
        match self.idle.back_mut() {
            Some((last, j)) if *j == i => *last = until.max(*last),
            _ => self.idle.push_back((until, i)),
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
        let mut egress = Egress::new(FlowTable::new());
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
                    let until = Time::from_ns(now + KEEP);
                    let e = Entry { packets: 1, queue: QueueId(0), until };
                    egress.flows.insert(key, e);
                    plain.push((key, 1, now + KEEP));
                    plain.sort_unstable();
                }
                (Some(i), true) => {
                    egress.get_mut(key).unwrap().1.packets += 1;
                    plain[i].1 += 1;
                }
                (Some(i), false) => {
                    let (at, e) = egress.get_mut(key).unwrap();
                    e.packets = e.packets.saturating_sub(1);
                    plain[i].1 = plain[i].1.saturating_sub(1);
                    if e.packets == 0 {
                        e.until = Time::from_ns(now + KEEP);
                        plain[i].2 = now + KEEP;
                        egress.rest(at, Time::from_ns(now + KEEP));
                    }
                }
                (None, false) => {}
            }
        }
        assert!(!plain.is_empty(), "some are left");
    }

    #[test]
    fn a_train_has_one_record_and_its_entry_is_kept_longest() {
        let mut egress = Egress::new(FlowTable::new());
        let (ns, queue) = (Time::from_ns, QueueId(0));
        let a = egress.flows.insert(1, Entry { packets: 0, queue, until: ns(10) });
        let b = egress.flows.insert(2, Entry { packets: 0, queue, until: ns(11) });
        for (i, until) in [(a, 8), (a, 10), (a, 9), (b, 11), (a, 12)] {
            egress.rest(i, ns(until));
        }
        assert_eq!(egress.idle, [(ns(10), a), (ns(11), b), (ns(12), a)]);
        let known = |e: &Egress| e.flows.iter().map(|(_, key, _)| key).collect::<Vec<_>>();
        egress.purge(ns(10));
        assert_eq!(known(&egress), [1, 2]);
        egress.purge(ns(11));
        assert_eq!(known(&egress), [2]);
        egress.purge(ns(13));
        assert!(known(&egress).is_empty() && egress.idle.is_empty());
    }
}
