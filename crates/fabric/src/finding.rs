//! Findings: what is wrong, where, why, and what would mend it.

use crate::code::Code;
use weir_core::Severity;

/// Something that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its kind.
    pub code: &'static Code,
    /// Which of the files, by index.
    pub file: usize,
    /// The place in it as a JSON pointer; empty for the file as a whole.
    pub pointer: String,
    /// The line, where the file is no JSON.
    pub line: Option<usize>,
    /// What is wrong there.
    pub message: String,
    /// The headroom rule that was used, where one was.
    pub rule: Option<String>,
    /// Changes that mend it, of this or other files.
    pub changes: Vec<Change>,
}

impl Finding {
    /// A finding at a place.
    pub fn new(code: &'static Code, file: usize, pointer: String, message: String) -> Self {
        Self { code, file, pointer, line: None, message, rule: None, changes: Vec::new() }
    }

    /// With the rule that it rests on.
    #[must_use]
    pub fn by_rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// With a change that mends it.
    #[must_use]
    pub fn mended_by(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// How grave it is.
    pub fn severity(&self) -> Severity {
        self.code.severity
    }
}

/// A value that one field should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which file.
    pub file: usize,
    /// The keys that lead to the field.
    pub path: Vec<String>,
    /// Its value; `None`: the field goes.
    pub value: Option<String>,
}

impl Change {
    /// Sets a field.
    pub fn set(file: usize, path: &[&str], value: impl ToString) -> Self {
        let path = path.iter().map(|&key| key.to_owned()).collect();
        Self { file, path, value: Some(value.to_string()) }
    }

    /// Removes a field.
    pub fn remove(file: usize, path: &[&str]) -> Self {
        Self { value: None, ..Self::set(file, path, "") }
    }
}

/// A JSON pointer (RFC 6901) of these keys.
pub fn pointer(keys: &[&str]) -> String {
    let escape = |key: &&str| format!("/{}", key.replace('~', "~0").replace('/', "~1"));
    keys.iter().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_and_tildes_of_keys_are_escaped() {
        assert_eq!(pointer(&["PORT", "a/b~c"]), "/PORT/a~1b~0c");
    }
}
