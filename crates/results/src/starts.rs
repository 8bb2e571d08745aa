//! How flows fared by when they started: a short series per run, in whole numbers.
//!
//! ```text
//!   0      from                         to       until: the last flow starts before it
//!   |----|----|----|----|--  ...  --|----|----|
//!           flows that start here count
//!     bin 0: flows that start here; their completion times and slowdowns, added up
//!        ^ flows in the network when the bin ends
//! ```
//!
//! A metric is in its steady state where this series does not move; what is removed before it is
//! decided over all runs of an experiment, not here. A flow that did not finish counts with the
//! time that it had until the end of the run, which is less than it would have needed: it is not
//! left out, so that a network that collapses is not seen by the flows that got through.

use crate::findings::Selection;
use crate::metrics::{Selected, selections};
use crate::run::Run;
use serde::{Deserialize, Serialize};
use weir_core::{Bytes, ClassId, Time};
use weir_scenario::SizeRange;
use weir_scenario::experiment::Experiment;
use weir_sim::config::Stop;
use weir_sim::outcome::FlowRecord;

/// How many bins there are.
pub const BINS: usize = 100;

/// The series of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Starts {
    /// Flows that start from this time on count in tables, picoseconds.
    pub from_ps: u64,
    /// And before this time.
    pub to_ps: u64,
    /// The end of the last bin: flows start before it.
    pub until_ps: u64,
    /// Flows in the network at the end of each bin.
    pub present: Vec<u64>,
    /// The parts of the traffic that tables of classes have, and all of it.
    pub parts: Vec<StartsOf>,
}

/// One part of the traffic; each list has a number per bin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartsOf {
    /// Class of traffic; empty: all.
    pub class: String,
    /// Range of flow sizes; empty: all.
    pub sizes: String,
    /// Flows that started.
    pub flows: Vec<u64>,
    /// Those of them that did not finish.
    pub unfinished: Vec<u64>,
    /// Sum of their completion times, nanoseconds, each rounded.
    pub fct_ns: Vec<u64>,
    /// Sum of their slowdowns, thousandths, each rounded.
    pub slowdown_milli: Vec<u64>,
}

/// The bin of a time before `until`.
fn bin(time: Time, until: Time) -> usize {
    let place = u128::from(time.as_ps()) * BINS as u128 / u128::from(until.as_ps());
    place.min(BINS as u128 - 1) as usize
}

/// Whether a flow has a size, so that it can finish.
fn has_end(flow: &FlowRecord) -> bool {
    flow.size != Bytes::MAX && !flow.is_queue_pair()
}

/// No flow starts at or after it: as the scenario says, or behind the last flow.
fn until(e: &Experiment, run: &Run) -> Option<Time> {
    let last = run.outcome.flows.iter().filter(|f| has_end(f)).map(|f| f.start).max()?;
    let stated = e.scenario.run.traffic_until.map(|until| match run.config.stop {
        Stop::At(stop) => until.min(stop),
        Stop::Drained => until,
    });
    Some(stated.unwrap_or(last + Time::from_ps(1)))
}

impl StartsOf {
    fn new(class: &str, sizes: &str) -> Self {
        let none = || vec![0; BINS];
        Self {
            class: class.to_owned(),
            sizes: sizes.to_owned(),
            flows: none(),
            unfinished: none(),
            fct_ns: none(),
            slowdown_milli: none(),
        }
    }

    fn add(&mut self, flow: &FlowRecord, bin: usize, end: Time) {
        let time = flow.fct().unwrap_or_else(|| end.saturating_sub(flow.start));
        let ideal = flow.ideal().map_or(0, Time::as_ps).max(1);
        let slowdown =
            (u128::from(time.as_ps()) * 1000 + u128::from(ideal / 2)) / u128::from(ideal);
        self.flows[bin] += 1;
        self.unfinished[bin] += u64::from(flow.finish().is_none());
        self.fct_ns[bin] += (time.as_ps() + 500) / 1000;
        self.slowdown_milli[bin] += u64::try_from(slowdown).unwrap_or(u64::MAX);
    }
}

impl Starts {
    /// Of a run; empty if no flow has a size.
    pub fn new(e: &Experiment, run: &Run) -> Self {
        let Some(until) = until(e, run) else { return Self::default() };
        let end = run.outcome.end;
        let mut parts: Vec<(Selection<'_>, StartsOf)> =
            std::iter::once((None, None)).chain(selections(e)).map(part).collect();
        // flows that start in each bin, less those that finish in it
        let mut change = vec![0i64; BINS];
        for flow in run.outcome.flows.iter().filter(|f| has_end(f) && f.start < until) {
            let at = bin(flow.start, until);
            change[at] += 1;
            if let Some(finish) = flow.finish().filter(|finish| *finish < until) {
                change[bin(finish, until)] -= 1;
            }
            for (which, part) in &mut parts {
                if which.holds(flow) {
                    part.add(flow, at, end);
                }
            }
        }
        let now = change.into_iter().scan(0, |now, change| {
            *now += change;
            Some(*now)
        });
        let present = now.map(i64::unsigned_abs).collect();
        let parts = parts.into_iter().map(|(_, part)| part);
        let parts = parts.filter(|p| p.flows.iter().any(|n| *n > 0)).collect();
        let probes = &run.config.probes;
        let to = probes.count_until.map_or(until, |to| to.min(until));
        let [from_ps, to_ps, until_ps] = [probes.warm_up, to, until].map(Time::as_ps);
        Self { from_ps, to_ps, until_ps, present, parts }
    }

    /// The same in bins that are `by` times as wide; what does not fill the last one is left out.
    pub fn merged(&self, by: usize) -> Self {
        let sums = |numbers: &[u64]| -> Vec<u64> {
            numbers.chunks_exact(by).map(|bins| bins.iter().sum()).collect()
        };
        let part = |part: &StartsOf| StartsOf {
            class: part.class.clone(),
            sizes: part.sizes.clone(),
            flows: sums(&part.flows),
            unfinished: sums(&part.unfinished),
            fct_ns: sums(&part.fct_ns),
            slowdown_milli: sums(&part.slowdown_milli),
        };
        // of what is there, the mean, rounded
        let mean = |sum: u64| (sum + by as u64 / 2) / by as u64;
        let present = sums(&self.present).into_iter().map(mean).collect();
        Self { present, parts: self.parts.iter().map(part).collect(), ..*self }
    }

    /// A part of the traffic.
    pub fn part(&self, class: &str, sizes: &str) -> Option<&StartsOf> {
        self.parts.iter().find(|p| p.class == class && p.sizes == sizes)
    }
}

fn part<'a>((class, sizes): Selected<'a>) -> (Selection<'a>, StartsOf) {
    let id: Option<ClassId> = class.map(|(id, _)| id);
    let label = sizes.map_or("", |s: &SizeRange| s.label.as_str());
    (Selection { class: id, sizes }, StartsOf::new(class.map_or("", |(_, name)| name), label))
}
