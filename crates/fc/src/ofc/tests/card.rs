//! A NIC: pauses hold flow slots.

use super::*;

fn nic() -> Bench {
    let mut values = Values::new();
    values.set(&FLOW_KEY, "pair").unwrap();
    Bench::nic(&INFO, &values)
}

fn start(b: &mut Bench, slot: u32, f: u32, k: u32) {
    b.flow_starts(QueueId(slot), b.packet(UP, 1000).flow(f, k, 100 + f));
}

fn held(b: &Bench) -> Vec<u32> {
    (0..8).filter(|&q| b.is_held(UP, QueueId(q))).collect()
}

#[test]
fn a_pause_holds_the_slots_of_its_flows_and_a_resume_opens_them() {
    let mut b = nic();
    start(&mut b, 0, 1, 0);
    start(&mut b, 1, 2, 0);
    start(&mut b, 2, 1, 1); // the same hosts
    b.control(UP, &pause(&[1, 9]));
    assert_eq!(held(&b), [0, 2]);
    assert!(b.scheme().audit(&b.view(), Network::Drained).is_err());
    b.control(UP, &resume(&[9]));
    assert_eq!(held(&b), [0, 2]);
    b.control(UP, &resume(&[1]));
    assert_eq!(held(&b), [] as [u32; 0]);
    assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
}

#[test]
fn a_flow_that_starts_between_paused_hosts_is_held() {
    let mut b = nic();
    b.control(UP, &pause(&[1]));
    start(&mut b, 0, 1, 0);
    start(&mut b, 1, 2, 0);
    assert_eq!(held(&b), [0]);
    // the slot is given back open, and a later RESUME does not touch its next owner
    b.flow_ends(QueueId(0), b.packet(UP, 1000).flow(1, 0, 101));
    assert_eq!(held(&b), [] as [u32; 0]);
    b.control(UP, &pause(&[2]));
    assert_eq!(held(&b), [1]);
    start(&mut b, 0, 2, 1);
    b.control(UP, &resume(&[1]));
    assert_eq!(held(&b), [0, 1]);
    b.flow_ends(QueueId(1), b.packet(UP, 1000).flow(2, 0, 102));
    b.control(UP, &resume(&[2]));
    b.control(UP, &pause(&[2]));
    assert_eq!(held(&b), [0], "the ended flow's slot is left alone");
}

#[test]
fn the_wildcard_holds_the_priority_and_its_end_lifts_everything() {
    let mut b = nic();
    start(&mut b, 0, 1, 0);
    start(&mut b, 1, 2, 0);
    b.control(UP, &pause(&[1]));
    b.control(UP, &all(true));
    // slot 4 stands for priority 3 in the bench's layout
    assert_eq!(held(&b), [0, 4]);
    assert!(b.scheme().audit(&b.view(), Network::Drained).is_err());
    b.control(UP, &all(false));
    assert_eq!(held(&b), [] as [u32; 0]);
    b.control(UP, &all(true));
    b.control(UP, &pause(&[2]));
    b.link(UP, LinkState::Down);
    assert_eq!(held(&b), [] as [u32; 0]);
    assert_eq!(b.scheme().audit(&b.view(), Network::Drained), Ok(()));
    assert!(b.scheme().state_size().tables.iter().all(|t| t.1 == 0));
}

#[test]
fn a_nic_keeps_no_count_of_what_it_sends() {
    let b = Bench::around(1, "10KB", "3KB", |setup| {
        scheme(&[], &NodeSetup { role: Role::Nic, ..setup.clone() })
    });
    assert!(!b.scheme().layout(UP).inspects_heads);
    let (mut ofc, mut a) = (b.scheme().clone(), Actions::new());
    let mut p = b.packet(UP, 1000).0;
    ofc.depart(&b.view(), &mut p, PortQueue { port: UP, queue: QueueId(0) }, &mut a);
    assert!(ofc == *b.scheme() && a.is_empty());
}
