//! Pauses and resumes in the order in which switches and slow hosts sent them, for timelines and
//! pause trees.

use super::interface::{Hears, PauseSent, Probe, ProbeConfig, ProbeInfo, ProbeSetup};
use crate::outcome::{Outcome, PauseEvent};
use weir_core::{NodeId, Time};

/// See [`PROBES`](super::PROBES).
pub(super) const INFO: ProbeInfo = ProbeInfo {
    name: "pauses",
    summary: "the first pauses and resumes of a run, with their causes",
    columns: &[],
    hears: Hears::PAUSED,
    build,
    finish,
};

/// Pause events of one node, the first so many.
#[derive(Clone, Debug)]
struct PauseLog {
    node: NodeId,
    events: Vec<PauseEvent>,
    left_out: u64,
    capacity: usize,
}

/// A recording has a limit of its own.
fn capacity(config: &ProbeConfig) -> usize {
    config.record.map_or(0, |record| record.rows / 2).max(config.pause_events)
}

fn build(setup: &ProbeSetup<'_>) -> Option<Box<dyn Probe>> {
    let capacity = capacity(setup.config);
    let log = PauseLog { node: setup.node, events: Vec::new(), left_out: 0, capacity };
    setup.may_pause.then(|| Box::new(log) as _)
}

impl Probe for PauseLog {
    fn paused(&mut self, now: Time, sent: &PauseSent<'_>) {
        if self.events.len() >= self.capacity {
            self.left_out += 1;
            return;
        }
        let cause = if sent.pause { sent.cause() } else { None };
        self.events.push(PauseEvent {
            at: now,
            node: self.node,
            port: sent.port,
            priority: sent.priority,
            pause: sent.pause,
            scope: sent.scope,
            flows: sent.flows,
            reason: sent.reason,
            cause: cause.map(|(port, _)| port),
            cause_held: cause.is_some_and(|(_, held)| held),
        });
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        outcome.pauses.append(&mut self.events);
        outcome.pauses_left_out += self.left_out;
    }
}

/// Of all nodes, the first so many are kept.
fn finish(outcome: &mut Outcome, config: &ProbeConfig) {
    outcome.pauses.sort_by_key(|e| (e.at, e.node, e.port));
    if let Some(recording) = &mut outcome.recording {
        let keep = capacity(config);
        let more = outcome.pauses.len().saturating_sub(keep) as u64;
        recording.left_out.decisions = outcome.pauses_left_out + more;
        recording.decisions = outcome.pauses.iter().take(keep).cloned().collect();
    }
    let keep = config.pause_events;
    outcome.pauses_left_out += outcome.pauses.len().saturating_sub(keep) as u64;
    outcome.pauses.truncate(keep);
}
