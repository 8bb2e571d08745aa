//! Parameters that belong to a catalogue: of a topology, a pattern, a scheme, an algorithm.
//!
//! The reader checks their names only and passes their text on. The owner of a parameter checks its
//! value, and an error is shown at the place where the value was written.

use super::fields::{At, unknown_key};
use crate::text::{Diagnostic, Diagnostics, Entry, Item, Span, Table, Value};

/// A parameter as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its name as written.
    pub name: String,
    /// Where the name stands.
    pub key: Span,
    /// One value, or several if a list was written.
    pub values: Vec<At<String>>,
    /// Where the whole value stands.
    pub span: Span,
}

impl Arg {
    /// All values in one text, as parameters that are lists are written.
    pub fn joined(&self) -> String {
        let texts: Vec<&str> = self.values.iter().map(|v| v.value.as_str()).collect();
        texts.join(", ")
    }

    /// Where the value written as `text` stands, or the whole list.
    pub fn span_of(&self, text: &str) -> Span {
        let found = self.values.iter().find(|v| v.value == text);
        found.and_then(|v| v.span).unwrap_or(self.span)
    }
}

/// Reads `entries` as parameters of `owner`, which knows these names.
pub(crate) fn read<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    owner: &str,
    known: &[&str],
    out: &mut Diagnostics,
) -> Vec<Arg> {
    let mut args = Vec::new();
    for (name, key, item) in entries {
        if known.contains(&name.as_str()) {
            args.extend(one(name, *key, item, out));
        } else {
            out.push(unknown_key(name, *key, owner, known));
        }
    }
    args
}

fn one(name: &str, key: Span, item: &Item, out: &mut Diagnostics) -> Option<Arg> {
    let items = match &item.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    let mut values = Vec::new();
    for value in items {
        let Some(text) = value.value.text() else {
            let title = format!("{} cannot be a value of `{name}`", value.value.what());
            out.push(Diagnostic::error(title).at(value.span, "write a string or a number"));
            return None;
        };
        values.push(At { value: text, span: Some(value.span) });
    }
    Some(Arg { name: name.to_owned(), key, values, span: item.span })
}

/// The entries of sub-tables that are named like something of the catalogue
/// (`[flow-control.pfc]`), and the other entries.
pub(crate) fn split_tables<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    names: &[&str],
) -> (Vec<(&'a str, &'a Table)>, Vec<&'a Entry>) {
    let (mut tables, mut rest) = (Vec::new(), Vec::new());
    for entry in entries {
        match &entry.2.value {
            Value::Table(table) if names.contains(&entry.0.as_str()) => {
                tables.push((entry.0.as_str(), table));
            }
            _ => rest.push(entry),
        }
    }
    (tables, rest)
}
