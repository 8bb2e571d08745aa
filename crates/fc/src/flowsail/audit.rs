//! FlowSail's invariants.

use super::INFO;
use super::egress::{Egress, Flow, Queue};
use crate::{Network, NodeView, Violation};

fn fail(port: u16, what: String) -> Result<(), Violation> {
    Err(Violation { scheme: INFO.name, what: format!("port {port}: {what}") })
}

/// Checks the tables of a port against each other and against the node's books.
pub(super) fn audit(e: &Egress, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
    let port = e.port.0;
    let mut queues = vec![Queue::default(); e.queues.len()];
    let mut bytes = vec![0; e.queues.len()];
    for (_, key, f) in e.flows.iter() {
        tally(e, f, &mut queues, &mut bytes);
        if let Some(what) = contradiction(f) {
            return fail(port, format!("flow {key:#x} {what}: {f:?}"));
        }
        if network.is_drained() && !at_rest(f) {
            return fail(port, format!("flow {key:#x} is left after a drain: {f:?}"));
        }
    }
    let count = |of: fn(&Flow) -> bool| e.flows.iter().filter(|(_, _, f)| of(f)).count() as u32;
    let counted = (count(|f| f.bytes > 0), count(|f| f.congested.is_some()));
    if (e.normal, e.isolated) != counted {
        let what =
            format!("tables count {:?} flows, there are {counted:?}", (e.normal, e.isolated));
        return fail(port, what);
    }
    for (i, queue) in e.queues.iter().enumerate() {
        let book = v.queue(e.port, e.queue_id(i as u32));
        if book.bytes.get() != bytes[i] {
            let what = format!("queue {i} holds {} B, its flows {} B", book.bytes.get(), bytes[i]);
            return fail(port, what);
        }
        // literal readings lose count on purpose
        if e.reading.keeps_count() && *queue != queues[i] {
            return fail(port, format!("queue {i} counts {queue:?}, its flows {:?}", queues[i]));
        }
        if queue.holds > 0 && !book.held {
            return fail(port, format!("queue {i} should be held"));
        }
    }
    Ok(())
}

fn tally(e: &Egress, f: &Flow, queues: &mut [Queue], bytes: &mut [u64]) {
    let isolation = e.isolation() as usize;
    let normal = f.queue as usize;
    queues[normal].flows += u32::from(f.bytes > 0);
    bytes[normal] += f.bytes;
    queues[isolation].holds += i32::from(f.waiting);
    if let Some(c) = &f.congested {
        queues[isolation].flows += u32::from(c.bytes > 0);
        bytes[isolation] += c.bytes;
        queues[isolation].holds += i32::from(!c.paused.is_empty());
        queues[normal].holds += i32::from(c.holds_normal);
    }
}

/// What cannot be, whatever came before.
fn contradiction(f: &Flow) -> Option<&'static str> {
    if f.upstream.is_paused() && f.pauses() == 0 {
        return Some("is paused upstream without a reason");
    }
    let packets = f.bytes + f.congested.as_ref().map_or(0, |c| c.bytes);
    (packets == 0 && f.pauses() > 0).then_some("counts packets it does not have")
}

/// Nothing is left but an entry that its release timer will take.
fn at_rest(f: &Flow) -> bool {
    let released = |c: &super::egress::Congested| c.bytes == 0 && c.paused.is_empty() && c.armed;
    f.bytes == 0
        && f.marks == 0
        && !f.waiting
        && f.pauses() == 0
        && f.congested.as_deref().is_none_or(released)
}
