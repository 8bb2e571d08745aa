//! Turns, shares and ranks.

use super::*;
use proptest::prelude::*;
use weir_core::Bytes;
use weir_fc::{Group, OnDemand, PrioritySchedule};

/// Nothing is blocked.
const NONE: PrioritySet = PrioritySet::EMPTY;

/// So many queues of one strict group.
fn ring_of(queues: u32) -> QueueLayout {
    QueueLayout {
        groups: vec![Group { queues, quantum: None }],
        queues: vec![spec(3); queues as usize],
        ..QueueLayout::default()
    }
}

fn spec(priority: usize) -> QueueSpec {
    QueueSpec { priority: Priority::ALL[priority], data: true }
}

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
    assert_eq!(s.select(NONE, |_| 1), Some(QueueId(2)));
    // priority 5 is queue 2: rate limited, the next one is served
    assert_eq!(s.select(PrioritySet::from_bits(1 << 5), |_| 1), Some(QueueId(7)));
    s.set_ready(2, false);
    assert_eq!(s.select(NONE, |_| 1), Some(QueueId(7)));
    assert!(!s.any_ready_but(PrioritySet::from_bits(1)));
}

#[test]
fn round_robin_continues_after_the_last_one_served() {
    let mut s = Scheduler::new(&QueueLayout {
        on_demand: vec![OnDemand { group: 0, spec: spec(3) }],
        ..ring_of(0)
    });
    s.grow(69);
    for q in [1, 65, 69] {
        s.set_ready(q, true);
    }
    let mut turn = || s.select(NONE, |_| 1).unwrap().0;
    assert_eq!([turn(), turn(), turn(), turn()], [1, 65, 69, 1]);
    s.grow(130);
    s.set_ready(130, true);
    let mut turn = || s.select(NONE, |_| 1).unwrap().0;
    assert_eq!([turn(), turn(), turn(), turn()], [65, 69, 130, 1]);
}

/// The only one that is ready is taken without a search; the next turn is that of those behind
/// it all the same. Of two it is not the only one, wherever the other stands.
#[test]
fn a_queue_that_is_alone_takes_its_turn() {
    let mut s = Scheduler::new(&ring_of(70));
    s.set_ready(5, true);
    assert_eq!(s.select(NONE, |_| 1), Some(QueueId(5)));
    for q in [4, 6] {
        s.set_ready(q, true);
    }
    assert_eq!([(); 3].map(|()| s.select(NONE, |_| 1).unwrap().0), [6, 4, 5]);
    for q in [4, 6] {
        s.set_ready(q, false);
    }
    s.set_ready(69, true);
    assert_eq!([(); 3].map(|()| s.select(NONE, |_| 1).unwrap().0), [69, 5, 69]);
    assert_eq!(s.select(PrioritySet::from_bits(1 << 3), |_| 1), None, "it may not go");
    s.set_ready(69, false);
    assert_eq!(s.select(PrioritySet::from_bits(1 << 3), |_| 1), None, "nor may it alone");
}

proptest! {
    /// Whether a packet is sent at once or is queued, chosen and sent, the queues behind it have
    /// the same turns after it.
    #[test]
    fn who_passes_takes_its_turn(
        deficits in any::<bool>(),
        steps in prop::collection::vec((0usize..4, any::<bool>(), 100u64..3000), 0..40),
        q in 0usize..4,
    ) {
        let quantum = Some(Bytes::new(1500));
        let groups = [1, 2, 1].map(|queues| Group { queues, quantum }).to_vec();
        let layout = if deficits { QueueLayout { groups, ..ring_of(4) } } else { ring_of(4) };
        let mut s = Scheduler::new(&layout);
        for (i, ready, size) in steps {
            s.set_ready(i, ready);
            if let Some(chosen) = s.select(NONE, |_| size) && ready {
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
        prop_assert_eq!(queued.select(NONE, |_| 2000), Some(QueueId(q as u32)));
        queued.emptied(q);
        s.passed(q);
        let deficits = |s: &Scheduler| s.turns.groups.iter().map(|g| g.deficit).collect::<Vec<_>>();
        prop_assert_eq!(deficits(&s), deficits(&queued));
        let rings = |s: &Scheduler| {
            let all = s.turns.groups.iter().map(|g| &g.ring).chain([&s.main]);
            all.map(|ring| ring.cursor).collect::<Vec<_>>()
        };
        prop_assert_eq!(rings(&s), rings(&queued));
        let visit = |s: &Scheduler| (s.turns.ranks[0].cursor, s.turns.ranks[0].earned);
        prop_assert_eq!(visit(&s), visit(&queued));
    }

    /// Whatever the layout: the choice is that of a plain walk through ranks, groups and queues.
    #[test]
    fn the_choice_is_that_of_a_plain_walk(
        groups in prop::collection::vec((0u32..4, prop::option::of(200u64..4000)), 1..9),
        spread in 0u32..40,
        kinds in prop::collection::vec(0usize..9, 0..4),
        steps in prop::collection::vec((0usize..100, 0u8..8, any::<bool>(), 1u64..3000), 1..200),
    ) {
        let layout = random_layout(&groups, spread, &kinds);
        let top = if layout.on_demand.is_empty() { layout.queues.len() } else { 100 };
        prop_assume!(top > 0);
        let (mut s, mut plain) = (Scheduler::new(&layout), Plain::new(&layout));
        for (q, blocked, ready, size) in steps {
            let q = q % top;
            if q >= s.len() {
                s.grow(q);
            }
            s.set_ready(q, ready);
            plain.ready.resize(s.len().max(plain.ready.len()), false);
            plain.ready[q] = ready;
            // now and then a priority is rate limited
            let blocked = PrioritySet::from_bits(if blocked > 5 { 1 << (blocked % 4) } else { 0 });
            let chosen = s.select(blocked, |q| size + u64::from(q.0 % 7));
            prop_assert_eq!(chosen, plain.select(blocked, |q| size + u64::from(q.0 % 7)));
            if let Some(chosen) = chosen && size % 3 == 0 {
                s.emptied(chosen.index());
                plain.emptied(chosen.index());
            }
        }
    }
}

/// Groups of these sizes and quanta, the first one larger by `spread`; those in `kinds` have
/// queues on demand instead.
fn random_layout(groups: &[(u32, Option<u64>)], spread: u32, kinds: &[usize]) -> QueueLayout {
    let mut layout = QueueLayout::default();
    for (i, (queues, quantum)) in groups.iter().enumerate() {
        let queues = queues + if i == 0 { 2 * spread } else { 0 };
        layout.groups.push(Group { queues, quantum: quantum.map(Bytes::new) });
    }
    for kind in kinds {
        let group = (kind % groups.len()) as u32;
        if layout.on_demand.iter().all(|d| d.group != group) {
            layout.groups[group as usize].queues = 0;
            let spec = spec(group as usize % 8);
            layout.on_demand.push(OnDemand { group, spec });
        }
    }
    for (i, group) in layout.groups.iter().enumerate() {
        layout.queues.extend((0..group.queues).map(|_| spec(i % 8)));
    }
    layout
}

/// The definition, without any short cut.
struct Plain {
    layout: QueueLayout,
    ready: Vec<bool>,
    /// By group: the queue served last, as a position among the group's.
    after: Vec<usize>,
    deficit: Vec<u64>,
    /// By rank: the group being visited and whether it has earned its quantum.
    visit: Vec<(usize, bool)>,
}

impl Plain {
    fn new(layout: &QueueLayout) -> Self {
        let ranks = layout.ranks();
        let first = |r| ranks.iter().position(|rank| *rank == r);
        Self {
            ready: vec![false; layout.queues.len()],
            after: vec![0; layout.groups.len()],
            deficit: vec![0; layout.groups.len()],
            visit: (0..).map_while(|r| Some((first(r)?, false))).collect(),
            layout: layout.clone(),
        }
    }

    /// The group's queue whose turn it is, and the position after it.
    fn next_in(&self, g: usize, blocked: PrioritySet) -> Option<(usize, usize)> {
        let all = 0..self.ready.len();
        let members: Vec<usize> = all.filter(|q| self.layout.group_of(*q) == Some(g)).collect();
        let turn = members.iter().map(|q| self.layout.spec(*q).expect("in the layout"));
        let can =
            |(q, spec): (&usize, &QueueSpec)| self.ready[*q] && !blocked.contains(spec.priority);
        let able: Vec<bool> = members.iter().zip(turn).map(can).collect();
        let n = members.len();
        let i = (self.after[g]..n).chain(0..self.after[g].min(n)).find(|i| able[*i])?;
        Some((members[i], if i + 1 == n { 0 } else { i + 1 }))
    }

    fn select(&mut self, blocked: PrioritySet, size: impl Fn(QueueId) -> u64) -> Option<QueueId> {
        let ranks = self.layout.ranks();
        for rank in 0..self.visit.len() {
            let groups: Vec<usize> = (0..ranks.len()).filter(|g| ranks[*g] == rank).collect();
            if groups.iter().all(|g| self.next_in(*g, blocked).is_none()) {
                continue;
            }
            loop {
                let (g, earned) = self.visit[rank];
                let quantum = self.layout.groups[g].quantum;
                if let Some((q, after)) = self.next_in(g, blocked) {
                    if let Some(quantum) = quantum
                        && !earned
                    {
                        self.deficit[g] += quantum.get();
                        self.visit[rank].1 = true;
                    }
                    let id = QueueId::from_index(q);
                    let need = if quantum.is_some() { size(id) } else { 0 };
                    if need <= self.deficit[g] {
                        self.deficit[g] -= need;
                        self.after[g] = after;
                        return Some(id);
                    }
                }
                self.pass_on(rank, g);
            }
        }
        None
    }

    fn pass_on(&mut self, rank: usize, g: usize) {
        let ranks = self.layout.ranks();
        let next = if ranks.get(g + 1) == Some(&rank) { Some(g + 1) } else { None };
        let first = ranks.iter().position(|r| *r == rank);
        self.visit[rank] = (next.or(first).expect("a rank has groups"), false);
    }

    fn emptied(&mut self, q: usize) {
        self.ready[q] = false;
        let g = self.layout.group_of(q).expect("in the layout");
        if self.layout.groups[g].quantum.is_some() && self.next_in(g, NONE).is_none() {
            self.deficit[g] = 0;
            let rank = self.layout.ranks()[g];
            if self.visit[rank].0 == g {
                self.pass_on(rank, g);
            }
        }
    }
}

/// Weights 1 and 1, the second with three queues: half the bytes each, and the three a third of
/// their half.
#[test]
fn a_weight_is_shared_by_all_queues_of_its_group() {
    let quantum = Some(Bytes::new(1500));
    let groups = vec![Group { queues: 1, quantum }, Group { queues: 3, quantum }];
    let mut s = Scheduler::new(&QueueLayout { groups, ..ring_of(4) });
    (0..4).for_each(|q| s.set_ready(q, true));
    let mut sent = [0; 4];
    (0..600).for_each(|_| sent[s.select(NONE, |_| 1500).unwrap().index()] += 1);
    assert_eq!(sent, [300, 100, 100, 100]);
}

/// Three packets of 1000 B move out of queue 0 before one is sent: none of them costs its group
/// anything.
#[test]
fn a_head_that_is_moved_or_left_costs_nothing() {
    let quantum = Some(Bytes::new(1000));
    let groups = vec![Group { queues: 2, quantum }, Group { queues: 1, quantum }];
    let mut s = Scheduler::new(&QueueLayout { groups, ..ring_of(3) });
    s.set_ready(0, true);
    s.set_ready(2, true);
    for _ in 0..3 {
        assert_eq!(s.select(NONE, |_| 1000), Some(QueueId(0)));
        let visit = s.visit(QueueId(0));
        s.emptied(0);
        s.set_ready(0, true);
        s.revisit(QueueId(0), visit, 1000);
    }
    let mut turn = || s.select(NONE, |_| 1000).unwrap().0;
    assert_eq!([turn(), turn(), turn(), turn()], [0, 2, 0, 2]);
}

/// Priority 3 has queues on demand and ranks above the queue of priority 0, whose number is
/// smaller.
#[test]
fn a_queue_made_on_demand_keeps_the_rank_of_its_group() {
    let group = |queues| Group { queues, quantum: None };
    let layout = QueueLayout {
        groups: vec![group(1), group(0), group(1)],
        queues: vec![spec(7), spec(0)],
        on_demand: vec![OnDemand { group: 1, spec: spec(3) }],
        ..QueueLayout::default()
    };
    let mut s = Scheduler::new(&layout);
    s.grow(3);
    (0..4).for_each(|q| s.set_ready(q, true));
    let mut order = Vec::new();
    while let Some(q) = s.select(NONE, |_| 1) {
        s.emptied(q.index());
        order.push(q.0);
    }
    assert_eq!(order, [0, 2, 3, 1]);
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
        let q = s.select(NONE, size).unwrap();
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
    assert_eq!(s.select(NONE, size), Some(QueueId(7)));
    s.set_ready(6, false);
    for _ in 0..10 {
        assert_eq!(s.select(NONE, size), Some(QueueId(7)));
    }
    assert_eq!(s.turns.groups[6].deficit, 1000);
    s.set_ready(6, true);
    s.set_ready(7, false);
    // the next visit makes it 2000
    assert_eq!(s.select(NONE, size), Some(QueueId(6)));
    assert_eq!(s.turns.groups[6].deficit, 500);
}

#[test]
fn a_port_may_have_more_queues_than_a_word_has_bits() {
    let one = Group { queues: 1, quantum: None };
    let mut s = Scheduler::new(&QueueLayout { groups: vec![one; 130], ..ring_of(130) });
    s.set_ready(129, true);
    s.set_ready(64, true);
    assert_eq!(s.select(NONE, |_| 1), Some(QueueId(64)));
    s.emptied(64);
    assert_eq!(s.select(NONE, |_| 1), Some(QueueId(129)));
}

#[test]
fn an_empty_queue_loses_its_deficit() {
    let mut s = weighted(&[(3, 1), (1, 1)], 1000);
    s.set_ready(6, true);
    assert_eq!(s.select(NONE, |_| 600), Some(QueueId(6)));
    s.emptied(6);
    assert!(!s.any_ready());
    assert_eq!(s.turns.groups[6].deficit, 0);
    assert_eq!(s.turns.ranks[6].cursor, 7);
}
