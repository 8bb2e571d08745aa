//! The way each flow takes: the ECMP choice of the original, without running anything.

use crate::Inputs;
use crate::hash::{FlowKey, address};
use crate::routes::{Ports, Routes};
use std::collections::BTreeMap;

/// The nodes that the data packets of every flow pass, from sender to receiver, in the order of
/// the flow file; `None` where there is no way, or a host that has several ports chooses among
/// them.
pub fn paths(inputs: &Inputs) -> Vec<Option<Vec<u32>>> {
    let ports = Ports::new(&inputs.topology);
    let pairs = inputs.flows.iter().map(|f| (f.src, f.dst));
    let routes = Routes::new(&inputs.topology, &ports, inputs.config.payload, pairs, |_| true);
    let mut used: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    let way = |f: &crate::Flow| {
        let next = used.entry((f.src, f.dst)).or_insert(10_000);
        let key = FlowKey::new(address(f.src), address(f.dst), *next, f.dport);
        *next = next.wrapping_add(1);
        follow(&routes, &ports, (f.src, f.dst), key)
    };
    inputs.flows.iter().map(way).collect()
}

fn follow(routes: &Routes, ports: &Ports, ends: (u32, u32), key: FlowKey) -> Option<Vec<u32>> {
    let (src, dst) = ends;
    let neighbour = |port: u32| ports.ends[ports.ends[port as usize].peer as usize].node;
    let mut own = ports.of(src);
    let (first, None) = (own.next()?, own.next()) else { return None };
    let mut nodes = vec![src, neighbour(first)];
    // No shortest path is longer than the number of nodes.
    while nodes.len() <= ports.first.len() {
        let at = *nodes.last()?;
        if at == dst {
            return Some(nodes);
        }
        let hops = routes.next_hops_to(routes.chooser(at)?, routes.destination(dst));
        let chosen = match hops {
            [] => return None,
            several => several[(key.hash(at) % several.len() as u32) as usize],
        };
        nodes.push(neighbour(chosen));
    }
    None
}
