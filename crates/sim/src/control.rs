//! Control frames: how a node makes one of a message, and what it does with one that comes in.

use crate::env::Env;
use crate::extras::{Extras, Said};
use crate::faults::Faults;
use crate::frame::control_packet;
use crate::link::Transmitter;
use crate::outcome::DropReason;
use crate::probe::port::PortMeter;
use crate::tally::Tally;
use crate::timers::{Name, Timers};
use std::collections::VecDeque;
use weir_core::{ControlMessage, Packet, PortId, Time};

/// The frame of a message that a scheme sends by a port, counted, with the message in the side
/// pool.
pub(crate) fn outgoing(
    said: Said,
    tally: &mut Tally,
    port: &mut PortMeter,
    extras: &mut Extras,
) -> Packet {
    tally.control_frames += 1;
    tally.control_bytes += said.message.frame_bytes().get();
    port.control_sent += 1;
    let packet = control_packet(&said.message, 0);
    Packet { extra: extras.messages.put(said), ..packet }
}

/// A node that takes control frames: each has its effect after the response time of its link,
/// unless a fault of the scenario hits it.
pub(crate) trait Responder {
    /// Names of its timers.
    type Timer: Name;

    /// The frames whose response time runs, and the timers.
    fn responses(&mut self) -> (&mut Responses<Self::Timer>, &mut Timers<Self::Timer>);

    /// The faults of its links.
    fn faults(&mut self) -> &mut Faults;

    /// The sending half of a port and what is counted there.
    fn port(&mut self, port: PortId) -> (&Transmitter, &mut PortMeter);

    /// A frame takes effect.
    fn on_control(
        &mut self,
        port: PortId,
        message: &ControlMessage,
        now: Time,
        env: &mut Env<'_, '_>,
    );

    /// Counts a frame that is lost as it arrives.
    fn lose(&mut self, reason: DropReason, frame: &Packet, now: Time, env: &mut Env<'_, '_>);

    /// A control frame came in by `port`: it takes effect after the link's response time.
    fn on_control_frame(&mut self, port: PortId, frame: &Packet, now: Time, env: &mut Env<'_, '_>) {
        let response = env.shared.config.link.response.at(self.port(port).0.rate);
        if self.faults().any() {
            self.on_faulty_frame(port, frame, response, now, env);
            return;
        }
        let message = env.wires.extras.messages.take(frame.extra).message;
        self.respond(port, message, response, now, env);
    }

    /// Lets a frame take effect so much later.
    fn respond(
        &mut self,
        port: PortId,
        message: ControlMessage,
        after: Time,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        if after == Time::ZERO {
            self.on_control(port, &message, now, env);
            return;
        }
        let (responses, timers) = self.responses();
        responses.push(now + after, port, message, timers);
    }

    /// [`Responder::on_control_frame`] where a fault may hit the frame.
    #[cold]
    fn on_faulty_frame(
        &mut self,
        port: PortId,
        frame: &Packet,
        response: Time,
        now: Time,
        env: &mut Env<'_, '_>,
    ) {
        let message = &env.wires.extras.messages.get(frame.extra).message;
        let effects = self.faults().strike(port, message, now);
        self.port(port).1.control_faulted += u64::from(effects.is_fault());
        let Some(delay) = effects.delay else {
            self.lose(DropReason::Fault, frame, now, env);
            return;
        };
        let message = env.wires.extras.messages.take(frame.extra).message;
        self.respond(port, message.clone(), response + delay, now, env);
        for late in effects.again {
            self.respond(port, message.clone(), response + late, now, env);
        }
    }
}

/// Frames whose response time runs, at one node. One timer, named `K` among the node's, stands for
/// the first of them.
#[derive(Clone, Debug)]
pub(crate) struct Responses<K> {
    waiting: VecDeque<(Time, PortId, ControlMessage)>,
    timer: K,
}

impl<K: Name> Responses<K> {
    pub(crate) fn new(timer: K) -> Self {
        Self { waiting: VecDeque::new(), timer }
    }

    /// A frame that came by `port` takes effect at `at`, after those of the same time that came
    /// earlier.
    pub(crate) fn push(
        &mut self,
        at: Time,
        port: PortId,
        message: ControlMessage,
        timers: &mut Timers<K>,
    ) {
        // ports of other speeds may respond sooner; of one port, the frames stay in order
        let place = self.waiting.partition_point(|(other, ..)| *other <= at);
        self.waiting.insert(place, (at, port, message));
        if place == 0 {
            timers.arm(self.timer, at);
        }
    }

    /// How many timers are armed for them.
    pub(crate) fn timers(&self) -> usize {
        usize::from(!self.waiting.is_empty())
    }

    /// The timer has fired: the frame whose time is over, and the port it came by.
    pub(crate) fn pop(&mut self, timers: &mut Timers<K>) -> (PortId, ControlMessage) {
        let (_, port, message) = self.waiting.pop_front().expect("a frame's response time is over");
        self.rearm(timers);
        (port, message)
    }

    /// The link at `port` is down: what came by it and has not taken effect yet never will.
    pub(crate) fn forget(&mut self, port: PortId, timers: &mut Timers<K>) {
        self.waiting.retain(|(_, p, _)| *p != port);
        self.rearm(timers);
    }

    fn rearm(&self, timers: &mut Timers<K>) {
        match self.waiting.front() {
            Some((at, ..)) => timers.arm(self.timer, *at),
            None => timers.cancel(self.timer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::Priority;
    use weir_fc::TimerClass;

    const A: PortId = PortId(0);
    const B: PortId = PortId(1);

    impl Name for char {}

    fn frame(quanta: u16) -> ControlMessage {
        ControlMessage::pfc(Priority::ALL[3], quanta)
    }

    #[test]
    fn frames_take_effect_in_turn_and_not_after_their_link_has_failed() {
        let us = Time::from_us;
        let (mut timers, mut r) = (Timers::new(), Responses::new('r'));
        for (at, port) in [(1, A), (2, B), (3, A), (4, B)] {
            r.push(us(at), port, frame(at as u16), &mut timers);
        }
        assert_eq!(
            (timers.pop(), timers.pop()),
            (Some((us(1), 'r', TimerClass::Foreground)), None),
            "one timer"
        );
        assert_eq!(r.pop(&mut timers), (A, frame(1)));
        assert_eq!(timers.settle(), us(2));
        r.forget(B, &mut timers);
        assert_eq!(timers.settle(), us(3), "the next one of the other port");
        r.forget(A, &mut timers);
        assert_eq!((timers.settle(), timers.foreground()), (Time::NEVER, 0));
    }

    #[test]
    fn a_port_that_responds_sooner_overtakes_a_slower_one() {
        let us = Time::from_us;
        let (mut timers, mut r) = (Timers::new(), Responses::new('r'));
        for (at, port) in [(5, A), (2, B), (5, B), (6, A)] {
            r.push(us(at), port, frame(at as u16), &mut timers);
        }
        let order = [(2, B), (5, A), (5, B), (6, A)];
        for (at, port) in order {
            assert_eq!(timers.settle(), us(at));
            assert_eq!(r.pop(&mut timers), (port, frame(at as u16)));
        }
        assert_eq!(r.timers(), 0);
    }
}
