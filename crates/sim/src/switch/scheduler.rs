//! Which queue of a port is next: strict order between groups, round robin or deficit round
//! robin within.

use weir_core::prefetch::prefetch;
use weir_core::{Priority, QueueId};
use weir_fc::{Discipline, QueueLayout, QueueSpec};

#[derive(Clone, Debug)]
struct GroupState {
    discipline: Discipline,
    first: u32,
    /// One past its last queue.
    end: u32,
    /// Round robin: where to look next. Deficit: the queue being visited.
    cursor: u32,
    /// Deficit: the visited queue has been given its quantum.
    earned: bool,
}

/// The queues of one port: what they are and which are ready. What every packet touches comes
/// first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Scheduler {
    /// Bit per queue: non-empty and not held. The first 64 stand apart: most ports have no
    /// more, and their scheduling should touch nothing else.
    ready: u64,
    /// Bit per queue below 64 that is alone in its group: no turn to take.
    alone: u64,
    more_ready: Box<[u64]>,
    /// The group with most queues. Most ports have only one with several, and its turns should
    /// touch nothing else.
    main: GroupState,
    uses_deficits: bool,
    turns: Box<Turns>,
}

/// Stands for the group that stands apart.
const MAIN: u16 = u16::MAX;

impl GroupState {
    #[inline(always)]
    fn has(&self, q: u32) -> bool {
        self.first <= q && q < self.end
    }

    /// The turn of queue `q` is over.
    #[inline(always)]
    fn pass_on(&mut self, q: u32) {
        self.cursor = if q + 1 == self.end { self.first } else { q + 1 };
        self.earned = false;
    }
}

/// What is looked at when turns are taken.
#[derive(Clone, Debug)]
struct Turns {
    /// All as they were at the start; of the main one what changes is not kept up to date here.
    groups: Vec<GroupState>,
    /// By queue: its group.
    group_of: Vec<u16>,
    specs: Vec<QueueSpec>,
    deficit: Vec<u64>,
    on_demand: Option<QueueSpec>,
}

impl Scheduler {
    pub(crate) fn new(layout: &QueueLayout) -> Self {
        let mut groups = Vec::new();
        let mut group_of = Vec::new();
        for (g, group) in layout.groups.iter().enumerate() {
            let first = group_of.len() as u32;
            group_of.resize(group_of.len() + group.queues as usize, g as u16);
            let end = group_of.len() as u32;
            let discipline = group.discipline;
            groups.push(GroupState { discipline, first, end, cursor: first, earned: false });
        }
        assert_eq!(group_of.len(), layout.queues.len(), "every queue belongs to a group");
        let last = layout.groups.len().saturating_sub(1);
        let grows = |g: usize| g == last && layout.on_demand.is_some();
        let size = |(g, group): &(usize, &GroupState)| (grows(*g), group.end - group.first);
        let (main, _) = groups.iter().enumerate().max_by_key(size).expect("a port has queues");
        for g in group_of.iter_mut().filter(|g| usize::from(**g) == main) {
            *g = MAIN;
        }
        let is_alone = |(g, group): (usize, &GroupState)| {
            (group.end - group.first == 1 && group.first < 64 && !grows(g))
                .then(|| 1u64 << group.first)
        };
        Self {
            alone: groups.iter().enumerate().filter_map(is_alone).sum(),
            uses_deficits: groups.iter().any(|g| g.discipline == Discipline::DeficitRoundRobin),
            ready: 0,
            main: groups[main].clone(),
            more_ready: vec![0; layout.queues.len().saturating_sub(1) / 64].into(),
            turns: Box::new(Turns {
                groups,
                group_of,
                specs: layout.queues.clone(),
                deficit: vec![0; layout.queues.len()],
                on_demand: layout.on_demand,
            }),
        }
    }

    /// Whether there are queues that take turns with others.
    pub(crate) fn has_turns(&self) -> bool {
        // queues are added only where there may be more of them from the start
        self.turns.groups.iter().any(|g| g.end - g.first != 1) || self.turns.on_demand.is_some()
    }

    /// Asks for what turns touch to be at hand soon.
    pub(crate) fn prefetch(&self) {
        prefetch(&self.main);
    }

    /// The group of queue `q`.
    #[inline(always)]
    fn group_of(&self, q: u32) -> u16 {
        if self.main.has(q) { MAIN } else { self.turns.group_of[q as usize] }
    }

    #[inline(always)]
    fn group(&self, g: u16) -> &GroupState {
        if g == MAIN { &self.main } else { &self.turns.groups[usize::from(g)] }
    }

    #[inline(always)]
    fn group_mut(&mut self, g: u16) -> &mut GroupState {
        if g == MAIN { &mut self.main } else { &mut self.turns.groups[usize::from(g)] }
    }

    /// How many queues there are now.
    pub(crate) fn len(&self) -> usize {
        self.turns.specs.len()
    }

    /// What a queue is.
    #[inline]
    pub(crate) fn spec(&self, q: usize) -> &QueueSpec {
        &self.turns.specs[q]
    }

    /// Makes queues on demand up to and including `q`.
    ///
    /// # Panics
    /// When the layout has no such queue: the scheme named a queue it never asked for.
    pub(crate) fn grow(&mut self, q: usize) {
        let spec = self.turns.on_demand.unwrap_or_else(|| panic!("queue {q} is not in the layout"));
        while self.turns.specs.len() <= q {
            self.turns.specs.push(spec);
            self.turns.group_of.push(MAIN);
            self.turns.deficit.push(0);
            self.main.end += 1;
        }
        let words = (self.turns.specs.len() - 1) / 64;
        if words > self.more_ready.len() {
            let mut more = std::mem::take(&mut self.more_ready).into_vec();
            more.resize(words, 0);
            self.more_ready = more.into();
        }
    }

    /// The word that holds the bit of queue `q`.
    #[inline]
    fn word_mut(&mut self, q: usize) -> &mut u64 {
        if q < 64 { &mut self.ready } else { &mut self.more_ready[q / 64 - 1] }
    }

    /// Word number `i`.
    #[inline]
    fn word(&self, i: usize) -> Option<u64> {
        if i == 0 { Some(self.ready) } else { self.more_ready.get(i - 1).copied() }
    }

    #[inline(always)]
    pub(crate) fn set_ready(&mut self, q: usize, ready: bool) {
        let bit = 1u64 << (q % 64);
        let word = self.word_mut(q);
        *word = if ready { *word | bit } else { *word & !bit };
    }

    #[inline]
    pub(crate) fn is_ready(&self, q: usize) -> bool {
        self.word(q / 64).is_some_and(|w| w & 1 << (q % 64) != 0)
    }

    /// Whether any queue is ready.
    #[inline]
    pub(crate) fn any_ready(&self) -> bool {
        self.ready != 0 || self.any_more_ready()
    }

    /// One bit for each of the first 64 queues: whether it is ready.
    pub(crate) fn first_ready(&self) -> u64 {
        self.ready
    }

    #[inline]
    fn any_more_ready(&self) -> bool {
        self.more_ready.iter().any(|&w| w != 0)
    }

    /// Whether a ready queue has a priority outside `blocked`.
    pub(crate) fn any_ready_but(&self, blocked: u8) -> bool {
        (0..self.turns.specs.len())
            .any(|q| self.is_ready(q) && blocked & 1 << self.turns.specs[q].priority.get() == 0)
    }

    /// The first ready queue in `from..end`.
    #[inline]
    fn next_ready(&self, from: u32, end: u32) -> Option<u32> {
        let mut word = (from / 64) as usize;
        let mut bits = self.word(word)? & (u64::MAX << (from % 64));
        loop {
            if bits != 0 {
                let q = word as u32 * 64 + bits.trailing_zeros();
                return (q < end).then_some(q);
            }
            word += 1;
            if word as u32 * 64 >= end {
                return None;
            }
            bits = self.word(word)?;
        }
    }

    /// The queue whose turn it is among the ready ones whose priority is not in `blocked` (a
    /// rate limit). `size` tells the size of a queue's head.
    #[inline]
    pub(crate) fn select(&mut self, blocked: u8, size: impl Fn(QueueId) -> u64) -> Option<QueueId> {
        let undisputed = if blocked == 0 { self.undisputed() } else { None };
        undisputed.or_else(|| self.select_in_group(blocked, size))
    }

    /// The first ready queue, if it shares its place with no other.
    #[inline(always)]
    pub(crate) fn undisputed(&self) -> Option<QueueId> {
        let first = self.ready;
        let alone = self.alone & first & first.wrapping_neg() != 0;
        alone.then(|| QueueId(first.trailing_zeros()))
    }

    /// [`Scheduler::select`] where a turn has to be taken.
    fn select_in_group(&mut self, blocked: u8, size: impl Fn(QueueId) -> u64) -> Option<QueueId> {
        if blocked == 0
            && self.ready.is_power_of_two()
            && !self.uses_deficits
            && !self.any_more_ready()
        {
            let q = self.ready.trailing_zeros();
            self.passed(q as usize);
            return Some(QueueId(q));
        }
        let mut from = 0;
        loop {
            let q = self.next_ready(from, self.turns.specs.len() as u32)?;
            let g = self.group_of(q);
            let group = self.group(g);
            let found = if group.end - group.first == 1 {
                self.allowed(q, blocked).then_some(q)
            } else if group.discipline == Discipline::RoundRobin {
                self.round_robin(g, blocked)
            } else {
                self.deficit_round_robin(g, blocked, &size)
            };
            if let Some(q) = found {
                return Some(QueueId(q));
            }
            from = self.group(g).end;
        }
    }

    #[inline]
    fn allowed(&self, q: u32, blocked: u8) -> bool {
        blocked == 0 || blocked & 1 << self.turns.specs[q as usize].priority.get() == 0
    }

    fn round_robin(&mut self, g: u16, blocked: u8) -> Option<u32> {
        let GroupState { first, end, cursor, .. } = *self.group(g);
        let search = |from: u32, to: u32| {
            let mut from = from;
            while let Some(q) = self.next_ready(from, to) {
                if self.allowed(q, blocked) {
                    return Some(q);
                }
                from = q + 1;
            }
            None
        };
        let q = search(cursor, end).or_else(|| search(first, cursor))?;
        self.group_mut(g).pass_on(q);
        Some(q)
    }

    /// One queue is visited at a time: it earns its quantum once per visit and sends while its
    /// deficit covers the head. A held queue is passed over with its deficit untouched; an
    /// empty one has lost it ([`Scheduler::emptied`]).
    fn deficit_round_robin(
        &mut self,
        g: u16,
        blocked: u8,
        size: &impl Fn(QueueId) -> u64,
    ) -> Option<u32> {
        let eligible = |s: &Self, q: u32| s.is_ready(q as usize) && s.allowed(q, blocked);
        let GroupState { first, end, .. } = *self.group(g);
        if !(first..end).any(|q| eligible(self, q)) {
            return None;
        }
        loop {
            let q = self.group(g).cursor;
            if eligible(self, q) {
                let i = q as usize;
                if !self.group(g).earned {
                    self.turns.deficit[i] += self.turns.specs[i].quantum.get();
                    self.group_mut(g).earned = true;
                }
                let need = size(QueueId(q));
                if need <= self.turns.deficit[i] {
                    self.turns.deficit[i] -= need;
                    return Some(q);
                }
            }
            self.group_mut(g).pass_on(q);
        }
    }

    /// A queue ran empty: what it had saved is lost, and its visit is over.
    #[inline(always)]
    pub(crate) fn emptied(&mut self, q: usize) {
        self.set_ready(q, false);
        if self.uses_deficits {
            self.lose_deficit(q);
        }
    }

    /// A packet of queue `q`, alone among those that could go, goes out without a search: its turn is
    /// over, and what it would have earned in it is lost again.
    #[inline(always)]
    pub(crate) fn passed(&mut self, q: usize) {
        let q = q as u32;
        if self.main.has(q) {
            self.main.pass_on(q);
        } else if !self.is_alone(QueueId(q)) {
            self.end_turn(q);
        }
    }

    /// Whether a queue shares its place with no other: it takes no turns. Perhaps false of queues
    /// beyond the first 64.
    #[inline(always)]
    pub(crate) fn is_alone(&self, q: QueueId) -> bool {
        q.0 < 64 && self.alone & 1 << q.0 != 0
    }

    #[inline(never)]
    fn end_turn(&mut self, q: u32) {
        if let Some(&g) = self.turns.group_of.get(q as usize) {
            self.group_mut(g).pass_on(q);
        }
    }

    #[inline(never)]
    fn lose_deficit(&mut self, q: usize) {
        self.turns.deficit[q] = 0;
        let q = q as u32;
        let group = self.group_mut(self.group_of(q));
        if group.discipline == Discipline::DeficitRoundRobin && group.cursor == q {
            group.pass_on(q);
        }
    }

    /// The queues of a priority.
    pub(crate) fn of_priority(&self, p: Priority) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.turns.specs.len()).filter(move |&q| self.turns.specs[q].priority == p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_core::Bytes;
    use weir_fc::{Group, PrioritySchedule};

    fn weighted(weights: &[(usize, u32)], quantum: u64) -> Scheduler {
        let mut schedule =
            PrioritySchedule { quantum: Bytes::new(quantum), ..PrioritySchedule::default() };
        for &(p, w) in weights {
            schedule.weights[p] = w;
        }
        Scheduler::new(&QueueLayout::per_priority(&schedule))
    }

    #[test]
    fn a_higher_priority_goes_first() {
        let mut s = weighted(&[], 1500);
        s.set_ready(7, true);
        s.set_ready(2, true);
        assert_eq!(s.select(0, |_| 1), Some(QueueId(2)));
        // priority 5 is queue 2: rate limited, the next one is served
        assert_eq!(s.select(1 << 5, |_| 1), Some(QueueId(7)));
        s.set_ready(2, false);
        assert_eq!(s.select(0, |_| 1), Some(QueueId(7)));
        assert!(!s.any_ready_but(1));
    }

    #[test]
    fn round_robin_continues_after_the_last_one_served() {
        let spec = QueueSpec { priority: Priority::ALL[3], data: true, quantum: Bytes::new(1) };
        let mut s = Scheduler::new(&QueueLayout {
            groups: vec![Group { discipline: Discipline::RoundRobin, queues: 70 }],
            queues: vec![spec; 70],
            on_demand: Some(spec),
            inspects_heads: false,
        });
        for q in [1, 65, 69] {
            s.set_ready(q, true);
        }
        let mut turn = || s.select(0, |_| 1).unwrap().0;
        assert_eq!([turn(), turn(), turn(), turn()], [1, 65, 69, 1]);
        s.grow(130);
        s.set_ready(130, true);
        let mut turn = || s.select(0, |_| 1).unwrap().0;
        assert_eq!([turn(), turn(), turn(), turn()], [65, 69, 130, 1]);
    }

    /// The only one that is ready is taken without a search; the next turn is that of those behind
    /// it all the same. Of two it is not the only one, wherever the other stands.
    #[test]
    fn a_queue_that_is_alone_takes_its_turn() {
        let spec = QueueSpec { priority: Priority::ALL[3], data: true, quantum: Bytes::new(1) };
        let mut s = Scheduler::new(&QueueLayout {
            groups: vec![Group { discipline: Discipline::RoundRobin, queues: 70 }],
            queues: vec![spec; 70],
            on_demand: None,
            inspects_heads: false,
        });
        s.set_ready(5, true);
        assert_eq!(s.select(0, |_| 1), Some(QueueId(5)));
        for q in [4, 6] {
            s.set_ready(q, true);
        }
        assert_eq!([(); 3].map(|()| s.select(0, |_| 1).unwrap().0), [6, 4, 5]);
        for q in [4, 6] {
            s.set_ready(q, false);
        }
        s.set_ready(69, true);
        assert_eq!([(); 3].map(|()| s.select(0, |_| 1).unwrap().0), [69, 5, 69]);
        assert_eq!(s.select(1 << 3, |_| 1), None, "it may not go");
        s.set_ready(69, false);
        assert_eq!(s.select(1 << 3, |_| 1), None, "nor may it alone");
    }

    proptest! {
        /// Whether a packet is sent at once or is queued, chosen and sent, the queues behind it have the
        /// same turns after it.
        #[test]
        fn who_passes_takes_its_turn(
            deficits in any::<bool>(),
            steps in prop::collection::vec((0usize..4, any::<bool>(), 100u64..3000), 0..40),
            q in 0usize..4,
        ) {
            let spec = QueueSpec { priority: Priority::ALL[3], data: true, quantum: Bytes::new(1500) };
            let discipline =
                if deficits { Discipline::DeficitRoundRobin } else { Discipline::RoundRobin };
            let mut s = Scheduler::new(&QueueLayout {
                groups: vec![Group { discipline, queues: 4 }],
                queues: vec![spec; 4],
                on_demand: None,
                inspects_heads: false,
            });
            for (i, ready, size) in steps {
                s.set_ready(i, ready);
                if let Some(chosen) = s.select(0, |_| size) && ready {
                    s.emptied(chosen.index());
                }
            }
            // `q` is empty, whoever else has packets is held
            for i in 0..4 {
                s.set_ready(i, false);
            }
            s.emptied(q);
            let mut queued = s.clone();
            queued.set_ready(q, true);
            prop_assert_eq!(queued.select(0, |_| 2000), Some(QueueId(q as u32)));
            queued.emptied(q);
            s.passed(q);
            prop_assert_eq!(&s.turns.deficit, &queued.turns.deficit);
            let state = |s: &Scheduler| (s.turns.groups[0].cursor, s.turns.groups[0].earned);
            prop_assert_eq!(state(&s), state(&queued));
        }
    }

    /// Weights 2 and 1 with packets of 900 and 1400 B: over many rounds the byte shares
    /// differ from 2:1 by less than a quantum plus a packet.
    #[test]
    fn deficit_round_robin_shares_bytes_within_one_quantum() {
        // priorities 3 and 1 are queues 6 and 7 (strict ones come first)
        let mut s = weighted(&[(3, 2), (1, 1)], 1500);
        s.set_ready(6, true);
        s.set_ready(7, true);
        let size = |q: QueueId| if q.0 == 6 { 900 } else { 1400 };
        let mut sent = [0i64; 2];
        for _ in 0..10_000 {
            let q = s.select(0, size).unwrap();
            sent[q.index() - 6] += size(q) as i64;
            assert!((sent[0] - 2 * sent[1]).abs() <= 3000 + 2 * 1400, "{sent:?}");
        }
    }

    #[test]
    fn a_paused_queue_keeps_its_deficit_and_earns_nothing() {
        let mut s = weighted(&[(3, 1), (1, 1)], 1000);
        s.set_ready(6, true);
        s.set_ready(7, true);
        // 1500 B do not fit a first quantum of 1000: queue 6 saves 1000, queue 7 sends its 400
        let size = |q: QueueId| if q.0 == 6 { 1500 } else { 400 };
        assert_eq!(s.select(0, size), Some(QueueId(7)));
        s.set_ready(6, false);
        for _ in 0..10 {
            assert_eq!(s.select(0, size), Some(QueueId(7)));
        }
        assert_eq!(s.turns.deficit[6], 1000);
        s.set_ready(6, true);
        s.set_ready(7, false);
        // the next visit makes it 2000
        assert_eq!(s.select(0, size), Some(QueueId(6)));
        assert_eq!(s.turns.deficit[6], 500);
    }

    #[test]
    fn a_port_may_have_more_queues_than_a_word_has_bits() {
        let spec = QueueSpec { priority: Priority::ALL[3], data: true, quantum: Bytes::new(1) };
        let one = Group { discipline: Discipline::RoundRobin, queues: 1 };
        let mut s = Scheduler::new(&QueueLayout {
            groups: vec![one; 130],
            queues: vec![spec; 130],
            on_demand: None,
            inspects_heads: false,
        });
        s.set_ready(129, true);
        s.set_ready(64, true);
        assert_eq!(s.select(0, |_| 1), Some(QueueId(64)));
        s.emptied(64);
        assert_eq!(s.select(0, |_| 1), Some(QueueId(129)));
    }

    #[test]
    fn an_empty_queue_loses_its_deficit() {
        let mut s = weighted(&[(3, 1), (1, 1)], 1000);
        s.set_ready(6, true);
        assert_eq!(s.select(0, |_| 600), Some(QueueId(6)));
        s.emptied(6);
        assert!(!s.any_ready());
        assert_eq!(s.turns.deficit[6], 0);
        assert_eq!(s.main.cursor, 7);
    }
}
