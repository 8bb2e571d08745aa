//! How large a scheme's tables are over time.

use crate::outcome::TableStats;
use weir_core::Time;
use weir_fc::StateSize;

/// Sizes, looked at from time to time; in between a table counts as it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableProbe {
    now: Vec<(&'static str, u64)>,
    /// By table: bytes times picoseconds, and the largest size.
    sums: Vec<(u128, u64)>,
    start: Time,
    at: Time,
    /// How many events the node had handled then; `None` before the first look.
    events: Option<u64>,
}

impl TableProbe {
    /// Whether sizes may have changed since the last look, or a warm-up that ends at `start` was not
    /// over then, now that the node has handled `events` events. Otherwise a look would change nothing
    /// that [`TableProbe::catch_up`] does not make up for.
    #[inline]
    pub(crate) fn is_due(&mut self, start: Time, events: u64) -> bool {
        self.events.replace(events) != Some(events) || self.at < start
    }

    /// The tables had the sizes of the last look until `at`.
    pub(crate) fn catch_up(&mut self, at: Time, start: Time) {
        if at > self.at {
            let tables = self.now.clone();
            self.look(at, start, StateSize { tables });
        }
    }

    /// The tables have these sizes at `at`. What was before `start` is left out.
    pub(crate) fn look(&mut self, at: Time, start: Time, size: StateSize) {
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
        (self.now, self.start, self.at) = (size.tables, start, at);
    }

    /// What was seen until `end`, after which nothing has happened.
    pub(crate) fn stats(&self, end: Time) -> Vec<TableStats> {
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
        let mut p = TableProbe::default();
        for (at, bytes) in [(0, 0), (10, 8), (20, 40), (40, 16), (50, 16)] {
            p.look(us(at), Time::ZERO, size(bytes));
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
            let (mut always, mut due) = (TableProbe::default(), TableProbe::default());
            for (at, bytes, events) in
                [(0, 0, 0), (10, 8, 3), (20, 8, 3), (30, 8, 3), (40, 8, 3), (50, 4, 9), (60, 4, 9)]
            {
                always.look(us(at), start, size(bytes));
                if due.is_due(start, events) {
                    due.look(us(at), start, size(bytes));
                }
            }
            due.catch_up(us(60), start);
            assert_eq!(due.stats(us(55)), always.stats(us(55)), "{start}");
            assert_eq!(due.stats(us(60)), always.stats(us(60)), "{start}");
        }
    }

    #[test]
    fn a_warm_up_is_left_out() {
        let us = Time::from_us;
        let mut p = TableProbe::default();
        for (at, bytes) in [(0, 800), (10, 8), (20, 40), (30, 40)] {
            p.look(us(at), us(15), size(bytes));
        }
        // 8 B for 5 us and 40 B for 10 us
        assert_eq!(p.stats(us(30)), [TableStats { name: "a", mean: 440.0 / 15.0, max: 40 }]);
        assert_eq!(TableProbe::default().stats(us(1)), []);
    }
}
