//! What a scheme says it need not hear of, it hears here, and must do nothing about it.

use proptest::prelude::*;
use std::ops::Range;
use weir_core::packet::flags;
use weir_core::{Bytes, PortId, Priority};
use weir_fc::harness::Bench;
use weir_fc::{
    FlowControl, Interest, LinkState, NodeSetup, Param, ParamError, Values, capfc, gfc, gpfc, pfc,
};

const PORTS: u16 = 4;
/// Never quiet: everything is heard.
const NEVER: Range<Bytes> = Bytes::ZERO..Bytes::ZERO;
/// xoff and xon.
const TIGHT: (&str, &str) = ("6KB", "3KB");
/// GFC needs room above the length at which it begins.
const WIDE: (&str, &str) = ("16KB", "1KB");

/// A packet comes in by one port for another, the next one leaves by a port, or the link at a
/// port fails and returns, which voids the pauses sent by it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { ingress: u16, egress: u16, size: u16, high: bool, lossy: bool },
    Depart { egress: u16 },
    Link { port: u16 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrival = (0..PORTS, 0..PORTS, 64..1500u16, any::<bool>(), prop::bool::weighted(0.1));
    let arrive = arrival.prop_map(|(ingress, egress, size, high, lossy)| Step::Arrive {
        ingress,
        egress,
        size,
        high,
        lossy,
    });
    let depart = (0..PORTS).prop_map(|egress| Step::Depart { egress });
    let link = (0..PORTS).prop_map(|port| Step::Link { port });
    prop::collection::vec(prop_oneof![50 => arrive, 40 => depart, 5 => link], 1..120)
}

type New<S> = fn(&Values, &NodeSetup<'_>) -> Result<S, ParamError>;

/// With how many bytes of each ingress the scheme hears nothing, as a switch keeps it.
struct Quiet([[Range<Bytes>; Priority::COUNT]; PORTS as usize]);

impl Quiet {
    fn new<S: FlowControl>(bench: &Bench<S>) -> Self {
        let mut quiet = Self([const { [NEVER; Priority::COUNT] }; PORTS as usize]);
        for port in (0..PORTS).map(PortId) {
            for priority in Priority::ALL {
                quiet.ask(bench, port, priority);
            }
        }
        quiet
    }

    fn ask<S: FlowControl>(&mut self, bench: &Bench<S>, ingress: PortId, priority: Priority) {
        let interest = bench.scheme().interest(&bench.view().books.mmu, ingress, priority);
        self.0[ingress.index()][priority.index()] = match interest {
            Interest::Every => NEVER,
            Interest::Never(_) => Bytes::ZERO..Bytes::MAX,
            Interest::Outside(_, range) => range,
        };
    }

    fn covers(&self, ingress: PortId, priority: Priority, bytes: Bytes) -> bool {
        self.0[ingress.index()][priority.index()].contains(&bytes)
    }
}

/// Nothing was done about what has just happened, and nothing said.
fn unmoved<S: FlowControl + Eq + std::fmt::Debug>(
    now: &Bench<S>,
    before: &Bench<S>,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(now.scheme(), before.scheme());
    prop_assert_eq!(now.sent(), before.sent());
    prop_assert_eq!(now.timers(), before.timers());
    Ok(())
}

/// Walks through `steps`; returns how many arrivals and departures the scheme need not have heard
/// of.
fn walk<S: FlowControl + Clone + Eq + std::fmt::Debug>(
    steps: &[Step],
    (xoff, xon): (&str, &str),
    new: New<S>,
    options: &[(&Param, &str)],
) -> Result<u32, TestCaseError> {
    let mut values = Values::new();
    for (param, text) in options {
        values.set(param, text).unwrap();
    }
    let mut bench =
        Bench::around(usize::from(PORTS), xoff, xon, |setup| new(&values, setup).unwrap());
    let mut unheard = 0;
    let mut quiet = Quiet::new(&bench);
    for step in steps {
        match *step {
            Step::Arrive { ingress, egress, size, high, lossy } => {
                let mut packet = bench.packet(PortId(ingress), size);
                packet.0.flags |= if high { flags::HIGH } else { 0 };
                if lossy {
                    packet = packet.priority(Priority::ALL[5]);
                }
                let egress = PortId(egress);
                let (ingress, priority) = (packet.0.ingress, packet.0.priority);
                let before = bench.clone();
                let q = bench.arrive(packet, egress);
                if quiet.covers(ingress, priority, bench.view().q_in(ingress, priority)) {
                    unheard += 1;
                    unmoved(&bench, &before)?;
                    let mmu = &bench.view().books.mmu;
                    let interest = bench.scheme().interest(mmu, ingress, priority);
                    prop_assert_eq!(interest.unheard(), Some(q));
                } else {
                    quiet.0[ingress.index()][priority.index()] = NEVER;
                }
            }
            Step::Link { port } => {
                bench.link(PortId(port), LinkState::Down);
                bench.link(PortId(port), LinkState::Up);
                for priority in Priority::ALL {
                    quiet.ask(&bench, PortId(port), priority);
                }
            }
            Step::Depart { egress } => {
                let egress = PortId(egress);
                if let Some(&q) = bench.up_next(egress).first() {
                    let before = bench.clone();
                    let Some(left) = bench.depart(egress, q) else { continue };
                    let held =
                        [&before, &bench].map(|b| b.view().q_in(left.ingress, left.priority));
                    if held.iter().all(|&held| quiet.covers(left.ingress, left.priority, held)) {
                        unheard += 1;
                        unmoved(&bench, &before)?;
                    } else {
                        quiet.ask(&bench, left.ingress, left.priority);
                    }
                }
            }
        }
    }
    Ok(unheard)
}

proptest! {
    #[test]
    fn through_pfc(steps in steps()) {
        walk(&steps, TIGHT, pfc::Pfc::new, &[])?;
    }

    #[test]
    fn through_gpfc(steps in steps()) {
        walk(&steps, TIGHT, gpfc::Gpfc::new, &[])?;
    }

    #[test]
    fn through_capfc(steps in steps(), egress in 1000u32..5440) {
        let [xoff, lower] = [egress, egress / 2].map(|bytes| format!("{bytes}B"));
        let options = [
            (&capfc::EGRESS_XOFF, &*xoff),
            (&capfc::EGRESS_WARN, &*lower),
            (&capfc::EGRESS_XON, &*lower),
        ];
        walk(&steps, TIGHT, capfc::Capfc::new, &options)?;
    }

    #[test]
    fn through_gfc(
        steps in steps(),
        (mode, feedback) in prop::sample::select(vec![
            ("paper", "buffer"), ("paper", "time"), ("paper", "conceptual"), ("ofc", "buffer"),
        ]),
    ) {
        // where the rate begins to fall
        let first = if feedback == "buffer" { &gfc::B_1 } else { &gfc::B_0 };
        let options = [(&gfc::MODE, mode), (&gfc::FEEDBACK, feedback), (first, "2KB")];
        walk(&steps, WIDE, gfc::Gfc::new, &options)?;
    }
}

/// The tests above are not empty: there are packets that are not heard of.
#[test]
fn some_packets_are_not_heard_of() {
    let steps = [1, 2, 3].map(|ingress| Step::Arrive {
        ingress,
        egress: ingress - 1,
        size: 1000,
        high: false,
        lossy: false,
    });
    assert_eq!(walk(&steps, TIGHT, pfc::Pfc::new, &[]).unwrap(), 3);
    assert_eq!(walk(&steps, TIGHT, capfc::Capfc::new, &[]).unwrap(), 0, "egress queues count too");
    assert_eq!(walk(&steps, WIDE, gfc::Gfc::new, &[]).unwrap(), 3);
}
