//! Parameters of schemes: tables of [`Param`]s, as for everything that scenarios set.

use thiserror::Error;
pub use weir_core::param::{Choices, Fallback, Kind, Param, Value, Values};

/// Why a scheme cannot work with its parameters on a node.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParamError(pub String);
