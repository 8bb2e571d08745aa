//! Properties of runs, as people write them.

use weir_core::reason::Relation;
use weir_core::{Unit, format};
use weir_results::compare::Figure;
use weir_results::metrics::{self, Figures};
use weir_scenario::Experiment;

/// How a figure is compared with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`, `<=`, `>` or `>=`
    Is(Relation),
}

/// Longer ones first: `<=` begins with `<`.
const SIGNS: [(&str, Operator); 7] = [
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::Is(Relation::AtMost)),
    (">=", Operator::Is(Relation::AtLeast)),
    ("<", Operator::Is(Relation::Below)),
    (">", Operator::Is(Relation::Above)),
    ("=", Operator::Equal),
];

impl Operator {
    /// Whether `x` is so compared with `y`.
    pub fn holds(self, x: f64, y: f64) -> bool {
        match self {
            Self::Equal => x == y,
            Self::Unequal => x != y,
            Self::Is(relation) => relation.holds(x, y),
        }
    }
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// As written.
    pub text: String,
    figure: Figure,
    operator: Operator,
    value: f64,
}

/// All of its terms must hold: `lost == 0 and p99 slowdown < 3`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As written.
    pub text: String,
    terms: Vec<Term>,
}

/// A term that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// As written.
    pub term: String,
    /// The figure of the run; `None` if it has none (no flow completed).
    pub found: Option<f64>,
    /// Its unit.
    pub unit: Unit,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.found {
            Some(x) => {
                write!(f, "{} does not hold: it is {}", self.term, format::quantity(self.unit, x))
            }
            None => write!(f, "{} does not hold: the run has no such figure", self.term),
        }
    }
}

/// Where a term is divided: the figure, how it is compared, and the value.
pub(crate) fn divide(term: &str) -> Result<(&str, Operator, &str), String> {
    let first = term.find(['=', '!', '<', '>']);
    let sign = first.and_then(|at| {
        let signs = SIGNS.iter().find(|(sign, _)| term[at..].starts_with(sign));
        signs.map(|(sign, operator)| (at, sign.len(), *operator))
    });
    let Some((at, len, operator)) = sign else {
        return Err(format!(
            "`{term}` is not a condition: write a figure, one of == != < <= > >=, and a value, \
             such as `lost == 0` or `p99 slowdown < 3`"
        ));
    };
    Ok((term[..at].trim(), operator, term[at + len..].trim()))
}

/// The name of a metric: as in tables (`slowdown_p99`), in words (`p99 slowdown`), or without its
/// unit (`fct_p99`).
pub(crate) fn metric_name(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = match words[..] {
        [share, what]
            if share.starts_with('p') && share[1..].starts_with(|c: char| c.is_ascii_digit()) =>
        {
            format!("{what}_{}", share.replace('.', ""))
        }
        [share @ ("mean" | "max" | "min"), what] => format!("{what}_{share}"),
        ["median", what] => format!("{what}_p50"),
        ["pauses"] => "pauses_sent".to_owned(),
        ["drops"] => "dropped".to_owned(),
        _ => words.join("_"),
    };
    let units = ["", "_ps", "_bytes", "_bps"];
    let known = units.iter().map(|unit| format!("{name}{unit}"));
    known.into_iter().find(|n| metrics::find(n).is_some()).unwrap_or(name)
}

impl Condition {
    /// Reads a condition on runs of an experiment.
    pub fn read(text: &str, e: &Experiment) -> Result<Self, String> {
        let parts = text.split(" and ").flat_map(|part| part.split("&&"));
        let terms: Result<Vec<Term>, String> =
            parts.map(|part| Term::read(part.trim(), e)).collect();
        Ok(Self { text: text.trim().to_owned(), terms: terms? })
    }

    /// Whether a run keeps it, or the first term that it breaks.
    pub fn check(&self, figures: &Figures) -> Result<(), Broken> {
        self.terms.iter().try_for_each(|term| term.check(figures))
    }
}

impl Term {
    fn read(text: &str, e: &Experiment) -> Result<Self, String> {
        let (name, operator, value) = divide(text)?;
        let (class, metric) = match name.rsplit_once(':') {
            Some((class, metric)) => (format!("{}:", class.trim()), metric),
            None => (String::new(), name),
        };
        let (metric, sizes) = match metric.split_once('@') {
            Some((metric, sizes)) => (metric, format!("@{}", sizes.trim())),
            None => (metric, String::new()),
        };
        let figure = Figure::read(&format!("{class}{}{sizes}", metric_name(metric)), e)?;
        let unit = figure.metric.unit;
        let value = match value.parse::<f64>() {
            // nothing is nothing in any unit
            Ok(0.0) => 0.0,
            _ => unit.read(value).map_err(|why| format!("`{text}`: {why}"))?,
        };
        Ok(Self { text: text.to_owned(), figure, operator, value })
    }

    fn check(&self, figures: &Figures) -> Result<(), Broken> {
        let Figure { metric, class, sizes } = &self.figure;
        let found = figures.value(metric.name, class, sizes).and_then(|v| v.number());
        match found {
            Some(x) if self.operator.holds(x, self.value) => Ok(()),
            _ => Err(Broken { term: self.text.clone(), found, unit: metric.unit }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Condition, String> {
        let e = Experiment::load("ofc-fig1", &[]).expect("built in");
        Condition::read(text, &e)
    }

    #[test]
    fn metrics_are_known_by_their_names_and_in_words() {
        for (text, name) in [
            ("lost", "lost"),
            ("p99 slowdown", "slowdown_p99"),
            ("p99.9 fct", "fct_p999_ps"),
            ("mean slowdown", "slowdown_mean"),
            ("fct_p99", "fct_p99_ps"),
            ("queue_max", "queue_max_bytes"),
            ("pauses", "pauses_sent"),
        ] {
            assert_eq!(metric_name(text), name);
        }
    }

    #[test]
    fn a_condition_that_cannot_be_read_is_explained() {
        for (text, says) in [
            ("lost", "is not a condition"),
            ("lots == 0", "did you mean `lost`"),
            ("fct_p99 < 3", "3"),
            ("nobody:lost == 0", "no traffic has the class `nobody`"),
            ("lost == 0 and", "`0 and` is not a number"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(read("victim:p99 slowdown < 3 and lost == 0 && fct_p99 <= 2ms").is_ok());
    }
}
