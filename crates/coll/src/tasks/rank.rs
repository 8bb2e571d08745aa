//! The tasks of one rank, carried out.

use super::{Lane, NO_CALL, TAGS, Task, Workload, outer};
use crate::graph::SendDone;
use crate::matching::{Envelope, Waiting};
use crate::program::{Action, Message, Program, Wait};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use weir_core::Bytes;

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waits for others.
    Waits,
    /// Ready, or under way.
    Begun,
    Complete,
}

/// A lane: whether it is occupied, and what waits for it, by rank among those that wait.
#[derive(Debug, Default)]
struct Queue {
    occupied: bool,
    waiting: BinaryHeap<(i64, u32)>,
}

/// A call that is under way.
#[derive(Debug)]
struct Active {
    task: u32,
    group: Arc<[u32]>,
    program: Box<dyn Program>,
}

/// The program of one rank of a [`Workload`].
#[derive(Debug)]
pub struct TaskRank {
    workload: Arc<Workload>,
    rank: u32,
    send_done: SendDone,
    states: Vec<State>,
    needs: Vec<u32>,
    complete: usize,
    lanes: [Queue; Lane::COUNT],
    readied: i64,
    posted: Waiting<u32>,
    unexpected: Waiting<()>,
    active: FxHashMap<u32, Active>,
    /// Messages of calls that have not begun here.
    early: FxHashMap<u32, Vec<(u32, u64)>>,
    /// Tasks that became ready and have not been looked at.
    ready: VecDeque<u32>,
    actions: VecDeque<Action>,
    ended: bool,
}

impl TaskRank {
    /// Rank `rank` of a workload.
    ///
    /// # Panics
    /// If the workload has no such rank.
    pub fn new(workload: Arc<Workload>, rank: u32, send_done: SendDone) -> Self {
        let program = Arc::clone(&workload.ranks[rank as usize]);
        let mut this = Self {
            rank,
            send_done,
            states: vec![State::Waits; program.steps.len()],
            needs: program.needs.clone(),
            complete: 0,
            lanes: Default::default(),
            readied: 0,
            posted: Waiting::default(),
            unexpected: Waiting::default(),
            active: FxHashMap::default(),
            early: FxHashMap::default(),
            ready: VecDeque::new(),
            actions: VecDeque::from([Action::Begin(0)]),
            ended: false,
            workload,
        };
        let roots = (0..this.needs.len() as u32).filter(|i| this.needs[*i as usize] == 0);
        this.ready = roots.collect();
        this.go_on();
        this
    }

    fn task(&self, index: u32) -> (Task, Lane) {
        let step = self.workload.ranks[self.rank as usize].steps[index as usize];
        (step.task, step.lane)
    }

    /// Begins what is ready, and all that becomes ready by that.
    fn go_on(&mut self) {
        loop {
            while let Some(index) = self.ready.pop_front() {
                self.states[index as usize] = State::Begun;
                let (_, lane) = self.task(index);
                if lane == Lane::Free {
                    self.start(index);
                    continue;
                }
                self.readied += 1;
                // the newest, or the one that comes first in the file
                let key = if lane == Lane::Newest { self.readied } else { -i64::from(index) };
                self.lanes[lane as usize].waiting.push((key, index));
            }
            // what is ready at the same time has the same right to a lane
            if !self.serve() {
                break;
            }
        }
        if self.complete == self.states.len() && !self.ended {
            self.ended = true;
            self.actions.push_back(Action::End(0));
        }
    }

    /// Starts what goes first on a lane that is free; whether there was something.
    fn serve(&mut self) -> bool {
        let free = self.lanes.iter_mut().find(|l| !l.occupied && !l.waiting.is_empty());
        let Some(lane) = free else { return false };
        let Some((_, index)) = lane.waiting.pop() else { return false };
        lane.occupied = true;
        self.start(index);
        true
    }

    /// Starts a task, whose lane is its own until it is complete.
    fn start(&mut self, index: u32) {
        let op = outer(NO_CALL, u64::from(index));
        match self.task(index).0 {
            Task::Join => self.completed(index),
            Task::Calc(time) => self.actions.push_back(Action::Calc { op, time }),
            Task::Send { peer, bytes, tag } => self.actions.push_back(Action::Send(Message {
                op,
                peer,
                // a message has at least one byte on the wire
                bytes: Bytes::new(bytes.max(1)),
                tag: outer(NO_CALL, tag),
                channel: 0,
            })),
            Task::Recv { peer, tag } => {
                let envelope = Envelope { source: u64::from(peer), tag };
                match self.unexpected.take(envelope) {
                    Some(()) => self.completed(index),
                    None => self.posted.push(envelope, index),
                }
            }
            Task::Call(call) => self.begin_call(call, index),
        }
    }

    fn begin_call(&mut self, call: u32, task: u32) {
        let workload = Arc::clone(&self.workload);
        let what = &workload.calls[call as usize];
        let Some((group, at)) = workload.sets[what.set as usize].place(self.rank) else {
            // readers refuse calls of groups without this rank
            return self.completed(task);
        };
        let program = what.work.begin(group, at);
        let mut active = Active { task, group: Arc::clone(group), program };
        for (peer, tag) in self.early.remove(&call).unwrap_or_default() {
            if let Some(from) = place_of(&active.group, peer) {
                active.program.on_received(from, tag);
            }
        }
        self.active.insert(call, active);
        self.poll_call(call);
    }

    /// Carries out what a call wants, and ends it once it is done.
    fn poll_call(&mut self, call: u32) {
        let Some(active) = self.active.get_mut(&call) else { return };
        while let Some(action) = active.program.poll() {
            match action {
                Action::Send(m) => self.actions.push_back(Action::Send(Message {
                    op: outer(call, m.op),
                    peer: active.group[m.peer as usize],
                    tag: outer(call, m.tag),
                    ..m
                })),
                Action::Calc { op, time } => {
                    self.actions.push_back(Action::Calc { op: outer(call, op), time });
                }
                Action::Wait { op, time } => {
                    self.actions.push_back(Action::Wait { op: outer(call, op), time });
                }
                Action::Begin(_) | Action::End(_) => {}
            }
        }
        if active.program.is_done() {
            let task = active.task;
            self.active.remove(&call);
            self.completed(task);
        }
    }

    /// A task is complete: its lane is free, and what waits for it may be ready.
    fn completed(&mut self, index: u32) {
        self.states[index as usize] = State::Complete;
        self.complete += 1;
        let (_, lane) = self.task(index);
        if lane != Lane::Free {
            self.lanes[lane as usize].occupied = false;
        }
        let program = Arc::clone(&self.workload.ranks[self.rank as usize]);
        for &dependent in program.dependents(index) {
            // a task that needs some of many has begun before the last of them
            let left = &mut self.needs[dependent as usize];
            if *left > 0 {
                *left -= 1;
                if *left == 0 {
                    self.ready.push_back(dependent);
                }
            }
        }
    }

    /// Tells the call of an operation, or says which task the operation is.
    fn own(&mut self, op: u64, tell: impl FnOnce(&mut dyn Program, u64)) -> Option<u32> {
        let (call, inner) = ((op >> 44) as u32, op & (TAGS - 1));
        if call == NO_CALL {
            let index = u32::try_from(inner).ok().filter(|i| (*i as usize) < self.states.len())?;
            return (self.states[index as usize] == State::Begun).then_some(index);
        }
        if let Some(active) = self.active.get_mut(&call) {
            tell(&mut *active.program, inner);
            self.poll_call(call);
            self.go_on();
        }
        None
    }

    /// A message of a task's own counts as sent.
    fn send_completed(&mut self, op: u64) {
        if let Some(index) = self.own(op, |_, _| {})
            && matches!(self.task(index).0, Task::Send { .. })
        {
            self.completed(index);
            self.go_on();
        }
    }

    /// What a task under way waits for.
    fn wait_of(&self, index: u32) -> Vec<Wait> {
        let program = &self.workload.ranks[self.rank as usize];
        let name = format!("task {}", program.name(index));
        let wait = |operation, peer, tag| vec![Wait { operation, peer, tag }];
        match self.task(index).0 {
            Task::Recv { peer, tag } => {
                wait(format!("{name} (receive from rank {peer})"), Some(peer), Some(tag))
            }
            Task::Call(call) => {
                let what = self.workload.calls[call as usize].work.name();
                let Some(active) = self.active.get(&call) else { return Vec::new() };
                let inner = active.program.waits().into_iter().map(|w| Wait {
                    operation: format!("{name} ({what}): {}", w.operation),
                    peer: w.peer.map(|p| active.group[p as usize]),
                    tag: w.tag,
                });
                inner.collect()
            }
            Task::Send { peer, .. } => wait(format!("{name} (send to rank {peer})"), None, None),
            Task::Calc(_) | Task::Join => wait(format!("{name} (computation)"), None, None),
        }
    }
}

/// The place of a rank in its group. What a search by halves finds in a group without order is
/// there, too.
fn place_of(group: &[u32], rank: u32) -> Option<u32> {
    let at = group.binary_search(&rank).ok();
    at.or_else(|| group.iter().position(|member| *member == rank)).map(|at| at as u32)
}

impl Program for TaskRank {
    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn on_sent(&mut self, op: u64) {
        if op >> 44 != u64::from(NO_CALL) {
            self.own(op, |program, op| program.on_sent(op));
        } else if self.send_done == SendDone::Sent {
            self.send_completed(op);
        }
    }

    fn on_acked(&mut self, op: u64) {
        if op >> 44 != u64::from(NO_CALL) {
            self.own(op, |program, op| program.on_acked(op));
        } else {
            self.send_completed(op);
        }
    }

    fn on_received(&mut self, peer: u32, tag: u64) {
        let (call, inner) = ((tag >> 44) as u32, tag & (TAGS - 1));
        if call == NO_CALL {
            let envelope = Envelope { source: u64::from(peer), tag: inner };
            match self.posted.take(envelope) {
                Some(index) => self.completed(index),
                None => self.unexpected.push(envelope, ()),
            }
            return self.go_on();
        }
        let Some(active) = self.active.get_mut(&call) else {
            self.early.entry(call).or_default().push((peer, inner));
            return;
        };
        if let Some(from) = place_of(&active.group, peer) {
            active.program.on_received(from, inner);
            self.poll_call(call);
            self.go_on();
        }
    }

    fn on_timer(&mut self, op: u64) {
        let task = self.own(op, |program, op| program.on_timer(op));
        if let Some(index) = task
            && matches!(self.task(index).0, Task::Calc(_))
        {
            self.completed(index);
            self.go_on();
        }
    }

    fn is_done(&self) -> bool {
        self.complete == self.states.len() && self.actions.is_empty()
    }

    fn waits(&self) -> Vec<Wait> {
        // what waits for a lane waits for what occupies it
        let queued: FxHashSet<u32> = self
            .lanes
            .iter()
            .flat_map(|lane| lane.waiting.iter().map(|(_, index)| *index))
            .collect();
        let begun = (0..).zip(&self.states).filter(|(_, s)| **s == State::Begun);
        let begun = begun.map(|(i, _)| i).filter(|i| !queued.contains(i));
        let mut waits: Vec<Wait> = begun.flat_map(|i| self.wait_of(i)).collect();
        // messages first: what else is under way ends by itself
        waits.sort_by_key(|w| w.peer.is_none());
        if waits.is_empty() && !self.is_done() {
            let left = self.states.iter().position(|s| *s != State::Complete).unwrap_or(0);
            let name = self.workload.ranks[self.rank as usize].name(left as u32);
            let operation = format!("task {name}, for which not enough others are complete");
            waits.push(Wait { operation, peer: None, tag: None });
        }
        waits
    }
}
