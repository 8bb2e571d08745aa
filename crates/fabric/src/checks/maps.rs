//! DSCP, traffic class, priority group, queue and PFC priority: does each packet pause what it
//! fills?

use crate::code::{self, Code};
use crate::config::Switch;
use crate::finding::{Change, Finding, pointer};
use std::collections::{BTreeMap, BTreeSet};

/// Traffic classes.
const CLASSES: u8 = 16;

/// Checks the maps of a switch.
pub(super) fn check(switch: &Switch, out: &mut Vec<Finding>) {
    references(switch, out);
    for port in switch.ports.keys().filter(|p| !switch.pfc(p).is_empty()) {
        classes(switch, port, out);
        nowhere(switch, port, out);
        if switch.ports[port].asymmetric {
            let message = format!("pfc_asym is on at {port}");
            let path = ["PORT", port.as_str(), "pfc_asym"];
            let found = Finding::new(&code::SN404, switch.index, pointer(&path), message);
            out.push(found.mended_by(Change::set(switch.index, &path, "off")));
        }
        if let Some(field) = &switch.ports[port].link_pause {
            let message = format!("`{field}` turns link pause on at {port}, which has PFC");
            let place = pointer(&["PORT", port, field]);
            out.push(Finding::new(&code::SN405, switch.index, place, message));
        }
    }
}

/// Names of maps, profiles and ports that are not there.
fn references(switch: &Switch, out: &mut Vec<Finding>) {
    for (port, qos) in &switch.qos {
        let all = [
            ("dscp_to_tc_map", "DSCP_TO_TC_MAP", &qos.dscp_to_tc),
            ("dot1p_to_tc_map", "DOT1P_TO_TC_MAP", &qos.dot1p_to_tc),
            ("tc_to_dscp_map", "TC_TO_DSCP_MAP", &qos.tc_to_dscp),
            ("tc_to_queue_map", "TC_TO_QUEUE_MAP", &qos.tc_to_queue),
            ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", &qos.tc_to_pg),
            ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", &qos.pfc_to_queue),
            ("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", &qos.pfc_to_pg),
        ];
        for (field, table, name) in all {
            let Some(name) = name else { continue };
            let there = switch.maps.contains_key(&(table.to_owned(), name.clone()));
            // a file without ports and without the table is a part of a configuration
            let whole = switch.root.get("PORT").is_some();
            if !there && (whole || switch.maps.keys().any(|(t, _)| t == table)) {
                let message = format!("{table} has no `{name}`");
                let place = pointer(&["PORT_QOS_MAP", port, field]);
                out.push(Finding::new(&code::SN103, switch.index, place, message));
            }
        }
        let scheduler = qos.scheduler.as_ref().filter(|_| !switch.schedulers.is_empty());
        if let Some(name) = scheduler.filter(|name| !switch.schedulers.contains_key(*name)) {
            let message = format!("SCHEDULER has no `{name}`");
            let place = pointer(&["PORT_QOS_MAP", port, "scheduler"]);
            out.push(Finding::new(&code::SN103, switch.index, place, message));
        }
    }
}

fn classes(switch: &Switch, port: &str, out: &mut Vec<Finding>) {
    let qos = switch.qos_of(port);
    let pfc = switch.pfc(port);
    let paused: BTreeMap<u8, u8> =
        pfc.iter().map(|p| (switch.queue_of(port, *p), switch.group_of(port, *p))).collect();
    let mut say = |code: &'static Code, field: &str, message: String| {
        let place = pointer(&["PORT_QOS_MAP", port, field]);
        out.push(Finding::new(code, switch.index, place, message));
    };
    let mut served = BTreeSet::new();
    for class in 0..CLASSES {
        let queue = switch.mapped("TC_TO_QUEUE_MAP", qos.tc_to_queue.as_ref(), class);
        let group = switch.mapped("TC_TO_PRIORITY_GROUP_MAP", qos.tc_to_pg.as_ref(), class);
        let (Some(queue), Some(group)) = (queue, group) else { continue };
        match paused.get(&queue) {
            Some(wanted) if *wanted != group => {
                let message = format!(
                    "class {class} is sent by lossless queue {queue} but stored in group {group}; \
                     the PAUSE of that queue is for group {wanted}"
                );
                say(&code::SN501, "tc_to_pg_map", message);
            }
            Some(_) => drop(served.insert((class, queue))),
            None if paused.values().any(|lossless| *lossless == group) => {
                let message = format!(
                    "class {class} is stored in lossless group {group} but sent by queue {queue}, \
                     which no PAUSE stops"
                );
                say(&code::SN502, "tc_to_pg_map", message);
            }
            None => {}
        }
    }
    // what a map says that is not there is not known
    let known = |table: &str, name: &Option<String>| {
        let key = name.clone().map(|name| (table.to_owned(), name));
        key.is_none_or(|key| switch.maps.contains_key(&key))
    };
    if !known("TC_TO_QUEUE_MAP", &qos.tc_to_queue)
        || !known("TC_TO_PRIORITY_GROUP_MAP", &qos.tc_to_pg)
    {
        return;
    }
    let Some(name) = &qos.dscp_to_tc else { return };
    let Some(dscp) = switch.maps.get(&("DSCP_TO_TC_MAP".to_owned(), name.clone())) else { return };
    for priority in &pfc {
        let queue = switch.queue_of(port, *priority);
        let reached = |class: &u8| served.contains(&(*class, queue));
        if !dscp.0.values().any(reached) {
            let message = format!("no DSCP of map {name} leads to priority {priority}");
            say(&code::SN503, "dscp_to_tc_map", message);
        }
    }
}

/// Classes that packets get, but that have no queue or no priority group.
fn nowhere(switch: &Switch, port: &str, out: &mut Vec<Finding>) {
    let qos = switch.qos_of(port);
    let named =
        |table: &str, name: &Option<String>| switch.maps.get(&(table.to_owned(), name.clone()?));
    let Some(given) = named("DSCP_TO_TC_MAP", &qos.dscp_to_tc) else { return };
    for (field, table, name, what) in [
        ("tc_to_queue_map", "TC_TO_QUEUE_MAP", &qos.tc_to_queue, "queue"),
        ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", &qos.tc_to_pg, "priority group"),
    ] {
        let Some(map) = named(table, name) else { continue };
        let without: BTreeSet<u8> =
            given.0.values().copied().filter(|class| !map.0.contains_key(class)).collect();
        for class in without {
            let from = given.0.iter().find(|(_, to)| **to == class).map_or(0, |(dscp, _)| *dscp);
            let message = format!(
                "DSCP {from} is class {class}, for which {table} `{}` has no {what}",
                name.as_deref().unwrap_or_default()
            );
            let place = pointer(&["PORT_QOS_MAP", port, field]);
            out.push(Finding::new(&code::SN505, switch.index, place, message));
        }
    }
}

/// The DSCPs that a switch treats as lossless on any port.
pub(super) fn lossless_dscps(switch: &Switch) -> BTreeSet<u8> {
    let mut all = BTreeSet::new();
    for port in switch.ports.keys() {
        let qos = switch.qos_of(port);
        let queues: BTreeSet<u8> =
            switch.pfc(port).iter().map(|p| switch.queue_of(port, *p)).collect();
        let key = qos.dscp_to_tc.clone().map(|name| ("DSCP_TO_TC_MAP".to_owned(), name));
        let Some(map) = key.and_then(|key| switch.maps.get(&key)) else { continue };
        all.extend(map.0.iter().filter_map(|(dscp, class)| {
            let queue = switch.mapped("TC_TO_QUEUE_MAP", qos.tc_to_queue.as_ref(), *class)?;
            queues.contains(&queue).then_some(*dscp)
        }));
    }
    all
}

/// Switches against each other: the same DSCPs are lossless everywhere.
pub(super) fn across(switches: &[Switch], out: &mut Vec<Finding>) {
    let known = switches.iter().map(|s| (s, lossless_dscps(s)));
    let mut known = known.filter(|(_, set)| !set.is_empty());
    let Some((first, wanted)) = known.next() else { return };
    for (switch, set) in known {
        let only = |a: &BTreeSet<u8>, b: &BTreeSet<u8>| -> Vec<String> {
            a.difference(b).map(u8::to_string).collect()
        };
        let (here, there) = (only(&set, &wanted), only(&wanted, &set));
        for (dscps, yes, no) in
            [(here, &switch.name, &first.name), (there, &first.name, &switch.name)]
        {
            if !dscps.is_empty() {
                let message =
                    format!("DSCP {} is lossless on {yes} but not on {no}", dscps.join(", "));
                let place = pointer(&["DSCP_TO_TC_MAP"]);
                out.push(Finding::new(&code::SN504, switch.index, place, message));
            }
        }
    }
}
