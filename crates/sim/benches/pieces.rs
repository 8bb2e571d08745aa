//! The pieces a packet-hop is made of, one by one, and a whole small run.
//!
//! `cargo bench -p weir-sim`. What a change does to the whole is what `weir bench` and
//! `.ci/instructions` tell; these tell where.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use weir_core::{Bytes, FlowId, PortId, Priority, PrioritySet, QueueId, Rate, Ratio, Time};
use weir_fc::harness::Bench;
use weir_fc::{Mmu, MmuConfig, Thresholds, Values};
use weir_net::build::{self, k_ary};
use weir_net::{Routes, Topology};
use weir_sim::Config;
use weir_traffic::pattern::{Marking, Poisson};
use weir_traffic::{Fabric, Intensity, LoadRef, Sizes, Traffic};

fn fat_tree(k: u32) -> Topology {
    let params = k_ary::Params { k, delay: Time::from_us(1), ..Default::default() };
    build::k_ary::build(&params).expect("an even k")
}

/// The next hop at an edge switch of a k=16 fat-tree, destinations in turn.
fn routing(c: &mut Criterion) {
    let topology = fat_tree(16);
    let routes = Routes::ecmp(&topology, &[]);
    let edge = topology.switches().next().expect("there are switches");
    let (forwarding, hosts) = (routes.forwarding(edge), topology.hosts());
    let mut i = 0;
    c.bench_function("next hop", |b| {
        b.iter(|| {
            i = (i + 1) % hosts.len();
            let flow = FlowId::new(hosts[i], 0);
            forwarding.next_hop(black_box(hosts[i]), || flow.hash64())
        });
    });
}

/// A packet goes into the buffer's books and out again.
fn buffer(c: &mut Criterion) {
    let config = |thresholds| MmuConfig {
        buffer: Bytes::from_kb(16_000),
        thresholds,
        lossless: PrioritySet::from_bits(1 << 3),
        exempt: PrioritySet::from_bits(1 << 7),
    };
    let fixed = Thresholds::uniform(Bytes::from_kb(75), Bytes::from_kb(45), Bytes::MAX, 16);
    let dynamic = Thresholds::Dynamic {
        reserve: Bytes::from_kb(4),
        resume_offset: Bytes::from_kb(3),
        headroom: vec![Bytes::from_kb(50); 16],
        shift: vec![3; 16],
    };
    for (name, thresholds) in [("static", fixed), ("dynamic", dynamic)] {
        let mut mmu = Mmu::new(config(thresholds), 16);
        let (port, priority) = (PortId(5), Priority::ALL[3]);
        c.bench_function(&format!("admit and release, {name} thresholds"), |b| {
            b.iter(|| {
                let admitted = mmu.admit(black_box(port), priority, 1048);
                mmu.release(port, priority, 1048);
                admitted
            });
        });
    }
}

/// A packet arrives at a scheme and leaves, nothing else in the switch.
fn schemes(c: &mut Criterion) {
    for info in weir_fc::SCHEMES.iter() {
        let mut bench = Bench::switch(info, &Values::new(), 16);
        let mut k = 0;
        c.bench_function(&format!("a packet through {}", info.name), |b| {
            b.iter(|| {
                k = (k + 1) % 64;
                let packet = bench.packet(PortId(1), 1048).flow(k, 0, 200);
                let queue: QueueId = bench.arrive(packet, PortId(2));
                bench.depart(PortId(2), queue)
            });
        });
    }
}

/// 20 us of Web Search traffic on 16 hosts, PFC, set-up included.
fn whole_run(c: &mut Criterion) {
    let topology = fat_tree(4);
    let traffic = traffic(&topology);
    let info = weir_fc::scheme("pfc").expect("a scheme of the catalogue");
    let config = Config::new(info);
    let run = || weir_sim::run(&topology, &traffic, &config, &mut ()).expect("a valid run");
    let mut group = c.benchmark_group("16 hosts");
    group.throughput(Throughput::Elements(run().totals.packet_hops));
    group.sample_size(20);
    group.bench_function("packet-hops", |b| b.iter(run));
    group.finish();
}

fn traffic(topology: &Topology) -> Traffic {
    let fabric = Fabric::uniform(topology.hosts(), Rate::from_gbps(100)).expect("hosts");
    let mut plan = Traffic::new(fabric);
    let class = plan.class("websearch/10").expect("the first class");
    let sizes = Sizes::Table {
        table: weir_traffic::size::builtin_table("websearch").expect("a built-in table"),
        scale: Ratio::new(1, 10).expect("not a division by zero"),
    };
    let load = Intensity::Load { load: 0.6, reference: LoadRef::Host };
    let marking = Marking { class, priority: Priority::ALL[3], ..Default::default() };
    plan.add(Poisson { marking, ..Poisson::new(sizes, load) }).expect("a valid pattern");
    plan.set_until(Time::from_us(20));
    plan
}

criterion_group!(pieces, routing, buffer, schemes, whole_run);
criterion_main!(pieces);
