//! Memory of switches beyond the ingress: thresholds at the egress, and cells.

mod common;

use common::{config, flow, run, star};
use weir_core::{Bytes, NodeId, Priority, Time};
use weir_fc::{Cell, EgressShare, EgressThresholds};
use weir_sim::config::{Hop, IngressLimit, LinkConfig, ThresholdConfig, headroom};
use weir_sim::outcome::DropReason;
use weir_sim::{Config, Finish, Outcome};
use weir_traffic::FlowSpec;

const LOSSY: Priority = Priority::ALL[1];
const LOSSLESS: Priority = Priority::ALL[3];

/// Hosts 0 to 7 send 1 MB each to a host at a priority.
fn incast(to: u32, priority: Priority) -> Vec<FlowSpec> {
    (0..8).map(|h| FlowSpec { priority, ..flow(h, to, 1_000_000) }).collect()
}

fn patient(scheme: &str) -> Config {
    let mut cfg = config(scheme);
    cfg.nic.timeout = Some(Time::from_ms(1));
    cfg
}

fn bounded(limit: Bytes, share: Option<EgressShare>) -> Option<EgressThresholds> {
    Some(EgressThresholds { limit, lossless: Bytes::MAX, share })
}

/// The longest queue towards a host.
fn longest(out: &Outcome, towards: usize) -> Bytes {
    let switch = NodeId(10);
    let port = out.ports.iter().find(|p| p.node == switch && p.port.index() == towards);
    port.expect("a port of the switch").queue.max
}

/// Unlimited, the queue of eight senders grows to most of what they send; a limit of 100 KB bounds
/// it to the byte.
#[test]
fn a_fixed_limit_bounds_a_lossy_egress_queue() {
    let topology = star(10, "1us");
    let mut cfg = patient("pfc");
    let free = run(&topology, &incast(8, LOSSY), &cfg);
    assert!(longest(&free, 8) > Bytes::from_kb(1000), "{}", longest(&free, 8));
    cfg.switch.egress = bounded(Bytes::from_kb(100), None);
    let out = run(&topology, &incast(8, LOSSY), &cfg);
    let most = longest(&out, 8);
    assert!(most <= Bytes::from_kb(100) && most > Bytes::from_kb(98), "{most}");
    assert!(out.drops.iter().all(|d| (d.reason, d.priority) == (DropReason::EgressFull, LOSSY)));
    assert_eq!((out.finish, out.totals.completed), (Finish::Drained, 8));
}

/// alpha 1 of 200 KB. A queue that is alone holds half, as much as it leaves, and at most half a
/// packet more: q + 1518 <= 200 000 - q. Of two queues each holds a third.
#[test]
fn a_share_of_the_pool_is_what_all_lossy_queues_leave() {
    let topology = star(10, "1us");
    let mut cfg = patient("pfc");
    let share = EgressShare { shift: 0, pool: Bytes::from_kb(200) };
    cfg.switch.egress = bounded(Bytes::MAX, Some(share));
    let alone = run(&topology, &incast(8, LOSSY), &cfg);
    let most = longest(&alone, 8);
    assert!(most <= Bytes::new(100_759) && most > Bytes::from_kb(97), "{most}");
    // four hosts send to each: both queues grow from the start on
    let other = incast(9, Priority::ALL[2]);
    let both = [&incast(8, LOSSY)[..4], &other[4..]].concat();
    let out = run(&topology, &both, &cfg);
    let third = |port| Bytes::from_kb(60) < longest(&out, port) && longest(&out, port) < most;
    assert!(third(8) && third(9), "{} {}", longest(&out, 8), longest(&out, 9));
    let peak = out.switches[0].peak_buffer;
    assert!(peak > Bytes::from_kb(130) && peak <= Bytes::from_kb(136), "two thirds: {peak}");
    assert_eq!(out.totals.completed, 8);
}

/// 1 MB of memory: lossless priorities are promised 8 x 50 KB of it. Lossy traffic that nothing
/// limits fills it, and lossless packets are lost; with a threshold at the egress none is.
#[test]
fn a_threshold_for_lossy_queues_keeps_the_memory_of_lossless_ones_free() {
    let topology = star(10, "1us");
    let mut cfg = patient("pfc");
    cfg.switch.buffer = Bytes::from_kb(1000);
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::from_kb(20),
        xon: Bytes::from_kb(10),
        limit: IngressLimit::Lossless,
    };
    let flows = [incast(8, LOSSY), incast(9, LOSSLESS)].concat();
    let lost = |out: &Outcome| -> u64 {
        out.drops.iter().filter(|d| d.priority == LOSSLESS).map(|d| d.packets).sum()
    };
    assert!(lost(&run(&topology, &flows, &cfg)) > 0);
    let share = EgressShare { shift: 1, pool: Bytes::from_kb(500) };
    cfg.switch.egress = bounded(Bytes::MAX, Some(share));
    let out = run(&topology, &flows, &cfg);
    assert_eq!(lost(&out), 0);
    assert!(out.totals.dropped > 0 && out.totals.completed == 16);
}

/// Packets of 118 B take 138 B of the wire and 256 B of memory: headroom that is enough in bytes
/// is too little in cells, and what counts cells is enough.
#[test]
fn headroom_in_cells_is_needed_and_is_enough() {
    let topology = star(10, "1us");
    let mut cfg = patient("pfc");
    cfg.nic.payload = Bytes::new(100);
    cfg.switch.cell = Cell::new(Bytes::new(256));
    let limited = |limit| ThresholdConfig::Static {
        xoff: Bytes::from_kb(75),
        xon: Bytes::from_kb(45),
        limit,
    };
    cfg.switch.thresholds = limited(IngressLimit::Lossless);
    let flows = incast(8, LOSSLESS);
    let enough = run(&topology, &flows, &cfg);
    assert_eq!((enough.totals.dropped, enough.totals.completed), (0, 8));
    let peak = enough.switches[0].peak_buffer;
    assert!(peak > Bytes::ZERO && peak.get().is_multiple_of(256), "whole cells: {peak}");
    let wire = &topology.links()[0];
    let frame = Hop::new(cfg.nic.max_frame());
    let need = headroom(wire.rate, wire.delay, &frame, &LinkConfig::default());
    let bytes = Bytes::new(75_000 + frame.frame.get() - 1) + need;
    cfg.switch.thresholds = limited(IngressLimit::Bytes(bytes));
    let out = run(&topology, &flows, &cfg);
    assert!(out.drops.iter().any(|d| d.reason == DropReason::HeadroomExceeded));
    // the same limit, counted in bytes
    cfg.switch.cell = None;
    assert_eq!(run(&topology, &flows, &cfg).totals.dropped, 0);
}
