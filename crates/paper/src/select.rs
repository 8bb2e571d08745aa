//! Which numbers of an experiment are meant: a metric, of whom, where.

use super::flow_sizes;
use std::collections::BTreeSet;
use weir_core::percentile::Percentile;
use weir_results::column::Heading;
use weir_results::metrics::Family;
use weir_results::summary::{Observed, Summary};
use weir_scenario::Fields;
use weir_scenario::text::{Diagnostic, Item, Span};
use weir_sweep::quantity::Quantity;

/// Which numbers are meant, but for the variant. An empty text is "all".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// A column of a table.
    pub metric: String,
    /// A class of traffic.
    pub class: String,
    /// A range of flow sizes, as `[report] sizes` writes it.
    pub sizes: String,
    /// A group of ports of `[report] ports`; `*` for all switch ports.
    pub ports: String,
    /// A table that the scheme keeps in switches.
    pub table: String,
    /// Values of parameters, as the grid writes them.
    pub at: Vec<(String, String)>,
}

/// What can be selected from the results of an experiment, as far as it is known before the runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The experiment.
    pub id: String,
    /// Labels of the variants, in order.
    pub variants: Vec<String>,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Values of the parameters at each point, as written.
    pub points: Vec<Vec<String>>,
    /// Classes of traffic; `None` where only the runs know.
    pub classes: Option<Vec<String>>,
    /// Groups of ports.
    pub ports: Vec<String>,
    /// Ranges of sizes.
    pub sizes: Vec<String>,
    /// Whether it is worked out from size tables, without a run.
    pub analytic: bool,
    /// Whether nothing in its runs is random.
    pub deterministic: bool,
    /// Whether its claims are about a steady state.
    pub steady: bool,
}

/// Two ways to write a value are the same value: `0.30` and `0.3`, `1KB` and `1000B`.
pub fn same_value(a: &str, b: &str) -> bool {
    a == b || Quantity::read(a).is_some_and(|q| Quantity::read(b) == Some(q))
}

impl Scope {
    /// The position of a parameter.
    pub fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|p| p == name)
    }

    /// The different values of a parameter, in the order of the grid.
    pub fn values(&self, parameter: usize) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let all = self.points.iter().map(|p| p[parameter].as_str());
        all.filter(|v| seen.insert(*v)).collect()
    }

    /// The points that have these values.
    pub fn matching<'a>(
        &'a self,
        at: &'a [(String, String)],
    ) -> impl Iterator<Item = &'a [String]> {
        let fits = move |point: &&Vec<String>| {
            at.iter().all(|(name, value)| {
                self.parameter(name).is_some_and(|i| same_value(&point[i], value))
            })
        };
        self.points.iter().filter(fits).map(Vec::as_slice)
    }

    /// A parameter that still has several values when those of `free` are gone through one by one.
    pub fn undetermined(&self, at: &[(String, String)], free: &[String]) -> Option<&str> {
        let free: Vec<usize> = free.iter().filter_map(|name| self.parameter(name)).collect();
        let points: Vec<&[String]> = self.matching(at).collect();
        let key = |p: &[String]| free.iter().map(|&i| p[i].clone()).collect::<Vec<_>>();
        let mut first: Vec<(Vec<String>, &[String])> = Vec::new();
        for point in points {
            let key = key(point);
            match first.iter().find(|(k, _)| *k == key) {
                None => first.push((key, point)),
                Some((_, other)) => {
                    let differs = (0..point.len()).find(|&i| point[i] != other[i]);
                    return differs.map(|i| self.parameters[i].as_str());
                }
            }
        }
        None
    }
}

/// How a selector chooses each table.
const CHOSEN_BY: [(Family, &str); 4] = [
    (Family::Runs, "leave out `class`, `sizes`, `ports` and `table`"),
    (Family::Classes, "name a `class` or `sizes`"),
    (Family::Ports, "name `ports`"),
    (Family::State, "name a `table` of the scheme"),
];

/// Whose metrics the columns of a table are.
const fn whose(family: Option<Family>) -> &'static str {
    match family {
        Some(Family::Runs) => "runs",
        Some(Family::Classes) => "classes and sizes",
        Some(Family::Ports) => "ports",
        Some(Family::State) => "tables of schemes",
        None => "flow sizes",
    }
}

/// The columns that selectors choose from: those of a family, or shares of flow sizes.
pub(crate) fn columns(family: Option<Family>) -> &'static [Heading] {
    family.map_or(flow_sizes::COLUMNS, Family::figures)
}

/// The column called `metric` in any of the tables; its unit is the same in all.
pub(crate) fn heading(metric: &str) -> Option<&'static Heading> {
    let tables = Family::ALL.map(Some).into_iter().chain([None]);
    tables.flat_map(columns).find(|h| h.name == metric)
}

/// Which number of many a metric is, if it is one.
pub(crate) fn summary(metric: &str) -> Option<Summary> {
    heading(metric)?.summary
}

impl Selector {
    /// The table of runs that it chooses from.
    pub fn family(&self) -> Family {
        let has = |family: Family| family.figures().iter().any(|h| h.name == self.metric);
        if !self.table.is_empty() {
            Family::State
        } else if !self.ports.is_empty() {
            Family::Ports
        } else if !self.class.is_empty() || !self.sizes.is_empty() {
            Family::Classes
        } else if has(Family::Ports) && !has(Family::Runs) {
            Family::Ports
        } else {
            Family::Runs
        }
    }

    /// Its column in tables of single runs: the metric and what it is of. Points are rows.
    pub fn column(&self) -> String {
        let parts = [
            ("class", &self.class),
            ("sizes", &self.sizes),
            ("ports", &self.ports),
            ("table", &self.table),
        ];
        let mut name = self.metric.clone();
        for (key, value) in parts.into_iter().filter(|(_, value)| !value.is_empty()) {
            name.push_str(&format!(" {key}={value}"));
        }
        name
    }

    /// For a percentile of flows: which one.
    pub fn percentile(&self) -> Option<Percentile> {
        let found = summary(&self.metric)?;
        let of_flows = matches!(found.of, Observed::Completion | Observed::Slowdown);
        found.percentile().filter(|_| of_flows)
    }

    /// For a percentile of flows: what counts those flows, and how many a run needs so that ten are
    /// beyond it.
    pub fn flows(&self) -> Option<(Self, u64)> {
        let needed = self.percentile()?.needed(10)?;
        Some((Self { metric: "completed".to_owned(), ..self.clone() }, needed))
    }

    /// The value at which a parameter is fixed.
    pub fn fixed(&self, parameter: &str) -> Option<&str> {
        self.at.iter().find(|(name, _)| name == parameter).map(|(_, value)| value.as_str())
    }
}

/// The keys of a selector in `table`; what it does not say is as in `base`. The metric is
/// checked separately: figures have families of them.
pub(crate) fn selector(f: &mut Fields<'_>, base: &Selector, scope: &Scope) -> Selector {
    let mut s = base.clone();
    if let Some((metric, _)) = f.text_at("metric") {
        s.metric = metric;
    }
    if let Some((class, at)) = optional(f, "class") {
        if let Some(known) =
            scope.classes.as_ref().filter(|k| !class.is_empty() && !k.contains(&class))
        {
            f.unknown("class of traffic", &class, at, known);
        }
        s.class = class;
    }
    if let Some((sizes, at)) = optional(f, "sizes") {
        if !sizes.is_empty() && !scope.sizes.contains(&sizes) {
            f.unknown("range of sizes", &sizes, at, &scope.sizes);
        }
        s.sizes = sizes;
    }
    if let Some((ports, at)) = optional(f, "ports") {
        if !ports.is_empty() && ports != "*" && !scope.ports.contains(&ports) {
            f.unknown("group of ports", &ports, at, &scope.ports);
        }
        s.ports = ports;
    }
    if let Some((table, _)) = optional(f, "table") {
        s.table = table;
    }
    if let Some(item) = f.item("at") {
        fixed(f, item, scope, &mut s.at);
    }
    s
}

/// Text of a key that not every section with a selector has.
fn optional(f: &mut Fields<'_>, name: &str) -> Option<(String, Span)> {
    if f.takes(name) { f.text_at(name) } else { None }
}

/// `at = { load = 60 }`.
fn fixed(f: &mut Fields<'_>, item: &Item, scope: &Scope, at: &mut Vec<(String, String)>) {
    let mut f = Fields::open("at".to_owned(), &[], Some(item), f.out);
    for (name, span, item) in f.entries() {
        let Some(i) = scope.parameter(name) else {
            f.unknown(&format!("parameter of {}", scope.id), name, *span, &scope.parameters);
            continue;
        };
        let text = item.value.text().unwrap_or_else(|| item.value.toml());
        let values = scope.values(i);
        let Some(found) = values.iter().find(|v| same_value(v, &text)) else {
            let error = Diagnostic::error(format!("`{name}` is never {text}"));
            let error = error.at(item.span, "");
            f.out.push(error.help(format!("its values are {}", values.join(", "))));
            continue;
        };
        at.retain(|(other, _)| other != name);
        at.push((name.clone(), (*found).to_owned()));
    }
}

/// Checks that the metric of a selector is a column of the table it chooses from.
pub(crate) fn check_metric(f: &mut Fields<'_>, s: &Selector, scope: &Scope, at: Option<Span>) {
    // shares of flow sizes need no run
    let family = (!scope.analytic).then(|| s.family());
    let numbers = columns(family).iter().filter(|h| h.is_number());
    let known: Vec<&str> = numbers.map(|h| h.name).collect();
    if known.contains(&s.metric.as_str()) {
        return;
    }
    if s.metric.is_empty() {
        f.error("which `metric`?", at, "it is a column of a table of the sweep");
        return;
    }
    let elsewhere = CHOSEN_BY.iter().find(|(other, _)| {
        let has = || other.figures().iter().any(|h| h.is_number() && h.name == s.metric);
        !scope.analytic && Some(*other) != family && has()
    });
    if let Some((other, how)) = elsewhere {
        let title = format!("`{}` is not a metric of {}", s.metric, whose(family));
        let error = Diagnostic::error(title).maybe_at(at, "");
        f.out.push(error.help(format!("it is a metric of {}: {how}", whose(Some(*other)))));
        return;
    }
    f.unknown(&format!("metric of {}", whose(family)), &s.metric, at, &known);
}

/// Checks that one point is left when the parameters of `free` are gone through.
pub(crate) fn check_point(
    f: &mut Fields<'_>,
    s: &Selector,
    scope: &Scope,
    free: &[String],
    at: Option<Span>,
) {
    if scope.matching(&s.at).next().is_none() {
        f.error("no point of the grid has all these values", at, "");
        return;
    }
    if let Some(name) = scope.undetermined(&s.at, free) {
        let values = scope.parameter(name).map(|i| scope.values(i).join(", "));
        let error = Diagnostic::error(format!("which `{name}`?"));
        let error = error.maybe_at(at, "it has several values");
        let help =
            format!("write at = {{ {name} = ... }} with one of {}", values.unwrap_or_default());
        f.out.push(error.help(help));
    }
}

/// Checks a label of a variant.
pub(crate) fn check_variant(f: &mut Fields<'_>, name: &str, at: Option<Span>, scope: &Scope) {
    if !scope.variants.iter().any(|v| v == name) {
        f.unknown(&format!("variant of {}", scope.id), name, at, &scope.variants);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten flows beyond p99 are 1000 flows, beyond the median 20.
    #[test]
    fn percentiles_of_flows_need_ten_flows_beyond_them() {
        for (metric, needed) in [
            ("slowdown_p99", Some(1000)),
            ("fct_p999_ps", Some(10_000)),
            ("fct_p50_ps", Some(20)),
            ("fct_mean_ps", None),
            ("buffer_p99_bytes", None),
        ] {
            let class = "user".to_owned();
            let s = Selector { metric: metric.into(), class, ..Selector::default() };
            let found = s.flows();
            assert_eq!(found.as_ref().map(|f| f.1), needed, "{metric}");
            assert!(found.is_none_or(|(f, _)| f.column() == "completed class=user"));
        }
    }
}
