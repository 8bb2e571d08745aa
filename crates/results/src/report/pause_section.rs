//! Pause trees (which port paused which, and why) as nested lists.
//!
//! Long lists are folded; a field above them shows the lines with a name only.

use crate::findings::{PauseNode, PauseTree};
use crate::run::Run;
use weir_core::Time;
use weir_core::format;
use weir_core::markup::escape;
use weir_scenario::experiment::Experiment;

/// Lists with more lines than this are folded.
const MOST_OPEN: usize = 12;

/// More lines than this do not stand in a page.
const MOST_LINES: usize = 3000;

/// The pause trees of a run.
pub(super) fn tree(e: &Experiment, run: &Run) -> String {
    const OPEN_TREES: usize = 3;
    let trees = run.pause_trees(e);
    if trees.is_empty() {
        let title = escape(&run.label);
        return format!("<p>No pauses under {title}{}.</p>", e.window.label());
    }
    let mut room = MOST_LINES;
    let items: Vec<String> =
        trees.iter().map_while(|tree| (room > 0).then(|| one_tree(e, tree, &mut room))).collect();
    let (open, folded) = items.split_at(items.len().min(OPEN_TREES));
    let mut out = String::from("<div class=\"trees\">");
    if items.len() > OPEN_TREES || MOST_LINES - room > MOST_OPEN {
        out.push_str(
            "<label class=\"filter\">only lines with <input type=\"search\" placeholder=\"a switch \
             or host\"></label>",
        );
    }
    out.push_str(&format!("<ul class=\"tree\">{}", open.concat()));
    if !folded.is_empty() {
        let more = format::plural(folded.len() as u64, "more root");
        out.push_str(&fold(&format!("{more} with shorter pauses"), &folded.concat()));
    }
    out.push_str("</ul>");
    if items.len() < trees.len() {
        let more = format::plural((trees.len() - items.len()) as u64, "more root");
        out.push_str(&format!("<p class=\"soft\">{more} in pause-edges.csv.</p>"));
    }
    out.push_str("</div>");
    out
}

/// Lines of a list that are shown on demand.
fn fold(summary: &str, items: &str) -> String {
    format!(
        "<li class=\"fold\"><details><summary>{summary}</summary><ul>{items}</ul></details></li>"
    )
}

fn one_tree(e: &Experiment, tree: &PauseTree, room: &mut usize) -> String {
    let root = match tree.root {
        Some(port) => {
            format!("<span class=\"root\">{}</span> was congested", escape(&port.name(&e.topology)))
        }
        None => "pauses whose cause is not known".into(),
    };
    *room = room.saturating_sub(1);
    let pauses = nodes(e, &tree.pauses, room);
    format!("<li>{root}<ul>{pauses}</ul>{}</li>", victims(e, tree))
}

/// The pauses of one level, those that spread and the longest first.
fn nodes(e: &Experiment, all: &[PauseNode], room: &mut usize) -> String {
    let mut sorted: Vec<&PauseNode> = all.iter().collect();
    sorted.sort_by_key(|n| (std::cmp::Reverse((n.children.len().min(1), n.time)), n.by));
    let total = |rest: &[&PauseNode]| {
        let sum: Time = rest.iter().map(|n| n.time).fold(Time::ZERO, Time::saturating_add);
        format!("{}, {} in all", format::plural(rest.len() as u64, "other"), format::time(sum))
    };
    let mut lines = Vec::new();
    for node in &sorted {
        if *room == 0 {
            break;
        }
        *room -= 1;
        lines.push(line(e, node, room));
    }
    let (shown, beyond) = sorted.split_at(lines.len());
    let (open, folded) = lines.split_at(lines.len().min(MOST_OPEN));
    let mut out = open.concat();
    if !folded.is_empty() {
        out.push_str(&fold(&total(&shown[open.len()..]), &folded.concat()));
    }
    if !beyond.is_empty() {
        out.push_str(&format!("<li class=\"soft\">{}</li>", total(beyond)));
    }
    out
}

/// Why the pauses of a line were sent.
fn why(node: &PauseNode) -> String {
    match node.main_reason() {
        Some((reason, true)) => format!(", mostly for {reason}"),
        Some((reason, false)) => format!(", for {reason}"),
        None => String::new(),
    }
}

fn line(e: &Experiment, node: &PauseNode, room: &mut usize) -> String {
    let (by, held) = (e.topology.name(node.by.node), e.topology.name(node.held.node));
    let children = match node.children.is_empty() {
        true => String::new(),
        false => format!("<ul>{}</ul>", nodes(e, &node.children, room)),
    };
    // a pause that was over before the window may have caused others that were not
    let extent = match node.count {
        0 => "before the window".to_owned(),
        n => format!(
            "{} for {} in all, first at {}{}",
            format::times(n),
            format::time(node.time),
            format::time(node.first),
            escape(&why(node))
        ),
    };
    format!(
        "<li>{} paused <b>{}</b> <span class=\"soft\">{extent}</span>{children}</li>",
        escape(by),
        escape(held),
    )
}

fn victims(e: &Experiment, tree: &PauseTree) -> String {
    const MOST: usize = 8;
    if tree.victims.is_empty() {
        return String::new();
    }
    let mut out = String::from("<p>Victims, held although their path does not include that port: ");
    let names: Vec<String> = tree
        .victims
        .iter()
        .take(MOST)
        .map(|v| {
            format!(
                "<b>{}</b> ({} to {}, {})",
                escape(&e.classes()[v.class.index()]),
                escape(e.topology.name(v.src)),
                escape(e.topology.name(v.dst)),
                format::time(v.held)
            )
        })
        .collect();
    out.push_str(&names.join(", "));
    if tree.victims.len() > MOST {
        out.push_str(&format!(" and {} more in victims.csv", tree.victims.len() - MOST));
    }
    out.push_str(".</p>");
    out
}
