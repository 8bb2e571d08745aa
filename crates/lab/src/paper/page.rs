//! `index.html` of the paper lab: figures, numbers and verdicts of all experiments in one file that
//! opens offline, in light and dark, and prints.

use crate::report::html::figure_with;
use crate::report::{PAGE_CSS, PAGE_SCRIPT, figure_style};
use weir_core::markup::escape;
use weir_plot::Figure;

/// How a statement of a paper came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Within the margin that the claim states.
    Reproduced,
    /// The order holds, the size differs.
    SameDirection,
    /// Neither.
    NotReproduced,
    /// It cannot be checked here.
    NotMeasured,
    /// The quick run leaves out what it is about.
    LeftOut,
    /// The runs are missing or give no value.
    Missing,
}

impl Mark {
    /// All of them, best first.
    pub const ALL: [Self; 6] = [
        Self::Reproduced,
        Self::SameDirection,
        Self::NotReproduced,
        Self::NotMeasured,
        Self::LeftOut,
        Self::Missing,
    ];

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SameDirection => "same direction",
            Self::NotReproduced => "not reproduced",
            Self::NotMeasured => "not measured",
            Self::LeftOut => "only in full",
            Self::Missing => "no data",
        }
    }

    /// A sign that needs no colour.
    const fn sign(self) -> &'static str {
        match self {
            Self::Reproduced => "✓",
            Self::SameDirection => "≈",
            Self::NotReproduced => "✗",
            Self::NotMeasured | Self::LeftOut | Self::Missing => "–",
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Reproduced => "yes",
            Self::SameDirection => "near",
            Self::NotReproduced => "no",
            Self::NotMeasured | Self::LeftOut | Self::Missing => "none",
        }
    }
}

/// A statement of a paper with what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRow {
    /// Names it within the paper.
    pub id: String,
    /// Where in the paper.
    pub place: String,
    /// What it says.
    pub says: String,
    /// Which reading, or which variant.
    pub reading: String,
    /// The paper's number.
    pub paper: String,
    /// Ours.
    pub measured: String,
    /// By which rule it is judged.
    pub rule: String,
    /// How it came out, and why it has no data.
    pub mark: Mark,
    /// Whether a setting was chosen with this number in view.
    pub calibrated: bool,
    /// Why it differs.
    pub discussion: String,
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
}

/// A paper of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Names it.
    pub id: String,
    /// What tables call it.
    pub short: String,
    /// The title of the paper.
    pub title: String,
    /// What a reader should know before the numbers.
    pub notes: String,
    /// Its experiments.
    pub sections: Vec<Section>,
}

impl Part {
    /// How many of its statements came out how; those that settings were chosen for are apart.
    pub fn counts(&self) -> ([usize; 6], usize) {
        count(self.sections.iter().flat_map(|s| &s.claims))
    }
}

fn count<'a>(claims: impl IntoIterator<Item = &'a ClaimRow>) -> ([usize; 6], usize) {
    let mut counts = [0; 6];
    let mut calibrated = 0;
    for claim in claims {
        match claim.calibrated {
            true => calibrated += 1,
            false => counts[Mark::ALL.iter().position(|m| *m == claim.mark).unwrap_or(5)] += 1,
        }
    }
    (counts, calibrated)
}

const CSS: &str = "\
.mark { white-space: nowrap; font-weight: 600; }
.mark.yes { color: var(--c2); } .mark.near { color: var(--c4); } .mark.no { color: var(--hot); }
.mark.none { color: var(--soft); font-weight: 400; }
table.claims { width: 100%; }
table.claims td { white-space: normal; text-align: left; vertical-align: top; min-width: 6rem; }
table.claims td:nth-child(2) { min-width: 16rem; }
table.claims .rule { display: block; color: var(--soft); font-size: .85em; }
table.claims .why { display: block; margin-top: .25rem; font-size: .92em; }
.scaled { border-left: 4px solid var(--c1); background: var(--panel); padding: .5rem 1rem; border-radius: 4px; }
h2 .soft, h3 .soft { font-weight: 400; font-size: .85em; }
section.paper > h2 { font-size: 1.35rem; }
section.experiment { margin-top: 2.5rem; }
section.experiment > h3 { font-size: 1.12rem; border-top: 1px solid var(--line); padding-top: 1rem; }
section.experiment figure h3 { font-size: 1rem; border: 0; margin-top: 1.25rem; }
@media print { table.claims td { min-width: 0; } table.claims td:nth-child(2) { min-width: 0; } }
";

/// The whole page. `mode` is what the runs were called: quick or full.
pub fn page(parts: &[Part], mode: &str, version: &str) -> String {
    let scaled = parts.iter().flat_map(|p| &p.sections).any(|s| !s.scaled.is_empty());
    let banner = match scaled {
        true => {
            "<p class=\"warn\">A quick run: experiments are scaled down, each says how. Verdicts \
             apply to the scaled-down runs and do not judge a paper; <code>weir paper run \
             all --full</code> runs everything at the papers' scale.</p>\n"
        }
        false => "",
    };
    let links: String =
        parts.iter().map(|p| format!("<a href=\"#{}\">{}</a>", p.id, escape(&p.short))).collect();
    let body: String = parts.iter().map(part).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Paper lab · Weir</title>\n\
         <style id=\"figure-style\">\n{figures}</style>\n<style>\n{PAGE_CSS}{CSS}</style>\n</head>\n\
         <body>\n<header>\n<h1>Paper lab</h1>\n<p class=\"soft\">{mode} run · {count} experiments · \
         weir {version}</p>\n</header>\n<p class=\"answer\">{answer}</p>\n{banner}\
         <nav><a href=\"#verdicts\">Verdicts</a>{links}</nav>\n{summary}\n{body}\
         <script>\n{PAGE_SCRIPT}</script>\n</body>\n</html>\n",
        figures = figure_style(),
        mode = escape(mode),
        version = escape(version),
        count = parts.iter().map(|p| p.sections.len()).sum::<usize>(),
        answer = answer(parts),
        summary = summary(parts),
    )
}

/// The count of verdicts in one sentence.
fn answer(parts: &[Part]) -> String {
    let mut totals = [0; 6];
    for part in parts {
        let (counts, _) = part.counts();
        totals.iter_mut().zip(counts).for_each(|(t, n)| *t += n);
    }
    let judged: usize = totals[..3].iter().sum();
    format!(
        "Of {judged} statements that were checked, {} are reproduced, {} point in the same \
         direction, {} are not reproduced.",
        totals[0], totals[1], totals[2]
    )
}

/// Papers and experiments with the counts of their verdicts.
fn summary(parts: &[Part]) -> String {
    let mut out = String::from(
        "<section id=\"verdicts\">\n<h2>Verdicts</h2>\n<p class=\"soft\">Each statement is judged by \
         a rule that was fixed before the runs. Calibrated: a setting was chosen with the published \
         number in view, so that agreement confirms nothing; counted separately.</p>\n\
         <div class=\"wide\"><table><thead><tr><th class=\"words\">experiment</th>\
         <th class=\"words\">in the paper</th>",
    );
    for mark in Mark::ALL {
        out.push_str(&format!("<th>{} {}</th>", mark.sign(), mark.words()));
    }
    out.push_str("<th>calibrated</th></tr></thead><tbody>\n");
    for part in parts {
        let (counts, calibrated) = part.counts();
        let name = format!("<b><a href=\"#{}\">{}</a></b>", part.id, escape(&part.short));
        out.push_str(&row(&name, "", counts, calibrated));
        for s in &part.sections {
            let (counts, calibrated) = count(&s.claims);
            let name = format!("<a href=\"#{0}\">{0}</a> {1}", escape(&s.id), escape(&s.title));
            out.push_str(&row(&name, &escape(&s.place), counts, calibrated));
        }
    }
    out + "</tbody></table></div>\n</section>\n"
}

fn row(name: &str, place: &str, counts: [usize; 6], calibrated: usize) -> String {
    let cell = |n: usize| match n {
        0 => "<td></td>".to_owned(),
        n => format!("<td>{n}</td>"),
    };
    let cells: String = counts.into_iter().chain([calibrated]).map(cell).collect();
    format!("<tr><td class=\"words\">{name}</td><td class=\"words\">{place}</td>{cells}</tr>\n")
}

/// Text as paragraphs: an empty line begins a new one.
fn paragraphs(text: &str, class: &str) -> String {
    let mut out = String::new();
    for p in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
        out.push_str(&format!("<p{class}>{}</p>\n", escape(p)));
    }
    out
}

fn part(p: &Part) -> String {
    let sections: String = p.sections.iter().map(section).collect();
    format!(
        "<section class=\"paper\" id=\"{}\">\n<h2>{}</h2>\n{}{sections}</section>\n",
        p.id,
        escape(&p.title),
        paragraphs(&p.notes, " class=\"soft\"")
    )
}

fn section(s: &Section) -> String {
    let id = escape(&s.id);
    let scaled = match s.scaled.is_empty() {
        true => String::new(),
        false => {
            format!("<p class=\"scaled\">Quick: {}.</p>\n", escape(s.scaled.trim_end_matches('.')))
        }
    };
    let trouble: String =
        s.trouble.iter().map(|t| format!("<p class=\"warn\">{}</p>\n", escape(t))).collect();
    let tools = |f: &Figure| {
        let link = |end: &str| format!("<a href=\"figures/{}.{end}\">{end}</a>", escape(&f.id));
        ["svg", "png", "csv"].map(link).join(" ")
    };
    let figures: String = s.figures.iter().map(|f| figure_with(f, &tools(f))).collect();
    let files: String = s
        .files
        .iter()
        .map(|(name, text)| {
            let (name, text) = (escape(name), escape(text));
            format!("<details><summary>{name}</summary><pre>{text}</pre></details>\n")
        })
        .collect();
    format!(
        "<section class=\"experiment\" id=\"{id}\">\n<h3>{id}: {title} <span class=\"soft\">{place}\
         </span></h3>\n{scaled}{trouble}{shows}{figures}{claims}\n<p class=\"soft\">{runs}</p>\n\
         <pre>{command}</pre>\n{files}</section>\n",
        title = escape(&s.title),
        place = escape(&s.place),
        shows = paragraphs(&s.shows, ""),
        claims = claims(&s.claims),
        runs = escape(&s.runs),
        command = escape(&s.command),
    )
}

fn claims(rows: &[ClaimRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<div class=\"wide\"><table class=\"claims\"><thead><tr><th class=\"words\">where</th>\
         <th class=\"words\">the paper says</th><th class=\"words\">paper</th>\
         <th class=\"words\">here</th><th class=\"words\">verdict</th></tr></thead><tbody>\n",
    );
    for c in rows {
        let reading = match c.reading.is_empty() {
            true => String::new(),
            false => format!(" <span class=\"soft\">({})</span>", escape(&c.reading)),
        };
        let why = match c.discussion.is_empty() {
            true => String::new(),
            false => format!("<span class=\"why\">{}</span>", escape(c.discussion.trim())),
        };
        let calibrated = if c.calibrated { " <span class=\"soft\">calibrated</span>" } else { "" };
        out.push_str(&format!(
            "<tr id=\"{id}\"><td>{place}</td><td>{says}{reading}<span class=\"rule\">{rule}</span>{why}\
             </td><td>{paper}</td><td>{measured}</td>\
             <td><span class=\"mark {class}\">{sign} {words}</span>{calibrated}</td></tr>\n",
            id = escape(&c.id),
            place = escape(&c.place),
            says = escape(&c.says),
            rule = escape(&c.rule),
            paper = escape(&c.paper),
            measured = escape(&c.measured),
            class = c.mark.class(),
            sign = c.mark.sign(),
            words = c.mark.words(),
        ));
    }
    out + "</tbody></table></div>"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(mark: Mark, calibrated: bool) -> ClaimRow {
        let text = |t: &str| t.to_owned();
        ClaimRow {
            id: text("c"),
            place: text("Fig. 1"),
            says: text("a < b & \"c\""),
            reading: String::new(),
            paper: text("26 %"),
            measured: text("24 % ± 1"),
            rule: text("within 25 %"),
            mark,
            calibrated,
            discussion: String::new(),
        }
    }

    fn lab() -> Vec<Part> {
        let claims = vec![
            claim(Mark::Reproduced, false),
            claim(Mark::NotReproduced, false),
            claim(Mark::Reproduced, true),
            claim(Mark::NotMeasured, false),
        ];
        let section = Section {
            id: "A-1".into(),
            title: "t".into(),
            place: "Fig. 1".into(),
            shows: "one\n\ntwo <b>".into(),
            scaled: "one seed.".into(),
            runs: "3 of 3 runs".into(),
            trouble: vec!["a run failed".into()],
            command: "weir paper run A-1".into(),
            files: vec![("a.toml".into(), "x = \"<y>\"".into())],
            figures: Vec::new(),
            claims,
        };
        vec![Part {
            id: "a".into(),
            short: "A".into(),
            title: "On A".into(),
            notes: String::new(),
            sections: vec![section],
        }]
    }

    /// Neither what settings were chosen for nor what cannot be measured counts as checked.
    #[test]
    fn the_sentence_counts_what_was_checked() {
        assert_eq!(lab()[0].counts(), ([1, 0, 1, 1, 0, 0], 1));
        let page = page(&lab(), "quick", "1.0");
        assert!(page.contains("Of 2 statements that were checked, 1 are reproduced"));
    }

    #[test]
    fn texts_of_users_are_text_and_a_quick_run_says_so() {
        let page = page(&lab(), "quick", "1.0");
        assert!(
            page.contains("a &lt; b &amp; &quot;c&quot;") && page.contains("<p>two &lt;b&gt;</p>")
        );
        assert!(page.contains("Quick: one seed.</p>") && page.contains("A quick run"));
        assert!(page.contains("a run failed"));
        let mut full = lab();
        full[0].sections[0].scaled.clear();
        assert!(!super::page(&full, "full", "1.0").contains("A quick run"));
    }
}
