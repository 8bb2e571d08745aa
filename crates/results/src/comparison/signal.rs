//! Whether the congestion control of a run got what it reacts to.

use super::Group;
use crate::run::Run;

impl Group<'_> {
    /// What the congestion control reacts to and got in no run, in words, and what that means.
    pub fn missing_signal(&self) -> Option<(String, &'static str)> {
        let all: Option<Vec<_>> = self.runs.iter().map(missing_signal).collect();
        let missing = all?.into_iter().next()?;
        let cc = self.runs.first()?.variant.cc;
        let why = match missing {
            "marks" => "no queue grew beyond kmin, so no flow slowed down",
            _ => "no ACK brought any, so no flow slowed down",
        };
        Some((format!("{} got no {missing}", cc.name()), why))
    }
}

/// What the congestion control reacts to and did not get in this run: `marks` or `telemetry`.
pub fn missing_signal(run: &Run) -> Option<&'static str> {
    let (needs, outcome) = (run.variant.cc.needs(), &run.outcome);
    if needs.marks && outcome.ports.iter().all(|p| p.ecn_marked == 0) {
        Some("marks")
    } else if needs.telemetry && outcome.totals.telemetry == 0 {
        Some("telemetry")
    } else {
        None
    }
}
