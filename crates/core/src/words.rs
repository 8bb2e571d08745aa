//! Types whose values are words.

use crate::param::FromText;

/// A value that is a word; [`words!`](crate::words) declares such types.
pub trait Word: FromText + Copy {
    /// Its word.
    fn word(self) -> &'static str;

    /// What it means: its documentation.
    fn meaning(self) -> &'static str;
}

/// Declares an enum whose values are words of files, arguments and tables: each word stands once,
/// beside its value. From the list follow
///
/// * `ALL`: the values as they are declared, `NAMES`: their words, and `WORDS`: both;
/// * `name`, the word of a value, and `named`, the value of a word;
/// * [`FromText`], which refuses other words with a list of these;
/// * [`Word`], for help texts.
///
/// ```
/// use weir_core::{Word, param::FromText};
///
/// weir_core::words! {
///     /// What happens to a packet for which there is no room.
///     #[derive(Clone, Copy, Debug, PartialEq, Eq)]
///     pub enum OnFull {
///         /// It is dropped.
///         Drop = "drop",
///         /// The run stops.
///         Stop = "stop",
///     }
/// }
///
/// assert_eq!(OnFull::ALL, [OnFull::Drop, OnFull::Stop]);
/// assert_eq!(OnFull::NAMES, ["drop", "stop"]);
/// assert_eq!(OnFull::WORDS[1], ("stop", OnFull::Stop));
/// assert_eq!(OnFull::Drop.name(), "drop");
/// assert_eq!(OnFull::named("drop"), Some(OnFull::Drop));
/// assert!(OnFull::from_text("stopp").unwrap_err().contains("did you mean `stop`?"));
/// assert_eq!(OnFull::Stop.meaning(), "The run stops.");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])+ $value:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $( $(#[doc = $doc])+ $value, )+
        }

        #[allow(dead_code, reason = "not every type needs all of them")]
        impl $name {
            /// All values, as they are declared.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// All values with their words.
            $vis const WORDS: [(&'static str, Self); [$($word),+].len()] =
                [$(($word, Self::$value)),+];

            /// All words.
            $vis const NAMES: [&'static str; [$($word),+].len()] = [$($word),+];

            /// Its word.
            $vis const fn name(self) -> &'static str {
                match self { $( Self::$value => $word, )+ }
            }

            /// The value of a word.
            $vis fn named(word: &str) -> Option<Self> {
                Self::WORDS.into_iter().find(|(own, _)| *own == word).map(|(_, value)| value)
            }
        }

        impl $crate::param::FromText for $name {
            fn from_text(text: &str) -> Result<Self, String> {
                $crate::param::word(text, &Self::WORDS)
            }
        }

        impl $crate::Word for $name {
            fn word(self) -> &'static str {
                self.name()
            }

            fn meaning(self) -> &'static str {
                match self { $( Self::$value => concat!($($doc, "\n"),+).trim_ascii(), )+ }
            }
        }
    };
}
