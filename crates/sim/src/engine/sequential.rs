//! One node at a time, the one with the earliest event first.

use super::calendar::Calendar;
use super::partition::Partition;
use super::{Engine, Part};
use crate::env::Env;
use crate::shared::Shared;
use crate::tree;
use weir_core::Time;

/// The sequential engine: a calendar of when each node has something to do next.
///
/// The node at the head, due at `t`, is run up to `t + stride`. A stride of one lookahead
/// gives each visit as much work as is safe; a stride of one picosecond handles events in
/// global time order, one instant at a time: the plainest engine there is, and the reference
/// for the others.
pub(crate) struct Sequential {
    calendar: Calendar,
    stride: Time,
}

impl Sequential {
    /// An engine for nodes that cannot affect each other in less than `stride`. All nodes must
    /// be in one part.
    pub(crate) fn new(part: &mut Part, stride: Time) -> Self {
        let calendar = Calendar::new(Time::from_ps((stride.as_ps() / 8).max(64)));
        let mut new = Self { calendar, stride };
        part.announce();
        new.resume(part);
        new
    }

    /// Goes on where another engine has stopped. What the calendar still holds from before is
    /// stale or true: a stale entry is passed over, and it does no harm to have a true one twice.
    pub(crate) fn resume(&mut self, part: &mut Part) {
        part.wires.agenda.track_woken();
        for node in &part.nodes {
            let id = node.id();
            self.calendar.push(part.wires.agenda.next(id), id);
        }
    }

    /// Another engine goes on from here.
    pub(crate) fn rest(&self, part: &mut Part) {
        part.wires.agenda.ignore_woken();
    }
}

impl Engine for Sequential {
    fn advance(&mut self, parts: &mut [Part], _: &mut Partition, shared: &Shared<'_>, until: Time) {
        let [Part { nodes, wires, visits, .. }] = parts else {
            unreachable!("the sequential engine is given one part");
        };
        tree::check_comparisons();
        let mut env = Env { wires, shared };
        while let Some((t, id)) = self.calendar.peek() {
            if t >= until {
                return;
            }
            self.calendar.drop_first();
            // An entry is stale when the node was brought forward or has run since.
            if env.wires.agenda.next(id) != t {
                continue;
            }
            *visits += 1;
            nodes[id.index()].run(until.min(t.saturating_add(self.stride)), &mut env);
            self.calendar.push(env.wires.agenda.next(id), id);
            let mut woken = env.wires.agenda.take_woken();
            for node in woken.drain(..) {
                self.calendar.push(env.wires.agenda.next(node), node);
            }
            env.wires.agenda.give_back_woken(woken);
        }
    }
}
