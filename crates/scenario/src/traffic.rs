//! `[[traffic]]`: a pattern of the catalogue and its parameters.
//!
//! Scenario files say `from` and `to` whatever the pattern, and join words by `-`.

use super::args::{self, Arg};
use super::fields::Fields;
use super::keys;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_core::Priority;
use weir_net::{Topology, nearest};
use weir_traffic::params::{Entry, Params};
use weir_traffic::{TrafficError, catalogue};

/// What one `[[traffic]]` says.
#[derive(Clone, Debug)]
pub struct TrafficSpec {
    /// The pattern.
    pub entry: &'static Entry,
    /// Its parameters.
    pub args: Vec<Arg>,
    /// Where the kind was written.
    pub at: Option<Span>,
}

/// How scenario files call a parameter of a pattern.
pub fn shown(param: &str) -> String {
    match param {
        "src" | "senders" => "from".into(),
        "dst" | "receivers" => "to".into(),
        other => other.replace('_', "-"),
    }
}

/// Reads one table.
pub fn read(item: &Item, out: &mut Diagnostics) -> Option<TrafficSpec> {
    let section = &keys::TRAFFIC;
    let mut f = Fields::open(section.header(), section.keys, Some(item), out);
    let kind = f.required_text("kind")?;
    let Some(entry) = catalogue::entries().find(|e| e.name == kind.value) else {
        let names: Vec<&str> = catalogue::entries().map(|e| e.name).collect();
        let error = Diagnostic::error(format!("there is no traffic pattern `{}`", kind.value))
            .maybe_at(kind.span, "")
            .nearest(nearest(&kind.value, names.iter().copied()));
        f.out.push(error.help(format!("the patterns are {}", names.join(", "))));
        return None;
    };
    let known: Vec<String> = entry.params().map(|p| shown(p.name)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let header = format!("[[traffic]] kind = \"{}\"", entry.name);
    let args = args::read(f.rest(), &header, &known, f.out);
    Some(TrafficSpec { entry, args, at: kind.span })
}

impl TrafficSpec {
    /// Whether sizes of flows are drawn from a table.
    pub fn from_table(&self) -> bool {
        let arg = self.args.iter().find(|a| a.name == "size");
        let text = arg.map_or_else(String::new, Arg::joined);
        let text = text.trim();
        let number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        text.ends_with(".cdf") || !(text.is_empty() || text == "unlimited" || number)
    }

    /// The parameters by the names the pattern knows. Traffic that does not say has `priority`.
    pub fn params(&self, priority: Priority) -> Params {
        let mut params = Params::new();
        for param in self.entry.params() {
            let shown = shown(param.name);
            match self.args.iter().find(|a| a.name == shown) {
                Some(arg) => {
                    let values = arg.values.iter().map(|v| v.value.as_str());
                    params = params.with_list(param.name, values);
                }
                None if param.name == "priority" => params = params.with("priority", priority),
                None => {}
            }
        }
        params
    }

    /// What the pattern found wrong, at the place it is about.
    pub fn at_fault(&self, error: &TrafficError, topology: &Topology) -> Diagnostic {
        let host = |node: weir_core::NodeId| topology.name(node);
        let title = match error {
            TrafficError::ToItself { host: node } => {
                let name = host(*node);
                format!("a flow from `{name}` to itself: source and destination must differ")
            }
            TrafficError::NotAHost { parameter, node } => {
                let name = host(*node);
                format!(
                    "`{parameter}` names `{name}`, which is a switch: only hosts send and receive"
                )
            }
            TrafficError::Twice { parameter, node } => {
                format!("`{parameter}` lists `{}` twice: name each host once", host(*node))
            }
            other => other.to_string(),
        };
        let mut title = title;
        for param in self.entry.params() {
            let shown = shown(param.name);
            title = title.replace(&format!("`{}`", param.name), &format!("`{shown}`"));
        }
        let wanted = match error {
            TrafficError::ToItself { .. } => Some("to".to_owned()),
            other => other.parameter().map(shown),
        };
        let arg = wanted.and_then(|name| self.args.iter().find(|a| a.name == name));
        let diagnostic = Diagnostic::error(title);
        match (arg, error) {
            (Some(arg), TrafficError::UnknownName { name, .. }) => {
                diagnostic.at(arg.span_of(name), "")
            }
            (Some(arg), _) => diagnostic.at(arg.span, ""),
            (None, _) => diagnostic.maybe_at(self.at, ""),
        }
    }

    /// Where a parameter was written, or the kind.
    pub fn place(&self, name: &str) -> Option<Span> {
        self.args.iter().find(|a| a.name == name).map(|a| a.span).or(self.at)
    }
}
