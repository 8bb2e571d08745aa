//! Flows given one by one.

use super::common::check_flow;
use super::{Context, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::flow_list::read_flows;
use crate::params::{Entry, Fallback, Kind, Reader, params};

/// Flows given one by one, in any order. Their ids are given by the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The flows.
    pub flows: Vec<FlowSpec>,
}

/// `list`.
pub(crate) const ENTRY: Entry = Entry {
    name: "list",
    doc: "Flows read from a CSV file, as `weir traffic` writes it.",
    groups: &[params! {
        "file" Kind::File, Fallback::Required,
            "CSV file with the columns src, dst, size, start and optionally class, priority, \
             rate, while_held, stop, path, high, hash";
    }],
};

impl List {
    /// Reads the flows from the file named in the parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let file: String = r.get("file")?;
        let text = r.file("file", &file)?;
        let list = read_flows(text.as_bytes(), &|name| r.lookup(name)).map_err(|e| {
            TrafficError::File { parameter: "file", file: file.clone(), message: e.to_string() }
        })?;
        let flows = list.into_flows(&mut |class| r.class(class))?;
        Ok(Self { flows })
    }
}

impl Pattern for List {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        self.flows.iter().try_for_each(|flow| check_flow(flow, fabric))
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        ctx.bucket(self.flows.clone())
    }
}
