//! Nodes of the simulator on real Ethernet frames, beside their simulation.
//!
//! A node of `weir-sim` affects the world through its wires only and reads no clock. So the live
//! switch is the simulator's switch and the live host its network card, unchanged:
//!
//! ```text
//!   socket ─► Codec ─► wires into ─► node ─► wires out of ─► Codec ─► socket, at the stamped time
//!            (bytes)                                        (bytes)
//!            └────────────────── Shell, one per node ──────────────┘
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`codec`] | frames as bytes, and back |
//! | [`shell`] | what is around one node: no clock, no socket, so tests drive it step by step |
//! | [`lateness`] | how late frames were, and whether a run is valid |
//! | [`log`] | what each node was given and what it answered, as a text file |
//! | [`replay`] | a log fed to fresh nodes, every answer compared |
//! | [`run`] | a whole run: threads that drive nodes, real time divided by the dilation |
//! | [`compare`], [`study`] | live runs beside their simulation: one, or many |
//! | [`emulate`] | a live run without a kernel, whose nodes wake up late |
//! | [`mod@bench`] | how many frames one switch thread carries |
//! | [`lab`], [`socket`] | network namespaces, veth pairs and packet sockets of Linux |

#[cfg(target_os = "linux")]
pub mod bench;
pub mod clock;
pub mod codec;
pub mod compare;
pub mod emulate;
pub mod foreign;
#[cfg(target_os = "linux")]
pub mod lab;
pub mod lateness;
pub mod log;
#[cfg(target_os = "linux")]
pub mod machine;
pub mod replay;
#[cfg(target_os = "linux")]
pub mod run;
pub mod shell;
#[cfg(target_os = "linux")]
pub mod socket;
pub mod study;
#[cfg(target_os = "linux")]
mod sys;
