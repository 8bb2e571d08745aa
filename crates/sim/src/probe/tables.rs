//! How large a scheme's tables are over time.

use super::interface::{Hears, Probe, ProbeInfo, ProbeSetup, Sight};
use crate::outcome::{Outcome, TableStats};
use weir_core::{NodeId, Time};
use weir_fc::{Role, StateSize};

/// See [`PROBES`](super::PROBES).
pub(super) const INFO: ProbeInfo = ProbeInfo {
    name: "tables",
    summary: "the sizes of a scheme's tables in switches",
    hears: Hears::GRID,
    build,
    finish: |_, _| {},
};

/// Sizes, looked at from time to time; in between a table counts as it was.
#[derive(Clone, Debug, Default)]
struct Tables {
    node: NodeId,
    now: Vec<(&'static str, u64)>,
    /// By table: bytes times picoseconds, and the largest size.
    sums: Vec<(u128, u64)>,
    /// What was before is left out.
    start: Time,
    at: Time,
}

fn build(setup: &ProbeSetup<'_>) -> Option<Box<dyn Probe>> {
    let start = setup.config.warm_up;
    let tables = Tables { node: setup.node, start, ..Tables::default() };
    (setup.role == Role::Switch).then(|| Box::new(tables) as _)
}

impl Probe for Tables {
    fn grid(&mut self, now: Time, node: &dyn Sight) {
        self.look(now, node.tables());
    }

    fn report(&mut self, end: Time, outcome: &mut Outcome) {
        let switch = outcome.switch_mut(self.node).expect("every switch has a record");
        switch.tables = self.stats(end);
    }
}

impl Tables {
    /// The tables have these sizes at `at`.
    fn look(&mut self, at: Time, size: StateSize) {
        let start = self.start;
        let time = u128::from(at.saturating_sub(self.at.max(start)).as_ps());
        for ((sum, _), (_, bytes)) in self.sums.iter_mut().zip(&self.now) {
            *sum += u128::from(*bytes) * time;
        }
        self.sums.resize(size.tables.len(), (0, 0));
        if at >= start {
            for ((_, most), (_, bytes)) in self.sums.iter_mut().zip(&size.tables) {
                *most = (*most).max(*bytes);
            }
        }
        (self.now, self.at) = (size.tables, at);
    }

    /// What was seen until `end`, after which nothing has happened.
    fn stats(&self, end: Time) -> Vec<TableStats> {
        let span = end.saturating_sub(self.start).as_ps();
        let late = u128::from(self.at.saturating_sub(end).as_ps());
        let each = self.now.iter().zip(&self.sums);
        each.map(|(&(name, bytes), &(sum, most))| {
            let sum = sum.saturating_sub(u128::from(bytes) * late);
            let mean = if span == 0 { bytes as f64 } else { sum as f64 / span as f64 };
            TableStats { name, mean, max: most }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u64) -> StateSize {
        StateSize { tables: vec![("a", bytes)] }
    }

    #[test]
    fn a_table_counts_as_it_was_when_last_looked_at() {
        let us = Time::from_us;
        let mut p = Tables::default();
        for (at, bytes) in [(0, 0), (10, 8), (20, 40), (40, 16), (50, 16)] {
            p.look(us(at), size(bytes));
        }
        // nothing happened after 45 us: (8 * 10 + 40 * 20 + 16 * 5) / 45
        let stats = p.stats(us(45));
        assert_eq!(stats, [TableStats { name: "a", mean: 960.0 / 45.0, max: 40 }]);
    }

    #[test]
    fn a_warm_up_is_left_out() {
        let us = Time::from_us;
        let mut p = Tables { start: us(15), ..Tables::default() };
        for (at, bytes) in [(0, 800), (10, 8), (20, 40), (30, 40)] {
            p.look(us(at), size(bytes));
        }
        // 8 B for 5 us and 40 B for 10 us
        assert_eq!(p.stats(us(30)), [TableStats { name: "a", mean: 440.0 / 15.0, max: 40 }]);
        assert_eq!(Tables::default().stats(us(1)), []);
    }
}
