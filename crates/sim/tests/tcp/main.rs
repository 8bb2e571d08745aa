//! TCP in whole networks: times in closed form, repair of losses, marks, sharing, classes of ACKs.

#[path = "../common/mod.rs"]
mod common;

mod acks;
mod alone;
mod losses;
mod marks;

use common::config;
use std::num::NonZeroU32;
use weir_cc::tcp::Handshake;
use weir_core::{Bytes, Time};
use weir_sim::Config;
use weir_sim::config::Reliability;

/// A full segment of 1460 B, 1518 B as a frame, with 20 B of overhead at 100 Gb/s.
const SEGMENT: Time = Time::from_ps(123_040);

/// An ACK or a SYN of 64 B with 20 B of overhead at 100 Gb/s.
const ACK: Time = Time::from_ps(6_720);

/// Payload of `n` full segments.
const fn segments(n: u64) -> u64 {
    n * 1460
}

/// A count of at least one.
fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).expect("a count from 1")
}

/// TCP without a handshake, with timers of a millisecond.
fn tcp(scheme: &str) -> Config {
    let mut cfg = config(scheme);
    cfg.nic.reliability = Reliability::Tcp;
    cfg.nic.payload = Bytes::new(1460);
    cfg.nic.header = Bytes::new(58);
    cfg.tcp.handshake = Handshake::None;
    cfg.tcp.rto_min = Time::from_ms(1);
    cfg.tcp.rto_initial = Time::from_ms(1);
    cfg
}
