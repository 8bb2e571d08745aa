//! Random small networks under random settings: whatever happens, the books balance.

mod common;

use common::random::case;
use common::set;
use proptest::prelude::*;
use weir_core::{Bytes, Time};
use weir_sim::Finish;
use weir_sim::config::{IngressLimit, ThresholdConfig};

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
        for (f, ideal) in out.flows.iter().map(|f| (f, f.ideal().unwrap())) {
            prop_assert!(f.fct().unwrap() >= ideal, "{} beats its lone time {}", f.id, ideal);
            prop_assert_eq!(f.delivered, f.size);
            let lifetime = f.acked().unwrap() - f.start;
            prop_assert!(f.held().iter().all(|at| at.time <= lifetime), "{:?}", f);
        }
    }

    /// A buffer of a few packets drops; go-back-N with a timeout repairs it.
    #[test]
    fn without_flow_control_losses_are_counted_and_repaired(
        case in case(),
        buffer in 4_000u64..60_000,
    ) {
        let mut cfg = case.config("none");
        cfg.switch.thresholds = ThresholdConfig::Pool;
        cfg.switch.buffer = Bytes::new(buffer);
        cfg.nic.timeout = Some(Time::from_us(500));
        let out = case.run(&cfg);
        prop_assert_eq!(&out.finish, &Finish::Drained);
        prop_assert_eq!(out.totals.completed, case.flows.len() as u64);
        let lost: u64 = out.flows.iter().map(|f| f.lost()).sum();
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
