//! Flow sizes, arrival processes and traffic patterns.
//!
//! A [`Traffic`] plan is a list of [`Pattern`]s over the hosts of a [`Fabric`]. For a seed it
//! yields one lazy stream of [`FlowSpec`]s per host, in start order, so that a NIC pulls its own
//! flows and they are never in memory all at once:
//!
//! ```
//! use weir_core::{Bytes, NodeId, Rate, Time};
//! use weir_traffic::{Fabric, FlowSpec, Traffic, pattern::List};
//!
//! let hosts: Vec<NodeId> = (0..4).map(NodeId).collect();
//! let mut plan = Traffic::new(Fabric::uniform(&hosts, Rate::from_gbps(100))?);
//! let class = plan.class("victim")?;
//! let flow = FlowSpec { class, ..FlowSpec::new(NodeId(0), NodeId(1), Bytes::from_kb(64)) };
//! plan.add(List { flows: vec![flow] })?;
//! let mut hosts = plan.sources(7);
//! assert_eq!(hosts[0].next().unwrap().size, Bytes::from_kb(64));
//! assert!(hosts[1].next().is_none());
//! # Ok::<(), weir_traffic::TrafficError>(())
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`flow`] | one message; the order-free fingerprint of many |
//! | [`plan`] | the plan and the flows of each host |
//! | [`pattern`] | the patterns, one file each, and how to add one |
//! | [`catalogue`], [`params`] | patterns by name, from parameters as text |
//! | [`size`] | size tables and what can be said about them |
//! | [`arrival`], [`load`] | when flows start, and how many |
//! | [`fabric`], [`hosts`] | what must be known of the network |
//! | [`flow_list`] | flow lists as CSV |
//! | [`job`] | ranks that wait for each other, placed on hosts |
//!
//! Every random choice comes from a stream named by (seed, pattern and purpose, host), so a plan
//! and a seed fix the traffic whatever the order in which hosts are drawn; [`TrafficHash`] is an
//! order-free fingerprint that shows it. Of each flow, gap, sender, receiver and size come from
//! streams of their own, so that changing the size table leaves the arrivals as they were.

pub mod arrival;
pub mod catalogue;
pub mod error;
pub mod fabric;
pub mod flow;
pub mod flow_list;
#[cfg(test)]
mod for_tests;
pub mod hosts;
pub mod job;
pub mod load;
pub mod params;
pub mod pattern;
pub mod plan;
pub mod size;
pub mod text;

pub use arrival::Arrival;
pub use error::TrafficError;
pub use fabric::Fabric;
pub use flow::{FlowSource, FlowSpec, TrafficHash, WhileHeld};
pub use flow_list::{FlowList, FlowListError, read_flows, read_flows_with, write_flows};
pub use hosts::HostSet;
pub use job::{Job, Nvlink, Work};
pub use load::{Intensity, LoadRef, Offered};
pub use params::{Names, Params};
pub use pattern::Pattern;
pub use plan::{HostFlows, Traffic};
pub use size::{SizeTable, Sizes};
