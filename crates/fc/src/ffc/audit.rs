//! FFC's invariants.

use super::INFO;
use super::egress::Egress;
use crate::{Network, NodeView, Violation};

/// Checks the flows of a port against its queues and lanes.
pub(super) fn audit(
    e: &Egress,
    low: u64,
    v: &NodeView<'_>,
    network: Network,
) -> Result<(), Violation> {
    let fail = |what: String| {
        Err(Violation { scheme: INFO.name, what: format!("port {}: {what}", e.port.0) })
    };
    let mut bytes = 0;
    for (i, key, f) in e.flows.iter() {
        bytes += f.bytes;
        if network.is_drained() {
            return fail(format!("flow {key:#x} is left after a drain: {f:?}"));
        }
        if !f.told.is_empty() && f.lane_bytes <= low {
            return fail(format!("flow {key:#x} is paused upstream without a reason: {f:?}"));
        }
        match f.lane {
            None if f.lane_bytes > 0 => return fail(format!("flow {key:#x} has no lane: {f:?}")),
            Some(lane) => {
                let queued = v.queue(e.port, e.lane_queue(lane));
                if e.lanes[lane as usize] != Some(i)
                    || queued.bytes.get() != f.lane_bytes
                    || (f.xoff && !queued.held)
                {
                    return fail(format!("lane {lane} and its flow disagree: {queued:?}, {f:?}"));
                }
            }
            None => {}
        }
    }
    let taken = e.lanes.iter().flatten().count();
    let flows = e.flows.iter().filter(|(_, _, f)| f.lane.is_some()).count();
    let queued = v.queue(e.port, e.transmit()).bytes.get();
    if taken != flows || queued != bytes {
        return fail(format!(
            "{taken} lanes for {flows} flows, {queued} B queued and {bytes} B counted"
        ));
    }
    Ok(())
}
