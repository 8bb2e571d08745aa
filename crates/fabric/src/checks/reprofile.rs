//! The profile of a port whose own was computed for another link: the one of the right name, or a
//! new one.

use super::Options;
use super::headroom::{KIB, needs};
use crate::config::{Profile, Switch};
use crate::finding::Change;
use serde_json::{Map, Value};

/// `pg_lossless_100000_40m_profile`: speed and metres.
pub(super) fn named_for(profile: &str) -> Option<(u64, u64)> {
    let rest = profile.strip_prefix("pg_lossless_")?;
    let mut parts = rest.split('_');
    let speed = parts.next()?.parse().ok()?;
    let cable = parts.next()?.strip_suffix('m')?.parse().ok()?;
    Some((speed, cable))
}

/// Speed and metres of a port for which the profile of this name is not.
pub(super) fn other(switch: &Switch, port: &str, name: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (speed, cable) = named_for(name)?;
    let has = (switch.ports.get(port).and_then(|p| p.speed), switch.cables.get(port).copied());
    let other = has.0.is_some_and(|s| s != speed) || has.1.is_some_and(|c| c != cable);
    other.then_some(has)
}

/// The least headroom of a port in whole KiB, by the budget and by the rule of its family.
fn least(switch: &Switch, port: &str, options: &Options) -> Option<u64> {
    let (budget, rule) = needs(switch, port, options)?;
    let by_rule = rule.map_or(0, |(_, sizes)| sizes.xoff);
    Some(by_rule.max(budget.advised().get()).div_ceil(KIB) * KIB)
}

/// The changes that give a group the profile of its link. None where its entry is of several
/// ports, or where speed or cable are not known.
pub(super) fn changes(
    switch: &Switch,
    port: &str,
    group: u8,
    name: &str,
    options: &Options,
) -> Vec<Change> {
    let Some((Some(speed), Some(cable))) = other(switch, port, name) else { return Vec::new() };
    let entry = switch.groups.get(&(port.to_owned(), group));
    let entry = entry.filter(|g| g.profile.as_deref() == Some(name) && !g.key.contains(','));
    let (Some(entry), Some(old)) = (entry, switch.profiles.get(name)) else { return Vec::new() };
    let Some(xoff) = least(switch, port, options).filter(|_| cable > 0) else { return Vec::new() };
    let new = format!("pg_lossless_{speed}_{cable}m_profile");
    let mut all =
        vec![Change::set(switch.index, &["BUFFER_PG", &entry.key, "profile"], new.as_str())];
    if switch.profiles.contains_key(&new) {
        return all;
    }
    let row = switch.root.get("BUFFER_PROFILE").and_then(|table| table.get(name));
    let fields = row.and_then(Value::as_object).into_iter().flat_map(Map::iter);
    let set = |field: &str, value: String| {
        Change::set(switch.index, &["BUFFER_PROFILE", &new, field], value)
    };
    for (field, value) in fields {
        let own = matches!(field.as_str(), "xon" | "xoff" | "size");
        if let Some(text) = value.as_str().filter(|_| !own) {
            all.push(set(field, text.to_owned()));
        }
    }
    let (xon, xoff, size) = sizes(switch, old, (speed, cable), xoff, options);
    all.extend([("xon", xon), ("xoff", xoff), ("size", size)].map(|(f, n)| set(f, n.to_string())));
    all
}

/// xon, xoff and size: those of the lookup table where they are enough.
fn sizes(
    switch: &Switch,
    old: &Profile,
    (speed, cable): (u64, u64),
    least: u64,
    options: &Options,
) -> (u64, u64, u64) {
    let row = options.lookup.as_ref().and_then(|table| table.get(speed, cable));
    if let Some(row) = row.filter(|row| row.xoff >= least) {
        return (row.xon, row.xoff, row.size);
    }
    // with an xon_offset, and with a shared headroom pool, size is a minimum beside the headroom
    let beside = switch.shares_headroom() || old.xon_offset > 0;
    let size = if beside { old.size } else { old.xon.saturating_add(least) };
    (old.xon, least, size)
}
