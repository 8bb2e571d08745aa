//! `[[reference]]`: published numbers to print beside ours, as written.
//!
//! What can be measured is for results to say: they find out which metric is meant, and in which
//! unit the number is to be read.

use crate::fields::{At, Fields};
use crate::keys;
use crate::text::{Diagnostics, Item, Span};

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
    pub metric: At<String>,
    /// The table of a scheme that was measured.
    pub table: Option<At<String>>,
    /// The number with its unit.
    pub value: At<String>,
    /// Where it stands.
    pub source: String,
    /// Where the scenario names class, sizes, variant and the one against it, for checks.
    pub at: [Option<Span>; 4],
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
    // read in any case, so that what is wrong with it is said
    let (metric, table, source) = (f.text("metric"), f.text("table"), f.text("source"));
    let value = f.written("value");
    let plain = |s: String| s.chars().filter(|c| !c.is_whitespace()).collect();
    let at = [&class, &sizes, &variant, &against].map(|t| t.as_ref().and_then(|t| t.span));
    Some(Reference {
        scheme: scheme.map(|t| t.value),
        variant: variant.map(|t| t.value),
        against: against.map(|t| t.value),
        class: class.map(|t| t.value),
        sizes: sizes.map(|t| plain(t.value)),
        metric: metric?,
        table,
        value: value?,
        source: source?.value,
        at,
    })
}
