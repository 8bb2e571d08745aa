//! How well a live run kept its time, and whether its results count.

use super::thread::Done;
use super::{AllDriven, Settings};
use crate::lateness::{Histogram, Quantiles};
use serde::Serialize;
use std::collections::BTreeMap;
use weir_core::format;
use weir_core::percentile::P999;
use weir_scenario::Experiment;

/// One direction of a link, as its ends have measured it. Times are of the scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkReport {
    /// Who sends: `NODE/pPORT`.
    pub from: String,
    /// Who receives.
    pub to: String,
    /// How long after its time a frame was sent.
    pub late: Quantiles,
    /// Frames that were later than the bound.
    pub too_late: u64,
    /// Sends that the kernel refused at first.
    pub retried: u64,
    /// Sends that it refused for good.
    pub unsent: u64,
    /// From the time at which a frame was to arrive to its arrival; expected: 0.
    pub beyond_delay: Quantiles,
    /// Between frames that follow each other, as they arrived.
    pub gap: Quantiles,
    /// The same as they were to arrive.
    pub gap_expected: Quantiles,
    /// By how much arrivals were moved, since the node had run beyond them.
    pub moved: Quantiles,
}

/// What a live run says of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveReport {
    /// How much slower than the scenario.
    pub dilation: u32,
    /// What the scenario's clock does when a thread is late: `waiting` or `free`.
    pub clock: &'static str,
    /// By how much that clock is ahead of a thread at most, in nanoseconds.
    pub slack_ns: Option<f64>,
    /// For how long, in real milliseconds, it stood still.
    pub stood_still_ms: f64,
    /// How much slower than the scenario it was with that.
    pub dilation_kept: f64,
    /// 999 of 1000 frames may be so late at most, in nanoseconds of scenario time.
    pub bound_ns: f64,
    /// Why the results do not count; empty if they do.
    pub invalid: Vec<String>,
    /// How late frames were sent, on all links.
    pub late: Quantiles,
    /// Frames that were later than the bound.
    pub too_late: u64,
    /// Frames that were not given to nodes, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Frames of other programs that entered and left switches.
    pub foreign: (u64, u64),
    /// Frames that the kernel dropped because a socket was full.
    pub dropped: u64,
    /// How often an interface went away and came back.
    pub returned: u64,
    /// Whether the threads ran before all others.
    pub real_time: bool,
    /// Every direction of every link.
    pub links: Vec<LinkReport>,
}

impl LiveReport {
    /// Whether time was kept with a quarter of the bound to spare, as a rehearsal with a free clock
    /// should. If not, how many times slower the run would have to be, as far as lateness says.
    pub fn kept_well(&self) -> Result<(), f64> {
        let late = self.late.p999_ns.unwrap_or(0.0) / (0.75 * self.bound_ns);
        if self.invalid.is_empty() && late <= 1.0 { Ok(()) } else { Err(late.max(1.0)) }
    }

    /// The share of the time for which the clock stood still.
    pub fn stood_still(&self) -> f64 {
        1.0 - f64::from(self.dilation) / self.dilation_kept
    }

    pub(super) fn new(e: &Experiment, settings: &Settings, driven: &AllDriven) -> Self {
        let nodes = driven.nodes.as_slice();
        let free = !settings.free.is_empty();
        let mut late = Histogram::default();
        let (mut too_late, mut unsent, mut lost) = (0, 0, 0);
        let mut refused: BTreeMap<String, u64> = BTreeMap::new();
        for done in nodes {
            for times in &done.times {
                late.merge(&times.late);
                late.merge(&times.moved);
                too_late += times.too_late + times.moved.beyond(settings.bound);
                unsent += times.unsent;
            }
            lost += done.counts.lost;
            for (why, n) in &done.counts.refused {
                *refused.entry(why.clone()).or_default() += n;
            }
        }
        let sum = |of: fn(&Done) -> u64| nodes.iter().map(of).sum::<u64>();
        let dropped = sum(|done| done.dropped);
        let overdue = sum(|done| done.overdue);
        // between the nodes; what was due after the end was not sent
        let (given, sent) = nodes.iter().fold((0, 0), |(given, sent), done| {
            (given + done.counts.traffic.0, sent + done.counts.traffic.1)
        });
        let missing = if free { 0 } else { sent.saturating_sub(given + dropped + unsent) };
        let mut invalid = Vec::new();
        if let Some(p999) = late.quantile(P999).filter(|p999| *p999 > settings.bound) {
            invalid.push(format!(
                "one frame in a thousand was {} late or more, beyond the bound of {} ({too_late} \
                 of {} frames were beyond it, the latest was {} late)",
                format::time(p999),
                format::time(settings.bound),
                late.count(),
                format::time(late.most()),
            ));
        }
        for (n, what) in [
            (dropped, "dropped by the kernel: a socket was full"),
            (unsent, "refused by the kernel when they were sent"),
            (lost, "had no bytes"),
            (missing, "of flows did not arrive, and the kernel does not say why"),
            (overdue, "had not arrived a tenth of a second after they were sent"),
        ] {
            if n > 0 {
                invalid.push(format!("{} {what}", format::plural(n, "frame")));
            }
        }
        let dilation = settings.dilation.get();
        let going = settings.dilation.real_ns(driven.ended.now).max(1) as f64;
        Self {
            dilation,
            clock: settings.clock.name(),
            slack_ns: settings.slack().map(|slack| slack.as_ps() as f64 / 1000.0),
            stood_still_ms: driven.stood_still as f64 * 1e-6,
            dilation_kept: f64::from(dilation) * (1.0 + driven.stood_still as f64 / going),
            bound_ns: settings.bound.as_ps() as f64 / 1000.0,
            invalid,
            late: late.quantiles(),
            too_late,
            refused,
            foreign: (sum(|done| done.counts.foreign.0), sum(|done| done.counts.foreign.1)),
            dropped,
            returned: sum(|done| done.returned),
            real_time: nodes.iter().all(|done| done.real_time),
            links: links(e, nodes),
        }
    }
}

fn links(e: &Experiment, nodes: &[Done]) -> Vec<LinkReport> {
    let mut links = Vec::new();
    for done in nodes {
        for (p, sent) in done.times.iter().enumerate() {
            let end = e.topology.port(done.node, weir_core::PortId::from_index(p));
            let peer = nodes.iter().find(|other| other.node == end.peer);
            let none = Default::default();
            let came = peer.and_then(|peer| peer.times.get(end.peer_port.index()));
            let came = came.unwrap_or(&none);
            let name = |node, port: usize| format!("{}/p{port}", e.topology.name(node));
            links.push(LinkReport {
                from: name(done.node, p),
                to: name(end.peer, end.peer_port.index()),
                late: sent.late.quantiles(),
                too_late: sent.too_late,
                retried: sent.retried,
                unsent: sent.unsent,
                beyond_delay: came.hop.quantiles(),
                gap: came.gap.quantiles(),
                gap_expected: came.gap_expected.quantiles(),
                moved: came.moved.quantiles(),
            });
        }
    }
    links
}
