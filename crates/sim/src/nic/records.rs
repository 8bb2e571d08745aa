//! What a host keeps of its finished flows until the end of the run.
//!
//! A run may have millions of flows, so they are kept small: what is zero or nothing for most of
//! them stands apart. They are kept in chunks: a vector that doubles would take up to twice their
//! memory, and all of it until the last record has been moved on. Chunks are freed one by one.

use crate::outcome::{FlowRecord, HeldAt, TcpRecord};
use weir_core::{Bytes, ClassId, FlowId, NodeId, Priority, Time};

/// A flow as its sender knows it when it ends.
#[derive(Clone, Debug)]
struct Ended {
    id: FlowId,
    src: NodeId,
    dst: NodeId,
    size: Bytes,
    start: Time,
    /// [`Time::NEVER`] for none.
    acked: Time,
    packets: u64,
    /// `u32::MAX` for none.
    path: u32,
    class: ClassId,
    priority: Priority,
    rare: Option<Box<Rare>>,
}

/// What most flows have nothing of.
#[derive(Clone, Debug, Default)]
struct Rare {
    retransmitted: u64,
    discarded: u64,
    timeouts: u64,
    held: Vec<HeldAt>,
    tcp: Option<TcpRecord>,
}

impl From<FlowRecord> for Ended {
    fn from(r: FlowRecord) -> Self {
        let some = r.retransmitted + r.discarded + r.timeouts > 0;
        let rare = (some || !r.held.is_empty() || r.tcp.is_some()).then(|| {
            let FlowRecord { retransmitted, discarded, timeouts, held, tcp, .. } = r;
            Box::new(Rare { retransmitted, discarded, timeouts, held, tcp })
        });
        Self {
            id: r.id,
            src: r.src,
            dst: r.dst,
            size: r.size,
            start: r.start,
            acked: r.acked.unwrap_or(Time::NEVER),
            packets: r.packets,
            path: r.path.unwrap_or(u32::MAX),
            class: r.class,
            priority: r.priority,
            rare,
        }
    }
}

impl From<Ended> for FlowRecord {
    /// What receivers and switches measured is added when the records are joined.
    fn from(e: Ended) -> Self {
        let rare = e.rare.map(|r| *r);
        let Rare { retransmitted, discarded, timeouts, held, tcp } = rare.unwrap_or_default();
        Self {
            id: e.id,
            src: e.src,
            dst: e.dst,
            class: e.class,
            priority: e.priority,
            size: e.size,
            start: e.start,
            path: Some(e.path).filter(|&p| p != u32::MAX),
            finish: None,
            acked: Some(e.acked).filter(|&t| t != Time::NEVER),
            ideal: None,
            delivered: Bytes::ZERO,
            packets: e.packets,
            retransmitted,
            reordered: 0,
            lost: 0,
            answers_lost: 0,
            timeouts,
            discarded,
            held,
            tcp,
        }
    }
}

/// The finished flows of a host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    chunks: Vec<Vec<Ended>>,
}

impl Records {
    /// Few hosts have many flows, and many have few.
    const SMALLEST: usize = 4;
    const LARGEST: usize = 1024;

    /// Keeps the sender's part of a record.
    pub(crate) fn push(&mut self, record: FlowRecord) {
        let full = |chunk: &Vec<Ended>| chunk.len() == chunk.capacity();
        if self.chunks.last().is_none_or(full) {
            let last = self.chunks.last().map_or(0, Vec::len);
            let size = (2 * last).clamp(Self::SMALLEST, Self::LARGEST);
            self.chunks.push(Vec::with_capacity(size));
        }
        self.chunks.last_mut().expect("one was added").push(record.into());
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    pub(crate) fn into_records(self) -> impl Iterator<Item = FlowRecord> {
        self.chunks.into_iter().flatten().map(FlowRecord::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::PortId;

    fn record(number: u32, path: Option<u32>, timeouts: u64, held: Vec<HeldAt>) -> FlowRecord {
        FlowRecord {
            id: FlowId::new(NodeId(1), number),
            src: NodeId(1),
            dst: NodeId(2),
            class: ClassId(3),
            priority: Priority::ALL[4],
            size: Bytes::new(5),
            start: Time::from_ns(6),
            path,
            finish: None,
            acked: path.map(|_| Time::from_ns(7)),
            ideal: None,
            delivered: Bytes::ZERO,
            packets: 8,
            retransmitted: timeouts,
            reordered: 0,
            lost: 0,
            answers_lost: 0,
            timeouts,
            discarded: timeouts / 2,
            held,
            tcp: None,
        }
    }

    #[test]
    fn what_a_sender_knows_comes_back_as_it_was() {
        let at = HeldAt { node: NodeId(1), port: PortId(0), time: Time::from_ns(9) };
        let all: Vec<FlowRecord> = (0..3000)
            .map(|i| match i % 3 {
                0 => record(i, None, 0, Vec::new()),
                1 if i % 2 == 0 => {
                    let tcp = Some(TcpRecord { ecn_cuts: 3, ..TcpRecord::default() });
                    FlowRecord { tcp, ..record(i, None, 0, Vec::new()) }
                }
                1 => record(i, Some(i), 0, vec![at]),
                _ => record(i, None, 11, Vec::new()),
            })
            .collect();
        let mut records = Records::default();
        all.iter().for_each(|r| records.push(r.clone()));
        assert_eq!(records.len(), 3000);
        assert!(records.into_records().eq(all));
    }

    #[test]
    fn a_finished_flow_takes_64_bytes() {
        assert_eq!(size_of::<Ended>(), 64);
    }
}
