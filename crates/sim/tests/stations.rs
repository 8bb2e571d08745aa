//! Nodes that are driven one by one do what they do in a simulation.

mod common;

use common::fabrics::mesh;
use common::{config, plan, run};
use std::collections::BTreeMap;
use weir_cc::{CcKind, CcParams};
use weir_core::{NodeId, PortId, Time};
use weir_net::Topology;
use weir_net::build::{self, k_ary};
use weir_sim::config::Reliability;
use weir_sim::parcel::Parcel;
use weir_sim::stations::{Crossed, Ended, Listener, run_apart, run_logged};
use weir_sim::{Config, Outcome, Prepared};
use weir_traffic::FlowSpec;

type Port = (NodeId, PortId);

/// What crossed each link, by the port it left and by the port it reached.
#[derive(Default)]
struct Frames {
    sent: BTreeMap<Port, Vec<(Time, Parcel)>>,
    received: BTreeMap<Port, Vec<(Time, Parcel)>>,
    end: Time,
}

impl Listener for Frames {
    fn crosses(&mut self, frame: &Crossed<'_>) {
        let what = (frame.at, frame.parcel.clone());
        self.sent.entry(frame.from).or_default().push(what.clone());
        self.received.entry(frame.to).or_default().push(what);
    }

    fn ends(&mut self, now: Time) {
        self.end = now;
    }
}

/// A logged run, and one in which each node gets what the log says that it received, in steps of
/// `step`, far longer than a lookahead: each must answer what the log says.
fn agrees(topology: &Topology, flows: &[FlowSpec], config: &Config, step: Time) -> Outcome {
    let plain = run(topology, flows, config);
    let traffic = plan(topology, flows);
    let prepared = Prepared::new(topology, config);
    let mut log = Frames::default();
    let logged = run_logged(topology, &prepared, &traffic, config, &mut (), &mut log);
    assert_eq!(logged.expect("it runs"), plain);
    let mut sent: BTreeMap<Port, Vec<(Time, Parcel)>> = BTreeMap::new();
    let (again, ()) = run_apart(topology, &prepared, &traffic, config, |stations| {
        for station in stations {
            let node = station.node();
            for (&(_, port), frames) in
                log.received.range((node, PortId(0))..=(node, PortId(u16::MAX)))
            {
                frames.iter().for_each(|(at, parcel)| station.arrive(port, *at, parcel.clone()));
            }
            while station.now() < log.end {
                station.run(log.end.min(station.now() + step));
                for d in station.departures() {
                    sent.entry((node, d.port)).or_default().push((d.arrival, d.parcel));
                }
            }
        }
        (Ended::at(plain.finish.clone(), log.end), ())
    })
    .expect("it is built");
    assert_eq!(sent, log.sent);
    assert_eq!(again.expect("packets add up"), plain);
    plain
}

#[test]
fn each_node_answers_a_log_as_it_did_in_the_run_under_every_scheme() {
    let topology =
        build::k_ary::build(&k_ary::Params { k: 4, ..k_ary::Params::default() }).unwrap();
    let flows = mesh(&topology, 60, 100_000, 100, 7);
    for scheme in weir_fc::SCHEMES.iter() {
        let mut cfg = config(scheme.name);
        cfg.probes.series = Some(Time::from_us(3));
        let out = agrees(&topology, &flows, &cfg, Time::from_us(37));
        assert_eq!(out.totals.completed, 60, "{}", scheme.name);
    }
}

#[test]
fn telemetry_and_answers_of_selective_repeat_cross_with_their_packets() {
    let topology =
        build::k_ary::build(&k_ary::Params { k: 4, ..k_ary::Params::default() }).unwrap();
    let flows = mesh(&topology, 40, 100_000, 100, 3);
    let mut cfg = config("pfc");
    cfg.cc = CcParams::new(CcKind::Hpcc);
    cfg.nic.reliability = Reliability::SelectiveRepeat;
    let out = agrees(&topology, &flows, &cfg, Time::from_us(1));
    assert!(out.totals.telemetry > 0);
}
