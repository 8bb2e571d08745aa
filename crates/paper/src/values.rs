//! One number per run of everything that claims look at: `values.csv` of published results.
//!
//! ```text
//!   variant,degree,seed,digest,fct_mean_ps class=victim,queue_mean_bytes ports=*
//!   PFC,4,1,5e0c...,1865383.2,20481.5
//! ```
//!
//! A column is a metric and what it is of; a row is a run, named by its variant, parameters and
//! seed, with the digest of its flows. Judging claims again needs nothing else.

use super::catalogue::Paper;
use super::claim::Rule;
use super::experiment::Experiment;
use super::select::{Scope, Selector};
use super::tables::{PublishedRun, Tables};
use std::path::Path;
use weir_results::records::{Records, RecordsError, Row};
use weir_sweep::SweepError;

/// The name of the file.
pub const FILE: &str = "values.csv";

/// What the claims of a paper look at in the runs of an experiment, by name of the column.
pub(super) fn selectors(paper: &Paper, runs_of: &Experiment) -> Vec<Selector> {
    let own = |id: &str| {
        let e = paper.experiments.iter().find(|e| e.id == id);
        e.is_some_and(|e| paper.runs_of(e).id == runs_of.id)
    };
    let mut all: Vec<(String, Selector)> = Vec::new();
    for claim in &paper.claims {
        let here = claim.operands().filter(|o| own(&o.experiment)).map(|o| o.select.clone());
        let mut read: Vec<Selector> = here.collect();
        if let Rule::Contrast { than, metric, .. } = &claim.rule
            && own(than)
        {
            read.extend(claim.operands().map(|o| {
                let metric = metric.clone().unwrap_or_else(|| o.select.metric.clone());
                Selector { metric, ..o.select.clone() }
            }));
        }
        // with percentiles of flows, how many flows there are
        let all_of = |s: Selector| [s.flows().map(|(f, _)| f), Some(s)];
        for s in read.into_iter().flat_map(all_of).flatten() {
            let name = s.column();
            if !all.iter().any(|(known, _)| *known == name) {
                all.push((name, Selector { at: Vec::new(), ..s }));
            }
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.into_iter().map(|(_, s)| s).collect()
}

/// The table of an experiment with runs of its own; `None` if no claim looks at it.
pub(super) fn csv(paper: &Paper, e: &Experiment, tables: &Tables) -> Option<Vec<u8>> {
    let selectors = selectors(paper, e);
    if selectors.is_empty() || tables.counts().0 == 0 {
        return None;
    }
    Some(tables.published(&selectors))
}

/// Reads what was published of an experiment; `None` if there is no such file.
pub(super) fn read(path: &Path, scope: &Scope) -> Result<Option<Tables>, SweepError> {
    let Some(table) = Records::open_if_there(path)? else { return Ok(None) };
    let mut first = vec!["variant".to_owned()];
    first.extend(scope.parameters.iter().cloned());
    first.extend(["seed".to_owned(), "digest".to_owned()]);
    let heads = table.heads().to_vec();
    if !heads.starts_with(&first) {
        return Err(SweepError::Other(format!(
            "{}: its columns do not begin with {}: publish {} again",
            table.file(),
            first.join(", "),
            scope.id
        )));
    }
    let columns = heads[first.len()..].to_vec();
    let run = |row: Row| {
        let text = |column: &String| row.text(column).map(str::to_owned);
        let values = scope.parameters.iter().map(text).collect::<Result<_, _>>()?;
        Ok(PublishedRun {
            cell: (row.text("variant")?.to_owned(), values),
            seed: row.get("seed")?,
            digest: row.text("digest")?.to_owned(),
            numbers: columns.iter().map(|c| row.given(c)).collect::<Result<_, _>>()?,
        })
    };
    let runs = table.map(|row| run(row?)).collect::<Result<_, RecordsError>>()?;
    Ok(Some(Tables::of_published(scope, columns, runs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        Scope { id: "X".into(), parameters: vec!["load".into()], ..Scope::default() }
    }

    fn read_text(text: &str) -> Result<Option<Tables>, String> {
        let directory = std::env::temp_dir().join(format!("weir-values-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        // tests of this file run beside each other
        let name = weir_scenario::hash::sha256(text.as_bytes());
        let path = directory.join(name);
        std::fs::write(&path, text).expect("a file");
        let found = read(&path, &scope()).map_err(|e| e.to_string());
        std::fs::remove_file(&path).expect("a file");
        found
    }

    #[test]
    fn what_was_published_is_selected_as_runs_are() {
        let text = "variant,load,seed,digest,fct_mean_ps class=victim\n\
            A,40,1,aa,2.5\nA,40,2,ab,\nA,60,1,ac,7\n";
        let tables = read_text(text).expect("a table").expect("a file");
        let select = Selector {
            metric: "fct_mean_ps".into(),
            class: "victim".into(),
            at: vec![("load".into(), "40".into())],
            ..Selector::default()
        };
        let cells = tables.select(&select);
        assert_eq!(cells[0].seeds, [(1, 2.5)]);
        assert_eq!(cells[0].missing, [(2, "it has no `fct_mean_ps`".to_owned())]);
        let other = tables.select(&Selector { class: "user".into(), ..select });
        assert_eq!(other[0].missing[0].1, "`fct_mean_ps class=user` was not published");
    }

    #[test]
    fn a_table_that_is_wrong_is_refused_with_its_line() {
        let wrong = read_text("variant,load,seed,digest,x\nA,40,one,aa,2\n").unwrap_err();
        assert!(wrong.contains(":2: `one` in `seed` is no whole number"), "{wrong}");
        let wrong = read_text("variant,load,seed,digest,x\nA,40,1,aa,NaN\n").unwrap_err();
        assert!(wrong.contains(":2: `NaN` in `x` is no number"), "{wrong}");
        let wrong = read_text("variant,size,seed,digest,x\n").unwrap_err();
        assert!(wrong.contains("begin with variant, load, seed, digest"), "{wrong}");
    }
}
