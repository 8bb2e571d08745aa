//! From input files to the state at time zero.

use super::flow::{FlowInfo, SAME_PORT, pick_nic};
use super::nic::Nic;
use super::packet::{Fifo, Pool};
use super::{MakeCc, NO_ERRORS, Options, Port, Sim, Switch};
use crate::clock::{self, transmission};
use crate::config::{CcMode, Config};
use crate::flows::Flow;
use crate::hash::{FlowKey, address};
use crate::mmu::{Mmu, PortLimits, QUEUES};
use crate::queue::{Event, EventQueue};
use crate::random::{Generator, Streams};
use crate::record::{Counters, Recorder};
use crate::routes::{Ports, Routes};
use crate::topology::Topology;
use std::collections::BTreeMap;
use weir_cc::CongestionControl;
use weir_cc::ecn::Marking;

/// What a simulation is made of.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) config: &'a Config,
    pub(crate) topology: &'a Topology,
    pub(crate) flows: &'a [Flow],
    pub(crate) trace_nodes: &'a [u32],
}

/// Events that the original executes at time zero, before anything happens.
fn start_up_events(topology: &Topology) -> u64 {
    2 * (u64::from(topology.nodes()) + topology.links.len() as u64)
}

impl<'a, C: CongestionControl> Sim<'a, C> {
    /// The network at time zero.
    pub(crate) fn new(
        setup: Setup<'a>,
        make_cc: MakeCc<'a, C>,
        recorder: &'a mut dyn Recorder,
    ) -> Self {
        let Setup { config, topology, flows, .. } = setup;
        let numbering = Ports::new(topology);
        let routes = Routes::new(topology, &numbering, config.payload, |_| true);
        let (ports, speeds) = make_ports(config, topology, &numbering);
        let mut node_index = vec![0; topology.is_switch.len()];
        let switches = make_switches(config, topology, &numbering, &mut node_index);
        let mut sim = Self {
            events: EventQueue::new(reach(&ports, &speeds)),
            stop: clock::seconds(config.stop),
            counters: Counters {
                events: start_up_events(topology),
                max_rtt_ns: routes.max_rtt,
                max_bdp: routes.max_bdp,
                ..Counters::default()
            },
            options: options(config, recorder.wants_queues()),
            speeds,
            node_index,
            samples: empty_samples(&switches),
            switches,
            nics: Vec::new(),
            pool: Pool::new(config.cc_mode == CcMode::Hpcc),
            info: make_flows(flows, &routes, &numbering),
            flows: Vec::with_capacity(flows.len()),
            cc: Vec::with_capacity(flows.len()),
            receivers: Vec::with_capacity(flows.len()),
            next_flow: 0,
            done: 0,
            routes,
            streams: Streams::at(first_stream(topology)),
            errors: make_errors(config, topology),
            traced: traced(setup),
            tracing: recorder.wants_packets() && !setup.trace_nodes.is_empty(),
            make_cc,
            topology,
            numbering,
            link_down: config.link_down,
            recorder,
            ports,
        };
        sim.make_nics(config);
        sim.first_events(config);
        sim
    }

    fn make_nics(&mut self, config: &Config) {
        let ack_class = if config.ack_high_prio { 1 } else { 1 << 3 };
        for (i, p) in self.ports.iter_mut().enumerate().filter(|(_, p)| p.is_host) {
            p.nic = self.nics.len() as u32;
            self.nics.push(Nic {
                port: i as u32,
                acks: Fifo::EMPTY,
                ack_class,
                flows: Vec::new(),
                last_served: 0,
                wake_at: 0,
                wake_generation: 0,
                wake_pending: false,
            });
        }
    }

    /// In the original's order: the flow reader, the link failure, the sampler, the end. What was
    /// inserted before the end still runs in its nanosecond.
    fn first_events(&mut self, config: &Config) {
        let mut insert = |time: u64, event: Event| {
            if time <= self.stop {
                self.counters.events += 1;
                self.events.insert(time, event);
            }
        };
        if let Some(first) = self.info.first() {
            insert(first.start, Event::ReadFlows);
        }
        if let Some(down) = config.link_down {
            insert(2_000_000_000 + down.after_us * 1000, Event::LinkDown);
        }
        insert(config.qlen_start, Event::Sample);
        insert(self.stop, Event::Stop);
    }
}

fn options(config: &Config, sample: bool) -> Options {
    Options {
        ack_interval: config.ack_interval,
        chunk: config.chunk_size,
        back_to_zero: config.back_to_zero,
        payload: u64::from(config.payload),
        overhead: config.data_overhead(),
        ack_size: config.ack_size(),
        telemetry: config.cc_mode == CcMode::Hpcc,
        stamped: config.cc_mode == CcMode::Timely,
        int_multi: config.int_multi,
        enable_ecn: config.enable_qcn,
        rate_bound: config.rate_bound,
        has_win: config.has_win,
        global_t: config.global_t,
        pause_time: config.pause_time,
        qlen_end: config.qlen_end,
        sample,
    }
}

/// Ports, and tables of transmission times by frame size for each rate that occurs.
fn make_ports(
    config: &Config,
    topology: &Topology,
    numbering: &Ports,
) -> (Vec<Port>, Vec<Vec<u32>>) {
    let largest = u64::from((config.payload + config.data_overhead()).max(config.ack_size()));
    let mut rates: BTreeMap<u64, u32> = BTreeMap::new();
    let mut speeds = Vec::new();
    let own_errors = |link: u32| {
        let before = &topology.links[..link as usize];
        before.iter().filter(|l| l.error_rate > 0.0).count() as u16 + 1
    };
    let ports = numbering
        .ends
        .iter()
        .map(|end| {
            let link = &topology.links[end.link as usize];
            let speed = *rates.entry(link.rate).or_insert_with(|| {
                let time = |size| u32::try_from(transmission(size, link.rate)).unwrap_or(u32::MAX);
                speeds.push((0..=largest).map(time).collect());
                speeds.len() as u32 - 1
            });
            let errors = match (link.error_rate > 0.0, config.error_rate > 0.0) {
                (true, _) => own_errors(end.link),
                (false, true) => 0,
                (false, false) => NO_ERRORS,
            };
            Port {
                peer: end.peer,
                node: end.node,
                speed,
                nic: 0,
                delay: link.delay,
                rate: link.rate,
                sent: 0,
                queued: 0,
                busy: false,
                up: true,
                is_host: !topology.is_switch[end.node as usize],
                paused: 0,
                backlog: 0,
                last_served: 0,
                errors,
                queues: [Fifo::EMPTY; QUEUES],
            }
        })
        .collect();
    (ports, speeds)
}

/// Error models: first the one that all links without a rate of their own share, then one for
/// each link that has one.
fn make_errors(config: &Config, topology: &Topology) -> Vec<(Generator, f64)> {
    let own = topology.links.iter().map(|l| l.error_rate).filter(|&rate| rate > 0.0);
    let generator = Generator::for_link_errors();
    std::iter::once(config.error_rate).chain(own).map(|rate| (generator.clone(), rate)).collect()
}

/// The first random stream that is not used up by the original's set-up.
fn first_stream(topology: &Topology) -> u64 {
    let lossy = topology.links.iter().filter(|l| l.error_rate > 0.0).count() as u64;
    6 * u64::from(topology.nodes()) + 2 + 2 * lossy
}

fn make_switches(
    config: &Config,
    topology: &Topology,
    numbering: &Ports,
    node_index: &mut [u32],
) -> Vec<Switch> {
    let rate_of = |port: u32| topology.links[numbering.ends[port as usize].link as usize].rate;
    let nic_rate = (0..topology.nodes())
        .find(|&n| !topology.is_switch[n as usize])
        .and_then(|host| numbering.of(host).next())
        .map_or(0, rate_of);
    let mut switches = Vec::new();
    for node in (0..topology.nodes()).filter(|&n| topology.is_switch[n as usize]) {
        let ports = numbering.of(node);
        let link = |port: u32| topology.links[numbering.ends[port as usize].link as usize];
        let limits =
            ports.clone().map(|p| PortLimits::new(link(p).rate, link(p).delay, nic_rate)).collect();
        let marking = ports
            .clone()
            .map(|p| {
                let bytes = |map: &BTreeMap<u64, u32>| {
                    map.get(&rate_of(p)).map_or(0, |kb| u64::from(kb.wrapping_mul(1000)))
                };
                Marking {
                    kmin: bytes(&config.kmin),
                    kmax: bytes(&config.kmax),
                    pmax: config.pmax.get(&rate_of(p)).copied().unwrap_or(0.0),
                }
            })
            .collect();
        node_index[node as usize] = switches.len() as u32;
        let buffer = config.buffer_mib.wrapping_mul(1024 * 1024);
        let mmu = Mmu::new(buffer, limits);
        switches.push(Switch { node, first_port: ports.start, mmu, marking });
    }
    switches
}

/// Flows with their source ports: 10000 and up, counted per pair of hosts.
fn make_flows(flows: &[Flow], routes: &Routes, numbering: &Ports) -> Vec<FlowInfo> {
    let mut used: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    flows
        .iter()
        .map(|f| {
            let next = used.entry((f.src, f.dst)).or_insert(10_000);
            let sport = *next;
            *next = next.wrapping_add(1);
            let (src, dst) = (address(f.src), address(f.dst));
            let reverse = FlowKey::new(dst, src, f.dport, sport);
            FlowInfo {
                src: f.src,
                dst: f.dst,
                sport,
                dport: f.dport,
                pg: f.pg,
                size: f.size,
                start: f.start_ns(),
                forward: FlowKey::new(src, dst, sport, f.dport),
                reverse,
                ack_port: ack_port(f.dst, f.src, reverse, routes, numbering),
            }
        })
        .collect()
}

/// The port by which host `from` sends ACKs to host `to`.
pub(super) fn ack_port(
    from: u32,
    to: u32,
    key: FlowKey,
    routes: &Routes,
    numbering: &Ports,
) -> u32 {
    if numbering.of(from).len() == 1 {
        return SAME_PORT;
    }
    pick_nic(routes.next_hops(from, to), key).unwrap_or(SAME_PORT)
}

fn traced(setup: Setup<'_>) -> Vec<bool> {
    let mut traced = vec![false; setup.topology.is_switch.len()];
    for &node in setup.trace_nodes {
        if let Some(t) = traced.get_mut(node as usize) {
            *t = true;
        }
    }
    traced
}

fn empty_samples(switches: &[Switch]) -> Vec<Vec<Vec<u32>>> {
    switches.iter().map(|s| vec![Vec::new(); s.marking.len()]).collect()
}

/// How far ahead most events lie: the longest hop, with room for pacing.
fn reach(ports: &[Port], speeds: &[Vec<u32>]) -> u64 {
    let hop = |p: &Port| {
        let longest = speeds[p.speed as usize].last().copied().unwrap_or(0);
        p.delay + u64::from(longest)
    };
    ports.iter().map(hop).max().unwrap_or(0) + 1
}
