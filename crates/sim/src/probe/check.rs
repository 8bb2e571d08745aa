//! Names of probes and of their columns, which become names of files and headings of tables.

use super::infos;
use super::interface::{ProbeConfig, ProbeInfo};
use crate::error::SimError;
use std::collections::BTreeSet;

/// The columns with which every table of results begins: they say of which run a row is.
const OF_THE_RUN: [&str; 3] = ["variant", "scheme", "seed"];

impl ProbeConfig {
    /// Refuses probes whose tables could not be told apart or written.
    pub(crate) fn check(&self) -> Result<(), SimError> {
        let mut names = BTreeSet::new();
        for info in infos(self) {
            if !is_name(info.name, b'-') {
                let valid = "a lower-case letter, then lower-case letters, digits and `-`";
                return refuse("name of a probe", info.name.to_owned(), valid);
            }
            if !names.insert(info.name) {
                let valid = "two probes of a run have this name";
                return refuse("name of a probe", info.name.to_owned(), valid);
            }
            check_columns(info)?;
        }
        Ok(())
    }
}

fn check_columns(info: &ProbeInfo) -> Result<(), SimError> {
    let mut names = BTreeSet::from(OF_THE_RUN);
    for column in info.columns {
        let refuse = |valid| refuse("column", format!("{} of {}", column.name, info.name), valid);
        if !is_name(column.name, b'_') {
            return refuse("a lower-case letter, then lower-case letters, digits and `_`");
        }
        if !names.insert(column.name) {
            return refuse("once per table, and none of `variant`, `scheme` and `seed`");
        }
        // a reader of any table of results takes a name that ends so for a time
        if (column.unit == "ps") != column.name.ends_with("_ps") {
            return refuse("the name of a time, and of nothing else, ends in `_ps`");
        }
    }
    Ok(())
}

fn refuse(what: &'static str, value: String, valid: &'static str) -> Result<(), SimError> {
    Err(SimError::Setting { what, value, valid })
}

fn is_name(text: &str, between: u8) -> bool {
    let rest = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == between;
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.bytes().all(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of runs in sweeps are hashes of this text: it must not change with what a program of a
    /// later version can do besides.
    #[test]
    fn the_text_of_a_run_without_a_capture_says_nothing_of_captures() {
        let mut config = ProbeConfig::default();
        let zero = weir_core::Time::ZERO;
        let text = format!(
            "ProbeConfig {{ series: None, pause_events: 100000, warm_up: {zero:?}, own: [] }}"
        );
        assert_eq!(format!("{config:?}"), text);
        config.capture = Some(super::super::Capture::default());
        assert!(format!("{config:?}").contains("capture: Capture {"));
        config.count_until = Some(zero);
        assert!(format!("{config:?}").contains("count_until"));
    }
}
