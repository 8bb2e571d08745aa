//! A drop-in replacement for the HPCC ns-3 simulator.
//!
//! Reads that simulator's configuration, topology, flow and trace files unchanged and computes the
//! same completion times and pause frames, line by line, and the same number of events. For this
//! it has an engine and a node model of its own: whole nanoseconds, events of one nanosecond in
//! the order of their insertion, the same truncations, header sizes and buffer arithmetic.
//! Congestion control comes from [`weir_cc`].
//!
//! ```no_run
//! use weir_ns3::{Memory, read, run};
//! let (inputs, warnings) = read("mix/config.txt".as_ref())?;
//! eprintln!("{warnings}");
//! let mut results = Memory::default();
//! let outcome = run(&inputs, &mut results);
//! println!("{} flows, {} events", results.fct.len(), outcome.counters.events);
//! # Ok::<(), weir_ns3::Diagnostics>(())
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`config`], [`topology`], [`flows`] | the input files |
//! | [`record`], [`output`] | what a run tells while it runs, and the files it writes |
//! | [`mmu`] | buffer accounting of a switch |
//! | [`routes`] | shortest paths and next hops |

mod clock;
pub mod config;
mod diag;
pub mod flows;
mod hash;
mod inputs;
pub mod mmu;
pub mod output;
mod queue;
mod random;
pub mod record;
pub mod routes;
mod sim;
mod text;
pub mod topology;

pub use config::Config;
pub use diag::{Diagnostic, Diagnostics, Severity};
pub use flows::Flow;
pub use inputs::{Inputs, from_texts, read};
pub use record::{Counters, Memory, Recorder, StopReason};
pub use topology::{Link, Topology};

use sim::{Setup, Sim};
use weir_cc::dcqcn::Dcqcn;
use weir_cc::dctcp::Dctcp;
use weir_cc::hpcc::Hpcc;
use weir_cc::none::LineRate;
use weir_cc::timely::Timely;
use weir_cc::{CcParams, CongestionControl};

/// How a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Totals.
    pub counters: Counters,
    /// Why it ended.
    pub reason: StopReason,
}

/// Runs to the configured stop time, telling `recorder` what happens.
pub fn run(inputs: &Inputs, recorder: &mut dyn Recorder) -> Outcome {
    let params = inputs.config.congestion_control();
    let setup = Setup {
        config: &inputs.config,
        topology: &inputs.topology,
        flows: &inputs.flows,
        trace_nodes: &inputs.trace_nodes,
        params: &params,
    };
    match &params {
        CcParams::None(_) => run_with(setup, recorder, |p, path| match p {
            CcParams::None(p) => LineRate::new(p, path),
            _ => unreachable!("parameters do not change during a run"),
        }),
        CcParams::Dcqcn(_) => run_with(setup, recorder, |p, path| match p {
            CcParams::Dcqcn(p) => Dcqcn::new(p, path),
            _ => unreachable!("parameters do not change during a run"),
        }),
        CcParams::Hpcc(_) => run_with(setup, recorder, |p, path| match p {
            CcParams::Hpcc(p) => Hpcc::new(p, path),
            _ => unreachable!("parameters do not change during a run"),
        }),
        CcParams::Timely(_) => run_with(setup, recorder, |p, path| match p {
            CcParams::Timely(p) => Timely::new(p, path),
            _ => unreachable!("parameters do not change during a run"),
        }),
        CcParams::Dctcp(_) => run_with(setup, recorder, |p, path| match p {
            CcParams::Dctcp(p) => Dctcp::new(p, path),
            _ => unreachable!("parameters do not change during a run"),
        }),
    }
}

fn run_with<C: CongestionControl>(
    setup: Setup<'_>,
    recorder: &mut dyn Recorder,
    make_cc: sim::MakeCc<C>,
) -> Outcome {
    let (counters, reason) = Sim::new(setup, make_cc, recorder).run();
    Outcome { counters, reason }
}
