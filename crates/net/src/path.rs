//! Paths written by hand.

use crate::error::hint;
use crate::topology::Topology;
use weir_core::nearest;
use weir_core::{NodeId, PortId};

/// What is wrong with a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A path needs a source and a destination.
    #[error("a path needs at least two nodes, this one has {0}")]
    TooShort(usize),
    /// A path has to begin and end at a host.
    #[error("a path must begin and end at a host, `{0}` is a switch")]
    EndsAtSwitch(String),
    /// Hosts do not forward.
    #[error("host `{0}` is in the middle of the path: hosts do not forward")]
    ThroughHost(String),
    /// A node that comes up twice.
    #[error("the path visits `{0}` twice")]
    Revisits(String),
    /// Two consecutive nodes that are not neighbours.
    #[error("`{from}` has no link to `{to}`{}", hint(.nearest))]
    NotNeighbours {
        /// The node before the gap.
        from: String,
        /// The node after the gap.
        to: String,
        /// A neighbour of `from` with a similar name.
        nearest: Option<String>,
    },
    /// An id outside the topology.
    #[error("node id {0} does not belong to this topology")]
    UnknownId(NodeId),
}

/// Checks a path given as the nodes it visits, hosts included, and returns the egress port to
/// take at each node but the last. Where several links join two nodes, the lowest port is taken.
pub fn validate_path(
    topo: &Topology,
    nodes: &[NodeId],
) -> Result<Vec<(NodeId, PortId)>, PathError> {
    if let Some(&unknown) = nodes.iter().find(|n| n.index() >= topo.nodes().len()) {
        return Err(PathError::UnknownId(unknown));
    }
    let [first, middle @ .., last] = nodes else {
        return Err(PathError::TooShort(nodes.len()));
    };
    let name = |n: NodeId| topo.name(n).to_owned();
    if let Some(&switch) = [first, last].into_iter().find(|&&n| !topo.is_host(n)) {
        return Err(PathError::EndsAtSwitch(name(switch)));
    }
    if let Some(&host) = middle.iter().find(|&&n| topo.is_host(n)) {
        return Err(PathError::ThroughHost(name(host)));
    }
    let mut seen = nodes.to_vec();
    seen.sort_unstable();
    if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(PathError::Revisits(name(pair[0])));
    }
    let hop = |pair: &[NodeId]| {
        let (from, to) = (pair[0], pair[1]);
        topo.port_towards(from, to).map(|port| (from, port)).ok_or_else(|| {
            let neighbours = topo.ports(from).iter().map(|end| topo.name(end.peer));
            PathError::NotNeighbours {
                from: name(from),
                to: name(to),
                nearest: nearest(topo.name(to), neighbours).map(str::to_owned),
            }
        })
    };
    nodes.windows(2).map(hop).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::testing::id;
    use crate::build::{leaf_spine, ofc_chain};

    fn ports(topo: &Topology, names: &[&str]) -> Result<Vec<u16>, String> {
        let nodes: Vec<NodeId> = names.iter().map(|name| id(topo, name)).collect();
        let path = validate_path(topo, &nodes).map_err(|e| e.to_string())?;
        assert!(path.iter().zip(&nodes).all(|((at, _), node)| at == node));
        Ok(path.into_iter().map(|(_, port)| port.0).collect())
    }

    #[test]
    fn a_path_of_neighbours_becomes_ports() {
        let topo = ofc_chain::build(&ofc_chain::Params::default()).unwrap();
        // Sa: h0, h1, Sb; Sb: Sa, Sc; Sc: h2..h9, Sb
        assert_eq!(ports(&topo, &["h0", "Sa", "Sb", "Sc", "h9"]), Ok(vec![0, 2, 1, 7]));
        // a detour is no mistake
        let topo = leaf_spine::build(&leaf_spine::Params::default()).unwrap();
        let detour = ["h0", "leaf0", "spine0", "leaf1", "spine1", "leaf2", "h16"];
        assert_eq!(ports(&topo, &detour), Ok(vec![0, 8, 1, 9, 2, 0]));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let topo = ofc_chain::build(&ofc_chain::Params::default()).unwrap();
        for (names, says) in [
            (&["h0"][..], "at least two nodes, this one has 1"),
            (&[], "this one has 0"),
            (&["h0", "Sa"], "`Sa` is a switch"),
            (&["Sa", "h0"], "`Sa` is a switch"),
            (&["h0", "Sa", "Sc", "h9"], "`Sa` has no link to `Sc` (did you mean `Sb`?)"),
            (&["h0", "Sa", "h1", "Sa", "h0"], "host `h1` is in the middle"),
            (&["h0", "Sa", "Sb", "Sa", "h1"], "visits `Sa` twice"),
            (&["h0", "h0"], "visits `h0` twice"),
        ] {
            let error = ports(&topo, names).unwrap_err();
            assert!(error.contains(says), "{names:?}: {error}");
        }
        assert_eq!(validate_path(&topo, &[NodeId(99)]), Err(PathError::UnknownId(NodeId(99))));
    }
}
