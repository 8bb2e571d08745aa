//! `[[reference]]`: published numbers to print beside ours.

use super::fields::Fields;
use super::keys;
use crate::column::Heading;
use crate::metrics;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_core::Unit;
use weir_net::nearest;

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
    pub fn unit(&self) -> Unit {
        match self {
            Self::Figure(metric) => metric.unit,
            Self::QueueMean | Self::QueueMax | Self::Table(_) => Unit::Bytes,
        }
    }
}

/// A row of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The scheme it is for.
    pub scheme: Option<String>,
    /// The variant it is for.
    pub variant: Option<String>,
    /// The variant that this one is divided by.
    pub against: Option<String>,
    /// The class it is for.
    pub class: Option<String>,
    /// The range of sizes it is for.
    pub sizes: Option<String>,
    /// What was measured.
    pub measure: Measure,
    /// The number, in the unit of what was measured, or a ratio of two variants.
    pub value: f64,
    /// Where it stands.
    pub source: String,
    /// Where the scenario names class, sizes, variant and the one against it, for checks.
    pub at: [Option<Span>; 4],
}

impl Reference {
    /// What its number is measured in.
    pub fn unit(&self) -> Unit {
        if self.against.is_some() { Unit::Number } else { self.measure.unit() }
    }
}

/// What `name` measures.
fn measure(name: &str, f: &mut Fields<'_>, at: Option<Span>) -> Option<Measure> {
    let long = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
    match name {
        "queue-mean" => return Some(Measure::QueueMean),
        "queue-max" => return Some(Measure::QueueMax),
        "table-mean" => {
            if !f.given("table") {
                f.missing("table");
            }
            return f.text("table").map(|t| Measure::Table(t.value));
        }
        _ => {}
    }
    let found = metrics::find(long).filter(Heading::is_number);
    if found.is_none() {
        let own = ["queue-mean", "queue-max", "table-mean"];
        let names = || metrics::all().iter().map(|m| m.name).chain(own).chain(SHORT.map(|s| s.0));
        let error = Diagnostic::error(format!("there is no metric `{name}`")).maybe_at(at, "");
        let help = "metrics are those of `weir compare --columns list` that are numbers, and \
                    queue-mean, queue-max, table-mean";
        f.out.push(error.nearest(nearest(name, names())).help(help));
    }
    found.map(Measure::Figure)
}

/// Reads one.
pub fn read(item: &Item, out: &mut Diagnostics) -> Option<Reference> {
    let mut f = Fields::new(&keys::REFERENCE, Some(item), out);
    // A paper may report schemes that are not implemented here, so any name will do.
    let (scheme, variant) = (f.text("scheme"), f.text("variant"));
    if !f.given("scheme") && !f.given("variant") {
        f.missing("scheme");
    }
    for key in ["metric", "value", "source"] {
        if !f.given(key) {
            f.missing(key);
        }
    }
    let (class, sizes, against) = (f.text("class"), f.text("sizes"), f.text("against"));
    let metric = f.text("metric");
    let measure = metric.and_then(|m| measure(&m.value, &mut f, m.span));
    // read in any case, so that what is wrong with it is said
    let table = f.text("table");
    let source = f.text("source");
    let (measure, source) = (measure?, source?.value);
    if let (Some(table), false) = (table, matches!(measure, Measure::Table(_))) {
        let error = Diagnostic::error("`table` needs `metric = \"table-mean\"`");
        f.out.push(error.maybe_at(table.span, ""));
    }
    let unit = if against.is_some() { Unit::Number } else { measure.unit() };
    let value = f.item("value")?;
    let text = value.value.text().unwrap_or_default();
    let number = match unit.read(&text) {
        Ok(number) => number,
        Err(error) => {
            f.out.push(Diagnostic::error(format!("`value`: {error}")).at(value.span, ""));
            return None;
        }
    };
    let of_flows = matches!(&measure, Measure::Figure(m) if metrics::is_of_flows(m.name));
    for (name, part) in [("class", &class), ("sizes", &sizes)] {
        if let (Some(part), false) = (part, of_flows) {
            let title = format!("`{name}` needs a metric of flows");
            f.out.push(Diagnostic::error(title).maybe_at(part.span, ""));
        }
    }
    let plain = |s: String| s.chars().filter(|c| !c.is_whitespace()).collect();
    let at = [&class, &sizes, &variant, &against].map(|t| t.as_ref().and_then(|t| t.span));
    Some(Reference {
        scheme: scheme.map(|t| t.value),
        variant: variant.map(|t| t.value),
        against: against.map(|t| t.value),
        class: class.map(|t| t.value),
        sizes: sizes.map(|t| plain(t.value)),
        measure,
        value: number,
        source,
        at,
    })
}
