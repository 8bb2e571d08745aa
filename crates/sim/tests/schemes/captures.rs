//! Captures: which frames they have, with what they say.

use crate::common::{DATA, capture_all, config, flow, run, star};
use weir_core::packet::flags;
use weir_core::reason::Quantity;
use weir_core::{Bytes, ControlMessage, NodeId, PacketKind, PortId, Ratio, Reason, Time};
use weir_net::Topology;
use weir_sim::config::{EcnConfig, IngressLimit, ThresholdConfig};
use weir_sim::outcome::{CapturedFrame, DropReason};
use weir_sim::probe::Capture;
use weir_sim::{Config, Outcome};

/// Four hosts at a switch, node 4; hosts 0 to 2 send to host 3.
fn incast(mut cfg: Config, capture: impl FnOnce(&Topology) -> Capture) -> (Topology, Outcome) {
    let topology = star(4, "1us");
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::from_kb(30),
        xon: Bytes::from_kb(20),
        limit: IngressLimit::Lossless,
    };
    cfg.probes.capture = Some(capture(&topology));
    let flows: Vec<_> = (0..3).map(|src| flow(src, 3, 200_000)).collect();
    let out = run(&topology, &flows, &cfg);
    (topology, out)
}

const SWITCH: NodeId = NodeId(4);

fn of_port(out: &Outcome, node: u32, port: u16) -> Vec<&CapturedFrame> {
    let own = |f: &&CapturedFrame| (f.node, f.port) == (NodeId(node), PortId(port));
    out.captured.iter().filter(own).collect()
}

/// What a control frame says is the same at both ends of the wire, and so is why; it comes in as
/// long after it went out as it takes: 84 B at 100 Gb/s are 6.72 ns, the cable 1 us.
#[test]
fn a_pause_is_seen_where_it_goes_out_and_where_it_comes_in() {
    let (_, out) = incast(config("pfc"), capture_all);
    let sent: Vec<_> = out.captured.iter().filter(|f| f.sent && f.said.is_some()).collect();
    assert!(sent.len() >= 6, "{} control frames", sent.len());
    for f in &sent {
        assert_eq!(f.node, SWITCH);
        // port p of the switch leads to host p
        let there = of_port(&out, u32::from(f.port.0), 0);
        let at = f.at + Time::from_ps(1_006_720);
        let found = there.iter().find(|g| !g.sent && g.said.is_some() && g.at == at);
        let found = found.unwrap_or_else(|| panic!("{f:?} never comes in"));
        assert_eq!((&found.said, found.packet.size), (&f.said, 64));
    }
    let (message, reason) = &**sent[0].said.as_ref().expect("a control frame says something");
    assert_eq!(*message, ControlMessage::pfc(DATA, u16::MAX));
    let Reason::Threshold(c) = reason else { panic!("{reason:?}") };
    assert_eq!((c.quantity, c.port, c.limit), (Quantity::Ingress, sent[0].port, "xoff"));
    assert!(c.value >= c.threshold && c.threshold == Bytes::from_kb(30));
}

#[test]
fn the_reasons_of_captured_frames_are_those_of_the_pause_log() {
    let (_, out) = incast(config("pfc"), capture_all);
    let said = |f: &&CapturedFrame| f.sent && f.said.is_some();
    let mut captured: Vec<_> = out.captured.iter().filter(said).collect();
    captured.sort_by_key(|f| f.port);
    let mut logged: Vec<_> = out.pauses.iter().collect();
    logged.sort_by_key(|e| e.port);
    assert_eq!(captured.len(), logged.len());
    for (f, e) in captured.iter().zip(logged) {
        assert_eq!(f.said.as_ref().map(|said| said.1), Some(e.reason));
        assert!(e.at <= f.at, "decided, then sent");
    }
}

/// Packets are marked as they leave: the frame that goes out has the mark, as it has when it comes
/// in at the other end.
#[test]
fn a_mark_is_seen_where_it_is_made() {
    let mut cfg = config("pfc");
    cfg.cc = weir_cc::CcParams::new(weir_cc::CcKind::Dcqcn);
    cfg.switch.ecn = Some(EcnConfig {
        kmin: Bytes::from_kb(5),
        kmax: Bytes::from_kb(6),
        pmax: Ratio::new(1, 1).expect("one"),
    });
    let (_, out) = incast(cfg, capture_all);
    let marked = |f: &&CapturedFrame| f.packet.kind == PacketKind::Data && f.packet.has(flags::CE);
    let at = |node: u32, port, sent| {
        let all = of_port(&out, node, port).into_iter().filter(move |f| f.sent == sent);
        all.filter(marked).map(|f| (f.packet.flow, f.packet.seq)).collect::<Vec<_>>()
    };
    let (going, coming) = (at(4, 3, true), at(3, 0, false));
    assert!(!going.is_empty());
    assert_eq!(going, coming);
    assert!(at(4, 0, false).is_empty(), "nothing was marked before");
}

/// Each of the ports counts for itself, a frame with 32 B more than it has.
#[test]
fn a_port_stops_at_its_limit_and_counts_what_is_left_out() {
    let (_, whole) = incast(config("pfc"), capture_all);
    let (topology, cut) = incast(config("pfc"), |t| Capture { most: 50_000, ..capture_all(t) });
    for node in 0..topology.nodes().len() as u32 {
        for port in 0..topology.ports(NodeId(node)).len() as u16 {
            let (all, kept) = (of_port(&whole, node, port), of_port(&cut, node, port));
            assert_eq!(kept[..], all[..kept.len()], "the first ones, without gaps");
            let bytes = |frames: &[&CapturedFrame]| {
                frames.iter().map(|f| u64::from(f.packet.size) + 32).sum::<u64>()
            };
            assert!(bytes(&kept) <= 50_000);
            let left_out = cut.not_captured.iter().find(|(n, p, _)| (n.0, p.0) == (node, port));
            let count = left_out.map_or(0, |(.., count)| *count);
            assert_eq!(count, (all.len() - kept.len()) as u64);
            assert_eq!(count > 0, bytes(&all) > 50_000);
        }
    }
    // with a snap length frames count as less
    let short = |t: &Topology| Capture { most: 50_000, snap: 64, ..capture_all(t) };
    let (_, more) = incast(config("pfc"), short);
    assert!(more.captured.len() > cut.captured.len());
}

#[test]
fn only_the_time_and_the_ports_that_are_asked_for_are_captured() {
    let (_, whole) = incast(config("pfc"), capture_all);
    let (from, to) = (Time::from_us(5), Time::from_us(9));
    let some = |_: &Topology| Capture {
        ports: [(SWITCH, PortId(1)), (NodeId(2), PortId(0))].into(),
        from,
        to,
        snap: u64::MAX,
        most: u64::MAX,
    };
    let (_, part) = incast(config("pfc"), some);
    let asked = |f: &&CapturedFrame| {
        [(SWITCH, PortId(1)), (NodeId(2), PortId(0))].contains(&(f.node, f.port))
            && (from..to).contains(&f.at)
    };
    let expected: Vec<_> = whole.captured.iter().filter(asked).collect();
    assert!(!expected.is_empty());
    assert_eq!(part.captured.iter().collect::<Vec<_>>(), expected);
    assert!(part.not_captured.is_empty());
}

/// A frame that is damaged on the wire went out, came in, and was lost.
#[test]
fn a_frame_that_is_lost_as_it_comes_in_says_so() {
    let mut cfg = config("pfc");
    cfg.link.bit_error_rate = 1e-6;
    cfg.nic.timeout = Some(Time::from_us(100));
    let (_, out) = incast(cfg, capture_all);
    let lost: Vec<_> = out.captured.iter().filter(|f| f.lost.is_some()).collect();
    assert!(!lost.is_empty());
    assert_eq!(lost.len() as u64, out.totals.dropped + out.totals.control_dropped);
    assert!(lost.iter().all(|f| !f.sent && f.lost == Some(DropReason::BitError)), "{lost:?}");
}
