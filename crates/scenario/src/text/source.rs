//! Where text comes from.

use std::ops::Range;

/// A text with a name: a scenario file, or one `--set` of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// How errors call it.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// A source of one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId(u16);

impl SourceId {
    /// The scenario file; overrides come after it.
    pub const FILE: Self = Self(0);
}

/// A stretch of a source, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// In which source.
    pub source: SourceId,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// All texts one scenario was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a text.
    ///
    /// # Panics
    /// Beyond 65 536 sources: one file and what fits on a command line are fewer.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let id = u16::try_from(self.0.len()).expect("fewer than 65 536 sources");
        self.0.push(Source { name: name.into(), text: text.into() });
        SourceId(id)
    }

    /// One of them.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.0[usize::from(id.0)]
    }

    /// All of them: the file first, then the overrides.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        &self.get(span.source).text[self.within(span)]
    }

    /// The bytes of a span, moved inside the text and onto character boundaries whatever the
    /// span says.
    pub fn within(&self, span: Span) -> Range<usize> {
        let text = &self.get(span.source).text;
        let end = ceil(text, span.end.min(text.len()));
        floor(text, span.start.min(end))..end
    }
}

impl SourceId {
    /// A span of this source.
    pub fn span(self, range: Range<usize>) -> Span {
        Span { source: self, start: range.start, end: range.end }
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_never_leaves_its_text_or_splits_a_character() {
        let mut sources = Sources::default();
        let id = sources.add("x", "aäb");
        assert_eq!(sources.text(id.span(2..2)), "ä");
        assert_eq!(sources.text(id.span(3..99)), "b");
        assert_eq!(sources.text(id.span(50..99)), "");
    }
}
