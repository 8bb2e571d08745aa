//! An example of a new probe: *Waits* measures how long packets wait in the egress queues of
//! a switch.

use std::collections::BTreeMap;
use weir_core::{Bytes, FlowId, NodeId, Packet, PacketKind, PortId, Priority, Time};
use weir_fc::{PortQueue, Role};
use weir_net::build::star;
use weir_sim::probe::{Hears, Probe, ProbeInfo};
use weir_sim::{Config, Outcome};
use weir_traffic::{Fabric, FlowSpec, Traffic, pattern::List};

/// The line of registration.
pub(crate) const WAITS: ProbeInfo = ProbeInfo {
    name: "waits",
    summary: "how long packets wait at the ports of switches",
    hears: Hears::QUEUED.and(Hears::SENT),
    build: |setup| match setup.role {
        Role::Switch => Some(Box::new(Waits { node: setup.node, ..Waits::default() })),
        Role::Nic => None,
    },
    finish: |_, _| {},
};

#[derive(Default)]
struct Waits {
    node: NodeId,
    /// Packets that wait, and since when.
    waiting: BTreeMap<(PortId, FlowId, u32, PacketKind), Time>,
    /// By port: packets, the longest wait, and the sum of bytes times waits.
    ports: BTreeMap<PortId, (u64, Time, u64)>,
}

impl Probe for Waits {
    fn queued(&mut self, now: Time, at: PortQueue, packet: &Packet) {
        self.waiting.insert((at.port, packet.flow, packet.seq, packet.kind), now);
    }

    fn sent(&mut self, now: Time, port: PortId, packet: &Packet) {
        // control frames are never queued
        let key = (port, packet.flow, packet.seq, packet.kind);
        if let Some(since) = self.waiting.remove(&key) {
            let (packets, longest, sum) = self.ports.entry(port).or_default();
            *packets += 1;
            *longest = (*longest).max(now - since);
            *sum += u64::from(packet.size) * (now - since).as_ps();
        }
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        let columns = &["node", "port", "packets", "longest_ps", "byte_ps"];
        let table = outcome.measurement(WAITS.name, columns);
        for (port, (packets, longest, sum)) in &self.ports {
            table.push(&[self.node.0.into(), port.0.into(), *packets, longest.as_ps(), *sum]);
        }
    }
}

/// Eight hosts send 100 kB each to a ninth through one switch, under PFC.
pub(crate) fn incast(probes: Vec<ProbeInfo>) -> Outcome {
    let params = star::Params { hosts: 9, ..star::Params::default() };
    let topology = star::build(&params).expect("a star of nine hosts");
    let rate = topology.rate(NodeId(0), PortId(0));
    let flow = |src| FlowSpec {
        priority: Priority::ALL[3],
        ..FlowSpec::new(NodeId(src), NodeId(8), Bytes::new(100_000))
    };
    let mut traffic = Traffic::new(Fabric::uniform(topology.hosts(), rate).expect("hosts"));
    traffic.class("incast").expect("a new class");
    traffic.add(List { flows: (0..8).map(flow).collect() }).expect("valid flows");
    let mut config = Config::new(weir_fc::scheme("pfc").expect("PFC is a scheme"));
    config.probes.own = probes;
    weir_sim::run(&topology, &traffic, &config, &mut ()).expect("a valid run")
}

pub(crate) fn main() {
    let out = incast(vec![WAITS]);
    for table in &out.measurements {
        println!("{}: {}", table.name, table.columns.join(" "));
        table.rows().for_each(|row| println!("{row:?}"));
    }
}
