//! Whether this machine can keep up with a run, before it is run.

use crate::clock::Dilation;
use crate::socket::real_time_ns;
use rustix::event::Timespec;
use rustix::thread::CpuSet;
use std::num::NonZeroU64;
use std::os::unix::net::UnixDatagram;
use weir_core::{Bytes, Time};
use weir_net::Topology;
use weir_sim::config::Config;

/// What was measured in a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// By how much 99 of 100 short sleeps were too long, in nanoseconds.
    pub wake_ns: u64,
    /// The same of 999 of 1000.
    pub latest_ns: u64,
    /// What it takes to send and receive a frame of 1 kB, in nanoseconds.
    pub frame_ns: u64,
    /// Processors.
    pub cores: usize,
}

const SLEEPS: usize = 200;
const FRAMES: u64 = 2000;
/// What a node does for a frame beside sending it, compared with sending it.
const WORK: u64 = 3;
/// Dilations that are tried, from the smallest on.
const STEPS: [u32; 14] =
    [1, 10, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000];

impl Machine {
    /// Measures with a thread per processor, as nodes are run: takes some hundredths of a second.
    pub fn measure(real_time: bool) -> Self {
        let work = move |at| {
            prepare(real_time, at);
            sleeps()
        };
        // on threads of their own: how they are scheduled ends with them
        let mut late: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..processors()).map(|at| scope.spawn(move || work(at))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        late.sort_unstable();
        let at = |permille: usize| late.get(late.len() * permille / 1000).copied().unwrap_or(0);
        let cores = processors();
        let frame_ns = per_frame().unwrap_or(10_000);
        Self { wake_ns: at(990), latest_ns: at(999), frame_ns, cores }
    }

    /// The smallest dilation with which a late wake-up is within `bound` and the threads have
    /// half of the processors' time at most when every link is busy in one direction. A first
    /// guess: a run has more to do than to wake up.
    pub fn least_dilation(&self, topology: &Topology, config: &Config, bound: Time) -> Dilation {
        let by_wake = (self.latest_ns * 1000).div_ceil(bound.as_ps().max(1));
        let frame = config.nic.max_frame() + config.link.overhead;
        // frames per second of scenario time
        let frames: f64 = topology
            .links()
            .iter()
            .map(|link| 1e12 / link.rate.time_for(frame).as_ps().max(1) as f64)
            .sum();
        let busy = frames * (self.frame_ns * WORK) as f64 * 1e-9;
        let by_work = (2.0 * busy / self.cores as f64).ceil() as u64;
        step(by_wake.max(by_work))
    }
}

/// A round dilation of at least so much, or the largest.
pub fn step(least: u64) -> Dilation {
    let step = STEPS.into_iter().find(|&step| u64::from(step) >= least);
    Dilation::new(step.unwrap_or(STEPS[STEPS.len() - 1])).expect("steps are above zero")
}

/// By how much each of some short sleeps was too long, in nanoseconds.
fn sleeps() -> Vec<u64> {
    let sleep = |_| {
        let ask = Timespec { tv_sec: 0, tv_nsec: 50_000 };
        let before = real_time_ns();
        let _ = rustix::event::poll(&mut [], Some(&ask));
        real_time_ns().saturating_sub(before + 50_000)
    };
    (0..SLEEPS).map(sleep).collect()
}

/// Processors of this machine.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// One frame time of the fastest link: what a frame may be late.
pub fn frame_time(topology: &Topology, config: &Config) -> Time {
    let frame: Bytes = config.nic.max_frame() + config.link.overhead;
    let times = topology.links().iter().map(|link| link.rate.time_for(frame));
    times.min().unwrap_or(Time::from_us(1))
}

/// The machine in words: kernel, processors, and what else it has to do.
pub fn describe(real_time: bool) -> Vec<String> {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let kernel = read("/proc/sys/kernel/osrelease");
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown model", |(_, name)| name.trim());
    let virtual_machine =
        match info.lines().any(|l| l.starts_with("flags") && l.contains(" hypervisor")) {
            true => ", a virtual machine",
            false => "",
        };
    let cores = processors();
    let load = read("/proc/loadavg");
    let load = load.split_whitespace().next().unwrap_or("unknown");
    let measured = Machine::measure(real_time);
    let how = if real_time { "SCHED_FIFO" } else { "the usual scheduler" };
    vec![
        format!("Linux {}, {cores} processors ({model}{virtual_machine})", kernel.trim()),
        format!(
            "load when it began: {load}; 99 of 100 short sleeps were at most {} us too long; \
             nodes ran under {how}",
            measured.wake_ns.div_ceil(1000)
        ),
    ]
}

/// Prepares the calling thread, which is the `at`-th, for nodes: short sleeps, and before all other
/// programs on a processor of its own if that is asked for; whether it was allowed.
pub(crate) fn prepare(real_time: bool, at: usize) -> bool {
    // 50 us by default; without it, sleeps are a little longer
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    if !real_time || crate::sys::real_time().is_err() {
        return false;
    }
    // two of them on one processor would wait for each other; if it is refused, the kernel decides
    let _ = processor_of(at).map(|one| rustix::thread::sched_setaffinity(None, &one));
    true
}

/// The `at`-th of the processors that this program may use.
fn processor_of(at: usize) -> Option<CpuSet> {
    let all = rustix::thread::sched_getaffinity(None).ok()?;
    let mut allowed = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu));
    let mut one = CpuSet::new();
    one.set(allowed.nth(at)?);
    Some(one)
}

fn per_frame() -> Option<u64> {
    let (a, b) = UnixDatagram::pair().ok()?;
    let frame = [0; 1024];
    let mut buffer = [0; 1024];
    let before = real_time_ns();
    for _ in 0..FRAMES {
        a.send(&frame).ok()?;
        b.recv(&mut buffer).ok()?;
    }
    Some((real_time_ns().saturating_sub(before) / FRAMES).max(1))
}
