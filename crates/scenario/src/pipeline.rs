//! `[switch]` with `model = "pipelined"`: the packet processor and what bounds its queues.

use super::fields::{Fields, Or, short};
use crate::text::{Diagnostic, Span};
use weir_core::Bytes;
use weir_fc::{OnFull, SharedLimits, StageLimits};
use weir_sim::config::{DelayAt, PipelineConfig, ThresholdConfig};

/// What was read, and where the limit of an egress queue was written.
pub(crate) struct Read {
    pub(crate) config: PipelineConfig,
    pub(crate) egress_at: Option<Span>,
}

/// Reads what is about a pipelined switch, if `model` says that it is one.
pub(crate) fn read(f: &mut Fields<'_>) -> Option<Read> {
    let is_pipelined = f.one_of("model", [("shared-memory", false), ("pipelined", true)]).value;
    let pipeline = pipeline(f);
    let shared = shared(f);
    if !is_pipelined {
        for key in ["pipeline", "shared-pool"] {
            if let Some(item) = f.item(key) {
                let title = format!("`{key}` applies to pipelined switches only");
                let error = Diagnostic::error(title).at(item.span, "");
                f.out.push(error.help("add `model = \"pipelined\"` to `[switch]`"));
            }
        }
        return None;
    }
    if let Some(item) = f.item("latency") {
        let error =
            Diagnostic::error("a pipelined switch has `delay` in `[switch.pipeline]` instead");
        let error = error.at(item.span, "the latency of a shared-memory switch");
        f.out.push(error.help("write `pipeline = { delay = \"25us\" }`"));
    }
    let mut read = pipeline;
    if let Some(limits) = shared {
        if let Some(span) = read.egress_at {
            let error = Diagnostic::error("an egress queue has one limit");
            let error = error.at(span, "`shared-pool` already limits egress queues");
            f.out.push(error.help("remove `egress` or `shared-pool`"));
        }
        read.config.limits = StageLimits::Shared(limits);
        read.egress_at = f.item("shared-pool").map(|item| item.span);
    }
    Some(read)
}

/// Ingress thresholds of a pipelined switch do not move.
pub(crate) fn check_thresholds(f: &mut Fields<'_>, thresholds: &ThresholdConfig, at: Option<Span>) {
    if matches!(thresholds, ThresholdConfig::Dynamic { .. }) {
        let error = Diagnostic::error("a pipelined switch has static thresholds");
        let error = error.maybe_at(at, "dynamic thresholds need shared memory");
        f.out.push(error.help("write { xoff = \"50KB\", xon = \"40KB\", limit = \"60KB\" }"));
    }
}

fn pipeline(f: &mut Fields<'_>) -> Read {
    let default = PipelineConfig::default();
    let Some(Or::Is(mut p)) = f.table("pipeline") else {
        return Read { config: default, egress_at: None };
    };
    let delay = p.time("delay");
    short(&mut p, "delay", &delay);
    let egress = p.bytes("egress");
    let config = PipelineConfig {
        rate: p.whole("rate").value,
        delay: delay.value,
        delay_at: p
            .one_of("delay-at", [("before", DelayAt::Before), ("after", DelayAt::After)])
            .value,
        on_full: p.one_of("on-full", [("drop", OnFull::Drop), ("stop", OnFull::Stop)]).value,
        limits: StageLimits::Dedicated { egress: egress.value },
    };
    Read { config, egress_at: egress.span }
}

fn shared(f: &mut Fields<'_>) -> Option<SharedLimits> {
    let Or::Is(mut s) = f.table("shared-pool")? else { return None };
    let total = s.bytes("total").value;
    let mut side = |name| s.optional_bytes(name).map_or(total, |b| b.value);
    let (ingress, egress): (Bytes, Bytes) = (side("ingress"), side("egress"));
    Some(SharedLimits {
        dedicated: s.bytes("dedicated").value,
        pool: total,
        queue: s.bytes("queue").value,
        port: s.bytes("port").value,
        ingress,
        egress,
    })
}
