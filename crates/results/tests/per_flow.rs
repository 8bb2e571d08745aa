//! What the FlowSail paper and the FFC slides report of schemes that look at flows, beside ours.

use weir_core::{Bytes, Time};
use weir_results::run::{Meter, Run, run_all};
use weir_scenario::Experiment;
use weir_scenario::Variant;
use weir_sim::outcome::Finish;
use weir_sim::outcome::FlowRecord;

fn load(name: &str, sets: &[&str]) -> Experiment {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Experiment::load(name, &sets).unwrap_or_else(|p| panic!("{p}"))
}

/// The runs of `scheme`, one for each of the scenario's seeds. Nothing may get lost.
fn runs(e: &Experiment, scheme: &str) -> Vec<Run> {
    let variant = |&seed| e.variant(Some(scheme), None, seed).expect("a known scheme");
    let variants: Vec<Variant> = e.scenario.run.seeds.iter().map(variant).collect();
    let runs = run_all(e, &variants, 2, &Meter::new(variants.len()));
    let runs: Vec<Run> =
        runs.into_iter().map(|r| r.expect("not interrupted").expect("a valid run")).collect();
    assert!(runs.iter().all(|r| r.outcome.totals.dropped == 0), "{scheme} lost packets");
    runs
}

/// Payload in Gb/s of each flow of a run that lasts 1 ms.
fn rates(e: &Experiment, scheme: &str) -> Vec<f64> {
    let runs = runs(e, scheme);
    assert_eq!(runs[0].outcome.finish, Finish::TimeLimit);
    let rate = |f: &FlowRecord| f.delivered.get() as f64 * 8.0 / 1e6;
    runs[0].outcome.flows.iter().map(rate).collect()
}

/// Mean of a figure over the flows of a class that `of` picks.
fn mean(e: &Experiment, runs: &[Run], class: &str, of: fn(&FlowRecord) -> Option<f64>) -> f64 {
    let class = e.classes().iter().position(|c| c == class).expect("a class");
    let flows = runs.iter().flat_map(|r| &r.outcome.flows).filter(|f| f.class.index() == class);
    let all: Vec<f64> = flows.filter_map(of).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

fn median_fct(e: &Experiment, runs: &[Run], class: &str) -> f64 {
    let class = e.classes().iter().position(|c| c == class).expect("a class");
    let flows = runs.iter().flat_map(|r| &r.outcome.flows).filter(|f| f.class.index() == class);
    let mut all: Vec<Time> = flows.map(|f| f.fct().expect("done")).collect();
    all.sort_unstable();
    all[all.len() / 2].as_ps() as f64 / 1e6
}

/// The rates of f1, f2, f3 in Fig. 9 under a scheme, a NIC and a kind of source.
fn fig_9(scheme: &str, nic: &str, held: &str, more: &[&str]) -> [f64; 3] {
    let mut sets = vec![format!("nic.queues={nic}")];
    sets.extend((0..3).map(|i| format!("traffic.{i}.while-held={held}")));
    let sets: Vec<&str> = sets.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let e = load("flowsail-fig8", &sets);
    rates(&e, scheme).try_into().expect("three flows")
}

fn assert_near(got: [f64; 3], want: [f64; 3], within: f64, what: &str) {
    let near = got.iter().zip(want).all(|(g, w)| (g - w).abs() <= within);
    assert!(near, "{what}: {got:.2?} instead of {want:?}");
}

/// Fig. 9: only f1 is cut, to what f2 leaves of P2's 40 Gb/s.
#[test]
fn ideal_fc_and_flowsail_cut_only_the_greedy_flow() {
    for scheme in ["ideal", "flowsail"] {
        for held in ["discard", "backlog"] {
            let [f1, f2, f3] = fig_9(scheme, "per-flow", held, &[]);
            assert!(f2 >= 19.5 && f3 >= 19.5, "{scheme}, {held}: {f2} {f3}");
            assert!((f1 + f2 - 40.0).abs() < 0.1, "{scheme}, {held}: P2 is busy: {f1} {f2}");
        }
    }
}

/// Fig. 9: BFC and PFC stop all three together. A source that discards meanwhile loses in
/// proportion to its rate: 60 : 20 : 20 with f1 + f2 = 40 is 30, 10, 10. BFC pauses the three
/// slots of the NIC one by one, so that they are not quite held alike.
#[test]
fn bfc_and_pfc_halve_innocent_sources_that_discard() {
    for (scheme, within) in [("bfc", 1.5), ("pfc", 0.3)] {
        let got = fig_9(scheme, "per-flow", "discard", &[]);
        assert_near(got, [30.0, 10.0, 10.0], within, scheme);
    }
}

/// With real pauses sources catch up, and a NIC with a queue per flow gives max-min shares.
#[test]
fn sources_that_keep_what_they_make_catch_up() {
    for scheme in ["bfc", "pfc"] {
        let got = fig_9(scheme, "per-flow", "backlog", &[]);
        assert_near(got, [20.0, 20.0, 20.0], 0.6, scheme);
    }
}

/// Whatever the switches do: one queue in the NIC keeps packets in the order in which they were
/// made, 3 : 1 : 1, and P2 carries 40 Gb/s of the first two. That is so where sources keep what
/// they make; and under PFC, whose holds last for hundreds of packets, where they discard.
#[test]
fn one_queue_in_the_nic_undoes_what_any_scheme_gains() {
    let kept = ["ideal", "flowsail", "bfc", "pfc"].map(|scheme| (scheme, "backlog"));
    for (scheme, held) in kept.into_iter().chain([("pfc", "discard")]) {
        let got = fig_9(scheme, "fifo", held, &[]);
        assert_near(got, [30.0, 10.0, 10.0], 0.4, &format!("{scheme}, {held}"));
    }
}

/// Holds of single flows are about as short as the time between two packets of f1. Whether f2 and
/// f3 make theirs while the head is held then depends on the phase of the sources, and so does what
/// they discard; but in every phase they lose much more than with a queue of their own, where they
/// keep 19.5 Gb/s, and P2 is busy. Where the queue that holds f1 holds others for as long (BFC,
/// FlowSail), each source loses the same share: 60 : 20 : 20 with f1 + f2 = 40 is 30, 10, 10.
/// Ideal FC holds f1 for one packet at a time: f2 gets between a half and 1.4 times that.
#[test]
fn sources_that_discard_behind_a_held_head_are_cut_in_every_phase() {
    for scheme in ["ideal", "flowsail", "bfc"] {
        for [second, third] in [[0, 0], [70, 130], [150, 310]] {
            let starts =
                [format!("traffic.1.start={second}ns"), format!("traffic.2.start={third}ns")];
            let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
            let [f1, f2, f3] = fig_9(scheme, "fifo", "discard", &starts);
            let (least, most) = if scheme == "ideal" { (5.0, 14.0) } else { (8.8, 10.6) };
            let cut = |rate: f64| (least..most).contains(&rate);
            assert!(cut(f2) && cut(f3), "{scheme}, {starts:?}: {f1} {f2} {f3}");
            assert!((f1 + f2 - 40.0).abs() < 0.3, "{scheme}, {starts:?}: {f1} {f2} {f3}");
        }
    }
}

/// A feedback loop as long as the round trip in the thresholds (k = 1 below): P2 is idle a fifth
/// of the time, and f2, which shares its queue, pays with f1. f3 does not.
#[test]
fn on_long_cables_flowsail_protects_only_the_flow_that_goes_elsewhere() {
    for held in ["discard", "backlog"] {
        let [f1, f2, f3] = fig_9("flowsail", "per-flow", held, &["topology.delay=1us"]);
        assert!(f3 > 19.5, "{held}: {f3}");
        assert!((f1 + f2 - 32.0).abs() < 1.2, "{held}: 80 % of 40: {f1} {f2}");
        assert!(f2 < 16.5, "{held}: {f2}");
    }
}

/// The paper's testbed: 96 to 98 Gb/s.
#[test]
fn two_flows_under_flowsail_fill_a_link_of_a_testbed() {
    for (scheme, least) in [("flowsail", 98.0), ("bfc", 98.0), ("ideal", 99.9), ("pfc", 99.9)] {
        let sum: f64 = rates(&load("flowsail-efficiency", &[]), scheme).iter().sum();
        assert!((least..=100.0).contains(&sum), "{scheme}: {sum}");
    }
}

/// Thresholds from k times the real round trip R keep the link busy 2 (k + 1) / (2 k + 3) of
/// the time: both queues grow for k R, and for R while the pause travels; they drain for
/// (k + 1) R; and the first packet after the RESUME takes R. Frames on the wire when the RESUME
/// is sent shorten that by up to 80 ns each of 2 us, and the flows are not in step all the time.
#[test]
fn thresholds_near_the_round_trip_cost_throughput_as_the_closed_form_says() {
    for scheme in ["flowsail", "bfc"] {
        for k in [1, 2, 4, 8] {
            let rtt = format!("flow-control.{scheme}.hop-rtt={}us", 2 * k);
            let e = load("flowsail-efficiency", &["topology.delay=1us", &rtt]);
            let sum: f64 = rates(&e, scheme).iter().sum();
            let busy = f64::from(200 * (k + 1)) / f64::from(2 * k + 3);
            assert!((0.0..3.5).contains(&(sum - busy)), "{scheme}, k = {k}: {sum}, {busy:.1}");
        }
    }
}

fn short_slowdown(f: &FlowRecord) -> Option<f64> {
    f.slowdown().filter(|_| f.size < Bytes::from_kb(10))
}

/// Mean slowdown of short background flows with so many queues.
fn with_queues(scheme: &str, queues: u32, more: &[&str]) -> f64 {
    let queues = format!("flow-control.{scheme}.queues={queues}");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/flowsail-fig15.toml");
    let e = load(file, &[&[queues.as_str(), "run.seeds=[1]"], more].concat());
    mean(&e, &runs(&e, scheme), "background", short_slowdown)
}

/// A small version of Fig. 15.
#[test]
fn flowsail_needs_fewer_queues_than_bfc() {
    let [bfc_128, bfc_8, bfc_2] = [128, 8, 2].map(|n| with_queues("bfc", n, &[]));
    let [sail_128, sail_8, sail_2] = [128, 8, 2].map(|n| with_queues("flowsail", n, &[]));
    assert!(bfc_128 < 1.3 && sail_128 < 1.3, "with enough queues both are fine");
    assert!(bfc_8 > 2.0 * bfc_128, "BFC suffers with 8: {bfc_8:.2}, {bfc_128:.2}");
    assert!(sail_8 < 1.2 * sail_128, "FlowSail does not: {sail_8:.2}, {sail_128:.2}");
    assert!(bfc_2 > 8.0 * bfc_128, "{bfc_2:.2}");
    assert!(sail_2 < 0.7 * bfc_2, "gentler down to two: {sail_2:.2}, {bfc_2:.2}");
    // what it costs with two is the hold of the queue that paused flows share with the others
    let without = with_queues("flowsail", 2, &["flow-control.flowsail.hold-original=false"]);
    assert!(without < 1.5 * sail_128, "{without:.2}, {sail_128:.2}");
}

/// Median FCT in microseconds of users' flows and of incast flows.
fn with_degree(scheme: &str, degree: u32) -> (f64, f64) {
    let e = load("ffc-incast", &[&format!("traffic.1.degree={degree}"), "run.seeds=[1]"]);
    let runs = runs(&e, scheme);
    (median_fct(&e, &runs, "user"), median_fct(&e, &runs, "incast"))
}

/// The slides' three figures on the degree of incasts: users hardly notice under FFC and do under
/// PFC; the incasts themselves take longer in proportion.
#[test]
fn users_hardly_notice_the_degree_of_incasts_under_ffc() {
    let (user_2, incast_2) = with_degree("ffc", 2);
    let (user_16, incast_16) = with_degree("ffc", 16);
    let (pfc_2, pfc_16) = (with_degree("pfc", 2).0, with_degree("pfc", 16).0);
    // a third more under FFC, twice as long under PFC
    assert!(user_16 < 1.4 * user_2, "FFC: {user_2:.1} us, {user_16:.1} us");
    assert!(pfc_16 > 1.8 * pfc_2, "PFC: {pfc_2:.1} us, {pfc_16:.1} us");
    assert!(pfc_16 > 5.0 * user_16, "{pfc_16:.1} us, {user_16:.1} us");
    // all flows of an incast share the last link and end together: 16 x 64 KB at 40 Gb/s is 210 us
    assert!((210.0..260.0).contains(&incast_16), "{incast_16:.1} us");
    assert!(incast_16 > 4.5 * incast_2, "{incast_2:.1} us, {incast_16:.1} us");
}

/// OFC's Fig. 1: F0 and F1 share their link, and neither gains on the other.
#[test]
fn ffc_shares_the_link_between_ofcs_two_flows() {
    let outcome = &runs(&load("ofc-fig1", &[]), "ffc")[0].outcome;
    let alone = outcome.flows[0].ideal().expect("known");
    for i in [0, 1] {
        let fct = outcome.flows[i].fct().expect("done");
        assert!(alone * 2 * 99 / 100 < fct && fct < alone * 2 * 102 / 100, "F{i}: {fct}");
    }
}

/// With a gate below the threshold F0 takes as long as alone, because FFC lets F1 wait in its lane
/// until F0 is done. It costs F1 nothing in the end: two flows of 4.2 MB need 1.72 ms of the link
/// they share.
#[test]
fn with_a_low_gate_ffc_locks_ofcs_congested_flow_out() {
    let low = "flow-control.ffc.drain-below=20KB";
    let e = load("ofc-fig1", &[low]);
    let outcome = &runs(&e, "ffc")[0].outcome;
    let [f0, f1] = [0, 1].map(|i| outcome.flows[i].fct().expect("done"));
    let alone = outcome.flows[0].ideal().expect("known");
    assert!(f0 < alone * 103 / 100, "{f0}, alone {alone}");
    assert!(f1 < alone * 2 * 101 / 100, "{f1}, alone {alone}");
    let e = load("ofc-fig1", &[low, &format!("run.until={}us", f0.as_ps() / 1_000_000)]);
    let delivered = runs(&e, "ffc")[0].outcome.flows[1].delivered;
    assert!(delivered < Bytes::from_kb(84), "2 % of F1 while F0 was there: {delivered}");
}

/// The same with two flows that never end: one of them stays in its lane.
#[test]
fn of_two_endless_flows_ffc_may_starve_one() {
    let mut got = rates(&load("flowsail-efficiency", &["topology.delay=1us"]), "ffc");
    got.sort_by(f64::total_cmp);
    assert!(got[0] < 2.0 && got[0] + got[1] > 99.0, "{got:?}");
    // with room for both below the threshold at which lanes drain they take turns
    let roomy = ["topology.delay=1us", "flow-control.ffc.threshold=80KB"];
    let mut got = rates(&load("flowsail-efficiency", &roomy), "ffc");
    got.sort_by(f64::total_cmp);
    assert!(got[0] > 45.0, "{got:?}");
}
