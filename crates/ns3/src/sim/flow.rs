//! Flows: what is known of them, their start, their timers and their end.

use super::Sim;
use crate::clock::NEVER;
use crate::hash::{FlowKey, address};
use crate::queue::Event;
use crate::record::{FctRecord, StopReason};
use std::ops::ControlFlow;
use weir_cc::{CongestionControl, Path, TimerKind, Timers, WindowKind};
use weir_core::{Bytes, Rate, Time};

/// The ACKs of a flow leave by the port its data came in by: the host has only one.
pub(super) const SAME_PORT: u32 = u32::MAX;

/// No path leads from one of the flow's hosts to the other: neither may send.
pub(super) const NO_ROUTE: u32 = u32::MAX - 1;

/// What does not change about a flow.
#[derive(Clone, Debug)]
pub(super) struct FlowInfo {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) sport: u16,
    pub(super) dport: u16,
    /// Its hosts' numbers in the routes.
    pub(super) to_src: u32,
    pub(super) to_dst: u32,
    pub(super) pg: u8,
    pub(super) size: u64,
    pub(super) start: u64,
    /// What switches hash for its data, and for its ACKs.
    pub(super) forward: FlowKey,
    pub(super) reverse: FlowKey,
    /// The receiver's port for its ACKs, or `SAME_PORT` or `NO_ROUTE`.
    pub(super) ack_port: u32,
}

impl FlowInfo {
    /// What the original calls the flow in its host's table of flows.
    pub(super) fn table_key(&self) -> u64 {
        u64::from(address(self.dst)) << 32 | u64::from(self.sport) << 16 | u64::from(self.pg)
    }
}

/// A sender's view of a flow that has started.
#[derive(Clone, Debug)]
pub(super) struct FlowState {
    pub(super) size: u64,
    pub(super) snd_nxt: u64,
    pub(super) snd_una: u64,
    pub(super) next_send: u64,
    /// Most bytes in flight; 0 is no limit.
    pub(super) window: u64,
    /// The same at line rate.
    pub(super) full_window: u64,
    pub(super) rate: u64,
    /// The rate of the NIC on which it started, which limits it also on another one.
    pub(super) line_rate: u64,
    /// Index of that NIC's table of transmission times.
    pub(super) speed: u32,
    pub(super) last_size: u32,
    pub(super) nic: u32,
    pub(super) timers: [u16; TimerKind::COUNT],
    pub(super) pg: u8,
    /// The bit of its queue in a port's pause flags.
    pub(super) class: u8,
    /// ACKs still find it: not completed.
    pub(super) known: bool,
}

impl FlowState {
    #[inline]
    pub(super) fn bytes_left(&self) -> u64 {
        self.size.saturating_sub(self.snd_nxt)
    }

    #[inline]
    pub(super) fn finished(&self) -> bool {
        self.snd_una >= self.size
    }

    /// After going back, an ACK may pass `snd_nxt`; the difference then wraps and counts as bound.
    #[inline]
    pub(super) fn window_bound(&self) -> bool {
        self.window != 0 && self.snd_nxt.wrapping_sub(self.snd_una) >= self.window
    }
}

/// A receiver's view of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Receiver {
    pub(super) expected: u64,
    /// When the last NACK may be repeated.
    pub(super) nack_at: u64,
    pub(super) last_nack: u64,
}

impl<C: CongestionControl> Sim<'_, C> {
    /// Announces every flow that starts now, and comes back when the next one does.
    pub(super) fn read_flows(&mut self) {
        let now = self.now();
        while let Some(info) = self.info.get(self.next_flow) {
            if info.start != now {
                self.schedule(info.start, Event::ReadFlows);
                return;
            }
            self.schedule(now, Event::Announce(self.next_flow as u32));
            self.next_flow += 1;
        }
    }

    /// The flow exists from now on, at line rate, last in its NIC's list.
    pub(super) fn start_flow(&mut self, flow: u32) {
        debug_assert_eq!(self.flows.len(), flow as usize, "flows start in order");
        let info = &self.info[flow as usize];
        if info.ack_port == NO_ROUTE {
            return self.no_route(info.src, info.dst);
        }
        if let Some(table) = self.unfinished.get_mut(info.src as usize) {
            table.insert(info.table_key(), flow);
        }
        let port = self.data_port(info);
        let nic = self.ports[port as usize].owner;
        let line_rate = self.ports[port as usize].rate;
        let speed = self.ports[port as usize].speed;
        let pair = self.routes.pair(info.src, info.dst);
        let (rtt, bdp) = if self.options.global_t {
            (self.routes.max_rtt, self.routes.max_bdp)
        } else {
            pair.map_or((0, 0), |p| (p.rtt, p.bdp))
        };
        // The original keeps windows in 32 bits.
        let window =
            if self.options.window == WindowKind::None { 0 } else { u64::from(bdp as u32) };
        let path = Path {
            line_rate: Rate::from_bps(line_rate),
            base_rtt: Time::from_ns(rtt),
            bdp: Bytes::new(window),
            mtu: Bytes::new(self.options.payload),
            hops: 0,
        };
        let cc = (self.make_cc)(&path);
        self.flows.push(FlowState {
            size: info.size,
            snd_nxt: 0,
            snd_una: 0,
            next_send: self.now(),
            full_window: window,
            window,
            rate: line_rate,
            line_rate,
            speed,
            last_size: 0,
            nic,
            timers: [0; TimerKind::COUNT],
            pg: info.pg,
            class: 1 << info.pg,
            known: true,
        });
        self.cc.push(cc);
        self.receivers.push(Receiver::default());
        self.nics[nic as usize].flows.push(flow);
        self.try_send(port);
    }

    /// The port a flow's data leaves by.
    pub(super) fn data_port(&self, info: &FlowInfo) -> u32 {
        let first = self.numbering.of(info.src).start;
        self.routes.chooser(info.src).map_or(first, |chooser| {
            pick_nic(self.routes.next_hops_to(chooser, info.to_dst), info.forward).unwrap_or(first)
        })
    }

    /// Everything is acknowledged.
    pub(super) fn complete(&mut self, flow: u32) {
        let now = self.now();
        let f = &mut self.flows[flow as usize];
        for generation in &mut f.timers {
            *generation = generation.wrapping_add(1);
        }
        f.known = false;
        self.receivers[flow as usize] = Receiver::default();
        self.done += 1;
        let info = &self.info[flow as usize];
        if let Some(table) = self.unfinished.get_mut(info.src as usize) {
            table.remove(info.table_key());
        }
        self.recorder.fct(&FctRecord {
            src: info.src,
            dst: info.dst,
            sport: info.sport,
            dport: info.dport,
            size: info.size,
            start_ns: info.start,
            fct_ns: now - info.start,
            standalone_ns: self.standalone(info),
        });
    }

    /// The original's estimate of the time on an idle network.
    fn standalone(&self, info: &FlowInfo) -> u64 {
        let Some(pair) = self.routes.pair(info.src, info.dst) else {
            return 0;
        };
        let packets = info.size.div_ceil(self.options.payload);
        let bytes = info.size + 48 * packets;
        if info.size > u64::from(u32::MAX) {
            let ns = u128::from(bytes) * 8_000_000_000 / u128::from(pair.bandwidth);
            return pair.rtt + ns as u64;
        }
        // 32 bits for the sum and 64 for the product: both may wrap.
        let bytes = u64::from(bytes as u32);
        pair.rtt + bytes.wrapping_mul(8_000_000_000) / pair.bandwidth
    }

    /// Inserts the timers that congestion control asked for, replacing earlier ones.
    pub(super) fn arm_timers(&mut self, flow: u32, mut timers: Timers) {
        for (kind, at) in timers.drain() {
            let generation = &mut self.flows[flow as usize].timers[kind.index()];
            *generation = generation.wrapping_add(1);
            let generation = *generation;
            self.schedule(at.as_ps() / 1000, Event::Timer { kind, generation, flow });
        }
    }

    pub(super) fn timer(
        &mut self,
        flow: u32,
        kind: TimerKind,
        generation: u16,
    ) -> ControlFlow<StopReason> {
        let f = &self.flows[flow as usize];
        if f.timers[kind.index()] != generation {
            return ControlFlow::Continue(());
        }
        let idle = !f.known && f.bytes_left() == 0;
        let now = self.now();
        let mut timers = Timers::new();
        let pacing = self.cc[flow as usize].on_timer(kind, Time::from_ns(now), &mut timers);
        self.after_update(flow, pacing);
        let mut keep = Timers::new();
        for (armed, at) in timers.drain() {
            let at_ns = at.as_ps() / 1000;
            if armed == kind && at_ns == now {
                return ControlFlow::Break(StopReason::Stuck { time_ns: now });
            }
            if idle && armed == kind {
                // Without effect forever: count the rounds instead of running them.
                self.counters.events += rounds(at_ns, at_ns - now, self.stop);
            } else {
                keep.arm(armed, at);
            }
        }
        self.arm_timers(flow, keep);
        ControlFlow::Continue(())
    }
}

/// How many of the times `first`, `first + period`, ... lie before `stop`.
fn rounds(first: u64, period: u64, stop: u64) -> u64 {
    if first >= stop || first >= NEVER { 0 } else { (stop - first).div_ceil(period) }
}

/// With several NICs, the one that a flow's hash chooses.
pub(super) fn pick_nic(ports: &[u32], key: FlowKey) -> Option<u32> {
    const SEED: u32 = 0x8bad_f00d;
    match ports {
        [] => None,
        [only] => Some(*only),
        several => Some(several[(key.hash(SEED) % several.len() as u32) as usize]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_before_the_end_are_counted() {
        assert_eq!(rounds(10, 5, 20), 2, "10 and 15; the end comes before 20");
        assert_eq!(rounds(10, 5, 21), 3);
        assert_eq!(rounds(10, 5, 10), 0);
    }
}
