//! Commands that list what there is.

use crate::Status;
use crate::args::{Completions, Generate, Man, Named};
use crate::terminal::{Terminal, print};
use anyhow::bail;
use serde_json::json;
use weir_net::nearest;
use weir_results::listing;
use weir_scenario::builtin;
use weir_scenario::catalogue::{self, Entry};
use weir_scenario::schema as schemas;

/// The one called `name`, or an error with the nearest.
fn choose<'a, T>(
    name: &str,
    what: &str,
    all: &'a [T],
    name_of: impl Fn(&T) -> &str,
) -> anyhow::Result<&'a T> {
    if let Some(found) = all.iter().find(|item| name_of(item) == name) {
        return Ok(found);
    }
    let names: Vec<&str> = all.iter().map(&name_of).collect();
    let hint = nearest(name, names.iter().copied());
    let hint = hint.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default();
    bail!("there is no {what} `{name}`{hint}; there are {}", names.join(", "))
}

/// A list of a catalogue, or one entry of it.
fn catalogue(
    args: &Named,
    what: &str,
    all: &[Entry],
    terminal: &Terminal,
    list: impl Fn() -> String,
) -> anyhow::Result<Status> {
    let text = match &args.name {
        Some(name) => {
            let entry = choose(name, what, all, |e| &e.name)?;
            match args.json {
                true => serde_json::to_string_pretty(entry)?,
                false => listing::entry(entry, terminal.out),
            }
        }
        None if args.json => serde_json::to_string_pretty(all)?,
        None => list(),
    };
    print(&text)?;
    Ok(Status::Done)
}

/// `weir schemes`.
pub(crate) fn schemes(args: &Named, terminal: &Terminal) -> anyhow::Result<Status> {
    let (schemes, algorithms) = (catalogue::schemes(), catalogue::algorithms());
    if args.json && args.name.is_none() {
        let all = json!({ "flow-control": schemes, "congestion-control": algorithms });
        print(&serde_json::to_string_pretty(&all)?)?;
        return Ok(Status::Done);
    }
    // `none` is both a scheme and an algorithm: neither has parameters worth a clash
    let all: Vec<Entry> = schemes.into_iter().chain(algorithms).collect();
    catalogue(args, "scheme or congestion control", &all, terminal, || {
        listing::schemes(terminal.out)
    })
}

/// `weir topologies`.
pub(crate) fn topologies(args: &Named, terminal: &Terminal) -> anyhow::Result<Status> {
    let all = catalogue::topologies();
    catalogue(args, "topology", &all, terminal, || listing::catalogue(&all, terminal.out))
}

/// `weir patterns`.
pub(crate) fn patterns(args: &Named, terminal: &Terminal) -> anyhow::Result<Status> {
    let all = catalogue::patterns();
    catalogue(args, "traffic pattern", &all, terminal, || listing::catalogue(&all, terminal.out))
}

/// `weir scenarios`.
pub(crate) fn scenarios(args: &Named, terminal: &Terminal) -> anyhow::Result<Status> {
    let all: Vec<builtin::BuiltIn> = builtin::all().copied().collect();
    if let Some(name) = &args.name {
        let found = choose(name, "built-in scenario", &all, |b| b.name)?;
        let text = match args.json {
            true => serde_json::to_string_pretty(&describe(found))?,
            false => found.text.trim_end().to_owned(),
        };
        print(&text)?;
        return Ok(Status::Done);
    }
    let text = match args.json {
        true => {
            let all: Vec<_> = all.iter().map(describe).collect();
            serde_json::to_string_pretty(&all)?
        }
        false => listing::scenarios(terminal.out),
    };
    print(&text)?;
    Ok(Status::Done)
}

fn describe(b: &builtin::BuiltIn) -> serde_json::Value {
    json!({ "name": b.name, "title": listing::title(b.text), "text": b.text })
}

/// `weir workloads`.
pub(crate) fn workloads(args: &Named, terminal: &Terminal) -> anyhow::Result<Status> {
    let tables = weir_traffic::size::builtin_tables();
    let as_json = |b: &weir_traffic::size::BuiltIn| {
        let rows: Vec<_> = b.table.rows().map(|(s, p)| json!([s.get(), p])).collect();
        json!({ "name": b.name, "origin": b.origin, "mean": b.table.mean(), "rows": rows })
    };
    let text = match (&args.name, args.json) {
        (Some(name), json) => {
            let table = choose(name, "size table", tables, |b| b.name)?;
            match json {
                true => serde_json::to_string_pretty(&as_json(table))?,
                false => listing::workload(table, terminal.out),
            }
        }
        (None, true) => {
            serde_json::to_string_pretty(&tables.iter().map(as_json).collect::<Vec<_>>())?
        }
        (None, false) => listing::workloads(terminal.out),
    };
    print(&text)?;
    Ok(Status::Done)
}

/// `weir schema`.
pub(crate) fn schema() -> anyhow::Result<Status> {
    print(&serde_json::to_string_pretty(&schemas::scenario_schema())?)?;
    Ok(Status::Done)
}

/// `weir --generate`.
pub(crate) fn generate(what: Generate) -> anyhow::Result<Status> {
    let text = match what {
        Generate::ScenarioReference => weir_scenario::scenario_doc::markdown(),
    };
    print(text.trim_end())?;
    Ok(Status::Done)
}

/// `weir completions`, of all commands.
pub(crate) fn completions(args: &Completions, mut all: clap::Command) -> anyhow::Result<Status> {
    // to memory first: the generator takes every failure to write for a bug
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut all, "weir", &mut text);
    print(String::from_utf8_lossy(&text).trim_end())?;
    Ok(Status::Done)
}

/// `weir man`, of one of all commands.
pub(crate) fn man(args: &Man, mut all: clap::Command) -> anyhow::Result<Status> {
    all.build();
    let mut command = &all;
    for word in &args.command {
        let inner: Vec<&clap::Command> = command.get_subcommands().collect();
        let what = format!("command of `{}`", command.get_name());
        command = choose(word, &what, &inner, |c| c.get_name())?;
    }
    // pages are called by the whole command: weir-sweep-plan
    let name = ["weir"].into_iter().chain(args.command.iter().map(String::as_str));
    let name: Vec<&str> = name.collect();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name.join("-")).render(&mut text)?;
    print(String::from_utf8_lossy(&text).trim_end())?;
    Ok(Status::Done)
}
