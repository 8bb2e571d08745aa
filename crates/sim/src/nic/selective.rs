//! Selective repeat (IRN): only what is missing is sent again.
//!
//! The state machines are those of [`weir_cc::reliability::selective_repeat`]; here they meet the
//! NIC. A sender's `una` and `nxt` follow its machine: the first packet not acknowledged and the
//! next new one. An answer says which packet it answers, in its side-pool entry, unless that is
//! the one before the packet it asks for.

use super::Nic;
use super::receive::Receiver;
use super::sender::{Machine, Sender};
use crate::config::{NicConfig, Reliability, WindowConfig};
use crate::env::Env;
use std::collections::VecDeque;
use weir_cc::Path;
use weir_cc::reliability::{Response, selective_repeat};
use weir_core::{Packet, PacketKind, Time, packet::flags};
use weir_traffic::FlowSpec;

/// What a receiver has beyond the next packet in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    arrived: selective_repeat::Receiver,
    /// The last packet of the flow, once it came.
    last: Option<u32>,
}

/// The machine of a flow of `total` packets, if it is to have one.
pub(super) fn sender(
    spec: &FlowSpec,
    total: u32,
    path: &Path,
    nic: &NicConfig,
) -> Option<Box<Machine>> {
    if nic.reliability != Reliability::SelectiveRepeat || spec.rate.is_some() {
        return None;
    }
    let bdp = path.bdp.get().div_ceil(nic.payload.get());
    // a bandwidth-delay product of zero means that it is not known
    let cap = if nic.window == WindowConfig::FromCc && bdp > 0 { bdp } else { u64::MAX };
    // The NIC keeps the timer.
    let reorder = u64::from(nic.reorder);
    let paper = selective_repeat::Config::paper(cap);
    let config = selective_repeat::Config { timeouts: false, reorder, ..paper };
    let repeat = selective_repeat::Sender::new(u64::from(total), config);
    Some(Box::new(Machine::Repeat(repeat)))
}

/// The number of the packet to send now; none if TCP decides.
#[inline(never)]
pub(super) fn next_seq(machine: &mut Machine) -> Option<u32> {
    let Machine::Repeat(repeat) = machine else { return None };
    let (seq, _) = repeat.next_packet().expect("a flow whose turn it is has a packet");
    Some(seq as u32)
}

/// Packet `nth` of those in flight was sent again: its round trip begins now.
#[inline(never)]
pub(super) fn sent_again(sent_at: &mut VecDeque<Time>, nth: u32, now: Time) {
    if let Some(at) = sent_at.get_mut(nth as usize) {
        *at = now;
    }
}

/// An ACK or NACK came: how many packets are newly acknowledged in order, and the round-trip time
/// of the packet it answers, where that is kept.
#[inline(never)]
pub(super) fn on_answer(
    s: &mut Sender,
    p: &Packet,
    answers: Option<u32>,
    now: Time,
) -> (u32, Time) {
    let answers = answers.unwrap_or_else(|| p.seq.saturating_sub(1));
    let Some(Machine::Repeat(repeat)) = s.machine.as_deref_mut() else { return (0, Time::ZERO) };
    let newly = match p.kind {
        PacketKind::Nack => repeat.on_nack(u64::from(p.seq), u64::from(answers)),
        _ => repeat.on_ack(u64::from(p.seq)),
    } as u32;
    let nth = answers.checked_sub(s.una);
    s.una += newly;
    let Some(sent_at) = &mut s.sent_at else { return (newly, Time::ZERO) };
    let sent = nth.and_then(|n| sent_at.get(n as usize)).copied();
    sent_at.drain(..(newly as usize).min(sent_at.len()));
    (newly, sent.map_or(Time::ZERO, |at| now - at))
}

impl Receiver {
    /// Takes packet `p` with its `payload`, in whatever order it comes; the kind of answer, and
    /// whether it came for the first time.
    fn keep(&mut self, p: &Packet, payload: u64, now: Time) -> (PacketKind, bool) {
        if self.finish().is_some() {
            return (PacketKind::Ack, false);
        }
        let kept = self.rare().kept.get_or_insert_default();
        let (response, new) = kept.arrived.on_data(u64::from(p.seq));
        if new && p.has(flags::LAST) {
            kept.last = Some(p.seq);
        }
        let expected = kept.arrived.expected() as u32;
        let complete = kept.last.is_some_and(|last| expected > last) && !p.flow.is_pair();
        self.expected = expected;
        self.delivered += if new { payload } else { 0 };
        if complete {
            self.complete(now);
            self.drop_kept();
        }
        let kind = match response {
            Response::Nack { .. } => PacketKind::Nack,
            Response::Ack { .. } => PacketKind::Ack,
        };
        (kind, new)
    }
}

impl Nic {
    /// A data packet arrives at a receiver that keeps what is out of order.
    #[inline(never)]
    pub(super) fn on_data_in_any_order(&mut self, p: &Packet, now: Time, env: &mut Env<'_, '_>) {
        if env.shared.config.nic.reliability == Reliability::Tcp {
            self.on_segment(p, now, env);
            return;
        }
        let message_end = Self::message_end(p, env);
        let r = self.receivers.get_mut(&p.flow).expect("the flow is known");
        let open = r.finish().is_none();
        let (kind, new) = r.keep(p, u64::from(p.size) - env.shared.config.nic.header.get(), now);
        let ended = r.ends(p, message_end.filter(|_| new));
        let expected = r.expected;
        let cnp = r.owes_cnp(p, env.shared.cnp_interval, now);
        if open && r.finish().is_some() {
            self.count.completed += 1;
            self.probes.finished(now, p.flow);
        }
        ended.into_iter().for_each(|end| self.note_arrived(p.flow, end, now));
        let mut extra = p.extra;
        if p.seq + 1 != expected {
            let telemetry = &mut env.wires.extras.telemetry;
            if extra == Packet::NO_EXTRA {
                extra = telemetry.start();
            }
            telemetry.get_mut(extra).answer(p.seq);
        }
        self.acknowledge(p, kind, expected, extra, cnp, now, env);
    }
}
