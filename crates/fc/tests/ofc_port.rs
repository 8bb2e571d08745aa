//! OFC's nested hierarchy, searched exhaustively: one egress port with its normal queue and two
//! backups, three flows, and a next hop that pauses and resumes whom it likes, when it likes,
//! one by one, together or with the wildcard.
//!
//! Whatever happens in whatever order, packets of a flow leave in order, a flow that is paused
//! sends nothing, and when the next hop has resumed everyone all packets get out and the tables
//! are empty. Each literal reading of the listings breaks one of these; the shortest way there
//! is kept.

use Step::{Enter, Pause, Resume, ResumeAllNamed, Serve, Urgent};
use std::collections::BTreeSet;
use weir_core::control::HostPair;
use weir_core::{ControlMessage, NodeId, PortId};
use weir_fc::explore::{Coverage, Model, Shared, explore, replay};
use weir_fc::harness::{Bench, PRIORITY};
use weir_fc::ofc::{self, Ofc};
use weir_fc::{FlowControl, Network, Param, Values};

const OUT: PortId = PortId(1);

/// One thing that happens at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A packet of the flow arrives.
    Enter(u32),
    /// The next hop pauses the flow.
    Pause(u32),
    /// The next hop resumes the flow.
    Resume(u32),
    /// The next hop resumes all flows it has named.
    ResumeAllNamed,
    /// The next hop enters or leaves its urgent state.
    Urgent(bool),
    /// The port serves a packet, if it can.
    Serve,
}

struct Port {
    start: Shared<Bench<Ofc>>,
    /// Packets of each flow.
    packets: Vec<u32>,
    /// How many PAUSEs the next hop sends.
    pauses: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    bench: Shared<Bench<Ofc>>,
    entered: Vec<u32>,
    left: Vec<u32>,
    named: BTreeSet<u32>,
    urgent: bool,
    pauses: u32,
}

fn port(options: &[(&Param, &str)], packets: &[u32], pauses: u32) -> Port {
    let mut values = Values::new();
    values.set(&ofc::FLOW_KEY, "pair").unwrap();
    for (param, text) in options {
        values.set(param, text).unwrap();
    }
    let bench = Bench::around(2, "75KB", "45KB", |setup| Ofc::new(&values, setup).unwrap());
    Port { start: Shared::new(bench), packets: packets.to_vec(), pauses }
}

fn frame(pause: bool, all: bool, flows: impl IntoIterator<Item = u32>) -> ControlMessage {
    let pair = |f| HostPair { src: NodeId(f), dst: NodeId(100 + f) };
    let flows = flows.into_iter().map(pair).collect();
    ControlMessage::OfcFlows { pause, priority: PRIORITY, all, flows }
}

impl State {
    fn tell(&mut self, m: &ControlMessage) {
        self.bench.change(|b| b.control(OUT, m));
    }

    /// The port serves one packet: queues that become ready by a swallowed mark included.
    fn serve(&mut self) -> Option<(u32, u32)> {
        self.bench.change(|b| {
            loop {
                // a queue is left empty or held when nothing of it is sent
                let next = *b.up_next(OUT).first()?;
                if let Some(p) = b.depart(OUT, next) {
                    return Some((p.flow.source().0, p.seq));
                }
            }
        })
    }
}

impl Model for Port {
    type State = State;
    type Step = Step;

    fn initial(&self) -> State {
        let none = vec![0; self.packets.len()];
        State {
            bench: self.start.clone(),
            entered: none.clone(),
            left: none,
            named: BTreeSet::new(),
            urgent: false,
            pauses: 0,
        }
    }

    fn steps(&self, s: &State) -> Vec<Step> {
        let mut steps = vec![Serve];
        for f in 0..self.packets.len() as u32 {
            if s.entered[f as usize] < self.packets[f as usize] {
                steps.push(Enter(f));
            }
            if s.named.contains(&f) {
                steps.push(Resume(f));
            } else if s.pauses < self.pauses {
                steps.push(Pause(f));
            }
        }
        if s.named.len() > 1 {
            steps.push(ResumeAllNamed);
        }
        if s.urgent || s.pauses < self.pauses {
            steps.push(Urgent(!s.urgent));
        }
        steps
    }

    fn take(&self, s: &mut State, step: &Step) -> Result<(), String> {
        match *step {
            Enter(f) => {
                let seq = s.entered[f as usize];
                s.entered[f as usize] += 1;
                s.bench
                    .change(|b| b.arrive(b.packet(PortId(0), 1).flow(f, 0, 100 + f).seq(seq), OUT));
            }
            Pause(f) => {
                s.pauses += 1;
                s.named.insert(f);
                s.tell(&frame(true, false, [f]));
            }
            Resume(f) => {
                s.named.remove(&f);
                s.tell(&frame(false, false, [f]));
            }
            ResumeAllNamed => {
                let named = std::mem::take(&mut s.named);
                s.tell(&frame(false, false, named));
            }
            Urgent(true) => {
                s.pauses += 1;
                s.urgent = true;
                s.tell(&frame(true, true, []));
            }
            Urgent(false) => {
                s.urgent = false;
                s.named.clear();
                s.tell(&frame(false, true, []));
            }
            Serve => {
                let Some((f, seq)) = s.serve() else { return Ok(()) };
                if s.urgent || s.named.contains(&f) {
                    return Err(format!("packet {seq} of paused flow {f} is sent"));
                }
                let expected = s.left[f as usize];
                s.left[f as usize] += 1;
                if seq != expected {
                    return Err(format!(
                        "packet {seq} of flow {f} leaves before packet {expected}"
                    ));
                }
            }
        }
        let view = s.bench.view();
        s.bench.scheme().audit(&view, Network::InUse).map_err(|v| v.to_string())
    }

    fn settled(&self, s: &State) -> Result<(), String> {
        if s.left != s.entered {
            return Err(format!("{:?} packets came, {:?} left", s.entered, s.left));
        }
        s.bench.scheme().audit(&s.bench.view(), Network::Drained).map_err(|v| v.to_string())
    }

    fn exercises(&self, s: &State) -> Coverage {
        Coverage { held: s.bench.holds_packets().into(), ..Coverage::default() }
    }
}

/// 110 422 and 57 928 states.
#[test]
fn no_order_of_events_breaks_the_hierarchy() {
    for (packets, pauses) in [(&[2, 2, 1][..], 3), (&[3, 2], 4)] {
        let seen = explore(&port(&[], packets, pauses), 1_000_000);
        assert_eq!(seen.failure, None, "{packets:?} with {pauses} pauses");
        assert!(seen.complete && seen.coverage.held > 0, "{:?}", seen.coverage);
        // at rest either backup may be the sink
        assert_eq!(seen.settled, 2);
    }
}

/// The search finds nothing shorter than `steps`, which end in `what`.
fn fails(option: (&Param, &str), packets: &[u32], steps: &[Step], what: &str) {
    let port = port(&[option], packets, 3);
    let found = explore(&port, 100_000).failure.expect("a literal reading fails");
    assert_eq!(found.steps.len(), steps.len(), "found: {found:?}");
    let end = match replay(&port, steps) {
        Err(failure) => Some(failure.what),
        Ok(state) => port.settled(&state).err(),
    };
    assert_eq!(end.as_deref(), Some(what));
}

/// Algorithm 3's text: after a drain the sink is queue 1 again. What was paused during the drain
/// is in queue 2, behind the back of everyone: later packets overtake it.
#[test]
fn rotating_back_reorders() {
    fails(
        (&ofc::ROTATION, "back"),
        &[2, 2],
        &[Enter(0), Pause(0), Serve, Enter(0), Resume(0), Pause(0), Resume(0), Serve],
        "packet 1 of flow 0 leaves before packet 0",
    );
}

/// The same with one packet per flow, so that nothing can be overtaken: it is never sent.
#[test]
fn rotating_back_strands() {
    fails(
        (&ofc::ROTATION, "back"),
        &[1],
        &[Enter(0), Pause(0), Serve, Resume(0), Pause(0), Serve, Resume(0), Serve],
        "[1] packets came, [0] left",
    );
}

/// Algorithm 3 line 18: modulo 2 the normal queue becomes the sink; what is still paused goes
/// behind what came later.
#[test]
fn rotating_modulo_two_reorders() {
    fails(
        (&ofc::ROTATION, "modulo"),
        &[2, 2],
        &[Enter(0), Pause(0), Serve, Enter(0), Resume(0), Pause(0), Resume(0), Serve],
        "packet 1 of flow 0 leaves before packet 0",
    );
}

/// Algorithm 2 line 8: a RESUME that takes effect at once. Packet 0 of flow 0 has stepped aside
/// when flow 1's packet is sent; resumed, packet 1 is still in front.
#[test]
fn resuming_at_once_reorders() {
    let steps = [
        Enter(0),
        Pause(0),
        Enter(1),
        Enter(0),
        Pause(1),
        Serve,
        Resume(1),
        Serve,
        Resume(0),
        Serve,
    ];
    fails(
        (&ofc::DURING_DRAIN, "at-once"),
        &[2, 2],
        &steps,
        "packet 1 of flow 0 leaves before packet 0",
    );
}

/// Deferring every frame to the end of the drain, PAUSEs included.
#[test]
fn deferring_whole_frames_sends_paused_flows() {
    fails(
        (&ofc::DURING_DRAIN, "whole-frames"),
        &[2, 2],
        &[Enter(0), Pause(0), Serve, Resume(0), Pause(0), Serve],
        "packet 0 of paused flow 0 is sent",
    );
}
