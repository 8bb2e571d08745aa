//! DCTCP in the rate and window form used for RDMA.
//!
//! Switches mark every packet beyond a queue threshold K; the sender estimates the fraction of
//! marked packets per RTT (`alpha`) and cuts its rate by half of it, at most once per RTT. Without
//! marks it adds a fixed step per RTT, about one packet.
//!
//! Messages: the mark, echoed on each ACK. Per ACK, in this order:
//!
//! ```text
//! marked += mark
//! ack beyond the last update   alpha = (1-g) alpha + g min(1, marked / packets of the round)
//!                              (the very first round only starts the count); a round begins
//! ack beyond the last cut      cutting is possible again
//! mark, cutting possible       R = max(min, R (1 - alpha/2)); no further cut in this RTT
//! cutting possible, new round  R = min(line, R + ai)
//! ```
//!
//! The window is `BDP * R / line rate`. DCTCP (Alizadeh et al., SIGCOMM 2010), section 3.3,
//! equations 1 and 2; the rate form follows the HPCC authors' ns-3 model: no slow start, flows
//! begin at line rate with alpha = 1.

use crate::control::{Ack, CongestionControl, Needs, Pacing, Path, Timers};
use crate::params::params;
use crate::window::{Window, WindowKind, rate_and_window};
use weir_core::Rate;
use weir_core::param::Kind;

params! {
    /// Parameters of DCTCP. Defaults: the HPCC evaluation's values.
    DctcpParams {
        /// Gain of the marking estimate alpha.
        g: f64 = "1/16", Kind::Share;
        /// Step per RTT: one packet of 1000 B in 13 us.
        ai: Rate = "615Mbps", Kind::Rate;
        /// Lowest rate: no cut goes below it.
        min_rate: Rate = "1Gbps", Kind::PositiveRate;
        /// What limits the bytes in flight.
        window: WindowKind = "variable", Kind::Choice(&["none", "static", "variable"]);
    }
}

/// A flow under DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    rate: u64,
    alpha: f64,
    marked: u32,
    batch: u32,
    last_update: u64,
    cut_until: u64,
    in_cwr: bool,
    window: Window,
    g: f64,
    ai: u64,
    min_rate: u64,
    line_rate: u64,
    mtu: u64,
}

impl Dctcp {
    /// A new flow: line rate, alpha 1.
    pub fn new(p: &DctcpParams, path: &Path) -> Self {
        Self {
            rate: path.line_rate.as_bps(),
            alpha: 1.0,
            marked: 0,
            batch: 0,
            last_update: 0,
            cut_until: 0,
            in_cwr: false,
            window: Window::new(p.window, path),
            g: p.g,
            ai: p.ai.as_bps(),
            min_rate: p.min_rate.as_bps(),
            line_rate: path.line_rate.as_bps(),
            mtu: path.mtu.get().max(1),
        }
    }

    /// Ends a round of feedback and starts the next. The number of packets in a round is a 32-bit
    /// counter: after going back, an ACK may pass `snd_nxt` and the difference wraps.
    fn new_round(&mut self, ack: &Ack<'_>) {
        let in_flight = if self.last_update == 0 {
            ack.snd_nxt
        } else {
            let fraction = (f64::from(self.marked) / f64::from(self.batch)).min(1.0);
            self.alpha = (1.0 - self.g) * self.alpha + self.g * fraction;
            self.marked = 0;
            ack.snd_nxt.wrapping_sub(ack.seq)
        };
        self.batch = (in_flight / self.mtu).wrapping_add(1) as u32;
        self.last_update = ack.snd_nxt;
    }
}

impl CongestionControl for Dctcp {
    fn needs() -> Needs {
        Needs::MARKS
    }

    fn on_ack(&mut self, ack: &Ack<'_>, _: &mut Timers) -> Pacing {
        let before = self.rate;
        self.marked = self.marked.wrapping_add(u32::from(ack.ecn));
        let new_round = ack.seq > self.last_update;
        if new_round {
            self.new_round(ack);
        }
        if self.in_cwr && ack.seq > self.cut_until {
            self.in_cwr = false;
        }
        if ack.ecn && !self.in_cwr {
            let cut = (self.rate as f64 * (1.0 - self.alpha / 2.0)) as u64;
            self.rate = cut.max(self.min_rate);
            self.in_cwr = true;
            self.cut_until = ack.snd_nxt;
        }
        if new_round && !self.in_cwr {
            self.rate = self.rate.saturating_add(self.ai).min(self.line_rate);
        }
        if self.rate == before { Pacing::Same } else { Pacing::NextPacket }
    }

    rate_and_window!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{ack, path_100g};
    use weir_core::Bytes;
    use weir_core::Time;

    fn feed(flow: &mut Dctcp, seq: u64, snd_nxt: u64, ecn: bool) -> u64 {
        flow.on_ack(&Ack { ecn, ..ack(Time::ZERO, seq, snd_nxt) }, &mut Timers::new());
        flow.rate
    }

    fn flow() -> Dctcp {
        Dctcp::new(&DctcpParams::default(), &path_100g())
    }

    #[test]
    fn alpha_follows_the_marked_fraction_of_a_round() {
        let mut f = flow();
        feed(&mut f, 1000, 9000, false);
        // First round: 9000/1000 + 1 packets, up to byte 9000.
        assert_eq!((f.alpha, f.batch, f.last_update), (1.0, 10, 9000));
        f.in_cwr = true;
        f.cut_until = u64::MAX;
        for seq in 2..=4 {
            feed(&mut f, seq * 1000, 12_000, true);
        }
        feed(&mut f, 10_000, 14_500, true);
        // 4 marks of 10 packets: 15/16 + 0.4/16; the next round has 4500/1000 + 1 packets.
        assert_eq!((f.alpha, f.batch, f.marked), (0.9375 + 0.0625 * 0.4, 5, 0));
    }

    #[test]
    fn more_marks_than_packets_count_as_all() {
        let mut f = flow();
        feed(&mut f, 1000, 1000, false);
        assert_eq!(f.batch, 2);
        f.in_cwr = true;
        f.cut_until = u64::MAX;
        f.alpha = 0.5;
        f.marked = 7;
        feed(&mut f, 2000, 3000, false);
        assert_eq!(f.alpha, 0.5 * 0.9375 + 0.0625);
    }

    #[test]
    fn one_cut_per_round_trip() {
        let mut f = flow();
        // alpha is 1: half
        assert_eq!(feed(&mut f, 1000, 9000, true), 50_000_000_000);
        assert_eq!(feed(&mut f, 2000, 9000, true), 50_000_000_000);
        assert_eq!(feed(&mut f, 9000, 15_000, true), 50_000_000_000);
        // Beyond byte 9000 the next cut is due; three of ten packets were marked and the fourth
        // mark comes with this ACK: alpha = 0.9375 + 0.0625 * 0.4 = 0.9625, factor 0.51875.
        assert_eq!(feed(&mut f, 10_000, 15_000, true), 25_937_500_000);
    }

    #[test]
    fn a_round_without_marks_adds_one_step() {
        let mut f = flow();
        feed(&mut f, 1000, 9000, true);
        assert_eq!(feed(&mut f, 10_000, 15_000, false), 50_615_000_000);
        assert_eq!(feed(&mut f, 11_000, 16_000, false), 50_615_000_000);
        f.rate = 99_900_000_000;
        assert_eq!(feed(&mut f, 16_000, 20_000, false), 100_000_000_000);
    }

    #[test]
    fn the_window_follows_the_rate() {
        let mut f = flow();
        feed(&mut f, 1000, 9000, true);
        assert_eq!(f.window(), Some(Bytes::new(26_000)));
        f.rate = 1_200_000_000;
        f.in_cwr = false;
        assert_eq!(feed(&mut f, 10_000, 15_000, true), 1_000_000_000);
    }
}
