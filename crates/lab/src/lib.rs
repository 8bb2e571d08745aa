//! Scenario files, runs, comparisons, tables, plots and reports.
//!
//! ```text
//!   scenario.toml ──► Scenario ──► Experiment ──► Config ──► weir_sim ──► Outcome ──► report
//!    (people)         (read)       (network,      (scheme,                            (tables,
//!                                   traffic)       seed)                               pages)
//! ```

pub mod bench;
pub mod catalogue;
mod checks;
pub mod column;
pub mod compare;
pub mod describe;
pub mod experiment;
pub mod fct;
pub mod findings;
pub mod format;
pub mod fuzz;
mod hash;
pub mod lineup;
pub mod listing;
pub mod metrics;
pub mod ns3;
pub mod paper;
pub mod report;
mod resolve;
pub mod run;
pub mod run_text;
pub mod scenario;
pub mod scenario_doc;
pub mod schema;
pub mod stats;
pub mod sweep;
pub mod table;
pub mod text;
pub mod variant;
mod victims;

pub use checks::{HeadroomNeed, headroom_need};
pub use experiment::{Experiment, Variant};
pub use scenario::{Problems, Scenario};
pub use weir_core::Time;
pub use weir_fc::SCHEMES;
pub use weir_net::nearest;
pub use weir_sim::SimError;
pub use weir_sim::config::EngineConfig;
pub use weir_sim::outcome::Finish;
pub use weir_sim::run::threads;
pub use weir_traffic::size::{BuiltIn as SizeTableInfo, builtin_tables as size_tables};
pub use weir_traffic::write_flows;
