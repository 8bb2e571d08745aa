//! FlowSail on a line of two switches, searched exhaustively: here the second switch
//! decides whom to pause.

use weir_fc::NodeSetup;
use weir_fc::explore::line::{Line, LineFlow, LineStep};
use weir_fc::explore::{Explored, explore};
use weir_fc::flowsail::{FlowSail, INFO};
use weir_fc::harness::{Bench, given};

/// A line of two switches whose packets have one byte; the hop round trip is two bytes.
fn line(queues: &str, flows: Vec<LineFlow>) -> Line<FlowSail> {
    let node = || Bench::around(4, "75KB", "45KB", |setup| flowsail(queues, setup));
    Line::new(vec![node(), node()], flows)
}

fn flowsail(queues: &str, setup: &NodeSetup<'_>) -> FlowSail {
    let small = [("hop-rtt", "400ps"), ("release", "0ns"), ("queues", queues)];
    let mut scheme = FlowSail::new(&given(&INFO, &small), setup).expect("valid parameters");
    scheme.fix_draws(0);
    scheme
}

fn all_is_well(line: &Line<FlowSail>) -> Explored<LineStep> {
    let seen = explore(line, 2_000_000);
    assert_eq!(seen.failure, None);
    assert!(seen.complete && seen.coverage.held > 0, "{:?}", seen.coverage);
    seen
}

#[test]
fn a_flow_paused_by_the_next_switch_stays_in_order() {
    // flow 0 and flow 2 meet at the way out; flow 1 shares the first link with flow 0
    let flows = |n: [u32; 3]| {
        vec![
            LineFlow::new((0, 2), (1, 2), n[0], 1),
            LineFlow::new((0, 3), (1, 3), n[1], 1),
            LineFlow::new((1, 3), (1, 2), n[2], 1),
        ]
    };
    for (queues, packets) in [("2", [4, 2, 1]), ("3", [4, 1, 2])] {
        assert!(all_is_well(&line(queues, flows(packets))).states > 40_000);
    }
    let host = |slots| Bench::host(slots, "75KB", "45KB", |setup| flowsail("2", setup));
    let seen = all_is_well(&line("2", flows([4, 1, 1])).with_hosts(host));
    assert!(seen.coverage.hosts_held > 0, "{:?}", seen.coverage);
}
