//! PFC behind a per-flow scheme.
//!
//! The per-flow schemes promise no losslessness: their authors run them on a shared buffer
//! that drops when it is full. With `backstop = pfc` an ordinary PFC instance watches the
//! same ingresses; its hold on a priority and the scheme's holds on queues add up.

use super::OWN_TIMERS;
use crate::pfc::Pfc;
use crate::{
    Actions, FlowControl, Kind, NodeSetup, NodeView, Param, ParamError, PortQueue, Role,
    Thresholds, TimerKey, Values, Violation,
};
use weir_core::{ControlMessage, Packet, PortId};

/// Whether PFC stands behind the scheme.
pub const BACKSTOP: Param = Param {
    name: "backstop",
    kind: Kind::Choice(&["none", "pfc"]),
    default: "none",
    doc: "pfc: PFC with the buffer's thresholds stands behind the scheme; none: a full buffer drops.",
};

/// PFC, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Backstop(Option<Pfc>);

impl Backstop {
    pub(crate) fn new(values: &Values, setup: &NodeSetup<'_>) -> Result<Self, ParamError> {
        if values.choice(&BACKSTOP) != Some("pfc") {
            return Ok(Self(None));
        }
        if setup.role == Role::Switch && *setup.thresholds == Thresholds::Pool {
            return Err(ParamError(
                "backstop = pfc needs a buffer with pause thresholds, not a plain pool".into(),
            ));
        }
        Ok(Self(Some(Pfc::new(&Values::new(), setup)?)))
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

    pub(crate) fn link(&mut self, v: &NodeView<'_>, port: PortId, up: bool, a: &mut Actions) {
        if let Some(pfc) = &mut self.0 {
            pfc.link(v, port, up, a);
        }
    }

    pub(crate) fn audit(&self, v: &NodeView<'_>, drained: bool) -> Result<(), Violation> {
        self.0.as_ref().map_or(Ok(()), |pfc| pfc.audit(v, drained))
    }
}
