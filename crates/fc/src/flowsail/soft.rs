//! FlowSail with a refresh: standing pauses are repeated, and pauses that are not lapse. Order
//! marks need no repetition: they never leave their switch.

use super::egress::Egress;
use super::{FlowSail, FlowState};
use crate::refresh::Due;
use crate::{Actions, NodeView};
use weir_core::{ControlMessage, FlowId, PortId};

impl FlowSail {
    /// A timer of the refresh. Flows that share an entry, and so a count, share a pause, too: the
    /// one that is repeated names the flow that the first one named.
    pub(super) fn refresh(&mut self, v: &NodeView<'_>, port: PortId, due: Due, a: &mut Actions) {
        match due {
            Due::Repeat => {
                let told = |e: &Egress| {
                    let priority = e.priority;
                    let flows: Vec<FlowId> =
                        e.flows.iter().filter_map(|(_, _, f)| f.upstream.at(port)).collect();
                    let state =
                        move |flow| ControlMessage::FlowState { pause: true, priority, flow };
                    flows.into_iter().map(state)
                };
                let standing: Vec<_> = self.egresses.iter().flat_map(told).collect();
                self.refresh.repeat(v, port, &standing, a);
            }
            Due::Lapse => {
                for (priority, flow) in self.refresh.lapsed(v, port, a) {
                    self.hear(v, port, FlowState { pause: false, priority, flow }, a);
                }
            }
        }
    }
}
