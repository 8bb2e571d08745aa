//! The commands, one function each.

mod input;
mod list;
mod simulate;

pub use input::{check, topo, traffic};
pub use list::{generate, patterns, scenarios, schema, schemes, topologies, workloads};
pub use simulate::{compare, run};
