//! The receive buffer of a host that takes data in slowly.
//!
//! ```text
//!   wire ──► receive buffer ──► host: delivered, acknowledged
//!              │ xoff: PAUSE to the switch, repeated while it lasts
//!              │ xon:  RESUME
//!              │ full: the packet is lost
//! ```
//!
//! A host that is never slow has no such buffer: its packets are delivered as they arrive. Only
//! data waits here; answers and control frames do not.

use super::{Nic, NicTimer};
use crate::config::SlowReceiver;
use crate::env::Env;
use crate::outcome::DropReason;
use crate::probe::PauseSent;
use crate::shared::Shared;
use std::collections::VecDeque;
use weir_core::control::PauseScope;
use weir_core::{Bytes, ControlMessage, NodeId, Packet, PortId, Priority, PrioritySet};
use weir_core::{Reason, Time};

/// The pause time that frames ask for, in quanta of 512 bit times: the longest.
const QUANTA: u16 = u16::MAX;

/// What a timer of the buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum IntakeTimer {
    /// The host has taken in the first packet, or is well again.
    Taken,
    /// The pause has lasted for as long as storm prevention lets it.
    Prevent,
    /// The pause is to be repeated.
    Repeat,
}

/// Whether the switch is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Paused,
    /// Storm prevention has ended the pause.
    Prevented,
}

/// The receive buffer of a slow host.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    spec: SlowReceiver,
    /// What a pause is about.
    lossless: PrioritySet,
    waiting: VecDeque<Packet>,
    bytes: Bytes,
    state: State,
    /// How often storm prevention ended a pause.
    pub(crate) prevented: u64,
}

impl Intake {
    /// The buffer of `host`, if it is ever slow.
    pub(crate) fn of(host: NodeId, shared: &Shared<'_>) -> Option<Box<Self>> {
        let spec = *shared.config.receivers.iter().find(|r| r.host == host)?;
        Some(Box::new(Self {
            spec,
            lossless: shared.config.switch.lossless,
            waiting: VecDeque::new(),
            bytes: Bytes::ZERO,
            state: State::Open,
            prevented: 0,
        }))
    }

    /// Packets that wait.
    pub(crate) fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// When the host will have taken in the first packet, from `now` on.
    fn next(&self, now: Time) -> Time {
        let Some(first) = self.waiting.front() else { return Time::NEVER };
        let Some(well) = self.spec.slow_until(now) else { return now };
        match self.spec.rate.as_bps() {
            0 => well,
            _ => (now + self.spec.rate.time_for(first.bytes())).min(well),
        }
    }

    fn frame(&self, quanta: u16) -> ControlMessage {
        ControlMessage::Pfc { enable: self.lossless, quanta: [quanta; Priority::COUNT] }
    }

    fn length(&self) -> weir_core::reason::Measured {
        Reason::ingress(PortId(0), self.bytes)
    }
}

impl Nic {
    /// Puts data into the receive buffer; returns whether it did, or lost it. If not, nothing is in
    /// the way of `p`.
    pub(super) fn take_later(&mut self, p: &Packet, now: Time, env: &mut Env<'_, '_>) -> bool {
        let Some(intake) = &mut self.intake else { return false };
        if intake.waiting.is_empty() && intake.spec.slow_until(now).is_none() {
            return false;
        }
        self.tally.last_activity = now;
        if intake.bytes + p.bytes() > intake.spec.buffer {
            self.lose(DropReason::ReceiverFull, p, now, env);
            return true;
        }
        intake.bytes += p.bytes();
        intake.waiting.push_back(*p);
        if intake.waiting.len() == 1 {
            self.await_host(now);
        }
        let Some(intake) = &self.intake else { return true };
        if intake.state == State::Open && intake.bytes >= intake.spec.xoff {
            let reason = intake.length().at_least("xoff", intake.spec.xoff);
            self.pause_switch(reason, now, env);
        }
        true
    }

    pub(super) fn on_intake(&mut self, timer: IntakeTimer, now: Time, env: &mut Env<'_, '_>) {
        match timer {
            IntakeTimer::Taken => self.on_taken(now, env),
            IntakeTimer::Repeat => {
                self.tell_switch(QUANTA, Reason::Refresh, now, env);
                self.arm_repeat(now);
            }
            IntakeTimer::Prevent => {
                let Some(intake) = &mut self.intake else { return };
                intake.prevented += 1;
                self.resume_switch(State::Prevented, Reason::Words("storm prevention"), now, env);
            }
        }
    }

    /// The link of `port` is up again: the switch has forgotten that it is paused.
    pub(super) fn repeat_pause(&mut self, now: Time, env: &mut Env<'_, '_>) {
        if self.intake.as_ref().is_some_and(|intake| intake.state == State::Paused) {
            self.tell_switch(QUANTA, Reason::Link, now, env);
        }
    }

    /// The host has taken in the first packet or, if it is well again, all that wait.
    fn on_taken(&mut self, now: Time, env: &mut Env<'_, '_>) {
        while let Some(intake) = &mut self.intake
            && let Some(packet) = intake.waiting.pop_front()
        {
            intake.bytes -= packet.bytes();
            let slow = intake.spec.slow_until(now).is_some();
            self.deliver(&packet, now, env);
            if slow {
                break;
            }
        }
        self.await_host(now);
        let Some(intake) = &self.intake else { return };
        if intake.bytes > intake.spec.xon {
            return;
        }
        match intake.state {
            State::Open => {}
            State::Paused => {
                let reason = intake.length().at_most("xon", intake.spec.xon);
                self.resume_switch(State::Open, reason, now, env);
            }
            State::Prevented => self.set_state(State::Open),
        }
    }

    /// Arms the timer of the first packet.
    fn await_host(&mut self, now: Time) {
        let next = self.intake.as_ref().map_or(Time::NEVER, |intake| intake.next(now));
        if next != Time::NEVER {
            self.timers.arm(NicTimer::Intake(IntakeTimer::Taken), next);
        }
    }

    fn set_state(&mut self, state: State) {
        if let Some(intake) = &mut self.intake {
            intake.state = state;
        }
    }

    fn pause_switch(&mut self, reason: Reason, now: Time, env: &mut Env<'_, '_>) {
        self.set_state(State::Paused);
        self.tell_switch(QUANTA, reason, now, env);
        self.arm_repeat(now);
        if let Some(limit) = self.intake.as_ref().and_then(|intake| intake.spec.prevention) {
            self.timers.arm(NicTimer::Intake(IntakeTimer::Prevent), now + limit);
        }
    }

    fn resume_switch(&mut self, state: State, reason: Reason, now: Time, env: &mut Env<'_, '_>) {
        self.set_state(state);
        self.timers.cancel(NicTimer::Intake(IntakeTimer::Repeat));
        self.timers.cancel(NicTimer::Intake(IntakeTimer::Prevent));
        self.tell_switch(0, reason, now, env);
    }

    /// Repeats the pause after half of its time, on the fastest of the links.
    fn arm_repeat(&mut self, now: Time) {
        let lasts = |rate: weir_core::Rate| rate.time_for(Bytes::new(u64::from(QUANTA) * 64));
        if let Some(half) = self.ports.iter().map(|p| lasts(p.tx.rate) / 2).min() {
            let key = NicTimer::Intake(IntakeTimer::Repeat);
            self.timers.arm_background(key, now + half);
        }
    }

    /// Sends a PFC frame by every port.
    fn tell_switch(&mut self, quanta: u16, reason: Reason, now: Time, env: &mut Env<'_, '_>) {
        let Some(intake) = &self.intake else { return };
        let (message, lossless) = (intake.frame(quanta), intake.lossless);
        for port in (0..self.ports.len()).map(PortId::from_index) {
            self.actions.send(port, message.clone(), reason);
            if reason == Reason::Refresh {
                // what is said again is no new pause
                continue;
            }
            for priority in lossless.iter() {
                let pause = quanta > 0;
                let scope = PauseScope::Priority;
                let cause = &|| None;
                let sent = PauseSent { port, priority, pause, scope, flows: 0, reason, cause };
                self.ports[port.index()].meter.pauses_sent[priority.index()] += u64::from(pause);
                self.probes.paused(now, &sent);
            }
        }
        self.carry_out(now, env);
    }
}
