//! What is said of jobs: figures, sentences, and files while runs go on.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use weir_plot::{Axis, Figure, Shape, draw};
use weir_results::comparison::{Comparison, answer};
use weir_results::lineup::{Lineup, Otherwise, Request};
use weir_results::listing::Layout;
use weir_results::report::{self, Destination, Formats, StepFiles, figures};
use weir_results::run::{Journal, Meter, run_all};
use weir_results::{compare, run_text};
use weir_scenario::text::Colour;
use weir_scenario::{Experiment, Files, Variant};

/// Four hosts around a switch; each rank computes for 50 us before it sends.
const RING: &str = "name = \"ring\"
[topology]
kind = \"star\"
hosts = 4

[[job]]
name = \"sum\"
size = \"400KB\"
iterations = 3
compute = \"50us\"
start-jitter = \"5us\"
";

/// A flow beside it.
const FLOW: &str = "
[[traffic]]
kind = \"flow\"
class = \"storage\"
from = \"h0\"
to = \"h1\"
size = \"1MB\"
";

fn read(text: &str) -> Experiment {
    let read = Experiment::read("ring.toml", text, Files::default(), &[]);
    read.unwrap_or_else(|p| panic!("{p}"))
}

fn blamed(text: &str) -> Experiment {
    let mut e = read(text);
    e.blame = true;
    e
}

fn variants(e: &Experiment, schemes: &[&str]) -> Vec<Variant> {
    schemes.iter().map(|s| e.variant(Some(s), None, 1).expect("a scheme")).collect()
}

fn compare<'a>(e: &'a Experiment, schemes: &[&str]) -> Comparison<'a> {
    let variants = variants(e, schemes);
    let runs = run_all(e, &variants, 2, &Meter::new(variants.len())).into_iter();
    Comparison::new(e, runs.map(|r| r.expect("not interrupted").expect("a run")).collect())
}

fn figure(c: &Comparison<'_>, id: &str) -> Figure {
    figures::one(c, id).unwrap_or_else(|why| panic!("{why}"))
}

/// A directory of its own for one test, empty.
fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("weir-jobs-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the scratch directory can be made");
    path
}

/// Links of the chain, those that mostly waited among them, by when they begin.
fn chain(figure: &Figure) -> Vec<(f64, f64)> {
    let series = figure.panels[0].series.iter();
    let links = series.filter_map(|s| match &s.shape {
        Shape::Chain(links) => Some(links),
        _ => None,
    });
    let mut ends: Vec<(f64, f64)> = links.flatten().map(|l| (l.from.1, l.to.1)).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    ends
}

#[test]
fn the_critical_path_is_drawn_over_its_ranks_from_begin_to_end() {
    let e = blamed(RING);
    let c = compare(&e, &["pfc"]);
    let gantt = figure(&c, "gantt-pfc");
    let [panel] = &gantt.panels[..] else { panic!("one job") };
    assert_eq!(panel.across, weir_plot::Across::Rows { names: names(4) });
    // no gaps, from one end of the axis to the other
    let (ends, Axis { low, high, .. }) = (chain(&gantt), &panel.up);
    assert_eq!(ends.first().map(|l| l.0), Some(*low));
    assert_eq!(ends.last().map(|l| l.1), Some(*high));
    assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0), "{ends:?}");
    // each rank computes first, for 50 us; one that is ahead begins the next iteration
    let computes = panel.series.iter().find(|s| s.name == "computes").expect("a series");
    let Shape::Spans(rows) = &computes.shape else { panic!("stretches") };
    for row in rows {
        assert_eq!(row[0].1 - row[0].0, 50e6, "{row:?}");
    }
    for size in [draw::Size::PAGE, draw::Size::COLUMN, draw::Size::WIDE] {
        let clashes = draw::scene(&gantt, &size).clashes();
        assert!(clashes.is_empty(), "{clashes:?}");
    }
}

fn names(ranks: usize) -> Vec<String> {
    (0..ranks).map(|r| format!("{r}, h{r}")).collect()
}

/// 40 ranks: 32 rows, with the first and the last rank, and the chain is whole.
#[test]
fn of_many_ranks_some_are_shown_and_the_figure_says_so() {
    let text = RING.replace("hosts = 4", "hosts = 40").replace("iterations = 3", "");
    let e = blamed(&text);
    let c = compare(&e, &["pfc"]);
    let gantt = figure(&c, "gantt-pfc");
    let weir_plot::Across::Rows { names } = &gantt.panels[0].across else { panic!("rows") };
    assert!(names.len() <= 32 && names.len() > 20, "{names:?}");
    assert!(names[0] == "0, h0" && names[names.len() - 1] == "39, h39", "{names:?}");
    let shown = format!("{} of 40 ranks", names.len());
    assert!(gantt.panels[0].title.contains(&shown), "{}", gantt.panels[0].title);
    let ends = chain(&gantt);
    assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0));
}

#[test]
fn the_page_has_the_parts_of_the_path_and_without_blame_says_how_to_get_them() {
    let (with, without) = (blamed(RING), read(RING));
    let page = |e: &Experiment| report::page(&compare(e, &["pfc", "bfc"]), "weir compare");
    let text = page(&with);
    for part in ["id=\"gantt-pfc\"", "id=\"gantt-bfc\"", "id=\"step-time\"", "id=\"exposed\""] {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.contains("waited for") && text.contains("computation"), "the parts are listed");
    assert!(!text.contains("id=\"completion\""), "there are no flows");
    let text = page(&without);
    assert!(!text.contains("gantt-pfc") && text.contains("With <code>--blame</code>"));
}

#[test]
fn figures_of_jobs_are_refused_where_there_is_nothing_to_show() {
    let base = scratch("refused");
    let check = |text: &str, blame: bool, name: &str| {
        let file = base.join("scenario.toml");
        fs::write(&file, text).expect("a file");
        let schemes = ["pfc".to_owned()];
        let request = Request { schemes: &schemes, ..Request::default() };
        let file = file.to_str().expect("text");
        let mut lineup =
            Lineup::load(file, &request, Otherwise::All).unwrap_or_else(|p| panic!("{p}"));
        if blame {
            lineup.settings[0].experiment = Arc::new(blamed(text));
        }
        figures::check(name, &lineup)
    };
    let lone = RING[..RING.find("[[job]]").expect("a job")].to_owned() + FLOW;
    assert_eq!(check(RING, true, "gantt-pfc"), Ok(()));
    assert!(check(RING, false, "gantt-pfc").unwrap_err().contains("`--blame`"));
    assert!(check(&lone, false, "step-time").unwrap_err().contains("no `[[job]]`"));
    fs::remove_dir_all(base).expect("it is ours");
}

#[test]
fn a_run_of_jobs_says_which_steps_ended() {
    let e = read(RING);
    let one = compare(&e, &["pfc"]);
    let text = answer(&one);
    assert!(text.starts_with("3 of 3 collectives ended under PFC, in "), "{text}");
    assert!(text.contains("exposed communication"), "{text}");
    let two = compare(&e, &["pfc", "none"]);
    assert!(answer(&two).starts_with("A collective took "), "{}", answer(&two));
    // queue pairs are no flows
    assert!(compare::percentiles(&one).iter().all(|t| t.rows.is_empty()));
    let layout = Layout { width: 200, colour: Colour::Off };
    let shown = run_text::text(&one, layout);
    assert!(shown.contains("queue pairs") && !shown.contains("0 flows"), "{shown}");
    let both = read(&(RING.to_owned() + FLOW));
    let both = compare(&both, &["pfc"]);
    assert!(answer(&both).contains("1 of 1 flow completed"), "{}", answer(&both));
    let [times, _] = compare::percentiles(&both);
    assert_eq!(times.rows.len(), 1);
    assert_eq!(times.rows[0][..4], ["storage", "PFC", "1", "1"]);
}

/// The lines of a table.
fn rows(path: PathBuf) -> Vec<String> {
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(str::to_owned).collect()
}

/// With a journal that is always written, what stands there at the end is what the results say.
#[test]
fn steps_stand_in_files_while_runs_go_on() {
    let base = scratch("journal");
    let e = read(RING);
    let variants = variants(&e, &["pfc", "bfc"]);
    let out = Destination::check(&base.join("out"), &[]).expect("a new directory");
    let labels = variants.iter().map(|v| v.scheme.title.to_owned()).collect();
    let journal = StepFiles::new(&out, labels, Duration::ZERO).map(Arc::new).expect("a new place");
    assert_eq!(journal.place(), None, "nothing is written before anything ended");
    let meter = Meter::new(2).with_journal(Some(Arc::clone(&journal) as Arc<dyn Journal>));
    let runs = run_all(&e, &variants, 1, &meter).into_iter();
    let runs = runs.map(|r| r.expect("not interrupted").expect("a run")).collect();
    let place = base.join("out.running");
    assert_eq!(journal.place(), Some(&*place));
    let c = Comparison::new(&e, runs);
    out.write(&c, "weir compare", Formats::Csv).expect("written");
    for name in ["steps", "collectives"] {
        let so_far = rows(place.join(format!("{name}.partial.csv")));
        assert_eq!(so_far, rows(base.join("out").join(format!("{name}.csv"))), "{name}");
        assert_eq!(so_far.len(), 7, "headings and two runs of three steps");
    }
    // a run that was killed leaves them there, and a later one replaces them
    assert!(Destination::check(&place, &[]).is_ok());
    let later = StepFiles::new(&out, Vec::new(), Duration::ZERO).expect("it is ours");
    later.remove();
    assert!(!place.exists());
    journal.remove();
    // what is not ours stays
    fs::create_dir(&place).expect("it is new");
    fs::write(place.join("thesis.tex"), "years of work").expect("a file");
    assert!(StepFiles::new(&out, Vec::new(), Duration::ZERO).is_none());
    fs::remove_dir_all(base).expect("it is ours");
}

/// Results with every table may be replaced by a later run.
#[test]
fn results_of_jobs_with_blame_replace_each_other() {
    let base = scratch("again");
    let e = blamed(RING);
    let c = compare(&e, &["pfc"]);
    for _ in 0..2 {
        report::write(&c, &base.join("out"), "weir run", Formats::Csv).expect("written");
    }
    assert!(base.join("out/critical-path.csv").exists());
    fs::remove_dir_all(base).expect("it is ours");
}

/// A link fails for good: packets are sent again for ever, and the run lasts to the end of the
/// clock. It says who waits for whom.
#[test]
fn a_job_that_has_not_ended_at_the_end_of_the_clock_names_its_chain() {
    let failure =
        "[nic]\ntimeout = \"100ms\"\n[[failure]]\nlink = [\"sw0\", \"h2\"]\ndown = \"80us\"\n";
    let e = read(&format!("{RING}{failure}"));
    let text = run_text::text(&compare(&e, &["pfc"]), Layout { width: 160, colour: Colour::Off });
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Job sum has not ended: rank "), "{text}");
    assert!(text.contains(" waits for 100 KB from rank "), "{text}");
    assert!(text.contains(", tag "), "{text}");
}

/// 40 ranks in a ring, and a receive that nobody meets: the first and the last ten of the chain.
#[test]
fn of_a_long_chain_of_waits_both_ends_are_shown() {
    let mut goal = "num_ranks 40\n".to_owned();
    for rank in 0..40 {
        let before = if rank == 39 {
            "recv 8b from 38 tag 7".into()
        } else {
            format!("recv 8b from {} tag 1", rank + 1)
        };
        let after = if rank == 0 {
            String::new()
        } else {
            format!("s: send 8b to {} tag 1\ns requires r\n", rank - 1)
        };
        goal += &format!("rank {rank} {{\nr: {before}\n{after}}}\n");
    }
    let place = scratch("chain");
    fs::write(place.join("long.goal"), goal).expect("a file");
    let text =
        "name = \"x\"\n[topology]\nkind = \"star\"\nhosts = 40\n[[job]]\ntrace = \"long.goal\"\n";
    let read = Experiment::read("x.toml", text, Files::of(Some(place.clone())), &[]);
    let e = read.unwrap_or_else(|p| panic!("{}", p.render(Colour::Off)));
    let text = run_text::text(&compare(&e, &["pfc"]), Layout { width: 160, colour: Colour::Off });
    println!("{text}");
    assert!(text.contains("20 more"), "{text}");
    assert!(text.contains("recv 8b from 38 tag 7"), "the cause: {text}");
    fs::remove_dir_all(place).expect("it is ours");
}
