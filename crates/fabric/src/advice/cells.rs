//! Headroom of a switch that stores packets in cells.

use super::OVERHEAD;
use weir_core::Bytes;
use weir_fc::Cell;

/// The smallest frame of Ethernet.
pub const SMALLEST: Bytes = Bytes::new(64);

/// How a switch stores packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// The size of a cell.
    pub cell: Cell,
    /// The smallest lossless frame.
    pub smallest: Bytes,
}

impl Cells {
    /// The frame, not larger than `largest`, of which a link brings most memory in a time: the
    /// smallest, or one byte more than fits into as many cells.
    pub fn worst(&self, largest: Bytes) -> Bytes {
        let smallest = self.smallest.max(Bytes::new(1)).min(largest);
        let next = self.cell.stored(smallest).saturating_add(Bytes::new(1));
        // stored / wire, compared without a division
        let worse = |a: Bytes, b: Bytes| {
            let of = |f: Bytes| (self.cell.stored(f).get(), f.saturating_add(OVERHEAD).get());
            let ((stored, wire), (other, others)) = (of(a), of(b));
            u128::from(stored) * u128::from(others) > u128::from(other) * u128::from(wire)
        };
        if next <= largest && worse(next, smallest) { next } else { smallest }
    }

    /// Memory for each byte that such frames take on the wire.
    pub fn factor(&self, largest: Bytes) -> f64 {
        let worst = self.worst(largest);
        let wire = worst.saturating_add(OVERHEAD).get();
        (self.cell.stored(worst).get() as f64 / wire.max(1) as f64).max(1.0)
    }

    /// The most memory of frames, not larger than `largest`, that take so many bytes on the wire.
    pub fn most(&self, wire: Bytes, largest: Bytes) -> Bytes {
        let worst = self.worst(largest);
        let (stored, taken) = (self.cell.stored(worst).get(), worst.saturating_add(OVERHEAD).get());
        let most = (u128::from(wire.get()) * u128::from(stored)).div_ceil(u128::from(taken));
        Bytes::new(u64::try_from(most).unwrap_or(u64::MAX)).max(wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(cell: u64, smallest: u64) -> Cells {
        let cell = Cell::new(Bytes::new(cell)).expect("a cell");
        Cells { cell, smallest: Bytes::new(smallest) }
    }

    /// 64 B in cells of 96 B: 96 / 84 = 1.14. 97 B take two: 192 / 117 = 1.64. In cells of 144 B
    /// it is 144 / 84 = 1.71 against 288 / 165 = 1.75; in cells of 192 B 2.29 against 1.80.
    #[test]
    fn the_worst_frame_is_the_smallest_or_one_byte_too_long_for_its_cells() {
        let large = Bytes::new(1518);
        assert_eq!(cells(96, 64).worst(large), Bytes::new(97));
        assert_eq!(cells(144, 64).worst(large), Bytes::new(145));
        assert_eq!(cells(192, 64).worst(large), Bytes::new(64));
        // no frame is larger than the largest
        assert_eq!(cells(96, 64).worst(Bytes::new(80)), Bytes::new(64));
        assert!((cells(192, 64).factor(large) - 192.0 / 84.0).abs() < 1e-12);
    }

    #[test]
    fn cells_never_take_less_than_the_wire() {
        // one byte less on the wire is not stored: preambles count as memory
        assert!((cells(1, 1500).factor(Bytes::new(1518)) - 1.0).abs() < 1e-12);
        let large = Bytes::new(1518);
        assert_eq!(cells(1, 1500).most(Bytes::new(10_000), large), Bytes::new(10_000));
    }

    /// Frames of 1042 B only take 6 cells of 192 B, 1152 B for 1062 B on the wire. A frame of
    /// 1153 B, which would take 7, is larger than the largest.
    #[test]
    fn no_frame_is_counted_that_is_larger_than_the_largest() {
        let (wire, largest) = (Bytes::new(1_062_000), Bytes::new(1042));
        assert_eq!(cells(192, 1042).most(wire, largest), Bytes::new(1_152_000));
        // 1344 B of 1173 B
        let most = cells(192, 1042).most(wire, Bytes::new(1153));
        assert_eq!(most, Bytes::new(1_062_000u64 * 1344 / 1173 + 1));
    }
}
