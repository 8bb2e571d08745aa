//! From JSON to tables.

use super::row::{ConfigRow, Found, port_and_range, rows, short};
use super::tables::{
    Direction, Group, Map8, Pool, Port, Profile, QosMap, Queue, Tunnel, Watchdog, Wred,
};
use super::{Lines, Switch};
use crate::code;
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads all tables.
pub(super) fn switch(
    index: usize,
    file: &str,
    root: Value,
    lines: Lines,
    out: Found<'_>,
) -> Switch {
    let metadata = rows(index, &root, "DEVICE_METADATA", out);
    let local = metadata.iter().find(|row| row.key == "localhost");
    let said = |field: &str| {
        let value = local.and_then(|row| row.fields.get(field)).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let one_of = |field: &str, valid: &[&str], out: Found<'_>| {
        local.and_then(|row| row.word(field, valid, out)).unwrap_or_default()
    };
    let model = one_of("buffer_model", &["traditional", "dynamic"], out);
    one_of("default_pfcwd_status", &["enable", "disable"], out);
    let stem = std::path::Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let name = match said("hostname") {
        name if name.is_empty() => stem.into_owned(),
        name => name,
    };
    let mut switch = Switch {
        name,
        file: file.to_owned(),
        index,
        device: format!("{} {}", said("platform"), said("hwsku")),
        dynamic_model: model == "dynamic",
        dual_tor: said("subtype").eq_ignore_ascii_case("DualToR"),
        ports: ports(index, &root, out),
        cables: cables(index, &root, out),
        pools: pools(index, &root, out),
        profiles: profiles(index, &root, out),
        groups: groups(index, &root, "BUFFER_PG", out),
        queue_buffers: groups(index, &root, "BUFFER_QUEUE", out),
        qos: qos(index, &root, out),
        maps: maps(index, &root, out),
        queues: queues(index, &root, out),
        schedulers: schedulers(index, &root, out),
        wred: wred(index, &root, out),
        watchdogs: BTreeMap::new(),
        poll: None,
        neighbours: neighbours(index, &root, out),
        neighbour_types: BTreeMap::new(),
        lossless_mtu: 1024,
        small_packets: None,
        oversubscription: 0,
        tunnels: tunnels(index, &root, out),
        root: Value::Null,
        lines,
    };
    watchdogs(&mut switch, &root, out);
    pattern(&mut switch, &root, out);
    for row in rows(index, &root, "DEVICE_NEIGHBOR_METADATA", out) {
        if let Some(kind) = row.text("type", out) {
            switch.neighbour_types.insert(row.key.to_owned(), kind);
        }
    }
    if root.get("PORT").is_none() {
        named_ports(&mut switch);
    }
    switch.root = root;
    switch
}

/// A part of a configuration may have no `PORT`: its ports are those that other tables name.
fn named_ports(switch: &mut Switch) {
    let by_qos = switch.qos.keys().filter(|port| *port != "global");
    let by_group = switch.groups.keys().map(|(port, _)| port);
    let names = by_qos.chain(by_group).chain(switch.neighbours.keys());
    let ports = names.map(|name| (name.clone(), Port { up: true, ..Port::default() }));
    switch.ports = ports.collect();
}

fn ports(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, Port> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "PORT", out) {
        let unsigned = |n: i64| u64::try_from(n).ok();
        let pause = ["link_pause", "pause", "flow_control", "fc_mode"].into_iter().find(|field| {
            let value = row.fields.get(*field).and_then(Value::as_str);
            value.is_some_and(|v| !matches!(v, "off" | "none" | "disable" | "disabled" | "false"))
        });
        let port = Port {
            speed: row.number("speed", 1..=100_000_000, out).and_then(unsigned),
            lanes: lanes(&row, out),
            mtu: row.number("mtu", 68..=9216, out).and_then(unsigned),
            up: row.word("admin_status", &["up", "down"], out).is_none_or(|s| s != "down"),
            asymmetric: row.word("pfc_asym", &["on", "off"], out).is_some_and(|s| s == "on"),
            link_pause: pause.map(str::to_owned),
        };
        all.insert(row.key.to_owned(), port);
    }
    all
}

/// How many lanes a port has; 0 if it does not say.
fn lanes(row: &ConfigRow<'_>, out: Found<'_>) -> u64 {
    let Some(text) = row.text("lanes", out) else { return 0 };
    let numbers = text.split(',').all(|lane| lane.trim().parse::<u32>().is_ok());
    if !numbers {
        let message = format!("`lanes` is \"{}\": numbers such as 1,2,3,4", short(&text));
        row.say(out, &code::SN101, "lanes", message);
        return 0;
    }
    text.split(',').count() as u64
}

fn cables(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "CABLE_LENGTH", out) {
        for port in row.fields.keys() {
            let Some(text) = row.text(port, out) else { continue };
            let digits = text.strip_suffix('m').filter(|d| !d.is_empty());
            let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
            match digits.and_then(|d| d.parse().ok()).filter(|m| *m <= 1_000_000) {
                Some(metres) => drop(all.insert(port.clone(), metres)),
                None => {
                    let message = format!(
                        "the length is \"{}\": whole metres up to 1000000m, such as 40m",
                        short(&text)
                    );
                    row.say(out, &code::SN101, port, message);
                }
            }
        }
    }
    all
}

fn pools(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, Pool> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "BUFFER_POOL", out) {
        row.mandatory("type", out);
        row.mandatory("mode", out);
        let direction = row.word("type", &Direction::NAMES, out);
        let direction = direction.and_then(|word| Direction::named(&word));
        let mode = row.word("mode", &["static", "dynamic"], out);
        let pool = Pool {
            // one that is missing or wrong was reported: the pool may be used by all
            direction: direction.unwrap_or(Direction::Both),
            dynamic: mode.as_deref() != Some("static"),
            size: row.bytes("size", out),
            xoff: row.bytes("xoff", out).unwrap_or(0),
            percentage: row.fields.contains_key("percentage"),
        };
        row.number("percentage", 0..=100, out);
        all.insert(row.key.to_owned(), pool);
    }
    all
}

fn profiles(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, Profile> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "BUFFER_PROFILE", out) {
        row.mandatory("pool", out);
        let computed = row.word("headroom_type", &["static", "dynamic"], out);
        let computed = computed.as_deref() == Some("dynamic");
        if !computed {
            row.mandatory("size", out);
        }
        row.word("packet_discard_action", &["drop", "trim"], out);
        let profile = Profile {
            pool: row.name("pool", out),
            size: row.bytes("size", out).unwrap_or(0),
            xon: row.bytes("xon", out).unwrap_or(0),
            xon_offset: row.bytes("xon_offset", out).unwrap_or(0),
            xoff: row.bytes("xoff", out).unwrap_or(0),
            dynamic_th: row.number("dynamic_th", -8..=7, out),
            static_th: row.bytes("static_th", out),
            computed,
        };
        all.insert(row.key.to_owned(), profile);
    }
    all
}

/// The largest number of a priority group, and of a queue: some families have multicast queues
/// after those of the eight classes.
const MOST_GROUPS: u8 = 7;
const MOST_QUEUES: u8 = 63;

fn groups(file: usize, root: &Value, table: &str, out: Found<'_>) -> BTreeMap<(String, u8), Group> {
    let most = if table == "BUFFER_PG" { MOST_GROUPS } else { MOST_QUEUES };
    let mut all = BTreeMap::new();
    for row in rows(file, root, table, out) {
        row.mandatory("profile", out);
        let name = row.name("profile", out);
        let profile = name.filter(|name| name != "NULL");
        for place in port_and_range(&row, most, out) {
            let group = Group { key: row.key.to_owned(), profile: profile.clone() };
            all.insert(place, group);
        }
    }
    all
}

fn qos(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, QosMap> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "PORT_QOS_MAP", out) {
        let map = QosMap {
            pfc: row.priorities("pfc_enable", out),
            watched: row.priorities("pfcwd_sw_enable", out),
            dscp_to_tc: row.name("dscp_to_tc_map", out),
            dot1p_to_tc: row.name("dot1p_to_tc_map", out),
            tc_to_dscp: row.name("tc_to_dscp_map", out),
            scheduler: row.name("scheduler", out),
            tc_to_queue: row.name("tc_to_queue_map", out),
            tc_to_pg: row.name("tc_to_pg_map", out),
            pfc_to_queue: row.name("pfc_to_queue_map", out),
            pfc_to_pg: row.name("pfc_to_pg_map", out),
        };
        for port in row.key.split(',').map(str::trim) {
            all.insert(port.to_owned(), map.clone());
        }
    }
    all
}

/// The tables of maps, with the largest number on their left and on their right. There are 16
/// traffic classes; the templates of some families use the ninth for management.
const MAPS: [(&str, i64, i64); 7] = [
    ("DSCP_TO_TC_MAP", 63, 15),
    ("DOT1P_TO_TC_MAP", 7, 15),
    ("TC_TO_QUEUE_MAP", 15, 7),
    ("TC_TO_PRIORITY_GROUP_MAP", 15, 7),
    ("MAP_PFC_PRIORITY_TO_QUEUE", 7, 7),
    ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", 7, 7),
    ("TC_TO_DSCP_MAP", 15, 63),
];

fn maps(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<(String, String), Map8> {
    let mut all = BTreeMap::new();
    for (table, from, to) in MAPS {
        for row in rows(file, root, table, out) {
            let mut map = Map8::default();
            for key in row.fields.keys() {
                let left = key.parse::<i64>().ok().filter(|n| (0..=from).contains(n));
                if left.is_none() {
                    let message = format!("the key `{}` is not 0 to {from}", short(key));
                    row.say(out, &code::SN101, key, message);
                }
                let right = row.number(key, 0..=to, out);
                if let (Some(left), Some(right)) = (left, right) {
                    map.0.insert(left as u8, right as u8);
                }
            }
            all.insert((table.to_owned(), row.key.to_owned()), map);
        }
    }
    all
}

fn queues(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<(String, u8), Queue> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "QUEUE", out) {
        let queue = Queue {
            key: row.key.to_owned(),
            scheduler: row.name("scheduler", out),
            wred: row.name("wred_profile", out),
        };
        for place in port_and_range(&row, MOST_QUEUES, out) {
            all.insert(place, queue.clone());
        }
    }
    all
}

fn schedulers(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, (String, u64)> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "SCHEDULER", out) {
        let kind = row.word("type", &["DWRR", "WRR", "STRICT"], out);
        let weight = row.number("weight", 1..=100, out).unwrap_or(1);
        row.word("meter_type", &["packets", "bytes"], out);
        for rate in ["cir", "pir", "cbs", "pbs"] {
            row.bytes(rate, out);
        }
        let entry = (kind.unwrap_or_else(|| "WRR".into()), weight as u64);
        all.insert(row.key.to_owned(), entry);
    }
    all
}

const ECN: [&str; 8] = [
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
];

fn wred(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, Wred> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "WRED_PROFILE", out) {
        let ecn = row.word("ecn", &ECN, out).unwrap_or_else(|| "ecn_none".into());
        // other colours are read so that broken values are named
        for colour in ["yellow", "red"] {
            row.bytes(&format!("{colour}_min_threshold"), out);
            row.bytes(&format!("{colour}_max_threshold"), out);
            row.number(&format!("{colour}_drop_probability"), 0..=100, out);
            row.bytes(&format!("ecn_{colour}_min_threshold"), out);
            row.bytes(&format!("ecn_{colour}_max_threshold"), out);
            row.number(&format!("ecn_{colour}_mark_probability"), 0..=100, out);
            row.word(&format!("wred_{colour}_enable"), &["true", "false"], out);
        }
        let first = |new: &str, old: &str, out: Found<'_>| {
            row.bytes(new, out).or_else(|| row.bytes(old, out))
        };
        let min = first("ecn_green_min_threshold", "green_min_threshold", out);
        let max = first("ecn_green_max_threshold", "green_max_threshold", out);
        let probability = row
            .number("ecn_green_mark_probability", 0..=100, out)
            .or_else(|| row.number("green_drop_probability", 0..=100, out));
        let enabled = row.word("wred_green_enable", &["true", "false"], out);
        let profile = Wred {
            marks: ecn.contains("green") || ecn == "ecn_all",
            enabled: enabled.as_deref() == Some("true"),
            min,
            max,
            probability: probability.unwrap_or(100) as u64,
        };
        all.insert(row.key.to_owned(), profile);
    }
    all
}

fn watchdogs(switch: &mut Switch, root: &Value, out: Found<'_>) {
    let unsigned = |n: i64| u64::try_from(n).ok();
    for row in rows(switch.index, root, "PFC_WD", out) {
        if row.key == "GLOBAL" {
            switch.poll = row.number("POLL_INTERVAL", 100..=1000, out).and_then(unsigned);
            continue;
        }
        let action = row.word("action", &["drop", "forward", "alert"], out);
        row.word("pfc_stat_history", &["enable", "disable"], out);
        let watchdog = Watchdog {
            action: action.unwrap_or_else(|| "drop".into()),
            detection: row.number("detection_time", 100..=5000, out).and_then(unsigned),
            restoration: row.number("restoration_time", 100..=60_000, out).and_then(unsigned),
        };
        switch.watchdogs.insert(row.key.to_owned(), watchdog);
    }
}

fn neighbours(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, (String, String)> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "DEVICE_NEIGHBOR", out) {
        let name = row.text("name", out);
        let port = row.text("port", out).unwrap_or_default();
        if let Some(name) = name.filter(|n| !n.is_empty()) {
            all.insert(row.key.to_owned(), (name, port));
        }
    }
    all
}

fn pattern(switch: &mut Switch, root: &Value, out: Found<'_>) {
    for row in rows(switch.index, root, "LOSSLESS_TRAFFIC_PATTERN", out) {
        if let Some(mtu) = row.number("mtu", 1..=9216, out) {
            switch.lossless_mtu = mtu as u64;
        }
        if let Some(share) = row.number("small_packet_percentage", 0..=100, out) {
            switch.small_packets = Some((share as u64, row.pointer("small_packet_percentage")));
        }
    }
    for row in rows(switch.index, root, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", out) {
        row.mandatory("default_dynamic_th", out);
        row.number("default_dynamic_th", -8..=7, out);
        let ratio = row.number("over_subscribe_ratio", 0..=1000, out);
        switch.oversubscription = ratio.unwrap_or(0) as u64;
    }
}

fn tunnels(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, Tunnel> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "TUNNEL", out) {
        let tunnel = Tunnel {
            tc_to_queue: row.name("encap_tc_to_queue_map", out),
            tc_to_dscp: row.name("encap_tc_to_dscp_map", out),
            tc_to_pg: row.name("decap_tc_to_pg_map", out),
            dscp_to_tc: row.name("decap_dscp_to_tc_map", out),
        };
        all.insert(row.key.to_owned(), tunnel);
    }
    all
}
