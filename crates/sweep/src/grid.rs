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

use super::keys::{GRID, PARAMETER, POINT, SAMPLE};
use super::quantity::{Quantity, Range};
use super::seeds;
use weir_scenario::text::{
    Diagnostic, Diagnostics, Item, SourceId, Sources, Span, Value, parse, path_steps,
};
pub use weir_scenario::variant::Change;
use weir_scenario::variant::{self, VariantSpec};
use weir_scenario::{At, Fields, unknown_key};

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
    /// Points drawn at random.
    Drawn {
        /// From where.
        from: Draw,
        /// How many.
        points: u64,
        /// Of the draw.
        seed: u64,
    },
}

/// From where points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Anywhere, each parameter by itself.
    Anywhere,
    /// As many strata per parameter as points, each used once, in random combination.
    LatinHypercube,
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
    /// Whether results hold how flows fared by when they started, which no key of the file says.
    pub starts: bool,
}

impl Grid {
    /// Reads the source `id`. What is wrong is reported; without a scenario there is no grid.
    pub(crate) fn read(sources: &Sources, id: SourceId, out: &mut Diagnostics) -> Option<Self> {
        let root = parse(sources, id, out);
        let mut f = Fields::file("a grid file", GRID, &root, id.span(0..0), out);
        Self::of(&mut f, sources, id)
    }

    /// Reads the keys of a grid from a whole file, which may have others.
    pub fn of(f: &mut Fields<'_>, sources: &Sources, id: SourceId) -> Option<Self> {
        let file = std::path::Path::new(&sources.get(id).name);
        let stem = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into());
        let name = f.text("name").map_or(stem, |name| name.value);
        let title = f.text("title").map_or_else(|| name.clone(), |title| title.value);
        f.text("notes");
        let parameters = parameters(f, sources);
        let points = points(f, &parameters);
        let sample = sample(f, &parameters, !points.is_empty());
        let sets = variant::sets(f, "set");
        let seeds = seeds::read(f, "seeds");
        let variants = variants(f);
        f.require("scenario");
        let scenario = f.text_at("scenario")?;
        let starts = false;
        Some(Self {
            name,
            title,
            scenario,
            seeds,
            sets,
            parameters,
            points,
            sample,
            variants,
            starts,
        })
    }
}

fn parameters(f: &mut Fields<'_>, sources: &Sources) -> Vec<Parameter> {
    let Some(item) = f.item("parameters") else { return Vec::new() };
    let table = Fields::open("[parameters]".to_owned(), &[], Some(item), f.out);
    let all = table.entries().iter();
    all.filter_map(|(name, at, item)| parameter(name, *at, item, sources, table.out)).collect()
}

fn parameter(
    name: &str,
    at: Span,
    item: &Item,
    sources: &Sources,
    out: &mut Diagnostics,
) -> Option<Parameter> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let label = match weir_results::metrics::is_column(name) {
        true => Some("the tables have a column of this name; choose another"),
        false if name.is_empty() || !name.chars().all(plain) => {
            Some("it names a column: use letters, digits, `-` and `_`")
        }
        false => None,
    };
    if let Some(label) = label {
        let title = format!("`{name}` cannot be the name of a parameter");
        out.push(Diagnostic::error(title).at(at, label));
        return None;
    }
    let mut f = Fields::closed(format!("[parameters.{name}]"), PARAMETER, Some(item), out);
    if !f.is_table() {
        return None;
    }
    let Some(key) = f.item("key") else {
        let title =
            format!("parameter `{name}` needs `key`: the value of the scenario that it changes");
        f.error(title, at, "such as key = \"switch.buffer\"");
        return None;
    };
    let keys = f.items("key").iter().map(|item| path(item, sources, f.out));
    let keys = keys.collect::<Option<Vec<_>>>()?;
    if keys.is_empty() {
        f.error(format!("parameter `{name}` has no key"), key.span, "an empty list");
        return None;
    }
    let values = values(&mut f, name, at)?;
    Some(Parameter { name: name.to_owned(), at, keys, values })
}

/// The parts of a key that is written as a value.
fn path(item: &Item, sources: &Sources, out: &mut Diagnostics) -> Option<Vec<(String, Span)>> {
    let Value::Text(path) = &item.value else {
        let title = format!("a key of the scenario is text, not {}", item.value.what());
        let label = "such as \"switch.buffer\" or \"traffic.0.size\"";
        out.push(Diagnostic::error(title).at(item.span, label));
        return None;
    };
    // behind the quotation mark, unless the text was written with escapes
    let written = sources.text(item.span);
    let offset = written.find(path.as_str()).unwrap_or(0);
    match path_steps(path, item.span.source, item.span.start + offset) {
        Ok(steps) => Some(steps.into_iter().map(|(name, at)| (name.to_owned(), at)).collect()),
        Err(error) => {
            out.push(error);
            None
        }
    }
}

fn values(f: &mut Fields<'_>, name: &str, at: Span) -> Option<Values> {
    let of_range = ["from", "to", "steps", "scale"];
    let range_key = f.entries().iter().find(|(key, ..)| of_range.contains(&key.as_str()));
    match (f.item("values"), range_key.map(|(_, at, _)| *at)) {
        (Some(_), Some(key)) => {
            f.error(format!("parameter `{name}` has `values` and a range"), key, "only one");
            None
        }
        (None, None) => Some(Values::ByPoint),
        (None, Some(_)) => range(f, name, at),
        (Some(item), None) => {
            let Value::List(items) = &item.value else {
                f.error(format!("the values of `{name}` are a list"), item.span, "");
                return None;
            };
            if items.is_empty() {
                let title = format!("parameter `{name}` has no values: there would be no runs");
                f.error(title, item.span, "");
                return None;
            }
            for (i, one) in items.iter().enumerate() {
                if items[..i].iter().any(|other| other.value == one.value) {
                    let title = format!("parameter `{name}` has this value twice");
                    f.error(title, one.span, "its runs would be the same");
                    return None;
                }
                f.check_cell(&format!("this value of `{name}`"), one);
            }
            Some(Values::Listed(items.clone()))
        }
    }
}

fn range(f: &mut Fields<'_>, name: &str, at: Span) -> Option<Values> {
    let from = end(f, name, at, "from")?;
    let to = end(f, name, at, "to")?;
    let (to_at, whole) = (to.1, from.2 && to.2);
    let (from, to) = (from.0, to.0);
    if from.unit != to.unit {
        let title = format!("`from` and `to` of `{name}` are different quantities");
        f.error(title, to_at, "write both in units of the same kind");
        return None;
    }
    if from.number == to.number {
        let title = format!("the range of `{name}` is empty: it begins where it ends");
        f.error(title, to_at, "");
        return None;
    }
    let log = f.one_of("scale", [("linear", false), ("log", true)]).value;
    if log && (from.number <= 0.0 || to.number <= 0.0) {
        f.error(format!("`{name}` on a log scale is above 0 at both ends"), to_at, "");
        return None;
    }
    let steps = match f.given("steps") {
        false => None,
        true => Some(f.optional_whole("steps")?.value),
    };
    let range = Range { from, to, log, whole };
    if let Some(n) = steps {
        let span = f.place("steps");
        let values = range.steps(n);
        if values.windows(2).any(|pair| pair[0] == pair[1]) {
            let title = format!("{n} steps of `{name}` give a value twice");
            f.error(title, span, "there are not that many values between `from` and `to`");
            return None;
        }
    }
    Some(Values::Between { range, steps, at: to_at })
}

/// One end of a range, where it is written, and whether it is a whole number.
fn end(f: &mut Fields<'_>, name: &str, at: Span, key: &str) -> Option<(Quantity, Span, bool)> {
    let Some(item) = f.item(key) else {
        f.error(format!("the range of `{name}` has no `{key}`"), at, "");
        return None;
    };
    let text = item.value.text().unwrap_or_default();
    match Quantity::read(&text) {
        Some(quantity) => Some((quantity, item.span, text.parse::<i64>().is_ok())),
        None => {
            let title = format!("`{key}` of `{name}` is not a number");
            let label = "a range is between numbers: 4, 0.5, 30%, 15KB, 20ns or 40Gbps";
            f.error(title, item.span, label);
            None
        }
    }
}

fn points(f: &mut Fields<'_>, parameters: &[Parameter]) -> Vec<Vec<(usize, Item)>> {
    let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    let mut points = Vec::new();
    let tables = f.tables(&POINT);
    for &table in &tables {
        let mut f = Fields::open(POINT.header(), POINT.keys, Some(table), f.out);
        for (name, at, _) in f.rest().filter(|(name, ..)| !names.contains(&name.as_str())) {
            f.out.push(unknown_key(name, *at, "[[point]]", &names));
        }
        let mut point = Vec::new();
        for (i, parameter) in parameters.iter().enumerate() {
            let written = f.rest().find(|(name, ..)| *name == parameter.name);
            match (written.map(|(.., item)| item), &parameter.values) {
                (Some(item), Values::ByPoint) => {
                    f.check_cell(&format!("this value of `{}`", parameter.name), item);
                    point.push((i, item.clone()));
                }
                (None, Values::ByPoint) => {
                    let title = format!("this point has no `{}`", parameter.name);
                    f.error(title, table.span, "every point has a value for it");
                }
                (Some(item), _) => {
                    let title = format!("`{}` has its own values", parameter.name);
                    f.error(title, item.span, "they are combined with every point");
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
        f.out.push(error.help("give it `values`, a range with `from` and `to`, or `[[point]]`s"));
    }
    points
}

fn sample(f: &mut Fields<'_>, parameters: &[Parameter], points: bool) -> Sample {
    let without_steps = parameters.iter().find_map(|p| match p.values {
        Values::Between { steps: None, at, .. } => Some((p.name.clone(), at)),
        _ => None,
    });
    let drawn = f.item("sample").and_then(|item| drawn(item, points, f.out));
    if let (None | Some(Sample::Grid), Some((name, at))) = (drawn, without_steps) {
        let title = format!("the range of `{name}` needs `steps`");
        let label = "how many values, both ends included; or draw points with [sample]";
        f.error(title, at, label);
    }
    drawn.unwrap_or(Sample::Grid)
}

fn drawn(item: &Item, points: bool, out: &mut Diagnostics) -> Option<Sample> {
    let mut f = Fields::new(&SAMPLE, Some(item), out);
    let kinds = [
        ("grid", None),
        ("random", Some(Draw::Anywhere)),
        ("latin-hypercube", Some(Draw::LatinHypercube)),
    ];
    let At { value: from, span } = f.one_of("kind", kinds);
    let Some(from) = from else {
        return (span.is_some() || !f.given("kind")).then_some(Sample::Grid);
    };
    if points {
        f.error("a sample is drawn from ranges: there are `[[point]]`s as well", span, "");
    }
    if !f.given("points") {
        f.error("a sample needs `points`: how many", span, "");
    }
    let (points, seed) = (f.whole("points").value, f.whole("seed").value);
    Some(Sample::Drawn { from, points, seed })
}

fn variants(f: &mut Fields<'_>) -> Vec<VariantSpec> {
    let mut variants: Vec<VariantSpec> = Vec::new();
    if let Some(item) = f.item("schemes") {
        let Value::List(items) = &item.value else {
            f.error("`schemes` is a list of names", item.span, "");
            return variants;
        };
        for item in items {
            let name = item.value.text().unwrap_or_default();
            variants.push(VariantSpec::of_scheme(&name, item.span));
        }
    }
    variants.extend(variant::read_all(f.item("variant"), f.out));
    variant::check(&variants, f.out);
    variants
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
            out.plain(&sources)
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
