//! Ready-made topologies, one file each.
//!
//! Every file holds a `Params` struct with defaults and a `build` function. To add one, write
//! such a file (copy [`star`]) and name it in the two lists below; scenario files, help texts
//! and error messages pick it up from [`catalogue`].

#[macro_use]
mod params;

pub mod dumbbell;
pub mod ofc_chain;
pub mod star;

use crate::error::TopologyError;
use crate::nearest;
use crate::topology::Topology;
pub use params::{ParamInfo, ParamValue};

/// What there is to know about a ready-made topology.
#[derive(Clone, Copy, Debug)]
pub struct TopologyInfo {
    /// The name used in scenario files.
    pub name: &'static str,
    /// What it looks like, in a sentence or two.
    pub doc: &'static str,
    /// Its parameters, in the order of the `Params` struct.
    pub params: &'static [ParamInfo],
    /// Builds it from parameters as text; what is not given keeps its default, and of two
    /// values for one parameter the later counts.
    pub build: BuildFn,
}

/// Builds a topology from parameters as text.
pub type BuildFn = fn(&[(&str, &str)]) -> Result<Topology, TopologyError>;

/// Every ready-made topology.
pub fn catalogue() -> &'static [TopologyInfo] {
    &[star::INFO, dumbbell::INFO, ofc_chain::INFO]
}

/// The entry of the catalogue with this name (`_` and `-` are the same), or an error with the
/// nearest one.
pub fn find(name: &str) -> Result<&'static TopologyInfo, TopologyError> {
    let wanted = name.replace('_', "-");
    catalogue().iter().find(|info| info.name == wanted).ok_or_else(|| {
        let names = || catalogue().iter().map(|info| info.name);
        TopologyError::UnknownTopology {
            name: name.to_owned(),
            nearest: nearest(name, names()).map(str::to_owned),
            valid: names().collect::<Vec<_>>().join(", "),
        }
    })
}
