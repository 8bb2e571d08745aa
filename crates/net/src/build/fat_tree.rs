//! Three layers in the general form.
//!
//! ```text
//!        core 0 1 .. | .. | ..            cores in planes: plane j belongs to agg j of every pod
//!          |      \
//!   pod 0: agg0 agg1 ...     pod 1 ...    every ToR of a pod to every agg of the pod
//!          tor0 tor1 ...
//!          hosts
//! ```
//!
//! Agg `j` of every pod is linked to all cores of plane `j`; a plane has `cores / aggs_per_pod`
//! cores, each with one port per pod. Oversubscription follows from counts and speeds.

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{NodeId, Rate, Time};

topology! {
    name: "fat-tree",
    doc: "Three layers (ToR, agg, core) with any counts, rates and delays, which determine the \
          oversubscription.",
    /// Number of pods.
    pods: u32 = "4",
    /// ToR switches in each pod.
    tors_per_pod: u32 = "4",
    /// Agg switches in each pod.
    aggs_per_pod: u32 = "4",
    /// Core switches; a multiple of the agg switches in a pod.
    cores: u32 = "16",
    /// Hosts on each ToR.
    hosts_per_tor: u32 = "8",
    /// Speed of the host links.
    rate: Rate = "100Gbps",
    /// Speed of the links from ToR to agg.
    tor_rate: Rate = "100Gbps",
    /// Speed of the links from agg to core.
    agg_rate: Rate = "100Gbps",
    /// Propagation delay of the host links.
    delay: Time = "1us",
    /// Propagation delay of the links from ToR to agg.
    tor_delay: Time = "1us",
    /// Propagation delay of the links from agg to core.
    agg_delay: Time = "1us",
    /// Links that have failed from the start, like `tor0-agg1, agg0-core3`.
    failed: Vec<(String, String)> = "",
}

impl Params {
    /// The defaults with one rate and one delay for all links.
    pub(crate) fn uniform(rate: Rate, delay: Time, failed: &[(String, String)]) -> Self {
        Self {
            rate,
            tor_rate: rate,
            agg_rate: rate,
            delay,
            tor_delay: delay,
            agg_delay: delay,
            failed: failed.to_vec(),
            ..Self::default()
        }
    }
}

/// Builds it. Hosts, ToRs and aggs are numbered pod after pod; ports lead down first, then up,
/// in the order of the names.
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    check(p)?;
    let mut b = TopologyBuilder::new();
    let [tors, aggs] = [p.pods * p.tors_per_pod, p.pods * p.aggs_per_pod];
    let hosts = b.add_hosts(tors * p.hosts_per_tor);
    let plane = p.cores / p.aggs_per_pod;
    let mut switches = |name: &str, count: u32, layer, group: &dyn Fn(u32) -> u32| {
        (0..count).map(|i| b.add_switch(format!("{name}{i}"), layer, group(i))).collect()
    };
    let tors: Vec<NodeId> = switches("tor", tors, Layer::Tor, &|i| i / p.tors_per_pod);
    let aggs: Vec<NodeId> = switches("agg", aggs, Layer::Agg, &|i| i / p.aggs_per_pod);
    let cores: Vec<NodeId> = switches("core", p.cores, Layer::Core, &|i| p.pods + i / plane);
    for (i, &host) in hosts.iter().enumerate() {
        b.connect(host, tors[i / p.hosts_per_tor as usize], p.rate, p.delay);
    }
    for pod in 0..p.pods as usize {
        let [t, a] = [p.tors_per_pod, p.aggs_per_pod].map(|n| n as usize);
        for &tor in &tors[pod * t..(pod + 1) * t] {
            for &agg in &aggs[pod * a..(pod + 1) * a] {
                b.connect(tor, agg, p.tor_rate, p.tor_delay);
            }
        }
    }
    for (i, &agg) in aggs.iter().enumerate() {
        let first = i % p.aggs_per_pod as usize * plane as usize;
        for &core in &cores[first..first + plane as usize] {
            b.connect(agg, core, p.agg_rate, p.agg_delay);
        }
    }
    b.finish()?.without_links(&p.failed)
}

fn check(p: &Params) -> Result<(), TopologyError> {
    check_count("pods", p.pods, 1..=65_535)?;
    check_count("tors-per-pod", p.tors_per_pod, 1..=30_000)?;
    check_count("aggs-per-pod", p.aggs_per_pod, 1..=30_000)?;
    check_count("hosts-per-tor", p.hosts_per_tor, 1..=30_000)?;
    let plane = p.cores / p.aggs_per_pod;
    if p.cores == 0 || !p.cores.is_multiple_of(p.aggs_per_pod) || plane > 30_000 {
        return Err(TopologyError::Parameter {
            name: "cores".to_owned(),
            value: p.cores.to_string(),
            valid: format!(
                "it must be a multiple of aggs-per-pod ({}), at most 30000 times that, because \
                 agg j of every pod is linked to an equal share of the cores",
                p.aggs_per_pod
            ),
        });
    }
    check_rate("rate", p.rate)?;
    check_rate("tor-rate", p.tor_rate)?;
    check_rate("agg-rate", p.agg_rate)?;
    let [pods, tors, aggs, per_tor, plane] =
        [p.pods, p.tors_per_pod, p.aggs_per_pod, p.hosts_per_tor, plane].map(u128::from);
    let hosts = pods * tors * per_tor;
    check_size(
        hosts + pods * (tors + aggs) + u128::from(p.cores),
        hosts + pods * aggs * (tors + plane),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, neighbours, with_degree};

    #[test]
    fn counts_degrees_and_wiring_follow_the_parameters() {
        let p = Params {
            pods: 3,
            tors_per_pod: 4,
            aggs_per_pod: 2,
            cores: 6,
            hosts_per_tor: 5,
            ..Params::default()
        };
        let topo = build(&p).unwrap();
        // 3 pods of 4 ToRs with 5 hosts; 3 * 4 * 2 links to aggs; 6 aggs with 3 cores each
        assert_eq!((topo.hosts().len(), topo.links().len()), (60, 60 + 24 + 18));
        assert_eq!(with_degree(&topo, "tor", 5 + 2), 12);
        assert_eq!(with_degree(&topo, "agg", 4 + 3), 6);
        assert_eq!(with_degree(&topo, "core", 3), 6);
        assert_eq!(neighbours(&topo, "tor5")[5..], ["agg2", "agg3"]);
        assert_eq!(
            neighbours(&topo, "agg3"),
            ["tor4", "tor5", "tor6", "tor7", "core3", "core4", "core5"]
        );
        assert_eq!(neighbours(&topo, "core1"), ["agg0", "agg2", "agg4"]);
        let routes = Routes::ecmp(&topo, &[]);
        let lengths = ["h1", "h5", "h20"].map(|dst| hops(&topo, &routes, "h0", dst));
        assert_eq!(lengths, [2, 4, 6].map(Some));
    }

    #[test]
    fn each_layer_has_its_speed_and_delay() {
        let rates = [25, 50, 400].map(Rate::from_gbps);
        let delays = [10, 20, 30].map(Time::from_ns);
        let topo = build(&Params {
            rate: rates[0],
            tor_rate: rates[1],
            agg_rate: rates[2],
            delay: delays[0],
            tor_delay: delays[1],
            agg_delay: delays[2],
            ..Params::default()
        })
        .unwrap();
        for link in topo.links() {
            let lower = topo.node(link.a.0).layer.min(topo.node(link.b.0).layer);
            let i = [Layer::Host, Layer::Tor, Layer::Agg].iter().position(|&l| l == lower).unwrap();
            assert_eq!((link.rate, link.delay), (rates[i], delays[i]));
        }
    }
}
