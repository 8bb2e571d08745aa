//! `weir import pcap`: the flows of a capture as a flow list.

use super::outputs::{keep_inputs, writable, write_file};
use crate::Status;
use crate::args::ImportPcap;
use crate::terminal::{Terminal, print};
use anyhow::{Context, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::net::IpAddr;
use weir_core::{Bytes, ClassId, NodeId, Priority, Time};
use weir_traffic::{FlowSpec, write_flows};
use weir_wire::capture::{CapturedFlow, FlowsFound};

/// Names of the classes, at the positions that [`specification`] gives to them.
const CLASSES: [&str; 2] = ["roce", "tcp"];

/// `weir import pcap`.
pub(crate) fn import_pcap(args: &ImportPcap, terminal: &Terminal) -> anyhow::Result<Status> {
    let shown = args.capture.display().to_string();
    if let Some(out) = &args.out {
        keep_inputs(out, std::slice::from_ref(&args.capture))?;
        writable(out)?;
    }
    let file = File::open(&args.capture).with_context(|| format!("cannot read {shown}"))?;
    let idle_ns = args.idle.map(|time| time.as_ps() / 1000);
    let mut found = FlowsFound::read(BufReader::new(file), idle_ns).context(shown.clone())?;
    let all = found.flows.len();
    found.flows.retain(|flow| flow.size() > 0 && flow.tuple.src != flow.tuple.dst);
    if !terminal.quiet {
        tell_skipped(&found, all, terminal);
    }
    if found.flows.is_empty() {
        bail!("{shown}: no flow of RoCEv2 or TCP over IP in it");
    }
    let hosts = name_hosts(&found.flows, &args.hosts)?;
    let list = flow_list(&shown, &found.flows, &hosts)?;
    match &args.out {
        Some(out) => write_file(out, &list)?,
        None => print(list.trim_end())?,
    }
    Ok(Status::Done)
}

fn tell_skipped(found: &FlowsFound, all: usize, terminal: &Terminal) {
    if !found.skipped.is_empty() {
        let reasons: Vec<String> =
            found.skipped.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        terminal.note(&format!("frames that belong to no flow: {}", reasons.join(", ")));
    }
    let empty = all - found.flows.len();
    if empty > 0 {
        terminal.note(&format!("flows left out (empty, or from a host to itself): {empty}"));
    }
}

/// The name of each address: as given, or h0, h1, ... in the order of addresses.
fn name_hosts(
    flows: &[CapturedFlow],
    given: &[(IpAddr, String)],
) -> anyhow::Result<BTreeMap<IpAddr, String>> {
    let mut names = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for (address, name) in given {
        if names.insert(*address, name.clone()).is_some() {
            bail!("--host names {address} twice");
        }
        if !taken.insert(name.clone()) {
            bail!("--host gives the name `{name}` to two addresses");
        }
    }
    let addresses: BTreeSet<IpAddr> =
        flows.iter().flat_map(|flow| [flow.tuple.src, flow.tuple.dst]).collect();
    let mut free = (0..).map(|i| format!("h{i}")).filter(|name| !taken.contains(name));
    for address in addresses {
        names.entry(address).or_insert_with(|| free.next().expect("numbers do not end"));
    }
    Ok(names)
}

fn flow_list(
    capture: &str,
    flows: &[CapturedFlow],
    hosts: &BTreeMap<IpAddr, String>,
) -> anyhow::Result<String> {
    let first = flows.iter().map(|flow| flow.start_ns).min().unwrap_or_default();
    let places: BTreeMap<IpAddr, usize> =
        hosts.keys().enumerate().map(|(i, address)| (*address, i)).collect();
    let node = |address| NodeId::from_index(places[&address]);
    let flows: Vec<FlowSpec> = flows.iter().map(|flow| specification(flow, first, &node)).collect();
    let names: Vec<&String> = hosts.values().collect();
    let mut list = format!("# Flows of {}\n", capture.replace(['\n', '\r'], " ")).into_bytes();
    for (address, name) in hosts {
        list.extend(format!("# {name} is {address}\n").bytes());
    }
    let classes = CLASSES.map(String::from);
    let name = |node: NodeId| names[node.index()].clone();
    write_flows(&mut list, &flows, &name, &|path| path.to_string(), &classes)?;
    Ok(String::from_utf8(list).expect("names and numbers are text"))
}

fn specification(flow: &CapturedFlow, first: u64, node: &dyn Fn(IpAddr) -> NodeId) -> FlowSpec {
    let start = flow.start_ns - first;
    let size = Bytes::new(flow.size());
    FlowSpec {
        start: Time::from_ns(start.min(Time::NEVER.as_ps() / 2000)),
        class: ClassId(if flow.queue_pair.is_some() { 0 } else { 1 }),
        priority: Priority::ALL[usize::from(flow.dscp >> 3)],
        ..FlowSpec::new(node(flow.tuple.src), node(flow.tuple.dst), size)
    }
}
