//! Queueing theory: the mean wait of an M/D/1 queue.

mod common;

use common::{DATA, config};
use weir_core::{Bytes, NodeId, Time};
use weir_net::build::{self, star};
use weir_sim::config::{ThresholdConfig, WindowConfig};
use weir_traffic::pattern::{Marking, Poisson};
use weir_traffic::{Fabric, Intensity, Sizes, Traffic};

/// One-packet flows at load 0.5: by Pollaczek and Khinchine packets of service time T wait
/// T * rho / (2 (1 - rho)) = T / 2 on average in front of the receiver's link.
///
/// Packets of 64 hosts converge on one link; each sender's own link is used to 1/128, so their
/// superposition is Poisson to well within the tolerance at the switch.
#[test]
fn the_mean_wait_of_an_m_d_1_queue_is_half_a_service_time_at_half_load() {
    // debug builds check a smaller sample with a wider, still derived, tolerance
    let packets: u64 = if cfg!(debug_assertions) { 400_000 } else { 4_000_000 };
    let tolerance = if cfg!(debug_assertions) { 0.02 } else { 0.01 };
    let topology =
        build::star::build(&star::Params { hosts: 65, ..star::Params::default() }).unwrap();
    let rate = topology.links()[0].rate;
    let mut cfg = config("none");
    cfg.switch.thresholds = ThresholdConfig::Pool;
    cfg.nic.window = WindowConfig::Unlimited;
    let service = rate.time_for(Bytes::new(1538));
    let per_second = 0.5 / service.as_secs_f64();
    let mut plan = Traffic::new(Fabric::uniform(topology.hosts(), rate).unwrap());
    let class = plan.class("one-packet").unwrap();
    let hosts: Vec<NodeId> = topology.hosts().to_vec();
    let sizes = Sizes::Fixed(Bytes::new(1500));
    plan.add(Poisson {
        senders: Some(hosts[..64].to_vec()),
        receivers: Some(vec![hosts[64]]),
        marking: Marking { class, priority: DATA, ..Marking::default() },
        ..Poisson::new(sizes, Intensity::PerSecond(per_second))
    })
    .unwrap();
    plan.set_until(Time::from_ps((packets as f64 / per_second * 1e12) as u64));
    let out = weir_sim::run(&topology, &plan, &cfg, &mut ()).unwrap();
    let alone = service * 2 + topology.links()[0].delay * 2;
    let waits = out.flows.iter().map(|f| (f.fct().unwrap() - alone).as_ps() as f64);
    let mean = waits.sum::<f64>() / out.flows.len() as f64;
    let expected = service.as_ps() as f64 / 2.0;
    assert!(out.flows.len() as u64 > packets * 99 / 100);
    assert!((mean / expected - 1.0).abs() < tolerance, "mean wait {mean} ps, expected {expected}");
}
