//! What a recording says of itself.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The header of a recording. Times are in picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub format: u16,
    /// The version of the program.
    pub weir: String,
    /// The scenario.
    pub scenario: String,
    /// What it says it is about.
    pub title: String,
    /// The flow control scheme.
    pub scheme: String,
    /// What tables call the run.
    pub label: String,
    /// The seed.
    pub seed: u64,
    /// When the run ended.
    pub end_ps: u64,
    /// The length of a window of `samples` and `rates`.
    pub window_ps: u64,
    /// How often switches are polled in `polls`.
    pub poll_ps: u64,
    /// `drained`, `deadlocked`, `stalled` or `stopped`.
    pub outcome: String,
    /// All nodes, by id.
    pub nodes: Vec<NodeInfo>,
    /// All ports, node after node. The transmitting side of a port is a link in one direction.
    pub ports: Vec<PortInfo>,
    /// The names of traffic classes.
    pub classes: Vec<String>,
    /// Why pauses were sent; the first one stands for "not known".
    pub reasons: Vec<String>,
    /// Why packets were lost.
    pub drop_reasons: Vec<String>,
    /// The parts of a flow's life in `blame`.
    pub parts: Vec<String>,
    /// Sums over the run.
    pub counters: BTreeMap<String, u64>,
    /// Rows of each kind that the recording does not have.
    pub left_out: BTreeMap<String, u64>,
    /// What was made coarser than asked for to keep the file small.
    pub decimated: Option<Decimated>,
    /// What a slice was cut out of: absent in a whole recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<SliceInfo>,
}

/// What was made coarser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decimated {
    /// The length of a window that was asked for.
    pub asked_window_ps: u64,
    /// The size that the file was to have at most.
    pub limit_bytes: u64,
}

/// What a slice has of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceInfo {
    /// From this time on.
    pub from_ps: u64,
    /// Before this time.
    pub to_ps: u64,
    /// Of these ports, as they were asked for; of all if there are none.
    pub ports: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// Its name.
    pub name: String,
    /// `switch` or `host`.
    pub role: String,
    /// 0 for hosts, then upwards; switches of fabrics without tiers have 1.
    pub tier: u8,
    /// Where it is drawn, in pixels from the left.
    pub x: f32,
    /// Where it is drawn, in pixels from the top.
    pub y: f32,
    /// Its pod or rack; none for what belongs to no part of the fabric.
    pub group: Option<String>,
}

/// A port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortInfo {
    /// Its node.
    pub node: u32,
    /// Which port of the node.
    pub port: u16,
    /// The port at the other end of its link.
    pub peer: u32,
    /// The speed of the link.
    pub rate_bps: u64,
    /// How long a bit travels.
    pub delay_ps: u64,
    /// What people call it: an alias such as `P_d`, or `s1/p0`.
    pub name: String,
}
