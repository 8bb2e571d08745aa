//! Where the completion time of each flow went.
//!
//! ```text
//!   NIC of the source            switches                    NIC of the receiver
//!   host.rs: why does the        hop.rs: what did the        finished: the packet that
//!   flow not send now?           packet wait for here?       completes the flow
//!        └──── Life ═══ travels beside the packet (Lives) ════════┘
//!                                   │
//!                 walk.rs: [start, end] of the flow, every instant once
//! ```
//!
//! Each data packet has a [`Life`] that travels beside it: when it was sent, and for each hop how
//! long it waited and for what. The life of the packet that completes its flow is kept, all others
//! are dropped at their receiver. What the flow did before that packet was sent is known at its
//! host, as a list of stretches of bounded length. For packets other than the deciding one the
//! switches keep only when they were held.
//!
//! Memory is bounded by what is in the network, a bounded number of stretches per flow, and the
//! holds that flows felt.
//!
//! [`Life`]: crate::outcome::pieces::Life

mod culprits;
mod hop;
mod host;
mod lives;
mod messages;
mod walk;

use super::interface::{Hears, Probe, ProbeConfig, ProbeInfo};
use crate::outcome::{BlameLog, Outcome};
pub(crate) use lives::{Lives, Ports};
use std::sync::Arc;
use weir_core::{NodeId, Time};
use weir_fc::Role;

/// See [`PROBES`](super::PROBES). It is built with what it shares between nodes.
pub(super) const INFO: ProbeInfo = ProbeInfo {
    name: "blame",
    summary: "where the completion time of each flow went",
    columns: &[],
    hears: Hears::NOTHING,
    build: |_| None,
    finish,
};

/// What the probe of one node needs.
pub(crate) struct Setup {
    pub(crate) node: NodeId,
    pub(crate) role: Role,
    pub(crate) ports: Ports,
    /// What a packet takes from its arrival to an egress queue if nothing is in its way.
    pub(crate) latency: Time,
    /// Packets count at their ingress until they are in an egress queue, not until they leave.
    pub(crate) pipelined: bool,
    /// Of as many pauses the culprits are kept.
    pub(crate) most_pauses: usize,
    pub(crate) lives: Arc<Lives>,
}

/// The probe of one node.
pub(super) fn probe(setup: Setup) -> (ProbeInfo, Box<dyn Probe>) {
    let packets = Hears::ARRIVED.and(Hears::SENT).and(Hears::DROPPED).and(Hears::HELD);
    match setup.role {
        Role::Nic => {
            let hears = packets.and(Hears::FLOWS);
            (ProbeInfo { hears, ..INFO }, Box::new(host::HostProbe::new(setup)))
        }
        Role::Switch => {
            let hears = packets.and(Hears::QUEUED).and(Hears::PAUSED);
            (ProbeInfo { hears, ..INFO }, Box::new(hop::HopProbe::new(setup)))
        }
    }
}

/// The log of the outcome, made when the first node reports.
fn log(outcome: &mut Outcome) -> &mut BlameLog {
    outcome.blame.get_or_insert_default()
}

/// Puts together what the nodes reported.
fn finish(outcome: &mut Outcome, _: &ProbeConfig) {
    if let Some(mut log) = outcome.blame.take() {
        walk::all(&mut log, outcome);
        outcome.blame = Some(log);
    }
}
