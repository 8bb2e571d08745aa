//! Incast: again and again many senders start at once towards one receiver.

use super::common::{ENDS, INTENSITY, SIZES, SPAN, check_stop, read_intensity};
use super::deal::{Dealt, Events, deal};
use super::marking::{MARKING, Marking};
use super::poisson::Arrivals;
use super::{Context, Pattern, Streams};
use crate::arrival::{Arrival, Gaps};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::hosts::HostSet;
use crate::load::{Intensity, Offered};
use crate::params::{Entry, Fallback, Kind, Reader, params};
use crate::size::Sizes;
use weir_core::rng::Stream;
use weir_core::{NodeId, Time};

/// Incast events: a receiver drawn uniformly, `degree` senders drawn uniformly besides it, all
/// starting at the same instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Incast {
    /// Flows per event.
    pub degree: u32,
    /// How large each flow is.
    pub sizes: Sizes,
    /// How much traffic; rates count events.
    pub intensity: Intensity,
    /// Whether a sender may be drawn several times for one event (BFC does so).
    pub replacement: bool,
    /// Poisson or equal spacing of the events (BFC spaces them equally).
    pub spacing: Arrival,
    /// The hosts that may send; `None` for all.
    pub senders: Option<Vec<NodeId>>,
    /// The hosts that may receive; `None` for all.
    pub receivers: Option<Vec<NodeId>>,
    /// Events begin then.
    pub start: Time,
    /// No event at or after then.
    pub stop: Option<Time>,
    /// Only so many events.
    pub events: Option<u64>,
    /// Class and priority.
    pub marking: Marking,
}

/// The flows of an event are made at once, so there is a limit even where hosts may repeat.
const MOST_WITH_REPLACEMENT: usize = 100_000;

/// `incast`.
pub(crate) const ENTRY: Entry = Entry {
    name: "incast",
    doc: "Repeated events in which `degree` senders start at once towards one receiver, all drawn \
          at random. Give one of `load`, `per-second` and `mean-gap`; the latter two count events.",
    groups: &[
        params! {
            "degree" Kind::COUNT, Fallback::Required, "flows per event";
        },
        SIZES,
        INTENSITY,
        params! {
            "replacement" Kind::Bool, Fallback::Is("false"),
                "whether one event may draw the same sender several times";
            "spacing" Kind::Choice(&["poisson", "even"]), Fallback::Is("poisson"),
                "distribution of the gaps between events";
            "events" Kind::COUNT, Fallback::Absent("no limit"), "total number of events";
        },
        ENDS,
        SPAN,
        MARKING,
    ],
};

impl Incast {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let spacing = [("poisson", Arrival::Poisson), ("even", Arrival::Even)];
        Ok(Self {
            degree: r.get("degree")?,
            sizes: r.sizes("size", "scale")?,
            intensity: read_intensity(r)?,
            replacement: r.get("replacement")?,
            spacing: r.choice("spacing", &spacing)?,
            senders: r.hosts("senders")?,
            receivers: r.hosts("receivers")?,
            start: r.get("start")?,
            stop: r.optional("stop")?,
            events: r.optional("events")?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }

    fn ends(&self, fabric: &Fabric) -> Result<(HostSet, HostSet), TrafficError> {
        let senders = fabric.select("senders", self.senders.as_deref())?;
        let receivers = fabric.select("receivers", self.receivers.as_deref())?;
        Ok((senders, receivers))
    }

    fn bytes_per_event(&self) -> f64 {
        self.sizes.mean() * f64::from(self.degree)
    }

    fn events_per_second(
        &self,
        fabric: &Fabric,
        senders: &HostSet,
        receivers: &HostSet,
    ) -> Result<f64, TrafficError> {
        self.intensity.per_second(fabric, senders, receivers, self.bytes_per_event())
    }

    /// Refuses a degree that some receiver cannot find senders for.
    fn check_degree(&self, senders: &HostSet, receivers: &HostSet) -> Result<(), TrafficError> {
        let fewest = receivers.as_slice().iter().map(|&r| senders.others(r)).min().unwrap_or(0);
        let most = if self.replacement { MOST_WITH_REPLACEMENT } else { fewest };
        if fewest > 0 && (1..=most).contains(&(self.degree as usize)) {
            return Ok(());
        }
        let valid = match (fewest, self.replacement) {
            (0, _) => "a receiver has no other host that may send".to_owned(),
            (_, true) => format!("from 1 to {MOST_WITH_REPLACEMENT}"),
            (n, false) => format!("from 1 to {n}, the hosts that may send besides the receiver"),
        };
        Err(TrafficError::value("degree", self.degree, valid))
    }
}

impl Pattern for Incast {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        self.sizes.check_finite("size")?;
        let (senders, receivers) = self.ends(fabric)?;
        self.check_degree(&senders, &receivers)?;
        self.events_per_second(fabric, &senders, &receivers)?;
        if !matches!(self.spacing, Arrival::Poisson | Arrival::Even) {
            let valid = "events are spaced by `poisson` or `even`";
            return Err(TrafficError::value("spacing", format!("{:?}", self.spacing), valid));
        }
        if self.events == Some(0) {
            return Err(TrafficError::value("events", 0, "there is at least 1 event"));
        }
        check_stop(self.start, self.stop)
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let (senders, receivers) = self.ends(ctx.fabric).expect("checked");
        let rate = self.events_per_second(ctx.fabric, &senders, &receivers);
        let gaps = Gaps::new(self.spacing, 1e12 / rate.expect("checked"), ctx.stream("gap", 0));
        // A sender that is the only receiver never sends.
        let sending: Vec<NodeId> = match receivers.as_slice() {
            &[only] => senders.as_slice().iter().copied().filter(|&s| s != only).collect(),
            _ => senders.as_slice().to_vec(),
        };
        let events = IncastEvents {
            arrivals: Arrivals::new(gaps, self.start, ctx.cutoff(self.stop)),
            receiver: ctx.stream("dst", 0),
            sender: ctx.stream("src", 0),
            size: ctx.stream("size", 0),
            pool: (0..sending.len()).collect(),
            senders: HostSet::new("senders", &sending).expect("checked"),
            receivers,
            pattern: self.clone(),
            left: self.events.unwrap_or(u64::MAX),
        };
        deal(events, &sending, self.marking)
    }

    fn endless(&self) -> bool {
        self.stop.is_none() && self.events.is_none()
    }

    fn offered(&self, fabric: &Fabric) -> Option<Offered> {
        let (senders, receivers) = self.ends(fabric).ok()?;
        let events = self.events_per_second(fabric, &senders, &receivers).ok()?;
        Some(Offered {
            flows_per_second: events * f64::from(self.degree),
            bits_per_second: events * self.bytes_per_event() * 8.0,
        })
    }
}

#[derive(Debug)]
struct IncastEvents {
    pattern: Incast,
    arrivals: Arrivals,
    receiver: Stream,
    sender: Stream,
    size: Stream,
    senders: HostSet,
    receivers: HostSet,
    /// The positions of the senders in some order; shuffling its front draws without replacement.
    pool: Vec<usize>,
    left: u64,
}

impl IncastEvents {
    fn deal_one(&mut self, sender: usize, dst: NodeId, start: Time, deal: &mut dyn FnMut(Dealt)) {
        deal(Dealt { sender, dst, size: self.pattern.sizes.draw(&mut self.size), start });
    }
}

impl Events for IncastEvents {
    fn next(&mut self, deal: &mut dyn FnMut(Dealt)) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        let Some(start) = self.arrivals.next() else { return false };
        self.left = left;
        let dst =
            self.receivers.as_slice()[self.receiver.below(self.receivers.len() as u64) as usize];
        let own = self.senders.position(dst);
        let all = self.senders.len();
        if self.pattern.replacement {
            let others = all - usize::from(own.is_some());
            for _ in 0..self.pattern.degree {
                let i = self.sender.below(others as u64) as usize;
                let sender = i + usize::from(own.is_some_and(|own| i >= own));
                self.deal_one(sender, dst, start, deal);
            }
            return true;
        }
        // The front of a random permutation of all senders, passing over the receiver, is a
        // random sample of the others.
        let (mut at, mut dealt) = (0, 0);
        while dealt < self.pattern.degree {
            let pick = at + self.sender.below((all - at) as u64) as usize;
            self.pool.swap(at, pick);
            let sender = self.pool[at];
            at += 1;
            if Some(sender) != own {
                self.deal_one(sender, dst, start, deal);
                dealt += 1;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{fabric, flows_of};
    use std::collections::BTreeMap;
    use weir_core::Bytes;

    fn incast(degree: u32, replacement: bool) -> Incast {
        Incast {
            degree,
            sizes: Sizes::Uniform { low: Bytes::from_kb(50), high: Bytes::from_kb(200) },
            intensity: Intensity::PerSecond(1e6),
            replacement,
            spacing: Arrival::Poisson,
            senders: None,
            receivers: None,
            start: Time::ZERO,
            stop: None,
            events: Some(2000),
            marking: Marking::default(),
        }
    }

    /// (start, receiver) -> senders
    fn by_event(pattern: Incast, hosts: u32) -> BTreeMap<(Time, NodeId), Vec<NodeId>> {
        let mut events: BTreeMap<_, Vec<NodeId>> = BTreeMap::new();
        for flow in flows_of(pattern, &fabric(hosts), 3) {
            events.entry((flow.start, flow.dst)).or_default().push(flow.src);
        }
        events
    }

    #[test]
    fn without_replacement_senders_are_distinct_and_never_the_receiver() {
        let events = by_event(incast(50, false), 64);
        assert_eq!(events.len(), 2000);
        let mut sent = [0u32; 64];
        for ((_, receiver), mut senders) in events {
            assert!(!senders.contains(&receiver));
            senders.iter().for_each(|s| sent[s.index()] += 1);
            senders.dedup();
            assert_eq!(senders.len(), 50);
        }
        // 100 000 flows over 64 hosts: 1562.5 each; a host takes part in an event with
        // probability 50/64, so its standard deviation is below sqrt(2000 * 0.78 * 0.22) = 18.5
        assert!(sent.iter().all(|n| n.abs_diff(1562) < 80), "{sent:?}");
    }

    #[test]
    fn all_others_can_take_part() {
        let events = by_event(incast(7, false), 8);
        assert!(events.values().all(|senders| senders.len() == 7));
    }

    #[test]
    fn with_replacement_a_sender_may_come_twice_but_is_never_the_receiver() {
        let events = by_event(incast(50, true), 8);
        assert_eq!(events.len(), 2000);
        for ((_, receiver), senders) in events {
            assert_eq!(senders.len(), 50);
            assert!(!senders.contains(&receiver));
        }
    }

    #[test]
    fn a_degree_that_finds_no_senders_is_refused() {
        for (degree, replacement, part) in [
            (8, false, "from 1 to 7"),
            (0, false, "from 1 to 7"),
            (0, true, "from 1 to 100000"),
            (100_001, true, "from 1 to 100000"),
        ] {
            let message = incast(degree, replacement).check(&fabric(8)).unwrap_err().to_string();
            assert!(message.contains("`degree`") && message.contains(part), "{message}");
        }
        assert_eq!(incast(7, false).check(&fabric(8)), Ok(()));
        assert_eq!(incast(700, true).check(&fabric(8)), Ok(()));
        let lonely = Incast { senders: Some(vec![NodeId(1)]), ..incast(1, true) }.check(&fabric(8));
        assert!(lonely.unwrap_err().to_string().contains("no other host"));
    }

    #[test]
    fn even_events_are_equally_spaced() {
        let pattern = Incast { spacing: Arrival::Even, ..incast(5, false) };
        let times: Vec<Time> = by_event(pattern, 8).into_keys().map(|(start, _)| start).collect();
        // a million per second
        let expected: Vec<Time> = (1..=2000).map(Time::from_us).collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn a_fixed_receiver_that_may_also_send_does_not() {
        let pattern = Incast { receivers: Some(vec![NodeId(2)]), ..incast(7, false) };
        let flows = flows_of(pattern, &fabric(8), 3);
        assert_eq!(flows.len(), 14_000);
        assert!(flows.iter().all(|f| f.dst == NodeId(2) && f.src != NodeId(2)));
    }

    #[test]
    fn flowsails_event_rate_is_reached() {
        // 6 % of 51.2 Tb/s in events of 50 * 125 KB: 61 440 per second
        let fabric = fabric(1024).with_core(51_200_000_000_000, None).unwrap();
        let reference = crate::load::LoadRef::Core;
        let pattern =
            Incast { intensity: Intensity::Load { load: 0.06, reference }, ..incast(50, false) };
        let offered = pattern.offered(&fabric).unwrap();
        assert!((offered.flows_per_second / 50.0 - 61_440.0).abs() < 1e-6, "{offered:?}");
        assert!((offered.bits_per_second / 3.072e12 - 1.0).abs() < 1e-12, "{offered:?}");
    }
}
