//! Series of flows by their start, judged.

use super::super::judge;
use super::Window;
use crate::claim::Claim;
use crate::claim_read;
use crate::experiment::Mode;
use crate::select::Scope;
use crate::tables::Tables;
use crate::verdict::{ClaimOutcome, Verdict};
use weir_results::starts::{Starts, StartsOf};
use weir_scenario::text::{Diagnostics, Sources};
use weir_stats::verdict::Judgement;
use weir_stats::warmup::BATCH;

/// Worked example 9 of the statistics: settles after 15 values.
const SETTLES: [u64; 60] = [
    26, 17, 30, 30, 33, 36, 33, 40, 39, 53, 45, 44, 45, 45, 44, 46, 49, 48, 51, 48, 49, 54, 51, 48,
    49, 51, 55, 49, 49, 53, 47, 49, 53, 52, 50, 52, 41, 53, 47, 45, 51, 52, 49, 47, 50, 50, 54, 52,
    51, 53, 49, 47, 52, 52, 49, 48, 51, 43, 52, 51,
];

/// And the one that keeps rising.
const RISES: [u64; 60] = [
    17, 21, 19, 23, 18, 21, 24, 26, 20, 24, 26, 24, 29, 24, 28, 25, 31, 28, 28, 26, 33, 32, 33, 34,
    33, 31, 31, 32, 37, 32, 34, 35, 36, 38, 35, 34, 38, 41, 41, 40, 39, 41, 41, 43, 40, 43, 43, 45,
    44, 50, 48, 48, 42, 46, 46, 49, 43, 51, 51, 47,
];

/// A run with a flow of this slowdown in each bin of a microsecond, and so many in the network.
fn run(slowdowns: &[u64], present: &[u64], warm_up_us: u64) -> Starts {
    let n = slowdowns.len() as u64;
    let part = StartsOf {
        flows: vec![1; slowdowns.len()],
        unfinished: vec![0; slowdowns.len()],
        slowdown_milli: slowdowns.iter().map(|x| x * 1000).collect(),
        fct_ns: vec![0; slowdowns.len()],
        ..StartsOf::default()
    };
    let [from_ps, to_ps, until_ps] = [warm_up_us, n, n].map(|us| us * 1_000_000);
    let starts = Starts { from_ps, to_ps, until_ps, present: present.to_vec(), parts: vec![part] };
    starts.merged(BATCH)
}

fn claim(text: &str) -> Claim {
    let head = "[[claim]]\nid = \"c\"\nexperiment = \"X\"\nsays = \"so\"\nkind = \"value\"\n\
                metric = \"slowdown_mean\"\nof = \"A\"\npaper = 50\n";
    let mut sources = Sources::default();
    let id = sources.add("claims.toml", format!("{head}{text}"));
    let (variants, points) = (vec!["A".to_owned()], vec![Vec::new()]);
    let scope = Scope { id: "X".into(), variants, points, steady: true, ..Scope::default() };
    let mut out = Diagnostics::default();
    let claims = claim_read::read(&sources, id, &[&scope], &mut out);
    assert!(!out.has_errors(), "{}", out.plain(&sources));
    claims.into_iter().next().expect("a claim")
}

/// Three seeds whose mean slowdown is about the paper's 50.
fn tables(series: [Starts; 3]) -> Tables {
    let mut tables =
        Tables::by_hand(&[], "slowdown_mean", &[("A", &[][..], &[49.0, 50.0, 51.0][..])]);
    tables.steady = true;
    for (seed, starts) in series.into_iter().enumerate() {
        let run = ["A".to_owned(), (seed + 1).to_string()];
        tables.add_series(&run, starts).expect("a run");
    }
    tables
}

fn judged(series: [Starts; 3]) -> Verdict {
    judge(0, &claim(""), &tables(series), Mode::Full).remove(0)
}

fn three(slowdowns: &[u64], warm_up_us: u64) -> [Starts; 3] {
    let present = vec![20; slowdowns.len()];
    [(); 3].map(|()| run(slowdowns, &present, warm_up_us))
}

fn not_measured(verdict: &Verdict) -> &str {
    match &verdict.outcome {
        ClaimOutcome::NotMeasured(why) => why,
        other => panic!("{other:?}"),
    }
}

/// MSER-5 removes 15 of the 60 values. The mean is 46.7 with them and 49.822 without; after the
/// first ten it is 49.3.
#[test]
fn a_warm_up_is_long_enough_if_what_mser_5_removes_besides_does_not_matter() {
    for enough in [15, 10] {
        let verdict = judged(three(&SETTLES, enough));
        assert_eq!(
            verdict.outcome,
            ClaimOutcome::Judged(Judgement::Reproduced),
            "{}",
            verdict.reason()
        );
        assert_eq!(verdict.window, Window::Stationary);
        assert_eq!(verdict.warm_up_ps, Some(enough * 1_000_000));
    }
    let verdict = judged(three(&SETTLES, 0));
    assert_eq!(verdict.window, Window::NotStationary);
    let why = "not stationary: A: MSER-5 removes 15.0 us and changes the mean after a warm-up of \
               0 ms by +7 %";
    assert_eq!(not_measured(&verdict), why);
    assert!(!verdict.measured.is_empty(), "the number is shown all the same");
}

/// Of its 12 batches MSER-5 would remove the first 6. The mean of batches 3 to 11 is 38.6, that of
/// 6 to 11 is 42.4.
#[test]
fn a_series_that_keeps_rising_is_never_stationary() {
    let verdict = judged(three(&RISES, 15));
    let why = "not stationary: A: MSER-5 finds no stationary window in 60.0 us and changes the \
               mean after a warm-up of 15.0 us by +10 %";
    assert_eq!(not_measured(&verdict), why);
    // of the second half there is nothing more to remove
    assert_eq!(judged(three(&RISES, 30)).window, Window::Drifting);
}

/// What happens behind the end of the window does not matter.
#[test]
fn a_window_ends_before_arrivals_stop() {
    let collapse = |x: u64, i: usize| if i < 50 { x } else { 5 };
    let values: Vec<u64> = SETTLES.iter().enumerate().map(|(i, x)| collapse(*x, i)).collect();
    let close =
        |to_us: u64| three(&values, 15).map(|starts| Starts { to_ps: to_us * 1_000_000, ..starts });
    assert_eq!(judged(close(50)).window, Window::Stationary);
    assert_ne!(judged(close(60)).window, Window::Stationary);
}

/// 50 in the first half, 60 in the second: the error of the mean is least with nothing removed
/// where each half wanders as much, but all seeds agree that the second is higher.
#[test]
fn a_window_drifts_if_seeds_agree_on_it() {
    let values = |first: u64, second: u64| -> Vec<u64> {
        // batches wander by 20 around their half
        let wander = |i: usize| [20, 0, 40, 10, 30][i / BATCH % 5];
        (0..100).map(|i| wander(i) + if i < 50 { first } else { second }).collect()
    };
    let present = vec![20; 100];
    let seed = |second| run(&values(30, second), &present, 0);
    let verdict = judged([seed(36), seed(37), seed(38)]);
    assert_eq!(verdict.window, Window::Drifting, "{}", verdict.reason());
    let why = "drifting: A: from its first to its second half the mean changes by +14 %";
    assert_eq!(not_measured(&verdict), why);
    // 50 and 60, 50 and 45, 50 and 52: seeds do not agree
    assert_eq!(judged([seed(40), seed(25), seed(32)]).window, Window::Stationary);
    // 50 and 52: less than 5 %
    assert_eq!(judged([seed(32), seed(32), seed(32)]).window, Window::Stationary);
}

#[test]
fn flows_that_pile_up_in_every_seed_are_an_overload() {
    let grows = |per_us: u64| (0..60).map(|i| 10 + i * per_us).collect::<Vec<u64>>();
    let seed = |per_us| run(&[50; 60], &grows(per_us), 5);
    let verdict = judged([seed(10), seed(11), seed(12)]);
    assert_eq!(verdict.window, Window::Overloaded);
    // batches 1 to 12: amid it is that of 30 to 34 us, at the end that of 55 to 59 us
    let why = "overloaded: A: 362 flows are in the network amid the window, 637 at its end";
    assert_eq!(not_measured(&verdict), why);
    assert_eq!(
        judged([seed(10), seed(0), seed(12)]).window,
        Window::Stationary,
        "not in all seeds"
    );
}

/// They are beyond every other flow: a percentile that lies among them is none, and a mean is at
/// least what is known of it.
#[test]
fn flows_that_did_not_finish_are_never_left_out_silently() {
    let open = |starts: Starts, open: u64| {
        let part = &starts.parts[0];
        // 5 flows a batch, 45 in the nine batches behind the warm-up
        let mut unfinished = vec![0; part.flows.len()];
        unfinished[11] = open;
        let parts = vec![StartsOf { unfinished, ..part.clone() }];
        Starts { parts, ..starts }
    };
    let judged = |metric: &str, n: u64| {
        let series = three(&SETTLES, 15).map(|starts| open(starts, n));
        let mut claim = claim("");
        claim.of[0].select.metric = metric.to_owned();
        let numbers = [("A", &[][..], &[49.0, 50.0, 51.0][..])];
        let mut tables = Tables::by_hand(&[], metric, &numbers);
        tables.steady = true;
        for (seed, starts) in series.into_iter().enumerate() {
            tables.add_series(&["A".to_owned(), (seed + 1).to_string()], starts).expect("a run");
        }
        judge(0, &claim, &tables, Mode::Full).remove(0)
    };
    let mean = judged("slowdown_mean", 1);
    assert_eq!(mean.outcome, ClaimOutcome::Judged(Judgement::Reproduced), "{}", mean.reason());
    let said = "at least: up to 2.2 % of the flows of a run did not finish";
    assert!(mean.measured.ends_with(said), "{}", mean.measured);
    assert!(!judged("slowdown_mean", 0).measured.contains("at least"));
    // one of 45 is more than the hundredth beyond p99, and less than the tenth beyond p90
    let why = "A: 2.2 % of the flows did not finish: no `slowdown_p99`";
    assert_eq!(not_measured(&judged("slowdown_p99", 1)), why);
    assert!(judged("slowdown_p90", 1).outcome.judgement().is_some());
    assert!(judged("slowdown_p90", 5).outcome.judgement().is_none());
}

#[test]
fn only_full_runs_of_steady_claims_are_refused() {
    let tables = tables(three(&RISES, 15));
    let judged = |text: &str, mode| judge(0, &claim(text), &tables, mode).remove(0);
    let quick = judged("", Mode::Quick);
    assert_eq!(quick.outcome, ClaimOutcome::Judged(Judgement::Reproduced));
    assert_eq!(quick.window, Window::NotStationary, "and it is said");
    let whole = judged("steady = false", Mode::Full);
    assert_eq!((whole.window, whole.warm_up_ps), (Window::Terminating, None));
    assert_eq!(whole.outcome, ClaimOutcome::Judged(Judgement::Reproduced));
    assert!(claim("").possible.names().contains(&"not measured (no stationary window)"));
}

/// Results of an older program have numbers and no series.
#[test]
fn without_a_series_a_verdict_says_that_its_window_was_not_checked() {
    let mut tables =
        Tables::by_hand(&[], "slowdown_mean", &[("A", &[][..], &[49.0, 50.0, 51.0][..])]);
    tables.steady = true;
    let verdict = judge(0, &claim(""), &tables, Mode::Full).remove(0);
    assert_eq!(verdict.outcome, ClaimOutcome::Judged(Judgement::Reproduced));
    assert_eq!(verdict.window, Window::NotChecked);
}
