//! What is sent again after a loss, without I/O.
//!
//! [`selective_repeat`] (IRN) is a sender and a receiver that keep what comes out of order and fill
//! only the gaps. Go-back-N needs no more than the next packet of either side and is part of each
//! NIC.
//! Sequence numbers count packets of a flow, from 0.
//!
//! ```text
//!   sender.next_packet() ──packet──▶ receiver.on_data(seq, now)
//!   receiver.on_data     ──Response──▶ sender.on_ack or sender.on_nack
//! ```
//!
//! A sender whose [`rto`](selective_repeat::Sender::rto) is `Some` wants a timer that starts over
//! with every acknowledgement of something new; when it expires, call `on_timeout`.

pub mod selective_repeat;

/// What a receiver answers to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Everything below `expected` arrived.
    Ack {
        /// The next packet expected in order.
        expected: u64,
    },
    /// Everything below `expected` arrived, `expected` did not, and `received` did.
    Nack {
        /// The next packet expected in order.
        expected: u64,
        /// The packet that gave rise to this.
        received: u64,
    },
}
