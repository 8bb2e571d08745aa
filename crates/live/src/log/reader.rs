//! Reads a log.

use super::{Event, Header, VERSION};
use std::io::{self, BufRead};
use thiserror::Error;
use weir_core::Time;

/// Why a log cannot be read.
#[derive(Debug, Error)]
pub enum LogError {
    /// The file cannot be read.
    #[error("cannot read the log: {0}")]
    Io(#[from] io::Error),
    /// Not a log.
    #[error("line 1 is not the header of a log of Weir: {0}")]
    Header(String),
    /// A line is wrong.
    #[error("line {line}: {what}")]
    Line {
        /// Which.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The last line is missing.
    #[error("the log has no line `end`: it was cut off after {0} lines")]
    CutOff(usize),
}

/// A whole log.
#[derive(Debug)]
pub struct Log {
    /// Its first line.
    pub header: Header,
    /// Its frames.
    pub events: Vec<Event>,
    /// Nodes have handled everything before.
    pub end: Time,
}

impl Log {
    /// Reads a log.
    pub fn read(from: impl BufRead) -> Result<Self, LogError> {
        let mut lines = from.lines().enumerate();
        let (_, first) = lines.next().ok_or_else(|| LogError::Header("it is empty".into()))?;
        let header: Header =
            serde_json::from_str(&first?).map_err(|error| LogError::Header(error.to_string()))?;
        if header.format != "weir-log" || header.version != VERSION {
            let found = format!("{} version {}", header.format, header.version);
            return Err(LogError::Header(format!("{found}, not weir-log version {VERSION}")));
        }
        let mut events = Vec::new();
        let mut read = 1;
        for (at, line) in lines {
            let line = line?;
            read = at + 1;
            let wrong = |what: String| LogError::Line { line: at + 1, what };
            if let Some(rest) = line.strip_prefix("end ") {
                let end = end(rest, events.len()).map_err(wrong)?;
                return Ok(Self { header, events, end });
            }
            let event = Event::read(&line).map_err(wrong)?;
            let node = header.nodes.get(event.node.index());
            if node.and_then(|node| node.ports.get(event.port.index())).is_none() {
                let (node, port) = (event.node.0, event.port.0);
                return Err(wrong(format!("the network has no port {port} of node {node}")));
            }
            events.push(event);
        }
        Err(LogError::CutOff(read))
    }
}

fn end(rest: &str, found: usize) -> Result<Time, String> {
    let numbers = rest
        .split_once(' ')
        .and_then(|(time, count)| Some((time.parse::<u64>().ok()?, count.parse::<usize>().ok()?)));
    let (time, count) = numbers.ok_or("`end` is followed by a time and a number of lines")?;
    if count != found {
        return Err(format!("the log says that it has {count} frames, and has {found}"));
    }
    Ok(Time::from_ps(time))
}
