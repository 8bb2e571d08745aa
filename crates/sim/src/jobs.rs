//! Jobs as a whole: their ranks are spread over hosts, their records are put together here.

use crate::alone;
use crate::nic::Nic;
use crate::nic::jobs::LocalRank;
use crate::node::Node;
use crate::outcome::{JobRecord, RankWait, Span, StepEnd, Stuck};
use crate::shared::Shared;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use weir_coll::collective::Plan;
use weir_coll::ideal::{self, Cost};
use weir_coll::program::{Program, wait_for_chain};
use weir_coll::training::Training;
use weir_core::{Bytes, FlowId, NodeId, PortId, QueueId, Time};
use weir_traffic::{Job, Work};

/// The ranks of each job, in order, with their hosts.
fn jobs<'a>(nodes: impl Iterator<Item = &'a Node>) -> Vec<Vec<(NodeId, &'a LocalRank)>> {
    let mut jobs: Vec<Vec<(NodeId, &LocalRank)>> = Vec::new();
    for node in nodes {
        let Node::Nic(nic) = node else { continue };
        for rank in nic.agent.iter().flat_map(|agent| &agent.ranks) {
            let job = rank.job as usize;
            jobs.resize_with(jobs.len().max(job + 1), Vec::new);
            jobs[job].push((nic.id, rank));
        }
    }
    for job in &mut jobs {
        job.sort_unstable_by_key(|(_, rank)| rank.rank);
    }
    jobs
}

/// Iterations that all ranks of their job have ended, and all that there are, over all jobs; and
/// the one that ended last.
pub(crate) fn steps<'a>(
    nodes: impl Iterator<Item = &'a Node> + Clone,
) -> ((u64, u64), Option<StepEnd>) {
    let mut jobs: Vec<Option<(u64, u64)>> = Vec::new();
    for rank in ranks(nodes.clone()) {
        let open = rank.spans.last().is_some_and(|span| span.end.is_none());
        let ended = rank.spans.len() as u64 - u64::from(open);
        let job = rank.job as usize;
        jobs.resize(jobs.len().max(job + 1), None);
        let all = u64::from(rank.spec.iterations());
        let least = jobs[job].map_or(ended, |(least, _)| least.min(ended));
        jobs[job] = Some((least, all));
    }
    // when the last of these began and ended, by job
    let mut last: Vec<Option<(Time, Time)>> = vec![None; jobs.len()];
    for rank in ranks(nodes) {
        let job = rank.job as usize;
        let of_job = jobs[job].and_then(|(ended, _)| ended.checked_sub(1));
        let Some(span) = of_job.and_then(|i| rank.spans.get(i as usize)) else { continue };
        let end = span.end.unwrap_or(span.begin);
        let known = last[job].map_or((span.begin, end), |(b, e)| (b.min(span.begin), e.max(end)));
        last[job] = Some(known);
    }
    let ends = (0..).zip(&last).filter_map(|(job, known)| Some((job, (*known)?)));
    let last = ends.max_by_key(|&(job, (_, end))| (end, std::cmp::Reverse(job)));
    let last = last.map(|(job, (begin, end))| {
        let ended = jobs[job as usize].map_or(1, |(ended, _)| ended);
        StepEnd { job, iteration: ended.saturating_sub(1) as u32, time: end - begin }
    });
    let sum = |sum: (u64, u64), job: (u64, u64)| (sum.0 + job.0, sum.1 + job.1);
    (jobs.into_iter().flatten().fold((0, 0), sum), last)
}

/// All ranks of all jobs.
fn ranks<'a>(nodes: impl Iterator<Item = &'a Node>) -> impl Iterator<Item = &'a LocalRank> {
    let nics = nodes.filter_map(|node| match node {
        Node::Nic(nic) => Some(nic),
        Node::Switch(_) => None,
    });
    nics.filter_map(|nic| nic.agent.as_deref()).flat_map(|agent| &agent.ranks)
}

/// The record of each job, of iterations that all its ranks have ended only.
pub(crate) fn ended<'a>(nodes: impl Iterator<Item = &'a Node>) -> Vec<JobRecord> {
    let record = |ranks: &Vec<(NodeId, &LocalRank)>| {
        let spans: Vec<(&[Span], bool)> =
            ranks.iter().map(|(_, rank)| (&rank.spans[..], false)).collect();
        let mut record = JobRecord::new(&spans);
        record.iterations.retain(|it| it.end.is_some());
        record
    };
    jobs(nodes).iter().map(record).collect()
}

/// Who waits for whom in a job.
fn waits(ranks: &[(NodeId, &LocalRank)]) -> Vec<RankWait> {
    let programs: Vec<&dyn Program> = ranks.iter().map(|(_, rank)| &*rank.program).collect();
    let chain = wait_for_chain(&programs).into_iter();
    let wait = |(rank, wait): (u32, weir_coll::program::Wait)| RankWait {
        rank,
        host: ranks[rank as usize].0,
        operation: wait.operation,
        peer: wait.peer,
        tag: wait.tag,
    };
    chain.map(wait).collect()
}

/// The record of each job.
pub(crate) fn records(nodes: &[Node], shared: &Shared<'_>) -> Vec<JobRecord> {
    let record = |ranks: &Vec<(NodeId, &LocalRank)>| {
        let spans: Vec<(&[Span], bool)> =
            ranks.iter().map(|(_, rank)| (&rank.spans[..], rank.program.is_done())).collect();
        let ideal = ranks.first().and_then(|(_, rank)| ideal(&rank.spec, shared));
        JobRecord { waits: waits(ranks), ideal, ..JobRecord::new(&spans) }
    };
    jobs(nodes.iter()).iter().map(record).collect()
}

/// More messages than this are not followed to find out what a job takes alone.
const MOST_MESSAGES: u64 = 4_000_000;

/// How long one iteration of a job takes alone: without stragglers, jitter, acknowledgements, flow
/// control and congestion control.
fn ideal(job: &Job, shared: &Shared<'_>) -> Option<Time> {
    let work = match &job.work {
        // known without looking at a rank
        Work::Collective(plan) if plan.least_messages() > MOST_MESSAGES => return None,
        Work::Collective(plan) => {
            let once = Plan { iterations: 1, ..(**plan).clone() };
            Work::Collective(Arc::new(once))
        }
        Work::Training(training) => {
            let once = Training { steps: 1, ..(**training).clone() };
            Work::Training(Arc::new(once))
        }
        trace @ (Work::Schedule(..) | Work::Tasks(..)) => trace.clone(),
    };
    let alone = Job { work, stragglers: Vec::new(), ..job.clone() };
    let ranks = alone.ranks();
    let mut programs: Vec<Box<dyn Program>> = (0..ranks).map(|r| alone.program(r)).collect();
    // ports of hosts have the first numbers, ranks among their own kind those behind them
    let nodes = shared.topology.nodes().len();
    let mut first = vec![0; nodes + 1];
    for node in 0..nodes {
        first[node + 1] = first[node] + shared.topology.ports(NodeId::from_index(node)).len();
    }
    let rails = rails(job);
    // a packet arrives by the rail that it left by
    let port = |host: NodeId, rail: u32| {
        let of_host = first[host.index() + 1] - first[host.index()];
        (first[host.index()] + rail as usize % of_host.max(1)) as u32
    };
    let ports = first[nodes];
    let mut known: FxHashMap<(NodeId, NodeId, Bytes), Option<Cost>> = FxHashMap::default();
    let mut reachable = true;
    let time = ideal::time(&mut programs, ports + ranks as usize, MOST_MESSAGES, |rank, m| {
        let (from, to) = (job.hosts[rank as usize], job.hosts[m.peer as usize]);
        if from == to {
            let (leaves, own) = (job.nvlink.rate.time_for(m.bytes), ports as u32 + rank);
            let alone = leaves.saturating_add(job.nvlink.latency);
            let (enters, delay, to) = (Time::ZERO, Time::ZERO, ports as u32 + m.peer);
            return Cost { from: own, leaves, to, enters, alone, delay };
        }
        let cost = known.entry((from, to, m.bytes)).or_insert_with(|| {
            let cost = cost(shared, from, to, m.bytes)?;
            Some(Cost { delay: job.completion_delay, ..cost })
        });
        reachable &= cost.is_some();
        let rail = rails[rank as usize];
        let (from, to) = (port(from, rail), port(to, rail));
        let (leaves, enters, alone, delay) = (Time::ZERO, Time::ZERO, Time::ZERO, Time::ZERO);
        let free = Cost { from, leaves, to, enters, alone, delay };
        cost.map_or(free, |cost| Cost { from, to, ..cost })
    });
    time.filter(|_| reachable)
}

/// Which of the ranks of its host each rank is.
fn rails(job: &Job) -> Vec<u32> {
    let mut on: FxHashMap<NodeId, u32> = FxHashMap::default();
    let next = |host: &NodeId| {
        let count = on.entry(*host).or_default();
        *count += 1;
        *count - 1
    };
    job.hosts.iter().map(next).collect()
}

/// What a message between two hosts costs, but for the delay of its rank.
fn cost(shared: &Shared<'_>, from: NodeId, to: NodeId, bytes: Bytes) -> Option<Cost> {
    let routes = &shared.epochs[0].1;
    let path = routes.path(shared.topology, from, to, FlowId::new(from, 0).hash64())?;
    let config = shared.config;
    let (payload, header) = (config.nic.payload.get(), config.nic.header);
    let packets = bytes.get().div_ceil(payload).max(1);
    let last = bytes.get() - (packets - 1) * payload;
    let wire = |bytes: u64| Bytes::new(bytes) + header + config.link.overhead;
    let occupies = |&(node, port): &(NodeId, PortId)| {
        let rate = shared.topology.rate(node, port);
        rate.time_for(wire(payload)) * (packets - 1) + rate.time_for(wire(last))
    };
    Some(Cost {
        from: from.0,
        leaves: occupies(path.first()?),
        to: to.0,
        enters: occupies(path.last()?),
        alone: alone::path_time(shared, config, &path, bytes),
        delay: Time::ZERO,
    })
}

/// The fingerprints of the jobs whose first rank lives on a host.
pub(crate) fn fingerprints(nic: &Nic) -> impl Iterator<Item = u64> {
    let ranks = nic.agent.iter().flat_map(|agent| &agent.ranks);
    ranks.filter(|rank| rank.rank == 0).map(|rank| rank.spec.fingerprint())
}

/// The chains of waits of jobs that are not done, when nothing moves any more.
pub(crate) fn stuck<'a>(nodes: impl Iterator<Item = &'a Node>) -> Vec<Stuck> {
    let mut stuck = Vec::new();
    for ranks in jobs(nodes) {
        for wait in waits(&ranks) {
            let spec = &ranks[wait.rank as usize].1.spec;
            let tag = wait.tag.map_or(String::new(), |tag| format!(", tag {tag}"));
            let (rank, name, operation) = (wait.rank, &spec.name, &wait.operation);
            stuck.push(Stuck {
                node: wait.host,
                port: PortId(0),
                queue: QueueId(0),
                priority: spec.priority,
                bytes: Bytes::ZERO,
                since: None,
                waits_for: format!("rank {rank} of job `{name}` waits for {operation}{tag}"),
                lost: None,
            });
        }
    }
    stuck
}
