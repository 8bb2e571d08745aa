//! The files of an explanation; no byte depends on when or where they were made.
//!
//! ```text
//!   explain.csv                a row per combination and claim
//!   effects.csv                effects and interactions with intervals
//!   explain.json               what it comes to
//!   effects.svg .pdf .png      effects on the quantities of the table
//! ```

use super::effects::Effect;
use super::forest;
use super::record::{self, Confirmation, Found, Record, term_words};
use super::score::{Scorable, Scored, holds};
use super::search::{Study, directory};
use crate::catalogue::Paper;
use std::path::Path;
use weir_plot::{Theme, print, svg};
use weir_results::sheet::Sheet;
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

/// A claim under a combination of one phase.
type Line<'a> = (&'a str, &'a Scored, &'a crate::Verdict, &'a Scorable);

fn combinations(study: &Study<'_>, found: &Found, confirmation: Option<&Confirmation>) -> Vec<u8> {
    let mut rows: Vec<Line<'_>> = Vec::new();
    let mut add = |phase, claims, scored| lines(&mut rows, phase, claims, scored);
    add("search", &found.claims, &found.scored);
    if let Some(c) = confirmation {
        add(c.phase.name(), &c.claims, &c.scored);
    }
    let explanation = study.explanation;
    let factors = &explanation.factors;
    // an end without a bound is `inf`
    let number = |x: Option<f64>| x.map(|x| x.to_string());
    Sheet::new()
        .column("phase", |(phase, ..): &Line<'_>| *phase)
        .column("departures", |(_, s, ..)| explanation.departures(&s.combination).len() as u64)
        .each(factors.iter().map(|f| f.name.as_str()), |(_, s, ..), i| {
            factors[i].levels[s.combination.0[i]].label.as_str()
        })
        .column("held_claims", |(_, s, ..)| s.held().to_string())
        .column("experiment", |(.., c)| c.claim.experiment.as_str())
        .column("claim", |(.., c)| c.name.as_str())
        .column("paper", |(.., v, _)| v.paper.as_str())
        .column("measured", |(.., v, _)| v.measured.as_str())
        .column("estimate", move |(.., v, _)| number(v.estimate))
        .column("low", move |(.., v, _)| number(v.interval.map(|i| i.low)))
        .column("high", move |(.., v, _)| number(v.interval.map(|i| i.high)))
        .column("seeds", |(.., v, _)| v.seeds as u64)
        .column("verdict", |(.., v, _)| v.outcome.name())
        .column("holds", |(.., v, _)| holds(&v.outcome).to_string())
        .csv(&rows)
}

fn lines<'a>(
    rows: &mut Vec<Line<'a>>,
    phase: &'a str,
    claims: &'a [Scorable],
    scored: &'a [Scored],
) {
    for s in scored {
        rows.extend(s.verdicts.iter().zip(claims).map(|(v, c)| (phase, s, v, c)));
    }
}

fn effects(study: &Study<'_>, found: &Found) -> Vec<u8> {
    let kind = |e: &Effect| if e.term.len() == 2 { "interaction" } else { "main" };
    Sheet::new()
        .column("claim", |e: &Effect| found.claims[e.claim].name.as_str())
        .column("kind", kind)
        .column("of", |e| term_words(study.explanation, &e.term))
        .column("scale", |e| if e.log { "factor" } else { "difference" })
        .column("effect", |e| e.shown().value.to_string())
        .column("low", |e| e.shown().interval.low.to_string())
        .column("high", |e| e.shown().interval.high.to_string())
        .column("settings", |e| e.settings.to_string())
        .column("seeds", |e| e.shown().seeds.to_string())
        .column("p_holm", |e| e.p.to_string())
        .column("present", |e| e.present().to_string())
        .csv(&found.effects)
}
