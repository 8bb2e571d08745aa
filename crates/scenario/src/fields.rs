//! Reads the keys of one section. What is wrong is reported and reading goes on with the
//! default, so that one run of the reader finds everything.

mod written;

use super::keys::{Key, Kind, Section};
use crate::text::{Diagnostic, Diagnostics, Entry, Item, Span, Table, Value};
use std::fmt::Display;
use weir_core::param::FromText;
use weir_core::{Bytes, Rate, Ratio, Time};
use weir_net::nearest;

/// A value, and where it was written if it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    /// What.
    pub value: T,
    /// Where; `None` for a default.
    pub span: Option<Span>,
}

impl<T> At<T> {
    /// A default.
    pub const fn default(value: T) -> Self {
        Self { value, span: None }
    }

    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> At<U> {
        At { value: f(self.value), span: self.span }
    }
}

/// A value, or one of the words that may stand in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Or<T> {
    /// A value.
    Is(T),
    /// A word.
    Word(&'static str),
}

/// The keys of one section of a file: of a scenario, a grid, an experiment or its claims.
pub struct Fields<'a> {
    header: String,
    keys: &'static [Key],
    table: Option<&'a Table>,
    /// The section itself, for keys that are missing.
    pub span: Option<Span>,
    /// What is wrong.
    pub out: &'a mut Diagnostics,
}

impl<'a> Fields<'a> {
    /// The keys of `item`, which must be a table. Keys that `section` does not have are refused.
    pub fn new(section: &Section, item: Option<&'a Item>, out: &'a mut Diagnostics) -> Self {
        Self::closed(section.header(), section.keys, item, out)
    }

    /// The same of a section that has another name each time.
    pub fn closed(
        header: String,
        keys: &'static [Key],
        item: Option<&'a Item>,
        out: &'a mut Diagnostics,
    ) -> Self {
        Self::open(header, keys, item, out).refuse_unknown()
    }

    /// The keys at the top of a file, which messages call `owner`. Others are refused.
    pub fn file(
        owner: &str,
        keys: &'static [Key],
        root: &'a Table,
        at: Span,
        out: &'a mut Diagnostics,
    ) -> Self {
        let (header, table) = (owner.to_owned(), Some(root));
        Self { header, keys, table, span: Some(at), out }.refuse_unknown()
    }

    /// Like [`Fields::new`], but any key may be there: the caller looks at the rest.
    pub fn open(
        header: String,
        keys: &'static [Key],
        item: Option<&'a Item>,
        out: &'a mut Diagnostics,
    ) -> Self {
        let table = item.and_then(|item| match &item.value {
            Value::Table(table) => Some(table),
            other => {
                out.push(
                    Diagnostic::error(format!("`{header}` is a table"))
                        .at(item.span, format!("this is {}", other.what())),
                );
                None
            }
        });
        Self { header, keys, table, span: item.map(|item| item.span), out }
    }

    fn refuse_unknown(self) -> Self {
        for (name, span, _) in self.rest() {
            let names: Vec<&str> = self.keys.iter().map(|k| k.name).collect();
            self.out.push(unknown_key(name, *span, &self.header, &names));
        }
        self
    }

    /// Whether there is a table at all.
    pub fn is_table(&self) -> bool {
        self.table.is_some()
    }

    /// What was written and is not one of this section's own keys.
    pub fn rest(&self) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let keys = self.keys;
        let entries = self.table.into_iter().flat_map(|table| &table.0);
        entries.filter(move |(name, ..)| keys.iter().all(|k| k.name != name))
    }

    fn key(&self, name: &str) -> &'static Key {
        let key = self.keys.iter().find(|k| k.name == name);
        key.unwrap_or_else(|| panic!("`{name}` is not in the table of {}", self.header))
    }

    /// What was written for `name`.
    pub fn item(&self, name: &str) -> Option<&'a Item> {
        let _ = self.key(name);
        self.table.and_then(|table| table.get(name))
    }

    /// Whether anything was written for `name`.
    pub fn given(&self, name: &str) -> bool {
        self.item(name).is_some()
    }

    /// Reports a key that must be there.
    pub fn missing(&mut self, name: &str) {
        let key = self.key(name);
        let what = first_sentence(key.doc);
        let title = format!("{} needs `{name}`: {what}", owner(&self.header));
        let help = format!("it takes {}", key.kind.describe());
        self.out.push(Diagnostic::error(title).maybe_at(self.span, "").help(help));
    }

    fn wrong(&mut self, name: &str, item: &Item, title: impl Display) {
        let key = self.key(name);
        let label = format!("`{name}` takes {}", key.kind.describe());
        self.out.push(Diagnostic::error(title.to_string()).at(item.span, label));
    }

    /// A single value as text.
    fn single(&mut self, name: &str) -> Option<(String, Span)> {
        let item = self.item(name)?;
        match item.value.text() {
            Some(text) => Some((text, item.span)),
            None => {
                self.wrong(name, item, format_args!("`{name}` cannot be {}", item.value.what()));
                None
            }
        }
    }

    /// A value as its key reads it, or `None` when nothing (right) was written.
    fn read<T: FromText>(&mut self, name: &str) -> Option<At<T>> {
        let (text, span) = self.single(name)?;
        match self.key(name).read(&text) {
            Ok(value) => Some(At { value, span: Some(span) }),
            Err(error) => {
                self.out.push(Diagnostic::error(error.to_string()).at(span, ""));
                None
            }
        }
    }

    /// A quantity, or `None` when nothing (right) was written.
    fn parsed<T: Quantity>(&mut self, name: &str) -> Option<At<T>> {
        let (text, span) = self.single(name)?;
        match read_quantity(self.key(name), &text) {
            Ok(value) => Some(At { value, span: Some(span) }),
            Err(title) => {
                self.out.push(Diagnostic::error(title).at(span, ""));
                None
            }
        }
    }

    fn default<T: FromText>(&self, name: &str) -> At<T> {
        At::default(self.key(name).read_default())
    }

    /// Text; `None` when not given.
    pub fn text(&mut self, name: &str) -> Option<At<String>> {
        let item = self.item(name)?;
        if let Value::Text(text) = &item.value {
            return Some(At { value: text.clone(), span: Some(item.span) });
        }
        self.wrong(name, item, format_args!("`{name}` cannot be {}", item.value.what()));
        None
    }

    /// A single value of any kind as it is written; `None` when not given.
    pub fn written(&mut self, name: &str) -> Option<At<String>> {
        self.single(name).map(|(value, span)| At { value, span: Some(span) })
    }

    /// Text that must be there.
    pub fn required_text(&mut self, name: &str) -> Option<At<String>> {
        if !self.given(name) {
            self.missing(name);
        }
        self.text(name)
    }

    /// A size.
    pub(crate) fn bytes(&mut self, name: &str) -> At<Bytes> {
        self.parsed(name).unwrap_or_else(|| self.default(name))
    }

    /// A size; `None` when not given.
    pub(crate) fn optional_bytes(&mut self, name: &str) -> Option<At<Bytes>> {
        self.parsed(name)
    }

    /// A time.
    pub(crate) fn time(&mut self, name: &str) -> At<Time> {
        self.parsed(name).unwrap_or_else(|| self.default(name))
    }

    /// A time; `None` when not given.
    pub(crate) fn optional_time(&mut self, name: &str) -> Option<At<Time>> {
        self.parsed(name)
    }

    /// A fraction; `None` when not given.
    pub(crate) fn optional_fraction(&mut self, name: &str) -> Option<At<Ratio>> {
        self.parsed(name)
    }

    /// A fraction.
    pub(crate) fn fraction(&mut self, name: &str) -> At<Ratio> {
        self.parsed(name).unwrap_or_else(|| self.default(name))
    }

    /// A value or a word of the key's kind.
    fn or_word<T: Quantity>(&mut self, name: &str) -> At<Or<T>> {
        let words = match self.key(name).kind {
            Kind::Size(words) | Kind::Time(words) => words,
            other => panic!("`{name}` takes no words: {other:?}"),
        };
        let word = |text: &str| words.iter().find(|w| **w == text).map(|w| Or::Word(w));
        if let Some((text, span)) = self.single(name) {
            if let Some(word) = word(&text) {
                return At { value: word, span: Some(span) };
            }
            match read_quantity(self.key(name), &text) {
                Ok(value) => return At { value: Or::Is(value), span: Some(span) },
                Err(title) => {
                    let label = format!("`{name}` takes {}", self.key(name).kind.describe());
                    let error = Diagnostic::error(title);
                    let error =
                        error.at(span, label).nearest(nearest(&text, words.iter().copied()));
                    self.out.push(error);
                }
            }
        }
        match word(self.key(name).default()) {
            Some(word) => At::default(word),
            None => self.default(name).map(Or::Is),
        }
    }

    /// A size or a word.
    pub(crate) fn bytes_or_word(&mut self, name: &str) -> At<Or<Bytes>> {
        self.or_word(name)
    }

    /// A time or a word.
    pub(crate) fn time_or_word(&mut self, name: &str) -> At<Or<Time>> {
        self.or_word(name)
    }

    /// A whole number.
    pub fn whole(&mut self, name: &str) -> At<u64> {
        self.read(name).unwrap_or_else(|| self.default(name))
    }

    /// A whole number; `None` when not given.
    pub fn optional_whole(&mut self, name: &str) -> Option<At<u64>> {
        self.read(name)
    }

    /// A rate.
    pub(crate) fn rate(&mut self, name: &str) -> At<Rate> {
        self.read(name).unwrap_or_else(|| self.default(name))
    }

    /// A whole number or a word.
    pub(crate) fn whole_or_word(&mut self, name: &str) -> At<Or<u64>> {
        let Kind::WholeOr { words, .. } = self.key(name).kind else {
            panic!("`{name}` is not a whole number or a word")
        };
        if let Some((text, span)) = self.single(name)
            && let Some(word) = words.iter().find(|w| **w == text)
        {
            return At { value: Or::Word(word), span: Some(span) };
        }
        self.read(name).unwrap_or_else(|| self.default(name)).map(Or::Is)
    }

    /// A number.
    pub fn number(&mut self, name: &str) -> At<f64> {
        self.read(name).unwrap_or_else(|| self.default(name))
    }

    /// True or false.
    pub fn bool(&mut self, name: &str) -> At<bool> {
        match self.item(name) {
            Some(Item { value: Value::Bool(yes), span }) => At { value: *yes, span: Some(*span) },
            Some(item) => {
                let what = item.value.what();
                self.wrong(name, item, format_args!("`{name}` is true or false, not {what}"));
                self.default(name)
            }
            None => self.default(name),
        }
    }

    /// One of the words of a choice.
    pub fn choice(&mut self, name: &str) -> At<&'static str> {
        let Kind::Choice(words) = self.key(name).kind else { panic!("`{name}` is no choice") };
        if let Some((text, span)) = self.single(name) {
            if let Some(word) = words.iter().find(|w| **w == text) {
                return At { value: word, span: Some(span) };
            }
            let title = format!("`{text}` is not a value of `{name}`");
            let label = format!("`{name}` takes {}", self.key(name).kind.describe());
            let error = Diagnostic::error(title).at(span, label);
            self.out.push(error.nearest(nearest(&text, words.iter().copied())));
        }
        let default = self.key(name).default();
        At::default(words.iter().find(|w| **w == default).unwrap_or(&words[0]))
    }

    /// What one of the words of a choice means; `meanings` has every word of the key.
    pub fn one_of<T>(
        &mut self,
        name: &str,
        meanings: impl IntoIterator<Item = (&'static str, T)>,
    ) -> At<T> {
        let Kind::Choice(words) = self.key(name).kind else { panic!("`{name}` is no choice") };
        let word = self.choice(name);
        let mut found = None;
        let mut known = 0;
        for (name, meaning) in meanings {
            known += usize::from(words.contains(&name));
            if name == word.value {
                found = Some(meaning);
            }
        }
        assert!(known == words.len(), "each word of `{name}` has a meaning");
        word.map(|_| found.expect("it is one of the words"))
    }

    /// A list of whole numbers; one number is a list of one. `None` when not given.
    pub fn wholes(&mut self, name: &str) -> Option<At<Vec<u64>>> {
        let Kind::Wholes { min, max } = self.key(name).kind else { panic!("`{name}` is no list") };
        let item = self.item(name)?;
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        let mut numbers = Vec::new();
        for item in items {
            match item.value.text().and_then(|text| text.parse().ok()) {
                Some(n) if (min..=max).contains(&n) => numbers.push(n),
                _ => {
                    let text = item.value.text().unwrap_or_else(|| item.value.what().into());
                    self.wrong(name, item, format_args!("`{text}` cannot be a value of `{name}`"));
                    return None;
                }
            }
        }
        Some(At { value: numbers, span: Some(item.span) })
    }

    /// A list of names; one name is a list of one. `None` when not given.
    pub fn names(&mut self, name: &str) -> Option<Vec<At<String>>> {
        let item = self.item(name)?;
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        let mut names = Vec::new();
        for item in items {
            let Value::Text(text) = &item.value else {
                let what = item.value.what();
                self.wrong(name, item, format_args!("{what} cannot be a value of `{name}`"));
                return None;
            };
            names.push(At { value: text.clone(), span: Some(item.span) });
        }
        Some(names)
    }

    /// A table within the section, or a word in its place; `None` when not given (or wrong).
    pub fn table(&mut self, name: &str) -> Option<Or<Fields<'_>>> {
        let Kind::Table(keys, words) = self.key(name).kind else { panic!("`{name}` is no table") };
        let item = self.item(name)?;
        match &item.value {
            Value::Text(text) => {
                if let Some(word) = words.iter().find(|w| *w == text) {
                    return Some(Or::Word(word));
                }
                let title = format!("`{text}` is not a value of `{name}`");
                self.wrong(name, item, title);
                None
            }
            Value::Table(_) => {
                let header = format!("[{}.{name}]", self.header.trim_matches(['[', ']']));
                Some(Or::Is(Fields::closed(header, keys, Some(item), self.out)))
            }
            other => {
                let title = format!("`{name}` cannot be {}", other.what());
                self.wrong(name, item, title);
                None
            }
        }
    }
}

/// A unit with a largest value that makes sense: beyond it sums of several would overflow.
pub(crate) trait Quantity: FromText {
    /// What is too large about it, if it is.
    fn too_large(&self) -> Option<&'static str>;
}

impl Quantity for Time {
    fn too_large(&self) -> Option<&'static str> {
        // 100 days
        (*self > Self::from_ms(8_640_000_000)).then_some("at most 8640000s (100 days)")
    }
}

impl Quantity for Bytes {
    fn too_large(&self) -> Option<&'static str> {
        (*self > Self::new(1_000_000_000_000_000)).then_some("at most 1000TB")
    }
}

impl Quantity for Ratio {
    fn too_large(&self) -> Option<&'static str> {
        None
    }
}

fn read_quantity<T: Quantity>(key: &Key, text: &str) -> Result<T, String> {
    let value: T = key.read(text).map_err(|error| error.to_string())?;
    match value.too_large() {
        Some(most) => Err(format!("`{}` is {text}, which is too large: {most}", key.name)),
        None => Ok(value),
    }
}

/// Refuses a delay of a component that is longer than a second.
pub(crate) fn short(f: &mut Fields<'_>, name: &str, time: &At<Time>) {
    if time.value > Time::from_ms(1000) {
        let title = format!("a `{name}` of {} is out of range", time.value);
        f.out.push(Diagnostic::error(title).maybe_at(time.span, "at most 1 s"));
    }
}

/// A key that a section does not have.
pub fn unknown_key(name: &str, span: Span, header: &str, known: &[&str]) -> Diagnostic {
    let owner = owner(header);
    let error = Diagnostic::error(format!("unknown key `{name}`"))
        .at(span, format!("{owner} has no such key"))
        .nearest(nearest(name, known.iter().copied()));
    error.help(format!("{owner} takes {}", known.join(", ")))
}

/// What messages call a section, or a file.
fn owner(header: &str) -> String {
    if header.contains('[') { format!("`{header}`") } else { header.to_owned() }
}

/// A name that is not among those there are.
pub fn unknown_name(what: &str, name: &str, there_are: &[impl AsRef<str>]) -> Diagnostic {
    let names: Vec<&str> = there_are.iter().map(AsRef::as_ref).collect();
    let error = Diagnostic::error(format!("there is no {what} `{name}`"));
    // a unit that was left out is more than a slip of the pen: `fct_mean` for `fct_mean_ps`
    let begins = || names.iter().copied().find(|n| name.len() > 2 && n.starts_with(name));
    let error = error.nearest(nearest(name, names.iter().copied()).or_else(begins));
    match names.is_empty() {
        true => error.help(format!("there is no {what} at all")),
        false => error.help(format!("there are: {}", names.join(", "))),
    }
}

/// The text up to its first full stop.
pub fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text.trim_end_matches('.'), |(first, _)| first)
}
