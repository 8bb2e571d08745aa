//! Runs and what comes out of them: findings, statistics, tables, files and pages.

pub mod bench;
pub mod blame;
pub mod captures;
pub mod collectives;
pub mod column;
pub mod compare;
pub mod comparison;
pub mod describe;
pub mod fct;
pub mod findings;
pub mod job_text;
pub mod lineup;
pub mod listing;
pub(crate) mod meter;
pub mod metrics;
pub mod ns3;
pub mod reference;
pub mod report;
pub mod run;
pub mod run_text;
pub mod shown;
pub mod simai;
pub mod stats;
pub mod table;
pub mod victims;
pub mod worst_case;
