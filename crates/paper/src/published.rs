//! A directory of published results: what it has, and its summary tables.
//!
//! The summaries are made of the tables of the experiments alone:
//!
//! ```text
//!   experiments.csv       runs and counts of verdicts, per experiment
//!   counts.csv            counts of verdicts per paper: numbers, orders, trends, by reading
//!   not-reproduced.csv    claims that are not; the program knows these
//!   times.csv             processor times, which differ from run to run, and versions
//! ```

use super::catalogue::{Paper, all_inside};
use super::claim::{Claim, Sort};
use super::counts::{Counted, Counts};
use super::four::Four;
use super::verdict::ClaimOutcome;
use std::collections::BTreeSet;
use std::path::Path;
use weir_results::records::{Records, RecordsError, Row};
use weir_results::sheet::Sheet;
use weir_sweep::SweepError;
use weir_sweep::store::replace;

/// A row of `verdicts.csv`.
pub(super) struct VerdictRow {
    pub(super) claim: String,
    pub(super) place: String,
    pub(super) says: String,
    pub(super) sort: Sort,
    pub(super) reading: String,
    pub(super) variant: String,
    pub(super) primary: bool,
    pub(super) calibrated: bool,
    pub(super) own: bool,
    pub(super) stated: String,
    pub(super) measured: String,
    pub(super) outcome: ClaimOutcome,
    pub(super) why: String,
    pub(super) needed: Option<usize>,
}

/// What an experiment is in the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) paper: String,
    pub(super) id: String,
    /// No paper has it.
    pub(super) own: bool,
    pub(super) runs: u64,
}

/// A published experiment with its verdicts.
pub(super) struct Published {
    pub(super) entry: Entry,
    pub(super) verdicts: Vec<VerdictRow>,
    /// Its verdicts compare means, without intervals: it was published before values per seed were.
    pub(super) by_means: bool,
    /// The experiment has variants that its published figures do not have.
    pub(super) outdated: bool,
}

/// A published directory, and the papers that are known.
pub(super) struct Shown<'a> {
    pub(super) all: Vec<Published>,
    pub(super) known: Vec<&'a Paper>,
}

/// Calls `of` with what is published below `to`, in the order of papers and experiments; `fresh`
/// replace or add rows of the summary.
pub(super) fn with<T>(
    to: &Path,
    papers: &[&Paper],
    fresh: &[Entry],
    of: impl FnOnce(&Shown<'_>) -> Result<T, SweepError>,
) -> Result<T, SweepError> {
    let inside = all_inside().unwrap_or_default();
    let known: Vec<&Paper> = papers.iter().copied().chain(&inside).collect();
    let mut all = Vec::new();
    for entry in entries(to, fresh)? {
        let paper = known.iter().find(|k| k.id == entry.paper).copied();
        all.push(read(to, entry, paper)?);
    }
    // as papers and experiments are listed; those of others at the end
    let rank = |p: &Published| {
        let Entry { paper, id, .. } = &p.entry;
        let place = inside.iter().chain(papers.iter().copied()).position(|k| k.id == *paper);
        let of = known.iter().find(|k| k.id == *paper);
        let at = of.and_then(|k| k.experiments.iter().position(|e| e.id == *id));
        (place.unwrap_or(usize::MAX), at.unwrap_or(usize::MAX), paper.clone(), id.clone())
    };
    all.sort_by_key(rank);
    of(&Shown { all, known })
}

/// Experiments of the summary that is there, and fresh ones.
pub(super) fn entries(to: &Path, fresh: &[Entry]) -> Result<Vec<Entry>, SweepError> {
    let path = to.join("experiments.csv");
    let mut all = fresh.to_vec();
    if path.exists() || fresh.is_empty() {
        let there = table(&path, |row| {
            Ok(Entry {
                paper: row.text("paper")?.to_owned(),
                id: row.text("experiment")?.to_owned(),
                own: row.text("own_check")? == "true",
                runs: row.get("runs")?,
            })
        })?;
        let kept = |e: &Entry| !fresh.iter().any(|f| f.paper == e.paper && f.id == e.id);
        all.extend(there.into_iter().filter(kept));
    }
    all.sort_by(|a, b| (&a.paper, &a.id).cmp(&(&b.paper, &b.id)));
    Ok(all)
}

/// The sort and the reading of a row that does not say them, from its claim.
fn of_claim(claim: Option<&Claim>, variant: &str) -> (Sort, bool) {
    let Some(claim) = claim else { return (Sort::Order, false) };
    let of = claim.of.iter().find(|o| claim.label(o) == variant);
    (claim.sort(), claim.primary && !of.is_some_and(|o| o.other_reading))
}

fn read(to: &Path, entry: Entry, paper: Option<&Paper>) -> Result<Published, SweepError> {
    let path = to.join(&entry.paper).join(entry.id.to_lowercase()).join("verdicts.csv");
    let mut by_means = false;
    let verdicts = table(&path, |row| {
        by_means |= row.optional("method").is_none();
        verdict(&row, paper)
    })?;
    let verdicts = verdicts.into_iter().flatten().collect();
    let outdated = paper.is_some_and(|paper| outdated(to, &entry, paper));
    Ok(Published { entry, verdicts, by_means, outdated })
}

/// A row of `verdicts.csv`; `None` for one that is not shown any more.
fn verdict(row: &Row, paper: Option<&Paper>) -> Result<Option<VerdictRow>, RecordsError> {
    let text = |column: &str| row.text(column).map(str::to_owned);
    let (claim, variant, known) = (text("claim")?, text("variant")?, row.optional("method"));
    let found = paper.and_then(|p| p.claims.iter().find(|c| c.id == claim));
    let (sort, primary) = match known {
        Some(_) => {
            let sort = Sort::named(row.text("kind")?);
            let sort = sort.ok_or_else(|| row.wrong("kind", "kind of claims"))?;
            (sort, row.text("primary")? == "true")
        }
        None => of_claim(found, &variant),
    };
    // a claim that was withdrawn since is not shown, nor a variant that it no longer names
    let named = |c: &Claim| {
        variant.is_empty() || c.of.len() < 2 || c.of.iter().any(|o| c.label(o) == variant)
    };
    if known.is_none() && paper.is_some() && !found.is_some_and(named) {
        return Ok(None);
    }
    Ok(Some(VerdictRow {
        claim,
        place: text("where")?,
        says: text("says")?,
        sort,
        reading: text("reading")?,
        variant,
        primary,
        calibrated: row.text("calibrated")? == "true",
        own: row.text("own_check")? == "true",
        stated: text("stated")?,
        measured: text("measured")?,
        outcome: outcome(row)?,
        why: text("why")?,
        needed: row.optional("needed_seeds").and_then(|n| n.parse().ok()),
    }))
}

/// Whether a variant of an experiment is in none of its published figures.
fn outdated(to: &Path, entry: &Entry, paper: &Paper) -> bool {
    let id = entry.id.to_lowercase();
    let Some(e) = paper.experiments.iter().find(|e| e.id == entry.id) else { return false };
    // a figure of some variants says nothing about the others
    if !e.figures.iter().any(|f| f.variants.is_empty()) {
        return false;
    }
    let file = |figure: &str| to.join(&entry.paper).join(&id).join(format!("{id}-{figure}.csv"));
    let mut shown: BTreeSet<String> = BTreeSet::new();
    let mut figures = 0;
    for figure in &e.figures {
        let Ok(table) = Records::open(&file(&figure.id)) else { continue };
        figures += 1;
        for row in table.flatten() {
            shown.extend(row.cells().into_iter().map(str::to_owned));
        }
    }
    let variants = &paper.runs_of(e).scope.variants;
    figures > 0 && !variants.iter().all(|label| shown.contains(label))
}

/// A table that publishing has written, or why it cannot be read.
pub(super) fn table<T>(
    path: &Path,
    of: impl FnMut(Row) -> Result<T, RecordsError>,
) -> Result<Vec<T>, SweepError> {
    let rows = Records::open(path).and_then(|table| collect(table, of));
    rows.map_err(|e| match e {
        RecordsError::Column { .. } => {
            SweepError::Other(format!("{e}: publish the experiment again"))
        }
        other => other.into(),
    })
}

fn collect<T>(
    table: Records<'_>,
    mut of: impl FnMut(Row) -> Result<T, RecordsError>,
) -> Result<Vec<T>, RecordsError> {
    table.map(|row| of(row?)).collect()
}

fn outcome(row: &Row) -> Result<ClaimOutcome, RecordsError> {
    let (name, why) = (row.text("verdict")?, row.text("why")?.to_owned());
    let size = row.optional("size").unwrap_or_default();
    ClaimOutcome::named(name, size, why).ok_or_else(|| row.wrong("verdict", "verdict"))
}

pub(super) fn counts<'a>(all: impl IntoIterator<Item = &'a Published>) -> Counts {
    Counts::of(all.into_iter().flat_map(|p| {
        p.verdicts.iter().map(|v| Counted {
            statement: (&p.entry.paper, &v.place, &v.says),
            outcome: &v.outcome,
            sort: v.sort,
            primary: v.primary,
            calibrated: v.calibrated,
            own: v.own,
        })
    }))
}

/// Writes the summary tables.
pub(super) fn write(to: &Path, all: &[Published], known: &[&Paper]) -> Result<(), SweepError> {
    replace(&to.join("experiments.csv"), &experiments(all))?;
    replace(&to.join("counts.csv"), &counts_csv(all))?;
    replace(&to.join("not-reproduced.csv"), &not_reproduced(all, known))
}

fn experiments(all: &[Published]) -> Vec<u8> {
    let count = |p: &Published| counts([p]);
    let four = move |p: &Published| if p.entry.own { count(p).own } else { count(p).all() };
    let mut sorted: Vec<&Published> = all.iter().collect();
    sorted.sort_by_key(|p| (&p.entry.paper, &p.entry.id));
    Sheet::new()
        .column("paper", |p: &&Published| p.entry.paper.as_str())
        .column("experiment", |p| p.entry.id.as_str())
        .column("own_check", |p| p.entry.own.to_string())
        .column("runs", |p| p.entry.runs)
        .column("judged_by", |p| if p.by_means { "means" } else { "intervals" })
        .each(Four::COLUMNS, move |p, i| four(p).numbers()[i] as u64)
        .column("not_measured", move |p| count(p).not_measured as u64)
        .column("calibrated", move |p| count(p).calibrated as u64)
        .column("missing", move |p| count(p).missing as u64)
        .csv(&sorted)
}

fn counts_csv(all: &[Published]) -> Vec<u8> {
    let mut rows = Vec::new();
    for own in all.chunk_by(|a, b| a.entry.paper == b.entry.paper) {
        let counts = counts(own);
        for (reading, of) in [("primary", &counts.primary), ("other", &counts.others)] {
            let sorts = Sort::ALL.iter().zip(of);
            rows.extend(sorts.map(|(sort, four)| (&own[0].entry.paper, sort, reading, *four)));
        }
    }
    Sheet::new()
        .column("paper", |row: &(&String, &Sort, &str, Four)| row.0.as_str())
        .column("kind", |row| row.1.name())
        .column("reading", |row| row.2)
        .each(Four::COLUMNS, |row, i| row.3.numbers()[i] as u64)
        .csv(&rows)
}

/// All that is not reproduced, each claim and reading once, with what tests its explanation.
pub(super) fn not_reproduced(all: &[Published], known: &[&Paper]) -> Vec<u8> {
    let tested = |p: &Published, claim: &str| {
        let paper = known.iter().find(|k| k.id == p.entry.paper);
        let at = paper.and_then(|k| k.claims.iter().position(|c| c.id == claim));
        let by = paper.zip(at).map(|(k, at)| k.tested_by(at)).unwrap_or_default();
        if by.is_empty() { "unexplained".to_owned() } else { by.join("; ") }
    };

    let rows = all.iter().flat_map(|p| p.verdicts.iter().map(move |v| (p, v)));
    let rows: Vec<(&Published, &VerdictRow)> =
        rows.filter(|(_, v)| v.outcome.is_not_reproduced()).collect();
    let reading = |v: &VerdictRow| {
        let words = [v.reading.as_str(), &v.variant];
        words.into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join("; ")
    };
    Sheet::new()
        .column("paper", |(p, _): &(&Published, &VerdictRow)| p.entry.paper.as_str())
        .column("experiment", |(p, _)| p.entry.id.as_str())
        .column("claim", |(_, v)| v.claim.as_str())
        .column("kind", |(_, v)| v.sort.name())
        .column("reading", |(_, v)| if v.primary { "primary" } else { "other" })
        .column("reading_words", move |(_, v)| reading(v))
        .column("calibrated", |(_, v)| v.calibrated.to_string())
        .column("own_check", |(_, v)| v.own.to_string())
        .column("explained_by", move |(p, v)| tested(p, &v.claim))
        .csv(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was published before values per seed were has three verdicts and no method.
    #[test]
    fn results_without_intervals_stay_readable_and_are_marked() {
        let to = std::env::temp_dir().join(format!("weir-published-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = to.join(name);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        };
        write(
            "experiments.csv",
            "paper,experiment,own_check,runs,cpu_seconds\np,P-1,false,6,2.5\n",
        );
        write(
            "p/p-1/verdicts.csv",
            "claim,where,says,reading,variant,calibrated,own_check,stated,measured,verdict,why\n\
             a,Fig. 1,so,,,false,false,5 %,6 %,same direction,\n",
        );
        let found = with(&to, &[], &[], |shown| {
            let p = &shown.all[0];
            assert_eq!((p.by_means, p.entry.runs, p.verdicts.len()), (true, 6, 1));
            let summary = String::from_utf8(experiments(&shown.all)).expect("text");
            assert!(summary.ends_with("p,P-1,false,6,means,0,1,0,0,0,0,0\n"), "{summary}");
            Ok(())
        });
        std::fs::remove_dir_all(&to).expect("removed");
        found.expect("readable");
    }
}
