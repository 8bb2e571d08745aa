//! FFC at one port, searched exhaustively: three flows, two lanes, and a next hop that stops
//! flows and lets them go on as it likes.
//!
//! Whatever happens in whatever order, packets of a flow leave in order, nothing leaves the
//! lane of a stopped flow, and when the next hop has let everyone go on all packets get out,
//! the lanes are free and nobody upstream is left stopped.

use Step::{Enter, Go, Serve, Stop};
use std::collections::BTreeSet;
use weir_core::control::HostPair;
use weir_core::{ControlMessage, NodeId, PortId, QueueId};
use weir_fc::explore::line::{Line, LineFlow};
use weir_fc::explore::{Coverage, Model, explore};
use weir_fc::ffc::{Ffc, INFO};
use weir_fc::harness::{Bench, PRIORITY, given};
use weir_fc::{FlowControl, Network, NodeSetup};

const OUT: PortId = PortId(1);
/// Priorities 7 to 4 come first; then the transmit queue and the lanes.
const TRANSMIT: u32 = 4;
const LANES: u32 = 2;

/// One thing that happens at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A packet of the flow arrives.
    Enter(usize),
    /// The next hop stops the flow.
    Stop(usize),
    /// The next hop lets the flow go on.
    Go(usize),
    /// The queue's turn has come.
    Serve(u32),
}

struct Port {
    start: Bench<Ffc>,
    /// Packets and stops of each flow.
    flows: Vec<(u32, u32)>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    bench: Bench<Ffc>,
    entered: Vec<u32>,
    left: Vec<u32>,
    stopped: Vec<bool>,
    stops: Vec<u32>,
    /// Flows that stand stopped upstream.
    upstream: BTreeSet<u32>,
}

/// Packets have one byte.
fn bench(ports: usize) -> Bench<Ffc> {
    Bench::around(ports, "75KB", "45KB", ffc)
}

fn ffc(setup: &NodeSetup<'_>) -> Ffc {
    let small = [
        ("threshold", "2B"),
        ("drain-below", "2B"),
        ("lane-high", "1B"),
        ("lane-low", "0B"),
        ("lanes", "2"),
        ("root-interval", "0ns"),
        ("pacer", "false"),
    ];
    Ffc::new(&given(&INFO, &small), setup).expect("valid")
}

/// Flow `f` goes from host 1 to host `f`.
fn frame(xoff: bool, f: usize) -> ControlMessage {
    let pair = HostPair { src: NodeId(1), dst: NodeId(f as u32) };
    ControlMessage::BackPressure { flows: vec![(pair, PRIORITY, xoff)] }
}

impl State {
    /// Packets in lanes whose flow is stopped.
    fn must_stay(&self) -> BTreeSet<(u32, u32)> {
        (1..=LANES)
            .flat_map(|l| self.bench.queue(OUT, QueueId(TRANSMIT + l)))
            .filter(|p| self.stopped[p.dst.index()])
            .map(|p| (p.dst.0, p.seq))
            .collect()
    }

    /// Takes note of the frames sent upstream: each must change something.
    fn listen(&mut self) -> Result<(), String> {
        for (_, m) in self.bench.take_sent() {
            let ControlMessage::BackPressure { flows } = m else { continue };
            for (pair, _, xoff) in flows {
                let news = if xoff {
                    self.upstream.insert(pair.dst.0)
                } else {
                    self.upstream.remove(&pair.dst.0)
                };
                if !news {
                    return Err(format!("flow {} is told twice: XOFF {xoff}", pair.dst.0));
                }
            }
        }
        Ok(())
    }

    fn serve(&mut self, q: u32) -> Result<(), String> {
        let must_stay = self.must_stay();
        if let Some(p) = self.bench.depart(OUT, QueueId(TRANSMIT + q)) {
            let f = p.dst.index();
            if p.seq != self.left[f] {
                return Err(format!("packet {} of flow {f} overtakes {}", p.seq, self.left[f]));
            }
            self.left[f] += 1;
        }
        match must_stay.difference(&self.must_stay()).next() {
            Some((f, seq)) => Err(format!("packet {seq} of stopped flow {f} leaves its lane")),
            None => Ok(()),
        }
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
            stopped: vec![false; n],
            stops: vec![0; n],
            upstream: BTreeSet::new(),
        }
    }

    fn steps(&self, s: &State) -> Vec<Step> {
        let mut steps: Vec<Step> = s.bench.ready(OUT).map(|q| Serve(q.0 - TRANSMIT)).collect();
        for (f, &(packets, stops)) in self.flows.iter().enumerate() {
            if s.stopped[f] {
                steps.push(Go(f));
            } else if s.stops[f] < stops {
                steps.push(Stop(f));
            }
            if s.entered[f] < packets {
                steps.push(Enter(f));
            }
        }
        steps
    }

    fn take(&self, s: &mut State, step: &Step) -> Result<(), String> {
        match *step {
            Enter(f) => {
                let p = s.bench.packet(PortId(0), 1).flow(1, f as u32, f as u32);
                s.bench.arrive(p.seq(s.entered[f]), OUT);
                s.entered[f] += 1;
            }
            Stop(f) => {
                s.stopped[f] = true;
                s.stops[f] += 1;
                s.bench.control(OUT, &frame(true, f));
            }
            Go(f) => {
                s.stopped[f] = false;
                s.bench.control(OUT, &frame(false, f));
            }
            Serve(q) => s.serve(q)?,
        }
        s.listen()?;
        s.bench.scheme().audit(&s.bench.view(), Network::InUse).map_err(|v| v.to_string())
    }

    fn settled(&self, s: &State) -> Result<(), String> {
        if s.left != s.entered {
            return Err(format!("stranded: {:?} of {:?} packets left", s.left, s.entered));
        }
        if !s.upstream.is_empty() {
            return Err(format!("flows {:?} are stopped upstream for ever", s.upstream));
        }
        s.bench.scheme().audit(&s.bench.view(), Network::Drained).map_err(|v| v.to_string())
    }

    fn exercises(&self, s: &State) -> Coverage {
        Coverage { held: s.bench.holds_packets().into(), ..Coverage::default() }
    }
}

fn all_is_well<M: Model>(model: &M) -> usize
where
    M::Step: std::fmt::Debug + PartialEq,
{
    let seen = explore(model, 3_000_000);
    assert_eq!(seen.failure, None);
    assert!(seen.complete && seen.coverage.held > 0, "{:?}", seen.coverage);
    seen.states
}

#[test]
fn three_flows_keep_order_and_stay_in_their_lanes_whatever_the_next_hop_does() {
    let port = |flows: &[(u32, u32)]| Port { start: bench(2), flows: flows.to_vec() };
    assert!(all_is_well(&port(&[(2, 1), (2, 1), (1, 1)])) > 100_000);
    assert!(all_is_well(&port(&[(4, 2), (2, 1)])) > 30_000);
}

#[test]
fn back_pressure_over_two_switches_strands_nobody() {
    // Flow 0 and flow 2 meet at the way out; flow 1 shares the first link with flow 0. Six packets
    // of flow 0 are the fewest of which one is in a held lane.
    let line = |packets: [u32; 3]| {
        let flows = vec![
            LineFlow::new((0, 2), (1, 2), packets[0], 1),
            LineFlow::new((0, 3), (1, 3), packets[1], 1),
            LineFlow::new((1, 3), (1, 2), packets[2], 1),
        ];
        let mut line = Line::new(vec![bench(4), bench(4)], flows);
        // what stood in the transmit queue when its flow was stopped is sent
        line.obeys = false;
        line
    };
    assert!(all_is_well(&line([6, 1, 2])) > 100_000);
    let host = |slots| Bench::host(slots, "75KB", "45KB", ffc);
    assert!(all_is_well(&line([6, 0, 2]).with_hosts(host)) > 50_000);
}
