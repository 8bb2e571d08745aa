//! Parameters as data: what a scenario file may set about schemes, congestion controls,
//! topologies, traffic patterns and everything else is a table of [`Param`]s. Readers, error
//! messages, listings, the JSON schema and the reference in the book are made from these tables.
//!
//! ```
//! use weir_core::Bytes;
//! use weir_core::param::{Fallback, Kind, Param};
//!
//! const LIMIT: Param = Param {
//!     name: "limit",
//!     kind: Kind::Size(&[]),
//!     fallback: Fallback::Is("30KB"),
//!     doc: "Queue length beyond which the neighbour is paused.",
//! };
//! assert_eq!(LIMIT.read("64KiB"), Ok(Bytes::new(65_536)));
//! let error = LIMIT.read::<Bytes>("3 apples").unwrap_err();
//! assert!(error.to_string().starts_with("`limit`: unknown unit `apples`"));
//! ```

mod choices;
mod kind;
mod text;
mod values;

pub use choices::{Choices, Chosen};
pub use kind::Kind;
pub use text::{FromText, word};
pub use values::{Value, Values};

use thiserror::Error;

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its key in a scenario file.
    pub name: &'static str,
    /// What is written there.
    pub kind: Kind,
    /// What happens when it is not given.
    pub fallback: Fallback,
    /// What it means.
    pub doc: &'static str,
}

/// What happens when a parameter is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// It must be given.
    Required,
    /// It takes this value.
    Is(&'static str),
    /// Absence has a meaning of its own: this, or what the documentation says.
    Absent(&'static str),
}

/// What is wrong with the value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}`: {why}")]
pub struct ParamError {
    /// The parameter.
    pub name: &'static str,
    /// The value as given, and what is valid.
    pub why: String,
}

impl Param {
    /// A parameter whose absence has a meaning of its own where `default` is empty.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        let fallback =
            if default.is_empty() { Fallback::Absent("") } else { Fallback::Is(default) };
        Self { name, kind, fallback, doc }
    }

    /// The value it takes when it is not given; empty where there is none.
    pub const fn default(&self) -> &'static str {
        match self.fallback {
            Fallback::Is(text) => text,
            Fallback::Required | Fallback::Absent(_) => "",
        }
    }

    /// Reads what was written for it.
    pub fn read<T: FromText>(&self, text: &str) -> Result<T, ParamError> {
        let value = self.kind.check(text).and_then(|()| T::from_text(text));
        value.map_err(|why| self.error(why))
    }

    /// Its default, as a value.
    ///
    /// # Panics
    /// When it has none, or one that does not read: a mistake in its table.
    pub fn read_default<T: FromText>(&self) -> T {
        self.read(self.default()).unwrap_or_else(|e| panic!("a default is valid: {e}"))
    }

    /// An error about its value.
    pub fn error(&self, why: impl Into<String>) -> ParamError {
        ParamError { name: self.name, why: why.into() }
    }
}

/// `" (did you mean `x`?)"`, or nothing.
pub fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |word| format!(" (did you mean `{word}`?)"))
}

/// The field `hosts_per_tor` as scenario files write it: `hosts-per-tor`.
#[macro_export]
macro_rules! kebab {
    ($field:ident) => {{
        const FIELD: &str = stringify!($field);
        const KEY: [u8; FIELD.len()] = $crate::param::kebab_bytes(FIELD);
        match std::str::from_utf8(&KEY) {
            Ok(key) => key,
            Err(_) => FIELD,
        }
    }};
}

/// `_` replaced by `-`; see [`kebab!`](crate::kebab).
pub const fn kebab_bytes<const N: usize>(field: &str) -> [u8; N] {
    let mut key = [0; N];
    let mut i = 0;
    while i < N {
        let c = field.as_bytes()[i];
        key[i] = if c == b'_' { b'-' } else { c };
        i += 1;
    }
    key
}
