//! Chakra execution traces: a file of nodes for each rank, as protobuf (perhaps gzipped) or JSON.
//!
//! A file is read node by node, and of each node only what matters is kept: some 50 bytes, and 12
//! for each dependency. Ranks are read one after the other into a [`Workload`]:
//!
//! | node | becomes |
//! |---|---|
//! | metadata | nothing: it joins others; groups that it lists are known from then on |
//! | memory load, store | a computation of its duration on a lane of their own |
//! | compute | a computation of its duration, on the processor or on the accelerator |
//! | send, receive | a message |
//! | collective | a call: the k-th of a group at one rank belongs to the k-th at the others |
//!
//! A rank carries out one operation of the processor, one computation of the accelerator, one
//! communication and one transfer between memories at a time, of those that are ready the one with
//! the lowest id; receives wait beside all that. What cannot be represented is an error that names
//! the file and the node.

mod build;
pub mod groups;
pub mod gzip;
mod json;
mod node;
pub mod proto;

use crate::collective::{Algorithm, Plan};
use crate::tasks::Workload;
use groups::Groups;
use gzip::{Gunzip, is_gzip};
use node::Node;
use proto::Messages;
use std::io::{BufReader, Read};

/// Which dependencies of nodes are obeyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dependencies {
    /// Those of data and those of control.
    #[default]
    Both,
    /// Those of data.
    Data,
    /// Those of control.
    Control,
}

/// How traces are read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which dependencies are obeyed.
    pub dependencies: Dependencies,
    /// A rank has one communication at a time. Ranks that issue collectives in different orders
    /// then wait for each other for ever.
    pub serial: bool,
    /// How collectives are carried out that can be carried out so; others have their default.
    pub algorithm: Option<Algorithm>,
    /// Chunks, channels, pipeline and ranks per server of all collectives.
    pub plan: Plan,
    /// Groups that are known beforehand.
    pub groups: Groups,
    /// Bytes of memory that tasks and dependencies of all ranks may take.
    pub most_memory: u64,
}

/// Memory for tasks and dependencies.
pub const MOST_MEMORY: u64 = 2 << 30;

/// Why traces cannot be represented, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {what}", .node.map_or_else(String::new, |node| format!(", node {node}")))]
pub struct ChakraError {
    /// The file.
    pub file: String,
    /// The node, if it is about one.
    pub node: Option<u64>,
    /// What is wrong, and what would be valid.
    pub what: String,
}

/// How the nodes of a file are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Json,
    Protobuf,
}

/// Traces that are being read, rank by rank.
#[derive(Debug)]
pub struct Traces {
    build: build::Build,
}

impl Traces {
    /// Traces of so many ranks.
    pub fn new(ranks: u32, options: Options) -> Result<Self, ChakraError> {
        Ok(Self { build: build::Build::new(ranks, options)? })
    }

    /// Reads the file of the next rank, in whatever form it is; `file` is for messages.
    pub fn read(&mut self, file: &str, bytes: &[u8]) -> Result<(), ChakraError> {
        if is_gzip(bytes) {
            // a buffer, because lengths are read byte by byte
            let mut unpacked = BufReader::with_capacity(1 << 16, Gunzip::new(bytes));
            return self.read_as(Encoding::Protobuf, file, &mut unpacked);
        }
        // a message of this length would begin with the number of a field that does not exist
        let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
        let json = first == Some(&b'{') && bytes.get(1).is_some_and(|b| b"\" \t\r\n}".contains(b));
        let encoding = if json { Encoding::Json } else { Encoding::Protobuf };
        self.read_as(encoding, file, &mut &bytes[..])
    }

    fn read_as(
        &mut self,
        encoding: Encoding,
        file: &str,
        input: &mut dyn Read,
    ) -> Result<(), ChakraError> {
        let mut rank = self.build.begin(file)?;
        let read = if encoding == Encoding::Json {
            let mut failed = None;
            let read = json::read(input, |node| {
                let id = node.id;
                self.build.node(&mut rank, node).map_err(|what| {
                    failed = Some((id, what));
                    String::new()
                })
            });
            match failed {
                Some((id, what)) => Err((Some(id), what)),
                None => read.map_err(|what| (None, what)),
            }
        } else {
            self.messages(&mut rank, input)
        };
        let wrong = |(node, what)| ChakraError { file: file.to_owned(), node, what };
        read.and_then(|()| self.build.end(rank)).map_err(wrong)
    }

    fn messages(
        &mut self,
        rank: &mut build::Rank,
        input: &mut dyn Read,
    ) -> Result<(), (Option<u64>, String)> {
        let mut messages = Messages::new(input);
        let (mut first, mut last) = (true, None);
        loop {
            let message = messages.message().map_err(|what| {
                let after = |id| format!("after node {id}, {what}");
                (None, last.map_or_else(|| what.clone(), after))
            })?;
            let Some(message) = message else { return Ok(()) };
            // the first one says which version wrote the file
            if std::mem::take(&mut first) && !proto::is_node(message) {
                continue;
            }
            let node: Node = proto::node(message).map_err(|(id, what)| (Some(id), what))?;
            let id = node.id;
            last = Some(id);
            self.build.node(rank, node).map_err(|what| (Some(id), what))?;
        }
    }

    /// What all ranks do, once the files of all of them are read.
    pub fn finish(self) -> Result<Workload, ChakraError> {
        self.build.finish()
    }
}

/// What holds for any bytes: they are the trace of one rank or an error with a text. For fuzzing.
pub fn fuzz(bytes: &[u8]) {
    let options = Options {
        dependencies: Dependencies::Both,
        serial: true,
        algorithm: None,
        plan: Plan::new(crate::collective::Operation::AllReduce, 1, weir_core::Bytes::new(1)),
        groups: Groups::default(),
        most_memory: 1 << 24,
    };
    let Ok(mut traces) = Traces::new(2, options) else { return };
    let read = traces.read("rank 0", bytes).and_then(|()| traces.read("rank 1", bytes));
    match read.and_then(|()| traces.finish()) {
        Ok(workload) => crate::tasks::fuzz(workload),
        Err(error) => assert!(!error.what.is_empty(), "{error}"),
    }
}
