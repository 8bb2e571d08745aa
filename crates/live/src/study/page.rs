//! A study as a page of Markdown.

use super::{Attempt, Bound, Cell, Late, Study, WITHIN};
use crate::clock::{ClockKind, SLACK};
use crate::compare::SideBySide;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use weir_core::format;
use weir_core::percentile::{P50, P90};
use weir_results::stats::Sorted;

const WHAT: &str = "The simulator's own switches and hosts on real Ethernet frames: every node in \
    a network namespace of its own, every link a veth pair of the Linux kernel. It is no switch \
    hardware, and not the testbed of the paper: it shows that what the simulator finds holds when \
    frames, delays and losses are those of a kernel. Times of a kernel are not the same twice, so \
    this page is not a function of the experiment: who makes it again gets other bytes, and \
    nothing compares them. A run in which more than one frame in a thousand was later than the \
    bound is **invalid**: it stands in the tables of runs, with the reason, and in no \
    other number.";

/// The page; `files` is where the tables are, seen from it.
pub fn page(study: &Study, files: &str) -> String {
    let mut out = format!("# {}, live\n\n**{}**\n\n{WHAT}\n\n", study.id, study.title);
    if !study.changed.is_empty() {
        let _ = writeln!(
            out,
            "- **changed: {}**, in the simulation and in the live runs: numbers of the paper do \
             not apply",
            study.changed
        );
    }
    for line in &study.machine {
        let _ = writeln!(out, "- {line}");
    }
    let bound = match study.bound {
        Bound::Frame(time) => format!("one frame time of the fastest link, {}", format::time(time)),
        Bound::Of(time) => format::time(time),
    };
    let clock = match study.clock {
        ClockKind::Waiting => format!(
            "the scenario's clock waits for a thread that is behind by a {SLACK}nd part of the \
             bound: runs take longer instead, as \"kept\" says"
        ),
        ClockKind::Free => "the scenario's clock goes on when a thread is late".to_owned(),
    };
    let (wanted, most) = study.wanted;
    let _ = write!(
        out,
        "- bound of lateness: {bound} of scenario time; of each dilation {wanted} runs were to \
         keep it, {most} were made at most\n- {}; {clock}\n\nAgain: `{}`. All runs: \
         [{files}-runs.csv]({files}-runs.csv); all flows: \
         [{files}-flows.csv]({files}-flows.csv).\n\n",
        format::plural(study.threads as u64, "thread"),
        study.command
    );
    out.push_str(&beside(study));
    out.push_str(&differences(study));
    out.push_str(&itself(study));
    out.push_str(&late(study));
    if study.dilations.len() > 1 {
        out.push_str(&invariance(study));
    }
    out.push_str(&reasons(study));
    out
}

fn row(out: &mut String, cells: &[String]) {
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// A table's first two lines.
fn heads(out: &mut String, names: &[&str]) {
    let cells: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    row(out, &cells);
    let lines: Vec<&str> =
        names.iter().enumerate().map(|(i, _)| if i < 2 { "---" } else { "--:" }).collect();
    let _ = writeln!(out, "|{}|", lines.join("|"));
}

fn percent(fraction: f64) -> String {
    match fraction.is_finite() {
        true => format!("{:.2} %", fraction * 100.0),
        false => "no number".into(),
    }
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "-".into())
}

/// Paper, simulation and live runs.
fn beside(study: &Study) -> String {
    let first = study.dilations[0];
    let mut out = format!(
        "## Beside the paper and the simulation\n\nLive with a dilation of {first}. The \
         paper's numbers of its testbed are of other machines with settings that are not all \
         known; those of its simulation of another simulator.\n\n"
    );
    heads(
        &mut out,
        &["", "of", "metric", "paper", "simulated", "live, median", "least to most", "runs"],
    );
    for cell in &study.cells {
        for (i, class) in cell.classes.iter().enumerate() {
            let show = |x: f64| format::quantity(class.unit, x);
            let live = cell.live(first, i);
            let paper: Vec<String> =
                class.paper.iter().map(|(at, x)| format!("{} ({at})", show(*x))).collect();
            let range = live.min().zip(live.max());
            row(
                &mut out,
                &[
                    cell.name(),
                    class.name.clone(),
                    format!("`{}`", class.metric),
                    or_dash((!paper.is_empty()).then(|| paper.join(", "))),
                    or_dash(class.simulated.map(show)),
                    or_dash(live.percentile(P50).map(show)),
                    or_dash(range.map(|(a, b)| format!("{} to {}", show(a), show(b)))),
                    live.len().to_string(),
                ],
            );
        }
    }
    out + "\n"
}

/// How far live runs and the simulation are apart.
fn differences(study: &Study) -> String {
    let mut out = format!(
        "## Simulation and live\n\nBy how much the completion time of a flow, or what it delivered \
         if it has no end, differs from the simulation: over all flows of all runs that count, and \
         the largest of each run. Flows that begin together and stand for each other, as the \
         bursts of an incast, end in an order that hangs on nanoseconds: \"in order\" compares the \
         first of them to end with the first, and so on. \"Same flows held\": in how many runs \
         exactly the flows of the simulation were held by flow control. Within: runs in which \
         no flow, in order, is off by more than {}.\n\n",
        percent(WITHIN)
    );
    heads(
        &mut out,
        &[
            "",
            "dilation",
            "kept, median",
            "valid runs",
            "flows: median",
            "90 %",
            "largest",
            "worst of a run: median",
            "in order: median",
            "largest",
            "within",
            "same flows held",
            "PAUSEs simulated",
            "live, median",
            "99.9 % of frames less late than, median",
            "latest frame, median",
        ],
    );
    for cell in &study.cells {
        for &dilation in &study.dilations {
            let valid: Vec<&Attempt> = cell.valid(dilation).collect();
            let all = valid.len() + cell.invalid(dilation).count();
            let flows = Sorted::new(valid.iter().flat_map(|a| a.differences()));
            let worst = Sorted::new(valid.iter().filter_map(|a| a.worst()));
            let ranks = Sorted::new(valid.iter().filter_map(|a| a.worst_rank()));
            let within = ranks.as_slice().iter().filter(|x| **x <= WITHIN).count();
            let same = valid.iter().filter(|a| a.side.as_ref().is_some_and(|s| s.same_held()));
            let late = Sorted::new(valid.iter().filter_map(|a| a.late.p999_ns));
            let latest = Sorted::new(valid.iter().filter_map(|a| a.late.max_ns));
            let kept = Sorted::new(valid.iter().map(|a| a.kept));
            let (simulated, live) = pauses(&valid);
            let [half, most, largest, worst, rank, last] = far(&flows, &worst, &ranks);
            row(
                &mut out,
                &[
                    cell.name(),
                    dilation.to_string(),
                    or_dash(kept.percentile(P50).map(|kept| format!("{kept:.0}"))),
                    format!("{} of {all}", valid.len()),
                    half,
                    most,
                    largest,
                    worst,
                    rank,
                    last,
                    format!("{within} of {}", valid.len()),
                    format!("{} of {}", same.count(), valid.len()),
                    or_dash(simulated.map(|n| format!("{n:.0}"))),
                    or_dash(live.map(|n| format!("{n:.0}"))),
                    or_dash(late.percentile(P50).map(|ns| format!("{ns:.0} ns"))),
                    or_dash(latest.percentile(P50).map(|ns| format!("{ns:.0} ns"))),
                ],
            );
        }
    }
    out + "\n"
}

/// How far runs are from the simulation, as words of a row: flows at the median, at 90 % and at
/// most, the worst flow of a run at the median, and in order of their ends at the median and at
/// most.
fn far(flows: &Sorted, worst: &Sorted, ranks: &Sorted) -> [String; 6] {
    let middle = |of: &Sorted| of.percentile(P50);
    let found = [
        middle(flows),
        flows.percentile(P90),
        flows.max(),
        middle(worst),
        middle(ranks),
        ranks.max(),
    ];
    found.map(|difference| or_dash(difference.map(percent)))
}

/// How far the simulation is from itself.
fn itself(study: &Study) -> String {
    if study.cells.iter().all(|cell| cell.apart.is_empty()) {
        return String::new();
    }
    let mut out = format!(
        "## The simulation beside itself\n\nThe same simulation, without any kernel, in \
         which every host begins its flows late by a time of its own of less than {}: what hangs \
         on the order in which frames of the same nanosecond meet. By so much a live run may \
         differ that does everything right.\n\n",
        format::time(study.bound.time())
    );
    heads(
        &mut out,
        &[
            "",
            "simulations",
            "flows: median",
            "90 %",
            "largest",
            "worst of a simulation: median",
            "in order: median",
            "largest",
            "same flows held",
            "PAUSEs, least to most",
        ],
    );
    for cell in &study.cells {
        let flows = Sorted::new(cell.apart.iter().flat_map(SideBySide::flow_differences));
        let worst = Sorted::new(cell.apart.iter().filter_map(SideBySide::worst_flow));
        let ranks = Sorted::new(cell.apart.iter().filter_map(SideBySide::worst_rank));
        let same = cell.apart.iter().filter(|side| side.same_held()).count();
        let [half, most, largest, worst, rank, last] = far(&flows, &worst, &ranks);
        row(
            &mut out,
            &[
                cell.name(),
                cell.apart.len().to_string(),
                half,
                most,
                largest,
                worst,
                rank,
                last,
                format!("{same} of {}", cell.apart.len()),
                sent(cell.apart.iter()),
            ],
        );
    }
    out + "\n"
}

/// What lateness alone does.
fn late(study: &Study) -> String {
    if study.cells.iter().all(|cell| cell.emulated.is_empty()) {
        return String::new();
    }
    let mut out = String::from(
        "## Late without a kernel\n\nThe nodes of a live run again, with the bytes of all frames, \
         but without a kernel: a clock of its own in which each node wakes up late, by times that \
         are drawn from how late frames were in the live runs that count. What differs from the \
         simulation here comes from lateness alone. \"Held as in the simulation\": in how many of \
         them exactly its flows are held. The last column has the live runs that hold the flows of \
         the simulation, or of one of these runs.\n\n",
    );
    heads(
        &mut out,
        &[
            "",
            "late as with dilation",
            "runs",
            "in order: median",
            "largest",
            "within",
            "held as in the simulation",
            "PAUSEs, least to most",
            "99.9 % of frames less late than, median",
            "live runs that hold the same",
        ],
    );
    for cell in &study.cells {
        for &dilation in &study.dilations {
            let runs: Vec<&Late> = cell.late(dilation).collect();
            if runs.is_empty() {
                continue;
            }
            let ranks = Sorted::new(runs.iter().filter_map(|run| run.side.worst_rank()));
            let within = ranks.as_slice().iter().filter(|x| **x <= WITHIN).count();
            let same = runs.iter().filter(|run| run.side.same_held()).count();
            let range = sent(runs.iter().map(|run| &run.side));
            let late = Sorted::new(runs.iter().filter_map(|run| run.late.p999_ns));
            let held = cell.valid(dilation).filter(|run| cell.is_held_so(run)).count();
            row(
                &mut out,
                &[
                    cell.name(),
                    dilation.to_string(),
                    runs.len().to_string(),
                    or_dash(ranks.percentile(P50).map(percent)),
                    or_dash(ranks.max().map(percent)),
                    format!("{within} of {}", runs.len()),
                    format!("{same} of {}", runs.len()),
                    range,
                    or_dash(late.percentile(P50).map(|ns| format!("{ns:.0} ns"))),
                    format!("{held} of {}", cell.valid(dilation).count()),
                ],
            );
        }
    }
    out + "\n"
}

/// PAUSE messages that runs have sent, least to most.
fn sent<'a>(sides: impl Iterator<Item = &'a SideBySide>) -> String {
    let of = |side: &SideBySide| -> f64 { side.pauses.iter().filter_map(|p| p.live).sum() };
    let pauses = Sorted::new(sides.map(of));
    or_dash(pauses.min().zip(pauses.max()).map(|(a, b)| format!("{a:.0} to {b:.0}")))
}

/// PAUSE messages of all ports: simulated, and the median of live runs.
fn pauses(runs: &[&Attempt]) -> (Option<f64>, Option<f64>) {
    let sides = || runs.iter().filter_map(|run| run.side.as_ref());
    let simulated = sides().next().map(|s| s.pauses.iter().filter_map(|p| p.simulated).sum());
    let live = sides().map(|s| s.pauses.iter().filter_map(|p| p.live).sum());
    (simulated, Sorted::new(live).percentile(P50))
}

/// The metric with each dilation.
fn invariance(study: &Study) -> String {
    let mut out = String::from(
        "## Dilations\n\nWhat a scenario does must not depend on how slowly it is run: medians \
         over the runs that count, and by how much they are off that of the first dilation at \
         most.\n\n",
    );
    let names: Vec<String> = study.dilations.iter().map(ToString::to_string).collect();
    let mut columns = vec!["", "of", "metric"];
    columns.extend(names.iter().map(String::as_str));
    columns.push("largest difference");
    heads(&mut out, &columns);
    for cell in &study.cells {
        for (i, class) in cell.classes.iter().enumerate() {
            let medians: Vec<Option<f64>> =
                study.dilations.iter().map(|&d| cell.live(d, i).percentile(P50)).collect();
            let apart = medians[0].and_then(|first| {
                let others = medians[1..].iter().flatten().map(|x| (x / first - 1.0).abs());
                others.reduce(f64::max)
            });
            let mut cells = vec![cell.name(), class.name.clone(), format!("`{}`", class.metric)];
            let show = |x: &Option<f64>| match x {
                Some(x) => format::quantity(class.unit, *x),
                None => "none valid".into(),
            };
            cells.extend(medians.iter().map(show));
            cells.push(or_dash(apart.map(percent)));
            row(&mut out, &cells);
        }
    }
    out + "\n"
}

/// Why runs do not count, and how far off they were.
fn reasons(study: &Study) -> String {
    let invalid = |cell: &Cell| cell.attempts.iter().filter(|a| !a.counts()).count();
    if study.cells.iter().all(|cell| invalid(cell) == 0) {
        return String::new();
    }
    let mut out = String::from(
        "## Invalid runs\n\nThe largest difference of a flow shows what a late machine does; it \
         counts nowhere.\n\n",
    );
    heads(
        &mut out,
        &[
            "",
            "dilation",
            "invalid runs",
            "99.9 % of frames less late than, median",
            "worst in order, median",
        ],
    );
    let mut why: BTreeMap<String, usize> = BTreeMap::new();
    for cell in &study.cells {
        for &dilation in &study.dilations {
            let runs: Vec<&Attempt> = cell.invalid(dilation).collect();
            for reason in runs.iter().flat_map(|a| &a.invalid) {
                *why.entry(without_numbers(reason)).or_default() += 1;
            }
            if runs.is_empty() {
                continue;
            }
            let latest = Sorted::new(runs.iter().filter_map(|a| a.late.p999_ns));
            let worst = Sorted::new(runs.iter().filter_map(|a| a.worst_rank()));
            row(
                &mut out,
                &[
                    cell.name(),
                    dilation.to_string(),
                    runs.len().to_string(),
                    or_dash(latest.percentile(P50).map(|ns| format!("{ns:.0} ns"))),
                    or_dash(worst.percentile(P50).map(percent)),
                ],
            );
        }
    }
    out.push('\n');
    for (reason, n) in why {
        let _ = writeln!(out, "- {}: {reason}", format::plural(n as u64, "run"));
    }
    out + "\n"
}

/// Reasons are counted by what they say, not by how much.
fn without_numbers(reason: &str) -> String {
    match reason.starts_with("one frame in a thousand ") {
        true => "more than one frame in a thousand was later than the bound".into(),
        false => reason.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').into(),
    }
}
