use super::*;
use weir_stats::verdict::Judgement;

const YES: Judgement = Judgement::Reproduced;
const NO: Judgement = Judgement::NotReproduced;

fn row_of(marks: &[(&str, Judgement)]) -> ClaimRow {
    let text = |t: &str| t.to_owned();
    let finding = |(variant, judgement): &(&str, Judgement)| Finding {
        variant: text(variant),
        measured: text("24 % ± 1"),
        outcome: ClaimOutcome::Judged(*judgement),
        words: text(ClaimOutcome::Judged(*judgement).name()),
        rows: vec![(text("classes.csv"), text("a/a-1/classes.csv"))],
        which: text("A-1: variant=\"x\""),
    };
    ClaimRow {
        id: text("c"),
        place: text("Fig. 1"),
        says: text("a < b & \"c\""),
        reading: String::new(),
        paper: text("26 %"),
        quantity: text("fct_mean_ps (class victim)"),
        rule: text("within 25 %"),
        findings: marks.iter().map(finding).collect(),
        calibrated: false,
        changed: false,
        quick: false,
        unexplained: false,
        discussion: String::new(),
        discussed: vec![text("a-why-1")],
    }
}

fn lab() -> Vec<ShownPaper> {
    let four = |reproduced, not_reproduced| Four { reproduced, not_reproduced, ..Four::default() };
    let counts = Counts {
        statements: 2,
        primary: [four(2, 1), Four::default(), Four::default()],
        calibrated: 4,
        own: four(5, 6),
        ..Counts::default()
    };
    let claims = vec![row_of(&[("", YES)]), row_of(&[("x", NO), ("y", YES)])];
    let why = Why {
        id: "a-why-1".into(),
        title: "A < B".into(),
        text: "because\n\nof it".into(),
        sensitivity: vec!["A-1S".into()],
    };
    let section = Section {
        id: "A-1".into(),
        title: "t".into(),
        place: "Fig. 1".into(),
        shows: "one\n\ntwo <b>".into(),
        scaled: "one seed.".into(),
        runs: "3 of 3 runs".into(),
        trouble: vec!["a run failed".into()],
        command: "weir paper run A-1".into(),
        files: vec![("a.toml".into(), "x = \"<y>\"".into())],
        figures: Vec::new(),
        claims,
        counts,
        discussions: vec![why],
    };
    vec![ShownPaper {
        id: "a".into(),
        short: "A".into(),
        title: "On A".into(),
        notes: String::new(),
        counts,
        sections: vec![section],
        explained: Vec::new(),
    }]
}

fn shown(parts: &[ShownPaper], mode: &str) -> String {
    page(parts, &parts[0].counts, &Head { mode, changed: "", version: "1.0" })
}

#[test]
fn kinds_are_counted_apart_and_own_checks_too() {
    let page = shown(&lab(), "quick");
    assert!(page.contains("Primary reading: of 3 numbers 2 reproduced"), "{page}");
    // what no experiment has is no column
    let row = "<a href=\"#a\">A</a></td><td>2</td><td>2 / 0 / 1 / 0</td><td></td><td></td>\
        <td>4</td><td>5 / 0 / 6 / 0</td></tr>";
    assert!(page.contains(row), "{page}");
}

/// Each verdict links to the rows that decide it.
#[test]
fn a_verdict_links_to_its_rows() {
    let row = claim(&row_of(&[("", YES)])).into_string();
    let link = "href=\"a/a-1/classes.csv\" title=\"A-1: variant=&quot;x&quot;\">classes.csv</a>";
    assert!(row.contains(link), "{row}");
}

/// What the findings of a statement share stands once beside all of them.
#[test]
fn a_statement_stands_once_beside_its_readings() {
    let row = claim(&row_of(&[("x", NO), ("y", YES)])).into_string();
    for (text, times) in [
        ("fct_mean_ps (class victim)", 1),
        ("rowspan=\"2\"", 3),
        ("<tr", 2),
        ("</tr>", 2),
        ("<span class=\"soft\">x:</span>", 1),
        ("href=\"#a-why-1\"", 2),
    ] {
        assert_eq!(row.matches(text).count(), times, "{text}: {row}");
    }
    assert!(!claim(&row_of(&[("", YES)])).into_string().contains("rowspan"));
}

#[test]
fn results_stand_before_counts() {
    let page = shown(&lab(), "full");
    let at = |text: &str| page.find(text).expect(text);
    assert!(at("class=\"answer\"") < at("id=\"A-1\""));
    assert!(at("id=\"A-1\"") < at("id=\"verdicts\""));
}

#[test]
fn one_experiment_is_not_plural() {
    assert_eq!(answer(&Counts::default()), "No statement was judged.");
    assert!(shown(&lab(), "full").contains("full run · 1 experiment "));
}

/// At the top, and at each verdict.
#[test]
fn changed_settings_are_marked_at_the_top_and_at_each_verdict() {
    let mut parts = lab();
    parts[0].sections[0].claims.iter_mut().for_each(|c| c.changed = true);
    let head = Head { mode: "full", changed: "link.rate=<1>", version: "1.0" };
    let page = page(&parts, &parts[0].counts, &head);
    let banner = page.find("every run had <code>link.rate=&lt;1&gt;</code>").expect("a banner");
    assert!(banner < page.find("id=\"A-1\"").expect("a section"));
    // three verdicts
    assert_eq!(page.matches("changed settings</span>").count(), 3);
    assert!(!shown(&lab(), "full").contains("Changed settings"));
}

#[test]
fn a_discussion_says_what_tests_it() {
    let page = shown(&lab(), "full");
    assert!(page.contains("id=\"a-why-1\"") && page.contains("<h4>A &lt; B</h4>"));
    assert!(page.contains("<p>because</p>\n<p>of it</p>"));
    assert!(page.contains("<p class=\"soft\">Tested by <a href=\"#A-1S\">A-1S</a>.</p>"));
}

/// At each verdict of a quick run, and at each that is not reproduced and that nothing tests.
#[test]
fn quick_verdicts_and_unexplained_ones_say_so() {
    let mut parts = lab();
    parts[0].sections[0].claims.iter_mut().for_each(|c| (c.quick, c.unexplained) = (true, true));
    let page = shown(&parts, "quick");
    assert_eq!(page.matches("class=\"quick\">quick</span>").count(), 3);
    assert_eq!(page.matches("unexplained</span>").count(), 1);
}

#[test]
fn text_between_backticks_is_code() {
    assert_eq!(marked_up("run `a <b>` now").into_string(), "run <code>a &lt;b&gt;</code> now");
    assert_eq!(marked_up("one ` alone").into_string(), "one ` alone");
}

#[test]
fn texts_of_users_are_text_and_a_quick_run_says_so() {
    let page = shown(&lab(), "quick");
    assert!(page.contains("a &lt; b &amp; &quot;c&quot;") && page.contains("<p>two &lt;b&gt;</p>"));
    assert!(page.contains("Quick: one seed.</p>") && page.contains("A quick run"));
    assert!(page.contains("a run failed"));
    let mut full = lab();
    full[0].sections[0].scaled.clear();
    assert!(!shown(&full, "full").contains("A quick run"));
}
