//! Dual-ToR pairs: traffic that bounces must not return in the queue it came by.

use super::maps::lossless_dscps;
use crate::code;
use crate::config::{Switch, Tunnel};
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
            other_tor(switch, (name, tunnel), *class, out);
        }
    }
}

/// The way to the other ToR and into it: the outer DSCP must lead to a lossless queue of its own
/// in the fabric, and the group that stores what was unpacked must be one of its own.
fn other_tor(switch: &Switch, (name, tunnel): (&str, &Tunnel), class: u8, out: &mut Vec<Finding>) {
    let mut say = |code, field: &str, message: String| {
        let place = pointer(&["TUNNEL", name, field]);
        out.push(Finding::new(code, switch.index, place, message));
    };
    let mapped = |table: &str, map: &Option<String>| {
        map.as_ref().and_then(|_| switch.mapped(table, map.as_ref(), class))
    };
    if let Some(dscp) = mapped("TC_TO_DSCP_MAP", &tunnel.tc_to_dscp) {
        let queues: BTreeSet<u8> =
            switch.ports.keys().filter_map(|port| queue_of_dscp(switch, port, dscp)).collect();
        let with = format!("tunnel {name} gives lossless class {class} DSCP {dscp}");
        if queues.contains(&class) {
            let message = format!("{with}, which is sent by queue {class}");
            say(&code::SN801, "encap_tc_to_dscp_map", message);
        } else if !queues.is_empty() && !lossless_dscps(switch).contains(&dscp) {
            let message = format!("{with}, which is lossless at no port");
            say(&code::SN802, "encap_tc_to_dscp_map", message);
        }
    }
    if let Some(group) = mapped("TC_TO_PRIORITY_GROUP_MAP", &tunnel.tc_to_pg) {
        let with = format!("tunnel {name} stores lossless class {class} in group {group}");
        let lossless = |port: &String| switch.profile_of(port, group).is_some_and(|p| p.1.xoff > 0);
        let computed = |port: &String| switch.groups.contains_key(&(port.clone(), group));
        if group == class {
            say(&code::SN801, "decap_tc_to_pg_map", format!("{with}, its own"));
        } else if !switch.ports.keys().any(|p| lossless(p) || switch.dynamic_model && computed(p)) {
            let message = format!("{with}, which has no headroom at any port");
            say(&code::SN802, "decap_tc_to_pg_map", message);
        }
    }
}

/// The queue by which a port sends packets of a DSCP.
fn queue_of_dscp(switch: &Switch, port: &str, dscp: u8) -> Option<u8> {
    let qos = switch.qos_of(port);
    let map = switch.maps.get(&("DSCP_TO_TC_MAP".to_owned(), qos.dscp_to_tc.clone()?))?;
    switch.mapped("TC_TO_QUEUE_MAP", qos.tc_to_queue.as_ref(), *map.0.get(&dscp)?)
}
