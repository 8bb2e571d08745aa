//! Counters of one node, merged when the run ends.

use weir_core::{Packet, PacketKind, Time};

/// What a node counts.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Tally {
    /// Events other than packets received.
    pub(crate) events: u64,
    /// Packets received from a wire.
    pub(crate) hops: u64,
    /// The last time anything other than a periodic event happened.
    pub(crate) last_activity: Time,
    /// The last time a control frame took effect after its response time.
    pub(crate) last_response: Time,
    pub(crate) control_frames: u64,
    pub(crate) control_bytes: u64,
    /// Data and ACK packets lost here (control frames are not part of the books).
    pub(crate) dropped: u64,
    pub(crate) control_dropped: u64,
    pub(crate) storms: u64,
}

impl Tally {
    /// Counts a lost packet. Control frames have a counter of their own: they belong to no flow.
    #[cold]
    pub(crate) fn drop(&mut self, now: Time, p: &Packet) {
        if p.kind == PacketKind::Control {
            self.control_dropped += 1;
            return;
        }
        self.dropped += 1;
        self.last_activity = self.last_activity.max(now);
    }
}
