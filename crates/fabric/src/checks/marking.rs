//! ECN on lossless queues: there, in order, and before PFC.

use crate::code::{self, Code};
use crate::config::{Profile, Switch, Wred};
use crate::finding::{Change, Finding, pointer};

/// Checks the marking of a switch.
pub(super) fn check(switch: &Switch, out: &mut Vec<Finding>) {
    for ((_, _), queue) in &switch.queues {
        let missing = queue.wred.as_ref().filter(|name| !switch.wred.contains_key(*name));
        if let Some(name) = missing {
            let place = pointer(&["QUEUE", &queue.key, "wred_profile"]);
            let message = format!("WRED_PROFILE has no `{name}`");
            out.push(Finding::new(&code::SN103, switch.index, place, message));
        }
        let scheduler = queue.scheduler.as_ref();
        if let Some(name) = scheduler.filter(|name| !switch.schedulers.contains_key(*name)) {
            let place = pointer(&["QUEUE", &queue.key, "scheduler"]);
            let message = format!("SCHEDULER has no `{name}`");
            out.push(Finding::new(&code::SN103, switch.index, place, message));
        }
    }
    for (name, wred) in &switch.wred {
        thresholds(switch, name, wred, out);
    }
    // a file without queues is a part of a configuration
    if switch.queues.is_empty() {
        return;
    }
    for port in switch.lossless_ports() {
        for priority in switch.pfc(port) {
            queue(switch, port, priority, out);
        }
    }
}

fn thresholds(switch: &Switch, name: &str, wred: &Wred, out: &mut Vec<Finding>) {
    let field = |new: &'static str, old: &'static str| {
        let row = switch.root.pointer(&pointer(&["WRED_PROFILE", name]));
        if row.is_some_and(|row| row.get(new).is_some()) { new } else { old }
    };
    let low = field("ecn_green_min_threshold", "green_min_threshold");
    let high = field("ecn_green_max_threshold", "green_max_threshold");
    if let (Some(min), Some(max)) = (wred.min, wred.max)
        && min >= max
    {
        let message = format!("profile {name}: minimum {min} B, maximum {max} B");
        let set = |field, value| Change::set(switch.index, &["WRED_PROFILE", name, field], value);
        let place = pointer(&["WRED_PROFILE", name, low]);
        let found = Finding::new(&code::SN602, switch.index, place, message);
        out.push(match min > max {
            true => found.mended_by(set(low, max)).mended_by(set(high, min)),
            false => found,
        });
    }
    if wred.marks && wred.probability == 0 {
        let probability = field("ecn_green_mark_probability", "green_drop_probability");
        let place = pointer(&["WRED_PROFILE", name, probability]);
        let message = format!("profile {name}: the probability of marking is 0");
        let change = Change::set(switch.index, &["WRED_PROFILE", name, probability], 5);
        out.push(Finding::new(&code::SN605, switch.index, place, message).mended_by(change));
    }
}

/// Where a single congested group pauses: alpha S / (1 + alpha), or the static threshold.
pub(crate) fn pause_threshold(switch: &Switch, profile: &Profile) -> Option<u64> {
    if let Some(fixed) = profile.static_th {
        return Some(fixed);
    }
    let pool = switch.pools.get(profile.pool.as_ref()?)?;
    let (shared, n) = (u128::from(pool.size?), profile.dynamic_th?);
    let (up, down) = match n {
        0.. => (1u128 << n.min(7), 1),
        _ => (1, 1u128 << n.unsigned_abs().min(8)),
    };
    u64::try_from(shared * up / (up + down)).ok().map(|t| t.saturating_add(profile.size))
}

fn queue(switch: &Switch, port: &str, priority: u8, out: &mut Vec<Finding>) {
    let number = switch.queue_of(port, priority);
    let queue = switch.queues.get(&(port.to_owned(), number));
    let name = queue.and_then(|q| q.wred.as_ref());
    let mut say = |code: &'static Code, place: String, message: String, change: Option<Change>| {
        let mut found = Finding::new(code, switch.index, place, message);
        found.changes.extend(change);
        out.push(found);
    };
    let Some(name) = name else {
        let key = queue.map_or_else(|| format!("{port}|{number}"), |q| q.key.clone());
        let message = format!("lossless queue {number} has no wred_profile");
        return say(&code::SN601, pointer(&["QUEUE", &key]), message, None);
    };
    let Some(wred) = switch.wred.get(name) else { return };
    let ecn = ["WRED_PROFILE", name.as_str(), "ecn"];
    if !wred.marks {
        let change = Some(Change::set(switch.index, &ecn, "ecn_all"));
        let (code, what): (&'static Code, _) = match wred.enabled {
            true => (&code::SN604, "drops"),
            false => (&code::SN601, "does not mark"),
        };
        let message = format!("profile {name} of lossless queue {number} {what}: ecn is off");
        return say(code, pointer(&ecn), message, change);
    }
    let group = switch.group_of(port, priority);
    let pause = switch.profile_of(port, group).and_then(|(_, p)| pause_threshold(switch, p));
    if let (Some(min), Some(pause)) = (wred.min, pause)
        && min >= pause
    {
        let message = format!(
            "profile {name} marks from {min} B, but a single congested group {group} pauses at \
             {pause} B"
        );
        say(&code::SN603, pointer(&["WRED_PROFILE", name]), message, None);
    }
}
