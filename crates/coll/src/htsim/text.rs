//! The text of a connection matrix.

use crate::TextError;
use std::collections::BTreeMap;
use weir_core::Time;

/// When a connection starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At a time.
    At(Time),
    /// When this trigger says so.
    Trigger(u64),
}

/// A connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// When it starts.
    pub start: Start,
    /// Its size.
    pub bytes: u64,
    /// The trigger that fires when it is sent.
    pub send_done: Option<u64>,
    /// The trigger that fires when it has arrived.
    pub recv_done: Option<u64>,
    /// Where it is.
    pub line: usize,
}

/// How a trigger fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// At its first firing, for all connections.
    Oneshot,
    /// At each firing, for one connection.
    Multishot,
    /// At a firing of this number, for all connections.
    Barrier(u64),
}

/// A trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Its number.
    pub id: u64,
    /// How it fires.
    pub kind: Kind,
    /// Where it is.
    pub line: usize,
}

/// A matrix as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// How many nodes there are.
    pub nodes: u32,
    /// Its connections, in order.
    pub connections: Vec<Connection>,
    /// Its triggers.
    pub triggers: BTreeMap<u64, Trigger>,
    /// What has no effect.
    pub notes: Vec<String>,
}

/// The most nodes.
const MOST_NODES: u64 = 1 << 19;
/// The most connections: more would be a damaged file, or one that does not fit into memory.
const MOST_CONNECTIONS: u64 = 1 << 24;

/// Whether bytes begin like a matrix.
pub fn is_matrix(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"nodes"))
}

fn shown(word: Option<&str>) -> String {
    let short = |w: &str| w.chars().take(24).collect::<String>().escape_debug().to_string();
    word.map_or_else(|| "the end of the line".into(), |w| format!("`{}`", short(w)))
}

/// Reads a matrix.
pub fn parse(bytes: &[u8]) -> Result<Matrix, TextError> {
    let mut reader = Reader::default();
    for (i, line) in bytes.split(|b| *b == b'\n').enumerate() {
        let at = |what: String| TextError { line: i + 1, what };
        let text = std::str::from_utf8(line).map_err(|_| at("this is not text".into()))?;
        reader.line(i + 1, text).map_err(at)?;
    }
    reader.finish()
}

#[derive(Debug, Default)]
struct Reader {
    matrix: Matrix,
    connections: Option<u64>,
    triggers: Option<u64>,
    prio: u64,
}

struct Words<'a>(std::str::SplitWhitespace<'a>);

impl Words<'_> {
    fn number(&mut self, what: &str) -> Result<u64, String> {
        let word = self.0.next();
        let found = word.and_then(|w| w.parse().ok());
        found.ok_or_else(|| format!("{what} is {}, not a whole number", shown(word)))
    }
}

impl Reader {
    fn line(&mut self, at: usize, line: &str) -> Result<(), String> {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = Words(line.split_whitespace());
        let Some(first) = words.0.next() else { return Ok(()) };
        match first.to_ascii_lowercase().as_str() {
            "nodes" => {
                let nodes = words.number("the number of nodes")?;
                if nodes == 0 || nodes > MOST_NODES {
                    return Err(format!("{nodes} nodes: from 1 to {MOST_NODES} can be"));
                }
                self.matrix.nodes = nodes as u32;
            }
            "connections" => {
                let count = words.number("the number of connections")?;
                if count > MOST_CONNECTIONS {
                    return Err(format!("{count} connections are more than {MOST_CONNECTIONS}"));
                }
                self.connections = Some(count);
            }
            "triggers" => self.triggers = Some(words.number("the number of triggers")?),
            "trigger" => self.trigger(at, &mut words)?,
            _ if first.contains("->") => self.connection(at, first, &mut words)?,
            _ => {
                return Err(format!(
                    "{} instead of Nodes, Connections, Triggers, trigger or a connection such as \
                     `0->1 id 1 start 0 size 1000`",
                    shown(Some(first))
                ));
            }
        }
        match words.0.next() {
            None => Ok(()),
            word => Err(format!("{} behind the end of the statement", shown(word))),
        }
    }

    fn trigger(&mut self, line: usize, words: &mut Words<'_>) -> Result<(), String> {
        let word = words.0.next();
        if word != Some("id") {
            return Err(format!("{} instead of `id`", shown(word)));
        }
        let id = words.number("the id of a trigger")?;
        let kind = match words.0.next() {
            Some("oneshot") => Kind::Oneshot,
            Some("multishot") => Kind::Multishot,
            Some("barrier") => {
                let word = words.0.next();
                if word != Some("count") {
                    return Err(format!("{} instead of `count`", shown(word)));
                }
                Kind::Barrier(words.number("the count of a barrier")?)
            }
            word => {
                return Err(format!("{} instead of oneshot, multishot or barrier", shown(word)));
            }
        };
        if kind == Kind::Barrier(0) {
            return Err("the count of a barrier is at least 1".into());
        }
        match self.matrix.triggers.insert(id, Trigger { id, kind, line }) {
            Some(known) => {
                Err(format!("trigger {id} is given twice, first in line {}", known.line))
            }
            None => Ok(()),
        }
    }

    fn connection(&mut self, line: usize, ends: &str, words: &mut Words<'_>) -> Result<(), String> {
        if self.matrix.nodes == 0 {
            return Err("a connection before `Nodes N`".into());
        }
        let node = |text: &str| {
            let found = text.parse().ok().filter(|n: &u32| *n < self.matrix.nodes);
            found.ok_or_else(|| {
                format!("{} is no node: there are {}", shown(Some(text)), self.matrix.nodes)
            })
        };
        let (from, to) = ends.split_once("->").unwrap_or((ends, ""));
        let (from, to) = (node(from)?, node(to)?);
        if from == to {
            return Err(format!("node {from} is connected to itself"));
        }
        let (mut start, mut size, mut send_done, mut recv_done) = (None, None, None, None);
        while let Some(key) = words.0.next() {
            match key {
                "id" => {
                    words.number("the id of a connection")?;
                }
                "start" if start.is_none() => {
                    start = Some(Start::At(Time::from_ps(words.number("a start in ps")?)));
                }
                "trigger" if start.is_none() => {
                    start = Some(Start::Trigger(words.number("a trigger")?));
                }
                "start" | "trigger" => return Err("a connection starts once".into()),
                "size" => size = Some(words.number("a size in bytes")?),
                "send_done_trigger" => send_done = Some(words.number("a trigger")?),
                "recv_done_trigger" => recv_done = Some(words.number("a trigger")?),
                "prio" => {
                    words.number("a priority")?;
                    self.prio += 1;
                }
                _ => {
                    return Err(format!(
                        "{} instead of id, start, trigger, size, send_done_trigger, \
                         recv_done_trigger or prio",
                        shown(Some(key))
                    ));
                }
            }
        }
        let start = start.ok_or("a connection needs `start` or `trigger`")?;
        let bytes = size.filter(|s| *s > 0).ok_or("a connection needs a `size` above 0")?;
        let connections = &mut self.matrix.connections;
        if connections.len() as u64 >= self.connections.unwrap_or(MOST_CONNECTIONS) {
            return Err("more connections than `Connections` announces".into());
        }
        connections.push(Connection { from, to, start, bytes, send_done, recv_done, line });
        Ok(())
    }

    fn finish(mut self) -> Result<Matrix, TextError> {
        let wrong = |line, what: String| Err(TextError { line, what });
        let matrix = &mut self.matrix;
        if matrix.nodes == 0 {
            return wrong(1, "`Nodes N` is missing".into());
        }
        let counts = [
            ("Connections", self.connections, matrix.connections.len() as u64),
            ("Triggers", self.triggers, matrix.triggers.len() as u64),
        ];
        for (name, announced, found) in counts {
            if let Some(announced) = announced.filter(|n| *n != found) {
                return wrong(1, format!("`{name}` announces {announced}, and there are {found}"));
            }
        }
        for c in &matrix.connections {
            let start = match c.start {
                Start::Trigger(id) => Some(id),
                Start::At(_) => None,
            };
            let mut named = [start, c.send_done, c.recv_done].into_iter().flatten();
            if let Some(id) = named.find(|id| !matrix.triggers.contains_key(id)) {
                return wrong(c.line, format!("there is no trigger {id}"));
            }
        }
        if self.prio > 0 {
            let note = format!("`prio` of {} connections has no effect", self.prio);
            matrix.notes.push(note);
        }
        Ok(self.matrix)
    }
}
