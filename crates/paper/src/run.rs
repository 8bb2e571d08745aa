//! Running experiments on the sweep machinery, and judging what comes out.
//!
//! ```text
//!   OUT/quick/ofc/ofc-e1/          a sweep directory per experiment with runs of its own
//!     origin.json                  which paper it is an experiment of
//!     plan.jsonl input/ results/   what `weir sweep status` and `weir sweep run` understand
//!     runs.csv ... verdicts.csv    written at the end
//!   OUT/with/link.rate=100Gbps/quick/    the same for runs with `--set link.rate=100Gbps`
//! ```

use super::catalogue::{Chosen, Paper};
use super::changed;
use super::claim::Claim;
use super::experiment::{Experiment, Mode, Work};
use super::judge::{Library, judge};
use super::origin;
use super::setting::{Setting, Trouble};
use super::tables::Tables;
use super::verdict::{ClaimOutcome, Verdict};
use std::path::PathBuf;
use weir_results::report::Formats;
use weir_results::sheet::Sheet;
use weir_scenario::Problems;
use weir_scenario::text::{Diagnostic, Diagnostics, Sources};
use weir_sweep::SweepError;
use weir_sweep::directory::SweepDir;
use weir_sweep::files::files;
use weir_sweep::merge::Merged;
use weir_sweep::plan::{ANY_BUILD, Plan};
use weir_sweep::store::replace;

/// A sweep of an experiment, planned.
#[derive(Debug)]
pub struct Planned {
    /// The experiment.
    pub id: String,
    /// Its directory.
    pub directory: SweepDir,
    /// What is odd about its runs, and the texts that shows.
    pub warnings: (Diagnostics, Sources),
    /// Variants that changed settings do not change, in words.
    pub unchanged: Vec<String>,
}

/// Plans the sweeps of all chosen experiments, and of those whose runs they use; results that fit
/// stay.
pub fn plan(chosen: &[Chosen], setting: &Setting) -> Result<Vec<Planned>, Trouble> {
    check_names(chosen)?;
    origin::check_all(chosen, setting)?;
    let mut all: Vec<Planned> = Vec::new();
    for c in chosen {
        for e in c.experiments.iter().map(|&at| c.paper.runs_of(&c.paper.experiments[at])) {
            let path = setting.directory(&c.paper, e);
            if all.iter().any(|p| p.directory.path == path) {
                continue;
            }
            let overrides = &setting.overrides;
            let draft = e.draft(setting.mode, overrides, &c.paper.sources, &c.paper.files);
            let Some(draft) = draft else { continue };
            let mut planned = draft.and_then(|draft| draft.plan()).map_err(Trouble::Problems)?;
            let unchanged = changed::unchanged(&c.paper, e, setting, &planned.plan)?;
            if setting.any_build {
                ANY_BUILD.clone_into(&mut planned.plan.head.build);
            }
            let directory = SweepDir::new(&path);
            directory.write(&planned)?;
            let warnings = (planned.warnings, planned.sources);
            all.push(Planned { id: e.id.clone(), directory, warnings, unchanged });
        }
    }
    for c in chosen {
        for e in c.experiments.iter().map(|&at| &c.paper.experiments[at]) {
            origin::write(&c.paper, c.paper.runs_of(e), setting)?;
            origin::write(&c.paper, e, setting)?;
        }
    }
    Ok(all)
}

/// Directories and reports are named after experiments.
fn check_names(chosen: &[Chosen]) -> Result<(), Trouble> {
    let mut seen: Vec<(String, &str)> = Vec::new();
    for c in chosen {
        for e in &c.paper.experiments {
            let id = e.id.to_lowercase();
            if let Some((_, other)) = seen.iter().find(|(known, _)| *known == id) {
                let title = format!("`{}` is an experiment of {other} and of {}", e.id, c.paper.id);
                let error =
                    Diagnostic::error(title).help("experiments of all papers differ in their `id`");
                return Err(Trouble::Problems(Problems::plain(error)));
            }
            seen.push((id, &c.paper.id));
        }
    }
    Ok(())
}

/// What there is of one experiment.
#[derive(Clone, Debug)]
pub struct Collected<'a> {
    /// Of which paper.
    pub paper: &'a Paper,
    /// Which.
    pub experiment: &'a Experiment,
    /// The directory of its runs.
    pub directory: PathBuf,
    /// The plan of its runs; `None` if there are none, or none were planned.
    pub plan: Option<Plan>,
    /// Why it has no numbers; empty if it has.
    pub not_run: String,
    /// Its numbers.
    pub tables: Tables,
    /// What they say about the paper's claims.
    pub verdicts: Vec<Verdict>,
}

impl Collected<'_> {
    /// Whether there is anything to show: runs were planned, or it needs none and was asked for.
    pub fn was_planned(&self, setting: &Setting) -> bool {
        let own = setting.directory(self.paper, self.experiment);
        self.plan.is_some() || own.join("verdicts.csv").exists()
    }

    /// The claim of a verdict.
    pub fn claim(&self, verdict: &Verdict) -> &Claim {
        &self.paper.claims[verdict.claim]
    }
}

/// Reads what there is of all chosen experiments, and judges their claims.
pub fn collect<'a>(
    chosen: &'a [Chosen],
    setting: &Setting,
) -> Result<Vec<Collected<'a>>, SweepError> {
    let mut all = Vec::new();
    for c in chosen {
        for &at in &c.experiments {
            all.push(collect_one(&c.paper, &c.paper.experiments[at], setting)?);
        }
    }
    let others = others(chosen, &all, setting)?;
    let verdicts: Vec<Vec<Verdict>> = all
        .iter()
        .map(|c| {
            let shelf = Shelf { paper: c.paper, chosen: &all, others: &others };
            verdicts(c, &shelf, setting.mode)
        })
        .collect();
    all.iter_mut().zip(verdicts).for_each(|(c, verdicts)| c.verdicts = verdicts);
    Ok(all)
}

/// Experiments that were not chosen, but that claims about chosen ones look at.
fn others<'a>(
    chosen: &'a [Chosen],
    all: &[Collected<'a>],
    setting: &Setting,
) -> Result<Vec<Collected<'a>>, SweepError> {
    let mut found: Vec<Collected<'a>> = Vec::new();
    for Chosen { paper, experiments } in chosen {
        let asked = |id: &str| experiments.iter().any(|&at| paper.experiments[at].id == id);
        let claims = paper.claims.iter().filter(|c| asked(&c.experiment));
        for id in claims.flat_map(Claim::experiments) {
            let has = |c: &Collected<'_>| c.paper.id == paper.id && c.experiment.id == id;
            if all.iter().chain(&found).any(has) {
                continue;
            }
            if let Some(e) = paper.experiments.iter().find(|e| e.id == id) {
                found.push(collect_one(paper, e, setting)?);
            }
        }
    }
    Ok(found)
}

/// The experiments of a paper, for claims about several.
struct Shelf<'a> {
    paper: &'a Paper,
    chosen: &'a [Collected<'a>],
    others: &'a [Collected<'a>],
}

impl Library for Shelf<'_> {
    fn tables(&self, experiment: &str) -> Option<&Tables> {
        let all = self.chosen.iter().chain(self.others);
        let own = |c: &&Collected<'_>| {
            c.paper.id == self.paper.id && c.experiment.id == experiment && c.not_run.is_empty()
        };
        all.into_iter().find(own).map(|c| &c.tables)
    }
}

fn verdicts(c: &Collected<'_>, library: &dyn Library, mode: Mode) -> Vec<Verdict> {
    let mut verdicts = judge_all(c.paper, c.experiment, library, mode);
    if !c.not_run.is_empty() {
        for v in verdicts.iter_mut().filter(|v| !matches!(v.outcome, ClaimOutcome::NotMeasured(_)))
        {
            v.outcome = ClaimOutcome::Missing(c.not_run.clone());
        }
    }
    verdicts
}

/// Judges the claims about an experiment by tables that are there already.
pub(super) fn judge_all(
    paper: &Paper,
    e: &Experiment,
    library: &dyn Library,
    mode: Mode,
) -> Vec<Verdict> {
    let own = |(_, claim): &(usize, &Claim)| claim.experiment == e.id;
    let claims = paper.claims.iter().enumerate().filter(own);
    claims.flat_map(|(i, claim)| judge(i, claim, library, mode)).collect()
}

fn collect_one<'a>(
    paper: &'a Paper,
    experiment: &'a Experiment,
    setting: &Setting,
) -> Result<Collected<'a>, SweepError> {
    let runs_of = paper.runs_of(experiment);
    for e in [experiment, runs_of] {
        origin::check(paper, e, setting)?;
    }
    let directory = setting.directory(paper, runs_of);
    let (mut plan, mut not_run) = (None, String::new());
    let tables = match &runs_of.work {
        Work::FlowSizes(sizes) => Tables::of_sizes(sizes),
        _ if directory.join("plan.jsonl").exists() => {
            let sweep = SweepDir::new(&directory);
            let found = sweep.plan()?;
            let results = sweep.read_results(&found)?;
            if let Some((id, _)) = results.runs.iter().find(|(_, k)| k.conflict.is_some()) {
                let shown = directory.display();
                return Err(SweepError::Other(format!(
                    "two results of run {id} differ: remove the wrong file from {shown}/results"
                )));
            }
            let tables = Tables::new(&runs_of.scope, &found, &results);
            plan = Some(found);
            tables
        }
        _ => {
            not_run = format!("{} was not run", runs_of.id);
            Tables::default()
        }
    };
    let verdicts = Vec::new();
    Ok(Collected { paper, experiment, directory, plan, not_run, tables, verdicts })
}

/// Writes the tables and verdicts of an experiment into its directory.
pub fn write(c: &Collected<'_>, setting: &Setting) -> Result<(), SweepError> {
    let own = setting.directory(c.paper, c.experiment);
    std::fs::create_dir_all(&own).map_err(|e| SweepError::io(&own, e))?;
    replace(&own.join("verdicts.csv"), &verdicts_csv(c.paper, c.experiment, &c.verdicts))?;
    let Some(plan) = c.plan.as_ref().filter(|_| own == c.directory) else {
        if let Work::FlowSizes(_) = &c.experiment.work {
            replace(&own.join("shares.csv"), &c.tables.shares_csv())?;
        }
        return Ok(());
    };
    let results = SweepDir::new(&own).read_results(plan)?;
    for (name, bytes) in files(&Merged::new(plan, &results), plan, Formats::Csv)? {
        replace(&own.join(name), &bytes)?;
    }
    Ok(())
}

/// The verdicts of an experiment as a table; no cell depends on when or where it was made.
pub fn verdicts_csv(paper: &Paper, e: &Experiment, verdicts: &[Verdict]) -> Vec<u8> {
    let claim = |v: &Verdict| &paper.claims[v.claim];
    let judged = |v: &Verdict| v.outcome.judgement().is_some();
    // an end without a bound is `inf`
    let number = |x: Option<f64>| x.map(|x| x.to_string());
    Sheet::new()
        .column("paper", |_: &Verdict| paper.id.as_str())
        .column("experiment", |_| e.id.as_str())
        .column("claim", move |v| claim(v).id.as_str())
        .column("where", move |v| claim(v).place.as_str())
        .column("says", move |v| claim(v).says.as_str())
        .column("kind", move |v| claim(v).sort().name())
        .column("reading", move |v| claim(v).reading.as_str())
        .column("variant", |v| v.reading.as_str())
        .column("primary", |v| v.primary.to_string())
        .column("calibrated", move |v| claim(v).calibrated.to_string())
        .column("own_check", |_| e.own_check.to_string())
        .column("stated", |v| v.paper.as_str())
        .column("rule", |v| v.rule.as_str())
        .column("measured", |v| v.measured.as_str())
        .column("method", |v| v.method)
        // 1 - 0.05 / 6, without the noise of the last places
        .column("level", move |v| judged(v).then(|| format!("{:.6}", v.level)))
        .column("seeds", move |v| judged(v).then_some(v.seeds as u64))
        .column("estimate", move |v| number(v.estimate))
        .column("low", move |v| number(v.interval.map(|i| i.low)))
        .column("high", move |v| number(v.interval.map(|i| i.high)))
        .column("looks", move |v| judged(v).then_some(1u64))
        .column("warm_up_ps", |v| v.warm_up_ps)
        .column("stationary", |v| v.window.name())
        .column("needed_seeds", |v| v.needed.map(|n| n as u64))
        .column("few", move |v| judged(v).then(|| v.few.to_string()))
        .column("runs", |v| v.runs as u64)
        .column("verdict", |v| v.outcome.name())
        .column("size", |v| v.outcome.size())
        .column("why", |v| v.reason())
        .column("rows", |v| v.rows.join("; "))
        .csv(verdicts)
}
