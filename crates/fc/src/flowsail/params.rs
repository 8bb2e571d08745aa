//! The parameters of FlowSail, and how its printed algorithms are read.

use crate::{Fallback, Kind, Param, Values};

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
/// How the printed algorithms are read.
pub const READING: Param = Param {
    name: "reading",
    kind: Kind::Choice(&[
        "text",
        "mark-sign",
        "share-alone",
        "two-counters",
        "printed-holds",
        "printed-holds-bounded",
        "hold-once",
        "early-release",
    ]),
    fallback: Fallback::Is("text"),
    doc: "text: the paper's text where its listings contradict it; otherwise one detail as the \
          listings print it.",
};

/// Which correction of the printed algorithms is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    Text,
    MarkSign,
    ShareAlone,
    TwoCounters,
    PrintedHolds,
    PrintedHoldsBounded,
    HoldOnce,
    EarlyRelease,
}

impl Reading {
    pub(super) fn new(values: &Values) -> Self {
        match values.choice(&READING) {
            Some("mark-sign") => Self::MarkSign,
            Some("share-alone") => Self::ShareAlone,
            Some("two-counters") => Self::TwoCounters,
            Some("printed-holds") => Self::PrintedHolds,
            Some("printed-holds-bounded") => Self::PrintedHoldsBounded,
            Some("hold-once") => Self::HoldOnce,
            Some("early-release") => Self::EarlyRelease,
            _ => Self::Text,
        }
    }

    /// Whether only the first PAUSE holds the flow's old queue.
    pub(super) fn holds_normal_once(self) -> bool {
        self == Self::HoldOnce || self.holds_as_printed()
    }

    /// Whether the PAUSE that makes a flow's entry does not count for the isolation queue.
    pub(super) fn holds_as_printed(self) -> bool {
        matches!(self, Self::PrintedHolds | Self::PrintedHoldsBounded)
    }
}
