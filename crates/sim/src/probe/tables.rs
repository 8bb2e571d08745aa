//! How large a scheme's tables are over time.

use super::interface::{Hears, Probe, ProbeInfo, ProbeSetup, Sight};
use crate::outcome::{Outcome, TableStats};
use weir_core::{NodeId, Time};
use weir_fc::{Role, StateSize};

/// See [`PROBES`](super::PROBES).
pub(super) const INFO: ProbeInfo = ProbeInfo {
    name: "tables",
    summary: "the sizes of a scheme's tables in switches",
    columns: &[],
    hears: Hears::GRID,
    build,
    finish: |_, _| {},
};

/// Sizes, looked at from time to time; in between a table counts as it was.
#[derive(Clone, Debug, Default)]
struct TableSizes {
    node: NodeId,
    now: Vec<(&'static str, u64)>,
    /// By table: bytes times picoseconds, and the largest size.
    sums: Vec<(u128, u64)>,
    /// What was before is left out.
    start: Time,
    at: Time,
    /// The last point of the grid; sizes are those of the last look since that.
    seen: Time,
    /// How many events the node had handled at the last look; `None` before the first.
    events: Option<u64>,
}

/// Not for tables of fixed sizes: [`fixed`].
fn build(setup: &ProbeSetup<'_>) -> Option<Box<dyn Probe>> {
    let start = setup.config.warm_up;
    let tables = TableSizes { node: setup.node, start, ..TableSizes::default() };
    (setup.role == Role::Switch && !setup.fixed_tables).then(|| Box::new(tables) as _)
}

/// Statistics of tables of fixed sizes.
pub(crate) fn fixed(size: StateSize) -> Vec<TableStats> {
    let stats = |(name, bytes): (_, u64)| TableStats { name, mean: bytes as f64, max: bytes };
    size.tables.into_iter().map(stats).collect()
}

impl Probe for TableSizes {
    fn grid(&mut self, now: Time, node: &dyn Sight) {
        if self.is_due(now, node.events()) {
            self.look(now, node.tables());
        }
    }

    fn report(&mut self, end: Time, outcome: &mut Outcome) {
        self.catch_up();
        let switch = outcome.switch_mut(self.node).expect("every switch has a record");
        switch.tables = self.stats(end);
    }
}

impl TableSizes {
    /// Whether sizes may have changed since the last look, now that the node has handled `events`
    /// events, or the warm-up was not over then. Otherwise a look would change nothing that
    /// [`TableSizes::catch_up`] does not make up for.
    fn is_due(&mut self, now: Time, events: u64) -> bool {
        self.seen = now;
        self.events.replace(events) != Some(events) || self.at < self.start
    }

    /// The tables had the sizes of the last look until the last point of the grid.
    fn catch_up(&mut self) {
        if self.seen > self.at {
            let tables = self.now.clone();
            self.look(self.seen, StateSize { tables });
        }
    }

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
        let mut p = TableSizes::default();
        for (at, bytes) in [(0, 0), (10, 8), (20, 40), (40, 16), (50, 16)] {
            p.look(us(at), size(bytes));
        }
        // nothing happened after 45 us: (8 * 10 + 40 * 20 + 16 * 5) / 45
        let stats = p.stats(us(45));
        assert_eq!(stats, [TableStats { name: "a", mean: 960.0 / 45.0, max: 40 }]);
    }

    /// Looks while nothing happens can be left out, also where a warm-up ends meanwhile.
    #[test]
    fn a_table_of_an_idle_node_need_not_be_looked_at() {
        let us = Time::from_us;
        for start in [us(0), us(15), us(35)] {
            let [mut always, mut due] =
                [0; 2].map(|_| TableSizes { start, ..TableSizes::default() });
            for (at, bytes, events) in
                [(0, 0, 0), (10, 8, 3), (20, 8, 3), (30, 8, 3), (40, 8, 3), (50, 4, 9), (60, 4, 9)]
            {
                always.look(us(at), size(bytes));
                if due.is_due(us(at), events) {
                    due.look(us(at), size(bytes));
                }
            }
            due.catch_up();
            assert_eq!(due.stats(us(55)), always.stats(us(55)), "{start}");
            assert_eq!(due.stats(us(60)), always.stats(us(60)), "{start}");
        }
    }

    #[test]
    fn a_warm_up_is_left_out() {
        let us = Time::from_us;
        let mut p = TableSizes { start: us(15), ..TableSizes::default() };
        for (at, bytes) in [(0, 800), (10, 8), (20, 40), (30, 40)] {
            p.look(us(at), size(bytes));
        }
        // 8 B for 5 us and 40 B for 10 us
        assert_eq!(p.stats(us(30)), [TableStats { name: "a", mean: 440.0 / 15.0, max: 40 }]);
        assert_eq!(TableSizes::default().stats(us(1)), []);
    }
}
