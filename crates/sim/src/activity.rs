//! What ranks do over time, out of what they were told: kept with blame only, like
//! [`critical`](crate::critical) paths.

use crate::nic::chain::{Cause, ChainLog};
use crate::nic::jobs::Agent;
use crate::node::Node;
use crate::outcome::{CriticalPath, JobActivity, JobRecord, RankActivity};
use std::collections::{BTreeMap, BTreeSet};
use weir_core::{NodeId, Time};

/// Of more ranks than this a reader would see nothing.
const MOST_RANKS: usize = 32;

/// Gaps shorter than this part of an iteration are closed.
const FINEST: u64 = 2000;

/// From and to.
type Stretch = (Time, Time);

/// What ranks of each job did in its longest iteration, if what they were told was kept.
pub(crate) fn all(nodes: &[Node], jobs: &[JobRecord], paths: &[CriticalPath]) -> Vec<JobActivity> {
    let mut found = Vec::new();
    for (job, record) in (0..).zip(jobs) {
        let of_job = paths.iter().filter(|p| p.job == job);
        let Some(path) = of_job.rev().max_by_key(|p| p.span.1 - p.span.0) else { continue };
        let shown = shown(record.rank_ends.len() as u32, path);
        let closed = Time::from_ps((path.span.1 - path.span.0).as_ps() / FINEST);
        let mut ranks: Vec<RankActivity> = Vec::new();
        for node in nodes {
            let Node::Nic(nic) = node else { continue };
            let Some(agent) = nic.agent.as_deref() else { continue };
            let Some(chain) = agent.chain.as_deref() else { return Vec::new() };
            let places = agent.ranks.iter().enumerate();
            let places = places.filter(|(_, r)| r.job == job && shown.contains(&r.rank));
            ranks.extend(places.map(|(p, _)| activity(agent, chain, p, nic.id, path.span, closed)));
        }
        ranks.sort_unstable_by_key(|r| r.rank);
        let all = record.rank_ends.len() as u32;
        let (iteration, span) = (path.iteration, path.span);
        found.push(JobActivity { job, iteration, span, all, ranks, closed });
    }
    found
}

/// Which of `all` ranks are shown: all if they are few, else half of them those on which the path
/// is longest, the others evenly spread.
fn shown(all: u32, path: &CriticalPath) -> BTreeSet<u32> {
    if all as usize <= MOST_RANKS {
        return (0..all).collect();
    }
    let mut on_path: BTreeMap<u32, Time> = BTreeMap::new();
    for link in &path.links {
        *on_path.entry(link.rank).or_default() += link.to - link.from;
    }
    let mut longest: Vec<(u32, Time)> = on_path.into_iter().collect();
    longest.sort_by_key(|(rank, time)| (std::cmp::Reverse(*time), *rank));
    let mut shown: BTreeSet<u32> =
        longest.into_iter().take(MOST_RANKS / 2).map(|(rank, _)| rank).collect();
    let spread = (MOST_RANKS - shown.len()) as u64;
    let last = u64::from(all - 1);
    shown.extend((0..spread).map(|i| (i * last / (spread - 1)) as u32));
    shown
}

/// What the rank at a place of a host did within `span`.
fn activity(
    agent: &Agent,
    chain: &ChainLog,
    place: usize,
    host: NodeId,
    span: Stretch,
    closed: Time,
) -> RankActivity {
    let told = chain.told.get(place).map_or(&[][..], Vec::as_slice);
    let since = |entry: u32| told.get(entry as usize).map(|t| t.at);
    let (mut computing, mut sending) = (Vec::new(), Vec::new());
    for t in told {
        match t.by {
            Cause::Calc { entry } => computing.extend(since(entry).map(|from| (from, t.at))),
            Cause::Nvlink { place: by, entry, .. } if by as usize == place => {
                sending.extend(since(entry).map(|from| (from, t.at)));
            }
            Cause::Left { flow, seq } => {
                let posted = chain.posted.get(&(flow, seq));
                let from = posted.and_then(|by| since(by.entry));
                sending.extend(from.map(|from| (from, t.at)));
            }
            _ => {}
        }
    }
    let computing = joined(computing, span, Time::ZERO);
    let sending = joined(sending, span, Time::ZERO);
    let length = |all: &[Stretch]| -> Time { all.iter().map(|(from, to)| *to - *from).sum() };
    let either = joined([&computing[..], &sending[..]].concat(), span, Time::ZERO);
    let computed = length(&computing);
    RankActivity {
        rank: agent.ranks[place].rank,
        host,
        computed,
        sent: length(&either) - computed,
        computing: joined(computing, span, closed),
        sending: joined(sending, span, closed),
    }
}

/// Stretches within `span` in order, those joined that overlap or have a gap of at most `closed`.
fn joined(mut all: Vec<Stretch>, span: Stretch, closed: Time) -> Vec<Stretch> {
    all.sort_unstable();
    let mut out: Vec<Stretch> = Vec::new();
    for (from, to) in all {
        let (from, to) = (from.max(span.0), to.min(span.1));
        match out.last_mut() {
            _ if from >= to => {}
            Some(last) if from <= last.1.saturating_add(closed) => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{LinkKind, PathLink};

    fn us(stretches: &[(u64, u64)]) -> Vec<Stretch> {
        stretches.iter().map(|&(a, b)| (Time::from_us(a), Time::from_us(b))).collect()
    }

    #[test]
    fn stretches_are_cut_to_their_span_and_joined_over_short_gaps() {
        let span = (Time::from_us(10), Time::from_us(50));
        let all = us(&[(30, 40), (0, 5), (8, 12), (11, 20), (21, 25), (45, 60)]);
        let exact = joined(all.clone(), span, Time::ZERO);
        assert_eq!(exact, us(&[(10, 20), (21, 25), (30, 40), (45, 50)]));
        let coarse = joined(all, span, Time::from_us(1));
        assert_eq!(coarse, us(&[(10, 25), (30, 40), (45, 50)]));
    }

    /// Of 1000 ranks at most 32 are shown, with the first, the last, and that of the path.
    #[test]
    fn of_many_ranks_those_of_the_path_are_shown_and_a_few_others() {
        let link = |rank| PathLink {
            rank,
            host: NodeId(0),
            peer: None,
            from: Time::ZERO,
            to: Time::from_us(1),
            what: LinkKind::Compute,
        };
        let span = (Time::ZERO, Time::from_us(1));
        let path = CriticalPath { job: 0, iteration: 0, span, links: vec![link(777), link(5)] };
        let ranks = shown(1000, &path);
        assert!(ranks.len() <= MOST_RANKS && ranks.len() > 20, "{}", ranks.len());
        assert!([0, 5, 777, 999].iter().all(|r| ranks.contains(r)), "{ranks:?}");
        assert_eq!(shown(32, &path).len(), 32);
    }
}
