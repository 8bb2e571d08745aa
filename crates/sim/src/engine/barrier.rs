//! A barrier for threads that meet every few microseconds: it spins briefly and then parks,
//! so that it is fast on a quiet machine and does not burn cores on a busy one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// How often to look before letting others have the core: some ten microseconds.
const SPINS: u32 = 1_000;
/// How often to look in between, before parking: some milliseconds. Who is woken may find itself
/// on the core of the one that woke it, and share it for longer than it would have waited.
const YIELDS: u32 = 10_000;

/// Lets `n` threads wait for each other, again and again.
#[derive(Debug)]
pub(crate) struct Barrier {
    n: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    /// A thread has panicked and will not arrive any more.
    broken: AtomicBool,
    lock: Mutex<()>,
    next_round: Condvar,
    /// How many threads have stopped spinning; written under the lock.
    #[cfg(test)]
    parked: AtomicUsize,
}

impl Barrier {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            lock: Mutex::new(()),
            next_round: Condvar::new(),
            #[cfg(test)]
            parked: AtomicUsize::new(0),
        }
    }

    /// Says that this thread has come, which does not wait yet: it may do something else until it
    /// has to.
    pub(crate) fn arrive(&self) -> Arrival {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.n {
            self.arrived.store(0, Ordering::Relaxed);
            // Under the lock, so that no thread misses it between its test and parking.
            let guard = self.lock.lock().expect("no thread panics while holding the barrier");
            self.round.store(round.wrapping_add(1), Ordering::Release);
            drop(guard);
            self.next_round.notify_all();
        }
        Arrival(round)
    }

    /// Returns when all have arrived. What a thread wrote before it did is visible to all after.
    ///
    /// # Panics
    /// When another thread has panicked and will never come.
    pub(crate) fn wait(&self, Arrival(round): Arrival) {
        let goes_on =
            || self.round.load(Ordering::Acquire) != round || self.broken.load(Ordering::Acquire);
        let spun = goes_on()
            || (0..SPINS).any(|_| {
                std::hint::spin_loop();
                goes_on()
            });
        let yielded = || {
            (0..YIELDS).any(|_| {
                std::thread::yield_now();
                goes_on()
            })
        };
        if !spun && !yielded() {
            let guard = self.lock.lock().expect("no thread panics while holding the barrier");
            #[cfg(test)]
            self.parked.fetch_add(1, Ordering::Release);
            let woken = self.next_round.wait_while(guard, |()| !goes_on());
            drop(woken.expect("no thread panics while holding the barrier"));
        }
        // outside the lock, which a panicking thread takes to wake the others
        assert!(!self.broken.load(Ordering::Acquire), "another thread of the run has panicked");
    }

    /// A thread that panics while it holds this breaks the barrier for the others.
    pub(crate) fn attend(&self) -> Attendance<'_> {
        Attendance(self)
    }
}

/// The round a thread has arrived for; it must wait for the others before it arrives again.
#[derive(Debug)]
#[must_use]
pub(crate) struct Arrival(usize);

/// See [`Barrier::attend`].
pub(crate) struct Attendance<'a>(&'a Barrier);

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // a lock poisoned by a panic elsewhere serves as well: all it does is order us
            let guard = self.0.lock.lock();
            self.0.broken.store(true, Ordering::Release);
            drop(guard);
            self.0.next_round.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_before_the_last_one_has_come() {
        let barrier = Barrier::new(3);
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let _attends = barrier.attend();
                    for round in 1..=2_000 {
                        count.fetch_add(1, Ordering::Relaxed);
                        barrier.wait(barrier.arrive());
                        assert_eq!(count.load(Ordering::Relaxed), 3 * round);
                        barrier.wait(barrier.arrive());
                    }
                });
            }
        });
    }

    /// Otherwise the run would hang, and the message of the panic would not be seen.
    #[test]
    fn nobody_waits_for_one_that_has_panicked() {
        for parked in [false, true] {
            let barrier = Barrier::new(2);
            let ends = std::thread::scope(|scope| {
                let waits = scope.spawn(|| {
                    let _attends = barrier.attend();
                    barrier.wait(barrier.arrive());
                });
                let fails = scope.spawn(|| {
                    let _attends = barrier.attend();
                    // it parks under the lock, which the panic takes: so it waits by then
                    while parked && barrier.parked.load(Ordering::Acquire) == 0 {
                        std::thread::yield_now();
                    }
                    panic!("on purpose");
                });
                [waits.join().is_err(), fails.join().is_err()]
            });
            assert_eq!(ends, [true, true]);
        }
    }
}
