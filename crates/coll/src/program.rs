//! What a rank does, as a state machine without input, output or a clock.
//!
//! Whoever runs a rank calls [`Program::poll`] until it returns nothing, carries out the actions,
//! and reports with the `on_` methods what has happened; after each report it polls again. A
//! program knows its own rank only: what it waits for is a message, the end of its own sending, or
//! the end of its own computation. So ranks affect each other through messages alone, and it does
//! not matter in which order different ranks are run.

use std::fmt;
use weir_core::{Bytes, Time};

/// A message that a rank sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Names the operation in [`Program::on_sent`] and [`Program::on_acked`].
    pub op: u64,
    /// The rank that receives it.
    pub peer: u32,
    /// Its size.
    pub bytes: Bytes,
    /// What its receiver tells it by, together with the sender.
    pub tag: u64,
    /// Messages of one channel to one peer share a connection, or a set of queue pairs.
    pub channel: u32,
}

/// What a rank does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a message.
    Send(Message),
    /// Compute, then call [`Program::on_timer`].
    Calc {
        /// Names the computation.
        op: u64,
        /// How long it takes.
        time: Time,
    },
    /// Let time pass that is no computation, such as the latency of a send, then call
    /// [`Program::on_timer`].
    Wait {
        /// Names what waits.
        op: u64,
        /// How long.
        time: Time,
    },
    /// The rank begins this iteration. For records.
    Begin(u32),
    /// The rank has finished this iteration. For records.
    End(u32),
}

/// Something that a rank waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The operation, in words.
    pub operation: String,
    /// The rank whose message is missing; `None` if it may be any, or the rank waits for itself.
    pub peer: Option<u32>,
    /// The tag of the missing message, if there is a single one.
    pub tag: Option<u64>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.operation)
    }
}

/// The program of one rank. Reports about operations that it does not know of change nothing.
pub trait Program: fmt::Debug + Send {
    /// The next action, if there is one. Call it again after each report.
    fn poll(&mut self) -> Option<Action>;

    /// The last packet of a message has left the rank.
    fn on_sent(&mut self, op: u64);

    /// The last packet of a message has left the rank, and all that the program would do in
    /// [`on_sent`](Self::on_sent) is to remember it: does that and returns true. Otherwise, and
    /// always if the program cannot tell, it returns false, and nothing has changed. Before and
    /// after, [`poll`](Self::poll) has nothing to return.
    fn notes_sent(&mut self, op: u64) -> bool {
        let _ = op;
        false
    }

    /// A message has been acknowledged as a whole.
    fn on_acked(&mut self, op: u64) {
        let _ = op;
    }

    /// Whether [`on_acked`](Self::on_acked) changes anything. If not, it need not be called.
    fn wants_acks(&self) -> bool {
        true
    }

    /// A message from `peer` has arrived as a whole.
    fn on_received(&mut self, peer: u32, tag: u64);

    /// A computation is over.
    fn on_timer(&mut self, op: u64);

    /// Whether nothing is left to do or to wait for.
    fn is_done(&self) -> bool;

    /// What it waits for. Empty once it is done.
    fn waits(&self) -> Vec<Wait>;
}

/// Who waits for whom, from the first rank that cannot go on to a circle or to a rank that will
/// send nothing more: each rank with what it waits for.
///
/// A wait for a rank that has ended comes first, because that is the cause and not a consequence.
pub fn wait_for_chain<P: Program + ?Sized>(programs: &[&P]) -> Vec<(u32, Wait)> {
    let over = |peer: Option<u32>| {
        peer.is_none_or(|p| programs.get(p as usize).is_none_or(|program| program.is_done()))
    };
    let stuck = |rank: u32| -> Option<Wait> {
        let program = programs.get(rank as usize)?;
        if program.is_done() {
            return None;
        }
        let waits = program.waits();
        let cause = waits.iter().position(|w| over(w.peer)).unwrap_or(0);
        waits.into_iter().nth(cause)
    };
    let ranks = 0..programs.len() as u32;
    let cause = ranks.clone().find(|&r| stuck(r).is_some_and(|wait| over(wait.peer)));
    let Some(mut at) = cause.or_else(|| ranks.clone().find(|&r| stuck(r).is_some())) else {
        return Vec::new();
    };
    let mut chain: Vec<(u32, Wait)> = Vec::new();
    let mut seen = vec![false; programs.len()];
    while let Some(wait) = stuck(at).filter(|_| !seen[at as usize]) {
        seen[at as usize] = true;
        let next = wait.peer;
        chain.push((at, wait));
        match next {
            Some(peer) => at = peer,
            None => break,
        }
    }
    chain
}
