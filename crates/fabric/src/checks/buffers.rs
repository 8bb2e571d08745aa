//! Profiles and groups on their own: names, directions, thresholds, order of XON and XOFF.

use crate::code::{self, Code};
use crate::config::{Pool, Profile, Switch};
use crate::finding::{Change, Finding, pointer};

/// Checks the buffer tables of a switch.
pub(super) fn check(switch: &Switch, out: &mut Vec<Finding>) {
    for (name, pool) in &switch.pools {
        if pool.size.is_some() && pool.percentage {
            let message = format!("pool {name} has `size` and `percentage`");
            let change = Change::remove(switch.index, &["BUFFER_POOL", name, "percentage"]);
            out.push(
                Finding::new(
                    &code::SN307,
                    switch.index,
                    pointer(&["BUFFER_POOL", name, "percentage"]),
                    message,
                )
                .mended_by(change),
            );
        }
    }
    for (name, profile) in &switch.profiles {
        let pool = profile.pool.as_ref();
        match pool.map(|p| (p, switch.pools.get(p))) {
            Some((pool, None)) => {
                let message = format!("profile {name} names the pool `{pool}`, which is not there");
                let place = pointer(&["BUFFER_PROFILE", name, "pool"]);
                out.push(Finding::new(&code::SN103, switch.index, place, message));
            }
            Some((_, Some(pool))) => thresholds(switch, name, profile, pool, out),
            None => {}
        }
        if profile.xoff > 0 {
            order(switch, name, profile, out);
        }
    }
    references(switch, out);
}

/// The kind of threshold against the mode of the pool.
fn thresholds(switch: &Switch, name: &str, profile: &Profile, pool: &Pool, out: &mut Vec<Finding>) {
    let row = switch.root.pointer(&pointer(&["BUFFER_PROFILE", name]));
    let given = |field: &str| row.is_some_and(|row| row.get(field).is_some());
    let wrong = match (given("dynamic_th"), given("static_th")) {
        (true, true) => Some("it has both `dynamic_th` and `static_th`"),
        (false, false) if !profile.computed => Some("it has neither of them"),
        (true, false) if !pool.dynamic => Some("it has `dynamic_th`, its pool is static"),
        // a static threshold in a dynamic pool is how egress profiles are made unlimited
        (false, true) if pool.dynamic && pool.direction.ingress() && profile.xoff > 0 => {
            Some("it has `static_th`, its pool is dynamic")
        }
        _ => None,
    };
    if let Some(wrong) = wrong {
        let message = format!("profile {name} needs `dynamic_th` or `static_th`: {wrong}");
        let place = pointer(&["BUFFER_PROFILE", name]);
        out.push(Finding::new(&code::SN308, switch.index, place, message));
    }
    if let Some(n) = profile.dynamic_th.filter(|n| *n > 0 && profile.xoff > 0) {
        let alpha = 1u64 << n.clamp(0, 62);
        let share = 100 * alpha / (alpha + 1);
        let message = format!(
            "profile {name}: dynamic_th {n} is alpha = {alpha}: one group may take {share} % of \
             the pool; -{n} is alpha = 1/{alpha}"
        );
        let place = pointer(&["BUFFER_PROFILE", name, "dynamic_th"]);
        out.push(Finding::new(&code::SN309, switch.index, place, message));
    }
}

/// XON against XOFF and the pause threshold.
fn order(switch: &Switch, name: &str, profile: &Profile, out: &mut Vec<Finding>) {
    let path = |field: &str| pointer(&["BUFFER_PROFILE", name, field]);
    let mut say = |code: &'static Code, field: &str, message: String, changes: Vec<Change>| {
        let mut finding = Finding::new(code, switch.index, path(field), message);
        finding.changes = changes;
        out.push(finding);
    };
    let Profile { size, xon, xoff, xon_offset, static_th, .. } = *profile;
    if let Some(pause) = static_th.filter(|pause| xon >= *pause) {
        let message =
            format!("profile {name}: xon {xon} B is not below the pause threshold {pause} B");
        say(&code::SN205, "xon", message, Vec::new());
    } else if xon > xoff {
        let message = format!("profile {name}: xon {xon} B is above xoff {xoff} B; swapped?");
        let set = |field, value| Change::set(switch.index, &["BUFFER_PROFILE", name, field], value);
        say(&code::SN205, "xon", message, vec![set("xon", xoff), set("xoff", xon)]);
    }
    if xon == 0 && xon_offset == 0 && !profile.computed {
        let message = format!("profile {name}: xon and xon_offset are 0");
        say(&code::SN206, "xon", message, Vec::new());
    }
    // where a profile has an xon_offset, size is a minimum beside the headroom
    let sum = xon.saturating_add(xoff);
    if !switch.shares_headroom() && xon_offset == 0 && !profile.computed && size < sum {
        let message = format!("profile {name}: size {size} B is below xon + xoff = {sum} B");
        let change = Change::set(switch.index, &["BUFFER_PROFILE", name, "size"], sum);
        say(&code::SN204, "size", message, vec![change]);
    }
}

/// Names in BUFFER_PG and BUFFER_QUEUE, and the direction of what they lead to.
fn references(switch: &Switch, out: &mut Vec<Finding>) {
    let tables =
        [("BUFFER_PG", &switch.groups, true), ("BUFFER_QUEUE", &switch.queue_buffers, false)];
    for (table, groups, ingress) in tables {
        for group in groups.values() {
            let Some(name) = &group.profile else { continue };
            let place = pointer(&[table, &group.key, "profile"]);
            let Some(profile) = switch.profiles.get(name) else {
                let message = format!("the profile `{name}` is not there");
                out.push(Finding::new(&code::SN103, switch.index, place, message));
                continue;
            };
            let pool = profile.pool.as_ref().and_then(|p| switch.pools.get(p));
            let fits =
                |p: &Pool| if ingress { p.direction.ingress() } else { p.direction.egress() };
            if pool.is_some_and(|pool| !fits(pool)) {
                let (what, want) = match ingress {
                    true => ("a priority group", "ingress"),
                    false => ("a queue", "egress"),
                };
                let pool = profile.pool.as_deref().unwrap_or_default();
                let message = format!("{what} needs an {want} pool: profile {name} is in {pool}");
                out.push(Finding::new(&code::SN306, switch.index, place, message));
            }
        }
    }
}
