//! Collective operations: which rank sends what to whom, and when.
//!
//! An algorithm is a list of *steps* per rank: messages to send, messages to receive. A step is
//! over when its messages have arrived and its own have left; then the next one begins. Steps are
//! computed when they begin (`Steps`, one file per algorithm) and never stored, so a rank takes
//! a few words however many ranks there are.
//!
//! The buffer of a [`Plan`] is divided among channels, and the part of a channel into *pieces*
//! whose messages have at most the size of a chunk. Each piece goes through all steps; `pipeline`
//! says how many pieces of a channel are under way at the same time.
//!
//! ```text
//!   buffer    |  block 0  |  block 1  | ... one block per rank, or as the algorithm wants
//!   block     | piece 0 | piece 1 | ... the same number of bytes, give or take one
//! ```
//!
//! [`flows`] carries collectives out as SimAI does: without steps of a whole rank.

mod broadcast;
mod exchange;
pub mod flows;
mod halving;
mod hierarchy;
mod plan;
mod rank;
mod ring;
mod tree;

pub use plan::{Algorithm, MAX_ITERATIONS, MAX_PIECES, Operation, Plan, PlanError};
pub use rank::Collective;

use std::fmt;

/// What a message does to its receiver's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is added to what is there.
    Reduce,
    /// It replaces what is there.
    Copy,
    /// It is what the sender has for the receiver.
    Exchange,
    /// It carries nothing: one byte.
    Signal,
}

/// One message of a step, as the sender or the receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The other rank.
    pub peer: u32,
    /// Tells messages of one piece between two ranks apart.
    pub tag: u32,
    /// The first block that it carries.
    pub block: u32,
    /// How many blocks it carries.
    pub blocks: u32,
    /// What it does.
    pub effect: Effect,
}

/// A step of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) rank: u32,
    pub(crate) step: u32,
    /// Which of two trees; 0 for all other algorithms.
    pub(crate) tree: u32,
}

/// The steps of an algorithm.
pub(crate) trait Steps: fmt::Debug + Send + Sync {
    /// How many steps a rank has.
    fn steps(&self) -> u32;

    /// The `k`-th message that a rank sends in a step; `None` if there are fewer.
    fn send(&self, at: At, k: u32) -> Option<Leg>;

    /// The `k`-th message that it receives in a step.
    fn recv(&self, at: At, k: u32) -> Option<Leg>;

    /// In which step a rank receives messages with this tag.
    fn receives_in(&self, tag: u32) -> u32 {
        tag
    }
}

/// The smallest `k` with `2^k >= n`.
fn log2_ceil(n: u32) -> u32 {
    n.max(1).next_power_of_two().trailing_zeros()
}
