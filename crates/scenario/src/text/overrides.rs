//! `--set path=value`: values from the command line, checked like those of the file.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::source::{SourceId, Sources, Span};
use super::tree::{Item, Table, Value, parse_value};

/// No scenario is nested as deeply as this.
const DEEPEST: usize = 16;

/// Puts the value of `path=value` into the tree. The path names keys, and positions or classes
/// in lists of tables: `switch.thresholds.xoff`, `traffic.0.size`, `traffic.victim.size`.
pub fn apply(root: &mut Table, text: &str, sources: &mut Sources, diagnostics: &mut Diagnostics) {
    let Some((steps, item)) = read(text, sources, diagnostics) else { return };
    if let Err(problem) = put(root, &steps, item) {
        diagnostics.push(problem);
    }
}

/// The steps and the value of `path=value`, with their places in a source of its own.
pub fn read<'t>(
    text: &'t str,
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Option<(Vec<(&'t str, Span)>, Item)> {
    let id = sources.add("--set", text);
    let Some((path, value)) = text.split_once('=') else {
        let all = id.span(0..text.len());
        diagnostics.push(
            Diagnostic::error("`--set` takes a path and a value")
                .at(all, "it has no `=`")
                .help("for example --set switch.thresholds.xoff=90KB or --set traffic.0.size=1MB"),
        );
        return None;
    };
    let offset = path.len() + 1 + value.len() - value.trim_start().len();
    let value = value.trim();
    // What is no TOML value is a string that needs no quotes here.
    let item = parse_value(value, id, offset).unwrap_or_else(|| Item {
        span: id.span(offset..offset + value.len()),
        value: Value::Text(value.to_owned()),
    });
    match steps(path, id, 0) {
        Ok(steps) => Some((steps, item)),
        Err(problem) => {
            diagnostics.push(problem);
            None
        }
    }
}

/// The parts of a path that stands at byte `at` of a source, each with its place.
pub fn steps(path: &str, id: SourceId, at: usize) -> Result<Vec<(&str, Span)>, Diagnostic> {
    let at_start = at;
    let mut at = at;
    let mut steps = Vec::new();
    for step in path.split('.') {
        let blank = step.len() - step.trim_start().len();
        let name = step.trim();
        steps.push((name, id.span(at + blank..at + blank + name.len())));
        at += step.len() + 1;
    }
    if steps.len() > DEEPEST {
        let span = id.span(at_start..at_start + path.len().min(40));
        let title = format!("a path has at most {DEEPEST} parts");
        return Err(Diagnostic::error(title).at(span, format!("this has {}", steps.len())));
    }
    match steps.iter().find(|(name, _)| name.is_empty()) {
        None => Ok(steps),
        Some((_, span)) => {
            let empty = Diagnostic::error("a path has no empty parts");
            Err(empty.at(Span { end: span.end.max(span.start + 1), ..*span }, ""))
        }
    }
}

/// Puts a value where the steps of a path lead.
pub fn put(table: &mut Table, steps: &[(&str, Span)], item: Item) -> Result<(), Diagnostic> {
    let [(key, span), rest @ ..] = steps else { return Ok(()) };
    if rest.is_empty() {
        table.insert(key, *span, item);
        return Ok(());
    }
    if table.get(key).is_none() {
        table.insert(key, *span, Item { span: *span, value: Value::Table(Table::default()) });
    }
    let entry = table.0.iter_mut().find(|(name, ..)| name == key);
    let (.., inner) = entry.expect("it was just made");
    match &mut inner.value {
        Value::Table(table) => put(table, rest, item),
        Value::List(items) => put_into_list(key, items, rest, item),
        other => Err(Diagnostic::error(format!("`{key}` is {}, not a table", other.what()))
            .at(rest[0].1, "so it has no keys")),
    }
}

fn put_into_list(
    list: &str,
    items: &mut [Item],
    steps: &[(&str, Span)],
    item: Item,
) -> Result<(), Diagnostic> {
    let (wanted, span) = steps[0];
    let count = items.len();
    let by_class = |item: &Item| match &item.value {
        Value::Table(table) => {
            table.get("class").and_then(|class| class.value.text()).is_some_and(|c| c == wanted)
        }
        _ => false,
    };
    let position = match wanted.parse::<usize>() {
        Ok(n) => Some(n).filter(|&n| n < count),
        Err(_) => items.iter().position(by_class),
    };
    let Some(found) = position.and_then(|n| items.get_mut(n)) else {
        return Err(Diagnostic::error(format!("`{list}` has no entry `{wanted}`"))
            .at(span, format!("there are {count}, counted from 0"))
            .help(format!("write a position such as {list}.0, or the class of an entry")));
    };
    match (&mut found.value, &steps[1..]) {
        (Value::Table(table), rest @ [_, ..]) => put(table, rest, item),
        (_, []) => {
            *found = item;
            Ok(())
        }
        (other, [(_, span), ..]) => {
            Err(Diagnostic::error(format!("`{list}.{wanted}` is {}, not a table", other.what()))
                .at(*span, "so it has no keys"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse;
    use super::*;

    const FILE: &str = "[switch]\nthresholds = { xoff = \"75KB\" }\n\
                        [[traffic]]\nclass = \"victim\"\nsize = 1\n[[traffic]]\nclass = \"b\"\n";

    fn after(set: &str) -> (Table, String) {
        let mut sources = Sources::default();
        let id = sources.add("x.toml", FILE);
        let mut found = Diagnostics::default();
        let mut table = parse(&sources, id, &mut found);
        apply(&mut table, set, &mut sources, &mut found);
        (table, found.plain(&sources))
    }

    fn value(table: &Table, path: &[&str]) -> String {
        let mut item = table.get(path[0]).expect("first key");
        for step in &path[1..] {
            item = match &item.value {
                Value::Table(table) => table.get(step).expect("key"),
                Value::List(items) => &items[step.parse::<usize>().expect("position")],
                _ => panic!("nothing inside"),
            };
        }
        item.value.text().expect("a single value")
    }

    #[test]
    fn a_value_is_replaced_or_added() {
        for (set, path, expected) in [
            ("switch.thresholds.xoff=90KB", vec!["switch", "thresholds", "xoff"], "90KB"),
            ("switch.thresholds.xon = '5KB'", vec!["switch", "thresholds", "xon"], "5KB"),
            ("traffic.1.size=7", vec!["traffic", "1", "size"], "7"),
            ("traffic.victim.size=8", vec!["traffic", "0", "size"], "8"),
            ("run.until=1ms", vec!["run", "until"], "1ms"),
            ("nic.a.b=true", vec!["nic", "a", "b"], "true"),
        ] {
            let (table, found) = after(set);
            assert_eq!((found.as_str(), value(&table, &path).as_str()), ("", expected), "{set}");
        }
    }

    #[test]
    fn a_path_has_a_bounded_number_of_parts() {
        let (_, found) = after(&format!("{}=1", vec!["a"; 20_000].join(".")));
        assert!(found.contains("at most 16 parts") && found.contains("this has 20000"), "{found}");
        assert_eq!(after(&format!("{}=1", vec!["a"; 16].join("."))).1, "");
    }

    #[test]
    fn a_wrong_path_is_shown_with_a_caret() {
        for (set, part) in [
            ("xoff", "no `=`"),
            ("traffic.2.size=1", "there are 2, counted from 0"),
            ("traffic.nobody.size=1", "no entry `nobody`"),
            ("traffic.0.size.x=1", "`size` is a number"),
            ("a..b=1", "empty parts"),
        ] {
            let (_, found) = after(set);
            assert!(found.contains(part) && found.contains("--> --set:1:"), "{found}");
        }
    }
}
