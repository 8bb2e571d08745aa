//! Whether flow control protects the traffic there is.

use crate::TrafficSpec;
use crate::experiment::Experiment;
use crate::text::{Diagnostic, Diagnostics};
use weir_core::Priority;
use weir_traffic::FlowSpec;

/// The priority of ACKs: they are never paused, so nothing that is lossless may share it. (Those
/// that travel in the class of their data are paused with it.)
pub(crate) fn acks(e: &Experiment, out: &mut Diagnostics) {
    let (switch, nic) = (&e.scenario.switch, &e.scenario.nic);
    let acks = nic.config.ack_priority;
    if nic.config.acks_with_data || !switch.config.lossless.contains(acks) {
        return;
    }
    let title = format!("priority {acks} cannot be lossless: it is the priority of ACKs");
    let error = Diagnostic::error(title)
        .maybe_at(nic.ack_priority_at.or(switch.lossless_at), "")
        .help("ACKs are never paused or dropped, nor is data with their priority");
    let free = Priority::ALL.into_iter().rev().find(|p| !switch.config.lossless.contains(*p));
    out.push(match free {
        Some(free) => error.help(format!("write `ack-priority = {free}` in `[nic]`")),
        None => error.help("remove one priority from `lossless` in `[switch]`"),
    });
}

/// Counts what is lossless and what is not, pattern by pattern.
#[derive(Default)]
pub(crate) struct Protection {
    lossless: usize,
    others: usize,
    /// Patterns none of whose flows is lossless.
    unprotected: Vec<Diagnostic>,
    /// Classes with flows that are not lossless.
    lossy: Vec<String>,
}

impl Protection {
    /// Looks at the flows of one pattern.
    pub(crate) fn add(
        &mut self,
        e: &Experiment,
        spec: &TrafficSpec,
        flows: &[FlowSpec],
        out: &mut Diagnostics,
    ) {
        let protected = e.scenario.switch.config.lossless;
        let acks = e.scenario.nic.config.ack_priority;
        let own = !e.scenario.nic.config.acks_with_data;
        if own && flows.iter().any(|f| f.priority == acks) {
            let title = format!("traffic of priority {acks} is never paused or dropped");
            let warning =
                Diagnostic::warning(title).maybe_at(spec.place("priority"), "the priority of ACKs");
            out.push(warning.help("give it another priority, or set `ack-priority` in `[nic]`"));
        }
        let is_lossless = |f: &&FlowSpec| protected.contains(f.priority);
        let lossless = flows.iter().filter(is_lossless).count();
        self.lossless += lossless;
        self.others += flows.len() - lossless;
        // packets of the priority of ACKs are admitted whatever is stored
        for flow in flows.iter().filter(|f| !(is_lossless(f) || own && f.priority == acks)) {
            let class = &e.classes()[flow.class.index()];
            if !self.lossy.contains(class) {
                self.lossy.push(class.clone());
            }
        }
        if lossless < flows.len() && e.scenario.flow_control.scheme.value.lossless {
            let mut found: Vec<u8> =
                flows.iter().filter(|f| !is_lossless(f)).map(|f| f.priority.get()).collect();
            found.sort_unstable();
            found.dedup();
            let found: Vec<String> = found.iter().map(u8::to_string).collect();
            let help = "`lossless` in `[switch]` lists what flow control protects";
            let priorities = found.join(", ");
            if lossless > 0 {
                let title = format!("some flows are not lossless: priority {priorities}");
                let warning = Diagnostic::warning(title).maybe_at(spec.place("file"), "");
                out.push(warning.help(help));
            } else {
                let class = &e.classes()[flows[0].class.index()];
                let title = format!("class `{class}` is not lossless: priority {priorities}");
                let warning = Diagnostic::warning(title).maybe_at(spec.place("priority"), "");
                self.unprotected.push(warning.help(help));
            }
        }
    }

    /// Warns when nothing is protected although the scheme would.
    pub(crate) fn finish(self, e: &Experiment, out: &mut Diagnostics) {
        let scheme = e.scenario.flow_control.scheme.value;
        if !scheme.lossless || self.others == 0 {
            return;
        }
        if self.lossless > 0 {
            super::room::lossy(e, &self.lossy, out);
            self.unprotected.into_iter().for_each(|warning| out.push(warning));
            return;
        }
        let at = e.scenario.switch.lossless_at;
        let at = at.or_else(|| e.scenario.traffic.iter().find_map(|t| t.place("priority")));
        let title = format!("no traffic is lossless: {} has nothing to protect", scheme.title);
        let warning = Diagnostic::warning(title).maybe_at(at, "");
        out.push(warning.help("`lossless` in `[switch]` lists the priorities it protects"));
    }
}
