//! Chakra traces and htsim matrices: what they say, and what hostile files get.

mod chakra_bytes;

use chakra_bytes::{Attr, Node, collective, file, gzip, recv, send};
use proptest::prelude::*;
use std::sync::Arc;
use weir_coll::chakra::{self, ChakraError, Dependencies, Options, Traces, groups::Groups};
use weir_coll::collective::{Algorithm, Collective, Operation, Plan};
use weir_coll::graph::SendDone;
use weir_coll::htsim;
use weir_coll::program::{Action, Message, Program};
use weir_coll::tasks::{Lane, Task, TaskRank, Workload, carry_out};
use weir_core::{Bytes, Time};

fn options() -> Options {
    Options {
        dependencies: Dependencies::Both,
        serial: true,
        algorithm: None,
        plan: Plan::new(Operation::AllReduce, 1, Bytes::new(1)),
        groups: Groups::default(),
        most_memory: chakra::MOST_MEMORY,
    }
}

fn read_with(files: &[Vec<u8>], options: Options) -> Result<Workload, ChakraError> {
    let mut traces = Traces::new(files.len() as u32, options)?;
    for (rank, bytes) in files.iter().enumerate() {
        traces.read(&format!("t.{rank}.et"), bytes)?;
    }
    traces.finish()
}

fn read(files: &[Vec<u8>]) -> Result<Workload, ChakraError> {
    read_with(files, options())
}

fn error(files: &[Vec<u8>]) -> String {
    read(files).expect_err("it cannot be represented").to_string()
}

/// All messages of programs between which messages arrive in order, as (sender, receiver, bytes).
fn messages(mut ranks: Vec<Box<dyn Program>>) -> Vec<(u32, u32, u64)> {
    let mut all = Vec::new();
    let mut queue: std::collections::VecDeque<(u32, Message)> = Default::default();
    loop {
        for (rank, program) in (0..).zip(&mut ranks) {
            while let Some(action) = program.poll() {
                match action {
                    Action::Calc { op, .. } | Action::Wait { op, .. } => program.on_timer(op),
                    Action::Send(m) => queue.push_back((rank, m)),
                    Action::Begin(_) | Action::End(_) => {}
                }
            }
        }
        let Some((from, m)) = queue.pop_front() else { break };
        all.push((from, m.peer, m.bytes.get()));
        ranks[from as usize].on_sent(m.op);
        ranks[from as usize].on_acked(m.op);
        ranks[m.peer as usize].on_received(from, m.tag);
    }
    assert!(ranks.iter().all(|p| p.is_done()), "{ranks:?}");
    all
}

fn task_ranks(workload: Workload) -> Vec<Box<dyn Program>> {
    let workload = Arc::new(workload);
    (0..workload.ranks.len() as u32)
        .map(|r| {
            Box::new(TaskRank::new(Arc::clone(&workload), r, SendDone::Sent)) as Box<dyn Program>
        })
        .collect()
}

fn plan_ranks(plan: Plan) -> Vec<Box<dyn Program>> {
    let ranks = plan.ranks;
    let plan = Arc::new(plan);
    (0..ranks)
        .map(|r| Box::new(Collective::new(Arc::clone(&plan), r, Time::ZERO)) as Box<dyn Program>)
        .collect()
}

/// A ring all-reduce written out: in step i a rank sends to the next one and waits for the one
/// before it.
fn ring(ranks: u32, bytes: u64) -> Vec<Vec<u8>> {
    let plan = Plan::new(Operation::AllReduce, ranks, Bytes::new(bytes));
    let sizes: Vec<Vec<u64>> = (0..ranks)
        .map(|rank| {
            let half = ranks - 1;
            (0..2 * half)
                .map(|step| {
                    let back = if step < half { step + 1 } else { step - half };
                    let block = u64::from((rank + 2 * ranks - back) % ranks);
                    let start = |b: u64| bytes * b / u64::from(plan.ranks);
                    start(block + 1) - start(block)
                })
                .collect()
        })
        .collect();
    (0..ranks)
        .map(|rank| {
            let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            let mut nodes = Vec::new();
            for step in 0..2 * (u64::from(ranks) - 1) {
                // sends have even ids, receives odd ones
                let after = if step == 0 { vec![] } else { vec![2 * step - 2, 2 * step - 1] };
                let size = sizes[rank as usize][step as usize];
                nodes.push(send(2 * step, next, size, step as i32).after(&after));
                let size = sizes[before as usize][step as usize];
                nodes.push(recv(2 * step + 1, before, size, step as i32).after(&after));
            }
            file(&nodes)
        })
        .collect()
}

#[test]
fn a_ring_of_sends_and_receives_is_the_built_in_ring_message_by_message() {
    for (ranks, bytes) in [(2, 1000), (3, 1001), (8, 1 << 20)] {
        let plan = Plan::new(Operation::AllReduce, ranks, Bytes::new(bytes));
        let expected = messages(plan_ranks(plan));
        let workload = read(&ring(ranks, bytes)).expect("a trace");
        assert_eq!(messages(task_ranks(workload)), expected, "{ranks} ranks");
    }
}

#[test]
fn every_collective_is_the_built_in_one_message_by_message() {
    let sizes = [
        (0, Operation::AllReduce, 1000, 1000),
        // what each rank contributes, and the whole array
        (2, Operation::AllGather, 1000, 4000),
        (5, Operation::Broadcast, 1000, 1000),
        (6, Operation::AllToAll, 1000, 1000),
        (7, Operation::ReduceScatter, 1000, 1000),
        (9, Operation::Barrier, 0, 1),
    ];
    for (kind, operation, size, bytes) in sizes {
        let node = || collective(3, kind, size, "");
        let files = vec![file(&[node()]); 4];
        let expected = messages(plan_ranks(Plan::new(operation, 4, Bytes::new(bytes))));
        assert!(!expected.is_empty());
        assert_eq!(messages(task_ranks(read(&files).expect("a trace"))), expected, "{operation:?}");
    }
}

#[test]
fn an_algorithm_is_taken_where_it_fits() {
    let files =
        vec![file(&[collective(1, 0, 4096, ""), collective(2, 6, 4096, "").after(&[1])]); 4];
    let options = Options { algorithm: Some(Algorithm::HalvingDoubling), ..options() };
    let workload = read_with(&files, options).expect("a trace");
    let names: Vec<String> = workload.calls.iter().map(|c| format!("{:?}", c.work)).collect();
    assert!(names[0].contains("HalvingDoubling") && names[1].contains("Pairwise"), "{names:?}");
}

#[test]
fn nodes_become_tasks_on_their_lanes() {
    let nodes = [
        Node { id: 0, kind: 1, ..Node::default() },
        Node {
            id: 5,
            kind: 4,
            duration: 7,
            attrs: vec![Attr::bool("is_cpu_op", true)],
            ..Node::default()
        },
        Node { id: 4, kind: 4, ..Node::default() }.after(&[5]),
        Node { id: 9, kind: 2, duration: 2, ..Node::default() }.after_control(&[0, 4]),
        Node { id: 10, kind: 3, duration: 3, ..Node::default() },
    ];
    let workload = read(&[file(&nodes)]).expect("a trace");
    let program = &workload.ranks[0];
    let tasks: Vec<(u64, Task, Lane)> = (0..)
        .zip(&program.steps)
        .map(|(i, step)| (program.name(i), step.task, step.lane))
        .collect();
    let us = |x| Task::Calc(Time::from_us(x));
    let expected = [
        (0, Task::Join, Lane::Free),
        (4, Task::Calc(Time::from_ns(1)), Lane::Gpu),
        (5, us(7), Lane::Cpu),
        (9, us(2), Lane::Memory),
        (10, us(3), Lane::Memory),
    ];
    assert_eq!(tasks, expected);
    // 4 waits for 5, 9 for 0 and 4
    assert_eq!(program.needs(), [0, 1, 0, 2, 0]);
    let only = |dependencies| {
        let read = read_with(&[file(&nodes)], Options { dependencies, ..options() });
        read.expect("a trace").ranks[0].needs().to_vec()
    };
    assert_eq!(only(Dependencies::Data), [0, 1, 0, 0, 0]);
    assert_eq!(only(Dependencies::Control), [0, 0, 0, 2, 0]);
}

#[test]
fn a_lane_takes_one_task_at_a_time_and_the_lowest_id_first() {
    let gpu = |id| Node { id, kind: 4, duration: id, ..Node::default() };
    // file order is not the order of ids
    let workload = read(&[file(&[gpu(7), gpu(3), gpu(5)])]).expect("a trace");
    let mut rank = TaskRank::new(Arc::new(workload), 0, SendDone::Acked);
    let mut times = Vec::new();
    while !rank.is_done() {
        let actions: Vec<Action> = std::iter::from_fn(|| rank.poll()).collect();
        let calcs: Vec<(u64, Time)> = actions
            .iter()
            .filter_map(|a| match a {
                Action::Calc { op, time } => Some((*op, *time)),
                _ => None,
            })
            .collect();
        assert!(calcs.len() <= 1, "one at a time: {calcs:?}");
        for (op, time) in calcs {
            times.push(time);
            rank.on_timer(op);
        }
    }
    assert_eq!(times, [3, 5, 7].map(Time::from_us));
}

#[test]
fn groups_come_from_a_file_or_from_metadata() {
    let listed = Node {
        id: 0,
        kind: 1,
        values: vec!["[{'pg_name': '7', 'ranks': [1, 3], 'group_size': 2}]".into()],
        ..Node::default()
    };
    let member = file(&[listed.clone(), collective(1, 0, 64, "7")]);
    let other = file(&[listed]);
    let files = [other.clone(), member.clone(), other, member];
    let from_metadata = messages(task_ranks(read(&files).expect("a trace")));
    assert!(from_metadata.iter().all(|m| (m.0, m.1) == (1, 3) || (m.0, m.1) == (3, 1)));

    let groups = Groups::parse("{\"7\": [1, 3]}").expect("groups");
    let plain = file(&[collective(1, 0, 64, "7")]);
    let files = [file(&[]), plain.clone(), file(&[]), plain];
    let workload = read_with(&files, Options { groups, ..options() }).expect("a trace");
    assert_eq!(messages(task_ranks(workload)), from_metadata);
}

#[test]
fn gzip_and_json_say_the_same_as_protobuf() {
    let nodes = [
        Node { id: 1, kind: 4, duration: 5, ..Node::default() },
        send(2, 1, 1 << 33, -1).after(&[1]),
        recv(3, 1, 10, 4).after_control(&[1]),
        collective(4, 2, 100, "").after(&[2]),
    ];
    let other = [recv(0, 0, 1 << 33, -1), send(1, 0, 10, 4), collective(2, 2, 100, "")];
    let plain = read(&[file(&nodes), file(&other)]).expect("a trace");
    assert_eq!(read(&[gzip(&file(&nodes)), file(&other)]).expect("a trace"), plain);
    let json = r#"{"workload_graph": [
        {"Id": 1, "Name": "c", "NodeType": 4, "runtime": 5, "data_deps": [], "ctrlDeps": []},
        {"Id": 2, "NodeType": 5, "data_deps": [1], "comm_dst": 1, "comm_size": 8589934592,
         "comm_tag": -1},
        {"id": 3, "type": "COMM_RECV_NODE", "ctrl_deps": ["1"],
         "attr": [{"name": "comm_src", "int32Val": 1}, {"name": "comm_tag", "int32Val": 4}]},
        {"Id": 4, "NodeType": 7, "data_deps": [2], "comm_type": "ALL_GATHER", "comm_size": "100"}
    ]}"#;
    assert_eq!(read(&[json.into(), file(&other)]).expect("a trace"), plain);
    assert_eq!(plain.largest_message(), Bytes::new(1 << 33));
}

#[test]
fn what_cannot_be_represented_is_named_with_its_place() {
    let one = |node: Node| error(&[file(&[node])]);
    let kind = |kind| Node { id: 7, kind, ..Node::default() };
    assert_eq!(one(kind(0)), "t.0.et, node 7: its type is 0, which is none (`INVALID_NODE`)");
    assert!(one(kind(8)).contains("node 7: its type is 8"));
    assert!(one(collective(7, 3, 1, "")).contains("of type 3 (GATHER) has no algorithm"));
    assert!(one(collective(7, 0, 1, "x")).contains("there is no group `x`"));
    assert!(one(send(7, 1, 1, 0)).contains("`comm_dst` is 1, and there are 1 ranks"));
    assert!(one(kind(4).after(&[9])).contains("node 7: it waits for node 9, which does not exist"));
    assert!(one(kind(4).after(&[7])).contains("in a circle: 7"));
    let mem = Node { attrs: vec![Attr::uint("tensor_size", 8)], ..kind(2) };
    assert!(one(mem).contains("there is no model of memories"));
    let twice = error(&[file(&[kind(4), kind(4)])]);
    assert_eq!(twice, "t.0.et, node 7: two nodes have this id");
    let long = Node { duration: u64::MAX, ..kind(4) };
    assert!(one(long).contains("us are too long"));
    let huge = error(&vec![file(&[collective(7, 2, i64::MAX, "")]); 4]);
    assert!(huge.contains("bytes of 4 ranks are too many"), "{huge}");
    let negative = one(collective(7, 0, -5, ""));
    assert!(negative.contains("`comm_size` is -5"), "{negative}");
    let dims = Node { attrs: vec![Attr::bools("involved_dim", &[true, false])], ..kind(7) };
    assert!(one(dims).contains("`involved_dim` leaves dimensions out"));
}

#[test]
fn ranks_that_disagree_are_named() {
    let differ = error(&[file(&[collective(4, 0, 8, "")]), file(&[collective(5, 0, 16, "")])]);
    assert_eq!(
        differ,
        "t.1.et, node 5: collective 1 of group `` is all-reduce of 16 bytes here and all-reduce of \
         8 bytes in t.0.et, node 4"
    );
    let missing = error(&[file(&[collective(4, 0, 8, "")]), file(&[])]);
    assert!(missing.contains("node 4: 1 ranks take part in this all-reduce"), "{missing}");
    let mut traces = Traces::new(2, options()).expect("two ranks");
    traces.read("t.0.et", &file(&[])).expect("a trace");
    let fewer = traces.finish().expect_err("one is missing").to_string();
    assert!(fewer.contains("the traces of 1 of 2 ranks are there"), "{fewer}");
}

#[test]
fn collectives_belong_together_in_the_order_of_ids_not_of_the_file() {
    let (a, b) = (collective(1, 0, 8, ""), collective(2, 0, 16, "").after(&[1]));
    let workload = read(&[file(&[a.clone(), b.clone()]), file(&[b, a])]).expect("a trace");
    assert_eq!(workload.ranks[0], workload.ranks[1]);
    assert!(carry_out(&Arc::new(workload), u64::MAX).is_ok());
}

#[test]
fn a_message_without_a_partner_is_named_by_file_node_and_peer() {
    assert_eq!(
        error(&[file(&[recv(77, 1, 8, 5)]), file(&[])]),
        "t.0.et, node 77: no send meets this receive from rank 1 with tag 5: rank 0 has 1 of them, \
         and t.1.et has 0 sends"
    );
    // the third of three, as two are received
    let sends = file(&[send(1, 0, 8, -1), send(2, 0, 8, -1), send(30, 0, 8, -1)]);
    let receives = file(&[recv(8, 1, 8, -1), recv(9, 1, 8, -1)]);
    assert_eq!(
        error(&[receives.clone(), sends.clone()]),
        "t.1.et, node 30: no receive meets this send to rank 0 with tag -1: rank 1 has 3 of them, \
         and t.0.et has 2 receives"
    );
    // as many messages of each rank, but another tag; so it is at two ranks more
    let tags = |rank: u32| file(&[send(4, (rank + 1) % 3, 8, 1), recv(5, (rank + 2) % 3, 8, 2)]);
    assert_eq!(
        error(&[tags(0), tags(1), tags(2)]),
        "t.0.et, node 5: no send meets this receive from rank 2 with tag 2: rank 0 has 1 of them, \
         and t.2.et has 0 sends; messages to 2 more ranks have no partner either"
    );
    // from another rank, and one more than is wanted
    let third = file(&[send(7, 0, 8, -1)]);
    let other = error(&[receives.clone(), file(&[send(1, 0, 8, -1)]), third]);
    assert!(other.starts_with("t.0.et, node 9: no send meets this receive from rank 1"), "{other}");
    let more = error(&[receives, sends, file(&[send(7, 0, 8, -1)])]);
    assert!(more.starts_with("t.1.et, node 30: no receive meets this send to rank 0"), "{more}");
}

#[test]
fn a_receive_that_waits_for_ever_is_named_by_its_node() {
    // each rank sends what the other waits for once it has received
    let rank = |peer| file(&[recv(77, peer, 8, 5), send(78, peer, 8, 5).after(&[77])]);
    let workload = read(&[rank(1), rank(0)]).expect("a trace");
    let chain = carry_out(&Arc::new(workload), 100).expect_err("it is stuck");
    assert_eq!(chain[0].1.to_string(), "task 77 (receive from rank 1)");
    assert_eq!((chain[0].1.peer, chain[0].1.tag), (Some(1), Some(5)));
}

#[test]
fn many_nodes_are_read_within_their_limit_or_refused() {
    // an id of its own for each, no dependencies: 6 to 10 bytes each
    let many: Vec<Node> = (0..400_000).map(|id| Node { id, kind: 4, ..Node::default() }).collect();
    let bytes = file(&many);
    assert_eq!(read(std::slice::from_ref(&bytes)).expect("it fits").tasks(), 400_000);
    let small = Options { most_memory: 10 << 20, ..options() };
    let error = read_with(&[bytes], small).expect_err("it does not fit").to_string();
    assert!(error.contains("take more than 10485760 bytes of memory"), "{error}");
}

#[test]
fn truncated_and_swollen_files_are_errors() {
    let good = file(&[send(1, 1, 8, 0), collective(2, 0, 8, "")]);
    for end in 1..good.len() {
        let mut traces = Traces::new(2, options()).expect("two ranks");
        // cut between two messages it is a shorter trace
        let _ = traces.read("t.0.et", &good[..end]);
    }
    let cut = error(&[good[..good.len() - 1].to_vec(), good.clone()]);
    assert!(cut.contains("the file ends after"), "{cut}");
    let endless = error(&[vec![0xff; 20]]);
    assert!(endless.contains("more than ten bytes"), "{endless}");
    let claimed = error(&[vec![0xff, 0xff, 0xff, 0xff, 0x7f, 0]]);
    assert!(claimed.contains("is more than 67108864"), "{claimed}");
    // a bomb: a gigabyte of zeros in a megabyte, a node without an id a thousand times over
    let bomb = gzip(&vec![0; 64 << 20]);
    assert!(bomb.len() < 100_000);
    let bomb = error(&[bomb]);
    assert!(bomb.contains("its type is 0") || bomb.contains("two nodes"), "{bomb}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_are_a_trace_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        chakra::fuzz(&bytes);
        chakra::fuzz(&gzip(&bytes));
        htsim::fuzz(&bytes);
        weir_coll::simai::fuzz(&bytes);
    }

    #[test]
    fn a_damaged_trace_is_a_trace_or_an_error(
        at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = file(&[
            Node { id: 1, kind: 4, duration: 5, ..Node::default() },
            send(2, 1, 100, 3).after(&[1]),
            collective(4, 2, 100, "").after(&[2]),
        ]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        chakra::fuzz(&bytes);
    }

    #[test]
    fn json_of_any_words_is_a_trace_or_an_error(
        words in prop::collection::vec(0..JSON.len(), 0..40),
    ) {
        let body: String = words.into_iter().map(|i| JSON[i]).collect();
        chakra::fuzz(body.as_bytes());
        chakra::fuzz(format!("{{\"workload_graph\": [{{\"Id\": 1, {body}}}]}}").as_bytes());
    }

    /// Random graphs of computations, messages and collectives end, or name what waits.
    #[test]
    fn random_traces_end_or_name_what_waits(
        kinds in prop::collection::vec((0..6_u8, any::<prop::sample::Index>(), 0..4_u32), 1..60),
    ) {
        let mut ranks: Vec<Vec<Node>> = vec![Vec::new(); 4];
        for (i, (kind, before, peer)) in kinds.into_iter().enumerate() {
            let i = i as u64;
            let earlier = |i: u64| before.index(i as usize) as u64;
            let deps: Vec<u64> = if i == 0 { vec![] } else { vec![earlier(i)] };
            for rank in 0..4_u32 {
                // the peer of a rank sends, the rank receives
                let node = match kind {
                    0 | 1 => Node { id: i, kind: 4, duration: i, ..Node::default() },
                    2 => collective(i, [0, 2, 6, 7, 9][peer as usize], 1000, ""),
                    3 if rank == peer => send(i, (rank + 1) % 4, 10, i as i32),
                    3 if rank == (peer + 1) % 4 => recv(i, peer, 10, i as i32),
                    _ => Node { id: i, kind: 1, ..Node::default() },
                };
                ranks[rank as usize].push(node.after(&deps));
            }
        }
        let files: Vec<Vec<u8>> = ranks.iter().map(|nodes| file(nodes)).collect();
        // every message is received and all collectives may run beside each other: it ends
        let free = Options { serial: false, ..options() };
        let workload = read_with(&files, free).expect("a trace");
        prop_assert!(carry_out(&Arc::new(workload), u64::MAX).is_ok());
        // one at a time, a rank may hold its lane for another collective than its peers
        let workload = Arc::new(read(&files).expect("a trace"));
        if let Err(chain) = carry_out(&workload, u64::MAX) {
            prop_assert!(chain.iter().any(|(_, wait)| wait.peer.is_some()), "{chain:?}");
        }
    }
}

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"workload_graph\"",
    "\"Id\": 1",
    "\"NodeType\": 7",
    "\"NodeType\": \"COMP_NODE\"",
    "\"comm_size\": 99999999999999999999",
    "\"comm_type\": 0",
    "\"ctrlDeps\": [1]",
    "\"attr\": [{\"name\": \"comm_tag\", \"int32Val\": -1}]",
    "null",
    "-1",
    "\"runtime\": 1e300",
    "\"pg_name\": \"x\"",
    " ",
];

fn matrix(text: &str) -> Workload {
    let matrix = htsim::parse(text.as_bytes()).expect("a matrix");
    htsim::workload(&matrix).expect("it can be carried out")
}

#[test]
fn triggers_start_connections_here_and_elsewhere() {
    let text = "Nodes 4\nConnections 4\nTriggers 2\n\
                0->1 id 1 start 0 size 1000 send_done_trigger 1\n\
                0->2 id 2 trigger 1 size 2000 recv_done_trigger 2\n\
                3->0 id 3 trigger 2 size 3000\n2->0 id 4 trigger 2 size 4000\n\
                trigger id 1 oneshot\ntrigger id 2 multishot\n";
    // trigger 2 has two connections and fires once
    let read = htsim::parse(text.as_bytes()).expect("a matrix");
    let error = htsim::workload(&read).expect_err("one never starts").to_string();
    assert_eq!(
        error,
        "line 9: trigger 2 has to fire 2 times to start 2 connections, and 1 connections fire it"
    );
    let all = messages(task_ranks(matrix(&text.replace("2 multishot", "2 oneshot"))));
    // rank 2 knows by itself, rank 3 by a notice
    assert_eq!(all, [(0, 1, 1000), (0, 2, 2000), (2, 3, 64), (2, 0, 4000), (3, 0, 3000)]);
}

#[test]
fn a_barrier_waits_for_its_count_and_multishot_takes_turns() {
    let text = "Nodes 3\nConnections 4\nTriggers 1\n\
                0->1 id 1 start 0 size 1 recv_done_trigger 7\n\
                2->1 id 2 start 5000 size 2 recv_done_trigger 7\n\
                1->0 id 3 trigger 7 size 3\n1->2 id 4 trigger 7 size 4\n\
                trigger id 7 barrier count 2\n";
    let all = messages(task_ranks(matrix(text)));
    assert_eq!(all, [(0, 1, 1), (2, 1, 2), (1, 0, 3), (1, 2, 4)]);
    let text = text.replace("barrier count 2", "multishot");
    let all = messages(task_ranks(matrix(&text)));
    assert_eq!(all, [(0, 1, 1), (2, 1, 2), (1, 0, 3), (1, 2, 4)]);
}

#[test]
fn connections_in_a_circle_of_triggers_are_named() {
    let text = "Nodes 2\nConnections 2\nTriggers 2\n\
                0->1 id 1 trigger 1 size 1 recv_done_trigger 2\n\
                1->0 id 2 trigger 2 size 1 recv_done_trigger 1\n\
                trigger id 1 oneshot\ntrigger id 2 oneshot\n";
    let chain = carry_out(&Arc::new(matrix(text)), 100).expect_err("nothing starts");
    assert!(chain.len() >= 2, "{chain:?}");
    assert!(chain[0].1.to_string().contains("receive from rank"), "{chain:?}");
}

#[test]
fn mistakes_in_a_matrix_are_named_with_their_line() {
    let error = |text: &str| htsim::parse(text.as_bytes()).expect_err("it is wrong").to_string();
    assert_eq!(error(""), "line 1: `Nodes N` is missing");
    assert!(error("0->1 id 1 start 0 size 1").contains("line 1: a connection before `Nodes N`"));
    let body = |line: &str| error(&format!("Nodes 2\nConnections 1\n{line}\n"));
    assert_eq!(body("0->2 start 0 size 1"), "line 3: `2` is no node: there are 2");
    assert_eq!(body("0->1 start 0"), "line 3: a connection needs a `size` above 0");
    assert_eq!(body("0->1 size 1"), "line 3: a connection needs `start` or `trigger`");
    assert_eq!(body("0->1 trigger 4 size 1"), "line 3: there is no trigger 4");
    assert_eq!(body("0->0 start 0 size 1"), "line 3: node 0 is connected to itself");
    assert!(body("0->1 start 0 size 1 flags 2").contains("`flags` instead of id, start"));
    assert!(body("failure id 1").contains("`failure` instead of Nodes"));
    assert!(body("").contains("`Connections` announces 1, and there are 0"));
    assert!(error("Nodes 99999999999999999999").contains("not a whole number"));
}
