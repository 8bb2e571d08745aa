//! A GOAL schedule as the programs of its ranks.
//!
//! The network decides how long messages take; overheads are left to it, too. Computations of a
//! CPU run one after the other, in the order in which they become ready, and a send waits until no
//! computation occupies its CPU. Sends through one NIC share a channel.

use crate::goal::{ANY, Kind, Op, Schedule, Wait as Until};
use crate::matching::{Envelope, Waiting};
use crate::program::{Action, Message, Program, Wait};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use weir_core::{Bytes, Time};

/// More operations of a circle are counted, not named.
const MOST_WORDS: usize = 16;

/// When a send is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendDone {
    /// When its last packet has left.
    Sent,
    /// When all of it is acknowledged.
    #[default]
    Acked,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waits for other operations.
    Waits,
    /// Ready, or under way.
    Begun,
    Complete,
}

/// The program of one rank of a schedule.
#[derive(Debug)]
pub struct Graph {
    schedule: Arc<Schedule>,
    rank: u32,
    send_done: SendDone,
    states: Vec<State>,
    waits_for: Vec<u32>,
    complete: usize,
    /// By CPU that is in use: whether a computation occupies it, and what waits for it.
    cpus: BTreeMap<u16, (bool, VecDeque<u32>)>,
    posted: Waiting<u32>,
    unexpected: Waiting<()>,
    actions: VecDeque<Action>,
    begun: bool,
}

impl Graph {
    /// Rank `rank` of a schedule.
    ///
    /// # Panics
    /// If the schedule has no such rank.
    pub fn new(schedule: Arc<Schedule>, rank: u32, send_done: SendDone) -> Self {
        let program = &schedule.ranks[rank as usize];
        let mut graph = Self {
            states: vec![State::Waits; program.ops.len()],
            waits_for: program.waits_for.clone(),
            complete: 0,
            cpus: BTreeMap::new(),
            posted: Waiting::default(),
            unexpected: Waiting::default(),
            actions: VecDeque::from([Action::Begin(0)]),
            begun: false,
            schedule,
            rank,
            send_done,
        };
        let roots: Vec<u32> =
            (0..graph.states.len() as u32).filter(|&i| graph.waits_for[i as usize] == 0).collect();
        graph.release(roots);
        graph.end_if_complete();
        graph
    }

    fn op(&self, index: u32) -> Op {
        self.schedule.ranks[self.rank as usize].ops[index as usize]
    }

    /// Begins operations, and all that become ready by that.
    fn release(&mut self, ready: Vec<u32>) {
        let mut ready = VecDeque::from(ready);
        while let Some(index) = ready.pop_front() {
            self.states[index as usize] = State::Begun;
            let op = self.op(index);
            match op.kind {
                Kind::Recv => {
                    let envelope = Envelope { source: op.peer, tag: op.tag };
                    ready.extend(self.started(index));
                    match self.unexpected.take(envelope) {
                        Some(()) => ready.extend(self.completed(index)),
                        None => self.posted.push(envelope, index),
                    }
                }
                Kind::Send | Kind::Calc => {
                    self.cpus.entry(op.cpu).or_default().1.push_back(index);
                    ready.extend(self.serve(op.cpu));
                }
            }
        }
    }

    /// Begins what waits for a CPU as far as it is free; what becomes ready by that.
    fn serve(&mut self, cpu: u16) -> Vec<u32> {
        let mut ready = Vec::new();
        while let Some((occupied, waiting)) = self.cpus.get_mut(&cpu)
            && !*occupied
            && let Some(index) = waiting.pop_front()
        {
            let op = self.op(index);
            ready.extend(self.started(index));
            if op.kind == Kind::Calc {
                self.cpus.entry(cpu).or_default().0 = true;
                let time = Time::from_ps(op.size.saturating_mul(1000));
                self.actions.push_back(Action::Calc { op: u64::from(index), time });
            } else {
                self.actions.push_back(Action::Send(Message {
                    op: u64::from(index),
                    peer: op.peer as u32,
                    // a message has at least one byte on the wire
                    bytes: Bytes::new(op.size.max(1)),
                    tag: op.tag,
                    channel: u32::from(op.nic),
                }));
            }
        }
        ready
    }

    fn started(&mut self, index: u32) -> Vec<u32> {
        self.fulfilled(index, Until::Start)
    }

    fn completed(&mut self, index: u32) -> Vec<u32> {
        self.states[index as usize] = State::Complete;
        self.complete += 1;
        self.fulfilled(index, Until::Completion)
    }

    /// What becomes ready because `index` has started or is complete.
    fn fulfilled(&mut self, index: u32, until: Until) -> Vec<u32> {
        let rank = &self.schedule.ranks[self.rank as usize];
        let mut ready = Vec::new();
        for &dependent in rank.dependents(index, until) {
            let left = &mut self.waits_for[dependent as usize];
            *left -= 1;
            if *left == 0 {
                ready.push(dependent);
            }
        }
        ready
    }

    fn complete(&mut self, index: u32) {
        let ready = self.completed(index);
        self.release(ready);
        self.end_if_complete();
    }

    fn end_if_complete(&mut self) {
        if self.complete == self.states.len() && !self.begun {
            self.begun = true;
            self.actions.push_back(Action::End(0));
        }
    }

    /// The operation of this name, if it is of this kind and under way.
    fn under_way(&self, op: u64, kind: Kind) -> Option<u32> {
        let index = u32::try_from(op).ok().filter(|&i| (i as usize) < self.states.len())?;
        let begun = self.states[index as usize] == State::Begun && self.op(index).kind == kind;
        begun.then_some(index)
    }
}

impl Program for Graph {
    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn on_sent(&mut self, op: u64) {
        if self.send_done == SendDone::Sent
            && let Some(index) = self.under_way(op, Kind::Send)
        {
            self.complete(index);
        }
    }

    fn on_acked(&mut self, op: u64) {
        if let Some(index) = self.under_way(op, Kind::Send) {
            self.complete(index);
        }
    }

    fn on_received(&mut self, peer: u32, tag: u64) {
        let envelope = Envelope { source: u64::from(peer), tag };
        match self.posted.take(envelope) {
            Some(index) => self.complete(index),
            None => self.unexpected.push(envelope, ()),
        }
    }

    fn on_timer(&mut self, op: u64) {
        let Some(index) = self.under_way(op, Kind::Calc) else { return };
        let cpu = self.op(index).cpu;
        self.cpus.entry(cpu).or_default().0 = false;
        let mut ready = self.completed(index);
        ready.extend(self.serve(cpu));
        self.release(ready);
        self.end_if_complete();
    }

    fn is_done(&self) -> bool {
        self.complete == self.states.len() && self.actions.is_empty()
    }

    fn waits(&self) -> Vec<Wait> {
        let begun = self.states.iter().enumerate().filter(|(_, s)| **s == State::Begun);
        let mut waits: Vec<Wait> = begun
            .map(|(i, _)| {
                let op = self.op(i as u32);
                let exact = |x: u64| (x != ANY).then_some(x);
                let (peer, tag) = match op.kind {
                    Kind::Recv => (exact(op.peer).map(|p| p as u32), exact(op.tag)),
                    _ => (None, None),
                };
                Wait { operation: format!("operation {i} (`{}`)", op.words()), peer, tag }
            })
            .collect();
        // receives first: what else is under way ends by itself
        waits.sort_by_key(|w| w.tag.is_none() && w.peer.is_none());
        if waits.is_empty() && !self.is_done() {
            waits.extend(self.circle());
        }
        waits
    }
}

impl Graph {
    /// Operations of this rank that wait for each other, as one wait. Called when nothing is under
    /// way: then every operation that is left waits for another one that is left.
    fn circle(&self) -> Option<Wait> {
        let rank = &self.schedule.ranks[self.rank as usize];
        let mut on = vec![None; self.states.len()];
        for (i, _) in self.states.iter().enumerate().filter(|(_, s)| **s == State::Waits) {
            for until in [Until::Start, Until::Completion] {
                for &dependent in rank.dependents(i as u32, until) {
                    on[dependent as usize] = Some(i);
                }
            }
        }
        let mut at = self.states.iter().position(|s| *s == State::Waits)?;
        let mut path: Vec<usize> = Vec::new();
        let mut seen: Vec<Option<usize>> = vec![None; self.states.len()];
        let from = loop {
            if let Some(from) = seen[at].replace(path.len()) {
                break from;
            }
            path.push(at);
            at = on[at]?;
        };
        let word = |&i: &usize| format!("operation {i} (`{}`)", self.op(i as u32).words());
        let circle = &path[from..];
        let mut words: Vec<String> = circle.iter().take(MOST_WORDS).map(word).collect();
        let more = circle.len().saturating_sub(MOST_WORDS);
        words.push(match more {
            0 => word(&at),
            _ => format!("{more} more, and the last for {}", word(&at)),
        });
        let operation = format!("operations in a circle: {}", words.join(" waits for "));
        Some(Wait { operation, peer: None, tag: None })
    }
}
