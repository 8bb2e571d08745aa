//! How much memory a job takes: every allocation is counted, so the figures are the same on every
//! machine. One test: the counts are those of the whole process.

#![expect(unsafe_code, reason = "an allocator that counts is an allocator")]

mod common;

use common::{DATA, config, flow, plan, star};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use weir_coll::collective::{Operation, Plan};
use weir_core::{Bytes, NodeId, Time};
use weir_net::Topology;
use weir_net::build::leaf_spine;
use weir_sim::Config;
use weir_sim::config::Stop;
use weir_traffic::{FlowSpec, Job, Work};

/// Bytes that are in use, and the most that ever were.
struct Counting {
    used: AtomicUsize,
    peak: AtomicUsize,
}

#[global_allocator]
static MEMORY: Counting = Counting { used: AtomicUsize::new(0), peak: AtomicUsize::new(0) };

impl Counting {
    fn add(&self, bytes: usize) {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(used, Relaxed);
    }

    /// The most that is in use during `what`, beyond what was before.
    fn peak_of(&self, what: impl FnOnce()) -> usize {
        let before = self.used.load(Relaxed);
        self.peak.store(before, Relaxed);
        what();
        self.peak.load(Relaxed) - before
    }
}

// SAFETY: the system's allocator does the work, and its answers are passed on as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.used.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.dealloc(at, layout) }
    }
}

const MIB: usize = 1 << 20;

/// What there is to send.
enum Load {
    Nothing,
    /// A ring of so many ranks, as many on each host.
    Ring(u32),
    /// A message of so many bytes from each host to the next one.
    Flows(u64),
}

/// The most memory of 60 us of a run.
fn peak(topology: &Topology, load: &Load) -> usize {
    let config = Config { stop: Stop::At(Time::from_us(60)), ..config("none") };
    let hosts = topology.hosts();
    let next = |h: usize| hosts[(h + 1) % hosts.len()].0;
    MEMORY.peak_of(|| {
        let flows: Vec<FlowSpec> = match load {
            Load::Flows(bytes) => {
                (0..hosts.len()).map(|h| flow(hosts[h].0, next(h), *bytes)).collect()
            }
            _ => Vec::new(),
        };
        let mut traffic = plan(topology, &flows);
        if let Load::Ring(ranks) = load {
            let per_host = *ranks as usize / hosts.len();
            let on = |host: &NodeId| std::iter::repeat_n(*host, per_host);
            let bytes = Bytes::new(u64::from(*ranks) * BLOCK);
            let work = Work::Collective(Arc::new(Plan::new(Operation::AllReduce, *ranks, bytes)));
            let job = Job::new("ring", hosts.iter().flat_map(on).collect(), work);
            traffic.add_job(Job { priority: DATA, ..job }).expect("a valid job");
        }
        let out = weir_sim::run(topology, &traffic, &config, &mut ()).expect("a valid run");
        assert_eq!(matches!(load, Load::Nothing), out.totals.data_sent == 0);
    })
}

/// What a rank of a ring sends in a step.
const BLOCK: u64 = 16_384;

/// Steps are computed when they begin and never stored: 1 GiB in 131 070 steps.
#[test]
fn a_rank_takes_little_memory() {
    let topology = star(1024, "1us");
    let [without, with] = [Load::Nothing, Load::Ring(65_536)].map(|load| peak(&topology, &load));
    let added = with - without;
    println!("65 536 ranks on 1024 hosts: {added} B, {} B for each", added / 65_536);
    assert!(added < 45 * MIB, "{added} B");
    // alone on its host, a rank has a queue pair, and is compared with a flow of one message; with
    // 1000 B for each a ring over 65 536 hosts adds less than 64 MiB
    let large =
        leaf_spine::Params { spines: 1, leaves: 64, hosts_per_leaf: 64, ..Default::default() };
    let topology = leaf_spine::build(&large).expect("a network");
    let [flows, ring] = [Load::Flows(BLOCK), Load::Ring(4096)].map(|load| peak(&topology, &load));
    let added = (ring as i64 - flows as i64) / 4096;
    println!("a rank on each of 4096 hosts: {added} B for each, beside a flow");
    assert!(added < 1000, "{added} B");
}
