//! Scenario time and real time.

use weir_core::Time;

/// How many nanoseconds of real time one nanosecond of scenario time takes: with 1000, a link of
/// 100 Gb/s runs at 100 Mb/s, and a microsecond takes a millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dilation(u32);

impl Dilation {
    /// `None` for zero.
    pub fn new(factor: u32) -> Option<Self> {
        (factor > 0).then_some(Self(factor))
    }

    /// The factor.
    pub fn get(self) -> u32 {
        self.0
    }

    /// How much real time a scenario time takes, in nanoseconds, rounded up.
    pub fn real_ns(self, time: Time) -> u64 {
        let ns = (u128::from(time.as_ps()) * u128::from(self.0)).div_ceil(1000);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// How much scenario time passes in so many real nanoseconds, rounded down.
    pub fn scenario(self, ns: u64) -> Time {
        let ps = u128::from(ns) * 1000 / u128::from(self.0);
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// Converts between the two, from an instant at which scenario time began.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Real nanoseconds at which scenario time is zero.
    pub origin: u64,
    /// The ratio.
    pub dilation: Dilation,
}

impl Clock {
    /// The scenario time at a real time; zero before the origin.
    pub fn scenario(&self, real: u64) -> Time {
        self.dilation.scenario(real.saturating_sub(self.origin))
    }

    /// The first real nanosecond at which the scenario time is at least `time`.
    pub fn real(&self, time: Time) -> u64 {
        self.origin.saturating_add(self.dilation.real_ns(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_over_at_its_real_time_and_not_before() {
        for factor in [1, 3, 1000, 2000] {
            let clock = Clock { origin: 5_000, dilation: Dilation::new(factor).expect("not zero") };
            for ps in [0, 1, 999, 1000, 1001, 86_400, 1_000_000_007] {
                let time = Time::from_ps(ps);
                let real = clock.real(time);
                assert!(clock.scenario(real) >= time, "{factor}: {ps}");
                assert!(real == clock.origin || clock.scenario(real - 1) < time, "{factor}: {ps}");
            }
        }
    }
}
