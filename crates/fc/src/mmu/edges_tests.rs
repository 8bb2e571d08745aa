//! The edges of admission: the last byte, classes outside the thresholds, headroom in use while
//! there is shared memory again.

use super::*;

const P: Priority = Priority::ALL[3];
const LOSSY: Priority = Priority::ALL[5];
const EXEMPT: Priority = Priority::ALL[7];
const IN: PortId = PortId(0);
const IN2: PortId = PortId(1);

fn memory(buffer: u64, thresholds: Thresholds) -> Mmu {
    let (lossless, exempt) = (PrioritySet::only(P), PrioritySet::only(EXEMPT));
    let buffer = Bytes::new(buffer);
    Mmu::new(MmuConfig { buffer, thresholds, lossless, exempt }, 2)
}

/// Two ports with `headroom` each and no reserve; alpha = 1.
fn dynamic(buffer: u64, headroom: u64) -> Mmu {
    memory(
        buffer,
        Thresholds::Dynamic {
            reserve: Bytes::ZERO,
            resume_offset: Bytes::ZERO,
            headroom: vec![Bytes::new(headroom); 2],
            shift: vec![0; 2],
        },
    )
}

/// Bytes in use of the shared pool, and of the headroom of (`IN`, `priority`).
fn in_use(m: &Mmu, priority: Priority) -> (u64, u64) {
    (m.shared_used.get(), m.headroom_used[slot(IN, priority)].get())
}

#[test]
fn the_exempt_class_passes_a_full_buffer() {
    let mut m = memory(100, Thresholds::Pool);
    m.admit(IN, P, 100).unwrap();
    assert_eq!(m.admit(IN, LOSSY, 1), Err(Refusal::BufferFull));
    m.admit(IN, EXEMPT, 64).unwrap();
    assert_eq!((m.used(), m.peak()), (Bytes::new(164), Bytes::new(164)));
}

#[test]
fn the_peak_is_the_most_ever_stored_at_once() {
    let mut m = memory(1000, Thresholds::Pool);
    m.admit(IN, P, 60).unwrap();
    m.admit(IN2, P, 40).unwrap();
    m.release(IN, P, 60);
    assert_eq!(m.peak(), Bytes::new(100));
    m.admit(IN, P, 50).unwrap();
    assert_eq!(m.peak(), Bytes::new(100), "90 B are less");
    m.set_quiet(IN, P, Bytes::ZERO..Bytes::MAX);
    assert!(m.transit_quietly(IN, P, 9) && m.peak() == Bytes::new(100));
    assert!(m.transit_quietly(IN, P, 11) && m.peak() == Bytes::new(101));
}

/// 1200 B with 100 B of headroom twice share 1000 B. Lossy packets count against the whole only.
#[test]
fn a_lossy_class_takes_nothing_from_the_shared_pool() {
    let mut m = dynamic(1200, 100);
    m.admit(IN, LOSSY, 1100).unwrap();
    assert_eq!(in_use(&m, LOSSY), (0, 0));
    m.audit().unwrap();
    m.admit(IN, LOSSY, 100).unwrap();
    assert_eq!(m.used(), Bytes::new(1200), "up to the last byte");
    assert_eq!(m.admit(IN, LOSSY, 1), Err(Refusal::BufferFull));
    m.release(IN, LOSSY, 1200);
    m.audit().unwrap();
    assert_eq!(m.shared_used, Bytes::ZERO);
}

/// The same memory: a packet larger than the headroom may fill the shared part, not pass it.
#[test]
fn the_shared_pool_is_given_away_to_the_last_byte() {
    let mut m = dynamic(1200, 100);
    assert_eq!(m.admit(IN, P, 1001), Err(Refusal::HeadroomExceeded));
    m.admit(IN, P, 1000).unwrap();
    assert_eq!(in_use(&m, P), (1000, 0));
}

/// 4000 B with 1000 B of headroom twice share 2000 B. Port 0 takes 500 B and port 1 the other 1500
/// B, so that 400 B more of port 0 go to its headroom. When port 1 is empty again, 1500 B are free.
#[test]
fn headroom_in_use_pauses_although_there_is_shared_memory_again() {
    let mut m = dynamic(4000, 1000);
    m.admit(IN, P, 500).unwrap();
    m.admit(IN2, P, 1500).unwrap();
    m.admit(IN, P, 400).unwrap();
    assert_eq!(in_use(&m, P), (2000, 400));
    m.release(IN2, P, 1500);
    assert!(m.should_pause(IN, P), "500 B are below the threshold, but headroom is in use");
    assert!(!m.may_resume(IN, P));
    // 500 + 300 B are below 1500 B: what comes now is shared
    m.admit(IN, P, 300).unwrap();
    assert_eq!(in_use(&m, P), (800, 400));
    m.audit().unwrap();
}

#[test]
fn an_ingress_is_quiet_below_what_was_asked_for_and_never_beyond_its_limit() {
    let (xoff, xon) = (Bytes::new(3000), Bytes::ZERO);
    let mut m = memory(5000, Thresholds::uniform(xoff, xon, Bytes::new(4000), 2));
    assert_eq!(m.pause_threshold(IN, P), xoff);
    assert_eq!(m.pause_threshold(IN, LOSSY), Bytes::MAX);
    assert!(
        !m.admit_quietly(IN, P, 1) && !m.transit_quietly(IN, P, 1),
        "at first the scheme is told of everything"
    );
    m.set_quiet(IN, P, Bytes::ZERO..Bytes::new(3000));
    assert!(!m.transit_quietly(IN, P, 3000) && m.transit_quietly(IN, P, 2999));
    assert_eq!((m.used(), m.peak()), (Bytes::ZERO, Bytes::new(2999)));
    assert!(!m.admit_quietly(IN, P, 3000) && m.admit_quietly(IN, P, 2999));
    assert_eq!((m.q_in(IN, P), m.used()), (Bytes::new(2999), Bytes::new(2999)));
    assert!(!m.admit_quietly(IN, P, 1));
    m.admit(IN, P, 1).unwrap();
    assert!(!m.release(IN, P, 1), "it held as much as it takes to be heard");
    assert!(m.release(IN, P, 1));
    m.clear_quiet(IN, P);
    assert!(!m.release(IN, P, 1) && !m.admit_quietly(IN, P, 1));
    m.set_quiet(IN, P, Bytes::ZERO..Bytes::MAX);
    assert!(m.admit_quietly(IN, P, 1002) && !m.transit_quietly(IN, P, 1), "the limit");
    // 3999 B, and everybody wants to hear when 3000 B are left
    m.set_quiet(IN, P, Bytes::new(3001)..Bytes::MAX);
    assert!(m.release(IN, P, 998) && !m.release(IN, P, 1));
    assert!(!m.transit_quietly(IN, P, 100) && m.admit_quietly(IN, P, 100), "it would leave again");
    assert!(m.transit_quietly(IN, P, 100));
    m.audit().unwrap();
}

#[test]
fn a_full_buffer_takes_nothing_quietly() {
    let mut m = memory(1000, Thresholds::Pool);
    for port in [PortId(0), PortId(1)] {
        m.set_quiet(port, P, Bytes::ZERO..Bytes::MAX);
    }
    assert_eq!(m.pause_threshold(IN, P), Bytes::MAX, "there is none");
    assert!(m.admit_quietly(PortId(0), P, 600));
    assert!(!m.admit_quietly(PortId(1), P, 401) && !m.transit_quietly(PortId(1), P, 401));
    assert!(m.transit_quietly(PortId(1), P, 400) && m.admit_quietly(PortId(1), P, 400));
    assert_eq!(m.peak(), Bytes::new(1000));
}

/// What is exempt may fill the buffer beyond its size: that is no room for others.
#[test]
fn what_the_exempt_class_has_taken_is_no_measure_for_others() {
    let mut m = memory(1000, Thresholds::Pool);
    m.set_quiet(IN, P, Bytes::ZERO..Bytes::MAX);
    assert!(m.admit_quietly(IN, P, 1000));
    m.admit(IN, EXEMPT, 500).unwrap();
    m.release(IN, P, 1000);
    assert_eq!(m.peak(), Bytes::new(1500));
    assert!(!m.admit_quietly(IN, P, 501) && !m.transit_quietly(IN, P, 501));
    assert!(m.transit_quietly(IN, P, 500) && m.admit_quietly(IN, P, 500));
}

#[test]
fn a_threshold_that_moves_may_be_anywhere() {
    let mut m = dynamic(1200, 100);
    assert_eq!(m.pause_threshold(IN, P), Bytes::ZERO);
    assert_eq!(m.pause_threshold(IN, EXEMPT), Bytes::MAX, "nobody pauses it");
    m.set_quiet(IN, P, Bytes::ZERO..Bytes::MAX);
    m.set_quiet(IN, EXEMPT, Bytes::ZERO..Bytes::MAX);
    assert!(!m.admit_quietly(IN, P, 1) && !m.transit_quietly(IN, P, 1), "it has books of its own");
    assert!(m.transit_quietly(IN, EXEMPT, 1) && m.admit_quietly(IN, EXEMPT, 1));
    assert!(m.release(IN, EXEMPT, 1));
}

#[test]
fn books_that_do_not_add_up_are_reported() {
    let mut m = dynamic(1200, 100);
    m.admit(IN, P, 600).unwrap();
    m.used += Bytes::new(1);
    assert!(m.audit().unwrap_err().contains("add up to 600 B, the buffer to 601 B"));
    m.used -= Bytes::new(1);
    m.shared_used -= Bytes::new(1);
    assert!(m.audit().unwrap_err().contains("use 600 B of shared memory, the pool counts 599 B"));
}
