//! Everything that scenarios choose from by name, in one form: schemes, algorithms, topologies
//! and traffic patterns with their parameters. Listings, the schema and the reference in the
//! book are made from it.

use crate::scenario::traffic::shown;
use serde::Serialize;
use serde_json::{Value, json};
use weir_cc::tcp::TcpParams;
use weir_cc::{CcKind, CcParams};
use weir_fc::SCHEMES;
use weir_traffic::params::Fallback;

/// A parameter as documented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Param {
    /// Its key.
    pub name: String,
    /// What to write.
    pub takes: String,
    /// What stands there otherwise; empty where it is derived, which the documentation says.
    pub default: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it means.
    pub doc: String,
    /// What a schema allows.
    #[serde(skip)]
    pub schema: Value,
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its name in scenarios.
    pub name: String,
    /// Its name in tables.
    pub title: String,
    /// What it is.
    pub doc: String,
    /// Where it is defined.
    pub reference: String,
    /// Its parameters.
    pub params: Vec<Param>,
}

/// A string or a number: how quantities may be written.
fn quantity() -> Value {
    json!({ "type": ["string", "number"] })
}

/// All flow control schemes.
pub fn schemes() -> Vec<Entry> {
    let param = |p: &weir_fc::Param| {
        use weir_fc::Kind;
        let (takes, schema) = match p.kind {
            Kind::Bytes => ("a size such as `64KB`".into(), quantity()),
            Kind::Time => ("a time such as `1.5us`".into(), quantity()),
            Kind::Rate => ("a rate such as `100Gbps`".into(), quantity()),
            Kind::Ratio => ("a fraction such as `1/8`".into(), quantity()),
            Kind::Integer { min, max } => (
                format!("a whole number from {min} to {max}"),
                json!({ "type": "integer", "minimum": min, "maximum": max }),
            ),
            Kind::Bool => ("`true` or `false`".into(), json!({ "type": "boolean" })),
            Kind::Choice(words) => {
                (format!("one of `{}`", words.join("`, `")), json!({ "enum": words }))
            }
        };
        Param {
            name: p.name.into(),
            takes,
            default: p.default.into(),
            required: false,
            doc: p.doc.into(),
            schema,
        }
    };
    let entry = |s: &&weir_fc::SchemeInfo| Entry {
        name: s.name.into(),
        title: s.title.into(),
        doc: s.summary.into(),
        reference: s.reference.into(),
        params: s.params.iter().map(param).collect(),
    };
    SCHEMES.iter().map(entry).collect()
}

/// The parameter that chooses a published parameter set, where there are several.
fn profiles(kind: CcKind) -> Option<Param> {
    let names = kind.profiles();
    Some(Param {
        name: "profile".into(),
        takes: names.join(", "),
        default: (*names.first()?).into(),
        required: false,
        doc: "A published parameter set; what is given beside it replaces its values.".into(),
        schema: json!({ "enum": names }),
    })
}

/// A parameter of an algorithm at the hosts.
fn host_param(p: weir_cc::ParamInfo) -> Param {
    Param {
        name: p.name.replace('_', "-"),
        takes: p.unit.into(),
        default: p.value,
        required: false,
        doc: p.doc.into(),
        schema: json!({ "type": ["string", "number", "boolean"] }),
    }
}

/// TCP.
pub fn tcp() -> Entry {
    Entry {
        name: "tcp".into(),
        title: "TCP".into(),
        doc: "Slow start, congestion avoidance and NewReno, with ECN or DCTCP.".into(),
        reference: "RFC 5681, RFC 6582, RFC 6298, RFC 3168, RFC 8257".into(),
        params: TcpParams::default().list().into_iter().map(host_param).collect(),
    }
}

/// All congestion control algorithms.
pub fn algorithms() -> Vec<Entry> {
    let entry = |&kind: &CcKind| Entry {
        name: kind.name().into(),
        title: kind.name().into(),
        doc: kind.summary().into(),
        reference: String::new(),
        params: profiles(kind)
            .into_iter()
            .chain(CcParams::new(kind).list().into_iter().map(host_param))
            .collect(),
    };
    CcKind::ALL.iter().map(entry).collect()
}

/// All ready-made topologies.
pub fn topologies() -> Vec<Entry> {
    let param = |p: &weir_net::build::ParamInfo| Param {
        name: p.name.into(),
        takes: match p.unit {
            "count" => "a whole number".into(),
            "rate" => "a rate such as `100Gbps`".into(),
            "time" => "a time such as `1us`".into(),
            "links" => "links such as `spine0-leaf0`".into(),
            other => other.into(),
        },
        default: p.default.into(),
        required: false,
        doc: p.doc.into(),
        schema: match p.unit {
            "count" => json!({ "type": "integer", "minimum": 0 }),
            "links" => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
            _ => quantity(),
        },
    };
    let entry = |t: &weir_net::build::TopologyInfo| Entry {
        name: t.name.into(),
        title: t.name.into(),
        doc: t.doc.into(),
        reference: String::new(),
        params: t.params.iter().map(param).collect(),
    };
    weir_net::build::catalogue().iter().map(entry).collect()
}

/// All traffic patterns.
pub fn patterns() -> Vec<Entry> {
    let param = |p: &'static weir_traffic::params::ParamDoc| {
        use weir_traffic::params::Kind;
        let takes = match p.kind {
            Kind::Choice(words) => format!("one of `{}`", words.join("`, `")),
            kind => kind.describe().to_owned(),
        };
        let single = json!({ "type": ["string", "number", "boolean"] });
        let schema = match p.kind {
            Kind::Choice(words) => json!({ "enum": words }),
            Kind::Flag => json!({ "type": "boolean" }),
            kind if kind.is_list() => json!({ "anyOf": [
                single, { "type": "array", "items": single }
            ] }),
            _ => single,
        };
        let (default, required) = match p.fallback {
            Fallback::Required => (String::new(), true),
            Fallback::Is(_) if p.name == "priority" => {
                ("the lowest lossless priority".to_owned(), false)
            }
            Fallback::Is(text) => (text.to_owned(), false),
            Fallback::Absent(what) => (format!("({what})"), false),
        };
        Param { name: shown(p.name), takes, default, required, doc: sentence(p.doc), schema }
    };
    let entry = |e: &'static weir_traffic::params::Entry| Entry {
        name: e.name.into(),
        title: e.name.into(),
        doc: e.doc.into(),
        reference: String::new(),
        params: e.params().map(param).collect(),
    };
    weir_traffic::catalogue::entries().map(entry).collect()
}

/// Text that begins with a capital letter and ends with a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let stop = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{}{}{stop}", first.to_uppercase(), chars.as_str())
}
