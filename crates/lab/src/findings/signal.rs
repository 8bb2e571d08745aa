//! Whether the congestion control of a run got what it reacts to.

use super::Group;
use crate::run::Run;

impl Group {
    /// [`missing_signal`], when it is true of every run.
    pub fn missing_signal(&self) -> Option<(String, &'static str)> {
        let all: Option<Vec<_>> = self.runs.iter().map(missing_signal).collect();
        all?.into_iter().next()
    }
}

/// What the congestion control reacts to and did not get in this run, and what that means.
pub fn missing_signal(run: &Run) -> Option<(String, &'static str)> {
    let (cc, outcome) = (run.variant.cc, &run.outcome);
    let needs = cc.needs();
    let (missing, why) = if needs.marks && outcome.ports.iter().all(|p| p.ecn_marked == 0) {
        ("marks", "no queue grew beyond kmin, so no flow slowed down")
    } else if needs.telemetry && outcome.totals.telemetry == 0 {
        ("telemetry", "no ACK brought any, so no flow slowed down")
    } else {
        return None;
    };
    Some((format!("{} got no {missing}", cc.name()), why))
}
