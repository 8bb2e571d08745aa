//! What can be wrong with a traffic plan.

use crate::flow::MAX_CLASSES;
use thiserror::Error;
use weir_core::NodeId;
use weir_core::param::{ParamError, hint};

/// A traffic plan that cannot be generated. Each error names the parameter, the value found and
/// what is valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TrafficError {
    /// A parameter that does not read.
    #[error(transparent)]
    Unreadable(#[from] ParamError),
    /// A parameter outside its range.
    #[error("`{parameter}` is {value}: {valid}")]
    Value {
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        value: String,
        /// What is valid.
        valid: String,
    },
    /// A flow whose source is its destination.
    #[error("a flow from {host} to itself: source and destination must differ")]
    ToItself {
        /// The host.
        host: NodeId,
    },
    /// A node that is no host of the fabric.
    #[error("`{parameter}` names {node}, which is not a host of this fabric")]
    NotAHost {
        /// The parameter.
        parameter: &'static str,
        /// The node.
        node: NodeId,
    },
    /// The same host twice where each may stand once.
    #[error("`{parameter}` lists {node} twice: name each host once")]
    Twice {
        /// The parameter.
        parameter: &'static str,
        /// The node.
        node: NodeId,
    },
    /// A job that cannot be carried out.
    #[error("job `{name}`: {what}")]
    Job {
        /// Which.
        name: String,
        /// What is wrong with it.
        what: String,
    },
    /// A name that no pattern has.
    #[error("there is no traffic pattern `{name}`{}: the patterns are {}",
        hint(nearest.as_deref()), known.join(", "))]
    UnknownPattern {
        /// What was asked for.
        name: String,
        /// The pattern that was probably meant.
        nearest: Option<String>,
        /// All patterns.
        known: Vec<&'static str>,
    },
    /// A name that no parameter of the pattern has.
    #[error("pattern `{pattern}` has no parameter `{name}`{}: it takes {}",
        hint(nearest.as_deref()), known.join(", "))]
    UnknownParameter {
        /// The pattern.
        pattern: &'static str,
        /// What was given.
        name: String,
        /// The parameter that was probably meant.
        nearest: Option<String>,
        /// All its parameters.
        known: Vec<&'static str>,
    },
    /// A parameter that has no default and was not given.
    #[error("pattern `{pattern}` needs `{parameter}`: {doc}")]
    Missing {
        /// The pattern.
        pattern: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it is.
        doc: &'static str,
    },
    /// A host, path or file name that means nothing in this scenario.
    #[error("`{parameter}` names {what} `{name}`, which does not exist{}",
        hint(nearest.as_deref()))]
    UnknownName {
        /// The parameter.
        parameter: &'static str,
        /// The kind of thing.
        what: &'static str,
        /// What was given.
        name: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A size table that does not exist.
    #[error("`{parameter}`: {error}")]
    UnknownTable {
        /// The parameter.
        parameter: &'static str,
        /// Which table, and which there are.
        error: UnknownTable,
    },
    /// A file that cannot be used.
    #[error("`{parameter}`: {file}: {message}")]
    File {
        /// The parameter.
        parameter: &'static str,
        /// The file.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// More classes than a label can tell apart.
    #[error("class `{name}` exceeds the limit of {} classes", MAX_CLASSES)]
    TooManyClasses {
        /// The class that found no place.
        name: String,
    },
    /// A plan whose flows never end was asked for all of them.
    #[error("the traffic never ends: give the plan a time until which flows start")]
    Endless,
}

/// A name that no table has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no size table `{name}`{}: the tables are {}",
    nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default(), known.join(", "))]
pub struct UnknownTable {
    /// What was asked for.
    pub name: String,
    /// The table that was probably meant.
    pub nearest: Option<&'static str>,
    /// All tables.
    pub known: Vec<&'static str>,
}

impl TrafficError {
    /// A parameter outside its range.
    pub fn value(parameter: &'static str, value: impl ToString, valid: impl Into<String>) -> Self {
        Self::Value { parameter, value: value.to_string(), valid: valid.into() }
    }

    /// The parameter that is at fault, so that a caller can point at it.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::Value { parameter, .. }
            | Self::NotAHost { parameter, .. }
            | Self::Twice { parameter, .. }
            | Self::Missing { parameter, .. }
            | Self::UnknownName { parameter, .. }
            | Self::UnknownTable { parameter, .. }
            | Self::File { parameter, .. } => Some(parameter),
            Self::Unreadable(error) => Some(error.name),
            Self::UnknownParameter { name, .. } => Some(name),
            Self::TooManyClasses { .. } => Some("class"),
            Self::ToItself { .. }
            | Self::Job { .. }
            | Self::UnknownPattern { .. }
            | Self::Endless => None,
        }
    }
}
