//! The papers that come along: their files fit together, and their quick runs can be planned.

use weir_paper::catalogue::{all_inside, choose};
use weir_paper::experiment::Work;
use weir_paper::live_cells;
use weir_paper::undiscussed::undiscussed_published;
use weir_paper::{Mode, Overrides};

#[test]
fn all_papers_can_be_read_and_their_quick_runs_planned() {
    let papers = all_inside().unwrap_or_else(|p| panic!("{p}"));
    let mut ids: Vec<String> = Vec::new();
    for paper in &papers {
        for e in &paper.experiments {
            assert!(!ids.contains(&e.id.to_lowercase()), "{} stands in two papers", e.id);
            ids.push(e.id.to_lowercase());
            assert!(!e.figures.is_empty(), "{} has no figure", e.id);
            let ours = e.place.starts_with("not in the ");
            assert_eq!(e.own_check, ours, "{}: `own-check` is for what no paper has", e.id);
            let unchanged = Overrides::default();
            let draft = e.draft(Mode::Quick, &unchanged, &paper.sources, &paper.files);
            let Some(draft) = draft else {
                assert!(!matches!(e.work, Work::Sweep(_)));
                continue;
            };
            let planned = draft.and_then(|draft| draft.plan());
            let planned = planned.unwrap_or_else(|p| panic!("{}: {p}", e.id));
            let runs = planned.plan.runs.len() as u128;
            assert_eq!(runs, e.runs(Mode::Quick, &paper.sources, &paper.files), "{}", e.id);
            assert!(runs <= e.runs(Mode::Full, &paper.sources, &paper.files), "{}", e.id);
        }
        for claim in &paper.claims {
            let known = paper.experiments.iter().any(|e| e.id == claim.experiment);
            assert!(known && !claim.rule_words().is_empty(), "{}", claim.id);
        }
    }
    assert!(papers.iter().all(|p| !p.experiments.is_empty()) && papers.len() >= 5);
}

/// What is published as not reproduced was looked into.
#[test]
fn every_claim_that_is_published_as_not_reproduced_is_discussed() {
    let all = choose(&[]).unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(undiscussed_published(&all), []);
}

/// Cells that are run live stand beside the numbers that the paper states of them.
#[test]
fn live_studies_have_cells_and_the_papers_numbers() {
    let papers = all_inside().unwrap_or_else(|p| panic!("{p}"));
    let experiments = papers.iter().flat_map(|p| p.experiments.iter().map(move |e| (p, e)));
    let mut seen = Vec::new();
    for (paper, e) in experiments {
        let Some(live) = &e.live else { continue };
        let cells = live_cells::cells(live, paper, e, &Overrides::default());
        let cells = cells.unwrap_or_else(|p| panic!("{}: {p}", e.id));
        for cell in &cells {
            let numbers = live_cells::numbers(live, paper, e, cell);
            assert!(numbers.len() >= live.classes.len(), "{}", e.id);
            if (e.id.as_str(), cell.variant.as_str()) == ("OFC-TB", "OFC") {
                let of = |class: &str| {
                    numbers.iter().find(|(s, _)| s.class == class && s.metric == "fct_max_ps")
                };
                let (_, stated) = of("victim").expect("the victim is looked at");
                // Table I: 1.45 ms in the simulation, 2.28 ms on the testbed
                let found: Vec<f64> = stated.iter().map(|n| n.number).collect();
                assert!(found.contains(&1.45e9) && found.contains(&2.28e9), "{stated:?}");
                let tables = numbers.iter().filter(|(s, _)| !s.table.is_empty());
                assert!(tables.count() >= 3, "Table II has three tables");
            }
        }
        seen.push((e.id.as_str(), cells.len()));
    }
    // two variants; four variants of two kinds of sources
    assert_eq!(seen, [("FS-TB", 8), ("OFC-TB", 2)]);
}

/// A paper directory with one experiment of a built-in scenario and such a `[live]`.
fn with_live(live: &str) -> Result<weir_paper::Paper, String> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("weir-live-{}-{number}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    let paper = "id = \"p\"\ntitle = \"P\"\nshort = \"P\"\nexperiments = [\"e\"]\n";
    let experiment = format!(
        "id = \"P-1\"\ntitle = \"T\"\nshows = \"S\"\nscenario = \"incast\"\nseeds = \"1\"\n\
         [[variant]]\nlabel = \"PFC\"\nscheme = \"pfc\"\n\
         [[figure]]\nid = \"f\"\ntitle = \"F\"\nkind = \"bars\"\nmetric = \"fct_max_ps\"\n\
         across = \"variant\"\n[live]\n{live}\n"
    );
    std::fs::write(directory.join("paper.toml"), paper).expect("a file");
    std::fs::write(directory.join("e.toml"), experiment).expect("a file");
    let read = weir_paper::Paper::load(&directory).map_err(|p| p.to_string());
    std::fs::remove_dir_all(&directory).expect("it is ours");
    read
}

#[test]
fn mistakes_in_a_live_table_are_named_with_their_line() {
    let good = "variants = [\"PFC\"]\nmetric = \"fct_max_ps\"\nclasses = [\"incast\"]\n\
                dilations = [1000, 500]\nruns = 2";
    let paper = with_live(good).unwrap_or_else(|why| panic!("{why}"));
    let live = paper.experiments[0].live.as_ref().expect("it has one");
    assert_eq!((live.dilations.as_slice(), live.runs), (&[1000, 500][..], 2));
    for (from, to, message) in [
        ("[\"PFC\"]", "[\"PFD\"]", "`PFD`"),
        ("fct_max_ps", "fct_most_ps", "`fct_most_ps`"),
        ("[\"incast\"]", "[\"outcast\"]", "`outcast`"),
        ("[1000, 500]", "[1000, 1000]", "given twice"),
        ("[1000, 500]", "[0]", "whole numbers from 1"),
        ("runs = 2", "runs = 0", "whole number from 1"),
        ("runs = 2", "rums = 2", "`rums`"),
        ("dilations = [1000, 500]\n", "", "needs `dilations`"),
    ] {
        let why = with_live(&good.replace(from, to)).expect_err(to);
        assert!(why.contains(message) && why.contains("e.toml:"), "{why}");
    }
}
