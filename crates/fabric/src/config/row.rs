//! Rows of tables, and the values in them: what is broken is said with its place.

use crate::code::{self, Code};
use crate::finding::{Change, Finding, pointer};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// One entry of a table, with where it stands.
pub(super) struct ConfigRow<'a> {
    pub(super) file: usize,
    pub(super) table: &'a str,
    pub(super) key: &'a str,
    pub(super) fields: &'a Map<String, Value>,
}

pub(super) type Found<'f> = &'f mut Vec<Finding>;

impl<'a> ConfigRow<'a> {
    pub(super) fn pointer(&self, field: &str) -> String {
        pointer(&[self.table, self.key, field])
    }

    pub(super) fn say(&self, out: Found<'_>, code: &'static Code, field: &str, message: String) {
        out.push(Finding::new(code, self.file, self.pointer(field), message));
    }

    /// A field as text. A number is accepted with a remark; anything else is broken.
    pub(super) fn text(&self, field: &str, out: Found<'_>) -> Option<String> {
        match self.fields.get(field)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => {
                let change =
                    Change::set(self.file, &[self.table, self.key, field], number.to_string());
                let message = format!("`{field}` is the number {number}, not a string");
                let found = Finding::new(&code::SN104, self.file, self.pointer(field), message);
                out.push(found.mended_by(change));
                Some(number.to_string())
            }
            other => {
                let message = format!("`{field}` is {}, not a string", kind(other));
                self.say(out, &code::SN101, field, message);
                None
            }
        }
    }

    /// A whole number of a range.
    pub(super) fn number(
        &self,
        field: &str,
        range: RangeInclusive<i64>,
        out: Found<'_>,
    ) -> Option<i64> {
        let text = self.text(field, out)?;
        match text.trim().parse::<i64>() {
            Ok(n) if range.contains(&n) => Some(n),
            _ => {
                let (low, high) = (range.start(), range.end());
                let valid = match *high {
                    i64::MAX => format!("a whole number from {low}"),
                    _ => format!("a whole number from {low} to {high}"),
                };
                let message = format!("`{field}` is \"{}\": {valid}", short(&text));
                let found = Finding::new(&code::SN101, self.file, self.pointer(field), message);
                let path = [self.table, self.key, field];
                out.push(match usual(field) {
                    Some(usual) => found.mended_by(Change::set(self.file, &path, usual)),
                    None => found,
                });
                None
            }
        }
    }

    pub(super) fn bytes(&self, field: &str, out: Found<'_>) -> Option<u64> {
        self.number(field, 0..=i64::MAX, out).and_then(|n| u64::try_from(n).ok())
    }

    /// One of several words.
    pub(super) fn word(&self, field: &str, valid: &[&str], out: Found<'_>) -> Option<String> {
        let text = self.text(field, out)?;
        if valid.contains(&text.as_str()) {
            return Some(text);
        }
        let message = format!("`{field}` is \"{}\": one of {}", short(&text), valid.join(", "));
        self.say(out, &code::SN101, field, message);
        None
    }

    pub(super) fn mandatory(&self, field: &str, out: Found<'_>) {
        if !self.fields.contains_key(field) {
            let place = pointer(&[self.table, self.key]);
            let message = format!("`{field}` of {} `{}` is missing", self.table, short(self.key));
            out.push(Finding::new(&code::SN102, self.file, place, message));
        }
    }

    /// A name, also in the old form `[TABLE|name]`.
    pub(super) fn name(&self, field: &str, out: Found<'_>) -> Option<String> {
        let text = self.text(field, out)?;
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(&text);
        let name = inner.rsplit('|').next().unwrap_or(inner);
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// A list of priorities: `3,4` or `3-4`.
    pub(super) fn priorities(&self, field: &str, out: Found<'_>) -> Option<BTreeSet<u8>> {
        let text = self.text(field, out)?;
        match ranges(&text, 7) {
            Some(set) => Some(set),
            None => {
                let message =
                    format!("`{field}` is \"{}\": priorities 0 to 7, such as 3,4", short(&text));
                self.say(out, &code::SN101, field, message);
                None
            }
        }
    }
}

/// What `pfcwd start_default` sets, in ms. Other values that are broken have no value that is
/// surely meant, and the nearest valid one may not fit to the rest.
fn usual(field: &str) -> Option<i64> {
    matches!(field, "detection_time" | "restoration_time" | "POLL_INTERVAL").then_some(200)
}

/// What a JSON value is.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Long text is cut in messages.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// `3-4`, `0,1,2`, `3,5-6`, or nothing, of 0 to `most`.
fn ranges(text: &str, most: u8) -> Option<BTreeSet<u8>> {
    let mut all = BTreeSet::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (u8, u8) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        if low > high || high > most {
            return None;
        }
        all.extend(low..=high);
    }
    Some(all)
}

/// The rows of a table; what is no table, or no row, is a finding.
pub(super) fn rows<'a>(
    file: usize,
    root: &'a Value,
    table: &'a str,
    out: Found<'_>,
) -> Vec<ConfigRow<'a>> {
    let Some(value) = root.get(table) else { return Vec::new() };
    let Some(entries) = value.as_object() else {
        let message = format!("{table} is {}, not an object", kind(value));
        out.push(Finding::new(&code::SN101, file, pointer(&[table]), message));
        return Vec::new();
    };
    let mut all = Vec::new();
    for (key, value) in entries {
        match value.as_object() {
            Some(fields) => all.push(ConfigRow { file, table, key, fields }),
            None => {
                let message = format!("`{}` is {}, not an object", short(key), kind(value));
                out.push(Finding::new(&code::SN101, file, pointer(&[table, key]), message));
            }
        }
    }
    all
}

/// `Ethernet0|3-4`, or on a chassis `host|asic|Ethernet0|3`: ports and numbers up to `most`.
pub(super) fn port_and_range(row: &ConfigRow<'_>, most: u8, out: Found<'_>) -> Vec<(String, u8)> {
    let parts: Vec<&str> = row.key.split('|').collect();
    let set = parts.last().and_then(|range| ranges(range, most)).filter(|s| !s.is_empty());
    let (Some(set), true) = (set, parts.len() >= 2) else {
        let place = pointer(&[row.table, row.key]);
        let message =
            format!("the key `{}` is not PORT|RANGE with a range of 0 to {most}", short(row.key));
        out.push(Finding::new(&code::SN101, row.file, place, message));
        return Vec::new();
    };
    let ports = parts[parts.len() - 2].split(',').map(str::trim);
    let all = ports.flat_map(|port| set.iter().map(move |n| (port.to_owned(), *n)));
    all.collect()
}
