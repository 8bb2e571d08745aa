//! What results say of the storm that a slow receiver sets off.

use weir_results::comparison::{Comparison, notes};
use weir_results::listing::Layout;
use weir_results::run::{Run, run_alone};
use weir_results::run_text;
use weir_scenario::text::Colour;
use weir_scenario::{Experiment, PortAt};

fn run(sets: &[&str]) -> (Experiment, Run) {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    let e =
        Experiment::load("slow-receiver", &sets).unwrap_or_else(|problems| panic!("{problems}"));
    let run = run_alone(&e, e.own_variant(), &false.into()).expect("it runs");
    (e, run)
}

#[test]
fn the_pause_tree_begins_at_the_sick_host_and_names_its_victims() {
    let (e, run) = run(&[]);
    let tree = &run.pause_trees(&e)[0];
    let name = |at: PortAt| at.name(&e.topology);
    assert_eq!(tree.root.map(name).as_deref(), Some("leaf0 to h0"));
    // h0 paused leaf0, leaf0 the spine, the spine leaf1, leaf1 hosts
    assert_eq!(tree.pauses[0].depth(), 4);
    assert_eq!(tree.victims.len(), 3, "{:?}", tree.victims);
    let c = Comparison::new(&e, vec![run.clone()]);
    let text = run_text::text(&c, Layout { width: 120, colour: Colour::Off });
    assert!(text.contains("pauses began at leaf0 to h0:\n    h0 paused leaf0"), "{text}");
}

#[test]
fn a_storm_that_a_nic_prevents_is_noted() {
    let (e, run) = run(&["slow-receiver.0.storm-prevention=100us"]);
    let c = Comparison::new(&e, vec![run]);
    let found = notes(&c, &c.groups[0]).join("; ");
    assert!(found.contains("1 storm prevented by NICs"), "{found}");
}
