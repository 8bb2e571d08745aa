//! Flow sizes, arrival processes and traffic patterns.
//!
//! A [`Traffic`] plan is a list of [`Pattern`]s over the hosts of a [`Fabric`]. For a seed it
//! yields one lazy stream of [`FlowSpec`]s per host, in start order, so that a NIC pulls its own
//! flows and nobody ever holds them all:
//!
//! ```
//! use weir_core::{Bytes, NodeId, Rate, Time};
//! use weir_traffic::{Fabric, FlowSpec, Traffic, pattern::List};
//!
//! let hosts: Vec<NodeId> = (0..4).map(NodeId).collect();
//! let mut plan = Traffic::new(Fabric::uniform(hosts, Rate::from_gbps(100)));
//! let class = plan.class("victim");
//! let flow = FlowSpec { class, ..FlowSpec::new(NodeId(0), NodeId(1), Bytes::from_kb(64)) };
//! plan.add(List { flows: vec![flow] })?;
//! plan.set_until(Time::from_ms(1));
//! let mut hosts = plan.sources(7);
//! assert_eq!(hosts[0].next().unwrap().size, Bytes::from_kb(64));
//! assert!(hosts[1].next().is_none());
//! # Ok::<(), weir_traffic::TrafficError>(())
//! ```
//!
//! Every random choice comes from a stream named by (seed, pattern and purpose, host), so a plan
//! and a seed fix the traffic whatever the order in which hosts are drawn; [`TrafficHash`] is an
//! order-free fingerprint that shows it.

pub mod arrival;
pub mod error;
pub mod fabric;
pub mod flow;
mod nearest;
pub mod pattern;
pub mod plan;
pub mod size;

pub use arrival::{Arrival, Gaps};
pub use error::TrafficError;
pub use fabric::Fabric;
pub use flow::{FlowSource, FlowSpec, TrafficHash, WhileHeld};
pub use pattern::Pattern;
pub use plan::{HostFlows, Traffic};
pub use size::{SizeTable, Sizes};
