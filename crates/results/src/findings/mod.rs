//! What the outcome of a run says, before it is put into tables and figures.

mod blame;
mod classes;
mod hottest;
mod paths;
mod pauses;
mod queues;
mod tables;
mod victims;

pub use blame::{Blamed, Blames, Certainty, Culprit, Fault, FctPart, Share};
pub(crate) use classes::KnownStats;
pub use classes::{ClassStats, Selection};
pub use hottest::{hottest_port, port_record};
pub use paths::{BlamedLink, BlamedPort, PathBlame, PathPart, PathShare};
pub use pauses::{Hold, PauseNode, PauseTree, innocent_holds};
pub(crate) use pauses::{chain, holds, within};
pub use queues::{Distribution, PortKind, Queues};
pub use tables::TableSummary;
pub use victims::{Bound, Victim};

use weir_sim::config::Config;
use weir_sim::outcome::Outcome;

/// What is known of a run when it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    /// Its seed.
    pub(crate) seed: u64,
    /// Its settings.
    pub(crate) config: &'a Config,
    /// What came out.
    pub(crate) outcome: &'a Outcome,
}
