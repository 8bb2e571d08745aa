//! The JSON schema of scenario files, for editors: made from the same tables as the reader.

use crate::catalogue::{self, Entry, More};
use crate::keys::{self, Key, Kind, Section};
use serde_json::{Map, Value, json};

/// The schema (JSON Schema 2020-12).
pub fn scenario_schema() -> Value {
    let mut properties = Map::new();
    for key in keys::ROOT.keys {
        properties.insert(key.name.into(), property(key));
    }
    for section in keys::SECTIONS {
        let schema = match catalogue::more(section) {
            More::Topologies => one_of("kind", section, &catalogue::topologies(), explicit()),
            More::Patterns => one_of("kind", section, &catalogue::patterns(), None),
            More::Tcp => beside(section, &catalogue::tcp()),
            More::Schemes => chosen("scheme", section, &catalogue::schemes()),
            More::Algorithms => chosen("algorithm", section, &catalogue::algorithms()),
            More::Anything => {
                let mut schema = table(section.keys, section.doc);
                schema["additionalProperties"] = true.into();
                schema
            }
            More::Nothing => table(section.keys, section.doc),
        };
        let schema = match section.repeated {
            true => json!({ "type": "array", "items": schema, "description": section.doc }),
            false => schema,
        };
        properties.insert(section.name.into(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Weir scenario",
        "description": "A network, its traffic and its flow control, for the `weir` command.",
        "type": "object",
        "properties": properties,
        "required": ["topology"],
        "anyOf": [{ "required": ["traffic"] }, { "required": ["job"] }],
        "additionalProperties": false,
    })
}

fn described(mut schema: Value, doc: &str, default: &str) -> Value {
    if let Value::Object(object) = &mut schema {
        object.insert("description".into(), doc.into());
        if !default.is_empty() {
            object.insert("default".into(), default.into());
        }
    }
    schema
}

fn property(key: &Key) -> Value {
    described(values(key.kind, key.doc), key.doc, key.default())
}

/// What a schema allows for a parameter of this kind.
fn values(kind: Kind, doc: &str) -> Value {
    let list = |item: Value| json!({ "anyOf": [item.clone(), { "type": "array", "items": item }] });
    let whole = |min: u64, max: u64| match max {
        u64::MAX => json!({ "type": "integer", "minimum": min }),
        _ => json!({ "type": "integer", "minimum": min, "maximum": max }),
    };
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": ["string", "number"] });
    match kind {
        Kind::Text | Kind::File | Kind::Length | Kind::Host | Kind::Path | Kind::Special(_) => {
            text()
        }
        Kind::Size(_) | Kind::Time(_) | Kind::Period => json!({ "type": ["string", "integer"] }),
        Kind::Sizes | Kind::Times => json!({ "type": ["string", "integer"] }),
        Kind::Rate | Kind::PositiveRate | Kind::RateStep => number(),
        Kind::Fraction | Kind::Share | Kind::Number | Kind::Quantity => number(),
        Kind::Below(n) => json!({ "type": "number", "minimum": 0, "exclusiveMaximum": n }),
        Kind::Whole { min, max } => whole(min, max),
        Kind::WholeOr { min, max, words } => {
            json!({ "anyOf": [whole(min, max), { "enum": words }] })
        }
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Set(choices) => json!({ "anyOf": [
            { "enum": choices.words },
            { "type": "array", "items": { "enum": choices.words } },
        ] }),
        Kind::Wholes { min, max } => list(whole(min, max)),
        Kind::Names | Kind::Ranges(_) | Kind::Hosts | Kind::Groups | Kind::Paths => list(text()),
        Kind::Links | Kind::Rows => list(text()),
        Kind::Ports => json!({ "type": "object", "additionalProperties": list(text()) }),
        Kind::Table(keys, []) => table(keys, doc),
        Kind::Table(keys, words) => json!({ "anyOf": [{ "enum": words }, table(keys, doc)] }),
    }
}

fn table(keys: &[Key], doc: &str) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|k| (k.name.to_owned(), property(k))).collect();
    json!({
        "type": "object",
        "description": doc,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn params(entry: &Entry) -> Map<String, Value> {
    let each = |p: &catalogue::Param| {
        (p.name.clone(), described(values(p.kind, &p.doc), &p.doc, &p.default))
    };
    entry.params.iter().map(each).collect()
}

fn explicit() -> Option<Value> {
    let mut schema = table(keys::EXPLICIT, "Your own graph.");
    schema["properties"]["kind"] = json!({ "const": "explicit" });
    schema["required"] = json!(["kind"]);
    Some(schema)
}

/// A table whose `tag` decides which other keys it takes.
fn one_of(tag: &str, section: &Section, entries: &[Entry], more: Option<Value>) -> Value {
    let variant = |entry: &Entry| {
        let mut properties = params(entry);
        properties.extend(section.keys.iter().map(|k| (k.name.to_owned(), property(k))));
        properties.insert(tag.into(), json!({ "const": entry.name }));
        let required = entry.params.iter().filter(|p| p.required).map(|p| p.name.as_str());
        let required: Vec<&str> = [tag].into_iter().chain(required).collect();
        json!({
            "type": "object",
            "description": entry.doc,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    let variants: Vec<Value> = entries.iter().map(variant).chain(more).collect();
    json!({ "description": section.doc, "oneOf": variants })
}

/// A table with the parameters of `entry` beside its own keys.
fn beside(section: &Section, entry: &Entry) -> Value {
    let mut schema = table(section.keys, section.doc);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.extend(params(entry));
    }
    schema
}

/// A table with the parameters of the chosen entry beside `tag` and sub-tables for all entries.
fn chosen(tag: &str, section: &Section, entries: &[Entry]) -> Value {
    let names: Vec<&str> = entries.iter().map(|e| e.name.as_str()).collect();
    let mut properties = Map::new();
    for entry in entries {
        for (name, schema) in params(entry) {
            properties.entry(name).or_insert(schema);
        }
    }
    for entry in entries {
        let own = json!({
            "type": "object",
            "description": entry.doc,
            "properties": params(entry),
            "additionalProperties": false,
        });
        properties.insert(entry.name.clone(), own);
    }
    let default = section.keys.iter().find(|k| k.name == tag).map_or("", |k| k.default());
    properties.insert(
        tag.into(),
        json!({ "enum": names, "default": default, "description": "Which one." }),
    );
    json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_and_every_catalogue_entry_is_in_the_schema() {
        let schema = scenario_schema();
        for section in keys::SECTIONS {
            assert!(schema["properties"].get(section.name).is_some(), "{}", section.name);
        }
        let text = schema.to_string();
        let all = [
            catalogue::schemes(),
            catalogue::algorithms(),
            catalogue::topologies(),
            catalogue::patterns(),
            vec![catalogue::tcp()],
        ];
        for param in all.iter().flatten().flat_map(|e| &e.params) {
            assert!(text.contains(&format!("\"{}\"", param.name)), "{}", param.name);
        }
    }
}
