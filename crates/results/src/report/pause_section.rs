//! Pause trees (which port paused which, and why) as nested lists.
//!
//! Long lists are folded; a field above them shows the lines with a name only.

use crate::findings::{PauseNode, PauseTree};
use crate::run::Run;
use weir_core::Time;
use weir_core::markup::Html;
use weir_core::{format, html};
use weir_scenario::experiment::Experiment;

/// Lists with more lines than this are folded.
const MOST_OPEN: usize = 12;

/// More lines than this do not stand in a page.
const MOST_LINES: usize = 3000;

/// The pause trees of a run.
pub(super) fn tree(e: &Experiment, run: &Run) -> Html {
    const OPEN_TREES: usize = 3;
    let trees = run.pause_trees(e);
    if trees.is_empty() {
        return html!("<p>No pauses under {}{}.</p>", run.label, e.window.label());
    }
    let mut room = MOST_LINES;
    let items: Vec<Html> =
        trees.iter().map_while(|tree| (room > 0).then(|| one_tree(e, tree, &mut room))).collect();
    let (open, folded) = items.split_at(items.len().min(OPEN_TREES));
    let mut out = Html::default();
    if items.len() > OPEN_TREES || MOST_LINES - room > MOST_OPEN {
        out.push(&html!(
            "<label class=\"filter\">only lines with <input type=\"search\" placeholder=\"a switch \
             or host\"></label>"
        ));
    }
    let mut lines: Html = open.iter().cloned().collect();
    if !folded.is_empty() {
        let more = format::plural(folded.len() as u64, "more root");
        lines.push(&fold(&format!("{more} with shorter pauses"), folded));
    }
    out.push(&html!("<ul class=\"tree\">{}</ul>", lines));
    if items.len() < trees.len() {
        let more = format::plural((trees.len() - items.len()) as u64, "more root");
        out.push(&html!("<p class=\"soft\">{} in pause-edges.csv.</p>", more));
    }
    html!("<div class=\"trees\">{}</div>", out)
}

/// Lines of a list that are shown on demand.
fn fold(summary: &str, items: &[Html]) -> Html {
    html!(
        "<li class=\"fold\"><details><summary>{}</summary><ul>{}</ul></details></li>",
        summary,
        items.iter().cloned().collect::<Html>()
    )
}

fn one_tree(e: &Experiment, tree: &PauseTree, room: &mut usize) -> Html {
    let root = match tree.root {
        Some(port) => {
            html!("<span class=\"root\">{}</span> was congested", port.name(&e.topology))
        }
        None => html!("pauses whose cause is not known"),
    };
    *room = room.saturating_sub(1);
    let pauses = nodes(e, &tree.pauses, room);
    html!("<li>{}<ul>{}</ul>{}</li>", root, pauses, victims(e, tree))
}

/// The pauses of one level, those that spread and the longest first.
fn nodes(e: &Experiment, all: &[PauseNode], room: &mut usize) -> Html {
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
    let mut out: Html = open.iter().cloned().collect();
    if !folded.is_empty() {
        out.push(&fold(&total(&shown[open.len()..]), folded));
    }
    if !beyond.is_empty() {
        out.push(&html!("<li class=\"soft\">{}</li>", total(beyond)));
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

fn line(e: &Experiment, node: &PauseNode, room: &mut usize) -> Html {
    let (by, held) = (e.topology.name(node.by.node), e.topology.name(node.held.node));
    let children = match node.children.is_empty() {
        true => Html::default(),
        false => html!("<ul>{}</ul>", nodes(e, &node.children, room)),
    };
    // a pause that was over before the window may have caused others that were not
    let extent = match node.count {
        0 => "before the window".to_owned(),
        n => format!(
            "{} for {} in all, first at {}{}",
            format::times(n),
            format::time(node.time),
            format::time(node.first),
            why(node)
        ),
    };
    html!(
        "<li>{} paused <b>{}</b> <span class=\"soft\">{}</span>{}</li>",
        by,
        held,
        extent,
        children
    )
}

fn victims(e: &Experiment, tree: &PauseTree) -> Html {
    const MOST: usize = 8;
    if tree.victims.is_empty() {
        return Html::default();
    }
    let mut names = Html::default();
    for (i, v) in tree.victims.iter().take(MOST).enumerate() {
        names.push(&html!(
            "{}<b>{}</b> ({} to {}, {})",
            if i > 0 { ", " } else { "" },
            e.classes()[v.class.index()],
            e.topology.name(v.src),
            e.topology.name(v.dst),
            format::time(v.held)
        ));
    }
    let more = match tree.victims.len().saturating_sub(MOST) {
        0 => String::new(),
        n => format!(" and {n} more in victims.csv"),
    };
    html!("<p>Victims, held although their path does not include that port: {}{}.</p>", names, more)
}
