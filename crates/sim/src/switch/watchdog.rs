//! The PFC watchdog: a priority that stays held for too long is declared stuck, and dealt
//! with until it has been free for a while. Off unless configured.

use super::{Switch, SwitchTimer};
use crate::config::WatchdogAction;
use crate::env::Env;
use crate::outcome::DropReason;
use weir_core::{PortId, Priority, Time};
use weir_fc::{HoldState, Target};

impl Switch {
    /// A priority was held or opened.
    pub(super) fn watch(&mut self, port: PortId, priority: Priority, state: HoldState, now: Time) {
        let Some(watchdog) = self.watchdog else { return };
        let storm = self.ports[port.index()].storm.contains(priority);
        let key = SwitchTimer::Watchdog(port, priority);
        match (state, storm) {
            (HoldState::Held, false) => self.timers.arm_background(key, now + watchdog.detect),
            (HoldState::Open, true) => self.timers.arm_background(key, now + watchdog.restore),
            (HoldState::Held, true) | (HoldState::Open, false) => self.timers.cancel(key),
        }
    }

    /// The detection or restoration time is over.
    pub(super) fn on_watchdog(
        &mut self,
        port: PortId,
        priority: Priority,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let Some(watchdog) = self.watchdog else { return };
        let o = port.index();
        if !self.ports[o].held_priorities.contains(priority) {
            self.ports[o].storm.set(priority, false);
            self.guard(port);
            return;
        }
        self.tally.storms += 1;
        match watchdog.action {
            WatchdogAction::Alert => {}
            WatchdogAction::Drop => {
                self.ports[o].storm.set(priority, true);
                self.guard(port);
                let queues: Vec<usize> = self.ports[o].scheduler.of_priority(priority).collect();
                self.flush(port, &queues, now, DropReason::Watchdog, env);
            }
            // the scheme's own state is untouched: its next hold of the priority takes effect
            WatchdogAction::Forward => {
                self.hold(port, Target::Priority(priority), HoldState::Open, now);
            }
        }
    }
}
