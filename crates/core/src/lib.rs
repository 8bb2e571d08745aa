//! The vocabulary of Weir: what every other crate talks in.
//!
//! | type | what it is |
//! |---|---|
//! | [`Time`] | a point or span of simulated time, whole picoseconds |
//! | [`Rate`] | a link or source speed, whole bits per second |
//! | [`Bytes`] | an amount of data |
//! | [`Length`] | the length of a cable |
//! | [`NodeId`], [`PortId`], [`FlowId`], ... | typed indices |
//! | [`ControlMessage`], [`Reason`] | what a node tells its neighbour, and why |
//! | [`Packet`] | a 32-byte `Copy` value that moves through queues and wires |
//! | [`packed::Runs`], ... | lists of numbers as bytes, for millions of them |
//! | [`param::Param`] | a parameter of anything that scenarios set: name, kind, default, meaning |
//! | [`Percentile`] | a share of values or of time, and the one rule for percentiles |
//! | [`registry::Registry`] | a list of what scenarios choose by name, to which programs can add |
//! | [`words!`] | declares an enum whose values are words of files and arguments |
//! | [`rng::Stream`] | a random stream named by (seed, purpose, index), the same on every machine |
//!
//! Nothing in here knows about events, schemes or topologies.

pub mod control;
pub mod decimal;
pub mod format;
pub mod ids;
pub mod markup;
pub mod nearest;
pub mod packed;
pub mod packet;
pub mod param;
pub mod percentile;
pub mod prefetch;
pub mod priorities;
pub mod reason;
pub mod registry;
pub mod response;
pub mod rng;
pub mod severity;
pub mod units;
mod words;

pub use control::ControlMessage;
pub use ids::{ClassId, FlowId, LinkId, NodeId, PortId, Priority, QueueId};
pub use nearest::nearest;
pub use packet::{Packet, PacketKind};
pub use percentile::Percentile;
pub use priorities::PrioritySet;
pub use reason::Reason;
pub use response::Response;
pub use severity::Severity;
pub use units::{Bytes, Length, ParseUnitError, Rate, Ratio, Time, Unit};
pub use words::Word;
