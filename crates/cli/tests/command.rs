//! The `weir` command from outside: what it prints and how it exits.

mod common;

use common::{code, scratch, stdout, weir};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn exit_codes_are_those_in_the_help() {
    for (args, expected) in [
        (&["check", "incast"][..], 0),
        (&["run", "incast", "-q"], 0),
        (&["run", "ring-deadlock", "-q"], 0),
        (&["run", "ring-deadlock", "-q", "--deny", "deadlock"], 1),
        (&["run", "lossy", "-q", "--deny", "loss"], 1),
        (&["run", "incast", "-q", "--deny", "unfinished"], 0),
        (&["run", "incast", "-q", "--set", "run.until=\"1us\""], 0),
        (&["run", "incast", "-q", "--set", "run.until=\"1us\"", "--deny", "unfinished"], 1),
        (&["check", "no-such"], 2),
        (&["check", "incast", "--scheme", "bfc"], 0),
        (&["check", "incast", "--scheme", "bcf"], 2),
        (&["check", "incast", "--set", "switch.bufer=1KB"], 2),
        (&["run", "incast", "--scheme", "pcf"], 2),
        (&["run", "incast", "--cc", "cubic"], 2),
        (&["compare", "incast", "--seeds", "3..1"], 2),
        (&["compare", "incast", "--schemes", "pfc,pcf"], 2),
        (&["schemes", "pcf"], 2),
        (&["frobnicate"], 2),
        (&["run", "incast", "-q", "--set", "switch.thresholds.limit=90KB"], 3),
        (
            &[
                "compare",
                "incast",
                "-q",
                "--schemes",
                "pfc",
                "--set",
                "switch.thresholds.limit=90KB",
            ],
            3,
        ),
    ] {
        assert_eq!(code(args), expected, "{args:?}");
    }
}

#[test]
fn no_arguments_show_the_help() {
    let output = weir(&[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("First steps") && text.contains("Exit codes"), "{text}");
}

#[test]
fn everything_that_reports_also_speaks_json() {
    for args in [
        &["check", "incast", "--json"][..],
        &["topo", "ofc-fig1", "--json"],
        &["traffic", "dumbbell", "--json"],
        &["scenarios", "--json"],
        &["scenarios", "incast", "--json"],
        &["schemes", "--json"],
        &["schemes", "pfc", "--json"],
        &["topologies", "--json"],
        &["patterns", "--json"],
        &["workloads", "--json"],
        &["workloads", "websearch", "--json"],
        &["schema"],
        &["run", "incast", "--json"],
        &["compare", "incast", "--schemes", "pfc,none", "--json"],
    ] {
        let text = stdout(args);
        let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
        assert!(value.is_ok(), "{args:?}: {text}");
    }
    let text = stdout(&["run", "incast", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&value["schema"], &value["scheme"]), (&2.into(), &"pfc".into()));
    assert_eq!(value["digest"].as_str().map(str::len), Some(16));
}

#[test]
fn lists_name_what_there_is_and_details_every_parameter() {
    let text = stdout(&["schemes"]);
    assert!(text.contains("pfc") && text.contains("dcqcn"), "{text}");
    let text = stdout(&["schemes", "pfc"]);
    assert!(text.contains("pause-quanta") && text.contains("default 65535"), "{text}");
    let text = stdout(&["workloads"]);
    // FlowSail's Fig. 1: Web Search at 100 Gb/s and 12 us
    assert!(text.contains("websearch") && text.contains("57.1 %"), "{text}");
    let text = stdout(&["scenarios", "ofc-fig1"]);
    assert!(text.contains("kind = \"ofc-chain\""), "{text}");
    // benchmarks run by name like the others, so they are listed and shown like the others
    assert!(stdout(&["scenarios"]).contains("bench-fat-tree"));
    assert!(stdout(&["scenarios", "bench-fat-tree"]).contains("[topology]"));
}

#[test]
fn output_without_a_terminal_has_no_colours_and_no_bar() {
    let output = weir(&["compare", "incast", "--schemes", "pfc"]);
    for text in [output.stdout, output.stderr] {
        assert!(!text.contains(&0x1b), "{}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn traffic_written_as_csv_reads_back_as_the_same_flows() {
    let base = scratch("traffic");
    let csv = stdout(&["traffic", "ofc-fig1"]);
    assert_eq!(csv.lines().count(), 9);
    fs::write(base.join("flows.csv"), &csv).expect("a file");
    let scenario =
        "[topology]\nkind = \"ofc-chain\"\n[[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\n";
    let file = base.join("list.toml");
    fs::write(&file, scenario).expect("a file");
    assert_eq!(stdout(&["traffic", file.to_str().expect("a path of text")]), csv);
}

/// In a list, a static path goes by its name in the scenario.
#[test]
fn flows_keep_their_static_paths_in_a_list() {
    let base = scratch("paths");
    let network = "[topology]\nkind = \"ring\"\n[[path]]\nname = \"long way\"\n\
                   nodes = [\"sw0\", \"sw3\", \"sw2\", \"sw1\"]\n";
    let traffic = |list: &str| format!("{network}[[traffic]]\n{list}\n");
    let (a, b) = (base.join("a.toml"), base.join("b.toml"));
    let flow = "kind = \"flow\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"1500B\"\npath = \"long way\"";
    fs::write(&a, traffic(flow)).expect("a file");
    fs::write(&b, traffic("kind = \"list\"\nfile = \"flows.csv\"")).expect("a file");
    let [a, b] = [&a, &b].map(|path| path.to_str().expect("a path of text"));
    let csv = stdout(&["traffic", a]);
    assert!(csv.contains(",long way,"), "{csv}");
    fs::write(base.join("flows.csv"), &csv).expect("a file");
    assert_eq!(stdout(&["traffic", b]), csv);
    let digest = |file: &str| {
        let text = stdout(&["run", file, "--json"]);
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        // alone on its path, long as it is, it takes the ideal time
        let slowdown = value["classes"]
            .as_object()
            .and_then(|c| c.values().next()?["slowdown"]["max"].as_f64());
        assert_eq!(slowdown, Some(1.0), "{text}");
        value["digest"].clone()
    };
    assert_eq!(digest(a), digest(b));
    fs::write(base.join("flows.csv"), csv.replace("long way", "short cut")).expect("a file");
    let output = weir(&["check", b]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("line 2: `path` is `short cut`: no static path"), "{text}");
}

#[test]
fn a_topology_can_be_drawn() {
    let base = scratch("drawing");
    let svg = base.join("fabric.svg");
    let text = stdout(&["topo", "ring-deadlock", "--svg", svg.to_str().expect("a path of text")]);
    assert!(text.contains("sw1 -> sw2 -> sw3 -> sw0 -> sw1"), "{text}");
    assert!(fs::read_to_string(svg).expect("a drawing").starts_with("<svg"));
}

#[test]
fn a_window_of_time_limits_what_is_said_about_pauses_and_nothing_else() {
    let run = |extra: &[&str]| {
        let args: Vec<&str> =
            ["run", "ofc-fig1", "--scheme", "pfc"].iter().chain(extra).copied().collect();
        stdout(&args)
    };
    let whole = run(&["-q"]);
    assert!(whole.contains("because of  between"), "{whole}");
    assert!(whole.contains("victim   h0 to h8    142 us  Sb to Sc  P_d of Sc"), "{whole}");
    // the incast is over by 300 us
    let late = run(&["-q", "--from", "300us"]);
    assert!(late.contains("pauses from 300 us began at Sa to Sb"), "{late}");
    assert!(!late.contains("because of"), "{late}");
    let table = |text: &str| {
        text.lines()
            .skip_while(|l| !l.contains("class"))
            .take(5)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(table(&whole), table(&late), "completion times are those of the whole run");
    let compare = |extra: &[&str]| {
        let args = ["compare", "ofc-fig1", "--schemes", "pfc", "-q"];
        stdout(&args.iter().chain(extra).copied().collect::<Vec<_>>())
    };
    let late = compare(&["--from", "300us", "--to", "1ms"]);
    assert!(late.contains("victims of pauses from 300 us up to 1.00 ms"), "{late}");
    assert!(compare(&[]).contains("142 us") && !late.contains("142 us"), "{late}");
    let out = scratch("window").join("out");
    run(&["--from", "300us", "--to", "1ms", "--out", out.to_str().expect("a path of text")]);
    let read = |name: &str| fs::read_to_string(out.join(name)).expect("a file");
    assert!(read("index.html").contains("weir run ofc-fig1 --scheme pfc --from 300us --to 1ms"));
    assert_eq!(read("victims.csv").lines().count(), 1, "headings only");
    for (from, to) in [("2ms", "1ms"), ("1ms", "1ms"), ("1", "2ms")] {
        let refused = weir(&["run", "incast", "--from", from, "--to", to]);
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains("--from"), "{text}");
    }
}

#[test]
fn a_check_says_whether_the_headroom_is_enough() {
    let given = |sets: &[&str]| {
        let mut args = vec!["check", "incast", "-q"];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        let text = stdout(&args);
        let line = text.lines().find(|l| l.contains("headroom given")).expect("a line");
        line.split_once("headroom given").expect("it is there").1.trim().to_owned()
    };
    assert_eq!(given(&[]), "as needed by the link of each port");
    // 28 160 B are needed; the packet that crosses xoff may take 1517 B of what is above it
    let limit = |bytes: u64| format!("switch.thresholds.limit={bytes}B");
    assert_eq!(given(&[&limit(75_000 + 1517 + 28_160)]), "28.16 KB: enough");
    let short = given(&[&limit(75_000 + 1517 + 28_159)]);
    assert_eq!(short, "28.159 KB: TOO LITTLE by 1 B, packets can be lost");
    assert_eq!(given(&["switch.thresholds.limit=unlimited"]), "as much as there is memory");
    let none = given(&["flow-control.scheme=none"]);
    assert_eq!(none, "none: the scheme does not pause at the ingress");
    let dynamic = ["switch.thresholds={alpha='1/8',headroom='20KB'}", "switch.buffer=12MB"];
    assert!(
        given(&dynamic).starts_with("18.482 KB: TOO LITTLE by 9.678 KB"),
        "{}",
        given(&dynamic)
    );
}

/// The commands that the help lists.
fn commands() -> Vec<String> {
    let help = stdout(&["--help"]);
    let list = help.split("Commands:").nth(1).and_then(|s| s.split("\n\n").next());
    let words = list.expect("a list").lines().filter_map(|l| l.split_whitespace().next());
    words.map(str::to_owned).filter(|word| word != "help").collect()
}

#[test]
fn man_page_and_completions_come_from_the_same_definition() {
    let commands = commands();
    assert!(commands.iter().any(|c| c == "compare") && commands.len() > 10, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = stdout(&["completions", shell]);
        for word in commands.iter().map(String::as_str).chain(["out", "from", "schemes"]) {
            assert!(text.contains(word), "{shell} does not know `{word}`");
        }
    }
    let page = stdout(&["man"]);
    for command in &commands {
        assert!(page.contains(&format!("weir\\-{command}(1)")), "{command}: {page}");
        let own = stdout(&["man", command]);
        assert!(own.contains(&format!(".TH weir-{command} 1")), "{command}: {own}");
    }
    let run = stdout(&["man", "run"]);
    for option in ["\\-\\-scheme", "\\-\\-out", "\\-\\-from", "weir run incast"] {
        assert!(run.contains(option), "{option}: {run}");
    }
    assert!(stdout(&["man", "sweep", "plan"]).contains(".TH weir-sweep-plan 1"));
    let refused = weir(&["man", "comparr"]);
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("did you mean `compare`?"), "{text}");
}

/// What bash makes of the completions.
#[test]
#[cfg(unix)]
fn bash_completes_commands_options_and_shells() {
    let complete = |words: &[&str]| {
        let script = format!(
            "source /dev/stdin; COMP_WORDS=({}); COMP_CWORD={}; \
             _weir weir '{}' '{}' && printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let mut bash = Command::new("bash")
            .args(["--norc", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash can be started");
        let text = stdout(&["completions", "bash"]);
        bash.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads all");
        String::from_utf8(bash.wait_with_output().expect("it ends").stdout).expect("text")
    };
    assert_eq!(complete(&["weir", "comp"]), "compare\ncompletions\n");
    assert_eq!(complete(&["weir", "run", "--fro"]), "--from\n");
    assert!(complete(&["weir", "completions", "z"]).contains("zsh"));
}

#[test]
fn a_scheme_that_cannot_finish_is_a_row_with_its_reason() {
    let until = "run.until=drained";
    let args = ["compare", "ring-deadlock", "-q", "--schemes", "pfc,gfc,bfc", "--set", until];
    for columns in ["40", "80", "120", "400"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(args).env("NO_COLOR", "1").env("COLUMNS", columns).stdin(Stdio::null());
        let output = command.output().expect("the program can be started");
        let text = String::from_utf8_lossy(&output.stdout);
        // words may stand on different lines
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["PFC", "GFC", "BFC", "DEADLOCK at", "NOT OVER after 70.4 s", "4 of 4 flows"] {
            assert!(words.contains(part), "{columns} columns, {part}: {text}");
        }
    }
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&weir(args).stdout).expect("JSON")
    };
    let length = |value: &serde_json::Value| value.as_array().map(Vec::len);
    let all = json(&["compare", "ring-deadlock", "-q", "--json"]);
    assert_eq!(length(&all["runs"]), length(&json(&["schemes", "--json"])["flow-control"]));
}

#[test]
fn every_seed_of_the_scenario_is_run() {
    let set = ["--set", "run.seeds=[1,2,3]", "--set", "traffic.0.flows=60"];
    let args = |more: &[&'static str]| [&["run", "dumbbell", "-q"][..], &set, more].concat();
    let value: serde_json::Value = serde_json::from_str(&stdout(&args(&["--json"]))).expect("JSON");
    let seeds: Vec<_> =
        value["runs"].as_array().expect("runs").iter().map(|r| &r["seed"]).collect();
    assert_eq!(seeds, [1, 2, 3]);
    let text = stdout(&args(&[]));
    for part in ["3 seeds", "seed 1: ", "seed 3: ", "confidence"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let one: serde_json::Value =
        serde_json::from_str(&stdout(&args(&["--json", "--seed", "2"]))).expect("JSON");
    assert_eq!(one["digest"], value["runs"][1]["digest"]);
}

#[test]
fn unfinished_flows_are_said_to_be_left_out() {
    let text = stdout(&["run", "incast", "-q", "--set", "run.until=600us"]);
    assert!(text.contains("of 8 flows unfinished"), "{text}");
}

/// Whoever reads our output may stop at any time: that is no error.
#[test]
#[cfg(unix)]
fn a_closed_pipe_is_no_error() {
    for args in [
        &["traffic", "dumbbell"][..],
        &["schema"],
        &["man"],
        &["completions", "bash"],
        &["--generate", "scenario-reference"],
        &["run", "incast"],
        &["run", "incast", "--json"],
        &["compare", "incast"],
        &["scenarios", "incast"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(args).stdin(Stdio::null()).stdout(writer);
        let output = command.output().expect("the program can be started");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {text}");
        assert!(!text.contains("error") && !text.contains("panic"), "{args:?}: {text}");
        // the same with messages
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer);
        assert_eq!(command.status().expect("it can be started").code(), Some(0), "{args:?}");
    }
}

#[test]
fn a_scenario_comes_from_standard_input_too() {
    let text = stdout(&["scenarios", "incast"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(["run", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program can be started");
    let mut pipe = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut pipe, text.as_bytes()).expect("it reads");
    drop(pipe);
    let output = child.wait_with_output().expect("a child");
    let digest = |bytes: &[u8]| {
        serde_json::from_slice::<serde_json::Value>(bytes).expect("JSON")["digest"].clone()
    };
    assert_eq!(digest(&output.stdout), digest(stdout(&["run", "incast", "--json"]).as_bytes()));
}

/// Names never reach a terminal or a spreadsheet as commands.
#[test]
fn names_that_are_commands_are_refused() {
    for (set, part) in [
        ("traffic.0.class=\"\\u001b[31mred\"", "control character"),
        ("traffic.0.class==1+1", "read it as a formula"),
        ("title=\"\\u0007\"", "control characters"),
    ] {
        let output = weir(&["run", "incast", "--set", set]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{set}: {text}");
        assert!(
            text.contains(part) && !text.contains('\u{1b}') && !text.contains('\u{7}'),
            "{text}"
        );
    }
    let output = weir(&["run", "\u{1b}[31mno-such", "--out", "\u{1b}[31m"]);
    assert!(!output.stderr.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_cannot_be_done_within_the_clock_is_refused_at_once() {
    for (set, part) in [
        // 1 TB at 100 Gb/s takes 80 s
        ("traffic.0.size=1TB", "a flow of 1 TB cannot finish within"),
        // eight flows of 200 GB into one link of 100 Gb/s take 128 s, one takes 16 s
        ("traffic.0.size=200GB", "the flows of `h0` cannot finish within"),
    ] {
        let output = weir(&["run", "incast", "--set", set]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{set}: {text}");
        assert!(text.contains(part), "{text}");
    }
    // with an end of its own, a run may leave them unfinished
    let args = ["run", "incast", "-q", "--set", "traffic.0.size=1TB", "--set", "run.until=10us"];
    assert_eq!(code(&args), 0);
}

/// A scenario in a directory of its own: `kind` and size of the network, and one small flow.
fn one_flow(name: &str, topology: &str, more: &str) -> String {
    let file = scratch(name).join("scenario.toml");
    let text = format!(
        "[topology]\n{topology}\n{more}\n[[traffic]]\nkind = \"flow\"\nfrom = \"h0\"\n\
         to = \"h1\"\nsize = \"2KB\"\n"
    );
    fs::write(&file, text).expect("the scratch directory can be written to");
    file.to_str().expect("a path in ASCII").to_owned()
}

#[test]
fn a_congestion_control_that_got_no_signal_is_named_by_run_and_compare() {
    let file = one_flow("no-signal", "kind = \"star\"\nhosts = 2", "");
    let run = stdout(&["run", &file, "--cc", "dcqcn"]);
    assert!(run.contains("warning: dcqcn got no marks"), "{run}");
    let compare = stdout(&["compare", &file, "--cc", "dcqcn", "--schemes", "pfc"]);
    assert!(compare.contains("dcqcn got no marks"), "{compare}");
    let none = stdout(&["run", &file]);
    assert!(!none.contains("got no"), "{none}");
}

#[test]
fn threads_that_are_forced_on_small_windows_warn() {
    let file = one_flow("threads", "kind = \"leaf-spine\"\nleaves = 2\nspines = 1", "");
    let forced = weir(&["run", &file, "--threads", "2!"]);
    let told = String::from_utf8_lossy(&forced.stderr).into_owned();
    assert!(forced.status.success() && told.contains("2 threads are forced"), "{told}");
    let plain = weir(&["run", &file]);
    assert!(!String::from_utf8_lossy(&plain.stderr).contains("forced"), "{plain:?}");
}

#[test]
fn check_looks_at_the_congestion_control_it_is_given() {
    let off = "[switch]\necn = \"off\"\n[link]\nresponse = \"802.1Qbb\"";
    let file = one_flow("check-cc", "kind = \"star\"\nhosts = 2", off);
    for args in [&["check", &file, "--cc", "dcqcn"][..], &["run", &file, "--cc", "dcqcn"]] {
        let told = String::from_utf8_lossy(&weir(args).stderr).into_owned();
        assert!(
            told.contains("`dcqcn` cannot receive ECN marks: no switch marks"),
            "{args:?}: {told}"
        );
    }
    assert!(stdout(&["check", &file, "--cc", "dctcp"]).contains("dctcp"));
    assert!(stdout(&["check", &file, "--scheme", "flowsail"]).contains("FlowSail (queues"));
    let json = stdout(&["check", &file, "--cc", "dcqcn", "--json"]);
    assert!(json.contains("cannot receive ECN marks"), "{json}");
    assert!(weir(&["check", &file]).stderr.is_empty());
    assert_eq!(code(&["check", &file, "--cc", "cubic"]), 2);
}

/// What `--variant`, `--columns` and `--sizes` say when they make no sense.
#[test]
fn variants_columns_and_sizes_that_make_no_sense_are_refused() {
    for (args, part) in [
        (&["--variant", "x: bcf, queues=3"][..], "there is no scheme `bcf`"),
        (&["--variant", "x: bfc, queue=3"], "did you mean `queues`?"),
        (&["--variant", "x: bfc, queues=0"], "--variant:1:"),
        (&["--variant", "x: bfc, 3"], "a variant is `LABEL: SCHEME, KEY=VALUE, ...`"),
        (&["--variant", "x: bfc", "--variant", "x: pfc"], "two variants have the label `x`"),
        (&["--variant", "x: pfc, switch.bufer=1MB"], "did you mean `buffer`?"),
        (&["--variant", "x: pfc, cc=cubic"], "there is no congestion control `cubic`"),
        (&["--variant", "x: pfc, traffic.0.class=other"], "has other classes of traffic"),
        (&["--schemes", "pfc,pfc"], "two variants have the label `PFC`"),
        (&["--columns", "slowdown_p98"], "did you mean `slowdown_p9"),
        (&["--columns", "deadlock,nobody:slowdown_p99"], "no traffic has the class `nobody`"),
        (&["--columns", "slowdown_p99@0..1KB"], "not a range of `sizes` in `[report]`"),
        (&["--columns", "incast:deadlock"], "is a metric of the whole run"),
        (&["--set", "report.sizes=[\"5KB..1KB\"]"], "the range `5KB..1KB` is empty"),
    ] {
        let output = weir(&[&["compare", "incast"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
    let many: Vec<String> = (0..101).map(|n| format!("v{n}: pfc")).collect();
    let many: Vec<&str> = many.iter().flat_map(|v| ["--variant", v]).collect();
    let output = weir(&[&["compare", "incast"][..], &many].concat());
    assert!(String::from_utf8_lossy(&output.stderr).contains("at most 100 can be compared"));
}

#[test]
fn variants_are_rows_of_the_table_the_files_and_the_run() {
    let base = scratch("variants");
    let out = base.join("out");
    let out = out.to_str().expect("text");
    let variants = ["--variant", "BFC-4Q: bfc, queues=4", "--variant", "BFC-32Q: bfc, queues=32"];
    let args = [&["compare", "incast", "--seeds", "1,2", "--out", out][..], &variants].concat();
    let text = stdout(&args);
    assert!(text.contains("BFC-4Q ") && text.contains("vs BFC-4Q"), "{text}");
    let flows = fs::read_to_string(Path::new(out).join("flows.csv")).expect("a table");
    assert!(flows.starts_with("variant,scheme,seed,") && flows.contains("\nBFC-32Q,bfc,2,"));
    let file = format!("{out}/flows.csv");
    let by_size = stdout(&["fct", &file, "--sizes", "0..100KB,100KB.."]);
    assert!(by_size.contains("BFC-32Q") && by_size.contains("Means over seeds"), "{by_size}");
    assert_eq!(code(&["fct", &file, "--sizes", "100KB..1KB"]), 2);
    let run = stdout(&["run", "incast", "--variant", "BFC-4Q: bfc, queues=4"]);
    assert!(run.contains("BFC-4Q"), "{run}");
    let figure = base.join("f.csv");
    let figure = figure.to_str().expect("text");
    let args = [&["compare", "incast", "--figure", "fct", "-o", figure][..], &variants].concat();
    stdout(&args);
    assert!(fs::read_to_string(figure).expect("a figure").contains("BFC-32Q"));
    let columns = stdout(&["compare", "--columns", "list"]);
    assert!(columns.contains("slowdown_p99") && columns.contains("[CLASS:]METRIC[@SIZES]"));
}
