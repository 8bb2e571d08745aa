//! What can be wrong with a network description.

use weir_core::NodeId;

/// Why a topology cannot be built. Every message names the thing, its value and what would be
/// valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A parameter that does not read.
    #[error("`{name}`: {why}")]
    Unreadable {
        /// The parameter.
        name: String,
        /// What was given, and what is valid.
        why: String,
    },
    /// A parameter of a ready-made topology is out of its range or cannot be read.
    #[error("`{name}` is {value}: {valid}")]
    Parameter {
        /// The parameter, as listed in the catalogue.
        name: String,
        /// What was given.
        value: String,
        /// What would be valid.
        valid: String,
    },
    /// A parameter that this topology does not have.
    #[error("topology `{topology}` has no parameter `{name}`{}; it has {valid}", hint(.nearest))]
    UnknownParameter {
        /// The topology.
        topology: &'static str,
        /// What was given.
        name: String,
        /// The parameter that was probably meant.
        nearest: Option<String>,
        /// All parameters, comma separated.
        valid: String,
    },
    /// No ready-made topology has this name.
    #[error("there is no topology `{name}`{}; there are {valid}", hint(.nearest))]
    UnknownTopology {
        /// What was given.
        name: String,
        /// The topology that was probably meant.
        nearest: Option<String>,
        /// All names, comma separated.
        valid: String,
    },
    /// More nodes, links or routing-table entries than are supported.
    #[error("{count} {what} are too many: at most {limit} are supported")]
    TooLarge {
        /// What there is too much of: "nodes", "links" or "routing table entries".
        what: &'static str,
        /// How many were asked for.
        count: u128,
        /// How many are supported.
        limit: u64,
    },
    /// A node with more ports than a port number can tell apart.
    #[error("node `{node}` has more than {limit} ports")]
    TooManyPorts {
        /// The node.
        node: String,
        /// How many are supported.
        limit: usize,
    },
    /// There is nothing in the network that could send.
    #[error("the topology has no hosts: at least one is needed")]
    NoHosts,
    /// Two nodes or two port aliases with one name.
    #[error("the name `{name}` is used twice: names of nodes and of ports must be unique")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A name that could not be written in a report or on a command line.
    #[error(
        "`{name}` cannot be a name: it must be 1 to {limit} visible characters without blanks, \
         `:` or `,`"
    )]
    BadName {
        /// The name.
        name: String,
        /// The longest name supported.
        limit: usize,
    },
    /// A link from a node to itself.
    #[error("node `{node}` is linked to itself: a link needs two different ends")]
    SelfLink {
        /// The node.
        node: String,
    },
    /// A link with an impossible speed or delay.
    #[error("the {what} of link {a}-{b} is {value}: {valid}")]
    LinkValue {
        /// One end.
        a: String,
        /// The other end.
        b: String,
        /// "rate" or "delay".
        what: &'static str,
        /// What was given.
        value: String,
        /// What would be valid.
        valid: &'static str,
    },
    /// A host without any link can neither send nor receive.
    #[error("host `{host}` has no link: connect it or remove it")]
    Unconnected {
        /// The host.
        host: String,
    },
    /// A name that no node has.
    #[error("there is no node `{name}`{}", hint(.nearest))]
    UnknownNode {
        /// What was given.
        name: String,
        /// The node that was probably meant.
        nearest: Option<String>,
    },
    /// An id that was not handed out by this builder.
    #[error("node id {id} does not belong to this topology")]
    UnknownId {
        /// The id.
        id: NodeId,
    },
    /// Two nodes that exist but are not neighbours.
    #[error("there is no link {a}-{b}; `{a}` is linked to {neighbours}")]
    NoSuchLink {
        /// One end.
        a: String,
        /// The other end.
        b: String,
        /// The first few neighbours of `a`.
        neighbours: String,
    },
}

/// "; did you mean `x`?" or nothing.
pub(crate) fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"))
}
