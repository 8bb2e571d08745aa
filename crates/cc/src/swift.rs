//! Swift: congestion control that keeps the delay at a target.
//!
//! The sender compares each RTT with a target made of a base, a part per hop and a part that
//! grows as the window shrinks (many flows share the bottleneck, so each may wait longer). Below
//! the target the window grows by one packet per RTT; above it, it shrinks in proportion to the
//! excess, at most once per RTT. Windows below one packet become pacing.
//!
//! ```text
//! target = base_target + hops * hop_scale + clamp(a / sqrt(cwnd) + b, 0, fs_range)
//!          a = fs_range / (1/sqrt(fs_min_cwnd) - 1/sqrt(fs_max_cwnd)),  b = -a / sqrt(fs_max_cwnd)
//! delay < target     cwnd += ai * acked / cwnd   (cwnd >= 1),   cwnd += ai * acked   (below)
//! otherwise          cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)   once per RTT
//! loss               cwnd *= 1 - max_mdf   once per RTT; after retx_reset timeouts min_cwnd
//! ```
//!
//! Swift (Kumar et al., SIGCOMM 2020), Algorithm 1 and section 3.5. Deviations: the fabric delay
//! is the whole RTT (hosts take no time here), so there is one window instead of two; flows start
//! with one bandwidth-delay product, as the other algorithms do, and their window never exceeds it,
//! which the paper leaves to its maximum window. The paper gives the parameters'
//! meaning but few values: the defaults are our reading for 100 Gb/s.

use crate::control::{Ack, CongestionControl, Needs, Pacing, Path, Timers};
use crate::params::params;
use weir_core::param::Kind;
use weir_core::{Bytes, Rate, Time};

params! {
    /// Parameters of Swift.
    SwiftParams {
        /// Constant part of the target.
        base_target: Time = "25us", Kind::Time(&[]);
        /// The part of the target per switch on the way.
        hop_scale: Time = "1us", Kind::Time(&[]);
        /// The most that flow scaling adds to the target.
        fs_range: Time = "100us", Kind::Time(&[]);
        /// The window in packets at which flow scaling adds the most.
        fs_min_cwnd: f64 = "0.1", Kind::Number;
        /// The window in packets at which flow scaling adds nothing.
        fs_max_cwnd: f64 = "100", Kind::Number;
        /// Packets by which the window grows per RTT.
        ai: f64 = "1", Kind::Number;
        /// Strength of cuts.
        beta: f64 = "0.8", Kind::Share;
        /// The largest cut.
        max_mdf: f64 = "0.5", Kind::Share;
        /// The smallest window in packets.
        min_cwnd: f64 = "0.001", Kind::Number;
        /// Timeouts in a row after which the window is the smallest.
        retx_reset: u32 = "5", Kind::COUNT_32;
    }
}

/// A flow under Swift.
#[derive(Clone, Debug)]
pub struct Swift {
    /// In packets.
    cwnd: f64,
    max_cwnd: f64,
    last_decrease: Option<Time>,
    timeouts: u32,
    /// The RTT measured last, in picoseconds.
    rtt: u64,
    mtu: f64,
    line_rate: u64,
    /// Base and hop part of the target in ps.
    fixed_target: f64,
    fs_a: f64,
    fs_b: f64,
    fs_range: f64,
    ai: f64,
    beta: f64,
    max_mdf: f64,
    min_cwnd: f64,
    retx_reset: u32,
}

impl Swift {
    /// A new flow: one bandwidth-delay product.
    pub fn new(p: &SwiftParams, path: &Path) -> Self {
        let mtu = path.mtu.get().max(1) as f64;
        let max_cwnd = (path.bdp.get() as f64 / mtu).max(1.0);
        let fs_range = p.fs_range.as_ps() as f64;
        let steepness = 1.0 / p.fs_min_cwnd.sqrt() - 1.0 / p.fs_max_cwnd.sqrt();
        let fs_a =
            if steepness > 0.0 && steepness.is_finite() { fs_range / steepness } else { 0.0 };
        let target = p.base_target.as_ps() + p.hop_scale.as_ps() * u64::from(path.hops);
        Self {
            cwnd: max_cwnd,
            max_cwnd,
            last_decrease: None,
            timeouts: 0,
            rtt: path.base_rtt.as_ps(),
            mtu,
            line_rate: path.line_rate.as_bps(),
            fixed_target: target as f64,
            fs_a,
            fs_b: -fs_a / p.fs_max_cwnd.sqrt(),
            fs_range,
            ai: p.ai,
            beta: p.beta,
            max_mdf: p.max_mdf,
            min_cwnd: p.min_cwnd,
            retx_reset: p.retx_reset,
        }
    }

    /// The present target in ps.
    fn target(&self) -> f64 {
        let scaling = self.fs_a / self.cwnd.sqrt() + self.fs_b;
        self.fixed_target + scaling.clamp(0.0, self.fs_range)
    }

    fn can_decrease(&self, now: Time) -> bool {
        self.last_decrease.is_none_or(|t| now.saturating_sub(t).as_ps() >= self.rtt)
    }

    fn decrease(&mut self, now: Time, factor: f64) {
        if self.can_decrease(now) {
            self.cwnd *= factor;
            self.last_decrease = Some(now);
        }
    }

    fn bound(&mut self) -> Pacing {
        self.cwnd = self.cwnd.min(self.max_cwnd).max(self.min_cwnd);
        Pacing::NextPacket
    }
}

impl CongestionControl for Swift {
    fn needs() -> Needs {
        Needs::RTT
    }

    fn on_ack(&mut self, ack: &Ack<'_>, _: &mut Timers) -> Pacing {
        self.timeouts = 0;
        self.rtt = ack.rtt.as_ps();
        let (delay, target) = (self.rtt as f64, self.target());
        if delay < target {
            let acked = ack.newly_acked as f64 / self.mtu;
            self.cwnd +=
                if self.cwnd >= 1.0 { self.ai * acked / self.cwnd } else { self.ai * acked };
        } else {
            let proportional = 1.0 - self.beta * (delay - target) / delay;
            self.decrease(ack.now, proportional.max(1.0 - self.max_mdf));
        }
        self.bound()
    }

    fn on_timeout(&mut self, now: Time) -> Pacing {
        self.timeouts += 1;
        if self.timeouts >= self.retx_reset {
            self.cwnd = self.min_cwnd;
            self.last_decrease = Some(now);
        } else {
            self.decrease(now, 1.0 - self.max_mdf);
        }
        self.bound()
    }

    /// Line rate for windows of a packet or more; below, one packet every `rtt / cwnd`.
    fn rate(&self) -> Rate {
        if self.cwnd >= 1.0 || self.rtt == 0 {
            return Rate::from_bps(self.line_rate);
        }
        let bps = self.cwnd * self.mtu * 8.0 * 1e12 / self.rtt as f64;
        Rate::from_bps((bps as u64).clamp(1, self.line_rate))
    }

    /// The window in bytes, at least one packet.
    fn window(&self) -> Option<Bytes> {
        Some(Bytes::new((self.cwnd.max(1.0) * self.mtu) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{ack, path_100g};

    /// 52 packets of window, one switch: a fixed target of 26 us.
    fn flow() -> Swift {
        Swift::new(&SwiftParams::default(), &path_100g())
    }

    fn feed(f: &mut Swift, now_us: u64, rtt_us: u64) -> f64 {
        let ack = Ack { rtt: Time::from_us(rtt_us), ..ack(Time::from_us(now_us), 0, 0) };
        f.on_ack(&ack, &mut Timers::new());
        f.cwnd
    }

    #[test]
    fn flow_scaling_spans_its_range_between_the_two_windows() {
        let mut f = flow();
        f.cwnd = 100.0;
        assert_eq!(f.target(), 26e6);
        f.cwnd = 0.1;
        assert!((f.target() - 126e6).abs() < 1.0, "{}", f.target());
        f.cwnd = 0.01;
        assert!((f.target() - 126e6).abs() < 1.0, "no more than the range");
    }

    #[test]
    fn below_target_the_window_grows_by_one_packet_per_rtt() {
        let mut f = flow();
        f.cwnd = 10.0;
        // one packet acknowledged: 1 * 1 / 10
        assert_eq!(feed(&mut f, 100, 20), 10.1);
        f.cwnd = 0.5;
        assert_eq!(feed(&mut f, 200, 20), 1.5);
    }

    #[test]
    fn above_target_it_shrinks_by_the_excess_once_per_rtt() {
        let mut f = flow();
        (f.fs_a, f.fs_b) = (0.0, 0.0);
        f.cwnd = 40.0;
        // (52 - 26) / 52 = 1/2; factor 1 - 0.8/2 = 0.6
        assert_eq!(feed(&mut f, 100, 52), 24.0);
        assert_eq!(feed(&mut f, 151, 52), 24.0, "51 us later is within one RTT");
        assert_eq!(feed(&mut f, 152, 52), 24.0 * 0.6);
        // 1 - 0.8 * (1 - 26/2600) = 0.208 would be more than the largest cut
        f.cwnd = 40.0;
        assert_eq!(feed(&mut f, 10_000, 2600), 20.0);
    }

    #[test]
    fn a_window_below_one_packet_paces() {
        let mut f = flow();
        f.cwnd = 0.5;
        f.rtt = 40_000_000;
        // half a packet of 1000 B in 40 us
        assert_eq!(f.rate(), Rate::from_bps(100_000_000));
        assert_eq!(f.window(), Some(Bytes::new(1000)));
        f.cwnd = 1.5;
        assert_eq!(f.rate(), Rate::from_gbps(100));
        assert_eq!(f.window(), Some(Bytes::new(1500)));
    }

    #[test]
    fn timeouts_halve_and_then_reset() {
        let mut f = flow();
        f.cwnd = 16.0;
        for i in 1..5 {
            f.on_timeout(Time::from_ms(i));
        }
        assert_eq!(f.cwnd, 1.0);
        f.on_timeout(Time::from_ms(5));
        assert_eq!(f.cwnd, 0.001);
    }
}
