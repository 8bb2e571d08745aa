//! A barrier for threads that meet every few microseconds: it spins briefly and then parks,
//! so that it is fast on a quiet machine and does not burn cores on a busy one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// How often to look before giving the core away: a few microseconds.
const SPINS: u32 = 4_000;

/// Lets `n` threads wait for each other, again and again.
#[derive(Debug)]
pub(crate) struct Barrier {
    n: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    lock: Mutex<()>,
    next_round: Condvar,
}

impl Barrier {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            lock: Mutex::new(()),
            next_round: Condvar::new(),
        }
    }

    /// Returns when all have called it. What a thread wrote before is visible to all after.
    pub(crate) fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.n {
            self.arrived.store(0, Ordering::Relaxed);
            // Under the lock, so that nobody misses it between looking and parking.
            let guard = self.lock.lock().expect("nobody panics while holding the barrier");
            self.round.store(round.wrapping_add(1), Ordering::Release);
            drop(guard);
            self.next_round.notify_all();
            return;
        }
        for _ in 0..SPINS {
            if self.round.load(Ordering::Acquire) != round {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = self.lock.lock().expect("nobody panics while holding the barrier");
        while self.round.load(Ordering::Acquire) == round {
            guard = self.next_round.wait(guard).expect("nobody panics while holding the barrier");
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
                    for round in 1..=2_000 {
                        count.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(count.load(Ordering::Relaxed), 3 * round);
                        barrier.wait();
                    }
                });
            }
        });
    }
}
