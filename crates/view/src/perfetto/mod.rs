//! A recording as a trace for Perfetto (<https://ui.perfetto.dev>).
//!
//! ```text
//!   tor                          tier
//!     Sb to Sc                   port
//!       priority 3               what was held, as slices      ◄── arrow ──┐
//!       PAUSE sent               what it told its neighbour, as instants ──┘
//!       queue                    bytes
//!   flows
//!     h0                         flows of a host as slices, as many tracks as overlap
//! ```
//!
//! Perfetto counts time in nanoseconds, so instants of one nanosecond fall together.

mod proto;

use crate::header::{Header, PortInfo};
use crate::timeline::Timeline;
use proto::{Event, Trace, Type};
use std::collections::BTreeMap;

/// The size of a trace unless another one is wanted: viewers are slow or fail beyond some hundred
/// megabytes.
pub const MOST_BYTES: u64 = 200_000_000;

/// A trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The file.
    pub file: Vec<u8>,
    /// What was made coarser or left out to keep it small, one sentence each.
    pub decimated: Vec<String>,
}

/// How much detail a trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Detail {
    /// So many windows are one value of a queue; none are shown if it is zero.
    windows: u64,
    /// Shorter pauses and flows are left out, in picoseconds.
    shortest: u64,
}

/// The trace of a recording, of at most `limit` bytes.
pub fn trace(timeline: &Timeline, limit: u64) -> Traced {
    let mut detail = Detail { windows: 1, shortest: 0 };
    loop {
        let tracer = Tracer::new(timeline, detail);
        let (file, left_out) = tracer.write();
        let end = timeline.header.end_ps.max(1);
        if file.len() as u64 <= limit || detail.windows == 0 && detail.shortest > end {
            return Traced { file, decimated: sentences(timeline, detail, left_out) };
        }
        // first queues become coarser, then they and ever longer slices are left out
        let over = file.len() as u64 / limit.max(1) + 1;
        detail = match detail.windows {
            0 => Detail { shortest: (detail.shortest * 4).max(1_000), ..detail },
            1..64 => Detail { windows: (detail.windows * over.max(2)).min(64), ..detail },
            _ => Detail { windows: 0, ..detail },
        };
    }
}

fn sentences(timeline: &Timeline, detail: Detail, left_out: [u64; 2]) -> Vec<String> {
    let mut all = Vec::new();
    let us = |ps: u64| format!("{} us", ps as f64 / 1e6);
    match detail.windows {
        0 => all.push("queue lengths are left out".into()),
        1 => {}
        n => all.push(format!(
            "queue lengths are the longest of every {}",
            us(n.saturating_mul(timeline.header.window_ps))
        )),
    }
    if detail.shortest > 0 {
        let [pauses, flows] = left_out;
        let shortest = us(detail.shortest);
        all.push(format!("{pauses} pauses and {flows} flows below {shortest} are left out"));
    }
    all
}

/// The tracks of a port.
#[derive(Default)]
struct PortTracks {
    parent: u64,
    priorities: BTreeMap<u64, u64>,
    sent: u64,
    queue: u64,
}

/// A stretch of time in which something of a priority was held at a port.
struct Held {
    from: u64,
    to: u64,
    /// The first pause of it.
    first: usize,
    /// All pauses of it.
    all: Vec<usize>,
}

struct Tracer<'a> {
    timeline: &'a Timeline,
    detail: Detail,
    trace: Trace,
    ports: BTreeMap<u64, PortTracks>,
    /// Events with their times: a trace is written in order.
    events: Vec<(u64, u8, Event)>,
    pauses_left_out: u64,
    flows_left_out: u64,
}

impl<'a> Tracer<'a> {
    fn new(timeline: &'a Timeline, detail: Detail) -> Self {
        Self {
            timeline,
            detail,
            trace: Trace::default(),
            ports: BTreeMap::new(),
            events: Vec::new(),
            pauses_left_out: 0,
            flows_left_out: 0,
        }
    }

    fn write(mut self) -> (Vec<u8>, [u64; 2]) {
        let held = self.held();
        self.tracks(&held);
        self.pauses(&held);
        self.queues();
        self.flows();
        // at one instant slices end before others begin
        self.events.sort_by_key(|(at, rank, _)| (*at, *rank));
        for (.., event) in &self.events {
            self.trace.event(event);
        }
        (self.trace.bytes, [self.pauses_left_out, self.flows_left_out])
    }

    fn add(&mut self, at: u64, kind: Type, event: Event) {
        let rank = if kind == Type::End { 0 } else { 1 };
        self.events.push((at / 1000, rank, event));
    }

    /// What was held at each port and priority, as stretches without overlap.
    fn held(&mut self) -> BTreeMap<(u64, u64), Vec<Held>> {
        let column = |name| self.timeline.column("pauses", name);
        let (from, to) = (column("from"), column("to"));
        let (ports, priorities) = (column("port"), column("priority"));
        let mut held: BTreeMap<(u64, u64), Vec<Held>> = BTreeMap::new();
        let mut left_out = 0;
        for row in 0..from.len() {
            if to[row] - from[row].min(to[row]) < self.detail.shortest {
                left_out += 1;
                continue;
            }
            let there = held.entry((ports[row], priorities[row])).or_default();
            match there.last_mut() {
                // within one nanosecond they would be one in the trace, too
                Some(last) if from[row] / 1000 <= last.to / 1000 => {
                    last.to = last.to.max(to[row]);
                    last.all.push(row);
                }
                _ => there.push(Held { from: from[row], to: to[row], first: row, all: vec![row] }),
            }
        }
        self.pauses_left_out = left_out;
        held
    }

    /// Makes the tracks of all ports that have anything to show, by tier from the top.
    fn tracks(&mut self, held: &BTreeMap<(u64, u64), Vec<Held>>) {
        let header = &self.timeline.header;
        let mut busy = vec![false; header.ports.len()];
        let mut shows = |port: u64| busy[port as usize] = true;
        held.keys().for_each(|(port, _)| shows(*port));
        let rows = held.values().flatten().flat_map(|h| &h.all);
        rows.for_each(|row| shows(self.timeline.column("pauses", "by")[*row]));
        if self.detail.windows > 0 {
            let samples = self.timeline.column("samples", "port").iter();
            let queues = self.timeline.column("samples", "queue");
            samples.zip(queues).filter(|(_, q)| **q > 0).for_each(|(port, _)| shows(*port));
        }
        for (tier, title) in [(3, "core"), (2, "aggregation"), (1, "switches"), (0, "hosts")] {
            let of_tier = |i: &usize| header.nodes[header.ports[*i].node as usize].tier == tier;
            let ports: Vec<usize> = (0..busy.len()).filter(|i| busy[*i]).filter(of_tier).collect();
            if ports.is_empty() {
                continue;
            }
            let parent = self.trace.track(title, 0);
            for i in ports {
                let port = &header.ports[i];
                let parent = self.trace.track(&port_name(header, port), parent);
                self.ports.insert(i as u64, PortTracks { parent, ..PortTracks::default() });
            }
        }
        for (port, priority) in held.keys() {
            let tracks = self.ports.get_mut(port).expect("ports that are held have tracks");
            let track = self.trace.track(&format!("priority {priority}"), tracks.parent);
            tracks.priorities.insert(*priority, track);
        }
    }

    /// What was held, and the instants at which neighbours asked for it.
    fn pauses(&mut self, held: &BTreeMap<(u64, u64), Vec<Held>>) {
        for ((port, priority), stretches) in held {
            let track = self.ports[port].priorities[priority];
            for stretch in stretches {
                self.stretch(track, stretch);
            }
        }
    }

    fn stretch(&mut self, track: u64, held: &Held) {
        let timeline = self.timeline;
        let header = &timeline.header;
        let column = |name: &str, row: usize| timeline.column("pauses", name).get(row).copied();
        let port = |number: u64| header.ports.get(number as usize).map_or("?", |p| &p.name);
        let reason = |row| {
            let reason = column("reason", row).unwrap_or(0) as usize;
            header.reasons.get(reason).map_or("", String::as_str)
        };
        let by = column("by", held.first).unwrap_or(0);
        let node = header.nodes[header.ports[by as usize].node as usize].name.as_str();
        let mut begin = Event::new(Type::Begin, track, held.from)
            .name(&format!("held by {node}"))
            .note("reason", reason(held.first))
            .count("pauses", held.all.len() as u64);
        if let Some(cause @ 1..) = column("cause", held.first) {
            begin = begin.note("cause", port(cause - 1));
        }
        if let Some(root @ 1..) = column("root", held.first)
            && let Some(cause @ 1..) = column("cause", root as usize - 1)
        {
            begin = begin.note("root", port(cause - 1));
        }
        for &row in &held.all {
            let Some(decided @ 1..) = column("decided", row) else { continue };
            // only the one that begins the slice has an arrow to it
            let arrow = row as u64 + 1;
            let sent = self.sent_track(column("by", row).unwrap_or(0));
            let mut event = Event::new(Type::Instant, sent, decided - 1)
                .name("PAUSE")
                .note("reason", reason(row))
                .count("value", column("value", row).unwrap_or(0))
                .count("threshold", column("threshold", row).unwrap_or(0));
            if row == held.first {
                event = event.starts_arrow(arrow);
                begin = begin.ends_arrow(arrow);
            }
            self.add(decided - 1, Type::Instant, event);
        }
        self.add(held.from, Type::Begin, begin);
        let end = held.to.max(held.from + 1000);
        self.add(end, Type::End, Event::new(Type::End, track, end));
    }

    /// The track of the pauses that a port has sent.
    fn sent_track(&mut self, port: u64) -> u64 {
        let tracks = self.ports.get_mut(&port).expect("ports that send pauses have tracks");
        if tracks.sent == 0 {
            tracks.sent = self.trace.track("PAUSE sent", tracks.parent);
        }
        tracks.sent
    }

    fn queues(&mut self) {
        let Detail { windows: merge @ 1.., .. } = self.detail else { return };
        let timeline = self.timeline;
        let column = |name| timeline.column("samples", name);
        let mut values: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        let rows = column("window").iter().zip(column("port")).zip(column("queue"));
        for ((window, port), queue) in rows.filter(|(_, queue)| **queue > 0) {
            let longest = values.entry((*port, window / merge)).or_default();
            *longest = (*longest).max(*queue);
        }
        let length = timeline.header.window_ps.saturating_mul(merge);
        let keys: Vec<(u64, u64)> = values.keys().copied().collect();
        for (port, window) in keys {
            let tracks = self.ports.get_mut(&port).expect("ports with queues have tracks");
            if tracks.queue == 0 {
                tracks.queue = self.trace.counter("queue", tracks.parent);
            }
            let track = tracks.queue;
            let at = window.saturating_mul(length);
            let event = Event::new(Type::Counter, track, at).value(values[&(port, window)]);
            self.add(at, Type::Counter, event);
            if !values.contains_key(&(port, window + 1)) {
                let end = at.saturating_add(length);
                self.add(end, Type::Counter, Event::new(Type::Counter, track, end).value(0));
            }
        }
    }

    /// The flows of each host, on as many tracks as overlap.
    fn flows(&mut self) {
        let timeline = self.timeline;
        let header = &timeline.header;
        let column = |name| timeline.column("flows", name);
        let (src, dst, size) = (column("src"), column("dst"), column("size"));
        let (start, end) = (column("start"), column("end"));
        let mut group = 0;
        // by host: the tracks and when each of them is free
        let mut lanes: BTreeMap<u64, (u64, Vec<(u64, u64)>)> = BTreeMap::new();
        for row in 0..start.len() {
            let to = if end[row] == 0 { header.end_ps } else { end[row] }.max(start[row] + 1000);
            if to - start[row] < self.detail.shortest || outside(timeline, start[row], to) {
                self.flows_left_out += 1;
                continue;
            }
            if group == 0 {
                group = self.trace.track("flows", 0);
            }
            let name = |node: u64| header.nodes.get(node as usize).map_or("?", |n| &n.name);
            let (parent, tracks) = lanes
                .entry(src[row])
                .or_insert_with(|| (self.trace.track(name(src[row]), group), Vec::new()));
            let track = match tracks.iter_mut().find(|(_, free)| *free / 1000 <= start[row] / 1000)
            {
                Some((track, free)) => {
                    *free = to;
                    *track
                }
                None => {
                    let track = self.trace.track("flows", *parent);
                    tracks.push((track, to));
                    track
                }
            };
            let title = format!("{} to {}", name(src[row]), name(dst[row]));
            let begin = Event::new(Type::Begin, track, start[row])
                .name(&title)
                .count("bytes", size[row])
                .count("number", row as u64);
            self.add(start[row], Type::Begin, begin);
            self.add(to, Type::End, Event::new(Type::End, track, to));
        }
    }
}

/// `Sb to Sc`, and `Sc:P_d to h9` for a port with a name of its own.
fn port_name(header: &Header, port: &PortInfo) -> String {
    let name = |node: u32| header.nodes[node as usize].name.as_str();
    let (node, peer) = (name(port.node), name(header.ports[port.peer as usize].node));
    let plain = port.name == format!("{node}:{peer}");
    format!("{} to {peer}", if plain { node } else { port.name.as_str() })
}

/// Whether a slice of a recording has nothing of this time.
fn outside(timeline: &Timeline, from: u64, to: u64) -> bool {
    timeline.header.slice.as_ref().is_some_and(|s| to < s.from_ps || from >= s.to_ps)
}
