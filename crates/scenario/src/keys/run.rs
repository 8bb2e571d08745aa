//! Keys of what is run, measured and reported.

use super::{Kind, Section, key};

/// `[probe]`.
pub const PROBE: Section = Section {
    name: "probe",
    repeated: false,
    doc: "What to record in addition to totals.",
    keys: &[
        key(
            "series",
            Kind::Time(&["off"]),
            "off",
            "Sample queues at this interval, for plots over time; the interval doubles in runs \
             with more than two million samples.",
        ),
        key(
            "pause-events",
            Kind::Whole { min: 0, max: 100_000_000 },
            "100000",
            "Number of pauses and resumes to record for the timeline and the pause tree.",
        ),
        key(
            "warm-up",
            Kind::Time(&[]),
            "0ns",
            "Queue and pause statistics begin at this time, and flows that start earlier are left \
             out of tables and figures.",
        ),
        key(
            "count-until",
            Kind::Time(&["end"]),
            "end",
            "Flows that start at or after this time are left out of tables and figures: those that \
             start just before `traffic-until` meet less and less traffic.",
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
        key("seeds", Kind::Wholes { min: 0, max: u64::MAX }, "1", "One run for each seed."),
        key(
            "allow-loss",
            Kind::Bool,
            "false",
            "Whether a run is valid although a lossless scheme lost packets for lack of memory.",
        ),
    ],
};

/// Keys of `[[variant]]` besides the parameters of its scheme and the keys of the scenario.
pub const VARIANT: Section = Section {
    name: "variant",
    repeated: true,
    doc: "A row of `weir compare`, and of sweeps without variants. Parameters of its scheme are \
          in the same table as `scheme`, changes of the scenario are written with their section: \
          `switch.buffer = \"12MB\"`. `weir run --variant LABEL` runs one of them; without it, \
          `weir run` runs the scheme of `[flow-control]`.",
    keys: &[
        key("label", Kind::Text, "", "Its name in tables and figures; default: the scheme."),
        key("scheme", Kind::Text, "", "The scheme, instead of the scenario's."),
        key("cc", Kind::Text, "", "The congestion control, instead of the scenario's."),
    ],
};

/// `[report]`.
pub const REPORT: Section = Section {
    name: "report",
    repeated: false,
    doc: "How tables of results are divided.",
    keys: &[
        key(
            "ports",
            Kind::Ports,
            "",
            "Groups of switch ports with separate rows in the tables of sweeps: a name, and the \
             ports as \
         `switch -> neighbour`, with `*` for any text and `?` for any character; a list for \
         several.",
        ),
        key(
            "sizes",
            Kind::Ranges(&["auto"]),
            "auto",
            "Ranges of flow sizes with separate rows in tables; the upper end is not included, \
             and ranges may overlap. `auto`: below 10 KB, 10 KB to 100 KB and from 100 KB on where \
         traffic draws sizes from a table, else none.",
        ),
    ],
};

/// `[[reference]]`.
pub const REFERENCE: Section = Section {
    name: "reference",
    repeated: true,
    doc: "A published number of a scheme or variant, printed beside ours.",
    keys: &[
        key("scheme", Kind::Text, "", "The scheme it is for."),
        key("variant", Kind::Text, "", "The variant it is for, by its label; instead of `scheme`."),
        key(
            "against",
            Kind::Text,
            "",
            "The label of another row: the number is the ratio of this row's metric to that row's.",
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
             `queue-mean` or `queue-max` of the most congested port under the first scheme; \
             `table-mean`.",
        ),
        key("table", Kind::Text, "", "`table-mean`: the table of the scheme it is for."),
        key("value", Kind::Quantity, "", "The number with its unit."),
        key("source", Kind::Text, "", "Its source: paper, table, figure."),
    ],
};
