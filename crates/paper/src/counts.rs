//! How many statements of papers came out how.

use super::claim::Sort;
use super::four::Four;
use super::run::Collected;
use super::verdict::ClaimOutcome;
use std::collections::BTreeSet;
use weir_core::format;

/// How many verdicts there are of each kind.
///
/// A statement of a paper is a place and what is said there. It has a verdict for each reading: for
/// each claim that reads it differently, and for each variant that a claim looks at. Numbers,
/// orders and trends are counted apart, and so are the primary reading and the others. Two kinds of
/// verdicts say nothing about a paper and are counted apart, too: those of calibrated claims, whose
/// number a setting was chosen by, and those of checks of our own, which no paper has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Statements that are judged.
    pub statements: usize,
    /// Verdicts on the primary reading: numbers, orders, trends.
    pub primary: [Four; 3],
    /// Verdicts on other readings: numbers, orders, trends.
    pub others: [Four; 3],
    /// Cannot be checked here.
    pub not_measured: usize,
    /// Left out by the quick run.
    pub left_out: usize,
    /// Without a number.
    pub missing: usize,
    /// Calibrated, whatever they came to.
    pub calibrated: usize,
    /// Checks of our own.
    pub own: Four,
}

/// What names a statement: paper, place and text.
type Statement<'a> = (&'a str, &'a str, &'a str);

/// One verdict, as far as it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) statement: Statement<'a>,
    pub(crate) outcome: &'a ClaimOutcome,
    pub(crate) sort: Sort,
    pub(crate) primary: bool,
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
                    sort: claim.sort(),
                    primary: v.primary,
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
            let judgement = match one.outcome {
                ClaimOutcome::Missing(_) => {
                    counts.missing += 1;
                    continue;
                }
                ClaimOutcome::LeftOut(_) => {
                    counts.left_out += 1;
                    continue;
                }
                ClaimOutcome::NotMeasured(_) => {
                    counts.not_measured += 1;
                    continue;
                }
                ClaimOutcome::Judged(judgement) => *judgement,
            };
            if one.calibrated {
                counts.calibrated += 1;
            } else if one.own {
                counts.own.add(judgement);
            } else {
                statements.insert(one.statement);
                let of = if one.primary { &mut counts.primary } else { &mut counts.others };
                of[one.sort as usize].add(judgement);
            }
        }
        counts.statements = statements.len();
        counts
    }

    /// All verdicts on papers together.
    pub fn all(&self) -> Four {
        let both = self.primary.iter().chain(&self.others);
        both.fold(Four::default(), |sum, four| sum.with(*four))
    }

    /// How many readings of the statements were judged.
    pub fn readings(&self) -> usize {
        self.all().total()
    }

    /// How many statements in how many readings the verdicts are about.
    pub fn basis(&self) -> String {
        let n = |n: usize, what| format::plural(n as u64, what);
        format!("{} in {}", n(self.statements, "statement"), n(self.readings(), "reading"))
    }

    /// The verdicts of one reading, a line each for numbers, orders and trends.
    fn lines(&self, of: &[Four; 3], reading: &str) -> Vec<String> {
        let all = Sort::ALL.iter().zip(of).filter(|(_, four)| four.total() > 0);
        all.map(|(sort, four)| {
            let many = format::plural(four.total() as u64, sort.name());
            format!("{reading}, {many}: {}", four.words())
        })
        .collect()
    }

    /// In lines: the primary reading first.
    pub fn words(&self) -> String {
        let apart = [
            (self.calibrated, "calibrated, not counted"),
            (self.not_measured, "not measured"),
            (self.left_out, "only in full"),
            (self.missing, "missing"),
        ];
        let mut first = self.basis();
        for (n, what) in apart.into_iter().filter(|(n, _)| *n > 0) {
            first.push_str(&format!(", {n} {what}"));
        }
        let mut lines = vec![first];
        lines.extend(self.lines(&self.primary, "primary reading"));
        lines.extend(self.lines(&self.others, "other readings"));
        if self.own.total() > 0 {
            lines.push(format!("checks of our own: {}", self.own.words()));
        }
        lines.join("\n")
    }

    /// How many verdicts chance may have decided wrongly, in words: each is at 95 % on its own.
    pub fn by_chance(&self) -> String {
        let judged = self.readings();
        let wrong = libm::round(judged as f64 * weir_stats::ALPHA);
        format!(
            "Each verdict by intervals is at 95 % on its own: of {judged} about {wrong} may be \
             decided wrongly by chance."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_stats::verdict::Judgement;

    fn one<'a>(says: &'a str, outcome: &'a ClaimOutcome) -> Counted<'a> {
        Counted {
            statement: ("p", "Fig. 1", says),
            outcome,
            sort: Sort::Number,
            primary: true,
            calibrated: false,
            own: false,
        }
    }

    /// Two readings of a statement are two verdicts; what says nothing about the paper is apart.
    #[test]
    fn kinds_readings_calibrated_claims_and_own_checks_are_told_apart() {
        let (yes, no) = (
            ClaimOutcome::Judged(Judgement::Reproduced),
            ClaimOutcome::Judged(Judgement::NotReproduced),
        );
        let open = ClaimOutcome::Judged(Judgement::NotDistinguishable);
        let (missing, none) =
            (ClaimOutcome::Missing("x".into()), ClaimOutcome::NotMeasured("y".into()));
        let all = [
            one("a", &yes),
            Counted { primary: false, ..one("a", &no) },
            Counted { sort: Sort::Order, ..one("b", &open) },
            Counted { calibrated: true, ..one("c", &yes) },
            Counted { own: true, ..one("d", &no) },
            Counted { own: true, ..one("d", &missing) },
            Counted { calibrated: true, ..one("e", &none) },
        ];
        let counts = Counts::of(all);
        assert_eq!((counts.statements, counts.readings()), (2, 3));
        assert_eq!(counts.primary.map(|f| f.numbers()), [[1, 0, 0, 0], [0, 0, 0, 1], [0; 4]]);
        assert_eq!(counts.others.map(|f| f.numbers()), [[0, 0, 1, 0], [0; 4], [0; 4]]);
        assert_eq!(
            counts.words(),
            "2 statements in 3 readings, 1 calibrated, not counted, 1 not measured, 1 missing\n\
             primary reading, 1 number: 1 reproduced, 0 in the same direction, 0 not reproduced, \
             0 not distinguishable\n\
             primary reading, 1 order: 0 reproduced, 0 in the same direction, 0 not reproduced, \
             1 not distinguishable\n\
             other readings, 1 number: 0 reproduced, 0 in the same direction, 1 not reproduced, \
             0 not distinguishable\n\
             checks of our own: 0 reproduced, 0 in the same direction, 1 not reproduced, 0 not \
             distinguishable"
        );
    }
}
