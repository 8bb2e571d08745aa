//! Hosts that send in bursts and fall silent in between.

use super::burst::some_bytes;
use super::common::{ENDS, SPAN, check_stop};
use super::marking::{MARKING, Marking};
use super::{Context, Pair, Pattern, Streams};
use crate::arrival::{Arrival, Gaps};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::hosts::Others;
use crate::load::Offered;
use crate::params::{Entry, Fallback, Kind, Reader, params};
use weir_core::rng::Stream;
use weir_core::{NodeId, Rate, Time};

/// Hosts that alternate between a burst to a random receiver and silence. A burst is one flow of
/// as many bytes as the rate makes of its duration.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOff {
    /// Mean duration of a burst.
    pub on: Time,
    /// Mean silence between the end of a burst, as its rate has it, and the start of the next.
    pub off: Time,
    /// Exponential or equal durations.
    pub timing: Arrival,
    /// `None`: the rate of the sender's NIC. `Some`: bursts are sent at that rate.
    pub rate: Option<Rate>,
    /// The hosts that send; `None` for all.
    pub senders: Option<Vec<NodeId>>,
    /// The hosts that receive; `None` for all. A burst's receiver is never its sender.
    pub receivers: Option<Vec<NodeId>>,
    /// When the first silence begins. With equal durations each host starts at a random point of
    /// its cycle, so that they are not in step.
    pub start: Time,
    /// No burst starts at or after then.
    pub stop: Option<Time>,
    /// Class and priority.
    pub marking: Marking,
}

/// `on-off`.
pub(crate) const ENTRY: Entry = Entry {
    name: "on-off",
    doc: "Hosts alternate between a burst to a random receiver and an idle period.",
    groups: &[
        params! {
            "on" Kind::Time(&[]), Fallback::Required, "mean duration of a burst at `rate`";
            "off" Kind::Time(&[]), Fallback::Required, "mean idle time between bursts";
            "timing" Kind::Choice(&["exponential", "even"]), Fallback::Is("exponential"),
                "distribution of both durations";
            "rate" Kind::Rate, Fallback::Absent("the rate of the sender's NIC"), "rate of a burst";
        },
        ENDS,
        SPAN,
        MARKING,
    ],
};

impl OnOff {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        let timing = [("exponential", Arrival::Poisson), ("even", Arrival::Even)];
        Ok(Self {
            on: r.get("on")?,
            off: r.get("off")?,
            timing: r.choice("timing", &timing)?,
            rate: r.optional("rate")?,
            senders: r.hosts("senders")?,
            receivers: r.hosts("receivers")?,
            start: r.get("start")?,
            stop: r.optional("stop")?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }
}

impl Pattern for OnOff {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        for (name, time) in [("on", self.on), ("off", self.off)] {
            if time == Time::ZERO || time == Time::NEVER {
                return Err(TrafficError::value(name, time, "a time above 0"));
            }
        }
        if let Some(rate) = self.rate.filter(|r| r.as_bps() == 0) {
            return Err(TrafficError::value("rate", rate, "a burst is sent above 0 b/s"));
        }
        if !matches!(self.timing, Arrival::Poisson | Arrival::Even) {
            let valid = "durations are `exponential` or `even`";
            return Err(TrafficError::value("timing", format!("{:?}", self.timing), valid));
        }
        let senders = fabric.select("senders", self.senders.as_deref())?;
        let receivers = fabric.select("receivers", self.receivers.as_deref())?;
        if let Some(&lonely) = senders.as_slice().iter().find(|&&s| receivers.others(s) == 0) {
            let valid = "this host also sends, and there is no other receiver";
            return Err(TrafficError::value("receivers", lonely, valid));
        }
        check_stop(self.start, self.stop)
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let senders = ctx.fabric.select("senders", self.senders.as_deref()).expect("checked");
        let receivers = ctx.fabric.select("receivers", self.receivers.as_deref()).expect("checked");
        let stream = |&src: &NodeId| {
            let index = u64::from(src.0);
            let gaps = |mean: Time, purpose| {
                Gaps::new(self.timing, mean.as_ps() as f64, ctx.stream(purpose, index))
            };
            let phase = match self.timing {
                Arrival::Even => gaps(self.on.saturating_add(self.off), "phase").phase(),
                Arrival::Poisson | Arrival::LogNormal { .. } => Time::ZERO,
            };
            let bursts = Bursts {
                src,
                now: self.start.saturating_add(phase),
                until: ctx.cutoff(self.stop),
                on: gaps(self.on, "on"),
                off: gaps(self.off, "gap"),
                dst: ctx.stream("dst", index),
                others: receivers.without(src),
                rate: self.rate.unwrap_or(ctx.fabric.rate(src)),
                pace: self.rate,
                marking: self.marking,
            };
            (src, Box::new(bursts) as Box<_>)
        };
        senders.as_slice().iter().map(stream).collect()
    }

    fn endless(&self) -> bool {
        self.stop.is_none()
    }

    fn offered(&self, fabric: &Fabric) -> Option<Offered> {
        let senders = fabric.select("senders", self.senders.as_deref()).ok()?;
        let rate = match self.rate {
            Some(rate) => rate.as_bps() as f64 * senders.len() as f64,
            None => fabric.capacity_of(&senders) as f64,
        };
        let cycle = self.on.as_secs_f64() + self.off.as_secs_f64();
        Some(Offered {
            flows_per_second: senders.len() as f64 / cycle,
            bits_per_second: rate * self.on.as_secs_f64() / cycle,
        })
    }
}

/// The bursts of one host.
#[derive(Debug)]
struct Bursts {
    src: NodeId,
    /// End of the burst before.
    now: Time,
    until: Time,
    on: Gaps,
    off: Gaps,
    dst: Stream,
    others: Others,
    rate: Rate,
    pace: Option<Rate>,
    marking: Marking,
}

impl Iterator for Bursts {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        let start = self.now.saturating_add(self.off.next_gap());
        if start >= self.until {
            self.now = Time::NEVER;
            return None;
        }
        let lasts = self.on.next_gap();
        self.now = start.saturating_add(lasts);
        let pair = Pair::new(self.src, self.others.draw(&mut self.dst));
        let size = some_bytes(self.rate, lasts);
        Some(FlowSpec { rate: self.pace, ..self.marking.flow(pair, size, start) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{fabric, flows_of};
    use weir_core::Bytes;

    fn on_off(timing: Arrival) -> OnOff {
        OnOff {
            on: Time::from_us(10),
            off: Time::from_us(30),
            timing,
            rate: None,
            senders: None,
            receivers: None,
            start: Time::ZERO,
            stop: Some(Time::from_ms(200)),
            marking: Marking::default(),
        }
    }

    #[test]
    fn a_quarter_of_the_time_at_line_rate_is_a_load_of_a_quarter() {
        let flows = flows_of(on_off(Arrival::Poisson), &fabric(4), 1);
        // four hosts, 200 ms, a cycle of 40 us: 20 000 bursts, each exponential, so that the
        // standard error of the bytes is about 1 %
        let bytes: u64 = flows.iter().map(|f| f.size.get()).sum();
        let load = bytes as f64 * 8.0 / 0.2 / 400e9;
        assert!((load - 0.25).abs() < 0.0075, "{load}");
        let offered = on_off(Arrival::Poisson).offered(&fabric(4)).unwrap();
        assert!((offered.bits_per_second - 100e9).abs() < 1.0, "{offered:?}");
        assert!((offered.flows_per_second - 100e3).abs() < 1e-6, "{offered:?}");
    }

    #[test]
    fn even_bursts_repeat_exactly_but_hosts_are_out_of_step() {
        let flows = flows_of(on_off(Arrival::Even), &fabric(4), 1);
        let starts = |host| -> Vec<Time> {
            flows.iter().filter(|f| f.src == NodeId(host)).map(|f| f.start).collect()
        };
        for host in 0..4 {
            assert!(starts(host).windows(2).all(|w| w[1] - w[0] == Time::from_us(40)));
        }
        assert_ne!(starts(0)[0], starts(1)[0]);
        // 10 us at 100 Gb/s
        assert!(flows.iter().all(|f| f.size == Bytes::from_kb(125) && f.src != f.dst));
    }

    #[test]
    fn nonsense_is_refused() {
        let fabric = fabric(4);
        for (pattern, part) in [
            (OnOff { on: Time::ZERO, ..on_off(Arrival::Even) }, "`on`"),
            (OnOff { off: Time::ZERO, ..on_off(Arrival::Even) }, "`off`"),
            (OnOff { rate: Some(Rate::from_bps(0)), ..on_off(Arrival::Even) }, "`rate`"),
            (
                OnOff { receivers: Some(vec![NodeId(1)]), ..on_off(Arrival::Even) },
                "no other receiver",
            ),
            (OnOff { stop: Some(Time::ZERO), ..on_off(Arrival::Even) }, "`stop`"),
        ] {
            let message = pattern.check(&fabric).unwrap_err().to_string();
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}
