//! Runs configurations and compares with the reference's results beside them.
//!
//! `cargo run --release -p weir-ns3 --example compare -- DIR...`, where each directory holds
//! `config.txt` with its input files and the expected results under the names that it gives
//! them. `fct.txt`, `pfc.txt` and `qlen.txt` are compared byte by byte, packet traces header by
//! header and record by record, decoded: their padding is whatever was in memory.

use std::fs;
use std::path::Path;
use weir_ns3::output::{Files, TRACE_RECORD_BYTES, read_trace_record};
use weir_ns3::record::TraceRecord;
use weir_ns3::{Config, StopReason, read, run};

fn main() {
    let scratch = std::env::temp_dir().join(format!("weir-compare-{}", std::process::id()));
    let mut failed = 0;
    for dir in std::env::args().skip(1) {
        let differences = compare(Path::new(&dir), &scratch);
        let same = differences.is_empty();
        failed += usize::from(!same);
        println!("{dir}: {}", if same { "same".into() } else { differences.join("; ") });
    }
    let _ = fs::remove_dir_all(&scratch);
    println!("{failed} differ");
}

/// What differs.
fn compare(dir: &Path, scratch: &Path) -> Vec<String> {
    let (inputs, _) = match read(&dir.join("config.txt")) {
        Ok(read) => read,
        Err(d) => return vec![d.to_string()],
    };
    let mut files = match Files::create(&inputs, Some(scratch)) {
        Ok(files) => files,
        Err(e) => return vec![e.to_string()],
    };
    let outcome = run(&inputs, &mut files);
    if let Err(e) = files.finish() {
        return vec![e.to_string()];
    }
    let mut differences = Vec::new();
    if outcome.reason != StopReason::StopTime {
        differences.push(format!("{:?}", outcome.reason));
    }
    let Config { fct_output, pfc_output, qlen_output, trace_output, .. } = &inputs.config;
    for name in [fct_output, pfc_output, qlen_output] {
        let (want, got) = (fs::read(dir.join(name)), fs::read(scratch.join(name)));
        let (want, got) = (want.unwrap_or_default(), got.unwrap_or_default());
        if want != got {
            differences.push(format!("{}: {}", name.display(), first_line(&want, &got)));
        }
    }
    if let (Ok(want), Ok(got)) =
        (fs::read(dir.join(trace_output)), fs::read(scratch.join(trace_output)))
    {
        differences.extend(trace(&want, &got));
    }
    let summary = fs::read_to_string(dir.join("summary.json")).unwrap_or_default();
    let events = summary
        .split_once("\"events\": ")
        .and_then(|(_, rest)| rest.split(',').next())
        .and_then(|n| n.trim().parse::<u64>().ok());
    if events.is_some_and(|e| e != outcome.counters.events) {
        differences.push(format!("events: want {events:?}, got {}", outcome.counters.events));
    }
    differences
}

/// The first line that differs.
fn first_line(want: &[u8], got: &[u8]) -> String {
    let lines = |bytes: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(bytes).lines().map(Into::into).collect()
    };
    let (want, got) = (lines(want), lines(got));
    let at = want.iter().zip(&got).take_while(|(w, g)| w == g).count();
    format!(
        "line {}: want {:?}, got {:?} ({} and {} lines)",
        at + 1,
        want.get(at),
        got.get(at),
        want.len(),
        got.len()
    )
}

/// Where two traces differ.
fn trace(want: &[u8], got: &[u8]) -> Option<String> {
    let (want_head, want) = split(want)?;
    let (got_head, got) = split(got)?;
    if want_head != got_head {
        return Some(format!("trace header: want {want_head:?}, got {got_head:?}"));
    }
    let at = want.iter().zip(&got).take_while(|(w, g)| w == g).count();
    (want != got).then(|| {
        format!(
            "trace record {at}: want {:?}, got {:?} ({} and {} records)",
            want.get(at),
            got.get(at),
            want.len(),
            got.len()
        )
    })
}

/// The header and the records of a trace.
fn split(bytes: &[u8]) -> Option<(&[u8], Vec<Option<TraceRecord>>)> {
    let (count, _) = bytes.split_first_chunk::<4>()?;
    let head = 8 + 11 * u32::from_le_bytes(*count) as usize;
    let (records, _) = bytes.get(head..)?.as_chunks::<TRACE_RECORD_BYTES>();
    Some((&bytes[..head], records.iter().map(read_trace_record).collect()))
}
