//! Everything that scenarios choose from by name, in one form: schemes, algorithms, topologies
//! and traffic patterns with their parameters. Listings, the schema and the reference in the
//! book are made from it.

use crate::keys::{self, Section};
use crate::traffic::shown;
use serde::Serialize;
use weir_cc::CcKind;
use weir_cc::tcp::TcpParams;
use weir_core::param::{Fallback, Kind};
use weir_fc::SCHEMES;

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
    /// The same for programs.
    #[serde(skip)]
    pub kind: Kind,
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

/// A parameter from the table of its owner.
fn param(p: &weir_core::param::Param) -> Param {
    let (default, required) = match p.fallback {
        Fallback::Required => (String::new(), true),
        Fallback::Is(text) => (text.to_owned(), false),
        Fallback::Absent("" | "derived") => (String::new(), false),
        Fallback::Absent(what) => (format!("({what})"), false),
    };
    Param {
        name: p.name.into(),
        takes: p.kind.describe(),
        default,
        required,
        doc: sentence(p.doc),
        kind: p.kind,
    }
}

/// What a section takes besides its own keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    /// Nothing.
    Nothing,
    /// Parameters of its kind of topology.
    Topologies,
    /// Parameters of its kind of traffic.
    Patterns,
    /// Parameters of TCP.
    Tcp,
    /// Parameters of its scheme.
    Schemes,
    /// Parameters of its congestion control.
    Algorithms,
    /// Any parameter of its scheme, and any section with some of its keys.
    Anything,
}

/// What this section takes besides its own keys.
pub(crate) fn more(section: &Section) -> More {
    let all = [
        (keys::TOPOLOGY, More::Topologies),
        (keys::TRAFFIC, More::Patterns),
        (keys::TCP, More::Tcp),
        (keys::FLOW_CONTROL, More::Schemes),
        (keys::CONGESTION_CONTROL, More::Algorithms),
        (keys::VARIANT, More::Anything),
    ];
    let own = all.into_iter().find(|(known, _)| known.name == section.name);
    own.map_or(More::Nothing, |(_, more)| more)
}

/// All flow control schemes.
pub fn schemes() -> Vec<Entry> {
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
    let doc = "A published parameter set; parameters given here replace its values.";
    let profile = weir_core::param::Param::new("profile", Kind::Choice(names), names.first()?, doc);
    Some(param(&profile))
}

/// TCP.
pub fn tcp() -> Entry {
    Entry {
        name: "tcp".into(),
        title: "TCP".into(),
        doc: "Slow start, congestion avoidance and NewReno, with ECN or DCTCP.".into(),
        reference: "RFC 5681, RFC 6582, RFC 6298, RFC 3168, RFC 8257".into(),
        params: TcpParams::PARAMS.iter().map(param).collect(),
    }
}

/// All congestion control algorithms.
pub fn algorithms() -> Vec<Entry> {
    let entry = |kind: CcKind| Entry {
        name: kind.name().into(),
        title: kind.name().into(),
        doc: kind.summary().into(),
        reference: String::new(),
        params: profiles(kind).into_iter().chain(kind.params().iter().map(param)).collect(),
    };
    CcKind::all().map(entry).collect()
}

/// All ready-made topologies.
pub fn topologies() -> Vec<Entry> {
    let entry = |t: &weir_net::build::TopologyInfo| Entry {
        name: t.name.into(),
        title: t.name.into(),
        doc: t.doc.into(),
        reference: String::new(),
        params: t.params.iter().map(param).chain(t.params.iter().filter_map(length)).collect(),
    };
    weir_net::build::TOPOLOGIES.iter().copied().map(entry).collect()
}

/// The length of a cable that can be given instead of a delay.
fn length(delay: &weir_core::param::Param) -> Option<Param> {
    let doc = format!("Length of these cables, instead of `{}`.", delay.name);
    let (name, kind) = (crate::length_key(delay.name)?, Kind::Length);
    let takes = kind.describe();
    Some(Param { name, takes, default: String::new(), required: false, doc, kind })
}

/// All traffic patterns.
pub fn patterns() -> Vec<Entry> {
    let param = |p: &'static weir_core::param::Param| {
        let default = match p.name {
            "priority" => "the lowest lossless priority".to_owned(),
            _ => param(p).default,
        };
        Param { name: shown(p.name), default, ..param(p) }
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
