//! Joins what the nodes have to say into one outcome, and checks that it adds up.

use crate::activity;
use crate::alone;
use crate::config::Scheme;
use crate::critical;
use crate::error::SimError;
use crate::jobs;
use crate::nic::Nic;
use crate::node::Node;
use crate::outcome::{Finish, Flows, JobRecord, Outcome, Totals};
use crate::probe;
use crate::world::Remains;
use weir_core::rng::mix;
use weir_core::{Bytes, Packet, PacketKind, Time};
use weir_fc::order::reordering;
use weir_fc::{Network, Violation};
use weir_traffic::TrafficHash;

/// The outcome of a world that has stopped.
pub(crate) fn outcome(mut world: Remains<'_>, finish: Finish) -> Result<Outcome, SimError> {
    let end = match finish {
        Finish::TimeLimit | Finish::Interrupted => world.now,
        _ => world.nodes.iter().map(Node::last_activity).max().unwrap_or(Time::ZERO),
    };
    audit(&world, &finish)?;
    world.nodes.iter_mut().for_each(|node| node.end_recording(end));
    let totals = totals(&world, end)?;
    check_order(&world)?;
    let jobs = jobs::records(&world.nodes, world.shared);
    let flows = flows(&mut world, end);
    let probes = &world.shared.config.probes;
    let mut outcome = Outcome {
        totals,
        flows,
        series_interval: probes.series,
        measurements: probe::measurements(probes),
        jobs,
        ..nothing(end, finish)
    };
    let mut hash = TrafficHash::default();
    // exact: these are large, and there is no more than one of a run
    let topology = world.shared.topology;
    let ports = world.nodes.iter().map(|node| topology.ports(node.id()).len()).sum();
    outcome.ports.reserve_exact(ports);
    for node in &mut world.nodes {
        match node {
            Node::Switch(s) => {
                outcome.ports.extend(s.port_records(probes.warm_up, end));
                outcome.switches.push(s.record(end));
            }
            Node::Nic(n) => {
                outcome.ports.extend(n.port_records(probes.warm_up, end));
                hash.merge(n.traffic);
                jobs::fingerprints(n).for_each(|job| hash.add_other(job));
            }
        }
    }
    outcome.traffic_hash = hash.value();
    add_faulted(&world, &mut outcome);
    world.nodes.iter_mut().for_each(|node| node.probes_mut().report(end, &mut outcome));
    if let Some(log) = &mut outcome.blame {
        log.paths = critical::paths(&world.nodes, &outcome.jobs);
        log.activity = activity::all(&world.nodes, &outcome.jobs, &log.paths);
    }
    probe::finish(&mut outcome, probes);
    add_flows(&mut outcome.totals, &outcome.flows);
    if outcome.finish != Finish::Interrupted {
        outcome.digest = digest(&outcome.flows, &outcome.jobs);
    }
    Ok(outcome)
}

impl Outcome {
    /// Jobs as they are while a run goes on, and nothing else.
    pub fn of_jobs(jobs: Vec<JobRecord>) -> Self {
        Self { jobs, ..nothing(Time::ZERO, Finish::Interrupted) }
    }
}

/// An outcome without anything in it.
pub(crate) fn nothing(end: Time, finish: Finish) -> Outcome {
    Outcome {
        end,
        finish,
        totals: Totals::default(),
        flows: Flows::default(),
        ports: Vec::new(),
        switches: Vec::new(),
        drops: Vec::new(),
        pauses: Vec::new(),
        pauses_left_out: 0,
        captured: Vec::new(),
        not_captured: Vec::new(),
        faulted: Vec::new(),
        held_at_end: Vec::new(),
        faulted_left_out: 0,
        series: Vec::new(),
        series_interval: None,
        recording: None,
        measurements: Vec::new(),
        blame: None,
        jobs: Vec::new(),
        digest: 0,
        traffic_hash: 0,
    }
}

/// Adds the control frames that faults and bit errors have hit.
fn add_faulted(world: &Remains<'_>, outcome: &mut Outcome) {
    for faults in world.nodes.iter().map(Node::faults) {
        outcome.faulted.extend(faults.log().cloned());
        outcome.faulted_left_out += faults.left_out;
    }
    outcome.faulted.sort_by_key(|f| (f.at, f.node, f.port));
}

/// Adds what only the records of flows say.
fn add_flows(totals: &mut Totals, flows: &Flows) {
    for flow in flows {
        totals.retransmitted += flow.retransmitted();
        totals.reordered += flow.reordered();
        totals.discarded += flow.discarded();
        totals.timeouts += flow.timeouts();
        totals.needless_timeouts += flow.needless_timeouts();
        totals.ecn_cuts += flow.tcp().map_or(0, |tcp| tcp.ecn_cuts);
        totals.fast_retransmits += flow.tcp().map_or(0, |tcp| tcp.fast_retransmits);
        totals.completed += u64::from(flow.finish().is_some());
    }
}

/// Everything on a wire.
fn in_flight<'r>(world: &'r Remains<'_>) -> impl Iterator<Item = &'r Packet> {
    world.wires.iter().flat_map(|w| w.in_flight())
}

/// Every node's own books, and the schemes' invariants.
fn audit(world: &Remains<'_>, finish: &Finish) -> Result<(), SimError> {
    // Frames on a wire or within their response time, and paced ones, may still change something.
    let quiet = !in_flight(world).any(|_| true) && !world.nodes.iter().any(Node::has_foreground);
    let empty = *finish == Finish::Drained && quiet;
    // A lost RESUME leaves a neighbour paused: not the fault of the scheme.
    let misheard = world.nodes.iter().any(|n| n.faults().misheard);
    let drained = empty && !misheard;
    let network = if drained { Network::Drained } else { Network::InUse };
    for node in &world.nodes {
        let result = match node {
            Node::Switch(s) => s.audit(world.now, network),
            Node::Nic(n) => n.audit(world.now, network),
        };
        result.map_err(|violation| SimError::Invariant {
            at: world.now,
            node: world.shared.topology.name(node.id()).to_owned(),
            violation,
        })?;
    }
    let left: usize = world.wires.iter().map(|w| w.extras.len()).sum();
    if empty && left > 0 {
        let what = format!("{left} messages or telemetry records belong to no packet");
        let violation = Violation { scheme: "side pool", what };
        return Err(SimError::Invariant { at: world.now, node: "network".into(), violation });
    }
    Ok(())
}

fn totals(world: &Remains<'_>, at: Time) -> Result<Totals, SimError> {
    let mut t = Totals::default();
    let mut inside = in_flight(world).filter(|p| p.kind != PacketKind::Control).count() as u64;
    for node in &world.nodes {
        let tally = node.tally();
        t.events += tally.hops + tally.events;
        t.packet_hops += tally.hops;
        t.control_frames += tally.control_frames;
        t.control_bytes += Bytes::new(tally.control_bytes);
        t.dropped += tally.dropped;
        t.control_dropped += tally.control_dropped;
        t.control_delayed += node.faults().delayed;
        t.control_duplicated += node.faults().duplicated;
        t.watchdog_storms += tally.storms;
        match node {
            Node::Switch(s) => inside += s.packets_inside(),
            Node::Nic(n) => {
                inside += n.packets_inside();
                t.storms_prevented += n.intake.as_ref().map_or(0, |intake| intake.prevented);
                t.flows += n.count.started;
                t.data_sent += n.count.data_sent;
                t.data_arrived += n.count.data_arrived;
                t.acks_sent += n.count.acks_sent;
                t.acks_arrived += n.count.acks_arrived;
                t.telemetry += n.count.telemetry;
            }
        }
    }
    t.in_network = inside;
    let sent = t.data_sent + t.acks_sent + world.visitors.entered;
    let arrived = t.data_arrived + t.acks_arrived + world.visitors.left;
    if sent != arrived + t.dropped + inside {
        return Err(SimError::Conservation { at, sent, arrived, dropped: t.dropped, inside });
    }
    Ok(t)
}

/// Per-flow order: unless a route changed on the way, packets of a flow may take different ones, or
/// the scheme runs in a reading that is known to reorder, nothing may be overtaken.
fn check_order(world: &Remains<'_>) -> Result<(), SimError> {
    let config = world.shared.config;
    let Scheme { info, values } = &config.scheme;
    let keeps_order = config.balance.keeps_order() && reordering(info, values).is_none();
    if !config.failures.is_empty() || !keeps_order {
        return Ok(());
    }
    let first = world.nodes.iter().filter_map(|n| match n {
        Node::Nic(n) => n.disorder,
        Node::Switch(_) => None,
    });
    match first.min() {
        Some((at, flow, seq)) => Err(SimError::Reordered { at, flow, seq }),
        None => Ok(()),
    }
}

/// Joins senders and receivers, by flow.
fn flows(world: &mut Remains<'_>, end: Time) -> Flows {
    let mut flows = Flows::default();
    let nics = |nodes: &mut Vec<Node>, f: &mut dyn FnMut(&mut Nic)| {
        for node in nodes {
            if let Node::Nic(n) = node {
                f(n);
            }
        }
    };
    nics(&mut world.nodes, &mut |n| flows.add(n.take_flow_records(end)));
    nics(&mut world.nodes, &mut |n| n.add_deliveries(&mut flows));
    for flow in flows.iter_mut() {
        flow.ideal = alone::flow_time(world.shared, flow).into();
    }
    flows
}

/// A hash over all results of flows and jobs: what has to be equal for two runs to be equal.
fn digest(flows: &Flows, jobs: &[JobRecord]) -> u64 {
    let time = |t: Option<Time>| t.map_or(u64::MAX, Time::as_ps);
    let mut h = 0x7765_6972;
    let mut add = |x: u64| h = mix(h ^ x).wrapping_add(0x9e37_79b9_7f4a_7c15);
    for f in flows {
        for x in [
            f.id.get(),
            u64::from(f.dst.0),
            f.size.get(),
            f.start.as_ps(),
            time(f.finish()),
            time(f.acked()),
            f.delivered.get(),
            f.packets,
            f.retransmitted(),
            f.reordered(),
            f.lost(),
            f.discarded(),
            f.held_total().as_ps(),
        ] {
            add(x);
        }
    }
    for iteration in jobs.iter().flat_map(|job| &job.iterations) {
        for x in [iteration.begin.as_ps(), time(iteration.end), u64::from(iteration.slowest)] {
            add(x);
        }
    }
    mix(h)
}
