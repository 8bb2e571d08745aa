//! A network of namespaces and veth pairs: one namespace per node, one pair per link.
//!
//! Port `i` of a node is the interface `pi` of its namespace `weir-PID-NAME`. `PID` is the process
//! that made them, so that what a killed process has left can be told from what is in use.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use thiserror::Error;
use weir_core::{NodeId, PortId};
use weir_net::Topology;
use weir_wire::addressing;

/// What all namespaces begin with.
const PREFIX: &str = "weir-";
/// Where `ip netns` keeps them.
const PLACE: &str = "/run/netns";

/// Why there is no network.
#[derive(Debug, Error)]
pub enum LabError {
    /// `ip` is not there.
    #[error("cannot run `ip`: {0}; it is part of iproute2, which live runs need")]
    NoIp(std::io::Error),
    /// `ip` refused.
    #[error("`ip {what}` failed: {why}; {help}")]
    Ip {
        /// What it was to do.
        what: String,
        /// What it said.
        why: String,
        /// What may be missing.
        help: &'static str,
    },
    /// A namespace cannot be entered or set up.
    #[error("namespace {name}: {error}")]
    Namespace {
        /// Which.
        name: String,
        /// Why.
        error: std::io::Error,
    },
    /// More nodes than have addresses.
    #[error(transparent)]
    Map(#[from] weir_wire::addressing::MapError),
    /// The machine cannot have user namespaces.
    #[error(
        "live runs need root, or user namespaces for everybody, which this machine does not give: \
         {0}; see the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone (Debian) \
         and kernel.apparmor_restrict_unprivileged_userns (Ubuntu), or run it as root"
    )]
    User(String),
}

const HELP: &str = "live runs need CAP_NET_ADMIN and CAP_SYS_ADMIN, or user namespaces; a kernel \
                    with network namespaces and the veth module; and iproute2";

/// Runs `ip` with commands, one per line.
fn ip(arguments: &[&str], commands: &str) -> Result<(), LabError> {
    let mut child = Command::new("ip")
        // Ctrl-C is for this program, which then takes the network down
        .process_group(0)
        .args(arguments)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(LabError::NoIp)?;
    if let Some(mut to) = child.stdin.take() {
        // an error shows in what `ip` says
        let _ = to.write_all(commands.as_bytes());
    }
    let output = child.wait_with_output().map_err(LabError::NoIp)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().filter(|line| !line.starts_with("Command failed"));
    let why = lines.map(str::trim).collect::<Vec<_>>().join("; ");
    let what = commands.lines().next().unwrap_or_default().to_owned();
    Err(LabError::Ip { what, why, help: HELP })
}

/// A network. Dropped, it is taken down.
#[derive(Debug)]
pub struct Lab {
    names: Vec<String>,
}

impl Lab {
    /// Lays out a network: every node a namespace, every link a veth pair that carries frames of up
    /// to `longest` bytes. Hosts in `free` get their address, for other programs.
    pub fn build(topology: &Topology, longest: usize, free: &[NodeId]) -> Result<Self, LabError> {
        let ids = (0..topology.nodes().len()).map(NodeId::from_index);
        let lab = Self { names: namespaces(ids.clone().map(|n| topology.name(n))) };
        let adds: String = lab.names.iter().map(|name| format!("netns add {name}\n")).collect();
        ip(&[], &adds)?;
        for name in &lab.names {
            inside(name, quiet)?
                .map_err(|error| LabError::Namespace { name: name.clone(), error })?;
        }
        ip(&[], &lab.links(topology, longest)?)?;
        for node in ids {
            let ups = (0..topology.ports(node).len()).map(|p| format!("link set p{p} up\n"));
            let mut commands: String = ups.collect();
            commands += "link set lo up\n";
            if free.contains(&node) {
                commands += &addresses(topology, node)?;
            }
            ip(&["-n", &lab.names[node.index()]], &commands)?;
        }
        Ok(lab)
    }

    fn links(&self, topology: &Topology, longest: usize) -> Result<String, LabError> {
        let mut commands = String::new();
        for node in (0..topology.nodes().len()).map(NodeId::from_index) {
            for (p, end) in topology.ports(node).iter().enumerate() {
                let port = PortId::from_index(p);
                if (end.peer, end.peer_port) < (node, port) {
                    continue;
                }
                let (near, far) =
                    (addressing::mac(node, port)?, addressing::mac(end.peer, end.peer_port)?);
                let (a, b) = (&self.names[node.index()], &self.names[end.peer.index()]);
                let q = end.peer_port.0;
                // one segment per frame: veth has no card that would cut larger ones
                let more = format!("mtu {longest} gso_max_segs 1");
                commands += &format!(
                    "link add p{p} {more} address {near} netns {a} type veth peer name p{q} \
                     {more} address {far} netns {b}\n"
                );
            }
        }
        Ok(commands)
    }

    /// The namespace of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.names[node.index()]
    }

    /// Moves the calling thread into the namespace of a node.
    pub fn enter(&self, node: NodeId) -> Result<(), LabError> {
        let name = &self.names[node.index()];
        enter(name).map_err(|error| LabError::Namespace { name: name.clone(), error })
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for name in &self.names {
            delete(name);
        }
    }
}

fn delete(name: &str) -> bool {
    let status = Command::new("ip")
        .process_group(0)
        .args(["netns", "del", name])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// `weir-PID-NAME`, with nothing in it that a file name or `ip` could not have.
fn namespace(node: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    format!("{PREFIX}{}-{}", std::process::id(), node.chars().map(plain).collect::<String>())
}

/// A namespace for each node; names of nodes that are the same in plain characters get a number.
fn namespaces<'a>(nodes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (number, node) in nodes.enumerate() {
        let mut name = namespace(node);
        while names.contains(&name) {
            name += &format!("-{number}");
        }
        names.push(name);
    }
    names
}

/// Address and neighbours of a host that other programs use.
fn addresses(topology: &Topology, node: NodeId) -> Result<String, LabError> {
    let mut commands = format!("addr add {}/8 dev p0\n", addressing::address(node)?);
    for &other in topology.hosts().iter().filter(|&&other| other != node) {
        let (address, mac) = (addressing::address(other)?, addressing::mac(other, PortId(0))?);
        commands += &format!("neigh replace {address} lladdr {mac} dev p0 nud permanent\n");
    }
    Ok(commands)
}

/// Moves the calling thread into a namespace.
pub(crate) fn enter(name: &str) -> std::io::Result<()> {
    let file = std::fs::File::open(format!("{PLACE}/{name}"))?;
    let kind = Some(rustix::thread::LinkNameSpaceType::Network);
    Ok(rustix::thread::move_into_link_name_space(std::os::fd::AsFd::as_fd(&file), kind)?)
}

/// Does something in a namespace, on a thread of its own.
fn inside<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
    let wrong = |error| LabError::Namespace { name: name.to_owned(), error };
    let done = std::thread::scope(|scope| scope.spawn(|| enter(name).map(|()| work())).join());
    match done {
        Ok(result) => result.map_err(wrong),
        Err(_) => Err(wrong(std::io::Error::other("the thread inside has panicked"))),
    }
}

/// No frames that nobody asked for: IPv6 announces itself otherwise.
fn quiet() -> std::io::Result<()> {
    for which in ["all", "default"] {
        let file = format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6");
        match std::fs::write(&file, "1") {
            // a kernel without IPv6 is quiet already
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Whether there is such a process; one that has ended and waits for its parent does nothing more.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // PID (NAME) STATE; a name may have parentheses
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// Namespaces of processes that are no more.
pub fn abandoned() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(PLACE) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut left: Vec<String> = names
        .filter(|name| {
            let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
            let owner = owner.and_then(|pid| pid.parse::<u32>().ok());
            owner.is_some_and(|pid| !is_alive(pid))
        })
        .collect();
    left.sort();
    left
}

/// Removes what killed processes have left; returns what was removed and what could not be.
pub fn clean() -> (Vec<String>, Vec<String>) {
    abandoned().into_iter().partition(|name| delete(name))
}

/// Whether this process may build a network, or must be started again in a user namespace.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Replaces this process by one of the same program with the same arguments in namespaces of its
/// own, in which it is root; everything in them goes when it ends. Returns why, if that cannot be.
pub fn enter_user_namespace() -> LabError {
    let wrong = |error: std::io::Error| LabError::User(format!("cannot run `unshare`: {error}"));
    let inside = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "--mount", "sh", "-c", script]);
        command
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return LabError::User(error.to_string()),
    };
    // first without this program, so that what is missing can be said
    match inside(OWN_RUN).stdin(Stdio::null()).output() {
        Err(error) => return wrong(error),
        Ok(tried) if !tried.status.success() => {
            return LabError::User(String::from_utf8_lossy(&tried.stderr).trim().to_owned());
        }
        Ok(_) => {}
    }
    let mut command = inside(&format!("{OWN_RUN} && exec \"$0\" \"$@\""));
    wrong(command.arg(program).args(std::env::args_os().skip(1)).exec())
}

/// Makes a place for the names of network namespaces.
const OWN_RUN: &str = "mount -t tmpfs tmpfs /run";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_not_alive_before_its_parent_looks() {
        assert!(is_alive(std::process::id()));
        let mut child = Command::new("true").spawn().expect("a process");
        // nobody has waited for it: it stays a zombie, and this ends
        while is_alive(child.id()) {
            std::thread::yield_now();
        }
        assert!(std::path::Path::new(&format!("/proc/{}", child.id())).exists());
        assert!(child.wait().expect("it was started here").success());
    }

    #[test]
    fn names_of_nodes_are_names_of_files() {
        let pid = std::process::id();
        let names = namespaces(["pod1/h2.a", "pod1_h2_a", "h3"].into_iter());
        let expected = ["pod1_h2_a", "pod1_h2_a-1", "h3"].map(|n| format!("weir-{pid}-{n}"));
        assert_eq!(names, expected);
    }
}
