//! SimAI's workloads: what rows become, and what mistakes say.

use proptest::prelude::*;
use std::sync::Arc;
use weir_coll::collective::Operation;
use weir_coll::simai::flows::Remainder;
use weir_coll::simai::job::{Groups, Options, workload};
use weir_coll::simai::{fuzz, text};
use weir_coll::tasks::{Task, Work, Workload, carry_out};
use weir_core::{Bytes, Time};

const HEAD: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 \
                    ga: 1 all_gpus: 16";

fn made(head: &str, rows: &[&str], options: &Options) -> Workload {
    let text = format!("{head}\n{}\n{}", rows.len(), rows.join("\n"));
    let rows = text::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    workload(&rows, options).unwrap_or_else(|e| panic!("{e}"))
}

fn options(ranks: u32) -> Options {
    Options { ranks, gpus_per_server: 4, ..Options::default() }
}

/// The groups of the only call.
fn groups(kind: &str, options: &Options) -> Vec<Vec<u32>> {
    let row = format!("x -1 1 NONE 0 1 NONE 0 1 {kind} 4096 1");
    let w = made(HEAD, &[&row], options);
    w.sets[w.calls[0].set as usize].groups.iter().map(|g| g.to_vec()).collect()
}

#[test]
fn groups_follow_from_the_ranks_or_from_the_header() {
    // tp 2, dp 4, ep 2
    let o = options(8);
    assert_eq!(groups("ALLREDUCE", &o), [[0, 2, 4, 6], [1, 3, 5, 7]]);
    assert_eq!(groups("ALLREDUCE_EP", &o), [[0, 2], [4, 6], [1, 3], [5, 7]]);
    assert_eq!(groups("ALLREDUCE_DP_EP", &o), [[0, 4], [2, 6], [1, 5], [3, 7]]);
    // two stages of eight
    let header = Options { groups: Groups::Header, ..options(16) };
    let data = [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]];
    assert_eq!(groups("ALLGATHER", &header), data);
}

#[test]
fn a_pass_goes_forward_then_backward_and_replays_checkpoints() {
    let head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 2 0 1 \
                checkpoint_initiates: 1 2";
    let rows = [
        "a -1 10 ALLREDUCE 100 1 NONE 0 1 ALLREDUCE 8192 7",
        "b -1 20 ALLGATHER 8192 2 REDUCESCATTER 100 1 NONE 0 7",
        "c\t-1  30\tNONE 0 3 NONE 0 1 NONE 0 7",
    ];
    let w = made(head, &rows, &options(4));
    let sizes: Vec<(Operation, u64)> = w
        .calls
        .iter()
        .map(|c| match &c.work {
            Work::Flows(plan) => (plan.operation, plan.bytes.get()),
            Work::Plan(_) => panic!("flows as SimAI makes them"),
        })
        .collect();
    let expected = [
        // forward: small arrays count as 4096
        (Operation::AllReduce, 4096),
        (Operation::AllGather, 8192),
        // before the gradient of row 2 the forward pass of row 1 again
        (Operation::AllGather, 8192),
        (Operation::ReduceScatter, 100),
        (Operation::AllReduce, 8192),
    ];
    assert_eq!(sizes, expected);
    let program = &w.ranks[0];
    let calcs: Vec<u64> = program
        .steps
        .iter()
        .filter_map(|s| match s.task {
            // each change of state takes a nanosecond
            Task::Calc(time) => Some(time.as_ps() / 1000 - 1),
            _ => None,
        })
        .collect();
    // forward 10 7 20 7 30, replay 20 7, then by row: input, update, weight, update
    assert_eq!(calcs, [10, 7, 20, 7, 30, 20, 7, 3, 1, 2, 7, 1, 1, 1, 7]);
    assert!(w.ranks.iter().all(|r| Arc::ptr_eq(r, program)), "ranks share a program");
    assert!(carry_out(&Arc::new(w), u64::MAX).is_ok());
}

#[test]
fn what_is_done_in_another_way_is_said() {
    let rows = [
        "a -1 1 BROADCAST 100 1 REDUCESCATTER 0 1 ALLREDUCE 3 1",
        "b -1 1 ALLREDUCE 5000 1 NONE 0 1 NONE 0 1",
    ];
    let w = made(HEAD, &rows, &options(8));
    let has = |w: &Workload, text: &str| w.notes.iter().any(|n| n.contains(text));
    assert!(has(&w, "BROADCAST is none to SimAI"), "{:?}", w.notes);
    assert!(has(&w, "2 collectives are too small"), "{:?}", w.notes);
    assert!(has(&w, "pp 2 has no effect"), "{:?}", w.notes);
    assert!(has(&w, "the header says 16 GPUs, the job has 8 ranks: tp 2, ep 2, dp 4"));
    let one = made("HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ep: 1", &rows, &options(4));
    assert!(has(&one, "2 collectives of forward passes and input gradients are left out"));
    let spread = Options { remainder: Remainder::Spread, ..options(8) };
    assert!(has(&made(HEAD, &rows, &spread), "1 collectives are too small"));
}

#[test]
fn every_flow_waits_for_the_send_latency() {
    let o = Options { send_latency: Time::from_us(9), ..options(2) };
    let head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2";
    let w = made(head, &["a -1 1 ALLREDUCE 4096 1 NONE 0 1 NONE 0 1"], &o);
    let Work::Flows(plan) = &w.calls[0].work else { panic!("flows") };
    assert_eq!((plan.send_latency, plan.bytes), (Time::from_us(9), Bytes::new(4096)));
}

#[test]
fn mistakes_are_named_with_their_line_or_row() {
    let error = |text: &str| text::parse(text.as_bytes()).expect_err("it is wrong").to_string();
    assert_eq!(error(""), "line 1: the file is empty");
    assert!(error("MICRO tp 8\n1\n").contains("the policy `MICRO` cannot be carried out"));
    assert!(error("WHATEVER\n1\n").contains("the policy `WHATEVER` is none"));
    let row = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1";
    assert_eq!(error(&format!("{HEAD}\n2\n{row}\n")), "line 3: 1 rows, and line 2 announces 2");
    let more = error(&format!("{HEAD}\n1\n{row}\n{row}\n"));
    assert_eq!(more, "line 4: more rows than the 1 that line 2 announces");
    assert_eq!(error(&format!("{HEAD}\n1\na -1 1\n")), "line 3: 3 fields instead of 12");
    let kind = error(&format!("{HEAD}\n1\n{}\n", row.replacen("NONE", "ALLREDUCEALLTOALL", 1)));
    assert!(kind.starts_with("line 3: there is no collective `ALLREDUCEALLTOALL`"), "{kind}");
    let size = error(&format!("{HEAD}\n1\na -1 1 ALLREDUCE -5 1 NONE 0 1 NONE 0 1\n"));
    assert!(size.contains("the size of the forward pass in bytes is `-5`"), "{size}");
    assert!(error(&format!("{HEAD} ep: 0\n0\n")).contains("`ep:` is 0"));
    assert!(error(&format!("{HEAD} checkpoints: 1 9\n1\n{row}\n")).contains("is row 9"));
    let big = format!("{HEAD} checkpoints: 99999999999999 1\n0\n");
    assert!(error(&big).contains("`checkpoints:` is ``, not a number"), "{}", error(&big));

    let rows = text::parse(format!("{HEAD}\n1\n{row}\n").as_bytes()).expect("rows");
    let wrong = |o: &Options| workload(&rows, o).expect_err("it does not fit").to_string();
    assert!(wrong(&options(7)).contains("7 ranks cannot be divided into tensor groups of 2"));
    assert!(wrong(&options(6)).contains("3 data parallel ranks cannot be divided by ep 2"));
    let header = Options { groups: Groups::Header, ..options(8) };
    assert!(wrong(&header).contains("the header says 16 GPUs, and the job has 8 ranks"));
}

const WORDS: &[&str] = &[
    "HYBRID_TRANSFORMER",
    " model_parallel_NPU_group: 2",
    " ep: 2",
    " checkpoints: 1 0",
    " pp_comm: 1.5",
    "\n",
    "1",
    "2\n",
    "a -1 1 ALLREDUCE 64 1 ALLTOALL_EP 64 1 ALLGATHER_DP_EP 64 1\n",
    "b -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 18446744073709551615 1\n",
    " 18446744073709551616",
    "\t",
];

proptest! {
    #[test]
    fn words_of_the_format_in_any_order_are_a_workload_or_an_error(
        words in prop::collection::vec(0..WORDS.len(), 0..30),
    ) {
        let body: String = words.into_iter().map(|i| WORDS[i]).collect();
        fuzz(body.as_bytes());
        fuzz(format!("HYBRID_TRANSFORMER_FWD_IN_BCKWD ep: 1\n{body}").as_bytes());
    }
}
