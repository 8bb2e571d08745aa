//! Slowdowns of result files by ranges of flow sizes, with intervals over the seeds in a file.

use super::Seeded;
use crate::compare::estimate;
use crate::listing::Layout;
use crate::stats::{Estimate, Sorted};
use crate::table::{Column, TextTable};
use serde_json::{Value, json};
use std::fmt::Write as _;
use weir_core::format;
use weir_core::percentile::{P50, P95, P99};
use weir_scenario::SizeRange;

/// Slowdowns of one run, or of one row of a comparison, in one range: means over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Flows of all seeds.
    pub flows: usize,
    /// Mean, median, 95th and 99th percentile.
    pub figures: [Estimate; 4],
}

const FIGURES: [&str; 4] = ["mean", "p50", "p95", "p99"];

/// Slowdowns by ranges of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranges {
    /// The runs' names.
    pub names: Vec<String>,
    /// How many seeds there are at most.
    pub seeds: usize,
    /// A range, and one entry per run; `None` where it has no flows of that size.
    pub rows: Vec<(SizeRange, Vec<Option<Spread>>)>,
}

impl Ranges {
    /// Sorts flows into ranges; a flow counts in each range that holds its size.
    pub fn new(runs: &[Seeded], ranges: &[SizeRange]) -> Self {
        let row = |range: &SizeRange| {
            (range.clone(), runs.iter().map(|run| spread(run, range)).collect())
        };
        Self {
            names: runs.iter().map(|r| r.name.clone()).collect(),
            seeds: runs.iter().map(|r| r.seeds.len()).max().unwrap_or(0),
            rows: ranges.iter().map(row).collect(),
        }
    }

    /// As text, the runs' names above their columns.
    pub fn text(&self, layout: Layout) -> String {
        let mut columns = vec![Column::words("sizes", 9)];
        for name in &self.names {
            columns.push(Column::numbers("flows", 3).under(name));
            for (head, keep) in FIGURES.into_iter().zip([7, 4, 5, 8]) {
                columns.push(Column::numbers(head, keep).under(name));
            }
        }
        let mut t = TextTable::new(columns);
        for (range, runs) in &self.rows {
            let mut row = vec![range.label.clone()];
            for spread in runs {
                row.push(spread.map_or_else(String::new, |s| format::count(s.flows as u64)));
                let cell = |i: usize| spread.map(|s| s.figures[i]);
                row.extend((0..4).map(|i| estimate(cell(i), format::significant)));
            }
            t.row(row);
        }
        let mut text = t.render(layout.width, layout.colour);
        if self.seeds > 1 {
            text.push_str("\n\n  Means over seeds; ± is half a 95 % confidence interval.");
        }
        text
    }

    /// As CSV: one line per range and run.
    pub fn csv(&self) -> String {
        let mut out = String::from("run,sizes,flows");
        for name in FIGURES {
            let _ = write!(out, ",{name},{name}_plus_minus");
        }
        out.push('\n');
        for (range, runs) in &self.rows {
            for (name, spread) in self.names.iter().zip(runs) {
                let Some(s) = spread else { continue };
                let name = name.replace('"', "\"\"");
                let _ = write!(out, "\"{name}\",{},{}", range.label, s.flows);
                for e in s.figures {
                    let _ = write!(out, ",{:.6},{:.6}", e.mean, e.half_width);
                }
                out.push('\n');
            }
        }
        out
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let spread = |s: &Spread| {
            let mut value = json!({ "flows": s.flows });
            for (name, e) in FIGURES.into_iter().zip(s.figures) {
                value[name] = json!({ "mean": e.mean, "plus_minus": e.half_width });
            }
            value
        };
        let rows = self.rows.iter().map(|(range, runs)| {
            let runs = runs.iter().map(|s| s.as_ref().map_or(Value::Null, spread));
            json!({ "sizes": range.label, "runs": runs.collect::<Vec<_>>() })
        });
        json!({ "runs": self.names, "sizes": rows.collect::<Vec<_>>() })
    }
}

/// The flows of a run in a range; seeds without any say nothing.
fn spread(run: &Seeded, range: &SizeRange) -> Option<Spread> {
    let of_seed = |samples: &Vec<super::Sample>| {
        let here = samples.iter().filter(|s| range.holds(weir_core::Bytes::new(s.size)));
        Sorted::new(here.map(|s| s.slowdown))
    };
    let seeds: Vec<Sorted> = run.seeds.iter().map(|(_, samples)| of_seed(samples)).collect();
    let estimate = |of: &dyn Fn(&Sorted) -> Option<f64>| {
        Estimate::new(&seeds.iter().filter_map(of).collect::<Vec<_>>())
    };
    Some(Spread {
        flows: seeds.iter().map(Sorted::len).sum(),
        figures: [
            estimate(&Sorted::mean)?,
            estimate(&|s| s.percentile(P50))?,
            estimate(&|s| s.percentile(P95))?,
            estimate(&|s| s.percentile(P99))?,
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Wanted, read};
    use super::*;
    use weir_scenario::text::Colour;

    const FILE: &str = "variant,scheme,seed,class,size,slowdown\n\
        BFC-8Q,bfc,1,a,1000,1\nBFC-8Q,bfc,1,a,2000,3\nBFC-8Q,bfc,2,a,1000,4\n\
        BFC-8Q,bfc,2,a,50000,9\nBFC-32Q,bfc,1,a,1000,2\n";

    #[test]
    fn ranges_have_means_over_seeds_with_intervals() {
        let runs = read("f", FILE, &Wanted::default()).unwrap();
        let names: Vec<&str> = runs.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["f BFC-8Q", "f BFC-32Q"]);
        let ranges = Ranges::new(&runs, &SizeRange::list("0..10KB,10KB..").unwrap());
        let small = ranges.rows[0].1[0].expect("three flows");
        // seed 1: (1 + 3) / 2 = 2, seed 2: 4; mean 3, deviation sqrt(2), t(1) = 12.706:
        // 12.706 x sqrt(2) / sqrt(2) = 12.706
        assert_eq!((small.flows, small.figures[0].mean), (3, 3.0));
        assert!((small.figures[0].half_width - 12.706).abs() < 1e-9);
        // one seed has a large flow: its slowdown, without an interval
        let large = ranges.rows[1].1[0].expect("a flow");
        assert_eq!((large.figures[3].mean, large.figures[3].half_width), (9.0, 0.0));
        assert_eq!(ranges.rows[1].1[1], None);
        let text = ranges.text(Layout { width: 200, colour: Colour::Off });
        assert!(text.contains("3.00 ±424 %") && text.contains("Means over seeds"), "{text}");
        assert_eq!(ranges.json()["sizes"][0]["runs"][1]["p99"]["mean"], 2.0);
        assert_eq!(ranges.csv().lines().count(), 4);
    }
}
