//! Messages of flows whose size nobody states: the queue pairs of jobs, and sources without an end.
//!
//! What the packets of a message carry adds up to its size, as far as they were captured.

use rustc_hash::FxHashMap;
use weir_core::packet::flags;
use weir_core::{FlowId, Packet};

/// The first packets of messages, by flow and number, with the bytes of the message.
#[derive(Debug, Default)]
pub(super) struct Messages(FxHashMap<(FlowId, u32), u64>);

impl Messages {
    /// The messages of these packets of data, each of which may come several times; headers take
    /// `header` bytes.
    pub(super) fn new<'a>(data: impl Iterator<Item = &'a Packet>, header: u64) -> Self {
        let payload = |p: &Packet| u64::from(p.size).saturating_sub(header);
        let mut parts: Vec<_> =
            data.map(|p| (p.flow, p.seq, payload(p), p.has(flags::LAST))).collect();
        parts.sort_unstable();
        parts.dedup_by_key(|(flow, seq, ..)| (*flow, *seq));
        let mut messages = FxHashMap::default();
        // the packet that would be next, and the first one of the message that it belongs to
        let mut next: Option<(FlowId, u32, Option<u32>)> = None;
        for (flow, seq, bytes, last) in parts {
            let begin = match next {
                _ if seq == 0 => Some(0),
                // the packet before it was the last of a message
                Some((f, s, None)) if f == flow => (s == seq).then_some(seq),
                Some((f, _, begin)) if f == flow => begin,
                _ => None,
            };
            if let Some(begin) = begin {
                *messages.entry((flow, begin)).or_insert(0) += bytes;
            }
            next = match (begin, last) {
                (_, true) => Some((flow, seq.wrapping_add(1), None)),
                (Some(_), false) => Some((flow, seq, begin)),
                (None, false) => None,
            };
        }
        Self(messages)
    }

    /// Bytes of the message that begins with a packet.
    pub(super) fn size(&self, packet: &Packet) -> Option<u64> {
        self.0.get(&(packet.flow, packet.seq)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::{NodeId, PacketKind, PortId, Priority};

    fn packet(seq: u32, size: u16, last: bool) -> Packet {
        Packet {
            flow: FlowId::new(NodeId(1), 7),
            seq,
            dst: NodeId(2),
            wire_tag: 0,
            extra: Packet::NO_EXTRA,
            size,
            ingress: PortId(0),
            kind: PacketKind::Data,
            priority: Priority::ALL[3],
            flags: if last { flags::LAST } else { 0 },
            local_tag: 0,
        }
    }

    /// What begins with each of the packets 0 to 6.
    fn sizes(packets: &[Packet]) -> Vec<Option<u64>> {
        let messages = Messages::new(packets.iter(), 100);
        (0..7).map(|seq| messages.size(&packet(seq, 0, false))).collect()
    }

    #[test]
    fn a_message_has_the_bytes_of_its_packets_each_counted_once() {
        let all = [
            packet(0, 1100, false),
            packet(1, 350, true),
            packet(2, 600, true),
            packet(1, 350, true),
            packet(3, 1100, false),
            packet(0, 1100, false),
        ];
        assert_eq!(sizes(&all), [Some(1250), None, Some(500), Some(1000), None, None, None]);
        // one whose beginning was not captured begins nowhere, the next one does
        assert_eq!(sizes(&all[1..3]), [None, None, Some(500), None, None, None, None]);
        // packet 4 is missing: whether 5 begins a message is not known
        let gap = [packet(3, 1100, true), packet(5, 700, false), packet(6, 700, true)];
        assert_eq!(sizes(&gap), [None; 7]);
    }
}
