//! The paper lab: experiments of papers as files, run on the sweep machinery, and what the papers
//! say about them as rules that are checked.
//!
//! ```text
//!   papers/ofc/paper.toml ─► Paper ─► Experiment ─► sweep directories ─► Tables ─► figures
//!     e1.toml, claims.toml    │        (grid, quick)   (run.rs)            │
//!                             └─► Claim ────────────────────────────────► Verdict
//! ```
//!
//! No experiment is written in Rust: [`catalogue`] finds papers inside the program and in
//! directories of users, [`experiment`] reads an experiment (a grid file with a few more keys),
//! [`figure`] and [`claim`] what is drawn and what is claimed. [`run`] makes the runs,
//! [`tables`] selects numbers of them by a [`select::Selector`], and [`verdict`] compares those
//! with the paper's by rules that the claim states before any run.

pub mod catalogue;
pub mod claim;
mod claim_rules;
pub mod experiment;
pub mod figure;
pub mod flow_sizes;
pub mod page;
pub mod plot;
pub mod publish;
pub mod report;
pub mod run;
pub mod select;
pub mod tables;
pub mod verdict;
#[cfg(test)]
mod verdict_tests;

pub use catalogue::Paper;
pub use claim::{Claim, Operand, Pick, Rule};
pub use experiment::{Experiment, Mode};
pub use figure::{FigureKind, FigureSpec, PanelSpec};
pub use select::{Scope, Selector};
pub use tables::{Cell, Tables};
pub use verdict::{Outcome, Verdict};
