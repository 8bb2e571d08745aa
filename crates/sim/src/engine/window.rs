//! Every node runs once per sweep, for as long as nothing can reach it; threads share the nodes.

use super::balance::Balance;
use super::barrier::Barrier;
use super::partition::Partition;
use super::tiers::Tiers;
use super::{Engine, Part};
use crate::env::{Ahead, Env};
use crate::link::Wires;
use crate::link::mail::Mail;
use crate::node::Node;
use crate::shared::Shared;
use crate::tree;
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
    /// Whether each part has a thread of its own; otherwise one thread runs all parts in turn.
    threaded: bool,
    /// Whether that may change from one grid point to the next, with what there is to do.
    adapts: bool,
}

/// What a meeting of threads costs, in packet-hops: some ten microseconds, with what it costs to
/// start the threads.
const MEETING: u64 = 150;

/// Whether threads pay: whether the packet-hops that they spare the busiest one of them, `work` by
/// part, are worth that many meetings.
fn threads_pay(work: &[u64], meetings: u64) -> bool {
    let (all, most) = (work.iter().sum::<u64>(), work.iter().max().copied().unwrap_or(0));
    all - most >= MEETING * meetings
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
    /// The first group of `visits`, and that of `ahead`.
    groups: [usize; 2],
}

/// So many visits one after the other are a group: most nodes of a large network may be idle (an
/// incast), and a group of them is passed over at once.
const GROUP: usize = 16;

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
        adapts: bool,
    ) -> Self {
        parts.iter_mut().for_each(Part::announce);
        let tiers = Tiers::new(topology);
        let last = last_of_stretches(topology, partition, &tiers);
        let plan = |p| Plan::new(topology, partition, &tiers, p, &last);
        // threads synchronise before the highest tier runs, for any division of the nodes
        let meets = tiers.count() > 1 && last[tiers.count() as usize - 2];
        let balance = meets.then(|| Balance::new(topology));
        let mut plans: Vec<Plan> = (0..partition.parts.len()).map(plan).collect();
        for (plan, part) in plans.iter_mut().zip(parts.iter_mut()) {
            plan.group(part);
        }
        Self { lookahead, plans, tiers, balance, threaded: parts.len() > 1, adapts }
    }

    /// Goes on where another engine has stopped, with a network that is one part.
    pub(crate) fn resume(&mut self, part: &mut Part) {
        self.plans[0].group(part);
    }

    /// Another engine goes on from here.
    pub(crate) fn rest(&self, part: &mut Part) {
        part.wires.agenda.forget_groups();
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
            plan.group(&mut parts[p]);
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
        if parts.len() == 1 {
            self.work(&Exchange::new(1, 1), 0, parts, shared, until);
            return;
        }
        self.restore_balance(parts, partition, shared.topology);
        let hops = |parts: &[Part]| parts.iter().map(Part::hops).collect::<Vec<u64>>();
        let before = hops(parts);
        let meetings = match self.threaded {
            true => self.work_together(parts, shared, until),
            false => self.work(&Exchange::new(parts.len(), 1), 0, parts, shared, until),
        };
        if self.adapts {
            let work = hops(parts).into_iter().zip(before).map(|(now, before)| now - before);
            self.threaded = threads_pay(&work.collect::<Vec<_>>(), meetings);
        }
    }
}

impl Window {
    /// Everything before `until`, with a thread for each part.
    fn work_together(&self, parts: &mut [Part], shared: &Shared<'_>, until: Time) -> u64 {
        let exchange = &Exchange::new(parts.len(), parts.len());
        let (mine, others) = parts.split_at_mut(1);
        std::thread::scope(|scope| {
            for (me, part) in (1..).zip(others) {
                let part = std::slice::from_mut(part);
                scope.spawn(move || self.work(exchange, me, part, shared, until));
            }
            self.work(exchange, 0, mine, shared, until)
        })
    }

    /// One thread's share of everything before `until`: `parts`, the first of which has the number
    /// `first`. All threads see the same times, so they make the same sweeps and return after the
    /// same one. Returns how often they have synchronised.
    fn work(
        &self,
        exchange: &Exchange,
        first: usize,
        parts: &mut [Part],
        shared: &Shared<'_>,
        until: Time,
    ) -> u64 {
        let _attends = exchange.barrier.attend();
        tree::check_comparisons();
        let mut meetings = 0;
        let mut earliest = exchange.meet(first, parts, &mut meetings, |_, _| ());
        let ends_of = |start: Time, sweep, ends: &mut [Time]| {
            for (tier, end) in (0..).zip(ends) {
                let reach = self.lookahead * self.tiers.reach(tier, sweep);
                *end = start.saturating_add(reach).min(until);
            }
        };
        let mut ends = vec![Time::ZERO; self.tiers.count() as usize];
        let mut next_ends = ends.clone();
        let stretches = self.plans[first].stretches.len();
        while earliest < until {
            let start = earliest;
            ends_of(start, 0, &mut next_ends);
            for sweep in 1.. {
                std::mem::swap(&mut ends, &mut next_ends);
                ends_of(start, sweep, &mut next_ends);
                for i in 0..stretches {
                    for (plan, part) in self.plans[first..].iter().zip(parts.iter_mut()) {
                        let Stretch { visits, groups: [group, _], .. } = &plan.stretches[i];
                        part.run_visits(visits, *group, &ends, shared);
                    }
                    earliest = exchange.meet(first, parts, &mut meetings, |me, part| {
                        let Stretch { ahead, groups: [_, group], .. } =
                            &self.plans[me].stretches[i];
                        part.run_visits(ahead, *group, &next_ends, shared);
                    });
                }
                assert!(earliest >= ends[0], "what happens at {earliest} was left behind");
                // no node has an event before the point that the highest tier has reached
                if ends.last().is_some_and(|&end| earliest >= end) {
                    break;
                }
            }
        }
        meetings
    }
}

impl Part {
    /// Runs the nodes that have something to do before the end of their tier. `first` is the number
    /// of their first group.
    fn run_visits(&mut self, visits: &[Visit], first: usize, ends: &[Time], shared: &Shared<'_>) {
        match Ahead::all(self.wires.count()) {
            [] => self.run_near(visits, first, ends, shared),
            asks => self.run_ahead(asks, visits, first, ends, shared),
        }
    }

    /// [`Part::run_visits`] where everything is in the cache.
    fn run_near(&mut self, visits: &[Visit], first: usize, ends: &[Time], shared: &Shared<'_>) {
        let mut env = Env { wires: &mut self.wires, shared };
        let latest = latest(ends);
        for (group, members) in (first..).zip(visits.chunks(GROUP)) {
            if env.wires.agenda.soonest(group) >= latest {
                continue;
            }
            for visit in members {
                let end = ends[visit.tier as usize];
                if env.wires.agenda.next(visit.node) < end {
                    self.visits += 1;
                    self.nodes[visit.place as usize].run(end, &mut env);
                }
            }
            env.wires.agenda.visited(group, members.iter().map(|v| v.node));
        }
    }

    /// [`Part::run_visits`] with what the next visits will touch asked for beforehand.
    fn run_ahead(
        &mut self,
        asks: &[(usize, Ahead)],
        visits: &[Visit],
        first: usize,
        ends: &[Time],
        shared: &Shared<'_>,
    ) {
        let mut env = Env { wires: &mut self.wires, shared };
        let latest = latest(ends);
        let due = |wires: &Wires, group: usize| match group * GROUP {
            from if from >= visits.len() || wires.agenda.soonest(first + group) >= latest => 0,
            from => due(wires, &visits[from..visits.len().min(from + GROUP)], ends),
        };
        let asked = asks.iter().fold(0, |bits, (distance, _)| bits | 1u32 << distance);
        let groups = visits.len().div_ceil(GROUP);
        // bit `n`: the node of the `n`th visit from the start of a group, as far as the end of the
        // next one, will have something to do
        let mut busy = due(env.wires, 0);
        for group in 0..groups {
            busy |= due(env.wires, group + 1) << GROUP;
            let is_idle = env.wires.agenda.soonest(first + group) >= latest;
            let from = group * GROUP;
            let to = visits.len().min(from + GROUP);
            // from an idle group on, the next one is looked at
            let skipped = if is_idle { GROUP - Ahead::FARTHEST } else { 0 };
            if !is_idle || busy != 0 {
                for i in from + skipped..to {
                    let soon = busy >> (i - from);
                    if soon & asked != 0 {
                        ask(&self.nodes, asks, soon, &visits[i..], &env);
                    }
                    let visit = visits[i];
                    let end = ends[visit.tier as usize];
                    if env.wires.agenda.next(visit.node) < end {
                        self.visits += 1;
                        self.nodes[visit.place as usize].run(end, &mut env);
                    }
                }
            }
            if !is_idle {
                env.wires.agenda.visited(first + group, visits[from..to].iter().map(|v| v.node));
            }
            busy >>= GROUP;
        }
    }
}

/// Asks for what those of the next visits will touch whose nodes will have something to do: `soon`
/// has a bit for each.
#[inline(always)]
fn ask(nodes: &[Node], asks: &[(usize, Ahead)], soon: u32, visits: &[Visit], env: &Env<'_, '_>) {
    for &(distance, ahead) in asks {
        if soon & 1 << distance != 0
            && let Some(visit) = visits.get(distance)
        {
            nodes[visit.place as usize].prefetch(ahead, env);
        }
    }
}

/// The latest end of a sweep.
fn latest(ends: &[Time]) -> Time {
    ends.iter().copied().max().unwrap_or(Time::ZERO)
}

/// One bit for each of a group's visits: whether its node has something to do, as far as is known
/// now.
fn due(wires: &Wires, members: &[Visit], ends: &[Time]) -> u32 {
    let bit = |v: &Visit| u32::from(wires.agenda.next(v.node) < ends[v.tier as usize]);
    members.iter().rev().fold(0, |bits, v| bits << 1 | bit(v))
}

const _: () = assert!(Ahead::FARTHEST <= GROUP, "only the next group is looked at beforehand");

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

    /// Forms groups of visits, and tells the part which nodes they visit.
    fn group(&mut self, part: &mut Part) {
        let mut number = 0;
        for stretch in &mut self.stretches {
            for (first, visits) in stretch.groups.iter_mut().zip([&stretch.visits, &stretch.ahead])
            {
                *first = number;
                number += visits.len().div_ceil(GROUP);
            }
        }
        let rounds = self.stretches.iter().flat_map(|s| [&s.visits, &s.ahead]);
        let groups = rounds.flat_map(|visits| visits.chunks(GROUP));
        part.wires.agenda.set_groups(groups.map(|visits| visits.iter().map(|v| v.node)));
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
    /// An exchange between `parts` parts, which so many threads share.
    fn new(parts: usize, threads: usize) -> Self {
        let boxes = || (0..parts).map(|_| Mutex::new(Mail::default())).collect();
        let mail = || (0..parts).map(|_| boxes()).collect();
        let next = || (0..parts).map(|_| AtomicU64::new(0)).collect();
        Self { barrier: Barrier::new(threads), mail: [mail(), mail()], next: [next(), next()] }
    }

    /// Hands over what other parts are sent, does something else `meanwhile`, takes what the others
    /// have sent, and tells when anybody has something to do next. A thread does so for all of its
    /// parts, of which `first` is the number of the first.
    fn meet(
        &self,
        first: usize,
        parts: &mut [Part],
        meetings: &mut u64,
        mut meanwhile: impl FnMut(usize, &mut Part),
    ) -> Time {
        if let ([part], 1) = (&*parts, self.next[0].len()) {
            return part.earliest();
        }
        let turn = (*meetings % 2) as usize;
        let (mail, times) = (&self.mail[turn], &self.next[turn]);
        *meetings += 1;
        for (me, part) in (first..).zip(parts.iter_mut()) {
            let mut next = part.earliest();
            for (to, boxes) in mail.iter().enumerate() {
                if to != me {
                    let mut slot = boxes[me].lock().expect("no thread panics while handing over");
                    next = next.min(part.wires.hand_over(to, &mut slot));
                }
            }
            times[me].store(next.as_ps(), Ordering::Release);
        }
        let arrival = self.barrier.arrive();
        for (me, part) in (first..).zip(parts.iter_mut()) {
            meanwhile(me, part);
        }
        self.barrier.wait(arrival);
        for (me, part) in (first..).zip(parts.iter_mut()) {
            for (from, slot) in mail[me].iter().enumerate() {
                if from != me {
                    let mut slot = slot.lock().expect("no thread panics while handing over");
                    part.wires.take_over(&mut slot);
                }
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

    /// A 512:1 incast on a fat-tree of 1024 hosts keeps one link of 100 Gb/s busy: in 10 us, some
    /// 120 packets and their ACKs cross six links each, in eleven synchronisations.
    #[test]
    fn threads_are_worth_their_meetings_or_rest() {
        assert!(!threads_pay(&[720, 720], 11));
        assert!(threads_pay(&[10_000, 9_000], 11));
        // one thread has all the work, or there is none
        assert!(!threads_pay(&[100_000, 0], 11));
        assert!(!threads_pay(&[0, 0], 1));
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
