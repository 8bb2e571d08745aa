//! When each node has something to do next: what engines look at to choose whom to visit.

use weir_core::{NodeId, Time};

/// The next events of the nodes of one part of the network.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// When each node of this part has something to do next, wires included.
    next: Vec<Time>,
    /// The group of each node, if an engine visits nodes in groups.
    group: Vec<u32>,
    /// By group: when the first of its nodes has something to do next; less than that only while
    /// the group is visited.
    soonest: Vec<Time>,
    /// Nodes whose next event became earlier because of a packet on a wire, for engines that keep a
    /// calendar.
    woken: Option<Vec<NodeId>>,
}

impl Agenda {
    /// For a network of so many nodes, none of which has anything to do.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            next: vec![Time::NEVER; nodes],
            group: vec![0; nodes],
            soonest: Vec::new(),
            woken: None,
        }
    }

    /// When `node` has something to do next.
    #[inline]
    pub(crate) fn next(&self, node: NodeId) -> Time {
        self.next[node.index()]
    }

    /// Sets when `node` has something to do next.
    #[inline]
    pub(crate) fn set_next(&mut self, node: NodeId, t: Time) {
        self.next[node.index()] = t;
    }

    /// `node` has something to do at `t`, perhaps earlier than before.
    #[inline(always)]
    pub(crate) fn bring_forward(&mut self, node: NodeId, t: Time) {
        let next = &mut self.next[node.index()];
        if t < *next {
            *next = t;
            if let Some(first) = self.soonest.get_mut(self.group[node.index()] as usize) {
                *first = t.min(*first);
            }
            if let Some(woken) = &mut self.woken {
                woken.push(node);
            }
        }
    }

    /// `node` moves to another part.
    pub(crate) fn move_to(&mut self, to: &mut Self, node: NodeId) {
        to.next[node.index()] = std::mem::replace(&mut self.next[node.index()], Time::NEVER);
    }

    /// Forms groups of nodes, each of which is in one of them.
    pub(crate) fn set_groups<G: Iterator<Item = NodeId>>(
        &mut self,
        groups: impl Iterator<Item = G>,
    ) {
        self.soonest.clear();
        for group in groups {
            let number = self.soonest.len();
            self.soonest.push(Time::NEVER);
            for node in group {
                self.group[node.index()] = number as u32;
                self.soonest[number] = self.soonest[number].min(self.next(node));
            }
        }
    }

    /// There are no groups any more.
    pub(crate) fn forget_groups(&mut self) {
        self.soonest.clear();
    }

    /// When the first node of a group has something to do next.
    #[inline]
    pub(crate) fn soonest(&self, group: usize) -> Time {
        self.soonest[group]
    }

    /// The nodes of a group have been visited.
    #[inline]
    pub(crate) fn visited(&mut self, group: usize, nodes: impl Iterator<Item = NodeId>) {
        let mut soonest = Time::NEVER;
        for node in nodes {
            soonest = soonest.min(self.next(node));
        }
        self.soonest[group] = soonest;
    }

    /// When the first node of all groups has something to do next; `None` without groups.
    pub(crate) fn earliest(&self) -> Option<Time> {
        self.soonest.iter().copied().min()
    }

    /// Starts recording the nodes whose next event becomes earlier.
    pub(crate) fn track_woken(&mut self) {
        self.woken = Some(Vec::new());
    }

    /// Stops recording them.
    pub(crate) fn ignore_woken(&mut self) {
        self.woken = None;
    }

    /// Nodes whose next event became earlier since the last call; hand the list back emptied.
    #[inline]
    pub(crate) fn take_woken(&mut self) -> Vec<NodeId> {
        self.woken.take().unwrap_or_default()
    }

    /// See [`Agenda::take_woken`].
    #[inline]
    pub(crate) fn give_back_woken(&mut self, mut list: Vec<NodeId>) {
        list.clear();
        self.woken = Some(list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_earlier_time_wakes_a_node_and_its_group() {
        let [a, b, c] = [0, 1, 2].map(NodeId);
        let ns = Time::from_ns;
        let mut agenda = Agenda::new(3);
        agenda.set_next(b, ns(7));
        agenda.set_groups([vec![a, b], vec![c]].into_iter().map(Vec::into_iter));
        agenda.track_woken();
        agenda.bring_forward(b, ns(9));
        assert_eq!((agenda.next(b), agenda.soonest(0)), (ns(7), ns(7)));
        agenda.bring_forward(a, ns(5));
        assert_eq!(
            (agenda.next(a), agenda.soonest(0), agenda.earliest()),
            (ns(5), ns(5), Some(ns(5)))
        );
        assert_eq!((agenda.soonest(1), agenda.take_woken()), (Time::NEVER, vec![a]));
        agenda.set_next(a, Time::NEVER);
        agenda.visited(0, [a, b].into_iter());
        assert_eq!(agenda.soonest(0), ns(7));
    }
}
