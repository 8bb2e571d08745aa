//! What there is to choose from, as text.

use crate::table::{Column, TextTable, paint, width};
use weir_core::format;
use weir_scenario::builtin;
use weir_scenario::catalogue::{self, Entry};
use weir_scenario::text::Colour;
use weir_scenario::{Files, Scenario};
use weir_traffic::size::{BuiltIn as SizeTableInfo, FLOWSAIL_FIG1, FLOWSAIL_WORKLOADS};

/// How text is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to use colours.
    pub colour: Colour,
}

/// A catalogue in a line each.
pub fn catalogue(entries: &[Entry], layout: Layout) -> String {
    let mut t = TextTable::new(vec![Column::words("name", 9), Column::words("what it is", 8)]);
    for e in entries {
        t.row(vec![e.name.clone(), e.doc.clone(), e.reference.clone()]);
    }
    wrap_last(t, layout)
}

/// `weir schemes`: every scheme and every algorithm in a line each.
pub fn schemes(layout: Layout) -> String {
    let schemes = catalogue(&catalogue::schemes(), layout);
    let algorithms = catalogue(&catalogue::algorithms(), layout);
    format!(
        "{}\n{schemes}\n\n{}\n{algorithms}\n\n  weir schemes NAME  shows every parameter with its \
         unit and default",
        paint("flow control, between neighbours", layout.colour, "1;4"),
        paint("congestion control, at the senders", layout.colour, "1;4"),
    )
}

/// Renders a table whose second column may be long: the text goes under itself.
fn wrap_last(t: TextTable, layout: Layout) -> String {
    let name = t.rows.iter().map(|r| width(&r[0])).max().unwrap_or(0).max(4);
    let room = layout.width.saturating_sub(name + 4).max(30);
    let mut lines = Vec::new();
    for row in &t.rows {
        let mut text = row[1].clone();
        if let Some(more) = row.get(2).filter(|m| !m.is_empty()) {
            text.push_str(&format!(" [{more}]"));
        }
        for (i, part) in wrap(&text, room).into_iter().enumerate() {
            let head = if i == 0 { row[0].as_str() } else { "" };
            let fill = " ".repeat(name - width(head));
            let head = if i == 0 { paint(head, layout.colour, "1") } else { String::new() };
            lines.push(format!("  {head}{fill}  {part}"));
        }
    }
    lines.join("\n")
}

/// Breaks text between words.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if !last.is_empty() && width(last) + 1 + width(word) > room {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// One entry with all its parameters.
pub fn entry(e: &Entry, layout: Layout) -> String {
    let mut lines = vec![paint(&format!("{} · {}", e.name, e.title), layout.colour, "1")];
    lines.extend(wrap(&e.doc, layout.width.saturating_sub(2)).iter().map(|l| format!("  {l}")));
    if !e.reference.is_empty() {
        lines.push(format!("  defined in: {}", e.reference));
    }
    lines.push(String::new());
    if e.params.is_empty() {
        lines.push("  no parameters".into());
    }
    for p in &e.params {
        let default = match (p.required, p.default.as_str()) {
            (true, _) => "must be given".to_owned(),
            (false, "") => "derived".to_owned(),
            (false, text) => format!("default {text}"),
        };
        let takes = p.takes.replace('`', "");
        lines.push(format!("  {}  {takes}; {default}", paint(&p.name, layout.colour, "1")));
        let doc = wrap(&p.doc, layout.width.saturating_sub(6));
        lines.extend(doc.iter().map(|l| format!("      {l}")));
    }
    lines.join("\n")
}

/// `weir scenarios`: the built-in scenarios.
pub fn scenarios(layout: Layout) -> String {
    let mut t = TextTable::new(vec![Column::words("name", 9), Column::words("what it shows", 8)]);
    for b in builtin::all() {
        t.row(vec![b.name.into(), title(b.text)]);
    }
    format!("{}\n\n  weir scenarios NAME  prints one, to copy and change", wrap_last(t, layout))
}

/// The title of a built-in scenario.
pub fn title(text: &str) -> String {
    Scenario::read("built in", text, Files::default(), &[]).0.title
}

/// `weir workloads`: all size tables.
pub fn workloads(layout: Layout) -> String {
    let tables = weir_traffic::size::builtin_tables();
    let mut t = TextTable::new(vec![
        Column::words("name", 9),
        Column::numbers("mean", 8),
        Column::numbers("median", 7),
        Column::numbers("largest", 6),
        Column::numbers("<= 1 KB", 5).under("flows up to"),
        Column::numbers("10 KB", 5).under("flows up to"),
        Column::numbers("100 KB", 5).under("flows up to"),
        Column::numbers("in top 10 %", 4).under("bytes"),
        Column::words("origin", 3),
    ]);
    for b in tables {
        let s = b.table.summary();
        let percent = |p: f64| format!("{p:.1} %");
        t.row(vec![
            b.name.into(),
            format::bytes_f64(s.mean),
            format::bytes_f64(s.median),
            format::bytes(s.max),
            percent(s.percent_below_1kb),
            percent(s.percent_below_10kb),
            percent(s.percent_below_100kb),
            percent(s.percent_of_bytes_in_top_tenth),
            b.origin.into(),
        ]);
    }
    format!("{}\n\n{}", t.render(layout.width, layout.colour), one_rtt(layout))
}

/// FlowSail's Fig. 1: which share of the flows one round trip carries whole.
fn one_rtt(layout: Layout) -> String {
    let mut columns = vec![Column::words("flows that fit into one RTT", 9)];
    for (i, case) in FLOWSAIL_FIG1.iter().enumerate() {
        let head = format!("{}, {}", case.rate, case.rtt);
        columns.push(Column::numbers(&head, 8 - i as u8));
    }
    let mut t = TextTable::new(columns);
    for (number, name) in FLOWSAIL_WORKLOADS {
        let table = weir_traffic::size::builtin_table(name).expect("a built-in table");
        let share = FLOWSAIL_FIG1.iter().map(|case| table.percent_within_rtt(case.rate, case.rtt));
        let mut row = vec![format!("{number} {name}")];
        row.extend(share.map(|p| format!("{p:.1} %")));
        t.row(row);
    }
    t.render(layout.width, layout.colour)
}

/// `weir workloads NAME`: one size table.
pub fn workload(b: &SizeTableInfo, layout: Layout) -> String {
    let mut t = TextTable::new(vec![Column::numbers("size", 9), Column::numbers("flows up to", 8)]);
    let rows: Vec<_> = b.table.rows().collect();
    // Long tables are shown at round percentages.
    if rows.len() <= 40 {
        for (size, percent) in rows {
            t.row(vec![size.to_string(), format!("{percent} %")]);
        }
    } else {
        for p in [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100] {
            let size = b.table.quantile(f64::from(p));
            t.row(vec![format::bytes_f64(size), format!("{p} %")]);
        }
    }
    format!(
        "{} · {}\n  mean {}, {} rows\n\n{}",
        paint(b.name, layout.colour, "1"),
        b.origin,
        format::bytes_f64(b.table.mean()),
        b.table.rows().len(),
        t.render(layout.width, layout.colour)
    )
}
