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
use super::verdict::Outcome;
use std::path::Path;
use weir_results::column::csv_text;
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
    pub(super) outcome: Outcome,
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
        for row in table(&path)? {
            let entry = Entry {
                paper: row.text("paper")?,
                id: row.text("experiment")?,
                own: row.text("own_check")? == "true",
                runs: row.number("runs")?,
            };
            if !fresh.iter().any(|f| f.paper == entry.paper && f.id == entry.id) {
                all.push(entry);
            }
        }
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
    let (mut verdicts, mut by_means) = (Vec::new(), false);
    for row in table(&path)? {
        let claim = row.text("claim")?;
        let (variant, known) = (row.text("variant")?, row.has("method"));
        by_means |= !known;
        let found = paper.and_then(|p| p.claims.iter().find(|c| c.id == claim));
        let (sort, primary) = match known {
            true => {
                let kind = row.text("kind")?;
                let wrong = || SweepError::Other(format!("{}: no kind `{kind}`", row.path));
                (Sort::named(&kind).ok_or_else(wrong)?, row.text("primary")? == "true")
            }
            false => of_claim(found, &variant),
        };
        // a claim that was withdrawn since is not shown, nor a variant that it no longer names
        let named = |c: &Claim| {
            variant.is_empty() || c.of.len() < 2 || c.of.iter().any(|o| c.label(o) == variant)
        };
        if !known && paper.is_some() && !found.is_some_and(named) {
            continue;
        }
        verdicts.push(VerdictRow {
            claim,
            place: row.text("where")?,
            says: row.text("says")?,
            sort,
            reading: row.text("reading")?,
            variant,
            primary,
            calibrated: row.text("calibrated")? == "true",
            own: row.text("own_check")? == "true",
            stated: row.text("stated")?,
            measured: row.text("measured")?,
            outcome: row.outcome()?,
            why: row.text("why")?,
            needed: if known { row.text("needed_seeds")?.parse().ok() } else { None },
        });
    }
    let outdated = paper.is_some_and(|paper| outdated(to, &entry, paper));
    Ok(Published { entry, verdicts, by_means, outdated })
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
    let texts: Vec<String> =
        e.figures.iter().filter_map(|f| std::fs::read_to_string(file(&f.id)).ok()).collect();
    let shown = |label: &String| {
        // as a cell of a table
        let cell = label.replace('"', "\"\"");
        let has =
            |t: &String| t.contains(&format!(",{cell},")) || t.contains(&format!("\"{cell}\""));
        texts.iter().any(has)
    };
    let variants = &paper.runs_of(e).scope.variants;
    !texts.is_empty() && !variants.iter().all(shown)
}

/// A row of a table with the names of its columns.
pub(super) struct Record {
    path: String,
    heads: csv::StringRecord,
    cells: csv::StringRecord,
}

pub(super) fn table(path: &Path) -> Result<Vec<Record>, SweepError> {
    let text = std::fs::read_to_string(path).map_err(|e| SweepError::io(path, e))?;
    let shown = path.display().to_string();
    let wrong = |e: csv::Error| SweepError::Other(format!("{shown}: {e}"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().map_err(wrong)?.clone();
    let record = |cells: Result<csv::StringRecord, csv::Error>| {
        Ok(Record { path: shown.clone(), heads: heads.clone(), cells: cells.map_err(wrong)? })
    };
    reader.records().map(record).collect()
}

impl Record {
    pub(super) fn has(&self, name: &str) -> bool {
        self.heads.iter().any(|head| head == name)
    }

    pub(super) fn text(&self, name: &str) -> Result<String, SweepError> {
        let at = self.heads.iter().position(|head| head == name);
        let cell = at.and_then(|i| self.cells.get(i)).map(str::to_owned);
        cell.ok_or_else(|| {
            let path = &self.path;
            SweepError::Other(format!(
                "{path} has no column `{name}`: publish the experiment again"
            ))
        })
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, SweepError> {
        let text = self.text(name)?;
        let wrong = |_| SweepError::Other(format!("{}: `{name}` is `{text}`", self.path));
        text.parse().map_err(wrong)
    }

    fn outcome(&self) -> Result<Outcome, SweepError> {
        let (name, why) = (self.text("verdict")?, self.text("why")?);
        let size = if self.has("size") { self.text("size")? } else { String::new() };
        let unknown = || SweepError::Other(format!("{}: no verdict `{name}`", self.path));
        Outcome::named(&name, &size, why).ok_or_else(unknown)
    }
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
    let heads = ["paper", "experiment", "own_check", "runs", "judged_by"];
    let others = ["not_measured", "calibrated", "missing"];
    let row = |p: &Published| {
        let counts = counts([p]);
        let four = if p.entry.own { counts.own } else { counts.all() };
        let mut row = vec![p.entry.paper.clone(), p.entry.id.clone(), p.entry.own.to_string()];
        let by = if p.by_means { "means" } else { "intervals" };
        row.extend([p.entry.runs.to_string(), by.to_owned()]);
        let rest = [counts.not_measured, counts.calibrated, counts.missing];
        row.extend(four.numbers().into_iter().chain(rest).map(|n| n.to_string()));
        row
    };
    let mut rows: Vec<Vec<String>> = all.iter().map(row).collect();
    rows.sort();
    csv_text(heads.into_iter().chain(Four::COLUMNS).chain(others), rows)
}

fn counts_csv(all: &[Published]) -> Vec<u8> {
    let mut rows = Vec::new();
    for own in all.chunk_by(|a, b| a.entry.paper == b.entry.paper) {
        let counts = counts(own);
        for (reading, of) in [("primary", &counts.primary), ("other", &counts.others)] {
            for (sort, four) in Sort::ALL.iter().zip(of) {
                let mut row = vec![own[0].entry.paper.clone(), sort.name().to_owned()];
                row.push(reading.to_owned());
                row.extend(four.numbers().map(|n| n.to_string()));
                rows.push(row);
            }
        }
    }
    csv_text(["paper", "kind", "reading"].into_iter().chain(Four::COLUMNS), rows)
}

/// All that is not reproduced, each claim and reading once, with what tests its explanation.
pub(super) fn not_reproduced(all: &[Published], known: &[&Paper]) -> Vec<u8> {
    let tested = |p: &Published, claim: &str| {
        let paper = known.iter().find(|k| k.id == p.entry.paper);
        let at = paper.and_then(|k| k.claims.iter().position(|c| c.id == claim));
        let by = paper.zip(at).map(|(k, at)| k.tested_by(at)).unwrap_or_default();
        if by.is_empty() { "unexplained".to_owned() } else { by.join("; ") }
    };

    let rows = all.iter().flat_map(|p| {
        let not = p.verdicts.iter().filter(|v| v.outcome.is_not_reproduced());
        let row = |v: &VerdictRow| {
            let reading = [v.reading.as_str(), &v.variant];
            let reading: Vec<&str> = reading.into_iter().filter(|t| !t.is_empty()).collect();
            let which = if v.primary { "primary" } else { "other" };
            [
                p.entry.paper.clone(),
                p.entry.id.clone(),
                v.claim.clone(),
                v.sort.name().to_owned(),
                which.to_owned(),
                reading.join("; "),
                v.calibrated.to_string(),
                v.own.to_string(),
                tested(p, &v.claim),
            ]
        };
        not.map(row).collect::<Vec<_>>()
    });
    let heads = [
        "paper",
        "experiment",
        "claim",
        "kind",
        "reading",
        "reading_words",
        "calibrated",
        "own_check",
        "explained_by",
    ];
    csv_text(heads, rows)
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
