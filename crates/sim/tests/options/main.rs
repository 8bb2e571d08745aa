//! Every option meets every other: schemes, NIC queue models, weights, priorities, kinds of
//! sources, congestion controls, reliability, bit errors, small buffers, on small networks.
//!
//! The property: everything is delivered, or the run names the reason why not; and every figure is
//! within its physical bounds. A sample runs with the other tests; more run with
//!
//! ```text
//! WEIR_OPTIONS=0..20000 cargo test --release -p weir-sim --test options -- --nocapture
//! ```
//!
//! which prints how many cases ended in which way. `WEIR_OPTIONS=17` replays one case.
//! `WEIR_FAILURES` does the same for the second sample, in which links fail, `WEIR_RECOVERY` for
//! the third, in which links under load recover and nothing may be lost for lack of memory, and
//! `WEIR_FAULTS` for one in which control frames are lost, late or effective twice.
//! `WEIR_LOSSES=0..1000` runs so many cases of every scheme in which every link loses one control
//! frame in a hundred or in four. `WEIR_JOBS` is the sample of ranks that wait for each other.

#[path = "../common/mod.rs"]
mod common;
mod draw;
mod jobs;
mod judge;
mod losses;
mod outages;
mod readings;
mod recovery;

/// The second example of the guide "Write your own scheme", as it is.
#[expect(dead_code, reason = "`main` runs in the tests of schemes")]
#[path = "../../../fc/examples/credits.rs"]
mod credits;

/// The first one, as it is.
#[expect(dead_code, reason = "`main` runs in the tests of schemes")]
#[path = "../../../fc/examples/own_scheme.rs"]
mod door;

use draw::Case;
use judge::judge;
use losses::Refresh;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use weir_fc::order::{REORDERING, reordering};
use weir_sim::SimError;

/// Cases of the sample.
const SAMPLE: Range<u64> = 0..6000;

/// Cases of the sample in which links fail.
const FAILURES: Range<u64> = 0..3000;

/// The cases that the environment variable asks for, or the sample.
fn asked_for(variable: &str, sample: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var(variable) else { return sample };
    let number = |t: &str| {
        t.parse().unwrap_or_else(|_| panic!("{variable} is a number or a range such as 0..20000"))
    };
    match text.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => number(&text)..number(&text) + 1,
    }
}

/// How often the cases ended in which way; none may end in a way without a name.
fn judge_all(cases: Range<u64>, draw: impl Fn(u64) -> Case) -> BTreeMap<&'static str, u64> {
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut faults = Vec::new();
    for number in cases.clone() {
        let case = draw(number);
        match judge(&case) {
            Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
            Err(fault) => faults.push(format!("{}\n    {fault}", case.what)),
        }
    }
    println!("{} cases", cases.end - cases.start);
    for (outcome, n) in &outcomes {
        println!("{n:>7}  {outcome}");
    }
    println!("{:>7}  faults", faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    outcomes
}

#[test]
fn everything_is_delivered_or_the_reason_is_named() {
    let cases = asked_for("WEIR_OPTIONS", SAMPLE);
    let outcomes = judge_all(cases.clone(), Case::new);
    // A sample in which nothing is delivered, lost or stuck would show nothing.
    if cases == SAMPLE {
        assert!(outcomes[judge::DELIVERED] > 100, "{outcomes:?}");
        assert!(outcomes.len() >= 4, "{outcomes:?}");
    }
}

#[test]
fn with_failing_links_everything_is_delivered_or_the_reason_is_named() {
    let cases = asked_for("WEIR_FAILURES", FAILURES);
    let outcomes = judge_all(cases.clone(), outages::case);
    if cases == FAILURES {
        assert!(outcomes[judge::DELIVERED] > 100, "{outcomes:?}");
        assert!(outcomes.len() >= 4, "{outcomes:?}");
    }
}

/// Cases of the sample in which ranks wait for each other.
const JOBS: Range<u64> = 0..800;

#[test]
fn every_job_ends_or_names_who_waits_for_whom() {
    let cases = asked_for("WEIR_JOBS", JOBS);
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut faults = Vec::new();
    for number in cases.clone() {
        match jobs::judge(number) {
            Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
            Err(fault) => faults.push(fault),
        }
    }
    println!("{} cases: {outcomes:#?}", cases.end - cases.start);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    if cases == JOBS {
        assert!(outcomes[jobs::ENDED] > 400 && outcomes.len() >= 3, "{outcomes:?}");
    }
}

/// Cases of the sample in which links recover under load.
const RECOVERY: Range<u64> = 0..600;

#[test]
fn behind_a_link_that_recovers_no_lossless_priority_lacks_memory() {
    let cases = asked_for("WEIR_RECOVERY", RECOVERY);
    let (mut paused, mut faults) = (0, Vec::new());
    for number in cases.clone() {
        let case = recovery::case(number);
        match common::try_run(&case.topology, &case.flows, &case.config) {
            Ok(out) => {
                paused += u64::from(out.ports.iter().any(|p| p.pauses_sent.iter().any(|n| *n > 0)));
                match recovery::lost(&case, &out) {
                    0 => {}
                    n => faults.push(format!("{}\n    lost {n}", case.what)),
                }
            }
            Err(error) => faults.push(format!("{}\n    {error}", case.what)),
        }
    }
    println!("{} cases, {paused} with pauses, {} faults", cases.end - cases.start, faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // without pauses nothing would be shown
    assert!(cases != RECOVERY || paused > 500, "{paused}");
}

/// Cases of the sample with faults of control frames.
const FAULTS: Range<u64> = 0..3000;

#[test]
fn with_faults_of_control_frames_everything_is_delivered_or_the_reason_is_named() {
    let cases = asked_for("WEIR_FAULTS", FAULTS);
    let outcomes = judge_all(cases.clone(), losses::any);
    if cases == FAULTS {
        assert!(outcomes[judge::DELIVERED] > 100, "{outcomes:?}");
        assert!(outcomes[judge::LOST_FRAME] > 10, "{outcomes:?}");
    }
}

/// Cases of each scheme in which control frames are lost.
const LOSSES: Range<u64> = 0..60;

/// How often runs of each scheme ended in which way.
fn under_losses(refresh: Refresh) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let cases = asked_for("WEIR_LOSSES", LOSSES);
    let mut all = BTreeMap::new();
    for scheme in weir_fc::SCHEMES.iter() {
        println!("{}, refresh {refresh:?}", scheme.name);
        let draw = |number| losses::case(number, scheme.name, refresh);
        all.insert(scheme.name, judge_all(cases.clone(), draw));
    }
    all
}

#[test]
fn with_a_refresh_everything_is_delivered_however_many_control_frames_are_lost() {
    for (scheme, outcomes) in under_losses(Refresh::On) {
        let delivered = |what: &&str| what.starts_with(judge::DELIVERED);
        assert!(outcomes.keys().all(delivered), "{scheme}: {outcomes:?}");
    }
}

#[test]
fn without_a_refresh_no_run_stands_still_in_silence() {
    let outcomes = under_losses(Refresh::Off);
    let stalls = |scheme: &str| outcomes[scheme].get(judge::LOST_FRAME).copied().unwrap_or(0);
    for scheme in ["pfc", "ofc", "ideal", "flowsail", "ffc", "bfc"] {
        assert!(stalls(scheme) > 0, "{scheme}: {:?}", outcomes[scheme]);
    }
    assert_eq!(stalls("none"), 0);
}

/// ACKs of TCP that travel in the class of their data wait at their host behind a lost RESUME,
/// while the sender's timer goes on.
#[test]
fn a_lost_resume_that_holds_nothing_but_acks_is_named() {
    for (number, scheme) in [(5523, "capfc"), (6092, "bfc")] {
        let case = losses::case(number, scheme, Refresh::Off);
        assert_eq!(judge(&case), Ok(judge::LOST_FRAME), "{}", case.what);
    }
}

/// A flow takes the slot of another at its host, whose RESUME was lost before it started.
#[test]
fn a_lost_resume_from_before_a_flow_started_is_named() {
    let case = losses::case(5951, "bfc", Refresh::Off);
    assert_eq!(judge(&case), Ok(judge::LOST_FRAME), "{}", case.what);
}

/// At a host with one queue for all flows, the one at its head is held, to send something again;
/// the ACK of that comes late, and ends it. What stands behind it goes on.
#[test]
fn a_late_ack_of_a_held_head_lets_the_queue_go_on() {
    let case = losses::case(5829, "bfc", Refresh::On);
    let end = judge(&case).unwrap_or_else(|fault| panic!("{}: {fault}", case.what));
    assert!(end.starts_with(judge::DELIVERED), "{end}: {}", case.what);
}

/// Cases of the sample of readings.
const READINGS: Range<u64> = 0..3000;

/// A run under a reading that is known to reorder is valid; under any other it would be an error to
/// reorder. So the list must be complete, and each entry must be there for a reason.
#[test]
fn readings_reorder_if_they_are_known_to() {
    let cases = asked_for("WEIR_READINGS", READINGS);
    let (mut seen, mut faults) = (BTreeSet::new(), Vec::new());
    for number in cases.clone() {
        let case = readings::case(number);
        let scheme = &case.config.scheme;
        let known = reordering(scheme.info, &scheme.values);
        match common::try_run(&case.topology, &case.flows, &case.config) {
            Err(error @ SimError::Reordered { .. }) => {
                faults.push(format!("{}: {error}", case.what))
            }
            Ok(out) if out.totals.reordered > 0 => {
                seen.extend(known.map(|r| (r.scheme, r.param.name, r.value)));
            }
            _ => {}
        }
    }
    println!("{} cases, reordered by {seen:?}", cases.end - cases.start);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    if cases == READINGS {
        // OFC's `at-once` takes a coincidence that a test of the scheme alone brings about
        let listed = REORDERING.iter().filter(|r| r.value != "at-once");
        assert_eq!(seen, listed.map(|r| (r.scheme, r.param.name, r.value)).collect());
    }
}
