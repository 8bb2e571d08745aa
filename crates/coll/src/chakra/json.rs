//! The JSON form: `{"workload_graph": [{"Id": 0, "Name": ..., "NodeType": 4, ...}]}`.
//!
//! Nodes are handed on one by one; the file is never in memory as a whole tree. Besides the names
//! of that form those of the protobuf schema are understood, and attributes as a list under
//! `attr`, as converters from protobuf write them.

use super::node::{KINDS, Node, Value, numbered};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value as Json;
use std::fmt;
use std::io::Read;

/// Reads all nodes of a file and hands them on.
pub(super) fn read<R: Read>(
    input: R,
    mut node: impl FnMut(Node) -> Result<(), String>,
) -> Result<(), String> {
    let mut reader = serde_json::Deserializer::from_reader(input);
    File(&mut node).deserialize(&mut reader).map_err(|e| e.to_string())?;
    reader.end().map_err(|e| e.to_string())
}

struct File<'a>(&'a mut dyn FnMut(Node) -> Result<(), String>);

impl<'de> DeserializeSeed<'de> for File<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for File<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list `workload_graph`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "workload_graph" {
                found = true;
                map.next_value_seed(Nodes(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if found { Ok(()) } else { Err(A::Error::custom("there is no `workload_graph`")) }
    }
}

struct Nodes<'a>(&'a mut dyn FnMut(Node) -> Result<(), String>);

impl<'de> DeserializeSeed<'de> for Nodes<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Nodes<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(json) = list.next_element::<Json>()? {
            let node = node(&json).map_err(A::Error::custom)?;
            (self.0)(node).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// A number, or a text that is one: converters write 64-bit numbers as text.
fn number(json: &Json) -> Option<i128> {
    match json {
        Json::Number(n) => n.as_u64().map(i128::from).or_else(|| n.as_i64().map(i128::from)),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn whole(name: &str, json: &Json) -> Result<u64, String> {
    let found = number(json).and_then(|x| u64::try_from(x).ok());
    found.ok_or_else(|| format!("`{name}` is {}, not a whole number", shown(json)))
}

fn shown(json: &Json) -> String {
    let text = json.to_string();
    if text.chars().count() <= 40 {
        text
    } else {
        text.chars().take(37).collect::<String>() + "..."
    }
}

fn wholes(name: &str, json: &Json) -> Result<Vec<u64>, String> {
    let list = json.as_array().ok_or_else(|| format!("`{name}` is no list"))?;
    list.iter().map(|x| whole(name, x)).collect()
}

fn value(json: &Json) -> Value {
    match json {
        Json::Bool(yes) => Value::Bool(*yes),
        Json::Number(_) => number(json).map_or(Value::Other("a fraction"), Value::Int),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(list) if list.iter().all(Json::is_boolean) => {
            Value::Bools(list.iter().filter_map(Json::as_bool).collect())
        }
        Json::Array(_) => Value::Other("a list"),
        _ => Value::Other("nothing"),
    }
}

fn node(json: &Json) -> Result<Node, String> {
    let object = json.as_object().ok_or_else(|| format!("{} is no node", shown(json)))?;
    let mut node = Node::default();
    // first, so that other mistakes can name it
    let id = object.get("Id").or_else(|| object.get("id")).ok_or("a node has no `Id`")?;
    node.id = whole("Id", id)?;
    for (key, json) in object {
        fill(&mut node, key, json).map_err(|what| format!("node {}: {what}", node.id))?;
    }
    Ok(node)
}

fn fill(node: &mut Node, key: &str, json: &Json) -> Result<(), String> {
    match key {
        "Id" | "id" => {}
        "Name" | "name" => node.name = json.as_str().unwrap_or_default().to_owned(),
        "NodeType" | "type" => {
            let word = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
            let found = numbered(&word, &KINDS);
            node.kind = found.ok_or_else(|| format!("`{key}` is {}", shown(json)))?;
        }
        "ctrlDeps" | "ctrl_deps" => node.ctrl_deps = wholes(key, json)?,
        "dataDeps" | "data_deps" => node.data_deps = wholes(key, json)?,
        "runtime" | "durationMicros" | "duration_micros" => node.duration_us = micros(key, json)?,
        "inputs" => {
            let values = json.get("values").unwrap_or(json);
            node.values.push(values.as_str().map_or_else(|| values.to_string(), str::to_owned));
        }
        "attr" => {
            let list = json.as_array().ok_or("`attr` is no list")?;
            for attribute in list {
                attribute_of(node, attribute)?;
            }
        }
        _ => node.set(key, numeric(key, json))?,
    }
    Ok(())
}

/// Microseconds; a fraction is rounded.
fn micros(name: &str, json: &Json) -> Result<u64, String> {
    match json.as_f64() {
        Some(us) if !json.is_u64() && (0.0..1e15).contains(&us) => Ok(us.round() as u64),
        _ => whole(name, json),
    }
}

/// A value, where numbers may be texts.
fn numeric(name: &str, json: &Json) -> Value {
    let textual = matches!(name, "pg_name" | "comm_type");
    match number(json) {
        Some(x) if !textual || json.is_number() => Value::Int(x),
        _ => value(json),
    }
}

/// `{"name": "comm_size", "int64Val": "1024"}`.
fn attribute_of(node: &mut Node, json: &Json) -> Result<(), String> {
    let object = json.as_object().ok_or("an attribute is no object")?;
    let name = object.get("name").and_then(Json::as_str).unwrap_or_default();
    let held = object.iter().find(|(key, _)| key.ends_with("Val") || key.ends_with("_val"));
    let list = object.iter().find(|(key, _)| key.ends_with("List") || key.ends_with("_list"));
    if let Some((_, json)) = held {
        node.set(name, numeric(name, json))?;
    } else if let Some(json) = list.and_then(|(_, list)| list.get("values")) {
        node.set(name, value(json))?;
    }
    Ok(())
}
