//! Jobs beside the flows of a case: every algorithm meets every option.
//!
//! The property: all ranks end, or the chain of who waits for whom is named; and another engine
//! gives the same bytes.

use crate::common::plan;
use crate::draw::{Case, one_in, one_of};
use crate::{losses, outages};
use std::sync::Arc;
use weir_coll::collective::{Operation, Plan};
use weir_coll::goal::{Kind, Op, Rank, Schedule};
use weir_coll::graph::SendDone;
use weir_coll::training::{Model, PRESETS, Training, Zero};
use weir_core::rng::Stream;
use weir_core::{Bytes, NodeId, Priority, Time};
use weir_sim::config::EngineConfig;
use weir_sim::outcome::{LinkKind, Totals};
use weir_sim::{Config, Finish, Outcome, SimError};
use weir_traffic::{Job, Work};

/// All ranks have ended, and the network is empty.
pub(crate) const ENDED: &str = "all ranks ended";
/// A schedule with a receive that nobody meets.
const BROKEN: &str = "a receive that nobody meets, by name";

/// A case with a job or two; links fail in every third, and in another one control frames are lost,
/// late or effective twice.
pub(crate) fn case(number: u64) -> (Case, Vec<Job>) {
    let case = match number % 3 {
        0 => outages::case(number),
        1 => losses::any(number),
        _ => Case::new(number),
    };
    let mut s = Stream::new(number, "jobs", 0);
    let jobs = (0..s.between(1, 2)).map(|i| job(&mut s, &case, i)).collect();
    (case, jobs)
}

fn job(s: &mut Stream, case: &Case, index: u64) -> Job {
    let hosts = case.topology.hosts();
    let gpus = if one_in(s, 4) { 2 } else { 1 };
    let most = hosts.len() as u64 * gpus;
    let ranks = if one_in(s, 3) { most } else { s.between(1, most) };
    let mut placed: Vec<NodeId> = (0..ranks).map(|r| hosts[(r / gpus) as usize]).collect();
    let work = if one_in(s, 8) {
        Work::Schedule(Arc::new(schedule(s, ranks)), one_of(s, &[SendDone::Sent, SendDone::Acked]))
    } else if one_in(s, 4) {
        Work::Training(Arc::new(training(s, ranks as u32, gpus as u32)))
    } else {
        Work::Collective(Arc::new(collective(s, ranks as u32, gpus as u32)))
    };
    if let Work::Training(training) = &work {
        placed.truncate(training.ranks() as usize);
    }
    let ranks = placed.len() as u64;
    let jitter = Time::from_ns(one_of(s, &[0, 0, 3000]));
    let stragglers = match one_in(s, 4) {
        true => vec![(s.below(ranks) as u32, Time::from_us(s.between(1, 50)))],
        false => Vec::new(),
    };
    Job {
        priority: Priority::ALL[one_of(s, &[3, 3, 3, 0, 4])],
        start: Time::from_us(s.between(0, 20)),
        jitter,
        stragglers,
        completion_delay: Time::from_ns(one_of(s, &[0, 1, 200, 1000])),
        queue_pairs: one_of(s, &[1, 1, 2, 5]),
        ..Job::new(format!("job{index}"), placed, work)
    }
}

fn collective(s: &mut Stream, ranks: u32, gpus: u32) -> Plan {
    loop {
        let operation = one_of(s, &Operation::ALL);
        let plan = Plan {
            algorithm: one_of(s, operation.algorithms()),
            chunk: Bytes::new(s.between(500, 30_000)),
            channels: s.between(1, 3) as u32,
            pipeline: s.between(1, 4) as u32,
            iterations: s.between(1, 3) as u32,
            root: s.below(u64::from(ranks)) as u32,
            gpus,
            ..Plan::new(operation, ranks, Bytes::new(s.between(1, 60_000)))
        };
        if plan.check().is_ok() {
            return plan;
        }
    }
}

/// A model that is divided among at most so many ranks.
fn training(s: &mut Stream, ranks: u32, gpus: u32) -> Training {
    let llama = PRESETS[0].model;
    let experts = one_of(s, &[1, 4]);
    let small = Model { layers: 4, hidden: 64, ffn: 64, heads: 4, kv_heads: 2, vocab: 9, ..llama };
    loop {
        let mut axis = |most: u64| 1 << s.below(most);
        let (tp, pp, dp, ep) = (axis(3), axis(3), axis(3), axis(3));
        let micro_batch = s.between(1, 2);
        let training = Training {
            tp,
            pp,
            dp,
            ep,
            micro_batch,
            global_batch: micro_batch * u64::from(dp) * s.between(1, 4),
            zero: one_of(s, &[Zero::Off, Zero::Optimizer, Zero::All]),
            sequence_parallel: one_in(s, 3),
            steps: s.between(1, 2) as u32,
            chunk: Bytes::new(s.between(500, 30_000)),
            channels: s.between(1, 2) as u32,
            pipeline: s.between(1, 2) as u32,
            speed: 1_000_000_000_000,
            gpus,
            ..Training::new(Model { seq: s.between(1, 40), experts, top_k: 1, ..small })
        };
        if training.ranks() <= u64::from(ranks) && training.check().is_ok() {
            return training;
        }
    }
}

/// The links of critical paths go from the beginning to the end of their iterations without gaps,
/// and what messages waited for adds up to the links to the picosecond.
fn paths(out: &Outcome) -> Result<(), String> {
    let Some(log) = &out.blame else { return Ok(()) };
    let jobs = out.jobs.iter().enumerate();
    let ended = jobs.flat_map(|(j, job)| {
        let ended = job.iterations.iter().enumerate().filter(|(_, it)| it.end.is_some());
        ended.map(move |(i, it)| (j, i, it.begin, it.end))
    });
    let found = log.paths.iter();
    let found = found.map(|p| (p.job as usize, p.iteration as usize, p.span.0, Some(p.span.1)));
    if !ended.eq(found) {
        return Err("an iteration that ended has no critical path".into());
    }
    for path in &log.paths {
        let mut at = path.span.0;
        for link in &path.links {
            if link.from != at || link.from >= link.to {
                return Err(format!("a gap in a critical path: {link:?} after {at}"));
            }
            at = link.to;
            let LinkKind::Message { blame, answered, .. } = &link.what else { continue };
            let waited = blame.iter().flat_map(|b| &b.waited).map(|w| w.time);
            let sum: Time = waited.chain([*answered]).sum();
            if blame.is_none() || sum != link.to - link.from {
                return Err(format!("{sum} of a link are explained: {link:?}"));
            }
        }
        if at != path.span.1 {
            return Err(format!("a critical path ends at {at}: {:?}", path.span));
        }
    }
    Ok(())
}

/// Every rank sends to a few others, which receive it. One in four has a receive that nobody
/// meets.
fn schedule(s: &mut Stream, ranks: u64) -> Schedule {
    let mut ops = vec![Vec::new(); ranks as usize];
    for tag in 0..s.between(1, 20) {
        let (from, to, size) = (s.below(ranks), s.below(ranks), s.between(1, 20_000));
        let op = |kind, peer| Op { kind, size, peer, tag, cpu: 0, nic: 0 };
        ops[from as usize].push(op(Kind::Send, to));
        ops[to as usize].push(op(Kind::Recv, from));
    }
    if one_in(s, 4) {
        let lost = Op { kind: Kind::Recv, size: 1, peer: 0, tag: 999, cpu: 0, nic: 0 };
        ops[0].push(lost);
    }
    Schedule { ranks: ops.into_iter().map(|ops| Rank::new(ops, &[])).collect() }
}

fn run(case: &Case, jobs: &[Job], config: &Config) -> Result<Outcome, SimError> {
    let mut traffic = plan(&case.topology, &case.flows);
    for job in jobs {
        traffic.add_job(job.clone()).expect("a valid job");
    }
    weir_sim::run(&case.topology, &traffic, config, &mut ())
}

/// Whether packets were lost or came too early, or processors may stop for each other.
fn harmed(case: &Case, out: &Outcome) -> bool {
    let totals = &out.totals;
    let lost = totals.dropped + totals.control_dropped + totals.reordered > 0;
    let late = totals.control_delayed + totals.control_duplicated > 0;
    lost || late || case.circular || case.config.switch.pipeline.is_some()
}

/// How a case ended, or what is wrong with it.
pub(crate) fn judge(number: u64) -> Result<&'static str, String> {
    let (case, jobs) = case(number);
    let out = match run(&case, &jobs, &case.config) {
        Ok(out) => out,
        Err(SimError::Scheme { .. }) => return Ok("refused by the scheme: settings do not fit"),
        Err(error) => return Err(format!("{}\n    {error}", case.what)),
    };
    if number.is_multiple_of(4) {
        let engine = EngineConfig::Window { threads: 2 };
        let other = run(&case, &jobs, &Config { engine, ..case.config.clone() });
        if other.ok().as_ref() != Some(&out) {
            return Err(format!("{}\n    two threads give something else", case.what));
        }
    }
    if number % 4 == 1 {
        let plain = Config { shortcuts: false, ..case.config.clone() };
        let other = run(&case, &jobs, &plain).map(|other| {
            // what is spared is not counted
            let totals = Totals { events: out.totals.events, ..other.totals.clone() };
            Outcome { totals, ..other }
        });
        if other.ok().as_ref() != Some(&out) {
            return Err(format!("{}\n    without shortcuts it is something else", case.what));
        }
    }
    paths(&out).map_err(|why| format!("{}\n    {why}", case.what))?;
    let fault =
        |what: &str| Err(format!("{}\n    {what}: {:?}, {:?}", case.what, out.finish, out.jobs));
    for (job, record) in jobs.iter().zip(&out.jobs) {
        let done = record.rank_ends.iter().all(Option::is_some);
        let all = record.iterations.len() == job.iterations() as usize;
        let ended = all && record.iterations.iter().all(|i| i.end.is_some());
        if done != ended || done != record.waits.is_empty() {
            return fault("ranks, iterations and waits do not agree");
        }
    }
    let done = out.jobs.iter().all(|job| job.waits.is_empty());
    match &out.finish {
        Finish::Drained if done => Ok(ENDED),
        Finish::Drained => fault("drained, and ranks wait"),
        Finish::Stalled(stuck) if !done => {
            let named = stuck.iter().any(|s| s.waits_for.contains("of job `job"));
            let broken = stuck.iter().any(|s| s.waits_for.contains("tag 999"));
            match (named, broken) {
                (false, _) => fault("stalled without a chain"),
                (true, true) => Ok(BROKEN),
                (true, false) => Ok("stalled: flows and ranks by name"),
            }
        }
        Finish::Stalled(_) => Ok("stalled: flows beside the job, by name"),
        Finish::Deadlock(_) => Ok("deadlock"),
        Finish::TimeLimit if done => Ok("time limit: flows beside the job"),
        // timers go on for ever, or rates hardly recover, but only after a loss
        Finish::TimeLimit if harmed(&case, &out) => Ok("time limit: with the chain of ranks"),
        Finish::TimeLimit => fault("time limit, and nothing was lost"),
        Finish::Interrupted => fault("interrupted"),
    }
}
