//! Values of parameters as numbers: what lies between two of them, and how tables and axes show
//! them.

use weir_core::{Bytes, Rate, Time, Unit};

/// A value with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// How much, in the unit's smallest step.
    pub number: f64,
    /// Of what.
    pub unit: Unit,
}

impl Quantity {
    /// Reads `240`, `0.5`, `30%`, `15KB`, `20ns` or `40Gbps`; `None` when it is none of these.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let of = |number: f64, unit| number.is_finite().then_some(Self { number, unit });
        if let Ok(number) = text.parse::<f64>() {
            return of(number, Unit::Number);
        }
        if let Some(share) = text.strip_suffix('%') {
            return of(share.trim().parse::<f64>().ok()? / 100.0, Unit::Share);
        }
        if let Ok(time) = text.parse::<Time>() {
            return of(time.as_ps() as f64, Unit::Time);
        }
        if let Ok(rate) = text.parse::<Rate>() {
            return of(rate.as_bps() as f64, Unit::Rate);
        }
        of(text.parse::<Bytes>().ok()?.get() as f64, Unit::Bytes)
    }

    /// The quantity as a scenario takes it, to six significant digits; quantities with a unit and
    /// those between `whole` numbers are whole steps.
    pub fn write(self, whole: bool) -> String {
        let exact = || format!("{:.0}", libm::round(self.number));
        match self.unit {
            Unit::Share => format!("{}%", digits(self.number * 100.0)),
            Unit::Bytes => format!("{}B", digits(libm::round(self.number))),
            Unit::Time => format!("{}ps", digits(libm::round(self.number))),
            Unit::Rate => format!("{}bps", digits(libm::round(self.number))),
            _ if whole => exact(),
            _ => digits(self.number).to_string(),
        }
    }
}

/// Rounded to six significant digits.
fn digits(x: f64) -> f64 {
    let rounded = format!("{x:.5e}");
    rounded.parse().unwrap_or(x)
}

/// From one quantity to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Where it begins.
    pub from: Quantity,
    /// Where it ends, included.
    pub to: Quantity,
    /// Equal factors from step to step rather than equal differences.
    pub log: bool,
    /// Whether both ends are whole numbers, so that what lies between is.
    pub whole: bool,
}

impl Range {
    /// The value at `share` of the way, 0 to 1, as text.
    pub fn at(&self, share: f64) -> String {
        let (a, b) = (self.from.number, self.to.number);
        let number = match (share, self.log) {
            (0.0, _) => a,
            (1.0, _) => b,
            (_, true) => a * libm::pow(b / a, share),
            (_, false) => a + (b - a) * share,
        };
        Quantity { number, unit: self.from.unit }.write(self.whole)
    }

    /// `steps` values from end to end.
    pub fn steps(&self, steps: u64) -> Vec<String> {
        match steps {
            1 => vec![self.at(0.0)],
            n => (0..n).map(|i| self.at(i as f64 / (n - 1) as f64)).collect(),
        }
    }
}

/// The unit all `values` share, if they are all quantities of one.
pub fn common_unit<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<Unit> {
    let mut unit = None;
    for value in values {
        let here = Quantity::read(value)?.unit;
        if *unit.get_or_insert(here) != here {
            return None;
        }
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: &str, to: &str, log: bool) -> Range {
        let read = |text: &str| Quantity::read(text).expect("a quantity");
        let whole = from.parse::<i64>().is_ok() && to.parse::<i64>().is_ok();
        Range { from: read(from), to: read(to), log, whole }
    }

    #[test]
    fn steps_include_both_ends_and_read_well() {
        for (from, to, log, n, expected) in [
            ("1", "10", false, 4, "1 4 7 10"),
            ("0.1", "0.9", false, 3, "0.1 0.5 0.9"),
            ("20%", "80%", false, 4, "20% 40% 60% 80%"),
            ("1MB", "8MB", true, 4, "1000000B 2000000B 4000000B 8000000B"),
            ("1us", "100us", true, 3, "1000000ps 10000000ps 100000000ps"),
            ("10Gbps", "40Gbps", true, 3, "10000000000bps 20000000000bps 40000000000bps"),
            ("5", "1", false, 2, "5 1"),
        ] {
            assert_eq!(range(from, to, log).steps(n).join(" "), expected, "{from} to {to}");
        }
        assert_eq!(range("3", "9", false).steps(1), ["3"]);
    }

    /// What is written is what scenarios read: no rounding to fractions of a byte, no exponents.
    #[test]
    fn what_lies_between_is_read_back_in_its_unit() {
        for (from, to) in [("1B", "7MB"), ("1ns", "3ms"), ("1Gbps", "400Gbps")] {
            for i in 0..=97 {
                let text = range(from, to, i % 2 == 0).at(f64::from(i) / 97.0);
                let unit = Quantity::read(from).map(|q| q.unit);
                assert_eq!(Quantity::read(&text).map(|q| q.unit), unit, "{text}");
                assert!(!text.contains(['e', '.']), "{text}");
            }
        }
    }

    #[test]
    fn a_list_of_values_has_a_unit_if_they_agree() {
        assert_eq!(common_unit(["1", "2.5"]), Some(Unit::Number));
        assert_eq!(common_unit(["15KB", "1MB"]), Some(Unit::Bytes));
        assert_eq!(common_unit(["15KB", "1ms"]), None);
        assert_eq!(common_unit(["web-search"]), None);
        assert_eq!(common_unit([]), None);
    }
}
