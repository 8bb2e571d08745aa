//! Axes: units, scales and round ticks.

/// What an axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Picoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Plain numbers.
    Number,
    /// Shares of one, shown in percent.
    Share,
}

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

impl Unit {
    /// The divisor and the name of the unit that suits values up to `most`.
    pub fn prefix(self, most: f64) -> (f64, &'static str) {
        let units: &[(f64, &str)] = match self {
            Self::Time => &[(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns"), (1.0, "ps")],
            Self::Bytes => &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")],
            Self::Number => &[(1.0, "")],
            Self::Share => &[(0.01, "%")],
        };
        let fits = units.iter().find(|(step, _)| most >= *step);
        *fits.unwrap_or(&units[units.len() - 1])
    }

    /// A value with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Time => crate::format::time_ps(value),
            Self::Bytes => crate::format::bytes_f64(value),
            Self::Number => crate::format::significant(value),
            Self::Share => crate::format::percent(value),
        }
    }
}

impl Axis {
    /// A linear axis from zero to the largest value, with a little room.
    pub fn linear(label: &str, unit: Unit, most: f64) -> Self {
        let high = if most > 0.0 { most * 1.04 } else { 1.0 };
        Self { label: label.into(), unit, scale: Scale::Linear, low: 0.0, high }
    }

    /// A logarithmic axis that holds all values.
    pub fn log(label: &str, unit: Unit, least: f64, most: f64) -> Self {
        let low = libm::pow(10.0, libm::floor(libm::log10(least.max(1e-12))));
        let high = (most * 1.1).max(low * 10.0);
        Self { label: label.into(), unit, scale: Scale::Log, low, high }
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

    /// The label with its unit: `time (ms)`.
    pub fn title(&self) -> String {
        match (self.scale, self.unit.prefix(self.high).1) {
            (Scale::Log, _) | (_, "") => self.label.clone(),
            (_, unit) => format!("{} ({unit})", self.label),
        }
    }

    /// Values to mark, and how to write them.
    pub fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => self.linear_ticks(about),
            Scale::Log => self.log_ticks(),
        }
    }

    fn linear_ticks(&self, about: usize) -> Vec<(f64, String)> {
        let (divisor, _) = self.unit.prefix(self.high);
        let span = (self.high - self.low) / divisor;
        let rough = span / about.max(1) as f64;
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|m| m * power)
            .find(|s| *s >= rough)
            .unwrap_or(10.0 * power);
        let decimals = (-libm::floor(libm::log10(step)).min(0.0)) as usize;
        let first = libm::ceil(self.low / divisor / step - 1e-9) as i64;
        let last = libm::floor(self.high / divisor / step + 1e-9) as i64;
        // a step is at least a fifth of a tenth of the span: never more than a few dozen ticks
        (first..=last.min(first + 100))
            .map(|i| {
                let value = i as f64 * step;
                (value * divisor, format!("{value:.decimals$}"))
            })
            .collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let mut ticks = Vec::new();
        let mut value = self.low;
        while value <= self.high * 1.0001 && ticks.len() < 40 {
            let (divisor, unit) = self.unit.prefix(value);
            let number = value / divisor;
            let digits = match number {
                n if n >= 0.999 => 0,
                n => (-libm::floor(libm::log10(n))) as usize,
            };
            ticks.push((value, format!("{number:.digits$} {unit}").trim_end().to_owned()));
            value *= 10.0;
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::linear("time", Unit::Time, 1.96e9);
        let ticks = axis.ticks(5);
        let texts: Vec<&str> = ticks.iter().map(|(_, t)| t.as_str()).collect();
        assert_eq!(texts, ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert!(ticks.iter().all(|(v, _)| *v <= axis.high));
        assert_eq!(axis.title(), "time (ms)");
    }

    #[test]
    fn a_log_axis_marks_powers_of_ten_with_their_units() {
        let axis = Axis::log("size", Unit::Bytes, 700.0, 30e6);
        let texts: Vec<String> = axis.ticks(5).into_iter().map(|(_, t)| t).collect();
        assert_eq!(texts, ["100 B", "1 KB", "10 KB", "100 KB", "1 MB", "10 MB"]);
        assert_eq!(axis.at(1.0), 0.0);
        assert_eq!(axis.at(1e12), 1.0);
    }

    #[test]
    fn odd_ranges_do_not_hang() {
        for most in [0.0, 1e-300, 1e300, f64::MIN_POSITIVE] {
            assert!(Axis::linear("x", Unit::Number, most).ticks(5).len() <= 101);
            assert!(Axis::log("x", Unit::Number, most, most).ticks(5).len() <= 40);
        }
    }
}
