//! Benchmarks: how many packet-hops a processor second buys.
//!
//! A packet-hop is one packet (data, ACK or control frame) crossing one link. Figures taken on a
//! busy machine are void: other work costs caches and clock, so processor time does not make up
//! for it.

use crate::run::{Meter, run};
use serde::Serialize;
use weir_scenario::builtin::{BENCHMARKS, BuiltIn};
use weir_scenario::experiment::{Experiment, Variant};
use weir_sim::SimError;
use weir_sim::config::EngineConfig;

/// One benchmark's figures: those of its fastest run.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// The scenario.
    pub name: &'static str,
    /// The flow control scheme.
    pub scheme: &'static str,
    /// Threads used.
    pub threads: usize,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Events handled per packet-hop.
    pub events_per_packet_hop: f64,
    /// Processor time of all threads.
    pub cpu_seconds: f64,
    /// Time on the wall.
    pub wall_seconds: f64,
    /// Packet-hops per processor second.
    pub packet_hops_per_cpu_second: f64,
    /// Packet-hops per second on the wall.
    pub packet_hops_per_second: f64,
    /// Most memory the process has used so far, in bytes.
    pub peak_memory: Option<u64>,
    /// The machine was busy: on one thread the wall exceeded the processor time by more than 5 %.
    pub void: bool,
    /// Hash of all per-flow results, to see that two versions computed the same.
    pub digest: String,
}

/// The benchmarks called `names`, or all of them; the first unknown name otherwise.
pub fn select(names: &[String]) -> Result<Vec<&'static BuiltIn>, String> {
    if names.is_empty() {
        return Ok(BENCHMARKS.iter().collect());
    }
    let find = |name: &String| {
        BENCHMARKS.iter().find(|b| b.name == name).ok_or_else(|| {
            let all: Vec<&str> = BENCHMARKS.iter().map(|b| b.name).collect();
            format!("there is no benchmark `{name}`: {}", all.join(", "))
        })
    };
    names.iter().map(find).collect()
}

/// Runs one benchmark `repeat` times and keeps the fastest.
pub fn measure(
    name: &'static str,
    e: &Experiment,
    variant: Variant,
    repeat: u32,
) -> Result<Measurement, SimError> {
    let threads = match e.engine {
        EngineConfig::Auto { .. } | EngineConfig::Window { .. } => {
            weir_sim::run::threads(&e.topology, &e.traffic, &e.config(variant))
        }
        EngineConfig::Sequential | EngineConfig::Stepwise => 1,
    };
    let mut best: Option<Measurement> = None;
    for _ in 0..repeat {
        let done = run(e, variant, &Meter::new(1), 0)?;
        let cpu = done.perf.cpu_seconds;
        let hops = done.perf.packet_hops;
        let wall = done.perf.wall_seconds;
        let m = Measurement {
            name,
            scheme: variant.scheme.name,
            threads,
            packet_hops: hops,
            events_per_packet_hop: done.perf.events as f64 / hops.max(1) as f64,
            cpu_seconds: cpu,
            wall_seconds: wall,
            packet_hops_per_cpu_second: hops as f64 / cpu.max(1e-9),
            packet_hops_per_second: hops as f64 / wall.max(1e-9),
            peak_memory: peak_memory(),
            void: wall * threads as f64 > cpu * if threads == 1 { 1.05 } else { 1.25 },
            digest: format!("{:016x}", done.outcome.digest),
        };
        if best.as_ref().is_none_or(|b| m.wall_seconds < b.wall_seconds) {
            best = Some(m);
        }
    }
    Ok(best.expect("repeat is at least one"))
}

/// The most memory the process has had resident; Linux only.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_benchmark_is_refused_with_those_there_are() {
        assert!(select(&["bench-fat-tre".into()]).unwrap_err().contains("bench-fat-tree"));
        assert_eq!(select(&[]).unwrap().len(), BENCHMARKS.len());
    }

    #[test]
    fn a_measurement_adds_up() {
        let sets = ["traffic.0.size=100KB".to_owned()];
        let e = Experiment::load("bench-incast", &sets).unwrap();
        let variant = e.variant(Some("pfc"), None, 1).unwrap();
        let m = measure("bench-incast", &e, variant, 2).unwrap();
        // 64 flows of 100 packets over two links, and their ACKs; control frames come on top
        assert!(m.packet_hops >= 4 * 6400, "{m:?}");
        assert!(m.packet_hops_per_cpu_second > 0.0 && m.peak_memory.is_none_or(|b| b > 0));
    }
}
