//! Runs of the ns-3 compatible engine: the original's files, and results in our formats beside
//! them.
//!
//! ```text
//!   config.txt ──► Inputs ──► run ──► fct.txt pfc.txt qlen.txt mix.tr      (the original's)
//!                     │         └───► summary.json flows.csv perf.json     (ours)
//!                     └──► import ──► scenario.toml                        (the native model)
//! ```

mod export;
pub mod import;
pub mod native;
mod places;
mod results;
mod text;

pub use export::{NotAFlow, flow_file};
pub use places::Places;
pub use results::{flows_csv, perf_json, summary};
pub use text::text;
pub use weir_ns3::flows::Flow;
pub use weir_ns3::output::Files;
pub use weir_ns3::{Diagnostics, Inputs, StopReason, read};

use crate::run::{Meter, Perf, thread_seconds};
use std::io;
use std::ops::ControlFlow;
use std::time::Instant;
use weir_core::rng::mix;
use weir_ns3::record::{FctRecord, PfcRecord, Progress, QueueDistribution, Recorder, TraceRecord};
use weir_ns3::{Counters, RunEnd};

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ns3Run {
    /// Flows that finished, in order of completion.
    pub fct: Vec<FctRecord>,
    /// Pause frames that reached a port.
    pub pauses: u64,
    /// Totals.
    pub counters: Counters,
    /// Why it ended.
    pub reason: StopReason,
    /// A hash over all completions and pause frames.
    pub digest: u64,
    /// What it cost.
    pub perf: Perf,
}

impl Ns3Run {
    /// Whether the user stopped it.
    pub fn interrupted(&self) -> bool {
        self.reason == StopReason::Interrupted
    }

    /// Why the run is no valid result, if it is none.
    pub fn invalid(&self) -> Option<String> {
        match self.reason {
            StopReason::StopTime | StopReason::Interrupted => None,
            StopReason::Stuck { time_ns } => Some(format!(
                "a timer with a period below 1 us fired at {time_ns} ns, at which the original \
                 never ends: RP_TIMER, ALPHA_RESUME_INTERVAL and RATE_DECREASE_INTERVAL are whole \
                 microseconds"
            )),
            StopReason::NoRoute { time_ns, from, to } => Some(format!(
                "at {time_ns} ns host {from} had to send to host {to}, and LINK_DOWN left no path: \
                 the original crashes there; the results are those up to that time"
            )),
        }
    }
}

/// Runs `inputs`, writing to `files` and telling `meter`, of which it is the first run.
pub fn run(inputs: &Inputs, files: Files, meter: &Meter) -> io::Result<Ns3Run> {
    let first = inputs.flows.first().map_or(0, Flow::start_ns);
    let mut watch = Watch { files, meter, first, fct: Vec::new(), pauses: 0, digest: 0x7765_6972 };
    let (wall, cpu) = (Instant::now(), thread_seconds());
    let RunEnd { counters, reason } = weir_ns3::run(inputs, &mut watch);
    let wall_seconds = wall.elapsed().as_secs_f64();
    let perf = Perf {
        packet_hops: counters.packet_hops(),
        events: counters.events,
        cpu_seconds: thread_seconds()
            .zip(cpu)
            .map_or(wall_seconds, |(after, before)| after - before),
        setup_cpu_seconds: None,
        wall_seconds,
    };
    meter.report(0, counters.end_ns.saturating_mul(1000), perf.packet_hops, 1.0);
    let Watch { files, fct, pauses, digest, .. } = watch;
    files.finish()?;
    Ok(Ns3Run { fct, pauses, counters, reason, digest: mix(digest), perf })
}

/// Passes everything on to the files, and keeps what summaries are made of.
struct Watch<'a> {
    files: Files,
    meter: &'a Meter,
    /// When the first flow starts.
    first: u64,
    fct: Vec<FctRecord>,
    pauses: u64,
    digest: u64,
}

impl Watch<'_> {
    fn add(&mut self, numbers: &[u64]) {
        for x in numbers {
            self.digest = mix(self.digest ^ x).wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
    }
}

impl Recorder for Watch<'_> {
    fn fct(&mut self, r: &FctRecord) {
        self.files.fct(r);
        let (src, dst, sport) = (r.src.into(), r.dst.into(), r.sport.into());
        self.add(&[src, dst, sport, r.size, r.start_ns, r.fct_ns, r.standalone_ns]);
        self.fct.push(*r);
    }

    fn pfc(&mut self, r: &PfcRecord) {
        self.files.pfc(r);
        self.add(&[r.time_ns, r.node.into(), r.interface.into(), r.pause.into()]);
        self.pauses += u64::from(r.pause);
    }

    fn queues(&mut self, time_ns: u64, ports: &mut dyn Iterator<Item = QueueDistribution<'_>>) {
        self.files.queues(time_ns, ports);
    }

    fn wants_queues(&self) -> bool {
        self.files.wants_queues()
    }

    fn packet(&mut self, record: &TraceRecord) {
        self.files.packet(record);
    }

    fn wants_packets(&self) -> bool {
        self.files.wants_packets()
    }

    fn progress(&mut self, p: &Progress) -> ControlFlow<()> {
        let span = p.stop_ns.saturating_sub(self.first).max(1) as f64;
        let by_time = p.now_ns.saturating_sub(self.first) as f64 / span;
        let by_flows = p.flows_done as f64 / p.flows.max(1) as f64;
        let done = by_time.max(by_flows).min(0.999);
        self.meter.report(0, p.now_ns.saturating_mul(1000), p.packet_hops, done);
        if self.meter.interrupted() {
            return ControlFlow::Break(());
        }
        self.files.progress(p)
    }
}

/// What to call the flows to a destination port: by convention 100 is background traffic and
/// 200 an incast.
pub fn class_name(dport: u16) -> String {
    match dport {
        100 => "background".into(),
        200 => "incast".into(),
        other => format!("port {other}"),
    }
}

/// The destination port of a class.
pub fn class_port(name: &str) -> Option<u16> {
    match name {
        "background" => Some(100),
        "incast" => Some(200),
        other => other.strip_prefix("port ").unwrap_or(other).trim().parse().ok(),
    }
}

/// What a host is called, in results and in converted scenarios.
pub fn host_name(node: u32) -> String {
    format!("h{node}")
}

/// What a switch is called, in results and in converted scenarios.
pub fn switch_name(node: u32) -> String {
    format!("s{node}")
}
