//! Errors and warnings that show the line they are about.

use super::source::{Sources, Span};
use super::spelling::{UNFIT_TEXT, is_hidden};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use weir_core::Severity;

/// One thing that is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad: with an error the scenario cannot run.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub title: String,
    /// Where, and what to say there; other places that have to do with it after the first.
    pub places: Vec<(Span, String)>,
    /// What would be right.
    pub help: Vec<String>,
}

impl Diagnostic {
    fn new(severity: Severity, title: impl Into<String>) -> Self {
        Self { severity, title: title.into(), places: Vec::new(), help: Vec::new() }
    }

    /// An error.
    pub fn error(title: impl Into<String>) -> Self {
        Self::new(Severity::Error, title)
    }

    /// A warning.
    pub fn warning(title: impl Into<String>) -> Self {
        Self::new(Severity::Warning, title)
    }

    /// Underlines `span` with a label.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.places.insert(0, (span, label.into()));
        self
    }

    /// Underlines `span` if there is one: a value may be a default, which has no place in the file.
    #[must_use]
    pub fn maybe_at(self, span: Option<Span>, label: impl Into<String>) -> Self {
        match span {
            Some(span) => self.at(span, label),
            None => {
                let label = label.into();
                if label.is_empty() { self } else { self.help(label) }
            }
        }
    }

    /// Shows another place as well.
    #[must_use]
    pub fn context(mut self, span: Span, label: impl Into<String>) -> Self {
        self.places.push((span, label.into()));
        self
    }

    /// Adds a remedy.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds "did you mean" when there is a nearest match.
    #[must_use]
    pub fn nearest(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(word) => self.help(format!("did you mean `{word}`?")),
            None => self,
        }
    }

    /// The diagnostic as text with source lines and carets.
    pub fn render(&self, sources: &Sources, colour: Colour) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let title = one_line(&self.title);
        let mut group = Group::with_title(level.primary_title(title));
        for snippet in self.snippets(sources) {
            group = group.element(snippet);
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(one_line(help)));
        }
        let renderer = match colour {
            Colour::On => Renderer::styled(),
            Colour::Off => Renderer::plain(),
        };
        // Wide enough that nothing is cut: terminals wrap, files and tests do not care.
        renderer.term_width(400).render(&[group])
    }

    /// One snippet per source, the one with the mistake first.
    fn snippets<'a>(&'a self, sources: &'a Sources) -> Vec<Snippet<'a, Annotation<'a>>> {
        let mut order = Vec::new();
        for (span, _) in &self.places {
            if !order.contains(&span.source) {
                order.push(span.source);
            }
        }
        let snippet = |id| {
            let source = sources.get(id);
            let mut snippet = Snippet::source(source.text.as_str()).path(source.name.as_str());
            for (i, (span, label)) in self.places.iter().enumerate() {
                if span.source == id {
                    let kind =
                        if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                    snippet = snippet.annotation(labelled(kind.span(sources.within(*span)), label));
                }
            }
            snippet
        };
        order.into_iter().map(snippet).collect()
    }
}

fn labelled<'a>(mark: Annotation<'a>, label: &'a str) -> Annotation<'a> {
    if label.is_empty() { mark } else { mark.label(one_line(label)) }
}

/// Whether text has ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For files and pipes.
    Off,
    /// For terminals.
    On,
}

/// Text without control characters and marks of text direction, for terminals: messages quote what
/// users wrote, and what users write may contain anything.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect()
}

/// More than this is not read by anybody; to show it takes time in proportion to its number and
/// the length of the text.
const MOST: usize = 100;

/// What was found wrong so far: the first hundred, and how many more there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
    more_errors: usize,
    more_warnings: usize,
}

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, d: Diagnostic) {
        if self.all.contains(&d) {
            return;
        }
        match d.severity {
            _ if self.all.len() < MOST => self.all.push(d),
            Severity::Error => self.more_errors += 1,
            Severity::Warning | Severity::Note => self.more_warnings += 1,
        }
    }

    /// Adds one about a name, in place of what was said of the same text when the file was read: of
    /// a name with a character that no text may have, only the rule for names is shown.
    pub fn push_of_name(&mut self, d: Diagnostic) {
        if let Some((at, _)) = d.places.first() {
            let same = |known: &Diagnostic| known.places.first().is_some_and(|(p, _)| p == at);
            self.all.retain(|known| !known.title.starts_with(UNFIT_TEXT) || !same(known));
        }
        self.push(d);
    }

    /// Errors and warnings in the order they were found, those beyond the first hundred left out.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.all.iter()
    }

    /// Puts them in the order of the places they are about; those without one come last.
    pub fn sort(&mut self) {
        self.all.sort_by_key(|d| {
            let place = d.places.first().map(|(span, _)| (span.source, span.start));
            (place.is_none(), place)
        });
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether the scenario cannot run.
    pub fn has_errors(&self) -> bool {
        self.more_errors > 0 || self.all.iter().any(|d| d.severity == Severity::Error)
    }

    /// How many errors and warnings.
    pub fn counts(&self) -> (usize, usize) {
        let errors = self.all.iter().filter(|d| d.severity == Severity::Error).count();
        (errors + self.more_errors, self.all.len() - errors + self.more_warnings)
    }

    /// All of them as plain text, separated by blank lines.
    pub fn plain(&self, sources: &Sources) -> String {
        self.render(sources, Colour::Off)
    }

    /// All of them as text, separated by blank lines.
    pub fn render(&self, sources: &Sources, colour: Colour) -> String {
        let mut texts: Vec<String> = self.all.iter().map(|d| d.render(sources, colour)).collect();
        if self.more_errors + self.more_warnings > 0 {
            texts.push(format!("... and {} more", self.more_errors + self.more_warnings));
        }
        texts.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_the_line_a_caret_and_a_remedy() {
        let mut sources = Sources::default();
        let id = sources.add("my.toml", "a = 1\nrtae = 2\n");
        let text = Diagnostic::error("unknown key `rtae`")
            .at(id.span(6..10), "not a key of `[topology]`")
            .nearest(Some("rate"))
            .render(&sources, Colour::Off);
        assert_eq!(
            text,
            "error: unknown key `rtae`\n --> my.toml:2:1\n  |\n2 | rtae = 2\n  | ^^^^ not a key of \
             `[topology]`\n  |\n  = help: did you mean `rate`?"
        );
    }

    #[test]
    fn only_so_many_are_shown_and_the_rest_is_counted() {
        let mut found = Diagnostics::default();
        for i in 0..MOST {
            found.push(Diagnostic::warning(format!("odd {i}")));
        }
        found.push(Diagnostic::error("wrong"));
        found.push(Diagnostic::warning("odd"));
        assert!(found.has_errors());
        assert_eq!(found.counts(), (1, MOST + 1));
        assert!(found.plain(&Sources::default()).ends_with("odd 99\n\n... and 2 more"));
    }

    #[test]
    fn colours_are_only_used_when_asked_for() {
        let mut sources = Sources::default();
        let id = sources.add("my.toml", "a = 1");
        let d = Diagnostic::warning("odd").at(id.span(0..1), "");
        assert!(!d.render(&sources, Colour::Off).contains('\x1b'));
        assert!(d.render(&sources, Colour::On).contains('\x1b'));
    }
}
