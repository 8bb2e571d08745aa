//! The parameters of FlowSail, and how its printed algorithms are read.

use super::egress::Egress;
use crate::perflow::active_with;
use crate::{Choices, Fallback, Kind, NodeView, Param, Values};
use weir_core::QueueId;

/// How many data queues a port has.
pub const QUEUES: Param = Param {
    name: "queues",
    kind: Kind::Whole { min: 2, max: 128 },
    fallback: Fallback::Is("8"),
    doc: "Data queues per egress port, the isolation queue included.",
};
/// The lower threshold.
pub const Q_LOW: Param = Param {
    name: "q-low",
    kind: Kind::Fraction,
    fallback: Fallback::Is("1"),
    doc: "Queue length, in hop bandwidth-delay products over N_active, beyond which flows above \
          their fair share are paused.",
};
/// The upper threshold.
pub const Q_HIGH: Param = Param {
    name: "q-high",
    kind: Kind::Fraction,
    fallback: Fallback::Is("3"),
    doc: "Queue length, in hop bandwidth-delay products over N_active, beyond which every flow is \
          paused.",
};
/// How long a flow stays in the isolation queue's table.
pub const QUIET: Param = Param {
    name: "release",
    kind: Kind::Time(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "How long a resumed flow without packets stays isolated; default: two hop round trips.",
};
/// Whether a pause stops what is already queued.
pub const HOLD_ORIGINAL: Param = Param {
    name: "hold-original",
    kind: Kind::Bool,
    fallback: Fallback::Is("true"),
    doc: "true: a pause also holds the queue with earlier packets of the flow, and so all flows \
          in it; false: these packets are still sent.",
};
/// Which queues share the port.
pub const N_ACTIVE: Param = Param {
    name: "n-active",
    kind: Kind::Choice(&["filled", "unpaused", "one"]),
    fallback: Fallback::Is("filled"),
    doc: "What divides the thresholds. filled: queues with packets that are not paused; unpaused: \
          empty ones as well; one: nothing does.",
};

/// Words for details taken as printed, in the order of [`Reading`].
const WORDS: &[&str] = &[
    "text",
    "mark-sign",
    "share-alone",
    "two-counters",
    "printed-holds",
    "printed-holds-bounded",
    "hold-once",
    "early-release",
];

/// How the printed algorithms are read.
pub const READING: Param = Param {
    name: "reading",
    kind: Kind::Set(Choices {
        words: WORDS,
        apart: &[&["printed-holds", "printed-holds-bounded"]],
    }),
    fallback: Fallback::Is("text"),
    doc: "text: the paper's text where its listings contradict it; otherwise details as the \
          listings print them, one or a list.",
};

/// A correction of the printed algorithms that is taken back. Its number is the place of its word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    MarkSign = 1,
    ShareAlone,
    TwoCounters,
    PrintedHolds,
    PrintedHoldsBounded,
    HoldOnce,
    EarlyRelease,
}

/// The corrections that a run takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Readings(u8);

impl Readings {
    pub(super) fn new(values: &Values) -> Self {
        let chosen = values.set_of(&READING).expect("has a default");
        let bit = |(i, word): (usize, &&str)| u8::from(chosen.has(word)) << i;
        Self(WORDS.iter().enumerate().map(bit).sum())
    }

    #[inline]
    pub(super) fn has(self, reading: Reading) -> bool {
        self.0 & (1 << reading as u8) != 0
    }

    /// Whether only the first PAUSE holds the flow's old queue.
    pub(super) fn holds_normal_once(self) -> bool {
        self.has(Reading::HoldOnce) || self.holds_as_printed()
    }

    /// Whether the PAUSE that makes a flow's entry does not count for the isolation queue.
    pub(super) fn holds_as_printed(self) -> bool {
        self.has(Reading::PrintedHolds) || self.has(Reading::PrintedHoldsBounded)
    }

    /// Whether the tables count what there is: the literal details lose count on purpose.
    pub(super) fn keeps_count(self) -> bool {
        self.0 & !(1 << Reading::ShareAlone as u8) == 0
    }
}

/// What divides the thresholds of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sharers {
    Filled,
    Unpaused,
    One,
}

impl Sharers {
    pub(super) fn new(values: &Values) -> Self {
        let meanings = [("filled", Self::Filled), ("unpaused", Self::Unpaused), ("one", Self::One)];
        values.one_of(&N_ACTIVE, &meanings)
    }

    /// N_active of the port of `e` once a packet has joined `queue`, at least one.
    #[inline]
    pub(super) fn count(self, v: &NodeView<'_>, e: &Egress, queue: QueueId) -> u64 {
        match self {
            Self::Filled => active_with(v, e.port, queue),
            Self::Unpaused => {
                let open = |i: &usize| !v.queue(e.port, e.queue_id(*i as u32)).held;
                ((0..e.queues.len()).filter(open).count() as u64).max(1)
            }
            Self::One => 1,
        }
    }
}
