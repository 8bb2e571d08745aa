//! No congestion control: line rate from the first packet to the last.
//!
//! What keeps such a sender from overrunning the network is flow control, or the window when one
//! is set (a fixed window of one bandwidth-delay product bounds the data in flight per flow).
//!
//! | parameter | default | |
//! |---|---|---|
//! | `window` | `none` | `none` or `static` (one bandwidth-delay product) |

use crate::control::{Ack, CongestionControl, Needs, Pacing, Path, Timers};
use crate::params::params;
use crate::window::{Window, WindowKind};
use weir_core::param::Kind;
use weir_core::{Bytes, Rate};

params! {
    /// Parameters of sending without congestion control.
    NoneParams {
        /// What limits the bytes in flight.
        window: WindowKind = "none", Kind::Choice(&["none", "static", "variable"]);
    }
}

/// A flow that always sends at line rate.
#[derive(Clone, Debug)]
pub struct LineRate {
    rate: Rate,
    window: Window,
}

impl LineRate {
    /// A new flow.
    pub fn new(params: &NoneParams, path: &Path) -> Self {
        Self { rate: path.line_rate, window: Window::new(params.window, path) }
    }
}

impl CongestionControl for LineRate {
    fn needs() -> Needs {
        Needs::NOTHING
    }

    fn on_ack(&mut self, _: &Ack<'_>, _: &mut Timers) -> Pacing {
        Pacing::Same
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.rate
    }

    #[inline]
    fn window(&self) -> Option<Bytes> {
        self.window.at(self.rate)
    }
}
