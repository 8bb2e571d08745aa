//! A scheme's own queues among the plain queues of the other priorities.

use crate::{
    Discipline, Group, NodeSetup, ParamError, PrioritySchedule, QueueLayout, QueueSpec, Role,
};
use weir_core::{Bytes, Priority, QueueId};

/// The queues a scheme wants for the priority it controls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Own {
    /// Queues served strictly before the data queues.
    pub ahead: u32,
    /// Data queues, served round robin.
    pub data: u32,
    /// Whether more data queues are made as needed.
    pub on_demand: bool,
    /// Whether the scheme looks at every head.
    pub inspects_heads: bool,
}

/// The queues of every port of a node.
///
/// Priorities keep the order of the schedule. The controlled priority has the scheme's
/// queues instead of one; they all carry its priority, so that a PFC pause holds them
/// together. Weighted priorities share by deficit round robin, each controlled queue with its
/// priority's quantum. Queues made on demand join the last group, so their priority is
/// moved to the end of the order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    /// The controlled priority.
    pub priority: Priority,
    /// The first data queue; those served before come just below it.
    pub first: u32,
    queue_of: [u32; Priority::COUNT],
    layout: QueueLayout,
}

impl Plan {
    /// The queues `own` of the one lossless priority of `setup`.
    pub(crate) fn new(scheme: &str, setup: &NodeSetup<'_>, own: Own) -> Result<Self, ParamError> {
        let mut lossless = crate::pfc::priorities(setup.lossless);
        let (Some(priority), None) = (lossless.next(), lossless.next()) else {
            return Err(ParamError(format!(
                "{scheme} controls one lossless priority, here are {}",
                setup.lossless.count_ones()
            )));
        };
        let mut builder = Builder::new(setup.schedule, priority, own);
        match setup.role {
            Role::Switch => builder.build(),
            Role::Nic => builder.slots(),
        }
        let Builder { first, queue_of, layout, .. } = builder;
        Ok(Self { priority, first, queue_of, layout })
    }

    pub(crate) fn layout(&self) -> QueueLayout {
        self.layout.clone()
    }

    /// The plain queue of a priority that is not controlled.
    #[inline]
    pub(crate) fn other(&self, priority: Priority) -> QueueId {
        QueueId(self.queue_of[priority.index()])
    }

    /// The `i`-th data queue.
    #[inline]
    pub(crate) fn data(&self, i: u32) -> QueueId {
        QueueId(self.first + i)
    }
}

struct Builder<'a> {
    schedule: &'a PrioritySchedule,
    controlled: Priority,
    own: Own,
    first: u32,
    queue_of: [u32; Priority::COUNT],
    layout: QueueLayout,
}

impl<'a> Builder<'a> {
    fn new(schedule: &'a PrioritySchedule, controlled: Priority, own: Own) -> Self {
        let layout = QueueLayout {
            groups: Vec::new(),
            queues: Vec::new(),
            on_demand: None,
            inspects_heads: own.inspects_heads,
        };
        Self { schedule, controlled, own, first: 0, queue_of: [0; Priority::COUNT], layout }
    }

    fn strict(&self, priority: Priority) -> bool {
        self.schedule.weights[priority.index()] == 0
    }

    fn build(&mut self) {
        let rank = self.schedule.queue_of();
        let mut order = Priority::ALL;
        order.sort_by_key(|p| rank[p.index()]);
        let last = self.own.on_demand && self.strict(self.controlled);
        for p in order.into_iter().filter(|p| self.schedule.weights[p.index()] == 0) {
            if p != self.controlled {
                self.plain(p);
                self.group(Discipline::RoundRobin, 1);
            } else if !last {
                self.own_queues();
                self.group(Discipline::RoundRobin, self.own.data);
            }
        }
        let weighted = order.into_iter().filter(|p| self.schedule.weights[p.index()] != 0);
        self.weighted(weighted);
        if last {
            self.own_queues();
            self.group(Discipline::RoundRobin, self.own.data);
        }
    }

    /// A NIC's queues are its flow slots.
    fn slots(&mut self) {
        self.group(Discipline::RoundRobin, 0);
        self.layout.on_demand = Some(self.spec(self.controlled, true));
    }

    /// All weighted priorities, in one group, the controlled one first: what it has ahead
    /// must come before the group.
    fn weighted(&mut self, priorities: impl Iterator<Item = Priority>) {
        let mut members = 0;
        if !self.strict(self.controlled) {
            self.own_queues();
            members += self.own.data;
        }
        let own = self.controlled;
        for p in priorities.filter(|p| *p != own) {
            self.plain(p);
            members += 1;
        }
        if members > 0 {
            self.group(Discipline::DeficitRoundRobin, members);
        }
    }

    fn group(&mut self, discipline: Discipline, queues: u32) {
        self.layout.groups.push(Group { discipline, queues });
    }

    fn spec(&self, priority: Priority, data: bool) -> QueueSpec {
        let weight = u64::from(self.schedule.weights[priority.index()].max(1));
        let quantum = Bytes::new(self.schedule.quantum.get() * weight);
        QueueSpec { priority, data, quantum }
    }

    fn plain(&mut self, priority: Priority) {
        self.queue_of[priority.index()] = self.layout.queues.len() as u32;
        self.layout.queues.push(self.spec(priority, false));
    }

    fn own_queues(&mut self) {
        let priority = self.controlled;
        if self.own.ahead > 0 {
            self.group(Discipline::RoundRobin, self.own.ahead);
            let spec = self.spec(priority, false);
            self.layout.queues.extend((0..self.own.ahead).map(|_| spec));
        }
        self.first = self.layout.queues.len() as u32;
        self.queue_of[priority.index()] = self.first;
        let spec = self.spec(priority, true);
        self.layout.queues.extend((0..self.own.data).map(|_| spec));
        self.layout.on_demand = self.own.on_demand.then_some(spec);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortSetup, Thresholds};
    use weir_core::{NodeId, Rate, Time};

    fn plan(schedule: &PrioritySchedule, lossless: u8, own: Own) -> Result<Plan, ParamError> {
        let ports = [PortSetup { rate: Rate::from_gbps(40), delay: Time::ZERO }];
        let setup = NodeSetup {
            node: NodeId(0),
            role: Role::Switch,
            ports: &ports,
            schedule,
            lossless,
            thresholds: &Thresholds::Pool,
            max_frame: Bytes::new(1518),
            seed: 1,
        };
        Plan::new("test", &setup, own)
    }

    fn groups(layout: &QueueLayout) -> Vec<u32> {
        layout.groups.iter().map(|g| g.queues).collect()
    }

    #[test]
    fn the_controlled_priority_keeps_its_rank() {
        let own = Own { ahead: 1, data: 3, ..Own::default() };
        let plan = plan(&PrioritySchedule::default(), 1 << 3, own).unwrap();
        // priorities 7..4, the queue ahead, the data queues, priorities 2..0
        assert_eq!(groups(&plan.layout()), [1, 1, 1, 1, 1, 3, 1, 1, 1]);
        assert_eq!((plan.first, plan.data(2)), (5, QueueId(7)));
        let data: Vec<bool> = plan.layout().queues.iter().map(|q| q.data).collect();
        assert_eq!(data.iter().filter(|d| **d).count(), 3);
        assert!(data[5] && data[7]);
        assert_eq!(plan.other(Priority::ALL[7]), QueueId(0));
        assert_eq!(plan.other(Priority::ALL[2]), QueueId(8));
    }

    #[test]
    fn queues_made_on_demand_come_last() {
        let own = Own { data: 1, on_demand: true, ..Own::default() };
        let plan = plan(&PrioritySchedule::default(), 1 << 3, own).unwrap();
        assert_eq!(groups(&plan.layout()), [1; 8]);
        assert_eq!(plan.first, 7);
        assert_eq!(plan.layout().on_demand, Some(plan.layout().queues[7]));
        assert_eq!(plan.other(Priority::ALL[2]), QueueId(4));
    }

    #[test]
    fn weighted_priorities_share_a_group_behind_the_queue_ahead() {
        let mut schedule = PrioritySchedule::default();
        schedule.weights[3] = 2;
        schedule.weights[5] = 1;
        let own = Own { ahead: 1, data: 4, ..Own::default() };
        let plan = plan(&schedule, 1 << 3, own).unwrap();
        // 7, 6, 4, 2, 1, 0 strict; ahead; four data queues and priority 5
        assert_eq!(groups(&plan.layout()), [1, 1, 1, 1, 1, 1, 1, 5]);
        let layout = plan.layout();
        assert_eq!(layout.queues.len(), 12);
        assert_eq!(layout.groups[7].discipline, Discipline::DeficitRoundRobin);
        assert_eq!(layout.queues[plan.first as usize].quantum, Bytes::new(3000));
        assert_eq!(plan.other(Priority::ALL[5]), QueueId(11));
    }

    #[test]
    fn a_nic_has_slots_and_nothing_else() {
        let schedule = PrioritySchedule::default();
        let mut builder = Builder::new(&schedule, Priority::ALL[3], Own::default());
        builder.slots();
        let slot = QueueSpec { priority: Priority::ALL[3], data: true, quantum: Bytes::new(1500) };
        assert_eq!((builder.layout.on_demand, builder.layout.queues.len()), (Some(slot), 0));
        assert_eq!(groups(&builder.layout), [0]);
    }

    #[test]
    fn none_or_two_lossless_priorities_are_refused() {
        for lossless in [0, 0b11] {
            let refused = plan(&PrioritySchedule::default(), lossless, Own::default());
            assert!(refused.unwrap_err().0.contains("one lossless priority"));
        }
    }
}
