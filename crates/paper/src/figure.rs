//! What is drawn of an experiment.

use super::keys;
use super::select::{self, Scope, Selector};
use weir_scenario::text::{Item, Span, Value};
use weir_scenario::{At, Fields};
use weir_sweep::quantity::Quantity;

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
pub(crate) fn read(f: &mut Fields<'_>, scope: &Scope) -> Vec<FigureSpec> {
    let mut figures: Vec<FigureSpec> = Vec::new();
    for item in f.tables(&keys::FIGURE) {
        let mut f = Fields::new(&keys::FIGURE, Some(item), f.out);
        if let Some(figure) = one(&mut f, scope) {
            if figures.iter().any(|other| other.id == figure.id) {
                let at = f.place("id");
                f.error(format!("two figures are called `{}`", figure.id), at, "");
            }
            figures.push(figure);
        }
    }
    figures
}

fn one(f: &mut Fields<'_>, scope: &Scope) -> Option<FigureSpec> {
    let id = f.required("id");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !id.chars().all(plain) {
        let at = f.place("id");
        f.error("`id` names files: use letters, digits, `-` and `_`", at, "");
    }
    let title = f.required("title");
    f.check_cells(&["label"]);
    let caption = f.text("caption").map_or_else(String::new, |t| t.value);
    f.require("kind");
    let kinds = [
        ("lines", FigureKind::Lines),
        ("bars", FigureKind::Bars),
        ("boxes", FigureKind::Boxes),
        ("cdf", FigureKind::Cdf),
    ];
    let At { value: kind, span } = f.one_of("kind", kinds);
    span?;
    let across = axis(f, "across", scope);
    let by = axis(f, "by", scope);
    let panels_by = axis(f, "panels", scope);
    if kind == FigureKind::Lines && across.is_none() {
        let at = f.place("across");
        f.error("lines need `across`: a parameter", at, "");
    }
    if let (FigureKind::Cdf, Some(item)) = (kind, f.item("across")) {
        f.error("a distribution has its values across", item.span, "leave this out");
    }
    let base = select::selector(f, &Selector::default(), scope);
    let panels = panels(f, &base, scope, kind);
    let free: Vec<String> = [&across, &by, &panels_by].into_iter().flatten().cloned().collect();
    for (panel, at) in &panels {
        select::check_point(f, &panel.select, scope, &free, *at);
        if let Some(name) = free.iter().find(|name| panel.select.fixed(name).is_some()) {
            f.error(format!("`{name}` is fixed to one value here and also iterated over"), *at, "");
        }
    }
    let variants = f.names_at("variants");
    variants.iter().for_each(|(name, at)| select::check_variant(f, name, Some(*at), scope));
    let relative_to = f.text_at("relative-to").map(|(name, at)| {
        select::check_variant(f, &name, Some(at), scope);
        name
    });
    let scale = f.optional_choice("scale");
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
        from_zero: f.bool("from-zero").value,
        label: f.text_at("label").map(|(text, _)| text),
        rules: rules(f),
    })
}

/// A parameter, or `None` for `"variant"` and where nothing is written.
fn axis(f: &mut Fields<'_>, key: &str, scope: &Scope) -> Option<String> {
    let (name, at) = f.text_at(key)?;
    if name == "variant" {
        return None;
    }
    if scope.parameter(&name).is_none() {
        let mut known: Vec<&str> = scope.parameters.iter().map(String::as_str).collect();
        if key != "panels" {
            known.push("variant");
        }
        f.unknown(&format!("parameter of {}", scope.id), &name, at, &known);
        return None;
    }
    Some(name)
}

fn panels(
    f: &mut Fields<'_>,
    base: &Selector,
    scope: &Scope,
    kind: FigureKind,
) -> Vec<(PanelSpec, Option<Span>)> {
    let mut panels = Vec::new();
    let metric = f.item("metric").map(|item| item.span);
    for item in f.tables(&keys::PANEL) {
        let mut f = Fields::new(&keys::PANEL, Some(item), f.out);
        f.check_cells(&["title"]);
        let title = f.text("title").map_or_else(String::new, |t| t.value);
        let select = select::selector(&mut f, base, scope);
        let own = f.item("metric").map(|item| item.span);
        let place = own.or(metric).or(f.span);
        check_metric(&mut f, &select, scope, place, kind);
        panels.push((PanelSpec { title, select }, f.span));
    }
    if panels.is_empty() {
        let place = f.place("metric");
        check_metric(f, base, scope, place, kind);
        panels.push((PanelSpec { title: String::new(), select: base.clone() }, f.span));
    }
    panels
}

/// Boxes and distributions name a family of columns, other figures one.
fn check_metric(
    f: &mut Fields<'_>,
    s: &Selector,
    scope: &Scope,
    at: Option<Span>,
    kind: FigureKind,
) {
    let (columns, families): (_, &[&str]) = match kind {
        FigureKind::Lines | FigureKind::Bars => return select::check_metric(f, s, scope, at),
        FigureKind::Boxes => (five(&s.metric).map(Vec::from), &["fct", "slowdown"]),
        FigureKind::Cdf => {
            let columns = percentiles(&s.metric);
            let columns = columns.map(|all| all.into_iter().map(|(_, name)| name).collect());
            (columns, &["fct", "slowdown", "buffer"])
        }
    };
    match columns {
        None => f.unknown("family of metrics", &s.metric, at, families),
        Some(columns) => {
            let one = Selector { metric: columns[0].clone(), ..s.clone() };
            select::check_metric(f, &one, scope, at);
        }
    }
}

/// `rules = [{ at = 0.5, label = "ideal" }]`.
fn rules(f: &mut Fields<'_>) -> Vec<(f64, String)> {
    let Some(item) = f.item("rules") else { return Vec::new() };
    let Value::List(items) = &item.value else {
        f.error("`rules` is a list of { at = ..., label = ... }", item.span, "");
        return Vec::new();
    };
    let mut rules = Vec::new();
    for item in items {
        let mut f = Fields::closed("a rule".to_owned(), keys::RULE, Some(item), f.out);
        if !f.is_table() {
            continue;
        }
        let at = f.item("at").and_then(number);
        match at {
            None => f.error("a rule needs `at`: a number", item.span, ""),
            Some(at) => {
                let label = f.text("label").map_or_else(String::new, |t| t.value);
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
