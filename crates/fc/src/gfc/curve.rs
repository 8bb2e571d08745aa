//! From queue length to rate: thresholds, stages and the line between them.

use super::{B_0, B_1, B_M, FEEDBACK, MIN_RATE, MODE, PERIOD, RESPONSE};
use crate::ppfc::feedback_latency;
use crate::{NodeSetup, Param, ParamError, PortSetup, Values, threshold};
use weir_core::{Bytes, Rate, Time};

/// The constants of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Curve {
    rate: Rate,
    /// Stage thresholds B_1, B_2, …; none where occupancy is reported.
    pub(super) stages: Vec<u64>,
    /// Occupancy up to which the rate is full, and at which the line reaches zero.
    pub(super) b_0: u64,
    pub(super) b_m: u64,
    /// Time between two reports.
    pub(super) period: Time,
}

impl Curve {
    /// A port that never limits anybody.
    pub(super) fn flat(port: &PortSetup) -> Self {
        Self { rate: port.rate, ..Self::default() }
    }

    /// B_1, below which there is no limit.
    pub(super) fn first_stage(&self) -> Bytes {
        self.stages.first().map_or(Bytes::MAX, |&b| Bytes::new(b))
    }

    /// The largest k with q ≥ B_k.
    pub(super) fn stage(&self, q: u64) -> u16 {
        self.stages.partition_point(|&b| b <= q) as u16
    }

    /// The rate of stage k, C/2^k; `None` for no limit.
    pub(super) fn rate_of_stage(&self, k: u16) -> Option<Rate> {
        let part = self.rate.as_bps().checked_shr(u32::from(k)).unwrap_or(0);
        (k > 0).then_some(Rate::from_bps(part.max(1)))
    }

    /// The rate at occupancy `q`, not below `min`; `None` for no limit.
    pub(super) fn rate_at(&self, q: u64, min: Rate) -> Option<Rate> {
        let slope = self.b_m.saturating_sub(self.b_0);
        if q <= self.b_0 || slope == 0 {
            return None;
        }
        let room = u128::from(self.b_m.saturating_sub(q));
        let part = u128::from(self.rate.as_bps()) * room / u128::from(slope);
        Some(Rate::from_bps(part as u64).max(min))
    }
}

weir_core::words! {
    /// What a neighbour is told of an ingress, as [`FEEDBACK`] says.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum Signal {
        /// Stages of the buffer.
        Buffer = "buffer",
        /// The rate, from time to time.
        Time = "time",
        /// The rate, at any change.
        Conceptual = "conceptual",
    }
}

impl Signal {
    pub(super) fn of(values: &Values) -> Self {
        values.one_of(&FEEDBACK, &Self::WORDS)
    }
}

/// What the parameters say, before they meet a port.
pub(super) struct Plan<'a> {
    values: &'a Values,
    setup: &'a NodeSetup<'a>,
    /// `ofc` mode.
    pub(super) stops: bool,
    pub(super) signal: Signal,
}

impl<'a> Plan<'a> {
    pub(super) fn new(values: &'a Values, setup: &'a NodeSetup<'a>) -> Self {
        Self {
            values,
            setup,
            stops: values.one_of(&MODE, &[("paper", false), ("ofc", true)]),
            signal: Signal::of(values),
        }
    }

    /// τ: from the decision to its effect.
    fn latency(&self, port: &PortSetup) -> Time {
        let response = self.values.time(&RESPONSE).expect("has a default");
        feedback_latency(port, self.setup.max_frame) + response
    }

    /// B_m of port `i`.
    fn end(&self, i: usize) -> Result<u64, ParamError> {
        let port = &self.setup.ports[i];
        let in_flight = if self.stops { 0 } else { bytes_over(port.rate, self.latency(port)) };
        let derived = threshold::fixed(self.setup).map(|of| of[i].0.get() + in_flight);
        self.values.bytes(&B_M).map(Bytes::get).or(derived).ok_or_else(|| {
            ParamError(format!(
                "{} must be given when the buffer's thresholds are not static",
                B_M.name
            ))
        })
    }

    /// `param` as given, or `gap` below `end`; below `end` in any case.
    fn below(&self, param: &Param, end: u64, gap: u64) -> Result<u64, ParamError> {
        let derived = || end.checked_sub(gap).filter(|_| gap > 0);
        match self.values.bytes(param).map(Bytes::get).or_else(derived) {
            Some(x) if x < end => Ok(x),
            Some(_) => Err(ParamError(format!(
                "{} must lie below {} ({})",
                param.name,
                B_M.name,
                Bytes::new(end)
            ))),
            None => Err(ParamError(format!(
                "{} should lie {} below {}, which is only {}: give a larger buffer or a shorter \
                 period",
                param.name,
                Bytes::new(gap),
                B_M.name,
                Bytes::new(end)
            ))),
        }
    }

    pub(super) fn curve(&self, i: usize) -> Result<Curve, ParamError> {
        let port = &self.setup.ports[i];
        let (rate, tau, b_m) = (port.rate, self.latency(port), self.end(i)?);
        let mut curve = Curve { rate, b_m, ..Curve::default() };
        match self.signal {
            Signal::Buffer if self.stops => {
                let first = self.below(&B_1, b_m, b_m - threshold::ALPHA.of(b_m))?;
                let frame = self.setup.max_frame.get();
                curve.stages = halving(first, b_m).take_while(|b| b_m - b >= frame).collect();
            }
            Signal::Buffer => {
                let first = self.below(&B_1, b_m, 2 * bytes_over(rate, tau))?;
                let min = self.values.rate(&MIN_RATE).expect("has a default");
                curve.stages = halving(first, b_m).take(stages(rate, min)).collect();
            }
            Signal::Time => {
                curve.period = self.values.time(&PERIOD).unwrap_or(tau);
                port.check_interval(PERIOD.name, curve.period)?;
                let slope = bytes_over(rate, sum_of_roots_squared(tau, curve.period));
                curve.b_0 = self.below(&B_0, b_m, slope)?;
            }
            Signal::Conceptual => curve.b_0 = self.below(&B_0, b_m, bytes_over(rate, tau * 4))?,
        }
        Ok(curve)
    }
}

/// (√a + √b)² = a + b + 2√(ab), rounded up.
fn sum_of_roots_squared(a: Time, b: Time) -> Time {
    let product = 4 * u128::from(a.as_ps()) * u128::from(b.as_ps());
    let root = product.isqrt();
    let up = root + u128::from(root * root < product);
    a + b + Time::from_ps(up as u64)
}

/// Bytes that `rate` brings in `time`, rounded up.
fn bytes_over(rate: Rate, time: Time) -> u64 {
    let whole = rate.bytes_in(time);
    whole.get() + u64::from(rate.time_for(whole) < time)
}

/// B_1, B_2, …: each halves the gap to `end`.
fn halving(first: u64, end: u64) -> impl Iterator<Item = u64> {
    (0..64).map(move |k| end - ((end - first) >> k))
}

/// N = ⌈log2(rate/min)⌉: the stages until the rate is not above `min`.
fn stages(rate: Rate, min: Rate) -> usize {
    let parts = rate.as_bps().div_ceil(min.as_bps().max(1)).max(1);
    parts.next_power_of_two().ilog2() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Bench;

    /// The curve of a port of 40 Gb/s and 20 ns with thresholds of 75 and 45 KB.
    fn curve(options: &[(&Param, &str)]) -> Result<Curve, String> {
        let mut values = Values::new();
        for (param, text) in options {
            values.set(param, text).unwrap();
        }
        let mut curve = Err(String::new());
        Bench::around(1, "75KB", "45KB", |setup| {
            curve = Plan::new(&values, setup).curve(0).map_err(|e| e.0);
            crate::none::NoFlowControl::new(setup.schedule)
        });
        curve
    }

    /// τ = (2·1538 + 84) B at 40 Gb/s and 40 ns = 672 ns, Cτ = 3360 B.
    #[test]
    fn the_papers_stages_on_the_ofc_papers_links() {
        let c = curve(&[]).unwrap();
        assert_eq!(c.b_m, 75_000 + 3360);
        assert_eq!(c.stages[..3], [71_640, 75_000, 76_680], "each halves the gap of 2Cτ = 6720");
        // 40 Gb/s over 8 kb/s is 5 000 000, below 2^23
        assert_eq!(c.stages.len(), 23);
        assert_eq!(c.stages[11..14], [78_360 - (6720 >> 11), 78_360 - (6720 >> 12), 78_360]);
        // 4000 parts, below 2^12
        assert_eq!(curve(&[(&MIN_RATE, "10Mbps")]).unwrap().stages.len(), 12);
        assert_eq!(curve(&[(&MIN_RATE, "10Gbps")]).unwrap().stages.len(), 2);
        assert_eq!(curve(&[(&MIN_RATE, "9Gbps")]).unwrap().stages.len(), 3);
        assert_eq!(curve(&[(&MIN_RATE, "40Gbps")]).unwrap().stages.len(), 0);
    }

    #[test]
    fn the_ofc_papers_stages_end_at_one_frame() {
        let c = curve(&[(&MODE, "ofc")]).unwrap();
        // gaps 7000, 3500, 1750; 875 is less than a frame
        assert_eq!((c.b_m, c.stages), (75_000, vec![68_000, 71_500, 73_250]));
        let c = curve(&[(&MODE, "ofc"), (&B_1, "73482B")]).unwrap();
        assert_eq!(c.stages, [73_482], "a gap of 1518 B is one frame");
    }

    #[test]
    fn a_queue_is_in_the_stage_whose_threshold_it_has_reached() {
        let c = curve(&[]).unwrap();
        let at = [71_639, 71_640, 74_999, 75_000, 78_359, 78_360, 90_000];
        // the 13th threshold lies 1 B (6720 >> 12) below the end, all later ones at the end
        assert_eq!(at.map(|q| c.stage(q)), [0, 1, 1, 2, 13, 23, 23]);
        assert_eq!(c.rate_of_stage(0), None);
        assert_eq!(c.rate_of_stage(1), Some(Rate::from_gbps(20)));
        assert_eq!(c.rate_of_stage(12), Some(Rate::from_bps(9_765_625)));
        assert_eq!(c.rate_of_stage(200), Some(Rate::from_bps(1)), "never zero");
    }

    #[test]
    fn the_line_falls_from_b_0_to_the_end() {
        let c = curve(&[(&FEEDBACK, "conceptual")]).unwrap();
        // 4Cτ = 13 440 B
        assert_eq!((c.b_0, c.b_m), (64_920, 78_360));
        let min = Rate::from_bps(10_000_000);
        assert_eq!(c.rate_at(64_920, min), None);
        assert_eq!(c.rate_at(64_920 + 6_720, min), Some(Rate::from_gbps(20)));
        assert_eq!(c.rate_at(78_359, min), Some(min), "2.98 Mb/s");
        assert_eq!(c.rate_at(1_000_000, min), Some(min), "never zero");
        let flat = Curve::flat(&PortSetup::new(Rate::from_gbps(1), Time::ZERO));
        assert_eq!(flat.rate_at(1, min), None);
    }

    #[test]
    fn periodic_reports_need_more_room() {
        // T = τ gives (2√τ)² = 4τ, as for the conceptual feedback
        let c = curve(&[(&FEEDBACK, "time")]).unwrap();
        assert_eq!((c.period, c.b_0), (Time::from_ns(672), 64_920));
        let c = curve(&[(&FEEDBACK, "time"), (&PERIOD, "2688ns")]).unwrap();
        // T = 4τ: (1 + 2)² τ = 9τ
        assert_eq!(c.b_0, 78_360 - 9 * 3360);
        let e = curve(&[(&FEEDBACK, "time"), (&PERIOD, "100us")]).unwrap_err();
        assert!(e.contains("shorter period"), "{e}");
        assert_eq!(sum_of_roots_squared(Time::from_ps(2), Time::from_ps(1)), Time::from_ps(6));
    }

    #[test]
    fn a_slow_receiver_needs_more_room() {
        // 100 ns more are 500 B more
        let c = curve(&[(&RESPONSE, "100ns")]).unwrap();
        assert_eq!((c.b_m, c.stages[0]), (78_860, 78_860 - 2 * 3860));
    }

    #[test]
    fn thresholds_at_or_above_the_end_are_refused() {
        let says = |options: &[(&Param, &str)]| curve(options).unwrap_err();
        assert!(says(&[(&B_1, "80KB")]).contains("b-1 must lie below b-m"));
        assert!(says(&[(&B_1, "78360B")]).contains("b-1 must lie below b-m"));
        assert!(says(&[(&FEEDBACK, "time"), (&B_0, "80KB")]).contains("b-0 must lie below"));
        assert!(says(&[(&B_M, "5KB")]).contains("larger buffer"));
        assert_eq!(curve(&[(&B_M, "100KB")]).unwrap().stages[0], 100_000 - 6720);
        assert_eq!(bytes_over(Rate::from_gbps(40), Time::from_ps(201)), 2, "rounded up");
        assert_eq!(bytes_over(Rate::from_gbps(40), Time::from_ps(400)), 2);
    }
}
