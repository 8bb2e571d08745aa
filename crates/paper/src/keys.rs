//! The keys of papers, experiments, figures, claims and explanations as data, as those of
//! scenarios are.

use super::claim_kind::{ClaimKind, Pick};
use weir_scenario::keys::{Key, Kind, Section, joined, key};
use weir_sweep::keys::{GRID, SEEDS, SETS};

const VARIANT: Kind = Kind::Special("the label of a variant");
const OPERAND: Kind = Kind::Special(
    "the label of a variant, a quantity such as `{ variant = \"PFC\", class = \"victim\" }`, or a \
     list of them",
);
const STATED: Kind = Kind::Special("a number such as `0.226`, `\"22.6%\"` or `\"1.96ms\"`");
const MOST: u64 = u64::MAX;

const fn section(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Section {
    Section { name, repeated: false, doc, keys }
}

/// A section that may stand several times.
const fn sections(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Section {
    Section { repeated: true, ..section(name, doc, keys) }
}

/// `paper.toml`.
pub(crate) const PAPER: &[Key] = &[
    key("id", Kind::Text, "", "Names the paper and its directory of results."),
    key("title", Kind::Text, "", "The title of the paper."),
    key("short", Kind::Text, "", "What tables call it."),
    key("year", Kind::Whole { min: 1, max: 9999 }, "", "When it appeared."),
    key("notes", Kind::Text, "", "What a reader should know before the numbers."),
    key("experiments", Kind::Names, "", "The names of the files of experiments, in order."),
    key(
        "other-readings",
        Kind::Names,
        "",
        "Variants that are other readings than the primary one.",
    ),
];

const OF_EXPERIMENT: &[Key] = &[
    key("id", Kind::Text, "", "Names the experiment everywhere."),
    key("where", Kind::Text, "", "Where in the paper."),
    key("own-check", Kind::Bool, "false", "Whether no paper has it."),
    key("deterministic", Kind::Bool, "false", "Whether all seeds give the same numbers."),
    key(
        "steady",
        Kind::Bool,
        "false",
        "Whether its claims are about a steady state, which needs a stationary window.",
    ),
    key("shows", Kind::Text, "", "What it shows, in paragraphs."),
    key("re-run-of", Kind::Text, "", "The experiment whose runs it uses."),
    key("quick", Kind::Special("a table"), "", "What `--quick` changes."),
    key("kind", Kind::Choice(&["sweep", "flow-sizes"]), "sweep", "Where its numbers come from."),
    key("sizes", Kind::Special("a table"), "", "Size tables, which need no run."),
    key("figure", Kind::Special("a table"), "", "A figure."),
    key("live", Kind::Special("a table"), "", "Which of its runs are made on real frames, too."),
];

/// An experiment: a grid file with a few more keys.
pub(crate) const EXPERIMENT: &[Key] =
    &joined::<{ OF_EXPERIMENT.len() + GRID.len() }>(OF_EXPERIMENT, GRID);

/// `[quick]`.
pub(crate) const QUICK: Section = section(
    "quick",
    "What `--quick` changes.",
    &[
        key("says", Kind::Text, "", "The changes in words, for figures."),
        key("seeds", SEEDS, "", "The seeds."),
        key("set", SETS, "", "Changes of the scenario."),
        key("parameters", Kind::Special("a table of values"), "", "Values of parameters."),
        key("variants", Kind::Names, "", "Only these variants."),
        key("scenario", Kind::Text, "", "The scenario."),
    ],
);

/// Which numbers of an experiment are meant.
pub(crate) const SELECTOR: &[Key] = &[
    key("metric", Kind::Text, "", "A column of a table."),
    key("class", Kind::Text, "", "A class of traffic."),
    key("sizes", Kind::Text, "", "A range of flow sizes."),
    key("ports", Kind::Text, "", "A group of ports."),
    key("table", Kind::Text, "", "A table that the scheme keeps in switches."),
    key("at", Kind::Special("a table such as `{ load = 60 }`"), "", "Values of parameters."),
];

/// Whether a key belongs to a selector.
pub(crate) fn selects(name: &str) -> bool {
    SELECTOR.iter().any(|key| key.name == name)
}

const OF_FIGURE: &[Key] = &[
    key("id", Kind::Text, "", "Part of the name of its files."),
    key("title", Kind::Text, "", "The line above it."),
    key("caption", Kind::Text, "", "The text below it."),
    key("kind", Kind::Choice(&["lines", "bars", "boxes", "cdf"]), "lines", "Its form."),
    key("across", Kind::Text, "variant", "What goes from left to right."),
    key("by", Kind::Text, "variant", "What the series are."),
    key("panel", Kind::Special("a table"), "", "A panel."),
    key("panels", Kind::Text, "", "A parameter: a panel for each value."),
    key("variants", Kind::Names, "", "Only these variants, in this order."),
    key("relative-to", VARIANT, "", "Values are divided by those of this variant."),
    key("scale", Kind::Choice(&["linear", "log"]), "linear", "The scale of the axis."),
    key("label", Kind::Text, "", "The label of the axis."),
    key("from-zero", Kind::Bool, "false", "Whether the axis begins at zero."),
    key("rules", Kind::Special("a list of `{ at = ..., label = ... }`"), "", "Horizontal lines."),
];

/// `[[figure]]`.
pub(crate) const FIGURE: Section = sections(
    "figure",
    "What is drawn.",
    &joined::<{ OF_FIGURE.len() + SELECTOR.len() }>(OF_FIGURE, SELECTOR),
);

const OF_PANEL: &[Key] = &[key("title", Kind::Text, "", "The line above it.")];

/// `[[figure.panel]]`.
pub(crate) const PANEL: Section = sections(
    "panel",
    "One panel of a figure.",
    &joined::<{ OF_PANEL.len() + SELECTOR.len() }>(OF_PANEL, SELECTOR),
);

/// A horizontal line of a figure.
pub(crate) const RULE: &[Key] = &[
    key("at", Kind::Quantity, "", "Where it is."),
    key("label", Kind::Text, "", "What it is called."),
];

/// A file of claims.
pub(crate) const CLAIMS: &[Key] = &[
    key("notes", Kind::Text, "", "Notes for readers."),
    key("claim", Kind::Special("a table"), "", "A claim."),
];

/// Keys of a claim besides those of a selector.
pub(crate) const OF_CLAIM: &[Key] = &[
    key("id", Kind::Text, "", "Names the claim everywhere."),
    key("experiment", Kind::Text, "", "The experiment that can show it."),
    key("where", Kind::Text, "", "Where in the paper."),
    key("says", Kind::Text, "", "What the paper says."),
    key("kind", Kind::Choice(&ClaimKind::NAMES), "not-measured", "What it states."),
    key("margin", STATED, "", "How near is near enough."),
    key("reading", Kind::Text, "", "How the text was understood."),
    key("calibrated", Kind::Bool, "false", "Whether settings were chosen by its number."),
    key("discussion", Kind::Text, "", "Why the numbers differ."),
    key("of", OPERAND, "", "What is measured."),
    key("against", OPERAND, "", "What it is compared with."),
    key("over", Kind::Names, "", "Parameters whose values are gone through."),
    key("pick", Kind::Choice(&Pick::NAMES), "each", "Which of several."),
    key("paper", STATED, "", "The number that the paper states."),
    key("inverse", Kind::Bool, "false", "Whether `of` is divided by `against`."),
    key("order", OPERAND, "", "Variants or quantities from the lowest to the highest."),
    key("strict", Kind::Bool, "true", "Whether equality is not allowed."),
    key(
        "direction",
        Kind::Choice(&["rising", "falling", "larger", "smaller"]),
        "rising",
        "The direction of a trend or of a difference.",
    ),
    key("bound", Kind::Choice(&["most", "least"]), "most", "On which side of the number."),
    key("why", Kind::Text, "", "Why it is not measured."),
    key("variant", VARIANT, "", "Of which variant."),
    key("than", Kind::Text, "", "The other experiment."),
    key(
        "than-metric",
        Kind::Text,
        "",
        "The column of a table of the other experiment, if another.",
    ),
    key("primary", Kind::Bool, "false", "Whether it is about the primary reading."),
    key(
        "steady",
        Kind::Bool,
        "true",
        "In a steady experiment: whether it is about the steady state.",
    ),
];

/// `[[claim]]`.
pub(crate) const CLAIM: Section = sections(
    "claim",
    "What a paper states.",
    &joined::<{ OF_CLAIM.len() + SELECTOR.len() }>(OF_CLAIM, SELECTOR),
);

const OF_QUANTITY: &[Key] = &[
    key("variant", VARIANT, "", "Of which variant."),
    key("experiment", Kind::Text, "", "Of another experiment."),
];

/// An operand of a claim that is more than a variant.
pub(crate) const QUANTITY: &[Key] =
    &joined::<{ OF_QUANTITY.len() + SELECTOR.len() }>(OF_QUANTITY, SELECTOR);

/// `[sizes]`.
pub(crate) const SIZES: Section = section(
    "sizes",
    "Size tables, which need no run.",
    &[
        key("tables", Kind::Special("names of size tables or files"), "", "Size tables."),
        key("rates", Kind::Names, "", "Rates of the access link."),
        key("rtt", Kind::Names, "", "Round-trip times."),
        key("times", Kind::Names, "", "Times within which flows are sent whole."),
        key("at", Kind::Names, "", "The rate at which they are sent."),
    ],
);

/// A size table with a label of its own.
pub(crate) const SIZE_TABLE: &[Key] = &[
    key("table", Kind::Text, "", "Its name or file."),
    key("label", Kind::Text, "", "What tables call it."),
];

/// `[live]`.
pub(crate) const LIVE: Section = section(
    "live",
    "Which runs are made on real frames, too.",
    &[
        key("metric", Kind::Text, "", "A column of a table."),
        key("at", Kind::Special("a table such as `{ load = 60 }`"), "", "Values of parameters."),
        key("variants", Kind::Names, "", "Labels of variants."),
        key("classes", Kind::Names, "", "The classes of traffic whose metric is shown."),
        key(
            "dilations",
            Kind::Wholes { min: 1, max: 1_000_000 },
            "",
            "How many times slower than real time, such as [1000, 500, 2000].",
        ),
        // more runs nobody waits for
        key("runs", Kind::Whole { min: 1, max: 1000 }, "1", "So many runs that kept their time."),
    ],
);

/// `[[discussion]]`.
pub(crate) const DISCUSSION: Section = sections(
    "discussion",
    "Why numbers differ from the paper's.",
    &[
        key("experiment", Kind::Names, "", "The experiments it is about."),
        key("claims", Kind::Names, "", "Patterns of the claims it is about."),
        key("title", Kind::Text, "", "A line above it."),
        key("sensitivity", Kind::Names, "", "Experiments that test the explanation."),
        key("text", Kind::Text, "", "Paragraphs."),
    ],
);

/// A file of discussions.
pub(crate) const DISCUSSIONS: &[Key] = &[key("discussion", Kind::Special("a table"), "", "One.")];

/// A file of explanations.
pub(crate) const EXPLAIN_FILE: &[Key] = &[key("explain", Kind::Special("a table"), "", "One.")];

/// `[[explain]]`.
pub(crate) const EXPLAIN: Section = sections(
    "explain",
    "A space of readings and open settings in which claims are tried.",
    &[
        key("id", Kind::Text, "", "Names the explanation everywhere."),
        key("title", Kind::Text, "", "One line."),
        key("experiments", Kind::Names, "", "Those whose claims are scored."),
        key("variants", Kind::Names, "", "Those of the primary reading, which factors change."),
        key("claims", Kind::Names, "", "Patterns of the claims that are scored."),
        key("quantities", Kind::Names, "", "Claims whose numbers stand in the table."),
        key("seeds", SEEDS, "", "Those of the search, such as \"1..5\"."),
        key("fresh-seeds", SEEDS, "", "Those of the confirmation, such as \"101..110\"."),
        // more combinations take days
        key("most", Kind::Whole { min: 1, max: 4096 }, "128", "So many combinations are tried."),
        key("enough", Kind::Whole { min: 1, max: MOST }, "", "So many claims that hold suffice."),
        key("factor", Kind::Special("a table"), "", "What is varied."),
        key("scenario", Kind::Text, "", "The scenario."),
        key("quick", Kind::Special("a table"), "", "What `--quick` changes."),
    ],
);

/// `[[explain.factor]]`.
pub(crate) const FACTOR: Section = sections(
    "factor",
    "What is varied.",
    &[
        key("name", Kind::Text, "", "What tables call it."),
        key("where", Kind::Text, "", "Where the paper leaves it open."),
        key("applies", Kind::Choice(&["variant", "all"]), "variant", "Which variants it changes."),
        key("experiments", Kind::Names, "", "Only in these experiments."),
        key("level", Kind::Special("a table"), "", "One of its values."),
    ],
);

/// Keys of a level that are no changes.
pub(crate) const LEVEL: Section = sections(
    "level",
    "One of the values of a factor.",
    &[
        key("label", Kind::Text, "", "What tables call it."),
        key("primary", Kind::Bool, "false", "Whether it is that of the primary reading."),
        key("contradicts", Kind::Text, "", "Which sentence of the paper it contradicts."),
        key("full", Kind::Special("a table"), "", "Other changes at full scale."),
    ],
);
