//! What is drawn of an experiment.

use super::select::{self, KEYS, Scope, Selector};
use weir_scenario::text::{Item, Span, Table, Value};
use weir_sweep::quantity::Quantity;
use weir_sweep::reader::Reader;

/// The form of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// A metric over a numeric parameter, a line per series.
    Lines,
    /// A bar per variant or value of a parameter.
    Bars,
    /// Minimum, quartiles and maximum.
    Boxes,
    /// Percentiles as a distribution.
    Cdf,
}

/// One panel of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanelSpec {
    /// Above it.
    pub title: String,
    /// What it shows.
    pub select: Selector,
}

/// A figure of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSpec {
    /// Part of the name of its files.
    pub id: String,
    /// Above it.
    pub title: String,
    /// Below it.
    pub caption: String,
    /// Its form.
    pub kind: FigureKind,
    /// At least one.
    pub panels: Vec<PanelSpec>,
    /// A panel per value of this parameter instead.
    pub panels_by: Option<String>,
    /// What goes from left to right: a parameter, or `None` for the variants.
    pub across: Option<String>,
    /// What the series are: a parameter, or `None` for the variants.
    pub by: Option<String>,
    /// Only these variants, in this order; all if empty.
    pub variants: Vec<String>,
    /// Values are divided by those of this variant.
    pub relative_to: Option<String>,
    /// A log axis.
    pub log: bool,
    /// An axis that begins at zero.
    pub from_zero: bool,
    /// Label of the axis.
    pub label: Option<String>,
    /// Horizontal lines: where and what they are called.
    pub rules: Vec<(f64, String)>,
}

const OWN: &[&str] = &[
    "id",
    "title",
    "caption",
    "kind",
    "across",
    "by",
    "panel",
    "panels",
    "variants",
    "relative-to",
    "scale",
    "label",
    "from-zero",
    "rules",
];

/// The columns of a box: minimum, quartiles, maximum.
pub fn five(stem: &str) -> Option<[String; 5]> {
    let unit = stem_unit(stem).filter(|_| stem != "buffer")?;
    Some(["min", "p25", "p50", "p75", "max"].map(|p| format!("{stem}_{p}{unit}")))
}

/// The columns of a distribution, with the share of values that each is not exceeded by.
pub fn percentiles(stem: &str) -> Option<Vec<(f64, String)>> {
    let unit = stem_unit(stem)?;
    let all: &[(f64, &str)] = match stem {
        "buffer" => &[
            (0.5, "p50"),
            (0.9, "p90"),
            (0.95, "p95"),
            (0.99, "p99"),
            (0.999, "p999"),
            (1.0, "max"),
        ],
        _ => &[
            (0.0, "min"),
            (0.25, "p25"),
            (0.5, "p50"),
            (0.75, "p75"),
            (0.9, "p90"),
            (0.95, "p95"),
            (0.99, "p99"),
            (0.999, "p999"),
            (1.0, "max"),
        ],
    };
    Some(all.iter().map(|(share, p)| (*share, format!("{stem}_{p}{unit}"))).collect())
}

fn stem_unit(stem: &str) -> Option<&'static str> {
    match stem {
        "fct" => Some("_ps"),
        "slowdown" => Some(""),
        "buffer" => Some("_bytes"),
        _ => None,
    }
}

/// Reads all `[[figure]]`s of an experiment.
pub(crate) fn read(r: &mut Reader<'_>, root: &Table, scope: &Scope) -> Vec<FigureSpec> {
    let mut figures: Vec<FigureSpec> = Vec::new();
    for (table, at) in r.repeated(root, "figure") {
        if let Some(figure) = one(r, table, at, scope) {
            if figures.iter().any(|f| f.id == figure.id) {
                let at = table.get("id").map_or(at, |i| i.span);
                r.error(format!("two figures are called `{}`", figure.id), at, "");
            }
            figures.push(figure);
        }
    }
    figures
}

fn one(r: &mut Reader<'_>, table: &Table, at: Span, scope: &Scope) -> Option<FigureSpec> {
    let known: Vec<&str> = OWN.iter().chain(KEYS).copied().collect();
    r.refuse_unknown(table, "[[figure]]", &known);
    let id = r.required(table, "id", "a figure", at);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !id.chars().all(plain) {
        let at = table.get("id").map_or(at, |i| i.span);
        r.error("`id` names files: use letters, digits, `-` and `_`", at, "");
    }
    let title = r.required(table, "title", "a figure", at);
    r.check_cells(table, &["label"]);
    let caption = r.text(table, "caption").map(|(t, _)| t).unwrap_or_default();
    if table.get("kind").is_none() {
        r.error("a figure needs `kind`: lines, bars, boxes or cdf", at, "");
    }
    let kind = match r.word(table, "kind", &["lines", "bars", "boxes", "cdf"])? {
        "lines" => FigureKind::Lines,
        "bars" => FigureKind::Bars,
        "boxes" => FigureKind::Boxes,
        _ => FigureKind::Cdf,
    };
    let across = axis(r, table, "across", scope);
    let by = axis(r, table, "by", scope);
    let panels_by = axis(r, table, "panels", scope);
    if kind == FigureKind::Lines && across.is_none() {
        let at = table.get("across").map_or(at, |i| i.span);
        r.error("lines need `across`: a parameter", at, "");
    }
    if let (FigureKind::Cdf, Some(item)) = (kind, table.get("across")) {
        r.error("a distribution has its values across", item.span, "leave this out");
    }
    let base = select::selector(r, table, &Selector::default(), scope);
    let panels = panels(r, table, &base, scope, at, kind);
    let free: Vec<String> = [&across, &by, &panels_by].into_iter().flatten().cloned().collect();
    for (panel, at) in &panels {
        select::check_point(r, &panel.select, scope, &free, *at);
        if let Some(name) = free.iter().find(|name| panel.select.fixed(name).is_some()) {
            r.error(format!("`{name}` is fixed to one value here and also iterated over"), *at, "");
        }
    }
    let variants = r.texts(table, "variants");
    variants.iter().for_each(|(name, at)| select::check_variant(r, name, *at, scope));
    let relative_to = r.text(table, "relative-to").map(|(name, at)| {
        select::check_variant(r, &name, at, scope);
        name
    });
    let scale = r.word(table, "scale", &["linear", "log"]);
    Some(FigureSpec {
        id,
        title,
        caption,
        kind,
        panels: panels.into_iter().map(|(panel, _)| panel).collect(),
        panels_by,
        across,
        by,
        variants: variants.into_iter().map(|(name, _)| name).collect(),
        relative_to,
        log: scale == Some("log"),
        from_zero: r.truth(table, "from-zero").unwrap_or(false),
        label: r.text(table, "label").map(|(text, _)| text),
        rules: rules(r, table),
    })
}

/// A parameter, or `None` for `"variant"` and where nothing is written.
fn axis(r: &mut Reader<'_>, table: &Table, key: &str, scope: &Scope) -> Option<String> {
    let (name, at) = r.text(table, key)?;
    if name == "variant" {
        return None;
    }
    if scope.parameter(&name).is_none() {
        let mut known: Vec<&str> = scope.parameters.iter().map(String::as_str).collect();
        if key != "panels" {
            known.push("variant");
        }
        r.unknown(&format!("parameter of {}", scope.id), &name, at, &known);
        return None;
    }
    Some(name)
}

fn panels(
    r: &mut Reader<'_>,
    table: &Table,
    base: &Selector,
    scope: &Scope,
    at: Span,
    kind: FigureKind,
) -> Vec<(PanelSpec, Span)> {
    let mut panels = Vec::new();
    for (panel, at) in r.repeated(table, "panel") {
        let known: Vec<&str> = ["title"].iter().chain(KEYS).copied().collect();
        r.refuse_unknown(panel, "a panel", &known);
        r.check_cells(panel, &["title"]);
        let title = r.text(panel, "title").map(|(text, _)| text).unwrap_or_default();
        let select = select::selector(r, panel, base, scope);
        let place = panel.get("metric").or(table.get("metric")).map_or(at, |i| i.span);
        check_metric(r, &select, scope, place, kind);
        panels.push((PanelSpec { title, select }, at));
    }
    if panels.is_empty() {
        let place = table.get("metric").map_or(at, |i| i.span);
        check_metric(r, base, scope, place, kind);
        panels.push((PanelSpec { title: String::new(), select: base.clone() }, at));
    }
    panels
}

/// Boxes and distributions name a family of columns, other figures one.
fn check_metric(r: &mut Reader<'_>, s: &Selector, scope: &Scope, at: Span, kind: FigureKind) {
    let (columns, families): (_, &[&str]) = match kind {
        FigureKind::Lines | FigureKind::Bars => return select::check_metric(r, s, scope, at),
        FigureKind::Boxes => (five(&s.metric).map(Vec::from), &["fct", "slowdown"]),
        FigureKind::Cdf => {
            let columns = percentiles(&s.metric);
            let columns = columns.map(|all| all.into_iter().map(|(_, name)| name).collect());
            (columns, &["fct", "slowdown", "buffer"])
        }
    };
    match columns {
        None => r.unknown("family of metrics", &s.metric, at, families),
        Some(columns) => {
            let one = Selector { metric: columns[0].clone(), ..s.clone() };
            select::check_metric(r, &one, scope, at);
        }
    }
}

/// `rules = [{ at = 0.5, label = "ideal" }]`.
fn rules(r: &mut Reader<'_>, table: &Table) -> Vec<(f64, String)> {
    let Some(item) = table.get("rules") else { return Vec::new() };
    let Value::List(items) = &item.value else {
        r.error("`rules` is a list of { at = ..., label = ... }", item.span, "");
        return Vec::new();
    };
    let mut rules = Vec::new();
    for item in items {
        let Some(rule) = r.table("a rule", item) else { continue };
        r.refuse_unknown(rule, "a rule", &["at", "label"]);
        let at = rule.get("at").and_then(number);
        match at {
            None => r.error("a rule needs `at`: a number", item.span, ""),
            Some(at) => {
                let label = r.text(rule, "label").map(|(text, _)| text).unwrap_or_default();
                rules.push((at, label));
            }
        }
    }
    rules
}

/// A number or a quantity, in the smallest steps of its unit.
pub(crate) fn number(item: &Item) -> Option<f64> {
    Some(Quantity::read(&item.value.text()?)?.number)
}
