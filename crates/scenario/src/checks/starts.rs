//! Flows that the end of a run keeps from starting.

use crate::TrafficSpec;
use crate::experiment::Experiment;
use crate::text::{Diagnostic, Diagnostics};
use weir_core::format::plural;
use weir_sim::config::Stop;
use weir_traffic::FlowSpec;

/// Counts the flows of pattern `i`, as far as its sample shows them, that start only after the end
/// of the run, and warns about them. A pattern that goes on at a steady rate is meant to be cut off
/// at some time: it counts only if none of its flows starts.
pub(super) fn late(
    e: &Experiment,
    i: usize,
    spec: &TrafficSpec,
    sample: &[FlowSpec],
    out: &mut Diagnostics,
) -> u64 {
    let until = e.traffic.until();
    let late = sample.iter().filter(|f| f.start >= until).count() as u64;
    let all = late == sample.len() as u64;
    let steady = e.traffic.endless_alone(i) || e.traffic.offered().iter().any(|(at, _)| *at == i);
    let (by_end, end) = match e.scenario.run.stop {
        Stop::At(end) => (end <= until, format!("the end of the run ({end})")),
        Stop::Drained => (false, String::new()),
    };
    let counts = late > 0 && (all || by_end && !steady);
    if !counts {
        return 0;
    }
    let end = if by_end { end } else { format!("the end of all traffic ({until})") };
    let title = match steady {
        true => format!("no flow of class `{}` starts before {end}", class(e, sample)),
        false if late == 1 => format!("1 flow starts after {end}"),
        false => format!("{} start after {end}", plural(late, "flow")),
    };
    let first = sample.iter().map(|f| f.start).filter(|start| *start >= until).min();
    let label = first.map_or_else(String::new, |start| format!("the first at {start}"));
    let place = if spec.place("start") == spec.at { "file" } else { "start" };
    let warning = Diagnostic::warning(title).maybe_at(spec.place(place), label);
    let key = if by_end { "until" } else { "traffic-until" };
    out.push(warning.help(format!("such flows are not simulated: set a later `{key}` in `[run]`")));
    if by_end { late } else { 0 }
}

fn class<'a>(e: &'a Experiment, sample: &[FlowSpec]) -> &'a str {
    sample.first().map_or("", |f| e.classes()[f.class.index()].as_str())
}
