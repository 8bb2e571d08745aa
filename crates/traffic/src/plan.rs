//! A traffic plan: patterns over one fabric.

use crate::catalogue;
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::{FlowSource, FlowSpec, MAX_CLASSES, TrafficHash};
use crate::job::Job;
use crate::load::Offered;
use crate::params::{Names, Params};
use crate::pattern::{Context, Pattern};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use weir_core::{ClassId, FlowId, NodeId, Time, rng};

/// What flows over a fabric: patterns, jobs, class names, and the time until which flows start.
pub struct Traffic {
    fabric: Fabric,
    classes: Vec<String>,
    patterns: Vec<Box<dyn Pattern>>,
    jobs: Vec<Arc<Job>>,
    until: Time,
    clocks: Option<Clocks>,
}

/// Clocks of hosts that are not right.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    /// They are late by less than this.
    apart: Time,
    /// Which of all draws.
    draw: u64,
}

impl Clocks {
    /// By how much the clock of a host is late.
    fn late(self, host: NodeId) -> Time {
        let mut stream = rng::Stream::new(self.draw, "clocks of hosts", u64::from(host.0));
        Time::from_ps(stream.below(self.apart.as_ps()))
    }
}

/// Names of runs are made of this text: a plan without jobs has the one that it had before there
/// were any.
impl fmt::Debug for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Traffic");
        text.field("fabric", &self.fabric);
        text.field("classes", &self.classes);
        text.field("patterns", &self.patterns);
        if !self.jobs.is_empty() {
            text.field("jobs", &self.jobs);
        }
        text.field("until", &self.until).finish()
    }
}

impl Traffic {
    /// A plan without any traffic.
    pub fn new(fabric: Fabric) -> Self {
        let (classes, patterns, jobs) = (Vec::new(), Vec::new(), Vec::new());
        Self { fabric, classes, patterns, jobs, until: Time::NEVER, clocks: None }
    }

    /// The id of the class called `name`, new or known.
    pub fn class(&mut self, name: &str) -> Result<ClassId, TrafficError> {
        intern(&mut self.classes, name)
    }

    /// The names of the classes, indexed by [`ClassId`].
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The hosts and capacities the plan was made for.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Adds a pattern once its parameters have been found to make sense on this fabric.
    pub fn add(&mut self, pattern: impl Pattern + 'static) -> Result<(), TrafficError> {
        self.add_boxed(Box::new(pattern))
    }

    /// [`Traffic::add`] for a pattern chosen at run time.
    pub fn add_boxed(&mut self, pattern: Box<dyn Pattern>) -> Result<(), TrafficError> {
        pattern.check(&self.fabric)?;
        self.patterns.push(pattern);
        Ok(())
    }

    /// Adds the pattern called `name` with parameters as text; `names` says what the names of
    /// hosts, paths and files mean.
    pub fn add_named(
        &mut self,
        name: &str,
        params: &Params,
        names: &dyn Names,
    ) -> Result<(), TrafficError> {
        let classes = &mut self.classes;
        let pattern = catalogue::build(name, params, names, &mut |class| intern(classes, class))?;
        self.add_boxed(pattern)
    }

    /// Adds a job once it has been found that it can be carried out on this fabric. Its messages
    /// are no flows of the plan: which are sent when is decided by the run.
    pub fn add_job(&mut self, job: Job) -> Result<(), TrafficError> {
        job.check(&self.fabric)?;
        self.jobs.push(Arc::new(job));
        Ok(())
    }

    /// All jobs, in the order in which they were added.
    pub fn jobs(&self) -> &[Arc<Job>] {
        &self.jobs
    }

    /// What the patterns that go on steadily offer on average, with their positions in the plan.
    pub fn offered(&self) -> Vec<(usize, Offered)> {
        let patterns = self.patterns.iter().enumerate();
        patterns.filter_map(|(i, p)| Some((i, p.offered(&self.fabric)?))).collect()
    }

    /// No flow starts at or after `until`.
    pub fn set_until(&mut self, until: Time) {
        self.until = until;
    }

    /// From now on every host begins all its flows late by a time below `apart` of its own, drawn
    /// anew for each `draw`; zero puts the clocks right. What comes out differs as the runs of a
    /// network do whose hosts do not begin in the same nanosecond.
    /// Ranks of jobs begin as they did.
    pub fn set_clocks_apart(&mut self, apart: Time, draw: u64) {
        self.clocks = (apart > Time::ZERO).then_some(Clocks { apart, draw });
    }

    /// The time at which flows cease to start.
    pub fn until(&self) -> Time {
        self.until
    }

    /// The flows of each host, in the order of [`Fabric::hosts`](crate::Fabric::hosts).
    pub fn sources(&self, seed: u64) -> Vec<HostFlows> {
        self.draw(seed, 0..self.patterns.len(), self.until)
    }

    /// The flows of one pattern of the plan alone, whatever [`Traffic::set_until`] cuts off.
    pub fn sources_of(&self, pattern: usize, seed: u64) -> Vec<HostFlows> {
        self.draw(seed, pattern..pattern + 1, Time::NEVER)
    }

    /// Whether one pattern of the plan yields flows forever unless it is cut off.
    pub fn endless_alone(&self, pattern: usize) -> bool {
        self.patterns[pattern].endless()
    }

    fn draw(&self, seed: u64, patterns: Range<usize>, until: Time) -> Vec<HostFlows> {
        let set = self.fabric.hosts();
        let mut hosts: Vec<HostFlows> = set.as_slice().iter().map(|&h| HostFlows::new(h)).collect();
        for i in patterns {
            let pattern = &self.patterns[i];
            let ctx = Context {
                fabric: &self.fabric,
                seed,
                pattern: u32::try_from(i).expect("fewer than 2^32 patterns"),
                until,
            };
            for (host, source) in pattern.streams(&ctx) {
                let at = set.position(host);
                let flows =
                    &mut hosts[at.expect("a checked pattern sends from hosts of the fabric only")];
                match self.clocks {
                    None => flows.push(source),
                    Some(clocks) => {
                        let late = clocks.late(host);
                        flows.push(Box::new(source.map(move |flow| flow.later(late))));
                    }
                }
            }
        }
        hosts
    }

    /// Whether the flows never end unless [`Traffic::set_until`] cuts them off.
    pub fn endless(&self) -> bool {
        self.until == Time::NEVER && self.patterns.iter().any(|p| p.endless())
    }

    /// All flows, sorted by (start, source, k).
    pub fn all_flows(&self, seed: u64) -> Result<Vec<FlowSpec>, TrafficError> {
        if self.endless() {
            return Err(TrafficError::Endless);
        }
        let mut flows: Vec<FlowSpec> = self.sources(seed).into_iter().flatten().collect();
        flows.sort_by_key(|f| (f.start, f.id));
        Ok(flows)
    }

    /// The fingerprint of all flows.
    pub fn hash(&self, seed: u64) -> Result<TrafficHash, TrafficError> {
        if self.endless() {
            return Err(TrafficError::Endless);
        }
        let mut hash = TrafficHash::default();
        for flow in self.sources(seed).into_iter().flatten() {
            hash.add(&flow);
        }
        Ok(hash)
    }
}

/// The position of `name` among `classes`, to which it is added if it is new.
fn intern(classes: &mut Vec<String>, name: &str) -> Result<ClassId, TrafficError> {
    let at = match classes.iter().position(|c| c == name) {
        Some(at) => at,
        None if classes.len() < MAX_CLASSES => {
            classes.push(name.into());
            classes.len() - 1
        }
        None => return Err(TrafficError::TooManyClasses { name: name.into() }),
    };
    Ok(ClassId::from_index(at))
}

/// The flows of one host in start order: the streams of all patterns, merged. Flows that start
/// together come in the order of their patterns in the plan.
///
/// A host may have as many streams as a scenario has `[[traffic]]` tables, so the next flow is
/// taken from a heap: a step costs the logarithm of their number.
pub struct HostFlows {
    host: NodeId,
    streams: BinaryHeap<Stream>,
    /// Streams that were added, those included that have ended.
    added: usize,
    k: u32,
}

/// A stream with at least one more flow.
struct Stream {
    head: FlowSpec,
    /// Its place among the streams of the host, in the order of the plan.
    at: usize,
    rest: Box<dyn FlowSource>,
}

impl Stream {
    /// What starts first has the greatest rank, since a heap gives its greatest element.
    fn rank(&self) -> Reverse<(Time, usize)> {
        #[cfg(test)]
        tests::RANKED.with(|n| n.set(n.get() + 1));
        Reverse((self.head.start, self.at))
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Stream {}

impl PartialOrd for Stream {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Stream {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl HostFlows {
    fn new(host: NodeId) -> Self {
        Self { host, streams: BinaryHeap::new(), added: 0, k: 0 }
    }

    fn push(&mut self, mut source: Box<dyn FlowSource>) {
        if let Some(head) = source.next() {
            self.streams.push(Stream { head, at: self.added, rest: source });
        }
        self.added += 1;
    }

    /// The host that sends these flows.
    pub fn host(&self) -> NodeId {
        self.host
    }

    /// When the next flow starts.
    pub fn next_start(&self) -> Option<Time> {
        self.streams.peek().map(|stream| stream.head.start)
    }
}

impl Iterator for HostFlows {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        let mut first = self.streams.peek_mut()?;
        let mut flow = match first.rest.next() {
            Some(next) => std::mem::replace(&mut first.head, next),
            None => PeekMut::pop(first).head,
        };
        flow.id = FlowId::new(self.host, self.k);
        self.k += 1;
        Some(flow)
    }
}

impl fmt::Debug for HostFlows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostFlows")
            .field("host", &self.host)
            .field("next_start", &self.next_start())
            .field("k", &self.k)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::fabric;
    use crate::pattern::list::List;
    use std::cell::Cell;
    use weir_core::Bytes;

    thread_local! {
        /// How often a stream was looked at to compare it with another one.
        pub(super) static RANKED: Cell<usize> = const { Cell::new(0) };
    }

    /// A flow that starts after so many microseconds; its class says of which stream it is.
    fn flow(stream: usize, start: u64) -> FlowSpec {
        let (start, class) = (Time::from_us(start), ClassId::from_index(stream));
        FlowSpec { start, class, ..FlowSpec::new(NodeId(0), NodeId(1), Bytes::new(1)) }
    }

    fn host(streams: &[Vec<u64>]) -> HostFlows {
        let mut host = HostFlows::new(NodeId(0));
        for (i, starts) in streams.iter().enumerate() {
            let flows: Vec<FlowSpec> = starts.iter().map(|&start| flow(i, start)).collect();
            host.push(Box::new(flows.into_iter()));
        }
        host
    }

    /// The starts of many streams, with many equal ones among them, in the order of a stable sort.
    #[test]
    fn streams_are_merged_by_start_and_then_by_their_place_in_the_plan() {
        let streams: Vec<Vec<u64>> =
            (0..50u64).map(|i| (0..i % 7).map(|k| (i * 13 % 5) + 3 * k).collect()).collect();
        let numbered = streams.iter().enumerate();
        let mut expected: Vec<(u64, usize)> =
            numbered.flat_map(|(i, starts)| starts.iter().map(move |s| (*s, i))).collect();
        expected.sort_unstable();
        let mut host = host(&streams);
        for (k, (start, stream)) in expected.into_iter().enumerate() {
            assert_eq!(host.next_start(), Some(Time::from_us(start)));
            let next = host.next().expect("one more");
            let id = FlowId::new(NodeId(0), k as u32);
            assert_eq!(next, FlowSpec { id, ..flow(stream, start) });
        }
        assert!(host.next_start().is_none() && host.next().is_none());
    }

    /// 4096 streams of one flow each. To look at all of them for each flow would take 8 million
    /// looks; a heap takes at most two comparisons per level, of two streams each: 4 x 12 for each
    /// of the 4096 flows, and less to build it.
    #[test]
    fn a_flow_costs_the_logarithm_of_the_number_of_streams() {
        let streams: Vec<Vec<u64>> = (0..4096).map(|i| vec![i * 2_654_435_761 % 4096]).collect();
        RANKED.with(|n| n.set(0));
        assert_eq!(host(&streams).count(), 4096);
        let ranked = RANKED.with(Cell::get);
        assert!(ranked <= 2 * 48 * 4096, "{ranked}");
    }

    #[test]
    fn hosts_whose_clocks_are_apart_begin_late_by_a_time_of_their_own() {
        let flow = |from, start| FlowSpec {
            start: Time::from_us(start),
            ..FlowSpec::new(NodeId(from), NodeId(3), Bytes::new(1))
        };
        let mut plan = Traffic::new(fabric(4));
        plan.add(List { flows: vec![flow(0, 0), flow(0, 5), flow(1, 0), flow(2, 0)] }).unwrap();
        let starts = |plan: &Traffic| -> Vec<(NodeId, Time)> {
            let flows = plan.sources(1).into_iter().flatten();
            flows.map(|f| (f.src, f.start)).collect()
        };
        let right = starts(&plan);
        let apart = Time::from_ns(300);
        plan.set_clocks_apart(apart, 7);
        let late = starts(&plan);
        let by: Vec<Time> = right.iter().zip(&late).map(|(a, b)| b.1 - a.1).collect();
        assert!(by.iter().all(|&by| by < apart), "{by:?}");
        assert!(by[0] == by[1] && by[0] != by[2] && by[2] != by[3], "{by:?}");
        plan.set_clocks_apart(apart, 8);
        assert_ne!(starts(&plan), late);
        plan.set_clocks_apart(Time::ZERO, 0);
        assert_eq!(starts(&plan), right);
    }
}
