//! Tasks of ranks with collectives among them: what the readers of traces make of their files.
//!
//! A rank has tasks: computations, messages, and *calls* of collectives among a group of ranks. A
//! task begins when enough of those before it are complete (all of them, unless it says how many)
//! and its *lane* is free; a lane carries out one task at a time. A collective is never written
//! out into messages: its steps are computed while it runs, so a call takes as little memory as a
//! message.
//!
//! ```text
//!   Workload ── ranks ──► Program: steps, and who waits for whom
//!            └─ calls ──► Call: which set of groups, what is done there
//!            └─ sets ───► Set: groups of ranks; a rank is in one of them at most
//! ```

mod edges;
mod rank;
mod unmet;

pub use edges::{Builder, Program, TooMuch};
pub use rank::TaskRank;
pub use unmet::Unmet;

use crate::collective::flows::{Flows, FlowsError, FlowsPlan};
use crate::collective::{Collective, Plan, PlanError};
use crate::graph::SendDone;
use crate::program;
use std::sync::Arc;
use weir_core::{Bytes, Time};

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Nothing: it joins others.
    Join,
    /// Computes.
    Calc(Time),
    /// Sends a message to a rank, and is complete when it is acknowledged.
    Send {
        /// To whom.
        peer: u32,
        /// How large it is.
        bytes: u64,
        /// What its receiver tells it by; below [`TAGS`].
        tag: u64,
    },
    /// Receives a message, and is complete when it is there.
    Recv {
        /// From whom.
        peer: u32,
        /// With which tag.
        tag: u64,
    },
    /// Takes part in a call, by its number.
    Call(u32),
}

/// Tags of messages are smaller.
pub const TAGS: u64 = 1 << 44;
/// The most calls of a workload: their numbers are part of tags.
pub const MOST_CALLS: usize = (1 << 20) - 1;
/// What is before the tags of messages that belong to no call.
const NO_CALL: u32 = MOST_CALLS as u32;

/// A number of a call's own, or a tag of a rank's own, with the call or the rank before it.
fn outer(call: u32, inner: u64) -> u64 {
    u64::from(call) << 44 | inner
}

/// What carries out tasks one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// None: the task begins when it is ready.
    Free,
    /// Operations of the host processor.
    Cpu,
    /// Computations of the accelerator.
    Gpu,
    /// Communication.
    Network,
    /// Transfers between memories.
    Memory,
    /// Communication of which the newest goes first.
    Newest,
}

impl Lane {
    /// How many there are.
    pub(crate) const COUNT: usize = 6;
}

/// A task of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub task: Task,
    /// What carries it out.
    pub lane: Lane,
}

/// Groups of ranks that work in the same way; a rank is in one of them at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// The groups, each with its ranks in order.
    pub groups: Vec<Arc<[u32]>>,
    /// By rank: its group and its place there. Empty if there is one group.
    places: Vec<(u32, u32)>,
}

impl Set {
    /// One group.
    pub fn one(members: Vec<u32>) -> Self {
        Self { groups: vec![members.into()], places: Vec::new() }
    }

    /// Disjoint groups of `ranks` ranks.
    pub fn of(groups: Vec<Vec<u32>>, ranks: u32) -> Self {
        let mut places = vec![(u32::MAX, 0); ranks as usize];
        for (g, members) in (0..).zip(&groups) {
            for (at, &rank) in (0..).zip(members) {
                places[rank as usize] = (g, at);
            }
        }
        Self { groups: groups.into_iter().map(Into::into).collect(), places }
    }

    /// The group of a rank and its place there.
    pub fn place(&self, rank: u32) -> Option<(&Arc<[u32]>, u32)> {
        if self.places.is_empty() {
            let group = self.groups.first()?;
            let at = group.iter().position(|member| *member == rank)?;
            return Some((group, at as u32));
        }
        let &(group, at) = self.places.get(rank as usize)?;
        Some((self.groups.get(group as usize)?, at))
    }
}

/// What is done in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A collective with one of the algorithms there are; `ranks` is that of the group.
    Plan(Plan),
    /// The flows that SimAI makes of a collective.
    Flows(FlowsPlan),
}

impl Work {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plan(plan) => plan.operation.name(),
            Self::Flows(plan) => plan.operation.name(),
        }
    }

    /// No message of it is larger.
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Plan(plan) => plan.bytes,
            Self::Flows(plan) => plan.bytes,
        }
    }

    /// Its part at one member of a group.
    fn begin(&self, group: &[u32], at: u32) -> Box<dyn program::Program> {
        match self {
            Self::Plan(plan) => {
                let plan = Plan { ranks: group.len() as u32, ..plan.clone() };
                Box::new(Collective::new(Arc::new(plan), at, Time::ZERO))
            }
            Self::Flows(plan) => Box::new(Flows::new(plan, group, at)),
        }
    }

    /// Says what is wrong with it in a group, if something is.
    pub fn check(&self, group: &[u32]) -> Result<(), WorkError> {
        match self {
            Self::Plan(plan) => {
                Plan { ranks: group.len() as u32, ..plan.clone() }.check()?;
                Ok(())
            }
            Self::Flows(plan) => Ok(plan.check(group)?),
        }
    }
}

/// Why a collective cannot be carried out in its group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// A collective of ours.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Flows as SimAI makes them.
    #[error(transparent)]
    Flows(#[from] FlowsError),
}

/// A collective among ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// In which set: each of its groups does it by itself.
    pub set: u32,
    /// What is done.
    pub work: Work,
}

/// What all ranks of a job do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// By rank; ranks that do the same share a program.
    pub ranks: Vec<Arc<Program>>,
    /// Sets of groups.
    pub sets: Vec<Set>,
    /// Collectives, by number.
    pub calls: Vec<Call>,
    /// What could not be taken as it stands, in words.
    pub notes: Vec<String>,
}

impl Workload {
    /// How many tasks all ranks have.
    pub fn tasks(&self) -> u64 {
        self.ranks.iter().map(|program| program.steps.len() as u64).sum()
    }

    /// No message is larger.
    pub fn largest_message(&self) -> Bytes {
        let steps = self.programs().flat_map(|program| &program.steps);
        let sends = steps.filter_map(|step| match step.task {
            Task::Send { bytes, .. } => Some(Bytes::new(bytes)),
            _ => None,
        });
        let calls = self.calls.iter().map(|call| call.work.bytes());
        sends.chain(calls).max().unwrap_or(Bytes::ZERO)
    }

    /// The longest computation.
    pub fn longest_calc(&self) -> Time {
        let steps = self.programs().flat_map(|program| &program.steps);
        let calcs = steps.filter_map(|step| match step.task {
            Task::Calc(time) => Some(time),
            _ => None,
        });
        calcs.max().unwrap_or(Time::ZERO)
    }

    /// Programs, those that follow each other and are the same only once.
    pub fn programs(&self) -> impl Iterator<Item = &Arc<Program>> {
        let new = |i: &usize| *i == 0 || !Arc::ptr_eq(&self.ranks[i - 1], &self.ranks[*i]);
        (0..self.ranks.len()).filter(new).map(|i| &self.ranks[i])
    }
}

/// Carries a workload out without a network: messages arrive in the order in which they were
/// sent. How many there were, or what the first stuck rank waits for. For tests and fuzzing.
pub fn carry_out(workload: &Arc<Workload>, most: u64) -> Result<u64, Vec<(u32, program::Wait)>> {
    use crate::program::{Action, Program as _};
    use std::collections::VecDeque;
    let mut ranks: Vec<TaskRank> = (0..workload.ranks.len() as u32)
        .map(|rank| TaskRank::new(Arc::clone(workload), rank, SendDone::Acked))
        .collect();
    let mut messages = VecDeque::new();
    let mut sent = 0;
    for at in 0..ranks.len() {
        act(&mut ranks, at, &mut messages);
    }
    while let Some((from, m)) = messages.pop_front() {
        sent += 1;
        ranks[from].on_sent(m.op);
        ranks[from].on_acked(m.op);
        act(&mut ranks, from, &mut messages);
        ranks[m.peer as usize].on_received(from as u32, m.tag);
        act(&mut ranks, m.peer as usize, &mut messages);
        if sent == most {
            return Ok(sent);
        }
    }
    fn act(ranks: &mut [TaskRank], at: usize, messages: &mut VecDeque<(usize, program::Message)>) {
        while let Some(action) = ranks[at].poll() {
            match action {
                Action::Calc { op, .. } | Action::Wait { op, .. } => ranks[at].on_timer(op),
                Action::Send(m) => messages.push_back((at, m)),
                Action::Begin(_) | Action::End(_) => {}
            }
        }
    }
    let programs: Vec<&TaskRank> = ranks.iter().collect();
    let chain = program::wait_for_chain(&programs);
    if chain.is_empty() { Ok(sent) } else { Err(chain) }
}

/// What was accepted can be carried out, or names what waits.
pub(crate) fn fuzz(workload: Workload) {
    let small = workload.calls.iter().all(|call| call.work.bytes().get() < 1 << 16);
    if workload.tasks() < 10_000 && small {
        let _ = carry_out(&Arc::new(workload), 100_000);
    }
}
