//! `[[reference]]`: published numbers to print beside ours.

use super::fields::Fields;
use super::keys;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_core::{Bytes, Rate, Time};

/// What a published number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Mean flow completion time of a class.
    FctMean,
    /// Longest flow completion time of a class.
    FctMax,
    /// Mean rate of the open-ended flows of a class.
    Rate,
    /// Mean queue length.
    QueueMean,
    /// Longest queue.
    QueueMax,
    /// Mean size of a table that a scheme keeps in a switch.
    TableMean,
}

/// A published number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A time.
    Time(Time),
    /// A size.
    Bytes(Bytes),
    /// A speed.
    Rate(Rate),
}

/// A row of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The scheme it is for.
    pub scheme: String,
    /// The class it is for.
    pub class: Option<String>,
    /// The scheme's table it is for.
    pub table: Option<String>,
    /// What was measured.
    pub metric: Metric,
    /// The number.
    pub value: Amount,
    /// Where it stands.
    pub source: String,
    /// Where the scenario names the class, for checks.
    pub class_at: Option<Span>,
}

/// Reads one.
pub fn read(item: &Item, out: &mut Diagnostics) -> Option<Reference> {
    let mut f = Fields::new(&keys::REFERENCE, Some(item), out);
    // A paper may report schemes that are not implemented here, so any name will do.
    for key in ["scheme", "metric", "value", "source"] {
        if !f.given(key) {
            f.missing(key);
        }
    }
    let scheme = f.text("scheme")?;
    let class = f.text("class");
    let metric = match f.choice("metric").value {
        "fct-mean" => Metric::FctMean,
        "fct-max" => Metric::FctMax,
        "rate" => Metric::Rate,
        "queue-mean" => Metric::QueueMean,
        "queue-max" => Metric::QueueMax,
        _ => Metric::TableMean,
    };
    let table = f.text("table").map(|t| t.value);
    if metric == Metric::TableMean && table.is_none() {
        f.missing("table");
    }
    let source = f.text("source")?.value;
    let item = f.item("value")?;
    let text = item.value.text().unwrap_or_default();
    let value = match metric {
        Metric::FctMean | Metric::FctMax => {
            text.parse().map(Amount::Time).map_err(|e| e.to_string())
        }
        Metric::Rate => text.parse().map(Amount::Rate).map_err(|e| e.to_string()),
        Metric::QueueMean | Metric::QueueMax | Metric::TableMean => {
            text.parse().map(Amount::Bytes).map_err(|e| e.to_string())
        }
    };
    let value = match value {
        Ok(value) => value,
        Err(error) => {
            f.out.push(Diagnostic::error(format!("`value`: {error}")).at(item.span, ""));
            return None;
        }
    };
    let class_at = class.as_ref().and_then(|c| c.span);
    let class = class.map(|c| c.value);
    Some(Reference { scheme: scheme.value, class, table, metric, value, source, class_at })
}
