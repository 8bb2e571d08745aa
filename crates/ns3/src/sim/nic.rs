//! What a NIC sends next: ACKs first, then its flows in turn.

use super::Sim;
use super::packet::{Fifo, Kind, NONE, Packet};
use crate::clock::{NEVER, transmission};
use crate::queue::Event;
use crate::record::TraceEvent;
use weir_cc::CongestionControl;

/// A host's port as the transport sees it.
pub(super) struct Nic {
    pub(super) port: u32,
    /// ACKs and NACKs that wait.
    pub(super) acks: Fifo,
    /// A pause of these queues holds ACKs.
    pub(super) ack_class: u8,
    /// Flows that started here and were not yet found to be finished, oldest first.
    pub(super) flows: Vec<u32>,
    /// Position of the flow served last. Removals do not adjust it.
    pub(super) last_served: usize,
    pub(super) wake_at: u64,
    pub(super) wake_generation: u16,
    pub(super) wake_pending: bool,
}

/// What a look over the flows found.
struct Scan {
    chosen: Option<usize>,
    first_finished: Option<usize>,
}

impl<C: CongestionControl> Sim<'_, C> {
    /// An idle NIC sends.
    #[inline]
    pub(super) fn nic_send(&mut self, port: u32) {
        let p = &self.ports[port as usize];
        let (nic, paused) = (p.owner as usize, p.paused);
        let n = &mut self.nics[nic];
        if !n.acks.is_empty() && paused & n.ack_class == 0 {
            let packet = n.acks.pop(&self.pool);
            if self.tracing {
                self.trace(TraceEvent::Dequeue, port, 0, packet);
            }
            return self.transmit(port, packet);
        }
        if n.flows.is_empty() {
            return;
        }
        let Scan { chosen, first_finished } = self.scan(nic, paused);
        let flow = chosen.map(|i| self.nics[nic].flows[i]);
        let place = match first_finished {
            Some(first) => self.compact(nic, first, chosen),
            None => chosen,
        };
        match (place, flow) {
            (Some(i), Some(flow)) => {
                // A chosen flow that is itself finished (it went back before its last ACK) was
                // removed as well: the flow that is in its place now sends instead.
                let flow = self.nics[nic].flows.get(i).copied().unwrap_or(flow);
                self.send_data(nic, i, flow);
            }
            _ => self.arm_wake(nic),
        }
    }

    /// Looks at the flows in turn, starting after the one served last, for one that may send now.
    /// Notes the lowest position of a finished one it passed.
    #[inline]
    fn scan(&self, nic: usize, paused: u8) -> Scan {
        let n = &self.nics[nic];
        let now = self.events.now();
        let count = n.flows.len();
        let mut i = n.last_served % count;
        let mut first_finished = None;
        for _ in 0..count {
            i = if i + 1 == count { 0 } else { i + 1 };
            let f = &self.flows[n.flows[i] as usize];
            if paused & f.class == 0 && f.bytes_left() > 0 && !f.window_bound() {
                if f.next_send <= now {
                    return Scan { chosen: Some(i), first_finished };
                }
            } else if f.finished() {
                first_finished = Some(first_finished.map_or(i, |first: usize| first.min(i)));
            }
        }
        Scan { chosen: None, first_finished }
    }

    /// Removes all finished flows from position `first` on; returns where the chosen one went.
    fn compact(&mut self, nic: usize, first: usize, chosen: Option<usize>) -> Option<usize> {
        let list = &mut self.nics[nic].flows;
        let mut chosen = chosen;
        let mut to = first;
        for from in first + 1..list.len() {
            if !self.flows[list[from] as usize].finished() {
                if chosen == Some(from) {
                    chosen = Some(to);
                }
                list[to] = list[from];
                to += 1;
            }
        }
        list.truncate(to);
        chosen
    }

    #[inline]
    fn send_data(&mut self, nic: usize, i: usize, flow: u32) {
        let now = self.events.now();
        let n = &mut self.nics[nic];
        n.last_served = i;
        let port = n.port;
        let f = &mut self.flows[flow as usize];
        let payload = f.bytes_left().min(self.options.payload);
        let size = payload as u32 + self.options.overhead;
        let packet = self.pool.add(Packet {
            next: NONE,
            flow,
            seq: f.snd_nxt,
            stamp: now,
            size,
            port,
            dst: self.info[flow as usize].to_dst,
            kind: Kind::Data,
            queue: f.pg,
            flags: 0,
            hops: 0,
        });
        f.snd_nxt += payload;
        let pg = f.pg;
        if self.tracing {
            self.trace(TraceEvent::Dequeue, port, usize::from(pg), packet);
        }
        self.transmit(port, packet);
        let f = &mut self.flows[flow as usize];
        let gap = if !self.options.rate_bound || f.rate == f.line_rate {
            self.speeds[f.speed as usize][size as usize]
        } else {
            transmission(u64::from(size), f.rate)
        };
        f.last_size = size;
        f.next_send = now + gap;
    }

    /// Nothing can be sent now: wake up when the first flow with bytes left is due. Flows that
    /// are paused or held by their window count too; if one of them was due long ago, no wake-up
    /// is set at all.
    fn arm_wake(&mut self, nic: usize) {
        let n = &self.nics[nic];
        if n.wake_pending {
            return;
        }
        let due = n
            .flows
            .iter()
            .map(|&f| &self.flows[f as usize])
            .filter(|f| f.bytes_left() > 0)
            .map(|f| f.next_send)
            .min()
            .unwrap_or(NEVER);
        if due > self.events.now() && due < NEVER {
            self.set_wake(nic, due);
        }
    }

    fn set_wake(&mut self, nic: usize, at: u64) {
        let n = &mut self.nics[nic];
        n.wake_generation = n.wake_generation.wrapping_add(1);
        n.wake_pending = true;
        n.wake_at = at;
        let generation = n.wake_generation;
        self.schedule(at, Event::Wake { generation, nic: nic as u32 });
    }

    pub(super) fn wake(&mut self, nic: u32, generation: u16) {
        let n = &mut self.nics[nic as usize];
        if n.wake_pending && n.wake_generation == generation && n.wake_at == self.events.now() {
            n.wake_pending = false;
            let port = n.port;
            self.try_send(port);
        }
    }

    /// Moves a flow's next packet to where it would be, had the last one been paced at the new
    /// rate, and an earlier wake-up with it.
    pub(super) fn retime(&mut self, flow: u32, new_rate: u64) {
        let f = &mut self.flows[flow as usize];
        let size = u64::from(f.last_size);
        let (old_gap, new_gap) = (transmission(size, f.rate), transmission(size, new_rate));
        f.next_send = (f.next_send + new_gap).saturating_sub(old_gap);
        let (next_send, nic) = (f.next_send, f.nic as usize);
        let n = &self.nics[nic];
        if n.wake_pending && next_send < n.wake_at {
            self.set_wake(nic, next_send.max(self.events.now()));
        }
    }
}
