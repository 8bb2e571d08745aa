//! A comparison as text, JSON and a page.

use super::{Diff, FigureDiff, OneSided, Verdict};
use serde_json::{Value, json};
use weir_core::markup::Html;
use weir_core::{Unit, format, html};
use weir_results::listing::{Layout, wrap};
use weir_results::report::PAGE_CSS;
use weir_results::table::{Column, TextTable, paint};

/// `+12 % [8, 17]`.
fn change(row: &FigureDiff) -> String {
    let Some(change) = row.change.filter(|_| row.verdict != Verdict::Same) else {
        return if row.verdict == Verdict::Same { "the same".into() } else { String::new() };
    };
    let one = |x: f64| match row.ratio {
        true => format!("{}{}", if x < 0.0 { "-" } else { "+" }, format::percent(libm::fabs(x))),
        false => format!("{}{}", if x < 0.0 { "-" } else { "+" }, quantity(row, libm::fabs(x))),
    };
    match row.interval {
        Some(i) if i.low.is_finite() && i.high.is_finite() => {
            format!("{} [{}, {}]", one(change), one(i.low), one(i.high))
        }
        _ => one(change),
    }
}

/// A figure; a mean of counts is not a whole number.
fn quantity(row: &FigureDiff, x: f64) -> String {
    match row.unit {
        Unit::Count if x < 100.0 && x != libm::trunc(x) => format::significant(x),
        unit => format::quantity(unit, x),
    }
}

fn verdict(row: &FigureDiff) -> &'static str {
    match row.verdict {
        Verdict::Same => "",
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::Undecided => "chance not excluded",
        Verdict::OneRun => "one run: no interval",
        Verdict::Missing => "one side has none",
    }
}

fn table(diff: &Diff) -> TextTable {
    let heads = heads(diff);
    let mut t = TextTable::new(vec![
        Column::words("class", 9),
        Column::words("figure", 9),
        Column::numbers(&heads[0], 9),
        Column::numbers(&heads[1], 9),
        Column::words("change", 9),
        Column::words("", 8),
    ]);
    for row in diff.rows.iter().filter(|r| r.shown) {
        let class = if row.class.is_empty() { "all" } else { &row.class };
        let [a, b] = row.means.map(|m| m.map_or_else(|| "-".into(), |x| quantity(row, x)));
        let cells = vec![class.into(), row.name.into(), a, b, change(row), verdict(row).into()];
        t.row(cells);
    }
    t
}

/// What columns call the two sides.
fn heads(diff: &Diff) -> [String; 2] {
    let heads = diff.names.each_ref().map(|name| shorten(name));
    match heads[0] == heads[1] {
        true => ["A", "B"].map(str::to_owned),
        false => heads,
    }
}

/// The last part of a path, as the head of a column.
fn shorten(name: &str) -> String {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    last.trim_end_matches(".toml").to_owned()
}

/// The whole comparison in one paragraph.
pub fn paragraph(diff: &Diff) -> String {
    if diff.is_empty() {
        let runs = format::plural(diff.common.len() as u64, "run");
        return format!(
            "Nothing changed: the settings are the same, and so is every flow of {runs}."
        );
    }
    let what = match &diff.settings[..] {
        [] => "Same settings".to_owned(),
        changes => {
            const SHOWN: usize = 3;
            let mut words: Vec<String> =
                changes.iter().take(SHOWN).map(ToString::to_string).collect();
            if changes.len() > SHOWN {
                words.push(format!("{} more settings", changes.len() - SHOWN));
            }
            words.join(", ")
        }
    };
    let mut parts = Vec::new();
    if diff.ports_apart > 0 {
        let n = format::plural(diff.ports_apart as u64, "port");
        parts.push(format!("these are different networks ({n} on one side only)"));
    }
    let super::Appeared { losing, pausing, victims } = &diff.appeared;
    let ports = |one: &OneSided, verb: &str, parts: &mut Vec<String>| {
        if !one.new.is_empty() {
            parts.push(format!("{} of {} ports now {verb}", one.new.len(), diff.ports));
        }
        if !one.gone.is_empty() {
            parts.push(format!("{} of {} ports no longer {verb}", one.gone.len(), diff.ports));
        }
    };
    ports(losing, "lose packets", &mut parts);
    ports(pausing, "send pauses", &mut parts);
    for (flows, verb) in [(&victims.new, "became"), (&victims.gone, "are no longer")] {
        if !flows.is_empty() {
            let flows = format::plural(flows.len() as u64, "flow");
            parts.push(format!("{flows} {verb} victims of pauses"));
        }
    }
    for row in diff.significant().filter(|r| r.shown) {
        let of = if row.class.is_empty() { String::new() } else { format!(" of {}", row.class) };
        parts.push(format!("{}{of} {}", row.name, change(row)));
    }
    let flows = &diff.flows;
    if flows.better + flows.worse > 0 {
        parts.push(format!(
            "of {} flows {} finish later and {} earlier",
            flows.paired, flows.worse, flows.better
        ));
    }
    if flows.stopped > 0 {
        parts.push(format!("{} no longer finish", format::plural(flows.stopped as u64, "flow")));
    }
    if diff.significant().next().is_none() {
        parts.push(match diff.rows.iter().any(|r| r.verdict == Verdict::OneRun) {
            true => "one run on a side gives no interval (--seeds 1..10)".to_owned(),
            false => "no figure differs by more than chance".to_owned(),
        });
    }
    format!("{what}: {}.", parts.join("; "))
}

/// For people.
pub fn text(diff: &Diff, layout: Layout) -> String {
    let mut lines = Vec::new();
    let room = layout.width.saturating_sub(2).max(40);
    lines.extend(wrap(&paragraph(diff), room).into_iter().map(|l| format!("  {l}")));
    if diff.is_empty() {
        return lines.join("\n");
    }
    lines.push(String::new());
    if !diff.settings.is_empty() {
        lines.push(format!("  {}", paint("settings", layout.colour, "1")));
        lines.extend(diff.settings.iter().map(|s| format!("    {s}")));
    }
    lines.push(format!("  {}", paint(&pairing(diff), layout.colour, "1")));
    lines.push(table(diff).render(layout.width, layout.colour));
    for (title, one) in one_sided(diff) {
        const SHOWN: usize = 8;
        for (sign, names) in [("+", &one.new), ("-", &one.gone)] {
            if names.is_empty() {
                continue;
            }
            let mut shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
            if names.len() > SHOWN {
                shown.push("...");
            }
            lines.push(format!("  {sign} {title}: {}", shown.join("; ")));
        }
    }
    if !diff.flows.largest.is_empty() {
        lines.push(format!("  {}", paint("flows that changed most", layout.colour, "1")));
        for (seed, flow, x, y) in diff.flows.largest.iter().take(5) {
            let (before, after) = (format::time_ps(*x), format::time_ps(*y));
            lines.push(format!("    {flow}, seed {seed}: {before} to {after}"));
        }
    }
    lines.join("\n")
}

/// How runs were compared.
fn pairing(diff: &Diff) -> String {
    let mut text = match diff.common.len() {
        0 => format!(
            "no common seeds: {} runs against {}, not paired; other traffic",
            diff.runs[0], diff.runs[1]
        ),
        n => format!("{} of the same seeds, paired", format::plural(n as u64, "run")),
    };
    if diff.rows.iter().any(|r| r.p.is_some()) {
        text.push_str("; worse and better hold at 95 % for all figures together (Holm)");
    }
    if !diff.other_traffic.is_empty() {
        let n = format::plural(diff.other_traffic.len() as u64, "seed");
        text.push_str(&format!("; OTHER TRAFFIC with {n}: flows are not the same"));
    }
    text
}

fn one_sided(diff: &Diff) -> [(&'static str, &OneSided); 3] {
    let a = &diff.appeared;
    [("loses packets", &a.losing), ("sends pauses", &a.pausing), ("victim", &a.victims)]
}

/// For programs.
pub fn json(diff: &Diff, failed: &[String]) -> Value {
    let row = |r: &FigureDiff| {
        json!({
            "class": r.class, "figure": r.name, "before": r.means[0], "after": r.means[1],
            "change": r.change, "relative": r.ratio,
            "low": r.interval.map(|i| i.low), "high": r.interval.map(|i| i.high),
            "p": r.p, "runs": r.runs, "verdict": verdict_name(r.verdict),
        })
    };
    let one = |o: &OneSided| json!({ "new": o.new, "gone": o.gone });
    let f = &diff.flows;
    json!({
        "names": diff.names,
        "changed": !diff.is_empty(),
        "summary": paragraph(diff),
        "settings": diff.settings.iter().map(|s| {
            json!({ "key": s.key, "before": s.before, "after": s.after })
        }).collect::<Vec<_>>(),
        "seeds": diff.common,
        "paired": !diff.common.is_empty(),
        "other_traffic": diff.other_traffic,
        "ports_on_one_side": diff.ports_apart,
        "figures": diff.rows.iter().map(row).collect::<Vec<_>>(),
        "flows": {
            "paired": f.paired, "later": f.worse, "earlier": f.better,
            "no_longer_finish": f.stopped, "now_finish": f.started,
            "largest": f.largest.iter().map(|(seed, flow, x, y)| {
                json!({ "seed": seed, "flow": flow, "before_ps": x, "after_ps": y })
            }).collect::<Vec<_>>(),
        },
        "ports_losing": one(&diff.appeared.losing),
        "ports_pausing": one(&diff.appeared.pausing),
        "victims": one(&diff.appeared.victims),
        "failed": failed,
    })
}

fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "same",
        Verdict::Worse => "worse",
        Verdict::Better => "better",
        Verdict::Undecided => "undecided",
        Verdict::OneRun => "one-run",
        Verdict::Missing => "missing",
    }
}

/// One file that opens offline.
pub fn page(diff: &Diff, command: &str) -> String {
    let mut body = html!(
        "<h1>{} against {}</h1>\n<p class=\"answer\">{}</p>\n",
        diff.names[1],
        diff.names[0],
        paragraph(diff)
    );
    let rows = |heads: &[&str], rows: Vec<Vec<String>>| {
        let heads: Html = heads.iter().map(|head| html!("<th>{}</th>", head)).collect();
        let line = |cells: &Vec<String>| {
            let cells: Html = cells.iter().map(|cell| html!("<td>{}</td>", cell)).collect();
            html!("<tr>{}</tr>\n", cells)
        };
        let body: Html = rows.iter().map(line).collect();
        html!("<table>\n<tr>{}</tr>\n{}</table>\n", heads, body)
    };
    let word = |v: &Option<String>| v.clone().unwrap_or_else(|| "default".into());
    let settings =
        diff.settings.iter().map(|s| vec![s.key.clone(), word(&s.before), word(&s.after)]);
    body.push(&html!("<h2>Settings</h2>\n"));
    body.push(&rows(&["key", &diff.names[0], &diff.names[1]], settings.collect()));
    let figures = table(diff).rows;
    body.push(&html!("<h2>Figures</h2>\n<p>{}</p>\n", pairing(diff)));
    let [a, b] = heads(diff);
    let heads = ["class", "figure", &a, &b, "change", ""];
    body.push(&rows(&heads, figures));
    let sides = one_sided(diff).into_iter().flat_map(|(title, one)| {
        let line =
            |sign: &str, name: &String| vec![title.to_owned(), sign.to_owned(), name.clone()];
        let new = one.new.iter().map(move |n| line("new", n));
        new.chain(one.gone.iter().map(move |n| line("gone", n))).collect::<Vec<_>>()
    });
    body.push(&html!("<h2>Ports and victims on one side only</h2>\n"));
    body.push(&rows(&["what", "", "where"], sides.collect()));
    let flows = diff.flows.largest.iter().map(|(seed, flow, x, y)| {
        vec![flow.clone(), seed.to_string(), format::time_ps(*x), format::time_ps(*y)]
    });
    body.push(&html!("<h2>Flows that changed most</h2>\n"));
    let heads = ["flow", "seed", &diff.names[0], &diff.names[1]];
    body.push(&rows(&heads, flows.collect()));
    body.push(&html!("<h2>Command</h2>\n<pre>{}</pre>\n", command));
    html!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{title}</title>\n<style>\n{css}\n</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n\
         </body>\n</html>\n",
        title = format!("{} against {}", diff.names[1], diff.names[0]),
        css = Html::made(PAGE_CSS),
        body = body,
    )
    .into_string()
}
