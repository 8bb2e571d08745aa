//! What the upstream neighbours of a flow have been told.

use crate::Actions;
use weir_core::{ControlMessage, FlowId, PortId, Priority};

/// Standing flow-level pauses: where they were sent and which flow they named. There is one per way
/// in: a flow may change its way, and flows that share an entry have several. A RESUME names the
/// flow the PAUSE named. `None` while there is none, which is most of the time: a pointer is all
/// that a flow's entry has room for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Upstream(Option<Box<Standing>>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Standing {
    pauses: Vec<(PortId, FlowId)>,
}

impl Upstream {
    pub(crate) fn is_paused(&self) -> bool {
        self.0.is_some()
    }

    /// Pauses `flow` at `ingress` unless a pause stands there.
    pub(crate) fn pause(
        &mut self,
        ingress: PortId,
        priority: Priority,
        flow: FlowId,
        a: &mut Actions,
    ) {
        let pauses = &mut self.0.get_or_insert_default().pauses;
        if pauses.iter().all(|(port, _)| *port != ingress) {
            a.send(ingress, ControlMessage::FlowState { pause: true, priority, flow });
            pauses.push((ingress, flow));
        }
    }

    /// Lifts the pauses that stand.
    pub(crate) fn resume(&mut self, priority: Priority, a: &mut Actions) {
        for (port, flow) in self.0.take().into_iter().flat_map(|standing| standing.pauses) {
            a.send(port, ControlMessage::FlowState { pause: false, priority, flow });
        }
    }

    /// The link at `port` changed: a pause sent there is void.
    pub(crate) fn forget(&mut self, port: PortId) {
        if let Some(standing) = &mut self.0 {
            standing.pauses.retain(|(p, _)| *p != port);
            if standing.pauses.is_empty() {
                self.0 = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;
    use weir_core::NodeId;

    #[test]
    fn a_pause_stands_once_per_way_in_and_its_resume_names_the_same_flow() {
        let (mut up, mut a) = (Upstream::default(), Actions::new());
        let flow = |k| FlowId::new(NodeId(1), k);
        let priority = Priority::ALL[4];
        up.pause(PortId(0), priority, flow(1), &mut a);
        up.pause(PortId(0), priority, flow(2), &mut a);
        up.pause(PortId(3), priority, flow(2), &mut a);
        up.resume(priority, &mut a);
        up.resume(priority, &mut a);
        let state = |port, pause, k| Action::Send {
            port: PortId(port),
            message: ControlMessage::FlowState { pause, priority, flow: flow(k) },
        };
        assert_eq!(
            a.as_slice(),
            [state(0, true, 1), state(3, true, 2), state(0, false, 1), state(3, false, 2)]
        );
    }

    #[test]
    fn a_pause_on_a_link_that_changed_is_void() {
        let (mut up, mut a) = (Upstream::default(), Actions::new());
        up.pause(PortId(0), Priority::default(), FlowId::default(), &mut a);
        up.forget(PortId(1));
        assert!(up.is_paused());
        up.forget(PortId(0));
        assert!(!up.is_paused());
    }
}
