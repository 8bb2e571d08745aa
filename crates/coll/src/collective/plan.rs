//! What a collective is: operation, algorithm, sizes, and how the buffer is cut.

use super::broadcast::{Binomial, Chain};
use super::exchange::{Direct, Dissemination, Pairwise};
use super::halving::Halving;
use super::hierarchy::Hierarchy;
use super::ring::Ring;
use super::tree::DoubleTree;
use super::{Effect, Leg, Steps};
use std::ops::Range;
use weir_core::Bytes;

weir_core::words! {
    /// A collective operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Operation {
        /// Every rank gets the sum of all buffers.
        AllReduce = "all-reduce",
        /// Rank `r` gets block `r` of the sum.
        ReduceScatter = "reduce-scatter",
        /// Every rank gets the block of every rank.
        AllGather = "all-gather",
        /// Every rank gets its block of every rank's buffer.
        AllToAll = "all-to-all",
        /// Every rank gets the buffer of the root.
        Broadcast = "broadcast",
        /// No rank goes on before all have come.
        Barrier = "barrier",
    }
}

impl Operation {
    /// The algorithms that it can use, the default first.
    pub const fn algorithms(self) -> &'static [Algorithm] {
        use Algorithm::{
            Binomial, Chain, Direct, Dissemination, DoubleTree, HalvingDoubling, Hierarchical,
            Pairwise, Ring, Tree,
        };
        match self {
            Self::AllReduce => &[Ring, HalvingDoubling, Tree, DoubleTree, Hierarchical],
            Self::ReduceScatter | Self::AllGather => &[Ring, HalvingDoubling],
            Self::AllToAll => &[Pairwise, Direct],
            Self::Broadcast => &[Binomial, Chain],
            Self::Barrier => &[Dissemination],
        }
    }

    /// Bus bandwidth over algorithm bandwidth, as nccl-tests defines it: what a rank sends at
    /// least, over the size. `None` for operations without data.
    pub fn bus_factor(self, ranks: u32) -> Option<f64> {
        let others = f64::from(ranks.saturating_sub(1)) / f64::from(ranks.max(1));
        match self {
            Self::AllReduce => Some(2.0 * others),
            Self::ReduceScatter | Self::AllGather | Self::AllToAll => Some(others),
            Self::Broadcast => Some(1.0),
            Self::Barrier => None,
        }
    }
}

weir_core::words! {
    /// How a collective is carried out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Algorithm {
        /// To the next rank, all around.
        Ring = "ring",
        /// Exchanges with partners at distances that double.
        HalvingDoubling = "halving-doubling",
        /// All-to-all, one partner at a time.
        Pairwise = "pairwise",
        /// All-to-all, all partners at once.
        Direct = "direct",
        /// Who has it gives it to one more in each round.
        Binomial = "binomial",
        /// From rank to rank.
        Chain = "chain",
        /// The first of NCCL's two binary trees, for all data.
        Tree = "tree",
        /// NCCL's two binary trees, for half of the data each.
        DoubleTree = "double-tree",
        /// Inside servers, then between them, then inside again.
        Hierarchical = "hierarchical",
        /// The barrier in log2 n rounds.
        Dissemination = "dissemination",
    }
}

/// Why a collective cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The operation has no such algorithm.
    #[error("{} has no algorithm `{}`: {} can be chosen", .0.name(), .1.name(), names(*.0))]
    NoSuchAlgorithm(Operation, Algorithm),
    /// There is nobody.
    #[error("a job has at least one rank")]
    NoRanks,
    /// The algorithm needs a power of two.
    #[error(
        "{} by halving-doubling needs a power of two ranks, and {ranks} is none",
        .operation.name()
    )]
    NotAPowerOfTwo {
        /// Of which operation.
        operation: Operation,
        /// How many there are.
        ranks: u32,
    },
    /// Servers would have different numbers of ranks.
    #[error("{ranks} ranks do not fill servers of {gpus} GPUs each")]
    Servers {
        /// How many ranks there are.
        ranks: u32,
        /// How many belong to a server.
        gpus: u32,
    },
    /// The root does not exist.
    #[error("the root is rank {root}, and the job has {ranks}, counted from 0")]
    Root {
        /// Which.
        root: u32,
        /// How many there are.
        ranks: u32,
    },
    /// A number that must not be zero.
    #[error("`{0}` is at least 1")]
    Zero(&'static str),
    /// More pieces than can be told apart.
    #[error(
        "the buffer would be cut into {0} pieces, and at most {MAX_PIECES} can be told apart: \
         choose a larger chunk"
    )]
    TooManyPieces(u64),
    /// More iterations than can be told apart.
    #[error("{0} iterations are more than {MAX_ITERATIONS}")]
    TooManyIterations(u32),
}

fn names(operation: Operation) -> String {
    let names: Vec<&str> = operation.algorithms().iter().map(|a| a.name()).collect();
    names.join(", ")
}

/// The most pieces of a buffer.
pub const MAX_PIECES: u32 = 1 << 24;
/// The most iterations.
pub const MAX_ITERATIONS: u32 = 1 << 20;
/// The most ranks: a ring has twice as many steps, and a tag tells them apart.
pub(super) const TAGS: u32 = 1 << 20;

/// A collective over a number of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is done.
    pub operation: Operation,
    /// How.
    pub algorithm: Algorithm,
    /// How many ranks there are.
    pub ranks: u32,
    /// The buffer of a rank: of an all-gather and a reduce-scatter, the whole array.
    pub bytes: Bytes,
    /// No message is larger, but for those between ranks of one server and, with halving-doubling,
    /// those of ranks beyond a power of two and a byte for each block of a message.
    pub chunk: Bytes,
    /// Into how many equal parts the buffer is divided, each on its own connections.
    pub channels: u32,
    /// How many pieces of a channel are under way at once.
    pub pipeline: u32,
    /// How often it is done.
    pub iterations: u32,
    /// The root of a broadcast.
    pub root: u32,
    /// Ranks per server, for the hierarchical algorithm.
    pub gpus: u32,
}

impl Plan {
    /// A collective with the default algorithm of its operation, on one channel, in messages of at
    /// most 1 MiB.
    pub fn new(operation: Operation, ranks: u32, bytes: Bytes) -> Self {
        Self {
            operation,
            algorithm: operation.algorithms()[0],
            ranks,
            bytes,
            chunk: Bytes::new(1 << 20),
            channels: 1,
            pipeline: 1,
            iterations: 1,
            root: 0,
            gpus: 1,
        }
    }

    /// Says what is wrong with it, if something is.
    pub fn check(&self) -> Result<(), PlanError> {
        let Self { operation, algorithm, ranks, gpus, root, .. } = *self;
        if !operation.algorithms().contains(&algorithm) {
            return Err(PlanError::NoSuchAlgorithm(operation, algorithm));
        }
        if ranks == 0 || ranks > TAGS / 2 {
            return Err(PlanError::NoRanks);
        }
        let numbers = [
            (u64::from(self.channels), "channels"),
            (u64::from(self.pipeline), "pipeline"),
            (u64::from(self.iterations), "iterations"),
            (self.chunk.get(), "chunk"),
            (u64::from(gpus), "gpus_per_host"),
        ];
        if let Some((_, name)) = numbers.iter().find(|(number, _)| *number == 0) {
            return Err(PlanError::Zero(name));
        }
        if root >= ranks {
            return Err(PlanError::Root { root, ranks });
        }
        let halved = algorithm == Algorithm::HalvingDoubling && operation != Operation::AllReduce;
        if halved && !ranks.is_power_of_two() {
            return Err(PlanError::NotAPowerOfTwo { operation, ranks });
        }
        if algorithm == Algorithm::Hierarchical && !ranks.is_multiple_of(gpus) {
            return Err(PlanError::Servers { ranks, gpus });
        }
        if self.iterations > MAX_ITERATIONS {
            return Err(PlanError::TooManyIterations(self.iterations));
        }
        let pieces = self.pieces_per_track().saturating_mul(u64::from(self.tracks()));
        if pieces > u64::from(MAX_PIECES) {
            return Err(PlanError::TooManyPieces(pieces));
        }
        Ok(())
    }

    /// The steps of its algorithm.
    pub(super) fn steps(&self) -> Box<dyn Steps> {
        let (ranks, root) = (self.ranks, self.root);
        let reduces = self.operation != Operation::AllGather;
        let gathers = self.operation != Operation::ReduceScatter;
        match self.algorithm {
            Algorithm::Ring => Box::new(Ring { ranks, reduces, gathers }),
            Algorithm::HalvingDoubling => Box::new(Halving { ranks, reduces, gathers }),
            Algorithm::Pairwise => Box::new(Pairwise { ranks }),
            Algorithm::Direct => Box::new(Direct { ranks }),
            Algorithm::Binomial => Box::new(Binomial { ranks, root }),
            Algorithm::Chain => Box::new(Chain { ranks, root }),
            Algorithm::Tree | Algorithm::DoubleTree => Box::new(DoubleTree { ranks }),
            Algorithm::Hierarchical => {
                Box::new(Hierarchy { servers: ranks / self.gpus, gpus: self.gpus })
            }
            Algorithm::Dissemination => Box::new(Dissemination { ranks }),
        }
    }

    /// Into how many blocks the buffer is divided, and how many of them the largest message
    /// carries.
    fn blocks(&self) -> (u32, u32) {
        match self.algorithm {
            Algorithm::Ring | Algorithm::Pairwise | Algorithm::Direct => (self.ranks, 1),
            Algorithm::HalvingDoubling => {
                let core = 1 << self.ranks.ilog2();
                (core, (core / 2).max(1))
            }
            Algorithm::Hierarchical => (self.ranks, 1),
            Algorithm::Binomial
            | Algorithm::Chain
            | Algorithm::Tree
            | Algorithm::DoubleTree
            | Algorithm::Dissemination => (1, 1),
        }
    }

    /// How many trees share the data.
    fn trees(&self) -> u32 {
        if self.algorithm == Algorithm::DoubleTree { 2 } else { 1 }
    }

    /// Parts of the buffer that are worked on independently: a channel, or a tree of it.
    pub(super) fn tracks(&self) -> u32 {
        match self.operation {
            Operation::Barrier => 1,
            _ => self.channels.saturating_mul(self.trees()),
        }
    }

    /// Of which channel and of which tree a track is.
    pub(super) fn track(&self, track: u32) -> (u32, u32) {
        (track / self.trees(), track % self.trees())
    }

    /// Into how many pieces each track is cut.
    pub(super) fn pieces_per_track(&self) -> u64 {
        if self.operation == Operation::Barrier {
            return 1;
        }
        let (of, largest) = self.blocks();
        let shares = u64::from(of).checked_mul(u64::from(self.tracks().max(1)));
        let message = self.bytes.get().checked_mul(u64::from(largest));
        if let (Some(shares), Some(message)) = (shares, message) {
            // what follows, in numbers that are fast to divide
            return message.div_ceil(shares).div_ceil(self.chunk.get().max(1)).max(1);
        }
        let message = u128::from(self.bytes.get()) * u128::from(largest);
        let share = message.div_ceil(u128::from(of) * u128::from(self.tracks().max(1)));
        u64::try_from(share.div_ceil(u128::from(self.chunk.get().max(1))))
            .unwrap_or(u64::MAX)
            .max(1)
    }

    /// How many messages an iteration has, where every rank sends one in each step; else 0.
    pub fn least_messages(&self) -> u64 {
        let each = [Algorithm::Ring, Algorithm::Pairwise, Algorithm::Dissemination];
        if !each.contains(&self.algorithm) {
            return 0;
        }
        let pieces = u64::from(self.tracks()).saturating_mul(self.pieces_per_track());
        let steps = u64::from(self.steps().steps()).saturating_mul(u64::from(self.ranks));
        // messages without content are left out
        match self.bytes.get() >= pieces.saturating_mul(u64::from(self.ranks)) {
            true => steps.saturating_mul(pieces),
            false => 0,
        }
    }

    /// All pieces.
    pub(super) fn pieces(&self) -> u32 {
        self.tracks() * self.pieces_per_track() as u32
    }

    /// The size of a message of a piece.
    pub fn size(&self, leg: &Leg, piece: u32) -> Bytes {
        if leg.effect == Effect::Signal {
            return Bytes::new(1);
        }
        let (of, _) = self.blocks();
        if self.pieces() == 1 {
            let (from, to) = (self.start(leg.block, of), self.start(leg.block + leg.blocks, of));
            return Bytes::new(to - from);
        }
        Bytes::new(self.ranges(leg, piece).map(|r| r.end - r.start).sum())
    }

    /// Where a block begins.
    fn start(&self, block: u32, of: u32) -> u64 {
        part_start(self.bytes.get(), u64::from(of), u64::from(block))
    }

    /// Which bytes of the buffer a message of a piece carries.
    pub fn ranges(&self, leg: &Leg, piece: u32) -> impl Iterator<Item = Range<u64>> + '_ {
        let (of, _) = self.blocks();
        let (pieces, piece) = (u64::from(self.pieces()), u64::from(piece));
        (leg.block..leg.block + leg.blocks).map(move |block| {
            let (from, to) = (self.start(block, of), self.start(block + 1, of));
            let within = |p| from + part_start(to - from, pieces, p);
            within(piece)..within(piece + 1)
        })
    }
}

/// Where part `i` of `parts` parts of `bytes` bytes begins. Parts differ by one byte at most.
fn part_start(bytes: u64, parts: u64, i: u64) -> u64 {
    // below or equal to `bytes`, since `i <= parts`; wide numbers are slow to divide
    match bytes.checked_mul(i) {
        Some(product) => product / parts,
        None => (u128::from(bytes) * u128::from(i) / u128::from(parts)) as u64,
    }
}
