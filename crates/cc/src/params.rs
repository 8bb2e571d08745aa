//! Named parameters: every algorithm lists its own in a table and takes values as text.

use std::num::NonZeroU32;
use thiserror::Error;
use weir_core::param::{self, FromText};
use weir_core::{Bytes, Rate, Time};

/// A parameter with its present value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its name in scenario files.
    pub name: &'static str,
    /// Its value now, as text that reads back.
    pub value: String,
}

/// A parameter that does not exist or a value it does not take.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParamError {
    /// No parameter of this name.
    #[error("`{algorithm}` has no parameter `{name}`: it has {valid}")]
    Unknown {
        /// The algorithm.
        algorithm: &'static str,
        /// The name as given.
        name: String,
        /// The names it has.
        valid: String,
    },
    /// A value that the parameter does not take.
    #[error(transparent)]
    Value(#[from] param::ParamError),
    /// No algorithm of this name.
    #[error("there is no congestion control `{name}`: choose one of {valid}")]
    Algorithm {
        /// The name as given.
        name: String,
        /// The names there are.
        valid: String,
    },
}

/// A type that parameters can have.
pub trait ParamValue: FromText {
    /// Writes it so that it reads back.
    fn write(&self) -> String;
}

impl ParamValue for f64 {
    fn write(&self) -> String {
        let inverse = 1.0 / self;
        if *self < 1.0 && inverse <= 65_536.0 && inverse.fract() == 0.0 && 1.0 / inverse == *self {
            return format!("1/{inverse}");
        }
        self.to_string()
    }
}

macro_rules! displayed {
    ($($type:ty),*) => {$(
        impl ParamValue for $type {
            fn write(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
displayed!(bool, u32, NonZeroU32, Rate, Time, Bytes);

impl ParamValue for Option<NonZeroU32> {
    fn write(&self) -> String {
        self.map_or_else(|| "off".into(), |n| n.to_string())
    }
}

/// Lets types of [`weir_core::words!`] be parameters: they are written as their word.
macro_rules! worded {
    ($($type:ty),*) => {$(
        impl $crate::params::ParamValue for $type {
            fn write(&self) -> String {
                self.name().into()
            }
        }
    )*};
}
pub(crate) use worded;

/// Declares a parameter struct: fields with type, default, kind and documentation, from which the
/// table and the reader follow.
macro_rules! params {
    (
        $(#[doc = $doc:literal])*
        $name:ident {
            $( $(#[doc = $fdoc:literal])* $field:ident : $type:ty = $default:literal, $kind:expr; )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $fdoc])* pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                let mut table = Self::PARAMS.iter();
                Self { $( $field: table.next().expect("one entry per field").read_default(), )* }
            }
        }

        impl $name {
            /// The table of its parameters.
            pub const PARAMS: &[weir_core::param::Param] = &[$( weir_core::param::Param::new(
                weir_core::kebab!($field),
                $kind,
                $default,
                concat!($($fdoc),*).trim_ascii(),
            ), )*];

            /// The parameters with their present values.
            pub fn list(&self) -> Vec<$crate::params::ParamInfo> {
                vec![$( $crate::params::ParamInfo {
                    name: weir_core::kebab!($field),
                    value: $crate::params::ParamValue::write(&self.$field),
                }, )*]
            }

            /// Sets the parameter `name` from text; `None` when there is no such parameter.
            /// Words in names may be joined by `_` or `-`.
            pub fn set(
                &mut self,
                name: &str,
                value: &str,
            ) -> Option<Result<(), weir_core::param::ParamError>> {
                let name = name.replace('_', "-");
                let param = Self::PARAMS.iter().find(|p| p.name == name)?;
                $( if name == weir_core::kebab!($field) {
                    return Some(param.read(value).map(|v| self.$field = v));
                } )*
                None
            }
        }
    };
}
pub(crate) use params;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{CcKind, CcParams};
    use crate::window::WindowKind;

    #[test]
    fn values_read_back_as_printed() {
        assert_eq!((1.0f64 / 256.0).write(), "1/256");
        for x in [1.0 / 256.0, 0.95, 0.2, 1.0, 0.0, 12.5, 5.0 / 1024.0] {
            assert_eq!(f64::from_text(&x.write()), Ok(x));
        }
        assert_eq!(Time::from_text(&Time::from_us(55).write()), Ok(Time::from_us(55)));
        assert_eq!(Rate::from_text(&Rate::from_gbps(1).write()), Ok(Rate::from_gbps(1)));
        for w in WindowKind::ALL {
            assert_eq!(WindowKind::from_text(&w.write()), Ok(w));
        }
        assert!(WindowKind::from_text("big").unwrap_err().contains("variable"));
    }

    #[test]
    fn values_that_no_algorithm_could_work_with_are_refused() {
        for (kind, name, value, says) in [
            (CcKind::Dcqcn, "alpha-timer", "0ns", Some("at least 100 ns")),
            (CcKind::Dcqcn, "decrease-timer", "99ns", Some("at least 100 ns")),
            (CcKind::DcqcnPaper, "increase-timer", "1ps", Some("at least 100 ns")),
            (CcKind::DcqcnPaper, "alpha-timer", "100ns", None),
            (CcKind::Dcqcn, "cnp-interval", "0ns", None),
            (CcKind::Hpcc, "eta", "1.01", Some("from 0 to 1")),
            (CcKind::Hpcc, "eta", "1", None),
            (CcKind::Hpcc, "window", "big", Some("`variable`")),
            (CcKind::Timely, "min-rate", "0bps", Some("above 0")),
            (CcKind::Timely, "ai", "0bps", None),
        ] {
            let result = CcParams::new(kind).set(name, value);
            match (result, says) {
                (Ok(()), None) => {}
                (Err(e), Some(says)) => {
                    assert!(e.to_string().contains(says), "{e}");
                    assert!(e.to_string().contains(name), "{e}");
                }
                (result, _) => panic!("{name} = {value}: {result:?}"),
            }
        }
    }

    /// What is refused is not anybody's default.
    #[test]
    fn defaults_read_back() {
        for &kind in CcKind::ALL {
            let mut params = CcParams::new(kind);
            for param in params.list() {
                params.set(param.name, &param.value).unwrap();
            }
            assert_eq!(params, CcParams::new(kind));
            let names: Vec<&str> = params.list().iter().map(|p| p.name).collect();
            let table: Vec<&str> = kind.params().iter().map(|p| p.name).collect();
            assert_eq!(names, table);
        }
    }
}
