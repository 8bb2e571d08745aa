//! `trace` of a `[[job]]`: which file it is, which keys have an effect, what is warned of.

use std::path::{Path, PathBuf};
use weir_core::Time;
use weir_scenario::trace::look;
use weir_scenario::{Experiment, Files};
use weir_traffic::Work;

const GOAL: &str = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
const MATRIX: &str = "Nodes 3\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 9 \
                      recv_done_trigger 1 prio 2\n2->1 id 2 trigger 1 size 7\n\
                      trigger id 1 oneshot\n";
const ROWS: &str = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 8\n1\n\
                    a -1 1 ALLREDUCE 64 1 NONE 0 1 ALLGATHER 64 1\n";
const NODE: &str = "{\"workload_graph\": [{\"Id\": 4, \"NodeType\": 7, \"comm_type\": 0, \
                    \"comm_size\": 64, \"pg_name\": \"g\"}]}";

/// A directory with a trace of each format.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    let sizes = GOAL.replace("recv 8b", "recv 9b");
    let left = GOAL.replace("send 8b to 1", "send 8b to 1\nsend 8b to 1 tag 3");
    let files = [
        ("a.goal", GOAL),
        ("sizes.goal", sizes.as_str()),
        ("left.goal", left.as_str()),
        ("m.cm", MATRIX),
        ("rows.txt", ROWS),
        ("c.0.json", NODE),
        ("c.1.json", NODE),
        ("gap.0.json", NODE),
        ("gap.2.json", NODE),
        ("groups.json", "{\"g\": [0, 1]}"),
    ];
    for (file, text) in files {
        std::fs::write(directory.join(file), text).expect("a file");
    }
    directory
}

fn read(directory: &Path, job: &str) -> Result<Experiment, String> {
    let text = format!("[topology]\nkind = \"star\"\nhosts = 4\n[[job]]\n{job}\n");
    let files = Files::of(Some(directory.to_owned()));
    Experiment::read("my.toml", &text, files, &[]).map_err(|p| p.to_string())
}

#[test]
fn the_format_is_found_by_looking_at_the_file() {
    let directory = directory("formats");
    let ranks = |job: &str| {
        let e = read(&directory, job).unwrap_or_else(|why| panic!("{why}"));
        let job = &e.traffic.jobs()[0];
        (job.ranks(), matches!(job.work, Work::Tasks(..)), e.warnings.plain(&e.scenario.sources))
    };
    assert_eq!(ranks("trace = \"a.goal\""), (2, false, String::new()));
    let (n, tasks, warnings) = ranks("trace = \"sizes.goal\"");
    assert_eq!((n, tasks), (2, false));
    let expected = "receives of rank 1 have other sizes than the messages sent to it";
    assert!(warnings.contains(expected), "{warnings}");
    let (n, tasks, warnings) = ranks("trace = \"m.cm\"");
    assert_eq!((n, tasks), (3, true));
    assert!(warnings.contains("`m.cm`: `prio` of 1 connections has no effect"), "{warnings}");
    assert!(warnings.contains("triggers act by 1 messages of 64 bytes"), "{warnings}");
    let (n, tasks, warnings) = ranks("trace = \"rows.txt\"");
    assert_eq!((n, tasks), (4, true));
    assert!(warnings.contains("the header says 8 GPUs, the job has 4 ranks"), "{warnings}");
    let chakra = "trace = \"c\"\ncomm-groups = \"groups.json\"";
    assert_eq!(ranks(chakra), (2, true, String::new()));
}

#[test]
fn keys_reach_the_workload() {
    let directory = directory("reach");
    let job = "trace = \"rows.txt\"\nsimai-send-latency = \"9us\"\nsimai-gpus-per-server = 2";
    let e = read(&directory, job).unwrap_or_else(|why| panic!("{why}"));
    let Work::Tasks(workload, _) = &e.traffic.jobs()[0].work else { panic!("tasks") };
    let weir_coll::tasks::Work::Flows(plan) = &workload.calls[0].work else { panic!("flows") };
    assert_eq!((plan.send_latency, plan.gpus_per_server), (Time::from_us(9), 2));
    let job = "trace = \"c\"\ncomm-groups = \"groups.json\"\nalgorithm = \"tree\"";
    let e = read(&directory, job).unwrap_or_else(|why| panic!("{why}"));
    let Work::Tasks(workload, _) = &e.traffic.jobs()[0].work else { panic!("tasks") };
    assert!(format!("{:?}", workload.calls[0].work).contains("Tree"));
}

#[test]
fn keys_without_an_effect_and_broken_traces_are_named() {
    let directory = directory("errors");
    for (job, what) in [
        ("trace = \"left.goal\"", "2 messages are sent to rank 1, and it receives 1"),
        ("trace = \"a.goal\"\nsimai-pxn = true", "`simai-pxn` has no effect on a GOAL schedule"),
        ("trace = \"m.cm\"\nalgorithm = \"ring\"", "`algorithm` has no effect on an htsim matrix"),
        ("trace = \"rows.txt\"\ndependencies = \"data\"", "no effect on a SimAI workload"),
        ("trace = \"c\"\nsimai-groups = \"header\"", "no effect on a Chakra trace"),
        ("size = \"1MB\"\ncommunication = \"serial\"", "`communication` has no effect without"),
        ("trace = \"c\"", "c.0.json, node 4: there is no group `g`"),
        ("trace = \"gap\"", "`gap.1.json` is missing: there are 2 files up to rank 2"),
        ("trace = \"nothing\"", "cannot read"),
        ("trace = \"rows.txt\"\nranks = 3", "3 ranks cannot be divided into tensor groups of 2"),
        ("trace = \"c\"\ncomm-groups = \"a.goal\"", "groups are written as"),
    ] {
        let error = read(&directory, job).expect_err(job);
        assert!(error.contains(what), "{job}: {error}");
    }
}

#[test]
fn a_look_says_what_a_trace_holds() {
    let files = Files::of(Some(directory("look")));
    let found = look(&files, "c", Some("groups.json")).expect("a trace");
    assert_eq!((found.format, found.ranks, found.collectives), ("a Chakra trace", 2, 1));
    let found = look(&files, "a.goal", None).expect("a schedule");
    assert_eq!((found.format, found.operations), ("a GOAL schedule", 2));
    assert_eq!(look(&files, "m.cm", None).expect("a matrix").format, "an htsim matrix");
    let error = look(&files, "rows.txt", None).expect_err("it needs a topology");
    assert!(error.help[0].contains("weir import simai"));
}
