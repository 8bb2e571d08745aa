//! Words for metrics: axes of figures and pages have them, files have names.

use super::select::{self, Selector};
use weir_results::metrics::Family;

/// What is selected, in words: a metric of the same name may be another statistic for a run than
/// for a group of ports.
pub(crate) fn words_of(select: &Selector) -> String {
    let metric = select.metric.as_str();
    let family = select.family();
    let (thing, part) = metric.split_once('_').unwrap_or((metric, ""));
    let thing = match thing {
        "fct" => "completion time",
        "slowdown" => "slowdown",
        "buffer" => "memory in use",
        _ => "",
    };
    if let Some(words) = Some(thing).filter(|t| !t.is_empty()).and_then(|t| statistic(t, part)) {
        return words;
    }
    let own = OWN_WORDS.iter().find(|(of, name, _)| *of == family && *name == metric);
    let heading = || select::columns(Some(family)).iter().find(|h| h.name == metric);
    let doc = own.map(|(_, _, words)| *words).or_else(|| heading().map(|h| first_part(h.doc)));
    doc.map_or_else(|| metric.replace('_', " "), str::to_owned)
}

/// The words for `mean_ps`, `p99_bytes` and the like of a thing.
fn statistic(thing: &str, name: &str) -> Option<String> {
    Some(match name.split('_').next().unwrap_or_default() {
        "" => thing.to_owned(),
        "mean" => format!("mean {thing}"),
        "max" => format!("largest {thing}"),
        "min" => format!("smallest {thing}"),
        "p50" => format!("median {thing}"),
        "p999" => format!("99.9th percentile of the {thing}"),
        other => {
            let n: u32 = other.strip_prefix('p')?.parse().ok()?;
            format!("{n}th percentile of the {thing}")
        }
    })
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
