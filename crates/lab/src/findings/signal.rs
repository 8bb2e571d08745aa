//! Whether the congestion control of a run got what it reacts to.

use super::Group;
use crate::run::Run;
use weir_cc::Signal;

impl Group<'_> {
    /// [`missing_signal`], when it is true of every run.
    pub fn missing_signal(&self) -> Option<(String, &'static str)> {
        let all: Option<Vec<_>> = self.runs.iter().map(missing_signal).collect();
        all?.into_iter().next()
    }
}

/// What the congestion control reacts to and did not get in this run, and what that means.
pub fn missing_signal(run: &Run) -> Option<(String, &'static str)> {
    let (cc, outcome) = (run.variant.cc, &run.outcome);
    let (missing, why) = match cc.signal() {
        Signal::Marks if outcome.ports.iter().all(|p| p.ecn_marked == 0) => {
            ("marks", "no queue grew beyond kmin, so no flow slowed down")
        }
        Signal::Telemetry if outcome.totals.telemetry == 0 => {
            ("telemetry", "no ACK brought any, so no flow slowed down")
        }
        _ => return None,
    };
    Some((format!("{} got no {missing}", cc.name()), why))
}
