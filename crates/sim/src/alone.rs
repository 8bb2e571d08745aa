//! How long flows take where nothing else is in the network.

use crate::config::Config;
use crate::outcome::FlowRecord;
use crate::shared::Shared;
use std::sync::Arc;
use weir_core::{Bytes, NodeId, PortId, Time};
use weir_net::Routes;

/// The time a flow takes alone on its path: exact, store and forward.
///
/// All packets but the last are equal, so the second-last leaves hop `h` after all hops'
/// serialisation times plus `n - 2` times the slowest one so far. The last packet, which may
/// be shorter, follows it from hop to hop.
pub(crate) fn flow_time(shared: &Shared<'_>, flow: &FlowRecord) -> Option<Time> {
    if flow.size == Bytes::MAX {
        return None;
    }
    let config: &Config = shared.config;
    if let Some(path) = flow.path().and_then(|i| shared.paths.get(i as usize)) {
        return Some(path_time(shared, config, path, flow.size));
    }
    // the first routes that lead there: a link may be down from the start and come up later
    let path =
        |routes: &Arc<Routes>| routes.path(shared.topology, flow.src(), flow.dst, flow.id.hash64());
    let path = shared.epochs.iter().find_map(|(_, routes)| path(routes))?;
    Some(path_time(shared, config, &path, flow.size))
}

/// The same for so many bytes on any path.
pub(crate) fn path_time(
    shared: &Shared<'_>,
    config: &Config,
    path: &[(NodeId, PortId)],
    size: Bytes,
) -> Time {
    let (payload, header) = (config.nic.payload.get(), config.nic.header.get());
    let packets = size.get().div_ceil(payload).max(1);
    let last = size.get() - (packets - 1) * payload;
    let wire = |bytes: u64| Bytes::new(bytes + header) + config.link.overhead;
    // when the last packet has arrived at this hop, and cables and latencies so far
    let (mut arrived, mut distance) = (Time::ZERO, Time::ZERO);
    let (mut sum, mut slowest) = (Time::ZERO, Time::ZERO);
    for (hop, &(node, port)) in path.iter().enumerate() {
        let link = shared.topology.link(shared.topology.port(node, port).link);
        let full = link.rate.time_for(wire(payload));
        slowest = slowest.max(full);
        sum += full;
        let wire_free =
            if packets > 1 { distance + sum + slowest * (packets - 2) } else { Time::ZERO };
        let latency = if hop + 1 < path.len() { config.switch.hop_latency() } else { Time::ZERO };
        let onward = link.delay + latency;
        arrived = arrived.max(wire_free) + link.rate.time_for(wire(last)) + onward;
        distance += onward;
    }
    arrived
}
