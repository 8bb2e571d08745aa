//! What a host keeps of its finished flows until the end of the run.
//!
//! A run may have millions of flows. Their records stand in chunks, each at the place of its
//! number: they are in order without being sorted, and become part of the outcome without being
//! copied.

use crate::outcome::FlowRecord;
use weir_core::FlowId;

/// The finished flows of a host, or its queue pairs, which are numbered apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    chunks: Vec<Vec<FlowRecord>>,
}

impl Records {
    /// Flows of a full chunk. The first grows: many hosts have few flows.
    const CHUNK: usize = 1024;

    /// Keeps the sender's part of a record.
    pub(crate) fn put(&mut self, record: FlowRecord) {
        let number = (record.id.number() & !FlowId::FIRST_PAIR) as usize;
        let (nth, at) = (number / Self::CHUNK, number % Self::CHUNK);
        while self.chunks.len() <= nth {
            let capacity = if self.chunks.is_empty() { 0 } else { Self::CHUNK };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let chunk = &mut self.chunks[nth];
        if chunk.len() <= at {
            chunk.resize_with(at + 1, FlowRecord::default);
        }
        chunk[at] = record;
    }

    /// All records, by number, when there is one of each flow.
    pub(crate) fn into_chunks(self) -> Vec<Vec<FlowRecord>> {
        let numbers = || self.chunks.iter().flatten().map(|f| f.id.number() & !FlowId::FIRST_PAIR);
        debug_assert!(numbers().eq(0..numbers().count() as u32), "every flow has a record");
        self.chunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::{FlowId, NodeId};

    /// Flows end in any order; some are still open when later ones have ended.
    #[test]
    fn records_are_in_order_of_their_numbers() {
        let mut records = Records::default();
        let record = |n| FlowRecord {
            id: FlowId::new(NodeId(1), n),
            packets: u64::from(n) + 8,
            ..FlowRecord::default()
        };
        // 7 and 3000 have no common divisor, so every number comes once
        (0..3000).for_each(|i| records.put(record(i * 7 % 3000)));
        let chunks = records.into_chunks();
        assert!(chunks.iter().flatten().eq(&(0..3000).map(record).collect::<Vec<_>>()));
        assert_eq!(chunks.iter().map(Vec::len).collect::<Vec<_>>(), [1024, 1024, 952]);
        assert!(chunks[1..].iter().all(|c| c.capacity() == 1024), "no chunk has moved");
    }
}
