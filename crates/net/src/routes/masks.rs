//! Sets of ports as bits.

use super::graph::Graph;
use weir_core::PortId;

/// A set of ports for every row of a graph.
#[derive(Clone)]
pub(super) struct Masks {
    words: Vec<u64>,
    /// The words of row `r` are `start[r]..start[r + 1]`.
    start: Vec<u32>,
}

impl Masks {
    /// Empty sets.
    pub(super) fn new(graph: &Graph) -> Self {
        let mut start = vec![0];
        let mut words = 0;
        for row in 0..graph.len() as u32 {
            // ports are in ascending order
            let ports = graph.edges(row).last().map_or(0, |edge| edge.port.index() + 1);
            words += ports.div_ceil(64) as u32;
            start.push(words);
        }
        Self { words: vec![0; words as usize], start }
    }

    /// Empties all sets.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Empties the set of one row.
    pub(super) fn clear_row(&mut self, row: u32) {
        let (start, end) = (self.start[row as usize], self.start[row as usize + 1]);
        self.words[start as usize..end as usize].fill(0);
    }

    #[inline]
    pub(super) fn set(&mut self, row: u32, port: PortId) {
        let first = self.start[row as usize] as usize;
        self.words[first + port.index() / 64] |= 1 << (port.index() % 64);
    }

    pub(super) fn row(&self, row: u32) -> &[u64] {
        let (start, end) = (self.start[row as usize], self.start[row as usize + 1]);
        &self.words[start as usize..end as usize]
    }
}

/// The ports of a set, ascending.
pub(super) fn ports(mask: &[u64]) -> impl Iterator<Item = PortId> + '_ {
    mask.iter().enumerate().flat_map(|(i, &word)| {
        let bits = std::iter::successors(Some(word), |&w| Some(w & w.wrapping_sub(1)));
        bits.take_while(|&w| w != 0)
            .map(move |w| PortId::from_index(64 * i + w.trailing_zeros() as usize))
    })
}
