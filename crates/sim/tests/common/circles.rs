//! Random networks whose flows wait for each other in a circle.
//!
//! A ring of switches with a few chords. Flows go round the ring in one direction, each over two
//! trunks or more, so that every trunk's buffer depends on the next one's; others take the
//! shortest way between any two hosts.

use super::{config, flow, run};
use weir_core::rng::Stream;
use weir_core::{Bytes, NodeId, Rate, Time};
use weir_net::{Layer, Topology, TopologyBuilder};
use weir_sim::config::{Hop, IngressLimit, Stop, ThresholdConfig, headroom};
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::FlowSpec;

/// One network with its traffic and thresholds.
pub(crate) struct Circle {
    pub(crate) topology: Topology,
    flows: Vec<FlowSpec>,
    paths: Vec<Vec<NodeId>>,
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) xoff: u64,
}

/// A number in `from..=to`.
fn draw(s: &mut Stream, from: u64, to: u64) -> u64 {
    from + s.below(to - from + 1)
}

impl Circle {
    /// The network of this number.
    pub(crate) fn new(number: u64) -> Self {
        let mut s = Stream::new(number, "circle", 0);
        let rate = Rate::from_gbps([10, 25, 40, 100][s.below(4) as usize]);
        let delay = Time::from_ns(draw(&mut s, 20, 1000));
        let mut b = TopologyBuilder::new();
        let n = draw(&mut s, 3, 8) as usize;
        let switches: Vec<NodeId> =
            (0..n).map(|i| b.add_switch(format!("s{i}"), Layer::Tor, i as u32)).collect();
        for i in 0..n {
            b.connect(switches[i], switches[(i + 1) % n], rate, delay);
        }
        for _ in 0..draw(&mut s, 0, 2).min(n as u64 - 3) {
            let (from, over) = (s.below(n as u64) as usize, draw(&mut s, 2, n as u64 - 2) as usize);
            b.connect(switches[from], switches[(from + over) % n], rate, delay);
        }
        let per_switch = draw(&mut s, 1, 4) as usize;
        let hosts: Vec<NodeId> = (0..n * per_switch)
            .map(|h| {
                let host = b.add_host(format!("h{h}"));
                b.connect(host, switches[h / per_switch], rate, delay);
                host
            })
            .collect();
        let in_flight = headroom(rate, delay, &Hop::new(Bytes::new(1518)), &config("pfc").link);
        let mut circle = Self {
            topology: b.finish().expect("builds"),
            flows: Vec::new(),
            paths: Vec::new(),
            rate,
            delay,
            xoff: in_flight.get() + draw(&mut s, 10_000, 100_000),
        };
        circle.add_flows(&mut s, &switches, &hosts);
        circle
    }

    fn add_flows(&mut self, s: &mut Stream, switches: &[NodeId], hosts: &[NodeId]) {
        let (n, per_switch) = (switches.len(), hosts.len() / switches.len());
        for (h, &src) in hosts.iter().enumerate() {
            let (from, hops) = (h / per_switch, draw(s, 2, n as u64 - 1) as usize);
            let dst = hosts[(from + hops) % n * per_switch + s.below(per_switch as u64) as usize];
            let way = (0..=hops).map(|i| switches[(from + i) % n]);
            self.paths.push([src].into_iter().chain(way).chain([dst]).collect());
            let path = Some((self.paths.len() - 1) as u32);
            let start = Time::from_ns(s.below(20_000));
            let size = draw(s, 200_000, 1_000_000);
            self.flows.push(FlowSpec { path, start, ..flow(src.0, dst.0, size) });
        }
        for _ in 0..s.below(hosts.len() as u64) {
            let (a, over) = (s.below(hosts.len() as u64), draw(s, 1, hosts.len() as u64 - 1));
            let b = (a + over) % hosts.len() as u64;
            let (src, dst) = (hosts[a as usize].0, hosts[b as usize].0);
            let start = Time::from_ns(s.below(50_000));
            self.flows.push(FlowSpec { start, ..flow(src, dst, draw(s, 1_000, 300_000)) });
        }
    }

    /// Settings with the scheme called `scheme`; a run ends after 20 ms.
    pub(crate) fn settings(&self, scheme: &str, limit: IngressLimit) -> Config {
        let mut cfg = config(scheme);
        cfg.paths.clone_from(&self.paths);
        cfg.stop = Stop::At(Time::from_ms(20));
        cfg.probes.pause_events = 0;
        let xoff = Bytes::new(self.xoff);
        cfg.switch.thresholds =
            ThresholdConfig::Static { xoff, xon: Bytes::new(self.xoff * 6 / 10), limit };
        cfg
    }

    pub(crate) fn run(&self, cfg: &Config) -> Outcome {
        run(&self.topology, &self.flows, cfg)
    }

    /// Whether PFC deadlocks on it.
    pub(crate) fn deadlocks_under_pfc(&self) -> bool {
        let out = self.run(&self.settings("pfc", IngressLimit::Lossless));
        matches!(out.finish, Finish::Deadlock(_))
    }
}
