//! What the upstream neighbours of a flow have been told.

use crate::Actions;
use weir_core::{ControlMessage, FlowId, PortId, Priority};

/// Standing flow-level pauses: where they were sent and which flow they named. There is one per way
/// in: a flow may change its way, and flows that share an entry have several. A RESUME names the
/// flow the PAUSE named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Upstream {
    #[default]
    Open,
    /// As in most cases; it has room in the flow's entry.
    Paused(PortId, FlowId),
    /// Two or more.
    PausedAt(Box<Ways>),
}

/// Several ways in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ways(Vec<(PortId, FlowId)>);

impl Upstream {
    pub(crate) fn is_paused(&self) -> bool {
        *self != Self::Open
    }

    /// Pauses `flow` at `ingress` unless a pause stands there.
    pub(crate) fn pause(
        &mut self,
        ingress: PortId,
        priority: Priority,
        flow: FlowId,
        a: &mut Actions,
    ) {
        let stands = match self {
            Self::Open => false,
            Self::Paused(port, _) => *port == ingress,
            Self::PausedAt(ways) => ways.0.iter().any(|(port, _)| *port == ingress),
        };
        if stands {
            return;
        }
        a.send(ingress, ControlMessage::FlowState { pause: true, priority, flow });
        match self {
            Self::Open => *self = Self::Paused(ingress, flow),
            Self::Paused(port, first) => {
                let ways = Ways(vec![(*port, *first), (ingress, flow)]);
                *self = Self::PausedAt(Box::new(ways));
            }
            Self::PausedAt(ways) => ways.0.push((ingress, flow)),
        }
    }

    /// Lifts the pauses that stand.
    pub(crate) fn resume(&mut self, priority: Priority, a: &mut Actions) {
        let mut lift = |port, flow| {
            a.send(port, ControlMessage::FlowState { pause: false, priority, flow });
        };
        match std::mem::take(self) {
            Self::Open => {}
            Self::Paused(port, flow) => lift(port, flow),
            Self::PausedAt(ways) => ways.0.iter().for_each(|(port, flow)| lift(*port, *flow)),
        }
    }

    /// The link at `port` changed: a pause sent there is void.
    pub(crate) fn forget(&mut self, port: PortId) {
        match self {
            Self::Paused(at, _) if *at == port => *self = Self::Open,
            Self::PausedAt(ways) => {
                ways.0.retain(|(at, _)| *at != port);
                if let [(port, flow)] = *ways.0 {
                    *self = Self::Paused(port, flow);
                }
            }
            Self::Open | Self::Paused(..) => {}
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

    /// Of several pauses those at other ports stand; the rest is as if there had been one.
    #[test]
    fn of_several_ways_in_those_are_left_whose_link_did_not_change() {
        let flow = FlowId::default();
        let paused = |ports: &[u16]| {
            let (mut up, mut a) = (Upstream::default(), Actions::new());
            ports.iter().for_each(|p| up.pause(PortId(*p), Priority::default(), flow, &mut a));
            up
        };
        let mut up = paused(&[0, 1, 2]);
        up.forget(PortId(1));
        assert_eq!(up, paused(&[0, 2]));
        up.forget(PortId(0));
        assert_eq!(up, paused(&[2]));
        up.forget(PortId(2));
        assert_eq!(up, Upstream::default());
    }
}
