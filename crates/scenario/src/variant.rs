//! Variants: the rows of a comparison. A scheme with parameters, a congestion control, and changes
//! of any key of the scenario, under a name.
//!
//! ```toml
//! [[variant]]
//! label = "DCQCN+PFC"
//! scheme = "pfc"
//! cc = "dcqcn"
//! pause-quanta = 100                  # a parameter of the scheme
//! switch.buffer = "12MB"              # any key of the scenario
//! ```
//!
//! On the command line the same is `--variant 'DCQCN+PFC: pfc, cc=dcqcn, pause-quanta=100,
//! switch.buffer=12MB'`. Scenarios, grids of sweeps and the command line speak one language.

use crate::fields::Fields;
use crate::keys::SECTIONS;
use crate::text::{
    Diagnostic, Diagnostics, Item, NAME_RULE, Sources, Span, Table, Value, parse_value, unfit_name,
};
use weir_net::nearest;

/// More rows than this are no table that anybody reads.
pub const MOST: usize = 100;

/// A value for a key of the scenario, and where both were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The parts of the key.
    pub path: Vec<(String, Span)>,
    /// The value.
    pub item: Item,
}

impl Change {
    /// The change as `--set` takes it.
    pub fn set(&self) -> String {
        let path: Vec<&str> = self.path.iter().map(|(name, _)| name.as_str()).collect();
        format!("{}={}", path.join("."), self.item.value.toml())
    }
}

/// A row of a comparison as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantSpec {
    /// What tables call it.
    pub label: String,
    /// Where it is written.
    pub at: Span,
    /// The scheme, instead of the scenario's.
    pub scheme: Option<(String, Span)>,
    /// The congestion control, instead of the scenario's.
    pub cc: Option<(String, Span)>,
    /// Parameters of the scheme and keys of the scenario.
    pub changes: Vec<Change>,
}

impl VariantSpec {
    /// A scheme with the settings of the scenario.
    pub fn of_scheme(name: &str, at: Span) -> Self {
        let label = title(name);
        Self { label, at, scheme: Some((name.to_owned(), at)), cc: None, changes: Vec::new() }
    }
}

/// What tables call a scheme.
fn title(name: &str) -> String {
    weir_fc::scheme(name).map_or(name, |s| s.title).to_owned()
}

/// The `[[variant]]` tables of a scenario or a grid, if it has any.
pub fn read_all(item: Option<&Item>, out: &mut Diagnostics) -> Vec<VariantSpec> {
    let Some(item) = item else { return Vec::new() };
    let items = match &item.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    let mut specs = Vec::new();
    for item in items {
        match &item.value {
            Value::Table(table) => specs.extend(read(table, item.span, out)),
            other => {
                let title = format!("`[[variant]]` is a table, not {}", other.what());
                out.push(Diagnostic::error(title).at(item.span, ""));
            }
        }
    }
    check(&specs, out);
    specs
}

/// Reads the table of one variant, which is written at `span`.
fn read(table: &Table, span: Span, out: &mut Diagnostics) -> Option<VariantSpec> {
    let mut text = |key: &str| {
        let item = table.get(key)?;
        if let Value::Text(text) = &item.value {
            return Some((text.clone(), item.span));
        }
        let title = format!("`{key}` is text, not {}", item.value.what());
        out.push(Diagnostic::error(title).at(item.span, ""));
        None
    };
    let (scheme, cc, label) = (text("scheme"), text("cc"), text("label"));
    let named = label.or_else(|| scheme.as_ref().map(|(name, at)| (title(name), *at)));
    let Some((label, at)) = named else {
        if ["label", "scheme"].iter().all(|key| table.get(key).is_none()) {
            let error = Diagnostic::error("a variant needs `label` or `scheme`");
            out.push(error.at(span, "its name in tables"));
        }
        return None;
    };
    check_label(&label, at, out);
    let mut changes = Vec::new();
    for (key, at, item) in &table.0 {
        if matches!(key.as_str(), "label" | "scheme" | "cc") {
            continue;
        }
        let section = key.split('.').next().unwrap_or_default();
        if section == "variant" {
            out.push(Diagnostic::error("a variant cannot contain variants").at(*at, ""));
        } else if SECTIONS.iter().any(|s| s.name == section) {
            flatten(key, *at, item, &[], &mut changes, out);
        } else if let Some((scheme, _)) = &scheme {
            let before = [("flow-control".to_owned(), *at), (scheme.clone(), *at)];
            flatten(key, *at, item, &before, &mut changes, out);
        } else {
            let error = Diagnostic::error(format!("`{key}` is not a section of a scenario"));
            let error =
                error.at(*at, "write parameters of the scheme in the same table as `scheme`");
            out.push(error.nearest(nearest(section, SECTIONS.iter().map(|s| s.name))));
        }
    }
    Some(VariantSpec { label, at, scheme, cc, changes })
}

/// A label names rows, lines and files.
fn check_label(label: &str, at: Span, out: &mut Diagnostics) {
    const LONGEST: usize = 60;
    let error = Diagnostic::error("this cannot be the `label` of a variant");
    out.push_of_name(match unfit_name(label) {
        Some(why) => error.at(at, why).help(NAME_RULE),
        None if label.trim().is_empty() => error.at(at, "it is empty"),
        None if label.chars().count() > LONGEST => error.at(at, "it is longer than 60 characters"),
        None => return,
    });
}

/// Labels are unique, and there are not too many.
pub fn check(specs: &[VariantSpec], out: &mut Diagnostics) {
    for (i, spec) in specs.iter().enumerate() {
        if let Some(other) = specs[..i].iter().find(|v| v.label == spec.label) {
            let error = Diagnostic::error(format!("two variants have the label `{}`", spec.label));
            let error = error.at(spec.at, "").context(other.at, "the first");
            out.push(error.help("give each a different `label`"));
            return;
        }
    }
    if let Some(first) = specs.get(MOST) {
        let error = Diagnostic::error(format!("there are {} variants", specs.len()));
        out.push(error.at(first.at, format!("at most {MOST} can be compared")));
    }
}

/// Changes for the keys of nested tables; a quoted key may have several parts.
pub fn flatten(
    key: &str,
    at: Span,
    item: &Item,
    before: &[(String, Span)],
    changes: &mut Vec<Change>,
    out: &mut Diagnostics,
) {
    let mut path = before.to_vec();
    for part in key.split('.') {
        if part.trim().is_empty() {
            out.push(Diagnostic::error("a path has no empty parts").at(at, ""));
            return;
        }
        path.push((part.trim().to_owned(), at));
    }
    match &item.value {
        Value::Table(table) if !table.0.is_empty() => {
            for (key, at, item) in &table.0 {
                flatten(key, *at, item, &path, changes, out);
            }
        }
        _ => changes.push(Change { path, item: item.clone() }),
    }
}

/// The changes that a table of keys of the scenario makes: `set = { switch.buffer = "1MB" }`.
pub fn sets(f: &mut Fields<'_>, name: &str) -> Vec<Change> {
    let Some(item) = f.item(name) else { return Vec::new() };
    let table = Fields::open(format!("[{name}]"), &[], Some(item), f.out);
    let mut changes = Vec::new();
    for (key, at, item) in table.entries() {
        flatten(key, *at, item, &[], &mut changes, table.out);
    }
    changes
}

/// Reads `LABEL: SCHEME, cc=NAME, KEY=VALUE, ...` of the command line. The label may be left out,
/// and the scheme, which is then the scenario's.
pub fn parse(text: &str, sources: &mut Sources, out: &mut Diagnostics) -> Option<VariantSpec> {
    let id = sources.add("--variant", text);
    let all = id.span(0..text.len());
    // a colon behind an `=` belongs to a value
    let colon = text.find(':').filter(|at| !text[..*at].contains('='));
    let mut table = Table::default();
    let put = |table: &mut Table, key: &str, at: std::ops::Range<usize>, item: Item| {
        table.0.push((key.to_owned(), id.span(at), item));
    };
    if let Some(colon) = colon {
        let label =
            Item { span: id.span(0..colon), value: Value::Text(text[..colon].trim().into()) };
        put(&mut table, "label", 0..colon, label);
    }
    let start = colon.map_or(0, |at| at + 1);
    let mut shown = Vec::new();
    for (i, part) in parts(text, start).into_iter().enumerate() {
        let written = &text[part.clone()];
        let Some((key, value)) = written.split_once('=') else {
            if i > 0 || written.is_empty() {
                let what = if written.is_empty() { "an entry is empty" } else { "" };
                let error = Diagnostic::error("a variant is `LABEL: SCHEME, KEY=VALUE, ...`");
                let error = error.at(id.span(part.start..part.end.max(part.start + 1)), what);
                out.push(error.help("for example --variant 'BFC-32Q: bfc, queues=32'"));
                return None;
            }
            let scheme = Item { span: id.span(part.clone()), value: Value::Text(written.into()) };
            shown.push(title(written));
            put(&mut table, "scheme", part, scheme);
            continue;
        };
        let at = part.start..part.start + key.trim_end().len();
        let offset = part.start + key.len() + 1 + value.len() - value.trim_start().len();
        let value = value.trim();
        let plain = || Item {
            span: id.span(offset..offset + value.len()),
            value: Value::Text(value.to_owned()),
        };
        // what is no TOML value is text that needs no quotes here
        let item = match key.trim_end() {
            "scheme" | "cc" | "label" => plain(),
            _ => parse_value(value, id, offset).unwrap_or_else(plain),
        };
        shown.push(written.to_owned());
        put(&mut table, key.trim_end(), at, item);
    }
    if table.get("label").is_none() {
        let label = Item { span: all, value: Value::Text(shown.join(" ")) };
        put(&mut table, "label", 0..text.len(), label);
    }
    read(&table, all, out)
}

/// The parts of a text from byte `start` on that are separated by commas outside of brackets and
/// quotation marks, without the blanks around them.
fn parts(text: &str, start: usize) -> Vec<std::ops::Range<usize>> {
    let (mut parts, mut from, mut depth, mut quote) = (Vec::new(), start, 0i32, None);
    let mut end = |from: usize, to: usize| {
        let part = &text[from..to];
        let from = from + part.len() - part.trim_start().len();
        parts.push(from..from.max(from + part.trim().len()));
    };
    for (i, c) in text.char_indices().filter(|(i, _)| *i >= start) {
        match (quote, c) {
            (Some(q), _) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth <= 0 => {
                end(from, i);
                from = i + 1;
            }
            _ => {}
        }
    }
    end(from, text.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<VariantSpec, String> {
        let (mut sources, mut out) = (Sources::default(), Diagnostics::default());
        let spec = parse(text, &mut sources, &mut out);
        let found = out.plain(&sources);
        spec.filter(|_| found.is_empty()).ok_or(found)
    }

    #[test]
    fn the_command_line_says_what_a_file_says() {
        let text = "DCQCN+PFC : pfc, cc=dcqcn, switch.buffer=12MB, on-full=stop, \
                    switch.weights=[1, 2]";
        let spec = parsed(text).unwrap();
        let scheme = spec.scheme.as_ref().map(|(s, _)| s.as_str());
        assert_eq!((spec.label.as_str(), scheme), ("DCQCN+PFC", Some("pfc")));
        assert_eq!(spec.cc.as_ref().map(|(s, _)| s.as_str()), Some("dcqcn"));
        let sets: Vec<String> = spec.changes.iter().map(Change::set).collect();
        let expected =
            ["switch.buffer=12MB", "flow-control.pfc.on-full=stop", "switch.weights=[1, 2]"];
        assert_eq!(sets, expected);
    }

    #[test]
    fn a_label_is_made_of_the_rest_if_there_is_none() {
        assert_eq!(parsed("bfc, queues=32").unwrap().label, "BFC queues=32");
        assert_eq!(parsed("pfc").unwrap().label, "PFC");
        assert_eq!(parsed("big: switch.buffer=1GB").unwrap().scheme, None);
        let spec = parsed("switch.buffer=\"a:b\"").unwrap();
        assert_eq!(spec.label, "switch.buffer=\"a:b\"", "a colon within a value ends no label");
    }

    #[test]
    fn what_is_no_variant_is_shown_with_a_caret() {
        for (text, part) in [
            ("", "LABEL: SCHEME"),
            ("x: pfc, 7", "LABEL: SCHEME"),
            ("x: pfc,, a=1", "an entry is empty"),
            ("x: queues=7", "`queues` is not a section of a scenario"),
            (": pfc", "it is empty"),
            ("x: pfc, a..b=1", "empty parts"),
            ("x: pfc, variant.0=1", "cannot contain variants"),
        ] {
            let found = parsed(text).unwrap_err();
            assert!(found.contains(part) && found.contains("--variant:1:"), "{text}: {found}");
        }
        assert!(parsed(&format!("{}: pfc", "x".repeat(61))).unwrap_err().contains("60 characters"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[a-zé:=,. \"'\\[\\]{}0-9-]{0,40}") {
            let _ = parsed(&text);
        }
    }
}
