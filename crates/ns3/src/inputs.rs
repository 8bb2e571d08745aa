//! All input files of a run, found through the configuration.

use crate::config::{Config, LinkDown};
use crate::diag::Diagnostics;
use crate::flows::{self, Flow};
use crate::routes::{Ports, Routes};
use crate::text::{Words, integer};
use crate::topology::Topology;
use std::path::{Path, PathBuf};
use weir_core::Severity;

/// A run as described by its files.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// The configuration.
    pub config: Config,
    /// The network.
    pub topology: Topology,
    /// What is sent, sorted by start.
    pub flows: Vec<Flow>,
    /// Nodes whose packets are recorded.
    pub trace_nodes: Vec<u32>,
}

/// Reads `config` and the files it names. Relative names are looked up beside the configuration
/// first, then in the working directory. Warnings come with the result.
pub fn read(config: &Path) -> Result<(Inputs, Diagnostics), Diagnostics> {
    let text = read_file(config, None)?.1;
    let base = config.parent().unwrap_or(Path::new(""));
    from_texts(config, &text, |name| read_file(name, Some(base)))
}

/// The same from texts: `open` gives the name to show and the text for a file name.
pub fn from_texts(
    path: &Path,
    text: &str,
    open: impl Fn(&Path) -> Result<(PathBuf, String), Diagnostics>,
) -> Result<(Inputs, Diagnostics), Diagnostics> {
    let (config, mut warnings) = Config::parse(path, text)?;
    let (name, text) = open(&config.topology_file)?;
    let topology = Topology::read(&name, &text)?;
    let (flow_name, text) = open(&config.flow_file)?;
    let (flows, mut more) = flows::read(&flow_name, &text, &topology)?;
    warnings.0.append(&mut more.0);
    let mut trace_nodes = Vec::new();
    if config.enable_trace && !config.trace_file.as_os_str().is_empty() {
        match open(&config.trace_file) {
            Ok((name, text)) => trace_nodes = read_trace_nodes(&name, &text, &topology)?,
            Err(_) => {
                let message = format!("cannot read TRACE_FILE {}", config.trace_file.display());
                let help = "no node is traced".to_string();
                warnings.push(Severity::Warning, (path, None), message, help);
            }
        }
    }
    let inputs = Inputs { config, topology, flows, trace_nodes };
    let findings = inputs.check(path, &flow_name);
    warnings.0.extend(findings.0);
    if warnings.has_errors() { Err(warnings) } else { Ok((inputs, warnings)) }
}

fn read_file(name: &Path, base: Option<&Path>) -> Result<(PathBuf, String), Diagnostics> {
    let beside = base.map(|b| b.join(name)).filter(|p| p.exists());
    let path = beside.unwrap_or_else(|| name.into());
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok((path, text)),
        Err(error) => {
            let help = base.map(|b| format!("looked in {} and here", b.join("").display()));
            let mut d = Diagnostics::default();
            d.push(Severity::Error, (&path, None), error.to_string(), help);
            Err(d)
        }
    }
}

/// The nodes to trace: a count, then node numbers. Nodes that do not exist are passed over.
fn read_trace_nodes(path: &Path, text: &str, topology: &Topology) -> Result<Vec<u32>, Diagnostics> {
    let mut words = Words::new(path, text);
    let count: u32 = words.parse("the number of nodes to trace", integer)?;
    let mut nodes = Vec::new();
    for i in 1..=count {
        let node = words.parse(&format!("node {i} of {count} to trace"), integer)?;
        if node < topology.nodes() {
            nodes.push(node);
        }
    }
    Ok(nodes)
}

impl Inputs {
    /// Routes for the flows, over the links for which `up` holds.
    pub(crate) fn routes(&self, ports: &Ports, up: impl Fn(u32) -> bool) -> Routes {
        let pairs = self.flows.iter().map(|f| (f.src, f.dst));
        Routes::new(&self.topology, ports, self.config.payload, pairs, up)
    }

    /// What must hold between files.
    fn check(&self, config: &Path, flows: &Path) -> Diagnostics {
        let mut d = Diagnostics::default();
        let ports = Ports::new(&self.topology);
        self.check_thresholds(config, &ports, &mut d);
        if let Some(down) = self.config.link_down {
            self.check_link_down(config, down, &mut d);
        }
        let routes = self.routes(&ports, |_| true);
        if let Some(f) = self.flows.iter().find(|f| routes.pair(f.src, f.dst).is_none()) {
            let message = format!("no path leads from host {} to host {}", f.src, f.dst);
            let help = "links join hosts through switches; hosts do not forward".to_string();
            d.push(Severity::Error, (flows, None), message, help);
        }
        d
    }

    /// The link that fails should exist; its ends must.
    fn check_link_down(&self, config: &Path, down: LinkDown, d: &mut Diagnostics) {
        let nodes = self.topology.nodes();
        if let Some(end) = [down.a, down.b].into_iter().find(|&n| n >= nodes) {
            let message = format!("LINK_DOWN: there is no node {end}");
            let help = format!("nodes are numbered from 0 to {}", i64::from(nodes) - 1);
            d.push(Severity::Error, (config, None), message, help);
            return;
        }
        let ends = (down.a, down.b);
        if !self.topology.links.iter().any(|l| (l.a, l.b) == ends || (l.b, l.a) == ends) {
            let message =
                format!("LINK_DOWN has no effect: no link joins {} and {}", down.a, down.b);
            d.push(Severity::Warning, (config, None), message, None);
        }
    }

    /// Every rate of a switch port should have marking thresholds.
    fn check_thresholds(&self, config: &Path, ports: &Ports, d: &mut Diagnostics) {
        if !self.config.enable_qcn {
            return;
        }
        let mut rates: Vec<u64> = ports
            .ends
            .iter()
            .filter(|end| self.topology.is_switch[end.node as usize])
            .map(|end| self.topology.links[end.link as usize].rate)
            .collect();
        rates.sort_unstable();
        rates.dedup();
        for rate in rates {
            let c = &self.config;
            let maps = [
                ("KMIN_MAP", c.kmin.contains_key(&rate)),
                ("KMAX_MAP", c.kmax.contains_key(&rate)),
                ("PMAX_MAP", c.pmax.contains_key(&rate)),
            ];
            for (map, _) in maps.iter().filter(|(_, present)| !present) {
                let message =
                    format!("{map} has no entry for {rate} bit/s, a rate of this network");
                let help = "the original takes 0".to_string();
                d.push(Severity::Warning, (config, None), message, help);
            }
        }
    }
}
