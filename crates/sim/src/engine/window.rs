//! Every node runs once per sweep, for as long as nothing can reach it; threads share the nodes.

use super::balance::Balance;
use super::barrier::Barrier;
use super::partition::Partition;
use super::tiers::Tiers;
use super::{Engine, Part};
use crate::env::{Ahead, Env};
use crate::shared::Shared;
use crate::tree;
use crate::wire::Mail;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_core::{NodeId, Time};
use weir_net::Topology;

/// The window engine.
///
/// A sweep visits every node once and runs it for a window: two lookaheads where the network
/// has tiers, one otherwise ([`Tiers`]). Nothing sent by a node arrives within the window its
/// neighbour has run, so nodes that are no neighbours run in any order and on any thread; packets
/// for another thread's nodes are handed over where tiers meet. Sweeps begin at the earliest
/// pending event of the network: idle time costs nothing.
pub(crate) struct Window {
    lookahead: Time,
    tiers: Tiers,
    /// By part.
    plans: Vec<Plan>,
    /// If nodes of the highest tier may move from part to part.
    balance: Option<Balance>,
}

/// In which order a part visits its nodes.
struct Plan {
    /// Between them threads meet.
    stretches: Vec<Stretch>,
}

/// What a thread does between two meetings.
#[derive(Clone, Debug, Default)]
struct Stretch {
    visits: Vec<Visit>,
    /// Visits of the next sweep that need nothing from other threads: done while the others are
    /// still on their way to the meeting. Without them the slower one of every stretch would be
    /// waited for.
    ahead: Vec<Visit>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    node: NodeId,
    /// Where the node is in its part.
    place: u32,
    tier: u32,
}

impl Window {
    pub(crate) fn new(
        parts: &mut [Part],
        topology: &Topology,
        partition: &Partition,
        lookahead: Time,
    ) -> Self {
        for part in parts {
            part.announce();
        }
        let tiers = Tiers::new(topology);
        let last = last_of_stretches(topology, partition, &tiers);
        let plan = |p| Plan::new(topology, partition, &tiers, p, &last);
        // threads meet before the highest tier runs, whoever sends to whom
        let meets = tiers.count() > 1 && last[tiers.count() as usize - 2];
        let balance = meets.then(|| Balance::new(topology));
        Self { lookahead, plans: (0..partition.parts.len()).map(plan).collect(), tiers, balance }
    }

    /// Lets parts that have had more to do than others give some of it away.
    fn restore_balance(
        &mut self,
        parts: &mut [Part],
        partition: &mut Partition,
        topology: &Topology,
    ) {
        let Some(balance) = &mut self.balance else { return };
        if !balance.restore(parts, partition, topology) {
            return;
        }
        let tier = self.tiers.count() - 1;
        for (p, plan) in self.plans.iter_mut().enumerate() {
            let nodes = partition.parts[p].iter().enumerate().skip(partition.settled[p]);
            let visit = |(place, &node)| Visit { node, place: place as u32, tier };
            plan.stretches.last_mut().expect("a sweep has an end").visits =
                nodes.map(visit).collect();
        }
    }
}

impl Engine for Window {
    fn advance(
        &mut self,
        parts: &mut [Part],
        partition: &mut Partition,
        shared: &Shared<'_>,
        until: Time,
    ) {
        let exchange = Exchange::new(parts.len());
        if let [part] = parts {
            self.work(&exchange, 0, part, shared, until);
            return;
        }
        self.restore_balance(parts, partition, shared.topology);
        let (this, exchange) = (&*self, &exchange);
        std::thread::scope(|scope| {
            for (me, part) in parts.iter_mut().enumerate() {
                scope.spawn(move || this.work(exchange, me, part, shared, until));
            }
        });
    }
}

impl Window {
    /// One thread's share of everything before `until`. All threads see the same times, so they
    /// go through the same sweeps and leave together.
    fn work(
        &self,
        exchange: &Exchange,
        me: usize,
        part: &mut Part,
        shared: &Shared<'_>,
        until: Time,
    ) {
        let _attends = exchange.barrier.attend();
        tree::check_comparisons();
        let mut turn = 0;
        let mut earliest = exchange.meet(me, part, &mut turn, |_| ());
        let ends_of = |start: Time, sweep, ends: &mut [Time]| {
            for (tier, end) in (0..).zip(ends) {
                let reach = self.lookahead * self.tiers.reach(tier, sweep);
                *end = start.saturating_add(reach).min(until);
            }
        };
        let mut ends = vec![Time::ZERO; self.tiers.count() as usize];
        let mut next_ends = ends.clone();
        while earliest < until {
            let start = earliest;
            ends_of(start, 0, &mut next_ends);
            for sweep in 1.. {
                std::mem::swap(&mut ends, &mut next_ends);
                ends_of(start, sweep, &mut next_ends);
                for stretch in &self.plans[me].stretches {
                    part.run_visits(&stretch.visits, &ends, shared);
                    earliest = exchange.meet(me, part, &mut turn, |part| {
                        part.run_visits(&stretch.ahead, &next_ends, shared);
                    });
                }
                assert!(earliest >= ends[0], "what happens at {earliest} was left behind");
                // nobody has anything to do before the point that the highest tier has reached
                if ends.last().is_some_and(|&end| earliest >= end) {
                    break;
                }
            }
        }
    }
}

impl Part {
    /// Runs the nodes that have something to do before the end of their tier.
    fn run_visits(&mut self, visits: &[Visit], ends: &[Time], shared: &Shared<'_>) {
        let asks = Ahead::all(self.wires.count());
        let mut env = Env { wires: &mut self.wires, shared };
        // bit `n`: the node of the `n`th visit from here will have something to do
        let mut busy = u32::MAX;
        let mut i = 0;
        while let Some(visit) = visits.get(i) {
            busy >>= 1;
            if let Some(farthest) = visits.get(i + Ahead::FARTHEST) {
                let end = ends[farthest.tier as usize];
                busy |= u32::from(env.wires.next(farthest.node) < end) << Ahead::FARTHEST;
            }
            for &(distance, ahead) in asks {
                if busy & 1 << distance != 0
                    && let Some(visit) = visits.get(i + distance)
                {
                    self.nodes[visit.place as usize].prefetch(ahead, &env);
                }
            }
            let end = ends[visit.tier as usize];
            if env.wires.next(visit.node) < end {
                self.nodes[visit.place as usize].run(end, &mut env);
            }
            i += 1;
            // Most nodes of a large network may be idle (an incast): they are passed over quickly.
            if busy <= 1 {
                let is_idle = |v: &Visit| env.wires.next(v.node) >= ends[v.tier as usize];
                let rest = visits[i..].iter().zip(visits.iter().skip(i + Ahead::FARTHEST));
                i += rest.take_while(|(visit, far)| is_idle(visit) && is_idle(far)).count();
            }
        }
    }
}

/// By tier: whether a stretch ends with it, because what it sends to the tier above may cross
/// from one part to another. The highest one ends the sweep.
fn last_of_stretches(topology: &Topology, partition: &Partition, tiers: &Tiers) -> Vec<bool> {
    let mut last = vec![false; tiers.count() as usize];
    for link in topology.links() {
        let [a, b] = [link.a.0, link.b.0];
        if partition.place[a.index()].0 != partition.place[b.index()].0 {
            last[tiers.of(a).min(tiers.of(b)) as usize] = true;
        }
    }
    if let Some(highest) = last.last_mut() {
        *highest = true;
    }
    last
}

impl Plan {
    /// A node comes after its neighbours of the tier below, and as soon as it can: what they have
    /// sent it is still in the cache then.
    fn new(
        topology: &Topology,
        partition: &Partition,
        tiers: &Tiers,
        part: usize,
        last: &[bool],
    ) -> Self {
        let nodes = &partition.parts[part];
        let stretch_of = |n: NodeId| last[..tiers.of(n) as usize].iter().filter(|l| **l).count();
        let goes_before = |a: NodeId, b: NodeId| {
            tiers.of(a) < tiers.of(b)
                && partition.place[a.index()].0 == partition.place[b.index()].0
                && stretch_of(a) == stretch_of(b)
        };
        let peers = |n: NodeId| topology.ports(n).iter().map(|end| end.peer);
        let mut waits_for: Vec<usize> =
            nodes.iter().map(|&n| peers(n).filter(|&p| goes_before(p, n)).count()).collect();
        let mut stretches = vec![Stretch::default(); last.iter().filter(|l| **l).count()];
        let first: Vec<NodeId> =
            nodes.iter().zip(&waits_for).filter(|(_, w)| **w == 0).map(|(n, _)| *n).collect();
        let mut ready = Vec::new();
        for node in first {
            ready.push(node);
            while let Some(node) = ready.pop() {
                let (_, place) = partition.place[node.index()];
                stretches[stretch_of(node)].visits.push(Visit {
                    node,
                    place,
                    tier: tiers.of(node),
                });
                for peer in peers(node).filter(|&p| goes_before(node, p)) {
                    let (_, place) = partition.place[peer.index()];
                    waits_for[place as usize] -= 1;
                    if waits_for[place as usize] == 0 {
                        ready.push(peer);
                    }
                }
            }
        }
        if partition.parts.len() > 1 {
            let inner = inner_nodes(topology, partition, tiers, part, last);
            spread_ahead(&mut stretches, |v| inner[v.place as usize]);
        }
        Self { stretches }
    }
}

/// By place in a part: whether a node needs nothing from other parts, neither directly nor through
/// what runs before it in a sweep, and may run one sweep ahead of the highest tier.
///
/// Its tier is at least two below the highest: in the next sweep it gets no further than the
/// highest gets in this one ([`Tiers::reach`]), so it has done nothing too early should no
/// next sweep follow.
fn inner_nodes(
    topology: &Topology,
    partition: &Partition,
    tiers: &Tiers,
    part: usize,
    last: &[bool],
) -> Vec<bool> {
    let mut inner = vec![false; partition.parts[part].len()];
    let in_first = |n: NodeId| last[..tiers.of(n) as usize].iter().all(|l| !l);
    for tier in 0..tiers.count().saturating_sub(2) {
        for &node in partition.parts[part].iter().filter(|n| tiers.of(**n) == tier) {
            let fits = |peer: NodeId| {
                let (at, place) = partition.place[peer.index()];
                at as usize == part
                    && in_first(peer)
                    && (tiers.of(peer) > tier || inner[place as usize])
            };
            let fits_all = in_first(node) && topology.ports(node).iter().all(|e| fits(e.peer));
            inner[partition.place[node.index()].1 as usize] = fits_all;
        }
    }
    inner
}

/// Moves the inner visits of the first stretch to where threads would wait, evenly.
fn spread_ahead(stretches: &mut [Stretch], inner: impl Fn(&Visit) -> bool) {
    let Some(first) = stretches.first_mut() else { return };
    let (ahead, rest): (Vec<Visit>, Vec<Visit>) =
        std::mem::take(&mut first.visits).into_iter().partition(inner);
    first.visits = rest;
    let each = ahead.len().div_ceil(stretches.len()).max(1);
    for (stretch, share) in stretches.iter_mut().zip(ahead.chunks(each)) {
        stretch.ahead = share.to_vec();
    }
}

/// Where threads meet at the end of a stretch.
///
/// There are two of everything: the first to leave a meeting may be at the next one before the
/// last has read what was left for it at this one.
struct Exchange {
    barrier: Barrier,
    /// `mail[turn][to][from]`
    mail: [Vec<Vec<Mutex<Mail>>>; 2],
    /// When each part has something to do next, what it has sent included.
    next: [Vec<AtomicU64>; 2],
}

impl Exchange {
    fn new(parts: usize) -> Self {
        let boxes = || (0..parts).map(|_| Mutex::new(Mail::default())).collect();
        let mail = || (0..parts).map(|_| boxes()).collect();
        let next = || (0..parts).map(|_| AtomicU64::new(0)).collect();
        Self { barrier: Barrier::new(parts), mail: [mail(), mail()], next: [next(), next()] }
    }

    /// Hands over what other parts are sent, does something else `meanwhile`, takes what the others
    /// have sent, and tells when anybody has something to do next.
    fn meet(
        &self,
        me: usize,
        part: &mut Part,
        turn: &mut usize,
        meanwhile: impl FnOnce(&mut Part),
    ) -> Time {
        let mut next = part.earliest();
        if self.next[0].len() == 1 {
            return next;
        }
        let (mail, times) = (&self.mail[*turn], &self.next[*turn]);
        *turn ^= 1;
        for (to, boxes) in mail.iter().enumerate() {
            if to != me {
                let mut slot = boxes[me].lock().expect("nobody panics while handing over");
                next = next.min(part.wires.hand_over(to, &mut slot));
            }
        }
        times[me].store(next.as_ps(), Ordering::Release);
        let arrival = self.barrier.arrive();
        meanwhile(part);
        self.barrier.wait(arrival);
        for (from, slot) in mail[me].iter().enumerate() {
            if from != me {
                let mut slot = slot.lock().expect("nobody panics while handing over");
                part.wires.take_over(&mut slot);
            }
        }
        let earliest = times.iter().map(|t| t.load(Ordering::Acquire)).min();
        Time::from_ps(earliest.unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_net::build::{self, k_ary};

    /// The tiers a part of a 4-ary fat-tree visits, stretch by stretch: those of this sweep and
    /// those of the next one.
    fn plan(parts: usize) -> Vec<[String; 2]> {
        let topology = build::k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).unwrap();
        let tiers = Tiers::new(&topology);
        let partition = Partition::new(&topology, parts);
        let last = last_of_stretches(&topology, &partition, &tiers);
        let stretches = Plan::new(&topology, &partition, &tiers, 0, &last).stretches;
        let show = |visits: &[Visit]| visits.iter().map(|v| v.tier.to_string()).collect();
        stretches.iter().map(|s| [show(&s.visits), show(&s.ahead)]).collect()
    }

    /// Sixteen hosts in four pods: a rack's hosts, its switch, the next rack, the pod's
    /// aggregation switches. Half of the cores wait for the last pod's first aggregation switch,
    /// half for its second.
    #[test]
    fn a_sweep_goes_up_pod_by_pod() {
        let pods = "00100122".repeat(3);
        assert_eq!(plan(1), [[format!("{pods}001001233233"), String::new()]]);
    }

    /// Where threads meet below the cores, these stand alone, and what is below the aggregation
    /// switches fills both waits.
    #[test]
    fn threads_run_ahead_where_they_need_nobody() {
        let racks = "001001";
        assert_eq!(plan(2), [["2222", racks], ["33", racks]]);
        // a thread with one pod has one rack to each wait
        assert_eq!(plan(4), [["22", "001"], ["3", "001"]]);
    }
}
