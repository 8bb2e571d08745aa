//! The files of an explanation; no byte depends on when or where they were made.
//!
//! ```text
//!   explain.csv                a row per combination and claim
//!   effects.csv                effects and interactions with intervals
//!   explain.json               what it comes to
//!   effects.svg .pdf .png      effects on the quantities of the table
//! ```

use super::forest;
use super::record::{self, Confirmation, Found, Record, term_words};
use super::score::{Scorable, Scored, holds};
use super::search::{Study, directory};
use crate::catalogue::Paper;
use std::path::Path;
use weir_plot::{Theme, print, svg};
use weir_results::column::csv_text;
use weir_sweep::SweepError;
use weir_sweep::store::replace;

/// The table of combinations and claims.
pub const COMBINATIONS: &str = "explain.csv";
/// The table of effects.
pub const EFFECTS: &str = "effects.csv";
/// The drawing of effects.
pub const DRAWING: &str = "effects.svg";

/// What is published of an explanation.
pub const PUBLISHED: [&str; 4] = [COMBINATIONS, EFFECTS, record::FILE, DRAWING];

/// Writes all files of an explanation and returns what it comes to.
pub fn write(
    study: &Study<'_>,
    found: &Found,
    confirmation: Option<&Confirmation>,
) -> Result<Record, SweepError> {
    let directory = study.directory();
    std::fs::create_dir_all(&directory).map_err(|e| SweepError::io(&directory, e))?;
    let put = |name: &str, bytes: &[u8]| replace(&directory.join(name), bytes);
    put(COMBINATIONS, &combinations(study, found, confirmation))?;
    put(EFFECTS, &effects(study, found))?;
    let record = Record::new(study, found, confirmation);
    let mut json = serde_json::to_string_pretty(&record).expect("text and numbers");
    json.push('\n');
    put(record::FILE, json.as_bytes())?;
    let scene = forest::scene(study, found);
    let title = &study.explanation.title;
    put(DRAWING, svg::file(&scene, title).as_bytes())?;
    put("effects.pdf", &print::pdf(&scene, title))?;
    put("effects.png", &print::png(&scene, 2.0, Theme::Light).unwrap_or_default())?;
    Ok(record)
}

/// The drawing that was written, for a page that has the colours; empty if there is none.
pub(crate) fn inline_drawing(out: &Path, paper: &str, id: &str) -> String {
    let text = std::fs::read_to_string(directory(out, paper, id).join(DRAWING));
    let text = text.unwrap_or_default();
    // the page has these rules once
    let style = text.find("<style>").zip(text.find("</style>"));
    match style {
        Some((from, to)) => format!("{}{}", &text[..from], &text[to + "</style>".len()..]),
        None => text,
    }
}

/// Copies what is published of a paper's explanations to `to`, and returns how many there are.
/// Those with runs that have no result are refused.
pub fn publish(paper: &Paper, from: &Path, to: &Path) -> Result<usize, SweepError> {
    let mut copied = 0;
    for e in &paper.explanations {
        let Some(record) = Record::find(from, &paper.id, &e.id)? else { continue };
        if record.missing > 0 {
            return Err(SweepError::Other(format!(
                "{}: {} runs have no result: run `weir paper explain {}` again",
                e.id, record.missing, e.id
            )));
        }
        let source = directory(from, &paper.id, &e.id);
        let target = to.join(&paper.id).join("explain").join(e.id.to_lowercase());
        std::fs::create_dir_all(&target).map_err(|e| SweepError::io(&target, e))?;
        for name in PUBLISHED {
            let path = source.join(name);
            let bytes = std::fs::read(&path).map_err(|e| SweepError::io(&path, e))?;
            replace(&target.join(name), &bytes)?;
        }
        copied += 1;
    }
    Ok(copied)
}

fn combinations(study: &Study<'_>, found: &Found, confirmation: Option<&Confirmation>) -> Vec<u8> {
    let factors = study.explanation.factors.iter().map(|f| f.name.clone());
    let mut heads = vec!["phase".to_owned(), "departures".to_owned()];
    heads.extend(factors);
    let rest = [
        "held_claims",
        "experiment",
        "claim",
        "paper",
        "measured",
        "estimate",
        "low",
        "high",
        "seeds",
        "verdict",
        "holds",
    ];
    heads.extend(rest.map(str::to_owned));
    let mut rows = Vec::new();
    let mut add = |phase: &str, claims: &[Scorable], scored: &[Scored]| {
        for s in scored {
            let own = s.verdicts.iter().zip(claims);
            rows.extend(own.map(|(v, c)| cells(study, phase, s, v, c)));
        }
    };
    add("search", &found.claims, &found.scored);
    if let Some(c) = confirmation {
        add(c.phase.name(), &c.claims, &c.scored);
    }
    csv_text(heads, rows)
}

fn cells(
    study: &Study<'_>,
    phase: &str,
    s: &Scored,
    v: &crate::Verdict,
    c: &Scorable,
) -> Vec<String> {
    let explanation = study.explanation;
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    let departures = explanation.departures(&s.combination).len();
    let mut row = vec![phase.to_owned(), departures.to_string()];
    let levels = explanation.factors.iter().zip(&s.combination.0);
    row.extend(levels.map(|(f, l)| f.levels[*l].label.clone()));
    row.extend([
        s.held().to_string(),
        c.claim.experiment.clone(),
        c.name.clone(),
        v.paper.clone(),
        v.measured.clone(),
        number(v.estimate),
        number(v.interval.map(|i| i.low)),
        number(v.interval.map(|i| i.high)),
        v.seeds.to_string(),
        v.outcome.name().to_owned(),
        holds(&v.outcome).to_string(),
    ]);
    row
}

fn effects(study: &Study<'_>, found: &Found) -> Vec<u8> {
    let heads = [
        "claim", "kind", "of", "scale", "effect", "low", "high", "settings", "seeds", "p_holm",
        "present",
    ];
    let rows = found.effects.iter().map(|e| {
        let shown = e.shown();
        let kind = if e.term.len() == 2 { "interaction" } else { "main" };
        [
            found.claims[e.claim].name.clone(),
            kind.to_owned(),
            term_words(study.explanation, &e.term),
            (if e.log { "factor" } else { "difference" }).to_owned(),
            shown.value.to_string(),
            shown.interval.low.to_string(),
            shown.interval.high.to_string(),
            e.settings.to_string(),
            shown.seeds.to_string(),
            e.p.to_string(),
            e.present().to_string(),
        ]
    });
    csv_text(heads, rows)
}
