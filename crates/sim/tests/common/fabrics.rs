//! Fabrics by number, and flows between random hosts of them.

use super::flow;
use weir_core::{Rate, Time};
use weir_net::Topology;
use weir_net::build::{self, k_ary, leaf_spine, ring, star, torus};
use weir_traffic::FlowSpec;

/// `n` flows between hosts chosen by a fixed rule, starting one every `gap_ns`.
pub(crate) fn mesh(
    topology: &Topology,
    n: u32,
    size: u64,
    gap_ns: u64,
    seed: u64,
) -> Vec<FlowSpec> {
    let hosts = topology.hosts().len() as u32;
    let mut stream = weir_core::rng::Stream::new(seed, "test", 0);
    let specs = (0..n).map(|i| {
        let src = stream.below(u64::from(hosts)) as u32;
        let dst = (src + 1 + stream.below(u64::from(hosts) - 1) as u32) % hosts;
        let size = stream.between(1, size);
        FlowSpec { start: Time::from_ns(u64::from(i) * gap_ns), ..flow(src, dst, size) }
    });
    specs.collect()
}

/// Fabric number `fabric` of six: fat-tree, leaf-spine, star, two rings, torus.
pub(crate) fn network(fabric: u32, rate: Rate, delay: Time) -> Topology {
    let built = match fabric {
        0 => build::k_ary::build(&k_ary::Params { rate, delay, ..Default::default() }),
        1 => build::leaf_spine::build(&leaf_spine::Params { rate, delay, ..Default::default() }),
        2 => build::star::build(&star::Params { hosts: 20, rate, delay }),
        3 | 4 => {
            // even: two colours; odd: none
            let switches = 2 + fabric;
            build::ring::build(&ring::Params { switches, rate, delay, ..Default::default() })
        }
        _ => build::torus::build(&torus::Params { x: 3, y: 4, rate, delay, ..Default::default() }),
    };
    built.expect("the parameters are valid")
}
