//! What a port keeps for [`shortcuts`](super::shortcuts).

/// What can stand in the way of a packet at a port: one bit each, so that one look is enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Obstacles(u8);

impl Obstacles {
    /// Packets are queued.
    pub(super) const QUEUED: u8 = 1;
    /// A queue or a priority is held.
    pub(super) const HELD: u8 = 1 << 1;
    /// Control frames wait for the wire.
    pub(super) const CONTROL: u8 = 1 << 2;
    /// The scheme inspects heads before they are sent.
    pub(super) const INSPECTED: u8 = 1 << 3;
    /// More than the ingress and the memory as a whole decides on admission: the link is down, the
    /// watchdog has found a priority stuck, or the scheme or the memory limits egress queues.
    pub(super) const GUARDED: u8 = 1 << 4;
    /// Queues take turns.
    pub(super) const TURNS: u8 = 1 << 5;
    /// Rates are limited, or were when the port was looked at last.
    pub(super) const LIMITED: u8 = 1 << 6;
    /// The link is down, or was when the port was looked at last.
    pub(super) const DOWN: u8 = 1 << 7;

    /// Notes whether an obstacle is there.
    #[inline(always)]
    pub(super) fn set(&mut self, obstacle: u8, there: bool) {
        self.0 = self.0 & !obstacle | if there { obstacle } else { 0 };
    }

    #[inline(always)]
    pub(super) fn any(self, of: u8) -> bool {
        self.0 & of != 0
    }

    #[inline(always)]
    pub(super) fn any_but(self, harmless: u8) -> bool {
        self.0 & !harmless != 0
    }
}
