//! HPCC: congestion control from precise per-hop telemetry (INT).
//!
//! Every switch writes into each data packet when it left, how much the port has sent, how much is
//! queued behind it and how fast the port is; the receiver echoes the stack. From two successive
//! stacks the sender knows each link's utilisation *including* its queue, and sets its rate so
//! that the busiest link ends up at a target slightly below full.
//!
//! Per ACK, for every hop i with the stack stored before (primed):
//!
//! ```text
//! tau = ts - ts',  tx = (bytes - bytes') * 8 / tau
//! u_i = tx / B + min(qlen, qlen') * Rmax / B / W          (W = Rmax * T / 8: queue over BDP)
//! u   = max u_i, with its tau;  U = (U (T - tau) + u tau) / T,  tau at most T
//! k   = U / eta
//! k >= 1 or stage >= max_stage:  R = Rc / k + ai, stage' = 0
//! otherwise:                     R = Rc + ai,     stage' = stage + 1
//! ```
//!
//! The reference rate Rc and the stage are only updated once per RTT (first ACK beyond what had
//! been sent at the last update); other ACKs react from the same Rc ("fast react"), so one queue
//! is not answered twice. A stack from other ports than the stored one (the flow has another path
//! now) is stored and not reacted to: there is nothing to compare it with. So is the first one; one
//! that is older than the stored one, overtaken on its way, is ignored. With `multi_rate` U, Rc and
//! stage are kept per hop and the smallest resulting rate counts. A rate change re-times the gap
//! after the packet sent last.
//!
//! HPCC (Li et al., SIGCOMM 2019), Algorithm 1 in its rate form: R = W / T. Deviations, as in the
//! authors' ns-3 model: `max_stage` 0 makes every step multiplicative (the paper has 5), and the
//! first RTT only records.

use crate::control::{Ack, CongestionControl, IntHop, MAX_HOPS, Needs, Pacing, Path, Timers};
use crate::params::{ParamValue, params};
use crate::step::Step;
use crate::timely::as_ns;
use crate::window::{Window, WindowKind, rate_and_window};
use weir_core::param::{FromText, Kind};
use weir_core::{Rate, Time};

/// How telemetry crosses the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telemetry {
    /// The values themselves.
    Exact,
    /// As in the 64-bit hop records of the HPCC evaluation: time modulo 2^24 ns, bytes sent in
    /// units of `128 * multi` modulo 2^20 units. Hops handed to the flow are in bytes (units times
    /// their size), and differences are taken modulo these widths. Conversions of rates beyond
    /// 64 bits behave as that simulator's machine code does.
    Packed {
        /// INT_MULTI: units are this many times 128 B and 80 B.
        multi: u32,
    },
}

/// What an ACK changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// The first ACK of a window: the rate and its references.
    Full,
    /// An ACK in between: the rate alone.
    Fast,
}

impl Telemetry {
    /// What is left of a hop's values in its record: time modulo 2^24 ns, bytes sent in units of
    /// 128 B modulo 2^20 units, the queue in units of 80 B modulo 2^17 units.
    pub fn record(self, hop: IntHop) -> IntHop {
        let Self::Packed { multi } = self else { return hop };
        let in_units = |bytes: u64, unit: u64, bits: u32| {
            let unit = unit * u64::from(multi);
            bytes / unit % (1 << bits) * unit
        };
        IntHop {
            time: Time::from_ns(hop.time.as_ps() / 1000 % (1 << 24)),
            tx_bytes: in_units(hop.tx_bytes, 128, 20),
            queue: in_units(hop.queue, 80, 17),
            ..hop
        }
    }
}

impl FromText for Telemetry {
    fn from_text(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "exact" {
            return Ok(Self::Exact);
        }
        match text.strip_prefix("packed:").map(str::parse) {
            Some(Ok(multi)) if multi > 0 => Ok(Self::Packed { multi }),
            _ => Err(format!(
                "`{text}` is neither `exact` nor `packed:4` (the multiplier of the units)"
            )),
        }
    }
}

impl ParamValue for Telemetry {
    fn write(&self) -> String {
        match self {
            Self::Exact => "exact".into(),
            Self::Packed { multi } => format!("packed:{multi}"),
        }
    }
}

params! {
    /// Parameters of HPCC. Defaults: the HPCC evaluation's values.
    HpccParams {
        /// Target utilisation of the busiest link.
        eta: f64 = "0.95", Kind::Share;
        /// Additive steps before a multiplicative one; 0 makes every step multiplicative.
        max_stage: u32 = "0", Kind::COUNT_32;
        /// Additive step.
        ai: Step = "10Mbps per 25Gbps", Kind::RateStep;
        /// Lowest rate: no cut goes below it.
        min_rate: Rate = "1Gbps", Kind::PositiveRate;
        /// React to every ACK, not only once per RTT.
        fast_react: bool = "true", Kind::Bool;
        /// Keep a rate per hop and send at the smallest.
        multi_rate: bool = "false", Kind::Bool;
        /// Between the updates of the reference rate, use only hops that report a queue.
        sample_feedback: bool = "false", Kind::Bool;
        /// How telemetry crosses the wire.
        telemetry: Telemetry = "exact", Kind::Special("`\"exact\"` or `\"packed:N\"`");
        /// What limits the bytes in flight.
        window: WindowKind = "variable", Kind::Choice(&["none", "static", "variable"]);
    }
}

/// Estimate and reference of a link (or of the busiest one).
#[derive(Clone, Copy, Debug)]
struct Reference {
    u: f64,
    rate: u64,
    stage: u32,
}

#[derive(Clone, Copy, Debug)]
struct Config {
    eta: f64,
    max_stage: u32,
    ai: u64,
    min_rate: u64,
    line_rate: u64,
    /// Base RTT in ns.
    t: f64,
    /// The static window in bytes.
    w: f64,
    fast_react: bool,
    sample_feedback: bool,
    packed: bool,
    /// Where time (ps) and sent bytes wrap; 0 is 2^64.
    time_modulus: u64,
    bytes_modulus: u64,
}

/// A flow under HPCC.
#[derive(Clone, Debug)]
pub struct Hpcc {
    rate: u64,
    last_update: u64,
    single: Reference,
    /// The stack stored last, and how many hops it has. In a box: a flow under any other algorithm
    /// takes as much memory as the largest one.
    hops: Box<[IntHop; MAX_HOPS]>,
    path_length: usize,
    /// Per hop, when `multi_rate`.
    multi: Option<Box<[Reference; MAX_HOPS]>>,
    window: Window,
    config: Config,
}

impl Hpcc {
    /// A new flow: line rate, U = 1.
    pub fn new(p: &HpccParams, path: &Path) -> Self {
        let line_rate = path.line_rate.as_bps();
        let fresh = Reference { u: 1.0, rate: line_rate, stage: 0 };
        let (time_modulus, bytes_modulus) = match p.telemetry {
            Telemetry::Exact => (0, 0),
            Telemetry::Packed { multi } => ((1 << 24) * 1000, (1 << 27) * u64::from(multi)),
        };
        Self {
            rate: line_rate,
            last_update: 0,
            single: fresh,
            hops: Box::default(),
            path_length: 0,
            multi: p.multi_rate.then(|| Box::new([fresh; MAX_HOPS])),
            window: Window::new(p.window, path),
            config: Config {
                eta: p.eta,
                max_stage: p.max_stage,
                ai: p.ai.at(path.line_rate).as_bps(),
                min_rate: p.min_rate.as_bps(),
                line_rate,
                t: as_ns(path.base_rtt),
                w: path.bdp.get() as f64,
                fast_react: p.fast_react,
                sample_feedback: p.sample_feedback,
                packed: p.telemetry != Telemetry::Exact,
                time_modulus,
                bytes_modulus,
            },
        }
    }

    /// Stores a stack without a reaction to it.
    fn store(&mut self, hops: &[IntHop]) {
        self.hops[..hops.len()].copy_from_slice(hops);
        self.path_length = hops.len();
    }

    /// Whether a stack comes from the ports of the stored one, as far as it says.
    fn is_same_path(&self, hops: &[IntHop]) -> bool {
        let stored = &self.hops[..self.path_length];
        hops.iter().all(|h| h.port == IntHop::NO_PORT)
            || stored.iter().map(|h| h.port).eq(hops.iter().map(|h| h.port))
    }

    /// Whether a stack of the same path is older than the stored one. (Time that wraps does not
    /// tell.)
    fn is_late(&self, hops: &[IntHop]) -> bool {
        !self.config.packed && hops.iter().zip(&*self.hops).any(|(new, old)| new.time < old.time)
    }

    /// Reacts to the stack; the new rate, or `None` when no hop was looked at.
    fn react(&mut self, hops: &[IntHop], scope: Reaction) -> Option<u64> {
        if self.multi.is_some() {
            self.react_multi(hops, scope)
        } else {
            self.react_single(hops, scope)
        }
    }

    fn react_single(&mut self, hops: &[IntHop], scope: Reaction) -> Option<u64> {
        let c = self.config;
        let (mut max_u, mut dt, mut any) = (0.0, 0.0, false);
        for (new, old) in hops.iter().zip(&mut *self.hops) {
            if c.skips(new, scope) {
                continue;
            }
            any = true;
            let (u, tau) = c.utilisation(new, old);
            if u > max_u {
                (max_u, dt) = (u, tau);
            }
            *old = *new;
        }
        if !any {
            return None;
        }
        let r = &mut self.single;
        r.u = c.smooth(r.u, max_u, dt);
        let (rate, stage) = c.step(r);
        if scope == Reaction::Full {
            (r.rate, r.stage) = (rate, stage);
        }
        Some(rate)
    }

    fn react_multi(&mut self, hops: &[IntHop], scope: Reaction) -> Option<u64> {
        let c = self.config;
        let references = self.multi.as_deref_mut()?;
        let (mut rate, mut any) = (c.line_rate, false);
        for ((new, old), r) in hops.iter().zip(&mut *self.hops).zip(references) {
            if c.skips(new, scope) {
                rate = rate.min(r.rate);
                continue;
            }
            any = true;
            let (u, tau) = c.utilisation(new, old);
            r.u = c.smooth(r.u, u, tau);
            *old = *new;
            let (hop_rate, stage) = c.step(r);
            rate = rate.min(hop_rate);
            if scope == Reaction::Full {
                (r.rate, r.stage) = (hop_rate, stage);
            }
        }
        any.then_some(rate)
    }
}

impl Config {
    fn skips(&self, hop: &IntHop, scope: Reaction) -> bool {
        self.sample_feedback && scope == Reaction::Fast && hop.queue == 0
    }

    /// A link's utilisation since the stored record, and the time between the two in ns.
    #[inline]
    fn utilisation(&self, new: &IntHop, old: &IntHop) -> (f64, f64) {
        let tau = wrapped(new.time.as_ps(), old.time.as_ps(), self.time_modulus) as f64 / 1000.0;
        let bytes = wrapped(new.tx_bytes, old.tx_bytes, self.bytes_modulus);
        let tx = (bytes * 8) as f64 / (tau * 1e-9);
        let b = new.rate.as_bps() as f64;
        let queue = new.queue.min(old.queue) as f64;
        (tx / b + queue * self.line_rate as f64 / b / self.w, tau)
    }

    #[inline]
    fn smooth(&self, old: f64, new: f64, tau: f64) -> f64 {
        let tau = if tau > self.t { self.t } else { tau };
        (old * (self.t - tau) + new * tau) / self.t
    }

    #[inline]
    fn step(&self, r: &Reference) -> (u64, u32) {
        let k = r.u / self.eta;
        let (rate, stage) = if k >= 1.0 || r.stage >= self.max_stage {
            (self.whole_rate(r.rate as f64 / k).saturating_add(self.ai), 0)
        } else {
            (r.rate.saturating_add(self.ai), r.stage + 1)
        };
        // Minimum first: a minimum above line rate gives line rate.
        (rate.max(self.min_rate).min(self.line_rate), stage)
    }

    /// Rounds down to whole bit/s.
    #[inline]
    fn whole_rate(&self, x: f64) -> u64 {
        const TOO_BIG: f64 = 18_446_744_073_709_551_616.0;
        if x < TOO_BIG || !self.packed {
            return x as u64;
        }
        // What x86-64 conversion to an unsigned number leaves: 2^63 for "not a number", 0 for
        // values that do not fit.
        if x.is_nan() { 1 << 63 } else { 0 }
    }
}

/// `new - old` where counters wrap at `modulus` (0: at 2^64).
#[inline]
fn wrapped(new: u64, old: u64, modulus: u64) -> u64 {
    if new >= old { new - old } else { new.wrapping_add(modulus).wrapping_sub(old) }
}

impl CongestionControl for Hpcc {
    fn needs() -> Needs {
        Needs::TELEMETRY
    }

    fn on_ack(&mut self, ack: &Ack<'_>, _: &mut Timers) -> Pacing {
        let scope = if ack.seq > self.last_update { Reaction::Full } else { Reaction::Fast };
        if scope == Reaction::Fast && !self.config.fast_react {
            return Pacing::Same;
        }
        let hops = &ack.hops[..ack.hops.len().min(MAX_HOPS)];
        let first = self.last_update == 0;
        if first {
            self.last_update = ack.snd_nxt;
        }
        if first || !self.is_same_path(hops) {
            self.store(hops);
            return Pacing::Same;
        }
        if self.is_late(hops) {
            return Pacing::Same;
        }
        let rate = self.react(hops, scope);
        if scope == Reaction::Full && ack.snd_nxt > self.last_update {
            self.last_update = ack.snd_nxt;
        }
        match rate {
            Some(rate) => {
                self.rate = rate;
                Pacing::Retime
            }
            None => Pacing::Same,
        }
    }

    rate_and_window!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{ack, path_100g};
    use weir_core::Time;

    fn hop(ns: u64, tx_bytes: u64, queue: u64) -> IntHop {
        IntHop { time: Time::from_ns(ns), tx_bytes, queue, rate: Rate::from_gbps(100), port: 7 }
    }

    fn feed(flow: &mut Hpcc, seq: u64, snd_nxt: u64, hops: &[IntHop]) -> (Pacing, u64) {
        let ack = Ack { hops, ..ack(Time::ZERO, seq, snd_nxt) };
        (flow.on_ack(&ack, &mut Timers::new()), flow.rate)
    }

    /// A flow whose first RTT is recorded: hop at 0 ns, 0 B sent, no queue.
    fn flow(params: &HpccParams) -> Hpcc {
        let mut flow = Hpcc::new(params, &path_100g());
        assert_eq!(feed(&mut flow, 1000, 10_000, &[hop(0, 0, 0)]).0, Pacing::Same);
        flow
    }

    #[test]
    fn half_used_for_a_whole_rtt_doubles_the_rate_to_the_target() {
        let mut f = flow(&HpccParams::default());
        (f.single.rate, f.rate) = (40_000_000_000, 40_000_000_000);
        // 26 000 B in 4160 ns = 50 Gb/s: u = 0.5, the whole EWMA weight; k = 0.5/0.95;
        // R = 40 G * 1.9 + 40 M
        let got = feed(&mut f, 11_000, 20_000, &[hop(4160, 26_000, 0)]);
        assert_eq!(got, (Pacing::Retime, 76_040_000_000));
    }

    #[test]
    fn a_queue_of_one_bdp_adds_one_to_the_utilisation() {
        let mut f = flow(&HpccParams::default());
        f.hops[0].queue = 52_000;
        // u = 52000*8/4160ns/100G + 52000/52000 = 2; k = 2/0.95; R = 47.5 G + 40 M
        let (_, rate) = feed(&mut f, 11_000, 20_000, &[hop(4160, 52_000, 60_000)]);
        assert_eq!(rate, 47_540_000_000);
    }

    #[test]
    fn the_smaller_of_two_successive_queues_counts() {
        let mut f = flow(&HpccParams::default());
        feed(&mut f, 11_000, 20_000, &[hop(4160, 52_000, 60_000)]);
        // Before, no queue: u = 1, k = 1/0.95, R = 95 G + 40 M.
        assert_eq!(f.rate, 95_040_000_000);
    }

    #[test]
    fn a_stack_from_another_path_is_only_stored() {
        let mut f = flow(&HpccParams::default());
        let moved = |ns, tx_bytes| IntHop { port: 8, ..hop(ns, tx_bytes, 0) };
        f.hops[0].tx_bytes = 1_000_000;
        // the other port has sent less than the old one: that is no negative number of bytes
        let got = feed(&mut f, 11_000, 20_000, &[moved(4160, 500)]);
        assert_eq!(got, (Pacing::Same, 100_000_000_000));
        // 52 000 B in 4160 ns from there: u = 1, R = 95 G + 40 M
        let got = feed(&mut f, 11_500, 20_000, &[moved(8320, 52_500)]);
        assert_eq!(got, (Pacing::Retime, 95_040_000_000));
        // a hop more, and one less
        let two = [moved(12_480, 52_500), hop(12_480, 0, 0)];
        assert_eq!(feed(&mut f, 21_000, 30_000, &two).0, Pacing::Same);
        assert_eq!(feed(&mut f, 21_500, 30_000, &two[..1]).0, Pacing::Same);
        // where ports have no names, hops are taken one by one
        let nameless = |hop| IntHop { port: IntHop::NO_PORT, ..hop };
        let two = [moved(16_640, 104_500), hop(16_640, 52_000, 0)].map(nameless);
        assert_eq!(feed(&mut f, 31_000, 40_000, &two).0, Pacing::Retime);
    }

    #[test]
    fn a_stack_that_was_overtaken_is_ignored() {
        let mut f = flow(&HpccParams::default());
        feed(&mut f, 11_000, 20_000, &[hop(4160, 52_000, 0)]);
        assert_eq!(feed(&mut f, 21_000, 30_000, &[hop(4000, 51_000, 0)]).0, Pacing::Same);
        assert_eq!((f.hops[0].tx_bytes, f.last_update), (52_000, 20_000));
    }

    #[test]
    fn part_of_an_rtt_gets_its_share_of_the_average() {
        let mut f = flow(&HpccParams::default());
        // tau = T/4 at 26 000 B in 1040 ns, u = 2: U = 3/4 + 2/4
        feed(&mut f, 11_000, 20_000, &[hop(1040, 26_000, 0)]);
        assert_eq!(f.single.u, 1.25);
    }

    #[test]
    fn between_updates_the_reference_rate_stays() {
        let mut f = flow(&HpccParams::default());
        // seq 5000 is not beyond 10 000: fast reaction only
        let (pacing, rate) = feed(&mut f, 5000, 12_000, &[hop(4160, 52_000, 0)]);
        assert_eq!(
            (pacing, rate, f.single.rate),
            (Pacing::Retime, 95_040_000_000, 100_000_000_000)
        );
        assert_eq!(f.last_update, 10_000);
        let slow = HpccParams { fast_react: false, ..Default::default() };
        let mut f = flow_with(&slow);
        assert_eq!(feed(&mut f, 5000, 12_000, &[hop(4160, 52_000, 0)]).0, Pacing::Same);
    }

    fn flow_with(params: &HpccParams) -> Hpcc {
        flow(params)
    }

    #[test]
    fn below_target_steps_are_additive_until_the_stage_is_full() {
        let params = HpccParams { max_stage: 1, ..Default::default() };
        let mut f = flow(&params);
        (f.single.rate, f.rate) = (40_000_000_000, 40_000_000_000);
        feed(&mut f, 11_000, 20_000, &[hop(4160, 26_000, 0)]);
        assert_eq!((f.rate, f.single.stage), (40_040_000_000, 1));
        // stage 1 is full: 40.04 G * 1.9 + 40 M
        feed(&mut f, 21_000, 30_000, &[hop(8320, 52_000, 0)]);
        assert_eq!((f.rate, f.single.stage), (76_116_000_000, 0));
    }

    #[test]
    fn per_hop_rates_send_at_the_smallest() {
        let params = HpccParams { multi_rate: true, ..Default::default() };
        let mut f = Hpcc::new(&params, &path_100g());
        feed(&mut f, 1000, 10_000, &[hop(0, 0, 0), hop(0, 0, 0)]);
        // hop 0 at u = 1: 95.04 G; hop 1 at u = 2 would need a queue: 104 000 B in 4160 ns
        let hops = [hop(4160, 52_000, 0), hop(4160, 104_000, 0)];
        assert_eq!(feed(&mut f, 11_000, 20_000, &hops).1, 47_540_000_000);
        let rates: Vec<_> = f.multi.as_ref().unwrap().iter().map(|r| r.rate).take(2).collect();
        assert_eq!(rates, [95_040_000_000, 47_540_000_000]);
    }

    #[test]
    fn sampled_feedback_skips_hops_without_a_queue() {
        let params = HpccParams { sample_feedback: true, ..Default::default() };
        let mut f = flow(&params);
        assert_eq!(feed(&mut f, 5000, 12_000, &[hop(4160, 52_000, 0)]).0, Pacing::Same);
        assert_eq!(feed(&mut f, 6000, 12_000, &[hop(4160, 52_000, 80)]).0, Pacing::Retime);
    }

    #[test]
    fn a_packed_record_keeps_whole_units_of_what_it_has_bits_for() {
        let whole = IntHop {
            time: Time::from_ps((1 << 24) * 1000 + 5999),
            tx_bytes: 512 * (1 << 20) + 512 * 3 + 511,
            queue: 320 * 2 + 319,
            rate: Rate::from_gbps(100),
            port: 7,
        };
        assert_eq!(Telemetry::Exact.record(whole), whole);
        let packed = Telemetry::Packed { multi: 4 }.record(whole);
        assert_eq!((packed.time, packed.tx_bytes), (Time::from_ns(5), 512 * 3));
        assert_eq!((packed.queue, packed.rate, packed.port), (640, whole.rate, 7));
    }

    #[test]
    fn packed_counters_wrap() {
        let params = HpccParams { telemetry: Telemetry::Packed { multi: 4 }, ..Default::default() };
        let mut f = Hpcc::new(&params, &path_100g());
        let near_end = hop((1 << 24) - 1000, 512 * ((1 << 20) - 1), 0);
        feed(&mut f, 1000, 10_000, &[near_end]);
        // 3160 ns after the wrap is 4160 ns later; 101 units of 512 B: 51 712 B, u = 0.99446...
        feed(&mut f, 11_000, 20_000, &[hop(3160, 512 * 100, 0)]);
        let u = 51_712.0 * 8.0 / (4160.0 * 1e-9) / 1e11;
        assert_eq!(f.single.u, u * 4160.0 / 4160.0);
    }

    #[test]
    fn an_idle_link_gives_line_rate_and_the_packed_profile_its_own_quirk() {
        // u = 0 for a whole RTT: R = Rc / 0
        let exact = HpccParams { multi_rate: true, ..Default::default() };
        let mut f = flow(&exact);
        assert_eq!(feed(&mut f, 11_000, 20_000, &[hop(4160, 0, 0)]).1, 100_000_000_000);
        let packed = HpccParams { telemetry: Telemetry::Packed { multi: 4 }, ..exact };
        let mut f = flow(&packed);
        assert_eq!(feed(&mut f, 11_000, 20_000, &[hop(4160, 0, 0)]).1, 1_000_000_000);
    }

    #[test]
    fn telemetry_reads_back() {
        for t in [Telemetry::Exact, Telemetry::Packed { multi: 4 }] {
            assert_eq!(Telemetry::from_text(&t.write()), Ok(t));
        }
        assert!(Telemetry::from_text("packed:0").is_err());
    }

    #[test]
    fn the_step_scales_with_the_line_rate() {
        for (gbps, mbps) in [(25, 10), (100, 40), (400, 160)] {
            let path = Path { line_rate: Rate::from_gbps(gbps), ..crate::for_tests::path_100g() };
            assert_eq!(Hpcc::new(&HpccParams::default(), &path).config.ai, mbps * 1_000_000);
        }
    }
}
