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
//! | [`fct_analysis`] | slowdown by flow size |
//! | [`import`] | the pieces of a run for a native scenario |
//! | [`mmu`] | buffer accounting of a switch |
//! | [`routes`] | shortest paths and next hops |

mod clock;
pub mod config;
mod diag;
pub mod fct_analysis;
pub mod flows;
mod hash;
mod hash_order;
pub mod import;
mod inputs;
pub mod mmu;
pub mod output;
mod paths;
mod queue;
mod random;
pub mod record;
pub mod routes;
mod sim;
mod text;
pub mod topology;

pub use config::Config;
pub use diag::{Diagnostic, Diagnostics};
pub use flows::Flow;
pub use inputs::{Inputs, from_texts, read};
pub use record::{Counters, Memory, Recorder, StopReason};
pub use topology::{Link, Topology};

use sim::Sim;
use weir_cc::dcqcn::Dcqcn;
use weir_cc::dctcp::Dctcp;
use weir_cc::hpcc::Hpcc;
use weir_cc::none::LineRate;
use weir_cc::timely::Timely;
use weir_cc::{CcParams, CongestionControl, Path};

/// How a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// Totals.
    pub counters: Counters,
    /// Why it ended.
    pub reason: StopReason,
}

/// Runs to the configured stop time, telling `recorder` what happens.
pub fn run(inputs: &Inputs, recorder: &mut dyn Recorder) -> RunEnd {
    let params = inputs.config.congestion_control();
    // One copy of the simulator per algorithm: each is compiled with its congestion control
    // inlined.
    match &params {
        CcParams::None(p) => run_with(inputs, recorder, |path| LineRate::new(p, path)),
        CcParams::Dcqcn(p) => run_with(inputs, recorder, |path| Dcqcn::new(p, path)),
        CcParams::Hpcc(p) => run_with(inputs, recorder, |path| Hpcc::new(p, path)),
        CcParams::Timely(p) => run_with(inputs, recorder, |path| Timely::new(p, path)),
        CcParams::Dctcp(p) => run_with(inputs, recorder, |path| Dctcp::new(p, path)),
        CcParams::DcqcnPaper(_) | CcParams::Swift(_) | CcParams::Own(_) => {
            unreachable!("no CC_MODE stands for it")
        }
    }
}

fn run_with<C: CongestionControl>(
    inputs: &Inputs,
    recorder: &mut dyn Recorder,
    make_cc: impl Fn(&Path) -> C,
) -> RunEnd {
    let (counters, reason) = Sim::new(inputs, &make_cc, recorder).run();
    RunEnd { counters, reason }
}
