//! TIMELY: congestion control from the gradient of the round-trip time.
//!
//! The sender measures the RTT by a timestamp that the receiver echoes. A short RTT lets it raise
//! the rate, a very long one cuts it, and in between the *slope* of the RTT decides: falling or
//! flat raises, rising cuts in proportion. After five raises in a row the step grows.
//!
//! Messages: an 8-byte timestamp in data packets, echoed by ACKs. Once per RTT (by sequence: the
//! first ACK beyond what had been sent at the last update):
//!
//! ```text
//! d = (1-a) d + a (rtt - previous rtt);  gradient = d / min_rtt
//! rtt < t_low          R += ai (hai from the sixth raise on)
//! rtt > t_high         R *= 1 - beta (1 - t_high / rtt)
//! gradient <= 0        R += ai (hai from the sixth raise on)
//! otherwise            R *= max(0, 1 - beta gradient)
//! ```
//!
//! TIMELY (Mittal et al., SIGCOMM 2015), Algorithm 1. Deviations, all as in the HPCC authors' ns-3
//! model: updates once per RTT instead of per completion event of a burst; the larger step is a
//! parameter instead of 5 ai; the first RTT only records a sample. Rates are whole bit/s, rounded
//! down.

use crate::control::{Ack, CongestionControl, Needs, Pacing, Path, Timers};
use crate::params::params;
use crate::step::Step;
use crate::window::{Window, WindowKind, rate_and_window};
use weir_core::param::Kind;
use weir_core::{Rate, Time};

params! {
    /// Parameters of TIMELY. Defaults: the HPCC evaluation's values.
    TimelyParams {
        /// Weight of a new sample in the RTT difference.
        alpha: f64 = "0.875", Kind::Share;
        /// Strength of cuts.
        beta: f64 = "0.8", Kind::Share;
        /// Below this RTT the rate always rises.
        t_low: Time = "50us", Kind::Time(&[]);
        /// Above this RTT the rate always falls.
        t_high: Time = "500us", Kind::Time(&[]);
        /// The RTT difference is divided by this to give the gradient.
        min_rtt: Time = "20us", Kind::Time(&[]);
        /// Additive step.
        ai: Step = "10Mbps per 10Gbps", Kind::RateStep;
        /// Additive step from the sixth raise in a row on.
        hai: Step = "50Mbps per 10Gbps", Kind::RateStep;
        /// Lowest rate: no cut goes below it.
        min_rate: Rate = "1Gbps", Kind::PositiveRate;
        /// What limits the bytes in flight.
        window: WindowKind = "none", Kind::Choice(&["none", "static", "variable"]);
    }
}

/// Raises in a row before the larger step.
const HAI_AFTER: u32 = 5;

#[derive(Clone, Copy, Debug)]
struct Config {
    alpha: f64,
    beta: f64,
    t_low: f64,
    t_high: f64,
    min_rtt: f64,
    ai: u64,
    hai: u64,
    min_rate: u64,
    line_rate: u64,
}

/// A flow under TIMELY.
#[derive(Clone, Debug)]
pub struct Timely {
    rate: u64,
    last_update: u64,
    /// RTTs are nanoseconds: whole ones stay exact.
    last_rtt: f64,
    rtt_diff: f64,
    stage: u32,
    window: Window,
    config: Config,
}

pub(crate) fn as_ns(t: Time) -> f64 {
    t.as_ps() as f64 / 1000.0
}

impl Timely {
    /// A new flow: line rate.
    pub fn new(p: &TimelyParams, path: &Path) -> Self {
        let line_rate = path.line_rate.as_bps();
        Self {
            rate: line_rate,
            last_update: 0,
            last_rtt: 0.0,
            rtt_diff: 0.0,
            stage: 0,
            window: Window::new(p.window, path),
            config: Config {
                alpha: p.alpha,
                beta: p.beta,
                t_low: as_ns(p.t_low),
                t_high: as_ns(p.t_high),
                min_rtt: as_ns(p.min_rtt),
                ai: p.ai.at(path.line_rate).as_bps(),
                hai: p.hai.at(path.line_rate).as_bps(),
                min_rate: p.min_rate.as_bps(),
                line_rate,
            },
        }
    }

    fn update(&mut self, rtt: f64) {
        let c = &self.config;
        let diff = (1.0 - c.alpha) * self.rtt_diff + c.alpha * (rtt - self.last_rtt);
        let gradient = diff / c.min_rtt;
        let cut = if rtt < c.t_low {
            None
        } else if rtt > c.t_high {
            Some(1.0 - c.beta * (1.0 - c.t_high / rtt))
        } else if gradient <= 0.0 {
            None
        } else {
            Some((1.0 - c.beta * gradient).max(0.0))
        };
        match cut {
            None => {
                let step = if self.stage < HAI_AFTER { c.ai } else { c.hai };
                self.rate = self.rate.saturating_add(step).min(c.line_rate);
                self.stage = self.stage.saturating_add(1);
            }
            Some(factor) => {
                self.rate = ((self.rate as f64 * factor) as u64).max(c.min_rate);
                self.stage = 0;
            }
        }
        self.rtt_diff = diff;
    }
}

impl CongestionControl for Timely {
    fn needs() -> Needs {
        Needs::RTT
    }

    fn on_ack(&mut self, ack: &Ack<'_>, _: &mut Timers) -> Pacing {
        if ack.seq <= self.last_update {
            return Pacing::Same;
        }
        let rtt = as_ns(ack.rtt);
        let first = self.last_update == 0;
        if !first {
            self.update(rtt);
        }
        if ack.snd_nxt > self.last_update {
            self.last_update = ack.snd_nxt;
            self.last_rtt = rtt;
        }
        if first { Pacing::Same } else { Pacing::NextPacket }
    }

    rate_and_window!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{ack, path_100g};

    /// A flow at 50 Gb/s that has seen a first RTT of `rtt_us` when 10 000 B were sent.
    fn flow(rtt_us: u64) -> Timely {
        let mut flow = Timely::new(&TimelyParams::default(), &path_100g());
        flow.rate = 50_000_000_000;
        feed(&mut flow, 1000, 10_000, rtt_us);
        flow
    }

    fn feed(flow: &mut Timely, seq: u64, snd_nxt: u64, rtt_us: u64) -> u64 {
        let ack = Ack { rtt: Time::from_us(rtt_us), ..ack(Time::ZERO, seq, snd_nxt) };
        flow.on_ack(&ack, &mut Timers::new());
        flow.rate
    }

    #[test]
    fn the_first_round_only_records_and_a_round_lasts_until_what_was_sent_is_acknowledged() {
        let mut flow = flow(60);
        assert_eq!(flow.rate, 50_000_000_000);
        assert_eq!(feed(&mut flow, 10_000, 20_000, 600), 50_000_000_000);
        assert_ne!(feed(&mut flow, 11_000, 20_000, 600), 50_000_000_000);
    }

    #[test]
    fn a_short_rtt_raises_and_the_sixth_raise_in_a_row_is_larger() {
        let mut flow = flow(10);
        let rates: Vec<_> =
            (1..=6).map(|i| feed(&mut flow, i * 10_000 + 1, (i + 1) * 10_000, 10)).collect();
        assert_eq!(rates[0], 50_100_000_000);
        assert_eq!(rates[4], 50_500_000_000);
        assert_eq!(rates[5], 51_000_000_000);
    }

    #[test]
    fn a_long_rtt_cuts_by_its_excess() {
        // 1 - 0.8 (1 - 500/1000) = 0.6
        assert_eq!(feed(&mut flow(1000), 11_000, 20_000, 1000), 30_000_000_000);
    }

    #[test]
    fn between_the_thresholds_the_slope_decides() {
        // d = 0.875 * 8 us = 7 us, gradient 0.35, factor 1 - 0.28 = 0.72
        assert_eq!(feed(&mut flow(100), 11_000, 20_000, 108), 36_000_000_000);
        assert_eq!(feed(&mut flow(100), 11_000, 20_000, 92), 50_100_000_000);
        assert_eq!(feed(&mut flow(100), 11_000, 20_000, 100), 50_100_000_000);
        // d = 0.875 * 100 us, gradient 4.375: the factor is zero and the minimum holds
        assert_eq!(feed(&mut flow(100), 11_000, 20_000, 200), 1_000_000_000);
    }

    #[test]
    fn old_differences_fade_with_one_eighth() {
        let mut flow = flow(100);
        feed(&mut flow, 11_000, 20_000, 92); // d = -7 us
        feed(&mut flow, 21_000, 30_000, 100); // d = -0.875 + 7 = 6.125 us
        assert_eq!(flow.rtt_diff, 6125.0);
        // gradient 0.30625, factor 1 - 0.245 = 0.755, on 50.1 G
        assert_eq!(flow.rate, 37_825_500_000);
    }

    #[test]
    fn the_rate_stays_below_line_rate() {
        let mut flow = flow(10);
        flow.rate = 99_950_000_000;
        assert_eq!(feed(&mut flow, 11_000, 20_000, 10), 100_000_000_000);
    }

    #[test]
    fn steps_scale_with_the_line_rate() {
        for (gbps, ai, hai) in [(10, 10, 50), (40, 40, 200), (100, 100, 500)] {
            let path = Path { line_rate: Rate::from_gbps(gbps), ..crate::for_tests::path_100g() };
            let flow = Timely::new(&TimelyParams::default(), &path);
            assert_eq!((flow.config.ai, flow.config.hai), (ai * 1_000_000, hai * 1_000_000));
        }
    }
}
