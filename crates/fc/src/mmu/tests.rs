use super::*;
use proptest::prelude::*;

const P: Priority = Priority::ALL[3];
const IN: PortId = PortId(0);

fn static_mmu(limit: u64) -> Mmu {
    let thresholds = Thresholds::uniform(Bytes::new(3000), Bytes::new(1500), Bytes::new(limit), 2);
    let config = MmuConfig {
        buffer: Bytes::MAX,
        thresholds,
        lossless: PrioritySet::from_bits(1 << 3),
        exempt: PrioritySet::from_bits(1 << 7),
    };
    Mmu::new(config, 2)
}

fn dynamic(buffer: u64, reserve: u64, headroom: u64, shift: i8) -> Mmu {
    let thresholds = Thresholds::Dynamic {
        reserve: Bytes::new(reserve),
        resume_offset: Bytes::new(300),
        headroom: vec![Bytes::new(headroom); 2],
        shift: vec![shift; 2],
    };
    let config = MmuConfig {
        buffer: Bytes::new(buffer),
        thresholds,
        lossless: PrioritySet::from_bits(1 << 3),
        exempt: PrioritySet::from_bits(1 << 7),
    };
    Mmu::new(config, 2)
}

#[test]
fn static_thresholds_include_their_ends() {
    let mut m = static_mmu(4000);
    m.admit(IN, P, 2999).unwrap();
    assert!(!m.should_pause(IN, P));
    m.admit(IN, P, 1).unwrap();
    assert!(m.should_pause(IN, P));
    m.release(IN, P, 1499);
    assert!(!m.may_resume(IN, P));
    m.release(IN, P, 1);
    assert!(m.may_resume(IN, P));
}

#[test]
fn the_limit_refuses_and_the_exempt_class_passes() {
    let mut m = static_mmu(4000);
    m.admit(IN, P, 4000).unwrap();
    assert_eq!(m.admit(IN, P, 1), Err(Refusal::HeadroomExceeded));
    // another port has its own account
    m.admit(PortId(1), P, 1).unwrap();
    m.admit(IN, Priority::ALL[7], 64).unwrap();
    assert_eq!(m.used(), Bytes::new(4065));
}

#[test]
fn a_pool_drops_at_its_end() {
    let config = MmuConfig {
        buffer: Bytes::new(100),
        thresholds: Thresholds::Pool,
        lossless: PrioritySet::EMPTY,
        exempt: PrioritySet::EMPTY,
    };
    let mut m = Mmu::new(config, 1);
    assert_eq!(m.admit(IN, P, 101), Err(Refusal::BufferFull));
    m.admit(IN, P, 100).unwrap();
    assert_eq!(m.admit(IN, P, 1), Err(Refusal::BufferFull));
    m.release(IN, P, 100);
    assert_eq!((m.used(), m.peak()), (Bytes::ZERO, Bytes::new(100)));
}

/// With alpha above 1 the threshold is more than what is left: a packet that does not fit into the
/// shared memory is stored in headroom, and the memory promised to others stays free.
#[test]
fn an_alpha_above_one_never_takes_more_than_the_shared_memory() {
    // two ports with 3000 B of headroom and no reserve leave S = 4000 of 10 000; alpha = 8
    let mut m = dynamic(10_000, 0, 3000, -3);
    m.admit(IN, P, 1500).unwrap();
    m.admit(IN, P, 1500).unwrap();
    assert!(!m.should_pause(IN, P), "beyond 3000 < T = 8 x 1000");
    // 4500 <= 8000, but only 1000 are left: headroom
    m.admit(IN, P, 1500).unwrap();
    assert!(m.should_pause(IN, P));
    m.admit(IN, P, 1500).unwrap();
    assert_eq!(m.admit(IN, P, 1500), Err(Refusal::HeadroomExceeded));
    // all of the headroom of the other port is there: 9000 of 10 000 are in use then
    m.admit(PortId(1), P, 1500).unwrap();
    m.admit(PortId(1), P, 1500).unwrap();
    assert_eq!(m.admit(PortId(1), P, 1500), Err(Refusal::BufferFull));
    m.audit().unwrap();
}

/// Buffer 10 000, two ports with reserve 1000 and headroom 2000 leave S = 4000 shared;
/// alpha = 1/2.
#[test]
fn dynamic_admission_walks_through_reserve_shared_and_headroom() {
    let mut m = dynamic(10_000, 1000, 2000, 1);
    // up to the reserve: nothing shared
    m.admit(IN, P, 1000).unwrap();
    assert!(!m.should_pause(IN, P), "beyond 0 < T 2000");
    // 1000 beyond the reserve: n - reserve = 1000 <= T = 2000, shared
    m.admit(IN, P, 1000).unwrap();
    // T = (4000 - 1000)/2 = 1500, beyond = 1000
    assert!(!m.should_pause(IN, P));
    // 500 more: n - reserve = 1500 <= 1500, shared; T = 1250, beyond = 1500: pause
    m.admit(IN, P, 500).unwrap();
    assert!(m.should_pause(IN, P));
    // from here on into the headroom, 2000 bytes of it
    m.admit(IN, P, 1500).unwrap();
    m.admit(IN, P, 500).unwrap();
    assert_eq!(m.admit(IN, P, 1), Err(Refusal::HeadroomExceeded));
    m.audit().unwrap();
    // departures empty the headroom first
    m.release(IN, P, 1999);
    assert!(!m.may_resume(IN, P), "a byte is left in the headroom");
    m.release(IN, P, 1);
    // beyond 1500 + offset 300 > T 1250
    assert!(!m.may_resume(IN, P));
    m.release(IN, P, 200);
    // shared_used 1300: T = 1350; 1300 + 300 > 1350
    assert!(!m.may_resume(IN, P));
    m.release(IN, P, 200);
    // shared_used 1100: T = 1450; 1100 + 300 <= 1450
    assert!(m.may_resume(IN, P));
    m.release(IN, P, 2100);
    m.audit().unwrap();
    assert_eq!(m.used(), Bytes::ZERO);
}

#[test]
#[should_panic(expected = "releases what it holds")]
fn releasing_what_was_never_stored_is_caught() {
    static_mmu(100).release(IN, P, 1);
}

proptest! {
    #[test]
    fn books_balance_whatever_comes_and_goes(
        ops in prop::collection::vec((any::<bool>(), 0u16..2, 60u16..1600), 1..200),
        shift in -3i8..4,
    ) {
        let mut m = dynamic(40_000, 1000, 3000, shift);
        let mut stored: Vec<(PortId, u16)> = Vec::new();
        for (arrive, port, size) in ops {
            if arrive {
                if m.admit(PortId(port), P, size).is_ok() {
                    stored.push((PortId(port), size));
                }
            } else if !stored.is_empty() {
                let (port, size) = stored.remove(0);
                m.release(port, P, size);
            }
            prop_assert_eq!(m.audit(), Ok(()));
            let sum: u64 = stored.iter().map(|&(_, s)| u64::from(s)).sum();
            prop_assert_eq!(m.used().get(), sum);
        }
    }

    /// What is in transit could be stored, pauses as it would then, and leaves no trace.
    #[test]
    fn a_transit_is_an_admission_and_a_release(
        ops in prop::collection::vec((0u8..3, 0u16..2, 60u16..1600), 1..200),
        shift in -3i8..4,
        is_dynamic: bool,
    ) {
        let mut m = if is_dynamic { dynamic(20_000, 1000, 3000, shift) } else { static_mmu(4000) };
        let mut stored: Vec<(PortId, u16)> = Vec::new();
        for (what, port, size) in ops {
            let port = PortId(port);
            if what == 0 && !stored.is_empty() {
                let (port, size) = stored.remove(0);
                m.release(port, P, size);
            } else if what == 1 && m.transit(port, P, size) {
                let pauses = m.would_pause(port, P, size);
                let before = (m.used, m.shared_used, m.headroom_used.clone(), m.peak());
                prop_assert_eq!(m.admit(port, P, size), Ok(()));
                prop_assert_eq!(m.should_pause(port, P), pauses);
                m.release(port, P, size);
                let after = (m.used, m.shared_used, m.headroom_used.clone(), m.peak());
                prop_assert_eq!(before, after);
            } else if m.admit(port, P, size).is_ok() {
                stored.push((port, size));
            }
        }
    }
}

/// The test above is not empty: with room in the shared pool a packet is in transit, with headroom
/// in use it is not.
#[test]
fn headroom_in_use_stands_in_the_way_of_a_transit() {
    let mut m = dynamic(10_000, 1000, 3000, 0);
    assert!(m.transit(IN, P, 1000) && !m.would_pause(IN, P, 1000));
    assert!(m.transit(IN, P, 1500) && m.would_pause(IN, P, 3000));
    while m.headroom_used[3] == Bytes::ZERO {
        m.admit(IN, P, 1000).unwrap();
    }
    assert!(!m.transit(IN, P, 64));
    assert!(m.transit(IN, Priority::ALL[0], 64), "it counts in no pool");
}

/// A port of 10 Gb/s beside one of 40 Gb/s: each pauses, resumes and is full where its own speed
/// says so.
#[test]
fn each_port_has_thresholds_of_its_own() {
    let of = |xoff, xon, limit| PortThresholds {
        xoff: Bytes::new(xoff),
        xon: Bytes::new(xon),
        limit: Bytes::new(limit),
    };
    let thresholds = Thresholds::Static(vec![of(3000, 1500, 4000), of(12_000, 6000, 16_000)]);
    let (lossless, exempt) = (PrioritySet::from_bits(1 << 3), PrioritySet::from_bits(1 << 7));
    let config = MmuConfig { buffer: Bytes::MAX, thresholds, lossless, exempt };
    let mut m = Mmu::new(config, 2);
    for (port, xoff, xon, limit) in [(0, 3000, 1500, 4000), (1, 12_000, 6000, 16_000)] {
        let port = PortId(port);
        m.admit(port, P, xoff - 1).unwrap();
        assert!(!m.should_pause(port, P));
        m.admit(port, P, 1).unwrap();
        assert!(m.should_pause(port, P));
        m.admit(port, P, limit - xoff).unwrap();
        assert_eq!(m.admit(port, P, 1), Err(Refusal::HeadroomExceeded));
        m.release(port, P, limit - xon - 1);
        assert!(!m.may_resume(port, P));
        m.release(port, P, 1);
        assert!(m.may_resume(port, P));
        let ends = (m.pause_threshold(port, P), m.resume_threshold(port, P));
        assert_eq!(ends, (Bytes::new(xoff.into()), Bytes::new(xon.into())));
    }
}

/// Two ports with 1000 B of headroom each share a pool of 1500 B: of 10 000 B, 8500 B are shared.
/// With alpha 1/2 the first port may hold 3000 B of them: with 2500 B the threshold is 3000 B. Then
/// it uses its headroom. The second one gets 2000 B of what is left, and then of the pool.
#[test]
fn a_shared_headroom_pool_leaves_more_to_share_and_is_full_before_the_headrooms_are() {
    let own = dynamic(10_000, 0, 1000, 1);
    let mut m = dynamic(10_000, 0, 1000, 1).sharing_headroom(Some(Bytes::new(1500)));
    assert_eq!((own.shared, m.shared), (Bytes::new(8000), Bytes::new(8500)));
    let other = PortId(1);
    let fill = |m: &mut Mmu, port| (0..100).take_while(|_| m.admit(port, P, 500).is_ok()).count();
    let first = fill(&mut m, IN);
    assert_eq!(m.headroom_used[slot(IN, P)], Bytes::new(1000), "{first} packets");
    fill(&mut m, other);
    assert_eq!(m.headroom_used[slot(other, P)], Bytes::new(500), "the rest of the pool");
    assert_eq!(m.admit(other, P, 500), Err(Refusal::HeadroomExceeded));
    m.audit().unwrap();
    // what one gives back the other may use
    (0..first).for_each(|_| _ = m.release(IN, P, 500));
    assert_eq!(m.shared_headroom.used, Bytes::new(500));
    m.audit().unwrap();
}

/// In cells of 200 B a packet of 201 B takes two and one of 1 B takes one; the ingress pauses at
/// 3000 B, the fifteenth cell, and is full at 4000 B.
#[test]
fn cells_are_charged_whole_and_given_back_whole() {
    let mut m = static_mmu(4000).in_cells(Cell::new(Bytes::new(200)));
    m.set_quiet(IN, P, Bytes::ZERO..Bytes::MAX);
    assert!(!m.admit_quietly(IN, P, 1) && !m.transit_quietly(IN, P, 1), "no ingress is quiet");
    assert!(!m.transit(IN, P, 1));
    (0..7).for_each(|_| m.admit(IN, P, 201).unwrap());
    assert_eq!((m.q_in(IN, P), m.used()), (Bytes::new(2800), Bytes::new(2800)));
    assert!(!m.should_pause(IN, P));
    m.admit(IN, P, 1).unwrap();
    assert!(m.should_pause(IN, P));
    m.admit(IN, P, 1000).unwrap();
    assert_eq!(m.admit(IN, P, 1), Err(Refusal::HeadroomExceeded));
    m.audit().unwrap();
    m.release(IN, P, 1000);
    m.release(IN, P, 1);
    (0..7).for_each(|_| _ = m.release(IN, P, 201));
    assert_eq!((m.used(), m.peak()), (Bytes::ZERO, Bytes::new(4000)));
    m.audit().unwrap();
}

/// Dynamic thresholds in cells: of 5000 B, 4000 B are shared. With alpha 1 a port may hold 2000 B:
/// ten cells of 200 B, whether packets have 150 B or 200 B.
#[test]
fn dynamic_thresholds_are_compared_with_cells() {
    for size in [150, 200] {
        let mut m = dynamic(5000, 0, 500, 0).in_cells(Cell::new(Bytes::new(200)));
        let shared =
            (0..100).take_while(|_| !m.should_pause(IN, P) && m.admit(IN, P, size).is_ok());
        assert_eq!(shared.count(), 10, "packets of {size} B");
        m.audit().unwrap();
        (0..10).for_each(|_| _ = m.release(IN, P, size));
        assert_eq!((m.used(), m.shared_used), (Bytes::ZERO, Bytes::ZERO));
    }
}

proptest! {
    /// No frames that fit into so many bytes of the wire take more memory than is computed.
    #[test]
    fn no_frames_take_more_cells_than_the_worst_case(
        cell in 1u64..2000,
        smallest in 1u64..500,
        frames in prop::collection::vec(0u64..3000, 1..40),
        overhead in 0u64..30,
    ) {
        let cell = Cell::new(Bytes::new(cell)).unwrap();
        let frames: Vec<Bytes> = frames.iter().map(|f| Bytes::new(smallest + f)).collect();
        let wire: Bytes = frames.iter().map(|f| *f + Bytes::new(overhead)).sum();
        let stored: Bytes = frames.iter().map(|f| cell.stored(*f)).sum();
        let most = cell.most(wire, Bytes::new(smallest), Bytes::new(overhead));
        prop_assert!(stored <= most, "{stored} of {frames:?}, at most {most}");
        prop_assert!(most >= wire);
    }
}

fn egress(limit: u64, lossless: u64, share: Option<(i8, u64)>) -> EgressThresholds {
    let share = share.map(|(shift, pool)| EgressShare { shift, pool: Bytes::new(pool) });
    EgressThresholds { limit: Bytes::new(limit), lossless: Bytes::new(lossless), share }
}

/// alpha 1/2 of a pool of 10 000 B: the first 4000 B of lossy priorities leave 3000 B to each
/// queue. Lossless packets and ACKs count in no pool.
#[test]
fn the_egress_threshold_of_lossy_priorities_follows_what_they_leave_of_the_pool() {
    let lossy = Priority::ALL[1];
    let ack = Priority::ALL[7];
    let mut m = static_mmu(9000).bounding_egress(Some(egress(4500, 7000, Some((1, 10_000)))));
    assert_eq!(m.egress_threshold(lossy), Bytes::new(4500), "the fixed limit is less");
    m.set_quiet(IN, lossy, Bytes::ZERO..Bytes::MAX);
    assert!(!m.admit_quietly(IN, lossy, 100), "it must be counted");
    m.admit(IN, lossy, 1000).unwrap();
    m.admit(PortId(1), lossy, 3000).unwrap();
    m.admit(IN, P, 5000).unwrap();
    m.admit(IN, ack, 64).unwrap();
    assert_eq!(m.egress_threshold(lossy), Bytes::new(3000));
    assert_eq!((m.egress_threshold(P), m.egress_threshold(ack)), (Bytes::new(7000), Bytes::MAX));
    m.audit().unwrap();
    m.release(PortId(1), lossy, 3000);
    m.release(IN, lossy, 1000);
    assert_eq!(m.egress_threshold(lossy), Bytes::new(4500));
    m.audit().unwrap();
}

#[test]
fn without_thresholds_at_the_egress_nothing_is_limited_and_nothing_is_counted() {
    let m = static_mmu(4000);
    assert_eq!(m.egress_threshold(P), Bytes::MAX);
    assert!(!m.release_has_rules && !m.admission_has_rules);
    let fixed = static_mmu(4000).bounding_egress(Some(egress(1000, 2000, None)));
    assert_eq!(fixed.egress_threshold(Priority::ALL[0]), Bytes::new(1000));
    assert!(!fixed.release_has_rules, "a fixed limit needs no count");
}
