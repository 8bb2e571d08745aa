//! What names mean in a scenario: hosts, groups of hosts, paths, files.

use super::fields::At;
use super::sections::PathSpec;
use crate::text::{Diagnostic, Diagnostics};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use weir_core::NodeId;
use weir_net::{Topology, validate_path};
use weir_traffic::params::Names;

/// Files that a scenario refers to, relative to its own directory.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The directory of the scenario; `None` for a scenario that is not a file.
    pub directory: Option<PathBuf>,
    /// Files inside the program, by path: they are taken before those on the disk.
    inside: &'static [(&'static str, &'static str)],
    /// What was read so far, for all clones together, and by which name; no result may be written
    /// there.
    read: Arc<Mutex<BTreeMap<PathBuf, Option<String>>>>,
}

/// Largest file that is read: a list of flows is smaller, and a device file would never end.
const LARGEST: u64 = 1 << 30;

/// The most a scenario from a pipe may have.
const LONGEST_PIPE: u64 = 1 << 26;

impl Files {
    /// Files relative to a directory.
    pub fn of(directory: Option<PathBuf>) -> Self {
        Self { directory, ..Self::default() }
    }

    /// Files inside the program, relative to a directory of theirs.
    pub fn inside(files: &'static [(&'static str, &'static str)], directory: &str) -> Self {
        Self { directory: Some(directory.into()), inside: files, ..Self::default() }
    }

    /// The files beside the one called `name`.
    pub fn beside(&self, name: &str) -> Self {
        let directory = self.path(name).parent().map(Path::to_owned);
        Self { directory, inside: self.inside, ..Self::default() }
    }

    /// Where a file is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.as_deref().map_or_else(|| name.into(), |d| d.join(name))
    }

    /// The files that were read.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.lock().keys().cloned().collect()
    }

    /// The names by which files were read, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.lock().values().flatten().cloned().collect();
        names.sort();
        names.dedup();
        names
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Option<String>>> {
        self.read.lock().expect("nothing panics while it holds the lock")
    }

    /// Remembers that a file was read.
    pub(crate) fn note(&self, path: PathBuf) {
        self.lock().insert(path, None);
    }

    /// The text of a scenario: a file, a pipe, or standard input. Says whether it is a file, which
    /// others can lie beside.
    pub(crate) fn scenario(name: &str) -> Result<(String, bool), String> {
        let limited = |from: &mut dyn std::io::Read| {
            let mut bytes = Vec::new();
            let cannot = |error| format!("cannot read `{name}`: {error}");
            from.take(LONGEST_PIPE + 1).read_to_end(&mut bytes).map_err(cannot)?;
            match bytes.len() as u64 > LONGEST_PIPE {
                true => Err(format!("cannot read `{name}`: a pipe of more than 64 MiB")),
                false => Ok((utf8(bytes, name)?, false)),
            }
        };
        if name == "-" {
            return limited(&mut std::io::stdin().lock());
        }
        match std::fs::metadata(name) {
            Ok(meta) if !meta.is_file() && !meta.is_dir() => {
                let opened = std::fs::File::open(name);
                limited(&mut opened.map_err(|e| format!("cannot read `{name}`: {e}"))?)
            }
            _ => Ok((Self::default().read(name)?, true)),
        }
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> Result<String, String> {
        self.lock().insert(self.path(name), Some(name.to_owned()));
        self.text(name)
    }

    /// The content of a file, text or not.
    pub fn read_bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        self.lock().insert(self.path(name), Some(name.to_owned()));
        self.bytes(name)
    }

    /// The text of a file that is no input of a scenario.
    pub fn text(&self, name: &str) -> Result<String, String> {
        utf8(self.bytes(name)?, &self.path(name).display().to_string())
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.path(name);
        if let Some((_, text)) = self.inside.iter().find(|(known, _)| path == Path::new(known)) {
            return Ok(text.as_bytes().to_vec());
        }
        let say = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
        let length = std::fs::metadata(&path).map_err(say)?;
        if !length.is_file() || length.len() > LARGEST {
            return Err(format!("cannot read `{}`: not a file of at most 1 GiB", path.display()));
        }
        std::fs::read(&path).map_err(say)
    }
}

/// The text that the content of `name` is; else where it ceases to be text.
fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let line = bytes[..at].iter().filter(|b| **b == b'\n').count() + 1;
        let byte = bytes.get(at).copied().unwrap_or_default();
        format!("cannot read `{name}`: not UTF-8 in line {line}: byte {at} is 0x{byte:02x}")
    })
}

/// A named path, checked: the nodes, from host to host or from switch to switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// What the scenario calls it.
    pub name: String,
    /// Where it leads through.
    pub nodes: Vec<NodeId>,
}

/// The paths in use, and their numbers by (name, sender, receiver).
#[derive(Debug, Default)]
struct Used {
    paths: Vec<Route>,
    numbers: BTreeMap<(String, NodeId, NodeId), u32>,
}

/// The names of one scenario on its topology. Paths get their numbers as flows ask for them.
#[derive(Debug)]
pub struct ScenarioNames<'a> {
    topology: &'a Topology,
    /// By name.
    routes: BTreeMap<String, Route>,
    files: &'a Files,
    used: RefCell<Used>,
}

impl<'a> ScenarioNames<'a> {
    /// The network whose hosts are named.
    pub(crate) fn topology(&self) -> &'a Topology {
        self.topology
    }

    /// Checks the paths of the scenario.
    pub fn new(
        topology: &'a Topology,
        paths: &[PathSpec],
        files: &'a Files,
        out: &mut Diagnostics,
    ) -> Self {
        let mut routes: BTreeMap<String, Route> = BTreeMap::new();
        for path in paths {
            if routes.contains_key(&path.name.value) {
                let title = format!("there are two paths `{}`", path.name.value);
                out.push(Diagnostic::error(title).maybe_at(path.name.span, "names are unique"));
                continue;
            }
            match route(topology, path) {
                Ok(route) => _ = routes.insert(route.name.clone(), route),
                Err(error) => out.push(error),
            }
        }
        Self { topology, routes, files, used: RefCell::default() }
    }

    /// The paths that flows take, from host to host, by the index they know.
    pub fn into_paths(self) -> Vec<Route> {
        self.used.into_inner().paths
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
        let mut used = self.used.borrow_mut();
        let key = (name.to_owned(), src, dst);
        if let Some(&number) = used.numbers.get(&key) {
            return Some(number);
        }
        let mut nodes = self.routes.get(name)?.nodes.clone();
        if nodes.first() != Some(&src) {
            nodes.insert(0, src);
        }
        if nodes.last() != Some(&dst) {
            nodes.push(dst);
        }
        validate_path(self.topology, &nodes).ok()?;
        let number = u32::try_from(used.paths.len()).ok()?;
        used.paths.push(Route { name: name.into(), nodes });
        used.numbers.insert(key, number);
        Some(number)
    }

    fn file(&self, name: &str) -> Result<String, String> {
        self.files.read(name)
    }
}
