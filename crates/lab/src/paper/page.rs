//! `index.html` of the paper lab: figures, numbers and verdicts of all experiments in one file that
//! opens offline, in light and dark, and prints.

use super::counts::Counts;
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
    pub mark: Mark,
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
    /// The statements it is about, by name.
    pub about: Vec<String>,
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
pub struct Part {
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

/// The whole page. `mode` is what the runs were called: quick or full.
pub fn page(parts: &[Part], total: &Counts, mode: &str, version: &str) -> String {
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
         <style id=\"figure-style\">\n{figures}</style>\n<style>\n{PAGE_CSS}{CSS}</style>\n\
         </head>\n\
         <body>\n<header>\n<h1>Paper lab</h1>\n<p class=\"soft\">{mode} run · {count} experiments \
         · weir {version}</p>\n</header>\n<p class=\"answer\">{answer}</p>\n{banner}\
         <nav><a href=\"#verdicts\">Verdicts</a>{links}</nav>\n{summary}\n{body}\
         <script>\n{PAGE_SCRIPT}</script>\n</body>\n</html>\n",
        figures = figure_style(),
        mode = escape(mode),
        version = escape(version),
        count = parts.iter().map(|p| p.sections.len()).sum::<usize>(),
        answer = answer(total),
        summary = summary(parts, total),
    )
}

/// The count of verdicts in one sentence.
fn answer(total: &Counts) -> String {
    let [yes, near, no] = total.three();
    format!(
        "Of {}, {yes} readings are reproduced, {near} point in the same direction, {no} are not \
         reproduced.",
        total.basis()
    )
}

const HEADS: [&str; 10] = [
    "statements",
    "readings",
    "✓ reproduced",
    "≈ same direction",
    "✗ not reproduced",
    "not measured",
    "only in full",
    "no data",
    "calibrated",
    "own checks ✓ ≈ ✗",
];

/// Papers with the counts of their verdicts, then their experiments.
fn summary(parts: &[Part], total: &Counts) -> String {
    let mut out = String::from(
        "<section id=\"verdicts\">\n<h2>Verdicts</h2>\n<p class=\"soft\">Each statement is judged \
         by a rule that was fixed before the runs, once for each of its readings. Two kinds of \
         verdicts say nothing about a paper and are counted separately. Calibrated: a setting was \
         chosen with the published number in view. Own checks: no paper has them; they test \
         choices made here.</p>\n",
    );
    out.push_str(&head("paper", false));
    for part in parts {
        let name = format!("<a href=\"#{}\">{}</a>", part.id, escape(&part.short));
        out.push_str(&row("", &[&name], &part.counts));
    }
    if parts.len() > 1 {
        out.push_str(&row(" class=\"total\"", &["all papers"], total));
    }
    out.push_str("</tbody></table></div>\n");
    for part in parts {
        out.push_str(&format!("<h3>{}</h3>\n", escape(&part.short)));
        out.push_str(&head("experiment", true));
        for s in &part.sections {
            let name = format!("<a href=\"#{0}\">{0}</a> {1}", escape(&s.id), escape(&s.title));
            out.push_str(&row("", &[&name, &escape(&s.place)], &s.counts));
        }
        out.push_str("</tbody></table></div>\n");
    }
    out + "</section>\n"
}

fn head(what: &str, place: bool) -> String {
    let mut out = format!(
        "<div class=\"wide\"><table><thead><tr><th class=\"words\">{what}</th>{}",
        if place { "<th class=\"words\">in the paper</th>" } else { "" }
    );
    HEADS.iter().for_each(|h| out.push_str(&format!("<th>{h}</th>")));
    out + "</tr></thead><tbody>\n"
}

fn row(class: &str, words: &[&str], c: &Counts) -> String {
    let cell = |n: usize| if n == 0 { String::new() } else { n.to_string() };
    let mut cells = vec![cell(c.statements), cell(c.readings())];
    cells.extend(c.three().map(cell));
    cells.extend([c.not_measured, c.left_out, c.missing, c.calibrated].map(cell));
    let own = c.own.iter().any(|n| *n > 0);
    cells.push(if own { c.own.map(|n| n.to_string()).join(" / ") } else { String::new() });
    let words: String = words.iter().map(|w| format!("<td class=\"words\">{w}</td>")).collect();
    let cells: String = cells.iter().map(|c| format!("<td>{c}</td>")).collect();
    format!("<tr{class}>{words}{cells}</tr>\n")
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
         </span></h3>\n{scaled}{trouble}{shows}{figures}{claims}\n{whys}<p \
         class=\"soft\">{runs}</p>\n\
         <pre>{command}</pre>\n{files}</section>\n",
        title = escape(&s.title),
        place = escape(&s.place),
        shows = paragraphs(&s.shows, ""),
        claims = claims(&s.claims),
        whys = s.discussions.iter().map(why).collect::<String>(),
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
    rows.iter().for_each(|c| out.push_str(&claim(c)));
    out + "</tbody></table></div>"
}

/// A statement with a line for each finding; what they have in common is said once.
fn claim(c: &ClaimRow) -> String {
    let lines = match c.findings.len() {
        0 | 1 => String::new(),
        n => format!(" rowspan=\"{n}\""),
    };
    let reading = match c.reading.is_empty() {
        true => String::new(),
        false => format!(" <span class=\"soft\">({})</span>", escape(&c.reading)),
    };
    let why = match c.discussion.is_empty() {
        true => String::new(),
        false => format!("<span class=\"why\">{}</span>", escape(c.discussion.trim())),
    };
    let links: String =
        c.discussed.iter().map(|id| format!(" <a href=\"#{}\">why</a>", escape(id))).collect();
    let calibrated = if c.calibrated { " <span class=\"soft\">calibrated</span>" } else { "" };
    let mut out = format!(
        "<tr id=\"{id}\"><td{lines}>{place}</td><td{lines}>{says}{reading}<span class=\"rule\">\
         {quantity}</span><span class=\"rule\">{rule}</span>{why}</td><td{lines}>{paper}</td>",
        id = escape(&c.id),
        place = escape(&c.place),
        says = escape(&c.says),
        quantity = escape(&c.quantity),
        rule = escape(&c.rule),
        paper = escape(&c.paper),
    );
    for (i, f) in c.findings.iter().enumerate() {
        let variant = match f.variant.is_empty() {
            true => String::new(),
            false => format!("<span class=\"soft\">{}:</span> ", escape(&f.variant)),
        };
        out.push_str(&format!(
            "{begin}<td>{variant}{measured}</td><td><span class=\"mark {class}\">{sign} \
             {words}</span>\
             {calibrated}{links}</td></tr>\n",
            begin = if i == 0 { "" } else { "<tr>" },
            measured = escape(&f.measured),
            class = f.mark.class(),
            sign = f.mark.sign(),
            words = f.mark.words(),
        ));
    }
    out
}

fn why(w: &Why) -> String {
    let title = match w.title.is_empty() {
        true => String::new(),
        false => format!("<h4>{}</h4>\n", escape(&w.title)),
    };
    let link = |id: &String| format!("<a href=\"#{0}\">{0}</a>", escape(id));
    let tested: Vec<String> = w.sensitivity.iter().map(link).collect();
    let tested = match tested.is_empty() {
        true => String::new(),
        false => format!(" Tested by {}.", tested.join(", ")),
    };
    let about: Vec<String> = w.about.iter().map(|id| escape(id)).collect();
    format!(
        "<div class=\"discussion\" id=\"{}\">\n{title}{}<p class=\"soft\">About {}.{tested}</p>\n\
         </div>\n",
        escape(&w.id),
        paragraphs(&w.text, ""),
        about.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(marks: &[(&str, Mark)]) -> ClaimRow {
        let text = |t: &str| t.to_owned();
        let finding = |(variant, mark): &(&str, Mark)| Finding {
            variant: text(variant),
            measured: text("24 % ± 1"),
            mark: *mark,
        };
        ClaimRow {
            id: text("c"),
            place: text("Fig. 1"),
            says: text("a < b & \"c\""),
            reading: String::new(),
            paper: text("26 %"),
            quantity: text("fct_mean_ps (class victim)"),
            rule: text("within 25 %"),
            findings: marks.iter().map(finding).collect(),
            calibrated: false,
            discussion: String::new(),
            discussed: vec![text("a-why-1")],
        }
    }

    fn lab() -> Vec<Part> {
        let counts = Counts {
            statements: 2,
            reproduced: 2,
            not_reproduced: 1,
            calibrated: 4,
            own: [5, 0, 6],
            ..Counts::default()
        };
        let claims = vec![
            row_of(&[("", Mark::Reproduced)]),
            row_of(&[("x", Mark::NotReproduced), ("y", Mark::Reproduced)]),
        ];
        let why = Why {
            id: "a-why-1".into(),
            title: "A < B".into(),
            text: "because\n\nof it".into(),
            about: vec!["c".into()],
            sensitivity: vec!["A-1S".into()],
        };
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
            counts,
            discussions: vec![why],
        };
        vec![Part {
            id: "a".into(),
            short: "A".into(),
            title: "On A".into(),
            notes: String::new(),
            counts,
            sections: vec![section],
        }]
    }

    fn shown(parts: &[Part], mode: &str) -> String {
        page(parts, &parts[0].counts, mode, "1.0")
    }

    #[test]
    fn statements_and_readings_are_counted_and_own_checks_apart() {
        let page = shown(&lab(), "quick");
        assert!(page.contains("Of 2 statements in 3 readings, 2 readings are reproduced"));
        let row = "<a href=\"#a\">A</a></td><td>2</td><td>3</td><td>2</td><td></td><td>1</td>\
            <td></td><td></td><td></td><td>4</td><td>5 / 0 / 6</td></tr>";
        assert!(page.contains(row), "{page}");
    }

    /// What the findings of a statement share stands once beside all of them.
    #[test]
    fn a_statement_stands_once_beside_its_readings() {
        let row = claim(&row_of(&[("x", Mark::NotReproduced), ("y", Mark::Reproduced)]));
        for (text, times) in [
            ("fct_mean_ps (class victim)", 1),
            ("rowspan=\"2\"", 3),
            ("<tr", 2),
            ("</tr>", 2),
            ("<span class=\"soft\">x:</span>", 1),
            ("href=\"#a-why-1\"", 2),
        ] {
            assert_eq!(row.matches(text).count(), times, "{text}: {row}");
        }
        assert!(!claim(&row_of(&[("", Mark::Reproduced)])).contains("rowspan"));
    }

    #[test]
    fn a_discussion_says_what_it_is_about_and_what_tests_it() {
        let page = shown(&lab(), "full");
        assert!(page.contains("id=\"a-why-1\"") && page.contains("<h4>A &lt; B</h4>"));
        assert!(page.contains("<p>because</p>\n<p>of it</p>"));
        assert!(page.contains("About c. Tested by <a href=\"#A-1S\">A-1S</a>."));
    }

    #[test]
    fn texts_of_users_are_text_and_a_quick_run_says_so() {
        let page = shown(&lab(), "quick");
        assert!(
            page.contains("a &lt; b &amp; &quot;c&quot;") && page.contains("<p>two &lt;b&gt;</p>")
        );
        assert!(page.contains("Quick: one seed.</p>") && page.contains("A quick run"));
        assert!(page.contains("a run failed"));
        let mut full = lab();
        full[0].sections[0].scaled.clear();
        assert!(!shown(&full, "full").contains("A quick run"));
    }
}
