//! Traffic that closes a cycle: as sections of a scenario, to be run on the network itself.
//!
//! For each buffer of the cycle some flows go from it to the next one, all at line rate and
//! without an end. Every link of the cycle then has the flows of two steps to carry, its buffer
//! fills with packets that wait for the next, and the pauses meet.

use crate::FlowPath;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use weir_core::NodeId;
use weir_net::Topology;

/// How hard the attempts try: flows at each step of the cycle.
pub const ATTEMPTS: [usize; 5] = [1, 2, 4, 8, 16];

/// The `[[traffic]]` and `[[path]]` sections that send so many flows at each step, or as many as
/// there are. `None` if some step has no flow whose way visits each node once.
///
/// Hosts share their rate among their flows, so hosts that send little are taken first.
pub fn traffic(topo: &Topology, steps: &[Vec<FlowPath>], flows: usize) -> Option<String> {
    let mut sent: BTreeMap<NodeId, u32> = BTreeMap::new();
    let mut text = String::new();
    let mut paths: BTreeMap<Vec<NodeId>, String> = BTreeMap::new();
    for (i, candidates) in steps.iter().enumerate() {
        let mut used: Vec<(usize, NodeId)> = Vec::new();
        for _ in 0..flows {
            let fresh = |c: usize, source: NodeId| !used.contains(&(c, source));
            let choices = candidates.iter().enumerate().flat_map(|(c, f)| {
                f.sources.iter().filter(move |&&s| fresh(c, s)).map(move |&s| (c, f, s))
            });
            let load = |source: &NodeId| sent.get(source).copied().unwrap_or(0);
            let best = choices.min_by_key(|(c, f, s)| (load(s), f.nodes.len(), *c, *s));
            let Some((c, flow, source)) = best else { break };
            used.push((c, source));
            *sent.entry(source).or_default() += 1;
            let inner = flow.nodes[1..flow.nodes.len() - 1].to_vec();
            let count = paths.len();
            let path = paths.entry(inner).or_insert_with(|| format!("way{count}"));
            let to = topo.name(flow.nodes[flow.nodes.len() - 1]);
            let from = topo.name(source);
            let _ = write!(
                text,
                "\n[[traffic]]\nkind = \"flow\"\nclass = \"step{i}\"\nfrom = \"{from}\"\n\
                 to = \"{to}\"\nsize = \"100GB\"\npath = \"{path}\"\n"
            );
        }
        if used.is_empty() {
            return None;
        }
    }
    let mut named: Vec<(&String, &Vec<NodeId>)> = paths.iter().map(|(n, p)| (p, n)).collect();
    named.sort_by_key(|(name, _)| (name.len(), *name));
    for (name, nodes) in named {
        let nodes: Vec<String> = nodes.iter().map(|&n| format!("\"{}\"", topo.name(n))).collect();
        let _ = write!(text, "\n[[path]]\nname = \"{name}\"\nnodes = [{}]\n", nodes.join(", "));
    }
    Some(text)
}
