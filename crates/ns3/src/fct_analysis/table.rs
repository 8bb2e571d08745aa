//! Buckets of flows and their slowdowns.

use super::{Sample, Series};
use std::fmt::Write as _;
use weir_core::percentile::{P50, P95, P99};

/// Slowdowns of one run in one bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// Flows.
    pub flows: usize,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Stats {
    fn of(samples: &[Sample]) -> Option<Self> {
        let mut sorted: Vec<f64> = samples.iter().map(|s| s.slowdown).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        Some(Self {
            flows: n,
            mean: sorted.iter().sum::<f64>() / n as f64,
            p50: P50.of(&sorted)?,
            p95: P95.of(&sorted)?,
            p99: P99.of(&sorted)?,
        })
    }
}

/// One bucket of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// The share of flows below it, from 0.
    pub fraction: f64,
    /// The largest flow in it (of the first run that has any).
    pub largest: u64,
    /// One entry per run; `None` where a run has no flow in this bucket.
    pub stats: Vec<Option<Stats>>,
}

/// Slowdown by flow size of several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowdownTable {
    /// The runs' names.
    pub names: Vec<String>,
    /// Smallest flows first.
    pub buckets: Vec<Bucket>,
}

impl SlowdownTable {
    /// Cuts each run's flows, sorted by size, into `buckets` parts of equal count. (The original
    /// script uses 20, and leaves out the largest flow of each run by mistake; here all count. Its
    /// percentiles are one rank higher where that is a whole number; here the nearest rank counts.)
    pub fn new(series: &[Series], buckets: usize) -> Self {
        let buckets = buckets.max(1);
        let sorted: Vec<Vec<Sample>> = series
            .iter()
            .map(|s| {
                let mut samples = s.samples.clone();
                samples.sort_by(|a, b| a.size.cmp(&b.size).then(a.slowdown.total_cmp(&b.slowdown)));
                samples
            })
            .collect();
        let rows = (0..buckets).filter_map(|i| {
            let parts: Vec<&[Sample]> = sorted
                .iter()
                .map(|s| &s[i * s.len() / buckets..(i + 1) * s.len() / buckets])
                .collect();
            let largest = parts.iter().find_map(|p| p.last())?.size;
            Some(Bucket {
                fraction: i as f64 / buckets as f64,
                largest,
                stats: parts.iter().map(|p| Stats::of(p)).collect(),
            })
        });
        Self { names: series.iter().map(|s| s.name.clone()).collect(), buckets: rows.collect() }
    }

    /// Column titles and cells, for printing.
    pub fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut titles = vec!["from".to_string(), "up to".into()];
        for name in &self.names {
            titles.extend(["mean", "p50", "p95", "p99"].map(|c| format!("{name} {c}")));
        }
        let rows = self.buckets.iter().map(|b| {
            let mut row = vec![format!("{:.1} %", b.fraction * 100.0), size(b.largest)];
            for stats in &b.stats {
                row.extend(match stats {
                    Some(s) => [s.mean, s.p50, s.p95, s.p99].map(|x| format!("{x:.3}")),
                    None => [const { String::new() }; 4],
                });
            }
            row
        });
        (titles, rows.collect())
    }

    /// The table as CSV: one line per bucket and run.
    pub fn csv(&self) -> String {
        let mut out = String::from("run,fraction,largest_bytes,flows,mean,p50,p95,p99\n");
        for b in &self.buckets {
            for (name, stats) in self.names.iter().zip(&b.stats) {
                let Some(s) = stats else { continue };
                let _ = writeln!(
                    out,
                    "{},{:.4},{},{},{:.6},{:.6},{:.6},{:.6}",
                    quoted(name),
                    b.fraction,
                    b.largest,
                    s.flows,
                    s.mean,
                    s.p50,
                    s.p95,
                    s.p99
                );
            }
        }
        out
    }
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}

/// A size with three digits.
fn size(bytes: u64) -> String {
    let (value, unit) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (bytes as f64 / 1e3, "KB"),
        1_000_000..1_000_000_000 => (bytes as f64 / 1e6, "MB"),
        _ => (bytes as f64 / 1e9, "GB"),
    };
    let digits = match value {
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, n: u64) -> Series {
        // Flow i has size 100 i and slowdown i; given largest first.
        let samples = (1..=n).rev().map(|i| Sample { size: 100 * i, slowdown: i as f64 }).collect();
        Series { name: name.into(), samples }
    }

    #[test]
    fn buckets_have_equal_counts_and_percentiles_of_nearest_rank() {
        let t = SlowdownTable::new(&[series("a", 200)], 20);
        assert_eq!(t.buckets.len(), 20);
        let b = &t.buckets[1];
        assert_eq!((b.fraction, b.largest), (0.05, 2000));
        // flows 11 to 20: mean 15.5; ranks 5, 10 and 10 of ten
        let s = b.stats[0].unwrap();
        assert_eq!((s.flows, s.mean, s.p50, s.p95, s.p99), (10, 15.5, 15.0, 20.0, 20.0));
    }

    #[test]
    fn fewer_flows_than_buckets_leave_some_out() {
        let t = SlowdownTable::new(&[series("a", 3), series("b", 0)], 20);
        assert_eq!(t.buckets.len(), 3);
        assert!(t.buckets.iter().all(|b| b.stats[0].is_some() && b.stats[1].is_none()));
        assert_eq!(t.rows().1[0].len(), 10);
    }

    #[test]
    fn csv_has_a_line_per_bucket_and_run() {
        let t = SlowdownTable::new(&[series("a", 2), series("b,c", 2)], 2);
        let csv = t.csv();
        assert_eq!(csv.lines().count(), 5);
        assert_eq!(
            csv.lines().nth(2),
            Some("\"b,c\",0.0000,100,1,1.000000,1.000000,1.000000,1.000000")
        );
    }

    #[test]
    fn sizes_have_three_digits() {
        for (bytes, text) in [
            (7, "7 B"),
            (1000, "1 KB"),
            (13_370, "13.4 KB"),
            (133_700, "134 KB"),
            (30_000_000, "30 MB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
