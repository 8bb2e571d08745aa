//! Which readings of papers are known to reorder the packets of a flow.
//!
//! A scheme keeps the order of a flow's packets, and a run in which it does not is an error. Some
//! listings, followed to the letter, do not keep it. To run them is a choice, so that their
//! results are of use: they are reported, with the packets that came out of order.

use crate::{Param, SchemeInfo, Value, Values, flowsail, ofc};

/// A value of a parameter with which a scheme reorders.
#[derive(Debug)]
pub struct Reordering {
    /// The scheme.
    pub scheme: &'static str,
    /// Its parameter.
    pub param: &'static Param,
    /// The value.
    pub value: &'static str,
}

/// All of them. Tests show for each that it reorders, and a random one found no other value that
/// does.
pub const REORDERING: &[Reordering] = &[
    Reordering { scheme: flowsail::INFO.name, param: &flowsail::READING, value: "mark-sign" },
    Reordering { scheme: ofc::INFO.name, param: &ofc::ROTATION, value: "modulo" },
    Reordering { scheme: ofc::INFO.name, param: &ofc::DURING_DRAIN, value: "at-once" },
];

/// The first of them that `values` choose for the scheme.
pub fn reordering(scheme: &SchemeInfo, values: &Values) -> Option<&'static Reordering> {
    let chosen = |r: &&Reordering| match values.get(r.param) {
        Some(Value::Choice(word)) => word == r.value,
        Some(Value::Set(words)) => words.has(r.value),
        _ => false,
    };
    REORDERING.iter().filter(|r| r.scheme == scheme.name).find(chosen)
}
