//! A run of SimAI, converted and carried out with packets.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use weir_core::Time;
use weir_results::run::run_alone;
use weir_results::simai::{Files, convert};
use weir_scenario::Experiment;

/// One server of eight H100, an NVSwitch (node 8) and eight switches of the network (9 to 16), one
/// for each GPU; written from the description of the format.
fn topology(nvlink: &str) -> String {
    let mut text = String::from("17 8 1 8 16 H100\n8 9 10 11 12 13 14 15 16\n");
    for gpu in 0..8 {
        text += &format!("{gpu} 8 {nvlink} 0.000025ms 0\n");
    }
    for gpu in 0..8 {
        text += &format!("{gpu} {} 400Gbps 0.0005ms 0\n", 9 + gpu);
    }
    text
}

const CONF: &str = "\
ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 9000
TOPOLOGY_FILE /elsewhere/topology
SIMULATOR_STOP_TIME 40000000000000.00
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 900
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 1
GLOBAL_T 0
VAR_WIN 1
RATE_BOUND 1
ACK_HIGH_PRIO 0
LINK_DOWN 0 0 0
KMAX_MAP 2 200000000000 1200 400000000000 3200
KMIN_MAP 2 200000000000 300 400000000000 800
PMAX_MAP 2 200000000000 0.8 400000000000 0.2
BUFFER_SIZE 32
QP_MON_INTERVAL 100
NIC_TOTAL_PAUSE_TIME 0
";

/// Two all-reduces of the forward pass, of 16 and 64 MiB, each behind 556 us of computation.
const MICRO: &str = "\
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 8 \
checkpoints: 0 checkpoint_initiates: 0
2
one\t-1\t556000\tALLREDUCE\t16777216\t1\tNONE\t0\t1\tNONE\t0\t1
two\t-1\t556000\tALLREDUCE\t67108864\t1\tNONE\t0\t1\tNONE\t0\t1
";

/// The scenario, its workload beside it.
fn scenario(name: &str, nvlink: &str) -> (std::path::PathBuf, Vec<String>) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    std::fs::write(directory.join("micro.txt"), MICRO).expect("a file");
    let text = topology(nvlink);
    let files = Files {
        conf: (Path::new("SimAI.conf"), CONF),
        topology: (Path::new("topology"), &text),
        workload: "micro.txt",
    };
    let made = convert("micro", files).expect("it can be converted");
    let path = directory.join("micro.toml");
    std::fs::write(&path, &made.scenario).expect("a file");
    (path, made.notes)
}

/// When it ends, and for how long the rank that came last computed.
fn end(path: &Path, sets: &[&str]) -> (Time, Time) {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    let experiment = Experiment::load(path.to_str().expect("a name"), &sets)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let run = run_alone(&experiment, experiment.own_variant(), &AtomicBool::new(false));
    let run = run.expect("it runs");
    let iteration = run.outcome.jobs[0].iterations[0];
    (iteration.end.expect("the job ends"), iteration.computed)
}

/// Published for this workload and NVLink at 2400 Gb/s: 1604 us and 28 times the send latency,
/// because two all-reduces among 8 ranks have 14 steps each.
#[test]
fn the_published_all_reduces_take_their_published_time() {
    let (path, notes) = scenario("simai-micro", "2400Gbps");
    for (latency, us) in [("0us", 1604.0), ("6us", 1604.0 + 28.0 * 6.0), ("100us", 4404.0)] {
        let key = format!("job.0.simai-send-latency={latency}");
        let (taken, computed) = end(&path, &[&key]);
        let taken = taken.as_secs_f64() * 1e6;
        // twice 556 us, and some nanoseconds for each change of state: no send latency
        let range = Time::from_us(1112)..Time::from_us(1113);
        assert!(range.contains(&computed), "{latency}: {computed}");
        println!("{latency}: {taken} us, published {us}");
        assert!((taken - us).abs() < 0.01 * us, "{latency}: {taken} us instead of {us}");
    }
    let named = |text: &str| notes.iter().any(|note| note.contains(text));
    assert!(named("SimAI and here: USE_DYNAMIC_PFC_THRESHOLD, SIMULATOR_STOP_TIME, GLOBAL_T"));
    assert!(named("its effect is not known: NIC_TOTAL_PAUSE_TIME"), "{notes:?}");
}

#[test]
fn headers_that_do_not_fit_are_named() {
    let bad = |text: &str| {
        let files = Files {
            conf: (Path::new("SimAI.conf"), CONF),
            topology: (Path::new("topology"), text),
            workload: "w",
        };
        convert("x", files).expect_err("it is wrong").to_string()
    };
    assert!(bad("17 8 1 8 16\n").contains("topology:1: 5 words instead of six"));
    assert!(bad("9 8 1 8 16 H100\n").contains("there are no GPUs"));
    // node 0 should be a GPU, and is an NVSwitch
    let switch = "3 2 1 0 2 H100\n0\n1 0 1Gbps 1us 0\n2 0 1Gbps 1us 0\n";
    assert!(bad(switch).contains("the first 2 nodes are not all GPUs"));
    assert!(bad("99999999999 8 1 8 16 H100\n").contains("a number is none"));
}
