//! `index.html`: one file that opens anywhere, offline, in light and dark, and prints.

use super::figures::look::looks;
use super::html::{data_table, figure, html_table, topology_figure};
use super::{deadlocks, figures, job_section, pause_section, probe_tables};
use crate::compare::{self, Figures, View};
use crate::comparison::{Comparison, answer};
use crate::describe;
use crate::table::TextTable;
use weir_core::html;
use weir_core::markup::Html;
use weir_plot::style::{Theme, css_variables};
use weir_plot::{Data, svg};

/// The style of pages.
pub const CSS: &str = include_str!("page.css");
/// What pages can do by themselves.
pub const SCRIPT: &str = include_str!("page.js");

/// Colours and rules of the figures; light on paper, whatever the screen.
pub fn figure_style() -> String {
    format!(
        ":root {{ {} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n{}",
        css_variables(Theme::Light),
        css_variables(Theme::Dark),
        svg::css()
    )
}

/// The whole page. `command` is what to type to get it again.
pub fn page(c: &Comparison<'_>, command: &str) -> String {
    let s = &c.experiment.scenario;
    let numbers = Figures::new(c);
    let mut sections = vec![
        ("results", "Results", results(c, &numbers)),
        ("jobs", "Jobs: steps and what set their end", job_section::section(c)),
        ("completion", "Completion times", completion(c)),
        ("queues", "Queues and memory", queues(c, &numbers)),
        ("pauses", "Pauses: which port paused which", pauses(c)),
        ("topology", "Topology", topology(c, &numbers)),
        ("scenario", "Scenario", scenario(c, command)),
    ];
    sections.retain(|(.., body)| !body.is_empty());
    let links: Html =
        sections.iter().map(|(id, title, _)| html!("<a href=\"#{}\">{}</a>", id, title)).collect();
    let body: Html = sections
        .iter()
        .map(|(id, title, body)| {
            html!("<section id=\"{}\">\n<h2>{}</h2>\n{}\n</section>\n", id, title, body)
        })
        .collect();
    html!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · Weir</title>\n\
         <style id=\"figure-style\">\n{figures}</style>\n<style>\n{css}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n<p class=\"soft\">{headline}</p>\n</header>\n\
         <p class=\"answer\">{answer}</p>\n{warnings}<nav>{links}</nav>\n{body}\
         <script>\n{script}</script>\n</body>\n</html>\n",
        figures = Html::made(figure_style()),
        css = Html::made(CSS),
        script = Html::made(SCRIPT),
        title = s.title,
        headline = headline(c),
        answer = answer(c),
        warnings = warnings(c),
        links = links,
        body = body,
    )
    .into_string()
}

fn headline(c: &Comparison<'_>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for run in c.runs() {
        if !names.contains(&run.senders()) {
            names.push(run.senders());
        }
    }
    let cc = names.join(", ");
    let seeds = c.seeds() as u64;
    format!(
        "{} · {} · congestion control: {cc}",
        describe::headline(c.experiment),
        weir_core::format::plural(seeds, "seed")
    )
}

/// What a reader must know before believing anything below.
fn warnings(c: &Comparison<'_>) -> Html {
    let mut texts: Vec<String> = c.partial_note().into_iter().collect();
    for (e, run) in c.runs_with() {
        let (title, seed) = (&run.label, run.variant.seed);
        texts.extend(run.made.clone());
        if run.interrupted() {
            texts.push(format!("{title}, seed {seed}: interrupted before its end"));
        }
        if let Some(why) = run.invalid(e) {
            texts.push(format!("Invalid run, seed {seed}: {why}"));
        }
        let (asked, used) = (run.config.probes.series, run.outcome.series_interval);
        if let Some((asked, used)) = asked.zip(used).filter(|(asked, used)| asked != used) {
            let (asked, used) = (weir_core::format::time(asked), weir_core::format::time(used));
            texts.push(format!(
                "{title}, seed {seed}: the run is so long that samples are {used} apart, not \
                 {asked}"
            ));
        }
    }
    for f in &c.failed {
        texts.push(format!("{}, seed {}: {}", f.label, f.variant.seed, f.why));
    }
    let mut out: Html =
        texts.iter().map(|text| html!("<p class=\"warn\">{}</p>\n", text)).collect();
    let mut warnings = c.experiment.warnings.clone();
    for group in &c.groups {
        group.experiment.warnings.iter().for_each(|w| warnings.push(w.clone()));
    }
    for w in warnings.iter() {
        let help = w.help.join("; ");
        out.push(&html!("<p class=\"warn\">{}: {}</p>\n", w.title, help));
    }
    out
}

fn results(c: &Comparison<'_>, numbers: &Figures) -> Html {
    let view = View::default();
    let mut table = compare::table(c, numbers, &view);
    let remarks = take_notes(&mut table);
    let mut out = html_table(&table);
    let more = [
        compare::by_size(c, numbers),
        compare::published_table(c, numbers, &view),
        compare::state_table(c),
    ];
    for table in more.into_iter().flatten() {
        out.push(&html_table(&table));
    }
    if c.seeds() > 1 {
        out.push(&html!(
            "<p class=\"soft\">Means over seeds; ± is half a 95 % confidence interval, of changes \
             paired by seed.</p>\n"
        ));
    }
    if !remarks.is_empty() {
        let items: Html = remarks.iter().map(|r| html!("<li>{}</li>", r)).collect();
        out.push(&html!("<ul>{}</ul>\n", items));
    }
    out.push(&deadlocks::section(c));
    if !c.experiment.scenario.notes.is_empty() {
        out.push(&html!("<p class=\"soft\">{}</p>", c.experiment.scenario.notes.trim()));
    }
    out
}

/// Moves the last column, which is wide, out of the table: sources go to the names of their
/// rows, remarks into a list.
fn take_notes(t: &mut TextTable) -> Vec<String> {
    let last = t.columns.len() - 1;
    t.columns.truncate(last);
    let mut remarks = Vec::new();
    for (n, row) in t.rows.iter_mut().enumerate() {
        let Some(note) = row.get(last).cloned() else { continue };
        row.truncate(last);
        if t.faint.contains(&n) {
            row[0] = format!("{}, {note}", row[0]);
        } else if note != compare::ALL_WELL {
            remarks.push(format!("{}: {note}", row[0]));
        }
    }
    if remarks.is_empty() {
        remarks.push(format!("everything was delivered {}", compare::ALL_WELL));
    }
    remarks
}

fn completion(c: &Comparison<'_>) -> Html {
    /// More rows than this push the figures off the screen.
    const MOST_OPEN: usize = 12;
    let figures: Html = figures::completion(c).iter().map(figure).collect();
    let [times, slowdowns] = compare::percentiles(c);
    // queue pairs of jobs have no completion times
    if times.rows.is_empty() {
        return figures;
    }
    let open = if times.rows.len() <= MOST_OPEN { " open" } else { "" };
    let interval = match c.seeds() > 1 {
        true => html!("<p class=\"soft\">Means over seeds, with 95 % confidence intervals.</p>\n"),
        false => Html::default(),
    };
    html!(
        "<details{}><summary>percentiles by class and scheme</summary>\n{}\n{}\n{}</details>\n{}",
        open,
        html_table(&times),
        html_table(&slowdowns),
        interval,
        figures
    )
}

fn queues(c: &Comparison<'_>, numbers: &Figures) -> Html {
    let mut out: Html = figures::queues(c, numbers).iter().map(figure).collect();
    if c.experiment.scenario.probe.series.is_none() {
        out.push(&html!(
            "<p class=\"soft\">For queues over time, add <code>[probe] series = \"2us\"</code> to \
             the scenario.</p>"
        ));
    }
    out
}

fn pauses(c: &Comparison<'_>) -> Html {
    let mut out = Html::default();
    for (i, (group, look)) in c.groups.iter().zip(looks(c)).enumerate() {
        let Some(run) = group.runs.first() else { continue };
        if run.outcome.pauses.is_empty() {
            continue;
        }
        let window = c.experiment.window.label();
        let tree = pause_section::tree(group.experiment, run);
        let timeline = figures::timeline(c, i, &look);
        let timeline = timeline.as_ref().map(figure).unwrap_or_default();
        let open = if out.is_empty() { " open" } else { "" };
        out.push(&html!(
            "<details{open}><summary>{title}, seed {seed}</summary>\n<h3>Pause tree: \
             {title}{window}</h3>\n\
             {tree}\n{timeline}</details>\n",
            open = open,
            title = look.name,
            seed = run.variant.seed,
            window = window,
            tree = tree,
            timeline = timeline
        ));
    }
    out
}

fn topology(c: &Comparison<'_>, numbers: &Figures) -> Html {
    let e = c.experiment;
    let marks =
        numbers.hottest.first().filter(|_| c.one_network()).map(|at| weir_net::draw::Mark {
            node: at.node,
            port: at.port,
            label: format!("{}: longest queue", e.topology.port_name(at.node, at.port)),
        });
    let options =
        weir_net::draw::Options { marks: marks.into_iter().collect(), ..Default::default() };
    let svg = weir_net::draw::svg(&e.topology, &options);
    let facts = describe::topology_facts(e).into_iter().map(|(k, v)| vec![k, v]);
    let data = Data { header: vec![String::new(), String::new()], rows: facts.collect() };
    topology_figure("fabric", svg, &data)
}

fn scenario(c: &Comparison<'_>, command: &str) -> Html {
    let e = c.experiment;
    let kind = if c.partial() { "partial.csv" } else { "csv" };
    let mut data = vec!["summary.json".to_owned()];
    data.extend(
        ["flows", "ports", "queues", "pauses", "pause-edges", "victims"]
            .map(|name| format!("{name}.{kind}")),
    );
    data.extend((!e.traffic.jobs().is_empty()).then(|| format!("collectives.{kind}")));
    data.extend((!e.traffic.jobs().is_empty()).then(|| format!("steps.{kind}")));
    data.extend(e.scenario.probe.series.map(|_| format!("series.{kind}")));
    data.extend(probe_tables::tables(c).iter().map(|t| format!("{}.{kind}", t.name())));
    let mut out = html!(
        "<p>To get this page again:</p>\n<pre>{}</pre>\n<p class=\"soft\">weir {}. Data beside \
         this page: {}, perf.json.</p>\n",
        command,
        env!("CARGO_PKG_VERSION"),
        data.join(", "),
    );
    for (i, source) in e.scenario.sources.iter().enumerate() {
        match i {
            0 => out.push(&html!("<pre>{}</pre>\n", source.text.trim_end())),
            _ => out.push(&html!("<pre>--set {}</pre>\n", source.text)),
        }
    }
    if let Some((e, run)) = c.runs_with().next() {
        let rows = describe::settings(e, &run.config).into_iter().map(|(k, v)| vec![k, v]);
        let data = Data { header: vec!["setting".into(), "value".into()], rows: rows.collect() };
        out.push(&html!(
            "<details><summary>every setting as it was used ({})</summary>{}</details>",
            run.label,
            data_table(&data)
        ));
    }
    out
}
