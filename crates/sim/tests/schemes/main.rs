//! What the flow control schemes do in whole networks.

#[path = "../common/mod.rs"]
mod common;

mod bitmaps;
mod circles;
mod deadlock;
mod egress_max;
mod fig1;
mod flushed;
mod heads;
mod invariants;
mod limits;
mod own_scheme;
mod quiet;
mod turns;
mod waits;

/// The example of the guide "Write your own scheme", as it is.
#[path = "../../../fc/examples/own_scheme.rs"]
mod door;
