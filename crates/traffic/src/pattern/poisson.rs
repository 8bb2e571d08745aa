//! Background traffic: flows between random hosts at a given load.

use super::common::{ENDS, INTENSITY, SIZES, SPAN, check_stop, read_intensity};
use super::deal::{Dealt, Events, deal};
use super::marking::{MARKING, Marking};
use super::{Context, Pair, Pattern, Streams};
use crate::arrival::{Arrival, Gaps};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::hosts::{HostSet, Others};
use crate::load::{Intensity, LoadRef, Offered};
use crate::params::{Entry, Fallback, Kind, Reader, params};
use crate::size::Sizes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use weir_core::rng::Stream;
use weir_core::{NodeId, Time};

/// Whose arrivals form one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Each host has a process of its own. The sum of Poisson processes is one again, so for
    /// Poisson arrivals this is the same traffic as one process for all.
    #[default]
    Host,
    /// One process for the whole network; the sender of each flow is drawn uniformly (BFC).
    Network,
}

/// Flows between random hosts, drawn independently.
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    /// How large the flows are.
    pub sizes: Sizes,
    /// How much traffic.
    pub intensity: Intensity,
    /// The distribution of the gaps.
    pub arrival: Arrival,
    /// Whose arrivals form one process.
    pub scope: Scope,
    /// The hosts that send; `None` for all.
    pub senders: Option<Vec<NodeId>>,
    /// The hosts that receive; `None` for all. A flow's receiver is never its sender.
    pub receivers: Option<Vec<NodeId>>,
    /// Arrivals begin then.
    pub start: Time,
    /// No flow starts at or after then.
    pub stop: Option<Time>,
    /// Only so many flows, the first of the whole network.
    pub flows: Option<u64>,
    /// Class and priority.
    pub marking: Marking,
}

/// The most flows that can be counted out: each is drawn twice, once to find the last.
const MOST_FLOWS: u64 = 10_000_000;

/// `poisson`.
pub(crate) const ENTRY: Entry = Entry {
    name: "poisson",
    doc: "Background traffic: flows between random hosts. \
          Give one of `load`, `per-second` and `mean-gap`.",
    groups: &[
        SIZES,
        INTENSITY,
        params! {
            "arrival" Kind::Choice(&["poisson", "log-normal", "even"]), Fallback::Is("poisson"),
                "distribution of the gaps between arrivals";
            "sigma" Kind::Number, Fallback::Is("2"),
                "standard deviation of the logarithm of log-normal gaps";
            "scope" Kind::Choice(&["host", "network"]), Fallback::Is("host"),
                "one arrival process per host, or one for all with senders drawn uniformly \
                 (BFC's log-normal arrivals); the same for Poisson arrivals";
        },
        ENDS,
        SPAN,
        params! {
            "flows" Kind::COUNT, Fallback::Absent("no limit"), "total number of flows";
        },
        MARKING,
    ],
};

impl Poisson {
    /// Poisson arrivals at each host, between all hosts, from the beginning and without an end.
    pub fn new(sizes: Sizes, intensity: Intensity) -> Self {
        Self {
            sizes,
            intensity,
            arrival: Arrival::Poisson,
            scope: Scope::Host,
            senders: None,
            receivers: None,
            start: Time::ZERO,
            stop: None,
            flows: None,
            marking: Marking::default(),
        }
    }

    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let sigma = r.get("sigma")?;
        let words = [
            ("poisson", Arrival::Poisson),
            ("log-normal", Arrival::LogNormal { sigma }),
            ("even", Arrival::Even),
        ];
        let arrival = r.choice("arrival", &words)?;
        if r.given("sigma") && !matches!(arrival, Arrival::LogNormal { .. }) {
            let valid = "it needs `arrival` = `log-normal`";
            return Err(TrafficError::value("sigma", sigma, valid));
        }
        Ok(Self {
            sizes: r.sizes("size", "scale")?,
            intensity: read_intensity(r)?,
            arrival,
            scope: r.choice("scope", &[("host", Scope::Host), ("network", Scope::Network)])?,
            senders: r.hosts("senders")?,
            receivers: r.hosts("receivers")?,
            start: r.get("start")?,
            stop: r.optional("stop")?,
            flows: r.optional("flows")?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }

    fn ends(&self, fabric: &Fabric) -> Result<(HostSet, HostSet), TrafficError> {
        let senders = fabric.select("senders", self.senders.as_deref())?;
        let receivers = fabric.select("receivers", self.receivers.as_deref())?;
        Ok((senders, receivers))
    }

    fn host_streams(&self, ctx: &Context<'_>, ends: (HostSet, HostSet), rate: f64) -> Streams {
        let (senders, receivers) = ends;
        // A load on the NICs gives each sender its share by rate; others give equal shares.
        let capacity = ctx.fabric.capacity_of(&senders) as f64;
        let mut streams: Vec<HostStream> = senders
            .as_slice()
            .iter()
            .map(|&src| {
                let share = match self.intensity {
                    Intensity::Load { reference: LoadRef::Host, .. } => {
                        ctx.fabric.rate(src).as_bps() as f64 / capacity
                    }
                    _ => 1.0 / senders.len() as f64,
                };
                let index = u64::from(src.0);
                let mut gaps =
                    Gaps::new(self.arrival, 1e12 / (rate * share), ctx.stream("gap", index));
                // Hosts with equal gaps must not all start at the same instants.
                let phase = match self.arrival {
                    Arrival::Even => gaps.phase(),
                    Arrival::Poisson | Arrival::LogNormal { .. } => Time::ZERO,
                };
                let start = self.start.saturating_add(phase);
                HostStream {
                    arrivals: Arrivals::new(gaps, start, ctx.cutoff(self.stop)),
                    dst: ctx.stream("dst", index),
                    size: ctx.stream("size", index),
                    sizes: self.sizes.clone(),
                    src,
                    others: receivers.without(src),
                    marking: self.marking,
                    left: u64::MAX,
                }
            })
            .collect();
        if let Some(flows) = self.flows {
            count_out(&mut streams, flows);
        }
        streams.into_iter().map(|s| (s.src, Box::new(s) as Box<_>)).collect()
    }

    fn network_streams(&self, ctx: &Context<'_>, ends: (HostSet, HostSet), rate: f64) -> Streams {
        let (senders, receivers) = ends;
        let gaps = Gaps::new(self.arrival, 1e12 / rate, ctx.stream("gap", 0));
        let process = NetworkProcess {
            arrivals: Arrivals::new(gaps, self.start, ctx.cutoff(self.stop)),
            src: ctx.stream("src", 0),
            dst: ctx.stream("dst", 0),
            size: ctx.stream("size", 0),
            sizes: self.sizes.clone(),
            senders: senders.clone(),
            receivers,
            left: self.flows.unwrap_or(u64::MAX),
        };
        deal(process, senders.as_slice(), self.marking)
    }
}

impl Pattern for Poisson {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        self.sizes.check_finite("size")?;
        let (senders, receivers) = self.ends(fabric)?;
        if let &[only] = receivers.as_slice()
            && senders.contains(only)
        {
            let valid = "this host also sends, and there is no other receiver";
            return Err(TrafficError::value("receivers", only, valid));
        }
        self.intensity.per_second(fabric, &senders, &senders, self.sizes.mean())?;
        if let Arrival::LogNormal { sigma } = self.arrival
            && !(sigma > 0.0 && sigma <= 5.0)
        {
            let valid = "a number above 0 and up to 5, beyond which no run is long enough";
            return Err(TrafficError::value("sigma", sigma, valid));
        }
        if let Some(flows) = self.flows.filter(|f| !(1..=MOST_FLOWS).contains(f)) {
            let valid = format!("from 1 to {MOST_FLOWS} flows; for more, give `stop`");
            return Err(TrafficError::value("flows", flows, valid));
        }
        check_stop(self.start, self.stop)
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let ends = self.ends(ctx.fabric).expect("checked");
        let rate = self.intensity.per_second(ctx.fabric, &ends.0, &ends.0, self.sizes.mean());
        let rate = rate.expect("checked");
        match self.scope {
            Scope::Host => self.host_streams(ctx, ends, rate),
            Scope::Network => self.network_streams(ctx, ends, rate),
        }
    }

    fn endless(&self) -> bool {
        self.stop.is_none() && self.flows.is_none()
    }

    fn offered(&self, fabric: &Fabric) -> Option<Offered> {
        let (senders, _) = self.ends(fabric).ok()?;
        let rate = self.intensity.per_second(fabric, &senders, &senders, self.sizes.mean()).ok()?;
        Some(Offered { flows_per_second: rate, bits_per_second: rate * self.sizes.mean() * 8.0 })
    }
}

/// The arrivals of one process.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    gaps: Gaps,
    now: Time,
    until: Time,
}

impl Arrivals {
    pub(crate) fn new(gaps: Gaps, start: Time, until: Time) -> Self {
        Self { gaps, now: start, until }
    }
}

impl Iterator for Arrivals {
    type Item = Time;

    #[inline]
    fn next(&mut self) -> Option<Time> {
        self.now = self.now.saturating_add(self.gaps.next_gap());
        (self.now < self.until).then_some(self.now)
    }
}

/// The flows of one host with a process of its own.
#[derive(Debug)]
struct HostStream {
    src: NodeId,
    arrivals: Arrivals,
    dst: Stream,
    size: Stream,
    sizes: Sizes,
    others: Others,
    marking: Marking,
    left: u64,
}

impl Iterator for HostStream {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        self.left = self.left.checked_sub(1)?;
        let start = self.arrivals.next()?;
        let pair = Pair::new(self.src, self.others.draw(&mut self.dst));
        Some(self.marking.flow(pair, self.sizes.draw(&mut self.size), start))
    }
}

/// Leaves each host as many flows as it has among the first `flows` of the network. Only arrival
/// times are drawn for this, from copies of the hosts' streams.
fn count_out(streams: &mut [HostStream], flows: u64) {
    let mut copies: Vec<Arrivals> = streams.iter().map(|s| s.arrivals.clone()).collect();
    let mut next: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::with_capacity(copies.len());
    next.extend(copies.iter_mut().enumerate().filter_map(|(i, a)| Some(Reverse((a.next()?, i)))));
    for stream in streams.iter_mut() {
        stream.left = 0;
    }
    for _ in 0..flows {
        let Some(Reverse((_, i))) = next.pop() else { break };
        streams[i].left += 1;
        next.extend(copies[i].next().map(|time| Reverse((time, i))));
    }
}

/// One process for the whole network: an event is one flow.
#[derive(Debug)]
struct NetworkProcess {
    arrivals: Arrivals,
    src: Stream,
    dst: Stream,
    size: Stream,
    sizes: Sizes,
    senders: HostSet,
    receivers: HostSet,
    left: u64,
}

impl Events for NetworkProcess {
    fn next(&mut self, deal: &mut dyn FnMut(Dealt)) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        let Some(start) = self.arrivals.next() else { return false };
        self.left = left;
        let sender = self.src.below(self.senders.len() as u64) as usize;
        let src = self.senders.as_slice()[sender];
        let dst = self.receivers.without(src).draw(&mut self.dst);
        deal(Dealt { sender, dst, size: self.sizes.draw(&mut self.size), start });
        true
    }
}
