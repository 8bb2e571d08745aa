//! Pauses that slow hosts ask for.
//!
//! A NIC whose receive buffer is full sends PFC frames, whatever flow control the switches use
//! among each other. So these frames do not go to the scheme: the switch holds the priorities of
//! its port to that host, as the standard says, until a RESUME comes or the pause time is over.
//! Everything behind them, such as the queue that grows at this port, is up to the scheme.

use super::{Switch, SwitchTimer};
use crate::env::Env;
use std::collections::BTreeSet;
use weir_core::{Bytes, ControlMessage, PortId, Priority, Time};
use weir_fc::{HoldState, Target};

/// What hosts have paused.
pub(crate) type HostPauses = BTreeSet<(PortId, Priority)>;

impl Switch {
    /// Takes a control frame that is a pause or resume of a slow host; returns whether it was one.
    pub(super) fn on_host_pause(
        &mut self,
        port: PortId,
        message: &ControlMessage,
        now: Time,
        env: &Env<'_, '_>,
    ) -> bool {
        let ControlMessage::Pfc { enable, quanta } = message else { return false };
        let peer = env.shared.topology.port(self.id, port).peer;
        if env.shared.config.receivers.iter().all(|r| r.host != peer) {
            return false;
        }
        let rate = self.ports[port.index()].tx.rate;
        for priority in enable.iter() {
            match quanta[priority.index()] {
                0 => self.end_host_pause(port, priority, now),
                n => {
                    let lasts = rate.time_for(Bytes::new(u64::from(n) * 64));
                    let key = SwitchTimer::HostPause(port, priority);
                    self.timers.arm_background(key, now + lasts);
                    self.host_pauses.insert((port, priority));
                    // nothing new, unless a watchdog has lifted the hold
                    self.hold(port, Target::Priority(priority), HoldState::Held, now);
                }
            }
        }
        true
    }

    /// A host resumes a priority, or its pause time is over.
    pub(super) fn end_host_pause(&mut self, port: PortId, priority: Priority, now: Time) {
        if self.host_pauses.remove(&(port, priority)) {
            self.timers.cancel(SwitchTimer::HostPause(port, priority));
            self.hold(port, Target::Priority(priority), HoldState::Open, now);
        }
    }

    /// The link at `port` has failed or recovered: its host has paused nothing.
    pub(super) fn forget_host_pauses(&mut self, port: PortId, now: Time) {
        let own: Vec<_> = self.host_pauses.iter().filter(|(p, _)| *p == port).copied().collect();
        for (port, priority) in own {
            self.end_host_pause(port, priority, now);
        }
    }
}
