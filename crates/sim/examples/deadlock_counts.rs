//! How often each scheme deadlocks in the OFC paper's experiment (Fig. 9).
//!
//! `cargo run --release -p weir-sim --example deadlock_counts -- [SEEDS] [KILOBYTES]`: one row per
//! scheme, the deadlocked runs among seeds 1 to SEEDS (40) for 240, 400 and 640 flows of KILOBYTES
//! (15).

#[path = "../tests/common/mod.rs"]
mod common;

use common::e4;
use weir_core::Bytes;
use weir_sim::Finish;

const FLOWS: [u64; 3] = [240, 400, 640];

/// What became of the runs of one cell.
#[derive(Default)]
struct Cell {
    deadlocked: u64,
    /// Neither deadlocked nor done after a second of simulated time.
    slow: u64,
    stalled: u64,
    lossy: u64,
}

fn cell(row: &e4::Row, flows: u64, size: Bytes, seeds: u64) -> Cell {
    let topology = e4::topology();
    let plan = e4::traffic(&topology, flows, size, true);
    let mut cell = Cell::default();
    for seed in 1..=seeds {
        let cfg = e4::settings_of(&topology, row, seed);
        let out = weir_sim::run(&topology, &plan, &cfg, &mut ()).expect("a valid run");
        cell.lossy += u64::from(out.totals.dropped > 0);
        match out.finish {
            Finish::Deadlock(_) => cell.deadlocked += 1,
            Finish::Stalled(_) => cell.stalled += 1,
            Finish::TimeLimit => cell.slow += 1,
            Finish::Drained | Finish::Interrupted => {}
        }
    }
    cell
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let seeds = args.next().map_or(Ok(40), |s| s.parse())?;
    let size = Bytes::from_kb(args.next().map_or(Ok(15), |s| s.parse())?);
    println!("deadlocked runs of {seeds}, flows of {size}");
    println!("{:18}{:>8}{:>8}{:>8}", "", "M=240", "M=400", "M=640");
    for row in e4::ROWS {
        print!("{:18}", row.0);
        let cells = FLOWS.map(|flows| cell(row, flows, size, seeds));
        cells.iter().for_each(|c| print!("{:>8}", c.deadlocked));
        for (what, n) in [
            ("not done after 1 s", cells.each_ref().map(|c| c.slow)),
            ("stalled", cells.each_ref().map(|c| c.stalled)),
            ("lossy", cells.each_ref().map(|c| c.lossy)),
        ] {
            if n != [0; 3] {
                print!("  {what}: {}/{}/{}", n[0], n[1], n[2]);
            }
        }
        println!();
    }
    Ok(())
}
