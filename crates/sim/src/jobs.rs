//! Jobs as a whole: their ranks are spread over hosts, their records are put together here.

use crate::nic::Nic;
use crate::nic::jobs::LocalRank;
use crate::node::Node;
use crate::outcome::{JobRecord, RankWait, Span, Stuck};
use weir_coll::program::{Program, wait_for_chain};
use weir_core::{Bytes, NodeId, PortId, QueueId};

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
pub(crate) fn records(nodes: &[Node]) -> Vec<JobRecord> {
    let record = |ranks: &Vec<(NodeId, &LocalRank)>| {
        let spans: Vec<(&[Span], bool)> =
            ranks.iter().map(|(_, rank)| (&rank.spans[..], rank.program.is_done())).collect();
        JobRecord { waits: waits(ranks), ..JobRecord::new(&spans) }
    };
    jobs(nodes.iter()).iter().map(record).collect()
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
            });
        }
    }
    stuck
}
