//! Traffic patterns, one file each.
//!
//! To add one: write a file with a struct that holds its parameters, an [`Entry`] that documents
//! them, `read`, which fills the struct from a [`Reader`](crate::params::Reader), and the
//! [`Pattern`] trait; then name it in the list of [`catalogue`](crate::catalogue). Draw every
//! random number from [`Context::stream`], so that hosts can be asked in any order. There are
//! three ways to make streams:
//!
//! - a small pattern makes all flows at once and sorts them with [`Context::bucket`] ([`rounds`]);
//! - one whose hosts are independent makes one lazy stream per host ([`poisson`]);
//! - one whose hosts are tied together by common events shares a dealer between them ([`deal`],
//!   [`incast`]).
//!
//! [`Entry`]: crate::params::Entry

pub mod all_to_all;
pub mod burst;
mod common;
pub mod constant;
pub mod deal;
pub mod flow;
pub mod incast;
pub mod list;
pub mod long_lived;
pub mod marking;
pub mod on_off;
pub mod permutation;
pub mod poisson;
pub mod rounds;
pub mod split;

pub use all_to_all::AllToAll;
pub use burst::{Amount, Burst};
pub use constant::Constant;
pub use flow::Flow;
pub use incast::Incast;
pub use list::List;
pub use long_lived::LongLived;
pub use marking::{Marking, SubClass};
pub use on_off::OnOff;
pub use permutation::Permutation;
pub use poisson::{Poisson, Scope};
pub use rounds::{IncastSenders, RoundClasses, Rounds};
pub use split::{FlowType, Split, SplitRule};

pub use crate::flow::Pair;

use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::{FlowSource, FlowSpec};
use crate::load::Offered;
use std::collections::BTreeMap;
use std::fmt;
use weir_core::rng::Stream;
use weir_core::{NodeId, Time};

/// The flows of each sending host.
pub type Streams = Vec<(NodeId, Box<dyn FlowSource>)>;

/// A source of flows: says what is wrong with its parameters, and gives the flows of each host.
pub trait Pattern: fmt::Debug + Send + Sync {
    /// Refuses parameters that make no sense on `fabric`. Called once, before `streams`.
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError>;

    /// One stream per sending host, in any order of hosts; the flows of a stream are in start
    /// order, and none starts at or after [`Context::until`]. Called only on a fabric that
    /// `check` has accepted.
    fn streams(&self, ctx: &Context<'_>) -> Streams;

    /// Whether it yields flows forever unless it is cut off.
    fn endless(&self) -> bool {
        false
    }

    /// What it offers on average, for patterns that go on steadily.
    fn offered(&self, fabric: &Fabric) -> Option<Offered> {
        let _ = fabric;
        None
    }
}

/// What a pattern is told when it makes its streams.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The hosts and capacities.
    pub fabric: &'a Fabric,
    /// The seed of the run.
    pub seed: u64,
    /// Position of the pattern in the plan: patterns of one plan draw from different streams.
    pub pattern: u32,
    /// No flow starts at or after this time.
    pub until: Time,
}

impl Context<'_> {
    /// The random stream of this pattern for `purpose` at `index`.
    pub fn stream(&self, purpose: &str, index: u64) -> Stream {
        Stream::new(self.seed, &format!("traffic.{}.{purpose}", self.pattern), index)
    }

    /// Sorts ready-made flows into per-host streams.
    pub fn bucket(&self, flows: Vec<FlowSpec>) -> Streams {
        let mut hosts: BTreeMap<NodeId, Vec<FlowSpec>> = BTreeMap::new();
        for flow in flows.into_iter().filter(|f| f.start < self.until) {
            hosts.entry(flow.src).or_default().push(flow);
        }
        let mut streams: Streams = Vec::with_capacity(hosts.len());
        for (host, mut flows) in hosts {
            flows.sort_by_key(|f| f.start);
            streams.push((host, Box::new(flows.into_iter())));
        }
        streams
    }

    /// The earlier of `stop` and the end of the plan.
    pub(crate) fn cutoff(&self, stop: Option<Time>) -> Time {
        stop.map_or(self.until, |stop| stop.min(self.until))
    }
}
