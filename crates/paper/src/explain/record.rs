//! What came out, as it is kept and shown: `explain.json`.
//!
//! Terminals, pages and published results show a record; none of them looks at runs.

use super::POST_HOC;
use super::answer::Answer;
use super::effects::{self, Effect, Term};
use super::score::{Scorable, Scored, Unscored, scorables};
use super::search::{Phase, Study, directory};
use crate::claim::{Claim, Rule};
use crate::claim_rules::{percent, shown};
use crate::explanation::{Combination, Design, Explanation};
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::path::Path;
use weir_core::format;
use weir_sweep::SweepError;

/// The name of the file.
pub const FILE: &str = "explain.json";
const FORMAT: u32 = 1;

/// What came out of an explanation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    weir_explain: u32,
    /// The paper.
    pub paper: String,
    /// The explanation.
    pub id: String,
    /// One line.
    pub title: String,
    /// The experiments whose claims were scored.
    pub experiments: Vec<String>,
    /// How these were scaled down, in words.
    pub scaled: Vec<String>,
    /// The variants that were changed.
    pub variants: Vec<String>,
    /// Which combinations were tried, in words.
    pub design: String,
    /// How many there are.
    pub combinations: u64,
    /// How many were tried.
    pub tried: usize,
    /// Seeds of the search.
    pub seeds: usize,
    /// Runs of the search.
    pub runs: usize,
    /// Runs of search and confirmation that have no result.
    pub missing: usize,
    /// The claims that were scored.
    pub claims: Vec<String>,
    /// Claims that a quick run leaves out.
    pub left_out: Vec<String>,
    /// Claims that compare runs with themselves under a combination.
    #[serde(default)]
    pub same_runs: Vec<String>,
    /// What was varied.
    pub factors: Vec<FactorShown>,
    /// The claims whose numbers stand in the table.
    pub quantities: Vec<QuantityShown>,
    /// The best by number of departures.
    pub best: Vec<TriedRow>,
    /// What it comes to.
    pub sentences: Vec<String>,
    /// The strongest effects, then the strongest interactions.
    pub effects: Vec<String>,
    /// The best few on fresh seeds.
    pub confirmed: Option<Confirmed>,
    /// That none of this counts.
    pub label: String,
}

/// What was varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorShown {
    /// What it is.
    pub name: String,
    /// Where the paper leaves it open.
    pub place: String,
    /// Labels, the primary one first.
    pub levels: Vec<String>,
}

/// A claim whose numbers stand in the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuantityShown {
    /// Its name.
    pub claim: String,
    /// What the paper says.
    pub says: String,
    /// The paper's number.
    pub paper: String,
}

/// A departure from the primary reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// In words.
    pub words: String,
    /// What it contradicts; empty if the paper leaves it open.
    pub contradicts: String,
}

/// A combination and what came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedRow {
    /// How it departs from the primary reading.
    pub departures: Vec<Departure>,
    /// How many claims hold.
    pub held: usize,
    /// How many of them are within the paper's margin.
    pub within_margin: usize,
    /// The numbers of the table.
    pub numbers: Vec<String>,
    /// Other combinations with as many departures that hold as many claims, in words.
    pub ties: Vec<String>,
}

/// The best few on fresh seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmed {
    /// Quick or full.
    pub scale: String,
    /// How many fresh seeds.
    pub seeds: usize,
    /// How many runs.
    pub runs: usize,
    /// How many claims could be judged.
    pub claims: usize,
    /// What came out.
    pub rows: Vec<TriedRow>,
}

/// What came out of a confirmation.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// Which runs.
    pub phase: Phase,
    /// The claims that could be judged.
    pub claims: Vec<Scorable>,
    /// What came out.
    pub scored: Vec<Scored>,
    /// How many runs have a result, and how many there are.
    pub runs: (usize, usize),
}

/// What came out of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// The claims that could be judged.
    pub claims: Vec<Scorable>,
    /// Those that were not.
    pub unscored: Unscored,
    /// What came out under each combination.
    pub scored: Vec<Scored>,
    /// How many runs have a result, and how many there are.
    pub runs: (usize, usize),
    /// Which departures are needed.
    pub answer: Answer,
    /// Which factors move which claims.
    pub effects: Vec<Effect>,
}

/// A level in words.
pub(super) fn level_words(explanation: &Explanation, factor: usize, level: usize) -> String {
    let f = &explanation.factors[factor];
    format!("{}: {}", f.name, f.levels[level].label)
}

/// A combination in words: its departures.
pub(super) fn words(explanation: &Explanation, combination: &Combination) -> String {
    let departures = explanation.departures(combination);
    match departures.is_empty() {
        true => "the primary reading".to_owned(),
        false => {
            let one = |f: &usize| level_words(explanation, *f, combination.0[*f]);
            departures.iter().map(one).collect::<Vec<_>>().join(" + ")
        }
    }
}

/// A term in words.
pub(super) fn term_words(explanation: &Explanation, term: &Term) -> String {
    let one = |(f, l): &(usize, usize)| level_words(explanation, *f, *l);
    term.iter().map(one).collect::<Vec<_>>().join(" × ")
}

/// The number of a claim with its interval.
fn number(claim: &Claim, v: &Verdict) -> String {
    let show = |x: f64| match &claim.rule {
        Rule::Reduction(_) => percent(x),
        Rule::Value(_) | Rule::Limit { .. } if claim.against.is_empty() => shown(claim.metric(), x),
        _ => format::significant(x),
    };
    match (v.estimate, v.interval) {
        (Some(x), Some(i)) if i.low == x && i.high == x => show(x),
        (Some(x), Some(i)) => format!("{} [{}, {}]", show(x), show(i.low), show(i.high)),
        (Some(x), None) => show(x),
        (None, _) => v.outcome.name().to_owned(),
    }
}

fn row(study: &Study<'_>, claims: &[Scorable], scored: &Scored, ties: Vec<String>) -> TriedRow {
    let explanation = study.explanation;
    let columns: Vec<String> = quantities(study).into_iter().map(|q| q.claim).collect();
    let departure = |f: usize| {
        let level = scored.combination.0[f];
        Departure {
            words: level_words(explanation, f, level),
            contradicts: explanation.factors[f].levels[level].contradicts.clone(),
        }
    };
    let of = |name: &String| {
        let at = claims.iter().position(|c| c.name == *name);
        at.map_or_else(String::new, |i| number(&claims[i].claim, &scored.verdicts[i]))
    };
    TriedRow {
        departures: explanation
            .departures(&scored.combination)
            .into_iter()
            .map(departure)
            .collect(),
        held: scored.held(),
        within_margin: scored.within_margin(),
        numbers: columns.iter().map(of).collect(),
        ties,
    }
}

/// The columns of the table: the declared claims, for each variant that is looked at.
fn quantities(study: &Study<'_>) -> Vec<QuantityShown> {
    let mut all = scorables(study);
    all.retain(|c| study.explanation.quantities.contains(&c.index));
    let shown = |c: Scorable| {
        // of several variants each has a column, which says of which it is
        let which = c.name.strip_prefix(&c.claim.id).unwrap_or_default();
        QuantityShown {
            says: format!("{}{which}", c.claim.says),
            paper: c.claim.paper(),
            claim: c.name,
        }
    };
    all.into_iter().map(shown).collect()
}

/// Sets of departures in words, one or the other.
fn alternatives(study: &Study<'_>, scored: &[Scored], of: &[usize]) -> String {
    /// More are in the table.
    const MOST: usize = 4;
    let one = |i: &usize| words(study.explanation, &scored[*i].combination);
    let mut all: Vec<String> = of.iter().take(MOST).map(one).collect();
    if of.len() > MOST {
        all.push(format!("{} others", of.len() - MOST));
    }
    all.join("; or ")
}

fn sentences(study: &Study<'_>, found: &Found) -> Vec<String> {
    let (answer, total) = (&found.answer, found.claims.len());
    let enough = match study.explanation.enough {
        Some(n) => format!("{n} of {total} claims"),
        None => format!("more than half of the {total} claims"),
    };
    let departs = |of: &[usize]| {
        of.first().is_some_and(|i| {
            !study.explanation.departures(&found.scored[*i].combination).is_empty()
        })
    };
    let mut all = Vec::new();
    let list = |of: &[usize]| alternatives(study, &found.scored, of);
    all.push(match answer.smallest.first() {
        None => format!("No combination that was tried makes {enough} hold."),
        Some(i) if departs(&answer.smallest) => format!(
            "These departures are needed for {enough} to hold: {} ({} hold).",
            list(&answer.smallest),
            found.scored[*i].held()
        ),
        Some(i) => format!(
            "No departure is needed: {} of {total} claims hold under the primary reading.",
            found.scored[*i].held()
        ),
    });
    all.push(match departs(&answer.of_most) {
        true => format!(
            "The most that hold together are {} of {total}, which needs: {}.",
            answer.most,
            list(&answer.of_most)
        ),
        false => format!("No departure makes more than {} of {total} hold.", answer.most),
    });
    all
}

/// An effect in words: what it does to which claim.
fn effect_words(study: &Study<'_>, found: &Found, e: &Effect) -> String {
    let shown = e.shown();
    let n = format::significant;
    let mark = if e.present() { "" } else { " (alone; not after correction for all effects)" };
    let pair = if e.term.len() == 2 { "beyond their product " } else { "" };
    format!(
        "{}: {pair}× {} [{}, {}]{mark}, of {}",
        term_words(study.explanation, &e.term),
        n(shown.value),
        n(shown.interval.low),
        n(shown.interval.high),
        found.claims[e.claim].claim.says,
    )
}

impl Record {
    /// Of what was found, and confirmed.
    pub fn new(study: &Study<'_>, found: &Found, confirmation: Option<&Confirmation>) -> Self {
        /// So many effects and so many interactions stand below the table.
        const MOST: usize = 6;
        let explanation = study.explanation;
        let best = |of: &Vec<usize>| {
            let ties = of[1..].iter().map(|i| words(explanation, &found.scored[*i].combination));
            row(study, &found.claims, &found.scored[of[0]], ties.collect())
        };
        let scaled = |e: &&crate::Experiment| format!("{}: {}", e.id, explanation.quick_of(e).says);
        let mut effects = Vec::new();
        for factors in [1, 2] {
            let strongest = effects::strongest(&found.effects, factors).into_iter().take(MOST);
            effects.extend(strongest.map(|e| effect_words(study, found, e)));
        }
        Self {
            weir_explain: FORMAT,
            paper: study.paper.id.clone(),
            id: explanation.id.clone(),
            title: explanation.title.clone(),
            experiments: explanation.experiments.clone(),
            scaled: study.experiments().iter().map(scaled).collect(),
            variants: explanation.variants.clone(),
            design: match explanation.design() {
                Design::Full => Design::Full.words().to_owned(),
                part => format!("of {} combinations {}", explanation.count(), part.words()),
            },
            combinations: u64::try_from(explanation.count()).unwrap_or(u64::MAX),
            tried: found.scored.len(),
            seeds: study.seeds(Phase::Search).len(),
            runs: found.runs.0,
            missing: missing(found.runs) + confirmation.map_or(0, |c| missing(c.runs)),
            claims: found.claims.iter().map(|c| c.name.clone()).collect(),
            left_out: found.unscored.only_in_full.clone(),
            same_runs: found.unscored.same_runs.clone(),
            factors: explanation.factors.iter().map(factor).collect(),
            quantities: quantities(study),
            best: found.answer.best.iter().map(best).collect(),
            sentences: sentences(study, found),
            effects,
            confirmed: confirmation.map(|c| confirmed(study, c)),
            label: POST_HOC.to_owned(),
        }
    }

    /// Rows of the table: with more departures than the last of them no more claims hold.
    pub fn rows(&self) -> &[TriedRow] {
        let most = self.best.iter().map(|r| r.held).max().unwrap_or(0);
        let last = self.best.iter().position(|r| r.held == most);
        &self.best[..last.map_or(0, |i| i + 1)]
    }

    /// What was run, in a line.
    pub fn basis(&self) -> String {
        format!(
            "{} of {} ({}) · {} · {} · {}, quick",
            format::plural(self.tried as u64, "combination"),
            format::plural(self.factors.len() as u64, "open setting"),
            self.design,
            self.experiments.join(", "),
            format::plural(self.seeds as u64, "seed"),
            format::plural(self.runs as u64, "run"),
        )
    }

    /// Reads one that was written.
    pub fn load(path: &Path) -> Result<Option<Self>, SweepError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(SweepError::io(path, e)),
        };
        let damaged = |e: serde_json::Error| {
            let shown = path.display();
            SweepError::Other(format!("{shown}: {e}: `weir paper explain` writes it again"))
        };
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }

    /// The record of an explanation below `out`, if there is one.
    pub fn find(out: &Path, paper: &str, id: &str) -> Result<Option<Self>, SweepError> {
        Self::load(&directory(out, paper, id).join(FILE))
    }
}

fn missing((done, total): (usize, usize)) -> usize {
    total - done
}

fn factor(f: &crate::explanation::Factor) -> FactorShown {
    let mut levels = vec![f.levels[f.primary].label.clone()];
    let others = f.levels.iter().enumerate().filter(|(i, _)| *i != f.primary);
    levels.extend(others.map(|(_, l)| match l.contradicts.is_empty() {
        true => l.label.clone(),
        false => format!("{} (contradicts {})", l.label, l.contradicts),
    }));
    FactorShown { name: f.name.clone(), place: f.place.clone(), levels }
}

fn confirmed(study: &Study<'_>, c: &Confirmation) -> Confirmed {
    Confirmed {
        scale: c.phase.mode().name().to_owned(),
        seeds: study.seeds(c.phase).len(),
        runs: c.runs.0,
        claims: c.claims.len(),
        rows: c.scored.iter().map(|s| row(study, &c.claims, s, Vec::new())).collect(),
    }
}
