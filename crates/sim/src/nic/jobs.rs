//! The ranks of a host: their programs, the messages they send and what they wait for.
//!
//! A rank lives in its host and affects others through packets only. Whatever it is to be told (a
//! message has left, was acknowledged, has arrived; a computation is over) is an *event* with a
//! time; the events of a host are one queue behind one timer, in the order of time and then of
//! their making, which is the same for every engine. After each event the program is polled, and
//! its actions are carried out.
//!
//! A message to a rank of the same host takes no packets: it crosses
//! [`Nvlink`](weir_traffic::Nvlink).

use super::chain::{Cause, ChainLog, PostedBy};
use super::connections::{Connections, Way};
use super::pair::QueuePair;
use super::records::Records;
use super::{Nic, NicTimer};
use crate::config::Config;
use crate::env::Env;
use crate::outcome::Span;
use crate::parcel::MessageEnd;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use weir_coll::program::{Action, Message, Program};
use weir_core::{Bytes, FlowId, NodeId, Packet, Time};
use weir_traffic::{FlowSpec, Job, Traffic};

/// What a rank is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// It begins.
    Start,
    /// The last packet of a message has left.
    Sent(u64),
    /// A message was acknowledged.
    Acked(u64),
    /// A message from a rank, with a tag, has arrived.
    Received(u32, u64),
    /// A computation is over.
    Timer(u64),
}

/// A rank of a job on this host.
pub(crate) struct LocalRank {
    /// The job, by its place in the plan.
    pub(crate) job: u32,
    pub(crate) rank: u32,
    /// How many ranks of the job with lower numbers are on this host.
    gpu: u32,
    pub(crate) spec: Arc<Job>,
    pub(crate) program: Box<dyn Program>,
    /// Iterations that have begun.
    pub(crate) spans: Vec<Span>,
    connections: Connections,
    /// Its messages to ranks of the same host have left by then.
    local_free: Time,
    begun: bool,
    /// Its computations are over by then.
    calc_until: Time,
    /// Whether its program hears of messages that are acknowledged. A shortcut: one that does
    /// nothing then is spared it.
    hears_acks: bool,
}

/// When a rank is told something, the number of the event, the place of the rank, and what.
type Due = (Time, u64, u32, Event);

/// All ranks of a host.
pub(crate) struct Agent {
    /// By job, then by rank.
    pub(crate) ranks: Vec<LocalRank>,
    /// By time, then by number.
    events: BinaryHeap<Reverse<Due>>,
    made: u64,
    /// Whether ranks may be told at once what they do nothing about ([`Agent::takes_note`]).
    shortcuts: bool,
    /// The slot of each queue pair by number; `u32::MAX` when it is closed.
    slot_of: Vec<u32>,
    pub(crate) records: Records,
    /// What made each event, if that is asked for.
    pub(crate) chain: Option<Box<ChainLog>>,
}

impl Agent {
    /// The ranks that the jobs of `traffic` have on each host.
    pub(crate) fn all(traffic: &Traffic, config: &Config) -> FxHashMap<NodeId, Box<Self>> {
        let mut ranks: FxHashMap<NodeId, usize> = FxHashMap::default();
        for host in traffic.jobs().iter().flat_map(|job| &job.hosts) {
            *ranks.entry(*host).or_default() += 1;
        }
        let mut agents: FxHashMap<NodeId, Box<Self>> = FxHashMap::default();
        for (index, job) in traffic.jobs().iter().enumerate() {
            for (rank, host) in (0..).zip(&job.hosts) {
                let new = || Box::new(Self::new(ranks[host], config));
                agents.entry(*host).or_insert_with(new).add(job, index, rank, config);
            }
        }
        agents
    }

    /// With room for so many ranks, and for an event of each: a host may have many, and there may
    /// be many hosts.
    fn new(ranks: usize, config: &Config) -> Self {
        Self {
            ranks: Vec::with_capacity(ranks),
            events: BinaryHeap::with_capacity(ranks),
            made: 0,
            shortcuts: config.shortcuts,
            slot_of: Vec::new(),
            records: Records::default(),
            chain: config.probes.blame.then(Box::default),
        }
    }

    /// The place of a rank of a job, if it is here.
    fn place_of(&self, job: u32, rank: u32) -> Option<u32> {
        let found = self.ranks.binary_search_by_key(&(job, rank), |r| (r.job, r.rank));
        found.ok().map(|place| place as u32)
    }

    fn add(&mut self, job: &Arc<Job>, index: usize, rank: u32, config: &Config) {
        let place = self.ranks.len() as u32;
        // jobs come one after the other
        let before = self.ranks.last().filter(|r| r.job == index as u32);
        let gpu = before.map_or(0, |r| r.gpu + 1);
        let program = job.program(rank);
        self.ranks.push(LocalRank {
            job: index as u32,
            rank,
            gpu,
            spec: Arc::clone(job),
            hears_acks: !config.shortcuts || program.wants_acks(),
            program,
            spans: Vec::new(),
            connections: Connections::default(),
            local_free: Time::ZERO,
            begun: false,
            calc_until: Time::ZERO,
        });
        self.tell(job.start_of(rank, index, config.seed), place, Event::Start, Cause::Start);
    }

    /// A rank is to be told something at a time.
    fn tell(&mut self, at: Time, place: u32, event: Event, cause: Cause) {
        self.events.push(Reverse((at, self.made, place, event)));
        if let Some(chain) = &mut self.chain {
            chain.causes.insert(self.made, cause);
        }
        self.made += 1;
    }

    /// The last packet of a message has left: tells its rank at once, if all that the rank does
    /// about it is to remember it. Then no event need be made of it.
    ///
    /// A shortcut. It applies where nothing else is to be told at this instant so far, so that
    /// this would be the first thing told, and where the program [does nothing but take
    /// note](Program::notes_sent); with blame events are kept, so it does not apply. It skips the
    /// event and the poll that finds no action. The result is the same, because what else happens
    /// at this instant does not ask what the program has been told.
    fn takes_note(&mut self, now: Time, place: u32, op: u64) -> bool {
        let first = self.shortcuts && self.chain.is_none() && self.next().is_none_or(|at| at > now);
        first && self.ranks[place as usize].program.notes_sent(op)
    }

    /// The number of what a rank was told last, if that is kept.
    fn entry(&self, place: u32) -> u32 {
        self.chain.as_ref().map_or(0, |chain| chain.entry(place))
    }

    /// When the next event is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Whether every rank has done all it has to do.
    pub(crate) fn is_done(&self) -> bool {
        self.events.is_empty() && self.ranks.iter().all(|r| r.program.is_done())
    }

    /// The slot of a queue pair, while it is open.
    pub(super) fn slot(&self, flow: FlowId) -> Option<u32> {
        let slot = self.slot_of.get((flow.number() - FlowId::FIRST_PAIR) as usize).copied();
        slot.filter(|&s| s != u32::MAX)
    }

    /// A queue pair is closed.
    pub(super) fn forget(&mut self, flow: FlowId) {
        self.slot_of[(flow.number() - FlowId::FIRST_PAIR) as usize] = u32::MAX;
    }
}

impl LocalRank {
    /// Whether it is told that a message is acknowledged. One that is done closes its queue pairs
    /// at the last of them.
    fn hears_acks(&self) -> bool {
        self.hears_acks || self.program.is_done()
    }

    /// It computes from `now` to `end`: what other computations do not cover counts.
    fn computes(&mut self, now: Time, end: Time) {
        let from = self.calc_until.max(now);
        if let Some(span) = self.spans.last_mut() {
            span.computed = span.computed.saturating_add(end.saturating_sub(from));
        }
        self.calc_until = self.calc_until.max(end);
    }
}

impl Nic {
    /// Makes the timer fire at the next event of a rank.
    pub(super) fn watch_ranks(&mut self) {
        if let Some(at) = self.agent.as_ref().and_then(|a| a.next()) {
            self.timers.arm(NicTimer::Rank, at);
        }
    }

    fn tell(&mut self, at: Time, place: u32, event: Event, cause: Cause) {
        if let Some(agent) = &mut self.agent {
            let is_next = agent.next().is_none_or(|next| at < next);
            agent.tell(at, place, event, cause);
            if is_next {
                self.timers.arm(NicTimer::Rank, at);
            }
        }
    }

    /// Tells ranks what is due, and does what they want.
    pub(super) fn on_rank_events(&mut self, now: Time, env: &mut Env<'_, '_>) {
        while let Some(agent) = &mut self.agent
            && agent.next().is_some_and(|at| at <= now)
        {
            let Some(Reverse((_, number, place, event))) = agent.events.pop() else { break };
            if let Some(chain) = &mut agent.chain {
                chain.tell(place, now, number);
            }
            let rank = &mut agent.ranks[place as usize];
            match event {
                Event::Start => rank.begun = true,
                Event::Sent(op) => rank.program.on_sent(op),
                Event::Acked(op) => rank.program.on_acked(op),
                Event::Received(peer, tag) => rank.program.on_received(peer, tag),
                Event::Timer(op) => rank.program.on_timer(op),
            }
            if rank.begun {
                self.poll_rank(place, now, env);
            }
        }
        self.watch_ranks();
    }

    /// Carries out what a rank wants to do now.
    fn poll_rank(&mut self, place: u32, now: Time, env: &mut Env<'_, '_>) {
        loop {
            let Some(agent) = &mut self.agent else { return };
            let rank = &mut agent.ranks[place as usize];
            match rank.program.poll() {
                None => break,
                Some(Action::Send(message)) => self.post(place, message, now, env),
                Some(Action::Calc { op, time }) => {
                    let end = now.saturating_add(time);
                    rank.computes(now, end);
                    let entry = agent.entry(place);
                    agent.tell(end, place, Event::Timer(op), Cause::Calc { entry });
                }
                Some(Action::Wait { op, time }) => {
                    let entry = agent.entry(place);
                    let end = now.saturating_add(time);
                    agent.tell(end, place, Event::Timer(op), Cause::Wait { entry });
                }
                Some(Action::Begin(_)) => {
                    if rank.spans.is_empty() {
                        // often the only one
                        rank.spans.reserve_exact(1);
                    }
                    rank.spans.push(Span::begins(now));
                }
                Some(Action::End(_)) => {
                    if let Some(span) = rank.spans.last_mut() {
                        span.end = Some(now);
                    }
                    if let Some(chain) = &mut agent.chain {
                        let entry = chain.entry(place);
                        chain.ended[place as usize].push(entry);
                    }
                }
            }
        }
        self.close_pairs(place, now, env);
    }

    /// Closes the idle queue pairs of a rank that is done.
    fn close_pairs(&mut self, place: u32, now: Time, env: &mut Env<'_, '_>) {
        let Some(agent) = &mut self.agent else { return };
        let rank = &mut agent.ranks[place as usize];
        if !rank.program.is_done() || rank.connections.is_empty() {
            return;
        }
        let slots = &self.slots;
        let is_idle = |slot: &u32| {
            let pair = slots[*slot as usize].as_ref().and_then(|s| s.pair.as_ref());
            pair.is_some_and(|pair| pair.is_idle())
        };
        let mut idle: Vec<u32> = Vec::new();
        rank.connections.close(|slot| {
            let closes = is_idle(&slot);
            if closes {
                idle.push(slot);
            }
            closes
        });
        // tables have no order of their own
        idle.sort_unstable();
        for slot in idle {
            self.end(slot, now, env);
        }
    }

    /// Sends a message of a rank.
    fn post(&mut self, place: u32, message: Message, now: Time, env: &mut Env<'_, '_>) {
        let Some(agent) = &mut self.agent else { return };
        let rank = &mut agent.ranks[place as usize];
        let host = rank.spec.hosts[message.peer as usize];
        if host == self.id {
            self.send_locally(place, message, now);
            return;
        }
        let slot = self.slot_for(place, host, &message, now, env);
        let s = self.slots[slot as usize].as_mut().expect("an open queue pair has a slot");
        let last = s.post(message.bytes.get(), message.op, message.tag);
        let flow = s.spec.id;
        if let Some(chain) = self.agent.as_mut().and_then(|agent| agent.chain.as_mut()) {
            let entry = chain.entry(place);
            chain.posted.insert((flow, last), PostedBy { place, entry });
        }
        self.probes.posted(now, flow, last);
        self.settle(slot, now);
    }

    /// The queue pair that takes the next message to a peer: they take turns.
    fn slot_for(
        &mut self,
        place: u32,
        host: NodeId,
        message: &Message,
        now: Time,
        env: &mut Env<'_, '_>,
    ) -> u32 {
        let Some(agent) = &mut self.agent else { unreachable!("a rank has an agent") };
        let rank = &mut agent.ranks[place as usize];
        let key = (message.peer, message.channel);
        let way = rank.connections.take_turn(key, rank.spec.queue_pairs);
        let turn = match way {
            Way::Open(slot) => return slot,
            Way::New(turn) => turn,
        };
        let number = agent.slot_of.len() as u32;
        let spec = FlowSpec {
            start: now,
            class: rank.spec.class,
            priority: rank.spec.priority,
            id: FlowId::new(self.id, FlowId::FIRST_PAIR | number),
            ..FlowSpec::new(self.id, host, Bytes::MAX)
        };
        if number == 0 {
            // often the only one
            agent.slot_of.reserve_exact(1);
        }
        agent.slot_of.push(u32::MAX);
        let message_end = MessageEnd { job: rank.job, from: rank.rank, to: message.peer, tag: 0 };
        let pair = QueuePair::new(place, rank.gpu, message_end);
        let slot = self.open_flow(spec, Some(pair), now, env);
        let Some(agent) = &mut self.agent else { unreachable!("a rank has an agent") };
        agent.slot_of[number as usize] = slot;
        agent.ranks[place as usize].connections.open(key, turn, slot);
        slot
    }

    /// Sends a message to a rank of this host.
    fn send_locally(&mut self, place: u32, message: Message, now: Time) {
        let Some(agent) = &mut self.agent else { return };
        let rank = &mut agent.ranks[place as usize];
        let (nvlink, job) = (rank.spec.nvlink, rank.job);
        let takes = nvlink.rate.time_for(message.bytes);
        let left = rank.local_free.max(now).saturating_add(takes);
        rank.local_free = left;
        let received = Event::Received(rank.rank, message.tag);
        let entry = agent.entry(place);
        let cause = |alone| Cause::Nvlink { place, entry, alone };
        agent.tell(left, place, Event::Sent(message.op), cause(takes));
        if agent.ranks[place as usize].hears_acks() {
            agent.tell(left, place, Event::Acked(message.op), cause(takes));
        }
        if let Some(to) = agent.place_of(job, message.peer) {
            let arrives = left.saturating_add(nvlink.latency);
            agent.tell(arrives, to, received, cause(takes.saturating_add(nvlink.latency)));
        }
    }

    /// A packet of a queue pair leaves: the rank is told if it ends a message.
    #[inline(never)]
    pub(super) fn note_left(&mut self, slot: u32, seq: u32, now: Time) {
        let Some(s) = self.slots[slot as usize].as_mut() else { return };
        let flow = s.spec.id;
        let Some(pair) = s.pair.as_mut() else { return };
        let owner = pair.owner;
        if let Some(op) = pair.leaves(seq)
            && !self.agent.as_mut().is_some_and(|agent| agent.takes_note(now, owner, op))
        {
            self.tell(now, owner, Event::Sent(op), Cause::Left { flow, seq });
        }
    }

    /// Acknowledgements of a queue pair came: its rank is told which messages are complete.
    #[inline(never)]
    pub(super) fn note_acked(&mut self, slot: u32, now: Time) {
        while let Some(s) = self.slots[slot as usize].as_mut()
            && let Some((op, seq)) = s.complete_message()
        {
            let (owner, flow) = (s.pair.as_ref().map_or(0, |pair| pair.owner), s.spec.id);
            self.probes.acknowledged(now, flow, seq);
            if self.agent.as_ref().is_some_and(|agent| agent.ranks[owner as usize].hears_acks()) {
                self.tell(now, owner, Event::Acked(op), Cause::Acked { flow, seq });
            }
        }
    }

    /// The last packet of a message is there, and all before it: its rank is told after its
    /// completion delay.
    #[inline(never)]
    pub(super) fn note_arrived(
        &mut self,
        flow: FlowId,
        (seq, message_end): (u32, MessageEnd),
        now: Time,
    ) {
        self.probes.message(now, flow, seq);
        let Some(agent) = &self.agent else { return };
        let Some(place) = agent.place_of(message_end.job, message_end.to) else { return };
        let delay = agent.ranks[place as usize].spec.completion_delay;
        let event = Event::Received(message_end.from, message_end.tag);
        let cause = Cause::Arrived { flow, seq, at: now };
        self.tell(now.saturating_add(delay), place, event, cause);
    }

    /// What the last packet of a message says, if `p` is one.
    #[inline]
    pub(super) fn message_end(p: &Packet, env: &mut Env<'_, '_>) -> Option<MessageEnd> {
        if !p.flow.is_pair() || p.extra == Packet::NO_EXTRA {
            return None;
        }
        env.wires.extras.telemetry.get_mut(p.extra).ends()
    }
}
