//! Can this network deadlock? The static check of `weir lint`.
//!
//! Under PFC a packet in the ingress buffer of one switch waits until the ingress buffer of the
//! next switch has room. If buffers can wait for each other in a cycle (a cyclic buffer
//! dependency), some traffic closes it and nothing on it ever moves again. If they cannot, no
//! traffic does.
//!
//! | type | what it is |
//! |---|---|
//! | [`Tables`] | the ports of each switch to each destination: computed, or dumped ([`fib`]) |
//! | [`Dependencies`] | which buffer may wait for which, and the cycles in it |
//! | [`Orbits`] | which links are the same up to a symmetry of the network |
//! | [`failures`] | all sets of up to K failed links: one of each kind, or a sample |
//! | [`confirm`] | the traffic that closes a cycle, as a scenario |
//!
//! ```
//! use weir_lint::{Dependencies, Rerouting, Tables};
//! let topo = weir_net::build::ring::build(&Default::default())?;
//! let cycles = |how| {
//!     let mut graph = Dependencies::new(&topo);
//!     graph.add_tables(&Tables::routed(&topo, how, &[]));
//!     graph.cycles().len()
//! };
//! // clockwise and counter-clockwise
//! assert_eq!(cycles(Rerouting::Shortest), 2);
//! assert_eq!(cycles(Rerouting::UpDown), 0);
//! # Ok::<(), weir_net::TopologyError>(())
//! ```

pub mod confirm;
mod depend;
pub mod failures;
pub mod fib;
mod flows;
mod orbits;
mod tables;

pub use depend::{Cycle, Dependencies, Hop};
pub use flows::{FlowPath, routes_of};
pub use orbits::Orbits;
pub use tables::{Destination, Rerouting, Tables};
