//! Both ends of each link.

use crate::code::{self, Code};
use crate::config::Switch;
use crate::finding::{Change, Finding, pointer};
use std::collections::BTreeSet;

/// A port of a switch.
pub(crate) type End<'a> = (&'a Switch, &'a str);

/// The links between switches of the set, each once.
pub(crate) fn pairs(switches: &[Switch]) -> Vec<(End<'_>, End<'_>)> {
    let mut all = Vec::new();
    for a in switches {
        for (port, (name, theirs)) in &a.neighbours {
            let Some(b) = switches.iter().find(|s| s.name == *name) else { continue };
            let once = (a.index, port.as_str()) < (b.index, theirs.as_str());
            // a link that only one end knows is listed from there
            let back = b.neighbours.get(theirs).is_some_and(|(n, p)| *n == a.name && p == port);
            let known = b.ports.contains_key(theirs);
            if known && (once || !back) {
                all.push(((a, port.as_str()), (b, theirs.as_str())));
            }
        }
    }
    all
}

/// Checks links between switches of the set.
pub(super) fn check(switches: &[Switch], out: &mut Vec<Finding>) {
    for a in switches {
        for (port, (name, theirs)) in &a.neighbours {
            agreement(switches, (a, port), (name, theirs), out);
        }
    }
    for (a, b) in pairs(switches) {
        settings(a, b, out);
        pfc(a, b, out);
    }
}

fn agreement(switches: &[Switch], (a, port): End<'_>, to: (&str, &str), out: &mut Vec<Finding>) {
    let (name, theirs) = to;
    let place = pointer(&["DEVICE_NEIGHBOR", port]);
    if !a.ports.is_empty() && !a.ports.contains_key(port) {
        let message = format!("DEVICE_NEIGHBOR has {port}, PORT has not");
        out.push(Finding::new(&code::SN409, a.index, place, message));
        return;
    }
    let Some(b) = switches.iter().find(|s| s.name == name) else { return };
    let wrong = match b.neighbours.get(theirs) {
        _ if !b.ports.contains_key(theirs) => format!("{name} has no port {theirs}"),
        None => format!("{name} has no neighbour at {theirs}"),
        Some((back, at)) if *back != a.name || at != port => {
            format!("{name} has {back} {at} at {theirs}")
        }
        Some(_) => return,
    };
    let message = format!("{} {port} leads to {name} {theirs}, but {wrong}", a.name);
    out.push(Finding::new(&code::SN409, a.index, place, message));
}

fn settings((a, port): End<'_>, (b, theirs): End<'_>, out: &mut Vec<Finding>) {
    let (here, there) = (&a.ports.get(port), &b.ports.get(theirs));
    let (Some(here), Some(there)) = (here, there) else { return };
    let mut say = |code: &'static Code, place: String, what: [&str; 2], ours: u64, other: u64| {
        let [what, unit] = what;
        let message = format!(
            "{} {port} has {what} {ours}{unit}, {} {theirs} has {other}{unit}",
            a.name, b.name
        );
        out.push(Finding::new(code, a.index, place, message));
    };
    let differ = |x: Option<u64>, y: Option<u64>| x.zip(y).filter(|(x, y)| x != y);
    if let Some((x, y)) = differ(here.speed, there.speed) {
        say(&code::SN406, pointer(&["PORT", port, "speed"]), ["speed", " Mb/s"], x, y);
    }
    if let Some((x, y)) = differ(here.mtu, there.mtu) {
        say(&code::SN407, pointer(&["PORT", port, "mtu"]), ["mtu", ""], x, y);
    }
    let cables = (a.cables.get(port).copied(), b.cables.get(theirs).copied());
    if let Some((x, y)) = differ(cables.0, cables.1) {
        say(&code::SN408, pointer(&["CABLE_LENGTH"]), ["a cable of", " m"], x, y);
        // the longer one is safe
        let (shorter, at) = if x < y { (a, port) } else { (b, theirs) };
        let row = shorter.root.get("CABLE_LENGTH").and_then(|t| t.as_object());
        let key = row.and_then(|t| t.iter().find(|(_, v)| v.get(at).is_some()));
        if let (Some((key, _)), Some(last)) = (key, out.last_mut()) {
            let path = ["CABLE_LENGTH", key.as_str(), at];
            last.changes.push(Change::set(shorter.index, &path, format!("{}m", x.max(y))));
        }
    }
}

fn pfc((a, port): End<'_>, (b, theirs): End<'_>, out: &mut Vec<Finding>) {
    let (here, there) = (a.pfc(port), b.pfc(theirs));
    if here == there {
        return;
    }
    let list = |set: &BTreeSet<u8>| match set.is_empty() {
        true => "nothing".to_owned(),
        false => set.iter().map(u8::to_string).collect::<Vec<_>>().join(","),
    };
    let code: &'static Code = match here.is_empty() || there.is_empty() {
        true => &code::SN401,
        false => &code::SN402,
    };
    let message = format!(
        "{} {port} enables {}, {} {theirs} enables {}",
        a.name,
        list(&here),
        b.name,
        list(&there)
    );
    let place = pointer(&["PORT_QOS_MAP", port, "pfc_enable"]);
    let mut found = Finding::new(code, a.index, place, message);
    // mended by enabling more, where the group behind it has headroom already
    for (switch, at, has, wants) in [(a, port, &here, &there), (b, theirs, &there, &here)] {
        let missing: Vec<u8> = wants.difference(has).copied().collect();
        let ready = |p: &u8| {
            switch.profile_of(at, switch.group_of(at, *p)).is_some_and(|(_, p)| p.xoff > 0)
        };
        if !missing.is_empty() && missing.iter().all(ready) {
            let all: BTreeSet<u8> = has.union(wants).copied().collect();
            let path = ["PORT_QOS_MAP", at, "pfc_enable"];
            found.changes.push(Change::set(switch.index, &path, list(&all)));
        }
    }
    out.push(found);
}
