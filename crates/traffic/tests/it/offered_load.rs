//! Mean size, arrival rate and offered load of generated traffic, against what was asked for.
//!
//! No variance reduction: as many flows are drawn as the table needs. With n flows the standard
//! error of the mean size is cv / sqrt(n), where cv is the exact coefficient of variation of the
//! table (from 1.4 for the caches to 22.6 for Google's RPCs), so n = (300 cv)^2 makes one
//! percent three standard errors: 0.2 million flows for the tamest table, 46 million for the
//! wildest. The seed is fixed and was not chosen for the result.

use crate::common::fabric;
use weir_core::{Bytes, NodeId, Time};
use weir_traffic::pattern::{Incast, Marking, Poisson, Scope};
use weir_traffic::size::{BuiltIn, builtin_tables};
use weir_traffic::{Arrival, Fabric, Intensity, LoadRef, Sizes, Traffic};

/// Flows, bytes and seconds of a plan with one pattern that runs for about `flows` flows.
fn generate(pattern: Poisson, fabric: &Fabric, flows: f64) -> (f64, f64, f64) {
    let mut plan = Traffic::new(fabric.clone());
    plan.add(pattern).unwrap();
    let seconds = flows / plan.offered()[0].1.flows_per_second;
    plan.set_until(Time::from_ps((seconds * 1e12) as u64));
    let (mut count, mut bytes) = (0u64, 0u64);
    for flow in plan.sources(1).into_iter().flatten() {
        count += 1;
        bytes += flow.size.get();
    }
    (count as f64, bytes as f64, seconds)
}

fn within_one_percent(what: &str, found: f64, asked: f64) {
    assert!((found / asked - 1.0).abs() < 0.01, "{what}: {found}, asked for {asked}");
}

/// A load of 60 % on the NICs of 16 hosts at 100 Gb/s: 960 Gb/s.
fn check(built_in: &BuiltIn) {
    let table = &built_in.table;
    let cv = table.standard_deviation() / table.mean();
    let load = Intensity::Load { load: 0.6, reference: LoadRef::Host };
    let pattern = Poisson::new(Sizes::table(table.clone()), load);
    let (flows, bytes, seconds) = generate(pattern, &fabric(16), (300.0 * cv).powi(2));
    let name = built_in.name;
    within_one_percent(&format!("{name}: mean size"), bytes / flows, table.mean());
    let rate = 960e9 / 8.0 / table.mean();
    within_one_percent(&format!("{name}: arrivals per second"), flows / seconds, rate);
    within_one_percent(&format!("{name}: load"), bytes * 8.0 / seconds / 1.6e12, 0.6);
}

/// The tables in two halves of about equal work, for two cores.
fn check_half(parity: bool) {
    for built_in in builtin_tables() {
        if (built_in.name == "google_rpc") == parity {
            check(built_in);
        }
    }
}

#[test]
fn the_wildest_table_offers_what_was_asked() {
    check_half(true);
}

#[test]
fn all_other_tables_offer_what_was_asked() {
    check_half(false);
}

#[test]
fn core_loads_refer_to_the_core() {
    // 16 hosts: core of 0.8 Tb/s, crossed by 7 flows of 8; 10 KB flows at 50 %
    let sizes = Sizes::Fixed(Bytes::from_kb(10));
    for (reference, bits) in [(LoadRef::Core, 0.4e12), (LoadRef::CoreExact, 0.4e12 * 8.0 / 7.0)] {
        let pattern = Poisson::new(sizes.clone(), Intensity::Load { load: 0.5, reference });
        let (_, bytes, seconds) = generate(pattern, &fabric(16), 400_000.0);
        within_one_percent("core load", bytes * 8.0 / seconds, bits);
    }
}

#[test]
fn log_normal_arrivals_come_at_the_rate_asked_for() {
    // sigma = 2: coefficient of variation of the gaps sqrt(e^4 - 1) = 7.3, so (300 * 7.3)^2 flows
    // for one process; with one process per host the first, empty stretch of each counts too
    for scope in [Scope::Network, Scope::Host] {
        let pattern = Poisson {
            arrival: Arrival::LogNormal { sigma: 2.0 },
            scope,
            ..Poisson::new(Sizes::Fixed(Bytes::from_kb(1)), Intensity::PerSecond(1e6))
        };
        let (flows, _, seconds) = generate(pattern, &fabric(16), 4_800_000.0);
        within_one_percent("log-normal rate", flows / seconds, 1e6);
    }
}

#[test]
fn each_nic_gets_its_share_of_a_host_load() {
    use weir_core::Rate;
    let hosts: Vec<NodeId> = (0..3).map(NodeId).collect();
    let rates = [10, 20, 70].map(Rate::from_gbps).to_vec();
    let mut plan = Traffic::new(Fabric::new(&hosts, rates).unwrap());
    let load = Intensity::Load { load: 0.5, reference: LoadRef::Host };
    plan.add(Poisson::new(Sizes::Fixed(Bytes::from_kb(1)), load)).unwrap();
    plan.set_until(Time::from_ms(200));
    for (host, gbps) in plan.sources(1).into_iter().zip([10.0, 20.0, 70.0]) {
        // 125 000 flows or more each: standard error below 0.3 %
        let bits = 8.0 * host.map(|f| f.size.get() as f64).sum::<f64>();
        within_one_percent("NIC load", bits / 0.2, gbps * 1e9 / 2.0);
    }
}

#[test]
fn incast_offers_what_was_asked() {
    // 64 hosts of 100 Gb/s; 10 % of 6.4 Tb/s in events of 20 flows of 50 to 200 KB: 32 000 events
    // per second; 3 seconds are 96 000 of them, standard error 0.3 %
    let mut plan = Traffic::new(fabric(64));
    plan.add(Incast {
        degree: 20,
        sizes: Sizes::Uniform { low: Bytes::from_kb(50), high: Bytes::from_kb(200) },
        intensity: Intensity::Load { load: 0.1, reference: LoadRef::Host },
        replacement: false,
        spacing: Arrival::Poisson,
        senders: None,
        receivers: None,
        start: Time::ZERO,
        stop: Some(Time::from_ms(3000)),
        events: None,
        marking: Marking::default(),
    })
    .unwrap();
    let (mut flows, mut bytes) = (0.0, 0.0);
    for flow in plan.sources(1).into_iter().flatten() {
        flows += 1.0;
        bytes += flow.size.get() as f64;
    }
    within_one_percent("incast flows per second", flows / 3.0, 640_000.0);
    within_one_percent("incast mean size", bytes / flows, 125_000.0);
    within_one_percent("incast load", bytes * 8.0 / 3.0 / 6.4e12, 0.1);
}
