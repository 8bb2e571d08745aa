//! PFC behind a per-flow scheme.
//!
//! The per-flow schemes promise no losslessness: their authors run them on a shared buffer
//! that drops when it is full. With `backstop = pfc` an ordinary PFC instance watches the
//! same ingresses; its hold on a priority and the scheme's holds on queues add up.

use super::OWN_TIMERS;
use super::plan::Plan;
use crate::pfc::Pfc;
use crate::{
    Actions, Fallback, FlowControl, IngressBound, Interest, Kind, LinkState, Network, NodeSetup,
    NodeView, Param, ParamError, PortQueue, Role, Thresholds, TimerKey, Values, Violation,
};
use weir_core::{ControlMessage, Packet, PortId, Priority};

/// Whether PFC is the backstop of the scheme.
pub const BACKSTOP: Param = Param {
    name: "backstop",
    kind: Kind::Choice(&["none", "pfc"]),
    fallback: Fallback::Is("none"),
    doc: "pfc: PFC with the buffer's thresholds as a backstop; none: a full buffer drops packets.",
};

fn has_pfc(values: &Values) -> bool {
    values.one_of(&BACKSTOP, &[("none", false), ("pfc", true)])
}

/// What bounds an ingress of a scheme that may have PFC behind it.
pub(crate) fn ingress_bound(values: &Values) -> IngressBound {
    if has_pfc(values) { IngressBound::Pauses } else { IngressBound::Memory }
}

/// PFC, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Backstop(Option<Pfc>);

impl Backstop {
    /// Which packets of `priority` a scheme with this plan hears of: all, unless neither it nor PFC
    /// behind it controls the priority.
    pub(crate) fn interest(&self, plan: &Plan, priority: Priority) -> Interest {
        let governs = self.0.as_ref().is_some_and(|pfc| pfc.governs(priority));
        if plan.class(priority).is_none() && !governs {
            Interest::Never(plan.other(priority))
        } else {
            Interest::Every
        }
    }

    pub(crate) fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        if !has_pfc(values) {
            return Ok(Self(None));
        }
        if setup.role == Role::Switch && *setup.thresholds == Thresholds::Pool {
            return Err(ParamError(
                "backstop = pfc needs a buffer with pause thresholds, not a plain pool".into(),
            ));
        }
        Ok(Self(Some(Pfc::new(&Values::new(), setup)?)))
    }

    /// Whether nothing stands behind the scheme.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub(crate) fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) {
        if let Some(pfc) = &mut self.0 {
            pfc.arrive(v, p, egress, a);
        }
    }

    #[inline]
    pub(crate) fn depart(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        from: PortQueue,
        a: &mut Actions,
    ) {
        if let Some(pfc) = &mut self.0 {
            pfc.depart(v, p, from, a);
        }
    }

    pub(crate) fn control(
        &mut self,
        v: &NodeView<'_>,
        port: PortId,
        m: &ControlMessage,
        a: &mut Actions,
    ) {
        if let Some(pfc) = &mut self.0 {
            pfc.control(v, port, m, a);
        }
    }

    /// Handles `key` if it is one of PFC's timers.
    pub(crate) fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) -> bool {
        if key.kind >= OWN_TIMERS {
            return false;
        }
        if let Some(pfc) = &mut self.0 {
            pfc.timer(v, key, a);
        }
        true
    }

    pub(crate) fn link(
        &mut self,
        v: &NodeView<'_>,
        port: PortId,
        link: LinkState,
        a: &mut Actions,
    ) {
        if let Some(pfc) = &mut self.0 {
            pfc.link(v, port, link, a);
        }
    }

    pub(crate) fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.0.as_ref().map_or(Ok(()), |pfc| pfc.audit(v, network))
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::given;
    use crate::harness::{Bench, PRIORITY};
    use crate::{LinkState, Network, SchemeInfo, bfc, ffc, flowsail, ideal};
    use weir_core::{ControlMessage, PortId};

    const UP: PortId = PortId(0);
    const OUT: PortId = PortId(1);

    fn bench(info: &'static SchemeInfo) -> Bench {
        let mut b = Bench::switch(info, &given(info, &[("backstop", "pfc")]), 2);
        b.thresholds("3KB", "1KB");
        b
    }

    const ALL: [&SchemeInfo; 4] = [&bfc::INFO, &ideal::INFO, &flowsail::INFO, &ffc::INFO];

    #[test]
    fn pfc_watches_the_same_ingresses_behind_every_scheme() {
        for info in ALL {
            let mut b = bench(info);
            let packet = b.packet(UP, 1000);
            let queues = [0, 1, 2].map(|seq| b.arrive(packet.seq(seq), OUT));
            let q = queues[0];
            let pfc = |b: &mut Bench| {
                let sent = b.take_sent().into_iter();
                sent.filter(|(_, m)| matches!(m, ControlMessage::Pfc { .. })).collect::<Vec<_>>()
            };
            assert_eq!(pfc(&mut b), [(UP, ControlMessage::pfc(PRIORITY, 65_535))], "{}", info.name);
            (0..2).for_each(|_| _ = b.depart(OUT, q).expect("open"));
            assert_eq!(pfc(&mut b), [(UP, ControlMessage::pfc(PRIORITY, 0))], "{}", info.name);
        }
    }

    #[test]
    fn a_pause_of_the_priority_ends_with_its_time_or_its_link() {
        for info in ALL {
            let mut b = bench(info);
            let q = b.arrive(b.packet(UP, 1000), OUT);
            b.control(OUT, &ControlMessage::pfc(PRIORITY, 100));
            assert!(b.is_held(OUT, q), "{}", info.name);
            b.link(OUT, LinkState::Down);
            assert!(!b.is_held(OUT, q), "{}", info.name);
            b.control(OUT, &ControlMessage::pfc(PRIORITY, 100));
            b.fire_next();
            assert!(!b.is_held(OUT, q), "{}", info.name);
        }
    }

    #[test]
    fn a_pause_that_is_left_standing_is_reported() {
        for info in ALL {
            let mut b = bench(info);
            (0..3).for_each(|seq| _ = b.arrive(b.packet(UP, 1000).seq(seq), OUT));
            let left = b.scheme().audit(&b.view(), Network::Drained).unwrap_err();
            assert_eq!(left.scheme, "pfc", "{}", info.name);
        }
    }
}
