//! Lengths of cables in whole millimetres.

use super::Time;
use super::parse::{Grammar, notation, print};
use std::fmt;

/// The length of a cable: whole millimetres.
///
/// ```
/// use weir_core::{Length, Time};
/// let cable: Length = "100m".parse()?;
/// assert_eq!(cable.delay(Length::PER_METRE), Time::from_ns(500));
/// assert_eq!(cable.to_string(), "100 m");
/// # Ok::<(), weir_core::ParseUnitError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Length(u64);

const GRAMMAR: Grammar = Grammar {
    what: "a length",
    example: "100m",
    units: "mm, cm, m, km",
    resolution: "millimetres",
    max: "18446744073709 km",
    table: &[("mm", 1), ("cm", 10), ("m", 1_000), ("km", 1_000_000)],
    bare: None,
};

const PRINT: &[(&str, u64)] = &[("km", 1_000_000), ("m", 1_000), ("mm", 1)];

impl Length {
    /// How long a signal takes for a metre of glass or copper, at about two thirds of the speed of
    /// light.
    pub const PER_METRE: Time = Time::from_ns(5);

    /// From whole metres.
    pub const fn from_metres(metres: u64) -> Self {
        Self(metres * 1_000)
    }

    /// The length that delays a signal by `delay` at `per_metre`, to the millimetre below.
    pub fn of_delay(delay: Time, per_metre: Time) -> Self {
        let millimetres = u128::from(delay.as_ps()) * 1_000 / u128::from(per_metre.as_ps().max(1));
        Self(u64::try_from(millimetres).unwrap_or(u64::MAX))
    }

    /// In metres, rounded up.
    pub const fn metres_up(self) -> u64 {
        self.0.div_ceil(1_000)
    }

    /// How long a signal takes from end to end at `per_metre`, to the nearest picosecond;
    /// [`Time::NEVER`] if that is longer than time goes.
    pub fn delay(self, per_metre: Time) -> Time {
        let ps = (u128::from(self.0) * u128::from(per_metre.as_ps()) + 500) / 1_000;
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

notation!(Length);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, PRINT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cable_delays_by_its_length_times_the_delay_of_a_metre() {
        for (text, per_metre_ps, ps) in [
            ("100m", 5_000, 500_000),
            ("2.5m", 4_900, 12_250),
            ("40 km", 5_000, 200_000_000),
            ("30cm", 5_000, 1_500),
            ("1mm", 4_900, 5), // 4.9 ps
            ("0", 5_000, 0),
            ("18446744073709km", u64::MAX, u64::MAX),
        ] {
            let length: Length = text.parse().unwrap();
            assert_eq!(length.delay(Time::from_ps(per_metre_ps)), Time::from_ps(ps), "{text}");
        }
    }

    #[test]
    fn a_length_is_found_by_its_delay() {
        let cable = Length::of_delay(Time::from_ns(12), Length::PER_METRE);
        assert_eq!(cable, "2.4m".parse().unwrap());
        assert_eq!(cable.metres_up(), 3);
    }

    #[test]
    fn refuses_with_the_valid_units() {
        assert!("5".parse::<Length>().unwrap_err().to_string().contains("mm, cm, m, km"));
        assert!("5ms".parse::<Length>().unwrap_err().to_string().contains("`ms`"));
        assert!("0.5mm".parse::<Length>().unwrap_err().to_string().contains("millimetres"));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(mm: u64) {
            let length = Length(mm);
            prop_assert_eq!(length.to_string().parse(), Ok(length));
        }
    }
}
