//! What a comparison with a paper comes to: one type for the terminal, tables and pages.

use weir_stats::Interval;
use weir_stats::verdict::{Judgement, Size};

/// What a comparison with the paper comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// Judged by intervals over seeds.
    Judged(Judgement),
    /// It cannot be checked here.
    NotMeasured(String),
    /// The quick run leaves out what it is about.
    LeftOut(String),
    /// There is no number to compare.
    Missing(String),
}

impl Default for ClaimOutcome {
    fn default() -> Self {
        Self::Missing(String::new())
    }
}

impl ClaimOutcome {
    /// In a word or two.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Judged(Judgement::Reproduced) => "reproduced",
            Self::Judged(Judgement::SameDirection(_)) => "same direction",
            Self::Judged(Judgement::NotReproduced) => "not reproduced",
            Self::Judged(Judgement::NotDistinguishable) => "not distinguishable",
            Self::NotMeasured(_) => "not measured",
            Self::LeftOut(_) => "only in full",
            Self::Missing(_) => "missing",
        }
    }

    /// What is known about the size where only the direction agrees.
    pub const fn size(&self) -> &'static str {
        match self {
            Self::Judged(Judgement::SameDirection(Size::Differs)) => "differs",
            Self::Judged(Judgement::SameDirection(Size::Open)) => "open",
            _ => "",
        }
    }

    /// The outcome of this name; `why` there is no comparison.
    pub fn named(name: &str, size: &str, why: String) -> Option<Self> {
        let size = if size == "differs" { Size::Differs } else { Size::Open };
        let all = [
            Self::Judged(Judgement::Reproduced),
            Self::Judged(Judgement::SameDirection(size)),
            Self::Judged(Judgement::NotReproduced),
            Self::Judged(Judgement::NotDistinguishable),
            Self::NotMeasured(why.clone()),
            Self::LeftOut(why.clone()),
            Self::Missing(why),
        ];
        all.into_iter().find(|o| o.name() == name)
    }

    /// How it was judged, if it was.
    pub const fn judgement(&self) -> Option<Judgement> {
        match self {
            Self::Judged(judgement) => Some(*judgement),
            _ => None,
        }
    }

    /// Whether it is judged, and not reproduced.
    pub fn is_not_reproduced(&self) -> bool {
        self.judgement() == Some(Judgement::NotReproduced)
    }

    /// Why there is no comparison.
    pub fn why(&self) -> &str {
        match self {
            Self::NotMeasured(why) | Self::LeftOut(why) | Self::Missing(why) => why,
            Self::Judged(_) => "",
        }
    }

    /// A sign that needs no colour.
    pub const fn sign(&self) -> &'static str {
        match self {
            Self::Judged(Judgement::Reproduced) => "✓",
            Self::Judged(Judgement::SameDirection(_)) => "≈",
            Self::Judged(Judgement::NotReproduced) => "✗",
            Self::Judged(Judgement::NotDistinguishable) => "?",
            Self::NotMeasured(_) | Self::LeftOut(_) | Self::Missing(_) => "–",
        }
    }

    /// How pages colour it.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::Judged(Judgement::Reproduced) => "yes",
            Self::Judged(Judgement::SameDirection(_)) => "near",
            Self::Judged(Judgement::NotReproduced) => "no",
            _ => "none",
        }
    }
}

/// What is known of the window of a claim; the worst is last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Window {
    /// The claim is not about a steady state: nothing is removed.
    #[default]
    Terminating,
    /// It is stationary.
    Stationary,
    /// There is no series by which to tell.
    NotChecked,
    /// One half is higher than the other.
    Drifting,
    /// There is no stationary window, or the warm-up ends before it begins.
    NotStationary,
    /// More and more flows are in the network.
    Overloaded,
}

impl Window {
    /// As tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Terminating => "terminating",
            Self::Stationary => "yes",
            Self::NotChecked => "not checked",
            Self::Drifting => "drifting",
            Self::NotStationary => "not stationary",
            Self::Overloaded => "overloaded",
        }
    }

    /// Whether numbers from it say nothing about a steady state.
    pub const fn fails(self) -> bool {
        matches!(self, Self::Drifting | Self::NotStationary | Self::Overloaded)
    }
}

/// One comparison with a paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The claim, by position.
    pub claim: usize,
    /// Which of several readings: the label of the variant.
    pub reading: String,
    /// Whether this is the primary reading of the statement.
    pub primary: bool,
    /// What was measured, for people.
    pub measured: String,
    /// The number behind it, where it is one.
    pub estimate: Option<f64>,
    /// Its interval over seeds.
    pub interval: Option<Interval>,
    /// How the interval was formed.
    pub method: &'static str,
    /// The level of the interval.
    pub level: f64,
    /// How many seeds it rests on.
    pub seeds: usize,
    /// How many runs it rests on.
    pub runs: usize,
    /// How many seeds would decide it, where it is open.
    pub needed: Option<usize>,
    /// Whether a run has fewer flows than its percentile needs.
    pub few: bool,
    /// What the paper states, for people.
    pub paper: String,
    /// The rule, in words.
    pub rule: String,
    /// What it comes to.
    pub outcome: ClaimOutcome,
    /// Why it is not distinguishable.
    pub why: String,
    /// Whether it rests on a stationary window, if it is about a steady state.
    pub window: Window,
    /// The warm-up that was left out for that, picoseconds.
    pub warm_up_ps: Option<u64>,
    /// The rows of the tables that decide it.
    pub rows: Vec<String>,
}

impl Verdict {
    /// Why there is no comparison, or why it is not distinguishable.
    pub fn reason(&self) -> &str {
        if self.why.is_empty() { self.outcome.why() } else { &self.why }
    }

    /// The outcome with what is known about it: `same direction, size open`,
    /// `not distinguishable (interval contains 1; 14 seeds would decide)`.
    /// `not measured: overloaded`.
    pub fn words(&self) -> String {
        let words = words(&self.outcome, &self.why, self.needed);
        match self.outcome {
            ClaimOutcome::NotMeasured(_) if self.window.fails() => {
                format!("{words}: {}", self.window.name())
            }
            _ => words,
        }
    }
}

/// What stands where a page shows what came out: the numbers, or why there are none. Numbers that
/// are not judged, because they are of no steady state, are shown with the reason.
pub(super) fn shown(outcome: &ClaimOutcome, measured: &str) -> String {
    match (outcome.why(), measured) {
        ("", measured) => measured.to_owned(),
        (why, "") => why.to_owned(),
        (why, measured) => format!("{measured}; not judged: {why}"),
    }
}

/// An outcome with what is known about it.
pub(super) fn words(outcome: &ClaimOutcome, why: &str, needed: Option<usize>) -> String {
    let name = outcome.name();
    match outcome {
        ClaimOutcome::Judged(Judgement::SameDirection(_)) => {
            format!("{name}, size {}", outcome.size())
        }
        ClaimOutcome::Judged(Judgement::NotDistinguishable) if !why.is_empty() => match needed {
            Some(n) => format!("{name} ({why}; {n} seeds would decide)"),
            None => format!("{name} ({why})"),
        },
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_by_the_name_it_is_written_with() {
        use Judgement::{NotDistinguishable, NotReproduced, Reproduced, SameDirection};
        let sizes = [Size::Open, Size::Differs].map(SameDirection);
        let judged = [Reproduced, NotReproduced, NotDistinguishable].into_iter().chain(sizes);
        let all = judged.map(ClaimOutcome::Judged).chain([ClaimOutcome::NotMeasured("no".into())]);
        for outcome in all {
            let read =
                ClaimOutcome::named(outcome.name(), outcome.size(), outcome.why().to_owned());
            assert_eq!(read, Some(outcome));
        }
        assert_eq!(ClaimOutcome::named("perhaps", "", String::new()), None);
    }

    #[test]
    fn numbers_of_no_steady_state_are_shown_with_the_reason() {
        let all = ["", "overloaded: more and more flows"].map(|why| match why {
            "" => ClaimOutcome::Judged(Judgement::Reproduced),
            why => ClaimOutcome::NotMeasured(why.into()),
        });
        assert_eq!(shown(&all[0], "5 % less"), "5 % less");
        assert_eq!(shown(&all[1], ""), "overloaded: more and more flows");
        let both = "5 % less; not judged: overloaded: more and more flows";
        assert_eq!(shown(&all[1], "5 % less"), both);
    }

    #[test]
    fn what_is_open_says_how_many_seeds_would_decide() {
        let open = ClaimOutcome::Judged(Judgement::NotDistinguishable);
        let said = words(&open, "interval contains 1", Some(14));
        assert_eq!(said, "not distinguishable (interval contains 1; 14 seeds would decide)");
        let near = ClaimOutcome::Judged(Judgement::SameDirection(Size::Open));
        assert_eq!(words(&near, "", None), "same direction, size open");
    }
}
