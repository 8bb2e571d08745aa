//! What the catalogue knows of a scheme, and what a scheme is told when it is made.

use crate::{
    FlowControl, Param, ParamError, PortSetup, PrioritySchedule, Role, Thresholds, Values,
};
use weir_core::{Bytes, NodeId, PortId, PrioritySet};

/// What a scheme knows about its node when it is created.
#[derive(Clone, Debug)]
pub struct NodeSetup<'a> {
    /// The node.
    pub node: NodeId,
    /// Switch or NIC.
    pub role: Role,
    /// Its ports.
    pub ports: &'a [PortSetup],
    /// How priorities share a port.
    pub schedule: &'a PrioritySchedule,
    /// Bit `p` set: priority `p` is lossless.
    pub lossless: PrioritySet,
    /// The buffer's thresholds.
    pub thresholds: &'a Thresholds,
    /// The largest data frame.
    pub max_frame: Bytes,
    /// Time between the arrival of a control frame and its effect.
    pub response: weir_core::Response,
    /// The run's seed, for schemes that draw.
    pub seed: u64,
}

impl NodeSetup<'_> {
    /// The time from the packet that is one too many to the first one that is not sent because of
    /// it, in the worst case: both ends have just begun a full frame, and the control frame
    /// crosses the link at `port`, is received and takes effect. What BFC and FlowSail call HRTT.
    pub fn hop_rtt(&self, port: PortId) -> weir_core::Time {
        let link = self.ports[port.index()];
        let control = link.frame_time(Bytes::new(weir_core::control::MIN_FRAME));
        (link.delay + link.frame_time(self.max_frame)) * 2 + control + self.response.at(link.rate)
    }
}

/// A scheme in the catalogue.
pub struct SchemeInfo {
    /// How scenarios call it.
    pub name: &'static str,
    /// How tables call it.
    pub title: &'static str,
    /// The idea in a few sentences.
    pub summary: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Whether it promises that lossless priorities lose nothing.
    pub lossless: bool,
    /// What bounds an ingress under it, with these parameters.
    pub ingress_bound: fn(&Values) -> IngressBound,
    /// Whether it supports switches that send packets of one flow by several ports, or why not.
    pub many_paths: Result<(), &'static str>,
    /// Which nodes send control frames.
    pub senders: Senders,
    /// Whether it sends reports with these parameters: frames that tell a state, such as a bitmap
    /// or a length, instead of asking for a pause or a resume.
    pub reports: fn(&Values) -> bool,
    /// Makes an instance for one node.
    pub build: Build,
}

/// What keeps the bytes of one lossless ingress (port, priority) within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngressBound {
    /// The scheme, or PFC behind it, stops the neighbour at the buffer's thresholds. Room for
    /// the packet that crosses the threshold and for the headroom is enough.
    Pauses,
    /// The scheme slows the neighbour down so that threshold and headroom are never used up, but
    /// for packets that have been started: two frames beyond are enough.
    Slows,
    /// The neighbour sends only what the scheme has granted it, and never more than this many
    /// bytes that have not left again. No headroom is needed: nothing comes that has no room.
    Grants(Bytes),
    /// The scheme does not pause or slow the neighbour because of the ingress: only the memory
    /// limits it.
    Memory,
}

/// Which nodes send the control frames of a scheme. A slow receiver pauses its switch under every
/// scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Senders {
    /// None: there is no flow control.
    Nobody,
    /// Switches only: a host takes what comes.
    Switches,
    /// Switches and hosts.
    SwitchesAndHosts,
}

/// Makes a scheme for one node from its parameters, or says which of them cannot be.
pub type Build = fn(&Values, &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError>;

impl weir_core::registry::Named for SchemeInfo {
    fn name(&self) -> &str {
        self.name
    }
}

impl std::fmt::Debug for SchemeInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SchemeInfo").field("name", &self.name).finish_non_exhaustive()
    }
}
