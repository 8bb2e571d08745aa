//! What ports did in each window of a recording: millions of rows, kept as bytes.
//!
//! Each port has lists of its own, and they are kept as files of recordings have them: nothing has
//! to be merged or packed when the run is over. A row takes about four bytes instead of 32.

use super::WindowSample;
use weir_core::packed::{Runs, Sparse, Varints};
use weir_core::{NodeId, PortId, Time};

/// The rows of all ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Those that have any, in the order of their nodes and ports.
    ports: Vec<PortSamples>,
}

/// The rows of one port, by window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSamples {
    /// The node.
    pub node: NodeId,
    /// The port.
    pub port: PortId,
    /// How many there are.
    pub rows: u64,
    /// Which window, from 0.
    pub windows: Runs,
    /// The most bytes that waited at the port at once.
    pub queue: Sparse,
    /// Bytes of line time of the frames that began in the window.
    pub sent: Varints,
    /// How long something was held, in picoseconds.
    pub held: Sparse,
}

/// The rows of the ports of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeSamples {
    ports: Vec<PortSamples>,
}

impl Samples {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ports.iter().map(|p| p.rows as usize).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// The ports that have any, in the order of their nodes and ports.
    pub fn ports(&self) -> &[PortSamples] {
        &self.ports
    }

    /// All rows, by node, port and window.
    pub fn iter(&self) -> impl Iterator<Item = WindowSample> {
        self.ports.iter().flat_map(PortSamples::iter)
    }

    /// Adds those of a node; its id is larger than those of all before.
    pub(crate) fn add(&mut self, node: NodeSamples) {
        let ports = node.ports.into_iter().filter(|p| p.rows > 0);
        let before = self.ports.len();
        self.ports.extend(ports);
        debug_assert!(self.ports[before.saturating_sub(1)..].is_sorted_by_key(|p| p.node));
    }

    /// Makes windows twice as long.
    pub(crate) fn coarsen(&mut self) {
        self.ports.iter_mut().for_each(PortSamples::coarsen);
    }
}

impl NodeSamples {
    pub(crate) fn new(node: NodeId, ports: usize) -> Self {
        let port = |p| PortSamples::new(node, PortId::from_index(p));
        Self { ports: (0..ports).map(port).collect() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.ports.iter().map(|p| p.rows as usize).sum()
    }

    /// The ports, to add rows to.
    pub(crate) fn ports_mut(&mut self) -> &mut [PortSamples] {
        &mut self.ports
    }

    /// Makes windows twice as long.
    pub(crate) fn coarsen(&mut self) {
        self.ports.iter_mut().for_each(PortSamples::coarsen);
    }
}

impl PortSamples {
    pub(crate) fn new(node: NodeId, port: PortId) -> Self {
        Self {
            node,
            port,
            rows: 0,
            windows: Runs::default(),
            queue: Sparse::default(),
            sent: Varints::default(),
            held: Sparse::default(),
        }
    }

    /// Adds a row, of a later window than the last: the longest queue, bytes sent, time held.
    #[inline]
    pub(crate) fn push(&mut self, window: u32, queue: u32, sent: u64, held: Time) {
        debug_assert!(self.rows == 0 || self.windows.last() < window.into());
        self.rows += 1;
        self.windows.push(window.into());
        self.queue.push(queue.into());
        self.sent.push(sent);
        self.held.push(held.as_ps());
    }

    /// All rows, by window.
    pub fn iter(&self) -> impl Iterator<Item = WindowSample> {
        let Self { node, port, .. } = *self;
        let places = self.windows.iter().zip(self.queue.iter());
        let found = self.sent.iter().zip(self.held.iter());
        places.zip(found).map(move |((window, queue), (sent, held))| WindowSample {
            window: window as u32,
            node,
            port,
            queue: queue as u32,
            sent,
            held: Time::from_ps(held),
        })
    }

    /// Its rows up to the last one whose window is `inside`.
    #[must_use]
    pub fn up_to(&self, inside: impl Fn(u64) -> bool) -> Self {
        let mut part = Self::new(self.node, self.port);
        for s in self.iter().take_while(|s| inside(s.window.into())) {
            part.push(s.window, s.queue, s.sent, s.held);
        }
        part
    }

    /// Two windows become one: the longest queue of two, the sum of everything else.
    fn coarsen(&mut self) {
        let mut merged = Self::new(self.node, self.port);
        let mut rows = self.iter().map(|s| WindowSample { window: s.window / 2, ..s }).peekable();
        while let Some(WindowSample { window, mut queue, mut sent, mut held, .. }) = rows.next() {
            while let Some(next) = rows.next_if(|next| next.window == window) {
                queue = queue.max(next.queue);
                sent += next.sent;
                held += next.held;
            }
            merged.push(window, queue, sent, held);
        }
        drop(rows);
        *self = merged;
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

    #[test]
    fn rows_come_back_by_node_port_and_window() {
        let mut all = Samples::default();
        let mut rows = Vec::new();
        for node in [2, 3, 900] {
            let mut own = NodeSamples::new(NodeId(node), 4);
            for port in [0, 1, 3] {
                for window in (0..40).filter(|w| (w + node) % 3 > 0).map(|w| w * w * 1000) {
                    let row = row(node, window, port);
                    own.ports_mut()[usize::from(port)].push(window, row.queue, row.sent, row.held);
                    rows.push(row);
                }
            }
            all.add(own);
        }
        assert_eq!((all.len(), all.ports().len()), (rows.len(), 9), "port 2 has no rows");
        assert_eq!(all.iter().collect::<Vec<_>>(), rows);
        assert!(Samples::default().is_empty() && !all.is_empty());
        let mut most = PortSamples::new(NodeId(1), PortId(u16::MAX));
        most.push(u32::MAX, u32::MAX, u64::MAX, Time::NEVER);
        let largest = WindowSample {
            window: u32::MAX,
            node: NodeId(1),
            port: PortId(u16::MAX),
            queue: u32::MAX,
            sent: u64::MAX,
            held: Time::NEVER,
        };
        assert_eq!(most.iter().collect::<Vec<_>>(), [largest]);
    }

    #[test]
    fn longer_windows_keep_sums_and_the_longest() {
        let mut own = PortSamples::new(NodeId(1), PortId(0));
        for (window, queue, sent) in [(2, 5, 10), (3, 9, 1), (4, 1, 1), (9, 3, 3)] {
            own.push(window, queue, sent, Time::from_ps(1));
        }
        own.coarsen();
        let rows: Vec<_> =
            own.iter().map(|s| (s.window, s.queue, s.sent, s.held.as_ps())).collect();
        assert_eq!(rows, [(1, 9, 11, 2), (2, 1, 1, 1), (4, 3, 3, 1)]);
        assert_eq!(own.rows, 3);
    }
}
