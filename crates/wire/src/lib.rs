//! Frames of lossless Ethernet as bytes, and captures of them.
//!
//! Each family of frames is a module with a *view*, which gives access to the fields of bytes that
//! are long enough, and a *representation*, which holds validated values: `parse` makes it from a
//! view, `emit` writes it. [`Frame`] reads and writes any of them, with the Ethernet header.
//!
//! | module | frames | EtherType | code |
//! |---|---|---|---|
//! | [`mac_control`] | PAUSE, PFC, GFC | 0x8808 | 0x0001, 0x0101, 0x0113 and 0x0114 |
//! | [`ffc`] | BPF and CBPF | 0x8808 | 0x0111, with 5-tuples 0x0112 |
//! | [`ofc`] | PAUSE, RESUME with lists of flows | 0x88B5 | 1, 2 |
//! | [`flowsail`] | PAUSE, RESUME of one flow | 0x88B5 | 3, 4 |
//! | [`bfc`] | state of one queue, or of all | 0x88B5 | 5, 6, 7 |
//! | [`cim`] | 802.1Qcz congestion isolation | 0x89A2 | |
//! | [`roce`], [`ipv4`], [`udp`], [`tcp`] | RoCEv2 data, ACK, NAK, CNP; TCP | 0x0800 | |
//!
//! Messages and packets of the simulator become frames in [`control`] and [`packet`], with the
//! addresses and ports of [`addressing`]. [`capture`] writes and reads captures of frames.
//!
//! All but CIM and IPv4 go to the neighbour's address 01-80-C2-00-00-01, which bridges never
//! forward. Fields are big-endian. Bytes have no FCS; sizes of the simulator include its 4 bytes.
//!
//! ```
//! use weir_core::{Priority, PrioritySet};
//! use weir_wire::{Body, Ethernet, Frame, MacAddress, mac_control::PerPriority};
//!
//! let values = [0, 0, 0, 0xffff, 0, 0, 0, 0];
//! let pause = PerPriority { enable: PrioritySet::only(Priority::ALL[3]), values };
//! let ethernet = Ethernet::to_neighbour(MacAddress([2, 0, 0, 0, 0, 1]));
//! let frame = Frame { ethernet, body: Body::Pfc(pause) };
//! let bytes = frame.emit()?;
//! assert_eq!(bytes.len(), 60);
//! assert_eq!(Frame::parse(&bytes)?, frame);
//! # Ok::<(), weir_wire::WireError>(())
//! ```

pub mod addressing;
pub mod bfc;
mod bytes;
pub mod capture;
pub mod cim;
pub mod control;
mod crc;
mod error;
pub mod ethernet;
pub mod ffc;
pub mod flowsail;
mod frame;
pub mod fuzz;
mod identifier;
pub mod ipv4;
mod mac;
pub mod mac_control;
pub mod ofc;
pub mod packet;
pub mod roce;
pub mod tcp;
pub mod udp;

pub use crc::{Crc32, crc32, fcs};
pub use error::WireError;
pub use ethernet::{Ethernet, EthernetView, VlanTag};
pub use frame::{Body, Frame};
pub use identifier::{AddressPair, FiveTuple, Identifier};
pub use mac::MacAddress;
