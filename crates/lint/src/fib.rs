//! Dumped forwarding tables: the check of what a network does, not of what it was designed to do.
//!
//! A directory holds one file per switch, called like the switch (with any ending). Each line says
//! where packets to one destination go:
//!
//! ```text
//! # leaf0.fib
//! h9      spine0 spine1     # a host, and the neighbours that packets to it may go to
//! leaf1   spine0            # a switch: all hosts on it that have no line of their own
//! default p8 p9             # all other hosts; p8 is port 8 of this switch, counted from 0
//! ```

use crate::Tables;
use crate::tables::only_switch;
use std::collections::BTreeMap;
use weir_core::{LinkId, NodeId, PortId, nearest};
use weir_net::Topology;

/// What is wrong with a dump, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FibError {
    /// A file whose name is no switch.
    #[error("{file}: there is no switch `{name}`{}", hint(.nearest))]
    NoSwitch {
        /// The file.
        file: String,
        /// Its name without ending.
        name: String,
        /// A switch with a similar name.
        nearest: Option<String>,
    },
    /// A line that cannot be read.
    #[error("{file}:{line}: {message}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it, and what would be valid.
        message: String,
    },
    /// Switches without a table.
    #[error("no table for {}: a dump has one file per switch, called like it", .0.join(", "))]
    Missing(Vec<String>),
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"))
}

/// What is odd about tables, besides cycles of buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Destinations that packets never reach because they go in circles: the destination and the
    /// switches of the circle.
    pub loops: Vec<(String, Vec<String>)>,
    /// Switches that packets reach and that have no entry for their destination.
    pub black_holes: Vec<(String, String)>,
}

/// Reads the tables of all switches, given as (name of the file, text).
pub fn read(topo: &Topology, files: &[(String, String)]) -> Result<Tables, FibError> {
    let mut tables = Tables::by_host(topo);
    let mut missing: Vec<NodeId> = topo.switches().collect();
    for (file, text) in files {
        let base = file.rsplit('/').next().unwrap_or(file);
        let name = base.rsplit_once('.').map_or(base, |(name, _)| name);
        let switch = [base, name].into_iter().find_map(|n| topo.node_by_name(n));
        let Some(switch) = switch.filter(|&n| !topo.is_host(n)) else {
            let names = topo.switches().map(|n| topo.name(n));
            let nearest = nearest(name, names).map(str::to_owned);
            return Err(FibError::NoSwitch { file: file.clone(), name: name.to_owned(), nearest });
        };
        missing.retain(|&n| n != switch);
        let entries = read_file(topo, switch, text).map_err(|(line, message)| FibError::Line {
            file: file.clone(),
            line,
            message,
        })?;
        for d in 0..tables.destinations.len() {
            let host = tables.destinations[d].hosts[0];
            let at = only_switch(topo, host).map(|(switch, _)| switch);
            let keys = [Some(Some(host)), at.map(Some), Some(None)];
            let ports = keys.into_iter().flatten().find_map(|key| entries.get(&key));
            if let Some(ports) = ports.filter(|_| at != Some(switch)) {
                let set = tables.set(ports);
                tables.put(switch, d, set);
            }
        }
    }
    match missing.is_empty() {
        true => Ok(tables),
        false => Err(FibError::Missing(missing.iter().map(|&n| topo.name(n).into()).collect())),
    }
}

/// The ports towards each node that has a line; `None` is `default`.
type Entries = BTreeMap<Option<NodeId>, Vec<PortId>>;

fn read_file(topo: &Topology, switch: NodeId, text: &str) -> Result<Entries, (usize, String)> {
    let mut entries = Entries::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> =
            line.split([' ', '\t', ',', ';']).filter(|w| !w.is_empty()).collect();
        let [destination, hops @ ..] = words.as_slice() else { continue };
        let wrong = |message: String| (i + 1, message);
        let key = match *destination {
            "default" => None,
            name => Some(topo.find(name).map_err(|e| wrong(e.to_string()))?),
        };
        if hops.is_empty() {
            let text =
                format!("`{destination}` has no next hop: write neighbours or ports behind it");
            return Err(wrong(text));
        }
        let mut ports = Vec::new();
        for hop in hops {
            ports.extend(next_hop(topo, switch, hop).map_err(wrong)?);
        }
        ports.sort_unstable();
        ports.dedup();
        if entries.insert(key, ports).is_some() {
            return Err(wrong(format!("`{destination}` has a line already")));
        }
    }
    Ok(entries)
}

/// A neighbour (all links to it) or a port.
fn next_hop(topo: &Topology, switch: NodeId, word: &str) -> Result<Vec<PortId>, String> {
    let links = topo.ports(switch);
    let to = |node: NodeId| -> Vec<PortId> {
        let ports = links.iter().enumerate().filter(|(_, end)| end.peer == node);
        ports.map(|(i, _)| PortId::from_index(i)).collect()
    };
    if let Some(found) = topo.node_by_name(word).map(to).filter(|ports| !ports.is_empty()) {
        return Ok(found);
    }
    match word.strip_prefix('p').and_then(|n| n.parse::<usize>().ok()) {
        Some(n) if n < links.len() => Ok(vec![PortId::from_index(n)]),
        Some(_) => Err(format!(
            "`{}` has no port {word}: it has p0 to p{}",
            topo.name(switch),
            links.len() - 1
        )),
        None => {
            let names = || links.iter().map(|end| topo.name(end.peer));
            let near = hint(&nearest(word, names()).map(str::to_owned));
            Err(format!("`{word}` is no neighbour of `{}`{near}", topo.name(switch)))
        }
    }
}

/// Packets that go in circles, and switches that do not know where they should go.
pub fn oddities(topo: &Topology, tables: &Tables, down: &[LinkId]) -> Oddities {
    let mut odd = Oddities::default();
    for d in 0..tables.destinations.len() {
        let target = tables.destinations[d].at;
        let host = tables.destinations[d].hosts[0];
        let home = only_switch(topo, host).map_or(target, |(switch, _)| switch);
        let mut state = vec![0u8; topo.nodes().len()];
        for start in topo.switches().filter(|&n| n != home) {
            if state[start.index()] == 0 {
                visit(topo, tables, (d, home, start), &mut state, &mut odd, down);
            }
        }
    }
    odd.black_holes.sort();
    odd.black_holes.dedup();
    odd
}

/// Follows packets from one switch on, depth first.
fn visit(
    topo: &Topology,
    tables: &Tables,
    (d, home, start): (usize, NodeId, NodeId),
    state: &mut [u8],
    odd: &mut Oddities,
    down: &[LinkId],
) {
    let host = topo.name(tables.destinations[d].hosts[0]);
    let mut stack = vec![(start, 0)];
    state[start.index()] = 1;
    while let Some((node, i)) = stack.last_mut() {
        let node = *node;
        let ports = tables.ports(node, d);
        if ports.is_empty() && *i == 0 {
            odd.black_holes.push((topo.name(node).to_owned(), host.to_owned()));
        }
        let Some(&port) = ports.get(*i) else {
            state[node.index()] = 2;
            stack.pop();
            continue;
        };
        *i += 1;
        let end = topo.port(node, port);
        if topo.is_host(end.peer) || end.peer == home || down.contains(&end.link) {
            continue;
        }
        match state[end.peer.index()] {
            0 => {
                state[end.peer.index()] = 1;
                stack.push((end.peer, 0));
            }
            1 => {
                let from = stack.iter().position(|(n, _)| *n == end.peer).unwrap_or(0);
                let circle = stack[from..].iter().map(|(n, _)| topo.name(*n).to_owned());
                odd.loops.push((host.to_owned(), circle.collect()));
            }
            _ => {}
        }
    }
}

impl Tables {
    /// Tables without entries in which every host is a destination of its own.
    fn by_host(topo: &Topology) -> Self {
        let mut tables = Self::empty(topo, &[]);
        tables.divide();
        tables
    }
}
