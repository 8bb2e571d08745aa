//! Words for metrics: axes of figures and pages have them, files have names.

use super::figure;
use super::select::{self, Selector};
use weir_core::percentile::P50;
use weir_results::metrics::Family;
use weir_results::summary::{Observed, Statistic};

/// What is selected, in words: a metric of the same name may be another statistic for a run than
/// for a group of ports.
pub(crate) fn words_of(select: &Selector) -> String {
    let metric = select.metric.as_str();
    let family = select.family();
    // figures of distributions name what is observed itself
    let (of, by) = match figure::family(metric) {
        Some(observed) => (Some(observed), None),
        None => select::summary(metric).map(|s| (s.of, s.by)).unzip(),
    };
    if let Some(thing) = of.and_then(thing) {
        return by.map_or_else(|| thing.to_owned(), |by| statistic(thing, by));
    }
    let own = OWN_WORDS.iter().find(|(of, name, _)| *of == family && *name == metric);
    let heading = || select::columns(Some(family)).iter().find(|h| h.name == metric);
    let doc = own.map(|(_, _, words)| *words).or_else(|| heading().map(|h| first_part(h.doc)));
    doc.map_or_else(|| metric.replace('_', " "), str::to_owned)
}

/// The words for what has many numbers; `None` where those of single columns are better.
fn thing(observed: Observed) -> Option<&'static str> {
    match observed {
        Observed::Completion => Some("completion time"),
        Observed::Slowdown => Some("slowdown"),
        Observed::Buffer => Some("memory in use"),
        _ => None,
    }
}

/// The words for one number of a thing.
fn statistic(thing: &str, by: Statistic) -> String {
    match by {
        Statistic::Mean => format!("mean {thing}"),
        Statistic::Max => format!("largest {thing}"),
        Statistic::Min => format!("smallest {thing}"),
        Statistic::Percentile(P50) => format!("median {thing}"),
        Statistic::Percentile(p) => format!("{p}th percentile of the {thing}"),
    }
}

/// Words for metrics whose sentence in the list of metrics refers to the one before it, or is too
/// long for an axis.
pub(crate) const OWN_WORDS: &[(Family, &str, &str)] = &[
    (Family::Runs, "deadlock", "runs that deadlock"),
    (Family::Runs, "stalled", "runs that stall"),
    (Family::Runs, "completed", "flows that completed"),
    (Family::Runs, "control_bytes", "bytes of control frames"),
    (Family::Runs, "queue_mean_bytes", "mean queue at the switch port with the longest queue"),
    (
        Family::Runs,
        "queue_p99_bytes",
        "99th percentile over time of the queue at the switch port with the longest queue",
    ),
    (Family::Runs, "tables_max_bytes", "largest size of the scheme's tables in one switch"),
    (Family::Classes, "completed", "flows that completed"),
    (Family::Ports, "queue_mean_bytes", "mean queue of the ports"),
    (Family::Ports, "queue_p99_bytes", "99th percentile over time of the queue, largest port"),
    (Family::Ports, "queue_max_bytes", "longest queue of the ports"),
    (Family::Ports, "pauses_sent", "pause requests that the ports sent"),
    (Family::State, "mean_bytes", "mean size of the table in a switch"),
    (Family::State, "max_bytes", "largest size of the table in a switch"),
];

/// A sentence up to its first comma, colon or semicolon.
fn first_part(doc: &str) -> &str {
    doc.split([',', ':', ';']).next().unwrap_or(doc).trim()
}
