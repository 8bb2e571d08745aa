//! What it costs that ranks wait for each other: a ring all-reduce as a job, and its packets as
//! plain flows.
//!
//! `cargo run --release -p weir-sim --example ring -- RANKS SIZE ITERATIONS FORM` where SIZE is
//! the buffer of a rank in bytes and FORM is
//!
//! - `job`: the ranks send when they have received;
//! - `messages`: each message of the job is a flow that starts when the job sends it;
//! - `flows`: all messages of a rank are one flow, which never waits.
//!
//! 32 hosts on each leaf, one spine, 400 Gb/s everywhere, packets of 4096 B, no flow control. The
//! function `measured` does what is to be compared and nothing else:
//! `valgrind --tool=callgrind --toggle-collect='*measured*'` counts its instructions. The
//! difference of one and two iterations is without set-up.

use std::sync::Arc;
use std::time::Instant;
use weir_coll::collective::{Operation, Plan};
use weir_core::{Bytes, FlowId, NodeId, Priority, Rate, Time};
use weir_fc::Role;
use weir_net::Topology;
use weir_net::build::leaf_spine;
use weir_sim::config::{Config, NicConfig};
use weir_sim::outcome::{Cell, Column, Outcome};
use weir_sim::probe::{Hears, Probe, ProbeInfo};
use weir_traffic::pattern::List;
use weir_traffic::{Fabric, FlowSpec, Job, Traffic, Work};

/// As the `weir` command does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PAYLOAD: u64 = 4096;
const DATA: Priority = Priority::ALL[3];

/// Keeps when the ranks of each host send.
const POSTED: ProbeInfo = ProbeInfo {
    name: "posted",
    summary: "when ranks send",
    columns: &[
        Column::node("host", "the host of the rank"),
        Column::time("at_ps", "when it sends a message"),
    ],
    hears: Hears::FLOWS,
    build: |setup| match setup.role {
        Role::Nic => Some(Box::new(Posted { node: setup.node, times: Vec::new() })),
        Role::Switch => None,
    },
    finish: |_, _| {},
};

struct Posted {
    node: NodeId,
    times: Vec<Time>,
}

impl Probe for Posted {
    fn posted(&mut self, now: Time, _: FlowId, _: u32) {
        self.times.push(now);
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        let (node, table) = (self.node, outcome.measurement(POSTED.name));
        self.times.iter().for_each(|at| table.push(&[node.into(), (*at).into()]));
    }
}

/// A ring of ranks, one on each host.
struct Ring {
    topology: Topology,
    ranks: u32,
    size: u64,
    iterations: u32,
}

impl Ring {
    fn traffic(&self) -> Traffic {
        let fabric = Fabric::uniform(self.topology.hosts(), Rate::from_gbps(400)).expect("hosts");
        let mut traffic = Traffic::new(fabric);
        traffic.class("ring").expect("a new class");
        traffic
    }

    fn job(&self) -> Traffic {
        let mut traffic = self.traffic();
        let plan = Plan::new(Operation::AllReduce, self.ranks, Bytes::new(self.size));
        let plan = Plan { iterations: self.iterations, ..plan };
        let work = Work::Collective(Arc::new(plan));
        let job = Job { priority: DATA, ..Job::new("ring", self.topology.hosts().to_vec(), work) };
        traffic.add_job(job).expect("a valid job");
        traffic
    }

    /// What a rank sends in a step; the size of a buffer is a multiple of the number of ranks.
    fn block(&self) -> u64 {
        self.size / u64::from(self.ranks)
    }

    fn flow(&self, src: NodeId, bytes: u64) -> FlowSpec {
        let dst = NodeId((src.0 + 1) % self.ranks);
        FlowSpec { priority: DATA, ..FlowSpec::new(src, dst, Bytes::new(bytes)) }
    }

    fn list(&self, flows: Vec<FlowSpec>) -> Traffic {
        let mut traffic = self.traffic();
        traffic.add(List { flows }).expect("valid flows");
        traffic
    }

    /// A flow for each message, at the time at which the job sends it.
    fn messages(&self) -> Traffic {
        let mut config = config();
        config.probes.own = vec![POSTED];
        let out = weir_sim::run(&self.topology, &self.job(), &config, &mut ()).expect("it runs");
        let table = out.measurements.iter().find(|t| t.name == POSTED.name).expect("a table");
        let flow = |row: &[Cell]| match row {
            [Cell::Node(host), Cell::Whole(start)] => {
                FlowSpec { start: Time::from_ps(*start), ..self.flow(*host, self.block()) }
            }
            other => unreachable!("{other:?}"),
        };
        let mut flows: Vec<FlowSpec> = table.rows().map(flow).collect();
        flows.sort_by_key(|f| f.start);
        println!("{} messages", flows.len());
        self.list(flows)
    }

    /// One flow for each rank, with all that it sends.
    fn flows(&self) -> Traffic {
        let steps = 2 * u64::from(self.ranks - 1) * u64::from(self.iterations);
        let bytes = self.block() * steps;
        self.list(self.topology.hosts().iter().map(|host| self.flow(*host, bytes)).collect())
    }
}

fn config() -> Config {
    let nic = NicConfig { payload: Bytes::new(PAYLOAD), ..NicConfig::default() };
    Config { nic, ..Config::new(weir_fc::scheme("none").expect("a scheme")) }
}

/// What is to be compared.
#[inline(never)]
fn measured(topology: &Topology, traffic: &Traffic, config: &Config) -> Outcome {
    weir_sim::run(topology, traffic, config, &mut ()).expect("it runs")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "RANKS SIZE ITERATIONS job|messages|flows";
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [ranks, size, iterations, form] = args.as_slice() else { return Err(usage.into()) };
    let (ranks, rate): (u32, Rate) = (ranks.parse()?, Rate::from_gbps(400));
    let topology = leaf_spine::build(&leaf_spine::Params {
        spines: 1,
        leaves: ranks.div_ceil(32),
        hosts_per_leaf: ranks.min(32),
        rate,
        spine_rate: rate,
        ..Default::default()
    })?;
    let ring = Ring { topology, ranks, size: size.parse()?, iterations: iterations.parse()? };
    if ring.topology.hosts().len() != ranks as usize || !ring.size.is_multiple_of(u64::from(ranks))
    {
        return Err("RANKS is at most 32 or a multiple of it, and SIZE a multiple of RANKS".into());
    }
    let traffic = match form.as_str() {
        "job" => ring.job(),
        "messages" => ring.messages(),
        "flows" => ring.flows(),
        _ => return Err(usage.into()),
    };
    let started = Instant::now();
    let out = measured(&ring.topology, &traffic, &config());
    println!(
        "{:?} at {}: {} packets, {} packet-hops, {} events in {:.2} s",
        out.finish,
        out.end,
        out.totals.data_sent,
        out.totals.packet_hops,
        out.totals.events,
        started.elapsed().as_secs_f64(),
    );
    Ok(())
}
