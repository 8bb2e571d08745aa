//! How long the receiver of a PAUSE takes to stop sending.

use crate::{Bytes, Rate, Time};
use std::fmt;

/// Time between the arrival of a control frame and its effect.
///
/// ```
/// use weir_core::{Rate, Response, Time};
/// // 394 quanta of 512 bits
/// assert_eq!(Response::Standard.at(Rate::from_gbps(100)), Time::from_ps(2_017_280));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// The same at every port.
    Fixed(Time),
    /// What the standard allows a port of its speed. For a speed that is not listed it is the
    /// number of quanta of the next faster one that is; for more than 800 Gb/s, that of 800 Gb/s.
    Standard,
}

/// Allowed response times in pause quanta of 512 bit times, by speed in Mb/s.
const QUANTA: [(u64, u64); 10] = [
    (100, 1),
    (1_000, 2),
    (10_000, 67),
    (25_000, 80),
    (40_000, 118),
    (50_000, 147),
    (100_000, 394),
    (200_000, 453),
    (400_000, 905),
    (800_000, 905),
];

impl Response {
    /// At once.
    pub const NONE: Self = Self::Fixed(Time::ZERO);
    /// How scenarios write [`Response::Standard`].
    pub const STANDARD: &'static str = "802.1Qbb";

    /// At a port of this speed.
    pub fn at(self, port: Rate) -> Time {
        match self {
            Self::Fixed(time) => time,
            Self::Standard => port.time_for(Bytes::new(64 * quanta(port))),
        }
    }

    /// What the standard's table allows a port of exactly this speed, in pause quanta of 64 B.
    pub fn listed_quanta(port: Rate) -> Option<u64> {
        let listed = QUANTA.iter().find(|(mbps, _)| port.as_bps() == mbps * 1_000_000);
        listed.map(|(_, quanta)| *quanta)
    }
}

/// What the standard allows a port of this speed, in quanta.
fn quanta(port: Rate) -> u64 {
    let listed = QUANTA.iter().find(|(mbps, _)| port.as_bps() <= mbps * 1_000_000);
    listed.unwrap_or(&QUANTA[QUANTA.len() - 1]).1
}

impl Default for Response {
    fn default() -> Self {
        Self::NONE
    }
}

impl From<Time> for Response {
    fn from(time: Time) -> Self {
        Self::Fixed(time)
    }
}

/// As it is written: a fixed time is shown as one.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(time) => fmt::Debug::fmt(time, f),
            Self::Standard => f.pad(Self::STANDARD),
        }
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(Time::ZERO) => f.pad("0 ns"),
            Self::Fixed(time) => time.fmt(f),
            Self::Standard => f.pad(Self::STANDARD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_allows_quanta_by_speed() {
        // quanta x 512 bits / speed: 118 x 12.8 ns, 394 x 5.12 ns, 905 x 1.28 ns, 905 x 0.64 ns
        for (gbps, ps) in [(40, 1_510_400), (100, 2_017_280), (400, 1_158_400), (800, 579_200)] {
            let response = Response::Standard.at(Rate::from_gbps(gbps));
            assert_eq!(response, Time::from_ps(ps), "{gbps} Gb/s");
        }
    }

    #[test]
    fn a_speed_that_is_not_listed_has_the_quanta_of_the_next_faster_one() {
        // 56 Gb/s: those of 100; 10 Mb/s: those of 100 Mb/s; 1.6 Tb/s: those of 800 Gb/s
        for (mbps, expected) in [(56_000, 394), (10, 1), (1_600_000, 905)] {
            assert_eq!(quanta(Rate::from_bps(mbps * 1_000_000)), expected, "{mbps} Mb/s");
        }
    }
}
