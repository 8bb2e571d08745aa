//! G-PFC: packet-priority aware PFC (Cui and Rim, "G-PFC: A Packet-Priority Aware PFC Scheme for
//! the Datacenter", APNOMS 2020), as far as its abstract and the OFC paper describe it.
//!
//! *Problem:* within one lossless priority, large flows fill the buffer, and the
//! pause that follows also stops small, latency-sensitive flows. *Idea:* the priority has two
//! sub-classes, high and low. A lower threshold pauses the low one, PFC's own threshold both;
//! high packets have their own queue, served first, and resume earlier.
//!
//! ```text
//!   ingress bytes   X_ON ............... X_LOW ............... X_OFF
//!   growing                              pause low             pause low and high
//!   shrinking       resume low and high  resume high
//! ```
//!
//! *Messages:* PFC frames ([`crate::pfc`]) with two classes: the low sub-class of priority p is
//! class p, the high one the next class above that is neither lossless nor another's (or class
//! p + `high-offset`, modulo 8, which must not be a lossless priority). Packets that carry that
//! class as their priority are not concerned. At most four priorities can be lossless.
//!
//! *Classification:* a packet is high when its [`flags::HIGH`] is set, which its flow decides once
//! and for all, so nothing is reordered.
//!
//! *What is ours:* the paper gives no listing. Sub-queues, thresholds and signalling are a
//! reconstruction; X_LOW is 68/75 of X_OFF as in the OFC paper. The high sub-queue of a weighted
//! priority has a rank above all weighted queues.

use crate::{
    Action, Actions, Fallback, FlowControl, Group, Hints, HoldState, IngressBound, Interest, Kind,
    LinkState, Mmu, Network, NodeSetup, NodeView, Param, ParamError, Pipelined, PortQueue,
    QueueLayout, Role, SchemeInfo, Senders, StateSize, Target, TimerKey, Values, Violation, pfc,
    threshold,
};
use std::collections::BTreeSet;
use weir_core::packet::flags;
use weir_core::{Bytes, ControlMessage, Packet, PortId, Priority, PrioritySet, QueueId, Reason};

/// The low sub-class's pause threshold.
pub const XOFF_LOW: Param = Param {
    name: "xoff-low",
    kind: Kind::Size(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Ingress length at which the low sub-class is paused; default: 68/75 of xoff.",
};
/// Which PFC class stands for the high sub-class.
pub const HIGH_OFFSET: Param = Param {
    name: "high-offset",
    kind: Kind::Whole { min: 1, max: 7 },
    fallback: Fallback::Absent("derived"),
    doc: "The high sub-class of priority p is paused as PFC class p + this (modulo 8); default: as \
          the next free class above p.",
};

/// The catalogue entry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "gpfc",
    title: "G-PFC",
    summary: "PFC with two sub-classes: a lower threshold pauses the low one first, the high one \
              has its own queue and shorter pauses.",
    reference: "Cui and Rim, G-PFC, APNOMS 2020; as a baseline in the OFC paper",
    params: &[XOFF_LOW, HIGH_OFFSET, pfc::TIMER, pfc::PAUSE_QUANTA, pfc::REFRESH],
    lossless: true,
    ingress_bound: |_| IngressBound::Pauses,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |_| false,
    build,
};

/// G-PFC at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gpfc {
    /// Sends, receives and times the frames of both sub-classes.
    pfc: pfc::Pfc,
    role: Role,
    /// By port.
    xoff_low: Vec<Bytes>,
    lossless: PrioritySet,
    layout: QueueLayout,
    /// Queues of the low and the high sub-class of each priority; the same where there are none.
    queue_of: [[u32; 2]; Priority::COUNT],
    /// The PFC class of each lossless priority's high sub-class.
    high_class: [Priority; Priority::COUNT],
    /// NIC: flow slots by PFC class.
    slots: BTreeSet<(PortId, Priority, QueueId)>,
}

fn build(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Gpfc::new(values, setup)?))
}

/// Plain PFC's layout with a queue for the high sub-class in the rank above each lossless one.
fn with_sub_classes(setup: &NodeSetup<'_>) -> (QueueLayout, [[u32; 2]; Priority::COUNT]) {
    let plain = QueueLayout::per_priority(setup.schedule);
    let ranks = plain.ranks();
    let mut layout = QueueLayout::default();
    let mut queue_of = [[0; 2]; Priority::COUNT];
    for (i, group) in plain.groups.iter().enumerate() {
        if i == 0 || ranks[i] != ranks[i - 1] {
            // above all that share the rank: a strict group between them would part them
            let same = (i..).take_while(|&g| ranks.get(g) == Some(&ranks[i]));
            for spec in same.map(|g| plain.queues[g]) {
                if setup.lossless.contains(spec.priority) {
                    queue_of[spec.priority.index()][1] = layout.queues.len() as u32;
                    layout.queues.push(spec);
                    layout.groups.push(Group { queues: 1, quantum: None });
                }
            }
        }
        let spec = plain.queues[i];
        let [low, high] = &mut queue_of[spec.priority.index()];
        *low = layout.queues.len() as u32;
        if !setup.lossless.contains(spec.priority) {
            *high = *low;
        }
        layout.queues.push(spec);
        layout.groups.push(*group);
    }
    (layout, queue_of)
}

/// The PFC class of each lossless priority's high sub-class: so far above it, or the next one that
/// is neither lossless nor another's. (Of other priorities: themselves, and never used.)
fn high_classes(
    offset: Option<u64>,
    lossless: PrioritySet,
) -> Result<[Priority; Priority::COUNT], ParamError> {
    let mut classes = Priority::ALL;
    let mut taken = lossless;
    for p in lossless.iter() {
        let above = |by: usize| Priority::ALL[(p.index() + by) % Priority::COUNT];
        let high = match offset {
            Some(offset) => above(offset as usize),
            None => {
                let free = (1..Priority::COUNT).map(above).find(|c| !taken.contains(*c));
                free.ok_or_else(|| {
                    ParamError(format!(
                        "{} lossless priorities leave no free PFC class for their high \
                         sub-classes: at most 4 can be lossless",
                        lossless.len()
                    ))
                })?
            }
        };
        if lossless.contains(high) {
            return Err(ParamError(format!(
                "high-offset is {}: class {high}, the high sub-class of priority {p}, is itself a \
                 lossless priority",
                offset.unwrap_or_default()
            )));
        }
        taken.set(high, true);
        classes[p.index()] = high;
    }
    Ok(classes)
}

impl Gpfc {
    /// G-PFC for the node described by `setup`.
    pub fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        let given = values.bytes(&XOFF_LOW);
        let high_class = high_classes(values.integer(&HIGH_OFFSET), setup.lossless)?;
        let (layout, queue_of) = match setup.role {
            Role::Switch => with_sub_classes(setup),
            Role::Nic => {
                let queue_of = setup.schedule.queue_of();
                (QueueLayout::per_priority(setup.schedule), queue_of.map(|q| [q; 2]))
            }
        };
        Ok(Self {
            pfc: pfc::Pfc::new(values, setup)?,
            role: setup.role,
            xoff_low: threshold::lower(XOFF_LOW.name, given, threshold::ALPHA, setup)?,
            lossless: setup.lossless,
            layout,
            queue_of,
            high_class,
            slots: BTreeSet::new(),
        })
    }

    #[inline]
    fn is_lossless(&self, priority: Priority) -> bool {
        self.lossless.contains(priority)
    }

    /// The PFC class that pauses packets like `p`, of a lossless priority.
    fn class_of(&self, p: &Packet) -> Priority {
        if p.has(flags::HIGH) { self.high_class[p.priority.index()] } else { p.priority }
    }

    /// The queue that PFC class `class` stands for, if it stands for a sub-class.
    fn queue_of_class(&self, class: Priority) -> Option<QueueId> {
        self.lossless.iter().find_map(|p| {
            let [low, high] = self.queue_of[p.index()];
            match class {
                _ if class == p => Some(QueueId(low)),
                _ if class == self.high_class[p.index()] => Some(QueueId(high)),
                _ => None,
            }
        })
    }

    /// Pauses the sub-classes of a lossless ingress whose thresholds are reached.
    fn pause_if_full(&mut self, v: &NodeView<'_>, i: PortId, priority: Priority, a: &mut Actions) {
        let full = v.books.mmu.should_pause(i, priority);
        let (bytes, low) = (v.q_in(i, priority), self.xoff_low[i.index()]);
        let is_full = || v.books.mmu.pause_reason(i, priority);
        if full || bytes >= low {
            let why = || match bytes >= low {
                true => Reason::ingress(i, bytes).at_least(XOFF_LOW.name, low),
                false => is_full(),
            };
            self.pfc.set_paused(v.now, (i, priority), HoldState::Held, why, a);
        }
        if full {
            let high = self.high_class[priority.index()];
            self.pfc.set_paused(v.now, (i, high), HoldState::Held, is_full, a);
        }
    }

    /// Resumes the sub-classes of a lossless ingress that has drained far enough.
    fn resume_if_drained(
        &mut self,
        v: &NodeView<'_>,
        i: PortId,
        priority: Priority,
        a: &mut Actions,
    ) {
        let drained = v.books.mmu.may_resume(i, priority);
        let (bytes, low) = (v.q_in(i, priority), self.xoff_low[i.index()]);
        let has_drained = || v.books.mmu.resume_reason(i, priority);
        if drained {
            self.pfc.set_paused(v.now, (i, priority), HoldState::Open, has_drained, a);
        }
        if drained || bytes <= low {
            let why = || match bytes <= low {
                true => Reason::ingress(i, bytes).at_most(XOFF_LOW.name, low),
                false => has_drained(),
            };
            let high = self.high_class[priority.index()];
            self.pfc.set_paused(v.now, (i, high), HoldState::Open, why, a);
        }
    }

    /// Carries out what PFC asked for, with holds of a class turned into holds of its queue
    /// or flow slots.
    fn translate(&self, mut asked: Actions, a: &mut Actions) {
        for action in asked.drain() {
            let (port, class, hold) = match action {
                Action::Hold { port, target: Target::Priority(class) } => (port, class, true),
                Action::Open { port, target: Target::Priority(class) } => (port, class, false),
                other => {
                    a.push(other);
                    continue;
                }
            };
            let mut set = |q| {
                let target = Target::Queue(q);
                if hold { a.hold(port, target) } else { a.open(port, target) }
            };
            match (self.role, self.queue_of_class(class)) {
                (_, None) => {
                    let target = Target::Priority(class);
                    if hold { a.hold(port, target) } else { a.open(port, target) }
                }
                (Role::Switch, Some(q)) => set(q),
                (Role::Nic, Some(_)) => {
                    let key = |q| (port, class, QueueId(q));
                    self.slots.range(key(0)..=key(u32::MAX)).for_each(|&(.., q)| set(q));
                }
            }
        }
    }
}

impl FlowControl for Gpfc {
    fn layout(&self, _port: PortId) -> QueueLayout {
        self.layout.clone()
    }

    fn arrive(&mut self, v: &NodeView<'_>, p: &mut Packet, _: PortId, a: &mut Actions) -> QueueId {
        if self.is_lossless(p.priority) {
            self.pause_if_full(v, p.ingress, p.priority, a);
        }
        QueueId(self.queue_of[p.priority.index()][usize::from(p.has(flags::HIGH))])
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, _from: PortQueue, a: &mut Actions) {
        if self.role == Role::Nic || !self.is_lossless(p.priority) {
            return;
        }
        self.resume_if_drained(v, p.ingress, p.priority, a);
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let mut asked = Actions::new();
        self.pfc.control(v, port, m, &mut asked);
        self.translate(asked, a);
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        let mut asked = Actions::new();
        self.pfc.timer(v, key, &mut asked);
        self.translate(asked, a);
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        let mut asked = Actions::new();
        self.pfc.reconnect(v.now, port, link, &mut asked);
        self.translate(asked, a);
        let ingresses = link.is_up() && self.role == Role::Switch;
        // an empty ingress would have no packet left whose departure resumes it
        let stores = |p: &Priority| ingresses && v.q_in(port, *p) > Bytes::ZERO;
        for priority in self.lossless.iter().filter(stores) {
            self.pause_if_full(v, port, priority, a);
        }
    }

    /// Only lossless flows: another priority may share its number with a high sub-class.
    fn flow_starts(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        if !self.is_lossless(p.priority) {
            return;
        }
        let class = self.class_of(p);
        self.slots.insert((slot.port, class, slot.queue));
        if self.pfc.is_paused(slot.port, class) {
            a.hold(slot.port, Target::Queue(slot.queue));
        }
    }

    /// The slot must not stay held for the next flow that uses it.
    fn flow_ends(&mut self, _v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        if self.slots.remove(&(slot.port, self.class_of(p), slot.queue)) {
            a.open(slot.port, Target::Queue(slot.queue));
        }
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.pfc.audit(v, network).map_err(|e| Violation { scheme: INFO.name, ..e })
    }

    fn state_size(&self) -> StateSize {
        self.pfc.state_size()
    }

    fn pipelined(&mut self) -> Result<&mut dyn Pipelined, &'static str> {
        Ok(self)
    }
}

impl Hints for Gpfc {
    fn interest(&self, _mmu: &Mmu, _ingress: PortId, priority: Priority) -> Interest {
        let [low, _] = self.queue_of[priority.index()];
        if self.is_lossless(priority) { Interest::Every } else { Interest::Never(QueueId(low)) }
    }

    fn has_fixed_state(&self) -> bool {
        true
    }
}

impl Pipelined for Gpfc {
    fn ingress_changed(&mut self, v: &NodeView<'_>, i: PortId, p: Priority, a: &mut Actions) {
        if self.is_lossless(p) {
            self.pause_if_full(v, i, p, a);
            self.resume_if_drained(v, i, p, a);
        }
    }
}

#[cfg(test)]
mod tests;
