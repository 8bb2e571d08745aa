//! What a scenario amounts to: `weir check` and `weir topo`.

use crate::lineup::Setting;
use crate::listing::Layout;
use crate::table::{Column, TextTable, paint};
use std::collections::BTreeSet;
use weir_core::format;
use weir_core::{Bytes, NodeId, Priority, Rate, Response, Time};
use weir_fc::{EgressThresholds, IngressBound, OnFull, StageLimits};
use weir_net::analysis::{Census, LongestPath, RttModel, bisection, oversubscription};
use weir_scenario::FaultSpec;
use weir_scenario::checks::{Circle, circle, headroom_need};
use weir_scenario::experiment::{Experiment, Variant};
use weir_scenario::text::Colour;
use weir_sim::config::{
    Balance, Config, DelayAt, EcnAt, FaultKind, FaultPick, IngressLimit, MessageKind,
    NicDiscipline, PipelineConfig, Reliability, Routing, Stop, ThresholdConfig, WindowConfig,
};
use weir_sim::thresholds::SwitchThresholds;

/// One line: `ofc-fig1 · 3 switches, 10 hosts, 40 Gb/s · 8 flows`.
pub fn headline(e: &Experiment) -> String {
    let switches = e.topology.nodes().len() - e.topology.hosts().len();
    let rates: Vec<_> = e.topology.links().iter().map(|l| l.rate).collect();
    let (slow, fast) = (rates.iter().min(), rates.iter().max());
    let speed = match (slow, fast) {
        (Some(a), Some(b)) if a == b => a.to_string(),
        (Some(a), Some(b)) => format!("{a} to {b}"),
        _ => String::new(),
    };
    let jobs = e.traffic.jobs().len() as u64;
    let flows = match flow_count(e, e.scenario.run.seeds[0]) {
        Some(0) if jobs > 0 => String::new(),
        Some(n) => format!(" · {}", format::plural(n, "flow")),
        None => String::new(),
    };
    let jobs = match jobs {
        0 => String::new(),
        n => format!(" · {}", format::plural(n, "job")),
    };
    format!(
        "{} · {}, {}, {speed}{jobs}{flows}",
        e.scenario.name,
        format::plural(switches as u64, "switch"),
        format::plural(e.topology.hosts().len() as u64, "host"),
    )
}

/// How many flows a seed makes, unless counting them would take long.
pub fn flow_count(e: &Experiment, seed: u64) -> Option<u64> {
    const MOST: usize = 1_000_000;
    if e.traffic.endless() {
        return None;
    }
    let flows = e.traffic.sources(seed).into_iter().flatten().take(MOST + 1).count();
    (flows <= MOST).then_some(flows as u64)
}

/// `weir check`: what the defaults resolved to, and what each of `variants` changes about it.
pub fn check(e: &Experiment, variant: Variant, variants: &[Setting], layout: Layout) -> String {
    let title = paint(&headline(e), layout.colour, "1");
    let own = in_columns(settings(e, &e.config(variant)), layout);
    let mut parts = vec![format!("{title}\n  {}\n\n{own}", e.scenario.title)];
    for other in variants {
        let changes = changes(e, variant, other);
        let changes = match changes.is_empty() {
            true => "  the same settings".to_owned(),
            false => in_columns(changes, layout),
        };
        let title = format!("variant {}", other.label);
        parts.push(format!("{}\n{changes}", paint(&title, layout.colour, "1")));
    }
    parts.join("\n\n")
}

/// Names and values below each other.
fn in_columns(settings: Vec<(String, String)>, layout: Layout) -> String {
    let mut t = TextTable::new(vec![Column::words("setting", 9), Column::words("value", 9)]);
    for (name, value) in settings {
        t.row(vec![name, value]);
    }
    let lines = t.render(usize::MAX, layout.colour);
    lines.lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// The settings of a variant that are not those of the scenario itself.
pub fn changes(e: &Experiment, own: Variant, other: &Setting) -> Vec<(String, String)> {
    let base = settings(e, &e.config(own));
    let theirs = &*other.experiment;
    let mut changed = settings(theirs, &theirs.config(other.with_seed(own.seed)));
    changed.retain(|setting| !base.contains(setting));
    changed
}

/// The processor of a pipelined switch in a line.
fn processor(p: &PipelineConfig) -> String {
    let place = match p.delay_at {
        DelayAt::Before => "in front of it",
        DelayAt::After => "behind it",
    };
    let full = match p.on_full {
        OnFull::Drop => "drops",
        OnFull::Stop => "stops it",
    };
    let limits = match p.limits {
        StageLimits::Dedicated { egress } => format!("egress queues of {egress}"),
        StageLimits::Shared(s) => format!(
            "queues of {} and a pool of {} (queue {}, port {}, ingress {}, egress {})",
            s.dedicated, s.pool, s.queue, s.port, s.ingress, s.egress
        ),
    };
    format!("{} packets/s, {} {place}, {limits}, a full one {full}", p.rate, p.delay)
}

/// What egress queues may hold.
fn egress_thresholds(egress: &EgressThresholds) -> String {
    let limit = |bytes: Bytes| match bytes {
        Bytes::MAX => "no limit".to_owned(),
        bytes => bytes.to_string(),
    };
    let share = egress.share.map(|s| {
        let alpha = alpha_text(s.shift);
        format!(" and {alpha} of what is free of {}", limit(s.pool))
    });
    let (lossy, share) = (limit(egress.limit), share.unwrap_or_default());
    format!("lossy {lossy}{share}; lossless {}", limit(egress.lossless))
}

/// Every setting as it will be used.
pub fn settings(e: &Experiment, c: &Config) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| rows.push((name.to_owned(), value));
    add("thresholds", thresholds(e, c));
    add("buffer per switch", c.switch.buffer.to_string());
    if let Some(pool) = c.switch.headroom_pool {
        add("headroom pool", format!("{pool} for all ports together"));
    }
    if let Some(egress) = c.switch.egress {
        add("egress thresholds", egress_thresholds(&egress));
    }
    if let Some(cell) = c.switch.cell {
        add("memory", format!("in cells of {}", cell.bytes()));
    }
    add("lossless priorities", c.switch.lossless.to_string());
    if let Some(need) = headroom_need(e) {
        let link = e.topology.link(need.link);
        let (a, b) = (e.topology.name(link.a.0), e.topology.name(link.b.0));
        add("headroom needed", format!("{} (link {a}-{b})", need.bytes));
        add("headroom given", headroom_given(c, need.bytes));
    }
    let weights = c.switch.schedule.weights;
    add("scheduling", scheduling(weights));
    add("ECN marking", marking(e, c));
    let watchdog = c.switch.watchdog.map(|w| format!("after {}, {:?}", w.detect, w.action));
    add("watchdog", watchdog.unwrap_or_else(|| "off".into()).to_lowercase());
    let time = |t: weir_core::Time| match t {
        weir_core::Time::ZERO => "0 ns".to_owned(),
        t => t.to_string(),
    };
    match &c.switch.pipeline {
        Some(pipeline) => add("packet processor", processor(pipeline)),
        None => add("switch latency", time(c.switch.latency)),
    }
    add("wire overhead", format!("{} per frame", c.link.overhead));
    add("control response", response(e, c));
    add("bit error rate", c.link.bit_error_rate.to_string());
    add("packets", format!("{} payload + {} header", c.nic.payload, c.nic.header));
    let queues = match c.nic.discipline {
        NicDiscipline::PerFlow => "one per flow, in turn".into(),
        NicDiscipline::ByPriority(s) => format!("one per flow, {}", scheduling(s.weights)),
        NicDiscipline::Fifo => "one for all flows".into(),
    };
    add("NIC queues", queues);
    if c.nic.reliability == Reliability::Tcp {
        let params = c.tcp.list().into_iter().map(|p| (p.name.to_owned(), p.value));
        add("transport", with_params("TCP", &params.collect::<Vec<_>>()));
        let acks = match c.nic.acks_with_data {
            true => "of their data".to_owned(),
            false => c.nic.ack_priority.to_string(),
        };
        add("ACK priority", acks);
    } else {
        add("window", window(c.nic.window));
        let timeout = c.nic.timeout.map_or_else(|| "never".into(), |t| t.to_string());
        add("retransmission timeout", timeout);
    }
    if c.nic.reliability == Reliability::SelectiveRepeat {
        add("after a loss", "only what is missing is sent again (selective repeat)".into());
    }
    if c.nic.reorder > 0 {
        add("a loss is", format!("known by a packet more than {} behind", c.nic.reorder));
    }
    add("scheme", with_params(c.scheme.info.title, &scheme_params(c)));
    if c.nic.reliability != Reliability::Tcp {
        let cc: Vec<_> = c.cc.list().into_iter().map(|p| (p.name.to_owned(), p.value)).collect();
        add("congestion control", with_params(c.cc.name(), &cc));
    }
    let routing = match c.routing {
        Routing::Ecmp => "ECMP over shortest paths",
        Routing::UpDown => "up-down",
    };
    add("routing", routing.into());
    if c.balance != Balance::Flow {
        add("paths are chosen", balance(c.balance));
    }
    for f in &c.failures {
        let link = e.topology.link(f.link);
        let (a, b) = (e.topology.name(link.a.0), e.topology.name(link.b.0));
        let up = f.up.map_or_else(|| "for good".into(), |t| format!("until {t}"));
        add("failure", format!("{a}-{b} at {} {up}", f.down));
    }
    for f in &e.scenario.faults {
        add("fault", fault(f));
    }
    for r in &e.scenario.receivers {
        add("slow receiver", r.describe());
    }
    let until = match c.stop {
        Stop::Drained => "all flows are done".into(),
        Stop::At(t) => t.to_string(),
    };
    add("runs until", until);
    let seeds: Vec<String> = e.scenario.run.seeds.iter().map(u64::to_string).collect();
    add("seeds", seeds.join(", "));
    rows
}

/// "drop 1/100 of resume frames on s0-h1".
fn fault(f: &FaultSpec) -> String {
    let link = match &f.ends {
        Some([a, b]) => format!("{}-{}", a.value, b.value),
        None => "all links".into(),
    };
    let to = f.towards.as_ref().map_or_else(String::new, |n| format!(" towards {}", n.value));
    let what = match f.what {
        FaultKind::Drop => "drop".into(),
        FaultKind::Delay(by) => format!("delay by {by}"),
        FaultKind::Duplicate(Time::ZERO) => "duplicate".into(),
        FaultKind::Duplicate(by) => format!("duplicate after {by}"),
    };
    let which = match f.which {
        FaultPick::Nth(n) => format!("number {n}"),
        FaultPick::Share(share) => share.to_string(),
    };
    let kind = match f.message.value {
        MessageKind::Any => "control",
        kind => kind.name(),
    };
    let until = f.until.map_or_else(String::new, |t| format!(" until {t}"));
    let from = match f.from.value {
        Time::ZERO => String::new(),
        from => format!(" from {from}"),
    };
    format!("{what} {which} of {kind} frames on {link}{to}{from}{until}")
}

/// The headroom of a lossless ingress as configured, against what the neediest link needs.
fn headroom_given(c: &Config, need: Bytes) -> String {
    // the packet that crosses the threshold is stored, too
    let frame = c.nic.max_frame();
    let verdict = |given: Bytes| match need.saturating_sub(given) {
        Bytes::ZERO => format!("{given}: enough"),
        short => format!("{given}: TOO LITTLE by {short}, packets can be lost"),
    };
    let bound = (c.scheme.info.ingress_bound)(&c.scheme.values);
    match c.switch.thresholds {
        _ if matches!(bound, IngressBound::Grants(_)) => {
            "none: neighbours send only what was granted".into()
        }
        _ if bound == IngressBound::Memory => {
            "none: the scheme does not pause at the ingress".into()
        }
        ThresholdConfig::Pool => "none: one pool, no pauses".into(),
        ThresholdConfig::Static { limit: IngressLimit::Unlimited, .. } => {
            "as much as there is memory".into()
        }
        ThresholdConfig::Static { xoff, limit: IngressLimit::Bytes(limit), .. } => {
            let above = limit.saturating_sub(xoff).saturating_add(Bytes::new(1));
            verdict(above.saturating_sub(frame))
        }
        ThresholdConfig::Dynamic { headroom: Some(given), .. } => {
            verdict(given.saturating_sub(frame))
        }
        ThresholdConfig::Static { .. }
        | ThresholdConfig::PerSpeed { .. }
        | ThresholdConfig::Dynamic { .. } => "as needed by the link of each port".into(),
    }
}

/// How priorities share a port.
fn scheduling(weights: [u32; Priority::COUNT]) -> String {
    if weights.iter().all(|w| *w == 0) {
        return "strict priority".into();
    }
    format!("DWRR {}", weights.map(|w| w.to_string()).join(" "))
}

/// How packets are spread over equal paths.
fn balance(balance: Balance) -> String {
    match balance {
        Balance::Flow => "by flow".into(),
        Balance::Adaptive { low, high } => {
            format!("by packet, from ports with less than {low}, else {high}, to drain")
        }
        Balance::Random => "by packet, at random".into(),
        Balance::RoundRobin => "by packet, in turn".into(),
        Balance::Flowlet { gap } => format!("by flowlet, after {gap} of silence"),
    }
}

/// Thresholds that differ between ports are shown for each speed.
fn thresholds(e: &Experiment, c: &Config) -> String {
    let ThresholdConfig::PerSpeed { .. } = c.switch.thresholds else {
        return thresholds_text(c, c.switch.thresholds);
    };
    let thresholds = SwitchThresholds::new(&e.topology, c);
    let ports = e.topology.switches().flat_map(|n| e.topology.ports(n));
    let rates: BTreeSet<Rate> = ports.map(|end| e.topology.link(end.link).rate).collect();
    by_speed(rates.into_iter().map(|rate| (rate, thresholds_text(c, thresholds.at(rate)))))
}

/// When control frames take effect, for each speed where it depends on that.
fn response(e: &Experiment, c: &Config) -> String {
    match c.link.response {
        Response::Standard => {
            let rates = e.topology.links().iter().map(|l| l.rate);
            let each = by_speed(rates.map(|rate| (rate, c.link.response.at(rate).to_string())));
            format!("{each} ({})", Response::STANDARD)
        }
        fixed => fixed.to_string(),
    }
}

/// How ports mark, for each speed.
fn marking(e: &Experiment, c: &Config) -> String {
    let thresholds = SwitchThresholds::new(&e.topology, c);
    let each = e.topology.switches().flat_map(|n| {
        let ports = e.topology.ports(n).iter().map(|end| e.topology.link(end.link).rate);
        ports.zip(thresholds.marking(n)).collect::<Vec<_>>()
    });
    by_speed(each.map(|(rate, ecn)| match ecn {
        None => (rate, "off".to_owned()),
        Some(k) => {
            let at = if c.switch.ecn_at == EcnAt::Enqueue { ", at enqueue" } else { "" };
            (rate, format!("kmin {}, kmax {}, pmax {}{at}", k.kmin, k.kmax, k.pmax))
        }
    }))
}

/// One text if all are the same, else each with its speed, the slowest first.
fn by_speed(each: impl Iterator<Item = (Rate, String)>) -> String {
    let all: BTreeSet<(Rate, String)> = each.collect();
    let texts: BTreeSet<&String> = all.iter().map(|(_, text)| text).collect();
    match texts.into_iter().collect::<Vec<_>>().as_slice() {
        [] => "off".into(),
        [one] => (*one).clone(),
        _ => {
            let shown = all.iter().map(|(rate, text)| format!("{text} at {rate}"));
            shown.collect::<Vec<_>>().join("; ")
        }
    }
}

fn thresholds_text(c: &Config, thresholds: ThresholdConfig) -> String {
    match thresholds {
        ThresholdConfig::Pool => "one pool, no pauses".into(),
        ThresholdConfig::PerSpeed { xoff, xon, per } => {
            format!("static: xoff {xoff}, xon {xon} per {per}")
        }
        ThresholdConfig::Static { xoff, xon, limit } => {
            let bound = (c.scheme.info.ingress_bound)(&c.scheme.values);
            let limit = match (limit, bound) {
                (IngressLimit::Lossless, IngressBound::Memory) => {
                    "no limit (the scheme does not pause there)".into()
                }
                (IngressLimit::Lossless, IngressBound::Grants(b)) => format!("limit {b}: granted"),
                (IngressLimit::Lossless, _) => "plus headroom".into(),
                (IngressLimit::Unlimited, _) => "no limit".into(),
                (IngressLimit::Bytes(b), _) => format!("limit {b}"),
            };
            format!("static: xoff {xoff}, xon {xon}, {limit}")
        }
        ThresholdConfig::Dynamic { shift, reserve, resume_offset, headroom } => {
            let headroom = headroom.map_or_else(|| "as needed".into(), |b: Bytes| b.to_string());
            let alpha = alpha_text(shift);
            format!(
                "dynamic: alpha {alpha}, reserve {reserve}, resume offset {resume_offset}, \
                 headroom {headroom}",
            )
        }
    }
}

/// 2^-shift.
fn alpha_text(shift: i8) -> String {
    match shift {
        0.. => format!("1/{}", 1u32 << shift),
        _ => (1u32 << shift.unsigned_abs()).to_string(),
    }
}

fn window(w: WindowConfig) -> String {
    match w {
        WindowConfig::FromCc => "as the congestion control says".into(),
        WindowConfig::Unlimited => "unlimited".into(),
        WindowConfig::Bytes(b) => b.to_string(),
    }
}

/// The parameters of the scheme as they will be used; derived ones are left out.
pub fn scheme_params(c: &Config) -> Vec<(String, String)> {
    let shown = |p: &weir_fc::Param| Some((p.name.to_owned(), c.scheme.values.get(p)?.to_string()));
    c.scheme.info.params.iter().filter_map(shown).collect()
}

fn with_params(name: &str, params: &[(String, String)]) -> String {
    let list: Vec<String> = params.iter().map(|(k, v)| format!("{k} {v}")).collect();
    if list.is_empty() { name.to_owned() } else { format!("{name} ({})", list.join(", ")) }
}

/// `weir topo`: the fabric in numbers.
pub fn topology(e: &Experiment, layout: Layout) -> String {
    let mut t = TextTable::new(vec![Column::words("", 9), Column::words("", 9)]);
    for (name, value) in topology_facts(e) {
        t.row(vec![name, value]);
    }
    let lines = t.render(usize::MAX, Colour::Off);
    let body: Vec<&str> = lines.lines().skip(1).collect();
    format!("{}\n\n{}", paint(&headline(e), layout.colour, "1"), body.join("\n"))
}

/// The fabric as a picture (SVG).
pub fn drawing(e: &Experiment) -> String {
    let title = e.scenario.title.clone();
    weir_net::draw::svg(
        &e.standing_topology(),
        &weir_net::draw::Options { title, ..Default::default() },
    )
}

/// Names and values of what there is to say about a fabric.
pub fn topology_facts(e: &Experiment) -> Vec<(String, String)> {
    let topo = &*e.standing_topology();
    let census = Census::new(topo);
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: String, value: String| rows.push((name, value));
    add("hosts".into(), census.hosts.to_string());
    let layers: Vec<String> =
        census.layers.iter().map(|(layer, n)| format!("{n} {}", layer.name())).collect();
    add("switches".into(), format!("{} ({})", census.switches, layers.join(", ")));
    add("most ports on a switch".into(), census.most_ports.to_string());
    for tier in &census.tiers {
        let speed = match tier.rates {
            (a, b) if a == b => a.to_string(),
            (a, b) => format!("{a} to {b}"),
        };
        let name = format!("links {}-{}", tier.lower.name(), tier.upper.name());
        add(name, format!("{} of {speed}, {} one way", tier.links, tier.capacity));
    }
    for o in oversubscription(topo) {
        let name = format!("oversubscription at {}", o.layer.name());
        let worst = topo.name(o.worst);
        add(name, format!("{}:1 ({worst})", format::significant(o.ratio())));
    }
    let mut failed = e.topology.missing().to_vec();
    let links = e.never_up().into_iter().map(|link| e.topology.link(link));
    failed.extend(links.map(|link| (link.a.0, link.b.0)));
    if !failed.is_empty() {
        let link = |&(a, b): &(NodeId, NodeId)| format!("{}-{}", topo.name(a), topo.name(b));
        let links: Vec<String> = failed.iter().map(link).collect();
        add("failed from the start".into(), links.join(", "));
    }
    let half = bisection(topo);
    add(
        "bisection".into(),
        format!("{} ({} of half the hosts' speed)", half.capacity, format::percent(half.ratio())),
    );
    let nic = &e.scenario.nic.config;
    let overhead = e.scenario.link.overhead;
    let model = RttModel {
        frame: nic.max_frame() + overhead,
        ack: nic.ack + overhead,
        switch: e.scenario.switch.config.hop_latency(),
    };
    match LongestPath::new(topo, &model) {
        Some(far) => {
            add("diameter".into(), format!("{} links", far.diameter));
            let (src, dst) = (topo.name(far.src), topo.name(far.dst));
            add("longest RTT".into(), format!("{} ({src} to {dst})", far.rtt));
            add("BDP".into(), format!("{} at {}", far.bdp, far.bottleneck));
            if far.disconnected {
                add("unreachable".into(), "some hosts have no path to others".into());
            }
        }
        None => add("diameter".into(), "no two hosts are connected".into()),
    }
    if let Some(need) = headroom_need(e) {
        add("headroom needed".into(), need.bytes.to_string());
    }
    add("cyclic buffer dependency".into(), dependency(e));
    rows
}

/// Whether the routes the traffic may use depend on each other in a circle.
fn dependency(e: &Experiment) -> String {
    match circle(e) {
        Circle::NotLookedFor => "not looked for in a fabric of this size".into(),
        Circle::None => "none: these routes cannot deadlock".into(),
        Circle::Found(cycle) => format!("{}: PFC can deadlock here", cycle.describe(&e.topology)),
    }
}
