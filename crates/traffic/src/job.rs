//! Jobs: ranks that wait for each other, placed on hosts.
//!
//! The messages of a job are not known before a run: a rank sends when it has received. So a job
//! is no [`Pattern`](crate::Pattern); each host runs the [programs](Program) of its ranks.

use crate::error::TrafficError;
use crate::fabric::Fabric;
use std::fmt::Write;
use std::sync::Arc;
use weir_coll::collective::{Collective, Plan};
use weir_coll::goal::{Kind, Op, Schedule};
use weir_coll::graph::{Graph, SendDone};
use weir_coll::program::Program;
use weir_coll::tasks::{Task, TaskRank, Workload};
use weir_coll::training::{Class, Trainee, Training};
use weir_core::rng::{Stream, mix};
use weir_core::{Bytes, ClassId, NodeId, Priority, Rate, Time};

/// What the ranks of a job do.
#[derive(Clone, Debug)]
pub enum Work {
    /// A collective operation.
    Collective(Arc<Plan>),
    /// A GOAL schedule.
    Schedule(Arc<Schedule>, SendDone),
    /// Steps of training.
    Training(Arc<Training>),
    /// Tasks with collectives among them: a Chakra trace, a SimAI workload, an htsim matrix.
    Tasks(Arc<Workload>, SendDone),
}

/// What connects the ranks of one host: each sends one message after the other at `rate`, and they
/// arrive `latency` after they have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nvlink {
    /// Bandwidth of a rank.
    pub rate: Rate,
    /// Latency of a message.
    pub latency: Time,
}

impl Default for Nvlink {
    fn default() -> Self {
        Self { rate: Rate::from_gbps(3600), latency: Time::from_us(1) }
    }
}

/// Ranks that wait for each other.
#[derive(Clone, Debug)]
pub struct Job {
    /// For reports.
    pub name: String,
    /// Label of its queue pairs.
    pub class: ClassId,
    /// Priority of its packets.
    pub priority: Priority,
    /// The host of each rank.
    pub hosts: Vec<NodeId>,
    /// What they do.
    pub work: Work,
    /// When they begin.
    pub start: Time,
    /// A rank begins up to so much later, drawn for each.
    pub jitter: Time,
    /// Every rank computes for so long before each iteration, but not before a schedule.
    pub compute: Time,
    /// These ranks compute for so much longer; those of a schedule begin so much later.
    pub stragglers: Vec<(u32, Time)>,
    /// A rank knows of a message so long after its last packet arrived.
    pub completion_delay: Time,
    /// Queue pairs per peer and channel, used in turn by messages.
    pub queue_pairs: u32,
    /// What connects ranks of one host.
    pub nvlink: Nvlink,
}

impl Job {
    /// A job of ranks on these hosts that all begin at time zero: one queue pair per peer, and a
    /// microsecond until a rank knows of a message.
    pub fn new(name: impl Into<String>, hosts: Vec<NodeId>, work: Work) -> Self {
        Self {
            name: name.into(),
            class: ClassId::default(),
            priority: Priority::default(),
            hosts,
            work,
            start: Time::ZERO,
            jitter: Time::ZERO,
            compute: Time::ZERO,
            stragglers: Vec::new(),
            completion_delay: Time::from_us(1),
            queue_pairs: 1,
            nvlink: Nvlink::default(),
        }
    }

    /// How many ranks its work has.
    pub fn ranks(&self) -> u32 {
        match &self.work {
            Work::Collective(plan) => plan.ranks,
            Work::Schedule(schedule, _) => u32::try_from(schedule.ranks.len()).unwrap_or(u32::MAX),
            Work::Training(training) => u32::try_from(training.ranks()).unwrap_or(u32::MAX),
            Work::Tasks(workload, _) => u32::try_from(workload.ranks.len()).unwrap_or(u32::MAX),
        }
    }

    /// How often it is done.
    pub fn iterations(&self) -> u32 {
        match &self.work {
            Work::Collective(plan) => plan.iterations,
            Work::Schedule(..) | Work::Tasks(..) => 1,
            Work::Training(training) => training.steps,
        }
    }

    /// Says what is wrong with it on this fabric, if something is.
    pub(crate) fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        let wrong = |what: String| TrafficError::Job { name: self.name.clone(), what };
        match &self.work {
            Work::Collective(plan) => plan.check().map_err(|error| wrong(error.to_string()))?,
            Work::Training(training) => training.check().map_err(|e| wrong(e.to_string()))?,
            Work::Schedule(..) | Work::Tasks(..) => {}
        }
        let (placed, ranks) = (self.hosts.len(), self.ranks());
        if placed != ranks as usize {
            return Err(wrong(format!("{placed} ranks are placed, and there are {ranks}")));
        }
        if self.queue_pairs == 0 || self.queue_pairs > MAX_QUEUE_PAIRS {
            let asked = self.queue_pairs;
            return Err(wrong(format!("{asked} queue pairs per peer: 1 to {MAX_QUEUE_PAIRS}")));
        }
        if let Some(host) = self.hosts.iter().find(|h| fabric.hosts().position(**h).is_none()) {
            return Err(wrong(format!("{host} is no host")));
        }
        if let Some((rank, _)) = self.stragglers.iter().find(|(rank, _)| *rank >= ranks) {
            return Err(wrong(format!("rank {rank} is a straggler, and there are {ranks} ranks")));
        }
        if let Work::Schedule(schedule, _) = &self.work {
            let mut ops = schedule.ranks.iter().flat_map(|r| &r.ops);
            let lost = |o: &&Op| o.kind == Kind::Send && o.peer >= u64::from(ranks);
            if let Some(op) = ops.find(lost) {
                return Err(wrong(format!("`{}`, and there are {ranks} ranks", op.words())));
            }
        }
        let largest = self.largest_message();
        if largest > MAX_MESSAGE {
            return Err(wrong(format!("a message of {largest} is more than {MAX_MESSAGE}")));
        }
        Ok(())
    }

    /// No message is larger.
    fn largest_message(&self) -> Bytes {
        match &self.work {
            Work::Collective(plan) => plan.bytes,
            Work::Schedule(schedule, _) => {
                let ops = schedule.ranks.iter().flat_map(|r| &r.ops);
                let sends = ops.filter(|o| o.kind == Kind::Send);
                Bytes::new(sends.map(|o| o.size).max().unwrap_or(0))
            }
            Work::Training(training) => {
                let data = [Class::Data, Class::ExpertData].map(|c| training.gradients(c));
                let all = [training.tokens(), training.parameters(Class::Data), data[0], data[1]];
                all.into_iter().max().unwrap_or_default()
            }
            Work::Tasks(workload, _) => workload.largest_message(),
        }
    }

    /// By how much a rank is slower than others.
    fn delay_of(&self, rank: u32) -> Time {
        self.stragglers.iter().filter(|(r, _)| *r == rank).map(|(_, delay)| *delay).sum()
    }

    /// The program of a rank.
    pub fn program(&self, rank: u32) -> Box<dyn Program> {
        match &self.work {
            Work::Collective(plan) => {
                let compute = self.compute.saturating_add(self.delay_of(rank));
                Box::new(Collective::new(plan.clone(), rank, compute))
            }
            Work::Schedule(schedule, done) => Box::new(Graph::new(schedule.clone(), rank, *done)),
            Work::Training(training) => {
                let late = self.compute.saturating_add(self.delay_of(rank));
                Box::new(Trainee::new(training.clone(), rank, late))
            }
            Work::Tasks(workload, done) => Box::new(TaskRank::new(workload.clone(), rank, *done)),
        }
    }

    /// When a rank begins; `index` is the place of the job in the plan.
    pub fn start_of(&self, rank: u32, index: usize, seed: u64) -> Time {
        let mut draw = Stream::new(seed, "job-start", (index as u64) << 32 | u64::from(rank));
        let late = match self.jitter.as_ps() {
            0 => 0,
            jitter => draw.below(jitter.saturating_add(1)),
        };
        let late = match &self.work {
            Work::Collective(_) | Work::Training(_) => Time::from_ps(late),
            Work::Schedule(..) | Work::Tasks(..) => {
                Time::from_ps(late).saturating_add(self.delay_of(rank))
            }
        };
        self.start.saturating_add(late)
    }

    /// 64 well-mixed bits over all that shapes the load, the same for every scheme.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fingerprint(0x7765_6972_6a6f_6273);
        let Self { hosts, start, jitter, compute, stragglers, .. } = self;
        let rest = (self.priority, self.completion_delay, self.queue_pairs, self.nvlink);
        write!(hash, "{hosts:?} {start:?} {jitter:?} {compute:?} {stragglers:?} {rest:?}")
            .expect("a hash takes everything");
        match &self.work {
            Work::Collective(plan) => write!(hash, "{plan:?}").expect("a hash takes everything"),
            Work::Training(t) => write!(hash, "{t:?}").expect("a hash takes everything"),
            Work::Schedule(schedule, done) => {
                hash.add(*done as u64);
                for rank in &schedule.ranks {
                    hash.add(rank.edges() as u64);
                    for (op, waits) in rank.ops.iter().zip(&rank.waits_for) {
                        let place = u64::from(op.cpu) << 16 | u64::from(op.nic);
                        for x in [op.kind as u64, op.size, op.peer, op.tag, place] {
                            hash.add(x);
                        }
                        hash.add(u64::from(*waits));
                    }
                }
            }
            Work::Tasks(workload, done) => {
                hash.add(*done as u64);
                hash.workload(workload);
            }
        }
        hash.0
    }
}

/// The most queue pairs per peer and channel: as many as NCCL allows.
pub const MAX_QUEUE_PAIRS: u32 = 128;
/// The largest buffer or message of a job: 1 TiB.
pub const MAX_MESSAGE: Bytes = Bytes::new(1 << 40);

/// A hash of what is written to it.
struct Fingerprint(u64);

impl Fingerprint {
    fn add(&mut self, x: u64) {
        self.0 = mix(self.0 ^ x).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
}

impl Fingerprint {
    /// Adds all that ranks do; what several of them share is added once.
    fn workload(&mut self, workload: &Workload) {
        self.add(workload.ranks.len() as u64);
        for program in workload.programs() {
            self.add(program.edges() as u64);
            for (step, needs) in program.steps.iter().zip(program.needs()) {
                let words = match step.task {
                    Task::Join => [0; 4],
                    Task::Calc(time) => [1, time.as_ps(), 0, 0],
                    Task::Send { peer, bytes, tag } => [2, u64::from(peer), bytes, tag],
                    Task::Recv { peer, tag } => [3, u64::from(peer), tag, 0],
                    Task::Call(call) => [4, u64::from(call), 0, 0],
                };
                words.into_iter().for_each(|word| self.add(word));
                self.add(u64::from(*needs) << 8 | step.lane as u64);
            }
        }
        let Workload { sets, calls, .. } = workload;
        write!(self, "{sets:?} {calls:?}").expect("a hash takes everything");
    }
}

impl Write for Fingerprint {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        for byte in s.bytes() {
            self.add(u64::from(byte));
        }
        Ok(())
    }
}
