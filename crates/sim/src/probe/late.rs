//! How long a wire was busy until the end of a run, to the picosecond.
//!
//! A run ends when the last data packet or answer moves; control frames that repeat a pause may
//! follow for a while, and a frame counts as sent when it starts. Only what was on the wire before
//! the end belongs to the utilisation of a port.

use crate::link::Transmitter;
use std::collections::VecDeque;
use weir_core::{Bytes, Time};

/// The control frames of a port since its node was last active, when they may have been later than
/// the end of the run. (The end is not before the last activity of any node.)
#[derive(Clone, Debug, Default)]
pub(crate) struct LateFrames {
    /// (first bit, last bit) on the wire, in order.
    frames: VecDeque<(Time, Time)>,
}

impl LateFrames {
    /// Of more frames than this the earliest count as before the end. In the millisecond after
    /// which a deadlock is told these are more than frames of 64 B at 40 Gb/s.
    const MOST: usize = 1 << 16;

    /// A control frame has just started at `now` in a node that was last active at `active`.
    pub(crate) fn note(&mut self, now: Time, tx: &Transmitter, active: Time) {
        while self.frames.front().is_some_and(|(_, end)| *end <= active)
            || self.frames.len() >= Self::MOST
        {
            self.frames.pop_front();
        }
        match self.frames.back_mut() {
            Some((_, end)) if *end == now => *end = tx.busy_until,
            _ => self.frames.push_back((now, tx.busy_until)),
        }
    }

    /// How long the wire was busy until `end` with frames that have taken `bytes` of line time
    /// since `start`.
    pub(crate) fn busy(&self, tx: &Transmitter, bytes: u64, start: Time, end: Time) -> Time {
        let after = |(from, to): (Time, Time)| to.saturating_sub(end.max(from));
        let mut late: Time = self.frames.iter().map(|f| after(*f)).sum();
        if self.frames.back().is_none_or(|(_, to)| *to != tx.busy_until) {
            // the last frame carries traffic: only its rest can be late
            late += tx.busy_until.saturating_sub(end);
        }
        let busy = tx.rate.time_for(Bytes::new(bytes));
        busy.saturating_sub(late).min(end.saturating_sub(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::test_packet;
    use crate::link::{WireNumbers, Wires};
    use weir_core::{NodeId, Rate};
    use weir_net::build::{self, star};

    /// 100 B at 8 Gb/s: 1 ns a byte.
    #[test]
    fn only_what_was_on_the_wire_before_the_end_counts() {
        let ns = Time::from_ns;
        let params = star::Params { hosts: 1, ..star::Params::default() };
        let topology = build::star::build(&params).unwrap();
        let nodes = [(0..2).map(NodeId).collect()];
        let numbers = WireNumbers::new(&topology, &nodes);
        let mut wires = Wires::new(&topology, &nodes, &numbers, 0);
        let wire = numbers.at_port(NodeId(1), 0);
        let mut tx = Transmitter::new(wire, Rate::from_gbps(8), ns(1), Bytes::ZERO);
        let mut late = LateFrames::default();
        // data from 0 to 100 ns; control frames from 200 and 400 ns
        tx.send(ns(0), &test_packet(0, 100), &mut wires);
        assert_eq!(late.busy(&tx, 100, ns(0), ns(60)), ns(60), "the end is within the data");
        for start in [200, 400] {
            tx.send(ns(start), &test_packet(0, 100), &mut wires);
            late.note(ns(start), &tx, ns(0));
        }
        let busy = |end| late.busy(&tx, 300, ns(0), ns(end));
        assert_eq!([150, 230, 400, 450, 900].map(busy), [100, 130, 200, 250, 300].map(ns));
        // the node is active again: the frame that had ended by then is before the end, whenever
        // that is
        tx.send(ns(600), &test_packet(0, 100), &mut wires);
        late.note(ns(600), &tx, ns(550));
        assert_eq!(late.frames.len(), 1);
        assert_eq!(late.busy(&tx, 400, ns(0), ns(550)), ns(300));
    }
}
