//! The OFC paper's deadlock experiment (Fig. 9): 2 spines, 4 leaves, two failed links, and four
//! types of flows whose paths wait for each other in a circle.
//!
//! ```text
//!     S1 = spine0     S2 = spine1      without S1-L1 and S2-L3
//!     L1 = leaf0 ... L4 = leaf3
//!
//!     f1  L3 -> S1 -> L2 -> S2 -> L1   (bounces at L2)
//!     f2  L1 -> S2 -> L4 -> S1 -> L3   (bounces at L4)
//!     f3  L2 -> S2 -> L4
//!     f4  L4 -> S1 -> L2
//!
//!     circle: S1 -> L2 -> S2 -> L4 -> S1
//! ```

use super::{DATA, config, set};
use weir_core::{Bytes, NodeId, Rate, Time};
use weir_net::Topology;
use weir_net::build::{self, leaf_spine};
use weir_sim::Config;
use weir_sim::config::Stop;
use weir_traffic::pattern::{FlowType, Marking, Pair, Split, SplitRule};
use weir_traffic::{Fabric, Sizes, Traffic};

/// The switches on the way of each type; the leaves at both ends are the hosts'.
pub(crate) const TYPES: [&[&str]; 4] = [
    &["leaf2", "spine0", "leaf1", "spine1", "leaf0"],
    &["leaf0", "spine1", "leaf3", "spine0", "leaf2"],
    &["leaf1", "spine1", "leaf3"],
    &["leaf3", "spine0", "leaf1"],
];

/// The circle: the switches whose queues wait for each other.
pub(crate) const CIRCLE: [&str; 4] = ["spine0", "leaf1", "spine1", "leaf3"];

const HOSTS_PER_LEAF: u32 = 8;

/// 40 Gb/s and 20 ns throughout.
pub(crate) fn topology() -> Topology {
    let failed = [("spine0", "leaf0"), ("spine1", "leaf2")];
    let (rate, delay) = (Rate::from_gbps(40), Time::from_ns(20));
    build::leaf_spine::build(&leaf_spine::Params {
        spines: 2,
        leaves: 4,
        hosts_per_leaf: HOSTS_PER_LEAF,
        rate,
        spine_rate: rate,
        delay,
        spine_delay: delay,
        failed: failed.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec(),
    })
    .expect("builds")
}

/// The paper's thresholds (75 KB and 45 KB), and the paths of all pairs of hosts.
pub(crate) fn settings(topology: &Topology, scheme: &str, seed: u64) -> Config {
    let mut cfg = config(scheme);
    cfg.seed = seed;
    cfg.probes.pause_events = 0;
    for (t, way) in TYPES.iter().enumerate() {
        for pair in pairs(t) {
            let switches = way.iter().map(|name| topology.find(name).expect("a switch"));
            let path = [pair.src].into_iter().chain(switches).chain([pair.dst]);
            cfg.paths.push(path.collect());
        }
    }
    cfg
}

/// A scheme in a comparison: its name there, the scheme, its parameters.
pub(crate) type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

/// The schemes of the paper's figure; where there are two readings, both.
pub(crate) const ROWS: &[Row<'_>] = &[
    ("PFC", "pfc", &[]),
    ("CaPFC", "capfc", &[]),
    ("CaPFC (and)", "capfc", &[("trigger", "and")]),
    ("P-PFC (paper)", "ppfc", &[("mode", "paper")]),
    ("P-PFC (ofc)", "ppfc", &[("mode", "ofc")]),
    ("GFC (paper)", "gfc", &[("mode", "paper")]),
    ("GFC (ofc)", "gfc", &[("mode", "ofc")]),
    ("G-PFC", "gpfc", &[]),
    ("OFC by host pair", "ofc", &[("flow-key", "pair")]),
    ("OFC by 5-tuple", "ofc", &[("flow-key", "flow")]),
];

/// Settings of a row of the comparison. A run that has neither ended nor deadlocked after a second
/// is given up: at a rate that is never zero a circle may take very long.
pub(crate) fn settings_of(topology: &Topology, row: &Row<'_>, seed: u64) -> Config {
    let &(_, scheme, params) = row;
    let mut cfg = settings(topology, scheme, seed);
    cfg.stop = Stop::At(Time::from_ms(1000));
    params.iter().for_each(|(name, value)| set(&mut cfg, name, value));
    cfg
}

/// The pairs of hosts of type `t`: the j-th host of one leaf and the j-th of the other.
fn pairs(t: usize) -> Vec<Pair> {
    let leaf = |name: &str| name[4..].parse::<u32>().expect("leaf0 to leaf3");
    let way = TYPES[t];
    let (from, to) = (leaf(way[0]), leaf(way[way.len() - 1]));
    (0..HOSTS_PER_LEAF)
        .map(|j| Pair {
            src: NodeId(from * HOSTS_PER_LEAF + j),
            dst: NodeId(to * HOSTS_PER_LEAF + j),
            path: Some(t as u32 * HOSTS_PER_LEAF + j),
        })
        .collect()
}

/// `flows` flows of `size`, split over the four types at random, starting within 30 us. Without
/// `pinned` their way is left to routing.
pub(crate) fn traffic(topology: &Topology, flows: u64, size: Bytes, pinned: bool) -> Traffic {
    let fabric = Fabric::uniform(topology.hosts(), Rate::from_gbps(40)).expect("hosts");
    let mut plan = Traffic::new(fabric);
    let types = (0..TYPES.len()).map(|t| {
        let mut pairs = pairs(t);
        if !pinned {
            pairs.iter_mut().for_each(|p| p.path = None);
        }
        let class = plan.class(&format!("f{}", t + 1)).expect("a free class");
        FlowType { pairs, marking: Marking { class, priority: DATA, ..Marking::default() } }
    });
    let types = types.collect();
    plan.add(Split {
        types,
        flows,
        rule: SplitRule::Composition,
        sizes: Sizes::Fixed(size),
        start: Time::ZERO,
        window: Time::from_us(30),
    })
    .expect("valid");
    plan
}
