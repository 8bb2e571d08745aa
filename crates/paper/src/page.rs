//! `index.html` of the paper lab: figures, numbers and verdicts of all experiments in one file that
//! opens offline, in light and dark, and prints.

mod explained;

pub use explained::Explained;

use super::claim::Sort;
use super::counts::Counts;
use super::four::Four;
use super::verdict::ClaimOutcome;
use weir_core::markup::Html;
use weir_core::{format, html};
use weir_plot::Figure;
use weir_results::report::html::figure_with;
use weir_results::report::{PAGE_CSS, PAGE_SCRIPT, figure_style};

/// A statement of a paper with what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRow {
    /// Names it within the paper.
    pub id: String,
    /// Where in the paper.
    pub place: String,
    /// What it says.
    pub says: String,
    /// Which reading.
    pub reading: String,
    /// The paper's number.
    pub paper: String,
    /// What is measured.
    pub quantity: String,
    /// By which rule it is judged.
    pub rule: String,
    /// What came out; several if it is read for several variants.
    pub findings: Vec<Finding>,
    /// Whether a setting was chosen with this number in view.
    pub calibrated: bool,
    /// Whether the runs had other settings than the experiment's.
    pub changed: bool,
    /// Whether the runs were scaled down.
    pub quick: bool,
    /// Whether nothing tests why it is not reproduced.
    pub unexplained: bool,
    /// Why it differs.
    pub discussion: String,
    /// Discussions of the paper that are about it: their places on the page.
    pub discussed: Vec<String>,
}

/// What came out of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// For which variant, if there are several.
    pub variant: String,
    /// Our number.
    pub measured: String,
    /// How it came out.
    pub outcome: ClaimOutcome,
    /// The same with what is known about it.
    pub words: String,
    /// Files with the rows that decide it: name and place.
    pub rows: Vec<(String, String)>,
    /// Which rows.
    pub which: String,
}

/// Why some statements came out as they did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// Its place on the page.
    pub id: String,
    /// A line above it.
    pub title: String,
    /// Paragraphs.
    pub text: String,
    /// Experiments that test it.
    pub sensitivity: Vec<String>,
}

/// An experiment of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Names it.
    pub id: String,
    /// One line.
    pub title: String,
    /// Where in the paper.
    pub place: String,
    /// Paragraphs about it.
    pub shows: String,
    /// What the quick mode leaves out; empty for a full run.
    pub scaled: String,
    /// How complete it is: `1200 of 1200 runs have a result`.
    pub runs: String,
    /// What is wrong with the runs: failures, losses.
    pub trouble: Vec<String>,
    /// What to type.
    pub command: String,
    /// Files with their texts: experiment and scenario.
    pub files: Vec<(String, String)>,
    /// Drawings.
    pub figures: Vec<Figure>,
    /// Statements.
    pub claims: Vec<ClaimRow>,
    /// How many came out how.
    pub counts: Counts,
    /// Why they came out so; what stands with an earlier experiment is not repeated.
    pub discussions: Vec<Why>,
}

/// A paper of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownPaper {
    /// Names it.
    pub id: String,
    /// What tables call it.
    pub short: String,
    /// The title of the paper.
    pub title: String,
    /// What a reader should know before the numbers.
    pub notes: String,
    /// How many of its statements came out how.
    pub counts: Counts,
    /// Its experiments.
    pub sections: Vec<Section>,
    /// What would have to be true for its statements to hold.
    pub explained: Vec<Explained>,
}

const CSS: &str = "\
.mark { white-space: nowrap; font-weight: 600; }
.mark.yes { color: var(--c2); } .mark.near { color: var(--c4); } .mark.no { color: var(--hot); }
.mark.none { color: var(--soft); font-weight: 400; }
.changed { color: var(--hot); white-space: nowrap; }
tr.more td:first-child { padding-left: .8rem; }
.quick { color: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: 0 .3em; }
table.claims { width: 100%; }
table.claims td { white-space: normal; text-align: left; vertical-align: top; min-width: 6rem; }
table.claims td:nth-child(2) { min-width: 16rem; }
table.claims .rule { display: block; color: var(--soft); font-size: .85em; }
table.claims .why { display: block; margin-top: .25rem; font-size: .92em; }
.discussion { border-left: 4px solid var(--line); padding: 0 1rem; margin: 1rem 0; }
.discussion h4 { margin: .25rem 0; }
tr.total td { border-top: 2px solid var(--line); font-weight: 600; }
.scaled { border-left: 4px solid var(--c1); background: var(--panel); padding: .5rem 1rem; \
border-radius: 4px; }
h2 .soft, h3 .soft { font-weight: 400; font-size: .85em; }
section.paper > h2 { font-size: 1.35rem; }
section.experiment { margin-top: 2.5rem; }
section.experiment > h3 { font-size: 1.12rem; border-top: 1px solid var(--line); padding-top: \
1rem; }
section.experiment figure h3 { font-size: 1rem; border: 0; margin-top: 1.25rem; }
@media print { table.claims td { min-width: 0; } table.claims td:nth-child(2) { min-width: 0; } }
";

/// What holds for the whole page.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// What the runs were called: quick or full.
    pub mode: &'a str,
    /// What `--set` changed in all runs; empty if nothing.
    pub changed: &'a str,
    /// The version of the program.
    pub version: &'a str,
}

/// What a reader must know before any number: runs with changed settings, scaled-down runs.
fn banner(parts: &[ShownPaper], head: &Head<'_>) -> Html {
    let mut out = Html::default();
    if !head.changed.is_empty() {
        out.push(&html!(
            "<p class=\"warn\">Changed settings: every run had <code>{}</code>. These are not the \
             papers' experiments; each verdict compares a paper's number with changed runs.</p>\n",
            head.changed
        ));
    }
    let scaled = parts.iter().flat_map(|p| &p.sections).any(|s| !s.scaled.is_empty());
    if scaled {
        out.push(&html!(
            "<p class=\"warn\">A quick run: experiments are scaled down, each says how. Verdicts \
             apply to the scaled-down runs and do not judge a paper; <code>weir paper run \
             all --full</code> runs everything at the papers' scale.</p>\n"
        ));
    }
    out
}

/// The whole page: results first, counts of verdicts behind them.
pub fn page(parts: &[ShownPaper], total: &Counts, head: &Head<'_>) -> String {
    let banner = banner(parts, head);
    let count: usize = parts.iter().map(|p| p.sections.len()).sum();
    let links: Html =
        parts.iter().map(|p| html!("<a href=\"#{}\">{}</a>", p.id, p.short)).collect();
    let body: Html = parts.iter().map(part).collect();
    html!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Paper lab · Weir</title>\n\
         <style id=\"figure-style\">\n{figures}</style>\n<style>\n{css}</style>\n\
         </head>\n\
         <body>\n<header>\n<h1>Paper lab</h1>\n<p class=\"soft\">{mode} run · {count} \
         · weir {version}</p>\n</header>\n<p class=\"answer\">{answer}</p>\n{banner}\
         <nav>{links}<a href=\"#verdicts\">Counts of verdicts</a></nav>\n{body}{summary}\
         <script>\n{script}</script>\n</body>\n</html>\n",
        figures = Html::made(figure_style()),
        css = Html::made(format!("{PAGE_CSS}{CSS}")),
        mode = head.mode,
        count = format::plural(count as u64, "experiment"),
        version = head.version,
        answer = answer(total),
        banner = banner,
        links = links,
        body = body,
        summary = summary(parts, total),
        script = Html::made(PAGE_SCRIPT),
    )
    .into_string()
}

/// The count of verdicts in one sentence: numbers, orders and trends of the primary reading.
fn answer(total: &Counts) -> String {
    let part = |(sort, four): (&Sort, &Four)| {
        let many = format::plural(four.total() as u64, sort.name());
        format!("of {many} {}", four.words())
    };
    let all = Sort::ALL.iter().zip(&total.primary).filter(|(_, four)| four.total() > 0);
    let parts: Vec<String> = all.map(part).collect();
    match parts.is_empty() {
        true if total.statements == 0 => "No statement was judged.".into(),
        true => format!("{}.", total.basis()),
        false => format!("Primary reading: {}.", parts.join("; ")),
    }
}

const HEADS: [&str; 10] = [
    "statements",
    "numbers ✓ ≈ ✗ ?",
    "orders ✓ ≈ ✗ ?",
    "trends ✓ ≈ ✗ ?",
    "other readings ✓ ≈ ✗ ?",
    "not measured",
    "only in full",
    "no data",
    "calibrated",
    "own ✓ ≈ ✗ ?",
];

/// Cells of counts below [`HEADS`].
fn cells(c: &Counts) -> [String; 10] {
    let cell = |n: usize| if n == 0 { String::new() } else { n.to_string() };
    let [numbers, orders, trends] = c.primary.map(|four| four.cell());
    let others = c.others.iter().fold(Four::default(), |sum, four| sum.with(*four)).cell();
    let [none, left_out, missing, calibrated] =
        [c.not_measured, c.left_out, c.missing, c.calibrated].map(cell);
    let statements = cell(c.statements);
    let own = c.own.cell();
    [statements, numbers, orders, trends, others, none, left_out, missing, calibrated, own]
}

/// The columns that are shown: the primary reading always, the others where there is
/// anything.
fn columns(total: &Counts) -> Vec<usize> {
    const ALWAYS: usize = 4;
    let all = cells(total);
    (0..HEADS.len()).filter(|&i| i < ALWAYS || !all[i].is_empty()).collect()
}

/// Papers with the counts of their verdicts, then their experiments.
fn summary(parts: &[ShownPaper], total: &Counts) -> Html {
    let mut out = html!(
        "<section id=\"verdicts\">\n<h2>Counts of verdicts</h2>\n<p class=\"soft\">Each statement \
         is judged by a rule that was fixed before the runs, once for each of its readings, by \
         intervals over seeds: reproduced / same direction / not reproduced / not distinguishable, \
         of the primary reading first. Two kinds of verdicts say nothing about a paper and are \
         counted separately. Calibrated: a setting was chosen with the published number in view. \
         Own checks: no paper has them; they test choices made here.</p>\n"
    );
    if total.readings() > 0 {
        out.push(&html!("<p class=\"soft\">{}</p>\n", total.by_chance()));
    }
    let shown = columns(total);
    let mut rows = Html::default();
    for part in parts {
        let name = html!("<a href=\"#{}\">{}</a>", part.id, part.short);
        rows.push(&html!("<tr>{}</tr>\n", row(&name, &part.counts, &shown)));
    }
    if parts.len() > 1 {
        let all = row(&html!("all papers"), total, &shown);
        rows.push(&html!("<tr class=\"total\">{}</tr>\n", all));
    }
    out.push(&table("paper", &rows, &shown));
    for part in parts {
        let mut rows = Html::default();
        for s in &part.sections {
            let name = html!("<a href=\"#{0}\">{0}</a> {1}", s.id, s.title);
            rows.push(&html!("<tr>{}</tr>\n", row(&name, &s.counts, &shown)));
        }
        out.push(&html!("<h3>{}</h3>\n", part.short));
        out.push(&table("experiment", &rows, &shown));
    }
    html!("{}</section>\n", out)
}

fn table(what: &str, rows: &Html, shown: &[usize]) -> Html {
    let heads: Html = shown.iter().map(|&i| html!("<th>{}</th>", HEADS[i])).collect();
    html!(
        "<div class=\"wide\"><table><thead><tr><th class=\"words\">{}</th>{}</tr></thead>\
         <tbody>\n{}</tbody></table></div>\n",
        what,
        heads,
        rows
    )
}

fn row(name: &Html, c: &Counts, shown: &[usize]) -> Html {
    let all = cells(c);
    let cells: Html = shown.iter().map(|&i| html!("<td>{}</td>", all[i])).collect();
    html!("<td class=\"words\">{}</td>{}", name, cells)
}

/// Text as paragraphs: an empty line begins a new one.
fn paragraphs(text: &str, class: &Html) -> Html {
    let parts = text.split("\n\n").map(str::trim).filter(|p| !p.is_empty());
    parts.map(|p| html!("<p{}>{}</p>\n", class, marked_up(p))).collect()
}

/// Text of a page: what stands between two backticks is code.
fn marked_up(text: &str) -> Html {
    let parts: Vec<&str> = text.split('`').collect();
    let paired = parts.len() % 2 == 1;
    let part = |(i, part): (usize, &&str)| match (paired, i % 2) {
        (true, 1) => html!("<code>{}</code>", part),
        (false, _) if i > 0 => html!("`{}", part),
        _ => html!("{}", part),
    };
    parts.iter().enumerate().map(part).collect()
}

fn part(p: &ShownPaper) -> Html {
    html!(
        "<section class=\"paper\" id=\"{}\">\n<h2>{}</h2>\n{}{}{}</section>\n",
        p.id,
        p.title,
        paragraphs(&p.notes, &html!(" class=\"soft\"")),
        p.sections.iter().map(section).collect::<Html>(),
        p.explained.iter().map(explained::section).collect::<Html>()
    )
}

fn section(s: &Section) -> Html {
    let scaled = match s.scaled.is_empty() {
        true => Html::default(),
        false => html!("<p class=\"scaled\">Quick: {}.</p>\n", s.scaled.trim_end_matches('.')),
    };
    let trouble: Html = s.trouble.iter().map(|t| html!("<p class=\"warn\">{}</p>\n", t)).collect();
    let tools = |f: &Figure| {
        let link = |end| html!("<a href=\"figures/{0}.{1}\">{1}</a>", f.id, end);
        let [svg, pdf, png, csv] = ["svg", "pdf", "png", "csv"].map(link);
        html!("{} {} {} {}", svg, pdf, png, csv)
    };
    let figures: Html = s.figures.iter().map(|f| figure_with(f, &tools(f))).collect();
    let file = |(name, text): &(String, String)| {
        html!("<details><summary>{}</summary><pre>{}</pre></details>\n", name, text)
    };
    html!(
        "<section class=\"experiment\" id=\"{id}\">\n<h3>{id}: {title} <span class=\"soft\">{place}\
         </span></h3>\n{scaled}{trouble}{shows}{figures}{claims}\n{whys}<p \
         class=\"soft\">{runs}</p>\n\
         <pre>{command}</pre>\n{files}</section>\n",
        id = s.id,
        title = s.title,
        place = s.place,
        scaled = scaled,
        trouble = trouble,
        shows = paragraphs(&s.shows, &Html::default()),
        figures = figures,
        claims = claims(&s.claims),
        whys = s.discussions.iter().map(why).collect::<Html>(),
        runs = s.runs,
        command = s.command,
        files = s.files.iter().map(file).collect::<Html>(),
    )
}

fn claims(rows: &[ClaimRow]) -> Html {
    if rows.is_empty() {
        return Html::default();
    }
    html!(
        "<div class=\"wide\"><table class=\"claims\"><thead><tr><th class=\"words\">where</th>\
         <th class=\"words\">the paper says</th><th class=\"words\">paper</th>\
         <th class=\"words\">here</th><th class=\"words\">verdict</th></tr></thead><tbody>\n{}\
         </tbody></table></div>",
        rows.iter().map(claim).collect::<Html>()
    )
}

/// A statement with a line for each finding; what they have in common is said once.
fn claim(c: &ClaimRow) -> Html {
    let lines = match c.findings.len() {
        0 | 1 => Html::default(),
        n => html!(" rowspan=\"{}\"", n),
    };
    let reading = match c.reading.is_empty() {
        true => Html::default(),
        false => html!(" <span class=\"soft\">({})</span>", c.reading),
    };
    let why = match c.discussion.is_empty() {
        true => Html::default(),
        false => html!("<span class=\"why\">{}</span>", c.discussion.trim()),
    };
    let links: Html = c.discussed.iter().map(|id| html!(" <a href=\"#{}\">why</a>", id)).collect();
    let mut marks = Html::default();
    if c.calibrated {
        marks.push(&html!(" <span class=\"soft\">calibrated</span>"));
    }
    if c.quick {
        marks.push(&html!(" <span class=\"quick\">quick</span>"));
    }
    if c.changed {
        marks.push(&html!(" <span class=\"changed\">changed settings</span>"));
    }
    let mut out = html!(
        "<tr id=\"{id}\"><td{lines}>{place}</td><td{lines}>{says}{reading}<span class=\"rule\">\
         {quantity}</span><span class=\"rule\">{rule}</span>{why}</td><td{lines}>{paper}</td>",
        id = c.id,
        lines = lines,
        place = c.place,
        says = c.says,
        reading = reading,
        quantity = c.quantity,
        rule = c.rule,
        why = why,
        paper = c.paper,
    );
    for (i, f) in c.findings.iter().enumerate() {
        let variant = match f.variant.is_empty() {
            true => Html::default(),
            false => html!("<span class=\"soft\">{}:</span> ", f.variant),
        };
        let row = |(name, place): &(String, String)| {
            html!(" <a class=\"soft\" href=\"{}\" title=\"{}\">{}</a>", place, f.which, name)
        };
        let unexplained = match c.unexplained && f.outcome.is_not_reproduced() {
            true => html!(" <span class=\"soft\">unexplained</span>"),
            false => Html::default(),
        };
        out.push(&html!(
            "{begin}<td>{variant}{measured}</td><td><span class=\"mark {class}\">{sign} \
             {words}</span>\
             {unexplained}{marks}{links}{rows}</td></tr>\n",
            begin = if i == 0 { Html::default() } else { html!("<tr class=\"more\">") },
            variant = variant,
            measured = f.measured,
            unexplained = unexplained,
            class = f.outcome.class(),
            sign = f.outcome.sign(),
            words = f.words,
            marks = marks,
            links = links,
            rows = f.rows.iter().map(row).collect::<Html>(),
        ));
    }
    out
}

fn why(w: &Why) -> Html {
    let title = match w.title.is_empty() {
        true => Html::default(),
        false => html!("<h4>{}</h4>\n", w.title),
    };
    let mut tested = Html::default();
    for (i, id) in w.sensitivity.iter().enumerate() {
        let before = if i == 0 { "<p class=\"soft\">Tested by " } else { ", " };
        tested.push(&Html::made(before));
        tested.push(&html!("<a href=\"#{0}\">{0}</a>", id));
    }
    if !tested.is_empty() {
        tested.push(&html!(".</p>\n"));
    }
    html!(
        "<div class=\"discussion\" id=\"{}\">\n{}{}{}</div>\n",
        w.id,
        title,
        paragraphs(&w.text, &Html::default()),
        tested
    )
}

#[cfg(test)]
mod tests;
