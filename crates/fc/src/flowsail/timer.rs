//! The timers of FlowSail.

use crate::TimerKey;
use crate::perflow::OWN_TIMERS;
use weir_core::PortId;

/// The timers of FlowSail: one kind, told apart by class, so that classes do not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Tests again whether a flow of this class can be released.
    Release {
        /// Which of the controlled priorities.
        class: u8,
    },
}

impl Timer {
    /// The timer of flow `index` at a port.
    pub(super) fn key(self, port: PortId, index: u32) -> TimerKey {
        let Self::Release { class } = self;
        TimerKey { kind: OWN_TIMERS + class, port, index }
    }

    /// Which timer a key stands for, which is not one of the backstop's.
    pub(super) fn of(key: TimerKey) -> Self {
        Self::Release { class: key.kind - OWN_TIMERS }
    }
}
