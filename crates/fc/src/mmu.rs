//! Shared buffer memory: whether a packet may be stored, and when an ingress should be paused.
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
//!
//! In a pipelined switch ([`Mmu::in_stages`]) a packet is charged to its ingress only until the
//! packet processor has moved it on ([`Mmu::forward`]); its egress queue is bounded, too. In shared
//! memory, egress queues may have [thresholds](EgressThresholds), and packets may be charged the
//! [cells](Cell) that they take.

mod audit;
mod cells;
mod egress;
mod reasons;
mod shared_headroom;
mod staged;

pub use cells::Cell;
pub use egress::{EgressShare, EgressThresholds};
pub use staged::{EgressLimit, SharedLimits, StageLimits};

use egress::Egress;
use shared_headroom::SharedHeadroom;
use staged::Staged;
use std::ops::Range;
use weir_core::prefetch::prefetch;
use weir_core::{Bytes, PortId, Priority, PrioritySet};

/// The fixed thresholds of one ingress port, for each of its lossless priorities. They differ
/// between ports: a faster one fills the same memory in less time, and the headroom depends on the
/// link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortThresholds {
    /// Pause at or above.
    pub xoff: Bytes,
    /// Resume at or below.
    pub xon: Bytes,
    /// Most bytes of one (port, priority); [`Bytes::MAX`] for no limit.
    pub limit: Bytes,
}

/// How memory is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thresholds {
    /// One pool; a packet that does not fit is dropped.
    Pool,
    /// Fixed thresholds, by ingress port; the same for all lossless priorities.
    Static(Vec<PortThresholds>),
    /// Dynamic thresholds on a shared pool.
    Dynamic {
        /// Bytes reserved for each (port, lossless priority).
        reserve: Bytes,
        /// A paused ingress resumes when it is this far below the threshold.
        resume_offset: Bytes,
        /// Headroom of each port's lossless ingress.
        headroom: Vec<Bytes>,
        /// Each port's alpha is 2^-shift; above 1 where the shift is negative.
        shift: Vec<i8>,
    },
}

impl Thresholds {
    /// Static thresholds that all of `ports` ports have.
    pub fn uniform(xoff: Bytes, xon: Bytes, limit: Bytes, ports: usize) -> Self {
        Self::Static(vec![PortThresholds { xoff, xon, limit }; ports])
    }
}

/// The memory of one node.
#[derive(Clone, Debug)]
pub struct MmuConfig {
    /// All memory; [`Bytes::MAX`] for no limit.
    pub buffer: Bytes,
    /// How it is divided.
    pub thresholds: Thresholds,
    /// The lossless priorities: thresholds apply to them.
    pub lossless: PrioritySet,
    /// Priorities whose packets (ACKs, CNPs) are always admitted.
    pub exempt: PrioritySet,
}

/// Why a packet was not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// The memory is full.
    BufferFull,
    /// The ingress has used its share and its headroom.
    HeadroomExceeded,
}

/// `bytes` times alpha = 2^-shift.
///
/// ```
/// use weir_core::Bytes;
/// assert_eq!(weir_fc::share_of(Bytes::new(1000), 3), Bytes::new(125));
/// assert_eq!(weir_fc::share_of(Bytes::new(1000), -1), Bytes::new(2000));
/// ```
#[inline]
pub const fn share_of(bytes: Bytes, shift: i8) -> Bytes {
    let by = shift.unsigned_abs() as u32;
    Bytes::new(match shift {
        0.. => bytes.get() >> by,
        _ => bytes.get().saturating_mul(1 << by),
    })
}

/// The account of one (ingress port, priority), with its static thresholds beside it. Where a
/// threshold does not apply it is out of reach.
#[derive(Clone, Copy, Debug)]
struct Ingress {
    /// All bytes of the ingress, headroom included.
    bytes: Bytes,
    limit: Bytes,
    /// Range of bytes in which the scheme needs no notification; see [`Mmu::set_quiet`].
    quiet_from: Bytes,
    quiet_below: Bytes,
}

/// Buffer accounting of one node.
#[derive(Clone, Debug)]
pub struct Mmu {
    config: MmuConfig,
    /// Memory left for sharing under dynamic thresholds.
    shared: Bytes,
    shared_used: Bytes,
    used: Bytes,
    /// The most bytes stored at once, as [`Mmu::admit`] saw it.
    peak: Bytes,
    /// The most bytes stored at once, as quiet admissions saw it. Never more than the buffer, which
    /// `peak` may exceed where a priority is exempt: up to here packets fit without a comparison
    /// with the buffer's size.
    quiet_peak: Bytes,
    /// Per (port, priority).
    ingress: Vec<Ingress>,
    /// By port: where a pause of a lossless priority begins, and where it ends. Out of reach where
    /// there is none; where it moves, it may begin at once.
    levels: Vec<Levels>,
    dynamic: bool,
    /// Release takes more than the plain accounts: dynamic, in stages, in cells, or counted at the
    /// egress.
    release_has_rules: bool,
    /// Admission takes more than the plain accounts: dynamic, from a pool in stages, in cells, or
    /// counted at the egress.
    admission_has_rules: bool,
    staged: Option<Box<Staged>>,
    /// Per (port, priority): bytes stored in headroom; empty unless dynamic.
    headroom_used: Vec<Bytes>,
    shared_headroom: SharedHeadroom,
    cell: Option<Cell>,
    egress: Option<Box<Egress>>,
}

/// Where a pause begins and ends.
#[derive(Clone, Copy, Debug)]
struct Levels {
    xoff: Bytes,
    xon: Bytes,
}

impl Levels {
    const NONE: Self = Self { xoff: Bytes::MAX, xon: Bytes::MAX };

    fn of(thresholds: &Thresholds, port: usize) -> Self {
        match thresholds {
            Thresholds::Static(of) => Self { xoff: of[port].xoff, xon: of[port].xon },
            Thresholds::Dynamic { .. } => Self { xoff: Bytes::ZERO, xon: Bytes::MAX },
            Thresholds::Pool => Self::NONE,
        }
    }
}

impl Ingress {
    fn new(config: &MmuConfig, slot: usize) -> Self {
        let lossless = config.lossless.contains(Priority::ALL[slot % Priority::COUNT]);
        let limit = match &config.thresholds {
            Thresholds::Static(of) if lossless => of[slot / Priority::COUNT].limit,
            _ => Bytes::MAX,
        };
        let zero = Bytes::ZERO;
        Self { bytes: zero, limit, quiet_from: zero, quiet_below: zero }
    }
}

/// The message if a look-up fails that every packet makes. It has no index and no length: keeping
/// them for the message would cost each look-up an instruction.
const NO_PORT: &str = "packets come by ports of the node";

#[inline]
fn slot(port: PortId, priority: Priority) -> usize {
    port.index() * Priority::COUNT + priority.index()
}

/// Whether `used` bytes, more than `peak`, fit; they are the new peak then.
#[cold]
fn rise(peak: &mut Bytes, used: Bytes, buffer: Bytes) -> bool {
    let fits = used <= buffer;
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
                let lossless = config.lossless.len() as u64;
                let set_aside = headroom.iter().map(|&h| (h + *reserve) * lossless).sum();
                (config.buffer.saturating_sub(set_aside), true)
            }
            _ => (Bytes::ZERO, false),
        };
        let ingress = (0..slots).map(|s| Ingress::new(&config, s)).collect();
        let levels = (0..ports).map(|p| Levels::of(&config.thresholds, p)).collect();
        Self {
            config,
            shared,
            shared_used: Bytes::ZERO,
            used: Bytes::ZERO,
            peak: Bytes::ZERO,
            quiet_peak: Bytes::ZERO,
            ingress,
            levels,
            dynamic,
            release_has_rules: dynamic,
            admission_has_rules: dynamic,
            staged: None,
            headroom_used: if dynamic { vec![Bytes::ZERO; slots] } else { Vec::new() },
            shared_headroom: SharedHeadroom::NONE,
            cell: None,
            egress: None,
        }
    }

    /// Whether packets need more than the plain accounts.
    fn find_rules(&mut self) {
        let more = self.cell.is_some() || self.egress.as_ref().is_some_and(|e| e.counts());
        self.release_has_rules |= more;
        self.admission_has_rules |= more;
    }

    /// Prefetches the accounts of a port.
    pub fn prefetch(&self, port: PortId) {
        let first = slot(port, Priority::ALL[0]);
        if let Some(accounts) = self.ingress.get(first..first + Priority::COUNT) {
            prefetch(accounts);
        }
    }

    /// Bytes of one virtual ingress queue.
    #[inline]
    pub fn q_in(&self, port: PortId, priority: Priority) -> Bytes {
        self.ingress[slot(port, priority)].bytes
    }

    /// All bytes stored now.
    #[inline]
    pub fn used(&self) -> Bytes {
        self.used
    }

    /// The most bytes ever stored at once.
    pub fn peak(&self) -> Bytes {
        self.peak.max(self.quiet_peak)
    }

    /// The configuration.
    pub fn config(&self) -> &MmuConfig {
        &self.config
    }

    /// Whether `priority` is lossless.
    #[inline]
    pub fn is_lossless(&self, priority: Priority) -> bool {
        self.config.lossless.contains(priority)
    }

    /// The dynamic threshold of `port` now.
    #[inline]
    fn threshold(&self, shift: &[i8], port: PortId) -> Bytes {
        share_of(self.shared_left(), shift[port.index()])
    }

    /// What is left of the shared memory. An alpha above 1 promises more than that: a packet is
    /// shared only if it fits.
    #[inline]
    fn shared_left(&self) -> Bytes {
        self.shared.saturating_sub(self.shared_used)
    }

    /// The bytes of an ingress beyond its reserve and outside its headroom.
    #[inline]
    fn beyond_reserve(&self, s: usize, reserve: Bytes) -> Bytes {
        (self.ingress[s].bytes - self.headroom_used[s]).saturating_sub(reserve)
    }

    /// Stores a packet of `size` bytes, or says why not.
    #[inline(always)]
    pub fn admit(&mut self, port: PortId, priority: Priority, size: u16) -> Result<(), Refusal> {
        let size = Bytes::from(size);
        let ingress = &mut self.ingress[slot(port, priority)];
        let (bytes, used) = (ingress.bytes + size, self.used + size);
        if bytes > ingress.limit || used > self.config.buffer || self.admission_has_rules {
            return self.admit_by_all_rules(port, priority, size);
        }
        ingress.bytes = bytes;
        self.used = used;
        if used > self.peak {
            self.peak = used;
        }
        Ok(())
    }

    /// Whether a packet of `size` bytes could be stored and released at the same instant. Of all
    /// accounts, only the peak changes.
    #[inline(always)]
    pub fn transit(&mut self, port: PortId, priority: Priority, size: u16) -> bool {
        let ingress = self.ingress.get(slot(port, priority)).expect(NO_PORT);
        let size = Bytes::from(size);
        let used = self.used + size;
        let fits = ingress.bytes + size <= ingress.limit
            && used <= self.config.buffer
            && (!self.release_has_rules || self.transits_by_all_rules(port, priority, size));
        if fits && used > self.peak {
            self.peak = used;
        }
        fits
    }

    /// Whether what is stored and released at once leaves the costly accounts as they are: with
    /// dynamic thresholds, if it needs no headroom and none is in use, which would be given back
    /// first.
    fn transits_by_all_rules(&self, port: PortId, priority: Priority, size: Bytes) -> bool {
        if self.staged.is_some() || self.cell.is_some() {
            return false;
        }
        let Thresholds::Dynamic { reserve, shift, .. } = &self.config.thresholds else {
            return true;
        };
        let s = slot(port, priority);
        let beyond = (self.ingress[s].bytes + size).saturating_sub(*reserve);
        !self.is_lossless(priority)
            || !self.config.exempt.contains(priority)
                && self.headroom_used[s] == Bytes::ZERO
                && beyond <= self.threshold(shift, port)
                && beyond.min(size) <= self.shared_left()
    }

    /// Whether this ingress should be paused with a packet of `size` bytes more, for which
    /// [`Mmu::transit`] is true.
    pub fn would_pause(&self, port: PortId, priority: Priority, size: u16) -> bool {
        let (s, size) = (slot(port, priority), Bytes::from(size));
        let bytes = self.ingress[s].bytes + size;
        let Thresholds::Dynamic { reserve, shift, .. } = &self.config.thresholds else {
            return bytes >= self.levels(port, priority).xoff;
        };
        let beyond = bytes.saturating_sub(*reserve);
        let used = self.shared_used + beyond.min(size);
        let left = self.shared.saturating_sub(used);
        beyond >= share_of(left, shift[port.index()])
    }

    /// XON: above it [`Mmu::may_resume`] is false. [`Bytes::MAX`] with dynamic thresholds, where it
    /// may be true at any length.
    pub fn resume_threshold(&self, port: PortId, priority: Priority) -> Bytes {
        self.levels(port, priority).xon
    }

    /// XOFF: below it [`Mmu::should_pause`] is false. Zero with dynamic thresholds, where it may be
    /// true at any length.
    pub fn pause_threshold(&self, port: PortId, priority: Priority) -> Bytes {
        self.levels(port, priority).xoff
    }

    #[inline]
    fn levels(&self, port: PortId, priority: Priority) -> Levels {
        if self.is_lossless(priority) { self.levels[port.index()] } else { Levels::NONE }
    }

    /// From now on this ingress is quiet while the bytes it holds are in `range`: the scheme needs
    /// no notification of its packets. Never quiet are a lossless ingress with dynamic thresholds
    /// and a lossy one that is counted at the egress, because the memory itself counts each of
    /// their packets in a pool, and any ingress whose packets are charged in cells.
    pub fn set_quiet(&mut self, port: PortId, priority: Priority, range: Range<Bytes>) {
        let moves = self.dynamic && self.is_lossless(priority)
            || self.cell.is_some()
            || self.counts_at_egress(priority);
        let ingress = &mut self.ingress[slot(port, priority)];
        ingress.quiet_from = range.start;
        ingress.quiet_below = if moves { Bytes::ZERO } else { range.end.min(ingress.limit) };
    }

    /// From now on this ingress is not quiet at any length. This is the initial state.
    pub fn clear_quiet(&mut self, port: PortId, priority: Priority) {
        self.ingress[slot(port, priority)].quiet_below = Bytes::ZERO;
    }

    /// Stores a packet of `size` bytes if its ingress is quiet and stays so, and there is room.
    #[inline(always)]
    pub fn admit_quietly(&mut self, port: PortId, priority: Priority, size: u16) -> bool {
        let size = Bytes::from(size);
        let ingress = self.ingress.get_mut(slot(port, priority)).expect(NO_PORT);
        let (bytes, used) = (ingress.bytes + size, self.used + size);
        if bytes < ingress.quiet_from
            || bytes >= ingress.quiet_below
            || used > self.quiet_peak && !rise(&mut self.quiet_peak, used, self.config.buffer)
        {
            return false;
        }
        ingress.bytes = bytes;
        self.used = used;
        true
    }

    /// Stores a packet of `size` bytes and releases it at the same instant, if its ingress is quiet
    /// with it and without it, and there is room. Only the peak shows it.
    #[inline(always)]
    pub fn transit_quietly(&mut self, port: PortId, priority: Priority, size: u16) -> bool {
        let ingress = self.ingress.get(slot(port, priority)).expect(NO_PORT);
        let size = Bytes::from(size);
        let used = self.used + size;
        ingress.bytes >= ingress.quiet_from
            && ingress.bytes + size < ingress.quiet_below
            && (used <= self.quiet_peak || rise(&mut self.quiet_peak, used, self.config.buffer))
    }

    /// The rare or costly part of admission: something is full, or thresholds are dynamic.
    #[inline(never)]
    fn admit_by_all_rules(
        &mut self,
        port: PortId,
        priority: Priority,
        size: Bytes,
    ) -> Result<(), Refusal> {
        let (s, size) = (slot(port, priority), self.charge(size));
        if !self.config.exempt.contains(priority) {
            if self.used + size > self.config.buffer {
                return Err(Refusal::BufferFull);
            }
            if self.ingress[s].bytes + size > self.ingress[s].limit {
                return Err(Refusal::HeadroomExceeded);
            }
            if self.dynamic && self.is_lossless(priority) {
                self.admit_dynamic(port, s, size)?;
            }
            if let Some(staged) = &self.staged {
                staged.may_enter(&self.ingress, self.used, s, size)?;
            }
        }
        if let Some(staged) = &mut self.staged {
            staged.enters(s, size);
        }
        if self.counts_at_egress(priority)
            && let Some(egress) = &mut self.egress
        {
            egress.lossy_used += size;
        }
        self.ingress[s].bytes += size;
        self.used += size;
        self.peak = self.peak.max(self.used);
        Ok(())
    }

    fn admit_dynamic(&mut self, port: PortId, s: usize, size: Bytes) -> Result<(), Refusal> {
        let Thresholds::Dynamic { reserve, headroom, shift, .. } = &self.config.thresholds else {
            return Ok(());
        };
        let threshold = self.threshold(shift, port);
        let beyond = self.beyond_reserve(s, *reserve);
        let would_hold = self.ingress[s].bytes - self.headroom_used[s] + size;
        let over = would_hold.saturating_sub(*reserve);
        let fits = over.min(size) <= self.shared_left();
        let full = size + self.headroom_used[s] > headroom[port.index()]
            || self.shared_headroom.is_full_for(size);
        if full && (size + beyond > threshold || !fits) {
            return Err(Refusal::HeadroomExceeded);
        }
        if over > threshold || !fits {
            self.headroom_used[s] += size;
            self.shared_headroom.used += size;
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
        let mut size = Bytes::from(size);
        if self.release_has_rules {
            size = self.release_by_all_rules(s, priority, size);
        }
        let Ingress { bytes, quiet_from, quiet_below, .. } =
            self.ingress.get_mut(s).expect(NO_PORT);
        let left = bytes.checked_sub(size).expect("an ingress releases what it holds");
        let quiet = *bytes < *quiet_below && left >= *quiet_from;
        *bytes = left;
        self.used = self.used.checked_sub(size).expect("the buffer releases what it holds");
        quiet
    }

    /// The rare or costly part of release. Returns what the packet was charged.
    #[inline(never)]
    fn release_by_all_rules(&mut self, s: usize, priority: Priority, size: Bytes) -> Bytes {
        let size = self.charge(size);
        if self.counts_at_egress(priority)
            && let Some(egress) = &mut self.egress
        {
            egress.lossy_used -= size;
        }
        if let Some(staged) = &mut self.staged {
            // it had left the ingress's account before: put back what is about to be taken again
            staged.leaves(s, size);
            self.ingress[s].bytes += size;
        }
        if let Thresholds::Dynamic { reserve, .. } = self.config.thresholds
            && self.is_lossless(priority)
        {
            let from_headroom = self.headroom_used[s].min(size);
            let from_shared = (size - from_headroom).min(self.beyond_reserve(s, reserve));
            self.headroom_used[s] -= from_headroom;
            self.shared_headroom.used -= from_headroom;
            self.shared_used -= from_shared;
        }
        size
    }

    /// Whether this ingress should be paused, tested after each admission.
    #[inline]
    pub fn should_pause(&self, port: PortId, priority: Priority) -> bool {
        let s = slot(port, priority);
        if self.dynamic {
            return self.should_pause_dynamic(port, s);
        }
        self.ingress[s].bytes >= self.levels(port, priority).xoff
    }

    #[inline(never)]
    fn should_pause_dynamic(&self, port: PortId, s: usize) -> bool {
        let Thresholds::Dynamic { reserve, shift, .. } = &self.config.thresholds else {
            return false;
        };
        self.headroom_used[s] > Bytes::ZERO
            || self.beyond_reserve(s, *reserve) >= self.threshold(shift, port)
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
        self.ingress[s].bytes <= self.levels(port, priority).xon
    }

    #[inline(never)]
    fn may_resume_dynamic(&self, port: PortId, s: usize) -> bool {
        let Thresholds::Dynamic { reserve, resume_offset, shift, .. } = &self.config.thresholds
        else {
            return true;
        };
        let beyond = self.beyond_reserve(s, *reserve);
        self.headroom_used[s] == Bytes::ZERO
            && (beyond == Bytes::ZERO || beyond + *resume_offset <= self.threshold(shift, port))
    }
}

#[cfg(test)]
mod edges_tests;

#[cfg(test)]
mod tests;
