//! Axes: units, scales and round ticks.

use weir_core::Unit;
use weir_core::percentile::P50;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Log,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows, without the unit.
    pub label: String,
    /// What it counts.
    pub unit: Unit,
    /// How.
    pub scale: Scale,
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
}

/// A value that is marked on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where.
    pub value: f64,
    /// How it is written; empty for a minor tick.
    pub text: String,
}

/// A value with its unit, three significant digits: `1.96 ms`.
pub fn show(unit: Unit, value: f64) -> String {
    let (divisor, unit) = unit.prefix(value.abs());
    let number = value / divisor;
    let digits = match number.abs() {
        n if n >= 100.0 || n == 0.0 => 0,
        n if n >= 10.0 => 1,
        n if n >= 1.0 => 2,
        n => (2.0 - libm::floor(libm::log10(n))).min(12.0) as usize,
    };
    format!("{number:.digits$} {unit}").trim_end().to_owned()
}

impl Axis {
    /// A linear axis from zero to the largest value, with a little room.
    pub fn linear(label: &str, unit: Unit, most: f64) -> Self {
        let high = if most > 0.0 && most.is_finite() { most * 1.04 } else { 1.0 };
        Self { label: label.into(), unit, scale: Scale::Linear, low: 0.0, high }
    }

    /// A linear axis from `low` to `high`, both with a little room.
    pub fn between(label: &str, unit: Unit, low: f64, high: f64) -> Self {
        let room = (high - low).max(high.abs() * 1e-6).max(f64::MIN_POSITIVE) * 0.04;
        let (low, high) = (low - room, high + room);
        Self { label: label.into(), unit, scale: Scale::Linear, low, high }
    }

    /// A logarithmic axis that holds all values.
    pub fn log(label: &str, unit: Unit, least: f64, most: f64) -> Self {
        let least = if least.is_finite() { least.max(1e-12) } else { 1.0 };
        let most = if most.is_finite() { most.max(least) } else { least };
        // a whole decade below is mostly empty: begin at 1, 2 or 5
        let decade = libm::pow(10.0, libm::floor(libm::log10(least)));
        let low = [5.0, 2.0, 1.0].map(|m| m * decade).into_iter().find(|x| *x <= least * 1.0001);
        let low = low.unwrap_or(decade);
        let high = (most * 1.1).max(low * 3.0);
        Self { label: label.into(), unit, scale: Scale::Log, low, high }
    }

    /// Linear or logarithmic, whichever shows all of these values: logarithmic when the largest
    /// is over `ratio` times their median and all are positive.
    pub fn fitting(label: &str, unit: Unit, values: &[f64], ratio: f64) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        // from the largest on, so that of an even number the larger middle one is the median: two
        // values alone do not make an axis logarithmic
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (Some(median), Some(&most), Some(&least)) =
            (P50.of(&sorted), sorted.first(), sorted.last())
        else {
            return Self::linear(label, unit, 1.0);
        };
        match least > 0.0 && most > ratio * median {
            true => Self::log(label, unit, least, most),
            false if least < 0.0 => Self::between(label, unit, least, most),
            false => Self::linear(label, unit, most),
        }
    }

    /// Where a value lies, 0 to 1.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => {
                let ratio = libm::log10(value.max(self.low) / self.low);
                ratio / libm::log10(self.high / self.low)
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// Whether a value lies on the axis, and not beyond one of its ends.
    pub fn holds(&self, value: f64) -> bool {
        // ends are rounded when they are computed
        let slack = (self.high - self.low) * 1e-9;
        (self.low - slack..=self.high + slack).contains(&value)
    }

    /// The label with its unit: `time (ms)`. The ticks of a logarithmic axis have units of their
    /// own.
    pub fn title(&self) -> String {
        let unit = self.unit.prefix(self.high).1;
        let counted = matches!(self.unit, Unit::Share | Unit::Flag | Unit::Count | Unit::Number);
        match (self.scale, unit) {
            (_, "") => self.label.clone(),
            (Scale::Log, _) if !counted => self.label.clone(),
            _ => format!("{} ({unit})", self.label),
        }
    }

    /// Values to mark, and how to write them.
    pub fn ticks(&self, about: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear_ticks(about),
            Scale::Log => self.log_ticks(about),
        }
    }

    fn linear_ticks(&self, about: usize) -> Vec<Tick> {
        let (divisor, _) = self.unit.prefix(self.high);
        let span = (self.high - self.low) / divisor;
        let rough = span / about.max(1) as f64;
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|m| m * power)
            .find(|s| *s >= rough)
            .unwrap_or(10.0 * power);
        // there is no half of what is counted
        let step = if self.unit == Unit::Count { step.max(1.0 / divisor) } else { step };
        let decimals = (-libm::floor(libm::log10(step)).min(0.0)).min(17.0) as usize;
        let first = libm::ceil(self.low / divisor / step - 1e-9) as i64;
        let last = libm::floor(self.high / divisor / step + 1e-9) as i64;
        // a step is at least a fifth of a tenth of the span: never more than a few dozen ticks
        (first..=last.min(first.saturating_add(100)))
            .map(|i| {
                let value = i as f64 * step;
                Tick { value: value * divisor, text: format!("{value:.decimals$}") }
            })
            .collect()
    }

    fn log_ticks(&self, about: usize) -> Vec<Tick> {
        let decades = libm::log10(self.high / self.low);
        // at most `about` labels: 1, 2 and 5 of every decade, every decade, or every few of them
        let labelled: &[f64] = match decades * 3.0 <= about as f64 + 2.0 {
            true => &[1.0, 2.0, 5.0],
            false => &[1.0],
        };
        let every = (libm::ceil(decades / about.max(1) as f64) as i32).max(1);
        let mut ticks = Vec::new();
        let first = libm::floor(libm::log10(self.low) + 1e-9) as i32;
        for decade in first..first.saturating_add(40) {
            for digit in 1..10 {
                let value = f64::from(digit) * libm::pow(10.0, f64::from(decade));
                if value < self.low * 0.9999 || value > self.high * 1.0001 {
                    continue;
                }
                let named = labelled.contains(&f64::from(digit)) && decade % every == 0;
                let text = if named { self.log_text(value) } else { String::new() };
                ticks.push(Tick { value, text });
            }
        }
        ticks
    }

    fn log_text(&self, value: f64) -> String {
        let (divisor, unit) = match self.unit {
            // the unit stands in the title
            Unit::Share | Unit::Flag => (0.01, ""),
            // one step above, so that rounding does not choose the smaller unit
            unit => unit.prefix(value * 1.0001),
        };
        let number = value / divisor;
        let digits = match number {
            n if n >= 0.999 => 0,
            n => (-libm::floor(libm::log10(n) + 1e-9)) as usize,
        };
        format!("{number:.digits$} {unit}").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, about: usize) -> Vec<String> {
        axis.ticks(about).into_iter().map(|t| t.text).filter(|t| !t.is_empty()).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::linear("time", Unit::Time, 1.96e9);
        assert_eq!(texts(&axis, 5), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert!(axis.ticks(5).iter().all(|t| t.value <= axis.high));
        assert_eq!(axis.title(), "time (ms)");
    }

    #[test]
    fn a_log_axis_marks_powers_of_ten_with_their_units() {
        let axis = Axis::log("size", Unit::Bytes, 700.0, 30e6);
        assert_eq!(texts(&axis, 6), ["1 KB", "10 KB", "100 KB", "1 MB", "10 MB"]);
        assert_eq!(axis.at(1.0), 0.0);
        assert_eq!(axis.at(1e12), 1.0);
        let minor = axis.ticks(6).iter().filter(|t| t.text.is_empty()).count();
        assert!(minor > 30, "{minor}");
    }

    #[test]
    fn a_short_log_axis_has_more_labels_and_shares_their_unit_once() {
        let axis = Axis::log("slowdown", Unit::Number, 1.0, 40.0);
        assert_eq!(texts(&axis, 6), ["1", "2", "5", "10", "20"]);
        let axis = Axis::log("share", Unit::Share, 1e-5, 1.0);
        assert_eq!(axis.title(), "share (%)");
        assert_eq!(texts(&axis, 6), ["0.001", "0.01", "0.1", "1", "10", "100"]);
    }

    #[test]
    fn odd_ranges_do_not_hang() {
        for most in [0.0, 1e-300, 1e300, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN] {
            assert!(Axis::linear("x", Unit::Number, most).ticks(5).len() <= 101);
            assert!(Axis::log("x", Unit::Number, most, most).ticks(5).len() <= 400);
            assert!(Axis::between("x", Unit::Number, 0.0, 0.0).ticks(5).len() <= 101);
        }
    }

    #[test]
    fn there_are_no_halves_of_what_is_counted() {
        let axis = Axis::between("queues", Unit::Count, 1.0, 3.0);
        assert_eq!(texts(&axis, 9), ["1", "2", "3"]);
        assert_eq!(texts(&Axis::linear("lost", Unit::Count, 0.4), 5), ["0"]);
        assert_eq!(texts(&Axis::between("load", Unit::Number, 1.0, 3.0), 5).len(), 5);
    }

    #[test]
    fn one_far_value_makes_the_axis_logarithmic() {
        let of = |values: &[f64]| Axis::fitting("x", Unit::Number, values, 20.0).scale;
        assert_eq!(of(&[1.0, 2.0, 4.0]), Scale::Linear);
        assert_eq!(of(&[1.0, 2.0, 400.0]), Scale::Log);
        assert_eq!(of(&[0.0, 2.0, 400.0]), Scale::Linear);
        assert_eq!(of(&[]), Scale::Linear);
    }

    #[test]
    fn values_are_shown_with_three_digits() {
        assert_eq!(show(Unit::Time, 1.96e9), "1.96 ms");
        assert_eq!(show(Unit::Bytes, 75_000.0), "75.0 KB");
        assert_eq!(show(Unit::Rate, 40e9), "40.0 Gb/s");
        assert_eq!(show(Unit::Share, 0.4524), "45.2 %");
        assert_eq!(show(Unit::Number, 0.0), "0");
        assert_eq!(show(Unit::Number, 0.0123), "0.0123");
    }
}
