//! Groups of queues that take turns.

use std::ops::Deref;
use std::sync::Arc;
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
}

impl Rank {
    /// The visit of group `g` is over.
    pub(super) fn pass_on(&mut self, g: usize) {
        self.cursor = if g + 1 == self.groups.1 { self.groups.0 } else { g + 1 };
        self.earned = false;
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
    /// By group. The entry of the main group is not kept up to date.
    pub(super) rings: Vec<Ring>,
    /// Which group the main ring is.
    pub(super) main: usize,
    /// By group: its rank.
    pub(super) rank_of: Vec<usize>,
    /// By group of a weighted rank: its deficit, the bytes it may still send.
    pub(super) deficit: Vec<u64>,
    /// By queue of the table: its group.
    pub(super) group_of: Vec<u16>,
}

/// `Scheduler::late` where the order of numbers may never be that of ranks.
pub(super) const ANY: u64 = u64::MAX;

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

pub(super) fn ranks(layout: &QueueLayout, rank_of: &[usize]) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = Vec::new();
    for (g, (group, &rank)) in layout.groups.iter().zip(rank_of).enumerate() {
        match ranks.get_mut(rank) {
            Some(rank) => rank.groups.1 = g + 1,
            None => ranks.push(Rank {
                groups: (g, g + 1),
                weighted: group.quantum.is_some(),
                cursor: g,
                earned: false,
            }),
        }
    }
    ranks
}

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

impl State {
    /// Whether there are queues that take turns with others.
    pub(super) fn has_turns(&self) -> bool {
        let Self { layout, ranks, .. } = self;
        layout.groups.iter().any(|g| g.queues > 1)
            || ranks.iter().any(|r| r.groups.1 - r.groups.0 > 1)
            || !layout.on_demand.is_empty()
    }
}
