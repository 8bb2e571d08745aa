//! Additive steps, which the published parameter sets scale with the speed of the NIC.

use crate::params::ParamValue;
use weir_core::Rate;
use weir_core::param::FromText;

/// How much a rate grows at once: a fixed rate, or one that is proportional to the line rate.
///
/// ```
/// use weir_cc::Step;
/// use weir_core::Rate;
/// let step = Step::per(Rate::from_bps(5_000_000), Rate::from_gbps(25));
/// assert_eq!(step.at(Rate::from_gbps(100)), Rate::from_bps(20_000_000));
/// let fixed = Step::from(Rate::from_bps(5_000_000));
/// assert_eq!(fixed.at(Rate::from_gbps(100)), Rate::from_bps(5_000_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    rate: Rate,
    /// The line rate for which `rate` is meant; `None` when it is meant for any.
    per: Option<Rate>,
}

impl Step {
    /// A step of `rate` on NICs of `line_rate`, and in proportion on others. A line rate of zero
    /// makes the step fixed.
    pub const fn per(rate: Rate, line_rate: Rate) -> Self {
        match line_rate.as_bps() {
            0 => Self { rate, per: None },
            _ => Self { rate, per: Some(line_rate) },
        }
    }

    /// The step of a flow whose NIC has this line rate, rounded down to whole bit/s.
    pub fn at(self, line_rate: Rate) -> Rate {
        let Some(per) = self.per else { return self.rate };
        let product = u128::from(self.rate.as_bps()) * u128::from(line_rate.as_bps());
        Rate::from_bps(u64::try_from(product / u128::from(per.as_bps())).unwrap_or(u64::MAX))
    }
}

impl From<Rate> for Step {
    fn from(rate: Rate) -> Self {
        Self { rate, per: None }
    }
}

impl FromText for Step {
    fn from_text(text: &str) -> Result<Self, String> {
        let rate = |text: &str| {
            let why =
                "write a rate such as `40Mbps`, or `5Mbps per 25Gbps` to follow the line rate";
            text.trim().parse::<Rate>().map_err(|e| format!("{e}; {why}"))
        };
        match text.split_once(" per ") {
            None => rate(text).map(Self::from),
            Some((step, line)) => match rate(line)? {
                line if line.as_bps() == 0 => Err(format!("`{text}` follows a line rate of zero")),
                line => Ok(Self::per(rate(step)?, line)),
            },
        }
    }
}

impl ParamValue for Step {
    fn write(&self) -> String {
        match self.per {
            None => self.rate.to_string(),
            Some(per) => format!("{} per {per}", self.rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_back_as_printed() {
        for text in ["40Mbps", "5Mbps per 25Gbps", "0bps"] {
            let step = Step::from_text(text).unwrap();
            assert_eq!(Step::from_text(&step.write()), Ok(step), "{text}");
        }
        for text in ["5Mbps per 0bps", "fast", "5Mbps per", "per 25Gbps", "5Mbps per fast"] {
            assert!(Step::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_largest_rates_do_not_overflow() {
        let most = Rate::from_bps(u64::MAX);
        assert_eq!(Step::per(most, Rate::from_bps(1)).at(most), most);
    }
}
