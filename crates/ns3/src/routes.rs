//! Shortest paths, next hops in the reference's order, and what it derives from them: base
//! round-trip times and bandwidth-delay products.
//!
//! For every destination host a breadth-first search runs over switches. Neighbours are taken in
//! descending node number, and a node's next hops are listed in the order in which its
//! predecessors leave the search's queue; this order decides which of them an ECMP hash means.

use crate::topology::Topology;
use std::collections::{BTreeMap, VecDeque};

/// A port, numbered over the whole network.
pub type PortIndex = u32;

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortEnd {
    /// The node it belongs to.
    pub node: u32,
    /// The port at the other end.
    pub peer: PortIndex,
    /// The link.
    pub link: u32,
}

/// The ports of a network: those of node n are `first[n]..first[n + 1]`.
#[derive(Clone, Debug)]
pub struct Ports {
    /// Where each node's ports begin; one entry more than there are nodes.
    pub first: Vec<PortIndex>,
    /// All ports.
    pub ends: Vec<PortEnd>,
}

impl Ports {
    /// Numbers the ports of `topology`: by node, then in the order of links in the file.
    pub fn new(topology: &Topology) -> Self {
        let mut first = vec![0; topology.is_switch.len() + 1];
        for l in &topology.links {
            first[l.a as usize + 1] += 1;
            first[l.b as usize + 1] += 1;
        }
        for n in 1..first.len() {
            first[n] += first[n - 1];
        }
        let mut next = first.clone();
        let mut ends = vec![PortEnd { node: 0, peer: 0, link: 0 }; 2 * topology.links.len()];
        for (i, l) in topology.links.iter().enumerate() {
            let (a, b) = (next[l.a as usize], next[l.b as usize]);
            next[l.a as usize] += 1;
            next[l.b as usize] += 1;
            ends[a as usize] = PortEnd { node: l.a, peer: b, link: i as u32 };
            ends[b as usize] = PortEnd { node: l.b, peer: a, link: i as u32 };
        }
        Self { first, ends }
    }

    /// The ports of a node.
    pub fn of(&self, node: u32) -> std::ops::Range<PortIndex> {
        self.first[node as usize]..self.first[node as usize + 1]
    }

    /// A port's number at its node as the files write it, from 1.
    pub fn interface(&self, port: PortIndex) -> u32 {
        port - self.first[self.ends[port as usize].node as usize] + 1
    }
}

/// What the first path found between two hosts looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Twice the propagation delay plus one full payload's time per hop, in ns.
    pub rtt: u64,
    /// The slowest link, in bit/s.
    pub bandwidth: u64,
    /// `rtt * bandwidth` in bytes.
    pub bdp: u64,
}

/// Next hops, and what the paths of a set of host pairs look like.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Destinations that occur, numbered densely.
    destination: Vec<u32>,
    /// Nodes that choose between ports (all but hosts with one port), numbered densely.
    chooser: Vec<u32>,
    destinations: usize,
    /// For chooser c and destination d: the span of `hops` at `c * destinations + d`.
    spans: Vec<(u32, u16)>,
    hops: Vec<PortIndex>,
    /// By (destination, source).
    pairs: BTreeMap<(u32, u32), Option<Pair>>,
    /// The largest round-trip time between any two hosts, in ns.
    pub max_rtt: u64,
    /// The largest bandwidth-delay product between any two hosts, in bytes.
    pub max_bdp: u64,
}

const ABSENT: u32 = u32::MAX;

/// Numbers the items for which `is_in` holds: their numbers by index, and how many there are.
fn number(count: usize, is_in: impl Fn(usize) -> bool) -> (Vec<u32>, usize) {
    let mut next = 0;
    let numbers = (0..count)
        .map(|i| {
            if !is_in(i) {
                return ABSENT;
            }
            next += 1;
            next - 1
        })
        .collect();
    (numbers, next as usize)
}

/// A neighbour as the search sees it: with parallel links, the one that comes last in the file.
#[derive(Clone, Copy)]
struct Neighbour {
    node: u32,
    /// The port at the neighbour that leads back.
    back: PortIndex,
    link: u32,
}

impl Routes {
    /// Routes over the links for which `up` holds, for packets between these pairs of hosts (in
    /// both directions); `payload` enters the round-trip times.
    pub fn new(
        topology: &Topology,
        ports: &Ports,
        payload: u32,
        pairs: impl IntoIterator<Item = (u32, u32)>,
        up: impl Fn(u32) -> bool,
    ) -> Self {
        let nodes = topology.is_switch.len();
        let mut used = vec![false; nodes];
        let pairs: BTreeMap<_, _> = pairs
            .into_iter()
            .map(|(src, dst)| {
                used[src as usize] = true;
                used[dst as usize] = true;
                ((dst, src), None)
            })
            .collect();
        let (destination, destinations) = number(nodes, |n| used[n]);
        let (chooser, choosers) =
            number(nodes, |n| topology.is_switch[n] || ports.of(n as u32).len() > 1);
        let mut routes = Self {
            destination,
            chooser,
            destinations,
            spans: vec![(0, 0); choosers * destinations],
            hops: Vec::new(),
            pairs,
            max_rtt: 0,
            max_bdp: 0,
        };
        let neighbours = neighbours(topology, ports, up);
        let mut search = Search::new(nodes, payload);
        for dst in (0..nodes as u32).filter(|&n| !topology.is_switch[n as usize]) {
            search.run(topology, &neighbours, dst);
            routes.take(&search, topology, dst);
        }
        routes
    }

    fn take(&mut self, search: &Search, topology: &Topology, dst: u32) {
        let d = self.destination[dst as usize];
        for &node in &search.touched {
            let n = node as usize;
            if d != ABSENT && self.chooser[n] != ABSENT {
                let span = self.chooser[n] as usize * self.destinations + d as usize;
                self.spans[span] = (self.hops.len() as u32, search.hops[n].len() as u16);
                self.hops.extend_from_slice(&search.hops[n]);
            }
            if topology.is_switch[n] || node == dst {
                continue;
            }
            let reached = &search.reached[n];
            let rtt = 2 * reached.delay + reached.transmission;
            let bits = rtt.wrapping_mul(reached.bandwidth) / 1_000_000_000;
            let pair = Pair { rtt, bandwidth: reached.bandwidth, bdp: bits / 8 };
            self.max_rtt = self.max_rtt.max(pair.rtt);
            self.max_bdp = self.max_bdp.max(pair.bdp);
            if let Some(known) = self.pairs.get_mut(&(dst, node)) {
                *known = Some(pair);
            }
        }
    }

    /// The number under which packets to host `dst` are routed, for
    /// [`next_hops_to`](Self::next_hops_to). `dst` must be one of the pairs' hosts.
    pub fn destination(&self, dst: u32) -> u32 {
        self.destination[dst as usize]
    }

    /// The number under which `node` is known, for [`next_hops_to`](Self::next_hops_to); hosts
    /// with a single port have none.
    pub fn chooser(&self, node: u32) -> Option<u32> {
        Some(self.chooser[node as usize]).filter(|&c| c != ABSENT)
    }

    /// The ports by which a chooser reaches a destination, in hash order.
    #[inline]
    pub fn next_hops_to(&self, chooser: u32, destination: u32) -> &[PortIndex] {
        let (start, len) = self.spans[chooser as usize * self.destinations + destination as usize];
        &self.hops[start as usize..start as usize + usize::from(len)]
    }

    /// Takes over the next hops of `new` and the bandwidths of paths that still exist; times stay.
    pub fn replace_next_hops(&mut self, new: Self) {
        self.spans = new.spans;
        self.hops = new.hops;
        for (old, new) in self.pairs.values_mut().zip(new.pairs.into_values()) {
            if let (Some(old), Some(new)) = (old, new) {
                old.bandwidth = new.bandwidth;
            }
        }
    }

    /// What the path from `src` to `dst` looks like; `None` when there is none, or the pair was
    /// not asked for.
    pub fn pair(&self, src: u32, dst: u32) -> Option<Pair> {
        self.pairs.get(&(dst, src)).copied().flatten()
    }
}

/// Each node's neighbours in descending order.
fn neighbours(
    topology: &Topology,
    ports: &Ports,
    up: impl Fn(u32) -> bool,
) -> Vec<Vec<(Neighbour, u64, u64)>> {
    let mut all = Vec::with_capacity(topology.is_switch.len());
    for n in 0..topology.nodes() {
        let mut list: Vec<(Neighbour, u64, u64)> = Vec::new();
        for port in ports.of(n) {
            let end = ports.ends[port as usize];
            let node = ports.ends[end.peer as usize].node;
            let link = topology.links[end.link as usize];
            let entry = (Neighbour { node, back: end.peer, link: end.link }, link.delay, link.rate);
            match list.iter_mut().find(|(other, ..)| other.node == node) {
                Some(earlier) => *earlier = entry,
                None => list.push(entry),
            }
        }
        list.retain(|(other, ..)| up(other.link));
        list.sort_by_key(|(other, ..)| std::cmp::Reverse(other.node));
        all.push(list);
    }
    all
}

const UNSEEN: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Reached {
    distance: u32,
    delay: u64,
    transmission: u64,
    bandwidth: u64,
}

/// One breadth-first search, its memory used again for the next.
struct Search {
    payload: u64,
    reached: Vec<Reached>,
    hops: Vec<Vec<PortIndex>>,
    /// Nodes reached, in order.
    touched: Vec<u32>,
    queue: VecDeque<u32>,
}

impl Search {
    fn new(nodes: usize, payload: u32) -> Self {
        let unseen = Reached { distance: UNSEEN, delay: 0, transmission: 0, bandwidth: u64::MAX };
        Self {
            payload: u64::from(payload),
            reached: vec![unseen; nodes],
            hops: vec![Vec::new(); nodes],
            touched: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    fn run(&mut self, topology: &Topology, neighbours: &[Vec<(Neighbour, u64, u64)>], dst: u32) {
        for node in self.touched.drain(..) {
            self.reached[node as usize].distance = UNSEEN;
            self.hops[node as usize].clear();
        }
        self.touched.push(dst);
        self.reached[dst as usize] =
            Reached { distance: 0, delay: 0, transmission: 0, bandwidth: u64::MAX };
        self.queue.push_back(dst);
        while let Some(now) = self.queue.pop_front() {
            let here = self.reached[now as usize];
            for &(next, delay, rate) in &neighbours[now as usize] {
                let n = next.node as usize;
                if self.reached[n].distance == UNSEEN {
                    self.touched.push(next.node);
                    self.reached[n] = Reached {
                        distance: here.distance + 1,
                        delay: here.delay + delay,
                        transmission: here.transmission + self.payload * 8_000_000_000 / rate,
                        bandwidth: here.bandwidth.min(rate),
                    };
                    // Packets do not pass through hosts.
                    if topology.is_switch[n] {
                        self.queue.push_back(next.node);
                    }
                }
                if self.reached[n].distance == here.distance + 1 {
                    self.hops[n].push(next.back);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Link;

    fn network(is_switch: Vec<bool>, links: &[(u32, u32, u64)]) -> (Topology, Ports) {
        let links = links
            .iter()
            .map(|&(a, b, gbps)| Link {
                a,
                b,
                rate: gbps * 1_000_000_000,
                delay: 1000,
                error_rate: 0.0,
            })
            .collect();
        let topology = Topology { is_switch, links };
        let ports = Ports::new(&topology);
        (topology, ports)
    }

    fn routes(t: &Topology, p: &Ports) -> Routes {
        Routes::new(t, p, 1000, [(0, 1), (0, 2)].into_iter().take(t.hosts() - 1), |_| true)
    }

    fn next_hops(r: &Routes, node: u32, dst: u32) -> &[u32] {
        r.next_hops_to(r.chooser(node).unwrap(), r.destination(dst))
    }

    #[test]
    fn a_star_has_the_documented_rtt_and_bdp() {
        let (t, p) = network(vec![false, false, true], &[(0, 2, 100), (1, 2, 100)]);
        let r = routes(&t, &p);
        assert_eq!((r.max_rtt, r.max_bdp), (4160, 52_000));
        assert_eq!(r.pair(0, 1).unwrap().bandwidth, 100_000_000_000);
    }

    #[test]
    fn next_hops_come_in_descending_order_of_switches() {
        // hosts 0, 1; leaves 2, 3; spines 4, 5, 6
        let mut links = vec![(0, 2, 100), (1, 3, 100)];
        links.extend([4, 5, 6].map(|s| (2, s, 400)));
        links.extend([4, 5, 6].map(|s| (3, s, 400)));
        let (t, p) = network(vec![false, false, true, true, true, true, true], &links);
        let r = routes(&t, &p);
        let next: Vec<_> = next_hops(&r, 2, 1)
            .iter()
            .map(|&port| p.ends[p.ends[port as usize].peer as usize].node)
            .collect();
        assert_eq!(next, [6, 5, 4]);
        // 8 us of propagation, 2 * 80 + 2 * 20 ns of transmission
        assert_eq!((r.max_rtt, r.max_bdp), (8200, 102_500));
    }

    #[test]
    fn of_parallel_links_the_last_is_used() {
        let (t, p) = network(vec![false, false, true], &[(0, 2, 100), (0, 2, 25), (1, 2, 100)]);
        let r = routes(&t, &p);
        assert_eq!(next_hops(&r, 0, 1), [p.of(0).start + 1]);
        assert_eq!(r.pair(0, 1).unwrap().bandwidth, 25_000_000_000);
    }

    #[test]
    fn hosts_do_not_forward_and_cut_links_do_not_count() {
        // 0 - 1 - 2, all hosts: 0 cannot reach 2
        let (t, p) = network(vec![false; 3], &[(0, 1, 100), (1, 2, 100)]);
        assert_eq!(routes(&t, &p).pair(0, 2), None);
        let (t, p) = network(vec![false, false, true], &[(0, 2, 100), (1, 2, 100)]);
        let cut = Routes::new(&t, &p, 1000, [(0, 1)], |link| link != 1);
        assert_eq!(cut.pair(0, 1), None);
        assert!(next_hops(&cut, 2, 1).is_empty());
        assert_eq!(cut.chooser(0), None, "hosts with one port do not choose");
    }

    #[test]
    fn ports_are_numbered_in_the_order_of_links() {
        let (_, p) = network(vec![false, false, true], &[(0, 2, 100), (1, 2, 100)]);
        assert_eq!(p.of(2), 2..4);
        assert_eq!(p.interface(3), 2);
        assert_eq!(p.ends[3], PortEnd { node: 2, peer: 1, link: 1 });
    }
}
