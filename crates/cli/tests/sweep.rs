//! `weir sweep` from outside: whatever happens to workers and files, no finished run is lost, none
//! counts twice, and the table is that of an undisturbed sweep, byte for byte.

mod common;

use common::{command, scratch, stdout, weir};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use weir_sweep::record::Record;

/// Runs of a few milliseconds: some drain, some deadlock.
const GRID: &str = "scenario = \"scenario.toml\"\nseeds = \"1..40\"\n[parameters]\n\
    size = { key = \"traffic.0.size\", values = [\"20KB\", \"200KB\"] }\n\
    [[variant]]\nscheme = \"pfc\"\n[[variant]]\nlabel = \"OFC\"\nscheme = \"ofc\"\n";

const SCENARIO: &str = "[topology]\nkind = \"star\"\nhosts = 6\nrate = \"40Gbps\"\ndelay = \
     \"20ns\"\n\
    [[traffic]]\nkind = \"poisson\"\nclass = \"p\"\nload = \"60%\"\nsize = \"20KB\"\n\
    [run]\ntraffic-until = \"200us\"\n";

/// Writes grid and scenario into `dir` and plans `dir`/sweep.
fn plan(dir: &Path) -> String {
    plan_of(dir, GRID)
}

fn plan_of(dir: &Path, text: &str) -> String {
    fs::write(dir.join("grid.toml"), text).expect("written");
    fs::write(dir.join("scenario.toml"), SCENARIO).expect("written");
    let (grid, sweep) = (dir.join("grid.toml"), dir.join("sweep"));
    stdout(&["-q", "sweep", "plan", grid.to_str().unwrap(), "-o", sweep.to_str().unwrap()]);
    sweep.to_str().expect("a path that is text").to_owned()
}

fn tables(sweep: &str) -> [Vec<u8>; 2] {
    stdout(&["-q", "sweep", "merge", sweep]);
    ["runs.csv", "classes.csv"].map(|f| fs::read(Path::new(sweep).join(f)).expect("a table"))
}

/// The tables of a sweep that nobody disturbed.
fn undisturbed(name: &str) -> [Vec<u8>; 2] {
    let sweep = plan(&scratch(&format!("sweep-{name}")));
    stdout(&["-q", "sweep", "run", &sweep]);
    tables(&sweep)
}

fn status(sweep: &str) -> serde_json::Value {
    let output = weir(&["sweep", "status", sweep, "--json"]);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn record_files(sweep: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(sweep).join("results")).expect("results");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("entry").path()).collect();
    files.sort();
    files
}

fn worker(sweep: &str, jobs: &str) -> Child {
    let mut command = command(&["-q", "sweep", "run", sweep, "--jobs", jobs]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program can be started")
}

/// Numbers that differ from call to call but not from test run to test run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn a_plan_is_the_same_every_time_and_so_are_its_ids() {
    let (a, b) = (plan(&scratch("sweep-plan-a")), plan(&scratch("sweep-plan-b")));
    let read = |dir: &str| fs::read(Path::new(dir).join("plan.jsonl")).expect("a plan");
    assert_eq!(read(&a), read(&b));
}

/// A limit of the size of files kills each worker at a chosen byte of its file of records, in the
/// middle of a record: SIGXFSZ ends a process that writes beyond it. The limit counts blocks of 512
/// bytes, so how far a worker gets depends on nothing else.
#[cfg(unix)]
#[test]
fn workers_killed_at_fifty_random_points_lose_nothing() {
    use std::os::unix::process::ExitStatusExt;
    /// The number of the signal on Linux and macOS.
    const SIGXFSZ: i32 = 25;
    let grid = GRID.replace("1..40", "1..150");
    let expected = {
        let sweep = plan_of(&scratch("sweep-killed-reference"), &grid);
        stdout(&["-q", "sweep", "run", &sweep]);
        tables(&sweep)
    };
    let sweep = plan_of(&scratch("sweep-killed"), &grid);
    // Records have 1.2 to 1.6 KB: 8 to 27 blocks hold two to eleven of them, and 50 files of 17
    // blocks on average 350 of the 600 records. So every worker finishes a record, and none comes
    // to the end.
    let mut dice = Dice(7);
    let mut done = 0;
    for round in 0..50 {
        let blocks = 8 + dice.below(20);
        let weir = env!("CARGO_BIN_EXE_weir");
        let run = format!("exec {weir} -q sweep run {sweep} --jobs 2");
        let script = format!("ulimit -c 0; ulimit -f {blocks}; {run}");
        let status = Command::new("sh").args(["-c", &script]).status().expect("a shell");
        assert_eq!(status.signal(), Some(SIGXFSZ), "round {round}: {status}");
        let now = self::status(&sweep)["done"].as_u64().expect("a number");
        assert!(now > done, "round {round}: {done} runs were done and now {now}");
        done = now;
    }
    stdout(&["-q", "sweep", "run", &sweep]);
    assert_eq!(tables(&sweep), expected);
}

/// Bytes in the files of records of a sweep.
fn written(sweep: &str) -> u64 {
    let size = |path: PathBuf| fs::metadata(path).map_or(0, |m| m.len());
    record_files(sweep).into_iter().map(size).sum()
}

/// A worker that is killed as soon as its first records are on the disk, or before that: what it
/// has written stays. How many it gets to write depends on the machine, the outcome does not.
#[test]
fn workers_killed_while_they_run_lose_nothing() {
    let expected = undisturbed("runs-reference");
    let sweep = plan(&scratch("sweep-runs"));
    let mut done = 0;
    for round in 0..10 {
        let before = written(&sweep);
        let mut child = worker(&sweep, "2");
        while round % 3 > 0
            && written(&sweep) == before
            && child.try_wait().expect("a child").is_none()
        {
            std::thread::yield_now();
        }
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
        let now = status(&sweep)["done"].as_u64().expect("a number");
        assert!(now >= done, "round {round}: {done} runs were done and now {now}");
        done = now;
    }
    assert!(done > 0);
    stdout(&["-q", "sweep", "run", &sweep]);
    assert_eq!(tables(&sweep), expected);
}

#[test]
fn damaged_and_truncated_files_cost_the_damaged_records_only() {
    let expected = undisturbed("damaged-reference");
    let sweep = plan(&scratch("sweep-damaged"));
    stdout(&["-q", "sweep", "run", &sweep]);
    let [file] = &record_files(&sweep)[..] else { panic!("one worker has one file") };
    let whole = fs::read(file).expect("records");
    let records = whole.iter().filter(|b| **b == b'\n').count() as u64;
    assert_eq!(records, 160);
    let mut dice = Dice(3);
    for round in 0..20 {
        let mut bytes = whole.clone();
        let at = dice.below(whole.len() as u64) as usize;
        let lost = match round % 3 {
            0 => {
                bytes.truncate(at);
                records - bytes.iter().filter(|b| **b == b'\n').count() as u64
            }
            1 => {
                bytes[at] ^= 0x10;
                // a line end that is gone takes two records with it
                if whole[at] == b'\n' { 2 } else { 1 }
            }
            _ => {
                let rest = bytes.split_off(at);
                bytes.extend(b"garbage \xff\x00\n");
                bytes.extend(rest);
                1
            }
        };
        fs::write(file, &bytes).expect("written");
        let status = status(&sweep);
        let missing = status["missing"].as_u64().expect("a number");
        assert!(missing <= lost, "round {round}: {missing} missing, {lost} damaged");
    }
    fs::write(file, &whole[..whole.len() / 2]).expect("written");
    let text = String::from_utf8(weir(&["sweep", "status", &sweep]).stdout).expect("text");
    assert!(text.contains("not run yet") && text.contains("cut off"), "{text}");
    assert_eq!(weir(&["-q", "sweep", "merge", &sweep]).status.code(), Some(1));
    stdout(&["-q", "sweep", "run", &sweep]);
    assert_eq!(tables(&sweep), expected);
}

#[test]
fn two_workers_of_one_shard_count_every_run_once() {
    let expected = undisturbed("two-reference");
    let sweep = plan(&scratch("sweep-two"));
    let mut workers: Vec<Child> = (0..3).map(|_| worker(&sweep, "1")).collect();
    for worker in &mut workers {
        assert!(worker.wait().expect("it has ended").success());
    }
    // the second waits for the first and finds nothing to do
    assert_eq!(record_files(&sweep).len(), 1);
    assert_eq!(tables(&sweep), expected);
}

#[test]
fn shards_of_any_division_in_any_order_give_the_same_bytes() {
    let expected = undisturbed("shards-reference");
    let sweep = plan(&scratch("sweep-shards"));
    for shard in ["4/7", "2/7", "0/7", "1/3", "6/7"] {
        stdout(&["-q", "sweep", "run", &sweep, "--shard", shard]);
    }
    let partial = status(&sweep)["done"].as_u64().expect("a number");
    assert!((90..160).contains(&partial), "{partial}");
    for (variables, code) in [
        (&[("WEIR_SHARD_INDEX", "1"), ("WEIR_SHARD_COUNT", "2")][..], 0),
        (&[("JOB_COMPLETION_INDEX", "0"), ("WEIR_SHARD_COUNT", "2")], 0),
        (&[("WEIR_SHARD_INDEX", "2"), ("WEIR_SHARD_COUNT", "2")], 2),
    ] {
        let mut run = command(&["-q", "sweep", "run", &sweep]);
        let status = run.envs(variables.iter().copied()).status().expect("started");
        assert_eq!(status.code(), Some(code), "{variables:?}");
    }
    assert_eq!(tables(&sweep), expected);
}

/// The limit of the size of files stands for a full disk: writes fail in the middle of a record.
#[cfg(unix)]
#[test]
fn a_full_disk_stops_the_worker_and_loses_nothing() {
    let expected = undisturbed("full-reference");
    let sweep = plan(&scratch("sweep-full"));
    let weir = env!("CARGO_BIN_EXE_weir");
    let script = format!("trap '' XFSZ; ulimit -f 40; exec {weir} -q sweep run {sweep} --jobs 2");
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(errors.contains("finished runs are kept"), "{errors}");
    let first = status(&sweep);
    assert!(first["missing"].as_u64().expect("a number") > 0, "{first}");
    stdout(&["-q", "sweep", "run", &sweep]);
    assert_eq!(tables(&sweep), expected);
}

/// Two machines that share no disk: each runs a share in a copy of the planned directory.
#[test]
fn directories_of_two_machines_are_merged_into_one() {
    let expected = undisturbed("united-reference");
    let base = scratch("sweep-united");
    let planned = plan(&base);
    let place = |name: &str| base.join(name).to_str().expect("text").to_owned();
    let [a, b, c, out] = ["a", "b", "c", "out"].map(place);
    for (dir, shard) in [(&a, "0/3"), (&b, "1/3"), (&c, "2/3")] {
        copy(Path::new(&planned), Path::new(dir));
        stdout(&["-q", "sweep", "run", dir, "--shard", shard]);
    }
    // both have some of the runs of the third
    stdout(&["-q", "sweep", "run", &b, "--shard", "0/6"]);
    let output = weir(&["-q", "sweep", "merge", &a, &b]);
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.code() == Some(2) && errors.contains("-o OUT"), "{errors}");
    // incomplete: what there is has been put together, and can be continued
    assert_eq!(weir(&["-q", "sweep", "merge", &a, &b, "-o", &out]).status.code(), Some(1));
    // 160 runs: 54 + 53 of the shares, those of 0/6 are among the first
    assert_eq!(status(&out)["done"].as_u64(), Some(107));
    let shown = weir(&["sweep", "merge", &c, &a, "-o", &out]);
    let shown = String::from_utf8(shown.stderr).expect("text");
    let said = "160 runs with a result in 2 directories, 54 of them in several; 53 records added";
    assert!(shown.contains(said), "{shown}");
    assert_eq!(tables(&out), expected);
    // once more: nothing new
    let before = record_files(&out);
    stdout(&["-q", "sweep", "merge", &a, &b, &c, "-o", &out]);
    assert_eq!((record_files(&out), tables(&out)), (before, expected));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a directory") {
        let path = entry.expect("entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).expect("copied")),
        }
    }
}

#[test]
fn directories_of_different_plans_or_results_are_not_merged() {
    let base = scratch("sweep-apart");
    let planned = plan(&base);
    let place = |name: &str| base.join(name).to_str().expect("text").to_owned();
    let [a, b, out] = ["a", "b", "out"].map(place);
    copy(Path::new(&planned), Path::new(&a));
    copy(Path::new(&planned), Path::new(&b));
    for dir in [&a, &b] {
        stdout(&["-q", "sweep", "run", dir, "--shard", "0/40"]);
    }
    // another result of the same run, with a checksum that is right
    let [file] = &record_files(&b)[..] else { panic!("one worker has one file") };
    let text = fs::read_to_string(file).expect("records");
    let lines = text.lines().flat_map(|line| {
        let record = Record::parse(line.as_bytes()).expect("a record");
        let json = serde_json::to_string(&record).expect("JSON");
        let other = json.replace("\"drained\"", "\"stalled\"");
        assert_ne!(other, json);
        serde_json::from_str::<Record>(&other).expect("a record").line()
    });
    fs::write(file, lines.collect::<Vec<u8>>()).expect("written");
    let refused = |args: &[&str], part: &str| {
        let output = weir(args);
        let errors = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(part) && !Path::new(&out).exists(), "{errors}");
    };
    refused(&["-q", "sweep", "merge", &a, &b, "-o", &out], "KB, seed 1 (");
    refused(&["-q", "sweep", "merge", &a, &b, "-o", &out], "differ, in ");
    let other = plan_of(&scratch("sweep-apart-other"), &GRID.replace("1..40", "1..41"));
    refused(&["-q", "sweep", "merge", &a, &other, "-o", &out], "have different plans");
}

#[test]
fn what_is_no_sweep_is_called_so() {
    let dir = scratch("sweep-no-sweep");
    fs::write(dir.join("grid.toml"), GRID).expect("written");
    let (path, missing, file) = (dir.clone(), dir.join("missing"), dir.join("grid.toml"));
    for (path, part) in [
        (&path, "is not the directory of a sweep: it has no plan.jsonl"),
        (&missing, "there is no directory"),
        (&file, "is a file and not the directory of a sweep"),
    ] {
        for verb in ["run", "status", "merge", "retry"] {
            let output = weir(&["sweep", verb, path.to_str().expect("text")]);
            let errors = String::from_utf8(output.stderr).expect("text");
            assert_eq!(output.status.code(), Some(2), "{errors}");
            assert!(errors.contains(part) && errors.contains("weir sweep plan"), "{errors}");
            // it does not speak of runs
            assert!(!errors.contains("kept"), "{errors}");
        }
    }
    assert!(!missing.exists(), "nothing was made");
}

#[test]
fn changed_inputs_are_not_run() {
    let sweep = plan(&scratch("sweep-changed"));
    stdout(&["-q", "sweep", "run", &sweep, "--limit", "1", "--jobs", "1"]);
    let scenario = Path::new(&sweep).join("input/scenario.toml");
    fs::write(&scenario, SCENARIO.replace("60%", "61%")).expect("written");
    let output = weir(&["-q", "sweep", "run", &sweep]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(errors.contains("is not what was planned"), "{errors}");
}

#[test]
fn a_grid_that_grows_keeps_its_results() {
    let dir = scratch("sweep-grows");
    let sweep = plan(&dir);
    stdout(&["-q", "sweep", "run", &sweep]);
    fs::write(dir.join("grid.toml"), GRID.replace("1..40", "1..50")).expect("written");
    let grid = dir.join("grid.toml");
    stdout(&["-q", "sweep", "plan", grid.to_str().unwrap(), "-o", &sweep]);
    let status = status(&sweep);
    assert_eq!((status["done"].as_u64(), status["missing"].as_u64()), (Some(160), Some(40)));
}

/// A failed run is listed with the command that repeats it, is not tried again by itself, and is
/// after `retry`.
#[test]
fn failures_are_listed_and_retried_when_asked() {
    let dir = scratch("sweep-fails");
    // G-PFC needs two PFC classes for each lossless priority, so five of them are refused when the
    // run begins
    let scenario = "[topology]\nkind = \"star\"\nhosts = 3\n[switch]\nlossless = [1, 2, 3, 4, 5]\n\
        [flow-control]\nscheme = \"gpfc\"\n[[traffic]]\nkind = \"flow\"\nfrom = \"h0\"\n\
        to = \"h1\"\nsize = \"1KB\"\n";
    fs::write(dir.join("s.toml"), scenario).expect("written");
    fs::write(dir.join("g.toml"), "scenario = \"s.toml\"\nseeds = [1]\n").expect("written");
    let (grid, sweep) = (dir.join("g.toml"), dir.join("sweep"));
    let sweep = sweep.to_str().unwrap();
    stdout(&["-q", "sweep", "plan", grid.to_str().unwrap(), "-o", sweep]);
    for (round, failed) in [(0, 1), (1, 1)] {
        stdout(&["-q", "sweep", "run", sweep]);
        let status = status(sweep);
        let list = status["failed"].as_array().expect("a list");
        assert_eq!(list.len(), failed, "round {round}: {status}");
        let command = list[0]["command"].as_str().expect("text");
        assert!(command.starts_with("weir run ") && command.contains("--seed 1"), "{command}");
        assert_eq!(record_files(sweep).len(), 1, "a failure is not tried again by itself");
    }
    stdout(&["-q", "sweep", "retry", sweep]);
    assert_eq!(status(sweep)["missing"].as_u64(), Some(1));
    stdout(&["-q", "sweep", "run", sweep]);
    assert_eq!(status(sweep)["failed"].as_array().map(Vec::len), Some(1));
    assert_eq!(record_files(sweep).len(), 3);
}

#[test]
fn bad_grids_are_shown_with_line_and_caret() {
    let dir = scratch("sweep-bad");
    fs::write(dir.join("scenario.toml"), SCENARIO).expect("written");
    let grid = dir.join("grid.toml");
    let head = "scenario = \"scenario.toml\"\n";
    for (text, title, line) in [
        ("scenari = \"x\"\n", "unknown key `scenari`", 1),
        ("scenario = \"nowhere.toml\"\n", "cannot read", 1),
        (&format!("{head}seeds = \"5..1\"\n"), "not a range of seeds", 2),
        (&format!("{head}seeds = []\n"), "no seeds", 2),
        (
            &format!("{head}[parameters]\na = {{ key = \"switch.buffer\", values = [] }}\n"),
            "no values",
            3,
        ),
        (
            &format!("{head}[parameters]\na = {{ key = \"switch.bufer\", values = [1] }}\n"),
            "unknown key `bufer`",
            3,
        ),
        (
            &format!(
                "{head}[parameters]\na = {{ key = \"switch.buffer\", values = [\"1MB\", \"soup\"] \
                 }}\n"
            ),
            "soup",
            3,
        ),
        (
            &format!("{head}[parameters]\na = {{ key = \"traffic.9.size\", values = [1] }}\n"),
            "no entry `9`",
            3,
        ),
        (
            &format!(
                "{head}[parameters]\na = {{ key = \"switch.buffer\", from = \"1MB\", to = \"1MB\", \
                 steps = 2 }}\n"
            ),
            "empty",
            3,
        ),
        (
            &format!(
                "{head}[parameters]\na = {{ key = \"traffic.0.kind\", from = \"poisson\", to = \
                 \"flow\", steps = 2 }}\n"
            ),
            "not a number",
            3,
        ),
        (
            &format!(
                "{head}[parameters]\na = {{ key = \"traffic.0.kind\", from = 1, to = 4, steps = 2 \
                 }}\n"
            ),
            "kind",
            3,
        ),
        (
            &format!(
                "{head}[parameters]\na = {{ key = \"switch.buffer\", from = \"1MB\", to = \"1ms\", \
                 steps = 2 }}\n"
            ),
            "different quantities",
            3,
        ),
        (&format!("{head}[[variant]]\nscheme = \"pcf\"\n"), "no scheme `pcf`", 3),
        (&format!("{head}[[variant]]\nscheme = \"ofc\"\nflow-kye = \"pair\"\n"), "flow-kye", 4),
        (&format!("{head}[sample]\nkind = \"latin\"\n"), "`latin` is not a value of `kind`", 3),
    ] {
        fs::write(&grid, text).expect("written");
        let out = dir.join("out");
        let output = weir(&["sweep", "plan", grid.to_str().unwrap(), "-o", out.to_str().unwrap()]);
        let errors = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{text}{errors}");
        assert!(errors.contains(title), "{text}{errors}");
        assert!(
            errors.contains(&format!("grid.toml:{line}:")) && errors.contains('^'),
            "{text}{errors}"
        );
        assert!(!out.exists(), "a bad grid leaves nothing behind");
    }
}

#[test]
fn a_million_runs_are_asked_for_twice() {
    let dir = scratch("sweep-million");
    fs::write(dir.join("scenario.toml"), SCENARIO).expect("written");
    let grid = dir.join("grid.toml");
    let text = "scenario = \"scenario.toml\"\nseeds = \"1..1000\"\n[parameters]\n\
        a = { key = \"switch.buffer\", from = \"1MB\", to = \"9MB\", steps = 1000 }\n";
    fs::write(&grid, text).expect("written");
    let out = dir.join("out");
    let output = weir(&["sweep", "plan", grid.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    let errors = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("1000000 runs") && errors.contains("--yes"), "{errors}");
    assert!(errors.contains("1 variants x 1000 points x 1000 seeds"), "{errors}");
}
