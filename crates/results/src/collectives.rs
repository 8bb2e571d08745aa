//! Bus bandwidth over message size: the table of nccl-tests, a figure, and a page with both.

use crate::describe;
use crate::report::figures::look::styles;
use crate::report::figures::{Format, Size};
use crate::report::html::{figure_with, html_table};
use crate::report::{Content, Destination, PAGE_CSS, PAGE_SCRIPT, WriteError, figure_style};
use crate::sheet::Sheet;
use crate::table::{Column, TextTable};
use std::io::Write;
use weir_core::html;
use weir_core::markup::Html;
use weir_core::{Bytes, PortId, Time, format};
use weir_plot::{Across, Axis, Figure, Layout, Panel, Point, Rule, Series, Shape, Unit};
use weir_scenario::Experiment;

/// The file names begin so.
const NAME: &str = "bus-bandwidth";

/// What was measured for one size.
pub struct Bandwidth {
    /// Name and title of the scheme.
    pub scheme: (&'static str, &'static str),
    /// The buffer of a rank.
    pub size: Bytes,
    /// Mean over iterations.
    pub time: Time,
    /// Bytes per second.
    pub algorithm: f64,
    /// The same for the bus bandwidth, where there is one.
    pub bus: Option<f64>,
    /// The time of an iteration alone.
    pub ideal: Option<Time>,
    /// The port to blame for most of what the slowest iteration waited, and for how long; with
    /// blame only.
    pub blame: Option<(String, Time)>,
}

/// Decimals as in nccl-tests.
pub fn gigabytes(bytes_per_second: f64) -> String {
    format!("{:.2}", bytes_per_second / 1e9)
}

fn micros(time: Time) -> String {
    format!("{:.2}", time.as_ps() as f64 / 1e6)
}

/// The schemes that were measured, in order, each with its rows.
pub fn by_scheme(rows: &[Bandwidth]) -> Vec<((&'static str, &'static str), Vec<&Bandwidth>)> {
    let parts = rows.chunk_by(|a, b| a.scheme.0 == b.scheme.0);
    parts.map(|part| (part[0].scheme, part.iter().collect())).collect()
}

/// The table of nccl-tests; schemes are named where there are several.
pub fn table(rows: &[Bandwidth]) -> TextTable {
    let several = rows.iter().any(|r| r.scheme.0 != rows[0].scheme.0);
    let mut t = TextTable::new(vec![
        Column::words("scheme", 21),
        Column::numbers("size (B)", 20),
        Column::numbers("time (us)", 19),
        Column::numbers("algbw (GB/s)", 18),
        Column::numbers("busbw (GB/s)", 20),
        Column::numbers("alone (us)", 10),
        Column::numbers("slowdown", 15),
        Column::words("to blame", 14),
        Column::numbers("for", 13),
    ]);
    for row in rows {
        let slowdown = row.ideal.filter(|t| *t > Time::ZERO);
        let slowdown = slowdown.map(|ideal| row.time.as_ps() as f64 / ideal.as_ps() as f64);
        let blame = row.blame.as_ref();
        t.row(vec![
            if several { row.scheme.1.to_owned() } else { String::new() },
            row.size.get().to_string(),
            micros(row.time),
            gigabytes(row.algorithm),
            row.bus.map_or_else(String::new, gigabytes),
            row.ideal.map_or_else(String::new, micros),
            format::or_dash(slowdown, format::significant),
            blame.map_or_else(String::new, |(port, _)| port.clone()),
            blame.map_or_else(String::new, |(_, time)| format::time(*time)),
        ]);
    }
    t
}

/// Writes all files.
pub fn write(
    out: &Destination,
    e: &Experiment,
    place: usize,
    rows: &[Bandwidth],
    command: &str,
) -> Result<(), WriteError> {
    let figure = figure(e, place, rows);
    let page = page(e, place, rows, &figure, command);
    let svg = Format::Svg.bytes(&figure, Size::Page);
    let files: Vec<(String, Content<'_>)> = vec![
        (
            "index.html".to_owned(),
            Box::new(move |to: &mut dyn Write| to.write_all(page.as_bytes())),
        ),
        (format!("{NAME}.svg"), Box::new(move |to: &mut dyn Write| to.write_all(&svg))),
        (format!("{NAME}.csv"), Box::new(move |to: &mut dyn Write| to.write_all(&csv(rows)))),
    ];
    out.write_files(files)
}

/// Bus bandwidth over size, a line per scheme, with the rate of a port to compare with.
fn figure(e: &Experiment, place: usize, rows: &[Bandwidth]) -> Figure {
    let schemes = by_scheme(rows);
    let looks = styles(schemes.iter().map(|((name, _), _)| *name));
    let line = |(((_, title), rows), style): (&((&str, &str), Vec<&Bandwidth>), _)| {
        let points = rows
            .iter()
            .filter_map(|r| Some(Point { x: r.size.get() as f64, y: r.bus? * 8.0, error: 0.0 }));
        Series { name: (*title).to_owned(), style, shape: Shape::Line(points.collect()) }
    };
    let sizes = || rows.iter().map(|r| r.size.get() as f64);
    let job = &e.traffic.jobs()[place];
    let rate = e.topology.rate(job.hosts[0], PortId(0));
    let most = rows.iter().filter_map(|r| Some(r.bus? * 8.0)).fold(rate.as_bps() as f64, f64::max);
    let (least, largest) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(1.0, f64::max));
    Figure {
        id: NAME.to_owned(),
        title: format!("Bus bandwidth over message size: {}", job.name),
        caption: "Size over time, times 2 (n - 1) / n for an all-reduce of n ranks, (n - 1) / n \
                  for a reduce-scatter, an all-gather and an all-to-all; the mean over iterations. \
                  The dashed line is the rate of a port of a host, headers included."
            .to_owned(),
        panels: vec![Panel {
            title: String::new(),
            across: Across::Values(Axis::log("size", Unit::Bytes, least, largest)),
            up: Axis::linear("bus bandwidth", Unit::Rate, most),
            series: schemes.iter().zip(looks).map(line).collect(),
            rules: vec![Rule {
                at: rate.as_bps() as f64,
                label: format!("port of a host: {rate}"),
            }],
        }],
        layout: Layout::Grid,
    }
}

fn csv(rows: &[Bandwidth]) -> Vec<u8> {
    let bits = |bytes: f64| format!("{:.0}", bytes * 8.0);
    Sheet::new()
        .column("scheme", |r: &Bandwidth| r.scheme.0)
        .column("size_bytes", |r| r.size)
        .column("time_ps", |r| r.time)
        .column("algorithm_bps", move |r| bits(r.algorithm))
        .column("bus_bps", move |r| r.bus.map(bits))
        .column("ideal_ps", |r| r.ideal)
        .column("to_blame", |r| r.blame.as_ref().map(|(port, _)| port.as_str()))
        .column("to_blame_ps", |r| r.blame.as_ref().map(|(_, waited)| *waited))
        .csv(rows)
}

fn page(
    e: &Experiment,
    place: usize,
    rows: &[Bandwidth],
    figure: &Figure,
    command: &str,
) -> String {
    let job = &e.traffic.jobs()[place];
    let scenario = e.scenario.sources.iter().next().map_or("", |s| s.text.trim_end());
    html!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · Weir</title>\n\
         <style id=\"figure-style\">\n{style}</style>\n<style>\n{css}</style>\n</head>\n\
         <body>\n<header>\n<h1>{name}</h1>\n<p class=\"soft\">{headline} · {ranks} ranks</p>\n\
         </header>\n{figure}{table}\n<h2>Scenario</h2>\n<p>To get this page again:</p>\n\
         <pre>{command}</pre>\n<p class=\"soft\">weir {version}. The numbers are in \
         {file}.csv.</p>\n<pre>{scenario}</pre>\n<script>\n{script}</script>\n</body>\n\
         </html>\n",
        title = figure.title,
        style = Html::made(figure_style()),
        css = Html::made(PAGE_CSS),
        script = Html::made(PAGE_SCRIPT),
        file = NAME,
        name = e.scenario.title,
        headline = describe::headline(e),
        ranks = job.ranks(),
        figure = figure_with(figure, &Html::default()),
        table = html_table(&table(rows)),
        command = command,
        version = env!("CARGO_PKG_VERSION"),
        scenario = scenario,
    )
    .into_string()
}
