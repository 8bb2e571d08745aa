//! Whether a run delivered everything, or says why not.

use crate::common::try_run;
use crate::common::witness::heard;
use crate::draw::Case;
use crate::outages::cut_off;
use std::collections::BTreeMap;
use weir_cc::CcKind;
use weir_core::{Bytes, NodeId, PortId, Time};
use weir_fc::OnFull;
use weir_sim::config::Reliability;
use weir_sim::outcome::{FlowBlame, FlowRecord, Stuck, Wait, Waited};
use weir_sim::{Finish, Outcome, SimError};
use weir_traffic::FlowSpec;

/// Nothing is missing.
pub(crate) const DELIVERED: &str = "all delivered";

/// A frame that was lost or late is the reason, and the run says which.
pub(crate) const LOST_FRAME: &str = "stalled: a control frame was lost or late, and is named";

/// Runs a case: how it ended, or what is wrong with it.
pub(crate) fn judge(case: &Case) -> Result<&'static str, String> {
    let out = match try_run(&case.topology, &case.flows, &case.config) {
        Ok(out) => out,
        Err(SimError::Scheme { .. }) => return Ok("refused by the scheme: settings do not fit"),
        Err(error) => return Err(error.to_string()),
    };
    bounds(case, &out)?;
    match &out.finish {
        Finish::Drained => drained(case, &out),
        Finish::Stalled(stuck) => stalled(case, &out, stuck),
        Finish::Deadlock(d) if case.circular && !d.cycle.is_empty() => {
            Ok("deadlock: a circle of queues on a ring")
        }
        Finish::Deadlock(d) if stops(case) && !d.cycle.is_empty() => {
            Ok("deadlock: processors that stop for each other")
        }
        // its rates have a floor: what would be a circle of held queues moves, but hardly
        Finish::TimeLimit if stops(case) && case.config.scheme.info.name == "gfc" => {
            Ok("processors that stop for each other at GFC's lowest rate")
        }
        Finish::TimeLimit if cut_off_flows(case, &out) => {
            Ok("time limit: a link that has failed for good cuts flows off, and timers go on")
        }
        // nothing else would happen, but DCQCN raises rates by timers until the time is over
        Finish::TimeLimit if open(case, &out).iter().all(|f| nothing_repairs(case, f)) => {
            Ok("time limit: a packet was lost, there is no timeout, and rates go on to grow")
        }
        // Swift sends one packet in 1000 round trips when it has seen several timeouts in a row
        // (`min-cwnd`), and under selective repeat the timer goes on while that packet waits for
        // its pace: such a flow goes on, but may need more than the time that a run has here.
        Finish::TimeLimit if all_at_swifts_least(case, &out) => {
            Ok("time limit: Swift's smallest window, after timeouts without an answer")
        }
        // a limit is no standstill
        Finish::TimeLimit if case.config.scheme.info.name == "gfc" && !out.faulted.is_empty() => {
            Ok("time limit: a frame that raises GFC's rate again was lost or late, and is named")
        }
        // the watchdog discards what is sent again into a queue that a lost RESUME holds for good
        Finish::TimeLimit if out.totals.watchdog_storms > 0 && !out.faulted.is_empty() => Ok(
            "time limit: a RESUME was lost and is named, and the watchdog discards what it holds",
        ),
        finish => Err(format!("{finish:?}, {:?}, open: {:?}", out.totals, open(case, &out))),
    }
}

/// Whether a flow has sent something that has not arrived and is not given up.
fn unfinished(case: &Case, f: &FlowRecord) -> bool {
    let first_time = (f.packets - f.retransmitted()) * case.config.nic.payload.get();
    match (spec_of(case, f).rate, f.size) {
        (Some(_), _) => false,
        (None, Bytes::MAX) => f.delivered.get() != first_time,
        (None, _) => f.acked().is_none(),
    }
}

/// The flows that have not finished.
fn open<'a>(case: &Case, out: &'a Outcome) -> Vec<&'a FlowRecord> {
    out.flows.iter().filter(|f| unfinished(case, f)).collect()
}

/// Whether flows have no path to their destinations in the end, and all others that have not
/// finished are excused.
fn cut_off_flows(case: &Case, out: &Outcome) -> bool {
    let gone = |f: &FlowRecord| f.finish().is_none() && cut_off(case, f.src(), f.dst);
    // the answers of a flow that is complete may have no path, either
    let unanswered = |f: &FlowRecord| f.acked().is_none() && cut_off(case, f.dst, f.src());
    let excused = |f: &FlowRecord| gone(f) || unanswered(f) || nothing_repairs(case, f);
    let mut left = open(case, out).into_iter();
    out.flows.iter().any(|f| gone(f) || unanswered(f)) && left.all(excused)
}

/// Whether all flows that are open are under Swift, have lost packets, and had more timeouts in a
/// row than reset its window; none of them is cut off.
fn all_at_swifts_least(case: &Case, out: &Outcome) -> bool {
    let slow = |f: &&FlowRecord| f.lost() + f.answers_lost() > 0 && f.timeouts() > 100;
    let repeats = case.config.nic.reliability == Reliability::SelectiveRepeat;
    repeats && case.config.cc.kind() == Some(CcKind::Swift) && open(case, out).iter().all(slow)
}

/// Whether a flow waits for something that was lost, or came too early, without a timer.
fn nothing_repairs(case: &Case, f: &FlowRecord) -> bool {
    let nic = &case.config.nic;
    let early = nic.reliability == Reliability::GoBackN && f.reordered() > 0;
    let harmed = f.lost() + f.answers_lost() > 0 || early;
    nic.timeout.is_none() && nic.reliability != Reliability::Tcp && harmed
}

/// A full egress queue stops everything at its switch: any link may close a circle.
fn stops(case: &Case) -> bool {
    case.config.switch.pipeline.is_some_and(|p| p.on_full == OnFull::Stop)
}

/// The spec of a flow by its identity: numbers go by start at each host.
fn spec_of<'a>(case: &'a Case, f: &FlowRecord) -> &'a FlowSpec {
    let mut own: Vec<&FlowSpec> = case.flows.iter().filter(|s| s.src == f.src()).collect();
    own.sort_by_key(|s| s.start);
    own[f.id.number() as usize]
}

fn drained(case: &Case, out: &Outcome) -> Result<&'static str, String> {
    let (mut lost, mut discarded) = (false, false);
    let payload = case.config.nic.payload.get();
    for f in &out.flows {
        let spec = spec_of(case, f);
        let first_time = f.packets - f.retransmitted();
        let whole = match (spec.rate, f.size) {
            (None, Bytes::MAX) => f.delivered.get() == first_time * payload && f.finish().is_none(),
            (None, size) => f.delivered == size && f.finish().is_some() && f.acked().is_some(),
            (Some(_), size) => {
                lost |= f.lost() > 0;
                discarded |= f.discarded() > 0;
                let complete = f.lost() == 0 && (f.discarded() == 0 || size == Bytes::MAX);
                let packets = f.delivered.get().div_ceil(payload);
                packets + f.lost() == f.packets && f.finish().is_some() == complete
            }
        };
        if !whole {
            return Err(format!("drained, and not whole: {f:?}"));
        }
    }
    Ok(match (lost, discarded) {
        (false, false) => DELIVERED,
        (true, _) => "all delivered but datagrams that were lost, and counted",
        (false, true) => "all delivered but what held sources discarded, and counted",
    })
}

/// A standstill needs a loss that nothing repairs, and has to name who waits.
fn stalled(case: &Case, out: &Outcome, stuck: &[Stuck]) -> Result<&'static str, String> {
    let waits = |what: &str| stuck.iter().any(|s| s.waits_for.contains(what));
    let lost_answers: u64 = out.flows.iter().map(|f| f.answers_lost()).sum();
    let lost_data: u64 = out.flows.iter().map(|f| f.lost()).sum();
    let t = &out.totals;
    if stuck.iter().any(|s| s.lost.is_some()) {
        return Ok(LOST_FRAME);
    }
    if waits("its link to come up") && !waits("RESUME") && cut_off_flows(case, out) {
        return Ok("stalled: a link that has failed for good cuts flows off");
    }
    if waits("acknowledgements")
        && case.config.nic.timeout.is_none()
        && case.config.nic.reliability != Reliability::Tcp
        && lost_data + lost_answers > 0
    {
        return Ok("stalled: a packet was lost, and there is no timeout");
    }
    let nic = &case.config.nic;
    if waits("acknowledgements")
        && nic.timeout.is_none()
        && nic.reliability == Reliability::GoBackN
        && !case.config.balance.keeps_order()
        && t.reordered > 0
    {
        return Ok("stalled: go-back-N threw away what came too early, and there is no timeout");
    }
    let list: Vec<&str> = stuck.iter().map(|s| s.waits_for.as_str()).collect();
    let open = open(case, out);
    let hit = &out.faulted;
    Err(format!("stalled without a reason, waiting: {list:?}, {t:?}, open: {open:?}, {hit:?}"))
}

/// Where the completion time of every flow went: all of it, and none of it twice.
fn blamed(case: &Case, out: &Outcome) -> Result<(), String> {
    let Some(blame) = &out.blame else { return Ok(()) };
    let done: Vec<_> = out.flows.iter().filter(|f| f.finish().is_some()).collect();
    if done.len() != blame.flows.len() {
        return Err(format!("blame of {} flows, {} are done", blame.flows.len(), done.len()));
    }
    for (f, b) in done.into_iter().zip(&blame.flows) {
        let sum: Time = b.waited.iter().map(|w| w.time).sum();
        if f.id != b.flow || Some(sum) != f.fct() {
            return Err(format!("{sum} of {:?} accounted for: {b:#?}", f.fct()));
        }
        let within = |w: &Waited| {
            let whole = w.time == w.to - w.from;
            w.from >= b.start
                && w.to <= b.end
                && w.time <= w.to - w.from
                && (w.wait != Wait::Held || whole)
        };
        if let Some(w) = b.waited.iter().find(|w| !within(w)) {
            return Err(format!("{w:?} of {b:?}"));
        }
        // the meter of a host stops when everything has been sent once
        if one_queue(case) && f.retransmitted() == 0 {
            not_held_longer(f, b)?;
        }
    }
    Ok(())
}

/// Whether a flow has all its packets in one queue of a port: the meter of its holds is exact then.
fn one_queue(case: &Case) -> bool {
    let scheme = case.config.scheme.info.name;
    ["pfc", "capfc", "ppfc", "gpfc", "gfc", "none"].contains(&scheme)
}

/// At no port does blame say that a flow was held for longer than the meter there does.
fn not_held_longer(f: &FlowRecord, b: &FlowBlame) -> Result<(), String> {
    let mut held: BTreeMap<(NodeId, PortId), Time> = BTreeMap::new();
    for w in b.waited.iter().filter(|w| w.wait == Wait::Held) {
        *held.entry((w.node, w.port)).or_default() += w.time;
    }
    for ((node, port), time) in held {
        let meter = f.held().iter().find(|h| (h.node, h.port) == (node, port)).map(|h| h.time);
        if meter.is_none_or(|meter| meter < time) {
            return Err(format!("held for {time} at {node} {port}, meter {meter:?}: {f:?} {b:?}"));
        }
    }
    Ok(())
}

/// What no network can exceed.
fn bounds(case: &Case, out: &Outcome) -> Result<(), String> {
    let drops: u64 = out.drops.iter().map(|d| d.packets).sum();
    let losses: u64 = out.flows.iter().map(|f| f.lost() + f.answers_lost()).sum();
    if drops != out.totals.dropped || losses != drops {
        return Err(format!("{drops} drops, {losses} losses of flows, {:?}", out.totals));
    }
    probed(case, out)?;
    blamed(case, out)?;
    recorded(case, out)?;
    let done = out.flows.iter().filter(|f| f.finish().is_some()).count() as u64;
    if done != out.totals.completed {
        return Err(format!("{done} flows are done, {:?}", out.totals));
    }
    let span = out.end.saturating_sub(case.config.probes.warm_up);
    for p in &out.ports {
        let held = p.held_time.iter().max().copied().unwrap_or_default();
        if !(0.0..=1.0).contains(&p.utilisation) || held > span {
            return Err(format!("within {span}: {p:?}"));
        }
    }
    for f in &out.flows {
        // what was sent again may be held after the flow is complete
        let whole = |t: Time| if f.retransmitted() == 0 { t } else { out.end };
        let life = f.finish().map_or(out.end, whole).max(f.acked().unwrap_or_default()) - f.start;
        if let Some(at) = f.held().iter().find(|at| at.time > life) {
            let end = &out.finish;
            return Err(format!("held for {} of {life} at {}: {f:?}, {end:?}", at.time, at.node));
        }
        // `ideal` is on one path, where a short last packet has to wait for the one before it
        let frame = if case.config.balance.keeps_order() { Time::ZERO } else { case.last_frame(f) };
        let least =
            if case.spreads_over_slow_trunks() { Some(case.on_first_link(f)) } else { f.ideal() };
        if f.fct().zip(least).is_some_and(|(fct, least)| fct + frame < least) {
            return Err(format!("faster than alone: {f:?}"));
        }
        if f.delivered > f.size {
            return Err(format!("more than there was: {f:?}"));
        }
    }
    Ok(())
}

/// What a recording must add up to.
fn recorded(case: &Case, out: &Outcome) -> Result<(), String> {
    let Some(recording) = &out.recording else { return Ok(()) };
    let mut ports: BTreeMap<_, (u64, u64, Time)> = BTreeMap::new();
    for s in recording.samples.iter() {
        let port = ports.entry((s.node, s.port)).or_default();
        *port = (port.0 + s.sent, port.1.max(s.queue.into()), port.2 + s.held);
    }
    for p in &out.ports {
        let (sent, longest, held) = ports.get(&(p.node, p.port)).copied().unwrap_or_default();
        let least = p.held_time.iter().max().copied().unwrap_or_default();
        let most = p.held_time.iter().copied().sum::<Time>();
        let warm = case.config.probes.warm_up > Time::ZERO;
        // queues that have just changed at the end have not lasted
        if !warm && (sent != p.wire_bytes.get() || longest < p.queue.max.get()) {
            return Err(format!("recorded {sent} B and queues of {longest} B: {p:?}"));
        }
        // a hold that stands at the end goes on in the last window, and is cut in the totals
        let stands = recording
            .holds
            .iter()
            .any(|h| (h.node, h.port) == (p.node, p.port) && h.to.is_none_or(|to| to >= out.end));
        if !warm && (held < least || held > most && !stands) {
            return Err(format!("recorded {held}: {p:?}"));
        }
    }
    for f in &out.flows {
        let own = recording.deliveries.iter().filter(|d| d.flow == f.id);
        if own.map(|d| d.bytes).sum::<u64>() < f.delivered.get() {
            return Err(format!("recorded less than was delivered: {f:?}"));
        }
    }
    match recording.holds.iter().find(|h| h.to.is_some_and(|to| to < h.from)) {
        Some(hold) => Err(format!("a hold that ends before it begins: {hold:?}")),
        None => Ok(()),
    }
}

/// What a probe that hears everything must have heard.
fn probed(case: &Case, out: &Outcome) -> Result<(), String> {
    let t = &out.totals;
    let sent: u64 = out.ports.iter().map(|p| p.packets).sum();
    if case.config.probes.capture.is_some() {
        let (going, coming): (Vec<_>, Vec<_>) = out.captured.iter().partition(|f| f.sent);
        let lost = coming.iter().filter(|f| f.lost.is_some()).count() as u64;
        let warm = case.config.probes.warm_up > Time::ZERO;
        let counts = (going.len() as u64, coming.len() as u64);
        if counts.1 != t.packet_hops || !warm && counts.0 != sent {
            return Err(format!("captured {counts:?} frames: {sent} were sent, {t:?}"));
        }
        if lost > t.dropped + t.control_dropped {
            return Err(format!("captured {lost} lost frames: {t:?}"));
        }
    }
    let Some(arrived) = heard(out, "arrived") else { return Ok(()) };
    let lost = t.dropped + t.control_dropped;
    let faulted: u64 = out.ports.iter().map(|p| p.control_faulted).sum();
    let twice = faulted < t.control_delayed.max(t.control_duplicated);
    if case.config.probes.warm_up == Time::ZERO && twice {
        return Err(format!("{faulted} faults at ports, {t:?}"));
    }
    if arrived != t.packet_hops || heard(out, "dropped") != Some(lost) {
        return Err(format!("{:?}, {t:?}", out.measurements));
    }
    if case.config.probes.warm_up == Time::ZERO && heard(out, "sent") != Some(sent) {
        return Err(format!("{sent} packets sent: {:?}", out.measurements));
    }
    Ok(())
}
