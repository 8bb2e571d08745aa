//! Real lossless fabrics: how much headroom they need, and what is wrong with their
//! configurations.
//!
//! ```text
//!   speed, cable, MTU ──► Budget ──► Advice          what to configure, term by term
//!   config_db.json ─────► Switch ─┐
//!   config_db.json ─────► Switch ─┴► check ──► Finding ──► text, JSON, SARIF, patch
//!                                └► import ──► scenario
//! ```
//!
//! Everything here is a pure function of text and numbers; no simulator is needed. The physical
//! need of a link is [`weir_net::analysis::Headroom`], the only formula of it in the project;
//! [`rule`] is what a vendor's software configures.

pub mod advice;
pub mod asic;
pub mod checks;
pub mod code;
pub mod config;
pub mod finding;
mod fraction;
pub mod host;
pub mod import;
mod locate;
pub mod lookup;
pub mod patch;
pub mod report;
pub mod rule;

pub use advice::{Advice, Budget, Cells, Wanted};
pub use asic::{ASICS, Asic, RuleForm};
pub use checks::{Options, check};
pub use code::{CODES, Code};
pub use config::Switch;
pub use finding::Finding;
pub use host::Host;
pub use lookup::Lookup;
pub use report::Report;
pub use rule::{Rule, Sizes};

use std::cmp::Ordering;

/// Names in the order that people expect: Ethernet4 before Ethernet16.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
    let split = |s: &str| -> (String, u64, String) {
        let digits = s.find(|c: char| c.is_ascii_digit()).unwrap_or(s.len());
        let rest = &s[digits..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        (s[..digits].to_owned(), rest[..end].parse().unwrap_or(0), rest[end..].to_owned())
    };
    split(a).cmp(&split(b))
}
