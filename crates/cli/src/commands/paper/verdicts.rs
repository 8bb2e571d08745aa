//! What came out, on the terminal.

use crate::terminal::{Terminal, print, tell};
use weir_core::format;
use weir_paper::run::Collected;
use weir_paper::setting::Setting;
use weir_paper::{Claim, ClaimOutcome, Counts, Mode, Verdict};
use weir_results::listing::wrap;
use weir_results::table::{Column, TextTable, paint};

/// The paper's numbers beside ours, and how many came out how.
pub(super) fn show_verdicts(
    all: &[Collected<'_>],
    setting: &Setting,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let mode = setting.mode;
    let changed = setting.overrides.words();
    for c in all.iter().filter(|c| !c.verdicts.is_empty()) {
        let head = format!("{} · {}", c.experiment.id, c.experiment.title);
        print(&paint(&head, terminal.out.colour, "1"))?;
        if mode == Mode::Quick && !c.experiment.quick.says.is_empty() {
            print(&format!("  quick: {}", c.experiment.quick.says))?;
        }
        if !changed.is_empty() {
            print(&format!("  changed settings: {changed}"))?;
        }
        print(&verdict_table(c, setting, terminal))?;
        for v in c.verdicts.iter().filter(|v| matches!(v.outcome, ClaimOutcome::Missing(_))) {
            let text = format!("  missing: {}: {}", c.claim(v).id, v.outcome.why());
            print(&paint(&text, terminal.out.colour, "31"))?;
        }
        print("")?;
    }
    let quick = if mode == Mode::Quick { "quick: " } else { "" };
    show_counts(&format!("{quick}{}", Counts::new(all).words()), terminal)?;
    if mode == Mode::Quick {
        print("Runs are scaled down; --full compares at the papers' scale.")?;
    }
    if !changed.is_empty() {
        print(&format!("Settings are changed: {changed}. These are not the papers' experiments."))?;
    }
    Ok(())
}

/// A file is wider than people read.
const WIDEST: usize = 140;

fn verdict_table(c: &Collected<'_>, setting: &Setting, terminal: &Terminal) -> String {
    // what is shortened stands in verdicts.csv
    let mut table = TextTable::new(vec![
        Column::words("claim", 8).at_least(16),
        Column::words("paper", 5).at_least(12),
        Column::words("measured", 7).at_least(16),
        Column::words("verdict", 9).at_least(12),
    ]);
    for verdicts in c.verdicts.chunk_by(|a, b| a.claim == b.claim) {
        let claim = c.claim(&verdicts[0]);
        // a claim and what the paper states stand once above its readings
        let several = verdicts.len() > 1;
        if several {
            table.row(vec![claim.id.clone(), verdicts[0].paper.clone()]);
        }
        for v in verdicts {
            let measured = match (&v.outcome, v.measured.as_str()) {
                (ClaimOutcome::LeftOut(why) | ClaimOutcome::NotMeasured(why), "") => why,
                (ClaimOutcome::LeftOut(why), _) => why,
                (_, measured) => measured,
            };
            let (name, paper) = match several {
                true => (format!("  {}", v.reading), String::new()),
                false => (claim.id.clone(), v.paper.clone()),
            };
            table.row(vec![name, paper, measured.to_owned(), verdict(v, claim, setting)]);
        }
    }
    table.render(terminal.out.width.min(WIDEST), terminal.out.colour)
}

fn verdict(v: &Verdict, claim: &Claim, setting: &Setting) -> String {
    let judged = v.outcome.judgement().is_some();
    let quick = if judged && setting.mode == Mode::Quick { "quick: " } else { "" };
    let changed = if judged && !setting.overrides.sets.is_empty() { "changed: " } else { "" };
    let calibrated = if judged && claim.calibrated { " (calibrated)" } else { "" };
    format!("{changed}{quick}{}{calibrated}", v.words())
}

/// Counts of verdicts in as many lines as they need.
pub(super) fn show_counts(words: &str, terminal: &Terminal) -> anyhow::Result<()> {
    for line in words.lines().flat_map(|line| wrap(line, terminal.out.width)) {
        print(&paint(&line, terminal.out.colour, "1"))?;
    }
    Ok(())
}

/// Lists claims that are not reproduced although nothing says why.
pub(super) fn tell_undiscussed(open: &[(String, String)], terminal: &Terminal) {
    if open.is_empty() {
        return;
    }
    let claims = format::plural(open.len() as u64, "claim");
    terminal.warn(&format!("{claims} not reproduced, and no discussion says why:"));
    for of in open.chunk_by(|a, b| a.0 == b.0) {
        let ids: Vec<&str> = of.iter().map(|(_, claim)| claim.as_str()).collect();
        let text = format!("{}: {}", of[0].0, ids.join(", "));
        let lines = wrap(&text, terminal.out.width.saturating_sub(4));
        lines.iter().for_each(|line| tell(&format!("    {line}")));
    }
}
