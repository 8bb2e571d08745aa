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
use weir_results::column::csv_text;
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
    let mut heads = vec!["variant".to_owned()];
    heads.extend(tables.parameters.iter().cloned());
    heads.extend(["seed".to_owned(), "digest".to_owned()]);
    heads.extend(selectors.iter().map(Selector::column));
    Some(csv_text(heads, tables.published(&selectors)))
}

/// Reads what was published of an experiment; `None` if there is no such file.
pub(super) fn read(path: &Path, scope: &Scope) -> Result<Option<Tables>, SweepError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(SweepError::io(path, e)),
    };
    let wrong = |what: String| SweepError::Other(format!("{}: {what}", path.display()));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads: Vec<String> =
        reader.headers().map_err(|e| wrong(e.to_string()))?.iter().map(str::to_owned).collect();
    let mut first = vec!["variant".to_owned()];
    first.extend(scope.parameters.iter().cloned());
    first.extend(["seed".to_owned(), "digest".to_owned()]);
    if !heads.starts_with(&first) {
        return Err(wrong(format!(
            "its columns do not begin with {}: publish {} again",
            first.join(", "),
            scope.id
        )));
    }
    let mut runs = Vec::new();
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|e| wrong(e.to_string()))?;
        let cells: Vec<&str> = record.iter().collect();
        let line = i + 2;
        let (keys, numbers) = cells.split_at(first.len());
        let [variant, values @ .., seed, digest] = keys else {
            return Err(wrong(format!("line {line} is too short")));
        };
        let seed = seed.parse().map_err(|_| wrong(format!("line {line}: `{seed}` is no seed")))?;
        let number = |text: &&str| match text.is_empty() {
            true => Ok(None),
            false => {
                let number = text.parse::<f64>().ok().filter(|x| x.is_finite());
                number.map(Some).ok_or_else(|| wrong(format!("line {line}: `{text}` is no number")))
            }
        };
        let numbers = numbers.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let values = values.iter().map(|v| (*v).to_owned()).collect();
        let cell = ((*variant).to_owned(), values);
        runs.push(PublishedRun { cell, seed, digest: (*digest).to_owned(), numbers });
    }
    let columns = heads[first.len()..].to_vec();
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
        assert!(wrong.contains("line 2: `one` is no seed"), "{wrong}");
        let wrong = read_text("variant,load,seed,digest,x\nA,40,1,aa,NaN\n").unwrap_err();
        assert!(wrong.contains("line 2: `NaN` is no number"), "{wrong}");
        let wrong = read_text("variant,size,seed,digest,x\n").unwrap_err();
        assert!(wrong.contains("begin with variant, load, seed, digest"), "{wrong}");
    }
}
