//! `weir explain`: what a code of a finding means.

use crate::Status;
use crate::args::Explain;
use crate::terminal::{Terminal, print};
use serde_json::{Value, json};
use weir_fabric::code::{CODES, Code};

fn as_json(code: &Code) -> Value {
    json!({
        "code": code.code, "severity": code.severity.name(), "title": code.title,
        "why": code.why, "mend": code.mend, "evidence": code.evidence,
    })
}

/// `weir explain`.
pub(crate) fn explain(args: &Explain, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(name) = &args.code else {
        let all: Vec<Value> = CODES.iter().map(|c| as_json(c)).collect();
        let line = |c: &&Code| format!("  {}  {:<8} {}", c.code, c.severity.name(), c.title);
        print(&match args.json {
            true => serde_json::to_string_pretty(&all)?,
            false => CODES.iter().map(line).collect::<Vec<_>>().join("\n"),
        })?;
        return Ok(Status::Done);
    };
    let Some(code) = Code::find(name) else {
        let near = Code::suggest(name).map_or_else(String::new, |c| format!(": did you mean {c}?"));
        terminal.complain(&format!("`{name}` is not a code{near}; weir explain lists all"));
        return Ok(Status::BadInput);
    };
    print(&match args.json {
        true => serde_json::to_string_pretty(&as_json(code))?,
        false => wrapped(&code.explanation(), terminal.out.width.clamp(40, 88)),
    })?;
    Ok(Status::Done)
}

/// Breaks long lines between words; continuation lines are indented like the text.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = if line.starts_with("Why") || line.starts_with("Mend") { 6 } else { 0 };
        let mut now = String::new();
        for word in line.split_inclusive(' ') {
            if now.len() + word.trim_end().len() > width && !now.trim().is_empty() {
                lines.push(now.trim_end().to_owned());
                now = " ".repeat(indent);
            }
            now.push_str(word);
        }
        lines.push(now.trim_end().to_owned());
    }
    lines.join("\n")
}
