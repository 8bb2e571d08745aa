//! The event engine and the models it moves.
//!
//! ```text
//!             Traffic ──► Nic ══ wire ══► Switch ══ wire ══► Switch ══ wire ══► Nic
//!                          │                │                                   │
//!                    FlowControl      FlowControl                           delivered,
//!                  CongestionControl   buffer, queues                      acknowledged
//! ```
//!
//! | where | what |
//! |---|---|
//! | [`run()`] | builds a world from a topology, traffic and a [`Config`], simulates it, reports |
//! | [`config`] | every setting a model uses |
//! | [`outcome`] | what a run found out |
//! | `engine/` | who runs which node when; results do not depend on it |
//! | `switch/`, `nic/` | the two kinds of nodes |
//! | `wire.rs`, `link.rs` | what is between them |
//! | `probe/` | what is measured along the way |
//! | `deadlock.rs` | cyclic waits, and runs in which nothing moves any more |
//!
//! A run is a pure function of its inputs: the same bytes on every machine.

mod chain;
pub mod config;
mod deadlock;
mod engine;
mod error;
mod frame;
mod limit;
mod link;
pub mod marking;
mod nic;
mod node;
pub mod outcome;
mod probe;
mod report;
mod responses;
pub mod run;
mod shared;
mod switch;
mod tally;
mod timers;
mod tree;
mod wire;

pub use config::Config;
pub use error::SimError;
pub use outcome::{Finish, Outcome};
pub use run::{Observer, Progress, run};
pub use tree::HORIZON;
