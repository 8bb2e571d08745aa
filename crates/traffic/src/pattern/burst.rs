//! Several senders, one receiver, one instant.

use super::common::{PAIRS, check_pairs};
use super::marking::{MARKING, Marking};
use super::{Context, Pair, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::params::{Entry, Fallback, Kind, Reader, params};
use crate::size::Sizes;
use crate::text::TimeRange;
use weir_core::rng::Stream;
use weir_core::{Bytes, Rate, Time};

/// How much each sender of a burst sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// A size.
    Size(Sizes),
    /// What a rate makes of a duration, drawn uniformly from a range; at least 1 byte.
    Duration {
        /// How long the burst lasts.
        lasts: TimeRange,
        /// `None`: the rate of the sender's NIC. `Some`: the flow is sent at that rate.
        rate: Option<Rate>,
    },
}

impl Amount {
    /// What a host whose NIC runs at `nic` sends.
    pub(crate) fn draw(&self, nic: Rate, stream: &mut Stream) -> Bytes {
        match self {
            Self::Size(sizes) => sizes.draw(stream),
            Self::Duration { lasts, rate } => {
                let lasts = stream.between(lasts.low.as_ps(), lasts.high.as_ps());
                some_bytes(rate.unwrap_or(nic), Time::from_ps(lasts))
            }
        }
    }

    /// Refuses amounts that make no sense.
    pub(crate) fn check(&self) -> Result<(), TrafficError> {
        match *self {
            Self::Size(ref sizes) => sizes.check_finite("size"),
            Self::Duration { lasts, .. } if lasts.low > lasts.high || lasts.high == Time::ZERO => {
                let value = format!("{}..{}", lasts.low, lasts.high);
                let valid = "a range of durations must be ascending and end above 0";
                Err(TrafficError::value("duration", value, valid))
            }
            Self::Duration { rate: Some(rate), .. } if rate.as_bps() == 0 => {
                Err(TrafficError::value("rate", rate, "a burst is sent above 0 b/s"))
            }
            Self::Duration { .. } => Ok(()),
        }
    }
}

/// What `rate` makes of `time`: at least 1 byte, and never so much that it means "unlimited".
pub(crate) fn some_bytes(rate: Rate, time: Time) -> Bytes {
    rate.bytes_in(time).clamp(Bytes::new(1), Bytes::new(u64::MAX - 1))
}

/// Flows that start together.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// From where to where, one flow each.
    pub pairs: Vec<Pair>,
    /// How much each sends.
    pub amount: Amount,
    /// When they start.
    pub start: Time,
    /// Class and priority.
    pub marking: Marking,
}

/// `burst`.
pub(crate) const ENTRY: Entry = Entry {
    name: "burst",
    doc: "Several senders start together, usually towards one receiver. Give either `size` or \
          `duration`.",
    groups: &[
        PAIRS,
        params! {
            "size" Kind::Sizes, Fallback::Absent("what `duration` makes"), "payload of each flow";
            "scale" Kind::Fraction, Fallback::Is("1"),
                "factor for the sizes of a table";
            "duration" Kind::Times, Fallback::Absent("the time `size` takes"),
                "how long each sender would take at `rate`; drawn for each from a range";
            "rate" Kind::Rate, Fallback::Absent("the rate of the sender's NIC"),
                "rate of a burst of given duration";
        },
        MARKING,
    ],
};

impl Burst {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let lasts: Option<TimeRange> = r.optional("duration")?;
        let rate = r.optional("rate")?;
        let amount = match (r.optional_sizes("size", "scale")?, lasts) {
            (Some(sizes), None) if rate.is_none() => Amount::Size(sizes),
            (None, Some(lasts)) => Amount::Duration { lasts, rate },
            (Some(_), None) => {
                let valid = "a rate goes with `duration`; for a paced flow use `constant`";
                return Err(TrafficError::value("rate", "given with `size`", valid));
            }
            (Some(_), Some(_)) => {
                let valid = "give either `size` or `duration`";
                return Err(TrafficError::value("duration", "given with `size`", valid));
            }
            (None, None) => {
                let valid = "give either `size` or `duration`";
                return Err(TrafficError::value("size", "not given", valid));
            }
        };
        Ok(Self {
            pairs: r.pairs()?,
            amount,
            start: r.get("start")?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }
}

impl Pattern for Burst {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        check_pairs(&self.pairs, fabric)?;
        self.amount.check()
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let rate = match self.amount {
            Amount::Duration { rate, .. } => rate,
            Amount::Size(_) => None,
        };
        let mut stream = ctx.stream("size", 0);
        let flow = |&pair: &Pair| {
            let size = self.amount.draw(ctx.fabric.rate(pair.src), &mut stream);
            FlowSpec { rate, ..self.marking.flow(pair, size, self.start) }
        };
        ctx.bucket(self.pairs.iter().map(flow).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{fabric, flows_of};
    use weir_core::NodeId;

    fn burst(amount: Amount) -> Burst {
        let pairs = (1..7).map(|i| Pair::new(NodeId(i), NodeId(0))).collect();
        Burst { pairs, amount, start: Time::from_us(5), marking: Marking::default() }
    }

    fn duration(low: u64, high: u64) -> TimeRange {
        TimeRange { low: Time::from_us(low), high: Time::from_us(high) }
    }

    #[test]
    fn thirty_microseconds_at_40_gbps_are_150_kilobytes() {
        let amount = Amount::Duration { lasts: duration(30, 30), rate: Some(Rate::from_gbps(40)) };
        let flows = flows_of(burst(amount), &fabric(8), 1);
        assert_eq!(flows.len(), 6);
        for flow in flows {
            assert_eq!((flow.size, flow.start), (Bytes::from_kb(150), Time::from_us(5)));
            assert_eq!((flow.dst, flow.rate), (NodeId(0), Some(Rate::from_gbps(40))));
        }
    }

    #[test]
    fn the_nic_sets_the_rate_when_none_is_given_and_durations_vary() {
        let flows =
            flows_of(burst(Amount::Duration { lasts: duration(0, 30), rate: None }), &fabric(8), 1);
        // 100 Gb/s for up to 30 us: at most 375 KB
        assert!(flows.iter().all(|f| f.size <= Bytes::from_kb(375) && f.rate.is_none()));
        assert!(flows.iter().any(|f| f.size != flows[0].size));
    }

    #[test]
    fn amounts_that_make_no_sense_are_refused() {
        for (amount, part) in [
            (Amount::Duration { lasts: duration(9, 8), rate: None }, "`duration` is 9 us..8 us"),
            (Amount::Duration { lasts: duration(0, 0), rate: None }, "end above 0"),
            (
                Amount::Duration { lasts: duration(0, 9), rate: Some(Rate::from_bps(0)) },
                "above 0 b/s",
            ),
            (Amount::Size(Sizes::Fixed(Bytes::ZERO)), "at least 1 B"),
        ] {
            let message = burst(amount).check(&fabric(8)).unwrap_err().to_string();
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
        let mut to_itself = burst(Amount::Size(Sizes::Fixed(Bytes::new(1))));
        to_itself.pairs[2].dst = NodeId(3);
        let error = to_itself.check(&fabric(8)).unwrap_err();
        assert_eq!(error, TrafficError::ToItself { host: NodeId(3) });
    }
}
