//! Connection matrices of htsim (`.cm`), with triggers.
//!
//! ```text
//!   Nodes 4
//!   Connections 2
//!   Triggers 1
//!   0->1 id 1 start 0 size 100000 send_done_trigger 1
//!   2->3 id 2 trigger 1 size 100000
//!   trigger id 1 oneshot
//! ```
//!
//! A connection starts at a time in picoseconds or when its trigger fires. A trigger *fires* when
//! a connection that names it has sent all (`send_done_trigger`) or when all of it has arrived
//! (`recv_done_trigger`). `oneshot` starts all its connections at the first firing, `multishot`
//! one for each firing, in the order of the file, `barrier` all of them at the `count`-th.
//!
//! In htsim a trigger acts everywhere and at once. Here a rank knows what happens at itself; what
//! happens elsewhere it learns by a message of 64 bytes. Every trigger has a *home*: the rank at
//! which all its firings happen, or else the sender of its first connection. Firings elsewhere are
//! told to the home, and the home tells the senders of connections elsewhere. So a connection whose
//! trigger fires at its own sender starts at once, and others up to two messages later.

mod text;

pub use text::{Connection, Kind, Matrix, Start, Trigger, is_matrix, parse};

use crate::tasks::{Builder, Lane, Program, Task, TooMuch, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a message that tells of a trigger.
pub const NOTICE: u64 = 64;
/// Bytes of memory that tasks may take.
const MOST_MEMORY: u64 = 2 << 30;
/// Tags of messages that tell of triggers begin here; those of connections are their places.
const NOTICES: u64 = 1 << 40;

/// Why a matrix cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatrixError {
    /// A trigger can never do what is asked.
    #[error("line {line}: {what}")]
    Trigger {
        /// Where the trigger is.
        line: usize,
        /// Why.
        what: String,
    },
    /// Too many tasks.
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
}

/// A task of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At {
    rank: u32,
    task: u32,
}

/// What a trigger starts, and what fires it.
#[derive(Debug, Default)]
struct Wired {
    targets: Vec<At>,
    firings: Vec<At>,
}

#[derive(Default)]
struct Job {
    ranks: BTreeMap<u32, Builder>,
    used: u64,
    notices: u64,
}

/// The tasks of all ranks; a rank is a node of the matrix.
pub fn workload(matrix: &Matrix) -> Result<Workload, MatrixError> {
    let mut job = Job::default();
    // by connection: its sending, its arrival
    let (mut sends, mut arrivals) = (Vec::new(), Vec::new());
    for (tag, c) in (0..).zip(&matrix.connections) {
        let send = Task::Send { peer: c.to, bytes: c.bytes, tag };
        let send = job.task(c.from, send)?;
        if let Start::At(time) = c.start {
            let wait = job.task(c.from, Task::Calc(time))?;
            job.after(send, wait)?;
        }
        arrivals.push(job.task(c.to, Task::Recv { peer: c.from, tag })?);
        sends.push(send);
    }
    let mut wired: BTreeMap<u64, Wired> = BTreeMap::new();
    for (i, c) in matrix.connections.iter().enumerate() {
        if let Start::Trigger(id) = c.start {
            wired.entry(id).or_default().targets.push(sends[i]);
        }
        for (id, at) in [(c.send_done, sends[i]), (c.recv_done, arrivals[i])] {
            if let Some(id) = id {
                wired.entry(id).or_default().firings.push(at);
            }
        }
    }
    for (id, wired) in wired {
        job.trigger(&matrix.triggers[&id], wired)?;
    }
    let mut programs: Vec<Arc<Program>> = vec![Arc::default(); matrix.nodes as usize];
    for (rank, builder) in job.ranks {
        let program = builder.build();
        programs[rank as usize] = Arc::new(program);
    }
    let notes = matrix.notes.clone();
    let mut workload = Workload { ranks: programs, notes, ..Workload::default() };
    if job.notices > 0 {
        workload.notes.push(format!(
            "triggers act by {} messages of {NOTICE} bytes between ranks, in htsim at once",
            job.notices
        ));
    }
    Ok(workload)
}

impl Job {
    fn builder(&mut self, rank: u32) -> &mut Builder {
        self.ranks.entry(rank).or_insert_with(|| Builder::new(MOST_MEMORY))
    }

    fn task(&mut self, rank: u32, task: Task) -> Result<At, TooMuch> {
        let builder = self.builder(rank);
        let before = builder.bytes();
        let task = builder.task(task, Lane::Free)?;
        let more = builder.bytes() - before;
        self.room(more)?;
        Ok(At { rank, task })
    }

    fn after(&mut self, waits: At, on: At) -> Result<(), TooMuch> {
        debug_assert_eq!(waits.rank, on.rank, "dependencies are local to a rank");
        let builder = self.builder(waits.rank);
        let before = builder.bytes();
        builder.after(waits.task, on.task)?;
        let more = builder.bytes() - before;
        self.room(more)
    }

    fn room(&mut self, more: u64) -> Result<(), TooMuch> {
        self.used += more;
        if self.used > MOST_MEMORY { Err(TooMuch(MOST_MEMORY)) } else { Ok(()) }
    }

    /// What a rank does when something at another has happened: a message tells of it.
    fn told(&mut self, what: At, rank: u32) -> Result<At, TooMuch> {
        if what.rank == rank {
            return Ok(what);
        }
        let tag = NOTICES + self.notices;
        self.notices += 1;
        let send = self.task(what.rank, Task::Send { peer: rank, bytes: NOTICE, tag })?;
        self.after(send, what)?;
        self.task(rank, Task::Recv { peer: what.rank, tag })
    }

    fn trigger(&mut self, trigger: &Trigger, wired: Wired) -> Result<(), MatrixError> {
        let Wired { targets, firings } = wired;
        let Some(first) = targets.first() else { return Ok(()) };
        let needed = match trigger.kind {
            text::Kind::Oneshot => 1,
            text::Kind::Multishot => targets.len() as u64,
            text::Kind::Barrier(count) => count,
        };
        if needed > firings.len() as u64 {
            let (id, of) = (trigger.id, firings.len());
            let what = format!(
                "trigger {id} has to fire {needed} times to start {} connections, and {of} \
                 connections fire it",
                targets.len()
            );
            return Err(MatrixError::Trigger { line: trigger.line, what });
        }
        let one = firings.iter().all(|f| f.rank == firings[0].rank);
        let home = if one { firings[0].rank } else { first.rank };
        let mut known = Vec::with_capacity(firings.len());
        for firing in firings {
            known.push(self.told(firing, home)?);
        }
        if trigger.kind == text::Kind::Multishot {
            for (number, target) in (1..).zip(targets) {
                let fired = self.fired(home, &known, number)?;
                let here = self.told(fired, target.rank)?;
                self.after(target, here)?;
            }
            return Ok(());
        }
        let fired = self.fired(home, &known, needed as u32)?;
        let mut at: BTreeMap<u32, At> = BTreeMap::new();
        for target in targets {
            let here = match at.get(&target.rank) {
                Some(here) => *here,
                None => self.told(fired, target.rank)?,
            };
            at.insert(target.rank, here);
            self.after(target, here)?;
        }
        Ok(())
    }

    /// What is complete once so many of these are.
    fn fired(&mut self, home: u32, known: &[At], number: u32) -> Result<At, TooMuch> {
        let join = self.task(home, Task::Join)?;
        for firing in known {
            self.after(join, *firing)?;
        }
        self.builder(home).threshold(join.task, number);
        Ok(join)
    }
}

/// What holds for any bytes: they are a matrix or an error with a line. For fuzzing.
pub fn fuzz(bytes: &[u8]) {
    match parse(bytes) {
        Ok(matrix) => {
            if matrix.nodes <= 1000
                && matrix.connections.len() <= 1000
                && let Ok(workload) = workload(&matrix)
            {
                crate::tasks::fuzz(workload);
            }
        }
        Err(error) => assert!(error.line >= 1, "{error}"),
    }
}
