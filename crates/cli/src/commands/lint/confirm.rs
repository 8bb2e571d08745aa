//! `--confirm`: a run that closes a cycle.

use super::report::{Confirmed, Report};
use super::subject::Subject;
use super::{Lint, Rerouting, Tables};
use crate::commands::outputs::write_file;
use crate::terminal::Terminal;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use weir_core::{Bytes, LinkId, Rate, Time, format};
use weir_lint::{Cycle, confirm, routes_of};
use weir_results::run::run_alone;
use weir_scenario::text::{Table, Value};
use weir_scenario::{Experiment, Variant};
use weir_sim::outcome::Finish;

/// Sections that the run has of its own or does without: senders have no congestion control, so
/// that nothing but flow control slows them down.
const REPLACED: [&str; 10] = [
    "name",
    "title",
    "traffic",
    "job",
    "path",
    "variant",
    "failure",
    "fault",
    "report",
    "reference",
];

/// Runs traffic around the first cycle that was found, with more flows until it deadlocks.
pub(super) fn confirm(
    args: &Lint,
    subject: &Subject,
    report: &mut Report,
    terminal: &Terminal,
) -> anyhow::Result<()> {
    let Some((failed, cycle)) = first(subject, report) else {
        terminal.note("there is no cycle, so there is nothing to confirm");
        return Ok(());
    };
    let topo = &*subject.experiment.topology;
    let computed;
    let tables = match &report.tables {
        Some(tables) => tables,
        None => {
            computed = Tables::routed(topo, subject.how, &failed);
            &computed
        }
    };
    let steps = routes_of(topo, tables, &subject.paths, &cycle);
    let mut confirmed = Confirmed {
        failed: failed.clone(),
        cycle: cycle.describe(topo),
        deadlock: None,
        flows: 0,
        scheme: subject.variant.scheme.title,
        file: None,
    };
    let mut last = String::new();
    for flows in confirm::ATTEMPTS {
        let Some(traffic) = confirm::traffic(topo, &steps, flows) else {
            terminal.note("a step of the cycle is made only by packets that visit a switch twice");
            break;
        };
        if traffic == last {
            break;
        }
        let text = format!("{}{traffic}", header(subject, &failed, &cycle));
        last = traffic;
        let (found, count) = attempt(subject, &text)?;
        confirmed.flows = count;
        if let Some(out) = &args.out {
            write_file(out, &text)?;
            confirmed.file = Some(format::shell_word(&out.to_string_lossy()));
        }
        if found.is_some() {
            confirmed.deadlock = found;
            break;
        }
    }
    report.confirmed = Some(confirmed);
    Ok(())
}

/// The first cycle with all links that are down then.
fn first(subject: &Subject, report: &Report) -> Option<(Vec<LinkId>, Cycle)> {
    for state in &report.states {
        if let Some((cycle, _)) = state.cycles.first() {
            return Some((state.down.clone(), cycle.clone()));
        }
    }
    let example = report.failures.iter().find_map(|f| f.examples.first())?;
    let down = [&subject.experiment.never_up()[..], &example.links].concat();
    Some((down, example.cycle.clone()))
}

/// Runs a scenario; when the deadlock closed and where, and how many flows it had.
fn attempt(subject: &Subject, text: &str) -> anyhow::Result<(Option<(String, String)>, usize)> {
    let files = subject.base.files.clone();
    let e = Experiment::read("the scenario of --confirm", text, files, &[])
        .map_err(|p| anyhow::anyhow!("{p}"))?;
    let variant = Variant { cc: e.own_variant().cc, seed: 1, ..subject.variant };
    let run = run_alone(&e, variant, &AtomicBool::new(false))?;
    let flows = run.outcome.flows.iter().count();
    let Finish::Deadlock(deadlock) = &run.outcome.finish else { return Ok((None, flows)) };
    let cycle = deadlock.cycle.iter().chain(deadlock.cycle.first());
    let names: Vec<&str> = cycle.map(|s| e.topology.name(s.node)).collect();
    Ok((Some((format::time(deadlock.closed), names.join(" -> "))), flows))
}

/// The scenario without its traffic: the same network, switches and NICs, with the failed links.
fn header(subject: &Subject, failed: &[LinkId], cycle: &Cycle) -> String {
    let e = &subject.experiment;
    let mut root = subject.base.root.clone();
    root.0.retain(|(key, ..)| !REPLACED.contains(&key.as_str()) && key != "run");
    root.0.retain(|(key, ..)| key != "congestion-control" && key != "probe");
    if let Some((.., item)) = root.0.iter_mut().find(|(key, ..)| key == "switch")
        && let Value::Table(Table(entries)) = &mut item.value
    {
        entries.retain(|(key, ..)| key != "watchdog");
    }
    let mut text = format!(
        "# Traffic that closes a cycle of buffers: {}\nname = \"confirm\"\n",
        cycle.describe(&e.topology)
    );
    text.push_str(&root.document());
    if subject.how == Rerouting::Bounce {
        text.push_str("\n# Flows take the ways that local repair gives them.\n");
    }
    let _ = write!(
        text,
        "\n[run]\nuntil = \"{}us\"\nallow-loss = true\nseeds = [1]\n",
        patience(subject, cycle)
    );
    for &link in failed {
        let link = e.topology.link(link);
        let [a, b] = [link.a.0, link.b.0].map(|n| e.topology.name(n));
        let _ = write!(text, "\n[[failure]]\nlink = [\"{a}\", \"{b}\"]\ndown = \"0s\"\n");
    }
    text
}

/// How long to wait for a deadlock, in microseconds: 2 ms, and what the slowest link of the cycle
/// takes to fill the memory of a switch eight times.
fn patience(subject: &Subject, cycle: &Cycle) -> u64 {
    let e = &subject.experiment;
    let rate = |h: &weir_lint::Hop| e.topology.rate(h.from, h.port);
    let slowest = cycle.hops.iter().map(rate).min().unwrap_or(Rate::from_gbps(1));
    let memory = e.scenario.switch.config.buffer.min(Bytes::new(32_000_000));
    let wait = Time::from_ms(2) + slowest.time_for(memory) * 8;
    wait.min(Time::from_ms(500)).as_ps() / 1_000_000
}
