//! Published numbers of a scenario, read as what they measure.

use crate::column::Heading;
use crate::metrics;
use weir_core::{Unit, nearest};
use weir_scenario::Reference;
use weir_scenario::text::{Diagnostic, Diagnostics};

/// What a published number is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A figure of runs or flows.
    Figure(Heading),
    /// Mean queue length at the port that is hottest under the first scheme.
    QueueMean,
    /// Longest queue there.
    QueueMax,
    /// Mean size of this table, which a scheme keeps in a switch.
    Table(String),
}

/// Names from before metrics had them.
const SHORT: [(&str, &str); 3] =
    [("fct-mean", "fct_mean_ps"), ("fct-max", "fct_max_ps"), ("rate", "rate_mean_bps")];

impl Measure {
    /// What a number of it is measured in.
    fn unit(&self) -> Unit {
        match self {
            Self::Figure(metric) => metric.unit,
            Self::QueueMean | Self::QueueMax | Self::Table(_) => Unit::Bytes,
        }
    }

    /// Whether classes and sizes of flows have it.
    fn is_of_flows(&self) -> bool {
        matches!(self, Self::Figure(m) if metrics::is_of_flows(m.name))
    }
}

/// A published number.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Whose it is, and where it stands.
    pub about: Reference,
    /// What was measured.
    pub measure: Measure,
    /// The number, in the unit of what was measured, or a ratio of two variants.
    pub value: f64,
}

impl Published {
    /// What its number is measured in.
    pub fn unit(&self) -> Unit {
        unit(&self.about, &self.measure)
    }
}

fn unit(r: &Reference, measure: &Measure) -> Unit {
    if r.against.is_some() { Unit::Number } else { measure.unit() }
}

/// The published numbers among `references`; what is wrong with the others is said.
pub fn published(references: &[Reference], out: &mut Diagnostics) -> Vec<Published> {
    references.iter().filter_map(|r| read(r, out)).collect()
}

fn read(r: &Reference, out: &mut Diagnostics) -> Option<Published> {
    let measure = measure(r, out)?;
    if let (Some(table), false) = (&r.table, matches!(measure, Measure::Table(_))) {
        let error = Diagnostic::error("`table` needs `metric = \"table-mean\"`");
        out.push(error.maybe_at(table.span, ""));
    }
    let value = match unit(r, &measure).read(&r.value.value) {
        Ok(value) => value,
        Err(error) => {
            out.push(Diagnostic::error(format!("`value`: {error}")).maybe_at(r.value.span, ""));
            return None;
        }
    };
    for (name, part, span) in [("class", &r.class, r.at[0]), ("sizes", &r.sizes, r.at[1])] {
        if part.is_some() && !measure.is_of_flows() {
            let title = format!("`{name}` needs a metric of flows");
            out.push(Diagnostic::error(title).maybe_at(span, ""));
        }
    }
    Some(Published { about: r.clone(), measure, value })
}

/// What the metric of `r` is.
fn measure(r: &Reference, out: &mut Diagnostics) -> Option<Measure> {
    let name = r.metric.value.as_str();
    match name {
        "queue-mean" => return Some(Measure::QueueMean),
        "queue-max" => return Some(Measure::QueueMax),
        "table-mean" => {
            let Some(table) = &r.table else {
                let error = Diagnostic::error("`metric = \"table-mean\"` needs `table`");
                let help = "table: which of the tables that a scheme keeps in its switches";
                out.push(error.maybe_at(r.metric.span, "").help(help));
                return None;
            };
            return Some(Measure::Table(table.value.clone()));
        }
        _ => {}
    }
    let long = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
    let found = metrics::find(long).filter(Heading::is_number);
    if found.is_none() {
        let own = ["queue-mean", "queue-max", "table-mean"];
        let names = || metrics::all().iter().map(|m| m.name).chain(own).chain(SHORT.map(|s| s.0));
        let title = format!("there is no metric `{name}`");
        let help = "metrics are those of `weir compare --columns list` that are numbers, and \
                    queue-mean, queue-max, table-mean";
        let error = Diagnostic::error(title).maybe_at(r.metric.span, "");
        out.push(error.nearest(nearest(name, names())).help(help));
    }
    found.map(Measure::Figure)
}
