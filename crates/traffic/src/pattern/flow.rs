//! A single flow.

use super::common::check_flow;
use super::marking::{MARKING, Marking};
use super::{Context, Pair, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::params::{Entry, Fallback, Kind, Reader, params};
use weir_core::{Bytes, Time};

/// A single flow of known size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// From where to where.
    pub pair: Pair,
    /// Payload.
    pub size: Bytes,
    /// When it starts.
    pub start: Time,
    /// Class and priority.
    pub marking: Marking,
}

/// `flow`.
pub(crate) const ENTRY: Entry = Entry {
    name: "flow",
    doc: "A single flow of known size.",
    groups: &[
        params! {
            "src" Kind::Host, Fallback::Required, "the host that sends";
            "dst" Kind::Host, Fallback::Required, "the host that receives";
            "size" Kind::Size(&["unlimited"]), Fallback::Required,
                "payload; `unlimited` lasts until the run ends";
            "start" Kind::Time(&[]), Fallback::Is("0s"), "when it starts";
            "path" Kind::Path, Fallback::Absent("left to routing"), "static path to take";
        },
        MARKING,
    ],
};

impl Flow {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let (src, dst) = (r.host("src")?, r.host("dst")?);
        let path: Option<String> = r.optional("path")?;
        let path = path.map(|p| r.path("path", &p, src, dst)).transpose()?;
        Ok(Self {
            pair: Pair { src, dst, path },
            size: r.get("size")?,
            start: r.get("start")?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }
}

impl Pattern for Flow {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        check_flow(&self.marking.flow(self.pair, self.size, self.start), fabric)
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        ctx.bucket(vec![self.marking.flow(self.pair, self.size, self.start)])
    }
}
