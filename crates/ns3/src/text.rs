//! Whitespace-separated text with line numbers, and the numbers in it.

use crate::clock;
use crate::diag::Diagnostics;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use weir_core::Severity;

/// Reads one file word by word. The first error ends it.
pub(crate) struct Words<'a> {
    path: PathBuf,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    words: std::str::SplitAsciiWhitespace<'a>,
    line: usize,
}

/// A word and its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(path: &Path, text: &'a str) -> Self {
        Self {
            path: path.into(),
            lines: text.lines().enumerate(),
            words: "".split_ascii_whitespace(),
            line: 0,
        }
    }

    /// The next word, or `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Option<Word<'a>> {
        loop {
            if let Some(text) = self.words.next() {
                return Some(Word { text, line: self.line });
            }
            let (i, line) = self.lines.next()?;
            self.line = i + 1;
            self.words = line.split_ascii_whitespace();
        }
    }

    /// Reads what is left of the present line into the void; whether there was something.
    pub(crate) fn rest_of_line(&mut self) -> Option<Word<'a>> {
        self.words.next().map(|text| Word { text, line: self.line })
    }

    /// The line of the word read last.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    pub(crate) fn error(
        &self,
        line: Option<usize>,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) -> Diagnostics {
        let mut d = Diagnostics::default();
        d.push(Severity::Error, (&self.path, line), message, help);
        d
    }

    /// The next word, which must be there; `what` says what is expected.
    pub(crate) fn expect(&mut self, what: &str) -> Result<Word<'a>, Diagnostics> {
        self.next().ok_or_else(|| {
            self.error(Some(self.line.max(1)), format!("the file ends before {what}"), None)
        })
    }

    /// The next word as `what`, read by `read`.
    pub(crate) fn parse<T>(
        &mut self,
        what: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Diagnostics> {
        let word = self.expect(what)?;
        read(word.text).map_err(|valid| {
            let message = format!("`{}` is not {what}", shortened(word.text));
            self.error(Some(word.line), message, Some(valid))
        })
    }
}

/// A word cut to a length that fits a message.
pub(crate) fn shortened(word: &str) -> String {
    if word.chars().count() <= 40 {
        return word.into();
    }
    word.chars().take(37).chain("...".chars()).collect()
}

pub(crate) fn integer<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let bits = 8 * size_of::<T>();
        format!("write a whole number from 0 to 2^{bits} - 1")
    })
}

/// A finite, non-negative number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("write a number such as 0.25".into()),
    }
}

/// Splits a number from its unit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok().filter(|x: &f64| x.is_finite())?;
    Some((value, &text[end..]))
}

/// A link or sending rate in bit/s: `100Gbps`, `40Mb/s`, `1.5GB/s`.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    let valid = || "write a rate such as 100Gbps, 40Mb/s or 1250MBps".to_string();
    let (value, unit) = split_unit(text).ok_or_else(valid)?;
    let base = unit.strip_suffix("ps").or_else(|| unit.strip_suffix("/s")).unwrap_or(unit);
    let (prefix, bits) = match base.as_bytes() {
        [] if unit.is_empty() => ("", 1.0),
        [.., b'b'] => (&base[..base.len() - 1], 1.0),
        [.., b'B'] => (&base[..base.len() - 1], 8.0),
        _ => return Err(valid()),
    };
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(valid()),
    };
    if !unit.is_empty() && base == unit {
        return Err(valid());
    }
    let bps = value * (factor * bits);
    if bps < 1e18 { Ok(bps as u64) } else { Err("a rate is below 10^18 bit/s".into()) }
}

/// A delay in nanoseconds: `1000ns`, `0.001ms`, `1us`, `2s`; without a unit, seconds.
pub(crate) fn delay(text: &str) -> Result<u64, String> {
    let valid = || "write a delay such as 1000ns, 1us or 0.001ms".to_string();
    let (value, unit) = split_unit(text).ok_or_else(valid)?;
    let unit_ns = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" | "" => 1_000_000_000,
        _ => return Err(valid()),
    };
    match clock::scaled(value, unit_ns) {
        ns if ns < 1_000_000_000_000 => Ok(ns),
        _ => Err("a delay is below 1000 s".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_line() {
        let mut w = Words::new(Path::new("x"), "a b\n\n  c\n");
        let got: Vec<_> = std::iter::from_fn(|| w.next().map(|w| (w.text, w.line))).collect();
        assert_eq!(got, [("a", 1), ("b", 1), ("c", 3)]);
        let e = w.expect("the number of links").unwrap_err().to_string();
        assert_eq!(e, "error: x:3: the file ends before the number of links");
    }

    #[test]
    fn rates_take_bits_and_bytes_and_prefixes() {
        for (text, bps) in [
            ("100Gbps", 100_000_000_000),
            ("40Mb/s", 40_000_000),
            ("1000Mb/s", 1_000_000_000),
            ("1GBps", 8_000_000_000),
            ("1.5kB/s", 12_000),
            ("1Kibps", 1024),
            ("5", 5),
            ("7b/s", 7),
            ("0Mb/s", 0),
        ] {
            assert_eq!(rate(text), Ok(bps), "{text}");
        }
        for text in ["", "Gbps", "10Gb", "10Tbps", "10 parsecs", "-1Gbps", "1e9bps", "1.2.3Gbps"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn delays_take_the_usual_units() {
        for (text, ns) in
            [("1000ns", 1000), ("0.001ms", 1000), ("1us", 1000), ("2s", 2_000_000_000), ("0ns", 0)]
        {
            assert_eq!(delay(text), Ok(ns), "{text}");
        }
        for text in ["", "ns", "1h", "99999s", "-1us"] {
            assert!(delay(text).is_err(), "{text}");
        }
    }
}
