//! An example of a new probe: *Waits* measures how long packets wait in the egress queues of
//! a switch.

use std::collections::BTreeMap;
use weir_core::{Bytes, FlowId, NodeId, Packet, PacketKind, PortId, Priority, Time};
use weir_fc::{PortQueue, Role};
use weir_net::build::star;
use weir_sim::outcome::{Column, Outcome};
use weir_sim::probe::{Hears, Probe, ProbeInfo};
use weir_sim::{Config, SimError};
use weir_traffic::{Fabric, FlowSpec, Traffic, pattern::List};

/// The line of registration.
pub(crate) const WAITS: ProbeInfo = ProbeInfo {
    name: "waits",
    summary: "how long packets wait at the ports of switches",
    columns: &[
        Column::node("node", "the switch"),
        Column::port("port", "the egress port"),
        Column::count("packets", "packets that left its queues"),
        Column::time("longest_ps", "the longest time that one of them waited"),
        Column::whole("byte_time", "B ps", "their bytes times the times that they waited"),
    ],
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
        let (node, table) = (self.node, outcome.measurement(WAITS.name));
        for (&port, &(packets, longest, sum)) in &self.ports {
            let port = (node, port).into();
            table.push(&[node.into(), port, packets.into(), longest.into(), sum.into()]);
        }
    }
}

/// Eight hosts send 100 kB each to a ninth through one switch, under PFC.
pub(crate) fn run(probes: Vec<ProbeInfo>) -> Result<Outcome, SimError> {
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
    weir_sim::run(&topology, &traffic, &config, &mut ())
}

pub(crate) fn main() {
    let out = run(vec![WAITS]).expect("a valid run");
    for table in &out.measurements {
        println!("{}: {}", table.name, table.summary);
        table.columns.iter().for_each(|c| println!("  {} {}: {}", c.name, c.unit, c.doc));
        table.rows().for_each(|row| println!("{row:?}"));
    }
}
