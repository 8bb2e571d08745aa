//! Names that refer to nothing: ports in keys, profiles in lists, maps of tunnels.

use crate::code;
use crate::config::Switch;
use crate::finding::{Finding, pointer};
use serde_json::{Map, Value};

/// Tables whose keys begin with a port.
const BY_PORT: [&str; 7] = [
    "PORT_QOS_MAP",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "QUEUE",
    "PFC_WD",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
];
/// Keys that are no ports: settings of the whole switch, and the queues of its processor.
const NO_PORTS: [&str; 3] = ["global", "GLOBAL", "CPU"];

/// Checks the names of a switch.
pub(super) fn check(switch: &Switch, out: &mut Vec<Finding>) {
    ports(switch, out);
    lists(switch, out);
    tunnels(switch, out);
}

fn table<'a>(switch: &'a Switch, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    switch.root.get(name).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

/// A misspelt port has no effect, and the port that was meant has no setting.
fn ports(switch: &Switch, out: &mut Vec<Finding>) {
    // a file without ports is a part of a configuration
    if switch.root.get("PORT").is_none() {
        return;
    }
    let mut say = |port: &str, place: String| {
        let known = switch.ports.keys().map(String::as_str);
        let near = weir_core::nearest(port, known);
        let hint = near.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"));
        let message = format!("PORT has no `{port}`{hint}");
        out.push(Finding::new(&code::SN103, switch.index, place, message));
    };
    let unknown = |port: &str| !switch.ports.contains_key(port) && !NO_PORTS.contains(&port);
    for name in BY_PORT {
        for (key, _) in table(switch, name) {
            let parts: Vec<&str> = key.split('|').collect();
            // a chassis names ports of its other cards, too: host|asic|port|queue
            if parts.len() > 2 {
                continue;
            }
            for port in parts[0].split(',').map(str::trim).filter(|p| unknown(p)) {
                say(port, pointer(&[name, key]));
            }
        }
    }
    for (key, row) in table(switch, "CABLE_LENGTH") {
        let fields = row.as_object().into_iter().flat_map(Map::keys);
        for port in fields.filter(|p| unknown(p)) {
            say(port, pointer(&["CABLE_LENGTH", key, port]));
        }
    }
}

/// Profiles of ports must exist, and belong to a pool of the right direction.
fn lists(switch: &Switch, out: &mut Vec<Finding>) {
    for (name, ingress) in
        [("BUFFER_PORT_INGRESS_PROFILE_LIST", true), ("BUFFER_PORT_EGRESS_PROFILE_LIST", false)]
    {
        for (key, row) in table(switch, name) {
            let list = row.get("profile_list").and_then(Value::as_str).unwrap_or_default();
            let place = || pointer(&[name, key, "profile_list"]);
            let mut say = |code, message| {
                out.push(Finding::new(code, switch.index, place(), message));
            };
            for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
                let entry = entry.trim_matches(['[', ']']);
                let profile = entry.rsplit('|').next().unwrap_or(entry);
                let Some(found) = switch.profiles.get(profile) else {
                    say(&code::SN103, format!("the profile `{profile}` is not there"));
                    continue;
                };
                let pool = found.pool.as_ref().and_then(|p| Some((p, switch.pools.get(p)?)));
                let Some((pool, direction)) = pool.map(|(name, p)| (name, p.direction)) else {
                    continue;
                };
                let (fits, want) = match ingress {
                    true => (direction.ingress(), "an ingress"),
                    false => (direction.egress(), "an egress"),
                };
                if !fits {
                    let message =
                        format!("the list needs {want} pool: profile {profile} is in {pool}");
                    say(&code::SN306, message);
                }
            }
        }
    }
}

fn tunnels(switch: &Switch, out: &mut Vec<Finding>) {
    for (name, tunnel) in &switch.tunnels {
        for (field, table, map) in [
            ("encap_tc_to_queue_map", "TC_TO_QUEUE_MAP", &tunnel.tc_to_queue),
            ("encap_tc_to_dscp_map", "TC_TO_DSCP_MAP", &tunnel.tc_to_dscp),
            ("decap_tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", &tunnel.tc_to_pg),
            ("decap_dscp_to_tc_map", "DSCP_TO_TC_MAP", &tunnel.dscp_to_tc),
        ] {
            let Some(map) = map else { continue };
            if !switch.maps.contains_key(&(table.to_owned(), map.clone())) {
                let message = format!("{table} has no `{map}`");
                let place = pointer(&["TUNNEL", name, field]);
                out.push(Finding::new(&code::SN103, switch.index, place, message));
            }
        }
    }
}
