//! Headroom configured against headroom needed.

use super::reprofile::{named_for, other};
use super::{Options, reprofile};
use crate::advice::{Budget, FRAMING};
use crate::code::{self, Code};
use crate::config::{Profile, Switch};
use crate::finding::{Change, Finding, pointer};
use crate::rule::{Rule, Sizes, port_total};
use std::collections::BTreeMap;
use weir_core::{Bytes, Length, Rate, Time};

/// The name of the physical budget in findings.
pub(crate) const PHYSICAL: &str = "802.1Qbb delay budget";
/// Beyond this many times the need, headroom is called large.
const LARGE: u64 = 4;
pub(super) const KIB: u64 = 1024;

/// What a priority group has and needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// Which switch.
    pub switch: usize,
    /// Its port.
    pub port: String,
    /// Mb/s.
    pub speed: u64,
    /// Metres.
    pub cable: u64,
    /// Its priority group.
    pub group: u8,
    /// The profile.
    pub profile: String,
    /// Headroom configured.
    pub configured: u64,
    /// Headroom that the link needs.
    pub needed: u64,
    /// Headroom that the rule of the switch gives, where it has one.
    pub rule: Option<(u64, &'static str)>,
    /// Metres of cable to spare; negative where headroom is missing.
    pub metres: f64,
}

/// What a port needs: the budget, and the rule of its switch where it has one.
pub fn needs(
    switch: &Switch,
    port: &str,
    options: &Options,
) -> Option<(Budget, Option<(Rule, Sizes)>)> {
    let settings = switch.ports.get(port)?;
    let (speed, cable) = (settings.speed?, *switch.cables.get(port)?);
    let mtu = settings.mtu.unwrap_or(9100);
    let frame = |bytes: u64| Bytes::new(bytes).saturating_add(FRAMING);
    let budget = Budget {
        rate: Rate::from_bps(speed.saturating_mul(1_000_000)),
        delay: Length::from_metres(cable).delay(options.per_metre),
        response: options.response,
        latency: Time::ZERO,
        interface: Time::ZERO,
        reverse_frame: frame(mtu),
        forward_frame: frame(switch.lossless_mtu.min(mtu)),
        cells: None,
    };
    let rule = options.asic_of(switch).map(|asic| Rule {
        port_mtu: mtu,
        lossless_mtu: switch.lossless_mtu,
        small_packets: switch.small_packets.as_ref().map_or(100, |(share, _)| *share),
        lanes: settings.lanes,
        shared: switch.shares_headroom(),
        ..Rule::new(asic, speed, cable)
    });
    let rule = rule.and_then(|rule| rule.apply().map(|sizes| (rule, sizes)));
    Some((budget, rule))
}

/// The profile that a lossless group has, or that the lookup table will give it.
fn effective(
    switch: &Switch,
    port: &str,
    group: u8,
    options: &Options,
) -> Option<(String, Profile)> {
    let entry = switch.groups.get(&(port.to_owned(), group));
    let known = switch.profile_of(port, group);
    let null = switch.dynamic_model && entry.is_some_and(|g| g.profile.is_none());
    let dynamic = null || known.is_some_and(|(_, p)| p.computed && p.xoff == 0);
    if dynamic && let Some(found) = computed(switch, port, options) {
        return Some(found);
    }
    if let Some((name, profile)) = known {
        return Some((name.to_owned(), profile.clone()));
    }
    if switch.dynamic_model || entry.is_some_and(|g| g.profile.is_some()) {
        return None;
    }
    let (speed, cable) = (switch.ports.get(port)?.speed?, *switch.cables.get(port)?);
    let row = options.lookup.as_ref()?.get(speed, cable)?;
    let profile = Profile {
        size: row.size,
        xon: row.xon,
        xon_offset: row.xon_offset,
        xoff: row.xoff,
        ..Profile::default()
    };
    Some((format!("pg_lossless_{speed}_{cable}m_profile (lookup)"), profile))
}

/// What the switch will compute for a group of the dynamic model, where its family is known.
fn computed(switch: &Switch, port: &str, options: &Options) -> Option<(String, Profile)> {
    let (_, sizes) = needs(switch, port, options)?.1?;
    let (speed, cable) = (switch.ports.get(port)?.speed?, *switch.cables.get(port)?);
    let profile =
        Profile { size: sizes.size, xon: sizes.xon, xoff: sizes.xoff, ..Profile::default() };
    Some((format!("pg_lossless_{speed}_{cable}m_profile (computed)"), profile))
}

/// All lossless groups of a switch whose need is known.
pub fn margins(switch: &Switch, options: &Options) -> Vec<Margin> {
    let mut all = Vec::new();
    for port in switch.lossless_ports() {
        let Some((budget, rule)) = needs(switch, port, options) else { continue };
        let pfc = switch.pfc(port);
        for group in pfc.iter().map(|p| switch.group_of(port, *p)) {
            let Some((name, profile)) = effective(switch, port, group, options) else { continue };
            if profile.computed || profile.xoff == 0 {
                continue;
            }
            let needed = budget.advised().get();
            let per_metre = budget.bytes_per_metre(options.per_metre).max(f64::EPSILON);
            all.push(Margin {
                switch: switch.index,
                port: port.to_owned(),
                speed: budget.rate.as_bps() / 1_000_000,
                cable: switch.cables.get(port).copied().unwrap_or(0),
                group,
                profile: name,
                configured: profile.xoff,
                needed,
                rule: rule.as_ref().map(|(rule, sizes)| (sizes.xoff, rule.version())),
                metres: (profile.xoff as f64 - needed as f64) / per_metre,
            });
        }
    }
    all
}

/// Checks the headroom of a switch.
pub(super) fn check(switch: &Switch, options: &Options, out: &mut Vec<Finding>) {
    let margins = margins(switch, options);
    for margin in &margins {
        sizes(switch, margin, options, out);
    }
    for port in switch.lossless_ports() {
        groups(switch, port, options, out);
        cable(switch, port, out);
        port_sum(switch, port, options, out);
    }
    if let (Some((share, place)), false) = (&switch.small_packets, switch.shares_headroom())
        && *share < 100
    {
        let message =
            format!("small_packet_percentage is {share} % and there is no shared headroom pool");
        let key = place.split('/').nth(2).unwrap_or_default();
        let path = ["LOSSLESS_TRAFFIC_PATTERN", key, "small_packet_percentage"];
        let rule = options.asic_of(switch).map(|asic| Rule::new(asic, 100_000, 5).version());
        let found = Finding::new(&code::SN211, switch.index, place.clone(), message)
            .by_rule(rule.unwrap_or(PHYSICAL))
            .mended_by(Change::set(switch.index, &path, 100));
        out.push(found);
    }
}

fn sizes(switch: &Switch, m: &Margin, options: &Options, out: &mut Vec<Finding>) {
    let place = || match switch.profiles.contains_key(&m.profile) {
        true => pointer(&["BUFFER_PROFILE", &m.profile, "xoff"]),
        false => match switch.groups.get(&(m.port.clone(), m.group)) {
            Some(entry) => pointer(&["BUFFER_PG", &entry.key]),
            None => pointer(&["CABLE_LENGTH"]),
        },
    };
    let link = format!("{} and {} m", Rate::from_bps(m.speed * 1_000_000), m.cable);
    let mut say = |code: &'static Code, message: String, rule: String, wanted: Option<u64>| {
        let mut found = Finding::new(code, switch.index, place(), message).by_rule(rule);
        if let Some(wanted) = wanted.filter(|_| switch.profiles.contains_key(&m.profile)) {
            // a profile that was computed for other ports stays as it is
            let own = reprofile::changes(switch, &m.port, m.group, &m.profile, options);
            found.changes = match own.is_empty() {
                true => raise(switch, &m.profile, wanted),
                false => own,
            };
        }
        out.push(found);
    };
    let by_rule = m.rule.map(|(xoff, _)| xoff);
    let wanted = by_rule.unwrap_or(0).max(m.needed).div_ceil(KIB) * KIB;
    if m.configured < m.needed {
        let terms = needs(switch, &m.port, options).map(|(b, _)| b.terms()).unwrap_or_default();
        let terms = terms.iter().map(|t| format!("{} {:.0}", t.name, t.bytes));
        let message = format!(
            "profile {}: xoff {} B, but {link} need {} B ({}): {} B too little, as much as {:.0} m \
             of cable take",
            m.profile,
            m.configured,
            m.needed,
            terms.collect::<Vec<_>>().join(" + "),
            m.needed - m.configured,
            -m.metres
        );
        say(&code::SN201, message, PHYSICAL.into(), Some(wanted));
    } else if let Some((xoff, version)) = m.rule.filter(|(xoff, _)| m.configured < *xoff) {
        let message = format!(
            "profile {}: xoff {} B; the rule gives {xoff} B for {link} (margin without cells: \
             {:.0} m)",
            m.profile, m.configured, m.metres
        );
        say(&code::SN214, message, version.into(), Some(wanted));
    } else if m.configured > LARGE * by_rule.unwrap_or(m.needed) {
        let least = by_rule.unwrap_or(m.needed);
        let message = format!(
            "profile {}: xoff {} B for {link}, which need {least} B: {:.0} m of cable to spare",
            m.profile, m.configured, m.metres
        );
        let rule = m.rule.map_or(PHYSICAL, |(_, version)| version);
        say(&code::SN212, message, rule.into(), None);
    }
}

/// The changes that raise the headroom of a profile, and what depends on it.
fn raise(switch: &Switch, name: &str, xoff: u64) -> Vec<Change> {
    let Some(profile) = switch.profiles.get(name) else { return Vec::new() };
    let path = |field| ["BUFFER_PROFILE", name, field];
    let mut all = vec![Change::set(switch.index, &path("xoff"), xoff)];
    if !switch.shares_headroom() && profile.xon_offset == 0 {
        let size = profile.size.max(profile.xon.saturating_add(xoff));
        all.push(Change::set(switch.index, &path("size"), size));
    }
    let pool = profile.pool.as_ref().and_then(|p| Some((p, switch.pools.get(p)?)));
    if let Some((pool, _)) = pool.filter(|(_, p)| p.xoff > 0 && p.xoff < xoff) {
        all.push(Change::set(switch.index, &["BUFFER_POOL", pool, "xoff"], xoff));
    }
    all
}

/// Whether every lossless priority has a group with headroom, and every such group PFC.
fn groups(switch: &Switch, port: &str, options: &Options, out: &mut Vec<Finding>) {
    let pfc = switch.pfc(port);
    let place = pointer(&["PORT_QOS_MAP", port, "pfc_enable"]);
    let mut paused = Vec::new();
    for priority in pfc {
        let group = switch.group_of(port, priority);
        paused.push(group);
        let entry = switch.groups.get(&(port.to_owned(), group));
        let profile = effective(switch, port, group, options);
        match (entry, &profile) {
            (None, None) => {
                let known = lookup_says(switch, port, options, out);
                if !known {
                    let message = format!(
                        "PFC is on for priority {priority}, but BUFFER_PG has no group \
                                 {group} of this port"
                    );
                    out.push(Finding::new(&code::SN202, switch.index, place.clone(), message));
                }
            }
            (Some(entry), Some((name, profile))) if profile.xoff == 0 && !profile.computed => {
                let place = pointer(&["BUFFER_PG", &entry.key, "profile"]);
                let message = format!(
                    "PFC is on for priority {priority}, but profile {name} of group {group} has \
                     no xoff"
                );
                let found = Finding::new(&code::SN203, switch.index, place, message);
                out.push(found.by_rule(PHYSICAL));
            }
            _ => {}
        }
        if let Some((name, profile)) = &profile {
            for_another_port(switch, port, group, name, options, out);
            from_table(switch, port, name, profile, options, out);
        }
    }
    for ((at, group), entry) in &switch.groups {
        let headroom = switch.profile_of(port, *group).is_some_and(|(_, p)| p.xoff > 0);
        if at == port && headroom && !paused.contains(group) {
            let place = pointer(&["BUFFER_PG", &entry.key]);
            let message = format!("group {group} has headroom, but pfc_enable does not have it");
            out.push(Finding::new(&code::SN403, switch.index, place, message));
        }
    }
}

/// Whether the lookup table explains a missing group: it has no such row.
fn lookup_says(switch: &Switch, port: &str, options: &Options, out: &mut Vec<Finding>) -> bool {
    let Some(table) = options.lookup.as_ref().filter(|_| !switch.dynamic_model) else {
        return false;
    };
    let speed = switch.ports.get(port).and_then(|p| p.speed);
    let (Some(speed), Some(cable)) = (speed, switch.cables.get(port)) else { return false };
    let has: Vec<String> = table.cables(speed).iter().map(|m| format!("{m}m")).collect();
    let has = if has.is_empty() { "nothing".into() } else { has.join(", ") };
    let message =
        format!("no row for {speed} Mb/s and {cable}m; the table has {has} of this speed");
    let place = pointer(&["CABLE_LENGTH"]);
    out.push(Finding::new(&code::SN208, switch.index, place, message));
    true
}

fn for_another_port(
    switch: &Switch,
    port: &str,
    group: u8,
    name: &str,
    options: &Options,
    out: &mut Vec<Finding>,
) {
    let Some((speed, cable)) = named_for(name) else { return };
    let Some(has) = other(switch, port, name) else { return };
    let show = |n: Option<u64>| n.map_or_else(|| "?".into(), |n| n.to_string());
    let message = format!(
        "profile {name} is for {speed} Mb/s and {cable} m; the port has {} Mb/s and {} m",
        show(has.0),
        show(has.1)
    );
    let mut found = Finding::new(&code::SN207, switch.index, pointer(&["PORT", port]), message);
    found.changes = reprofile::changes(switch, port, group, name, options);
    out.push(found);
}

fn from_table(
    switch: &Switch,
    port: &str,
    name: &str,
    profile: &Profile,
    options: &Options,
    out: &mut Vec<Finding>,
) {
    let speed = switch.ports.get(port).and_then(|p| p.speed);
    let (Some(table), Some(speed)) = (&options.lookup, speed) else { return };
    let Some(row) = switch.cables.get(port).and_then(|cable| table.get(speed, *cable)) else {
        return;
    };
    if switch.profiles.contains_key(name) && named_for(name).is_some() && row.xoff != profile.xoff {
        let message =
            format!("profile {name} has xoff {} B, the lookup table {} B", profile.xoff, row.xoff);
        let place = pointer(&["BUFFER_PROFILE", name, "xoff"]);
        out.push(Finding::new(&code::SN209, switch.index, place, message).by_rule("lookup table"));
    }
}

fn cable(switch: &Switch, port: &str, out: &mut Vec<Finding>) {
    let wrong = match switch.cables.get(port) {
        None => "has no entry in CABLE_LENGTH",
        Some(0) => "has a cable of 0m",
        Some(_) => return,
    };
    let message = format!("lossless port {port} {wrong}");
    out.push(Finding::new(&code::SN210, switch.index, pointer(&["CABLE_LENGTH"]), message));
}

/// The headroom of all groups of a port against the most that a port may have.
fn port_sum(switch: &Switch, port: &str, options: &Options, out: &mut Vec<Finding>) {
    let (Some(most), Some(asic)) = (options.max_headroom, options.asic_of(switch)) else { return };
    let paused: Vec<u8> = switch.pfc(port).iter().map(|p| switch.group_of(port, *p)).collect();
    let sizes: BTreeMap<u8, u64> = (0..8)
        .filter(|g| paused.contains(g) || switch.groups.contains_key(&(port.to_owned(), *g)))
        .filter_map(|g| Some((g, effective(switch, port, g, options)?.1)))
        .filter(|(_, profile)| profile.xoff > 0)
        .map(|(g, profile)| (g, profile.size))
        .collect();
    let lanes = switch.ports.get(port).map_or(0, |p| p.lanes);
    let total = port_total(asic, lanes, sizes.values().copied());
    if !sizes.is_empty() && total >= most.get() {
        let message = format!("{total} B of at most {most} for all groups of the port");
        let found = Finding::new(&code::SN213, switch.index, pointer(&["PORT", port]), message);
        out.push(found.by_rule(Rule::new(asic, 100_000, 5).version()));
    }
}
