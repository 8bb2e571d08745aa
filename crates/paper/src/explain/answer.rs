//! Which departures from the primary reading are needed.

use super::score::Scored;
use crate::explanation::Explanation;

/// The best that was found, by number of departures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// For each number of departures the combinations that hold most claims, by position; those
    /// with more claims within the paper's margin first. All that hold as many are listed.
    pub best: Vec<Vec<usize>>,
    /// How many claims are to hold.
    pub enough: usize,
    /// The combinations with the fewest departures under which so many hold; none if there are
    /// none.
    pub smallest: Vec<usize>,
    /// The most claims that hold together.
    pub most: usize,
    /// The combinations with the fewest departures under which they do.
    pub of_most: Vec<usize>,
}

impl Answer {
    /// Of what came out under each combination; `claims` is their number.
    pub fn new(explanation: &Explanation, scored: &[Scored], claims: usize) -> Self {
        let departures = |i: usize| explanation.departures(&scored[i].combination).len();
        let rank = |i: &usize| {
            let s = &scored[*i];
            (std::cmp::Reverse((s.held(), s.within_margin())), s.combination.clone())
        };
        let mut best = Vec::new();
        for k in 0..=explanation.factors.len() {
            let of: Vec<usize> = (0..scored.len()).filter(|i| departures(*i) == k).collect();
            let Some(most) = of.iter().map(|i| scored[*i].held()).max() else { continue };
            let mut of: Vec<usize> = of.into_iter().filter(|i| scored[*i].held() == most).collect();
            of.sort_by_key(rank);
            best.push(of);
        }
        let enough = explanation.enough.unwrap_or(claims / 2 + 1);
        let held = |of: &Vec<usize>| of.first().map_or(0, |i| scored[*i].held());
        let with = |least: usize| {
            let first = best.iter().find(|of| held(of) >= least);
            first.cloned().unwrap_or_default()
        };
        let most = best.iter().map(held).max().unwrap_or(0);
        let (smallest, of_most) = (with(enough), with(most));
        // all that reach it with as few departures, not the best of them only
        let reach = |of: Vec<usize>, least: usize| match of.first() {
            None => of,
            Some(first) => {
                let k = departures(*first);
                let mut all: Vec<usize> = (0..scored.len())
                    .filter(|i| departures(*i) == k && scored[*i].held() >= least)
                    .collect();
                all.sort_by_key(rank);
                all
            }
        };
        let smallest = reach(smallest, enough);
        Self { best, enough, smallest, most, of_most }
    }

    /// The combinations to be confirmed: the primary reading, the smallest sets, and the best by
    /// number of departures up to the one under which most hold; at most `most` of them.
    pub fn to_confirm(&self, most: usize) -> Vec<usize> {
        let primary = self.best.first().and_then(|of| of.first());
        let mut all: Vec<usize> = Vec::new();
        let firsts = [self.smallest.first(), self.of_most.first()].into_iter().flatten();
        let ties = self.smallest.iter().chain(&self.of_most);
        let rest = self.best.iter().filter_map(|of| of.first());
        for i in primary.into_iter().chain(firsts).chain(ties).chain(rest) {
            if !all.contains(i) {
                all.push(*i);
            }
        }
        all.truncate(most);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Combination;
    use crate::explanation::tests::space;
    use crate::verdict::{ClaimOutcome, Verdict};
    use weir_stats::verdict::Judgement::{NotReproduced, Reproduced};

    /// What holds under a combination: so many of five claims.
    fn scored(levels: &[usize], held: usize) -> Scored {
        let verdict = |i: usize| {
            let judgement = if i < held { Reproduced } else { NotReproduced };
            Verdict { outcome: ClaimOutcome::Judged(judgement), ..Verdict::default() }
        };
        Scored {
            combination: Combination(levels.to_vec()),
            verdicts: (0..5).map(verdict).collect(),
            same_runs: vec![false; 5],
            responses: vec![None; 5],
        }
    }

    #[test]
    fn the_smallest_set_has_the_fewest_departures_and_all_ties_are_listed() {
        let space = space(&[2, 2, 2], 8);
        let all = [
            scored(&[0, 0, 0], 1),
            scored(&[1, 0, 0], 2),
            scored(&[0, 1, 0], 3),
            scored(&[0, 0, 1], 3),
            scored(&[1, 1, 0], 4),
            scored(&[1, 0, 1], 2),
            scored(&[0, 1, 1], 3),
            scored(&[1, 1, 1], 4),
        ];
        // more than half of five are three
        let answer = Answer::new(&space, &all, 5);
        assert_eq!((answer.enough, &answer.smallest[..]), (3, &[3, 2][..]));
        // three departures hold no more than two
        assert_eq!((answer.most, &answer.of_most[..]), (4, &[4][..]));
        assert_eq!(answer.best, [vec![0], vec![3, 2], vec![4], vec![7]]);
        assert_eq!(answer.to_confirm(3), [0, 3, 4]);
        assert_eq!(answer.to_confirm(9), [0, 3, 4, 2, 7]);
    }

    #[test]
    fn nothing_is_needed_where_the_primary_reading_does_and_nothing_helps_where_none_does() {
        let mut space = space(&[2], 8);
        let answer = Answer::new(&space, &[scored(&[0], 3), scored(&[1], 5)], 5);
        assert_eq!((&answer.smallest[..], &answer.of_most[..]), (&[0][..], &[1][..]));
        space.enough = Some(4);
        let answer = Answer::new(&space, &[scored(&[0], 3), scored(&[1], 2)], 5);
        assert_eq!((&answer.smallest[..], &answer.of_most[..]), (&[][..], &[0][..]));
    }
}
