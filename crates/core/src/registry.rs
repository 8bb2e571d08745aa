//! Lists of things that scenarios choose by name, to which a program can add its own.
//!
//! What is built in is known when the program is compiled. A program that is made of these crates
//! adds its own schemes, patterns and so on before it reads anything; the first look at a list
//! closes it. So everybody sees the same list at any time, whatever the order of calls.

use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Something that is chosen by name.
pub trait Named {
    /// The name in scenario files.
    fn name(&self) -> &str;
}

/// What can be chosen by name: the built-in entries, then those that were added.
///
/// ```
/// use weir_core::registry::{Named, Registry};
///
/// struct Colour(&'static str);
/// impl Named for Colour {
///     fn name(&self) -> &str {
///         self.0
///     }
/// }
///
/// static COLOURS: Registry<Colour> = Registry::new(&[&Colour("red")]);
/// COLOURS.add(&Colour("blue")).expect("a new name");
/// assert_eq!(COLOURS.len(), 2);
/// assert!(COLOURS.add(&Colour("green")).is_err(), "it has been looked at");
/// ```
pub struct Registry<T: 'static> {
    built_in: &'static [&'static T],
    added: Mutex<Vec<&'static T>>,
    all: OnceLock<Vec<&'static T>>,
}

/// Why an entry cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddError {
    /// There is one of this name.
    Taken(String),
    /// No scenario could name it.
    Unusable(String),
    /// The list has been read.
    TooLate(String),
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(f, "there is a `{name}` already: choose another name"),
            Self::Unusable(name) => write!(
                f,
                "`{name}` cannot be a name: use small letters, digits and `-`, beginning with a \
                 letter"
            ),
            Self::TooLate(name) => {
                write!(f, "`{name}` is added too late: the list has been read before")
            }
        }
    }
}

impl std::error::Error for AddError {}

impl<T: Named> Registry<T> {
    /// A list of built-in entries.
    pub const fn new(built_in: &'static [&'static T]) -> Self {
        Self { built_in, added: Mutex::new(Vec::new()), all: OnceLock::new() }
    }

    /// Adds an entry behind all others.
    pub fn add(&self, entry: &'static T) -> Result<(), AddError> {
        let name = entry.name();
        let usable = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(usable) {
            return Err(AddError::Unusable(name.to_owned()));
        }
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        if self.built_in.iter().chain(added.iter()).any(|known| known.name() == name) {
            return Err(AddError::Taken(name.to_owned()));
        }
        if self.all.get().is_some() {
            return Err(AddError::TooLate(name.to_owned()));
        }
        added.push(entry);
        Ok(())
    }

    /// The entry of this name.
    pub fn find(&self, name: &str) -> Option<&'static T> {
        self.iter().copied().find(|entry| entry.name() == name)
    }

    /// What is built in, whatever was added.
    pub const fn built_in(&self) -> &'static [&'static T] {
        self.built_in
    }
}

/// All entries; from now on none can be added.
impl<T> Deref for Registry<T> {
    type Target = [&'static T];

    fn deref(&self) -> &Self::Target {
        self.all.get_or_init(|| {
            let added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            self.built_in.iter().chain(added.iter()).copied().collect()
        })
    }
}

impl<T: Named> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.built_in.iter().map(|entry| entry.name())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Word(&'static str);

    impl Named for Word {
        fn name(&self) -> &str {
            self.0
        }
    }

    #[test]
    fn added_entries_follow_the_built_in_ones() {
        static WORDS: Registry<Word> = Registry::new(&[&Word("one"), &Word("two")]);
        assert_eq!(WORDS.add(&Word("two")), Err(AddError::Taken("two".into())));
        assert_eq!(WORDS.add(&Word("three")), Ok(()));
        assert_eq!(WORDS.add(&Word("three")), Err(AddError::Taken("three".into())));
        let names: Vec<&str> = WORDS.iter().map(|w| w.name()).collect();
        assert_eq!(names, ["one", "two", "three"]);
        assert!(WORDS.find("three").is_some() && WORDS.find("four").is_none());
        assert_eq!(WORDS.add(&Word("four")), Err(AddError::TooLate("four".into())));
    }

    #[test]
    fn names_that_no_file_could_use_are_refused() {
        static WORDS: Registry<Word> = Registry::new(&[]);
        for name in ["", "Big", "a b", "-x", "1st", "a_b", "=x"] {
            let word: &'static Word = Box::leak(Box::new(Word(name)));
            assert_eq!(WORDS.add(word), Err(AddError::Unusable(name.into())), "{name}");
        }
    }
}
