//! How often each scheme deadlocks in the OFC paper's experiment (Fig. 9).
//!
//! ```text
//! cargo run --release -p weir-sim --example deadlock_counts -- [SEEDS] [KILOBYTES]
//!     [--scheme NAME [--set PARAMETER=VALUE]...]
//! ```
//!
//! One row per scheme: the deadlocked runs among seeds 1 to SEEDS (40) for 240, 400 and 640 flows
//! of KILOBYTES (15). With `--scheme` one row: that scheme with parameters as a scenario would give
//! them, such as `--scheme ofc --set flow-key=flow --set alpha=0.7`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::e4;
use weir_core::Bytes;
use weir_fc::{SchemeInfo, Values};
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

fn cell(row: &e4::Row<'_>, flows: u64, size: Bytes, seeds: u64) -> Cell {
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

fn print_row(row: &e4::Row<'_>, size: Bytes, seeds: u64) {
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

/// What the command line asks for.
struct Request {
    seeds: u64,
    size: Bytes,
    /// One scheme instead of all rows.
    scheme: Option<&'static SchemeInfo>,
    /// Its parameters.
    params: Vec<(String, String)>,
}

impl Request {
    fn read(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request =
            Self { seeds: 40, size: Bytes::from_kb(15), scheme: None, params: Vec::new() };
        let (mut args, mut numbers) = (args, 0);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--scheme" => {
                    let name = value()?;
                    let info = weir_fc::scheme(&name).ok_or(format!("no scheme `{name}`"))?;
                    request.scheme = Some(info);
                }
                "--set" => {
                    let pair = value()?;
                    let (name, value) =
                        pair.split_once('=').ok_or(format!("`{pair}` is not NAME=VALUE"))?;
                    request.params.push((name.to_owned(), value.to_owned()));
                }
                number => {
                    let n = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
                    match numbers {
                        0 => request.seeds = n,
                        1 => request.size = Bytes::from_kb(n),
                        _ => return Err(format!("what is `{number}`?")),
                    }
                    numbers += 1;
                }
            }
        }
        request.check()?;
        Ok(request)
    }

    /// Whether the scheme has such parameters, and they such values.
    fn check(&self) -> Result<(), String> {
        let Some(info) = self.scheme else {
            return if self.params.is_empty() {
                Ok(())
            } else {
                Err("--set needs --scheme".into())
            };
        };
        for (name, value) in &self.params {
            let param = info.params.iter().find(|p| p.name == name);
            let param = param.ok_or_else(|| {
                let known: Vec<_> = info.params.iter().map(|p| p.name).collect();
                format!("{} has no parameter `{name}`; it has {}", info.name, known.join(", "))
            })?;
            Values::new().set(param, value).map_err(|e| format!("{name}: {e}"))?;
        }
        Ok(())
    }
}

fn main() -> Result<(), String> {
    let request = Request::read(std::env::args().skip(1))?;
    let Request { seeds, size, .. } = request;
    println!("deadlocked runs of {seeds}, flows of {size}");
    println!("{:18}{:>8}{:>8}{:>8}", "", "M=240", "M=400", "M=640");
    if let Some(info) = request.scheme {
        let params: Vec<_> = request.params.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        print_row(&(info.title, info.name, &params), size, seeds);
    } else {
        e4::ROWS.iter().for_each(|row| print_row(row, size, seeds));
    }
    Ok(())
}
