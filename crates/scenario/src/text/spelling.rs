//! Which characters names and texts of users may have: one rule for each, for all files.
//!
//! Names and texts go into tables on terminals, into pages and into CSV files, which people open in
//! spreadsheets. None of them may move the cursor of a terminal, show other characters in another
//! order than they are written in, or be a formula of a spreadsheet.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::source::Span;
use super::tree::{Table, Value};

/// Marks that change the direction of the text behind them: a name with one of them looks like
/// another name.
const fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}')
}

/// Whether a character does something other than to be shown.
pub fn is_hidden(c: char) -> bool {
    // line and paragraph separators end a line on some terminals
    c.is_control() || is_bidirectional(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// How errors about texts begin.
pub(super) const UNFIT_TEXT: &str = "a text contains";

/// What names must not have, for help texts.
pub const NAME_RULE: &str = "a name must not contain control characters or marks of text \
    direction, or begin with `=`, `+`, `-` or `@`";

/// Why this cannot be a name, or a cell of a CSV file; `None` if it can.
pub fn unfit_name(name: &str) -> Option<String> {
    let hidden = |c: char, what| format!("it contains {what}, U+{:04X}", u32::from(c));
    match name.chars().find(|c| is_hidden(*c)) {
        Some(c) if is_bidirectional(c) => Some(hidden(c, "a mark of text direction")),
        Some(c) => Some(hidden(c, "a control character")),
        None if name.trim_start().starts_with(['=', '+', '-', '@']) => {
            Some("a spreadsheet would read it as a formula".into())
        }
        None => None,
    }
}

/// The first character that a text of several lines must not have. Tabs and line breaks may be in
/// it.
fn unfit_in_text(text: &str) -> Option<char> {
    let mut all = text.chars().peekable();
    while let Some(c) = all.next() {
        let line_break = c == '\n' || c == '\r' && all.peek() == Some(&'\n');
        if is_hidden(c) && !line_break && c != '\t' {
            return Some(c);
        }
    }
    None
}

/// Reports keys and texts of a file that have characters of this kind, wherever they stand.
pub(super) fn refuse_hidden(table: &Table, out: &mut Diagnostics) {
    for (key, at, item) in &table.0 {
        check(key, *at, out);
        walk(&item.value, item.span, out);
    }
}

fn walk(value: &Value, at: Span, out: &mut Diagnostics) {
    match value {
        Value::Text(text) => check(text, at, out),
        Value::List(items) => items.iter().for_each(|item| walk(&item.value, item.span, out)),
        Value::Table(table) => refuse_hidden(table, out),
        Value::Number(_) | Value::Bool(_) | Value::Date => {}
    }
}

fn check(text: &str, at: Span, out: &mut Diagnostics) {
    let Some(c) = unfit_in_text(text) else { return };
    let what = if is_bidirectional(c) { "a mark of text direction" } else { "a control character" };
    let error = Diagnostic::error(format!("{UNFIT_TEXT} {what}"));
    let label = format!("U+{:04X}", u32::from(c));
    out.push(error.at(at, label).help("only line breaks and tabs may be in texts"));
}

#[cfg(test)]
mod tests {
    use super::super::source::Sources;
    use super::super::tree::parse;
    use super::*;

    #[test]
    fn names_are_neither_commands_of_terminals_nor_of_spreadsheets() {
        for (name, part) in [
            ("=1+1", "formula"),
            ("+a", "formula"),
            ("-a", "formula"),
            ("@a", "formula"),
            (" =a", "formula"),
            ("a\tb", "control character"),
            ("a\u{1b}[31m", "control character"),
            ("a\u{2028}b", "control character"),
            ("\u{202e}CFP", "direction"),
            ("a\u{2069}", "direction"),
        ] {
            assert!(unfit_name(name).is_some_and(|why| why.contains(part)), "{name:?}");
        }
        for name in ["PFC", "DCQCN+PFC", "a-b", "µs", "עברית", "100 %", ""] {
            assert_eq!(unfit_name(name), None, "{name:?}");
        }
    }

    #[test]
    fn texts_have_lines_and_tabs_but_no_other_control_characters() {
        let found = |text: &str| {
            let (mut sources, mut out) = (Sources::default(), Diagnostics::default());
            let id = sources.add("x.toml", text);
            refuse_hidden(&parse(&sources, id, &mut out), &mut out);
            out.plain(&sources)
        };
        assert_eq!(found("a = \"\"\"\none\n\ttwo\r\nthree\"\"\"\n"), "");
        for (text, part) in [
            ("a = \"\\u001b[2J\"", "U+001B"),
            ("a = [[\"x\", \"y\\r\"]]", "U+000D"),
            ("[[b]]\nc = { d = \"\u{202e}e\" }", "U+202E"),
            ("\"\\u0007\" = 1", "U+0007"),
        ] {
            let shown = found(text);
            assert!(shown.contains(part) && shown.contains("x.toml:"), "{text}: {shown}");
            assert!(!shown.contains('\u{202e}'), "a message shows it: {shown}");
        }
    }
}
