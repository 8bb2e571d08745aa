//! What a bench's scheme has sent.

use super::Bench;
use crate::FlowControl;
use weir_core::{ControlMessage, PortId, Reason};

impl<S: FlowControl + ?Sized> Bench<S> {
    /// Control frames sent so far.
    pub fn sent(&self) -> &[(PortId, ControlMessage)] {
        &self.sent
    }

    /// Takes the control frames out.
    pub fn take_sent(&mut self) -> Vec<(PortId, ControlMessage)> {
        self.reasons.clear();
        std::mem::take(&mut self.sent)
    }

    /// Why the control frames in [`sent`](Self::sent) were sent, in the same order.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }
}
