//! Runs that share routes and the longest path are the runs that work them out for themselves.

mod common;

use common::{config, flow, plan};
use weir_core::Bytes;
use weir_net::build::{self, torus};
use weir_sim::config::Routing;
use weir_sim::{Prepared, run, run_prepared};

#[test]
fn what_runs_share_changes_no_outcome() {
    let topology = build::torus::build(&torus::Params { x: 4, y: 4, ..Default::default() });
    let topology = topology.expect("builds");
    let hosts = topology.hosts();
    let to = |i: usize| hosts[(i + 6) % hosts.len()].0;
    let flows: Vec<_> = (0..hosts.len()).map(|i| flow(hosts[i].0, to(i), 50_000)).collect();
    let traffic = plan(&topology, &flows);
    let ecmp = config("pfc");
    let prepared = Prepared::new(&topology, &ecmp);
    let mut others = [ecmp.clone(), ecmp.clone(), config("none")];
    others[0].routing = Routing::UpDown;
    others[1].nic.payload = Bytes::new(500);
    let mut digests = Vec::new();
    // What was prepared for the first is of no use to the second and third.
    for config in [&ecmp, &others[0], &others[1], &others[2]] {
        let alone = run(&topology, &traffic, config, &mut ()).expect("runs");
        let shared = run_prepared(&topology, &prepared, &traffic, config, &mut ()).expect("runs");
        assert_eq!(alone.digest, shared.digest);
        digests.push(alone.digest);
    }
    assert_ne!(digests[0], digests[1], "up/down takes other paths");
}
