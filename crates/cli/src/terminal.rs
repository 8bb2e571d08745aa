//! What the terminal can do, and how to talk to it.

use clap::ValueEnum;
use std::io::{self, IsTerminal, Write};
use weir_core::Severity;
use weir_results::listing::Layout;
use weir_results::table::paint;
use weir_scenario::Problems;
use weir_scenario::text::{Colour, Diagnostics, Sources, one_line};

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourWhen {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where output goes and how it may look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Standard output.
    pub out: Layout,
    /// Whether standard error takes colours.
    pub colour_errors: Colour,
    /// Whether standard error is a terminal that can show a progress bar.
    pub interactive: bool,
    /// Nothing but results and errors.
    pub quiet: bool,
}

/// Without a terminal, lines may be this long.
const FILE_WIDTH: usize = 200;

impl Terminal {
    /// Looks around.
    pub(crate) fn new(when: ColourWhen, quiet: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let colour = |terminal: bool| match when {
            ColourWhen::Always => Colour::On,
            ColourWhen::Auto if terminal && !plain => Colour::On,
            ColourWhen::Never | ColourWhen::Auto => Colour::Off,
        };
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let told = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        let width = told.or_else(|| {
            let size = terminal_size::terminal_size().filter(|_| out);
            size.map(|(terminal_size::Width(w), _)| usize::from(w))
        });
        Self {
            out: Layout { width: width.unwrap_or(FILE_WIDTH), colour: colour(out) },
            colour_errors: colour(err),
            interactive: err,
            quiet,
        }
    }

    /// Shows what is wrong with a scenario.
    pub(crate) fn problems(&self, problems: &Problems) {
        tell(&problems.render(self.colour_errors));
        let (errors, warnings) = problems.diagnostics.counts();
        if errors + warnings > 1 {
            let plural =
                |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
            let (errors, warnings) = (plural(errors, "error"), plural(warnings, "warning"));
            tell(&format!("\n{errors}, {warnings}"));
        }
    }

    /// Shows what is odd about a scenario.
    pub(crate) fn warnings(&self, warnings: &Diagnostics, sources: &Sources) {
        if !self.quiet && !warnings.is_empty() {
            tell(&format!("{}\n", warnings.render(sources, self.colour_errors)));
        }
    }

    /// Says something in passing, unless asked to be quiet.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            tell(&format!("  {}", paint(&one_line(text), self.colour_errors, "2")));
        }
    }

    /// Shows an error that is not about a scenario.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        self.complain(&with_causes(error));
    }

    /// Says what went wrong, in one line.
    pub(crate) fn complain(&self, text: &str) {
        tell(&format!("{}: {}", coloured(Severity::Error, self.colour_errors), one_line(text)));
    }

    /// Says what is odd, in one line.
    pub(crate) fn warn(&self, text: &str) {
        tell(&format!("{}: {}", coloured(Severity::Warning, self.colour_errors), one_line(text)));
    }
}

/// The word for how grave something is, in its colour.
pub(crate) fn coloured(severity: Severity, colour: Colour) -> String {
    paint(severity.name(), colour, style(severity))
}

/// The colour of what is so grave.
pub(crate) const fn style(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Note => "1;36",
    }
}

/// An error and what caused it. Many errors quote their cause, which is then not said again.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Writes a line to standard error. If that is closed (`2>&1 | head`), the error cannot be reported
/// and is ignored.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints to standard output; a closed pipe (`| head`) is an error that ends the command.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Whether the reader of the output has closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_is_said_once() {
        let cause = || io::Error::new(io::ErrorKind::NotFound, "no such file");
        let quoting = anyhow::Error::new(cause()).context("cannot write x: no such file");
        assert_eq!(with_causes(&quoting), "cannot write x: no such file");
        let plain: anyhow::Result<()> = Err(cause()).context("cannot write x");
        assert_eq!(with_causes(&plain.expect_err("made above")), "cannot write x: no such file");
    }
}
