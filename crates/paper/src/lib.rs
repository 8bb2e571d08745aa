//! The paper lab: experiments of papers as files, run on the sweep machinery, and what the papers
//! say about them as rules that are checked.
//!
//! ```text
//!   papers/ofc/paper.toml ─► Paper ─► Experiment ─► sweep directories ─► Tables ─► figures
//!     e1.toml, claims.toml    │        (grid, quick)   (run.rs)            │
//!                             └─► Claim ────────────────────────────────► Verdict
//! ```
//!
//! No experiment is written in Rust: [`catalogue`] finds papers inside the program and in
//! directories of users, [`experiment`] reads an experiment (a grid file with a few more keys),
//! [`figure`] and [`claim`] what is drawn and what is claimed. [`run`] makes the runs,
//! [`tables`] selects numbers of them by a [`select::Selector`], and [`judge`] compares those
//! with the paper's by rules that the claim states before any run. [`values`] keeps one number per
//! run of published results, so that judging again needs no run. [`explanation`] reads which
//! settings a paper leaves open, and [`explain`] tries them in combination.

pub mod appendix;
pub mod catalogue;
pub mod changed;
pub mod claim;
pub mod claim_kind;
mod claim_read;
mod claim_rules;
pub mod counts;
pub mod discussion;
pub mod experiment;
pub mod explain;
pub mod explanation;
pub mod figure;
pub mod flow_sizes;
pub mod four;
pub mod fuzz;
pub mod inside;
pub mod judge;
mod keys;
pub mod live;
pub mod live_cells;
mod metric_words;
pub mod origin;
pub mod outcomes;
pub mod overrides;
pub mod page;
pub mod plot;
pub mod publish;
mod published;
mod readings;
pub mod report;
mod results_pages;
pub mod run;
pub mod select;
mod series;
pub mod setting;
pub mod tables;
pub mod undiscussed;
pub mod values;
pub mod verdict;

pub use catalogue::Paper;
pub use claim::{Claim, Operand, Pick, Rule, Sort};
pub use counts::Counts;
pub use discussion::Discussion;
pub use experiment::{Experiment, Mode};
pub use explanation::Explanation;
pub use figure::{FigureKind, FigureSpec, PanelSpec};
pub use four::Four;
pub use overrides::Overrides;
pub use select::{Scope, Selector};
pub use tables::{Cell, Tables};
pub use verdict::{ClaimOutcome, Verdict};

use weir_scenario::Fields;
use weir_scenario::text::{Diagnostics, Sources, parse};
use weir_sweep::grid::Grid;

/// Reads a text as a file of claims and as an experiment, against a scope that is always the same;
/// what is accepted is put into words. For fuzzing.
pub(crate) fn read_alone(text: &str) -> (Sources, Diagnostics) {
    let texts = |all: &[&str]| all.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    let scope = Scope {
        id: "X".into(),
        variants: texts(&["PFC", "OFC"]),
        parameters: texts(&["load", "size"]),
        points: vec![texts(&["40", "1KB"]), texts(&["60", "1KB"]), texts(&["80", "1KB"])],
        classes: Some(texts(&["victim"])),
        ports: texts(&["core"]),
        sizes: texts(&["0..10KB"]),
        ..Scope::default()
    };
    let (mut sources, mut out) = (Sources::default(), Diagnostics::default());
    let id = sources.add("file.toml", text);
    for claim in claim_read::read(&sources, id, &[&scope], &mut out) {
        let words = [claim.paper(), claim.quantity(), claim.rule_words()];
        assert!(words.iter().all(|w| !w.is_empty()), "{claim:?}");
        let verdicts = judge::judge(0, &claim, &Tables::default(), Mode::Quick);
        assert!(!verdicts.is_empty() || claim.of.is_empty(), "{claim:?}");
    }
    let root = parse(&sources, id, &mut out);
    let mut f = Fields::file("a file", keys::EXPERIMENT, &root, id.span(0..0), &mut out);
    let figures = figure::read(&mut f, &scope);
    assert!(figures.iter().all(|f| !f.panels.is_empty()), "{figures:?}");
    if let Some(grid) = Grid::of(&mut f, &sources, id) {
        experiment::quick(f.item("quick"), &grid, f.out);
    }
    (sources, out)
}
