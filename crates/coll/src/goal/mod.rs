//! GOAL schedules: sends, receives and computations of ranks, and what waits for what.
//!
//! ```text
//!   num_ranks 2
//!   rank 0 {
//!   a: calc 500                       500 ns of computation
//!   b: send 4096b to 1 tag 7          4096 bytes to rank 1
//!   b requires a                      b starts after a is complete
//!   }
//!   rank 1 {
//!   r: recv 4096b from 0 tag 7
//!   }
//! ```
//!
//! The order of lines means nothing except between operations that could start at the same time.
//! `requires` waits for completion, `irequires` for the start. Operations on one CPU run one after
//! the other, sends through one NIC too. `-1` as source or tag matches everything.

pub mod binary;
pub mod text;

use crate::balance::{Balance, Balances};

/// Matches every source or tag; written `-1`.
pub const ANY: u64 = u64::MAX;

weir_core::words! {
    /// What an operation does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Kind {
        /// Sends a message to a peer.
        Send = "send",
        /// Receives a message from a peer, or from any.
        Recv = "recv",
        /// Computes.
        Calc = "calc",
    }
}

/// One operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: Kind,
    /// Bytes of a message, or nanoseconds of a computation.
    pub size: u64,
    /// The other rank, or [`ANY`]; 0 for computations.
    pub peer: u64,
    /// The tag, or [`ANY`]; 0 for computations.
    pub tag: u64,
    /// Which of the rank's CPUs.
    pub cpu: u16,
    /// Which of the rank's NICs; 0 for computations.
    pub nic: u16,
}

impl Op {
    /// `send 4096b to 1 tag 7`, as it would be written.
    pub fn words(&self) -> String {
        let number = |x: u64| if x == ANY { "-1".to_owned() } else { x.to_string() };
        match self.kind {
            Kind::Calc => format!("calc {}", self.size),
            kind => {
                let to = if kind == Kind::Send { "to" } else { "from" };
                let (size, peer, tag) = (self.size, number(self.peer), number(self.tag));
                format!("{} {size}b {to} {peer} tag {tag}", kind.name())
            }
        }
    }
}

/// How an operation waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// For its start (`irequires`).
    Start,
    /// For its completion (`requires`).
    Completion,
}

/// One line that makes an operation wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Which operation waits, by index.
    pub waits: u32,
    /// For which.
    pub on: u32,
    /// For what of it.
    pub wait: Wait,
}

/// The program of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// Operations, in the order of the file.
    pub ops: Vec<Op>,
    /// For each operation the range of its start-dependents in `dependents`; those that wait for
    /// its completion follow up to the next.
    first: Vec<(u32, u32)>,
    dependents: Vec<u32>,
    /// For how many operations each one waits.
    pub waits_for: Vec<u32>,
}

impl Rank {
    /// A program of operations and what waits for what, in the order of the file.
    ///
    /// # Panics
    /// If a dependency names an operation that does not exist.
    pub fn new(ops: Vec<Op>, dependencies: &[Dependency]) -> Self {
        let mut waits_for = vec![0; ops.len()];
        let mut first = vec![(0_u32, 0_u32); ops.len()];
        for d in dependencies {
            waits_for[d.waits as usize] += 1;
            let count = &mut first[d.on as usize];
            match d.wait {
                Wait::Start => count.0 += 1,
                Wait::Completion => count.1 += 1,
            }
        }
        // from numbers of dependents to where they end, and in the next loop to where they begin
        let mut end = 0;
        for (starts, completions) in &mut first {
            *starts += end;
            *completions += *starts;
            end = *completions;
        }
        let mut dependents = vec![0; dependencies.len()];
        for d in dependencies.iter().rev() {
            let (starts, completions) = &mut first[d.on as usize];
            let place = if d.wait == Wait::Start { starts } else { completions };
            *place -= 1;
            dependents[*place as usize] = d.waits;
        }
        Self { ops, first, dependents, waits_for }
    }

    /// The operations that wait for `op`, in the order of their lines.
    pub fn dependents(&self, op: u32, wait: Wait) -> &[u32] {
        let (starts, completions) = self.first[op as usize];
        let end = self.first.get(op as usize + 1).map_or(self.dependents.len() as u32, |n| n.0);
        let range = match wait {
            Wait::Start => starts..completions,
            Wait::Completion => completions..end,
        };
        &self.dependents[range.start as usize..range.end as usize]
    }

    /// How many lines make operations wait.
    pub fn edges(&self) -> usize {
        self.dependents.len()
    }
}

/// A schedule: the programs of all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// By rank.
    pub ranks: Vec<Rank>,
}

impl Schedule {
    /// How many CPUs and NICs a rank has at most.
    pub fn resources(&self) -> (usize, usize) {
        let ops = || self.ranks.iter().flat_map(|r| &r.ops);
        let cpus = ops().map(|o| usize::from(o.cpu) + 1).max().unwrap_or(1);
        let nics = ops().map(|o| usize::from(o.nic) + 1).max().unwrap_or(1);
        (cpus, nics)
    }

    /// What cannot be right, whatever the order in which messages meet receives: by rank, how many
    /// messages are sent to it and how many it receives, and whether their sizes are the same.
    pub fn balances(&self) -> Vec<Balance> {
        let mut balances = Balances::new(self.ranks.len());
        for (rank, program) in self.ranks.iter().enumerate() {
            for op in &program.ops {
                match op.kind {
                    Kind::Calc => {}
                    Kind::Send => balances.sent(op.peer as usize, op.size),
                    Kind::Recv => balances.received(rank, op.size),
                }
            }
        }
        balances.all()
    }

    /// How many operations there are in all.
    pub fn operations(&self) -> usize {
        self.ranks.iter().map(|r| r.ops.len()).sum()
    }
}
