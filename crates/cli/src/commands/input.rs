//! Commands that look at a scenario without running it.

use super::outputs::keep_inputs;
use crate::Status;
use crate::args;
use crate::terminal::{Terminal, print};
use anyhow::Context;
use serde_json::json;
use std::io::{self, BufWriter};
use weir_lab::{Experiment, describe};

/// Loads a scenario; shows what is wrong with it and returns `None` if it cannot be used.
pub(super) fn load(scenario: &str, sets: &[String], terminal: &Terminal) -> Option<Experiment> {
    match Experiment::load(scenario, sets) {
        Ok(experiment) => {
            terminal.warnings(&experiment.warnings, &experiment.scenario.sources);
            Some(experiment)
        }
        Err(problems) => {
            terminal.problems(&problems);
            None
        }
    }
}

/// `weir check`.
pub(crate) fn check(args: &args::Check, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(e) = load(&args.input.scenario, &args.input.sets, terminal) else {
        return Ok(Status::BadInput);
    };
    let (scheme, cc) = (args.scheme.as_deref(), args.cc.as_deref());
    let variant = match e.variant(scheme, cc, e.scenario.run.seeds[0]) {
        Ok(variant) => variant,
        Err(problems) => {
            terminal.problems(&problems);
            return Ok(Status::BadInput);
        }
    };
    let about = e.warnings_about(variant);
    terminal.warnings(&about, &e.scenario.sources);
    if args.input.json {
        let s = &e.scenario;
        let settings: Vec<_> = describe::settings(&e, &e.config(variant))
            .into_iter()
            .map(|(name, value)| json!({ "setting": name, "value": value }))
            .collect();
        let warnings: Vec<&str> =
            e.warnings.iter().chain(about.iter()).map(|w| w.title.as_str()).collect();
        let all = json!({
            "scenario": s.name,
            "title": s.title,
            "flows": describe::flow_count(&e, variant.seed),
            "settings": settings,
            "warnings": warnings,
        });
        print(&serde_json::to_string_pretty(&all)?)?;
    } else {
        print(&describe::check(&e, variant, terminal.out))?;
    }
    Ok(Status::Done)
}

/// `weir topo`.
pub(crate) fn topo(args: &args::Topo, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(e) = load(&args.input.scenario, &args.input.sets, terminal) else {
        return Ok(Status::BadInput);
    };
    if let Some(file) = &args.svg {
        keep_inputs(file, &e.inputs())?;
    }
    if args.input.json {
        let facts = describe::topology_facts(&e).into_iter();
        let facts: serde_json::Map<_, _> = facts.map(|(k, v)| (k, v.into())).collect();
        print(&serde_json::to_string_pretty(&facts)?)?;
    } else {
        print(&describe::topology(&e, terminal.out))?;
    }
    if let Some(file) = &args.svg {
        let svg = describe::drawing(&e);
        std::fs::write(file, svg).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(Status::Done)
}

/// `weir traffic`.
pub(crate) fn traffic(args: &args::Traffic, terminal: &Terminal) -> anyhow::Result<Status> {
    let Some(e) = load(&args.input.scenario, &args.input.sets, terminal) else {
        return Ok(Status::BadInput);
    };
    let seed = args.seed.unwrap_or(e.scenario.run.seeds[0]);
    if args.input.json {
        let hash = e.traffic.hash(seed)?;
        let all = json!({
            "scenario": e.scenario.name,
            "seed": seed,
            "flows": hash.flows(),
            "traffic": format!("{:016x}", hash.value()),
            "classes": e.classes(),
        });
        print(&serde_json::to_string_pretty(&all)?)?;
        return Ok(Status::Done);
    }
    let flows = e.traffic.all_flows(seed).context("cannot list the flows")?;
    if args.format == args::FlowFormat::Ns3 {
        print(weir_lab::ns3::flow_file(&flows, e.classes())?.trim_end())?;
        return Ok(Status::Done);
    }
    let out = BufWriter::new(io::stdout().lock());
    let name = |node| e.topology.name(node).to_owned();
    let path = |index: u32| e.paths[index as usize].name.clone();
    weir_lab::write_flows(out, &flows, &name, &path, e.classes())?;
    Ok(Status::Done)
}
