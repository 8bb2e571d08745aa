//! Captures: a writer of pcapng files, a reader of pcapng and pcap files, and the flows in them.
//!
//! ```
//! use weir_core::Time;
//! use weir_wire::capture::{CaptureReader, CaptureWriter, Direction, PacketRecord};
//!
//! let mut writer = CaptureWriter::new(Vec::new(), "example")?;
//! let port = writer.add_interface("s1/p0", 0)?;
//! writer.packet(&PacketRecord {
//!     interface: port,
//!     time: Time::from_ns(1500),
//!     direction: Direction::Outbound,
//!     comment: Some("the first frame"),
//!     frame: &[0; 60],
//! })?;
//! let file = writer.finish()?;
//!
//! let mut reader = CaptureReader::new(&file[..])?;
//! let packet = reader.next_packet()?.expect("one packet");
//! assert_eq!((packet.time_ns, packet.bytes.len()), (1500, 60));
//! assert_eq!(reader.interfaces()[packet.interface].name, "s1/p0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod flows;
mod ip;
mod ranges;
mod reader;
mod writer;

pub use flows::{CapturedFlow, FlowCollector, FlowTuple, FlowsFound};
pub use reader::{CaptureError, CaptureReader, CapturedPacket, Interface};
pub use writer::{CaptureWriter, InterfaceId, PacketRecord};

/// Which way a frame crossed its interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Not told.
    #[default]
    Unknown,
    /// Received.
    Inbound,
    /// Sent.
    Outbound,
}
