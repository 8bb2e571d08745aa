//! The commands, one function each.

mod bench;
mod input;
mod list;
mod simulate;

pub(crate) use bench::bench;
pub(crate) use input::{check, topo, traffic};
pub(crate) use list::{generate, patterns, scenarios, schema, schemes, topologies, workloads};
pub(crate) use simulate::{compare, run};
