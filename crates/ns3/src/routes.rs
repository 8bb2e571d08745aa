//! Shortest paths, next hops in the reference's order, and what it derives from them: base
//! round-trip times and bandwidth-delay products.
//!
//! For every destination host a breadth-first search runs over switches. Neighbours are taken in
//! descending node number, and a node's next hops are listed in the order in which its
//! predecessors leave the search's queue; this order decides which of them an ECMP hash means.

use crate::topology::Topology;
use std::collections::VecDeque;

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

/// Next hops and pairs of the whole network.
#[derive(Clone, Debug)]
pub struct Routes {
    nodes: usize,
    hosts: usize,
    /// Hosts, numbered densely.
    host_index: Vec<u32>,
    /// For node n and host h: the span of `hops` at `n * hosts + h`.
    spans: Vec<(u32, u16)>,
    hops: Vec<PortIndex>,
    pairs: Vec<Option<Pair>>,
    /// The largest round-trip time between hosts, in ns.
    pub max_rtt: u64,
    /// The largest bandwidth-delay product between hosts, in bytes.
    pub max_bdp: u64,
}

const NOT_A_HOST: u32 = u32::MAX;

/// A neighbour as the search sees it: with parallel links, the one that comes last in the file.
#[derive(Clone, Copy)]
struct Neighbour {
    node: u32,
    /// The port at the neighbour that leads back.
    back: PortIndex,
    link: u32,
}

impl Routes {
    /// Routes over the links for which `up` holds; `payload` enters the round-trip times.
    pub fn new(topology: &Topology, ports: &Ports, payload: u32, up: impl Fn(u32) -> bool) -> Self {
        let nodes = topology.is_switch.len();
        let mut hosts = 0;
        let host_index: Vec<u32> = topology
            .is_switch
            .iter()
            .map(|&switch| {
                hosts += u32::from(!switch);
                if switch { NOT_A_HOST } else { hosts - 1 }
            })
            .collect();
        let hosts = hosts as usize;
        let mut routes = Self {
            nodes,
            hosts,
            host_index,
            spans: vec![(0, 0); nodes * hosts],
            hops: Vec::new(),
            pairs: vec![None; hosts * hosts],
            max_rtt: 0,
            max_bdp: 0,
        };
        let neighbours = neighbours(topology, ports, up);
        let mut search = Search::new(nodes, payload);
        for dst in (0..nodes as u32).filter(|&n| !topology.is_switch[n as usize]) {
            search.run(topology, &neighbours, dst);
            routes.take(&search, dst);
        }
        routes
    }

    fn take(&mut self, search: &Search, dst: u32) {
        let hosts = self.hosts;
        let h = self.host_index[dst as usize] as usize;
        for n in 0..self.nodes {
            let hops = &search.hops[n];
            self.spans[n * hosts + h] = (self.hops.len() as u32, hops.len() as u16);
            self.hops.extend_from_slice(hops);
            let src = self.host_index[n];
            let reached = &search.reached[n];
            if src == NOT_A_HOST || reached.distance == UNSEEN || n == dst as usize {
                continue;
            }
            let rtt = 2 * reached.delay + reached.transmission;
            let bits = rtt.wrapping_mul(reached.bandwidth) / 1_000_000_000;
            let pair = Pair { rtt, bandwidth: reached.bandwidth, bdp: bits / 8 };
            self.pairs[src as usize * hosts + h] = Some(pair);
            self.max_rtt = self.max_rtt.max(pair.rtt);
            self.max_bdp = self.max_bdp.max(pair.bdp);
        }
    }

    /// The ports by which `node` reaches host `dst`, in hash order.
    #[inline]
    pub fn next_hops(&self, node: u32, dst: u32) -> &[PortIndex] {
        let h = self.host_index[dst as usize] as usize;
        let (start, len) = self.spans[node as usize * self.hosts + h];
        &self.hops[start as usize..start as usize + usize::from(len)]
    }

    /// Takes over the next hops of `new` and the bandwidths of paths that still exist; times stay.
    pub fn replace_next_hops(&mut self, new: Self) {
        self.spans = new.spans;
        self.hops = new.hops;
        for (old, new) in self.pairs.iter_mut().zip(new.pairs) {
            if let (Some(old), Some(new)) = (old, new) {
                old.bandwidth = new.bandwidth;
            }
        }
    }

    /// What the path from `src` to `dst` looks like; `None` when there is none.
    pub fn pair(&self, src: u32, dst: u32) -> Option<Pair> {
        let (s, d) = (self.host_index[src as usize], self.host_index[dst as usize]);
        self.pairs[s as usize * self.hosts + d as usize]
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
    queue: VecDeque<u32>,
}

impl Search {
    fn new(nodes: usize, payload: u32) -> Self {
        let unseen = Reached { distance: UNSEEN, delay: 0, transmission: 0, bandwidth: u64::MAX };
        Self {
            payload: u64::from(payload),
            reached: vec![unseen; nodes],
            hops: vec![Vec::new(); nodes],
            queue: VecDeque::new(),
        }
    }

    fn run(&mut self, topology: &Topology, neighbours: &[Vec<(Neighbour, u64, u64)>], dst: u32) {
        for (reached, hops) in self.reached.iter_mut().zip(&mut self.hops) {
            reached.distance = UNSEEN;
            hops.clear();
        }
        self.reached[dst as usize] =
            Reached { distance: 0, delay: 0, transmission: 0, bandwidth: u64::MAX };
        self.queue.push_back(dst);
        while let Some(now) = self.queue.pop_front() {
            let here = self.reached[now as usize];
            for &(next, delay, rate) in &neighbours[now as usize] {
                let n = next.node as usize;
                if self.reached[n].distance == UNSEEN {
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
        Routes::new(t, p, 1000, |_| true)
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
        let next: Vec<_> = r
            .next_hops(2, 1)
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
        assert_eq!(r.next_hops(0, 1), [p.of(0).start + 1]);
        assert_eq!(r.pair(0, 1).unwrap().bandwidth, 25_000_000_000);
    }

    #[test]
    fn hosts_do_not_forward_and_cut_links_do_not_count() {
        // 0 - 1 - 2, all hosts: 0 cannot reach 2
        let (t, p) = network(vec![false; 3], &[(0, 1, 100), (1, 2, 100)]);
        assert_eq!(routes(&t, &p).pair(0, 2), None);
        let (t, p) = network(vec![false, false, true], &[(0, 2, 100), (1, 2, 100)]);
        let cut = Routes::new(&t, &p, 1000, |link| link != 1);
        assert_eq!(cut.pair(0, 1), None);
        assert!(cut.next_hops(2, 1).is_empty());
    }

    #[test]
    fn ports_are_numbered_in_the_order_of_links() {
        let (_, p) = network(vec![false, false, true], &[(0, 2, 100), (1, 2, 100)]);
        assert_eq!(p.of(2), 2..4);
        assert_eq!(p.interface(3), 2);
        assert_eq!(p.ends[3], PortEnd { node: 2, peer: 1, link: 1 });
    }
}
