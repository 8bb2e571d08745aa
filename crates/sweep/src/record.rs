//! One result as it stands in a file: a line with a checksum.
//!
//! ```text
//! 5f1c09ab {"id":"...","weir":"0.1.0","build":"...","status":"ok",...,"figures":{"runs":
//!          {"columns":["finish","deadlock",...],"rows":[["drained",0,...]]},"classes":...}}
//! CRC-32   what it is the checksum of
//! ```
//!
//! Figures stand there as numbers, text or null, with the names of their columns: a program with
//! other columns sees that they are not its own.

use serde::{Deserialize, Deserializer, Serialize};
use weir_results::metrics::Figures;
use weir_results::starts::Starts;
use weir_scenario::hash::crc32;

weir_core::words! {
    /// How a run went.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Status {
        /// It has a result.
        Ok = "ok",
        /// It has a result that breaks a promise: a lossless scheme lost packets.
        Invalid = "invalid",
        /// It has none: the run stopped with an error.
        Failed = "failed",
        /// Failures up to this attempt are to be forgotten.
        Retry = "retry",
    }
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The run.
    pub id: String,
    /// The version of the program.
    pub weir: String,
    /// Which build of it.
    pub build: String,
    /// How it went.
    pub status: Status,
    /// Why, unless it went well.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The first, second, ... time it was tried.
    pub attempt: u32,
    /// What came out, if it has a result.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "own_figures")]
    pub figures: Option<Figures>,
    /// How flows fared by when they started, if the plan asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<Starts>,
    /// Processor time it took. Never part of a table.
    #[serde(default)]
    pub cpu_seconds: f64,
}

/// Figures of a program with other columns are none.
fn own_figures<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Figures>, D::Error> {
    Ok(Figures::from_stored(Deserialize::deserialize(from)?))
}

impl Record {
    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        let text = serde_json::to_string(self).expect("a record is text and finite numbers");
        format!("{:08x} {text}\n", crc32(text.as_bytes())).into_bytes()
    }

    /// Reads a line without its end; `None` when it is damaged.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let (sum, text) = (line.get(..8)?, line.get(9..)?);
        let sum = u32::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
        if line[8] != b' ' || crc32(text) != sum {
            return None;
        }
        serde_json::from_slice(text).ok()
    }

    /// Whether both have the same result, regardless of worker and time; one of them may have
    /// been asked for more.
    pub fn same_result(&self, other: &Self) -> bool {
        let starts = self.starts.as_ref().zip(other.starts.as_ref());
        self.id == other.id
            && (self.status, &self.reason) == (other.status, &other.reason)
            && self.figures == other.figures
            && starts.is_none_or(|(own, other)| own == other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            id: "0123456789abcdef0123456789abcdef".into(),
            weir: "0.1.0".into(),
            build: "abc".into(),
            status: Status::Ok,
            reason: String::new(),
            attempt: 1,
            figures: Some(Figures::by_hand("finish", "a \"b\", c\n".into())),
            starts: None,
            cpu_seconds: 0.25,
        }
    }

    #[test]
    fn a_record_is_one_line_and_reads_back() {
        let line = record().line();
        assert_eq!(line.iter().filter(|b| **b == b'\n').count(), 1);
        assert_eq!(Record::parse(&line[..line.len() - 1]), Some(record()));
    }

    /// Records of plans that do not ask for a series are as they were before there was one.
    #[test]
    fn a_series_is_part_of_a_record_that_has_one() {
        let with = Record { starts: Some(Starts { until_ps: 7, ..Starts::default() }), ..record() };
        assert!(!String::from_utf8(record().line()).expect("text").contains("starts"));
        let line = with.line();
        assert_eq!(Record::parse(&line[..line.len() - 1]).as_ref(), Some(&with));
        assert!(with.same_result(&record()) && record().same_result(&with));
        let other = Record { starts: Some(Starts::default()), ..record() };
        assert!(!with.same_result(&other));
    }

    #[test]
    fn every_changed_bit_and_every_cut_is_noticed() {
        let line = record().line();
        let line = &line[..line.len() - 1];
        for at in 0..line.len() {
            assert_eq!(Record::parse(&line[..at]), None, "cut at {at}");
            for bit in 0..8 {
                let mut damaged = line.to_vec();
                damaged[at] ^= 1 << bit;
                // upper and lower case of the checksum's own digits are the same number
                let found = Record::parse(&damaged);
                assert!(found.is_none() || found == Some(record()), "bit {bit} of byte {at}");
            }
        }
    }
}
