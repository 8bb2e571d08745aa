//! Reads tables of files of ours that are no scenarios: grids, experiments, claims.

use super::seeds;
use weir_scenario::text::{
    Diagnostic, Diagnostics, Item, SourceId, Sources, Span, Table, Value, path_steps, unfit_name,
};
use weir_scenario::unknown_key;
use weir_scenario::variant::{self, Change};

/// Reads tables of one source; what is wrong goes to `out`.
pub struct Reader<'a> {
    /// The source.
    pub id: SourceId,
    /// All texts.
    pub sources: &'a Sources,
    /// What is wrong.
    pub out: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// Reports a mistake at a place.
    pub fn error(&mut self, title: impl Into<String>, at: Span, label: &str) {
        self.out.push(Diagnostic::error(title).at(at, label));
    }

    /// Reports keys that `owner` does not have.
    pub fn refuse_unknown(&mut self, table: &Table, owner: &str, known: &[&str]) {
        for (name, span, _) in &table.0 {
            if !known.contains(&name.as_str()) {
                self.out.push(unknown_key(name, *span, owner, known));
            }
        }
    }

    /// The text of a key, and where it stands.
    pub fn text(&mut self, table: &Table, key: &str) -> Option<(String, Span)> {
        let item = table.get(key)?;
        if let Value::Text(text) = &item.value {
            return Some((text.clone(), item.span));
        }
        let title = format!("`{key}` is text, not {}", item.value.what());
        self.error(title, item.span, "");
        None
    }

    /// A whole number from 1 to `most`.
    pub fn whole(&mut self, table: &Table, key: &str, most: u64) -> Option<u64> {
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
    pub fn table<'t>(&mut self, name: &str, item: &'t Item) -> Option<&'t Table> {
        if let Value::Table(table) = &item.value {
            return Some(table);
        }
        let title = format!("`{name}` is a table, not {}", item.value.what());
        self.error(title, item.span, "");
        None
    }

    /// The tables of `[[name]]`.
    pub fn repeated<'t>(&mut self, root: &'t Table, name: &str) -> Vec<(&'t Table, Span)> {
        let Some(item) = root.get(name) else { return Vec::new() };
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        let header = format!("[[{name}]]");
        items.iter().filter_map(|i| Some((self.table(&header, i)?, i.span))).collect()
    }

    /// The parts of a key that is written as a value.
    pub fn path(&mut self, item: &Item) -> Option<Vec<(String, Span)>> {
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
    pub fn seeds(&mut self, root: &Table) -> Option<Vec<u64>> {
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
    pub fn sets(&mut self, root: &Table) -> Vec<Change> {
        let Some(item) = root.get("set") else { return Vec::new() };
        let Some(table) = self.table("[set]", item) else { return Vec::new() };
        let mut changes = Vec::new();
        for (key, at, item) in &table.0 {
            variant::flatten(key, *at, item, &[], &mut changes, self.out);
        }
        changes
    }

    /// A list of texts, or one.
    pub fn texts(&mut self, table: &Table, key: &str) -> Vec<(String, Span)> {
        let Some(item) = table.get(key) else { return Vec::new() };
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(text) => texts.push((text.clone(), item.span)),
                other => {
                    let title = format!("`{key}` is text or a list of texts, not {}", other.what());
                    self.error(title, item.span, "");
                }
            }
        }
        texts
    }

    /// True or false.
    pub fn truth(&mut self, table: &Table, key: &str) -> Option<bool> {
        let item = table.get(key)?;
        match item.value {
            Value::Bool(yes) => Some(yes),
            _ => {
                self.error(format!("`{key}` is true or false"), item.span, "");
                None
            }
        }
    }

    /// One of a few words.
    pub fn word<'w>(&mut self, table: &Table, key: &str, words: &[&'w str]) -> Option<&'w str> {
        let (text, at) = self.text(table, key)?;
        let found = words.iter().find(|w| **w == text);
        if found.is_none() {
            self.unknown(key, &text, at, words);
        }
        found.copied()
    }

    /// Text that must be there.
    pub fn required(&mut self, table: &Table, key: &str, owner: &str, at: Span) -> String {
        if table.get(key).is_none() {
            self.error(format!("{owner} needs `{key}`"), at, "");
        }
        let text = self.text(table, key);
        if let Some((_, at)) = text.as_ref().filter(|(text, _)| text.trim().is_empty()) {
            self.error(format!("`{key}` is empty"), *at, "");
        }
        text.map(|(text, _)| text.trim().to_owned()).unwrap_or_default()
    }

    /// Checks texts of a table that become cells of CSV files.
    pub fn check_cells(&mut self, table: &Table, keys: &[&str]) {
        for key in keys {
            if let Some(item) = table.get(key) {
                self.check_cell(&format!("`{key}`"), item);
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
    pub fn check_id(&mut self, root: &Table, id: &str, plain: &str, at: Span) {
        let at = root.get("id").map_or(at, |item| item.span);
        let fits = |c: char| c.is_ascii_alphanumeric() || plain.contains(c);
        if !id.is_empty() && !id.chars().all(fits) {
            let marks: Vec<String> = plain.chars().map(|c| format!("`{c}`")).collect();
            let title = format!("`id` is letters, digits and {}", marks.join(", "));
            self.error(title, at, "it names a directory and stands on command lines");
        } else if id.starts_with(|c: char| !c.is_ascii_alphanumeric()) {
            self.error("`id` begins with a letter or a digit", at, "it names a directory");
        }
    }

    /// Reports a name that is not among those there are.
    pub fn unknown(&mut self, what: &str, name: &str, at: Span, there_are: &[impl AsRef<str>]) {
        let names: Vec<&str> = there_are.iter().map(AsRef::as_ref).collect();
        let error = Diagnostic::error(format!("there is no {what} `{name}`")).at(at, "");
        // a unit that was left out is more than a slip of the pen: `fct_mean` for `fct_mean_ps`
        let begins = || names.iter().copied().find(|n| name.len() > 2 && n.starts_with(name));
        let error = error.nearest(weir_net::nearest(name, names.iter().copied()).or_else(begins));
        self.out.push(match names.is_empty() {
            true => error.help(format!("there is no {what} at all")),
            false => error.help(format!("there are: {}", names.join(", "))),
        });
    }
}
