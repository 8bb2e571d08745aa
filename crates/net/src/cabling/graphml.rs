//! GraphML: `<node id=".."/>`, `<edge source=".." target=".."/>` and `<data key="..">` in them.

use super::{Cable, CablingError, KIND, LENGTH, List, SPEED, is};
use std::collections::BTreeMap;

/// A tag: its name, attributes, whether it opens and closes.
struct Tag {
    line: usize,
    name: String,
    attributes: BTreeMap<String, String>,
    closes: bool,
    /// It has no content.
    empty: bool,
    /// The text behind it, up to the next tag.
    text: String,
}

fn unescape(text: &str) -> String {
    let mut text = text.to_owned();
    for (code, sign) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
    {
        text = text.replace(code, sign);
    }
    text
}

fn tags(text: &str) -> Result<Vec<Tag>, CablingError> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(open) = rest.find('<') {
        line += rest[..open].matches('\n').count();
        let from = &rest[open..];
        let (end, skip) = match from {
            _ if from.starts_with("<!--") => (from.find("-->").map(|i| i + 2), true),
            _ if from.starts_with("<![CDATA[") => (from.find("]]>").map(|i| i + 2), true),
            _ if from.starts_with("<?") || from.starts_with("<!") => (from.find('>'), true),
            _ => (from.find('>'), false),
        };
        let Some(end) = end else {
            return Err(CablingError::new(line, "a tag is not closed: `<` without `>`"));
        };
        let inside = from[1..end].trim();
        rest = &from[end + 1..];
        if !skip {
            let (closes, inside) = match inside.strip_prefix('/') {
                Some(name) => (true, name),
                None => (false, inside),
            };
            let empty = inside.ends_with('/');
            let inside = inside.trim_end_matches('/');
            let (name, attributes) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
            let name = name.rsplit(':').next().unwrap_or(name).to_owned();
            let text = content(rest);
            let attributes = read_attributes(attributes, line)?;
            found.push(Tag { line, name, attributes, closes, empty, text });
        }
        line += from[..=end].matches('\n').count();
    }
    Ok(found)
}

/// The text up to the next tag.
fn content(rest: &str) -> String {
    if let Some((text, _)) =
        rest.trim_start().strip_prefix("<![CDATA[").and_then(|t| t.split_once("]]>"))
    {
        return text.trim().to_owned();
    }
    unescape(rest[..rest.find('<').unwrap_or(rest.len())].trim())
}

/// `name="value"` or `name='value'`, again and again.
fn read_attributes(text: &str, line: usize) -> Result<BTreeMap<String, String>, CablingError> {
    let mut found = BTreeMap::new();
    let mut rest = text.trim();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let mark = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = mark.and_then(|mark| after[1..].split_once(mark));
        let Some((value, behind)) = value else {
            let name = name.trim();
            return Err(CablingError::new(
                line,
                format!("the value of `{name}` needs quotation marks"),
            ));
        };
        found.insert(name.trim().to_owned(), unescape(value));
        rest = behind.trim_start();
    }
    Ok(found)
}

/// The node or edge that is being read.
enum Element {
    Node(String),
    Edge(Cable),
}

pub(super) fn read(text: &str) -> Result<List, CablingError> {
    let mut keys: BTreeMap<String, String> = BTreeMap::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut list = List::default();
    let mut element: Option<Element> = None;
    // `<key id=".." attr.name="speed"><default>100G</default></key>`
    let (mut key, mut defaults) = (None, [None, None]);
    for tag in tags(text)? {
        let get = |name: &str| tag.attributes.get(name).cloned();
        match (tag.name.as_str(), tag.closes) {
            ("key", false) => {
                if let (Some(id), Some(name)) = (get("id"), get("attr.name")) {
                    key = (!tag.empty && get("for").is_none_or(|f| f == "edge" || f == "all"))
                        .then(|| name.clone());
                    keys.insert(id, name);
                }
            }
            ("key", true) => key = None,
            ("default", false) => {
                for (default, known) in defaults.iter_mut().zip([SPEED, LENGTH]) {
                    if key.as_ref().is_some_and(|name| is(name, known)) {
                        *default = Some(tag.text.clone()).filter(|text| !text.is_empty());
                    }
                }
            }
            ("graph", false) => {
                list.directed = get("edgedefault").is_some_and(|how| how == "directed");
            }
            ("node", false) => {
                let wrong = || CablingError::new(tag.line, "a <node> needs an `id`");
                let id = get("id").ok_or_else(wrong)?;
                list.node(&id);
                element = (!tag.empty).then_some(Element::Node(id));
            }
            ("edge", false) => {
                let ends = get("source").zip(get("target"));
                let wrong = || CablingError::new(tag.line, "an <edge> needs `source` and `target`");
                let (a, b) = ends.ok_or_else(wrong)?;
                let ports = [get("sourceport"), get("targetport")];
                let cable = Cable { line: tag.line, ends: [a, b], ports, ..Cable::default() };
                match tag.empty {
                    true => list.cable(cable),
                    false => element = Some(Element::Edge(cable)),
                }
            }
            ("data", false) => {
                let key = get("key").unwrap_or_default();
                let name = keys.get(&key).unwrap_or(&key).clone();
                note(&mut list, element.as_mut(), &name, &tag.text, &mut names);
            }
            // how one editor writes labels
            ("NodeLabel", false) => {
                note(&mut list, element.as_mut(), "label", &tag.text, &mut names);
            }
            ("node", true) => element = None,
            ("edge", true) => {
                if let Some(Element::Edge(cable)) = element.take() {
                    list.cable(cable);
                }
            }
            _ => {}
        }
    }
    for cable in &mut list.cables {
        let [speed, length] = defaults.clone();
        cable.speed = cable.speed.take().or(speed);
        cable.length = cable.length.take().or(length);
    }
    Ok(renamed(list, &names))
}

/// What a `<data>` says of the node or edge that it is in.
fn note(
    list: &mut List,
    element: Option<&mut Element>,
    name: &str,
    value: &str,
    names: &mut BTreeMap<String, String>,
) {
    if value.is_empty() {
        return;
    }
    match element {
        Some(Element::Node(id)) if is(name, KIND) => {
            list.kinds.insert(id.clone(), value.to_owned());
        }
        Some(Element::Node(id)) if is(name, &["name", "label"]) => {
            names.insert(id.clone(), value.to_owned());
        }
        Some(Element::Edge(cable)) if is(name, SPEED) => cable.speed = Some(value.to_owned()),
        Some(Element::Edge(cable)) if is(name, LENGTH) => cable.length = Some(value.to_owned()),
        _ => {}
    }
}

/// Nodes are called by their labels, where they have some of their own.
fn renamed(mut list: List, names: &BTreeMap<String, String>) -> List {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for id in &list.order {
        *times.entry(names.get(id).unwrap_or(id).clone()).or_default() += 1;
    }
    let own = |id: &String| names.get(id).filter(|name| times.get(*name) == Some(&1)).cloned();
    let name = |id: &String| own(id).unwrap_or_else(|| id.clone());
    list.order = list.order.iter().map(name).collect();
    list.kinds = list.kinds.iter().map(|(id, kind)| (name(id), kind.clone())).collect();
    for cable in &mut list.cables {
        cable.ends = cable.ends.each_ref().map(name);
    }
    list
}
