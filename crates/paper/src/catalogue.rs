//! Finding papers: those inside the program, and directories of users.

use super::claim::Claim;
use super::claim_read;
use super::discussion::{self, Discussion};
use super::experiment::{Experiment, Work};
use super::explanation::{self, Explanation};
use super::four::Four;
use super::inside::{FILES, built_in};
use super::keys;
use super::readings;
use std::path::{Path, PathBuf};
use weir_results::records::{Records, Row};
use weir_scenario::hash::Sha256;
use weir_scenario::text::{Diagnostic, Diagnostics, SourceId, Sources, Span, parse};
use weir_scenario::{Fields, Files, Problems, unknown_name};

/// A paper with its experiments and claims.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Names it, and its directory of results.
    pub id: String,
    /// The title of the paper.
    pub title: String,
    /// What tables call it.
    pub short: String,
    /// When it appeared.
    pub year: Option<u64>,
    /// What a reader should know before the numbers.
    pub notes: String,
    /// In order.
    pub experiments: Vec<Experiment>,
    /// All of them.
    pub claims: Vec<Claim>,
    /// Why numbers differ from the paper's.
    pub discussions: Vec<Discussion>,
    /// Spaces of readings and open settings in which claims are tried.
    pub explanations: Vec<Explanation>,
    /// All texts.
    pub sources: Sources,
    /// Where its files are.
    pub files: Files,
    /// The directory it was read from; `None` if it is inside the program.
    pub directory: Option<PathBuf>,
    /// The SHA-256 of all its files, by name.
    pub files_hash: String,
}

/// Some experiments of a paper.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The paper.
    pub paper: Paper,
    /// Which of its experiments, by position.
    pub experiments: Vec<usize>,
}

impl Paper {
    /// The discussions that are about a claim, by position.
    pub fn discussed(&self, claim: usize) -> impl Iterator<Item = usize> {
        let about = move |(_, d): &(usize, &Discussion)| d.claims.contains(&claim);
        self.discussions.iter().enumerate().filter(about).map(|(i, _)| i)
    }

    /// Whether something says why a claim came out as it did.
    pub fn is_discussed(&self, claim: usize) -> bool {
        !self.claims[claim].discussion.is_empty() || self.discussed(claim).next().is_some()
    }

    /// What tests the explanations of a claim: experiments and declared spaces of settings.
    pub fn tested_by(&self, claim: usize) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for d in self.discussed(claim).map(|i| &self.discussions[i]) {
            all.extend(d.sensitivity.iter().map(String::as_str));
        }
        let mut known = std::collections::BTreeSet::new();
        all.retain(|id| known.insert(*id));
        all
    }

    /// One of the papers inside the program.
    pub fn inside(id: &str) -> Result<Self, Problems> {
        let own = |path: &&str| Path::new(path).parent() == Some(Path::new(id));
        let names = FILES.iter().map(|(path, _)| *path).filter(own);
        let names = names.filter_map(|path| path.rsplit_once('/').map(|(_, name)| name.to_owned()));
        Self::read(Files::inside(FILES, id), names.collect(), None)
    }

    /// A directory of a user.
    pub fn load(directory: &Path) -> Result<Self, Problems> {
        let mut names = Vec::new();
        let cannot = |e: std::io::Error| {
            Problems::plain(Diagnostic::error(format!(
                "cannot read `{}`: {e}",
                directory.display()
            )))
        };
        let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        for entry in std::fs::read_dir(here).map_err(cannot)? {
            names.push(entry.map_err(cannot)?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Self::read(Files::of(Some(directory.to_owned())), names, Some(directory.to_owned()))
    }

    fn read(
        files: Files,
        names: Vec<String>,
        directory: Option<PathBuf>,
    ) -> Result<Self, Problems> {
        let (mut sources, mut out) = (Sources::default(), Diagnostics::default());
        let add = |sources: &mut Sources, name: &str| -> Result<SourceId, Diagnostic> {
            let text = files.text(name).map_err(Diagnostic::error)?;
            Ok(sources.add(files.path(name).display().to_string(), text))
        };
        let id = add(&mut sources, "paper.toml").map_err(|error| {
            Problems::plain(error.help(
                "a paper is a directory with paper.toml, an experiment per file, and claims.toml",
            ))
        })?;
        let head = Head::read(&sources, id, &names, &mut out);
        let mut experiments: Vec<Experiment> = Vec::new();
        for (stem, at) in &head.experiments {
            let id = match add(&mut sources, &format!("{stem}.toml")) {
                Ok(id) => id,
                Err(error) => {
                    out.push(error.at(*at, ""));
                    continue;
                }
            };
            let Some(e) = Experiment::read(&mut sources, id, stem, &files, &mut out) else {
                continue;
            };
            if experiments.iter().any(|other| other.id.eq_ignore_ascii_case(&e.id)) {
                let title = format!("two experiments are called `{}`", e.id);
                out.push(Diagnostic::error(title).at(e.place_of("id"), ""));
            }
            experiments.push(e);
        }
        borrow_scopes(&mut experiments, &mut out);
        for e in &mut experiments {
            e.read_figures(&mut out);
        }
        let mut claims = Vec::new();
        if names.iter().any(|n| n == "claims.toml") {
            match add(&mut sources, "claims.toml") {
                Ok(id) => {
                    let scopes: Vec<_> = experiments.iter().map(|e| &e.scope).collect();
                    claims = claim_read::read(&sources, id, &scopes, &mut out);
                    readings::mark(&mut claims, &head.others);
                }
                Err(error) => out.push(error),
            }
        }
        let mut discussions = Vec::new();
        if names.iter().any(|n| n == discussion::FILE) {
            match add(&mut sources, discussion::FILE) {
                Ok(id) => {
                    let ids: Vec<&str> = experiments.iter().map(|e| e.id.as_str()).collect();
                    discussions = discussion::read(&sources, id, &claims, &ids, &mut out);
                }
                Err(error) => out.push(error),
            }
        }
        let mut explanations = Vec::new();
        if names.iter().any(|n| n == explanation::FILE) {
            match add(&mut sources, explanation::FILE) {
                Ok(id) => {
                    explanations = explanation::read(&sources, id, &experiments, &claims, &mut out);
                }
                Err(error) => out.push(error),
            }
        }
        if out.has_errors() {
            out.sort();
            return Err(Problems { sources, diagnostics: out });
        }
        let Head { id, title, short, year, notes, .. } = head;
        Ok(Self {
            id,
            title,
            short,
            year,
            notes,
            experiments,
            claims,
            discussions,
            explanations,
            sources,
            files_hash: files_hash(&files, &names),
            files,
            directory,
        })
    }

    /// How a command line names it.
    pub fn argument(&self) -> String {
        self.directory.as_ref().map_or_else(|| self.id.clone(), |d| d.display().to_string())
    }

    /// The experiment whose runs an experiment uses: its own, or another's.
    pub fn runs_of<'a>(&'a self, e: &'a Experiment) -> &'a Experiment {
        let Work::ReRun(id) = &e.work else { return e };
        let same = |other: &&Experiment| other.id.eq_ignore_ascii_case(id);
        self.experiments.iter().find(same).unwrap_or(e)
    }
}

/// The SHA-256 of names and texts of files; what is no text, a directory for instance, is left out.
fn files_hash(files: &Files, names: &[String]) -> String {
    let mut names: Vec<&String> = names.iter().collect();
    names.sort();
    let mut hash = Sha256::new();
    for (name, text) in names.into_iter().filter_map(|n| Some((n, files.text(n).ok()?))) {
        for part in [name, &text] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.finish()
}

/// Experiments that use the runs of another can show what that can.
fn borrow_scopes(experiments: &mut [Experiment], out: &mut Diagnostics) {
    let known: Vec<(String, bool, super::Scope)> = experiments
        .iter()
        .map(|e| (e.id.clone(), matches!(e.work, Work::ReRun(_)), e.scope.clone()))
        .collect();
    for e in experiments {
        let Work::ReRun(of) = &e.work else { continue };
        let at = e.place_of("re-run-of");
        match known.iter().find(|(id, ..)| id.eq_ignore_ascii_case(of)) {
            Some((_, false, scope)) => {
                e.scope = super::Scope { id: e.id.clone(), ..scope.clone() };
            }
            Some(_) => {
                let title = format!("`{of}` itself uses the runs of another experiment");
                out.push(Diagnostic::error(title).at(at, "name the one that has them"));
            }
            None => {
                let names: Vec<&str> = known.iter().map(|(id, ..)| id.as_str()).collect();
                out.push(unknown_name("experiment", of, &names).at(at, ""));
            }
        }
    }
}

/// `paper.toml`.
struct Head {
    id: String,
    title: String,
    short: String,
    year: Option<u64>,
    notes: String,
    experiments: Vec<(String, Span)>,
    /// Variants that are other readings than the primary one.
    others: Vec<String>,
}

impl Head {
    fn read(sources: &Sources, id: SourceId, names: &[String], out: &mut Diagnostics) -> Self {
        let root = parse(sources, id, out);
        let mut f = Fields::file("paper.toml", keys::PAPER, &root, id.span(0..0), out);
        let name = f.required("id");
        f.check_id(&name, "-_");
        let id_at = f.place("id");
        if name.chars().any(|c| c.is_ascii_uppercase()) {
            f.error("the `id` of a paper has lower-case letters", id_at, "it names a directory");
        }
        match name.as_str() {
            "all" | "results" => {
                f.error(format!("`{name}` is reserved on the command line"), id_at, "");
            }
            "figures" => f.error("`figures` is the directory of all figures", id_at, ""),
            _ => {}
        }
        let title = f.required("title");
        let short = f.text_at("short").map_or_else(|| name.clone(), |(text, _)| text);
        let year = f.optional_whole("year").map(|year| year.value);
        let notes = f.trimmed("notes");
        f.require("experiments");
        let experiments = f.names_at("experiments");
        let listed = |stem: &str| experiments.iter().any(|(name, _)| name == stem);
        let own = |stem: &str| {
            !matches!(stem, "paper" | "claims" | "discussion" | "explain")
                && !stem.ends_with(".scenario")
        };
        for stem in names.iter().filter_map(|n| n.strip_suffix(".toml")).filter(|s| own(s)) {
            if !listed(stem) {
                let at = f.place("experiments");
                let title = format!("`{stem}.toml` is not among the experiments");
                f.error(title, at, "add it, or name it .scenario.toml if it is a scenario");
            }
        }
        let others = f.names_at("other-readings").into_iter().map(|(p, _)| p).collect();
        Self { id: name, title, short, year, notes, experiments, others }
    }
}

/// What a command line means: `all`, a paper, an experiment, a directory, or the file of one of
/// its experiments.
pub fn choose(words: &[String]) -> Result<Vec<Chosen>, Problems> {
    let mut chosen: Vec<Chosen> = Vec::new();
    let all = ["all".to_owned()];
    let words = if words.is_empty() { &all } else { words };
    let mut inside: Option<Vec<Paper>> = None;
    for word in words {
        let path = Path::new(word);
        if path.extension().is_some_and(|e| e == "toml") {
            let paper = Paper::load(path.parent().unwrap_or(Path::new("")))?;
            let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into());
            let at = paper.experiments.iter().position(|e| e.stem == stem);
            let Some(at) = at else {
                let error =
                    Diagnostic::error(format!("`{word}` is not an experiment of its paper"));
                let names: Vec<&str> = paper.experiments.iter().map(|e| e.stem.as_str()).collect();
                let nearest = weir_net::nearest(&stem, names.iter().copied());
                return Err(Problems::plain(error.nearest(nearest)));
            };
            add(&mut chosen, paper, Some(at))?;
            continue;
        }
        if word.contains(std::path::is_separator) || path.is_dir() {
            add(&mut chosen, Paper::load(path)?, None)?;
            continue;
        }
        if inside.is_none() {
            inside = Some(all_inside()?);
        }
        let papers = inside.as_deref().unwrap_or_default();
        if word.eq_ignore_ascii_case("all") {
            for paper in papers {
                add(&mut chosen, paper.clone(), None)?;
            }
        } else if let Some(paper) = papers.iter().find(|p| p.id.eq_ignore_ascii_case(word)) {
            add(&mut chosen, paper.clone(), None)?;
        } else {
            let found = papers.iter().find_map(|p| {
                let at = p.experiments.iter().position(|e| e.id.eq_ignore_ascii_case(word))?;
                Some((p, at))
            });
            let Some((paper, at)) = found else { return Err(no_such(word, papers)) };
            add(&mut chosen, paper.clone(), Some(at))?;
        }
    }
    Ok(chosen)
}

/// All papers inside the program, by year; those without one last.
pub fn all_inside() -> Result<Vec<Paper>, Problems> {
    let mut papers = built_in().into_iter().map(Paper::inside).collect::<Result<Vec<_>, _>>()?;
    papers.sort_by_key(|p| (p.year.unwrap_or(u64::MAX), p.id.clone()));
    Ok(papers)
}

fn no_such(word: &str, papers: &[Paper]) -> Problems {
    let ids = papers.iter().flat_map(|p| p.experiments.iter().map(|e| e.id.as_str()));
    let names: Vec<&str> = papers.iter().map(|p| p.id.as_str()).chain(ids).collect();
    let error = Diagnostic::error(format!("there is no paper, experiment or directory `{word}`"));
    let error = error.nearest(weir_net::nearest(word, names.iter().copied()));
    Problems::plain(error.help("`weir paper list` shows all of them"))
}

/// Adds an experiment or all of a paper; two papers of one name have one directory of results.
fn add(chosen: &mut Vec<Chosen>, paper: Paper, only: Option<usize>) -> Result<(), Problems> {
    let wanted: Vec<usize> = match only {
        Some(at) => vec![at],
        None => (0..paper.experiments.len()).collect(),
    };
    match chosen.iter_mut().find(|c| c.paper.id == paper.id) {
        Some(c) if c.paper.directory == paper.directory => {
            c.experiments.extend(wanted);
            c.experiments.sort_unstable();
            c.experiments.dedup();
        }
        Some(c) => {
            let (one, two) = (c.paper.argument(), paper.argument());
            let title = format!("`{one}` and `{two}` are both called `{}`", paper.id);
            let error = Diagnostic::error(title);
            return Err(Problems::plain(
                error.help("give one of them another `id` in its paper.toml"),
            ));
        }
        None => chosen.push(Chosen { paper, experiments: wanted }),
    }
    Ok(())
}

/// What a full run of an experiment came to, as published with the program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Published {
    /// Processor time.
    pub cpu_seconds: f64,
    /// Claims that are reproduced, hold in direction, do not hold, and are open.
    pub verdicts: [u64; 4],
}

/// The published results of an experiment, if there are any.
pub fn published(paper: &str, experiment: &str) -> Option<Published> {
    let file = |name: &str| FILES.iter().find(|(path, _)| *path == name).map(|(_, text)| *text);
    let (counts, times) = (file("results/experiments.csv")?, file("results/times.csv")?);
    find_published(counts, times, paper, experiment)
}

fn find_published(counts: &str, times: &str, paper: &str, id: &str) -> Option<Published> {
    let (counts, times) = (row_of(counts, paper, id)?, row_of(times, paper, id)?);
    let [yes, near, no, open] = Four::COLUMNS.map(|name| counts.get(name).ok());
    Some(Published {
        cpu_seconds: times.get("cpu_seconds").ok()?,
        verdicts: [yes?, near?, no?, open?],
    })
}

/// The row of an experiment in a summary table.
fn row_of(text: &str, paper: &str, experiment: &str) -> Option<Row> {
    let own = |row: &Row| {
        row.optional("paper") == Some(paper) && row.optional("experiment") == Some(experiment)
    };
    Records::parse("a summary", text).ok()?.flatten().find(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_results_are_found_by_paper_and_experiment() {
        let counts = "paper,experiment,reproduced,same_direction,not_reproduced,\
            not_distinguishable\na,X-1,3,2,1,5\nb,X-2,0,0,4,0\n";
        let times = "paper,experiment,cpu_seconds\na,X-1,2.5\n";
        let expected = Published { cpu_seconds: 2.5, verdicts: [3, 2, 1, 5] };
        assert_eq!(find_published(counts, times, "a", "X-1"), Some(expected));
        assert_eq!(find_published(counts, times, "a", "X-2"), None);
        assert_eq!(find_published("no,such\n1,2\n", times, "a", "X-1"), None);
    }
}
