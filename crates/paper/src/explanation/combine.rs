//! Combinations of levels, and which of them are tried.

use super::Explanation;

/// One level per factor, by position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Combination(pub Vec<usize>);

/// Which combinations are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// All.
    Full,
    /// The primary reading, all single departures and all pairs of them; then, from the best
    /// combination, all with one departure more, until no further one holds more claims.
    Pairs,
    /// The same without the pairs, which are too many.
    Singles,
}

impl Design {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Full => "all combinations",
            Self::Pairs => {
                "the primary reading, all single departures, all pairs, and from the best of \
                 these one departure more as long as more claims hold"
            }
            Self::Singles => {
                "the primary reading, all single departures, and from the best of these one \
                 departure more as long as more claims hold"
            }
        }
    }
}

impl Explanation {
    /// The primary reading.
    pub fn primary(&self) -> Combination {
        Combination(self.factors.iter().map(|f| f.primary).collect())
    }

    /// How many combinations there are.
    pub fn count(&self) -> u128 {
        self.factors.iter().fold(1, |n, f| n.saturating_mul(f.levels.len() as u128))
    }

    /// Which of them are tried.
    pub fn design(&self) -> Design {
        if self.count() <= self.most as u128 {
            return Design::Full;
        }
        let departures = |f: &super::Factor| f.levels.len() - 1;
        let singles: usize = self.factors.iter().map(departures).sum();
        let squares: usize = self.factors.iter().map(|f| departures(f) * departures(f)).sum();
        match 1 + singles + (singles * singles - squares) / 2 <= self.most {
            true => Design::Pairs,
            false => Design::Singles,
        }
    }

    /// The factors in which a combination departs from the primary reading.
    pub fn departures(&self, combination: &Combination) -> Vec<usize> {
        let differs = |i: &usize| combination.0[*i] != self.factors[*i].primary;
        (0..self.factors.len()).filter(differs).collect()
    }

    /// All combinations that have one departure more.
    pub fn one_more(&self, from: &Combination) -> Vec<Combination> {
        let mut all = Vec::new();
        for (i, factor) in self.factors.iter().enumerate() {
            if from.0[i] != factor.primary {
                continue;
            }
            for level in (0..factor.levels.len()).filter(|l| *l != factor.primary) {
                let mut next = from.clone();
                next.0[i] = level;
                all.push(next);
            }
        }
        all
    }

    /// The combinations to begin with, by number of departures.
    pub fn first(&self) -> Vec<Combination> {
        let mut all = vec![self.primary()];
        match self.design() {
            Design::Full => {
                // each step adds one departure to those of the step before
                let mut last = all.clone();
                while !last.is_empty() {
                    last = last.iter().flat_map(|c| self.one_more(c)).collect();
                    last.sort();
                    last.dedup();
                    all.extend(last.iter().cloned());
                }
            }
            Design::Pairs => {
                let singles = self.one_more(&all[0]);
                let pairs = singles.iter().flat_map(|c| self.one_more(c));
                let mut pairs: Vec<Combination> = pairs.collect();
                pairs.sort();
                pairs.dedup();
                all.extend(singles);
                all.extend(pairs);
            }
            Design::Singles => all.extend(self.one_more(&self.primary())),
        }
        all
    }

    /// What is tried next: one departure more than in the best so far, unless that was tried.
    pub fn further(&self, best: &Combination, tried: &[Combination]) -> Vec<Combination> {
        if self.design() == Design::Full {
            return Vec::new();
        }
        let new = |c: &Combination| !tried.contains(c);
        self.one_more(best).into_iter().filter(new).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::{Applies, Factor, Level};
    use super::*;
    use space as space_of;

    /// Factors with so many levels, of which the first is primary.
    pub(crate) fn space(levels: &[usize], most: usize) -> Explanation {
        let level = |i: usize| Level {
            label: format!("level {i}"),
            contradicts: String::new(),
            changes: Vec::new(),
            full: None,
        };
        let factor = |(i, n): (usize, &usize)| Factor {
            name: format!("f{i}"),
            place: "open".into(),
            applies: Applies::ToPrimary,
            experiments: Vec::new(),
            levels: (0..*n).map(level).collect(),
            primary: 0,
        };
        Explanation {
            id: "x".into(),
            title: "X".into(),
            experiments: Vec::new(),
            variants: vec!["V".into()],
            claims: Vec::new(),
            quantities: Vec::new(),
            seeds: vec![1, 2, 3],
            fresh: vec![4, 5, 6],
            most,
            enough: None,
            factors: levels.iter().enumerate().map(factor).collect(),
            scenario: None,
            quick: Vec::new(),
        }
    }

    /// 2 x 3 levels: the primary reading, 1 + 2 single departures, 2 pairs.
    #[test]
    fn all_combinations_are_tried_up_to_the_bound_fewest_departures_first() {
        let space = space(&[2, 3], 6);
        assert_eq!(space.design(), Design::Full);
        let all: Vec<Vec<usize>> = space.first().into_iter().map(|c| c.0).collect();
        let expected: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]];
        assert_eq!(all, expected.map(|c| c.to_vec()));
        assert!(space.further(&Combination(vec![1, 2]), &[]).is_empty());
    }

    /// Four factors at two levels are 16 combinations; 1 + 4 + 6 of them have at most two
    /// departures.
    #[test]
    fn beyond_the_bound_singles_and_pairs_are_tried_and_then_the_best_is_extended() {
        let space = space(&[2, 2, 2, 2], 11);
        assert_eq!(space.design(), Design::Pairs);
        let tried = space.first();
        assert_eq!(tried.len(), 11);
        assert!(tried.iter().all(|c| space.departures(c).len() <= 2));
        let best = Combination(vec![1, 0, 1, 0]);
        let next = space.further(&best, &tried);
        assert_eq!(next, [vec![1, 1, 1, 0], vec![1, 0, 1, 1]].map(Combination));
        assert!(space.further(&best, &next).is_empty());
        let few = space_of(&[2, 2, 2, 2], 10);
        assert_eq!((few.design(), few.first().len()), (Design::Singles, 5));
    }

    /// A variant that no factor changes has one name under all combinations.
    #[test]
    fn variants_that_differ_in_nothing_share_a_name() {
        let mut space = space(&[2, 2], 8);
        space.factors[1].applies = Applies::ToAll;
        let [one, other] = [vec![1, 0], vec![1, 1]].map(Combination);
        assert_eq!(space.label("V", &one), "V [10]");
        assert_eq!(space.label("W", &one), space.label("W", &space.primary()));
        assert_eq!(space.label("W", &other), "W [1]");
    }
}
