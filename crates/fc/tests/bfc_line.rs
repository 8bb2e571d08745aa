//! BFC and ideal flow control on a line of two switches, searched exhaustively.

use std::hash::Hash;
use weir_fc::explore::explore;
use weir_fc::explore::line::{Line, LineFlow};
use weir_fc::harness::{Bench, given};
use weir_fc::{FlowControl, NodeSetup, bfc, ideal};

/// Two flows down the line that share a way out with a third, which enters at the second switch.
fn flows(packets: [u32; 3]) -> Vec<LineFlow> {
    let places = [((0, 2), (1, 2)), ((0, 3), (1, 2)), ((1, 3), (1, 2))];
    let flow = |((enter, leave), n)| LineFlow::new(enter, leave, n, 1);
    places.into_iter().zip(packets).map(flow).collect()
}

/// All is well, both with hosts that run the scheme and with hosts that send whenever they like.
fn all_is_well<S: FlowControl + Clone + Eq + Hash>(
    node: impl Fn(&NodeSetup<'_>) -> S,
    packets: [u32; 3],
) -> usize {
    let nodes = (0..2).map(|_| Bench::around(4, "75KB", "45KB", &node)).collect();
    let line = Line::new(nodes, flows(packets));
    let seen = explore(&line, 2_000_000);
    assert_eq!(seen.failure, None);
    assert!(seen.complete && seen.coverage.held > 0, "{:?}", seen.coverage);
    let hosts = line.with_hosts(|slots| Bench::host(slots, "75KB", "45KB", &node));
    let with_hosts = explore(&hosts, 2_000_000);
    assert_eq!(with_hosts.failure, None);
    let coverage = with_hosts.coverage;
    assert!(with_hosts.complete && coverage.held > 0 && coverage.hosts_held > 0, "{coverage:?}");
    seen.states
}

/// Packets have one byte; a hop round trip of 400 ps is two bytes at 40 Gb/s.
const SMALL: (&str, &str) = ("hop-rtt", "400ps");

#[test]
fn ideal_flow_control_keeps_order_obeys_and_forgets() {
    for resume in ["level", "marks"] {
        let values = given(&ideal::INFO, &[SMALL, ("resume", resume)]);
        let node = |setup: &NodeSetup<'_>| ideal::Ideal::new(&values, setup).unwrap();
        assert!(all_is_well(node, [3, 1, 1]) > 10_000);
    }
}

#[test]
fn bfc_keeps_order_and_resumes_whatever_queue_it_paused() {
    for (queues, packets) in [("1", [4, 1, 1]), ("2", [3, 1, 1])] {
        let values = given(&bfc::INFO, &[SMALL, ("queues", queues), ("sticky", "0ns")]);
        let node = |setup: &NodeSetup<'_>| {
            let mut bfc = bfc::Bfc::new(&values, setup).unwrap();
            bfc.fix_draws(0);
            bfc
        };
        let states = all_is_well(node, packets);
        assert!(states > 10_000, "{states}");
    }
}
