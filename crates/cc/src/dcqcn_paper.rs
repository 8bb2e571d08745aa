//! DCQCN as published: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
//! SIGCOMM 2015, section 3.1 and Figure 7.
//!
//! The receiver (NP) answers marked packets with notification packets (CNPs), at most one per flow
//! in `cnp_interval`. The sender (RP) cuts on every CNP and recovers on two clocks at once: a
//! timer and a counter of bytes sent. While both are in their first F steps it goes halfway back
//! (fast recovery); once one is beyond, the target rises additively; once both are, it rises
//! faster and faster (hyper increase).
//!
//! ```text
//! CNP            RT = RC; RC = RC (1 - alpha/2); alpha = (1-g) alpha + g;
//!                timer and counter start over
//! alpha timer    (no CNP for alpha_timer) alpha = (1-g) alpha
//! timer          T += 1, then raise
//! byte counter   (every byte_counter bytes) BC += 1, then raise
//! raise          max(T, BC) < F: nothing;  min(T, BC) > F: RT += (min - F) hai;  else RT += ai
//!                RC = (RT + RC) / 2
//! ```
//!
//! Deviations: rates are whole bit/s, rounded down, and bounded below by `min_rate`.

use crate::control::{Ack, CongestionControl, Needs, Pacing, Path, TimerKind, Timers};
use crate::params::params;
use crate::window::{Window, WindowKind, rate_and_window};
use weir_core::param::Kind;
use weir_core::{Bytes, Rate, Time};

params! {
    /// Parameters of DCQCN as published. Defaults: the paper's, for 40 Gb/s.
    DcqcnPaperParams {
        /// Gain of the marking estimate alpha.
        g: f64 = "1/256", Kind::Share;
        /// Alpha decays after this time without a notification.
        alpha_timer: Time = "55us", Kind::Period;
        /// Period of the raise timer.
        increase_timer: Time = "55us", Kind::Period;
        /// Bytes between raises of the byte counter.
        byte_counter: Bytes = "10MB", Kind::Size(&[]);
        /// Steps of fast recovery (F).
        fast_recovery: u32 = "5", Kind::COUNT_32;
        /// Additive step of the target rate.
        ai: Rate = "40Mbps", Kind::Rate;
        /// Unit of the hyper increase.
        hai: Rate = "200Mbps", Kind::Rate;
        /// Lowest rate: no cut goes below it.
        min_rate: Rate = "100Mbps", Kind::PositiveRate;
        /// Receivers send at most one notification per flow in this time.
        cnp_interval: Time = "50us", Kind::Time(&[]);
        /// What limits the bytes in flight.
        window: WindowKind = "none", Kind::Choice(&["none", "static", "variable"]);
    }
}

/// A flow under DCQCN as published.
#[derive(Clone, Debug)]
pub struct DcqcnPaper {
    rate: u64,
    target: u64,
    alpha: f64,
    timer_steps: u32,
    byte_steps: u32,
    bytes: u64,
    /// A CNP has come: the rate limiter is at work.
    limited: bool,
    window: Window,
    g: f64,
    alpha_timer: Time,
    increase_timer: Time,
    byte_counter: u64,
    fast_recovery: u32,
    ai: u64,
    hai: u64,
    min_rate: u64,
    line_rate: u64,
}

impl DcqcnPaper {
    /// A new flow: line rate, alpha 1.
    pub fn new(p: &DcqcnPaperParams, path: &Path) -> Self {
        let line_rate = path.line_rate.as_bps();
        Self {
            rate: line_rate,
            target: line_rate,
            alpha: 1.0,
            timer_steps: 0,
            byte_steps: 0,
            bytes: 0,
            limited: false,
            window: Window::new(p.window, path),
            g: p.g,
            alpha_timer: p.alpha_timer,
            increase_timer: p.increase_timer,
            byte_counter: p.byte_counter.get().max(1),
            fast_recovery: p.fast_recovery,
            ai: p.ai.as_bps(),
            hai: p.hai.as_bps(),
            min_rate: p.min_rate.as_bps(),
            line_rate,
        }
    }

    fn raise(&mut self) {
        let most = self.timer_steps.max(self.byte_steps);
        let least = self.timer_steps.min(self.byte_steps);
        let step = if most < self.fast_recovery {
            0
        } else if least > self.fast_recovery {
            u64::from(least - self.fast_recovery).saturating_mul(self.hai)
        } else {
            self.ai
        };
        self.target = self.target.saturating_add(step).min(self.line_rate);
        self.rate = self.rate.midpoint(self.target);
    }
}

impl CongestionControl for DcqcnPaper {
    fn needs() -> Needs {
        Needs::MARKS
    }

    /// Marks echoed on ACKs are not looked at: notifications are packets.
    fn on_ack(&mut self, _: &Ack<'_>, _: &mut Timers) -> Pacing {
        Pacing::Same
    }

    fn on_cnp(&mut self, now: Time, timers: &mut Timers) -> Pacing {
        self.target = self.rate;
        let cut = (self.rate as f64 * (1.0 - self.alpha / 2.0)) as u64;
        self.rate = cut.max(self.min_rate).min(self.line_rate);
        self.alpha = (1.0 - self.g) * self.alpha + self.g;
        (self.timer_steps, self.byte_steps, self.bytes) = (0, 0, 0);
        self.limited = true;
        timers.arm(TimerKind::Alpha, now + self.alpha_timer);
        timers.arm(TimerKind::Increase, now + self.increase_timer);
        Pacing::NextPacket
    }

    fn on_sent(&mut self, _: Time, frame_bytes: u64, _: &mut Timers) -> Pacing {
        if !self.limited {
            return Pacing::Same;
        }
        self.bytes += frame_bytes;
        if self.bytes < self.byte_counter {
            return Pacing::Same;
        }
        self.bytes -= self.byte_counter;
        self.byte_steps = self.byte_steps.saturating_add(1);
        self.raise();
        Pacing::NextPacket
    }

    fn on_timer(&mut self, kind: TimerKind, now: Time, timers: &mut Timers) -> Pacing {
        match kind {
            TimerKind::Alpha => {
                self.alpha *= 1.0 - self.g;
                timers.arm(TimerKind::Alpha, now + self.alpha_timer);
                Pacing::Same
            }
            TimerKind::Increase => {
                self.timer_steps = self.timer_steps.saturating_add(1);
                self.raise();
                timers.arm(TimerKind::Increase, now + self.increase_timer);
                Pacing::NextPacket
            }
            TimerKind::Decrease => Pacing::Same,
        }
    }

    rate_and_window!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::path_100g;

    fn flow() -> DcqcnPaper {
        DcqcnPaper::new(&DcqcnPaperParams::default(), &path_100g())
    }

    fn cnp(flow: &mut DcqcnPaper, at_us: u64) -> Vec<(TimerKind, Time)> {
        let mut timers = Timers::new();
        flow.on_cnp(Time::from_us(at_us), &mut timers);
        timers.drain().collect()
    }

    #[test]
    fn every_notification_cuts_and_restarts_both_clocks() {
        let mut f = flow();
        let armed = cnp(&mut f, 10);
        let at = Time::from_us(65);
        assert_eq!(armed, [(TimerKind::Alpha, at), (TimerKind::Increase, at)]);
        // alpha 1: half; alpha stays (1-g) + g = 1
        assert_eq!((f.rate, f.target, f.alpha), (50_000_000_000, 100_000_000_000, 1.0));
        f.alpha = 0.5;
        f.timer_steps = 7;
        cnp(&mut f, 70);
        // 50 G * (1 - 0.25); alpha = 0.5 * 255/256 + 1/256
        assert_eq!((f.rate, f.target, f.timer_steps), (37_500_000_000, 50_000_000_000, 0));
        assert_eq!(f.alpha, 0.5 * 255.0 / 256.0 + 1.0 / 256.0);
    }

    #[test]
    fn alpha_decays_while_no_notification_comes() {
        let mut f = flow();
        cnp(&mut f, 0);
        f.on_timer(TimerKind::Alpha, Time::from_us(55), &mut Timers::new());
        assert_eq!(f.alpha, 255.0 / 256.0);
    }

    #[test]
    fn fast_recovery_goes_halfway_five_times_then_the_target_rises() {
        let mut f = flow();
        cnp(&mut f, 0);
        f.target = 90_000_000_000;
        let mut rates = Vec::new();
        for i in 1..=5 {
            f.on_timer(TimerKind::Increase, Time::from_us(55 * i), &mut Timers::new());
            rates.push((f.rate, f.target));
        }
        // steps 1 to 4: 70, 80, 85, 87.5; the fifth is no longer below F: target + 40 M
        assert_eq!(rates[3], (87_500_000_000, 90_000_000_000));
        assert_eq!(rates[4], (88_770_000_000, 90_040_000_000));
    }

    #[test]
    fn both_clocks_beyond_f_give_hyper_increase() {
        let mut f = flow();
        cnp(&mut f, 0);
        (f.rate, f.target) = (40_000_000_000, 40_000_000_000);
        (f.timer_steps, f.byte_steps) = (6, 7);
        // timer goes to 7: min(7, 7) - 5 = 2 units of 200 Mb/s
        f.on_timer(TimerKind::Increase, Time::from_us(55), &mut Timers::new());
        assert_eq!((f.rate, f.target), (40_200_000_000, 40_400_000_000));
    }

    #[test]
    fn bytes_count_only_after_the_first_notification() {
        let mut f = flow();
        assert_eq!(f.on_sent(Time::ZERO, 20_000_000, &mut Timers::new()), Pacing::Same);
        cnp(&mut f, 0);
        assert_eq!(f.on_sent(Time::ZERO, 9_999_999, &mut Timers::new()), Pacing::Same);
        assert_eq!(f.on_sent(Time::ZERO, 2, &mut Timers::new()), Pacing::NextPacket);
        // one of each kind below F: halfway back from 50 to 100
        assert_eq!((f.byte_steps, f.bytes, f.rate), (1, 1, 75_000_000_000));
    }
}
