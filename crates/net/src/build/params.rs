//! Parameters of ready-made topologies: one list per topology from which the struct, its
//! defaults, the reader and the help text are made, so that they cannot drift apart.

use crate::error::TopologyError;
use crate::limits::MIN_RATE;
use std::fmt::Display;
use std::ops::RangeInclusive;
use weir_core::{Rate, Time};

/// What there is to know about one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its name in scenario files; the `Params` struct has `_` for each `-`.
    pub name: &'static str,
    /// Its default, as it would be written.
    pub default: &'static str,
    /// What it is counted in: "count", "rate", "time", "links".
    pub unit: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A type that a parameter can have.
pub trait ParamValue: Sized {
    /// What such a parameter is counted in.
    const UNIT: &'static str;
    /// Reads the text of the parameter called `name`.
    fn read(name: &str, text: &str) -> Result<Self, TopologyError>;
}

fn unreadable(name: &str, text: &str, valid: impl Display) -> TopologyError {
    TopologyError::Parameter {
        name: name.to_owned(),
        value: format!("`{text}`"),
        valid: valid.to_string(),
    }
}

impl ParamValue for u32 {
    const UNIT: &'static str = "count";
    fn read(name: &str, text: &str) -> Result<Self, TopologyError> {
        let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
        digits.parse().map_err(|_| {
            unreadable(name, text, format_args!("it must be a whole number up to {}", Self::MAX))
        })
    }
}

impl ParamValue for Rate {
    const UNIT: &'static str = "rate";
    fn read(name: &str, text: &str) -> Result<Self, TopologyError> {
        text.parse().map_err(|error| unreadable(name, text, error))
    }
}

impl ParamValue for Time {
    const UNIT: &'static str = "time";
    fn read(name: &str, text: &str) -> Result<Self, TopologyError> {
        text.parse().map_err(|error| unreadable(name, text, error))
    }
}

/// Pairs of node names, written `spine0-leaf0, spine1-leaf2`.
impl ParamValue for Vec<(String, String)> {
    const UNIT: &'static str = "links";
    fn read(name: &str, text: &str) -> Result<Self, TopologyError> {
        let pair = |word: &str| match word.split_once('-') {
            Some((a, b)) if !a.is_empty() && !b.is_empty() => Ok((a.to_owned(), b.to_owned())),
            _ => Err(unreadable(name, word, "links are written like spine0-leaf0")),
        };
        let words = text.split(|c: char| c == ',' || c.is_whitespace());
        words.filter(|word| !word.is_empty()).map(pair).collect()
    }
}

/// Refuses a count outside its range, naming the parameter.
pub(crate) fn check_count(
    name: &str,
    value: u32,
    range: RangeInclusive<u32>,
) -> Result<(), TopologyError> {
    if range.contains(&value) {
        return Ok(());
    }
    let valid = match (*range.start(), *range.end()) {
        (low, u32::MAX) => format!("it must be at least {low}"),
        (low, high) => format!("it must be {low} to {high}"),
    };
    Err(TopologyError::Parameter { name: name.to_owned(), value: value.to_string(), valid })
}

/// Refuses a rate below [`MIN_RATE`], naming the parameter.
pub(crate) fn check_rate(name: &str, rate: Rate) -> Result<(), TopologyError> {
    if rate >= MIN_RATE {
        return Ok(());
    }
    Err(TopologyError::Parameter {
        name: name.to_owned(),
        value: rate.to_string(),
        valid: "it must be at least 100 kb/s, for example 100Gbps".to_owned(),
    })
}

/// Declares `Params` and the topology's entry in the catalogue.
macro_rules! topology {
    (
        name: $name:literal,
        doc: $about:literal,
        $( $(#[doc = $doc:literal])+ $field:ident: $ty:ty = $default:literal, )*
    ) => {
        #[doc = concat!("Parameters of the `", $name, "` topology.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Params {
            $( $(#[doc = $doc])+ pub $field: $ty, )*
        }

        impl Default for Params {
            fn default() -> Self {
                use $crate::build::ParamValue;
                Self {
                    $( $field: <$ty>::read(stringify!($field), $default)
                        .expect("defaults are valid"), )*
                }
            }
        }

        impl Params {
            /// Reads parameters from text, starting from the defaults.
            pub fn from_args(args: &[(&str, &str)]) -> Result<Self, $crate::TopologyError> {
                use $crate::build::ParamValue;
                #[allow(unused_mut, reason = "a topology may have no parameters")]
                let mut params = Self::default();
                for &(name, text) in args {
                    match name.replace('-', "_").as_str() {
                        $( stringify!($field) => params.$field = <$ty>::read(name, text)?, )*
                        _ => return Err($crate::build::params::unknown(&INFO, name)),
                    }
                }
                Ok(params)
            }
        }

        /// The topology's entry in the catalogue.
        pub const INFO: $crate::build::TopologyInfo = $crate::build::TopologyInfo {
            name: $name,
            doc: $about,
            params: &[$(
                $crate::build::ParamInfo {
                    name: {
                        const FIELD: &str = stringify!($field);
                        const KEY: [u8; FIELD.len()] = $crate::build::params::kebab(FIELD);
                        match std::str::from_utf8(&KEY) {
                            Ok(key) => key,
                            Err(_) => FIELD,
                        }
                    },
                    default: $default,
                    unit: <$ty as $crate::build::ParamValue>::UNIT,
                    doc: concat!($($doc),+).trim_ascii(),
                },
            )*],
            build: |args| build(&Params::from_args(args)?),
        };
    };
}

/// `hosts_per_tor` as scenario files write it: `hosts-per-tor`.
pub(crate) const fn kebab<const N: usize>(field: &str) -> [u8; N] {
    let mut key = [0; N];
    let mut i = 0;
    while i < N {
        let c = field.as_bytes()[i];
        key[i] = if c == b'_' { b'-' } else { c };
        i += 1;
    }
    key
}

/// The error for a parameter that a topology does not have.
pub(crate) fn unknown(info: &super::TopologyInfo, name: &str) -> TopologyError {
    let names = || info.params.iter().map(|p| p.name);
    TopologyError::UnknownParameter {
        topology: info.name,
        name: name.to_owned(),
        nearest: crate::nearest(name, names()).map(str::to_owned),
        valid: names().collect::<Vec<_>>().join(", "),
    }
}
