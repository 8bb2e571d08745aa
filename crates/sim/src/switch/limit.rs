//! Rate limits per priority of a port (GFC).

use weir_core::{Bytes, Priority, Rate, Time};

#[derive(Clone, Copy, Debug)]
struct Limit {
    rate: Rate,
    /// The next packet may start then.
    next: Time,
}

/// The limits of one port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits([Option<Limit>; Priority::COUNT]);

impl Limits {
    /// Sets or lifts a limit at `now`. What is left of the gap after the last packet is
    /// stretched by old rate over new rate, as if the gap had been measured out in bytes.
    pub(crate) fn set(&mut self, now: Time, priority: Priority, line: Rate, rate: Option<Rate>) {
        let slot = &mut self.0[priority.index()];
        let Some(rate) = rate.filter(|r| *r < line) else {
            *slot = None;
            return;
        };
        assert!(rate.as_bps() > 0, "a rate of zero is a hold");
        let (old, next) = slot.map_or((line, now), |l| (l.rate, l.next));
        let left = u128::from(next.saturating_sub(now).as_ps());
        let stretched = (left * u128::from(old.as_bps())).div_ceil(u128::from(rate.as_bps()));
        let stretched = Time::from_ps(u64::try_from(stretched).unwrap_or(u64::MAX));
        *slot = Some(Limit { rate, next: now.saturating_add(stretched) });
    }

    /// A packet of `wire_bytes` starts.
    pub(crate) fn started(&mut self, now: Time, priority: Priority, wire_bytes: u64) {
        if let Some(limit) = &mut self.0[priority.index()] {
            limit.next = now.saturating_add(limit.rate.time_for(Bytes::new(wire_bytes)));
        }
    }

    /// Priorities that may not start at `t`.
    pub(crate) fn blocked(&self, t: Time) -> u8 {
        let waits = |l: &Option<Limit>| l.is_some_and(|l| l.next > t);
        (0..Priority::COUNT).filter(|&p| waits(&self.0[p])).fold(0, |mask, p| mask | 1 << p)
    }

    /// The first time after `t` at which one of the priorities in `mask` may start.
    pub(crate) fn next_after(&self, t: Time, mask: u8) -> Time {
        (0..Priority::COUNT)
            .filter(|p| mask & 1 << p != 0)
            .filter_map(|p| self.0[p])
            .map(|l| l.next.max(t))
            .min()
            .unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: Priority = Priority::ALL[3];

    #[test]
    fn a_limited_priority_waits_out_its_packets_at_its_rate() {
        let line = Rate::from_gbps(40);
        let mut l = Limits::default();
        l.set(Time::ZERO, P, line, Some(Rate::from_gbps(10)));
        assert_eq!(l.blocked(Time::ZERO), 0);
        l.started(Time::ZERO, P, 1000);
        // 1000 B at 10 Gb/s: 800 ns
        assert_eq!(l.blocked(Time::from_ns(799)), 1 << 3);
        assert_eq!(l.blocked(Time::from_ns(800)), 0);
        assert_eq!(l.next_after(Time::ZERO, 0xff), Time::from_ns(800));
    }

    #[test]
    fn a_new_rate_stretches_what_is_left_of_the_gap() {
        let line = Rate::from_gbps(40);
        let mut l = Limits::default();
        l.set(Time::ZERO, P, line, Some(Rate::from_gbps(20)));
        l.started(Time::ZERO, P, 1000);
        // 400 ns at 20 Gb/s; at 100 ns the rate is halved: 300 ns left become 600 ns
        l.set(Time::from_ns(100), P, line, Some(Rate::from_gbps(10)));
        assert_eq!(l.next_after(Time::ZERO, 1 << 3), Time::from_ns(700));
        // and doubled again at 500 ns: 200 ns left become 100 ns
        l.set(Time::from_ns(500), P, line, Some(Rate::from_gbps(20)));
        assert_eq!(l.next_after(Time::ZERO, 1 << 3), Time::from_ns(600));
        l.set(Time::from_ns(510), P, line, Some(line));
        assert_eq!(l.blocked(Time::from_ns(510)), 0);
    }
}
