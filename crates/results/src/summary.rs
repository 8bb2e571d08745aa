//! What a figure sums up: what was observed, and which number of its many values.
//!
//! Columns of figures say it ([`Heading::summary`]), so that nobody reads it out of a name:
//! whether a percentile of flows needs more of them, whether runs are summed up by their median,
//! which columns are a distribution and what an axis is called.
//!
//! [`Heading::summary`]: crate::column::Heading::summary

use weir_core::percentile::Percentile;

/// What has many values in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The completion time of a flow.
    Completion,
    /// The completion time of a flow divided by its ideal one.
    Slowdown,
    /// The size of a completed flow divided by its completion time.
    Throughput,
    /// The rate of a flow without an end.
    Rate,
    /// The longest hold of a flow at one hop.
    Hold,
    /// The time a flow was held by pauses that began at ports it never used.
    InnocentHold,
    /// The largest window of a TCP flow.
    Window,
    /// The length of an egress queue over time.
    Queue,
    /// The memory in use in a switch over time.
    Buffer,
    /// The size of the tables that the scheme keeps in a switch over time.
    Tables,
    /// The time of an iteration of a job.
    Step,
    /// The exposed communication of an iteration of a job.
    Exposed,
}

/// Which number of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// The smallest.
    Min,
    /// The one that this share does not exceed.
    Percentile(Percentile),
    /// The largest.
    Max,
}

impl Statistic {
    /// The share of values that do not exceed it; a mean has none.
    pub fn share(self) -> Option<f64> {
        match self {
            Self::Mean => None,
            Self::Min => Some(0.0),
            Self::Percentile(p) => Some(p.share()),
            Self::Max => Some(1.0),
        }
    }
}

/// One number of many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Of what.
    pub of: Observed,
    /// Which one.
    pub by: Statistic,
}

impl Summary {
    /// The percentile, if it is one.
    pub fn percentile(self) -> Option<Percentile> {
        match self.by {
            Statistic::Percentile(p) => Some(p),
            _ => None,
        }
    }
}
