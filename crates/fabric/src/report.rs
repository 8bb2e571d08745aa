//! Findings as text, JSON and SARIF.

use crate::checks::Margin;
use crate::code::{CODES, Code};
use crate::config::Switch;
use crate::finding::Finding;
use crate::host::Host;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use weir_core::format::plural;
use weir_core::{Rate, Severity};

/// What a check found.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The switches, in the order of their files.
    pub switches: &'a [Switch],
    /// The hosts.
    pub hosts: &'a [Host],
    /// The findings.
    pub findings: &'a [Finding],
    /// What groups have and need.
    pub margins: &'a [Margin],
}

/// One row of the table of margins: ports that have all of this in common.
type MarginRow<'a> = (usize, u64, u64, &'a str, u64, u64);

impl Report<'_> {
    /// The name of a file.
    fn file(&self, index: usize) -> &str {
        let host = || self.hosts.get(index - self.switches.len()).map(|h| h.file.as_str());
        match self.switches.get(index) {
            Some(switch) => &switch.file,
            None => host().unwrap_or_default(),
        }
    }

    fn line(&self, finding: &Finding) -> usize {
        let of_switch = || Some(self.switches.get(finding.file)?.line(&finding.pointer));
        finding.line.or_else(of_switch).unwrap_or(1)
    }

    /// How many findings of a severity there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity() == severity).count()
    }

    /// As text; `paint` colours a word by its severity. Findings that differ in their place only
    /// are shown once.
    pub fn text(&self, paint: &dyn Fn(&str, Severity) -> String) -> String {
        let mut out = String::new();
        let mut shown: Vec<(&Finding, Vec<&Finding>)> = Vec::new();
        for f in self.findings {
            let same = |s: &&mut (&Finding, Vec<&Finding>)| {
                s.0.code == f.code && s.0.file == f.file && s.0.message == f.message
            };
            match shown.iter_mut().find(same) {
                Some((_, more)) => more.push(f),
                None => shown.push((f, Vec::new())),
            }
        }
        for (f, more) in &shown {
            let word = paint(f.severity().name(), f.severity());
            let _ = writeln!(out, "{word} {}: {}", f.code.code, f.code.title);
            let _ = writeln!(out, "  --> {}:{} {}", self.file(f.file), self.line(f), f.pointer);
            if !more.is_empty() {
                let _ = writeln!(out, "      and {} more", plural(more.len() as u64, "place"));
            }
            let _ = writeln!(out, "   = {}", f.message);
            if let Some(rule) = &f.rule {
                let _ = writeln!(out, "   = rule: {rule}");
            }
            out.push('\n');
        }
        out.push_str(&self.margins_text());
        let counts = [Severity::Error, Severity::Warning, Severity::Note]
            .map(|s| plural(self.count(s) as u64, s.name()));
        let (switches, hosts) = (self.switches.len() as u64, self.hosts.len() as u64);
        let of = match hosts {
            0 => plural_switches(switches),
            _ => format!("{} and {}", plural_switches(switches), plural(hosts, "host")),
        };
        let _ = write!(out, "{of}: {}", counts.join(", "));
        if let Some(gravest) = self.findings.iter().rev().max_by_key(|f| f.severity()) {
            let _ = write!(out, "; weir explain {}", gravest.code.code);
        }
        out
    }

    /// Headroom by kinds of ports.
    fn margins_text(&self) -> String {
        let mut kinds: BTreeMap<MarginRow<'_>, (u64, f64, Option<u64>)> = BTreeMap::new();
        for m in self.margins {
            let key = (m.switch, m.speed, m.cable, m.profile.as_str(), m.configured, m.needed);
            let entry = kinds.entry(key).or_insert((0, m.metres, m.rule.map(|(xoff, _)| xoff)));
            entry.0 += 1;
        }
        if kinds.is_empty() {
            return String::new();
        }
        let mut out = format!(
            "{:<12} {:>9} {:>8} {:>7} {:>11} {:>9} {:>9} {:>9}\n",
            "headroom", "speed", "cable", "groups", "configured", "needed", "rule", "margin"
        );
        for ((switch, speed, cable, _, configured, needed), (groups, metres, rule)) in kinds {
            let name = self.switches.get(switch).map_or("", |s| s.name.as_str());
            let rate = Rate::from_bps(speed * 1_000_000).to_string();
            let rule = rule.map_or_else(|| "-".into(), |xoff| xoff.to_string());
            let _ = writeln!(
                out,
                "{name:<12} {rate:>9} {:>8} {groups:>7} {configured:>11} {needed:>9} {rule:>9} \
                 {:>9}",
                format!("{cable} m"),
                format!("{metres:.0} m")
            );
        }
        out.push('\n');
        out
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|f| {
                json!({
                    "code": f.code.code, "severity": f.severity().name(), "title": f.code.title,
                    "file": self.file(f.file), "line": self.line(f), "path": f.pointer,
                    "message": f.message, "rule": f.rule, "mendable": !f.changes.is_empty(),
                    "evidence": f.code.evidence,
                })
            })
            .collect();
        let margins: Vec<Value> = self
            .margins
            .iter()
            .map(|m| {
                json!({
                    "switch": self.switches.get(m.switch).map(|s| &s.name), "port": m.port,
                    "group": m.group, "speed_mbps": m.speed, "cable_metres": m.cable,
                    "profile": m.profile, "configured": m.configured, "needed": m.needed,
                    "rule": m.rule.map(|(xoff, _)| xoff), "rule_version": m.rule.map(|(_, v)| v),
                    "margin_metres": m.metres,
                })
            })
            .collect();
        json!({
            "errors": self.count(Severity::Error), "warnings": self.count(Severity::Warning),
            "notes": self.count(Severity::Note), "findings": findings, "headroom": margins,
        })
    }

    /// As SARIF 2.1.0, for code review systems.
    pub fn sarif(&self) -> Value {
        let level = |s: Severity| s.name();
        let rules: Vec<Value> = CODES
            .iter()
            .map(|c| {
                json!({
                    "id": c.code, "shortDescription": { "text": c.title },
                    "fullDescription": { "text": c.why }, "help": { "text": c.mend },
                    "defaultConfiguration": { "level": level(c.severity) },
                })
            })
            .collect();
        let results: Vec<Value> = self.findings.iter().map(|f| self.result(f)).collect();
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "weir sonic check", "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "results": results,
            }],
        })
    }

    fn result(&self, f: &Finding) -> Value {
        let index = CODES.iter().position(|c: &&Code| c.code == f.code.code);
        json!({
            "ruleId": f.code.code,
            "ruleIndex": index,
            "level": f.severity().name(),
            "message": { "text": f.message },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": { "uri": uri(self.file(f.file)) },
                    "region": { "startLine": self.line(f).max(1) },
                },
                "logicalLocations": [{ "fullyQualifiedName": f.pointer }],
            }],
        })
    }
}

/// A file as SARIF names it: a relative reference, or a `file:` URI where the path is absolute.
/// What is not allowed in a URI, or would be read as a scheme, is percent-encoded.
fn uri(file: &str) -> String {
    let file = if cfg!(windows) { file.replace('\\', "/") } else { file.to_owned() };
    let mut out = String::new();
    if file.starts_with('/') {
        out.push_str("file://");
    }
    for byte in file.strip_prefix("./").unwrap_or(&file).bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

fn plural_switches(n: u64) -> String {
    if n == 1 { "1 switch".into() } else { format!("{n} switches") }
}
