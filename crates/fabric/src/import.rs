//! A scenario of a set of configurations, with a list of what has no counterpart.

mod memory;

use crate::checks::{Options, margins, pairs};
use crate::config::Switch;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Tables that say nothing about how packets are stored, sent or paused.
const IGNORED: [&str; 4] =
    ["DEVICE_METADATA", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA", "PORT"];
/// Tables that are converted.
const USED: [&str; 16] = [
    "CABLE_LENGTH",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "PORT_QOS_MAP",
    "SCHEDULER",
    "QUEUE",
    "WRED_PROFILE",
    "PFC_WD",
    "DSCP_TO_TC_MAP",
    "TC_TO_QUEUE_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
];

/// Ethernet header and checksum.
const ETHERNET: u64 = 18;
/// These and the headers of RoCEv2: IPv4 20, UDP 8, BTH 12, ICRC 4.
const ROCE: u64 = ETHERNET + 44;

/// What is put together.
#[derive(Default)]
struct Made {
    notes: Vec<String>,
    hosts: Vec<String>,
    links: Vec<String>,
    names: BTreeSet<String>,
    /// Links of each switch.
    ports: BTreeMap<usize, u64>,
}

/// Makes a scenario. `Err`: why there is none.
pub fn convert(switches: &[Switch], options: &Options) -> Result<String, String> {
    let mut made = Made::default();
    let names: Vec<String> = switches.iter().map(|s| made.name(&s.name)).collect();
    network(&mut made, switches, &names);
    if made.hosts.len() < 2 {
        if switches.iter().all(|s| s.ports.is_empty()) {
            return Err("no file has a PORT table: are these config_db.json files?".into());
        }
        return Err(
            "fewer than two neighbours are hosts, so there is no traffic: DEVICE_NEIGHBOR \
                    must name them, or the files must not have the table at all"
                .into(),
        );
    }
    let mut body = String::new();
    let list =
        |all: &[String]| all.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ");
    let lines = |all: &[String]| all.iter().map(|l| format!("  \"{l}\",\n")).collect::<String>();
    let _ = write!(
        body,
        "[topology]\nkind = \"explicit\"\nhosts = [{}]\nswitches = [{}]\nlinks = [\n{}]\n\n",
        list(&made.hosts),
        list(&names),
        lines(&made.links)
    );
    settings(&mut body, &mut made, switches, options);
    body.push_str(
        "# Replace this by your traffic: weir patterns lists what there is.\n[[traffic]]\n\
         kind = \"permutation\"\nsize = \"1MB\"\n",
    );
    unused(&mut made, switches);
    let files: Vec<&str> = switches.iter().map(|s| s.file.as_str()).collect();
    let mut out = format!("# Made by weir import sonic of {}.\n", one_line(&files.join(", ")));
    out.push_str("# No counterpart, or only in part:\n");
    for note in &made.notes {
        let _ = writeln!(out, "# - {}", one_line(note));
    }
    out.push_str("\nname = \"sonic\"\n\n");
    Ok(out + &body)
}

/// Text for a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl Made {
    /// A name that a scenario accepts and that nothing else has.
    fn name(&mut self, wanted: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let mut base: String = wanted.chars().map(plain).collect();
        if !base.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            base = format!("n{base}");
        }
        let mut name = base.clone();
        let mut next = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{base}_{next}");
            next += 1;
        }
        name
    }
}

fn network(made: &mut Made, switches: &[Switch], names: &[String]) {
    let between = pairs(switches);
    for ((a, port), (b, theirs)) in &between {
        let speed = |s: &Switch, p: &str| s.ports.get(p).and_then(|p| p.speed);
        let rate = [speed(a, port), speed(b, theirs)].into_iter().flatten().min();
        let cable = a.cables.get(*port).max(b.cables.get(*theirs)).copied();
        link(made, &names[a.index], &names[b.index], rate, cable);
        for s in [a, b] {
            *made.ports.entry(s.index).or_default() += 1;
        }
    }
    let none = switches.iter().all(|s| s.neighbours.is_empty());
    for s in switches {
        let mut ends: Vec<(&String, String)> = match none {
            true => {
                let up = s.ports.iter().filter(|(_, p)| p.up);
                up.map(|(port, _)| (port, format!("h-{port}"))).collect()
            }
            false => {
                let far = s.neighbours.iter();
                let far = far.filter(|(_, (name, _))| !switches.iter().any(|o| o.name == *name));
                far.map(|(port, (name, _))| (port, name.clone())).collect()
            }
        };
        ends.sort_by(|a, b| crate::natural(a.0, b.0));
        for (port, wanted) in ends {
            let host = made.name(&wanted);
            if host != wanted {
                made.notes.push(format!("{} {port}: `{wanted}` is called {host}", s.name));
            }
            let speed = s.ports.get(port).and_then(|p| p.speed);
            link(made, &host, &names[s.index], speed, s.cables.get(port).copied());
            made.hosts.push(host);
            *made.ports.entry(s.index).or_default() += 1;
        }
    }
    if none {
        made.notes.push("no DEVICE_NEIGHBOR: every port that is up leads to a host".into());
    }
}

fn link(made: &mut Made, a: &str, b: &str, speed: Option<u64>, cable: Option<u64>) {
    let (mbps, metres) = (speed.unwrap_or(100_000), cable.filter(|m| *m > 0).unwrap_or(5));
    if speed.is_none() {
        made.notes.push(format!("link {a} {b}: no speed; 100 Gb/s assumed"));
    }
    if cable.is_none_or(|m| m == 0) {
        made.notes.push(format!("link {a} {b}: no cable length; 5 m assumed"));
    }
    made.links.push(format!("{a} {b} {mbps}Mbps {metres}m"));
}

/// What occurs most often; of several, the first.
fn most<T: Ord + Clone>(all: impl IntoIterator<Item = T>) -> (Option<T>, bool) {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    let several = counts.len() > 1;
    let top = counts.values().max().copied();
    (counts.into_iter().find(|(_, n)| Some(*n) == top).map(|(one, _)| one), several)
}

/// Everything that a scenario has once for all switches.
fn settings(body: &mut String, made: &mut Made, switches: &[Switch], options: &Options) {
    let lossless: Vec<(&Switch, &str)> =
        switches.iter().flat_map(|s| s.lossless_ports().into_iter().map(move |p| (s, p))).collect();
    let mtu = |(s, p): &(&Switch, &str)| s.ports.get(*p).and_then(|p| p.mtu);
    let (mtu, several) = most(lossless.iter().filter_map(mtu));
    if several {
        made.notes.push("ports have different MTUs; that of most is used".into());
    }
    // the MTU of a port is that of IP packets, and a frame has at most 65 535 B
    let mtu = mtu.unwrap_or(1500).min(65_535 - ETHERNET);
    let payload = mtu.saturating_sub(ROCE - ETHERNET).max(1);
    let _ = write!(
        body,
        "# RoCEv2: Ethernet, IPv4, UDP, BTH, ICRC\n[nic]\npayload = \"{payload}B\"\n\
         header = \"{ROCE}B\"\n\n[link]\nresponse = \"802.1Qbb\"\n\n[switch]\n"
    );
    let (pfc, several) = most(lossless.iter().map(|(s, p)| s.pfc(p)).filter(|set| !set.is_empty()));
    if several {
        made.notes.push("ports pause different priorities; those of most are used".into());
    }
    let pfc = pfc.unwrap_or_default();
    if !pfc.is_empty() {
        let all: Vec<String> = pfc.iter().map(u8::to_string).collect();
        let _ = writeln!(body, "lossless = [{}]", all.join(", "));
    }
    let headroom: Vec<u64> =
        switches.iter().flat_map(|s| margins(s, options)).map(|m| m.configured).collect();
    if headroom.iter().any(|h| Some(h) != headroom.first()) {
        made.notes.push("headroom differs between ports; the largest is used".into());
    }
    memory::thresholds(body, made, switches, pfc.len() as u64, headroom.into_iter().max());
    memory::egress(body, made, switches);
    memory::cell(body, made, switches, options);
    memory::not_modelled(made, switches);
    marking(body, made, &lossless);
    watchdog(body, made, switches);
    weights(body, made, &lossless);
    body.push('\n');
}

fn marking(body: &mut String, made: &mut Made, lossless: &[(&Switch, &str)]) {
    let of_port = |(s, p): &(&Switch, &str)| {
        let priority = s.pfc(p).into_iter().next()?;
        let queue = s.queues.get(&((*p).to_owned(), s.queue_of(p, priority)))?;
        let wred = s.wred.get(queue.wred.as_ref()?)?;
        Some((wred.min.filter(|_| wred.marks)?, wred.max?, wred.probability.min(100)))
    };
    let (found, several) = most(lossless.iter().filter_map(of_port));
    if several {
        made.notes.push("queues mark differently; the marking of most is used".into());
    }
    match found.filter(|(min, max, _)| min <= max) {
        Some((min, max, percent)) => {
            let _ = writeln!(
                body,
                "ecn = {{ kmin = \"{min}B\", kmax = \"{max}B\", pmax = \"{percent}/100\" }}"
            );
            made.notes.push(
                "congestion control of the hosts: none; set `algorithm` in [congestion-control]"
                    .into(),
            );
        }
        None => made.notes.push("no marking of lossless queues was found".into()),
    }
}

fn watchdog(body: &mut String, made: &mut Made, switches: &[Switch]) {
    let of = |w: &crate::config::Watchdog| Some((w.detection?, w.restoration?, w.action.clone()));
    let (found, several) = most(switches.iter().flat_map(|s| s.watchdogs.values().filter_map(of)));
    if several {
        made.notes.push("watchdogs differ; the settings of most are used".into());
    }
    if let Some((detect, restore, action)) = found {
        let _ = writeln!(
            body,
            "watchdog = {{ detect = \"{detect}ms\", restore = \"{restore}ms\", action = \
             \"{action}\" }}"
        );
        made.notes.push("POLL_INTERVAL: the watchdog of the model sees storms at once".into());
    }
}

fn weights(body: &mut String, made: &mut Made, lossless: &[(&Switch, &str)]) {
    let of_port = |(s, p): &(&Switch, &str)| {
        let weight = |queue: u8| {
            let entry = s.queues.get(&((*p).to_owned(), queue))?;
            let (kind, weight) = s.schedulers.get(entry.scheduler.as_ref()?)?;
            Some(if kind == "STRICT" { 0 } else { *weight })
        };
        let all: Vec<Option<u64>> = (0..8).map(weight).collect();
        all.iter().any(Option::is_some).then(|| {
            // a queue without a scheduler has the weight of WRR's default
            all.into_iter().map(|w| w.unwrap_or(1)).collect::<Vec<u64>>()
        })
    };
    let (found, several) = most(lossless.iter().filter_map(of_port));
    if several {
        made.notes.push("schedulers differ between ports; those of most are used".into());
    }
    if let Some(weights) = found {
        let all: Vec<String> = weights.iter().map(u64::to_string).collect();
        let _ = writeln!(body, "weights = [{}]", all.join(", "));
    }
}

/// Tables that were not looked at.
fn unused(made: &mut Made, switches: &[Switch]) {
    let tables: BTreeSet<&String> =
        switches.iter().filter_map(|s| s.root.as_object()).flat_map(|root| root.keys()).collect();
    let known = |t: &&&String| !IGNORED.contains(&t.as_str()) && !USED.contains(&t.as_str());
    let rest: Vec<&str> = tables.iter().filter(known).map(|t| t.as_str()).collect();
    if !rest.is_empty() {
        made.notes.push(format!("tables that were not used: {}", rest.join(", ")));
    }
}
