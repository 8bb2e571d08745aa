//! The scenario reference of the book, made from the tables that the reader uses.

use crate::catalogue::{self, Entry, More};
use crate::keys::{self, Key, Kind};
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Scenario reference

<!-- Made by `weir --generate scenario-reference`; a test checks that it is current. -->

A scenario is a TOML file. Sizes (`\"64KB\"`, `\"64KiB\"`), times (`\"1.5us\"`) and rates
(`\"100Gbps\"`) are written with their units; 1 KB is 1000 B. Every key is checked, and nothing is
required that has a sensible default. `weir check FILE` says what the defaults resolved to, and
`weir schema` prints a JSON schema for editors.

`--set PATH=VALUE` on the command line changes a value: `--set switch.thresholds.xoff=90KB`,
`--set traffic.0.size=1MB`, or by class, `--set traffic.victim.size=1MB`.
";

/// The whole page.
pub fn markdown() -> String {
    let mut out = String::from(INTRODUCTION);
    out.push_str("\n## In front of all sections\n\n");
    key_table(&mut out, keys::ROOT.keys);
    for section in keys::SECTIONS {
        let _ = write!(out, "\n## `{}`\n\n{}\n\n", section.header(), section.doc);
        key_table(&mut out, section.keys);
        match catalogue::more(section) {
            More::Topologies => {
                entries(&mut out, "kind", &catalogue::topologies());
                out.push_str("\n### `kind = \"explicit\"`\n\nYour own graph.\n\n");
                key_table(&mut out, keys::EXPLICIT);
            }
            More::Patterns => entries(&mut out, "kind", &catalogue::patterns()),
            More::Tcp => params(&mut out, &catalogue::tcp()),
            More::Schemes => entries(&mut out, "scheme", &catalogue::schemes()),
            More::Algorithms => entries(&mut out, "algorithm", &catalogue::algorithms()),
            More::Anything | More::Nothing => {}
        }
    }
    out
}

/// A cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn key_table(out: &mut String, keys: &[Key]) {
    out.push_str("| key | takes | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let takes = match key.kind {
            Kind::Table(_, []) => "a table".to_owned(),
            Kind::Table(_, words) => format!("a table, or `\"{}\"`", words.join("\"` or `\"")),
            kind => kind.describe(),
        };
        let default = match key.default() {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            key.name,
            cell(&takes),
            cell(&default),
            cell(key.doc)
        );
    }
    for key in keys {
        if let Kind::Table(inner, _) = key.kind {
            let _ = write!(out, "\nKeys of `{}`:\n\n", key.name);
            key_table(out, inner);
        }
    }
}

fn entries(out: &mut String, tag: &str, all: &[Entry]) {
    for entry in all {
        let _ = write!(out, "\n### `{tag} = \"{}\"`\n\n{}\n", entry.name, entry.doc);
        if !entry.reference.is_empty() {
            let _ = writeln!(out, "Defined in: {}.", entry.reference);
        }
        if !entry.params.is_empty() {
            params(out, entry);
        }
    }
}

/// The parameters of something.
fn params(out: &mut String, entry: &Entry) {
    out.push_str("\n| key | takes | default | meaning |\n|---|---|---|---|\n");
    for p in &entry.params {
        let default = match (p.required, p.default.as_str()) {
            (true, _) => "required".to_owned(),
            (false, "") => "derived".to_owned(),
            (false, text) if text.starts_with('(') || text.contains(' ') => {
                text.trim_matches(['(', ')']).to_owned()
            }
            (false, text) => format!("`{text}`"),
        };
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            p.name,
            cell(&p.takes),
            cell(&default),
            cell(&p.doc)
        );
    }
}
