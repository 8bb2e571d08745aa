//! `--fail-if`: when a change is not to be made.

use super::{Diff, FigureDiff, Verdict};
use crate::condition::{Operator, divide};
use weir_core::{format, nearest};
use weir_stats::ALPHA;

/// A condition on which a comparison fails.
#[derive(Clone, Debug, PartialEq)]
pub struct FailIf {
    /// As written.
    pub text: String,
    class: String,
    name: &'static str,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// Worse by more than this share.
    WorseBy(f64),
    /// Worse by anything.
    Worse,
    /// The second side's mean is so compared with a value.
    Value(Operator, f64),
}

/// How conditions are written.
const SYNTAX: &str = "write `p99 slowdown worse by 5 %`, `lost worse`, or a condition on the \
                      second side such as `lost > 0`";

impl FailIf {
    /// Reads `[CLASS:]FIGURE worse [by N %]`, or `[CLASS:]FIGURE OP VALUE`.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (figure, rule) = match text.split_once(" worse") {
            Some((figure, "")) => (figure, None),
            Some((figure, rest)) => (figure, Some(rest)),
            None => {
                let (figure, operator, value) =
                    divide(text).map_err(|_| format!("`{text}` is not a condition: {SYNTAX}"))?;
                let (class, name, unit) = find(figure)?;
                let value = match value.parse::<f64>() {
                    Ok(0.0) => 0.0,
                    _ => unit.read(value).map_err(|why| format!("`{text}`: {why}"))?,
                };
                let rule = Rule::Value(operator, value);
                return Ok(Self { text: text.to_owned(), class, name, rule });
            }
        };
        let rule = match rule {
            None => Rule::Worse,
            Some(rest) => {
                let share = rest.trim().strip_prefix("by ").map(str::trim);
                let number = share.and_then(|s| s.strip_suffix('%')).map(str::trim);
                let share = number.and_then(|n| n.parse::<f64>().ok()).filter(|x| *x >= 0.0);
                Rule::WorseBy(share.ok_or_else(|| format!("`{text}`: {SYNTAX}"))? / 100.0)
            }
        };
        let (class, name, _) = find(figure)?;
        Ok(Self { text: text.to_owned(), class, name, rule })
    }

    /// Why a comparison fails, if it does; an error if it does not have the figure.
    ///
    /// A figure is worse by more than a share if its estimate is, and if chance is excluded where
    /// there are several runs.
    pub fn check(&self, diff: &Diff) -> Result<Option<String>, String> {
        let wanted = |r: &&FigureDiff| r.name == self.name && r.class == self.class;
        let all = |r: &&FigureDiff| r.name == self.name && r.class.is_empty();
        let one_class = diff.rows.iter().all(|r| r.class.is_empty());
        let row = diff.rows.iter().find(wanted);
        let row = row.or_else(|| diff.rows.iter().find(all).filter(|_| one_class));
        let Some(row) = row else {
            let classes: Vec<&str> = diff.rows.iter().map(|r| r.class.as_str()).collect();
            let hint = nearest(&self.class, classes.iter().copied().filter(|c| !c.is_empty()));
            let hint = hint.map_or_else(String::new, |c| format!(" (did you mean `{c}`?)"));
            return Err(format!("`{}`: there is no class `{}`{hint}", self.text, self.class));
        };
        let shown =
            |x: Option<f64>| x.map_or_else(|| "none".into(), |x| format::quantity(row.unit, x));
        let [before, after] = row.means.map(shown);
        let fails = match self.rule {
            Rule::Value(operator, value) => row.means[1].is_none_or(|x| operator.holds(x, value)),
            Rule::Worse => is_worse(row, 0.0),
            Rule::WorseBy(share) => is_worse(row, share),
        };
        Ok(fails.then(|| format!("{}: {before} to {after}", self.text)))
    }
}

fn is_worse(row: &FigureDiff, share: f64) -> bool {
    if row.verdict == Verdict::Missing {
        // no flow completes any more
        return row.means[0].is_some() && row.means[1].is_none();
    }
    let relative = match (row.ratio, row.means[0], row.change) {
        (true, _, Some(change)) => change,
        (false, Some(before), Some(change)) if before > 0.0 => change / before,
        (false, _, Some(change)) if change > 0.0 => f64::INFINITY,
        _ => 0.0,
    };
    let chance = row.p.is_some_and(|p| p >= ALPHA);
    relative > share && !chance
}

/// Class, name and unit of a figure.
fn find(text: &str) -> Result<(String, &'static str, weir_core::Unit), String> {
    let (class, figure) = match text.rsplit_once(':') {
        Some((class, figure)) => (class.trim(), figure.trim()),
        None => ("", text.trim()),
    };
    let name = crate::condition::metric_name(figure);
    let name = if name == "dropped" { "lost".to_owned() } else { name };
    let all = &super::figures::FIGURES;
    let found = all.iter().find(|f| f.name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|f| f.name).collect();
        let near = nearest(&name, names.iter().copied());
        let hint = near.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"));
        format!("there is no figure `{figure}`{hint}; there are {}", names.join(", "))
    })?;
    if !found.of_flows && !class.is_empty() {
        return Err(format!("`{}` is of the whole run, not of flows: omit `{class}`", found.name));
    }
    Ok((class.to_owned(), found.name, found.unit))
}
