//! Changes as a JSON patch (RFC 6902).

use crate::checks::{Options, check};
use crate::config::Switch;
use crate::finding::Finding;
use crate::host::Host;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What fields of a file should be, by the keys that lead to them.
type Fields = BTreeMap<Vec<String>, Option<String>>;

/// How often files are checked again: a longer cable in one may ask for more headroom in another,
/// and that for a larger pool.
const ROUNDS: usize = 4;

/// The patch of each switch, in their order. Changes may make others necessary: the patched files
/// are checked again, until nothing is left that a patch can mend.
pub fn mend(
    switches: &[Switch],
    hosts: &[Host],
    options: &Options,
    findings: &[Finding],
) -> Vec<Vec<Value>> {
    let mut fields: Vec<Fields> = vec![Fields::new(); switches.len()];
    let mut found = findings.to_vec();
    let mut patches: Vec<Vec<Value>> = vec![Vec::new(); switches.len()];
    for _ in 0..ROUNDS {
        for (switch, fields) in switches.iter().zip(&mut fields) {
            fields.extend(wanted(switch.index, &found));
        }
        let each = switches.iter().zip(&fields);
        let now: Vec<_> = each.map(|(switch, f)| operations(&switch.root, f)).collect();
        if now == patches {
            break;
        }
        patches = now;
        let mut read_again = Vec::new();
        let mended = switches.iter().zip(&patches).map(|(switch, patch)| {
            let mut root = switch.root.clone();
            apply(&mut root, patch).ok()?;
            Switch::read(switch.index, &switch.file, &root.to_string(), &mut read_again).ok()
        });
        let Some(mended) = mended.collect::<Option<Vec<_>>>() else { break };
        found = check(&mended, hosts, options, read_again);
    }
    patches
}

/// The patch of one file that makes all changes of the findings. Where two findings want the same
/// field to be different, the larger number counts: all of them are least sizes.
pub fn patch(file: usize, root: &Value, findings: &[Finding]) -> Vec<Value> {
    operations(root, &wanted(file, findings))
}

fn wanted(file: usize, findings: &[Finding]) -> Fields {
    let mut wanted = Fields::new();
    for change in findings.iter().flat_map(|f| &f.changes).filter(|c| c.file == file) {
        let place = wanted.entry(change.path.clone()).or_insert_with(|| change.value.clone());
        if number(&change.value) > number(place) {
            place.clone_from(&change.value);
        }
    }
    wanted
}

fn operations(root: &Value, wanted: &Fields) -> Vec<Value> {
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
