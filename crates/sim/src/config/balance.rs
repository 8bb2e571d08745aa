//! How packets are spread over equally good paths.

use weir_core::{Bytes, Time};

/// How a switch chooses among the next hops that routing calls equally good. Flows with a static
/// path, and hosts with several ports, which choose by flow, are not concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Balance {
    /// One path per flow, by a hash: packets stay in order.
    #[default]
    Flow,
    /// By packet, where little is queued (the adaptive load balancing of DeTail). The drain bytes
    /// of a port are what leaves it before a new packet of the same priority could: its own
    /// priority and, among strict ones, all above it. A port is drawn from those below `low`; if
    /// there is none, from those below `high`; else from all.
    Adaptive {
        /// Drain bytes below which a port is favoured.
        low: Bytes,
        /// Drain bytes below which it is accepted if none is favoured.
        high: Bytes,
    },
    /// By packet, drawn uniformly.
    Random,
    /// By packet, in turn. Each switch begins anywhere, each set of ports has turns of its own.
    RoundRobin,
    /// By flowlet: a flow that has sent nothing through this switch for `gap` draws a port anew.
    Flowlet {
        /// The silence that ends a flowlet.
        gap: Time,
    },
}

impl Balance {
    /// Whether the packets of a flow cannot overtake each other, as long as routes stay as they
    /// are.
    pub fn keeps_order(self) -> bool {
        self == Self::Flow
    }

    /// Whether every packet may take another path than the one before it.
    pub fn is_per_packet(self) -> bool {
        matches!(self, Self::Adaptive { .. } | Self::Random | Self::RoundRobin)
    }
}
