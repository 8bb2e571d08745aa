//! Pages of published results in Markdown, made of the published tables alone.
//!
//! ```text
//!   papers/results/README.md            verdicts of all papers; runs of experiments
//!   papers/results/ofc.md               figures, claims with verdicts and discussions of one paper
//! ```

mod explained;

use super::catalogue::Paper;
use super::claim::Sort;
use super::counts::Counts;
use super::discussion::Discussion;
use super::experiment::{Experiment, Work};
use super::four::Four;
use super::published::{self, Entry, Published, VerdictRow, counts};
use super::values;
use super::verdict;
use std::fmt::Write as _;
use std::path::Path;
use weir_core::format;
use weir_sweep::SweepError;
use weir_sweep::store::replace;

/// Writes the pages of `papers`, the one about all that is published below `to`, and the summary
/// tables; `fresh` are experiments that have just been published there.
pub(super) fn write(to: &Path, papers: &[&Paper], fresh: &[Entry]) -> Result<(), SweepError> {
    published::with(to, papers, fresh, |shown| {
        for paper in papers {
            let own = |p: &&Published| p.entry.paper == paper.id;
            let own: Vec<&Published> = shown.all.iter().filter(own).collect();
            if !own.is_empty() {
                let mut page = paper_page(to, paper, &own, &shown.known);
                page.push_str(&explained::sections(to, paper)?);
                replace(&to.join(format!("{}.md", paper.id)), page.as_bytes())?;
            }
        }
        replace(&to.join("README.md"), summary(&shown.all, &shown.known).as_bytes())?;
        published::write(to, &shown.all, &shown.known)
    })
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

/// What verdicts of an experiment rest on that was published before values per seed were.
const BY_MEANS: &str = "Published before values per seed were, and before readings and settings \
    of this paper were revised: these verdicts compare means, without intervals, and drawings may \
    name variants that the experiment no longer has. It is to be run again.";

/// What is said of an experiment whose variants have changed since.
const OUTDATED: &str = "Published before variants of this experiment were revised: drawings name \
    those of then. It is to be run again.";

/// Counts of verdicts per paper: numbers, orders and trends, the primary reading first.
fn count_table(papers: &[&[Published]], known: &[&Paper]) -> String {
    let four = "reproduced | same direction | not reproduced | not distinguishable |";
    let mut out =
        format!("| paper | | {four} other readings: {four}\n|---|---|{}\n", "--:|".repeat(8));
    for own in papers {
        let id = &own[0].entry.paper;
        let short = known.iter().find(|k| k.id == *id).map_or(id, |k| &k.short);
        let counts = counts(*own);
        for (sort, (primary, others)) in
            Sort::ALL.iter().zip(counts.primary.iter().zip(&counts.others))
        {
            if primary.total() + others.total() == 0 {
                continue;
            }
            let cell = |n: usize| if n == 0 { String::new() } else { n.to_string() };
            let cells: Vec<String> =
                primary.numbers().into_iter().chain(others.numbers()).map(cell).collect();
            let name = format!("{}s", sort.name());
            let _ =
                writeln!(out, "| [{}]({id}.md) | {name} | {} |", plain(short), cells.join(" | "));
        }
    }
    out
}

const EXPERIMENT_HEADS: &str =
    "numbers | orders | trends | other readings | not measured | calibrated | own checks |";

fn experiment_cells(c: &Counts) -> String {
    let cell = |n: usize| if n == 0 { String::new() } else { n.to_string() };
    let mut cells = c.primary.map(|four| four.cell()).to_vec();
    let others = c.others.iter().fold(Four::default(), |sum, four| sum.with(*four));
    cells.push(others.cell());
    cells.extend([c.not_measured, c.calibrated].map(cell));
    cells.push(c.own.cell());
    cells.join(" | ") + " |\n"
}

/// `README.md`.
fn summary(all: &[Published], known: &[&Paper]) -> String {
    let mut out = String::from(
        "# Results of full runs\n\nEvery experiment at the scale of its paper, and what the papers \
         say beside it. This directory is written by `weir paper publish`; but for processor times \
         (`times.csv`) it is a function of the experiments, and who runs them again gets the same \
         bytes. `values.csv` of an experiment has one number per run of all that claims look at: \
         `weir paper judge` judges them again without a run. `live/` is the exception: runs on \
         real frames, written by `weir live study`, whose times are those of a kernel and never \
         the same twice.\n\n\
         Each statement is judged by a rule that was fixed before the runs, once for each of its \
         readings, by intervals over seeds: reproduced (all of the interval is within the margin), \
         same direction, not reproduced (the interval excludes the direction), not distinguishable \
         (the interval contains both). Calibrated: a setting was chosen with the published number \
         in view. Own checks: no paper has them; they test choices made here. Neither is counted \
         among the verdicts.\n\n",
    );
    let papers: Vec<&[Published]> = all.chunk_by(|a, b| a.entry.paper == b.entry.paper).collect();
    out.push_str(&count_table(&papers, known));
    let by_intervals = counts(all.iter().filter(|p| !p.by_means));
    let _ = write!(out, "\n{}\n\n", by_intervals.by_chance());
    let by_means = all.iter().filter(|p| p.by_means).count();
    if by_means > 0 {
        let _ = write!(
            out,
            "{} (marked *) {} published before values per seed were: their verdicts compare \
             means, without intervals, until they are run again.\n\n",
            format::plural(by_means as u64, "experiment"),
            if by_means == 1 { "was" } else { "were" }
        );
    }
    let outdated = all.iter().filter(|p| p.outdated && !p.by_means).count();
    if outdated > 0 {
        let _ = write!(
            out,
            "{} (marked +) {} published before variants of {} were revised.\n\n",
            format::plural(outdated as u64, "experiment"),
            if outdated == 1 { "was" } else { "were" },
            if outdated == 1 { "it" } else { "them" }
        );
    }
    let runs: u64 = all.iter().map(|p| p.entry.runs).sum();
    let _ = write!(
        out,
        "{} experiments, {runs} runs. Counts are reproduced / same direction / not reproduced / \
         not distinguishable, of the primary reading unless said otherwise.\n\n\
         | experiment | | runs | {EXPERIMENT_HEADS}\n|---|---|--:|{}\n",
        all.len(),
        "--:|".repeat(7)
    );
    for p in all {
        let Entry { paper, id, runs, .. } = &p.entry;
        let of = known.iter().find(|k| k.id == *paper);
        let e = of.and_then(|k| k.experiments.iter().find(|e| e.id == *id));
        let title = e.map_or("", |e| e.title.as_str());
        let star = match (p.by_means, p.outdated) {
            (true, _) => " \\*",
            (false, true) => " +",
            (false, false) => "",
        };
        let anchor = id.to_lowercase();
        let _ = write!(
            out,
            "| [{id}]({paper}.md#{anchor}){star} | {} | {runs} | {}",
            plain(title),
            experiment_cells(&counts([p]))
        );
    }
    out
}

fn paper_page(to: &Path, paper: &Paper, own: &[&Published], known: &[&Paper]) -> String {
    let mut out = format!("# {}\n\n", plain(&paper.title));
    out.push_str(&paragraphs(&paper.notes));
    let total = counts(own.iter().copied());
    if total.readings() > 0 {
        for line in total.words().lines() {
            let _ = writeln!(out, "- {line}");
        }
        let by_intervals = counts(own.iter().copied().filter(|p| !p.by_means));
        let _ = write!(out, "\n{}\n\n", by_intervals.by_chance());
    }
    let mut shown = vec![false; paper.discussions.len()];
    for p in own {
        let Some(e) = paper.experiments.iter().find(|e| e.id == p.entry.id) else { continue };
        out.push_str(&experiment(to, paper, e, p));
        for (i, d) in paper.discussions.iter().enumerate() {
            let about = |v: &VerdictRow| d.claims.iter().any(|c| paper.claims[*c].id == v.claim);
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
    if p.by_means {
        let _ = write!(out, "{BY_MEANS}\n\n");
    } else if p.outdated {
        let _ = write!(out, "{OUTDATED}\n\n");
    }
    let runs_of = paper.runs_of(e).id.to_lowercase();
    let values = format!("{}/{runs_of}/{}", paper.id, values::FILE);
    let values = to.join(&values).exists().then_some(values);
    out.push_str(&claims(p, paper, values.as_deref()));
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
            Work::Sweep(_) => format::plural(p.entry.runs, "run"),
        }
    );
    let live = format!("live/{}.md", e.id.to_lowercase());
    if e.live.is_some() && to.join(&live).exists() {
        let _ = write!(out, "Made again on real frames: [{live}]({live}).\n\n");
    }
    out
}

/// Claims with verdicts; what the readings of a claim have in common stands once.
fn claims(p: &Published, paper: &Paper, values: Option<&str>) -> String {
    let (rows, by_means) = (&p.verdicts, p.by_means);
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
            let measured = plain(&verdict::shown(&v.outcome, &v.measured));
            // the numbers that decide it, one per run; `verdicts.csv` names the rows
            let measured = match values.filter(|_| v.outcome.judgement().is_some()) {
                Some(file) => format!("{measured} ([rows]({file}))"),
                None => measured,
            };
            let variant = match v.variant.is_empty() {
                true => String::new(),
                false => format!("{}: ", plain(&v.variant)),
            };
            let calibrated = if v.calibrated { " (calibrated)" } else { "" };
            let at = paper.claims.iter().position(|c| c.id == v.claim);
            let open = v.outcome.is_not_reproduced() && !v.calibrated;
            let open = open && at.is_some_and(|claim| paper.tested_by(claim).is_empty());
            let unexplained = if open { ", unexplained" } else { "" };
            let verdict = match by_means {
                true => v.outcome.name().to_owned(),
                false => plain(&verdict::words(&v.outcome, &v.why, v.needed)),
            };
            let _ = writeln!(
                out,
                "| {common} | {variant}{measured} | {verdict}{calibrated}{unexplained} |"
            );
        }
    }
    out.push('\n');
    for of in rows.chunk_by(|a, b| a.claim == b.claim) {
        let claim = paper.claims.iter().find(|c| c.id == of[0].claim);
        if let Some(c) = claim.filter(|c| !c.discussion.is_empty()) {
            let _ = write!(out, "*{}.* {}", plain(&c.says), paragraphs(&c.discussion));
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
    let link = |id: &String| {
        let has = |p: &&&Paper| p.experiments.iter().any(|e| e.id.eq_ignore_ascii_case(id));
        let of = std::iter::once(&paper).chain(known).find(has);
        let file =
            of.filter(|p| p.id != paper.id).map_or(String::new(), |p| format!("{}.md", p.id));
        // a declared space of settings has a place of this name
        format!("[{id}]({file}#{})", id.to_lowercase())
    };
    if !d.sensitivity.is_empty() {
        let links: Vec<String> = d.sensitivity.iter().map(link).collect();
        let _ = write!(out, "Tested by {}.\n\n", links.join(", "));
    }
    out
}

#[cfg(test)]
mod tests;
