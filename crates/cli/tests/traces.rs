//! `weir import goal`, `chakra`, `htsim` and `simai` as a user runs them.

mod common;

use common::{scratch, stdout, weir};
use std::fs;

const MATRIX: &str = "Nodes 3\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 9000 \
                      recv_done_trigger 1\n2->0 id 2 trigger 1 size 7000\n\
                      trigger id 1 oneshot\n";

#[test]
fn a_matrix_becomes_a_scenario_that_runs() {
    let directory = scratch("import-htsim");
    let (matrix, out) = (directory.join("m.cm"), directory.join("m.toml"));
    fs::write(&matrix, MATRIX).expect("a file");
    let [matrix, out] = [&matrix, &out].map(|p| p.to_str().expect("a name"));
    stdout(&["import", "htsim", matrix, "--out", out]);
    let text = fs::read_to_string(out).expect("a scenario");
    assert!(text.contains("an htsim matrix of 3 ranks, 8 operations"), "{text}");
    assert!(text.contains("trace = \"m.cm\"") && text.contains("hosts = 3"), "{text}");
    let results = directory.join("results");
    stdout(&["run", out, "--out", results.to_str().expect("a name")]);
    let rows = fs::read_to_string(results.join("collectives.csv")).expect("a table");
    assert!(rows.contains(",tasks,"), "{rows}");
    let wrong = weir(&["import", "goal", matrix]);
    let message = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(message.contains("is an htsim matrix, not a GOAL schedule"), "{message}");
}

#[test]
fn traces_of_all_ranks_become_one_scenario() {
    let directory = scratch("import-chakra");
    let node = "{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 7, \"comm_type\": 0, \
                \"comm_size\": 64, \"pg_name\": \"g\"}]}";
    for rank in 0..2 {
        fs::write(directory.join(format!("t.{rank}.json")), node).expect("a file");
    }
    fs::write(directory.join("g.json"), "{\"g\": [0, 1]}").expect("a file");
    let name = |file: &str| directory.join(file).to_str().expect("a name").to_owned();
    let text = stdout(&["import", "chakra", &name("t"), "--groups", &name("g.json")]);
    assert!(text.contains("a Chakra trace of 2 ranks, 2 operations with 1 collective"), "{text}");
    let missing = weir(&["import", "chakra", &name("t")]);
    let message = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(message.contains("node 1: there is no group `g`"), "{message}");
}

#[test]
fn a_run_of_simai_becomes_a_scenario_that_passes_its_check() {
    let directory = scratch("import-simai");
    let name = |file: &str| directory.join(file).to_str().expect("a name").to_owned();
    let rows = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\n\
                a -1 1 ALLREDUCE 64000 1 NONE 0 1 NONE 0 1\n";
    let topology = "5 2 1 2 4 H100\n2 3 4\n0 2 2400Gbps 0.000025ms 0\n1 2 2400Gbps 0.000025ms 0\n\
                    0 3 400Gbps 0.0005ms 0\n1 4 400Gbps 0.0005ms 0\n";
    let conf = "CC_MODE 1\nPACKET_PAYLOAD_SIZE 9000\nL2_ACK_INTERVAL 1\nALPHA_RESUME_INTERVAL 1\n\
                RATE_DECREASE_INTERVAL 4\nRP_TIMER 900\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\n\
                BUFFER_SIZE 32\nMON_START 0\nGLOBAL_T 0\n";
    for (file, text) in [("w.txt", rows), ("topology", topology), ("SimAI.conf", conf)] {
        fs::write(directory.join(file), text).expect("a file");
    }
    let (w, t, c, out) = (name("w.txt"), name("topology"), name("SimAI.conf"), name("s.toml"));
    stdout(&["import", "simai", "--workload", &w, "--topology", &t, "--conf", &c, "--out", &out]);
    let text = fs::read_to_string(&out).expect("a scenario");
    assert!(text.contains("# - without effect in SimAI and here: GLOBAL_T"), "{text}");
    stdout(&["check", &out]);
}
