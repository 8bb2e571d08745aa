use super::*;
use crate::verdict::ClaimOutcome;
use weir_stats::verdict::Judgement;

#[test]
fn texts_do_not_become_markup() {
    assert_eq!(plain("a | b\n <c> *d* `e` [f] 5~6"), r"a \| b \<c\> \*d\* `e` \[f\] 5\~6");
    assert_eq!(paragraphs("one\ntwo\n\nthree\n"), "one two\n\nthree\n\n");
}

fn published(id: &str, verdicts: &[(&str, &str, Judgement)]) -> Published {
    let row = |(claim, variant, judgement): &(&str, &str, Judgement)| VerdictRow {
        claim: (*claim).into(),
        place: "Fig. 1".into(),
        says: format!("says {claim}"),
        sort: Sort::Number,
        reading: String::new(),
        variant: (*variant).into(),
        primary: *variant != "y",
        calibrated: false,
        own: false,
        stated: "5 %".into(),
        measured: "6 %".into(),
        outcome: ClaimOutcome::Judged(*judgement),
        why: String::new(),
        needed: None,
    };
    let entry = Entry { paper: "p".into(), id: id.into(), own: false, runs: 3 };
    Published {
        entry,
        verdicts: verdicts.iter().map(row).collect(),
        by_means: false,
        outdated: false,
    }
}

#[test]
fn the_summary_counts_the_primary_reading_first_and_marks_what_has_no_intervals() {
    let one = published(
        "P-1",
        &[("a", "x", Judgement::Reproduced), ("a", "y", Judgement::NotReproduced)],
    );
    let mut two = published("P-2", &[("a", "", Judgement::NotDistinguishable)]);
    two.by_means = true;
    let all = [one, two];
    let page = summary(&all, &[]);
    assert!(page.contains("| [p](p.md) | numbers | 1 |  |  | 1 |  |  | 1 |  |\n"), "{page}");
    assert!(page.contains("2 experiments, 6 runs."), "{page}");
    assert!(page.contains("| [P-2](p.md#p-2) \\* |  | 3 | 0 / 0 / 0 / 1 |"), "{page}");
    assert!(page.contains("1 experiment (marked *) was published before values"), "{page}");
    let open = String::from_utf8(published::not_reproduced(&all, &[])).expect("text");
    assert_eq!(
        open,
        "paper,experiment,claim,kind,reading,reading_words,calibrated,own_check,explained_by\n\
         p,P-1,a,number,other,y,false,false,unexplained\n"
    );
}
