//! Whether a congestion control can get what it reacts to.

use crate::experiment::{Experiment, Variant};
use crate::text::{Diagnostic, Diagnostics, Span};
use weir_cc::tcp::EcnMode;
use weir_cc::{CcKind, MAX_HOPS, Needs};
use weir_core::{Bytes, NodeId};
use weir_fc::IngressBound;
use weir_sim::config::{Config, Reliability};
use weir_sim::thresholds::SwitchThresholds;

/// Marks and room to slow down, for the algorithm of a run.
pub(crate) fn signals(e: &Experiment, variant: Variant, out: &mut Diagnostics) {
    let s = &e.scenario;
    let cc = variant.cc;
    let is_tcp = s.nic.config.reliability == Reliability::Tcp;
    if cc.needs() == Needs::NOTHING && !is_tcp || out.has_errors() {
        return;
    }
    let config = e.config(variant);
    let at = if is_tcp { s.tcp.at } else { place(e, cc) };
    let name = if is_tcp { "TCP" } else { cc.name() };
    if !s.traffic.is_empty() && s.traffic.iter().all(|t| t.entry.name == "constant") {
        let title = format!("`{name}` has nothing to control");
        let warning = Diagnostic::warning(title).maybe_at(at, "");
        out.push(
            warning.help(
                "constant-rate sources do not react to congestion control: use another pattern",
            ),
        );
    }
    let is_dctcp = is_tcp && config.tcp.ecn == EcnMode::Dctcp;
    if cc.needs().marks || is_dctcp {
        marks(e, name, at, &config, out);
    }
    let slowest = e.topology.hosts().iter().map(|&h| e.topology.rate(h, weir_core::PortId(0)));
    if let (Some(least), Some(line)) = (config.cc.min_rate(), slowest.min())
        && least >= line
    {
        let title = format!("`{}` cannot slow down: its min-rate is {least}", cc.name());
        let warning = Diagnostic::warning(title).maybe_at(at, "");
        let tenth = weir_core::Rate::from_bps((line.as_bps() / 100).max(1));
        out.push(warning.help(format!(
            "the rate of NICs is {line}: write `min-rate = \"{}bps\"`, for example",
            tenth.as_bps()
        )));
    }
}

/// TCP is its own congestion control.
pub(crate) fn transport(e: &Experiment, out: &mut Diagnostics) {
    let algorithm = &e.scenario.congestion_control.algorithm;
    if let Err(error) = e.check_cc(algorithm.value) {
        out.push(error.maybe_at(algorithm.span, ""));
    }
}

/// HPCC learns nothing from paths that are longer than its records: `switches` is the most on a
/// path.
pub(crate) fn telemetry(e: &Experiment, cc: CcKind, switches: usize, out: &mut Diagnostics) {
    if !cc.needs().telemetry || switches <= MAX_HOPS {
        return;
    }
    let title = format!(
        "`{}` receives no telemetry on paths with more than {MAX_HOPS} switches",
        cc.name()
    );
    let warning =
        Diagnostic::warning(title).maybe_at(place(e, cc), format!("some paths have {switches}"));
    out.push(warning.help("flows on such paths stay at line rate"));
}

/// Where the scenario names the algorithm, unless it was chosen elsewhere.
fn place(e: &Experiment, cc: CcKind) -> Option<Span> {
    let algorithm = &e.scenario.congestion_control.algorithm;
    algorithm.span.filter(|_| algorithm.value == cc)
}

/// Whether any queue can become long enough to be marked, and whether that comes before a pause.
fn marks(e: &Experiment, name: &str, at: Option<Span>, config: &Config, out: &mut Diagnostics) {
    let s = &e.scenario;
    if config.switch.ecn.is_none() {
        let warning =
            Diagnostic::warning(format!("`{name}` cannot receive ECN marks: no switch marks"))
                .maybe_at(s.switch.ecn_at.or(at), "");
        out.push(warning.help("write `ecn = \"auto\"` in `[switch]`, or omit `ecn`"));
        return;
    }
    let thresholds = SwitchThresholds::new(&e.topology, config);
    let mut reachable = false;
    let mut first_late: Option<(Bytes, Bytes)> = None;
    for switch in e.topology.switches() {
        let most = longest_queue(e, config, &thresholds, switch);
        // a pipelined switch counts ingress FIFOs: egress queues are not what it pauses for
        let pause = thresholds.pause(switch).filter(|_| config.switch.pipeline.is_none());
        for ecn in thresholds.marking(switch).into_iter().flatten() {
            reachable |= ecn.kmin < most;
            if let Some(pause) = pause.filter(|&p| p <= ecn.kmin) {
                first_late.get_or_insert((ecn.kmin, pause));
            }
        }
    }
    if !reachable {
        let title = format!("`{name}` cannot receive ECN marks: no queue can grow beyond kmin");
        let warning = Diagnostic::warning(title).maybe_at(s.switch.ecn_at.or(at), "");
        out.push(warning.help("lower kmin, or raise the pause thresholds or the buffer"));
    } else if let (Some((kmin, pause)), true) = (first_late, config.scheme.info.lossless) {
        let title = "pauses begin before ECN marking";
        let label = format!("marking starts at {kmin}, pausing at {pause}");
        let warning = Diagnostic::warning(title).maybe_at(s.switch.ecn_at.or(at), label);
        out.push(warning.help("`ecn = \"auto\"` marks before an ingress pauses"));
    }
}

/// A bound on the egress queues of a switch: what the other ports may hold, or the limit of a
/// pipelined switch.
fn longest_queue(
    e: &Experiment,
    config: &Config,
    thresholds: &SwitchThresholds<'_>,
    switch: NodeId,
) -> Bytes {
    let buffer = config.switch.buffer;
    if let Some(longest) = config.switch.longest_egress() {
        return longest.min(buffer);
    }
    let bound = (config.scheme.info.ingress_bound)(&config.scheme.values);
    if bound == IngressBound::Memory || !config.scheme.info.lossless {
        return buffer;
    }
    let links = e.topology.ports(switch).iter().map(|end| e.topology.link(end.link));
    // what comes in by all ports but one goes out by that one; some have no bound of their own
    let mut bounds: Vec<u64> = links.map(|link| thresholds.most(link).get()).collect();
    bounds.sort_unstable();
    let all_but_least = bounds.iter().skip(1).copied().fold(0, u64::saturating_add);
    let lossless = config.switch.lossless.len() as u64;
    Bytes::new(all_but_least.saturating_mul(lossless)).min(buffer)
}

/// A timed pause must outlast the wait of its refresh: for a frame on the wire in front of it and
/// for its own time. At equal speeds both scale with the link, so the bound is one of quanta.
pub(crate) fn refresh(e: &Experiment, out: &mut Diagnostics) {
    use weir_fc::pfc::{PAUSE_QUANTA, REFRESH, TIMER};
    let s = &e.scenario;
    let scheme = s.flow_control.with(s.flow_control.scheme.value);
    let known = |name: &str| scheme.info.params.iter().any(|p| p.name == name);
    if !known(PAUSE_QUANTA.name) || scheme.values.choice(&TIMER) == Some("sticky") {
        return;
    }
    let Some(quanta) = scheme.values.integer(&PAUSE_QUANTA) else { return };
    let refresh = scheme.values.get(&REFRESH).and_then(|value| match value {
        weir_fc::Value::Time(time) => Some(time),
        _ => None,
    });
    let frame = s.nic.config.max_frame().max(s.nic.config.ack) + s.link.overhead;
    let pause = Bytes::new(weir_core::control::MIN_FRAME) + s.link.overhead;
    let links = e.topology.links().iter();
    let short = links.filter(|l| {
        let lasts = l.rate.time_for(Bytes::new(quanta.saturating_mul(64)));
        let every = refresh.unwrap_or(weir_core::Time::from_ps(lasts.as_ps() / 2));
        every + l.rate.time_for(frame) + l.rate.time_for(pause) > lasts
    });
    let Some(link) = short.max_by_key(|l| std::cmp::Reverse(l.rate)) else { return };
    let (a, b) = (e.topology.name(link.a.0), e.topology.name(link.b.0));
    let lasts = link.rate.time_for(Bytes::new(quanta.saturating_mul(64)));
    let title = format!("a pause of {quanta} quanta ends before its refresh arrives");
    let warning = Diagnostic::warning(title).maybe_at(s.flow_control.scheme.span, "");
    // Half of the pause for the refresh interval, half for the wait.
    let least = (frame + pause).get().div_ceil(32);
    out.push(warning.help(format!(
        "on link {a}-{b} it lasts {lasts}, and a refresh can be delayed by a frame: write \
         `pause-quanta` of at least {least}, or a shorter `refresh`; otherwise packets can be lost"
    )));
}
