//! The downstream side of OFC: Algorithm 1, when to tell the neighbour above what.

use super::tables::{FlowKey, Frame, Told};
use super::{Ofc, PauseTable, Scope};
use crate::{Actions, HoldState, NodeView};
use std::collections::BTreeSet;
use weir_core::{PortId, Priority, Reason};

/// What the neighbour should pause.
enum Pause {
    All,
    Flows(BTreeSet<FlowKey>),
}

impl Ofc {
    /// A packet of `priority` that came in by `ingress` has joined `egress`: pauses what
    /// causes the congestion, if there is any.
    pub(super) fn notify(
        &mut self,
        v: &NodeView<'_>,
        ingress: PortId,
        egress: PortId,
        priority: Priority,
        a: &mut Actions,
    ) {
        let Some((pause, reason)) = self.what_to_pause(v, ingress, egress, priority) else {
            return;
        };
        match self.config.pause_table {
            PauseTable::Union => self.tell_growth(ingress, priority, pause, reason, a),
            PauseTable::Overwrite => self.tell_again(ingress, priority, pause, reason, a),
        }
        if self.refresh.is_on() && !self.told[self.at(priority, ingress)].is_nothing() {
            self.refresh.told(v.now, ingress, a);
        }
    }

    /// Algorithm 1, lines 3 to 12, and why.
    fn what_to_pause(
        &self,
        v: &NodeView<'_>,
        ingress: PortId,
        egress: PortId,
        priority: Priority,
    ) -> Option<(Pause, Reason)> {
        // line 10: the urgent state
        if v.books.mmu.should_pause(ingress, priority) {
            let pause = match self.config.urgent_wildcard {
                true => Pause::All,
                // line 11
                false => Pause::Flows(self.flows_for_urgency(ingress, egress, priority)),
            };
            return Some((pause, v.books.mmu.pause_reason(ingress, priority)));
        }
        // lines 3 and 4; below the egress threshold nothing is congested, so nothing is sent
        let full = self.config.xoff_congested[ingress.index()];
        // a faster egress is looked at with the ingress's threshold: a slow ingress would be in the
        // urgent state before the queue of a fast egress is as long as that of its own speed
        let long = full.min(self.config.xoff_congested[egress.index()]);
        let queued = v.q_out(egress, priority);
        if v.q_in(ingress, priority) < full || queued < long {
            return None;
        }
        // both are true; the egress is where the congestion is
        let reason = Reason::egress(egress, queued).at_least(super::XOFF_CONGESTED.name, long);
        let hierarchy = &self.egress[self.at(priority, egress)];
        let here = self.flows_between(ingress, egress, priority);
        let flows = if !hierarchy.is_paused(self.config.rules) {
            here.collect() // line 6: the congestion starts here
        } else if self.config.scope == Scope::Ingress || hierarchy.all {
            // line 8: it comes from below
            here.filter(|&f| hierarchy.is_congested(f, self.config.rules)).collect()
        } else {
            hierarchy.paused.clone()
        };
        Some((Pause::Flows(flows), reason))
    }

    /// Flows with packets in `egress` that this ingress has to answer for.
    fn flows_between(
        &self,
        ingress: PortId,
        egress: PortId,
        priority: Priority,
    ) -> impl Iterator<Item = FlowKey> {
        let ingresses = match self.config.scope {
            Scope::Ingress => ingress.index()..ingress.index() + 1,
            Scope::Port => 0..self.ports,
        };
        ingresses.flat_map(move |i| {
            self.counts[self.between(priority, PortId::from_index(i), egress)].flows()
        })
    }

    /// All known flows of an ingress.
    fn flows_for_urgency(
        &self,
        ingress: PortId,
        egress: PortId,
        priority: Priority,
    ) -> BTreeSet<FlowKey> {
        match self.config.scope {
            Scope::Ingress => (0..self.ports)
                .flat_map(|o| self.flows_between(ingress, PortId::from_index(o), priority))
                .collect(),
            Scope::Port => self.flows_between(ingress, egress, priority).collect(),
        }
    }

    /// Algorithm 1, lines 13 and 14: a PAUSE goes out only when the set grows, with what is
    /// new in it; `pause_frame_tab` holds the union.
    fn tell_growth(
        &mut self,
        ingress: PortId,
        priority: Priority,
        pause: Pause,
        reason: Reason,
        a: &mut Actions,
    ) {
        let at = self.at(priority, ingress);
        let told = &mut self.told[at];
        match pause {
            _ if told.all => {}
            Pause::All => {
                told.all = true;
                Frame::send_all(HoldState::Held, (ingress, priority), reason, a);
            }
            Pause::Flows(flows) => {
                let new: Vec<FlowKey> = flows.difference(&told.flows).copied().collect();
                told.flows.extend(&new);
                Frame::send_list(
                    HoldState::Held,
                    self.config.key,
                    (ingress, priority),
                    &new,
                    reason,
                    a,
                );
            }
        }
    }

    /// The same lines to the letter: a PAUSE for every packet above the threshold, and a
    /// table that holds the last one only.
    fn tell_again(
        &mut self,
        ingress: PortId,
        priority: Priority,
        pause: Pause,
        reason: Reason,
        a: &mut Actions,
    ) {
        let at = self.at(priority, ingress);
        match pause {
            Pause::All => {
                self.told[at] = Told { all: true, flows: BTreeSet::new() };
                Frame::send_all(HoldState::Held, (ingress, priority), reason, a);
            }
            Pause::Flows(flows) => {
                let list: Vec<FlowKey> = flows.iter().copied().collect();
                self.told[at] = Told { all: false, flows };
                Frame::send_list(
                    HoldState::Held,
                    self.config.key,
                    (ingress, priority),
                    &list,
                    reason,
                    a,
                );
            }
        }
    }

    /// The link at `ingress` is up again, and the neighbour has forgotten what it was told: it is
    /// told all of it once more. In the meantime the queues that this ingress has packets in may
    /// have grown, so Algorithm 1 is carried out as if one more packet had joined each of them;
    /// `tell_again` answers packets only.
    pub(super) fn tell_anew(
        &mut self,
        v: &NodeView<'_>,
        ingress: PortId,
        priority: Priority,
        a: &mut Actions,
    ) {
        let told = &self.told[self.at(priority, ingress)];
        let flows: Vec<FlowKey> = told.flows.iter().copied().collect();
        if told.all {
            Frame::send_all(HoldState::Held, (ingress, priority), Reason::Link, a);
        }
        Frame::send_list(
            HoldState::Held,
            self.config.key,
            (ingress, priority),
            &flows,
            Reason::Link,
            a,
        );
        if self.config.pause_table == PauseTable::Union {
            for egress in (0..self.ports).map(PortId::from_index) {
                if self.counts[self.between(priority, ingress, egress)].len() > 0 {
                    self.notify(v, ingress, egress, priority, a);
                }
            }
        }
    }

    /// Algorithm 1, lines 16 to 20: resumes what was paused when the ingress has drained.
    #[inline]
    pub(super) fn resume_drained(
        &mut self,
        v: &NodeView<'_>,
        ingress: PortId,
        priority: Priority,
        a: &mut Actions,
    ) {
        let at = self.at(priority, ingress);
        if self.told[at].is_nothing() || !v.books.mmu.may_resume(ingress, priority) {
            return;
        }
        let told = std::mem::take(&mut self.told[at]);
        let reason = v.books.mmu.resume_reason(ingress, priority);
        if told.all {
            Frame::send_all(HoldState::Open, (ingress, priority), reason, a);
        } else {
            let flows: Vec<FlowKey> = told.flows.into_iter().collect();
            Frame::send_list(
                HoldState::Open,
                self.config.key,
                (ingress, priority),
                &flows,
                reason,
                a,
            );
        }
    }
}
