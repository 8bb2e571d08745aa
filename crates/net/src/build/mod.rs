//! Ready-made topologies, one file each.
//!
//! # Adding a topology
//!
//! Write one file like this and name it twice below: in the list of modules and in
//! [`TOPOLOGIES`]. Scenario files, help texts, checks and error messages pick it up from there.
//!
//! ```text
//! use super::params::{check_count, check_rate};
//! use crate::limits::check_size;
//! use crate::{Layer, Topology, TopologyBuilder, TopologyError};
//! use weir_core::{Rate, Time};
//!
//! topology! {
//!     name: "pair",
//!     doc: "Two switches with hosts, joined by a link.",
//!     /// Hosts on each switch.
//!     hosts_per_switch: u32 = "4",           // becomes `hosts-per-switch` in files
//!     /// Speed of every link.
//!     rate: Rate = "100Gbps",
//!     /// Propagation delay of every link.
//!     delay: Time = "1us",
//! }
//!
//! pub fn build(p: &Params) -> Result<Topology, TopologyError> {
//!     check_count("hosts-per-switch", p.hosts_per_switch, 1..=1000)?;   // what is possible
//!     check_rate("rate", p.rate)?;
//!     let hosts = u128::from(p.hosts_per_switch) * 2;
//!     check_size(hosts + 2, hosts + 1)?;                     // before anything is allocated
//!     let mut b = TopologyBuilder::new();
//!     let hosts = b.add_hosts(hosts as u32);                 // hosts first: h7 is node 7
//!     let switches = [0, 1].map(|i| b.add_switch(format!("sw{i}"), Layer::Tor, i));
//!     for (i, &host) in hosts.iter().enumerate() {           // then links, from the bottom up
//!         b.connect(host, switches[i / p.hosts_per_switch as usize], p.rate, p.delay);
//!     }
//!     b.connect(switches[0], switches[1], p.rate, p.delay);
//!     b.finish()
//! }
//! ```
//!
//! Tests below this module build every entry with its defaults and with absurd values; beside
//! the builder belongs a test of its counts, degrees and path lengths.

#[macro_use]
mod params;

pub mod dragonfly;
pub mod dumbbell;
pub mod explicit;
pub mod fat_tree;
pub mod flowsail_1024;
pub mod k_ary;
pub mod leaf_spine;
pub mod ofc_256;
pub mod ofc_chain;
pub mod rail;
pub mod ring;
pub mod star;
pub mod torus;

use crate::error::TopologyError;
use crate::topology::Topology;
use weir_core::nearest;
use weir_core::param::Param;
use weir_core::registry::{Named, Registry};

/// What there is to know about a ready-made topology.
#[derive(Clone, Copy, Debug)]
pub struct TopologyInfo {
    /// The name used in scenario files.
    pub name: &'static str,
    /// What it looks like, in a sentence or two.
    pub doc: &'static str,
    /// Its parameters, in the order of the `Params` struct.
    pub params: &'static [Param],
    /// Builds it from parameters as text; what is not given keeps its default, and of two
    /// values for one parameter the later counts.
    pub build: BuildFn,
}

/// Builds a topology from parameters as text.
pub type BuildFn = fn(&[(&str, &str)]) -> Result<Topology, TopologyError>;

/// Every ready-made topology; a program can add its own. ([`explicit`] graphs are lists and have no
/// entry.)
pub static TOPOLOGIES: Registry<TopologyInfo> = Registry::new(&[
    &star::INFO,
    &dumbbell::INFO,
    &ofc_chain::INFO,
    &ring::INFO,
    &leaf_spine::INFO,
    &fat_tree::INFO,
    &k_ary::INFO,
    &flowsail_1024::INFO,
    &ofc_256::INFO,
    &torus::INFO,
    &rail::INFO,
    &dragonfly::INFO,
]);

impl Named for TopologyInfo {
    fn name(&self) -> &str {
        self.name
    }
}

/// The entry of the catalogue with this name (`_` and `-` are the same), or an error with the
/// nearest one.
pub fn find(name: &str) -> Result<&'static TopologyInfo, TopologyError> {
    let wanted = name.replace('_', "-");
    TOPOLOGIES.find(&wanted).ok_or_else(|| {
        let names = || TOPOLOGIES.iter().map(|info| info.name);
        TopologyError::UnknownTopology {
            name: name.to_owned(),
            nearest: nearest(name, names()).map(str::to_owned),
            valid: names().collect::<Vec<_>>().join(", "),
        }
    })
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of all builders look at.

    use crate::{Routes, Topology};
    use weir_core::NodeId;

    /// Node by name; panics with the name.
    pub(crate) fn id(topo: &Topology, name: &str) -> NodeId {
        topo.node_by_name(name).unwrap_or_else(|| panic!("no node {name}"))
    }

    /// Names of the neighbours of a node in the order of its ports.
    pub(crate) fn neighbours<'a>(topo: &'a Topology, name: &str) -> Vec<&'a str> {
        topo.ports(id(topo, name)).iter().map(|end| topo.name(end.peer)).collect()
    }

    /// Number of nodes whose name is the prefix and a number, each with this many ports.
    pub(crate) fn with_degree(topo: &Topology, prefix: &str, ports: usize) -> usize {
        let named =
            |name: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.parse::<u32>().is_ok());
        let nodes = topo.nodes().iter().enumerate();
        nodes
            .filter(|(i, n)| named(&n.name) && topo.ports(NodeId::from_index(*i)).len() == ports)
            .count()
    }

    /// Number of links on the way between two hosts.
    pub(crate) fn hops(topo: &Topology, routes: &Routes, src: &str, dst: &str) -> Option<usize> {
        routes.path(topo, id(topo, src), id(topo, dst), 1).map(|path| path.len())
    }

    /// Both ends of every link and every port agree with each other.
    pub(crate) fn is_consistent(topo: &Topology) -> bool {
        let ends_match = topo.links().iter().enumerate().all(|(i, link)| {
            [(link.a, link.b), (link.b, link.a)].into_iter().all(|(near, far)| {
                let end = topo.port(near.0, near.1);
                end.link.index() == i && (end.peer, end.peer_port) == far
            })
        });
        ends_match && topo.port_count() == 2 * topo.links().len()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::is_consistent;
    use super::*;
    use proptest::prelude::*;
    use weir_core::param::Kind;

    #[test]
    fn every_topology_builds_with_its_listed_defaults() {
        for info in TOPOLOGIES.iter() {
            let defaults: Vec<_> = info.params.iter().map(|p| (p.name, p.default())).collect();
            let listed = (info.build)(&defaults).unwrap_or_else(|e| panic!("{}: {e}", info.name));
            assert_eq!(Ok(&listed), (info.build)(&[]).as_ref(), "{}", info.name);
            assert!(is_consistent(&listed), "{}", info.name);
            assert!(!info.doc.is_empty() && info.params.iter().all(|p| !p.doc.is_empty()));
        }
    }

    #[test]
    fn names_in_the_catalogue_are_unique_and_written_with_dashes() {
        for (i, info) in TOPOLOGIES.iter().enumerate() {
            assert!(TOPOLOGIES[..i].iter().all(|other| other.name != info.name));
            let words = info.params.iter().map(|p| p.name).chain([info.name]);
            assert!(words.into_iter().all(|w| !w.contains('_')), "{}", info.name);
        }
        assert_eq!(find("ofc_chain").unwrap().name, "ofc-chain");
    }

    #[test]
    fn parameters_are_read_and_the_last_one_counts() {
        let build = find("leaf-spine").unwrap().build;
        let args = [("hosts-per-leaf", "3"), ("leaves", "2"), ("hosts_per_leaf", "5")];
        assert_eq!(build(&args).unwrap().hosts().len(), 10);
    }

    #[test]
    fn a_wrong_name_or_value_is_answered_with_what_is_valid() {
        let message = |name: &str, args: &[(&str, &str)]| {
            find(name).and_then(|info| (info.build)(args)).unwrap_err().to_string()
        };
        for (name, args, says) in [
            ("fat-tre", [("", "")], "did you mean `fat-tree`?"),
            ("star", [("host", "4")], "no parameter `host` (did you mean `hosts`?); it has hosts,"),
            ("star", [("hosts", "four")], "`hosts`: `four` is not a whole number"),
            ("star", [("hosts", "0")], "`hosts` is 0: it must be 1 to 65535"),
            ("star", [("rate", "0Gbps")], "`rate` is 0 b/s: it must be at least 100 kb/s"),
            ("star", [("rate", "99kbps")], "`rate` is 99 kb/s: it must be at least 100 kb/s"),
            ("star", [("rate", "fast")], "100Gbps"),
            ("star", [("delay", "2s")], "the delay of link h0-sw0 is 2 s: it must be at most 1 s"),
            ("ring", [("switches", "2")], "`switches` is 2: it must be at least 3"),
            (
                "fat-tree",
                [("cores", "6")],
                "`cores` is 6: it must be a multiple of aggs-per-pod (4)",
            ),
            ("k-ary", [("k", "5")], "`k` is 5: it must be an even number from 2 to 128"),
            ("leaf-spine", [("failed", "spine0")], "written like spine0-leaf0"),
            ("leaf-spine", [("failed", "spine0-leef0")], "`leef0` (did you mean `leaf0`?)"),
            (
                "leaf-spine",
                [("failed", "leaf1-leaf0")],
                "no link leaf1-leaf0; `leaf1` is linked to h8",
            ),
            ("leaf-spine", [("failed", "h0-leaf0")], "host `h0` has no link"),
        ] {
            let text = message(name, &args);
            assert!(text.contains(says), "{name} {args:?}: {text}");
        }
    }

    proptest! {
        /// Whatever the parameters, the answer is a consistent topology or an error.
        #[test]
        fn no_parameters_make_a_builder_panic(
            which in any::<prop::sample::Index>(),
            counts in prop::collection::vec(
                prop::sample::select(
                    vec!["0", "1", "2", "3", "4", "6", "70000", "4294967295", "x"]
                ),
                12,
            ),
            rate in prop::sample::select(vec!["0bps", "1bps", "40Gbps", "18446744Tbps", "fast"]),
            delay in prop::sample::select(vec!["0", "20ns", "18446744s", ""]),
            failed in prop::sample::select(
                vec!["", "sw0-sw1", "tor0-agg0 tor0-agg0", "h0-sw0", "-"]
            ),
        ) {
            let info = which.get(&TOPOLOGIES);
            let args: Vec<_> = info.params.iter().zip(&counts).map(|(param, count)| {
                (param.name, match param.kind {
                    Kind::Rate => rate,
                    Kind::Time(_) => delay,
                    Kind::Links => failed,
                    _ => count,
                })
            }).collect();
            if let Ok(topo) = (info.build)(&args) {
                prop_assert!(is_consistent(&topo));
            }
        }
    }

    /// Sizes that would exhaust the memory are refused before anything is allocated.
    #[test]
    fn huge_sizes_are_refused_at_once() {
        let most = u32::MAX.to_string();
        for info in TOPOLOGIES.iter() {
            for param in info.params.iter().filter(|p| p.kind == Kind::COUNT_32) {
                let error = (info.build)(&[(param.name, &most)]).unwrap_err().to_string();
                let says_why = error.contains("at most") || error.contains(param.name);
                assert!(says_why, "{} {}: {error}", info.name, param.name);
            }
        }
        // 3000 x 3000 switches with a host each: the nodes and links alone are too many
        let torus = find("torus").unwrap().build;
        assert!(torus(&[("x", "3000"), ("y", "3000")]).is_err());
        // 200 x 200 switches fit, but each would need a route to 40 000 others
        let error = torus(&[("x", "200"), ("y", "200")]).unwrap_err().to_string();
        assert!(error.contains("1600000000 routing table entries"), "{error}");
    }
}
