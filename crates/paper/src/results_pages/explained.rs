//! What would have to be true, in the published pages.

use super::plain;
use crate::catalogue::Paper;
use crate::explain::Record;
use crate::explain::record::{FILE, TriedRow};
use std::fmt::Write as _;
use std::path::Path;
use weir_core::format;
use weir_sweep::SweepError;

/// The sections of all explanations of a paper that are published below `to`.
pub(super) fn sections(to: &Path, paper: &Paper) -> Result<String, SweepError> {
    let mut out = String::new();
    for e in &paper.explanations {
        let directory = format!("{}/explain/{}", paper.id, e.id.to_lowercase());
        if let Some(record) = Record::load(&to.join(&directory).join(FILE))? {
            out.push_str(&section(&record, &directory));
        }
    }
    Ok(out)
}

fn section(r: &Record, directory: &str) -> String {
    let id = r.id.to_lowercase();
    let title = plain(&r.title);
    let mut out = format!("<a id=\"{id}\"></a>\n\n## What would have to be true: {title}\n\n");
    let _ = write!(out, "*{}.*\n\n{}.\n\n", plain(&r.label), plain(&r.basis()));
    out.push_str(&table(r, r.rows(), r.claims.len()));
    for sentence in &r.sentences {
        let _ = write!(out, "{}\n\n", plain(sentence));
    }
    let _ = write!(out, "![Effects with intervals]({directory}/effects.svg)\n\n");
    if !r.effects.is_empty() {
        out.push_str("Strongest effects on what claims compare:\n\n");
        r.effects.iter().for_each(|e| out.push_str(&format!("- {}\n", plain(e))));
        out.push('\n');
    }
    match &r.confirmed {
        None => out.push_str("Not confirmed on fresh seeds yet.\n\n"),
        Some(c) => {
            let seeds = format::plural(c.seeds as u64, "fresh seed");
            let _ = write!(out, "Confirmation on {seeds}, {} scale:\n\n", c.scale);
            out.push_str(&table(r, &c.rows, c.claims));
        }
    }
    out.push_str("What was varied:\n\n");
    for f in &r.factors {
        let levels: Vec<String> = f.levels.iter().map(|l| plain(l)).collect();
        let _ = writeln!(out, "- {} ({}): {}", plain(&f.name), plain(&f.place), levels.join("; "));
    }
    let _ = write!(
        out,
        "\nAgain: `weir paper explain {}`. Tables: [{directory}]({directory}).\n\n",
        r.id
    );
    out
}

fn table(r: &Record, rows: &[TriedRow], claims: usize) -> String {
    let mut heads = vec![String::new(), "contradicts".to_owned()];
    heads.extend(r.quantities.iter().map(|q| plain(&q.says)));
    heads.push(format!("claims held, of {claims}"));
    let mut out =
        format!("| {} |\n|---|---|{}\n", heads.join(" | "), "--:|".repeat(heads.len() - 2));
    let mut line = |first: String, second: &str, numbers: &[String], held: &str| {
        let mut cells = vec![first, plain(second)];
        cells.extend(numbers.iter().map(|n| plain(n)));
        cells.resize(heads.len() - 1, String::new());
        cells.push(held.to_owned());
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    };
    for row in rows {
        let name = match row.departures.len() {
            0 => "primary reading".to_owned(),
            n => format::plural(n as u64, "departure"),
        };
        line(format!("**{name}**"), "", &row.numbers, &row.held.to_string());
        for d in &row.departures {
            line(format!("+ {}", plain(&d.words)), &d.contradicts, &[], "");
        }
        if !row.ties.is_empty() {
            line(format!("as many with: {}", plain(&row.ties.join("; "))), "", &[], "");
        }
    }
    let stated: Vec<String> = r.quantities.iter().map(|q| q.paper.clone()).collect();
    line("**paper**".to_owned(), "", &stated, &claims.to_string());
    out + "\n"
}
