//! Rounds of incast beside long flows that share only the way (OFC, dumbbell experiment).
//!
//! OFC's paper gives ratios (4:1 to 10:1; a fifth of the flows long-lived, the rest bursts of up
//! to 30 us) but no generator. This one mirrors its Fig. 1: if all senders of an incast sat
//! behind the inter-rack link they would only congest that link, and every flow crossing it
//! would be a congested one. So in each round
//!
//! ```text
//!   rack A            one link            rack B
//!   long "congested" ------------------->  R0  <--- degree-1 bursts from rack B
//!   long "victim"    ------------------->  another host, and so on
//!                                          other hosts  <--- bursts from rack B, until bursts
//!                                                            are `burst_percent` of the flows
//! ```
//!
//! Everything of a round starts at once; rounds follow each other at a fixed period whatever the
//! network does. R0 changes every round. Bursts that only fill up the share go to hosts that
//! neither are R0 nor receive a victim, so that the labels mean what they say.

use super::{Context, Pair, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::hosts::HostSet;
use crate::params::{Entry, Fallback, Kind, Reader, params};
use crate::pattern::burst::Amount;
use crate::pattern::marking::{Marking, SubClass};
use crate::text::TimeRange;
use weir_core::rng::Stream;
use weir_core::{Bytes, ClassId, NodeId, Priority, Time};

/// Where the bursts of the incast come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IncastSenders {
    /// From the receiver's rack.
    #[default]
    Local,
    /// From the other rack, across the link.
    Remote,
}

/// The labels of the three groups of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RoundClasses {
    /// Long flows to hosts without incast.
    pub victim: ClassId,
    /// The long flow to the incast's receiver.
    pub congested: ClassId,
    /// All bursts.
    pub burst: ClassId,
}

/// Rounds of incast beside long flows that share only the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The rack that the long flows come from.
    pub rack_a: Vec<NodeId>,
    /// The rack they go to.
    pub rack_b: Vec<NodeId>,
    /// Flows towards R0 in each round: one long, the others bursts.
    pub degree: u32,
    /// Long flows to other hosts in each round.
    pub victims: u32,
    /// How long a burst lasts at line rate; drawn for each from the range.
    pub burst: TimeRange,
    /// Size of a long flow.
    pub long: Bytes,
    /// Bursts make up at least this percentage of the flows of a round.
    pub burst_percent: u32,
    /// Time between the starts of successive rounds.
    pub period: Time,
    /// Rounds go on until at least so many flows have started.
    pub flows: u64,
    /// Where the bursts of the incast come from.
    pub incast_senders: IncastSenders,
    /// Start of the first round.
    pub start: Time,
    /// Labels.
    pub classes: RoundClasses,
    /// 802.1Q priority.
    pub priority: Priority,
}

/// As many flows as may be asked for: they are all made at once.
const MOST_FLOWS: u64 = 1_000_000;

/// `rounds`.
pub(crate) const ENTRY: Entry = Entry {
    name: "rounds",
    doc: "Rounds of incast in one rack, with long flows from another rack that share only the \
          path (OFC's dumbbell experiment). Classes: `victim`, `congested`, `burst`.",
    groups: &[params! {
        "rack_a" Kind::Hosts, Fallback::Required, "the rack that the long flows come from";
        "rack_b" Kind::Hosts, Fallback::Required, "the rack they go to";
        "degree" Kind::COUNT, Fallback::Required,
            "flows towards one receiver in each round: one long, the others bursts";
        "victims" Kind::COUNT, Fallback::Is("2"), "long flows to other hosts in each round";
        "burst" Kind::Times, Fallback::Is("0us..30us"), "how long a burst lasts at line rate";
        "long" Kind::Size(&["unlimited"]), Fallback::Is("1MB"), "size of a long flow";
        "burst_percent" Kind::COUNT, Fallback::Is("80"),
            "bursts to other hosts are added until bursts make up this much of the flows";
        "period" Kind::Time(&[]), Fallback::Is("1ms"), "time between the starts of rounds";
        "flows" Kind::COUNT, Fallback::Is("2000"),
            "rounds continue until at least this many flows have started";
        "incast_senders" Kind::Choice(&["local", "remote"]), Fallback::Is("local"),
            "where the bursts of the incast come from: the receiver's rack or the other one";
        "start" Kind::Time(&[]), Fallback::Is("0s"), "start of the first round";
        "priority" Kind::PRIORITY, Fallback::Is("0"), "802.1Q priority of the packets";
    }],
};

impl Rounds {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let senders = [("local", IncastSenders::Local), ("remote", IncastSenders::Remote)];
        Ok(Self {
            rack_a: r.hosts("rack_a")?.unwrap_or_default(),
            rack_b: r.hosts("rack_b")?.unwrap_or_default(),
            degree: r.get("degree")?,
            victims: r.get("victims")?,
            burst: r.get("burst")?,
            long: r.get("long")?,
            burst_percent: r.get("burst_percent")?,
            period: r.get("period")?,
            flows: r.get("flows")?,
            incast_senders: r.choice("incast_senders", &senders)?,
            start: r.get("start")?,
            classes: RoundClasses {
                victim: r.class("victim")?,
                congested: r.class("congested")?,
                burst: r.class("burst")?,
            },
            priority: r.get("priority")?,
        })
    }

    fn incast_bursts(&self) -> u64 {
        u64::from(self.degree) - 1
    }

    /// Bursts of a round: those of the incast, and more until they reach their share.
    fn bursts(&self) -> u64 {
        let long = 1 + u64::from(self.victims);
        let percent = u64::from(self.burst_percent);
        (long * percent).div_ceil(100 - percent).max(self.incast_bursts())
    }

    fn check_counts(&self) -> Result<(), TrafficError> {
        if self.degree == 0 {
            return Err(TrafficError::value(
                "degree",
                0,
                "an incast has at least 1 flow, the long one",
            ));
        }
        if self.burst_percent > 99 {
            return Err(TrafficError::value("burst_percent", self.burst_percent, "from 0 to 99"));
        }
        if self.period == Time::ZERO {
            return Err(TrafficError::value("period", self.period, "a time above 0"));
        }
        if !(1..=MOST_FLOWS).contains(&self.flows) {
            return Err(TrafficError::value(
                "flows",
                self.flows,
                format!("from 1 to {MOST_FLOWS}"),
            ));
        }
        if self.long == Bytes::ZERO || self.long == Bytes::MAX {
            return Err(TrafficError::value(
                "long",
                self.long,
                "a long flow has at least 1 B and an end",
            ));
        }
        Amount::Duration { lasts: self.burst, rate: None }.check()
    }

    fn check_racks(&self, a: &HostSet, b: &HostSet) -> Result<(), TrafficError> {
        if let Some(&both) = a.as_slice().iter().find(|&&h| b.contains(h)) {
            let valid = "a host belongs to one rack, and this one is in `rack_a` too";
            return Err(TrafficError::value("rack_b", both, valid));
        }
        let remote = self.incast_senders == IncastSenders::Remote;
        let (long, incast) = (1 + u64::from(self.victims), self.incast_bursts());
        let need_a = long + if remote { incast } else { 0 };
        // R0, the victims' receivers and one more for other bursts; or R0 and the incast's senders
        let need_b = (long + 1).max(if remote { 0 } else { 1 + incast }).max(3);
        for (name, rack, need) in [("rack_a", a, need_a), ("rack_b", b, need_b)] {
            if (rack.len() as u64) < need {
                let found = format!("a list of {}", rack.len());
                let valid = format!("these numbers of flows take at least {need} hosts");
                return Err(TrafficError::value(name, found, valid));
            }
        }
        Ok(())
    }

    fn racks(&self, fabric: &Fabric) -> Result<(HostSet, HostSet), TrafficError> {
        let a = fabric.select("rack_a", Some(&self.rack_a))?;
        let b = fabric.select("rack_b", Some(&self.rack_b))?;
        Ok((a, b))
    }
}

/// Draws `n` hosts of `from`, none of them in `not`, without replacement.
fn sample(from: &[NodeId], not: &[NodeId], n: usize, stream: &mut Stream) -> Vec<NodeId> {
    let mut pool: Vec<NodeId> = from.iter().copied().filter(|h| !not.contains(h)).collect();
    for at in 0..n {
        let pick = at + stream.below((pool.len() - at) as u64) as usize;
        pool.swap(at, pick);
    }
    pool.truncate(n);
    pool
}

/// The random streams of a run and what changes from round to round.
struct Draws<'a> {
    pattern: &'a Rounds,
    fabric: &'a Fabric,
    src: Stream,
    dst: Stream,
    size: Stream,
    last_r0: Option<NodeId>,
}

impl Draws<'_> {
    fn long(&self, class: ClassId, src: NodeId, dst: NodeId, start: Time) -> FlowSpec {
        let marking = Marking { class, priority: self.pattern.priority, high: SubClass::Low };
        marking.flow(Pair::new(src, dst), self.pattern.long, start)
    }

    fn burst(&mut self, src: NodeId, dst: NodeId, start: Time) -> FlowSpec {
        let (class, priority) = (self.pattern.classes.burst, self.pattern.priority);
        let amount = Amount::Duration { lasts: self.pattern.burst, rate: None };
        let size = amount.draw(self.fabric.rate(src), &mut self.size);
        Marking { class, priority, high: SubClass::High }.flow(Pair::new(src, dst), size, start)
    }

    fn round(&mut self, start: Time, flows: &mut Vec<FlowSpec>) {
        let p = self.pattern;
        let victims = p.victims as usize;
        let r0 = sample(&p.rack_b, self.last_r0.as_slice(), 1, &mut self.dst)[0];
        self.last_r0 = Some(r0);
        let mut calm = sample(&p.rack_b, &[r0], victims, &mut self.dst);
        let long = sample(&p.rack_a, &[], 1 + victims, &mut self.src);
        flows.push(self.long(p.classes.congested, long[0], r0, start));
        for (&src, &dst) in long[1..].iter().zip(&calm) {
            flows.push(self.long(p.classes.victim, src, dst, start));
        }
        let incast = p.incast_bursts() as usize;
        let senders = match p.incast_senders {
            IncastSenders::Local => sample(&p.rack_b, &[r0], incast, &mut self.src),
            IncastSenders::Remote => sample(&p.rack_a, &long, incast, &mut self.src),
        };
        for src in senders {
            flows.push(self.burst(src, r0, start));
        }
        calm.push(r0);
        for _ in p.incast_bursts()..p.bursts() {
            let dst = sample(&p.rack_b, &calm, 1, &mut self.dst)[0];
            let src = sample(&p.rack_b, &[dst], 1, &mut self.src)[0];
            flows.push(self.burst(src, dst, start));
        }
    }
}

impl Pattern for Rounds {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        self.check_counts()?;
        let (a, b) = self.racks(fabric)?;
        self.check_racks(&a, &b)
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let mut draws = Draws {
            pattern: self,
            fabric: ctx.fabric,
            src: ctx.stream("src", 0),
            dst: ctx.stream("dst", 0),
            size: ctx.stream("size", 0),
            last_r0: None,
        };
        let mut flows = Vec::new();
        let mut start = self.start;
        while start < ctx.until && (flows.len() as u64) < self.flows {
            draws.round(start, &mut flows);
            start = start.saturating_add(self.period);
        }
        ctx.bucket(flows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{fabric, flows_of};
    use std::collections::BTreeSet;

    const CLASSES: RoundClasses =
        RoundClasses { victim: ClassId(0), congested: ClassId(1), burst: ClassId(2) };

    fn rounds(degree: u32, incast_senders: IncastSenders) -> Rounds {
        Rounds {
            rack_a: (0..32).map(NodeId).collect(),
            rack_b: (32..64).map(NodeId).collect(),
            degree,
            victims: 2,
            burst: TimeRange { low: Time::ZERO, high: Time::from_us(30) },
            long: Bytes::new(1_000_000),
            burst_percent: 80,
            period: Time::from_ms(1),
            flows: 2000,
            incast_senders,
            start: Time::ZERO,
            classes: CLASSES,
            priority: Priority::default(),
        }
    }

    #[test]
    fn every_round_has_its_incast_its_victims_and_four_fifths_bursts() {
        for degree in [4, 6, 8, 10] {
            let flows = flows_of(rounds(degree, IncastSenders::Local), &fabric(64), 5);
            // 3 long and 12 bursts per round: 134 rounds are the first to reach 2000 flows
            assert_eq!(flows.len(), 134 * 15);
            let mut last = None;
            for round in flows.chunk_by(|a, b| a.start == b.start) {
                let of = |class| round.iter().filter(move |f| f.class == class);
                assert_eq!((of(CLASSES.victim).count(), of(CLASSES.burst).count()), (2, 12));
                let r0 = of(CLASSES.congested).next().unwrap().dst;
                assert_ne!(Some(r0), last, "a new receiver each round");
                last = Some(r0);
                let to_r0: Vec<_> = round.iter().filter(|f| f.dst == r0).collect();
                assert_eq!(to_r0.len(), degree as usize);
                let senders: BTreeSet<NodeId> = to_r0.iter().map(|f| f.src).collect();
                assert_eq!(senders.len(), degree as usize);
                let remote = senders.iter().filter(|s| s.0 < 32).count();
                assert_eq!(remote, 1, "only the long flow crosses the link");
                for victim in of(CLASSES.victim) {
                    assert_eq!(round.iter().filter(|f| f.dst == victim.dst).count(), 1);
                    assert!(victim.src.0 < 32 && victim.dst.0 >= 32 && !victim.high);
                }
                assert!(of(CLASSES.burst).all(|f| f.high && f.size <= Bytes::from_kb(375)));
            }
        }
    }

    #[test]
    fn remote_incast_comes_across_the_link() {
        let flows = flows_of(rounds(10, IncastSenders::Remote), &fabric(64), 5);
        for round in flows.chunk_by(|a, b| a.start == b.start) {
            let r0 = round.iter().find(|f| f.class == CLASSES.congested).unwrap().dst;
            let senders: BTreeSet<NodeId> =
                round.iter().filter(|f| f.dst == r0).map(|f| f.src).collect();
            assert_eq!(senders.len(), 10);
            assert!(senders.iter().all(|s| s.0 < 32));
        }
    }

    #[test]
    fn racks_too_small_for_the_numbers_are_refused() {
        let small = |f: &dyn Fn(&mut Rounds)| {
            let mut pattern = rounds(10, IncastSenders::Local);
            f(&mut pattern);
            pattern.check(&fabric(64)).unwrap_err().to_string()
        };
        for (message, part) in [
            (small(&|p| p.rack_b.truncate(9)), "at least 10 hosts"),
            (small(&|p| p.rack_a.truncate(2)), "at least 3 hosts"),
            (small(&|p| p.rack_a[3] = NodeId(40)), "to one rack"),
            (small(&|p| p.degree = 0), "`degree`"),
            (small(&|p| p.burst_percent = 100), "from 0 to 99"),
            (small(&|p| p.period = Time::ZERO), "`period`"),
            (small(&|p| p.flows = 0), "`flows`"),
            (small(&|p| p.long = Bytes::ZERO), "`long`"),
            (small(&|p| p.victims = u32::MAX), "at least 4294967296 hosts"),
        ] {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
        let mut remote = rounds(10, IncastSenders::Remote);
        remote.rack_a.truncate(11);
        assert!(remote.check(&fabric(64)).unwrap_err().to_string().contains("at least 12"));
    }
}
