//! What names mean in a scenario: hosts, groups of hosts, paths, files.

use super::fields::At;
use super::sections::PathSpec;
use crate::text::{Diagnostic, Diagnostics};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use weir_core::NodeId;
use weir_net::{Topology, validate_path};
use weir_traffic::params::Names;

/// Files that a scenario refers to, relative to its own directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The directory of the scenario; `None` for a scenario that is not a file.
    pub directory: Option<PathBuf>,
    /// Names of the files that were read so far.
    pub seen: Seen,
}

/// Names of files, collected while a scenario is read and put together.
#[derive(Clone, Debug, Default)]
pub struct Seen(Arc<Mutex<BTreeSet<String>>>);

/// What was read does not make two places to read from different.
impl PartialEq for Seen {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Seen {}

impl Seen {
    /// The names, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        self.0.lock().expect("nobody panics with the lock").iter().cloned().collect()
    }
}

/// Nobody describes flows in more than this; a device file would never end.
const LARGEST: u64 = 1 << 30;

impl Files {
    /// Files relative to `directory`.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), seen: Seen::default() }
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> Result<String, String> {
        self.seen.0.lock().expect("nobody panics with the lock").insert(name.to_owned());
        let path = self.directory.as_deref().map_or_else(|| name.into(), |d| d.join(name));
        let say = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
        let length = std::fs::metadata(&path).map_err(say)?;
        if !length.is_file() || length.len() > LARGEST {
            return Err(format!("cannot read `{}`: not a file of at most 1 GiB", path.display()));
        }
        std::fs::read_to_string(&path).map_err(say)
    }
}

/// A named path, checked: the nodes, from host to host or from switch to switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// What the scenario calls it.
    pub name: String,
    /// Where it leads through.
    pub nodes: Vec<NodeId>,
}

/// The names of one scenario on its topology. Paths get their numbers as flows ask for them.
#[derive(Debug)]
pub struct ScenarioNames<'a> {
    topology: &'a Topology,
    routes: Vec<Route>,
    files: &'a Files,
    used: RefCell<Vec<Route>>,
}

impl<'a> ScenarioNames<'a> {
    /// Checks the paths of the scenario.
    pub fn new(
        topology: &'a Topology,
        paths: &[PathSpec],
        files: &'a Files,
        out: &mut Diagnostics,
    ) -> Self {
        let mut routes: Vec<Route> = Vec::new();
        for path in paths {
            if routes.iter().any(|r| r.name == path.name.value) {
                let title = format!("there are two paths `{}`", path.name.value);
                out.push(Diagnostic::error(title).maybe_at(path.name.span, "names are unique"));
                continue;
            }
            match route(topology, path) {
                Ok(route) => routes.push(route),
                Err(error) => out.push(error),
            }
        }
        Self { topology, routes, files, used: RefCell::default() }
    }

    /// The paths that flows take, from host to host, by the index they know.
    pub fn into_paths(self) -> Vec<Route> {
        self.used.into_inner()
    }

    /// `h2..h7`: the hosts whose numbers lie between.
    fn range(&self, name: &str) -> Option<Vec<NodeId>> {
        let (first, last) = name.split_once("..")?;
        let split = |s: &str| {
            let digits = s.len() - s.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            let (prefix, number) = s.split_at(s.len() - digits);
            Some((prefix.to_owned(), number.parse::<u32>().ok()?))
        };
        let ((prefix, low), (other, high)) = (split(first.trim())?, split(last.trim())?);
        let count = high.checked_sub(low)? as usize + 1;
        if prefix != other || count > self.topology.nodes().len() {
            return None;
        }
        let host = |n| self.topology.node_by_name(&format!("{prefix}{n}"));
        (low..=high).map(|n| host(n).filter(|&h| self.topology.is_host(h))).collect()
    }
}

fn route(topology: &Topology, path: &PathSpec) -> Result<Route, Diagnostic> {
    let mut nodes = Vec::new();
    for At { value, span } in &path.nodes {
        let found = topology.find(value);
        nodes.push(found.map_err(|e| Diagnostic::error(e.to_string()).maybe_at(*span, ""))?);
    }
    let mut whole = nodes.clone();
    // A path between switches serves every pair of hosts at its ends; try it with one.
    if let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) {
        let at = |switch, not: Option<NodeId>| {
            let mut hosts = hosts_at(topology, switch);
            hosts.retain(|&h| Some(h) != not);
            hosts.first().copied()
        };
        if !topology.is_host(first) {
            whole.splice(0..0, at(first, None));
        }
        if !topology.is_host(last) {
            whole.extend(at(last, whole.first().copied()));
        }
    }
    let name = path.name.value.clone();
    match validate_path(topology, &whole) {
        Ok(_) => Ok(Route { name, nodes }),
        Err(error) => {
            Err(Diagnostic::error(format!("path `{name}`: {error}")).maybe_at(path.span, ""))
        }
    }
}

fn hosts_at(topology: &Topology, switch: NodeId) -> Vec<NodeId> {
    let ends = topology.ports(switch).iter().map(|end| end.peer);
    let mut hosts: Vec<NodeId> = ends.filter(|&n| topology.is_host(n)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

impl Names for ScenarioNames<'_> {
    fn hosts(&self, name: &str) -> Option<Vec<NodeId>> {
        if name == "all" {
            return Some(self.topology.hosts().to_vec());
        }
        let Some(node) = self.topology.node_by_name(name) else { return self.range(name) };
        if self.topology.is_host(node) {
            return Some(vec![node]);
        }
        Some(hosts_at(self.topology, node)).filter(|hosts| !hosts.is_empty())
    }

    fn known_hosts(&self) -> Vec<String> {
        let nodes = self.topology.nodes().iter().map(|n| n.name.clone());
        nodes.chain(["all".to_owned()]).collect()
    }

    fn path(&self, name: &str, src: NodeId, dst: NodeId) -> Option<u32> {
        let route = self.routes.iter().find(|r| r.name == name)?;
        let mut nodes = route.nodes.clone();
        if nodes.first() != Some(&src) {
            nodes.insert(0, src);
        }
        if nodes.last() != Some(&dst) {
            nodes.push(dst);
        }
        validate_path(self.topology, &nodes).ok()?;
        let mut used = self.used.borrow_mut();
        let whole = Route { name: name.into(), nodes };
        let at = used.iter().position(|known| *known == whole).unwrap_or_else(|| {
            used.push(whole);
            used.len() - 1
        });
        u32::try_from(at).ok()
    }

    fn file(&self, name: &str) -> Result<String, String> {
        self.files.read(name)
    }
}
