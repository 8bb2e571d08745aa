//! How large a network may be. Asking for more is an error before anything is allocated.

use crate::error::TopologyError;
use weir_core::{Rate, Time};

/// The most nodes a topology may have.
pub const MAX_NODES: u64 = 1 << 20;
/// The most links a topology may have.
pub const MAX_LINKS: u64 = 1 << 22;
/// The most ports a node may have. One port number is left over to mean "none".
pub const MAX_PORTS: usize = u16::MAX as usize;
/// The most entries a forwarding table may have (4 bytes each).
pub const MAX_ROUTES: u64 = 1 << 28;
/// The slowest link. What is sent on it arrives at a time that the simulator's clocks can show,
/// also at the end of the longest run.
pub const MIN_RATE: Rate = Rate::from_bps(100_000);
/// The fastest link.
pub const MAX_RATE: Rate = Rate::from_gbps(100_000);
/// The longest propagation delay.
pub const MAX_DELAY: Time = Time::from_ms(1_000);

/// Refuses sizes that are not supported before anything is allocated.
pub fn check_size(nodes: u128, links: u128) -> Result<(), TopologyError> {
    for (what, count, limit) in [("nodes", nodes, MAX_NODES), ("links", links, MAX_LINKS)] {
        if count > u128::from(limit) {
            return Err(TopologyError::TooLarge { what, count, limit });
        }
    }
    Ok(())
}
