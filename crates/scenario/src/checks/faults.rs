//! Faults of control frames that can never act.

use crate::experiment::{Experiment, Variant};
use crate::fields::At;
use crate::text::{Diagnostic, Diagnostics, Span};
use weir_fc::Senders;
use weir_sim::config::{FaultPick, MessageKind, Stop};

/// Warns of faults that can never act in a run of `variant`.
pub(crate) fn faults(e: &Experiment, variant: Variant, out: &mut Diagnostics) {
    let s = &e.scenario;
    if s.faults.is_empty() || out.has_errors() {
        return;
    }
    let config = e.config(variant);
    let mut warn = |at: Option<Span>, why: String| {
        let warning = Diagnostic::warning("this fault can never act").maybe_at(at, why);
        out.push(warning);
    };
    let scheme = config.scheme.info;
    for fault in &s.faults {
        let is_host =
            |name: &At<String>| e.topology.find(&name.value).is_ok_and(|n| e.topology.is_host(n));
        // a slow receiver pauses its switch
        let is_slow = |name: &At<String>| {
            let node = e.topology.find(&name.value);
            node.is_ok_and(|n| e.receivers.iter().any(|r| r.host == n))
        };
        let from_host = match (&fault.ends, &fault.towards) {
            (Some(ends), Some(to)) => {
                ends.iter().any(|end| end.value != to.value && is_host(end) && !is_slow(end))
            }
            _ => false,
        };
        let chosen = variant.scheme.name != s.flow_control.scheme.value.name;
        if matches!(fault.which, FaultPick::Share(share) if share.as_f64() == 0.0) {
            warn(fault.at, "its share of the frames is 0".into());
        } else if scheme.senders == Senders::Nobody
            && e.receivers.is_empty()
            && (chosen || s.variants.is_empty())
        {
            warn(fault.at, "no flow control, so no control frames".into());
        } else if from_host && scheme.senders == Senders::Switches {
            let at = fault.towards.as_ref().and_then(|to| to.span);
            warn(at, format!("under {} hosts send no control frames", scheme.title));
        } else if let Stop::At(end) = config.stop
            && fault.from.value >= end
        {
            warn(fault.from.span.or(fault.at), format!("the run ends at {end}"));
        } else if fault.message.value == MessageKind::Report
            && scheme.senders != Senders::Nobody
            && !(scheme.reports)(&config.scheme.values)
        {
            warn(fault.message.span, format!("{} sends no reports as it is set", scheme.title));
        }
    }
}
