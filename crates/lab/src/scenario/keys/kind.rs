//! What a key of a scenario file takes.

/// What is written for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A size such as `64KB`, or one of these words.
    Size(&'static [&'static str]),
    /// A time such as `1.5us`, or one of these words.
    Time(&'static [&'static str]),
    /// A fraction: `1/8`, `0.125`, `12.5%`.
    Fraction,
    /// A number from 0 up to, not including, this one.
    Below(u32),
    /// A whole number within bounds, both included.
    Whole {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A whole number within bounds, both included, or one of these words.
    WholeOr {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// What may stand there instead.
        words: &'static [&'static str],
    },
    /// True or false.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of whole numbers within bounds.
    Wholes {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A list of names.
    Names,
    /// A table with these keys, or one of these words.
    Table(&'static [Key], &'static [&'static str]),
    /// A number with any of the units of this scenario, or without.
    Quantity,
    /// A list of ranges of sizes, or one of these words.
    Ranges(&'static [&'static str]),
    /// A table of names, each with a pattern of ports or several.
    Ports,
}

impl Kind {
    /// What to write, in a few words.
    pub fn describe(self) -> String {
        let or = |what: &str, words: &[&str]| {
            let quoted: Vec<String> = words.iter().map(|w| format!("`\"{w}\"`")).collect();
            match quoted.as_slice() {
                [] => what.to_owned(),
                some => format!("{what}, or {}", some.join(" or ")),
            }
        };
        match self {
            Self::Text => "text".into(),
            Self::Size(words) => or("a size such as `\"64KB\"`", words),
            Self::Time(words) => or("a time such as `\"1.5us\"`", words),
            Self::Fraction => "a fraction: `\"1/8\"`, `0.125` or `\"12.5%\"`".into(),
            Self::Below(n) => format!("a number from 0 up to but below {n}"),
            Self::Whole { min, max: u64::MAX } => format!("a whole number from {min}"),
            Self::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Self::WholeOr { min, max, words } => {
                or(&format!("a whole number from {min} to {max}"), words)
            }
            Self::Bool => "`true` or `false`".into(),
            Self::Choice(words) => {
                let quoted: Vec<String> = words.iter().map(|w| format!("`\"{w}\"`")).collect();
                format!("one of {}", quoted.join(", "))
            }
            Self::Wholes { min, max: u64::MAX } => format!("a list of whole numbers from {min}"),
            Self::Wholes { min, max } => format!("a list of whole numbers from {min} to {max}"),
            Self::Names => "a list of names such as `[\"h0\", \"Sa\", \"h8\"]`".into(),
            Self::Table(keys, words) => {
                let names: Vec<&str> = keys.iter().map(|k| k.name).collect();
                or(&format!("a table with {}", names.join(", ")), words)
            }
            Self::Ranges(words) => {
                or("a list of ranges such as `[\"0..10KB\", \"10KB..\"]`", words)
            }
            Self::Ports => "a table such as `{ core = \"core* -> *\" }`".into(),
            Self::Quantity => "a quantity such as `\"1.45ms\"`, `\"75KB\"` or `0.8`".into(),
        }
    }
}

/// A key of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What stands there when nothing is written; empty when absence has its own meaning, which
    /// the documentation says.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A table of a scenario file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name: `switch` for `[switch]`.
    pub name: &'static str,
    /// Whether it may stand several times: `[[traffic]]`.
    pub repeated: bool,
    /// What it is about.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

impl Section {
    /// As it is written in a file.
    pub fn header(&self) -> String {
        if self.repeated { format!("[[{}]]", self.name) } else { format!("[{}]", self.name) }
    }
}
