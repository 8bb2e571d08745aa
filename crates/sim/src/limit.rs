//! Rate limits per priority of a port (GFC).

use weir_core::{Bytes, Priority, PrioritySet, Rate, Time};

#[derive(Clone, Copy, Debug)]
struct Limit {
    rate: Rate,
    /// The next packet may start then.
    next: Time,
}

/// The limits of one port. A priority without a limit has the rate of the line, and its packets
/// are measured out all the same: a limit concerns the packet that is on the wire when it comes.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    line: Rate,
    of: [Limit; Priority::COUNT],
}

impl Limits {
    /// No limits, on a wire that a frame of priority `last` keeps busy until `busy`.
    pub(crate) fn new(line: Rate, last: Priority, busy: Time) -> Self {
        let mut of = [Limit { rate: line, next: Time::ZERO }; Priority::COUNT];
        of[last.index()].next = busy;
        Self { line, of }
    }

    /// Sets or lifts a limit at `now`. What is left of the gap after the last packet is
    /// stretched by old rate over new rate, as if the gap had been measured out in bytes.
    pub(crate) fn set(&mut self, now: Time, priority: Priority, rate: Option<Rate>) {
        let rate = rate.map_or(self.line, |r| r.min(self.line));
        assert!(rate.as_bps() > 0, "a rate of zero is a hold");
        let limit = &mut self.of[priority.index()];
        let left = u128::from(limit.next.saturating_sub(now).as_ps());
        let old = u128::from(limit.rate.as_bps());
        let stretched = (left * old).div_ceil(u128::from(rate.as_bps()));
        let stretched = Time::from_ps(u64::try_from(stretched).unwrap_or(u64::MAX));
        *limit = Limit { rate, next: now.saturating_add(stretched) };
    }

    /// A packet of `bytes` starts.
    pub(crate) fn started(&mut self, now: Time, priority: Priority, bytes: u64) {
        let limit = &mut self.of[priority.index()];
        limit.next = now.saturating_add(limit.rate.time_for(Bytes::new(bytes)));
    }

    /// Whether nothing is limited, and no gap that was lasts beyond `busy`, when the wire is free
    /// again: packets at the line's rate wait for the wire and for nothing else.
    pub(crate) fn is_over(&self, busy: Time) -> bool {
        self.of.iter().all(|limit| limit.rate == self.line && limit.next <= busy)
    }

    /// Priorities that may not start at `t`.
    pub(crate) fn blocked(&self, t: Time) -> PrioritySet {
        Priority::ALL.into_iter().filter(|p| self.of[p.index()].next > t).collect()
    }

    /// The first time after `t` at which one of these priorities may start.
    pub(crate) fn next_after(&self, t: Time, priorities: PrioritySet) -> Time {
        priorities.iter().map(|p| self.of[p.index()].next.max(t)).min().unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: Priority = Priority::ALL[3];
    const ONLY: PrioritySet = PrioritySet::only(P);
    const NONE: PrioritySet = PrioritySet::EMPTY;

    #[test]
    fn a_limited_priority_waits_out_its_packets_at_its_rate() {
        let line = Rate::from_gbps(40);
        let mut l = Limits::new(line, P, Time::ZERO);
        l.set(Time::ZERO, P, Some(Rate::from_gbps(10)));
        assert_eq!(l.blocked(Time::ZERO), NONE);
        l.started(Time::ZERO, P, 1000);
        // 1000 B at 10 Gb/s: 800 ns
        assert_eq!(l.blocked(Time::from_ns(799)), ONLY);
        assert_eq!(l.blocked(Time::from_ns(800)), NONE);
        assert_eq!(l.next_after(Time::ZERO, ONLY), Time::from_ns(800));
    }

    #[test]
    fn a_new_rate_stretches_what_is_left_of_the_gap() {
        let line = Rate::from_gbps(40);
        let mut l = Limits::new(line, P, Time::ZERO);
        l.set(Time::ZERO, P, Some(Rate::from_gbps(20)));
        l.started(Time::ZERO, P, 1000);
        // 400 ns at 20 Gb/s; at 100 ns the rate is halved: 300 ns left become 600 ns
        l.set(Time::from_ns(100), P, Some(Rate::from_gbps(10)));
        assert_eq!(l.next_after(Time::ZERO, ONLY), Time::from_ns(700));
        // and doubled again at 500 ns: 200 ns left become 100 ns
        l.set(Time::from_ns(500), P, Some(Rate::from_gbps(20)));
        assert_eq!(l.next_after(Time::ZERO, ONLY), Time::from_ns(600));
        // without a limit the 90 ns left take 45 ns
        l.set(Time::from_ns(510), P, None);
        assert_eq!(l.next_after(Time::ZERO, ONLY), Time::from_ns(555));
        assert_eq!(l.blocked(Time::from_ns(555)), NONE);
    }

    #[test]
    fn the_packet_on_the_wire_is_measured_by_the_first_limit() {
        let line = Rate::from_gbps(40);
        // 1000 B have 100 ns to go when the rate is quartered: 400 ns
        let mut l = Limits::new(line, P, Time::from_ns(200));
        l.set(Time::from_ns(100), P, Some(Rate::from_gbps(10)));
        assert_eq!(l.next_after(Time::ZERO, ONLY), Time::from_ns(500));
        assert_eq!(l.blocked(Time::from_ns(200)), ONLY, "the others wait for the wire only");
    }

    #[test]
    fn a_limit_is_over_when_its_last_gap_is() {
        let line = Rate::from_gbps(40);
        let mut l = Limits::new(line, P, Time::ZERO);
        l.set(Time::ZERO, P, Some(Rate::from_gbps(10)));
        assert!(!l.is_over(Time::from_ns(900)), "it is in force");
        l.started(Time::ZERO, P, 1000);
        l.set(Time::from_ns(400), P, None);
        assert!(!l.is_over(Time::from_ns(499)));
        assert!(l.is_over(Time::from_ns(500)));
    }

    #[test]
    fn a_limit_that_goes_and_comes_back_gives_no_packet_away() {
        let line = Rate::from_gbps(40);
        let mut l = Limits::new(line, P, Time::ZERO);
        l.set(Time::ZERO, P, Some(Rate::from_gbps(10)));
        l.started(Time::ZERO, P, 1000);
        // at 400 ns of 800 ns half a packet is left: 100 ns at the line's rate
        l.set(Time::from_ns(400), P, None);
        assert_eq!(l.next_after(Time::ZERO, ONLY), Time::from_ns(500));
        l.set(Time::from_ns(400), P, Some(Rate::from_gbps(10)));
        assert_eq!(l.next_after(Time::ZERO, ONLY), Time::from_ns(800));
        // without a limit packets are measured at the line's rate, for the next limit
        l.set(Time::from_ns(800), P, None);
        l.started(Time::from_ns(800), P, 1000);
        l.set(Time::from_ns(900), P, Some(Rate::from_gbps(20)));
        assert_eq!(l.next_after(Time::ZERO, ONLY), Time::from_ns(1100));
    }
}
