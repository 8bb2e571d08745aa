//! The keys of thresholds at the egress.

use super::{Key, Kind, key};

/// Thresholds of egress queues.
pub const EGRESS: &[Key] = &[
    key(
        "limit",
        Kind::Size(&["unlimited"]),
        "unlimited",
        "Largest number of bytes of an egress queue (port, priority) of a lossy priority. ACKs \
         have no limit.",
    ),
    key(
        "alpha",
        Kind::Fraction,
        "",
        "Dynamic threshold of lossy priorities: this share of what all of them leave of `pool`; a \
         power of two from 1/256 to 128. A queue is limited by it and by `limit`.",
    ),
    key(
        "pool",
        Kind::Size(&["buffer"]),
        "buffer",
        "The memory of which `alpha` is a share; `buffer`: all memory of the switch.",
    ),
    key(
        "lossless",
        Kind::Size(&["unlimited"]),
        "unlimited",
        "Largest number of bytes of an egress queue of a lossless priority. A limit loses packets \
         that flow control protects; switches are usually configured without one.",
    ),
];
