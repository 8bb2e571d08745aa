//! Data-centre networks: links between nodes, paths of packets, and what can be
//! known about a fabric before anything runs on it.
//!
//! | type | what it is |
//! |---|---|
//! | [`Topology`] | hosts, switches and links in flat arrays |
//! | [`TopologyBuilder`], [`build`] | how a topology is made |
//! | [`build::TOPOLOGIES`] | every ready-made topology with its parameters, units and defaults |
//! | [`Routes`] | an immutable forwarding table: shortest paths with ECMP, or up-down |
//! | [`analysis`] | size, bisection, distances, headroom, cyclic buffer dependencies |
//! | [`cabling`] | cabling lists of other tools: CSV, DOT, GraphML |
//! | [`draw::svg`] | a picture |
//! | [`validate_path`] | a path written by hand, checked and turned into ports |
//!
//! ```
//! use weir_net::{Routes, build::star};
//! let topo = star::build(&star::Params { hosts: 3, ..Default::default() })?;
//! let routes = Routes::ecmp(&topo, &[]);
//! let (h0, h2) = (topo.node_by_name("h0").unwrap(), topo.node_by_name("h2").unwrap());
//! let path = routes.path(&topo, h0, h2, 0x1234).unwrap();
//! assert_eq!(path.len(), 2); // one hop out of the host, one out of the switch
//! # Ok::<(), weir_net::TopologyError>(())
//! ```

pub mod analysis;
pub mod build;
mod builder;
pub mod cabling;
pub mod draw;
mod error;
pub mod limits;
mod path;
mod routes;
mod topology;

pub use builder::TopologyBuilder;
pub use error::TopologyError;
pub use path::{PathError, validate_path};
pub use routes::{Forwarding, NextHops, Routes};
pub use topology::{Layer, Link, Node, NodeKind, PortEnd, Topology};
pub use weir_core::nearest;
