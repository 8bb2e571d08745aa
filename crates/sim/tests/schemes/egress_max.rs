//! CaPFC's limit of an egress queue: what would pass it is dropped although the buffer has room.

use crate::common::{config, flow, run, set, star};
use weir_core::Time;
use weir_sim::outcome::DropReason;
use weir_sim::{Finish, Outcome};

/// Two hosts send to a third at twice its rate; nobody is paused below 75 KB of ingress or 68 KB of
/// egress, and the queue would grow past 20 KB.
fn incast(egress_max: Option<&str>) -> Outcome {
    let mut cfg = config("capfc");
    cfg.nic.timeout = Some(Time::from_us(500));
    if let Some(size) = egress_max {
        set(&mut cfg, "egress-max", size);
    }
    run(&star(3, "1us"), &[flow(0, 2, 60_000), flow(1, 2, 60_000)], &cfg)
}

#[test]
fn an_egress_at_its_limit_drops() {
    let free = incast(None);
    assert_eq!((free.finish, free.drops.len()), (Finish::Drained, 0));
    let out = incast(Some("20KB"));
    assert_eq!((out.finish, out.totals.completed), (Finish::Drained, 2), "losses are repaired");
    assert!(!out.drops.is_empty());
    assert!(out.drops.iter().all(|d| d.reason == DropReason::Scheme));
}
