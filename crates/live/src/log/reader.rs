//! Reads a log.

use super::{Event, Header, VERSION};
use std::collections::BTreeMap;
use std::io::{self, BufRead};
use thiserror::Error;
use weir_core::{NodeId, Time};
use weir_sim::parcel::Cargo;

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
        let mut last = BTreeMap::new();
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
            check(&event, &header).map_err(wrong)?;
            let place = (event.node, event.port, event.direction);
            match last.insert(place, event.at).filter(|before| *before > event.at) {
                None => {}
                Some(before) => {
                    let (at, before) = (event.at.as_ps(), before.as_ps());
                    let what =
                        format!("the frame before it at this port is of {before}, not before {at}");
                    return Err(wrong(what));
                }
            }
            events.push(event);
        }
        Err(LogError::CutOff(read))
    }
}

/// What nodes can be given: packets between hosts of the network, and messages that name such.
fn check(event: &Event, header: &Header) -> Result<(), String> {
    let is_host = |n: NodeId| header.nodes.get(n.index()).is_some_and(|node| node.host);
    let named = match &event.parcel.cargo {
        Cargo::Message(message, _) => message
            .named_flows()
            .into_iter()
            .flat_map(|(.., name)| std::iter::once(name.src).chain(name.dst))
            .find(|&n| !is_host(n)),
        _ => {
            let packet = &event.parcel.packet;
            if packet.size == 0 {
                return Err("the size is zero".into());
            }
            [packet.flow.source(), packet.dst].into_iter().find(|&n| !is_host(n))
        }
    };
    named.map_or(Ok(()), |n| Err(format!("node {} is no host of the network", n.0)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{NodeInfo, PortInfo, Rules, RunOf, Source};

    fn header() -> Header {
        let port = PortInfo {
            peer: 0,
            peer_port: 0,
            rate: 100_000_000_000,
            delay: 0,
            response: 0,
            xoff: None,
            xon: None,
        };
        let node =
            |name: &str, host| NodeInfo { name: name.into(), host, ports: vec![port.clone()] };
        Header {
            format: "weir-log".into(),
            version: VERSION,
            weir: "1.0.0".into(),
            source: Source::Simulated,
            dilation: None,
            run: RunOf::default(),
            nodes: vec![node("h0", true), node("h1", true), node("sw0", false)],
            rules: Rules {
                scheme: "pfc".into(),
                parameters: Vec::new(),
                lossless: vec![3],
                exempt: None,
                overhead: 20,
                latency: 0,
                pipelined: false,
                faulty: false,
            },
        }
    }

    #[test]
    fn what_no_node_can_be_given_is_named_with_its_line() {
        let header = serde_json::to_string(&header()).expect("text");
        let read = |lines: &str| Log::read(format!("{header}\n{lines}").as_bytes());
        let packet = "D 1018 3 0 0 0 1 0 0";
        let fine = format!("< 2 0 5 {packet}\n< 2 0 5 {packet}\n< 1 0 4 {packet}\nend 9 3");
        assert_eq!(read(&fine).expect("a log").events.len(), 3);
        for (lines, what) in [
            (format!("< 2 0 5 {packet}\n< 2 0 4 {packet}\nend 9 2"), "line 3: the frame before"),
            ("< 2 0 5 D 1018 3 0 0 0 2 0 0\nend 9 1".into(), "line 2: node 2 is no host"),
            ("< 2 0 5 D 1018 3 7 0 0 1 0 0\nend 9 1".into(), "line 2: node 7 is no host"),
            ("< 2 0 5 D 0 3 0 0 0 1 0 0\nend 9 1".into(), "line 2: the size is zero"),
            ("< 2 1 5 D 9 3 0 0 0 1 0 0\nend 9 1".into(), "no port 1 of node 2"),
            ("end 9 1".into(), "line 2: the log says that it has 1 frames, and has 0"),
            (format!("< 2 0 5 {packet}\n"), "cut off after 2 lines"),
        ] {
            let error = read(&lines).expect_err(&lines).to_string();
            assert!(error.contains(what), "{lines}: {error}");
        }
    }
}
