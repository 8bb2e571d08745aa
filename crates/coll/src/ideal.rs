//! How long programs take where nothing but their own messages is in the network.
//!
//! A message takes the time that it takes alone; a port sends one message after the other and
//! receives one after the other. So this is a lower bound in which only the ports at both ends
//! count, and exact on a network without other bottlenecks.

use crate::program::{Action, Message, Program};
use std::collections::BTreeMap;
use weir_core::Time;

/// What a message costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Which port it leaves by.
    pub from: u32,
    /// How long it occupies that port.
    pub leaves: Time,
    /// Which port it arrives by.
    pub to: u32,
    /// How long it occupies that port.
    pub enters: Time,
    /// From the begin of its sending to its arrival, alone.
    pub alone: Time,
    /// From its arrival to when its rank knows of it.
    pub delay: Time,
}

/// What happens to a rank.
#[derive(Clone, Copy, Debug)]
enum Event {
    Sent(u64),
    Arrives { from: u32, tag: u64, port: u32, enters: Time, delay: Time },
    Received(u32, u64),
    Timer(u64),
}

/// When all programs are done, if they all end with at most `most` messages. `ports` is one more
/// than the highest number of a port; `cost` says what a message of a rank costs.
pub fn time<P: Program + ?Sized>(
    programs: &mut [Box<P>],
    ports: usize,
    most: u64,
    mut cost: impl FnMut(u32, &Message) -> Cost,
) -> Option<Time> {
    let mut model = Model {
        out_free: vec![Time::ZERO; ports],
        in_free: vec![Time::ZERO; ports],
        agenda: BTreeMap::new(),
        spare: Vec::new(),
        messages: 0,
    };
    let mut end = Time::ZERO;
    for (rank, program) in (0..).zip(&mut *programs) {
        model.poll(rank, &mut **program, Time::ZERO, &mut cost);
        if model.messages > most {
            return None;
        }
    }
    while let Some((now, mut events)) = model.agenda.pop_first() {
        for (rank, event) in events.drain(..) {
            if model.messages > most {
                return None;
            }
            let program = &mut *programs[rank as usize];
            match event {
                Event::Sent(op) => {
                    program.on_sent(op);
                    program.on_acked(op);
                }
                Event::Arrives { from, tag, port, enters, delay } => {
                    // what the port still has to receive comes first
                    let free = &mut model.in_free[port as usize];
                    let there = now.max(free.saturating_add(enters));
                    *free = there;
                    model.add(there.saturating_add(delay), rank, Event::Received(from, tag));
                    continue;
                }
                Event::Received(from, tag) => program.on_received(from, tag),
                Event::Timer(op) => program.on_timer(op),
            }
            end = now;
            model.poll(rank, program, now, &mut cost);
        }
        model.spare.push(events);
    }
    programs.iter().all(|p| p.is_done()).then_some(end)
}

/// Ports and what is under way.
struct Model {
    out_free: Vec<Time>,
    in_free: Vec<Time>,
    /// What happens at each instant to which rank, in the order of its making: ranks mostly act
    /// at the same instants. What is added to the instant that is under way comes after it.
    agenda: BTreeMap<Time, Vec<(u32, Event)>>,
    /// Empty lists, to be used again.
    spare: Vec<Vec<(u32, Event)>>,
    messages: u64,
}

impl Model {
    fn add(&mut self, at: Time, rank: u32, event: Event) {
        let spare = &mut self.spare;
        let events = self.agenda.entry(at).or_insert_with(|| spare.pop().unwrap_or_default());
        events.push((rank, event));
    }

    fn poll<P: Program + ?Sized>(
        &mut self,
        rank: u32,
        program: &mut P,
        now: Time,
        cost: &mut impl FnMut(u32, &Message) -> Cost,
    ) {
        while let Some(action) = program.poll() {
            match action {
                Action::Send(message) => {
                    self.messages += 1;
                    let c = cost(rank, &message);
                    let free = &mut self.out_free[c.from as usize];
                    let begins = now.max(*free);
                    *free = begins.saturating_add(c.leaves);
                    let left = *free;
                    self.add(left, rank, Event::Sent(message.op));
                    let (port, enters, delay) = (c.to, c.enters, c.delay);
                    let event =
                        Event::Arrives { from: rank, tag: message.tag, port, enters, delay };
                    self.add(begins.saturating_add(c.alone), message.peer, event);
                }
                Action::Calc { op, time } | Action::Wait { op, time } => {
                    self.add(now.saturating_add(time), rank, Event::Timer(op));
                }
                Action::Begin(_) | Action::End(_) => {}
            }
        }
    }
}
