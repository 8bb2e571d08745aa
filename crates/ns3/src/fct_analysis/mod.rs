//! Slowdown by flow size: what the original's analysis script prints, for any number of result
//! files side by side, as rows and CSV.
//!
//! Flows are sorted by size and cut into buckets of equal count. A flow's slowdown is its
//! completion time over the estimate for an idle network, at least 1. Percentiles are of nearest
//! rank ([`weir_core::Percentile`]).

mod table;

use crate::diag::Diagnostics;
use crate::record::FctRecord;
use crate::text::{Words, integer, shortened};
use std::path::Path;
pub use table::{Bucket, SlowdownTable, Stats};

/// Reads the text of an `fct.txt`; `path` is for messages.
pub fn read(path: &Path, text: &str) -> Result<Vec<FctRecord>, Diagnostics> {
    let mut records = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let mut words = Words::new(path, line);
        let record = read_line(&mut words).map_err(|mut d| {
            d.0.iter_mut().for_each(|d| d.line = Some(i + 1));
            d
        })?;
        records.push(record);
    }
    Ok(records)
}

fn read_line(words: &mut Words<'_>) -> Result<FctRecord, Diagnostics> {
    let host = |text: &str| match u32::from_str_radix(text, 16) {
        Ok(ip) if text.len() == 8 => Ok((ip >> 8) & 0xffff),
        _ => Err("addresses are eight hexadecimal digits such as 0b000701".into()),
    };
    let record = FctRecord {
        src: words.parse("the source address", host)?,
        dst: words.parse("the destination address", host)?,
        sport: words.parse("the source port", integer)?,
        dport: words.parse("the destination port", integer)?,
        size: words.parse("the size", integer)?,
        start_ns: words.parse("the start in ns", integer)?,
        fct_ns: words.parse("the completion time in ns", integer)?,
        standalone_ns: words.parse("the estimated time in ns", integer)?,
    };
    match words.next() {
        Some(extra) => {
            let message = format!("`{}` follows the eight columns", shortened(extra.text));
            Err(words.error(Some(extra.line), message, None))
        }
        None => Ok(record),
    }
}

/// Which flows count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Only flows to this port: 100 is background traffic, 200 incasts.
    pub dport: Option<u16>,
    /// Only flows that finished before this time.
    pub finished_before_ns: u64,
}

impl Default for Filter {
    /// As the script: background traffic, finished before 3 s.
    fn default() -> Self {
        Self { dport: Some(100), finished_before_ns: 3_000_000_000 }
    }
}

/// A flow as the analysis sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Bytes.
    pub size: u64,
    /// Completion time over the ideal one, at least 1.
    pub slowdown: f64,
}

/// The flows of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What to call it: usually the file's name.
    pub name: String,
    /// Its flows, in any order.
    pub samples: Vec<Sample>,
}

impl Series {
    /// The flows of a result file that pass the filter.
    pub fn new(name: impl Into<String>, records: &[FctRecord], filter: Filter) -> Self {
        let samples = records
            .iter()
            .filter(|r| filter.dport.is_none_or(|port| r.dport == port))
            .filter(|r| r.start_ns.saturating_add(r.fct_ns) < filter.finished_before_ns)
            .map(|r| {
                let slowdown = r.fct_ns as f64 / r.standalone_ns.max(1) as f64;
                Sample { size: r.size, slowdown: slowdown.max(1.0) }
            })
            .collect();
        Self { name: name.into(), samples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "0b000701 0b000001 10000 100 2000000 2000000000 1914465 171840";

    fn read_text(text: &str) -> Result<Vec<FctRecord>, String> {
        read(Path::new("fct.txt"), text).map_err(|d| d.to_string())
    }

    #[test]
    fn lines_read_back() {
        let records = read_text(&format!("{LINE}\n\n{LINE}\n")).unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].to_string(), LINE);
    }

    #[test]
    fn mistakes_are_shown_with_their_line() {
        let at = |text: &str| read_text(text).unwrap_err();
        assert!(at(&format!("{LINE}\n0b0007")).contains("fct.txt:2: `0b0007` is not the source"));
        assert!(at(&format!("{LINE} 7")).contains("follows the eight columns"));
        assert!(at("0b000701 0b000001 10000 100").contains("ends before the size"));
    }

    #[test]
    fn the_filter_keeps_background_flows_that_finished_in_time() {
        let mut records = read_text(&[LINE; 3].join("\n")).unwrap();
        records[1].dport = 200;
        records[2].start_ns = 3_000_000_000;
        let series = Series::new("a", &records, Filter::default());
        assert_eq!(series.samples.len(), 1);
        assert_eq!(series.samples[0].slowdown, 1_914_465.0 / 171_840.0);
        let all = Filter { dport: None, finished_before_ns: u64::MAX };
        assert_eq!(Series::new("a", &records, all).samples.len(), 3);
    }

    #[test]
    fn a_slowdown_is_at_least_one() {
        let mut records = read_text(LINE).unwrap();
        records[0].fct_ns = 1;
        records[0].standalone_ns = 0;
        let series = Series::new("a", &records, Filter::default());
        assert_eq!(series.samples[0].slowdown, 1.0);
    }
}
