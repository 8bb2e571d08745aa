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

/// The device of `leaf0:eth1`, where the port is named too.
fn device(word: &str) -> String {
    word.split(':').next().unwrap_or(word).to_owned()
}

pub(super) fn read(text: &str) -> Result<List, CablingError> {
    let all = tokens(text)?;
    let open = all.iter().position(|(_, t)| *t == Token::Sign('{'));
    let Some(open) = open else {
        return Err(CablingError::new(1, "a DOT file is written: graph NAME { a -- b; }"));
    };
    let mut list = List::default();
    let mut at = open + 1;
    let word = |at: usize| match all.get(at) {
        Some((line, Token::Word(word))) => Some((*line, word.clone())),
        _ => None,
    };
    while at < all.len() {
        let Some((line, first)) = word(at) else {
            at += 1;
            continue;
        };
        at += 1;
        let mut chain = vec![first];
        while all.get(at).map(|t| &t.1) == Some(&Token::Edge) {
            let Some((_, next)) = word(at + 1) else {
                return Err(CablingError::new(line, "a cable needs two ends: a -- b"));
            };
            chain.push(next);
            at += 2;
        }
        let attributes = read_attributes(&all, &mut at)?;
        let of = |known: &[&str]| {
            attributes.iter().find(|(name, _)| is(name, known)).map(|(_, value)| value.clone())
        };
        match &chain[..] {
            // `graph`, `node` and `edge` set defaults, `a = b` an attribute of the graph
            [word] if matches!(word.as_str(), "graph" | "node" | "edge" | "subgraph") => {}
            [_] if all.get(at).map(|t| &t.1) == Some(&Token::Sign('=')) => at += 2,
            [name] => {
                let name = device(name);
                if let Some(kind) = of(KIND) {
                    list.kinds.insert(name.clone(), kind);
                }
                list.node(&name);
            }
            several => {
                for pair in several.windows(2) {
                    let ends = [device(&pair[0]), device(&pair[1])];
                    list.cable(Cable { line, ends, speed: of(SPEED), length: of(LENGTH) });
                }
            }
        }
    }
    Ok(list)
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
