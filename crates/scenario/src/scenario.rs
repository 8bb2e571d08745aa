//! A scenario as read: what a run is made of, as people write it.

use crate::faults::{self, FaultSpec};
use crate::fields::{Fields, unknown_key};
use crate::job::{self, JobSpec};
use crate::names::Files;
use crate::receivers::{self, ReceiverSpec};
use crate::reference::{self, Reference};
use crate::report::{self, ReportSpec};
use crate::routing::{self, RoutingSpec};
use crate::sections::{self, FailureSpec, NicSpec, PathSpec, RunSpec};
use crate::switch::{self, SwitchSpec};
use crate::tcp::{self, TcpSpec};
use crate::text::{
    Colour, Diagnostic, Diagnostics, Item, SourceId, Sources, Table, Value, apply_override,
    is_hidden, parse,
};
use crate::topology::{self, TopologySpec};
use crate::traffic::{self, TrafficSpec};
use crate::variant::{self, VariantSpec};
use crate::{control, keys};
use std::fmt;
use std::path::Path;
use weir_sim::config::{LinkConfig, ProbeConfig};

/// A scenario as read. Parts that could not be read are missing, and said so.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Short name.
    pub name: String,
    /// One line.
    pub title: String,
    /// Anything else.
    pub notes: String,
    /// The file, and overrides.
    pub sources: Sources,
    /// Where it looks for files.
    pub files: Files,
    /// The network.
    pub topology: Option<TopologySpec>,
    /// Switches.
    pub switch: SwitchSpec,
    /// Wires.
    pub link: LinkConfig,
    /// Hosts.
    pub nic: NicSpec,
    /// TCP, where hosts use it.
    pub tcp: TcpSpec,
    /// Between neighbours.
    pub flow_control: control::FlowControlSpec,
    /// At the senders.
    pub congestion_control: control::CongestionControlSpec,
    /// Who sends what.
    pub traffic: Vec<TrafficSpec>,
    /// Ranks that wait for each other.
    pub jobs: Vec<JobSpec>,
    /// Routes by hand.
    pub paths: Vec<PathSpec>,
    /// Links that fail.
    pub failures: Vec<FailureSpec>,
    /// Control frames that are lost, late or effective twice.
    pub faults: Vec<FaultSpec>,
    /// Hosts that take data in slowly.
    pub receivers: Vec<ReceiverSpec>,
    /// How paths are chosen.
    pub routing: RoutingSpec,
    /// What to record.
    pub probe: ProbeConfig,
    /// When to stop.
    pub run: RunSpec,
    /// Rows of a comparison.
    pub variants: Vec<VariantSpec>,
    /// How tables of results are divided.
    pub report: ReportSpec,
    /// Published numbers.
    pub references: Vec<Reference>,
}

/// What went wrong, with the texts to show it in.
#[derive(Clone, Debug)]
pub struct Problems {
    /// The texts.
    pub sources: Sources,
    /// What is wrong with them.
    pub diagnostics: Diagnostics,
}

impl Problems {
    /// A problem that is not about a place in a file.
    pub fn plain(diagnostic: Diagnostic) -> Self {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(diagnostic);
        Self { sources: Sources::default(), diagnostics }
    }

    /// All of it as text.
    pub fn render(&self, colour: Colour) -> String {
        self.diagnostics.render(&self.sources, colour)
    }
}

/// All of it as plain text.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Colour::Off))
    }
}

impl Scenario {
    /// Reads `text`, called `name` in messages, with `sets` from the command line on top.
    pub fn read(name: &str, text: &str, files: Files, sets: &[String]) -> (Self, Diagnostics) {
        let mut sources = Sources::default();
        let mut out = Diagnostics::default();
        let id = sources.add(name, text);
        let mut root = parse(&sources, id, &mut out);
        for set in sets {
            apply_override(&mut root, set, &mut sources, &mut out);
        }
        let scenario = Self::from_table(name, &root, sources, files, &mut out);
        (scenario, out)
    }

    /// Reads a scenario from a tree of values, called `file` in messages.
    pub fn from_table(
        file: &str,
        root: &Table,
        sources: Sources,
        files: Files,
        out: &mut Diagnostics,
    ) -> Self {
        refuse_unknown_sections(root, out);
        let (name, title, notes) = head(file, root, out);
        let section = |name: &str| root.get(name);
        let traffic = repeated(root, "traffic", out, traffic::read);
        let tcp = tcp::read(section("tcp"), out);
        Self {
            name,
            title,
            notes,
            topology: topology::read(section("topology"), &files, out),
            switch: switch::read(section("switch"), out),
            link: sections::link(section("link"), out),
            nic: sections::nic(section("nic"), &tcp, out),
            tcp,
            flow_control: control::flow_control(section("flow-control"), out),
            congestion_control: control::congestion_control(section("congestion-control"), out),
            variants: variant::read_all(root.get("variant"), out),
            report: report::read(section("report"), &traffic, out),
            traffic,
            jobs: repeated(root, "job", out, job::read),
            paths: repeated(root, "path", out, sections::path),
            failures: repeated(root, "failure", out, sections::failure),
            faults: repeated(root, "fault", out, faults::read),
            receivers: repeated(root, "slow-receiver", out, receivers::read),
            routing: routing::read(section("routing"), out),
            probe: sections::probe(section("probe"), out),
            run: sections::run(section("run"), out),
            references: repeated(root, "reference", out, reference::read),
            sources,
            files,
        }
    }
}

/// The tables of `[[name]]`; a single `[name]` is a list of one, and warned of: a second one would
/// be an error.
fn repeated<T>(
    root: &Table,
    name: &str,
    out: &mut Diagnostics,
    read: impl Fn(&Item, &mut Diagnostics) -> Option<T>,
) -> Vec<T> {
    let Some(item) = root.get(name) else { return Vec::new() };
    let items = match &item.value {
        Value::List(items) => items.as_slice(),
        Value::Table(_) if item.span.source == SourceId::FILE => {
            let title = format!("`[{name}]` is meant as `[[{name}]]`");
            let label = "a scenario may have several, so each has two brackets";
            out.push(Diagnostic::warning(title).at(item.span, label));
            std::slice::from_ref(item)
        }
        _ => std::slice::from_ref(item),
    };
    items.iter().filter_map(|item| read(item, out)).collect()
}

fn refuse_unknown_sections(root: &Table, out: &mut Diagnostics) {
    let known: Vec<&str> = keys::ROOT
        .keys
        .iter()
        .map(|k| k.name)
        .chain(keys::SECTIONS.iter().map(|s| s.name))
        .collect();
    for (name, span, _) in &root.0 {
        if !known.contains(&name.as_str()) {
            out.push(unknown_key(name, *span, "a scenario", &known));
        }
    }
}

fn head(file: &str, root: &Table, out: &mut Diagnostics) -> (String, String, String) {
    let start = root.0.first().map(|(_, span, _)| *span);
    let item = start.map(|span| Item { span, value: Value::Table(root.clone()) });
    let mut f = Fields::open("a scenario".into(), keys::ROOT.keys, item.as_ref(), out);
    let stem = Path::new(file).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into());
    let stem = stem.replace(char::is_control, "_");
    let name = f.text("name");
    if let Some(name) = &name {
        let usable = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        let hidden = name.value.starts_with('.') || name.value.is_empty();
        if hidden || name.value.len() > 100 || !name.value.chars().all(usable) {
            let title = format!("`{}` cannot be the name of a scenario", name.value);
            let error = Diagnostic::error(title).maybe_at(name.span, "");
            f.out.push(error.help(
                "results are kept in a directory of this name: use up to 100 letters, digits, `-`, \
                 `_`, `.` and `+`, not beginning with `.`",
            ));
        }
    }
    let name = name.map_or(stem, |n| n.value);
    let title = f.text("title");
    if let Some(title) = title.as_ref().filter(|t| t.value.chars().any(is_hidden)) {
        let error = Diagnostic::error("`title` contains control characters");
        f.out.push(error.maybe_at(title.span, "a title is one line of text"));
    }
    let title = title.map_or_else(|| name.clone(), |t| t.value);
    let notes = f.text("notes").map_or_else(String::new, |n| n.value);
    (name, title, notes)
}
