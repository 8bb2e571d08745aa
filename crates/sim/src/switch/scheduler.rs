//! Which queue of a port is next: strict order between ranks, deficit round robin between the
//! groups of a weighted rank, round robin between the queues of a group.

mod bits;
mod turns;

use bits::ReadyBits;
use std::sync::Arc;
use turns::{ANY, Rank, Ring, State, Turns, is_allowed, late, main_group, ranks, rings};
use weir_core::prefetch::prefetch;
use weir_core::{Priority, PrioritySet, QueueId};
use weir_fc::{QueueLayout, QueueSpec};

/// The queues of one port: what they are and which are ready. What every packet touches comes
/// first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Scheduler {
    ready: ReadyBits,
    /// One bit per queue below 64: it is alone in its rank, and no queue of a higher rank has a
    /// greater number. Such a queue is served without looking at turns.
    alone: u64,
    /// The strict group with most queues. Most ports have only one group of several queues, and its
    /// turns then read nothing else.
    main: Ring,
    /// The bits of a weighted rank of single queues, and which it is; zero without one.
    sharing: u64,
    sharing_rank: u32,
    uses_deficits: bool,
    /// One bit per queue below 64 of the table: it ranks below a queue made on demand, so while it
    /// is ready, the order of numbers is not the order of ranks. All bits set: the orders never
    /// agree.
    late: u64,
    turns: Turns,
}

impl Scheduler {
    pub(crate) fn new(layout: &QueueLayout) -> Self {
        let (rings, rank_of) = (rings(layout), layout.ranks());
        let ranks = ranks(layout, &rings, &rank_of);
        let late = late(layout, &rings, &rank_of);
        let grows = |g: usize| layout.on_demand.iter().any(|d| d.group as usize == g);
        let uses_deficits = ranks.iter().any(|r| r.weighted);
        // deficits are kept where turns are looked up: every queue of such a port goes there
        let main = if uses_deficits { None } else { main_group(layout, &rings) };
        let is_alone = |g: usize| {
            let (ring, rank) = (&rings[g], &ranks[rank_of[g]]);
            let single = ring.end - ring.first == 1 && rank.groups.1 - rank.groups.0 == 1;
            let outranked = layout.on_demand.iter().any(|d| rank_of[d.group as usize] < rank_of[g]);
            (single && ring.first < 64 && !grows(g) && !outranked).then(|| 1u64 << ring.first)
        };
        let alone = (0..rings.len()).filter_map(is_alone).sum();
        let main_ring = main.map_or(Ring::EMPTY, |g| rings[g].clone());
        let sharing = ranks.iter().position(|r| r.bits != 0);
        let state = State::new(layout, rings, ranks, rank_of, main);
        Self {
            sharing: sharing.map_or(0, |rank| state.ranks[rank].bits),
            sharing_rank: sharing.unwrap_or(0) as u32,
            alone,
            uses_deficits,
            ready: ReadyBits::new(layout.queues.len()),
            late,
            main: main_ring,
            turns: match state.has_turns() || uses_deficits {
                true => Turns::Own(Box::new(state)),
                false => Turns::Common(Arc::new(state)),
            },
        }
    }

    /// Whether there are queues that take turns with others.
    pub(crate) fn has_turns(&self) -> bool {
        self.turns.has_turns()
    }

    /// Prefetches the state of turns.
    pub(crate) fn prefetch(&self) {
        prefetch(&self.main);
    }

    /// The group of queue `q`.
    #[inline(always)]
    fn group_of(&self, q: u32) -> usize {
        if self.main.has(q) {
            return self.turns.main;
        }
        self.turns.group_of(q)
    }

    #[inline(always)]
    fn ring(&self, g: usize) -> &Ring {
        if g == self.turns.main { &self.main } else { &self.turns.groups[g].ring }
    }

    /// The turn of queue `q` of group `g` is over.
    #[inline(always)]
    fn pass_on(&mut self, g: usize, q: u32) {
        if g == self.turns.main {
            self.main.pass_on(q);
        } else if let Some(own) = self.turns.own() {
            own.groups[g].ring.pass_on(q);
        }
    }

    /// How many queues there are now.
    pub(crate) fn len(&self) -> usize {
        self.turns.len
    }

    /// What a queue is.
    ///
    /// # Panics
    /// When the layout has no such queue.
    #[inline]
    pub(crate) fn spec(&self, q: usize) -> &QueueSpec {
        self.turns.layout.spec(q).unwrap_or_else(|| panic!("queue {q} is not in the layout"))
    }

    /// Makes queues on demand up to and including `q`.
    ///
    /// # Panics
    /// When the layout has no such queue: the scheme named a queue it never asked for.
    pub(crate) fn grow(&mut self, q: usize) {
        assert!(self.turns.layout.spec(q).is_some(), "queue {q} is not in the layout");
        let Some(turns) = self.turns.own() else { return };
        let len = turns.len.max(q + 1);
        turns.len = len;
        for kind in 0..turns.layout.on_demand.len() {
            let g = turns.layout.on_demand[kind].group as usize;
            let ring = if g == turns.main { &mut self.main } else { &mut turns.groups[g].ring };
            ring.end = ring.first.max(len as u32);
        }
        self.ready.grow(len);
    }

    #[inline(always)]
    pub(crate) fn set_ready(&mut self, q: usize, ready: bool) {
        self.ready.set(q, ready);
    }

    #[inline]
    pub(crate) fn is_ready(&self, q: usize) -> bool {
        self.ready.has(q)
    }

    /// Whether any queue is ready.
    #[inline]
    pub(crate) fn any_ready(&self) -> bool {
        self.ready.any()
    }

    /// One bit for each of the first 64 queues: whether it is ready.
    pub(crate) fn first_ready(&self) -> u64 {
        self.ready.first()
    }

    /// Whether a ready queue has a priority outside `blocked`.
    pub(crate) fn any_ready_but(&self, blocked: PrioritySet) -> bool {
        let layout = &self.turns.layout;
        (0..self.turns.len).any(|q| self.is_ready(q) && is_allowed(layout, q as u32, blocked))
    }

    /// The queue whose turn it is among the ready ones whose priority is not in `blocked` (a
    /// rate limit). `size` tells the size of a queue's head.
    #[inline]
    pub(crate) fn select(
        &mut self,
        blocked: PrioritySet,
        size: impl Fn(QueueId) -> u64,
    ) -> Option<QueueId> {
        let undisputed = if blocked.is_empty() { self.undisputed() } else { None };
        undisputed.or_else(|| self.select_in_group(blocked, size))
    }

    /// The first ready queue, if it is alone in its rank.
    #[inline(always)]
    pub(crate) fn undisputed(&self) -> Option<QueueId> {
        let first = self.ready.first();
        let alone = self.alone & first & first.wrapping_neg() != 0;
        alone.then(|| QueueId(first.trailing_zeros()))
    }

    /// The queue whose turn it is, if the first ready one is of the main ring and that is within
    /// the first 64: one look at their bits is enough.
    #[inline(always)]
    pub(crate) fn select_in_main(&mut self) -> Option<QueueId> {
        let Ring { end, cursor, .. } = self.main;
        let ready = self.ready.first();
        let first = ready.trailing_zeros();
        if !self.main.has(first) || end > 64 || ready & self.late != 0 {
            return None;
        }
        let ring = ready & (u64::MAX >> (64 - end));
        let from_cursor = ring & (u64::MAX << cursor);
        let q = if from_cursor == 0 { first } else { from_cursor.trailing_zeros() };
        self.main.pass_on(q);
        Some(QueueId(q))
    }

    /// [`Scheduler::select`] where a turn has to be taken.
    fn select_in_group(
        &mut self,
        blocked: PrioritySet,
        size: impl Fn(QueueId) -> u64,
    ) -> Option<QueueId> {
        if blocked.is_empty()
            && let Some(q) = self.select_in_main()
        {
            return Some(q);
        }
        if blocked.is_empty()
            && self.ready.first().is_power_of_two()
            && !self.uses_deficits
            && !self.ready.any_more()
        {
            let q = self.ready.first().trailing_zeros();
            self.passed(q as usize);
            return Some(QueueId(q));
        }
        if self.ready.first() & self.late != 0 || self.late == ANY {
            let ranks = 0..self.turns.ranks.len();
            let mut found = ranks.filter_map(|rank| self.select_in_rank(rank, blocked, &size));
            return found.next().map(QueueId);
        }
        let first = self.ready.first();
        if first & first.wrapping_neg() & self.sharing != 0 && blocked.is_empty() {
            // no queue of a higher rank is ready, and one of this rank is
            let (turns, rank) = (self.turns.state(), self.sharing_rank as usize);
            return turns.deficit_round_robin(rank, &self.ready, blocked, size).map(QueueId);
        }
        let mut from = 0;
        loop {
            let q = self.ready.next(from, self.turns.len as u32)?;
            if self.main.has(q) {
                if let Some(q) = self.next_in(&self.main, blocked) {
                    self.main.pass_on(q);
                    return Some(QueueId(q));
                }
                from = self.main.end;
                continue;
            }
            let rank = self.turns.groups[self.group_of(q)].rank;
            if let Some(q) = self.select_in_rank(rank, blocked, &size) {
                return Some(QueueId(q));
            }
            let (first, end) = self.turns.ranks[rank].groups;
            from = (first..end).map(|g| self.ring(g).end).fold(q + 1, u32::max);
        }
    }

    #[inline]
    fn select_in_rank(
        &mut self,
        rank: usize,
        blocked: PrioritySet,
        size: &impl Fn(QueueId) -> u64,
    ) -> Option<u32> {
        let Rank { groups: (g, _), weighted, .. } = self.turns.ranks[rank];
        if weighted {
            let turns = self.turns.state();
            return turns.deficit_round_robin(rank, &self.ready, blocked, size);
        }
        let q = self.next_in(self.ring(g), blocked)?;
        self.pass_on(g, q);
        Some(q)
    }

    /// The queue of a group whose turn it is.
    #[inline]
    fn next_in(&self, ring: &Ring, blocked: PrioritySet) -> Option<u32> {
        ring.next(&self.ready, &self.turns.layout, blocked)
    }

    /// A queue ran empty. If that leaves its group with nothing to send, what it had saved is
    /// lost and its visit is over.
    #[inline(always)]
    pub(crate) fn emptied(&mut self, q: usize) {
        self.set_ready(q, false);
        if self.uses_deficits {
            self.lose_deficit(q);
        }
    }

    #[inline(never)]
    fn lose_deficit(&mut self, q: usize) {
        self.turns.state().lose_deficit(q as u32, &self.ready);
    }

    /// The only ready queue, `q`, sends a packet without a search: its turn is over, and its group
    /// keeps no deficit from it.
    #[inline(always)]
    pub(crate) fn passed(&mut self, q: usize) {
        let q = q as u32;
        if self.main.has(q) && !self.uses_deficits {
            self.main.pass_on(q);
        } else if !self.is_alone(QueueId(q)) {
            self.end_turn(q);
        }
    }

    /// Whether a queue is alone in its rank and takes no turns. May be false for queues beyond the
    /// first 64.
    #[inline(always)]
    pub(crate) fn is_alone(&self, q: QueueId) -> bool {
        q.0 < 64 && self.alone & 1 << q.0 != 0
    }

    #[inline(never)]
    fn end_turn(&mut self, q: u32) {
        // a queue made on demand, but by nobody yet, has no turn
        if (q as usize) < self.turns.len {
            let g = self.group_of(q);
            self.pass_on(g, q);
            let Some(turns) = self.turns.own() else { return };
            let rank = &mut turns.ranks[turns.groups[g].rank];
            if rank.weighted {
                rank.pass_on(g);
                turns.groups[g].deficit = 0;
            }
        }
    }

    /// What the group of queue `q` has left of its visit, to be put back if the head that was
    /// chosen is not sent after all.
    pub(crate) fn visit(&self, q: QueueId) -> Option<u64> {
        self.uses_deficits.then(|| self.turns.groups[self.group_of(q.0)].deficit)
    }

    /// The head of queue `q`, of `size` bytes, was chosen, and was moved or left instead of sent:
    /// its group is visited as before. `left` is what [`Scheduler::visit`] said.
    pub(crate) fn revisit(&mut self, q: QueueId, left: Option<u64>, size: u64) {
        let Some(left) = left else { return };
        let g = self.group_of(q.0);
        let rank = self.turns.groups[g].rank;
        if self.turns.ranks[rank].weighted {
            let turns = self.turns.state();
            turns.groups[g].deficit = left + size;
            turns.ranks[rank].cursor = g;
            turns.ranks[rank].earned = true;
        }
    }

    /// The queues of a priority.
    pub(crate) fn of_priority(&self, p: Priority) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.turns.len).filter(move |&q| self.spec(q).priority == p)
    }
}

/// Makes the schedulers of ports, of which those in a row mostly have the same layout.
#[derive(Debug, Default)]
pub(crate) struct Schedulers(Option<(QueueLayout, Scheduler)>);

impl Schedulers {
    /// A new scheduler for a port with this layout.
    pub(crate) fn make(&mut self, layout: QueueLayout) -> Scheduler {
        match &self.0 {
            Some((known, made)) if *known == layout => made.clone(),
            _ => {
                let made = Scheduler::new(&layout);
                self.0 = Some((layout, made.clone()));
                made
            }
        }
    }
}

#[cfg(test)]
mod tests;
