//! Runs a configuration and compares with the reference's results beside it.
//!
//! `cargo run --release -p weir-ns3 --example compare -- DIR...`, where each directory holds
//! `config.txt` with its input files and the expected `fct.txt` and `pfc.txt`.

use std::path::Path;
use weir_ns3::{Memory, read, run};

fn main() {
    let mut failed = 0;
    for dir in std::env::args().skip(1) {
        let dir = Path::new(&dir);
        let (inputs, _) = match read(&dir.join("config.txt")) {
            Ok(read) => read,
            Err(d) => {
                println!("{}: {d}", dir.display());
                failed += 1;
                continue;
            }
        };
        let mut got = Memory::default();
        let outcome = run(&inputs, &mut got);
        let lines = |records: Vec<String>| records;
        let fct = lines(got.fct.iter().map(ToString::to_string).collect());
        let pfc = lines(got.pfc.iter().map(ToString::to_string).collect());
        let mut message = String::new();
        for (name, got) in [("fct.txt", fct), ("pfc.txt", pfc)] {
            let text = std::fs::read_to_string(dir.join(name)).unwrap_or_default();
            let want: Vec<&str> = text.lines().collect();
            if want != got {
                let at = want.iter().zip(&got).take_while(|(w, g)| w == g).count();
                message += &format!(
                    " {name} differs at line {}: want {:?}, got {:?} ({} and {} lines);",
                    at + 1,
                    want.get(at),
                    got.get(at),
                    want.len(),
                    got.len()
                );
            }
        }
        let summary = std::fs::read_to_string(dir.join("summary.json")).unwrap_or_default();
        let events = summary
            .split_once("\"events\": ")
            .and_then(|(_, rest)| rest.split(',').next())
            .and_then(|n| n.trim().parse::<u64>().ok());
        if events.is_some_and(|e| e != outcome.counters.events) {
            message += &format!(" events: want {events:?}, got {}", outcome.counters.events);
        }
        if message.is_empty() {
            println!("{}: same ({:?} events)", dir.display(), outcome.counters.events);
        } else {
            failed += 1;
            println!("{}: {message}", dir.display());
        }
    }
    println!("{failed} differ");
}
