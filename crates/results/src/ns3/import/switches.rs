//! `[switch]` of a converted scenario: memory, thresholds, priorities and marking.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use weir_core::{Bytes, Rate, Ratio, Time};
use weir_ns3::import::{LinkPiece, Pieces};
use weir_sim::config::{Hop, LinkConfig, dynamic_headroom};

/// What the section says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Switches {
    buffer: Bytes,
    alpha: String,
    /// One for all ports, or `None` to compute it for each.
    headroom: Option<Bytes>,
    reserve: Bytes,
    resume_offset: Bytes,
    lossless: Vec<u8>,
    weights: Option<[u8; 8]>,
    quantum: Bytes,
    ecn: String,
    pub(super) ack_priority: u8,
    pub(super) notes: Vec<String>,
}

impl Switches {
    pub(super) fn new(p: &Pieces) -> Self {
        let mut notes = Vec::new();
        let mut used: Vec<u8> = p.flows.iter().map(|f| f.priority.get()).collect();
        used.sort_unstable();
        used.dedup();
        let (lossless, ack_priority) = priorities(&used);
        let headroom = common_headroom(p, &mut notes);
        let buffer = buffer(p, headroom, lossless.len() as u64, &mut notes);
        Self {
            buffer,
            alpha: alpha(p, &mut notes),
            headroom,
            reserve: p.buffer.reserve,
            resume_offset: p.buffer.resume_offset,
            weights: weights(&used, ack_priority, &mut notes),
            lossless,
            quantum: p.payload + p.data_overhead,
            ecn: ecn(p, &mut notes),
            ack_priority,
            notes,
        }
    }

    /// The section as text.
    pub(super) fn section(&self) -> String {
        let headroom = self.headroom.map_or_else(|| "auto".into(), |h| h.to_string());
        let mut out = format!(
            "\n[switch]\nbuffer = \"{}\"\nthresholds = {{ alpha = \"{}\", reserve = \"{}\", \
             resume-offset = \"{}\", headroom = \"{headroom}\" }}\nlossless = {:?}\n",
            self.buffer, self.alpha, self.reserve, self.resume_offset, self.lossless
        );
        if let Some(weights) = self.weights {
            let _ = write!(out, "weights = {weights:?}\nquantum = \"{}\"\n", self.quantum);
        }
        let _ = writeln!(out, "ecn = {}", self.ecn);
        out
    }
}

/// Links by the switch they end at.
fn ports_of(p: &Pieces) -> BTreeMap<u32, Vec<&LinkPiece>> {
    let mut ports: BTreeMap<u32, Vec<&LinkPiece>> = BTreeMap::new();
    for link in &p.links {
        for end in [link.ends.0, link.ends.1] {
            if p.switches.binary_search(&end).is_ok() {
                ports.entry(end).or_default().push(link);
            }
        }
    }
    ports
}

/// What losslessness needs on a link of the native model.
fn need(p: &Pieces, rate: Rate, delay: Time) -> Bytes {
    let link = LinkConfig { overhead: Bytes::ZERO, ..LinkConfig::default() };
    dynamic_headroom(rate, delay, &Hop::new(p.payload + p.data_overhead), &link)
}

/// The original's headroom if it is the same at all ports and large enough.
fn common_headroom(p: &Pieces, notes: &mut Vec<String>) -> Option<Bytes> {
    let mut ports = p.buffer.ports.iter();
    let (&(rate, delay), &(first, _)) = ports.next()?;
    if ports.any(|(_, (headroom, _))| *headroom != first) {
        notes.push(
            "headroom is what each link needs, instead of three times its one-way delay".into(),
        );
        return None;
    }
    let need = need(p, Rate::from_bps(rate), Time::from_ns(delay));
    if first < need {
        notes.push(format!("headroom is {need} per port: the original's {first} loses packets"));
        return None;
    }
    Some(first)
}

/// The memory that leaves the same shared pool as in the original, at the switch that sets most
/// aside.
fn buffer(p: &Pieces, common: Option<Bytes>, lossless: u64, notes: &mut Vec<String>) -> Bytes {
    let total = p.buffer.total;
    let reserve = p.buffer.reserve.get();
    let mut widest: Option<(u64, u64)> = None;
    for links in ports_of(p).values() {
        let (mut theirs, mut ours) = (0u64, 0u64);
        for l in links {
            let key = (l.rate.as_bps(), l.delay.as_ps() / 1000);
            theirs += p.buffer.ports.get(&key).map_or(0, |(h, _)| h.get()) + reserve;
            let each = common.unwrap_or_else(|| need(p, l.rate, l.delay)).get() + reserve;
            ours = ours.saturating_add(each.saturating_mul(lossless));
        }
        if theirs > total.get() {
            notes.push(format!(
                "the buffer is 4 GiB: in the original one of {total}, which is less than headroom \
                 and reserve of its ports, counts as that much and never pauses"
            ));
            return Bytes::new(1 << 32);
        }
        widest = widest.max(Some((ours, theirs)));
    }
    let Some((ours, theirs)) = widest else { return total };
    let buffer = Bytes::new((total.get() - theirs).max(1).saturating_add(ours));
    if buffer != total {
        notes.push(format!(
            "the buffer is {buffer} instead of {total}, which leaves the same pool to share: \
             headroom and reserve are set aside for each of {lossless} lossless priorities"
        ));
    }
    buffer
}

/// alpha for the slowest ports, from which the native model derives the others.
fn alpha(p: &Pieces, notes: &mut Vec<String>) -> String {
    let slowest = p.links.iter().map(|l| l.rate.as_bps()).min().unwrap_or(1).max(1);
    let shift = |alpha: &Ratio| (0..=8u32).find(|&n| Ratio::new(1, 1 << n) == Some(*alpha));
    let doublings = |rate: u64| (rate / slowest).max(1).ilog2();
    let wanted: Vec<(u64, u32)> = p
        .buffer
        .ports
        .iter()
        .filter_map(|(&(rate, _), (_, alpha))| Some((rate, shift(alpha)?)))
        .collect();
    let base = wanted.iter().map(|&(rate, n)| n + doublings(rate)).max().unwrap_or(3).min(8);
    if wanted.iter().any(|&(rate, n)| base.saturating_sub(doublings(rate)) != n) {
        notes.push(
            "alpha doubles with every whole doubling of a port's speed over the slowest".into(),
        );
    }
    Ratio::new(1, 1 << base).map_or_else(|| "1/8".into(), |alpha| alpha.to_string())
}

/// The lossless priorities and that of the ACKs, which is never one of them: the highest that no
/// flow uses, or 0 when flows use all.
fn priorities(used: &[u8]) -> (Vec<u8>, u8) {
    let mut lossless: Vec<u8> = used.iter().copied().filter(|&q| q > 0).collect();
    if lossless.is_empty() {
        lossless.push(3);
    }
    let acks = (0..8).rev().find(|q| !used.contains(q) && !lossless.contains(q));
    (lossless, acks.unwrap_or(0))
}

/// Weights where there is more than one priority to serve: in turns, after priority 0 and ACKs.
fn weights(used: &[u8], ack_priority: u8, notes: &mut Vec<String>) -> Option<[u8; 8]> {
    if used.is_empty() || matches!(used, &[only] if only > 0) {
        return None;
    }
    notes.push("priorities take turns by bytes, not by packets".into());
    let mut weights = [1; 8];
    weights[0] = 0;
    weights[usize::from(ack_priority)] = 0;
    Some(weights)
}

/// Marking for the ports at the hosts' speed: a scenario has one rule for all ports.
fn ecn(p: &Pieces, notes: &mut Vec<String>) -> String {
    if !p.congestion_control.needs().marks || p.marking.is_empty() {
        return "\"off\"".into();
    }
    let at_host =
        |l: &&LinkPiece| p.hosts.first().is_some_and(|h| [l.ends.0, l.ends.1].contains(h));
    let host_rate = p.links.iter().find(at_host).map(|l| l.rate.as_bps());
    let chosen = host_rate.and_then(|rate| p.marking.get_key_value(&rate));
    let Some((&rate, m)) = chosen.or_else(|| p.marking.first_key_value()) else {
        return "\"off\"".into();
    };
    if p.marking.values().any(|other| other != m) {
        let rate = Rate::from_bps(rate);
        notes.push(format!("all ports mark as those at {rate} do in the original"));
    }
    if m.kmin > m.kmax || m.pmax > 1.0 {
        notes.push("kmin is at most kmax, and pmax at most 1".into());
    }
    let (kmin, kmax) = (Bytes::new(m.kmin.min(m.kmax)), Bytes::new(m.kmax));
    let pmax = (m.pmax.clamp(0.0, 1.0) * 1e9).round() / 1e9;
    format!("{{ kmin = \"{kmin}\", kmax = \"{kmax}\", pmax = \"{pmax}\" }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_never_have_a_lossless_priority() {
        for set in 0..=u8::MAX {
            let used: Vec<u8> = (0..8).filter(|q| set & 1 << q != 0).collect();
            let (lossless, acks) = priorities(&used);
            assert!(!lossless.contains(&acks), "{used:?}: {lossless:?}, ACKs {acks}");
            assert!(used.iter().all(|q| *q == 0 || lossless.contains(q)), "{used:?}");
        }
    }
}
