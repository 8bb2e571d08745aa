//! A queue pair of a job: one sender for many messages.
//!
//! Its packets are numbered through, so that congestion control, windows, acknowledgements and
//! retransmission are those of one long flow. The last packet of each message is marked, may be
//! shorter, and says which message it ends ([`MessageEnd`]).

use crate::parcel::MessageEnd;
use std::collections::VecDeque;

/// The messages of a queue pair that are not yet acknowledged.
#[derive(Debug)]
pub(crate) struct QueuePair {
    /// Its rank, by its place among those of the host.
    pub(super) owner: u32,
    /// Which of the GPUs of its host its rank is: its packets leave by the port of that number.
    pub(super) rail: u32,
    /// What its messages say, but for their tags: they all go from one rank to one other.
    message_end: MessageEnd,
    messages: VecDeque<Posted>,
}

/// A message that was posted.
#[derive(Clone, Copy, Debug)]
struct Posted {
    /// One past its last packet.
    end: u32,
    /// Payload of its last packet.
    last_payload: u32,
    op: u64,
    tag: u64,
    /// Its last packet has left.
    left: bool,
}

impl QueuePair {
    /// Its messages say what `message_end` does, each with a tag of its own.
    pub(super) fn new(owner: u32, rail: u32, message_end: MessageEnd) -> Self {
        // most have one message on its way, and the one before it unacknowledged
        Self { owner, rail, message_end, messages: VecDeque::with_capacity(2) }
    }

    /// A message whose packets end before packet `end`.
    pub(super) fn post(&mut self, end: u32, last_payload: u32, op: u64, tag: u64) {
        self.messages.push_back(Posted { end, last_payload, op, tag, left: false });
    }

    /// The message that packet `seq` is part of.
    fn message_of(&self, seq: u32) -> Option<usize> {
        let last = self.messages.len().checked_sub(1)?;
        let at = match last.checked_sub(1) {
            // what is sent is mostly part of the last one
            Some(before) if seq < self.messages[before].end => {
                self.messages.partition_point(|m| m.end <= seq)
            }
            _ => last,
        };
        (seq < self.messages[at].end).then_some(at)
    }

    /// The end of the message of packet `seq`, and the payload of its last packet.
    #[inline(never)]
    pub(super) fn end_of(&self, seq: u32) -> (u32, u64) {
        let message = self.message_of(seq).map(|at| &self.messages[at]);
        message.map_or((u32::MAX, 0), |m| (m.end, u64::from(m.last_payload)))
    }

    /// What the last packet of a message says.
    pub(super) fn message_end_of(&self, seq: u32) -> Option<MessageEnd> {
        self.message_of(seq).map(|at| MessageEnd { tag: self.messages[at].tag, ..self.message_end })
    }

    /// Packet `seq` leaves: the operation whose message it ends for the first time.
    pub(super) fn leaves(&mut self, seq: u32) -> Option<u64> {
        let at = self.message_of(seq)?;
        let message = &mut self.messages[at];
        let ends = message.end == seq + 1 && !message.left;
        message.left |= ends;
        ends.then_some(message.op)
    }

    /// Where the oldest message that is not acknowledged ends; `u32::MAX` if there is none.
    pub(super) fn first_end(&self) -> u32 {
        self.messages.front().map_or(u32::MAX, |m| m.end)
    }

    /// Packets below `una` are acknowledged: the next operation that is complete by that, and
    /// its last packet.
    pub(super) fn acknowledged(&mut self, una: u32) -> Option<(u64, u32)> {
        self.messages.front().filter(|m| m.end <= una)?;
        self.messages.pop_front().map(|m| (m.op, m.end - 1))
    }

    /// Payload of the messages beyond packet `una`, packets other than the last ones having
    /// `payload` bytes.
    pub(super) fn bytes_from(&self, una: u32, payload: u64) -> u64 {
        let mut begin = una;
        let mut bytes = 0;
        for m in &self.messages {
            if let packets @ 1.. = m.end.saturating_sub(begin) {
                bytes += u64::from(packets - 1) * payload + u64::from(m.last_payload);
            }
            begin = begin.max(m.end);
        }
        bytes
    }

    /// Whether every message is acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        self.messages.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of 3, 1 and 2 packets.
    #[test]
    fn packets_belong_to_the_message_that_they_are_part_of() {
        let mut pair = QueuePair::new(0, 0, MessageEnd { job: 0, from: 0, to: 1, tag: 0 });
        for (op, (end, last)) in [(3, 10), (4, 20), (6, 30)].into_iter().enumerate() {
            pair.post(end, last, op as u64, op as u64);
        }
        let ends: Vec<(u32, u64)> = (0..6).map(|seq| pair.end_of(seq)).collect();
        assert_eq!(ends, [(3, 10), (3, 10), (3, 10), (4, 20), (6, 30), (6, 30)]);
        assert_eq!(pair.message_end_of(3).map(|e| e.tag), Some(1));
        let bytes = [0, 2, 3, 5, 6].map(|una| pair.bytes_from(una, 100));
        assert_eq!(bytes, [210 + 20 + 130, 10 + 20 + 130, 20 + 130, 30, 0]);
        let left: Vec<Option<u64>> = [1, 2, 2, 3].map(|seq| pair.leaves(seq)).to_vec();
        assert_eq!(left, [None, Some(0), None, Some(1)], "sent again, it leaves no second time");
        assert_eq!((pair.acknowledged(2), pair.acknowledged(5)), (None, Some((0, 2))));
        assert_eq!((pair.acknowledged(5), pair.acknowledged(5)), (Some((1, 3)), None));
        assert_eq!((pair.end_of(4), pair.is_idle()), ((6, 30), false));
        assert_eq!((pair.acknowledged(6), pair.is_idle()), (Some((2, 5)), true));
    }
}
