//! Parameters of schemes as data: one table serves `weir schemes`, the scenario reader,
//! its error messages and the schema.

use thiserror::Error;
use weir_core::{Bytes, Rate, Ratio, Time};

/// What a parameter holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A size ("68KB").
    Bytes,
    /// A time ("6us").
    Time,
    /// A speed ("10Mbps").
    Rate,
    /// A fraction ("1/8", "80%").
    Ratio,
    /// A whole number within bounds, both included.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// True or false.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its key in a scenario file.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it is when not given, as one would write it; empty where the scheme derives it
    /// (the documentation says from what).
    pub default: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

/// A value that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A size.
    Bytes(Bytes),
    /// A time.
    Time(Time),
    /// A speed.
    Rate(Rate),
    /// A fraction.
    Ratio(Ratio),
    /// A whole number.
    Integer(u64),
    /// A truth value.
    Bool(bool),
    /// One of the words of a choice.
    Choice(&'static str),
}

/// Why a text is no value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParamError(pub String);

impl Kind {
    /// Reads `text` as this kind.
    pub fn read(self, text: &str) -> Result<Value, ParamError> {
        fn unit<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, ParamError> {
            text.parse().map_err(|e: T::Err| ParamError(e.to_string()))
        }
        Ok(match self {
            Self::Bytes => Value::Bytes(unit(text)?),
            Self::Time => Value::Time(unit(text)?),
            Self::Rate => Value::Rate(unit(text)?),
            Self::Ratio => Value::Ratio(unit(text)?),
            Self::Integer { min, max } => match text.parse() {
                Ok(n) if (min..=max).contains(&n) => Value::Integer(n),
                _ => {
                    return Err(ParamError(format!(
                        "`{text}` is not a whole number from {min} to {max}"
                    )));
                }
            },
            Self::Bool => match text {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => return Err(ParamError(format!("`{text}` is neither true nor false"))),
            },
            Self::Choice(words) => match words.iter().find(|w| **w == text) {
                Some(word) => Value::Choice(word),
                None => {
                    return Err(ParamError(format!(
                        "`{text}` is not one of {}",
                        words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
                    )));
                }
            },
        })
    }
}

/// The values given for a scheme's parameters; what is not given has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    given: Vec<(&'static str, Value)>,
}

impl Values {
    /// Nothing given: all defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives `param` the value written as `text`. Giving it twice keeps the last.
    pub fn set(&mut self, param: &Param, text: &str) -> Result<(), ParamError> {
        let value = param.kind.read(text)?;
        self.given.retain(|(name, _)| *name != param.name);
        self.given.push((param.name, value));
        Ok(())
    }

    /// The value of `param`: what was given, or the default, or `None` where the scheme
    /// derives it.
    pub fn get(&self, param: &Param) -> Option<Value> {
        let given = self.given.iter().find(|(name, _)| *name == param.name).map(|(_, v)| *v);
        given.or_else(|| {
            (!param.default.is_empty())
                .then(|| param.kind.read(param.default).expect("a default reads as its kind"))
        })
    }
}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident, $variant:ident, $ty:ty) => {
        $(#[$doc])*
        ///
        /// # Panics
        /// When the parameter is of another kind: a mistake in the scheme's own table.
        pub fn $name(&self, param: &Param) -> Option<$ty> {
            self.get(param).map(|v| match v {
                Value::$variant(v) => v,
                other => panic!("parameter {} holds {other:?}", param.name),
            })
        }
    };
}

impl Values {
    getter!(/// A size.
        bytes, Bytes, Bytes);
    getter!(/// A time.
        time, Time, Time);
    getter!(/// A speed.
        rate, Rate, Rate);
    getter!(/// A fraction.
        ratio, Ratio, Ratio);
    getter!(/// A whole number.
        integer, Integer, u64);
    getter!(/// A truth value.
        bool, Bool, bool);
    getter!(/// A word.
        choice, Choice, &'static str);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Param = Param { name: "size", kind: Kind::Bytes, default: "68KB", doc: "A size." };
    const MODE: Param = Param {
        name: "mode",
        kind: Kind::Choice(&["timed", "sticky"]),
        default: "timed",
        doc: "A mode.",
    };
    const DERIVED: Param = Param { name: "d", kind: Kind::Time, default: "", doc: "Derived." };

    #[test]
    fn a_default_stands_until_a_value_is_given() {
        let mut v = Values::new();
        assert_eq!(v.bytes(&SIZE), Some(Bytes::new(68_000)));
        v.set(&SIZE, "1KiB").unwrap();
        v.set(&SIZE, "2KiB").unwrap();
        assert_eq!(v.bytes(&SIZE), Some(Bytes::new(2048)));
        assert_eq!(v.choice(&MODE), Some("timed"));
        assert_eq!(v.time(&DERIVED), None);
    }

    #[test]
    fn a_wrong_value_names_the_valid_ones() {
        let mut v = Values::new();
        assert!(v.set(&MODE, "tined").unwrap_err().0.contains("`timed`, `sticky`"));
        assert!(v.set(&SIZE, "3 apples").unwrap_err().0.contains("KiB"));
        let bounded = Kind::Integer { min: 2, max: 128 };
        assert!(bounded.read("1").unwrap_err().0.contains("2 to 128"));
        assert_eq!(bounded.read("128"), Ok(Value::Integer(128)));
    }
}
