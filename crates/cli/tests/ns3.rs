//! The commands that read and write files of the HPCC ns-3 simulator, from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A run of the reference: three switches in a chain, six flows, DCQCN, pauses.
const CASE: &str = "chain3_buf2_dcqcn";

fn weir_in(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(args).current_dir(directory).stdin(Stdio::null());
    command.env("NO_COLOR", "1").env("COLUMNS", "200");
    command.output().expect("the program can be started")
}

/// What it prints when it succeeds.
fn done(directory: &Path, args: &[&str]) -> String {
    let output = weir_in(directory, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is text")
}

/// What it complains about when it refuses its input.
fn refused(directory: &Path, args: &[&str]) -> String {
    let output = weir_in(directory, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8(output.stderr).expect("errors are text")
}

/// A file of the stored case.
fn stored(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ns3/tests/golden/cases.txt");
    let all = fs::read_to_string(path).expect("the stored runs");
    let case = all.split("#case ").find(|c| c.starts_with(CASE)).expect("the case");
    let head = format!("#file {name}\n");
    let (_, file) = case.split_once(&head).expect("the file");
    file[..file.find("\n#").expect("another file follows") + 1].to_owned()
}

/// A directory of its own for one test, with the inputs of the case. Node 8 is traced, and queues
/// are sampled up to 2.1 s, when they are written.
fn inputs(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ns3-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the scratch directory can be made");
    for file in ["topology.txt", "flow.txt"] {
        write(&path, file, &stored(file));
    }
    let sampled = "QLEN_MON_START 2099990000\nQLEN_MON_END 2100000001\n";
    write(&path, "config.txt", &(stored("config.txt") + sampled));
    write(&path, "trace.txt", "1\n8\n");
    path
}

fn write(directory: &Path, name: &str, text: &str) {
    fs::write(directory.join(name), text).expect("a file");
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn a_run_writes_the_files_of_the_original_and_ours_the_same_every_time() {
    let base = inputs("run");
    for out in ["a", "b"] {
        let said = done(&base, &["ns3", "config.txt", "--out", out, "-q"]);
        assert!(said.contains("6 flows · dcqcn") && said.contains("55 pauses"), "{said}");
    }
    let a = base.join("a");
    assert_eq!(read(a.join("fct.txt")), stored("fct.txt"));
    assert_eq!(read(a.join("pfc.txt")), stored("pfc.txt"));
    // switch, port, and how many samples found less than 1 kB: all traffic is over by then, and
    // 10 us hold 101 samples, both ends included
    let qlen = read(a.join("qlen.txt"));
    assert!(qlen.starts_with("time: 2100000000\n8 1 101\n8 2 101\n"), "{qlen}");
    // ten links have 20 ports, of 11 bytes each, and two counts of 4 bytes; then records of 56
    let trace = fs::read(a.join("mix.tr")).expect("a trace").len();
    assert!(trace > 228 && (trace - 228).is_multiple_of(56), "{trace}");
    assert!(read(a.join("flows.csv")).starts_with("variant,scheme,seed,flow,"));
    let summary: serde_json::Value =
        serde_json::from_str(&read(a.join("summary.json"))).expect("JSON");
    assert_eq!(summary["digest"].as_str().map(str::len), Some(16), "{summary}");
    for file in ["fct.txt", "pfc.txt", "qlen.txt", "mix.tr", "flows.csv", "summary.json"] {
        let bytes = |out: &str| fs::read(base.join(out).join(file)).expect("a result");
        assert_eq!(bytes("a"), bytes("b"), "{file}");
    }
}

#[test]
fn results_go_where_the_configuration_says_and_never_over_other_files() {
    let base = inputs("places");
    done(&base, &["ns3", "config.txt", "-q"]);
    assert_eq!(read(base.join("fct.txt")), stored("fct.txt"));
    assert!(base.join("fct.summary.json").exists());
    write(&base, "fct.flows.csv", "my thesis\n");
    let said = refused(&base, &["ns3", "config.txt", "-q"]);
    assert!(said.contains("fct.flows.csv") && said.contains("not a result"), "{said}");
    assert_eq!(read(base.join("fct.flows.csv")), "my thesis\n");
}

#[test]
fn what_is_wrong_with_an_input_is_said_with_its_place() {
    let base = inputs("errors");
    let config = read(base.join("config.txt"));
    let lines = config.lines().count();
    for (name, text, parts) in [
        (
            "misspelt.txt",
            config.clone() + "BUFER_SIZE 4\n",
            vec![
                format!("misspelt.txt:{}: there is no key `BUFER_SIZE`", lines + 1),
                "did you mean BUFFER_SIZE?".into(),
            ],
        ),
        (
            "pint.txt",
            config.clone() + "CC_MODE 10\n",
            vec![format!("pint.txt:{}: ", lines + 1), "HPCC-PINT, which is not supported".into()],
        ),
        (
            "missing.txt",
            config.replace("topology.txt", "nowhere.txt"),
            vec!["nowhere.txt: No such file".into()],
        ),
        (
            "flows.txt",
            config.replace("FLOW_FILE flow.txt", "FLOW_FILE bad.txt"),
            vec!["bad.txt:2: `8` is not the destination of flow 1 of 1".into(), "a switch".into()],
        ),
    ] {
        write(&base, "bad.txt", "1\n0 8 3 100 1000 2.0\n");
        write(&base, name, &text);
        for command in [&["ns3", name, "--out", "out"][..], &["import", "ns3", name]] {
            let said = refused(&base, command);
            for part in &parts {
                assert!(said.contains(part), "{command:?}: {said:?} lacks {part:?}");
            }
        }
        assert!(!base.join("out").exists(), "nothing is written");
    }
    assert!(refused(&base, &["ns3", "no-such.txt"]).contains("no-such.txt: No such file"));
}

#[test]
fn unsorted_and_very_large_flows_are_taken_with_a_warning() {
    let base = inputs("large");
    // 5 GB take 0.4 s of simulated time: run to 2.001 s only
    write(&base, "flow.txt", "2\n0 6 3 100 5000000000 2.0005\n1 6 3 100 1000 2.0\n");
    let config = read(base.join("config.txt")).replace("TIME 2.2", "TIME 2.001");
    write(&base, "config.txt", &config);
    let output = weir_in(&base, &["ns3", "config.txt", "--out", "out", "--allow-unfinished"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("flow.txt: flows are not sorted by start time"), "{said}");
    assert!(said.contains("flow.txt: 1 flows are 4 GiB or larger"), "{said}");
    // only the small one finishes, and it was the second in the file
    assert_eq!(read(base.join("out/fct.txt")).lines().count(), 1);
    assert!(read(base.join("out/fct.txt")).starts_with("0b000101 0b000601 10000 100 1000 "));
    assert!(done(&base, &["import", "ns3", "config.txt"]).contains("h0,h6,5000000000,500000ns,"));
}

/// The blocks below `topology.txt`, `flow.txt` and `config.txt` of the book. Three flows of 1 MB
/// take at least 240 us on a link of 100 Gb/s.
#[test]
fn the_complete_example_of_the_book_runs_and_all_its_flows_finish() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/ns3.md");
    let page = read(page);
    let base = inputs("book");
    for file in ["topology.txt", "flow.txt", "config.txt"] {
        let (_, rest) = page.split_once(&format!("\n`{file}`: ")).expect("its paragraph");
        let (_, block) = rest.split_once("```text\n").expect("its block");
        write(&base, file, block.split("```").next().expect("a block ends"));
    }
    let output = weir_in(&base, &["ns3", "config.txt", "--out", "results"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.contains("warning")), (Some(0), false), "{said}");
    let fct = read(base.join("results/fct.txt"));
    let times: Vec<u64> =
        fct.lines().map(|l| l.split(' ').nth(6).unwrap().parse().unwrap()).collect();
    assert_eq!(times.len(), 3, "{fct}");
    assert!(times.iter().max() > Some(&240_000), "{fct}");
}

/// The flows of the case start at 2 s.
#[test]
fn flows_that_are_unfinished_at_the_stop_time_fail_the_command_unless_allowed() {
    let base = inputs("unfinished");
    let config = read(base.join("config.txt")).replace("TIME 2.2", "TIME 2.0000001");
    write(&base, "config.txt", &config);
    let args = ["ns3", "config.txt", "--out", "out", "-q"];
    let output = weir_in(&base, &args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("6 of 6 flows are unfinished at SIMULATOR_STOP_TIME 2.0000001 s"));
    assert!(said.contains("--allow-unfinished"), "{said}");
    // the results are there, and the same without the check
    let summary = read(base.join("out/summary.json"));
    done(&base, &[&args[..], &["--allow-unfinished"]].concat());
    assert_eq!(read(base.join("out/summary.json")), summary);
}

#[test]
fn an_imported_configuration_passes_the_check_runs_and_goes_back() {
    let base = inputs("import");
    let inside = done(&base, &["import", "ns3", "config.txt"]);
    write(&base, "inside.toml", &inside);
    assert_eq!(done(&base, &["import", "ns3", "config.txt", "--out", "beside.toml"]), "");
    assert!(read(base.join("beside.toml")).contains("file = \"beside.flows.csv\""));
    assert_eq!(read(base.join("beside.flows.csv")).lines().count(), 7);
    for scenario in ["inside.toml", "beside.toml"] {
        done(&base, &["check", scenario]);
        // six flows, in the order of their starts
        assert_eq!(done(&base, &["traffic", scenario, "--format", "ns3"]), stored("flow.txt"));
    }
    let text = done(&base, &["run", "inside.toml", "-q", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(summary["scheme"], "pfc");
    assert_eq!(summary["cc"], "dcqcn");
    let again: serde_json::Value =
        serde_json::from_str(&done(&base, &["run", "beside.toml", "-q", "--json"])).expect("JSON");
    assert_eq!(summary["digest"], again["digest"], "where the flows stand changes nothing");
}

#[test]
fn traffic_that_a_flow_file_cannot_say_is_refused() {
    let base = inputs("traffic");
    let scenario = "[topology]\nkind = \"star\"\n[[traffic]]\nkind = \"constant\"\n\
                    from = \"h0\"\nto = \"h1\"\nrate = \"1Gbps\"\nsize = \"1MB\"\n";
    write(&base, "rate.toml", scenario);
    let said = refused(&base, &["traffic", "rate.toml", "--format", "ns3"]);
    assert!(said.contains("has its own rate or stop time"), "{said}");
}

#[test]
fn slowdowns_of_several_files_stand_side_by_side() {
    let base = inputs("fct");
    done(&base, &["ns3", "config.txt", "--out", "a", "-q"]);
    write(&base, "hpcc.txt", &stored("fct.txt").replace(" 2225440 ", " 1022480 "));
    let files = ["a/fct.txt", "hpcc.txt", "a/flows.csv"];
    let args = ["--buckets", "2", "--csv", "t.csv", "--svg", "t.svg"];
    let text = done(&base, &[&["fct"][..], &files, &args].concat());
    for file in files {
        assert!(text.contains(file), "{text}");
    }
    let csv = read(base.join("t.csv"));
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "run,fraction,largest_bytes,flows,mean,p50,p95,p99");
    // two buckets of three files; the larger half: three of the flows of 6 MB
    assert_eq!(rows.len(), 7, "{csv}");
    assert!(rows[4].starts_with("a/fct.txt,0.5000,6000000,3,"), "{csv}");
    // files of ours say the same of a run as the original's
    assert_eq!(rows[4].split_once(','), rows[6].split_once(',').map(|(_, r)| ("a/fct.txt", r)));
    assert!(read(base.join("t.svg")).starts_with("<svg"));
    let json = done(&base, &[&["fct", "--json"][..], &files].concat());
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(3));
    write(&base, "bad.txt", "0b000301 0b0005\n");
    let said = refused(&base, &["fct", "a/fct.txt", "bad.txt"]);
    assert!(said.contains("bad.txt:1: `0b0005` is not the destination address"), "{said}");
    assert!(refused(&base, &["fct", "no-such.txt"]).contains("cannot read no-such.txt"));
}

#[test]
fn results_never_replace_inputs() {
    let directory = inputs("own-inputs");
    let before =
        ["config.txt", "flow.txt", "topology.txt", "trace.txt"].map(|f| read(directory.join(f)));
    let config = read(directory.join("config.txt"));
    for (key, file) in [("FCT_OUTPUT_FILE", "flow.txt"), ("PFC_OUTPUT_FILE", "topology.txt")] {
        let lines = config.lines().filter(|l| !l.starts_with(key));
        let changed: String =
            lines.chain([format!("{key} {file}").as_str()]).map(|l| format!("{l}\n")).collect();
        write(&directory, "changed.txt", &changed);
        let text = refused(&directory, &["ns3", "changed.txt"]);
        assert!(text.contains("this command reads") && text.contains(file), "{text}");
        let text = refused(&directory, &["ns3", "changed.txt", "--out", "."]);
        assert!(text.contains("this command reads"), "{text}");
    }
    let text = refused(&directory, &["import", "ns3", "config.txt", "--out", "config.txt"]);
    assert!(text.contains("this command reads"), "{text}");
    let after =
        ["config.txt", "flow.txt", "topology.txt", "trace.txt"].map(|f| read(directory.join(f)));
    assert_eq!(before, after);
}
