//! Every stored run of the HPCC ns-3 simulator under the native model, beside the compatible one.
//!
//! ```text
//! cargo run --release -p weir-results --example ns3_native -- [PREFIX] [OPTION]...
//! ```
//!
//! PREFIX takes the cases whose names begin with it. What a difference is due to shows when it goes
//! away:
//!
//! | option | |
//! |---|---|
//! | `--original-paths` | every flow takes the path that the original's hash chooses |
//! | `--reverse-ports` | another of two packets that arrive together goes first |
//! | `KEY=value` | another value of a key of the original's configuration, for both |
//! | `40Gbps=50Gbps` | links of another rate, for both |
//! | `--one-priority` | all flows have priority 3, for both |
//! | `seed=N` | other random marks and bit errors |
//! | `section.key=value` | another setting of the converted scenario |
//! | `seeds=N` | means over N seeds, the compatible run's random stream shifted as often |
//! | `--flows` | lists flows instead of cases |

#[path = "../../ns3/tests/common/stored.rs"]
#[allow(dead_code, reason = "counters and queues are for the tests of weir-ns3")]
mod stored;

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use stored::Case;
use weir_core::Time;
use weir_results::ns3::Inputs;
use weir_results::ns3::import::Ways;
use weir_results::ns3::native::{Changes, Comparison, compare};
use weir_results::run::Meter;

/// How long the native model may take for one case.
const LONGEST: Duration = Duration::from_secs(120);

fn main() {
    let mut one_priority = false;
    let (mut changes, mut flows, mut prefix) = (Changes::default(), false, String::new());
    let (mut seeds, mut keys, mut rates) = (1, String::new(), Vec::<(String, String)>::new());
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--original-paths" => changes.ways = Ways::Original,
            "--reverse-ports" => changes.reversed = true,
            "--one-priority" => one_priority = true,
            "--flows" => flows = true,
            other => match other.split_once('=') {
                Some((from, to)) if from.ends_with("bps") => rates.push((from.into(), to.into())),
                Some((key, value)) if key.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    keys += &format!("{key} {value}\n");
                }
                Some(("seed", n)) => changes.seed = n.parse().expect("a seed is a number"),
                Some(("seeds", n)) => seeds = n.parse().expect("seeds are counted"),
                Some(_) => changes.sets.push(other.to_owned()),
                None => prefix = other.to_owned(),
            },
        }
    }
    let mut chosen = stored::cases();
    chosen.retain(|c| c.name.starts_with(&prefix));
    for case in &mut chosen {
        case.files.get_mut("config.txt").expect("every case has one").push_str(&keys);
        if one_priority {
            let list = case.files.get_mut("flow.txt").expect("every case has one");
            *list = list.lines().map(in_priority_3).collect();
        }
        for (from, to) in &rates {
            let topology = case.files.get_mut("topology.txt").expect("every case has one");
            *topology = topology.replace(&format!(" {from} "), &format!(" {to} "));
        }
    }
    if seeds > 1 {
        return over_seeds(&chosen, &changes, seeds);
    }
    println!(
        "| case | hosts | flows | mean FCT ns-3 (us) | native (us) | mean % | p99 % | worst flow % \
         | pauses ns-3 | native | |\n|---|---|---|---|---|---|---|---|---|---|---|"
    );
    for case in &chosen {
        let inputs = stored::inputs(case);
        match limited(&inputs, &changes) {
            Ok(c) if flows => list(&case.name, &c),
            Ok(c) => println!("{}", row(&case.name, &inputs, &c)),
            Err(why) => {
                let first = why.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
                println!("| {} | not converted: {first} |", case.name);
            }
        }
    }
}

/// A line of a flow file with its priority replaced; the first line, a count, stays.
fn in_priority_3(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if let Some(priority) = words.get_mut(2) {
        *priority = "3";
    }
    words.join(" ") + "\n"
}

/// The mean completion time of each case over several random streams, for both models.
fn over_seeds(cases: &[Case], changes: &Changes, seeds: u64) {
    println!("| case | mean FCT ns-3 (us) | native (us) | mean % |\n|---|---|---|---|");
    for case in cases {
        let inputs = stored::inputs(case);
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for seed in 1..=seeds {
            let idle_hosts = seed as usize - 1;
            let changes = Changes { seed, idle_hosts, ..changes.clone() };
            let Ok(c) = limited(&inputs, &changes) else { continue };
            let (compat, native) = c.times();
            theirs.extend(compat.mean());
            ours.extend(native.mean());
        }
        let Some((a, b)) = Spread::new(&theirs).zip(Spread::new(&ours)) else { continue };
        let error = (a.error.powi(2) + b.error.powi(2)).sqrt();
        let percent = |us: f64| 100.0 * us / a.mean;
        let (difference, error) = (percent(b.mean - a.mean), percent(error));
        println!("| `{}` | {a} | {b} | {difference:+.2} ± {error:.2} |", case.name);
    }
}

/// A mean with its standard error and range.
struct Spread {
    mean: f64,
    error: f64,
    range: (f64, f64),
}

impl Spread {
    fn new(samples: &[f64]) -> Option<Self> {
        let n = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / n;
        let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
        let fold = |f: fn(f64, f64) -> f64| samples.iter().copied().reduce(f);
        let range = (fold(f64::min)?, fold(f64::max)?);
        Some(Self { mean, error: (squares / (n - 1.0) / n).sqrt(), range })
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (low, high) = self.range;
        write!(f, "{:.1} ± {:.1} ({low:.0} to {high:.0})", self.mean, self.error)
    }
}

/// Both runs, the native one interrupted when it takes too long.
fn limited(inputs: &Inputs, changes: &Changes) -> Result<Comparison, String> {
    let meter = Meter::new(1);
    std::thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        let meter = &meter;
        scope.spawn(move || {
            if wait.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                meter.interrupt();
            }
        });
        let result = compare(inputs, changes, meter);
        drop(done);
        result
    })
}

fn row(name: &str, inputs: &Inputs, c: &Comparison) -> String {
    let hosts = inputs.topology.is_switch.iter().filter(|&&s| !s).count();
    let (compat, native) = c.times();
    let mean = |s: Option<f64>| s.map_or_else(|| "-".into(), |us| format!("{us:.2}"));
    let signed = |p: Option<f64>| p.map_or_else(|| "-".into(), |p| format!("{p:+.2}"));
    let worst = c.worst().map_or_else(String::new, |f| {
        format!("{} (h{} to h{}, #{})", signed(f.difference()), f.src, f.dst, f.nth)
    });
    let remark = remark(c);
    format!(
        "| `{name}` | {hosts} | {} | {} | {} | {} | {} | {worst} | {} | {} | {remark} |",
        c.flows.len(),
        mean(compat.mean()),
        mean(native.mean()),
        signed(c.mean_difference()),
        signed(c.p99_difference()),
        c.compat_pauses,
        c.native_pauses
    )
}

/// What did not finish, and what was lost.
fn remark(c: &Comparison) -> String {
    let mut parts = Vec::new();
    if c.unfinished() != (0, 0) {
        let (theirs, ours) = c.unfinished();
        parts.push(format!("unfinished: {theirs} ns-3, {ours} native"));
    }
    if c.compat_drops > 0 {
        parts.push(format!("ns-3 lost {} in switches", c.compat_drops));
    }
    let mut lost: BTreeMap<&str, u64> = BTreeMap::new();
    for d in &c.native_drops {
        *lost.entry(d.reason.name()).or_default() += d.packets;
    }
    parts.extend(lost.iter().map(|(reason, packets)| format!("native lost {packets} ({reason})")));
    parts.join("; ")
}

fn list(name: &str, c: &Comparison) {
    let us = |t: Option<Time>| {
        t.map_or_else(|| "-".into(), |t| format!("{:.3}", t.as_ps() as f64 / 1e6))
    };
    for note in &c.notes {
        println!("{name}: {note}");
    }
    for f in &c.flows {
        let difference = f.difference().map_or_else(|| "-".into(), |d| format!("{d:+.2} %"));
        let (compat, native) = (us(f.compat), us(f.native));
        println!("{name}: h{} to h{} #{}: {compat} {native} {difference}", f.src, f.dst, f.nth);
    }
}
