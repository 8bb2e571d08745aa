//! Factorial designs: which of several settings, and which pairs of them, have an effect.

use crate::ALPHA;
use crate::estimate::{Estimate, mean_at, p_of_zero_mean};
use crate::student::quantile;
use libm::sqrt;

/// The most factors of a full factorial: 64 cells.
pub const MOST_FULL: usize = 6;

/// A design at two levels: each cell a set of factors that are at their high level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// How many factors.
    pub factors: usize,
    /// The cells; bit `i` is set where factor `i` is high.
    pub cells: Vec<u32>,
    /// In a fraction, the further factors as products of base factors (as bit sets).
    pub generators: Vec<u32>,
}

impl Design {
    /// The full factorial of up to [`MOST_FULL`] factors, or else a fraction of resolution V in 64
    /// cells; `None` above eight factors.
    pub fn new(factors: usize) -> Option<Self> {
        match factors {
            0..=MOST_FULL => Some(Self::fraction(factors, Vec::new())),
            // G = ABCDEF
            7 => Some(Self::fraction(7, vec![0b11_1111])),
            // G = ABCD, H = ABEF
            8 => Some(Self::fraction(8, vec![0b00_1111, 0b11_0011])),
            _ => None,
        }
    }

    fn fraction(factors: usize, generators: Vec<u32>) -> Self {
        let base = factors - generators.len();
        let complete = |cell: u32| {
            generators.iter().enumerate().fold(cell, |all, (i, set)| {
                // the product of signs is positive if an even number of them is negative
                let negative = (set & !cell).count_ones();
                all | u32::from(negative.is_multiple_of(2)) << (base + i)
            })
        };
        Self { factors, cells: (0..1_u32 << base).map(complete).collect(), generators }
    }

    /// The sign of the effect of `set` (one factor, or an interaction) in `cell`.
    pub fn sign(set: u32, cell: u32) -> f64 {
        if (set & !cell).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    /// Main effects, then interactions of two factors.
    pub fn terms(&self) -> Vec<u32> {
        let one = |i: usize| 1_u32 << i;
        let pairs = (0..self.factors).flat_map(|i| (i + 1..self.factors).map(move |j| (i, j)));
        (0..self.factors).map(one).chain(pairs.map(|(i, j)| one(i) | one(j))).collect()
    }
}

/// The effect of a factor or an interaction, over seeds as blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Which factors, as a set of bits.
    pub set: u32,
    /// q of each seed: half the change from low to high.
    pub per_seed: Vec<f64>,
    /// Its mean with the interval over seeds.
    pub q: Estimate,
    /// The p-value of no effect.
    pub p: f64,
}

/// The effects of a design: `responses[cell][seed]`, cells in the order of the design.
///
/// # Panics
/// If a cell is missing or cells have different numbers of seeds.
pub fn effects(design: &Design, responses: &[Vec<f64>]) -> Vec<Effect> {
    assert_eq!(responses.len(), design.cells.len(), "a response for every cell");
    let seeds = responses.first().map_or(0, Vec::len);
    assert!(responses.iter().all(|r| r.len() == seeds), "the same seeds in every cell");
    let q = |set: u32, seed: usize| {
        let signed = design.cells.iter().zip(responses);
        let sum: f64 = signed.map(|(&cell, y)| Design::sign(set, cell) * y[seed]).sum();
        sum / design.cells.len() as f64
    };
    let effect = |set: u32| {
        let per_seed: Vec<f64> = (0..seeds).map(|seed| q(set, seed)).collect();
        let estimate = mean_at(&per_seed, ALPHA)?;
        let p = if seeds < 2 { 1.0 } else { p_of_zero_mean(&per_seed) };
        Some(Effect { set, per_seed, q: estimate, p })
    };
    design.terms().into_iter().filter_map(effect).collect()
}

/// The pooled analysis of a replicated design, for independent replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooled {
    /// The standard error of an effect.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// The share of all variation that each effect explains, in the order of [`Design::terms`].
    pub shares: Vec<f64>,
    /// The share that no effect explains.
    pub unexplained: f64,
}

impl Pooled {
    /// Half the width of an effect's interval at level 1 - `alpha`.
    pub fn half_width(&self, alpha: f64) -> f64 {
        quantile(self.degrees, alpha) * self.standard_error
    }
}

/// Pools the errors of all cells (full factorials with two replications or more); else `None`.
pub fn pooled(design: &Design, responses: &[Vec<f64>]) -> Option<Pooled> {
    let (cells, runs) = (design.cells.len() as f64, responses.first()?.len());
    if !design.generators.is_empty() || runs < 2 {
        return None;
    }
    let r = runs as f64;
    let mean = |y: &[f64]| y.iter().sum::<f64>() / y.len() as f64;
    let within: f64 = responses
        .iter()
        .flat_map(|y| {
            let centre = mean(y);
            y.iter().map(move |v| (v - centre) * (v - centre))
        })
        .sum();
    let all: Vec<f64> = responses.iter().flatten().copied().collect();
    let centre = mean(&all);
    let total: f64 = all.iter().map(|v| (v - centre) * (v - centre)).sum();
    let degrees = design.cells.len() * (runs - 1);
    let standard_error = sqrt(within / degrees as f64) / sqrt(cells * r);
    let squares = |e: &Effect| cells * r * e.q.value * e.q.value / total;
    let shares = effects(design, responses).iter().map(squares).collect();
    Some(Pooled { standard_error, degrees, shares, unexplained: within / total })
}

/// Holm's correction: p-values of several tests made comparable with one level.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut corrected = vec![0.0; p.len()];
    let mut floor: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        floor = floor.max((p[i] * (p.len() - rank) as f64).min(1.0));
        corrected[i] = floor;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::tests::near;

    /// Worked example 10: cells (-,-), A, B, AB; three seeds each.
    fn cache_and_memory() -> (Design, Vec<Vec<f64>>) {
        let responses =
            [[15.0, 18.0, 12.0], [45.0, 48.0, 51.0], [25.0, 28.0, 19.0], [75.0, 75.0, 81.0]];
        (Design::new(2).unwrap(), responses.map(|r| r.to_vec()).to_vec())
    }

    #[test]
    fn effects_are_those_of_the_textbook_example() {
        let (design, responses) = cache_and_memory();
        let found = effects(&design, &responses);
        let expected: [(f64, [f64; 3], f64); 3] = [
            (21.5, [20.0, 19.25, 25.25], 8.121_079),
            (9.5, [10.0, 9.25, 9.25], 1.075_663),
            (5.0, [5.0, 4.25, 5.75], 1.863_103),
        ];
        for (effect, (q, per_seed, half)) in found.iter().zip(expected) {
            near(effect.q.value, q);
            assert_eq!(effect.per_seed, per_seed);
            near(effect.q.interval.half_width(), half);
        }
    }

    #[test]
    fn pooled_errors_are_those_of_the_textbook_example() {
        let (design, responses) = cache_and_memory();
        let pooled = pooled(&design, &responses).unwrap();
        near(pooled.standard_error, 1.030_776);
        assert_eq!(pooled.degrees, 8);
        near(pooled.half_width(0.10), 1.916_778);
        near(pooled.half_width(0.05), 2.376_975);
        for (share, expected) in pooled.shares.iter().zip([0.788_823, 0.154_010, 0.042_662]) {
            assert!((share - expected).abs() < 1e-6);
        }
        assert!((pooled.unexplained - 0.014_505).abs() < 1e-6);
    }

    /// Worked example 11.
    #[test]
    fn holm_corrects_for_many_tests() {
        let corrected = holm(&[0.001, 0.012, 0.021, 0.04, 0.3]);
        for (p, expected) in corrected.iter().zip([0.005, 0.048, 0.063, 0.08, 0.3]) {
            near(*p, expected);
        }
        assert_eq!(corrected.iter().filter(|p| **p < ALPHA).count(), 2);
        // the order of the tests does not matter
        assert_eq!(holm(&[0.3, 0.001]), [0.3, 0.002]);
    }

    #[test]
    fn fractions_keep_main_effects_and_pairs_apart() {
        for factors in [7, 8] {
            let design = Design::new(factors).unwrap();
            assert_eq!(design.cells.len(), 64);
            let terms = design.terms();
            for (i, a) in terms.iter().enumerate() {
                for b in &terms[..i] {
                    let product: f64 = design
                        .cells
                        .iter()
                        .map(|&c| Design::sign(*a, c) * Design::sign(*b, c))
                        .sum();
                    assert_eq!(product, 0.0, "{factors}: {a:b} and {b:b}");
                }
            }
        }
        assert_eq!(Design::new(9), None);
    }
}
