//! Why numbers differ from a paper's, in words: `discussion.toml`.
//!
//! It is written after the runs and has a file of its own, so that the file of the rules need not
//! change once there are results. No plan, result or verdict depends on it.

use super::claim::Claim;
use super::inside;
use super::keys;
use weir_scenario::Fields;
use weir_scenario::ports::matches;
use weir_scenario::text::{Diagnostics, SourceId, Sources, Span, parse};

/// The name of the file.
pub(crate) const FILE: &str = "discussion.toml";

/// A text about some claims of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discussion {
    /// A line above it; may be empty.
    pub title: String,
    /// Paragraphs.
    pub text: String,
    /// The claims it is about, by position.
    pub claims: Vec<usize>,
    /// Experiments, and declared spaces of settings, that test the explanation. A claim that is not
    /// reproduced and has none is called unexplained.
    pub sensitivity: Vec<String>,
}

/// Reads `discussion.toml`.
pub(crate) fn read(
    sources: &Sources,
    id: SourceId,
    claims: &[Claim],
    experiments: &[&str],
    out: &mut Diagnostics,
) -> Vec<Discussion> {
    let root = parse(sources, id, out);
    let mut f = Fields::file(FILE, keys::DISCUSSIONS, &root, id.span(0..0), out);
    let mut all = Vec::new();
    for item in f.tables(&keys::DISCUSSION) {
        let mut f = Fields::new(&keys::DISCUSSION, Some(item), f.out).from_first_key();
        all.push(one(&mut f, claims, experiments));
    }
    all
}

fn one(f: &mut Fields<'_>, claims: &[Claim], experiments: &[&str]) -> Discussion {
    let text = f.required("text");
    let title = f.trimmed("title");
    let about = f.names_at("experiment");
    for (name, at) in &about {
        if !experiments.iter().any(|e| e.eq_ignore_ascii_case(name)) {
            f.unknown("experiment", name, *at, experiments);
        }
    }
    let own = |c: &Claim| {
        about.is_empty() || about.iter().any(|(e, _)| e.eq_ignore_ascii_case(&c.experiment))
    };
    let patterns = f.names_at("claims");
    let named = |c: &Claim| patterns.is_empty() || patterns.iter().any(|(p, _)| matches(p, &c.id));
    if about.is_empty() && patterns.is_empty() {
        let label = "which claims is it about?";
        f.error("a discussion needs `experiment` or `claims`", f.span, label);
    }
    for (pattern, at) in &patterns {
        if !claims.iter().any(|c| own(c) && matches(pattern, &c.id)) {
            let ids: Vec<&str> = claims.iter().filter(|c| own(c)).map(|c| c.id.as_str()).collect();
            no_claim(f, pattern, *at, &ids);
        }
    }
    let sensitivity = f.names_at("sensitivity");
    for (name, at) in &sensitivity {
        let known: Vec<&str> = [experiments, &inside::experiments()].concat();
        if !known.iter().any(|e| e.eq_ignore_ascii_case(name)) {
            f.unknown("experiment", name, *at, &known);
        }
    }
    let about = claims.iter().enumerate().filter(|(_, c)| own(c) && named(c));
    Discussion {
        title,
        text,
        claims: about.map(|(i, _)| i).collect(),
        sensitivity: sensitivity.into_iter().map(|(name, _)| name).collect(),
    }
}

/// There may be hundreds of claims: the nearest is named, not all.
fn no_claim(f: &mut Fields<'_>, pattern: &str, at: Span, ids: &[&str]) {
    let error = weir_scenario::text::Diagnostic::error(format!("no claim is called `{pattern}`"));
    let error = error.nearest(weir_net::nearest(pattern, ids.iter().copied()));
    f.out.push(error.at(at, "").help("`weir paper claims` lists them; `*` stands for any text"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::Scope;

    fn claims() -> Vec<Claim> {
        let mut text = String::new();
        for (id, experiment) in [("a-1", "X"), ("a-2", "X"), ("b-1", "Y")] {
            text += &format!(
                "[[claim]]\nid = \"{id}\"\nexperiment = \"{experiment}\"\nsays = \"so\"\n\
                 kind = \"not-measured\"\nwhy = \"no\"\n"
            );
        }
        let scopes = ["X", "Y"].map(|id| Scope { id: id.into(), ..Scope::default() });
        let mut sources = Sources::default();
        let id = sources.add("claims.toml", text);
        let mut out = Diagnostics::default();
        let claims = super::super::claim_read::read(&sources, id, &scopes.each_ref(), &mut out);
        assert!(!out.has_errors(), "{}", out.plain(&sources));
        claims
    }

    fn read_one(text: &str) -> Result<Discussion, String> {
        let mut sources = Sources::default();
        let id = sources.add(FILE, format!("[[discussion]]\n{text}\n"));
        let mut out = Diagnostics::default();
        let mut all = read(&sources, id, &claims(), &["X", "Y"], &mut out);
        match out.has_errors() {
            false => Ok(all.remove(0)),
            true => Err(out.plain(&sources)),
        }
    }

    #[test]
    fn claims_are_named_by_experiment_by_pattern_or_by_both() {
        for (keys, expected) in [
            ("experiment = \"X\"", &[0, 1][..]),
            ("experiment = [\"x\", \"Y\"]", &[0, 1, 2]),
            ("claims = \"*-1\"", &[0, 2]),
            ("claims = [\"a-2\", \"b-*\"]", &[1, 2]),
            ("experiment = \"X\"\nclaims = \"*-1\"", &[0]),
        ] {
            let d = read_one(&format!("{keys}\ntext = \" why \"")).expect(keys);
            assert_eq!((d.claims.as_slice(), d.text.as_str()), (expected, "why"), "{keys}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("text = \"why\"", "needs `experiment` or `claims`"),
            ("experiment = \"X\"", "needs `text`"),
            ("experiment = \"X\"\ntext = \" \"", "`text` is empty"),
            ("experiment = \"Z\"\ntext = \"why\"", "no experiment `Z`"),
            ("claims = \"a-3\"\ntext = \"why\"", "did you mean `a-"),
            ("experiment = \"Y\"\nclaims = \"a-*\"\ntext = \"why\"", "no claim is called `a-*`"),
            ("experiment = \"X\"\ntext = \"why\"\nsensitivity = \"Q-9\"", "no experiment `Q-9`"),
            ("experiment = \"X\"\ntext = \"why\"\nclaim = \"a-1\"", "did you mean `claims`?"),
        ] {
            let shown = read_one(text).expect_err(text);
            assert!(shown.contains(expected), "{text}: {shown}");
        }
    }

    /// An explanation may be tested by an experiment of another paper.
    #[test]
    fn experiments_of_the_papers_inside_are_known() {
        let d = read_one("experiment = \"X\"\ntext = \"why\"\nsensitivity = [\"Y\", \"OFC-E1S\"]");
        assert_eq!(d.expect("known").sensitivity, ["Y", "OFC-E1S"]);
    }
}
