//! Hosts of a line that run the scheme as NICs do: one per place where flows enter or leave.
//!
//! Every flow that a host sends has a slot. A packet between a host and its switch arrives at once;
//! a control frame, either way, is on its way as long as the search likes.

use super::{At, Line, LineFlow, LineState, LineStep, Obeyed};
use crate::FlowControl;
use crate::explore::Shared;
use crate::harness::{Bench, TestPacket};
use std::collections::VecDeque;
use std::hash::Hash;
use weir_core::{ControlMessage, Packet, PortId, QueueId};

/// A host at one moment.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct HostState<S> {
    pub(super) nic: Shared<Bench<S>>,
    /// Control frames on their way to it.
    pub(super) frames: VecDeque<ControlMessage>,
    /// Control frames on their way from it.
    pub(super) replies: VecDeque<ControlMessage>,
    /// What it has been told.
    told: Obeyed,
}

impl<S: FlowControl + Clone + Eq + Hash> HostState<S> {
    /// What can happen at this host, number `host`, apart from sending.
    pub(super) fn steps(&self, host: usize, timers_fire: bool, steps: &mut Vec<LineStep>) {
        if !self.frames.is_empty() {
            steps.push(LineStep::TellHost { host });
        }
        if !self.replies.is_empty() {
            steps.push(LineStep::HostTells { host });
        }
        if timers_fire && !self.nic.timers().is_empty() {
            steps.push(LineStep::HostTimer { host });
        }
    }

    /// Lets something happen at the card and puts what it sends on its way.
    fn act<R>(&mut self, f: impl FnOnce(&mut Bench<S>) -> R) -> R {
        let (result, sent) = self.nic.change(|nic| (f(nic), nic.take_sent()));
        self.replies.extend(sent.into_iter().map(|(_, message)| message));
        result
    }

    /// The first control frame on its way arrives.
    pub(super) fn hear(&mut self) -> Result<(), String> {
        let m = self.frames.pop_front().ok_or("no frame on its way to the host")?;
        self.told.note(&m);
        self.act(|nic| nic.control(PortId(0), &m));
        Ok(())
    }

    pub(super) fn fire(&mut self) {
        self.act(Bench::fire_next);
    }
}

impl<S: FlowControl + Clone + Eq + Hash> Line<S> {
    /// Lets hosts take part: `make` returns the NIC of a host with so many flow slots
    /// ([`Bench::host`]).
    #[must_use]
    pub fn with_hosts(mut self, make: impl Fn(usize) -> Bench<S>) -> Self {
        let places = self.flows.iter().flat_map(|f| [f.enter, f.leave]);
        let mut hosts: Vec<At> = Vec::new();
        places.for_each(|at| {
            if !hosts.contains(&at) {
                hosts.push(at);
            }
        });
        let slots = |at: &At| self.flows.iter().filter(|f| f.enter == *at).count();
        self.hosts = hosts.iter().map(|at| (*at, Shared::new(make(slots(at))))).collect();
        self
    }

    pub(super) fn host_at(&self, at: At) -> Option<usize> {
        self.hosts.iter().position(|(place, _)| *place == at)
    }

    /// The host and slot of a flow, if hosts take part.
    fn slot(&self, flow: usize) -> Option<(usize, QueueId)> {
        let LineFlow { enter, .. } = self.flows[flow];
        let before = self.flows[..flow].iter().filter(|f| f.enter == enter).count();
        Some((self.host_at(enter)?, QueueId::from_index(before)))
    }

    /// The packet of a flow that names it to its host: without a size.
    fn header(&self, host: &Bench<S>, flow: usize) -> TestPacket {
        let mut header = host.packet(PortId(0), 0);
        (header.0.flow, header.0.dst) = self.flow_id(flow);
        header.0.flags = self.flows[flow].flags;
        header
    }

    /// The hosts when all flows have started and none has sent.
    pub(super) fn initial_hosts(&self) -> Vec<HostState<S>> {
        let state = |(_, nic): &(At, Shared<Bench<S>>)| HostState {
            nic: nic.clone(),
            frames: VecDeque::new(),
            replies: VecDeque::new(),
            told: Obeyed::default(),
        };
        let mut hosts: Vec<HostState<S>> = self.hosts.iter().map(state).collect();
        for flow in 0..self.flows.len() {
            if let Some((host, slot)) = self.slot(flow) {
                let header = self.header(&hosts[host].nic, flow);
                hosts[host].act(|nic| nic.flow_starts(slot, header));
            }
        }
        hosts
    }

    /// Whether the host of a flow may send for it.
    pub(super) fn may_enter(&self, s: &LineState<S>, flow: usize) -> bool {
        self.slot(flow).is_none_or(|(host, slot)| !s.hosts[host].nic.is_held(PortId(0), slot))
    }

    /// The host of a flow sends a packet of it, as the switch sees it.
    pub(super) fn leave_host(
        &self,
        s: &mut LineState<S>,
        flow: usize,
        p: Packet,
    ) -> Result<Packet, String> {
        let Some((host, slot)) = self.slot(flow) else { return Ok(p) };
        if self.obeys && s.hosts[host].told.forbids(&p) {
            return Err(format!("host {host} sends packet {} of paused flow {flow}", p.seq));
        }
        let sent = TestPacket(Packet { ingress: PortId(0), ..p });
        Ok(s.hosts[host].act(|nic| nic.transmit(slot, sent)))
    }

    /// The first control frame on its way from a host arrives at its switch.
    pub(super) fn host_tells(&self, s: &mut LineState<S>, host: usize) -> Result<(), String> {
        let m = s.hosts[host].replies.pop_front().ok_or("no frame on its way from the host")?;
        let At { node, port } = self.hosts[host].0;
        self.act(s, node, |bench| bench.control(PortId(port), &m));
        Ok(())
    }

    /// A packet has left the line: the host there takes it, and that of the flow gives its slot
    /// back after the last one.
    pub(super) fn deliver(&self, s: &mut LineState<S>, flow: usize, p: Packet) {
        if let Some(host) = self.host_at(self.flows[flow].leave) {
            let p = TestPacket(Packet { ingress: PortId(0), ..p });
            s.hosts[host].act(|nic| nic.deliver(p));
        }
        if let Some((host, slot)) = self.slot(flow)
            && s.left[flow] == self.flows[flow].packets
        {
            let header = self.header(&s.hosts[host].nic, flow);
            s.hosts[host].act(|nic| nic.flow_ends(slot, header));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Model, explore};
    use crate::pfc::{Pfc, TIMER};
    use crate::{NodeSetup, Values};
    use weir_core::ControlMessage;

    fn pfc(setup: &NodeSetup<'_>) -> Pfc {
        let mut values = Values::new();
        values.set(&TIMER, "sticky").unwrap();
        Pfc::new(&values, setup).unwrap()
    }

    /// Two switches that pause at two packets of 100 B; two flows of one host, one of another.
    fn line(packets: [u32; 3]) -> Line<Pfc> {
        let places = [((0, 2), (1, 2)), ((0, 2), (1, 3)), ((1, 3), (1, 2))];
        let flow = |((enter, leave), n)| LineFlow::new(enter, leave, n, 100);
        let flows = places.into_iter().zip(packets).map(flow).collect();
        let node = || Bench::around(4, "200B", "0B", pfc);
        Line::new(vec![node(), node()], flows)
            .with_hosts(|slots| Bench::host(slots, "200B", "0B", pfc))
    }

    #[test]
    fn a_host_that_its_switch_has_paused_does_not_send() {
        let line = line([3, 1, 1]);
        let mut s = line.initial();
        let take = |s: &mut _, step| line.take(s, &step).unwrap();
        let enter = |flow| LineStep::Enter { flow };
        take(&mut s, enter(0));
        take(&mut s, enter(0));
        // the pause is on its way: the host may still send
        assert!(line.steps(&s).contains(&enter(0)) && line.steps(&s).contains(&enter(1)));
        assert_eq!(line.exercises(&s).hosts_held, 0);
        take(&mut s, LineStep::TellHost { host: 0 });
        let steps = line.steps(&s);
        assert!(!steps.contains(&enter(0)) && !steps.contains(&enter(1)), "{steps:?}");
        assert!(steps.contains(&enter(2)), "the other host is not paused");
        assert_eq!(line.exercises(&s).hosts_held, 1);
    }

    #[test]
    fn every_order_with_hosts_ends_in_an_empty_network() {
        let seen = explore(&line([3, 1, 2]), 2_000_000);
        assert_eq!(seen.failure, None);
        assert!(seen.complete && seen.settled == 1, "{} {}", seen.states, seen.settled);
        let c = seen.coverage;
        assert!(c.held > 0 && c.hosts_held > 0 && c.frames > 0, "{c:?}");
        assert_eq!((c.timers, c.limited), (0, 0), "a sticky pause needs no timer");
    }

    #[test]
    fn a_host_that_is_never_resumed_is_stranded() {
        // the second switch's pause of its host is followed by no resume
        let line = line([0, 0, 3]);
        let mut s = line.initial();
        let host = line.host_at(At { node: 1, port: 3 }).unwrap();
        s.hosts[host].frames.push_back(ControlMessage::pfc(crate::harness::PRIORITY, 9));
        line.take(&mut s, &LineStep::TellHost { host }).unwrap();
        assert_eq!(line.steps(&s), []);
        let stranded = "3 of 3 packets of flow 2 are stranded";
        assert_eq!(line.settled(&s).err().as_deref(), Some(stranded));
    }
}
