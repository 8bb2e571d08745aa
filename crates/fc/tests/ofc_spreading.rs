//! Congestion spreading on a chain of four switches under OFC: what the root names is all that is
//! paused on the way up, and two congestion trees stay apart.
//!
//! ```text
//!   F0, F1, F3 ─► node 0 ──► node 1 ──► node 2 ──► node 3 ─┬─► F0
//!                               └─► F3           F2 ─►     └─► F1, F2
//! ```

use std::collections::BTreeSet;
use weir_core::control::HostPair;
use weir_fc::Values;
use weir_fc::explore::Model;
use weir_fc::explore::line::{Line, LineFlow, LineState, LineStep};
use weir_fc::harness::Bench;
use weir_fc::ofc::{self, Ofc};

const PACKETS: u32 = 100;

struct Chain {
    line: Line<Ofc>,
    state: LineState<Ofc>,
}

/// Packets of one byte: congested at 20, urgent at 60, resumed at 8.
fn chain() -> Chain {
    let mut values = Values::new();
    values.set(&ofc::XOFF_CONGESTED, "20B").unwrap();
    values.set(&ofc::FLOW_KEY, "pair").unwrap();
    let node = |_| Bench::around(6, "60B", "8B", |setup| Ofc::new(&values, setup).unwrap());
    let flows = vec![
        LineFlow::new((0, 2), (3, 4), PACKETS, 1),
        LineFlow::new((0, 2), (3, 5), PACKETS, 1),
        LineFlow::new((3, 2), (3, 5), PACKETS, 1),
        LineFlow::new((0, 2), (1, 5), PACKETS, 1),
    ];
    let mut line = Line::new((0..4).map(node).collect(), flows);
    line.in_flight = 1;
    let state = line.initial();
    Chain { line, state }
}

impl Chain {
    /// Lets the network run until nothing moves: what is on the wires arrives first, then every
    /// port serves that is not stuck, then each host of a flow in `flows` sends a packet.
    fn run(&mut self, flows: &[usize], stuck: &[(usize, u16)]) {
        let urgency = |s: &LineStep| match s {
            LineStep::Tell { .. } => 0,
            LineStep::Arrive { .. } => 1,
            LineStep::Serve { .. } => 2,
            _ => 3,
        };
        loop {
            let mut steps = self.line.steps(&self.state);
            steps.retain(|s| match *s {
                LineStep::Serve { node, port, .. } => !stuck.contains(&(node, port.0)),
                LineStep::Enter { flow } => flows.contains(&flow),
                _ => true,
            });
            let Some(first) = steps.iter().map(urgency).min() else { return };
            steps.retain(|s| urgency(s) == first);
            // one at a time, except hosts: all send, so that flows arrive mixed
            steps.truncate(if first == 3 { steps.len() } else { 1 });
            for step in steps {
                self.line.take(&mut self.state, &step).unwrap();
            }
        }
    }

    /// Flows paused on each link; `None` for all of them.
    fn paused(&self) -> [Option<BTreeSet<usize>>; 3] {
        let pair = |f| {
            let (flow, dst) = self.line.flow_id(f);
            HostPair { src: flow.source(), dst }
        };
        [0, 1, 2].map(|link| {
            let told = self.state.told(link);
            let flows = (0..4).filter(|&f| told.pairs.contains(&pair(f))).collect();
            (!told.all).then_some(flows)
        })
    }
}

fn only(flows: &[usize]) -> Option<BTreeSet<usize>> {
    Some(flows.iter().copied().collect())
}

#[test]
fn only_the_flows_named_by_the_root_are_paused_on_the_way_up() {
    let mut c = chain();
    c.run(&[0, 1, 2], &[(3, 5)]);
    assert_eq!(c.paused(), [only(&[1]), only(&[1]), only(&[1])]);
    assert_eq!(c.state.delivered(0), PACKETS, "the victim is not held up");
    assert_eq!((c.state.delivered(1), c.state.delivered(2)), (0, 0));
    // the root opens: all is delivered and forgotten
    c.run(&[0, 1, 2], &[]);
    assert_eq!(c.paused(), [only(&[]), only(&[]), only(&[])]);
    assert_eq!(c.state.inside(), 0);
    assert_eq!(c.line.settled(&c.state), Ok(()));
}

#[test]
fn two_congestion_trees_stay_apart() {
    let mut c = chain();
    c.run(&[0, 1, 2, 3], &[(3, 5), (1, 5)]);
    assert_eq!(c.paused(), [only(&[1, 3]), only(&[1]), only(&[1])]);
    assert_eq!(c.state.delivered(0), PACKETS);
    // the nearer root opens: its flow goes on as far as it has come, the other tree stands
    c.run(&[0, 1, 2, 3], &[(3, 5)]);
    assert_eq!(c.paused()[1..], [only(&[1]), only(&[1])]);
    assert_eq!(c.state.delivered(1), 0);
    assert!(c.state.delivered(3) > 0);
    c.run(&[0, 1, 2, 3], &[]);
    assert_eq!(c.paused(), [only(&[]), only(&[]), only(&[])]);
    assert_eq!(c.line.settled(&c.state), Ok(()));
}
