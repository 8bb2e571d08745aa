//! How many statements of papers came out how.

use super::run::Collected;
use super::verdict::Outcome;
use std::collections::BTreeSet;
use weir_core::format;

/// How many verdicts there are of each kind.
///
/// A statement of a paper is a place and what is said there. It has a verdict for each reading: for
/// each claim that reads it differently, and for each variant that a claim looks at. Two kinds of
/// verdicts say nothing about a paper and are counted apart: those of calibrated claims, whose
/// number a setting was chosen by, and those of checks of our own, which no paper has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Statements that have at least one of the three verdicts that follow.
    pub statements: usize,
    /// Within the margin.
    pub reproduced: usize,
    /// The direction holds.
    pub same_direction: usize,
    /// Neither.
    pub not_reproduced: usize,
    /// Cannot be checked here.
    pub not_measured: usize,
    /// Left out by the quick run.
    pub left_out: usize,
    /// Without a number.
    pub missing: usize,
    /// Calibrated, whatever they came to.
    pub calibrated: usize,
    /// Checks of our own: the same three verdicts.
    pub own: [usize; 3],
}

/// What names a statement: paper, place and text.
type Statement<'a> = (&'a str, &'a str, &'a str);

/// One verdict, as far as it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) statement: Statement<'a>,
    pub(crate) outcome: &'a Outcome,
    pub(crate) calibrated: bool,
    pub(crate) own: bool,
}

impl Counts {
    /// Counts the verdicts of some experiments.
    pub fn new<'a>(all: impl IntoIterator<Item = &'a Collected<'a>>) -> Self {
        Self::of(all.into_iter().flat_map(|c| {
            c.verdicts.iter().map(|v| {
                let claim = c.claim(v);
                Counted {
                    statement: (&c.paper.id, &claim.place, &claim.says),
                    outcome: &v.outcome,
                    calibrated: claim.calibrated,
                    own: c.experiment.own_check,
                }
            })
        }))
    }

    pub(crate) fn of<'a>(all: impl IntoIterator<Item = Counted<'a>>) -> Self {
        let mut counts = Self::default();
        let mut statements: BTreeSet<Statement<'a>> = BTreeSet::new();
        for one in all {
            let verdict = match one.outcome {
                Outcome::Missing(_) => {
                    counts.missing += 1;
                    continue;
                }
                Outcome::LeftOut(_) => {
                    counts.left_out += 1;
                    continue;
                }
                Outcome::NotMeasured(_) => {
                    counts.not_measured += 1;
                    continue;
                }
                Outcome::Reproduced => 0,
                Outcome::SameDirection => 1,
                Outcome::NotReproduced => 2,
            };
            if one.calibrated {
                counts.calibrated += 1;
            } else if one.own {
                counts.own[verdict] += 1;
            } else {
                statements.insert(one.statement);
                *counts.three_mut()[verdict] += 1;
            }
        }
        counts.statements = statements.len();
        counts
    }

    fn three_mut(&mut self) -> [&mut usize; 3] {
        [&mut self.reproduced, &mut self.same_direction, &mut self.not_reproduced]
    }

    /// The three verdicts on a paper.
    pub const fn three(&self) -> [usize; 3] {
        [self.reproduced, self.same_direction, self.not_reproduced]
    }

    /// How many readings of the statements were judged.
    pub fn readings(&self) -> usize {
        self.three().iter().sum()
    }

    /// How many statements in how many readings the three verdicts are about.
    pub fn basis(&self) -> String {
        let n = |n: usize, what| format::plural(n as u64, what);
        format!("{} in {}", n(self.statements, "statement"), n(self.readings(), "reading"))
    }

    /// In a sentence; several lines if there are checks of our own.
    pub fn words(&self) -> String {
        let apart = [
            (self.calibrated, "calibrated, not counted"),
            (self.not_measured, "not measured"),
            (self.left_out, "only in full"),
            (self.missing, "missing"),
        ];
        let mut words = format!("{}: {}", self.basis(), three_words(self.three()));
        for (n, what) in apart.into_iter().filter(|(n, _)| *n > 0) {
            words.push_str(&format!(", {n} {what}"));
        }
        if self.own.iter().sum::<usize>() > 0 {
            words.push_str(&format!("\nchecks of our own: {}", three_words(self.own)));
        }
        words
    }
}

/// The three verdicts in words.
pub(crate) fn three_words([yes, near, no]: [usize; 3]) -> String {
    format!("{yes} reproduced, {near} in the same direction, {no} not reproduced")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one<'a>(says: &'a str, outcome: &'a Outcome) -> Counted<'a> {
        Counted { statement: ("p", "Fig. 1", says), outcome, calibrated: false, own: false }
    }

    /// Two readings of a statement are two verdicts; what says nothing about the paper is apart.
    #[test]
    fn statements_readings_calibrated_claims_and_own_checks_are_told_apart() {
        let (yes, no) = (Outcome::Reproduced, Outcome::NotReproduced);
        let (missing, none) = (Outcome::Missing("x".into()), Outcome::NotMeasured("y".into()));
        let all = [
            one("a", &yes),
            one("a", &no),
            one("b", &yes),
            Counted { calibrated: true, ..one("c", &yes) },
            Counted { own: true, ..one("d", &no) },
            Counted { own: true, ..one("d", &missing) },
            Counted { calibrated: true, ..one("e", &none) },
        ];
        let counts = Counts::of(all);
        let expected = Counts {
            statements: 2,
            reproduced: 2,
            not_reproduced: 1,
            not_measured: 1,
            missing: 1,
            calibrated: 1,
            own: [0, 0, 1],
            ..Counts::default()
        };
        assert_eq!(counts, expected);
        assert_eq!(
            counts.words(),
            "2 statements in 3 readings: 2 reproduced, 0 in the same direction, 1 not reproduced, \
             1 calibrated, not counted, 1 not measured, 1 missing\n\
             checks of our own: 0 reproduced, 0 in the same direction, 1 not reproduced"
        );
    }
}
