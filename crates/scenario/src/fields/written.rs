//! What grids, experiments and claims ask of their sections besides single values: names with
//! their places, sections within sections, texts that become cells of tables.

use super::{At, Fields, unknown_name};
use crate::keys::Section;
use crate::text::{Diagnostic, Entry, Item, Span, Value, unfit_name};

impl<'a> Fields<'a> {
    /// Everything that was written, for sections whose keys only the caller knows.
    pub fn entries(&self) -> &'a [Entry] {
        self.table.map_or(&[], |table| &table.0)
    }

    /// The section from its first key on: a mistake of a section of many lines is shown there.
    #[must_use]
    pub fn from_first_key(mut self) -> Self {
        self.span = self.entries().first().map(|(_, key, _)| *key).or(self.span);
        self
    }

    /// Where `name` was written; the section if it was not.
    pub fn place(&self, name: &str) -> Option<Span> {
        self.item(name).map(|item| item.span).or(self.span)
    }

    /// Reports `name` as missing if it was not written.
    pub fn require(&mut self, name: &str) {
        if !self.given(name) {
            self.missing(name);
        }
    }

    /// Reports a mistake.
    pub fn error(&mut self, title: impl Into<String>, at: impl Into<Option<Span>>, label: &str) {
        self.out.push(Diagnostic::error(title).maybe_at(at.into(), label));
    }

    /// Reports a name that is not among those there are.
    pub fn unknown(
        &mut self,
        what: &str,
        name: &str,
        at: impl Into<Option<Span>>,
        there_are: &[impl AsRef<str>],
    ) {
        self.out.push(unknown_name(what, name, there_are).maybe_at(at.into(), ""));
    }

    /// Whether the section has a key of this name.
    pub fn takes(&self, name: &str) -> bool {
        self.keys.iter().any(|key| key.name == name)
    }

    /// Text, and where it stands.
    pub fn text_at(&mut self, name: &str) -> Option<(String, Span)> {
        let At { value, span } = self.text(name)?;
        Some((value, span?))
    }

    /// Text without the blanks around it; empty where there is none.
    pub fn trimmed(&mut self, name: &str) -> String {
        self.text(name).map_or_else(String::new, |text| text.value.trim().to_owned())
    }

    /// Text that must be there, without the blanks around it, and is not empty.
    pub fn required(&mut self, name: &str) -> String {
        let text = self.required_text(name);
        if let Some(text) = text.as_ref().filter(|text| text.value.trim().is_empty()) {
            self.error(format!("`{name}` is empty"), text.span, "");
        }
        text.map_or_else(String::new, |text| text.value.trim().to_owned())
    }

    /// Names, and where each stands; one name is a list of one.
    pub fn names_at(&mut self, name: &str) -> Vec<(String, Span)> {
        let names = self.names(name).unwrap_or_default();
        names.into_iter().filter_map(|At { value, span }| Some((value, span?))).collect()
    }

    /// One of the words of a choice; `None` when nothing (right) was written.
    pub fn optional_choice(&mut self, name: &str) -> Option<&'static str> {
        let word = self.choice(name);
        word.span.map(|_| word.value)
    }

    /// The items of a list; a single value is a list of one.
    pub fn items(&self, name: &str) -> &'a [Item] {
        match self.item(name) {
            Some(Item { value: Value::List(items), .. }) => items,
            Some(one) => std::slice::from_ref(one),
            None => &[],
        }
    }

    /// The tables of `[[name]]`.
    pub fn tables(&mut self, section: &Section) -> Vec<&'a Item> {
        let mut tables = Vec::new();
        for item in self.items(section.name) {
            match item.value {
                Value::Table(_) => tables.push(item),
                // says that it is none
                _ => drop(Fields::new(section, Some(item), self.out)),
            }
        }
        tables
    }

    /// Checks texts that become cells of CSV files.
    pub fn check_cells(&mut self, names: &[&str]) {
        for name in names {
            if let Some(item) = self.item(name) {
                self.check_cell(&format!("`{name}`"), item);
            }
        }
    }

    /// Checks a value, if it is text, that becomes a cell of CSV files.
    pub fn check_cell(&mut self, what: &str, item: &Item) {
        let Value::Text(text) = &item.value else { return };
        // other characters are refused in every text, line breaks become blanks
        let Some(why) = unfit_name(&text.replace(['\n', '\r', '\t'], " ")) else { return };
        let error = Diagnostic::error(format!("{what} cannot stand in a table"));
        self.out.push_of_name(error.at(item.span, why).help("begin it with a word"));
    }

    /// An `id` that names directories or stands on command lines: a letter or a digit, then
    /// what `plain` allows.
    pub fn check_id(&mut self, id: &str, plain: &str) {
        let at = self.place("id");
        let fits = |c: char| c.is_ascii_alphanumeric() || plain.contains(c);
        if !id.is_empty() && !id.chars().all(fits) {
            let marks: Vec<String> = plain.chars().map(|c| format!("`{c}`")).collect();
            let title = format!("`id` is letters, digits and {}", marks.join(", "));
            self.error(title, at, "it names a directory and stands on command lines");
        } else if id.starts_with(|c: char| !c.is_ascii_alphanumeric()) {
            self.error("`id` begins with a letter or a digit", at, "it names a directory");
        }
    }
}
