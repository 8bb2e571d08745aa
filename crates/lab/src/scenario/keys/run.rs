//! What is run, measured and reported.

use super::{Kind, Section, key};

/// `[probe]`.
pub const PROBE: Section = Section {
    name: "probe",
    repeated: false,
    doc: "What to record beyond totals.",
    keys: &[
        key(
            "series",
            Kind::Time(&["off"]),
            "off",
            "Sample queues at this interval, for plots over time; runs of more than two million \
             samples double it.",
        ),
        key(
            "pause-events",
            Kind::Whole { min: 0, max: 100_000_000 },
            "100000",
            "How many pauses and resumes to keep for the timeline and the pause tree.",
        ),
        key(
            "warm-up",
            Kind::Time(&[]),
            "0ns",
            "Leave what happens before out of queue and pause statistics, and flows that start \
             before out of tables and figures.",
        ),
    ],
};

/// `[run]`.
pub const RUN: Section = Section {
    name: "run",
    repeated: false,
    doc: "When to stop, and which seeds.",
    keys: &[
        key(
            "until",
            Kind::Time(&["drained"]),
            "drained",
            "Stop at this time, or when all flows are done and the network is empty.",
        ),
        key(
            "traffic-until",
            Kind::Time(&["never"]),
            "never",
            "No flow starts at or after this time; traffic without an end needs it, or a time in \
             `until`.",
        ),
        key("seeds", Kind::Wholes { min: 0, max: u64::MAX }, "1", "One run for each."),
        key(
            "allow-loss",
            Kind::Bool,
            "false",
            "Whether a lossless scheme that loses packets for lack of memory is still a result.",
        ),
    ],
};

/// Keys of `[[variant]]` besides the parameters of its scheme and the keys of the scenario.
pub const VARIANT: Section = Section {
    name: "variant",
    repeated: true,
    doc: "A row of `weir compare`, and of sweeps that have none of their own. Parameters of its \
          scheme stand beside `scheme`, changes of the scenario by their section: \
          `switch.buffer = \"12MB\"`. `weir run --variant LABEL` runs one of them; without, `weir \
          run` runs what `[flow-control]` says.",
    keys: &[
        key("label", Kind::Text, "", "What tables and figures call it; default: the scheme."),
        key("scheme", Kind::Text, "", "The scheme instead of the scenario's."),
        key("cc", Kind::Text, "", "The congestion control instead of the scenario's."),
    ],
};

/// `[report]`.
pub const REPORT: Section = Section {
    name: "report",
    repeated: false,
    doc: "How results are divided.",
    keys: &[
        key(
            "ports",
            Kind::Ports,
            "",
            "Groups of switch ports that get figures of their own in sweeps: a name, and the ports \
             as \
         `switch -> neighbour`, with `*` for any text and `?` for any character; a list for \
         several.",
        ),
        key(
            "sizes",
            Kind::Ranges(&["auto"]),
            "auto",
            "Ranges of flow sizes that get figures of their own: from a size up to, but not \
             including, \
         another; they may overlap. `auto`: below 10 KB, 10 KB to 100 KB and from 100 KB on where \
         traffic draws sizes from a table, else none.",
        ),
    ],
};

/// `[[reference]]`.
pub const REFERENCE: Section = Section {
    name: "reference",
    repeated: true,
    doc: "A published number to print beside ours: of a scheme or of a variant.",
    keys: &[
        key("scheme", Kind::Text, "", "The scheme it is for."),
        key("variant", Kind::Text, "", "The variant it is for, by its label; instead of `scheme`."),
        key(
            "against",
            Kind::Text,
            "",
            "The label of another row: the number is how many times the metric of this row is that \
             of the other.",
        ),
        key("class", Kind::Text, "", "The class of flows it is for; default: all flows."),
        key(
            "sizes",
            Kind::Text,
            "",
            "The range of flow sizes it is for, one of `sizes` in `[report]`; default: all.",
        ),
        key(
            "metric",
            Kind::Text,
            "",
            "What was measured: a metric of `weir compare --columns list`, such as `slowdown_p99` \
             or `deadlock` (the share of runs); `fct-mean`, `fct-max` and `rate` for short; \
             `queue-mean` or `queue-max` of the port that is hottest under the first scheme; \
             `table-mean`.",
        ),
        key("table", Kind::Text, "", "`table-mean`: the table of the scheme it is for."),
        key("value", Kind::Quantity, "", "The number with its unit."),
        key("source", Kind::Text, "", "Where it stands: paper, table, figure."),
    ],
};
