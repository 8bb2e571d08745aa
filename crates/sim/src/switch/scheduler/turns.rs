//! Whose turn it is: round robin between the queues of a group, deficit round robin between the
//! groups of a weighted rank.

use super::bits::ReadyBits;
use std::ops::Deref;
use std::sync::Arc;
use weir_core::{PrioritySet, QueueId};
use weir_fc::QueueLayout;

/// The queues of a group: every `step`-th from `first`, below `end`.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    pub(super) first: u32,
    pub(super) end: u32,
    /// One, or the number of kinds of queues that are made on demand, if these are.
    pub(super) step: u32,
    /// Where to look next.
    pub(super) cursor: u32,
}

impl Ring {
    /// Of a group without queues.
    pub(super) const EMPTY: Self = Self { first: 0, end: 0, step: 1, cursor: 0 };

    /// Whether `q` is one of the main ring's, which has no gaps.
    #[inline(always)]
    pub(super) fn has(&self, q: u32) -> bool {
        self.first <= q && q < self.end
    }

    /// The turn of queue `q` is over.
    #[inline(always)]
    pub(super) fn pass_on(&mut self, q: u32) {
        self.cursor = if q + self.step >= self.end { self.first } else { q + self.step };
    }

    /// The queue whose turn it is among the ready ones whose priority is not in `blocked`.
    #[inline]
    pub(super) fn next(
        &self,
        ready: &ReadyBits,
        layout: &QueueLayout,
        blocked: PrioritySet,
    ) -> Option<u32> {
        let Self { first, end, step, cursor } = *self;
        if end == first + 1 {
            let can = ready.has(first as usize) && is_allowed(layout, first, blocked);
            return can.then_some(first);
        }
        let search = |from: u32, to: u32| {
            let mut from = from;
            while let Some(q) = ready.next(from, to) {
                let own = step == 1 || (q - first).is_multiple_of(step);
                if own && is_allowed(layout, q, blocked) {
                    return Some(q);
                }
                from = q + 1;
            }
            None
        };
        search(cursor, end).or_else(|| search(first, cursor))
    }
}

/// Whether the priority of queue `q` is outside `blocked`.
#[inline]
pub(super) fn is_allowed(layout: &QueueLayout, q: u32, blocked: PrioritySet) -> bool {
    blocked.is_empty() || layout.spec(q as usize).is_some_and(|s| !blocked.contains(s.priority))
}

/// Groups of equal rank.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    /// Its first group, and one past its last.
    pub(super) groups: (usize, usize),
    pub(super) weighted: bool,
    /// Weighted: the group being visited.
    pub(super) cursor: usize,
    /// Weighted: it has been given its quantum.
    pub(super) earned: bool,
    /// Weighted, and each of its groups is one queue below 64: their bits. Zero otherwise.
    pub(super) bits: u64,
}

impl Rank {
    /// The visit of group `g` is over.
    #[inline]
    pub(super) fn pass_on(&mut self, g: usize) {
        self.cursor = if g + 1 == self.groups.1 { self.groups.0 } else { g + 1 };
        self.earned = false;
    }

    /// The first group from the cursor on that has a queue which may send, and that queue.
    #[inline]
    fn next_able(
        &self,
        members: &[Member],
        ready: &ReadyBits,
        layout: &QueueLayout,
        blocked: PrioritySet,
    ) -> Option<(usize, u32)> {
        let able = ready.first() & self.bits;
        if able != 0 && blocked.is_empty() {
            // the queues of such a rank have consecutive numbers, as their groups do
            let first = self.bits.trailing_zeros();
            let turn = first + (self.cursor - self.groups.0) as u32;
            let from = able & (u64::MAX << turn);
            let q = if from != 0 { from } else { able }.trailing_zeros();
            return Some((self.groups.0 + (q - first) as usize, q));
        }
        let (first, end) = self.groups;
        let next = |g: usize| members[g].ring.next(ready, layout, blocked).map(|q| (g, q));
        (self.cursor..end).chain(first..self.cursor).find_map(next)
    }
}

/// The state of turns.
#[derive(Clone, Debug)]
pub(super) enum Turns {
    Own(Box<State>),
    /// Of all ports with this layout: every queue is alone in its rank, so that nothing takes turns
    /// and the state never changes.
    Common(Arc<State>),
}

impl Deref for Turns {
    type Target = State;

    #[inline(always)]
    fn deref(&self) -> &State {
        match self {
            Self::Own(state) => state,
            Self::Common(state) => state,
        }
    }
}

impl Turns {
    /// The state if it can change.
    #[inline(always)]
    pub(super) fn own(&mut self) -> Option<&mut State> {
        match self {
            Self::Own(state) => Some(state),
            Self::Common(_) => None,
        }
    }

    /// The state where groups share a rank or queues are made on demand.
    #[inline(always)]
    pub(super) fn state(&mut self) -> &mut State {
        self.own().expect("what takes turns has a state of its own")
    }
}

/// What [`Turns`] are about.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) layout: Arc<QueueLayout>,
    /// How many queues there are now.
    pub(super) len: usize,
    pub(super) ranks: Vec<Rank>,
    pub(super) groups: Vec<Member>,
    /// Which group the main ring is; no group where there are weighted ranks.
    pub(super) main: usize,
    /// By queue of the table: its group.
    pub(super) group_of: Vec<u16>,
}

/// A group of queues as a member of its rank. (All that a turn reads of it is in one place.)
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Not kept up to date for the main group.
    pub(super) ring: Ring,
    /// In a weighted rank, what a visit earns it; else zero.
    quantum: u64,
    /// In a weighted rank, its deficit: the bytes it may still send.
    pub(super) deficit: u64,
    /// Its rank.
    pub(super) rank: usize,
}

impl State {
    /// The initial state; `main` is the group whose turns are kept elsewhere, if there is one.
    pub(super) fn new(
        layout: &QueueLayout,
        rings: Vec<Ring>,
        ranks: Vec<Rank>,
        rank_of: Vec<usize>,
        main: Option<usize>,
    ) -> Self {
        let own = |(g, group): (usize, &weir_fc::Group)| (0..group.queues).map(move |_| g as u16);
        Self {
            len: layout.queues.len(),
            main: main.unwrap_or(usize::MAX),
            groups: (layout.groups.iter().zip(rings).zip(rank_of))
                .map(|((group, ring), rank)| Member {
                    ring,
                    quantum: group.quantum.map_or(0, |q| q.get()),
                    deficit: 0,
                    rank,
                })
                .collect(),
            group_of: layout.groups.iter().enumerate().flat_map(own).collect(),
            layout: Arc::new(layout.clone()),
            ranks,
        }
    }

    /// Whether there are queues that take turns with others.
    pub(super) fn has_turns(&self) -> bool {
        let Self { layout, ranks, .. } = self;
        layout.groups.iter().any(|g| g.queues > 1)
            || ranks.iter().any(|r| r.groups.1 - r.groups.0 > 1)
            || !layout.on_demand.is_empty()
    }

    /// The group of queue `q`.
    #[inline(always)]
    pub(super) fn group_of(&self, q: u32) -> usize {
        match self.group_of.get(q as usize) {
            Some(g) => usize::from(*g),
            None => {
                let Self { layout, group_of, .. } = self;
                let kind = (q as usize - group_of.len()) % layout.on_demand.len();
                layout.on_demand[kind].group as usize
            }
        }
    }

    /// The queue of a weighted rank whose turn it is. `size` tells the size of a queue's head.
    ///
    /// One group is visited at a time: it earns its quantum once per visit and sends while its
    /// deficit covers the head of the queue whose turn it is. A group that is held is passed over
    /// with its deficit untouched; an empty one has lost it ([`State::lose_deficit`]). If no group
    /// has a queue that may send, nothing changes.
    #[inline]
    pub(super) fn deficit_round_robin(
        &mut self,
        rank: usize,
        ready: &ReadyBits,
        blocked: PrioritySet,
        size: impl Fn(QueueId) -> u64,
    ) -> Option<u32> {
        let Self { layout, ranks, groups, .. } = self;
        let rank = &mut ranks[rank];
        let (mut g, mut q) = rank.next_able(groups, ready, layout, blocked)?;
        loop {
            if g != rank.cursor {
                (rank.cursor, rank.earned) = (g, false);
            }
            let group = &mut groups[g];
            if !std::mem::replace(&mut rank.earned, true) {
                group.deficit += group.quantum;
            }
            let need = size(QueueId(q));
            if need <= group.deficit {
                group.deficit -= need;
                group.ring.pass_on(q);
                return Some(q);
            }
            rank.pass_on(g);
            (g, q) = rank.next_able(groups, ready, layout, blocked)?;
        }
    }

    /// Queue `q` ran empty. If that leaves its group, of a weighted rank, with nothing to send,
    /// what it had saved is lost and its visit is over.
    #[inline]
    pub(super) fn lose_deficit(&mut self, q: u32, ready: &ReadyBits) {
        let g = self.group_of(q);
        let Self { layout, ranks, groups, .. } = self;
        let group = &mut groups[g];
        let rank = &mut ranks[group.rank];
        let others = || group.ring.next(ready, layout, PrioritySet::EMPTY).is_some();
        if !rank.weighted || rank.bits == 0 && others() {
            return;
        }
        group.deficit = 0;
        if rank.cursor == g {
            rank.pass_on(g);
        }
    }
}

/// The ring of every group.
pub(super) fn rings(layout: &QueueLayout) -> Vec<Ring> {
    let mut end = 0;
    let table = |group: &weir_fc::Group| {
        let first = end;
        end += group.queues;
        Ring { first, end, step: 1, cursor: first }
    };
    let mut rings: Vec<Ring> = layout.groups.iter().map(table).collect();
    assert_eq!(end as usize, layout.queues.len(), "every queue belongs to a group");
    for (kind, more) in layout.on_demand.iter().enumerate() {
        let ring = &mut rings[more.group as usize];
        assert_eq!(ring.first, ring.end, "a group has queues from the start or on demand");
        let (first, step) = (end + kind as u32, layout.on_demand.len() as u32);
        *ring = Ring { first, end: first, step, cursor: first };
    }
    rings
}

/// All ranks of these groups; `rank_of` tells that of each group.
pub(super) fn ranks(layout: &QueueLayout, rings: &[Ring], rank_of: &[usize]) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::new();
    for (g, (group, &rank)) in layout.groups.iter().zip(rank_of).enumerate() {
        match ranks.get_mut(rank) {
            Some(rank) => rank.groups.1 = g + 1,
            None => ranks.push(Rank {
                groups: (g, g + 1),
                weighted: group.quantum.is_some(),
                cursor: g,
                earned: false,
                bits: 0,
            }),
        }
    }
    for rank in ranks.iter_mut().filter(|r| r.weighted) {
        let groups = &rings[rank.groups.0..rank.groups.1];
        let is_fixed = |g: usize| layout.on_demand.iter().all(|d| d.group as usize != g);
        let fits = |ring: &Ring| ring.end == ring.first + 1 && ring.end <= 64;
        if groups.iter().all(fits) && (rank.groups.0..rank.groups.1).all(is_fixed) {
            rank.bits = groups.iter().fold(0, |bits, ring| bits | 1 << ring.first);
        }
    }
    ranks
}

/// `Scheduler::late` where the order of numbers may never be that of ranks.
pub(super) const ANY: u64 = u64::MAX;

/// Which queues have a smaller number than one made on demand but rank below it.
pub(super) fn late(layout: &QueueLayout, rings: &[Ring], rank_of: &[usize]) -> u64 {
    let on_demand = layout.on_demand.iter().map(|d| rank_of[d.group as usize]);
    let Some(highest) = on_demand.min() else { return 0 };
    let below = |(ring, rank): &(&Ring, &usize)| ring.first < ring.end && **rank > highest;
    let below: Vec<&Ring> = rings.iter().zip(rank_of).filter(below).map(|(r, _)| r).collect();
    if layout.on_demand.len() > 1 || below.iter().any(|ring| ring.end > 64) {
        return ANY;
    }
    below.iter().flat_map(|ring| ring.first..ring.end).fold(0, |bits, q| bits | 1 << q)
}

/// The strict group with most queues: one that grows without gaps, or else the largest.
pub(super) fn main_group(layout: &QueueLayout, rings: &[Ring]) -> Option<usize> {
    let grows = |g: usize| layout.on_demand.iter().any(|d| d.group as usize == g);
    (0..rings.len())
        .filter(|&g| rings[g].step == 1)
        .max_by_key(|&g| (grows(g), rings[g].end - rings[g].first))
}
