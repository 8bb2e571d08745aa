//! One sweep of several directories with the same plan: for machines that share no disk.
//!
//! Each machine runs a share in a copy of the directory. The results of all copies are put into
//! one directory, which is then a sweep like any other: it can be continued and merged.

use super::SweepError;
use super::directory::SweepDir;
use super::plan::Plan;
use super::record::Record;
use super::store::{Known, Results, Writer};
use std::collections::BTreeMap;
use std::path::Path;

/// What was put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct United {
    /// Runs with a result, in all directories together.
    pub results: usize,
    /// Those that several directories have, and that are equal.
    pub equal: usize,
    /// Records that the target did not have yet.
    pub added: usize,
}

/// Puts the results of `sources` into `target`, which is made if it does not exist. All must have
/// the same plan. Two results of one run must be equal. Nothing is written before all of that is
/// known.
pub fn unite(sources: &[SweepDir], target: &SweepDir) -> Result<United, SweepError> {
    let Some(first) = sources.first() else {
        return Err(SweepError::Other("there is no directory to merge".to_owned()));
    };
    let plan = first.plan()?;
    let exists = target.path.join("plan.jsonl").exists();
    let own = exists.then_some(target);
    for other in sources[1..].iter().chain(own) {
        same_plan(&plan, first, other)?;
    }
    let had = target.read_results(&plan)?;
    let mut all: BTreeMap<String, (Known, &Path)> = BTreeMap::new();
    let mut united = United::default();
    for source in own.into_iter().chain(sources) {
        // a target that is one of the sources as well does not count twice
        let again = own.is_some_and(|own| !std::ptr::eq(own, source) && own.path == source.path);
        if again {
            continue;
        }
        for (id, known) in source.read_results(&plan)?.runs {
            united.equal += add(&plan, &mut all, &id, known, &source.path)?;
        }
    }
    united.results = all.values().filter(|(known, _)| known.result.is_some()).count();
    if !exists {
        target.copy_plan(first)?;
    }
    let mut writer = Writer::new(&target.results(), "united");
    for (id, (known, _)) in &all {
        for record in missing(&had, id, known) {
            writer.add(&record)?;
            united.added += 1;
        }
    }
    writer.seal()?;
    Ok(united)
}

fn same_plan(plan: &Plan, first: &SweepDir, other: &SweepDir) -> Result<(), SweepError> {
    if other.plan()?.text() == plan.text() {
        return Ok(());
    }
    Err(SweepError::Other(format!(
        "{} and {} have different plans: only copies of one planned directory can be merged (plan \
         once, copy the directory to each machine, and run a share there)",
        first.path.display(),
        other.path.display()
    )))
}

/// Adds what one directory knows of a run; returns 1 for a result that another one has, too.
fn add<'a>(
    plan: &Plan,
    all: &mut BTreeMap<String, (Known, &'a Path)>,
    id: &str,
    known: Known,
    path: &'a Path,
) -> Result<usize, SweepError> {
    let differ = |other: &Path| {
        let run = plan.runs.iter().find(|run| run.id == id);
        let what = run.map_or_else(|| id.to_owned(), |run| plan.describe(run));
        let places = match path == other {
            true => format!("in {}", path.display()),
            false => format!("in {} and in {}", other.display(), path.display()),
        };
        SweepError::Other(format!(
            "two results of {what} ({id}) differ, {places}: remove the file with the wrong one"
        ))
    };
    if known.conflict.is_some() {
        return Err(differ(path));
    }
    let Some((before, place)) = all.get_mut(id) else {
        all.insert(id.to_owned(), (known, path));
        return Ok(0);
    };
    let both = before.result.is_some() && known.result.is_some();
    known.records().into_iter().for_each(|record| before.add(record));
    match before.conflict {
        Some(_) => Err(differ(place)),
        None => Ok(usize::from(both)),
    }
}

/// The records of a run that change what is known of it.
fn missing(had: &Results, id: &str, known: &Known) -> Vec<Record> {
    let Some(before) = had.of(id) else { return known.records() };
    let mut all = known.records();
    let old = before.records();
    all.retain(|record| !old.iter().any(|o| o.same_result(record) && o.attempt == record.attempt));
    all
}
