//! The grid file of a sweep as read: which scenario, what is varied, which variants, which seeds.
//!
//! ```toml
//! scenario = "incast.toml"            # beside this file, or a built-in one
//! seeds = "1..10"
//!
//! [parameters]
//! degree = { key = "traffic.incast.degree", values = [4, 8, 16] }
//! buffer = { key = "switch.buffer", from = "1MB", to = "8MB", steps = 4, scale = "log" }
//!
//! [[variant]]
//! label = "OFC by 5-tuple"
//! scheme = "ofc"
//! flow-key = "flow"                   # a parameter of the scheme
//! switch.latency = "1us"              # any key of the scenario
//! ```

use super::quantity::{Quantity, Range};
use super::reader::Reader;
use weir_scenario::text::{
    Diagnostic, Diagnostics, Item, SourceId, Sources, Span, Table, Value, parse,
};
pub use weir_scenario::variant::Change;
use weir_scenario::variant::{self, VariantSpec};

/// What a parameter goes through.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// These, one after the other.
    Listed(Vec<Item>),
    /// From one quantity to another, in so many steps unless they are sampled.
    Between {
        /// From where to where.
        range: Range,
        /// How many steps.
        steps: Option<u64>,
        /// Where it is written.
        at: Span,
    },
    /// What each `[[point]]` says.
    ByPoint,
}

/// Something that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name of its column.
    pub name: String,
    /// Where it is written.
    pub at: Span,
    /// The keys of the scenario that get the value.
    pub keys: Vec<Vec<(String, Span)>>,
    /// What it goes through.
    pub values: Values,
}

/// How points are taken from what parameters go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// All combinations.
    Grid,
    /// Points drawn at random, each parameter by itself.
    Random {
        /// How many.
        points: u64,
        /// Of the draw.
        seed: u64,
    },
    /// As many strata per parameter as points, each used once, in random combination.
    LatinHypercube {
        /// How many.
        points: u64,
        /// Of the draw.
        seed: u64,
    },
}

/// A grid file as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Short name.
    pub name: String,
    /// One line.
    pub title: String,
    /// The scenario, as referred to.
    pub scenario: (String, Span),
    /// The seeds; the scenario's if it does not say.
    pub seeds: Option<Vec<u64>>,
    /// Changes of the scenario that hold for all runs.
    pub sets: Vec<Change>,
    /// What is varied.
    pub parameters: Vec<Parameter>,
    /// Values for parameters that are given point by point: (parameter, value).
    pub points: Vec<Vec<(usize, Item)>>,
    /// How points are taken.
    pub sample: Sample,
    /// The rows of the comparison; none: the scenario as it is.
    pub variants: Vec<VariantSpec>,
}

/// Keys of a grid file.
pub const ROOT: &[&str] = &[
    "name",
    "title",
    "notes",
    "scenario",
    "seeds",
    "schemes",
    "set",
    "parameters",
    "point",
    "sample",
    "variant",
];
const PARAMETER: &[&str] = &["key", "values", "from", "to", "steps", "scale"];
const SAMPLE: &[&str] = &["kind", "points", "seed"];
const KINDS: &[&str] = &["grid", "random", "latin-hypercube"];

/// As many points as one may sample.
const MOST_POINTS: u64 = 10_000_000;

impl Grid {
    /// Reads the source `id`. What is wrong is reported; without a scenario there is no grid.
    pub(crate) fn read(sources: &Sources, id: SourceId, out: &mut Diagnostics) -> Option<Self> {
        let root = parse(sources, id, out);
        let mut r = Reader { id, sources, out };
        r.refuse_unknown(&root, "a grid file", ROOT);
        Self::from_table(&root, &mut r)
    }

    /// Reads the keys of a grid from the table of a whole file, which may have others.
    pub fn from_table(root: &Table, r: &mut Reader<'_>) -> Option<Self> {
        let (sources, id) = (r.sources, r.id);
        let file = std::path::Path::new(&sources.get(id).name);
        let stem = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into());
        let name = r.text(root, "name").map_or(stem, |(n, _)| n);
        let title = r.text(root, "title").map_or_else(|| name.clone(), |(t, _)| t);
        r.text(root, "notes");
        let parameters = r.parameters(root);
        let points = r.points(root, &parameters);
        let sample = r.sample(root, &parameters, !points.is_empty());
        let sets = r.sets(root);
        let seeds = r.seeds(root);
        let variants = r.variants(root);
        let scenario = r.text(root, "scenario");
        if root.get("scenario").is_none() {
            let error = Diagnostic::error("a grid file needs `scenario`: the scenario to run");
            let error = error.at(id.span(0..0), "");
            r.out.push(
                error.help("write the path of a scenario file or the name of a built-in one"),
            );
        }
        let scenario = scenario?;
        Some(Self { name, title, scenario, seeds, sets, parameters, points, sample, variants })
    }
}

impl Reader<'_> {
    fn parameters(&mut self, root: &Table) -> Vec<Parameter> {
        let Some(item) = root.get("parameters") else { return Vec::new() };
        let Some(table) = self.table("[parameters]", item) else { return Vec::new() };
        table.0.iter().filter_map(|(name, at, item)| self.parameter(name, *at, item)).collect()
    }

    fn parameter(&mut self, name: &str, at: Span, item: &Item) -> Option<Parameter> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let label = match weir_results::metrics::is_column(name) {
            true => Some("the tables have a column of this name; choose another"),
            false if name.is_empty() || !name.chars().all(plain) => {
                Some("it names a column: use letters, digits, `-` and `_`")
            }
            false => None,
        };
        if let Some(label) = label {
            self.error(format!("`{name}` cannot be the name of a parameter"), at, label);
            return None;
        }
        let table = self.table(&format!("parameters.{name}"), item)?;
        self.refuse_unknown(table, &format!("`parameters.{name}`"), PARAMETER);
        let Some(key) = table.get("key") else {
            let title = format!(
                "parameter `{name}` needs `key`: the value of the scenario that it changes"
            );
            self.error(title, at, "such as key = \"switch.buffer\"");
            return None;
        };
        let keys = match &key.value {
            Value::List(items) => items.iter().map(|i| self.path(i)).collect::<Option<Vec<_>>>()?,
            _ => vec![self.path(key)?],
        };
        if keys.is_empty() {
            self.error(format!("parameter `{name}` has no key"), key.span, "an empty list");
            return None;
        }
        let values = self.values(name, at, table)?;
        Some(Parameter { name: name.to_owned(), at, keys, values })
    }

    fn values(&mut self, name: &str, at: Span, table: &Table) -> Option<Values> {
        let range_keys = ["from", "to", "steps", "scale"];
        let range_key = range_keys.iter().find_map(|key| table.key_span(key));
        match (table.get("values"), range_key) {
            (Some(_), Some(key)) => {
                self.error(format!("parameter `{name}` has `values` and a range"), key, "only one");
                None
            }
            (None, None) => Some(Values::ByPoint),
            (None, Some(_)) => self.range(name, at, table),
            (Some(item), None) => {
                let Value::List(items) = &item.value else {
                    self.error(format!("the values of `{name}` are a list"), item.span, "");
                    return None;
                };
                if items.is_empty() {
                    let title = format!("parameter `{name}` has no values: there would be no runs");
                    self.error(title, item.span, "");
                    return None;
                }
                for (i, one) in items.iter().enumerate() {
                    if items[..i].iter().any(|other| other.value == one.value) {
                        let title = format!("parameter `{name}` has this value twice");
                        self.error(title, one.span, "its runs would be the same");
                        return None;
                    }
                    self.check_cell(&format!("this value of `{name}`"), one);
                }
                Some(Values::Listed(items.clone()))
            }
        }
    }

    fn range(&mut self, name: &str, at: Span, table: &Table) -> Option<Values> {
        let from = self.end(name, at, table, "from")?;
        let to = self.end(name, at, table, "to")?;
        let (to_at, whole) = (to.1, from.2 && to.2);
        let (from, to) = (from.0, to.0);
        if from.unit != to.unit {
            let title = format!("`from` and `to` of `{name}` are different quantities");
            self.error(title, to_at, "write both in units of the same kind");
            return None;
        }
        if from.number == to.number {
            let title = format!("the range of `{name}` is empty: it begins where it ends");
            self.error(title, to_at, "");
            return None;
        }
        let log = match self.text(table, "scale") {
            None => false,
            Some((scale, span)) => match scale.as_str() {
                "linear" => false,
                "log" => true,
                _ => {
                    self.error(format!("`scale` is linear or log, not `{scale}`"), span, "");
                    return None;
                }
            },
        };
        if log && (from.number <= 0.0 || to.number <= 0.0) {
            self.error(format!("`{name}` on a log scale is above 0 at both ends"), to_at, "");
            return None;
        }
        let steps = match table.get("steps") {
            None => None,
            Some(_) => Some(self.whole(table, "steps", MOST_POINTS)?),
        };
        let range = Range { from, to, log, whole };
        if let Some(n) = steps {
            let span = table.get("steps").map_or(at, |i| i.span);
            if n > 1_000_000 {
                self.error(format!("{n} steps of `{name}` are too many"), span, "");
                return None;
            }
            let values = range.steps(n);
            if values.windows(2).any(|pair| pair[0] == pair[1]) {
                let title = format!("{n} steps of `{name}` give a value twice");
                self.error(title, span, "there are not that many values between `from` and `to`");
                return None;
            }
        }
        Some(Values::Between { range, steps, at: to_at })
    }

    /// One end of a range, where it is written, and whether it is a whole number.
    fn end(
        &mut self,
        name: &str,
        at: Span,
        table: &Table,
        key: &str,
    ) -> Option<(Quantity, Span, bool)> {
        let Some(item) = table.get(key) else {
            self.error(format!("the range of `{name}` has no `{key}`"), at, "");
            return None;
        };
        let text = item.value.text().unwrap_or_default();
        match Quantity::read(&text) {
            Some(quantity) => Some((quantity, item.span, text.parse::<i64>().is_ok())),
            None => {
                let title = format!("`{key}` of `{name}` is not a number");
                let label = "a range is between numbers: 4, 0.5, 30%, 15KB, 20ns or 40Gbps";
                self.error(title, item.span, label);
                None
            }
        }
    }

    fn points(&mut self, root: &Table, parameters: &[Parameter]) -> Vec<Vec<(usize, Item)>> {
        let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
        let mut points = Vec::new();
        let tables = self.repeated(root, "point");
        for (table, span) in &tables {
            self.refuse_unknown(table, "[[point]]", &names);
            let mut point = Vec::new();
            for (i, parameter) in parameters.iter().enumerate() {
                match (table.get(&parameter.name), &parameter.values) {
                    (Some(item), Values::ByPoint) => {
                        self.check_cell(&format!("this value of `{}`", parameter.name), item);
                        point.push((i, item.clone()));
                    }
                    (None, Values::ByPoint) => {
                        let title = format!("this point has no `{}`", parameter.name);
                        self.error(title, *span, "every point has a value for it");
                    }
                    (Some(item), _) => {
                        let title = format!("`{}` has its own values", parameter.name);
                        self.error(title, item.span, "they are combined with every point");
                    }
                    (None, _) => {}
                }
            }
            points.push(point);
        }
        let by_point = parameters.iter().find(|p| p.values == Values::ByPoint);
        if let (Some(p), true) = (by_point, tables.is_empty()) {
            let title = format!("parameter `{}` has no values: there would be no runs", p.name);
            let error = Diagnostic::error(title).at(p.at, "");
            self.out.push(
                error.help("give it `values`, a range with `from` and `to`, or `[[point]]`s"),
            );
        }
        points
    }

    fn sample(&mut self, root: &Table, parameters: &[Parameter], points: bool) -> Sample {
        let without_steps = parameters.iter().find_map(|p| match p.values {
            Values::Between { steps: None, at, .. } => Some((p.name.clone(), at)),
            _ => None,
        });
        let drawn = root.get("sample").and_then(|item| self.drawn(item, points));
        if let (None | Some(Sample::Grid), Some((name, at))) = (drawn, without_steps) {
            let title = format!("the range of `{name}` needs `steps`");
            let label = "how many values, both ends included; or draw points with [sample]";
            self.error(title, at, label);
        }
        drawn.unwrap_or(Sample::Grid)
    }

    fn drawn(&mut self, item: &Item, points: bool) -> Option<Sample> {
        let table = self.table("[sample]", item)?;
        self.refuse_unknown(table, "[sample]", SAMPLE);
        let kind = self.text(table, "kind").unwrap_or_else(|| ("grid".into(), item.span));
        let known = KINDS.contains(&kind.0.as_str());
        if !known {
            let error =
                Diagnostic::error(format!("there is no sample `{}`", kind.0)).at(kind.1, "");
            let nearest = weir_net::nearest(&kind.0, KINDS.iter().copied());
            self.out.push(error.nearest(nearest).help(format!("kinds are {}", KINDS.join(", "))));
        }
        if !known || kind.0 == "grid" {
            return known.then_some(Sample::Grid);
        }
        if points {
            self.error("a sample is drawn from ranges: there are `[[point]]`s as well", kind.1, "");
        }
        if table.get("points").is_none() {
            self.error("a sample needs `points`: how many", kind.1, "");
        }
        let points = self.whole(table, "points", MOST_POINTS).unwrap_or(1);
        let seed = self.whole(table, "seed", u64::MAX).unwrap_or(1);
        Some(match kind.0.as_str() {
            "random" => Sample::Random { points, seed },
            _ => Sample::LatinHypercube { points, seed },
        })
    }

    fn variants(&mut self, root: &Table) -> Vec<VariantSpec> {
        let mut variants: Vec<VariantSpec> = Vec::new();
        if let Some(item) = root.get("schemes") {
            let Value::List(items) = &item.value else {
                self.error("`schemes` is a list of names", item.span, "");
                return variants;
            };
            for item in items {
                let name = item.value.text().unwrap_or_default();
                variants.push(VariantSpec::of_scheme(&name, item.span));
            }
        }
        variants.extend(variant::read_all(root, self.out));
        variant::check(&variants, self.out);
        variants
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of parameters are cells of `runs.csv`; numbers may be negative.
    #[test]
    fn texts_that_are_formulas_are_refused_as_values() {
        let errors = |text: &str| {
            let mut sources = Sources::default();
            let id = sources.add("g.toml", format!("scenario = \"x\"\n[parameters]\n{text}"));
            let mut out = Diagnostics::default();
            let _ = Grid::read(&sources, id, &mut out);
            out.render(&sources, false)
        };
        for text in [
            "a = { key = \"x.a\", values = [\"y.cdf\", \"=x.cdf\"] }",
            "a = { key = \"x.a\" }\n[[point]]\na = \"@x.cdf\"",
        ] {
            let found = errors(text);
            assert!(found.contains("this value of `a` cannot stand in a table"), "{found}");
            assert!(found.contains("read it as a formula") && found.contains("g.toml:"), "{found}");
        }
        assert_eq!(errors("a = { key = \"x.a\", values = [-1, \"x.cdf\"] }"), "");
    }
}
