use super::*;
use crate::chain::test_packet;
use crate::engine::partition::Partition;
use proptest::prelude::*;
use weir_net::build;

#[test]
fn a_frame_arrives_after_its_serialisation_and_the_cable() {
    let params = build::star::Params { hosts: 1, ..Default::default() };
    let topology = build::star::build(&params).unwrap();
    let nodes = [(0..2).map(NodeId).collect()];
    let numbers = WireNumbers::new(&topology, &nodes);
    let mut wires = Wires::new(&topology, &nodes, &numbers, 0);
    let wire = numbers.at_port(NodeId(1), 0);
    let mut tx = Transmitter::new(wire, Rate::from_gbps(40), Time::from_ns(20), Bytes::new(20));
    tx.send(Time::from_ns(100), &test_packet(0, 1518), &mut wires);
    // (1518 + 20) B at 200 ps/B = 307.6 ns
    assert_eq!(tx.busy_until, Time::from_ps(407_600));
    assert_eq!(wires.head(wire), Time::from_ps(427_600));
    assert_eq!(wires.agenda.next(NodeId(1)), Time::from_ps(427_600));
}

#[test]
fn outages_that_overlap_or_touch_are_one() {
    let mut outages = Outages::default();
    let ns = Time::from_ns;
    for (down, up) in [(30, 50), (10, 20), (15, 30), (12, 14), (70, 80), (60, 60)] {
        outages.add(ns(down), Some(ns(up)));
    }
    assert_eq!(outages.iter().collect::<Vec<_>>(), [(ns(10), ns(50)), (ns(70), ns(80))]);
    outages.add(ns(75), None);
    assert_eq!(outages.iter().last(), Some((ns(70), Time::NEVER)));
    assert!(outages.hit(ns(40), ns(41)) && !outages.hit(ns(50), ns(69)));
}

#[test]
fn odd_rates_round_up_to_the_picosecond() {
    let tx = Transmitter::new(WireId(0), Rate::from_gbps(3), Time::ZERO, Bytes::ZERO);
    // 100 B * 8000/3 ps = 266 666.67 ps
    assert_eq!(tx.serialisation(100), Time::from_ps(266_667));
}

#[test]
fn an_outage_takes_what_is_in_flight_during_any_part_of_it() {
    let mut o = Outages::default();
    o.add(Time::from_ns(10), Some(Time::from_ns(20)));
    let hit = |a, b| o.hit(Time::from_ns(a), Time::from_ns(b));
    assert_eq!(
        [hit(0, 9), hit(0, 10), hit(12, 13), hit(19, 30), hit(20, 30)],
        [false, true, true, true, false]
    );
}

fn star(hosts: u32) -> Topology {
    build::star::build(&build::star::Params { hosts, ..Default::default() }).unwrap()
}

proptest! {
    #[test]
    fn arrivals_come_in_the_order_of_time_then_port(
        sends in prop::collection::vec((0u16..70, 1u64..40), 0..120), reopen in 1usize..9,
    ) {
        let topology = star(70);
        let nodes = [(0..71).map(NodeId).collect()];
        let numbers = WireNumbers::new(&topology, &nodes);
        let mut wires = Wires::new(&topology, &nodes, &numbers, 0);
        let hub = NodeId(70);
        let mut clock = [0u64; 70];
        let mut expected = Vec::new();
        for (i, (port, gap)) in sends.into_iter().enumerate() {
            clock[usize::from(port)] += gap;
            let t = clock[usize::from(port)];
            let wire = numbers.at_port(hub, usize::from(port));
            wires.send(wire, Time::from_ps(t), &test_packet(i as u32, 64));
            expected.push((t, port, i as u32));
        }
        expected.sort_unstable();
        let mut inbox = Inbox::new(70);
        wires.open(hub, 70, &mut inbox);
        for (i, (t, port, seq)) in expected.into_iter().enumerate() {
            prop_assert_eq!(inbox.next().as_ps(), t);
            let (from, packet) = wires.take(&mut inbox);
            prop_assert_eq!((from, packet.seq), (usize::from(port), seq));
            if i % reopen == 0 {
                wires.open(hub, 70, &mut inbox);
            }
        }
        prop_assert_eq!(Tournament::or_never(inbox.next()), Time::NEVER);
    }
}

/// Whatever a packet carried at the node it left, it arrives with the port it comes in by and
/// no mark, also from another part, which is told when the first of its mail arrives.
#[test]
fn a_packet_arrives_as_the_far_end_needs_it() {
    let params = build::leaf_spine::Params { spines: 1, leaves: 2, ..Default::default() };
    let topology = build::leaf_spine::build(&params).unwrap();
    let nodes = Partition::new(&topology, 2).parts;
    let numbers = WireNumbers::new(&topology, &nodes);
    let mut parts = [0, 1].map(|p| Wires::new(&topology, &nodes, &numbers, p));
    let (node, port) = (nodes[1][0], 0);
    let wire = numbers.at_port(node, port);
    let used = Packet { ingress: PortId(9), local_tag: 5, ..test_packet(7, 64) };
    let mut mail = Mail::default();
    for t in [30, 40] {
        parts[0].send(wire, Time::from_ps(t), &used);
    }
    assert_eq!(parts[0].hand_over(1, &mut mail), Time::from_ps(30));
    parts[1].take_over(&mut mail);
    assert_eq!(parts[0].hand_over(1, &mut mail), Time::NEVER);
    assert_eq!(parts[1].agenda.next(node), Time::from_ps(30));
    parts[1].send(wire, Time::from_ps(50), &used);
    let mut inbox = Inbox::new(topology.ports(node).len());
    parts[1].open(node, topology.ports(node).len(), &mut inbox);
    for t in [30, 40, 50] {
        assert_eq!(inbox.next(), Time::from_ps(t));
        let (from, packet) = parts[1].take(&mut inbox);
        assert_eq!((from, packet.seq, packet.ingress, packet.local_tag), (0, 7, PortId(0), 0));
    }
}
