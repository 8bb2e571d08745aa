//! The LogGOPS model: a schedule without packets.
//!
//! A message costs its sender the overhead `o` and `O` per byte, is under way for the latency `L`,
//! and costs its receiver `o` and the larger of `O` and `G` per byte; a NIC sends and receives one
//! message every `g` plus `G` per byte. A message of at most `S` bytes is sent eagerly; the send of
//! a larger one is complete when it is matched. There is no congestion between NICs, so this is
//! the time that a schedule takes in a network without bottlenecks.
//!
//! Entries are handled in the order (time, number); an entry that finds its CPU or NIC busy is put
//! back at the time when it is free and keeps its number. All times are whole nanoseconds.

mod clocks;
mod stuck;

pub use stuck::{Place, Stuck};

use crate::goal::{Kind, Op, Schedule, Wait};
use crate::matching::{Envelope, Waiting};
use clocks::Clocks;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The parameters of the model, in nanoseconds, nanoseconds per byte and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// L: latency of a message.
    pub latency: u64,
    /// o: overhead of a message at either end.
    pub overhead: u64,
    /// g: gap between messages of a NIC.
    pub gap: u64,
    /// G: gap per byte.
    pub gap_per_byte: u64,
    /// O: overhead per byte.
    pub overhead_per_byte: u64,
    /// S: the largest message that is sent eagerly.
    pub eager: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            latency: 2500,
            overhead: 1500,
            gap: 1000,
            gap_per_byte: 6,
            overhead_per_byte: 0,
            eager: 65_535,
        }
    }
}

/// When everything happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// When each rank is done.
    pub end_ns: Vec<u64>,
    /// When each operation of each rank began.
    pub start_ns: Vec<Vec<u64>>,
    /// How many messages arrived before their receive was posted.
    pub unexpected: u64,
    /// How many receives met a message of another size. Sizes do not matter for that; a schedule
    /// in which they differ is rarely meant so.
    pub other_sizes: u64,
    /// The first receive that did.
    pub other_size: Option<Place>,
}

/// Runs a schedule.
pub fn run(schedule: &Schedule, params: &Params) -> Result<Run, Stuck> {
    let mut model = Model::new(schedule, *params);
    model.enter_roots();
    while let Some(Reverse((time, number, what))) = model.queue.pop() {
        match what {
            What::Op { rank, op } => model.handle(time, number, rank, op)?,
            What::Message { rank, op } => model.arrive(time, number, rank, op)?,
        }
    }
    model.finish()
}

/// What an entry of the queue is about: an operation, or the message of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Op { rank: u32, op: u32 },
    Message { rank: u32, op: u32 },
}

/// A message that came before its receive was posted.
#[derive(Clone, Copy, Debug)]
struct Early {
    rank: u32,
    op: u32,
    /// When it is wholly received.
    arrived: u64,
}

/// What a rank keeps while it runs.
#[derive(Clone, Debug, Default)]
struct State {
    cpu_free: Clocks,
    send_free: Clocks,
    receive_free: Clocks,
    posted: Waiting<u32>,
    early: Waiting<Early>,
    /// For how many operations each one still waits.
    waits_for: Vec<u32>,
    /// The latest known time of what each one waits for.
    ready: Vec<u64>,
    start: Vec<Option<u64>>,
    matched: u64,
}

struct Model<'a> {
    schedule: &'a Schedule,
    params: Params,
    ranks: Vec<State>,
    queue: BinaryHeap<Reverse<(u64, u64, What)>>,
    next: u64,
    unexpected: u64,
    other_sizes: u64,
    other_size: Option<(u32, u32)>,
    /// Operations that the present entry releases: rank, operation.
    released: Vec<(u32, u32)>,
}

impl<'a> Model<'a> {
    fn new(schedule: &'a Schedule, params: Params) -> Self {
        let state = |r: &crate::goal::Rank| State {
            waits_for: r.waits_for.clone(),
            ready: vec![0; r.ops.len()],
            start: vec![None; r.ops.len()],
            ..State::default()
        };
        Self {
            schedule,
            params,
            ranks: schedule.ranks.iter().map(state).collect(),
            queue: BinaryHeap::new(),
            next: 0,
            unexpected: 0,
            other_sizes: 0,
            other_size: None,
            released: Vec::new(),
        }
    }

    fn op(&self, rank: u32, op: u32) -> Op {
        self.schedule.ranks[rank as usize].ops[op as usize]
    }

    fn place(&self, rank: u32, op: u32) -> Place {
        Place { rank: rank as usize, index: op, op: self.op(rank, op) }
    }

    fn state(&mut self, rank: u32) -> &mut State {
        &mut self.ranks[rank as usize]
    }

    fn enter(&mut self, time: u64, what: What) {
        self.queue.push(Reverse((time, self.next, what)));
        self.next += 1;
    }

    fn enter_roots(&mut self) {
        for (rank, program) in self.schedule.ranks.iter().enumerate() {
            for (op, waits_for) in program.waits_for.iter().enumerate() {
                if *waits_for == 0 {
                    self.released.push((rank as u32, op as u32));
                }
            }
        }
        self.release();
    }

    /// Enters what was released: by rank, sends before receives before computations, and in the
    /// order in which the releases were found.
    fn release(&mut self) {
        let mut released = std::mem::take(&mut self.released);
        released.sort_by_key(|&(rank, op)| (rank, self.op(rank, op).kind));
        for &(rank, op) in &released {
            let o = self.op(rank, op);
            let state = &self.ranks[rank as usize];
            let mut time = state.ready[op as usize].max(state.cpu_free.at(o.cpu));
            if o.kind == Kind::Send {
                time = time.max(state.send_free.at(o.nic));
            }
            self.enter(time, What::Op { rank, op });
        }
        released.clear();
        self.released = released;
    }

    /// The start or completion of an operation at `time` is known to those that wait for it.
    fn tell(&mut self, rank: u32, op: u32, wait: Wait, time: u64) {
        let program = &self.schedule.ranks[rank as usize];
        let state = &mut self.ranks[rank as usize];
        for &waits in program.dependents(op, wait) {
            let at = waits as usize;
            state.ready[at] = state.ready[at].max(time);
            state.waits_for[at] -= 1;
            if state.waits_for[at] == 0 {
                self.released.push((rank, waits));
            }
        }
    }

    /// `start + fixed + (size - 1) x per_byte`, or the operation that ends too late.
    fn after(&self, start: u64, fixed: u64, per_byte: u64, at: (u32, u32)) -> Result<u64, Stuck> {
        let bytes = self.op(at.0, at.1).size.saturating_sub(1);
        let sum =
            bytes.checked_mul(per_byte).and_then(|b| b.checked_add(fixed)?.checked_add(start));
        sum.ok_or_else(|| Stuck::TooLong(self.place(at.0, at.1)))
    }

    fn handle(&mut self, t: u64, number: u64, rank: u32, op: u32) -> Result<(), Stuck> {
        let o = self.op(rank, op);
        let state = &self.ranks[rank as usize];
        let cpu = state.cpu_free.at(o.cpu);
        let free = match o.kind {
            Kind::Calc => cpu,
            Kind::Send => cpu.max(state.send_free.at(o.nic)),
            Kind::Recv => 0,
        };
        if free > t {
            self.queue.push(Reverse((free, number, What::Op { rank, op })));
            return Ok(());
        }
        self.state(rank).start[op as usize] = Some(t);
        self.tell(rank, op, Wait::Start, t);
        match o.kind {
            Kind::Calc => {
                let end = t.checked_add(o.size);
                let end = end.ok_or_else(|| Stuck::TooLong(self.place(rank, op)))?;
                self.state(rank).cpu_free.set(o.cpu, end);
                self.tell(rank, op, Wait::Completion, end);
            }
            Kind::Send => self.send(t, rank, op)?,
            Kind::Recv => self.receive(t, rank, op)?,
        }
        self.release();
        Ok(())
    }

    fn send(&mut self, t: u64, rank: u32, op: u32) -> Result<(), Stuck> {
        let (p, at, o) = (self.params, (rank, op), self.op(rank, op));
        let done = self.after(t, p.overhead, p.overhead_per_byte, at)?;
        let gap = self.after(t, p.gap, p.gap_per_byte, at)?;
        let fly = t.checked_add(p.overhead).and_then(|t| t.checked_add(p.latency));
        let fly = fly.ok_or_else(|| Stuck::TooLong(self.place(rank, op)))?;
        let state = self.state(rank);
        state.cpu_free.set(o.cpu, done);
        state.send_free.set(o.nic, gap);
        self.enter(fly, What::Message { rank, op });
        if o.size <= p.eager {
            self.tell(rank, op, Wait::Completion, done);
        }
        Ok(())
    }

    fn receive(&mut self, t: u64, rank: u32, op: u32) -> Result<(), Stuck> {
        let o = self.op(rank, op);
        let wanted = Envelope { source: o.peer, tag: o.tag };
        match self.state(rank).early.take(wanted) {
            Some(early) => {
                self.matched(t, (early.rank, early.op), (rank, op))?;
                self.tell(rank, op, Wait::Completion, t.max(early.arrived));
            }
            None => self.state(rank).posted.push(wanted, op),
        }
        Ok(())
    }

    /// The message of a send has arrived.
    fn arrive(&mut self, t: u64, number: u64, rank: u32, op: u32) -> Result<(), Stuck> {
        let (p, at, o) = (self.params, (rank, op), self.op(rank, op));
        // the receiver is charged at the CPU and NIC of the sender's index
        let to = o.peer as u32;
        let state = &self.ranks[to as usize];
        let free = state.cpu_free.at(o.cpu).max(state.receive_free.at(o.nic));
        if free > t {
            self.queue.push(Reverse((free, number, What::Message { rank, op })));
            return Ok(());
        }
        let per_byte = p.overhead_per_byte.max(p.gap_per_byte);
        let arrived = self.after(t, p.overhead, per_byte, at)?;
        let gap = self.after(t, p.gap, p.gap_per_byte, at)?;
        let envelope = Envelope { source: u64::from(rank), tag: o.tag };
        let state = self.state(to);
        state.cpu_free.set(o.cpu, arrived);
        state.receive_free.set(o.nic, gap);
        match state.posted.take(envelope) {
            Some(recv) => {
                self.matched(t, (rank, op), (to, recv))?;
                self.tell(to, recv, Wait::Completion, arrived);
                self.release();
            }
            None => {
                state.early.push(envelope, Early { rank, op, arrived });
                self.unexpected += 1;
            }
        }
        Ok(())
    }

    /// The message of a send met a receive at `t`: if it is too large to be sent eagerly, that
    /// completes the send.
    fn matched(&mut self, t: u64, send: (u32, u32), recv: (u32, u32)) -> Result<(), Stuck> {
        let ((rank, op), p) = (send, self.params);
        if self.op(rank, op).size != self.op(recv.0, recv.1).size {
            self.other_sizes += 1;
            self.other_size.get_or_insert(recv);
        }
        if self.op(rank, op).size <= p.eager {
            return Ok(());
        }
        let start = self.ranks[rank as usize].start[op as usize].expect("it was sent");
        let sent = self.after(start, p.overhead, p.overhead_per_byte, (rank, op))?;
        let complete = t.max(sent);
        let state = self.state(rank);
        state.matched = state.matched.max(t);
        self.tell(rank, op, Wait::Completion, complete);
        Ok(())
    }

    fn finish(self) -> Result<Run, Stuck> {
        if let Some(stuck) = self.stuck() {
            return Err(stuck);
        }
        let end = |s: &State| s.cpu_free.last().max(s.matched);
        let start = |s: &State| s.start.iter().map(|t| t.expect("nothing is stuck")).collect();
        Ok(Run {
            end_ns: self.ranks.iter().map(end).collect(),
            start_ns: self.ranks.iter().map(start).collect(),
            unexpected: self.unexpected,
            other_sizes: self.other_sizes,
            other_size: self.other_size.map(|(rank, op)| self.place(rank, op)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::text::parse;

    fn stuck(text: &str) -> String {
        let schedule = parse(text.as_bytes()).expect("a schedule");
        run(&schedule, &Params::default()).expect_err("it does not end").to_string()
    }

    #[test]
    fn times_beyond_64_bits_are_refused() {
        let text =
            "num_ranks 1\nrank 0 {\na: calc 18446744073709551614\nb: calc 9\nb requires a\n}";
        assert!(
            stuck(text).ends_with("(`calc 9`) ends after 2^64 ns") || stuck(text).contains("2^64")
        );
    }

    #[test]
    fn computations_of_one_cpu_run_one_after_the_other() {
        let on = |cpu| format!("num_ranks 1\nrank 0 {{\ncalc 10\ncalc 20 cpu {cpu}\n}}\n");
        let end = |cpu| {
            let schedule = parse(on(cpu).as_bytes()).expect("a schedule");
            run(&schedule, &Params::default()).expect("it ends").end_ns[0]
        };
        assert_eq!((end(0), end(1)), (30, 20));
    }

    #[test]
    fn a_receive_may_have_another_size_and_is_counted() {
        let text = "num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 9b to 1\n}\nrank 1 {\n\
                    recv 8b from 0\nrecv 8b from 0\n}\n";
        let schedule = parse(text.as_bytes()).expect("a schedule");
        let run = run(&schedule, &Params::default()).expect("it ends");
        assert_eq!(run.other_sizes, 1);
        let place = run.other_size.map(|p| (p.rank, p.index));
        assert_eq!(place, Some((1, 1)));
    }

    #[test]
    fn a_cpu_of_a_high_number_takes_no_memory_at_other_ranks() {
        // 65 536 ranks of 65 536 clocks would be 32 GiB
        let text = "num_ranks 65536\nrank 0 {\ncalc 7 cpu 65535\nsend 1b to 65535 cpu 65535\n}\n\
                    rank 65535 {\nrecv 1b from 0\n}\n";
        let schedule = parse(text.as_bytes()).expect("a schedule");
        let run = run(&schedule, &Params::default()).expect("it ends");
        // sends begin before computations; overhead, latency, overhead
        assert_eq!((run.end_ns[0], run.end_ns[65_535]), (1507, 1500 + 2500 + 1500));
    }
}
