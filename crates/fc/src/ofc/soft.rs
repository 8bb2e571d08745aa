//! OFC with a refresh: `pause_frame_tab` is repeated, and pauses that are not lapse.
//!
//! What is repeated is the whole of the table: the wildcard of the urgent state, if it stands, and
//! the listed flows. Order marks need no repetition: they never leave their switch.

use super::Ofc;
use super::tables::{FlowKey, Frame};
use crate::refresh::Due;
use crate::{Actions, HoldState, NodeView, Role, TimerKey};
use weir_core::{PortId, Priority};

/// What a pause names: a flow, or every flow of the priority.
pub(super) type Named = (Priority, Option<FlowKey>);

impl Ofc {
    /// Notes what a frame says for its lapse.
    pub(super) fn hear(
        &mut self,
        v: &NodeView<'_>,
        port: PortId,
        priority: Priority,
        frame: &Frame,
        a: &mut Actions,
    ) {
        if !self.refresh.is_on() {
            return;
        }
        if frame.all && !frame.pause {
            self.refresh.lifted_all(port, |named| named.0 == priority, a);
        }
        let all = frame.all.then_some(None);
        for named in all.into_iter().chain(frame.flows.iter().map(|f| Some(*f))) {
            let state = HoldState::of(frame.pause);
            self.refresh.received(v, port, (priority, named), state, a);
        }
    }

    /// A timer of the refresh.
    pub(super) fn refresh(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        let port = key.port;
        match Due::of(key) {
            Some(Due::Repeat) => {
                let told = |p| self.told[self.at(p, port)].frames(self.config.key, p);
                let frames: Vec<_> = self.lossless().flat_map(told).collect();
                self.refresh.repeat(v, port, &frames, a);
            }
            Some(Due::Lapse) => {
                let lapsed = self.refresh.lapsed(v, port, a);
                for priority in self.lossless() {
                    let of = lapsed.iter().filter(|(p, _)| *p == priority);
                    let named: Vec<Option<FlowKey>> = of.map(|(_, named)| *named).collect();
                    if !named.is_empty() {
                        self.lapse(port, priority, &named, a);
                    }
                }
            }
            None => {}
        }
    }

    fn lapse(
        &mut self,
        port: PortId,
        priority: Priority,
        named: &[Option<FlowKey>],
        a: &mut Actions,
    ) {
        let (all, flows) = (named.contains(&None), named.iter().flatten().copied().collect());
        if self.role == Role::Nic {
            return self.card.lapse(port, priority, all, flows, a);
        }
        let (at, lane) = (self.at(priority, port), self.lane(priority, port));
        self.egress[at].lapse(all, flows, self.config.rules, &lane, a);
    }
}
