//! Rows of the tables of a configuration.

use std::collections::{BTreeMap, BTreeSet};

/// `PORT`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// Mb/s.
    pub speed: Option<u64>,
    /// How many lanes.
    pub lanes: u64,
    /// Largest frame.
    pub mtu: Option<u64>,
    /// Whether it is administratively up.
    pub up: bool,
    /// Whether PFC is asymmetric.
    pub asymmetric: bool,
    /// The field that turns 802.3x pause on, if one does.
    pub link_pause: Option<String>,
}

weir_core::words! {
    /// Which way a pool is used.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Direction {
        /// For priority groups.
        Ingress = "ingress",
        /// For queues.
        Egress = "egress",
        /// For both.
        Both = "both",
    }
}

impl Direction {
    /// Whether priority groups may use it.
    pub const fn ingress(self) -> bool {
        matches!(self, Self::Ingress | Self::Both)
    }

    /// Whether queues may use it.
    pub const fn egress(self) -> bool {
        matches!(self, Self::Egress | Self::Both)
    }
}

/// `BUFFER_POOL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Which way it is used.
    pub direction: Direction,
    /// Whether thresholds are shares of what is free.
    pub dynamic: bool,
    /// Bytes.
    pub size: Option<u64>,
    /// Shared headroom in bytes.
    pub xoff: u64,
    /// Part of the memory.
    pub percentage: bool,
}

/// `BUFFER_PROFILE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Name of its pool.
    pub pool: Option<String>,
    /// Guaranteed bytes.
    pub size: u64,
    /// Resume threshold.
    pub xon: u64,
    /// Distance of the resume threshold from the pause threshold.
    pub xon_offset: u64,
    /// Headroom.
    pub xoff: u64,
    /// alpha = 2^n.
    pub dynamic_th: Option<i64>,
    /// Bytes.
    pub static_th: Option<u64>,
    /// Whether the switch computes the headroom.
    pub computed: bool,
}

/// `BUFFER_PG` or `BUFFER_QUEUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its key in the table.
    pub key: String,
    /// Name of the profile; `None` for `NULL`: the switch computes it.
    pub profile: Option<String>,
}

/// `PORT_QOS_MAP`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QosMap {
    /// `pfc_enable`.
    pub pfc: Option<BTreeSet<u8>>,
    /// `pfcwd_sw_enable`.
    pub watched: Option<BTreeSet<u8>>,
    /// `dscp_to_tc_map`.
    pub dscp_to_tc: Option<String>,
    /// `dot1p_to_tc_map`.
    pub dot1p_to_tc: Option<String>,
    /// `tc_to_dscp_map`.
    pub tc_to_dscp: Option<String>,
    /// `scheduler` of the port.
    pub scheduler: Option<String>,
    /// `tc_to_queue_map`.
    pub tc_to_queue: Option<String>,
    /// `tc_to_pg_map`.
    pub tc_to_pg: Option<String>,
    /// `pfc_to_queue_map`.
    pub pfc_to_queue: Option<String>,
    /// `pfc_to_pg_map`.
    pub pfc_to_pg: Option<String>,
}

impl QosMap {
    /// This, and `below` where this says nothing.
    #[must_use]
    pub(crate) fn over(self, below: Self) -> Self {
        Self {
            pfc: self.pfc.or(below.pfc),
            watched: self.watched.or(below.watched),
            dscp_to_tc: self.dscp_to_tc.or(below.dscp_to_tc),
            dot1p_to_tc: self.dot1p_to_tc.or(below.dot1p_to_tc),
            tc_to_dscp: self.tc_to_dscp.or(below.tc_to_dscp),
            scheduler: self.scheduler.or(below.scheduler),
            tc_to_queue: self.tc_to_queue.or(below.tc_to_queue),
            tc_to_pg: self.tc_to_pg.or(below.tc_to_pg),
            pfc_to_queue: self.pfc_to_queue.or(below.pfc_to_queue),
            pfc_to_pg: self.pfc_to_pg.or(below.pfc_to_pg),
        }
    }
}

/// A map from small numbers to small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map8(pub BTreeMap<u8, u8>);

/// `QUEUE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Its key in the table.
    pub key: String,
    /// Name of its scheduler.
    pub scheduler: Option<String>,
    /// Name of its marking.
    pub wred: Option<String>,
}

/// `WRED_PROFILE`, for green packets, which data is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wred {
    /// Whether green packets are marked.
    pub marks: bool,
    /// Whether green packets are subject to WRED.
    pub enabled: bool,
    /// Minimum threshold of marking.
    pub min: Option<u64>,
    /// Maximum threshold of marking.
    pub max: Option<u64>,
    /// Probability at the maximum, in percent.
    pub probability: u64,
}

/// `PFC_WD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watchdog {
    /// drop, forward, alert.
    pub action: String,
    /// ms.
    pub detection: Option<u64>,
    /// ms.
    pub restoration: Option<u64>,
}

/// `TUNNEL`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tunnel {
    /// `encap_tc_to_queue_map`.
    pub tc_to_queue: Option<String>,
    /// `encap_tc_to_dscp_map`.
    pub tc_to_dscp: Option<String>,
    /// `decap_tc_to_pg_map`.
    pub tc_to_pg: Option<String>,
    /// `decap_dscp_to_tc_map`.
    pub dscp_to_tc: Option<String>,
}
