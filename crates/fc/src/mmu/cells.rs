//! Memory that is counted in cells.
//!
//! Switch chips store packets in cells of one size, 96 to 420 B among those that are published: a
//! packet takes whole cells, so small packets, and those a little longer than some cells, waste
//! memory. With a [`Cell`], the memory charges every packet the cells that it takes; thresholds,
//! limits and headroom are compared with these bytes.
//!
//! Packets in cells take the long way in and out: no ingress is quiet. Without cells nothing is
//! compared, and nothing costs.

use super::Mmu;
use std::num::NonZeroU16;
use weir_core::Bytes;

/// The size of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell(NonZeroU16);

impl Cell {
    /// A cell of this many bytes, at least one and less than 64 KiB.
    ///
    /// ```
    /// use weir_core::Bytes;
    /// use weir_fc::Cell;
    /// let cell = Cell::new(Bytes::new(208)).expect("not zero");
    /// assert_eq!(cell.stored(Bytes::new(64)), Bytes::new(208));
    /// assert_eq!(cell.stored(Bytes::new(1518)), Bytes::new(8 * 208));
    /// assert_eq!(Cell::new(Bytes::ZERO), None);
    /// ```
    pub fn new(bytes: Bytes) -> Option<Self> {
        NonZeroU16::new(u16::try_from(bytes.get()).ok()?).map(Self)
    }

    /// Its bytes.
    pub fn bytes(self) -> Bytes {
        Bytes::from(self.0.get())
    }

    /// The memory of a frame.
    pub fn stored(self, frame: Bytes) -> Bytes {
        let cell = u64::from(self.0.get());
        Bytes::new(frame.get().div_ceil(cell).saturating_mul(cell))
    }

    /// The most memory that frames can take which occupy `wire` bytes of a link: each has at least
    /// `smallest` bytes, and `overhead` more on the wire. It is never less than `wire`.
    ///
    /// A frame of one byte more than some cells wastes most; of these the shortest wastes the
    /// largest share.
    pub fn most(self, wire: Bytes, smallest: Bytes, overhead: Bytes) -> Bytes {
        let shortest = smallest.max(Bytes::new(1));
        let next = self.stored(shortest) + Bytes::new(1);
        let share = |frame: Bytes| {
            let (stored, taken) = (self.stored(frame).get(), (frame + overhead).get());
            (u128::from(wire.get()) * u128::from(stored)).div_ceil(u128::from(taken))
        };
        let most = share(shortest).max(share(next)).max(u128::from(wire.get()));
        Bytes::new(u64::try_from(most).unwrap_or(u64::MAX))
    }
}

impl Mmu {
    /// The same memory, counted in cells.
    ///
    /// # Panics
    /// In a pipelined switch, whose two stages count bytes.
    #[must_use]
    pub fn in_cells(mut self, cell: Option<Cell>) -> Self {
        assert!(cell.is_none() || self.staged.is_none(), "stages count bytes");
        self.cell = cell;
        self.find_rules();
        self
    }

    /// Whether packets are charged in cells.
    pub fn counts_cells(&self) -> bool {
        self.cell.is_some()
    }

    /// What a packet of `size` bytes is charged.
    #[inline]
    pub fn charge(&self, size: Bytes) -> Bytes {
        self.cell.map_or(size, |cell| cell.stored(size))
    }
}
