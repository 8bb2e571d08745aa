//! Dual-ToR pairs: traffic that bounces must not return in the queue it came by.

use crate::code;
use crate::config::Switch;
use crate::finding::{Finding, pointer};
use std::collections::BTreeSet;

/// Checks the tunnels of a switch.
pub(super) fn check(switch: &Switch, out: &mut Vec<Finding>) {
    let mux = switch.tunnels.keys().any(|name| name.starts_with("MuxTunnel"));
    if !switch.dual_tor && !mux {
        return;
    }
    let sets: Vec<BTreeSet<u8>> = switch.ports.keys().map(|p| switch.pfc(p)).collect();
    let sets: Vec<&BTreeSet<u8>> = sets.iter().filter(|set| !set.is_empty()).collect();
    // lossless on every port: what servers send; ports to the fabric have more for what bounces
    let Some(first) = sets.first() else { return };
    let common: Vec<u8> =
        first.iter().copied().filter(|p| sets.iter().all(|set| set.contains(p))).collect();
    let anywhere: BTreeSet<u8> = sets.iter().flat_map(|set| set.iter().copied()).collect();
    if switch.tunnels.is_empty() {
        let message = "a dual-ToR switch without a TUNNEL that remaps lossless classes".to_owned();
        out.push(Finding::new(&code::SN801, switch.index, pointer(&["TUNNEL"]), message));
    }
    for (name, tunnel) in &switch.tunnels {
        let place = pointer(&["TUNNEL", name, "encap_tc_to_queue_map"]);
        for class in &common {
            let map = tunnel.tc_to_queue.as_ref();
            let queue = match map {
                None => Some(*class),
                Some(_) => switch.mapped("TC_TO_QUEUE_MAP", map, *class),
            };
            match queue {
                Some(queue) if queue == *class => {
                    let message =
                        format!("tunnel {name} sends lossless class {class} back in queue {queue}");
                    out.push(Finding::new(&code::SN801, switch.index, place.clone(), message));
                }
                Some(queue) if !anywhere.contains(&queue) => {
                    let message = format!(
                        "tunnel {name} sends lossless class {class} in queue {queue}, for which \
                         no port enables PFC"
                    );
                    out.push(Finding::new(&code::SN802, switch.index, place.clone(), message));
                }
                Some(_) => {}
                None => {
                    let message =
                        format!("the map of tunnel {name} has no queue for class {class}");
                    out.push(Finding::new(&code::SN103, switch.index, place.clone(), message));
                }
            }
        }
    }
}
