//! Which ports are captured into which files.

use super::{Limits, port_name};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use weir_core::{NodeId, PortId, nearest};
use weir_net::Topology;
use weir_scenario::{PortAt, Window};
use weir_sim::probe::Capture;

/// One capture as it is asked for: `s1/p0=FILE`, `s1=FILE` or `all=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What is captured.
    pub what: What,
    /// Into which file; one file per port in a directory, if it is one or ends with `/`.
    pub file: PathBuf,
}

/// What is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Every port of every node.
    All,
    /// Every port of a node.
    Node(String),
    /// One port of a node.
    Port(String, String),
}

/// Why a capture cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WantedError {
    /// The text is not of the form.
    #[error(
        "`{0}` is not a capture: NODE/PORT=FILE, NODE=FILE or all=FILE, such as s1/p0=s1.pcapng"
    )]
    Form(String),
    /// A capture cannot go to standard output.
    #[error("`{0}` is not a capture: it needs a file, standard output has the results")]
    Output(String),
    /// There is no such node.
    #[error("there is no node `{name}`{}", hint(.nearest))]
    Node {
        /// As asked for.
        name: String,
        /// A name like it.
        nearest: Option<String>,
    },
    /// The node has no such port.
    #[error("`{node}` has no port `{port}`: it has {ports}")]
    Port {
        /// The node.
        node: String,
        /// As asked for.
        port: String,
        /// The ports that there are.
        ports: String,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

impl FromStr for Wanted {
    type Err = WantedError;

    fn from_str(text: &str) -> Result<Self, WantedError> {
        let form = || WantedError::Form(text.to_owned());
        let (what, file) = text.split_once('=').ok_or_else(form)?;
        if what.is_empty() || file.is_empty() {
            return Err(form());
        }
        if file == "-" {
            return Err(WantedError::Output(text.to_owned()));
        }
        let what = match what.rsplit_once('/') {
            _ if what == "all" => What::All,
            None => What::Node(what.to_owned()),
            Some((node, port)) if !node.is_empty() && !port.is_empty() => {
                What::Port(node.to_owned(), port.to_owned())
            }
            Some(_) => return Err(form()),
        };
        Ok(Self { what, file: file.into() })
    }
}

impl What {
    /// The ports, in order.
    fn ports(&self, topology: &Topology) -> Result<Vec<PortAt>, WantedError> {
        let all_of = |node: NodeId| {
            let ports = 0..topology.ports(node).len();
            ports.map(move |port| PortAt { node, port: PortId::from_index(port) })
        };
        let node = |name: &str| {
            topology.node_by_name(name).ok_or_else(|| WantedError::Node {
                name: name.to_owned(),
                nearest: nearest(name, nodes(topology).map(|n| topology.name(n)))
                    .map(str::to_owned),
            })
        };
        match self {
            Self::All => Ok(nodes(topology).flat_map(all_of).collect()),
            Self::Node(name) => Ok(all_of(node(name)?).collect()),
            Self::Port(name, port) => {
                let node = node(name)?;
                let is = |at: &PortAt| goes_by(topology, *at, port);
                let found = all_of(node).find(is).ok_or_else(|| WantedError::Port {
                    node: name.clone(),
                    port: port.clone(),
                    ports: listed(topology, all_of(node).collect()),
                })?;
                Ok(vec![found])
            }
        }
    }
}

fn nodes(topology: &Topology) -> impl Iterator<Item = NodeId> {
    (0..topology.nodes().len()).map(NodeId::from_index)
}

/// Whether a port is called `name`: by its number (`p0`), or as in tables (`P_d`, `tor3`).
fn goes_by(topology: &Topology, at: PortAt, name: &str) -> bool {
    let label = at.label(topology);
    name.strip_prefix('p').and_then(|n| n.parse().ok()) == Some(at.port.0)
        || label.split_once(':').is_some_and(|(_, port)| port == name)
}

/// The first ports, by number and by name.
fn listed(topology: &Topology, ports: Vec<PortAt>) -> String {
    const SHOWN: usize = 8;
    let name = |at: &PortAt| {
        let label = at.label(topology);
        let alias = label.split_once(':').map_or("", |(_, port)| port);
        format!("p{} ({alias})", at.port.0)
    };
    let mut names: Vec<String> = ports.iter().take(SHOWN).map(name).collect();
    if ports.len() > SHOWN {
        names.push(format!("and so on up to p{}", ports.len() - 1));
    }
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// Whether two names stand for one file, which need not be there: `h.pcapng` and `./h.pcapng`.
pub fn is_same_place(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        let parent = std::fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?;
        Some(parent.join(path.file_name()?))
    };
    place(a).is_some_and(|a| place(b) == Some(a))
}

/// `file`, or the way in which the same place was written before.
fn spelled_before(files: &BTreeMap<PathBuf, BTreeSet<PortAt>>, file: PathBuf) -> PathBuf {
    files.keys().find(|known| is_same_place(known, &file)).cloned().unwrap_or(file)
}

/// The files of all captures of a run, and their ports in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan(BTreeMap<PathBuf, Vec<PortAt>>);

impl Plan {
    /// Looks up what is wanted. What goes to the same file shares it, an interface per port.
    pub fn new(wanted: &[Wanted], topology: &Topology) -> Result<Self, WantedError> {
        let mut files: BTreeMap<PathBuf, BTreeSet<PortAt>> = BTreeMap::new();
        for Wanted { what, file } in wanted {
            let ports = what.ports(topology)?;
            if !is_directory(file) {
                let file = spelled_before(&files, file.clone());
                files.entry(file).or_default().extend(ports);
                continue;
            }
            for at in ports {
                let name = port_name(topology, at).replace(['/', '\\'], "-");
                let file = spelled_before(&files, file.join(name + ".pcapng"));
                files.entry(file).or_default().insert(at);
            }
        }
        let sorted = |(file, ports): (_, BTreeSet<PortAt>)| (file, ports.into_iter().collect());
        Ok(Self(files.into_iter().map(sorted).collect()))
    }

    /// The files with their ports.
    pub fn files(&self) -> impl Iterator<Item = (&PathBuf, &Vec<PortAt>)> {
        self.0.iter()
    }

    /// What a run must keep for them.
    pub fn capture(&self, limits: Limits, window: Window) -> Option<Capture> {
        let ports: BTreeSet<_> = self.0.values().flatten().map(|at| (at.node, at.port)).collect();
        (!ports.is_empty()).then(|| Capture {
            ports,
            from: window.from,
            to: window.to,
            snap: limits.snap.map_or(u64::MAX, u64::from),
            most: limits.file.get(),
        })
    }
}

/// Whether a name stands for a directory: it is one, or ends with a slash.
fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
}
