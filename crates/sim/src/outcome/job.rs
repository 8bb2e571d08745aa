//! The records of jobs.

use weir_core::{NodeId, Time};

/// An iteration at one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When the rank began it.
    pub begin: Time,
    /// When the rank had finished it, if it had.
    pub end: Option<Time>,
    /// For how long the rank has computed in it: computations at the same time count once.
    pub computed: Time,
}

impl Span {
    /// A rank begins an iteration.
    pub(crate) fn begins(now: Time) -> Self {
        Self { begin: now, end: None, computed: Time::ZERO }
    }
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobRecord {
    /// Iterations that any rank has begun.
    pub iterations: Vec<IterationRecord>,
    /// How long an iteration takes alone on its network, without flow control, congestion control
    /// and acknowledgements; `None` if it has too many messages to find out.
    pub ideal: Option<Time>,
    /// When each rank was done, if it was.
    pub rank_ends: Vec<Option<Time>>,
    /// Who waits for whom, where ranks were not done: from the rank that waits to the one that it
    /// waits for, and so on.
    pub waits: Vec<RankWait>,
}

/// An iteration of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationRecord {
    /// When the first rank began it.
    pub begin: Time,
    /// When the last rank had finished it; `None` if one has not.
    pub end: Option<Time>,
    /// The rank that finished it last, or the first of those that have not finished it.
    pub slowest: u32,
    /// For how long that rank has computed.
    pub computed: Time,
}

/// An iteration of a job that all its ranks have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepEnd {
    /// The job, by its place in the plan.
    pub job: u32,
    /// The iteration.
    pub iteration: u32,
    /// From the first rank that began it to the last that finished it.
    pub time: Time,
}

/// A rank that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankWait {
    /// Which.
    pub rank: u32,
    /// Its host.
    pub host: NodeId,
    /// For what, in words.
    pub operation: String,
    /// For a message of which rank.
    pub peer: Option<u32>,
    /// With which tag.
    pub tag: Option<u64>,
}

impl JobRecord {
    /// What the ranks of a job, in order, say of their iterations, and whether they are done.
    pub(crate) fn new(ranks: &[(&[Span], bool)]) -> Self {
        let most = ranks.iter().map(|(spans, _)| spans.len()).max().unwrap_or(0);
        let end = |(spans, done): &(&[Span], bool)| spans.last()?.end.filter(|_| *done);
        Self {
            iterations: (0..most).filter_map(|i| IterationRecord::new(ranks, i)).collect(),
            rank_ends: ranks.iter().map(end).collect(),
            ideal: None,
            waits: Vec::new(),
        }
    }
}

impl IterationRecord {
    fn new(ranks: &[(&[Span], bool)], i: usize) -> Option<Self> {
        let spans = || ranks.iter().map(|(spans, _)| spans.get(i));
        let begin = spans().flatten().map(|s| s.begin).min()?;
        // the first of those that come last; a rank without an end comes after all others
        let end = |span: Option<&Span>| span.and_then(|s| s.end).unwrap_or(Time::NEVER);
        let last = spans().map(end).max()?;
        let slowest = spans().position(|span| end(span) == last)? as u32;
        let computed = spans().nth(slowest as usize).flatten().map_or(Time::ZERO, |s| s.computed);
        Some(Self { begin, end: (last != Time::NEVER).then_some(last), slowest, computed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rank 1 ends the first iteration last and has not begun the second.
    #[test]
    fn an_iteration_ends_when_the_last_rank_has_finished_it() {
        let us = Time::from_us;
        let span = |begin, end: Option<u64>| Span {
            end: end.map(us),
            computed: us(begin + 2),
            ..Span::begins(us(begin))
        };
        let (a, b) = ([span(1, Some(5)), span(5, Some(8))], [span(0, Some(7))]);
        let record = JobRecord::new(&[(&a, true), (&b, false)]);
        let expected = [
            IterationRecord { begin: us(0), end: Some(us(7)), slowest: 1, computed: us(2) },
            IterationRecord { begin: us(5), end: None, slowest: 1, computed: us(0) },
        ];
        assert_eq!(record.iterations, expected);
        assert_eq!(record.rank_ends, [Some(us(8)), None]);
    }
}
