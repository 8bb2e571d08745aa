//! Windows of one lookahead: every node runs once per window, threads share the nodes.

use super::barrier::Barrier;
use super::{Engine, Part};
use crate::node::Env;
use crate::shared::Shared;
use crate::wire::{Mail, Wires};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_core::Time;

/// The window engine.
///
/// Nothing sent within a window of one lookahead arrives inside it, so within a window
/// nodes run independently of each other, in any order and on any thread. Packets for
/// another thread's nodes are handed over when the window ends. A window begins at the
/// earliest pending event of the network: idle time costs nothing.
pub(crate) struct Window {
    lookahead: Time,
}

impl Window {
    pub(crate) fn new(parts: &mut [Part], lookahead: Time) -> Self {
        for part in parts {
            part.announce();
        }
        Self { lookahead }
    }
}

impl Engine for Window {
    fn advance(&mut self, parts: &mut [Part], shared: &Shared<'_>, until: Time) {
        let lookahead = self.lookahead;
        if let [part] = parts {
            while part.next() < until {
                let end = part.next().saturating_add(lookahead).min(until);
                part.run_window(shared, end);
            }
            return;
        }
        let exchange = Exchange::new(parts.len());
        std::thread::scope(|scope| {
            for (me, part) in parts.iter_mut().enumerate() {
                let exchange = &exchange;
                scope.spawn(move || exchange.work(me, part, shared, lookahead, until));
            }
        });
    }
}

impl Part {
    /// Runs every node that has something to do before `end`.
    fn run_window(&mut self, shared: &Shared<'_>, end: Time) {
        let mut env = Env { wires: &mut self.wires, shared };
        for (node, &id) in self.nodes.iter_mut().zip(&self.ids) {
            if env.wires.next(id) < end {
                node.run(end, &mut env);
            }
        }
        self.next = self.earliest();
    }
}

/// Where threads meet at the end of a window.
struct Exchange {
    barrier: Barrier,
    /// `mail[to][from]`
    mail: Vec<Vec<Mutex<Mail>>>,
    /// When each part has something to do next.
    next: Vec<AtomicU64>,
}

impl Exchange {
    fn new(parts: usize) -> Self {
        let boxes = || (0..parts).map(|_| Mutex::new(Mail::default())).collect();
        Self {
            barrier: Barrier::new(parts),
            mail: (0..parts).map(|_| boxes()).collect(),
            next: (0..parts).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// One thread's share of all windows before `until`.
    fn work(&self, me: usize, part: &mut Part, shared: &Shared<'_>, lookahead: Time, until: Time) {
        loop {
            self.next[me].store(part.next().as_ps(), Ordering::Release);
            self.barrier.wait();
            let earliest = self.next.iter().map(|t| t.load(Ordering::Acquire)).min();
            let start = Time::from_ps(earliest.unwrap_or(u64::MAX));
            if start >= until {
                // Everyone has seen the same times and leaves in the same round.
                return;
            }
            part.run_window(shared, start.saturating_add(lookahead).min(until));
            self.post(me, &mut part.wires);
            self.barrier.wait();
            self.collect(me, part);
        }
    }

    fn post(&self, me: usize, wires: &mut Wires) {
        for (to, boxes) in self.mail.iter().enumerate() {
            if to != me {
                let mut slot = boxes[me].lock().expect("nobody panics while handing over");
                wires.hand_over(to, &mut slot);
            }
        }
    }

    fn collect(&self, me: usize, part: &mut Part) {
        for (from, slot) in self.mail[me].iter().enumerate() {
            if from != me {
                let mut slot = slot.lock().expect("nobody panics while handing over");
                part.wires.take_over(&mut slot);
            }
        }
        part.refresh_next();
    }
}
