//! From input files to the state at time zero.

use super::flow::{FlowInfo, NO_ROUTE, SAME_PORT, pick_nic};
use super::nic::Nic;
use super::packet::{Fifo, Pool};
use super::{MakeCc, NO_ERRORS, Options, Port, Sim, Switch};
use crate::clock::{self, transmission};
use crate::config::{CcMode, Config};
use crate::flows::Flow;
use crate::hash::{FlowKey, address};
use crate::hash_order::HashOrder;
use crate::inputs::Inputs;
use crate::mmu::{Mmu, PortLimits, QUEUES};
use crate::queue::{Event, EventQueue};
use crate::random::{Generator, Streams};
use crate::record::{Counters, Recorder};
use crate::routes::{Ports, Routes};
use crate::topology::{Link, Topology};
use std::collections::BTreeMap;
use weir_cc::CongestionControl;
use weir_cc::ecn::Marking;

/// Events that the original executes at time zero, before anything happens.
fn start_up_events(topology: &Topology) -> u64 {
    2 * (u64::from(topology.nodes()) + topology.links.len() as u64)
}

impl<'a, C: CongestionControl> Sim<'a, C> {
    /// The network at time zero.
    pub(crate) fn new(
        inputs: &'a Inputs,
        make_cc: MakeCc<'a, C>,
        recorder: &'a mut dyn Recorder,
    ) -> Self {
        let Inputs { config, topology, flows, .. } = inputs;
        let numbering = Ports::new(topology);
        let routes = inputs.routes(&numbering, |_| true);
        let (ports, speeds) = make_ports(config, topology, &numbering);
        let switches = make_switches(config, topology, &numbering, &routes);
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
            samples: empty_samples(&switches),
            switches,
            nics: Vec::new(),
            pool: Pool::new(config.cc_mode == CcMode::Hpcc),
            info: make_flows(flows, &routes),
            flows: Vec::with_capacity(flows.len()),
            cc: Vec::with_capacity(flows.len()),
            receivers: Vec::with_capacity(flows.len()),
            next_flow: 0,
            done: 0,
            routes,
            streams: Streams::at(first_stream(topology)),
            errors: make_errors(config, topology),
            traced: traced(inputs),
            unfinished: match config.link_down {
                Some(_) => vec![HashOrder::new(); topology.is_switch.len()],
                None => Vec::new(),
            },
            failed: None,
            tracing: recorder.wants_packets() && !inputs.trace_nodes.is_empty(),
            make_cc,
            inputs,
            numbering,
            recorder,
            ports,
        };
        sim.set_owners();
        sim.make_nics(config);
        sim.first_events(config);
        sim
    }

    /// Tells ports which switch they belong to.
    fn set_owners(&mut self) {
        for (i, switch) in self.switches.iter().enumerate() {
            for port in self.numbering.of(switch.node) {
                self.ports[port as usize].owner = i as u32;
            }
        }
    }

    fn make_nics(&mut self, config: &Config) {
        let ack_class = if config.ack_high_prio { 1 } else { 1 << 3 };
        for (i, p) in self.ports.iter_mut().enumerate().filter(|(_, p)| p.is_host) {
            p.owner = self.nics.len() as u32;
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
        window: config.window(),
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
) -> (Vec<Port>, Vec<Vec<u64>>) {
    let largest = u64::from((config.payload + config.data_overhead()).max(config.ack_size()));
    let mut rates: BTreeMap<u64, u32> = BTreeMap::new();
    let mut speeds = Vec::new();
    let errors = error_models(config, topology);
    let ports = numbering
        .ends
        .iter()
        .map(|end| {
            let link = &topology.links[end.link as usize];
            let speed = *rates.entry(link.rate).or_insert_with(|| {
                speeds.push((0..=largest).map(|size| transmission(size, link.rate)).collect());
                speeds.len() as u32 - 1
            });
            Port {
                peer: end.peer,
                node: end.node,
                owner: 0,
                speed,
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
                errors: errors[end.link as usize],
                queues: [Fifo::EMPTY; QUEUES],
            }
        })
        .collect();
    (ports, speeds)
}

/// For each link, the index of its error model.
fn error_models(config: &Config, topology: &Topology) -> Vec<u32> {
    let shared = if config.error_rate > 0.0 { 0 } else { NO_ERRORS };
    let mut own = 0;
    let model = |l: &Link| {
        if l.error_rate <= 0.0 {
            return shared;
        }
        own += 1;
        own
    };
    topology.links.iter().map(model).collect()
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
    routes: &Routes,
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
        let buffer = config.buffer_mib.wrapping_mul(1024 * 1024);
        let mmu = Mmu::new(buffer, limits);
        let chooser = routes.chooser(node).unwrap_or(0);
        switches.push(Switch { node, chooser, first_port: ports.start, mmu, marking });
    }
    switches
}

/// Flows with their source ports: 10000 and up, counted per pair of hosts.
fn make_flows(flows: &[Flow], routes: &Routes) -> Vec<FlowInfo> {
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
                to_src: routes.destination(f.src),
                to_dst: routes.destination(f.dst),
                pg: f.pg,
                size: f.size,
                start: f.start_ns(),
                forward: FlowKey::new(src, dst, sport, f.dport),
                reverse,
                ack_port: match routes.pair(f.src, f.dst) {
                    Some(_) => ack_port(f.dst, f.src, reverse, routes),
                    None => NO_ROUTE,
                },
            }
        })
        .collect()
}

/// The port by which host `from` sends ACKs to host `to`.
pub(super) fn ack_port(from: u32, to: u32, key: FlowKey, routes: &Routes) -> u32 {
    let Some(chooser) = routes.chooser(from) else {
        return SAME_PORT;
    };
    pick_nic(routes.next_hops_to(chooser, routes.destination(to)), key).unwrap_or(NO_ROUTE)
}

/// A node that is named several times has every record as many times.
fn traced(inputs: &Inputs) -> Vec<u32> {
    let mut traced = vec![0; inputs.topology.is_switch.len()];
    for &node in &inputs.trace_nodes {
        if let Some(t) = traced.get_mut(node as usize) {
            *t += 1;
        }
    }
    traced
}

fn empty_samples(switches: &[Switch]) -> Vec<Vec<Vec<u32>>> {
    switches.iter().map(|s| vec![Vec::new(); s.marking.len()]).collect()
}

/// How far ahead most events lie: the longest hop, with room for pacing.
fn reach(ports: &[Port], speeds: &[Vec<u64>]) -> u64 {
    let hop = |p: &Port| {
        let longest = speeds[p.speed as usize].last().copied().unwrap_or(0);
        p.delay.saturating_add(longest)
    };
    ports.iter().map(hop).max().unwrap_or(0).saturating_add(1)
}
