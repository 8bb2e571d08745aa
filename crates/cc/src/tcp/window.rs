//! The congestion window in bytes: slow start, congestion avoidance, cuts, and DCTCP's alpha.
//!
//! Here is arithmetic only. When to grow and when to cut is the sender's business.

use super::{EcnMode, TcpParams};

/// The congestion window of one flow.
#[derive(Clone, Debug)]
pub struct CongestionWindow {
    cwnd: u64,
    ssthresh: u64,
    /// Congestion avoidance: bytes acknowledged since the last step.
    acked: u64,
    mss: u64,
    /// Most bytes one ACK counts for in slow start.
    growth_limit: u64,
    dctcp: Option<Alpha>,
}

/// DCTCP's estimate of the fraction of bytes that were marked (RFC 8257, section 3.3).
#[derive(Clone, Debug)]
struct Alpha {
    alpha: f64,
    gain: f64,
    acked: u64,
    marked: u64,
    /// The observation window ends when a segment beyond this one is acknowledged.
    window_end: u32,
}

impl CongestionWindow {
    /// The initial window (RFC 6928; RFC 5681, section 3.1); the slow start threshold is
    /// unbounded.
    pub fn new(params: &TcpParams, mss: u64) -> Self {
        let limit = params.growth_limit.map_or(u64::MAX, |n| u64::from(n.get()) * mss);
        Self {
            cwnd: u64::from(params.initial_window.get()) * mss,
            ssthresh: u64::MAX,
            acked: 0,
            mss,
            growth_limit: limit,
            dctcp: (params.ecn == EcnMode::Dctcp).then_some(Alpha {
                // RFC 8257, section 4.2: until it is known, any mark is taken for all marked
                alpha: 1.0,
                gain: params.dctcp_gain,
                acked: 0,
                marked: 0,
                window_end: 0,
            }),
        }
    }

    /// The window.
    pub fn get(&self) -> u64 {
        self.cwnd
    }

    /// Below it is slow start, above congestion avoidance; `u64::MAX` at the start.
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// DCTCP's alpha.
    pub fn alpha(&self) -> Option<f64> {
        self.dctcp.as_ref().map(|d| d.alpha)
    }

    /// Whether the window is below the slow start threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// `bytes` were acknowledged and the window may grow. Slow start adds what was acknowledged,
    /// at most `limit`; congestion avoidance adds one segment per window of acknowledged bytes
    /// (RFC 5681, section 3.1, by counting bytes).
    pub fn grow(&mut self, bytes: u64, limit: u64) {
        let mut rest = bytes;
        if self.in_slow_start() {
            let counted = bytes.min(limit).min(self.growth_limit);
            let step = counted.min(self.ssthresh - self.cwnd);
            self.cwnd += step;
            // What the threshold cut off counts for congestion avoidance; what the limit did not.
            rest = counted - step;
        }
        if !self.in_slow_start() {
            self.acked += rest;
            while self.acked >= self.cwnd {
                self.acked -= self.cwnd;
                self.cwnd += self.mss;
            }
        }
    }

    /// The least that a threshold is cut to (RFC 5681, equation 4).
    fn floor(&self) -> u64 {
        2 * self.mss
    }

    /// A mark was echoed: half the window, or `1 - alpha/2` of it. A window that is below the
    /// least threshold already stays.
    pub fn cut_for_mark(&mut self) {
        let cut = match &self.dctcp {
            None => self.cwnd / 2,
            Some(d) => (self.cwnd as f64 * (1.0 - d.alpha / 2.0)) as u64,
        };
        self.ssthresh = cut.max(self.floor());
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.acked = 0;
    }

    /// Something of the `flight` bytes was lost (RFC 5681, equation 4).
    pub fn cut_threshold(&mut self, flight: u64) {
        self.ssthresh = (flight / 2).max(self.floor());
        self.acked = 0;
    }

    /// The retransmission timer expired: one segment.
    pub fn collapse(&mut self) {
        self.cwnd = self.mss;
        self.acked = 0;
    }

    /// Fast recovery begins after `dup_acks` segments left the network (RFC 6582, 3.2, step 2).
    pub fn enter_recovery(&mut self, dup_acks: u32) {
        self.cwnd = self.ssthresh.saturating_add(u64::from(dup_acks) * self.mss);
    }

    /// Another segment left the network.
    pub fn inflate(&mut self) {
        self.cwnd = self.cwnd.saturating_add(self.mss);
    }

    /// Fast recovery continues after `bytes` were acknowledged (step 3, partial acknowledgement).
    pub fn deflate(&mut self, bytes: u64) {
        self.cwnd = self.cwnd.saturating_sub(bytes);
        if bytes >= self.mss {
            self.cwnd += self.mss;
        }
        self.cwnd = self.cwnd.max(self.mss);
    }

    /// Fast recovery is over with `flight` bytes in the network (step 3, full acknowledgement,
    /// option 1: no burst).
    pub fn leave_recovery(&mut self, flight: u64) {
        self.cwnd = self.ssthresh.min(flight.max(self.mss) + self.mss);
    }

    /// DCTCP: `bytes` were newly acknowledged up to segment `una`, `marked` of them by an ACK with
    /// an echo, while the sender had sent everything below `nxt` (RFC 8257, section 3.3, steps
    /// 1-8).
    pub fn count_marks(&mut self, bytes: u64, marked: u64, una: u32, nxt: u32) {
        let Some(d) = &mut self.dctcp else { return };
        d.acked += bytes;
        d.marked += marked;
        if una > d.window_end {
            let fraction = if d.acked == 0 { 0.0 } else { d.marked as f64 / d.acked as f64 };
            d.alpha = d.alpha * (1.0 - d.gain) + d.gain * fraction;
            d.window_end = nxt;
            d.acked = 0;
            d.marked = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    const MSS: u64 = 1000;

    fn window(params: &TcpParams) -> CongestionWindow {
        CongestionWindow::new(params, MSS)
    }

    fn dctcp() -> CongestionWindow {
        window(&TcpParams { ecn: EcnMode::Dctcp, ..TcpParams::default() })
    }

    #[test]
    fn slow_start_adds_what_is_acknowledged_up_to_the_threshold() {
        let mut w = window(&TcpParams::default());
        w.grow(1000, u64::MAX);
        w.grow(3000, u64::MAX);
        assert_eq!(w.get(), 14_000);
        w.ssthresh = 15_500;
        // 1500 reach the threshold, 2500 count towards the next step of congestion avoidance.
        w.grow(4000, u64::MAX);
        assert_eq!((w.get(), w.acked), (15_500, 2500));
        w.grow(12_999, u64::MAX);
        assert_eq!((w.get(), w.acked), (15_500, 15_499));
        w.grow(1, u64::MAX);
        assert_eq!((w.get(), w.acked), (16_500, 0));
    }

    #[test]
    fn a_growth_limit_bounds_what_one_ack_counts_for() {
        let limit = NonZeroU32::new(2);
        let mut w = window(&TcpParams { growth_limit: limit, ..TcpParams::default() });
        w.grow(5000, u64::MAX);
        assert_eq!(w.get(), 12_000);
        w.grow(5000, MSS);
        assert_eq!(w.get(), 13_000);
    }

    #[test]
    fn a_mark_halves_the_window_down_to_two_segments() {
        let mut w = window(&TcpParams::default());
        w.cut_for_mark();
        assert_eq!((w.get(), w.ssthresh()), (5000, 5000));
        w.cut_for_mark();
        w.cut_for_mark();
        assert_eq!((w.get(), w.ssthresh()), (2000, 2000));
        // After a timeout the window is smaller than that: a mark must not raise it.
        w.collapse();
        w.cut_for_mark();
        assert_eq!((w.get(), w.ssthresh()), (1000, 2000));
    }

    /// g = 1/16, alpha 1. First ACK: 1 of 1 segments unmarked, alpha 15/16. The next window ends
    /// at segment 10: 4 of its 10 segments marked, alpha 15/16 15/16 + 1/16 4/10 = 0.90390625.
    #[test]
    fn alpha_by_hand() {
        let mut w = dctcp();
        assert_eq!(w.alpha(), Some(1.0));
        w.count_marks(1000, 0, 1, 10);
        assert_eq!(w.alpha(), Some(0.9375));
        for una in 2..=10 {
            let marked = if una <= 4 { 1000 } else { 0 };
            w.count_marks(1000, marked, una, una + 10);
            assert_eq!(w.alpha(), Some(0.9375), "the window of observation is not over");
        }
        w.count_marks(1000, 1000, 11, 21);
        assert_eq!(w.alpha(), Some(0.9375 * 0.9375 + 0.4 / 16.0));
        assert_eq!(0.9375 * 0.9375 + 0.4 / 16.0, 0.903_906_25);
        // 10 000 (1 - 0.903 906 25 / 2) = 5480.46875
        w.cut_for_mark();
        assert_eq!((w.get(), w.ssthresh()), (5480, 5480));
    }

    #[test]
    fn alpha_decays_without_marks_and_grows_with_them() {
        let mut w = dctcp();
        for una in 1..=400 {
            w.count_marks(1000, 0, una, una);
        }
        assert!(w.alpha().unwrap() < 1e-10);
        w.cut_for_mark();
        assert_eq!(w.get(), 9999, "next to nothing is cut");
        w.count_marks(1000, 1000, 401, 401);
        assert!((w.alpha().unwrap() - 0.0625).abs() < 1e-10);
    }

    /// RFC 6582: flight 10 segments, three duplicates, two more, a partial ACK of 4, a full ACK.
    #[test]
    fn fast_recovery_inflates_and_deflates() {
        let mut w = window(&TcpParams::default());
        w.cut_threshold(10_000);
        w.enter_recovery(3);
        assert_eq!((w.get(), w.ssthresh()), (8000, 5000));
        w.inflate();
        w.inflate();
        assert_eq!(w.get(), 10_000);
        w.deflate(4000);
        assert_eq!(w.get(), 7000);
        w.leave_recovery(2000);
        assert_eq!(w.get(), 3000, "min(ssthresh, flight + MSS)");
        w.leave_recovery(8000);
        assert_eq!(w.get(), 5000);
        w.deflate(50_000);
        assert_eq!(w.get(), 1000, "never below a segment");
    }
}
