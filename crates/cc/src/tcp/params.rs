//! What can be set about TCP.

use crate::params::{ParamValue, params};
use std::num::NonZeroU32;
use weir_core::{Bytes, Time};

/// How ECN marks are echoed and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Data is not ECN-capable; marks are ignored.
    Off,
    /// RFC 3168: marks are echoed until the sender says that it has reacted; it halves its window.
    Rfc3168,
    /// DCTCP (RFC 8257): marks are echoed exactly; the window is cut by the marked fraction.
    Dctcp,
}

/// How a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// Data is sent at once.
    None,
    /// Data is sent one base round-trip time after the start: a handshake without its packets.
    Delay,
    /// A SYN is sent and data follows its SYN-ACK.
    Packets,
}

impl ParamValue for EcnMode {
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "off" => Ok(Self::Off),
            "rfc3168" => Ok(Self::Rfc3168),
            "dctcp" => Ok(Self::Dctcp),
            _ => Err("write `off`, `rfc3168` or `dctcp`".into()),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Off => "off",
            Self::Rfc3168 => "rfc3168",
            Self::Dctcp => "dctcp",
        }
        .into()
    }
}

impl ParamValue for Handshake {
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "none" => Ok(Self::None),
            "delay" => Ok(Self::Delay),
            "packets" => Ok(Self::Packets),
            _ => Err("write `none`, `delay` or `packets`".into()),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::None => "none",
            Self::Delay => "delay",
            Self::Packets => "packets",
        }
        .into()
    }
}

impl ParamValue for NonZeroU32 {
    fn read(text: &str) -> Result<Self, String> {
        text.trim().parse().map_err(|_| "write a whole number from 1".into())
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl ParamValue for Option<NonZeroU32> {
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "off" => Ok(None),
            text => {
                text.parse().map(Some).map_err(|_| "write a whole number from 1, or `off`".into())
            }
        }
    }

    fn write(&self) -> String {
        self.map_or_else(|| "off".into(), |n| n.to_string())
    }
}

/// `n`, which is not zero.
const fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).expect("a default is not zero")
}

params! {
    /// Parameters of TCP. Defaults: the RFCs', and Linux's where they leave the choice.
    TcpParams {
        /// Initial window (RFC 6928: 10; RFC 3390 with 1460 B: 3).
        initial_window: NonZeroU32 = count(10), "segments";
        /// The window never exceeds what the receiver advertises, which is this.
        receive_window: Bytes = Bytes::new(6 << 20), "bytes";
        /// How ECN marks are echoed and answered.
        ecn: EcnMode = EcnMode::Rfc3168, "off, rfc3168, dctcp";
        /// DCTCP: gain of the marking estimate alpha.
        dctcp_gain: f64 = 1.0 / 16.0, "fraction";
        /// Duplicate ACKs that start fast retransmit; `off` leaves recovery to the timeout, which
        /// tolerates any reordering.
        dup_threshold: Option<NonZeroU32> = Some(count(3)), "ACKs, or off";
        /// Most segments that one ACK counts for in slow start (RFC 5681: 1, RFC 3465: 2);
        /// `off` counts all it acknowledges, as Linux does.
        growth_limit: Option<NonZeroU32> = None, "segments, or off";
        /// The retransmission timeout is never shorter (RFC 6298: 1 s, Linux: 200 ms).
        rto_min: Time = Time::from_ms(200), "time from 100 ns";
        /// The retransmission timeout before the first round-trip time is known.
        rto_initial: Time = Time::from_ms(1000), "time from 100 ns";
        /// The same where the SYN was sent again.
        rto_fallback: Time = Time::from_ms(3000), "time from 100 ns";
        /// Back-off stops here.
        rto_max: Time = Time::from_ms(120_000), "time from 100 ns";
        /// The least that variation adds to the timeout (the clock granularity G of RFC 6298;
        /// Linux: RTO_min).
        granularity: Time = Time::ZERO, "time";
        /// Data segments per ACK; 1 is without delayed ACKs, 2 is the usual delayed ACK.
        ack_every: NonZeroU32 = count(1), "segments";
        /// A delayed ACK is sent after this long at the latest.
        ack_delay: Time = Time::from_ms(40), "time from 100 ns";
        /// How a connection is opened.
        handshake: Handshake = Handshake::Packets, "none, delay, packets";
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
                assert!(!p.doc.is_empty());
            }
            assert_eq!(params, before);
        }
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
