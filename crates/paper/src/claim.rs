//! What a paper says about an experiment, as rules that are checked.
//!
//! A claim is read, checked and put into words without any run: the rule for its verdict is fixed
//! before there is anything to compare.

pub use super::claim_kind::Pick;
use super::select::{Scope, Selector};

/// A variant and what is looked at of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The experiment it is a variant of.
    pub experiment: String,
    /// The label of the variant.
    pub variant: String,
    /// Which numbers.
    pub select: Selector,
    /// Whether its variant is another than the primary reading of the paper.
    pub other_reading: bool,
}

/// The paper's number or numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// One.
    One(f64),
    /// From one to another.
    Range(f64, f64),
}

/// What is compared with what.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// `of` is close to a number.
    Value(Expected),
    /// `of` is lower than `against` by a share.
    Reduction(Expected),
    /// `of` is lower than `against` by a factor, or higher if `inverse`.
    Ratio {
        /// The factor.
        paper: Expected,
        /// Higher instead of lower.
        inverse: bool,
    },
    /// Several operands in ascending order.
    Ordering {
        /// From the lowest to the highest.
        order: Vec<Operand>,
        /// Whether neighbours must differ.
        strict: bool,
    },
    /// `of` hardly depends on a parameter: (max - min) / mean.
    Flat(f64),
    /// `of` rises or falls with a parameter.
    Monotone {
        /// Rises.
        rising: bool,
    },
    /// `of` and `against` are about the same.
    Equal,
    /// `of` is at most or at least a number.
    Limit {
        /// The number.
        paper: f64,
        /// At most; else at least.
        most: bool,
    },
    /// `of` is a straight line over a parameter.
    Linear,
    /// The reduction 1 - `of`/`against` is larger or smaller than in another experiment.
    Contrast {
        /// The other experiment.
        than: String,
        /// What is looked at there, if that is another metric.
        metric: Option<String>,
        /// Larger; else smaller.
        larger: bool,
    },
    /// It cannot be checked here.
    NotMeasured {
        /// Why.
        why: String,
    },
}

weir_core::words! {
    /// What a claim states.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Sort {
        /// A number.
        Number = "number",
        /// Which of several is larger, or that they are about the same.
        Order = "order",
        /// How something depends on a parameter.
        Trend = "trend",
    }
}

/// Which outcomes a rule can give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Possible {
    /// It can hold.
    pub reproduced: bool,
    /// There is something between holding and failing.
    pub same_direction: bool,
    /// It can fail.
    pub not_reproduced: bool,
    /// Intervals may leave it open; not where there is no randomness.
    pub not_distinguishable: bool,
    /// It is about a steady state, of which there may be no stationary window.
    pub not_stationary: bool,
}

impl Possible {
    /// The names of the outcomes.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.reproduced, "reproduced"),
            (self.same_direction, "same direction"),
            (self.not_reproduced, "not reproduced"),
            (self.not_distinguishable, "not distinguishable"),
            (self.not_stationary, "not measured (no stationary window)"),
        ];
        all.into_iter().filter(|(yes, _)| *yes).map(|(_, name)| name).collect()
    }
}

/// What a paper says.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Names it within the paper.
    pub id: String,
    /// About which experiment.
    pub experiment: String,
    /// Where in the paper.
    pub place: String,
    /// What, in our words.
    pub says: String,
    /// How it is checked.
    pub rule: Rule,
    /// How far off is near enough, as a share.
    pub margin: f64,
    /// What is looked at; one verdict each.
    pub of: Vec<Operand>,
    /// What it is compared with.
    pub against: Vec<Operand>,
    /// The parameters whose points it is about.
    pub over: Vec<String>,
    /// What counts of them.
    pub pick: Pick,
    /// Which reading of an ambiguous statement this is.
    pub reading: String,
    /// Whether a setting was chosen with this number in view.
    pub calibrated: bool,
    /// Whether it is the primary reading of its statement.
    pub primary: bool,
    /// Whether it is about a steady state, so that its numbers need a stationary window; else they
    /// are about all flows from the first to the last.
    pub steady: bool,
    /// Which outcomes its rule can give.
    pub possible: Possible,
    /// Written after the runs.
    pub discussion: String,
}

impl Operand {
    /// A variant of an experiment.
    pub(super) fn new(experiment: &str, variant: String, select: Selector) -> Self {
        Self { experiment: experiment.to_owned(), variant, select, other_reading: false }
    }

    /// The same in another experiment, at those values of parameters that it has.
    pub(super) fn at(&self, scope: &Scope) -> Self {
        let mut there = Self { experiment: scope.id.clone(), ..self.clone() };
        there.select.at.retain(|(name, _)| scope.parameter(name).is_some());
        there
    }

    /// Whether both mean the same numbers, in whatever order their points are written.
    pub(super) fn same(&self, other: &Self) -> bool {
        let sorted = |o: &Self| {
            let mut o = o.clone();
            o.select.at.sort();
            o
        };
        sorted(self) == sorted(other)
    }
}

impl Claim {
    /// Whether it looks at this experiment.
    pub(super) fn looks_at(&self, id: &str) -> bool {
        let measured = !matches!(self.rule, Rule::NotMeasured { .. });
        measured && self.experiments().any(|own| own == id)
    }

    /// The experiments that it looks at, its own among them.
    pub fn experiments(&self) -> impl Iterator<Item = &str> {
        let than = match &self.rule {
            Rule::Contrast { than, .. } => Some(than.as_str()),
            _ => None,
        };
        self.operands().map(|o| o.experiment.as_str()).chain(than)
    }
}
