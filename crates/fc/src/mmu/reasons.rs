//! The comparisons behind [`Mmu::should_pause`] and [`Mmu::may_resume`], in numbers.

use super::{Mmu, Thresholds, slot};
use weir_core::reason::{Measured, Quantity};
use weir_core::{Bytes, PortId, Priority, Reason};

impl Mmu {
    /// Why this ingress should be paused, given that it should.
    ///
    /// Thresholds that move with the memory left are stated as they are now, with the reserve of
    /// the ingress, so that its bytes compare with them.
    #[cold]
    pub fn pause_reason(&self, port: PortId, priority: Priority) -> Reason {
        let (s, bytes) = (slot(port, priority), self.q_in(port, priority));
        let threshold = match &self.config.thresholds {
            Thresholds::Dynamic { reserve, shift, .. } if self.dynamic => {
                let headroom = self.headroom_used[s];
                if headroom > Bytes::ZERO {
                    let used = Measured::new(Quantity::Headroom, port, headroom);
                    return used.above("empty", Bytes::ZERO);
                }
                *reserve + self.threshold(shift, port)
            }
            _ => self.pause_threshold(port, priority),
        };
        if bytes < threshold {
            // the dynamic threshold is zero: an ingress is paused within its reserve, too
            return Reason::Words("no shared memory left");
        }
        Reason::ingress(port, bytes).at_least("xoff", threshold)
    }

    /// Why this ingress may resume, given that it may.
    #[cold]
    pub fn resume_reason(&self, port: PortId, priority: Priority) -> Reason {
        let bytes = self.q_in(port, priority);
        let threshold = match &self.config.thresholds {
            Thresholds::Dynamic { reserve, resume_offset, shift, .. } if self.dynamic => {
                // what is within the reserve may always go on
                *reserve + self.threshold(shift, port).saturating_sub(*resume_offset)
            }
            _ => self.resume_threshold(port, priority),
        };
        Reason::ingress(port, bytes).at_most("xon", threshold)
    }
}
