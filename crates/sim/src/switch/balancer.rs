//! Which of several equally good ports a packet takes, where that is not a matter of its flow alone
//! ([`Balance`]).
//!
//! Decided when the packet is forwarded: as it comes in from a shared-memory switch's latency, at
//! the end of the pipeline of a pipelined switch. Queue lengths are those of that instant. Random
//! choices come from one stream per switch, named `balance`, and the events of a switch have one
//! order: results are the same on every engine.
//!
//! Only the plain path asks: a switch that does not route by flow takes no shortcuts on the way in.

use crate::config::Balance;
use rustc_hash::FxHashMap;
use weir_core::rng::Stream;
use weir_core::{Bytes, FlowId, NodeId, Packet, PortId, Priority, PrioritySet, Time};
use weir_fc::{PortBook, PrioritySchedule};

/// Flowlets are looked through for ones that are over when there are more than this.
const FEW_FLOWLETS: usize = 1024;

/// Where a flow goes while its packets follow each other closely.
#[derive(Clone, Copy, Debug)]
struct Flowlet {
    last: Time,
    port: PortId,
}

/// The balancer of one switch.
pub(crate) struct Balancer {
    balance: Balance,
    draws: Stream,
    /// By priority: a mask for each priority, all ones if its queued bytes leave before a new
    /// packet of the first one.
    ahead: [[u64; Priority::COUNT]; Priority::COUNT],
    /// Round robin: the next place in each set of ports.
    turns: FxHashMap<u32, u32>,
    /// By flow and destination: ACKs go the other way under the same flow.
    flowlets: FxHashMap<(FlowId, NodeId), Flowlet>,
    /// Look for flowlets that are over when there are more.
    most_flowlets: usize,
    /// Drain bytes of the candidate ports.
    drain: Vec<Bytes>,
}

/// The priorities whose packets go before a new one of each priority, itself included: strict ones
/// from itself up; before a weighted one all strict ones.
fn ahead(schedule: &PrioritySchedule) -> [PrioritySet; Priority::COUNT] {
    let is_strict = |p: &Priority| schedule.quantum_of(*p).is_none();
    Priority::ALL.map(|own| {
        let goes_before = |p: &Priority| is_strict(p) && (*p >= own || !is_strict(&own));
        let strict = Priority::ALL.into_iter().filter(goes_before);
        strict.chain([own]).collect()
    })
}

/// All ones for each priority of a set.
fn masks(set: PrioritySet) -> [u64; Priority::COUNT] {
    Priority::ALL.map(|p| if set.contains(p) { u64::MAX } else { 0 })
}

impl Balancer {
    /// The balancer of a switch; `None` where a hash of the flow decides.
    pub(super) fn new(
        balance: Balance,
        schedule: &PrioritySchedule,
        seed: u64,
        switch: NodeId,
    ) -> Option<Self> {
        (balance != Balance::Flow).then(|| Self {
            balance,
            draws: Stream::new(seed, "balance", u64::from(switch.0)),
            ahead: ahead(schedule).map(masks),
            turns: FxHashMap::default(),
            flowlets: FxHashMap::default(),
            most_flowlets: FEW_FLOWLETS,
            drain: Vec::new(),
        })
    }

    /// The port that `packet` takes, one of `ports`; `group` is the number of that set.
    pub(super) fn choose(
        &mut self,
        packet: &Packet,
        (group, ports): (u32, &[PortId]),
        books: &[PortBook],
        now: Time,
    ) -> PortId {
        match self.balance {
            Balance::Flow => unreachable!("there is a balancer"),
            Balance::Random => self.draw(ports),
            Balance::RoundRobin => self.take_turn(group, ports),
            Balance::Flowlet { gap } => self.follow(packet, ports, gap, now),
            Balance::Adaptive { low, high } => {
                self.adapt(packet.priority, ports, books, [low, high])
            }
        }
    }

    fn draw(&mut self, ports: &[PortId]) -> PortId {
        ports[self.draws.below(ports.len() as u64) as usize]
    }

    fn take_turn(&mut self, group: u32, ports: &[PortId]) -> PortId {
        let Self { turns, draws, .. } = self;
        let n = ports.len() as u32;
        let turn = turns.entry(group).or_insert_with(|| draws.below(u64::from(n)) as u32);
        // after a change of routes the set may be another one
        let at = *turn % n;
        *turn = (at + 1) % n;
        ports[at as usize]
    }

    fn follow(&mut self, packet: &Packet, ports: &[PortId], gap: Time, now: Time) -> PortId {
        let key = (packet.flow, packet.dst);
        let goes_on = |f: &&mut Flowlet| now < f.last + gap && ports.contains(&f.port);
        if let Some(flowlet) = self.flowlets.get_mut(&key).filter(goes_on) {
            flowlet.last = now;
            return flowlet.port;
        }
        if self.flowlets.len() >= self.most_flowlets {
            // one that is over is as good as none
            self.flowlets.retain(|_, f| now < f.last + gap);
            self.most_flowlets = (2 * self.flowlets.len()).max(FEW_FLOWLETS);
        }
        let port = self.draw(ports);
        self.flowlets.insert(key, Flowlet { last: now, port });
        port
    }

    /// Draws from the ports with fewest drain bytes, by two thresholds.
    fn adapt(
        &mut self,
        priority: Priority,
        ports: &[PortId],
        books: &[PortBook],
        thresholds: [Bytes; 2],
    ) -> PortId {
        let ahead = &self.ahead[priority.index()];
        let drain = |port: &PortId| -> Bytes {
            let q_out = &books[port.index()].q_out;
            Bytes::new(q_out.iter().zip(ahead).map(|(bytes, counts)| bytes.get() & counts).sum())
        };
        self.drain.clear();
        self.drain.extend(ports.iter().map(drain));
        for limit in thresholds {
            let below = self.drain.iter().filter(|d| **d < limit).count() as u64;
            if below > 0 {
                let nth = self.draws.below(below) as usize;
                let mut accepted = ports.iter().zip(&self.drain).filter(|(_, d)| **d < limit);
                return *accepted.nth(nth).expect("there are more").0;
            }
        }
        self.draw(ports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::PacketKind;

    const LOW: Bytes = Bytes::from_kb(16);
    const HIGH: Bytes = Bytes::from_kb(32);
    const ALB: Balance = Balance::Adaptive { low: LOW, high: HIGH };
    const PORTS: [PortId; 4] = [PortId(0), PortId(1), PortId(2), PortId(3)];

    fn balancer(balance: Balance, schedule: &PrioritySchedule) -> Balancer {
        Balancer::new(balance, schedule, 1, NodeId(3)).expect("not by flow")
    }

    fn packet(flow: u32, priority: usize) -> Packet {
        Packet {
            flow: FlowId::new(NodeId(0), flow),
            seq: 0,
            dst: NodeId(1),
            wire_tag: 0,
            extra: Packet::NO_EXTRA,
            size: 1518,
            ingress: PortId(9),
            kind: PacketKind::Data,
            priority: Priority::ALL[priority],
            flags: 0,
            local_tag: 0,
        }
    }

    /// Ports with these bytes of one priority.
    fn books(priority: usize, bytes: [u64; 4]) -> Vec<PortBook> {
        let book = |bytes| {
            let mut book = PortBook::default();
            book.q_out[priority] = Bytes::new(bytes);
            book
        };
        bytes.map(book).into()
    }

    /// How often each port is chosen in 4000 times.
    fn chosen(b: &mut Balancer, packet: &Packet, books: &[PortBook]) -> [u32; 4] {
        let mut seen = [0; 4];
        for _ in 0..4000 {
            seen[b.choose(packet, (0, &PORTS), books, Time::ZERO).index()] += 1;
        }
        seen
    }

    /// Ports with a share, each of which is as likely as the others.
    fn drawn(b: &mut Balancer, packet: &Packet, books: &[PortBook]) -> Vec<usize> {
        let seen = chosen(b, packet, books);
        let used: Vec<usize> = (0..4).filter(|&i| seen[i] > 0).collect();
        let each = 4000 / used.len() as u32;
        // at most 2000 draws each with a deviation of at most 32: five of them
        assert!(used.iter().all(|&i| seen[i].abs_diff(each) < 160), "{seen:?}");
        used
    }

    #[test]
    fn alb_draws_from_the_first_threshold_that_some_port_is_below() {
        let mut b = balancer(ALB, &PrioritySchedule::default());
        let p = packet(0, 3);
        let mut with = |bytes| drawn(&mut b, &p, &books(3, bytes));
        assert_eq!(with([0; 4]), [0, 1, 2, 3]);
        assert_eq!(with([15_999, 16_000, 0, 40_000]), [0, 2], "below, not at");
        assert_eq!(with([16_000, 31_999, 32_000, 90_000]), [0, 1]);
        assert_eq!(with([32_000, 33_000, 90_000, 50_000]), [0, 1, 2, 3], "none is good");
        assert_eq!(with([16_000, 15_999, 16_000, 16_000]), [1]);
    }

    #[test]
    fn drain_bytes_are_what_leaves_before_a_new_packet() {
        let mut schedule = PrioritySchedule::default();
        assert_eq!(ahead(&schedule)[3].bits(), 0b1111_1000);
        assert_eq!(ahead(&schedule)[7].bits(), 0b1000_0000);
        // 5 and 7 are strict, the others share by weight
        schedule.weights = [1, 1, 1, 1, 1, 0, 1, 0];
        let masks = ahead(&schedule).map(PrioritySet::bits);
        assert_eq!((masks[3], masks[6]), (0b1010_1000, 0b1110_0000));
        assert_eq!((masks[5], masks[7]), (0b1010_0000, 0b1000_0000));
        // bytes of another weighted class do not count, those of a strict one do
        let mut b = balancer(ALB, &schedule);
        let long = packet(0, 3);
        assert_eq!(drawn(&mut b, &long, &books(4, [50_000, 0, 0, 0])), [0, 1, 2, 3]);
        assert_eq!(drawn(&mut b, &long, &books(5, [50_000, 0, 0, 0])), [1, 2, 3]);
        assert_eq!(drawn(&mut b, &packet(0, 5), &books(3, [50_000, 0, 0, 0])), [0, 1, 2, 3]);
    }

    #[test]
    fn random_and_round_robin_do_not_look_at_queues() {
        let full = books(3, [90_000, 0, 0, 0]);
        let p = packet(0, 3);
        let schedule = PrioritySchedule::default();
        assert_eq!(drawn(&mut balancer(Balance::Random, &schedule), &p, &full), [0, 1, 2, 3]);
        let mut b = balancer(Balance::RoundRobin, &schedule);
        assert_eq!(chosen(&mut b, &p, &full), [1000; 4]);
        let mut next = |group, ports: &[PortId]| b.choose(&p, (group, ports), &full, Time::ZERO).0;
        let first = next(0, &PORTS);
        assert_eq!([1, 2, 3].map(|_| next(0, &PORTS)), [1, 2, 3].map(|i| (first + i) % 4));
        let other = next(7, &PORTS[..2]);
        assert_eq!(next(0, &PORTS), first, "another set does not take its turn");
        assert_eq!(next(7, &PORTS[..2]), 1 - other);
    }

    #[test]
    fn a_flowlet_stays_until_its_flow_is_silent_for_the_gap() {
        let us = Time::from_us;
        let mut b = balancer(Balance::Flowlet { gap: us(10) }, &PrioritySchedule::default());
        let none = books(3, [0; 4]);
        let at = |b: &mut Balancer, flow, t| b.choose(&packet(flow, 3), (0, &PORTS), &none, t);
        let first = at(&mut b, 1, us(0));
        assert!((1..100).all(|i| at(&mut b, 1, us(i * 9)) == first));
        // 9.999999 us later still, 10 us later drawn anew
        let last = us(99 * 9) + us(10);
        assert_eq!(at(&mut b, 1, last - Time::from_ps(1)), first);
        let later: Vec<PortId> = (1..100).map(|i| at(&mut b, 1, last + us(10 * i))).collect();
        assert!(PORTS.iter().all(|p| later.contains(p)), "{later:?}");
        // the ACKs of a flow go another way, and have flowlets of their own
        let ack = Packet { dst: NodeId(0), ..packet(1, 7) };
        b.choose(&ack, (0, &PORTS), &none, last);
        assert_eq!(b.flowlets.len(), 2);
        // a port that routes no longer offer is not kept
        let now = last + us(2000);
        let kept = at(&mut b, 2, now);
        let others: Vec<PortId> = PORTS.into_iter().filter(|p| *p != kept).collect();
        assert_ne!(b.choose(&packet(2, 3), (0, &others), &none, now), kept);
    }

    #[test]
    fn flowlets_that_are_over_are_forgotten() {
        let gap = Time::from_us(10);
        let mut b = balancer(Balance::Flowlet { gap }, &PrioritySchedule::default());
        let none = books(3, [0; 4]);
        for i in 0..20_000u32 {
            b.choose(&packet(i, 3), (0, &PORTS), &none, Time::from_ns(u64::from(i) * 100));
        }
        // one every 100 ns: a hundred of them are not over
        assert!(b.flowlets.len() <= FEW_FLOWLETS + 100, "{}", b.flowlets.len());
    }
}
