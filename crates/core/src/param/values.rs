//! Values of parameters whose types are known at run time only.

use super::{Chosen, FromText, Kind, Param, ParamError};
use crate::{Bytes, Rate, Ratio, Time};
use std::fmt;

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
    /// Several words of a set.
    Set(Chosen),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(v) => v.fmt(f),
            Self::Time(v) => v.fmt(f),
            Self::Rate(v) => v.fmt(f),
            Self::Ratio(v) => v.fmt(f),
            Self::Integer(v) => v.fmt(f),
            Self::Bool(v) => v.fmt(f),
            Self::Choice(v) => v.fmt(f),
            Self::Set(v) => v.fmt(f),
        }
    }
}

impl Value {
    /// What `text` stands for in a parameter of this kind.
    ///
    /// # Panics
    /// When values of this kind are not read this way: a mistake in a table.
    fn read(kind: Kind, text: &str) -> Result<Self, String> {
        kind.check(text)?;
        Ok(match kind {
            Kind::Time(words) if words.contains(&text.trim()) => Self::word(words, text),
            Kind::Size(_) => Self::Bytes(FromText::from_text(text)?),
            Kind::Time(_) | Kind::Period => Self::Time(FromText::from_text(text)?),
            Kind::Rate | Kind::PositiveRate => Self::Rate(FromText::from_text(text)?),
            Kind::Fraction => Self::Ratio(FromText::from_text(text)?),
            Kind::Whole { .. } => Self::Integer(FromText::from_text(text)?),
            Kind::Bool => Self::Bool(FromText::from_text(text)?),
            Kind::Choice(words) => Self::word(words, text),
            Kind::Set(choices) => Self::Set(choices.read(text)?),
            other => panic!("{other:?} is not read as a value"),
        })
    }

    /// # Panics
    /// When `text` is none of the words: it was not checked.
    fn word(words: &[&'static str], text: &str) -> Self {
        Self::Choice(words.iter().find(|w| **w == text.trim()).expect("it was checked"))
    }
}

/// The values given for parameters; what is not given has its default.
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
        let value = Value::read(param.kind, text).map_err(|why| param.error(why))?;
        self.given.retain(|(name, _)| *name != param.name);
        self.given.push((param.name, value));
        Ok(())
    }

    /// The value of `param`: what was given, or the default, or `None` where it has none.
    pub fn get(&self, param: &Param) -> Option<Value> {
        let given = self.given.iter().find(|(name, _)| *name == param.name).map(|(_, v)| *v);
        given.or_else(|| match param.default() {
            "" => None,
            text => Some(Value::read(param.kind, text).expect("a default reads as its kind")),
        })
    }
}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident, $variant:ident, $ty:ty) => {
        $(#[$doc])*
        ///
        /// # Panics
        /// When the parameter is of another kind: a mistake in its owner's table.
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
    /// A time; `None` where a word stands in its place, such as `never`.
    ///
    /// # Panics
    /// When the parameter is of another kind: a mistake in its owner's table.
    pub fn time(&self, param: &Param) -> Option<Time> {
        match self.get(param)? {
            Value::Time(time) => Some(time),
            Value::Choice(_) => None,
            other => panic!("parameter {} holds {other:?}", param.name),
        }
    }

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
    /// What the word of a choice means; `meanings` has every word of the parameter.
    ///
    /// # Panics
    /// When the parameter is of another kind, or a word of it has no meaning: a mistake in its
    /// owner's table.
    pub fn optional_one_of<T: Copy>(&self, param: &Param, meanings: &[(&str, T)]) -> Option<T> {
        let name = param.name;
        let Kind::Choice(words) = param.kind else { panic!("parameter {name} is no choice") };
        let meaning = |word: &str| meanings.iter().find(|(w, _)| *w == word).map(|(_, m)| *m);
        let complete = words.iter().all(|word| meaning(word).is_some());
        assert!(complete && words.len() == meanings.len(), "each word of {name} has a meaning");
        self.choice(param).and_then(meaning)
    }

    /// The same for a parameter with a default.
    ///
    /// # Panics
    /// Also when it has none: a mistake in its owner's table.
    pub fn one_of<T: Copy>(&self, param: &Param, meanings: &[(&str, T)]) -> T {
        let meaning = self.optional_one_of(param, meanings);
        meaning.unwrap_or_else(|| panic!("parameter {} has no default", param.name))
    }

    getter!(/// Words of a set.
        set_of, Set, Chosen);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Param = Param::new("size", Kind::Size(&[]), "68KB", "A size.");
    const MODE: Param = Param::new("mode", Kind::Choice(&["timed", "sticky"]), "timed", "A mode.");
    const UNSAID: Param = Param::new("unsaid", Kind::Choice(&["a", "b"]), "", "No default.");
    const DERIVED: Param = Param::new("d", Kind::Time(&[]), "", "Derived.");

    #[test]
    fn a_word_means_what_its_owner_says() {
        let mut v = Values::new();
        let timed = |v: &Values| v.one_of(&MODE, &[("sticky", false), ("timed", true)]);
        assert!(timed(&v));
        v.set(&MODE, "sticky").unwrap();
        assert!(!timed(&v));
        assert_eq!(v.optional_one_of(&UNSAID, &[("a", 1), ("b", 2)]), None);
    }

    #[test]
    #[should_panic(expected = "each word of mode has a meaning")]
    fn a_word_without_a_meaning_is_a_mistake_even_where_it_is_not_given() {
        Values::new().one_of(&MODE, &[("timed", 1)]);
    }

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
    fn a_word_in_the_place_of_a_time_is_no_time() {
        let every = Param::new("every", Kind::Time(&["never"]), "1us", "An interval.");
        let mut v = Values::new();
        assert_eq!(v.time(&every), Some(Time::from_us(1)));
        v.set(&every, "never").unwrap();
        assert_eq!((v.time(&every), v.get(&every)), (None, Some(Value::Choice("never"))));
        assert!(v.set(&every, "newer").is_err());
        assert!(v.set(&DERIVED, "never").is_err(), "it takes no such word");
    }

    #[test]
    fn a_wrong_value_names_the_parameter_and_the_valid_ones() {
        let mut v = Values::new();
        let error = v.set(&MODE, "tined").unwrap_err().to_string();
        assert!(error.starts_with("`mode`: `tined` is not one of `timed`, `sticky`"), "{error}");
        assert!(v.set(&SIZE, "3 apples").unwrap_err().why.contains("KiB"));
    }
}
