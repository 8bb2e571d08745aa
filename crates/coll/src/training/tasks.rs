//! What a rank does, one thing after the other, found from how far it is.

use super::groups::Class;
use super::{Training, Zero};
use crate::collective::Operation;
use weir_core::{Bytes, Time};

/// A forward or a backward pass of a micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Forward(u64),
    Backward(u64),
}

/// How far a rank is within a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At {
    /// Which pass; past the last one, what comes at the end.
    pub(super) pass: u64,
    /// Which of its tasks.
    pub(super) task: u64,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Wait for activations or their gradients.
    Receive(Parcel),
    /// Send them; the rank does not wait.
    Send(Parcel),
    Calc(Time),
    Collective(Class, Operation, Bytes),
}

/// Activations of a micro-batch that go to the next stage, or gradients that come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parcel {
    pub(super) peer: u32,
    pub(super) backward: bool,
    pub(super) micro_batch: u64,
}

/// How long the two networks of a layer take in one pass.
struct LayerTimes {
    attention: Time,
    feed_forward: Time,
}

/// What a step looks like from one rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) training: &'a Training,
    pub(super) rank: u32,
}

/// A part of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayerPart {
    /// What was divided along the sequence is gathered.
    Before,
    Attention,
    /// To the experts, or back.
    Experts,
    FeedForward,
    /// What ranks have computed is added up.
    After,
}

/// The parts of a layer, forward.
const FORWARD: [LayerPart; 8] = {
    use LayerPart::{After, Attention, Before, Experts, FeedForward};
    [Before, Attention, After, Before, Experts, FeedForward, Experts, After]
};
/// Backward, the feed-forward network comes first.
const BACKWARD: [LayerPart; 8] = {
    use LayerPart::{After, Attention, Before, Experts, FeedForward};
    [Before, Experts, FeedForward, Experts, After, Before, Attention, After]
};

/// Tasks of a layer, some of which there may not be.
const OF_LAYER: u64 = 12;
/// At the end: two classes with at most two collectives.
const AT_END: u64 = 4;

impl View<'_> {
    fn stage(&self) -> u32 {
        self.training.stage(self.rank)
    }

    fn layers(&self) -> u64 {
        let layers = self.training.layers_of(self.stage());
        layers.end - layers.start
    }

    /// The `i`-th pass of a stage: first as many forward passes as there are stages behind it, then
    /// one forward and one backward pass in turn.
    pub(super) fn pass(&self, i: u64) -> Option<Pass> {
        let m = self.training.micro_batches();
        let behind = u64::from(self.training.pp - 1 - self.stage());
        let warm = behind.min(m);
        let turns = 2 * (m - warm);
        Some(match i {
            i if i < warm => Pass::Forward(i),
            i if i < warm + turns && (i - warm) % 2 == 0 => Pass::Forward(warm + (i - warm) / 2),
            i if i < warm + turns => Pass::Backward((i - warm) / 2),
            i if i < 2 * m => Pass::Backward(i - m),
            _ => return None,
        })
    }

    /// What is to be done at `at`; `None` if there is nothing, and the next place.
    pub(super) fn task(&self, at: At) -> (Option<Task>, Option<At>) {
        let last = self.layers() * OF_LAYER + 1;
        match self.pass(at.pass) {
            Some(pass) => {
                let task = match at.task {
                    0 => self.received(pass).map(Task::Receive),
                    n if n == last => self.sent(pass).map(Task::Send),
                    n => self.of_layer(pass, (n - 1) / OF_LAYER, (n - 1) % OF_LAYER),
                };
                let next = match at.task < last {
                    true => At { task: at.task + 1, ..at },
                    false => At { pass: at.pass + 1, task: 0 },
                };
                (task, Some(next))
            }
            None if at.task < AT_END => {
                (self.at_end(at.task), Some(At { task: at.task + 1, ..at }))
            }
            None => (None, None),
        }
    }

    fn stage_before(&self) -> Option<u32> {
        self.stage().checked_sub(1)
    }

    fn stage_behind(&self) -> Option<u32> {
        self.stage().checked_add(1).filter(|s| *s < self.training.pp)
    }

    /// What a pass needs from another stage.
    fn received(&self, pass: Pass) -> Option<Parcel> {
        let from = match pass {
            Pass::Forward(_) => self.stage_before()?,
            Pass::Backward(_) => self.stage_behind()?,
        };
        Some(self.parcel(pass, from))
    }

    /// What a pass has for another stage.
    fn sent(&self, pass: Pass) -> Option<Parcel> {
        let to = match pass {
            Pass::Forward(_) => self.stage_behind()?,
            Pass::Backward(_) => self.stage_before()?,
        };
        Some(self.parcel(pass, to))
    }

    fn parcel(&self, pass: Pass, other_stage: u32) -> Parcel {
        let peer = self.training.in_stage(self.rank, other_stage);
        let (backward, micro_batch) = match pass {
            Pass::Forward(k) => (false, k),
            Pass::Backward(k) => (true, k),
        };
        Parcel { peer, backward, micro_batch }
    }

    /// The `nth` task of the `k`-th layer of a pass; backward passes begin with the last layer.
    fn of_layer(&self, pass: Pass, k: u64, nth: u64) -> Option<Task> {
        let t = self.training;
        let (backward, micro_batch) = match pass {
            Pass::Forward(m) => (false, m),
            Pass::Backward(m) => (true, m),
        };
        let layer = if backward { self.layers() - 1 - k } else { k };
        let all = t.zero == Zero::All;
        let tensor = |operation| Some(Task::Collective(Class::Tensor, operation, t.activations()));
        let before = || t.sequence_parallel.then(|| tensor(Operation::AllGather)).flatten();
        let after = || match t.sequence_parallel {
            true => tensor(Operation::ReduceScatter),
            false => tensor(Operation::AllReduce),
        };
        let experts = || Some(Task::Collective(Class::Expert, Operation::AllToAll, t.tokens()));
        let gathers = all && micro_batch == 0;
        let scatters = all && backward && micro_batch + 1 == t.micro_batches();
        let gathered = |class| self.layer_parameters(class, layer, Operation::AllGather);
        let scattered = |class| self.layer_parameters(class, layer, Operation::ReduceScatter);
        // a backward pass meets the feed-forward network first
        let order = if backward { &BACKWARD } else { &FORWARD };
        match nth {
            0 if gathers => return gathered(Class::Data),
            1 if gathers => return gathered(Class::ExpertData),
            10 if scatters => return scattered(Class::Data),
            11 if scatters => return scattered(Class::ExpertData),
            2..=9 => {}
            _ => return None,
        }
        match order[nth as usize - 2] {
            LayerPart::Before => before(),
            LayerPart::Attention => Some(Task::Calc(self.times(pass, k).attention)),
            LayerPart::Experts => experts(),
            LayerPart::FeedForward => Some(Task::Calc(self.times(pass, k).feed_forward)),
            LayerPart::After => after(),
        }
    }

    /// The parameters or gradients of a layer of this stage, which have equal parts of all that its
    /// ranks hold.
    fn layer_parameters(&self, class: Class, layer: u64, operation: Operation) -> Option<Task> {
        let all = match operation {
            Operation::AllGather => self.training.parameters(class),
            _ => self.training.gradients(class),
        };
        let part = cut(all.get(), layer, self.layers());
        Some(Task::Collective(class, operation, Bytes::new(part)))
    }

    fn times(&self, pass: Pass, k: u64) -> LayerTimes {
        let model = &self.training.model;
        let (forward, back) = self.training.passes(self.stage()).unwrap_or_default();
        let whole = if let Pass::Backward(_) = pass { back } else { forward };
        let layer = cut(whole.as_ps(), k, self.layers());
        let (own, all) = (model.attention_flop_per_token(), model.flop_per_token());
        // at most `layer`
        let own = (u128::from(layer) * own / all.max(1)) as u64;
        LayerTimes { attention: Time::from_ps(own), feed_forward: Time::from_ps(layer - own) }
    }

    /// What gradients need once all passes are over.
    fn at_end(&self, nth: u64) -> Option<Task> {
        let t = self.training;
        let class = if nth < AT_END / 2 { Class::Data } else { Class::ExpertData };
        let (gradients, parameters) = (t.gradients(class), t.parameters(class));
        let task = |operation, bytes| Some(Task::Collective(class, operation, bytes));
        if parameters == Bytes::ZERO {
            return None;
        }
        match (t.zero, nth % (AT_END / 2)) {
            (Zero::Off, 0) => task(Operation::AllReduce, gradients),
            (Zero::Optimizer, 0) => task(Operation::ReduceScatter, gradients),
            (Zero::Optimizer, _) => task(Operation::AllGather, parameters),
            (Zero::Off, _) | (Zero::All, _) => None,
        }
    }
}

/// The size of part `i` of `parts` parts of `n`. They differ by one at most.
fn cut(n: u64, i: u64, parts: u64) -> u64 {
    let from = |i: u64| (u128::from(n) * u128::from(i) / u128::from(parts)) as u64;
    from(i + 1) - from(i)
}
