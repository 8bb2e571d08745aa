//! Claims in words: units, default margins, and the rule of a verdict as a sentence.

use super::claim::{Claim, Expected, Operand, Pick, Rule, Sort};
use super::claim_kind::ClaimKind;
use super::metric_words;
use super::select::{self, Selector};
use weir_core::Unit;
use weir_core::format;
use weir_scenario::Fields;
use weir_scenario::text::Item;
use weir_sweep::quantity::Quantity;

/// A reduction is near enough within this many percentage points at least.
pub(crate) const LEAST_POINTS: f64 = 0.02;
/// A value is in the same direction up to this factor.
pub(crate) const VALUE_FACTOR: f64 = 2.0;
/// Limits and equality are in the same direction within this share.
pub(crate) const NEAR: f64 = 0.25;

/// The unit of a metric; shares and factors that are none have none.
pub(crate) fn unit(metric: &str) -> Unit {
    select::heading(metric).map_or(Unit::Number, |h| h.unit)
}

/// A number of a metric for people.
pub(crate) fn shown(metric: &str, x: f64) -> String {
    match unit(metric) {
        Unit::Time => format::time_ps(x),
        Unit::Bytes => format::bytes_f64(x),
        Unit::Rate => format::rate_bps(x),
        Unit::Share => percent(x),
        _ if libm::fabs(x) < 1.0 && x != 0.0 => unsigned_zero(format!("{x:.3}")),
        _ => unsigned_zero(format::significant(x)),
    }
}

/// A share as a percentage with one decimal.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", unsigned_zero(format!("{:.1}", share * 100.0)))
}

/// `-0.0` is written as `0.0`.
fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// A number that a paper states, in the unit of a metric; a plain number or a share without one.
pub(crate) fn stated(f: &mut Fields<'_>, item: &Item, metric: &str) -> Option<f64> {
    let text = item.value.text().unwrap_or_default();
    let Some(found) = Quantity::read(&text) else {
        let title = format!("`{text}` is not a number");
        f.error(title, item.span, "write 0.226, \"22.6%\", \"1.96ms\" or \"40Gbps\"");
        return None;
    };
    if !metric.is_empty() && select::heading(metric).is_none() {
        // what is wrong is the metric, which is checked on its own
        return Some(found.number);
    }
    let wanted = unit(metric);
    let fits = match found.unit {
        Unit::Time | Unit::Bytes | Unit::Rate => found.unit == wanted,
        Unit::Share => !matches!(wanted, Unit::Time | Unit::Bytes | Unit::Rate),
        _ => true,
    };
    if !fits {
        let label = match metric {
            "" => "it is a share or a factor".to_owned(),
            metric => format!("`{metric}` is measured in another unit"),
        };
        f.error(format!("`{text}` has the wrong unit"), item.span, &label);
        return None;
    }
    Some(found.number)
}

/// What is looked at of a variant: `class victim`, `degree = 4`.
fn parts(o: &Operand) -> Vec<String> {
    let s = &o.select;
    let parts =
        [("class", &s.class), ("sizes", &s.sizes), ("ports", &s.ports), ("table", &s.table)];
    let mut of: Vec<String> = parts
        .into_iter()
        .filter_map(|(key, value)| match (key, value.as_str()) {
            (_, "") => None,
            ("ports", "*") => Some("all switch ports".to_owned()),
            (key, value) => Some(format!("{key} {value}")),
        })
        .collect();
    of.extend(s.at.iter().map(|(name, value)| format!("{name} = {value}")));
    of
}

fn with_parts(name: &str, parts: &[String]) -> String {
    match parts {
        [] => name.to_owned(),
        some => format!("{name} ({})", some.join(", ")),
    }
}

/// A variant and what is looked at of it.
pub(crate) fn operand(o: &Operand) -> String {
    with_parts(&o.variant, &parts(o))
}

impl Rule {
    /// What an ordering puts in order; nothing of other rules.
    pub(crate) fn order(&self) -> &[Operand] {
        match self {
            Self::Ordering { order, .. } => order,
            _ => &[],
        }
    }
}

impl Claim {
    /// Everything it looks at in its own experiment and in those that it names.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.of.iter().chain(&self.against).chain(self.rule.order())
    }

    /// What all operands have in common, which is said once.
    fn common(&self) -> Vec<String> {
        let mut operands = self.operands();
        let Some(first) = operands.next() else { return Vec::new() };
        let mut common = parts(first);
        operands.for_each(|o| common.retain(|part| parts(o).contains(part)));
        common
    }

    /// The name of an operand: its variant, and what distinguishes it from the others.
    pub(crate) fn label(&self, o: &Operand) -> String {
        let common = self.common();
        let mut own = parts(o);
        own.retain(|part| !common.contains(part));
        if o.select.metric != self.metric() {
            own.insert(0, o.select.metric.clone());
        }
        if o.experiment != self.experiment {
            own.insert(0, o.experiment.clone());
        }
        with_parts(&o.variant, &own)
    }

    fn list(&self, operands: &[Operand]) -> String {
        operands.iter().map(|o| self.label(o)).collect::<Vec<_>>().join(", ")
    }

    /// What is looked at first.
    fn first(&self) -> Option<&Selector> {
        self.of.first().or(self.rule.order().first()).map(|o| &o.select)
    }

    /// The metric that it is about.
    pub fn metric(&self) -> &str {
        self.first().map_or("", |select| select.metric.as_str())
    }

    /// Its kind.
    pub fn kind(&self) -> ClaimKind {
        match self.rule {
            Rule::Value(_) => ClaimKind::Value,
            Rule::Reduction(_) => ClaimKind::Reduction,
            Rule::Ratio { .. } => ClaimKind::Ratio,
            Rule::Ordering { .. } => ClaimKind::Ordering,
            Rule::Flat(_) => ClaimKind::Flat,
            Rule::Monotone { .. } => ClaimKind::Monotone,
            Rule::Equal => ClaimKind::Equal,
            Rule::Limit { .. } => ClaimKind::Limit,
            Rule::Linear => ClaimKind::Linear,
            Rule::Contrast { .. } => ClaimKind::Contrast,
            Rule::NotMeasured { .. } => ClaimKind::NotMeasured,
        }
    }

    /// What it states: a number, an order or a trend.
    pub const fn sort(&self) -> Sort {
        match self.rule {
            Rule::Value(_) | Rule::Reduction(_) | Rule::Ratio { .. } | Rule::Limit { .. } => {
                Sort::Number
            }
            Rule::Monotone { .. } | Rule::Flat(_) | Rule::Linear => Sort::Trend,
            Rule::Ordering { .. }
            | Rule::Equal
            | Rule::Contrast { .. }
            | Rule::NotMeasured { .. } => Sort::Order,
        }
    }

    /// A number of this claim for people.
    pub fn number(&self, x: f64) -> String {
        match self.rule {
            Rule::Reduction(_) | Rule::Flat(_) | Rule::Equal => percent(x),
            Rule::Ratio { .. } => format!("{} times", format::significant(x)),
            _ if self.quotient() => format::significant(x),
            _ => shown(self.metric(), x),
        }
    }

    /// Whether it looks at `of` divided by `against` along a parameter or against a limit.
    pub fn quotient(&self) -> bool {
        let divides = matches!(
            self.rule,
            Rule::Flat(_) | Rule::Monotone { .. } | Rule::Linear | Rule::Limit { .. }
        );
        divides && !self.against.is_empty()
    }

    /// What the paper states, for people.
    pub fn paper(&self) -> String {
        let stated = |e: &Expected| match e {
            Expected::One(x) => self.number(*x),
            Expected::Range(a, b) => format!("{} to {}", self.number(*a), self.number(*b)),
        };
        match &self.rule {
            Rule::Value(e) | Rule::Reduction(e) | Rule::Ratio { paper: e, .. } => match self.pick {
                Pick::Max => format!("up to {}", stated(e)),
                Pick::Min => format!("at least {}", stated(e)),
                Pick::Mean => format!("{} in the mean", stated(e)),
                _ => stated(e),
            },
            Rule::Ordering { order, .. } => {
                order.iter().map(|o| self.label(o)).collect::<Vec<_>>().join(" < ")
            }
            Rule::Flat(x) => format!("varies by at most {}", percent(*x)),
            Rule::Monotone { rising: true } => "rising".into(),
            Rule::Monotone { rising: false } => "falling".into(),
            Rule::Equal => "about the same".into(),
            Rule::Limit { paper, most } => {
                format!("at {} {}", if *most { "most" } else { "least" }, self.number(*paper))
            }
            Rule::Linear => "a straight line".into(),
            Rule::Contrast { than, metric, larger } => {
                let than = match metric {
                    Some(metric) => format!("of {metric} in {than}"),
                    None => format!("in {than}"),
                };
                format!("{} reduction than {than}", if *larger { "larger" } else { "smaller" })
            }
            Rule::NotMeasured { .. } => "not measured here".into(),
        }
    }

    /// What is measured, with the names of metrics, as claims have them.
    pub fn quantity(&self) -> String {
        self.measured(|select| select.metric.clone())
    }

    /// What is measured, with the words that figures have for metrics.
    pub fn quantity_words(&self) -> String {
        self.measured(metric_words::words_of)
    }

    fn measured(&self, name: impl Fn(&Selector) -> String) -> String {
        let (of, against) = (self.list(&self.of), self.list(&self.against));
        let metric = with_parts(&self.first().map_or_else(String::new, &name), &self.common());
        let over = match self.over.is_empty() {
            true => String::new(),
            false => format!(", over {}", self.over.join(" and ")),
        };
        match &self.rule {
            Rule::Reduction(_) => format!("{metric}: 1 - ({of}) / ({against}){over}"),
            Rule::Contrast { than, metric: there, .. } => {
                let other = |metric: &String| {
                    let select = self.first().cloned().unwrap_or_default();
                    format!(" ({})", name(&Selector { metric: metric.clone(), ..select }))
                };
                let there = there.as_ref().map_or_else(String::new, other);
                format!("{metric}: 1 - ({of}) / ({against}){over}, here and in {than}{there}")
            }
            Rule::Ratio { inverse: false, .. } => format!("{metric}: ({against}) / ({of}){over}"),
            Rule::Ratio { inverse: true, .. } => format!("{metric}: ({of}) / ({against}){over}"),
            Rule::Equal => format!("{metric}: {of} against {against}{over}"),
            Rule::Ordering { order, .. } => format!("{metric}: {}{over}", self.list(order)),
            Rule::NotMeasured { why } => format!("not measured: {why}"),
            _ if self.quotient() => format!("{metric}: ({of}) / ({against}){over}"),
            _ => format!("{metric} of {of}{over}"),
        }
    }

    /// The rule of the verdict as a sentence; it is fixed before the runs. What is neither
    /// reproduced nor in the same direction is not reproduced if the whole interval says so, else
    /// not distinguishable.
    pub fn rule_words(&self) -> String {
        let (paper, margin) = (self.paper(), percent(self.margin));
        let each = match (self.pick, self.over.is_empty() && self.against.len() < 2) {
            (_, true) => "",
            (Pick::Each, _) => " at every point",
            (Pick::Range, _) => " for the smallest and the largest",
            _ => "",
        };
        match &self.rule {
            Rule::Value(_) => format!(
                "reproduced if the interval is within {margin} of {paper}{each}; same direction \
                 within a factor of 2"
            ),
            Rule::Reduction(_) => format!(
                "reproduced if the interval is within {margin} of the stated share, at least 2 \
                 percentage points ({paper}){each}; same direction if all of it has the same sign"
            ),
            Rule::Ratio { .. } => format!(
                "reproduced if the interval is within a factor of {:.2} of {paper}{each}; same \
                 direction if all of it is on the same side of 1",
                1.0 + self.margin
            ),
            Rule::Ordering { strict, .. } => {
                let tie = match (strict, self.margin > 0.0) {
                    (true, _) => "",
                    (false, false) => ", equality allowed",
                    (false, true) => ", equality within the margin allowed",
                };
                let every = if self.over.is_empty() { "" } else { " at every point" };
                format!(
                    "reproduced if the intervals of all paired differences of neighbours are in \
                     this order{every}{tie}; not reproduced if one is in the other"
                )
            }
            Rule::Flat(x) => format!(
                "reproduced if the largest mean exceeds the smallest by at most {}, with all of \
                 the interval",
                percent(x + self.margin)
            ),
            Rule::Monotone { .. } => format!(
                "reproduced if {paper} at every step by paired differences; same direction if \
                 Page's test finds the trend"
            ),
            Rule::Equal => format!(
                "reproduced if the interval of their ratio is within {margin} of 1{each}; same \
                 direction within 25 %"
            ),
            Rule::Limit { .. } => {
                format!(
                    "reproduced if {paper} with all of the interval{each}; same direction \
                         within 25 % of it"
                )
            }
            Rule::Linear => {
                "reproduced if the curvature is at most 5 % of the range, with all of the \
                 interval; same direction if it is curved but every step has the same sign"
                    .into()
            }
            Rule::Contrast { .. } => format!(
                "reproduced if the interval of the difference of the two reductions says \
                 {paper}{each}; not reproduced if it says the opposite"
            ),
            Rule::NotMeasured { why } => format!("not measured: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn nothing_has_no_sign() {
        assert_eq!(percent(-0.000_01), "0.0 %");
    }
}
