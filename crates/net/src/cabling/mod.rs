//! Cabling lists: a network as other tools write it, in CSV, DOT or GraphML.
//!
//! What is read is a list of cables. Nodes are hosts if the list says so (`type`, `kind` or `role`:
//! host, server, nic, endpoint), switches if it says anything else, and otherwise hosts if they
//! have one cable and switches if they have more.

mod dot;
mod graphml;
mod merge;
mod tables;

use crate::build::explicit::{LinkSpec, Params};
use crate::{Layer, Node, NodeKind};
use std::collections::BTreeMap;
use weir_core::{Length, Rate, Time, nearest};

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table with a line per cable; separated by commas, semicolons or tabs.
    Csv,
    /// The language of Graphviz.
    Dot,
    /// XML.
    GraphMl,
}

impl Format {
    /// By the ending of a file, or else by how the text begins.
    pub fn guess(name: &str, text: &str) -> Self {
        let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let start = text.trim_start_matches('\u{feff}').trim_start();
        match ending.as_str() {
            "csv" | "tsv" => Self::Csv,
            "dot" | "gv" => Self::Dot,
            "graphml" | "xml" => Self::GraphMl,
            _ if start.starts_with('<') => Self::GraphMl,
            _ if ["graph", "digraph", "strict"].iter().any(|w| start.starts_with(w)) => Self::Dot,
            _ => Self::Csv,
        }
    }
}

/// What is wrong with a list, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct CablingError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be valid.
    pub message: String,
}

impl CablingError {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// What cables have that do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// Speed.
    pub rate: Option<Rate>,
    /// Length.
    pub length: Option<Length>,
}

/// A network, and what was assumed about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cabling {
    /// The network.
    pub graph: Params,
    /// What was assumed, for people.
    pub notes: Vec<String>,
}

/// A cable as read.
#[derive(Clone, Debug, Default)]
struct Cable {
    line: usize,
    ends: [String; 2],
    /// The ports, where they are named.
    ports: [Option<String>; 2],
    speed: Option<String>,
    length: Option<String>,
}

/// A list as read.
#[derive(Clone, Debug, Default)]
struct List {
    /// What is said of nodes: their kind and layer.
    kinds: BTreeMap<String, String>,
    /// Whether a cable from a to b is something else than one from b to a.
    directed: bool,
    /// Nodes in the order in which they appear.
    order: Vec<String>,
    cables: Vec<Cable>,
}

impl List {
    fn node(&mut self, name: &str) {
        if !self.order.iter().any(|n| n == name) {
            self.order.push(name.to_owned());
        }
    }

    fn cable(&mut self, cable: Cable) {
        cable.ends.iter().for_each(|end| self.node(end));
        self.cables.push(cable);
    }
}

/// Names under which lists state what is needed of nodes and cables.
const SPEED: &[&str] = &["speed", "rate", "bandwidth", "bw", "capacity"];
const LENGTH: &[&str] = &["length", "cable", "cable_length", "distance", "len"];
const PORT: &[&str] = &["port", "interface", "intf", "if"];
const KIND: &[&str] = &["type", "kind", "role", "layer", "tier"];

/// The name of an attribute without what differs between tools.
fn plain(name: &str) -> String {
    let lower = name.trim().to_ascii_lowercase();
    lower.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn is(name: &str, known: &[&str]) -> bool {
    known.contains(&plain(name).as_str())
}

/// Reads a list.
pub fn read(text: &str, format: Format, defaults: Defaults) -> Result<Cabling, CablingError> {
    let mut list = match format {
        Format::Csv => tables::read(text)?,
        Format::Dot => dot::read(text)?,
        Format::GraphMl => graphml::read(text)?,
    };
    if list.cables.is_empty() {
        return Err(CablingError::new(1, "the list has no cables"));
    }
    let mut notes = merge::once(&mut list);
    notes.extend(valid_names(&mut list));
    build(&list, notes, defaults)
}

fn build(list: &List, mut notes: Vec<String>, defaults: Defaults) -> Result<Cabling, CablingError> {
    let mut degrees: BTreeMap<&str, u32> = BTreeMap::new();
    for end in list.cables.iter().flat_map(|c| &c.ends) {
        *degrees.entry(end).or_default() += 1;
    }
    let mut guessed = 0;
    let mut graph = Params::default();
    for (group, name) in list.order.iter().enumerate() {
        let degree = degrees.get(name.as_str()).copied().unwrap_or(0);
        if degree == 0 {
            notes.push(format!("{name} has no cable and is left out"));
            continue;
        }
        let stated = list.kinds.get(name).map(|kind| plain(kind));
        guessed += u32::from(stated.is_none());
        let host = stated.as_deref().map_or(degree == 1, is_host);
        let layer = if host { Layer::Host } else { layer(stated.as_deref(), name) };
        let kind = if host { NodeKind::Host } else { NodeKind::Switch };
        graph.nodes.push(Node { name: name.clone(), kind, layer, group: group as u32 });
    }
    // layers help drawings and up-down routing only where all switches have one
    let switches = || graph.nodes.iter().filter(|n| n.kind == NodeKind::Switch);
    if switches().any(|n| n.layer == Layer::Other) {
        graph.nodes.iter_mut().filter(|n| n.kind == NodeKind::Switch).for_each(|n| {
            n.layer = Layer::Other;
        });
    }
    if guessed > 0 {
        notes.push(format!(
            "{guessed} nodes have no type: those with one cable became hosts, the others switches"
        ));
    }
    let mut assumed = (0, 0);
    for cable in &list.cables {
        let fail = |message: String| CablingError::new(cable.line, message);
        let [a, b] = cable.ends.clone();
        let rate = match &cable.speed {
            Some(text) => speed(text).map_err(fail)?,
            None => {
                assumed.0 += 1;
                let missing = || fail(format!("the cable {a}-{b} has no speed: give --rate"));
                defaults.rate.ok_or_else(missing)?
            }
        };
        let length = match &cable.length {
            Some(text) => metres(text).map_err(fail)?,
            None => {
                assumed.1 += 1;
                let missing = || fail(format!("the cable {a}-{b} has no length: give --length"));
                defaults.length.ok_or_else(missing)?
            }
        };
        let delay: Time = length.delay(Length::PER_METRE);
        graph.links.push(LinkSpec { a, b, rate, delay });
    }
    for (n, what, value) in [
        (assumed.0, "speed", defaults.rate.map(|r| r.to_string())),
        (assumed.1, "length", defaults.length.map(|l| l.to_string())),
    ] {
        if let (1.., Some(value)) = (n, value) {
            notes.push(format!("{n} cables have no {what}: {value} was assumed"));
        }
    }
    Ok(Cabling { graph, notes })
}

/// Gives nodes names that a scenario accepts, and says which are others.
fn valid_names(list: &mut List) -> Vec<String> {
    let mut notes = Vec::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for name in &list.order {
        let plain = |c: char| match c.is_control() || c.is_whitespace() || ":,".contains(c) {
            true => '_',
            false => c,
        };
        let mut new: String = name.chars().take(60).map(plain).collect();
        if new == *name {
            continue;
        }
        while list.order.contains(&new) || names.values().any(|known| *known == new) {
            new.push('_');
        }
        notes.push(format!("`{name}` is called {new}"));
        names.insert(name.clone(), new);
    }
    let new = |name: &String| names.get(name).unwrap_or(name).clone();
    list.order = list.order.iter().map(new).collect();
    list.kinds = list.kinds.iter().map(|(name, kind)| (new(name), kind.clone())).collect();
    for cable in &mut list.cables {
        cable.ends = cable.ends.each_ref().map(new);
    }
    notes
}

fn is_host(kind: &str) -> bool {
    ["host", "server", "nic", "endpoint", "hca", "gpu", "node", "compute"].contains(&kind)
}

/// The layer that a type or a name speaks of.
fn layer(kind: Option<&str>, name: &str) -> Layer {
    let name = plain(name);
    let word = kind.filter(|k| *k != "switch").unwrap_or(&name);
    let words: [(&str, Layer); 8] = [
        ("leaf", Layer::Tor),
        ("tor", Layer::Tor),
        ("edge", Layer::Tor),
        ("agg", Layer::Agg),
        ("dist", Layer::Agg),
        ("super", Layer::Core),
        ("spine", Layer::Core),
        ("core", Layer::Core),
    ];
    words.iter().find(|(w, _)| word.starts_with(w)).map_or(Layer::Other, |(_, layer)| *layer)
}

/// `100G`, `100Gbps`, `100GbE`, or a number of Mb/s as switches write it.
fn speed(text: &str) -> Result<Rate, String> {
    let text = text.trim();
    if let Ok(mbps) = text.parse::<u64>() {
        // no port has less than 1000 Mb/s; smaller numbers are Gb/s
        let mbps = if mbps < 1000 { mbps * 1000 } else { mbps };
        return Ok(Rate::from_bps(mbps * 1_000_000));
    }
    let lower = text.to_ascii_lowercase();
    let number = lower.trim_end_matches("base").trim_end_matches("be").trim_end_matches("bps");
    let number = number.trim_end_matches("b/s").trim_end_matches("bit/s").trim();
    let text = match number.strip_suffix('g') {
        Some(n) => format!("{}Gbps", n.trim()),
        None => match number.strip_suffix('t') {
            Some(n) => format!("{}Tbps", n.trim()),
            None => text.to_owned(),
        },
    };
    text.parse().map_err(|e: weir_core::ParseUnitError| format!("the speed: {e}"))
}

/// `5m`, `0.5 m`, or a number of metres.
fn metres(text: &str) -> Result<Length, String> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let text = if text.parse::<f64>().is_ok() { format!("{text}m") } else { text };
    text.parse().map_err(|e: weir_core::ParseUnitError| format!("the length: {e}"))
}

/// The error for a column or attribute that is missing.
fn missing(line: usize, what: &str, there: &[String]) -> CablingError {
    let near = nearest(what, there.iter().map(String::as_str));
    let hint = near.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"));
    CablingError::new(line, format!("no column `{what}`{hint}; there are {}", there.join(", ")))
}

#[cfg(test)]
mod tests;
