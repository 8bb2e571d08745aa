//! The tables that come with Weir.

use super::table::SizeTable;
use crate::error::UnknownTable;
use std::sync::{Arc, LazyLock};
use weir_core::nearest;

/// A table that comes with Weir.
#[derive(Clone, Debug)]
pub struct BuiltIn {
    /// What it is called.
    pub name: &'static str,
    /// Where it comes from.
    pub origin: &'static str,
    /// The table.
    pub table: Arc<SizeTable>,
}

macro_rules! tables {
    ($($name:literal: $origin:literal,)*) => {
        [$(($name, $origin, include_str!(concat!("../../tables/", $name, ".cdf"))),)*]
    };
}

static TABLES: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| {
    let sources = tables! {
        "websearch": "web search (DCTCP), as HPCC's generator has it",
        "webserver": "Facebook web server, intra-cluster (Roy et al. 2015), fine",
        "webserver_coarse": "Facebook web server, 13 rows",
        "fb_hadoop": "Facebook Hadoop, as HPCC's generator has it",
        "fb_hadoop_fine": "Facebook Hadoop, fine (Homa W4)",
        "fb_cache_follower": "Facebook cache follower, intra-cluster, fine",
        "fb_cache_coarse": "Facebook cache follower, 23 rows",
        "alistorage": "Alibaba storage 2019, as HPCC's generator has it",
        "google_rpc": "Google, all RPCs (Homa W3)",
        "google_search_rpc": "Google search RPCs (Homa W2)",
        "datamining": "data mining (VL2)",
        "edu1": "university data centre 1: reconstruction from the fractions OFC quotes",
        "edu2": "university data centre 2: reconstruction from the fractions OFC quotes",
    };
    sources
        .into_iter()
        .map(|(name, origin, text)| {
            let table = text.parse().expect("the tables of this crate are well-formed");
            BuiltIn { name, origin, table: Arc::new(table) }
        })
        .collect()
});

/// All tables that come with Weir.
pub fn builtin_tables() -> &'static [BuiltIn] {
    &TABLES
}

/// The table called `name`.
pub fn builtin_table(name: &str) -> Result<Arc<SizeTable>, UnknownTable> {
    TABLES.iter().find(|t| t.name == name).map(|t| Arc::clone(&t.table)).ok_or_else(|| {
        let known = || TABLES.iter().map(|t| t.name);
        UnknownTable {
            name: name.into(),
            nearest: nearest(name, known()),
            known: known().collect(),
        }
    })
}

/// A column of FlowSail's Fig. 1: the share of flows that one RTT carries whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneRtt {
    /// Link rate.
    pub rate: weir_core::Rate,
    /// Round-trip time.
    pub rtt: weir_core::Time,
}

/// The link speeds and round-trip times of FlowSail's Fig. 1: three speeds at 12 us, and 100 Gb/s
/// at 4 and 8 us.
pub const FLOWSAIL_FIG1: [OneRtt; 5] = {
    use weir_core::{Rate, Time};
    [
        OneRtt { rate: Rate::from_gbps(25), rtt: Time::from_us(12) },
        OneRtt { rate: Rate::from_gbps(100), rtt: Time::from_us(12) },
        OneRtt { rate: Rate::from_gbps(400), rtt: Time::from_us(12) },
        OneRtt { rate: Rate::from_gbps(100), rtt: Time::from_us(4) },
        OneRtt { rate: Rate::from_gbps(100), rtt: Time::from_us(8) },
    ]
};

/// The workloads of FlowSail's Fig. 1, by their numbers there, and the tables they are.
pub const FLOWSAIL_WORKLOADS: [(&str, &str); 4] =
    [("W1", "webserver"), ("W2", "alistorage"), ("W3", "websearch"), ("W4", "google_rpc")];

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::Bytes;

    fn table(name: &str) -> Arc<SizeTable> {
        builtin_table(name).unwrap()
    }

    /// Rows, mean, median, largest size, percentages up to 1, 10 and 100 KB, percentage of the
    /// bytes in the top tenth: computed from the data by a program of its own.
    #[test]
    fn the_summary_of_every_table_is_known() {
        type Row = (&'static str, usize, f64, f64, u64, [f64; 3], f64);
        #[rustfmt::skip]
        let expected: [Row; 13] = [
            ("websearch", 12, 1_711_250., 73_077., 30_000_000, [1.5, 15.0, 54.2], 65.7),
            ("webserver", 441, 62_229., 3_406., 1_000_000, [29.3, 65.2, 81.5], 62.3),
            ("webserver_coarse", 13, 66_121., 3_100., 500_000, [30.0, 63.1, 80.9], 60.5),
            ("fb_hadoop", 20, 120_421., 700., 10_000_000, [60.0, 70.3, 88.5], 90.7),
            ("fb_hadoop_fine", 461, 121_849., 655., 10_000_000, [60.5, 71.0, 88.7], 90.3),
            ("fb_cache_follower", 331, 686_866., 28_270., 3_837_698, [37.4, 47.8, 53.3], 39.9),
            ("fb_cache_coarse", 23, 712_573., 30_000., 3_000_000, [38.8, 48.0, 52.0], 37.9),
            ("alistorage", 9, 40_870., 6_340., 2_000_000, [5.7, 72.1, 95.4], 83.3),
            ("google_rpc", 843, 2_892., 257., 15_158_197, [86.1, 97.2, 99.6], 91.3),
            ("google_search_rpc", 156, 423., 267., 3_529_904, [95.7, 99.9, 100.0], 56.7),
            ("datamining", 13, 12_658_199., 1_100., 1_000_000_000, [45.0, 80.0, 82.3], 99.8),
            ("edu1", 16, 153_459., 5_833., 10_000_000, [25.0, 60.0, 86.0], 88.5),
            ("edu2", 16, 212_067., 10_000., 10_000_000, [20.0, 50.0, 87.0], 93.4),
        ];
        assert_eq!(builtin_tables().len(), expected.len());
        for (built_in, row) in builtin_tables().iter().zip(expected) {
            let (name, rows, mean, median, max, below, top) = row;
            let s = built_in.table.summary();
            assert_eq!((built_in.name, s.rows, s.max), (name, rows, Bytes::new(max)));
            // printed without decimals, so half a unit of the last digit
            assert!((s.mean - mean).abs() <= 0.5 + 1e-6, "{name}: mean {}", s.mean);
            assert!((s.median - median).abs() <= 0.5 + 1e-6, "{name}: median {}", s.median);
            let found = [s.percent_below_1kb, s.percent_below_10kb, s.percent_below_100kb];
            for (found, expected) in found.iter().zip(below) {
                assert!((found - expected).abs() <= 0.05 + 1e-6, "{name}: {found} {expected}");
            }
            let share = s.percent_of_bytes_in_top_tenth;
            assert!((share - top).abs() <= 0.05 + 1e-6, "{name}: top tenth {share}");
        }
    }

    #[test]
    fn the_quantiles_of_the_long_tables_are_known() {
        let names =
            ["webserver", "fb_hadoop_fine", "fb_cache_follower", "google_rpc", "google_search_rpc"];
        #[rustfmt::skip]
        let expected = [
            (10.0, [120, 314, 291, 33, 2]),
            (20.0, [269, 374, 367, 73, 34]),
            (30.0, [1030, 500, 561, 102, 53]),
            (50.0, [3406, 655, 28_270, 257, 267]),
            (70.0, [16_817, 6259, 545_885, 395, 348]),
            (80.0, [70_000, 49_287, 1_858_680, 566, 411]),
            (90.0, [268_075, 119_336, 2_440_257, 1716, 501]),
            (95.0, [344_103, 269_287, 2_682_023, 5508, 876]),
            (99.0, [552_298, 3_094_208, 3_058_995, 30_614, 2989]),
            (99.9, [934_467, 8_909_836, 3_727_785, 354_938, 20_640]),
        ];
        for (percent, sizes) in expected {
            for (name, size) in names.iter().zip(sizes) {
                let found = table(name).quantile(percent);
                let off = (found - f64::from(size)).abs();
                assert!(off <= 1.0, "{name} at {percent} %: {found}, not {size}");
            }
        }
    }

    #[test]
    fn the_anchors_of_the_reconstructed_tables_hold() {
        assert_eq!(table("edu1").percent_below(Bytes::from_kb(10)), 60.0);
        assert_eq!(table("edu2").percent_below(Bytes::from_kb(20)), 80.0);
    }

    #[test]
    fn the_flows_that_fit_into_one_rtt_are_those_of_flowsails_figure_1() {
        let expected = [
            [76.3, 82.8, 99.2, 78.2, 81.5],
            [91.0, 96.9, 98.0, 92.2, 95.4],
            [33.8, 57.1, 65.0, 40.0, 54.2],
            [99.1, 99.7, 100.0, 99.2, 99.6],
        ];
        for ((_, name), row) in FLOWSAIL_WORKLOADS.iter().zip(expected) {
            for (case, expected) in FLOWSAIL_FIG1.iter().zip(row) {
                let found = table(name).percent_within_rtt(case.rate, case.rtt);
                assert!((found - expected).abs() <= 0.05 + 1e-6, "{name} {case:?}: {found}");
            }
        }
    }

    #[test]
    fn an_unknown_table_names_the_nearest_and_all() {
        let message = builtin_table("web-search").unwrap_err().to_string();
        assert!(message.contains("did you mean `websearch`?"), "{message}");
        assert!(message.contains("google_rpc"), "{message}");
        assert!(!builtin_table("zzzzzz").unwrap_err().to_string().contains("mean"));
    }
}
