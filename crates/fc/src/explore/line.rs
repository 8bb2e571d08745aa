//! Nodes in a row: packets travel one way, control frames the other.
//!
//! ```text
//!     enter                 enter                 enter
//!       │ ports 2..           │                     │
//!   ┌───▼───┐  link 0     ┌───▼───┐  link 1     ┌───▼───┐
//!   │ node 0├1───────────►0 node 1├1───────────►0 node 2│
//!   └───┬───┘             └───┬───┘             └───┬───┘
//!       ▼ leave               ▼                     ▼
//! ```
//!
//! Port 0 leads up the line, port 1 down the line, ports from 2 on to hosts: each flow names
//! the node and port where it enters and where it leaves. A packet may come in, a port may
//! serve, a packet or a control frame may arrive at any time, in any order; only the order on
//! each wire is kept. Hosts send whenever they like, or, with [`Line::with_hosts`], run the scheme
//! as a NIC does and receive the control frames of their switch. What is checked: packets of a flow
//! leave the line in order; no node
//! sends a packet of a flow whose pause it has received ([`Line::obeys`]); when nothing more can
//! happen, every packet has been delivered and every scheme's audit finds a drained node.

mod hosts;

use super::{Coverage, Model, Shared};
use crate::FlowControl;
use crate::harness::{Bench, TestPacket};
use std::collections::{BTreeSet, VecDeque};
use std::hash::Hash;
use weir_core::control::HostPair;
use weir_core::{ControlMessage, FlowId, NodeId, Packet, PortId, QueueId};

/// The port that leads up the line.
pub const UP: PortId = PortId(0);
/// The port that leads down the line.
pub const DOWN: PortId = PortId(1);

/// A place where packets enter or leave the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The node, counted from the upper end.
    pub node: usize,
    /// Its port.
    pub port: u16,
}

/// A flow on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFlow {
    /// Where it enters.
    pub enter: At,
    /// Where it leaves, not before it enters.
    pub leave: At,
    /// How many packets it has.
    pub packets: u32,
    /// Bytes per packet.
    pub size: u16,
    /// Flags of its packets.
    pub flags: u8,
}

impl LineFlow {
    /// A flow of `packets` packets of `size` bytes.
    pub fn new(enter: (usize, u16), leave: (usize, u16), packets: u32, size: u16) -> Self {
        let at = |(node, port)| At { node, port };
        Self { enter: at(enter), leave: at(leave), packets, size, flags: 0 }
    }
}

/// Which flows a node knows to be paused, read off the control frames it has received,
/// independently of the scheme.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Obeyed {
    /// All flows.
    pub all: bool,
    /// These host pairs.
    pub pairs: BTreeSet<HostPair>,
    /// These flows.
    pub flows: BTreeSet<FlowId>,
}

impl Obeyed {
    /// Takes note of a frame; frames that pause no particular flow are left to the scheme.
    fn note(&mut self, m: &ControlMessage) {
        match m {
            ControlMessage::OfcFlows { pause, all, flows, .. } => {
                if *pause {
                    self.all |= all;
                    self.pairs.extend(flows);
                } else if *all {
                    *self = Self::default();
                } else {
                    self.pairs.retain(|pair| !flows.contains(pair));
                }
            }
            ControlMessage::OfcTuples { pause, flows, .. } => {
                for &(pair, number) in flows {
                    let flow = FlowId::new(pair.src, number);
                    _ = if *pause { self.flows.insert(flow) } else { self.flows.remove(&flow) };
                }
            }
            ControlMessage::FlowState { pause: true, flow, .. } => {
                self.flows.insert(*flow);
            }
            ControlMessage::FlowState { pause: false, flow, .. } => {
                self.flows.remove(flow);
            }
            ControlMessage::BackPressure { flows } => {
                for &(pair, _, xoff) in flows {
                    if xoff {
                        self.pairs.insert(pair);
                    } else {
                        self.pairs.remove(&pair);
                    }
                }
            }
            _ => {}
        }
    }

    fn forbids(&self, p: &Packet) -> bool {
        let pair = HostPair { src: p.flow.source(), dst: p.dst };
        self.all || self.pairs.contains(&pair) || self.flows.contains(&p.flow)
    }
}

/// The model.
#[derive(Clone)]
pub struct Line<S> {
    /// The nodes, upper end first.
    pub nodes: Vec<Shared<Bench<S>>>,
    /// The flows.
    pub flows: Vec<LineFlow>,
    /// Where flows enter, and the NIC there; empty if hosts send whenever they like.
    hosts: Vec<(At, Shared<Bench<S>>)>,
    /// The most packets on one link at a time.
    pub in_flight: usize,
    /// Whether to check that no packet of a paused flow is sent.
    pub obeys: bool,
    /// Whether timers may fire. A scheme with a periodic timer has no finite number of states if
    /// they do.
    pub timers_fire: bool,
}

/// A line at one moment.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LineState<S> {
    /// The nodes.
    pub nodes: Vec<Shared<Bench<S>>>,
    /// Packets on each link.
    wires: Vec<VecDeque<Packet>>,
    /// Control frames on each link.
    frames: Vec<VecDeque<ControlMessage>>,
    /// What the upper end of each link has been told.
    told: Vec<Obeyed>,
    /// The hosts that run the scheme.
    hosts: Vec<hosts::HostState<S>>,
    /// Packets that have entered, per flow.
    entered: Vec<u32>,
    /// Packets that have left, per flow.
    left: Vec<u32>,
}

/// One thing that happens on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStep {
    /// The next packet of a flow comes in from its host.
    Enter {
        /// Which flow.
        flow: usize,
    },
    /// A port serves a queue.
    Serve {
        /// The node.
        node: usize,
        /// The egress port.
        port: PortId,
        /// The queue whose turn it is.
        queue: QueueId,
    },
    /// The first packet on a link arrives at its lower end.
    Arrive {
        /// The link below the node of this number.
        link: usize,
    },
    /// The first control frame on a link arrives at its upper end.
    Tell {
        /// The link below the node of this number.
        link: usize,
    },
    /// The earliest timer of a node fires.
    Timer {
        /// The node.
        node: usize,
    },
    /// The first control frame on its way to a host arrives.
    TellHost {
        /// The host.
        host: usize,
    },
    /// The first control frame on its way from a host arrives at its switch.
    HostTells {
        /// The host.
        host: usize,
    },
    /// The earliest timer of a host fires.
    HostTimer {
        /// The host.
        host: usize,
    },
}

impl<S: FlowControl + Clone + Eq + Hash> Line<S> {
    /// A line of these nodes with at most two packets on each link.
    pub fn new(nodes: Vec<Bench<S>>, flows: Vec<LineFlow>) -> Self {
        let nodes = nodes.into_iter().map(Shared::new).collect();
        Self { nodes, flows, hosts: Vec::new(), in_flight: 2, obeys: true, timers_fire: true }
    }

    /// Flow number `f` as the packets name it: hosts are numbered from 100 for sources and
    /// from 200 for receivers, by place.
    pub fn flow_id(&self, f: usize) -> (FlowId, NodeId) {
        let number = |at: At| at.node as u32 * 10 + u32::from(at.port);
        let LineFlow { enter, leave, .. } = self.flows[f];
        (FlowId::new(NodeId(100 + number(enter)), f as u32), NodeId(200 + number(leave)))
    }

    fn hand_over(&self, s: &mut LineState<S>, node: usize, mut p: Packet, ingress: PortId) {
        p.ingress = ingress;
        p.local_tag = 0;
        let leave = self.flows[p.flow.number() as usize].leave;
        let egress = if leave.node == node { PortId(leave.port) } else { DOWN };
        self.act(s, node, |bench| bench.arrive(TestPacket(p), egress));
    }

    /// Lets something happen at a node and puts what it sends on the wires. Frames to where nobody
    /// is are lost.
    fn act<R>(&self, s: &mut LineState<S>, node: usize, f: impl FnOnce(&mut Bench<S>) -> R) -> R {
        let (result, sent) = s.nodes[node].change(|bench| (f(bench), bench.take_sent()));
        for (port, message) in sent {
            if port == UP && node > 0 {
                s.frames[node - 1].push_back(message);
            } else if let Some(host) = self.host_at(At { node, port: port.0 }) {
                s.hosts[host].frames.push_back(message);
            }
        }
        result
    }

    fn serve(
        &self,
        s: &mut LineState<S>,
        node: usize,
        port: PortId,
        queue: QueueId,
    ) -> Result<(), String> {
        let Some(p) = self.act(s, node, |bench| bench.depart(port, queue)) else {
            return Ok(());
        };
        let f = p.flow.number() as usize;
        if port == DOWN {
            if self.obeys && s.told[node].forbids(&p) {
                return Err(format!("node {node} sends packet {} of paused flow {f}", p.seq));
            }
            s.wires[node].push_back(p);
            return Ok(());
        }
        let expected = s.left[f];
        s.left[f] += 1;
        if p.seq != expected {
            return Err(format!("packet {} of flow {f} leaves before packet {expected}", p.seq));
        }
        self.deliver(s, f, p);
        Ok(())
    }
}

impl<S: FlowControl + Clone + Eq + Hash> Model for Line<S> {
    type State = LineState<S>;
    type Step = LineStep;

    fn initial(&self) -> LineState<S> {
        let links = self.nodes.len() - 1;
        LineState {
            nodes: self.nodes.clone(),
            wires: vec![VecDeque::new(); links],
            frames: vec![VecDeque::new(); links],
            told: vec![Obeyed::default(); links],
            hosts: self.initial_hosts(),
            entered: vec![0; self.flows.len()],
            left: vec![0; self.flows.len()],
        }
    }

    fn steps(&self, s: &LineState<S>) -> Vec<LineStep> {
        let mut steps = Vec::new();
        for link in 0..s.wires.len() {
            if !s.frames[link].is_empty() {
                steps.push(LineStep::Tell { link });
            }
            if !s.wires[link].is_empty() {
                steps.push(LineStep::Arrive { link });
            }
        }
        for (node, bench) in s.nodes.iter().enumerate() {
            for port in 0..bench.view().ports() {
                let port = PortId::from_index(port);
                if port == DOWN && s.wires.get(node).is_some_and(|w| w.len() >= self.in_flight) {
                    continue;
                }
                let serve = |queue| LineStep::Serve { node, port, queue };
                steps.extend(bench.up_next(port).into_iter().map(serve));
            }
            if self.timers_fire && !bench.timers().is_empty() {
                steps.push(LineStep::Timer { node });
            }
        }
        for (flow, f) in self.flows.iter().enumerate() {
            if s.entered[flow] < f.packets && self.may_enter(s, flow) {
                steps.push(LineStep::Enter { flow });
            }
        }
        for (host, state) in s.hosts.iter().enumerate() {
            state.steps(host, self.timers_fire, &mut steps);
        }
        steps
    }

    fn take(&self, s: &mut LineState<S>, step: &LineStep) -> Result<(), String> {
        match *step {
            LineStep::Enter { flow } => {
                let LineFlow { enter, size, flags, .. } = self.flows[flow];
                let (id, dst) = self.flow_id(flow);
                let mut p = s.nodes[enter.node].packet(PortId(enter.port), size).0;
                (p.flow, p.dst, p.seq, p.flags) = (id, dst, s.entered[flow], flags);
                s.entered[flow] += 1;
                let p = self.leave_host(s, flow, p)?;
                self.hand_over(s, enter.node, p, PortId(enter.port));
            }
            LineStep::Serve { node, port, queue } => self.serve(s, node, port, queue)?,
            LineStep::Arrive { link } => {
                let p = s.wires[link].pop_front().ok_or("nothing on the link")?;
                self.hand_over(s, link + 1, p, UP);
            }
            LineStep::Tell { link } => {
                let m = s.frames[link].pop_front().ok_or("no frame on the link")?;
                s.told[link].note(&m);
                self.act(s, link, |bench| bench.control(DOWN, &m));
            }
            LineStep::Timer { node } => {
                self.act(s, node, Bench::fire_next);
            }
            LineStep::TellHost { host } => s.hosts[host].hear()?,
            LineStep::HostTells { host } => self.host_tells(s, host)?,
            LineStep::HostTimer { host } => s.hosts[host].fire(),
        }
        Ok(())
    }

    fn settled(&self, s: &LineState<S>) -> Result<(), String> {
        for (f, flow) in self.flows.iter().enumerate() {
            // a host that may not send strands what has not entered
            let due = if self.hosts.is_empty() { s.entered[f] } else { flow.packets };
            let missing = due - s.left[f];
            if missing > 0 {
                return Err(format!(
                    "{missing} of {} packets of flow {f} are stranded",
                    flow.packets
                ));
            }
        }
        for (node, bench) in s.nodes.iter().enumerate() {
            bench
                .scheme()
                .audit(&bench.view(), crate::Network::Drained)
                .map_err(|v| format!("node {node}: {v}"))?;
        }
        for (host, state) in s.hosts.iter().enumerate() {
            let nic = &state.nic;
            nic.scheme()
                .audit(&nic.view(), crate::Network::Drained)
                .map_err(|v| format!("host {host}: {v}"))?;
        }
        Ok(())
    }

    fn exercises(&self, s: &LineState<S>) -> Coverage {
        let benches = || s.nodes.iter().chain(s.hosts.iter().map(|h| &h.nic));
        let of_hosts = s.hosts.iter().flat_map(|h| [&h.frames, &h.replies]);
        let mut frames = s.frames.iter().chain(of_hosts);
        let waits = |f: usize| s.entered[f] < self.flows[f].packets && !self.may_enter(s, f);
        Coverage {
            held: s.nodes.iter().any(|node| node.holds_packets()).into(),
            hosts_held: (0..self.flows.len()).any(waits).into(),
            frames: frames.any(|f| !f.is_empty()).into(),
            timers: benches().any(|b| !b.timers().is_empty()).into(),
            limited: benches().any(|b| !b.limits().is_empty()).into(),
        }
    }
}

impl<S: FlowControl> LineState<S> {
    /// What the upper end of a link has been told and not been told otherwise.
    pub fn told(&self, link: usize) -> &Obeyed {
        &self.told[link]
    }

    /// How many packets of a flow have left the line.
    pub fn delivered(&self, flow: usize) -> u32 {
        self.left[flow]
    }

    /// Packets in all queues and on all links.
    pub fn inside(&self) -> usize {
        let ports = self.nodes.iter().flat_map(|n| &n.view().books.ports);
        let queued: u32 = ports.flat_map(|p| &p.queues).map(|q| q.packets).sum();
        queued as usize + self.wires.iter().map(VecDeque::len).sum::<usize>()
    }
}

#[cfg(test)]
mod steps_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{explore, walk};
    use crate::pfc::{Pfc, TIMER};
    use crate::{NodeSetup, Values};

    fn pfc(setup: &NodeSetup<'_>) -> Pfc {
        let mut values = Values::new();
        values.set(&TIMER, "sticky").unwrap();
        Pfc::new(&values, setup).unwrap()
    }

    /// Two nodes; one flow down the line, another that shares its way out.
    fn line() -> Line<Pfc> {
        let node = || Bench::around(4, "2B", "0B", pfc);
        let flows = vec![LineFlow::new((0, 2), (1, 2), 3, 1), LineFlow::new((1, 3), (1, 2), 2, 1)];
        Line::new(vec![node(), node()], flows)
    }

    #[test]
    fn pfc_keeps_order_and_lifts_every_pause_on_a_small_line() {
        let seen = explore(&line(), 1_000_000);
        assert_eq!(seen.failure, None);
        assert!(seen.complete);
        assert_eq!(seen.settled, 1, "all orders end in the same empty network");
    }

    #[test]
    fn a_random_walk_ends_with_everything_delivered() {
        let mut n = 7;
        let end = walk(&line(), |_| {
            n = (n * 31 + 11) % 1009;
            n
        });
        assert_eq!(end.ok().map(|s| s.inside()), Some(0));
    }

    /// What a scheme can do wrong.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Fault {
        /// Holds what it never opens.
        Strands,
        /// Spreads a flow over two queues.
        Reorders,
        /// Sends what it was told to pause.
        Disobeys,
        /// Does not forget.
        Remembers,
    }

    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Faulty(Fault, u32);

    impl FlowControl for Faulty {
        fn layout(&self, _: PortId) -> crate::QueueLayout {
            crate::QueueLayout::per_priority(&crate::PrioritySchedule::default())
        }

        fn arrive(
            &mut self,
            _: &crate::NodeView<'_>,
            p: &mut Packet,
            egress: PortId,
            a: &mut crate::Actions,
        ) -> QueueId {
            self.1 += 1;
            match self.0 {
                Fault::Strands if self.1 == 3 => {
                    a.hold(egress, crate::Target::Priority(p.priority));
                }
                Fault::Disobeys if p.ingress == UP => {
                    let (priority, flow) = (p.priority, p.flow);
                    let message = ControlMessage::FlowState { pause: true, priority, flow };
                    a.send(UP, message, weir_core::Reason::Words("a mistake"));
                }
                Fault::Reorders => return QueueId((p.seq + 1) % 2),
                _ => {}
            }
            QueueId(4)
        }

        fn depart(
            &mut self,
            _: &crate::NodeView<'_>,
            _: &mut Packet,
            _: crate::PortQueue,
            _: &mut crate::Actions,
        ) {
        }

        fn control(
            &mut self,
            _: &crate::NodeView<'_>,
            _: PortId,
            _: &ControlMessage,
            _: &mut crate::Actions,
        ) {
        }

        fn link(
            &mut self,
            _: &crate::NodeView<'_>,
            _: PortId,
            _: crate::LinkState,
            _: &mut crate::Actions,
        ) {
        }

        fn audit(
            &self,
            _: &crate::NodeView<'_>,
            network: crate::Network,
        ) -> Result<(), crate::Violation> {
            if network.is_drained() && self.0 == Fault::Remembers {
                return Err(crate::Violation { scheme: "faulty", what: "remembers".into() });
            }
            Ok(())
        }

        fn state_size(&self) -> crate::StateSize {
            crate::StateSize::default()
        }
    }

    impl crate::Hints for Faulty {}

    #[test]
    fn each_kind_of_fault_is_found_by_a_shortest_way() {
        let find = |fault, packets| {
            let node = || Bench::around(3, "2B", "0B", |_| Faulty(fault, 0));
            let flows = vec![LineFlow::new((0, 2), (1, 2), packets, 1)];
            let seen = explore(&Line::new(vec![node(), node()], flows), 100_000);
            seen.failure.map(|f| (f.steps.len(), f.what))
        };
        // three packets come in and find the queue held
        assert_eq!(find(Fault::Strands, 2), None);
        assert!(find(Fault::Strands, 3).unwrap().1.contains("stranded"));
        // packet 1 overtakes packet 0 at either node: in, in, serve, arrive, serve at the
        // first; one step less than at the second
        let (steps, what) = find(Fault::Reorders, 2).unwrap();
        assert_eq!((steps, what.as_str()), (5, "packet 1 of flow 0 leaves before packet 0"));
        // in, serve, arrive (which pauses the flow), tell, in, serve
        let (steps, what) = find(Fault::Disobeys, 2).unwrap();
        assert_eq!((steps, what.as_str()), (6, "node 0 sends packet 1 of paused flow 0"));
        // in, serve, arrive, serve
        let (steps, what) = find(Fault::Remembers, 1).unwrap();
        assert_eq!((steps, what.as_str()), (4, "node 0: faulty: remembers"));
    }
}
