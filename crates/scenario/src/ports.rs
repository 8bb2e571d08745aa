//! `[report] ports`: groups of switch ports that get figures of their own.
//!
//! ```toml
//! [report]
//! ports = { core = "core* -> *", receiver = "* -> h0", edge = ["leaf* -> h*", "tor* -> h*"] }
//! ```

use super::fields::At;
use crate::PortAt;
use crate::text::{Diagnostic, Diagnostics, Item, Span, Value};
use weir_core::PortId;
use weir_net::Topology;

/// Ports by the names of their node and of what they lead to; `*` stands for any text, `?` for
/// any character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortPattern {
    /// Of the switch.
    pub node: String,
    /// Of the neighbour, or the name of the port where it has one.
    pub peer: String,
    /// Where it was written.
    pub at: Span,
}

/// Some switch ports with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortGroup {
    /// How tables call them.
    pub name: At<String>,
    /// Which.
    pub patterns: Vec<PortPattern>,
}

/// More groups than this make no table that anybody reads.
const MOST: usize = 50;

const LABEL: &str = "write \"core* -> *\": the switch, and what the port leads to";

/// Reads the groups.
pub(crate) fn read(item: Option<&Item>, out: &mut Diagnostics) -> Vec<PortGroup> {
    let Some(item) = item else { return Vec::new() };
    let Value::Table(table) = &item.value else {
        let title = format!("`ports` is a table of names and patterns, not {}", item.value.what());
        out.push(Diagnostic::error(title).at(item.span, "ports = { core = \"core* -> *\" }"));
        return Vec::new();
    };
    let mut groups = Vec::new();
    for (name, at, item) in &table.0 {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(plain) {
            let title = format!("`{name}` cannot be the name of a group of ports");
            out.push(Diagnostic::error(title).at(*at, "use letters, digits, `-` and `_`"));
        }
        let patterns = patterns(item, out);
        groups.push(PortGroup { name: At { value: name.clone(), span: Some(*at) }, patterns });
    }
    if groups.len() > MOST {
        let title = format!("`ports` has {} groups", groups.len());
        out.push(Diagnostic::error(title).at(item.span, format!("at most {MOST}")));
    }
    groups
}

fn patterns(item: &Item, out: &mut Diagnostics) -> Vec<PortPattern> {
    let items = match &item.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    let mut found = Vec::new();
    for item in items {
        let Value::Text(text) = &item.value else {
            let title = format!("a group of ports is text, not {}", item.value.what());
            out.push(Diagnostic::error(title).at(item.span, LABEL));
            continue;
        };
        match text.split_once("->").map(|(node, peer)| (node.trim(), peer.trim())) {
            Some((node, peer)) if !node.is_empty() && !peer.is_empty() => {
                let (node, peer) = (node.to_owned(), peer.to_owned());
                found.push(PortPattern { node, peer, at: item.span });
            }
            _ => {
                let title = format!("`{text}` does not name ports");
                out.push(Diagnostic::error(title).at(item.span, LABEL));
            }
        }
    }
    if items.is_empty() {
        out.push(Diagnostic::error("a group of ports is empty").at(item.span, LABEL));
    }
    found
}

impl PortPattern {
    fn has(&self, topology: &Topology, at: PortAt) -> bool {
        if !matches(&self.node, topology.name(at.node)) {
            return false;
        }
        let peer = topology.name(topology.port(at.node, at.port).peer);
        matches(&self.peer, peer) || matches(&self.peer, &topology.port_name(at.node, at.port))
    }
}

impl PortGroup {
    /// The switch ports of this group, in order; a pattern without any is a mistake.
    pub(crate) fn find(&self, topology: &Topology, out: &mut Diagnostics) -> Vec<PortAt> {
        let mut found = Vec::new();
        for pattern in &self.patterns {
            let before = found.len();
            found.extend(switch_ports(topology).filter(|at| pattern.has(topology, *at)));
            if found.len() == before {
                let title = format!("no switch port is `{} -> {}`", pattern.node, pattern.peer);
                let example = switch_ports(topology).next().map(|at| {
                    let peer = topology.port(at.node, at.port).peer;
                    format!("there is `{} -> {}`", topology.name(at.node), topology.name(peer))
                });
                out.push(Diagnostic::error(title).at(pattern.at, example.unwrap_or_default()));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn switch_ports(topology: &Topology) -> impl Iterator<Item = PortAt> {
    topology.switches().flat_map(|node| {
        let ports = 0..topology.ports(node).len();
        ports.map(move |port| PortAt { node, port: PortId::from_index(port) })
    })
}

/// Whether a text is as a pattern with `*` and `?` says.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // where the last `*` stands, and how much of the text it has taken
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, t) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("core*", "core12", true),
            ("core*", "score1", false),
            ("h?", "h7", true),
            ("h?", "h12", false),
            ("*a*b", "xaxbxab", true),
            ("*a*b", "xaxbxac", false),
            ("sw0", "sw01", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }
}
