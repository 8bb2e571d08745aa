mod algorithm1;
mod algorithm2;
mod marks;
mod node;

use super::*;
use crate::harness::given;
use crate::harness::{Bench, PRIORITY, TestPacket};
use weir_core::NodeId;

const UP: PortId = PortId(0);
const OUT: PortId = PortId(1);
const UP2: PortId = PortId(2);
/// Priorities 7 to 4 come first.
const FIRST: u32 = 4;

/// 40 Gb/s and a round trip of 5 us: the product is 25 000 B. Packets have 1000 B.
fn bench(params: &[(&str, &str)]) -> Bench<FlowSail> {
    let mut all = vec![("hop-rtt", "5us")];
    all.extend(params);
    let values = given(&INFO, &all);
    Bench::around(3, "75KB", "45KB", |setup| FlowSail::new(&values, setup).unwrap())
}

/// One normal queue (4) and the isolation queue (5).
const ONE: QueueId = QueueId(FIRST);
const ISOLATION: QueueId = QueueId(FIRST + 1);
fn two_queues(reading: &str) -> Bench<FlowSail> {
    bench(&[("queues", "2"), ("reading", reading)])
}

fn packet(b: &Bench<FlowSail>, k: u32, seq: u32) -> TestPacket {
    b.packet(UP, 1000).flow(9, k, 10).seq(seq)
}

/// Packets `seqs` of flow `k`; the queue of the last one.
fn send(b: &mut Bench<FlowSail>, k: u32, seqs: std::ops::Range<u32>) -> QueueId {
    let mut q = QueueId(0);
    for seq in seqs {
        q = b.arrive(packet(b, k, seq), OUT);
    }
    q
}

fn flow(k: u32) -> FlowId {
    FlowId::new(NodeId(9), k)
}

fn state(pause: bool, k: u32) -> ControlMessage {
    ControlMessage::FlowState { pause, priority: PRIORITY, flow: flow(k) }
}

/// Flow and number of the next packet of `q`.
fn next(b: &mut Bench<FlowSail>, q: QueueId) -> Option<(u32, u32)> {
    let sent = b.depart(OUT, q).map(|p| (p.flow.number(), p.seq));
    b.scheme().audit(&b.view(), Network::InUse).unwrap();
    sent
}

fn drain(b: &mut Bench<FlowSail>, q: QueueId, n: usize) -> Vec<(u32, u32)> {
    (0..n).map_while(|_| next(b, q)).collect()
}

fn audited(b: &Bench<FlowSail>, network: Network) {
    b.scheme().audit(&b.view(), network).unwrap();
}
