//! The papers that come along: their files fit together, and their quick runs can be planned.

use weir_paper::catalogue::{all_inside, choose};
use weir_paper::experiment::Work;
use weir_paper::undiscussed::undiscussed_published;
use weir_paper::{Mode, Overrides};

#[test]
fn all_papers_can_be_read_and_their_quick_runs_planned() {
    let papers = all_inside().unwrap_or_else(|p| panic!("{}", p.render(false)));
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
            let planned = planned.unwrap_or_else(|p| panic!("{}: {}", e.id, p.render(false)));
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
    let all = choose(&[]).unwrap_or_else(|p| panic!("{}", p.render(false)));
    assert_eq!(undiscussed_published(&all), []);
}
