//! Runs in which bytes are undelivered and nothing will move them.
//!
//! There are two ways to know. **Nothing is left to happen** but background timers: then nothing
//! moves any more, whatever the reason. Or **timers go on for nothing**: a control frame was lost
//! or late, something is held because of it, and though every retransmission timer that runs has
//! fired again, no new payload has reached a host and no flow has ended. Without the second rule a
//! lost RESUME under a transport that repeats what is not acknowledged would last until the time
//! limit.

use crate::config::Config;
use crate::jobs;
use crate::node::Node;
use crate::outcome::Stuck;
use crate::world::World;
use weir_core::{Bytes, FlowId, Rate, Time};
use weir_net::Topology;

/// How long a cycle must have stood still, and how long a silent network is listened to.
pub(crate) const CONFIRM: Time = Time::from_ms(1);

/// Looks for a standstill again and again.
#[derive(Debug, Default)]
pub(crate) struct Standstill {
    /// How far flows had come when they were last looked at, and since when no further.
    reached: ((u64, u64), Time),
    /// They are not looked at before.
    next: Time,
    /// Retransmission timers that ran when nothing had arrived for long, and when that was.
    timers: Option<(Time, Vec<(FlowId, u64)>)>,
}

impl Standstill {
    /// What is stuck in a network that stands still.
    pub(crate) fn find(&mut self, world: &World<'_>) -> Option<Vec<Stuck>> {
        if nothing_left(world) || self.is_in_vain(world) {
            return Some(all_stuck(world));
        }
        None
    }

    /// Whether timers go on for nothing because a control frame was lost or late.
    fn is_in_vain(&mut self, world: &World<'_>) -> bool {
        let config = world.shared.config;
        let may_mishear = world.shared.byte_survival_ln < 0.0 || !config.faults.is_empty();
        if !may_mishear || !world.nodes().any(|n| n.faults().misheard) {
            return false;
        }
        if world.now < self.next {
            return false;
        }
        let patience = patience_in(world);
        self.next = world.now + patience / 4;
        let reached = progress(world);
        if reached != self.reached.0 {
            self.reached = (reached, world.now);
            self.timers = None;
            return false;
        }
        if world.now.saturating_sub(self.reached.1) < patience {
            return false;
        }
        let Some((from, timers)) = &self.timers else {
            // what is sent at a low rate comes first
            let paced = world.nodes().map(Node::paced_until).max().unwrap_or_default();
            self.timers = Some((world.now.max(paced), running(world)));
            return false;
        };
        let waits = |(flow, fired): &(FlowId, u64)| {
            timers.binary_search_by_key(flow, |t| t.0).is_ok_and(|at| *fired <= timers[at].1)
        };
        world.now.saturating_sub(*from) >= patience
            && !running(world).iter().any(waits)
            && !world.nodes().any(expects_flows)
            && all_stuck(world).iter().any(|s| s.lost.is_some())
    }
}

/// Queues and flows that are held, where a control frame that was lost or late may be why.
pub(crate) fn held_by_faults(world: &World<'_>) -> Vec<Stuck> {
    if !world.nodes().any(|n| n.faults().misheard) {
        return Vec::new();
    }
    let mut held = all_stuck(world);
    held.retain(|s| s.lost.is_some());
    held
}

/// How far the flows of all hosts have come: new payload that has arrived, and senders that are not
/// done.
fn progress(world: &World<'_>) -> (u64, u64) {
    let nics = world.nodes().filter_map(|node| match node {
        Node::Nic(n) => Some(n.progress()),
        Node::Switch(_) => None,
    });
    nics.fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1))
}

fn expects_flows(node: &Node) -> bool {
    matches!(node, Node::Nic(n) if n.expects_flows())
}

/// The flows whose retransmission timers run, and how often they have fired, by flow.
fn running(world: &World<'_>) -> Vec<(FlowId, u64)> {
    let nics = world.nodes().filter_map(|node| match node {
        Node::Nic(n) => Some(n.timeouts()),
        Node::Switch(_) => None,
    });
    let mut timers: Vec<_> = nics.flatten().collect();
    timers.sort_unstable();
    timers
}

/// Whether nothing can move any more although bytes are undelivered, and has not for so long
/// that even a pause whose RESUME was lost would have expired.
fn nothing_left(world: &World<'_>) -> bool {
    if world.nodes().any(Node::has_foreground_traffic) || world.carries_traffic() {
        return false;
    }
    // Responses to control frames are no progress: a scheme may repeat them forever.
    let last = world.nodes().map(|n| n.tally().last_activity).max().unwrap_or_default();
    world.now.saturating_sub(last) >= patience_in(world)
}

/// Queues and flows that wait, by node, port and queue.
pub(crate) fn all_stuck(world: &World<'_>) -> Vec<Stuck> {
    let topology = world.shared.topology;
    let mut stuck = Vec::new();
    for node in world.nodes() {
        match node {
            Node::Nic(n) => stuck.extend(n.waiting()),
            Node::Switch(s) => s.stuck_queues(Time::NEVER, |q| {
                let waits_for = match q.behind {
                    Some(other) if !q.held => format!("queue {other} of the same port"),
                    _ => {
                        let peer = topology.port(s.id, q.at.port).peer;
                        format!("a RESUME from {}", topology.name(peer))
                    }
                };
                stuck.push(s.stuck(&q, waits_for));
            }),
        }
    }
    stuck.sort_by_key(|s| (s.node, s.port, s.queue));
    // behind what the network holds: ranks may wait because of it
    stuck.extend(jobs::stuck(world.nodes()));
    stuck
}

fn patience_in(world: &World<'_>) -> Time {
    patience(world.shared.topology, world.shared.config)
}

/// Longer than any pause lasts by itself: twice the longest time that a frame can ask for on the
/// slowest link, at least [`CONFIRM`], the longest response time, what faults delay frames by, and
/// twice the time after which a pause that is not refreshed lapses.
pub(crate) fn patience(topology: &Topology, config: &Config) -> Time {
    let links = topology.links();
    let slowest = links.iter().map(|l| l.rate).min();
    let pause = slowest.unwrap_or(Rate::from_gbps(1)).time_for(Bytes::new(65_535 * 64));
    let response = links.iter().map(|l| config.link.response.at(l.rate)).max().unwrap_or_default();
    let late = config.faults.iter().map(|f| f.what.late()).max().unwrap_or_default();
    let lapse = weir_fc::refresh::lapse(config.scheme.info, &config.scheme.values);
    CONFIRM.max(pause * 2) + response + late + lapse.unwrap_or_default() * 2
}
