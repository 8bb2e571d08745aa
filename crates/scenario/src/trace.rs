//! The file that a job's ranks follow, in any of the formats there are, and the keys for it.

use crate::Files;
use crate::fields::{At, Fields};
use crate::text::{Diagnostic, Span};
use std::collections::BTreeSet;
use std::path::Path;
use weir_coll::balance::Balance;
use weir_coll::chakra::{self, Dependencies, Traces, groups};
use weir_coll::collective::{Algorithm, Plan};
use weir_coll::goal::{Kind, Op, Schedule, binary, text};
use weir_coll::simai::flows::Remainder;
use weir_coll::simai::job::{Groups, Options as SimaiOptions};
use weir_coll::simai::text::Rows;
use weir_coll::tasks::Workload;
use weir_coll::{htsim, simai};
use weir_sim::HORIZON;

/// Keys that have an effect on Chakra traces only.
const CHAKRA: &[&str] = &["algorithm", "dependencies", "communication", "comm-groups"];
/// Keys that have an effect on SimAI's workloads only.
const SIMAI: &[&str] = &[
    "simai-send-latency",
    "simai-groups",
    "simai-remainder",
    "simai-pxn",
    "simai-gpus-per-server",
];

/// What a job says about its trace.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    /// The file, or what the names of the files of all ranks begin with.
    pub file: At<String>,
    algorithm: Option<Algorithm>,
    dependencies: Dependencies,
    serial: bool,
    groups: Option<At<String>>,
    simai: SimaiOptions,
    /// Keys of some formats that were given.
    given: Vec<(&'static str, Span)>,
}

/// What was read.
pub(crate) enum Trace {
    /// A GOAL schedule.
    Goal(Schedule),
    /// The tasks of all ranks.
    Tasks(Workload),
    /// Rows for as many ranks as there are.
    Simai(Rows),
}

/// Reads the keys; those that would have no effect are errors.
pub(crate) fn read(f: &mut Fields<'_>) -> Option<TraceSpec> {
    let file = f.text("trace");
    let keys = CHAKRA.iter().chain(SIMAI);
    let given: Vec<(&'static str, Span)> =
        keys.filter_map(|key| Some((*key, f.item(key)?.span))).collect();
    let dependencies = [
        ("both", Dependencies::Both),
        ("data", Dependencies::Data),
        ("control", Dependencies::Control),
    ];
    let dependencies = f.one_of("dependencies", dependencies).value;
    let serial = f.one_of("communication", [("serial", true), ("parallel", false)]).value;
    let groups = f.text("comm-groups");
    let groups_of_simai = [("topology", Groups::Topology), ("header", Groups::Header)];
    let remainders = [("drop", Remainder::Drop), ("spread", Remainder::Spread)];
    let simai = SimaiOptions {
        ranks: 1,
        groups: f.one_of("simai-groups", groups_of_simai).value,
        gpus_per_server: f.whole("simai-gpus-per-server").value as u32,
        send_latency: f.time("simai-send-latency").value,
        remainder: f.one_of("simai-remainder", remainders).value,
        pxn: f.bool("simai-pxn").value,
    };
    let Some(file) = file else {
        for (key, span) in given.iter().filter(|(key, _)| *key != "algorithm") {
            let title = format!("`{key}` has no effect without `trace`");
            f.out.push(Diagnostic::error(title).at(*span, "it says how a trace is carried out"));
        }
        return None;
    };
    let algorithm = f.choice("algorithm").value;
    let operations = weir_coll::collective::Operation::ALL;
    let mut all = operations.iter().flat_map(|o| o.algorithms());
    let algorithm = all.find(|a| a.name() == algorithm).copied();
    Some(TraceSpec { file, algorithm, dependencies, serial, groups, simai, given })
}

/// A computation that lasts longer than the clock goes.
fn too_long(schedule: &Schedule) -> Option<Op> {
    let ops = schedule.ranks.iter().flat_map(|r| &r.ops);
    let most = HORIZON.as_ps() / 1000;
    ops.copied().find(|op| op.kind == Kind::Calc && op.size > most)
}

impl TraceSpec {
    /// Reads the files. `plan` says how collectives of a Chakra trace are carried out.
    pub(crate) fn open(&self, files: &Files, plan: &Plan) -> Result<Trace, Diagnostic> {
        let wrong = |why: String| {
            Diagnostic::error(why).maybe_at(self.file.span, "this trace cannot be read")
        };
        let name = &self.file.value;
        if let Some(ranks) = ranks(files, name).map_err(wrong)? {
            self.only(CHAKRA, "a Chakra trace")?;
            let workload = self.chakra(files, &ranks, plan)?;
            return self.checked(workload).map(Trace::Tasks);
        }
        let bytes = files.read_bytes(name).map_err(wrong)?;
        let named = |e: &dyn std::fmt::Display| wrong(format!("`{name}`: {e}"));
        if htsim::is_matrix(&bytes) {
            self.only(&[], "an htsim matrix")?;
            let matrix = htsim::parse(&bytes).map_err(|e| named(&e))?;
            let workload = htsim::workload(&matrix).map_err(|e| named(&e))?;
            return self.checked(workload).map(Trace::Tasks);
        }
        if simai::text::is_workload(&bytes) {
            self.only(SIMAI, "a SimAI workload")?;
            return simai::text::parse(&bytes).map(Trace::Simai).map_err(|e| named(&e));
        }
        self.only(&[], "a GOAL schedule")?;
        let schedule = match binary::is_binary(&bytes) {
            true => binary::parse(&bytes).map_err(|e| named(&e))?,
            false => text::parse(&bytes).map_err(|e| named(&e))?,
        };
        if let Some(op) = too_long(&schedule) {
            return Err(self.late(&format!("`{}` of the trace is too long", op.words())));
        }
        if let Some((rank, b)) = schedule.balances().iter().enumerate().find(|(_, b)| b.surplus()) {
            let (sent, received) = (b.sent, b.received);
            return Err(named(&format!(
                "{sent} messages are sent to rank {rank}, and it receives {received}"
            )));
        }
        Ok(Trace::Goal(schedule))
    }

    /// What a schedule says in two ways, as warnings.
    pub(crate) fn doubts(&self, schedule: &Schedule) -> Vec<Diagnostic> {
        let balances = schedule.balances();
        let other = |b: &&(usize, &Balance)| b.1.sent == b.1.received && b.1.differs();
        let ranks: Vec<(usize, &Balance)> = balances.iter().enumerate().collect();
        let mut doubtful = ranks.iter().filter(other);
        let Some((rank, _)) = doubtful.next() else { return Vec::new() };
        let more = match doubtful.count() {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        let title = format!(
            "`{}`: receives of rank {rank}{more} have other sizes than the messages sent to it",
            self.file.value
        );
        let label = "messages have the sizes of their sends";
        vec![Diagnostic::warning(title).maybe_at(self.file.span, label)]
    }

    fn late(&self, title: &str) -> Diagnostic {
        let label = format!("a run simulates at most {HORIZON}");
        Diagnostic::error(title).maybe_at(self.file.span, label)
    }

    /// Refuses keys that have no effect on this format.
    fn only(&self, keys: &[&str], format: &str) -> Result<(), Diagnostic> {
        match self.given.iter().find(|(key, _)| !keys.contains(key)) {
            None => Ok(()),
            Some((key, span)) => {
                let title = format!("`{key}` has no effect on {format}");
                Err(Diagnostic::error(title).at(*span, format!("`{}` is one", self.file.value)))
            }
        }
    }

    fn checked(&self, workload: Workload) -> Result<Workload, Diagnostic> {
        let longest = workload.longest_calc();
        match longest > HORIZON {
            true => Err(self.late(&format!("a computation of {longest} of the trace is too long"))),
            false => Ok(workload),
        }
    }

    fn chakra(&self, files: &Files, ranks: &[String], plan: &Plan) -> Result<Workload, Diagnostic> {
        let groups = match &self.groups {
            None => groups::Groups::default(),
            Some(file) => files
                .read(&file.value)
                .and_then(|text| {
                    groups::Groups::parse(&text).map_err(|e| format!("`{}`: {e}", file.value))
                })
                .map_err(|why| Diagnostic::error(why).maybe_at(file.span, "these are no groups"))?,
        };
        let options = chakra::Options {
            dependencies: self.dependencies,
            serial: self.serial,
            algorithm: self.algorithm,
            plan: plan.clone(),
            groups,
            most_memory: chakra::MOST_MEMORY,
        };
        let wrong = |why: String| {
            Diagnostic::error(why).maybe_at(self.file.span, "this trace cannot be represented")
        };
        let mut traces =
            Traces::new(ranks.len() as u32, options).map_err(|e| wrong(e.to_string()))?;
        for name in ranks {
            let bytes = files.read_bytes(name).map_err(wrong)?;
            traces.read(name, &bytes).map_err(|e| wrong(e.to_string()))?;
        }
        traces.finish().map_err(|e| wrong(e.to_string()))
    }

    /// The tasks of a SimAI workload for so many ranks.
    pub(crate) fn simai(&self, rows: &Rows, ranks: u32) -> Result<Workload, Diagnostic> {
        let options = SimaiOptions { ranks, ..self.simai.clone() };
        if options.send_latency >= HORIZON {
            return Err(
                self.late(&format!("a send latency of {} is too long", options.send_latency))
            );
        }
        let workload = simai::job::workload(rows, &options).map_err(|e| {
            let title = format!("`{}`: {e}", self.file.value);
            Diagnostic::error(title).maybe_at(self.file.span, "this workload cannot be carried out")
        })?;
        self.checked(workload)
    }

    /// What a workload says about itself, as warnings.
    pub(crate) fn notes(&self, workload: &Workload) -> Vec<Diagnostic> {
        let notes = workload.notes.iter();
        let warning = |note: &String| {
            let title = format!("`{}`: {note}", self.file.value);
            Diagnostic::warning(title).maybe_at(self.file.span, "")
        };
        notes.map(warning).collect()
    }
}

/// The files of all ranks, `PREFIX.0.et` and so on, if a name is the beginning of such names.
fn ranks(files: &Files, prefix: &str) -> Result<Option<Vec<String>>, String> {
    let path = files.path(prefix);
    let Some(base) = path.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
    let directory = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_file() {
        return Ok(None);
    }
    for form in ["et", "et.gz", "json"] {
        let mut found: BTreeSet<u32> = BTreeSet::new();
        let Ok(entries) = std::fs::read_dir(directory) else { break };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number: Option<u32> = name
                .to_str()
                .and_then(|name| name.strip_prefix(base)?.strip_prefix('.')?.strip_suffix(form))
                .and_then(|rest| rest.strip_suffix('.')?.parse().ok());
            found.extend(number);
        }
        let Some(last) = found.last() else { continue };
        if let Some(missing) = (0..*last).find(|rank| !found.contains(rank)) {
            return Err(format!(
                "`{prefix}.{missing}.{form}` is missing: there are {} files up to rank {last}",
                found.len()
            ));
        }
        return Ok(Some((0..=*last).map(|rank| format!("{prefix}.{rank}.{form}")).collect()));
    }
    Ok(None)
}

/// What a trace is, without a scenario.
#[derive(Clone, Debug)]
pub struct Look {
    /// Its format.
    pub format: &'static str,
    /// How many ranks it has.
    pub ranks: u64,
    /// How many operations or tasks they have.
    pub operations: u64,
    /// How many collectives there are.
    pub collectives: u64,
    /// What could not be taken as it stands.
    pub notes: Vec<String>,
}

/// Reads a trace whose number of ranks is known: any but SimAI's. `groups` is the file of groups
/// of a Chakra trace.
pub fn look(files: &Files, name: &str, groups: Option<&str>) -> Result<Look, Diagnostic> {
    let spec = TraceSpec {
        file: At::default(name.to_owned()),
        algorithm: None,
        dependencies: Dependencies::Both,
        serial: true,
        groups: groups.map(|file| At::default(file.to_owned())),
        simai: SimaiOptions::default(),
        given: Vec::new(),
    };
    let plan = Plan::new(weir_coll::collective::Operation::AllReduce, 1, weir_core::Bytes::new(1));
    let look = |format, ranks: usize, operations| Look {
        format,
        ranks: ranks as u64,
        operations,
        collectives: 0,
        notes: Vec::new(),
    };
    let format = if files.path(name).is_file() { "an htsim matrix" } else { "a Chakra trace" };
    match spec.open(files, &plan)? {
        Trace::Goal(schedule) => {
            let operations = schedule.operations() as u64;
            Ok(look("a GOAL schedule", schedule.ranks.len(), operations))
        }
        Trace::Tasks(workload) => Ok(Look {
            collectives: workload.calls.len() as u64,
            notes: workload.notes.clone(),
            ..look(format, workload.ranks.len(), workload.tasks())
        }),
        Trace::Simai(_) => {
            let error = Diagnostic::error(format!("`{name}` is a SimAI workload"));
            Err(error.help("`weir import simai` converts it together with its topology"))
        }
    }
}
