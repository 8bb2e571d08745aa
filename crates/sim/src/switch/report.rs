//! What a switch has to say when the run ends.

use super::Switch;
use super::port::Port;
use crate::outcome::{PortRecord, Sample, SwitchRecord};
use weir_core::{Bytes, Packet, PacketKind, PortId, Priority, Time};
use weir_fc::Violation;

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
    pub(crate) fn audit(&self, now: Time, drained: bool) -> Result<(), Violation> {
        let violation = |what| Violation { scheme: "buffer", what };
        self.books.mmu.audit().map_err(violation)?;
        let mut stored = 0u64;
        for (o, port) in self.ports.iter().enumerate() {
            let mut q_out = [0u64; Priority::COUNT];
            for q in 0..port.queues.len() {
                let packets = || self.queued(o, q).filter(|p| p.kind != PacketKind::Mark);
                let bytes: u64 = packets().map(|p| u64::from(p.size)).sum();
                let book = &self.books.ports[o].queues[q];
                if bytes != book.bytes || packets().count() as u64 != u64::from(book.packets) {
                    return Err(violation(format!(
                        "port {o} queue {q} holds {bytes} B, its book says {} B",
                        book.bytes
                    )));
                }
                for p in packets() {
                    q_out[p.priority.index()] += u64::from(p.size);
                }
                stored += bytes;
            }
            if q_out != self.books.ports[o].q_out {
                return Err(violation(format!(
                    "port {o} holds {q_out:?} B by priority, its book says {:?}",
                    self.books.ports[o].q_out
                )));
            }
        }
        if let Some(processor) = &self.processor {
            stored += processor.audit(&self.books.mmu).map_err(violation)?;
        }
        if stored != self.books.mmu.used().get() {
            return Err(violation(format!(
                "queues hold {stored} B, the buffer counts {} B",
                self.books.mmu.used().get()
            )));
        }
        self.scheme.fc.audit(&self.view(now), drained)
    }

    /// One record per port that did anything.
    pub(crate) fn port_records(&mut self, start: Time, end: Time) -> Vec<PortRecord> {
        let id = self.id;
        let span = end.saturating_sub(start);
        let records = self.ports.iter_mut().enumerate().map(|(o, port)| {
            let wire_bytes = port.tx.wire_bytes - port.base.1;
            PortRecord {
                node: id,
                port: PortId::from_index(o),
                rate: port.tx.rate,
                packets: port.tx.packets - port.base.0,
                wire_bytes: Bytes::new(wire_bytes),
                utilisation: utilisation(port.late.busy(&port.tx, wire_bytes, start, end), span),
                queue: port.statistics(end),
                control_sent: port.control_sent,
                pauses_sent: port.pauses_sent,
                holds: port.holds.started(),
                held_time: port.holds.time(start, end),
                ecn_marked: port.marked,
                dropped: port.dropped,
            }
        });
        records.filter(|r| r.packets > 0 || r.dropped > 0 || r.queue.max > Bytes::ZERO).collect()
    }

    pub(crate) fn record(&mut self, end: Time) -> SwitchRecord {
        // what is in the buffer is in the queues, as the audit checks
        let until = self.buffer.until(end);
        let area: u128 = self.ports.iter().map(|p| p.area.until(until, p.queue.length())).sum();
        let area = area + self.processor.as_ref().map_or(0, |p| p.area(until));
        SwitchRecord {
            node: self.id,
            peak_buffer: self.books.mmu.peak(),
            buffer: self.buffer.stats(end, area),
            tables: self.tables.stats(end),
            processor: self.processor.as_mut().map(|p| p.record(end)),
        }
    }

    /// Notes how large the scheme's tables are.
    pub(crate) fn look_at_tables(&mut self, at: Time, start: Time) {
        if self.tables.is_due(start, self.tally.hops + self.tally.events) {
            self.tables.look(at, start, self.scheme.fc.state_size());
        }
    }

    /// No table was looked at after `at`.
    pub(crate) fn looked_at_tables(&mut self, at: Time, start: Time) {
        self.tables.catch_up(at, start);
    }

    /// The state of all ports at `at`.
    pub(crate) fn sample(&self, at: Time, out: &mut Vec<Sample>) {
        for (o, port) in self.ports.iter().enumerate() {
            let port_id = PortId::from_index(o);
            let ingress: u64 =
                Priority::ALL.iter().map(|&p| self.books.mmu.q_in(port_id, p).get()).sum();
            out.push(Sample {
                at,
                node: self.id,
                port: port_id,
                queue: Bytes::new(port.queue.length()),
                ingress: Bytes::new(ingress),
                held: port.holds.held().bits(),
            });
        }
    }
}

/// Fraction of `span` during which the wire was busy.
pub(crate) fn utilisation(busy: Time, span: Time) -> f64 {
    if span == Time::ZERO { 0.0 } else { busy.as_ps() as f64 / span.as_ps() as f64 }
}
