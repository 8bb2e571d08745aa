//! Bisection on runs, against runs with every value.

use std::sync::atomic::AtomicBool;
use weir_change::condition::Condition;
use weir_change::search::{Axis, Boundary, RunError, Runner, bisect};
use weir_scenario::load::source;
use weir_scenario::resolve::{Base, Fabrics};
use weir_scenario::text::Diagnostics;

fn base(sets: &[&str]) -> Base {
    let (name, text, files) = source("incast").expect("built in");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Base::read(&name, &text, files, &sets, &mut Diagnostics::default())
}

/// The incast of eight 100 Gb/s senders over 1 us of cable: what arrives after a pause was decided
/// is two delays of line rate (25 KB), less what leaves meanwhile, above an xoff of 75 KB. So
/// the smallest lossless limit for this traffic is about 100 KB.
#[test]
fn bisection_finds_the_value_that_a_full_grid_finds() {
    let base = base(&["traffic.0.size=300KB"]);
    let e = base.experiment(Diagnostics::default(), &Fabrics::default());
    let e = e.unwrap_or_else(|p| panic!("{p}"));
    let axis = Axis::read("switch.thresholds.limit=76KB..116KB:2KB").expect("a range");
    let condition = Condition::read("lost == 0", &e).expect("a condition");
    let (interrupt, seeds) = (AtomicBool::new(false), [1, 2]);
    let runner = Runner::new(&base, e.own_variant(), &seeds, 2, &interrupt);
    let keeps = |i: usize| runner.judge(&[axis.set(i)], &condition).map(|v| v.keeps());
    let grid: Result<Vec<bool>, RunError> = (0..axis.len()).map(keeps).collect();
    let grid = grid.expect("runs");
    let first = grid.iter().position(|x| *x).expect("the largest keeps it");
    assert!(grid[first..].iter().all(|x| *x), "{grid:?}");
    let found = bisect(axis.len(), 3, keeps).expect("runs");
    assert_eq!(found.boundary, Boundary::Smallest { keeps: first, breaks: first - 1 });
    assert_eq!(axis.show(first), "100 KB");
    assert!(found.tried.len() < grid.len());
    let verdict = runner.judge(&[axis.set(first - 1)], &condition).expect("a run");
    let (seed, broken) = verdict.broken.expect("it breaks it");
    assert!(seed == 1 && broken.found.is_some_and(|lost| lost > 0.0));
}

#[test]
fn a_value_that_the_scenario_does_not_allow_is_an_error_that_names_it() {
    let base = base(&[]);
    let e = base.experiment(Diagnostics::default(), &Fabrics::default());
    let e = e.unwrap_or_else(|p| panic!("{p}"));
    let condition = Condition::read("lost == 0", &e).expect("a condition");
    let interrupt = AtomicBool::new(false);
    let runner = Runner::new(&base, e.own_variant(), &[1], 1, &interrupt);
    let error = runner.judge(&["switch.thresholds.limit=10KB".into()], &condition);
    let error = error.expect_err("below xoff").to_string();
    assert!(error.contains("limit=10KB") && error.contains("must not be below xoff"), "{error}");
}
