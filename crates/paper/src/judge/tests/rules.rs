//! What is refused when claims are read, and how rules and operands are called.

use super::*;

#[test]
fn rules_that_cannot_fail_are_refused_when_they_are_read() {
    for (text, expected) in [
        (
            "kind = \"limit\"\nmetric = \"fct_mean_ps\"\nbound = \"least\"\npaper = \"1ps\"",
            "cannot fail",
        ),
        ("kind = \"limit\"\nmetric = \"dropped\"\nbound = \"least\"\npaper = 0", "cannot fail"),
        ("kind = \"limit\"\nmetric = \"deadlock\"\nbound = \"most\"\npaper = 1", "cannot fail"),
        (
            "kind = \"equal\"\nmetric = \"slowdown_mean\"\nagainst = \"B\"\nmargin = 0.5",
            "the margin contains no effect",
        ),
        (
            "kind = \"reduction\"\nmetric = \"slowdown_mean\"\nagainst = \"B\"\npaper = 0.01",
            "the margin contains no effect",
        ),
        (
            "kind = \"contrast\"\nmetric = \"slowdown_mean\"\nagainst = \"B\"\nthan = \"X\"\n\
             direction = \"larger\"",
            "the claim's own experiment",
        ),
    ] {
        let text = format!("{text}\nat = {{ load = 60 }}\nof = \"A\"");
        let message = read(&text).expect_err(&text);
        assert!(message.contains(expected) && message.contains("claims.toml:"), "{message}");
    }
    let possible = |text: &str| claim(&format!("{text}\nof = \"A\"")).possible.names().len();
    assert_eq!(possible("kind = \"value\"\nat = { load = 60 }\npaper = 2"), 4);
    // no number, no size
    assert_eq!(possible("kind = \"flat\"\nover = \"load\"\npaper = 0.1"), 3);
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
    // pages have words for metrics, which files name
    assert_eq!(claim.quantity_words(), "mean slowdown: (B, C) / (A), over load");
    let rule = "reproduced if the interval is within a factor of 1.25 of up to 3.00 times; same \
        direction if all of it is on the same side of 1";
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
    let verdicts = judge(0, &claim(text), &tables, Mode::Full);
    assert_eq!(verdicts.iter().map(|v| v.reading.as_str()).collect::<Vec<_>>(), ["A", "B"]);
}
