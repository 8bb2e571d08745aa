//! The buffer accounting of a shared-memory switch with lossless priorities, in the integer
//! arithmetic of the reference.
//!
//! Every packet is charged to its ingress (port, priority) while it is in the switch: first to a
//! small reserve, then to the shared pool as long as that ingress stays below a dynamic threshold
//! `T = (free shared bytes) >> shift`, then to headroom. Using headroom, or reaching the
//! threshold, pauses the upstream; falling `RESUME_OFFSET` below it with empty headroom resumes.
//! A packet is dropped only if it fits neither headroom nor threshold.
//!
//! All quantities are unsigned 32-bit and wrap, as there: a buffer smaller than the headroom and
//! reserve of its ports has a free pool of almost 4 GiB, and never pauses.

/// Bytes each ingress may hold without touching the shared pool.
pub const RESERVE: u32 = 4096;
/// How far below the threshold an ingress must be to resume.
pub const RESUME_OFFSET: u32 = 3072;
/// Priorities, and queues per port.
pub const QUEUES: usize = 8;

/// What is fixed about a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLimits {
    /// Bytes that may arrive after the pause was sent.
    pub headroom: u32,
    /// The threshold is the free shared pool shifted right by this: 3 is alpha = 1/8.
    pub shift: u32,
}

impl PortLimits {
    /// The limits of a port of `rate` bit/s with `delay_ns` of cable in a network whose NICs run
    /// at `nic_rate`: headroom for three one-way bandwidth-delay products; alpha 1/8, doubled for
    /// every doubling of the rate over the NICs'.
    pub fn new(rate: u64, delay_ns: u64, nic_rate: u64) -> Self {
        let headroom = (rate.wrapping_mul(delay_ns) / 8 / 1_000_000_000).wrapping_mul(3) as u32;
        let (mut shift, mut rate) = (3, rate);
        while rate > nic_rate && shift > 0 {
            shift -= 1;
            rate /= 2;
        }
        Self { headroom, shift }
    }
}

/// What a switch tells its neighbour about a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Not to send.
    Pause,
    /// To go on.
    Resume,
}

/// Counters of one (port, priority).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    /// As ingress: bytes in reserve and shared pool.
    ingress: u32,
    /// As ingress: bytes in headroom.
    headroom: u32,
    /// As egress: bytes waiting.
    egress: u32,
    /// As ingress: the upstream has been told to pause.
    paused: bool,
}

impl Counters {
    #[inline]
    fn shared(&self) -> u32 {
        self.ingress.saturating_sub(RESERVE)
    }
}

/// A port's limits and counters.
#[derive(Clone, Copy, Debug)]
struct Port {
    limits: PortLimits,
    queues: [Counters; QUEUES],
}

/// The buffer of one switch.
#[derive(Clone, Debug)]
pub struct Mmu {
    ports: Vec<Port>,
    /// The shared pool: buffer less headroom and reserve of all ports.
    pool: u32,
    shared_used: u32,
}

impl Mmu {
    /// A switch with `buffer` bytes.
    pub fn new(buffer: u32, limits: Vec<PortLimits>) -> Self {
        let mut pool = buffer;
        for port in &limits {
            pool = pool.wrapping_sub(port.headroom).wrapping_sub(RESERVE);
        }
        let port = |limits| Port { limits, queues: [Counters::default(); QUEUES] };
        Self { ports: limits.into_iter().map(port).collect(), pool, shared_used: 0 }
    }

    /// The present threshold of ingress `port`.
    #[inline]
    pub fn threshold(&self, port: usize) -> u32 {
        self.free_shifted(&self.ports[port])
    }

    #[inline]
    fn free_shifted(&self, port: &Port) -> u32 {
        self.pool.wrapping_sub(self.shared_used) >> port.limits.shift
    }

    /// Bytes of the shared pool in use.
    pub fn shared_used(&self) -> u32 {
        self.shared_used
    }

    /// Whether a packet of `size` bytes may come in, and if so charges it to ingress and egress.
    #[inline]
    pub fn arrive(&mut self, ingress: usize, egress: usize, queue: usize, size: u32) -> bool {
        let threshold = self.threshold(ingress);
        let port = &mut self.ports[ingress];
        let c = &mut port.queues[queue];
        if size.wrapping_add(c.headroom) > port.limits.headroom
            && size.wrapping_add(c.shared()) > threshold
        {
            return false;
        }
        let new = c.ingress.wrapping_add(size);
        if new <= RESERVE {
            c.ingress = new;
        } else if new - RESERVE > threshold {
            c.headroom = c.headroom.wrapping_add(size);
        } else {
            c.ingress = new;
            self.shared_used = self.shared_used.wrapping_add(size.min(new - RESERVE));
        }
        let e = &mut self.ports[egress].queues[queue];
        e.egress = e.egress.wrapping_add(size);
        true
    }

    /// Releases a packet that starts to leave.
    #[inline]
    pub fn depart(&mut self, ingress: usize, egress: usize, queue: usize, size: u32) {
        let c = &mut self.ports[ingress].queues[queue];
        let from_headroom = c.headroom.min(size);
        let rest = size - from_headroom;
        let from_shared = rest.min(c.shared());
        c.headroom -= from_headroom;
        c.ingress = c.ingress.wrapping_sub(rest);
        self.shared_used = self.shared_used.wrapping_sub(from_shared);
        let e = &mut self.ports[egress].queues[queue];
        e.egress = e.egress.wrapping_sub(size);
    }

    /// Whether the upstream of (ingress, queue) should be paused now; to be asked after each
    /// arrival.
    #[inline]
    pub fn should_pause(&self, ingress: usize, queue: usize) -> bool {
        let port = &self.ports[ingress];
        let c = &port.queues[queue];
        !c.paused && (c.headroom > 0 || c.shared() >= self.free_shifted(port))
    }

    /// Whether the upstream of (ingress, queue) should be resumed now; to be asked after each
    /// departure of one of its packets.
    #[inline]
    pub fn should_resume(&self, ingress: usize, queue: usize) -> bool {
        let port = &self.ports[ingress];
        let c = &port.queues[queue];
        let shared = c.shared();
        c.paused
            && c.headroom == 0
            && (shared == 0 || shared.wrapping_add(RESUME_OFFSET) <= self.free_shifted(port))
    }

    /// Notes what the upstream of (ingress, queue) was told.
    pub fn note_told(&mut self, ingress: usize, queue: usize, told: Told) {
        self.ports[ingress].queues[queue].paused = told == Told::Pause;
    }

    /// Bytes that wait in the egress queue.
    #[inline]
    pub fn egress(&self, port: usize, queue: usize) -> u32 {
        self.ports[port].queues[queue].egress
    }

    /// Bytes that wait in all egress queues of the port.
    pub fn egress_total(&self, port: usize) -> u32 {
        self.ports[port].queues.iter().fold(0, |sum, c| sum.wrapping_add(c.egress))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const G: u64 = 1_000_000_000;

    /// Two ports with 3000 B of headroom and a shared pool of 16 000 B: T starts at 2000 B.
    fn small() -> Mmu {
        let port = PortLimits { headroom: 3000, shift: 3 };
        Mmu::new(2 * (3000 + RESERVE) + 16_000, vec![port; 2])
    }

    /// Fills the reserve of (port 0, queue 3) exactly.
    fn fill_reserve(m: &mut Mmu) {
        for _ in 0..4 {
            assert!(m.arrive(0, 1, 3, 1024));
        }
    }

    #[test]
    fn limits_follow_rate_and_delay() {
        let limits = |gbps, ns| PortLimits::new(gbps * G, ns, 100 * G);
        assert_eq!(limits(100, 1000), PortLimits { headroom: 37_500, shift: 3 });
        assert_eq!(limits(400, 1000), PortLimits { headroom: 150_000, shift: 1 });
        // 150G is more than 100G: one halving gets it below
        assert_eq!(limits(150, 1000).shift, 2);
        assert_eq!(limits(6400, 1000).shift, 0);
        assert_eq!(limits(25, 1000).shift, 3);
    }

    #[test]
    fn the_reserve_comes_first_and_is_not_shared() {
        let mut m = small();
        fill_reserve(&mut m);
        assert_eq!((m.shared_used(), m.egress(1, 3)), (0, 4096));
        assert!(!m.should_pause(0, 3));
    }

    #[test]
    fn the_packet_that_crosses_the_reserve_is_charged_in_part() {
        let mut m = small();
        (0..5).for_each(|_| assert!(m.arrive(0, 1, 3, 1000)));
        assert_eq!(m.shared_used(), 904);
    }

    #[test]
    fn the_threshold_falls_with_use_and_the_pause_test_sees_it_after_the_charge() {
        let mut m = small();
        fill_reserve(&mut m);
        m.arrive(0, 1, 3, 1700);
        // T = (16000 - 1700) >> 3 = 1787 > 1700
        assert_eq!(m.threshold(0), 1787);
        assert!(!m.should_pause(0, 3));
        // 87 more: admitted as 1787 <= 1787; now T = 1776 <= 1787
        assert!(m.arrive(0, 1, 3, 87));
        assert!(m.should_pause(0, 3));
        m.note_told(0, 3, Told::Pause);
        assert!(!m.should_pause(0, 3));
    }

    #[test]
    fn beyond_the_threshold_the_whole_packet_goes_to_headroom_then_is_dropped() {
        let mut m = small();
        fill_reserve(&mut m);
        m.arrive(0, 1, 3, 1700);
        assert!(m.arrive(0, 1, 3, 1000));
        assert_eq!(m.shared_used(), 1700);
        assert!(m.should_pause(0, 3));
        assert!(m.arrive(0, 1, 3, 1000));
        assert!(m.arrive(0, 1, 3, 1000));
        assert!(!m.arrive(0, 1, 3, 1000), "3000 B of headroom are full");
        assert_eq!(m.egress(1, 3), 4096 + 1700 + 3000);
    }

    #[test]
    fn headroom_drains_first_and_resume_waits_for_the_offset() {
        let port = PortLimits { headroom: 3000, shift: 0 };
        let mut m = Mmu::new(2 * (3000 + RESERVE) + 10_000, vec![port; 2]);
        // T = 10 000 - used: 5000 shared is where they meet
        fill_reserve(&mut m);
        m.arrive(0, 1, 3, 5000);
        m.arrive(0, 1, 3, 1000);
        assert!(m.should_pause(0, 3), "headroom is in use");
        m.note_told(0, 3, Told::Pause);
        m.depart(0, 1, 3, 1000);
        assert_eq!(m.shared_used(), 5000);
        assert!(!m.should_resume(0, 3), "5000 + 3072 > 5000");
        m.depart(0, 1, 3, 1535);
        // shared 3465 + 3072 = 6537 > T = 6535
        assert!(!m.should_resume(0, 3));
        m.depart(0, 1, 3, 1);
        // 3464 + 3072 = 6536 <= 6536
        assert!(m.should_resume(0, 3));
    }

    #[test]
    fn an_empty_ingress_resumes_whatever_the_threshold() {
        let port = PortLimits { headroom: 3000, shift: 3 };
        let mut m = Mmu::new(2 * (3000 + RESERVE) + 800, vec![port; 2]);
        fill_reserve(&mut m);
        m.arrive(0, 1, 3, 50);
        m.note_told(0, 3, Told::Pause);
        m.depart(0, 1, 3, 50);
        // T = 100 < 3072, but nothing is shared
        assert!(m.should_resume(0, 3));
    }

    #[test]
    fn a_buffer_smaller_than_its_headroom_never_pauses() {
        let port = PortLimits { headroom: 37_500, shift: 3 };
        let mut m = Mmu::new(1000, vec![port; 2]);
        for _ in 0..1000 {
            assert!(m.arrive(0, 1, 3, 1048));
        }
        assert!(!m.should_pause(0, 3));
    }

    proptest! {
        #[test]
        fn what_came_in_and_went_out_leaves_nothing(
            sizes in prop::collection::vec((60u32..1100, 0usize..2, 0usize..2, 1usize..8), 1..200)
        ) {
            let mut m = small();
            let inside: Vec<_> =
                sizes.into_iter().filter(|&(s, i, o, q)| m.arrive(i, o, q, s)).collect();
            for (s, i, o, q) in inside {
                m.depart(i, o, q, s);
            }
            prop_assert_eq!(m.shared_used(), 0);
            for port in &m.ports {
                prop_assert_eq!(port.queues, [Counters::default(); QUEUES]);
            }
        }
    }
}
