//! TCP without I/O: a sender and a receiver that never see a clock.
//!
//! For networks whose hosts are not RDMA NICs (DeTail, CaPFC), and for lossy ones. Slow start,
//! congestion avoidance and NewReno (RFC 5681, RFC 6582), the retransmission timer (RFC 6298), ECN
//! (RFC 3168) or DCTCP (RFC 8257), reassembly, delayed ACKs, a handshake. Fast retransmit can be
//! switched off, which makes a flow indifferent to reordering: only the timer recovers a loss then.
//!
//! Unlike the congestion controls of this crate, which say how fast and how far a reliable
//! transport may go, [`Sender`] is the transport and the congestion control in one: it takes the
//! place of go-back-N or selective repeat *and* of [`Cc`](crate::Cc).
//!
//! ```text
//!              poll_transmit(now) ─▶ Syn, Data                 on_data(now, ..) ─▶ 0, 1 or 2 Acks
//!   NIC ◀─────────────────────────────────── Sender  Receiver ───────────────────────────▶ NIC
//!       ────────────────────────────────────▶                 ◀───────────────────────────
//!        on_ack, on_syn_ack, on_timeout(now)                    on_timeout(now) ─▶ delayed Ack
//!                next_timeout()                                      next_timeout()
//! ```
//!
//! # Segments and bytes
//!
//! Sequence numbers count segments from 0, as [`Packet::seq`](weir_core::Packet::seq) does; all
//! segments carry `mss` bytes but the last. Windows, flight and alpha count bytes of payload. A
//! segment is sent when all of it fits the window. There is no FIN: the `last` flag of a segment
//! stands for it. There is no SACK.
//!
//! # How a NIC drives a sender
//!
//! | when | the NIC calls |
//! |---|---|
//! | a flow starts at `now` | [`Sender::new`], in the flow's slot |
//! | it needs to know whether a flow is ready | [`can_transmit`] |
//! | the transmission of a packet starts | [`poll_transmit(now)`](Sender::poll_transmit), once |
//! | an ACK of this flow arrives | [`on_ack`](Sender::on_ack), then [`is_finished`] |
//! | a SYN-ACK arrives | [`on_syn_ack`](Sender::on_syn_ack) |
//! | its timer for the flow fires | [`on_timeout(now)`](Sender::on_timeout) |
//! | an open-ended flow stops | [`close`](Sender::close), then [`is_finished`] |
//!
//! [`can_transmit`] says what TCP allows; holds and the turns of flows are left to the NIC.
//! `poll_transmit` returns `None` only if [`can_transmit`] was false. After an ACK that does not
//! finish the flow, a SYN-ACK or a timeout, the flow may be ready where it was not before. A timer
//! call that returns `true` counts as a timeout.
//!
//! [`can_transmit`]: Sender::can_transmit
//! [`is_finished`]: Sender::is_finished
//!
//! After each of these calls except `can_transmit` the NIC compares its timer with
//! [`next_timeout`](Sender::next_timeout). The timer must fire at that time or earlier. A call
//! before that time does nothing, so a NIC can leave a timer that is too early and compare again
//! when it fires; this saves most re-arming.
//!
//! [`Data`] becomes a packet: `seq`, `bytes` plus headers as its size, flags for `last`, `resent`
//! and `cwr`, and not ECN-capable unless `ect`. A switch must not mark the latter.
//!
//! # How a NIC drives a receiver
//!
//! The first packet of a flow makes a [`Receiver`]. A SYN is answered by a SYN-ACK each time it
//! comes and changes nothing else. A data segment goes to [`Receiver::on_data`]: payload counts if
//! [`Received::new`], every [`Ack`] of [`Received::acks`] is sent in order, and the flow is
//! complete when [`Receiver::is_complete`] first holds (it must still be asked after that: ACKs
//! get lost). With `ack_every` above 1 a timer of the flow follows [`Receiver::next_timeout`];
//! [`Receiver::on_timeout`] gives the ACK to send.
//!
//! # Where it departs from the RFCs
//!
//! * The timer starts again after a timeout when the segment is sent, not when the timer expired:
//!   under flow control the two may lie far apart, and a held segment has not timed out again.
//! * One segment per round trip is timed, without timestamps; any retransmission ends the timing.
//! * No limited transmit (RFC 3042), no restart after idle time (RFC 5681, section 4.1: a flow
//!   always has data), no window below one segment and none cut for marks below two (RFC 3168,
//!   section 6.1.2 asks for a slower timer there).

mod params;
mod reassembly;
mod receiver;
mod rtt;
mod sender;
mod window;

pub use params::{EcnMode, Handshake, TcpParams};
pub use reassembly::Reassembly;
pub use receiver::{Arrival, Received, Receiver};
pub use rtt::Rto;
pub use sender::{Acked, Counts, Data, Segment, Sender};
pub use window::CongestionWindow;

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Every segment below has arrived.
    pub expected: u32,
    /// ECN-echo: a mark is being reported.
    pub ece: bool,
}
