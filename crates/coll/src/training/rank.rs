//! A rank that trains.

use super::Training;
use super::groups::Class;
use super::tasks::{At, Parcel, Pass, Task, View};
use crate::collective::{Collective, Operation};
use crate::program::{Action, Message, Program, Wait};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use weir_core::{Bytes, Time};

/// The program of one rank of a training job.
///
/// Its collectives are [`Collective`]s among the ranks of a group, one at a time. Those of a class
/// are counted; the number takes the place of the iteration in tags, so a message for a collective
/// that has not begun here is known by it and kept.
#[derive(Debug)]
pub struct Trainee {
    training: Arc<Training>,
    rank: u32,
    /// It computes for so much longer at the beginning of each step.
    late: Time,
    step: u32,
    at: At,
    doing: Doing,
    /// Collectives that have begun, by class.
    counts: [u32; 4],
    /// Messages for what has not begun: by the high bits of the tag, tags.
    early: FxHashMap<u64, Vec<u64>>,
    /// Activations that have not left.
    unsent: u32,
    actions: VecDeque<Action>,
}

/// What a rank waits for.
#[derive(Debug)]
enum Doing {
    /// A computation.
    Calc,
    /// A collective, with its number.
    Collective(Class, u64, Box<Collective>),
    Receive(Parcel),
    /// Everything is done, but not everything has left.
    Rest,
    Nothing,
}

/// In a tag, above the piece and the message of a collective, or a parcel.
const NUMBER: u32 = 44;
/// In a number, above the count of collectives.
const CLASS: u32 = 17;

/// The number of the `count`-th collective of a class. Counts begin again at some time, long after
/// messages of the first have arrived.
fn number(class: Class, count: u32) -> u64 {
    (class as u64) << CLASS | (u64::from(count) % (1 << CLASS))
}

/// The tag of a parcel: the step, the direction and the micro-batch in 20, 1 and 20 bits.
fn tag(step: u32, parcel: &Parcel) -> u64 {
    let place = u64::from(step) << 21 | u64::from(parcel.backward) << 20 | parcel.micro_batch;
    number(Class::Pipeline, 0) << NUMBER | place
}

impl Trainee {
    /// Rank `rank` of a job that has been [checked](Training::check), which computes for `late`
    /// before each step.
    pub fn new(training: Arc<Training>, rank: u32, late: Time) -> Self {
        let mut trainee = Self {
            training,
            rank,
            late,
            step: 0,
            at: At::default(),
            doing: Doing::Nothing,
            counts: [0; 4],
            early: FxHashMap::default(),
            unsent: 0,
            actions: VecDeque::new(),
        };
        if !trainee.begin() {
            trainee.go_on();
        }
        trainee
    }

    /// Bytes of memory that it takes, its collective apart.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.actions.capacity() * size_of::<Action>()
            + self.early.values().map(|v| v.capacity() * 8 + 32).sum::<usize>()
    }

    /// A step begins; whether the rank computes first.
    fn begin(&mut self) -> bool {
        self.actions.push_back(Action::Begin(self.step));
        self.at = At::default();
        let late = self.late > Time::ZERO;
        if late {
            self.calc(self.late);
        }
        late
    }

    fn calc(&mut self, time: Time) {
        self.doing = Doing::Calc;
        self.actions.push_back(Action::Calc { op: u64::from(self.step), time });
    }

    /// Goes on from task to task until one has to be waited for.
    fn go_on(&mut self) {
        loop {
            self.doing = Doing::Nothing;
            let training = self.training.clone();
            let view = View { training: &training, rank: self.rank };
            let (task, next) = view.task(self.at);
            let Some(next) = next else {
                if self.rests() {
                    return;
                }
                continue;
            };
            self.at = next;
            let waits = match task {
                None | Some(Task::Calc(Time::ZERO)) => false,
                Some(Task::Calc(time)) => {
                    self.calc(time);
                    true
                }
                Some(Task::Send(parcel)) => {
                    self.send(&parcel);
                    false
                }
                Some(Task::Receive(parcel)) => self.receives(parcel),
                Some(Task::Collective(class, operation, bytes)) => {
                    self.collective(class, operation, bytes)
                }
            };
            if waits {
                return;
            }
        }
    }

    /// The step is over once everything has left. Whether there is nothing to do now.
    fn rests(&mut self) -> bool {
        if self.unsent > 0 {
            self.doing = Doing::Rest;
            return true;
        }
        self.actions.push_back(Action::End(self.step));
        self.step += 1;
        self.step == self.training.steps || self.begin()
    }

    fn send(&mut self, parcel: &Parcel) {
        let (bytes, tag) = (self.training.boundary(), tag(self.step, parcel));
        let channel = Class::Pipeline.channel(0);
        let message = Message { op: tag, peer: parcel.peer, bytes, tag, channel };
        self.actions.push_back(Action::Send(message));
        self.unsent += 1;
    }

    /// Waits for a parcel, unless it has arrived.
    fn receives(&mut self, parcel: Parcel) -> bool {
        let tag = tag(self.step, &parcel);
        if self.early.remove(&tag).is_some() {
            return false;
        }
        self.doing = Doing::Receive(parcel);
        true
    }

    /// Begins a collective, unless the rank is alone in it.
    fn collective(&mut self, class: Class, operation: Operation, bytes: Bytes) -> bool {
        let group = self.training.group(self.rank, class);
        if group.size() == 1 || bytes == Bytes::ZERO {
            return false;
        }
        let count = &mut self.counts[class as usize];
        let number = number(class, *count);
        *count = count.wrapping_add(1);
        let plan = self.training.plan(self.rank, class, operation, bytes);
        let mut collective = Collective::once(Arc::new(plan), group.own, number as u32);
        for tag in self.early.remove(&number).unwrap_or_default() {
            collective.on_received(0, tag);
        }
        self.doing = Doing::Collective(class, number, Box::new(collective));
        self.drive()
    }

    /// Carries out what the collective wants; whether it is still to be waited for.
    fn drive(&mut self) -> bool {
        let Doing::Collective(class, _, collective) = &mut self.doing else { return false };
        let group = self.training.group(self.rank, *class);
        while let Some(action) = collective.poll() {
            if let Action::Send(message) = action {
                let (peer, channel) = (group.member(message.peer), class.channel(message.channel));
                self.actions.push_back(Action::Send(Message { peer, channel, ..message }));
            }
        }
        !collective.is_done()
    }

    /// Tells the collective something, if it is the one of this number.
    fn tell(&mut self, tag: u64, what: impl FnOnce(&mut Collective)) -> bool {
        let Doing::Collective(_, number, collective) = &mut self.doing else { return false };
        if *number != tag >> NUMBER {
            return false;
        }
        what(collective);
        if !self.drive() {
            self.go_on();
        }
        true
    }
}

impl Program for Trainee {
    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn on_sent(&mut self, op: u64) {
        if op >> NUMBER == number(Class::Pipeline, 0) {
            self.unsent = self.unsent.saturating_sub(1);
            if matches!(self.doing, Doing::Rest) {
                self.go_on();
            }
            return;
        }
        self.tell(op, |collective| collective.on_sent(op));
    }

    fn wants_acks(&self) -> bool {
        false
    }

    fn on_received(&mut self, peer: u32, received: u64) {
        if received >> NUMBER == number(Class::Pipeline, 0) {
            match &self.doing {
                Doing::Receive(parcel) if tag(self.step, parcel) == received => self.go_on(),
                _ => drop(self.early.insert(received, Vec::new())),
            }
            return;
        }
        if !self.tell(received, |collective| collective.on_received(peer, received)) {
            self.early.entry(received >> NUMBER).or_default().push(received);
        }
    }

    fn on_timer(&mut self, _: u64) {
        if matches!(self.doing, Doing::Calc) {
            self.go_on();
        }
    }

    fn is_done(&self) -> bool {
        self.step == self.training.steps && self.actions.is_empty()
    }

    fn waits(&self) -> Vec<Wait> {
        let view = View { training: &self.training, rank: self.rank };
        let pass = match view.pass(self.at.pass) {
            Some(Pass::Forward(k)) => format!("forward pass {k} of step {}", self.step),
            Some(Pass::Backward(k)) => format!("backward pass {k} of step {}", self.step),
            None => format!("the end of step {}", self.step),
        };
        let alone = |what: String| vec![Wait { operation: what, peer: None, tag: None }];
        match &self.doing {
            Doing::Calc => alone(format!("its computation in {pass}")),
            Doing::Receive(parcel) => {
                let what = if parcel.backward { "gradients" } else { "activations" };
                let (peer, tag) = (Some(parcel.peer), Some(tag(self.step, parcel)));
                let operation = format!("{what} from rank {} in {pass}", parcel.peer);
                vec![Wait { operation, peer, tag }]
            }
            Doing::Collective(class, _, collective) => {
                let group = self.training.group(self.rank, *class);
                let mut waits = collective.waits();
                for wait in &mut waits {
                    wait.peer = wait.peer.map(|k| group.member(k));
                    wait.operation = match wait.peer {
                        Some(peer) => format!("rank {peer} ({}, {pass})", class.name()),
                        None => format!("{} ({}, {pass})", wait.operation, class.name()),
                    };
                }
                waits
            }
            Doing::Rest => alone(format!("{} of its activations to leave", self.unsent)),
            Doing::Nothing => Vec::new(),
        }
    }
}
