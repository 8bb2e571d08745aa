//! `[routing]`: which paths there are, and how packets are spread over equal ones.

use super::fields::Fields;
use super::keys;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_core::Time;
use weir_sim::config::{Balance, Routing};

/// What `[routing]` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutingSpec {
    /// How paths are chosen.
    pub kind: Routing,
    /// How packets are spread over equally good ones.
    pub balance: Balance,
    /// Where that was written.
    pub balance_at: Option<Span>,
    /// Time from a failure or recovery to the change of routes.
    pub convergence: Time,
}

/// `[routing]`.
pub(crate) fn read(item: Option<&Item>, out: &mut Diagnostics) -> RoutingSpec {
    let mut f = Fields::new(&keys::ROUTING, item, out);
    let kind = f.one_of("kind", [("ecmp", Routing::Ecmp), ("up-down", Routing::UpDown)]).value;
    let word = f.choice("balance");
    let (low, high) = (f.bytes("drain-low"), f.bytes("drain-high"));
    let gap = f.time("flowlet-gap");
    if low.value > high.value {
        let label = format!("{} is above drain-high ({})", low.value, high.value);
        let error = Diagnostic::error("`drain-low` must not be above `drain-high`");
        f.out.push(error.maybe_at(low.span.or(high.span), label));
    }
    if gap.value == Time::ZERO {
        let error = Diagnostic::error("`flowlet-gap` is zero: every packet would be a flowlet");
        let help = "write a time such as `\"100us\"`, or `balance = \"random\"`";
        f.out.push(error.maybe_at(gap.span, "").help(help));
    }
    for (key, span, wanted) in [
        ("drain-low", low.span, "adaptive"),
        ("drain-high", high.span, "adaptive"),
        ("flowlet-gap", gap.span, "flowlet"),
    ] {
        if let Some(span) = span.filter(|_| word.value != wanted) {
            let title = format!("`{key}` needs `balance = \"{wanted}\"`");
            let label = format!("the balance is `{}`", word.value);
            f.out.push(Diagnostic::error(title).at(span, label));
        }
    }
    let meanings = [
        ("flow", Balance::Flow),
        ("adaptive", Balance::Adaptive { low: low.value, high: high.value }),
        ("random", Balance::Random),
        ("round-robin", Balance::RoundRobin),
        ("flowlet", Balance::Flowlet { gap: gap.value }),
    ];
    let balance = f.one_of("balance", meanings).value;
    let convergence = f.time("convergence").value;
    RoutingSpec { kind, balance, balance_at: word.span, convergence }
}
