//! Parameters of ready-made topologies: one list per topology from which the struct, its
//! defaults, the reader and the help text are made, so that they cannot drift apart.

use crate::error::TopologyError;
use crate::limits::MIN_RATE;
use std::ops::RangeInclusive;
use weir_core::param::{FromText, Kind};
use weir_core::{Rate, Time};

/// A type that a field of `Params` can have: what is written for it, and how that is read.
pub(crate) trait Field: Sized {
    /// What is written.
    const KIND: Kind;
    /// Reads it, or says what is valid.
    fn read(text: &str) -> Result<Self, String>;
}

macro_rules! fields {
    ($($type:ty: $kind:expr;)*) => {$(
        impl Field for $type {
            const KIND: Kind = $kind;
            fn read(text: &str) -> Result<Self, String> {
                Self::from_text(text)
            }
        }
    )*};
}
fields! {
    u32: Kind::COUNT_32;
    Rate: Kind::Rate;
    Time: Kind::Time(&[]);
}

/// Pairs of node names, written `spine0-leaf0, spine1-leaf2`.
impl Field for Vec<(String, String)> {
    const KIND: Kind = Kind::Links;
    fn read(text: &str) -> Result<Self, String> {
        let pair = |word: &str| match word.split_once('-') {
            Some((a, b)) if !a.is_empty() && !b.is_empty() => Ok((a.to_owned(), b.to_owned())),
            _ => Err(format!("`{word}` is not a link: links are written like spine0-leaf0")),
        };
        let words = text.split(|c: char| c == ',' || c.is_whitespace());
        words.filter(|word| !word.is_empty()).map(pair).collect()
    }
}

/// The value of the field called `name`.
pub(crate) fn field<T: Field>(name: &str, text: &str) -> Result<T, TopologyError> {
    T::read(text).map_err(|why| TopologyError::Unreadable { name: name.to_owned(), why })
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
                use $crate::build::params::field;
                Self {
                    $( $field: field(stringify!($field), $default).expect("defaults are valid"), )*
                }
            }
        }

        impl Params {
            /// Reads parameters from text, starting from the defaults.
            pub fn from_args(args: &[(&str, &str)]) -> Result<Self, $crate::TopologyError> {
                #[allow(unused_mut, reason = "a topology may have no parameters")]
                let mut params = Self::default();
                for &(name, text) in args {
                    match name.replace('-', "_").as_str() {
                        $( stringify!($field) => {
                            params.$field = $crate::build::params::field(name, text)?;
                        } )*
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
                weir_core::param::Param::new(
                    weir_core::kebab!($field),
                    <$ty as $crate::build::params::Field>::KIND,
                    $default,
                    concat!($($doc),+).trim_ascii(),
                ),
            )*],
            build: |args| build(&Params::from_args(args)?),
        };
    };
}

/// The error for a parameter that a topology does not have.
pub(crate) fn unknown(info: &super::TopologyInfo, name: &str) -> TopologyError {
    let names = || info.params.iter().map(|p| p.name);
    TopologyError::UnknownParameter {
        topology: info.name,
        name: name.to_owned(),
        nearest: weir_core::nearest(name, names()).map(str::to_owned),
        valid: names().collect::<Vec<_>>().join(", "),
    }
}
