//! What is checked: a scenario, or one made of a topology.

use super::Lint;
use crate::terminal::Terminal;
use std::path::Path;
use weir_core::{LinkId, NodeId, PortId, PrioritySet, Time};
use weir_lint::Rerouting;
use weir_net::build::{TOPOLOGIES, explicit};
use weir_net::{NodeKind, validate_path};
use weir_scenario::load::source;
use weir_scenario::resolve::{Base, Fabrics};
use weir_scenario::text::{Diagnostic, Diagnostics};
use weir_scenario::{Experiment, Files, Problems, Variant};
use weir_sim::config::Routing;

/// A network with its routing, static paths and lossless priorities.
pub(super) struct Subject {
    /// The scenario as it was read.
    pub(super) base: Base,
    pub(super) experiment: Experiment,
    pub(super) variant: Variant,
    pub(super) how: Rerouting,
    /// The ports of the static paths that flows use.
    pub(super) paths: Vec<Vec<(NodeId, PortId)>>,
}

impl Subject {
    /// Reads it; shows what is wrong with it and returns `None` if it cannot be used.
    pub(super) fn load(args: &Lint, terminal: &Terminal) -> anyhow::Result<Option<Self>> {
        match Self::read(args) {
            Ok(subject) => {
                let e = &subject.experiment;
                terminal.warnings(&e.warnings, &e.scenario.sources);
                Ok(Some(subject))
            }
            Err(problems) => {
                terminal.problems(&problems);
                Ok(None)
            }
        }
    }

    fn read(args: &Lint) -> Result<Self, Problems> {
        let (name, text, files) = text_of(&args.input)?;
        let mut out = Diagnostics::default();
        let base = Base::read(&name, &text, files, &args.sets, &mut out);
        let experiment = base.experiment(out, &Fabrics::default())?;
        let variant = experiment.variant(args.scheme.as_deref(), None, 1)?;
        let own = match experiment.scenario.routing.kind {
            Routing::Ecmp => Rerouting::Shortest,
            Routing::UpDown => Rerouting::UpDown,
        };
        let how = args.routing.unwrap_or(own);
        let paths = experiment.paths.iter();
        let paths = paths.filter_map(|p| validate_path(&experiment.topology, &p.nodes).ok());
        let paths = paths.collect();
        Ok(Self { base, experiment, variant, how, paths })
    }

    /// The lossless priorities.
    pub(super) fn lossless(&self) -> PrioritySet {
        self.experiment.config(self.variant).switch.lossless
    }

    /// Whether anything is ever paused: what is dropped instead waits for nothing.
    pub(super) fn pauses(&self) -> bool {
        self.variant.scheme.lossless && !self.lossless().is_empty()
    }

    /// The sets of links that are down at some time, each with the time from which on it is so.
    pub(super) fn states(&self) -> Vec<(String, Vec<LinkId>)> {
        let failures = &self.experiment.failures;
        let mut times: Vec<Time> =
            failures.iter().flat_map(|f| [Some(f.down), f.up]).flatten().collect();
        times.push(Time::ZERO);
        times.sort_unstable();
        times.dedup();
        let mut states: Vec<(String, Vec<LinkId>)> = Vec::new();
        for t in times {
            let is_down =
                |f: &&weir_sim::config::LinkFailure| f.down <= t && f.up.is_none_or(|up| up > t);
            let mut down: Vec<LinkId> = failures.iter().filter(is_down).map(|f| f.link).collect();
            down.sort_unstable();
            down.dedup();
            if states.iter().all(|(_, known)| *known != down) {
                let when = match t {
                    Time::ZERO => "as it is".to_owned(),
                    t => format!("from {t} on"),
                };
                states.push((when, down));
            }
        }
        states
    }

    /// `leaf0-spine1`.
    pub(super) fn link_name(&self, link: LinkId) -> String {
        let topo = &self.experiment.topology;
        let link = topo.link(link);
        format!("{}-{}", topo.name(link.a.0), topo.name(link.b.0))
    }
}

/// The text of a scenario: that of a file or a built-in one, or one made around a topology.
fn text_of(input: &str) -> Result<(String, String, Files), Problems> {
    if weir_scenario::builtin::find(input).is_none()
        && !Path::new(input).exists()
        && let Some(info) = TOPOLOGIES.iter().find(|t| t.name == input)
    {
        let text = format!("[topology]\nkind = \"{}\"\n{}", info.name, any_flow("h0", "h1"));
        return Ok((format!("topology {}", info.name), text, Files::default()));
    }
    let (name, text, files) =
        source(input).map_err(|problems| match Path::new(input).exists() {
            true => problems,
            false => nothing_called(input),
        })?;
    // a graph file begins with a statement, a scenario with a key or a section
    if let Ok(graph) = explicit::read(&text) {
        let hosts = graph.nodes.iter().filter(|n| n.kind == NodeKind::Host);
        let hosts: Vec<&str> = hosts.map(|n| n.name.as_str()).collect();
        if let [first, second, ..] = hosts[..] {
            let file = Path::new(input).file_name().unwrap_or_default().to_string_lossy();
            let text = format!(
                "[topology]\nkind = \"explicit\"\nfile = {:?}\n{}",
                file,
                any_flow(first, second)
            );
            return Ok((name, text, files));
        }
    }
    Ok((name, text.into_owned(), files))
}

/// The error for a name that is none of a scenario, topology or file.
fn nothing_called(input: &str) -> Problems {
    let scenarios: Vec<&str> = weir_scenario::builtin::all().map(|b| b.name).collect();
    let topologies: Vec<&str> = TOPOLOGIES.iter().map(|t| t.name).collect();
    let names = || scenarios.iter().chain(&topologies).copied();
    let error = Diagnostic::error(format!("there is no scenario, topology or file `{input}`"));
    let error = error.nearest(weir_net::nearest(input, names()));
    let error = error.help(format!("built-in scenarios: {}", scenarios.join(", ")));
    Problems::plain(error.help(format!("topologies: {}", topologies.join(", "))))
}

/// A scenario has traffic; the check does not look at it.
fn any_flow(from: &str, to: &str) -> String {
    format!("[[traffic]]\nkind = \"flow\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"1KB\"\n")
}
