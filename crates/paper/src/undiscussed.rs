//! What did not come out as in a paper although nothing says why.

use super::catalogue::{Chosen, Paper};
use super::inside::FILES;
use super::run::Collected;
use weir_results::records::{Records, Row};

/// Claims that are not reproduced although nothing says why: experiment and claim, each once.
pub fn undiscussed(all: &[Collected<'_>]) -> Vec<(String, String)> {
    let mut open = Vec::new();
    for c in all {
        let not = c.verdicts.iter().filter(|v| v.outcome.is_not_reproduced());
        for v in not.filter(|v| !c.paper.is_discussed(v.claim)) {
            let claim = &c.paper.claims[v.claim];
            open.push((c.experiment.id.clone(), claim.id.clone()));
        }
    }
    open.dedup();
    open
}

/// The same of the results that are published with the program.
pub fn undiscussed_published(chosen: &[Chosen]) -> Vec<(String, String)> {
    let text = FILES.iter().find(|(path, _)| *path == "results/not-reproduced.csv");
    let rows = text.map_or_else(Vec::new, |(_, text)| published(text));
    // a directory of a user has nothing published
    let inside = chosen.iter().filter(|c| c.paper.directory.is_none());
    inside.flat_map(|c| undiscussed_of(&c.paper, &c.experiments, &rows)).collect()
}

/// Rows of `not-reproduced.csv`: paper, experiment and claim.
fn published(text: &str) -> Vec<[String; 3]> {
    let cells = |row: Row| {
        let [paper, id, claim] = ["paper", "experiment", "claim"].map(|name| row.optional(name));
        Some([paper?, id?, claim?].map(str::to_owned))
    };
    let table = Records::parse("not-reproduced.csv", text);
    table.into_iter().flatten().flatten().filter_map(cells).collect()
}

fn undiscussed_of(
    paper: &Paper,
    experiments: &[usize],
    rows: &[[String; 3]],
) -> Vec<(String, String)> {
    let mut open = Vec::new();
    for e in experiments.iter().map(|&at| &paper.experiments[at]) {
        for [_, _, id] in rows.iter().filter(|[p, x, _]| *p == paper.id && *x == e.id) {
            // a claim that is gone needs no discussion
            let claim = paper.claims.iter().position(|c| c.id == *id);
            let open_one = (e.id.clone(), id.clone());
            // each of several readings has a row
            if claim.is_some_and(|claim| !paper.is_discussed(claim)) && !open.contains(&open_one) {
                open.push(open_one);
            }
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discussion::Discussion;

    /// Every claim that is published as not reproduced has something that tests why, or is called
    /// unexplained; what tests it exists.
    #[test]
    fn what_is_not_reproduced_is_tested_or_called_unexplained() {
        let (_, text) = FILES
            .iter()
            .find(|(path, _)| *path == "results/not-reproduced.csv")
            .expect("published");
        let papers: Vec<Paper> = crate::inside::built_in()
            .into_iter()
            .map(|id| Paper::inside(id).expect("it is there"))
            .collect();
        let known = |id: &str| {
            papers.iter().any(|p| {
                p.experiments.iter().any(|e| e.id.eq_ignore_ascii_case(id))
                    || p.explanations.iter().any(|e| e.id.eq_ignore_ascii_case(id))
            })
        };
        for row in Records::parse("not-reproduced.csv", text).expect("heads") {
            let row = row.expect("a row");
            let by = row.text("explained_by").expect("a column");
            assert!(by == "unexplained" || by.split("; ").all(known), "{row:?}");
        }
    }

    #[test]
    fn what_is_published_as_not_reproduced_needs_a_discussion() {
        let paper = Paper::inside("ofc").expect("it is there");
        let e0 = paper.experiments.iter().position(|e| e.id == "OFC-E0").expect("it is there");
        let rows = published(
            "paper,experiment,claim\nofc,OFC-E0,e0-pass\nofc,OFC-E1,e1-x\nofc,OFC-E0,gone\n",
        );
        let mut bare = paper.clone();
        bare.discussions.clear();
        let at = bare.claims.iter().position(|c| c.id == "e0-pass").expect("it is there");
        bare.claims[at].discussion.clear();
        let open = vec![("OFC-E0".to_owned(), "e0-pass".to_owned())];
        assert_eq!(undiscussed_of(&bare, &[e0], &rows), open);
        let mut said = bare.clone();
        said.claims[at].discussion = "because".into();
        assert!(undiscussed_of(&said, &[e0], &rows).is_empty());
        let text = "because".to_owned();
        let (title, sensitivity) = (String::new(), Vec::new());
        bare.discussions.push(Discussion { title, text, claims: vec![at], sensitivity });
        assert!(undiscussed_of(&bare, &[e0], &rows).is_empty());
    }
}
