//! Steps of training, and servers with a port per GPU.

mod common;

use common::{DATA, config, plan, star};
use std::ops::ControlFlow;
use std::sync::Arc;
use weir_coll::collective::{Algorithm, Operation, Plan};
use weir_coll::training::{Model, Preset, Training, Zero};
use weir_core::{Bytes, Rate, Time};
use weir_net::Topology;
use weir_net::build::rail;
use weir_sim::config::EngineConfig;
use weir_sim::outcome::{JobRecord, LinkKind, Wait};
use weir_sim::{Config, Finish, Observer, Outcome, Progress};
use weir_traffic::{Job, Nvlink, Work};

/// Ranks that are told of a message a microsecond late.
const DELTA: Time = Time::from_us(1);

/// The time of a full packet on a wire of 100 Gb/s: 1538 B of line time.
fn tx() -> Time {
    Rate::from_gbps(100).time_for(Bytes::new(1538))
}

fn run(topology: &Topology, jobs: Vec<Job>, config: &Config) -> Outcome {
    let mut traffic = plan(topology, &[]);
    for job in jobs {
        traffic.add_job(Job { priority: DATA, ..job }).expect("a valid job");
    }
    weir_sim::run(topology, &traffic, config, &mut ()).expect("a valid run")
}

/// One pod of servers with two rails.
fn rails(servers: u32, pods: u32) -> Topology {
    let rate = Rate::from_gbps(100);
    let params = rail::Params {
        pods,
        servers_per_pod: servers,
        rails: 2,
        rate,
        spine_rate: rate,
        ..rail::Params::default()
    };
    rail::build(&params).expect("a network")
}

/// Activations of a micro-batch are one packet of 1500 B, but for the tensor axis.
fn small() -> Model {
    let llama = Preset::named("llama3-70b").expect("a preset").model;
    Model { layers: 4, hidden: 750, ffn: 1024, heads: 2, kv_heads: 2, vocab: 10, seq: 1, ..llama }
}

fn job(training: Training, topology: &Topology) -> Job {
    let gpus = training.gpus;
    let ranks = training.ranks() as u32;
    let hosts = (0..ranks).map(|rank| topology.hosts()[(rank / gpus) as usize]).collect();
    Job::new("job", hosts, Work::Training(Arc::new(training)))
}

/// p (t_f + t_b) + 2 (p - 1) c: a message is a packet over two wires and two cables of 1 us, and
/// its rank is told a microsecond later.
#[test]
fn one_micro_batch_crosses_each_boundary_twice() {
    for pp in [1, 2, 4] {
        let training = Training { pp, ..Training::new(small()) };
        let (forward, backward) = training.passes(0).expect("a time");
        let topology = star(4, "1us");
        let out = run(&topology, vec![job(training, &topology)], &config("none"));
        assert_eq!(out.finish, Finish::Drained);
        let message = tx() * 2 + Time::from_us(2) + DELTA;
        let p = u64::from(pp);
        let expected = (forward + backward) * p + message * (2 * (p - 1));
        assert_eq!(out.jobs[0].iterations[0].end, Some(expected), "{pp} stages");
        assert_eq!(out.jobs[0].ideal, Some(expected));
    }
}

/// Two rails of a server leave by two ports, so neither waits for the other one.
#[test]
fn each_gpu_of_a_server_has_a_port_of_its_own() {
    let (g, servers) = (2, 4);
    let n = g * servers;
    let bytes = Bytes::new(u64::from(n) * 1500);
    let plan = Plan {
        algorithm: Algorithm::Hierarchical,
        gpus: g,
        ..Plan::new(Operation::AllReduce, n, bytes)
    };
    let topology = rails(servers, 1);
    let nvlink = Nvlink { rate: Rate::from_gbps(3600), latency: Time::from_ns(700) };
    let hosts = (0..n).map(|rank| topology.hosts()[(rank / g) as usize]).collect();
    let job = Job { nvlink, ..Job::new("job", hosts, Work::Collective(Arc::new(plan))) };
    let out = run(&topology, vec![job], &config("none"));
    let local = nvlink.latency + nvlink.rate.time_for(Bytes::new(bytes.get() / u64::from(g)));
    let message = tx() * 2 + Time::from_us(2) + DELTA;
    let expected = local * 2 + message * (2 * (u64::from(servers) - 1));
    assert_eq!(out.jobs[0].iterations[0].end, Some(expected));
    assert_eq!(out.jobs[0].ideal, Some(expected));
}

/// All axes at once, with experts, over two pods; any number of threads gives the same.
#[test]
fn every_axis_at_once_ends_the_same_on_any_engine() {
    let model = Model { experts: 4, top_k: 2, ..small() };
    let base = Training {
        tp: 2,
        pp: 2,
        dp: 2,
        ep: 2,
        global_batch: 6,
        steps: 2,
        gpus: 2,
        ..Training::new(model)
    };
    let topology = rails(2, 2);
    for zero in [Zero::Off, Zero::Optimizer, Zero::All] {
        let training = Training { zero, sequence_parallel: zero == Zero::All, ..base.clone() };
        let engines = [EngineConfig::Sequential].into_iter();
        let windows = [1, 2, 4].map(|threads| EngineConfig::Window { threads });
        let outcomes: Vec<Outcome> = engines
            .chain(windows)
            .map(|engine| {
                let config = Config { engine, ..config("pfc") };
                run(&topology, vec![job(training.clone(), &topology)], &config)
            })
            .collect();
        for out in &outcomes {
            assert_eq!(out.finish, Finish::Drained, "{zero:?}");
            assert_eq!(out.jobs[0].iterations.len(), 2);
            assert!(out.jobs[0].iterations.iter().all(|it| it.end.is_some()));
            assert_eq!(out.digest, outcomes[0].digest);
        }
        let alone = out_of(&outcomes[0]);
        assert!(alone.0 >= alone.1, "no step is faster than alone: {alone:?}");
    }
}

/// Two stages, one micro-batch: forward, message, forward, backward, message, backward; each
/// message is told a microsecond later. The parts are known to the picosecond.
#[test]
fn the_critical_path_of_two_stages_is_the_chain_of_their_passes() {
    let training = Training { pp: 2, ..Training::new(small()) };
    let (forward, backward) = training.passes(0).expect("a time");
    let topology = star(2, "1us");
    let mut config = config("pfc");
    config.probes.blame = true;
    let out = run(&topology, vec![job(training, &topology)], &config);
    let [path] = &out.blame.as_ref().expect("it was asked for").paths[..] else { panic!("a path") };
    let sum = |is: fn(&LinkKind) -> bool| -> Time {
        let links = path.links.iter().filter(|l| is(&l.what));
        links.map(|l| l.to - l.from).sum()
    };
    assert_eq!(sum(|w| matches!(w, LinkKind::Compute)), (forward + backward) * 2);
    assert_eq!(sum(|w| matches!(w, LinkKind::Told)), DELTA * 2);
    let messages: Vec<_> = path
        .links
        .iter()
        .filter_map(|l| match &l.what {
            LinkKind::Message { blame, .. } => blame.as_deref().map(|b| (l.rank, l.peer, b)),
            _ => None,
        })
        .collect();
    let [(0, Some(1), there), (1, Some(0), back)] = messages[..] else { panic!("{messages:?}") };
    for blame in [there, back] {
        assert_eq!(blame.total(Wait::Wire), tx() * 2 + Time::from_us(2));
        assert_eq!(blame.end - blame.start, tx() * 2 + Time::from_us(2));
    }
    let (first, last) = (path.links.first().expect("links"), path.links.last().expect("links"));
    assert_eq!((first.from, first.rank, last.rank), (Time::ZERO, 0, 0));
    assert_eq!(Some(last.to), out.jobs[0].iterations[0].end);
    assert_eq!(out.jobs[0].iterations[0].computed, forward + backward);
}

/// The first step, and what it takes alone.
fn out_of(out: &Outcome) -> (Time, Time) {
    let first = out.jobs[0].iterations[0];
    let time = first.end.expect("it ends") - first.begin;
    (time, out.jobs[0].ideal.expect("few messages"))
}

/// Asks at every grid point which steps have ended.
#[derive(Default)]
struct Asking {
    seen: Vec<Vec<JobRecord>>,
    last: Vec<Progress>,
}

impl Observer for Asking {
    fn progress(&mut self, look: &dyn Fn() -> Progress) -> ControlFlow<()> {
        self.last.push(look());
        ControlFlow::Continue(())
    }

    fn wants_steps(&mut self) -> bool {
        true
    }

    fn steps_so_far(&mut self, jobs: Vec<JobRecord>) {
        self.seen.push(jobs);
    }
}

/// What is seen of steps while a run goes on is the beginning of what there is at its end, and
/// to look changes nothing.
#[test]
fn steps_that_have_ended_are_seen_while_the_run_goes_on() {
    let training = Training { pp: 2, dp: 2, steps: 4, global_batch: 4, ..Training::new(small()) };
    let topology = star(4, "1us");
    let mut traffic = plan(&topology, &[]);
    let job = Job { priority: DATA, ..job(training.clone(), &topology) };
    traffic.add_job(job.clone()).expect("a valid job");
    let mut asking = Asking::default();
    let out = weir_sim::run(&topology, &traffic, &config("pfc"), &mut asking).expect("a run");
    let all = &out.jobs[0].iterations;
    assert_eq!(all.len(), 4);
    let seen: Vec<usize> = asking.seen.iter().map(|jobs| jobs[0].iterations.len()).collect();
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]), "{seen:?}");
    assert!(seen.iter().any(|n| (1..4).contains(n)), "some in between: {seen:?}");
    for (jobs, progress) in asking.seen.iter().zip(&asking.last) {
        let some = &jobs[0].iterations;
        assert_eq!(some[..], all[..some.len()]);
        assert_eq!(progress.steps, (some.len() as u64, 4));
        let last = some.last().map(|it| it.end.expect("it has ended") - it.begin);
        assert_eq!(progress.last_step.map(|step| step.time), last);
        let number = progress.last_step.map(|step| step.iteration as usize + 1);
        assert_eq!(number.unwrap_or(0), some.len());
    }
    assert_eq!(run(&topology, vec![job], &config("pfc")).digest, out.digest);
}
