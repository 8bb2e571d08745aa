//! How a port's queues are arranged and served.

use weir_core::{Bytes, Packet, Priority, PrioritySet};

/// One egress queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueSpec {
    /// The priority whose packets it holds, and whose pause holds it.
    pub priority: Priority,
    /// Whether it counts as a data queue in N_active (BFC, FlowSail).
    pub data: bool,
}

/// Queues that take turns among themselves: one packet each, continuing after the last one
/// served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// How many consecutive queues of the table belong to the group.
    pub queues: u32,
    /// `None`: the group is served before every group after it. Otherwise it shares what the
    /// groups before leave with the weighted groups next to it, by deficit round robin: each
    /// visit earns the group, however many queues it has, this many bytes.
    pub quantum: Option<Bytes>,
}

/// Queues made when they are first named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OnDemand {
    /// The index of the group they join.
    pub group: u32,
    /// What they are.
    pub spec: QueueSpec,
}

/// The egress queues of a port: groups in order of rank, the first is served first.
/// Queue ids count through the groups, so queue 0 belongs to the highest rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueLayout {
    /// Groups, highest rank first; their sizes add up to `queues.len()`.
    pub groups: Vec<Group>,
    /// All queues that exist from the start, in id order.
    pub queues: Vec<QueueSpec>,
    /// When there are any, ids beyond the table are made on demand (a queue per flow). The kinds
    /// alternate: id `queues.len() + i` is of kind `i` modulo their number, so that each has as
    /// many as it needs whatever the others use.
    pub on_demand: Vec<OnDemand>,
    /// Whether the scheme wants [`crate::FlowControl::serve`] called for every head.
    pub inspects_heads: bool,
    /// The most that may wait at the port, if the scheme and not only the memory limits that.
    pub room: Option<EgressRoom>,
}

/// The most that may wait at an egress port. The node drops a packet that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EgressRoom {
    /// The priorities for which it holds, each on its own.
    pub priorities: PrioritySet,
    /// The most bytes of one of them.
    pub bytes: Bytes,
}

impl EgressRoom {
    /// Whether `p` fits where `queued` bytes of its priority wait.
    #[inline]
    pub fn fits(&self, p: &Packet, queued: Bytes) -> bool {
        !self.priorities.contains(p.priority) || queued.saturating_add(p.bytes()) <= self.bytes
    }
}

/// How the eight priorities share a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrioritySchedule {
    /// Weight of each priority under deficit round robin; zero means strict priority,
    /// served before all weighted ones, higher priorities first.
    pub weights: [u32; Priority::COUNT],
    /// Bytes per unit of weight and visit.
    pub quantum: Bytes,
}

impl Default for PrioritySchedule {
    /// Strict priority throughout.
    fn default() -> Self {
        Self { weights: [0; Priority::COUNT], quantum: Bytes::new(1500) }
    }
}

impl PrioritySchedule {
    /// The queue of each priority in the layout of [`QueueLayout::per_priority`].
    pub fn queue_of(&self) -> [u32; Priority::COUNT] {
        let mut queue = [0; Priority::COUNT];
        for (q, p) in self.order().enumerate() {
            queue[p.index()] = q as u32;
        }
        queue
    }

    /// What a visit earns `priority`; `None` for a strict one.
    pub fn quantum_of(&self, priority: Priority) -> Option<Bytes> {
        let weight = u64::from(self.weights[priority.index()]);
        (weight > 0).then(|| self.quantum * weight)
    }

    /// Strict priorities from the highest down, then the weighted ones from the highest down.
    pub(crate) fn order(&self) -> impl Iterator<Item = Priority> + '_ {
        let with = |strict: bool| {
            Priority::ALL
                .into_iter()
                .rev()
                .filter(move |p| (self.weights[p.index()] == 0) == strict)
        };
        with(true).chain(with(false))
    }
}

impl QueueLayout {
    /// One queue per priority, as plain PFC uses: strict ones first, the weighted ones share
    /// what is left.
    pub fn per_priority(schedule: &PrioritySchedule) -> Self {
        let mut order = Priority::ALL;
        order.iter_mut().zip(schedule.order()).for_each(|(slot, p)| *slot = p);
        let group = |p| Group { queues: 1, quantum: schedule.quantum_of(p) };
        Self {
            groups: order.map(group).to_vec(),
            queues: order.map(|priority| QueueSpec { priority, data: true }).to_vec(),
            ..Self::default()
        }
    }

    /// What queue `q` is; `None` for one that cannot be.
    pub fn spec(&self, q: usize) -> Option<&QueueSpec> {
        match q.checked_sub(self.queues.len()) {
            None => self.queues.get(q),
            Some(_) if self.on_demand.is_empty() => None,
            Some(beyond) => Some(&self.on_demand[beyond % self.on_demand.len()].spec),
        }
    }

    /// The group of queue `q`; `None` for a queue that cannot be.
    pub fn group_of(&self, q: usize) -> Option<usize> {
        if let Some(beyond) = q.checked_sub(self.queues.len()) {
            let kinds = self.on_demand.len();
            return (kinds > 0).then(|| self.on_demand[beyond % kinds].group as usize);
        }
        let mut end = 0;
        self.groups.iter().position(|g| {
            end += g.queues as usize;
            q < end
        })
    }

    /// The rank of every group, from 0: neighbours that are weighted share one.
    pub fn ranks(&self) -> Vec<usize> {
        let mut rank = 0;
        let mut ranks = Vec::with_capacity(self.groups.len());
        for (i, group) in self.groups.iter().enumerate() {
            let shared = i > 0 && group.quantum.is_some() && self.groups[i - 1].quantum.is_some();
            rank += usize::from(i > 0 && !shared);
            ranks.push(rank);
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_priorities_come_first_and_the_highest_of_them_is_queue_zero() {
        let mut schedule = PrioritySchedule::default();
        schedule.weights[3] = 2;
        schedule.weights[1] = 1;
        let layout = QueueLayout::per_priority(&schedule);
        let order: Vec<u8> = layout.queues.iter().map(|q| q.priority.get()).collect();
        assert_eq!(order, [7, 6, 5, 4, 2, 0, 3, 1]);
        assert_eq!(layout.ranks(), [0, 1, 2, 3, 4, 5, 6, 6]);
        let quanta: Vec<_> = layout.groups.iter().map(|g| g.quantum.map(Bytes::get)).collect();
        assert_eq!(quanta, [None, None, None, None, None, None, Some(3000), Some(1500)]);
        assert_eq!(schedule.queue_of(), [5, 7, 4, 6, 3, 2, 1, 0]);
    }

    #[test]
    fn queues_made_on_demand_alternate_between_their_groups() {
        let spec = |p: usize| QueueSpec { priority: Priority::ALL[p], data: true };
        let group = |queues| Group { queues, quantum: None };
        let layout = QueueLayout {
            groups: vec![group(0), group(2), group(0)],
            queues: vec![spec(5), spec(4)],
            on_demand: vec![
                OnDemand { group: 0, spec: spec(6) },
                OnDemand { group: 2, spec: spec(3) },
            ],
            inspects_heads: false,
            room: None,
        };
        let all = |f: &dyn Fn(usize) -> Option<usize>| (0..6).map(f).collect::<Option<Vec<_>>>();
        assert_eq!(all(&|q| layout.group_of(q)), Some(vec![1, 1, 0, 2, 0, 2]));
        let priority = |q| layout.spec(q).map(|s: &QueueSpec| s.priority.index());
        assert_eq!(all(&priority), Some(vec![5, 4, 6, 3, 6, 3]));
        let fixed = QueueLayout { on_demand: Vec::new(), ..layout };
        assert_eq!((fixed.group_of(2), fixed.spec(2)), (None, None));
    }
}
