//! `weir import cabling`.

use super::outputs::{keep_inputs, writable, write_file};
use crate::Status;
use crate::args::{CablingFormat, ImportCabling};
use crate::terminal::{Terminal, print};
use anyhow::{Context, bail};
use std::fmt::Write as _;
use weir_net::build::explicit;
use weir_net::cabling::{Cabling, Defaults, Format, read};
use weir_net::{Layer, NodeKind};

/// `weir import cabling`.
pub(crate) fn import_cabling(args: &ImportCabling, terminal: &Terminal) -> anyhow::Result<Status> {
    let name = args.file.display().to_string();
    if let Some(out) = &args.out {
        keep_inputs(out, std::slice::from_ref(&args.file))?;
        writable(out)?;
    }
    let text =
        std::fs::read_to_string(&args.file).with_context(|| format!("cannot read {name}"))?;
    let format = match args.format {
        None => Format::guess(&name, &text),
        Some(CablingFormat::Csv) => Format::Csv,
        Some(CablingFormat::Dot) => Format::Dot,
        Some(CablingFormat::Graphml) => Format::GraphMl,
    };
    let defaults = Defaults { rate: args.rate, length: args.length };
    let cabling = match read(&text, format, defaults) {
        Ok(cabling) => cabling,
        Err(error) => bail!("{name}:{}: {}", error.line, error.message),
    };
    let topology = explicit::build(&cabling.graph).with_context(|| name.clone())?;
    cabling.notes.iter().for_each(|note| terminal.note(note));
    let [first, second, ..] = topology.hosts() else {
        bail!(
            "{name} has fewer than two hosts: nothing could be sent (a column `to_type` or an \
               attribute `type` says what is a host)"
        );
    };
    let ends = [*first, *second].map(|n| topology.name(n));
    match &args.out {
        None => {
            let lists = lists(&cabling);
            print(scenario(&name, &cabling, &lists, ends).trim_end())?;
        }
        Some(out) => {
            // a graph file can say which layer a switch is in, lists in a scenario cannot
            let beside = out.with_extension("graph");
            keep_inputs(&beside, std::slice::from_ref(&args.file))?;
            writable(&beside)?;
            let file = beside.file_name().unwrap_or_default().to_string_lossy();
            let topology = format!("file = {file:?}\n");
            for (path, text) in [
                (out, scenario(&name, &cabling, &topology, ends)),
                (&beside, graph_file(&name, &cabling)),
            ] {
                write_file(path, text)?;
            }
        }
    }
    Ok(Status::Done)
}

/// The speed and the delay of a link, exactly.
fn values(link: &explicit::LinkSpec) -> String {
    format!("{}bps {}ps", link.rate.as_bps(), link.delay.as_ps())
}

/// The network as lists of a scenario.
fn lists(cabling: &Cabling) -> String {
    let graph = &cabling.graph;
    let names = |kind: NodeKind| -> String {
        let names = graph.nodes.iter().filter(|n| n.kind == kind);
        names.map(|n| format!("{:?}", n.name)).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "hosts = [{}]\nswitches = [{}]\nlinks = [\n",
        names(NodeKind::Host),
        names(NodeKind::Switch)
    );
    for link in &graph.links {
        let _ = writeln!(text, "  \"{} {} {}\",", link.a, link.b, values(link));
    }
    text.push_str("]\n");
    text
}

/// The network as a graph file.
fn graph_file(file: &str, cabling: &Cabling) -> String {
    let mut text = format!("# Made by `weir import cabling` from {file}.\n");
    for node in &cabling.graph.nodes {
        let _ = match (node.kind, node.layer) {
            (NodeKind::Host, _) => writeln!(text, "host {}", node.name),
            (NodeKind::Switch, Layer::Other) => writeln!(text, "switch {}", node.name),
            (NodeKind::Switch, layer) => {
                let (layer, group) = (layer.name(), node.group);
                writeln!(text, "switch {} layer={layer} group={group}", node.name)
            }
        };
    }
    for link in &cabling.graph.links {
        let _ = writeln!(text, "link {} {} {}", link.a, link.b, values(link));
    }
    text
}

/// The network as a scenario with one flow.
fn scenario(file: &str, cabling: &Cabling, topology: &str, [from, to]: [&str; 2]) -> String {
    let mut text = format!("# Made by `weir import cabling` from {file}.\n");
    for note in &cabling.notes {
        let _ = writeln!(text, "# {note}");
    }
    let _ = write!(text, "[topology]\nkind = \"explicit\"\n{topology}");
    text.push_str("\n# Replace this flow by your traffic.\n[[traffic]]\nkind = \"flow\"\n");
    let _ = writeln!(text, "from = {from:?}\nto = {to:?}\nsize = \"1MB\"");
    text
}
