//! How many threads a run is worth.

use crate::config::{Config, EngineConfig};
use crate::shared::{lookahead, packets_per_window};
use weir_core::{Bytes, NodeId, PortId, Time};
use weir_net::Topology;
use weir_traffic::Traffic;

/// A thread has enough to do in a window for its meeting with the others at the end to be worth
/// while when it handles about so many packets.
const ENOUGH: u64 = 500;

/// So many links a packet and its acknowledgement cross together in a fat-tree of three tiers.
const LINKS: u64 = 12;

/// More flows than this are not drawn in advance.
const MOST_FLOWS: usize = 200_000;

/// How many threads to divide the network among.
pub(crate) fn threads(topology: &Topology, traffic: &Traffic, config: &Config) -> usize {
    match config.engine {
        EngineConfig::Auto { threads } if threads > 1 => {
            let useful = |packets: u64| usize::try_from(packets / ENOUGH).unwrap_or(usize::MAX);
            let most = threads.min(useful(packets_per_window(topology, config)));
            let offered = || useful(offered_per_window(topology, traffic, config));
            if most > 1 { most.min(offered()).max(1) } else { 1 }
        }
        EngineConfig::Window { threads } => threads.max(1),
        EngineConfig::Auto { .. } | EngineConfig::Sequential | EngineConfig::Stepwise => 1,
    }
}

/// How many packets the traffic can bring in one lookahead on average: its packets, in the least
/// time that it takes. An incast is as long as its receiver needs, whatever the network could
/// carry. Without a limit where the traffic does not end, or has too many flows to look at them.
fn offered_per_window(topology: &Topology, traffic: &Traffic, config: &Config) -> u64 {
    // what jobs send and when is decided by the run
    if traffic.endless() || !traffic.jobs().is_empty() {
        return u64::MAX;
    }
    let mut of_host = vec![[Bytes::ZERO; 2]; topology.nodes().len()];
    let (mut packets, mut first, mut last) = (0u64, Time::NEVER, Time::ZERO);
    for (i, flow) in traffic.sources(config.seed).into_iter().flatten().enumerate() {
        if i >= MOST_FLOWS || flow.size == Bytes::MAX {
            return u64::MAX;
        }
        let of_flow = flow.size.get().div_ceil(config.nic.payload.get().max(1));
        packets = packets.saturating_add(of_flow.saturating_mul(LINKS));
        (first, last) = (first.min(flow.start), last.max(flow.start));
        for (host, way) in [(flow.src, 0), (flow.dst, 1)] {
            let bytes = &mut of_host[host.index()][way];
            *bytes = bytes.saturating_add(flow.size);
        }
    }
    let takes = |host: &NodeId| {
        let ports = topology.ports(*host).len() as u64;
        let rates = (0..ports as u16).map(|p| topology.rate(*host, PortId(p)));
        let [sent, received] = of_host[host.index()];
        let fastest = rates.map(|rate| rate.time_for(sent.max(received))).min();
        fastest.unwrap_or(Time::ZERO) / ports.max(1)
    };
    let longest = topology.hosts().iter().map(takes).max().unwrap_or(Time::ZERO);
    let least = longest.max(last.saturating_sub(first));
    let windows = least.as_ps() / lookahead(topology, config).as_ps().max(1);
    packets / windows.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_net::build::{self, k_ary};
    use weir_traffic::pattern::List;
    use weir_traffic::{Fabric, FlowSpec};

    /// How many of eight threads are used on a fat-tree of 128 hosts.
    fn used(flows: impl Fn(&[NodeId]) -> Vec<FlowSpec>) -> usize {
        let params = k_ary::Params { k: 8, ..Default::default() };
        let topology = build::k_ary::build(&params).unwrap();
        let hosts = topology.hosts();
        let rate = topology.rate(hosts[0], PortId(0));
        let mut traffic = Traffic::new(Fabric::uniform(hosts, rate).unwrap());
        traffic.class("test").unwrap();
        traffic.add(List { flows: flows(hosts) }).unwrap();
        let engine = EngineConfig::Auto { threads: 8 };
        let config = Config { engine, ..Config::new(weir_fc::scheme("pfc").unwrap()) };
        threads(&topology, &traffic, &config)
    }

    /// What one host receives keeps one thread busy, how many ever send it.
    #[test]
    fn an_incast_is_worth_one_thread_and_a_permutation_several() {
        let size = Bytes::from_kb(100);
        assert_eq!(used(|h| (1..128).map(|i| FlowSpec::new(h[i], h[0], size)).collect()), 1);
        let next = |h: &[NodeId], i: usize| FlowSpec::new(h[i], h[(i + 64) % 128], size);
        assert!(used(|h| (0..128).map(|i| next(h, i)).collect()) > 1);
    }

    /// The same flows, one after the other, are less work at a time.
    #[test]
    fn flows_far_apart_are_worth_one_thread() {
        let apart = |h: &[NodeId], i: usize| FlowSpec {
            start: Time::from_us(10) * i as u64,
            ..FlowSpec::new(h[i], h[(i + 64) % 128], Bytes::from_kb(100))
        };
        assert_eq!(used(|h| (0..128).map(|i| apart(h, i)).collect()), 1);
    }

    /// Sizes are the user's: nothing they add up to may end the program.
    #[test]
    fn huge_flows_do_not_overflow() {
        let size = Bytes::new(u64::MAX - 1);
        assert!(used(|h| (1..4).map(|i| FlowSpec::new(h[i], h[0], size)).collect()) >= 1);
    }

    #[test]
    fn a_flow_without_an_end_does_not_count_as_little_work() {
        assert!(used(|h| vec![FlowSpec::new(h[0], h[1], Bytes::MAX)]) > 1);
    }
}
