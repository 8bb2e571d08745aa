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

/// Adds the windows of ports. There are millions, and few polls: those of one poll are summed up in
/// a flat list first.
fn add_windows(timeline: &Timeline, every: u64, ports: &mut BTreeMap<(u64, u64), Port>) {
    let samples = |name| timeline.column("samples", name);
    let windows = samples("window");
    let (at, queues, helds) = (samples("port"), samples("queue"), samples("held"));
    let poll_of = |window: u64| window.saturating_mul(timeline.header.window_ps) / every;
    let mut seen = vec![(0u64, 0u64); timeline.header.ports.len()];
    let mut touched = Vec::new();
    let mut row = 0;
    while row < windows.len() {
        let poll = poll_of(windows[row]);
        let rows = windows[row..].partition_point(|w| poll_of(*w) == poll);
        for i in row..row + rows {
            let (watermark, held) = &mut seen[at[i] as usize];
            if (*watermark, *held) == (0, 0) {
                touched.push(at[i]);
            }
            *watermark = (*watermark).max(queues[i]);
            *held += helds[i];
        }
        for port in touched.drain(..) {
            let (watermark, held) = std::mem::take(&mut seen[port as usize]);
            if (watermark, held) != (0, 0) {
                let there = ports.entry((poll, port)).or_default();
                there.watermark = there.watermark.max(watermark);
                there.held += held;
            }
        }
        row += rows;
    }
}

/// The section `polls`: a row for each port and poll with anything to tell.
///
/// `sent` and `received` are the pauses that began, `watermark` is the longest queue; the truth is
/// `held`, how long the port was held, and `longest`, the longest of its holds, in picoseconds.
pub fn polls(timeline: &Timeline, every: Time) -> Table {
    let every = every.as_ps().max(1);
    let mut ports: BTreeMap<(u64, u64), Port> = BTreeMap::new();
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
    add_windows(timeline, every, &mut ports);
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
