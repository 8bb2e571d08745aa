//! The pausing side: counters per upstream queue and the frames they cause.

use super::{Frames, RESUMING, Timer};
use crate::{Actions, HoldState, PortQueue, Values};
use std::collections::{BTreeMap, VecDeque};
use weir_core::{ControlMessage, Packet, PortId, Priority, QueueId, Reason, Time};

/// One upstream queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Counter {
    /// Its counted packets that are still here.
    count: u32,
    /// The priority of the last one counted.
    priority: Priority,
    /// The neighbour is, or at the next tick will be, told to pause it.
    paused: bool,
    /// It waits for its turn to be resumed.
    queued: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Ingress {
    counters: Vec<Counter>,
    ticking: bool,
}

/// Resumes of one of our queues, one per period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Pacer {
    waiting: VecDeque<(PortId, u32)>,
    next: Time,
}

/// How upstream queues are resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Resuming {
    AtOnce,
    Paced,
}

impl Resuming {
    pub(super) fn read(values: &Values) -> Self {
        let meanings = [("at-once", Self::AtOnce), ("paced", Self::Paced)];
        values.one_of(&RESUMING, &meanings)
    }
}

/// Pause counters of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Told {
    frames: Frames,
    space: u32,
    period: Vec<Time>,
    resuming: Resuming,
    ingresses: Vec<Ingress>,
    pacers: BTreeMap<PortQueue, Pacer>,
}

impl Told {
    pub(super) fn new(frames: Frames, space: u32, period: Vec<Time>, resuming: Resuming) -> Self {
        let ingresses = vec![Ingress::default(); period.len()];
        Self { frames, space, period, resuming, ingresses, pacers: BTreeMap::new() }
    }

    /// A packet came in by `ingress`: from now on the neighbour there gets bitmaps.
    #[inline]
    pub(super) fn arrived(&mut self, now: Time, ingress: PortId, a: &mut Actions) {
        let port = &mut self.ingresses[ingress.index()];
        if self.frames != Frames::Immediate && !port.ticking {
            port.ticking = true;
            a.arm_background(Timer::Tick.key(ingress, 0), now + self.period[ingress.index()]);
        }
    }

    /// Whether a packet that comes in by `ingress` starts nothing.
    #[inline]
    pub(super) fn is_quiet(&self, ingress: PortId) -> bool {
        self.frames == Frames::Immediate || self.ingresses[ingress.index()].ticking
    }

    fn counter(&mut self, ingress: PortId, index: u32) -> &mut Counter {
        let counters = &mut self.ingresses[ingress.index()].counters;
        if counters.len() <= index as usize {
            counters.resize(index as usize + 1, Counter::default());
        }
        &mut counters[index as usize]
    }

    /// A packet is counted for the upstream queue that it came from. `why` is called if that pauses
    /// the queue.
    pub(super) fn count(&mut self, p: &Packet, why: impl FnOnce() -> Reason, a: &mut Actions) {
        let (ingress, index) = (p.ingress, p.wire_tag % self.space);
        let counter = self.counter(ingress, index);
        counter.count += 1;
        counter.priority = p.priority;
        if !counter.paused {
            self.set(ingress, index, HoldState::Held, why(), a);
        }
    }

    /// A counted packet leaves by the queue `from`.
    pub(super) fn discount(
        &mut self,
        now: Time,
        ingress: PortId,
        tag: u32,
        from: PortQueue,
        a: &mut Actions,
    ) {
        let index = tag % self.space;
        let resuming = self.resuming;
        let counter = self.counter(ingress, index);
        counter.count = counter.count.saturating_sub(1);
        if counter.count > 0 || !counter.paused {
            return;
        }
        if resuming == Resuming::AtOnce {
            self.set(ingress, index, HoldState::Open, Reason::CountedGone, a);
        } else if !std::mem::replace(&mut counter.queued, true) {
            let pacer = self.pacers.entry(from).or_default();
            pacer.waiting.push_back((ingress, index));
            if pacer.waiting.len() == 1 {
                if pacer.next <= now {
                    self.resume_one(now, from, a);
                } else {
                    a.arm(Timer::Resume.key(from.port, from.queue.0), pacer.next);
                }
            }
        }
    }

    /// Resumes the first upstream queue that waits at `from` and has nothing counted.
    pub(super) fn resume_one(&mut self, now: Time, from: PortQueue, a: &mut Actions) {
        let period = self.period[from.port.index()];
        while let Some(pacer) = self.pacers.get_mut(&from) {
            let Some((ingress, index)) = pacer.waiting.pop_front() else { return };
            let more = !pacer.waiting.is_empty();
            let counter = self.counter(ingress, index);
            counter.queued = false;
            // counted again while it waited: it stays paused, and the turn passes on
            if counter.count == 0 && counter.paused {
                self.set(ingress, index, HoldState::Open, Reason::CountedGone, a);
                let pacer = self.pacers.entry(from).or_default();
                pacer.next = now + period;
                if more {
                    a.arm(Timer::Resume.key(from.port, from.queue.0), pacer.next);
                }
                return;
            }
        }
    }

    fn set(
        &mut self,
        ingress: PortId,
        index: u32,
        state: HoldState,
        reason: Reason,
        a: &mut Actions,
    ) {
        let pause = state.is_held();
        let counter = self.counter(ingress, index);
        counter.paused = pause;
        let (priority, queue) = (counter.priority, QueueId(index));
        match self.frames {
            Frames::Immediate | Frames::Both => {
                a.send(ingress, ControlMessage::QueueState { pause, priority, queue }, reason);
            }
            // a pause waits for the next tick, a resume does not
            Frames::Periodic if !pause => a.send(ingress, self.bitmap(ingress), reason),
            Frames::Periodic => {}
        }
    }

    fn bitmap(&self, ingress: PortId) -> ControlMessage {
        let mut words = vec![0u64; (self.space as usize).div_ceil(64)];
        for (i, counter) in self.ingresses[ingress.index()].counters.iter().enumerate() {
            words[i / 64] |= u64::from(counter.paused) << (i % 64);
        }
        ControlMessage::QueueBitmap { bits: self.space as u16, words }
    }

    /// Time for the next bitmap.
    pub(super) fn tick(&mut self, now: Time, ingress: PortId, a: &mut Actions) {
        a.arm_background(Timer::Tick.key(ingress, 0), now + self.period[ingress.index()]);
        a.send(ingress, self.bitmap(ingress), Reason::Report);
    }

    /// The link at `port` is up again: the neighbour has forgotten the pauses that stand.
    pub(super) fn repeat(&self, port: PortId, a: &mut Actions) {
        let counters = self.ingresses[port.index()].counters.iter().zip(0..);
        let mut paused = counters.filter(|(c, _)| c.paused).peekable();
        if self.frames == Frames::Periodic {
            // at once, as it may be long until the next one
            if paused.peek().is_some() {
                a.send(port, self.bitmap(port), Reason::Link);
            }
            return;
        }
        for (counter, index) in paused {
            let (priority, queue) = (counter.priority, QueueId(index));
            let message = ControlMessage::QueueState { pause: true, priority, queue };
            a.send(port, message, Reason::Link);
        }
    }

    /// An upstream queue with counted packets or a standing pause: (ingress, index).
    pub(super) fn any_left(&self) -> Option<(usize, usize)> {
        self.ingresses.iter().enumerate().find_map(|(port, ingress)| {
            let left = |c: &Counter| c.count > 0 || c.paused;
            ingress.counters.iter().position(left).map(|index| (port, index))
        })
    }

    /// How many counters there are.
    pub(super) fn counters(&self) -> usize {
        self.ingresses.iter().map(|i| i.counters.len()).sum()
    }
}
