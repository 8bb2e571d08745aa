//! Which links are the same up to a symmetry of the network.
//!
//! Routing that looks only at the shape of the network treats two links alike if some renumbering
//! of switches (an automorphism) turns one into the other. Then the failure of one leads to a
//! cycle if and only if the failure of the other does, and one of them is enough to check.
//!
//! An automorphism is found by colour refinement on two copies of the network at once: a link of
//! the one and a link of the other get a colour of their own, and every vertex is told apart by
//! the colours of its neighbours. While several vertices have the same colour, a pair of them is
//! told apart by choice. What comes out is checked link by link before it is used, so a wrong
//! choice costs time, never a wrong answer: links that no checked automorphism joins stay
//! separate.

use crate::tables::only_switch;
use std::collections::BTreeMap;
use weir_core::{LinkId, NodeId};
use weir_net::Topology;

/// Links in classes; all links of a class are the same up to a symmetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orbits {
    /// The classes, each ascending, in the order of their first links.
    pub classes: Vec<Vec<LinkId>>,
}

/// After so many failed attempts, links that are not joined yet stay separate.
const MOST_FAILURES: usize = 48;

impl Orbits {
    /// The classes of links between switches (and hosts with several links) that are neither in
    /// `down` nor in `chosen`. Symmetries leave `down` and `chosen` as they are, and each node of
    /// `marked` in its place.
    pub fn new(topo: &Topology, down: &[LinkId], chosen: &[LinkId], marked: &[NodeId]) -> Self {
        let graph = Graph::new(topo, down, chosen, marked);
        let mut joined = Joined::new(graph.len());
        let mut start = Partition::new(&graph);
        start.refine(&graph, None);
        let cells = start.cells_of_links(&graph);
        let mut failures = 0;
        for cell in &cells {
            for &link in &cell[1..] {
                if joined.find(cell[0]) == joined.find(link) || failures >= MOST_FAILURES {
                    continue;
                }
                match automorphism(&graph, &start, cell[0], link) {
                    Some(image) => {
                        for (v, &w) in image.iter().enumerate() {
                            joined.unite(v as u32, w);
                        }
                    }
                    None => failures += 1,
                }
            }
        }
        let mut classes: BTreeMap<u32, Vec<LinkId>> = BTreeMap::new();
        for v in graph.free_links() {
            classes.entry(joined.find(v)).or_default().push(graph.link(v));
        }
        let mut classes: Vec<Vec<LinkId>> = classes.into_values().collect();
        classes.iter_mut().for_each(|c| c.sort_unstable());
        classes.sort_unstable();
        Self { classes }
    }
}

/// Switches and links as vertices: a link is joined to its two ends. So parallel links are told
/// apart, and a failed link is a vertex with another colour.
struct Graph {
    /// How many vertices are nodes; links follow.
    nodes: u32,
    links: Vec<LinkId>,
    /// The ends of each link.
    ends: Vec<[u32; 2]>,
    start: Vec<u32>,
    neighbours: Vec<u32>,
    colours: Vec<u64>,
}

/// Colours of links.
const FREE: u64 = 1 << 40;
const CHOSEN: u64 = FREE + 1;

impl Graph {
    fn new(topo: &Topology, down: &[LinkId], chosen: &[LinkId], marked: &[NodeId]) -> Self {
        let mut vertex = vec![u32::MAX; topo.nodes().len()];
        let mut colours = Vec::new();
        for node in (0..topo.nodes().len()).map(NodeId::from_index) {
            if only_switch(topo, node).is_some() {
                continue;
            }
            vertex[node.index()] = colours.len() as u32;
            let own = marked.iter().position(|&m| m == node).map_or(0, |i| i as u64 + 1);
            let hosts = topo
                .ports(node)
                .iter()
                .any(|end| only_switch(topo, end.peer).is_some() && !down.contains(&end.link));
            let kind = 2 * u64::from(topo.is_host(node)) + u64::from(hosts);
            colours.push(own << 8 | (topo.node(node).layer as u64) << 4 | kind);
        }
        let nodes = colours.len() as u32;
        let (mut links, mut ends) = (Vec::new(), Vec::new());
        for (i, link) in topo.links().iter().enumerate() {
            let id = LinkId::from_index(i);
            let [a, b] = [link.a.0, link.b.0].map(|n| vertex[n.index()]);
            if a != u32::MAX && b != u32::MAX && !down.contains(&id) {
                links.push(id);
                ends.push([a, b]);
                colours.push(if chosen.contains(&id) { CHOSEN } else { FREE });
            }
        }
        let mut lists = vec![Vec::new(); colours.len()];
        for (i, ends) in ends.iter().enumerate() {
            for &end in ends {
                lists[end as usize].push(nodes + i as u32);
                lists[nodes as usize + i].push(end);
            }
        }
        let mut start = vec![0];
        let mut neighbours = Vec::new();
        for list in lists {
            neighbours.extend(list);
            start.push(neighbours.len() as u32);
        }
        Self { nodes, links, ends, start, neighbours, colours }
    }

    fn len(&self) -> usize {
        self.colours.len()
    }

    fn link(&self, v: u32) -> LinkId {
        self.links[(v - self.nodes) as usize]
    }

    fn free_links(&self) -> impl Iterator<Item = u32> + '_ {
        (self.nodes..self.len() as u32).filter(|&v| self.colours[v as usize] == FREE)
    }

    /// The neighbours of a vertex of either copy, in the same copy.
    fn neighbours(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        let n = self.len() as u32;
        let (v, copy) = if v < n { (v, 0) } else { (v - n, n) };
        let span = self.start[v as usize] as usize..self.start[v as usize + 1] as usize;
        self.neighbours[span].iter().map(move |&w| w + copy)
    }

    /// Whether renumbering vertices so leaves every link and every colour as it was.
    fn is_automorphism(&self, image: &[u32]) -> bool {
        let colours = |(v, &w): (usize, &u32)| self.colours[v] == self.colours[w as usize];
        let links = self.ends.iter().enumerate().all(|(i, ends)| {
            let other = image[self.nodes as usize + i];
            let Some(place) = other.checked_sub(self.nodes) else { return false };
            let mut to = ends.map(|end| image[end as usize]);
            let mut theirs = self.ends[place as usize];
            to.sort_unstable();
            theirs.sort_unstable();
            to == theirs
        });
        links && image.iter().enumerate().all(colours)
    }
}

/// A renumbering of the network that takes one link to another, if one is found.
fn automorphism(graph: &Graph, start: &Partition, from: u32, to: u32) -> Option<Vec<u32>> {
    let n = graph.len() as u32;
    let mut partition = start.clone();
    if !partition.tell_apart(graph, from, to + n) {
        return None;
    }
    let mut at = 0;
    while at < partition.order.len() {
        let cell = &partition.order[at..at + partition.len[at] as usize];
        if cell.len() == 2 {
            at += 2;
            continue;
        }
        let one = cell.iter().copied().filter(|&v| v < n).min()?;
        let other = cell.iter().copied().filter(|&v| v >= n);
        // to leave what can be left in its place is most often right
        let other = other.min_by_key(|&v| (v != one + n, v))?;
        if !partition.tell_apart(graph, one, other) {
            return None;
        }
    }
    let mut image = vec![0; graph.len()];
    for pair in partition.order.chunks_exact(2) {
        let (a, b) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        *image.get_mut(a as usize)? = b.checked_sub(n)?;
    }
    graph.is_automorphism(&image).then_some(image)
}

/// The vertices of both copies in cells of equal colour.
#[derive(Clone)]
struct Partition {
    order: Vec<u32>,
    place: Vec<u32>,
    /// Where the cell of each vertex begins.
    cell: Vec<u32>,
    /// How long the cell is that begins here.
    len: Vec<u32>,
}

impl Partition {
    /// By the colours of the graph.
    fn new(graph: &Graph) -> Self {
        let n = graph.len();
        let colour = |v: u32| graph.colours[v as usize % n];
        let mut order: Vec<u32> = (0..2 * n as u32).collect();
        order.sort_by_key(|&v| colour(v));
        let mut all =
            Self { place: vec![0; 2 * n], cell: vec![0; 2 * n], len: vec![0; 2 * n], order };
        let mut first = 0;
        for i in 0..2 * n {
            let v = all.order[i];
            if i > 0 && colour(all.order[i - 1]) != colour(v) {
                first = i;
            }
            all.place[v as usize] = i as u32;
            all.cell[v as usize] = first as u32;
            all.len[first] += 1;
        }
        all
    }

    /// The links of one copy that have the same colour, for every colour of free links.
    fn cells_of_links(&self, graph: &Graph) -> Vec<Vec<u32>> {
        let mut cells: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for v in graph.free_links() {
            cells.entry(self.cell[v as usize]).or_default().push(v);
        }
        cells.into_values().collect()
    }

    /// Gives two vertices of one cell, one of each copy, a cell of their own. False if the copies
    /// are not the same then.
    fn tell_apart(&mut self, graph: &Graph, one: u32, other: u32) -> bool {
        let first = self.cell[one as usize];
        if self.cell[other as usize] != first {
            return false;
        }
        let end = first + self.len[first as usize];
        self.swap(one, end - 1);
        self.swap(other, end - 2);
        self.split(first, end - 2);
        self.refine(graph, Some(end - 2))
    }

    fn swap(&mut self, v: u32, to: u32) {
        let from = self.place[v as usize];
        let w = self.order[to as usize];
        self.order.swap(from as usize, to as usize);
        self.place[v as usize] = to;
        self.place[w as usize] = from;
    }

    /// Divides the cell that begins at `first` in two, at `at`.
    fn split(&mut self, first: u32, at: u32) {
        let end = first + self.len[first as usize];
        self.len[first as usize] = at - first;
        self.len[at as usize] = end - at;
        for i in at..end {
            self.cell[self.order[i as usize] as usize] = at;
        }
    }

    /// Divides cells until all vertices of a cell have as many neighbours in each cell. Starts
    /// with all cells, or with one that is new. False if a cell has more vertices of one copy.
    fn refine(&mut self, graph: &Graph, new: Option<u32>) -> bool {
        let n = graph.len() as u32;
        let mut waits = vec![false; self.order.len()];
        let mut work: Vec<u32> = match new {
            Some(cell) => vec![cell],
            None => {
                let mut cells: Vec<u32> = self.cell.clone();
                cells.sort_unstable();
                cells.dedup();
                cells
            }
        };
        work.iter().for_each(|&cell| waits[cell as usize] = true);
        let mut count = vec![0u32; self.order.len()];
        while let Some(splitter) = work.pop() {
            waits[splitter as usize] = false;
            let members = splitter as usize..(splitter + self.len[splitter as usize]) as usize;
            let mut touched: Vec<u32> = Vec::new();
            for &v in &self.order[members] {
                for w in graph.neighbours(v) {
                    if count[w as usize] == 0 {
                        touched.push(w);
                    }
                    count[w as usize] += 1;
                }
            }
            touched.sort_unstable_by_key(|&w| (self.cell[w as usize], count[w as usize], w));
            let groups: Vec<Vec<u32>> = touched
                .chunk_by(|&a, &b| self.cell[a as usize] == self.cell[b as usize])
                .map(<[u32]>::to_vec)
                .collect();
            for group in groups {
                if !self.divide(&group, &count, n, &mut work, &mut waits) {
                    return false;
                }
            }
            touched.iter().for_each(|&w| count[w as usize] = 0);
        }
        true
    }

    /// Divides a cell by the counts of the vertices in `group`, which are sorted by them; the
    /// others count zero. False if a part has more vertices of one copy.
    fn divide(
        &mut self,
        group: &[u32],
        count: &[u32],
        n: u32,
        work: &mut Vec<u32>,
        waits: &mut [bool],
    ) -> bool {
        let first = self.cell[group[0] as usize];
        let whole = self.len[first as usize];
        let same = count[group[0] as usize] == count[group[group.len() - 1] as usize];
        if same && group.len() as u32 == whole {
            return true;
        }
        // the vertices with the highest counts go to the end of the cell
        let end = first + whole;
        for (i, &v) in group.iter().rev().enumerate() {
            self.swap(v, end - 1 - i as u32);
        }
        let mut cuts = Vec::new();
        let mut at = end - group.len() as u32;
        for part in group.chunk_by(|&a, &b| count[a as usize] == count[b as usize]) {
            if at > first {
                cuts.push(at);
            }
            at += part.len() as u32;
        }
        let mut from = first;
        for &cut in &cuts {
            self.split(from, cut);
            from = cut;
        }
        let parts: Vec<u32> = std::iter::once(first).chain(cuts).collect();
        let largest = parts.iter().copied().max_by_key(|&p| (self.len[p as usize], p));
        for &part in &parts {
            // what was to divide others as a whole is to do so in parts; otherwise all parts but
            // one tell as much as all
            let wanted = waits[first as usize] || Some(part) != largest;
            if wanted && !waits[part as usize] {
                work.push(part);
            }
        }
        for &part in &parts {
            if waits[first as usize] || Some(part) != largest {
                waits[part as usize] = true;
            }
        }
        parts.iter().all(|&part| {
            let members = part as usize..(part + self.len[part as usize]) as usize;
            let ours = self.order[members.clone()].iter().filter(|&&v| v < n).count();
            2 * ours == members.len()
        })
    }
}

/// Sets that grow together.
struct Joined(Vec<u32>);

impl Joined {
    fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    fn find(&mut self, v: u32) -> u32 {
        let mut root = v;
        while self.0[root as usize] != root {
            root = self.0[root as usize];
        }
        let mut at = v;
        while self.0[at as usize] != root {
            at = std::mem::replace(&mut self.0[at as usize], root);
        }
        root
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_net::build::{k_ary, leaf_spine, ring, torus};

    fn sizes(orbits: &Orbits) -> Vec<usize> {
        orbits.classes.iter().map(Vec::len).collect()
    }

    #[test]
    fn the_links_of_a_fat_tree_are_of_two_kinds() {
        let topo = k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap();
        // 4 pods x 2 ToRs x 2 aggs, and 4 pods x 2 aggs x 2 cores
        assert_eq!(sizes(&Orbits::new(&topo, &[], &[], &[])), [16, 16]);
    }

    #[test]
    fn what_is_chosen_divides_the_rest() {
        let topo = ring::build(&ring::Params { switches: 6, ..Default::default() }).unwrap();
        let all = Orbits::new(&topo, &[], &[], &[]);
        assert_eq!(sizes(&all), [6]);
        // without one link a ring is a line: the others are pairs at equal distance from it
        let first = all.classes[0][0];
        assert_eq!(sizes(&Orbits::new(&topo, &[], &[first], &[])), [2, 2, 1]);
        assert_eq!(sizes(&Orbits::new(&topo, &[first], &[], &[])), [2, 2, 1]);
        // a marked switch has two links of one kind, and so on around
        let sw0 = topo.node_by_name("sw0").unwrap();
        assert_eq!(sizes(&Orbits::new(&topo, &[], &[], &[sw0])), [2, 2, 2]);
    }

    #[test]
    fn a_torus_has_links_of_one_kind_or_one_for_each_side() {
        let square = torus::build(&torus::Params { x: 5, y: 5, ..Default::default() }).unwrap();
        assert_eq!(sizes(&Orbits::new(&square, &[], &[], &[])), [50]);
        let long = torus::build(&torus::Params { x: 5, y: 3, ..Default::default() }).unwrap();
        assert_eq!(sizes(&Orbits::new(&long, &[], &[], &[])), [15, 15]);
    }

    #[test]
    fn a_failed_link_breaks_the_symmetry_of_a_leaf_spine() {
        let topo = leaf_spine::build(&leaf_spine::Params::default()).unwrap();
        assert_eq!(sizes(&Orbits::new(&topo, &[], &[], &[])), [8]);
        let down = [topo.links().len() - 1].map(LinkId::from_index);
        // of 7 links: one at the leaf, three at the spine, three with neither
        assert_eq!(sizes(&Orbits::new(&topo, &down, &[], &[])), [3, 3, 1]);
    }
}
