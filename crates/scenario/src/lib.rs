//! Scenario files: from what people write to experiments that can be run.
//!
//! ```text
//!   text ──► Table ──► Scenario ──► Experiment ──► weir_sim::Config
//!   (file)   (tree)    (sections,   (network,
//!                       variants)    traffic, checked)
//! ```
//!
//! Reading finds everything that is wrong at once and says it with the line it stands on. What
//! depends on the network (names of hosts, thresholds against links) is checked when an
//! [`Experiment`] is made of the scenario.

mod args;
pub mod builtin;
pub mod catalogue;
pub mod checks;
pub mod control;
mod egress;
pub mod experiment;
mod faults;
mod fields;
pub mod hash;
pub mod job;
pub mod keys;
mod lengths;
pub mod load;
mod names;
mod pipeline;
mod port_at;
pub mod ports;
mod receivers;
pub mod reference;
mod report;
pub mod resolve;
mod routing;
mod scenario;
pub mod scenario_doc;
pub mod schema;
mod sections;
mod switch;
mod tcp;
pub mod text;
mod topology;
pub mod trace;
pub mod traffic;
mod training;
pub mod variant;
mod window;

pub use args::Arg;
pub use checks::{HeadroomNeed, headroom_need};
pub use experiment::{Experiment, Variant};
pub use faults::FaultSpec;
pub use fields::{At, Fields, Or, first_sentence, unknown_key, unknown_name};
pub use job::JobSpec;
pub use lengths::length_key;
pub use names::{Files, Route, ScenarioNames};
pub use port_at::PortAt;
pub use ports::{PortGroup, PortPattern};
pub use receivers::ReceiverSpec;
pub use reference::Reference;
pub use report::{ReportSpec, SizeRange};
pub use routing::RoutingSpec;
pub use scenario::{Problems, Scenario};
pub use sections::{FailureSpec, NicSpec, PathSpec, RunSpec};
pub use switch::{Ecn, SwitchSpec};
pub use tcp::TcpSpec;
pub use topology::TopologySpec;
pub use trace::TraceSpec;
pub use traffic::TrafficSpec;
pub use window::Window;
