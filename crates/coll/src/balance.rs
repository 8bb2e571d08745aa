//! What is sent to each rank and what it receives, without looking at the order.
//!
//! A balance takes 24 bytes per rank, however many messages there are: they are counted, and
//! values that tell them apart are added up where they are sent and subtracted where they are
//! received. Sums of values that were mixed before are zero if both sides are the same, in
//! whatever order; that sums of different messages are zero by chance has a probability of 2^-64.

/// What is sent to a rank, and what it receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// How many messages are sent to it.
    pub sent: u64,
    /// How many it receives.
    pub received: u64,
    /// Sum of what is sent minus sum of what is received.
    difference: u64,
}

impl Balance {
    /// Whether messages are left over at the end.
    pub fn surplus(&self) -> bool {
        self.sent > self.received
    }

    /// Whether it receives other messages than are sent to it.
    pub fn differs(&self) -> bool {
        self.sent != self.received || self.difference != 0
    }
}

/// The balances of all ranks.
#[derive(Clone, Debug)]
pub(crate) struct Balances(Vec<Balance>);

impl Balances {
    pub(crate) fn new(ranks: usize) -> Self {
        Self(vec![Balance::default(); ranks])
    }

    /// A message is sent to a rank; `what` tells it from others that it must not be taken for.
    pub(crate) fn sent(&mut self, to: usize, what: u64) {
        let balance = &mut self.0[to];
        balance.sent += 1;
        balance.difference = balance.difference.wrapping_add(mixed(what));
    }

    /// A rank receives a message.
    pub(crate) fn received(&mut self, by: usize, what: u64) {
        let balance = &mut self.0[by];
        balance.received += 1;
        balance.difference = balance.difference.wrapping_sub(mixed(what));
    }

    /// By rank.
    pub(crate) fn all(self) -> Vec<Balance> {
        self.0
    }
}

fn mixed(what: u64) -> u64 {
    let x = (what ^ (what >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
