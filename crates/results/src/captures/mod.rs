//! Captures of a run: the frames that crossed some of its ports, as pcapng files.
//!
//! ```text
//!   --pcap s1/p0=FILE  ──►  Wanted ──► Plan: files and their ports ──► Capture, a probe of the run
//!                                        │                                      │
//!                                        └────► write ◄── Outcome::captured ◄───┘
//! ```

mod comment;
mod file;
mod messages;
mod wanted;

pub use wanted::{Plan, Wanted, WantedError, What, is_same_place};

use crate::run::Run;
use comment::comment;
use file::Fresh;
use messages::Messages;
use std::collections::BTreeMap;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use weir_core::packet::flags;
use weir_core::{Bytes, FlowId, NodeId, Packet, PacketKind};
use weir_net::Topology;
use weir_scenario::PortAt;
use weir_sim::config::Reliability;
use weir_sim::outcome::CapturedFrame;
use weir_wire::addressing::{self, FlowDirectory, MapError, Transport};
use weir_wire::capture::{CaptureWriter, Direction, InterfaceId, PacketRecord};
use weir_wire::control;
use weir_wire::packet::PacketFramer;

/// How much of a run captures keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a frame; `None` keeps frames whole.
    pub snap: Option<u32>,
    /// The most bytes of a file.
    pub file: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Self { snap: None, file: Bytes::new(256_000_000) }
    }
}

/// The name of a port in captures and on the command line: `s1/p0`.
pub fn port_name(topology: &Topology, at: PortAt) -> String {
    format!("{}/p{}", topology.name(at.node), at.port.0)
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where.
    pub file: PathBuf,
    /// Of how many ports.
    pub ports: usize,
    /// How many frames it has.
    pub frames: u64,
    /// How many of them are cut to the snap length.
    pub cut: u64,
    /// How many frames crossed the ports after the file had reached its limit.
    pub left_out: u64,
    /// Its size.
    pub bytes: Bytes,
}

/// Why there is no capture.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A file cannot be written.
    #[error("cannot write {}: {error}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A frame cannot be put into bytes.
    #[error("no capture of {port}: its frame at {at} has no bytes: {error}")]
    Frame {
        /// The port.
        port: String,
        /// When the frame crossed it.
        at: String,
        /// Why.
        error: MapError,
    },
}

/// Writes the captures of a run: all files, or none when there is an error.
pub fn write(
    plan: &Plan,
    limits: Limits,
    topology: &Topology,
    run: &Run,
) -> Result<Vec<Written>, CaptureError> {
    let mut by_port: BTreeMap<PortAt, Vec<usize>> = BTreeMap::new();
    for (i, frame) in run.outcome.captured.iter().enumerate() {
        by_port.entry(PortAt { node: frame.node, port: frame.port }).or_default().push(i);
    }
    let source = Source { topology, run, limits, messages: messages(run) };
    let mut fresh = Vec::new();
    let mut written = Vec::new();
    for (file, ports) in plan.files() {
        let io = |error| CaptureError::Io { file: file.clone(), error };
        let (new, out) = Fresh::create(file).map_err(io)?;
        let mut frames: Vec<usize> =
            ports.iter().filter_map(|at| by_port.get(at)).flatten().copied().collect();
        frames.sort_unstable();
        written.push(source.write(file, ports, &frames, BufWriter::new(out))?);
        fresh.push((new, file));
    }
    for (new, file) in fresh {
        new.keep().map_err(|error| CaptureError::Io { file: file.clone(), error })?;
    }
    Ok(written)
}

/// The least limit of a capture file of these ports: its header and one frame of `frame` bytes.
pub fn least_limit(
    ports: &[PortAt],
    frame: Bytes,
    snap: Option<u32>,
    topology: &Topology,
) -> Bytes {
    /// What a frame in a file has beside its bytes: block, header, and options with the direction.
    const BESIDE: u64 = 12 + 20 + 12;
    let mut writer = CaptureWriter::new(io::sink(), APPLICATION).expect("a sink takes everything");
    for &at in ports {
        let name = port_name(topology, at);
        writer.add_interface(&name, 0).expect("a sink takes everything");
    }
    let kept = frame.get().min(snap.map_or(u64::MAX, u64::from)).next_multiple_of(4);
    Bytes::new(writer.written() + BESIDE + kept)
}

/// The messages of flows that have no size of their own.
fn messages(run: &Run) -> Messages {
    let flows = &run.outcome.flows;
    let unknown = |flow| flows.get(flow).is_some_and(|f| f.size == Bytes::MAX);
    let packets = run.outcome.captured.iter().map(|frame| &frame.packet);
    let data = packets.filter(|p| p.kind == PacketKind::Data && unknown(p.flow));
    Messages::new(data, run.config.nic.header.get())
}

/// How captures call the program that wrote them.
const APPLICATION: &str = concat!("weir ", env!("CARGO_PKG_VERSION"));

/// What frames are made of.
struct Source<'a> {
    topology: &'a Topology,
    run: &'a Run,
    limits: Limits,
    messages: Messages,
}

/// The flows of the run.
impl FlowDirectory for Source<'_> {
    fn destination(&self, flow: FlowId) -> Option<NodeId> {
        self.run.outcome.flows.get(flow).map(|f| f.dst)
    }

    fn transport(&self, _: FlowId) -> Transport {
        match self.run.config.nic.reliability {
            Reliability::Tcp => Transport::Tcp,
            _ => Transport::Roce,
        }
    }

    fn size(&self, flow: FlowId) -> Option<u64> {
        let size = self.run.outcome.flows.get(flow)?.size;
        (size != Bytes::MAX).then_some(size.get())
    }

    fn begins_message(&self, packet: &Packet) -> bool {
        packet.has(flags::FIRST) || self.messages.size(packet).is_some()
    }

    fn message_size(&self, packet: &Packet) -> Option<u64> {
        self.size(packet.flow).or_else(|| self.messages.size(packet))
    }
}

impl Source<'_> {
    fn write(
        &self,
        file: &Path,
        ports: &[PortAt],
        frames: &[usize],
        out: impl io::Write,
    ) -> Result<Written, CaptureError> {
        let io = |error| CaptureError::Io { file: file.to_owned(), error };
        let mut writer = CaptureWriter::new(out, APPLICATION).map_err(io)?;
        let snap = self.limits.snap.unwrap_or(0);
        let mut interfaces: BTreeMap<PortAt, InterfaceId> = BTreeMap::new();
        for &at in ports {
            let name = port_name(self.topology, at);
            interfaces.insert(at, writer.add_interface(&name, snap).map_err(io)?);
        }
        let mut written = Written {
            file: file.to_owned(),
            ports: ports.len(),
            frames: 0,
            cut: 0,
            left_out: self.not_kept(&interfaces),
            bytes: Bytes::ZERO,
        };
        for (n, &i) in frames.iter().enumerate() {
            let captured = &self.run.outcome.captured[i];
            let at = PortAt { node: captured.node, port: captured.port };
            let frame = self.bytes(captured).map_err(|error| CaptureError::Frame {
                port: port_name(self.topology, at),
                at: weir_core::format::time(captured.at),
                error,
            })?;
            let comment = comment(self.topology, captured);
            let direction = if captured.sent { Direction::Outbound } else { Direction::Inbound };
            let record = PacketRecord {
                interface: interfaces[&at],
                time: captured.at,
                direction,
                comment: comment.as_deref(),
                frame: &frame,
            };
            if writer.written() + writer.size_of(&record) > self.limits.file.get() {
                // nothing after it is written, either: the file has no gaps
                written.left_out += (frames.len() - n) as u64;
                break;
            }
            writer.packet(&record).map_err(io)?;
            written.frames += 1;
            written.cut += u64::from(snap > 0 && frame.len() > snap as usize);
        }
        written.bytes = Bytes::new(writer.written());
        writer.finish().map_err(io)?;
        Ok(written)
    }

    /// Frames of these ports that the run did not keep.
    fn not_kept(&self, ports: &BTreeMap<PortAt, InterfaceId>) -> u64 {
        let not_kept = self.run.outcome.not_captured.iter();
        let own = not_kept
            .filter(|(node, port, _)| ports.contains_key(&PortAt { node: *node, port: *port }));
        own.map(|(.., count)| count).sum()
    }

    fn bytes(&self, frame: &CapturedFrame) -> Result<Vec<u8>, MapError> {
        let Some(said) = &frame.said else {
            let full = self.run.config.nic.max_frame().get().min(u64::from(u16::MAX)) as u16;
            return PacketFramer::new(self, full).bytes(&frame.packet);
        };
        debug_assert_eq!(frame.packet.kind, PacketKind::Control);
        let (node, port) = if frame.sent {
            (frame.node, frame.port)
        } else {
            let end = self.topology.port(frame.node, frame.port);
            (end.peer, end.peer_port)
        };
        let frame = control::frame(&said.0, addressing::mac(node, port)?, self)?;
        Ok(frame.emit()?)
    }
}
