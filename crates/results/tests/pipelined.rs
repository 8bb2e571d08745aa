//! Scenarios with pipelined switches: what is read, what is refused, what is reported.

mod common;

use weir_fc::{OnFull, StageLimits};
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_sim::config::DelayAt;

fn scenario(switch: &str) -> String {
    common::incast(&format!("[switch]\n{switch}"), "")
}

fn read(switch: &str) -> Experiment {
    match Experiment::read("my.toml", &scenario(switch), Files::default(), &[]) {
        Ok(e) => e,
        Err(problems) => panic!("{problems}"),
    }
}

fn error(switch: &str) -> String {
    match Experiment::read("my.toml", &scenario(switch), Files::default(), &[]) {
        Ok(_) => panic!("no error: {switch}"),
        Err(problems) => problems.to_string(),
    }
}

const PIPELINED: &str = "model = \"pipelined\"\n";

#[test]
fn the_defaults_are_the_documented_ones() {
    let bare = read(PIPELINED).scenario.switch.config.pipeline;
    let spelt = "pipeline = { rate = 1000000, delay = \"25us\", delay-at = \"before\", \
                 egress = \"60KB\", on-full = \"drop\" }";
    assert_eq!(bare, read(&format!("{PIPELINED}{spelt}")).scenario.switch.config.pipeline);
    assert_eq!(bare, Some(weir_sim::config::PipelineConfig::default()));
    assert_eq!(read("").scenario.switch.config.pipeline, None);
}

#[test]
fn every_key_of_the_pipeline_has_its_effect() {
    let text = "pipeline = { rate = 500000, delay = \"3us\", delay-at = \"after\", egress = \
         \"70KB\", \
                on-full = \"stop\" }";
    let p = read(&format!("{PIPELINED}{text}")).scenario.switch.config.pipeline.unwrap();
    assert_eq!((p.rate, p.delay.to_string().as_str()), (500_000, "3 us"));
    assert_eq!((p.delay_at, p.on_full), (DelayAt::After, OnFull::Stop));
    assert_eq!(p.limits, StageLimits::Dedicated { egress: weir_core::Bytes::from_kb(70) });
    let text = "shared-pool = { dedicated = \"1KB\", total = \"20KB\", queue = \"3KB\", \
                port = \"4KB\", egress = \"6KB\" }";
    let p = read(&format!("{PIPELINED}{text}")).scenario.switch.config.pipeline.unwrap();
    let StageLimits::Shared(s) = p.limits else { panic!("{p:?}") };
    let kb = [s.dedicated, s.pool, s.queue, s.port, s.ingress, s.egress].map(|b| b.get() / 1000);
    assert_eq!(kb, [1, 20, 3, 4, 20, 6], "ingress: as the total");
}

#[test]
fn what_does_not_fit_together_is_named() {
    let found = error("pipeline = { rate = 5 }");
    assert!(found.contains("`pipeline` applies to pipelined switches only"), "{found}");
    assert!(found.contains("my.toml:8:12") && found.contains("model = \"pipelined\""), "{found}");
    let found = error("shared-pool = { total = \"1MB\" }");
    assert!(found.contains("`shared-pool` applies to pipelined switches only"), "{found}");
    let found = error(&format!("{PIPELINED}latency = \"1us\""));
    assert!(found.contains("has `delay` in `[switch.pipeline]` instead"), "{found}");
    let found = error(&format!("{PIPELINED}buffer = \"1MB\"\nthresholds = {{ alpha = \"1/8\" }}"));
    assert!(found.contains("a pipelined switch has static thresholds"), "{found}");
    let both = "pipeline = { egress = \"60KB\" }\nshared-pool = { total = \"1MB\" }";
    let found = error(&format!("{PIPELINED}{both}"));
    assert!(found.contains("an egress queue has one limit"), "{found}");
    let found = error(&format!("{PIPELINED}pipeline = {{ egress = \"1KB\" }}"));
    assert!(found.contains("a queue holds at most 1 KB, a frame is 1.518 KB"), "{found}");
    let found =
        error(&format!("{PIPELINED}shared-pool = {{ dedicated = \"0B\", port = \"1KB\" }}"));
    assert!(found.contains("a queue holds at most 1 KB"), "{found}");
    let found = error(&format!("{PIPELINED}pipeline = {{ rate = 0 }}"));
    assert!(found.contains("a whole number from 1"), "{found}");
    let found = error(&format!("{PIPELINED}pipeline = {{ on-full = \"stall\" }}"));
    assert!(found.contains("`\"drop\"`, `\"stop\"`"), "{found}");
    let found = error(&format!("{PIPELINED}pipeline = {{ delay = \"2s\" }}"));
    assert!(found.contains("out of range"), "{found}");
}

/// Hosts retransmit by a timeout where packets can be lost, and only there.
#[test]
fn a_timeout_is_set_where_a_full_egress_queue_drops() {
    let timeout = |scheme: &str, more: &str| {
        let e = read(&format!("{PIPELINED}{more}"));
        let variant = e.variant(Some(scheme), None, 1).expect("a variant");
        e.config(variant).nic.timeout.is_some()
    };
    let stop = "pipeline = { on-full = \"stop\" }";
    assert!(timeout("pfc", "") && timeout("gfc", "") && timeout("capfc", stop));
    assert!(!timeout("pfc", stop) && !timeout("gfc", stop));
    let own = "\n[flow-control.pfc]\non-full = \"drop\"";
    assert!(timeout("pfc", &format!("{stop}{own}")), "PFC's own rule counts");
}

/// Egress queues have limits of their own there, whatever the ingress thresholds are.
#[test]
fn marks_are_held_against_the_limit_of_the_egress_queue() {
    let warnings = |kmin: &str| {
        let text = format!(
            "{PIPELINED}thresholds = {{ xoff = \"5KB\", xon = \"4KB\", limit = \"40KB\" }}\n\
             ecn = {{ kmin = \"{kmin}\", kmax = \"80KB\" }}\npipeline = {{ egress = \"60KB\" }}\n\
             [congestion-control]\nalgorithm = \"dctcp\""
        );
        let e = read(&text);
        e.warnings.plain(&e.scenario.sources)
    };
    assert!(!warnings("59KB").contains("mark"), "{}", warnings("59KB"));
    assert!(warnings("60KB").contains("no queue can grow beyond kmin"), "{}", warnings("60KB"));
}
