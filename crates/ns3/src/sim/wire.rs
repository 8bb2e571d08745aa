//! Sending and receiving frames, and what pause frames do.

use super::packet::{Kind, NONE, Packet};
use super::{NO_ERRORS, Sim};
use crate::mmu::Told;
use crate::queue::Event;
use crate::record::{PfcRecord, TraceEvent};
use weir_cc::CongestionControl;

/// Wire bytes of a pause or resume frame.
pub(super) const PFC_SIZE: u32 = 43;

impl<C: CongestionControl> Sim<'_, C> {
    /// The port sends something if it is idle and has something to send.
    #[inline]
    pub(super) fn try_send(&mut self, port: u32) {
        let p = &self.ports[port as usize];
        if p.busy || !p.up {
            return;
        }
        if p.is_host { self.nic_send(port) } else { self.switch_send(port) }
    }

    /// Puts a packet on the wire. Its end at this port is inserted before its arrival at the
    /// other.
    #[inline]
    pub(super) fn transmit(&mut self, port: u32, packet: u32) {
        let p = &mut self.ports[port as usize];
        let size = self.pool[packet].size;
        let done = self.events.now() + self.speeds[p.speed as usize][size as usize];
        let arrival = done + p.delay;
        p.busy = true;
        let is_host = p.is_host;
        self.pool[packet].port = p.peer;
        let kind = self.pool[packet].kind;
        self.counters.count_sent(is_host, kind as usize, size);
        self.schedule(done, Event::TransmitDone(port));
        self.schedule(arrival, Event::Receive(packet));
    }

    #[inline]
    pub(super) fn receive(&mut self, packet: u32) {
        let port = self.pool[packet].port;
        let p = &self.ports[port as usize];
        let (is_host, errors, up) = (p.is_host, p.errors, p.up);
        if !up {
            self.trace(TraceEvent::Drop, port, 0, packet);
            self.counters.lost += 1;
            return self.pool.remove(packet);
        }
        if errors != NO_ERRORS {
            let (generator, rate) = &mut self.errors[errors as usize];
            if generator.draw() < *rate {
                self.counters.lost += 1;
                return self.pool.remove(packet);
            }
        }
        if self.tracing {
            self.trace(TraceEvent::Receive, port, 0, packet);
        }
        match self.pool[packet].kind {
            Kind::Pause | Kind::Resume => self.receive_pfc(port, packet),
            _ if !is_host => self.forward(port, packet),
            Kind::Data => self.receive_data(port, packet),
            Kind::Ack | Kind::Nack => self.receive_ack(packet),
        }
    }

    #[cold]
    fn receive_pfc(&mut self, port: u32, packet: u32) {
        let Packet { kind, seq, .. } = self.pool[packet];
        self.pool.remove(packet);
        let p = &mut self.ports[port as usize];
        let bit = 1 << (seq as u8 & 7);
        let pause = kind == Kind::Pause;
        if pause {
            p.paused |= bit;
        } else {
            p.paused &= !bit;
        }
        self.recorder.pfc(&PfcRecord {
            time_ns: self.events.now(),
            node: p.node,
            is_switch: !p.is_host,
            interface: self.numbering.interface(port),
            pause,
        });
        if !pause {
            self.try_send(port);
        }
    }

    /// Tells the other end of `port` to pause or resume `queue`.
    #[cold]
    pub(super) fn send_pfc(&mut self, port: u32, queue: usize, what: Told) {
        // Every frame uses up a random stream, for a number in it that nothing depends on.
        self.streams.skip();
        // Receivers only look whether the pause time is above zero.
        let pauses = what == Told::Pause && self.options.pause_time > 0;
        let kind = if pauses { Kind::Pause } else { Kind::Resume };
        let waiting = self.egress_bytes(port, queue);
        let packet = self.pool.add(Packet {
            next: NONE,
            flow: NONE,
            seq: queue as u64,
            stamp: u64::from(waiting),
            size: PFC_SIZE,
            port,
            // For traces: who sent it.
            dst: port,
            kind,
            queue: 0,
            flags: 0,
            hops: 0,
        });
        self.enqueue(port, 0, packet);
    }

    /// Appends a packet to a switch port's queue; the port sends if it can.
    #[inline]
    pub(super) fn enqueue(&mut self, port: u32, queue: usize, packet: u32) {
        if self.tracing {
            self.trace(TraceEvent::Enqueue, port, queue, packet);
        }
        let size = self.pool[packet].size;
        let p = &mut self.ports[port as usize];
        p.queues[queue].push(&mut self.pool, packet);
        p.backlog |= 1 << queue;
        p.queued = p.queued.wrapping_add(size);
        self.try_send(port);
    }
}
