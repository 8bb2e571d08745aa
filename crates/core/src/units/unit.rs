use super::{Bytes, Rate, Time};

/// What a number is measured in, wherever it is shown: columns, parameters, axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Picoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Bits per second.
    Rate,
    /// Parts of a whole, 0 to 1; people see percent.
    Share,
    /// 1 if something is true of a run, else 0: the mean over runs is a share of them.
    Flag,
    /// How many.
    Count,
    /// A number without a unit.
    Number,
}

impl Unit {
    /// What the name of a column in this unit ends in: numbers stand in files in the unit's
    /// smallest step, so that they are exact.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Time => "_ps",
            Self::Bytes => "_bytes",
            Self::Rate => "_bps",
            Self::Share | Self::Flag | Self::Count | Self::Number => "",
        }
    }

    /// The divisor and the name of the unit that suits values up to `most`.
    pub fn prefix(self, most: f64) -> (f64, &'static str) {
        let units: &[(f64, &str)] = match self {
            Self::Time => &[(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns"), (1.0, "ps")],
            Self::Bytes => &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")],
            Self::Rate => {
                &[(1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")]
            }
            Self::Share | Self::Flag => &[(0.01, "%")],
            Self::Count | Self::Number => &[(1.0, "")],
        };
        let fits = units.iter().find(|(step, _)| most >= *step);
        *fits.unwrap_or(&units[units.len() - 1])
    }

    /// Reads a number in this unit: `1.45ms`, `75KB`, `10Gbps`, `46%`, `137/200`, `4.3`.
    pub fn read(self, text: &str) -> Result<f64, String> {
        let plain = |text: &str| match text.trim().parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(format!("`{text}` is not a number")),
        };
        match self {
            Self::Time => text.parse::<Time>().map(|t| t.as_ps() as f64).map_err(|e| e.to_string()),
            Self::Bytes => text.parse::<Bytes>().map(|b| b.get() as f64).map_err(|e| e.to_string()),
            Self::Rate => {
                text.parse::<Rate>().map(|r| r.as_bps() as f64).map_err(|e| e.to_string())
            }
            Self::Share | Self::Flag | Self::Count | Self::Number => {
                if let Some(percent) = text.trim().strip_suffix('%') {
                    return plain(percent).map(|x| x / 100.0);
                }
                match text.split_once('/') {
                    Some((part, of)) => match (plain(part)?, plain(of)?) {
                        (_, 0.0) => Err(format!("`{text}` divides by zero")),
                        (part, of) => Ok(part / of),
                    },
                    None => plain(text),
                }
            }
        }
    }
}
