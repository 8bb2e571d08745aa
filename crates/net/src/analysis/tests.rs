use super::*;
use crate::build::testing::id;
use crate::build::{
    dumbbell, explicit, fat_tree, flowsail_1024, k_ary, leaf_spine, ofc_256, ofc_chain, ring, star,
    torus,
};
use crate::{Layer, Routes, Topology, validate_path};
use weir_core::{Bytes, LinkId, NodeId, PortId, Priority, Rate, Time};

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

/// OFC's deadlock fabric; S1, S2 are spine0, spine1 and L1..L4 are leaf0..leaf3.
fn bounce() -> Topology {
    let failed = pairs(&[("spine0", "leaf0"), ("spine1", "leaf2")]);
    leaf_spine::build(&leaf_spine::Params { failed, ..Default::default() }).unwrap()
}

fn path(topo: &Topology, names: &[&str]) -> Vec<(NodeId, PortId)> {
    let nodes: Vec<NodeId> = names.iter().map(|name| id(topo, name)).collect();
    validate_path(topo, &nodes).unwrap()
}

/// The four flow types of OFC's deadlock experiment close exactly one circle.
#[test]
fn the_four_flows_of_the_bounce_fabric_wait_in_a_circle() {
    let topo = bounce();
    let flows: [&[&str]; 4] = [
        &["h16", "leaf2", "spine0", "leaf1", "spine1", "leaf0", "h0"],
        &["h0", "leaf0", "spine1", "leaf3", "spine0", "leaf2", "h16"],
        &["h8", "leaf1", "spine1", "leaf3", "h24"],
        &["h24", "leaf3", "spine0", "leaf1", "h8"],
    ];
    let mut graph = BufferGraph::new(&topo);
    for flow in flows {
        graph.add_path(&path(&topo, flow), Priority::default());
    }
    let cycles = graph.cycles();
    assert_eq!(cycles.len(), 1);
    let circle = ["leaf1", "spine1", "leaf3", "spine0"];
    let mut members = cycles[0].members.clone();
    let mut expected: Vec<Buffer> = circle
        .iter()
        .enumerate()
        .map(|(i, &at)| {
            let (switch, before) = (id(&topo, at), id(&topo, circle[(i + 3) % 4]));
            let port = topo.port_towards(switch, before).unwrap();
            Buffer { switch, port, priority: Priority::default() }
        })
        .collect();
    members.sort_unstable();
    expected.sort_unstable();
    assert_eq!(members, expected);
    assert_eq!(cycles[0].cycle.len(), 4);
    let text = cycles[0].describe(&topo);
    let around = "leaf1 -> spine1 -> leaf3 -> spine0 -> leaf1 -> spine1 -> leaf3 -> spine0";
    assert!(around.contains(&text[..text.rfind(" -> ").unwrap()]), "{text}");
    // any three of the four do not
    for left_out in 0..4 {
        let mut graph = BufferGraph::new(&topo);
        for (_, flow) in flows.iter().enumerate().filter(|(i, _)| *i != left_out) {
            graph.add_path(&path(&topo, flow), Priority::default());
        }
        assert!(graph.cycles().is_empty());
    }
}

#[test]
fn priorities_do_not_wait_for_each_other() {
    let topo = ring::build(&ring::Params::default()).unwrap();
    let ways: [&[&str]; 4] = [
        &["h0", "sw0", "sw1", "sw2", "h2"],
        &["h1", "sw1", "sw2", "sw3", "h3"],
        &["h2", "sw2", "sw3", "sw0", "h0"],
        &["h3", "sw3", "sw0", "sw1", "h1"],
    ];
    let cycles = |priority: &dyn Fn(usize) -> u8| {
        let mut graph = BufferGraph::new(&topo);
        for (i, way) in ways.iter().enumerate() {
            graph.add_path(&path(&topo, way), Priority::new(priority(i)).unwrap());
        }
        graph.cycles()
    };
    assert!(cycles(&|i| u8::from(i == 0)).is_empty());
    let found = cycles(&|_| 5);
    assert_eq!((found.len(), found[0].cycle.len()), (1, 4));
    assert!(found[0].members.iter().all(|b| b.priority.get() == 5));
}

/// Enumerating the paths of all pairs for many hashes finds the same circles as the table does.
#[test]
fn a_table_depends_on_buffers_as_its_paths_do() {
    for topo in
        [bounce(), ring::build(&ring::Params { switches: 6, ..Default::default() }).unwrap()]
    {
        let routes = Routes::ecmp(&topo, &[]);
        let mut table = BufferGraph::new(&topo);
        table.add_routes(&routes, Priority::default());
        let mut paths = BufferGraph::new(&topo);
        for &a in topo.hosts() {
            for &b in topo.hosts() {
                for hash in 0..32 {
                    let path = routes.path(&topo, a, b, hash).unwrap();
                    paths.add_path(&path, Priority::default());
                }
            }
        }
        let members = |graph: &BufferGraph<'_>| -> Vec<Vec<Buffer>> {
            graph.cycles().into_iter().map(|c| c.members).collect()
        };
        assert!(!members(&table).is_empty());
        assert_eq!(members(&table), members(&paths));
    }
}

#[test]
fn a_large_fat_tree_has_no_circle() {
    let topo = k_ary::build(&k_ary::Params { k: 32, ..Default::default() }).unwrap();
    let mut graph = BufferGraph::new(&topo);
    graph.add_routes(&Routes::ecmp(&topo, &[]), Priority::default());
    assert!(graph.cycles().is_empty());
}

/// Whatever links fail, in whatever network: routes that rise and then fall have no circle.
#[test]
fn what_rises_and_then_falls_has_no_circle() {
    let trees = [
        k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap(),
        ofc_256::build(&ofc_256::Params::default()).unwrap(),
    ];
    let others = [bounce(), ring::build(&ring::Params::default()).unwrap()];
    let has_circle = |topo: &Topology, routes: &Routes| {
        let mut graph = BufferGraph::new(topo);
        graph.add_routes(routes, Priority::default());
        !graph.cycles().is_empty()
    };
    for topo in &others {
        let routes = Routes::ecmp(topo, &[]);
        assert!(has_circle(topo, &routes) && !rises_then_falls(topo, &routes));
    }
    let mut bounced = 0;
    for topo in &trees {
        assert!(rises_then_falls(topo, &Routes::ecmp(topo, &[])));
        for seed in 0..50 {
            let links = topo.links().len() as u64;
            let pick = |i: u64| LinkId((weir_core::rng::mix(seed * 8 + i) % links) as u32);
            let down: Vec<LinkId> = (0..4).map(pick).collect();
            let routes = Routes::ecmp(topo, &down);
            let rises = rises_then_falls(topo, &routes);
            assert!(!(rises && has_circle(topo, &routes)), "seed {seed}");
            bounced += u32::from(!rises);
        }
    }
    assert!(bounced > 0, "some detour goes down and up again");
}

#[test]
fn nodes_and_links_are_counted_by_layer() {
    let census = Census::new(&ofc_256::build(&ofc_256::Params::default()).unwrap());
    assert_eq!((census.hosts, census.switches, census.links), (256, 80, 512));
    assert_eq!(census.layers, [(Layer::Tor, 32), (Layer::Agg, 32), (Layer::Core, 16)]);
    assert_eq!(census.most_ports, 12);
    let tiers: Vec<_> =
        census.tiers.iter().map(|t| (t.lower, t.upper, t.links, t.capacity)).collect();
    let rate = |links: u64| Rate::from_gbps(40 * links);
    assert_eq!(
        tiers,
        [
            (Layer::Host, Layer::Tor, 256, rate(256)),
            (Layer::Tor, Layer::Agg, 128, rate(128)),
            (Layer::Agg, Layer::Core, 128, rate(128)),
        ]
    );
}

#[test]
fn oversubscription_is_that_of_the_worst_switch() {
    let ratios = |topo: &Topology| -> Vec<(Layer, f64)> {
        oversubscription(topo).iter().map(|o| (o.layer, o.ratio())).collect()
    };
    let flowsail = flowsail_1024::build(&flowsail_1024::Params::default()).unwrap();
    // 16 servers over 8 uplinks; 8 ToRs over 8 cores
    assert_eq!(ratios(&flowsail), [(Layer::Tor, 2.0), (Layer::Agg, 1.0)]);
    // CaPFC's reading of 4:1: half the speed from ToR to agg, a quarter from agg to core
    let capfc = fat_tree::build(&fat_tree::Params {
        pods: 8,
        hosts_per_tor: 4,
        rate: Rate::from_gbps(1),
        tor_rate: Rate::from_bps(500_000_000),
        agg_rate: Rate::from_bps(250_000_000),
        ..Default::default()
    });
    assert_eq!(ratios(&capfc.unwrap()), [(Layer::Tor, 2.0), (Layer::Agg, 2.0)]);
    // leaf0 has lost one of two uplinks: 8 hosts over 1
    let bounce = bounce();
    let worst = &oversubscription(&bounce)[0];
    assert_eq!((worst.ratio(), worst.worst), (8.0, id(&bounce, "leaf0")));
    let alone = pairs(&[("leaf1", "spine0"), ("leaf1", "spine1")]);
    let alone = leaf_spine::build(&leaf_spine::Params { failed: alone, ..Default::default() });
    assert_eq!(ratios(&alone.unwrap()), [(Layer::Tor, f64::INFINITY)]);
    assert!(ratios(&ring::build(&ring::Params::default()).unwrap()).is_empty());
    assert!(ratios(&star::build(&star::Params::default()).unwrap()).is_empty());
}

#[test]
fn the_bisection_is_the_capacity_between_halves() {
    let gbps = |topo: &Topology| {
        let b = bisection(topo);
        (b.capacity.as_bps() / 1_000_000_000, b.demand.as_bps() / 1_000_000_000)
    };
    // half of the 1024 hosts at 100 Gb/s; 32 ToRs with 8 uplinks
    let flowsail = flowsail_1024::build(&flowsail_1024::Params::default()).unwrap();
    assert_eq!(gbps(&flowsail), (25_600, 51_200));
    assert_eq!(bisection(&flowsail).ratio(), 0.5);
    // full bisection: 64 of 128 hosts
    let full = k_ary::build(&k_ary::Params { k: 8, ..Default::default() }).unwrap();
    assert_eq!(gbps(&full), (6_400, 6_400));
    assert_eq!(gbps(&dumbbell::build(&dumbbell::Params::default()).unwrap()), (40, 32 * 40));
    // 4 of 9 hosts around a switch
    assert_eq!(gbps(&star::build(&star::Params::default()).unwrap()), (400, 400));
    // a ring is cut in two places, a 4 x 4 torus in 2 x 4; one host per switch
    let ring = ring::build(&ring::Params { switches: 8, ..Default::default() }).unwrap();
    assert_eq!(gbps(&ring), (80, 160));
    let two = torus::Params { hosts_per_switch: 2, ..Default::default() };
    assert_eq!(gbps(&torus::build(&two).unwrap()), (800, 1600));
}

/// Four racks of two hosts; 0-2 and 1-3 are joined by 100 Gb/s, 0-1 by 1 Gb/s. In order, {0, 1} and
/// {2, 3} exchange 200 Gb/s, but {0, 2} and {1, 3} only 1 Gb/s.
#[test]
fn the_worst_way_to_pair_racks_counts() {
    let graph = explicit::read(
        "host a0 b0 a1 b1 a2 b2 a3 b3\nswitch s0 group=0\nswitch s1 group=1\n\
         switch s2 group=2\nswitch s3 group=3\nrate 100Gbps\ndelay 1us\n\
         link a0 s0\nlink b0 s0\nlink a1 s1\nlink b1 s1\nlink a2 s2\nlink b2 s2\nlink a3 s3\n\
         link b3 s3\nlink s0 s2\nlink s1 s3\nlink s0 s1 1Gbps",
    );
    let topo = explicit::build(&graph.unwrap()).unwrap();
    assert_eq!(bisection(&topo).capacity, Rate::from_gbps(1));
    assert_eq!(bisection(&topo).demand, Rate::from_gbps(400));
}

/// FlowSail's fabric without acknowledgement bytes: 6 links of 1 us there and back and 6 times
/// 80 ns for 1000 B: 12.48 us, 156 000 B at 100 Gb/s.
#[test]
fn the_longest_round_trip_is_that_of_the_farthest_pods() {
    let topo = flowsail_1024::build(&flowsail_1024::Params::default()).unwrap();
    let model = RttModel { frame: Bytes::new(1000), ack: Bytes::ZERO, switch: Time::ZERO };
    let longest = LongestPath::new(&topo, &model).unwrap();
    assert_eq!((longest.diameter, longest.rtt), (6, Time::from_ns(12_480)));
    assert_eq!((longest.bottleneck, longest.bdp), (Rate::from_gbps(100), Bytes::new(156_000)));
    assert!(!longest.disconnected);
    // 64 B of acknowledgement take 5.12 ns on each link; 5 switches wait 100 ns twice
    let model = RttModel { ack: Bytes::new(64), switch: Time::from_ns(100), ..model };
    let longest = LongestPath::new(&topo, &model).unwrap();
    assert_eq!(longest.rtt, Time::from_ps(12_480_000 + 6 * 5_120 + 10 * 100_000));
}

#[test]
fn a_slow_short_way_may_take_longer_than_a_fast_long_one() {
    // a-s-b: 2 links, one of 50 us. c-t-u-v-d: 4 links of 1 us.
    let graph = explicit::read(
        "host a b c d\nswitch s t u v\nrate 10Gbps\ndelay 1us\n\
         link a s 1Gbps 50us\nlink b s\nlink c t\nlink t u\nlink u v\nlink d v",
    );
    let topo = explicit::build(&graph.unwrap()).unwrap();
    let model = RttModel { frame: Bytes::ZERO, ack: Bytes::ZERO, switch: Time::ZERO };
    let longest = LongestPath::new(&topo, &model).unwrap();
    assert_eq!((longest.diameter, longest.rtt), (4, Time::from_us(2 * 51)));
    assert_eq!(longest.bottleneck, Rate::from_gbps(1));
    assert!(longest.disconnected);
}

#[test]
fn of_equally_short_ways_the_slower_one_counts() {
    // two ways of the same length from s to t, over u and over v
    let graph = explicit::read(
        "host a b\nswitch s t u v\nrate 10Gbps\ndelay 1us\n\
         link a s\nlink b t\nlink s u\nlink u t\nlink s v\nlink v t 5Gbps 10us",
    );
    let topo = explicit::build(&graph.unwrap()).unwrap();
    let model = RttModel { frame: Bytes::ZERO, ack: Bytes::ZERO, switch: Time::ZERO };
    let longest = LongestPath::new(&topo, &model).unwrap();
    assert_eq!((longest.rtt, longest.bottleneck), (Time::from_us(26), Rate::from_gbps(5)));
}

#[test]
fn hosts_of_one_switch_are_a_pair_too() {
    let model = RttModel { frame: Bytes::ZERO, ack: Bytes::ZERO, switch: Time::from_ns(1) };
    let topo = star::build(&star::Params { hosts: 2, ..Default::default() }).unwrap();
    let longest = LongestPath::new(&topo, &model).unwrap();
    assert_eq!((longest.diameter, longest.rtt), (2, Time::from_ns(4002)));
    let one = star::build(&star::Params { hosts: 1, ..Default::default() }).unwrap();
    assert_eq!(LongestPath::new(&one, &model), None);
    let chain = ofc_chain::build(&ofc_chain::Params::default()).unwrap();
    assert_eq!(LongestPath::new(&chain, &model).unwrap().diameter, 4);
}
