//! Random small networks, flows and settings.

use super::{config, flow, try_run};
use proptest::prelude::*;
use weir_core::{Bytes, Rate, Time};
use weir_net::Topology;
use weir_net::build::{self, dumbbell, leaf_spine, ofc_chain, star};
use weir_sim::config::{IngressLimit, ThresholdConfig, WindowConfig};
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::FlowSpec;

/// A small network.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Star,
    Dumbbell,
    Chain,
    LeafSpine,
}

fn build(shape: Shape, rate: Rate, delay: Time) -> Topology {
    match shape {
        Shape::Star => build::star::build(&star::Params { hosts: 6, rate, delay }),
        Shape::Dumbbell => build::dumbbell::build(&dumbbell::Params {
            left: 4,
            right: 4,
            trunks: 2,
            rate,
            delay,
            trunk_rate: rate,
            trunk_delay: delay,
        }),
        Shape::Chain => build::ofc_chain::build(&ofc_chain::Params {
            rate,
            delay,
            ..ofc_chain::Params::default()
        }),
        Shape::LeafSpine => build::leaf_spine::build(&leaf_spine::Params {
            leaves: 3,
            spines: 2,
            hosts_per_leaf: 2,
            ..leaf_spine::Params::default()
        }),
    }
    .expect("builds")
}

/// Everything that is drawn for one case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) shape: Shape,
    pub(crate) gbps: u64,
    pub(crate) delay_ns: u64,
    pub(crate) xoff: u64,
    pub(crate) xon_percent: u64,
    pub(crate) window: Option<u64>,
    pub(crate) seed: u64,
    /// (source, destination, size, start in ns), hosts modulo what there is
    pub(crate) flows: Vec<(u32, u32, u64, u64)>,
}

prop_compose! {
    pub(crate) fn case()(
        shape in prop_oneof![
            Just(Shape::Star), Just(Shape::Dumbbell), Just(Shape::Chain), Just(Shape::LeafSpine)
        ],
        gbps in prop::sample::select(vec![3u64, 10, 40, 100]),
        delay_ns in 1u64..2000,
        xoff in 3_000u64..80_000,
        xon_percent in 0u64..100,
        window in prop::option::of(1_500u64..100_000),
        seed in any::<u64>(),
        flows in prop::collection::vec(
            (any::<u32>(), any::<u32>(), 1u64..120_000, 0u64..20_000),
            1..24,
        ),
    ) -> Case {
        Case { shape, gbps, delay_ns, xoff, xon_percent, window, seed, flows }
    }
}

impl Case {
    /// Everything arrived, in packets of `payload` bytes, and what was lost was sent again.
    pub(crate) fn all_delivered(&self, out: &Outcome, payload: u64) -> Result<(), TestCaseError> {
        prop_assert_eq!(&out.finish, &Finish::Drained);
        prop_assert_eq!(out.totals.completed, self.flows.len() as u64);
        for f in &out.flows {
            prop_assert_eq!(f.delivered, f.size);
            prop_assert!(f.acked().is_some());
            prop_assert_eq!(f.packets, f.size.get().div_ceil(payload) + f.retransmitted());
            prop_assert!(f.retransmitted() >= f.lost(), "what is lost is sent again: {:?}", f);
        }
        Ok(())
    }

    pub(crate) fn topology(&self) -> Topology {
        build(self.shape, Rate::from_gbps(self.gbps), Time::from_ns(self.delay_ns))
    }

    pub(crate) fn flows(&self, topology: &Topology) -> Vec<FlowSpec> {
        let hosts = topology.hosts().len() as u32;
        let specs = self.flows.iter().map(|&(src, dst, size, start)| {
            let src = src % hosts;
            let dst = (src + 1 + dst % (hosts - 1)) % hosts;
            // the high sub-class means something to G-PFC only
            FlowSpec { start: Time::from_ns(start), high: size % 2 == 1, ..flow(src, dst, size) }
        });
        specs.collect()
    }

    pub(crate) fn config(&self, scheme: &str) -> Config {
        let mut cfg = config(scheme);
        cfg.seed = self.seed;
        cfg.switch.thresholds = self.thresholds(IngressLimit::Lossless);
        cfg.nic.window =
            self.window.map_or(WindowConfig::Unlimited, |w| WindowConfig::Bytes(Bytes::new(w)));
        cfg
    }

    pub(crate) fn thresholds(&self, limit: IngressLimit) -> ThresholdConfig {
        let xon = Bytes::new(self.xoff * self.xon_percent / 100);
        ThresholdConfig::Static { xoff: Bytes::new(self.xoff), xon, limit }
    }

    pub(crate) fn run(&self, cfg: &Config) -> Outcome {
        let topology = self.topology();
        let flows = self.flows(&topology);
        match try_run(&topology, &flows, cfg) {
            Ok(out) => out,
            Err(e) => panic!("{e}"),
        }
    }
}
