//! DOT: `graph { leaf0 -- spine0 [speed="100G", length="5m"]; }`.

use super::{Cable, CablingError, KIND, LENGTH, List, SPEED, is};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Edge,
    Sign(char),
}

/// Words and signs with their lines; comments are left out.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, CablingError> {
    let mut found = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    let (mut i, mut line) = (0, 1);
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '%');
    while let Some(&c) = chars.get(i) {
        let next = chars.get(i + 1).copied();
        match c {
            '\n' => line += 1,
            _ if c.is_whitespace() => {}
            '#' => {
                while chars.get(i + 1).is_some_and(|&c| c != '\n') {
                    i += 1
                }
            }
            '/' if next == Some('/') => {
                while chars.get(i + 1).is_some_and(|&c| c != '\n') {
                    i += 1
                }
            }
            '/' if next == Some('*') => {
                while i < chars.len() && !(chars[i] == '*' && chars.get(i + 1) == Some(&'/')) {
                    line += usize::from(chars[i] == '\n');
                    i += 1;
                }
                i += 1;
            }
            '"' => {
                let (start, mut word) = (line, String::new());
                i += 1;
                loop {
                    match chars.get(i) {
                        None => {
                            return Err(CablingError::new(start, "a quotation mark is not closed"));
                        }
                        Some('"') => break,
                        Some('\\') if chars.get(i + 1) == Some(&'"') => {
                            word.push('"');
                            i += 1;
                        }
                        Some(&c) => {
                            line += usize::from(c == '\n');
                            word.push(c);
                        }
                    }
                    i += 1;
                }
                found.push((line, Token::Word(word)));
            }
            '-' if matches!(next, Some('-' | '>')) => {
                found.push((line, Token::Edge));
                i += 1;
            }
            _ if is_word(c) || c == '-' => {
                let start = i;
                let goes_on = |c: char, after: Option<&char>| {
                    is_word(c) || c == '-' && !matches!(after, Some('-' | '>'))
                };
                while chars.get(i + 1).is_some_and(|&c| goes_on(c, chars.get(i + 2))) {
                    i += 1;
                }
                let word = chars[start..=i].iter().collect();
                found.push((line, Token::Word(word)));
            }
            _ => found.push((line, Token::Sign(c))),
        }
        i += 1;
    }
    Ok(found)
}

/// `leaf0:eth1`, or `leaf0:eth1:n`: the device and its port. A side of the box that is drawn (`n`,
/// `sw`) is no port.
fn device(word: &str) -> (String, Option<String>) {
    const SIDES: [&str; 10] = ["n", "ne", "e", "se", "s", "sw", "w", "nw", "c", "_"];
    let mut parts = word.split(':');
    let name = parts.next().unwrap_or(word).to_owned();
    (name, parts.next().filter(|p| !p.is_empty() && !SIDES.contains(p)).map(str::to_owned))
}

/// What statements have that do not say: `node [type=leaf]`, `edge [speed=100G]`.
#[derive(Clone, Debug, Default)]
struct Scope {
    node: Attributes,
    edge: Attributes,
}

type Attributes = Vec<(String, String)>;

fn of(attributes: &[(String, String)], known: &[&str]) -> Option<String> {
    // the last one that is written counts
    attributes.iter().rev().find(|(name, _)| is(name, known)).map(|(_, value)| value.clone())
}

pub(super) fn read(text: &str) -> Result<List, CablingError> {
    let all = tokens(text)?;
    let open = all.iter().position(|(_, t)| *t == Token::Sign('{'));
    let Some(open) = open else {
        return Err(CablingError::new(1, "a DOT file is written: graph NAME { a -- b; }"));
    };
    let directed = |t: &(usize, Token)| matches!(&t.1, Token::Word(w) if w == "digraph");
    let mut list = List { directed: all[..open].iter().any(directed), ..List::default() };
    let (mut at, mut scopes) = (open + 1, vec![Scope::default()]);
    while at < all.len() {
        let scope = scopes.last().cloned().unwrap_or_default();
        let (line, start) = (all[at].0, at);
        let first = operand(&all, &mut at);
        if first.is_empty() {
            match all[start].1 {
                Token::Sign('{') => scopes.push(scope),
                Token::Sign('}') if scopes.len() > 1 => drop(scopes.pop()),
                _ => {}
            }
            at = start + 1;
            continue;
        }
        let mut chain = vec![first];
        while all.get(at).map(|t| &t.1) == Some(&Token::Edge) {
            at += 1;
            chain.push(operand(&all, &mut at));
            if chain.last().is_some_and(Vec::is_empty) {
                return Err(CablingError::new(line, "a cable needs two ends: a -- b"));
            }
        }
        let given = read_attributes(&all, &mut at)?;
        match &chain[..] {
            [names] => {
                let word = names[0].as_str();
                let defaults = scopes.last_mut().map(|scope| match word {
                    "node" => Some(&mut scope.node),
                    "edge" => Some(&mut scope.edge),
                    _ => None,
                });
                match defaults.flatten() {
                    Some(defaults) => defaults.extend(given),
                    None if matches!(word, "graph" | "subgraph") => {}
                    // an attribute of the graph
                    None if all.get(at).map(|t| &t.1) == Some(&Token::Sign('=')) => at += 2,
                    None => {
                        let attributes = [scope.node, given].concat();
                        node(&mut list, word, attributes, Said::OfTheNode);
                    }
                }
            }
            several => {
                for name in several.iter().flatten() {
                    node(&mut list, name, scope.node.clone(), Said::ByDefault);
                }
                let attributes = [scope.edge, given].concat();
                for pair in several.windows(2) {
                    let both = pair[0].iter().flat_map(|a| pair[1].iter().map(move |b| (a, b)));
                    for (a, b) in both {
                        let ((a, p), (b, q)) = (device(a), device(b));
                        let (speed, length) = (of(&attributes, SPEED), of(&attributes, LENGTH));
                        list.cable(Cable { line, ends: [a, b], ports: [p, q], speed, length });
                    }
                }
            }
        }
    }
    Ok(list)
}

/// What attributes of a node are: its own count more than a default.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    OfTheNode,
    ByDefault,
}

/// A node is named.
fn node(list: &mut List, name: &str, attributes: Attributes, said: Said) {
    let name = device(name).0;
    if let Some(kind) = of(&attributes, KIND)
        && (said == Said::OfTheNode || !list.kinds.contains_key(&name))
    {
        list.kinds.insert(name.clone(), kind);
    }
    list.node(&name);
}

/// One end of a cable: a name, or several in braces where a cable follows or precedes.
fn operand(all: &[(usize, Token)], at: &mut usize) -> Vec<String> {
    let token = |at: usize| all.get(at).map(|t| &t.1);
    let is_word = |at: usize, word: &str| matches!(token(at), Some(Token::Word(w)) if w == word);
    let (mut from, named) = (*at, is_word(*at, "subgraph"));
    if named {
        from += 1;
        from += usize::from(matches!(token(from), Some(Token::Word(_))));
    }
    if token(from) != Some(&Token::Sign('{')) {
        let Some(Token::Word(word)) = token(*at) else { return Vec::new() };
        *at += 1;
        return vec![word.clone()];
    }
    let Some(length) = all[from..].iter().position(|(_, t)| *t == Token::Sign('}')) else {
        return Vec::new();
    };
    let end = from + length;
    let after_edge = *at > 0 && token(*at - 1) == Some(&Token::Edge);
    if !after_edge && token(end + 1) != Some(&Token::Edge) {
        // a block with statements of its own
        *at = from;
        return if named { vec!["subgraph".into()] } else { Vec::new() };
    }
    let names = all[from + 1..end].iter().filter_map(|(_, t)| match t {
        Token::Word(word) => Some(word.clone()),
        _ => None,
    });
    *at = end + 1;
    names.collect()
}

/// `[name=value, ...]`, if there are any here.
fn read_attributes(
    all: &[(usize, Token)],
    at: &mut usize,
) -> Result<Vec<(String, String)>, CablingError> {
    let mut found = Vec::new();
    while all.get(*at).map(|t| &t.1) == Some(&Token::Sign('[')) {
        let line = all[*at].0;
        *at += 1;
        loop {
            match (all.get(*at), all.get(*at + 1), all.get(*at + 2)) {
                (None, ..) => return Err(CablingError::new(line, "`[` is not closed")),
                (Some((_, Token::Sign(']'))), ..) => break *at += 1,
                (
                    Some((_, Token::Word(name))),
                    Some((_, Token::Sign('='))),
                    Some((_, Token::Word(value))),
                ) => {
                    found.push((name.clone(), value.clone()));
                    *at += 3;
                }
                _ => *at += 1,
            }
        }
    }
    Ok(found)
}
