//! Sends that no receive meets, and receives that no send meets.
//!
//! Tasks name the peer and the tag of each message, so this does not depend on the order in which
//! they are carried out: of each source, destination and tag there have to be as many receives as
//! sends. The [balance](crate::balance) of each rank says whether that is so. Only for a rank that
//! it is not so for, its messages are counted by source and tag.

use super::{Program, Task, Workload, outer};
use crate::balance::Balances;
use rustc_hash::FxHashMap;

/// A send or a receive without a partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// Whose task it is.
    pub rank: u32,
    /// Which one, by its index.
    pub index: u32,
    /// A [`Task::Send`] or a [`Task::Recv`].
    pub task: Task,
    /// How many sends there are of its source, destination and tag.
    pub sends: u64,
    /// How many receives there are of them.
    pub receives: u64,
    /// How many ranks besides its destination receive other messages than are sent to them.
    pub others: usize,
}

impl Workload {
    /// A send or receive without a partner, if there is one: of the first rank that does not
    /// receive what is sent to it a receive if possible.
    pub fn unmet(&self) -> Option<Unmet> {
        let mut balances = Balances::new(self.ranks.len());
        for (rank, program) in (0..).zip(&self.ranks) {
            for step in &program.steps {
                match step.task {
                    Task::Send { peer, tag, .. } => balances.sent(peer as usize, outer(rank, tag)),
                    Task::Recv { peer, tag } => balances.received(rank as usize, outer(peer, tag)),
                    Task::Join | Task::Calc(_) | Task::Call(_) => {}
                }
            }
        }
        let mut wrong = (0..).zip(balances.all()).filter(|(_, balance)| balance.differs());
        let (destination, _) = wrong.next()?;
        let others = wrong.count();
        self.unmet_at(destination).map(|unmet| Unmet { others, ..unmet })
    }

    /// The first message of a destination that has no partner.
    fn unmet_at(&self, destination: u32) -> Option<Unmet> {
        let own = &self.ranks[destination as usize];
        let receives = |index: &(u32, Task)| matches!(index.1, Task::Recv { .. });
        let receives = tasks(own).filter(receives).map(|(index, task)| (destination, index, task));
        let sends = (0..).zip(&self.ranks).flat_map(|(rank, program)| {
            let to = move |task| matches!(task, Task::Send { peer, .. } if peer == destination);
            tasks(program).filter(move |(_, task)| to(*task)).map(move |(i, task)| (rank, i, task))
        });
        let messages = || receives.clone().chain(sends.clone());
        // by source and tag: sends and receives
        let mut counts: FxHashMap<(u32, u64), (u64, u64)> = FxHashMap::default();
        for (rank, _, task) in messages() {
            let count = counts.entry(source_and_tag(rank, task)).or_default();
            match task {
                Task::Send { .. } => count.0 += 1,
                _ => count.1 += 1,
            }
        }
        // the first of its kind that comes after as many as the other side has
        let mut before = counts.clone();
        messages().find_map(|(rank, index, task)| {
            let key = source_and_tag(rank, task);
            let (sends, receives) = counts[&key];
            let left = before.get_mut(&key)?;
            let partners =
                if matches!(task, Task::Send { .. }) { &mut left.1 } else { &mut left.0 };
            if *partners > 0 {
                *partners -= 1;
                return None;
            }
            Some(Unmet { rank, index, task, sends, receives, others: 0 })
        })
    }
}

fn tasks(program: &Program) -> impl Iterator<Item = (u32, Task)> + Clone {
    (0..).zip(&program.steps).map(|(index, step)| (index, step.task))
}

/// From whom a message is, and its tag.
fn source_and_tag(rank: u32, task: Task) -> (u32, u64) {
    match task {
        Task::Send { tag, .. } => (rank, tag),
        Task::Recv { peer, tag } => (peer, tag),
        Task::Join | Task::Calc(_) | Task::Call(_) => unreachable!("only messages are asked for"),
    }
}
