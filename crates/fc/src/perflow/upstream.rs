//! What the upstream neighbours of a flow have been told.

use crate::Actions;
use weir_core::{ControlMessage, FlowId, PortId, Priority, Reason};

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

    /// The flow that a pause names which stands at `ingress`.
    pub(crate) fn at(&self, ingress: PortId) -> Option<FlowId> {
        match self {
            Self::Open => None,
            Self::Paused(port, flow) => (*port == ingress).then_some(*flow),
            Self::PausedAt(ways) => ways.0.iter().find(|w| w.0 == ingress).map(|w| w.1),
        }
    }

    /// Pauses `flow` at `ingress` unless a pause stands there. `why` is called if none does.
    pub(crate) fn pause(
        &mut self,
        ingress: PortId,
        priority: Priority,
        flow: FlowId,
        why: impl FnOnce() -> Reason,
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
        a.send(ingress, ControlMessage::FlowState { pause: true, priority, flow }, why());
        match self {
            Self::Open => *self = Self::Paused(ingress, flow),
            Self::Paused(port, first) => {
                let ways = Ways(vec![(*port, *first), (ingress, flow)]);
                *self = Self::PausedAt(Box::new(ways));
            }
            Self::PausedAt(ways) => ways.0.push((ingress, flow)),
        }
    }

    /// Lifts the pauses that stand. `why` is called if there are any.
    pub(crate) fn resume(&mut self, priority: Priority, why: impl Fn() -> Reason, a: &mut Actions) {
        let mut lift = |port, flow| {
            a.send(port, ControlMessage::FlowState { pause: false, priority, flow }, why());
        };
        match std::mem::take(self) {
            Self::Open => {}
            Self::Paused(port, flow) => lift(port, flow),
            Self::PausedAt(ways) => ways.0.iter().for_each(|(port, flow)| lift(*port, *flow)),
        }
    }

    /// The link at `port` is up again: the neighbour there has forgotten a pause that stands.
    pub(crate) fn repeat(&self, port: PortId, priority: Priority, a: &mut Actions) {
        let ways = match self {
            Self::Open => &[][..],
            Self::Paused(at, flow) => &[(*at, *flow)],
            Self::PausedAt(ways) => &ways.0,
        };
        for &(_, flow) in ways.iter().filter(|(at, _)| *at == port) {
            let message = ControlMessage::FlowState { pause: true, priority, flow };
            a.send(port, message, Reason::Link);
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
        let why = || Reason::Words("why");
        up.pause(PortId(0), priority, flow(1), why, &mut a);
        up.pause(PortId(0), priority, flow(2), || unreachable!("a pause stands"), &mut a);
        up.pause(PortId(3), priority, flow(2), why, &mut a);
        up.resume(priority, why, &mut a);
        up.resume(priority, || unreachable!("no pause stands"), &mut a);
        let state = |port, pause, k| Action::Send {
            port: PortId(port),
            message: ControlMessage::FlowState { pause, priority, flow: flow(k) },
            reason: why(),
        };
        assert_eq!(
            a.as_slice(),
            [state(0, true, 1), state(3, true, 2), state(0, false, 1), state(3, false, 2)]
        );
    }

    #[test]
    fn a_pause_that_stands_is_repeated_where_a_link_recovers_and_nowhere_else() {
        let (priority, flow) = (Priority::ALL[4], FlowId::default());
        for ways in [&[][..], &[0], &[0, 1, 2]] {
            let (mut up, mut a) = (Upstream::default(), Actions::new());
            for port in ways {
                up.pause(PortId(*port), priority, flow, || Reason::Refresh, &mut a);
            }
            for port in [0, 2] {
                let mut a = Actions::new();
                up.repeat(PortId(port), priority, &mut a);
                let message = ControlMessage::FlowState { pause: true, priority, flow };
                let sent = Action::Send { port: PortId(port), message, reason: Reason::Link };
                let stands = ways.contains(&port);
                assert_eq!(a.as_slice(), &[sent][..usize::from(stands)], "{ways:?}");
            }
        }
    }
}
