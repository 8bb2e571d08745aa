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
    let samples = |name| timeline.column("samples", name);
    let windows = samples("window").iter().zip(samples("port"));
    for ((&window, &port), (&queue, &held)) in
        windows.zip(samples("queue").iter().zip(samples("held")))
    {
        let poll = window.saturating_mul(timeline.header.window_ps) / every;
        let seen = ports.entry((poll, port)).or_default();
        seen.watermark = seen.watermark.max(queue);
        seen.held += held;
    }
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
