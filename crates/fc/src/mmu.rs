//! Shared buffer memory: who may store a packet, and when an ingress should be paused.
//!
//! A packet is charged to its **ingress** (port, priority) for as long as it is in the
//! switch. Three admission models:
//!
//! * [`Thresholds::Static`]: each (port, priority) pauses at `xoff`, resumes at `xon` and
//!   may hold `limit` bytes, thresholds as in the OFC and CaPFC papers. The packet that
//!   crosses `xoff` may overshoot by a frame less one byte, so losslessness needs
//!   `limit >= xoff + (frame - 1) + headroom`.
//! * [`Thresholds::Dynamic`]: reserved, shared and headroom memory with the dynamic
//!   threshold T = alpha * (shared - used) of Choudhury and Hahne, in the integer form
//!   used by Broadcom-like switch models.
//! * [`Thresholds::Pool`]: one tail-drop pool without pauses.

use std::ops::Range;
use weir_core::prefetch::prefetch;
use weir_core::{Bytes, PortId, Priority};

/// How memory is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thresholds {
    /// One pool; a packet that does not fit is dropped.
    Pool,
    /// Fixed thresholds per (ingress port, priority).
    Static {
        /// Pause at or above.
        xoff: Bytes,
        /// Resume at or below.
        xon: Bytes,
        /// Most bytes of one (port, priority); [`Bytes::MAX`] for no limit. Per port, since
        /// the headroom depends on the link.
        limit: Vec<Bytes>,
    },
    /// Dynamic thresholds on a shared pool.
    Dynamic {
        /// Bytes reserved for each (port, lossless priority).
        reserve: Bytes,
        /// A paused ingress resumes when it is this far below the threshold.
        resume_offset: Bytes,
        /// Headroom of each port's lossless ingress.
        headroom: Vec<Bytes>,
        /// Each port's alpha is 2^-shift.
        shift: Vec<u8>,
    },
}

/// The memory of one node.
#[derive(Clone, Debug)]
pub struct MmuConfig {
    /// All memory; [`Bytes::MAX`] for no limit.
    pub buffer: Bytes,
    /// How it is divided.
    pub thresholds: Thresholds,
    /// Bit `p` set: priority `p` is lossless, thresholds apply to it.
    pub lossless: u8,
    /// Bit `p` set: packets of priority `p` (ACKs, CNPs) are always admitted.
    pub exempt: u8,
}

/// Why a packet was not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// The memory is full.
    BufferFull,
    /// The ingress has used its share and its headroom.
    HeadroomExceeded,
}

/// The account of one (ingress port, priority), with its static thresholds beside it. Where a
/// threshold does not apply it is out of reach.
#[derive(Clone, Copy, Debug)]
struct Ingress {
    /// All bytes of the ingress, headroom included.
    bytes: u64,
    limit: u64,
    /// From here to below there nobody wants to hear of what comes and goes; see [`Mmu::hush`].
    quiet_from: u64,
    quiet_below: u64,
}

/// Buffer accounting of one node.
#[derive(Clone, Debug)]
pub struct Mmu {
    config: MmuConfig,
    /// Memory left for sharing under dynamic thresholds.
    shared: u64,
    shared_used: u64,
    used: u64,
    peak: u64,
    /// Per (port, priority).
    ingress: Vec<Ingress>,
    /// Per priority: where a pause begins, and where it ends. Out of reach where there is none;
    /// nothing where it moves.
    xoff: [u64; Priority::COUNT],
    xon: [u64; Priority::COUNT],
    dynamic: bool,
    /// Per (port, priority): bytes stored in headroom; empty unless dynamic.
    headroom_used: Vec<u64>,
}

impl Ingress {
    fn new(config: &MmuConfig, slot: usize) -> Self {
        let lossless = config.lossless & 1 << (slot % Priority::COUNT) != 0;
        let limit = match &config.thresholds {
            Thresholds::Static { limit, .. } if lossless => limit[slot / Priority::COUNT].get(),
            _ => u64::MAX,
        };
        Self { bytes: 0, limit, quiet_from: 0, quiet_below: 0 }
    }
}

#[inline]
fn slot(port: PortId, priority: Priority) -> usize {
    port.index() * Priority::COUNT + priority.index()
}

/// There were never as many bytes in the memory: whether they fit.
#[cold]
fn rise(peak: &mut u64, used: u64, buffer: Bytes) -> bool {
    let fits = used <= buffer.get();
    if fits {
        *peak = used;
    }
    fits
}

impl Mmu {
    /// Memory for a node with `ports` ports.
    pub fn new(config: MmuConfig, ports: usize) -> Self {
        let slots = ports * Priority::COUNT;
        let (shared, dynamic) = match &config.thresholds {
            Thresholds::Dynamic { reserve, headroom, .. } => {
                let lossless = u64::from(config.lossless.count_ones());
                let set_aside: u64 =
                    headroom.iter().map(|h| (h.get() + reserve.get()) * lossless).sum();
                (config.buffer.get().saturating_sub(set_aside), true)
            }
            _ => (0, false),
        };
        let ingress = (0..slots).map(|s| Ingress::new(&config, s)).collect();
        let xoff_and_xon = Priority::ALL.map(|p| match &config.thresholds {
            _ if config.lossless & 1 << p.get() == 0 => (u64::MAX, u64::MAX),
            Thresholds::Static { xoff, xon, .. } => (xoff.get(), xon.get()),
            Thresholds::Dynamic { .. } => (0, u64::MAX),
            Thresholds::Pool => (u64::MAX, u64::MAX),
        });
        Self {
            config,
            shared,
            shared_used: 0,
            used: 0,
            peak: 0,
            ingress,
            xoff: xoff_and_xon.map(|(xoff, _)| xoff),
            xon: xoff_and_xon.map(|(_, xon)| xon),
            dynamic,
            headroom_used: if dynamic { vec![0; slots] } else { Vec::new() },
        }
    }

    /// Asks for the accounts of a port to be at hand soon.
    pub fn prefetch(&self, port: PortId) {
        let first = slot(port, Priority::ALL[0]);
        if let Some(accounts) = self.ingress.get(first..first + Priority::COUNT) {
            prefetch(accounts);
        }
    }

    /// Bytes of one virtual ingress queue.
    #[inline]
    pub fn q_in(&self, port: PortId, priority: Priority) -> Bytes {
        Bytes::new(self.ingress[slot(port, priority)].bytes)
    }

    /// All bytes stored now.
    #[inline]
    pub fn used(&self) -> Bytes {
        Bytes::new(self.used)
    }

    /// The most bytes ever stored at once.
    pub fn peak(&self) -> Bytes {
        Bytes::new(self.peak)
    }

    /// The configuration.
    pub fn config(&self) -> &MmuConfig {
        &self.config
    }

    /// Whether `priority` is lossless.
    #[inline]
    pub fn is_lossless(&self, priority: Priority) -> bool {
        self.config.lossless & 1 << priority.get() != 0
    }

    /// The dynamic threshold of `port` now.
    #[inline]
    fn threshold(&self, shift: &[u8], port: PortId) -> u64 {
        self.shared.saturating_sub(self.shared_used) >> shift[port.index()]
    }

    /// The bytes of an ingress beyond its reserve and outside its headroom.
    #[inline]
    fn beyond_reserve(&self, s: usize, reserve: Bytes) -> u64 {
        (self.ingress[s].bytes - self.headroom_used[s]).saturating_sub(reserve.get())
    }

    /// Stores a packet of `size` bytes, or says why not.
    #[inline(always)]
    pub fn admit(&mut self, port: PortId, priority: Priority, size: u16) -> Result<(), Refusal> {
        let size = u64::from(size);
        let ingress = &mut self.ingress[slot(port, priority)];
        let (bytes, used) = (ingress.bytes + size, self.used + size);
        if bytes > ingress.limit || used > self.config.buffer.get() || self.dynamic {
            return self.admit_with_care(port, priority, size);
        }
        ingress.bytes = bytes;
        self.used = used;
        if used > self.peak {
            self.peak = used;
        }
        Ok(())
    }

    /// What an ingress holds more of if [`Mmu::may_resume`] is false for sure. With dynamic
    /// thresholds that is out of reach.
    pub fn resume_threshold(&self, priority: Priority) -> Bytes {
        Bytes::new(self.xon[priority.index()])
    }

    /// What an ingress must hold before [`Mmu::should_pause`] can be true. With dynamic thresholds
    /// that is nothing.
    pub fn pause_threshold(&self, priority: Priority) -> Bytes {
        Bytes::new(self.xoff[priority.index()])
    }

    /// From now on this ingress is quiet while what it holds is in `range`: nobody wants to hear of
    /// its packets. Where thresholds are dynamic the memory itself does, for all that is lossless.
    pub fn hush(&mut self, port: PortId, priority: Priority, range: Range<Bytes>) {
        let careful = self.dynamic && self.is_lossless(priority);
        let ingress = &mut self.ingress[slot(port, priority)];
        ingress.quiet_from = range.start.get();
        ingress.quiet_below = if careful { 0 } else { range.end.get().min(ingress.limit) };
    }

    /// From now on this ingress is not quiet, whatever it holds. This is how it begins.
    pub fn alert(&mut self, port: PortId, priority: Priority) {
        self.ingress[slot(port, priority)].quiet_below = 0;
    }

    /// Stores a packet of `size` bytes if its ingress is quiet and stays so, and there is room.
    #[inline(always)]
    pub fn admit_quietly(&mut self, port: PortId, priority: Priority, size: u16) -> bool {
        let size = u64::from(size);
        let ingress = &mut self.ingress[slot(port, priority)];
        let (bytes, used) = (ingress.bytes + size, self.used + size);
        if bytes < ingress.quiet_from
            || bytes >= ingress.quiet_below
            || used > self.peak && !rise(&mut self.peak, used, self.config.buffer)
        {
            return false;
        }
        ingress.bytes = bytes;
        self.used = used;
        true
    }

    /// Whether [`Mmu::admit_quietly`] would store a packet of `size` bytes, if it left again at
    /// once: only the peak tells.
    #[inline(always)]
    pub fn pass_quietly(&mut self, port: PortId, priority: Priority, size: u16) -> bool {
        let ingress = &self.ingress[slot(port, priority)];
        let used = self.used + u64::from(size);
        ingress.bytes >= ingress.quiet_from
            && ingress.bytes + u64::from(size) < ingress.quiet_below
            && (used <= self.peak || rise(&mut self.peak, used, self.config.buffer))
    }

    /// Whether a packet of `size` bytes would be admitted, if it left again at once: only the
    /// peak would tell. May be wrongly false, where it takes more than a look at the account.
    #[inline(always)]
    pub fn pass(&mut self, port: PortId, priority: Priority, size: u16) -> bool {
        let used = self.used + u64::from(size);
        if self.config.exempt & 1 << priority.get() == 0 {
            let ingress = &self.ingress[slot(port, priority)];
            if ingress.bytes + u64::from(size) > ingress.limit
                || used > self.config.buffer.get()
                || self.dynamic
            {
                return false;
            }
        }
        if used > self.peak {
            self.peak = used;
        }
        true
    }

    /// The rare or costly part of admission: something is full, or thresholds are dynamic.
    #[inline(never)]
    fn admit_with_care(
        &mut self,
        port: PortId,
        priority: Priority,
        size: u64,
    ) -> Result<(), Refusal> {
        let s = slot(port, priority);
        if self.config.exempt & 1 << priority.get() == 0 {
            if self.used + size > self.config.buffer.get() {
                return Err(Refusal::BufferFull);
            }
            if self.ingress[s].bytes + size > self.ingress[s].limit {
                return Err(Refusal::HeadroomExceeded);
            }
            if self.dynamic && self.is_lossless(priority) {
                self.admit_dynamic(port, s, size)?;
            }
        }
        self.ingress[s].bytes += size;
        self.used += size;
        self.peak = self.peak.max(self.used);
        Ok(())
    }

    fn admit_dynamic(&mut self, port: PortId, s: usize, size: u64) -> Result<(), Refusal> {
        let Thresholds::Dynamic { reserve, headroom, shift, .. } = &self.config.thresholds else {
            return Ok(());
        };
        let threshold = self.threshold(shift, port);
        let beyond = self.beyond_reserve(s, *reserve);
        if size + self.headroom_used[s] > headroom[port.index()].get() && size + beyond > threshold
        {
            return Err(Refusal::HeadroomExceeded);
        }
        let would_hold = self.ingress[s].bytes - self.headroom_used[s] + size;
        let over = would_hold.saturating_sub(reserve.get());
        if over > threshold {
            self.headroom_used[s] += size;
        } else {
            self.shared_used += over.min(size);
        }
        Ok(())
    }

    /// Gives back the memory of a packet that leaves; returns whether its ingress was quiet.
    ///
    /// # Panics
    /// When more leaves than came: the books do not balance, and nothing computed from
    /// them could be trusted.
    #[inline(always)]
    pub fn release(&mut self, port: PortId, priority: Priority, size: u16) -> bool {
        let s = slot(port, priority);
        let size = u64::from(size);
        if self.dynamic {
            self.release_dynamic(s, priority, size);
        }
        let Ingress { bytes, quiet_from, quiet_below, .. } = &mut self.ingress[s];
        let left = bytes.checked_sub(size).expect("an ingress releases what it holds");
        let quiet = *bytes < *quiet_below && left >= *quiet_from;
        *bytes = left;
        self.used = self.used.checked_sub(size).expect("the buffer releases what it holds");
        quiet
    }

    #[inline(never)]
    fn release_dynamic(&mut self, s: usize, priority: Priority, size: u64) {
        if let Thresholds::Dynamic { reserve, .. } = self.config.thresholds
            && self.is_lossless(priority)
        {
            let from_headroom = self.headroom_used[s].min(size);
            let from_shared = (size - from_headroom).min(self.beyond_reserve(s, reserve));
            self.headroom_used[s] -= from_headroom;
            self.shared_used -= from_shared;
        }
    }

    /// Whether `size` more bytes would leave this ingress below every reason to pause it. Never
    /// wrongly true.
    #[inline(always)]
    pub fn stays_unpaused(&self, port: PortId, priority: Priority, size: u16) -> bool {
        let bytes = self.ingress[slot(port, priority)].bytes;
        bytes + u64::from(size) < self.xoff[priority.index()]
    }

    /// Whether this ingress should be paused, tested after each admission.
    #[inline]
    pub fn should_pause(&self, port: PortId, priority: Priority) -> bool {
        let s = slot(port, priority);
        if self.dynamic {
            return self.should_pause_dynamic(port, s);
        }
        self.ingress[s].bytes >= self.xoff[priority.index()]
    }

    #[inline(never)]
    fn should_pause_dynamic(&self, port: PortId, s: usize) -> bool {
        let Thresholds::Dynamic { reserve, shift, .. } = &self.config.thresholds else {
            return false;
        };
        self.headroom_used[s] > 0 || self.beyond_reserve(s, *reserve) >= self.threshold(shift, port)
    }

    /// Whether a paused ingress may resume, tested when one of its own packets leaves. (The
    /// dynamic threshold also moves when others' packets leave; it is deliberately not
    /// re-tested then.)
    #[inline]
    pub fn may_resume(&self, port: PortId, priority: Priority) -> bool {
        let s = slot(port, priority);
        if self.dynamic {
            return self.may_resume_dynamic(port, s);
        }
        self.ingress[s].bytes <= self.xon[priority.index()]
    }

    #[inline(never)]
    fn may_resume_dynamic(&self, port: PortId, s: usize) -> bool {
        let Thresholds::Dynamic { reserve, resume_offset, shift, .. } = &self.config.thresholds
        else {
            return true;
        };
        let beyond = self.beyond_reserve(s, *reserve);
        self.headroom_used[s] == 0
            && (beyond == 0 || beyond + resume_offset.get() <= self.threshold(shift, port))
    }

    /// Checks that the parts add up to the whole.
    pub fn audit(&self) -> Result<(), String> {
        let sum: u64 = self.ingress.iter().map(|i| i.bytes).sum();
        if sum != self.used {
            return Err(format!("ingress books add up to {sum} B, the buffer to {} B", self.used));
        }
        if let Thresholds::Dynamic { reserve, .. } = self.config.thresholds {
            let shared: u64 = (0..self.ingress.len())
                .filter(|s| self.config.lossless & 1 << (s % Priority::COUNT) != 0)
                .map(|s| self.beyond_reserve(s, reserve))
                .sum();
            if shared != self.shared_used {
                return Err(format!(
                    "ingresses use {shared} B of shared memory, the pool counts {} B",
                    self.shared_used
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod edges;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P: Priority = Priority::ALL[3];
    const IN: PortId = PortId(0);

    fn static_mmu(limit: u64) -> Mmu {
        let thresholds = Thresholds::Static {
            xoff: Bytes::new(3000),
            xon: Bytes::new(1500),
            limit: vec![Bytes::new(limit); 2],
        };
        let config = MmuConfig { buffer: Bytes::MAX, thresholds, lossless: 1 << 3, exempt: 1 << 7 };
        Mmu::new(config, 2)
    }

    fn dynamic(buffer: u64, reserve: u64, headroom: u64, shift: u8) -> Mmu {
        let thresholds = Thresholds::Dynamic {
            reserve: Bytes::new(reserve),
            resume_offset: Bytes::new(300),
            headroom: vec![Bytes::new(headroom); 2],
            shift: vec![shift; 2],
        };
        let config =
            MmuConfig { buffer: Bytes::new(buffer), thresholds, lossless: 1 << 3, exempt: 1 << 7 };
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
    fn what_passes_would_be_admitted_and_leaves_nothing_but_a_peak() {
        let mut m = static_mmu(4000);
        m.admit(IN, P, 2500).unwrap();
        let stays = |m: &Mmu, size| m.stays_unpaused(IN, P, size);
        assert_eq!((stays(&m, 499), stays(&m, 500)), (true, false));
        assert_eq!((m.pass(IN, P, 1500), m.pass(IN, P, 1501)), (true, false));
        assert_eq!((m.used(), m.peak()), (Bytes::new(2500), Bytes::new(4000)));
        // the exempt class always does
        assert!(m.pass(IN, Priority::ALL[7], 9000));
        assert_eq!((m.q_in(IN, Priority::ALL[7]), m.peak()), (Bytes::ZERO, Bytes::new(11_500)));
        let mut d = dynamic(10_000, 1000, 2000, 1);
        assert!(!d.pass(IN, P, 1) && !d.stays_unpaused(IN, P, 1), "takes more than a look");
    }

    #[test]
    fn a_pool_drops_at_its_end() {
        let config = MmuConfig {
            buffer: Bytes::new(100),
            thresholds: Thresholds::Pool,
            lossless: 0,
            exempt: 0,
        };
        let mut m = Mmu::new(config, 1);
        assert!(m.pass(IN, P, 100) && !m.pass(IN, P, 101));
        m.admit(IN, P, 100).unwrap();
        assert_eq!(m.admit(IN, P, 1), Err(Refusal::BufferFull));
        m.release(IN, P, 100);
        assert_eq!((m.used(), m.peak()), (Bytes::ZERO, Bytes::new(100)));
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
            shift in 0u8..4,
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
    }
}
