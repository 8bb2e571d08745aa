//! Values that are written as text in parameters and flow lists.

use crate::flow::WhileHeld;
use weir_core::{Bytes, Priority, Rate, Ratio, Time};

/// A value that can be written as text.
pub trait FromText: Sized {
    /// The value that `text` stands for, or what would be valid.
    fn from_text(text: &str) -> Result<Self, String>;
}

macro_rules! from_text {
    ($($type:ty),*) => {$(
        impl FromText for $type {
            fn from_text(text: &str) -> Result<Self, String> {
                text.parse::<$type>().map_err(|e| e.to_string())
            }
        }
    )*};
    ($($type:ty: $valid:literal),* $(,)?) => {$(
        impl FromText for $type {
            fn from_text(text: &str) -> Result<Self, String> {
                text.trim().parse::<$type>().map_err(|_| $valid.into())
            }
        }
    )*};
}

from_text!(Time, Rate, Ratio);
from_text! {
    f64: "write a number",
    u64: "write a whole number from 0",
    u32: "write a whole number from 0 to 4294967295",
    bool: "write `true` or `false`",
}

impl FromText for String {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.into())
    }
}

impl FromText for Bytes {
    fn from_text(text: &str) -> Result<Self, String> {
        match text.trim() {
            "unlimited" => Ok(Self::MAX),
            text => text.parse::<Self>().map_err(|e| e.to_string()),
        }
    }
}

impl FromText for Priority {
    fn from_text(text: &str) -> Result<Self, String> {
        let valid = || "write a whole number from 0 to 7".to_owned();
        text.trim().parse().ok().and_then(Self::new).ok_or_else(valid)
    }
}

impl FromText for WhileHeld {
    fn from_text(text: &str) -> Result<Self, String> {
        match text.trim() {
            "backlog" => Ok(Self::Backlog),
            "discard" => Ok(Self::Discard),
            _ => Err("write `backlog` or `discard`".into()),
        }
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
            return Err(format!("that would be {percent} %: write `{n}%`, or `{percent}%`"));
        }
        let number = number.or_else(|| Ratio::from_text(text).ok().map(Ratio::as_f64));
        number.map(Self).ok_or_else(|| "write a share such as `0.6`, `60%` or `3/5`".into())
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
