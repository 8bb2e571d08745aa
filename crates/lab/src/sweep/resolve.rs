//! From a scenario with changes to something that runs, and to the name of what runs.
//!
//! Networks are built once for all runs that have the same.

use super::grid::{Change, Grid, VariantSpec};
use super::hash::Sha256;
use crate::experiment::{Built, Experiment, Variant, build};
use crate::scenario::{Files, Problems, Scenario, control};
use crate::text::{Diagnostic, Diagnostics, Sources, Table, apply_override, put_at};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use weir_sim::config::EngineConfig;

/// Networks that were built so far, by the text of `[topology]` and the routing.
#[derive(Debug, Default)]
pub(crate) struct Fabrics(Mutex<BTreeMap<String, Fabric>>);

/// A network, and the hash of what it is.
#[derive(Clone, Debug)]
struct Fabric {
    built: Built,
    hash: Arc<str>,
}

/// More networks than this are not kept: a sweep of sizes does not come back to them.
const KEPT: usize = 32;

/// A scenario as read from its file, to which runs make changes.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) name: String,
    pub(crate) sources: Sources,
    pub(crate) root: Table,
    pub(crate) files: Files,
}

/// One variant at one point: everything but the seed.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) experiment: Experiment,
    /// With a seed of zero.
    pub(crate) variant: Variant,
    /// Names what it is.
    pub(crate) hash: String,
}

/// A scenario that is put together but for scheme and algorithm.
struct Unnamed {
    experiment: Experiment,
    fabric: Arc<str>,
}

impl Unnamed {
    fn with(self, variant: Variant) -> Resolved {
        let hash = fingerprint(&self.experiment, variant, &self.fabric);
        Resolved { experiment: self.experiment, variant, hash }
    }
}

/// The name of the run of a resolved scenario with a seed.
pub(crate) fn run_id(hash: &str, seed: u64) -> String {
    let mut text = super::hash::sha256(format!("{hash} {seed}").as_bytes());
    text.truncate(32);
    text
}

impl Base {
    /// Makes changes, in order, and puts the result together.
    pub(crate) fn resolve(
        &self,
        changes: &[Change],
        spec: Option<&VariantSpec>,
        fabrics: &Fabrics,
    ) -> Result<Resolved, Problems> {
        let mut root = self.root.clone();
        let mut out = Diagnostics::default();
        for change in changes {
            let steps: Vec<_> = change.path.iter().map(|(n, at)| (n.as_str(), *at)).collect();
            if let Err(problem) = put_at(&mut root, &steps, change.item.clone()) {
                out.push(problem);
            }
        }
        let resolved = self.finish(&root, self.sources.clone(), out, fabrics)?;
        let variant = self.variant(&resolved, spec)?;
        Ok(resolved.with(variant))
    }

    /// The same from `path=value` texts and names, as a plan has them.
    pub(crate) fn resolve_sets(
        &self,
        sets: &[String],
        scheme: &str,
        cc: &str,
        fabrics: &Fabrics,
    ) -> Result<Resolved, Problems> {
        let mut root = self.root.clone();
        let (mut out, mut sources) = (Diagnostics::default(), self.sources.clone());
        for set in sets {
            apply_override(&mut root, set, &mut sources, &mut out);
        }
        let built = self.finish(&root, sources, out, fabrics)?;
        let variant = built.experiment.variant(Some(scheme), Some(cc), 0)?;
        Ok(built.with(variant))
    }

    fn finish(
        &self,
        root: &Table,
        sources: Sources,
        mut out: Diagnostics,
        fabrics: &Fabrics,
    ) -> Result<Unnamed, Problems> {
        let topology = root.get("topology").map_or_else(String::new, |i| i.value.toml());
        let files = self.files.clone();
        let scenario = Scenario::from_table(&self.name, root, sources, files, &mut out);
        let mut fabric: Arc<str> = Arc::from("");
        let experiment = Experiment::from_scenario(scenario, out, |spec, routing| {
            let found = fabrics.get(format!("{routing:?} {topology}"), || build(spec, routing))?;
            fabric = found.hash;
            Ok(found.built)
        })?;
        Ok(Unnamed { experiment, fabric })
    }

    fn variant(&self, built: &Unnamed, spec: Option<&VariantSpec>) -> Result<Variant, Problems> {
        let e = &built.experiment;
        let wrong = |d: Diagnostic, at| {
            let mut diagnostics = Diagnostics::default();
            diagnostics.push(d.at(at, ""));
            Problems { sources: self.sources.clone(), diagnostics }
        };
        let scheme = spec.and_then(|s| s.scheme.as_ref());
        let scheme = match scheme {
            None => e.scenario.flow_control.scheme.value,
            Some((name, at)) => control::find_scheme(name).map_err(|d| wrong(d, *at))?,
        };
        let cc = match spec.and_then(|s| s.cc.as_ref()) {
            None => e.scenario.congestion_control.algorithm.value,
            Some((name, at)) => {
                let cc = control::find_cc(name).map_err(|d| wrong(d, *at))?;
                e.check_cc(cc).map_err(|d| wrong(d, *at))?;
                cc
            }
        };
        Ok(Variant { scheme, cc, seed: 0 })
    }
}

impl Fabrics {
    fn get(
        &self,
        key: String,
        make: impl FnOnce() -> Result<Built, Diagnostic>,
    ) -> Result<Fabric, Diagnostic> {
        let mut known = self.0.lock().expect("nobody panics with the lock");
        if let Some(fabric) = known.get(&key) {
            return Ok(fabric.clone());
        }
        let built = make()?;
        let mut hash = Sha256::new();
        let topology = &built.0;
        let _ = write!(hash, "{:?} {:?}", topology.nodes(), topology.links());
        let fabric = Fabric { built, hash: Arc::from(hash.finish()) };
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(key, fabric.clone());
        Ok(fabric)
    }
}

/// The hash of everything that decides about the results of a run, the seed excepted. It is taken
/// of what a scenario resolves to: two ways to write the same setting, and a default that is
/// written out, have the same hash. Contents of files are part of it.
fn fingerprint(e: &Experiment, variant: Variant, fabric: &str) -> String {
    let mut config = e.config(variant);
    config.engine = EngineConfig::Sequential;
    let mut hash = Sha256::new();
    let _ = write!(
        hash,
        "weir sweep 1\n{fabric}\n{config:?}\n{:?}\n{}\n{:?}\n{:?}",
        e.traffic,
        e.scenario.run.allow_loss,
        e.scenario.report.sizes,
        port_groups(e)
    );
    hash.finish()
}

/// Names and ports of the groups that have rows of their own.
fn port_groups(e: &Experiment) -> Vec<(&str, &[crate::findings::PortAt])> {
    let names = e.scenario.report.ports.iter().map(|g| g.name.value.as_str());
    names.zip(e.port_groups.iter().map(Vec::as_slice)).collect()
}

/// The changes of one variant at one point, in the order in which they are made: what holds for
/// all, then the variant's, then the point's, so that a column never lies.
pub(crate) fn changes(grid: &Grid, spec: Option<&VariantSpec>, point: &[Change]) -> Vec<Change> {
    let variant = spec.map_or(&[][..], |s| &s.changes);
    grid.sets.iter().chain(variant).chain(point).cloned().collect()
}
