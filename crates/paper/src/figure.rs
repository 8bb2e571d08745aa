//! What is drawn of an experiment.

use super::keys;
use super::select::{self, Scope, Selector};
use weir_core::percentile::{P25, P50, P75};
use weir_results::column::Heading;
use weir_results::metrics::Family;
use weir_results::summary::Observed;
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

/// What has a distribution, as figures call them.
const FAMILIES: [(&str, Observed); 3] =
    [("fct", Observed::Completion), ("slowdown", Observed::Slowdown), ("buffer", Observed::Buffer)];

/// That whose distribution a figure calls `stem`.
pub(crate) fn family(stem: &str) -> Option<Observed> {
    FAMILIES.iter().find(|(name, _)| *name == stem).map(|(_, observed)| *observed)
}

/// The columns of a box: minimum, quartiles, maximum.
pub fn five(stem: &str) -> Option<[&'static str; 5]> {
    let columns = percentiles(stem)?;
    let [low, lower, middle, upper, high] = [0.0, P25.share(), P50.share(), P75.share(), 1.0]
        .map(|share| columns.iter().find(|c| c.0 == share).map(|c| c.1));
    Some([low?, lower?, middle?, upper?, high?])
}

/// The columns of a distribution, with the share of values that each is not exceeded by.
pub fn percentiles(stem: &str) -> Option<Vec<(f64, &'static str)>> {
    let observed = family(stem)?;
    let column = |h: &Heading| {
        let summary = h.summary.filter(|s| s.of == observed)?;
        Some((summary.by.share()?, h.name))
    };
    Some(Family::Runs.figures().iter().filter_map(column).collect())
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
    let (columns, families): (_, &[(&str, Observed)]) = match kind {
        FigureKind::Lines | FigureKind::Bars => return select::check_metric(f, s, scope, at),
        FigureKind::Boxes => (five(&s.metric).map(Vec::from), &FAMILIES[..2]),
        FigureKind::Cdf => {
            let columns = percentiles(&s.metric);
            let columns = columns.map(|all| all.into_iter().map(|(_, name)| name).collect());
            (columns, &FAMILIES)
        }
    };
    match columns {
        None => {
            let names: Vec<&str> = families.iter().map(|(name, _)| *name).collect();
            f.unknown("family of metrics", &s.metric, at, &names);
        }
        Some(columns) => {
            let one = Selector { metric: columns[0].to_owned(), ..s.clone() };
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
