//! Whether the memory that lossless priorities are promised is there when they need it.

use super::{headroom_need, link_name};
use crate::experiment::{Experiment, Variant};
use crate::text::{Diagnostic, Diagnostics};
use weir_core::{Bytes, Response};
use weir_fc::{IngressBound, StageLimits};
use weir_sim::config::{Hop, IngressLimit, ThresholdConfig, headroom};
use weir_sim::thresholds::SwitchThresholds;

/// Whether the scheme of a run pauses, or slows down, what comes in by an ingress.
fn pauses(e: &Experiment, variant: Variant) -> bool {
    let scheme = e.scenario.flow_control.with(variant.scheme);
    scheme.info.lossless && (scheme.info.ingress_bound)(&scheme.values) != IngressBound::Memory
}

/// A switch of a pool: an ingress must be able to hold more than its pause threshold and what
/// arrives after it.
pub(crate) fn pool(e: &Experiment, out: &mut Diagnostics) {
    let (s, spec) = (&e.scenario, &e.scenario.switch);
    let limits = spec.config.pipeline.map(|p| p.limits);
    let Some(StageLimits::Shared(limits)) = limits.filter(|_| pauses(e, e.own_variant())) else {
        return;
    };
    let shares = [limits.queue, limits.port, limits.ingress, limits.pool];
    let most = limits.dedicated.saturating_add(shares.into_iter().min().unwrap_or_default());
    let frame = s.nic.config.max_frame();
    let config = e.config(e.own_variant());
    let thresholds = SwitchThresholds::new(&e.topology, &config);
    let of_link = |link: &weir_net::Link| -> Option<(Bytes, Bytes, Bytes)> {
        let ThresholdConfig::Static { xoff, limit, .. } = thresholds.at(link.rate) else {
            return None;
        };
        let lossless = thresholds.lossless_limit(xoff, link.rate, link.delay)?;
        let needed = match limit {
            // it is told elsewhere when this is too little
            IngressLimit::Bytes(limit) => limit,
            _ => lossless,
        };
        (needed > most).then_some((needed, xoff, lossless.saturating_sub(xoff)))
    };
    let links = e.topology.switches().flat_map(|n| e.topology.ports(n)).map(|end| end.link);
    let worst = links.filter_map(|id| of_link(e.topology.link(id)).map(|need| (need, id)));
    let Some(((needed, xoff, above), link)) = worst.max_by_key(|(need, _)| *need) else { return };
    let title = match most < xoff {
        true => "an ingress is full before it pauses",
        false => "the headroom of an ingress does not fit into its share of the pool",
    };
    let label = format!("an ingress may hold {most}: `dedicated`, and its part of the pool");
    let link = link_name(e, link);
    let warning = Diagnostic::warning(title).maybe_at(spec.egress_at, label).help(format!(
        "link {link} pauses at {xoff} and needs {needed}; packets that do not fit are lost"
    ));
    out.push(match most.get().checked_sub(above.get()).filter(|b| *b > frame.get()) {
        Some(lower) => warning.help(format!(
            "write `thresholds = {{ xoff = \"{lower}B\" }}` or less, or raise `queue` and `port`"
        )),
        None => warning.help("raise `queue`, `port` and `total`"),
    });
}

/// Traffic that is not lossless takes what is free, and so what lossless priorities were promised.
/// `classes` are the names of its classes.
pub(crate) fn lossy(e: &Experiment, classes: &[String], out: &mut Diagnostics) {
    let spec = &e.scenario.switch;
    let (buffer, pooled) = (spec.config.buffer, spec.config.thresholds == ThresholdConfig::Pool);
    if classes.is_empty() || buffer == Bytes::MAX || pooled || !pauses(e, e.own_variant()) {
        return;
    }
    let config = e.config(e.own_variant());
    let thresholds = SwitchThresholds::new(&e.topology, &config);
    let promised = e.topology.switches().map(|switch| thresholds.promised(switch)).max();
    let Some(promised) = promised else { return };
    let pool = spec.config.egress.and_then(|egress| egress.share).map(|share| share.pool);
    let frame = e.scenario.nic.config.max_frame();
    if pool.is_some_and(|pool| pool.saturating_add(frame) <= buffer.saturating_sub(promised)) {
        return;
    }
    let names: Vec<String> = classes.iter().map(|c| format!("`{c}`")).collect();
    let (names, verb) = (names.join(", "), if names.len() == 1 { "takes" } else { "take" });
    let title = format!("{names} {verb} memory that lossless priorities are promised");
    let warning = Diagnostic::warning(title)
        .maybe_at(spec.buffer_at, format!("lossless priorities need {promised} of it"));
    let limit = match pool {
        Some(pool) => format!("`pool` of `egress` lets it take {pool}"),
        None => "nothing limits it to that".to_owned(),
    };
    let rest = match buffer.saturating_sub(promised) {
        Bytes::ZERO => format!("a buffer larger than {promised} leaves it the rest"),
        rest => format!("it can take {rest} at a time without harm"),
    };
    out.push(
        warning.help(format!(
            "{rest}, but {limit}: when the buffer is full, lossless packets are lost"
        )),
    );
}

/// Headroom that leaves out how long a neighbour takes to stop.
pub(crate) fn response(e: &Experiment, variant: Variant, out: &mut Diagnostics) {
    let s = &e.scenario;
    if s.link.response != Response::NONE || !pauses(e, variant) {
        return;
    }
    let Some(need) = headroom_need(e) else { return };
    let link = e.topology.link(need.link);
    let latency = s.switch.config.latency;
    let standard = weir_sim::config::LinkConfig { response: Response::Standard, ..s.link };
    let hop = Hop::of(&s.switch.config, &s.nic.config);
    let with = headroom(link.rate, link.delay, &hop, &standard);
    let warning =
        Diagnostic::warning("the headroom assumes that neighbours stop at once").help(format!(
            "`response` in `[link]` is 0; the standard allows {} at {}: with `response = \
             \"{}\"` link {} needs {with} instead of {}",
            Response::Standard.at(link.rate),
            link.rate,
            Response::STANDARD,
            link_name(e, need.link),
            need.bytes
        ));
    let none = latency == weir_core::Time::ZERO && s.switch.config.pipeline.is_none();
    out.push(match none {
        true => warning.help("`latency` in `[switch]`, which adds to the headroom, is 0, too"),
        false => warning,
    });
}
