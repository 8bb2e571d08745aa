//! FlowSail at one port, searched exhaustively: three flows, two normal queues and the
//! isolation queue, and a next hop that pauses and resumes whom it likes, when it likes.
//!
//! Whatever happens in whatever order, packets of a flow leave in order, a flow that is paused
//! sends nothing, and when the next hop has resumed everyone all packets get out and the tables
//! are empty. Each printed detail that the scheme corrects breaks one of these; the shortest way
//! there is kept.

use Step::{Enter, Pause, Quiet, Resume, Serve};
use weir_core::{ControlMessage, FlowId, NodeId, PortId, QueueId};
use weir_fc::explore::{Coverage, Model, explore};
use weir_fc::flowsail::{FlowSail, INFO};
use weir_fc::harness::{Bench, PRIORITY, given};
use weir_fc::{FlowControl, Network};

const OUT: PortId = PortId(1);
/// Priorities 7 to 4 come first.
const NORMAL: u32 = 4;

/// One thing that happens at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A packet of the flow arrives; if it needs a queue, the search starts at this one.
    Enter(usize, u32),
    /// The next hop pauses the flow.
    Pause(usize),
    /// The next hop resumes the flow.
    Resume(usize),
    /// The queue's turn has come.
    Serve(u32),
    /// A flow has been quiet for long enough.
    Quiet,
}

struct Port {
    start: Bench<FlowSail>,
    /// Packets and pauses of each flow.
    flows: Vec<(u32, u32)>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    bench: Bench<FlowSail>,
    entered: Vec<u32>,
    left: Vec<u32>,
    paused: Vec<bool>,
    pauses: Vec<u32>,
}

fn flow(f: usize) -> FlowId {
    FlowId::new(NodeId(1), f as u32)
}

fn frame(pause: bool, f: usize) -> ControlMessage {
    ControlMessage::FlowState { pause, priority: PRIORITY, flow: flow(f) }
}

fn untouched(bench: &Bench<FlowSail>, q: QueueId) -> bool {
    bench.queue(OUT, q).next().is_none() && !bench.is_held(OUT, q)
}

impl Port {
    fn new(params: &[(&str, &str)], flows: &[(u32, u32)]) -> Self {
        // thresholds out of reach: this port is the upstream one
        let own = |name| params.iter().any(|(param, _)| *param == name);
        let mut fixed = vec![("queues", "3"), ("release", "0ns"), ("hop-rtt", "1ms")];
        fixed.retain(|(name, _)| !own(*name));
        let values = given(&INFO, &[&fixed, params].concat());
        let start = Bench::around(2, "75KB", "45KB", |setup| {
            let mut scheme = FlowSail::new(&values, setup).expect("valid parameters");
            scheme.fix_draws(0);
            scheme
        });
        Self { start, flows: flows.to_vec() }
    }
}

impl Model for Port {
    type State = State;
    type Step = Step;

    fn initial(&self) -> State {
        let n = self.flows.len();
        State {
            bench: self.start.clone(),
            entered: vec![0; n],
            left: vec![0; n],
            paused: vec![false; n],
            pauses: vec![0; n],
        }
    }

    fn steps(&self, s: &State) -> Vec<Step> {
        let mut steps: Vec<Step> = s.bench.ready(OUT).map(|q| Serve(q.0 - NORMAL)).collect();
        for (f, &(packets, pauses)) in self.flows.iter().enumerate() {
            if s.paused[f] {
                steps.push(Resume(f));
            } else if s.pauses[f] < pauses {
                steps.push(Pause(f));
            }
            if s.entered[f] < packets {
                steps.push(Enter(f, 0));
                // two untouched queues are as good as each other
                if (0..2).any(|q| !untouched(&s.bench, QueueId(NORMAL + q))) {
                    steps.push(Enter(f, 1));
                }
            }
        }
        if !s.bench.timers().is_empty() {
            steps.push(Quiet);
        }
        steps
    }

    fn take(&self, s: &mut State, step: &Step) -> Result<(), String> {
        match *step {
            Enter(f, start) => {
                s.bench.scheme_mut().fix_draws(start);
                let p = s.bench.packet(PortId(0), 1).flow(1, f as u32, 9).seq(s.entered[f]);
                s.bench.arrive(p, OUT);
                s.bench.scheme_mut().fix_draws(0);
                s.entered[f] += 1;
            }
            Pause(f) => {
                s.paused[f] = true;
                s.pauses[f] += 1;
                s.bench.control(OUT, &frame(true, f));
            }
            Resume(f) => {
                s.paused[f] = false;
                s.bench.control(OUT, &frame(false, f));
            }
            Serve(q) => {
                if let Some(p) = s.bench.depart(OUT, QueueId(NORMAL + q)) {
                    let f = p.flow.number() as usize;
                    if s.paused[f] {
                        return Err(format!("packet {} of paused flow {f} is sent", p.seq));
                    }
                    if p.seq != s.left[f] {
                        return Err(format!(
                            "packet {} of flow {f} overtakes {}",
                            p.seq, s.left[f]
                        ));
                    }
                    s.left[f] += 1;
                }
            }
            Quiet => _ = s.bench.fire_next(),
        }
        s.bench.scheme().audit(&s.bench.view(), Network::InUse).map_err(|v| v.to_string())
    }

    fn settled(&self, s: &State) -> Result<(), String> {
        if s.left != s.entered {
            return Err(format!("stranded: {:?} of {:?} packets left", s.left, s.entered));
        }
        s.bench.scheme().audit(&s.bench.view(), Network::Drained).map_err(|v| v.to_string())
    }

    fn exercises(&self, s: &State) -> Coverage {
        let timers = usize::from(!s.bench.timers().is_empty());
        Coverage { held: s.bench.holds_packets().into(), timers, ..Coverage::default() }
    }
}

fn reading(reading: &str, flows: &[(u32, u32)]) -> Port {
    Port::new(&[("reading", reading)], flows)
}

/// Everything that can happen to `port` is fine; how many states that takes.
fn all_is_well(port: &Port) -> usize {
    let seen = explore(port, 5_000_000);
    assert_eq!(seen.failure, None);
    assert!(seen.complete);
    assert!(seen.coverage.held > 0, "{:?}", seen.coverage);
    assert_eq!(seen.settled, 1, "every order ends in the same empty port");
    seen.states
}

/// The shortest way to trouble in `port` is `steps`, and it ends with `what`.
fn trouble(port: &Port, steps: &[Step], what: &str) {
    let found = explore(port, 5_000_000).failure.expect("the literal reading fails");
    assert_eq!((&found.steps[..], &found.what[..]), (steps, what));
}

#[test]
fn three_flows_keep_order_and_obey_whatever_the_next_hop_does() {
    // two packets of flow 0, one of each other; each flow is paused at most once
    assert!(all_is_well(&reading("text", &[(2, 1), (1, 1), (1, 1)])) > 200_000);
}

/// The release of a flow waits for its timer, and anything may come before it.
#[test]
fn flows_that_are_released_late_keep_order_and_obey() {
    for flows in [&[(2, 1), (1, 1)][..], &[(3, 2)]] {
        let seen = explore(&Port::new(&[("release", "1us")], flows), 5_000_000);
        assert_eq!(seen.failure, None, "{flows:?}");
        let Coverage { held, timers, .. } = seen.coverage;
        assert!(seen.complete && held > 0 && timers > 0, "{flows:?}: {:?}", seen.coverage);
    }
}

#[test]
fn flows_that_are_paused_again_and_again_keep_order_as_well() {
    all_is_well(&reading("text", &[(2, 2), (2, 2)]));
    all_is_well(&reading("text", &[(3, 3), (1, 1)]));
}

#[test]
fn two_flows_that_share_a_table_entry_are_paused_together_and_in_order() {
    // of the flows 0 to 2 two fall into the same of two buckets
    let port = Port::new(&[("table", "hashed"), ("buckets", "2")], &[(1, 1), (1, 1), (1, 1)]);
    all_is_well(&port);
}

/// An unmatched mark lowers the count of pauses: the isolation queue does not wait for it.
#[test]
fn with_the_printed_sign_of_marks_a_packet_overtakes() {
    trouble(
        &reading("mark-sign", &[(2, 1), (1, 1)]),
        &[Enter(0, 0), Pause(0), Resume(0), Enter(0, 0), Serve(2)],
        "packet 1 of flow 0 overtakes 0",
    );
}

/// A first PAUSE does not count for the isolation queue.
#[test]
fn with_the_printed_place_of_the_count_a_paused_flow_is_sent() {
    trouble(
        &reading("printed-holds", &[(2, 1), (1, 1)]),
        &[Pause(0), Enter(0, 0), Serve(2)],
        "packet 0 of paused flow 0 is sent",
    );
}

/// A second PAUSE does not hold the queue in which packets of the flow are left.
#[test]
fn with_its_old_queue_held_once_a_paused_flow_is_sent() {
    trouble(
        &reading("hold-once", &[(2, 2), (1, 1)]),
        &[Enter(0, 0), Pause(0), Resume(0), Pause(0), Serve(0)],
        "packet 0 of paused flow 0 is sent",
    );
}

/// Flow 0 leaves the table while its mark is in the isolation queue. The mark finds the
/// flow's next packet in a normal queue and waits for a partner that is gone.
#[test]
fn released_while_a_mark_is_left_a_flow_strands_the_isolation_queue() {
    trouble(
        &reading("early-release", &[(2, 1), (1, 1)]),
        &[
            Enter(0, 0),
            Pause(0),
            Resume(0),
            Serve(0), // packet 0
            Serve(0), // the mark in the normal queue
            Enter(0, 0),
            Serve(2), // the mark in the isolation queue: waits
            Serve(0), // packet 1
            Pause(1),
            Enter(1, 0),
            Resume(1),
        ],
        "stranded: [2, 0] of [2, 1] packets left",
    );
}
