//! `weir fct`: slowdown by flow size.

use super::outputs::{keep_inputs, write_file};
use crate::Status;
use crate::args::Fct;
use crate::terminal::{Terminal, print};
use anyhow::{Context, bail};
use weir_results::fct::{self, Ranges, Seeded, Series, SlowdownTable, Wanted};
use weir_scenario::SizeRange;

/// `weir fct`.
pub(crate) fn fct(args: &Fct, terminal: &Terminal) -> anyhow::Result<Status> {
    for output in args.csv.iter().chain(&args.svg) {
        keep_inputs(output, &args.files)?;
    }
    let wanted = Wanted { class: args.class.clone(), before: args.before };
    let mut runs = Vec::new();
    for path in &args.files {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        let read = fct::read(&name, &text, &wanted).map_err(anyhow::Error::msg)?;
        for s in read.iter().filter(|s| s.series().samples.is_empty()) {
            terminal.warn(&format!("{}: no flow that counts has finished", s.name));
        }
        runs.extend(read);
    }
    let series: Vec<Series> = runs.iter().map(Seeded::series).collect();
    if series.iter().all(|s| s.samples.is_empty()) {
        bail!("nothing to show: no flow that counts has finished in these files");
    }
    if let Some(sizes) = &args.sizes {
        let ranges = SizeRange::list(sizes).map_err(anyhow::Error::msg).context("--sizes")?;
        let table = Ranges::new(&runs, &ranges);
        match args.json {
            true => print(&serde_json::to_string_pretty(&table.json())?)?,
            false => print(&table.text(terminal.out))?,
        }
        return match &args.csv {
            Some(path) => write_file(path, table.csv()).map(|()| Status::Done),
            None => Ok(Status::Done),
        };
    }
    let table = SlowdownTable::new(&series, args.buckets.into());
    match args.json {
        true => print(&serde_json::to_string_pretty(&fct::as_json(&table))?)?,
        false => print(&fct::text(&table, terminal.out))?,
    }
    if let Some(path) = &args.csv {
        write_file(path, table.csv())?;
    }
    if let Some(path) = &args.svg {
        write_file(path, fct::drawing(&table))?;
    }
    Ok(Status::Done)
}
