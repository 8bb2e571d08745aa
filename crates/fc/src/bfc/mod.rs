//! Backpressure Flow Control (BFC), Goyal et al., NSDI 2022.
//!
//! *Problem:* PFC stops whole priorities. With a queue per flow only congested flows would be
//! stopped, but no switch has that many queues. *Idea:* only flows with packets in the switch need
//! a queue, and they are few; each gets an empty queue while there is one. A packet that finds
//! its queue longer than what the port drains in a hop round trip is counted against the
//! **queue it came from at the previous hop**, whose number it carries. A queue of the
//! neighbour with counted packets here is paused, and resumed when the last of them leaves.
//!
//! ```text
//!   upstream port          wire            this switch
//!   q5 ── packet[tag 5] ────────────► q2 ── packet[tag 2] ──►
//!   q5 ◄─────── pause/resume 5 ────── counter[ingress][5] > 0
//! ```
//!
//! *Messages:* `immediate`: one 64 B frame per transition naming the upstream queue;
//! `periodic`: the whole pause state as a bitmap every period, and at once when a queue is
//! resumed; `both`: immediate frames, and bitmaps that repair what was lost.
//!
//! *Parameters:* see [`INFO`]. The pause threshold is `pause-factor * HRTT * rate / N_active`
//! with the factor 1, or 1 + period/HRTT when a pause has to wait for the next bitmap.
//!
//! *Where the paper is:* assignment of active flows (section 3.3) in `Bfc::queue_for`,
//! the threshold and the counters (section 3.4) in `Bfc::should_count` and `told`,
//! the paused side in `heard`. SFQ variants: `assignment = static`, with or without
//! `pausing`. The preprint's first-packet queue and paced resume are options.
//!
//! *Deviations:* frames name the queue and not a hash; tags are 16 bits wide, so that slots of a
//! NIC beyond 65 535 share a pause. Round robin by packets instead of bytes, as in the authors'
//! simulator. The preprint's Bloom filters over virtual flow ids are not modelled.

mod egress;
mod heard;
#[cfg(test)]
mod tests;
mod told;

pub use crate::perflow::{BACKSTOP, HOP_RTT};

use crate::perflow::{
    BUCKETS, Backstop, Draws, Flag, FlowTable, HopBdp, Keys, OWN_TIMERS, Own, Plan, SHARE, TABLE,
    active_with, flagged, place, tag,
};
use crate::{
    Actions, Fallback, FlowControl, Hints, HoldState, Interest, Kind, LinkState, Mmu, Network,
    NodeSetup, NodeView, Param, ParamError, PortQueue, QueueLayout, Role, SchemeInfo, Senders,
    StateSize, TimerKey, Values, Violation,
};
use egress::{Egress, Entry};
use heard::Heard;
use told::{Resuming, Told};
use weir_core::packet::flags;
use weir_core::prefetch::prefetch;
use weir_core::{
    Bytes, ControlMessage, FlowId, Packet, PortId, Priority, QueueId, Reason, Time, rng,
};

/// How many data queues a port has.
pub const QUEUES: Param = Param {
    name: "queues",
    kind: Kind::Whole { min: 1, max: 128 },
    fallback: Fallback::Is("32"),
    doc: "Data queues per egress port.",
};
/// How flows get their queue.
pub const ASSIGNMENT: Param = Param {
    name: "assignment",
    kind: Kind::Choice(&["dynamic", "static"]),
    fallback: Fallback::Is("dynamic"),
    doc: "dynamic: an active flow gets an empty queue while there is one, else a random one; \
          static: a hash of the flow (stochastic fair queueing).",
};
/// Whether anything is paused.
pub const PAUSING: Param = Param {
    name: "pausing",
    kind: Kind::Bool,
    fallback: Fallback::Is("true"),
    doc: "false: queues are assigned but nothing is ever paused (plain stochastic fair queueing).",
};
/// When pause states travel.
pub const FRAMES: Param = Param {
    name: "frames",
    kind: Kind::Choice(&["immediate", "periodic", "both"]),
    fallback: Fallback::Is("immediate"),
    doc: "immediate: a frame per change; periodic: a bitmap every period, at once for a resume; \
          both: immediate frames and bitmaps.",
};
/// The time between bitmaps, and between paced resumes.
pub const PERIOD: Param = Param {
    name: "period",
    kind: Kind::Time(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Time between bitmaps and between paced resumes of a queue; default: half the hop round \
          trip, at least ten times what a bitmap takes on the wire.",
};
/// The bitmap's size.
pub const BITS: Param = Param {
    name: "bits",
    kind: Kind::Whole { min: 256, max: 32_768 },
    fallback: Fallback::Is("1024"),
    doc: "Bits of a bitmap; upstream queues are counted modulo this number.",
};
/// The threshold in hop bandwidth-delay products.
pub const PAUSE_FACTOR: Param = Param {
    name: "pause-factor",
    kind: Kind::Fraction,
    fallback: Fallback::Absent("derived"),
    doc: "Pause threshold in hop bandwidth-delay products over N_active; default: 1, or 1 + \
          period/HRTT with periodic frames.",
};
/// How long an idle flow keeps its queue.
pub const STICKY: Param = Param {
    name: "sticky",
    kind: Kind::Time(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "How long a flow without packets keeps its queue; default: three hop round trips.",
};
/// Whether first packets overtake.
pub const FIRST_PACKET: Param = Param {
    name: "first-packet",
    kind: Kind::Bool,
    fallback: Fallback::Is("false"),
    doc: "true: the first packet of a flow that has nothing queued takes a strict-priority queue \
          and never pauses.",
};
/// How resumes are spread.
pub const RESUMING: Param = Param {
    name: "resume",
    kind: Kind::Choice(&["at-once", "paced"]),
    fallback: Fallback::Is("at-once"),
    doc: "paced: each queue resumes at most one upstream queue per period.",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "bfc",
    title: "BFC",
    summary: "Gives each active flow its own queue while queues are free, and pauses the queue of \
              the previous hop that feeds a long one.",
    reference: "Goyal et al., Backpressure Flow Control, NSDI 2022",
    params: &[
        QUEUES,
        ASSIGNMENT,
        PAUSING,
        FRAMES,
        PERIOD,
        BITS,
        PAUSE_FACTOR,
        STICKY,
        FIRST_PACKET,
        RESUMING,
        TABLE,
        BUCKETS,
        HOP_RTT,
        BACKSTOP,
    ],
    lossless: false,
    ingress_bound: crate::perflow::ingress_bound,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |values| Frames::of(values) != Frames::Immediate,
    build,
};

/// Hash buckets per egress port in the authors' simulator.
const DEFAULT_BUCKETS: u64 = 7200;
/// Queue numbers that fit the tag on the wire.
const TAGS: u32 = 1 << 16;

crate::timers! {
    /// The timers of BFC.
    enum Timer {
        /// A bitmap of a port is due.
        Tick = OWN_TIMERS,
        /// A queue of a port may be resumed.
        Resume = OWN_TIMERS + 1,
    }
}

/// When pause states travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Frames {
    Immediate,
    Periodic,
    Both,
}

impl Frames {
    const WORDS: [(&'static str, Self); 3] =
        [("immediate", Self::Immediate), ("periodic", Self::Periodic), ("both", Self::Both)];

    fn of(values: &Values) -> Self {
        values.one_of(&FRAMES, &Self::WORDS)
    }
}

/// BFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bfc {
    plan: Plan,
    role: Role,
    queues: u32,
    keys: Keys,
    /// Set for static assignment: salts the hash.
    salt: Option<u64>,
    pausing: bool,
    /// First packets take a strict-priority queue.
    first_packets: bool,
    threshold: HopBdp,
    sticky: Vec<Time>,
    /// By port and class.
    egresses: Vec<Egress>,
    told: Told,
    heard: Heard,
    draws: Draws,
    backstop: Backstop,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    let bfc = Bfc::new(values, setup)?;
    bfc.threshold.check("pause-factor and hop-rtt", setup)?;
    Ok(Box::new(bfc))
}

fn is(values: &Values, param: &Param) -> bool {
    values.bool(param).expect("has a default")
}

/// How long a bitmap of `bits` bits occupies the wire of a port: 22 B of frame and the bits.
fn bitmap_time(bits: u32, port: &crate::PortSetup) -> Time {
    port.frame_time(Bytes::new(22 + u64::from(bits).div_ceil(8)))
}

/// The time between bitmaps, per port. On links so short that half a round trip is no time to
/// send a bitmap in, it is what keeps their share of the wire at a tenth.
fn periods(values: &Values, bits: u32, hop: &HopBdp, setup: &NodeSetup<'_>) -> Vec<Time> {
    let of = |(i, port)| {
        let default = (hop.rtt(PortId::from_index(i)) / 2).max(bitmap_time(bits, port) * 10);
        values.time(&PERIOD).unwrap_or(default)
    };
    setup.ports.iter().enumerate().map(of).collect()
}

impl Bfc {
    /// BFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let frames = Frames::of(values);
        let bits = values.integer(&BITS).expect("has a default") as u32;
        let space = if frames == Frames::Immediate { TAGS } else { bits };
        let queues = values.integer(&QUEUES).expect("has a default") as u32;
        let first_packet = is(values, &FIRST_PACKET) && setup.role == Role::Switch;
        let own = Own { ahead: u32::from(first_packet), data: queues, ..Own::default() };
        let plan = Plan::new(setup, own);
        let hop = HopBdp::new(values, setup);
        let period = periods(values, bits, &hop, setup);
        for (port, period) in setup.ports.iter().zip(&period) {
            let needed = bitmap_time(bits, port);
            if frames != Frames::Immediate && *period <= needed {
                return Err(ParamError(format!(
                    "a period of {period} is too short: a bitmap of {bits} bits takes {needed} at \
                     {}",
                    port.rate
                )));
            }
        }
        let sticky = (0..setup.ports.len())
            .map(|i| values.time(&STICKY).unwrap_or(hop.rtt(PortId::from_index(i)) * 3))
            .collect();
        let static_salt = rng::mix(setup.seed ^ rng::mix(u64::from(setup.node.0)));
        let mut bfc = Self {
            role: setup.role,
            queues,
            keys: Keys::new(values, DEFAULT_BUCKETS),
            salt: values.one_of(&ASSIGNMENT, &[("dynamic", None), ("static", Some(static_salt))]),
            pausing: is(values, &PAUSING),
            first_packets: first_packet,
            threshold: threshold(values, setup, hop, frames, &period),
            sticky,
            egresses: FlowTable::per_class(setup, &plan).into_iter().map(Egress::new).collect(),
            told: Told::new(frames, space, period, Resuming::read(values)),
            heard: Heard::new(setup.ports.len(), space),
            draws: Draws::new(setup.seed, INFO.name, setup.node),
            backstop: Backstop::new(values, setup)?,
            plan,
        };
        bfc.know_queues();
        Ok(bfc)
    }

    /// From now on every random choice among `k` takes number `n mod k`: a search over all
    /// behaviours tries each `n`.
    pub fn fix_draws(&mut self, n: u32) {
        self.draws = Draws::Fixed(n);
    }

    /// A switch's queues are there from the start; those of a NIC come and go.
    fn know_queues(&mut self) {
        if self.role == Role::Switch {
            let queues: Vec<u32> = (0..self.plan.classes())
                .flat_map(|class| {
                    let first = self.plan.data(class, 0).0;
                    first - u32::from(self.first_packets)..first + self.queues
                })
                .collect();
            // they are open, as queues are when they are made
            let mut opened = Actions::new();
            for port in 0..self.heard.ports() {
                for q in &queues {
                    self.heard.add(PortId::from_index(port), QueueId(*q), &mut opened);
                    drop(opened.drain());
                }
            }
        }
    }

    /// The queue for a flow that has none: an empty one that is open, looking round from a
    /// random start, or the random one itself.
    fn queue_for(
        &mut self,
        v: &NodeView<'_>,
        flow: FlowId,
        egress: PortId,
        class: usize,
    ) -> QueueId {
        if let Some(salt) = self.salt {
            let i = rng::mix(flow.get() ^ salt) % u64::from(self.queues);
            return self.plan.data(class, i as u32);
        }
        let start = self.draws.below(self.queues);
        let free = |q: &QueueId| {
            let book = v.queue(egress, *q);
            book.packets == 0 && !book.held
        };
        (start..self.queues)
            .chain(0..start)
            .map(|i| self.plan.data(class, i))
            .find(free)
            .unwrap_or_else(|| self.plan.data(class, start))
    }

    /// Whether the queue, with this packet in it, is longer than the port drains in time.
    #[inline]
    fn should_count(&self, v: &NodeView<'_>, p: &Packet, egress: PortId, queue: QueueId) -> bool {
        let length = v.queue(egress, queue).bytes.get() + u64::from(p.size);
        // length > threshold / N_active, without the division
        length * active_with(v, egress, queue) > self.threshold.bytes(p.ingress, egress)
    }

    /// Counts a packet that [`should_count`](Self::should_count) is true of.
    fn count(
        &mut self,
        v: &NodeView<'_>,
        p: &Packet,
        egress: PortId,
        queue: QueueId,
        a: &mut Actions,
    ) {
        let threshold = self.threshold.bytes(p.ingress, egress);
        let why = || {
            let length = v.queue(egress, queue).bytes.saturating_add(p.bytes());
            let share = Bytes::new(threshold / active_with(v, egress, queue));
            Reason::queue(egress, length).above(SHARE, share)
        };
        self.told.count(p, why, a);
    }

    /// The flow's entry with one more packet: its index, its packets and its queue.
    fn enter(
        &mut self,
        v: &NodeView<'_>,
        p: &Packet,
        egress: PortId,
        class: usize,
    ) -> (u32, u32, QueueId) {
        let key = self.keys.of(p.flow);
        let until = v.now + self.sticky[p.ingress.index()];
        let at = self.plan.at(egress, class);
        let known = &mut self.egresses[at];
        known.purge(v.now);
        if let Some((i, e)) = known.get_mut(key)
            && (e.packets > 0 || v.now <= e.until)
        {
            e.packets += 1;
            e.until = until;
            return (i, e.packets, e.queue);
        }
        let queue = self.queue_for(v, p.flow, egress, class);
        (self.renew(at, key, 1, queue, until), 1, queue)
    }

    /// Makes an entry for the flow under `key`, or makes the one that is there, which counts no
    /// longer, a new one.
    fn renew(&mut self, at: usize, key: u64, packets: u32, queue: QueueId, until: Time) -> u32 {
        let egress = &mut self.egresses[at];
        match egress.get_mut(key) {
            Some((i, e)) => {
                *e = Entry { packets, queue, until };
                i
            }
            None => egress.flows.insert(key, Entry { packets, queue, until }),
        }
    }

    /// The flow's entry with one packet less.
    fn leave(&mut self, now: Time, p: &Packet, at: usize) {
        let until = now + self.sticky[p.ingress.index()];
        let egress = &mut self.egresses[at];
        let found = egress.flows.find_near(self.keys.of(p.flow), place(p.local_tag));
        if let Some((i, e)) = found.and_then(|i| Some((i, egress.flows.at_mut(i)?))) {
            e.packets = e.packets.saturating_sub(1);
            e.until = until;
            if e.packets == 0 {
                egress.rest(i, until);
            }
        }
    }

    fn violation(what: String) -> Result<(), Violation> {
        Err(Violation { scheme: INFO.name, what })
    }
}

/// A pause that waits for the next bitmap takes a period longer: the threshold grows with it.
fn threshold(
    values: &Values,
    setup: &NodeSetup<'_>,
    hop: HopBdp,
    frames: Frames,
    period: &[Time],
) -> HopBdp {
    match (values.ratio(&PAUSE_FACTOR), frames) {
        (Some(factor), _) => hop.scaled(factor),
        (None, Frames::Periodic) => hop.widened(setup, period),
        (None, _) => hop,
    }
}

impl FlowControl for Bfc {
    fn layout(&self, _port: PortId) -> QueueLayout {
        self.plan.layout()
    }

    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId {
        self.backstop.arrive(v, p, egress, a);
        let Some(class) = self.plan.class(p.priority) else { return self.plan.other(p.priority) };
        self.told.arrived(v.now, p.ingress, a);
        let (i, packets, queue) = self.enter(v, p, egress, class);
        p.local_tag = tag(i, Flag::Clear);
        if self.first_packets && p.has(flags::FIRST) {
            // never counted, so that no neighbour ever pauses the queue of first packets
            return if packets == 1 { self.plan.other(p.priority) } else { queue };
        }
        // a lone packet is no backlog
        if self.pausing && packets > 1 && self.should_count(v, p, egress, queue) {
            p.local_tag = tag(i, Flag::Set);
            self.count(v, p, egress, queue, a);
        }
        queue
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        if self.role == Role::Switch {
            self.backstop.depart(v, p, from, a);
            let Some(class) = self.plan.class(p.priority) else { return };
            self.leave(v.now, p, self.plan.at(from.port, class));
            if flagged(p.local_tag) {
                self.told.discount(v.now, p.ingress, p.wire_tag, from, a);
            }
        }
        p.wire_tag = from.queue.0;
        p.local_tag = 0;
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        match m {
            ControlMessage::QueueState { pause, queue, .. } => {
                self.heard.set(port, queue.0, HoldState::of(*pause), a);
            }
            ControlMessage::QueueBitmap { words, .. } => self.heard.replace(port, words, a),
            _ => self.backstop.control(v, port, m, a),
        }
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        if self.backstop.timer(v, key, a) {
            return;
        }
        match Timer::of(key) {
            Timer::Tick => self.told.tick(v.now, key.port, a),
            Timer::Resume => {
                let from = PortQueue { port: key.port, queue: QueueId(key.index) };
                self.told.resume_one(v.now, from, a);
            }
        }
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.backstop.link(v, port, link, a);
        if link.is_up() {
            self.told.repeat(port, a);
        }
        self.heard.forget(port, a);
    }

    fn flow_starts(&mut self, _v: &NodeView<'_>, slot: PortQueue, _p: &Packet, a: &mut Actions) {
        self.heard.add(slot.port, slot.queue, a);
    }

    fn flow_ends(&mut self, _v: &NodeView<'_>, slot: PortQueue, _p: &Packet, a: &mut Actions) {
        self.heard.remove(slot.port, slot.queue, a);
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.backstop.audit(v, network)?;
        if !network.is_drained() {
            return Ok(());
        }
        if let Some((port, index)) = self.told.any_left() {
            return Self::violation(format!(
                "upstream queue {index} at port {port} is still counted or paused at {}, with \
                 nothing left in the network",
                v.now
            ));
        }
        for (at, egress) in self.egresses.iter().enumerate() {
            let port = at / self.plan.classes();
            if let Some((_, key, e)) = egress.flows.iter().find(|(_, _, e)| e.packets > 0) {
                return Self::violation(format!(
                    "port {port} counts {} packets of flow {key:#x}, with nothing left in the \
                     network",
                    e.packets
                ));
            }
        }
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let entries: usize = self.egresses.iter().map(|e| e.flows.len()).sum();
        // an entry: packets 2 B, queue 1 B, time 4 B, rounded to 8; a counter: 2 B
        let tables = vec![
            ("flow table", entries as u64 * 8),
            ("pause counters", self.told.counters() as u64 * 2),
        ];
        StateSize { tables }
    }
}

impl Hints for Bfc {
    fn interest(&self, _mmu: &Mmu, _ingress: PortId, priority: Priority) -> Interest {
        self.backstop.interest(&self.plan, priority)
    }

    /// A packet that finds its port empty is the only one of its flow: it is not counted, and its
    /// flow's entry is idle again at once.
    fn pass(&mut self, v: &NodeView<'_>, p: &mut Packet, egress: PortId) -> Option<QueueId> {
        let class = self.plan.class(p.priority).filter(|_| self.backstop.is_none())?;
        if !self.told.is_quiet(p.ingress) {
            return None;
        }
        let at = self.plan.at(egress, class);
        let key = self.keys.of(p.flow);
        let until = v.now + self.sticky[p.ingress.index()];
        let known = &mut self.egresses[at];
        known.purge(v.now);
        let (i, mut queue) = match known.get_mut(key) {
            Some((_, e)) if e.packets > 0 => return None,
            Some((i, e)) if v.now <= e.until => {
                e.until = until;
                (i, e.queue)
            }
            _ => {
                let queue = self.queue_for(v, p.flow, egress, class);
                (self.renew(at, key, 0, queue, until), queue)
            }
        };
        self.egresses[at].rest(i, until);
        if self.first_packets && p.has(flags::FIRST) {
            queue = self.plan.other(p.priority);
        }
        p.wire_tag = queue.0;
        Some(queue)
    }

    fn prefetch(&self) {
        prefetch(self.egresses.as_slice());
    }
}
