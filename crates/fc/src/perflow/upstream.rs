//! What the upstream neighbour of a flow has been told.

use crate::Actions;
use weir_core::{ControlMessage, FlowId, PortId};

/// A standing flow-level pause: where it was sent and which flow it named. A flow that
/// changes its way in is paused at the new neighbour and resumed at the old one; a RESUME names
/// the flow the PAUSE named, also when several flows share an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Upstream(Option<(PortId, FlowId)>);

impl Upstream {
    pub(crate) fn is_paused(self) -> bool {
        self.0.is_some()
    }

    /// Pauses `flow` at `ingress` unless a pause stands there.
    pub(crate) fn pause(&mut self, ingress: PortId, flow: FlowId, a: &mut Actions) {
        if self.0.is_some_and(|(port, _)| port == ingress) {
            return;
        }
        self.resume(a);
        a.send(ingress, ControlMessage::FlowState { pause: true, flow });
        self.0 = Some((ingress, flow));
    }

    /// Lifts the pause that stands.
    pub(crate) fn resume(&mut self, a: &mut Actions) {
        if let Some((port, flow)) = self.0.take() {
            a.send(port, ControlMessage::FlowState { pause: false, flow });
        }
    }

    /// The link at `port` changed: a pause sent there is void.
    pub(crate) fn forget(&mut self, port: PortId) {
        if self.0.is_some_and(|(p, _)| p == port) {
            self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;
    use weir_core::NodeId;

    #[test]
    fn a_flow_that_comes_in_elsewhere_takes_its_pause_along() {
        let (mut up, mut a) = (Upstream::default(), Actions::new());
        let flow = |k| FlowId::new(NodeId(1), k);
        up.pause(PortId(0), flow(1), &mut a);
        up.pause(PortId(0), flow(2), &mut a);
        up.pause(PortId(3), flow(2), &mut a);
        up.resume(&mut a);
        up.resume(&mut a);
        let state = |port, pause, k| Action::Send {
            port: PortId(port),
            message: ControlMessage::FlowState { pause, flow: flow(k) },
        };
        assert_eq!(
            a.as_slice(),
            [state(0, true, 1), state(0, false, 1), state(3, true, 2), state(3, false, 2)]
        );
    }

    #[test]
    fn a_pause_on_a_link_that_changed_is_void() {
        let (mut up, mut a) = (Upstream::default(), Actions::new());
        up.pause(PortId(0), FlowId::default(), &mut a);
        up.forget(PortId(1));
        assert!(up.is_paused());
        up.forget(PortId(0));
        assert!(!up.is_paused());
    }
}
