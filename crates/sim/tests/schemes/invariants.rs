//! Every scheme, in every mode, on random small networks under random settings.
//!
//! A run checks by itself, and fails otherwise: packets are conserved, all counters equal what is
//! stored, flows stay in order, and the scheme's own invariants hold (in an empty network nothing
//! is paused and tables are empty). The networks have no cyclic dependencies, so a run that does
//! not drain is a fault. On top of that: a scheme that promises losslessness loses nothing with
//! the buffer its documentation asks for, and whatever is lost otherwise is counted and repaired.

use crate::common::random::{Case, Shape, case};
use crate::common::set;
use proptest::prelude::*;
use weir_core::{Bytes, LinkId, Rate, Time};
use weir_sim::config::{
    Hop, IngressLimit, LinkConfig, LinkFailure, Stop, WatchdogAction, WatchdogConfig, headroom,
};
use weir_sim::outcome::DropReason;
use weir_sim::{Config, Finish, Outcome};

/// Parameters of a scheme and their values.
pub(crate) type Mode = &'static [(&'static str, &'static str)];

/// The modes of each scheme.
pub(crate) const MODES: &[(&str, &[Mode])] = &[
    ("pfc", &[&[("timer", "timed")], &[("timer", "sticky")], &[("pause-quanta", "100")]]),
    (
        "capfc",
        &[
            &[],
            &[("policy", "stop-calibrate")],
            &[("policy", "stop-calibrate"), ("cut", "30%"), ("timer", "sticky")],
            &[("ingress-test", "strict")],
            &[("trigger", "and")],
            &[("egress-xoff", "6KB"), ("egress-xon", "3KB"), ("egress-warn", "3KB")],
        ],
    ),
    ("ppfc", &[&[], &[("timer", "sticky")], &[("mode", "paper")], &[("ingress-floor", "1500B")]]),
    (
        "gfc",
        &[
            &[],
            &[("down-hysteresis", "1500B")],
            &[("feedback", "time")],
            &[("feedback", "conceptual")],
            &[("mode", "ofc")],
        ],
    ),
    ("gpfc", &[&[], &[("timer", "sticky")], &[("high-offset", "5")]]),
    (
        "ofc",
        &[
            &[],
            &[("flow-key", "pair")],
            // `urgent-wildcard = false` promises nothing: it stops only flows it has seen, and
            // those it has not can overrun the headroom. Random networks do find that.
            &[("alpha", "92%"), ("scope", "port")],
        ],
    ),
    ("none", &[&[]]),
    (
        "bfc",
        &[
            &[],
            &[("queues", "1")],
            &[("queues", "2"), ("frames", "periodic")],
            &[("queues", "8"), ("frames", "both"), ("bits", "256")],
            &[("assignment", "static"), ("queues", "4")],
            &[("assignment", "static"), ("pausing", "false")],
            &[("first-packet", "true"), ("resume", "paced")],
            &[("table", "hashed"), ("buckets", "3"), ("queues", "4")],
            &[("backstop", "pfc"), ("queues", "4")],
        ],
    ),
    ("ideal", &[&[], &[("resume", "marks")], &[("backstop", "pfc")]]),
    (
        "flowsail",
        &[
            &[],
            &[("queues", "2")],
            &[("queues", "3"), ("q-low", "1/2"), ("q-high", "1")],
            &[("queues", "2"), ("hold-original", "false")],
            &[("table", "hashed")],
            &[("table", "hashed"), ("buckets", "3"), ("queues", "2")],
            &[("backstop", "pfc"), ("queues", "3")],
        ],
    ),
    (
        "ffc",
        &[
            &[],
            &[("threshold", "8KB"), ("lane-high", "4KB"), ("lane-low", "2KB")],
            &[("key", "5-tuple"), ("threshold", "5KB"), ("lanes", "2")],
            &[("pacer", "false"), ("lanes", "1"), ("lane-high", "3KB"), ("lane-low", "0B")],
            &[("gather", "300ns"), ("refresh", "20us"), ("threshold", "8KB")],
            &[("backstop", "pfc"), ("threshold", "8KB"), ("lane-high", "4KB"), ("lane-low", "2KB")],
        ],
    ),
];

fn has(mode: Mode, name: &str, value: &str) -> bool {
    mode.contains(&(name, value))
}

/// Which mode a drawn number stands for.
pub(crate) fn mode(scheme: &str, drawn: usize) -> Mode {
    let (_, modes) = MODES.iter().find(|(name, _)| *name == scheme).expect("a scheme with modes");
    modes[drawn % modes.len()]
}

/// Everything that is drawn beside the network and its flows.
#[derive(Clone, Copy, Debug)]
struct Extra {
    mode: usize,
    /// How long a control frame takes to act.
    response_ns: u64,
    /// Schemes without a promise: a buffer that may overflow.
    buffer: Option<u64>,
}

prop_compose! {
    fn extra()(
        mode in any::<usize>(),
        response_ns in prop_oneof![Just(0), 1u64..1500],
        buffer in prop::option::of(6_000u64..200_000),
    ) -> Extra {
        Extra { mode, response_ns, buffer }
    }
}

/// The bytes in flight over one link's feedback loop.
fn in_flight(case: &Case, link: &LinkConfig) -> u64 {
    let (rate, delay) = match case.shape {
        Shape::LeafSpine => (Rate::from_gbps(100), Time::from_us(1)),
        _ => (Rate::from_gbps(case.gbps), Time::from_ns(case.delay_ns)),
    };
    headroom(rate, delay, &Hop::new(Bytes::new(1518)), link).get()
}

fn settings(case: &mut Case, scheme: &str, mode: Mode, extra: Extra) -> Config {
    // the lower thresholds of most schemes lie at 68/75 of xoff, and must lie above xon
    case.xon_percent = case.xon_percent * 9 / 10 + 1;
    let mut cfg = case.config(scheme);
    cfg.link.response = Time::from_ns(extra.response_ns).into();
    // the slowest case takes 10 ms; a scheme that keeps itself busy forever fails here
    cfg.stop = Stop::At(Time::from_ms(500));
    for (name, value) in mode {
        set(&mut cfg, name, value);
    }
    if scheme == "gfc" {
        // room for the largest gap between its thresholds (4 C tau below B_m = xoff + C tau)
        case.xoff += 3 * in_flight(case, &cfg.link);
        set(&mut cfg, "response", &format!("{}ns", extra.response_ns));
        cfg.switch.thresholds = case.thresholds(IngressLimit::Lossless);
    }
    cfg
}

fn all_delivered(out: &Outcome, flows: usize) -> Result<(), TestCaseError> {
    prop_assert_eq!(&out.finish, &Finish::Drained);
    prop_assert_eq!(out.totals.completed, flows as u64);
    prop_assert!(out.flows.iter().all(|f| f.delivered == f.size));
    Ok(())
}

fn nothing_lost(out: &Outcome) -> Result<(), TestCaseError> {
    prop_assert_eq!(out.totals.dropped, 0, "{:?}", out.drops);
    for f in &out.flows {
        let ideal = f.ideal().expect("a flow of a size has an ideal time");
        prop_assert!(f.fct().expect("done") >= ideal, "{} beats its lone time {}", f.id, ideal);
    }
    Ok(())
}

/// A lossless scheme, or a scheme with PFC behind it.
fn holds_its_promise(scheme: &str, mut case: Case, extra: Extra) -> Result<(), TestCaseError> {
    let cfg = settings(&mut case, scheme, mode(scheme, extra.mode), extra);
    let out = case.run(&cfg);
    all_delivered(&out, case.flows.len())?;
    nothing_lost(&out)
}

/// A scheme that promises nothing: on a buffer without end it loses nothing either; on a small
/// one losses are counted, and repaired.
fn loses_only_for_lack_of_memory(
    scheme: &str,
    mut case: Case,
    extra: Extra,
) -> Result<(), TestCaseError> {
    let mode = mode(scheme, extra.mode);
    if has(mode, "backstop", "pfc") {
        return holds_its_promise(scheme, case, extra);
    }
    let mut cfg = settings(&mut case, scheme, mode, extra);
    cfg.nic.timeout = Some(Time::from_us(700));
    let Some(buffer) = extra.buffer else {
        cfg.nic.timeout = None;
        let out = case.run(&cfg);
        all_delivered(&out, case.flows.len())?;
        return nothing_lost(&out);
    };
    cfg.switch.buffer = Bytes::new(buffer);
    let out = case.run(&cfg);
    all_delivered(&out, case.flows.len())?;
    let lost: u64 = out.flows.iter().map(|f| f.lost()).sum();
    prop_assert_eq!(lost, out.totals.dropped);
    prop_assert!(out.drops.iter().all(|d| d.reason == DropReason::BufferFull), "{:?}", out.drops);
    Ok(())
}

/// A link that fails and recovers.
#[derive(Clone, Copy, Debug)]
struct Outage {
    /// Modulo what there is.
    link: usize,
    down_ns: u64,
    for_ns: u64,
    /// How long routes take to follow.
    convergence_ns: u64,
}

prop_compose! {
    fn outage()(
        link in any::<usize>(),
        down_ns in 100u64..60_000,
        for_ns in prop_oneof![1u64..100, 100u64..100_000],
        convergence_ns in 0u64..50_000,
    ) -> Outage {
        Outage { link, down_ns, for_ns, convergence_ns }
    }
}

/// Settings under which nothing is lost but for what comes on top.
fn roomy(scheme: &str, case: &mut Case, extra: Extra) -> Config {
    let mode = mode(scheme, extra.mode);
    let mut cfg = settings(case, scheme, mode, extra);
    cfg.nic.timeout = Some(Time::from_us(700));
    cfg
}

/// Whatever a failing link takes with it is sent again, and nobody waits for it forever.
fn survives(scheme: &str, mut case: Case, extra: Extra, o: Outage) -> Result<(), TestCaseError> {
    let mut cfg = roomy(scheme, &mut case, extra);
    let links = case.topology().links().len();
    let down = Time::from_ns(o.down_ns);
    let up = Some(down + Time::from_ns(o.for_ns));
    cfg.failures = vec![LinkFailure { link: LinkId::from_index(o.link % links), down, up }];
    cfg.convergence = Time::from_ns(o.convergence_ns);
    all_delivered(&case.run(&cfg), case.flows.len())
}

prop_compose! {
    fn watchdog()(
        detect_ns in 100u64..30_000,
        restore_ns in 1u64..30_000,
        action in prop::sample::select(vec![WatchdogAction::Drop, WatchdogAction::Forward]),
    ) -> WatchdogConfig {
        let (detect, restore) = (Time::from_ns(detect_ns), Time::from_ns(restore_ns));
        WatchdogConfig { detect, restore, action }
    }
}

/// A watchdog that bites in ordinary congestion costs packets, and nothing else.
fn survives_watched(
    scheme: &str,
    mut case: Case,
    extra: Extra,
    watchdog: WatchdogConfig,
) -> Result<(), TestCaseError> {
    let mut cfg = roomy(scheme, &mut case, extra);
    cfg.switch.watchdog = Some(watchdog);
    all_delivered(&case.run(&cfg), case.flows.len())
}

/// A scheme that is new in the catalogue must be here.
#[test]
fn all_schemes_are_tested() {
    let tested: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
    let known: Vec<&str> = weir_fc::SCHEMES.iter().map(|s| s.name).collect();
    assert_eq!(tested, known);
}

/// How many cases: 256, or what `WEIR_CASES` says.
fn cases() -> u32 {
    std::env::var("WEIR_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(256)
}

macro_rules! on_random_networks {
    ($($name:ident: $scheme:literal, $check:ident;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]
            $(
                #[test]
                fn $name(case in case(), extra in extra()) {
                    $check($scheme, case, extra)?;
                }
            )*
        }
    };
}

on_random_networks! {
    pfc_loses_nothing: "pfc", holds_its_promise;
    capfc_loses_nothing: "capfc", holds_its_promise;
    ppfc_loses_nothing: "ppfc", holds_its_promise;
    gfc_loses_nothing: "gfc", holds_its_promise;
    gpfc_loses_nothing: "gpfc", holds_its_promise;
    ofc_loses_nothing: "ofc", holds_its_promise;
    without_flow_control_losses_are_repaired: "none", loses_only_for_lack_of_memory;
    bfc_delivers_everything: "bfc", loses_only_for_lack_of_memory;
    ideal_fc_delivers_everything: "ideal", loses_only_for_lack_of_memory;
    flowsail_delivers_everything: "flowsail", loses_only_for_lack_of_memory;
    ffc_delivers_everything: "ffc", loses_only_for_lack_of_memory;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]
    #[test]
    fn every_scheme_survives_a_failing_link(
        scheme in 0..MODES.len(), case in case(), extra in extra(), outage in outage()
    ) {
        survives(MODES[scheme].0, case, extra, outage)?;
    }

    #[test]
    fn every_scheme_survives_the_watchdog(
        scheme in 0..MODES.len(), case in case(), extra in extra(), watchdog in watchdog()
    ) {
        survives_watched(MODES[scheme].0, case, extra, watchdog)?;
    }
}
