//! The one parser behind all units: a decimal number, optional space, a unit.

use thiserror::Error;

/// Lets a unit be read as its `GRAMMAR` says, and makes its debug text the usual one.
macro_rules! notation {
    ($unit:ident) => {
        impl std::str::FromStr for $unit {
            type Err = $crate::ParseUnitError;
            fn from_str(s: &str) -> Result<Self, Self::Err> {
                $crate::units::parse::parse(s, &GRAMMAR).map(Self)
            }
        }

        impl fmt::Debug for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(super) use notation;

/// Why a text is not a quantity. The message says what would be valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseUnitError {
    /// There is no number in front.
    #[error("`{text}` is not {what}: expected a number and a unit, such as `{example}`")]
    NoNumber {
        /// What was written.
        text: String,
        /// The quantity that was wanted ("a time").
        what: &'static str,
        /// Something valid.
        example: &'static str,
    },
    /// A number without a unit where a unit is required.
    #[error("`{text}` has no unit: write one of {units}, such as `{example}`")]
    NoUnit {
        /// What was written.
        text: String,
        /// Valid units.
        units: &'static str,
        /// Something valid.
        example: &'static str,
    },
    /// An unknown unit.
    #[error("unknown unit `{unit}` in `{text}`: {what} takes one of {units}")]
    UnknownUnit {
        /// What was written.
        text: String,
        /// The unit in it.
        unit: String,
        /// The quantity that was wanted.
        what: &'static str,
        /// Valid units.
        units: &'static str,
    },
    /// Finer than the model's resolution or larger than it can hold.
    #[error("`{text}` is out of range: {what} is a whole number of {resolution} up to {max}")]
    OutOfRange {
        /// What was written.
        text: String,
        /// The quantity that was wanted.
        what: &'static str,
        /// The smallest step.
        resolution: &'static str,
        /// The largest value.
        max: &'static str,
    },
}

/// How one quantity is written.
pub(super) struct Grammar {
    pub what: &'static str,
    pub example: &'static str,
    pub units: &'static str,
    pub resolution: &'static str,
    pub max: &'static str,
    /// (unit as written, how many of the smallest step it holds)
    pub table: &'static [(&'static str, u64)],
    /// The multiplier of a bare number; `None` where a unit is required (zero is always fine).
    pub bare: Option<u64>,
}

/// Parses `text` into whole steps, exactly: "1.5us" is 1 500 000 ps, and what is
/// not a whole number of steps is refused rather than rounded.
pub(super) fn parse(text: &str, g: &Grammar) -> Result<u64, ParseUnitError> {
    match whole_number(text, g) {
        Some(steps) => Ok(steps),
        None => parse_any(text, g),
    }
}

/// [`parse_any`] for digits with a unit right behind them, which is how programs write millions of
/// quantities: no blanks, fraction or separators to look for, and nothing to allocate. `None` for
/// everything else.
fn whole_number(text: &str, g: &Grammar) -> Option<u64> {
    /// So many digits always fit.
    const DIGITS: usize = 18;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > DIGITS {
        return None;
    }
    let (number, unit) = text.split_at(digits);
    let number = number.bytes().fold(0, |n, b| 10 * n + u64::from(b - b'0'));
    let step = match unit {
        "" => g.bare?,
        unit => g.table.iter().find(|(name, _)| *name == unit)?.1,
    };
    number.checked_mul(step)
}

fn parse_any(text: &str, g: &Grammar) -> Result<u64, ParseUnitError> {
    let t = text.trim();
    let split = t.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(t.len());
    let (number, unit) = (t[..split].replace('_', ""), t[split..].trim());
    let no_number =
        || ParseUnitError::NoNumber { text: text.into(), what: g.what, example: g.example };
    let out_of_range = || ParseUnitError::OutOfRange {
        text: text.into(),
        what: g.what,
        resolution: g.resolution,
        max: g.max,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(no_number());
    }
    let is_zero = number.bytes().all(|b| matches!(b, b'0' | b'.'));
    let step = match g.table.iter().find(|(name, _)| *name == unit) {
        Some(&(_, step)) => step,
        None if unit.is_empty() && is_zero => 1,
        None if unit.is_empty() => g.bare.ok_or(ParseUnitError::NoUnit {
            text: text.into(),
            units: g.units,
            example: g.example,
        })?,
        None => {
            return Err(ParseUnitError::UnknownUnit {
                text: text.into(),
                unit: unit.into(),
                what: g.what,
                units: g.units,
            });
        }
    };
    let whole: u128 =
        if whole.is_empty() { 0 } else { whole.parse().map_err(|_| out_of_range())? };
    let mut total = whole.checked_mul(u128::from(step)).ok_or_else(out_of_range)?;
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).map_err(|_| out_of_range())?;
        let scale = 10u128.checked_pow(digits).ok_or_else(out_of_range)?;
        let part: u128 = fraction.parse().map_err(|_| out_of_range())?;
        let scaled = part.checked_mul(u128::from(step)).ok_or_else(out_of_range)?;
        if scaled % scale != 0 {
            return Err(out_of_range());
        }
        total = total.checked_add(scaled / scale).ok_or_else(out_of_range)?;
    }
    u64::try_from(total).map_err(|_| out_of_range())
}

/// Writes `value` in the largest unit that it holds at least once, exactly.
pub(super) fn print(
    f: &mut std::fmt::Formatter<'_>,
    value: u64,
    table: &[(&str, u64)],
) -> std::fmt::Result {
    let &(unit, step) = table
        .iter()
        .find(|&&(_, step)| value >= step)
        .unwrap_or(table.last().expect("a unit table has a smallest unit"));
    let (whole, rest) = (value / step, value % step);
    if rest == 0 {
        return write!(f, "{whole} {unit}");
    }
    // `step` is a power of ten here, so the fraction is finite.
    let width = step.ilog10() as usize;
    let digits = format!("{rest:0width$}");
    write!(f, "{whole}.{} {unit}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIMES: Grammar = Grammar {
        what: "a time",
        example: "1us",
        units: "ps, us",
        resolution: "1 ps",
        max: "all",
        table: &[("us", 1_000_000), ("ps", 1)],
        bare: None,
    };
    const SIZES: Grammar = Grammar { bare: Some(1), ..TIMES };

    proptest! {
        #[test]
        fn the_short_way_reads_what_the_long_way_reads(
            text in "[0-9]{0,21}[._ ]?[0-9]{0,2} ?(us|ps|x)?"
        ) {
            for grammar in [&TIMES, &SIZES] {
                prop_assert_eq!(parse(&text, grammar), parse_any(&text, grammar));
            }
        }
    }

    #[test]
    fn plain_quantities_take_the_short_way() {
        for (text, steps) in
            [("12us", Some(12_000_000)), ("7", None), ("1.5us", None), ("9 us", None)]
        {
            assert_eq!(whole_number(text, &TIMES), steps, "{text}");
        }
        assert_eq!(whole_number("7", &SIZES), Some(7));
        assert_eq!(whole_number("999999999999999999us", &SIZES), None);
    }
}
