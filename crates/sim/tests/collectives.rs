//! The closed forms of all algorithms, to the picosecond, on a star without flow control.
//!
//! Here acknowledgements take no time on the wire, so that messages may have any length. With
//! acknowledgements on the wire the forms hold as long as a rank has sent all its packets before it
//! has to acknowledge others (`jobs.rs`).

mod common;

use common::{DATA, config, star};
use std::sync::Arc;
use weir_coll::collective::{Algorithm, Operation, Plan};
use weir_core::{Bytes, NodeId, Rate, Time};
use weir_sim::{Config, Finish};
use weir_traffic::{Job, Nvlink, Work};

/// Payload of a full packet.
const PAYLOAD: u64 = 1500;
/// Numbers of ranks.
const RANKS: [u32; 6] = [2, 3, 7, 8, 16, 1024];
/// When ranks know of a message.
const DELAYS: [Time; 2] = [Time::ZERO, Time::from_us(1)];

/// No frame takes more of the wire than its own bytes, and acknowledgements have none.
fn free_acks() -> Config {
    let mut config = config("none");
    config.nic.ack = Bytes::ZERO;
    config.link.overhead = Bytes::ZERO;
    config
}

/// The time of a frame with so much payload on a wire of 100 Gb/s: 18 B of headers.
fn frame(payload: u64) -> Time {
    Rate::from_gbps(100).time_for(Bytes::new(payload + 18))
}

/// The time of so many full packets.
fn tx(packets: u64) -> Time {
    frame(PAYLOAD) * packets
}

/// A message of so many full packets alone on a star: two wires and two cables of 1 us.
fn t(packets: u64) -> Time {
    tx(packets + 1) + Time::from_us(2)
}

/// A collective of `packets` full packets in each of `n` blocks.
fn blocks(operation: Operation, n: u32, packets: u64) -> Plan {
    Plan::new(operation, n, Bytes::new(u64::from(n) * packets * PAYLOAD))
}

/// How long it takes, with so many ranks on each host; that is also what it is said to take alone.
fn takes_on(plan: Plan, per_host: u32, delay: Time, nvlink: Nvlink) -> Time {
    let (what, n) = (format!("{plan:?}, {delay}"), plan.ranks);
    let topology = star((n / per_host).max(2), "1us");
    let hosts: Vec<NodeId> =
        (0..n).map(|rank| topology.hosts()[(rank / per_host) as usize]).collect();
    let job = Job::new("job", hosts, Work::Collective(Arc::new(plan)));
    let job = Job { priority: DATA, completion_delay: delay, nvlink, ..job };
    let mut traffic = common::plan(&topology, &[]);
    traffic.add_job(job).expect("a valid job");
    let out = weir_sim::run(&topology, &traffic, &free_acks(), &mut ()).expect("a valid run");
    assert_eq!(out.finish, Finish::Drained, "{what}");
    let end = out.jobs[0].iterations[0].end.expect("it ends");
    assert_eq!(out.jobs[0].ideal, Some(end), "{what}");
    end
}

fn takes(plan: Plan, delay: Time) -> Time {
    takes_on(plan, 1, delay, Nvlink::default())
}

/// Cuts the buffer into messages of any size: none of it is larger than a piece.
fn whole(plan: Plan) -> Plan {
    Plan { chunk: Bytes::new(1 << 40), ..plan }
}

/// Numbers of ranks, each with packets in a message: fewer of them where there are many ranks.
fn sizes(few: u64, many: u64) -> impl Iterator<Item = (u32, u64, Time)> {
    let sizes = RANKS.into_iter().map(move |n| (n, if n > 100 { few } else { many }));
    sizes.flat_map(|(n, packets)| {
        let delays = if n > 100 { &DELAYS[1..] } else { &DELAYS[..] };
        delays.iter().map(move |delay| (n, packets, *delay))
    })
}

#[test]
fn a_ring_takes_its_steps_times_the_time_of_a_block() {
    use Operation::{AllGather, AllReduce, ReduceScatter};
    for (n, packets, delay) in sizes(1, 50) {
        let step = (t(packets) + delay) * (u64::from(n) - 1);
        for (operation, expected) in
            [(AllReduce, step * 2), (ReduceScatter, step), (AllGather, step)]
        {
            let time = takes(blocks(operation, n, packets), delay);
            assert_eq!(time, expected, "{operation:?} of {n} ranks");
        }
    }
}

/// Halves, quarters and so on of the buffer, and back. Of three ranks one gives another all it has
/// first, and gets the result from it in the end. The third does not wait for that, so its half
/// shares the port with what its partner gets. (With seven ranks there are more such meetings, and
/// no closed form.)
#[test]
fn halving_doubling_takes_the_sum_of_its_messages() {
    for (n, packets, delay) in sizes(1, 40).filter(|(n, ..)| *n != 7) {
        let core = 1 << n.ilog2();
        let plan = blocks(Operation::AllReduce, core, packets);
        let plan = Plan { ranks: n, algorithm: Algorithm::HalvingDoubling, ..whole(plan) };
        let parts = (1..=n.ilog2()).map(|i| t(u64::from(core >> i) * packets) + delay);
        let sum: Time = parts.sum();
        let fold = t(u64::from(core) * packets) + delay;
        let folds = match n.is_power_of_two() {
            true => Time::ZERO,
            false => fold * 2 + tx(u64::from(core / 2) * packets),
        };
        assert_eq!(takes(plan.clone(), delay), sum * 2 + folds, "{n} ranks");
        if n.is_power_of_two() {
            for operation in [Operation::ReduceScatter, Operation::AllGather] {
                let plan = Plan { operation, ..plan.clone() };
                assert_eq!(takes(plan, delay), sum, "{operation:?} of {n} ranks");
            }
        }
    }
}

#[test]
fn all_to_all_takes_a_block_per_partner_or_all_at_once() {
    for (n, packets, delay) in sizes(1, 50) {
        let (others, pairwise) = (u64::from(n) - 1, blocks(Operation::AllToAll, n, packets));
        let direct = Plan { algorithm: Algorithm::Direct, ..pairwise.clone() };
        assert_eq!(takes(pairwise, delay), (t(packets) + delay) * others, "{n} ranks");
        assert_eq!(takes(direct, delay), t(packets * others) + delay, "{n} ranks");
    }
}

/// When a rank of a binomial broadcast has the message: it gets it from the rank without its
/// highest bit, which has sent to ranks with lower bits in its place before.
fn binomial(rank: u32, packets: u64, delay: Time) -> Time {
    let Some(top) = rank.checked_ilog2() else { return Time::ZERO };
    let from = rank - (1 << top);
    let before = from.checked_ilog2().map_or(top, |first| top - first - 1);
    binomial(from, packets, delay) + tx(packets) * u64::from(before) + t(packets) + delay
}

/// Of a power of two the last rank gets it last, after log2 n messages one after the other.
#[test]
fn a_binomial_broadcast_takes_a_message_per_bit() {
    for (n, packets, delay) in sizes(60, 60) {
        let plan = whole(Plan::new(Operation::Broadcast, n, Bytes::new(packets * PAYLOAD)));
        let expected = (0..n).map(|rank| binomial(rank, packets, delay)).max();
        let time = takes(Plan { root: n - 1, ..plan }, delay);
        assert_eq!(Some(time), expected, "{n} ranks");
        if n.is_power_of_two() {
            assert_eq!(time, (t(packets) + delay) * u64::from(n.ilog2()), "{n} ranks");
        }
    }
}

/// Five chunks of forty packets: the first goes through all ranks, the others follow.
#[test]
fn a_chain_broadcast_takes_a_chunk_per_rank_and_the_rest_behind_it() {
    for (n, packets, delay) in sizes(40, 40) {
        let plan = Plan {
            algorithm: Algorithm::Chain,
            chunk: Bytes::new(packets * PAYLOAD),
            pipeline: 5,
            ..Plan::new(Operation::Broadcast, n, Bytes::new(5 * packets * PAYLOAD))
        };
        let expected = (t(packets) + delay) * (u64::from(n) - 1) + tx(4 * packets);
        assert_eq!(takes(plan, delay), expected, "{n} ranks");
    }
}

/// One byte of payload.
#[test]
fn a_barrier_takes_a_short_packet_per_round() {
    for (n, _, delay) in sizes(1, 1) {
        let rounds = u64::from(n.next_power_of_two().ilog2());
        let expected = (frame(1) * 2 + Time::from_us(2) + delay) * rounds;
        assert_eq!(takes(Plan::new(Operation::Barrier, n, Bytes::new(1)), delay), expected);
    }
}

/// An inner rank receives from two children at once, and sends to both at once.
#[test]
fn a_tree_takes_twice_the_message_at_inner_ranks() {
    for (n, packets, delay) in sizes(30, 30).filter(|(n, ..)| n.is_power_of_two()) {
        let plan = whole(Plan::new(Operation::AllReduce, n, Bytes::new(packets * PAYLOAD)));
        let inner = u64::from(n.ilog2()) - 1;
        let expected = (t(packets) + delay) * 2 + (t(2 * packets) + delay) * (2 * inner);
        assert_eq!(takes(Plan { algorithm: Algorithm::Tree, ..plan }, delay), expected, "{n}");
    }
}

/// The rails of a server share its port: each step of a rail is as many packets behind the rail
/// before it as a block has.
#[test]
fn a_hierarchical_all_reduce_crosses_the_network_once_per_rail() {
    let nvlink = Nvlink { rate: Rate::from_gbps(3600), latency: Time::from_ns(700) };
    for (n, delay) in RANKS.iter().flat_map(|&n| DELAYS.map(|delay| (n, delay))) {
        // a server of all ranks, one for each, and eight to a server
        for g in [n, 1, 8] {
            if !n.is_multiple_of(g) || g > 16 || (n > 100 && g == 1) {
                continue;
            }
            let servers = n / g;
            let plan = blocks(Operation::AllReduce, n, 1);
            let part = nvlink.rate.time_for(Bytes::new(plan.bytes.get() / u64::from(g)));
            let plan = Plan { algorithm: Algorithm::Hierarchical, gpus: g, ..plan };
            let local = match g {
                1 => Time::ZERO,
                _ => (nvlink.latency + part * (u64::from(g) - 1)) * 2,
            };
            let rails = match servers {
                1 => Time::ZERO,
                _ => (t(1) + delay) * (2 * (u64::from(servers) - 1)) + tx(u64::from(g) - 1),
            };
            assert_eq!(
                takes_on(plan, g, delay, nvlink),
                local + rails,
                "{n} ranks, {g} per server"
            );
        }
    }
}
