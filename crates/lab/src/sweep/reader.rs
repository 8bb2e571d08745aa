//! Reads tables of files of ours that are no scenarios: grids, experiments, claims.

use super::seeds;
use crate::scenario::unknown_key;
use crate::text::{
    Diagnostic, Diagnostics, Item, SourceId, Sources, Span, Table, Value, path_steps,
};
use crate::variant::{self, Change};

/// Reads tables of one source; what is wrong goes to `out`.
pub(crate) struct Reader<'a> {
    pub(crate) id: SourceId,
    pub(crate) sources: &'a Sources,
    pub(crate) out: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// Reports a mistake at a place.
    pub(crate) fn error(&mut self, title: impl Into<String>, at: Span, label: &str) {
        self.out.push(Diagnostic::error(title).at(at, label));
    }

    /// Reports keys that `owner` does not have.
    pub(crate) fn refuse_unknown(&mut self, table: &Table, owner: &str, known: &[&str]) {
        for (name, span, _) in &table.0 {
            if !known.contains(&name.as_str()) {
                self.out.push(unknown_key(name, *span, owner, known));
            }
        }
    }

    /// The text of a key, and where it stands.
    pub(crate) fn text(&mut self, table: &Table, key: &str) -> Option<(String, Span)> {
        let item = table.get(key)?;
        if let Value::Text(text) = &item.value {
            return Some((text.clone(), item.span));
        }
        let title = format!("`{key}` is text, not {}", item.value.what());
        self.error(title, item.span, "");
        None
    }

    /// A whole number from 1 to `most`.
    pub(crate) fn whole(&mut self, table: &Table, key: &str, most: u64) -> Option<u64> {
        let item = table.get(key)?;
        let number = item.value.text().and_then(|text| text.parse().ok());
        if let Some(n) = number.filter(|n| (1..=most).contains(n)) {
            return Some(n);
        }
        let title = format!("`{key}` is a whole number from 1 to {most}");
        self.error(title, item.span, "");
        None
    }

    /// An item that must be a table.
    pub(crate) fn table<'t>(&mut self, name: &str, item: &'t Item) -> Option<&'t Table> {
        if let Value::Table(table) = &item.value {
            return Some(table);
        }
        let title = format!("`{name}` is a table, not {}", item.value.what());
        self.error(title, item.span, "");
        None
    }

    /// The tables of `[[name]]`.
    pub(crate) fn repeated<'t>(&mut self, root: &'t Table, name: &str) -> Vec<(&'t Table, Span)> {
        let Some(item) = root.get(name) else { return Vec::new() };
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        let header = format!("[[{name}]]");
        items.iter().filter_map(|i| Some((self.table(&header, i)?, i.span))).collect()
    }

    /// The parts of a key that is written as a value.
    pub(crate) fn path(&mut self, item: &Item) -> Option<Vec<(String, Span)>> {
        let Value::Text(path) = &item.value else {
            let title = format!("a key of the scenario is text, not {}", item.value.what());
            self.error(title, item.span, "such as \"switch.buffer\" or \"traffic.0.size\"");
            return None;
        };
        // behind the quotation mark, unless the text was written with escapes
        let written = self.sources.text(item.span);
        let offset = written.find(path.as_str()).unwrap_or(0);
        match path_steps(path, self.id, item.span.start + offset) {
            Ok(steps) => Some(steps.into_iter().map(|(name, at)| (name.to_owned(), at)).collect()),
            Err(error) => {
                self.out.push(error);
                None
            }
        }
    }

    /// The key `seeds`.
    pub(crate) fn seeds(&mut self, root: &Table) -> Option<Vec<u64>> {
        let item = root.get("seeds")?;
        let read = |item: &Item| match &item.value {
            Value::Number(text) | Value::Text(text) => seeds::parse(text),
            other => Err(format!("a seed is a whole number, not {}", other.what())),
        };
        let found = match &item.value {
            Value::List(items) => {
                let all: Result<Vec<_>, _> = items.iter().map(read).collect();
                all.map(|all| all.concat())
            }
            _ => read(item),
        };
        let found = found.and_then(|seeds| match (seeds.is_empty(), seeds::twice(&seeds)) {
            (true, _) => Err("there are no seeds: there would be no runs".to_owned()),
            (_, Some(seed)) => Err(format!("seed {seed} is given twice")),
            _ => Ok(seeds),
        });
        match found {
            Ok(seeds) => Some(seeds),
            Err(why) => {
                self.error(why, item.span, "write \"1..10\" or [1, 2, 5]");
                None
            }
        }
    }

    /// The key `set`.
    pub(crate) fn sets(&mut self, root: &Table) -> Vec<Change> {
        let Some(item) = root.get("set") else { return Vec::new() };
        let Some(table) = self.table("[set]", item) else { return Vec::new() };
        let mut changes = Vec::new();
        for (key, at, item) in &table.0 {
            variant::flatten(key, *at, item, &[], &mut changes, self.out);
        }
        changes
    }
}
