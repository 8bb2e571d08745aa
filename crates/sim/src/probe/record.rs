//! The meter of recordings.
//!
//! Time is divided into windows of equal length. A node that comes to an event in a later window
//! first closes the windows before it: the counters of its ports, less what they showed at the last
//! boundary, are what happened in between. So a packet costs nothing, whatever path it takes, and
//! rows do not depend on when an engine visits a node. Holds, arrivals at hosts and losses are
//! noted as they happen.
//!
//! A node with too many rows makes its windows twice as long. All nodes have the windows of the
//! node with the longest ones in the end.

use super::held::PortHolds;
use crate::outcome::{
    Delivery, DropEvent, DropReason, HoldRecord, NodeSamples, Outcome, Recording,
};
use rustc_hash::FxHashMap;
use weir_core::{FlowId, NodeId, Packet, PacketKind, PortId, Priority, QueueId, Time};
use weir_fc::HoldState;

/// What to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordConfig {
    /// The length of a window.
    pub window: Time,
    /// About how many rows of ports to keep of the whole run, as many of flows, and half as many
    /// holds, losses and pauses. Windows become longer to achieve it; every port keeps some rows.
    pub rows: usize,
}

impl Default for RecordConfig {
    fn default() -> Self {
        Self { window: Time::from_us(1), rows: 10_000_000 }
    }
}

/// Every port keeps at least so many windows, whatever the number of ports.
const LEAST_PER_PORT: usize = 64;

/// What a port shows at the end of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortLook {
    /// Bytes of line time since the start of the run.
    pub(crate) sent: u64,
    /// The longest queue since the last look.
    pub(crate) longest: u64,
    /// The queue now.
    pub(crate) length: u64,
}

/// A port that a recorder looks at.
pub(crate) trait Watched {
    /// What it shows at the end of a window.
    fn look(&mut self) -> PortLook;

    /// What it shows when nothing happens any more: a length of this instant does not last.
    fn look_last(&mut self) -> PortLook;

    /// What is held of it.
    fn holds(&self) -> &PortHolds;
}

/// What a hold is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Held {
    /// A whole priority.
    Priority(Priority),
    /// A queue of a switch.
    Queue(QueueId, Priority),
    /// What a host sends of a flow.
    Flow(FlowId, Priority),
}

/// What a port showed at the last look.
#[derive(Clone, Debug, Default)]
struct Seen {
    sent: u64,
    /// How long it had been held, if it ever was: of the others, nothing has to be read.
    held: Option<Box<[Time; Priority::COUNT]>>,
}

/// Records one node.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    node: NodeId,
    /// When the present window ends.
    end: Time,
    /// Which window that is, from 0.
    window: u64,
    /// What each port showed at the last look.
    seen: Vec<Seen>,
    /// Payload that arrived in the present window.
    arrived: Vec<(FlowId, u64)>,
    /// Holds that last, by their places.
    open: FxHashMap<(PortId, Held), usize>,
    /// The most rows of ports, and of flows.
    most: usize,
    /// The most holds, and losses.
    most_events: usize,
    samples: NodeSamples,
    /// How many rows there are of ports.
    rows: usize,
    /// Everything else.
    found: Recording,
}

impl Recorder {
    pub(crate) fn new(node: NodeId, ports: usize, all_ports: usize, config: RecordConfig) -> Self {
        let window = config.window.max(Time::from_ps(1));
        let per_port = (config.rows / all_ports.max(1)).max(LEAST_PER_PORT);
        Self {
            node,
            end: window,
            window: 0,
            seen: vec![Seen::default(); ports],
            arrived: Vec::new(),
            open: FxHashMap::default(),
            most: per_port * ports.max(1),
            most_events: (config.rows / 2).max(LEAST_PER_PORT),
            samples: NodeSamples::new(node, ports),
            rows: 0,
            found: Recording::new(window),
        }
    }

    /// When the present window ends: before anything happens then, it must be closed.
    pub(crate) fn end(&self) -> Time {
        self.end
    }

    /// Closes all windows that end at `now` or before. Everything before `now` has happened,
    /// nothing at `now` has.
    #[cold]
    pub(crate) fn close(&mut self, now: Time, ports: &mut [impl Watched]) {
        while self.end <= now {
            let idle = self.add_rows(self.end, ports, Watched::look);
            self.add_deliveries();
            self.end = self.end.saturating_add(self.found.window);
            self.window += 1;
            if idle && self.end <= now {
                self.go_to(now);
            }
            if self.has_too_many() {
                self.fit();
            }
        }
    }

    /// The run has ended at `end`, and windows up to then are closed: adds what is left.
    pub(crate) fn finish(&mut self, end: Time, ports: &mut [impl Watched]) {
        self.add_rows(end.min(self.end), ports, Watched::look_last);
        self.add_deliveries();
    }

    /// Adds a row for each port that was not idle in the present window, which ends at `at`.
    /// Returns whether nothing waits and nothing is held.
    fn add_rows<P: Watched>(
        &mut self,
        at: Time,
        ports: &mut [P],
        look: impl Fn(&mut P) -> PortLook,
    ) -> bool {
        let window = self.window();
        let mut idle = true;
        let rows = self.samples.ports_mut();
        for ((port, seen), rows) in ports.iter_mut().zip(&mut self.seen).zip(rows) {
            let look = look(port);
            idle &= look.length == 0;
            let mut held = Time::ZERO;
            if let Some(then) = &mut seen.held {
                let since = port.holds().since_last(at, then);
                idle &= !since.lasts;
                held = since.held;
            }
            let sent = look.sent - seen.sent;
            if sent > 0 || look.longest > 0 || held > Time::ZERO {
                seen.sent = look.sent;
                let queue = u32::try_from(look.longest).unwrap_or(u32::MAX);
                rows.push(window, queue, sent, held);
                self.rows += 1;
            }
        }
        idle
    }

    /// The present window is the one that `now` is in.
    fn go_to(&mut self, now: Time) {
        let window = self.found.window.as_ps();
        self.window = now.as_ps() / window;
        self.end = Time::from_ps((self.window + 1).saturating_mul(window));
    }

    /// Which window ends next.
    fn window(&self) -> u32 {
        u32::try_from(self.window).unwrap_or(u32::MAX)
    }

    fn add_deliveries(&mut self) {
        if self.arrived.is_empty() {
            return;
        }
        let window = self.window();
        let rows = self.arrived.drain(..).map(|(flow, bytes)| Delivery { window, flow, bytes });
        self.found.deliveries.extend(rows);
    }

    /// Whether there are too many rows, or windows. Two windows become one when both are over, so
    /// that no window has two rows of a port; before the last number that there is, which is an odd
    /// one, that is possible.
    #[inline]
    fn has_too_many(&self) -> bool {
        self.rows.max(self.found.deliveries.len()) > self.most && self.window.is_multiple_of(2)
            || self.window >= u64::from(u32::MAX) - 1
    }

    /// Makes windows longer until there are not too many rows.
    #[cold]
    fn fit(&mut self) {
        while self.has_too_many() && self.found.window < Time::NEVER {
            self.found.coarsen();
            self.samples.coarsen();
            self.rows = self.samples.rows();
            self.go_to(Time::from_ps(self.end.as_ps() - 1));
        }
    }

    /// Payload of a flow has arrived.
    pub(crate) fn arrived(&mut self, flow: FlowId, bytes: u64) {
        // a host receives from few flows in a window
        match self.arrived.iter_mut().rev().find(|(of, _)| *of == flow) {
            Some((_, sum)) => *sum += bytes,
            None => self.arrived.push((flow, bytes)),
        }
    }

    /// A hold begins or ends.
    pub(crate) fn hold(&mut self, now: Time, port: PortId, what: Held, state: HoldState) {
        self.seen[port.index()].held.get_or_insert_default();
        if !state.is_held() {
            if let Some(at) = self.open.remove(&(port, what)) {
                self.found.holds[at].to = Some(now);
            }
            return;
        }
        if self.found.holds.len() >= self.most_events {
            self.found.left_out.holds += 1;
            return;
        }
        self.open.insert((port, what), self.found.holds.len());
        let (priority, queue, flow) = match what {
            Held::Priority(p) => (p, None, None),
            Held::Queue(queue, p) => (p, Some(queue), None),
            Held::Flow(flow, p) => (p, None, Some(flow)),
        };
        let node = self.node;
        self.found.holds.push(HoldRecord {
            from: now,
            to: None,
            node,
            port,
            priority,
            queue,
            flow,
        });
    }

    /// A packet is lost.
    pub(crate) fn dropped(&mut self, at: Time, reason: DropReason, packet: &Packet) {
        if self.found.drops.len() >= self.most_events {
            self.found.left_out.drops += 1;
            return;
        }
        let flow = (packet.kind != PacketKind::Control).then_some(packet.flow);
        let (node, port) = (self.node, packet.ingress);
        self.found.drops.push(DropEvent { at, node, port, flow, reason });
    }

    /// What was found in the windows that are over, and all holds and losses.
    pub(crate) fn so_far(&self) -> (Recording, NodeSamples) {
        (self.found.clone(), self.samples.clone())
    }

    /// Adds what was found to the recording of the run.
    pub(crate) fn report(&mut self, outcome: &mut Outcome) {
        let asked = self.found.asked;
        let found = std::mem::replace(&mut self.found, Recording::new(asked));
        let recording = outcome.recording.get_or_insert_with(|| Box::new(Recording::new(asked)));
        let samples = std::mem::take(&mut self.samples);
        recording.add(found, samples);
        self.open.clear();
    }
}
