//! Jobs: ranks that wait for each other through packets.

mod common;

use common::{DATA, config, flow, plan, star};
use std::fmt::Write;
use std::sync::Arc;
use weir_coll::chakra;
use weir_coll::collective::{Algorithm, Operation, Plan};
use weir_coll::goal::text;
use weir_coll::graph::SendDone;
use weir_core::{Bytes, NodeId, Rate, Time};
use weir_net::Topology;
use weir_net::build::{self, k_ary};
use weir_sim::config::{EngineConfig, Reliability, Stop};
use weir_sim::outcome::Totals;
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::{FlowSpec, Job, Nvlink, Work};

/// Payload of a full packet.
const PAYLOAD: u64 = 1500;
/// Ranks that are told of a message a microsecond late.
const DELTA: Time = Time::from_us(1);

/// The time of a full packet on a wire of 100 Gb/s: 1538 B of line time.
fn tx() -> Time {
    Rate::from_gbps(100).time_for(Bytes::new(1538))
}

/// A message of so many full packets alone on a star: two wires and two cables of 1 us.
fn t(packets: u64) -> Time {
    tx() * (packets + 1) + Time::from_us(2)
}

/// A collective of `packets` full packets in each block.
fn blocks(operation: Operation, n: u32, packets: u64) -> Plan {
    Plan::new(operation, n, Bytes::new(u64::from(n) * packets * PAYLOAD))
}

fn job(plan: Plan, hosts: &[NodeId]) -> Job {
    let hosts = hosts[..plan.ranks as usize].to_vec();
    Job { priority: DATA, ..Job::new("job", hosts, Work::Collective(Arc::new(plan))) }
}

/// Runs jobs beside flows.
fn run_with(topology: &Topology, jobs: Vec<Job>, flows: &[FlowSpec], config: &Config) -> Outcome {
    let mut traffic = plan(topology, flows);
    for job in jobs {
        traffic.add_job(job).expect("a valid job");
    }
    weir_sim::run(topology, &traffic, config, &mut ()).expect("a valid run")
}

/// How long a collective alone on a star takes without flow control.
fn takes(plan: Plan) -> Time {
    let topology = star(plan.ranks.max(2), "1us");
    let job = job(plan, topology.hosts());
    let out = run_with(&topology, vec![job], &[], &config("none"));
    assert_eq!(out.finish, Finish::Drained);
    let iteration = out.jobs[0].iterations[0];
    assert_eq!(iteration.begin, Time::ZERO);
    let end = iteration.end.expect("it ends");
    let ideal = out.jobs[0].ideal.expect("few messages");
    assert!(ideal <= end, "{ideal} alone, {end} here");
    end
}

/// What a job is said to take alone is what it takes alone.
#[test]
fn the_ideal_time_is_met_on_a_star() {
    let all = [
        blocks(Operation::AllReduce, 7, 4),
        Plan { algorithm: Algorithm::Tree, ..Plan::new(Operation::AllReduce, 8, Bytes::new(6000)) },
        Plan { algorithm: Algorithm::Direct, ..blocks(Operation::AllToAll, 16, 1) },
        Plan::new(Operation::Broadcast, 11, Bytes::new(10_000)),
        Plan::new(Operation::Barrier, 9, Bytes::new(1)),
    ];
    let topology = star(16, "1us");
    for plan in all {
        let job = job(plan.clone(), topology.hosts());
        let out = run_with(&topology, vec![job], &[], &config("none"));
        assert_eq!(out.jobs[0].ideal, out.jobs[0].iterations[0].end, "{plan:?}");
    }
}

const RANKS: [u32; 5] = [2, 3, 7, 8, 16];

// In what follows messages are so short that a rank has sent all its packets before the first
// acknowledgement has to go out: 2 us of cable are 16 packets.

#[test]
fn a_ring_takes_its_steps_times_the_time_of_a_block() {
    for n in RANKS {
        for packets in [1, 4, 16] {
            let steps = u64::from(n) - 1;
            let step = t(packets) + DELTA;
            for (operation, expected) in [
                (Operation::AllReduce, step * (2 * steps)),
                (Operation::ReduceScatter, step * steps),
                (Operation::AllGather, step * steps),
            ] {
                let time = takes(blocks(operation, n, packets));
                assert_eq!(time, expected, "{operation:?} of {n} ranks, {packets} packets");
            }
        }
    }
}

/// 2046 steps of a packet each, 2 million messages.
#[test]
fn a_ring_of_1024_ranks_takes_2046_steps() {
    assert_eq!(takes(blocks(Operation::AllReduce, 1024, 1)), (t(1) + DELTA) * 2046);
}

/// Halves, quarters and so on of S, and back.
#[test]
fn halving_doubling_takes_the_sum_of_its_messages() {
    for k in 1..=4_u32 {
        let n = 1 << k;
        let halves = (1..=k).map(|i| t(u64::from(n >> i)) + DELTA);
        let expected = halves.sum::<Time>() * 2;
        let plan = blocks(Operation::AllReduce, n, 1);
        let plan = Plan { algorithm: Algorithm::HalvingDoubling, ..plan };
        assert_eq!(takes(plan), expected, "{n} ranks");
    }
}

#[test]
fn all_to_all_takes_a_block_per_partner_or_all_at_once() {
    for n in RANKS {
        let others = u64::from(n) - 1;
        let pairwise = blocks(Operation::AllToAll, n, 4);
        assert_eq!(takes(pairwise), (t(4) + DELTA) * others, "{n} ranks");
        let direct = Plan { algorithm: Algorithm::Direct, ..blocks(Operation::AllToAll, n, 1) };
        assert_eq!(takes(direct), t(others) + DELTA, "{n} ranks");
    }
}

#[test]
fn a_binomial_broadcast_takes_a_message_per_round() {
    for k in 1..=4_u32 {
        let plan = Plan::new(Operation::Broadcast, 1 << k, Bytes::new(8 * PAYLOAD));
        assert_eq!(takes(plan), (t(8) + DELTA) * u64::from(k));
    }
}

/// Three chunks of four packets: the first goes through all ranks, the others follow.
#[test]
fn a_chain_broadcast_takes_a_chunk_per_rank_and_the_rest_behind_it() {
    for n in RANKS {
        let plan = Plan {
            algorithm: Algorithm::Chain,
            chunk: Bytes::new(4 * PAYLOAD),
            pipeline: 3,
            ..Plan::new(Operation::Broadcast, n, Bytes::new(12 * PAYLOAD))
        };
        let expected = (t(4) + DELTA) * (u64::from(n) - 1) + tx() * (2 * 4);
        assert_eq!(takes(plan), expected, "{n} ranks");
    }
}

/// One byte of payload is a frame of 19 B: 39 B of line time.
#[test]
fn a_barrier_takes_a_short_packet_per_round() {
    let short = Rate::from_gbps(100).time_for(Bytes::new(39)) * 2 + Time::from_us(2);
    for (n, rounds) in [(2, 1), (3, 2), (7, 3), (8, 3), (16, 4)] {
        let plan = Plan::new(Operation::Barrier, n, Bytes::new(1));
        assert_eq!(takes(plan), (short + DELTA) * rounds, "{n} ranks");
    }
}

/// An inner rank receives from two children at once, and sends to both at once.
#[test]
fn a_tree_takes_twice_the_message_at_inner_ranks() {
    for k in 1..=4_u32 {
        let bytes = Bytes::new(4 * PAYLOAD);
        let plan = Plan::new(Operation::AllReduce, 1 << k, bytes);
        let plan = Plan { algorithm: Algorithm::Tree, ..plan };
        let expected = (t(4) + DELTA) * 2 + (t(8) + DELTA) * (2 * (u64::from(k) - 1));
        assert_eq!(takes(plan), expected, "{} ranks", 1 << k);
    }
}

/// k pieces of four packets, w on the wire each, go around together: as long as they do not fill
/// the round trip, only the first k - 1 of them count in addition.
#[test]
fn pieces_in_a_pipeline_go_around_together() {
    for (n, k) in [(3, 2), (7, 3), (16, 2)] {
        let plan = blocks(Operation::AllReduce, n, 4 * k);
        let plan = Plan { chunk: Bytes::new(4 * PAYLOAD), pipeline: k as u32, ..plan };
        let expected = (t(4) + DELTA) * (2 * (u64::from(n) - 1)) + tx() * (4 * (k - 1));
        assert_eq!(takes(plan.clone()), expected, "{n} ranks, {k} pieces");
        // without a pipeline they go around one after the other
        let alone = (t(4) + DELTA) * (2 * (u64::from(n) - 1)) * k;
        assert_eq!(takes(Plan { pipeline: 1, ..plan }), alone, "{n} ranks, {k} pieces");
    }
}

/// Where acknowledgements take no time on the wire, the closed forms hold for messages of any
/// length: a direct all-to-all and halving-doubling with large blocks, and ranks that know of a
/// message at once, so that acknowledgements meet the next message.
#[test]
fn forms_hold_for_any_size_where_acknowledgements_are_free() {
    let mut config = config("none");
    config.nic.ack = Bytes::ZERO;
    config.link.overhead = Bytes::ZERO;
    let tx = Rate::from_gbps(100).time_for(Bytes::new(1518));
    let t = |packets: u64| tx * (packets + 1) + Time::from_us(2);
    let takes = |plan: Plan, delay: Time| {
        let topology = star(plan.ranks, "1us");
        let job = Job { completion_delay: delay, ..job(plan, topology.hosts()) };
        let out = run_with(&topology, vec![job], &[], &config);
        let end = out.jobs[0].iterations[0].end.expect("it ends");
        assert_eq!(out.jobs[0].ideal, Some(end));
        end
    };
    for (n, delay) in [(2, Time::ZERO), (7, DELTA), (8, Time::ZERO), (16, DELTA)] {
        let others = u64::from(n) - 1;
        let blocks = |operation, packets| blocks(operation, n, packets);
        let direct = Plan { algorithm: Algorithm::Direct, ..blocks(Operation::AllToAll, 50) };
        assert_eq!(takes(direct, delay), t(50 * others) + delay, "{n} ranks");
        let ring = takes(blocks(Operation::AllReduce, 50), delay);
        assert_eq!(ring, (t(50) + delay) * (2 * others), "{n} ranks");
        if n.is_power_of_two() {
            let plan = blocks(Operation::AllReduce, 40);
            let plan = Plan { algorithm: Algorithm::HalvingDoubling, ..plan };
            let parts = (1..=n.ilog2()).map(|i| t(u64::from(n >> i) * 40) + delay);
            assert_eq!(takes(plan, delay), parts.sum::<Time>() * 2, "{n} ranks");
        }
    }
}

/// Where the pieces of a pipeline fill the round trip the ring goes at the speed of the wire, less
/// the acknowledgements: 84 B for each 1538 B. So the bus bandwidth tends to the payload rate.
#[test]
fn a_long_pipeline_reaches_the_payload_rate() {
    let (n, blocks_of) = (8, 400);
    let plan = blocks(Operation::AllReduce, n, blocks_of);
    let bytes = plan.bytes.get();
    let time = takes(Plan { chunk: Bytes::new(10 * PAYLOAD), pipeline: 40, ..plan });
    let factor = Operation::AllReduce.bus_factor(n).expect("it moves data");
    let bus = factor * bytes as f64 * 8.0 / time.as_secs_f64();
    let payload = 100e9 * 1500.0 / 1538.0;
    let with_acks = 100e9 * 1500.0 / (1538.0 + 84.0);
    assert!(bus < payload && bus > 0.98 * with_acks, "{bus} of {payload}");
}

/// Two servers and more of four ranks each. A rail's message is one packet, and the four rails of a
/// server share its NIC: each step of a rail is one packet time behind the rail before it.
#[test]
fn a_hierarchical_all_reduce_crosses_the_network_once_per_rail() {
    let g = 4;
    for servers in [2, 3, 8] {
        let n = g * servers;
        let plan = Plan {
            algorithm: Algorithm::Hierarchical,
            gpus: g,
            ..blocks(Operation::AllReduce, n, 1)
        };
        let bytes = plan.bytes;
        let topology = star(servers, "1us");
        let nvlink = Nvlink { rate: Rate::from_gbps(3600), latency: Time::from_ns(700) };
        let hosts = (0..n).map(|rank| topology.hosts()[(rank / g) as usize]).collect();
        let job = Job { nvlink, ..Job::new("job", hosts, Work::Collective(Arc::new(plan))) };
        let out = run_with(&topology, vec![job], &[], &config("none"));
        let part = nvlink.rate.time_for(Bytes::new(bytes.get() / u64::from(g)));
        let local = nvlink.latency + part * (u64::from(g) - 1);
        let rails = (t(1) + DELTA) * (2 * (u64::from(servers) - 1)) + tx() * (u64::from(g) - 1);
        assert_eq!(out.jobs[0].iterations[0].end, Some(local * 2 + rails), "{servers} servers");
    }
}

/// A ring all-reduce as a GOAL schedule.
fn ring_schedule(n: u32, block: u64) -> Work {
    let mut text = format!("num_ranks {n}\n");
    for r in 0..n {
        writeln!(text, "rank {r} {{").expect("to a string");
        for i in 0..2 * (n - 1) {
            let (next, before) = ((r + 1) % n, (r + n - 1) % n);
            writeln!(text, "s{i}: send {block}b to {next} tag {i}").expect("to a string");
            writeln!(text, "r{i}: recv {block}b from {before} tag {i}").expect("to a string");
            if i > 0 {
                writeln!(text, "s{i} requires r{}", i - 1).expect("to a string");
            }
        }
        text.push_str("}\n");
    }
    let schedule = text::parse(text.as_bytes()).expect("a schedule");
    Work::Schedule(Arc::new(schedule), SendDone::Sent)
}

/// A ring all-reduce as Chakra traces: sends and receives, or one node for the whole.
fn ring_trace(n: u32, block: u64, written_out: bool) -> Work {
    let options = chakra::Options {
        dependencies: chakra::Dependencies::Both,
        serial: true,
        algorithm: None,
        plan: Plan::new(Operation::AllReduce, 1, Bytes::new(1)),
        groups: chakra::groups::Groups::default(),
        most_memory: chakra::MOST_MEMORY,
    };
    let mut traces = chakra::Traces::new(n, options).expect("ranks");
    for r in 0..n {
        let mut nodes = Vec::new();
        for i in 0..2 * (n - 1) {
            let (next, before) = ((r + 1) % n, (r + n - 1) % n);
            let deps = if i > 0 { format!("{}, {}", 2 * i - 2, 2 * i - 1) } else { String::new() };
            for (id, kind, end) in [(0, 5, "dst"), (1, 6, "src")] {
                let (id, peer) = (2 * i + id, if kind == 5 { next } else { before });
                nodes.push(format!(
                    "{{\"Id\": {id}, \"NodeType\": {kind}, \"data_deps\": [{deps}], \
                     \"comm_{end}\": {peer}, \"comm_size\": {block}, \"comm_tag\": {i}}}"
                ));
            }
        }
        if !written_out {
            let size = u64::from(n) * block;
            nodes = vec![format!(
                "{{\"Id\": 1, \"NodeType\": 7, \"comm_type\": 0, \"comm_size\": {size}}}"
            )];
        }
        let text = format!("{{\"workload_graph\": [{}]}}", nodes.join(","));
        traces.read("a rank", text.as_bytes()).expect("a trace");
    }
    Work::Tasks(Arc::new(traces.finish().expect("traces")), SendDone::Sent)
}

#[test]
fn a_ring_written_as_a_trace_equals_the_built_in_ring() {
    let topology = build::k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap();
    let incast: Vec<FlowSpec> = (1..16).map(|src| flow(src, 0, 60_000)).collect();
    let plan = blocks(Operation::AllReduce, 16, 9);
    let built_in = job(plan, topology.hosts());
    let of = |job: Job| run_with(&topology, vec![job], &incast, &config("pfc"));
    let expected = of(built_in.clone());
    assert_eq!(expected.finish, Finish::Drained);
    for written_out in [true, false] {
        let work = ring_trace(16, 9 * PAYLOAD, written_out);
        let out = of(Job { work, ..built_in.clone() });
        let all = (expected.digest, &expected.flows, &expected.ports, &expected.jobs);
        assert_eq!((out.digest, &out.flows, &out.ports, &out.jobs), all, "{written_out}");
    }
}

/// Every packet at the same time: on a fat-tree with PFC and an incast beside it.
#[test]
fn a_ring_written_as_a_schedule_equals_the_built_in_ring() {
    let topology = build::k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap();
    let incast: Vec<FlowSpec> = (1..16).map(|src| flow(src, 0, 60_000)).collect();
    let plan = blocks(Operation::AllReduce, 16, 9);
    let built_in = job(plan, topology.hosts());
    let written = Job { work: ring_schedule(16, 9 * PAYLOAD), ..built_in.clone() };
    let of = |job: Job| run_with(&topology, vec![job], &incast, &config("pfc"));
    let (a, b) = (of(built_in), of(written));
    assert_eq!(a.finish, Finish::Drained);
    assert_eq!((a.digest, &a.flows, &a.ports, &a.jobs), (b.digest, &b.flows, &b.ports, &b.jobs));
}

/// Two jobs, an incast, jitter, stragglers, several queue pairs: all engines and numbers of threads
/// give the same bytes.
#[test]
fn every_engine_gives_the_same_bytes() {
    let topology = build::k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap();
    let hosts = topology.hosts();
    let incast: Vec<FlowSpec> = (1..16).map(|src| flow(src, 0, 60_000)).collect();
    let ring = Plan {
        channels: 2,
        pipeline: 2,
        chunk: Bytes::new(7000),
        iterations: 2,
        ..Plan::new(Operation::AllReduce, 12, Bytes::new(400_000))
    };
    let direct = Plan {
        algorithm: Algorithm::Direct,
        ..Plan::new(Operation::AllToAll, 16, Bytes::new(160_000))
    };
    let jobs = || {
        let first = Job {
            jitter: Time::from_us(5),
            stragglers: vec![(3, Time::from_us(20))],
            queue_pairs: 3,
            ..job(ring.clone(), hosts)
        };
        vec![first, Job { start: Time::from_us(30), ..job(direct.clone(), hosts) }]
    };
    for (scheme, reliability) in [
        ("pfc", Reliability::GoBackN),
        ("bfc", Reliability::SelectiveRepeat),
        ("none", Reliability::Tcp),
    ] {
        let mut reference: Option<Outcome> = None;
        for engine in [
            EngineConfig::Stepwise,
            EngineConfig::Sequential,
            EngineConfig::Auto { threads: 2 },
            EngineConfig::Window { threads: 1 },
            EngineConfig::Window { threads: 2 },
            EngineConfig::Window { threads: 4 },
        ] {
            let mut config = Config { engine, ..config(scheme) };
            config.nic.reliability = reliability;
            let out = run_with(&topology, jobs(), &incast, &config);
            assert_eq!(out.finish, Finish::Drained, "{scheme} {engine:?}");
            assert!(out.jobs.iter().flat_map(|j| &j.rank_ends).all(Option::is_some));
            match &reference {
                Some(first) => assert_eq!(&out, first, "{scheme} {engine:?}"),
                None => reference = Some(out),
            }
        }
    }
}

/// Packets are lost, and every message arrives once: by going back, by selective repeat and by TCP.
#[test]
fn a_job_survives_bit_errors() {
    let topology = star(5, "1us");
    for reliability in [Reliability::GoBackN, Reliability::SelectiveRepeat, Reliability::Tcp] {
        let mut config = config("none");
        config.link.bit_error_rate = 2e-7;
        config.nic.reliability = reliability;
        if reliability != Reliability::Tcp {
            config.nic.timeout = Some(Time::from_us(50));
        }
        let plan = Plan { iterations: 3, pipeline: 2, ..blocks(Operation::AllReduce, 5, 40) };
        let out = run_with(&topology, vec![job(plan, topology.hosts())], &[], &config);
        assert_eq!(out.finish, Finish::Drained, "{reliability:?}");
        assert!(out.totals.retransmitted > 0, "{reliability:?}");
        assert!(out.jobs[0].iterations.iter().all(|i| i.end.is_some()), "{reliability:?}");
    }
}

/// Rank 1 waits for a message that rank 2 sends with another tag, rank 0 waits for rank 1.
#[test]
fn a_job_that_cannot_end_names_who_waits_for_whom() {
    let text = "num_ranks 3\n\
                rank 0 {\nr: recv 8b from 1 tag 1\n}\n\
                rank 1 {\nr: recv 8b from 2 tag 7\ns: send 8b to 0 tag 1\ns requires r\n}\n\
                rank 2 {\ns: send 8b to 1 tag 8\n}\n";
    let schedule = Arc::new(text::parse(text.as_bytes()).expect("a schedule"));
    let topology = star(3, "1us");
    let work = Work::Schedule(schedule, SendDone::Acked);
    let job = Job::new("broken", topology.hosts().to_vec(), work);
    let out = run_with(&topology, vec![job], &[], &config("pfc"));
    let Finish::Stalled(stuck) = &out.finish else { panic!("{:?}", out.finish) };
    let words: Vec<&str> = stuck.iter().map(|s| s.waits_for.as_str()).collect();
    assert_eq!(
        words,
        ["rank 1 of job `broken` waits for operation 0 (`recv 8b from 2 tag 7`), tag 7"],
    );
    assert_eq!((out.jobs[0].waits[0].peer, out.jobs[0].waits[0].tag), (Some(2), Some(7)));
    assert_eq!(out.jobs[0].rank_ends.iter().filter(|end| end.is_some()).count(), 1);
}

/// A link that fails for good, without a timeout: the run ends with flow and ranks that wait.
#[test]
fn a_job_over_a_dead_link_names_the_chain() {
    let topology = star(4, "1us");
    let mut config = config("pfc");
    let link = topology.port(topology.hosts()[2], weir_core::PortId(0)).link;
    config.failures =
        vec![weir_sim::config::LinkFailure { link, down: Time::from_us(5), up: None }];
    let plan = blocks(Operation::AllReduce, 4, 8);
    let out = run_with(&topology, vec![job(plan, topology.hosts())], &[], &config);
    let Finish::Stalled(stuck) = &out.finish else { panic!("{:?}", out.finish) };
    assert!(
        stuck.iter().any(|s| s.waits_for.contains("rank 3 of job `job` waits for")),
        "{stuck:?}"
    );
    assert_eq!(out.jobs[0].iterations[0].end, None);
}

/// The same job under two schemes is the same traffic, although its messages are sent at other
/// times; another size is not.
#[test]
fn the_traffic_hash_of_a_job_does_not_depend_on_the_scheme() {
    let topology = star(8, "1us");
    let hash = |scheme: &str, packets| {
        let plan = Plan { algorithm: Algorithm::Direct, ..blocks(Operation::AllToAll, 8, packets) };
        let config = Config { stop: Stop::At(Time::from_ms(5)), ..config(scheme) };
        run_with(&topology, vec![job(plan, topology.hosts())], &[], &config).traffic_hash
    };
    assert_eq!(hash("pfc", 40), hash("ofc", 40));
    assert_ne!(hash("pfc", 40), hash("pfc", 41));
}

/// Rank 2 begins each iteration 50 us late: every iteration ends with it or because of it.
#[test]
fn a_straggler_holds_everybody() {
    let topology = star(4, "1us");
    let plan = Plan { iterations: 3, ..blocks(Operation::AllReduce, 4, 2) };
    let late = Job { stragglers: vec![(2, Time::from_us(50))], ..job(plan, topology.hosts()) };
    let out = run_with(&topology, vec![late], &[], &config("none"));
    for (i, iteration) in (1..).zip(&out.jobs[0].iterations) {
        assert!(iteration.end.expect("it ends") > Time::from_us(50) * i);
    }
}

/// Programs that do nothing at an acknowledgement are not told of it, and packets that end no
/// message are not looked up: without shortcuts they are, and nothing changes.
#[test]
fn results_of_jobs_do_not_depend_on_shortcuts() {
    let topology = star(6, "1us");
    for operation in [Operation::AllReduce, Operation::AllToAll] {
        for (scheme, hosts_of) in [("pfc", 1), ("ofc", 2)] {
            let plan = Plan { iterations: 2, ..blocks(operation, 6 * hosts_of, 3) };
            let hosts: Vec<NodeId> =
                topology.hosts().iter().flat_map(|h| vec![*h; hosts_of as usize]).collect();
            let mut config = config(scheme);
            config.probes.blame = true;
            let [with, without] = [true, false].map(|shortcuts| {
                config.shortcuts = shortcuts;
                run_with(&topology, vec![job(plan.clone(), &hosts)], &[], &config)
            });
            assert_eq!(with.finish, Finish::Drained);
            assert!(with.totals.events < without.totals.events, "reports are spared");
            let totals = Totals { events: with.totals.events, ..without.totals.clone() };
            let without = Outcome { totals, ..without };
            assert!(with == without, "{operation:?} on {hosts_of} ranks per host under {scheme}");
        }
    }
}
