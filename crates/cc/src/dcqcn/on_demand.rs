//! Deployed DCQCN whose periods cost nothing while nothing happens.

use super::{Dcqcn, DcqcnParams};
use crate::control::{Ack, CongestionControl, Needs, Pacing, Path, TimerKind, Timers};
use weir_core::{Bytes, Rate, Time};

/// [`Dcqcn`] for a simulator: the same rates at the same times with far fewer timers.
///
/// Every flow updates alpha every microsecond and looks every four whether to cut, by the default
/// parameters, also when no notification came. Here the updates that are due are made when alpha is
/// needed, one after the other, so that it is the same number; and the timer of the cut is armed,
/// for a time on the same grid, only once there is a notification to act upon.
///
/// A notification that comes at the very instant of an update counts for it, as it does where
/// packets are handled before timers.
#[derive(Clone, Debug)]
pub struct DcqcnOnDemand {
    flow: Dcqcn,
    /// The first update of alpha that has not been made.
    next_alpha: Time,
    /// A time at which to look whether to cut: the next one if a notification waits for it.
    next_check: Time,
}

/// The first time of a grid that is not before `from`: `at` is on it, and points are `period`
/// apart.
fn on_grid(at: Time, period: Time, from: Time) -> Time {
    let periods = from.saturating_sub(at).as_ps().div_ceil(period.as_ps());
    Time::from_ps(at.as_ps().saturating_add(periods.saturating_mul(period.as_ps())))
}

impl DcqcnOnDemand {
    /// A new flow: line rate, alpha 1.
    pub fn new(p: &DcqcnParams, path: &Path) -> Self {
        let flow = Dcqcn::new(p, path);
        Self { flow, next_alpha: Time::NEVER, next_check: Time::NEVER }
    }

    /// Makes the updates of alpha that are due before `end`.
    #[inline]
    fn catch_up(&mut self, end: Time) {
        while self.next_alpha < end {
            let (alpha, decays) = (self.flow.alpha, !self.flow.alpha_cnp);
            self.flow.update_alpha();
            self.next_alpha += self.flow.config.alpha_timer;
            if decays && self.flow.alpha == alpha {
                // too small to become smaller
                self.next_alpha = on_grid(self.next_alpha, self.flow.config.alpha_timer, end);
            }
        }
    }

    fn notified(&mut self, now: Time, timers: &mut Timers) {
        if self.flow.started {
            self.catch_up(now);
            if !self.flow.decrease_cnp {
                self.next_check = on_grid(self.next_check, self.flow.config.decrease_timer, now);
                timers.arm(TimerKind::Decrease, self.next_check);
            }
        }
        let mut started = Timers::new();
        self.flow.notified(now, &mut started);
        for (kind, at) in started.drain() {
            if kind == TimerKind::Alpha {
                self.next_alpha = at;
            } else {
                self.next_check = at;
                timers.arm(kind, at);
            }
        }
    }
}

impl CongestionControl for DcqcnOnDemand {
    fn needs() -> Needs {
        Dcqcn::needs()
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, timers: &mut Timers) -> Pacing {
        if ack.ecn && self.flow.config.echo {
            self.notified(ack.now, timers);
        }
        Pacing::Same
    }

    fn on_cnp(&mut self, now: Time, timers: &mut Timers) -> Pacing {
        self.notified(now, timers);
        Pacing::Same
    }

    fn on_timer(&mut self, kind: TimerKind, now: Time, timers: &mut Timers) -> Pacing {
        if kind == TimerKind::Decrease {
            // alpha is updated first if both are due
            self.catch_up(now + Time::from_ps(1));
        }
        let mut wanted = Timers::new();
        let pacing = self.flow.on_timer(kind, now, &mut wanted);
        for (kind, at) in wanted.drain() {
            if kind == TimerKind::Decrease {
                self.next_check = at;
            } else {
                timers.arm(kind, at);
            }
        }
        pacing
    }

    fn on_nic(&mut self, line_rate: Rate) {
        self.flow.on_nic(line_rate);
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.flow.rate()
    }

    #[inline]
    fn window(&self) -> Option<Bytes> {
        self.flow.window()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::path_100g;
    use std::collections::BTreeMap;
    use weir_core::rng::mix;

    /// A flow with its timers: what a NIC does for it.
    struct Driven<C> {
        cc: C,
        timers: BTreeMap<TimerKind, Time>,
        fired: usize,
        /// Every change of the rate.
        rates: Vec<(Time, Rate)>,
    }

    impl<C: CongestionControl> Driven<C> {
        fn new(cc: C) -> Self {
            Self { cc, timers: BTreeMap::new(), fired: 0, rates: Vec::new() }
        }

        fn note(&mut self, now: Time, mut armed: Timers) {
            self.timers.extend(armed.drain());
            let rate = self.cc.rate();
            if self.rates.last().is_none_or(|(_, last)| *last != rate) {
                self.rates.push((now, rate));
            }
        }

        /// Fires what is due before `end`, by time and then by kind.
        fn run(&mut self, end: Time) {
            while let Some((at, kind)) = self.timers.iter().map(|(k, t)| (*t, *k)).min()
                && at < end
            {
                self.timers.remove(&kind);
                self.fired += 1;
                let mut armed = Timers::new();
                self.cc.on_timer(kind, at, &mut armed);
                self.note(at, armed);
            }
        }

        fn notify(&mut self, now: Time) {
            self.run(now);
            let mut armed = Timers::new();
            self.cc.on_cnp(now, &mut armed);
            self.note(now, armed);
        }
    }

    /// Notifications in bursts and after long silence, on the grid of the timers and off it: the
    /// rates are those of the algorithm with all its timers.
    #[test]
    fn the_rates_are_those_of_the_timers() {
        let ns = Time::from_ns;
        for case in 0..200u64 {
            let draw = |i: u64| mix(mix(case) ^ i);
            let periods = [100, 1000, 1001, 4000, 55_000].map(ns);
            let period = |i: u64| periods[draw(i) as usize % periods.len()];
            let params = DcqcnParams {
                g: [0.0, 1.0 / 256.0, 0.3, 1.0][draw(1) as usize % 4],
                alpha_timer: period(2),
                decrease_timer: period(3),
                increase_timer: period(4),
                clamp: draw(5) % 2 == 0,
                ..DcqcnParams::default()
            };
            let mut timed = Driven::new(Dcqcn::new(&params, &path_100g()));
            let mut on_demand = Driven::new(DcqcnOnDemand::new(&params, &path_100g()));
            let mut now = ns(draw(6) % 3000);
            for i in 0..200 {
                timed.notify(now);
                on_demand.notify(now);
                let gap = [0, 1, 100, 1000, 4000, 300, 50_000, 400_000][draw(10 + i) as usize % 8];
                now += ns(gap);
            }
            timed.run(now);
            on_demand.run(now);
            assert_eq!(timed.rates, on_demand.rates, "{params:?}");
            assert!(on_demand.fired < timed.fired, "{} timers", on_demand.fired);
        }
    }

    /// Without notifications nothing fires but what raises the rate.
    #[test]
    fn a_flow_that_hears_nothing_only_recovers() {
        let mut flow = Driven::new(DcqcnOnDemand::new(&DcqcnParams::default(), &path_100g()));
        flow.notify(Time::from_us(1));
        flow.run(Time::from_us(3000));
        // the cut at 5 us, and a raise every 300 us from then on
        assert_eq!(flow.fired, 1 + 9);
    }

    #[test]
    fn alpha_is_caught_up_with_even_where_it_cannot_become_smaller() {
        let mut flow = DcqcnOnDemand::new(&DcqcnParams::default(), &path_100g());
        flow.notified(Time::ZERO, &mut Timers::new());
        let century = Time::from_ps(u64::MAX / 8);
        flow.catch_up(century);
        assert!(flow.next_alpha >= century && flow.flow.alpha < 1e-300);
    }
}
