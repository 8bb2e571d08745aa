//! `weir paper`: experiments of papers, with the papers' numbers beside ours.

use crate::Status;
use crate::terminal::{Terminal, print};
use clap::{Args, Subcommand};
use weir_lab::format;
use weir_lab::listing::wrap;
use weir_lab::paper::catalogue::{Chosen, choose};
use weir_lab::paper::{Claim, Mode};
use weir_lab::table::{Column, TextTable, paint};

/// `weir paper`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir paper list                        all experiments of all papers
  weir paper claims ofc                  what the paper says, and by which rules it is judged
  weir paper check my-paper/             whether a paper of your own can be run")]
pub(crate) struct Paper {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do with papers.
#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// List papers and their experiments
    List(Which),
    /// Show what papers say and by which rules it is judged; needs no runs
    Claims(Which),
    /// Check all files, and resolve every run without making it
    Check(Which),
}

/// Papers, experiments or directories.
#[derive(Args, Debug)]
pub(crate) struct Which {
    /// Papers, experiments or directories of your own; default: all papers
    #[arg(value_name = "ID|PAPER|DIR")]
    names: Vec<String>,
}

/// `weir paper`.
pub(crate) fn paper(args: &Paper, terminal: &Terminal) -> anyhow::Result<Status> {
    let which = match &args.verb {
        Verb::List(which) | Verb::Claims(which) | Verb::Check(which) => which,
    };
    let chosen = match choose(&which.names) {
        Ok(chosen) => chosen,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    match &args.verb {
        Verb::List(_) => list(&chosen, terminal),
        Verb::Claims(_) => claims(&chosen, terminal),
        Verb::Check(_) => check(&chosen, terminal),
    }
}

fn list(chosen: &[Chosen], terminal: &Terminal) -> anyhow::Result<Status> {
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
            Column::words("title", 4),
            Column::words("where", 3),
            Column::numbers("quick", 8).under("runs"),
            Column::numbers("full", 8).under("runs"),
            Column::numbers("figures", 2),
            Column::numbers("claims", 5),
        ]);
        for &at in &c.experiments {
            let e = &paper.experiments[at];
            let runs = |mode| match e.runs(mode, &paper.sources, &paper.files) {
                0 => "-".to_owned(),
                n => format::count(n as u64),
            };
            let claims = paper.claims.iter().filter(|claim| claim.experiment == e.id).count();
            table.row(vec![
                e.id.clone(),
                e.title.clone(),
                e.place.clone(),
                runs(Mode::Quick),
                runs(Mode::Full),
                e.figures.len().to_string(),
                claims.to_string(),
            ]);
        }
        print(&format!("{}\n", table.render(terminal.out.width, terminal.out.colour)))?;
    }
    Ok(Status::Done)
}

fn claims(chosen: &[Chosen], terminal: &Terminal) -> anyhow::Result<Status> {
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
    lines.join("\n")
}

/// Resolves every run of both modes.
fn check(chosen: &[Chosen], terminal: &Terminal) -> anyhow::Result<Status> {
    let mut wrong = false;
    for c in chosen {
        for &at in &c.experiments {
            let (paper, e) = (&c.paper, &c.paper.experiments[at]);
            let mut counts = Vec::new();
            for mode in [Mode::Quick, Mode::Full] {
                let Some(draft) = e.draft(mode, None, &paper.sources, &paper.files) else {
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
    Ok(if wrong { Status::BadInput } else { Status::Done })
}
