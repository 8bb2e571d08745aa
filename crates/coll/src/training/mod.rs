//! A step of training: computations and collectives of a model whose work is divided along four
//! axes, with one forward and one backward pass per micro-batch in turn (1F1B).
//!
//! ```text
//!   forward of a layer    [all-gather] attention [all-reduce]
//!                         [all-to-all] feed-forward [all-to-all] [all-reduce]
//!   backward              the same from the end to the beginning, twice the computation
//!   between stages        activations forward, their gradients backward
//!   at the end            all-reduce of gradients, or reduce-scatter and all-gather
//! ```
//!
//! Nothing is stored but where a rank is: what comes next is computed from that. All collectives
//! are rings, and all-to-alls are pairwise. Stages forget no activations (no recomputation), the
//! optimizer takes no time, and gradients are not sent before the last backward pass is over.

mod groups;
mod model;
mod rank;
mod tasks;

pub use groups::{Axis, Class};
pub use model::{Architecture, Model, PRESETS, Preset};
pub use rank::Trainee;

use crate::collective::{Algorithm, MAX_ITERATIONS, Operation, Plan, PlanError};
use weir_core::{Bytes, Time};

/// Which of optimizer, gradients and parameters are divided among the ranks of data parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Zero {
    /// None: gradients are reduced by an all-reduce.
    Off,
    /// The optimizer: gradients by a reduce-scatter, parameters by an all-gather.
    Optimizer,
    /// Everything: each layer is gathered for the first forward and the first backward pass, and
    /// its gradients are scattered by the last backward pass.
    All,
}

/// A model, how its training is divided among ranks, and how fast they compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Training {
    /// The model.
    pub model: Model,
    /// Ranks that share each matrix.
    pub tp: u32,
    /// Stages.
    pub pp: u32,
    /// Ranks that share the samples.
    pub dp: u32,
    /// Ranks, of those, that share the experts.
    pub ep: u32,
    /// Which axis is the fastest in the numbers of ranks.
    pub order: [Axis; 4],
    /// Sequences of a micro-batch.
    pub micro_batch: u64,
    /// Sequences of a step.
    pub global_batch: u64,
    /// Bytes of an activation and of a parameter.
    pub dtype: u64,
    /// Bytes of a gradient.
    pub gradient: u64,
    /// What is divided along the axis of data.
    pub zero: Zero,
    /// Activations between the parts of a layer are divided along the sequence: reduce-scatter and
    /// all-gather instead of all-reduce.
    pub sequence_parallel: bool,
    /// Floating-point operations per second of a rank, as it reaches them.
    pub speed: u64,
    /// Largest message of a collective between hosts.
    pub chunk: Bytes,
    /// Connections of a collective.
    pub channels: u32,
    /// Pieces of a channel that are under way at the same time.
    pub pipeline: u32,
    /// How many steps are done.
    pub steps: u32,
    /// Ranks of a host. Between them messages are not cut.
    pub gpus: u32,
}

/// Why a step cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainingError {
    /// A number that must not be zero.
    #[error("`{0}` is at least 1")]
    Zero(&'static str),
    /// One number must be a multiple of another one.
    #[error("`{what}` is {value}, which is no multiple of {of}, the {words}")]
    Divide {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What it must be a multiple of.
        of: u64,
        /// What that is.
        words: &'static str,
    },
    /// A number that is larger than another one.
    #[error("`{what}` is {value}, and there are only {most} {words}")]
    Most {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest.
        most: u64,
        /// What there are so many of.
        words: &'static str,
    },
    /// An axis is missing, or there twice.
    #[error("`order` names each of tp, ep, dp and pp once, the fastest first")]
    Order,
    /// A collective of it cannot be planned.
    #[error("the collective of {}: {error}", .class.name())]
    Plan {
        /// Of which class.
        class: Class,
        /// Why.
        error: PlanError,
    },
    /// Numbers whose product is beyond what can be counted.
    #[error("{0} is beyond what can be simulated")]
    TooLarge(&'static str),
}

impl Training {
    /// A model on one rank: one micro-batch of one sequence, 400 TFLOP/s.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            tp: 1,
            pp: 1,
            dp: 1,
            ep: 1,
            order: Axis::ORDER,
            micro_batch: 1,
            global_batch: 1,
            dtype: 2,
            gradient: 2,
            zero: Zero::Off,
            sequence_parallel: false,
            speed: 400_000_000_000_000,
            chunk: Bytes::new(1 << 20),
            channels: 1,
            pipeline: 1,
            steps: 1,
            gpus: 1,
        }
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u64 {
        let axes = [self.tp, self.pp, self.dp].into_iter().map(u64::from);
        axes.fold(1, u64::saturating_mul)
    }

    /// Micro-batches of a rank per step.
    pub fn micro_batches(&self) -> u64 {
        self.global_batch / (self.micro_batch * u64::from(self.dp)).max(1)
    }

    /// Says what is wrong with it, if something is.
    pub fn check(&self) -> Result<(), TrainingError> {
        self.check_numbers()?;
        if self.ranks() > 1 << 19 {
            return Err(TrainingError::TooLarge("the number of ranks"));
        }
        let m = &self.model;
        let divide = |what, value: u64, of: u64, words| match of > 0 && value.is_multiple_of(of) {
            true => Ok(()),
            false => Err(TrainingError::Divide { what, value, of, words }),
        };
        divide("heads", m.heads, m.kv_heads, "number of `kv-heads`")?;
        divide("heads", m.heads, u64::from(self.tp), "ranks of `tp`")?;
        divide("dp", u64::from(self.dp), u64::from(self.ep), "ranks of `ep`")?;
        divide("experts", m.experts, u64::from(self.ep), "ranks of `ep`")?;
        let batch = self.micro_batch.saturating_mul(u64::from(self.dp));
        divide("global-batch", self.global_batch, batch, "`micro-batch` times `dp`")?;
        let most = |what, value, most, words| match value <= most {
            true => Ok(()),
            false => Err(TrainingError::Most { what, value, most, words }),
        };
        most("pp", u64::from(self.pp), m.layers, "layers")?;
        most("top-k", m.top_k, m.experts, "experts")?;
        most("micro-batches", self.micro_batches(), 1 << 19, "that can be told apart")?;
        most("steps", u64::from(self.steps), u64::from(MAX_ITERATIONS), "that can be told apart")?;
        let mut order = self.order.to_vec();
        order.sort_unstable_by_key(|axis| *axis as u8);
        order.dedup();
        if order.len() != self.order.len() {
            return Err(TrainingError::Order);
        }
        self.check_sizes()
    }

    fn check_numbers(&self) -> Result<(), TrainingError> {
        let m = &self.model;
        let axes = [(self.tp, "tp"), (self.pp, "pp"), (self.dp, "dp"), (self.ep, "ep")];
        let axes = axes.map(|(n, name)| (u64::from(n), name));
        let of_model = [
            (m.layers, "layers"),
            (m.hidden, "hidden"),
            (m.ffn, "ffn"),
            (m.heads, "heads"),
            (m.kv_heads, "kv-heads"),
            (m.vocab, "vocab"),
            (m.seq, "seq"),
            (m.experts, "experts"),
            (m.top_k, "top-k"),
        ];
        let own = [
            (self.micro_batch, "micro-batch"),
            (self.global_batch, "global-batch"),
            (self.speed, "peak"),
            (u64::from(self.steps), "iterations"),
            (self.dtype, "dtype"),
            (self.gradient, "gradient"),
            (u64::from(self.gpus), "gpus_per_host"),
        ];
        let mut all = axes.iter().chain(&of_model).chain(&own);
        match all.find(|(n, _)| *n == 0) {
            Some((_, name)) => Err(TrainingError::Zero(name)),
            None => Ok(()),
        }
    }

    /// Sizes and times must be countable, and collectives possible.
    fn check_sizes(&self) -> Result<(), TrainingError> {
        /// 2^50: a thousand times the largest model that is known.
        const MOST: u128 = 1 << 50;
        let m = &self.model;
        let limited = [m.layers, m.hidden, m.ffn, m.heads, m.vocab, m.seq, m.experts]
            .iter()
            .all(|n| *n <= 1 << 24);
        if !limited || m.parameters() > MOST || self.dtype > 8 || self.gradient > 8 {
            return Err(TrainingError::TooLarge("the model"));
        }
        let tokens = u128::from(self.micro_batch) * u128::from(m.seq);
        if tokens > 1 << 32 || self.passes(0).is_none() {
            return Err(TrainingError::TooLarge("a micro-batch"));
        }
        for class in Class::ALL {
            if class == Class::Pipeline {
                continue;
            }
            for (operation, bytes) in self.collectives(class) {
                let plan = self.plan(0, class, operation, bytes);
                plan.check().map_err(|error| TrainingError::Plan { class, error })?;
            }
        }
        Ok(())
    }

    /// The operations that ranks of a class do, with the largest buffer.
    fn collectives(&self, class: Class) -> Vec<(Operation, Bytes)> {
        match class {
            Class::Tensor => vec![(Operation::AllReduce, self.activations())],
            Class::Expert => vec![(Operation::AllToAll, self.tokens())],
            Class::Data => vec![(Operation::AllReduce, self.gradients(Class::Data))],
            Class::ExpertData => vec![(Operation::AllReduce, self.gradients(Class::ExpertData))],
            Class::Pipeline => Vec::new(),
        }
    }

    /// The plan of a collective of a rank.
    pub(crate) fn plan(&self, rank: u32, class: Class, operation: Operation, bytes: Bytes) -> Plan {
        let group = self.group(rank, class);
        let host = |k: u32| group.member(k) / self.gpus;
        let local = (1..group.size()).all(|k| host(k) == host(0));
        let (chunk, channels, pipeline) = match local {
            true => (Bytes::MAX, 1, 1),
            false => (self.chunk, self.channels, self.pipeline),
        };
        let algorithm = match operation {
            Operation::AllToAll => Algorithm::Pairwise,
            _ => Algorithm::Ring,
        };
        let ranks = group.size();
        Plan { algorithm, chunk, channels, pipeline, ..Plan::new(operation, ranks, bytes) }
    }

    /// The activations of a micro-batch between two layers.
    pub fn activations(&self) -> Bytes {
        let m = &self.model;
        let all = u128::from(self.micro_batch) * u128::from(m.seq) * u128::from(m.hidden);
        bytes(all * u128::from(self.dtype))
    }

    /// What crosses a boundary of stages.
    pub fn boundary(&self) -> Bytes {
        Bytes::new(self.activations().get().div_ceil(u64::from(self.tp)))
    }

    /// The tokens of a micro-batch on their way to experts.
    pub fn tokens(&self) -> Bytes {
        bytes(u128::from(self.activations().get()) * u128::from(self.model.top_k))
    }

    /// The parameters of a rank whose gradients are reduced with those of a class.
    fn held(&self, class: Class) -> u128 {
        let cut = u128::from(self.tp) * u128::from(self.pp);
        match class {
            Class::Data => self.model.dense_parameters() / cut,
            Class::ExpertData => self.model.expert_parameters() / (cut * u128::from(self.ep)),
            Class::Tensor | Class::Expert | Class::Pipeline => 0,
        }
    }

    /// The gradients of a rank that are reduced with those of a class.
    pub fn gradients(&self, class: Class) -> Bytes {
        bytes(self.held(class) * u128::from(self.gradient))
    }

    /// The parameters of a rank that are gathered from those of a class.
    pub fn parameters(&self, class: Class) -> Bytes {
        bytes(self.held(class) * u128::from(self.dtype))
    }

    /// The layers of a stage: the first, and one past the last. Stages differ by one at most.
    pub fn layers_of(&self, stage: u32) -> std::ops::Range<u64> {
        let from = |stage: u32| self.model.layers * u64::from(stage) / u64::from(self.pp);
        from(stage)..from(stage + 1)
    }

    /// How long a forward and a backward pass of a micro-batch take in a stage, if that can be
    /// counted. A backward pass is twice the work.
    pub fn passes(&self, stage: u32) -> Option<(Time, Time)> {
        let layers = self.layers_of(stage);
        let tokens = u128::from(self.micro_batch) * u128::from(self.model.seq);
        let work = self.model.flop_per_token().checked_mul(tokens)?;
        let own = work.checked_mul(u128::from(layers.end - layers.start))?;
        let per_rank = own / (u128::from(self.model.layers) * u128::from(self.tp));
        let ps = per_rank.checked_mul(1_000_000_000_000)? / u128::from(self.speed);
        // a hundred days
        let ps = u64::try_from(ps).ok().filter(|ps| *ps < u64::MAX / 2)?;
        let forward = ps / 3;
        Some((Time::from_ps(forward), Time::from_ps(ps - forward)))
    }
}

/// At most as many bytes as can be counted.
fn bytes(n: u128) -> Bytes {
    Bytes::new(u64::try_from(n).unwrap_or(u64::MAX))
}
