//! Cyclic waits. Runs in which nothing can move any more for other reasons are in
//! [`standstill`](crate::standstill).
//!
//! A queue that flow control holds waits for the neighbour's ingress to be released; that ingress
//! waits for the egress queues its packets are in, or for those that its scheme names. A queue
//! may also wait for another one of its own port. In a pipelined switch an ingress waits for the
//! packet processor, and a processor that is stopped for the full egress queues that stop it. A
//! cycle of such queues that has stood for long enough can never resolve itself: every member
//! waits for the next.

use crate::node::Node;
use crate::outcome::{Deadlock, Finish, Stuck};
use crate::standstill::{CONFIRM, Standstill};
use crate::switch::Switch;
use crate::switch::waits::StuckQueue;
use crate::world::World;
use weir_core::{Bytes, NodeId, PortId, Priority, Time};
use weir_fc::{IngressWait, PortQueue};

/// One waiting queue.
#[derive(Clone, Copy, Debug)]
struct Vertex {
    node: NodeId,
    queue: StuckQueue,
    since: Time,
}

/// Looks for cyclic waits again and again, and leaves out switches in which nothing can have
/// waited for long enough.
#[derive(Debug)]
pub(crate) struct Watch {
    /// By node: no queue of it waits since an earlier time. A wait that began before the node was
    /// looked at was seen then, and any other began later.
    none_before: Vec<Time>,
    standstill: Standstill,
}

impl Watch {
    pub(crate) fn new(world: &World<'_>) -> Self {
        let none_before = vec![Time::ZERO; world.shared.topology.nodes().len()];
        Self { none_before, standstill: Standstill::default() }
    }

    /// Looks for a cyclic wait, then for a network in which nothing moves.
    pub(crate) fn find(&mut self, world: &World<'_>) -> Option<Finish> {
        let vertices = self.stuck_since(world, world.now.checked_sub(CONFIRM)?);
        if let Some(cycle) = cycle(world, &leading_on(world, vertices)) {
            let closed = cycle.iter().filter_map(|s| s.since).max().unwrap_or(Time::ZERO);
            return Some(Finish::Deadlock(Deadlock { closed, cycle }));
        }
        self.standstill.find(world).map(Finish::Stalled)
    }

    /// Non-empty queues that have waited without a break since `latest` or before.
    fn stuck_since(&mut self, world: &World<'_>, latest: Time) -> Vec<Vertex> {
        let mut vertices = Vec::new();
        for (i, none_before) in self.none_before.iter_mut().enumerate() {
            if *none_before > latest {
                continue;
            }
            let Node::Switch(s) = world.node(NodeId::from_index(i)) else {
                // hosts need not be looked at again
                *none_before = Time::NEVER;
                continue;
            };
            *none_before = s.oldest_wait().unwrap_or(world.now).min(world.now);
            if *none_before > latest {
                continue;
            }
            s.stuck_queues(latest, |queue| {
                if let Some(since) = queue.since {
                    vertices.push(Vertex { node: s.id, queue, since });
                }
            });
        }
        vertices.sort_unstable_by_key(|v| (v.node, v.queue.at));
        vertices
    }
}

/// Leaves out queues that wait for a node where none does, and those that waited for them: no cycle
/// leads through them. Mostly that is all of them, without a look at packets.
fn leading_on(world: &World<'_>, mut vertices: Vec<Vertex>) -> Vec<Vertex> {
    loop {
        let nodes: Vec<NodeId> = vertices.iter().map(|v| v.node).collect();
        let peer = |v: &Vertex| world.shared.topology.port(v.node, v.queue.at.port).peer;
        vertices.retain(|v| v.queue.behind.is_some() || nodes.binary_search(&peer(v)).is_ok());
        if vertices.len() == nodes.len() {
            return vertices;
        }
    }
}

/// The places of a node's vertices among all, which are in the order of nodes.
fn places_of(vertices: &[Vertex], node: NodeId) -> std::ops::Range<usize> {
    let from = vertices.partition_point(|v| v.node < node);
    from..from + vertices[from..].partition_point(|v| v.node == node)
}

/// The waiting queues that vertex `v` waits for: the one of its own port that it stands behind;
/// if it is held, those of the neighbour that hold packets which came in by the link at `v`, and
/// those that the neighbour's scheme names.
fn waits_for(world: &World<'_>, vertices: &[Vertex], v: &Vertex) -> Vec<usize> {
    let is_behind = |w: &Vertex| {
        v.queue.behind.is_some_and(|queue| w.queue.at == PortQueue { queue, ..v.queue.at })
    };
    let end = world.shared.topology.port(v.node, v.queue.at.port);
    let peer = match world.node(end.peer) {
        Node::Switch(peer) if v.queue.held => Some(peer),
        _ => None,
    };
    let wait = peer.map(|p| match p.scheme.fc.waits() {
        Some(waits) => waits.ingress_waits_for(end.peer_port, v.queue.priority),
        None => IngressWait::default(),
    });
    let holds_it_up = |w: &Vertex| {
        let (Some(peer), Some(wait)) = (peer, &wait) else { return false };
        let named = wait.egresses.contains(&w.queue.at.port);
        named && w.queue.priority == v.queue.priority
            || wait.own && holds_from(world, peer, w, end.peer_port, v.queue.priority)
    };
    let own = places_of(vertices, v.node).filter(|i| is_behind(&vertices[*i]));
    let of_peer = places_of(vertices, end.peer).filter(|i| holds_it_up(&vertices[*i]));
    let mut next: Vec<usize> = own.chain(of_peer).collect();
    next.sort_unstable();
    next
}

/// Whether packets of an ingress wait for queue `w` of the same switch.
fn holds_from(
    world: &World<'_>,
    s: &Switch,
    w: &Vertex,
    ingress: PortId,
    priority: Priority,
) -> bool {
    let at = w.queue.at;
    if let Some(processor) = &s.processor {
        // packets of the ingress stand in front of the processor, which waits for a queue
        return s.books.mmu.q_in(ingress, priority) > Bytes::ZERO
            && processor.waits_for(at.port, w.queue.priority, world.now.saturating_sub(CONFIRM));
    }
    s.queued(at.port.index(), at.queue.index())
        .any(|p| p.ingress == ingress && p.priority == priority)
}

/// The first cycle of the wait-for graph, by depth-first search from the lowest vertex.
fn cycle(world: &World<'_>, vertices: &[Vertex]) -> Option<Vec<Stuck>> {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let edges: Vec<Vec<usize>> = vertices.iter().map(|v| waits_for(world, vertices, v)).collect();
    let mut state = vec![NEW; vertices.len()];
    for start in 0..vertices.len() {
        // (vertex, next edge to follow)
        let mut path: Vec<(usize, usize)> = Vec::new();
        if state[start] == NEW {
            state[start] = ON_PATH;
            path.push((start, 0));
        }
        while let Some((v, edge)) = path.last_mut() {
            let Some(&next) = edges[*v].get(*edge) else {
                state[*v] = DONE;
                path.pop();
                continue;
            };
            *edge += 1;
            match state[next] {
                NEW => {
                    state[next] = ON_PATH;
                    path.push((next, 0));
                }
                ON_PATH => {
                    let from = path.iter().position(|(v, _)| *v == next)?;
                    let members: Vec<usize> = path[from..].iter().map(|(v, _)| *v).collect();
                    return Some(describe(world, vertices, &members));
                }
                _ => {}
            }
        }
    }
    None
}

fn describe(world: &World<'_>, vertices: &[Vertex], members: &[usize]) -> Vec<Stuck> {
    let topology = world.shared.topology;
    let stuck = |i: usize| {
        let v = &vertices[members[i]];
        let next = &vertices[members[(i + 1) % members.len()]];
        let waits_for = topology.port_name(next.node, next.queue.at.port);
        let Node::Switch(switch) = world.node(v.node) else {
            unreachable!("only queues of switches are vertices")
        };
        Stuck { since: Some(v.since), ..switch.stuck(&v.queue, waits_for) }
    };
    (0..members.len()).map(stuck).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, EngineConfig, Stop};
    use crate::shared::{Prepared, Shared};
    use weir_net::Topology;
    use weir_net::build::{ofc_chain, ring};
    use weir_traffic::pattern::List;
    use weir_traffic::{Fabric, FlowSpec, Traffic};

    /// How many queues wait at `at`, however short a time, and how many of them are left for the
    /// search for a cycle. Those that have waited for longer are those of them that began earlier.
    fn waiting(topology: &Topology, flows: Vec<FlowSpec>, config: Config, at: Time) -> [usize; 2] {
        let config = Config { stop: Stop::At(at), engine: EngineConfig::Sequential, ..config };
        let rate = topology.links()[0].rate;
        let mut plan = Traffic::new(Fabric::uniform(topology.hosts(), rate).unwrap());
        plan.class("test").unwrap();
        plan.add(List { flows }).unwrap();
        let prepared = Prepared::new(topology, &config);
        let shared = Shared::new(topology, &config, &prepared).unwrap();
        let mut world = World::build(&shared, &plan).unwrap();
        let mut engine = world.engine();
        world.advance(&mut *engine, at);
        let since = |latest| Watch::new(&world).stuck_since(&world, latest);
        let (vertices, at_queue) = (since(at), |v: &Vertex| (v.node, v.queue.at));
        for latest in vertices.iter().flat_map(|v| [v.since, v.since - Time::from_ps(1)]) {
            let earlier = vertices.iter().filter(|v| v.since <= latest).map(at_queue);
            assert!(since(latest).iter().map(at_queue).eq(earlier), "since {latest}");
        }
        [vertices.len(), leading_on(&world, vertices).len()]
    }

    /// A flow of 2 MB in the lossless priority.
    fn flow(from: NodeId, to: NodeId) -> FlowSpec {
        FlowSpec { priority: Priority::ALL[3], ..FlowSpec::new(from, to, Bytes::from_kb(2000)) }
    }

    fn pfc() -> Config {
        Config::new(weir_fc::scheme("pfc").unwrap())
    }

    /// Every switch waits for the next: no queue may be left out.
    #[test]
    fn a_circle_is_searched_as_a_whole() {
        let params = ring::Params { hosts_per_switch: 2, ..ring::Params::default() };
        let topology = ring::build(&params).unwrap();
        let switches: Vec<NodeId> = topology.switches().collect();
        let (mut config, mut flows) = (pfc(), Vec::new());
        for i in 0..8u32 {
            let (at, to) = ((i / 2) as usize, NodeId((i + 4) % 8));
            let via = [0, 1, 2].map(|step| switches[(at + step) % 4]);
            config.paths.push([&[NodeId(i)], &via[..], &[to]].concat());
            flows.push(FlowSpec { path: Some(i), ..flow(NodeId(i), to) });
        }
        assert_eq!(waiting(&topology, flows, config, Time::from_ms(3)), [4, 4]);
    }

    /// A chain of switches waits for a host in the end: nothing is left to search.
    #[test]
    fn a_chain_that_ends_is_not_searched() {
        let topology = ofc_chain::build(&ofc_chain::Params::default()).unwrap();
        let flows: Vec<FlowSpec> = (0..8).map(|from| flow(NodeId(from), NodeId(9))).collect();
        let mut most = 0;
        for us in (20..400).step_by(20) {
            let [all, left] = waiting(&topology, flows.clone(), pfc(), Time::from_us(us));
            assert_eq!(left, 0, "after {us} us");
            most = most.max(all);
        }
        assert!(most > 1, "{most} queues wait for each other at most");
    }
}
