//! Every kind of claim, and each of its outcomes.

use super::claim::{self, Claim};
use super::select::Scope;
use super::tables::Tables;
use super::verdict::{Outcome, Verdict, judge};
use weir_scenario::text::{Diagnostics, Sources};

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
    let claims = claim::read(&sources, id, &[&scope()], &mut out);
    match claims.into_iter().next() {
        Some(claim) if !out.has_errors() => Ok(claim),
        _ => Err(out.render(&sources, false)),
    }
}

fn claim(text: &str) -> Claim {
    read(&format!("metric = \"slowdown_mean\"\n{text}")).unwrap_or_else(|e| panic!("{e}"))
}

/// At one load: a number per variant, one seed.
fn at_60(text: &str, numbers: &[(&str, f64)]) -> Verdict {
    let text = format!("at = {{ load = 60 }}\n{text}");
    let cells: Vec<_> = numbers.iter().map(|(v, x)| (*v, vec![*x])).collect();
    let cells: Vec<_> = cells.iter().map(|(v, x)| (*v, &["60"][..], x.as_slice())).collect();
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    judge(0, &claim(&text), &tables, false).remove(0)
}

/// Over loads 40, 60 and 80: three numbers per variant, one seed.
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
    judge(0, &claim(&text), &tables, false).remove(0)
}

const YES: Outcome = Outcome::Reproduced;
const HALF: Outcome = Outcome::SameDirection;
const NO: Outcome = Outcome::NotReproduced;

#[test]
fn a_value_is_within_the_margin_or_a_factor_of_two() {
    // 10 % of 2.0 by default: 1.8 to 2.2; a factor of two: 1 to 4
    for (x, expected) in [(2.19, YES), (1.81, YES), (2.3, HALF), (3.9, HALF), (4.1, NO), (0.9, NO)]
    {
        let v = at_60("kind = \"value\"\nof = \"A\"\npaper = 2.0", &[("A", x)]);
        assert_eq!(v.outcome, expected, "{x}");
        assert_eq!(v.value, Some(x));
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
    // a share of 1 % is near within 2 points at least, and no more
    let small = "kind = \"reduction\"\nof = \"A\"\nagainst = \"B\"\npaper = 0.01";
    assert_eq!(at_60(small, &[("A", 97.1), ("B", 100.0)]).outcome, YES);
    assert_eq!(at_60(small, &[("A", 96.0), ("B", 100.0)]).outcome, HALF);
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
fn a_ratio_to_nothing_is_infinite_and_of_nothing_to_nothing_is_none() {
    let text = "kind = \"ratio\"\nof = \"A\"\nagainst = \"B\"\npaper = 4.0";
    let v = at_60(text, &[("A", 0.0), ("B", 2.0)]);
    assert_eq!((v.outcome, v.value), (HALF, None));
    let v = at_60(text, &[("A", 0.0), ("B", 0.0)]);
    assert_eq!((v.outcome, v.measured.as_str()), (NO, "both are 0"));
    let quotient = "kind = \"monotone\"\nof = \"A\"\nagainst = \"B\"\ndirection = \"rising\"";
    let v = over_load(quotient, &[("A", [0.0, 1.0, 2.0]), ("B", [0.0, 1.0, 1.0])]);
    assert_eq!((v.outcome, v.measured.as_str()), (NO, "both are 0"));
}

#[test]
fn up_to_is_the_largest_and_every_one_means_every_one() {
    let text = |pick: &str| {
        format!("kind = \"ratio\"\nof = \"A\"\nagainst = [\"B\", \"C\"]\npaper = 3.0\n{pick}")
    };
    // B/A and C/A over loads: 1.5, 2, 3 and 1.2, 2, 2
    let numbers = [("A", [1.0; 3]), ("B", [1.5, 2.0, 3.0]), ("C", [1.2, 2.0, 2.0])];
    assert_eq!(over_load(&text("pick = \"max\""), &numbers).outcome, YES);
    assert_eq!(over_load(&text("pick = \"min\""), &numbers).value, Some(1.2));
    let mean = over_load(&text("pick = \"mean\""), &numbers).value.expect("a number");
    assert!((mean - 11.7 / 6.0).abs() < 1e-12, "{mean}");
    assert_eq!(over_load(&text(""), &numbers).outcome, HALF);
    assert_eq!(over_load(&text(""), &numbers).measured, "1.20 times to 3.00 times");
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
fn an_order_holds_everywhere_or_in_the_mean() {
    let text = "kind = \"ordering\"\norder = [\"A\", \"B\"]";
    let b = ("B", [2.0, 2.0, 2.0]);
    assert_eq!(over_load(text, &[("A", [1.0, 1.5, 1.9]), b]).outcome, YES);
    let v = over_load(text, &[("A", [1.0, 1.5, 2.1]), b]);
    assert_eq!(v.outcome, HALF);
    assert_eq!(v.measured, "A 1.53, B 2.00 in the mean; holds at 2 of 3 points");
    assert_eq!(over_load(text, &[("A", [2.5, 1.5, 2.1]), b]).outcome, NO);
    // at one point there is no mean to fall back on
    assert_eq!(at_60(text, &[("A", 2.0), ("B", 2.0)]).outcome, NO);
    let loose = format!("{text}\nstrict = false");
    assert_eq!(at_60(&loose, &[("A", 2.0), ("B", 2.0)]).outcome, YES);
    assert_eq!(at_60(&loose, &[("A", 2.1), ("B", 2.0)]).outcome, NO);
    let margin = format!("{loose}\nmargin = \"10%\"");
    assert_eq!(at_60(&margin, &[("A", 2.1), ("B", 2.0)]).outcome, YES);
}

#[test]
fn flat_is_the_spread_over_the_mean() {
    let text = "kind = \"flat\"\nof = \"A\"\npaper = 0.1";
    // (max - min) / mean
    assert_eq!(over_load(text, &[("A", [1.0, 1.05, 1.1])]).outcome, YES);
    assert_eq!(over_load(text, &[("A", [1.0, 1.1, 1.2])]).outcome, HALF);
    assert_eq!(over_load(text, &[("A", [1.0, 1.5, 2.0])]).outcome, NO);
    let against = "kind = \"flat\"\nof = \"A\"\nagainst = \"B\"\npaper = 0.1";
    let both = [("A", [1.0, 2.0, 4.0]), ("B", [2.0, 4.0, 8.0])];
    assert_eq!(over_load(against, &both).value, Some(0.0));
}

#[test]
fn monotone_is_every_step_or_from_end_to_end() {
    let text = "kind = \"monotone\"\nof = \"A\"\ndirection = \"rising\"";
    assert_eq!(over_load(text, &[("A", [1.0, 1.5, 2.0])]).outcome, YES);
    // half a percent down is a tie
    assert_eq!(over_load(text, &[("A", [1.0, 0.995, 2.0])]).outcome, YES);
    assert_eq!(over_load(text, &[("A", [1.0, 3.0, 2.0])]).outcome, HALF);
    assert_eq!(over_load(text, &[("A", [2.0, 3.0, 1.0])]).outcome, NO);
    assert_eq!(over_load(text, &[("A", [2.0, 2.0, 2.0])]).outcome, NO);
    let falling = "kind = \"monotone\"\nof = \"A\"\nagainst = \"B\"\ndirection = \"falling\"";
    let v = over_load(falling, &[("A", [1.0, 1.0, 1.0]), ("B", [1.0, 2.0, 4.0])]);
    assert_eq!((v.outcome, v.measured.as_str()), (YES, "1.00 at 40, 0.50 at 60, 0.25 at 80"));
}

#[test]
fn equal_is_within_the_margin_or_a_quarter() {
    let text = "kind = \"equal\"\nof = \"A\"\nagainst = \"B\"";
    for (a, expected) in [(1.09, YES), (0.91, YES), (1.2, HALF), (0.76, HALF), (1.3, NO)] {
        assert_eq!(at_60(text, &[("A", a), ("B", 1.0)]).outcome, expected, "{a}");
    }
    assert_eq!(at_60(text, &[("A", 0.0), ("B", 0.0)]).outcome, YES);
    let v = over_load(text, &[("A", [1.0, 1.05, 1.2]), ("B", [1.0; 3])]);
    assert_eq!((v.outcome, v.measured.as_str()), (HALF, "0.0 % to +20.0 %"));
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
fn a_straight_line_explains_the_variance() {
    let text = "kind = \"linear\"\nof = \"A\"";
    let v = over_load(text, &[("A", [1.0, 2.0, 3.0])]);
    assert_eq!((v.outcome, v.value), (YES, Some(1.0)));
    // R² of 1, 1.1, 10 over 40, 60, 80 is 0.76, and it rises
    assert_eq!(over_load(text, &[("A", [1.0, 1.1, 10.0])]).outcome, HALF);
    assert_eq!(over_load(text, &[("A", [1.0, 3.0, 2.0])]).outcome, NO);
    assert_eq!(over_load(text, &[("A", [3.0, 2.0, 1.0])]).outcome, NO);
}

#[test]
fn what_is_not_measured_says_why() {
    let claim = read("kind = \"not-measured\"\nwhy = \"no such switch\"").expect("a claim");
    let v = judge(0, &claim, &Tables::default(), false).remove(0);
    assert_eq!(v.outcome, Outcome::NotMeasured("no such switch".into()));
}

#[test]
fn several_readings_are_several_verdicts() {
    let claim = claim("kind = \"value\"\nat = { load = 60 }\nof = [\"A\", \"B\"]\npaper = 2.0");
    let cells: [(&str, &[&str], &[f64]); 2] = [("A", &["60"], &[2.0]), ("B", &["60"], &[9.0])];
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    let all = judge(3, &claim, &tables, false);
    let found: Vec<_> = all.iter().map(|v| (v.claim, v.reading.as_str(), &v.outcome)).collect();
    assert_eq!(found, [(3, "A", &YES), (3, "B", &NO)]);
}

#[test]
fn a_number_that_is_missing_is_said_and_never_left_out() {
    let text = "kind = \"equal\"\nof = \"A\"\nagainst = \"B\"";
    let v = at_60(text, &[("A", 1.0)]);
    assert_eq!(v.outcome, Outcome::Missing("there are no runs of B (load = 60)".into()));
    let v = at_60(text, &[("A", f64::NAN), ("B", 1.0)]);
    let why = "A (load = 60), seed 1: it has no `slowdown_mean`";
    assert_eq!(v.outcome, Outcome::Missing(why.into()));
    // a quick run leaves out what it says it does; a figure that a run lacks is missing all the
    // same
    let text = format!("at = {{ load = 60 }}\n{text}");
    let cells: [(&str, &[&str], &[f64]); 1] = [("A", &["60"], &[1.0])];
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    let quick = judge(0, &claim(&text), &tables, true).remove(0).outcome;
    assert_eq!(quick, Outcome::LeftOut("there are no runs of B (load = 60)".into()));
}

/// The interval of a mean is Student's: 1, 2, 3 have 2 ± 2.484 (see `stats`).
#[test]
fn the_interval_of_a_value_is_students() {
    let claim = claim("kind = \"value\"\nat = { load = 60 }\nof = \"A\"\npaper = 2.0");
    let cells: [(&str, &[&str], &[f64]); 1] = [("A", &["60"], &[1.0, 2.0, 3.0])];
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    let v = judge(0, &claim, &tables, false).remove(0);
    let (low, high) = v.interval.expect("three seeds");
    assert!((low + 0.4843).abs() < 1e-3 && (high - 4.4843).abs() < 1e-3, "{low} {high}");
    assert_eq!((v.runs, v.measured.as_str()), (3, "2.00 ± 2.48"));
}

/// Seeds differ tenfold, but A is 20 % below B in each: the interval has no width.
#[test]
fn what_all_variants_of_a_seed_have_in_common_cancels_out() {
    let claim =
        claim("kind = \"reduction\"\nat = { load = 60 }\nof = \"A\"\nagainst = \"B\"\npaper = 0.2");
    let cells: [(&str, &[&str], &[f64]); 2] =
        [("A", &["60"], &[0.8, 8.0, 2.4]), ("B", &["60"], &[1.0, 10.0, 3.0])];
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    let v = judge(0, &claim, &tables, false).remove(0);
    let (low, high) = v.interval.expect("three seeds");
    assert!(high - low < 1e-12 && (low - 0.2).abs() < 1e-12, "{low} {high}");
}

#[test]
fn mistakes_are_shown_with_their_line_and_the_nearest_name() {
    let value = "kind = \"value\"\npaper = 1\nat = { load = 60 }\n";
    for (text, expected) in [
        (format!("{value}metric = \"slowdown_mena\"\nof = \"A\""), "did you mean `slowdown_mean`?"),
        (format!("{value}metric = \"slowdown_mean\"\nof = \"D\""), "no variant of X `D`"),
        (
            format!(
                "{value}metric = \"slowdown_mean\"\nclass = \"victims\"\nof = \
             \"A\""
            ),
            "`victim`?",
        ),
        (format!("{value}metric = \"finish\"\nof = \"A\""), "no metric of runs `finish`"),
        ("kind = \"valeu\"".into(), "did you mean `value`?"),
        (
            "kind = \"value\"\nmetric = \"fct_mean_ps\"\npaper = \"1KB\"\nof = \"A\"\nat = { load \
             = 60 }"
                .into(),
            "wrong unit",
        ),
        (
            "kind = \"value\"\nmetric = \"fct_mean_ps\"\npaper = 1\nof = \"A\"".into(),
            "which \
             `load`?",
        ),
        (
            "kind = \"value\"\nmetric = \"fct_mean_ps\"\npaper = 1\nof = \"A\"\nat = { load = 50 \
             }"
            .into(),
            "its values are 40, 60, 80",
        ),
        (
            "kind = \"value\"\nmetric = \"fct_mean_ps\"\npaper = 1\nof = \"A\"\nat = { laod = 60 \
             }"
            .into(),
            "did you mean `load`?",
        ),
        (
            "kind = \"flat\"\nmetric = \"fct_mean_ps\"\npaper = 1\nof = \"A\"\nat = { load = 60 \
             }"
            .into(),
            "needs `over`",
        ),
        (
            "kind = \"monotone\"\nmetric = \"fct_mean_ps\"\nof = \"A\"\nover = \
             \"load\""
                .into(),
            "`direction`",
        ),
        ("kind = \"not-measured\"\nwhy = \"x\"\nof = \"A\"".into(), "does not use `of`"),
        ("kind = \"not-measured\"".into(), "needs `why`"),
    ] {
        let message = read(&text).expect_err(&text);
        let placed = message.contains("claims.toml:");
        assert!(message.contains(expected) && placed, "{text}\n{message}");
    }
}

/// `weir paper claims` shows rules before anything is run.
#[test]
fn rules_are_words() {
    let claim = claim(
        "kind = \"ratio\"\nof = \"A\"\nagainst = [\"B\", \"C\"]\npaper = 3.0\nover = \
         \"load\"\npick = \"max\"",
    );
    assert_eq!(claim.paper(), "up to 3.00 times");
    assert_eq!(claim.quantity(), "slowdown_mean: (B, C) / (A), over load");
    let rule = "reproduced within a factor of 1.25 of up to 3.00 times; same direction above 1";
    assert_eq!(claim.rule_words(), rule);
}

/// What all operands have in common is said once, what distinguishes them beside each.
#[test]
fn operands_are_named_by_what_distinguishes_them() {
    let c = claim(
        "kind = \"ordering\"\nat = { load = 60 }\n\
         order = [{ variant = \"A\", class = \"victim\" }, \"A\", \"B\"]",
    );
    assert_eq!(c.paper(), "A (class victim) < A < B");
    assert_eq!(c.quantity(), "slowdown_mean (load = 60): A (class victim), A, B");
    let c =
        claim("kind = \"equal\"\nclass = \"victim\"\nover = \"load\"\nof = \"A\"\nagainst = \"B\"");
    assert_eq!(c.quantity(), "slowdown_mean (class victim): A against B, over load");
    let text =
        "kind = \"limit\"\nat = { load = 60 }\nof = [\"A\", \"B\"]\nbound = \"most\"\npaper = 2";
    let cells: &[(&str, &[&str], &[f64])] = &[("A", &["60"], &[1.0]), ("B", &["60"], &[3.0])];
    let tables = Tables::by_hand(&["load"], "slowdown_mean", cells);
    let verdicts = judge(0, &claim(text), &tables, false);
    assert_eq!(verdicts.iter().map(|v| v.reading.as_str()).collect::<Vec<_>>(), ["A", "B"]);
}

#[test]
fn numbers_have_their_unit_once_and_nothing_has_no_sign() {
    let at = |load| ("A", [load], vec![]);
    let mut cells = ["40", "60", "80"].map(at);
    for (i, (_, _, numbers)) in cells.iter_mut().enumerate() {
        let x = i as f64;
        *numbers = vec![1.0 + x, 1.1 + x * x * 0.6, 1.0 + x * 1.2];
    }
    let cells: Vec<_> = cells.iter().map(|(v, at, x)| (*v, &at[..], x.as_slice())).collect();
    let tables = Tables::by_hand(&["load"], "slowdown_mean", &cells);
    let line = claim("kind = \"linear\"\nof = \"A\"\nover = \"load\"");
    let measured = judge(0, &line, &tables, false).remove(0).measured;
    assert!(measured.starts_with("R² = 0.9") && measured.contains(" ± 0."), "{measured}");
    assert_eq!(measured.matches("R²").count(), 1, "{measured}");

    let two: &[(&str, &[&str], &[f64])] =
        &[("A", &["60"], &[1.0, 1.1]), ("B", &["60"], &[3.0, 3.5])];
    let tables = Tables::by_hand(&["load"], "slowdown_mean", two);
    let text = "kind = \"ratio\"\nat = { load = 60 }\nof = \"A\"\nagainst = \"B\"\npaper = 3";
    let measured = judge(0, &claim(text), &tables, false).remove(0).measured;
    assert!(measured.starts_with("3.10 ± ") && measured.ends_with(" times"), "{measured}");
    assert_eq!(measured.matches("times").count(), 1, "{measured}");

    // less than half a tenth of a percent is neither + nor -, and a range of such is one number
    let near = |x: f64| 1.0 + x * 1e-5;
    let equal = "kind = \"equal\"\nof = \"A\"\nagainst = \"B\"";
    let b = ("B", [1.0, 1.0, 1.0]);
    let v = over_load(equal, &[("A", [near(-1.0), near(0.0), near(2.0)]), b]);
    assert_eq!(v.measured, "0.0 %");
    let v = over_load(equal, &[("A", [0.98, 1.0, near(2.0)]), b]);
    assert_eq!(v.measured, "-2.0 % to 0.0 %");
    let reduction = "kind = \"reduction\"\nof = \"A\"\nagainst = \"B\"\npaper = 0.1";
    let v = over_load(reduction, &[("A", [near(2.0), near(1.0), 0.95]), b]);
    assert_eq!(v.measured, "0.0 % to 5.0 %");
}
