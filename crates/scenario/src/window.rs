//! The part of a run that is looked at.

use weir_core::Time;
use weir_core::format;

/// A span of simulated time: its start belongs to it, its end does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From.
    pub from: Time,
    /// Up to.
    pub to: Time,
}

impl Default for Window {
    fn default() -> Self {
        Self::ALL
    }
}

impl Window {
    /// The whole run.
    pub const ALL: Self = Self { from: Time::ZERO, to: Time::NEVER };

    /// From `from` to `to`, or the whole run where there is none.
    pub fn new(from: Option<Time>, to: Option<Time>) -> Result<Self, String> {
        let window = Self { from: from.unwrap_or(Time::ZERO), to: to.unwrap_or(Time::NEVER) };
        match window.from < window.to {
            true => Ok(window),
            false => Err(format!(
                "--from {} is not before --to {}: no pause is in between",
                window.from, window.to
            )),
        }
    }

    /// Whether it is the whole run.
    pub fn is_all(self) -> bool {
        self == Self::ALL
    }

    /// Whether an instant is in it.
    pub fn has(self, at: Time) -> bool {
        self.from <= at && at < self.to
    }

    /// Whether something that lasts from `start` to `end` is in it in part, or begins in it.
    pub fn touches(self, start: Time, end: Time) -> bool {
        start < self.to && (end > self.from || start >= self.from)
    }

    /// How much of the time from `start` to `end` is in it.
    pub fn overlap(self, start: Time, end: Time) -> Time {
        end.min(self.to).saturating_sub(start.max(self.from))
    }

    /// What is in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    /// ` from 1 ms to 2 ms`, with a blank in front; nothing for the whole run.
    pub fn label(self) -> String {
        let from = match self.from {
            Time::ZERO => String::new(),
            from => format!(" from {}", format::time(from)),
        };
        let to = match self.to {
            Time::NEVER => String::new(),
            to => format!(" up to {}", format::time(to)),
        };
        from + &to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_belongs_to_a_window_and_the_end_does_not() {
        let us = Time::from_us;
        let w = Window::new(Some(us(10)), Some(us(20))).expect("in order");
        assert_eq!([9, 10, 19, 20].map(|t| w.has(us(t))), [false, true, true, false]);
        // what ends as the window begins is over; what begins as it ends is not in it
        let spans = [(0, 10), (0, 11), (10, 10), (12, 15), (19, 30), (20, 30)];
        let touches = spans.map(|(a, b)| w.touches(us(a), us(b)));
        assert_eq!(touches, [false, true, true, true, true, false]);
        let overlap = spans.map(|(a, b)| w.overlap(us(a), us(b)));
        assert_eq!(overlap, [0, 1, 0, 3, 1, 0].map(us));
        assert_eq!(w.label(), " from 10.0 us up to 20.0 us");
    }

    #[test]
    fn a_window_without_time_is_refused() {
        let us = |t| Some(Time::from_us(t));
        assert!(Window::new(us(2), us(2)).is_err() && Window::new(us(3), us(2)).is_err());
        assert_eq!(Window::new(None, None), Ok(Window::ALL));
        assert!(Window::new(None, Some(Time::ZERO)).is_err());
    }
}
