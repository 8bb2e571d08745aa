//! When a live run begins and ends, agreed between the threads of its nodes.

use super::Settings;
use crate::clock::{Clock, Dilation};
use crate::socket::real_time_ns;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use weir_core::Time;
use weir_sim::Finish;
use weir_sim::config::{Config, Stop};

/// What one node tells the others.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// Nothing left to send.
    pub(super) drained: AtomicBool,
    /// Frames of flows received and sent.
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
}

/// What all threads see.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) seats: Vec<Seat>,
    /// Nodes handle everything before this time, in picoseconds, and then stop.
    end: AtomicU64,
    finish: Mutex<Finish>,
    /// A thread has failed: the others need not go on.
    pub(super) failed: AtomicBool,
    /// Threads whose sockets are open.
    pub(super) ready: AtomicUsize,
    /// When scenario time begins, once all are.
    clock: OnceLock<Clock>,
    /// Threads that have sent their last frame.
    pub(super) silent: AtomicUsize,
}

/// Real time from the moment all are ready to the beginning of scenario time.
const START: u64 = 20_000_000;
/// A frame that was sent so long ago, in real time, and has not arrived will not.
const LOST: u64 = 2_000_000_000;
/// How often the threads are looked at.
const BETWEEN: Duration = Duration::from_millis(2);
/// So long after it was found that there is nothing left to do the run ends, in real time.
const GRACE: u64 = 5_000_000;

impl Board {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            seats: (0..threads).map(|_| Seat::default()).collect(),
            end: AtomicU64::new(u64::MAX),
            finish: Mutex::new(Finish::Interrupted),
            failed: AtomicBool::new(false),
            ready: AtomicUsize::new(0),
            clock: OnceLock::new(),
            silent: AtomicUsize::new(0),
        }
    }

    /// Waits for the beginning; `None` if a thread has failed before.
    pub(super) fn wait_for_clock(&self) -> Option<Clock> {
        loop {
            if let Some(clock) = self.clock.get() {
                return Some(*clock);
            }
            if self.failed.load(Ordering::Acquire) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Begins as soon as all sockets are open: before, frames would get lost.
    fn begin(&self, dilation: Dilation, interrupt: &AtomicBool) -> Option<Clock> {
        while self.ready.load(Ordering::Acquire) < self.seats.len() {
            if interrupt.load(Ordering::Relaxed) {
                self.failed.store(true, Ordering::Release);
            }
            if self.failed.load(Ordering::Acquire) {
                return None;
            }
            std::thread::sleep(BETWEEN);
        }
        let clock = Clock { origin: real_time_ns() + START, dilation };
        Some(*self.clock.get_or_init(|| clock))
    }

    /// When nodes stop.
    pub(super) fn end(&self) -> Time {
        Time::from_ps(self.end.load(Ordering::Acquire))
    }

    /// Why.
    pub(super) fn finish(&self) -> Finish {
        self.finish.lock().map_or(Finish::Interrupted, |finish| finish.clone())
    }

    fn finish_at(&self, end: Time, finish: Finish) {
        if let Ok(mut why) = self.finish.lock() {
            *why = finish;
        }
        self.end.store(end.as_ps(), Ordering::Release);
    }

    /// Waits for the end of the run and says when it is. With hosts that other programs use, the
    /// run does not end because the flows of the scenario have.
    pub(super) fn coordinate(&self, config: &Config, settings: &Settings, interrupt: &AtomicBool) {
        let Some(clock) = self.begin(settings.dilation, interrupt) else {
            return self.finish_at(Time::ZERO, Finish::Interrupted);
        };
        let stop = match config.stop {
            Stop::At(time) => time,
            Stop::Drained => weir_sim::HORIZON,
        };
        if stop < weir_sim::HORIZON {
            self.finish_at(stop, Finish::TimeLimit);
        }
        let mut idle = false;
        let idles = settings.free.is_empty();
        let mut missing = (self.counts(), real_time_ns());
        loop {
            std::thread::sleep(BETWEEN);
            let real = real_time_ns();
            let soon = clock.scenario(real + GRACE);
            if self.failed.load(Ordering::Acquire) || interrupt.load(Ordering::Relaxed) {
                return self.finish_at(soon.min(stop), Finish::Interrupted);
            }
            if soon >= stop {
                return;
            }
            let counts = self.counts();
            if counts != missing.0 || counts.0 == counts.1 {
                missing = (counts, real);
            } else if real > missing.1 + LOST {
                // a lossless network waits for it forever
                return self.finish_at(soon, Finish::Interrupted);
            }
            // twice in a row: a frame may be between two counters
            let was_idle =
                std::mem::replace(&mut idle, idles && self.is_idle() && real > clock.origin);
            if was_idle && idle {
                return self.finish_at(soon, Finish::Drained);
            }
        }
    }

    /// Whether every node has nothing left to send and every frame has arrived.
    fn is_idle(&self) -> bool {
        let drained = self.seats.iter().all(|s| s.drained.load(Ordering::Acquire));
        let (received, sent) = self.counts();
        drained && received == sent
    }

    /// Frames of flows received and sent by all nodes.
    fn counts(&self) -> (u64, u64) {
        let sum = |count: fn(&Seat) -> &AtomicU64| -> u64 {
            self.seats.iter().map(|s| count(s).load(Ordering::Acquire)).sum()
        };
        (sum(|s| &s.received), sum(|s| &s.sent))
    }
}
