//! What is written for a parameter.

use super::{Choices, FromText, Param, hint};
use crate::{Rate, Time, nearest};

/// What is written for a parameter. `words` may stand in the place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A file.
    File,
    /// A size such as `64KB`, or one of these words.
    Size(&'static [&'static str]),
    /// A size, a range of sizes, a table of sizes or a file with one.
    Sizes,
    /// A time such as `1.5us`, or one of these words.
    Time(&'static [&'static str]),
    /// A time or a range of times.
    Times,
    /// A time of at least 100 ns: the period of a timer that runs all the time. With a shorter one
    /// a run would simulate little else.
    Period,
    /// A length such as `100m`.
    Length,
    /// A rate such as `100Gbps`.
    Rate,
    /// A rate above zero.
    PositiveRate,
    /// A rate, or one that follows the line rate: `5Mbps per 25Gbps`.
    RateStep,
    /// A fraction: `1/8`, `0.125`, `12.5%`.
    Fraction,
    /// A fraction from 0 to 1.
    Share,
    /// A number.
    Number,
    /// A number from 0 up to, not including, this one.
    Below(u32),
    /// A whole number within bounds, both included.
    Whole {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A whole number within bounds, both included, or one of these words.
    WholeOr {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// What may stand there instead.
        words: &'static [&'static str],
    },
    /// True or false.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words, or a list of them.
    Set(Choices),
    /// A list of whole numbers within bounds.
    Wholes {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A list of names.
    Names,
    /// A host.
    Host,
    /// Hosts, or groups of hosts.
    Hosts,
    /// A list of groups of hosts; each entry is one group.
    Groups,
    /// A static path of the scenario.
    Path,
    /// A list of static paths.
    Paths,
    /// Pairs of node names.
    Links,
    /// Rows of a CSV table, the names of the columns first.
    Rows,
    /// A list of ranges of sizes, or one of these words.
    Ranges(&'static [&'static str]),
    /// A table of names, each with a pattern of ports or several.
    Ports,
    /// A table with these keys, or one of these words.
    Table(&'static [Param], &'static [&'static str]),
    /// A number with any of the units of this scenario, or without.
    Quantity,
    /// What only the owner of the parameter can read: this is what it takes.
    Special(&'static str),
}

impl Kind {
    /// A whole number from 0.
    pub const COUNT: Self = Self::Whole { min: 0, max: u64::MAX };
    /// A list of whole numbers from 0.
    pub const COUNTS: Self = Self::Wholes { min: 0, max: u64::MAX };
    /// A whole number from 0 that fits 32 bits.
    pub const COUNT_32: Self = Self::Whole { min: 0, max: u32::MAX as u64 };
    /// A priority.
    pub const PRIORITY: Self = Self::Whole { min: 0, max: 7 };

    /// The shortest [`Kind::Period`].
    pub const SHORTEST_PERIOD: Time = Time::from_ns(100);

    /// What to write, in a few words, as it stands in a scenario file.
    pub fn describe(self) -> String {
        match self {
            Self::Text => "text".into(),
            Self::File => "a file".into(),
            Self::Size(words) => or("a size such as `\"64KB\"`", words),
            Self::Sizes => {
                "a size `\"64KB\"`, a range `\"50KB..200KB\"`, a table `\"websearch\"` or \
                            a file `\"mine.cdf\"`"
                    .into()
            }
            Self::Time(words) => or("a time such as `\"1.5us\"`", words),
            Self::Times => "a time `\"30us\"` or a range `\"0us..30us\"`".into(),
            Self::Period => format!("a time from {}, such as `\"50us\"`", Self::SHORTEST_PERIOD),
            Self::Length => "a length such as `\"100m\"`".into(),
            Self::Rate => "a rate such as `\"100Gbps\"`".into(),
            Self::PositiveRate => "a rate above 0, such as `\"100Mbps\"`".into(),
            Self::RateStep => {
                "a rate such as `\"40Mbps\"`, or `\"5Mbps per 25Gbps\"` to follow the line rate"
                    .into()
            }
            Self::Fraction => "a fraction: `\"1/8\"`, `0.125` or `\"12.5%\"`".into(),
            Self::Share => "a fraction from 0 to 1: `\"1/8\"`, `0.125` or `\"12.5%\"`".into(),
            Self::Number => "a number".into(),
            Self::Below(n) => format!("a number from 0 up to but below {n}"),
            Self::Whole { min, max } => format!("a whole number from {}", span(min, max)),
            Self::WholeOr { min, max, words } => {
                or(&format!("a whole number from {}", span(min, max)), words)
            }
            Self::Bool => "`true` or `false`".into(),
            Self::Choice(words) => format!("one of {}", quoted(words).join(", ")),
            Self::Set(choices) => {
                format!("one of {}, or a list of them", quoted(choices.words).join(", "))
            }
            Self::Wholes { min, max } => format!("a list of whole numbers from {}", span(min, max)),
            Self::Names => "a list of names such as `[\"h0\", \"Sa\", \"h8\"]`".into(),
            Self::Host => "a host".into(),
            Self::Hosts => "hosts or groups of hosts".into(),
            Self::Groups => "a list of groups of hosts".into(),
            Self::Path => "a static path of the scenario".into(),
            Self::Paths => "a list of static paths of the scenario".into(),
            Self::Links => "links such as `\"spine0-leaf0\"`".into(),
            Self::Rows => "rows of CSV, the names of the columns first".into(),
            Self::Ranges(words) => {
                or("a list of ranges such as `[\"0..10KB\", \"10KB..\"]`", words)
            }
            Self::Table(keys, words) => {
                let names: Vec<&str> = keys.iter().map(|k| k.name).collect();
                or(&format!("a table with {}", names.join(", ")), words)
            }
            Self::Ports => "a table such as `{ core = \"core* -> *\" }`".into(),
            Self::Quantity => "a quantity such as `\"1.45ms\"`, `\"75KB\"` or `0.8`".into(),
            Self::Special(what) => what.into(),
        }
    }

    /// Whether several values may be given.
    pub const fn is_list(self) -> bool {
        matches!(
            self,
            Self::Hosts
                | Self::Groups
                | Self::Paths
                | Self::Links
                | Self::Wholes { .. }
                | Self::Set(_)
                | Self::Names
                | Self::Ranges(_)
                | Self::Rows
        )
    }

    /// Whether `text` keeps to the bounds of this kind; if not, what is valid. Other
    /// conditions are checked where the value is read.
    pub fn check(self, text: &str) -> Result<(), String> {
        match self {
            Self::Whole { min, max } => whole(text, min, max, ""),
            Self::WholeOr { words, .. } if words.contains(&text.trim()) => Ok(()),
            Self::WholeOr { min, max, words } => {
                whole(text, min, max, &format!(", or {}", quoted_in_text(words).join(" or ")))
            }
            Self::Choice(words) => known(text.trim(), words),
            Self::Set(choices) => choices.read(text).map(|_| ()),
            Self::Below(n) if !f64::from_text(text).is_ok_and(|x| x < f64::from(n)) => {
                Err(format!("`{text}` is not a number from 0 up to but below {n}"))
            }
            Self::Share if f64::from_text(text)? > 1.0 => {
                Err(format!("`{text}` is above 1: a fraction is from 0 to 1"))
            }
            Self::PositiveRate if Rate::from_text(text)?.as_bps() == 0 => Err(
                "it must be above 0: a flow with nothing in flight receives no ACKs, so its rate \
                 would never change again"
                    .into(),
            ),
            Self::Period if Time::from_text(text)? < Self::SHORTEST_PERIOD => Err(format!(
                "`{text}` is too short: a period is at least {}",
                Self::SHORTEST_PERIOD
            )),
            Self::Size(words) if text.trim() == "unlimited" && !words.contains(&"unlimited") => {
                Err("a size such as `64KB` is needed: it cannot be `unlimited`".into())
            }
            _ => Ok(()),
        }
    }
}

/// Whether `text` is one of `words`; if not, what is.
pub(super) fn known(text: &str, words: &[&str]) -> Result<(), String> {
    if words.contains(&text) {
        return Ok(());
    }
    let near = hint(nearest(text, words.iter().copied()));
    Err(format!("`{text}` is not one of {}{near}", quoted_in_text(words).join(", ")))
}

fn whole(text: &str, min: u64, max: u64, or: &str) -> Result<(), String> {
    match u64::from_text(text) {
        Ok(n) if (min..=max).contains(&n) => Ok(()),
        _ => Err(format!("`{text}` is not a whole number from {min} to {max}{or}")),
    }
}

/// `"1 to 7"`, or `"1"` where only the type bounds it.
fn span(min: u64, max: u64) -> String {
    let unbounded = max == u64::MAX || max == u64::from(u32::MAX);
    if unbounded { min.to_string() } else { format!("{min} to {max}") }
}

/// Words as TOML strings.
fn quoted(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| format!("`\"{w}\"`")).collect()
}

fn quoted_in_text(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| format!("`{w}`")).collect()
}

fn or(what: &str, words: &[&str]) -> String {
    match words {
        [] => what.to_owned(),
        some => format!("{what}, or {}", quoted(some).join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_checked_and_named() {
        let says = |kind: Kind, text: &str| kind.check(text).unwrap_err();
        assert!(says(Kind::Whole { min: 2, max: 128 }, "1").contains("from 2 to 128"));
        assert_eq!(Kind::Whole { min: 2, max: 128 }.check("128"), Ok(()));
        assert!(
            says(Kind::Choice(&["timed", "sticky"]), "tined").contains("did you mean `timed`?")
        );
        assert!(says(Kind::Choice(&["timed", "sticky"]), "x").contains("`timed`, `sticky`"));
        assert!(says(Kind::Share, "1.01").contains("from 0 to 1"));
        assert!(says(Kind::PositiveRate, "0bps").contains("above 0"));
        assert!(says(Kind::Period, "99ns").contains("at least 100 ns"));
        assert!(says(Kind::Size(&[]), "unlimited").contains("64KB"));
        assert!(says(Kind::Below(1), "1").contains("below 1"));
        assert_eq!(Kind::Below(1).check("1e-12"), Ok(()));
        let or_off = Kind::WholeOr { min: 1, max: 9, words: &["off"] };
        assert!(says(or_off, "0").contains("from 1 to 9, or `off`"));
        assert_eq!((or_off.check("off"), or_off.check("9")), (Ok(()), Ok(())));
    }
}
