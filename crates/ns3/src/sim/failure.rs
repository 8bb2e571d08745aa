//! A link that goes down.
//!
//! Routes are computed anew, what waits at the two ends vanishes (its bytes stay charged), and
//! every host sorts its unfinished flows onto its NICs again, oldest flow first. (The original
//! takes them in the order of a hash map.)

use super::Sim;
use super::build::ack_port;
use crate::record::TraceEvent;
use weir_cc::CongestionControl;

impl<C: CongestionControl> Sim<'_, C> {
    pub(super) fn take_link_down(&mut self) {
        let Some(down) = self.inputs.config.link_down else {
            return;
        };
        let Some(port) = self.numbering.of(down.a).rev().find(|&p| {
            let peer = self.numbering.ends[p as usize].peer;
            self.numbering.ends[peer as usize].node == down.b
        }) else {
            return;
        };
        let cut = self.numbering.ends[port as usize].link;
        let routes = self.inputs.routes(&self.numbering, |link| link != cut);
        self.routes.replace_next_hops(routes);
        for i in 0..self.info.len() {
            let f = &self.info[i];
            self.info[i].ack_port = ack_port(f.dst, f.src, f.reverse, &self.routes);
        }
        let peer = self.ports[port as usize].peer;
        self.clear_port(port);
        self.clear_port(peer);
        self.redistribute();
    }

    /// Drops what waits at the port and takes it down.
    fn clear_port(&mut self, port: u32) {
        let p = &mut self.ports[port as usize];
        p.up = false;
        if p.is_host {
            let nic = p.owner as usize;
            while !self.nics[nic].acks.is_empty() {
                let packet = self.nics[nic].acks.pop(&self.pool);
                self.discard(port, 0, packet);
            }
            return;
        }
        p.paused = 0;
        for queue in 0..crate::mmu::QUEUES {
            while !self.ports[port as usize].queues[queue].is_empty() {
                let packet = self.ports[port as usize].queues[queue].pop(&self.pool);
                self.discard(port, queue, packet);
            }
        }
        let p = &mut self.ports[port as usize];
        p.backlog = 0;
        p.queued = 0;
    }

    fn discard(&mut self, port: u32, queue: usize, packet: u32) {
        self.trace(TraceEvent::Drop, port, queue, packet);
        self.counters.lost += 1;
        self.pool.remove(packet);
    }

    fn redistribute(&mut self) {
        for nic in &mut self.nics {
            nic.flows.clear();
        }
        let unfinished: Vec<u32> =
            (0..self.flows.len() as u32).filter(|&f| self.flows[f as usize].known).collect();
        // Hosts in ascending order, each with its flows in the order they started.
        let mut by_host: Vec<(u32, u32)> =
            unfinished.into_iter().map(|f| (self.info[f as usize].src, f)).collect();
        by_host.sort_unstable();
        for (_, flow) in by_host {
            let port = self.data_port(&self.info[flow as usize]);
            let nic = self.ports[port as usize].owner;
            self.flows[flow as usize].nic = nic;
            self.nics[nic as usize].flows.push(flow);
            self.try_send(port);
        }
    }
}
