//! Where time axes begin and end: where something happens.

use crate::stats::usual_max;
use weir_plot::{Axis, Scale, Unit, show};

/// From the first to the last picosecond in which something happens; nothing does when the first
/// is after the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub first: f64,
    pub last: f64,
}

impl Extent {
    const NEVER: Self = Self { first: f64::INFINITY, last: f64::NEG_INFINITY };

    /// The extent of these times.
    pub(super) fn of(times: impl IntoIterator<Item = f64>) -> Self {
        let add = |e: Self, t: f64| Self { first: e.first.min(t), last: e.last.max(t) };
        times.into_iter().fold(Self::NEVER, add)
    }

    /// What several curves have in common: from the first begin to the last end that is not far
    /// off from the other ends. `None` when nothing happens.
    pub(super) fn usual(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let all: Vec<Self> = all.into_iter().filter(|e| e.first <= e.last).collect();
        let first = all.iter().map(|e| e.first).reduce(f64::min)?;
        Some(Self { first, last: usual_max(all.iter().map(|e| e.last)).max(first) })
    }

    /// The axis: from zero, or from the first event where that is late.
    pub(super) fn axis(self) -> Axis {
        let (low, high) = self.ends();
        Axis { label: "time".into(), unit: Unit::Time, scale: Scale::Linear, low, high }
    }

    fn ends(self) -> (f64, f64) {
        let late = self.first > self.last * 0.25 && self.first < self.last;
        let low = if late { self.first - (self.last - self.first) * 0.03 } else { 0.0 };
        let high = self.last + (self.last - low) * 0.03;
        (low, if high > low { high } else { low + 1.0 })
    }

    /// Whether the axis reaches this far.
    pub(super) fn holds(self, t: f64) -> bool {
        let (low, high) = self.ends();
        low <= t && t <= high
    }
}

/// What a caption says about a curve that ends far beyond the axis.
pub(super) fn goes_on(name: &str, own: Extent, shown: Extent) -> String {
    match own.last > shown.last {
        true => format!(" {name} goes on until {}.", show(Unit::Time, own.last)),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_begins_and_ends_where_something_happens() {
        let e = Extent::of([2e9, 5e8, 1e9]);
        assert_eq!((e.first, e.last), (5e8, 2e9));
        assert_eq!(e.axis().low, 0.0, "a quarter of the time is no waste");
        let late = Extent::of([8e9, 9e9]).axis();
        assert!(late.low > 7.9e9 && late.low < 8e9 && late.high < 9.1e9);
        assert_eq!(Extent::usual([Extent::of([])]), None);
        let once = Extent::of([5.0]).axis();
        assert!(once.low < once.high);
    }

    #[test]
    fn one_that_takes_forever_does_not_stretch_the_axis() {
        let ends = [1e9, 1.2e9, 9e10].map(|last| Extent { first: 0.0, last });
        let usual = Extent::usual(ends).expect("something happens");
        assert_eq!(usual.last, 1.2e9);
        assert!(usual.holds(1.2e9) && !usual.holds(2e9));
        assert_eq!(goes_on("none", ends[2], usual), " none goes on until 90.0 ms.");
        assert_eq!(goes_on("PFC", ends[0], usual), "");
    }
}
