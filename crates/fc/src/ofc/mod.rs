//! OFC: original-congestion based fine-grained priority flow control (Xiao et al., "OFC: An
//! Original congestion-based Fine-grained Priority Flow Control").
//!
//! *Problem:* a PFC pause stops every flow of a priority, also those that do not contribute to
//! the congestion, and as queues fill hop by hop it spreads. *Idea:* a port whose
//! egress is congested without being paused is the **origin**; its PAUSE lists the flows in its
//! queue. Switches further upstream do not list their own flows but propagate the list
//! they received, so only flows through the origin are paused along the whole tree. The
//! paused side keeps the packets of paused flows separate in two backup queues, arranged so
//! that no flow is reordered. Only in the urgent state, with the ingress at the full
//! threshold, is everything paused.
//!
//! *Messages:* [`ControlMessage::OfcTuples`] (24 + 13n bytes, at least 64; at most 114 flows in
//! a frame, longer lists take several frames). With `flow-key = pair`
//! [`ControlMessage::OfcFlows`] (24 + 8n bytes, at most 186 host pairs). The wildcard ALL is an
//! `OfcFlows` without a list.
//!
//! *Tables*, per switch (Section III; what an entry takes is in [`ENTRY_BYTES`]):
//!
//! | table | key | value | here |
//! |---|---|---|---|
//! | `flow_in_port_tab` | ingress, egress, priority, flow | packets | `counts` |
//! | `congested_flow_tab` | egress, priority | paused flows | `egress` (`hierarchy.rs`) |
//! | `pause_frame_tab` | ingress, priority | flows told to pause | `told` |
//!
//! *Listings:* Algorithm 1 is `notify.rs`, Algorithms 2 and 3 are `hierarchy.rs`; the counting
//! lines (2.12 and 3.9 to 3.12) are in `tables.rs`. A NIC holds flow slots (`card.rs`).
//!
//! # Readings
//!
//! The listings leave things open or contradict the text. What runs by default, and what
//! the literal reading does (tests show each defect):
//!
//! | option | default | other reading | its defect |
//! |---|---|---|---|
//! | `rotation` | `swap` | `back`: the text | packets of paused flows are never sent |
//! | | | `modulo`: Algorithm 3 line 18 | puts paused packets behind newer ones |
//! | `during-drain` | `pending` | `at-once`: Algorithm 2 line 8 | reorders |
//! | | | `whole-frames`: all frames wait | sends paused flows |
//! | `origin-test` | `mark` | `receipt`: Algorithm 2 line 8 | lists innocent flows during a drain |
//! | `resume-test` | `dequeue` | `enqueue`: Algorithm 1 line 1 | a paused ingress never resumes |
//! | `pause-table` | `union` | `overwrite`: Algorithm 1 line 14 | flows stay paused forever |
//! | `scope` | `ingress` | `port`: the tables as a whole | lists flows of other neighbours |
//! | `urgent-wildcard` | true | false: lists known flows | unknown flows still come |
//! | `flow-key` | `flow` | `pair`: (src, dst) | pauses other flows between the same hosts |
//!
//! * `rotation`: with `swap` the backups change roles after a drain; with `back` the sink changes
//!   from backup 2 to 1; with `modulo` from q to (q+1) mod 2.
//! * `during-drain`: with `pending` RESUMEs wait for the mark.
//! * `origin-test`: with `mark` a resumed port is an origin again when its backlog has left.
//! * `resume-test`: with `enqueue` an ingress whose flows are all paused never resumes.
//! * `pause-table`: with `union` a PAUSE is sent when the table grows.
//! * `scope`: with `ingress` a PAUSE lists the flows that came in by the port it is sent to.
//! * `flow-key`: `flow` is the 5-tuple of the text, `pair` that of the paper's table sizes.
//!
//! Further: Algorithm 1 would send an undefined list when only the ingress is above the lower
//! threshold; nothing is sent then. An egress length is that of the normal queue and both
//! backups together; moves between them change no counter. Packets that are not data (ACKs in
//! a lossless priority) count as a flow from their data's source to where they go.

mod card;
mod hierarchy;
mod notify;
mod soft;
mod tables;
#[cfg(test)]
mod tests;

pub use crate::refresh::REFRESH;
use crate::refresh::Refresh;
use crate::{
    Actions, Fallback, FlowControl, Group, Hints, IngressBound, Interest, Kind, LinkState, Mmu,
    Network, NodeSetup, NodeView, Param, ParamError, PortQueue, QueueLayout, Role, SchemeInfo,
    Senders, StateSize, TimerKey, Values, Verdict, Violation, threshold,
};
use card::Card;
use hierarchy::{Hierarchy, Lane, Queues, Rules};
use tables::{FlowCounts, FlowKey, Frame, KeyKind, Told};
use weir_core::{Bytes, ControlMessage, Packet, PacketKind, PortId, Priority, QueueId};

/// Bytes of an entry of `flow_in_port_tab`, `congested_flow_tab` and `pause_frame_tab`: 64-bit
/// registers, three for key, priority and count, one for a flow, two for (upstream port,
/// priority) and a flow. The columns of the paper's Table II stand 3 : 1 : 2 as these do.
pub const ENTRY_BYTES: [u64; 3] = [24, 8, 16];
/// How full a hash table of a switch is allowed to be. Tables that must take the most entries seen
/// need this much more room. (That the paper's Table II is computed so is a conjecture.)
pub const LOAD_FACTOR_PERCENT: u64 = 70;

/// The lower pause threshold.
pub const XOFF_CONGESTED: Param = Param {
    name: "xoff-congested",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Lower pause threshold, for ingress and egress; default: alpha times xoff.",
};
/// The lower pause threshold as a part of the pause threshold.
pub const ALPHA: Param = Param {
    name: "alpha",
    kind: Kind::Fraction,
    fallback: Fallback::Absent("derived"),
    doc: "Lower pause threshold as a part of xoff, instead of xoff-congested; default: 68/75.",
};
/// What makes a flow.
pub const FLOW_KEY: Param = Param {
    name: "flow-key",
    kind: Kind::Choice(&["flow", "pair"]),
    fallback: Fallback::Is("flow"),
    doc: "What is paused as one flow: a single flow (5-tuple), or all packets between two hosts.",
};
/// How the urgent state pauses.
pub const URGENT_WILDCARD: Param = Param {
    name: "urgent-wildcard",
    kind: Kind::Bool,
    fallback: Fallback::Is("true"),
    doc: "Urgent state: pause every flow (true), or list the flows seen so far (false).",
};
/// How the three queues change roles.
pub const ROTATION: Param = Param {
    name: "rotation",
    kind: Kind::Choice(&["swap", "back", "modulo"]),
    fallback: Fallback::Is("swap"),
    doc: "After a drain the backups have swapped roles; back and modulo are literal readings, both \
          wrong.",
};
/// What frames do while a drain lasts.
pub const DURING_DRAIN: Param = Param {
    name: "during-drain",
    kind: Kind::Choice(&["pending", "at-once", "whole-frames"]),
    fallback: Fallback::Is("pending"),
    doc: "A RESUME during a drain waits for its end; at-once and whole-frames are other readings, \
          both wrong.",
};
/// When a resumed port may be an origin again.
pub const ORIGIN_TEST: Param = Param {
    name: "origin-test",
    kind: Kind::Choice(&["mark", "receipt"]),
    fallback: Fallback::Is("mark"),
    doc: "A resumed port may be an origin again when what was paused has left; receipt (at once) \
          is the literal reading.",
};
/// When the resume threshold is tested.
pub const RESUME_TEST: Param = Param {
    name: "resume-test",
    kind: Kind::Choice(&["dequeue", "enqueue"]),
    fallback: Fallback::Is("dequeue"),
    doc: "Test the resume threshold when a packet leaves; enqueue is the literal reading, and \
          wrong.",
};
/// What the table of pauses sent holds.
pub const PAUSE_TABLE: Param = Param {
    name: "pause-table",
    kind: Kind::Choice(&["union", "overwrite"]),
    fallback: Fallback::Is("union"),
    doc: "Remember all flows that were paused; overwrite (only those of the last frame) is the \
          literal reading, and wrong.",
};
/// Whose flows are named.
pub const SCOPE: Param = Param {
    name: "scope",
    kind: Kind::Choice(&["ingress", "port"]),
    fallback: Fallback::Is("ingress"),
    doc: "Name only flows that came in by the ingress; port (whole tables) is the literal reading.",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "ofc",
    title: "OFC",
    summary: "Pauses only the flows that cause the congestion, named by the port where it starts; \
              paused flows wait in backup queues without reordering.",
    reference: "Xiao et al., OFC: An Original congestion-based Fine-grained Priority Flow Control",
    params: &[
        XOFF_CONGESTED,
        ALPHA,
        FLOW_KEY,
        URGENT_WILDCARD,
        ROTATION,
        DURING_DRAIN,
        ORIGIN_TEST,
        RESUME_TEST,
        PAUSE_TABLE,
        SCOPE,
        REFRESH,
    ],
    lossless: true,
    ingress_bound: |_| IngressBound::Pauses,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |_| false,
    build,
};

/// How the queues of a hierarchy change roles when a drain begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Rotation {
    Swap,
    Back,
    Modulo,
}

/// What a RESUME does while a drain lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DuringDrain {
    Pending,
    AtOnce,
    WholeFrames,
}

/// When a resumed flow leaves `congested_flow_tab`, as far as the search for the origin goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum OriginTest {
    Mark,
    Receipt,
}

/// Whether `pause_frame_tab` gathers or forgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PauseTable {
    Union,
    Overwrite,
}

/// Which flows of a congested egress are named to an ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scope {
    Ingress,
    Port,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Config {
    /// By port.
    xoff_congested: Vec<Bytes>,
    key: KeyKind,
    urgent_wildcard: bool,
    rules: Rules,
    resume_on_dequeue: bool,
    pause_table: PauseTable,
    scope: Scope,
}

impl Config {
    fn read(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let (given, alpha) = (values.bytes(&XOFF_CONGESTED), values.ratio(&ALPHA));
        if given.is_some() && alpha.is_some() {
            return Err(ParamError("give xoff-congested or alpha, not both".into()));
        }
        let alpha = alpha.unwrap_or(threshold::ALPHA);
        Ok(Self {
            xoff_congested: threshold::lower(XOFF_CONGESTED.name, given, alpha, setup)?,
            key: values.one_of(&FLOW_KEY, &[("flow", KeyKind::Flow), ("pair", KeyKind::Pair)]),
            urgent_wildcard: values.bool(&URGENT_WILDCARD).expect("has a default"),
            rules: Rules {
                rotation: values.one_of(
                    &ROTATION,
                    &[
                        ("swap", Rotation::Swap),
                        ("back", Rotation::Back),
                        ("modulo", Rotation::Modulo),
                    ],
                ),
                during_drain: values.one_of(
                    &DURING_DRAIN,
                    &[
                        ("pending", DuringDrain::Pending),
                        ("at-once", DuringDrain::AtOnce),
                        ("whole-frames", DuringDrain::WholeFrames),
                    ],
                ),
                origin_test: values.one_of(
                    &ORIGIN_TEST,
                    &[("mark", OriginTest::Mark), ("receipt", OriginTest::Receipt)],
                ),
            },
            resume_on_dequeue: values
                .one_of(&RESUME_TEST, &[("dequeue", true), ("enqueue", false)]),
            pause_table: values.one_of(
                &PAUSE_TABLE,
                &[("union", PauseTable::Union), ("overwrite", PauseTable::Overwrite)],
            ),
            scope: values.one_of(&SCOPE, &[("ingress", Scope::Ingress), ("port", Scope::Port)]),
        })
    }
}

/// OFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ofc {
    role: Role,
    config: Config,
    layout: QueueLayout,
    ports: usize,
    /// The queues of each priority; only the normal one where there are no backups.
    queues: [Queues; Priority::COUNT],
    /// The position of each lossless priority among the lossless ones.
    class: [Option<u8>; Priority::COUNT],
    /// `flow_in_port_tab`, by class, ingress and egress.
    counts: Vec<FlowCounts>,
    /// `pause_frame_tab`, by class and ingress.
    told: Vec<Told>,
    /// `congested_flow_tab` and queue roles, by class and egress.
    egress: Vec<Hierarchy>,
    card: Card,
    refresh: Refresh<soft::Named>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Ofc::new(values, setup)?))
}

/// The layout of plain PFC with two backups for each lossless priority, and where the queues
/// of each priority are. Backups of a strict priority rank above its normal queue; those of a
/// weighted one are in its group, so that they share its weight.
fn with_backups(setup: &NodeSetup<'_>) -> (QueueLayout, [Queues; Priority::COUNT]) {
    let plain = QueueLayout::per_priority(setup.schedule);
    let mut layout = QueueLayout { inspects_heads: true, ..QueueLayout::default() };
    let mut queues = [Queues::default(); Priority::COUNT];
    for (group, spec) in plain.groups.iter().zip(&plain.queues) {
        let ranked = group.quantum.is_none();
        let lossless = setup.lossless.contains(spec.priority);
        let at = &mut queues[spec.priority.index()];
        at.ranked = ranked;
        if lossless {
            at.backup = layout.queues.len() as u32;
            layout.queues.extend([*spec; 2]);
        }
        if lossless && ranked {
            layout.groups.push(Group { queues: 2, ..*group });
        }
        at.normal = layout.queues.len() as u32;
        layout.queues.push(*spec);
        let queues = if lossless && !ranked { 3 } else { 1 };
        layout.groups.push(Group { queues, ..*group });
    }
    (layout, queues)
}

impl Ofc {
    /// OFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let config = Config::read(values, setup)?;
        let (layout, queues) = match setup.role {
            Role::Switch => with_backups(setup),
            Role::Nic => {
                let only = |normal| Queues { normal, ..Queues::default() };
                (QueueLayout::per_priority(setup.schedule), setup.schedule.queue_of().map(only))
            }
        };
        let ports = setup.ports.len();
        let mut class = [None; Priority::COUNT];
        let mut classes = 0;
        for priority in setup.lossless.iter() {
            class[priority.index()] = Some(classes);
            classes += 1;
        }
        let lanes = usize::from(classes) * ports;
        Ok(Self {
            role: setup.role,
            config,
            layout,
            ports,
            queues,
            class,
            counts: vec![FlowCounts::default(); lanes * ports],
            told: vec![Told::default(); lanes],
            egress: vec![Hierarchy::default(); lanes],
            card: Card::default(),
            refresh: Refresh::new(values, setup)?,
        })
    }

    /// Whether the scheme governs `priority`.
    #[inline]
    fn is_lossless(&self, priority: Priority) -> bool {
        self.class[priority.index()].is_some()
    }

    /// Index of (priority, port) in `told` and `egress`; the priority is lossless.
    #[inline]
    fn at(&self, priority: Priority, port: PortId) -> usize {
        let class = self.class[priority.index()].unwrap_or_default();
        usize::from(class) * self.ports + port.index()
    }

    /// Index of (priority, ingress, egress) in `counts`.
    #[inline]
    fn between(&self, priority: Priority, ingress: PortId, egress: PortId) -> usize {
        self.at(priority, ingress) * self.ports + egress.index()
    }

    fn lane(&self, priority: Priority, port: PortId) -> Lane {
        Lane { port, priority, queues: self.queues[priority.index()] }
    }

    fn lossless(&self) -> impl Iterator<Item = Priority> + use<> {
        let class = self.class;
        Priority::ALL.into_iter().filter(move |p| class[p.index()].is_some())
    }
}

impl Ofc {
    /// What was before it in the served queue is thrown away, too: the drain is over.
    fn discard_mark(&mut self, v: &NodeView<'_>, at: PortQueue, mark: &Packet, a: &mut Actions) {
        self.serve(v, at, mark, a);
    }
}

impl FlowControl for Ofc {
    fn layout(&self, _port: PortId) -> QueueLayout {
        self.layout.clone()
    }

    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId {
        if self.is_lossless(p.priority) {
            let between = self.between(p.priority, p.ingress, egress);
            self.counts[between].add(FlowKey::of(p, self.config.key));
            self.notify(v, p.ingress, egress, p.priority, a);
            if !self.config.resume_on_dequeue {
                self.resume_drained(v, p.ingress, p.priority, a);
            }
        }
        QueueId(self.queues[p.priority.index()].normal)
    }

    fn serve(
        &mut self,
        _v: &NodeView<'_>,
        at: PortQueue,
        head: &Packet,
        a: &mut Actions,
    ) -> Verdict {
        // a mark's own priority means nothing: its queue's does
        let Some(spec) = self.layout.queues.get(at.queue.index()) else { return Verdict::Send };
        let priority = spec.priority;
        if !self.is_lossless(priority) {
            return Verdict::Send;
        }
        let lane = self.lane(priority, at.port);
        let index = self.at(priority, at.port);
        let hierarchy = &mut self.egress[index];
        if head.kind == PacketKind::Mark {
            hierarchy.end_drain(self.config.rules, &lane, a);
            Verdict::Swallow
        } else if hierarchy.diverts(FlowKey::of(head, self.config.key)) {
            Verdict::Move(lane.queue(hierarchy.sink))
        } else {
            Verdict::Send
        }
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        if self.role == Role::Nic || !self.is_lossless(p.priority) {
            return;
        }
        let between = self.between(p.priority, p.ingress, from.port);
        self.counts[between].remove(FlowKey::of(p, self.config.key));
        if self.config.resume_on_dequeue {
            self.resume_drained(v, p.ingress, p.priority, a);
        }
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let Some((priority, frame)) = Frame::read(m) else { return };
        if !self.is_lossless(priority) {
            return;
        }
        self.hear(v, port, priority, &frame, a);
        match self.role {
            Role::Nic => self.card.receive(port, priority, frame, a),
            Role::Switch => {
                let (at, lane) = (self.at(priority, port), self.lane(priority, port));
                self.egress[at].receive(frame, self.config.rules, &lane, a);
            }
        }
    }

    fn discard(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        from: Option<PortQueue>,
        a: &mut Actions,
    ) {
        match from {
            Some(at) if p.kind == PacketKind::Mark => self.discard_mark(v, at, p, a),
            Some(at) => self.depart(v, p, at, a),
            None => {}
        }
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        self.refresh(v, key, a);
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.refresh.link(v.now, port, link, a);
        for priority in self.lossless() {
            let (at, lane) = (self.at(priority, port), self.lane(priority, port));
            match self.role {
                Role::Nic => self.card.resume_all(port, priority, a),
                Role::Switch => {
                    let empty = lane.packets(v) == 0;
                    self.egress[at].reset(empty, self.config.rules, &lane, a);
                }
            }
            if link.is_up() && self.role == Role::Switch {
                self.tell_anew(v, port, priority, a);
            }
        }
    }

    fn flow_starts(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.card.flow_starts(slot, p.priority, FlowKey::of(p, self.config.key), a);
    }

    fn flow_ends(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.card.flow_ends(slot, p.priority, FlowKey::of(p, self.config.key), a);
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        let wrong = |what: String| Err(Violation { scheme: INFO.name, what });
        if network.is_drained() && !self.card.is_at_rest() {
            return wrong(format!("flows are still paused: {:?}", self.card.paused));
        }
        if self.role == Role::Nic {
            return Ok(());
        }
        for priority in self.lossless() {
            for port in (0..self.ports).map(PortId::from_index) {
                let at = self.at(priority, port);
                let counted: u64 = (0..self.ports)
                    .map(|i| &self.counts[self.between(priority, PortId::from_index(i), port)])
                    .map(FlowCounts::packets)
                    .sum();
                let queued = self.lane(priority, port).packets(v);
                if counted != queued {
                    return wrong(format!(
                        "port {port} holds {queued} packets of priority {priority}, \
                         flow_in_port_tab counts {counted}"
                    ));
                }
                if network.is_drained() && !self.told[at].is_nothing() {
                    return wrong(format!(
                        "port {port} still pauses {:?} of its neighbour",
                        self.told[at]
                    ));
                }
                if network.is_drained() && !self.egress[at].is_at_rest() {
                    return wrong(format!("port {port} is still paused: {:?}", self.egress[at]));
                }
            }
        }
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let seen: usize = self.counts.iter().map(FlowCounts::len).sum();
        let congested: usize = self.egress.iter().map(|e| e.paused.len() + e.draining.len()).sum();
        let told: usize = self.told.iter().map(|t| t.flows.len()).sum();
        StateSize {
            tables: vec![
                ("flow_in_port_tab", seen as u64 * ENTRY_BYTES[0]),
                ("congested_flow_tab", congested as u64 * ENTRY_BYTES[1]),
                ("pause_frame_tab", told as u64 * ENTRY_BYTES[2]),
            ],
        }
    }
}

impl Hints for Ofc {
    fn interest(&self, _mmu: &Mmu, _ingress: PortId, priority: Priority) -> Interest {
        match self.is_lossless(priority) && self.role == Role::Switch {
            true => Interest::Every,
            false => Interest::Never(QueueId(self.queues[priority.index()].normal)),
        }
    }

    /// Below both thresholds no frame is sent, and while no flow is paused at the egress its heads
    /// are sent.
    fn pass(&mut self, v: &NodeView<'_>, p: &mut Packet, egress: PortId) -> Option<QueueId> {
        let Packet { ingress, priority, .. } = *p;
        if !self.is_lossless(priority) {
            return None;
        }
        let bytes = v.q_in(ingress, priority).saturating_add(p.bytes());
        let passes = bytes < self.config.xoff_congested[ingress.index()]
            && bytes < v.books.mmu.pause_threshold(ingress, priority)
            && self.told[self.at(priority, ingress)].is_nothing()
            && self.egress[self.at(priority, egress)].is_at_rest();
        passes.then(|| QueueId(self.queues[priority.index()].normal))
    }
}
