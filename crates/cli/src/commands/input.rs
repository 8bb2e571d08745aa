//! Commands that look at a scenario without running it.

use super::outputs::{keep_inputs, write_file};
use crate::Status;
use crate::args;
use crate::terminal::{Terminal, print};
use anyhow::Context;
use serde_json::json;
use std::io::{self, BufWriter};
use weir_results::describe;
use weir_results::lineup::{Lineup, Otherwise::Own, Request, Setting};
use weir_scenario::Experiment;
use weir_scenario::text::Diagnostics;

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
    let request = args.chosen.request(&args.input.sets);
    let Some(lineup) = super::simulate::load(&args.input.scenario, &request, Own, terminal) else {
        return Ok(Status::BadInput);
    };
    let Some(variants) = variants(args, &request, &lineup, terminal) else {
        return Ok(Status::BadInput);
    };
    let setting = &lineup.settings[0];
    let e = &*setting.experiment;
    let variant = setting.with_seed(e.scenario.run.seeds[0]);
    let advice = e.advice(variant);
    terminal.warnings(&advice, &e.scenario.sources);
    if args.input.json {
        let warnings = lineup.warnings.iter().chain(advice.iter()).map(|w| w.title.as_str());
        let own = describe::settings(e, &e.config(variant));
        let variants: Vec<_> = variants
            .iter()
            .map(|v| {
                let settings = pairs(describe::changes(e, variant, v));
                json!({ "label": v.label, "settings": settings })
            })
            .collect();
        let all = json!({
            "scenario": e.scenario.name,
            "title": e.scenario.title,
            "flows": describe::flow_count(e, variant.seed),
            "settings": pairs(own),
            "variants": variants,
            "warnings": warnings.collect::<Vec<_>>(),
        });
        print(&serde_json::to_string_pretty(&all)?)?;
    } else {
        print(&describe::check(e, variant, &variants, terminal.out))?;
    }
    Ok(Status::Done)
}

/// The variants of the scenario, unless one or a scheme was chosen. Each is put together: what is
/// wrong with it is said now and not when it is run. `None` if one cannot be used.
fn variants(
    args: &args::Check,
    request: &Request<'_>,
    lineup: &Lineup,
    terminal: &Terminal,
) -> Option<Vec<Setting>> {
    if args.chosen.is_one() {
        return Some(Vec::new());
    }
    let labels = lineup.base.scenario.variants.iter().map(|v| v.label.clone());
    let labels: Vec<String> = labels.collect();
    if labels.is_empty() {
        return Some(Vec::new());
    }
    let request = Request { variants: &labels, ..*request };
    match Lineup::load(&args.input.scenario, &request, Own) {
        Ok(all) => {
            let mut more = Diagnostics::default();
            let known = |title: &str| lineup.warnings.iter().any(|w| w.title == title);
            let new = all.warnings.iter().filter(|w| !known(&w.title));
            new.for_each(|w| more.push(w.clone()));
            terminal.warnings(&more, &all.sources);
            Some(all.settings)
        }
        Err(problems) => {
            terminal.problems(&problems);
            None
        }
    }
}

/// Settings as JSON.
fn pairs(settings: Vec<(String, String)>) -> Vec<serde_json::Value> {
    let pair = |(name, value)| json!({ "setting": name, "value": value });
    settings.into_iter().map(pair).collect()
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
        write_file(file, svg)?;
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
        print(weir_results::ns3::flow_file(&flows, e.classes())?.trim_end())?;
        return Ok(Status::Done);
    }
    let out = BufWriter::new(io::stdout().lock());
    let name = |node| e.topology.name(node).to_owned();
    let path = |index: u32| e.paths[index as usize].name.clone();
    weir_traffic::write_flows(out, &flows, &name, &path, e.classes())?;
    Ok(Status::Done)
}
