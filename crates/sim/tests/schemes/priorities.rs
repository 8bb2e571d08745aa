//! Every scheme with random weights, strict ranks and sets of lossless priorities, on small
//! networks with flows of many priorities.
//!
//! A run checks its own invariants (see `invariants`). On top of that everything must arrive: the
//! networks have no cyclic dependencies, no bit is lost and memory is without end, so there is no
//! reason for a stall or a loss.

use crate::common::random::{Case, case};
use crate::common::{set, try_run};
use crate::invariants::{MODES, Mode};
use proptest::prelude::*;
use weir_core::{Bytes, Priority, PrioritySet, Time};
use weir_fc::PrioritySchedule;
use weir_net::Topology;
use weir_sim::config::{IngressLimit, Stop};
use weir_sim::{Config, Finish};
use weir_traffic::FlowSpec;

/// How a port is shared and what is controlled.
#[derive(Clone, Debug)]
struct Classes {
    lossless: u8,
    weights: [u32; Priority::COUNT],
    quantum: u64,
    /// Where the draw of each flow's priority starts.
    priorities: u64,
    ack: u8,
    incast: bool,
}

prop_compose! {
    fn classes()(
        lossless in any::<u8>(),
        weights in prop::array::uniform8(prop_oneof![2 => Just(0u32), 3 => 1u32..5]),
        quantum in 100u64..4000,
        priorities in any::<u64>(),
        ack in 0u8..8,
        incast in any::<bool>(),
    ) -> Classes {
        Classes { lossless, weights, quantum, priorities, ack, incast }
    }
}

/// G-PFC needs a free PFC class for the high sub-class of each lossless priority: at most four can
/// be lossless, and their classes are five further on if the mode says so.
fn suits(scheme: &str, mode: Mode, lossless: u8) -> u8 {
    if scheme != "gpfc" {
        return lossless;
    }
    let mut kept = 0;
    for p in 0..8u32 {
        let high = if mode.contains(&("high-offset", "5")) { (p + 5) % 8 } else { 8 };
        let with: u8 = kept | lossless & 1 << p;
        let free = |q: u32| with & 1 << q == 0 || with & 1 << ((q + 5) % 8) == 0;
        if with.count_ones() <= 4 && (high == 8 || (0..8).all(free)) {
            kept = with;
        }
    }
    kept
}

fn settings(case: &mut Case, scheme: &str, mode: Mode, classes: &Classes) -> Config {
    case.xon_percent = case.xon_percent * 9 / 10 + 1;
    if scheme == "gfc" {
        // room for the largest gap between its thresholds, on the longest and fastest links drawn
        case.xoff += 400_000;
    }
    let mut cfg = case.config(scheme);
    mode.iter().for_each(|(name, value)| set(&mut cfg, name, value));
    // ACKs stay outside the lossless set
    let lossless = suits(scheme, mode, classes.lossless) & !(1 << classes.ack);
    cfg.switch.lossless = PrioritySet::from_bits(lossless);
    cfg.nic.ack_priority = Priority::ALL[usize::from(classes.ack)];
    cfg.switch.schedule =
        PrioritySchedule { weights: classes.weights, quantum: Bytes::new(classes.quantum) };
    cfg.switch.thresholds = case.thresholds(IngressLimit::Unlimited);
    cfg.stop = Stop::At(Time::from_ms(500));
    cfg
}

/// The flows of the case. Most of them have lossless priorities, and where `incast` says so most go
/// to one host, so that many meet at a port.
fn flows(case: &Case, classes: &Classes, cfg: &Config, topology: &Topology) -> Vec<FlowSpec> {
    let lossless: Vec<Priority> = cfg.switch.lossless.iter().collect();
    let mut flows = case.flows(topology);
    for (i, flow) in flows.iter_mut().enumerate() {
        let mut draw = weir_core::rng::mix(classes.priorities ^ i as u64);
        let mut below = |n: usize| {
            let drawn = draw % n as u64;
            draw /= n as u64;
            drawn as usize
        };
        flow.priority = match lossless.len() {
            n if n > 0 && below(4) > 0 => lossless[below(n)],
            _ => Priority::ALL[below(8)],
        };
        let to = topology.hosts()[0];
        if classes.incast && flow.src != to && below(4) > 0 {
            flow.dst = to;
        }
    }
    flows
}

fn delivers_everything(
    scheme: &str,
    mode: Mode,
    mut case: Case,
    classes: &Classes,
) -> Result<(), TestCaseError> {
    let cfg = settings(&mut case, scheme, mode, classes);
    let topology = case.topology();
    let flows = flows(&case, classes, &cfg, &topology);
    let out = try_run(&topology, &flows, &cfg);
    let out = out.map_err(|e| TestCaseError::fail(format!("{scheme} {mode:?}: {e}")))?;
    prop_assert_eq!(&out.finish, &Finish::Drained, "{} {:?}", scheme, mode);
    prop_assert_eq!(out.totals.completed, flows.len() as u64, "{} {:?}", scheme, mode);
    prop_assert_eq!(out.totals.dropped, 0, "{} {:?}: {:?}", scheme, mode, out.drops);
    prop_assert!(out.flows.iter().all(|f| f.delivered == f.size));
    Ok(())
}

/// Eight hosts send to a ninth in two lossless priorities: pauses of both are in the log, and in no
/// other.
#[test]
fn pauses_are_logged_with_their_priority() {
    let topology = crate::common::star(9, "1us");
    let flows: Vec<FlowSpec> = (1..9)
        .map(|h| FlowSpec {
            priority: Priority::ALL[if h % 2 == 0 { 3 } else { 5 }],
            ..crate::common::flow(h, 0, 400_000)
        })
        .collect();
    for (scheme, _) in MODES.iter().filter(|(name, _)| *name != "none") {
        let mut cfg = crate::common::config(scheme);
        cfg.switch.lossless = PrioritySet::from_bits(0b10_1000);
        let out = try_run(&topology, &flows, &cfg).expect("a valid run");
        let logged = out.pauses.iter().fold(0u8, |seen, e| seen | 1 << e.priority.get());
        // G-PFC's high sub-classes have the next free classes, 4 and 6
        let classes = if *scheme == "gpfc" { 0b111_1000 } else { 0b10_1000 };
        assert_eq!(logged & 0b10_1000, 0b10_1000, "{scheme}");
        assert_eq!(logged & !classes, 0, "{scheme}");
    }
}

fn cases() -> u32 {
    std::env::var("WEIR_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(64)
}

macro_rules! with_random_priorities {
    ($($name:ident: $scheme:literal;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]
            $(
                #[test]
                fn $name(case in case(), classes in classes(), drawn in any::<usize>()) {
                    let mode = crate::invariants::mode($scheme, drawn);
                    delivers_everything($scheme, mode, case, &classes)?;
                }
            )*
        }

        /// A scheme that is new in the catalogue must be here.
        #[test]
        fn all_schemes_meet_random_priorities() {
            let known: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, [$($scheme),*]);
        }
    };
}

with_random_priorities! {
    pfc_with_any_priorities: "pfc";
    capfc_with_any_priorities: "capfc";
    ppfc_with_any_priorities: "ppfc";
    gfc_with_any_priorities: "gfc";
    gpfc_with_any_priorities: "gpfc";
    ofc_with_any_priorities: "ofc";
    none_with_any_priorities: "none";
    bfc_with_any_priorities: "bfc";
    ideal_with_any_priorities: "ideal";
    flowsail_with_any_priorities: "flowsail";
    ffc_with_any_priorities: "ffc";
}
