//! Graphs written out as lists of nodes and links, in a scenario or in a file of their own.
//!
//! A graph file has one statement per line; `#` begins a comment:
//!
//! ```text
//! host   h0 h1 h2              # any number of names
//! switch s0 s1 layer=tor group=0
//! rate   100Gbps               # for the links below that do not say
//! delay  1us                   # or a length of cable: length 100m
//! link   h0 s0
//! link   s0 s1 400Gbps 500ns   # or link s0 s1 400Gbps 100m
//! failed s0 s1                 # this link has failed from the start
//! port   P_d s1 h2             # a name for the port of s1 that leads to h2
//! ```

use crate::{Layer, Node, NodeKind, Topology, TopologyBuilder, TopologyError};
use std::collections::BTreeMap;
use std::str::FromStr;
use weir_core::nearest;
use weir_core::{Length, NodeId, Rate, Time};

/// A network as lists of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// Hosts and switches in the order of their ids; layers are [`Layer::Other`] if the graph has
    /// none. Layers and groups of hosts are not looked at.
    pub nodes: Vec<Node>,
    /// Links in the order of their ids; a node's ports are numbered in this order.
    pub links: Vec<LinkSpec>,
    /// Names for ports: (name, node, the neighbour the port leads to).
    pub ports: Vec<(String, String, String)>,
    /// Links that have failed from the start, by their ends; of parallel links each mention takes
    /// the next.
    pub failed: Vec<(String, String)>,
}

/// A link by the names of its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
    /// Speed.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
}

/// Builds it.
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    crate::limits::check_size(p.nodes.len() as u128, p.links.len() as u128)?;
    let mut b = TopologyBuilder::new();
    let mut ids: BTreeMap<&str, NodeId> = BTreeMap::new();
    for node in &p.nodes {
        let id = match node.kind {
            NodeKind::Host => b.add_host(&*node.name),
            NodeKind::Switch => b.add_switch(&*node.name, node.layer, node.group),
        };
        ids.insert(&node.name, id);
    }
    let find = |name: &str| {
        ids.get(name).copied().ok_or_else(|| TopologyError::UnknownNode {
            name: name.to_owned(),
            nearest: nearest(name, p.nodes.iter().map(|n| n.name.as_str())).map(str::to_owned),
        })
    };
    let mut links = BTreeMap::new();
    for link in &p.links {
        let (a, c) = (find(&link.a)?, find(&link.b)?);
        let id = b.connect(a, c, link.rate, link.delay);
        links.entry((a, c)).or_insert(id);
        links.entry((c, a)).or_insert(id);
    }
    for (name, node, towards) in &p.ports {
        let ends = (find(node)?, find(towards)?);
        let Some(&link) = links.get(&ends) else {
            let neighbours = || links.keys().filter(|(a, _)| *a == ends.0);
            let names: Vec<_> =
                neighbours().take(8).map(|(_, b)| p.nodes[b.index()].name.as_str()).collect();
            return Err(TopologyError::NoSuchLink {
                a: node.clone(),
                b: towards.clone(),
                neighbours: if names.is_empty() { "nothing".into() } else { names.join(", ") },
            });
        };
        b.alias(&**name, ends.0, link);
    }
    b.finish()?.without_links(&p.failed)
}

/// What is wrong with a graph file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct GraphError {
    /// The line, from 1.
    pub line: usize,
    /// The offending word.
    pub word: String,
    /// What is wrong with it and what would be valid.
    pub message: String,
}

/// The delay of a link as written: a time, or the length of a cable, whose metres take `per_metre`.
///
/// ```
/// use weir_core::{Length, Time};
/// use weir_net::build::explicit::cable;
/// assert_eq!(cable("1us", Length::PER_METRE), Ok(Time::from_us(1)));
/// assert_eq!(cable("100m", Length::PER_METRE), Ok(Time::from_ns(500)));
/// ```
pub fn cable(text: &str, per_metre: Time) -> Result<Time, String> {
    // units of length end in `m`, and no unit of time does
    let parsed = match text.trim().ends_with('m') {
        true => text.parse::<Length>().map(|length| length.delay(per_metre)),
        false => text.parse(),
    };
    parsed.map_err(|error| error.to_string())
}

/// Reads a graph file (see the [module](self) for the format).
pub fn read(text: &str) -> Result<Params, GraphError> {
    read_at(text, Length::PER_METRE)
}

/// [`read`] where a metre of cable takes `per_metre`.
pub fn read_at(text: &str, per_metre: Time) -> Result<Params, GraphError> {
    let mut reader = Reader { per_metre, ..Reader::default() };
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [statement, args @ ..] = words.as_slice() {
            reader.statement(statement, args).map_err(|(word, message)| GraphError {
                line: i + 1,
                word: word.to_owned(),
                message,
            })?;
        }
    }
    Ok(reader.graph)
}

#[derive(Default)]
struct Reader {
    graph: Params,
    rate: Option<Rate>,
    delay: Option<Time>,
    per_metre: Time,
}

/// The offending word and what is wrong with it.
type Complaint<'a> = (&'a str, String);

const STATEMENTS: [&str; 8] =
    ["host", "switch", "rate", "delay", "length", "link", "port", "failed"];

impl Reader {
    fn statement<'a>(&mut self, statement: &'a str, args: &[&'a str]) -> Result<(), Complaint<'a>> {
        match (statement, args) {
            ("host", [_, ..]) => self.nodes(NodeKind::Host, args),
            ("switch", [_, ..]) => self.nodes(NodeKind::Switch, args),
            ("rate", [rate]) => value(rate).map(|rate| self.rate = Some(rate)),
            ("delay", [delay]) => value(delay).map(|delay| self.delay = Some(delay)),
            ("length", [length]) => {
                let length: Length = value(length)?;
                self.delay = Some(length.delay(self.per_metre));
                Ok(())
            }
            ("failed", [a, b]) => {
                self.graph.failed.push(((*a).to_owned(), (*b).to_owned()));
                Ok(())
            }
            ("link", [a, b, rest @ ..]) if rest.len() <= 2 => self.link(a, b, rest),
            ("port", [name, node, towards]) => {
                let words = [name, node, towards].map(|word| (*word).to_owned());
                let [name, node, towards] = words;
                self.graph.ports.push((name, node, towards));
                Ok(())
            }
            _ => Err((statement, usage(statement))),
        }
    }

    fn nodes<'a>(&mut self, kind: NodeKind, args: &[&'a str]) -> Result<(), Complaint<'a>> {
        let (mut layer, mut group) = (Layer::Other, 0);
        let (options, names): (Vec<&str>, Vec<&str>) =
            args.iter().partition(|word| word.contains('='));
        for option in options {
            match option.split_once('=') {
                Some(("layer", name)) if kind == NodeKind::Switch => layer = switch_layer(name)?,
                Some(("group", number)) if kind == NodeKind::Switch => {
                    group = number.parse().map_err(|_| {
                        (number, format!("`{number}` is not a group: a group is a whole number"))
                    })?;
                }
                _ => {
                    return Err((
                        option,
                        format!("unknown option `{option}`: {}", usage("switch")),
                    ));
                }
            }
        }
        for name in names {
            self.graph.nodes.push(Node { name: name.to_owned(), kind, layer, group });
        }
        Ok(())
    }

    fn link<'a>(&mut self, a: &str, b: &'a str, rest: &[&'a str]) -> Result<(), Complaint<'a>> {
        let missing =
            |what| (b, format!("the link has no {what}, and no `{what}` line precedes it"));
        let rate = match rest.first() {
            Some(text) => value(text)?,
            None => self.rate.ok_or_else(|| missing("rate"))?,
        };
        let delay = match rest.get(1) {
            Some(text) => cable(text, self.per_metre).map_err(|error| (*text, error))?,
            None => self.delay.ok_or_else(|| missing("delay"))?,
        };
        self.graph.links.push(LinkSpec { a: a.to_owned(), b: b.to_owned(), rate, delay });
        Ok(())
    }
}

fn value<'a, T: FromStr<Err: ToString>>(text: &&'a str) -> Result<T, Complaint<'a>> {
    text.parse().map_err(|error: T::Err| (*text, error.to_string()))
}

fn switch_layer(name: &str) -> Result<Layer, Complaint<'_>> {
    let layers = [Layer::Tor, Layer::Agg, Layer::Core, Layer::Other];
    layers
        .into_iter()
        .find(|layer| layer.name() == name)
        .ok_or_else(|| (name, format!("`{name}` is not a layer: choose tor, agg, core or other")))
}

fn usage(statement: &str) -> String {
    let form = match statement {
        "host" => "host NAME...",
        "switch" => "switch NAME... [layer=tor|agg|core|other] [group=N]",
        "rate" => "rate 100Gbps",
        "delay" => "delay 1us",
        "length" => "length 100m",
        "failed" => "failed A B",
        "link" => "link A B [RATE [DELAY]]",
        "port" => "port ALIAS NODE NEIGHBOUR",
        _ => {
            let hint = crate::error::hint(&nearest(statement, STATEMENTS).map(str::to_owned));
            let valid = STATEMENTS.join(", ");
            return format!("`{statement}` is not a statement{hint}; choose one of {valid}");
        }
    };
    format!("`{statement}` is written: {form}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::testing::{id, neighbours};
    use proptest::prelude::*;

    const GRAPH: &str = "
        host   h0 h1 h2            # three hosts
        switch s0 layer=tor group=4
        switch s1
        rate   100Gbps
        delay  1us
        link   h0 s0
        link   h1 s0 25Gbps
        link   s0 s1 400Gbps 500ns
        link   h2 s1
        port   P_d s1 h2
    ";

    #[test]
    fn cables_have_lengths_and_links_may_have_failed() {
        let text = "host a b\nswitch s t\nrate 40Gbps\nlength 100m\nlink a s\nlink b t\n\
                    link s t 40Gbps 2.5m\nlink s t\nfailed t s\n";
        let topo = build(&read(text).unwrap()).unwrap();
        // 5 ns per metre; the first of the two links between s and t has failed
        let delays: Vec<Time> = topo.links().iter().map(|l| l.delay).collect();
        assert_eq!(delays, [Time::from_ns(500); 3]);
        assert_eq!(topo.missing().len(), 1);
        let slow = read_at(text, Time::from_ns(6)).unwrap();
        assert_eq!(slow.links[2].delay, Time::from_ns(15));
    }

    #[test]
    fn a_graph_file_says_all_there_is() {
        let topo = build(&read(GRAPH).unwrap()).unwrap();
        assert_eq!(neighbours(&topo, "s0"), ["h0", "h1", "s1"]);
        let rates = topo.links().iter().map(|l| (l.rate.as_bps() / 1_000_000_000, l.delay));
        let us = Time::from_us(1);
        let expected = [(100, us), (25, us), (400, Time::from_ns(500)), (100, us)];
        assert_eq!(rates.collect::<Vec<_>>(), expected);
        assert_eq!(topo.node(id(&topo, "s0")).layer, Layer::Tor);
        assert_eq!(topo.node(id(&topo, "h1")).group, 4);
        assert_eq!(topo.port_alias("P_d"), Some((id(&topo, "s1"), weir_core::PortId(1))));
    }

    #[test]
    fn a_mistake_in_a_file_is_named_with_its_line() {
        for (text, line, says) in [
            (
                "host a\nlnik a b",
                2,
                "`lnik` is not a statement (did you mean `link`?); choose one of host",
            ),
            ("host a\n\nlink a", 3, "`link` is written: link A B [RATE [DELAY]]"),
            ("length 100ms", 1, "a length takes one of mm, cm, m, km"),
            ("failed a", 1, "`failed` is written: failed A B"),
            ("link a b 4Gbps", 1, "the link has no delay, and no `delay` line precedes it"),
            ("rate 4GB", 1, "Gbps"),
            ("switch s layer=top", 1, "`top` is not a layer: choose tor, agg, core or other"),
            ("switch s group=x", 1, "`x` is not a group"),
            ("host h layer=tor", 1, "unknown option `layer=tor`"),
            ("host", 1, "`host` is written: host NAME..."),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.message.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn a_mistake_in_the_graph_is_named() {
        for (text, says) in [
            ("", "no hosts"),
            ("switch s", "no hosts"),
            ("host a", "host `a` has no link"),
            ("host a a\nlink a a 1Gbps 1ns", "linked to itself"),
            ("host a a b\nlink a b 1Gbps 1ns", "`a` is used twice"),
            ("host a b\nswitch a\nlink a b 1Gbps 1ns", "`a` is used twice"),
            ("host a b\nswitch s s\nlink a s 1Gbps 1ns\nlink b s 1Gbps 1ns", "`s` is used twice"),
            ("host a b\nlink a b 1Gbps 1ns\nfailed a c", "no node `c`"),
            ("host a b\nlink a bb 1Gbps 1ns", "no node `bb` (did you mean `b`?)"),
            ("host a b\nlink a b 0Gbps 1ns", "the rate of link a-b is 0 b/s: it must be at least"),
            ("host a b\nlink a b 99kbps 1ns", "is 99 kb/s: it must be at least 100 kb/s"),
            ("host a b\nlink a b 101Tbps 1ns", "at most 100 Tb/s"),
            ("host a b\nlink a b 1Gbps 1.1s", "at most 1 s"),
            ("host a b:c\nlink a b:c 1Gbps 1ns", "`b:c` cannot be a name"),
            ("host a b c\nlink a b 1Gbps 1ns\nlink c b 1Gbps 1ns\nport P a c", "no link a-c"),
            ("host a b\nlink a b 1Gbps 1ns\nport P a b\nport P b a", "`P` is used twice"),
        ] {
            let error = read(text).map(|graph| build(&graph)).unwrap().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn a_node_may_not_have_more_ports_than_there_are_numbers() {
        let mut text = String::from("host a b\nrate 1Gbps\ndelay 1ns\n");
        text += &"link a b\n".repeat(65_535);
        assert!(build(&read(&text).unwrap()).is_ok());
        text += "link a b\n";
        let error = build(&read(&text).unwrap()).unwrap_err().to_string();
        assert!(error.contains("`a` has more than 65535 ports"), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(
            text in "((host|switch|link|port|rate|delay|length|failed|h|s|9m|=|1us|4Gbps|#|\\PC)\
                     [ \\n]){0,30}",
        ) {
            if let Ok(graph) = read(&text) {
                let _ = build(&graph);
            }
        }
    }
}
