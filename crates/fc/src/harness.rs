//! Drives one scheme by hand: a node without wires, for tests and for exploring a scheme.
//!
//! ```
//! use weir_core::{Bytes, PortId, Time};
//! use weir_fc::harness::Bench;
//! use weir_fc::{Action, Values, pfc};
//!
//! let mut bench = Bench::switch(&pfc::INFO, &Values::new(), 2);
//! bench.thresholds("3KB", "1KB");
//! for seq in 0..3 {
//!     bench.arrive(bench.packet(PortId(0), 1000).seq(seq), PortId(1));
//! }
//! // the third packet reaches xoff: a PAUSE goes back to where it came from
//! assert!(matches!(bench.sent(), [(PortId(0), _)]));
//! ```

mod host;
mod outbox;

use crate::{
    Action, Actions, Books, FlowControl, HoldState, LinkState, MmuConfig, NodeSetup, NodeView,
    Param, PortBook, PortQueue, PortSetup, PortThresholds, PrioritySchedule, QueueBook,
    QueueLayout, Refusal, Role, SchemeInfo, Target, Thresholds, TimerKey, Values, Verdict,
};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use weir_core::{
    Bytes, ControlMessage, FlowId, NodeId, Packet, PacketKind, PortId, Priority, PrioritySet,
    QueueId, Rate, Reason, Time,
};

/// The priority the bench's packets have.
pub const PRIORITY: Priority = Priority::ALL[3];

/// The values of a scheme's parameters, by name.
///
/// # Panics
/// If there is no such parameter, or its value is not valid.
pub fn given(info: &SchemeInfo, pairs: &[(&str, &str)]) -> Values {
    let by_name = |&(name, text)| {
        let param = info.params.iter().find(|p| p.name == name).expect("a parameter");
        (param, text)
    };
    set(&pairs.iter().map(by_name).collect::<Vec<_>>())
}

/// The values of parameters.
///
/// # Panics
/// If one is not valid.
pub fn set(options: &[(&Param, &str)]) -> Values {
    let mut values = Values::new();
    for (param, text) in options {
        values.set(param, text).expect("a value");
    }
    values
}

/// How many moves and marks in a row are no longer progress.
const CIRCLE: usize = 1 << 16;

/// A packet under construction.
#[derive(Clone, Copy, Debug)]
pub struct TestPacket(pub Packet);

impl TestPacket {
    /// Sets the sequence number.
    pub fn seq(mut self, seq: u32) -> Self {
        self.0.seq = seq;
        self
    }

    /// Sets the flow: source host, number, destination host.
    pub fn flow(mut self, src: u32, k: u32, dst: u32) -> Self {
        self.0.flow = FlowId::new(NodeId(src), k);
        self.0.dst = NodeId(dst);
        self
    }

    /// Sets the priority.
    pub fn priority(mut self, p: Priority) -> Self {
        self.0.priority = p;
        self
    }

    /// Sets the tag the previous hop put on the wire.
    pub fn wire_tag(mut self, tag: u32) -> Self {
        self.0.wire_tag = tag;
        self
    }
}

/// A node with queues but without wires: packets arrive and leave when the test says so.
///
/// The scheme is one from the catalogue ([`Bench::switch`], [`Bench::nic`]) or a concrete object
/// ([`Bench::around`]). In the latter case the bench can be cloned, compared and hashed as the
/// scheme can, which is what [`crate::explore`] is built on.
pub struct Bench<S: ?Sized = dyn FlowControl> {
    /// How to build the scheme afresh; `None` for one that was handed in.
    recipe: Option<(&'static SchemeInfo, Values)>,
    books: Books,
    layouts: Arc<[QueueLayout]>,
    queues: Vec<Vec<VecDeque<Packet>>>,
    held_priorities: Vec<PrioritySet>,
    held_queues: Vec<Vec<bool>>,
    timers: BTreeMap<TimerKey, Time>,
    limits: BTreeMap<(PortId, Priority), Rate>,
    sent: Vec<(PortId, ControlMessage)>,
    /// Why; no part of what tells two benches apart.
    reasons: Vec<Reason>,
    /// The present time; tests move it.
    pub now: Time,
    scheme: Box<S>,
}

impl Bench {
    /// A switch with `ports` ports of 40 Gb/s and 20 ns, unlimited memory and the OFC paper's
    /// thresholds (75 KB, 45 KB).
    pub fn switch(info: &'static SchemeInfo, values: &Values, ports: usize) -> Self {
        Self::new(info, values, ports, Role::Switch)
    }

    /// A NIC with one port of 40 Gb/s and 20 ns.
    pub fn nic(info: &'static SchemeInfo, values: &Values) -> Self {
        Self::new(info, values, 1, Role::Nic)
    }

    fn new(info: &'static SchemeInfo, values: &Values, ports: usize, role: Role) -> Self {
        let (setup, thresholds) = node(ports, "75KB", "45KB");
        Self::build((info, values.clone()), role, setup, thresholds)
    }

    fn build(
        recipe: (&'static SchemeInfo, Values),
        role: Role,
        ports: Vec<PortSetup>,
        thresholds: Thresholds,
    ) -> Self {
        let schedule = PrioritySchedule::default();
        let setup = node_setup(role, &ports, &schedule, &thresholds);
        let scheme = (recipe.0.build)(&recipe.1, &setup).expect("valid parameters");
        let layouts = layouts(&*scheme, ports.len());
        Self::assemble(scheme, Some(recipe), role, ports, thresholds, layouts)
    }

    /// Starts afresh with these static thresholds.
    ///
    /// # Panics
    /// When a size does not parse or the scheme refuses its parameters.
    pub fn thresholds(&mut self, xoff: &str, xon: &str) {
        let (_, thresholds) = node(self.books.setup.len(), xoff, xon);
        self.rebuild(thresholds);
    }

    /// Starts afresh with these port constants.
    pub fn links(&mut self, rate: Rate, delay: Time) {
        self.books.setup.fill(PortSetup::new(rate, delay));
        self.rebuild(self.books.mmu.config().thresholds.clone());
    }

    fn rebuild(&mut self, thresholds: Thresholds) {
        let recipe = self.recipe.take().expect("a bench of the catalogue keeps its recipe");
        let ports = std::mem::take(&mut self.books.setup);
        let now = self.now;
        *self = Self::build(recipe, self.books.role, ports, thresholds);
        self.now = now;
    }
}

/// `ports` ports of 40 Gb/s and 20 ns, and static thresholds without a limit.
fn node(ports: usize, xoff: &str, xon: &str) -> (Vec<PortSetup>, Thresholds) {
    let read = |s: &str| s.parse().expect("a size");
    let setup = vec![PortSetup::new(Rate::from_gbps(40), Time::from_ns(20)); ports];
    (setup, Thresholds::uniform(read(xoff), read(xon), Bytes::MAX, ports))
}

fn node_setup<'a>(
    role: Role,
    ports: &'a [PortSetup],
    schedule: &'a PrioritySchedule,
    thresholds: &'a Thresholds,
) -> NodeSetup<'a> {
    NodeSetup {
        node: NodeId(0),
        role,
        ports,
        schedule,
        lossless: PrioritySet::only(PRIORITY),
        thresholds,
        max_frame: Bytes::new(1518),
        response: weir_core::Response::NONE,
        seed: 1,
    }
}

impl<S: FlowControl> Bench<S> {
    /// A switch with `ports` ports of 40 Gb/s and 20 ns, unlimited memory and these thresholds,
    /// around the scheme that `make` returns.
    ///
    /// # Panics
    /// When a size does not parse.
    pub fn around(
        ports: usize,
        xoff: &str,
        xon: &str,
        make: impl FnOnce(&NodeSetup<'_>) -> S,
    ) -> Self {
        Self::around_ports(&vec![(xoff, xon); ports], make)
    }

    /// The same with a port for each pair of pause and resume thresholds.
    ///
    /// # Panics
    /// When a size does not parse.
    pub fn around_ports(levels: &[(&str, &str)], make: impl FnOnce(&NodeSetup<'_>) -> S) -> Self {
        let read = |s: &str| s.parse().expect("a size");
        let of_port = |&(xoff, xon): &(&str, &str)| PortThresholds {
            xoff: read(xoff),
            xon: read(xon),
            limit: Bytes::MAX,
        };
        let thresholds = Thresholds::Static(levels.iter().map(of_port).collect());
        let (ports, _) = node(levels.len(), "75KB", "45KB");
        let schedule = PrioritySchedule::default();
        let scheme = make(&node_setup(Role::Switch, &ports, &schedule, &thresholds));
        let layouts = layouts(&scheme, ports.len());
        Self::assemble(Box::new(scheme), None, Role::Switch, ports, thresholds, layouts)
    }
}

fn layouts<S: FlowControl + ?Sized>(scheme: &S, ports: usize) -> Arc<[QueueLayout]> {
    (0..ports).map(|p| scheme.layout(PortId::from_index(p))).collect()
}

impl<S: Clone> Clone for Bench<S> {
    fn clone(&self) -> Self {
        Self {
            recipe: self.recipe.clone(),
            books: self.books.clone(),
            layouts: Arc::clone(&self.layouts),
            queues: self.queues.clone(),
            held_priorities: self.held_priorities.clone(),
            held_queues: self.held_queues.clone(),
            timers: self.timers.clone(),
            limits: self.limits.clone(),
            sent: self.sent.clone(),
            reasons: self.reasons.clone(),
            now: self.now,
            scheme: self.scheme.clone(),
        }
    }
}

/// What distinguishes two benches that were built alike: the books follow from the queues and
/// the holds.
macro_rules! state {
    ($bench:expr) => {
        (
            &$bench.scheme,
            &$bench.queues,
            &$bench.held_priorities,
            &$bench.held_queues,
            &$bench.timers,
            &$bench.limits,
            &$bench.sent,
            $bench.now,
        )
    };
}

impl<S: PartialEq> PartialEq for Bench<S> {
    fn eq(&self, other: &Self) -> bool {
        state!(self) == state!(other)
    }
}

impl<S: Eq> Eq for Bench<S> {}

impl<S: Hash> Hash for Bench<S> {
    fn hash<H: Hasher>(&self, h: &mut H) {
        state!(self).hash(h);
    }
}

impl<S: FlowControl + ?Sized> Bench<S> {
    fn assemble(
        scheme: Box<S>,
        recipe: Option<(&'static SchemeInfo, Values)>,
        role: Role,
        setup: Vec<PortSetup>,
        thresholds: Thresholds,
        layouts: Arc<[QueueLayout]>,
    ) -> Self {
        let ports = setup.len();
        let config = MmuConfig {
            buffer: Bytes::MAX,
            thresholds,
            lossless: PrioritySet::only(PRIORITY),
            exempt: PrioritySet::EMPTY,
        };
        let sizes = layouts.iter().map(|l| l.queues.len());
        let book = |n| PortBook { queues: vec![QueueBook::default(); n], ..PortBook::default() };
        Self {
            recipe,
            books: Books {
                role,
                node: NodeId(0),
                setup,
                ports: sizes.clone().map(book).collect(),
                mmu: crate::Mmu::new(config, ports),
            },
            queues: sizes.clone().map(|n| vec![VecDeque::new(); n]).collect(),
            held_queues: sizes.map(|n| vec![false; n]).collect(),
            held_priorities: vec![PrioritySet::EMPTY; ports],
            timers: BTreeMap::new(),
            limits: BTreeMap::new(),
            sent: Vec::new(),
            reasons: Vec::new(),
            now: Time::ZERO,
            layouts,
            scheme,
        }
    }

    /// A data packet of `size` bytes that came in by `ingress`.
    pub fn packet(&self, ingress: PortId, size: u16) -> TestPacket {
        TestPacket(Packet {
            flow: FlowId::new(NodeId(100), 0),
            seq: 0,
            dst: NodeId(200),
            wire_tag: 0,
            extra: Packet::NO_EXTRA,
            size,
            ingress,
            kind: PacketKind::Data,
            priority: PRIORITY,
            flags: 0,
            local_tag: 0,
        })
    }

    /// The scheme, to look inside.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// The scheme, to meddle with it.
    pub fn scheme_mut(&mut self) -> &mut S {
        &mut self.scheme
    }

    /// The books.
    pub fn view(&self) -> NodeView<'_> {
        NodeView { now: self.now, books: &self.books }
    }

    /// A packet arrives and goes to `egress`; returns the queue the scheme chose.
    pub fn arrive(&mut self, p: TestPacket, egress: PortId) -> QueueId {
        self.try_arrive(p, egress).expect("the bench has unlimited memory")
    }

    fn try_arrive(&mut self, p: TestPacket, egress: PortId) -> Result<QueueId, Refusal> {
        let mut p = p.0;
        self.books.mmu.admit(p.ingress, p.priority, p.size)?;
        self.books.ports[egress.index()].q_out[p.priority.index()] += p.bytes();
        let mut a = Actions::new();
        let view = NodeView { now: self.now, books: &self.books };
        let q = self.scheme.arrive(&view, &mut p, egress, &mut a);
        self.push(egress, q, p);
        self.carry_out(&mut a);
        Ok(q)
    }

    fn push(&mut self, port: PortId, q: QueueId, p: Packet) {
        let (o, q) = (port.index(), q.index());
        if q >= self.queues[o].len() {
            assert!(self.layouts[o].spec(q).is_some(), "queue {q} is not in the layout");
            self.queues[o].resize(q + 1, VecDeque::new());
            self.held_queues[o].resize(q + 1, false);
            self.books.ports[o].queues.resize(q + 1, QueueBook::default());
        }
        self.queues[o][q].push_back(p);
        if p.kind != PacketKind::Mark {
            let book = &mut self.books.ports[o].queues[q];
            book.bytes += p.bytes();
            book.packets += 1;
        }
        self.refresh_books(o);
    }

    fn pop(&mut self, o: usize, q: usize) -> Packet {
        let p = self.queues[o][q].pop_front().expect("the queue has a head");
        if p.kind != PacketKind::Mark {
            let book = &mut self.books.ports[o].queues[q];
            book.bytes -= p.bytes();
            book.packets -= 1;
        }
        self.refresh_books(o);
        p
    }

    fn spec(&self, o: usize, q: usize) -> crate::QueueSpec {
        *self.layouts[o].spec(q).expect("in the layout")
    }

    fn refresh_books(&mut self, o: usize) {
        let mut active = 0;
        for q in 0..self.queues[o].len() {
            let spec = self.spec(o, q);
            let held = self.held_queues[o][q] || self.held_priorities[o].contains(spec.priority);
            self.books.ports[o].queues[q].held = held;
            active += u32::from(spec.data && !held && self.books.ports[o].queues[q].packets > 0);
        }
        self.books.ports[o].active = active;
    }

    fn carry_out(&mut self, a: &mut Actions) {
        for action in a.drain() {
            match action {
                Action::Send { port, message, reason } => {
                    self.sent.push((port, message));
                    self.reasons.push(reason);
                }
                Action::Hold { port, target } => self.set_hold(port, target, HoldState::Held),
                Action::Open { port, target } => self.set_hold(port, target, HoldState::Open),
                Action::Limit { port, priority, rate } => {
                    match rate {
                        Some(rate) => self.limits.insert((port, priority), rate),
                        None => self.limits.remove(&(port, priority)),
                    };
                }
                Action::Mark { port, queue, mark } => {
                    let mut p = self.packet(PortId(0), 0).0;
                    p.kind = PacketKind::Mark;
                    p.wire_tag = mark;
                    self.push(port, queue, p);
                }
                Action::Arm { key, at, .. } => {
                    self.timers.insert(key, at);
                }
                Action::Cancel { key } => {
                    self.timers.remove(&key);
                }
                Action::Retry { .. } | Action::Exhausted { .. } | Action::Replenished { .. } => {}
            }
        }
    }

    fn set_hold(&mut self, port: PortId, target: Target, state: HoldState) {
        let (o, held) = (port.index(), state.is_held());
        match target {
            Target::Priority(p) => {
                self.held_priorities[o].set(p, held);
            }
            Target::Queue(q) => {
                if q.index() >= self.held_queues[o].len() {
                    self.held_queues[o].resize(q.index() + 1, false);
                    self.queues[o].resize(q.index() + 1, VecDeque::new());
                    self.books.ports[o].queues.resize(q.index() + 1, QueueBook::default());
                }
                self.held_queues[o][q.index()] = held;
            }
        }
        self.refresh_books(o);
    }

    /// Whether queue `q` of `port` is held, itself or through its priority.
    pub fn is_held(&self, port: PortId, q: QueueId) -> bool {
        self.books.ports[port.index()].queues.get(q.index()).is_some_and(|b| b.held)
    }

    /// Whether packets wait in a queue that is held.
    pub fn holds_packets(&self) -> bool {
        self.books.ports.iter().flat_map(|p| &p.queues).any(|q| q.held && q.packets > 0)
    }

    /// Queues of `port` that have something to serve and are not held.
    pub fn ready(&self, port: PortId) -> impl Iterator<Item = QueueId> {
        let o = port.index();
        (0..self.queues[o].len())
            .filter(move |&q| !self.queues[o][q].is_empty() && !self.books.ports[o].queues[q].held)
            .map(QueueId::from_index)
    }

    /// Queues of `port` whose turn it may be: ready ones of the highest rank that has any.
    pub fn up_next(&self, port: PortId) -> Vec<QueueId> {
        let layout = &self.layouts[port.index()];
        let ranks = layout.ranks();
        let rank = |q: &QueueId| layout.group_of(q.index()).map(|g| ranks[g]);
        let mut ready: Vec<QueueId> = self.ready(port).collect();
        let first = ready.iter().filter_map(rank).min();
        ready.retain(|q| rank(q) == first);
        ready
    }

    /// Serves the head of queue `q` of `port` once, as a scheduler would: follows moves and
    /// swallows until a packet leaves, the scheme waits, or the queue is empty or held.
    ///
    /// # Panics
    /// When the scheme moves packets in a circle, or sends a mark.
    pub fn depart(&mut self, port: PortId, q: QueueId) -> Option<Packet> {
        let (o, qi) = (port.index(), q.index());
        for _ in 0..CIRCLE {
            if self.is_held(port, q) {
                return None;
            }
            let head = *self.queues[o].get(qi)?.front()?;
            let at = PortQueue { port, queue: q };
            let verdict = if self.layouts[o].inspects_heads {
                let mut a = Actions::new();
                let view = NodeView { now: self.now, books: &self.books };
                let verdict = self.scheme.serve(&view, at, &head, &mut a);
                self.carry_out(&mut a);
                verdict
            } else {
                Verdict::Send
            };
            match verdict {
                Verdict::Wait => return None,
                Verdict::Move(to) => {
                    let p = self.pop(o, qi);
                    self.push(port, to, p);
                }
                Verdict::Swallow => {
                    let p = self.pop(o, qi);
                    assert_eq!(p.kind, PacketKind::Mark, "only marks are swallowed");
                }
                Verdict::Send => {
                    assert_ne!(head.kind, PacketKind::Mark, "marks are never sent");
                    return Some(self.send_head(port, q));
                }
            }
        }
        panic!("port {port} serves its queue {q} forever");
    }

    fn send_head(&mut self, port: PortId, q: QueueId) -> Packet {
        let mut p = self.pop(port.index(), q.index());
        self.books.mmu.release(p.ingress, p.priority, p.size);
        self.books.ports[port.index()].q_out[p.priority.index()] -= p.bytes();
        let mut a = Actions::new();
        let view = NodeView { now: self.now, books: &self.books };
        self.scheme.depart(&view, &mut p, PortQueue { port, queue: q }, &mut a);
        self.carry_out(&mut a);
        p
    }

    /// A control frame comes in by `port`.
    pub fn control(&mut self, port: PortId, message: &ControlMessage) {
        let mut a = Actions::new();
        let view = NodeView { now: self.now, books: &self.books };
        self.scheme.control(&view, port, message, &mut a);
        self.carry_out(&mut a);
    }

    /// The link at `port` changes.
    pub fn link(&mut self, port: PortId, link: LinkState) {
        let mut a = Actions::new();
        let view = NodeView { now: self.now, books: &self.books };
        self.scheme.link(&view, port, link, &mut a);
        self.carry_out(&mut a);
    }

    /// Moves the clock to the earliest timer and fires it; `None` when none is armed.
    pub fn fire_next(&mut self) -> Option<TimerKey> {
        let (&key, &at) = self.timers.iter().min_by_key(|(key, at)| (**at, **key))?;
        self.timers.remove(&key);
        self.now = self.now.max(at);
        let mut a = Actions::new();
        let view = NodeView { now: self.now, books: &self.books };
        self.scheme.timer(&view, key, &mut a);
        self.carry_out(&mut a);
        Some(key)
    }

    /// Armed timers.
    pub fn timers(&self) -> &BTreeMap<TimerKey, Time> {
        &self.timers
    }

    /// Rate limits in force.
    pub fn limits(&self) -> &BTreeMap<(PortId, Priority), Rate> {
        &self.limits
    }

    /// What waits in a queue, marks included.
    pub fn queue(&self, port: PortId, q: QueueId) -> impl Iterator<Item = &Packet> {
        self.queues[port.index()].get(q.index()).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests;
