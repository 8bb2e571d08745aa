//! Where the time of an iteration of a job went, along the chain that set its end.

use super::blame::{Culprit, FctPart, Roots};
use weir_core::{NodeId, Time};
use weir_scenario::PortAt;
use weir_sim::outcome::{CriticalPath, LinkKind, PathLink};

/// A part of the time of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathPart {
    /// The rank began later than others.
    Start,
    /// It computed.
    Compute,
    /// A message over NVLink.
    Nvlink,
    /// Its turn on NVLink.
    NvlinkQueue,
    /// A message waited, or was on the wire.
    Of(FctPart),
    /// An acknowledgement was on its way.
    Answer,
    /// A message had arrived and its rank was not told yet.
    Told,
    /// It is not known.
    Unknown,
}

impl PathPart {
    /// How many there are.
    pub const COUNT: usize = 16;

    /// All parts, in the order of columns.
    pub fn all() -> [Self; Self::COUNT] {
        let [wire, source, control, recovery, own, others, held_own, held_others, host] =
            FctPart::ALL.map(Self::Of);
        let [start, compute, nvlink, nvlink_queue] =
            [Self::Start, Self::Compute, Self::Nvlink, Self::NvlinkQueue];
        [
            compute,
            wire,
            source,
            host,
            own,
            others,
            held_own,
            held_others,
            control,
            recovery,
            nvlink,
            nvlink_queue,
            Self::Told,
            Self::Answer,
            start,
            Self::Unknown,
        ]
    }

    /// How files call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Compute => "compute",
            Self::Nvlink => "nvlink",
            Self::NvlinkQueue => "nvlink-queue",
            Self::Of(part) => part.name(),
            Self::Answer => "answer",
            Self::Told => "told",
            Self::Unknown => "unknown",
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Start => "before the rank began",
            Self::Compute => "computation",
            Self::Nvlink => "NVLink",
            Self::NvlinkQueue => "its turn on NVLink",
            Self::Of(part) => part.words(),
            Self::Answer => "acknowledgements on their way",
            Self::Told => "completion delays",
            Self::Unknown => "not known",
        }
    }

    /// Whether a network without others in it would not have taken this time.
    pub const fn is_waiting(self) -> bool {
        matches!(
            self,
            Self::Of(
                FctPart::OwnQueue
                    | FctPart::OthersQueue
                    | FctPart::HeldOwn
                    | FctPart::HeldOthers
                    | FctPart::Recovery
                    | FctPart::Control
            )
        )
    }
}

/// A part of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathShare {
    /// Of what kind.
    pub part: PathPart,
    /// At which egress port, for parts of messages.
    pub at: Option<PortAt>,
    /// For a hold, where the pauses began.
    pub root: Option<PortAt>,
    /// For how long.
    pub time: Time,
}

/// A link of the chain, with its parts, which add up to its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedLink {
    /// The rank that computes or sends.
    pub rank: u32,
    /// Its host.
    pub host: NodeId,
    /// The other rank of a message.
    pub peer: Option<u32>,
    /// When it began.
    pub from: Time,
    /// When it was over.
    pub to: Time,
    /// Its parts.
    pub shares: Vec<PathShare>,
    /// Flows that are to blame.
    pub culprits: Vec<Culprit>,
}

/// A port that is to blame for a part of a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlamedPort {
    /// Which.
    pub at: PortAt,
    /// For how long in all.
    pub time: Time,
    /// For how much of that by pauses that began there; the rest are its queue, losses, and waits
    /// for congestion control.
    pub paused: Time,
}

/// The critical path of an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathBlame {
    /// The job, by its place in the plan.
    pub job: u32,
    /// The iteration.
    pub iteration: u32,
    /// When it began, and when it ended.
    pub span: (Time, Time),
    /// The chain, from the beginning to the end.
    pub links: Vec<BlamedLink>,
}

impl PathBlame {
    pub(super) fn new(path: &CriticalPath, roots: &Roots<'_>) -> Self {
        let links = path.links.iter().map(|link| BlamedLink::new(link, roots)).collect();
        Self { job: path.job, iteration: path.iteration, span: path.span, links }
    }

    /// For how long in all; the sum over all parts is the time of the iteration.
    pub fn total(&self, part: PathPart) -> Time {
        let shares = self.links.iter().flat_map(|link| &link.shares);
        shares.filter(|s| s.part == part).map(|s| s.time).sum()
    }

    /// The ports that are to blame for time that a lone message would not have waited, the worst
    /// first: where pauses began, or else where packets were queued.
    pub fn ports(&self) -> Vec<BlamedPort> {
        let mut ports: Vec<BlamedPort> = Vec::new();
        let shares = self.links.iter().flat_map(|link| &link.shares);
        for share in shares.filter(|s| s.part.is_waiting()) {
            let Some(at) = share.root.or(share.at) else { continue };
            let known = match ports.iter().position(|p| p.at == at) {
                Some(known) => known,
                None => {
                    ports.push(BlamedPort { at, time: Time::ZERO, paused: Time::ZERO });
                    ports.len() - 1
                }
            };
            ports[known].time += share.time;
            if share.root.is_some() {
                ports[known].paused += share.time;
            }
        }
        // of equal ones the first
        ports.sort_by_key(|p| std::cmp::Reverse(p.time));
        ports
    }

    /// The worst of them, and for how long.
    pub fn culprit(&self) -> Option<(PortAt, Time)> {
        self.ports().first().map(|p| (p.at, p.time))
    }
}

impl BlamedLink {
    fn new(link: &PathLink, roots: &Roots<'_>) -> Self {
        let whole = link.to - link.from;
        let mut culprits = Vec::new();
        let alone = |part, time| PathShare { part, at: None, root: None, time };
        let mut shares = match &link.what {
            LinkKind::Start => vec![alone(PathPart::Start, whole)],
            LinkKind::Compute => vec![alone(PathPart::Compute, whole)],
            LinkKind::Told => vec![alone(PathPart::Told, whole)],
            LinkKind::Nvlink { alone: takes } => {
                let takes = (*takes).min(whole);
                vec![alone(PathPart::Nvlink, takes), alone(PathPart::NvlinkQueue, whole - takes)]
            }
            LinkKind::Message { blame, answered, .. } => {
                let mut shares = vec![alone(PathPart::Answer, *answered)];
                if let Some(blame) = blame {
                    let account = roots.account(blame);
                    culprits = account.culprits;
                    shares.extend(account.shares.iter().map(|s| PathShare {
                        part: PathPart::Of(s.part),
                        at: Some(s.at),
                        root: s.root,
                        time: s.time,
                    }));
                }
                shares
            }
        };
        let known: Time = shares.iter().map(|s| s.time).sum();
        shares.push(alone(PathPart::Unknown, whole.saturating_sub(known)));
        shares.retain(|s| s.time > Time::ZERO);
        let PathLink { rank, host, peer, from, to, .. } = *link;
        Self { rank, host, peer, from, to, shares, culprits }
    }
}
