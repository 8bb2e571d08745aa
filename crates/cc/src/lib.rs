//! End-host algorithms without I/O: congestion control and reliability.
//!
//! A congestion control is a small state machine that belongs to one flow at its sender. It never
//! reads a clock and never sees an event queue: it is told what happened and keeps an answer to
//! two questions, *how fast may this flow send* ([`CongestionControl::rate`]) and *how much may be
//! in flight* ([`CongestionControl::window`]).
//!
//! ```text
//!              on_ack / on_cnp / on_sent / on_timer / on_timeout
//!   NIC  ───────────────────────────────────────────────────────▶  CongestionControl
//!        ◀───────────────────────────────────────────────────────
//!              rate(), window(), Pacing, timers to arm
//! ```
//!
//! | module | algorithm |
//! |---|---|
//! | [`none`] | line rate; flow control alone must cope |
//! | [`dcqcn`] | marks; rate cuts and staged recovery on NIC timers |
//! | [`dcqcn_paper`] | the same idea as published, with a byte counter |
//! | [`timely`] | the slope of the round-trip time |
//! | [`hpcc`] | telemetry of every switch on the way |
//! | [`dctcp`] | marks; the marked fraction once per round-trip time |
//! | [`swift`] | a target for the round-trip time |
//!
//! Around them: [`ecn`] decides which packets a switch marks, [`reliability`] what is sent again
//! after a loss with selective repeat (go-back-N is a few lines of each NIC), and [`tcp`] is a
//! whole transport.
//!
//! [`CcParams`] names an algorithm with its parameters, [`CcParams::start`] makes the state of one
//! flow, [`Cc`] is that state for any algorithm (an enum, so that calls need no dynamic dispatch).
//! [`OwnCc`] adds a user-defined algorithm.
//!
//! Each algorithm says what it reacts to ([`CongestionControl::needs`]); NICs and switches provide
//! that and nothing else.

mod control;
pub mod dcqcn;
pub mod dcqcn_paper;
pub mod dctcp;
pub mod ecn;
#[cfg(test)]
mod for_tests;
pub mod hpcc;
mod kind;
pub mod none;
mod own;
pub mod params;
pub mod reliability;
mod step;
pub mod swift;
pub mod tcp;
pub mod timely;
mod window;

pub use control::{
    Ack, CongestionControl, IntHop, MAX_HOPS, Needs, Pacing, Path, TimerKind, Timers,
};
pub use kind::{Cc, CcKind, CcParams};
pub use own::{Added, OWN, OwnCc};
pub use params::{ParamError, ParamInfo};
pub use step::Step;
pub use window::{Window, WindowKind};
