//! What each node of a run was given and what it answered, as text.
//!
//! The first line is a [`Header`] in JSON: the scenario, and the numbers that a checker needs. Then
//! follows one line per frame:
//!
//! ```text
//! < NODE PORT TIME KIND SIZE PRIORITY SOURCE NUMBER SEQ DESTINATION FLAGS TAG [NOTES]
//! > NODE PORT TIME C BYTES
//! end TIME LINES
//! ```
//!
//! `<` is a frame that the node was given and `>` one that it answered with. TIME is when its last
//! bit arrives at the end of the wire, in picoseconds. KIND is D data, A ACK, N NACK, P CNP, S SYN,
//! Y SYN-ACK; a control frame, C, is followed by its bytes without FCS, in hexadecimal. Lines of
//! one node, port and direction are in the order of time; others are in any order.

mod header;
mod line;
mod reader;
mod writer;

pub use header::{Header, NodeInfo, PortInfo, Rules, RunOf, Source, TextFile, VERSION};
pub use line::{Direction, Event, Lines};
pub use reader::{Log, LogError};
pub use writer::LogWriter;
