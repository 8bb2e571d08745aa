//! What is wrong with an input file, and where.

use std::fmt;
use std::path::{Path, PathBuf};
use weir_core::Severity;

/// One finding in an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is: with an error the run cannot start.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1; `None` when the file as a whole is meant.
    pub line: Option<usize>,
    /// What is wrong, with the offending value.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity.name(), self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// Everything found, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    pub(crate) fn push(
        &mut self,
        severity: Severity,
        at: (&Path, Option<usize>),
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.0.push(Diagnostic {
            severity,
            file: at.0.into(),
            line: at.1,
            message: message.into(),
            help: help.into(),
        });
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_like_a_compiler_s() {
        let d = Diagnostic {
            severity: Severity::Error,
            file: "mix/config.txt".into(),
            line: Some(12),
            message: "`2,2` is not a number".into(),
            help: Some("write 2.2".into()),
        };
        assert_eq!(
            d.to_string(),
            "error: mix/config.txt:12: `2,2` is not a number\n  help: write 2.2"
        );
    }
}
