//! What there is without any run: papers, experiments, claims, and whether their files are right.

use super::verdicts::tell_undiscussed;
use crate::Status;
use crate::terminal::{Terminal, print};
use serde_json::json;
use std::path::Path;
use weir_core::format;
use weir_paper::appendix;
use weir_paper::catalogue::{Chosen, published};
use weir_paper::undiscussed::undiscussed_published;
use weir_paper::{Claim, Mode, Overrides};
use weir_results::listing::wrap;
use weir_results::table::{Column, TextTable, paint};

/// A file is wider than people read.
const WIDEST: usize = 120;

/// Papers and their experiments, a line each.
pub(super) fn list(chosen: &[Chosen], terminal: &Terminal) -> anyhow::Result<Status> {
    for c in chosen {
        let paper = &c.paper;
        let year = paper.year.map(|y| format!(", {y}")).unwrap_or_default();
        print(&paint(
            &format!("{} · {}{year}", paper.short, paper.title),
            terminal.out.colour,
            "1",
        ))?;
        let mut table = TextTable::new(vec![
            Column::words("id", 9),
            Column::words("title", 6).at_least(30),
            Column::words("where", 2).at_least(12),
            Column::numbers("quick", 8).under("runs"),
            Column::numbers("full", 8).under("runs"),
            Column::numbers("figures", 1),
            Column::numbers("claims", 5),
            Column::numbers("CPU time", 3).under("published full run"),
            Column::numbers("reproduced", 4).under("published full run"),
            Column::numbers("direction", 4).under("published full run"),
            Column::numbers("not", 4).under("published full run"),
            Column::numbers("open", 4).under("published full run"),
        ]);
        for &at in &c.experiments {
            let e = &paper.experiments[at];
            let runs = |mode| match e.runs(mode, &paper.sources, &paper.files) {
                0 => "-".to_owned(),
                n => format::count(n as u64),
            };
            let claims = paper.claims.iter().filter(|claim| claim.experiment == e.id).count();
            let mut row = vec![
                e.id.clone(),
                e.title.clone(),
                e.place.clone(),
                runs(Mode::Quick),
                runs(Mode::Full),
                e.figures.len().to_string(),
                claims.to_string(),
            ];
            // a directory of a user has nothing published
            let inside = paper.directory.is_none();
            if let Some(p) = published(&paper.id, &e.id).filter(|_| inside) {
                row.push(format::time_ps(p.cpu_seconds * 1e12));
                row.extend(p.verdicts.map(|n| n.to_string()));
            }
            table.row(row);
        }
        let width = terminal.out.width.min(WIDEST);
        print(&format!("{}\n", table.render(width, terminal.out.colour)))?;
    }
    Ok(Status::Done)
}

pub(super) fn claims(chosen: &[Chosen], terminal: &Terminal) -> anyhow::Result<Status> {
    for c in chosen {
        for &at in &c.experiments {
            let e = &c.paper.experiments[at];
            print(&paint(&format!("{} · {}", e.id, e.title), terminal.out.colour, "1"))?;
            let own = |claim: &&Claim| claim.experiment == e.id;
            for claim in c.paper.claims.iter().filter(own) {
                print(&one_claim(claim, terminal))?;
            }
            print("")?;
        }
    }
    Ok(Status::Done)
}

fn one_claim(claim: &Claim, terminal: &Terminal) -> String {
    let room = terminal.out.width.saturating_sub(8).clamp(40, 110);
    let place = match claim.place.is_empty() {
        true => String::new(),
        false => format!("  ({})", claim.place),
    };
    let calibrated = if claim.calibrated { "  [calibrated: cannot confirm]" } else { "" };
    let head = paint(&claim.id, terminal.out.colour, "1");
    let mut lines = vec![format!("  {head}{place}{calibrated}")];
    let mut add = |what: &str, text: &str| {
        for (i, line) in wrap(text, room).into_iter().enumerate() {
            let what = if i == 0 { what } else { "" };
            lines.push(format!("    {what:<9}{line}"));
        }
    };
    add("says", &claim.says);
    if !claim.reading.is_empty() {
        add("reading", &claim.reading);
    }
    add("measured", &claim.quantity());
    add("rule", &claim.rule_words());
    if claim.steady {
        add("state", "steady: its numbers count only if their window is stationary");
    }
    let possible = claim.possible.names();
    if !possible.is_empty() {
        add("outcomes", &possible.join(", "));
    }
    lines.join("\n")
}

/// Resolves every run of both modes, and names claims whose published result has no discussion.
pub(super) fn check(chosen: &[Chosen], terminal: &Terminal) -> anyhow::Result<Status> {
    let mut wrong = false;
    for c in chosen {
        for &at in &c.experiments {
            let (paper, e) = (&c.paper, &c.paper.experiments[at]);
            let mut counts = Vec::new();
            for mode in [Mode::Quick, Mode::Full] {
                let Some(draft) =
                    e.draft(mode, &Overrides::default(), &paper.sources, &paper.files)
                else {
                    continue;
                };
                match draft.and_then(|draft| draft.plan()) {
                    Err(problems) => {
                        terminal.problems(&problems);
                        wrong = true;
                    }
                    Ok(planned) => {
                        terminal.warnings(&planned.warnings, &planned.sources);
                        let runs = format::plural(planned.plan.runs.len() as u64, "run");
                        counts.push(format!("{} {runs}", mode.name()));
                    }
                }
            }
            if !counts.is_empty() {
                terminal.note(&format!("{}: {}", e.id, counts.join(", ")));
            }
        }
    }
    for c in chosen {
        wrong |= !super::explain::check(c, terminal)?;
    }
    tell_undiscussed(&undiscussed_published(chosen), terminal);
    Ok(if wrong { Status::BadInput } else { Status::Done })
}

pub(super) fn list_json(chosen: &[Chosen]) -> anyhow::Result<Status> {
    let papers: Vec<_> = chosen
        .iter()
        .map(|c| {
            let p = &c.paper;
            let experiment = |at: &usize| {
                let e = &p.experiments[*at];
                let runs = |mode| u64::try_from(e.runs(mode, &p.sources, &p.files)).ok();
                let claims = p.claims.iter().filter(|claim| claim.experiment == e.id).count();
                json!({
                    "id": e.id, "title": e.title, "where": e.place, "shows": e.shows,
                    "runs_quick": runs(Mode::Quick), "runs_full": runs(Mode::Full),
                    "quick": e.quick.says, "claims": claims,
                    "figures": e.figures.iter().map(|f| &f.id).collect::<Vec<_>>(),
                })
            };
            json!({
                "id": p.id, "title": p.title, "short": p.short, "year": p.year, "notes": p.notes,
                "experiments": c.experiments.iter().map(experiment).collect::<Vec<_>>(),
            })
        })
        .collect();
    print(&serde_json::to_string_pretty(&papers)?)?;
    Ok(Status::Done)
}

pub(super) fn claims_json(chosen: &[Chosen]) -> anyhow::Result<Status> {
    let mut all = Vec::new();
    for c in chosen {
        for e in c.experiments.iter().map(|&at| &c.paper.experiments[at]) {
            for claim in c.paper.claims.iter().filter(|claim| claim.experiment == e.id) {
                all.push(json!({
                    "paper": c.paper.id, "experiment": e.id, "id": claim.id,
                    "where": claim.place, "says": claim.says, "kind": claim.kind().name(),
                    "reading": claim.reading, "calibrated": claim.calibrated,
                    "stated": claim.paper(), "measured": claim.quantity(),
                    "rule": claim.rule_words(), "sort": claim.sort().name(),
                    "primary": claim.primary, "steady": claim.steady,
                    "outcomes": claim.possible.names(),
                }));
            }
        }
    }
    print(&serde_json::to_string_pretty(&all)?)?;
    Ok(Status::Done)
}

/// The table of artifact evaluations.
pub(super) fn appendix(
    chosen: &[Chosen],
    from: &Path,
    csv: bool,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let lines = appendix::lines(chosen, from)?;
    if csv {
        print(String::from_utf8_lossy(&appendix::csv(&lines)).trim_end())?;
        return Ok(Status::Done);
    }
    for of in lines.chunk_by(|a, b| a.experiment == b.experiment) {
        let first = &of[0];
        let minutes = match first.minutes {
            Some(m) if m < 0.05 => ", a few seconds of processor time".to_owned(),
            Some(m) => format!(", {m:.1} min of processor time"),
            None => String::new(),
        };
        let head = format!("{} · {}{minutes}", first.experiment, first.command);
        print(&paint(&head, terminal.out.colour, "1"))?;
        let mut table = TextTable::new(vec![
            Column::words("claim", 8).at_least(16),
            Column::words("where", 5).at_least(12),
            Column::words("says", 6).at_least(24),
            Column::words("expected verdict", 9).at_least(16),
        ]);
        for line in of {
            let cells = [&line.claim, &line.place, &line.says, &line.expected];
            table.row(cells.map(Clone::clone).to_vec());
        }
        let width = terminal.out.width.min(WIDEST);
        print(&format!("{}\n", table.render(width, terminal.out.colour)))?;
    }
    Ok(Status::Done)
}
