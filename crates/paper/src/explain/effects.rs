//! Which factors move which claims: main effects and interactions of two factors.
//!
//! An effect is the change of what a claim compares from the primary level of a factor to another,
//! averaged over all settings of the other factors for which both were run, within seeds; an
//! interaction is by how much the effect of one factor changes with the other. On the logarithmic
//! scale both are factors: 2 doubles it, and an interaction of 1 means that effects multiply.

use super::score::Scored;
use crate::explanation::{Combination, Explanation};
use std::collections::BTreeMap;
use weir_stats::design::holm;
use weir_stats::{ALPHA, Estimate, Interval, mean_at, p_of_zero_mean};

/// A departure, or two together: factor and level of each.
pub type Term = Vec<(usize, usize)>;

/// The effect of a term on a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Which of the scored claims.
    pub claim: usize,
    /// Of what.
    pub term: Term,
    /// Whether the estimate is a logarithm.
    pub log: bool,
    /// The mean over seeds with its interval.
    pub estimate: Estimate,
    /// The p-value of no effect, corrected for all effects of all claims (Holm).
    pub p: f64,
    /// Over how many settings of the other factors it is averaged.
    pub settings: usize,
}

impl Effect {
    /// Whether it can be told from none although so many were looked at.
    pub fn present(&self) -> bool {
        self.p < ALPHA
    }

    /// Whether its own interval excludes no effect.
    pub fn clear(&self) -> bool {
        !self.estimate.interval.contains(0.0)
    }

    /// As a factor where it is a logarithm, else as it is.
    pub fn shown(&self) -> Estimate {
        if !self.log {
            return self.estimate;
        }
        let Estimate { value, interval, seeds } = self.estimate;
        let interval = Interval::new(libm::exp(interval.low), libm::exp(interval.high));
        Estimate { value: libm::exp(value), interval, seeds }
    }
}

/// All single departures, then all pairs of departures of two factors.
pub fn terms(explanation: &Explanation) -> Vec<Term> {
    let mut singles: Vec<(usize, usize)> = Vec::new();
    for (i, factor) in explanation.factors.iter().enumerate() {
        singles.extend((0..factor.levels.len()).filter(|l| *l != factor.primary).map(|l| (i, l)));
    }
    let mut all: Vec<Term> = singles.iter().map(|s| vec![*s]).collect();
    for (i, a) in singles.iter().enumerate() {
        let others = singles[i + 1..].iter().filter(|b| b.0 != a.0);
        all.extend(others.map(|b| vec![*a, *b]));
    }
    all
}

/// All effects on all claims, corrected for their number.
pub fn effects(explanation: &Explanation, scored: &[Scored], claims: usize) -> Vec<Effect> {
    let terms = terms(explanation);
    let mut all: Vec<Effect> = Vec::new();
    for claim in 0..claims {
        let responses = scored.iter().filter_map(|s| Some((s, s.responses[claim].as_ref()?)));
        let log = responses.clone().all(|(_, r)| r.log);
        let exact = responses.clone().all(|(_, r)| r.exact);
        // differences and logarithms cannot be compared with each other
        if !log && responses.clone().any(|(_, r)| r.log) {
            continue;
        }
        let cells: BTreeMap<&Combination, &[f64]> =
            responses.map(|(s, r)| (&s.combination, r.numbers.as_slice())).collect();
        for term in &terms {
            let Some((numbers, settings)) = contrast(explanation, &cells, term) else { continue };
            let found = if exact { stated(&numbers) } else { estimated(&numbers) };
            let Some((estimate, p)) = found else { continue };
            all.push(Effect { claim, term: term.clone(), log, estimate, p, settings });
        }
    }
    let corrected = holm(&all.iter().map(|e| e.p).collect::<Vec<_>>());
    all.iter_mut().zip(corrected).for_each(|(e, p)| e.p = p);
    all
}

/// An effect and its p-value by itself, where nothing is random.
fn stated(numbers: &[f64]) -> Option<(Estimate, f64)> {
    let value = *numbers.first()?;
    let estimate = Estimate { value, interval: Interval::point(value), seeds: numbers.len() };
    Some((estimate, if value == 0.0 { 1.0 } else { 0.0 }))
}

/// The estimate of an effect over seeds and its p-value by itself.
fn estimated(numbers: &[f64]) -> Option<(Estimate, f64)> {
    let p = if numbers.len() < 2 { 1.0 } else { p_of_zero_mean(numbers) };
    Some((mean_at(numbers, ALPHA)?, p))
}

/// The contrast of a term per seed, averaged over all settings of the other factors that have all
/// its cells, and how many those are; `None` without any.
fn contrast(
    explanation: &Explanation,
    cells: &BTreeMap<&Combination, &[f64]>,
    term: &Term,
) -> Option<(Vec<f64>, usize)> {
    let seeds = cells.values().map(|numbers| numbers.len()).min()?;
    let (mut sums, mut settings) = (vec![0.0; seeds], 0_usize);
    let departed = |c: &Combination| term.iter().all(|(f, l)| c.0[*f] == *l);
    for from in cells.keys().filter(|c| departed(c)) {
        // every subset of the term taken back to the primary level, with its sign
        let corners: Option<Vec<(f64, &[f64])>> = (0..1_usize << term.len())
            .map(|back| {
                let mut cell = (*from).clone();
                for (i, (f, _)) in term.iter().enumerate() {
                    if back >> i & 1 == 1 {
                        cell.0[*f] = explanation.factors[*f].primary;
                    }
                }
                let sign = if back.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                Some((sign, *cells.get(&cell)?))
            })
            .collect();
        let Some(corners) = corners else { continue };
        settings += 1;
        for (seed, sum) in sums.iter_mut().enumerate() {
            *sum += corners.iter().map(|(sign, numbers)| sign * numbers[seed]).sum::<f64>();
        }
    }
    if settings == 0 {
        return None;
    }
    sums.iter_mut().for_each(|sum| *sum /= settings as f64);
    Some((sums, settings))
}

/// The effects of terms of so many factors that can be told from none, strongest first: of each
/// claim at most one per term.
pub fn strongest(effects: &[Effect], factors: usize) -> Vec<&Effect> {
    let size = |e: &Effect| libm::fabs(e.estimate.value);
    let wanted = |e: &&Effect| e.clear() && e.term.len() == factors && e.log;
    let mut all: Vec<&Effect> = effects.iter().filter(wanted).collect();
    // what survives the correction first
    all.sort_by(|a, b| b.present().cmp(&a.present()).then(size(b).total_cmp(&size(a))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::tests::space;
    use crate::judge::Response;

    /// One claim whose response to a combination is known, for seeds that differ by a constant.
    fn scored(
        explanation: &Explanation,
        combinations: Vec<Combination>,
        of: impl Fn(&[usize]) -> f64,
    ) -> Vec<Scored> {
        let _ = explanation;
        let one = |combination: Combination| {
            // what a seed does to all combinations alike cancels
            let numbers = [0.0, 10.0, -7.0].map(|seed| of(&combination.0) + seed).to_vec();
            let response = Response { numbers, log: true, exact: false };
            Scored {
                combination,
                verdicts: Vec::new(),
                same_runs: Vec::new(),
                responses: vec![Some(response)],
            }
        };
        combinations.into_iter().map(one).collect()
    }

    fn value(all: &[Effect], term: &[(usize, usize)]) -> f64 {
        all.iter().find(|e| e.term == term).expect("an effect").estimate.value
    }

    /// y = 2a + 3b, and b at its third level 5.
    #[test]
    fn additive_factors_have_their_effects_and_no_interaction() {
        let space = space(&[2, 3], 8);
        let y = |c: &[usize]| 2.0 * c[0] as f64 + [0.0, 3.0, 5.0][c[1]];
        let all = effects(&space, &scored(&space, space.first(), y), 1);
        assert_eq!(all.len(), 3 + 2);
        assert!((value(&all, &[(0, 1)]) - 2.0).abs() < 1e-12);
        assert!((value(&all, &[(1, 1)]) - 3.0).abs() < 1e-12);
        assert!((value(&all, &[(1, 2)]) - 5.0).abs() < 1e-12);
        for level in [1, 2] {
            assert!(value(&all, &[(0, 1), (1, level)]).abs() < 1e-12);
        }
        // seeds differ in level only: the interval has no width
        assert!(all.iter().all(|e| e.estimate.interval.half_width() < 1e-12));
        assert!(all[0].settings == 3 && all[0].present());
    }

    /// y = a + b + 4ab: averaged over the other factor, 1 + 4/2 each.
    #[test]
    fn an_interaction_is_what_both_do_beyond_their_sum() {
        let space = space(&[2, 2, 2], 8);
        let y = |c: &[usize]| (c[0] + c[1] + 4 * c[0] * c[1]) as f64;
        let all = effects(&space, &scored(&space, space.first(), y), 1);
        assert!((value(&all, &[(0, 1)]) - 3.0).abs() < 1e-12);
        assert!((value(&all, &[(0, 1), (1, 1)]) - 4.0).abs() < 1e-12);
        assert!(value(&all, &[(2, 1)]).abs() < 1e-12);
        let shown = all[0].shown();
        assert!((shown.value - libm::exp(3.0)).abs() < 1e-9);
        assert_eq!(strongest(&all, 2)[0].term, [(0, 1), (1, 1)]);
    }

    /// Jain's cache and memory example: changes are twice (interactions four times) his effects of
    /// 21.5, 9.5 and 5; the half width of A is twice 8.121079.
    #[test]
    fn effects_of_two_levels_are_those_of_the_textbook() {
        let space = space(&[2, 2], 8);
        let cells = [
            ([0, 0], [15.0, 18.0, 12.0]),
            ([1, 0], [45.0, 48.0, 51.0]),
            ([0, 1], [25.0, 28.0, 19.0]),
            ([1, 1], [75.0, 75.0, 81.0]),
        ];
        let one = |(levels, numbers): &([usize; 2], [f64; 3])| Scored {
            combination: Combination(levels.to_vec()),
            verdicts: Vec::new(),
            same_runs: Vec::new(),
            responses: vec![Some(Response { numbers: numbers.to_vec(), log: false, exact: false })],
        };
        let all = effects(&space, &cells.iter().map(one).collect::<Vec<_>>(), 1);
        assert_eq!(value(&all, &[(0, 1)]), 43.0);
        assert_eq!(value(&all, &[(1, 1)]), 19.0);
        assert_eq!(value(&all, &[(0, 1), (1, 1)]), 20.0);
        assert!((all[0].estimate.interval.half_width() - 16.242_158).abs() < 1e-5);
    }

    /// Without the third-order cells of a design of pairs, effects are averaged over what is there.
    #[test]
    fn a_part_of_the_combinations_gives_the_effects_of_that_part() {
        let space = space(&[2, 2, 2], 7);
        let combinations = space.first();
        assert_eq!(combinations.len(), 7);
        let y = |c: &[usize]| (c[0] + 2 * c[1] + 3 * c[2]) as f64;
        let all = effects(&space, &scored(&space, combinations, y), 1);
        for (i, expected) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            assert!((value(&all, &[(i, 1)]) - expected).abs() < 1e-12);
        }
        // alone, and beside each of the two others
        assert_eq!(all[0].settings, 3);
        assert_eq!(all.iter().find(|e| e.term.len() == 2).expect("a pair").settings, 1);
    }

    #[test]
    fn where_nothing_is_random_an_effect_is_exact() {
        assert_eq!(stated(&[2.0]).expect("one").0.interval, Interval::point(2.0));
        assert_eq!(estimated(&[2.0]).expect("one").1, 1.0);
    }
}
