//! `[report]`: how results are divided in tables.

use super::fields::{At, Fields};
use super::keys;
use super::ports::{self, PortGroup};
use super::traffic::TrafficSpec;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use std::fmt;
use weir_core::Bytes;

/// Flow sizes from a lower end up to, but not including, an upper end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeRange {
    /// As it was written, without blanks: how tables call it.
    pub label: String,
    /// The smallest size.
    pub from: Bytes,
    /// The first size above it; `None`: there is none.
    pub to: Option<Bytes>,
}

impl SizeRange {
    /// Reads `10KB..100KB`, `..10KB` or `100KB..`.
    pub fn read(text: &str) -> Result<Self, String> {
        let label: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let Some((from, to)) = label.split_once("..") else {
            return Err(format!("`{text}` is not a range of sizes: it has no `..`"));
        };
        let size = |text: &str| text.parse::<Bytes>().map_err(|e| e.to_string());
        let from = if from.is_empty() { Bytes::ZERO } else { size(from)? };
        let to = if to.is_empty() { None } else { Some(size(to)?) };
        if to.is_some_and(|to| to <= from) {
            return Err(format!("the range `{text}` is empty: its end is not above its start"));
        }
        Ok(Self { label, from, to })
    }

    /// Whether a size lies in it. A flow without an end has no size.
    pub fn holds(&self, size: Bytes) -> bool {
        size != Bytes::MAX && size >= self.from && self.to.is_none_or(|to| size < to)
    }

    /// The ranges of results that do not say: what papers call short, medium and large flows.
    pub fn usual() -> Vec<Self> {
        let read = |text| Self::read(text).expect("a range");
        ["0..10KB", "10KB..100KB", "100KB.."].map(read).to_vec()
    }

    /// Reads several that are separated by commas, all different.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let mut ranges: Vec<Self> = Vec::new();
        for part in text.split(',') {
            let range = Self::read(part.trim())?;
            if ranges.iter().any(|r| r.same(&range)) {
                return Err(format!("the range `{range}` is given twice"));
            }
            ranges.push(range);
        }
        Ok(ranges)
    }

    fn same(&self, other: &Self) -> bool {
        (self.from, self.to) == (other.from, other.to)
    }
}

impl fmt::Display for SizeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

/// What `[report]` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportSpec {
    /// Ranges of flow sizes that get figures of their own; they may overlap.
    pub sizes: Vec<SizeRange>,
    /// Groups of switch ports that get figures of their own.
    pub ports: Vec<PortGroup>,
}

/// More ranges than this make no table that anybody reads.
const MOST: usize = 50;

/// `[report]` of a scenario with this traffic.
pub(crate) fn read(
    item: Option<&Item>,
    traffic: &[TrafficSpec],
    out: &mut Diagnostics,
) -> ReportSpec {
    let mut f = Fields::new(&keys::REPORT, item, out);
    let written = f.names("sizes");
    let auto = || match traffic.iter().any(TrafficSpec::from_table) {
        true => SizeRange::usual(),
        false => Vec::new(),
    };
    let sizes = match written.as_deref() {
        None => auto(),
        Some([At { value, .. }]) if value == "auto" => auto(),
        Some(texts) => ranges(texts, f.out),
    };
    let ports = ports::read(f.item("ports"), f.out);
    ReportSpec { sizes, ports }
}

fn ranges(texts: &[At<String>], out: &mut Diagnostics) -> Vec<SizeRange> {
    let mut found: Vec<(SizeRange, Option<Span>)> = Vec::new();
    let label = "write \"10KB..100KB\", \"..10KB\" or \"100KB..\"; the upper end is not included";
    for text in texts {
        match SizeRange::read(&text.value) {
            Err(why) => {
                out.push(Diagnostic::error(format!("`sizes`: {why}")).maybe_at(text.span, label));
            }
            Ok(range) if found.iter().any(|(other, _)| other.same(&range)) => {
                let error = Diagnostic::error(format!("`sizes` has the range `{range}` twice"));
                out.push(error.maybe_at(text.span, "its rows would be the same"));
            }
            Ok(range) => found.push((range, text.span)),
        }
    }
    if let Some((_, span)) = found.get(MOST) {
        let title = format!("`sizes` has {} ranges", found.len());
        out.push(Diagnostic::error(title).maybe_at(*span, format!("at most {MOST}")));
    }
    found.into_iter().map(|(range, _)| range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_its_lower_end_and_not_its_upper_one() {
        let range = SizeRange::read("10KB .. 100 KB").unwrap();
        assert_eq!(range.label, "10KB..100KB");
        let held = [9_999, 10_000, 99_999, 100_000].map(|n| range.holds(Bytes::new(n)));
        assert_eq!(held, [false, true, true, false]);
        let open = SizeRange::read("100KB..").unwrap();
        assert!(open.holds(Bytes::new(100_000)) && !open.holds(Bytes::MAX));
        assert!(SizeRange::read("..1KB").unwrap().holds(Bytes::ZERO));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in ["", "10KB", "10KB..10KB", "2MB..1MB", "a..b", "1..2..3", "..0"] {
            assert!(SizeRange::read(text).is_err(), "{text}");
        }
        assert!(SizeRange::list("0..1KB,..1000B").is_err(), "the same range twice");
        assert_eq!(SizeRange::list("0..1KB, 1KB..").unwrap().len(), 2);
    }
}
