//! A configuration of the original as a native scenario.
//!
//! The scenario says everything in native terms; what cannot be said, or is done differently on
//! purpose, stands in comments at its head.

mod switches;

use super::{Inputs, class_name, host_name, switch_name};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use switches::Switches;
use weir_core::{Rate, Time};
use weir_ns3::import::{LinkPiece, Pieces, pieces};

/// Where the flows of a converted scenario go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowsIn<'a> {
    /// Into the scenario.
    Scenario,
    /// Into a file of this name beside it.
    File(&'a str),
    /// There are none: these sections stand in their place.
    Instead(&'a str),
}

/// Who chooses among paths of equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// The native model's hash.
    Hashed,
    /// The original's hash: the scenario lists the path of every flow.
    Original,
}

/// A converted configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The scenario file.
    pub scenario: String,
    /// The flow list, if it goes into a file of its own.
    pub flows: Option<String>,
    /// What was changed or left out, as it stands at the head of the scenario.
    pub notes: Vec<String>,
}

/// Converts a configuration that was read from `origin`; the scenario is called `name`.
pub fn convert(
    name: &str,
    origin: &str,
    inputs: &Inputs,
    flows: FlowsIn<'_>,
    ways: Ways,
) -> Converted {
    let p = pieces(inputs);
    let mut notes = p.notes.clone();
    notes.extend(differences(inputs, &p, ways));
    let about = format!(
        "# Converted from {}, a configuration of the HPCC ns-3 simulator.\n#\n\
         # Times count from the 2 s at which traffic starts there. `weir ns3` gives that \
         simulator's own\n\
         # numbers; the native model differs from it as follows:\n",
        plain(origin)
    );
    let head = Head { about, name, origin };
    write(&head, inputs, p, notes, flows, ways)
}

/// What stands at the top of a scenario.
pub(crate) struct Head<'a> {
    /// Comments, before the list of notes.
    pub(crate) about: String,
    pub(crate) name: &'a str,
    pub(crate) origin: &'a str,
}

/// Writes the scenario that the pieces of a run make.
pub(crate) fn write(
    head: &Head<'_>,
    inputs: &Inputs,
    p: Pieces,
    mut notes: Vec<String>,
    flows: FlowsIn<'_>,
    ways: Ways,
) -> Converted {
    let paths = Paths::new(inputs, ways);
    let switches = Switches::new(&p);
    let (loss, lossy) = loss(&p);
    notes.extend(lossy);
    notes.extend(switches.notes.iter().cloned());
    let mut out = head.text(&notes);
    out += &topology(&p);
    out += &switches.section();
    out += "\n[link]\noverhead = \"0B\"                 # no preamble, checksum or gap\n";
    if let Some(rate) = loss {
        let _ = writeln!(out, "bit-error-rate = {rate:e}");
    }
    out += &hosts(&p, switches.ack_priority);
    out += "\n[flow-control]\nscheme = \"pfc\"\ntimer = \"sticky\"                # a pause lasts \
         until a resume\n";
    out += &congestion_control(&p);
    if p.stop > Time::ZERO {
        let _ = write!(out, "\n[run]\nuntil = \"{}\"\n", p.stop);
    }
    out += &paths.sections(&p);
    let list = match flows {
        FlowsIn::Instead(sections) => {
            let _ = write!(out, "\n{sections}");
            None
        }
        FlowsIn::Scenario => {
            let rows = quoted_lines(&rows(&p, &paths), 1);
            let _ = write!(out, "\n[[traffic]]\nkind = \"list\"\nflows = [\n{rows}]\n");
            None
        }
        FlowsIn::File(file) => {
            let _ = write!(out, "\n[[traffic]]\nkind = \"list\"\nfile = {}\n", quoted(file));
            Some(rows(&p, &paths).join("\n") + "\n")
        }
    };
    Converted { scenario: out, flows: list, notes }
}

/// A TOML string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn quoted_lines(items: &[String], per_line: usize) -> String {
    let mut out = String::new();
    for line in items.chunks(per_line) {
        let line: Vec<String> = line.iter().map(|item| quoted(item)).collect();
        let _ = writeln!(out, "    {},", line.join(", "));
    }
    out
}

/// Without what would end a comment.
pub(crate) fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

impl Head<'_> {
    fn text(&self, notes: &[String]) -> String {
        let mut out = self.about.clone();
        for note in notes {
            let _ = writeln!(out, "# - {}", plain(note));
        }
        let title = quoted(&format!("Converted from {}", self.origin));
        let _ = write!(out, "name = {}\ntitle = {title}\n", quoted(self.name));
        out
    }
}

/// Differences that do not depend on a key of the configuration alone.
fn differences(inputs: &Inputs, p: &Pieces, ways: Ways) -> Vec<String> {
    let mut notes = vec![
        "the clock counts picoseconds and nothing is truncated: links carry their rate and no more"
            .into(),
        "ACKs have a priority of their own in switches, go first and are never paused".into(),
        "of two packets that arrive together, the one from the lower port goes first".into(),
    ];
    if !inputs.config.global_t {
        notes.push(
            "GLOBAL_T 0 is left out: every flow takes the longest round trip of the network".into(),
        );
    }
    if ways == Ways::Hashed && p.links.len() >= p.hosts.len() + p.switches.len() {
        notes.push("flows choose among paths of equal length by another hash".into());
    }
    let mut pairs: Vec<(u32, u32)> =
        p.links.iter().map(|l| (l.ends.0.min(l.ends.1), l.ends.0.max(l.ends.1))).collect();
    pairs.sort_unstable();
    let all = pairs.len();
    pairs.dedup();
    if pairs.len() < all {
        notes.push("parallel links are all used, not only the last of them".into());
    }
    if inputs.config.enable_trace && !inputs.trace_nodes.is_empty() {
        notes.push("packet traces are left out".into());
    }
    if !inputs.config.qlen_output.as_os_str().is_empty() {
        notes.push(
            "queue samples are left out: `series` of [probe] records queues over time".into(),
        );
    }
    notes
}

/// The bit error rate that loses full frames as often as the original does.
fn loss(p: &Pieces) -> (Option<f64>, Option<String>) {
    let Some(first) = p.links.first().map(|l| l.loss) else { return (None, None) };
    if p.links.iter().any(|l| l.loss != first) {
        let note =
            "links lose packets at different rates, which a scenario cannot say: none is lost";
        return (None, Some(note.into()));
    }
    if first <= 0.0 {
        return (None, None);
    }
    let bits = 8.0 * (p.payload + p.data_overhead).get() as f64;
    // 1 - (1 - ber)^bits = loss
    let rate = -libm::expm1(libm::log1p(-first.min(0.999)) / bits);
    let note = format!(
        "links lose {first} of all frames: a bit error rate that does the same to full frames and \
         spares short ones; lost packets are sent again after 1 ms at the latest"
    );
    (Some(rate), Some(note))
}

fn topology(p: &Pieces) -> String {
    let mut out = String::from("\n[topology]\nkind = \"explicit\"\n");
    let names = |name: fn(u32) -> String, nodes: &[u32]| -> Vec<String> {
        nodes.iter().map(|&n| name(n)).collect()
    };
    let hosts = quoted_lines(&names(host_name, &p.hosts), 12);
    let switches = quoted_lines(&names(switch_name, &p.switches), 12);
    let _ = write!(out, "hosts = [\n{hosts}]\nswitches = [\n{switches}]\n");
    // What most links have is said once.
    let mut counts: BTreeMap<(Rate, Time), usize> = BTreeMap::new();
    for l in &p.links {
        *counts.entry((l.rate, l.delay)).or_default() += 1;
    }
    let usual = counts.into_iter().max_by_key(|&(_, n)| n).map(|(values, _)| values);
    if let Some((rate, delay)) = usual {
        let _ = write!(out, "rate = \"{rate}\"\ndelay = \"{delay}\"\n");
    }
    let is_switch = |n: u32| p.switches.binary_search(&n).is_ok();
    let node = |n: u32| if is_switch(n) { switch_name(n) } else { host_name(n) };
    let link = |l: &LinkPiece| {
        let ends = format!("{} {}", node(l.ends.0), node(l.ends.1));
        match usual {
            Some(values) if values == (l.rate, l.delay) => ends,
            _ => format!("{ends} {} {}", solid(&l.rate), solid(&l.delay)),
        }
    };
    let links: Vec<String> = p.links.iter().map(link).collect();
    let _ = write!(out, "links = [\n{}]\n", quoted_lines(&links, 6));
    out
}

/// A quantity as one word.
fn solid(quantity: &impl ToString) -> String {
    quantity.to_string().replace(' ', "")
}

fn hosts(p: &Pieces, ack_priority: u8) -> String {
    let high = if p.ack_high_priority { "   # as ACK_HIGH_PRIO 1" } else { "" };
    format!(
        "\n[nic]\npayload = \"{}\"\nheader = \"{}\"\nack = \"{}\"\nack-priority = \
         {ack_priority}{high}\n",
        p.payload, p.data_overhead, p.ack_size
    )
}

fn congestion_control(p: &Pieces) -> String {
    let cc = &p.congestion_control;
    let mut out = format!("\n[congestion-control]\nalgorithm = \"{}\"\n", cc.name());
    for param in cc.list() {
        let _ = writeln!(out, "{} = {}", param.name, quoted(&param.value));
    }
    out
}

/// The flow list, its header first.
fn rows(p: &Pieces, paths: &Paths) -> Vec<String> {
    let column = if paths.distinct.is_empty() { "" } else { ",path" };
    let mut rows = vec![format!("src,dst,size,start,class,priority{column}")];
    rows.extend(p.flows.iter().enumerate().map(|(i, f)| {
        format!(
            "{},{},{},{}ns,{},{}{}",
            host_name(f.src),
            host_name(f.dst),
            f.size.get(),
            f.start.as_ps() / 1000,
            class_name(f.dport),
            f.priority,
            paths.cell(i)
        )
    }));
    rows
}

/// Static paths, where flows take those of the original.
struct Paths {
    /// Nodes from sender to receiver.
    distinct: Vec<Vec<u32>>,
    /// By flow of the scenario.
    of_flow: Vec<Option<usize>>,
}

impl Paths {
    fn new(inputs: &Inputs, ways: Ways) -> Self {
        let mut all = Self { distinct: Vec::new(), of_flow: Vec::new() };
        if ways == Ways::Hashed {
            return all;
        }
        let mut numbers: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        let ways = weir_ns3::import::paths(inputs);
        // The scenario leaves out flows without bytes.
        for (_, way) in inputs.flows.iter().zip(ways).filter(|(f, _)| f.size > 0) {
            all.of_flow.push(way.map(|nodes| {
                *numbers.entry(nodes).or_insert_with_key(|nodes| {
                    all.distinct.push(nodes.clone());
                    all.distinct.len() - 1
                })
            }));
        }
        all
    }

    fn sections(&self, p: &Pieces) -> String {
        let is_switch = |n: u32| p.switches.binary_search(&n).is_ok();
        let node = |&n: &u32| quoted(&if is_switch(n) { switch_name(n) } else { host_name(n) });
        let mut out = String::new();
        for (i, nodes) in self.distinct.iter().enumerate() {
            let nodes: Vec<String> = nodes.iter().map(node).collect();
            let _ = write!(out, "\n[[path]]\nname = \"p{i}\"\nnodes = [{}]\n", nodes.join(", "));
        }
        out
    }

    fn cell(&self, flow: usize) -> String {
        if self.distinct.is_empty() {
            return String::new();
        }
        let path = self.of_flow.get(flow).copied().flatten();
        path.map_or_else(|| ",".into(), |i| format!(",p{i}"))
    }
}
