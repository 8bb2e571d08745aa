//! Which numbers of an experiment are meant: a metric, of whom, where.

use super::flow_sizes;
use crate::column::Heading;
use crate::metrics::Family;
use crate::sweep::quantity::Quantity;
use crate::sweep::reader::Reader;
use crate::text::{Diagnostic, Item, Span, Table, Value, unfit_name};
use std::collections::BTreeSet;

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

/// Keys of a selector.
pub(crate) const KEYS: &[&str] = &["metric", "class", "sizes", "ports", "table", "at"];

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

impl Selector {
    /// The table it chooses from; `None` for shares of flow sizes, which need no run.
    pub fn family(&self, analytic: bool) -> Option<Family> {
        let has = |family: Family| family.figures().iter().any(|h| h.name == self.metric);
        Some(if analytic {
            return None;
        } else if !self.table.is_empty() {
            Family::State
        } else if !self.ports.is_empty() {
            Family::Ports
        } else if !self.class.is_empty() || !self.sizes.is_empty() {
            Family::Classes
        } else if has(Family::Ports) && !has(Family::Runs) {
            Family::Ports
        } else {
            Family::Runs
        })
    }

    /// The value at which a parameter is fixed.
    pub fn fixed(&self, parameter: &str) -> Option<&str> {
        self.at.iter().find(|(name, _)| name == parameter).map(|(_, value)| value.as_str())
    }
}

/// Reports a name that is not among those there are.
pub(crate) fn unknown(
    r: &mut Reader<'_>,
    what: &str,
    name: &str,
    at: Span,
    there_are: &[impl AsRef<str>],
) {
    let names: Vec<&str> = there_are.iter().map(AsRef::as_ref).collect();
    let error = Diagnostic::error(format!("there is no {what} `{name}`")).at(at, "");
    // a unit that was left out is more than a slip of the pen: `fct_mean` for `fct_mean_ps`
    let begins = || names.iter().copied().find(|n| name.len() > 2 && n.starts_with(name));
    let error = error.nearest(weir_net::nearest(name, names.iter().copied()).or_else(begins));
    r.out.push(match names.is_empty() {
        true => error.help(format!("there is no {what} at all")),
        false => error.help(format!("there are: {}", names.join(", "))),
    });
}

impl Reader<'_> {
    /// The keys of a selector in `table`; what it does not say is as in `base`. The metric is
    /// checked separately: figures have families of them.
    pub(crate) fn selector(&mut self, table: &Table, base: &Selector, scope: &Scope) -> Selector {
        let mut s = base.clone();
        if let Some((metric, _)) = self.text(table, "metric") {
            s.metric = metric;
        }
        if let Some((class, at)) = self.text(table, "class") {
            if let Some(known) =
                scope.classes.as_ref().filter(|k| !class.is_empty() && !k.contains(&class))
            {
                unknown(self, "class of traffic", &class, at, known);
            }
            s.class = class;
        }
        if let Some((sizes, at)) = self.text(table, "sizes") {
            if !sizes.is_empty() && !scope.sizes.contains(&sizes) {
                unknown(self, "range of sizes", &sizes, at, &scope.sizes);
            }
            s.sizes = sizes;
        }
        if let Some((ports, at)) = self.text(table, "ports") {
            if !ports.is_empty() && ports != "*" && !scope.ports.contains(&ports) {
                unknown(self, "group of ports", &ports, at, &scope.ports);
            }
            s.ports = ports;
        }
        if let Some((table, _)) = self.text(table, "table") {
            s.table = table;
        }
        if let Some(item) = table.get("at") {
            self.fixed(item, scope, &mut s.at);
        }
        s
    }

    /// `at = { load = 60 }`.
    fn fixed(&mut self, item: &Item, scope: &Scope, at: &mut Vec<(String, String)>) {
        let Some(table) = self.table("at", item) else { return };
        for (name, span, item) in &table.0 {
            let Some(i) = scope.parameter(name) else {
                unknown(
                    self,
                    &format!("parameter of {}", scope.id),
                    name,
                    *span,
                    &scope.parameters,
                );
                continue;
            };
            let text = item.value.text().unwrap_or_else(|| item.value.toml());
            let values = scope.values(i);
            let Some(found) = values.iter().find(|v| same_value(v, &text)) else {
                let error = Diagnostic::error(format!("`{name}` is never {text}"));
                let error = error.at(item.span, "");
                self.out.push(error.help(format!("its values are {}", values.join(", "))));
                continue;
            };
            at.retain(|(other, _)| other != name);
            at.push((name.clone(), (*found).to_owned()));
        }
    }

    /// Checks that the metric of a selector is a column of the table it chooses from.
    pub(crate) fn check_metric(&mut self, s: &Selector, scope: &Scope, at: Span) {
        let family = s.family(scope.analytic);
        let numbers = columns(family).iter().filter(|h| h.is_number());
        let known: Vec<&str> = numbers.map(|h| h.name).collect();
        if known.contains(&s.metric.as_str()) {
            return;
        }
        if s.metric.is_empty() {
            self.error("which `metric`?", at, "it is a column of a table of the sweep");
            return;
        }
        let elsewhere = CHOSEN_BY.iter().find(|(other, _)| {
            let has = || other.figures().iter().any(|h| h.is_number() && h.name == s.metric);
            !scope.analytic && Some(*other) != family && has()
        });
        if let Some((other, how)) = elsewhere {
            let title = format!("`{}` is not a metric of {}", s.metric, whose(family));
            let error = Diagnostic::error(title).at(at, "");
            self.out.push(error.help(format!("it is a metric of {}: {how}", whose(Some(*other)))));
            return;
        }
        unknown(self, &format!("metric of {}", whose(family)), &s.metric, at, &known);
    }

    /// Checks that one point is left when the parameters of `free` are gone through.
    pub(crate) fn check_point(&mut self, s: &Selector, scope: &Scope, free: &[String], at: Span) {
        if scope.matching(&s.at).next().is_none() {
            self.error("no point of the grid has all these values", at, "");
            return;
        }
        if let Some(name) = scope.undetermined(&s.at, free) {
            let values = scope.parameter(name).map(|i| scope.values(i).join(", "));
            let error =
                Diagnostic::error(format!("which `{name}`?")).at(at, "it has several values");
            let help =
                format!("write at = {{ {name} = ... }} with one of {}", values.unwrap_or_default());
            self.out.push(error.help(help));
        }
    }

    /// A list of texts, or one.
    pub(crate) fn texts(&mut self, table: &Table, key: &str) -> Vec<(String, Span)> {
        let Some(item) = table.get(key) else { return Vec::new() };
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(text) => texts.push((text.clone(), item.span)),
                other => {
                    let title = format!("`{key}` is text or a list of texts, not {}", other.what());
                    self.error(title, item.span, "");
                }
            }
        }
        texts
    }

    /// True or false.
    pub(crate) fn truth(&mut self, table: &Table, key: &str) -> Option<bool> {
        let item = table.get(key)?;
        match item.value {
            Value::Bool(yes) => Some(yes),
            _ => {
                self.error(format!("`{key}` is true or false"), item.span, "");
                None
            }
        }
    }

    /// One of a few words.
    pub(crate) fn word<'w>(
        &mut self,
        table: &Table,
        key: &str,
        words: &[&'w str],
    ) -> Option<&'w str> {
        let (text, at) = self.text(table, key)?;
        let found = words.iter().find(|w| **w == text);
        if found.is_none() {
            unknown(self, key, &text, at, words);
        }
        found.copied()
    }

    /// Text that must be there.
    pub(crate) fn required(&mut self, table: &Table, key: &str, owner: &str, at: Span) -> String {
        if table.get(key).is_none() {
            self.error(format!("{owner} needs `{key}`"), at, "");
        }
        let text = self.text(table, key);
        if let Some((_, at)) = text.as_ref().filter(|(text, _)| text.trim().is_empty()) {
            self.error(format!("`{key}` is empty"), *at, "");
        }
        text.map(|(text, _)| text.trim().to_owned()).unwrap_or_default()
    }

    /// Checks texts of a table that become cells of CSV files.
    pub(crate) fn check_cells(&mut self, table: &Table, keys: &[&str]) {
        for key in keys {
            let Some(item) = table.get(key) else { continue };
            let Value::Text(text) = &item.value else { continue };
            // other characters are refused in every text, line breaks become blanks
            let Some(why) = unfit_name(&text.replace(['\n', '\r', '\t'], " ")) else { continue };
            let error = Diagnostic::error(format!("`{key}` cannot stand in a table"));
            self.out.push(error.at(item.span, why).help("begin it with a word"));
        }
    }

    /// An `id` that names directories or stands on command lines: a letter or a digit, then
    /// what `plain` allows.
    pub(crate) fn check_id(&mut self, root: &Table, id: &str, plain: &str, at: Span) {
        let at = root.get("id").map_or(at, |item| item.span);
        let fits = |c: char| c.is_ascii_alphanumeric() || plain.contains(c);
        if !id.is_empty() && !id.chars().all(fits) {
            let marks: Vec<String> = plain.chars().map(|c| format!("`{c}`")).collect();
            let title = format!("`id` is letters, digits and {}", marks.join(", "));
            self.error(title, at, "it names a directory and stands on command lines");
        } else if id.starts_with(|c: char| !c.is_ascii_alphanumeric()) {
            self.error("`id` begins with a letter or a digit", at, "it names a directory");
        }
    }

    /// Checks a label of a variant.
    pub(crate) fn check_variant(&mut self, name: &str, at: Span, scope: &Scope) {
        if !scope.variants.iter().any(|v| v == name) {
            unknown(self, &format!("variant of {}", scope.id), name, at, &scope.variants);
        }
    }
}
