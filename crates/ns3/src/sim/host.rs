//! Data and ACKs at hosts.

use super::Sim;
use super::flow::{NO_ROUTE, SAME_PORT};
use super::packet::{CNP, ECN, Kind, STACK};
use super::switch::unpack;
use crate::record::TraceEvent;
use weir_cc::{Ack, CongestionControl, IntHop, Pacing, Timers, WindowKind};
use weir_core::Time;

/// How long a receiver keeps silent before it repeats a NACK.
const NACK_INTERVAL_NS: u64 = 500_000;

impl<C: CongestionControl> Sim<'_, C> {
    /// A data packet arrived: acknowledge it, ask for the missing one, or say nothing.
    #[inline]
    pub(super) fn receive_data(&mut self, port: u32, packet: u32) {
        let p = &self.pool[packet];
        let flow = p.flow as usize;
        let payload = u64::from(p.size - self.options.overhead);
        let Some(kind) = self.check_sequence(flow, p.seq, payload) else {
            return self.pool.remove(packet);
        };
        let info = &self.info[flow];
        let expected = self.receivers[flow].expected;
        // The same slot becomes the ACK: stamp and telemetry stay as they are.
        let p = &mut self.pool[packet];
        p.kind = kind;
        p.seq = expected;
        p.size = self.options.ack_size;
        p.dst = info.to_src;
        p.flags = if p.flags & ECN != 0 { CNP } else { 0 };
        let out = match info.ack_port {
            SAME_PORT => port,
            NO_ROUTE => return self.no_route(info.dst, info.src),
            chosen => chosen,
        };
        if self.tracing {
            self.trace(TraceEvent::Enqueue, out, 0, packet);
        }
        let nic = self.ports[out as usize].owner as usize;
        self.nics[nic].acks.push(&mut self.pool, packet);
        self.try_send(out);
    }

    /// What to answer to `payload` bytes at `seq`.
    #[inline]
    fn check_sequence(&mut self, flow: usize, seq: u64, payload: u64) -> Option<Kind> {
        let now = self.events.now();
        let o = &self.options;
        let r = &mut self.receivers[flow];
        if seq == r.expected {
            r.expected += payload;
            let on_boundary = || o.chunk != 0 && r.expected.is_multiple_of(o.chunk);
            return (r.expected >= o.ack_interval || on_boundary()).then_some(Kind::Ack);
        }
        if seq < r.expected || (now < r.nack_at && r.last_nack == r.expected) {
            return None;
        }
        r.nack_at = now + NACK_INTERVAL_NS;
        r.last_nack = r.expected;
        if o.back_to_zero {
            r.expected = r.expected / o.chunk * o.chunk;
        }
        Some(Kind::Nack)
    }

    /// An ACK or NACK arrived at the sender.
    #[inline]
    pub(super) fn receive_ack(&mut self, packet: u32) {
        let p = self.pool[packet];
        let flow = p.flow as usize;
        if !self.flows[flow].known {
            return self.pool.remove(packet);
        }
        let before = self.flows[flow].snd_una;
        if self.options.ack_interval != 0 {
            let seq = if self.options.back_to_zero {
                p.seq / self.options.chunk * self.options.chunk
            } else {
                p.seq
            };
            let f = &mut self.flows[flow];
            f.snd_una = f.snd_una.max(seq);
            if f.finished() {
                self.complete(p.flow);
            }
        }
        let f = &mut self.flows[flow];
        if p.kind == Kind::Nack {
            f.snd_nxt = f.snd_una;
        }
        let (newly_acked, snd_nxt) = (f.snd_una - before, f.snd_nxt);
        let now = self.events.now();
        let mut stack = [IntHop::default(); STACK];
        let mut ack = Ack {
            now: Time::from_ns(now),
            seq: p.seq,
            snd_nxt,
            newly_acked,
            ecn: p.flags & CNP != 0,
            rtt: Time::from_ns(now - p.stamp),
            hops: &[],
        };
        if self.options.telemetry && usize::from(p.hops) <= STACK {
            let records = &self.pool.stack(packet)[..usize::from(p.hops)];
            for (hop, &record) in stack.iter_mut().zip(records) {
                *hop = unpack(record, self.options.int_multi);
            }
            ack.hops = &stack[..usize::from(p.hops)];
        }
        self.pool.remove(packet);
        let mut timers = Timers::new();
        let pacing = self.cc[flow].on_ack(&ack, &mut timers);
        self.after_update(p.flow, pacing);
        if !timers.is_empty() {
            self.arm_timers(p.flow, timers);
        }
        let port = self.nics[self.flows[flow].nic as usize].port;
        self.try_send(port);
    }

    /// Takes over what congestion control decided.
    #[inline]
    pub(super) fn after_update(&mut self, flow: u32, pacing: Pacing) {
        if pacing == Pacing::Same {
            return;
        }
        let rate = self.cc[flow as usize].rate().as_bps();
        if pacing == Pacing::Retime {
            self.retime(flow, rate);
        }
        let f = &mut self.flows[flow as usize];
        f.rate = rate;
        if self.options.window == WindowKind::Variable && f.full_window != 0 {
            // A product beyond 64 bits wraps, as in the original.
            f.window = (f.full_window.wrapping_mul(rate) / f.line_rate).max(1);
        }
    }
}
