//! The worst case of one link, constructed to the picosecond: does this headroom suffice?
//!
//! ```text
//!   a ──────────── s ── c      a sends at line rate to c, whose link hardly moves;
//!   (the link)    /            when the ingress at s crosses XOFF, a frame from b to a has
//!                b             just begun, so the PAUSE waits for all of it
//! ```
//!
//! The lengths of the frames of `a` are chosen so that one of them begins just before the PAUSE
//! takes effect. What arrives after the decision to pause is then the budget of 802.1Qbb, less
//! preambles and gaps, which take no memory, and less the ACK of the frame from `b`.
//!
//! Where memory is counted in cells, `a` sends the packets that waste most of them, and a largest
//! frame as the last one to begin.

use crate::run::run_alone;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use weir_core::{Bytes, Rate, Time};
use weir_fabric::advice::{Budget, FRAMING, OVERHEAD};
use weir_scenario::{Experiment, Files};

/// The smallest frame, which a PAUSE and an ACK are.
const SMALLEST: Bytes = Bytes::new(64);
/// The cable of `b`, which does not matter.
const NEAR: Time = Time::from_ns(10);
/// Full frames that `s` stores from `a` before its threshold.
const STORED: u64 = 2;
/// Frames of `a` in addition, which the PAUSE must stop.
const MORE: u64 = 4;
/// Packets of one run at most.
const MOST_PACKETS: u64 = 4_000_000;
/// Packets of one run at most, if each is a flow of its own.
const MOST_FLOWS: u64 = 16_384;

/// The worst case of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstCase {
    /// The link.
    pub budget: Budget,
    /// How many such links a switch has.
    pub ports: u64,
}

/// How one run of it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Headroom beyond the packet that crosses the threshold.
    pub headroom: Bytes,
    /// Packets lost.
    pub lost: u64,
    /// When the first one was lost.
    pub first: Option<Time>,
}

/// What `a` sends after the packet that crosses the threshold, until it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tail {
    /// Packets that waste most cells, and how many of them.
    worst: (Bytes, u64),
    /// A short frame that moves the others to the worst instant.
    short: Option<Bytes>,
    /// Full frames.
    full: u64,
}

impl WorstCase {
    fn on_wire(&self, frame: Bytes) -> Time {
        self.budget.rate.time_for(frame.saturating_add(OVERHEAD))
    }

    /// The model has no delay of interfaces; the same time passes in the response.
    fn response(&self) -> Time {
        self.budget.response.at(self.budget.rate).saturating_add(self.budget.interface)
    }

    fn tail(&self) -> Tail {
        let b = &self.budget;
        let full = self.on_wire(b.forward_frame);
        let (reverse, pause) = (self.on_wire(b.reverse_frame), self.on_wire(SMALLEST));
        // from the end of the frame that crosses to the last instant at which a frame may begin:
        // 1 ps for the frame of b that is first, 1 ps before the PAUSE, and the ACK of that frame
        let times = [b.delay, b.delay, b.latency, self.response(), reverse, pause];
        let span: u64 = times.iter().map(|t| t.as_ps()).sum();
        let span = span.saturating_sub(2 + pause.as_ps());
        if let Some(cells) = b.cells {
            // the last to begin is a full frame
            let worst = cells.worst(b.forward_frame).max(FRAMING + Bytes::new(1));
            let many = span / self.on_wire(worst).as_ps().max(1);
            return Tail { worst: (worst, many), short: None, full: 1 };
        }
        let rest = Time::from_ps(span % full.as_ps().max(1));
        let short = b.rate.bytes_in(rest).checked_sub(OVERHEAD).filter(|s| *s >= SMALLEST);
        Tail {
            worst: (Bytes::ZERO, 0),
            short: short.map(|s| s.min(b.forward_frame)),
            full: span / full.as_ps().max(1) + 1,
        }
    }

    /// Packets that `a` sends.
    pub fn packets(&self) -> u64 {
        let tail = self.tail();
        STORED + 2 + tail.worst.1 + u64::from(tail.short.is_some()) + tail.full + MORE
    }

    /// Whether each of them is a flow of its own.
    pub fn is_singly(&self) -> bool {
        self.budget.cells.is_some() || self.budget.forward_frame != self.budget.reverse_frame
    }

    /// Whether the link is at least a hundred times as fast as the slowest there is, behind which
    /// its data wait.
    pub fn is_fast_enough(&self) -> bool {
        self.budget.rate >= Rate::from_bps(10_000_000)
    }

    /// The most links that a run takes at once; `None` if one is too much.
    pub fn most_ports(&self) -> Option<u64> {
        let most = if self.is_singly() { MOST_FLOWS } else { MOST_PACKETS };
        Some(most / self.packets().max(1)).filter(|n| *n > 0)
    }

    /// What arrives after the decision to pause, by the construction.
    pub fn expected(&self) -> Bytes {
        let tail = self.tail();
        let stored = |f: Bytes| self.budget.cells.map_or(f, |cells| cells.cell.stored(f)).get();
        let full = stored(self.budget.forward_frame).saturating_mul(tail.full);
        let worst = stored(tail.worst.0).saturating_mul(tail.worst.1);
        let all = full.saturating_add(worst).saturating_add(tail.short.unwrap_or_default().get());
        Bytes::new(all)
    }

    /// The scenario with so much headroom beyond the packet that crosses the threshold.
    pub fn scenario(&self, headroom: Bytes) -> String {
        let b = &self.budget;
        let (frame, stored) = (b.forward_frame, b.stored().get());
        // not a multiple of a frame: the packet that crosses it exceeds it by all but one byte
        let xoff = STORED * stored + 1;
        let limit = (xoff + stored - 1).saturating_add(headroom.get());
        // one more frame: the first to arrive leaves for c at once
        let before = STORED + 2;
        let start = self.on_wire(b.reverse_frame) + NEAR + Time::from_us(1);
        let crossing = Time::from_ps(start.as_ps() + before * self.on_wire(frame).as_ps());
        let decided = crossing + b.delay + b.latency;
        // arrives at s, and so begins there, 1 ps before the decision
        let back = [self.on_wire(b.reverse_frame), NEAR, b.latency, Time::from_ps(1)];
        let back = back.iter().fold(decided, |t, d| t.saturating_sub(*d));
        let reverse = self.on_wire(b.reverse_frame) + self.on_wire(SMALLEST);
        let end = decided + reverse + b.delay + self.response();
        let last = Time::from_ps(MORE * self.on_wire(frame).as_ps());
        let until = end + last + b.delay + b.latency + Time::from_us(1);
        let mut out = String::from("name = \"worst-case\"\n\n[topology]\nkind = \"explicit\"\n");
        self.network(&mut out);
        let payload = b.reverse_frame.saturating_sub(FRAMING).get();
        let cell = b.cells.map_or_else(String::new, |cells| {
            format!("cell = \"{}B\"\n", cells.cell.bytes().get())
        });
        let _ = write!(
            out,
            "\n[nic]\npayload = \"{payload}B\"\nheader = \"{}B\"\n\n[link]\nresponse = \"{}ps\"\n\n\
             [switch]\n{cell}latency = \"{}ps\"\n\
             thresholds = {{ xoff = \"{xoff}B\", xon = \"{}B\", limit = \"{limit}B\" }}\n\n\
             [run]\nuntil = \"{}ps\"\nallow-loss = true\n",
            FRAMING.get(),
            self.response().as_ps(),
            b.latency.as_ps(),
            stored,
            until.as_ps()
        );
        for port in 0..self.ports {
            let flow = |from: &str, to: &str, size: u64, start: Time| {
                format!(
                    "\n[[traffic]]\nkind = \"flow\"\nfrom = \"{from}{port}\"\n\
                     to = \"{to}{port}\"\nsize = \"{size}B\"\nstart = \"{}ps\"\n",
                    start.as_ps()
                )
            };
            for (size, start) in self.forward(before, start) {
                out.push_str(&flow("a", "c", size, start));
            }
            out.push_str(&flow("b", "a", payload, back));
        }
        out
    }

    fn network(&self, out: &mut String) {
        let b = &self.budget;
        let each = |f: &dyn Fn(u64) -> String| -> String {
            (0..self.ports).map(f).collect::<Vec<_>>().join(", ")
        };
        let hosts = each(&|i| format!("\"a{i}\", \"b{i}\", \"c{i}\""));
        let (rate, delay) = (b.rate.as_bps(), b.delay.as_ps());
        let slow = (rate / 100).clamp(100_000, 1_000_000);
        let links = each(&|i| {
            let near = NEAR.as_ps();
            format!(
                "\"a{i} s {rate}bps {delay}ps\", \"b{i} s {rate}bps {near}ps\", \
                 \"c{i} s {slow}bps {near}ps\""
            )
        });
        let _ = writeln!(out, "hosts = [{hosts}]\nswitches = [\"s\"]\nlinks = [{links}]");
    }

    /// The flows of `a`, as payload and start: `before` full frames, the short one, full ones.
    fn forward(&self, before: u64, start: Time) -> Vec<(u64, Time)> {
        let b = &self.budget;
        let tail = self.tail();
        let payload = |frame: Bytes| frame.saturating_sub(FRAMING).get();
        let full = payload(b.forward_frame);
        let after = tail.full + MORE;
        if self.is_singly() {
            // packets smaller than those of the network are flows of their own, served in turn
            let first = (0..before).map(|_| full);
            let worst = (0..tail.worst.1).map(|_| payload(tail.worst.0));
            let first = first.chain(worst).chain(tail.short.map(payload));
            let all = first.chain((0..after).map(|_| full));
            return all.map(|size| (size, start)).collect();
        }
        match tail.short {
            None => vec![((before + after) * full, start)],
            // the second flow begins while the short frame, the last of the first, is sent
            Some(short) => {
                let sent = before * self.on_wire(b.forward_frame).as_ps() + 1;
                let second = Time::from_ps(start.as_ps() + sent);
                vec![(before * full + payload(short), start), (after * full, second)]
            }
        }
    }

    /// Runs it with so much headroom beyond the packet that crosses the threshold. `Err`: why the
    /// scenario cannot be run.
    pub fn run(&self, headroom: Bytes) -> Result<Trial, String> {
        let text = self.scenario(headroom);
        let e = Experiment::read("worst-case.toml", &text, Files::default(), &[])
            .map_err(|problems| problems.to_string())?;
        let run = run_alone(&e, e.own_variant(), &AtomicBool::new(false))
            .map_err(|error| error.to_string())?;
        let drops = &run.outcome.drops;
        let lost = drops.iter().map(|d| d.packets).sum();
        Ok(Trial { headroom, lost, first: drops.iter().map(|d| d.first).min() })
    }

    /// The smallest headroom at which nothing is lost, by bisection up to `most`; `None` if that
    /// is too little.
    pub fn smallest(&self, most: Bytes) -> Result<Option<Bytes>, String> {
        let lossless = |h: u64| self.run(Bytes::new(h)).map(|trial| trial.lost == 0);
        if !lossless(most.get())? {
            return Ok(None);
        }
        let (mut low, mut high) = (0, most.get());
        while low < high {
            let middle = low + (high - low) / 2;
            match lossless(middle)? {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(Some(Bytes::new(high)))
    }
}
