//! Random traffic over chains of three switches: per-flow order, no stranded queue, consistent
//! tables at every step and empty ones after the drain, for every per-flow scheme with and
//! without PFC behind it.

use proptest::prelude::*;
use std::cell::RefCell;
use std::hash::Hash;
use weir_core::{PortId, Time, packet::flags, rng::Stream};
use weir_fc::explore::line::{Line, LineFlow, LineState, LineStep};
use weir_fc::explore::{Model, walk};
use weir_fc::harness::{Bench, given};
use weir_fc::{FlowControl, Network, NodeSetup, bfc, ffc, flowsail, ideal};

const NODES: usize = 3;

/// A line on which time passes and random choices are made.
struct Busy<S> {
    line: Line<S>,
    random: RefCell<Stream>,
    /// Fixes the scheme's next random choices.
    choose: fn(&mut S, u32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Line(LineStep),
    /// Time passes at a node.
    Wait(usize),
}

impl<S: FlowControl + Clone + Eq + Hash> Busy<S> {
    fn fix_draws(&self, s: &mut LineState<S>, draw: u32) {
        for node in &mut s.nodes {
            node.change(|n| (self.choose)(n.scheme_mut(), draw));
        }
    }
}

impl<S: FlowControl + Clone + Eq + Hash> Model for Busy<S> {
    type State = LineState<S>;
    type Step = Step;

    fn initial(&self) -> LineState<S> {
        self.line.initial()
    }

    fn steps(&self, s: &LineState<S>) -> Vec<Step> {
        let mut steps: Vec<Step> = self.line.steps(s).into_iter().map(Step::Line).collect();
        if !steps.is_empty() {
            steps.extend((0..NODES).map(Step::Wait));
        }
        steps
    }

    fn take(&self, s: &mut LineState<S>, step: &Step) -> Result<(), String> {
        match step {
            Step::Wait(node) => {
                // up to two hop round trips, but not past a timer
                let bench = &mut s.nodes[*node];
                let next = bench.timers().values().min().copied().unwrap_or(Time::NEVER);
                let later = bench.now + Time::from_ps(self.random.borrow_mut().below(2000));
                bench.change(|b| b.now = later.min(next).max(b.now));
                return Ok(());
            }
            Step::Line(step) => {
                let draw = self.random.borrow_mut().bits() as u32;
                self.fix_draws(s, draw);
                let outcome = self.line.take(s, step);
                self.fix_draws(s, 0);
                outcome?;
            }
        }
        s.nodes.iter().try_for_each(|n| {
            n.scheme().audit(&n.view(), Network::InUse).map_err(|violation| violation.to_string())
        })
    }

    fn settled(&self, s: &LineState<S>) -> Result<(), String> {
        for node in &s.nodes {
            for port in 0..node.view().ports() {
                let port = PortId::from_index(port);
                let held = (0..64).map(weir_core::QueueId).find(|q| node.is_held(port, *q));
                if let Some(queue) = held {
                    return Err(format!("{queue} of {port} is held for nothing"));
                }
            }
        }
        self.line.settled(s)
    }
}

/// A flow: where it enters, how many switches it crosses beyond, packets, bytes per packet.
fn flows() -> impl Strategy<Value = Vec<LineFlow>> {
    let flow = (0..NODES, 0..NODES, 2..5u16, 2..4u16, 1..12u32, 1..4u16);
    let flow = flow.prop_map(|(enter, hops, from, to, packets, size)| {
        let leave = (enter + hops).min(NODES - 1);
        LineFlow::new((enter, from), (leave, to), packets, size)
    });
    prop::collection::vec(flow, 2..7)
}

/// What a run needs besides the scheme.
#[derive(Clone, Debug)]
struct Setting {
    flows: Vec<LineFlow>,
    in_flight: usize,
    seed: u64,
    backstop: bool,
}

fn setting() -> impl Strategy<Value = Setting> {
    (flows(), 1..5usize, any::<u64>(), any::<bool>())
        .prop_map(|(flows, in_flight, seed, backstop)| Setting { flows, in_flight, seed, backstop })
}

impl Setting {
    fn backstop(&self) -> (&'static str, &'static str) {
        ("backstop", if self.backstop { "pfc" } else { "none" })
    }

    /// Runs the setting to its end.
    fn run<S: FlowControl + Clone + Eq + Hash>(
        &self,
        obeys: bool,
        choose: fn(&mut S, u32),
        make: impl Fn(&NodeSetup<'_>) -> S,
    ) -> Result<(), TestCaseError> {
        let nodes = (0..NODES).map(|_| Bench::around(5, "12B", "4B", &make)).collect();
        let mut line = Line::new(nodes, self.flows.clone());
        (line.in_flight, line.obeys) = (self.in_flight, obeys);
        let random = RefCell::new(Stream::new(self.seed, "draws", 0));
        let mut steps = Stream::new(self.seed, "steps", 0);
        let busy = Busy { line, random, choose };
        match walk(&busy, |n| steps.below(n as u64) as usize) {
            Ok(end) => prop_assert_eq!(end.inside(), 0),
            Err(failure) => {
                let last = failure.steps.iter().rev().take(12).rev().collect::<Vec<_>>();
                prop_assert!(false, "{} after {:?}", failure.what, last);
            }
        }
        Ok(())
    }
}

/// A hop round trip of 1 ns is five bytes at 40 Gb/s.
const HOP: (&str, &str) = ("hop-rtt", "1ns");

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn flowsail_keeps_order_obeys_and_forgets(
        s in setting(),
        queues in 2..6u32,
        hashed in any::<bool>(),
    ) {
        let table = if hashed { "hashed" } else { "exact" };
        let queues = queues.to_string();
        let params =
            [HOP, s.backstop(), ("queues", &queues), ("table", table), ("buckets", "3")];
        let values = given(&flowsail::INFO, &params);
        s.run(true, flowsail::FlowSail::fix_draws, |setup| {
            flowsail::FlowSail::new(&values, setup).unwrap()
        })?;
    }

    #[test]
    fn ideal_flow_control_keeps_order_obeys_and_forgets(s in setting(), marks in any::<bool>()) {
        let resume = if marks { "marks" } else { "level" };
        let values = given(&ideal::INFO, &[HOP, s.backstop(), ("resume", resume)]);
        s.run(true, |_, _| {}, |setup| ideal::Ideal::new(&values, setup).unwrap())?;
    }

    #[test]
    fn bfc_keeps_order_and_forgets(
        mut s in setting(),
        queues in 1..6u32,
        statically in any::<bool>(),
        paced in any::<bool>(),
        first in any::<bool>(),
        hashed in any::<bool>(),
    ) {
        let pick = |yes, a, b| if yes { a } else { b };
        let queues = queues.to_string();
        let params = [
            HOP,
            s.backstop(),
            ("queues", &queues),
            ("assignment", pick(statically, "static", "dynamic")),
            ("resume", pick(paced, "paced", "at-once")),
            ("first-packet", pick(first, "true", "false")),
            ("table", pick(hashed, "hashed", "exact")),
            ("buckets", "3"),
        ];
        let values = given(&bfc::INFO, &params);
        // every packet claims to be the first: those that find nothing of their flow overtake
        s.flows.iter_mut().for_each(|f| f.flags = flags::FIRST);
        s.run(false, bfc::Bfc::fix_draws, |setup| bfc::Bfc::new(&values, setup).unwrap())?;
    }

    #[test]
    fn ffc_keeps_order_and_forgets(
        s in setting(),
        lanes in 1..4u32,
        five in any::<bool>(),
        gather in 0..3u32,
    ) {
        let (lanes, gather) = (lanes.to_string(), format!("{gather}ns"));
        let params = [
            s.backstop(),
            ("threshold", "6B"),
            ("lane-high", "4B"),
            ("lane-low", "2B"),
            ("lanes", &lanes),
            ("root-interval", "1ns"),
            ("key", if five { "5-tuple" } else { "3-tuple" }),
            ("gather", &gather),
        ];
        let values = given(&ffc::INFO, &params);
        s.run(false, |_, _| {}, |setup| ffc::Ffc::new(&values, setup).unwrap())?;
    }
}

/// The property above is worth something: it notices what the corrections are for.
#[test]
fn random_traffic_catches_flowsail_as_printed() {
    // all meet at the last switch's port 2, after sharing one link or both
    let places = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let flows: Vec<LineFlow> =
        places.map(|enter| LineFlow::new(enter, (NODES - 1, 2), 10, 1)).into();
    for reading in ["text", "mark-sign", "printed-holds", "hold-once", "early-release"] {
        let params = [HOP, ("queues", "3"), ("release", "0ns"), ("reading", reading)];
        let values = given(&flowsail::INFO, &params);
        let make = |setup: &NodeSetup<'_>| flowsail::FlowSail::new(&values, setup).unwrap();
        let fails = |seed: &u64| {
            let (flows, in_flight, seed) = (flows.clone(), 3, *seed);
            let setting = Setting { flows, in_flight, seed, backstop: false };
            setting.run(true, flowsail::FlowSail::fix_draws, make).is_err()
        };
        let failures = (0..100).filter(fails).count();
        assert_eq!(failures > 0, reading != "text", "{reading}: {failures} of 100");
    }
}
