//! What `explain.toml` may say, on the example of the book.

use crate::explanation::{Combination, Design, Explanation};
use crate::{Mode, Paper};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A copy of the example with this `explain.toml`, in a directory that is removed at the end.
struct Copy(PathBuf);

impl Copy {
    fn new(text: &str) -> Self {
        // tests of this file run beside each other
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let (id, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let to = std::env::temp_dir().join(format!("weir-explain-{id}-{next}"));
        std::fs::create_dir_all(&to).expect("a directory");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/my-paper");
        for entry in std::fs::read_dir(from).expect("the example") {
            let entry = entry.expect("readable");
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
        std::fs::write(to.join(super::FILE), text).expect("written");
        Self(to)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn load(text: &str) -> Result<Paper, String> {
    let copy = Copy::new(text);
    Paper::load(&copy.0).map_err(|p| p.to_string())
}

const HEAD: &str = "[[explain]]
id = \"spare\"
title = \"What would spare bystanders?\"
experiments = [\"MY-1\"]
variants = [\"OFC\"]
seeds = \"1..3\"
fresh-seeds = \"11..13\"
";

const FACTORS: &str = "
[[explain.factor]]
name = \"lower threshold\"
where = \"Section 4: not given\"
level = [
    { label = \"90 %\", primary = true },
    { label = \"50 %\", alpha = 0.5, contradicts = \"Table 2\" },
]

[[explain.factor]]
name = \"links\"
where = \"Section 5\"
applies = \"all\"
level = [
    { label = \"short\", primary = true },
    { label = \"long\", topology.delay = \"1us\", full = { topology.delay = \"2us\" } },
]
";

const LONG: &str =
    "{ label = \"long\", topology.delay = \"1us\", full = { topology.delay = \"2us\" } },";

fn one() -> (Paper, Explanation) {
    let paper = load(&format!("{HEAD}{FACTORS}")).expect("read");
    let explanation = paper.explanations[0].clone();
    (paper, explanation)
}

#[test]
fn an_explanation_has_the_claims_that_its_factors_can_move() {
    let (paper, e) = one();
    let ids: Vec<&str> = e.claims.iter().map(|i| paper.claims[*i].id.as_str()).collect();
    // not what is not measured, nor what is about another experiment
    assert_eq!(ids, ["bystanders", "gain", "middle", "queue", "state"]);
    assert_eq!((e.count(), e.design(), e.seeds.len()), (4, Design::Full, 3));
    assert_eq!(e.factors[1].applies, super::Applies::ToAll);
    assert_eq!(e.factors[0].levels[1].contradicts, "Table 2");
    let named = load(&format!("{HEAD}claims = [\"ga*\"]\nquantities = [\"gain\"]\n{FACTORS}"));
    let named = named.expect("read");
    assert_eq!(named.explanations[0].claims, named.explanations[0].quantities);
}

/// A level changes parameters of the variant's scheme and keys of the scenario; what applies to all
/// changes PFC, too.
#[test]
fn a_combination_changes_the_variants_that_its_factors_apply_to() {
    let (paper, e) = one();
    let grid = paper.experiments[0].grid(Mode::Quick).expect("a grid");
    let both = Combination(vec![1, 1]);
    let changed = |i: usize, mode: Mode| {
        let v = e.variant(&paper.experiments[0], &grid.variants[i], &both, mode);
        let sets: Vec<String> = v.changes.iter().map(weir_scenario::variant::Change::set).collect();
        (v.label, sets)
    };
    let delay = "topology.delay=1us".to_owned();
    assert_eq!(changed(0, Mode::Quick), ("PFC [1]".to_owned(), vec![delay.clone()]));
    let alpha = "flow-control.ofc.alpha=0.5".to_owned();
    assert_eq!(changed(1, Mode::Quick), ("OFC [11]".to_owned(), vec![alpha.clone(), delay]));
    let delay = "topology.delay=2us".to_owned();
    assert_eq!(changed(1, Mode::Full).1, [alpha, delay], "at full scale");
}

/// Two factors may add to the set of readings of a scheme.
#[test]
fn lists_of_two_factors_are_united() {
    let factor = |name: &str, reading: &str| {
        format!(
            "[[explain.factor]]\nname = \"{name}\"\nwhere = \"open\"\nlevel = [{{ label = \"no\", \
             primary = true }}, {{ label = \"yes\", reading = {reading} }}]\n"
        )
    };
    let two = factor("a", "[\"x\", \"y\"]") + &factor("b", "[\"y\", \"z\"]");
    let paper = load(&format!("{HEAD}{two}")).expect("read");
    let grid = paper.experiments[0].grid(Mode::Quick).expect("a grid");
    let e = &paper.explanations[0];
    let v =
        e.variant(&paper.experiments[0], &grid.variants[1], &Combination(vec![1, 1]), Mode::Quick);
    assert_eq!(v.changes.len(), 1);
    assert_eq!(v.changes[0].set(), "flow-control.ofc.reading=[\"x\", \"y\", \"z\"]");
    let clash = factor("a", "[\"x\"]") + &factor("b", "\"z\"");
    let shown = load(&format!("{HEAD}{clash}")).expect_err("a clash");
    assert!(shown.contains("another factor changes this key"), "{shown}");
}

/// Each with the line, and what is valid.
#[test]
fn mistakes_are_named() {
    let head = |from: &str, to: &str| format!("{}{FACTORS}", HEAD.replace(from, to));
    let body = |from: &str, to: &str| format!("{HEAD}{}", FACTORS.replace(from, to));
    for (text, expected) in [
        (head("id = \"spare\"", ""), "`[[explain]]` needs `id`"),
        (head("spare", "a b"), "`id` is letters, digits"),
        (head("title", "titel"), "did you mean `title`?"),
        (head("\"MY-1\"", "\"MY-9\""), "there is no experiment `MY-9`"),
        (head("\"MY-1\"", "\"MY-2\""), "`MY-2` has no runs"),
        (head("experiments = [\"MY-1\"]", ""), "needs `experiments`"),
        (head("\"OFC\"", "\"OFD\""), "there is no variant of MY-1 `OFD`"),
        (head("variants = [\"OFC\"]", ""), "needs `variants`"),
        (head("\"1..3\"", "\"1..2\""), "`seeds` has 2: intervals need 3"),
        (head("seeds = \"1..3\"\n", ""), "needs `seeds`"),
        (head("\"11..13\"", "\"3..5\""), "seed 3 is one of the search"),
        (head("\"11..13\"", "\"\""), "fresh-seeds = \"\""),
        (head("fresh-seeds", "most = 0\nfresh-seeds"), "`0` is not a whole number from 1 to 4096"),
        (head("fresh-seeds", "enough = 6\nfresh-seeds"), "`enough` is a whole number from 1 to 5"),
        (head("fresh-seeds", "claims = \"gian\"\nfresh-seeds"), "did you mean `gain`?"),
        (head("fresh-seeds", "claims = \"hardware\"\nfresh-seeds"), "no claim `hardware`"),
        (head("fresh-seeds", "quantities = \"gian\"\nfresh-seeds"), "did you mean `gain`?"),
        (head("fresh-seeds", "quantities = \"bystanders\"\nfresh-seeds"), "states no number"),
        (HEAD.to_owned(), "needs `[[explain.factor]]`"),
        (format!("{HEAD}{FACTORS}{HEAD}{FACTORS}"), "two explanations are called `spare`"),
        (body("name = \"links\"", ""), "`[[explain.factor]]` needs `name`"),
        (body("\"links\"", "\"lower threshold\""), "two factors are called `lower threshold`"),
        (body("where = \"Section 5\"", ""), "`[[explain.factor]]` needs `where`"),
        (body("\"all\"", "\"everything\""), "`everything` is not a value of `applies`"),
        (body("applies", "experiments = \"MY-2\"\napplies"), "experiment of this explanation"),
        (body(LONG, ""), "2 to 36 levels, not 1"),
        (body("\"long\"", "\"short\""), "two levels are called `short`"),
        (body("label = \"long\", ", ""), "`[[explain.factor.level]]` needs `label`"),
        (body(LONG, "{ label = \"long\" },"), "changes the same as another level"),
        (body("\"short\", primary = true", "\"short\""), "no level of `links` is primary"),
        (body("alpha = 0.5", "alpha = 0.5, primary = true"), "two levels are primary"),
        (body("90 %\", primary", "90 %\", contradicts = \"x\", primary"), "contradicts something"),
        (body("contradicts = \"Table 2\"", "contradicts = \"\""), "`contradicts` is empty"),
        (body("alpha = 0.5", "scheme = \"pfc\""), "a level does not change `scheme`"),
        (body("topology.delay = \"1us\"", "alpha = 1"), "`alpha` is not a section of a scenario"),
        (body("topology.delay = \"2us\"", "traffic.incast.degree = 9"), "parameter `degree` of"),
    ] {
        let shown = load(&text).expect_err(&text);
        assert!(shown.contains(expected), "{expected}: {shown}");
        assert!(shown.contains("explain.toml:"), "the line: {shown}");
    }
}
