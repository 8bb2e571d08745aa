//! Flows of several hosts that come from common events.
//!
//! An incast event concerns many senders at once, so its flows cannot be drawn from per-host
//! streams. Here the hosts share one generator of events. A host that needs its next flow
//! generates events, in order of time, until one has a flow of this host; flows of other hosts in
//! these events are stored for them. The sequence of events depends on the seed alone, so the
//! order of requests and their threads do not matter. With n senders and d flows per event a host
//! is about n/d events ahead, so a few flows per host are stored, never those of the whole run.

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

    /// Each event goes to 8 of 64 senders, drawn at random.
    struct Random(weir_core::rng::Stream, u64);

    impl Events for Random {
        fn next(&mut self, deal: &mut dyn FnMut(Dealt)) -> bool {
            self.1 += 1;
            for _ in 0..8 {
                let (sender, start) = (self.0.below(64) as usize, Time::from_us(self.1));
                deal(Dealt { sender, dst: NodeId(99), size: Bytes::new(1), start });
            }
            true
        }
    }

    #[test]
    fn what_waits_is_a_few_flows_per_host_however_long_the_run() {
        let events = Random(weir_core::rng::Stream::new(1, "src", 0), 0);
        let hands = vec![VecDeque::new(); 64];
        let dealer = Arc::new(Mutex::new(Dealer { events, hands }));
        let mut hosts: Vec<_> = (0..64)
            .map(|sender| Hand {
                dealer: Arc::clone(&dealer),
                sender,
                src: NodeId(sender as u32),
                marking: Marking::default(),
            })
            .collect();
        // as a simulation does: each host holds its next flow, the earliest goes first
        let mut next: Vec<Time> = hosts.iter_mut().map(|h| h.next().unwrap().start).collect();
        let mut most = 0;
        for _ in 0..100_000 {
            let first = (0..64).min_by_key(|&i| next[i]).unwrap();
            next[first] = hosts[first].next().unwrap().start;
            most = most.max(dealer.lock().unwrap().hands.iter().map(VecDeque::len).sum());
        }
        // A host waits 8 events on average between its flows; the longest of 100 000 waits is some
        // 8 ln(100 000) = 92 events, during which 64 * 92 / 8 = 736 flows fall to the others.
        assert!((100..1500).contains(&most), "{most}");
    }

    #[test]
    fn who_asks_first_does_not_matter() {
        assert_eq!(drawn([0, 1, 2, 3]).len(), 20);
        assert_eq!(drawn([0, 1, 2, 3]), drawn([3, 1, 0, 2]));
    }
}
