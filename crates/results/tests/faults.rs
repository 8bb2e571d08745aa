//! What results say of control frames that were lost.

use weir_results::comparison::{Comparison, notes};
use weir_results::listing::Layout;
use weir_results::report::run_summary;
use weir_results::run::{Run, run_alone};
use weir_results::run_text;
use weir_scenario::text::Colour;
use weir_scenario::{Experiment, Files};
use weir_sim::outcome::Finish;

/// Three hosts send to a fourth; the first frame of a kind to h1 is lost under sticky PFC.
fn lose_first(message: &str, more: &str) -> (Experiment, Run) {
    let text = format!(
        "[topology]\nkind = \"star\"\nhosts = 4\n\
         [switch]\nthresholds = {{ xoff = \"20KB\", xon = \"10KB\" }}\n\
         [flow-control]\nscheme = \"pfc\"\ntimer = \"sticky\"\n{more}\n\
         [[traffic]]\nkind = \"burst\"\nfrom = \"h1..h3\"\nto = \"h0\"\nsize = \"300KB\"\n\
         [[fault]]\nlink = [\"sw0\", \"h1\"]\nmessage = \"{message}\"\nnth = 1\n"
    );
    let e = Experiment::read("x.toml", &text, Files::default(), &[])
        .unwrap_or_else(|problems| panic!("{problems}"));
    let run = run_alone(&e, e.own_variant(), &false.into()).expect("it runs");
    (e, run)
}

fn noted(e: &Experiment, run: &Run) -> String {
    let c = Comparison::new(e, vec![run.clone()]);
    notes(&c, &c.groups[0]).join("; ")
}

#[test]
fn a_run_that_a_lost_resume_stalls_names_the_frame_everywhere() {
    let (e, run) = lose_first("resume", "");
    let frame = run.lost_frame().expect("a frame").describe(&e.topology);
    assert!(
        frame.starts_with("the RESUME of priority 3 from sw0 to h1 was dropped at "),
        "{frame}"
    );
    assert!(noted(&e, &run).contains(&format!("STALLED: {frame}")), "{}", noted(&e, &run));
    let json = run_summary(&e, &run);
    assert_eq!(json["finish"]["stuck"][0]["lost_frame"]["frame"], "RESUME of priority 3");
    assert_eq!(json["faulted_frames"]["frames"][0]["fate"], "dropped");
    assert_eq!(json["totals"]["control_dropped"], 1);
}

/// 900 KB take 75 us at 100 Gb/s. The lost RESUME comes after about 14 us, so at 50 us the flow of
/// h1 is held, and those of h2 and h3 go on: the network does not stand still.
#[test]
fn a_flow_that_a_lost_resume_holds_at_the_end_of_the_run_is_named() {
    let (e, run) = lose_first("resume", "[run]\nuntil = \"50us\"");
    assert_eq!(run.outcome.finish, Finish::TimeLimit);
    let frame = run.lost_frame().expect("a frame").describe(&e.topology);
    assert!(frame.starts_with("the RESUME of priority 3 from sw0 to h1 was dropped"), "{frame}");
    let found = noted(&e, &run);
    assert!(found.contains(&format!("STILL HELD at the end: {frame}")), "{found}");
    let json = run_summary(&e, &run);
    assert_eq!(json["finish"]["how"], "time-limit");
    let stuck = json["finish"]["stuck"].as_array().expect("a list");
    assert_eq!(stuck.len(), 1, "{stuck:?}");
    assert_eq!(stuck[0]["node"], "h1");
    let c = Comparison::new(&e, vec![run.clone()]);
    let text = run_text::text(&c, Layout { width: 100, colour: Colour::Off });
    assert!(text.contains("held at its end, after a control frame was lost"), "{text}");
}

#[test]
fn with_a_refresh_nothing_is_said_but_that_a_frame_was_lost() {
    let (e, run) = lose_first("resume", "refresh = \"5us\"");
    assert!(run.lost_frame().is_none());
    assert_eq!(noted(&e, &run), "1 control frame lost");
}

#[test]
fn packets_that_are_lost_after_a_lost_pause_are_explained_and_leave_the_run_valid() {
    let (e, run) = lose_first("pause", "");
    assert!(run.outcome.totals.dropped > 0);
    assert_eq!(run.invalid(&e), None);
    let found = noted(&e, &run);
    let text = "lossless packets lost after a lost PAUSE: the PAUSE of priority 3 from sw0 to h1";
    assert!(found.contains(text), "{found}");
}
