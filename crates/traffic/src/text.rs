//! Values that are written as text in parameters and flow lists.

use crate::flow::WhileHeld;
pub use weir_core::param::FromText;
use weir_core::param::word;
use weir_core::{Ratio, Time};

impl FromText for WhileHeld {
    fn from_text(text: &str) -> Result<Self, String> {
        word(text, &[("backlog", Self::Backlog), ("discard", Self::Discard)])
    }
}

/// A share of something: `0.6`, `60%` or `3/5`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl FromText for Share {
    fn from_text(text: &str) -> Result<Self, String> {
        let number: Option<f64> = text.trim().parse().ok();
        if let Some(n) = number.filter(|n| *n > 1.0 && n.is_finite()) {
            let percent = n * 100.0;
            return Err(format!("`{text}` would be {percent} %: write `{n}%`, or `{percent}%`"));
        }
        let number = number.or_else(|| Ratio::from_text(text).ok().map(Ratio::as_f64));
        number
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a share: write `0.6`, `60%` or `3/5`"))
    }
}

/// A range of times, both ends included; one time is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// The shortest.
    pub low: Time,
    /// The longest.
    pub high: Time,
}

impl FromText for TimeRange {
    fn from_text(text: &str) -> Result<Self, String> {
        let parse = |t: &str| t.parse::<Time>().map_err(|e| e.to_string());
        match text.split_once("..") {
            Some((low, high)) => Ok(Self { low: parse(low)?, high: parse(high)? }),
            None => parse(text).map(|t| Self { low: t, high: t }),
        }
    }
}

/// Keeps an error message on one line whatever the file holds.
pub(crate) fn shorten(text: &str) -> String {
    const MAX: usize = 40;
    let mut short: String = text.chars().take(MAX).collect::<String>().escape_debug().collect();
    if text.chars().count() > MAX {
        short.push('…');
    }
    short
}
