//! Where the completion time of each flow went, and because of which port.
//!
//! The simulator says what a flow waited for and where ([`FlowBlame`]). Here each time for which it
//! was held is divided among the pauses that held it, and each pause is followed to the port at
//! which it began: its root. If the root is on the way of the flow, the flow was held for
//! congestion of its own; otherwise it is a victim.

use super::Facts;
use super::paths::PathBlame;
use super::pauses::Hold;
use super::victims::effect_begins;
use std::collections::{BTreeMap, BTreeSet};
use weir_core::{Bytes, FlowId, NodeId, PortId, Priority, Time};
use weir_scenario::PortAt;
use weir_scenario::experiment::Experiment;
use weir_sim::outcome::{
    BlameLog, CulpritKind, FlowBlame, PauseCulprits, PauseScope, Wait, Waited,
};

weir_core::words! {
    /// A part of a completion time. Where several apply at one instant, the later one counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum FctPart {
        /// Serialisation, propagation and switch latency of the deciding packet.
        Wire = "wire",
        /// Earlier packets of the flow on the wire of its host.
        Source = "source",
        /// Rate, window or pacing of the congestion control.
        Control = "control",
        /// Timeouts, retransmissions, links that are down.
        Recovery = "recovery",
        /// Queued behind packets of the same flow.
        OwnQueue = "own-queue",
        /// Queued behind packets of other flows.
        OthersQueue = "others-queue",
        /// Held by a pause whose root is on the way of the flow.
        HeldOwn = "held-own",
        /// Held by a pause whose root is not.
        HeldOthers = "held-others",
        /// Other flows of the host.
        Host = "host",
    }
}

impl FctPart {
    /// How sentences call it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Wire => "alone on the wire",
            Self::Source => "sending its own bytes",
            Self::Control => "congestion control",
            Self::Recovery => "recovery",
            Self::OwnQueue => "queued behind itself",
            Self::OthersQueue => "queued behind others",
            Self::HeldOwn => "held for its own congestion",
            Self::HeldOthers => "held for others",
            Self::Host => "behind other flows of its host",
        }
    }
}

weir_core::words! {
    /// What is known of the root of a hold.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Certainty {
        /// One chain of pauses held the flow.
        Single = "single",
        /// Several chains did at the same time; the one that began first is named.
        Overlap = "overlap",
        /// The log of pauses does not say.
        Unknown = "unknown",
    }
}

/// A part of a completion time at one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Of what kind.
    pub part: FctPart,
    /// Where on the way: 0 for the host.
    pub hop: u16,
    /// At which egress port.
    pub at: PortAt,
    /// For a hold, where the pauses began.
    pub root: Option<PortAt>,
    /// For a hold, how sure that is.
    pub certainty: Option<Certainty>,
    /// When it began.
    pub first: Time,
    /// In how many stretches of time, for a hold.
    pub count: u32,
    /// For how long in all.
    pub time: Time,
}

/// In what sense a flow is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// For a queue.
    Queue(CulpritKind),
    /// Its bytes stood in the ingress of the root when that paused its neighbour.
    Pause,
}

impl Fault {
    /// How files call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue(kind) => kind.name(),
            Self::Pause => "pause",
        }
    }
}

/// A flow that is to blame for a wait of another one, or of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// Where on the way of the flow that waited.
    pub hop: u16,
    /// In what sense.
    pub fault: Fault,
    /// The port at which the flow waited.
    pub at: PortAt,
    /// For a pause, its root.
    pub root: Option<PortAt>,
    /// Who.
    pub flow: FlowId,
    /// With how many bytes.
    pub bytes: Bytes,
    /// Its part of the time, by bytes; zero for those that only built a queue up.
    pub time: Time,
}

/// The account of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blamed {
    /// Which.
    pub flow: FlowId,
    /// Its parts, which add up to its completion time.
    pub shares: Vec<Share>,
    /// Who is to blame.
    pub culprits: Vec<Culprit>,
}

impl Blamed {
    /// By part, in the order of [`FctPart::ALL`].
    pub fn parts(&self) -> [Time; 9] {
        FctPart::ALL.map(|part| self.shares.iter().filter(|s| s.part == part).map(|s| s.time).sum())
    }
}

/// The accounts of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blames {
    /// Of all flows that are complete, by id.
    pub flows: Vec<Blamed>,
    /// What set the end of each iteration of each job.
    pub paths: Vec<PathBlame>,
}

impl Blames {
    /// Of a run whose pauses are `holds`; `None` if it was not asked for.
    pub(crate) fn of_run(e: &Experiment, run: Facts<'_>, holds: &[Hold]) -> Option<Self> {
        let log = run.outcome.blame.as_deref()?;
        let roots = Roots::new(e, run, holds, log);
        let flows = log.flows.iter().map(|flow| roots.account(flow)).collect();
        let paths = log.paths.iter().map(|path| PathBlame::new(path, &roots)).collect();
        Some(Self { flows, paths })
    }

    /// The critical path of an iteration of a job.
    pub fn path(&self, job: usize, iteration: usize) -> Option<&PathBlame> {
        let key = |p: &&PathBlame| (p.job as usize, p.iteration as usize) == (job, iteration);
        self.paths.iter().find(key)
    }

    /// The account of a flow.
    pub fn of(&self, flow: FlowId) -> Option<&Blamed> {
        let at = self.flows.binary_search_by_key(&flow, |b| b.flow).ok()?;
        self.flows.get(at)
    }
}

/// The key of a pause: when, and which ingress and priority.
type PauseKey = (Time, NodeId, PortId, Priority);

pub(super) struct Roots<'a> {
    e: &'a Experiment,
    run: Facts<'a>,
    holds: &'a [Hold],
    /// In order of their starts.
    by_port: BTreeMap<PortAt, Vec<usize>>,
    culprits: BTreeMap<PauseKey, &'a PauseCulprits>,
}

/// A part of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    from: Time,
    to: Time,
    hold: Option<usize>,
    certainty: Certainty,
}

impl<'a> Roots<'a> {
    fn new(e: &'a Experiment, run: Facts<'a>, holds: &'a [Hold], log: &'a BlameLog) -> Self {
        let mut by_port: BTreeMap<PortAt, Vec<usize>> = BTreeMap::new();
        for (i, hold) in holds.iter().enumerate() {
            by_port.entry(hold.held).or_default().push(i);
        }
        let key = |p: &'a PauseCulprits| ((p.at, p.node, p.port, p.priority), p);
        Self { e, run, holds, by_port, culprits: log.pauses.iter().map(key).collect() }
    }

    /// The pauses that reached `at`: in force at some time between `from` and `to`, or the last
    /// before, as (from when, until when, which).
    fn near(
        &self,
        at: PortAt,
        priority: Priority,
        from: Time,
        to: Time,
    ) -> Vec<(Time, Time, usize)> {
        /// A port has few keys (queues, flows): among so many earlier ones is the last to end.
        const EARLIER: usize = 32;
        let Some(all) = self.by_port.get(&at) else { return Vec::new() };
        let link = self.e.topology.port(at.node, at.port).link;
        let delay = self.e.topology.link(link).delay;
        let upto = all.partition_point(|&i| self.holds[i].start + delay < to);
        let mut near = Vec::new();
        let mut before: Vec<(Time, Time, usize)> = Vec::new();
        for &i in all[..upto].iter().rev() {
            let h = &self.holds[i];
            let span = (h.start + delay, h.end + delay, i);
            if h.priority != priority {
                continue;
            }
            if span.1 > from {
                near.push(span);
            } else if before.len() < EARLIER {
                before.push(span);
            } else {
                break;
            }
        }
        near.extend(before.into_iter().max_by_key(|b| b.1));
        near.sort_unstable();
        near
    }

    /// Divides a hold at the instants at which the pauses that reached it begin and end. The one
    /// that began first takes what overlaps; after the last one has ended, its RESUME is still on
    /// its way.
    fn split(&self, at: PortAt, priority: Priority, from: Time, to: Time) -> Vec<Piece> {
        let near = self.near(at, priority, from, to);
        let begin = from;
        let bounds = near.iter().flat_map(|n| [n.0, n.1]).filter(|&t| t > from && t < to);
        let mut cuts: Vec<Time> = bounds.chain([from, to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut pieces: Vec<Piece> = Vec::new();
        for (&from, &to) in cuts.iter().zip(&cuts[1..]) {
            let mut in_force = near.iter().filter(|n| n.0 <= from && n.1 >= to).peekable();
            let first = in_force.peek().map(|n| n.2);
            let roots: BTreeSet<_> = in_force.map(|n| self.holds[n.2].root).collect();
            let last = || near.iter().filter(|n| n.0 <= from).max_by_key(|n| n.1).map(|n| n.2);
            let hold = first.or_else(last);
            let known = hold.is_some_and(|i| self.holds[i].root.is_some());
            let certainty = match (known, roots.len()) {
                (false, _) => Certainty::Unknown,
                (true, ..=1) if !hold.is_some_and(|i| self.is_older(i, begin)) => Certainty::Single,
                (true, _) => Certainty::Overlap,
            };
            match pieces.last_mut() {
                Some(p) if p.hold == hold && p.certainty == certainty => p.to = to,
                _ => pieces.push(Piece { from, to, hold, certainty }),
            }
        }
        pieces
    }

    /// Whether `hold` names flows and reached its port so long before `t` that it named another
    /// flow first: the log joins pauses of flows that overlap, and its root is that of the first.
    fn is_older(&self, hold: usize, t: Time) -> bool {
        let h = &self.holds[hold];
        matches!(h.scope, PauseScope::Flows(_)) && effect_begins(self.e, self.run, h) < t
    }

    /// The pause with which the chain of `hold` begins.
    fn first(&self, hold: usize) -> usize {
        let mut at = hold;
        while let Some(parent) = self.holds[at].parent {
            at = parent;
        }
        at
    }

    pub(super) fn account(&self, flow: &FlowBlame) -> Blamed {
        let mut account = Account::new(self, flow);
        flow.waited.iter().for_each(|w| account.add(w));
        account.queues();
        Blamed { flow: flow.flow, shares: account.shares, culprits: account.culprits }
    }
}

struct Account<'a> {
    roots: &'a Roots<'a>,
    flow: &'a FlowBlame,
    shares: Vec<Share>,
    culprits: Vec<Culprit>,
    /// Pauses whose bytes are counted, by the port at which the flow waited.
    counted: BTreeSet<(PortAt, usize)>,
}

impl<'a> Account<'a> {
    fn new(roots: &'a Roots<'a>, flow: &'a FlowBlame) -> Self {
        Self { roots, flow, shares: Vec::new(), culprits: Vec::new(), counted: BTreeSet::new() }
    }

    fn add(&mut self, w: &Waited) {
        let at = PortAt { node: w.node, port: w.port };
        let part = match w.wait {
            Wait::Wire => FctPart::Wire,
            Wait::Source => FctPart::Source,
            Wait::Control => FctPart::Control,
            Wait::Recovery => FctPart::Recovery,
            Wait::OwnQueue => FctPart::OwnQueue,
            Wait::OthersQueue => FctPart::OthersQueue,
            Wait::Host => FctPart::Host,
            Wait::Held => return self.held(w, at),
            Wait::Idle => return self.idle(w, at),
        };
        self.share(Share {
            part,
            hop: w.hop,
            at,
            root: None,
            certainty: None,
            first: w.from,
            count: 1,
            time: w.time,
        });
    }

    fn share(&mut self, share: Share) {
        let same = |s: &&mut Share| {
            (s.part, s.hop, s.at, s.root) == (share.part, share.hop, share.at, share.root)
        };
        match self.shares.iter_mut().find(same) {
            None => self.shares.push(share),
            Some(known) => {
                known.time += share.time;
                known.count += 1;
                known.first = known.first.min(share.first);
                known.certainty = known.certainty.max(share.certainty);
            }
        }
    }

    fn held(&mut self, w: &Waited, at: PortAt) {
        for piece in self.roots.split(at, self.flow.priority, w.from, w.to) {
            self.held_by(w, at, piece, piece.to - piece.from);
        }
    }

    /// The wire was idle and nothing was held: slowed down or made to wait by a pause of another
    /// kind, or the link was down.
    fn idle(&mut self, w: &Waited, at: PortAt) {
        let near = self.roots.near(at, self.flow.priority, w.from, w.to);
        let hold = near.iter().find(|n| n.1 > w.from).map(|n| n.2);
        match hold {
            Some(hold) => {
                let certainty = match self.roots.holds[hold].root {
                    Some(_) => Certainty::Overlap,
                    None => Certainty::Unknown,
                };
                let piece = Piece { from: w.from, to: w.to, hold: Some(hold), certainty };
                self.held_by(w, at, piece, w.time);
            }
            None => self.add(&Waited { wait: Wait::Recovery, ..*w }),
        }
    }

    fn held_by(&mut self, w: &Waited, at: PortAt, piece: Piece, time: Time) {
        let root = piece.hold.and_then(|i| self.roots.holds[i].root);
        let on_path = root.is_none_or(|r| self.flow.path.contains(&(r.node, r.port)));
        let part = if on_path { FctPart::HeldOwn } else { FctPart::HeldOthers };
        self.share(Share {
            part,
            hop: w.hop,
            at,
            root,
            certainty: Some(piece.certainty),
            first: piece.from,
            count: 1,
            time,
        });
        if let Some(hold) = piece.hold {
            self.pause_culprits(w.hop, at, root, self.roots.first(hold), time);
        }
    }

    /// Blames the flows whose bytes stood in the ingress of the root.
    fn pause_culprits(
        &mut self,
        hop: u16,
        at: PortAt,
        root: Option<PortAt>,
        hold: usize,
        time: Time,
    ) {
        let h = &self.roots.holds[hold];
        let key = (h.start, h.by.node, h.by.port, h.priority);
        let Some(pause) = self.roots.culprits.get(&key).copied() else { return };
        let new = self.counted.insert((at, hold));
        for &(flow, bytes) in &pause.flows {
            let bytes_counted = if new { bytes } else { Bytes::ZERO };
            let time = part_of(time, bytes, pause.total);
            self.culprit(Culprit {
                hop,
                fault: Fault::Pause,
                at,
                root,
                flow,
                bytes: bytes_counted,
                time,
            });
        }
    }

    fn culprit(&mut self, culprit: Culprit) {
        let key = |c: &Culprit| (c.fault, c.at, c.root, c.flow);
        match self.culprits.iter_mut().find(|c| key(c) == key(&culprit)) {
            None => self.culprits.push(culprit),
            Some(known) => {
                known.bytes += culprit.bytes;
                known.time += culprit.time;
            }
        }
    }

    /// Blames the flows whose packets stood ahead of the deciding packet.
    fn queues(&mut self) {
        for c in &self.flow.culprits {
            let at = PortAt { node: c.node, port: c.port };
            let own = c.flow == self.flow.flow;
            let part = if own { FctPart::OwnQueue } else { FctPart::OthersQueue };
            let waited = self.shares.iter().find(|s| s.part == part && s.at == at);
            let same = |d: &&weir_sim::outcome::QueueCulprit| {
                (d.hop, d.kind, d.flow == self.flow.flow) == (c.hop, c.kind, own)
            };
            let total: Bytes = self.flow.culprits.iter().filter(same).map(|d| d.bytes).sum();
            let time = match (c.kind, waited) {
                (CulpritKind::Direct, Some(share)) => part_of(share.time, c.bytes, total),
                _ => Time::ZERO,
            };
            let fault = Fault::Queue(c.kind);
            let (hop, flow, bytes) = (c.hop, c.flow, c.bytes);
            self.culprits.push(Culprit { hop, fault, at, root: None, flow, bytes, time });
        }
    }
}

/// `time * bytes / total`, rounded down.
fn part_of(time: Time, bytes: Bytes, total: Bytes) -> Time {
    let product = u128::from(time.as_ps()) * u128::from(bytes.get());
    let part = product.checked_div(u128::from(total.get())).unwrap_or(0);
    Time::from_ps(u64::try_from(part).unwrap_or(u64::MAX))
}
