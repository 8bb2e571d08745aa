//! Page's test for a trend: do values rise along the points, within every seed?

/// Page's statistic of ranks within seeds, and how probable one as large is without a trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    /// L: the sum over points of (position x sum of ranks).
    pub l: f64,
    /// P(L or more) if all orders are equally likely.
    pub p_rising: f64,
    /// P(L or less) if all orders are equally likely.
    pub p_falling: f64,
}

/// The most points for which the exact distribution is computed.
pub const MOST_POINTS: usize = 12;

/// Page's L of `rows`, one per seed with one value per point in the claimed order; equal values
/// share their ranks. `None` unless there is a seed and between 3 and [`MOST_POINTS`] points.
///
/// # Panics
/// If rows have different lengths.
pub fn page(rows: &[&[f64]]) -> Option<Page> {
    let points = rows.first()?.len();
    if !(3..=MOST_POINTS).contains(&points) {
        return None;
    }
    assert!(rows.iter().all(|r| r.len() == points), "one value per point in every seed");
    // twice L, so that shared ranks stay whole numbers
    let twice: usize = rows
        .iter()
        .flat_map(|row| double_ranks(row).into_iter().enumerate().map(|(j, r)| (j + 1) * r))
        .sum();
    let one = distribution(points);
    let mut all = vec![1.0];
    for _ in rows {
        all = convolve(&all, &one);
    }
    let tail = |from: usize| all.iter().skip(from).sum::<f64>().min(1.0);
    let head = |to: usize| all.iter().take(to + 1).sum::<f64>().min(1.0);
    // with shared ranks L may lie between two whole numbers: both tails then include the nearer
    // one on their own side
    let (up, down) = (twice.div_ceil(2), twice / 2);
    Some(Page { l: twice as f64 / 2.0, p_rising: tail(up), p_falling: head(down) })
}

/// Twice the rank of each value; equal values get the mean of their ranks.
fn double_ranks(row: &[f64]) -> Vec<usize> {
    let rank = |x: &f64| {
        let below = row.iter().filter(|y| *y < x).count();
        let equal = row.iter().filter(|y| *y == x).count();
        2 * below + equal + 1
    };
    row.iter().map(rank).collect()
}

/// P(sum of position x rank = s) over all orders of `n` ranks, by dynamic programming over the
/// set of ranks that are taken.
fn distribution(n: usize) -> Vec<f64> {
    let most = (1..=n).map(|j| j * j).sum::<usize>();
    let mut of_set = vec![Vec::new(); 1 << n];
    of_set[0] = vec![1.0];
    for set in 0..1_usize << n {
        let counts = std::mem::take(&mut of_set[set]);
        let position = set.count_ones() as usize + 1;
        if position > n {
            let orders: f64 = counts.iter().sum();
            return counts.iter().map(|c| c / orders).collect();
        }
        for rank in (0..n).filter(|r| set & (1 << r) == 0) {
            let next = &mut of_set[set | 1 << rank];
            next.resize(most + 1, 0.0);
            for (sum, count) in counts.iter().enumerate().filter(|(_, c)| **c > 0.0) {
                next[sum + position * (rank + 1)] += count;
            }
        }
    }
    unreachable!("the last set holds every rank")
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate().filter(|(_, x)| **x > 0.0) {
        for (j, y) in b.iter().enumerate() {
            sum[i + j] += x * y;
        }
    }
    sum
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Five seeds at x = 1, 2, 4, 8.
    pub(crate) const RISING: [&[f64]; 5] = [
        &[10.2, 11.0, 12.9, 14.1],
        &[9.8, 11.4, 12.1, 13.8],
        &[10.5, 10.4, 12.6, 14.9],
        &[9.9, 11.1, 12.4, 13.2],
        &[10.1, 11.3, 12.0, 14.4],
    ];

    /// Worked example 8.
    #[test]
    fn a_trend_has_the_exact_probability_of_its_statistic() {
        let page = page(&RISING).unwrap();
        assert_eq!(page.l, 149.0);
        assert!((page.p_rising / 2.009_39e-6 - 1.0).abs() < 1e-5, "{}", page.p_rising);
        assert!(page.p_falling > 0.999);
    }

    #[test]
    fn three_points_have_six_orders() {
        // 1x1 + 2x2 + 3x3 = 14 for one of six orders, 10 for the reverse
        let d = distribution(3);
        assert!((d[14] - 1.0 / 6.0).abs() < 1e-12 && (d[10] - 1.0 / 6.0).abs() < 1e-12);
        let one = page(&[&[1.0, 2.0, 3.0]]).unwrap();
        assert!((one.p_rising - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!(page(&[&[1.0, 2.0]]), None);
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(double_ranks(&[5.0, 5.0, 7.0]), [3, 3, 6]);
    }
}
