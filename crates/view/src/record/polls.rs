//! What a monitoring system would have seen of the run: the counters of switches, read at equal
//! distances in time.
//!
//! A switch counts the PAUSE frames that a port has sent and received and keeps the longest queue
//! since it was last asked. Who reads these every 200 ms knows neither when pauses began nor how
//! long they lasted: the truth stands beside it.

use crate::timeline::{Kind, Timeline, TimelineTable};
use std::collections::BTreeMap;
use weir_core::Time;
use weir_sim::outcome::PortSamples;

/// How often switches are asked unless something else is wanted.
pub const POLL: Time = Time::from_ms(200);

/// What is known of a port between two polls.
#[derive(Clone, Copy, Default)]
struct Port {
    sent: u64,
    received: u64,
    watermark: u64,
    held: u64,
    longest: u64,
}

/// What a port showed in a window.
#[derive(Clone, Copy)]
struct PortWindow {
    window: u64,
    port: u64,
    queue: u64,
    held: u64,
}

/// What ports showed at each poll. There are millions of windows and few polls: those of one port
/// and poll that follow each other are summed up first.
pub(super) struct Windows {
    every: u64,
    window_ps: u64,
    /// The present poll and port.
    now: (u64, u64),
    /// The longest queue and the time held in it.
    watermark: u64,
    held: u64,
    ports: BTreeMap<(u64, u64), Port>,
}

impl Windows {
    pub(super) fn new(window: Time, every: Time) -> Self {
        Self {
            every: every.as_ps().max(1),
            window_ps: window.as_ps(),
            now: (0, 0),
            watermark: 0,
            held: 0,
            ports: BTreeMap::new(),
        }
    }

    /// Adds all windows of a port.
    ///
    /// Most runs are shorter than the time between two polls. If the first and the last window are
    /// in the same poll, all are, and it does not matter which window a number belongs to: the
    /// numbers are read without their windows. The sum and the longest are the same as if each
    /// window had been added.
    pub(super) fn add_port(&mut self, port: u64, own: &PortSamples) {
        if own.queue.is_zero() && own.held.is_zero() {
            return;
        }
        let first = own.windows.iter().next().map(|window| self.poll(window));
        if first == Some(self.poll(own.windows.last())) {
            let queue = own.queue.values().max().unwrap_or_default();
            let held = own.held.values().sum();
            self.add(PortWindow { window: own.windows.last(), port, queue, held });
            return;
        }
        let found = own.queue.iter().zip(own.held.iter());
        for (window, (queue, held)) in own.windows.iter().zip(found) {
            self.add(PortWindow { window, port, queue, held });
        }
    }

    /// The poll that a window is in.
    fn poll(&self, window: u64) -> u64 {
        window.saturating_mul(self.window_ps) / self.every
    }

    #[inline]
    fn add(&mut self, row: PortWindow) {
        let PortWindow { window, port, queue, held } = row;
        if (queue, held) == (0, 0) {
            return;
        }
        let poll = self.poll(window);
        if (poll, port) != self.now {
            self.end_poll();
            self.now = (poll, port);
        }
        self.watermark = self.watermark.max(queue);
        self.held += held;
    }

    fn end_poll(&mut self) {
        let watermark = std::mem::take(&mut self.watermark);
        let held = std::mem::take(&mut self.held);
        if (watermark, held) != (0, 0) {
            let there = self.ports.entry(self.now).or_default();
            there.watermark = there.watermark.max(watermark);
            there.held += held;
        }
    }

    /// The section, with the pauses of the recording.
    pub(super) fn with_pauses(mut self, timeline: &Timeline) -> TimelineTable {
        self.end_poll();
        let Self { every, mut ports, .. } = self;
        let column = |name| timeline.column("pauses", name);
        let spans = column("from").iter().zip(column("to"));
        let ends = column("port").iter().zip(column("by"));
        for ((&from, &to), (&port, &by)) in spans.zip(ends) {
            ports.entry((from / every, by)).or_default().sent += 1;
            ports.entry((from / every, port)).or_default().received += 1;
            for poll in from / every..=to.saturating_sub(1).max(from) / every {
                let inside = to.min((poll + 1).saturating_mul(every)) - from.max(poll * every);
                let longest = &mut ports.entry((poll, port)).or_default().longest;
                *longest = (*longest).max(inside);
            }
        }
        table(ports)
    }
}

/// The section `polls`: a row for each port and poll with anything to tell.
///
/// `sent` and `received` are the pauses that began, `watermark` is the longest queue; the truth is
/// `held`, how long the port was held, and `longest`, the longest of its holds, in picoseconds.
pub fn polls(timeline: &Timeline, every: Time) -> TimelineTable {
    let mut windows = Windows::new(Time::from_ps(timeline.header.window_ps), every);
    let column = |name| timeline.column("samples", name);
    let places = column("window").iter().zip(column("port"));
    let found = column("queue").iter().zip(column("held"));
    for ((&window, &port), (&queue, &held)) in places.zip(found) {
        windows.add(PortWindow { window, port, queue, held });
    }
    windows.with_pauses(timeline)
}

fn table(ports: BTreeMap<(u64, u64), Port>) -> TimelineTable {
    let columns = [
        ("poll", Kind::Delta),
        ("port", Kind::Varint),
        ("sent", Kind::Varint),
        ("received", Kind::Varint),
        ("watermark", Kind::Varint),
        ("held", Kind::Varint),
        ("longest", Kind::Varint),
    ];
    let mut table = TimelineTable::new("polls", &columns);
    for ((poll, port), seen) in ports {
        let Port { sent, received, watermark, held, longest } = seen;
        if [sent, received, watermark, held, longest] != [0; 5] {
            table.push([poll, port, sent, received, watermark, held, longest]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::packed::{Runs, Sparse, Varints};
    use weir_core::{NodeId, PortId};

    /// Windows of 1 us from `from` on, with queues and holds in some of them.
    fn port(from: u64) -> PortSamples {
        let (mut windows, mut sent) = <(Runs, Varints)>::default();
        let (mut queue, mut held) = <(Sparse, Sparse)>::default();
        for window in from..from + 50 {
            windows.push(window);
            queue.push(if window % 3 == 0 { window * 7 % 40 } else { 0 });
            sent.push(1);
            held.push(if window % 5 == 0 { window } else { 0 });
        }
        PortSamples { node: NodeId(0), port: PortId(0), rows: 50, windows, queue, sent, held }
    }

    #[test]
    fn a_port_added_whole_shows_what_its_windows_show() {
        for (from, every) in [(0, 200_000), (90, 100), (95, 100), (100, 100), (0, 49), (3, 7)] {
            let own = port(from);
            let [mut whole, mut single] =
                [(); 2].map(|()| Windows::new(Time::from_us(1), Time::from_us(every)));
            let found = own.queue.iter().zip(own.held.iter());
            for (window, (queue, held)) in own.windows.iter().zip(found) {
                single.add(PortWindow { window, port: 4, queue, held });
            }
            whole.add_port(4, &own);
            let [whole, single] =
                [whole, single].map(|windows| windows.with_pauses(&Timeline::default()));
            assert_eq!(whole, single, "from {from}, a poll every {every}");
            assert!(whole.rows() > 0);
        }
    }
}
