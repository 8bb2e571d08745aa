//! Values that are written as text.

use super::hint;
use crate::{Bytes, Length, Priority, Rate, Ratio, Time, nearest};
use std::num::NonZeroU32;

/// A value that can be written as text.
pub trait FromText: Sized {
    /// The value that `text` stands for. If it stands for none: the text, and what is valid.
    fn from_text(text: &str) -> Result<Self, String>;
}

macro_rules! from_str {
    ($($type:ty),*) => {$(
        impl FromText for $type {
            fn from_text(text: &str) -> Result<Self, String> {
                text.parse::<$type>().map_err(|e| e.to_string())
            }
        }
    )*};
}
from_str!(Time, Rate, Ratio, Length);

macro_rules! whole {
    ($($type:ty),*) => {$(
        /// Digits may be grouped by `_`.
        impl FromText for $type {
            fn from_text(text: &str) -> Result<Self, String> {
                let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
                digits.parse().map_err(|_| {
                    format!("`{text}` is not a whole number from {} to {}", Self::MIN, Self::MAX)
                })
            }
        }
    )*};
}
whole!(u64, u32, NonZeroU32);

/// `off` stands for none.
impl FromText for Option<NonZeroU32> {
    fn from_text(text: &str) -> Result<Self, String> {
        if text.trim() == "off" { Ok(None) } else { NonZeroU32::from_text(text).map(Some) }
    }
}

/// `unlimited` stands for the most; see also [`Kind::Size`](super::Kind::Size).
impl FromText for Bytes {
    fn from_text(text: &str) -> Result<Self, String> {
        match text.trim() {
            "unlimited" => Ok(Self::MAX),
            text => text.parse::<Self>().map_err(|e| e.to_string()),
        }
    }
}

/// A number from 0, also as a fraction.
impl FromText for f64 {
    fn from_text(text: &str) -> Result<Self, String> {
        if text.contains('/') || text.contains('%') {
            return text.parse::<Ratio>().map(Ratio::as_f64).map_err(|e| e.to_string());
        }
        match text.trim().parse::<Self>() {
            Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
            _ => Err(format!("`{text}` is not a number from 0: write `0.95` or `1/256`")),
        }
    }
}

impl FromText for bool {
    fn from_text(text: &str) -> Result<Self, String> {
        match text.trim() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(format!("`{text}` is neither `true` nor `false`")),
        }
    }
}

impl FromText for String {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.into())
    }
}

impl FromText for Priority {
    fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a whole number from 0 to 7");
        text.trim().parse().ok().and_then(Self::new).ok_or_else(wrong)
    }
}

/// The value of a word.
pub fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    words.iter().find(|(word, _)| *word == text.trim()).map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let near = hint(nearest(text, words.iter().map(|&(word, _)| word)));
        format!("`{text}` is not one of {}{near}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused_with_what_is_valid() {
        assert!(f64::from_text("-1").is_err());
        assert!(f64::from_text("inf").is_err());
        assert!(f64::from_text("NaN").is_err());
        assert!(bool::from_text("yes").unwrap_err().contains("`true`"));
        assert!(u32::from_text("1.5").unwrap_err().contains("4294967295"));
        assert!(NonZeroU32::from_text("0").unwrap_err().contains("from 1"));
        assert!(Priority::from_text("8").unwrap_err().contains("0 to 7"));
        assert!(word("yess", &[("yes", 1)]).unwrap_err().contains("did you mean `yes`?"));
    }

    #[test]
    fn what_is_valid_is_read() {
        assert_eq!(u32::from_text(" 1_000 "), Ok(1000));
        assert_eq!(f64::from_text("1/256"), Ok(1.0 / 256.0));
        assert_eq!(Option::<NonZeroU32>::from_text("off"), Ok(None));
        assert_eq!(Bytes::from_text("unlimited"), Ok(Bytes::MAX));
        assert_eq!(word("yes", &[("yes", 1)]), Ok(1));
    }
}
