//! When a live run begins and ends, agreed between the threads of its nodes.

use super::Settings;
use crate::clock::SharedClock;
use crate::socket::real_time_ns;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use weir_core::{NodeId, Time};
use weir_sim::Finish;
use weir_sim::config::{Config, Stop};

/// What one node tells the others.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) node: NodeId,
    /// Frames sent by each port.
    pub(super) sent_by_port: Vec<AtomicU64>,
    /// Nothing left to send.
    pub(super) drained: AtomicBool,
    /// Frames of flows received and sent.
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
    /// Nothing moves a packet here, or will by itself.
    pub(super) still: AtomicBool,
    /// How often its thread has looked at its ports.
    pub(super) rounds: AtomicU64,
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
    /// Nodes whose sockets are open.
    pub(super) ready: AtomicUsize,
    /// When scenario time begins, once all are.
    clock: OnceLock<SharedClock>,
    /// Nodes that have sent their last frame.
    pub(super) silent: AtomicUsize,
    /// How far the node that is farthest has run, in picoseconds.
    reached: AtomicU64,
}

/// Real time from the moment all are ready to the beginning of scenario time.
const START: u64 = 20_000_000;
/// A frame that was sent so long ago, in real time, and has not arrived will not, if every node has
/// looked at its ports so often since then.
const LOST: u64 = 2_000_000_000;
const LOOKS: u64 = 200;
/// Nodes that have been still for less real time than this may have just not been looked at.
const STILL: u64 = 100_000_000;
/// So long nodes wait at the end of a run for frames that the kernel still has.
const IN_KERNEL: Duration = Duration::from_secs(5);
/// And so long for the last frames of a program that floods a port.
const FLOOD: Duration = Duration::from_millis(200);
/// How often the threads are looked at.
const BETWEEN: Duration = Duration::from_millis(2);
/// So long after it was found that there is nothing left to do the run ends, in real time.
const GRACE: u64 = 5_000_000;
/// Or after so many times the time by which a waiting clock is ahead of a thread, if that is
/// earlier.
const FEW: u64 = 4;

impl Seat {
    fn new(node: NodeId, ports: usize) -> Self {
        Self {
            node,
            sent_by_port: (0..ports).map(|_| AtomicU64::new(0)).collect(),
            drained: AtomicBool::new(false),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            still: AtomicBool::new(false),
            rounds: AtomicU64::new(0),
        }
    }
}

impl Board {
    /// With a seat for each of these nodes, which have so many ports.
    pub(super) fn new(nodes: impl IntoIterator<Item = (NodeId, usize)>) -> Self {
        Self {
            seats: nodes.into_iter().map(|(node, ports)| Seat::new(node, ports)).collect(),
            end: AtomicU64::new(u64::MAX),
            finish: Mutex::new(Finish::Interrupted),
            failed: AtomicBool::new(false),
            ready: AtomicUsize::new(0),
            clock: OnceLock::new(),
            silent: AtomicUsize::new(0),
            reached: AtomicU64::new(0),
        }
    }

    /// The clock, once all sockets are open.
    pub(super) fn clock(&self) -> Option<&SharedClock> {
        self.clock.get()
    }

    /// Waits for the beginning; `None` if a thread has failed before.
    pub(super) fn wait_for_clock(&self) -> Option<&SharedClock> {
        loop {
            if let Some(clock) = self.clock.get() {
                return Some(clock);
            }
            if self.failed.load(Ordering::Acquire) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Begins as soon as all sockets are open: before, frames would get lost.
    fn begin(
        &self,
        settings: &Settings,
        threads: usize,
        interrupt: &AtomicBool,
    ) -> Option<&SharedClock> {
        while self.ready.load(Ordering::Acquire) < self.seats.len() {
            if interrupt.load(Ordering::Relaxed) {
                self.failed.store(true, Ordering::Release);
            }
            if self.failed.load(Ordering::Acquire) {
                return None;
            }
            std::thread::sleep(BETWEEN);
        }
        let origin = real_time_ns() + START;
        let clock = || SharedClock::new(origin, settings.dilation, settings.slack(), threads);
        Some(self.clock.get_or_init(clock))
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

    /// So many nodes have run so far and stop. Returns how far the farthest has, once all have: the
    /// end may have been set when one of them was beyond it already. `None` if a thread has failed.
    pub(super) fn stop(&self, now: Time, nodes: usize) -> Option<Time> {
        self.reached.fetch_max(now.as_ps(), Ordering::AcqRel);
        self.silent.fetch_add(nodes, Ordering::AcqRel);
        while self.silent.load(Ordering::Acquire) < self.seats.len() {
            if self.failed.load(Ordering::Acquire) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(self.reached())
    }

    /// When the run was over: all nodes have handled everything before.
    pub(super) fn reached(&self) -> Time {
        Time::from_ps(self.reached.load(Ordering::Acquire))
    }

    /// Lets a node take what is still on its way to it, after all have stopped. `take` says whether
    /// there may be more.
    pub(super) fn wait_for_rest(&self, mut take: impl FnMut() -> bool) {
        let began = std::time::Instant::now();
        loop {
            let more = take();
            let (received, sent) = self.counts();
            let passed = began.elapsed();
            let arrived = received >= sent && (!more || passed > FLOOD);
            if arrived || passed > IN_KERNEL {
                return;
            }
            if !more {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Waits for the end of the run and says when it is. With hosts that other programs use, the
    /// run does not end because the flows of the scenario have.
    pub(super) fn coordinate(
        &self,
        config: &Config,
        settings: &Settings,
        threads: usize,
        patience: Time,
        interrupt: &AtomicBool,
    ) {
        let Some(clock) = self.begin(settings, threads, interrupt) else {
            return self.finish_at(Time::ZERO, Finish::Interrupted);
        };
        let stop = match config.stop {
            Stop::At(time) => time,
            Stop::Drained => weir_sim::HORIZON,
        };
        let stop = settings.until.map_or(stop, |until| stop.min(until));
        if stop < weir_sim::HORIZON {
            self.finish_at(stop, Finish::TimeLimit);
        }
        // a clock that waits may take long for little
        let few = settings.slack().map_or(Time::NEVER, |slack| slack * FEW);
        let grace = settings.dilation.scenario(GRACE).min(few);
        let mut idle = false;
        let idles = settings.free.is_empty();
        let mut last = Move::new(self, Time::ZERO);
        loop {
            std::thread::sleep(BETWEEN);
            let real = real_time_ns();
            let now = clock.now(real);
            let soon = now.saturating_add(grace);
            if self.failed.load(Ordering::Acquire) || interrupt.load(Ordering::Relaxed) {
                return self.finish_at(soon.min(stop), Finish::Interrupted);
            }
            if soon >= stop {
                return;
            }
            last.look(self, now);
            let (received, sent) = last.counts;
            // a lossless network waits for a frame that got lost forever
            if received != sent && last.is_over(self, LOST, real) {
                return self.finish_at(soon, Finish::Interrupted);
            }
            let waits = idles && received == sent && !self.is_idle();
            let patient = now >= last.now.saturating_add(patience);
            if waits && last.still && patient && last.is_over(self, STILL, real) {
                return self.finish_at(soon, Finish::Stalled(Vec::new()));
            }
            // twice in a row: a frame may be between two counters
            let was_idle =
                std::mem::replace(&mut idle, idles && self.is_idle() && real > clock.origin());
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

/// The last time anything was seen to move.
struct Move {
    /// When, in real nanoseconds.
    at: u64,
    /// When, in the scenario.
    now: Time,
    /// Frames of flows received and sent.
    counts: (u64, u64),
    /// Whether all nodes are still.
    still: bool,
    /// How often each thread had looked at its ports.
    rounds: Vec<u64>,
}

impl Move {
    fn new(board: &Board, now: Time) -> Self {
        let (counts, rounds) = (board.counts(), rounds(board));
        Self { at: real_time_ns(), now, counts, still: false, rounds }
    }

    fn look(&mut self, board: &Board, now: Time) {
        let still = board.seats.iter().all(|s| s.still.load(Ordering::Acquire));
        let counts = board.counts();
        if (counts, still) != (self.counts, self.still) {
            *self = Self { at: real_time_ns(), now, counts, still, rounds: rounds(board) };
        }
    }

    /// Whether it was so long ago, and every thread has looked at its ports again and again since:
    /// one that the kernel does not run has not.
    fn is_over(&self, board: &Board, ago: u64, real: u64) -> bool {
        real > self.at + ago
            && self.rounds.iter().zip(rounds(board)).all(|(then, now)| now >= then + LOOKS)
    }
}

fn rounds(board: &Board) -> Vec<u64> {
    board.seats.iter().map(|s| s.rounds.load(Ordering::Acquire)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_over_where_the_farthest_node_has_stopped() {
        let board = Board::new([(NodeId(0), 1), (NodeId(1), 1)]);
        // the end was set when one of them was beyond it
        board.finish_at(Time::from_us(4), Finish::Drained);
        let ends = std::thread::scope(|scope| {
            let board = &board;
            let stop = |us| scope.spawn(move || board.stop(Time::from_us(us), 1));
            [4, 7].map(stop).map(|thread| thread.join().expect("it does not panic"))
        });
        assert_eq!(ends, [Some(Time::from_us(7)); 2]);
        assert_eq!(board.reached(), Time::from_us(7));
    }

    #[test]
    fn nodes_do_not_wait_for_one_that_has_failed() {
        let board = Board::new([(NodeId(0), 1), (NodeId(1), 1)]);
        board.failed.store(true, Ordering::Release);
        assert_eq!(board.stop(Time::from_us(4), 1), None);
    }

    #[test]
    fn a_thread_that_the_kernel_does_not_run_has_lost_no_frame() {
        let board = Board::new([(NodeId(0), 1), (NodeId(1), 1)]);
        board.seats[0].sent.store(1, Ordering::Release);
        let mut last = Move::new(&board, Time::ZERO);
        last.look(&board, Time::ZERO);
        let long_ago = last.at + 2 * LOST;
        board.seats[0].rounds.store(LOOKS, Ordering::Release);
        assert!(!last.is_over(&board, LOST, long_ago));
        board.seats[1].rounds.store(LOOKS, Ordering::Release);
        assert!(last.is_over(&board, LOST, long_ago));
        assert!(!last.is_over(&board, LOST, last.at + LOST));
        // something moves
        board.seats[0].sent.store(2, Ordering::Release);
        last.look(&board, Time::ZERO);
        assert!(!last.is_over(&board, LOST, long_ago));
    }
}
