//! The tasks of a workload.

use super::text::{Among, Collective, PassWork, Rows};
use crate::collective::flows::{FlowsPlan, Remainder};
use crate::tasks::{Builder, Call, Lane, MOST_CALLS, Set, Task, TooMuch, Work, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_core::{Bytes, Time};

/// Where the sizes of groups come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Groups {
    /// From the number of ranks; there is one pipeline stage, whatever the header says.
    #[default]
    Topology,
    /// From the header: its pipeline stages divide the ranks.
    Header,
}

/// How a workload is carried out.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many ranks there are.
    pub ranks: u32,
    /// Where the sizes of groups come from.
    pub groups: Groups,
    /// Ranks with consecutive numbers that are in one server.
    pub gpus_per_server: u32,
    /// Time before each flow.
    pub send_latency: Time,
    /// What becomes of bytes that cannot be divided equally.
    pub remainder: Remainder,
    /// Flows between servers change the rail over NVLink first.
    pub pxn: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ranks: 1,
            groups: Groups::Topology,
            gpus_per_server: 8,
            send_latency: Time::from_us(6),
            remainder: Remainder::Drop,
            pxn: false,
        }
    }
}

/// Why a workload cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The groups do not fit the ranks.
    #[error("{0}")]
    Groups(String),
    /// A row cannot be carried out.
    #[error("row {row} (`{name}`): {what}")]
    Row {
        /// Which, from 0.
        row: usize,
        /// Its name.
        name: String,
        /// Why.
        what: String,
    },
    /// Too many tasks.
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
}

/// A small array of the forward pass counts as so much.
const LEAST_FORWARD: u64 = 4096;
/// A change of state of a rank takes so long.
const TURN: Time = Time::from_ns(1);
/// Bytes of memory that the tasks of a rank may take.
const MOST_MEMORY: u64 = 2 << 30;

/// The tasks of all ranks.
pub fn workload(rows: &Rows, options: &Options) -> Result<Workload, JobError> {
    let sizes = Sizes::new(rows, options)?;
    let mut job = Job {
        rows,
        options,
        sizes,
        workload: Workload { notes: rows.notes.clone(), ..Workload::default() },
        sets: BTreeMap::new(),
        tasks: Builder::new(MOST_MEMORY),
        before: None,
        none: 0,
        disabled: 0,
    };
    job.pass()?;
    job.tell();
    let Job { mut workload, tasks, .. } = job;
    let program = Arc::new(tasks.build());
    workload.ranks = vec![program; options.ranks as usize];
    Ok(workload)
}

/// How large groups are.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    tp: u32,
    ep: u32,
    dp: u32,
    /// Ranks of a pipeline stage.
    stage: u32,
}

impl Sizes {
    fn new(rows: &Rows, options: &Options) -> Result<Self, JobError> {
        let ranks = options.ranks;
        let wrong = |what: String| Err(JobError::Groups(what));
        let stages = match options.groups {
            Groups::Topology => 1,
            Groups::Header => rows.pp,
        };
        if options.groups == Groups::Header
            && let Some(all) = rows.all_gpus.filter(|all| *all != u64::from(ranks))
        {
            return wrong(format!("the header says {all} GPUs, and the job has {ranks} ranks"));
        }
        let per_stage =
            u64::from(ranks).checked_div(stages).filter(|s| s * stages == u64::from(ranks));
        let Some(stage) = per_stage.filter(|stage| *stage > 0) else {
            return wrong(format!("{ranks} ranks cannot be divided into {stages} stages"));
        };
        if !stage.is_multiple_of(rows.tp) {
            let tp = rows.tp;
            return wrong(format!("{stage} ranks cannot be divided into tensor groups of {tp}"));
        }
        let dp = stage / rows.tp;
        if !dp.is_multiple_of(rows.ep) {
            let ep = rows.ep;
            return wrong(format!("{dp} data parallel ranks cannot be divided by ep {ep}"));
        }
        Ok(Self { tp: rows.tp as u32, ep: rows.ep as u32, dp: dp as u32, stage: stage as u32 })
    }

    /// The groups of a kind: which ranks are in the same one.
    fn groups(self, among: Among, ranks: u32) -> Vec<Vec<u32>> {
        let key = |rank: u32| {
            let (stage, within) = (rank / self.stage, rank % self.stage);
            let (tensor, index) = (within / self.tp, within % self.tp);
            match among {
                Among::Tensor => (stage, tensor, 0),
                Among::Data => (stage, index, 0),
                Among::Expert => (stage, index, tensor / self.ep),
                Among::SameExperts => (stage, index, tensor % self.ep),
            }
        };
        let mut groups: BTreeMap<(u32, u32, u32), Vec<u32>> = BTreeMap::new();
        for rank in 0..ranks {
            groups.entry(key(rank)).or_default().push(rank);
        }
        groups.into_values().collect()
    }
}

/// Whether a rank goes on with the next row while a collective is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overlap {
    None,
    WithRows,
}

struct Job<'a> {
    rows: &'a Rows,
    options: &'a Options,
    sizes: Sizes,
    workload: Workload,
    sets: BTreeMap<Among, u32>,
    tasks: Builder,
    /// The task that the next one waits for.
    before: Option<u32>,
    /// Collectives that send nothing, because their arrays are too small.
    none: u64,
    /// Collectives that SimAI leaves out without tensor parallelism.
    disabled: u64,
}

impl Job<'_> {
    fn pass(&mut self) -> Result<(), JobError> {
        let count = self.rows.rows.len();
        for row in 0..count {
            self.forward(row)?;
        }
        for row in (0..count).rev() {
            if self.rows.replays.contains(&(row as u64)) {
                let earlier = self.rows.checkpoints.iter().filter(|c| **c <= row as u64).max();
                for again in earlier.map_or(0, |c| *c as usize)..row {
                    self.forward(again)?;
                }
            }
            let input = self.rows.rows[row].input;
            self.wait_for(row, input)?;
            let weight = self.rows.rows[row].weight;
            self.compute(weight.compute_ns)?;
            self.collective(row, weight.collective, Overlap::WithRows)?;
        }
        Ok(())
    }

    fn forward(&mut self, row: usize) -> Result<(), JobError> {
        let mut part = self.rows.rows[row].forward;
        if let Some(c) = &mut part.collective
            && self.rows.forward_in_backward
            && c.bytes > 0
        {
            c.bytes = c.bytes.max(LEAST_FORWARD);
        }
        self.wait_for(row, part)
    }

    /// A computation and a collective that the rank waits for.
    fn wait_for(&mut self, row: usize, part: PassWork) -> Result<(), JobError> {
        self.compute(part.compute_ns)?;
        if self.sizes.tp == 1 && part.collective.is_some() {
            self.disabled += 1;
            return Ok(());
        }
        self.collective(row, part.collective, Overlap::None)
    }

    fn then(&mut self, task: Task, lane: Lane) -> Result<u32, TooMuch> {
        let at = self.tasks.task(task, lane)?;
        if let Some(before) = self.before {
            self.tasks.after(at, before)?;
        }
        Ok(at)
    }

    fn compute(&mut self, ns: u64) -> Result<(), JobError> {
        let time = Time::from_ps(ns.saturating_mul(1000)).saturating_add(TURN);
        self.before = Some(self.then(Task::Calc(time), Lane::Free)?);
        Ok(())
    }

    fn collective(
        &mut self,
        row: usize,
        collective: Option<Collective>,
        overlap: Overlap,
    ) -> Result<(), JobError> {
        let Some(collective) = collective else { return Ok(()) };
        let wrong =
            |what: String| JobError::Row { row, name: self.rows.rows[row].name.clone(), what };
        let set = self.set(collective.among);
        let plan = FlowsPlan {
            operation: collective.operation,
            bytes: Bytes::new(collective.bytes),
            gpus_per_server: self.options.gpus_per_server,
            send_latency: self.options.send_latency,
            remainder: self.options.remainder,
            pxn: self.options.pxn,
        };
        let work = Work::Flows(plan);
        for group in &self.workload.sets[set as usize].groups {
            work.check(group).map_err(|e| wrong(e.to_string()))?;
        }
        if self.sends_nothing(&collective, set) {
            self.none += 1;
        }
        let call = self.workload.calls.len();
        if call >= MOST_CALLS {
            return Err(wrong(format!("more than {MOST_CALLS} collectives")));
        }
        self.workload.calls.push(Call { set, work });
        let lane = if overlap == Overlap::WithRows { Lane::Newest } else { Lane::Network };
        let at = self.then(Task::Call(call as u32), lane)?;
        let update = Time::from_ps(self.rows.rows[row].update_ns.saturating_mul(1000));
        let after = self.tasks.task(Task::Calc(update.saturating_add(TURN)), Lane::Free)?;
        self.tasks.after(after, at)?;
        if overlap == Overlap::None {
            self.before = Some(after);
        }
        Ok(())
    }

    /// Whether an array is so small that no flow has a byte of it.
    fn sends_nothing(&self, collective: &Collective, set: u32) -> bool {
        let group = &self.workload.sets[set as usize].groups[0];
        let gpus = self.options.gpus_per_server.max(1);
        let local = group.iter().filter(|r| **r / gpus == group[0] / gpus).count() as u64;
        let channels = match collective.operation {
            crate::collective::Operation::AllToAll => 1,
            _ => local,
        };
        let parts = group.len() as u64 * channels;
        let spread = self.options.remainder == Remainder::Spread && collective.bytes > 0;
        group.len() > 1 && collective.bytes < parts && !spread
    }

    fn set(&mut self, among: Among) -> u32 {
        if let Some(known) = self.sets.get(&among) {
            return *known;
        }
        let ranks = self.options.ranks;
        let number = self.workload.sets.len() as u32;
        self.workload.sets.push(Set::of(self.sizes.groups(among, ranks), ranks));
        self.sets.insert(among, number);
        number
    }

    /// Says what is done in another way than the file says.
    fn tell(&mut self) {
        let notes = &mut self.workload.notes;
        let mut note = |holds: bool, text: String| {
            if holds {
                notes.push(text);
            }
        };
        let none = self.none;
        note(
            none > 0,
            format!("{none} collectives are too small to send anything and end at once"),
        );
        let disabled = self.disabled;
        note(
            disabled > 0,
            format!(
                "{disabled} collectives of forward passes and input gradients are left out: SimAI \
                 does so without tensor parallelism"
            ),
        );
        let pp = self.rows.pp;
        let one = self.options.groups == Groups::Topology && pp > 1;
        note(one, format!("pp {pp} has no effect: SimAI takes all ranks for one stage"));
        note(
            self.options.groups == Groups::Header && pp > 1,
            format!("the {pp} stages run side by side: no messages pass between them"),
        );
        let (tp, ep, dp, all) = (self.sizes.tp, self.sizes.ep, self.sizes.dp, self.options.ranks);
        let differs = self.rows.all_gpus.filter(|n| *n != u64::from(all));
        note(
            differs.is_some(),
            format!(
                "the header says {} GPUs, the job has {all} ranks: tp {tp}, ep {ep}, dp {dp}",
                differs.unwrap_or(0)
            ),
        );
    }
}
