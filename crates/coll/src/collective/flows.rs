//! The flows that SimAI makes of a collective.
//!
//! Rings have as many channels as the group has ranks in a server. Channel `c` visits the ranks of
//! each server in the order `c, c + 1, ...`, then the next server: inside a server all channels go
//! the same way, and between servers channel `c` leaves at the rank before place `c` and enters at
//! place `c`. A flow of a channel in a step is the array over ranks and channels, rounded down. A
//! rank sends step `k` once it has received step `k - 1` on that channel, a short while and the
//! *send latency* later. All-to-all is one flow to every other rank, all at once.
//!
//! With `pxn` a flow between servers goes over NVLink to the rank of its own server that has the
//! receiver's place, and from there to the next server: one flow more, on one rail.

use crate::collective::Operation;
use crate::program::{Action, Message, Program, Wait};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use weir_core::{Bytes, Time};

/// What becomes of bytes that cannot be divided equally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remainder {
    /// They are not sent, as SimAI does it.
    #[default]
    Drop,
    /// The first flows carry one byte more.
    Spread,
}

/// A collective as SimAI carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowsPlan {
    /// What is done: an all-reduce, reduce-scatter, all-gather or all-to-all.
    pub operation: Operation,
    /// The whole array.
    pub bytes: Bytes,
    /// Ranks with consecutive numbers that are in one server.
    pub gpus_per_server: u32,
    /// Time before each flow.
    pub send_latency: Time,
    /// What becomes of bytes that cannot be divided equally.
    pub remainder: Remainder,
    /// Flows between servers change the rail over NVLink first.
    pub pxn: bool,
}

/// Why a group cannot carry a collective out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowsError {
    /// The operation is none of SimAI's.
    #[error("SimAI has no {}", .0.name())]
    Operation(Operation),
    /// The group has different numbers of ranks in its servers.
    #[error(
        "a group of {ranks} ranks has {first} in the server of rank {rank} and {other} in \
         another one: rings with one channel for each need the same number"
    )]
    Uneven {
        /// How many there are.
        ranks: usize,
        /// The first of them.
        rank: u32,
        /// How many are in its server.
        first: usize,
        /// How many are in another.
        other: usize,
    },
    /// More ranks, steps or channels than tags tell apart.
    #[error("a group of {0} ranks is too large: at most {MOST_RANKS}")]
    TooLarge(usize),
}

/// The most ranks of a group.
pub const MOST_RANKS: usize = 1 << 19;
/// The most channels: ranks of a server.
const MOST_CHANNELS: u32 = 1 << 12;

impl FlowsPlan {
    /// Says what is wrong with it in a group, if something is.
    pub fn check(&self, group: &[u32]) -> Result<(), FlowsError> {
        if matches!(self.operation, Operation::Broadcast | Operation::Barrier) {
            return Err(FlowsError::Operation(self.operation));
        }
        if group.len() > MOST_RANKS || self.gpus_per_server > MOST_CHANNELS {
            return Err(FlowsError::TooLarge(group.len()));
        }
        let first = self.channels(group) as usize;
        if self.operation == Operation::AllToAll {
            return Ok(());
        }
        for server in group.chunk_by(|a, b| self.server(*a) == self.server(*b)) {
            let other = server.len();
            if other != first {
                let (ranks, rank) = (group.len(), group[0]);
                return Err(FlowsError::Uneven { ranks, rank, first, other });
            }
        }
        Ok(())
    }

    fn server(&self, rank: u32) -> u32 {
        rank / self.gpus_per_server.max(1)
    }

    /// Ranks of the group in its first server.
    fn channels(&self, group: &[u32]) -> u32 {
        let first = group.first().map_or(0, |rank| self.server(*rank));
        group.iter().take_while(|rank| self.server(**rank) == first).count() as u32
    }

    /// How many steps a ring has.
    fn steps(&self, ranks: u32) -> u32 {
        match self.operation {
            Operation::AllReduce => 2 * ranks.saturating_sub(1),
            _ => ranks.saturating_sub(1),
        }
    }

    /// Time between the receipt of a step and the next one, without the send latency.
    fn turn(&self) -> Time {
        let ns = if self.operation == Operation::ReduceScatter { 40 } else { 10 };
        Time::from_ns(ns)
    }
}

/// One rank of a ring, or of an all-to-all.
#[derive(Debug)]
pub struct Flows {
    plan: FlowsPlan,
    at: u32,
    ranks: u32,
    channels: u32,
    /// By channel and whether it is passed on for another rank: messages that have arrived.
    arrived: FxHashMap<(u32, bool), u32>,
    actions: VecDeque<Action>,
    missing: u64,
    unsent: u64,
    begun: bool,
}

/// A flow: its channel, its step, and whether a third rank passes it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flow {
    channel: u32,
    step: u32,
    /// The message goes to a rank that passes it on, or this rank passes it on.
    relay: Relay,
}

/// Where a flow is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relay {
    /// It goes where it is wanted.
    Direct,
    /// It goes to the rank that passes it on.
    To,
    /// It is passed on.
    From,
}

impl Flow {
    /// Step, channel and way in 24, 12 and 2 bits.
    fn pack(self) -> u64 {
        u64::from(self.step) | u64::from(self.channel) << 24 | (self.relay as u64) << 36
    }

    fn unpack(op: u64) -> Self {
        let relay = match op >> 36 & 3 {
            0 => Relay::Direct,
            1 => Relay::To,
            _ => Relay::From,
        };
        Self { step: op as u32 & ((1 << 24) - 1), channel: (op >> 24) as u32 & 0xfff, relay }
    }
}

impl Flows {
    /// Member `at` of a group for which the plan was [checked](FlowsPlan::check).
    pub fn new(plan: &FlowsPlan, group: &[u32], at: u32) -> Self {
        let ranks = group.len() as u32;
        let mut this = Self {
            plan: plan.clone(),
            at,
            ranks,
            channels: plan.channels(group).max(1),
            arrived: FxHashMap::default(),
            actions: VecDeque::from([Action::Begin(0)]),
            missing: 0,
            unsent: 0,
            begun: false,
        };
        match plan.operation {
            _ if ranks < 2 => {}
            Operation::AllToAll => this.begin_all(),
            _ => this.begin_rings(),
        }
        this.end_if_done();
        this
    }

    fn begin_all(&mut self) {
        for distance in 1..self.ranks {
            let to = (self.at + distance) % self.ranks;
            let from = (self.at + self.ranks - distance) % self.ranks;
            if self.part(to) > 0 {
                self.unsent += 1;
                self.later(Flow { channel: 0, step: distance, relay: Relay::Direct }, Time::ZERO);
            }
            debug_assert_ne!(from, self.at, "a rank sends to others only");
            self.missing += u64::from(self.part(self.at) > 0);
        }
    }

    fn begin_rings(&mut self) {
        let steps = self.plan.steps(self.ranks);
        for channel in 0..self.channels {
            if self.size(channel, 0) == 0 {
                continue;
            }
            self.unsent += u64::from(steps);
            self.missing += u64::from(steps);
            if self.passes_on(channel) {
                self.unsent += u64::from(steps);
                self.missing += u64::from(steps);
            }
            self.later(self.forward(channel, 0), Time::ZERO);
        }
    }

    /// The bytes for one member of an all-to-all.
    fn part(&self, to: u32) -> u64 {
        let (bytes, ranks) = (self.plan.bytes.get(), u64::from(self.ranks));
        let more = self.plan.remainder == Remainder::Spread && u64::from(to) < bytes % ranks;
        bytes / ranks + u64::from(more)
    }

    /// The bytes of a step of a channel, the same in all steps.
    fn size(&self, channel: u32, _step: u32) -> u64 {
        let parts = u64::from(self.ranks) * u64::from(self.channels);
        let bytes = self.plan.bytes.get();
        // a remainder is below one byte for each part: channels take it in turn
        let rest = (bytes % parts).div_ceil(u64::from(self.ranks));
        let more = self.plan.remainder == Remainder::Spread && u64::from(channel) < rest;
        bytes / parts + u64::from(more)
    }

    /// Where a member stands in the ring of a channel.
    fn position(&self, channel: u32, member: u32) -> u32 {
        let (server, local) = (member / self.channels, member % self.channels);
        server * self.channels + (local + self.channels - channel) % self.channels
    }

    fn member(&self, channel: u32, position: u32) -> u32 {
        let position = position % self.ranks;
        let (server, turn) = (position / self.channels, position % self.channels);
        server * self.channels + (channel + turn) % self.channels
    }

    /// Whether the ring leaves the server behind a position, over a third rank.
    fn leaves(&self, position: u32) -> bool {
        let servers = self.ranks / self.channels;
        self.plan.pxn
            && servers > 1
            && self.channels > 1
            && position % self.channels == self.channels - 1
    }

    /// Whether this rank passes on what the last rank of its server sends on a channel.
    fn passes_on(&self, channel: u32) -> bool {
        let position = self.position(channel, self.at);
        position.is_multiple_of(self.channels) && self.leaves(position + self.channels - 1)
    }

    /// The flow with which this rank sends a step.
    fn forward(&self, channel: u32, step: u32) -> Flow {
        let leaves = self.leaves(self.position(channel, self.at));
        let relay = if leaves { Relay::To } else { Relay::Direct };
        Flow { channel, step, relay }
    }

    /// To whom a flow of this rank goes.
    fn peer(&self, flow: Flow) -> u32 {
        if self.plan.operation == Operation::AllToAll {
            return (self.at + flow.step) % self.ranks;
        }
        let position = self.position(flow.channel, self.at);
        match flow.relay {
            Relay::Direct => self.member(flow.channel, position + 1),
            Relay::To => self.member(flow.channel, position + 1 - self.channels),
            Relay::From => self.member(flow.channel, position + self.channels),
        }
    }

    /// Sends a flow after a turn and the send latency.
    fn later(&mut self, flow: Flow, turn: Time) {
        let time = turn.saturating_add(self.plan.send_latency);
        self.actions.push_back(Action::Wait { op: flow.pack(), time });
    }

    fn end_if_done(&mut self) {
        if self.missing + self.unsent == 0 && !self.begun {
            self.begun = true;
            self.actions.push_back(Action::End(0));
        }
    }
}

impl Program for Flows {
    fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn on_sent(&mut self, _: u64) {
        self.unsent = self.unsent.saturating_sub(1);
        self.end_if_done();
    }

    fn on_received(&mut self, _: u32, tag: u64) {
        let flow = Flow::unpack(tag);
        self.missing = self.missing.saturating_sub(1);
        if self.plan.operation != Operation::AllToAll {
            let pass = flow.relay == Relay::To;
            // flows of one channel take different queue pairs and may overtake each other
            let step = self.arrived.entry((flow.channel, pass)).or_default();
            *step += 1;
            let step = *step;
            if pass {
                let from = Flow { step: step - 1, relay: Relay::From, ..flow };
                self.later(from, Time::ZERO);
            } else if step < self.plan.steps(self.ranks) {
                self.later(self.forward(flow.channel, step), self.plan.turn());
            }
        }
        self.end_if_done();
    }

    fn on_timer(&mut self, op: u64) {
        let flow = Flow::unpack(op);
        let peer = self.peer(flow);
        let bytes = match self.plan.operation {
            Operation::AllToAll => self.part(peer),
            _ => self.size(flow.channel, flow.step),
        };
        let (bytes, tag, channel) = (Bytes::new(bytes), flow.pack(), flow.channel);
        self.actions.push_back(Action::Send(Message { op, peer, bytes, tag, channel }));
    }

    fn is_done(&self) -> bool {
        self.begun && self.actions.is_empty()
    }

    fn waits(&self) -> Vec<Wait> {
        if self.is_done() {
            return Vec::new();
        }
        let name = self.plan.operation.name();
        let before = self.position(0, self.at) + self.ranks - 1;
        let peer = match self.plan.operation {
            Operation::AllToAll => None,
            _ => Some(self.member(0, before)),
        };
        let operation = format!("{} flows of {name} to arrive", self.missing);
        vec![Wait { operation, peer: peer.filter(|_| self.missing > 0), tag: None }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(operation: Operation, gpus_per_server: u32, pxn: bool) -> FlowsPlan {
        FlowsPlan {
            operation,
            bytes: Bytes::new(1 << 20),
            gpus_per_server,
            send_latency: Time::ZERO,
            remainder: Remainder::Drop,
            pxn,
        }
    }

    /// Runs all members with messages that arrive in order; how many bytes each pair exchanges.
    fn run(plan: &FlowsPlan, group: &[u32]) -> Vec<(u32, u32, u64)> {
        plan.check(group).expect("the group can do it");
        let mut members: Vec<Flows> =
            (0..group.len() as u32).map(|at| Flows::new(plan, group, at)).collect();
        let (mut queue, mut all) = (VecDeque::new(), Vec::new());
        loop {
            for (at, member) in (0..).zip(&mut members) {
                while let Some(action) = member.poll() {
                    match action {
                        Action::Calc { op, .. } | Action::Wait { op, .. } => member.on_timer(op),
                        Action::Send(m) => queue.push_back((at, m)),
                        Action::Begin(_) | Action::End(_) => {}
                    }
                }
            }
            let Some((from, m)) = queue.pop_front() else { break };
            all.push((from, m.peer, m.bytes.get()));
            members[from as usize].on_sent(m.op);
            members[m.peer as usize].on_received(from, m.tag);
        }
        assert!(members.iter().all(Program::is_done), "{members:?}");
        all
    }

    #[test]
    fn in_one_server_all_channels_are_the_same_ring() {
        let group: Vec<u32> = (0..8).collect();
        let flows = run(&plan(Operation::AllReduce, 8, false), &group);
        // 14 steps, 8 ranks, 8 channels, each a 64th of the array
        assert_eq!(flows.len(), 14 * 8 * 8);
        assert!(flows.iter().all(|(a, b, bytes)| *b == (a + 1) % 8 && *bytes == (1 << 20) / 64));
    }

    #[test]
    fn between_servers_a_channel_leaves_before_its_place_and_enters_there() {
        let group: Vec<u32> = (0..8).collect();
        let flows = run(&plan(Operation::AllGather, 4, false), &group);
        assert_eq!(flows.len(), 7 * 8 * 4);
        let mut crossing: Vec<(u32, u32)> =
            flows.iter().filter(|f| f.0 / 4 != f.1 / 4).map(|f| (f.0, f.1)).collect();
        crossing.sort_unstable();
        crossing.dedup();
        let expected = [(0, 5), (1, 6), (2, 7), (3, 4), (4, 1), (5, 2), (6, 3), (7, 0)];
        assert_eq!(crossing, expected);
    }

    #[test]
    fn pxn_keeps_flows_between_servers_on_their_rail() {
        let group: Vec<u32> = (0..8).collect();
        let flows = run(&plan(Operation::ReduceScatter, 4, true), &group);
        assert!(flows.iter().all(|f| f.0 / 4 == f.1 / 4 || f.0 % 4 == f.1 % 4));
        // one flow more for each channel, step and change of servers
        assert_eq!(flows.len(), 7 * 8 * 4 + 7 * 2 * 4);
    }

    #[test]
    fn an_all_to_all_is_a_flow_to_each_other_rank() {
        let group = [1, 3, 5];
        let flows = run(&plan(Operation::AllToAll, 2, false), &group);
        assert_eq!(flows.len(), 6);
        assert!(flows.iter().all(|f| f.2 == (1 << 20) / 3));
        let spread =
            FlowsPlan { remainder: Remainder::Spread, ..plan(Operation::AllToAll, 2, false) };
        // 2^20 = 3 * 349525 + 1: rank 0 of the group gets the byte
        assert_eq!(run(&spread, &group).iter().map(|f| f.2).sum::<u64>(), 6 * 349_525 + 2);
    }

    #[test]
    fn nothing_to_send_and_nobody_to_send_to_end_at_once() {
        let none = FlowsPlan { bytes: Bytes::new(7), ..plan(Operation::AllReduce, 8, false) };
        assert!(run(&none, &[0, 1, 2, 3, 4, 5, 6, 7]).is_empty());
        assert!(run(&plan(Operation::AllGather, 8, false), &[3]).is_empty());
    }

    #[test]
    fn servers_with_different_numbers_of_ranks_are_refused() {
        let error = plan(Operation::AllReduce, 4, false).check(&[0, 1, 4]);
        assert!(matches!(error, Err(FlowsError::Uneven { first: 2, other: 1, .. })));
    }
}
