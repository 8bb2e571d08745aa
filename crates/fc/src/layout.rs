//! How a port's queues are arranged and served.

use weir_core::{Bytes, Priority};

/// One egress queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueSpec {
    /// The priority whose packets it holds, and whose pause holds it.
    pub priority: Priority,
    /// Whether it counts as a data queue in N_active (BFC, FlowSail).
    pub data: bool,
    /// Bytes it earns per visit under deficit round robin.
    pub quantum: Bytes,
}

/// How the queues of one group share what the groups above leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// One packet each in turn, continuing after the last one served.
    RoundRobin,
    /// Deficit weighted round robin: each visit earns the queue its quantum of bytes.
    DeficitRoundRobin,
}

/// Queues of equal rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// How they take turns.
    pub discipline: Discipline,
    /// How many consecutive queues belong to the group.
    pub queues: u32,
}

/// The egress queues of a port: groups in strict order, the first is served first.
/// Queue ids count through the groups, so queue 0 belongs to the highest rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueueLayout {
    /// Groups, highest rank first; their sizes add up to `queues.len()`.
    pub groups: Vec<Group>,
    /// All queues, in id order.
    pub queues: Vec<QueueSpec>,
    /// When set, ids beyond the table are made on demand with this spec and join the last
    /// group (a queue per flow, virtual lanes).
    pub on_demand: Option<QueueSpec>,
    /// Whether the scheme wants [`crate::FlowControl::serve`] called for every head.
    pub inspects_heads: bool,
}

/// How the eight priorities share a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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

    /// Strict priorities from the highest down, then the weighted ones from the highest down.
    fn order(&self) -> impl Iterator<Item = Priority> + '_ {
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
        let mut layout =
            Self { groups: Vec::new(), queues: Vec::new(), on_demand: None, inspects_heads: false };
        let mut weighted = 0;
        for priority in schedule.order() {
            let weight = schedule.weights[priority.index()];
            layout.queues.push(QueueSpec {
                priority,
                data: true,
                quantum: schedule.quantum * u64::from(weight.max(1)),
            });
            if weight == 0 {
                layout.groups.push(Group { discipline: Discipline::RoundRobin, queues: 1 });
            } else {
                weighted += 1;
            }
        }
        if weighted > 0 {
            layout
                .groups
                .push(Group { discipline: Discipline::DeficitRoundRobin, queues: weighted });
        }
        layout
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
        assert_eq!(layout.groups.len(), 7);
        assert_eq!(layout.groups[6].queues, 2);
        assert_eq!(layout.queues[6].quantum, Bytes::new(3000));
        assert_eq!(schedule.queue_of(), [5, 7, 4, 6, 3, 2, 1, 0]);
    }
}
