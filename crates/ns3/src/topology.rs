//! The topology file: nodes, switches and links.
//!
//! ```text
//! n_nodes n_switches n_links
//! switch switch ...
//! a b rate delay error_rate        (one line per full-duplex link)
//! ```

use crate::diag::Diagnostics;
use crate::text::{Words, delay, integer, number, rate, shortened};
use std::path::Path;

/// The most nodes an address can tell apart.
pub const MAX_NODES: u32 = 65_536;

/// A full-duplex link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// One end.
    pub a: u32,
    /// The other end.
    pub b: u32,
    /// Speed in bit/s.
    pub rate: u64,
    /// Propagation delay in ns.
    pub delay: u64,
    /// Probability that a frame is lost; 0 takes the configuration's rate for all links.
    pub error_rate: f64,
}

/// A network. Nodes are numbered from 0; those that are not switches are hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// For each node, whether it is a switch.
    pub is_switch: Vec<bool>,
    /// The links, in file order: ports of a node are numbered from 1 in this order.
    pub links: Vec<Link>,
}

impl Topology {
    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.is_switch.len() as u32
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.is_switch.iter().filter(|&&switch| !switch).count()
    }

    /// Reads the text of a topology file; `path` is for messages.
    pub fn read(path: &Path, text: &str) -> Result<Self, Diagnostics> {
        let mut words = Words::new(path, text);
        let nodes: u32 = words.parse("the number of nodes", integer)?;
        if nodes > MAX_NODES {
            let help = format!("a network has at most {MAX_NODES} nodes");
            let line = Some(words.line());
            return Err(words.error(line, format!("{nodes} nodes are too many"), help));
        }
        let switches: u32 = words.parse("the number of switches", integer)?;
        let links: u32 = words.parse("the number of links", integer)?;
        let node = |text: &str| match integer::<u32>(text) {
            Ok(n) if n < nodes => Ok(n),
            _ => Err(format!("nodes are numbered from 0 to {}", i64::from(nodes) - 1)),
        };
        let mut topology = Self { is_switch: vec![false; nodes as usize], links: Vec::new() };
        for i in 0..switches {
            let what = format!("the node of switch {} of {switches}", i + 1);
            topology.is_switch[words.parse(&what, node)? as usize] = true;
        }
        for i in 0..links {
            let link = Self::read_link(&mut words, i, links, node)?;
            topology.links.push(link);
        }
        if let Some(extra) = words.next() {
            let message = format!("`{}` follows the last of {links} links", shortened(extra.text));
            let help = "the third number of the first line says how many links there are";
            return Err(words.error(Some(extra.line), message, Some(help.into())));
        }
        Ok(topology)
    }

    fn read_link(
        words: &mut Words<'_>,
        i: u32,
        links: u32,
        node: impl Fn(&str) -> Result<u32, String>,
    ) -> Result<Link, Diagnostics> {
        let what = |part: &str| format!("{part} of link {} of {links}", i + 1);
        let a = words.parse(&what("the first node"), &node)?;
        let b = words.parse(&what("the second node"), &node)?;
        if a == b {
            let message = format!("{} leads from node {a} to itself", what("this end"));
            return Err(words.error(Some(words.line()), message, None));
        }
        let rate = words.parse(&what("the rate"), |t| match rate(t)? {
            0 => Err("a link needs a rate above zero".into()),
            bps => Ok(bps),
        })?;
        let delay = words.parse(&what("the delay"), delay)?;
        let error_rate = words.parse(&what("the error rate"), number)?;
        Ok(Link { a, b, rate, delay, error_rate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Topology, String> {
        Topology::read(Path::new("topology.txt"), text).map_err(|d| d.to_string())
    }

    #[test]
    fn nodes_switches_and_links_are_read_in_order() {
        let t = read("3 1 2\n2\n0 2 100Gbps 1000ns 0.000000\n1 2 400Gbps 0.001ms 0.5\n").unwrap();
        assert_eq!(t.is_switch, [false, false, true]);
        assert_eq!(
            t.links[1],
            Link { a: 1, b: 2, rate: 400_000_000_000, delay: 1000, error_rate: 0.5 }
        );
    }

    #[test]
    fn mistakes_are_shown_with_their_line() {
        let at = |text: &str| read(text).unwrap_err();
        assert!(at("3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 5 1Gbps 1us 0").contains(":4: `5`"));
        assert!(at("3 1 2\n2\n0 2 100Gbps 1000ns 0").contains("the file ends before"));
        assert!(at("3 1 1\n2\n0 2 100Gigs 1000ns 0").contains(":3: `100Gigs` is not the rate"));
        assert!(at("3 1 1\n7\n").contains("from 0 to 2"));
        assert!(at("3 1 1\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0").contains(":4: `1` follows"));
        assert!(at("70000 0 0").contains("at most 65536"));
        assert!(at("2 0 1\n1 1 1Gbps 1us 0").contains(":2: this end of link 1 of 1 leads"));
        assert!(at("2 0 1\n0 1 0Gbps 1us 0").contains("above zero"));
    }
}
