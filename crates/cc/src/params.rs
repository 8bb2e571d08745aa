//! Named parameters: every algorithm lists its own with default, unit and meaning, and takes
//! values as text.

use crate::window::WindowKind;
use thiserror::Error;
use weir_core::{Bytes, Rate, Ratio, Time};

/// One parameter of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its name in scenario files.
    pub name: &'static str,
    /// Its value now, as text that reads back.
    pub value: String,
    /// Its unit or the words it takes.
    pub unit: &'static str,
    /// What it does.
    pub doc: &'static str,
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
    #[error("`{value}` is not a value of `{name}`: {why}")]
    Bad {
        /// The parameter.
        name: &'static str,
        /// The value as given.
        value: String,
        /// What is valid.
        why: String,
    },
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
pub trait ParamValue: Sized {
    /// Reads a value, or says what is valid.
    fn read(text: &str) -> Result<Self, String>;
    /// Writes it so that it reads back.
    fn write(&self) -> String;
    /// Whether a parameter in `unit` may have this value; if not, what is valid.
    fn fits(&self, _unit: &str) -> Result<(), String> {
        Ok(())
    }
}

/// The shortest period of a timer that runs all the time: shorter ones would be all there is to simulate.
const SHORTEST_PERIOD: Time = Time::from_ns(100);

impl ParamValue for f64 {
    fn read(text: &str) -> Result<Self, String> {
        if text.contains('/') || text.contains('%') {
            return text.parse::<Ratio>().map(Ratio::as_f64).map_err(|e| e.to_string());
        }
        match text.trim().parse::<Self>() {
            Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
            _ => Err("write a number such as `0.95` or `1/256`".into()),
        }
    }

    fn write(&self) -> String {
        let inverse = 1.0 / self;
        if *self < 1.0 && inverse <= 65_536.0 && inverse.fract() == 0.0 && 1.0 / inverse == *self {
            return format!("1/{inverse}");
        }
        self.to_string()
    }

    fn fits(&self, unit: &str) -> Result<(), String> {
        if unit == "fraction" && *self > 1.0 {
            return Err("a fraction is from 0 to 1".into());
        }
        Ok(())
    }
}

impl ParamValue for bool {
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("write `true` or `false`".into()),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl ParamValue for u32 {
    fn read(text: &str) -> Result<Self, String> {
        text.trim().parse().map_err(|_| "write a whole number".into())
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

macro_rules! unit_value {
    ($($type:ty, $fits:expr;)*) => {$(
        impl ParamValue for $type {
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|e: weir_core::ParseUnitError| e.to_string())
            }

            fn write(&self) -> String {
                self.to_string()
            }

            fn fits(&self, unit: &str) -> Result<(), String> {
                let fits: fn(&Self, &str) -> Result<(), String> = $fits;
                fits(self, unit)
            }
        }
    )*};
}
unit_value! {
    Rate, |rate, unit| match unit {
        "rate above 0" if rate.as_bps() == 0 => {
            Err("it must be above 0: who sends nothing hears nothing and never sends again".into())
        }
        _ => Ok(()),
    };
    Time, |time, unit| match unit {
        "time from 100 ns" if *time < SHORTEST_PERIOD => {
            Err(format!("a period is at least {SHORTEST_PERIOD}"))
        }
        _ => Ok(()),
    };
    Bytes, |_, _| Ok(());
}

impl ParamValue for WindowKind {
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "none" => Ok(Self::None),
            "static" => Ok(Self::Static),
            "variable" => Ok(Self::Variable),
            _ => Err("write `none`, `static` or `variable`".into()),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::None => "none",
            Self::Static => "static",
            Self::Variable => "variable",
        }
        .into()
    }
}

/// The value of a parameter in `unit`.
pub(crate) fn read<T: ParamValue>(
    name: &'static str,
    unit: &str,
    text: &str,
) -> Result<T, ParamError> {
    let value = T::read(text).and_then(|value| value.fits(unit).map(|()| value));
    value.map_err(|why| ParamError::Bad { name, value: text.into(), why })
}

/// Declares a parameter struct: fields with type, default, unit and documentation, from which the
/// listing and the reader follow.
macro_rules! params {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $( $(#[doc = $fdoc:literal])* $field:ident : $type:ty = $default:expr, $unit:literal; )* }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $fdoc])* pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $name {
            /// The parameters with their present values.
            pub fn list(&self) -> Vec<$crate::params::ParamInfo> {
                vec![$( $crate::params::ParamInfo {
                    name: stringify!($field),
                    value: $crate::params::ParamValue::write(&self.$field),
                    unit: $unit,
                    doc: concat!($($fdoc),*).trim_ascii(),
                }, )*]
            }

            /// Sets the parameter `name` from text; `None` when there is no such parameter.
            /// Words in names may be joined by `_` or `-`.
            pub fn set(
                &mut self,
                name: &str,
                value: &str,
            ) -> Option<Result<(), $crate::params::ParamError>> {
                let name = name.replace('-', "_");
                $( if name == stringify!($field) {
                    let read = $crate::params::read(stringify!($field), $unit, value);
                    return Some(read.map(|v| self.$field = v));
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

    #[test]
    fn values_read_back_as_printed() {
        assert_eq!((1.0f64 / 256.0).write(), "1/256");
        for x in [1.0 / 256.0, 0.95, 0.2, 1.0, 0.0, 12.5, 5.0 / 1024.0] {
            assert_eq!(f64::read(&x.write()), Ok(x));
        }
        assert_eq!(Time::read(&Time::from_us(55).write()), Ok(Time::from_us(55)));
        assert_eq!(Rate::read(&Rate::from_gbps(1).write()), Ok(Rate::from_gbps(1)));
        for w in [WindowKind::None, WindowKind::Static, WindowKind::Variable] {
            assert_eq!(WindowKind::read(&w.write()), Ok(w));
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_is_valid() {
        assert!(f64::read("-1").is_err());
        assert!(f64::read("inf").is_err());
        assert!(bool::read("yes").unwrap_err().contains("true"));
        assert!(WindowKind::read("big").unwrap_err().contains("variable"));
        assert!(u32::read("1.5").is_err());
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
            (CcKind::Timely, "min-rate", "0bps", Some("above 0")),
            (CcKind::Timely, "ai", "0bps", None),
        ] {
            let result = CcParams::new(kind).set(name, value);
            match (result, says) {
                (Ok(()), None) => {}
                (Err(e), Some(says)) => assert!(e.to_string().contains(says), "{e}"),
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
        }
    }
}
