//! Circles in a directed graph: strongly connected components by Tarjan's algorithm.

/// A directed graph in compact form.
#[derive(Clone, Debug)]
pub struct Digraph {
    start: Vec<u32>,
    heads: Vec<u32>,
}

impl Digraph {
    /// From edges that are sorted and free of duplicates.
    pub fn new(vertices: usize, edges: &[(u32, u32)]) -> Self {
        let mut start = vec![0; vertices + 1];
        for &(tail, _) in edges {
            start[tail as usize + 1] += 1;
        }
        for i in 0..vertices {
            start[i + 1] += start[i];
        }
        Self { start, heads: edges.iter().map(|e| e.1).collect() }
    }

    fn heads(&self, v: u32) -> &[u32] {
        &self.heads[self.start[v as usize] as usize..self.start[v as usize + 1] as usize]
    }

    fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// The components that contain a circle, each sorted, in the order of their least vertex.
    /// (Iterative: the recursion would be as deep as the longest path.)
    pub fn circles(&self) -> Vec<Vec<u32>> {
        let mut state = Tarjan {
            order: vec![UNSEEN; self.len()],
            low: vec![0; self.len()],
            on_stack: vec![false; self.len()],
            stack: Vec::new(),
            next: 0,
            found: Vec::new(),
        };
        let mut calls: Vec<(u32, usize)> = Vec::new();
        for root in 0..self.len() as u32 {
            if state.order[root as usize] != UNSEEN {
                continue;
            }
            state.enter(root);
            calls.push((root, 0));
            while let Some((v, i)) = calls.last_mut() {
                let v = *v;
                match self.heads(v).get(*i) {
                    Some(&head) => {
                        *i += 1;
                        if state.order[head as usize] == UNSEEN {
                            state.enter(head);
                            calls.push((head, 0));
                        } else if state.on_stack[head as usize] {
                            state.lower(v, state.order[head as usize]);
                        }
                    }
                    None => {
                        calls.pop();
                        if let Some(&(parent, _)) = calls.last() {
                            state.lower(parent, state.low[v as usize]);
                        }
                        state.leave(v);
                    }
                }
            }
        }
        state.found.retain(|c| c.len() > 1 || self.heads(c[0]).contains(&c[0]));
        state.found.iter_mut().for_each(|c| c.sort_unstable());
        state.found.sort_unstable();
        state.found
    }

    /// A shortest circle through `v`, beginning there; `within` is the component it lies in.
    pub fn shortest_circle(&self, v: u32, within: &[u32]) -> Option<Vec<u32>> {
        let mut parent = vec![UNSEEN; within.len()];
        let position = |u: u32| within.binary_search(&u).ok();
        let mut queue = vec![v];
        let mut next = 0;
        while let Some(&u) = queue.get(next) {
            next += 1;
            for &head in self.heads(u) {
                if head == v {
                    let mut circle = vec![u];
                    while circle[circle.len() - 1] != v {
                        circle.push(parent[position(circle[circle.len() - 1])?]);
                    }
                    circle.reverse();
                    return Some(circle);
                }
                if let Some(i) = position(head).filter(|&i| parent[i] == UNSEEN) {
                    parent[i] = u;
                    queue.push(head);
                }
            }
        }
        None
    }
}

const UNSEEN: u32 = u32::MAX;

struct Tarjan {
    order: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    next: u32,
    found: Vec<Vec<u32>>,
}

impl Tarjan {
    fn enter(&mut self, v: u32) {
        self.order[v as usize] = self.next;
        self.low[v as usize] = self.next;
        self.next += 1;
        self.on_stack[v as usize] = true;
        self.stack.push(v);
    }

    fn lower(&mut self, v: u32, to: u32) {
        self.low[v as usize] = self.low[v as usize].min(to);
    }

    /// Cuts off the component that `v` is the first vertex of, if it is.
    fn leave(&mut self, v: u32) {
        if self.low[v as usize] != self.order[v as usize] {
            return;
        }
        let mut component = Vec::new();
        while let Some(u) = self.stack.pop() {
            self.on_stack[u as usize] = false;
            component.push(u);
            if u == v {
                break;
            }
        }
        self.found.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(n: usize, edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut edges = edges.to_vec();
        edges.sort_unstable();
        Digraph::new(n, &edges).circles()
    }

    #[test]
    fn a_line_has_no_circle() {
        assert!(circles(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]).is_empty());
    }

    #[test]
    fn separate_circles_are_found_apart_and_joined_ones_together() {
        let two = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2)];
        assert_eq!(circles(6, &two), [vec![0, 1], vec![2, 3, 4]]);
        let joined = [(0, 1), (1, 0), (1, 2), (2, 1)];
        assert_eq!(circles(3, &joined), [vec![0, 1, 2]]);
        assert_eq!(circles(2, &[(1, 1)]), [vec![1]]);
    }

    #[test]
    fn the_shortest_circle_is_chosen() {
        // 0-1-2-3-0 with a chord 2-0
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)];
        let g = Digraph::new(4, &edges);
        assert_eq!(g.shortest_circle(0, &[0, 1, 2, 3]), Some(vec![0, 1, 2]));
        assert_eq!(g.shortest_circle(3, &[0, 1, 2, 3]), Some(vec![3, 0, 1, 2]));
    }

    #[test]
    fn a_circle_of_a_million_does_not_overflow_the_stack() {
        let n = 1_000_000;
        let edges: Vec<_> = (0..n).map(|i| (i, (i + 1) % n)).collect();
        assert_eq!(circles(n as usize, &edges)[0].len(), n as usize);
    }
}
