//! What to configure for a link, with every number derived.

mod cells;
mod show;

pub use cells::{Cells, SMALLEST};
pub(crate) use show::alpha_text;

use crate::rule::{Rule, Sizes};
use weir_cc::ecn::Profile;
use weir_core::{Bytes, Length, Rate, Response, Time};
use weir_net::analysis::Headroom;

/// Ethernet header and checksum around a packet of the MTU.
pub const FRAMING: Bytes = Bytes::new(18);
/// Preamble, delimiter and gap.
pub const OVERHEAD: Bytes = Bytes::new(20);

/// What decides how much still arrives by a link after XOFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Speed.
    pub rate: Rate,
    /// Propagation delay one way.
    pub delay: Time,
    /// How long the peer takes to react.
    pub response: Response,
    /// Forwarding latency of the switch that pauses.
    pub latency: Time,
    /// MAC and PHY of both ends together.
    pub interface: Time,
    /// The largest frame that may be ahead of the PAUSE, without preamble and gap.
    pub reverse_frame: Bytes,
    /// The largest lossless frame, without preamble and gap.
    pub forward_frame: Bytes,
    /// The cells in which memory is counted; `None`: in bytes.
    pub cells: Option<Cells>,
}

/// One term of a budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// What it stands for.
    pub name: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// Its bytes.
    pub bytes: f64,
}

impl Budget {
    /// The project's formula, filled in.
    pub fn headroom(&self) -> Headroom {
        let mut budget = Headroom::new(self.rate, self.delay, Bytes::ZERO);
        budget.response = self.response.at(self.rate).saturating_add(self.latency);
        budget.transmit = self.interface;
        budget.reverse_frame = self.reverse_frame.saturating_add(OVERHEAD);
        budget.forward_frame = self.forward_frame.saturating_add(OVERHEAD);
        budget
    }

    /// Bytes that may arrive after the decision to pause. In cells it is the memory of the worst
    /// packets that take as long on the wire, and of a largest frame that the peer has begun.
    pub fn need(&self) -> Bytes {
        let mut headroom = self.headroom();
        let Some(cells) = self.cells else { return headroom.bytes() };
        headroom.forward_frame = Bytes::ZERO;
        cells.most(headroom.bytes(), self.forward_frame).saturating_add(self.stored())
    }

    /// The memory of a largest lossless frame.
    pub fn stored(&self) -> Bytes {
        self.cells.map_or(self.forward_frame, |cells| cells.cell.stored(self.forward_frame))
    }

    /// What to set aside: the need, and the packet that crosses the threshold, which is stored in
    /// headroom itself.
    pub fn advised(&self) -> Bytes {
        self.need().saturating_add(self.stored())
    }

    /// The terms of [`Budget::advised`], which are rounded up together.
    pub fn terms(&self) -> Vec<Term> {
        let during = |time: Time| self.rate.as_bps() as f64 * time.as_secs_f64() / 8.0;
        let term = |name, formula, bytes: f64| Term { name, formula, bytes };
        let h = self.headroom();
        let mut all = vec![
            term("cable", "2 x delay x speed", 2.0 * during(self.delay)),
            term("response of the peer", "response x speed", during(self.response.at(self.rate))),
            term("latency of the switch", "latency x speed", during(self.latency)),
            term("MAC and PHY", "delay of both interfaces x speed", during(self.interface)),
            term(
                "frame ahead of the PAUSE",
                "MTU + 18 B + 20 B on the wire",
                h.reverse_frame.get() as f64,
            ),
            term("PAUSE frame", "64 B + 20 B on the wire", h.pause_frame.get() as f64),
            term(
                "frame that the peer has begun",
                "lossless MTU + 18 B + 20 B on the wire",
                h.forward_frame.get() as f64,
            ),
            term(
                "packet that crosses the threshold",
                "lossless MTU + 18 B",
                self.forward_frame.get() as f64,
            ),
        ];
        if self.cells.is_some() {
            let counted: f64 = all.iter().map(|t| t.bytes).sum();
            let cells = self.advised().get() as f64 - counted;
            all.push(term("cells", "what the worst packets waste", cells));
        }
        all.retain(|t| t.bytes > 0.0);
        all
    }

    /// Headroom that a metre of cable takes.
    pub fn bytes_per_metre(&self, per_metre: Time) -> f64 {
        let factor = self.cells.map_or(1.0, |cells| cells.factor(self.forward_frame));
        2.0 * self.rate.as_bps() as f64 * per_metre.as_secs_f64() / 8.0 * factor
    }
}

/// The delay of the interfaces of a link that IEEE 802.3 allows, where it is published: bit times
/// by speed in Gb/s.
pub const INTERFACE_BIT_TIMES: [(u64, u64); 2] = [(10, 8_192), (100, 122_880)];

/// The delay of an interface that the standard allows at a speed.
pub fn standard_interface(rate: Rate) -> Option<Time> {
    let listed = INTERFACE_BIT_TIMES.iter().find(|(gbps, _)| Rate::from_gbps(*gbps) == rate)?;
    Some(rate.time_for(Bytes::new(listed.1 / 8)))
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// The link.
    pub budget: Budget,
    /// Its length, to express margins in.
    pub cable: Length,
    /// How long a signal takes for a metre.
    pub per_metre: Time,
    /// Cable to plan for in addition.
    pub spare: Length,
    /// Memory of the switch.
    pub buffer: Option<Bytes>,
    /// Ports that receive lossless traffic.
    pub ports: u64,
    /// Lossless priorities.
    pub priorities: u64,
    /// How many times more headroom is promised than there is, in a shared headroom pool; 1 for
    /// none.
    pub oversubscription: u64,
    /// alpha = 2^n.
    pub alpha: i8,
    /// A vendor's rule for the same link.
    pub rule: Option<Rule>,
}

/// How a switch marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marking {
    /// Nothing is marked up to this queue length.
    pub kmin: Bytes,
    /// Everything is marked above this one.
    pub kmax: Bytes,
    /// Probability just below `kmax`, in percent.
    pub percent: u32,
}

/// How the memory of a switch is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// All memory.
    pub buffer: Bytes,
    /// Headroom of all ports and priorities.
    pub headroom: Bytes,
    /// What is left for sharing.
    pub shared: Bytes,
    /// Where a single congested port pauses: alpha S / (1 + alpha).
    pub pause: Bytes,
    /// The fixed threshold at which no sum of ingresses exceeds the memory.
    pub xoff: Bytes,
    /// Where it resumes.
    pub xon: Bytes,
    /// Marking that comes before pausing.
    pub marking: Marking,
}

/// A popular estimate and what it leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcut {
    /// The estimate in words.
    pub name: &'static str,
    /// What it gives.
    pub bytes: Bytes,
    /// What it neglects.
    pub neglects: &'static str,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What was asked.
    pub wanted: Wanted,
    /// Bytes that may arrive after the decision to pause.
    pub need: Bytes,
    /// Headroom to configure per port and lossless priority.
    pub headroom: Bytes,
    /// What `headroom` allows beyond the need, in metres of cable.
    pub margin: f64,
    /// What a vendor's rule gives.
    pub rule: Option<Sizes>,
    /// The memory, where its size is known; `Err`: what it would have to be.
    pub division: Option<Result<Division, Bytes>>,
    /// Popular estimates.
    pub shortcuts: Vec<Shortcut>,
}

impl Advice {
    /// Answers.
    pub fn new(wanted: Wanted) -> Self {
        let b = &wanted.budget;
        let spare = wanted.spare.delay(wanted.per_metre);
        let longer = Budget { delay: b.delay.saturating_add(spare), ..*b };
        let (need, own) = (b.need(), longer.advised());
        let rule = wanted.rule.as_ref().and_then(Rule::apply);
        let headroom = rule.as_ref().map_or(own, |sizes| own.max(Bytes::new(sizes.xoff)));
        let beyond = headroom.saturating_sub(b.advised());
        let margin = beyond.get() as f64 / b.bytes_per_metre(wanted.per_metre).max(f64::EPSILON);
        let division = wanted.buffer.map(|buffer| divide(&wanted, buffer, need, headroom));
        let shortcuts = shortcuts(b);
        Self { wanted, need, headroom, margin, rule, division, shortcuts }
    }
}

fn times(bytes: Bytes, n: u64) -> Bytes {
    Bytes::new(bytes.get().saturating_mul(n))
}

/// Divides the memory of a switch, or says how much is missing for any sharing at all.
fn divide(w: &Wanted, buffer: Bytes, need: Bytes, headroom: Bytes) -> Result<Division, Bytes> {
    let groups = w.ports.saturating_mul(w.priorities).max(1);
    let promised = times(headroom, groups);
    let set_aside = Bytes::new(promised.get().div_ceil(w.oversubscription.max(1))).max(headroom);
    // a port must be able to store a few packets before it pauses
    let least = times(w.budget.stored(), 2 * groups);
    let shared = buffer.saturating_sub(set_aside);
    if shared <= least {
        return Err(set_aside.saturating_add(least));
    }
    let share = |numerator: u128, denominator: u128| {
        let part = u128::from(shared.get()) * numerator / denominator.max(1);
        Bytes::new(u64::try_from(part).unwrap_or(u64::MAX))
    };
    // alpha as n / d
    let (n, d) = match w.alpha {
        0.. => (1u128 << w.alpha.min(64), 1u128),
        _ => (1, 1u128 << w.alpha.unsigned_abs().min(64)),
    };
    let pause = share(n, n + d);
    let xoff = share(1, u128::from(groups));
    // 3/5 as in the OFC paper, but not so low that the port runs dry while a RESUME is on its way
    let low = Bytes::new(xoff.get() / 5 * 3).max(need);
    let xon = low.min(xoff.saturating_sub(times(w.budget.stored(), 2)));
    // DCQCN, section 4: when every ingress holds as much as an egress queue that begins to mark,
    // none of them has reached its pause threshold: K < alpha S / (1 + alpha ports)
    let before_pause = share(n, d + n * u128::from(w.ports.max(1)));
    let marking = marking(w.budget.rate, before_pause);
    Ok(Division { buffer, headroom: set_aside, shared, pause, xoff, xon, marking })
}

/// The published thresholds for the speed, lowered in proportion until marking precedes pausing.
fn marking(rate: Rate, most: Bytes) -> Marking {
    let profile = &Profile::ALL[0];
    let scaled = |bytes: Bytes| {
        let per = profile.per.map_or(1, Rate::as_bps).max(1);
        u128::from(bytes.get()) * u128::from(rate.as_bps()) / u128::from(per)
    };
    let (kmin, kmax) = (scaled(profile.kmin), scaled(profile.kmax).max(1));
    let lowered = kmax.min(u128::from(most.get()));
    let bytes = |n: u128| Bytes::new(u64::try_from(n).unwrap_or(u64::MAX));
    Marking { kmin: bytes(kmin * lowered / kmax), kmax: bytes(lowered), percent: profile.percent }
}

fn shortcuts(b: &Budget) -> Vec<Shortcut> {
    let one_way = b.rate.bytes_in(b.delay);
    let frames = times(b.reverse_frame, 2);
    vec![
        Shortcut {
            name: "speed x one-way delay",
            bytes: one_way,
            neglects: "half of the cable's round trip, the response of the peer, all frames",
        },
        Shortcut {
            name: "speed x round trip + 2 MTU",
            bytes: times(one_way, 2).saturating_add(frames),
            neglects: "the response of the peer, the PAUSE frame, the packet that crosses",
        },
        Shortcut {
            name: "3 x speed x one-way delay",
            bytes: times(one_way, 3),
            neglects: "the response of the peer; frames, where the cable is short",
        },
    ]
}

#[cfg(test)]
mod tests;
