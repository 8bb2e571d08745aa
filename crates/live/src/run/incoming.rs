//! What a neighbour has sent by a link, and what of it has come.
//!
//! The kernel may keep a frame for a while before the socket of its receiver has it. Where the
//! clock waits, a node waits for such frames, too.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the frames from a neighbour.
#[derive(Debug)]
pub(super) struct Incoming<'n> {
    /// What it has sent: counted before the frame is given to the kernel.
    sent: &'n AtomicU64,
    received: u64,
    /// Frames that did not come in time.
    lost: u64,
}

impl<'n> Incoming<'n> {
    pub(super) fn new(sent: &'n AtomicU64) -> Self {
        Self { sent, received: 0, lost: 0 }
    }

    fn sent(&self) -> u64 {
        self.sent.load(Ordering::Acquire)
    }

    /// A frame has come. More than the neighbour has sent are of other programs, or were given up
    /// before: they stand for none that is still on its way.
    pub(super) fn came(&mut self) {
        self.received = (self.received + 1).min(self.sent());
    }

    /// Whether a frame is on its way.
    pub(super) fn awaits(&self) -> bool {
        self.received < self.sent()
    }

    /// What is on its way will not come.
    pub(super) fn give_up(&mut self) {
        let sent = self.sent();
        self.lost += sent.saturating_sub(self.received);
        self.received = self.received.max(sent);
    }

    /// How many did not come in time.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_awaited_from_when_it_is_sent_until_it_comes() {
        let sent = AtomicU64::new(0);
        let mut incoming = Incoming::new(&sent);
        assert!(!incoming.awaits());
        sent.fetch_add(2, Ordering::AcqRel);
        incoming.came();
        assert!(incoming.awaits());
        incoming.came();
        assert!(!incoming.awaits());
        assert_eq!(incoming.lost(), 0);
    }

    #[test]
    fn frames_of_other_programs_stand_for_none_of_the_neighbour() {
        let sent = AtomicU64::new(1);
        let mut incoming = Incoming::new(&sent);
        incoming.came();
        // injected twice, then the neighbour sends again
        incoming.came();
        incoming.came();
        sent.fetch_add(1, Ordering::AcqRel);
        assert!(incoming.awaits());
    }

    #[test]
    fn a_frame_that_is_given_up_is_counted_and_awaited_no_more() {
        let sent = AtomicU64::new(3);
        let mut incoming = Incoming::new(&sent);
        incoming.came();
        incoming.give_up();
        assert_eq!((incoming.awaits(), incoming.lost()), (false, 2));
        // it comes after all: the next one is awaited all the same
        incoming.came();
        sent.fetch_add(1, Ordering::AcqRel);
        assert!(incoming.awaits());
        assert_eq!(incoming.lost(), 2);
    }
}
