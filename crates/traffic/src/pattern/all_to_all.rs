//! Every host sends to every other.

use super::common::{HOSTS, SIZES, START};
use super::marking::{MARKING, Marking};
use super::{Context, Pair, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::hosts::HostSet;
use crate::params::{Entry, Fallback, Kind, Reader, params};
use crate::size::Sizes;
use weir_core::rng::Stream;
use weir_core::{NodeId, Time};

/// Every host sends one flow to every other host. Host i begins with host i + 1, so that not all
/// start with the same receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct AllToAll {
    /// The hosts that take part; `None` for all.
    pub hosts: Option<Vec<NodeId>>,
    /// How large the flows are.
    pub sizes: Sizes,
    /// When the first flow of each host starts.
    pub start: Time,
    /// Time between the starts of successive flows of a host.
    pub gap: Time,
    /// Class and priority.
    pub marking: Marking,
}

/// The most flows that may start at the same time.
const MOST_AT_ONCE: u64 = 1_000_000;

/// `all-to-all`.
pub(crate) const ENTRY: Entry = Entry {
    name: "all-to-all",
    doc: "Every host sends one flow to every other host, beginning with its successor in the list.",
    groups: &[
        HOSTS,
        SIZES,
        START,
        params! {
            "gap" Kind::Time(&[]), Fallback::Is("0s"),
                "time between the starts of successive flows of a host";
        },
        MARKING,
    ],
};

impl AllToAll {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        Ok(Self {
            hosts: r.hosts("hosts")?,
            sizes: r.sizes("size", "scale")?,
            start: r.get("start")?,
            gap: r.get("gap")?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }
}

impl Pattern for AllToAll {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        let hosts = fabric.select("hosts", self.hosts.as_deref())?.len();
        if hosts < 2 {
            return Err(TrafficError::value("hosts", "1 host", "it takes at least 2"));
        }
        // Flows that start at once are all in memory at once, however short the run.
        let flows = hosts as u64 * (hosts as u64 - 1);
        if self.gap == Time::ZERO && flows > MOST_AT_ONCE {
            let valid = format!(
                "{hosts} hosts would start {flows} flows at once, at most {MOST_AT_ONCE} may: \
                 write a gap such as `1us` or name fewer hosts"
            );
            return Err(TrafficError::value("gap", "0s", valid));
        }
        self.sizes.check("size")
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let hosts = ctx.fabric.select("hosts", self.hosts.as_deref()).expect("checked");
        let stream = |(at, &src): (usize, &NodeId)| {
            let flows = ToAll {
                at,
                sent: 0,
                now: self.start,
                until: ctx.until,
                size: ctx.stream("size", u64::from(src.0)),
                hosts: hosts.clone(),
                pattern: self.clone(),
            };
            (src, Box::new(flows) as Box<_>)
        };
        hosts.as_slice().iter().enumerate().map(stream).collect()
    }
}

/// The flows of one host.
#[derive(Debug)]
struct ToAll {
    at: usize,
    sent: usize,
    now: Time,
    until: Time,
    size: Stream,
    hosts: HostSet,
    pattern: AllToAll,
}

impl Iterator for ToAll {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        let (hosts, n) = (self.hosts.as_slice(), self.hosts.len());
        if self.sent + 1 >= n || self.now >= self.until {
            return None;
        }
        self.sent += 1;
        let pair = Pair::new(hosts[self.at], hosts[(self.at + self.sent) % n]);
        let size = self.pattern.sizes.draw(&mut self.size);
        let flow = self.pattern.marking.flow(pair, size, self.now);
        self.now = self.now.saturating_add(self.pattern.gap);
        Some(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{fabric, flows_of};
    use std::collections::BTreeSet;
    use weir_core::Bytes;

    #[test]
    fn too_many_flows_at_once_are_refused_unless_there_is_a_gap() {
        let pattern = |gap| AllToAll {
            hosts: None,
            sizes: Sizes::Fixed(Bytes::from_kb(1)),
            start: Time::ZERO,
            gap,
            marking: Marking::default(),
        };
        // 1000 * 999 = 999 000 flows, 1001 * 1000 = 1 001 000
        assert!(pattern(Time::ZERO).check(&fabric(1000)).is_ok());
        let message = pattern(Time::ZERO).check(&fabric(1001)).unwrap_err().to_string();
        assert!(message.contains("`gap`") && message.contains("1000000"), "{message}");
        assert!(pattern(Time::from_ns(1)).check(&fabric(1001)).is_ok());
    }

    #[test]
    fn every_pair_talks_once_and_receivers_take_turns() {
        let pattern = AllToAll {
            hosts: Some((1..6).map(NodeId).collect()),
            sizes: Sizes::Fixed(Bytes::from_kb(1)),
            start: Time::from_us(1),
            gap: Time::from_us(2),
            marking: Marking::default(),
        };
        let flows = flows_of(pattern, &fabric(8), 1);
        let pairs: BTreeSet<(NodeId, NodeId)> = flows.iter().map(|f| (f.src, f.dst)).collect();
        assert_eq!((flows.len(), pairs.len()), (20, 20));
        for round in 0..4 {
            let start = Time::from_us(1 + 2 * round);
            let receivers: BTreeSet<NodeId> =
                flows.iter().filter(|f| f.start == start).map(|f| f.dst).collect();
            assert_eq!(receivers.len(), 5, "each of the five receives once at {start}");
        }
    }
}
