//! Random small networks under random settings: whatever happens, the books balance.

mod common;

use common::{config, flow, set, try_run};
use proptest::prelude::*;
use weir_core::{Bytes, Rate, Time};
use weir_net::Topology;
use weir_net::build::{self, dumbbell, leaf_spine, ofc_chain, star};
use weir_sim::config::{IngressLimit, ThresholdConfig, WindowConfig};
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::FlowSpec;

/// A small network.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Star,
    Dumbbell,
    Chain,
    LeafSpine,
}

fn topology(shape: Shape, gbps: u64, delay_ns: u64) -> Topology {
    let (rate, delay) = (Rate::from_gbps(gbps), Time::from_ns(delay_ns));
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
struct Case {
    shape: Shape,
    gbps: u64,
    delay_ns: u64,
    xoff: u64,
    xon_percent: u64,
    window: Option<u64>,
    seed: u64,
    /// (source, destination, size, start in ns), hosts modulo what there is
    flows: Vec<(u32, u32, u64, u64)>,
}

prop_compose! {
    fn case()(
        shape in prop_oneof![
            Just(Shape::Star), Just(Shape::Dumbbell), Just(Shape::Chain), Just(Shape::LeafSpine)
        ],
        gbps in prop::sample::select(vec![3u64, 10, 40, 100]),
        delay_ns in 1u64..2000,
        xoff in 3_000u64..80_000,
        xon_percent in 0u64..100,
        window in prop::option::of(1_500u64..100_000),
        seed in any::<u64>(),
        flows in prop::collection::vec((any::<u32>(), any::<u32>(), 1u64..120_000, 0u64..20_000), 1..24),
    ) -> Case {
        Case { shape, gbps, delay_ns, xoff, xon_percent, window, seed, flows }
    }
}

impl Case {
    fn flows(&self, topology: &Topology) -> Vec<FlowSpec> {
        let hosts = topology.hosts().len() as u32;
        let specs = self.flows.iter().map(|&(src, dst, size, start)| {
            let src = src % hosts;
            let dst = (src + 1 + dst % (hosts - 1)) % hosts;
            FlowSpec { start: Time::from_ns(start), ..flow(src, dst, size) }
        });
        specs.collect()
    }

    fn config(&self, scheme: &str) -> Config {
        let mut cfg = config(scheme);
        cfg.seed = self.seed;
        cfg.switch.thresholds = ThresholdConfig::Static {
            xoff: Bytes::new(self.xoff),
            xon: Bytes::new(self.xoff * self.xon_percent / 100),
            limit: IngressLimit::Lossless,
        };
        cfg.nic.window =
            self.window.map_or(WindowConfig::Unlimited, |w| WindowConfig::Bytes(Bytes::new(w)));
        cfg
    }

    fn run(&self, cfg: &Config) -> Outcome {
        let topology = topology(self.shape, self.gbps, self.delay_ns);
        let flows = self.flows(&topology);
        match try_run(&topology, &flows, cfg) {
            Ok(out) => out,
            Err(e) => panic!("{e}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// The run itself checks conservation, all books, per-flow order and the scheme's own
    /// invariants, and fails otherwise. On top: nothing is lost, everything arrives.
    #[test]
    fn pfc_delivers_everything_in_order_and_loses_nothing(case in case(), sticky in any::<bool>()) {
        let mut cfg = case.config("pfc");
        set(&mut cfg, "timer", if sticky { "sticky" } else { "timed" });
        let out = case.run(&cfg);
        prop_assert_eq!(&out.finish, &Finish::Drained);
        prop_assert_eq!(out.totals.dropped, 0);
        prop_assert_eq!(out.totals.completed, case.flows.len() as u64);
        for (f, ideal) in out.flows.iter().map(|f| (f, f.ideal.unwrap())) {
            prop_assert!(f.fct().unwrap() >= ideal, "{} beats its lone time {}", f.id, ideal);
            prop_assert_eq!(f.delivered, f.size);
            let lifetime = f.acked.unwrap() - f.start;
            prop_assert!(f.held.iter().all(|at| at.time <= lifetime), "{:?}", f);
        }
    }

    /// A buffer of a few packets drops; go-back-N with a timeout repairs it.
    #[test]
    fn without_flow_control_losses_are_counted_and_repaired(case in case(), buffer in 4_000u64..60_000) {
        let mut cfg = case.config("none");
        cfg.switch.thresholds = ThresholdConfig::Pool;
        cfg.switch.buffer = Bytes::new(buffer);
        cfg.nic.timeout = Some(Time::from_us(500));
        let out = case.run(&cfg);
        prop_assert_eq!(&out.finish, &Finish::Drained);
        prop_assert_eq!(out.totals.completed, case.flows.len() as u64);
        let lost: u64 = out.flows.iter().map(|f| f.lost).sum();
        prop_assert_eq!(lost, out.totals.dropped);
        prop_assert!(out.flows.iter().all(|f| f.delivered == f.size));
    }

    /// Bit errors hit PAUSE frames too: timed pauses must not outlive a lost RESUME.
    #[test]
    fn bit_errors_do_not_stop_a_timed_pfc_network(case in case()) {
        let mut cfg = case.config("pfc");
        cfg.link.bit_error_rate = 1e-6;
        cfg.nic.timeout = Some(Time::from_ms(2));
        cfg.switch.thresholds = ThresholdConfig::Static {
            xoff: Bytes::new(case.xoff),
            xon: Bytes::new(case.xoff / 2),
            limit: IngressLimit::Unlimited,
        };
        let out = case.run(&cfg);
        prop_assert_eq!(&out.finish, &Finish::Drained);
        prop_assert!(out.flows.iter().all(|f| f.delivered == f.size));
    }
}
