//! One side of a comparison: runs that were just made, or results that were written earlier.

use super::settings::flatten;
use crate::search::RunError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use weir_core::{NodeId, PortId};
use weir_results::records::{Records, RecordsError, Row};
use weir_results::run::Run;
use weir_scenario::resolve::Base;
use weir_scenario::{Experiment, Variant};
use weir_sim::outcome::Finish;

/// The runs of one side.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// Keys of its scenario and their values.
    pub settings: BTreeMap<String, String>,
    /// One per seed.
    pub runs: Vec<Facts>,
    /// The ports of the network, used or not; `None` for results, which list those that were used.
    pub network: Option<BTreeSet<String>>,
}

/// What is compared of one run.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Its seed.
    pub seed: u64,
    /// Hash of its traffic.
    pub traffic: String,
    /// Whether it ended in a deadlock.
    pub deadlock: bool,
    /// Its flows.
    pub flows: Vec<FlowFacts>,
    /// The ports of all nodes.
    pub ports: Vec<PortFacts>,
    /// Flows held by pauses that began at ports they never use.
    pub victims: BTreeSet<String>,
}

/// A flow.
#[derive(Clone, Debug, Default)]
pub struct FlowFacts {
    /// Its name, the same on both sides.
    pub id: String,
    /// Its class.
    pub class: String,
    /// From and to.
    pub ends: [String; 2],
    /// Completion time, picoseconds; `None` if it did not complete.
    pub fct: Option<f64>,
    /// Completion time divided by the ideal one.
    pub slowdown: Option<f64>,
    /// Whether it has an end.
    pub finite: bool,
    /// Packets lost.
    pub lost: u64,
}

impl FlowFacts {
    /// `f1.0, h1 to h0`.
    pub fn label(&self) -> String {
        format!("{}, {} to {}", self.id, self.ends[0], self.ends[1])
    }
}

/// A port.
#[derive(Clone, Debug, Default)]
pub struct PortFacts {
    /// Its name.
    pub name: String,
    /// Packets dropped.
    pub dropped: u64,
    /// Pauses it sent.
    pub pauses: u64,
    /// Time it was held, summed over priorities, picoseconds.
    pub held: u64,
}

/// Why results cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SideError {
    /// A file that cannot be read.
    #[error("cannot read {file}: {why}")]
    File {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// A directory with several rows.
    #[error(
        "{directory} has the results of {}: choose one, such as {directory}:{}",
        .variants.join(", "), .variants.first().map_or("", String::as_str)
    )]
    Variants {
        /// The directory.
        directory: String,
        /// Its rows.
        variants: Vec<String>,
    },
    /// A row that the directory does not have.
    #[error("{directory} has no results of `{wanted}`, only of {}", .variants.join(", "))]
    NoVariant {
        /// The directory.
        directory: String,
        /// What was asked for.
        wanted: String,
        /// Its rows.
        variants: Vec<String>,
    },
    /// Results of a run that was interrupted.
    #[error(
        "{directory} is incomplete: the run of {variant} with seed {seed} was interrupted, so its \
         flows ended early; run it again"
    )]
    Interrupted {
        /// The directory.
        directory: String,
        /// The row.
        variant: String,
        /// The seed.
        seed: u64,
    },
    /// A run that failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Side {
    /// The run with a seed.
    pub fn run(&self, seed: u64) -> Option<&Facts> {
        self.runs.iter().find(|r| r.seed == seed)
    }

    /// Runs a scenario with some seeds.
    pub fn simulate(
        name: &str,
        base: &Base,
        e: &Experiment,
        variant: Variant,
        (seeds, jobs): (&[u64], usize),
        interrupt: &AtomicBool,
    ) -> Result<Self, RunError> {
        let runs = crate::search::each_seed(e, variant, seeds, jobs, interrupt);
        let mut facts = Vec::new();
        for (run, &seed) in runs.into_iter().zip(seeds) {
            let run = run.ok_or(RunError::Interrupted)?;
            let sets = || name.to_owned();
            let run = run.map_err(|error| RunError::Failed { sets: sets(), seed, error })?;
            if run.interrupted() {
                return Err(RunError::Interrupted);
            }
            facts.push(Facts::of_run(e, &run));
        }
        let mut settings = flatten(&base.root);
        settings.insert("flow-control.scheme".into(), variant.scheme.name.into());
        settings.insert("congestion-control.algorithm".into(), variant.cc.name().into());
        settings.remove("run.seeds");
        let topo = &e.topology;
        let nodes = (0..topo.nodes().len()).map(NodeId::from_index);
        let ends = nodes.flat_map(|n| (0..topo.ports(n).len()).map(move |p| (n, p)));
        let ports = ends.map(|(n, p)| topo.port_label(n, PortId::from_index(p)));
        let network = Some(ports.collect());
        Ok(Self { name: name.to_owned(), settings, runs: facts, network })
    }

    /// Reads the results of `weir run` or `weir compare`: of one row, if there are several.
    pub fn read(directory: &Path, wanted: Option<&str>) -> Result<Self, SideError> {
        let shown = directory.display().to_string();
        let mut rows: BTreeMap<(String, u64), Facts> = BTreeMap::new();
        let scheme = read_summary(directory, &mut rows)?;
        let variants: BTreeSet<String> = rows.keys().map(|(v, _)| v.clone()).collect();
        let variants: Vec<String> = variants.into_iter().collect();
        let chosen = match (wanted, &variants[..]) {
            (Some(wanted), all) if all.iter().any(|v| v == wanted) => wanted.to_owned(),
            (Some(wanted), _) => {
                let wanted = wanted.to_owned();
                return Err(SideError::NoVariant { directory: shown, wanted, variants });
            }
            (None, [one]) => one.clone(),
            (None, _) => return Err(SideError::Variants { directory: shown, variants }),
        };
        rows.retain(|(variant, _), _| *variant == chosen);
        read_tables(directory, &mut rows)?;
        let mut settings = written_settings(directory)?;
        let (scheme, cc) = scheme.get(&chosen).cloned().unwrap_or_default();
        settings.insert("flow-control.scheme".into(), scheme);
        settings.insert("congestion-control.algorithm".into(), cc);
        settings.remove("run.seeds");
        let name = wanted.map_or_else(|| shown.clone(), |w| format!("{shown}:{w}"));
        Ok(Self { name, settings, runs: rows.into_values().collect(), network: None })
    }
}

impl Facts {
    /// What is compared of a run.
    pub fn of_run(e: &Experiment, run: &Run) -> Self {
        let topo = &e.topology;
        let flows = run.outcome.flows.iter().map(|f| FlowFacts {
            id: f.id.to_string(),
            class: e.classes()[f.class.index()].clone(),
            ends: [f.src(), f.dst].map(|n| topo.name(n).to_owned()),
            fct: f.fct().map(|t| t.as_ps() as f64),
            slowdown: f.slowdown(),
            finite: f.size != weir_core::Bytes::MAX,
            lost: f.lost(),
        });
        let ports = run.outcome.ports.iter().map(|p| PortFacts {
            name: topo.port_label(p.node, p.port),
            dropped: p.dropped,
            pauses: p.pauses_sent.iter().sum(),
            held: p.held_time.iter().map(|t| t.as_ps()).sum(),
        });
        let victims = run.pause_trees(e).iter().flat_map(|t| &t.victims);
        Self {
            seed: run.variant.seed,
            traffic: format!("{:016x}", run.outcome.traffic_hash),
            deadlock: matches!(run.outcome.finish, Finish::Deadlock(_)),
            flows: flows.collect(),
            ports: ports.collect(),
            victims: victims.map(|v| v.flow.to_string()).collect(),
        }
    }
}

fn fail(file: &Path, why: impl ToString) -> SideError {
    SideError::File { file: file.display().to_string(), why: why.to_string() }
}

/// Scheme and congestion control of each row.
type Schemes = BTreeMap<String, (String, String)>;

/// The runs that `summary.json` lists.
fn read_summary(
    directory: &Path,
    rows: &mut BTreeMap<(String, u64), Facts>,
) -> Result<Schemes, SideError> {
    let file = directory.join("summary.json");
    let text = std::fs::read_to_string(&file).map_err(|e| fail(&file, e))?;
    let all: serde_json::Value = serde_json::from_str(&text).map_err(|e| fail(&file, e))?;
    let one = std::slice::from_ref(&all);
    let runs = all["runs"].as_array().map_or(one, Vec::as_slice);
    if runs.is_empty() {
        return Err(fail(&file, "it lists no runs"));
    }
    let mut schemes = Schemes::new();
    for run in runs {
        let text = |key: &str| run[key].as_str().map(str::to_owned);
        let (Some(variant), Some(seed)) = (text("variant"), run["seed"].as_u64()) else {
            return Err(fail(&file, "it does not list runs with `variant` and `seed`"));
        };
        let finish = run["finish"]["how"].as_str();
        if finish == Some("interrupted") {
            let directory = directory.display().to_string();
            return Err(SideError::Interrupted { directory, variant, seed });
        }
        let deadlock = finish == Some("deadlock");
        let names = (text("scheme").unwrap_or_default(), text("cc").unwrap_or_default());
        schemes.insert(variant.clone(), names);
        let traffic = text("traffic").unwrap_or_default();
        rows.insert((variant, seed), Facts { seed, traffic, deadlock, ..Facts::default() });
    }
    Ok(schemes)
}

/// What stands in a column, empty where there is none.
fn text<'a>(row: &'a Row, column: &str) -> &'a str {
    row.optional(column).unwrap_or_default()
}

fn number(row: &Row, column: &str) -> Option<f64> {
    text(row, column).parse().ok()
}

/// `3:11 4:2`: the sum over priorities.
fn by_priority(row: &Row, column: &str) -> u64 {
    let parts = text(row, column).split_whitespace();
    parts.filter_map(|p| p.rsplit_once(':')?.1.parse::<u64>().ok()).sum()
}

fn read_tables(
    directory: &Path,
    rows: &mut BTreeMap<(String, u64), Facts>,
) -> Result<(), SideError> {
    each_line(directory, "flows.csv", rows, |run, line| {
        run.flows.push(FlowFacts {
            id: text(line, "flow").to_owned(),
            class: text(line, "class").to_owned(),
            ends: ["src", "dst"].map(|end| text(line, end).to_owned()),
            fct: number(line, "fct_ps"),
            // of whole picoseconds rather than of the rounded column, as in a run
            slowdown: number(line, "fct_ps").zip(number(line, "ideal_ps")).map(|(x, y)| x / y),
            finite: !text(line, "size").is_empty(),
            lost: number(line, "lost").unwrap_or(0.0) as u64,
        });
    })?;
    each_line(directory, "ports.csv", rows, |run, line| {
        run.ports.push(PortFacts {
            name: text(line, "port").to_owned(),
            dropped: number(line, "dropped").unwrap_or(0.0) as u64,
            pauses: by_priority(line, "pauses_sent"),
            held: by_priority(line, "held_ps"),
        });
    })?;
    each_line(directory, "victims.csv", rows, |run, line| {
        run.victims.insert(text(line, "flow").to_owned());
    })
}

fn each_line(
    directory: &Path,
    name: &str,
    rows: &mut BTreeMap<(String, u64), Facts>,
    mut add: impl FnMut(&mut Facts, &Row),
) -> Result<(), SideError> {
    let file = directory.join(name);
    let wrong = |e: RecordsError| match e {
        RecordsError::File { source, .. } => fail(&file, source),
        RecordsError::Form { why, .. } => fail(&file, why),
        other => fail(&file, other),
    };
    for row in Records::open(&file).map_err(wrong)? {
        let row = row.map_err(wrong)?;
        let seed = text(&row, "seed").parse().unwrap_or(0);
        if let Some(run) = rows.get_mut(&(text(&row, "variant").to_owned(), seed)) {
            add(run, &row);
        }
    }
    Ok(())
}

/// The settings of the scenario that lies beside the results.
fn written_settings(directory: &Path) -> Result<BTreeMap<String, String>, SideError> {
    let file = directory.join("scenario.toml");
    let text = std::fs::read_to_string(&file).map_err(|e| fail(&file, e))?;
    let mut out = weir_scenario::text::Diagnostics::default();
    let files = weir_scenario::Files::default();
    let base = Base::read(&file.display().to_string(), &text, files, &[], &mut out);
    Ok(flatten(&base.root))
}
