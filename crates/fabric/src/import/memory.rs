//! How the memory of switches is divided: thresholds of ingresses and of egress queues, shared
//! headroom, cells.

use super::{Made, most};
use crate::advice::alpha_text;
use crate::checks::Options;
use crate::config::{Profile, Switch};
use serde_json::Value;
use std::fmt::Write;

/// The profile of most lossless groups.
fn lossless_profile(switches: &[Switch]) -> Option<(&Switch, &Profile)> {
    let all = switches.iter().flat_map(|s| {
        let groups = s.groups.values().filter_map(|g| s.profiles.get(g.profile.as_ref()?));
        groups.filter(|p| p.xoff > 0).map(move |p| (s, p))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(_, p)| std::cmp::Reverse(p.xoff));
    all.first().copied()
}

/// The shared headroom of a switch: that of its pool, or what the ratio leaves of all headroom.
fn headroom_pool(switch: &Switch) -> Option<(u64, bool)> {
    let given = switch.pools.values().filter(|p| p.direction.ingress()).map(|p| p.xoff).max();
    if let Some(xoff) = given.filter(|xoff| *xoff > 0) {
        return Some((xoff, false));
    }
    let groups = switch.groups.values().filter_map(|g| switch.profiles.get(g.profile.as_ref()?));
    let all = groups.fold(0u64, |sum, p| sum.saturating_add(p.xoff));
    (switch.oversubscription > 0).then(|| (all.div_ceil(switch.oversubscription), true))
}

/// `buffer` and `thresholds`.
pub(super) fn thresholds(
    body: &mut String,
    made: &mut Made,
    switches: &[Switch],
    priorities: u64,
    headroom: Option<u64>,
) {
    let Some((switch, profile)) = lossless_profile(switches) else {
        made.notes
            .push("no lossless profile with headroom: thresholds follow the port speed".into());
        return;
    };
    let headroom = headroom.unwrap_or(profile.xoff);
    let pool = profile.pool.as_ref().and_then(|p| switch.pools.get(p));
    let shares = switches.iter().any(Switch::shares_headroom);
    match (profile.dynamic_th, profile.static_th, pool.and_then(|p| p.size)) {
        (Some(n), _, Some(shared)) => {
            let pool = headroom_pool(switch);
            if shares && pool.is_none() {
                made.notes.push(format!(
                    "the shared headroom pools of other switches than {}: its groups have \
                     headroom of their own",
                    switch.name
                ));
            }
            if let Some((bytes, true)) = pool {
                made.notes.push(format!(
                    "over_subscribe_ratio {}: headroom-pool is the xoff of all groups of {}, \
                     divided by it: {bytes} B",
                    switch.oversubscription, switch.name
                ));
            }
            let ports = made.ports.values().max().copied().unwrap_or(1);
            let groups = ports.saturating_mul(priorities.max(1));
            let n = i8::try_from(n).unwrap_or(-3);
            let pool = pool.map(|(bytes, _)| bytes);
            dynamic(body, profile, n, (headroom, pool), (groups, shared));
            made.notes.push(
                "alpha: that of the slowest port; it doubles with each doubling of the speed up \
                 to 1"
                    .into(),
            );
            if profile.xon > 0 {
                made.notes.push("xon: ports resume at a distance from the pause threshold".into());
            }
        }
        (_, Some(xoff), _) if xoff > 0 => {
            let xon = profile.xon.min(xoff.saturating_sub(1));
            let limit = xoff.saturating_add(headroom);
            let _ = writeln!(
                body,
                "thresholds = {{ xoff = \"{xoff}B\", xon = \"{xon}B\", limit = \"{limit}B\" }}"
            );
            if shares {
                made.notes.push(
                    "the shared headroom pool: under fixed thresholds every group has headroom \
                     of its own"
                        .into(),
                );
            }
        }
        _ => made.notes.push("a pool without a size: thresholds follow the port speed".into()),
    }
    if switches.len() > 1 {
        made.notes.push("one memory for all switches: that of the largest profile".into());
    }
}

/// Dynamic thresholds: the pool's size is what ingresses share, headroom and what groups are
/// guaranteed are beside it.
fn dynamic(
    body: &mut String,
    profile: &Profile,
    n: i8,
    (headroom, pool): (u64, Option<u64>),
    (groups, shared): (u64, u64),
) {
    // size is a part of the headroom where it covers xoff, else a minimum of its own
    let reserve = match pool {
        None if profile.size >= profile.xoff => 0,
        _ => profile.size,
    };
    let own = if pool.is_some() { reserve } else { headroom.saturating_add(reserve) };
    let buffer = own.saturating_mul(groups).saturating_add(pool.unwrap_or(0));
    let offset = match profile.xon_offset {
        0 => String::new(),
        offset => format!(", resume-offset = \"{offset}B\""),
    };
    let pool = pool.map_or_else(String::new, |bytes| format!(", headroom-pool = \"{bytes}B\""));
    let _ = writeln!(
        body,
        "buffer = \"{}B\"\nthresholds = {{ alpha = \"{}\", reserve = \"{reserve}B\"{offset}, \
         headroom = \"{headroom}B\"{pool} }}",
        buffer.saturating_add(shared),
        alpha_text(n)
    );
}

/// What limits a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    /// Nothing: its fixed threshold is the whole pool.
    None,
    /// This many bytes.
    Fixed(u64),
    /// 2^n of what is left of a pool, whose size may not be known.
    Share(i8, Option<u64>),
}

fn limit_of(switch: &Switch, profile: &Profile) -> Option<Limit> {
    let size = profile.pool.as_ref().and_then(|p| switch.pools.get(p)).and_then(|p| p.size);
    match (profile.dynamic_th, profile.static_th) {
        (_, Some(bytes)) if size.is_some_and(|size| bytes >= size) => Some(Limit::None),
        (_, Some(bytes)) => Some(Limit::Fixed(bytes)),
        (Some(n), None) => Some(Limit::Share(i8::try_from(n).ok()?, size)),
        (None, None) => None,
    }
}

/// `egress`: the limits of most lossy and of most lossless queues. Comes after `buffer`.
pub(super) fn egress(body: &mut String, made: &mut Made, switches: &[Switch]) {
    let bounded = body.contains("\nbuffer = ");
    let (mut lossy, mut lossless, mut guaranteed) = (Vec::new(), Vec::new(), false);
    for switch in switches {
        for ((port, queue), entry) in &switch.queue_buffers {
            let profile = entry.profile.as_ref().and_then(|name| switch.profiles.get(name));
            let (Some(profile), true) = (profile, switch.ports.contains_key(port)) else {
                continue;
            };
            let pfc = switch.pfc(port);
            let of = match pfc.iter().any(|p| switch.queue_of(port, *p) == *queue) {
                true => &mut lossless,
                false => &mut lossy,
            };
            of.extend(limit_of(switch, profile));
            guaranteed |= profile.size > 0;
        }
    }
    if guaranteed {
        made.notes.push("guaranteed memory of queues (size of their profiles)".into());
    }
    let mut keys = Vec::new();
    match of_most(made, lossy, "lossy") {
        Some(Limit::Fixed(bytes)) => keys.push(format!("limit = \"{bytes}B\"")),
        Some(Limit::Share(n, Some(pool))) => {
            keys.push(format!("alpha = \"{}\", pool = \"{pool}B\"", alpha_text(n)));
        }
        Some(Limit::Share(n, None)) if bounded => {
            made.notes.push("an egress pool without a size: `pool` is all memory".into());
            keys.push(format!("alpha = \"{}\"", alpha_text(n)));
        }
        Some(Limit::Share(_, None)) => {
            made.notes.push("thresholds of lossy queues: their pool has no size".into());
        }
        Some(Limit::None) | None => {}
    }
    match of_most(made, lossless, "lossless") {
        Some(Limit::Fixed(bytes)) => keys.push(format!("lossless = \"{bytes}B\"")),
        Some(Limit::Share(n, _)) => made.notes.push(format!(
            "dynamic_th {n} of lossless queues: they have no limit (SN310 tells when that loses \
             packets)"
        )),
        Some(Limit::None) | None => {}
    }
    if !keys.is_empty() {
        let _ = writeln!(body, "egress = {{ {} }}", keys.join(", "));
    }
}

fn of_most(made: &mut Made, all: Vec<Limit>, kind: &str) -> Option<Limit> {
    let (found, several) = most(all);
    if several {
        made.notes.push(format!("{kind} queues have different thresholds; that of most is used"));
    }
    found
}

/// `cell`: that of the family of most switches.
pub(super) fn cell(body: &mut String, made: &mut Made, switches: &[Switch], options: &Options) {
    let families = switches.iter().map(|s| options.asic_of(s).map(|a| (a.cell, a.name)));
    match most(families) {
        (Some(Some((bytes, name))), several) => {
            let _ = writeln!(body, "cell = \"{bytes}B\"");
            if several {
                made.notes.push(format!("switches of several families; cells are those of {name}"));
            }
        }
        _ => made.notes.push(
            "cells: the family is not known (--asic), so memory is counted in bytes of frames"
                .into(),
        ),
    }
}

/// What profiles and schedulers say that a scenario cannot.
pub(super) fn not_modelled(made: &mut Made, switches: &[Switch]) {
    let rows = |table: &str| -> Vec<&Value> {
        let tables = switches.iter().filter_map(|s| s.root.get(table)?.as_object());
        tables.flat_map(|table| table.values()).collect()
    };
    let trims = |row: &&Value| row.get("packet_discard_action").is_some_and(|a| a == "trim");
    if rows("BUFFER_PROFILE").iter().any(trims) {
        made.notes.push("packet_discard_action trim: what does not fit is dropped".into());
    }
    let shaped = |row: &&Value| ["cir", "pir"].iter().any(|field| row.get(field).is_some());
    if rows("SCHEDULER").iter().any(shaped) {
        made.notes.push("rates of schedulers (cir, pir): only their weights are used".into());
    }
    let lossy_groups = switches.iter().any(|s| {
        let profiles = s.groups.values().filter_map(|g| s.profiles.get(g.profile.as_ref()?));
        profiles.into_iter().any(|p| p.xoff == 0 && !p.computed)
    });
    if lossy_groups {
        made.notes.push(
            "thresholds of lossy priority groups: lossy traffic is limited at the egress only"
                .into(),
        );
    }
    let computed = |s: &Switch| {
        let named = |g: &crate::config::Group| g.profile.as_ref().and_then(|p| s.profiles.get(p));
        s.groups.values().any(|g| g.profile.is_none() || named(g).is_some_and(|p| p.computed))
    };
    if switches.iter().any(computed) {
        made.notes.push("profiles that the switch computes (NULL, headroom_type dynamic)".into());
    }
}
