//! `[topology]`: a ready-made fabric by name, or an explicit graph.

use super::Files;
use super::args::{self, Arg};
use super::fields::{At, Fields};
use super::keys;
use super::lengths;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_core::{Length, Rate, Time};
use weir_net::build::{TOPOLOGIES, TopologyInfo, explicit};
use weir_net::{Layer, Node, NodeKind, Topology, TopologyError, nearest};

/// What `[topology]` says.
#[derive(Clone, Debug)]
pub enum TopologySpec {
    /// One of the catalogue.
    Named {
        /// Which.
        info: &'static TopologyInfo,
        /// Its parameters.
        args: Vec<Arg>,
        /// Where the kind was written.
        at: Option<Span>,
    },
    /// Lists of nodes and links.
    Explicit {
        /// The graph.
        graph: explicit::Params,
        /// Where it was written.
        at: Option<Span>,
        /// Each link with its place.
        links: Vec<At<String>>,
    },
}

/// Reads the section; `None` when there is nothing to build.
pub(crate) fn read(
    item: Option<&Item>,
    files: &Files,
    out: &mut Diagnostics,
) -> Option<TopologySpec> {
    let names: Vec<&str> = TOPOLOGIES.iter().map(|i| i.name).chain(["explicit"]).collect();
    if item.is_none() {
        let error = Diagnostic::error("the scenario has no `[topology]`");
        out.push(error.help(format!("add [topology] with `kind`, one of {}", names.join(", "))));
        return None;
    }
    let section = &keys::TOPOLOGY;
    let mut f = Fields::open(section.header(), section.keys, item, out);
    let kind = f.required_text("kind")?;
    if kind.value == "explicit" {
        return read_explicit(item, files, out);
    }
    let Some(info) = TOPOLOGIES.iter().find(|i| i.name == kind.value) else {
        let error = Diagnostic::error(format!("there is no topology `{}`", kind.value))
            .maybe_at(kind.span, "")
            .nearest(nearest(&kind.value, names.iter().copied()));
        f.out.push(error.help(format!("the topologies are {}", names.join(", "))));
        return None;
    };
    let header = format!("[topology] kind = \"{}\"", info.name);
    let known = lengths::keys(info);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let per_metre = lengths::per_metre(&mut f);
    let args = args::read(f.rest(), &header, &known, f.out);
    let args = lengths::to_delays(args, &per_metre, f.out);
    Some(TopologySpec::Named { info, args, at: kind.span })
}

impl TopologySpec {
    /// Where it was written.
    pub fn at(&self) -> Option<Span> {
        match self {
            Self::Named { at, .. } | Self::Explicit { at, .. } => *at,
        }
    }

    /// Builds it, or says what cannot be.
    pub fn build(&self) -> Result<Topology, Diagnostic> {
        match self {
            Self::Named { info, args, at } => {
                let texts: Vec<(&str, String)> =
                    args.iter().map(|a| (a.name.as_str(), a.joined())).collect();
                let texts: Vec<(&str, &str)> =
                    texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
                (info.build)(&texts).map_err(|error| at_fault(&error, args, *at))
            }
            Self::Explicit { graph, at, links } => {
                explicit::build(graph).map_err(|error| graph_fault(&error, links, *at))
            }
        }
    }
}

fn at_fault(error: &TopologyError, args: &[Arg], kind: Option<Span>) -> Diagnostic {
    let find = |name: &str| args.iter().find(|a| a.name == name.replace('_', "-"));
    let arg = match error {
        TopologyError::Unreadable { name, .. } | TopologyError::Parameter { name, .. } => {
            find(name)
        }
        // `delay`, `trunk-delay`: whichever is written as the value complained about
        TopologyError::LinkValue { what, value, .. } => args.iter().find(|a| {
            let text = a.joined();
            let shown = match *what {
                "rate" => text.parse::<Rate>().map(|r| r.to_string()),
                _ => text.parse::<Time>().map(|t| t.to_string()),
            };
            a.name.ends_with(what) && shown.as_ref() == Ok(value)
        }),
        TopologyError::UnknownNode { .. } | TopologyError::NoSuchLink { .. } => find("failed"),
        _ => None,
    };
    let diagnostic = Diagnostic::error(error.to_string());
    match arg {
        Some(arg) => diagnostic.at(arg.span, ""),
        None => diagnostic.maybe_at(kind, ""),
    }
}

fn graph_fault(error: &TopologyError, links: &[At<String>], at: Option<Span>) -> Diagnostic {
    let ends = match error {
        TopologyError::LinkValue { a, b, .. } => vec![a, b],
        TopologyError::SelfLink { node } => vec![node],
        TopologyError::UnknownNode { name, .. } => vec![name],
        TopologyError::NoSuchLink { a, b, .. } => vec![a, b],
        _ => Vec::new(),
    };
    let names = |link: &At<String>| {
        let words: Vec<&str> = link.value.split_whitespace().collect();
        !ends.is_empty() && ends.iter().all(|end| words.contains(&end.as_str()))
    };
    let link = links.iter().find(|link| names(link)).and_then(|link| link.span);
    Diagnostic::error(error.to_string()).maybe_at(link.or(at), "")
}

fn read_explicit(
    item: Option<&Item>,
    files: &Files,
    out: &mut Diagnostics,
) -> Option<TopologySpec> {
    let header = "[topology] kind = \"explicit\"".to_owned();
    let mut f = Fields::open(header.clone(), keys::EXPLICIT, item, out);
    let names: Vec<&str> = keys::EXPLICIT.iter().map(|k| k.name).collect();
    for (name, span, _) in f.rest().filter(|(name, ..)| name != "kind") {
        f.out.push(super::fields::unknown_key(name, *span, &header, &names));
    }
    let at = f.span;
    let per_metre = lengths::per_metre(&mut f);
    if let Some(file) = f.text("file") {
        let text = match files.read(&file.value) {
            Ok(text) => text,
            Err(why) => {
                f.out.push(Diagnostic::error(why).maybe_at(file.span, ""));
                return None;
            }
        };
        return match explicit::read_at(&text, per_metre.value) {
            Ok(graph) => Some(TopologySpec::Explicit { graph, at: file.span, links: Vec::new() }),
            Err(error) => {
                let title = format!("{}: {error}", file.value);
                f.out.push(Diagnostic::error(title).maybe_at(file.span, ""));
                None
            }
        };
    }
    let mut graph = explicit::Params::default();
    for (key, kind) in [("hosts", NodeKind::Host), ("switches", NodeKind::Switch)] {
        for name in f.names(key).unwrap_or_default() {
            let name = name.value;
            graph.nodes.push(Node { name, kind, layer: Layer::Other, group: 0 });
        }
    }
    let links = f.names("links").unwrap_or_default();
    let defaults = Defaults {
        rate: unit::<Rate>(&mut f, "rate"),
        delay: default_delay(&mut f, per_metre.value),
        per_metre: per_metre.value,
    };
    for link in &links {
        graph.links.push(read_link(link, defaults, f.out)?);
    }
    let lengths = links.iter().filter(|link| link.value.trim_end().ends_with('m'));
    if lengths.count() == 0 && !f.given("length") {
        lengths::unused(&per_metre, f.out);
    }
    graph.failed = failed(&mut f);
    for port in f.names("ports").unwrap_or_default() {
        let words: Vec<&str> = port.value.split_whitespace().collect();
        let [name, node, towards] = words[..] else {
            let error = Diagnostic::error("a port is written as `\"P_d Sc h9\"`");
            f.out.push(error.maybe_at(port.span, "name, switch, neighbour"));
            continue;
        };
        graph.ports.push((name.to_owned(), node.to_owned(), towards.to_owned()));
    }
    Some(TopologySpec::Explicit { graph, at, links })
}

fn unit<T: std::str::FromStr<Err: std::fmt::Display>>(f: &mut Fields<'_>, key: &str) -> Option<T> {
    let text = f.text(key)?;
    text.value
        .parse()
        .map_err(|error| {
            f.out.push(Diagnostic::error(format!("`{key}`: {error}")).maybe_at(text.span, ""));
        })
        .ok()
}

/// What links have that do not say.
#[derive(Clone, Copy)]
struct Defaults {
    rate: Option<Rate>,
    delay: Option<Time>,
    per_metre: Time,
}

/// `delay`, or `length` in its place.
fn default_delay(f: &mut Fields<'_>, per_metre: Time) -> Option<Time> {
    if let (true, Some(item)) = (f.given("delay"), f.item("length")) {
        let error = Diagnostic::error("a link has a `length` or a `delay`, not both");
        f.out.push(error.at(item.span, "remove one of the two"));
    }
    let length = unit::<Length>(f, "length").map(|length| length.delay(per_metre));
    unit::<Time>(f, "delay").or(length)
}

/// `failed`: links by their ends.
fn failed(f: &mut Fields<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for link in f.names("failed").unwrap_or_default() {
        let words: Vec<&str> = link.value.split_whitespace().collect();
        match words[..] {
            [a, b] => found.push((a.to_owned(), b.to_owned())),
            _ => {
                let title = format!("`{}` does not name a link", link.value);
                let error = Diagnostic::error(title).maybe_at(link.span, "");
                f.out.push(error.help("a link is named by its two ends, such as `\"s0 s1\"`"));
            }
        }
    }
    found
}

fn read_link(
    link: &At<String>,
    Defaults { rate, delay, per_metre }: Defaults,
    out: &mut Diagnostics,
) -> Option<explicit::LinkSpec> {
    let words: Vec<&str> = link.value.split_whitespace().collect();
    let mut fail = |title: String| {
        let error = Diagnostic::error(title).maybe_at(link.span, "");
        out.push(error.help("a link is written as `\"h0 s0\"` or `\"s0 s1 400Gbps 1us\"`"));
        None
    };
    let (a, b, rest) = match words[..] {
        [a, b, ref rest @ ..] if rest.len() <= 2 => (a, b, rest),
        _ => return fail("a link has two ends and optionally a rate and a delay".into()),
    };
    let rate = match (rest.first().map(|text| text.parse()), rate) {
        (Some(Ok(rate)), _) | (None, Some(rate)) => rate,
        (Some(Err(error)), _) => return fail(error.to_string()),
        (None, None) => return fail("this link has no rate, and there is no `rate`".into()),
    };
    let delay = match (rest.get(1).map(|text| explicit::cable(text, per_metre)), delay) {
        (Some(Ok(delay)), _) | (None, Some(delay)) => delay,
        (Some(Err(error)), _) => return fail(error),
        (None, None) => return fail("this link has no delay, and there is no `delay`".into()),
    };
    Some(explicit::LinkSpec { a: a.to_owned(), b: b.to_owned(), rate, delay })
}
