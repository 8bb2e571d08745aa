//! Packet records of traced nodes.

use super::Sim;
use super::packet::{CNP, ECN, Kind};
use crate::hash::address;
use crate::record::{TraceBody, TraceEvent, TraceRecord};
use weir_cc::CongestionControl;

impl<C: CongestionControl> Sim<'_, C> {
    /// Records what happened to a packet, if its node is traced.
    #[cold]
    pub(super) fn trace(&mut self, event: TraceEvent, port: u32, queue: usize, packet: u32) {
        if self.is_traced(port) {
            let qlen = self.waiting(event, port, queue, packet);
            self.trace_with(event, port, queue, packet, qlen);
        }
    }

    /// Whether packets at a port are recorded.
    pub(super) fn is_traced(&self, port: u32) -> bool {
        self.tracing && self.traced[self.ports[port as usize].node as usize] > 0
    }

    /// The same at a traced node where `qlen` bytes are in the queue.
    pub(super) fn trace_with(
        &mut self,
        event: TraceEvent,
        port: u32,
        queue: usize,
        packet: u32,
        qlen: u32,
    ) {
        let p = &self.ports[port as usize];
        let (sip, dip, body) = self.describe(packet);
        let k = &self.pool[packet];
        let record = TraceRecord {
            time_ns: self.events.now(),
            node: p.node,
            interface: self.numbering.interface(port),
            queue: queue as u8,
            qlen,
            sip,
            dip,
            size: k.size as u16,
            l3_protocol: match k.kind {
                Kind::Data => 0x11,
                Kind::Ack => 0xfc,
                Kind::Nack => 0xfd,
                Kind::Pause | Kind::Resume => 0xfe,
            },
            event,
            ecn: if k.flags & ECN != 0 { 3 } else { 0 },
            is_switch: !p.is_host,
            body,
        };
        for _ in 0..self.traced[p.node as usize] {
            self.recorder.packet(&record);
        }
    }

    /// Bytes in a queue as the record shows them: without a packet that joins or leaves.
    fn waiting(&self, event: TraceEvent, port: u32, queue: usize, packet: u32) -> u32 {
        let p = &self.ports[port as usize];
        if queue == 0 || p.is_host {
            return p.queues[queue].bytes(&self.pool);
        }
        // The packet is charged before it joins the queue.
        let joining = if event == TraceEvent::Enqueue { self.pool[packet].size } else { 0 };
        self.egress_bytes(port, queue).wrapping_sub(joining)
    }

    /// Bytes charged to a switch port's egress queue.
    pub(super) fn egress_bytes(&self, port: u32, queue: usize) -> u32 {
        let switch = &self.switches[self.ports[port as usize].owner as usize];
        switch.mmu.egress((port - switch.first_port) as usize, queue)
    }

    /// Addresses and the part that depends on the kind.
    fn describe(&self, packet: u32) -> (u32, u32, TraceBody) {
        let k = &self.pool[packet];
        if matches!(k.kind, Kind::Pause | Kind::Resume) {
            let time = if k.kind == Kind::Pause { self.options.pause_time } else { 0 };
            let body = TraceBody::Pfc { time, qlen: k.stamp as u32, queue: k.seq as u8 };
            // Frames carry the address of the port that sent them.
            return (self.link_address(k.dst), u32::MAX, body);
        }
        let info = &self.info[k.flow as usize];
        let (src, dst) = (address(info.src), address(info.dst));
        let ts = if self.options.stamped { k.stamp } else { 0 };
        if k.kind == Kind::Data {
            let body = TraceBody::Data {
                sport: info.sport,
                dport: info.dport,
                seq: k.seq as u32,
                ts,
                pg: info.pg.into(),
                payload: (k.size - self.options.overhead) as u16,
            };
            return (src, dst, body);
        }
        let body = TraceBody::Ack {
            sport: info.dport,
            dport: info.sport,
            flags: u16::from(k.flags & CNP != 0),
            pg: info.pg.into(),
            seq: k.seq as u32,
            ts,
        };
        (dst, src, body)
    }

    /// The address that the original gives to a switch port: 10.x.y.1 or .2, by link.
    fn link_address(&self, port: u32) -> u32 {
        let end = self.numbering.ends[port as usize];
        let second = self.inputs.topology.links[end.link as usize].b == end.node;
        let (x, y) = (end.link / 254 + 1, end.link % 254 + 1);
        0x0a00_0000 | x << 16 | y << 8 | (1 + u32::from(second))
    }
}
