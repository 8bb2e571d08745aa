//! The tables of one egress port: flows (NFT and CFT) and queues (QT).

use super::{Reading, Readings, Timer};
use crate::perflow::{FlowTable, Upstream};
use crate::{Actions, Target};
use weir_core::{FlowId, PortId, Priority, QueueId, Time};

/// A flow's life in the isolation queue: its CFT entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Congested {
    /// Its bytes in the isolation queue.
    pub bytes: u64,
    /// The flows under this entry that the next hop has paused: at most one in an exact table.
    pub paused: Vec<FlowId>,
    /// The last packet that came or went, or the PAUSE that made the entry.
    pub last: Time,
    /// It holds its original queue.
    pub holds_normal: bool,
    /// The release timer runs.
    pub armed: bool,
}

/// What is known of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flow {
    /// NFT: its bytes in its normal queue.
    pub bytes: u64,
    /// NFT: the index of that queue.
    pub queue: u32,
    /// CFT, while later packets go to the isolation queue. Apart: of few flows that is so.
    pub congested: Option<Box<Congested>>,
    /// Packets that met congestion and are still here: in the normal queue, in the isolation queue.
    pub pause_num: [u32; 2],
    /// What the previous hop knows.
    pub upstream: Upstream,
    /// Order marks in either queue.
    pub marks: u32,
    /// Its mark in the isolation queue waits for the one in the normal queue.
    pub waiting: bool,
}

impl Flow {
    pub(super) fn pauses(&self) -> u32 {
        self.pause_num[0] + self.pause_num[1]
    }

    pub(super) fn is_idle(&self) -> bool {
        self.bytes == 0
            && self.congested.is_none()
            && self.marks == 0
            && !self.waiting
            && self.pauses() == 0
    }
}

/// A queue's entry in QT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Queue {
    /// flowNum: flows with bytes in it.
    pub flows: u32,
    /// cfNum: reasons to hold it; held while positive.
    pub holds: i32,
}

/// One controlled priority of an egress port. What every packet touches comes first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub(super) struct Egress {
    pub port: PortId,
    /// The place of its priority among the controlled ones.
    pub class: u8,
    pub priority: Priority,
    /// The id of queue 0.
    pub first: u32,
    /// QT; the last one is the isolation queue.
    pub queues: Vec<Queue>,
    pub flows: FlowTable<Flow>,
    /// How many flows have bytes in their normal queue.
    pub normal: u32,
    /// How many flows have a CFT entry.
    pub isolated: u32,
    /// Order marks in its queues.
    pub marks: u32,
    /// How long a congested flow must be quiet before it is a normal one again.
    pub quiet: Time,
    /// A pause holds the queue that the flow's earlier packets stand in.
    pub holds_original: bool,
    pub reading: Readings,
}

impl Egress {
    /// The index of the isolation queue.
    pub(super) fn isolation(&self) -> u32 {
        self.queues.len() as u32 - 1
    }

    pub(super) fn queue_id(&self, index: u32) -> QueueId {
        QueueId(self.first + index)
    }

    /// The flow under `key`, new if need be.
    pub(super) fn flow(&mut self, key: u64) -> u32 {
        self.flows.find_again(key).unwrap_or_else(|| self.flows.insert(key, Flow::default()))
    }

    /// Counts a reason to hold queue `index`, or one less.
    pub(super) fn add_hold(&mut self, index: u32, by: i32, a: &mut Actions) {
        let queue = &mut self.queues[index as usize];
        let was = queue.holds > 0;
        queue.holds += by;
        if self.reading.has(Reading::PrintedHoldsBounded) {
            queue.holds = queue.holds.max(0);
        }
        let target = Target::Queue(QueueId(self.first + index));
        match (was, queue.holds > 0) {
            (false, true) => a.hold(self.port, target),
            (true, false) => a.open(self.port, target),
            _ => {}
        }
    }

    /// Algorithm 2, lines 17-27: the next hop pauses `who`, which is flow `i` here.
    pub(super) fn pause(&mut self, now: Time, i: u32, who: FlowId, a: &mut Actions) {
        let isolation = self.isolation();
        let (port, reading) = (self.port, self.reading);
        let Some(f) = self.flows.at_mut(i) else { return };
        let (buffered, normal) = (f.bytes > 0, f.queue);
        let new = f.congested.is_none();
        if new && buffered {
            f.marks += 2;
            self.marks += 2;
            a.mark(port, QueueId(self.first + isolation), i);
            a.mark(port, QueueId(self.first + normal), i);
        }
        self.isolated += u32::from(new);
        let isolated = || Box::new(Congested { last: now, ..Congested::default() });
        let c = f.congested.get_or_insert_with(isolated);
        if c.paused.contains(&who) {
            return;
        }
        c.paused.push(who);
        if c.paused.len() > 1 {
            return;
        }
        let again = !c.holds_normal && (new || !reading.holds_normal_once());
        let hold_normal = self.holds_original && buffered && again;
        c.holds_normal |= hold_normal;
        if !(new && reading.holds_as_printed()) {
            self.add_hold(isolation, 1, a);
        }
        if hold_normal {
            self.add_hold(normal, 1, a);
        }
    }

    /// Algorithm 2, lines 28-34: the next hop resumes `who`, which is flow `i` here.
    pub(super) fn resume(&mut self, now: Time, i: u32, who: FlowId, a: &mut Actions) {
        let isolation = self.isolation();
        let Some(f) = self.flows.at_mut(i) else { return };
        let normal = f.queue;
        let Some(c) = &mut f.congested else { return };
        if !c.paused.contains(&who) {
            return;
        }
        c.paused.retain(|w| *w != who);
        if c.paused.is_empty() {
            let held_normal = std::mem::take(&mut c.holds_normal);
            self.add_hold(isolation, -1, a);
            if held_normal {
                self.add_hold(normal, -1, a);
            }
        }
        self.release(now, i, a);
    }

    /// Takes flow `i` out of CFT once it is resumed, empty, out of marks and quiet; while it
    /// is not yet quiet, sees to it that this is asked again.
    pub(super) fn release(&mut self, now: Time, i: u32, a: &mut Actions) {
        let early = self.reading.has(Reading::EarlyRelease);
        let Some(f) = self.flows.at_mut(i) else { return };
        let Some(c) = &mut f.congested else { return };
        if !c.paused.is_empty() || c.bytes > 0 || (f.marks > 0 && !early) {
            return;
        }
        let due = c.last + self.quiet;
        let key = Timer::Release { class: self.class }.key(self.port, i);
        if now < due {
            if !std::mem::replace(&mut c.armed, true) {
                a.arm_background(key, due);
            }
            return;
        }
        if c.armed {
            a.cancel(key);
        }
        f.congested = None;
        self.isolated -= 1;
        self.forget(i);
    }

    /// Whether a packet of flow `i`, which is not paused, passes while no packet is queued here:
    /// only if the flow is isolated, no mark is in its way, and the timer of its release is armed.
    pub(super) fn pass(&mut self, now: Time, i: u32) -> bool {
        let free = self.marks == 0;
        let found = self.flows.at_mut(i).filter(|f| f.bytes == 0 && free);
        match found.and_then(|f| f.congested.as_mut()) {
            Some(c)
                if c.paused.is_empty() && c.bytes == 0 && c.armed && self.quiet > Time::ZERO =>
            {
                c.last = now;
                true
            }
            _ => false,
        }
    }

    /// Drops what is known of flow `i` if that is nothing.
    pub(super) fn forget(&mut self, i: u32) {
        if self.flows.at(i).is_some_and(Flow::is_idle) {
            self.flows.remove(i);
        }
    }

    /// Order Mark Matching at the isolation queue: whether the mark of flow `i`, now at the
    /// head, has to wait for packets of the flow in its normal queue.
    pub(super) fn isolation_mark(&mut self, now: Time, i: u32, a: &mut Actions) -> bool {
        let (isolation, literal) = (self.isolation(), self.reading.has(Reading::MarkSign));
        let Some(f) = self.flows.at_mut(i) else { return false };
        if f.waiting && !literal {
            return true;
        }
        let unmatched = f.bytes > 0;
        if unmatched {
            f.waiting = true;
            self.add_hold(isolation, if literal { -1 } else { 1 }, a);
            if !literal {
                return true;
            }
        }
        self.mark_gone(now, i, a);
        false
    }

    /// Order Mark Matching at a normal queue: the mark of flow `i` has come to the head, all
    /// its packets before it are gone.
    pub(super) fn normal_mark(&mut self, now: Time, i: u32, a: &mut Actions) {
        let (isolation, literal) = (self.isolation(), self.reading.has(Reading::MarkSign));
        let Some(f) = self.flows.at_mut(i) else { return };
        if std::mem::take(&mut f.waiting) {
            self.add_hold(isolation, if literal { 1 } else { -1 }, a);
            a.retry(self.port);
        }
        self.mark_gone(now, i, a);
    }

    fn mark_gone(&mut self, now: Time, i: u32, a: &mut Actions) {
        if let Some(f) = self.flows.at_mut(i)
            && f.marks > 0
        {
            f.marks -= 1;
            self.marks -= 1;
        }
        self.release(now, i, a);
        self.forget(i);
    }

    /// The link changed: the next hop remembers no pause.
    pub(super) fn resume_all(&mut self, now: Time, a: &mut Actions) {
        let paused =
            |(i, _, f): (u32, u64, &Flow)| f.congested.as_ref().map(|c| (i, c.paused.clone()));
        let all: Vec<(u32, Vec<FlowId>)> = self.flows.iter().filter_map(paused).collect();
        for (i, flows) in all {
            flows.iter().for_each(|who| self.resume(now, i, *who, a));
        }
    }
}
