//! `weir bench`.

use super::input::load;
use crate::Status;
use crate::args::Bench;
use crate::terminal::{Terminal, print};
use anyhow::bail;
use weir_results::bench::{Measurement, measure, select};
use weir_results::table::{Column, TextTable};

/// Times the benchmarks and prints a table, or JSON.
pub(crate) fn bench(args: &Bench, terminal: &Terminal) -> anyhow::Result<Status> {
    let benchmarks = match select(&args.names) {
        Ok(benchmarks) => benchmarks,
        Err(error) => bail!("{error}"),
    };
    let mut measurements = Vec::new();
    for b in benchmarks {
        let Some(mut e) = load(b.name, &[], terminal) else { return Ok(Status::BadInput) };
        e.engine = args.threads;
        let variant = match e.variant(Some(&args.scheme), None, 1) {
            Ok(variant) => variant,
            Err(problems) => {
                terminal.problems(&problems);
                return Ok(Status::BadInput);
            }
        };
        terminal.note(&format!("{}, {} times", e.scenario.name, args.repeat));
        measurements.push(measure(b.name, &e, variant, args.repeat)?);
    }
    if args.json {
        print(&serde_json::to_string_pretty(&measurements)?)?;
    } else {
        print(&table(&measurements).render(terminal.out.width, terminal.out.colour))?;
    }
    Ok(Status::Done)
}

fn table(measurements: &[Measurement]) -> TextTable {
    let mut table = TextTable::new(vec![
        Column::words("benchmark", 9),
        Column::numbers("threads", 5),
        Column::numbers("packet-hops", 6),
        Column::numbers("M/CPU s", 9),
        Column::numbers("M/s wall", 8),
        Column::numbers("events/hop", 3),
        Column::numbers("wall/CPU", 4),
        Column::numbers("peak memory", 2),
        Column::words("notes", 7),
    ]);
    for m in measurements {
        let memory =
            m.peak_memory.map_or_else(String::new, |b| format!("{:.0} MB", b as f64 / 1e6));
        table.row(vec![
            m.name.to_owned(),
            m.threads.to_string(),
            format!("{:.2} M", m.packet_hops as f64 / 1e6),
            format!("{:.2}", m.packet_hops_per_cpu_second / 1e6),
            format!("{:.2}", m.packet_hops_per_second / 1e6),
            format!("{:.2}", m.events_per_packet_hop),
            format!("{:.2}", m.wall_seconds / m.cpu_seconds.max(1e-9)),
            memory,
            if m.void { "void: the machine was busy".to_owned() } else { String::new() },
        ]);
    }
    table
}
