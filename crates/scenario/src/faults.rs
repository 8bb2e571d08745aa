//! `[[fault]]`: control frames that are lost, late or effective twice.

use crate::fields::{At, Fields, Or, short};
use crate::keys;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_core::{LinkId, NodeId, Ratio, Time};
use weir_net::Topology;
use weir_sim::config::{ControlFault, FaultKind, FaultPick, MessageKind};

/// A fault by the names of the nodes at its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// The ends of the link; `None` for all links.
    pub ends: Option<[At<String>; 2]>,
    /// The end that the frames are sent to; `None` for both.
    pub towards: Option<At<String>>,
    /// Which frames.
    pub message: At<MessageKind>,
    /// What happens to them.
    pub what: FaultKind,
    /// To which of them.
    pub which: FaultPick,
    /// From when on.
    pub from: At<Time>,
    /// Until when.
    pub until: Option<Time>,
    /// Where it was written.
    pub at: Option<Span>,
}

/// Reads a `[[fault]]`.
pub(crate) fn read(item: &Item, out: &mut Diagnostics) -> Option<FaultSpec> {
    let mut f = Fields::new(&keys::FAULT, Some(item), out);
    if !f.given("link") {
        f.missing("link");
    }
    let at = f.item("link").map(|item| item.span);
    let ends = ends(&mut f, at);
    let towards = f.text("towards");
    let message = f.one_of("message", MessageKind::WORDS);
    let (what, which) = (what(&mut f), which(&mut f));
    let (from, until) = (f.time("from"), f.time_or_word("until"));
    let until = match until.value {
        Or::Is(end) if end <= from.value => {
            let error = Diagnostic::error("`until` must be later than `from`");
            f.out.push(error.maybe_at(until.span, format!("it begins at {}", from.value)));
            return None;
        }
        Or::Is(end) => Some(end),
        Or::Word(_) => None,
    };
    Some(FaultSpec { ends: ends?, towards, message, what: what?, which: which?, from, until, at })
}

/// The ends of the link, or all links; nothing if it is neither.
#[expect(clippy::option_option, reason = "wrong, all links, or two ends")]
fn ends(f: &mut Fields<'_>, at: Option<Span>) -> Option<Option<[At<String>; 2]>> {
    let names = f.names("link")?;
    match <[_; 2]>::try_from(names) {
        Ok(ends) => Some(Some(ends)),
        Err(names) if matches!(names.as_slice(), [one] if one.value == "all") => Some(None),
        Err(_) => {
            let error = Diagnostic::error("`link` names the two nodes that it joins, or `all`");
            f.out.push(error.maybe_at(at, "such as `[\"leaf0\", \"spine1\"]` or `\"all\"`"));
            None
        }
    }
}

/// What happens, of how much later.
type Happens = fn(Time) -> FaultKind;

fn what(f: &mut Fields<'_>) -> Option<FaultKind> {
    let meanings: [(&str, Happens); 3] = [
        ("drop", |_| FaultKind::Drop),
        ("delay", FaultKind::Delay),
        ("duplicate", FaultKind::Duplicate),
    ];
    let (what, by) = (f.one_of("what", meanings), f.optional_time("by"));
    if by.is_none() && f.given("by") {
        return None;
    }
    let by = by.unwrap_or(At { value: Time::ZERO, span: None });
    short(f, "by", &by);
    let mut wrong = |title: &str, label: &str| {
        let error = Diagnostic::error(title).maybe_at(by.span.or(what.span), label);
        f.out.push(error);
        None
    };
    match (what.value)(by.value) {
        FaultKind::Delay(Time::ZERO) => {
            wrong("a delayed frame needs `by`, above zero", "write `by = \"10us\"`, for example")
        }
        FaultKind::Drop if by.value > Time::ZERO => {
            wrong("a frame that is dropped has no `by`", "only `delay` and `duplicate` do")
        }
        kind => Some(kind),
    }
}

fn which(f: &mut Fields<'_>) -> Option<FaultPick> {
    let share: Option<At<Ratio>> = f.optional_fraction("share");
    let nth = f.optional_whole("nth");
    match (nth, share) {
        (Some(nth), None) => Some(FaultPick::Nth(nth.value)),
        (None, Some(share)) if share.value.as_f64() > 1.0 => {
            let error = Diagnostic::error(format!("a share of {} is more than all", share.value));
            f.out.push(error.maybe_at(share.span, "`share` is from 0 to 1"));
            None
        }
        (None, Some(share)) => Some(FaultPick::Share(share.value)),
        (Some(nth), Some(share)) => {
            let error = Diagnostic::error("`nth` and `share` exclude each other");
            f.out.push(error.maybe_at(share.span.or(nth.span), "give one of them"));
            None
        }
        (None, None) => {
            if !f.given("share") && !f.given("nth") {
                let error = Diagnostic::error("`[[fault]]` needs `nth` or `share`: which frames");
                f.out.push(error.maybe_at(f.span, "").help("write nth = 1, or share = \"1%\""));
            }
            None
        }
    }
}

/// Finds the links of faults.
pub(crate) fn find(
    faults: &[FaultSpec],
    topology: &Topology,
    out: &mut Diagnostics,
) -> Vec<ControlFault> {
    let mut found = Vec::new();
    for fault in faults {
        let Some(links) = links_of(fault, topology, out) else { continue };
        let towards = match &fault.towards {
            None => None,
            Some(end) => match node(end, topology, out) {
                Some(node) => Some(node),
                None => continue,
            },
        };
        for link in links {
            let ends = [topology.link(link).a.0, topology.link(link).b.0];
            if towards.is_none_or(|node| ends.contains(&node)) {
                let FaultSpec { what, which, until, .. } = *fault;
                let (message, from) = (fault.message.value, fault.from.value);
                found.push(ControlFault { link, towards, message, what, which, from, until });
            } else if let (Some(end), Some([a, b])) = (&fault.towards, &fault.ends) {
                let title = format!("`{}` is not an end of the link", end.value);
                let label = format!("it joins `{}` and `{}`", a.value, b.value);
                out.push(Diagnostic::error(title).maybe_at(end.span, label));
            }
        }
    }
    found
}

fn node(name: &At<String>, topology: &Topology, out: &mut Diagnostics) -> Option<NodeId> {
    match topology.find(&name.value) {
        Ok(node) => Some(node),
        Err(error) => {
            out.push(Diagnostic::error(error.to_string()).maybe_at(name.span, ""));
            None
        }
    }
}

fn links_of(fault: &FaultSpec, topology: &Topology, out: &mut Diagnostics) -> Option<Vec<LinkId>> {
    let Some([a, b]) = &fault.ends else {
        return Some((0..topology.links().len()).map(LinkId::from_index).collect());
    };
    let (from, to) = (node(a, topology, out)?, node(b, topology, out)?);
    match topology.links_between(from, to) {
        Ok(links) => Some(links.to_vec()),
        Err(error) => {
            out.push(Diagnostic::error(error.to_string()).maybe_at(b.span, ""));
            None
        }
    }
}
