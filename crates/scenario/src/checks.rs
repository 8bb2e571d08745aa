//! What does not fit together although every part of it reads well.

mod faults;
mod floor;
mod paths;
mod priorities;
mod room;
mod signals;
mod starts;

pub(crate) use faults::faults;
pub use floor::{Circle, circle, floor};
pub(crate) use paths::{order, scheme};
pub(crate) use priorities::acks;
pub(crate) use room::{pool, response};
pub(crate) use signals::{refresh, signals, telemetry, transport};

use crate::Arg;
use crate::TopologySpec;
use crate::TrafficSpec;
use crate::experiment::{Experiment, Variant};
use crate::text::{Diagnostic, Diagnostics, NAME_RULE, Span, unfit_name};
use std::cell::LazyCell;
use std::collections::BTreeMap;
use weir_core::{Bytes, LinkId, NodeId, PortId, Severity, Time};
use weir_net::{Routes, validate_path};
use weir_sim::HORIZON;
use weir_sim::config::{Hop, IngressLimit, Stop, ThresholdConfig, headroom};
use weir_sim::thresholds::SwitchThresholds;
use weir_traffic::FlowSpec;

/// The headroom a link needs, and which link that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadroomNeed {
    /// The link with the greatest need.
    pub link: LinkId,
    /// Bytes that may arrive after the decision to pause.
    pub bytes: Bytes,
}

/// The greatest headroom any link into a switch needs.
pub fn headroom_need(e: &Experiment) -> Option<HeadroomNeed> {
    let s = &e.scenario;
    let hop = Hop::of(&s.switch.config, &s.nic.config);
    let into_switch = |l: &weir_net::Link| [l.a.0, l.b.0].iter().any(|&n| !e.topology.is_host(n));
    let links = e.topology.links().iter().enumerate().filter(|(_, l)| into_switch(l));
    let needs = links.map(|(i, l)| HeadroomNeed {
        link: LinkId::from_index(i),
        bytes: headroom(l.rate, l.delay, &hop, &s.link),
    });
    needs.max_by_key(|need| (need.bytes, std::cmp::Reverse(need.link)))
}

/// Everything that does not fit together, or is odd; returns how many flows start only after the
/// end of the run.
pub(crate) fn all(e: &Experiment, out: &mut Diagnostics) -> u64 {
    names(e, out);
    scheme(e, e.own_variant(), out);
    order(e, out);
    acks(e, out);
    transport(e, out);
    memory(e, out);
    signals(e, e.own_variant(), out);
    refresh(e, out);
    faults(e, e.own_variant(), out);
    let late = traffic(e, e.routes(), out);
    references(e, out);
    late
}

/// Names go into tables on terminals and into CSV files.
pub(crate) fn names(e: &Experiment, out: &mut Diagnostics) {
    let mut check = |what: &str, name: &str, at: Option<Span>| {
        let Some(label) = unfit_name(name) else { return };
        let error = Diagnostic::error(format!("`{name}` cannot be the name of a {what}"));
        out.push_of_name(error.maybe_at(at, label).help(NAME_RULE));
    };
    let s = &e.scenario;
    // where classes are written; looked up only when one of them is wrong
    let places: LazyCell<BTreeMap<String, Span>, _> = LazyCell::new(|| {
        let tables = s.traffic.iter().rev();
        let named = tables.filter_map(|t| t.args.iter().find(|a| a.name == "class"));
        named.map(|arg| (arg.joined(), arg.span)).collect()
    });
    for class in e.classes().iter().filter(|class| unfit_name(class).is_some()) {
        check("class", class, places.get(class).copied());
    }
    for node in e.topology.nodes() {
        check("node", &node.name, s.topology.as_ref().and_then(TopologySpec::at));
    }
    for path in &s.paths {
        check("path", &path.name.value, path.name.span);
    }
    for reference in &s.references {
        let names = [&reference.scheme, &reference.variant, &reference.against];
        for name in names.into_iter().flatten().chain([&reference.source]) {
            check("text of a `[[reference]]`", name, reference.at[0]);
        }
    }
}

fn link_name(e: &Experiment, link: LinkId) -> String {
    let link = e.topology.link(link);
    format!("{}-{}", e.topology.name(link.a.0), e.topology.name(link.b.0))
}

/// The limits of egress queues against the largest frame.
fn egress(e: &Experiment, out: &mut Diagnostics) {
    let (spec, frame) = (&e.scenario.switch, e.scenario.nic.config.max_frame());
    let bounds = [spec.config.longest_egress(), spec.config.shortest_egress()];
    let Some(longest) = bounds.into_iter().flatten().min() else { return };
    if longest < frame {
        let error = Diagnostic::error("an egress queue is too small for a full frame");
        let label = format!("a queue holds at most {longest}, a frame is {frame}");
        out.push(error.maybe_at(spec.egress_at, label));
    }
}

/// Thresholds against links and memory.
pub(crate) fn memory(e: &Experiment, out: &mut Diagnostics) {
    egress(e, out);
    pool(e, out);
    let spec = &e.scenario.switch;
    let Some(need) = headroom_need(e) else { return };
    let frame = Hop::of(&spec.config, &e.scenario.nic.config).stored();
    let ports = e.topology.switches().map(|n| e.topology.ports(n).len()).max().unwrap_or(0) as u64;
    let lossless = spec.config.lossless.len() as u64;
    match spec.config.thresholds {
        ThresholdConfig::Pool => {}
        ThresholdConfig::PerSpeed { .. } => per_speed_buffer(e, out),
        ThresholdConfig::Static { xoff, limit, .. } => {
            let needed = xoff.saturating_add(frame).saturating_add(need.bytes);
            let needed = needed.saturating_sub(Bytes::new(1));
            match limit {
                IngressLimit::Bytes(given) if given < needed => {
                    let link = link_name(e, need.link);
                    let label = format!("{given} leaves {}", given.saturating_sub(xoff));
                    let warning = Diagnostic::warning("the headroom is too small to be lossless")
                        .maybe_at(spec.headroom_at, format!("{label} above xoff"))
                        .help(format!(
                            "link {link} needs {} of headroom: `limit` of at least {needed}",
                            need.bytes
                        ));
                    out.push(warning.help("`limit = \"lossless\"` computes it for every link"));
                }
                IngressLimit::Lossless if xoff <= spec.config.buffer => {
                    let all =
                        Bytes::new(needed.get().saturating_mul(ports).saturating_mul(lossless));
                    static_buffer(e, all, out);
                }
                _ => {}
            }
        }
        ThresholdConfig::Dynamic { headroom: given, .. } => {
            // The packet that crosses the threshold is stored in headroom, too.
            let needed = need.bytes.saturating_add(frame);
            if let Some(given) = given.filter(|given| *given < needed) {
                let label = format!("{given} per port and lossless priority");
                let warning = Diagnostic::warning("the headroom is too small to be lossless")
                    .maybe_at(spec.headroom_at, label);
                let link = link_name(e, need.link);
                out.push(warning.help(format!(
                    "link {link} needs {needed}; `headroom = \"auto\"` computes it for every link"
                )));
            }
            if let Some(pool) = spec.config.headroom_pool.filter(|pool| *pool < needed) {
                let title = "the headroom pool is too small for a single link";
                let warning = Diagnostic::warning(title).maybe_at(spec.threshold_at, "");
                let link = link_name(e, need.link);
                out.push(warning.help(format!("link {link} needs {needed}, the pool is {pool}")));
            }
            dynamic_buffer(e, out);
        }
    }
}

/// Dynamic thresholds share what headroom and reserve leave of the memory: something, at every
/// switch.
fn dynamic_buffer(e: &Experiment, out: &mut Diagnostics) {
    let spec = &e.scenario.switch;
    let config = e.config(e.own_variant());
    let thresholds = SwitchThresholds::new(&e.topology, &config);
    let set_aside = |switch| (thresholds.promised(switch), e.topology.ports(switch).len());
    let Some((all, ports)) = e.topology.switches().map(set_aside).max() else { return };
    if all >= spec.config.buffer {
        let title = "headroom and reserve use the whole buffer; no shared memory is left";
        let label = format!("{all} of {} with {ports} ports", spec.config.buffer);
        out.push(
            Diagnostic::error(title)
                .maybe_at(spec.buffer_at, label)
                .help(format!("a buffer must be larger than {all} here")),
        );
    }
}

/// Thresholds by port speed promise each ingress what it needs.
fn per_speed_buffer(e: &Experiment, out: &mut Diagnostics) {
    let spec = &e.scenario.switch;
    if spec.config.buffer == Bytes::MAX {
        return;
    }
    let config = e.config(e.own_variant());
    let thresholds = SwitchThresholds::new(&e.topology, &config);
    let lossless = spec.config.lossless.len() as u64;
    // all that the ingresses of a switch may hold, and the highest pause threshold
    let of_switch = |n: NodeId| -> (Bytes, Bytes) {
        let (mut all, mut highest) = (0u64, Bytes::ZERO);
        for l in e.topology.ports(n).iter().map(|end| e.topology.link(end.link)) {
            let ThresholdConfig::Static { xoff, .. } = thresholds.at(l.rate) else { continue };
            let limit = thresholds.paused_limit(xoff, l.rate, l.delay).get();
            all = all.saturating_add(limit.saturating_mul(lossless));
            highest = highest.max(xoff);
        }
        (Bytes::new(all), highest)
    };
    let each = || e.topology.switches().map(of_switch);
    let (Some(all), Some(xoff)) = (each().map(|s| s.0).max(), each().map(|s| s.1).max()) else {
        return;
    };
    if xoff > spec.config.buffer {
        let label = format!("an ingress pauses at {xoff}");
        let error = Diagnostic::error("the pause threshold is above the buffer")
            .maybe_at(spec.buffer_at, label);
        out.push(error.help("write `thresholds = { xoff = .., xon = .. }` in `[switch]`"));
        return;
    }
    static_buffer(e, all, out);
}

/// Static thresholds promise each ingress its limit; a finite memory may not hold all of them.
fn static_buffer(e: &Experiment, all: Bytes, out: &mut Diagnostics) {
    let spec = &e.scenario.switch;
    if spec.config.buffer < all {
        let warning = Diagnostic::warning("the buffer can overflow before every ingress pauses")
            .maybe_at(spec.buffer_at, format!("all limits of a switch add up to {all}"));
        out.push(warning.help(format!(
            "set the buffer to {all}, or lower xoff; packets that do not fit are lost"
        )));
    }
}

/// How many flows of each pattern are looked at.
const SAMPLE: usize = 20_000;

/// Traffic against routes and capacities; returns how many flows start only after the end of the
/// run.
pub(crate) fn traffic(e: &Experiment, routes: &Routes, out: &mut Diagnostics) -> u64 {
    if out.has_errors() {
        return 0;
    }
    let forever = e.scenario.run.stop == Stop::Drained;
    if forever && e.traffic.endless() {
        let endless = |i: &usize| e.traffic.endless_alone(*i);
        let spec = (0..e.scenario.traffic.len()).find(endless).map(|i| &e.scenario.traffic[i]);
        let at = e.scenario.run.stop_at.or_else(|| spec.and_then(|s| s.at));
        let error = Diagnostic::error("the traffic never ends, so the run would never end")
            .maybe_at(at, "");
        out.push(error.help("add `until = \"10ms\"` or `traffic-until = \"10ms\"` to `[run]`"));
        return 0;
    }
    let mut hosts = vec![0u128; e.topology.nodes().len()];
    let mut load = vec![0.0; e.topology.port_count()];
    let mut seen = vec![0u64; e.topology.port_count()];
    let offered = e.traffic.offered();
    let mut protection = priorities::Protection::default();
    let (mut longest, mut late) = (0, 0);
    for (i, spec) in e.scenario.traffic.iter().enumerate() {
        let sample = sample(e, i);
        if forever && sample.iter().any(|f| f.size == Bytes::MAX && f.stop.is_none()) {
            let error = Diagnostic::error("a flow without an end keeps the run from draining")
                .maybe_at(spec.place("size"), "");
            out.push(error.help("add `until = \"10ms\"` to `[run]`, or `stop` to the traffic"));
        }
        // the sample shows the pattern at rare arrivals, too; some of these flows never start
        let until = e.traffic.until();
        let starts = |f: &&FlowSpec| f.start < until || until == Time::NEVER;
        let starting: Vec<FlowSpec> = sample.iter().filter(starts).copied().collect();
        if until != Time::NEVER {
            late += starts::late(e, i, spec, &sample, out);
        }
        out_of_range(e, spec, &starting, out);
        beyond_the_clock(e, spec, &starting, &mut hosts, out);
        protection.add(e, spec, &sample, out);
        let bits = offered.iter().find(|(at, _)| *at == i).map(|(_, o)| o.bits_per_second);
        let share = bits.unwrap_or(0.0) / sample.len().max(1) as f64;
        for flow in &sample {
            let pinned = flow.path.and_then(|p| e.paths.get(p as usize));
            let path = match pinned {
                Some(path) => validate_path(&e.topology, &path.nodes).ok(),
                None => routes.path(&e.topology, flow.src, flow.dst, flow.id.hash64()),
            };
            let Some(path) = path else {
                let [src, dst] = [flow.src, flow.dst].map(|n| e.topology.name(n));
                let title = format!("there is no path from `{src}` to `{dst}`");
                let error = Diagnostic::error(title).maybe_at(spec.place("to"), "");
                out.push(error.help("connect them in the topology, or remove the pair"));
                break;
            };
            longest = longest.max(path.len() - 1);
            for (node, port) in path {
                let at = e.topology.port_index(node, port);
                load[at] += share;
                seen[at] += 1;
            }
        }
    }
    overloaded(e, &load, &seen, out);
    protection.finish(e, out);
    telemetry(e, e.scenario.congestion_control.algorithm.value, longest, out);
    late
}

/// Flows that the model cannot count or the clock cannot hold.
fn out_of_range(e: &Experiment, spec: &TrafficSpec, flows: &[FlowSpec], out: &mut Diagnostics) {
    let payload = e.scenario.nic.config.payload.get().max(1);
    let most = Bytes::new(payload.saturating_mul(u64::from(u32::MAX)));
    if let Some(flow) = flows.iter().find(|f| f.size != Bytes::MAX && f.size > most) {
        let place = if spec.place("size") == spec.at { "duration" } else { "size" };
        let title = format!("a flow of {} is too large", flow.size);
        let error = Diagnostic::error(title).maybe_at(spec.place(place), "");
        out.push(error.help(format!("a flow has at most 4294967295 packets, {most} here")));
    }
    // the largest number that can be written stands for never, and patterns draw no such flow
    let is_never = |text: &String| text.parse() == Ok(Time::NEVER);
    let never = || spec.args.iter().filter(|a| a.name == "start").map(Arg::joined).find(is_never);
    let late = flows.iter().map(|f| f.start).find(|start| *start >= HORIZON);
    if let Some(start) = late.map(|start| start.to_string()).or_else(never) {
        let title = format!("a flow starts at {start}, which is too late");
        let error = Diagnostic::error(title).maybe_at(spec.place("start"), "");
        out.push(error.help(format!("a run simulates at most {HORIZON}")));
    }
}

/// Flows that a run until all are done cannot finish: their bytes alone take the links of their
/// hosts longer than the clock goes. `hosts` is how long the links of each host are busy at least
/// with the flows so far, in picoseconds.
fn beyond_the_clock(
    e: &Experiment,
    spec: &TrafficSpec,
    flows: &[FlowSpec],
    hosts: &mut [u128],
    out: &mut Diagnostics,
) {
    if e.scenario.run.stop != Stop::Drained {
        return;
    }
    let clock = u128::from(HORIZON.as_ps());
    for flow in flows.iter().filter(|f| f.size != Bytes::MAX && f.stop.is_none()) {
        for host in [flow.src, flow.dst] {
            let ports = 0..e.topology.ports(host).len();
            let rates =
                ports.map(|p| u128::from(e.topology.rate(host, PortId::from_index(p)).as_bps()));
            let takes =
                u128::from(flow.size.get()) * 8_000_000_000_000 / rates.sum::<u128>().max(1);
            let busy = &mut hosts[host.index()];
            *busy += takes;
            let (begins, name) = (u128::from(flow.start.as_ps()), e.topology.name(host));
            let title = if begins + takes > clock {
                format!(
                    "a flow of {} cannot finish within {HORIZON}, the longest time that can be \
                     simulated",
                    flow.size
                )
            } else if *busy > clock {
                format!(
                    "the flows of `{name}` cannot finish within {HORIZON}, the longest time that \
                     can be simulated"
                )
            } else {
                continue;
            };
            let seconds = takes.max(*busy) / 1_000_000_000_000;
            let label = format!("the link of `{name}` alone takes {seconds} s");
            let error = Diagnostic::error(title).maybe_at(spec.place("size"), label);
            out.push(error.help("make flows smaller or links faster, or set `until` in `[run]`"));
            return;
        }
    }
}

/// What the congestion control of a run lacks, when it is not that of the scenario.
pub(crate) fn chosen_cc(e: &Experiment, variant: Variant) -> Diagnostics {
    let mut out = Diagnostics::default();
    if variant.cc == e.scenario.congestion_control.algorithm.value {
        return out;
    }
    signals(e, variant, &mut out);
    let flows = (0..e.scenario.traffic.len()).flat_map(|i| sample(e, i));
    let path = |f: FlowSpec| match f.path.and_then(|p| e.paths.get(p as usize)) {
        Some(path) => path.nodes.len().checked_sub(2),
        None => Some(e.routes().path(&e.topology, f.src, f.dst, f.id.hash64())?.len() - 1),
    };
    telemetry(e, variant.cc, flows.filter_map(path).max().unwrap_or(0), &mut out);
    out
}

/// The first flows of pattern `i`, as many from every host.
fn sample(e: &Experiment, i: usize) -> Vec<FlowSpec> {
    let each = SAMPLE.div_ceil(e.topology.hosts().len());
    let hosts = e.traffic.sources_of(i, e.scenario.run.seeds[0]).into_iter();
    hosts.flat_map(|host| host.take(each)).collect()
}

/// Warns about the link with the greatest steady load beyond its capacity, if that is certain:
/// what was counted on n flows is off by a share of 1/sqrt(n), and is given four times that.
fn overloaded(e: &Experiment, load: &[f64], seen: &[u64], out: &mut Diagnostics) {
    let nic = &e.scenario.nic.config;
    let wire = (nic.max_frame() + e.scenario.link.overhead).get() as f64 / nic.payload.get() as f64;
    let mut worst: Option<(f64, NodeId, PortId)> = None;
    for (n, _) in e.topology.nodes().iter().enumerate() {
        let node = NodeId::from_index(n);
        for p in 0..e.topology.ports(node).len() {
            let port = PortId::from_index(p);
            let at = e.topology.port_index(node, port);
            let capacity = e.topology.rate(node, port).as_bps() as f64;
            let doubt = 4.0 / libm::sqrt(seen[at].max(1) as f64);
            let ratio = load[at] * wire / capacity;
            if ratio * (1.0 - doubt) > 1.0 && worst.is_none_or(|(r, ..)| ratio > r) {
                worst = Some((ratio, node, port));
            }
        }
    }
    let Some((ratio, node, port)) = worst else { return };
    let steady = e.traffic.offered();
    let at = steady.first().and_then(|(i, _)| e.scenario.traffic[*i].place("load"));
    let (from, to) = (e.topology.name(node), e.topology.name(e.topology.port(node, port).peer));
    let percent = ratio * 100.0;
    let title = format!("the traffic offers {percent:.0} % of what link {from}-{to} can carry");
    let warning = Diagnostic::warning(title).maybe_at(at, "");
    out.push(
        warning.help(
            "queues grow as long as the traffic lasts: lower the load unless this is intended",
        ),
    );
}

/// Published numbers that are about classes this scenario does not have.
pub(crate) fn references(e: &Experiment, out: &mut Diagnostics) {
    let [classes, ranges, labels]: [Vec<&str>; 3] = [
        e.classes().iter().map(String::as_str).collect(),
        e.scenario.report.sizes.iter().map(|r| r.label.as_str()).collect(),
        e.scenario.variants.iter().map(|v| v.label.as_str()).collect(),
    ];
    let wrong = |title: String, name: &str, at, known: &[&str], what: &str| {
        let near = weir_net::nearest(name, known.iter().copied());
        let error = Diagnostic::error(title).maybe_at(at, "").nearest(near);
        error.help(match known.is_empty() {
            true => format!("there are no {what}"),
            false => format!("the {what} are {}", known.join(", ")),
        })
    };
    for r in &e.scenario.references {
        if let Some(class) = r.class.as_deref().filter(|c| !classes.contains(c)) {
            let title = format!("no traffic has the class `{class}`");
            out.push(wrong(title, class, r.at[0], &classes, "classes"));
        }
        if let Some(sizes) = r.sizes.as_deref().filter(|s| !ranges.contains(s)) {
            let title = format!("`[report]` has no range `{sizes}`");
            out.push(wrong(title, sizes, r.at[1], &ranges, "ranges"));
        }
        // rows may also come from the command line, and be schemes
        for (label, at) in [(&r.variant, r.at[2]), (&r.against, r.at[3])] {
            let titles = || weir_fc::SCHEMES.iter().map(|s| s.title);
            let known = |l: &str| labels.contains(&l) || titles().any(|t| t == l);
            if let Some(label) = label.as_deref().filter(|l| !labels.is_empty() && !known(l)) {
                let title = format!("this scenario has no variant `{label}`");
                let mut warning = wrong(title, label, at, &labels, "variants");
                warning.severity = Severity::Warning;
                out.push(warning);
            }
        }
    }
}
