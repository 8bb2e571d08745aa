//! Does a claim hold? Judged by intervals, never by point estimates.
//!
//! A claim has a *margin*, inside which a number counts as reproduced, and a *side*, the values
//! that at least agree in direction. The interval over seeds decides; an interval that admits
//! several answers gives [`Judgement::NotDistinguishable`], which is a result too.

use crate::ALPHA;
use crate::estimate::{Estimate, Interval, paired_difference_at};
use crate::page::page;
use crate::ratios::{jackknife_error, ratio_at};
use crate::student::quantile;

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// The whole interval is within the margin.
    Reproduced,
    /// The whole interval is on the claim's side, but not within the margin.
    SameDirection(Size),
    /// The interval excludes the claim's side.
    NotReproduced,
    /// The interval admits more than one of these.
    NotDistinguishable,
}

/// What is known about the size of an effect whose direction is as claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// The interval excludes the margin.
    Differs,
    /// The interval and the margin overlap.
    Open,
}

/// The values that agree with a claim in direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// Larger than this: an increase, a gain.
    Above(f64),
    /// Smaller than this.
    Below(f64),
    /// At most this: a limit with its tolerance.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// Inside; for claims without a direction.
    Within(Interval),
}

impl Side {
    fn holds(self, i: Interval) -> bool {
        match self {
            Self::Above(x) => i.low > x,
            Self::Below(x) => i.high < x,
            Self::AtMost(x) => i.high <= x,
            Self::AtLeast(x) => i.low >= x,
            Self::Within(range) => i.within(range),
        }
    }

    fn excludes(self, i: Interval) -> bool {
        match self {
            Self::Above(x) => i.high <= x,
            Self::Below(x) => i.low >= x,
            Self::AtMost(x) => i.low > x,
            Self::AtLeast(x) => i.high < x,
            Self::Within(range) => !i.meets(range),
        }
    }
}

/// A claim about a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberClaim {
    margin: Interval,
    side: Side,
}

/// The margin of a claim contains values on the other side: it could not tell an effect from none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarginWithoutEffect;

impl NumberClaim {
    /// A claim with this margin and side; refused unless the margin is on the side.
    pub fn new(margin: Interval, side: Side) -> Result<Self, MarginWithoutEffect> {
        if side.holds(margin) { Ok(Self { margin, side }) } else { Err(MarginWithoutEffect) }
    }

    /// What an estimate with its interval says about the claim.
    pub fn judge(&self, estimate: f64, interval: Interval) -> Judgement {
        let in_margin = interval.meets(self.margin);
        if interval.within(self.margin) {
            return Judgement::Reproduced;
        }
        if self.side.holds(interval) {
            let size = if in_margin { Size::Open } else { Size::Differs };
            return Judgement::SameDirection(size);
        }
        let refuted = match self.side {
            Side::Within(range) => !in_margin && !range.contains(estimate),
            side => side.excludes(interval),
        };
        if refuted { Judgement::NotReproduced } else { Judgement::NotDistinguishable }
    }

    /// How far the estimate is from the nearest value at which the judgement would change: the
    /// half-width that would decide.
    pub fn distance(&self, estimate: f64) -> f64 {
        let mut edges = vec![self.margin.low, self.margin.high];
        match self.side {
            Side::Above(x) | Side::Below(x) | Side::AtMost(x) | Side::AtLeast(x) => edges.push(x),
            Side::Within(range) => edges.extend([range.low, range.high]),
        }
        edges.iter().map(|e| (estimate - e).abs()).fold(f64::INFINITY, f64::min)
    }
}

/// How strictly neighbours of an order must differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strictness {
    /// Each must be smaller than the next.
    Strict,
    /// Each may exceed the next by this share of the next one's mean.
    UpTo(f64),
}

/// Whether `rising[0] < rising[1] < ...`, judged by paired differences of neighbours; one value per
/// seed in each.
pub fn order(rising: &[&[f64]], strictness: Strictness) -> Judgement {
    order_at(rising, strictness, ALPHA)
}

/// As [`order`], at level 1 - `alpha`.
pub fn order_at(rising: &[&[f64]], strictness: Strictness, alpha: f64) -> Judgement {
    let pairs = rising.windows(2);
    let count = pairs.len() as f64;
    let step = |pair: &[&[f64]]| {
        let at = |alpha| paired_difference_at(pair[0], pair[1], alpha).map(|d| d.interval);
        let mean = pair[1].iter().sum::<f64>() / pair[1].len() as f64;
        Some(Step { alone: at(alpha)?, shared: at(alpha / count)?, next: mean })
    };
    match pairs.map(step).collect::<Option<Vec<Step>>>() {
        Some(steps) => order_of(&steps, strictness),
        None => Judgement::NotDistinguishable,
    }
}

/// The difference of two neighbours of an order, the one that is claimed to be smaller first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Its interval.
    pub alone: Interval,
    /// Its interval at a level shared among all pairs.
    pub shared: Interval,
    /// The estimate of the second, which [`Strictness::UpTo`] is a share of.
    pub next: f64,
}

/// What the differences of neighbours say about an order.
pub fn order_of(steps: &[Step], strictness: Strictness) -> Judgement {
    let (mut all, mut refuted) = (true, false);
    for step in steps {
        // all pairs must hold, so none needs a correction; a single one refutes, so that does
        match strictness {
            Strictness::Strict => {
                all &= step.alone.high < 0.0;
                // equal values, without any spread, are not in this order
                refuted |= step.shared.low > 0.0 || step.shared == Interval::point(0.0);
            }
            Strictness::UpTo(share) => {
                let limit = share * step.next;
                all &= step.alone.high <= limit;
                refuted |= step.shared.low > limit;
            }
        }
    }
    match (all, refuted) {
        (_, true) => Judgement::NotReproduced,
        (true, false) => Judgement::Reproduced,
        (false, false) => Judgement::NotDistinguishable,
    }
}

/// Whether values rise along the points of `rows` (one row per seed, points in order): every step
/// does, or at least Page's test finds the trend.
pub fn trend(rows: &[&[f64]]) -> Judgement {
    let Some(points) = rows.first().map(|r| r.len()) else {
        return Judgement::NotDistinguishable;
    };
    let columns: Vec<Vec<f64>> =
        (0..points).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    trend_of(order(&columns, Strictness::Strict), rows)
}

/// As [`trend`], from what the steps say as an order: two points have nothing else.
pub fn trend_of(steps: Judgement, rows: &[&[f64]]) -> Judgement {
    let points = rows.first().map_or(0, |r| r.len());
    if points < 2 {
        return Judgement::NotDistinguishable;
    }
    if steps == Judgement::Reproduced || points == 2 {
        return steps;
    }
    // what does not depend on the point at all, in no seed, has no trend
    if rows.iter().all(|row| row.iter().all(|x| *x == row[0])) {
        return Judgement::NotReproduced;
    }
    match page(rows) {
        Some(p) if p.p_rising < ALPHA => Judgement::SameDirection(Size::Open),
        Some(p) if p.p_falling < ALPHA => Judgement::NotReproduced,
        _ => Judgement::NotDistinguishable,
    }
}

/// Whether the means at several points differ by at most `factor`: the largest ratio of two of
/// them, with a simultaneous interval over all pairs. The estimate is `None` where a value is not
/// positive or there are too few seeds.
pub fn flat(points: &[&[f64]], factor: f64) -> (Judgement, Option<Estimate>) {
    let pairs = points.len() * points.len().saturating_sub(1) / 2;
    let mut widest: Option<Estimate> = None;
    for (i, a) in points.iter().enumerate() {
        for b in points.iter().skip(i + 1) {
            let level = ALPHA / pairs as f64;
            let both = [ratio_at(a, b, level), ratio_at(b, a, level)];
            for ratio in both {
                let Some(r) = ratio else { return (Judgement::NotDistinguishable, None) };
                widest = Some(widest.map_or(r, |w| Estimate {
                    value: w.value.max(r.value),
                    interval: Interval::new(
                        w.interval.low.max(r.interval.low),
                        w.interval.high.max(r.interval.high),
                    ),
                    seeds: r.seeds,
                }));
            }
        }
    }
    let judgement = match widest {
        Some(w) if w.interval.high <= factor => Judgement::Reproduced,
        Some(w) if w.interval.low > factor => Judgement::NotReproduced,
        _ => Judgement::NotDistinguishable,
    };
    (judgement, widest)
}

/// The judgement "at each point" from those of the points: `each` has them at [`ALPHA`], `shared`
/// at [`ALPHA`] divided by their number.
pub fn at_each_point(each: &[Judgement], shared: &[Judgement]) -> Judgement {
    let all = |j: fn(&Judgement) -> bool| !each.is_empty() && each.iter().all(j);
    if shared.contains(&Judgement::NotReproduced) {
        Judgement::NotReproduced
    } else if all(|j| *j == Judgement::Reproduced) {
        Judgement::Reproduced
    } else if all(|j| matches!(j, Judgement::Reproduced | Judgement::SameDirection(_))) {
        let differs = |j: &Judgement| *j == Judgement::SameDirection(Size::Differs);
        let size = if each.iter().any(differs) { Size::Differs } else { Size::Open };
        Judgement::SameDirection(size)
    } else {
        Judgement::NotDistinguishable
    }
}

/// The slope of ln y on ln x, for each seed; `None` where a value is not positive or there are
/// fewer than two different points.
pub fn log_slopes(xs: &[f64], rows: &[&[f64]]) -> Option<Vec<f64>> {
    let logs = |v: &[f64]| -> Option<Vec<f64>> {
        v.iter().map(|x| (*x > 0.0).then(|| libm::log(*x))).collect()
    };
    let x = logs(xs)?;
    let n = x.len() as f64;
    let mean_x = x.iter().sum::<f64>() / n;
    let spread: f64 = x.iter().map(|x| (x - mean_x) * (x - mean_x)).sum();
    if spread == 0.0 || xs.is_empty() {
        return None;
    }
    let slope = |row: &&[f64]| {
        let y = logs(row)?;
        let mean_y = y.iter().sum::<f64>() / n;
        let product: f64 = x.iter().zip(&y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        Some(product / spread)
    };
    rows.iter().map(slope).collect()
}

/// How far the middle of a parabola through the points lies from the straight line through its
/// ends, for each seed: its curvature, in the unit of the values. `None` with fewer than three
/// different points.
pub fn curvatures(xs: &[f64], rows: &[&[f64]]) -> Option<Vec<f64>> {
    let (low, high) =
        xs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    // u is x from -1 to 1; the parabola a + b u + c u² is c from its chord in the middle
    let u: Vec<f64> = xs.iter().map(|x| 2.0 * (x - low) / (high - low) - 1.0).collect();
    let n = xs.len() as f64;
    let sum = |of: &dyn Fn(f64) -> f64| u.iter().map(|u| of(*u)).sum::<f64>();
    let (s1, s2, s3) = (sum(&|u| u), sum(&|u| u * u), sum(&|u| u * u * u));
    let s4 = sum(&|u| u * u * u * u);
    let determinant = |m: [[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = determinant([[n, s1, s2], [s1, s2, s3], [s2, s3, s4]]);
    if low >= high || libm::fabs(whole) < 1e-9 {
        return None;
    }
    let curvature = |row: &&[f64]| {
        let of = |power: &dyn Fn(f64) -> f64| {
            u.iter().zip(row.iter()).map(|(u, y)| power(*u) * y).sum::<f64>()
        };
        let (t0, t1, t2) = (of(&|_| 1.0), of(&|u| u), of(&|u| u * u));
        determinant([[n, s1, t0], [s1, s2, t1], [s2, s3, t2]]) / whole
    };
    Some(rows.iter().map(curvature).collect())
}

/// The difference of two ratios of means on common seeds, x1/y1 - x2/y2, jackknifed together: for
/// claims across experiments ("the gain shrinks"). `None` with fewer than two seeds or a
/// denominator of zero.
///
/// # Panics
/// If there is not one value per seed in all.
pub fn difference_of_ratios(first: [&[f64]; 2], second: [&[f64]; 2]) -> Option<Estimate> {
    difference_of_ratios_at(first, second, ALPHA)
}

/// As [`difference_of_ratios`], at level 1 - `alpha`.
///
/// # Panics
/// If there is not one value per seed in all.
pub fn difference_of_ratios_at(
    first: [&[f64]; 2],
    second: [&[f64]; 2],
    alpha: f64,
) -> Option<Estimate> {
    let seeds = first[0].len();
    let all = [first[0], first[1], second[0], second[1]];
    assert!(all.iter().all(|v| v.len() == seeds), "one value per seed in all");
    if seeds < 2 {
        return None;
    }
    let without = |v: &[f64], i: usize| {
        v.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, x)| x).sum::<f64>()
    };
    let statistic = |i: usize| {
        let [x1, y1, x2, y2] = all.map(|v| without(v, i));
        (y1 != 0.0 && y2 != 0.0).then(|| x1 / y1 - x2 / y2)
    };
    let left_out: Option<Vec<f64>> = (0..seeds).map(statistic).collect();
    // no seed has the index `seeds`: nothing is left out
    let value = statistic(seeds)?;
    let half = quantile(seeds - 1, alpha) * jackknife_error(&left_out?);
    Some(Estimate { value, interval: Interval::around(value, half), seeds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::mean;
    use crate::estimate::tests::{OFC, PFC, near, spans};
    use crate::page::tests::RISING;
    use crate::ratio;

    fn reduction(margin: Interval) -> NumberClaim {
        NumberClaim::new(margin, Side::Above(0.0)).unwrap()
    }

    /// Worked example 3, verdicts.
    #[test]
    fn a_reduction_is_judged_by_its_interval() {
        let r = ratio(&OFC, &PFC).unwrap();
        let (value, interval) = (1.0 - r.value, r.interval.reduction());
        let judge = |low, high| reduction(Interval::new(low, high)).judge(value, interval);
        let open = Judgement::SameDirection(Size::Open);
        // 22.6 % with a quarter of it as margin; 15 % with a quarter; 15 % with 6 points
        assert_eq!(judge(0.1695, 0.2825), open);
        assert_eq!(judge(0.1125, 0.1875), open);
        assert_eq!(judge(0.09, 0.21), Judgement::Reproduced);
        assert_eq!(judge(0.5, 0.6), Judgement::SameDirection(Size::Differs));
        let increase = NumberClaim::new(Interval::new(-0.0625, -0.0375), Side::Below(0.0)).unwrap();
        assert_eq!(increase.judge(value, interval), Judgement::NotReproduced);
    }

    #[test]
    fn an_interval_that_contains_no_effect_decides_nothing() {
        let claim = reduction(Interval::new(0.1, 0.2));
        assert_eq!(claim.judge(0.1, Interval::new(-0.05, 0.25)), Judgement::NotDistinguishable);
    }

    #[test]
    fn a_margin_that_contains_no_effect_is_refused() {
        let margin = Interval::new(-0.01, 0.2);
        assert_eq!(NumberClaim::new(margin, Side::Above(0.0)), Err(MarginWithoutEffect));
    }

    #[test]
    fn a_value_is_refuted_only_outside_its_factor_of_two() {
        // 10 with a margin of 25 %, and a factor of two as side
        let side = Side::Within(Interval::new(5.0, 20.0));
        let claim = NumberClaim::new(Interval::new(7.5, 12.5), side).unwrap();
        assert_eq!(claim.judge(10.0, Interval::new(8.0, 12.0)), Judgement::Reproduced);
        let near = claim.judge(15.0, Interval::new(14.0, 16.0));
        assert_eq!(near, Judgement::SameDirection(Size::Differs));
        assert_eq!(claim.judge(30.0, Interval::new(18.0, 42.0)), Judgement::NotReproduced);
        assert_eq!(claim.judge(19.0, Interval::new(14.0, 24.0)), Judgement::NotDistinguishable);
    }

    /// Worked example 7.
    #[test]
    fn an_order_holds_if_every_neighbour_does() {
        let a: &[f64] = &[61.0, 58.0, 66.0, 60.0, 63.0];
        let b: &[f64] = &[66.0, 64.0, 70.0, 67.0, 66.0];
        let c: &[f64] = &[71.0, 66.0, 69.0, 73.0, 70.0];
        assert_eq!(order(&[a, b], Strictness::Strict), Judgement::Reproduced);
        assert_eq!(order(&[a, b, c], Strictness::Strict), Judgement::NotDistinguishable);
        assert_eq!(order(&[b, a, c], Strictness::Strict), Judgement::NotReproduced);
        // 66.6 may exceed 69.8 by 5 %, i.e. 3.49: the upper end of B - C, 0.25, is below that
        assert_eq!(order(&[a, b, c], Strictness::UpTo(0.05)), Judgement::Reproduced);
    }

    /// Worked example 8.
    #[test]
    fn a_trend_holds_if_every_step_does() {
        assert_eq!(trend(&RISING), Judgement::Reproduced);
        let reversed: Vec<Vec<f64>> =
            RISING.iter().map(|r| r.iter().rev().copied().collect()).collect();
        let reversed: Vec<&[f64]> = reversed.iter().map(Vec::as_slice).collect();
        assert_eq!(trend(&reversed), Judgement::NotReproduced);
        let slopes = log_slopes(&[1.0, 2.0, 4.0, 8.0], &RISING).unwrap();
        for (slope, expected) in
            slopes.iter().zip([0.163_125, 0.156_742, 0.179_161, 0.140_489, 0.162_185])
        {
            assert!((slope - expected).abs() < 1e-6);
        }
        let slope = mean(&slopes).unwrap();
        near(slope.value, 0.160_340_3);
        assert!((slope.interval.half_width() - 0.017_254_0).abs() < 1e-7);
    }

    #[test]
    fn a_trend_with_one_flat_step_is_the_same_direction() {
        let rows: [&[f64]; 5] = [
            &[1.0, 2.0, 2.1],
            &[1.1, 2.2, 2.0],
            &[0.9, 2.0, 2.2],
            &[1.0, 2.1, 2.0],
            &[1.0, 2.0, 2.1],
        ];
        assert_eq!(trend(&rows), Judgement::SameDirection(Size::Open));
    }

    #[test]
    fn two_points_are_an_order() {
        let falling: [&[f64]; 3] = [&[2.0, 1.0], &[2.1, 1.0], &[2.0, 1.1]];
        assert_eq!(trend(&falling), Judgement::NotReproduced);
        let rising: [&[f64]; 3] = [&[1.0, 2.0], &[1.0, 2.1], &[1.1, 2.0]];
        assert_eq!(trend(&rising), Judgement::Reproduced);
        let constant: [&[f64]; 3] = [&[1.0, 1.0, 1.0], &[2.0, 2.0, 2.0], &[1.0, 1.0, 1.0]];
        assert_eq!(trend(&constant), Judgement::NotReproduced);
    }

    /// y = 3 + u + 2 u² over x = 0, 10, 20 (u = -1, 0, 1): 4, 3, 6; a line has no curvature.
    #[test]
    fn curvature_is_the_distance_of_the_middle_from_the_chord() {
        let found = curvatures(&[0.0, 10.0, 20.0], &[&[4.0, 3.0, 6.0], &[1.0, 2.0, 3.0]]).unwrap();
        near(found[0], 2.0);
        assert!(found[1].abs() < 1e-12);
        assert_eq!(curvatures(&[1.0, 2.0], &[&[1.0, 2.0]]), None);
    }

    #[test]
    fn a_limit_of_nothing_is_met_exactly_or_not() {
        let none = NumberClaim::new(Interval::new(f64::NEG_INFINITY, 0.0), Side::AtMost(0.0));
        let none = none.unwrap();
        assert_eq!(none.judge(0.0, Interval::point(0.0)), Judgement::Reproduced);
        assert_eq!(none.judge(2.0, Interval::new(1.0, 3.0)), Judgement::NotReproduced);
        assert_eq!(none.judge(1.0, Interval::new(-1.0, 3.0)), Judgement::NotDistinguishable);
        let same: &[f64] = &[4.0, 5.0, 6.0];
        assert_eq!(order(&[same, same], Strictness::Strict), Judgement::NotReproduced);
        assert_eq!(order(&[same, same], Strictness::UpTo(0.0)), Judgement::Reproduced);
    }

    #[test]
    fn flat_is_judged_by_the_widest_pair() {
        let (a, b): (&[f64], &[f64]) = (&[10.0, 10.1, 9.9], &[10.1, 10.2, 10.0]);
        assert_eq!(flat(&[a, b], 1.25).0, Judgement::Reproduced);
        let far: &[f64] = &[20.0, 20.2, 19.9];
        assert_eq!(flat(&[a, b, far], 1.25).0, Judgement::NotReproduced);
        let wild: &[f64] = &[5.0, 20.0, 11.0];
        assert_eq!(flat(&[a, wild], 1.25).0, Judgement::NotDistinguishable);
    }

    #[test]
    fn a_claim_about_every_point_needs_every_point() {
        use Judgement::{NotDistinguishable, NotReproduced, Reproduced};
        assert_eq!(at_each_point(&[Reproduced, Reproduced], &[Reproduced; 2]), Reproduced);
        let open = [Reproduced, NotDistinguishable];
        assert_eq!(at_each_point(&open, &open), NotDistinguishable);
        let refuted = [Reproduced, NotReproduced];
        // refuted at 5 % only, not at 5 % / 2
        assert_eq!(at_each_point(&refuted, &open), NotDistinguishable);
        assert_eq!(at_each_point(&refuted, &refuted), NotReproduced);
    }

    #[test]
    fn two_gains_are_compared_on_common_seeds() {
        // the same ratios: no difference, and no uncertainty about it
        let d = difference_of_ratios([&OFC, &PFC], [&OFC, &PFC]).unwrap();
        spans(Interval::new(d.interval.low + 1.0, d.interval.high + 1.0), 1.0, 1.0);
        let d = difference_of_ratios([&OFC, &PFC], [&PFC, &PFC]).unwrap();
        assert!(d.interval.high < 0.0 && (d.value + 0.155_339_8).abs() < 1e-6);
    }
}
