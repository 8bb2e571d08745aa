//! What a switch has to say when the run ends.

use super::Switch;
use super::port::Port;
use crate::outcome::{PortRecord, SwitchRecord};
use crate::probe::{Sight, tables};
use weir_core::{Bytes, Packet, PacketKind, PortId, Priority, PrioritySet, Time};
use weir_fc::{Network, StateSize, Violation};

impl Switch {
    /// What is queued, marks included, or in the forwarding pipeline.
    fn inside(&self) -> impl Iterator<Item = &Packet> {
        let queues = |o: usize| (0..self.ports[o].queues.len()).map(move |q| (o, q));
        let queued = (0..self.ports.len()).flat_map(queues).flat_map(|(o, q)| self.queued(o, q));
        let processed = self.processor.iter().flat_map(|p| p.inside());
        queued.chain(self.pipeline.iter().map(|(_, p)| p)).chain(processed)
    }

    /// How many packets are inside.
    pub(crate) fn packets_inside(&self) -> u64 {
        self.inside().filter(|p| p.kind != PacketKind::Mark).count() as u64
    }

    /// Whether a packet inside carries more than itself.
    pub(crate) fn uses_extras(&self) -> bool {
        self.inside().any(|p| p.extra != Packet::NO_EXTRA)
            || self.ports.iter().any(Port::has_control)
    }

    /// The packets of a queue, first in first.
    pub(crate) fn queued(&self, o: usize, q: usize) -> impl Iterator<Item = &Packet> {
        self.stored.iter(&self.ports[o].queues[q].fifo)
    }

    /// Checks that all books agree with what is stored.
    pub(crate) fn audit(&self, now: Time, network: Network) -> Result<(), Violation> {
        let violation = |what| Violation { scheme: "buffer", what };
        self.books.mmu.audit().map_err(violation)?;
        let mut stored = Bytes::ZERO;
        for (o, port) in self.ports.iter().enumerate() {
            let mut q_out = [Bytes::ZERO; Priority::COUNT];
            for q in 0..port.queues.len() {
                let packets = || self.queued(o, q).filter(|p| p.kind != PacketKind::Mark);
                let bytes: Bytes = packets().map(Packet::bytes).sum();
                let book = &self.books.ports[o].queues[q];
                if bytes != book.bytes || packets().count() as u64 != u64::from(book.packets) {
                    return Err(violation(format!(
                        "port {o} queue {q} holds {} B, its counter says {} B",
                        bytes.get(),
                        book.bytes.get()
                    )));
                }
                for p in packets() {
                    q_out[p.priority.index()] += p.bytes();
                }
                stored += packets().map(|p| self.books.mmu.charge(p.bytes())).sum::<Bytes>();
            }
            if q_out != self.books.ports[o].q_out {
                return Err(violation(format!(
                    "port {o} holds {:?} B by priority, its counter says {:?}",
                    q_out.map(Bytes::get),
                    self.books.ports[o].q_out.map(Bytes::get)
                )));
            }
        }
        if let Some(processor) = &self.processor {
            stored += processor.audit(&self.books.mmu).map_err(violation)?;
        }
        if stored != self.books.mmu.used() {
            return Err(violation(format!(
                "queues hold {} B, the buffer counts {} B",
                stored.get(),
                self.books.mmu.used().get()
            )));
        }
        self.scheme.fc.audit(&self.view(now), network)
    }

    /// One record per port that did anything.
    pub(crate) fn port_records(&mut self, start: Time, end: Time) -> Vec<PortRecord> {
        let Self { id, counted_from, .. } = *self;
        let records = self.ports.iter_mut().enumerate().map(|(o, port)| {
            let queue = port.statistics(counted_from, end);
            port.meter.record((id, PortId::from_index(o)), &port.tx, queue, (start, end))
        });
        let did = |r: &PortRecord| {
            let counts = [r.packets, r.dropped, r.control_faulted];
            counts.iter().any(|n| *n > 0) || r.queue.max > Bytes::ZERO
        };
        records.filter(did).collect()
    }

    pub(crate) fn record(&mut self, end: Time) -> SwitchRecord {
        // what is in the buffer is in the queues, as the audit checks
        let until = self.buffer.until(end);
        let area: u128 = self.ports.iter().map(|p| p.area.until(until, p.queue.length())).sum();
        let area = area + self.processor.as_ref().map_or(0, |p| p.area(until));
        let mut buffer = self.buffer.stats((self.counted_from, end), area);
        if self.books.mmu.counts_cells() {
            // the queues know bytes of frames only
            buffer.mean = buffer.mean_of_bins();
        }
        SwitchRecord {
            node: self.id,
            peak_buffer: self.books.mmu.peak(),
            buffer,
            // those that change are left to a probe
            tables: match self.shortcuts && self.scheme.fc.has_fixed_state() {
                true => tables::fixed(self.scheme.fc.state_size()),
                false => Vec::new(),
            },
            processor: self.processor.as_mut().map(|p| p.record(end)),
        }
    }
}

impl Sight for Switch {
    fn ports(&self) -> usize {
        self.ports.len()
    }

    fn queue(&self, port: PortId) -> Bytes {
        Bytes::new(self.ports[port.index()].queue.length())
    }

    fn ingress(&self, port: PortId) -> Bytes {
        Priority::ALL.iter().map(|&p| self.books.mmu.q_in(port, p)).sum()
    }

    fn held(&self, port: PortId) -> PrioritySet {
        self.ports[port.index()].meter.holds.held()
    }

    fn memory(&self) -> Bytes {
        self.books.mmu.used()
    }

    fn tables(&self) -> StateSize {
        self.scheme.fc.state_size()
    }

    fn events(&self) -> u64 {
        self.tally.hops + self.tally.events
    }
}
