//! Scenario time and real time.

use std::sync::atomic::{AtomicU64, Ordering};
use weir_core::{Time, words};

words! {
    /// What the scenario's clock does when a thread of a run is late.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ClockKind {
        /// It stands still until that thread has caught up: runs take longer instead of being late.
        Waiting = "waiting",
        /// It goes on: the time between two frames is their real time, as programs other than Weir
        /// see it, divided by the dilation.
        Free = "free",
    }
}

impl ClockKind {
    /// Unless another one is asked for.
    pub const DEFAULT: Self = Self::Waiting;

    /// How many threads drive the nodes of a run on a machine with so many processors, unless a
    /// number is asked for. A waiting clock stands still whenever one of them does not run: with
    /// half of the processors, other programs have the others.
    pub fn threads(self, processors: usize) -> usize {
        match self {
            Self::Waiting => (processors / 2).max(1),
            Self::Free => processors,
        }
    }
}

/// A waiting clock is ahead of a thread by this part of what a frame may be late. A larger part is
/// faster. But a race that nanoseconds decide ends otherwise than in the simulation more often
/// then. Chosen with results of FS-TB in view: with 75 ns of slack FlowSail held other flows in
/// four of four runs, with 20 ns and less in none.
pub const SLACK: u64 = 32;

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

/// The scenario's clock, which all threads of a run read.
///
/// A thread tells after each round that it has done everything up to the time of that round. A
/// waiting clock is never more than `slack` ahead of the thread that is farthest behind. So a frame
/// leaves at most so late, however long the kernel does not run its thread.
#[derive(Debug)]
pub struct SharedClock {
    origin: u64,
    dilation: Dilation,
    /// How far the clock may be ahead of a thread; `None` for a free clock.
    slack: Option<Time>,
    /// For how many real nanoseconds the clock has stood still.
    stood_still: AtomicU64,
    /// Up to when each thread has done everything, in picoseconds.
    done: Vec<AtomicU64>,
}

/// What a thread has read from the clock.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The scenario time.
    pub now: Time,
    /// Whether the clock stood still because of another thread.
    pub waits_for_another: bool,
    /// When the reading before was, in real time, for a waiting clock.
    since: u64,
    /// Converts real times since the reading before, as if the clock had stood still at their end
    /// only ...
    latest: Clock,
    /// ... and at their beginning only.
    earliest: Clock,
    /// When it was read, in real time.
    at: u64,
}

impl SharedClock {
    /// A clock for so many threads, which is zero at the real time `origin`.
    pub fn new(origin: u64, dilation: Dilation, slack: Option<Time>, threads: usize) -> Self {
        let done = (0..threads).map(|_| AtomicU64::new(0)).collect();
        Self { origin, dilation, slack, stood_still: AtomicU64::new(0), done }
    }

    /// The real time at which it began.
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// For how many real nanoseconds it has stood still.
    pub fn stood_still(&self) -> u64 {
        self.stood_still.load(Ordering::Acquire)
    }

    /// As it goes if it does not stand still from now on.
    pub fn onward(&self) -> Clock {
        let origin = self.origin.saturating_add(self.stood_still());
        Clock { origin, dilation: self.dilation }
    }

    /// The scenario time at a real time that is now.
    pub fn now(&self, real: u64) -> Time {
        self.onward().scenario(real).min(self.limit())
    }

    /// A thread reads the clock at a real time that is now, after `before`.
    pub fn read(&self, thread: usize, real: u64, before: Option<&Reading>) -> Reading {
        let limit = self.limit();
        if self.onward().scenario(real) > limit {
            // from here on it goes on from the limit
            let at_limit = self.dilation.real_ns(limit).saturating_add(self.origin);
            self.stood_still.fetch_max(real.saturating_sub(at_limit), Ordering::AcqRel);
        }
        let earliest = self.onward();
        let latest = before.map_or(earliest, |before| before.earliest);
        // another thread may have stopped it at an earlier limit, which it read before
        let last = before.map_or(Time::ZERO, |before| before.now);
        let now = earliest.scenario(real).min(limit).max(last);
        let own = self.done.get(thread).map_or(u64::MAX, |done| done.load(Ordering::Acquire));
        let waits_for_another = now >= limit && limit < self.with_slack(own);
        let since = before.filter(|_| self.slack.is_some()).map_or(0, |before| before.at);
        Reading { now, waits_for_another, since, latest, earliest, at: real }
    }

    /// A thread has done everything up to a time; with [`Time::NEVER`], nobody waits for it any
    /// more.
    pub fn done(&self, thread: usize, up_to: Time) {
        self.done[thread].fetch_max(up_to.as_ps(), Ordering::AcqRel);
    }

    /// The clock does not go beyond.
    fn limit(&self) -> Time {
        let least = self.done.iter().map(|done| done.load(Ordering::Acquire)).min();
        self.with_slack(least.unwrap_or(u64::MAX))
    }

    fn with_slack(&self, done: u64) -> Time {
        self.slack.map_or(Time::NEVER, |slack| Time::from_ps(done).saturating_add(slack))
    }
}

impl Reading {
    /// The scenario time of something that happened at a real time since the reading before. If it
    /// was earlier, that reading's: for how long a waiting clock stood still since is not known.
    pub fn scenario(&self, real: u64) -> Time {
        let real = real.max(self.since);
        let (earliest, latest) = (self.earliest.scenario(real), self.latest.scenario(real));
        // where the clock has stood still in between: not after the end of that
        latest.min(self.now).max(earliest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1000;

    /// A thousand times slower, two threads, begins at 1 s.
    fn shared(slack: Option<Time>) -> SharedClock {
        SharedClock::new(1_000_000 * US, Dilation::new(1000).expect("not zero"), slack, 2)
    }

    fn at(us: u64) -> u64 {
        (1_000_000 + us) * US
    }

    #[test]
    fn a_waiting_clock_stands_still_until_the_last_thread_has_caught_up() {
        let clock = shared(Some(Time::from_ns(40)));
        // 30 us of real time are 30 ns
        let first = clock.read(0, at(30), None);
        assert_eq!((first.now, first.waits_for_another), (Time::from_ns(30), false));
        clock.done(0, first.now);
        // the other thread was not run for 5 ms: the clock is at 40 ns, and waits
        let second = clock.read(0, at(5_000), Some(&first));
        assert_eq!((second.now, second.waits_for_another), (Time::from_ns(40), true));
        assert_eq!(clock.stood_still(), 4_960 * US);
        clock.done(0, second.now);
        // it runs, reads 40 ns, and does what is due
        let other = clock.read(1, at(5_010), None);
        assert_eq!((other.now, other.waits_for_another), (Time::from_ns(40), false));
        clock.done(1, other.now);
        // from there on the clock goes on
        assert_eq!(clock.stood_still(), 4_970 * US);
        let third = clock.read(0, at(5_030), Some(&second));
        assert_eq!((third.now, third.waits_for_another), (Time::from_ns(60), false));
    }

    #[test]
    fn a_free_clock_goes_on() {
        let clock = shared(None);
        let late = clock.read(0, at(5_000), None);
        assert_eq!((late.now, late.waits_for_another), (Time::from_us(5), false));
        assert_eq!(clock.stood_still(), 0);
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_ended() {
        let clock = shared(Some(Time::from_ns(40)));
        clock.done(1, Time::NEVER);
        clock.done(0, Time::from_us(4));
        assert_eq!(clock.read(0, at(4_030), None).now, Time::from_ns(4_030));
    }

    #[test]
    fn what_came_before_the_clock_stood_still_keeps_its_time() {
        let clock = shared(Some(Time::from_ns(40)));
        let first = clock.read(0, at(10), None);
        clock.done(0, first.now);
        let second = clock.read(0, at(1_000), Some(&first));
        assert_eq!(second.now, Time::from_ns(40));
        // 30 us after the beginning: 30 ns, although the clock has stood still for 960 us since
        assert_eq!(second.scenario(at(30)), Time::from_ns(30));
        // while it stood still, and at its end
        assert_eq!(second.scenario(at(500)), Time::from_ns(40));
        assert_eq!(second.scenario(at(1_000)), Time::from_ns(40));
        // after the reading it goes on
        assert_eq!(second.scenario(at(1_005)), Time::from_ns(45));
    }

    #[test]
    fn what_came_before_the_reading_before_has_its_time_at_least() {
        let clock = shared(Some(Time::from_ns(40)));
        let first = clock.read(0, at(30), None);
        clock.done(0, first.now);
        // it stands still from 40 us to 2 ms
        let second = clock.read(0, at(2_000), Some(&first));
        clock.done(1, Time::from_ns(40));
        clock.done(0, second.now);
        let third = clock.read(0, at(2_010), Some(&second));
        assert_eq!(third.now, Time::from_ns(50));
        // not 1.96 us before its time
        assert_eq!(third.scenario(at(35)), Time::from_ns(40));
    }

    #[test]
    fn a_thread_never_reads_an_earlier_time_than_before() {
        let clock = shared(Some(Time::from_ns(40)));
        let first = clock.read(0, at(39), None);
        assert_eq!(first.now, Time::from_ns(39));
        // the other one has stopped the clock since, at a limit that it had read before
        clock.stood_still.store(20 * US, Ordering::Release);
        assert_eq!(clock.now(at(45)), Time::from_ns(25));
        assert_eq!(clock.read(0, at(45), Some(&first)).now, first.now);
    }

    #[test]
    fn threads_read_rising_times_within_the_slack_of_the_last_of_them() {
        let slack = Time::from_ns(40);
        let clock = shared(Some(slack));
        let real = AtomicU64::new(at(0));
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (clock, real) = (&clock, &real);
                scope.spawn(move || {
                    let mut before: Option<Reading> = None;
                    for step in 0..20_000_u64 {
                        // now and then a long time passes
                        let passed = if step % 97 == 0 { 4_000 * US } else { 7 * US };
                        let now = real.fetch_add(passed, Ordering::AcqRel);
                        let reading = clock.read(thread, now, before.as_ref());
                        assert!(before.is_none_or(|before| before.now <= reading.now));
                        assert!(reading.now <= clock.limit(), "{thread}, {step}");
                        clock.done(thread, reading.now);
                        before = Some(reading);
                    }
                    clock.done(thread, Time::NEVER);
                });
            }
        });
        assert!(clock.stood_still() > 0);
    }

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
