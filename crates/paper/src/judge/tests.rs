//! Every kind of claim, and each of its outcomes.

mod rules;

use super::judge;
use crate::claim::Claim;
use crate::claim_read;
use crate::experiment::Mode;
use crate::select::Scope;
use crate::tables::Tables;
use crate::verdict::{ClaimOutcome, Verdict};
use weir_scenario::text::{Diagnostics, Sources};
use weir_stats::verdict::{Judgement, Size};

fn scope() -> Scope {
    let texts = |all: &[&str]| all.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    Scope {
        id: "X".into(),
        variants: texts(&["A", "B", "C"]),
        parameters: texts(&["load"]),
        points: ["40", "60", "80"].map(|v| vec![v.to_owned()]).to_vec(),
        classes: Some(texts(&["victim"])),
        ..Scope::default()
    }
}

fn read(text: &str) -> Result<Claim, String> {
    let head = "[[claim]]\nid = \"c\"\nexperiment = \"X\"\nsays = \"so\"\n";
    let mut sources = Sources::default();
    let id = sources.add("claims.toml", format!("{head}{text}"));
    let mut out = Diagnostics::default();
    // another experiment of the same paper
    let other = Scope { id: "Y".into(), ..scope() };
    let claims = claim_read::read(&sources, id, &[&scope(), &other], &mut out);
    match claims.into_iter().next() {
        Some(claim) if !out.has_errors() => Ok(claim),
        _ => Err(out.plain(&sources)),
    }
}

fn claim(text: &str) -> Claim {
    read(&format!("metric = \"slowdown_mean\"\n{text}")).unwrap_or_else(|e| panic!("{e}"))
}

/// Numbers of a scenario without randomness.
fn exact(mut tables: Tables) -> Tables {
    tables.deterministic = true;
    tables
}

/// At one load: a number per variant, without randomness.
fn at_60(text: &str, numbers: &[(&str, f64)]) -> Verdict {
    let text = format!("at = {{ load = 60 }}\n{text}");
    let cells: Vec<_> = numbers.iter().map(|(v, x)| (*v, vec![*x])).collect();
    let cells: Vec<_> = cells.iter().map(|(v, x)| (*v, &["60"][..], x.as_slice())).collect();
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    judge(0, &claim(&text), &exact(tables), Mode::Full).remove(0)
}

/// Over loads 40, 60 and 80: three numbers per variant, without randomness.
fn over_load(text: &str, numbers: &[(&str, [f64; 3])]) -> Verdict {
    let text = format!("over = \"load\"\n{text}");
    let mut all: Vec<(&str, &str, Vec<f64>)> = Vec::new();
    for (variant, numbers) in numbers {
        for (load, x) in ["40", "60", "80"].iter().zip(numbers) {
            all.push((variant, load, vec![*x]));
        }
    }
    let values: Vec<[&str; 1]> = all.iter().map(|(_, load, _)| [*load]).collect();
    let cells: Vec<_> =
        all.iter().zip(&values).map(|((v, _, x), at)| (*v, &at[..], x.as_slice())).collect();
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    judge(0, &claim(&text), &exact(tables), Mode::Full).remove(0)
}

const YES: ClaimOutcome = ClaimOutcome::Judged(Judgement::Reproduced);
/// Exact numbers are in the margin or not.
const HALF: ClaimOutcome = ClaimOutcome::Judged(Judgement::SameDirection(Size::Differs));
const NO: ClaimOutcome = ClaimOutcome::Judged(Judgement::NotReproduced);
const OPEN: ClaimOutcome = ClaimOutcome::Judged(Judgement::NotDistinguishable);

#[test]
fn a_value_is_within_the_margin_or_a_factor_of_two() {
    // 10 % of 2.0 by default: 1.8 to 2.2; a factor of two: 1 to 4
    for (x, expected) in [(2.19, YES), (1.81, YES), (2.3, HALF), (3.9, HALF), (4.1, NO), (0.9, NO)]
    {
        let v = at_60("kind = \"value\"\nof = \"A\"\npaper = 2.0", &[("A", x)]);
        assert_eq!(v.outcome, expected, "{x}");
        assert_eq!(v.estimate, Some(x));
    }
    let wide = "kind = \"value\"\nof = \"A\"\npaper = 2.0\nmargin = \"20%\"";
    assert_eq!(at_60(wide, &[("A", 2.3)]).outcome, YES);
}

#[test]
fn a_reduction_is_near_or_has_the_same_sign() {
    let text = "kind = \"reduction\"\nof = \"A\"\nagainst = \"B\"\npaper = \"20%\"";
    // 25 % of 20 % is 5 points: 15 to 25 %
    for (a, expected) in
        [(80.0, YES), (85.0, YES), (76.0, YES), (90.0, HALF), (50.0, HALF), (101.0, NO)]
    {
        assert_eq!(at_60(text, &[("A", a), ("B", 100.0)]).outcome, expected, "{a}");
    }
    // a share of 4 % is near within 2 points at least, and no more
    let small = "kind = \"reduction\"\nof = \"A\"\nagainst = \"B\"\npaper = 0.04";
    assert_eq!(at_60(small, &[("A", 94.1), ("B", 100.0)]).outcome, YES);
    assert_eq!(at_60(small, &[("A", 93.0), ("B", 100.0)]).outcome, HALF);
    // an increase that the paper states as one
    let rise = "kind = \"reduction\"\nof = \"A\"\nagainst = \"B\"\npaper = \"-20%\"";
    assert_eq!(at_60(rise, &[("A", 121.0), ("B", 100.0)]).outcome, YES);
    assert_eq!(at_60(rise, &[("A", 99.0), ("B", 100.0)]).outcome, NO);
}

#[test]
fn a_ratio_is_near_either_way_or_above_one() {
    let text = "kind = \"ratio\"\nof = \"A\"\nagainst = \"B\"\npaper = 4.0";
    // a factor of 1.25: 3.2 to 5
    for (b, expected) in [(5.0, YES), (3.2, YES), (5.1, HALF), (3.1, HALF), (1.1, HALF), (0.9, NO)]
    {
        assert_eq!(at_60(text, &[("A", 1.0), ("B", b)]).outcome, expected, "{b}");
    }
    let inverse = format!("{text}\ninverse = true");
    assert_eq!(at_60(&inverse, &[("A", 4.0), ("B", 1.0)]).outcome, YES);
    assert_eq!(at_60(&inverse, &[("A", 1.0), ("B", 4.0)]).outcome, NO);
}

#[test]
fn a_ratio_to_nothing_is_open_and_nothing_to_nothing_is_no_effect() {
    let text = "kind = \"ratio\"\nof = \"A\"\nagainst = \"B\"\npaper = 4.0";
    let v = at_60(text, &[("A", 0.0), ("B", 2.0)]);
    assert_eq!((&v.outcome, v.why.as_str()), (&OPEN, "the denominator is 0"));
    let v = at_60(text, &[("A", 0.0), ("B", 0.0)]);
    assert_eq!((v.outcome, v.measured.as_str()), (NO, "both are 0"));
    let quotient = "kind = \"monotone\"\nof = \"A\"\nagainst = \"B\"\ndirection = \"rising\"";
    let v = over_load(quotient, &[("A", [0.0, 1.0, 2.0]), ("B", [0.0, 1.0, 1.0])]);
    assert_eq!((v.outcome, v.why.as_str()), (OPEN, "the denominator is 0"));
}

#[test]
fn up_to_is_the_largest_means_are_geometric_and_every_one_means_every_one() {
    let text = |pick: &str| {
        format!("kind = \"ratio\"\nof = \"A\"\nagainst = [\"B\", \"C\"]\npaper = 3.0\n{pick}")
    };
    // B/A and C/A over loads: 1.5, 2, 3 and 1.2, 2, 2
    let numbers = [("A", [1.0; 3]), ("B", [1.5, 2.0, 3.0]), ("C", [1.2, 2.0, 2.0])];
    assert_eq!(over_load(&text("pick = \"max\""), &numbers).outcome, YES);
    assert_eq!(over_load(&text("pick = \"min\""), &numbers).estimate, Some(1.2));
    // the sixth root of 1.5 x 2 x 3 x 1.2 x 2 x 2 = 43.2
    let mean = over_load(&text("pick = \"mean\""), &numbers).estimate.expect("a number");
    assert!((mean.powi(6) - 43.2).abs() < 1e-9, "{mean}");
    let v = over_load(&text(""), &numbers);
    let words = "1.20 times to 3.00 times (exact, no randomness); of 6 points 1 reproduced, 5 \
        same direction";
    assert_eq!((v.outcome, v.measured.as_str()), (HALF, words));
}

#[test]
fn a_range_is_compared_at_both_ends() {
    let text =
        "kind = \"reduction\"\nof = \"A\"\nagainst = [\"B\", \"C\"]\npaper = [\"10%\", \"20%\"]";
    // 1 - A/B and 1 - A/C
    for (b, c, expected) in [(90.0, 80.0, YES), (90.0, 60.0, HALF), (110.0, 80.0, NO)] {
        let against = |a: f64| 100.0 * 100.0 / a;
        let v = at_60(text, &[("A", 100.0), ("B", against(b)), ("C", against(c))]);
        assert_eq!(v.outcome, expected, "{b} {c}");
    }
    // one number lies within, or near an end
    let one = "kind = \"value\"\nof = \"A\"\npaper = [10, 20]";
    for (x, expected) in [(15.0, YES), (21.9, YES), (9.1, YES), (8.0, HALF), (41.0, NO)] {
        assert_eq!(at_60(one, &[("A", x)]).outcome, expected, "{x}");
    }
}

#[test]
fn an_order_holds_at_every_point() {
    let text = "kind = \"ordering\"\norder = [\"A\", \"B\"]";
    let b = ("B", [2.0, 2.0, 2.0]);
    assert_eq!(over_load(text, &[("A", [1.0, 1.5, 1.9]), b]).outcome, YES);
    let v = over_load(text, &[("A", [1.0, 1.5, 2.1]), b]);
    let words = "A 1.53, B 2.00 (exact, no randomness) in the mean; holds at 2 of 3 points";
    assert_eq!((v.outcome, v.measured.as_str()), (NO, words));
    assert_eq!(at_60(text, &[("A", 2.0), ("B", 2.0)]).outcome, NO);
    let loose = format!("{text}\nstrict = false");
    assert_eq!(at_60(&loose, &[("A", 2.0), ("B", 2.0)]).outcome, YES);
    assert_eq!(at_60(&loose, &[("A", 2.1), ("B", 2.0)]).outcome, NO);
    let margin = format!("{loose}\nmargin = \"10%\"");
    assert_eq!(at_60(&margin, &[("A", 2.1), ("B", 2.0)]).outcome, YES);
}

#[test]
fn flat_is_the_largest_over_the_smallest() {
    let text = "kind = \"flat\"\nof = \"A\"\npaper = 0.1";
    assert_eq!(over_load(text, &[("A", [1.0, 1.05, 1.1])]).outcome, YES);
    assert_eq!(over_load(text, &[("A", [1.0, 1.11, 1.05])]).outcome, NO);
    let against = "kind = \"flat\"\nof = \"A\"\nagainst = \"B\"\npaper = 0.1";
    let both = [("A", [1.0, 2.0, 4.0]), ("B", [2.0, 4.0, 8.0])];
    assert_eq!(over_load(against, &both).estimate, Some(0.0));
}

#[test]
fn monotone_is_every_step_or_from_end_to_end() {
    let text = "kind = \"monotone\"\nof = \"A\"\ndirection = \"rising\"";
    assert_eq!(over_load(text, &[("A", [1.0, 1.5, 2.0])]).outcome, YES);
    let near = ClaimOutcome::Judged(Judgement::SameDirection(Size::Open));
    assert_eq!(over_load(text, &[("A", [1.0, 3.0, 2.0])]).outcome, near);
    assert_eq!(over_load(text, &[("A", [2.0, 3.0, 1.0])]).outcome, NO);
    assert_eq!(over_load(text, &[("A", [2.0, 2.0, 2.0])]).outcome, NO);
    let falling = "kind = \"monotone\"\nof = \"A\"\nagainst = \"B\"\ndirection = \"falling\"";
    let v = over_load(falling, &[("A", [1.0, 1.0, 1.0]), ("B", [1.0, 2.0, 4.0])]);
    let words = "1.00 at 40, 0.50 at 60, 0.25 at 80 (exact, no randomness)";
    assert_eq!((v.outcome, v.measured.as_str()), (YES, words));
}

#[test]
fn equal_is_within_the_margin_or_a_quarter() {
    let text = "kind = \"equal\"\nof = \"A\"\nagainst = \"B\"";
    for (a, expected) in [(1.09, YES), (0.91, YES), (1.2, HALF), (0.76, HALF), (1.3, NO)] {
        assert_eq!(at_60(text, &[("A", a), ("B", 1.0)]).outcome, expected, "{a}");
    }
    assert_eq!(at_60(text, &[("A", 0.0), ("B", 0.0)]).outcome, YES);
    let v = over_load(text, &[("A", [1.0, 1.05, 1.2]), ("B", [1.0; 3])]);
    let words = "0 % to 20.0 % more (exact, no randomness); of 3 points 2 reproduced, 1 same \
        direction";
    assert_eq!((v.outcome, v.measured.as_str()), (HALF, words));
}

#[test]
fn a_limit_holds_or_is_missed_by_a_quarter() {
    let most = "kind = \"limit\"\nof = \"A\"\nbound = \"most\"\npaper = 2.0";
    for (x, expected) in [(2.0, YES), (2.5, HALF), (2.51, NO)] {
        assert_eq!(at_60(most, &[("A", x)]).outcome, expected, "{x}");
    }
    let least = "kind = \"limit\"\nof = \"A\"\nbound = \"least\"\npaper = 2.0";
    for (x, expected) in [(2.0, YES), (1.5, HALF), (1.49, NO)] {
        assert_eq!(at_60(least, &[("A", x)]).outcome, expected, "{x}");
    }
    assert_eq!(over_load(most, &[("A", [1.0, 2.0, 2.4])]).outcome, HALF);
}

#[test]
fn a_straight_line_is_hardly_curved() {
    let text = "kind = \"linear\"\nof = \"A\"";
    let v = over_load(text, &[("A", [1.0, 2.0, 3.0])]);
    assert_eq!((v.outcome, v.estimate), (YES, Some(0.0)));
    // the middle is 4.4 below the chord of 1 and 10, half of the range, and it rises
    assert_eq!(over_load(text, &[("A", [1.0, 1.1, 10.0])]).outcome, HALF);
    assert_eq!(over_load(text, &[("A", [1.0, 3.0, 2.0])]).outcome, NO);
}

#[test]
fn what_is_not_measured_says_why() {
    let claim = read("kind = \"not-measured\"\nwhy = \"no such switch\"").expect("a claim");
    let v = judge(0, &claim, &Tables::default(), Mode::Full).remove(0);
    assert_eq!(v.outcome, ClaimOutcome::NotMeasured("no such switch".into()));
}

#[test]
fn several_readings_are_several_verdicts() {
    let claim = claim("kind = \"value\"\nat = { load = 60 }\nof = [\"A\", \"B\"]\npaper = 2.0");
    let cells: [(&str, &[&str], &[f64]); 2] = [("A", &["60"], &[2.0]), ("B", &["60"], &[9.0])];
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    let all = judge(3, &claim, &exact(tables), Mode::Full);
    let found: Vec<_> = all.iter().map(|v| (v.claim, v.reading.as_str(), &v.outcome)).collect();
    assert_eq!(found, [(3, "A", &YES), (3, "B", &NO)]);
}

#[test]
fn a_number_that_is_missing_is_said_and_never_left_out() {
    let text = "kind = \"equal\"\nof = \"A\"\nagainst = \"B\"";
    let v = at_60(text, &[("A", 1.0)]);
    assert_eq!(v.outcome, ClaimOutcome::Missing("there are no runs of B (load = 60)".into()));
    let v = at_60(text, &[("A", f64::NAN), ("B", 1.0)]);
    let why = "A (load = 60), seed 1: it has no `slowdown_mean`";
    assert_eq!(v.outcome, ClaimOutcome::Missing(why.into()));
    // a quick run leaves out what it says it does; a figure that a run lacks is missing all the
    // same
    let text = format!("at = {{ load = 60 }}\n{text}");
    let cells: [(&str, &[&str], &[f64]); 1] = [("A", &["60"], &[1.0])];
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    let quick = judge(0, &claim(&text), &tables, Mode::Quick).remove(0).outcome;
    assert_eq!(quick, ClaimOutcome::LeftOut("there are no runs of B (load = 60)".into()));
}

/// Five seeds: mean 206, half 18.52; 174, half 16.50 (worked example 1).
const PFC: [f64; 5] = [204.0, 188.0, 215.0, 197.0, 226.0];
const OFC: [f64; 5] = [171.0, 166.0, 190.0, 158.0, 185.0];

fn random(text: &str, cells: &[(&str, &[f64])]) -> Verdict {
    let text = format!("at = {{ load = 60 }}\n{text}");
    let cells: Vec<_> = cells.iter().map(|(v, x)| (*v, &["60"][..], *x)).collect();
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    judge(0, &claim(&text), &tables, Mode::Full).remove(0)
}

#[test]
fn a_value_is_judged_by_all_of_its_interval() {
    // 206 +- 18.5 is within 10 % of 206 (185.4 to 226.6); of 190 (171 to 209) only in part
    let text = |paper| format!("kind = \"value\"\nof = \"A\"\npaper = {paper}");
    let v = random(&text(206), &[("A", &PFC)]);
    assert_eq!((v.outcome, v.measured.as_str()), (YES, "206 ± 19 (5 seeds)"));
    assert_eq!((v.seeds, v.runs, v.method), (5, 5, "mean (t)"));
    let near = ClaimOutcome::Judged(Judgement::SameDirection(Size::Open));
    assert_eq!(random(&text(190), &[("A", &PFC)]).outcome, near);
    assert_eq!(random(&text(90), &[("A", &PFC)]).outcome, NO);
    // 106 to 212 is a factor of two; the interval reaches beyond it, the estimate does not
    assert_eq!(random(&text(106), &[("A", &PFC)]).outcome, OPEN);
}

/// Worked example 3: 15.5 % less [10.8, 20.0].
#[test]
fn a_reduction_is_judged_by_its_paired_interval() {
    let text = |paper: &str, margin: &str| {
        format!(
            "kind = \"reduction\"\nof = \"A\"\nagainst = \"B\"\npaper = {paper}\nmargin = {margin}"
        )
    };
    let both: &[(&str, &[f64])] = &[("A", &OFC), ("B", &PFC)];
    let near = ClaimOutcome::Judged(Judgement::SameDirection(Size::Open));
    let v = random(&text("0.226", "0.25"), both);
    assert_eq!(
        (v.outcome, v.measured.as_str()),
        (near, "15.5 % less [10.8, 20.0] (paired, 5 seeds)")
    );
    // 15 % with 6 points: 40 % of it
    assert_eq!(random(&text("0.15", "0.4"), both).outcome, YES);
    assert_eq!(random(&text("-0.05", "0.25"), both).outcome, NO);
    assert_eq!(random(&text("0.60", "0.25"), both).outcome, HALF);
}

#[test]
fn an_interval_that_contains_no_effect_decides_nothing_and_says_how_many_seeds_would() {
    let text = "kind = \"ratio\"\nof = \"A\"\nagainst = \"B\"\npaper = 1.5";
    let v = random(text, &[("A", &[10.0, 14.0, 9.0]), ("B", &[11.0, 12.0, 13.0])]);
    assert_eq!((&v.outcome, v.why.as_str()), (&OPEN, "interval contains 1"));
    assert!(v.needed.is_some_and(|n| n > 3) && v.words().contains("seeds would decide"), "{v:?}");
}

#[test]
fn one_seed_of_a_random_scenario_gives_no_verdict() {
    let v = random("kind = \"value\"\nof = \"A\"\npaper = 2", &[("A", &[2.0])]);
    assert_eq!((v.outcome, v.why.as_str()), (OPEN, "one seed: no interval"));
    assert_eq!((v.measured.as_str(), v.interval), ("2.00 (1 seed)", None));
}

#[test]
fn seeds_that_agree_are_said_to_and_declared_ones_must() {
    let text = "kind = \"value\"\nof = \"A\"\npaper = 2";
    let v = random(text, &[("A", &[2.0, 2.0, 2.0])]);
    assert_eq!((v.outcome, v.measured.as_str()), (YES, "2.00 ± 0 (3 identical runs)"));
    let cells: [(&str, &[&str], &[f64]); 1] = [("A", &["60"], &[2.0, 2.1])];
    let tables = exact(Tables::by_hand(&["load"], "slowdown_mean", &cells));
    let claim = claim(&format!("at = {{ load = 60 }}\n{text}"));
    let v = judge(0, &claim, &tables, Mode::Full).remove(0);
    assert_eq!((v.outcome, v.why.as_str()), (OPEN, "declared deterministic, but the seeds differ"));
}

/// Worked example 7: A < B holds, B < C is open.
#[test]
fn orders_are_paired_differences() {
    let a: &[f64] = &[61.0, 58.0, 66.0, 60.0, 63.0];
    let b: &[f64] = &[66.0, 64.0, 70.0, 67.0, 66.0];
    let c: &[f64] = &[71.0, 66.0, 69.0, 73.0, 70.0];
    let cells = [("A", a), ("B", b), ("C", c)];
    let order = |names: &str| random(&format!("kind = \"ordering\"\norder = [{names}]"), &cells);
    assert_eq!(order("\"A\", \"B\"").outcome, YES);
    assert_eq!(order("\"A\", \"B\", \"C\"").outcome, OPEN);
    assert_eq!(order("\"B\", \"A\"").outcome, NO);
}

/// Worked example 5: the median of ten maxima.
#[test]
fn maxima_are_medians_and_need_six_seeds() {
    let maxima = [519.0, 471.0, 533.0, 498.0, 560.0, 487.0, 505.0, 544.0, 476.0, 521.0];
    let text = "metric = \"slowdown_max\"\nat = { load = 60 }\nkind = \"value\"\nof = \"A\"\n\
        paper = 510";
    let judged = |numbers: &[f64]| {
        let cells: [(&str, &[&str], &[f64]); 1] = [("A", &["60"], numbers)];
        let tables = Tables::by_hand(&["load"], "slowdown_max", &cells);
        judge(0, &read(text).unwrap_or_else(|e| panic!("{e}")), &tables, Mode::Full).remove(0)
    };
    let v = judged(&maxima);
    let words = "median of maxima 512 [476, 544], largest 560 (10 runs)";
    assert_eq!((v.outcome, v.measured.as_str()), (YES, words));
    let v = judged(&maxima[..5]);
    let why = "5 seeds: the median of maxima has an interval from 6 on";
    assert_eq!((v.outcome, v.why.as_str()), (OPEN, why));
}

/// Worked example 6: 168 of 1000 against 312, 46.2 % fewer [39.6, 52.0].
#[test]
fn shares_of_runs_are_counts_within_seeds() {
    let groups = [(150, 1.0, 1.0), (162, 0.0, 1.0), (18, 1.0, 0.0), (670, 0.0, 0.0)];
    let all = |of: fn(&(usize, f64, f64)) -> f64| -> Vec<f64> {
        groups.iter().flat_map(|g| vec![of(g); g.0]).collect()
    };
    let (ofc, pfc) = (all(|g| g.1), all(|g| g.2));
    let cells: [(&str, &[&str], &[f64]); 2] = [("A", &["60"], &ofc), ("B", &["60"], &pfc)];
    let tables = Tables::by_hand(&["load"], "deadlock", &cells);
    let text = "metric = \"deadlock\"\nat = { load = 60 }\nkind = \"reduction\"\nof = \"A\"\n\
        against = \"B\"\npaper = 0.45";
    let claim = read(text).unwrap_or_else(|e| panic!("{e}"));
    let v = judge(0, &claim, &tables, Mode::Full).remove(0);
    assert_eq!(v.outcome, YES);
    assert_eq!(v.measured, "168 of 1000 against 312: 46.2 % fewer [39.6, 52.0]");
}

/// Seeds differ tenfold, but A is 20 % below B in each: the interval has no width.
#[test]
fn what_all_variants_of_a_seed_have_in_common_cancels_out() {
    let text = "kind = \"reduction\"\nof = \"A\"\nagainst = \"B\"\npaper = 0.2";
    let v = random(text, &[("A", &[0.8, 8.0, 2.4]), ("B", &[1.0, 10.0, 3.0])]);
    let i = v.interval.expect("three seeds");
    assert!(i.high - i.low < 1e-12 && (i.low - 0.2).abs() < 1e-12, "{i:?}");
}

/// Two experiments of a paper.
struct Two(Tables, Tables);

impl super::Library for Two {
    fn tables(&self, experiment: &str) -> Option<&Tables> {
        match experiment {
            "X" => Some(&self.0),
            "Y" => Some(&self.1),
            _ => None,
        }
    }
}

/// In X the reduction is a half, in Y a tenth; seeds that only one of them has do not count.
#[test]
fn a_gain_is_compared_with_that_of_another_experiment() {
    let table = |a: &[f64], b: &[f64]| {
        let cells: [(&str, &[&str], &[f64]); 2] = [("A", &["60"], a), ("B", &["60"], b)];
        Tables::by_hand(&["load"], "slowdown_mean", &cells)
    };
    let two = Two(
        table(&[5.0, 5.1, 4.9, 9.0], &[10.0, 10.1, 9.9, 9.0]),
        table(&[9.0, 9.2, 8.9], &[10.0, 10.1, 9.9]),
    );
    let text = |direction: &str| {
        format!(
            "at = {{ load = 60 }}\nkind = \"contrast\"\nof = \"A\"\nagainst = \"B\"\n\
             than = \"Y\"\ndirection = \"{direction}\""
        )
    };
    let v = judge(0, &claim(&text("larger")), &two, Mode::Full).remove(0);
    assert_eq!((&v.outcome, v.seeds), (&YES, 3), "{v:?}");
    assert!(v.measured.starts_with("+40"), "{}", v.measured);
    assert_eq!(judge(0, &claim(&text("smaller")), &two, Mode::Full).remove(0).outcome, NO);
    let ordering = "at = { load = 60 }\nkind = \"ordering\"\n\
        order = [\"A\", { variant = \"A\", experiment = \"Y\" }]";
    let v = judge(0, &claim(ordering), &two, Mode::Full).remove(0);
    assert_eq!((v.outcome, v.paper.as_str()), (YES, "A < A (Y)"));
    assert!(v.rows[1].starts_with("Y: variant=A load=60 [slowdown_mean]"), "{:?}", v.rows);
}

/// A gain may be compared with that in another metric: the tail gains more than the median.
#[test]
fn a_gain_is_compared_with_that_in_another_metric() {
    let table = |metric: &'static str, a: &[f64], b: &[f64]| {
        let cells: [(&str, &[&str], &[f64]); 2] = [("A", &["60"], a), ("B", &["60"], b)];
        Tables::by_hand(&["load"], metric, &cells)
    };
    let two = Two(
        table("slowdown_p99", &[5.0, 5.1, 4.9], &[10.0, 10.1, 9.9]),
        table("slowdown_p50", &[9.0, 9.2, 8.9], &[10.0, 10.1, 9.9]),
    );
    let text = "at = { load = 60 }\nkind = \"contrast\"\nof = \"A\"\nagainst = \"B\"\n\
        metric = \"slowdown_p99\"\nthan = \"Y\"\nthan-metric = \"slowdown_p50\"\n\
        direction = \"larger\"";
    let claim = read(text).unwrap_or_else(|e| panic!("{e}"));
    let v = judge(0, &claim, &two, Mode::Full).remove(0);
    assert_eq!(v.outcome, YES, "{v:?}");
    assert!(v.rows.iter().any(|r| r.contains("[slowdown_p50]")), "{:?}", v.rows);
    assert!(claim.quantity().ends_with("here and in Y (slowdown_p50)"), "{}", claim.quantity());
    let words = claim.quantity_words();
    assert!(words.ends_with("here and in Y (median slowdown)"), "{words}");
}
