//! How fast GOAL text is read: `goal_speed [FILE]`, else schedules that are made up here.
//!
//! The plain reader of the tests reads the same bytes in the same process, in turns, so the ratio
//! means something on a machine that does other things, too.

#[path = "../tests/plain/mod.rs"]
mod plain;

use std::fmt::Write;
use std::time::Instant;
use weir_coll::goal::text;

/// A ring: each rank waits for what arrived in the step before.
fn ring(ranks: u32, steps: u32) -> String {
    let mut out = format!("num_ranks {ranks}\n");
    for r in 0..ranks {
        writeln!(out, "rank {r} {{").expect("to a string");
        let (next, before) = ((r + 1) % ranks, (r + ranks - 1) % ranks);
        for i in 0..steps {
            writeln!(out, "s{i}: send 65536b to {next} tag {i}").expect("to a string");
            writeln!(out, "r{i}: recv 65536b from {before} tag {i}").expect("to a string");
            if i > 0 {
                writeln!(out, "s{i} requires r{}", i - 1).expect("to a string");
            }
        }
        out.push_str("}\n");
    }
    out
}

/// What generators of schedules write: numbered labels, computations between messages, indented.
fn numbered(ranks: u32, steps: u32) -> String {
    let mut out = format!("num_ranks {ranks}\n\n");
    for r in 0..ranks {
        writeln!(out, "rank {r} {{").expect("to a string");
        for i in 0..steps {
            let (next, before) = ((r + 1 + i % 7) % ranks, (r + ranks - 1 - i % 7) % ranks);
            let l = 3 * i;
            writeln!(out, "\tl{}: calc {} cpu {}", l + 1, 1000 + i, i % 2).expect("to a string");
            writeln!(out, "\tl{}: send {}b to {next} tag 7 cpu 1 nic 0", l + 2, 100 * i + 1)
                .expect("to a string");
            writeln!(out, "\tl{}: recv {}b from {before} tag 7", l + 3, 100 * i + 1)
                .expect("to a string");
            writeln!(out, "\tl{} requires l{}", l + 2, l + 1).expect("to a string");
            if i > 0 {
                writeln!(out, "\tl{} irequires l{}", l + 1, l).expect("to a string");
            }
        }
        out.push_str("}\n\n");
    }
    out
}

fn main() {
    let given = std::env::args().nth(1).map(|name| std::fs::read(name).expect("a file"));
    let texts = match given {
        Some(bytes) => vec![("file", bytes)],
        None => vec![
            ("ring of 512 ranks", ring(512, 1022).into_bytes()),
            ("ring of 8 ranks", ring(8, 60_000).into_bytes()),
            ("numbered, 512 ranks", numbered(512, 500).into_bytes()),
            ("numbered, 8 ranks", numbered(8, 30_000).into_bytes()),
        ],
    };
    for (name, text) in texts {
        let (mut fast, mut plain) = (f64::MAX, f64::MAX);
        let time = |best: &mut f64, read: &dyn Fn() -> usize| {
            let begin = Instant::now();
            let operations = read();
            *best = best.min(begin.elapsed().as_secs_f64());
            operations
        };
        let mut operations = 0;
        for _ in 0..7 {
            time(&mut plain, &|| plain::parse(&text).expect("a schedule").operations());
            operations = time(&mut fast, &|| text::parse(&text).expect("a schedule").operations());
        }
        let rate = |seconds: f64| text.len() as f64 / seconds / 1e6;
        println!(
            "{name}: {:.1} MB, {operations} operations; {:.0} MB/s, plain {:.0} MB/s: {:.2} times",
            text.len() as f64 / 1e6,
            rate(fast),
            rate(plain),
            plain / fast,
        );
    }
}
