//! One egress port: the transmit queue, its lanes, and the flows in them.

use super::Timer;
use super::frames::Name;
use crate::perflow::FlowTable;
use crate::{Actions, HoldState, Target, TimerKey};
use weir_core::{Bytes, PortId, QueueId, Rate, Time};

/// A flow with packets here, or one that the next hop has stopped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flow {
    pub name: Name,
    /// Its bytes in the transmit queue.
    pub bytes: u64,
    pub lane: Option<u32>,
    pub lane_bytes: u64,
    /// The next hop has stopped it.
    pub xoff: bool,
    /// The ingresses whose neighbours have been told to stop it.
    pub told: Vec<PortId>,
    /// When its lane may give the next packet.
    pub next: Time,
}

impl Flow {
    fn is_idle(&self) -> bool {
        self.bytes == 0 && self.lane.is_none() && !self.xoff
    }
}

/// Limits of a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Limits {
    /// Bytes of the transmit queue beyond which a root flow is looked for.
    pub threshold: u64,
    /// Lanes give packets while the transmit queue is below this.
    pub drain_below: u64,
    /// The time between two root flows.
    pub root_interval: Time,
    /// What draining lanes share.
    pub pace: Option<Rate>,
}

/// One controlled priority of an egress port. Queue 0 is the transmit queue, queue `1 + l` lane
/// `l`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Egress {
    pub port: PortId,
    /// The place of its priority among the controlled ones.
    pub class: u32,
    pub first: u32,
    pub limits: Limits,
    pub flows: FlowTable<Flow>,
    /// The flow of each lane.
    pub lanes: Vec<Option<u32>>,
    /// No root flow before.
    pub next_root: Time,
    /// A lane waits for the transmit queue to shrink.
    pub gated: bool,
    /// How often a flow found no lane.
    pub exhausted: u64,
}

impl Egress {
    pub(super) fn transmit(&self) -> QueueId {
        QueueId(self.first)
    }

    pub(super) fn lane_queue(&self, lane: u32) -> QueueId {
        QueueId(self.first + 1 + lane)
    }

    fn pace_timer(&self, lane: u32) -> TimerKey {
        Timer::Pace.key(self.port, self.class * self.lanes.len() as u32 + lane)
    }

    /// The flow under `key`, new if need be.
    pub(super) fn flow(&mut self, key: u64, name: Name) -> u32 {
        self.flows.find_again(key).unwrap_or_else(|| {
            let (told, next) = (Vec::new(), Time::ZERO);
            let new = Flow { name, bytes: 0, lane: None, lane_bytes: 0, xoff: false, told, next };
            self.flows.insert(key, new)
        })
    }

    /// Step 1: the flow with most bytes in the transmit queue that has no lane yet, if it
    /// holds more than an equal share; the smallest key among equals.
    pub(super) fn root(&self) -> Option<u32> {
        let (mut flows, mut total) = (0, 0);
        let mut most: Option<(u64, u64, u32)> = None;
        for (i, key, f) in self.flows.iter().filter(|(_, _, f)| f.bytes > 0) {
            flows += 1;
            total += f.bytes;
            let better = |(bytes, k, _)| f.bytes > bytes || (f.bytes == bytes && key < k);
            if f.lane.is_none() && most.is_none_or(better) {
                most = Some((f.bytes, key, i));
            }
        }
        most.filter(|(bytes, _, _)| bytes * flows > total || flows == 1).map(|(_, _, i)| i)
    }

    /// Step 2: gives flow `i` a lane if there is one.
    pub(super) fn take_lane(&mut self, now: Time, i: u32, a: &mut Actions) -> bool {
        let Some(lane) = self.lanes.iter().position(Option::is_none) else { return false };
        self.lanes[lane] = Some(i);
        let queue = self.lane_queue(lane as u32);
        if let Some(f) = self.flows.at_mut(i) {
            f.lane = Some(lane as u32);
            f.next = now;
            if f.xoff {
                a.hold(self.port, Target::Queue(queue));
            }
        }
        true
    }

    /// The same, and counts when there is none.
    fn ask_for_lane(&mut self, now: Time, i: u32, a: &mut Actions) {
        let granted = self.take_lane(now, i, a);
        self.exhausted += u64::from(!granted);
    }

    /// Looks for a root flow when the transmit queue, of this length now, is too long.
    pub(super) fn check(&mut self, now: Time, length: u64, a: &mut Actions) {
        if length > self.limits.threshold
            && now >= self.next_root
            && let Some(i) = self.root()
        {
            self.next_root = now + self.limits.root_interval;
            self.ask_for_lane(now, i, a);
        }
    }

    /// Lanes with packets that may be sent.
    fn draining(&self) -> u64 {
        let drains = |i: &&u32| self.flows.at(**i).is_some_and(|f| f.lane_bytes > 0 && !f.xoff);
        self.lanes.iter().flatten().filter(drains).count() as u64
    }

    /// Step 5: whether the head of `lane`, of this size, goes to the transmit queue now.
    /// The lanes share the line rate.
    pub(super) fn give(
        &mut self,
        now: Time,
        lane: u32,
        size: u64,
        queued: u64,
        a: &mut Actions,
    ) -> Option<u32> {
        let i = self.lanes.get(lane as usize).copied().flatten()?;
        let share = self.draining().max(1);
        let key = self.pace_timer(lane);
        let (gate, pace) = (self.limits.drain_below, self.limits.pace);
        let f = self.flows.at_mut(i)?;
        if f.xoff {
            return None;
        }
        if queued >= gate {
            self.gated = true;
            return None;
        }
        if now < f.next {
            a.arm(key, f.next);
            return None;
        }
        f.next = now + pace.map_or(Time::ZERO, |rate| rate.time_for(Bytes::new(size)) * share);
        f.lane_bytes = f.lane_bytes.saturating_sub(size);
        f.bytes += size;
        Some(i)
    }

    /// Gives the lane of flow `i` back once it is empty and the flow may go, and forgets the
    /// flow when nothing is left of it.
    pub(super) fn settle(&mut self, i: u32, a: &mut Actions) {
        let Some(f) = self.flows.at_mut(i) else { return };
        if f.lane_bytes == 0
            && !f.xoff
            && let Some(lane) = f.lane.take()
        {
            self.lanes[lane as usize] = None;
            a.cancel(self.pace_timer(lane));
        }
        if self.flows.at(i).is_some_and(Flow::is_idle) {
            self.flows.remove(i);
        }
    }

    /// Step 4: the next hop stops flow `i`, or lets it go on.
    pub(super) fn hear(&mut self, now: Time, i: u32, state: HoldState, a: &mut Actions) {
        let Some(f) = self.flows.at_mut(i) else { return };
        let xoff = state.is_held();
        let changed = std::mem::replace(&mut f.xoff, xoff) != xoff;
        match f.lane {
            Some(lane) if changed => {
                a.set(self.port, Target::Queue(self.lane_queue(lane)), state);
            }
            None if changed && xoff => self.ask_for_lane(now, i, a),
            _ => {}
        }
        if !xoff {
            self.settle(i, a);
        }
    }

    /// The link changed: the next hop remembers no stop.
    pub(super) fn resume_all(&mut self, now: Time, a: &mut Actions) {
        let all: Vec<u32> =
            self.flows.iter().filter(|(_, _, f)| f.xoff).map(|(i, _, _)| i).collect();
        for i in all {
            self.hear(now, i, HoldState::Open, a);
        }
    }
}
