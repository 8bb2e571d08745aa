//! TOML as a tree of values that know where they were written.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::source::{SourceId, Sources, Span};
use super::spelling::refuse_hidden;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Where it was written.
    pub span: Span,
    /// What was written.
    pub value: Value,
}

/// What was written. Numbers stay text: their reader decides what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A number, as written but without `_`.
    Number(String),
    /// A truth value.
    Bool(bool),
    /// A date or time of day: nothing takes one.
    Date,
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
}

/// A key, where it was written, and its value.
pub type Entry = (String, Span, Item);

/// A table: keys in the order they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table(pub Vec<Entry>);

impl Table {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.0.iter().find(|(name, ..)| name == key).map(|(.., item)| item)
    }

    /// Where the key itself was written.
    pub fn key_span(&self, key: &str) -> Option<Span> {
        self.0.iter().find(|(name, ..)| name == key).map(|(_, span, _)| *span)
    }

    /// Gives a key a value, whether or not it had one.
    pub fn insert(&mut self, key: &str, key_span: Span, item: Item) {
        match self.0.iter_mut().find(|(name, ..)| name == key) {
            Some(entry) => *entry = (key.to_owned(), key_span, item),
            None => self.0.push((key.to_owned(), key_span, item)),
        }
    }

    /// The table as the text of a file: single values, then sections, then lists of sections.
    pub fn document(&self) -> String {
        let is_section = |v: &Value| matches!(v, Value::Table(_)) || v.tables().is_some();
        let mut text = String::new();
        for (key, _, item) in self.0.iter().filter(|(.., item)| !is_section(&item.value)) {
            text.push_str(&format!("{} = {}\n", bare(key), item.value.strict_toml()));
        }
        for (key, _, item) in self.0.iter().filter(|(.., item)| is_section(&item.value)) {
            let tables = match &item.value {
                Value::Table(table) => vec![(format!("[{}]", bare(key)), table)],
                other => {
                    let header = format!("[[{}]]", bare(key));
                    let tables = other.tables().unwrap_or_default();
                    tables.into_iter().map(|t| (header.clone(), t)).collect()
                }
            };
            for (header, table) in tables {
                text.push_str(&format!("\n{header}\n"));
                for (key, _, item) in &table.0 {
                    text.push_str(&format!("{} = {}\n", bare(key), item.value.strict_toml()));
                }
            }
        }
        text
    }
}

/// A key as it is written, with quotation marks where it needs them.
fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !key.is_empty() && key.chars().all(plain) {
        true => key.to_owned(),
        false => toml::Value::String(key.to_owned()).to_string(),
    }
}

impl Value {
    /// What it is, for error messages.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// The value as TOML, on one line; text that can only be text goes without quotation marks,
    /// as in `--set`.
    pub fn toml(&self) -> String {
        match self {
            Self::Text(text) if parse_plain(text) => text.clone(),
            other => other.strict_toml(),
        }
    }

    /// The tables of a list that holds nothing else, and at least one.
    fn tables(&self) -> Option<Vec<&Table>> {
        let Self::List(items) = self else { return None };
        let table = |item: &'_ Item| matches!(item.value, Self::Table(_));
        if items.is_empty() || !items.iter().all(table) {
            return None;
        }
        let tables = items.iter().filter_map(|item| match &item.value {
            Self::Table(table) => Some(table),
            _ => None,
        });
        Some(tables.collect())
    }

    fn strict_toml(&self) -> String {
        match self {
            Self::Text(text) => toml::Value::String(text.clone()).to_string(),
            Self::Number(text) => text.clone(),
            Self::Bool(yes) => yes.to_string(),
            Self::Date => "1970-01-01".to_owned(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|i| i.value.strict_toml()).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Table(table) => {
                let key = |key: &str| toml::Value::String(key.to_owned()).to_string();
                let entry = |(name, _, item): &Entry| {
                    format!("{} = {}", key(name), item.value.strict_toml())
                };
                let entries: Vec<String> = table.0.iter().map(entry).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    /// A single value as one would write it in a string, `None` for lists and tables.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text.clone()),
            Self::Bool(yes) => Some(yes.to_string()),
            Self::Date | Self::List(_) | Self::Table(_) => None,
        }
    }
}

/// Reads a whole file. Syntax errors and characters that must not be in texts are reported; what
/// could be read is returned.
pub fn parse(sources: &Sources, id: SourceId, diagnostics: &mut Diagnostics) -> Table {
    let (table, errors) = DeTable::parse_recoverable(&sources.get(id).text);
    for error in errors {
        syntax_error(&error, |range| id.span(range), diagnostics);
    }
    let table = convert_table(table.get_ref(), &|range| id.span(range));
    refuse_hidden(&table, diagnostics);
    table
}

/// Reads one value that stands at byte `offset` of a source.
pub fn parse_value(text: &str, id: SourceId, offset: usize) -> Option<Item> {
    let value = DeValue::parse(text).ok()?;
    let at = |range: std::ops::Range<usize>| id.span(range.start + offset..range.end + offset);
    Some(convert(&value, &at))
}

/// Whether a text reads as itself where values may go without quotation marks.
fn parse_plain(text: &str) -> bool {
    let plain = |c: char| !c.is_control() && c != '=';
    !text.is_empty()
        && text.trim() == text
        && text.chars().all(plain)
        && DeValue::parse(text).is_err()
}

fn syntax_error(
    error: &toml::de::Error,
    at: impl Fn(std::ops::Range<usize>) -> Span,
    diagnostics: &mut Diagnostics,
) {
    let mut lines = error.message().lines();
    let title = lines.next().unwrap_or("this is not TOML").to_owned();
    let mut diagnostic = Diagnostic::error(title);
    if let Some(range) = error.span() {
        diagnostic = diagnostic.at(at(range), "");
    }
    for line in lines.filter(|line| !line.trim().is_empty()) {
        diagnostic = diagnostic.help(line.to_owned());
    }
    diagnostics.push(diagnostic);
}

type At<'a> = &'a dyn Fn(std::ops::Range<usize>) -> Span;

fn convert(value: &Spanned<DeValue<'_>>, at: At<'_>) -> Item {
    let number = |text: &str| Value::Number(text.replace('_', ""));
    let converted = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Integer(n) if n.radix() != 10 => {
            // `as_str` leaves the prefix out
            let decimal = i128::from_str_radix(&n.as_str().replace('_', ""), n.radix());
            decimal.map_or_else(|_| number(n.as_str()), |n| Value::Number(n.to_string()))
        }
        DeValue::Integer(n) => number(n.as_str()),
        DeValue::Float(x) => number(x.as_str()),
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(items.iter().map(|item| convert(item, at)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(table, at)),
    };
    Item { span: at(value.span()), value: converted }
}

fn convert_table(table: &DeTable<'_>, at: At<'_>) -> Table {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| {
            (key.get_ref().clone().into_owned(), at(key.span()), convert(value, at))
        })
        .collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    Table(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Sources, Table, Diagnostics) {
        let mut sources = Sources::default();
        let id = sources.add("x.toml", text);
        let mut diagnostics = Diagnostics::default();
        let table = parse(&sources, id, &mut diagnostics);
        (sources, table, diagnostics)
    }

    #[test]
    fn values_keep_their_place_and_order() {
        let (sources, table, found) = read("z = 1_000\n[a]\nb = { c = \"x\", d = [0x10, true] }\n");
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(table.0[0].2.value, Value::Number("1000".into()));
        let Value::Table(a) = &table.get("a").unwrap().value else { panic!("a is a table") };
        let Value::Table(b) = &a.get("b").unwrap().value else { panic!("b is a table") };
        assert_eq!(sources.text(b.get("c").unwrap().span), "\"x\"");
        assert_eq!(sources.text(b.key_span("d").unwrap()), "d");
        let Value::List(d) = &b.get("d").unwrap().value else { panic!("d is a list") };
        assert_eq!(d[0].value.text().as_deref(), Some("16"));
        assert_eq!(d[1].value, Value::Bool(true));
    }

    #[test]
    fn several_syntax_errors_are_reported_at_once() {
        let (sources, table, found) = read("a = \nb = 2\nb = 3\nc = 4\n");
        assert_eq!(found.counts(), (2, 0), "{}", found.plain(&sources));
        assert_eq!(table.get("c").unwrap().value, Value::Number("4".into()));
    }
}
