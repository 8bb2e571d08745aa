//! `[[job]]`: ranks that wait for each other, and the hosts they are on.

use crate::fields::{At, Fields};
use crate::keys;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use crate::trace::{self, Trace, TraceSpec};
use crate::training;
use crate::{Files, ScenarioNames};
use std::sync::Arc;
use weir_coll::collective::{Algorithm, Operation, Plan};
use weir_coll::graph::SendDone;
use weir_coll::training::Training;
use weir_core::rng::Stream;
use weir_core::{Bytes, NodeId, PortId, Priority, Time};
use weir_net::{Topology, nearest};
use weir_sim::HORIZON;
use weir_traffic::params::Names;
use weir_traffic::{Job, Nvlink, Traffic, TrafficError, Work};

/// Which host a rank is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    /// Ranks fill the hosts in order.
    Packed,
    /// Ranks fill hosts below all leaf switches in turn.
    Rail,
    /// Ranks fill the hosts in an order that is drawn.
    Random,
    /// Each entry of `hosts` has one rank, and a host may have several entries.
    List,
}

/// What one `[[job]]` says.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// What reports call it, if it says so.
    pub name: Option<String>,
    /// Label of its queue pairs, if it has one of its own.
    pub class: Option<String>,
    /// The collective; its number of ranks is settled when the network is known.
    pub plan: Plan,
    /// The model whose training takes its place.
    pub training: Option<Training>,
    /// The trace that takes its place.
    pub trace: Option<TraceSpec>,
    /// When a send of a trace is complete.
    pub send_done: SendDone,
    ranks: Option<At<u64>>,
    hosts: Option<Vec<At<String>>>,
    placement: Placement,
    queue_pairs: u32,
    completion_delay: Time,
    start: Time,
    jitter: Time,
    compute: Time,
    stragglers: Vec<(u32, Time)>,
    nvlink: Nvlink,
    priority: Option<Priority>,
    /// Where the job, its algorithm and its size were written.
    at: [Option<Span>; 3],
}

/// Reads one table.
pub fn read(item: &Item, out: &mut Diagnostics) -> Option<JobSpec> {
    let mut f = Fields::new(&keys::JOB, Some(item), out);
    let training = training::read(&mut f);
    let word = f.choice("collective").value;
    let operation = Operation::named(word)?;
    let trace = trace::read(&mut f);
    let size = f.optional_bytes("size");
    let needs_size = training.is_none() && trace.is_none() && operation != Operation::Barrier;
    if needs_size && !f.given("size") {
        f.missing("size");
    }
    for key in ["collective", "size", "iterations", "compute", "root"] {
        if trace.is_some()
            && let Some(item) = f.item(key)
        {
            let title = format!("`{key}` has no effect beside `trace`");
            f.out.push(Diagnostic::error(title).at(item.span, "the trace says what ranks do"));
        }
    }
    let algorithm = match trace {
        Some(_) => operation.algorithms()[0],
        None => algorithm(&mut f, operation)?,
    };
    let stragglers = f.wholes("stragglers").map_or_else(Vec::new, |list| list.value);
    let delay = f.time("straggler-delay");
    if stragglers.is_empty() != (delay.value == Time::ZERO) {
        let title = "`stragglers` and `straggler-delay` go together";
        let error = Diagnostic::error(title).maybe_at(delay.span.or(f.span), "");
        f.out.push(error.help("name the slow ranks, and say by how much they are slower"));
    }
    let plan = Plan {
        algorithm,
        chunk: f.bytes("chunk").value,
        channels: f.whole("channels").value as u32,
        pipeline: f.whole("pipeline").value as u32,
        iterations: f.whole("iterations").value as u32,
        root: f.whole("root").value as u32,
        gpus: f.whole("gpus-per-host").value as u32,
        ..Plan::new(operation, 1, size.as_ref().map_or(Bytes::new(1), |s| s.value))
    };
    for key in ["start", "start-jitter", "compute", "straggler-delay", "completion-delay"] {
        let time = f.time(key);
        if time.value >= HORIZON {
            let title = format!("a `{key}` of {} is out of range", time.value);
            let label = format!("a run simulates at most {HORIZON}");
            f.out.push(Diagnostic::error(title).maybe_at(time.span, label));
        }
    }
    let nvlink =
        Nvlink { rate: f.rate("nvlink-rate").value, latency: f.time("nvlink-latency").value };
    let send_done = [("acked", SendDone::Acked), ("sent", SendDone::Sent)];
    let send_done = f.one_of("send-done", send_done).value;
    let placements = [
        ("packed", Placement::Packed),
        ("rail", Placement::Rail),
        ("random", Placement::Random),
        ("list", Placement::List),
    ];
    let at = [f.span, f.item("algorithm").map(|i| i.span), size.and_then(|s| s.span)];
    Some(JobSpec {
        name: f.text("name").map(|t| t.value),
        class: f.text("class").map(|t| t.value),
        plan,
        training,
        trace,
        send_done,
        ranks: f.optional_whole("ranks"),
        hosts: f.names("hosts"),
        placement: f.one_of("placement", placements).value,
        queue_pairs: f.whole("queue-pairs").value as u32,
        completion_delay: f.time("completion-delay").value,
        start: f.time("start").value,
        jitter: f.time("start-jitter").value,
        compute: f.time("compute").value,
        stragglers: stragglers.into_iter().map(|rank| (rank as u32, delay.value)).collect(),
        nvlink,
        priority: f.optional_whole("priority").and_then(|p| Priority::new(p.value as u8)),
        at,
    })
}

/// The algorithm, which must be one of the operation.
fn algorithm(f: &mut Fields<'_>, operation: Operation) -> Option<Algorithm> {
    let chosen = f.choice("algorithm");
    let own = operation.algorithms();
    if chosen.value == "auto" {
        return own.first().copied();
    }
    let found = own.iter().find(|a| a.name() == chosen.value).copied();
    if found.is_none() {
        let names: Vec<&str> = own.iter().map(|a| a.name()).collect();
        let title = format!("`{}` is no algorithm of `{}`", chosen.value, operation.name());
        let error = Diagnostic::error(title).maybe_at(chosen.span, "");
        f.out.push(error.help(format!("{} can use {}", operation.name(), names.join(", "))));
    }
    found
}

impl JobSpec {
    /// Puts the job on the network, as number `index`; what is to be known about it.
    pub(crate) fn place(
        &self,
        index: usize,
        traffic: &mut Traffic,
        names: &ScenarioNames<'_>,
        files: &Files,
        (priority, seed): (Priority, u64),
    ) -> Result<Vec<Diagnostic>, Diagnostic> {
        let name = self.name.clone().unwrap_or_else(|| format!("job{index}"));
        let topology = names.topology();
        let (work, hosts, warnings) = match (&self.trace, &self.training) {
            (Some(spec), _) => self.traced(spec, names, files, seed)?,
            (None, Some(training)) => {
                let hosts = self.hosts(names, topology, Some(training.ranks()), seed)?;
                // with `list` every entry of `hosts` is for one rank
                let gpus = if self.placement == Placement::List { 1 } else { training.gpus };
                let training = Training { gpus, ..training.clone() };
                (Work::Training(Arc::new(training)), hosts, Vec::new())
            }
            (None, None) => {
                let hosts = self.hosts(names, topology, None, seed)?;
                let plan = Plan { ranks: hosts.len() as u32, ..self.plan.clone() };
                (Work::Collective(Arc::new(plan)), hosts, Vec::new())
            }
        };
        let class = self.class.as_ref().unwrap_or(&name);
        let class = traffic.class(class).map_err(|e| self.at_fault(&e))?;
        let job = Job {
            class,
            priority: self.priority.unwrap_or(priority),
            start: self.start,
            jitter: self.jitter,
            compute: self.compute,
            stragglers: self.stragglers.clone(),
            completion_delay: self.completion_delay,
            queue_pairs: self.queue_pairs,
            nvlink: self.nvlink,
            ..Job::new(name, hosts, work)
        };
        traffic.add_job(job).map_err(|e| self.at_fault(&e))?;
        Ok(warnings)
    }

    /// What a trace says, the hosts of its ranks, and what could not be taken as it stands.
    fn traced(
        &self,
        spec: &TraceSpec,
        names: &ScenarioNames<'_>,
        files: &Files,
        seed: u64,
    ) -> Result<(Work, Vec<NodeId>, Vec<Diagnostic>), Diagnostic> {
        let hosts = |asked| self.hosts(names, names.topology(), asked, seed);
        let (workload, hosts) = match spec.open(files, &self.plan)? {
            Trace::Goal(schedule) => {
                let hosts = hosts(Some(schedule.ranks.len() as u64))?;
                let doubts = spec.doubts(&schedule);
                let work = Work::Schedule(Arc::new(schedule), self.send_done);
                return Ok((work, hosts, doubts));
            }
            Trace::Tasks(workload) => {
                let hosts = hosts(Some(workload.ranks.len() as u64))?;
                (workload, hosts)
            }
            Trace::Simai(rows) => {
                let hosts = hosts(None)?;
                (spec.simai(&rows, hosts.len() as u32)?, hosts)
            }
        };
        let notes = spec.notes(&workload);
        Ok((Work::Tasks(Arc::new(workload), self.send_done), hosts, notes))
    }

    fn at_fault(&self, error: &TrafficError) -> Diagnostic {
        let title = error.to_string().replace("gpus_per_host", "gpus-per-host");
        let [job, algorithm, size] = self.at;
        let place = match title.contains("message of") {
            true => size.or(job),
            false => algorithm.or(job),
        };
        Diagnostic::error(title).maybe_at(place, "")
    }

    /// The host of each rank.
    fn hosts(
        &self,
        names: &ScenarioNames<'_>,
        topology: &Topology,
        asked: Option<u64>,
        seed: u64,
    ) -> Result<Vec<NodeId>, Diagnostic> {
        let listed = match &self.hosts {
            None => topology.hosts().to_vec(),
            Some(list) => self.named(list, names)?,
        };
        let hosts = match self.placement {
            Placement::Rail => by_rail(topology, &listed),
            Placement::Random => shuffled(listed, seed),
            Placement::Packed | Placement::List => listed,
        };
        let gpus = if self.placement == Placement::List { 1 } else { self.plan.gpus as usize };
        let room = hosts.len() * gpus;
        let ranks = match (asked, &self.ranks) {
            (Some(trace), Some(ranks)) if ranks.value != trace => {
                let title = format!("the job has {trace} ranks, not {}", ranks.value);
                return Err(Diagnostic::error(title).maybe_at(ranks.span, "leave this out"));
            }
            (Some(trace), _) => trace as usize,
            (None, Some(ranks)) => ranks.value as usize,
            (None, None) => room,
        };
        if ranks > room {
            let title = format!("{ranks} ranks do not fit: there is room for {room}");
            let span = self.ranks.as_ref().and_then(|r| r.span).or(self.at[0]);
            let help = "give more `hosts`, or more `gpus-per-host`";
            return Err(Diagnostic::error(title).maybe_at(span, "").help(help));
        }
        Ok((0..ranks).map(|rank| hosts[rank / gpus]).collect())
    }

    fn named(
        &self,
        list: &[At<String>],
        names: &ScenarioNames<'_>,
    ) -> Result<Vec<NodeId>, Diagnostic> {
        let mut hosts: Vec<NodeId> = Vec::new();
        for entry in list {
            let Some(found) = names.hosts(&entry.value) else {
                let known = names.known_hosts();
                let title = format!("there is no host or switch `{}`", entry.value);
                let near = nearest(&entry.value, known.iter().map(String::as_str));
                return Err(Diagnostic::error(title).maybe_at(entry.span, "").nearest(near));
            };
            let repeats = found.iter().find(|h| hosts.contains(h));
            if let Some(host) = repeats.filter(|_| self.placement != Placement::List) {
                let name = names.topology().name(*host);
                let title = format!("`hosts` lists `{name}` twice");
                let error = Diagnostic::error(title).maybe_at(entry.span, "");
                return Err(error.help("a host may stand there twice with `placement = \"list\"`"));
            }
            hosts.extend(found);
        }
        Ok(hosts)
    }
}

/// The first host of every leaf, then the second of every leaf, and so on.
fn by_rail(topology: &Topology, hosts: &[NodeId]) -> Vec<NodeId> {
    let mut leaves: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
    for &host in hosts {
        let leaf = topology.port(host, PortId(0)).peer;
        match leaves.iter_mut().find(|(known, _)| *known == leaf) {
            Some((_, below)) => below.push(host),
            None => leaves.push((leaf, vec![host])),
        }
    }
    let most = leaves.iter().map(|(_, below)| below.len()).max().unwrap_or(0);
    let nth = |i: usize| leaves.iter().filter_map(move |(_, below)| below.get(i).copied());
    (0..most).flat_map(nth).collect()
}

/// The hosts in an order drawn from `seed` (Fisher and Yates).
fn shuffled(mut hosts: Vec<NodeId>, seed: u64) -> Vec<NodeId> {
    let mut draw = Stream::new(seed, "job-placement", 0);
    for i in (1..hosts.len()).rev() {
        hosts.swap(i, draw.below(i as u64 + 1) as usize);
    }
    hosts
}
