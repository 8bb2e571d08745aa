//! From JSON to tables.

use super::tables::{
    Direction, Group, Map8, Pool, Port, Profile, QosMap, Queue, Tunnel, Watchdog, Wred,
};
use super::{Lines, Switch};
use crate::code::{self, Code};
use crate::finding::{Finding, pointer};
use crate::patch::Change;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// One entry of a table, with where it stands.
struct Row<'a> {
    file: usize,
    table: &'a str,
    key: &'a str,
    fields: &'a Map<String, Value>,
}

type Found<'f> = &'f mut Vec<Finding>;

impl<'a> Row<'a> {
    fn pointer(&self, field: &str) -> String {
        pointer(&[self.table, self.key, field])
    }

    fn say(&self, out: Found<'_>, code: &'static Code, field: &str, message: String) {
        out.push(Finding::new(code, self.file, self.pointer(field), message));
    }

    /// A field as text. A number is accepted with a remark; anything else is broken.
    fn text(&self, field: &str, out: Found<'_>) -> Option<String> {
        match self.fields.get(field)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => {
                let change =
                    Change::set(self.file, &[self.table, self.key, field], number.to_string());
                let message = format!("`{field}` is the number {number}, not a string");
                let found = Finding::new(&code::SN104, self.file, self.pointer(field), message);
                out.push(found.mended_by(change));
                Some(number.to_string())
            }
            other => {
                let message = format!("`{field}` is {}, not a string", kind(other));
                self.say(out, &code::SN101, field, message);
                None
            }
        }
    }

    /// A whole number of a range.
    fn number(&self, field: &str, range: RangeInclusive<i64>, out: Found<'_>) -> Option<i64> {
        let text = self.text(field, out)?;
        match text.trim().parse::<i64>() {
            Ok(n) if range.contains(&n) => Some(n),
            _ => {
                let (low, high) = (range.start(), range.end());
                let valid = match *high {
                    i64::MAX => format!("a whole number from {low}"),
                    _ => format!("a whole number from {low} to {high}"),
                };
                let message = format!("`{field}` is \"{}\": {valid}", short(&text));
                let found = Finding::new(&code::SN101, self.file, self.pointer(field), message);
                let path = [self.table, self.key, field];
                out.push(match usual(field) {
                    Some(usual) => found.mended_by(Change::set(self.file, &path, usual)),
                    None => found,
                });
                None
            }
        }
    }

    fn bytes(&self, field: &str, out: Found<'_>) -> Option<u64> {
        self.number(field, 0..=i64::MAX, out).and_then(|n| u64::try_from(n).ok())
    }

    /// One of several words.
    fn word(&self, field: &str, valid: &[&str], out: Found<'_>) -> Option<String> {
        let text = self.text(field, out)?;
        if valid.contains(&text.as_str()) {
            return Some(text);
        }
        let message = format!("`{field}` is \"{}\": one of {}", short(&text), valid.join(", "));
        self.say(out, &code::SN101, field, message);
        None
    }

    fn mandatory(&self, field: &str, out: Found<'_>) {
        if !self.fields.contains_key(field) {
            let place = pointer(&[self.table, self.key]);
            let message = format!("`{field}` of {} `{}` is missing", self.table, short(self.key));
            out.push(Finding::new(&code::SN102, self.file, place, message));
        }
    }

    /// A name, also in the old form `[TABLE|name]`.
    fn name(&self, field: &str, out: Found<'_>) -> Option<String> {
        let text = self.text(field, out)?;
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(&text);
        let name = inner.rsplit('|').next().unwrap_or(inner);
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// A list of priorities: `3,4` or `3-4`.
    fn priorities(&self, field: &str, out: Found<'_>) -> Option<BTreeSet<u8>> {
        let text = self.text(field, out)?;
        match ranges(&text) {
            Some(set) => Some(set),
            None => {
                let message =
                    format!("`{field}` is \"{}\": priorities 0 to 7, such as 3,4", short(&text));
                self.say(out, &code::SN101, field, message);
                None
            }
        }
    }
}

/// What `pfcwd start_default` sets, in ms. Other values that are broken have no value that is
/// surely meant, and the nearest valid one may not fit to the rest.
fn usual(field: &str) -> Option<i64> {
    matches!(field, "detection_time" | "restoration_time" | "POLL_INTERVAL").then_some(200)
}

/// What a JSON value is.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Long text is cut in messages.
fn short(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// `3-4`, `0,1,2`, `3,5-6`, or nothing, of 0 to 7.
fn ranges(text: &str) -> Option<BTreeSet<u8>> {
    let mut all = BTreeSet::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (u8, u8) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        if low > high || high > 7 {
            return None;
        }
        all.extend(low..=high);
    }
    Some(all)
}

/// The rows of a table; what is no table, or no row, is a finding.
fn rows<'a>(file: usize, root: &'a Value, table: &'a str, out: Found<'_>) -> Vec<Row<'a>> {
    let Some(value) = root.get(table) else { return Vec::new() };
    let Some(entries) = value.as_object() else {
        let message = format!("{table} is {}, not an object", kind(value));
        out.push(Finding::new(&code::SN101, file, pointer(&[table]), message));
        return Vec::new();
    };
    let mut all = Vec::new();
    for (key, value) in entries {
        match value.as_object() {
            Some(fields) => all.push(Row { file, table, key, fields }),
            None => {
                let message = format!("`{}` is {}, not an object", short(key), kind(value));
                out.push(Finding::new(&code::SN101, file, pointer(&[table, key]), message));
            }
        }
    }
    all
}

/// `Ethernet0|3-4`, or on a chassis `host|asic|Ethernet0|3`: ports and numbers.
fn port_and_range(row: &Row<'_>, out: Found<'_>) -> Vec<(String, u8)> {
    let parts: Vec<&str> = row.key.split('|').collect();
    let set = parts.last().and_then(|range| ranges(range)).filter(|s| !s.is_empty());
    let (Some(set), true) = (set, parts.len() >= 2) else {
        let place = pointer(&[row.table, row.key]);
        let message =
            format!("the key `{}` is not PORT|RANGE with a range of 0 to 7", short(row.key));
        out.push(Finding::new(&code::SN101, row.file, place, message));
        return Vec::new();
    };
    let ports = parts[parts.len() - 2].split(',').map(str::trim);
    let all = ports.flat_map(|port| set.iter().map(move |n| (port.to_owned(), *n)));
    all.collect()
}

/// Reads all tables.
pub(super) fn switch(
    index: usize,
    file: &str,
    root: Value,
    lines: Lines,
    out: Found<'_>,
) -> Switch {
    let get = |table, out: Found<'_>| -> Vec<(String, Map<String, Value>)> {
        let rows = rows(index, &root, table, out);
        rows.into_iter().map(|r| (r.key.to_owned(), r.fields.clone())).collect()
    };
    let metadata = get("DEVICE_METADATA", out);
    let local = metadata.iter().find(|(key, _)| key == "localhost").map(|(_, fields)| fields);
    let said = |field: &str| {
        local.and_then(|f| f.get(field)).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
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
        dynamic_model: said("buffer_model") == "dynamic",
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
    switch.root = root;
    switch
}

fn ports(file: usize, root: &Value, out: Found<'_>) -> BTreeMap<String, Port> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, "PORT", out) {
        let unsigned = |n: i64| u64::try_from(n).ok();
        let lanes = row.text("lanes", out).map_or(0, |l| l.split(',').count() as u64);
        let pause = ["link_pause", "pause", "flow_control", "fc_mode"].into_iter().find(|field| {
            let value = row.fields.get(*field).and_then(Value::as_str);
            value.is_some_and(|v| !matches!(v, "off" | "none" | "disable" | "disabled" | "false"))
        });
        let port = Port {
            speed: row.number("speed", 1..=100_000_000, out).and_then(unsigned),
            lanes,
            mtu: row.number("mtu", 64..=65_535, out).and_then(unsigned),
            up: row.text("admin_status", out).is_none_or(|s| s != "down"),
            asymmetric: row.word("pfc_asym", &["on", "off"], out).is_some_and(|s| s == "on"),
            link_pause: pause.map(str::to_owned),
        };
        all.insert(row.key.to_owned(), port);
    }
    all
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
        let kind = row.word("type", &["ingress", "egress", "both"], out);
        let direction = match kind.as_deref() {
            Some("ingress") => Direction::Ingress,
            Some("egress") => Direction::Egress,
            _ => Direction::Both,
        };
        let mode = row.word("mode", &["static", "dynamic"], out);
        let pool = Pool {
            direction,
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

fn groups(file: usize, root: &Value, table: &str, out: Found<'_>) -> BTreeMap<(String, u8), Group> {
    let mut all = BTreeMap::new();
    for row in rows(file, root, table, out) {
        row.mandatory("profile", out);
        let name = row.name("profile", out);
        let profile = name.filter(|name| name != "NULL");
        for place in port_and_range(&row, out) {
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
            tc_to_queue: row.name("tc_to_queue_map", out),
            tc_to_pg: row.name("tc_to_pg_map", out),
            pfc_to_queue: row.name("pfc_to_queue_map", out),
            pfc_to_pg: row.name("pfc_to_pg_map", out),
        };
        for port in row.key.split(',') {
            all.insert(port.to_owned(), map.clone());
        }
    }
    all
}

/// The tables of maps, with the largest number on their left and on their right.
const MAPS: [(&str, i64, i64); 7] = [
    ("DSCP_TO_TC_MAP", 63, 7),
    ("DOT1P_TO_TC_MAP", 7, 7),
    ("TC_TO_QUEUE_MAP", 7, 7),
    ("TC_TO_PRIORITY_GROUP_MAP", 7, 7),
    ("MAP_PFC_PRIORITY_TO_QUEUE", 7, 7),
    ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", 7, 7),
    ("TC_TO_DSCP_MAP", 7, 63),
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
        for place in port_and_range(&row, out) {
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
        };
        all.insert(row.key.to_owned(), tunnel);
    }
    all
}
