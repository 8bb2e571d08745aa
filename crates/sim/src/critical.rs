//! The chain that set the end of an iteration, found backwards from the rank that ended last.
//!
//! A rank acts at the instant at which it is told something, so what it was told then is the cause
//! of what it does: of a computation that ends later, of a message that another rank is told of.
//! From the end of an iteration each cause leads to one before it, until the iteration began. What
//! happened to messages meanwhile is added by the probe for blame.

use crate::nic::chain::{Cause, ChainLog, Told};
use crate::nic::jobs::Agent;
use crate::node::Node;
use crate::outcome::{CriticalPath, IterationRecord, JobRecord, LinkKind, PathLink, Until};
use rustc_hash::FxHashMap;
use weir_core::{FlowId, NodeId, Time};

/// The paths of all iterations that ended, if what ranks were told was kept.
pub(crate) fn paths(nodes: &[Node], jobs: &[JobRecord]) -> Vec<CriticalPath> {
    let mut walk = Walk { agents: FxHashMap::default(), places: FxHashMap::default() };
    for node in nodes {
        let Node::Nic(nic) = node else { continue };
        let Some(agent) = nic.agent.as_deref() else { continue };
        let Some(chain) = agent.chain.as_deref() else { return Vec::new() };
        walk.agents.insert(nic.id, (agent, chain));
        for (place, rank) in (0..).zip(&agent.ranks) {
            walk.places.insert((rank.job, rank.rank), (nic.id, place));
        }
    }
    let mut paths = Vec::new();
    for (job, record) in (0..).zip(jobs) {
        let of_job = (0..).zip(&record.iterations);
        paths.extend(of_job.filter_map(|(i, it)| walk.path(job, i, it)));
    }
    paths
}

/// A rank, by its place on a host, and something that it was told.
#[derive(Clone, Copy, Debug)]
struct At {
    host: NodeId,
    place: u32,
    entry: u32,
}

struct Walk<'a> {
    agents: FxHashMap<NodeId, (&'a Agent, &'a ChainLog)>,
    places: FxHashMap<(u32, u32), (NodeId, u32)>,
}

impl Walk<'_> {
    fn told(&self, at: At) -> Option<Told> {
        let (_, chain) = self.agents.get(&at.host)?;
        chain.told.get(at.place as usize)?.get(at.entry as usize).copied()
    }

    fn rank(&self, at: At) -> u32 {
        let found = self.agents.get(&at.host).and_then(|(a, _)| a.ranks.get(at.place as usize));
        found.map_or(0, |rank| rank.rank)
    }

    /// Who posted a message.
    fn posted(&self, flow: FlowId, seq: u32) -> Option<At> {
        let host = flow.source();
        let by = self.agents.get(&host)?.1.posted.get(&(flow, seq))?;
        Some(At { host, place: by.place, entry: by.entry })
    }

    fn path(&self, job: u32, iteration: u32, it: &IterationRecord) -> Option<CriticalPath> {
        let (begin, end) = (it.begin, it.end?);
        let &(host, place) = self.places.get(&(job, it.slowest))?;
        let ended = self.agents.get(&host)?.1.ended.get(place as usize)?;
        let entry = *ended.get(iteration as usize)?;
        let mut links: Vec<PathLink> = Vec::new();
        let mut next = Some(At { host, place, entry });
        while let Some(at) = next {
            let told = self.told(at)?;
            if told.at <= begin {
                break;
            }
            next = self.link(at, told, &mut links)?;
        }
        let first = links.last().map_or(end, |link| link.from);
        links.iter_mut().for_each(|link| link.from = link.from.max(begin));
        if first > begin {
            // it began before the rank at which the chain does
            let (rank, host) = links.last().map_or((it.slowest, host), |l| (l.rank, l.host));
            let what = LinkKind::Start;
            links.push(PathLink { rank, host, peer: None, from: begin, to: first, what });
        }
        links.retain(|link| link.from < link.to);
        links.reverse();
        Some(CriticalPath { job, iteration, span: (begin, end), links })
    }

    /// Adds what led to `told`; where the chain goes on, if it does.
    fn link(&self, at: At, told: Told, links: &mut Vec<PathLink>) -> Option<Option<At>> {
        let rank = self.rank(at);
        let mut add = |at: At, peer: Option<u32>, from: Time, to: Time, what: LinkKind| {
            links.push(PathLink { rank: self.rank(at), host: at.host, peer, from, to, what });
        };
        let message = |flow, seq, until| {
            let (blame, answered) = (None, Time::ZERO);
            LinkKind::Message { flow, seq, until, blame, answered }
        };
        match told.by {
            Cause::Start => Some(None),
            Cause::Calc { entry } => {
                let before = At { entry, ..at };
                add(at, None, self.told(before)?.at, told.at, LinkKind::Compute);
                Some(Some(before))
            }
            Cause::Wait { entry } => {
                let before = At { entry, ..at };
                add(at, None, self.told(before)?.at, told.at, LinkKind::Told);
                Some(Some(before))
            }
            Cause::Nvlink { place, entry, alone } => {
                let before = At { place, entry, ..at };
                let from = self.told(before)?.at;
                add(before, Some(rank), from, told.at, LinkKind::Nvlink { alone });
                Some(Some(before))
            }
            Cause::Left { flow, seq } | Cause::Acked { flow, seq } => {
                let before = self.posted(flow, seq)?;
                let left = matches!(told.by, Cause::Left { .. });
                let until = if left { Until::Left } else { Until::Acked };
                let from = self.told(before)?.at;
                add(before, None, from, told.at, message(flow, seq, until));
                Some(Some(before))
            }
            Cause::Arrived { flow, seq, at: arrived } => {
                let before = self.posted(flow, seq)?;
                let from = self.told(before)?.at;
                add(at, Some(self.rank(before)), arrived, told.at, LinkKind::Told);
                add(before, Some(rank), from, arrived, message(flow, seq, Until::Arrived));
                Some(Some(before))
            }
        }
    }
}
