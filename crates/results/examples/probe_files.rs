//! A built-in scenario with the probe of the guide "Write your own probe", and all result files:
//! `cargo run -p weir-results --example probe_files -- DIRECTORY`

use std::path::{Path, PathBuf};
use weir_results::comparison::Comparison;
use weir_results::report::{self, Formats};
use weir_results::run::{Meter, run};
use weir_scenario::Experiment;
use weir_scenario::Problems;

#[path = "../../sim/examples/own_probe.rs"]
#[allow(dead_code, reason = "its own network is for the simulator alone")]
mod own_probe;

pub(crate) use own_probe::WAITS;

/// Runs the scenario under two schemes and writes the files of both.
pub(crate) fn write(directory: &Path) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let text = |problems: Problems| problems.to_string();
    let mut experiment = Experiment::load("incast", &[]).map_err(text)?;
    experiment.scenario.probe.own = vec![WAITS];
    let mut runs = Vec::new();
    for scheme in ["pfc", "ofc"] {
        let variant = experiment.variant(Some(scheme), None, 1).map_err(text)?;
        runs.push(run(&experiment, variant, &Meter::new(1), 0)?);
    }
    let results = Comparison::new(&experiment, runs);
    Ok(report::write(&results, directory, "probe_files", Formats::Csv)?)
}

#[allow(dead_code, reason = "a test calls `write`")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("name a directory for the results")?;
    println!("results: {}", write(Path::new(&directory))?.display());
    Ok(())
}
