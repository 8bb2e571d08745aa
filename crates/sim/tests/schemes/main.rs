//! What the flow control schemes do in whole networks.

#[path = "../common/mod.rs"]
mod common;

mod circles;
mod deadlock;
mod invariants;
