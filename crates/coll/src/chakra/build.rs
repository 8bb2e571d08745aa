//! From nodes to tasks.

use super::node::{COLLECTIVES, KINDS, Node};
use super::{ChakraError, Dependencies, Options};
use crate::collective::{Operation, Plan};
use crate::tasks::{Builder, Call, Lane, MOST_CALLS, Program, Set, Task, Unmet, Work, Workload};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_core::{Bytes, Time};

/// The most ranks of a job.
const MOST_RANKS: u32 = 1 << 19;

/// Where a call was seen first, and how often.
#[derive(Debug)]
struct Seen {
    file: String,
    node: u64,
    group: String,
    ranks: u32,
}

/// The ranks that have been read.
#[derive(Debug)]
pub(super) struct Build {
    ranks: u32,
    options: Options,
    workload: Workload,
    /// By rank: its file.
    files: Vec<String>,
    used: u64,
    /// Sets by the name of their group.
    sets: BTreeMap<String, u32>,
    /// Calls by set and by how many there were before.
    calls: FxHashMap<(u32, u32), u32>,
    seen: Vec<Seen>,
    notes: BTreeMap<&'static str, u64>,
}

/// A rank that is being read.
#[derive(Debug)]
pub(super) struct Rank {
    file: String,
    number: u32,
    builder: Builder,
    /// Tasks by the ids of their nodes.
    places: FxHashMap<u64, u32>,
    /// Which task waits for which node.
    waits: Vec<(u32, u64)>,
    /// By set: how many calls there were. Never gone through.
    calls: FxHashMap<u32, u32>,
}

type Wrong = (Option<u64>, String);

impl Build {
    pub(super) fn new(ranks: u32, options: Options) -> Result<Self, ChakraError> {
        if ranks == 0 || ranks > MOST_RANKS {
            let what = format!("{ranks} ranks: from 1 to {MOST_RANKS} can be");
            return Err(ChakraError { file: "the traces".into(), node: None, what });
        }
        Ok(Self {
            ranks,
            options,
            workload: Workload::default(),
            files: Vec::new(),
            used: 0,
            sets: BTreeMap::new(),
            calls: FxHashMap::default(),
            seen: Vec::new(),
            notes: BTreeMap::new(),
        })
    }

    /// Begins the next rank.
    pub(super) fn begin(&mut self, file: &str) -> Result<Rank, ChakraError> {
        let number = self.workload.ranks.len() as u32;
        if number >= self.ranks {
            let what = format!("there are {} ranks, and this would be one more", self.ranks);
            return Err(ChakraError { file: file.to_owned(), node: None, what });
        }
        Ok(Rank {
            file: file.to_owned(),
            number,
            builder: Builder::new(self.options.most_memory.saturating_sub(self.used)),
            places: FxHashMap::default(),
            waits: Vec::new(),
            calls: FxHashMap::default(),
        })
    }

    fn note(&mut self, what: &'static str) {
        *self.notes.entry(what).or_default() += 1;
    }

    /// Takes a node over.
    pub(super) fn node(&mut self, rank: &mut Rank, node: Node) -> Result<(), String> {
        let (task, lane) = self.task(rank, &node)?;
        let full = |e: crate::tasks::TooMuch| format!("{e}, together with the ranks before it");
        let at = rank.builder.named(node.id, task, lane).map_err(full)?;
        if rank.places.insert(node.id, at).is_some() {
            return Err("two nodes have this id".into());
        }
        let kinds = self.options.dependencies;
        let data = (kinds != Dependencies::Control).then_some(&node.data_deps);
        let control = (kinds != Dependencies::Data).then_some(&node.ctrl_deps);
        let mut on: Vec<u64> = data.into_iter().chain(control).flatten().copied().collect();
        // a node that is named as both is waited for once
        on.sort_unstable();
        on.dedup();
        let before = rank.waits.len() as u64;
        if rank.builder.bytes() + 28 * (before + on.len() as u64) > self.options.most_memory {
            let most = crate::tasks::TooMuch(self.options.most_memory);
            return Err(full(most));
        }
        rank.waits.extend(on.into_iter().map(|id| (at, id)));
        Ok(())
    }

    fn task(&mut self, rank: &Rank, node: &Node) -> Result<(Task, Lane), String> {
        let compute = if node.is_cpu_op { Lane::Cpu } else { Lane::Gpu };
        let network = self.network();
        match node.kind {
            1 => {
                self.options.groups.add_listed(&node.values, self.ranks)?;
                Ok((Task::Join, Lane::Free))
            }
            2 | 3 => {
                if node.duration_us == 0 && node.tensor_size > 0 {
                    return Err(format!(
                        "a transfer of {} bytes between memories without a duration: there is no \
                         model of memories",
                        node.tensor_size
                    ));
                }
                Ok((Task::Calc(lasts(node)?), Lane::Memory))
            }
            4 => Ok((Task::Calc(lasts(node)?), compute)),
            5 => {
                let peer = self.peer("comm_dst", node.dst)?;
                self.own_end("comm_src", node.src, rank.number)?;
                let bytes = node.comm_size.ok_or("a send has no `comm_size`")?;
                self.priority(node);
                Ok((Task::Send { peer, bytes, tag: u64::from(node.tag) }, network))
            }
            6 => {
                let peer = self.peer("comm_src", node.src)?;
                self.own_end("comm_dst", node.dst, rank.number)?;
                Ok((Task::Recv { peer, tag: u64::from(node.tag) }, Lane::Free))
            }
            7 => self.collective(rank.number, node),
            0 => Err("its type is 0, which is none (`INVALID_NODE`)".into()),
            other => Err(format!("its type is {other}: there are 1 to {}", KINDS.len() - 1)),
        }
    }

    fn network(&self) -> Lane {
        if self.options.serial { Lane::Network } else { Lane::Free }
    }

    fn priority(&mut self, node: &Node) {
        if node.priority {
            self.note("have a `comm_priority`, which has no effect");
        }
    }

    fn peer(&self, name: &str, rank: Option<u64>) -> Result<u32, String> {
        let rank = rank.ok_or_else(|| format!("`{name}` is missing"))?;
        let known = u32::try_from(rank).ok().filter(|r| *r < self.ranks);
        known.ok_or_else(|| format!("`{name}` is {rank}, and there are {} ranks", self.ranks))
    }

    /// The end of a message that is this rank, as it should be where it is given.
    fn own_end(&self, name: &str, given: Option<u64>, own: u32) -> Result<(), String> {
        match given {
            Some(rank) if rank != u64::from(own) => {
                Err(format!("`{name}` is {rank} in the trace of rank {own}"))
            }
            _ => Ok(()),
        }
    }

    /// A collective: the number of its call follows from how many its group had before.
    fn collective(&mut self, rank: u32, node: &Node) -> Result<(Task, Lane), String> {
        if node.some_dimensions && node.group.is_empty() {
            return Err("`involved_dim` leaves dimensions out, and a network has none here: name \
                        the group with `pg_name`"
                .into());
        }
        let set = self.set(&node.group)?;
        let group = &self.workload.sets[set as usize];
        if group.place(rank).is_none() {
            return Err(format!("rank {rank} is not in group `{}`", node.group));
        }
        self.priority(node);
        let plan = self.plan(set, node)?;
        Ok((Task::Call(self.call(set, plan)?), self.network()))
    }

    /// A call before it has its number: that depends on the order of ids, which may differ from the
    /// order in the file.
    fn call(&mut self, set: u32, plan: Plan) -> Result<u32, String> {
        if self.workload.calls.len() - self.seen.len() >= MOST_CALLS {
            return Err(format!("more than {MOST_CALLS} collectives"));
        }
        self.workload.calls.push(Call { set, work: Work::Plan(plan) });
        Ok(self.workload.calls.len() as u32 - 1)
    }

    fn set(&mut self, name: &str) -> Result<u32, String> {
        if let Some(known) = self.sets.get(name) {
            return Ok(*known);
        }
        let set: Set = self.options.groups.set(name, self.ranks)?;
        let number = self.workload.sets.len() as u32;
        self.workload.sets.push(set);
        self.sets.insert(name.to_owned(), number);
        Ok(number)
    }

    fn plan(&mut self, set: u32, node: &Node) -> Result<Plan, String> {
        let kind = node.comm_type.ok_or("a collective has no `comm_type`")?;
        let name = COLLECTIVES.get(kind as usize).copied().unwrap_or("unknown");
        let operation = match kind {
            0 => Operation::AllReduce,
            2 => Operation::AllGather,
            5 => Operation::Broadcast,
            6 => Operation::AllToAll,
            7 | 8 => Operation::ReduceScatter,
            9 => Operation::Barrier,
            _ => {
                return Err(format!(
                    "a collective of type {kind} ({name}) has no algorithm: 0, 2 and 5 to 9 have"
                ));
            }
        };
        let group = Arc::clone(&self.workload.sets[set as usize].groups[0]);
        let bytes = match (operation, node.comm_size) {
            (Operation::Barrier, _) => 1,
            (_, None) => return Err(format!("a collective ({name}) has no `comm_size`")),
            // what each rank contributes, where an array as a whole is wanted
            (Operation::AllGather, Some(each)) => each
                .checked_mul(group.len() as u64)
                .ok_or_else(|| format!("{each} bytes of {} ranks are too many", group.len()))?,
            (_, Some(bytes)) => bytes,
        };
        let chosen = self.options.algorithm.filter(|a| operation.algorithms().contains(a));
        let algorithm = chosen.unwrap_or(operation.algorithms()[0]);
        let bytes = Bytes::new(bytes);
        let root = if operation == Operation::Broadcast { self.root(node, &group)? } else { 0 };
        let ranks = group.len() as u32;
        let plan = Plan { operation, algorithm, ranks, bytes, root, ..self.options.plan.clone() };
        let plan = Plan { iterations: 1, ..plan };
        plan.check().map_err(|e| e.to_string())?;
        Ok(plan)
    }

    /// The root of a broadcast, by its place in the group.
    fn root(&mut self, node: &Node, group: &[u32]) -> Result<u32, String> {
        let Some(root) = node.root.or(node.src) else {
            self.note("are broadcasts that name no root: the first rank of the group is taken");
            return Ok(0);
        };
        let at = group.iter().position(|rank| u64::from(*rank) == root);
        at.map(|at| at as u32).ok_or_else(|| format!("the root, rank {root}, is not in the group"))
    }

    /// Ends a rank: all its nodes are known now.
    pub(super) fn end(&mut self, mut rank: Rank) -> Result<(), Wrong> {
        for (at, id) in std::mem::take(&mut rank.waits) {
            let Some(&on) = rank.places.get(&id) else {
                let node = rank.places.iter().find(|(_, place)| **place == at);
                let what = format!("it waits for node {id}, which does not exist");
                return Err((node.map(|(id, _)| *id), what));
            };
            rank.builder.after(at, on).map_err(|e| (Some(id), e.to_string()))?;
        }
        rank.places = FxHashMap::default();
        let builder = std::mem::replace(&mut rank.builder, Builder::new(0));
        self.used += builder.bytes();
        let mut program = builder.build();
        if let Some(circle) = program.circle() {
            let names: Vec<String> =
                circle.iter().take(12).map(|i| program.name(*i).to_string()).collect();
            let more = if circle.len() > 12 { " and so on" } else { "" };
            let what = format!("nodes wait for each other in a circle: {}{more}", names.join(", "));
            return Err((Some(program.name(circle[0])), what));
        }
        self.number_calls(&mut rank, &mut program)?;
        self.workload.ranks.push(Arc::new(program));
        self.files.push(rank.file);
        Ok(())
    }

    /// Gives the calls of a rank, in the order of their ids, the numbers of all ranks.
    fn number_calls(&mut self, rank: &mut Rank, program: &mut Program) -> Result<(), Wrong> {
        // calls of this rank stand behind those with numbers
        let mine = self.workload.calls.split_off(self.seen.len());
        let offset = self.seen.len() as u32;
        for index in 0..program.steps.len() {
            let Task::Call(own) = program.steps[index].task else { continue };
            let id = program.name(index as u32);
            let call = mine[(own - offset) as usize].clone();
            let before = rank.calls.entry(call.set).or_default();
            let key = (call.set, *before);
            *before += 1;
            let number = match self.calls.get(&key) {
                Some(&number) => {
                    self.joins(number, &call, key.1).map_err(|what| (Some(id), what))?;
                    number
                }
                None => self.first(key, call, rank, id)?,
            };
            program.steps[index].task = Task::Call(number);
        }
        Ok(())
    }

    /// The first rank that takes part in a call.
    fn first(&mut self, key: (u32, u32), call: Call, rank: &Rank, id: u64) -> Result<u32, Wrong> {
        let number = self.seen.len();
        if number >= MOST_CALLS {
            return Err((Some(id), format!("more than {MOST_CALLS} collectives")));
        }
        let name = self.sets.iter().find(|(_, set)| **set == call.set);
        let group = name.map_or_else(String::new, |(name, _)| name.clone());
        self.seen.push(Seen { file: rank.file.clone(), node: id, group, ranks: 1 });
        self.calls.insert(key, number as u32);
        self.workload.calls.push(call);
        Ok(number as u32)
    }

    /// Another rank takes part: it has to mean the same.
    fn joins(&mut self, number: u32, call: &Call, nth: u32) -> Result<(), String> {
        let known = &self.workload.calls[number as usize].work;
        let seen = &mut self.seen[number as usize];
        seen.ranks += 1;
        if *known == call.work {
            return Ok(());
        }
        let words = |work: &Work| format!("{} of {} bytes", work.name(), work.bytes().get());
        Err(format!(
            "collective {} of group `{}` is {} here and {} in {}, node {}",
            nth + 1,
            seen.group,
            words(&call.work),
            words(known),
            seen.file,
            seen.node
        ))
    }

    /// All ranks are known now.
    pub(super) fn finish(mut self) -> Result<Workload, ChakraError> {
        let read = self.workload.ranks.len() as u32;
        if read < self.ranks {
            let what = format!("the traces of {read} of {} ranks are there", self.ranks);
            return Err(ChakraError { file: "the traces".into(), node: None, what });
        }
        for (call, seen) in self.workload.calls.iter().zip(&self.seen) {
            let all = self.workload.sets[call.set as usize].groups[0].len();
            if seen.ranks as usize != all {
                let what = format!(
                    "{} ranks take part in this {} of group `{}`, which has {all}",
                    seen.ranks,
                    call.work.name(),
                    seen.group
                );
                return Err(ChakraError { file: seen.file.clone(), node: Some(seen.node), what });
            }
        }
        if let Some(unmet) = self.workload.unmet() {
            return Err(self.no_partner(&unmet));
        }
        let notes = self.notes.iter().map(|(what, count)| match count {
            1 => format!("one node: {what}"),
            _ => format!("{count} nodes {what}"),
        });
        self.workload.notes = notes.collect();
        Ok(self.workload)
    }

    /// A send that no receive meets, or a receive that no send meets.
    fn no_partner(&self, unmet: &Unmet) -> ChakraError {
        let Unmet { rank, index, sends, receives, .. } = *unmet;
        // most writers have signed tags
        let signed = |tag: u64| tag as u32 as i32;
        let mut what = match unmet.task {
            Task::Send { peer, tag, .. } => format!(
                "no receive meets this send to rank {peer} with tag {}: rank {rank} has {sends} \
                 of them, and {} has {receives} receives",
                signed(tag),
                self.files[peer as usize],
            ),
            Task::Recv { peer, tag } => format!(
                "no send meets this receive from rank {peer} with tag {}: rank {rank} has \
                 {receives} of them, and {} has {sends} sends",
                signed(tag),
                self.files[peer as usize],
            ),
            Task::Join | Task::Calc(_) | Task::Call(_) => "it is no message".into(),
        };
        if unmet.others > 0 {
            what += &format!("; messages to {} more ranks have no partner either", unmet.others);
        }
        let node = Some(self.workload.ranks[rank as usize].name(index));
        ChakraError { file: self.files[rank as usize].clone(), node, what }
    }
}

/// How long a computation takes; a nanosecond if nothing is said.
fn lasts(node: &Node) -> Result<Time, String> {
    if node.duration_us == 0 {
        return Ok(Time::from_ns(1));
    }
    let ps = node.duration_us.checked_mul(1_000_000);
    ps.map(Time::from_ps).ok_or_else(|| format!("{} us are too long", node.duration_us))
}
