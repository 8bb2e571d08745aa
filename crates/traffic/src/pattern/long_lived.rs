//! Long-lived flows that always have data to send.

use super::common::{PAIRS, STOP, check_pairs, check_stop};
use super::marking::{MARKING, Marking};
use super::{Context, Pair, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::params::{Entry, Reader};
use weir_core::{Bytes, Time};

/// Flows that always have something to send, until `stop` or the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongLived {
    /// From where to where, one flow each.
    pub pairs: Vec<Pair>,
    /// When they start.
    pub start: Time,
    /// When they cease to send.
    pub stop: Option<Time>,
    /// Class and priority.
    pub marking: Marking,
}

/// `long-lived`.
pub(crate) const ENTRY: Entry = Entry {
    name: "long-lived",
    doc: "Long-lived flows that always have data to send.",
    groups: &[PAIRS, STOP, MARKING],
};

impl LongLived {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        Ok(Self {
            pairs: r.pairs()?,
            start: r.get("start")?,
            stop: r.optional("stop")?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }
}

impl Pattern for LongLived {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        check_pairs(&self.pairs, fabric)?;
        check_stop(self.start, self.stop)
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let flow = |&pair| {
            let flow = self.marking.flow(pair, Bytes::MAX, self.start);
            FlowSpec { stop: self.stop, ..flow }
        };
        ctx.bucket(self.pairs.iter().map(flow).collect())
    }
}
