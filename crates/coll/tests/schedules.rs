//! GOAL schedules as programs of ranks.

use proptest::prelude::*;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;
use weir_coll::collective::{Collective, Operation, Plan};
use weir_coll::goal::{ANY, Dependency, Kind, Op, Rank, Schedule, Wait, text};
use weir_coll::graph::{Graph, SendDone};
use weir_coll::loggops::{self, Params, Stuck};
use weir_coll::program::{Action, Program, wait_for_chain};
use weir_core::{Bytes, Time};

/// What happens next.
enum Event {
    Sent(usize, u64),
    Received { to: usize, from: u32, tag: u64 },
    Timer(usize, u64),
}

/// Runs programs, each event after those that came before it; the messages in order.
fn run<P: Program>(programs: &mut [P]) -> Vec<(u32, u32, Bytes)> {
    let mut events = VecDeque::new();
    let mut messages = Vec::new();
    let poll = |rank: usize, program: &mut P, events: &mut VecDeque<Event>, log: &mut Vec<_>| {
        while let Some(action) = program.poll() {
            match action {
                Action::Send(m) => {
                    log.push((rank as u32, m.peer, m.bytes));
                    events.push_back(Event::Sent(rank, m.op));
                    let (to, from) = (m.peer as usize, rank as u32);
                    events.push_back(Event::Received { to, from, tag: m.tag });
                }
                Action::Calc { op, .. } | Action::Wait { op, .. } => {
                    events.push_back(Event::Timer(rank, op));
                }
                Action::Begin(_) | Action::End(_) => {}
            }
        }
    };
    for (rank, program) in programs.iter_mut().enumerate() {
        poll(rank, program, &mut events, &mut messages);
    }
    while let Some(event) = events.pop_front() {
        let rank = match event {
            Event::Sent(rank, op) => {
                programs[rank].on_sent(op);
                programs[rank].on_acked(op);
                rank
            }
            Event::Received { to, from, tag } => {
                programs[to].on_received(from, tag);
                to
            }
            Event::Timer(rank, op) => {
                programs[rank].on_timer(op);
                rank
            }
        };
        poll(rank, &mut programs[rank], &mut events, &mut messages);
    }
    messages
}

fn graphs(schedule: Schedule) -> Vec<Graph> {
    let schedule = Arc::new(schedule);
    let ranks = 0..schedule.ranks.len() as u32;
    ranks.map(|r| Graph::new(schedule.clone(), r, SendDone::Acked)).collect()
}

/// A ring all-reduce as a schedule: step i + 1 requires what arrives in step i.
fn ring(n: u32, block: u64) -> String {
    let mut text = format!("num_ranks {n}\n");
    for r in 0..n {
        writeln!(text, "rank {r} {{").expect("to a string");
        for i in 0..2 * (n - 1) {
            let (next, before) = ((r + 1) % n, (r + n - 1) % n);
            writeln!(text, "s{i}: send {block}b to {next} tag {i}").expect("to a string");
            writeln!(text, "r{i}: recv {block}b from {before} tag {i}").expect("to a string");
            if i > 0 {
                writeln!(text, "s{i} requires r{}", i - 1).expect("to a string");
            }
        }
        text.push_str("}\n");
    }
    text
}

#[test]
fn a_ring_written_as_a_schedule_sends_what_the_built_in_ring_sends() {
    for n in [2, 3, 7, 8, 16] {
        let plan = Plan::new(Operation::AllReduce, n, Bytes::new(1000 * u64::from(n)));
        let plan = Arc::new(plan);
        let mut built_in: Vec<Collective> =
            (0..n).map(|r| Collective::new(plan.clone(), r, Time::ZERO)).collect();
        let mut written = graphs(text::parse(ring(n, 1000).as_bytes()).expect("a schedule"));
        let expected = run(&mut built_in);
        assert_eq!(expected.len() as u32, n * 2 * (n - 1));
        assert_eq!(run(&mut written), expected, "{n} ranks");
        assert!(written.iter().all(|p| p.is_done()));
    }
}

#[test]
fn a_receive_that_nobody_meets_is_named_with_the_ranks_that_wait_for_it() {
    let text = "num_ranks 3\n\
                rank 0 {\nr: recv 8b from 1 tag 1\n}\n\
                rank 1 {\nr: recv 8b from 2 tag 7\ns: send 8b to 0 tag 1\ns requires r\n}\n\
                rank 2 {\ns: send 8b to 1 tag 8\n}\n";
    let mut programs = graphs(text::parse(text.as_bytes()).expect("a schedule"));
    run(&mut programs);
    let programs: Vec<&Graph> = programs.iter().collect();
    let words: Vec<String> =
        wait_for_chain(&programs).iter().map(|(rank, wait)| format!("{rank}: {wait}")).collect();
    assert_eq!(words, ["1: operation 0 (`recv 8b from 2 tag 7`)"]);
}

#[test]
fn operations_that_wait_for_each_other_are_named_as_a_circle() {
    let text = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb requires a\n}\n";
    let mut programs = graphs(text::parse(text.as_bytes()).expect("a schedule"));
    run(&mut programs);
    let wait = &programs[0].waits()[0];
    assert_eq!(
        wait.to_string(),
        "operations in a circle: operation 0 (`calc 1`) waits for operation 1 (`calc 2`) waits \
         for operation 0 (`calc 1`)",
    );
}

/// Any operations with any dependencies.
fn schedule() -> impl Strategy<Value = Schedule> {
    let part = |n: u64| prop_oneof![6 => 0..n, 1 => Just(ANY)];
    (2..5_u64).prop_flat_map(move |n| {
        let op = (0..3_u8, 0..n, part(n), part(3), 0..2_u16, 1..2000_u64).prop_map(
            |(kind, to, from, tag, cpu, size)| {
                let (kind, peer, tag) = match kind {
                    0 => (Kind::Send, to, if tag == ANY { 0 } else { tag }),
                    1 => (Kind::Recv, from, tag),
                    _ => (Kind::Calc, 0, 0),
                };
                Op { kind, size, peer, tag, cpu, nic: 0 }
            },
        );
        let edge = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>());
        let rank = (prop::collection::vec(op, 0..8), prop::collection::vec(edge, 0..8));
        let rank = rank.prop_map(|(ops, edges)| {
            let edge = |(a, b, start): &(prop::sample::Index, prop::sample::Index, bool)| {
                let (a, b) = (a.index(ops.len()), b.index(ops.len()));
                let wait = if *start { Wait::Start } else { Wait::Completion };
                // mostly on an earlier operation: circles are rare
                let (waits, on) = if (a + 2 * b) % 7 == 0 { (a, b) } else { (a.max(b), a.min(b)) };
                (waits != on).then_some(Dependency { waits: waits as u32, on: on as u32, wait })
            };
            let edges: Vec<Dependency> = match ops.is_empty() {
                true => Vec::new(),
                false => edges.iter().filter_map(edge).collect(),
            };
            Rank::new(ops, &edges)
        });
        prop::collection::vec(rank, n as usize).prop_map(|ranks| Schedule { ranks })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// A random schedule ends or names who waits; where the LogGOPS model, which is another
    /// implementation, comes to an end, so do the programs.
    #[test]
    fn a_random_schedule_ends_or_names_who_waits(schedule in schedule()) {
        // without wildcards it does not matter which message comes first
        let mut ops = schedule.ranks.iter().flat_map(|r| &r.ops);
        let exact = ops.all(|o| o.peer != ANY && o.tag != ANY);
        let verdict = loggops::run(&schedule, &Params { eager: u64::MAX, ..Params::default() });
        let mut programs = graphs(schedule);
        run(&mut programs);
        let done = programs.iter().all(|p| p.is_done());
        let programs: Vec<&Graph> = programs.iter().collect();
        prop_assert_eq!(done, wait_for_chain(&programs).is_empty());
        match verdict {
            Ok(_) if exact => prop_assert!(done),
            Err(Stuck::Cycle(_)) if exact => prop_assert!(!done),
            Err(Stuck::Unmatched { first, .. }) if exact && first.op.kind == Kind::Recv => {
                prop_assert!(!done);
            }
            _ => {}
        }
    }
}
