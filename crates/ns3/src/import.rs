//! The pieces of a run in neutral units, for conversion into a native scenario.
//!
//! Times are counted from the original's conventional start at 2 s, in picoseconds without the
//! original's truncations; rates, sizes and probabilities are taken as written.

pub use crate::paths::paths;

use crate::config::{CcMode, Config};
use crate::mmu::{PortLimits, RESERVE, RESUME_OFFSET};
use crate::{Inputs, Topology};
use std::collections::BTreeMap;
use weir_cc::ecn::Marking;
use weir_cc::{CcParams, WindowKind};
use weir_core::{Bytes, Priority, Rate, Ratio, Time};

/// A full-duplex link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkPiece {
    /// The ends, as node numbers of the topology file.
    pub ends: (u32, u32),
    /// Speed.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Time,
    /// Probability that a frame is lost.
    pub loss: f64,
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPiece {
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Its priority, 0 to 7. (In the original, queue 0 is served first and never paused.)
    pub priority: Priority,
    /// Destination port, by convention the class: 100 background, 200 incast.
    pub dport: u16,
    /// Bytes.
    pub size: Bytes,
    /// Start.
    pub start: Time,
}

/// Buffer and PFC of all switches.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferPiece {
    /// Bytes per switch.
    pub total: Bytes,
    /// Reserve per port and priority.
    pub reserve: Bytes,
    /// How far below its threshold an ingress must be to resume.
    pub resume_offset: Bytes,
    /// By port rate and cable delay: headroom, and the share alpha of the free pool.
    pub ports: BTreeMap<(u64, u64), (Bytes, Ratio)>,
}

/// Everything that a scenario says.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    /// Node numbers of hosts.
    pub hosts: Vec<u32>,
    /// Node numbers of switches.
    pub switches: Vec<u32>,
    /// Links, in file order.
    pub links: Vec<LinkPiece>,
    /// Flows, sorted by start.
    pub flows: Vec<FlowPiece>,
    /// Congestion control with its parameters.
    pub congestion_control: CcParams,
    /// What limits the bytes in flight.
    pub window: WindowKind,
    /// Marking thresholds by port rate in bit/s; empty when switches do not mark.
    pub marking: BTreeMap<u64, Marking>,
    /// Buffer and PFC.
    pub buffer: BufferPiece,
    /// Payload bytes of a full packet.
    pub payload: Bytes,
    /// Bytes a data packet adds to its payload on the wire (no preamble, FCS or gap).
    pub data_overhead: Bytes,
    /// Wire bytes of an ACK.
    pub ack_size: Bytes,
    /// ACKs leave hosts even when their priority is paused.
    pub ack_high_priority: bool,
    /// When the run ends.
    pub stop: Time,
    /// What a conversion cannot carry over.
    pub notes: Vec<String>,
}

/// Where the original's traffic begins by convention.
const ORIGIN: f64 = 2.0;

/// A time in seconds, counted from the origin; whatever lies before it starts at once.
fn since_origin(seconds: f64) -> Time {
    let ps = ((seconds - ORIGIN).max(0.0) * 1e12).round();
    // Times are written with at most nanosecond digits: drop what binary fractions added.
    Time::from_ns((ps / 1000.0).round() as u64)
}

/// Takes a run apart.
pub fn pieces(inputs: &Inputs) -> Pieces {
    let Inputs { config, topology, .. } = inputs;
    let nodes = |switch: bool| {
        (0..topology.nodes()).filter(|&n| topology.is_switch[n as usize] == switch).collect()
    };
    let mut congestion_control = config.congestion_control();
    if let CcParams::Hpcc(p) = &mut congestion_control {
        p.telemetry = weir_cc::hpcc::Telemetry::Exact;
    }
    Pieces {
        hosts: nodes(false),
        switches: nodes(true),
        links: links(config, topology),
        flows: flows(inputs),
        congestion_control,
        window: config.window(),
        marking: marking(config, topology),
        buffer: buffer(config, topology),
        payload: Bytes::new(config.payload.into()),
        data_overhead: Bytes::new(config.data_overhead().into()),
        ack_size: Bytes::new(config.ack_size().into()),
        ack_high_priority: config.ack_high_prio,
        stop: since_origin(config.stop),
        notes: notes(inputs),
    }
}

fn links(config: &Config, topology: &Topology) -> Vec<LinkPiece> {
    let piece = |l: &crate::Link| LinkPiece {
        ends: (l.a, l.b),
        rate: Rate::from_bps(l.rate),
        delay: Time::from_ns(l.delay),
        loss: if l.error_rate > 0.0 { l.error_rate } else { config.error_rate },
    };
    topology.links.iter().map(piece).collect()
}

fn flows(inputs: &Inputs) -> Vec<FlowPiece> {
    let piece = |f: &crate::Flow| FlowPiece {
        src: f.src,
        dst: f.dst,
        priority: Priority::new(f.pg).unwrap_or_default(),
        dport: f.dport,
        size: Bytes::new(f.size),
        start: since_origin(f.start),
    };
    inputs.flows.iter().filter(|f| f.size > 0).map(piece).collect()
}

/// Rates and delays of switch ports.
fn switch_links(topology: &Topology) -> impl Iterator<Item = &crate::Link> {
    let is_switch = |n: u32| topology.is_switch[n as usize];
    topology.links.iter().filter(move |l| is_switch(l.a) || is_switch(l.b))
}

fn marking(config: &Config, topology: &Topology) -> BTreeMap<u64, Marking> {
    if !config.enable_qcn {
        return BTreeMap::new();
    }
    let bytes =
        |map: &BTreeMap<u64, u32>, rate| map.get(&rate).map_or(0, |&kb| u64::from(kb) * 1000);
    switch_links(topology)
        .map(|l| {
            let pmax = config.pmax.get(&l.rate).copied().unwrap_or(0.0);
            let (kmin, kmax) = (bytes(&config.kmin, l.rate), bytes(&config.kmax, l.rate));
            (l.rate, Marking { kmin, kmax, pmax })
        })
        .collect()
}

fn buffer(config: &Config, topology: &Topology) -> BufferPiece {
    let is_host = |n: u32| !topology.is_switch[n as usize];
    let first_host = (0..topology.nodes()).find(|&n| is_host(n));
    let nic_rate = first_host
        .and_then(|h| topology.links.iter().find(|l| l.a == h || l.b == h))
        .map_or(0, |l| l.rate);
    let ports = switch_links(topology)
        .map(|l| {
            let limits = PortLimits::new(l.rate, l.delay, nic_rate);
            let alpha = Ratio::new(1, 1 << limits.shift).expect("a power of two is not zero");
            ((l.rate, l.delay), (Bytes::new(limits.headroom.into()), alpha))
        })
        .collect();
    BufferPiece {
        total: Bytes::new(u64::from(config.buffer_mib) << 20),
        reserve: Bytes::new(RESERVE.into()),
        resume_offset: Bytes::new(RESUME_OFFSET.into()),
        ports,
    }
}

/// What a conversion changes or leaves out.
fn notes(inputs: &Inputs) -> Vec<String> {
    let config = &inputs.config;
    let mut notes: Vec<String> = Vec::new();
    let mut note = |holds: bool, text: &str| {
        if holds {
            notes.push(text.into());
        }
    };
    note(config.link_down.is_some(), "LINK_DOWN is left out");
    note(config.back_to_zero, "L2_BACK_TO_ZERO is left out: losses go back to the missing packet");
    note(config.ack_interval != 1, "L2_ACK_INTERVAL is left out: every packet is acknowledged");
    note(!config.rate_bound, "RATE_BOUND 0 is left out: flows are paced at their rate");
    note(config.pause_time == 0, "PAUSE_TIME below 1 is left out: pauses have their usual effect");
    note(
        config.cc_mode == CcMode::Hpcc,
        "telemetry carries exact values instead of 24, 20 and 17 bits",
    );
    note(inputs.flows.iter().any(|f| f.size == 0), "flows without bytes are left out");
    note(inputs.flows.iter().any(|f| f.start < ORIGIN), "flows before 2 s start at once");
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_texts;
    use std::path::Path;

    fn inputs(config: &str) -> Inputs {
        let config = format!("TOPOLOGY_FILE t\nFLOW_FILE f\nL2_ACK_INTERVAL 1\n{config}");
        let open = |name: &Path| {
            let text = match name.to_str() {
                Some("t") => {
                    "4 2 3\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0.25\n2 3 400Gbps 5us 0\n"
                }
                _ => "2\n0 1 3 100 5000 2.000100001\n1 0 4 200 0 2.5\n",
            };
            Ok((name.into(), text.into()))
        };
        from_texts(Path::new("config"), &config, open).map(|(inputs, _)| inputs).unwrap()
    }

    #[test]
    fn nodes_links_and_flows_are_carried_over() {
        let p = pieces(&inputs("ERROR_RATE_PER_LINK 0.5 SIMULATOR_STOP_TIME 2.2"));
        assert_eq!((p.hosts, p.switches), (vec![0, 1], vec![2, 3]));
        assert_eq!(p.links.iter().map(|l| l.loss).collect::<Vec<_>>(), [0.5, 0.25, 0.5]);
        assert_eq!(p.flows.len(), 1, "a flow without bytes is left out");
        assert_eq!(p.flows[0].start, Time::from_ns(100_001));
        assert_eq!(p.stop, Time::from_ms(200));
        assert!(p.notes.contains(&"flows without bytes are left out".to_string()));
    }

    #[test]
    fn headroom_and_alpha_follow_the_ports() {
        let p = pieces(&inputs("BUFFER_SIZE 4"));
        assert_eq!(p.buffer.total, Bytes::new(4 << 20));
        let at = |gbps: u64, ns: u64| p.buffer.ports[&(gbps * 1_000_000_000, ns)];
        assert_eq!(at(100, 1000), (Bytes::new(37_500), Ratio::new(1, 8).unwrap()));
        // 400 Gb/s for 5 us: 250 000 B one way
        assert_eq!(at(400, 5000), (Bytes::new(750_000), Ratio::new(1, 2).unwrap()));
    }

    #[test]
    fn marking_is_listed_by_rate_and_absent_without_ecn() {
        let maps =
            "KMIN_MAP 1 100000000000 400 KMAX_MAP 1 100000000000 1600 PMAX_MAP 1 100000000000 0.2";
        let p = pieces(&inputs(maps));
        let expected = Marking { kmin: 400_000, kmax: 1_600_000, pmax: 0.2 };
        assert_eq!(p.marking[&100_000_000_000], expected);
        assert!(pieces(&inputs("ENABLE_QCN 0")).marking.is_empty());
    }

    #[test]
    fn hpcc_gets_exact_telemetry() {
        let p = pieces(&inputs("CC_MODE 3"));
        let CcParams::Hpcc(hpcc) = p.congestion_control else { panic!("not HPCC") };
        assert_eq!(hpcc.telemetry, weir_cc::hpcc::Telemetry::Exact);
    }
}
