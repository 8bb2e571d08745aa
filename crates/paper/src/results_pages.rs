//! Pages of published results in Markdown, made of the published tables alone.
//!
//! ```text
//!   papers/results/README.md            verdicts of all papers; runs and time of experiments
//!   papers/results/ofc.md               figures, claims with verdicts and discussions of one paper
//!   papers/results/not-reproduced.csv   claims that are not; the program knows these
//! ```

use super::catalogue::{Paper, all_inside};
use super::counts::{Counted, Counts};
use super::discussion::Discussion;
use super::experiment::{Experiment, Work};
use super::verdict::Outcome;
use std::fmt::Write as _;
use std::path::Path;
use weir_core::format;
use weir_results::column::csv_text;
use weir_sweep::SweepError;
use weir_sweep::store::replace;

/// A row of `verdicts.csv`.
struct Row {
    claim: String,
    place: String,
    says: String,
    reading: String,
    variant: String,
    calibrated: bool,
    own: bool,
    stated: String,
    measured: String,
    outcome: Outcome,
}

/// A row of `experiments.csv` with the verdicts of the experiment.
struct Published {
    paper: String,
    id: String,
    /// No paper has it.
    own: bool,
    runs: u64,
    cpu_seconds: f64,
    verdicts: Vec<Row>,
}

/// Writes the pages of `papers`, and the one about all that is published below `to`.
pub(super) fn write(to: &Path, papers: &[&Paper]) -> Result<(), SweepError> {
    let mut all = read(to)?;
    let inside = all_inside().unwrap_or_default();
    let known: Vec<&Paper> = papers.iter().copied().chain(&inside).collect();
    // as papers and experiments are listed; those of others at the end
    let rank = |p: &Published| {
        let paper = inside.iter().chain(papers.iter().copied()).position(|k| k.id == p.paper);
        let of = known.iter().find(|k| k.id == p.paper);
        let at = of.and_then(|k| k.experiments.iter().position(|e| e.id == p.id));
        (paper.unwrap_or(usize::MAX), at.unwrap_or(usize::MAX), p.paper.clone(), p.id.clone())
    };
    all.sort_by_key(rank);
    for paper in papers {
        let own: Vec<&Published> = all.iter().filter(|p| p.paper == paper.id).collect();
        if !own.is_empty() {
            let page = paper_page(to, paper, &own, &known);
            replace(&to.join(format!("{}.md", paper.id)), page.as_bytes())?;
        }
    }
    replace(&to.join("README.md"), summary(&all, &known).as_bytes())?;
    replace(&to.join("not-reproduced.csv"), &not_reproduced(&all))
}

fn read(to: &Path) -> Result<Vec<Published>, SweepError> {
    let mut all = Vec::new();
    for row in table(&to.join("experiments.csv"))? {
        let (paper, id) = (row.text("paper")?, row.text("experiment")?);
        let path = to.join(&paper).join(id.to_lowercase()).join("verdicts.csv");
        let mut verdicts = Vec::new();
        for row in table(&path)? {
            verdicts.push(Row {
                claim: row.text("claim")?,
                place: row.text("where")?,
                says: row.text("says")?,
                reading: row.text("reading")?,
                variant: row.text("variant")?,
                calibrated: row.text("calibrated")? == "true",
                own: row.text("own_check")? == "true",
                stated: row.text("stated")?,
                measured: row.text("measured")?,
                outcome: row.outcome()?,
            });
        }
        let own = row.text("own_check")? == "true";
        let (runs, cpu_seconds) = (row.number("runs")?, row.number("cpu_seconds")?);
        all.push(Published { paper, id, own, runs, cpu_seconds, verdicts });
    }
    Ok(all)
}

/// A row of a table with the names of its columns.
struct Record {
    path: String,
    heads: csv::StringRecord,
    cells: csv::StringRecord,
}

fn table(path: &Path) -> Result<Vec<Record>, SweepError> {
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
    fn text(&self, name: &str) -> Result<String, SweepError> {
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
        let unknown = || SweepError::Other(format!("{}: no verdict `{name}`", self.path));
        Outcome::named(&name, why).ok_or_else(unknown)
    }
}

fn counts<'a>(all: impl IntoIterator<Item = &'a Published>) -> Counts {
    Counts::of(all.into_iter().flat_map(|p| {
        p.verdicts.iter().map(|v| Counted {
            statement: (&p.paper, &v.place, &v.says),
            outcome: &v.outcome,
            calibrated: v.calibrated,
            own: v.own,
        })
    }))
}

/// Text that Markdown shows as it is, in one line; what stands between backticks is code.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(c, '\\' | '|' | '<' | '>' | '*' | '[' | ']' | '~' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn paragraphs(text: &str) -> String {
    let all = text.split("\n\n").map(plain).filter(|p| !p.is_empty());
    all.map(|p| p + "\n\n").collect()
}

const COUNT_HEADS: &str = "statements | readings | reproduced | same direction | not reproduced | \
    not measured | calibrated | own checks |\n";

fn count_cells(c: &Counts) -> String {
    let cell = |n: usize| if n == 0 { String::new() } else { n.to_string() };
    let mut cells = vec![cell(c.statements), cell(c.readings())];
    cells.extend(c.three().map(cell));
    cells.extend([c.not_measured, c.calibrated].map(cell));
    let own = c.own.iter().any(|n| *n > 0);
    cells.push(if own { c.own.map(|n| n.to_string()).join(" / ") } else { String::new() });
    cells.join(" | ") + " |\n"
}

/// `README.md`. The only page with processor times, which differ from run to run.
fn summary(all: &[Published], known: &[&Paper]) -> String {
    let mut out = String::from(
        "# Results of full runs\n\nEvery experiment at the scale of its paper, and what the papers \
         say beside it. This directory is written by `weir paper publish`; but for processor times \
         it is a function of the experiments, and who runs them again gets the same bytes.\n\n\
         Each statement is judged by a rule that was fixed before the runs, once for each of its \
         readings. Calibrated: a setting was chosen with the published number in view. Own checks \
         (reproduced / same direction / not reproduced): no paper has them; they test choices made \
         here. Neither is counted among the verdicts.\n\n",
    );
    let _ = writeln!(out, "| paper | {COUNT_HEADS}|---|{}", "--:|".repeat(8));
    let papers: Vec<&[Published]> = all.chunk_by(|a, b| a.paper == b.paper).collect();
    for own in &papers {
        let id = &own[0].paper;
        let short = known.iter().find(|k| k.id == *id).map_or(id, |k| &k.short);
        let _ = write!(out, "| [{}]({id}.md) | {}", plain(short), count_cells(&counts(*own)));
    }
    if papers.len() > 1 {
        let _ = write!(out, "| all | {}", count_cells(&counts(all)));
    }
    let runs: u64 = all.iter().map(|p| p.runs).sum();
    let _ = write!(
        out,
        "\n{} experiments, {runs} runs, {}.\n\n\
         | experiment | | runs | CPU s | {COUNT_HEADS}|---|---|--:|--:|{}\n",
        all.len(),
        processor_time(&papers),
        "--:|".repeat(8)
    );
    for p in all {
        let of = known.iter().find(|k| k.id == p.paper);
        let e = of.and_then(|k| k.experiments.iter().find(|e| e.id == p.id));
        let title = e.map_or("", |e| e.title.as_str());
        let (id, paper, anchor) = (&p.id, &p.paper, p.id.to_lowercase());
        let _ = write!(
            out,
            "| [{id}]({paper}.md#{anchor}) | {} | {} | {:.1} | {}",
            plain(title),
            p.runs,
            p.cpu_seconds,
            count_cells(&counts([p]))
        );
    }
    out
}

/// What everything cost, and how much of it the experiments that papers have.
fn processor_time(papers: &[&[Published]]) -> String {
    let minutes = |of: &dyn Fn(&[Published], &Published) -> bool| {
        let counted = papers.iter().flat_map(|all| all.iter().filter(|p| of(all, p)));
        counted.map(|p| p.cpu_seconds).sum::<f64>() / 60.0
    };
    let all = minutes(&|_, _| true);
    // a matrix of schemes states nothing that could be judged
    let stated = minutes(&|paper, p| !p.own && counts(paper).readings() > 0);
    let words = format!("{all:.0} min of processor time");
    match all - stated >= 1.0 {
        true => format!("{words}, {stated:.0} min of it for experiments of the papers"),
        false => words,
    }
}

fn paper_page(to: &Path, paper: &Paper, own: &[&Published], known: &[&Paper]) -> String {
    let mut out = format!("# {}\n\n", plain(&paper.title));
    out.push_str(&paragraphs(&paper.notes));
    let total = counts(own.iter().copied());
    if total.readings() > 0 {
        let _ = write!(out, "{}.\n\n", total.words().replace('\n', "; "));
    }
    let mut shown = vec![false; paper.discussions.len()];
    for p in own {
        let Some(e) = paper.experiments.iter().find(|e| e.id == p.id) else { continue };
        out.push_str(&experiment(to, paper, e, p));
        for (i, d) in paper.discussions.iter().enumerate() {
            let about = |v: &Row| d.claims.iter().any(|c| paper.claims[*c].id == v.claim);
            if !shown[i] && p.verdicts.iter().any(about) {
                shown[i] = true;
                out.push_str(&discussion(paper, d, known));
            }
        }
    }
    out
}

fn experiment(to: &Path, paper: &Paper, e: &Experiment, p: &Published) -> String {
    let mut out = format!("## {}\n\n**{}**", e.id, plain(&e.title));
    if !e.place.is_empty() {
        let _ = write!(out, " ({})", plain(&e.place));
    }
    out.push_str("\n\n");
    out.push_str(&paragraphs(&e.shows));
    let directory = format!("{}/{}", paper.id, e.id.to_lowercase());
    for f in &e.figures {
        let file = format!("{directory}/{}-{}.svg", e.id.to_lowercase(), f.id);
        if to.join(&file).exists() {
            let _ = write!(out, "![{}]({file})\n\n", plain(&f.title));
        }
        out.push_str(&paragraphs(&f.caption));
    }
    out.push_str(&claims(&p.verdicts, paper));
    let name = match &paper.directory {
        None => e.id.clone(),
        Some(_) => paper.id.clone(),
    };
    let _ = write!(
        out,
        "{}; again: `weir paper run {name} --full`. Tables: [{directory}]({directory}).\n\n",
        match &e.work {
            Work::ReRun(of) => format!("The runs of {of}"),
            Work::FlowSizes(_) => "Worked out from size tables, without runs".to_owned(),
            Work::Sweep(_) => format::plural(p.runs, "run"),
        }
    );
    out
}

/// Claims with verdicts; what the readings of a claim have in common stands once.
fn claims(rows: &[Row], paper: &Paper) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "| where | the paper says | paper | here | verdict |\n|---|---|---|---|---|\n",
    );
    for of in rows.chunk_by(|a, b| a.claim == b.claim) {
        for (i, v) in of.iter().enumerate() {
            let reading = match v.reading.is_empty() {
                true => String::new(),
                false => format!(" ({})", plain(&v.reading)),
            };
            let says = format!("{}{reading}", plain(&v.says));
            let common = match i {
                0 => format!("{} | {says} | {}", plain(&v.place), plain(&v.stated)),
                _ => " | | ".to_owned(),
            };
            let measured = match v.outcome.why() {
                "" => plain(&v.measured),
                why => plain(why),
            };
            let variant = match v.variant.is_empty() {
                true => String::new(),
                false => format!("{}: ", plain(&v.variant)),
            };
            let calibrated = if v.calibrated { " (calibrated)" } else { "" };
            let verdict = v.outcome.name();
            let _ = writeln!(out, "| {common} | {variant}{measured} | {verdict}{calibrated} |");
        }
    }
    out.push('\n');
    for of in rows.chunk_by(|a, b| a.claim == b.claim) {
        let claim = paper.claims.iter().find(|c| c.id == of[0].claim);
        if let Some(c) = claim.filter(|c| !c.discussion.is_empty()) {
            let _ = write!(out, "`{}`: {}", c.id, paragraphs(&c.discussion));
        }
    }
    out
}

fn discussion(paper: &Paper, d: &Discussion, known: &[&Paper]) -> String {
    let mut out = match d.title.is_empty() {
        true => String::new(),
        false => format!("**{}.** ", plain(d.title.trim_end_matches('.'))),
    };
    out.push_str(&paragraphs(&d.text));
    let ids: Vec<String> = d.claims.iter().map(|c| format!("`{}`", paper.claims[*c].id)).collect();
    let _ = write!(out, "About {}.", ids.join(", "));
    let link = |id: &String| {
        let has = |p: &&&Paper| p.experiments.iter().any(|e| e.id.eq_ignore_ascii_case(id));
        let of = std::iter::once(&paper).chain(known).find(has);
        let file =
            of.filter(|p| p.id != paper.id).map_or(String::new(), |p| format!("{}.md", p.id));
        format!("[{id}]({file}#{})", id.to_lowercase())
    };
    if !d.sensitivity.is_empty() {
        let links: Vec<String> = d.sensitivity.iter().map(link).collect();
        let _ = write!(out, " Tested by {}.", links.join(", "));
    }
    out + "\n\n"
}

/// Paper, experiment and claim of all that is not reproduced, each once.
fn not_reproduced(all: &[Published]) -> Vec<u8> {
    let rows = all.iter().flat_map(|p| {
        let not = p.verdicts.iter().filter(|v| v.outcome == Outcome::NotReproduced);
        let mut ids: Vec<&str> = not.map(|v| v.claim.as_str()).collect();
        ids.dedup();
        ids.into_iter().map(|id| [&p.paper, &p.id, id])
    });
    csv_text(["paper", "experiment", "claim"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_do_not_become_markup() {
        assert_eq!(plain("a | b\n <c> *d* `e` [f] 5~6"), r"a \| b \<c\> \*d\* `e` \[f\] 5\~6");
        assert_eq!(paragraphs("one\ntwo\n\nthree\n"), "one two\n\nthree\n\n");
    }

    fn published(id: &str, verdicts: &[(&str, &str, Outcome)]) -> Published {
        let row = |(claim, variant, outcome): &(&str, &str, Outcome)| Row {
            claim: (*claim).into(),
            place: "Fig. 1".into(),
            says: format!("says {claim}"),
            reading: String::new(),
            variant: (*variant).into(),
            calibrated: false,
            own: false,
            stated: "5 %".into(),
            measured: "6 %".into(),
            outcome: outcome.clone(),
        };
        let verdicts = verdicts.iter().map(row).collect();
        let (paper, id, own) = ("p".into(), id.into(), false);
        Published { paper, id, own, runs: 3, cpu_seconds: 90.0, verdicts }
    }

    #[test]
    fn the_summary_counts_statements_once_and_adds_up_processor_time() {
        let one = published(
            "P-1",
            &[("a", "x", Outcome::Reproduced), ("a", "y", Outcome::NotReproduced)],
        );
        let two = published("P-2", &[("a", "", Outcome::NotReproduced)]);
        let all = [one, two];
        let page = summary(&all, &[]);
        assert!(page.contains("| [p](p.md) | 1 | 3 | 1 |  | 2 |  |  |  |\n"), "{page}");
        assert!(page.contains("2 experiments, 6 runs, 3 min of processor time"), "{page}");
        assert!(page.contains("| [P-2](p.md#p-2) |  | 3 | 90.0 | 1 | 1 |  |  | 1 |"), "{page}");
        let open = String::from_utf8(not_reproduced(&all)).expect("text");
        assert_eq!(open, "paper,experiment,claim\np,P-1,a\np,P-2,a\n");
        let mut more = vec![published("P-3", &[]), published("M-1", &[])];
        (more[0].own, more[1].paper) = (true, "matrix".into());
        let page = summary(&all.into_iter().chain(more).collect::<Vec<_>>(), &[]);
        assert!(
            page.contains("6 min of processor time, 3 min of it for experiments of the papers"),
            "{page}"
        );
    }
}
