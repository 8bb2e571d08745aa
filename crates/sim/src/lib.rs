//! The event engine and the models it moves.
//!
//! ```text
//!             Traffic ──► Nic ══ wire ══► Switch ══ wire ══► Switch ══ wire ══► Nic
//!                          │                │                                   │
//!                    FlowControl      FlowControl                           delivered,
//!                  CongestionControl   buffer, queues                      acknowledged
//! ```
//!
//! | where | what |
//! |---|---|
//! | [`run()`] | builds a world from a topology, traffic and a [`Config`], simulates it, reports |
//! | [`config`] | every setting a model uses |
//! | [`outcome`] | what a run found out |
//! | `engine/` | which node runs when; results do not depend on it |
//! | `switch/`, `nic/` | the two kinds of nodes |
//! | `link.rs`, `link/mail.rs` | what is between them |
//! | [`stations`] | nodes without an engine: for other shells, and for logs of what nodes do |
//! | [`probe`] | what is measured along the way, and how to measure something else |
//! | `deadlock.rs` | cyclic waits, and runs in which nothing moves any more |
//!
//! A run is a pure function of its inputs: the same bytes on every machine. Two hosts send 1 MB
//! each to a third through one switch, under PFC:
//!
//! ```
//! use weir_core::{Bytes, NodeId, PortId, Priority, Time};
//! use weir_net::build::star;
//! use weir_sim::{Config, Finish};
//! use weir_traffic::{Fabric, FlowSpec, Traffic, pattern::List};
//!
//! let topology = star::build(&star::Params { hosts: 3, ..star::Params::default() })?;
//! let rate = topology.rate(NodeId(0), PortId(0));
//! let mut traffic = Traffic::new(Fabric::uniform(topology.hosts(), rate)?);
//! traffic.class("pair")?;
//! let flow = |src| FlowSpec {
//!     priority: Priority::ALL[3],
//!     ..FlowSpec::new(NodeId(src), NodeId(2), Bytes::new(1_000_000))
//! };
//! traffic.add(List { flows: vec![flow(0), flow(1)] })?;
//!
//! let config = Config::new(weir_fc::scheme("pfc").expect("PFC is a scheme"));
//! let outcome = weir_sim::run(&topology, &traffic, &config, &mut ())?;
//! assert_eq!(outcome.finish, Finish::Drained);
//! assert_eq!(outcome.totals.dropped, 0);
//! // 2 MB through one link of 100 Gb/s take 160 us, and a little more for headers and gaps
//! let last = outcome.flows.iter().filter_map(|f| f.fct()).max().expect("both ended");
//! assert!(last > Time::from_us(160) && last < Time::from_us(170), "{last}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/own_cc.rs` runs your own congestion control.

mod activity;
mod agenda;
mod alone;
mod chain;
pub mod config;
mod control;
mod critical;
mod deadlock;
mod engine;
mod env;
mod error;
mod extras;
mod faults;
mod frame;
mod jobs;
mod limit;
mod link;
mod nic;
mod node;
pub mod outcome;
pub mod parcel;
pub mod probe;
mod report;
pub mod run;
mod shared;
mod snapshot;
mod standstill;
pub mod stations;
mod switch;
mod tally;
mod threads;
pub mod thresholds;
mod timers;
mod tree;
mod world;

pub use config::Config;
pub use error::SimError;
pub use outcome::{Finish, Outcome, StepEnd};
pub use run::{Observer, Progress, run, run_prepared};
pub use shared::Prepared;
pub use tree::HORIZON;
