//! `weir paper explain`: what would have to be true for a paper's claims to hold.

use super::{Seeds, read_seeds, run_here};
use crate::Status;
use crate::commands::sweep::{cores, shown};
use crate::terminal::{Terminal, print};
use clap::Args;
use std::path::PathBuf;
use weir_core::format;
use weir_paper::catalogue::{Chosen, all_inside, choose};
use weir_paper::explain::record::{Confirmation, Found, TriedRow};
use weir_paper::explain::{Phase, Record, Study, conclude, files};
use weir_paper::explanation::Combination;
use weir_paper::setting::Trouble;
use weir_paper::{Explanation, Mode, Paper};
use weir_results::listing::wrap;
use weir_results::table::{Column, TextTable, paint};
use weir_scenario::Problems;
use weir_scenario::text::Diagnostic;

/// So many of the best are confirmed where nothing else is said.
const BEST_FEW: usize = 4;
/// A file is wider than people read.
const WIDEST: usize = 160;

/// `weir paper explain`.
#[derive(Args, Debug)]
#[command(after_help = "\
A paper's explain.toml declares which settings it leaves open. They are tried
in combination at quick scale, and the claims are judged under each of them.
What comes out is found with the paper's numbers in view: it says what a result
hangs on, and never counts as reproduced. --confirm runs the best few again on
seeds that had no part in the choice.

Run the same command again to continue after Ctrl-C or a crash. Without names,
the declared explanations are listed.")]
pub(crate) struct ExplainArgs {
    /// Explanations, experiments, papers, `all`, or directories of your own
    #[arg(value_name = "ID|PAPER|all|DIR")]
    names: Vec<String>,
    /// Run the best few (default: 4) again on fresh seeds
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "4",
          value_parser = clap::value_parser!(u16).range(1..))]
    confirm: Option<u16>,
    /// Confirm at the paper's scale instead of quick
    #[arg(long, requires = "confirm")]
    full: bool,
    /// Seeds 1 to N, or a list such as 1..10, for the search instead of the declared ones
    #[arg(long, value_name = "N", value_parser = read_seeds)]
    seeds: Option<Seeds>,
    /// Number of runs at a time; default: the number of processors
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Directory of the results
    #[arg(short, long, value_name = "DIR", default_value = "weir-out/papers")]
    out: PathBuf,
    /// Accept results of every build of this version
    #[arg(long)]
    any_build: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Papers with those of their explanations that are meant, by position.
type Meant = Vec<(Paper, Vec<usize>)>;

/// What the names mean: an explanation, or all that score claims of the experiments.
fn meant(names: &[String]) -> Result<Meant, Problems> {
    let mut all: Meant = Vec::new();
    let mut add =
        |paper: Paper, found: Vec<usize>| match all.iter_mut().find(|(p, _)| p.id == paper.id) {
            Some((_, known)) => {
                known.extend(found);
                known.sort_unstable();
                known.dedup();
            }
            None => all.push((paper, found)),
        };
    let mut others = Vec::new();
    for name in names {
        let mut inside = all_inside()?.into_iter();
        let by_id = |e: &Explanation| e.id.eq_ignore_ascii_case(name);
        match inside.find_map(|p| p.explanations.iter().position(by_id).map(|at| (p, at))) {
            Some((paper, at)) => add(paper, vec![at]),
            None => others.push(name.clone()),
        }
    }
    if names.is_empty() || !others.is_empty() {
        for Chosen { paper, experiments } in choose(&others)? {
            let ids: Vec<&String> =
                experiments.iter().map(|at| &paper.experiments[*at].id).collect();
            let own = |e: &Explanation| e.experiments.iter().any(|id| ids.contains(&id));
            let of = paper.explanations.iter().enumerate().filter(|(_, e)| own(e));
            let found: Vec<usize> = of.map(|(i, _)| i).collect();
            if !found.is_empty() {
                add(paper, found);
            }
        }
    }
    if all.is_empty() {
        let what = format!("nothing is declared for {}", names.join(", "));
        let error = Diagnostic::error(what);
        return Err(Problems::plain(error.help(
            "an explanation is declared in explain.toml of the paper; `weir paper explain` lists \
             those that are",
        )));
    }
    Ok(all)
}

/// Searches all that is meant, or lists what there is.
pub(super) fn explain(args: &ExplainArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let meant = match meant(&args.names) {
        Ok(meant) => meant,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    if args.names.is_empty() {
        return list(&meant, args.json, terminal);
    }
    let mut records = Vec::new();
    for (paper, which) in &meant {
        for at in which {
            let study = Study {
                paper,
                explanation: &paper.explanations[*at],
                out: args.out.clone(),
                any_build: args.any_build,
                seeds: args.seeds.as_ref().map(|s| s.0.clone()),
            };
            match one(&study, args, terminal) {
                Ok(record) => records.push(record),
                Err(Stop::Status(status)) => return Ok(status),
                Err(Stop::Error(error)) => return Err(error),
            }
        }
    }
    if args.json {
        print(&serde_json::to_string_pretty(&records)?)?;
    }
    Ok(Status::Done)
}

/// Resolves every level of the explanations of chosen experiments; whether all is right.
pub(super) fn check(c: &Chosen, terminal: &Terminal) -> anyhow::Result<bool> {
    let mut right = true;
    let ids: Vec<&String> = c.experiments.iter().map(|at| &c.paper.experiments[*at].id).collect();
    let own = |e: &&Explanation| e.experiments.iter().any(|id| ids.contains(&id));
    for explanation in c.paper.explanations.iter().filter(own) {
        let (out, any_build, seeds) = (PathBuf::new(), false, None);
        let study = Study { paper: &c.paper, explanation, out, any_build, seeds };
        match study.check() {
            Ok(runs) => {
                let combinations = explanation.first().len() as u64;
                terminal.note(&format!(
                    "{}: {}, {}",
                    explanation.id,
                    format::plural(combinations, "combination"),
                    format::plural(runs as u64, "run")
                ));
            }
            Err(Trouble::Problems(problems)) => {
                terminal.problems(&problems);
                right = false;
            }
            Err(Trouble::Sweep(error)) => return Err(error.into()),
        }
    }
    Ok(right)
}

/// Why an explanation ended early.
enum Stop {
    Status(Status),
    Error(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Plans and makes the runs of combinations.
fn run(
    study: &Study<'_>,
    phase: Phase,
    combinations: &[Combination],
    args: &ExplainArgs,
    terminal: &Terminal,
) -> Result<(), Stop> {
    let planned = match study.plan(phase, combinations) {
        Ok(planned) => planned,
        Err(Trouble::Problems(problems)) => {
            terminal.problems(&problems);
            return Err(Stop::Status(Status::BadInput));
        }
        Err(Trouble::Sweep(error)) => return Err(error.into()),
    };
    let jobs = args.jobs.map_or_else(cores, usize::from);
    let name = format!("{} {}", study.explanation.id, phase.name());
    match run_here(&planned, &name, jobs, terminal)? {
        Status::Done => Ok(()),
        other => Err(Stop::Status(other)),
    }
}

/// Searches, confirms, writes and shows one explanation.
fn one(study: &Study<'_>, args: &ExplainArgs, terminal: &Terminal) -> Result<Record, Stop> {
    let mut tried = study.explanation.first();
    let found = loop {
        run(study, Phase::Search, &tried, args, terminal)?;
        let found = conclude::found(study, &tried)?;
        let more = conclude::further(study, &found);
        if more.is_empty() {
            break found;
        }
        tried.extend(more);
    };
    let confirmation = confirm(study, &found, args, terminal)?;
    let record = files::write(study, &found, confirmation.as_ref())?;
    if !args.json {
        show(&record, terminal)?;
        let directory = shown(&study.directory());
        terminal.note(&format!("figure: {directory}/effects.png     tables: {directory}/*.csv"));
    }
    Ok(record)
}

/// The best few on fresh seeds; what was confirmed before stays.
fn confirm(
    study: &Study<'_>,
    found: &Found,
    args: &ExplainArgs,
    terminal: &Terminal,
) -> Result<Option<Confirmation>, Stop> {
    let best = |n: usize| {
        let best = found.answer.to_confirm(n).into_iter();
        best.map(|i| found.scored[i].combination.clone()).collect::<Vec<_>>()
    };
    let Some(n) = args.confirm else {
        return Ok(conclude::earlier(study, &best(BEST_FEW))?);
    };
    let phase = Phase::Confirm(if args.full { Mode::Full } else { Mode::Quick });
    let best = best(usize::from(n));
    run(study, phase, &best, args, terminal)?;
    Ok(Some(conclude::confirmed(study, phase, &best)?))
}

/// The declared explanations, a line each.
fn list(meant: &Meant, json: bool, terminal: &Terminal) -> anyhow::Result<Status> {
    let mut table = TextTable::new(vec![
        Column::words("id", 9),
        Column::words("paper", 7),
        Column::words("title", 6).at_least(30),
        Column::words("experiments", 5).at_least(12),
        Column::numbers("settings", 4),
        Column::numbers("combinations", 8),
        Column::numbers("claims", 5),
        Column::numbers("seeds", 3),
    ]);
    let mut rows = Vec::new();
    for (paper, which) in meant {
        for e in which.iter().map(|at| &paper.explanations[*at]) {
            table.row(vec![
                e.id.clone(),
                paper.short.clone(),
                e.title.clone(),
                e.experiments.join(", "),
                e.factors.len().to_string(),
                e.count().to_string(),
                e.claims.len().to_string(),
                e.seeds.len().to_string(),
            ]);
            rows.push(serde_json::json!({
                "id": e.id, "paper": paper.id, "title": e.title, "experiments": e.experiments,
                "settings": e.factors.len(), "combinations": e.count().to_string(),
                "tried_first": e.first().len(), "claims": e.claims.len(),
                "seeds": e.seeds.len(),
            }));
        }
    }
    match json {
        true => print(&serde_json::to_string_pretty(&rows)?)?,
        false => {
            print(&table.render(terminal.out.width.min(WIDEST), terminal.out.colour))?;
            print("weir paper explain ID searches one; --confirm runs the best again.")?;
        }
    }
    Ok(Status::Done)
}

fn lines(text: &str, indent: &str, terminal: &Terminal) -> anyhow::Result<()> {
    let width = terminal.out.width.min(WIDEST).saturating_sub(indent.len()).max(20);
    for (i, line) in wrap(text, width).iter().enumerate() {
        let lead = if i == 0 { "  " } else { indent };
        print(&format!("{lead}{line}"))?;
    }
    Ok(())
}

/// The table by number of departures, and what it comes to.
fn show(record: &Record, terminal: &Terminal) -> anyhow::Result<()> {
    let head = format!("{} · {}", record.id, record.title);
    print(&paint(&head, terminal.out.colour, "1"))?;
    lines(&record.basis(), "    ", terminal)?;
    print("")?;
    print(&table(record, record.rows(), record.claims.len(), terminal))?;
    for sentence in &record.sentences {
        lines(sentence, "    ", terminal)?;
    }
    if !record.effects.is_empty() {
        lines("strongest effects on what claims compare (first over second):", "    ", terminal)?;
        for effect in &record.effects {
            lines(&format!("  {effect}"), "      ", terminal)?;
        }
    }
    if !record.left_out.is_empty() {
        let claims = format::plural(record.left_out.len() as u64, "claim");
        lines(&format!("{claims} only in full: {}", record.left_out.join(", ")), "    ", terminal)?;
    }
    if !record.same_runs.is_empty() {
        let claims = format::plural(record.same_runs.len() as u64, "claim");
        let names = record.same_runs.join(", ");
        let why = "not scored, as a combination makes what they compare the same runs";
        lines(&format!("{claims} {why}: {names}"), "    ", terminal)?;
    }
    if let Some(c) = &record.confirmed {
        let seeds = format::plural(c.seeds as u64, "fresh seed");
        print("")?;
        lines(
            &format!("confirmation on {seeds}, {} scale, {} runs:", c.scale, c.runs),
            "    ",
            terminal,
        )?;
        print(&table(record, &c.rows, c.claims, terminal))?;
    }
    print(&paint(&format!("  {}", record.label), terminal.out.colour, "1"))?;
    Ok(())
}

fn table(record: &Record, rows: &[TriedRow], claims: usize, terminal: &Terminal) -> String {
    let mut columns =
        vec![Column::words("", 9).at_least(28), Column::words("contradicts", 4).at_least(16)];
    columns.extend(record.quantities.iter().map(|q| Column::numbers(&q.claim, 6)));
    columns.push(Column::numbers("claims held", 9).under(&format!("of {claims}")));
    columns.push(Column::numbers("within margin", 5).under(&format!("of {claims}")));
    let mut table = TextTable::new(columns);
    for row in rows {
        let name = match row.departures.len() {
            0 => "primary reading".to_owned(),
            n => format::plural(n as u64, "departure"),
        };
        let mut cells = vec![name, String::new()];
        cells.extend(row.numbers.iter().cloned());
        cells.extend([row.held.to_string(), row.within_margin.to_string()]);
        table.row(cells);
        for d in &row.departures {
            table.row(vec![format!("  + {}", d.words), d.contradicts.clone()]);
        }
        if !row.ties.is_empty() {
            let others = format::plural(row.ties.len() as u64, "other set");
            table.row(vec![format!("  (as many hold with {others}: explain.json)")]);
        }
    }
    let mut paper = vec!["paper".to_owned(), String::new()];
    paper.extend(record.quantities.iter().map(|q| q.paper.clone()));
    paper.push(claims.to_string());
    table.row(paper);
    table.render(terminal.out.width.min(WIDEST), terminal.out.colour)
}
