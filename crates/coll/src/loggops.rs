//! The LogGOPS model: a schedule without packets.
//!
//! A message costs its sender the overhead `o` and `O` per byte, is under way for the latency `L`,
//! and costs its receiver `o` and the larger of `O` and `G` per byte; a NIC sends and receives one
//! message every `g` plus `G` per byte. A message of at most `S` bytes is sent eagerly; the send of
//! a larger one is complete when it is matched. There is no congestion between NICs, so this is
//! the time that a schedule takes in a network without bottlenecks.
//!
//! Entries are handled in the order (time, number); an entry that finds its CPU or NIC busy is put
//! back at the time when it is free and keeps its number. (Of those that wait for the same, only
//! the first is put back: `lines`.) All times are whole nanoseconds.

mod clocks;
mod lines;
mod stuck;

pub use stuck::{Place, Stuck};

use crate::goal::{Kind, Op, Schedule, Wait, binary, text};
use crate::matching::{Envelope, Waiting};
use clocks::Clocks;
use lines::{Group, Lines};
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
    model.run()?;
    model.finish()
}

/// What holds for any bytes: they are a schedule or an error; what is accepted has the same binary
/// form again, and ends under the model or names what waits. For fuzzing.
pub fn fuzz(bytes: &[u8]) {
    let read = [text::parse(bytes).ok(), binary::parse(bytes).ok()];
    for schedule in read.into_iter().flatten() {
        let _ = run(&schedule, &Params::default());
        if let Ok(written) = binary::write(&schedule) {
            assert_eq!(binary::parse(&written), Ok(schedule), "what was written can be read");
        }
    }
}

/// What an entry of the queue is about: an operation, the message of a send, or the one of these
/// that has the turn in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Op { rank: u32, op: u32 },
    Message { rank: u32, op: u32 },
    Turn { line: u32 },
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
    lines: Lines,
    /// Every entry that has to wait is put back by itself: the plain way, for tests.
    plain: bool,
    /// Entries taken from the queue.
    taken: u64,
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
            lines: Lines::default(),
            plain: false,
            taken: 0,
            next: 0,
            unexpected: 0,
            other_sizes: 0,
            other_size: None,
            released: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), Stuck> {
        self.enter_roots();
        while let Some(Reverse((time, number, what))) = self.queue.pop() {
            self.taken += 1;
            let What::Turn { line } = what else {
                self.try_now(time, number, what)?;
                continue;
            };
            // one with a lower number may have come, or this one may have begun
            let Some((_, what)) = self.lines.first(line).filter(|(first, _)| *first == number)
            else {
                continue;
            };
            match self.needs(what).map_or(0, |(_, free)| free) {
                free if free > time => {
                    self.queue.push(Reverse((free, number, What::Turn { line })))
                }
                _ => {
                    self.lines.leave(line);
                    self.begin(time, what)?;
                    if let Some((number, what)) = self.lines.first(line) {
                        let free = self.needs(what).map_or(0, |(_, free)| free);
                        self.queue.push(Reverse((free.max(time), number, What::Turn { line })));
                    }
                }
            }
        }
        Ok(())
    }

    /// Begins what an entry is about, or lets it wait for what it needs.
    fn try_now(&mut self, time: u64, number: u64, what: What) -> Result<(), Stuck> {
        match self.needs(what) {
            Some((_, free)) if free > time && self.plain => {
                self.queue.push(Reverse((free, number, what)));
            }
            Some((group, free)) if free > time => {
                if let Some(line) = self.lines.join(group, number, what) {
                    self.queue.push(Reverse((free, number, What::Turn { line })));
                }
            }
            _ => self.begin(time, what)?,
        }
        Ok(())
    }

    /// What an entry needs to begin, and when that is free; nothing for a receive.
    fn needs(&self, what: What) -> Option<(Group, u64)> {
        let (What::Op { rank, op } | What::Message { rank, op }) = what else { return None };
        let o = self.op(rank, op);
        let is_message = matches!(what, What::Message { .. });
        // a receiver is charged at the CPU and NIC of the sender's index
        let (at, cpu, nic) = (if is_message { o.peer as u32 } else { rank }, o.cpu, o.nic);
        let state = &self.ranks[at as usize];
        let busy = state.cpu_free.at(cpu);
        match o.kind {
            _ if is_message => {
                let free = busy.max(state.receive_free.at(nic));
                Some((Group::Receive { rank: at, cpu, nic }, free))
            }
            Kind::Send => {
                let free = busy.max(state.send_free.at(nic));
                Some((Group::Send { rank, cpu, nic }, free))
            }
            Kind::Calc => Some((Group::Calc { rank, cpu }, busy)),
            Kind::Recv => None,
        }
    }

    fn begin(&mut self, time: u64, what: What) -> Result<(), Stuck> {
        match what {
            What::Op { rank, op } => self.handle(time, rank, op),
            What::Message { rank, op } => self.arrive(time, rank, op),
            What::Turn { .. } => Ok(()),
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

    /// An operation begins.
    fn handle(&mut self, t: u64, rank: u32, op: u32) -> Result<(), Stuck> {
        let o = self.op(rank, op);
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

    /// The message of a send has arrived, and is received.
    fn arrive(&mut self, t: u64, rank: u32, op: u32) -> Result<(), Stuck> {
        let (p, at, o) = (self.params, (rank, op), self.op(rank, op));
        let to = o.peer as u32;
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
    use crate::goal::Rank;
    use crate::goal::text::parse;
    use proptest::prelude::*;

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

    /// Sends, receives and computations on few CPUs and NICs, most of them ready at once.
    fn busy() -> impl Strategy<Value = Schedule> {
        let op = (0..3_u8, 0..3_u64, 0..2_u16, 0..2_u16, 0..4_u64);
        let ranks = prop::collection::vec(prop::collection::vec(op, 0..30), 3);
        ranks.prop_map(|ranks| {
            let mut ops = vec![Vec::new(); 3];
            for (rank, drawn) in ranks.iter().enumerate() {
                for &(kind, peer, cpu, nic, size) in drawn {
                    let op = |kind, peer| Op { kind, size, peer, tag: 0, cpu, nic };
                    match kind {
                        0 => ops[rank].push(op(Kind::Calc, 0)),
                        _ => {
                            ops[rank].push(op(Kind::Send, peer));
                            ops[peer as usize].push(op(Kind::Recv, rank as u64));
                        }
                    }
                }
            }
            Schedule { ranks: ops.into_iter().map(|ops| Rank::new(ops, &[])).collect() }
        })
    }

    proptest! {
        /// Those that wait in lines begin when they would if each was put back by itself.
        #[test]
        fn lines_change_nothing(
            schedule in busy(), latency in 0..5_u64, overhead in 0..4_u64, gap in 0..6_u64,
            (gap_per_byte, overhead_per_byte) in (0..3_u64, 0..3_u64), eager in 0..4_u64,
        ) {
            let params =
                Params { latency, overhead, gap, gap_per_byte, overhead_per_byte, eager };
            let run = |plain| {
                let mut model = Model { plain, ..Model::new(&schedule, params) };
                model.run().and_then(|()| model.finish())
            };
            prop_assert_eq!(run(false), run(true));
        }
    }

    /// Each operation is looked at a few times, however many wait for the same CPU.
    #[test]
    fn many_operations_of_one_cpu_take_few_steps() {
        let calc = Op { kind: Kind::Calc, size: 1, peer: 0, tag: 0, cpu: 0, nic: 0 };
        let send = Op { kind: Kind::Send, ..calc };
        let recv = Op { kind: Kind::Recv, ..calc };
        let ops: Vec<Op> = [calc, send, recv].into_iter().flat_map(|op| vec![op; 10_000]).collect();
        let schedule = Schedule { ranks: vec![Rank::new(ops, &[])] };
        let mut model = Model::new(&schedule, Params { overhead: 1, gap: 1, ..Params::default() });
        model.run().expect("it ends");
        // an operation or message comes, waits, and begins
        assert!(model.taken <= 4 * 40_000, "{} steps", model.taken);
        assert!(model.finish().is_ok());
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
