//! Maximum flow by Dinic's algorithm, on networks whose links carry as much in each direction.

/// A flow network.
pub(super) struct FlowNetwork {
    /// Arcs in pairs: arc `i` and its reverse `i ^ 1`.
    arcs: Vec<Arc>,
    out: Vec<Vec<u32>>,
}

struct Arc {
    to: u32,
    left: u128,
}

impl FlowNetwork {
    pub(super) fn new(nodes: usize) -> Self {
        Self { arcs: Vec::new(), out: vec![Vec::new(); nodes] }
    }

    /// Joins two nodes with this capacity forth and that capacity back.
    pub(super) fn join(&mut self, a: usize, b: usize, forth: u128, back: u128) {
        let id = self.arcs.len() as u32;
        self.arcs.push(Arc { to: b as u32, left: forth });
        self.arcs.push(Arc { to: a as u32, left: back });
        self.out[a].push(id);
        self.out[b].push(id + 1);
    }

    /// The most that can flow from `source` to `sink`. Uses up the network.
    pub(super) fn max_flow(mut self, source: usize, sink: usize) -> u128 {
        let mut total = 0;
        loop {
            let level = self.levels(source);
            if level[sink] == u32::MAX {
                return total;
            }
            let mut next = vec![0; self.out.len()];
            while let Some(flow) = self.augment(source, sink, &level, &mut next) {
                total += flow;
            }
        }
    }

    fn levels(&self, source: usize) -> Vec<u32> {
        let mut level = vec![u32::MAX; self.out.len()];
        level[source] = 0;
        let mut queue = vec![source];
        let mut next = 0;
        while let Some(&n) = queue.get(next) {
            next += 1;
            for &arc in &self.out[n] {
                let Arc { to, left } = self.arcs[arc as usize];
                if left > 0 && level[to as usize] == u32::MAX {
                    level[to as usize] = level[n] + 1;
                    queue.push(to as usize);
                }
            }
        }
        level
    }

    /// Pushes flow along one path of the level graph; `next` skips arcs found useless.
    fn augment(
        &mut self,
        source: usize,
        sink: usize,
        level: &[u32],
        next: &mut [usize],
    ) -> Option<u128> {
        let mut path: Vec<u32> = Vec::new();
        let mut at = source;
        while at != sink {
            match self.out[at].get(next[at]) {
                Some(&arc) => {
                    let Arc { to, left } = self.arcs[arc as usize];
                    if left > 0 && level[to as usize] == level[at] + 1 {
                        path.push(arc);
                        at = to as usize;
                    } else {
                        next[at] += 1;
                    }
                }
                None => {
                    let arc = path.pop()?;
                    at = self.arcs[arc as usize ^ 1].to as usize;
                    next[at] += 1;
                }
            }
        }
        let flow = path.iter().map(|&arc| self.arcs[arc as usize].left).min()?;
        for arc in path {
            self.arcs[arc as usize].left -= flow;
            self.arcs[arc as usize ^ 1].left += flow;
        }
        Some(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_cut_limits_the_flow() {
        // 0 -10- 1 -4- 3, 0 -3- 2 -9- 3, 1 -5- 2: the cut {0, 1} | {2, 3} lets 3 + 5 + 4 through
        let mut net = FlowNetwork::new(4);
        for (a, b, c) in [(0, 1, 10), (1, 3, 4), (0, 2, 3), (2, 3, 9), (1, 2, 5)] {
            net.join(a, b, c, c);
        }
        assert_eq!(net.max_flow(0, 3), 12);
    }

    #[test]
    fn flow_is_taken_back_where_that_helps() {
        // the greedy path 0-1-2-3 blocks both others; the answer is 2
        let mut net = FlowNetwork::new(4);
        for (a, b) in [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)] {
            net.join(a, b, 1, 0);
        }
        assert_eq!(net.max_flow(0, 3), 2);
    }
}
