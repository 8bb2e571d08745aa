//! Steps of training: bytes and times against their formulas.

use std::collections::BTreeMap;
use std::sync::Arc;
use weir_coll::ideal::{self, Cost};
use weir_coll::program::{Message, Program};
use weir_coll::training::{Axis, Class, Model, Preset, Trainee, Training, Zero};
use weir_core::{Bytes, Time};

fn model(name: &str) -> Model {
    Preset::named(name).expect("a preset").model
}

/// A model that is small enough for all its messages.
fn small() -> Model {
    Model { layers: 8, hidden: 256, ffn: 1024, vocab: 1000, seq: 64, ..model("llama3-70b") }
}

/// Runs all ranks where a message costs `alone`; the time, and the bytes of messages by sender and
/// class.
fn run(training: &Training, alone: Time) -> (Time, BTreeMap<(u32, Class), u64>) {
    training.check().expect("a plan");
    let ranks = training.ranks() as u32;
    let plan = Arc::new(training.clone());
    let mut programs: Vec<Box<dyn Program>> =
        (0..ranks).map(|r| Box::new(Trainee::new(plan.clone(), r, Time::ZERO)) as _).collect();
    let mut sent: BTreeMap<(u32, Class), u64> = BTreeMap::new();
    let time = ideal::time(&mut programs, ranks as usize, u64::MAX, |rank, m: &Message| {
        let class = Class::of_channel(m.channel).expect("every message has a class");
        *sent.entry((rank, class)).or_default() += m.bytes.get();
        let (leaves, enters, delay) = (Time::ZERO, Time::ZERO, Time::ZERO);
        Cost { from: rank, leaves, to: m.peer, enters, alone, delay }
    });
    (time.expect("all ranks end"), sent)
}

fn of(sent: &BTreeMap<(u32, Class), u64>, class: Class) -> Vec<u64> {
    sent.iter().filter(|((_, c), _)| *c == class).map(|(_, bytes)| *bytes).collect()
}

#[test]
fn without_communication_a_step_takes_its_passes_and_the_bubble() {
    for (pp, micro_batches) in [(1, 1), (1, 5), (2, 1), (4, 3), (4, 4), (8, 32)] {
        let training = Training { pp, global_batch: micro_batches, ..Training::new(small()) };
        let (forward, backward) = training.passes(0).expect("a time");
        assert!(forward > Time::ZERO && backward >= forward + forward);
        let expected = (forward + backward) * (micro_batches + u64::from(pp) - 1);
        assert_eq!(run(&training, Time::ZERO).0, expected, "{pp} stages, {micro_batches}");
    }
}

/// Each message is on the way of the one micro-batch: p - 1 boundaries forward, as many backward.
#[test]
fn one_micro_batch_meets_every_boundary_twice() {
    let c = Time::from_us(7);
    for pp in [1, 2, 4, 8] {
        let training = Training { pp, ..Training::new(small()) };
        let (forward, backward) = training.passes(0).expect("a time");
        let stages = u64::from(pp);
        let expected = (forward + backward) * stages + c * (2 * (stages - 1));
        assert_eq!(run(&training, c).0, expected, "{pp} stages");
    }
}

/// A ring all-reduce of S among n ranks: each sends 2 (n - 1) / n S, here without a remainder.
#[test]
fn bytes_of_each_class_are_those_of_the_formulas() {
    let experts = Model { experts: 8, top_k: 2, ..small() };
    let training = Training {
        tp: 2,
        pp: 2,
        dp: 4,
        ep: 2,
        micro_batch: 2,
        global_batch: 24,
        ..Training::new(experts)
    };
    let m = training.micro_batches();
    assert_eq!((m, training.ranks()), (3, 16));
    let a = 2 * 64 * 256 * 2;
    assert_eq!((training.activations(), training.boundary()), (Bytes::new(a), Bytes::new(a / 2)));
    let (_, sent) = run(&training, Time::from_us(1));
    // per layer and micro-batch two all-reduces forward and two backward; 4 layers per stage
    assert_eq!(of(&sent, Class::Tensor), [4 * 4 * m * a; 16]);
    // four all-to-alls of b s k h 2 bytes, of which (ep - 1) / ep leave
    assert_eq!(of(&sent, Class::Expert), [4 * 4 * m * a * 2 / 2; 16]);
    // one boundary: each rank of the first stage sends activations, each of the second gradients
    assert_eq!(of(&sent, Class::Pipeline), [m * a / 2; 16]);
    let close = |sent: Vec<u64>, expected: u64| {
        assert_eq!(sent.len(), 16);
        // blocks of a ring differ by a byte
        assert!(sent.iter().all(|s| s.abs_diff(expected) <= 8), "{sent:?} {expected}");
    };
    let dense = experts.dense_parameters() as u64 / 4 * 2;
    assert_eq!(training.gradients(Class::Data), Bytes::new(dense));
    close(of(&sent, Class::Data), dense * 2 * 3 / 4);
    let of_experts = experts.expert_parameters() as u64 / 8 * 2;
    close(of(&sent, Class::ExpertData), of_experts);
    // the same bytes by reduce-scatter and all-gather, or a half more by two gathers
    let zero = Training { zero: Zero::Optimizer, ..training.clone() };
    close(of(&run(&zero, Time::ZERO).1, Class::Data), dense * 2 * 3 / 4);
    let zero = Training { zero: Zero::All, sequence_parallel: true, ..training };
    let (_, sent) = run(&zero, Time::ZERO);
    assert!(of(&sent, Class::Data).iter().all(|s| s.abs_diff(dense * 3 * 3 / 4) <= 40));
    assert_eq!(of(&sent, Class::Tensor), [4 * 4 * m * a; 16]);
}

/// What the models' users know by heart, in MiB and GiB.
#[test]
fn sizes_of_the_known_models() {
    let mib = |b: Bytes| b.get() as f64 / f64::from(1 << 20);
    let at = |name, tp, pp, ep| {
        let training = Training { tp, pp, ep, dp: ep, ..Training::new(model(name)) };
        let data = mib(training.gradients(Class::Data)) / 1024.0;
        let experts = mib(training.gradients(Class::ExpertData)) / 1024.0;
        let round = |x: f64| (x * 100.0).round() / 100.0;
        (mib(training.activations()), mib(training.boundary()), round(data), round(experts))
    };
    assert_eq!(at("gpt3", 8, 16, 1), (48.0, 6.0, 2.54, 0.0));
    assert_eq!(at("llama3-70b", 8, 4, 1), (128.0, 16.0, 4.11, 0.0));
    assert_eq!(at("llama3-405b", 8, 16, 1), (256.0, 32.0, 5.91, 0.0));
    assert_eq!(at("mixtral-8x7b", 1, 4, 8), (32.0, 32.0, 0.75, 2.63));
}

#[test]
fn groups_follow_the_order_of_axes() {
    let training = Training { tp: 2, dp: 4, ep: 2, pp: 2, ..Training::new(small()) };
    assert_eq!(training.members(5, Class::Tensor), [4, 5]);
    assert_eq!(training.members(5, Class::Expert), [5, 7]);
    assert_eq!(training.members(5, Class::ExpertData), [1, 5]);
    assert_eq!(training.members(5, Class::Data), [1, 3, 5, 7]);
    assert_eq!(training.members(5, Class::Pipeline), [5, 13]);
    let order = [Axis::Pipeline, Axis::Tensor, Axis::Expert, Axis::Data];
    let training = Training { order, ..training };
    assert_eq!(training.members(5, Class::Pipeline), [4, 5]);
    assert_eq!(training.members(5, Class::Tensor), [5, 7]);
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let base = Training::new(small());
    for (training, message) in [
        (Training { pp: 9, ..base.clone() }, "`pp` is 9, and there are only 8 layers"),
        (Training { tp: 3, ..base.clone() }, "`heads` is 64, which is no multiple of 3"),
        (Training { dp: 2, ..base.clone() }, "`global-batch` is 1, which is no multiple of 2"),
        (Training { ep: 2, ..base.clone() }, "`dp` is 1, which is no multiple of 2"),
        (Training { dp: 0, ..base.clone() }, "`dp` is at least 1"),
        (Training { order: [Axis::Data; 4], ..base.clone() }, "`order` names each"),
        (Training { tp: 1 << 16, pp: 1 << 16, ..base.clone() }, "the number of ranks"),
        (
            Training { micro_batch: 1 << 40, global_batch: 1 << 40, ..base.clone() },
            "a micro-batch is beyond",
        ),
        (
            Training { model: Model { hidden: 1 << 24, ..small() }, ..base.clone() },
            "the model is beyond",
        ),
        (
            Training { model: Model { heads: 60, ..small() }, ..base.clone() },
            "`heads` is 60, which is no multiple of 8, the number of `kv-heads`",
        ),
    ] {
        let said = training.check().expect_err(message).to_string();
        assert!(said.contains(message), "{said}");
    }
}

/// Steps without work end at once, however many there are.
#[test]
fn a_rank_alone_without_work_ends() {
    let model = Model { layers: 1, hidden: 8, ffn: 8, vocab: 1, seq: 1, ..small() };
    let training = Training { speed: u64::MAX, steps: 100_000, ..Training::new(model) };
    assert_eq!(run(&training, Time::ZERO).0, Time::ZERO);
}
