//! Link speeds in whole bits per second.

use super::parse::{Grammar, notation, print};
use super::{Bytes, Time};
use std::fmt;

/// A speed in whole bits per second. Never zero where a link or source uses it:
/// readers refuse that.
///
/// ```
/// use weir_core::{Bytes, Rate, Time};
/// let r: Rate = "40Gbps".parse()?;
/// // 1538 B on the wire at 200 ps per byte
/// assert_eq!(r.time_for(Bytes::new(1538)), Time::from_ps(307_600));
/// # Ok::<(), weir_core::ParseUnitError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

const GRAMMAR: Grammar = Grammar {
    what: "a rate",
    example: "100Gbps",
    units: "bps, Kbps, Mbps, Gbps, Tbps",
    resolution: "bit/s",
    max: "18446744 Tbps",
    table: &[
        ("bps", 1),
        ("b/s", 1),
        ("Kbps", 1_000),
        ("kbps", 1_000),
        ("kb/s", 1_000),
        ("Mbps", 1_000_000),
        ("Mb/s", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
        ("Tb/s", 1_000_000_000_000),
    ],
    bare: None,
};

const PRINT: &[(&str, u64)] = &[
    ("Tb/s", 1_000_000_000_000),
    ("Gb/s", 1_000_000_000),
    ("Mb/s", 1_000_000),
    ("kb/s", 1_000),
    ("b/s", 1),
];

const PS_PER_S: u128 = 1_000_000_000_000;

impl Rate {
    /// From bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// From gigabits per second.
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps * 1_000_000_000)
    }

    /// In bits per second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// How long `bytes` occupy the wire: `ceil(bytes * 8 * 10^12 / rate)` picoseconds.
    ///
    /// A rate of zero takes forever.
    #[inline]
    pub const fn time_for(self, bytes: Bytes) -> Time {
        if self.0 == 0 {
            return Time::NEVER;
        }
        // What a frame takes fits 64 bits, and so spares a division of 128.
        if let Some(bit_ps) = bytes.get().checked_mul(8 * PS_PER_S as u64) {
            return Time::from_ps(bit_ps.div_ceil(self.0));
        }
        let ps = (bytes.get() as u128 * 8 * PS_PER_S).div_ceil(self.0 as u128);
        if ps > u64::MAX as u128 { Time::NEVER } else { Time::from_ps(ps as u64) }
    }

    /// How many whole bytes fit into `time`.
    #[inline]
    pub const fn bytes_in(self, time: Time) -> Bytes {
        let bytes = self.0 as u128 * time.as_ps() as u128 / (8 * PS_PER_S);
        Bytes::new(if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 })
    }

    /// The picoseconds one byte takes, when that is a whole number (it is for
    /// every usual Ethernet speed up to 800 Gb/s).
    pub const fn ps_per_byte(self) -> Option<u64> {
        const BYTE: u64 = 8 * PS_PER_S as u64;
        if self.0 != 0 && BYTE.is_multiple_of(self.0) { Some(BYTE / self.0) } else { None }
    }
}

notation!(Rate);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, PRINT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        for (text, bps) in [
            ("100Gbps", 100_000_000_000),
            ("2.5 Gb/s", 2_500_000_000),
            ("8kbps", 8_000),
            ("1.6Tbps", 1_600_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Rate::from_bps(bps)), "{text}");
        }
        assert!("100GB".parse::<Rate>().unwrap_err().to_string().contains("Gbps"));
    }

    #[test]
    fn serialisation_rounds_up_to_the_picosecond() {
        // 3 Gb/s: one byte takes 2666.67 ps
        assert_eq!(Rate::from_gbps(3).time_for(Bytes::new(1)), Time::from_ps(2667));
        assert_eq!(Rate::from_gbps(3).time_for(Bytes::new(3)), Time::from_ps(8000));
        assert_eq!(Rate::from_gbps(100).time_for(Bytes::new(1000)), Time::from_ns(80));
        assert_eq!(Rate::from_bps(0).time_for(Bytes::new(1)), Time::NEVER);
    }

    #[test]
    fn a_whole_number_of_picoseconds_per_byte_is_recognised() {
        assert_eq!(Rate::from_gbps(100).ps_per_byte(), Some(80));
        assert_eq!(Rate::from_gbps(40).ps_per_byte(), Some(200));
        assert_eq!(Rate::from_gbps(3).ps_per_byte(), None);
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(bps in 0..u64::MAX) {
            let r = Rate::from_bps(bps);
            prop_assert_eq!(r.to_string().parse(), Ok(r));
        }

        #[test]
        fn bytes_sent_in_their_own_time_are_those_bytes(
            bytes in 1..10_000_000u64, gbps in 1..800u64
        ) {
            let (r, b) = (Rate::from_gbps(gbps), Bytes::new(bytes));
            prop_assert_eq!(r.bytes_in(r.time_for(b)), b);
        }
    }
}
