//! `index.html` of a sweep: any metric against any parameter, with confidence intervals over runs,
//! log axes and facets, in one file that opens offline.

use super::merge::{Merged, MergedTable};
use super::plan::Plan;
use serde_json::{Value, json};
use weir_core::html;
use weir_core::markup::{Html, json_in_script};
use weir_plot::style::{COLOURS, Paint, Theme};
use weir_results::metrics::Family;
use weir_results::report::{PAGE_CSS, figure_style};

/// Figures and their files, then the page.
const SCRIPT: &str = concat!(include_str!("figure.js"), "\n", include_str!("page.js"));
const CSS: &str = "\
.choose { display: flex; flex-wrap: wrap; gap: .5rem 1.2rem; margin: 1rem 0; font-size: .92rem; }
.choose label { white-space: nowrap; display: inline-flex; align-items: center; gap: .35rem; }
.choose input { margin: 0; }
#filters { display: contents; }
#filters label[hidden] { display: none; }
.choose select { font: inherit; color: inherit; background: var(--panel); border: 1px solid \
var(--line); border-radius: 4px; padding: .15rem .3rem; max-width: 16rem; }
#legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .92rem; \
margin-bottom: .6rem; }
#legend svg { width: 34px; min-width: 0; height: 12px; display: inline-block; vertical-align: \
middle; }
#figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); \
gap: 1rem; }
#figures svg { width: 100%; min-width: 0; }
#table { max-height: 28rem; overflow: auto; }
@media print { .choose { display: none; } }
";

/// The colours of figures in files, by the names that figures use on the page.
fn colours() -> Value {
    let series = (0..COLOURS).map(Paint::Series);
    let all = [Paint::Ink, Paint::Soft, Paint::Grid, Paint::Paper].into_iter().chain(series);
    all.map(|paint| (paint.css(), json!(format!("#{:06x}", paint.rgb(Theme::Light))))).collect()
}

/// Number of runs, mean, and sum of squares around it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moments {
    n: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Welford's update.
    fn add(&mut self, x: f64) {
        self.n += 1;
        let d = x - self.mean;
        self.mean += d / self.n as f64;
        self.squares += d * (x - self.mean);
    }
}

/// The page.
pub(super) fn page(plan: &Plan, merged: &Merged) -> String {
    let mut rows = Vec::new();
    let figures = || Family::Runs.headings().iter().filter(|h| h.is_number());
    let names: Vec<&str> = figures().map(|h| h.name).collect();
    let docs: Vec<&str> = figures().map(|h| h.doc).collect();
    let table = merged.table(Family::Runs);
    collect(table, merged.key_columns, &names, &mut rows);
    collect(merged.table(Family::Classes), merged.key_columns, &names, &mut rows);
    let keys: Vec<&str> =
        std::iter::once("variant").chain(plan.head.parameters.iter().map(String::as_str)).collect();
    let deadlocks = table
        .column("deadlock")
        .is_some_and(|i| table.rows.iter().any(|row| row[i].number() == Some(1.0)));
    let first = if deadlocks { "deadlock" } else { "slowdown_mean" };
    let data = json!({
        "keys": keys, "metrics": names, "docs": docs, "rows": rows, "first": first,
        "colours": colours(),
    });
    let data = json_in_script(&data.to_string());
    let runs = table.rows.len();
    let total = plan.runs.len();
    let partial = match runs == total {
        true => Html::default(),
        false => html!("<p class=\"warn\">{} of {} runs have a result.</p>\n", runs, total),
    };
    html!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · Weir</title>\n\
         <style>\n{css}</style>\n<style id=\"figure-style\">\n{figures}</style>\n\
         </head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         <p class=\"soft\">{runs} runs · weir {version}</p>\n</header>\n{partial}\
         <div class=\"choose\">\n\
         <label>metric <select id=\"metric\"></select></label>\n\
         <label>of <select id=\"class\"></select></label>\n\
         <label>against <select id=\"x\"></select></label>\n\
         <label>one line per <select id=\"lines\"></select></label>\n\
         <label>one panel per <select id=\"facet\"></select></label>\n\
         <label><input type=\"checkbox\" id=\"log-x\"> log x</label>\n\
         <label><input type=\"checkbox\" id=\"log-y\"> log y</label>\n\
         <span id=\"filters\"></span>\n</div>\n\
         <div id=\"legend\"></div>\n<div id=\"figures\"></div>\n<p class=\"soft\" id=\"doc\"></p>\n\
         <p class=\"tools\"><a href=\"#\" id=\"link\">link to this choice</a> \
         <a href=\"#\" data-save=\"pdf\">PDF</a> <a href=\"#\" data-save=\"svg\">SVG</a> \
         <a href=\"#\" data-save=\"png\">PNG</a> \
         <a href=\"runs.csv\">runs.csv</a> <a href=\"classes.csv\">classes.csv</a></p>\n\
         <details><summary>data</summary><div id=\"table\"></div></details>\n\
         <script>\n'use strict';\nconst DATA = {data};\n{script}</script>\n</body>\n</html>\n",
        title = plan.head.title,
        css = Html::made(format!("{PAGE_CSS}{CSS}")),
        figures = Html::made(figure_style()),
        runs = runs,
        version = plan.head.weir,
        partial = partial,
        data = Html::made(data),
        script = Html::made(SCRIPT),
    )
    .into_string()
}

/// Adds what the rows of a table say about each variant, point, class and range of sizes. Rows of
/// one cell follow each other in runs of seeds, but classes alternate.
fn collect(table: &MergedTable, key_columns: usize, metrics: &[&str], out: &mut Vec<Value>) {
    let part = ["class", "sizes"].map(|name| table.column(name));
    let columns: Vec<Option<usize>> = metrics.iter().map(|m| table.column(m)).collect();
    type ClassAndSizes<'a> = [&'a str; 2];
    let mut cells: Vec<(Vec<String>, ClassAndSizes<'_>, Vec<Moments>)> = Vec::new();
    let mut known: std::collections::BTreeMap<(Vec<String>, ClassAndSizes<'_>), usize> =
        Default::default();
    for row in &table.rows {
        // variant, then parameters; scheme and cc go with the variant, the seed is averaged over
        let key = row[..1].iter().chain(&row[3..key_columns - 1]);
        let key: Vec<String> = key.map(ToString::to_string).collect();
        let name = part.map(|column| column.map_or("", |i| row[i].word()));
        let at = *known.entry((key.clone(), name)).or_insert_with(|| {
            cells.push((key, name, vec![Moments::default(); metrics.len()]));
            cells.len() - 1
        });
        for (moments, column) in cells[at].2.iter_mut().zip(&columns) {
            if let Some(x) = column.and_then(|c| row[c].number()) {
                moments.add(x);
            }
        }
    }
    for (key, part, moments) in cells {
        let name = match part {
            [class, ""] => class.to_owned(),
            ["", sizes] => format!("all flows, {sizes}"),
            [class, sizes] => format!("{class}, {sizes}"),
        };
        let cell = |m: &Moments| match m.n {
            0 => json!(0),
            _ => json!([m.n, m.mean, m.squares]),
        };
        out.push(json!({ "k": key, "c": name, "m": moments.iter().map(cell).collect::<Vec<_>>() }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Head;
    use super::super::store::Results;
    use super::*;
    use weir_results::stats::Estimate;

    /// The page computes intervals from moments; they are those of compare.
    #[test]
    fn moments_give_the_mean_and_deviation_of_compare() {
        let samples = [3.0, 1.0, 4.0, 1.5, 9.25];
        let mut m = Moments::default();
        samples.iter().for_each(|x| m.add(*x));
        let e = Estimate::new(&samples).expect("samples");
        // t(4) = 2.776
        let half = 2.776 * (m.squares / 4.0 / 5.0).sqrt();
        assert!((m.mean - e.mean).abs() < 1e-12 && (half - e.half_width).abs() < 1e-9);
    }

    /// `<!--<script>` makes a browser look for another `</script>` than the one that ends ours.
    #[test]
    fn no_text_of_a_sweep_ends_or_hides_its_script() {
        let hostile = "</script><!--<script>alert(1)";
        let text = || hostile.to_owned();
        let plan = Plan {
            head: Head::new(text(), text(), "x.toml".into(), vec![text()]),
            cells: Vec::new(),
            runs: Vec::new(),
        };
        let page = page(&plan, &Merged::new(&plan, &Results::default()));
        let (_, script) = page.split_once("const DATA = ").expect("data");
        let (data, _) = script.split_once(";\n").expect("an end");
        assert!(!data.contains('<'), "{data}");
        let data: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(data["keys"][1], hostile);
        let count = |what: &str| page.matches(what).count();
        assert_eq!((count("<script>"), count("</script>"), count("<!--")), (1, 1, 0));
    }

    /// Files have the colours of the light theme, whatever the page looks like.
    #[test]
    fn every_colour_of_a_figure_has_a_shade_for_files() {
        let colours = colours();
        for name in ["fg", "soft", "grid", "bg", "c0", "c11"] {
            let shade = colours[name].as_str().expect(name);
            assert!(shade.len() == 7 && shade.starts_with('#'), "{name}: {shade}");
        }
    }
}
