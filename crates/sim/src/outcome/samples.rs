//! What ports did in each window of a recording: millions of rows, kept as bytes.
//!
//! A row takes about eight bytes instead of 32. To touch so much less memory is worth more time
//! than the packing costs.

use super::WindowSample;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use weir_core::{NodeId, PortId, Time};

/// The rows of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// In the order of their ids.
    nodes: Vec<NodeSamples>,
}

/// The rows of one node, by window and port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeSamples {
    node: NodeId,
    /// Of each row: how many windows after the row before, port, queue, sent, held. Seven bits per
    /// byte, the lowest first.
    bytes: Vec<u8>,
    rows: usize,
    /// The window of the last row.
    last: u32,
}

impl Samples {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.nodes.iter().map(|n| n.rows).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.iter().all(|n| n.rows == 0)
    }

    /// All rows, by window, node and port.
    pub fn iter(&self) -> impl Iterator<Item = WindowSample> {
        let rows: Vec<NodeRows<'_>> = self.nodes.iter().map(NodeSamples::iter).collect();
        let first = |(i, rows): (usize, &NodeRows<'_>)| Some(Reverse((rows.next?, i)));
        let mut later: BinaryHeap<_> = rows.iter().enumerate().filter_map(first).collect();
        let now = later.pop().map_or((0, 0), |Reverse(now)| now);
        ByWindow { rows, now, later }
    }

    /// Adds those of a node; its id is larger than those of all before.
    pub(crate) fn add(&mut self, node: NodeSamples) {
        if node.rows > 0 {
            debug_assert!(self.nodes.last().is_none_or(|last| last.node < node.node));
            self.nodes.push(node);
        }
    }

    /// Makes windows twice as long.
    pub(crate) fn coarsen(&mut self) {
        self.nodes.iter_mut().for_each(NodeSamples::coarsen);
    }
}

impl NodeSamples {
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Adds a row of this node, of the last window or a later one.
    pub(crate) fn push(&mut self, row: WindowSample) {
        debug_assert!(row.node == self.node && row.window >= self.last);
        let WindowSample { window, port, queue, sent, held, .. } = row;
        let numbers =
            [(window - self.last).into(), port.0.into(), queue.into(), sent, held.as_ps()];
        // the longest numbers of 64 bits take ten bytes
        let mut buffer = [0u8; 50];
        let mut at = 0;
        for mut number in numbers {
            while number >= 0x80 {
                buffer[at] = number as u8 | 0x80;
                at += 1;
                number >>= 7;
            }
            buffer[at] = number as u8;
            at += 1;
        }
        self.bytes.extend_from_slice(&buffer[..at]);
        self.rows += 1;
        self.last = window;
    }

    fn iter(&self) -> NodeRows<'_> {
        let mut rows = NodeRows { node: self.node, rest: &self.bytes, next: None };
        rows.step(0);
        rows
    }

    /// Two windows become one: the longest queue of two, the sum of everything else.
    pub(crate) fn coarsen(&mut self) {
        let mut rows: Vec<WindowSample> = self.iter().collect();
        rows.iter_mut().for_each(|s| s.window /= 2);
        rows.sort_by_key(|s| (s.window, s.port));
        rows.dedup_by(|next, kept| {
            let same = (next.window, next.port) == (kept.window, kept.port);
            if same {
                kept.queue = kept.queue.max(next.queue);
                kept.sent += next.sent;
                kept.held += next.held;
            }
            same
        });
        *self = Self::new(self.node);
        rows.into_iter().for_each(|row| self.push(row));
    }
}

/// The rows of a node, one after the other.
struct NodeRows<'a> {
    node: NodeId,
    /// The rest of the row whose window has been read, and the rows after it.
    rest: &'a [u8],
    /// The window of the next row.
    next: Option<u32>,
}

impl NodeRows<'_> {
    /// Reads the window of the next row.
    fn step(&mut self, last: u32) {
        self.next = (!self.rest.is_empty()).then(|| last + self.number() as u32);
    }

    #[inline]
    fn number(&mut self) -> u64 {
        // most are short
        if let [byte @ 0..0x80, rest @ ..] = self.rest {
            self.rest = rest;
            return u64::from(*byte);
        }
        let mut number = 0;
        for (i, &byte) in self.rest.iter().enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.rest = &self.rest[i + 1..];
                return number;
            }
        }
        unreachable!("rows are whole")
    }
}

impl Iterator for NodeRows<'_> {
    type Item = WindowSample;

    fn next(&mut self) -> Option<WindowSample> {
        let window = self.next?;
        let row = WindowSample {
            window,
            node: self.node,
            port: PortId(self.number() as u16),
            queue: self.number() as u32,
            sent: self.number(),
            held: Time::from_ps(self.number()),
        };
        self.step(window);
        Some(row)
    }
}

/// The rows of all nodes by window.
struct ByWindow<'a> {
    rows: Vec<NodeRows<'a>>,
    /// The present window, and the place in `rows` of the node whose rows come now.
    now: (u32, usize),
    /// The same of the next row of each other node that has one.
    later: BinaryHeap<Reverse<(u32, usize)>>,
}

impl ByWindow<'_> {
    /// Goes to the node, or window, that comes next.
    fn turn(&mut self) -> Option<()> {
        let (_, at) = self.now;
        let Some(window) = self.rows.get(at)?.next else {
            self.now = self.later.pop()?.0;
            return Some(());
        };
        self.now = (window, at);
        if let Some(mut first) = self.later.peek_mut()
            && first.0 < self.now
        {
            std::mem::swap(&mut first.0, &mut self.now);
        }
        Some(())
    }
}

impl Iterator for ByWindow<'_> {
    type Item = WindowSample;

    fn next(&mut self) -> Option<WindowSample> {
        let (window, at) = self.now;
        if self.rows.get(at)?.next != Some(window) {
            self.turn()?;
        }
        self.rows[self.now.1].next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with numbers of all lengths.
    fn row(node: u32, window: u32, port: u16) -> WindowSample {
        let mix = u64::from(node * 31 + window * 7 + u32::from(port)).wrapping_mul(0x9e37_79b9);
        WindowSample {
            window,
            node: NodeId(node),
            port: PortId(port),
            queue: (mix >> (mix % 32)) as u32,
            sent: mix.wrapping_mul(mix) >> (mix % 64),
            held: Time::from_ps(mix >> (mix % 40)),
        }
    }

    fn samples() -> (Samples, Vec<WindowSample>) {
        let mut all = Samples::default();
        let mut rows = Vec::new();
        for node in [2, 3, 900] {
            let mut own = NodeSamples::new(NodeId(node));
            for window in (0..40).filter(|w| (w + node) % 3 > 0).map(|w| w * w * 1000) {
                for port in [0, 1, 130, 20_000] {
                    own.push(row(node, window, port));
                    rows.push(row(node, window, port));
                }
            }
            all.add(own);
        }
        rows.sort_by_key(|s| (s.window, s.node, s.port));
        (all, rows)
    }

    #[test]
    fn rows_come_back_by_window_and_node() {
        let (all, rows) = samples();
        assert_eq!(all.len(), rows.len());
        assert_eq!(all.iter().collect::<Vec<_>>(), rows);
        assert!(Samples::default().is_empty() && !all.is_empty());
        let mut most = NodeSamples::new(NodeId(1));
        let largest = WindowSample {
            window: u32::MAX,
            node: NodeId(1),
            port: PortId(u16::MAX),
            queue: u32::MAX,
            sent: u64::MAX,
            held: Time::NEVER,
        };
        most.push(largest);
        assert_eq!(most.iter().collect::<Vec<_>>(), [largest]);
    }

    #[test]
    fn longer_windows_keep_sums_and_the_longest() {
        let mut own = NodeSamples::new(NodeId(1));
        for (window, queue, sent) in [(2, 5, 10), (3, 9, 1), (4, 1, 1), (9, 3, 3)] {
            let row = row(1, window, 0);
            own.push(WindowSample { queue, sent, held: Time::from_ps(1), ..row });
        }
        own.coarsen();
        let rows: Vec<_> =
            own.iter().map(|s| (s.window, s.queue, s.sent, s.held.as_ps())).collect();
        assert_eq!(rows, [(1, 9, 11, 2), (2, 1, 1, 1), (4, 3, 3, 1)]);
    }
}
