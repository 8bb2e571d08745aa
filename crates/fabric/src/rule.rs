//! The headroom rule of SONiC's dynamic buffer model, in whole numbers.
//!
//! The rule is a sum of what may still arrive after XOFF, with every term multiplied by the worst
//! share of cells that small packets waste, and rounded up to KiB. It has changed over time;
//! [`Rule::version`] names the state that is used here, and every finding that rests on it says so.
//!
//! The sum itself differs from the budget of 802.1Qbb ([`weir_net::analysis::Headroom`]) in three
//! ways: it counts one frame of the port's MTU and one of lossless traffic instead of two of the
//! port's, it has no term for the PAUSE frame itself, and it counts memory in cells.

use crate::asic::{Asic, RuleForm};
use crate::fraction::Fraction;
use weir_core::{Rate, Response};

/// The smallest frame, which wastes most of a cell.
const SMALLEST: u64 = 64;
const KIB: u64 = 1024;
/// Added where a reduced share of small packets leaves too little.
const COMPENSATION: u64 = 2 * KIB;

/// What the rule is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The family of the switch, which has a form of the rule.
    pub asic: &'static Asic,
    /// Speed of the port in Mb/s.
    pub speed: u64,
    /// Length of the cable in metres.
    pub cable: u64,
    /// Largest frame of the port.
    pub port_mtu: u64,
    /// Largest lossless packet.
    pub lossless_mtu: u64,
    /// Share of small packets, 0 to 100.
    pub small_packets: u64,
    /// Lanes of the port.
    pub lanes: u64,
    /// Delay of a gearbox in ns.
    pub gearbox: u64,
    /// Whether ports share a headroom pool.
    pub shared: bool,
}

/// What the rule gives, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// Resume threshold: what arrives during the latency of the pipeline.
    pub xon: u64,
    /// Headroom.
    pub xoff: u64,
    /// What the priority group reserves.
    pub size: u64,
    /// The terms of `xoff` before rounding.
    pub terms: Vec<RuleTerm>,
    /// The factor of cells that small packets waste.
    pub occupancy: f64,
}

/// One term of the sum.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleTerm {
    /// What it stands for.
    pub name: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// Its bytes, before the factor of cells.
    pub bytes: f64,
    /// Whether the factor of cells applies.
    pub in_cells: bool,
    /// Whether the simulator has a model of it.
    pub modelled: bool,
}

const fn kib(bytes: u64) -> u64 {
    bytes.div_ceil(KIB).saturating_mul(KIB)
}

impl Rule {
    /// The usual case: MTU 9100, lossless MTU 1024, only small packets, four lanes, no gearbox.
    pub const fn new(asic: &'static Asic, speed: u64, cable: u64) -> Self {
        Self {
            asic,
            speed,
            cable,
            port_mtu: 9100,
            lossless_mtu: 1024,
            small_packets: 100,
            lanes: 4,
            gearbox: 0,
            shared: false,
        }
    }

    /// The state of the rule.
    pub fn version(&self) -> &'static str {
        match self.asic.form {
            Some(RuleForm::Tofino) => "SONiC dynamic headroom, Tofino form",
            Some(RuleForm::Spectrum) if self.asic.extra > 0 => {
                "SONiC dynamic headroom, Spectrum form with +18 KiB of Spectrum-6 (swss PR 4797)"
            }
            Some(RuleForm::Spectrum) => {
                "SONiC dynamic headroom, Spectrum form with +2 KiB for small packets (swss PR 4757)"
            }
            None => "none",
        }
    }

    /// Cells that the worst packet takes, over those it fills.
    fn worst_factor(&self, form: RuleForm) -> Fraction {
        let cell = u128::from(self.asic.cell);
        let exact = match cell > 2 * u128::from(SMALLEST) {
            true => Fraction::new(cell, u128::from(SMALLEST)),
            false => Fraction::new(2 * cell, 1 + cell),
        };
        match form {
            RuleForm::Spectrum => Fraction::whole(exact.ceil()),
            RuleForm::Tofino => exact,
        }
    }

    /// 1 + share of small packets x (worst factor - 1).
    fn occupancy(&self, form: RuleForm, worst: Fraction) -> Fraction {
        let p = self.small_packets.min(100);
        let share = match form {
            RuleForm::Tofino => Fraction::new(u128::from(p), 100),
            // of the bytes, 64 p / (64 p + mtu (100 - p)) and the rule's factor of 100 / p
            RuleForm::Spectrum => {
                let bytes = p * SMALLEST + (100 - p) * self.lossless_mtu.max(1);
                Fraction::new(u128::from(SMALLEST) * 100, u128::from(bytes))
            }
        };
        // 1 - share + share x worst
        (Fraction::whole(1) + share * worst).minus(share)
    }

    fn terms(&self, form: RuleForm) -> [(RuleTerm, Fraction); 6] {
        let (speed, cable) = (u128::from(self.speed), u128::from(self.cable));
        let kilo = if form == RuleForm::Tofino { 1024 } else { 1000 };
        let on_cable = Fraction::new(2 * cable * speed * 1000, 198 * 8 * kilo);
        let gearbox = Fraction::new(2 * speed * u128::from(self.gearbox), 8 * 1024);
        let tenths = |t: u64| Fraction::new(u128::from(t) * u128::from(KIB), 10);
        let mut peer = match Response::listed_quanta(Rate::from_bps(self.speed * 1_000_000)) {
            Some(quanta) => Fraction::whole(quanta * 64),
            None => tenths(self.asic.peer_tenths),
        };
        if form == RuleForm::Tofino && self.speed == 400_000 {
            peer = peer + peer;
        }
        let tile = Fraction::new(speed * u128::from(self.asic.tile_per_gbps), 1000);
        let term = |name, formula, modelled, value: Fraction| {
            let bytes = value.as_f64();
            (RuleTerm { name, formula, bytes, in_cells: true, modelled }, value)
        };
        [
            term("frame ahead of the PAUSE", "port MTU", true, Fraction::whole(self.port_mtu)),
            term("cable", "2 x length x speed / 198 000 km/s", true, on_cable),
            term("gearbox", "2 x delay x speed", false, gearbox),
            term("MAC and PHY", "constant of the family", true, tenths(self.asic.mac_phy_tenths)),
            term("response of the peer", "quanta of the speed x 64 B", true, peer),
            term("tile", "15 B per Gb/s", false, tile),
        ]
    }

    /// Applies the rule; `None` for a family that has none.
    pub fn apply(&self) -> Option<Sizes> {
        let form = self.asic.form?;
        // far beyond any port, and small enough for exact fractions
        let bounded = Self {
            speed: self.speed.min(100_000_000),
            cable: self.cable.min(100_000_000),
            port_mtu: self.port_mtu.min(1 << 20),
            lossless_mtu: self.lossless_mtu.min(1 << 20),
            gearbox: self.gearbox.min(1 << 20),
            ..*self
        };
        Some(bounded.sizes(form))
    }

    fn sizes(&self, form: RuleForm) -> Sizes {
        let worst = self.worst_factor(form);
        let occupancy = self.occupancy(form, worst);
        let terms = self.terms(form);
        let travelling = terms.iter().fold(Fraction::whole(0), |sum, (_, value)| sum + *value);
        let lossless = Fraction::whole(self.lossless_mtu);
        let with = |factor: Fraction| kib((lossless + travelling * factor).ceil());
        let mut xoff = with(occupancy).saturating_add(self.asic.extra);
        let compensates = form == RuleForm::Spectrum && !self.shared && self.small_packets != 100;
        let compensation = match compensates && xoff + COMPENSATION < with(worst) {
            true => COMPENSATION,
            false => 0,
        };
        xoff += compensation;
        let wide = form == RuleForm::Spectrum && self.lanes == 8;
        let xon = kib(self.asic.pipeline_kib * KIB * if wide { 2 } else { 1 });
        let size = match (form, self.shared) {
            (RuleForm::Tofino, _) | (_, true) => xon,
            _ => kib(xoff + xon + if wide { self.port_mtu } else { 0 }),
        };
        let plain = |name, formula, bytes: u64, modelled| RuleTerm {
            name,
            formula,
            bytes: bytes as f64,
            in_cells: false,
            modelled,
        };
        let mut all: Vec<RuleTerm> = terms.into_iter().map(|(term, _)| term).collect();
        all.push(plain("frame that the peer has begun", "lossless MTU", self.lossless_mtu, true));
        all.push(plain("extra of the family", "constant", self.asic.extra, false));
        all.push(plain("small packets", "compensation", compensation, false));
        all.retain(|term| term.bytes > 0.0);
        Sizes { xon, xoff, size, terms: all, occupancy: occupancy.as_f64() }
    }

    /// Bytes of headroom that a metre of cable takes, in cells.
    pub fn bytes_per_metre(&self) -> Option<f64> {
        let form = self.asic.form?;
        let occupancy = self.occupancy(form, self.worst_factor(form)).as_f64();
        Some(self.speed as f64 / 792.0 * occupancy)
    }
}

/// What one port may take of a chip's memory for headroom: the sum of its groups, what lossy
/// traffic and mirroring need beside them, all doubled where eight lanes double it.
pub fn port_total(asic: &Asic, lanes: u64, groups: impl IntoIterator<Item = u64>) -> u64 {
    let twice = if lanes == 8 { 2 } else { 1 };
    let beside = 4096 + (asic.pipeline_kib * KIB + 20 * KIB) * twice;
    groups.into_iter().fold(beside, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(asic: &str, speed: u64, cable: u64) -> Rule {
        Rule::new(Asic::find(asic).expect("a known family"), speed * 1000, cable)
    }

    fn sizes(rule: Rule) -> (u64, u64, u64) {
        let s = rule.apply().expect("the family has a rule");
        (s.xon, s.xoff, s.size)
    }

    /// Seven results of the original rule, all with MTU 9100 and lossless MTU 1024.
    #[test]
    fn the_seven_published_vectors_are_met_exactly() {
        assert_eq!(sizes(rule("spectrum-1", 100, 5)), (19_456, 72_704, 92_160));
        assert_eq!(sizes(rule("spectrum-2", 100, 5)), (19_456, 108_544, 128_000));
        assert_eq!(sizes(rule("spectrum-2", 100, 40)), (19_456, 121_856, 141_312));
        assert_eq!(sizes(rule("spectrum-2", 200, 40)), (19_456, 148_480, 167_936));
        let half = Rule { small_packets: 50, ..rule("spectrum-4", 400, 5) };
        assert_eq!(sizes(half), (19_456, 98_304, 117_760));
        let shared = Rule { small_packets: 50, shared: true, ..rule("spectrum-4", 400, 40) };
        assert_eq!(sizes(shared), (19_456, 117_760, 19_456));
        let tofino = Rule { lanes: 8, ..rule("tofino-2", 400, 40) };
        assert_eq!(sizes(tofino), (69_632, 401_408, 69_632));
    }

    #[test]
    fn eight_lanes_double_the_pipeline_and_add_a_frame() {
        let four = rule("spectrum-3", 400, 5);
        let eight = Rule { lanes: 8, ..four };
        let ((xon, xoff, _), (xon8, xoff8, size8)) = (sizes(four), sizes(eight));
        assert_eq!((xon8, xoff8), (2 * xon, xoff));
        assert_eq!(size8, (xoff + xon8 + 9100).div_ceil(1024) * 1024);
    }

    #[test]
    fn terms_add_up_to_the_headroom_before_rounding() {
        let rule = Rule { small_packets: 50, gearbox: 100, ..rule("spectrum-4", 400, 40) };
        let s = rule.apply().expect("a rule");
        let factor = |t: &RuleTerm| if t.in_cells { s.occupancy } else { 1.0 };
        let sum: f64 = s.terms.iter().map(|t| t.bytes * factor(t)).sum();
        assert!(s.xoff as f64 >= sum && s.xoff as f64 - sum < 1024.0 + 1.0, "{} {sum}", s.xoff);
    }

    #[test]
    fn an_unlisted_speed_has_the_response_of_the_family() {
        // 56 Gb/s is not in the table: 3.8 KiB
        let s = rule("spectrum-1", 56, 5).apply().expect("a rule");
        let peer = s.terms.iter().find(|t| t.name.starts_with("response")).expect("a term");
        assert!((peer.bytes - 3891.2).abs() < 1e-9, "{}", peer.bytes);
    }

    #[test]
    fn absurd_numbers_do_not_overflow() {
        let most = Rule {
            speed: u64::MAX,
            cable: u64::MAX,
            port_mtu: u64::MAX,
            lossless_mtu: 0,
            small_packets: 1,
            gearbox: u64::MAX,
            ..rule("spectrum-6", 1, 1)
        };
        assert!(most.apply().expect("a rule").xoff > 1 << 30);
    }
}
