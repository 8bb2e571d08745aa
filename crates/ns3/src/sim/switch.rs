//! What a switch does with a packet.

use super::Sim;
use super::packet::{ECN, Kind, STACK};
use crate::mmu::Told;
use crate::record::TraceEvent;
use weir_cc::ecn::Mark;
use weir_cc::{CongestionControl, IntHop};
use weir_core::{Rate, Time};

impl<C: CongestionControl> Sim<'_, C> {
    /// A packet came in by `port`: admission, accounting, pause, and into the egress queue.
    #[inline]
    pub(super) fn forward(&mut self, port: u32, packet: u32) {
        let p = self.pool[packet];
        let owner = self.ports[port as usize].owner as usize;
        let switch = &mut self.switches[owner];
        let hops = self.routes.next_hops_to(switch.chooser, p.dst);
        let out = match hops {
            [] => {
                self.counters.unroutable += 1;
                return self.pool.remove(packet);
            }
            [only] => *only,
            several => {
                let info = &self.info[p.flow as usize];
                let key = if p.kind == Kind::Data { info.forward } else { info.reverse };
                several[(key.hash(switch.node) % several.len() as u32) as usize]
            }
        };
        let queue = usize::from(p.queue);
        if queue != 0 {
            let first = switch.first_port;
            let ingress = (port - first) as usize;
            if !switch.mmu.arrive(ingress, (out - first) as usize, queue, p.size) {
                self.counters.drops += 1;
                return self.pool.remove(packet);
            }
            if switch.mmu.should_pause(ingress, queue) {
                self.tell(owner, port, queue, Told::Pause);
            }
        }
        self.enqueue(out, queue, packet);
    }

    /// Sends the frame first, then takes note of it.
    #[cold]
    fn tell(&mut self, owner: usize, port: u32, queue: usize, what: Told) {
        self.send_pfc(port, queue, what);
        let switch = &mut self.switches[owner];
        switch.mmu.note_told((port - switch.first_port) as usize, queue, what);
    }

    /// An idle switch port sends: queue 0 first, then the others in turn, a packet each.
    #[inline]
    pub(super) fn switch_send(&mut self, port: u32) {
        let p = &mut self.ports[port as usize];
        let queue = if p.backlog & 1 != 0 {
            0
        } else {
            let open = p.backlog & !p.paused;
            if open == 0 {
                return;
            }
            p.last_served = next_in_turn(open, p.last_served);
            usize::from(p.last_served)
        };
        let packet = p.queues[queue].pop(&self.pool);
        if p.queues[queue].is_empty() {
            p.backlog &= !(1 << queue);
        }
        let size = self.pool[packet].size;
        p.queued = p.queued.wrapping_sub(size);
        if queue != 0 {
            self.release(port, queue, packet);
        }
        if self.options.telemetry && self.pool[packet].kind == Kind::Data {
            self.push_telemetry(port, packet);
        }
        self.ports[port as usize].sent += u64::from(size);
        if self.tracing {
            self.trace(TraceEvent::Dequeue, port, queue, packet);
        }
        self.transmit(port, packet);
    }

    /// Accounting, marking and the resume test for a packet that leaves.
    #[inline]
    fn release(&mut self, port: u32, queue: usize, packet: u32) {
        let owner = self.ports[port as usize].owner as usize;
        let p = &mut self.pool[packet];
        let from = p.port;
        let switch = &mut self.switches[owner];
        let (ingress, egress) = (from - switch.first_port, (port - switch.first_port) as usize);
        let ingress = ingress as usize;
        switch.mmu.depart(ingress, egress, queue, p.size);
        if self.options.enable_ecn {
            let waiting = u64::from(switch.mmu.egress(egress, queue));
            // ACKs consume a random number as well, although their mark has no effect.
            let marked = match switch.marking[egress].decide(waiting) {
                Mark::No => false,
                Mark::Yes => true,
                Mark::If(probability) => self.streams.draw() < probability,
            };
            if marked {
                p.flags |= ECN;
            }
        }
        if switch.mmu.should_resume(ingress, queue) {
            self.tell(owner, from, queue, Told::Resume);
        }
    }

    /// Writes this hop into a data packet's stack.
    fn push_telemetry(&mut self, port: u32, packet: u32) {
        let p = &self.ports[port as usize];
        let hop = pack(self.events.now(), p.sent, p.queued, p.rate, self.options.int_multi);
        let slot = usize::from(self.pool[packet].hops) % STACK;
        self.pool.stack_mut(packet)[slot] = hop;
        let hops = &mut self.pool[packet].hops;
        *hops = hops.saturating_add(1);
    }
}

/// The first of the `open` queues (one bit each, at least one) after the one served last.
#[inline]
pub(super) fn next_in_turn(open: u8, last_served: u8) -> u8 {
    let start = (last_served + 1) & 7;
    (start + open.rotate_right(start.into()).trailing_zeros() as u8) & 7
}

/// The rates that a hop record can name; others read as the first.
const CODED: [u64; 5] =
    [25_000_000_000, 50_000_000_000, 100_000_000_000, 200_000_000_000, 400_000_000_000];

const TIME_BITS: u32 = 24;
const BYTES_BITS: u32 = 20;
const QUEUE_BITS: u32 = 17;

/// A hop record of 64 bits: rate code, time, bytes sent and queue in their units.
fn pack(now: u64, sent: u64, queued: u32, rate: u64, multi: u32) -> u64 {
    let code = CODED.iter().position(|&r| r == rate).unwrap_or(0) as u64;
    let bytes = sent / u64::from(128 * multi);
    let queue = u64::from(queued / (80 * multi));
    let low = |x: u64, bits: u32| x & ((1 << bits) - 1);
    code | low(now, TIME_BITS) << 3
        | low(bytes, BYTES_BITS) << (3 + TIME_BITS)
        | low(queue, QUEUE_BITS) << (3 + TIME_BITS + BYTES_BITS)
}

/// What congestion control makes of a record.
pub(super) fn unpack(hop: u64, multi: u32) -> IntHop {
    let field = |shift: u32, bits: u32| (hop >> shift) & ((1 << bits) - 1);
    IntHop {
        time: Time::from_ns(field(3, TIME_BITS)),
        tx_bytes: field(3 + TIME_BITS, BYTES_BITS) * u64::from(128 * multi),
        queue: field(3 + TIME_BITS + BYTES_BITS, QUEUE_BITS) * u64::from(80 * multi),
        rate: Rate::from_bps(CODED[(hop & 7) as usize % CODED.len()]),
        // the original compares hop by hop, also when a flow has got another path
        port: IntHop::NO_PORT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_fields_modulo_their_widths() {
        // 10 000 000 / 512 = 19 531 units; 3000 / 320 = 9 units
        let hop = unpack(pack((1 << 24) + 5, 10_000_000, 3000, CODED[2], 4), 4);
        assert_eq!(hop.time, Time::from_ns(5));
        assert_eq!((hop.tx_bytes, hop.queue), (19_531 * 512, 9 * 320));
        assert_eq!(hop.rate, Rate::from_gbps(100));
        // 40G is not among the codes and reads as 25G; 2^20 units wrap to zero
        let hop = unpack(pack(0, 128 << 20, 0, 40_000_000_000, 1), 1);
        assert_eq!((hop.rate, hop.tx_bytes), (Rate::from_gbps(25), 0));
    }
}
