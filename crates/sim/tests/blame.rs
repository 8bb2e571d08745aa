//! Where the completion times of flows went, in networks small enough to work it out by hand.
//!
//! All links have 100 Gb/s: a byte takes 80 ps. A full packet is 1500 B payload (the default), its
//! header and 20 B of preamble and gap.

mod common;

use common::{DATA, config, flow, run, star};
use weir_core::{Bytes, NodeId, PortId, Time};
use weir_fc::Target;
use weir_sim::outcome::{CulpritKind, FlowBlame, Wait, Waited};
use weir_sim::{Config, Outcome};
use weir_traffic::FlowSpec;

/// With blame.
fn blaming(scheme: &str) -> Config {
    let mut config = config(scheme);
    config.probes.blame = true;
    config
}

fn blame(out: &Outcome) -> &[FlowBlame] {
    &out.blame.as_ref().expect("it was asked for").flows
}

/// Every part, in the order of [`Wait`].
fn parts(b: &FlowBlame) -> [u64; 9] {
    use Wait::*;
    let all = [Wire, Source, Control, Recovery, OwnQueue, OthersQueue, Idle, Held, Host];
    all.map(|wait| b.total(wait).as_ps())
}

/// How long a full packet occupies a wire.
fn full(c: &Config) -> u64 {
    (c.nic.payload + c.nic.header + c.link.overhead).get() * 80
}

/// One flow of three packets over one switch: two packets go ahead of the last at the host, and the
/// last one takes two wires and two cables. Nothing else.
#[test]
fn a_flow_alone_waits_for_nothing_but_itself() {
    let c = blaming("pfc");
    let payload = c.nic.payload.get();
    let out = run(&star(3, "1us"), &[flow(0, 1, 3 * payload)], &c);
    let b = &blame(&out)[0];
    let s = full(&c);
    // latency of the switch is zero by default
    assert_eq!(parts(b), [2 * s + 2_000_000, 2 * s, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(b.path, [(NodeId(0), PortId(0)), (NodeId(3), PortId(1))]);
}

/// Two hosts send one packet each to a third at the same time. Both arrive at the same instant; the
/// one from the lower port is sent first, and the other waits for it.
#[test]
fn the_second_of_two_waits_in_the_queue_behind_the_first() {
    let c = blaming("pfc");
    let payload = c.nic.payload.get();
    let out = run(&star(3, "1us"), &[flow(0, 2, payload), flow(1, 2, payload)], &c);
    let s = full(&c);
    let [first, second] = blame(&out) else { panic!("two flows") };
    assert_eq!(parts(first), [2 * s + 2_000_000, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(parts(second), [2 * s + 2_000_000, 0, 0, 0, 0, s, 0, 0, 0]);
    // the direct and original culprit is the packet of the first flow
    let frame = c.nic.payload + c.nic.header;
    let culprits: Vec<_> = second.culprits.iter().map(|q| (q.kind, q.flow, q.bytes)).collect();
    assert!(culprits.contains(&(CulpritKind::Direct, first.flow, frame)), "{culprits:?}");
    assert!(first.culprits.is_empty(), "{:?}", first.culprits);
}

/// A 2:1 incast of ten packets each. The port serves the two in turn, so the last packet of the
/// second flow leaves as the 20th: its queue holds packets of both. At the host nine go ahead of
/// it. What is left is the queue: from its arrival to its departure, ten packets, five of each flow
/// or one more or less, and all of the wire's time was used.
#[test]
fn in_an_incast_the_queue_is_shared_between_own_and_others() {
    let mut c = blaming("none");
    c.switch.buffer = Bytes::from_kb(10_000);
    let payload = c.nic.payload.get();
    let out = run(&star(3, "1us"), &[flow(0, 2, 10 * payload), flow(1, 2, 10 * payload)], &c);
    let s = full(&c);
    let second = &blame(&out)[1];
    let [wire, source, control, recovery, own, others, idle, held, host] = parts(second);
    assert_eq!((wire, source), (2 * s + 2_000_000, 9 * s));
    assert_eq!((control, recovery, idle, held, host), (0, 0, 0, 0, 0));
    // the 20th packet leaves after 19 others; it came when nine packet times had passed
    assert_eq!(own + others, 19 * s - 9 * s);
    assert!(own >= 4 * s && others >= 5 * s, "{own} {others}");
}

/// Two flows of one host to two others, one packet each: the second waits for the wire.
#[test]
fn a_flow_behind_another_at_its_nic_waits_for_its_host() {
    let c = blaming("pfc");
    let payload = c.nic.payload.get();
    let out = run(&star(3, "1us"), &[flow(0, 1, payload), flow(0, 2, payload)], &c);
    let s = full(&c);
    let [first, second] = blame(&out) else { panic!("two flows") };
    assert_eq!(parts(first)[8], 0);
    assert_eq!(parts(second), [2 * s + 2_000_000, 0, 0, 0, 0, 0, 0, 0, s]);
}

/// A window of one packet: the second packet waits for the ACK of the first. Between them lie two
/// wires and two cables there, two ACKs and two cables back, of which the first serialisation is
/// the source's.
#[test]
fn what_a_window_costs_is_control() {
    let mut c = blaming("pfc");
    let payload = c.nic.payload.get();
    c.nic.window = weir_sim::config::WindowConfig::Bytes(Bytes::new(payload));
    let out = run(&star(3, "1us"), &[flow(0, 1, 2 * payload)], &c);
    let s = full(&c);
    let ack = (c.nic.ack + c.link.overhead).get() * 80;
    let control = s + 2_000_000 + 2 * ack + 2_000_000;
    assert_eq!(parts(&blame(&out)[0]), [2 * s + 2_000_000, s, control, 0, 0, 0, 0, 0, 0]);
}

/// The link of the receiver is down while the only packet arrives: it is lost, and the timeout
/// sends it again. From the end of its first transmission to its second one the flow recovers.
#[test]
fn a_loss_costs_the_time_until_the_packet_is_sent_again() {
    let mut c = blaming("pfc");
    let payload = c.nic.payload.get();
    let topology = star(3, "1us");
    c.nic.timeout = Some(Time::from_us(100));
    c.link.bit_error_rate = 0.0;
    let link = topology.port(NodeId(1), PortId(0)).link;
    c.failures = vec![weir_sim::config::LinkFailure {
        link,
        down: Time::from_ns(500),
        up: Some(Time::from_us(20)),
    }];
    let out = run(&topology, &[flow(0, 1, payload)], &c);
    let f = &out.flows[0];
    assert!(f.lost() > 0 && f.retransmitted() > 0, "{f:?}");
    let s = full(&c);
    let b = &blame(&out)[0];
    let [wire, source, control, recovery, ..] = parts(b);
    assert_eq!((wire, source, control), (2 * s + 2_000_000, s, 0));
    // the timer starts with each transmission
    assert_eq!(recovery % 100_000_000, 100_000_000 - s, "{recovery}");
    assert_eq!(f.fct().map(Time::as_ps), Some(wire + source + recovery));
}

/// The holds of a flow, by node.
fn holds(b: &FlowBlame) -> Vec<&Waited> {
    b.waited.iter().filter(|w| w.wait == Wait::Held).collect()
}

/// Eight hosts send to one under PFC: each is paused again and again. What blame says of a host's
/// holds is what the meters of flows say, as long as the deciding packet had not been sent.
#[test]
fn a_host_that_is_paused_is_held_for_that_long() {
    let c = blaming("pfc");
    let flows: Vec<FlowSpec> = (0..8).map(|src| flow(src, 8, 300_000)).collect();
    let out = run(&star(9, "1us"), &flows, &c);
    let mut some = false;
    for (b, f) in blame(&out).iter().zip(&out.flows) {
        let at_host = f.held().iter().filter(|h| h.node == f.src()).map(|h| h.time).sum::<Time>();
        assert_eq!(b.total(Wait::Held), at_host, "{b:#?}");
        assert!(holds(b).iter().all(|w| w.held == Some(Target::Priority(DATA))));
        some |= at_host > Time::ZERO;
    }
    assert!(some, "nothing was paused");
}

/// In which order a scenario lists its flows does not matter.
#[test]
fn the_order_of_the_list_changes_nothing() {
    let mut flows: Vec<FlowSpec> = (0..8).map(|src| flow(src, 8, 300_000)).collect();
    let there = run(&star(9, "1us"), &flows, &blaming("bfc")).blame;
    flows.reverse();
    assert!(there.is_some() && there == run(&star(9, "1us"), &flows, &blaming("bfc")).blame);
}

/// One, two and four threads find the same.
#[test]
fn threads_change_nothing() {
    use weir_sim::config::EngineConfig;
    let flows: Vec<FlowSpec> = (0..8).map(|src| flow(src, 8, 300_000)).collect();
    let found = [1, 2, 4].map(|threads| {
        let mut c = blaming("pfc");
        c.engine = EngineConfig::Window { threads };
        run(&star(9, "1us"), &flows, &c).blame
    });
    assert!(found[0].is_some() && found[0] == found[1] && found[1] == found[2]);
}

/// Without it a run is the same, and nothing is kept.
#[test]
fn blame_changes_no_result() {
    let flows: Vec<FlowSpec> = (0..8).map(|src| flow(src, 8, 300_000)).collect();
    let with = run(&star(9, "1us"), &flows, &blaming("pfc"));
    let without = run(&star(9, "1us"), &flows, &config("pfc"));
    assert_eq!(
        (with.digest, with.totals, with.ports),
        (without.digest, without.totals, without.ports)
    );
    assert_eq!(without.blame, None);
}
