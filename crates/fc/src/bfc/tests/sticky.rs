//! How long an idle flow keeps its queue, to the picosecond.

use super::*;

/// Flow 0 is idle after its packets at 0 and at 1 us: it counts up to and including 7 us, when the
/// record of its first idleness, 6 us, is old. Its queue is held by then, so that no new
/// flow would take it.
#[test]
fn the_last_instant_of_the_sticky_period_still_counts() {
    let mut b = bench(&[]);
    let mut q = QueueId(0);
    for us in [0, 1] {
        b.now = Time::from_us(us);
        q = send(&mut b, 0, 1, 0);
        b.depart(OUT, q).unwrap();
    }
    b.control(OUT, &state(true, q.0));
    b.now = Time::from_us(7);
    assert_eq!(send(&mut b, 0, 1, 0), q);
}

/// Flow 0 came by a port with a round trip of 20 us and is remembered for 60 us; flow 1, idle after
/// it, came by one of 2 us. At 10 us its record is still behind that of flow 0, but its time is
/// over.
#[test]
fn an_entry_past_its_time_is_not_used_although_it_is_still_there() {
    let values = given(&INFO, &[]);
    let mut b = Bench::around(3, "75KB", "45KB", |setup| {
        let mut ports = setup.ports.to_vec();
        (ports[0].delay, ports[2].delay) = (Time::from_us(1), Time::from_us(10));
        Bfc::new(&values, &NodeSetup { ports: &ports, ..setup.clone() }).unwrap()
    });
    let send = |b: &mut Bench<Bfc>, from, k| {
        let p = b.packet(from, 1000).flow(9, k, 10);
        b.arrive(p, OUT)
    };
    for (from, k) in [(UP2, 0), (UP, 1)] {
        let q = send(&mut b, from, k);
        b.depart(OUT, q).unwrap();
        b.control(OUT, &state(true, q.0));
    }
    assert_eq!(b.scheme().state_size().tables[0], ("flow table", 16));
    b.now = Time::from_us(10);
    let (old, new) = (send(&mut b, UP2, 0), send(&mut b, UP, 1));
    assert!(b.is_held(OUT, old), "flow 0 goes on in its queue");
    assert!(!b.is_held(OUT, new), "flow 1 takes one that is open");
}

#[test]
fn a_fixed_draw_decides_where_the_search_for_a_queue_starts() {
    let values = given(&INFO, &[("queues", "4")]);
    let mut b = Bench::around(3, "75KB", "45KB", |setup| Bfc::new(&values, setup).unwrap());
    b.scheme_mut().fix_draws(6);
    // 6 mod 4, and round from there
    let queues = [0, 1, 2, 3].map(|k| b.arrive(b.packet(UP, 1000).flow(9, k, 10), OUT).0 - FIRST);
    assert_eq!(queues, [2, 3, 0, 1]);
}
