//! Shorthand for tests of algorithms.

use crate::control::{Ack, Path};
use weir_core::{Bytes, Rate, Time};

/// A 100 Gb/s star with 1 us links: base RTT 4160 ns, 52 000 B.
pub(crate) fn path_100g() -> Path {
    Path {
        line_rate: Rate::from_gbps(100),
        base_rtt: Time::from_ns(4160),
        bdp: Bytes::new(52_000),
        mtu: Bytes::new(1000),
        hops: 1,
    }
}

/// An unmarked ACK for everything below `seq` while the sender is at `snd_nxt`.
pub(crate) fn ack(now: Time, seq: u64, snd_nxt: u64) -> Ack<'static> {
    Ack { now, seq, snd_nxt, newly_acked: 1000, ecn: false, rtt: Time::from_ns(4160), hops: &[] }
}
