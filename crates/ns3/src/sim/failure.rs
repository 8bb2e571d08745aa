//! A link that goes down.
//!
//! In this order: routes are computed anew; what waits at the two ends vanishes, while its bytes
//! stay charged to its switch; and every host, in ascending order, sorts its unfinished flows onto
//! its NICs again, in the order of the original's table of flows (see `hash_order.rs`).
//!
//! A flow that gets a NIC of another speed keeps the rate of its first NIC as its limit. Only the
//! target rate of DCQCN is limited by the NIC that it has now.

use super::Sim;
use super::build::ack_port;
use super::flow::NO_ROUTE;
use super::switch::next_in_turn;
use crate::mmu::QUEUES;
use crate::record::TraceEvent;
use weir_cc::CongestionControl;
use weir_core::Rate;

impl<C: CongestionControl> Sim<'_, C> {
    pub(super) fn take_link_down(&mut self) {
        let tables = std::mem::take(&mut self.unfinished);
        let Some(port) = self.failing_port() else { return };
        let cut = self.numbering.ends[port as usize].link;
        let routes = self.inputs.routes(&self.numbering, |link| link != cut);
        let lost: Vec<bool> =
            self.info.iter().map(|f| routes.pair(f.src, f.dst).is_none()).collect();
        self.routes.replace_next_hops(routes);
        for (f, lost) in self.info.iter_mut().zip(lost) {
            f.ack_port =
                if lost { NO_ROUTE } else { ack_port(f.dst, f.src, f.reverse, &self.routes) };
        }
        let peer = self.ports[port as usize].peer;
        self.clear_port(port);
        self.clear_port(peer);
        for nic in &mut self.nics {
            nic.flows.clear();
        }
        for (_, flow) in tables.iter().flat_map(|table| table.iter()) {
            if !self.take_up_again(flow) {
                return;
            }
        }
    }

    /// One end of the link that fails: of parallel links the last, which is the one in use.
    fn failing_port(&self) -> Option<u32> {
        let down = self.inputs.config.link_down?;
        if down.a >= self.inputs.topology.nodes() {
            return None;
        }
        self.numbering.of(down.a).rev().find(|&p| {
            let peer = self.numbering.ends[p as usize].peer;
            self.numbering.ends[peer as usize].node == down.b
        })
    }

    /// Drops what waits at the port and takes it down.
    fn clear_port(&mut self, port: u32) {
        let p = &mut self.ports[port as usize];
        p.up = false;
        if p.is_host {
            let nic = p.owner as usize;
            while !self.nics[nic].acks.is_empty() {
                let packet = self.nics[nic].acks.pop(&self.pool);
                self.trace(TraceEvent::Drop, port, 0, packet);
                self.discard(packet);
            }
            return;
        }
        p.paused = 0;
        let traced = self.is_traced(port);
        let mut left = [0; QUEUES];
        if traced {
            left = self.ports[port as usize].queues.map(|queue| queue.bytes(&self.pool));
        }
        while let Some((queue, packet)) = self.next_to_drop(port) {
            if traced {
                left[queue] = left[queue].wrapping_sub(self.pool[packet].size);
                self.trace_with(TraceEvent::Drop, port, queue, packet, left[queue]);
            }
            self.discard(packet);
        }
        self.ports[port as usize].queued = 0;
    }

    /// Takes the packet out of a switch port that would be sent next.
    fn next_to_drop(&mut self, port: u32) -> Option<(usize, u32)> {
        let p = &mut self.ports[port as usize];
        let queue = match p.backlog {
            0 => return None,
            b if b & 1 != 0 => 0,
            open => {
                p.last_served = next_in_turn(open, p.last_served);
                usize::from(p.last_served)
            }
        };
        let packet = p.queues[queue].pop(&self.pool);
        if p.queues[queue].is_empty() {
            p.backlog &= !(1 << queue);
        }
        Some((queue, packet))
    }

    fn discard(&mut self, packet: u32) {
        self.counters.lost += 1;
        self.pool.remove(packet);
    }

    /// Puts a flow onto the NIC that leads to its receiver now; `false` when there is none.
    fn take_up_again(&mut self, flow: u32) -> bool {
        let info = &self.info[flow as usize];
        if info.ack_port == NO_ROUTE {
            self.no_route(info.src, info.dst);
            return false;
        }
        let port = self.data_port(info);
        let nic = self.ports[port as usize].owner;
        self.flows[flow as usize].nic = nic;
        self.nics[nic as usize].flows.push(flow);
        self.cc[flow as usize].on_nic(Rate::from_bps(self.ports[port as usize].rate));
        self.try_send(port);
        true
    }
}
