//! Flows of several hosts that come from common events.
//!
//! An incast event concerns many senders at once, so its flows cannot be drawn from per-host
//! streams. Here the hosts share one dealer: whoever needs its next flow has events dealt, in
//! their order in time, until one concerns it; what falls to the others meanwhile waits in their
//! hands. The sequence of events depends on the seed alone, so it does not matter who asks when,
//! nor from which thread. With n senders and d flows per event a host looks about n/d events
//! ahead, so what waits is a few flows per host, never the whole run.

use super::marking::Marking;
use super::{Pair, Streams};
use crate::flow::FlowSpec;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use weir_core::{Bytes, NodeId, Time};

/// A sequence of events, each of which gives flows to some hosts.
pub trait Events: Send + 'static {
    /// Deals the next event: calls `deal` once per flow. False when there are no more events.
    /// Events come in order of time.
    fn next(&mut self, deal: &mut dyn FnMut(Dealt)) -> bool;
}

/// A flow dealt to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// Position of the sender among the hosts dealt to.
    pub sender: usize,
    /// The receiver.
    pub dst: NodeId,
    /// Payload.
    pub size: Bytes,
    /// When it starts.
    pub start: Time,
}

#[derive(Debug)]
struct Dealer<E> {
    events: E,
    hands: Vec<VecDeque<Dealt>>,
}

struct Hand<E> {
    dealer: Arc<Mutex<Dealer<E>>>,
    sender: usize,
    src: NodeId,
    marking: Marking,
}

impl<E: Events> Iterator for Hand<E> {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        // A panic elsewhere leaves whole events dealt or not dealt at all.
        let mut dealer = self.dealer.lock().unwrap_or_else(PoisonError::into_inner);
        let Dealer { events, hands } = &mut *dealer;
        loop {
            if let Some(dealt) = hands[self.sender].pop_front() {
                let pair = Pair::new(self.src, dealt.dst);
                return Some(self.marking.flow(pair, dealt.size, dealt.start));
            }
            if !events.next(&mut |dealt| hands[dealt.sender].push_back(dealt)) {
                return None;
            }
        }
    }
}

/// One stream for each of `senders`, all fed by `events`.
///
/// A host that no event ever concerns must not be among them: asking it would use up all events.
pub fn deal<E: Events>(events: E, senders: &[NodeId], marking: Marking) -> Streams {
    let hands = vec![VecDeque::new(); senders.len()];
    let dealer = Arc::new(Mutex::new(Dealer { events, hands }));
    let hand = |(sender, &src): (usize, &NodeId)| {
        let hand = Hand { dealer: Arc::clone(&dealer), sender, src, marking };
        (src, Box::new(hand) as Box<_>)
    };
    senders.iter().enumerate().map(hand).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Event i is one flow from each of the senders i and i + 1 of 4, ten events in all.
    struct Ten(u64);

    impl Events for Ten {
        fn next(&mut self, deal: &mut dyn FnMut(Dealt)) -> bool {
            let i = self.0;
            if i == 10 {
                return false;
            }
            self.0 += 1;
            for sender in [i % 4, (i + 1) % 4] {
                let (size, start) = (Bytes::new(i + 1), Time::from_us(i));
                deal(Dealt { sender: sender as usize, dst: NodeId(9), size, start });
            }
            true
        }
    }

    fn drawn(order: [usize; 4]) -> Vec<FlowSpec> {
        let senders = [0, 1, 2, 3].map(NodeId);
        let mut streams = deal(Ten(0), &senders, Marking::default());
        let mut flows = Vec::new();
        for at in order {
            flows.extend(&mut streams[at].1);
        }
        flows.sort_by_key(|f| (f.start, f.src));
        flows
    }

    #[test]
    fn who_asks_first_does_not_matter() {
        assert_eq!(drawn([0, 1, 2, 3]).len(), 20);
        assert_eq!(drawn([0, 1, 2, 3]), drawn([3, 1, 0, 2]));
    }
}
