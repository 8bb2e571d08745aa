//! DCQCN as deployed on NICs.
//!
//! Switches mark packets when queues build up (RED on the egress queue), receivers tell the
//! sender, and the sender cuts its rate in proportion to how much marking it has seen lately
//! (`alpha`), then recovers in three phases: halfway back to the rate before the cut, then with
//! additive steps, then with larger ones. This is the variant of NIC firmware, with timers of
//! their own for `alpha`, for cutting and for raising, and without the byte counter of the
//! published algorithm (that one is in [`crate::dcqcn_paper`]).
//!
//! Messages: a mark on the data packet, echoed on its ACK or sent as a notification packet.
//!
//! ```text
//! notification   alpha and cut flags set; the first one starts the timers, with alpha = 1, RT = RC
//! alpha timer    alpha = (1-g) alpha + g  if a notification came since the last time,
//!                else (1-g) alpha
//! cut timer      if a notification came: RT = RC (if raised since the last cut, or clamp),
//!                RC = max(min, RC (1 - alpha/2)), stage = 0, the raise timer starts over
//! raise timer    stage = F: RT += AI; stage > F: RT += HAI; RC = RC/2 + RT/2; stage += 1
//! ```
//!
//! Rates are whole bit/s; each product and each half is rounded down. Parameter sets in
//! circulation differ widely: see [`DcqcnParams::profile`]. DCQCN (Zhu et al., SIGCOMM 2015) gives
//! the ideas in section 5; the timers here follow the HPCC authors' ns-3 model. [`DcqcnOnDemand`]
//! is the same with fewer timers, for simulators in which they cost time.

mod on_demand;

pub use on_demand::DcqcnOnDemand;

use crate::control::{Ack, CongestionControl, Needs, Pacing, Path, TimerKind, Timers};
use crate::params::params;
use crate::step::Step;
use crate::window::{Window, WindowKind, rate_and_window};
use weir_core::param::Kind;
use weir_core::{Rate, Time};

params! {
    /// Parameters of deployed DCQCN. Defaults: `hpcc-ns3`, see
    /// [`DcqcnParams::profile`].
    DcqcnParams {
        /// Gain of the marking estimate alpha.
        g: f64 = "1/256", Kind::Share;
        /// Period of the alpha update.
        alpha_timer: Time = "1us", Kind::Period;
        /// Period of the check whether to cut.
        decrease_timer: Time = "4us", Kind::Period;
        /// Period of the raise; starts over at each cut.
        increase_timer: Time = "300us", Kind::Period;
        /// Raises that only go halfway back to the target rate (F).
        fast_recovery: u32 = "1", Kind::COUNT_32;
        /// Additive step of the target rate.
        ai: Step = "5Mbps per 25Gbps", Kind::RateStep;
        /// Step of the target rate after the additive phase.
        hai: Step = "50Mbps per 25Gbps", Kind::RateStep;
        /// Lowest rate: no cut goes below it.
        min_rate: Rate = "1Gbps", Kind::PositiveRate;
        /// Let every cut set the target, also when nothing was raised since the last one.
        clamp: bool = "false", Kind::Bool;
        /// Receivers send notification packets of their own, at most one per flow in this time; 0:
        /// the mark is echoed on the ACK.
        cnp_interval: Time = "0ns", Kind::Time(&[]);
        /// What limits the bytes in flight.
        window: WindowKind = "none", Kind::Choice(&["none", "static", "variable"]);
    }
}

impl DcqcnParams {
    /// A published parameter set:
    ///
    /// * `hpcc-ns3`: what the HPCC evaluation used (5 and 50 Mb/s steps per 25 Gb/s of line rate);
    /// * `hpcc-ns3-paper`: the same with timers near the DCQCN paper's (50, 50 and 55 us);
    /// * `nic`: a published NIC configuration (g = 5/1024, steps 5 and 50 Mb/s).
    pub fn profile(name: &str) -> Option<Self> {
        let base = Self::default();
        match name {
            "hpcc-ns3" => Some(base),
            "hpcc-ns3-paper" => Some(Self {
                alpha_timer: Time::from_us(50),
                decrease_timer: Time::from_us(50),
                increase_timer: Time::from_us(55),
                ..base
            }),
            "nic" => Some(Self {
                g: 5.0 / 1024.0,
                ai: Rate::from_bps(5_000_000).into(),
                hai: Rate::from_bps(50_000_000).into(),
                cnp_interval: Time::from_us(4),
                ..base
            }),
            _ => None,
        }
    }

    /// The names [`DcqcnParams::profile`] knows.
    pub const PROFILES: &[&str] = &["hpcc-ns3", "hpcc-ns3-paper", "nic"];
}

/// What a flow needs to know of the parameters, in the units it computes in.
#[derive(Clone, Copy, Debug)]
struct Config {
    g: f64,
    alpha_timer: Time,
    decrease_timer: Time,
    increase_timer: Time,
    fast_recovery: u32,
    ai: u64,
    hai: u64,
    min_rate: u64,
    line_rate: u64,
    clamp: bool,
    echo: bool,
}

/// A flow under deployed DCQCN.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    rate: u64,
    target: u64,
    alpha: f64,
    stage: u32,
    started: bool,
    alpha_cnp: bool,
    decrease_cnp: bool,
    window: Window,
    config: Config,
}

impl Dcqcn {
    /// A new flow: line rate, alpha 1.
    pub fn new(p: &DcqcnParams, path: &Path) -> Self {
        let line_rate = path.line_rate.as_bps();
        Self {
            rate: line_rate,
            target: line_rate,
            alpha: 1.0,
            stage: 0,
            started: false,
            alpha_cnp: false,
            decrease_cnp: false,
            window: Window::new(p.window, path),
            config: Config {
                g: p.g,
                alpha_timer: p.alpha_timer,
                decrease_timer: p.decrease_timer,
                increase_timer: p.increase_timer,
                fast_recovery: p.fast_recovery,
                ai: p.ai.at(path.line_rate).as_bps(),
                hai: p.hai.at(path.line_rate).as_bps(),
                min_rate: p.min_rate.as_bps(),
                line_rate,
                clamp: p.clamp,
                echo: p.cnp_interval == Time::ZERO,
            },
        }
    }

    fn notified(&mut self, now: Time, timers: &mut Timers) {
        self.alpha_cnp = true;
        self.decrease_cnp = true;
        if !self.started {
            self.started = true;
            self.alpha = 1.0;
            self.alpha_cnp = false;
            self.target = self.rate;
            timers.arm(TimerKind::Alpha, now + self.config.alpha_timer);
            // One nanosecond later, so that alpha is up to date when both periods are equal.
            let first_check = now + self.config.decrease_timer + Time::from_ns(1);
            timers.arm(TimerKind::Decrease, first_check);
        }
    }

    fn update_alpha(&mut self) {
        let kept = (1.0 - self.config.g) * self.alpha;
        self.alpha = if self.alpha_cnp { kept + self.config.g } else { kept };
        self.alpha_cnp = false;
    }

    fn cut(&mut self) {
        if self.config.clamp || self.stage != 0 {
            self.target = self.rate;
        }
        let cut = (self.rate as f64 * (1.0 - self.alpha / 2.0)) as u64;
        self.rate = cut.max(self.config.min_rate);
        self.stage = 0;
        self.decrease_cnp = false;
    }

    fn raise(&mut self) {
        let c = &self.config;
        let step = match self.stage.cmp(&c.fast_recovery) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => Some(c.ai),
            std::cmp::Ordering::Greater => Some(c.hai),
        };
        if let Some(step) = step {
            self.target = self.target.saturating_add(step).min(c.line_rate);
        }
        self.rate = self.rate / 2 + self.target / 2;
        self.stage = self.stage.saturating_add(1);
    }
}

impl CongestionControl for Dcqcn {
    fn needs() -> Needs {
        Needs::MARKS
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, timers: &mut Timers) -> Pacing {
        if ack.ecn && self.config.echo {
            self.notified(ack.now, timers);
        }
        Pacing::Same
    }

    fn on_cnp(&mut self, now: Time, timers: &mut Timers) -> Pacing {
        self.notified(now, timers);
        Pacing::Same
    }

    fn on_timer(&mut self, kind: TimerKind, now: Time, timers: &mut Timers) -> Pacing {
        match kind {
            TimerKind::Alpha => {
                self.update_alpha();
                timers.arm(TimerKind::Alpha, now + self.config.alpha_timer);
                Pacing::Same
            }
            TimerKind::Decrease => {
                timers.arm(TimerKind::Decrease, now + self.config.decrease_timer);
                if !self.decrease_cnp {
                    return Pacing::Same;
                }
                self.cut();
                timers.arm(TimerKind::Increase, now + self.config.increase_timer);
                Pacing::NextPacket
            }
            TimerKind::Increase => {
                timers.arm(TimerKind::Increase, now + self.config.increase_timer);
                self.raise();
                Pacing::NextPacket
            }
        }
    }

    /// The target is limited by the NIC that the flow has now, as in the authors' ns-3 model.
    fn on_nic(&mut self, line_rate: Rate) {
        self.config.line_rate = line_rate.as_bps();
    }

    rate_and_window!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{ack, path_100g};

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    fn marked(flow: &mut Dcqcn, now: Time) -> Vec<(TimerKind, Time)> {
        let mut timers = Timers::new();
        flow.on_ack(&Ack { ecn: true, ..ack(now, 1000, 2000) }, &mut timers);
        timers.drain().collect()
    }

    fn fire(flow: &mut Dcqcn, kind: TimerKind, now: Time) -> Vec<(TimerKind, Time)> {
        let mut timers = Timers::new();
        flow.on_timer(kind, now, &mut timers);
        timers.drain().collect()
    }

    #[test]
    fn the_first_notification_starts_two_timers_and_later_ones_none() {
        let mut flow = Dcqcn::new(&DcqcnParams::default(), &path_100g());
        let started = marked(&mut flow, us(10));
        let check = us(14) + Time::from_ns(1);
        assert_eq!(started, [(TimerKind::Alpha, us(11)), (TimerKind::Decrease, check)]);
        assert_eq!(marked(&mut flow, us(12)), []);
        assert_eq!(flow.rate(), Rate::from_gbps(100));
    }

    #[test]
    fn alpha_rises_with_a_notification_and_decays_without() {
        let mut flow = Dcqcn::new(&DcqcnParams::default(), &path_100g());
        marked(&mut flow, us(0));
        // The first notification does not count for alpha: 1 * 255/256.
        assert_eq!(fire(&mut flow, TimerKind::Alpha, us(1)), [(TimerKind::Alpha, us(2))]);
        assert_eq!(flow.alpha, 255.0 / 256.0);
        // With one: 255/256 * 255/256 + 1/256 = (65025 + 256) / 65536.
        marked(&mut flow, us(1));
        fire(&mut flow, TimerKind::Alpha, us(2));
        assert_eq!(flow.alpha, 65_281.0 / 65_536.0);
    }

    #[test]
    fn a_cut_halves_at_alpha_one_keeps_the_target_and_restarts_the_raise_timer() {
        let mut flow = Dcqcn::new(&DcqcnParams::default(), &path_100g());
        marked(&mut flow, us(0));
        let armed = fire(&mut flow, TimerKind::Decrease, us(4));
        assert_eq!(armed, [(TimerKind::Decrease, us(8)), (TimerKind::Increase, us(304))]);
        assert_eq!((flow.rate, flow.target), (50_000_000_000, 100_000_000_000));
        // Nothing came since: no cut, and only the check itself is armed again.
        assert_eq!(fire(&mut flow, TimerKind::Decrease, us(8)), [(TimerKind::Decrease, us(12))]);
        assert_eq!(flow.rate, 50_000_000_000);
        // A second cut without a raise in between leaves the target: 25 G.
        marked(&mut flow, us(9));
        fire(&mut flow, TimerKind::Decrease, us(12));
        assert_eq!((flow.rate, flow.target), (25_000_000_000, 100_000_000_000));
    }

    #[test]
    fn clamping_lets_every_cut_set_the_target() {
        let params = DcqcnParams { clamp: true, ..Default::default() };
        let mut flow = Dcqcn::new(&params, &path_100g());
        for t in [4, 8] {
            marked(&mut flow, us(t - 1));
            fire(&mut flow, TimerKind::Decrease, us(t));
        }
        assert_eq!((flow.rate, flow.target), (25_000_000_000, 50_000_000_000));
    }

    #[test]
    fn recovery_goes_halfway_then_adds_then_adds_more() {
        let mut flow = Dcqcn::new(&DcqcnParams::default(), &path_100g());
        (flow.rate, flow.target) = (20_000_000_001, 40_000_000_000);
        // stage 0 < F = 1: 10 000 000 000 (half of an odd rate, rounded down) + 20 G
        assert_eq!(fire(&mut flow, TimerKind::Increase, us(300)), [(TimerKind::Increase, us(600))]);
        assert_eq!((flow.rate, flow.target), (30_000_000_000, 40_000_000_000));
        // stage 1 = F: target 40.02 G, rate 15 G + 20.01 G
        fire(&mut flow, TimerKind::Increase, us(600));
        assert_eq!((flow.rate, flow.target), (35_010_000_000, 40_020_000_000));
        // stage 2 > F: target 40.22 G, rate 17.505 G + 20.11 G
        fire(&mut flow, TimerKind::Increase, us(900));
        assert_eq!((flow.rate, flow.target), (37_615_000_000, 40_220_000_000));
        // A cut after raises takes the present rate as the new target.
        marked(&mut flow, us(901));
        fire(&mut flow, TimerKind::Decrease, us(904));
        assert_eq!((flow.target, flow.stage), (37_615_000_000, 0));
    }

    #[test]
    fn the_target_stops_at_line_rate_and_the_rate_at_its_minimum() {
        let mut flow = Dcqcn::new(&DcqcnParams::default(), &path_100g());
        flow.stage = 2;
        fire(&mut flow, TimerKind::Increase, us(300));
        assert_eq!((flow.rate, flow.target), (100_000_000_000, 100_000_000_000));
        flow.rate = 1_500_000_000;
        flow.decrease_cnp = true;
        fire(&mut flow, TimerKind::Decrease, us(304));
        assert_eq!(flow.rate, 1_000_000_000);
    }

    #[test]
    fn on_another_nic_its_speed_limits_the_target_and_nothing_else() {
        let mut f = Dcqcn::new(&DcqcnParams::default(), &path_100g());
        marked(&mut f, Time::ZERO);
        fire(&mut f, TimerKind::Decrease, us(5));
        assert_eq!(f.rate, 50_000_000_000);
        f.on_nic(Rate::from_gbps(40));
        assert_eq!((f.rate, f.target), (50_000_000_000, 100_000_000_000));
        // fast recovery goes halfway to the old target; the first step above it is limited
        fire(&mut f, TimerKind::Increase, us(6));
        assert_eq!((f.rate, f.target), (75_000_000_000, 100_000_000_000));
        (f.stage, f.rate) = (f.config.fast_recovery, 20_000_000_000);
        fire(&mut f, TimerKind::Increase, us(7));
        assert_eq!((f.rate, f.target), (30_000_000_000, 40_000_000_000));
    }

    #[test]
    fn with_packets_of_their_own_the_echoed_mark_is_ignored() {
        let params = DcqcnParams::profile("nic").unwrap();
        let mut flow = Dcqcn::new(&params, &path_100g());
        assert_eq!(marked(&mut flow, us(1)), []);
        let mut timers = Timers::new();
        flow.on_cnp(us(1), &mut timers);
        assert_eq!(timers.drain().count(), 2);
    }

    #[test]
    fn steps_scale_with_the_line_rate() {
        for (gbps, ai, hai) in [(25, 5, 50), (100, 20, 200), (400, 80, 800)] {
            let path = Path { line_rate: Rate::from_gbps(gbps), ..path_100g() };
            let flow = Dcqcn::new(&DcqcnParams::default(), &path);
            assert_eq!((flow.config.ai, flow.config.hai), (ai * 1_000_000, hai * 1_000_000));
            // The NIC's configuration has steps that do not scale.
            let flow = Dcqcn::new(&DcqcnParams::profile("nic").unwrap(), &path);
            assert_eq!((flow.config.ai, flow.config.hai), (5_000_000, 50_000_000));
        }
    }

    #[test]
    fn every_profile_has_a_name_and_the_first_is_the_default() {
        for name in DcqcnParams::PROFILES {
            assert!(DcqcnParams::profile(name).is_some());
        }
        assert_eq!(DcqcnParams::profile(DcqcnParams::PROFILES[0]), Some(DcqcnParams::default()));
        assert_eq!(DcqcnParams::profile("other"), None);
    }
}
