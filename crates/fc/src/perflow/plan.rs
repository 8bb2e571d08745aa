//! A scheme's own queues among the plain queues of the other priorities.

use crate::{Group, NodeSetup, OnDemand, QueueLayout, QueueSpec, Role};
use weir_core::{Priority, QueueId};

/// The queues a scheme wants for each priority it controls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Own {
    /// Queues served strictly before the data queues.
    pub ahead: u32,
    /// Data queues, served round robin.
    pub data: u32,
    /// Data queues are made as needed instead: as many as there are flows.
    pub on_demand: bool,
    /// Whether the scheme looks at every head.
    pub inspects_heads: bool,
}

/// One controlled priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Class {
    priority: Priority,
    /// Its first data queue; those served before come just below it.
    first: u32,
}

/// The queues of every port of a node.
///
/// Every lossless priority is controlled and is a *class* of its own, counted from 0 in order of
/// priority. It has the scheme's queues instead of one, in the rank that the schedule gives it;
/// they all carry its priority, so that a PFC pause holds them together. A weighted priority shares
/// its weight among its queues; only what it has ahead comes before all weighted ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    classes: Vec<Class>,
    /// The distance between two data queues of a class.
    step: u32,
    class_of: [Option<u8>; Priority::COUNT],
    queue_of: [u32; Priority::COUNT],
    layout: QueueLayout,
}

impl Plan {
    /// The queues `own` of each lossless priority of `setup`.
    pub(crate) fn new(setup: &NodeSetup<'_>, own: Own) -> Self {
        let mut plan = Self {
            classes: Vec::new(),
            step: 1,
            class_of: [None; Priority::COUNT],
            queue_of: [0; Priority::COUNT],
            layout: QueueLayout { inspects_heads: own.inspects_heads, ..QueueLayout::default() },
        };
        for priority in setup.lossless.iter() {
            plan.class_of[priority.index()] = Some(plan.classes.len() as u8);
            plan.classes.push(Class { priority, first: 0 });
        }
        match setup.role {
            Role::Switch => plan.lay_out(setup, own),
            Role::Nic => plan.slots(),
        }
        plan
    }

    fn lay_out(&mut self, setup: &NodeSetup<'_>, own: Own) {
        let is_strict = |p: &Priority| setup.schedule.quantum_of(*p).is_none();
        let (strict, weighted): (Vec<_>, Vec<_>) = setup.schedule.order().partition(is_strict);
        for p in strict {
            self.ahead(p, own);
            self.queues(p, own, setup);
        }
        // a strict group between weighted ones would part them
        weighted.iter().for_each(|p| self.ahead(*p, own));
        weighted.iter().for_each(|p| self.queues(*p, own, setup));
        if own.on_demand {
            self.step = self.layout.on_demand.len().max(1) as u32;
            for (kind, more) in self.layout.on_demand.iter().enumerate() {
                let class = self.class_of[more.spec.priority.index()].unwrap_or_default();
                let first = self.layout.queues.len() + kind;
                self.classes[usize::from(class)].first = first as u32;
            }
        }
    }

    /// A NIC's queues are its flow slots.
    fn slots(&mut self) {
        let priority = self.classes.first().map_or(Priority::default(), |c| c.priority);
        self.layout.groups.push(Group { queues: 0, quantum: None });
        let spec = QueueSpec { priority, data: true };
        self.layout.on_demand.push(OnDemand { group: 0, spec });
    }

    fn add(&mut self, group: Group, spec: QueueSpec) {
        self.layout.groups.push(group);
        self.layout.queues.extend((0..group.queues).map(|_| spec));
    }

    fn ahead(&mut self, priority: Priority, own: Own) {
        if own.ahead > 0 && self.class_of[priority.index()].is_some() {
            self.queue_of[priority.index()] = self.layout.queues.len() as u32;
            let spec = QueueSpec { priority, data: false };
            self.add(Group { queues: own.ahead, quantum: None }, spec);
        }
    }

    fn queues(&mut self, priority: Priority, own: Own, setup: &NodeSetup<'_>) {
        let quantum = setup.schedule.quantum_of(priority);
        let first = self.layout.queues.len() as u32;
        let Some(class) = self.class_of[priority.index()] else {
            self.queue_of[priority.index()] = first;
            return self.add(Group { queues: 1, quantum }, QueueSpec { priority, data: false });
        };
        let spec = QueueSpec { priority, data: true };
        if own.on_demand {
            let group = self.layout.groups.len() as u32;
            self.layout.on_demand.push(OnDemand { group, spec });
            return self.add(Group { queues: 0, quantum }, spec);
        }
        self.classes[usize::from(class)].first = first;
        self.add(Group { queues: own.data, quantum }, spec);
    }

    pub(crate) fn layout(&self) -> QueueLayout {
        self.layout.clone()
    }

    /// The plain queue of a priority that is not controlled; of one that is, the first of those
    /// ahead of its data queues.
    #[inline]
    pub(crate) fn other(&self, priority: Priority) -> QueueId {
        QueueId(self.queue_of[priority.index()])
    }

    /// How many priorities are controlled.
    #[inline]
    pub(crate) fn classes(&self) -> usize {
        self.classes.len()
    }

    /// The class of `priority`, if it is controlled.
    #[inline]
    pub(crate) fn class(&self, priority: Priority) -> Option<usize> {
        self.class_of[priority.index()].map(usize::from)
    }

    /// The priority of a class.
    #[inline]
    pub(crate) fn priority(&self, class: usize) -> Priority {
        self.classes[class].priority
    }

    /// The class whose queue `queue` is, if a controlled priority's.
    #[inline]
    pub(crate) fn class_of(&self, queue: QueueId) -> Option<usize> {
        self.class(self.layout.spec(queue.index())?.priority)
    }

    /// The `i`-th data queue of a class.
    #[inline]
    pub(crate) fn data(&self, class: usize, i: u32) -> QueueId {
        QueueId(self.classes[class].first + i * self.step)
    }

    /// Which data queue of its class `queue` is.
    #[inline]
    pub(crate) fn index(&self, class: usize, queue: QueueId) -> u32 {
        (queue.0 - self.classes[class].first) / self.step
    }

    /// Where the state of `class` at `port` is in a list by port and class.
    #[inline]
    pub(crate) fn at(&self, port: weir_core::PortId, class: usize) -> usize {
        port.index() * self.classes.len() + class
    }

    /// The states at `port` in such a list, by class.
    #[inline]
    pub(crate) fn all_at(&self, port: weir_core::PortId) -> std::ops::Range<usize> {
        self.at(port, 0)..self.at(port, self.classes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortSetup, PrioritySchedule, Thresholds};
    use weir_core::PrioritySet;
    use weir_core::{Bytes, NodeId, PortId, Rate, Time};

    fn plan_of(role: Role, schedule: &PrioritySchedule, lossless: u8, own: Own) -> Plan {
        let ports = [PortSetup::new(Rate::from_gbps(40), Time::ZERO)];
        let setup = NodeSetup {
            node: NodeId(0),
            role,
            ports: &ports,
            schedule,
            lossless: PrioritySet::from_bits(lossless),
            thresholds: &Thresholds::Pool,
            max_frame: Bytes::new(1518),
            response: weir_core::Response::NONE,
            seed: 1,
        };
        Plan::new(&setup, own)
    }

    fn plan(schedule: &PrioritySchedule, lossless: u8, own: Own) -> Plan {
        plan_of(Role::Switch, schedule, lossless, own)
    }

    fn weights(pairs: &[(usize, u32)]) -> PrioritySchedule {
        let mut schedule = PrioritySchedule::default();
        pairs.iter().for_each(|(p, w)| schedule.weights[*p] = *w);
        schedule
    }

    fn groups(layout: &QueueLayout) -> Vec<u32> {
        layout.groups.iter().map(|g| g.queues).collect()
    }

    #[test]
    fn the_controlled_priority_keeps_its_rank() {
        let own = Own { ahead: 1, data: 3, ..Own::default() };
        let plan = plan(&PrioritySchedule::default(), 1 << 3, own);
        // priorities 7..4, the queue ahead, the data queues, priorities 2..0
        assert_eq!(groups(&plan.layout()), [1, 1, 1, 1, 1, 3, 1, 1, 1]);
        assert_eq!((plan.data(0, 0), plan.data(0, 2)), (QueueId(5), QueueId(7)));
        let data: Vec<bool> = plan.layout().queues.iter().map(|q| q.data).collect();
        assert_eq!(data.iter().filter(|d| **d).count(), 3);
        assert!(data[5] && data[7]);
        assert_eq!(plan.other(Priority::ALL[7]), QueueId(0));
        assert_eq!(plan.other(Priority::ALL[3]), QueueId(4), "ahead");
        assert_eq!(plan.other(Priority::ALL[2]), QueueId(8));
    }

    #[test]
    fn every_lossless_priority_has_queues_of_its_own() {
        let own = Own { data: 2, ..Own::default() };
        let plan = plan(&PrioritySchedule::default(), 0b1000_1010, own);
        // 7 is class 2, 3 class 1, 1 class 0
        assert_eq!(groups(&plan.layout()), [2, 1, 1, 1, 2, 1, 2, 1]);
        let first = |class| (plan.priority(class).index(), plan.data(class, 0).0);
        assert_eq!([0, 1, 2].map(first), [(1, 8), (3, 5), (7, 0)]);
        assert_eq!(plan.class(Priority::ALL[3]), Some(1));
        assert_eq!(plan.class(Priority::ALL[2]), None);
        let classes: Vec<_> = (0..11).map(|q| plan.class_of(QueueId(q))).collect();
        let (a, b, c) = (Some(0), Some(1), Some(2));
        assert_eq!(classes, [c, c, None, None, None, b, b, None, a, a, None]);
        assert_eq!(plan.index(1, QueueId(6)), 1);
        assert_eq!((plan.classes(), plan.at(PortId(2), 1)), (3, 7));
        assert_eq!(plan.all_at(PortId(2)), 6..9);
    }

    #[test]
    fn queues_made_on_demand_keep_their_rank_and_never_meet() {
        let own = Own { on_demand: true, ..Own::default() };
        for schedule in [weights(&[]), weights(&[(1, 1), (2, 1), (3, 1), (5, 2), (7, 1)])] {
            let plan = plan(&schedule, 0b0010_1010, own);
            let layout = plan.layout();
            assert_eq!(layout.queues.len(), 5, "the plain queues of 7, 6, 4, 2 and 0");
            let mut seen = std::collections::BTreeSet::new();
            for class in 0..3 {
                for i in 0..50 {
                    let q = plan.data(class, i);
                    assert!(q.index() >= layout.queues.len() && seen.insert(q));
                    assert_eq!((plan.class_of(q), plan.index(class, q)), (Some(class), i));
                    let group = layout.group_of(q.index()).unwrap();
                    let quantum = schedule.quantum_of(plan.priority(class));
                    assert_eq!(layout.groups[group].quantum, quantum);
                }
            }
        }
        let plan = plan(&PrioritySchedule::default(), 1 << 3, own);
        assert_eq!(groups(&plan.layout()), [1, 1, 1, 1, 0, 1, 1, 1]);
        assert_eq!((plan.data(0, 0), plan.data(0, 1)), (QueueId(7), QueueId(8)));
    }

    #[test]
    fn weighted_priorities_share_a_rank_behind_the_queues_ahead() {
        let own = Own { ahead: 1, data: 4, ..Own::default() };
        let plan = plan(&weights(&[(3, 2), (4, 3), (5, 1)]), 0b1_1000, own);
        // 7, 6, 2, 1, 0 strict; ahead of 4 and 3; priority 5, four queues each of 4 and 3
        let layout = plan.layout();
        assert_eq!(groups(&layout), [1, 1, 1, 1, 1, 1, 1, 1, 4, 4]);
        assert_eq!(layout.ranks(), [0, 1, 2, 3, 4, 5, 6, 7, 7, 7]);
        let quanta: Vec<_> = layout.groups.iter().filter_map(|g| g.quantum).collect();
        assert_eq!(quanta, [1500, 4500, 3000].map(Bytes::new));
        assert_eq!(plan.other(Priority::ALL[4]), QueueId(5));
        assert_eq!(plan.other(Priority::ALL[5]), QueueId(7));
        assert_eq!((plan.data(1, 0), plan.data(0, 0)), (QueueId(8), QueueId(12)));
    }

    #[test]
    fn a_nic_has_slots_and_nothing_else() {
        for (lossless, priority) in [(0b1010_0000, 5), (0, 0)] {
            let own = Own { data: 4, ..Own::default() };
            let layout = plan_of(Role::Nic, &weights(&[]), lossless, own).layout();
            let spec = QueueSpec { priority: Priority::ALL[priority], data: true };
            assert_eq!(layout.on_demand, [OnDemand { group: 0, spec }]);
            assert_eq!((groups(&layout), layout.queues.len()), (vec![0], 0));
        }
    }

    #[test]
    fn without_lossless_priorities_every_priority_has_a_plain_queue() {
        let plan = plan(&PrioritySchedule::default(), 0, Own { data: 4, ..Own::default() });
        assert_eq!((groups(&plan.layout()), plan.classes()), (vec![1; 8], 0));
    }
}
