//! The records of flows.
//!
//! A run may have millions of flows, and their records are what takes most memory. So a record has
//! 80 bytes: what is zero for most flows is stored apart, and a time that may be missing takes no
//! more than a time. The records of a host stay in the chunks into which the host wrote them; to
//! copy them into one vector would take their memory twice.

use std::ops::Index;
use weir_core::{Bytes, ClassId, FlowId, NodeId, PortId, Priority, Time};

/// One flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// Who; names its source, too.
    pub id: FlowId,
    /// To.
    pub dst: NodeId,
    /// Label.
    pub class: ClassId,
    /// Priority of its data.
    pub priority: Priority,
    /// Payload; [`Bytes::MAX`] for an open-ended flow.
    pub size: Bytes,
    /// When it started.
    pub start: Time,
    /// Payload that arrived in order.
    pub delivered: Bytes,
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    pub(crate) finish: MaybeTime,
    pub(crate) acked: MaybeTime,
    pub(crate) ideal: MaybeTime,
    pub(crate) rare: Option<Box<Rare>>,
}

/// A time, or none, in eight bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct MaybeTime(Time);

impl MaybeTime {
    /// [`Time::NEVER`] stands for none: nothing that is recorded happens then.
    pub(crate) const NONE: Self = Self(Time::NEVER);

    #[inline]
    pub(crate) fn get(self) -> Option<Time> {
        (self != Self::NONE).then_some(self.0)
    }
}

impl Default for MaybeTime {
    fn default() -> Self {
        Self::NONE
    }
}

impl From<Option<Time>> for MaybeTime {
    #[inline]
    fn from(time: Option<Time>) -> Self {
        time.map_or(Self::NONE, Self)
    }
}

impl std::fmt::Debug for MaybeTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// What most flows have nothing of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rare {
    pub(crate) retransmitted: u64,
    pub(crate) reordered: u64,
    pub(crate) lost: u64,
    pub(crate) answers_lost: u64,
    pub(crate) timeouts: u64,
    pub(crate) discarded: u64,
    pub(crate) held: Vec<HeldAt>,
    pub(crate) path: Option<u32>,
    pub(crate) tcp: Option<Box<TcpRecord>>,
}

impl Rare {
    pub(crate) const NONE: Self = Self {
        retransmitted: 0,
        reordered: 0,
        lost: 0,
        answers_lost: 0,
        timeouts: 0,
        discarded: 0,
        held: Vec::new(),
        path: None,
        tcp: None,
    };
}

impl FlowRecord {
    /// Whether it is a queue pair of a job, which has no end.
    pub fn is_queue_pair(&self) -> bool {
        self.id.is_pair()
    }

    fn rare(&self) -> &Rare {
        static NONE: Rare = Rare::NONE;
        self.rare.as_deref().unwrap_or(&NONE)
    }

    /// To be called only to put something there.
    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_with(|| Box::new(Rare::NONE))
    }

    /// Replaces what most flows have nothing of.
    pub(crate) fn set_rare(&mut self, rare: Rare) {
        self.rare = (rare != Rare::NONE).then(|| Box::new(rare));
    }

    /// From.
    pub fn src(&self) -> NodeId {
        self.id.source()
    }

    /// The static path it takes, if it does not leave the way to routing.
    pub fn path(&self) -> Option<u32> {
        self.rare().path
    }

    /// When its last payload byte arrived, if all of them did.
    pub fn finish(&self) -> Option<Time> {
        self.finish.get()
    }

    /// When its last ACK reached the sender.
    pub fn acked(&self) -> Option<Time> {
        self.acked.get()
    }

    /// How long it would have taken alone, headers and overhead included, windows excluded.
    pub fn ideal(&self) -> Option<Time> {
        self.ideal.get()
    }

    /// Data packets sent again.
    pub fn retransmitted(&self) -> u64 {
        self.rare().retransmitted
    }

    /// Data packets that arrived behind a later one.
    pub fn reordered(&self) -> u64 {
        self.rare().reordered
    }

    /// Data packets lost on the way.
    pub fn lost(&self) -> u64 {
        self.rare().lost
    }

    /// ACKs, NACKs, CNPs and handshake packets of the flow lost on the way.
    pub fn answers_lost(&self) -> u64 {
        self.rare().answers_lost
    }

    /// How often its retransmission timer fired.
    pub fn timeouts(&self) -> u64 {
        self.rare().timeouts
    }

    /// Packets discarded at the source while held (constant-rate sources).
    pub fn discarded(&self) -> u64 {
        self.rare().discarded
    }

    /// Where flow control held it, and for how long: at each hop the time during which it
    /// had something to send and was held.
    pub fn held(&self) -> &[HeldAt] {
        &self.rare().held
    }

    /// What TCP did, where hosts use it.
    pub fn tcp(&self) -> Option<TcpRecord> {
        self.rare().tcp.as_deref().copied()
    }

    /// Flow completion time: last payload byte at the receiver less start. A TCP flow starts with
    /// its SYN, so that the handshake counts.
    pub fn fct(&self) -> Option<Time> {
        self.finish().map(|t| t - self.start)
    }

    /// Completion as the sender sees it: last ACK less start.
    pub fn fct_ack(&self) -> Option<Time> {
        self.acked().map(|t| t - self.start)
    }

    /// FCT over ideal FCT.
    pub fn slowdown(&self) -> Option<f64> {
        Some(self.fct()?.as_ps() as f64 / self.ideal()?.as_ps() as f64)
    }

    /// Whether its retransmission timer fired although none of its packets and answers was lost.
    pub fn needless_timeouts(&self) -> u64 {
        if self.lost() + self.answers_lost() == 0 { self.timeouts() } else { 0 }
    }

    /// Time lost to pauses, all hops added up; hops may be held at the same time, so it can
    /// exceed the flow's own duration.
    pub fn held_total(&self) -> Time {
        self.held().iter().map(|h| h.time).sum()
    }

    /// Adds a hop at which it was held.
    pub fn add_hold(&mut self, at: HeldAt) {
        self.rare_mut().held.push(at);
    }

    /// Adds data packets and answers that were lost.
    pub fn add_losses(&mut self, data: u64, answers: u64) {
        let rare = self.rare_mut();
        rare.lost += data;
        rare.answers_lost += answers;
    }
}

/// What TCP did for a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpRecord {
    /// When data could be sent: after the handshake, if there is one.
    pub opened: Option<Time>,
    /// The congestion window when the flow, or the run, ended.
    pub window: Bytes,
    /// The largest congestion window.
    pub peak_window: Bytes,
    /// How often the window was cut for ECN marks.
    pub ecn_cuts: u64,
    /// How often duplicate ACKs started a fast retransmit.
    pub fast_retransmits: u64,
}

/// Time a flow lost to holds at one hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldAt {
    /// The node.
    pub node: NodeId,
    /// Its egress port.
    pub port: PortId,
    /// How long.
    pub time: Time,
}

/// The records of all flows, by id.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    /// None is empty, and the flows of each have consecutive numbers.
    chunks: Vec<Vec<FlowRecord>>,
    /// The first flow of each chunk.
    firsts: Vec<FlowId>,
}

impl Flows {
    /// Adds the flows of one host: hosts come by id, and the numbers of its flows are 0, 1 and so
    /// on.
    pub(crate) fn add(&mut self, chunks: Vec<Vec<FlowRecord>>) {
        let chunks = chunks.into_iter().filter(|chunk| !chunk.is_empty());
        for chunk in chunks {
            self.firsts.push(chunk[0].id);
            self.chunks.push(chunk);
        }
    }

    /// How many flows there are.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> FlowIter<'_> {
        self.chunks.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut FlowRecord> {
        self.chunks.iter_mut().flatten()
    }

    /// In which chunk and where in it a flow is, if it is there.
    fn place(&self, id: FlowId) -> Option<(usize, usize)> {
        let chunk = self.firsts.partition_point(|&first| first <= id).checked_sub(1)?;
        Some((chunk, (id.get() - self.firsts[chunk].get()) as usize))
    }

    /// The record of a flow.
    pub fn get(&self, id: FlowId) -> Option<&FlowRecord> {
        let (chunk, at) = self.place(id)?;
        self.chunks[chunk].get(at)
    }

    /// The record of a flow.
    pub fn get_mut(&mut self, id: FlowId) -> Option<&mut FlowRecord> {
        let (chunk, at) = self.place(id)?;
        self.chunks[chunk].get_mut(at)
    }
}

/// Goes through [`Flows`].
pub type FlowIter<'a> = std::iter::Flatten<std::slice::Iter<'a, Vec<FlowRecord>>>;

impl<'a> IntoIterator for &'a Flows {
    type Item = &'a FlowRecord;
    type IntoIter = FlowIter<'a>;

    fn into_iter(self) -> FlowIter<'a> {
        self.iter()
    }
}

impl PartialEq for Flows {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl Index<usize> for Flows {
    type Output = FlowRecord;

    /// The `n`-th flow of all.
    fn index(&self, n: usize) -> &FlowRecord {
        let mut left = n;
        for chunk in &self.chunks {
            match chunk.get(left) {
                Some(record) => return record,
                None => left -= chunk.len(),
            }
        }
        panic!("flow {n} of {}", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(host: u32, number: u32) -> FlowRecord {
        FlowRecord { id: FlowId::new(NodeId(host), number), ..FlowRecord::default() }
    }

    /// Three hosts with five, no and two flows, the first in two chunks.
    fn some() -> Flows {
        let mut flows = Flows::default();
        flows.add(vec![(0..3).map(|n| record(1, n)).collect(), vec![record(1, 3), record(1, 4)]]);
        flows.add(vec![Vec::new()]);
        flows.add(vec![vec![record(7, 0), record(7, 1)]]);
        flows
    }

    /// A run of a million flows takes as many records: 80 MB.
    #[test]
    fn a_record_takes_80_bytes() {
        assert_eq!(size_of::<FlowRecord>(), 80);
    }

    #[test]
    fn flows_are_found_by_id_and_by_place() {
        let mut flows = some();
        assert_eq!((flows.len(), flows.is_empty()), (7, false));
        let ids: Vec<FlowId> = flows.iter().map(|f| f.id).collect();
        assert!(ids.is_sorted());
        for (i, &id) in ids.iter().enumerate() {
            assert_eq!((flows[i].id, flows.get(id).map(|f| f.id)), (id, Some(id)));
            assert_eq!(flows.get_mut(id).map(|f| f.id), Some(id));
        }
        for (host, number) in [(0, 0), (1, 5), (2, 0), (7, 2), (9, 1)] {
            assert_eq!(flows.get(FlowId::new(NodeId(host), number)), None);
        }
    }

    #[test]
    fn what_a_flow_has_nothing_of_reads_as_nothing_and_equals_it() {
        let plain = record(1, 0);
        assert_eq!((plain.lost(), plain.held(), plain.tcp()), (0, &[][..], None));
        assert_eq!((plain.finish(), plain.acked(), plain.ideal()), (None, None, None));
        let mut other = plain.clone();
        other.set_rare(Rare::NONE);
        assert_eq!(other, plain);
        other.add_losses(2, 1);
        assert_eq!((other.lost(), other.answers_lost()), (2, 1));
        assert_ne!(other, plain);
        let (mut a, b) = (some(), some());
        assert_eq!(a, b);
        a.get_mut(b[6].id).expect("seven flows").packets = 1;
        assert_ne!(a, b);
    }
}
