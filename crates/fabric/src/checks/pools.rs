//! Pools against the memory, against what groups are promised, and at the egress.

use super::Options;
use super::headroom::PHYSICAL;
use crate::code;
use crate::config::{Pool, Switch};
use crate::finding::{Change, Finding, pointer};

/// Checks the pools of a switch.
pub(super) fn check(switch: &Switch, options: &Options, out: &mut Vec<Finding>) {
    memory(switch, options, out);
    for (name, pool) in switch.pools.iter().filter(|(_, p)| p.direction.ingress()) {
        guaranteed(switch, name, pool, out);
        shared_headroom(switch, name, pool, out);
    }
    for port in switch.lossless_ports() {
        egress(switch, port, out);
    }
}

/// All groups of the pool: guaranteed size and headroom of each.
fn promised(switch: &Switch, pool: &str) -> Vec<(u64, u64)> {
    let profiles = switch.groups.values().filter_map(|g| switch.profiles.get(g.profile.as_ref()?));
    let of_pool = profiles.filter(|p| p.pool.as_deref() == Some(pool));
    of_pool.map(|p| (p.size, p.xoff)).collect()
}

/// Ingress pools with their headroom, and what groups are guaranteed, against the chip.
fn memory(switch: &Switch, options: &Options, out: &mut Vec<Finding>) {
    let sized = switch.pools.iter().filter(|(_, p)| p.direction.ingress());
    let mut sized: Vec<_> = sized.filter_map(|(name, p)| Some((name, p.size?, p.xoff))).collect();
    sized.sort_by_key(|(_, size, xoff)| std::cmp::Reverse(size.saturating_add(*xoff)));
    let Some((largest, _, _)) = sized.first() else { return };
    let asic = options.asic_of(switch);
    let known = options.memory.map(weir_core::Bytes::get);
    let known = known.or_else(|| asic.and_then(|a| a.buffer).map(weir_core::Bytes::get));
    let Some(memory) = known else {
        let message = format!(
            "the packet memory of {} is not known, so pools are not compared with it",
            asic.map_or("this switch", |a| a.name)
        );
        let place = pointer(&["BUFFER_POOL"]);
        out.push(Finding::new(&code::SN302, switch.index, place, message));
        return;
    };
    let all = sized
        .iter()
        .fold(0u64, |sum, (_, size, xoff)| sum.saturating_add(*size).saturating_add(*xoff));
    // each group has its guaranteed memory besides
    let groups = switch.groups.values().filter_map(|g| switch.profiles.get(g.profile.as_ref()?));
    let least = groups.fold(0u64, |sum, p| sum.saturating_add(p.size));
    let left = memory.saturating_sub(least);
    if all > left {
        let cells = asic.filter(|a| a.cell > 0 && all > memory);
        let cells = cells.map_or_else(String::new, |a| {
            format!(" ({} of {} cells of {} B)", all.div_ceil(a.cell), memory / a.cell, a.cell)
        });
        let besides = match least {
            0 => String::new(),
            _ => format!(" less {least} B that the groups are guaranteed"),
        };
        let message =
            format!("size and xoff of the ingress pools are {all} B of {memory} B{cells}{besides}");
        let place = pointer(&["BUFFER_POOL", largest, "size"]);
        out.push(Finding::new(&code::SN301, switch.index, place, message));
    }
}

fn guaranteed(switch: &Switch, name: &str, pool: &Pool, out: &mut Vec<Finding>) {
    let Some(size) = pool.size else { return };
    let sum = promised(switch, name).iter().fold(0u64, |sum, (s, _)| sum.saturating_add(*s));
    if sum > size {
        let message = format!("groups of pool {name} are guaranteed {sum} B, it has {size} B");
        let place = pointer(&["BUFFER_POOL", name, "size"]);
        out.push(Finding::new(&code::SN303, switch.index, place, message));
    }
}

fn shared_headroom(switch: &Switch, name: &str, pool: &Pool, out: &mut Vec<Finding>) {
    if pool.xoff == 0 {
        return;
    }
    let all = promised(switch, name);
    let largest = all.iter().map(|(_, xoff)| *xoff).max().unwrap_or(0);
    let sum = all.iter().fold(0u64, |sum, (_, xoff)| sum.saturating_add(*xoff));
    let ratio = switch.oversubscription.max(1);
    let (place, path) = (pointer(&["BUFFER_POOL", name, "xoff"]), ["BUFFER_POOL", name, "xoff"]);
    if pool.xoff < largest {
        let message = format!(
            "the shared headroom of pool {name} is {} B, one group needs {largest} B",
            pool.xoff
        );
        let wanted = largest.max(sum.div_ceil(ratio));
        out.push(
            Finding::new(&code::SN304, switch.index, place, message)
                .by_rule(PHYSICAL)
                .mended_by(Change::set(switch.index, &path, wanted)),
        );
    } else if switch.oversubscription > 0 && pool.xoff.saturating_mul(ratio) < sum {
        let message = format!(
            "groups of pool {name} have {sum} B of headroom together, the pool {} B: {:.1} to 1, \
             over_subscribe_ratio is {ratio}",
            pool.xoff,
            sum as f64 / pool.xoff as f64
        );
        out.push(
            Finding::new(&code::SN305, switch.index, place, message)
                .by_rule(PHYSICAL)
                .mended_by(Change::set(switch.index, &path, sum.div_ceil(ratio))),
        );
    }
}

/// Lossless queues must not be limited before the ingress pauses.
fn egress(switch: &Switch, port: &str, out: &mut Vec<Finding>) {
    for priority in switch.pfc(port) {
        let queue = switch.queue_of(port, priority);
        let Some(entry) = switch.queue_buffers.get(&(port.to_owned(), queue)) else { continue };
        let profile = entry.profile.as_ref().and_then(|name| switch.profiles.get(name));
        let Some(profile) = profile else { continue };
        let pool = profile.pool.as_ref().and_then(|p| switch.pools.get(p)).and_then(|p| p.size);
        let limit = match (profile.static_th, profile.dynamic_th, pool) {
            (Some(limit), _, Some(size)) if limit < size => {
                format!("static_th {limit} B of {size} B")
            }
            // alpha 8 leaves a queue 8/9 of what is free
            (None, Some(n), _) if n < 3 => format!("dynamic_th {n}"),
            _ => continue,
        };
        let name = entry.profile.as_deref().unwrap_or_default();
        let message = format!("lossless queue {queue} has profile {name} with {limit}");
        let place = pointer(&["BUFFER_QUEUE", &entry.key, "profile"]);
        out.push(Finding::new(&code::SN310, switch.index, place, message));
    }
}
