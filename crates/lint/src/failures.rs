//! Sets of failed links, and which of them lead to a cycle.

use crate::{Cycle, Dependencies, Orbits, Rerouting, Tables};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use weir_core::rng::Stream;
use weir_core::{LinkId, NodeId, PortId};
use weir_net::Topology;

/// How the sets of one size were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every set.
    All,
    /// One set of each kind: the others are the same up to a symmetry of the network.
    Symmetry,
    /// A random sample.
    Sample,
}

/// Links that fail together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureSet {
    /// The links, ascending.
    pub links: Vec<LinkId>,
    /// How many ordered choices of links it stands for, itself included.
    weight: u128,
}

/// All sets of one size that are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// How many links fail.
    pub size: usize,
    /// How many sets of this size there are.
    pub total: u128,
    /// How they were chosen.
    pub method: Method,
    /// Those that are looked at.
    pub sets: Vec<FailureSet>,
}

impl Level {
    /// How many sets some of these stand for, of [`Level::total`]; in a sample, just how many they
    /// are.
    pub fn stands_for<'a>(&self, sets: impl Iterator<Item = &'a FailureSet>) -> u128 {
        let orders: u128 = (1..=self.size as u128).product();
        sets.map(|s| s.weight).sum::<u128>() / orders
    }
}

/// The network whose links fail.
#[derive(Clone, Copy, Debug)]
pub struct Fabric<'a> {
    /// The network.
    pub topo: &'a Topology,
    /// How it routes around failures.
    pub how: Rerouting,
    /// Links that have failed already.
    pub down: &'a [LinkId],
    /// Static paths, each with the ports that it takes.
    pub paths: &'a [Vec<(NodeId, PortId)>],
}

/// Steps (links x destinations, for each set) up to which all sets are looked at.
const PLAIN: u128 = 50_000_000;
/// Sets of which the links of one more are sorted into kinds.
const MOST_PARENTS: usize = 64;

impl<'a> Fabric<'a> {
    /// The links whose failures matter. A host with one link loses its paths with it; all other
    /// paths stay as they are, so that no dependency is new.
    fn candidates(&self) -> Vec<LinkId> {
        let one_link = |n: NodeId| self.topo.is_host(n) && self.topo.ports(n).len() == 1;
        let links = self.topo.links().iter().enumerate();
        let inner = links.filter(|(_, l)| !one_link(l.a.0) && !one_link(l.b.0));
        let ids = inner.map(|(i, _)| LinkId::from_index(i));
        ids.filter(|l| !self.down.contains(l)).collect()
    }

    /// Nodes that symmetries must leave in place.
    fn marked(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.paths.iter().flatten().map(|hop| hop.0).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The sets of 1 to `most_links` failed links that are looked at, at most `most_sets` of each
    /// size.
    pub fn levels(&self, most_links: usize, most_sets: usize) -> Vec<Level> {
        let links = self.candidates();
        let marked = self.marked();
        let destinations = Tables::empty(self.topo, self.down).destinations().len() as u128;
        let mut parents = vec![FailureSet { links: Vec::new(), weight: 1 }];
        let mut found = Vec::new();
        for size in 1..=most_links.min(links.len()) {
            let total = choose(links.len() as u128, size as u128);
            let plain = total.saturating_mul(destinations * links.len() as u128) <= PLAIN;
            let kinds = || self.kinds(&parents, &marked);
            let whole = parents.len() <= MOST_PARENTS && found.iter().all(is_complete);
            let reduced = (whole && !plain).then(kinds).filter(|sets| sets.len() <= most_sets);
            let (method, sets) = match reduced {
                _ if plain => (Method::All, combinations(&links, size)),
                Some(sets) => (Method::Symmetry, sets),
                None if total <= most_sets as u128 => (Method::All, combinations(&links, size)),
                None => (Method::Sample, sample(&links, size, most_sets)),
            };
            if method == Method::Symmetry || size < most_links && plain && whole {
                // the next size continues from one set of each kind
                parents = match method {
                    Method::Symmetry => sets.clone(),
                    _ => kinds(),
                };
            }
            found.push(Level { size, total, method, sets });
        }
        found
    }

    /// The same with one set of each kind, even where all sets could be looked at: what
    /// [`Fabric::levels`] does with large networks.
    pub fn levels_by_kind(&self, most_links: usize) -> Vec<Level> {
        let (links, marked) = (self.candidates(), self.marked());
        let mut parents = vec![FailureSet { links: Vec::new(), weight: 1 }];
        let sizes = 1..=most_links.min(links.len());
        let level = |size: usize| {
            parents = self.kinds(&parents, &marked);
            let total = choose(links.len() as u128, size as u128);
            Level { size, total, method: Method::Symmetry, sets: parents.clone() }
        };
        sizes.map(level).collect()
    }

    /// One set of each kind with one link more than these.
    fn kinds(&self, parents: &[FailureSet], marked: &[NodeId]) -> Vec<FailureSet> {
        let mut sets: Vec<FailureSet> = Vec::new();
        for parent in parents {
            for class in Orbits::new(self.topo, self.down, &parent.links, marked).classes {
                let mut links = parent.links.clone();
                links.push(class[0]);
                links.sort_unstable();
                let weight = parent.weight * class.len() as u128;
                match sets.iter_mut().find(|s| s.links == links) {
                    Some(known) => known.weight += weight,
                    None => sets.push(FailureSet { links, weight }),
                }
            }
        }
        sets
    }

    /// What may wait for what once more links have failed.
    pub fn dependencies(&self, failed: &[LinkId]) -> Dependencies<'a> {
        let down = [self.down, failed].concat();
        let mut graph = Dependencies::new(self.topo);
        graph.add_tables(&Tables::routed(self.topo, self.how, &down));
        let uses = |path: &[(NodeId, PortId)]| {
            path.iter().any(|&(n, p)| down.contains(&self.topo.port(n, p).link))
        };
        for path in self.paths.iter().filter(|path| !uses(path)) {
            graph.add_path(path);
        }
        graph
    }

    /// The cycles of the network with these links failed.
    pub fn cycles(&self, failed: &[LinkId]) -> Vec<Cycle> {
        self.dependencies(failed).cycles()
    }

    /// Which of these sets lead to a cycle, in their order. Uses all processors.
    pub fn cyclic<'s>(&self, sets: &'s [FailureSet]) -> Vec<&'s FailureSet> {
        let next = AtomicUsize::new(0);
        let found = Mutex::new(Vec::new());
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(set) = sets.get(at) else { break };
                if self.dependencies(&set.links).is_cyclic() {
                    found.lock().expect("no thread panics with the lock").push(at);
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(sets.len());
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let mut found = found.into_inner().expect("all threads have ended");
        found.sort_unstable();
        found.into_iter().map(|at| &sets[at]).collect()
    }
}

/// Whether the sets of a level stand for all of its size.
fn is_complete(level: &Level) -> bool {
    level.method != Method::Sample
}

/// n over k.
fn choose(n: u128, k: u128) -> u128 {
    (0..k).fold(1, |product: u128, i| product.saturating_mul(n - i) / (i + 1))
}

fn factorial(n: usize) -> u128 {
    (1..=n as u128).product()
}

/// All sets of a size.
fn combinations(links: &[LinkId], size: usize) -> Vec<FailureSet> {
    let mut found = Vec::new();
    let mut at: Vec<usize> = (0..size).collect();
    loop {
        let set = at.iter().map(|&i| links[i]).collect();
        found.push(FailureSet { links: set, weight: factorial(size) });
        // the last position that can still move on
        let Some(i) = (0..size).rev().find(|&i| at[i] < links.len() - size + i) else {
            return found;
        };
        at[i] += 1;
        for j in i + 1..size {
            at[j] = at[j - 1] + 1;
        }
    }
}

/// So many different sets of a size, always the same ones.
fn sample(links: &[LinkId], size: usize, count: usize) -> Vec<FailureSet> {
    let mut stream = Stream::new(1, "failed links", size as u64);
    let mut found = std::collections::BTreeSet::new();
    while found.len() < count {
        let mut set = std::collections::BTreeSet::new();
        while set.len() < size {
            set.insert(links[stream.below(links.len() as u64) as usize]);
        }
        found.insert(set.into_iter().collect::<Vec<_>>());
    }
    let set = |links| FailureSet { links, weight: factorial(size) };
    found.into_iter().map(set).collect()
}
