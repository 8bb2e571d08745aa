//! Windows: how much a flow may have in flight.

use crate::Path;
use crate::params::worded;
use weir_core::{Bytes, Rate, words};

words! {
    /// What limits the bytes in flight.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WindowKind {
        /// Nothing.
        None = "none",
        /// One bandwidth-delay product.
        Static = "static",
        /// One bandwidth-delay product, scaled down with the sending rate.
        Variable = "variable",
    }
}

worded!(WindowKind);

/// A flow's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    kind: WindowKind,
    bytes: u64,
    line_rate: u64,
}

impl Window {
    /// The window of kind `kind` for a flow on `path`. A path without a known bandwidth-delay
    /// product gives no window.
    pub fn new(kind: WindowKind, path: &Path) -> Self {
        let kind = if path.bdp == Bytes::ZERO { WindowKind::None } else { kind };
        Self { kind, bytes: path.bdp.get(), line_rate: path.line_rate.as_bps() }
    }

    /// The limit at sending rate `rate`: `W`, or `floor(W * rate / line rate)` but at least one
    /// byte; `None` is no limit.
    #[inline]
    pub fn at(&self, rate: Rate) -> Option<Bytes> {
        match self.kind {
            WindowKind::None => None,
            WindowKind::Static => Some(Bytes::new(self.bytes)),
            WindowKind::Variable => {
                let scaled = match self.bytes.checked_mul(rate.as_bps()) {
                    Some(product) => product / self.line_rate.max(1),
                    None => {
                        let product = u128::from(self.bytes) * u128::from(rate.as_bps());
                        (product / u128::from(self.line_rate.max(1))) as u64
                    }
                };
                Some(Bytes::new(scaled.max(1)))
            }
        }
    }
}

/// The two answers of an algorithm that keeps a `rate` in bit/s and a [`Window`].
macro_rules! rate_and_window {
    () => {
        #[inline]
        fn rate(&self) -> weir_core::Rate {
            weir_core::Rate::from_bps(self.rate)
        }

        #[inline]
        fn window(&self) -> Option<weir_core::Bytes> {
            self.window.at(self.rate())
        }
    };
}
pub(crate) use rate_and_window;

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::Time;

    fn path(bdp: u64) -> Path {
        Path {
            line_rate: Rate::from_gbps(100),
            base_rtt: Time::from_ns(4160),
            bdp: Bytes::new(bdp),
            mtu: Bytes::new(1000),
            hops: 1,
        }
    }

    #[test]
    fn a_variable_window_follows_the_rate_down_to_one_byte() {
        let w = Window::new(WindowKind::Variable, &path(52_000));
        assert_eq!(w.at(Rate::from_gbps(100)), Some(Bytes::new(52_000)));
        // 52 000 * 33 333 333 333 / 10^11 = 17 333.33
        assert_eq!(w.at(Rate::from_bps(33_333_333_333)), Some(Bytes::new(17_333)));
        assert_eq!(w.at(Rate::from_bps(1)), Some(Bytes::new(1)));
    }

    #[test]
    fn a_static_window_does_not_move_and_none_is_no_limit() {
        let w = Window::new(WindowKind::Static, &path(52_000));
        assert_eq!(w.at(Rate::from_gbps(1)), Some(Bytes::new(52_000)));
        assert_eq!(Window::new(WindowKind::None, &path(52_000)).at(Rate::from_gbps(1)), None);
        assert_eq!(Window::new(WindowKind::Variable, &path(0)).at(Rate::from_gbps(1)), None);
    }

    #[test]
    fn a_huge_window_does_not_overflow() {
        let w = Window::new(WindowKind::Variable, &path(1 << 40));
        assert_eq!(w.at(Rate::from_gbps(50)), Some(Bytes::new(1 << 39)));
    }
}
