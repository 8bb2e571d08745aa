//! Sources that produce at a constant rate, as UDP senders do.

use super::common::{PAIRS, STOP, check_flow, check_pairs};
use super::marking::{MARKING, Marking};
use super::{Context, Pair, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::{FlowSpec, WhileHeld};
use crate::params::{Entry, Fallback, Kind, Reader, params};
use weir_core::{Bytes, Rate, Time};

/// Sources that produce at a constant rate whatever the network does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// From where to where, one source each.
    pub pairs: Vec<Pair>,
    /// The rate of each source.
    pub rate: Rate,
    /// What each source produces in all; [`Bytes::MAX`] for no limit.
    pub size: Bytes,
    /// When they start.
    pub start: Time,
    /// When they cease to produce.
    pub stop: Option<Time>,
    /// What they do while flow control holds them.
    pub while_held: WhileHeld,
    /// Class and priority.
    pub marking: Marking,
}

/// `constant`.
pub(crate) const ENTRY: Entry = Entry {
    name: "constant",
    doc: "Sources that send at a constant rate regardless of the network, like UDP senders.",
    groups: &[
        PAIRS,
        STOP,
        params! {
            "rate" Kind::Rate, Fallback::Required, "rate of each source";
            "size" Kind::Size(&["unlimited"]), Fallback::Is("unlimited"),
                "total payload of each source";
            "while_held" Kind::Choice(&["backlog", "discard"]), Fallback::Is("backlog"),
                "packets produced while flow control holds the source are kept, or discarded";
        },
        MARKING,
    ],
};

impl Constant {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let held = [("backlog", WhileHeld::Backlog), ("discard", WhileHeld::Discard)];
        Ok(Self {
            pairs: r.pairs()?,
            rate: r.get("rate")?,
            size: r.get("size")?,
            start: r.get("start")?,
            stop: r.optional("stop")?,
            while_held: r.choice("while_held", &held)?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }

    fn flow(&self, pair: Pair) -> FlowSpec {
        FlowSpec {
            rate: Some(self.rate),
            stop: self.stop,
            while_held: self.while_held,
            ..self.marking.flow(pair, self.size, self.start)
        }
    }
}

impl Pattern for Constant {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        check_pairs(&self.pairs, fabric)?;
        self.pairs.iter().try_for_each(|&pair| check_flow(&self.flow(pair), fabric))
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        ctx.bucket(self.pairs.iter().map(|&pair| self.flow(pair)).collect())
    }
}
