//! Changes as a JSON patch (RFC 6902).

use crate::finding::Finding;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A value that one field should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which file.
    pub file: usize,
    /// The keys that lead to the field.
    pub path: Vec<String>,
    /// Its value; `None`: the field goes.
    pub value: Option<String>,
}

impl Change {
    /// Sets a field.
    pub fn set(file: usize, path: &[&str], value: impl ToString) -> Self {
        let path = path.iter().map(|&key| key.to_owned()).collect();
        Self { file, path, value: Some(value.to_string()) }
    }

    /// Removes a field.
    pub fn remove(file: usize, path: &[&str]) -> Self {
        Self { value: None, ..Self::set(file, path, "") }
    }
}

/// The patch of one file that makes all changes of the findings. Where two findings want the same
/// field to be different, the larger number counts: all of them are least sizes.
pub fn patch(file: usize, root: &Value, findings: &[Finding]) -> Vec<Value> {
    let mut wanted: BTreeMap<&[String], &Option<String>> = BTreeMap::new();
    let changes = findings.iter().flat_map(|f| &f.changes).filter(|c| c.file == file);
    for change in changes {
        let place = wanted.entry(&change.path).or_insert(&change.value);
        if number(&change.value) > number(place) {
            *place = &change.value;
        }
    }
    let mut operations = Vec::new();
    let mut made: Vec<String> = Vec::new();
    for (path, value) in wanted {
        for depth in 1..path.len() {
            let above = pointer_of(&path[..depth]);
            if root.pointer(&above).is_none() && !made.contains(&above) {
                operations.push(json!({ "op": "add", "path": above, "value": Map::new() }));
                made.push(above);
            }
        }
        let place = pointer_of(path);
        let (old, exists) = (root.pointer(&place), root.pointer(&place).is_some());
        match value {
            None if exists => operations.push(json!({ "op": "remove", "path": place })),
            None => {}
            Some(new) if old.and_then(Value::as_str) == Some(new) => {}
            Some(new) => {
                let op = if exists { "replace" } else { "add" };
                operations.push(json!({ "op": op, "path": place, "value": new }));
            }
        }
    }
    operations
}

fn number(value: &Option<String>) -> Option<u64> {
    value.as_ref().and_then(|text| text.parse().ok())
}

fn pointer_of(path: &[String]) -> String {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    crate::finding::pointer(&keys)
}

/// Ports whose buffers a patch changes: traffic on them must be drained first, because a change
/// of buffers under traffic loses packets or is refused.
pub fn drained(operations: &[Value], groups: &[(String, String)]) -> Vec<String> {
    let mut ports: Vec<String> = Vec::new();
    for path in operations.iter().filter_map(|op| op["path"].as_str()) {
        let mut keys = path.split('/').skip(1);
        let (table, key) = (keys.next().unwrap_or_default(), keys.next().unwrap_or_default());
        let named = |p: &&(String, String)| match table {
            "BUFFER_PROFILE" => p.1 == key,
            "BUFFER_POOL" => true,
            "BUFFER_PG" | "BUFFER_QUEUE" => key.split('|').next() == Some(&p.0),
            "CABLE_LENGTH" => path.ends_with(&format!("/{}", p.0)),
            _ => false,
        };
        ports.extend(groups.iter().filter(named).map(|p| p.0.clone()));
    }
    ports.sort_by(|a, b| crate::natural(a, b));
    ports.dedup();
    ports
}

/// Applies a patch of adds, replaces and removes, for tests and previews. `Err`: the operation
/// that does not fit.
pub fn apply(root: &mut Value, operations: &[Value]) -> Result<(), String> {
    for op in operations {
        let path = op["path"].as_str().unwrap_or_default();
        let (above, key) = path.rsplit_once('/').ok_or_else(|| format!("no place: {op}"))?;
        let key = key.replace("~1", "/").replace("~0", "~");
        let place = root.pointer_mut(above).and_then(Value::as_object_mut);
        let place = place.ok_or_else(|| format!("nothing at {above}"))?;
        match op["op"].as_str() {
            Some("add") => drop(place.insert(key, op["value"].clone())),
            Some("replace") if place.contains_key(&key) => {
                place.insert(key, op["value"].clone());
            }
            Some("remove") if place.contains_key(&key) => drop(place.remove(&key)),
            _ => return Err(format!("cannot apply {op}")),
        }
    }
    Ok(())
}
