//! What can be set about TCP.

use crate::params::{params, worded};
use std::num::NonZeroU32;
use weir_core::param::Kind;
use weir_core::{Bytes, Time, words};

words! {
    /// How ECN marks are echoed and answered.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EcnMode {
        /// Data is not ECN-capable; marks are ignored.
        Off = "off",
        /// RFC 3168: marks are echoed until the sender says that it has reacted; it halves its
        /// window.
        Rfc3168 = "rfc3168",
        /// DCTCP (RFC 8257): marks are echoed exactly; the window is cut by the marked fraction.
        Dctcp = "dctcp",
    }
}

words! {
    /// How a connection is opened.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Handshake {
        /// Data is sent at once.
        None = "none",
        /// Data is sent one base round-trip time after the start: a handshake without its packets.
        Delay = "delay",
        /// A SYN is sent and data follows its SYN-ACK.
        Packets = "packets",
    }
}

worded!(EcnMode, Handshake);

const AT_LEAST_ONE: Kind = Kind::Whole { min: 1, max: u32::MAX as u64 };
const ONE_OR_OFF: Kind = Kind::WholeOr { min: 1, max: u32::MAX as u64, words: &["off"] };

params! {
    /// Parameters of TCP. Defaults: the RFCs', and Linux's where they leave the choice.
    TcpParams {
        /// Initial window (RFC 6928: 10; RFC 3390 with 1460 B: 3).
        initial_window: NonZeroU32 = "10", AT_LEAST_ONE;
        /// The window never exceeds what the receiver advertises, which is this.
        receive_window: Bytes = "6MiB", Kind::Size(&[]);
        /// How ECN marks are echoed and answered.
        ecn: EcnMode = "rfc3168", Kind::Choice(&["off", "rfc3168", "dctcp"]);
        /// DCTCP: gain of the marking estimate alpha.
        dctcp_gain: f64 = "1/16", Kind::Share;
        /// Duplicate ACKs that start fast retransmit; `off` leaves recovery to the timeout, which
        /// tolerates any reordering.
        dup_threshold: Option<NonZeroU32> = "3", ONE_OR_OFF;
        /// Most segments that one ACK counts for in slow start (RFC 5681: 1, RFC 3465: 2);
        /// `off` counts all it acknowledges, as Linux does.
        growth_limit: Option<NonZeroU32> = "off", ONE_OR_OFF;
        /// The retransmission timeout is never shorter (RFC 6298: 1 s, Linux: 200 ms).
        rto_min: Time = "200ms", Kind::Period;
        /// The retransmission timeout before the first round-trip time is known.
        rto_initial: Time = "1000ms", Kind::Period;
        /// The same where the SYN was sent again.
        rto_fallback: Time = "3000ms", Kind::Period;
        /// Back-off stops here.
        rto_max: Time = "120000ms", Kind::Period;
        /// The least that variation adds to the timeout (the clock granularity G of RFC 6298;
        /// Linux: RTO_min).
        granularity: Time = "0ns", Kind::Time(&[]);
        /// Data segments per ACK; 1 is without delayed ACKs, 2 is the usual delayed ACK.
        ack_every: NonZeroU32 = "1", AT_LEAST_ONE;
        /// A delayed ACK is sent after this long at the latest.
        ack_delay: Time = "40ms", Kind::Period;
        /// How a connection is opened.
        handshake: Handshake = "packets", Kind::Choice(&["none", "delay", "packets"]);
    }
}

impl TcpParams {
    /// The hosts of DeTail and CaPFC: no fast retransmit, since packets of a flow take different
    /// paths, and an RTO_min of 10 ms.
    pub fn reorder_resistant() -> Self {
        Self { dup_threshold: None, rto_min: Time::from_ms(10), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_reads_back_as_listed() {
        for mut params in [TcpParams::default(), TcpParams::reorder_resistant()] {
            let before = params.clone();
            for p in before.list() {
                assert_eq!(params.set(p.name, &p.value), Some(Ok(())), "{}", p.name);
            }
            assert_eq!(params, before);
        }
        assert!(TcpParams::PARAMS.iter().all(|p| !p.doc.is_empty()));
    }

    #[test]
    fn values_that_tcp_cannot_work_with_are_refused() {
        for (name, value, says) in [
            ("initial-window", "0", "from 1"),
            ("ack-every", "0", "from 1"),
            ("dup-threshold", "0", "or `off`"),
            ("dup-threshold", "never", "or `off`"),
            ("growth-limit", "-1", "or `off`"),
            ("rto-min", "0ns", "at least 100 ns"),
            ("ack-delay", "1ns", "at least 100 ns"),
            ("dctcp-gain", "1.5", "from 0 to 1"),
            ("ecn", "on", "`rfc3168`"),
            ("handshake", "2rtt", "`packets`"),
        ] {
            let error = TcpParams::default().set(name, value).unwrap().unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
        assert!(TcpParams::default().set("mss", "1460").is_none());
    }
}
