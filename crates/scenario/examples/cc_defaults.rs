//! Every congestion control with its defaults on three fabrics: marks, pauses and completion
//! times, as a table in Markdown.
//!
//! `cargo run --release -p weir-scenario --example cc_defaults`

use weir_cc::CcKind;
use weir_core::format;
use weir_scenario::Experiment;
use weir_scenario::Variant;

const FABRICS: [&str; 3] = ["dumbbell", "ffc-incast", "flowsail-fig15"];

fn main() {
    println!("| scenario | congestion control | marks | pauses | without | mean FCT |");
    println!("|---|---|---|---|---|---|");
    for name in FABRICS {
        let file = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let e = Experiment::load(&file, &[]).unwrap_or_else(|p| panic!("{p}"));
        let (_, without, _) = run(&e, CcKind::None);
        for cc in ["dcqcn", "dctcp", "hpcc", "timely", "swift"] {
            let cc: CcKind = cc.parse().expect("it is in the catalogue");
            let (marks, pauses, fct) = run(&e, cc);
            let marks = if cc.needs().marks { marks.to_string() } else { "-".into() };
            let cc = cc.name();
            println!("| {name} | `{cc}` | {marks} | {pauses} | {without} | {fct} |");
        }
    }
}

/// Marks, pauses and the mean completion time under PFC.
fn run(e: &Experiment, cc: CcKind) -> (u64, u64, String) {
    let scheme = weir_fc::scheme("pfc").expect("PFC is in the catalogue");
    let seed = e.scenario.run.seeds[0];
    let config = e.config(Variant { scheme, cc, seed });
    let outcome = weir_sim::run(&e.topology, &e.traffic, &config, &mut ())
        .unwrap_or_else(|why| panic!("{}: {why}", cc.name()));
    let marks = outcome.ports.iter().map(|p| p.ecn_marked).sum();
    let pauses = outcome.ports.iter().flat_map(|p| p.pauses_sent).sum();
    let times: Vec<f64> =
        outcome.flows.iter().filter_map(|f| f.fct()).map(|t| t.as_ps() as f64).collect();
    (marks, pauses, format::time_ps(times.iter().sum::<f64>() / times.len() as f64))
}
