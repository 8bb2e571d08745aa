//! Collectives carried out symbolically: every byte of a buffer knows which ranks have contributed
//! to it, and messages arrive in any order that their connections allow.

use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use weir_coll::collective::{Algorithm, Collective, Effect, Operation, Plan};
use weir_coll::program::{Action, Message, Program, wait_for_chain};
use weir_core::{Bytes, Time};

/// How often each rank has contributed to each byte.
type Buffer = Vec<Vec<u8>>;

/// A message on its way with what its sender's buffer held.
struct Flight {
    from: u32,
    message: Message,
    content: Vec<(u64, Vec<u8>)>,
}

/// All ranks of a plan, and what is between them.
struct Machine {
    plan: Arc<Plan>,
    programs: Vec<Collective>,
    buffers: Vec<Buffer>,
    /// Blocks that arrived in an all-to-all, by receiver.
    exchanged: Vec<Vec<(u32, u64, u64)>>,
    /// By connection: messages of one keep their order.
    connections: Vec<((u32, u32, u32), VecDeque<Flight>)>,
    /// Sends that have not left, and computations.
    local: Vec<(u32, bool, u64)>,
    ended: Vec<u32>,
    sent: Vec<(u32, Message)>,
}

impl Machine {
    fn new(plan: Plan) -> Self {
        plan.check().expect("a plan that can be carried out");
        let plan = Arc::new(plan);
        let (n, bytes) = (plan.ranks, plan.bytes.get() as usize);
        let own = |rank: u32| {
            // before an all-gather a rank has its own block, before a broadcast the root has all
            let has = |byte: u64| match plan.operation {
                Operation::AllGather => {
                    let block = |r: u64| plan.bytes.get() * r / u64::from(n);
                    (block(u64::from(rank))..block(u64::from(rank) + 1)).contains(&byte)
                }
                Operation::Broadcast => rank == plan.root,
                _ => true,
            };
            (0..bytes as u64)
                .map(|byte| (0..n).map(|r| u8::from(r == rank && has(byte))).collect())
                .collect::<Buffer>()
        };
        Self {
            programs: (0..n).map(|r| Collective::new(plan.clone(), r, Time::ZERO)).collect(),
            buffers: (0..n).map(own).collect(),
            exchanged: vec![Vec::new(); n as usize],
            connections: Vec::new(),
            local: Vec::new(),
            ended: vec![0; n as usize],
            sent: Vec::new(),
            plan,
        }
    }

    /// The ranges of the buffer that a message carries, and what it does.
    fn meaning(&self, from: u32, message: &Message) -> (Effect, Vec<std::ops::Range<u64>>) {
        let (leg, piece) = self.programs[from as usize].meaning(message).expect("its own message");
        (leg.effect, self.plan.ranges(&leg, piece).collect())
    }

    fn poll(&mut self, rank: u32) {
        while let Some(action) = self.programs[rank as usize].poll() {
            match action {
                Action::Send(message) => {
                    assert_ne!(message.peer, rank, "a rank sends nothing to itself");
                    self.send(rank, message);
                }
                Action::Calc { op, .. } | Action::Wait { op, .. } => {
                    self.local.push((rank, true, op));
                }
                Action::Begin(_) => {}
                Action::End(iteration) => {
                    assert_eq!(iteration, self.ended[rank as usize]);
                    self.ended[rank as usize] += 1;
                }
            }
        }
    }

    fn send(&mut self, from: u32, message: Message) {
        let (_, ranges) = self.meaning(from, &message);
        let buffer = &self.buffers[from as usize];
        let content: Vec<(u64, Vec<u8>)> = match self.plan.operation {
            Operation::Barrier => vec![(0, self.known(from))],
            _ => ranges.into_iter().flatten().map(|b| (b, buffer[b as usize].clone())).collect(),
        };
        if self.plan.operation != Operation::Barrier {
            assert_eq!(message.bytes, Bytes::new(content.len() as u64));
        }
        self.sent.push((from, message));
        self.local.push((from, false, message.op));
        let key = (from, message.peer, message.channel);
        let flight = Flight { from, message, content };
        match self.connections.iter_mut().find(|(k, _)| *k == key) {
            Some((_, queue)) => queue.push_back(flight),
            None => self.connections.push((key, VecDeque::from([flight]))),
        }
    }

    /// Of which ranks a rank of a barrier has heard.
    fn known(&self, rank: u32) -> Vec<u8> {
        self.buffers[rank as usize].first().cloned().unwrap_or_default()
    }

    fn arrive(&mut self, flight: Flight) {
        let to = flight.message.peer;
        let (effect, ranges) = self.meaning(flight.from, &flight.message);
        if effect == Effect::Exchange {
            let all = ranges.into_iter().filter(|r| !r.is_empty());
            self.exchanged[to as usize].extend(all.map(|r| (flight.from, r.start, r.end)));
        } else {
            for (byte, content) in flight.content {
                let here = &mut self.buffers[to as usize][byte as usize];
                for (mine, theirs) in here.iter_mut().zip(content) {
                    *mine = match effect {
                        Effect::Reduce => mine.wrapping_add(theirs),
                        Effect::Signal => (*mine).max(theirs),
                        _ => theirs,
                    };
                }
            }
        }
        self.programs[to as usize].on_received(flight.from, flight.message.tag);
        self.poll(to);
    }

    /// Lets things happen in an order that `draw` chooses, until nothing can.
    fn run(&mut self, mut draw: impl FnMut(usize) -> usize) {
        (0..self.plan.ranks).for_each(|rank| self.poll(rank));
        loop {
            self.connections.retain(|(_, queue)| !queue.is_empty());
            let choices = self.connections.len() + self.local.len();
            if choices == 0 {
                return;
            }
            let choice = draw(choices);
            if choice < self.local.len() {
                let (rank, calc, op) = self.local.swap_remove(choice);
                let program = &mut self.programs[rank as usize];
                if calc {
                    program.on_timer(op)
                } else {
                    program.on_sent(op)
                }
                self.poll(rank);
            } else {
                let at = choice - self.local.len();
                let flight = self.connections[at].1.pop_front().expect("none is empty");
                self.arrive(flight);
            }
        }
    }

    /// Everybody has what the operation promises, once.
    fn check(&self) {
        let programs: Vec<&Collective> = self.programs.iter().collect();
        assert_eq!(wait_for_chain(&programs), [], "{:?}", self.plan);
        assert!(self.ended.iter().all(|&n| n == self.plan.iterations), "{:?}", self.ended);
        let (n, bytes) = (self.plan.ranks, self.plan.bytes.get());
        let block =
            |r: u32| bytes * u64::from(r) / u64::from(n)..bytes * u64::from(r + 1) / u64::from(n);
        let once =
            |who: &dyn Fn(u32) -> bool| -> Vec<u8> { (0..n).map(|r| u8::from(who(r))).collect() };
        for rank in 0..n {
            let buffer = &self.buffers[rank as usize];
            let barrier = self.plan.operation == Operation::Barrier;
            for byte in 0..(if barrier { 1 } else { bytes }) {
                let expected = match self.plan.operation {
                    Operation::AllReduce | Operation::Barrier => once(&|_| true),
                    Operation::ReduceScatter if block(rank).contains(&byte) => once(&|_| true),
                    Operation::ReduceScatter | Operation::AllToAll => continue,
                    Operation::AllGather => once(&|r| block(r).contains(&byte)),
                    Operation::Broadcast => once(&|r| r == self.plan.root),
                };
                assert_eq!(
                    buffer[byte as usize], expected,
                    "rank {rank}, byte {byte}: {:?}",
                    self.plan
                );
            }
            if self.plan.operation == Operation::AllToAll {
                let mut got = self.exchanged[rank as usize].clone();
                got.sort_unstable();
                for from in (0..n).filter(|&r| r != rank) {
                    let mut at = block(rank).start;
                    for (_, start, end) in got.iter().filter(|(f, ..)| *f == from) {
                        assert_eq!(*start, at, "rank {rank} from {from}: {:?}", self.plan);
                        at = *end;
                    }
                    assert_eq!(at, block(rank).end, "rank {rank} from {from}: {:?}", self.plan);
                }
            }
        }
    }
}

/// All operations with all algorithms for `n` ranks.
fn plans(n: u32, bytes: u64) -> Vec<Plan> {
    let mut plans = Vec::new();
    for operation in Operation::ALL {
        for &algorithm in operation.algorithms() {
            for gpus in 1..=n {
                let plan = Plan { algorithm, gpus, ..Plan::new(operation, n, Bytes::new(bytes)) };
                let once = gpus == 1 || algorithm == Algorithm::Hierarchical;
                if once && plan.check().is_ok() {
                    plans.push(plan);
                }
            }
        }
    }
    plans
}

/// A generator for orders of events: small, and the same on every machine.
fn draws(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |n| {
        seed = weir_core::rng::mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        (seed % n as u64) as usize
    }
}

/// Sizes below, at and above the number of ranks, and not a multiple of it.
#[test]
fn every_algorithm_keeps_its_promise_for_1_to_17_ranks() {
    for n in 1..=17 {
        for bytes in [1, 5, u64::from(n), 3 * u64::from(n) + 1] {
            for plan in plans(n, bytes) {
                let mut machine = Machine::new(plan);
                machine.run(draws(u64::from(n) * 1000 + bytes));
                machine.check();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any chunk, number of channels and depth of the pipeline, with events in any order.
    #[test]
    fn pieces_channels_and_pipelines_change_nothing(
        n in 1..14_u32, bytes in 1..90_u64, chunk in 1..40_u64, channels in 1..4_u32,
        pipeline in 1..5_u32, root in 0..14_u32, seed: u64,
    ) {
        for plan in plans(n, bytes) {
            let chunk = Bytes::new(chunk);
            let plan = Plan { chunk, channels, pipeline, root: root % n, ..plan };
            let mut machine = Machine::new(plan);
            machine.run(draws(seed));
            machine.check();
            let one_server = machine.plan.algorithm == Algorithm::Hierarchical;
            let halves = machine.plan.algorithm == Algorithm::HalvingDoubling;
            if !one_server && (!halves || n.is_power_of_two()) {
                // a message of several blocks may have a byte more for each of them
                let most = chunk + Bytes::new(if halves { u64::from(n) } else { 0 });
                prop_assert!(machine.sent.iter().all(|(_, m)| m.bytes <= most));
            }
        }
    }
}

/// A second iteration begins at a rank as soon as its first is over, whatever the others do: what
/// arrives early waits.
#[test]
fn iterations_do_not_mix() {
    for n in [1, 2, 5, 8] {
        for plan in plans(n, 24) {
            for seed in 0..20 {
                let mut machine = Machine::new(Plan { iterations: 4, ..plan.clone() });
                machine.run(draws(seed));
                let programs: Vec<&Collective> = machine.programs.iter().collect();
                assert_eq!(wait_for_chain(&programs), []);
                assert!(machine.ended.iter().all(|&ended| ended == 4));
            }
        }
    }
}

/// A ring of n ranks sends 2 (n - 1) blocks of S / n per rank, the least that an all-reduce takes;
/// an inner rank of the two trees at most 2 S.
#[test]
fn no_rank_sends_more_than_its_algorithm_says() {
    for n in [2_u64, 4, 8, 16] {
        let bytes = 64 * n;
        for (algorithm, most) in [
            (Algorithm::Ring, 2 * (n - 1) * bytes / n),
            (Algorithm::HalvingDoubling, 2 * (n - 1) * bytes / n),
            (Algorithm::DoubleTree, 2 * bytes),
        ] {
            let plan = Plan::new(Operation::AllReduce, n as u32, Bytes::new(bytes));
            let mut machine = Machine::new(Plan { algorithm, ..plan });
            machine.run(draws(n));
            for rank in 0..n as u32 {
                let own = machine.sent.iter().filter(|(from, _)| *from == rank);
                let sent: u64 = own.map(|(_, m)| m.bytes.get()).sum();
                let exact = algorithm != Algorithm::DoubleTree;
                assert!(sent == most || !exact && sent <= most, "{algorithm:?} {n}: {sent}");
            }
        }
    }
}

/// A rank of 65 536 takes less than a kibibyte: 64 MiB for all of them.
#[test]
fn a_rank_of_a_large_ring_is_small() {
    let plan = Arc::new(Plan::new(Operation::AllReduce, 65_536, Bytes::new(1 << 30)));
    let mut program = Collective::new(plan, 5, Time::ZERO);
    while program.poll().is_some() {}
    assert!(program.memory() <= 1024, "{} bytes", program.memory());
}

/// Rank 2 of four never starts: the chain leads to it from the first rank that waits.
#[test]
fn the_chain_of_waits_ends_at_the_rank_that_is_missing() {
    let plan = Plan::new(Operation::AllReduce, 4, Bytes::new(40));
    let mut machine = Machine::new(plan);
    for rank in [0, 1, 3] {
        machine.poll(rank);
    }
    machine.connections.clear();
    machine.local.clear();
    let programs: Vec<&Collective> = machine.programs.iter().collect();
    let chain = wait_for_chain(&programs);
    let ranks: Vec<u32> = chain.iter().map(|(rank, _)| *rank).collect();
    assert_eq!(ranks, [0, 3, 2, 1]);
    assert_eq!(
        chain[0].1.to_string(),
        "10 B from rank 3 in step 1 of 6 of all-reduce, piece 0, iteration 0",
    );
}

#[test]
fn plans_that_make_no_sense_are_refused_with_what_is_valid() {
    let plan = Plan::new(Operation::AllReduce, 6, Bytes::new(100));
    let message = |plan: Plan| plan.check().expect_err("refused").to_string();
    let wrong = Plan { algorithm: Algorithm::Chain, ..plan.clone() };
    assert_eq!(
        message(wrong),
        "all-reduce has no algorithm `chain`: ring, halving-doubling, tree, double-tree, \
         hierarchical can be chosen",
    );
    let servers = Plan { algorithm: Algorithm::Hierarchical, gpus: 4, ..plan.clone() };
    assert_eq!(message(servers), "6 ranks do not fill servers of 4 GPUs each");
    let odd = Plan {
        algorithm: Algorithm::HalvingDoubling,
        operation: Operation::AllGather,
        ..plan.clone()
    };
    assert_eq!(
        message(odd),
        "all-gather by halving-doubling needs a power of two ranks, and 6 is none"
    );
    assert_eq!(message(Plan { channels: 0, ..plan.clone() }), "`channels` is at least 1");
    let many = Plan { bytes: Bytes::new(1 << 40), chunk: Bytes::new(1), ..plan };
    assert!(message(many).contains("choose a larger chunk"));
}
