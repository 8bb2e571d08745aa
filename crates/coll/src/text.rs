//! Files of text that are wrong.

/// Why a text is no schedule, workload or matrix, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be valid.
    pub what: String,
}
