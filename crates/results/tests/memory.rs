//! How much memory a flow takes, from the row of a list to the row of `flows.csv`. One test: it
//! reads the peak of the whole process.
#![cfg(target_os = "linux")]

use std::fmt::Write;
use weir_results::comparison::Comparison;
use weir_results::report::{Formats, write};
use weir_results::run::{Meter, run};
use weir_scenario::Experiment;
use weir_scenario::Files;

const FLOWS: u64 = 100_000;

/// Kilobytes after a word of `/proc/self/status`.
fn status(word: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = text.lines().find_map(|l| l.strip_prefix(word)).expect("it has this line");
    line.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
}

/// Small flows between 16 hosts, one every 15 ns: few are in the network at a time.
fn list() -> String {
    let mut text = "src,dst,size,start\n".to_owned();
    for i in 0..FLOWS {
        let (src, size) = (i * 7 % 16, 100 + i * 7919 % 1900);
        let dst = (src + 1 + i * 31 % 15) % 16;
        let _ = writeln!(text, "h{src},h{dst},{size},{}ns", 15 * i);
    }
    text
}

#[test]
fn a_flow_takes_less_than_250_bytes() {
    let place = std::env::temp_dir().join(format!("weir-memory-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).expect("a scratch directory");
    std::fs::write(place.join("flows.csv"), list()).expect("a file");
    let scenario = "[topology]\nkind = \"star\"\nhosts = 16\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
                    [[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\n";
    let before = status("VmRSS:");
    let files = Files::of(Some(place.clone()));
    let e = Experiment::read("my.toml", scenario, files, &[]).expect("a valid scenario");
    let variant = e.variant(None, None, 1).expect("what the file says");
    let run = run(&e, variant, &Meter::new(1), 0).expect("it runs");
    assert_eq!(run.outcome.totals.completed, FLOWS);
    let c = Comparison::new(&e, vec![run]);
    write(&c, &place.join("out"), "weir run", Formats::Csv).expect("it can be written");
    let per_flow = (status("VmHWM:") - before) * 1024 / FLOWS;
    let table = std::fs::read_to_string(place.join("out/flows.csv")).expect("a table");
    assert_eq!(table.lines().count() as u64, FLOWS + 1);
    println!("{per_flow} B for each flow");
    assert!(per_flow < 250, "{per_flow} B for each flow");
    std::fs::remove_dir_all(place).expect("it is ours");
}
