//! From a scenario with changes to something that runs, and to the name of what runs.
//!
//! Networks are built once for all runs that have the same.

use crate::Files;
use crate::Problems;
use crate::Scenario;
use crate::control;
use crate::experiment::{Built, Experiment, Variant, build};
use crate::hash::{Sha256, sha256};
use crate::text::{Diagnostic, Diagnostics, Sources, Span, Table, apply_override, parse, put_at};
use crate::variant::{Change, VariantSpec};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock};
use weir_cc::CcKind;
use weir_fc::SchemeInfo;
use weir_sim::config::EngineConfig;

/// Networks that were built so far, by the text of `[topology]` and the routing.
#[derive(Debug, Default)]
pub struct Fabrics(Mutex<BTreeMap<String, Fabric>>);

/// A network and, once it has been needed, the hash of its description: only runs of a sweep need
/// it.
#[derive(Clone, Debug)]
struct Fabric {
    built: Built,
    hash: Arc<OnceLock<String>>,
}

impl Fabric {
    fn hash(&self) -> &str {
        self.hash.get_or_init(|| {
            let mut hash = Sha256::new();
            let topology = &self.built.topology;
            let _ = write!(hash, "{:?} {:?}", topology.nodes(), topology.links());
            hash.finish()
        })
    }
}

/// More networks than this are not kept: a sweep of sizes does not come back to them.
const KEPT: usize = 32;

/// A scenario as read from its file, to which runs make changes.
#[derive(Clone, Debug)]
pub struct Base {
    /// What messages call the file.
    pub name: String,
    /// All texts.
    pub sources: Sources,
    /// The scenario as a tree of values.
    pub root: Table,
    /// Where it looks for files.
    pub files: Files,
}

/// One variant at one point: everything but the seed.
#[derive(Debug)]
pub struct Resolved {
    /// What is run.
    pub experiment: Experiment,
    /// With a seed of zero.
    pub variant: Variant,
    /// Names what it is.
    pub hash: String,
}

/// A scenario that is put together but for scheme and algorithm.
struct Unnamed {
    experiment: Experiment,
    fabric: Option<Fabric>,
}

impl Unnamed {
    fn with(self, variant: Variant) -> Resolved {
        let fabric = self.fabric.as_ref().map_or("", Fabric::hash);
        let hash = fingerprint(&self.experiment, variant, fabric);
        Resolved { experiment: self.experiment, variant, hash }
    }
}

/// The name of the run of a resolved scenario with a seed.
pub fn run_id(hash: &str, seed: u64) -> String {
    let mut text = sha256(format!("{hash} {seed}").as_bytes());
    text.truncate(32);
    text
}

impl Base {
    /// Reads a scenario, with `path=value` changes on top, and says what is no TOML in it.
    pub fn read(
        name: &str,
        text: &str,
        files: Files,
        sets: &[String],
        out: &mut Diagnostics,
    ) -> Self {
        let mut sources = Sources::default();
        let id = sources.add(name, text);
        let mut root = parse(&sources, id, out);
        for set in sets {
            apply_override(&mut root, set, &mut sources, out);
        }
        Self { name: name.to_owned(), sources, root, files }
    }

    /// The scenario itself, without changes; `out` is what was found when it was read.
    pub fn experiment(&self, out: Diagnostics, fabrics: &Fabrics) -> Result<Experiment, Problems> {
        let unnamed = self.finish(&self.root, self.sources.clone(), out, fabrics)?;
        Ok(unnamed.experiment)
    }

    /// Makes changes, in order, and puts the result together.
    pub fn resolve(
        &self,
        changes: &[Change],
        spec: Option<&VariantSpec>,
        fabrics: &Fabrics,
    ) -> Result<Resolved, Problems> {
        self.names(spec)?;
        let mut root = self.root.clone();
        let mut out = Diagnostics::default();
        for change in changes {
            let steps: Vec<_> = change.path.iter().map(|(n, at)| (n.as_str(), *at)).collect();
            if let Err(problem) = put_at(&mut root, &steps, change.item.clone()) {
                out.push(problem);
            }
        }
        let resolved = self.finish(&root, self.sources.clone(), out, fabrics)?;
        let variant = self.choose(&resolved.experiment, spec)?;
        Ok(resolved.with(variant))
    }

    /// The same from `path=value` texts and names, as a plan has them.
    pub fn resolve_sets(
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
        let mut fabric = None;
        let experiment = Experiment::from_scenario(scenario, out, |spec, routing| {
            let found = fabrics.get(format!("{routing:?} {topology}"), || build(spec, routing))?;
            let built = found.built.clone();
            fabric = Some(found);
            Ok(built)
        })?;
        Ok(Unnamed { experiment, fabric })
    }

    /// One mistake of a row, where it is written.
    fn wrong(&self, d: Diagnostic, at: Span) -> Problems {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(d.at(at, ""));
        Problems { sources: self.sources.clone(), diagnostics }
    }

    /// The scheme and the algorithm that a row names, if there are such.
    fn names(
        &self,
        spec: Option<&VariantSpec>,
    ) -> Result<(Option<&'static SchemeInfo>, Option<CcKind>), Problems> {
        let scheme = spec.and_then(|s| s.scheme.as_ref());
        let scheme =
            scheme.map(|(name, at)| control::find_scheme(name).map_err(|d| self.wrong(d, *at)));
        let cc = spec.and_then(|s| s.cc.as_ref());
        let cc = cc.map(|(name, at)| control::find_cc(name).map_err(|d| self.wrong(d, *at)));
        Ok((scheme.transpose()?, cc.transpose()?))
    }

    /// The scheme and the algorithm of a row, with a seed of zero.
    pub fn choose(&self, e: &Experiment, spec: Option<&VariantSpec>) -> Result<Variant, Problems> {
        let (scheme, cc) = self.names(spec)?;
        let scheme = scheme.unwrap_or(e.scenario.flow_control.scheme.value);
        if let (Some(cc), Some((_, at))) = (cc, spec.and_then(|s| s.cc.as_ref())) {
            e.check_cc(cc).map_err(|d| self.wrong(d, *at))?;
        }
        let cc = cc.unwrap_or(e.scenario.congestion_control.algorithm.value);
        Ok(Variant { scheme, cc, seed: 0 })
    }
}

impl Fabrics {
    fn get(
        &self,
        key: String,
        make: impl FnOnce() -> Result<Built, Diagnostic>,
    ) -> Result<Fabric, Diagnostic> {
        let mut known = self.0.lock().expect("no thread panics with the lock");
        if let Some(fabric) = known.get(&key) {
            return Ok(fabric.clone());
        }
        let built = make()?;
        let fabric = Fabric { built, hash: Arc::default() };
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
fn port_groups(e: &Experiment) -> Vec<(&str, &[crate::PortAt])> {
    let names = e.scenario.report.ports.iter().map(|g| g.name.value.as_str());
    names.zip(e.port_groups.iter().map(Vec::as_slice)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = "[topology]\nkind = \"star\"\nhosts = 4\n[[traffic]]\n\
        kind = \"flow\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"2KB\"\n";

    /// Runs of a sweep: two schemes at two points with two seeds share what one of them prepared.
    /// Another switch latency takes other round-trip times, and so another preparation.
    #[test]
    fn runs_on_one_network_prepare_its_paths_once() {
        let mut out = Diagnostics::default();
        let base = Base::read("x.toml", SCENARIO, Files::default(), &[], &mut out);
        let fabrics = Fabrics::default();
        let run = |set: &str, scheme: &str, seed: u64| {
            let cell = base.resolve_sets(&[set.to_owned()], scheme, "none", &fabrics);
            let cell = cell.unwrap_or_else(|p| panic!("{p}"));
            let variant = Variant { seed, ..cell.variant };
            cell.experiment.prepared(&cell.experiment.config(variant));
            cell.experiment.preparations()
        };
        for buffer in ["switch.buffer=4MB", "switch.buffer=8MB"] {
            for (scheme, seed) in [("pfc", 1), ("pfc", 2), ("ofc", 1), ("ofc", 2)] {
                assert_eq!(run(buffer, scheme, seed), 1, "{buffer}, {scheme}, seed {seed}");
            }
        }
        assert_eq!(run("switch.latency=1us", "pfc", 1), 2);
    }
}
