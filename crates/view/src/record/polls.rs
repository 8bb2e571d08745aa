//! What a monitoring system would have seen of the run: the counters of switches, read at equal
//! distances in time.
//!
//! A switch counts the PAUSE frames that a port has sent and received and keeps the longest queue
//! since it was last asked. Who reads these every 200 ms knows neither when pauses began nor how
//! long they lasted: the truth stands beside it.

use crate::timeline::{Kind, Table, Timeline};
use std::collections::BTreeMap;
use weir_core::Time;

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
pub(super) struct PortWindow {
    pub(super) window: u64,
    pub(super) port: u64,
    pub(super) queue: u64,
    pub(super) held: u64,
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

    #[inline]
    pub(super) fn add(&mut self, row: PortWindow) {
        let PortWindow { window, port, queue, held } = row;
        if (queue, held) == (0, 0) {
            return;
        }
        let poll = window.saturating_mul(self.window_ps) / self.every;
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
    pub(super) fn with_pauses(mut self, timeline: &Timeline) -> Table {
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
pub fn polls(timeline: &Timeline, every: Time) -> Table {
    let mut windows = Windows::new(Time::from_ps(timeline.header.window_ps), every);
    let column = |name| timeline.column("samples", name);
    let places = column("window").iter().zip(column("port"));
    let found = column("queue").iter().zip(column("held"));
    for ((&window, &port), (&queue, &held)) in places.zip(found) {
        windows.add(PortWindow { window, port, queue, held });
    }
    windows.with_pauses(timeline)
}

fn table(ports: BTreeMap<(u64, u64), Port>) -> Table {
    let columns = [
        ("poll", Kind::Delta),
        ("port", Kind::Varint),
        ("sent", Kind::Varint),
        ("received", Kind::Varint),
        ("watermark", Kind::Varint),
        ("held", Kind::Varint),
        ("longest", Kind::Varint),
    ];
    let mut table = Table::new("polls", &columns);
    for ((poll, port), seen) in ports {
        let Port { sent, received, watermark, held, longest } = seen;
        if [sent, received, watermark, held, longest] != [0; 5] {
            table.push([poll, port, sent, received, watermark, held, longest]);
        }
    }
    table
}
