//! The memory of a pipelined switch: ingress FIFOs in front of a packet processor, egress queues
//! behind it.
//!
//! A packet is charged to its ingress (port, priority) until the processor has moved it on
//! ([`Mmu::forward`]), and to the egress queue from then on. Its payload is stored once: moving it
//! does not change how much memory is in use.
//!
//! * [`StageLimits::Dedicated`]: every egress queue (port, priority) has its own limit; the ingress
//!   limit is that of the static thresholds.
//! * [`StageLimits::Shared`]: every queue has some dedicated memory and shares a pool beyond it.
//!   What a queue, a port and all ports of a side use beyond dedicated memory is limited, on the
//!   ingress and on the egress side; so is what the whole switch uses.

use super::{Ingress, Mmu, Refusal, Thresholds, slot};
use crate::PortBook;
use std::ops::Range;
use weir_core::{Bytes, PortId, Priority};

/// What bounds the two sides of a pipelined switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageLimits {
    /// Each egress queue has memory of its own.
    Dedicated {
        /// Most bytes of an egress (port, priority).
        egress: Bytes,
    },
    /// Queues share a pool.
    Shared(SharedLimits),
}

/// Limits of a pool that all queues of a pipelined switch share. What a queue *shares* is what it
/// holds beyond its dedicated memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedLimits {
    /// Dedicated memory of each (port, priority).
    pub dedicated: Bytes,
    /// The pool: what the packets in the switch, by the ingress they came in by, may share.
    pub pool: Bytes,
    /// Most that one queue may share.
    pub queue: Bytes,
    /// Most that the queues of one side of a port may share together.
    pub port: Bytes,
    /// Most that all ingress queues may share together.
    pub ingress: Bytes,
    /// Most that all egress queues may share together.
    pub egress: Bytes,
}

/// Which limit keeps a packet out of its egress queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EgressLimit {
    /// That of the queue.
    Queue,
    /// That of the port.
    Port,
    /// That of all egress queues.
    All,
}

impl SharedLimits {
    /// The longest that a queue can be when all others are empty.
    pub fn longest(&self) -> Bytes {
        let shares = [self.queue, self.port, self.ingress, self.egress, self.pool];
        self.dedicated.saturating_add(shares.into_iter().min().unwrap_or_default())
    }

    /// What a queue of `bytes` shares.
    fn share(&self, bytes: Bytes) -> Bytes {
        bytes.saturating_sub(self.dedicated)
    }

    /// Which limit is exceeded if queue `at` of a side had `size` bytes more; `all` is the limit of
    /// the side.
    fn exceeded<Q>(&self, side: &Side<Q>, at: usize, size: Bytes, all: Bytes) -> Option<EgressLimit>
    where
        Q: Fn(usize) -> Bytes,
    {
        let share = |s: usize| self.share((side.queue)(s));
        let grown = self.share((side.queue)(at) + size);
        if grown > self.queue {
            return Some(EgressLimit::Queue);
        }
        let more = grown - share(at);
        let first = at - at % Priority::COUNT;
        let of_port: Bytes = (first..first + Priority::COUNT).map(share).sum();
        if of_port + more > self.port {
            return Some(EgressLimit::Port);
        }
        // nobody shares more than it holds: mostly there is nothing to add up
        let fits =
            side.bytes + size <= all || (0..side.queues).map(share).sum::<Bytes>() + more <= all;
        (!fits).then_some(EgressLimit::All)
    }
}

/// The queues of one side of the processor, by port and priority.
struct Side<Q> {
    /// The bytes of a queue.
    queue: Q,
    /// How many there are.
    queues: usize,
    /// What all hold together.
    bytes: Bytes,
}

/// Accounts beyond the plain ones.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    limits: StageLimits,
    /// Bytes behind the processor.
    forwarded: Bytes,
    /// Per ingress (port, priority): bytes in the switch, on whichever side. Empty without a pool.
    resident: Vec<Bytes>,
    /// What they share of the pool.
    pool_used: Bytes,
    /// Per ingress (port, priority): the range of bytes in front of the processor in which the
    /// scheme needs no notification.
    quiet: Vec<Range<Bytes>>,
}

impl Staged {
    pub(super) fn forwarded(&self) -> Bytes {
        self.forwarded
    }

    /// Whether an ingress FIFO may take `size` bytes more, its own limit aside. `used` is all that
    /// is stored.
    pub(super) fn may_enter(
        &self,
        ingress: &[Ingress],
        used: Bytes,
        s: usize,
        size: Bytes,
    ) -> Result<(), Refusal> {
        let StageLimits::Shared(limits) = &self.limits else { return Ok(()) };
        let more = limits.share(self.resident[s] + size) - limits.share(self.resident[s]);
        if self.pool_used + more > limits.pool {
            return Err(Refusal::BufferFull);
        }
        let side = Side {
            queue: |s: usize| ingress[s].bytes,
            queues: ingress.len(),
            bytes: used - self.forwarded,
        };
        match limits.exceeded(&side, s, size, limits.ingress) {
            Some(_) => Err(Refusal::HeadroomExceeded),
            None => Ok(()),
        }
    }

    pub(super) fn enters(&mut self, s: usize, size: Bytes) {
        if let StageLimits::Shared(limits) = &self.limits {
            let before = limits.share(self.resident[s]);
            self.resident[s] += size;
            self.pool_used += limits.share(self.resident[s]) - before;
        }
    }

    pub(super) fn leaves(&mut self, s: usize, size: Bytes) {
        if let StageLimits::Shared(limits) = &self.limits {
            let before = limits.share(self.resident[s]);
            self.resident[s] -= size;
            self.pool_used -= before - limits.share(self.resident[s]);
        }
        self.forwarded =
            self.forwarded.checked_sub(size).expect("what leaves has passed the processor");
    }

    pub(super) fn audit(&self, used: Bytes) -> Result<(), String> {
        let StageLimits::Shared(limits) = &self.limits else { return Ok(()) };
        let resident: Bytes = self.resident.iter().copied().sum();
        let shared: Bytes = self.resident.iter().map(|&r| limits.share(r)).sum();
        if resident != used {
            let (resident, used) = (resident.get(), used.get());
            return Err(format!("{resident} B came in and stayed, the buffer counts {used} B"));
        }
        if shared != self.pool_used {
            let (shared, counted) = (shared.get(), self.pool_used.get());
            return Err(format!("packets share {shared} B of the pool, which counts {counted} B"));
        }
        Ok(())
    }
}

/// A pipelined switch.
impl Mmu {
    /// Memory of a pipelined switch. The ingress limit of static thresholds is then that of every
    /// priority, lossless or not.
    pub fn in_stages(mut self, limits: StageLimits) -> Self {
        if let Thresholds::Static(of) = &self.config.thresholds {
            for (s, ingress) in self.ingress.iter_mut().enumerate() {
                ingress.limit = of[s / Priority::COUNT].limit;
            }
        }
        let has_pool = matches!(limits, StageLimits::Shared(_));
        let resident = vec![Bytes::ZERO; if has_pool { self.ingress.len() } else { 0 }];
        let quiet = vec![Bytes::ZERO..Bytes::ZERO; self.ingress.len()];
        self.release_has_rules = true;
        self.admission_has_rules |= has_pool;
        let [forwarded, pool_used] = [Bytes::ZERO; 2];
        self.staged = Some(Box::new(Staged { limits, forwarded, resident, pool_used, quiet }));
        self
    }

    /// Which limit keeps `size` bytes out of a queue of `egress`, if one does. `ports` are the
    /// counters of all ports, whose packets have been [forwarded](Self::forward). An exempt
    /// priority has none.
    pub fn egress_full(
        &self,
        ports: &[PortBook],
        egress: PortId,
        priority: Priority,
        size: u16,
    ) -> Option<EgressLimit> {
        let staged = self.staged.as_ref()?;
        if self.config.exempt.contains(priority) {
            return None;
        }
        let size = Bytes::from(size);
        match &staged.limits {
            StageLimits::Dedicated { egress: limit } => {
                let bytes = ports[egress.index()].q_out[priority.index()] + size;
                (bytes > *limit).then_some(EgressLimit::Queue)
            }
            StageLimits::Shared(limits) => {
                let queue = |s: usize| ports[s / Priority::COUNT].q_out[s % Priority::COUNT];
                let queues = ports.len() * Priority::COUNT;
                let side = Side { queue, queues, bytes: staged.forwarded };
                limits.exceeded(&side, slot(egress, priority), size, limits.egress)
            }
        }
    }

    /// The scheme needs no notification while the bytes of an ingress FIFO are in `range`
    /// ([`Hints::quiet_range`](crate::Hints::quiet_range)). Dynamic thresholds depend
    /// on other FIFOs, too: there it is always notified.
    pub fn set_quiet_fifo(&mut self, ingress: PortId, priority: Priority, range: Range<Bytes>) {
        let moves = self.dynamic && self.is_lossless(priority);
        if let Some(staged) = &mut self.staged {
            staged.quiet[slot(ingress, priority)] =
                if moves { Bytes::ZERO..Bytes::ZERO } else { range };
        }
    }

    /// The scheme is notified of every change of an ingress FIFO. This is the initial state.
    pub fn clear_quiet_fifo(&mut self, ingress: PortId, priority: Priority) {
        self.set_quiet_fifo(ingress, priority, Bytes::ZERO..Bytes::ZERO);
    }

    /// Whether the scheme needs no notification of what an ingress FIFO holds now.
    #[inline]
    pub fn is_quiet_fifo(&self, ingress: PortId, priority: Priority) -> bool {
        let s = slot(ingress, priority);
        let range = self.staged.as_ref().and_then(|staged| staged.quiet.get(s));
        range.is_some_and(|range| range.contains(&self.ingress[s].bytes))
    }

    /// The processor has moved a packet from its ingress on: its memory stays in use.
    ///
    /// # Panics
    /// When the ingress does not hold it, or the switch is not pipelined.
    pub fn forward(&mut self, ingress: PortId, priority: Priority, size: u16) {
        let bytes = &mut self.ingress[slot(ingress, priority)].bytes;
        let size = Bytes::from(size);
        *bytes = bytes.checked_sub(size).expect("an ingress forwards what it holds");
        self.staged.as_mut().expect("a pipelined switch").forwarded += size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MmuConfig;
    use weir_core::PrioritySet;

    const P: Priority = Priority::ALL[3];
    const LOSSY: Priority = Priority::ALL[1];
    const EXEMPT: Priority = Priority::ALL[7];
    const A: PortId = PortId(0);
    const B: PortId = PortId(1);

    fn memory(limit: u64, limits: StageLimits) -> Mmu {
        let [xoff, xon, limit] = [5000, 4000, limit].map(Bytes::new);
        let thresholds = Thresholds::uniform(xoff, xon, limit, 2);
        let buffer = Bytes::MAX;
        let config = MmuConfig {
            buffer,
            thresholds,
            lossless: PrioritySet::from_bits(1 << 3),
            exempt: PrioritySet::from_bits(1 << 7),
        };
        Mmu::new(config, 2).in_stages(limits)
    }

    fn dedicated() -> Mmu {
        memory(6000, StageLimits::Dedicated { egress: Bytes::new(3000) })
    }

    /// Dedicated 1000 B per queue; pool 5000 B, of which a queue may share 2000 B, a port 3000 B, a
    /// side 4000 B.
    fn shared() -> Mmu {
        let kb = |n: u64| Bytes::new(n * 1000);
        memory(
            100_000,
            StageLimits::Shared(SharedLimits {
                dedicated: kb(1),
                pool: kb(5),
                queue: kb(2),
                port: kb(3),
                ingress: kb(4),
                egress: kb(4),
            }),
        )
    }

    /// Egress counters of two ports, in bytes of (port, priority).
    fn egress(queues: &[(PortId, Priority, u64)]) -> Vec<PortBook> {
        let mut ports = vec![PortBook::default(); 2];
        for (port, priority, bytes) in queues {
            ports[port.index()].q_out[priority.index()] = Bytes::new(*bytes);
        }
        ports
    }

    #[test]
    fn a_packet_leaves_its_ingress_when_it_is_forwarded_and_the_memory_when_it_departs() {
        let mut m = dedicated();
        m.admit(A, P, 1500).unwrap();
        assert_eq!((m.q_in(A, P), m.used()), (Bytes::new(1500), Bytes::new(1500)));
        m.forward(A, P, 1500);
        assert_eq!((m.q_in(A, P), m.used()), (Bytes::ZERO, Bytes::new(1500)));
        m.audit().unwrap();
        m.release(A, P, 1500);
        assert_eq!(
            (m.q_in(A, P), m.used(), m.peak()),
            (Bytes::ZERO, Bytes::ZERO, Bytes::new(1500))
        );
        m.audit().unwrap();
    }

    #[test]
    fn thresholds_look_at_what_has_not_been_forwarded() {
        let mut m = dedicated();
        m.admit(A, P, 5000).unwrap();
        assert!(m.should_pause(A, P));
        m.forward(A, P, 1000);
        assert!(!m.should_pause(A, P) && m.may_resume(A, P));
    }

    #[test]
    fn the_ingress_limit_holds_for_every_priority_but_the_exempt_one() {
        let mut m = dedicated();
        for p in [P, LOSSY] {
            m.admit(A, p, 6000).unwrap();
            assert_eq!(m.admit(A, p, 1), Err(Refusal::HeadroomExceeded));
        }
        m.admit(A, EXEMPT, 6001).unwrap();
        m.audit().unwrap();
    }

    #[test]
    fn a_dedicated_egress_queue_takes_its_last_byte_and_no_more() {
        let m = dedicated();
        let ports = egress(&[(B, P, 2000), (B, LOSSY, 3000), (B, EXEMPT, 9000)]);
        assert_eq!(m.egress_full(&ports, B, P, 1000), None);
        assert_eq!(m.egress_full(&ports, B, P, 1001), Some(EgressLimit::Queue));
        assert_eq!(m.egress_full(&ports, B, LOSSY, 1), Some(EgressLimit::Queue));
        assert_eq!(m.egress_full(&ports, B, EXEMPT, 1500), None);
        assert_eq!(m.egress_full(&ports, A, P, 3000), None);
    }

    #[test]
    fn a_shared_egress_is_limited_by_queue_port_and_side() {
        let at = |queues: &[(PortId, Priority, u64)], size| {
            let mut m = shared();
            for &(_, _, bytes) in queues {
                m.admit(A, EXEMPT, bytes as u16).unwrap();
                m.forward(A, EXEMPT, bytes as u16);
            }
            m.egress_full(&egress(queues), B, P, size)
        };
        assert_eq!(at(&[(B, P, 2500)], 500), None, "1000 B dedicated, 2000 B shared");
        assert_eq!(at(&[(B, P, 2500)], 501), Some(EgressLimit::Queue));
        // the other queue of the port shares 2000 B: 1000 B are left for this one
        let port = [(B, LOSSY, 3000), (B, P, 1500)];
        assert_eq!((at(&port, 500), at(&port, 501)), (None, Some(EgressLimit::Port)));
        // the other port shares 3000 B of the 4000 B of all egress queues
        let all = [(A, LOSSY, 3000), (A, P, 2000), (B, P, 1500)];
        assert_eq!((at(&all, 500), at(&all, 501)), (None, Some(EgressLimit::All)));
    }

    #[test]
    fn a_shared_ingress_is_limited_by_queue_port_side_and_pool() {
        let mut m = shared();
        m.admit(A, P, 3000).unwrap();
        assert_eq!(m.admit(A, P, 1), Err(Refusal::HeadroomExceeded), "the queue");
        m.admit(A, LOSSY, 2000).unwrap();
        assert_eq!(m.admit(A, LOSSY, 1), Err(Refusal::HeadroomExceeded), "the port");
        m.admit(B, P, 2000).unwrap();
        assert_eq!(m.admit(B, P, 1), Err(Refusal::HeadroomExceeded), "the side");
        // what is forwarded is in the pool all the same
        m.forward(A, P, 3000);
        m.admit(B, P, 1000).unwrap();
        assert_eq!(m.admit(A, P, 1), Err(Refusal::BufferFull), "the pool: 2000 + 1000 + 2000 B");
        m.audit().unwrap();
        m.release(A, P, 3000);
        m.admit(A, P, 1).unwrap();
        m.audit().unwrap();
    }
}
