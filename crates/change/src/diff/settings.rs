//! Which settings are different.

use std::collections::BTreeMap;
use weir_scenario::text::{Table, Value};

/// A key with other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// The key: `switch.thresholds.xoff`.
    pub key: String,
    /// The first side's value; `None`: not written, so the default.
    pub before: Option<String>,
    /// The second side's.
    pub after: Option<String>,
}

impl std::fmt::Display for SettingChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "default".into());
        let entry = self.key.rsplit('.').next().is_some_and(is_number);
        match (&self.before, &self.after) {
            (Some(_), None) if entry => return write!(f, "{} removed", self.key),
            (None, Some(_)) if entry => return write!(f, "{} added", self.key),
            _ => {}
        }
        write!(f, "{} {} to {}", self.key, word(&self.before), word(&self.after))
    }
}

/// The keys of a scenario with their values, but for names and remarks.
pub fn flatten(root: &Table) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (key, _, item) in &root.0 {
        if !matches!(key.as_str(), "name" | "title" | "reference" | "report" | "variant") {
            add(key, &item.value, &mut found);
        }
    }
    found
}

fn add(key: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            for (name, _, item) in &table.0 {
                add(&format!("{key}.{name}"), &item.value, found);
            }
        }
        Value::List(items) if items.is_empty() => {}
        Value::List(items) if items.iter().any(|i| matches!(i.value, Value::Table(_))) => {
            for (i, item) in items.iter().enumerate() {
                add(&format!("{key}.{i}"), &item.value, found);
            }
        }
        other => _ = found.insert(key.to_owned(), other.toml()),
    }
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit())
}

/// The entry of a list of sections that a key belongs to: `fault.0` of `fault.0.link`.
fn entry(key: &str) -> Option<&str> {
    let mut end = 0;
    for part in key.split('.') {
        end += part.len();
        if is_number(part) {
            return Some(&key[..end]);
        }
        end += 1;
    }
    None
}

/// Keys with other values, in their order. An entry of a list that one side does not have at all is
/// one change.
pub(super) fn changes(
    a: &BTreeMap<String, String>,
    b: &BTreeMap<String, String>,
) -> Vec<SettingChange> {
    let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut found: Vec<SettingChange> = Vec::new();
    for key in keys.into_iter().filter(|k| a.get(*k) != b.get(*k)) {
        let has = |side: &BTreeMap<String, String>, entry: &str| {
            side.keys().any(|k| k.strip_prefix(entry).is_some_and(|rest| rest.starts_with('.')))
        };
        let whole = entry(key).filter(|e| !has(a, e) || !has(b, e));
        let shown = whole.unwrap_or(key);
        let value = |side: &BTreeMap<String, String>| {
            let text = side.get(key)?;
            Some(match whole {
                Some(entry) => format!("{} = {text}", &key[entry.len() + 1..]),
                None => text.clone(),
            })
        };
        let (before, after) = (value(a), value(b));
        match found.last_mut().filter(|last| whole.is_some() && last.key == shown) {
            Some(last) => {
                for (known, more) in [(&mut last.before, before), (&mut last.after, after)] {
                    if let (Some(known), Some(more)) = (known, more) {
                        known.push_str(&format!(", {more}"));
                    }
                }
            }
            None => found.push(SettingChange { key: shown.to_owned(), before, after }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_one_side_does_not_have_is_one_change() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let a =
            map(&[("fault.0.link", "all"), ("fault.0.what", "drop"), ("traffic.0.size", "1KB")]);
        let b = map(&[("switch.buffer", "2MB"), ("traffic.0.size", "2KB")]);
        let texts: Vec<String> = changes(&a, &b).iter().map(ToString::to_string).collect();
        let expected =
            ["fault.0 removed", "switch.buffer default to 2MB", "traffic.0.size 1KB to 2KB"];
        assert_eq!(texts, expected);
        let back = changes(&b, &a);
        assert_eq!(back[0].to_string(), "fault.0 added");
        assert_eq!(back[0].after.as_deref(), Some("link = all, what = drop"));
    }
}
