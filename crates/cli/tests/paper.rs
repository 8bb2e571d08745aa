//! `weir paper` from outside, on the example of the book: runs are made once, go on after a crash,
//! and give the same verdicts whatever happened; mistakes in files are shown with their line.

mod common;

use common::{code_and_text, command, my_paper, ok, scratch, text};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A copy of the example in which files may be changed.
fn copy(name: &str) -> (PathBuf, PathBuf) {
    let dir = scratch(&format!("paper-{name}"));
    let paper = dir.join("paper");
    fs::create_dir(&paper).expect("made");
    for entry in fs::read_dir(my_paper()).expect("the example") {
        let entry = entry.expect("readable");
        fs::copy(entry.path(), paper.join(entry.file_name())).expect("copied");
    }
    (paper, dir.join("out"))
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).expect("read");
    assert!(text.contains(from), "{from:?} is not in {}", file.display());
    fs::write(file, text.replace(from, to)).expect("written");
}

/// The tables below a directory, by path.
fn tables(out: &Path) -> BTreeMap<String, Vec<u8>> {
    files(out, &["csv"])
}

/// The files with these endings below a directory, by path.
fn files(out: &Path, endings: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![out.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| endings.iter().any(|known| e == *known)) {
                let name = path.strip_prefix(out).expect("below").display().to_string();
                found.insert(name, fs::read(&path).expect("read"));
            }
        }
    }
    found
}

#[test]
fn a_paper_of_ones_own_is_run_and_judged_the_same_by_one_and_two_jobs() {
    let dir = scratch("paper-jobs");
    let (example, one, two) = (my_paper(), dir.join("one"), dir.join("two"));
    let run = |out: &Path, jobs| {
        ok(&["paper", "run", text(&example), "--out", text(out), "--jobs", jobs])
    };
    let shown = run(&one, "1");
    assert!(shown.contains("8 of 8 runs done"), "{shown}");
    assert!(shown.contains("quick: 1 ms of traffic instead of 4"), "{shown}");
    assert!(shown.contains("only in full"), "the middle degree is left out: {shown}");
    assert!(shown.contains("not measured"), "{shown}");
    run(&two, "2");
    let tables = (tables(&one), tables(&two));
    assert_eq!(tables.0, tables.1);
    let (figures, names): (Vec<&str>, Vec<&str>) =
        tables.0.keys().map(String::as_str).partition(|n| n.starts_with("quick/figures/"));
    assert_eq!(figures, ["quick/figures/my-1-fct.csv", "quick/figures/my-2-share.csv"]);
    let page = |out: &Path| fs::read_to_string(out.join("quick/index.html")).expect("a page");
    assert_eq!(page(&one), page(&two));
    let of = |experiment: &str, names: &[&str]| {
        names.iter().map(|n| format!("quick/my-paper/{experiment}/{n}.csv")).collect::<Vec<_>>()
    };
    let first = of("my-1", &["classes", "ports", "runs", "state", "verdicts"]);
    assert_eq!(names, [first, of("my-2", &["shares", "verdicts"])].concat());
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_tables() {
    let dir = scratch("paper-killed");
    let (example, whole, killed) = (my_paper(), dir.join("whole"), dir.join("killed"));
    let args = |out| ["paper", "run", text(&example), "--full", "--jobs", "1", "--out", text(out)];
    ok(&args(&whole));
    let mut child = begun(&args(&killed), &killed);
    child.kill().expect("killed");
    child.wait().expect("gone");
    let shown = ok(&args(&killed));
    let before = shown.split("30 of 30 runs done: ").nth(1).expect("a summary");
    let before: usize = before.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(before > 0, "nothing was kept: {shown}");
    assert_eq!(tables(&whole), tables(&killed));
    // all is there: nothing is run again
    assert!(ok(&args(&killed)).contains("30 of 30 runs done: 30 before, 0 now"));
}

/// Who runs the experiments again publishes the same bytes, processor times apart.
#[test]
fn only_complete_full_runs_are_published_and_always_alike() {
    let dir = scratch("paper-published");
    let example = my_paper();
    let publish = |from: &Path, to: &Path| {
        code_and_text(&["paper", "publish", text(&example), "--from", text(from), "-o", text(to)])
    };
    let first = dir.join("first");
    let (code, shown) = publish(&first, &dir.join("none"));
    assert!(code == Some(2) && shown.contains("no full runs"), "{code:?} {shown}");
    assert!(!dir.join("none").exists());
    for (name, jobs) in [("first", "1"), ("second", "2")] {
        let out = dir.join(name);
        ok(&["paper", "run", text(&example), "--full", "--jobs", jobs, "--out", text(&out)]);
        let (code, shown) = publish(&out, &dir.join(format!("{name}-results")));
        assert_eq!(code, Some(0), "{shown}");
    }
    let published =
        |name: &str| files(&dir.join(format!("{name}-results")), &["csv", "svg", "txt", "md"]);
    let mut all = ["first", "second"].map(published);
    for name in [
        "my-1/verdicts.csv",
        "my-1/values.csv",
        "my-1/my-1-fct.svg",
        "my-1/runs.txt",
        "my-2/my-2-share.csv",
    ] {
        assert!(all[0].contains_key(&format!("my-paper/{name}")), "{:?}", all[0].keys());
    }
    // processor times stand in one file of their own
    all.iter_mut().for_each(|t| assert!(t.remove("times.csv").is_some()));
    assert_eq!(all[0].keys().collect::<Vec<_>>(), all[1].keys().collect::<Vec<_>>());
    for (name, bytes) in &all[0] {
        assert!(*bytes == all[1][name], "{name} differs");
    }
    pages_are_written_again(&dir.join("first-results"));
    claims_are_judged_again(&dir.join("first-results"), &all[0]);
    let runs = |name: &str| {
        let path = dir.join(format!("{name}-results/my-paper/my-1/runs.txt"));
        fs::read_to_string(path).expect("a hash")
    };
    assert_eq!(runs("first"), runs("second"));
    assert!(runs("first").starts_with("runs 30\nsha256 "));
    // drawings of a full run do not call themselves quick
    let page = fs::read_to_string(first.join("full/index.html")).expect("a page");
    assert!(page.contains("<svg") && page.contains("MY-1") && !page.contains("A quick run"));
}

/// Pages show what is published, and change with the texts alone.
fn pages_are_written_again(results: &Path) {
    let page = |name: &str| fs::read_to_string(results.join(name)).expect("a page");
    let before = page("my-paper.md");
    for part in [
        "## MY-1\n",
        "(my-paper/my-1/my-1-fct.svg)",
        "| guess 4 | Queues to hosts are at most 500 KB in the mean | at most 500 KB | PFC: ",
        "([rows](my-paper/my-1/values.csv))",
        "| Chips are not simulated | not measured |",
    ] {
        assert!(before.contains(part), "{part}: {before}");
    }
    assert!(page("README.md").contains("| [MY-1](my-paper.md#my-1) | Incasts between two racks"));
    let (paper, _) = copy("pages");
    let said = "[[discussion]]\nexperiment = \"MY-1\"\ntext = \"Said later.\"\n";
    fs::write(paper.join("discussion.toml"), said).expect("written");
    ok(&["paper", "publish", text(&paper), "--pages", "-o", text(results)]);
    assert!(page("my-paper.md").contains("Said later.\n"));
    ok(&["paper", "publish", text(&my_paper()), "--pages", "-o", text(results)]);
    assert_eq!(page("my-paper.md"), before);
    let (code, shown) = code_and_text(&["paper", "publish", "--pages", "-o", "no-such-directory"]);
    assert!(code == Some(2) && shown.contains("no-such-directory/experiments.csv"), "{shown}");
}

/// Verdicts, counts and pages follow from the published numbers alone, and change with them.
fn claims_are_judged_again(results: &Path, before: &BTreeMap<String, Vec<u8>>) {
    let published = || {
        let mut all = files(results, &["csv", "svg", "txt", "md"]);
        all.remove("times.csv");
        all
    };
    let verdicts = results.join("my-paper/my-1/verdicts.csv");
    fs::remove_file(&verdicts).expect("it was there");
    let shown = ok(&["paper", "judge", text(&my_paper()), "-o", text(results)]);
    assert!(shown.contains("2 experiments judged again"), "{shown}");
    assert!(published() == *before, "not what was published");
    // without the numbers the verdicts stay
    let values = results.join("my-paper/my-1/values.csv");
    let kept = fs::read(&values).expect("numbers");
    fs::remove_file(&values).expect("it was there");
    let shown = ok(&["paper", "judge", text(&my_paper()), "-o", text(results)]);
    assert!(shown.contains("1 experiment without values per seed"), "{shown}");
    assert!(fs::read(&verdicts).expect("verdicts") == before["my-paper/my-1/verdicts.csv"]);
    fs::write(&values, kept).expect("written");
    let table = ok(&["paper", "appendix", text(&my_paper()), "--from", text(results), "--csv"]);
    let heads = "paper,claim,where,says,reading,experiment,command,minutes,expected\n";
    assert!(table.starts_with(heads), "{table}");
    assert!(table.contains("weir paper run ") && table.contains(" --full,"), "{table}");
}

/// A run of which the first record is on the disk.
fn begun(args: &[&str], out: &Path) -> Child {
    let spawned = command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.expect("started");
    let results = out.join("full/my-paper/my-1/results");
    let written = || {
        let files = fs::read_dir(&results).ok()?;
        let sizes = files.map(|f| f.and_then(|f| f.metadata()).map_or(0, |m| m.len()));
        Some(sizes.sum::<u64>() > 0)
    };
    while written() != Some(true) && child.try_wait().expect("a child").is_none() {
        std::thread::yield_now();
    }
    child
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let out = scratch("paper-interrupted");
    let example = my_paper();
    // 20 000 runs: minutes at least, so that it is not over before the signal on any machine
    let seeds = ["--full", "--seeds", "5000", "--jobs", "1", "--out", text(&out)];
    let child = begun(&[&["paper", "run", text(&example)][..], &seeds].concat(), &out);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("the same command continues with the others"), "{errors}");
}

#[test]
fn seeds_and_single_experiments_can_be_chosen() {
    let out = scratch("paper-seeds");
    let file = my_paper().join("incast.toml");
    let shown = ok(&["paper", "run", text(&file), "--seeds", "1", "--out", text(&out)]);
    assert!(shown.contains("4 of 4 runs done"), "{shown}");
    assert!(!shown.contains("MY-2"), "{shown}");
    let (code, shown) = code_and_text(&["paper", "run", text(&file), "--seeds", "0"]);
    assert!(code == Some(2) && shown.contains("there would be no runs"), "{shown}");
}

#[test]
fn runs_that_two_experiments_have_are_made_once() {
    let (paper, out) = copy("twice");
    let again = fs::read_to_string(paper.join("incast.toml")).expect("read");
    fs::write(paper.join("again.toml"), again.replace("MY-1", "MY-3")).expect("written");
    replace(&paper.join("paper.toml"), "\"sizes\"", "\"sizes\", \"again\"");
    let shown = ok(&["paper", "run", text(&paper), "--out", text(&out)]);
    assert!(shown.contains("8 of 8 runs done: 0 before, 8 now"), "{shown}");
    let all = tables(&out);
    let runs = |id: &str| all[&format!("quick/my-paper/{id}/runs.csv")].clone();
    assert_eq!(runs("my-1"), runs("my-3"));
    let shown = ok(&["paper", "run", text(&paper), "--out", text(&out)]);
    assert!(shown.contains("0 now"), "{shown}");
}

#[test]
fn a_labelled_re_run_uses_the_runs_of_another_experiment() {
    let (paper, out) = copy("re-run");
    let text_of = "id = \"MY-TB\"\ntitle = \"The testbed\"\nshows = \"The same runs.\"\n\
        re-run-of = \"MY-1\"\n[[figure]]\nid = \"q\"\ntitle = \"Queue\"\nkind = \"bars\"\n\
        metric = \"queue_mean_bytes\"\nports = \"between\"\nat = { degree = 6 }\n";
    fs::write(paper.join("tb.toml"), text_of).expect("written");
    replace(&paper.join("paper.toml"), "\"sizes\"", "\"sizes\", \"tb\"");
    let claim = "\n[[claim]]\nid = \"tb\"\nexperiment = \"MY-TB\"\nsays = \"less\"\nkind = \
         \"ordering\"\n\
        metric = \"queue_mean_bytes\"\nports = \"between\"\nat = { degree = 6 }\norder = [\"OFC\", \
        \"PFC\"]\n";
    let claims = paper.join("claims.toml");
    fs::write(&claims, fs::read_to_string(&claims).expect("read") + claim).expect("written");
    let tb = paper.join("tb.toml");
    let shown = ok(&["paper", "run", text(&tb), "--out", text(&out)]);
    assert!(shown.contains("8 of 8 runs done") && shown.contains("MY-TB"), "{shown}");
    let names: Vec<String> = tables(&out).into_keys().collect();
    assert_eq!(names, ["quick/figures/my-tb-q.csv", "quick/my-paper/my-tb/verdicts.csv"]);
}

#[test]
fn a_claim_without_a_number_says_why_and_ends_with_one() {
    let (paper, out) = copy("missing");
    replace(&paper.join("claims.toml"), "flow_in_port_tab", "no_such_tab");
    let (code, shown) = code_and_text(&["paper", "run", text(&paper), "--out", text(&out)]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("missing: state: OFC (table no_such_tab), seed 1: no table"), "{shown}");
    assert!(shown.contains("1 missing"), "{shown}");
}

#[test]
fn a_cluster_gets_a_job_array_for_each_experiment() {
    let out = scratch("paper-slurm");
    let args = ["--engine", "slurm", "--tasks", "2", "--dry-run", "--out", text(&out)];
    let shown = ok(&[&["paper", "run", text(&my_paper())][..], &args].concat());
    assert!(shown.contains("array.sbatch"), "{shown}");
    let script =
        fs::read_to_string(out.join("quick/my-paper/my-1/array.sbatch")).expect("a script");
    assert!(script.contains("sweep run") && script.contains("--array=0-1"), "{script}");
}

#[test]
fn lists_and_rules_need_no_runs() {
    let example = my_paper();
    let list = ok(&["paper", "list", text(&example)]);
    for word in ["MY-1", "MY-2", "Incasts between two racks", "8", "30"] {
        assert!(list.contains(word), "{word}: {list}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&ok(&["paper", "list", text(&example), "--json"])).expect("JSON");
    assert_eq!(json[0]["experiments"][0]["runs_full"], 30);
    let rules = ok(&["paper", "claims", text(&example)]);
    assert!(rules.contains("reproduced if at most 500 KB with all of the interval"), "{rules}");
    assert!(rules.contains("outcomes reproduced, same direction, not reproduced"), "{rules}");
    let json: serde_json::Value =
        serde_json::from_str(&ok(&["paper", "claims", text(&example), "--json"])).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(7));
    assert!(ok(&["paper", "check", text(&example)]).contains("MY-1: quick 8 runs, full 30 runs"));
}

/// A discussion says why a claim is not reproduced; no result depends on it.
#[test]
fn claims_that_are_not_reproduced_need_a_discussion_and_it_costs_no_run() {
    let (paper, out) = copy("discussed");
    replace(&paper.join("claims.toml"), "paper = \"500KB\"", "paper = \"1B\"");
    let report = || ok(&["paper", "report", text(&paper), "--full", "--out", text(&out)]);
    let run = || ok(&["paper", "run", text(&paper), "--full", "--out", text(&out)]);
    run();
    let before = tables(&out);
    let shown = report();
    assert!(shown.contains("no discussion says why:\n    MY-1: queue"), "{shown}");
    let said = "[[discussion]]\nclaims = \"q*\"\ntitle = \"Queues\"\ntext = \"A byte is less than \
         a packet.\"\n\
        sensitivity = \"MY-2\"\n";
    fs::write(paper.join("discussion.toml"), said).expect("written");
    let shown = report();
    assert!(!shown.contains("no discussion"), "{shown}");
    assert!(run().contains("30 of 30 runs done: 30 before, 0 now"));
    assert_eq!(tables(&out), before);
    let page = fs::read_to_string(out.join("full/index.html")).expect("a page");
    assert!(page.contains("A byte is less than a packet.") && page.contains("my-paper-why-1"));
    fs::write(paper.join("discussion.toml"), said.replace("q*", "x*")).expect("written");
    let (code, shown) = code_and_text(&["paper", "check", text(&paper)]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("no claim is called `x*`") && shown.contains("discussion.toml:2"));
}

/// Texts are shortened and columns left out, so that no line is broken by the terminal.
#[test]
fn lists_and_verdicts_fit_the_terminal() {
    let out = scratch("paper-narrow");
    let example = my_paper();
    let narrow = |args: &[&str], columns: &str| {
        let output = command(args).env("COLUMNS", columns).output().expect("started");
        String::from_utf8(output.stdout).expect("text")
    };
    for columns in [60, 80, 100, 120] {
        let run = ["paper", "run", text(&example), "--out", text(&out)];
        for args in [&["paper", "list"][..], &run] {
            let shown = narrow(args, &columns.to_string());
            let table = shown.lines().filter(|line| line.starts_with("  "));
            for line in table.filter(|line| !line.starts_with("  quick:")) {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
            let kept = ["FS-F10c", "title", "quick", "full"];
            assert!(args.len() > 2 || kept.iter().all(|word| shown.contains(word)), "{shown}");
        }
    }
    assert!(narrow(&["paper", "list", "ofc"], "300").lines().all(|l| l.chars().count() <= 120));
}

/// A change of one file of the example, and what is said about it.
#[test]
fn mistakes_are_found_when_files_are_read() {
    let mistakes = [
        ("paper.toml", "\"sizes\"", "\"size\"", "`sizes.toml` is not among the experiments"),
        ("paper.toml", "id = \"my-paper\"", "id = \"My paper\"", "lower-case letters"),
        ("paper.toml", "short", "shrot", "did you mean `short`?"),
        ("incast.toml", "across = \"degree\"", "across = \"degre\"", "did you mean `degree`?"),
        ("incast.toml", "class = \"background\"", "class = \"backgruond\"", "`background`?"),
        ("incast.toml", "sizes = \"0..10KB\"", "sizes = \"0..1KB\"", "did you mean `0..10KB`?"),
        ("incast.toml", "fct_mean_ps", "fct_mean", "did you mean `fct_mean_ps`?"),
        ("incast.toml", "degree = [2, 6]", "dgree = [2, 6]", "did you mean `degree`?"),
        ("incast.toml", "says = ", "say = ", "`[quick]` needs `says`"),
        ("incast.toml", "kind = \"lines\"", "kind = \"line\"", "did you mean `lines`?"),
        ("incast.toml", "incast.scenario.toml", "incst.scenario.toml", "cannot read"),
        ("incast.toml", "across = \"degree\"\n", "", "lines need `across`"),
        ("incast.toml", "[quick]", "[qiuck]", "did you mean `quick`?"),
        (
            "incast.scenario.toml",
            "left -> right",
            "lfet -> right",
            "no switch port is `lfet -> right`",
        ),
        ("incast.scenario.toml", "\"* -> h*\"", "\"h*\"", "`h*` does not name ports"),
        ("incast.scenario.toml", "class = \"incast\"", "class = \"in\"", "no entry `incast`"),
        ("sizes.toml", "websearch", "websaerch", "did you mean `websearch`?"),
        ("sizes.toml", "40Gbps", "40Gbqs", "40Gbqs"),
        ("sizes.toml", "by = \"rate\"", "by = \"load\"", "no parameter of MY-2 `load`"),
        ("claims.toml", "experiment = \"MY-2\"", "experiment = \"MY-3\"", "no experiment `MY-3`"),
        (
            "claims.toml",
            "order = [\"OFC\", \"PFC\"]",
            "order = [\"OFC\", \"PCF\"]",
            "did you mean `PFC`?",
        ),
        ("claims.toml", "at = { degree = 4 }", "at = { degree = 5 }", "its values are 2, 4, 6"),
        ("claims.toml", "ports = \"down\"", "ports = \"donw\"", "did you mean `down`?"),
        ("claims.toml", "id = \"gain\"", "id = \"bystanders\"", "two claims are called"),
        ("claims.toml", "paper = \"500KB\"", "paper = \"500us\"", "wrong unit"),
        (
            "claims.toml",
            "fct_mean_ps\"\nclass",
            "fct_maen_ps\"\nclass",
            "did you mean `fct_mean_ps`?",
        ),
        (
            "claims.toml",
            "queue_mean_bytes\"\nports",
            "buffer_p99_bytes\"\nports",
            "it is a metric of runs: leave out",
        ),
        ("claims.toml", "order = [\"OFC\", \"PFC\"]", "order = [\"OFC\", \"OFC\"]", "with itself"),
        (
            "claims.toml",
            "kind = \"limit\"\nmetric = \"share_below_bdp\"\nof = \"mine\"\n\
             at = { rtt = \"4us\", rate = \"100Gbps\" }\nbound = \"least\"\npaper = \"50%\"",
            "kind = \"monotone\"\nmetric = \"share_below_bdp\"\nof = \"mine\"\n\
             at = { rtt = \"4us\" }\nover = \"rate\"\ndirection = \"rising\"",
            "this cannot fail: the share of flows below a size never falls",
        ),
        ("claims.toml", "against = \"PFC\"", "against = \"OFC\"", "compares `OFC` with itself"),
        ("claims.toml", "says = \"The gain", "says = \"=1+The gain", "read it as a formula"),
        ("claims.toml", "where = \"guess 2\"", "where = \"@guess\"", "read it as a formula"),
        ("claims.toml", "id = \"gain\"", "id = \"-gain\"", "read it as a formula"),
        ("claims.toml", "says = \"The gain", "says = \"\\u001b[2JThe gain", "U+001B"),
        ("claims.toml", "says = \"The gain", "says = \"\u{202e}The gain", "U+202E"),
        ("paper.toml", "short = \"", "short = \"\\u009b", "U+009B"),
        ("incast.toml", "title = \"Incasts", "title = \"\\u2066Incasts", "U+2066"),
        ("incast.toml", "title = \"all\"", "title = \"=all\"", "read it as a formula"),
        ("incast.toml", "id = \"MY-1\"", "id = \".\"", "begins with a letter or a digit"),
        ("incast.toml", "id = \"MY-1\"", "id = \"..\"", "begins with a letter or a digit"),
        ("paper.toml", "id = \"my-paper\"", "id = \"figures\"", "the directory of all figures"),
    ];
    for (number, (file, from, to, expected)) in mistakes.into_iter().enumerate() {
        let (paper, out) = copy(&format!("mistakes-{number}"));
        replace(&paper.join(file), from, to);
        for verb in [&["claims"][..], &["run", "--out", text(&out)]] {
            // what only resolving finds is found before anything is run
            let resolved = file.contains("scenario") && verb[0] == "claims";
            let verb = if resolved { &["check"][..] } else { verb };
            let (code, shown) = code_and_text(&[&["paper"], verb, &[text(&paper)]].concat());
            assert_eq!(code, Some(2), "{file}: {from} -> {to}: {shown}");
            assert!(shown.contains(expected), "{file}: {from} -> {to}: {shown}");
            assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{shown:?}");
            let place = format!("{}:", text(&paper.join(file)));
            let elsewhere = file.contains("scenario") || to == "\"size\"";
            assert!(shown.contains(&place) || elsewhere, "no place: {shown}");
        }
    }
}

/// A copy has the ids of its original: its results must not count as the original's.
#[test]
fn a_changed_copy_does_not_replace_the_results_of_the_original() {
    let (paper, out) = copy("changed-copy");
    let original = my_paper();
    let run = |paper: &Path| code_and_text(&["paper", "run", text(paper), "--out", text(&out)]);
    assert_eq!(run(&original).0, Some(0));
    let before = files(&out, &["csv", "html", "json"]);
    // files that are the same are the same paper, wherever they are
    let (code, shown) = run(&paper);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("8 before, 0 now"), "{shown}");
    assert_eq!(run(&original).0, Some(0), "and back");
    assert_eq!(files(&out, &["csv", "html", "json"]), before);

    replace(&paper.join("incast.scenario.toml"), "load = \"30%\"", "load = \"20%\"");
    let report =
        |paper: &Path| code_and_text(&["paper", "report", text(paper), "--out", text(&out)]);
    for (code, shown) in [run(&paper), report(&paper)] {
        assert_eq!(code, Some(2), "{shown}");
        assert!(
            shown.contains("use another --out, or give the copy an `id` of its own"),
            "{shown}"
        );
    }
    // a name for the paper alone leaves two experiments of one name on a page
    replace(&paper.join("paper.toml"), "id = \"my-paper\"", "id = \"my-copy\"");
    let (code, shown) = run(&paper);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("give it another `id`, or use another --out"), "{shown}");
    assert_eq!(files(&out, &["csv", "html", "json"]), before, "nothing was touched");

    let elsewhere = out.with_file_name("elsewhere");
    ok(&["paper", "run", text(&paper), "--out", text(&elsewhere)]);
    // a paper that is edited where it is keeps its directory
    replace(&paper.join("incast.scenario.toml"), "load = \"20%\"", "load = \"25%\"");
    ok(&["paper", "run", text(&paper), "--out", text(&elsewhere)]);
}

/// "The same, but with ...": apart from the unchanged results, and marked wherever it is shown.
#[test]
fn changed_settings_are_kept_apart_and_marked() {
    let dir = scratch("paper-set");
    let (example, out) = (my_paper(), dir.join("out"));
    let run = |sets: &[&str]| {
        let args = ["paper", "run", text(&example), "--out", text(&out)];
        code_and_text(&[&args[..], sets].concat())
    };
    assert_eq!(run(&[]).0, Some(0));
    let before = files(&out, &["csv", "html", "json"]);
    let set = "switch.latency=1us";
    let (code, shown) = run(&["--set", set]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("MY-2 is left out: it has no runs"), "{shown}");
    assert!(shown.contains("changed settings: switch.latency=1us"), "{shown}");
    assert!(shown.contains("changed: quick: "), "{shown}");
    let own = out.join("with").join(set).join("quick");
    let page = fs::read_to_string(own.join("index.html")).expect("a page");
    assert!(page.contains("every run had <code>switch.latency=1us</code>"), "{page}");
    assert!(page.contains("--set switch.latency=1us</pre>"), "{page}");
    let verdicts = page.matches("<span class=\"mark ").count();
    assert!(verdicts > 0 && page.matches("changed settings</span>").count() == verdicts, "{page}");
    let numbers = |of: &Path| fs::read(of.join("my-paper/my-1/runs.csv")).expect("a table");
    assert_ne!(numbers(&own), numbers(&out.join("quick")), "the setting has an effect");
    for end in ["svg", "pdf", "png", "csv"] {
        assert!(own.join(format!("figures/my-1-fct.{end}")).exists(), "{end}");
    }
    let mut after = files(&out, &["csv", "html", "json"]);
    after.retain(|name, _| !name.starts_with("with/"));
    assert_eq!(after, before, "unchanged results stay as they were");
    let report = ["paper", "report", text(&example), "--out", text(&out), "--set", set];
    ok(&report);
    assert_eq!(fs::read_to_string(own.join("index.html")).expect("a page"), page);

    for (set, expected) in [
        ("traffic.incast.degree=3", "`--set traffic.incast.degree=3` changes no run of MY-1"),
        ("switch.latncy=1us", "did you mean `latency`?"),
        ("switch.latency", "write a path and a value"),
    ] {
        let (code, shown) = run(&["--set", set]);
        assert!(code == Some(2) && shown.contains(expected), "{set}: {shown}");
    }
}

#[test]
fn names_that_do_not_exist_are_refused_with_the_nearest() {
    for (name, expected) in [
        ("no-such-directory/", "cannot read `no-such-directory/`"),
        ("fs-f1q", "did you mean `FS-F1a`?"),
        ("ofx", "did you mean `ofc`?"),
    ] {
        let (code, shown) = code_and_text(&["paper", "claims", name]);
        assert!(code == Some(2) && shown.contains(expected), "{name}: {shown}");
    }
}
